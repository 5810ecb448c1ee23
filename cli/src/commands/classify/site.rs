//! The `--host` and `--scheme` options of `reptile classify`. They give the origin of an access log's requests, and of
//! a SET that is a single robots.txt. For one site's log and robots.txt, both are the same. `--scheme` is also for URLs
//! without a scheme.

use crate::error::{Failure, Result};
use crate::options::CompileOptions;
use reptile::Scheme;
use reptile_records::place::Place;
use reptile_records::tables::log::shape::Site;
use reptile_records::tables::{Format, Table};

/// The options that apply only to the list.
pub struct SiteOptions {
    /// Whether `--host` was given, and does not apply to the set.
    is_for_a_log: bool,
    /// The scheme for URLs without one.
    pub scheme: Option<&'static str>,
    /// The reason why `--scheme`, if it does not apply to the set, does not give such URLs one scheme.
    wrong_scheme: Option<String>,
}

impl SiteOptions {
    /// Removes the options from the compile options if they do not apply to the set: a set file needs neither, and a
    /// folder's files give their own hosts. Also returns the site of a log's requests, or why the options are invalid.
    pub fn take(
        options: &mut CompileOptions,
        set: &Place,
        is_set: bool,
    ) -> (std::result::Result<Site, String>, SiteOptions) {
        let site = Site::of_options(options.host.as_deref(), &options.schemes);
        let scheme = match options.schemes[..] {
            [Scheme::Http] => Some("http"),
            [Scheme::Https] => Some("https"),
            _ => None,
        };
        let host = if is_set || set.is_dir() || set.is_remote_folder() { options.host.take() } else { None };
        let schemes = if is_set { std::mem::take(&mut options.schemes) } else { Vec::new() };
        let wrong_scheme = Site::of_options(None, &schemes).err();
        (site, SiteOptions { is_for_a_log: host.is_some(), scheme, wrong_scheme })
    }

    /// Checks that the table is a log if the host requires one, and that `--scheme` gives one scheme.
    ///
    /// # Errors
    /// Returns an error if one of the checks on the table at `path` fails.
    pub fn check(&self, table: &Table, path: &Place) -> Result<()> {
        let is_log = matches!(table.format, Format::Log | Format::JsonLog);
        if self.is_for_a_log && !is_log {
            let message = format!(
                "is read as {}; --host is for access logs, and for a SET that is a single robots.txt",
                table.format
            );
            return Err(Failure::at(path, message));
        }
        match &self.wrong_scheme {
            Some(message) => Err(Failure::at(path, message.as_str())),
            None => Ok(()),
        }
    }
}
