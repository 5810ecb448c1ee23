//! Several lists: one output file per list in a folder ([`jobs`]), each with a record of its inputs and options
//! ([`record`]).
//!
//! With `--resume`, a stopped run continues with the first unfinished file. With `--keep-going`, a list that cannot be
//! read has no output, so that a later run with `--resume` tries it again.

mod jobs;
mod record;

use std::fs;
use std::path::Path;

use self::jobs::{Job, create, jobs};
use self::record::VerdictLineage;
use super::decide::decide;
use super::files::{Decided, Files, NextOutput};
use super::plan::{Folder, List, Plan};
use super::report::{Report, Subject};
use super::settings::Settings;
use crate::error::{Exit, Failure, Result, note};
use crate::failures::Failures;
use crate::outputs::build_record;
use crate::outputs::file::{Complete, Output, publish};
use crate::outputs::kept::{made_before, refuse_changed, state_of};
use crate::outputs::summary::{Summary, grouped};
use crate::run::Run;
use crate::run::lineage::{InputState, Lineage, OutputState};
use crate::same_file::{is_same_place, refuse_overwriting};
use reptile_records::place::Place;
use reptile_records::text::printable;

/// Decides each list, and writes its file.
///
/// # Errors
/// Returns an error if two lists would have the same file, if a file exists and may not be replaced, or if deciding a
/// list fails. Files of earlier lists are kept.
pub fn run(plan: &Plan, folder: &Folder, run: &Run) -> Result<Exit> {
    create(&folder.path)?;
    let mut failures = Failures::new(folder.keep_going);
    let jobs = jobs(plan, folder, &mut failures);
    let result = jobs.and_then(|jobs| run_all(plan, &jobs, folder, run, &mut failures));
    failures.close(run, folder.lists.len(), result)
}

/// Decides the list of each job. Lists that cannot be read go to `failures`.
fn run_all(plan: &Plan, jobs: &[Job], folder: &Folder, run: &Run, failures: &mut Failures) -> Result<Exit> {
    for job in jobs {
        job.refuse_links(&folder.path, folder.options.follow_links)?;
        job.refuse_other_form()?;
    }
    if folder.options.resume.is_none() && !folder.force {
        for job in jobs {
            if let Some((_, file)) = job.existing()?.first() {
                return Err(Failure::at(file, "exists already; --resume keeps finished files, --force replaces them"));
            }
        }
    }
    let files: Vec<Place> = jobs.iter().map(|job| job.part(0)).chain(folder.report.clone()).collect();
    let inputs = folder.lists.iter().map(|list| &list.path).chain([&plan.set]);
    run.check_metrics_path(inputs, files.iter())?;
    let page = page(plan, folder, jobs)?;
    let settings = Settings::open(plan, true, run)?;
    let (mut written, mut done, mut is_bad, mut all) = (0_u64, 0_u64, settings.any_bad, None);
    let (mut lists_decided, mut lists_kept) = (0_u64, 0_u64);
    for job in jobs {
        let outcome = run_one((plan, folder), job, &settings, page.is_wanted(), run);
        match failures.keep_about(&job.list, &job.file, outcome)? {
            Some(Outcome::Kept { is_bad: was_bad, files }) => {
                done += files;
                lists_kept += 1;
                is_bad |= was_bad;
            }
            Some(Outcome::Decided(decided, files)) => {
                written += files;
                lists_decided += 1;
                is_bad |= decided.is_bad;
                all = Some(together(all, *decided));
            }
            None => {}
        }
    }
    publish(complete_page(page, plan, folder, &settings, all.as_ref(), (lists_decided, lists_kept))?)?;
    let mut summary = Summary::default();
    summary.count("files written", written);
    if done > 0 {
        summary.count("done before", done);
    }
    summary.print();
    Ok(Exit::from_bad(is_bad))
}

/// The result of a job.
enum Outcome {
    /// An earlier run has written these files.
    Kept { is_bad: bool, files: u64 },
    /// The list was decided, and written to this number of files.
    Decided(Box<Decided>, u64),
}

/// Decides the list of a job, unless its output is up to date.
fn run_one(
    (plan, folder): (&Plan, &Folder),
    job: &Job,
    settings: &Settings,
    wants_page: bool,
    run: &Run,
) -> Result<Outcome> {
    let fingerprint = state_of(&job.list, folder.options.resume)?;
    let input = InputState::new(&job.list, &fingerprint);
    let existing = job.existing()?;
    let is_partial = match kept(folder, job, settings, &input, &existing, run)? {
        EarlierOutput::Whole(outcome) => return Ok(outcome),
        EarlierOutput::Partial => true,
        EarlierOutput::Nothing => false,
    };
    let list = List {
        urls: job.list.clone(),
        output: Some(job.part(0)),
        force: folder.force || is_partial,
        ..List::default()
    };
    if let Some(parent) = job.file.local().and_then(Path::parent) {
        fs::create_dir_all(parent).map_err(|error| Failure::at(parent, error))?;
    }
    let (mut files, mut recorded) = (0, None);
    let beside = |complete: &[Complete], lineage: &Lineage, most_are_invalid: bool| {
        refuse_changed(&job.list, &fingerprint)?;
        files = complete.len() as u32;
        let mut left = lineage.rows.written;
        let mut outputs = Vec::with_capacity(complete.len());
        for (number, complete) in (0..).zip(complete) {
            let file = job.part(number);
            let rows = left.map(|left| plan.written.rows_per_file().map_or(left, |most| left.min(most)));
            left = left.zip(rows).map(|(left, rows)| left - rows);
            let written = complete.identity().map_err(|error| Failure::at(&file, error))?;
            outputs.push(OutputState::new(&file, rows).with(&written));
        }
        let mut records = Vec::with_capacity(outputs.len());
        for (number, output) in (0..).zip(&outputs) {
            let part = plan.written.rows_per_file().map(|_| (number, files));
            let lineage = Lineage { outputs: vec![output.clone()], ..lineage.clone() };
            let record = VerdictLineage { lineage, part, most_are_invalid };
            let file = Output::create_file(&build_record::hidden_path_of(&output.file)?, true)?;
            records.extend(build_record::write(&record, file)?);
        }
        recorded = Some(Lineage { outputs, ..lineage.clone() });
        Ok(records)
    };
    let opened = Files { report: Report::of_run(wants_page), ..Files::open(plan, &list)? };
    let mut summary = Summary::default();
    summary.row("URLs", printable(job.list.as_os_str().as_encoded_bytes()));
    summary.print();
    let next = Some(next_parts(job, list.force));
    let decided = decide(plan, &list, opened, settings, (&input, next), run, beside)?;
    recorded.into_iter().for_each(|lineage| run.add(lineage));
    // Parts of an older, longer output. Without --force, only a stopped run's own parts are replaced.
    for (_, stale) in existing.iter().filter(|(number, _)| *number >= files) {
        remove_with_record(stale)?;
    }
    Ok(Outcome::Decided(Box::new(decided), files.into()))
}

/// Removes a file that this program has written, according to its record.
fn remove_with_record(file: &Place) -> Result<()> {
    let record = build_record::hidden_path_of(file)?;
    if !record.exists().map_err(|error| Failure::at(&record, error))? {
        note(format_args!("{}: is not a part of the output, and has no record; it stays", file.display()));
        return Ok(());
    }
    for path in [file, &record].into_iter().filter_map(|place| place.local()) {
        fs::remove_file(path).map_err(|error| Failure::at(path, format!("cannot be removed: {error}")))?;
    }
    Ok(())
}

/// Returns a function that opens further parts.
fn next_parts(job: &Job, force: bool) -> NextOutput {
    let job = job.clone();
    Box::new(move |number| Output::create(&job.part(number), force))
}

/// The state of a list's output before this run.
enum EarlierOutput {
    /// All its files.
    Whole(Outcome),
    /// Some of its files, because it was stopped while it named them. They may be replaced.
    Partial,
    Nothing,
}

/// Returns the state of a list's output, with `--resume`.
///
/// # Errors
/// Returns an error if a file is not up to date and may not be replaced.
fn kept(
    folder: &Folder,
    job: &Job,
    settings: &Settings,
    input: &InputState,
    existing: &[(u32, Place)],
    run: &Run,
) -> Result<EarlierOutput> {
    let mut records: Vec<VerdictLineage> = Vec::new();
    for (_, file) in existing {
        match made_before(file, folder.options, folder.force, (&settings.state, input), run)? {
            Some(record) => records.push(record),
            None => return Ok(EarlierOutput::Nothing),
        }
    }
    let Some(last) = records.last() else { return Ok(EarlierOutput::Nothing) };
    let is_whole = match last.part {
        None => true,
        Some((_, count)) => {
            let numbers = records.iter().map(|record| record.part);
            records.len() == count as usize && numbers.eq((0..count).map(|number| Some((number, count))))
        }
    };
    if !is_whole {
        note(format_args!("{}: has only some of its parts, which are written again", job.file.display()));
        return Ok(EarlierOutput::Partial);
    }
    let (is_bad, files) = (last.most_are_invalid, records.len() as u64);
    let mut records = records.into_iter();
    if let Some(VerdictLineage { lineage: mut whole, .. }) = records.next() {
        whole.outputs.extend(records.flat_map(|record| record.lineage.outputs));
        run.add_kept(whole);
    }
    Ok(EarlierOutput::Whole(Outcome::Kept { is_bad, files }))
}

/// Opens the file for the page about all lists.
///
/// # Errors
/// Returns an error if it would replace the set, a list, or a list's file, or cannot be written.
fn page(plan: &Plan, folder: &Folder, jobs: &[Job]) -> Result<Report> {
    let Some(path) = &folder.report else { return Ok(Report::of_run(false)) };
    refuse_overwriting(path, folder.lists.iter().map(|list| &list.path).chain([&plan.set]))?;
    for job in jobs {
        let file = job.part(0);
        if is_same_place(path, &file) || is_same_place(path, &build_record::hidden_path_of(&file)?) {
            let message = format!("would be both the --report page and a file for {}", job.list.display());
            return Err(Failure::at(path, message));
        }
    }
    Report::create(Some(path), folder.force)
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

/// Writes the page about all lists decided in this run. `lists` are their number, and the number of lists that an
/// earlier run has decided. The caller still has to publish the file.
///
/// # Errors
/// Returns an error if the file cannot be written.
fn complete_page(
    page: Report,
    plan: &Plan,
    folder: &Folder,
    settings: &Settings,
    all: Option<&Decided>,
    (decided, done): (u64, u64),
) -> Result<Option<Complete>> {
    let Some(Decided { totals, decider, time, .. }) = all else {
        if page.is_wanted() {
            note("--report: every list was done before, so there is nothing to report");
        }
        return Ok(None);
    };
    let mut urls = format!(" of {} lists", grouped(decided));
    if done > 0 {
        urls += &format!("; {} more were done before, and are not counted here", grouped(done));
    }
    let subject = Subject { name: &folder.path, urls, set_path: &plan.set, set: &settings.set };
    page.complete(&subject, totals, decider, *time)
}
