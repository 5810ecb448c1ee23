//! Several lists: one output file per list in a folder, each with a record of its inputs and options.
//!
//! The record is `FILE.made.json`. `--resume` keeps a file if its record equals the record that this run would write,
//! so a stopped run continues with the first unfinished file.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::report::{Report, Subject};
use super::{Args, Decided, Files, Settings, decide};
use crate::error::{Exit, Failure, Result, note};
use crate::outputs::build_record::{self, Identity, Tool};
use crate::outputs::file::{Complete, Output, publish};
use crate::outputs::summary::{Summary, grouped};
use crate::same_file::{is_same_place, refuse_overwriting};
use reptile_records::text::printable;

/// The inputs and options behind a verdict file.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Record {
    made_by: Tool,
    set: Option<Identity>,
    /// The options that determine the file's contents, as given.
    options: Vec<String>,
    input: Input,
    file: Identity,
    /// Whether most rows were invalid, or the last quote was unclosed. Later runs that keep the file report it in the
    /// exit code too.
    most_are_invalid: bool,
}

/// A list of URLs.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Input {
    path: String,
    bytes: u64,
    /// The time of the last change, in seconds and nanoseconds since 1970.
    changed: (u64, u32),
}

impl Input {
    /// Returns a list's current state.
    ///
    /// # Errors
    /// Returns an error if it is not a regular file.
    fn of(path: &Path) -> Result<Input> {
        if path == Path::new("-") {
            return Err(Failure::new(
                "--output-folder cannot name a file after standard input; give the lists as files",
            ));
        }
        let found = fs::metadata(path).map_err(|error| Failure::at(path, error))?;
        if !found.is_file() {
            return Err(Failure::at(path, "is not a regular file; --output-folder requires one for each list"));
        }
        let changed = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
        let changed = (changed.as_secs(), changed.subsec_nanos());
        Ok(Input { path: path.display().to_string(), bytes: found.len(), changed })
    }
}

impl Record {
    /// Returns the record of an output file. `input` is the list's state before it was read.
    fn new(args: &Args, settings: &Settings, input: Input, file: Identity, most_are_invalid: bool) -> Record {
        let Args { agents, exact, agent_column, url_column, split_columns, at_column, input_format, delimiter, .. } =
            args;
        let Args { missing_columns, scope, written, options, .. } = args;
        let columns = format!(
            "{url_column:?} {split_columns} {missing_columns:?} {at_column:?} {agent_column:?} {input_format:?} {delimiter:?} {:?}",
            options.at
        );
        let (site, zone) = (&settings.site, &options.zone.timezone);
        Record {
            made_by: Tool::this(),
            set: settings.identity.clone(),
            options: vec![
                format!("{agents:?} {exact:?}"),
                columns,
                format!("{scope:?} {site:?} {zone}"),
                format!("{written:?}"),
            ],
            input,
            file,
            most_are_invalid,
        }
    }

    /// Returns the first difference from another record, worded to follow "was made".
    fn difference(&self, other: &Record) -> Option<&'static str> {
        [
            (self.made_by != other.made_by, "by another version of reptile"),
            (self.set != other.set, "by another set"),
            (self.options != other.options, "with other options"),
            (self.input != other.input, "from another input, or the input has changed"),
            (self.file != other.file, "with other bytes than it has now"),
        ]
        .into_iter()
        .find_map(|(differs, how)| differs.then_some(how))
    }
}

/// Decides each list, and writes its file.
///
/// # Errors
/// Returns an error if two lists would have the same file, if a file exists and may not be replaced, or if deciding a
/// list fails. Files of earlier lists are kept.
pub fn run(args: &Args, folder: &Path) -> Result<Exit> {
    create(folder)?;
    let jobs = jobs(args, folder)?;
    if !(args.resume || args.force) {
        for (_, file) in &jobs {
            if file.exists() {
                return Err(Failure::at(file, "exists already; --resume keeps finished files, --force replaces them"));
            }
        }
    }
    let page = page(args, &jobs)?;
    let settings = Settings::open(args)?;
    let (mut done, mut is_bad, mut all) = (0_u64, settings.any_bad, None);
    for (list, file) in &jobs {
        let args = Args { urls: list.clone(), output: Some(file.clone()), report: None, ..args.clone() };
        let input = Input::of(list)?;
        if let Some(record) = made_before(&args, &settings, &input, file)? {
            done += 1;
            is_bad |= record.most_are_invalid;
            continue;
        }
        let record_path = build_record::path_of(file)?;
        let beside = |complete: &[Complete], most_are_invalid: bool| {
            if Input::of(list)? != input {
                return Err(Failure::at(list, "was changed while it was read"));
            }
            let written = complete.first().map(|complete| Identity::of_file(complete.hidden_path())).transpose();
            let Some(written) = written.map_err(|error| Failure::at(file, error))? else { return Ok(None) };
            let record = Record::new(&args, &settings, input.clone(), written, most_are_invalid);
            build_record::write(&record, Output::create_file(&record_path, true)?)
        };
        let files = Files { report: Report::of_run(page.is_wanted()), ..Files::open(&args)? };
        let mut summary = Summary::default();
        summary.row("URLs", printable(list.as_os_str().as_encoded_bytes()));
        summary.print();
        let decided = decide(&args, files, &settings, beside)?;
        is_bad |= decided.is_bad;
        all = Some(together(all, decided));
    }
    publish(complete_page(page, args, folder, &settings, all.as_ref(), done)?)?;
    let mut summary = Summary::default();
    summary.count("files written", jobs.len() as u64 - done);
    if done > 0 {
        summary.count("done before", done);
    }
    summary.print();
    Ok(Exit::from_bad(is_bad))
}

/// Opens the file for the page about all lists.
///
/// # Errors
/// Returns an error if it would replace the set, a list, or a list's file, or cannot be written.
fn page(args: &Args, jobs: &[(PathBuf, PathBuf)]) -> Result<Report> {
    let Some(path) = &args.report else { return Ok(Report::of_run(false)) };
    refuse_overwriting(path, args.lists.iter().chain([&args.set]).map(PathBuf::as_path))?;
    for (list, file) in jobs {
        if is_same_place(path, file) || is_same_place(path, &build_record::path_of(file)?) {
            let message = format!("would be both the --report page and a file for {}", list.display());
            return Err(Failure::at(path, message));
        }
    }
    Report::create(Some(path), args.force)
}

/// Adds another list's counts to the totals.
fn together(all: Option<Decided>, next: Decided) -> Decided {
    match all {
        Some(mut all) => {
            all.totals.merge(&next.totals);
            all.time += next.time;
            all
        }
        None => next,
    }
}

/// Writes the page about all lists decided in this run. The caller still has to publish the file.
///
/// # Errors
/// Returns an error if the file cannot be written.
fn complete_page(
    page: Report,
    args: &Args,
    folder: &Path,
    settings: &Settings,
    all: Option<&Decided>,
    done: u64,
) -> Result<Option<Complete>> {
    let Some(Decided { totals, decider, time, .. }) = all else {
        if page.is_wanted() {
            note("--report: every list was done before, so there is nothing to report");
        }
        return Ok(None);
    };
    let mut urls = format!(" of {} lists", grouped(args.lists.len() as u64 - done));
    if done > 0 {
        urls += &format!("; {} more were done before, and are not counted here", grouped(done));
    }
    let subject = Subject { name: folder, urls, set_path: &args.set, set: &settings.set };
    page.complete(&subject, totals, decider, *time)
}

/// Creates the folder unless it exists.
fn create(folder: &Path) -> Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        created => created.map_err(|error| Failure::at(folder, format!("the folder cannot be created: {error}"))),
    }
}

/// Returns each list with its output file.
///
/// # Errors
/// Returns an error if a file or its record would replace the set, a list, or another list's file.
fn jobs(args: &Args, folder: &Path) -> Result<Vec<(PathBuf, PathBuf)>> {
    let mut lists: HashMap<PathBuf, &Path> = HashMap::new();
    let mut jobs = Vec::new();
    for list in &args.lists {
        Input::of(list)?;
        let mut name = list.file_name().unwrap_or_default().to_owned();
        match args.written.ending() {
            Some(ending) => name.push(ending),
            // Outputs are never compressed this way.
            None if list.extension().is_some_and(|ending| ending == "bz2" || ending == "xz") => {
                name = list.file_stem().unwrap_or_default().to_owned();
            }
            None => {}
        }
        let file = folder.join(name);
        for path in [file.clone(), build_record::path_of(&file)?] {
            refuse_overwriting(&path, args.lists.iter().chain([&args.set]).map(PathBuf::as_path))?;
            if let Some(other) = lists.insert(path.clone(), list) {
                let message = format!("would be the file for both {} and {}", other.display(), list.display());
                return Err(Failure::at(&path, message));
            }
        }
        jobs.push((list.clone(), file));
    }
    Ok(jobs)
}

/// Returns an existing file's record, if `--resume` is given and the file is up to date.
///
/// # Errors
/// Returns an error if the file is not up to date and may not be replaced.
fn made_before(args: &Args, settings: &Settings, input: &Input, file: &Path) -> Result<Option<Record>> {
    if !args.resume || !file.exists() {
        return Ok(None);
    }
    let found = Identity::of_file(file).map_err(|error| Failure::at(file, error))?;
    let expected = Record::new(args, settings, input.clone(), found, false);
    let how = match build_record::read::<Record>(&build_record::path_of(file)?) {
        Ok(Some(record)) => match record.difference(&expected) {
            None => return Ok(Some(record)),
            Some(how) => format!("was made {how}"),
        },
        Ok(None) => "has no record of how it was made".into(),
        Err(error) => format!("has a record of how it was made, which {error}"),
    };
    if args.force {
        note(format_args!("{}: {how}; replaced", file.display()));
        return Ok(None);
    }
    Err(Failure::at(file, format!("{how}; --force with --resume replaces it")))
}
