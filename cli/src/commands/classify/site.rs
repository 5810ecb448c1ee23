//! The `--host` and `--scheme` options of `reptile classify`. They give the origin of an access log's requests, and of
//! a SET that is a single robots.txt. For one site's log and robots.txt, both are the same.

use std::path::Path;

use crate::error::{Failure, Result};
use crate::options::CompileOptions;
use reptile_records::stores::is_remote_folder;
use reptile_records::tables::log::shape::Site;
use reptile_records::tables::{Format, Table};

/// The options that apply only to the log.
pub struct SiteOptions {
    /// Whether an option that needs a log was given.
    is_for_a_log: bool,
}

impl SiteOptions {
    /// Removes the options from the compile options if they do not apply to the set: a set file needs neither, and a
    /// folder's files give their own hosts. Also returns the site of a log's requests, or why the options are invalid.
    pub fn take(
        options: &mut CompileOptions,
        set: &Path,
        is_set: bool,
    ) -> (std::result::Result<Site, String>, SiteOptions) {
        let site = Site::of_options(options.host.as_deref(), &options.schemes);
        let host = if is_set || set.is_dir() || is_remote_folder(set) { options.host.take() } else { None };
        let schemes = if is_set { std::mem::take(&mut options.schemes) } else { Vec::new() };
        (site, SiteOptions { is_for_a_log: host.is_some() || !schemes.is_empty() })
    }

    /// Checks that the table is a log if an option needs one.
    ///
    /// # Errors
    /// Returns an error if the table at `path` is not a log.
    pub fn check(&self, table: &Table, path: &Path) -> Result<()> {
        if !self.is_for_a_log || table.format == Format::Log {
            return Ok(());
        }
        let message = format!(
            "is read as {}; --host and --scheme are for access logs, and for a SET that is a single robots.txt",
            table.format
        );
        Err(Failure::at(path, message))
    }
}
