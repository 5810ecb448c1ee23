//! The plan of a `classify` run: its options, resolved once. No other module reads the options as given.

use reptile_columns::Scope;
use reptile_records::batches::urls::AT_OPTION;
use reptile_records::place::Place;
use reptile_records::tables::ColumnOption;
use reptile_records::tables::log::shape::Site;
use reptile_records::tables::open::{Opening, URL_OPTION};
use reptile_records::time::{WrittenTime, Zone};
use reptile_records::trees::NamedFile;

use super::args::{Args, DecisionTime};
use super::written::Written;
use crate::error::{Failure, Result};
use crate::failures::KeepGoing;
use crate::options::{RightsOptions, SetOptions};
use crate::outputs::kept::FolderOptions;
use crate::same_file::refuse_inside;
use crate::sets::agents::{EXACT, name_in};
use crate::sets::refuse_swapped;
use crate::tables::{TableOptions, UrlColumns, column_of};

/// What applies to every list.
pub struct Plan {
    /// The set file, or an input to compile.
    pub set: Place,
    /// The options for compiling an input. The host also applies to an access log's requests.
    pub set_options: SetOptions,
    pub crawlers: CrawlerNames,
    /// The time at which every URL is decided.
    pub at: Option<WrittenTime>,
    /// The column of each row's time.
    pub at_column: Option<String>,
    pub zone: Zone,
    pub tables: TableOptions,
    pub scope: Scope,
    pub written: Written,
    pub rights: RightsOptions,
    /// Whether damaged archives of pages are searched for the next record.
    pub resync: bool,
}

/// The crawlers that URLs are decided for.
pub enum CrawlerNames {
    /// Those that the user names.
    Given(Vec<String>),
    /// The crawler that each row names in this column.
    OfRows { column: String, is_exact: bool },
}

/// The lists, and where their rows go.
pub enum Lists {
    /// One list, with its own outputs.
    One(List),
    /// A file for each list in a folder.
    Several(Folder),
}

/// A list and its outputs.
#[derive(Default)]
pub struct List {
    pub urls: Place,
    /// The output; `None` is standard output.
    pub output: Option<Place>,
    /// Whether the output's name was given for this list, so that its extension must fit.
    pub is_named: bool,
    pub rejects: Option<Place>,
    pub report: Option<Place>,
    /// Whether outputs may replace files.
    pub force: bool,
}

/// A folder of outputs.
pub struct Folder {
    pub path: Place,
    pub lists: Vec<NamedFile>,
    pub options: FolderOptions,
    pub keep_going: KeepGoing,
    pub report: Option<Place>,
    pub force: bool,
}

/// Resolves the options.
///
/// # Errors
/// Returns an error if options contradict each other, if one has no effect, or if a list does not exist.
pub fn resolve(args: Args) -> Result<(Plan, Lists)> {
    if args.rights.rights.is_some() {
        refuse_with_rights(&args)?;
    } else if args.archives.resync {
        return Err(Failure::new("--resync: is for crawl archives, whose pages --rights decides"));
    }
    let (at, at_column) = match args.at {
        Some(DecisionTime::Time(time)) => (Some(time), None),
        Some(DecisionTime::Column(name)) => (None, Some(name)),
        None => (None, None),
    };
    let crawlers = CrawlerNames::of(args.agents)?;
    let folder = args.output.as_ref().filter(|output| output.is_dir() || ends_in_slash(output)).map(without_end);
    let output = args.output.filter(|_| folder.is_none());
    if folder.is_none() {
        refuse_without_folder(&[
            ("--resume", args.in_folder.resume.is_some()),
            ("--follow-links", args.in_folder.follow_links),
            ("--rows-per-file", args.written.rows_per_file.is_some()),
        ])?;
    } else if args.rejects.is_some() {
        return Err(Failure::new(
            "--rejects: is for one list; leave it out, or write the list's rows to a file with -o",
        ));
    }
    let is_by_row = matches!(crawlers, CrawlerNames::OfRows { .. });
    let written = Written::resolve(args.written, output.as_ref(), is_by_row)?;
    let lists = match folder {
        Some(path) => {
            refuse_inside(&path, &args.lists)?;
            Lists::Several(Folder {
                path,
                lists: args.files_from.expand_named(&args.lists)?,
                options: args.in_folder,
                keep_going: args.keep_going,
                report: args.report,
                force: args.force,
            })
        }
        None => {
            let urls = one_list(args.files_from.expand(&args.lists)?, &args.set)?;
            let (rejects, report, force) = (args.rejects, args.report, args.force);
            Lists::One(List { urls, output, is_named: true, rejects, report, force })
        }
    };
    let plan = Plan {
        set: args.set,
        set_options: args.options,
        crawlers,
        at,
        at_column,
        zone: args.zone.timezone,
        tables: args.tables,
        scope: args.scope,
        written,
        rights: args.rights,
        resync: args.archives.resync,
    };
    Ok((plan, lists))
}

impl CrawlerNames {
    /// Returns the crawlers of `--agent`: names, or one column in braces.
    fn of(specs: Vec<String>) -> Result<CrawlerNames> {
        let column = |spec: &String| {
            let (is_exact, name) = spec.strip_prefix(EXACT).map_or((false, &**spec), |name| (true, name));
            column_of(name).map(|name| CrawlerNames::OfRows { column: name.to_owned(), is_exact })
        };
        match specs.iter().find_map(|spec| Some((spec, column(spec)?))) {
            None => Ok(CrawlerNames::Given(specs)),
            Some((_, column)) if specs.len() == 1 => Ok(column),
            Some((spec, _)) => {
                let message = "each row names its crawler, so no other --agent can be given";
                Err(Failure::new(format!("--agent {spec}: {message}")))
            }
        }
    }
}

impl Plan {
    /// Returns the settings for opening a list. `site` is the site of an access log's requests.
    pub fn opening(&self, urls: &Place, site: std::result::Result<Site, String>) -> Opening {
        self.tables.opening(urls, site, self.wanted())
    }

    /// Returns the site of a log's requests.
    ///
    /// # Errors
    /// Returns an error if `--host` and `--scheme` contradict each other, or if the host is invalid.
    pub fn site(&self) -> std::result::Result<Site, String> {
        self.tables.site(self.set_options.host.as_deref())
    }

    /// Returns the columns to read: URLs, then times and crawlers if requested.
    fn wanted(&self) -> Vec<ColumnOption> {
        let named = |option, name: &String| ColumnOption { option, name: Some(name.clone()) };
        let url = ColumnOption { option: URL_OPTION, name: self.tables.url_column() };
        let crawler = match &self.crawlers {
            CrawlerNames::OfRows { column, .. } => Some(named("--agent", column)),
            CrawlerNames::Given(_) => None,
        };
        let time = self.at_column.as_ref().map(|name| named(AT_OPTION, name));
        [url].into_iter().chain(time).chain(crawler).collect()
    }
}

/// Returns the only list.
fn one_list(lists: Vec<Place>, set: &Place) -> Result<Place> {
    let Ok([list]) = <[Place; 1]>::try_from(lists) else {
        return Err(Failure::new("several URL lists require -o DIR/, a folder that gets a file for each list"));
    };
    refuse_swapped("classify", set, list.as_os_str().to_str())?;
    if list.is_dir() {
        return Err(Failure::at(&list, "is a folder; -o DIR/ writes a file for each list in it into the folder DIR"));
    }
    Ok(list)
}

/// Returns whether a place is written as a folder.
fn ends_in_slash(place: &Place) -> bool {
    place.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// Returns a folder's name without a slash at the end of a local path.
fn without_end(folder: &Place) -> Place {
    match folder {
        Place::Local(path) => Place::Local(path.components().collect()),
        Place::Remote(_) => folder.clone(),
    }
}

/// Refuses options that are about the files in a folder.
fn refuse_without_folder(options: &[(&str, bool)]) -> Result<()> {
    match options.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => {
            Err(Failure::new(format!("{option}: requires -o DIR/, a folder with a file for each list")))
        }
        None => Ok(()),
    }
}

/// Refuses options that have no effect on pages.
fn refuse_with_rights(args: &Args) -> Result<()> {
    let is_by_row = args.agents.iter().any(|spec| column_of(name_in(spec)).is_some());
    let options = [
        ("--agent {COLUMN}", is_by_row),
        ("--url", args.tables.url.as_ref().is_some_and(UrlColumns::are_given)),
        ("--at", args.at.is_some()),
        ("--input-format", args.tables.input_format.is_some()),
        ("--delimiter", args.tables.delimiter.is_some()),
        ("--escape", args.tables.escape.is_some()),
        ("--scope", args.scope != Scope::Origin),
        ("--rejects", args.rejects.is_some()),
        ("--report", args.report.is_some()),
    ];
    let written = args.written.without_effect_on_pages();
    match options.into_iter().chain(written).find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(Failure::new(format!("{option}: has no effect with --rights, whose rows are pages"))),
        None => Ok(()),
    }
}
