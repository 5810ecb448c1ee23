//! From inputs to a compiled set in memory, on all threads; and the report of what went in.
//!
//! One thread reads, the others work on the batch before. Memory: two batches of bodies, and what is distinct in
//! all files, which is about the size of the set.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{self, SyncSender};
use std::thread;

use bumpalo::Bump;
use rayon::iter::{IntoParallelIterator, IntoParallelRefIterator, ParallelIterator};
use reptile_compiler::automaton::compile;
use reptile_compiler::body::DiagnosticKind;
use reptile_compiler::capture::{Capture, Outcome, Profile};
use reptile_compiler::dialect::Dialect;
use reptile_compiler::set::origin::OwnedOrigin;
use reptile_compiler::set::{
    BadCapture, CaptureReport, CompiledSet, DiscardedCapture, Prepared, SetBuilder, prepare, prepare_capture,
    prepare_without_other,
};
use reptile_engine::verdict::PolicySource;

use crate::error::{Failure, Result, note};
use crate::inputs::time::{now, show_time};
use crate::inputs::{self, CompileOptions, Item, Robots, TOO_LARGE};
use crate::outputs::summary::Summary;

/// Bytes of bodies that are worked on at once.
const BATCH_BYTES: usize = 32 << 20;

/// Items that are worked on at once, so that a batch of empty bodies is bounded too.
const BATCH_ITEMS: usize = 1 << 15;

/// What went into a set, and what did not.
#[derive(Default)]
pub struct Report {
    /// Files and records that could be read, those that do not count included.
    pub read: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What was wrong with others, by reason.
    pub bad: BTreeMap<&'static str, u64>,
    /// What was rightly left out, by reason.
    pub left_out: BTreeMap<String, u64>,
    /// What became of the captures.
    pub captures: CaptureReport,
    /// Rules as written.
    pub rules: u64,
    /// What was odd about lines, by kind.
    pub diagnostics: BTreeMap<DiagnosticKind, u64>,
}

impl Report {
    /// Whether anything was left out that should have been a robots.txt.
    pub fn any_bad(&self) -> bool {
        !self.bad.is_empty()
    }

    /// Adds what was read and what was not.
    pub fn describe_inputs(&self, summary: &mut Summary) {
        summary.count("files read", self.read);
        for (reason, &count) in &self.bad {
            summary.count(format!("  skipped: {reason}"), count);
        }
        for (reason, &count) in &self.left_out {
            summary.count(format!("  left out: {reason}"), count);
        }
    }

    /// Adds what the captures came to, where it is not simply the rules of a file.
    pub fn describe_captures(&self, summary: &mut Summary) {
        let CaptureReport { at, origins, stale, discarded, .. } = &self.captures;
        if let Some(at) = at {
            summary.row("  as of", show_time(*at));
        }
        for (source, &count) in origins {
            let words = match source {
                PolicySource::LastGoodCopy(cause) => format!("the last good copy ({cause})"),
                PolicySource::AllowAll(cause) => format!("everything allowed ({cause})"),
                PolicySource::DisallowAll(cause) => format!("everything disallowed ({cause})"),
                _ => continue,
            };
            summary.count(format!("  {words}"), count);
        }
        if *stale > 0 {
            summary.count("  no longer fresh", *stale);
        }
        for (why, &count) in discarded {
            summary.count(format!("  discarded: {}", why.describe()), count);
        }
    }

    /// Names the captures that do not count, as many as are kept for it.
    pub fn name_discarded(&self) {
        let listed = self.captures.listed();
        for DiscardedCapture { origin, time, status, why } in &listed {
            let time = time.map(|time| format!(", fetched {}", show_time(time))).unwrap_or_default();
            let status = status.map(|status| format!(", status {status}")).unwrap_or_default();
            note(format_args!("discarded: {origin}{time}{status}: {}", why.describe()));
        }
        let more = self.captures.discarded.values().sum::<u64>() - listed.len() as u64;
        if more > 0 {
            note(format_args!("discarded: {more} more"));
        }
    }

    /// Says so if the set is for a time that has not come: one wrong clock makes every other capture look old.
    pub fn note_future(&self) {
        if let Some(at) = self.captures.at.filter(|&at| at > now()) {
            note(format_args!("the set is for {}, which has not come; --at TIME chooses another time", show_time(at)));
        }
    }

    /// Adds how many lines were odd.
    pub fn describe_diagnostics(&self, summary: &mut Summary) {
        for (kind, &count) in &self.diagnostics {
            summary.count(format!("  odd: {}", kind.describe()), count);
        }
    }
}

/// A compiled input.
enum Done {
    Capture {
        origins: Vec<OwnedOrigin>,
        bytes: u64,
        capture: Capture,
        outcome: Outcome,
        record: Option<Prepared>,
        diagnostics: BTreeMap<DiagnosticKind, u64>,
    },
    Other(Item),
}

/// Reads and compiles inputs. What is wrong with single files is told to the user at once, and counted.
pub fn assemble(inputs: &[PathBuf], options: &CompileOptions) -> Result<(CompiledSet, Report)> {
    let (dialect, profile) = (options.dialect(), options.profile());
    let strategy = options.strategy.unwrap_or_default();
    let mut builder = SetBuilder::with_profile(dialect, profile, options.at);
    let mut report = Report::default();
    thread::scope(|scope| {
        let (send, batches) = mpsc::sync_channel(0);
        let reader = scope.spawn(move || read_batches(inputs, options, &send));
        for batch in batches {
            for done in work_on(batch, dialect, profile, !options.no_other) {
                take(done, &mut builder, &mut report);
            }
        }
        reader.join().unwrap_or_else(|_| Err(Failure::new("the reading thread has failed")))
    })?;
    if report.read == 0 {
        let names: Vec<String> = inputs.iter().map(|path| path.display().to_string()).collect();
        return Err(inputs::no_robots(&PathBuf::from(names.join(", "))));
    }
    let set = builder.finish_with(strategy, |lists| {
        let compiled = lists.par_iter().map_init(Bump::new, |arena, list| {
            arena.reset();
            compile(list, strategy, arena)
        });
        compiled.collect()
    });
    let set = set.map_err(|error| Failure::new(format!("the set cannot be built: {error}")))?;
    report.captures = set.report().clone();
    Ok((set, report))
}

/// Reads everything, and sends it in batches.
fn read_batches(inputs: &[PathBuf], options: &CompileOptions, send: &SyncSender<Vec<Item>>) -> Result<()> {
    let (mut batch, mut bytes) = (Vec::new(), 0);
    let gone = |_| Failure::Quiet;
    let result = inputs::read_all(inputs, options, &mut |item| {
        if let Item::Robots(robots) = &item {
            bytes += robots.byte_len();
        }
        batch.push(item);
        if bytes >= BATCH_BYTES || batch.len() >= BATCH_ITEMS {
            bytes = 0;
            send.send(std::mem::take(&mut batch)).map_err(gone)?;
        }
        Ok(())
    });
    send.send(batch).map_err(gone)?;
    result
}

/// Parses a batch on all threads. The order stays.
fn work_on(batch: Vec<Item>, dialect: &'static Dialect, profile: &Profile, with_other: bool) -> Vec<Done> {
    let read = if with_other { prepare } else { prepare_without_other };
    let work = batch.into_par_iter().map_init(Bump::new, |arena, item| {
        let Item::Robots(Robots { name, origins, capture, body }) = item else { return Done::Other(item) };
        arena.reset();
        let bytes = body.as_ref().map_or(0, Vec::len) as u64;
        match prepare_capture(&capture, body.as_deref(), profile, |body| read(body, dialect, arena)) {
            Ok((outcome, mut record)) => {
                let mut diagnostics = BTreeMap::new();
                for diagnostic in record.iter_mut().flat_map(|record| std::mem::take(&mut record.diagnostics)) {
                    *diagnostics.entry(diagnostic.kind).or_insert(0) += 1;
                }
                Done::Capture { origins, bytes, capture, outcome, record, diagnostics }
            }
            Err(BadCapture::NoBody) => Done::Other(Item::Bad { name, reason: "no body", detail: String::new() }),
            Err(BadCapture::TooLarge(error)) => {
                Done::Other(Item::Bad { name, reason: TOO_LARGE, detail: error.to_string() })
            }
        }
    });
    work.collect()
}

/// Adds one result to the set and the report.
fn take(done: Done, builder: &mut SetBuilder, report: &mut Report) {
    match done {
        Done::Capture { origins, bytes, capture, outcome, record, diagnostics } => {
            report.read += 1;
            report.bytes += bytes;
            report.rules += record.as_ref().map_or(0, |record| record.rule_count as u64);
            for (kind, count) in diagnostics {
                *report.diagnostics.entry(kind).or_insert(0) += count;
            }
            builder.add_capture(origins, &capture, outcome, record);
        }
        Done::Other(Item::Bad { name, reason, detail }) => {
            let separator = if detail.is_empty() { "" } else { ": " };
            note(format_args!("{name}: {reason}{separator}{detail}"));
            *report.bad.entry(reason).or_insert(0) += 1;
        }
        Done::Other(Item::LeftOut(reason)) => *report.left_out.entry(reason).or_insert(0) += 1,
        Done::Other(Item::Remark(remark)) => note(remark),
        Done::Other(Item::Robots(_)) => {}
    }
}
