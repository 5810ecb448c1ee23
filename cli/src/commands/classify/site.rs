//! The options `--host` and `--scheme` of `reptile classify`: of an access log they say what its requests were for, of
//! a SET that is a single robots.txt what that is for. One site's robots.txt and log have both in common.

use std::path::Path;

use crate::error::{Failure, Result};
use crate::options::CompileOptions;
use reptile_records::tables::log::shape::Site;
use reptile_records::tables::{Format, Table};

/// The options, as far as they are for the log alone.
pub struct SiteOptions {
    /// Whether an option was given that only a log can have.
    is_for_a_log: bool,
}

impl SiteOptions {
    /// Takes the options out of those of compiling as far as they mean nothing to the set: a set file has both said
    /// already, and the files of a folder say their hosts. Also returns what they say of the requests in a log, or why
    /// they cannot.
    pub fn take(
        options: &mut CompileOptions,
        set: &Path,
        is_set: bool,
    ) -> (std::result::Result<Site, String>, SiteOptions) {
        let site = Site::of_options(options.host.as_deref(), &options.schemes);
        let host = if is_set || set.is_dir() { options.host.take() } else { None };
        let schemes = if is_set { std::mem::take(&mut options.schemes) } else { Vec::new() };
        (site, SiteOptions { is_for_a_log: host.is_some() || !schemes.is_empty() })
    }

    /// Checks that there is a log if there are options for one.
    ///
    /// # Errors
    /// Returns an error if the table at `path` is something else.
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
