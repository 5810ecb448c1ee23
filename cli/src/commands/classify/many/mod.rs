//! Several lists: one output file per list in a folder ([`jobs`]), each with a record of its inputs and options
//! ([`record`]).
//!
//! With `--resume`, a stopped run continues with the first unfinished file.

mod jobs;
mod record;

use std::path::{Path, PathBuf};

use self::jobs::{create, jobs, state_of};
use self::record::{Record, made_before};
use super::report::{Report, Subject};
use super::{Args, Decided, Files, Settings, decide};
use crate::error::{Exit, Failure, Result, note};
use crate::outputs::build_record;
use crate::outputs::file::{Complete, Output, publish};
use crate::outputs::summary::{Summary, grouped};
use crate::run::Run;
use crate::run::lineage::{InputState, Lineage, OutputState};
use crate::same_file::{is_same_place, refuse_overwriting};
use reptile_records::stores::exists;
use reptile_records::text::printable;

/// Decides each list, and writes its file.
///
/// # Errors
/// Returns an error if two lists would have the same file, if a file exists and may not be replaced, or if deciding a
/// list fails. Files of earlier lists are kept.
pub fn run(args: &Args, folder: &Path, run: &Run) -> Result<Exit> {
    create(folder)?;
    let jobs = jobs(args, folder)?;
    if !(args.resume || args.force) {
        for (_, file) in &jobs {
            if exists(file).map_err(|error| Failure::at(file, error))? {
                return Err(Failure::at(file, "exists already; --resume keeps finished files, --force replaces them"));
            }
        }
    }
    let outputs = jobs.iter().map(|(_, file)| file).chain(&args.report).map(PathBuf::as_path);
    run.check_metrics_path(args.lists.iter().chain([&args.set]).map(PathBuf::as_path), outputs)?;
    let page = page(args, &jobs)?;
    let settings = Settings::open(args, run)?;
    let (mut done, mut is_bad, mut all) = (0_u64, settings.any_bad, None);
    for (list, file) in &jobs {
        let args = Args { urls: list.clone(), output: Some(file.clone()), report: None, ..args.clone() };
        let fingerprint = state_of(list)?;
        let input = InputState::new(list, &fingerprint);
        if let Some(record) = made_before(&args, &settings, &input, file, run)? {
            done += 1;
            is_bad |= record.most_are_invalid;
            run.add_kept(record.lineage);
            continue;
        }
        let record_path = build_record::path_of(file)?;
        let mut recorded = None;
        let beside = |complete: &[Complete], lineage: &Lineage, most_are_invalid: bool| {
            if state_of(list)? != fingerprint {
                return Err(Failure::at(list, "was changed while it was read"));
            }
            let written = complete.first().map(Complete::identity).transpose();
            let Some(written) = written.map_err(|error| Failure::at(file, error))? else { return Ok(None) };
            let output = OutputState::new(file, lineage.rows.written).with(&written);
            let record = Record::new(Lineage { outputs: vec![output], ..lineage.clone() }, most_are_invalid);
            let record = recorded.insert(record);
            build_record::write(record, Output::create_file(&record_path, true)?)
        };
        let files = Files { report: Report::of_run(page.is_wanted()), ..Files::open(&args)? };
        let mut summary = Summary::default();
        summary.row("URLs", printable(list.as_os_str().as_encoded_bytes()));
        summary.print();
        let decided = decide(&args, files, &settings, &input, run, beside)?;
        is_bad |= decided.is_bad;
        recorded.into_iter().for_each(|record| run.add(record.lineage));
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
