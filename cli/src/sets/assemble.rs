//! Compiles inputs to a set, on all threads.
//!
//! Reader threads ([`readers`](super::readers)) read a batch each, other threads prepare an earlier batch, and one
//! thread adds the batch before that to the set. Memory holds two batches, one more for each reader, and the distinct
//! data in all files, which is about the size of the set. If that exceeds the limit, parts of the set are compiled
//! and written to files while the next part is collected, and merged at the end. Messages are printed in input order
//! ([`told`](super::told)).

use std::path::PathBuf;
use std::sync::mpsc;
use std::thread::{self, ScopedJoinHandle};

use bumpalo::Bump;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use reptile::body::DiagnosticKind;
use reptile::build::{
    BadCapture, BodyOverLimit, CompiledSet, Prepared, SetBuilder, Strategy, Threads, TooLarge, prepare,
    prepare_capture, prepare_without_other,
};
use reptile::capture::{Capture, Outcome};
use reptile::contents::Set;
use reptile::{Dialect, MappedFile, Origin, Profile};

use super::fates::{CaptureSource, Fate, Fates};
use super::readers::{Batch, Readers, stopped};
use super::report::{InputCounts, Report, untrusted_from};
use super::room::{Room, passing_through};
use super::told::{Message, Told, Turns};
use super::{Loaded, damaged};
use crate::error::{Failure, Result};
use crate::options::CompileOptions;
use crate::outputs::made;
use crate::outputs::progress::Progress;
use reptile_records::bodies::{Fault, TOO_LARGE, settle};
use reptile_records::recognise::Content;
use reptile_records::spill::Scratch;
use reptile_records::{Fetch, Inputs, Item, Reading, Robots, no_robots};

/// Batch size in memory, in bytes: bodies and metadata. Preparing it takes about the same amount again.
const BATCH_BYTES: usize = 8 << 20;

/// Divisor for the memory that a batch may use. Several batches are processed at a time.
const BATCH_PART: u64 = 32;

/// Memory for each reader thread, in bytes: a file may be compressed with a large window, and its reader caches some
/// data. With less memory, fewer threads read.
const READER_BYTES: u64 = 128 << 20;

/// A capture that shares its body: its input, origins, capture, outcome, and source if fates are listed.
type SharedCapture = (usize, Vec<Origin>, Capture, Outcome, Option<CaptureSource>);

/// An item after its body was parsed.
enum Done {
    Capture {
        origins: Vec<Origin>,
        bytes: u64,
        capture: Capture,
        outcome: Outcome,
        prepared: Option<Prepared>,
        diagnostics: Vec<(DiagnosticKind, u64)>,
        /// The name and content, if the body is not text.
        strange: Option<(String, Content)>,
        /// Present if fates are listed.
        source: Option<CaptureSource>,
    },
    /// Captures with the same body. Each has its input, and its source if fates are listed.
    Captures {
        captures: Vec<SharedCapture>,
        bytes: u64,
        prepared: Option<Prepared>,
        diagnostics: Vec<(DiagnosticKind, u64)>,
        /// Names for the captures with status 2xx, and the body's content, if it is not text.
        strange: Option<(Vec<String>, Content)>,
    },
    /// A compressed body that cannot be decompressed.
    Faulty(String, Fault),
    /// An error that ends the command.
    Failed(Failure),
    Other(Item),
}

/// Reads and compiles inputs. Invalid files are reported and counted.
///
/// # Errors
/// Returns an error if an input cannot be read to its end, if no input contains a robots.txt, or if the set exceeds a
/// limit.
pub fn assemble(inputs: Inputs<'_>, options: &CompileOptions) -> Result<(CompiledSet, Report)> {
    assemble_in(None, inputs, options, &[], None)
}

/// Does the work of [`assemble`], and merges some sets, which must have been compiled with the same options.
///
/// # Errors
/// The errors of [`assemble`]. Also returns an error if a set has other options, is damaged, or does not record which
/// of two files is newer.
pub fn assemble_with(
    room: &Room,
    inputs: Inputs<'_>,
    options: &CompileOptions,
    sets: &[Loaded],
) -> Result<(CompiledSet, Report)> {
    assemble_in(Some(room), inputs, options, sets, None)
}

/// Does the same as [`assemble_with`] without sets, and adds each capture to `fates`.
///
/// # Errors
/// The errors of [`assemble`]. Also returns an error if a temporary file cannot be written.
pub fn assemble_with_fates(
    room: &Room,
    inputs: Inputs<'_>,
    options: &CompileOptions,
    fates: &mut Fates,
) -> Result<(CompiledSet, Report)> {
    assemble_in(Some(room), inputs, options, &[], Some(fates))
}

fn assemble_in(
    room: Option<&Room>,
    inputs: Inputs<'_>,
    options: &CompileOptions,
    sets: &[Loaded],
    mut fates: Option<&mut Fates>,
) -> Result<(CompiledSet, Report)> {
    let (dialect, profile) = (options.dialect(), options.profile());
    let strategy = options.strategy.unwrap_or_default();
    let builder = SetBuilder::with_profile(dialect, profile, options.at()?);
    let mut builder = builder.line_numbers(!options.no_lines).by_time(options.by_time);
    let names = match &inputs {
        Inputs::Opened(input) => vec![input.path.display().to_string()],
        Inputs::Paths(paths) => paths.iter().map(|path| path.display().to_string()).collect(),
    };
    let mut report = Report { inputs: vec![InputCounts::default(); names.len()], ..Report::default() };
    let progress = Progress::of("files", entries_of(&inputs));
    let mut parts = Vec::new();
    let batch_bytes = room.map_or(BATCH_BYTES, |room| room.part_of(BATCH_PART).min(BATCH_BYTES as u64) as usize);
    let scratch = room.map_or_else(Scratch::default, Room::scratch);
    let turns = Turns::default();
    let reading = options.reading();
    let readers = Readers::new(inputs, Reading::new(&reading, scratch), &turns, batch_bytes);
    thread::scope(|scope| {
        let not_started = |error| Failure::new(format!("a thread cannot be started: {error}"));
        let mut told = Told::new(&turns);
        let (send, batches) = mpsc::sync_channel(0);
        let readers =
            readers.start(scope, reader_count(room, rayon::current_num_threads()), &send).map_err(not_started)?;
        drop(send);
        let (send, prepared) = mpsc::sync_channel(0);
        let parser = Parser { dialect, profile, with_other: !options.no_other, with_sources: fates.is_some() };
        let preparing = move || {
            for batch in batches {
                if send.send(parser.work_on(batch)).is_err() {
                    break;
                }
            }
        };
        thread::Builder::new().spawn_scoped(scope, preparing).map_err(not_started)?;
        let mut compiling = None;
        for Batch { input, items, end } in prepared {
            progress.add(items.iter().map(|done| done.len() as u64).sum());
            for (own, done) in items.into_iter().flatten() {
                let done = match done {
                    Done::Faulty(name, fault) => Done::Other(fault.item(name)?),
                    done => done,
                };
                if let Some(fates) = &mut fates {
                    add_fate(own, &done, fates)?;
                }
                take((input, own), done, &mut builder, &mut report, &mut told)?;
                if let Some(room) = room.filter(|room| room.is_full(builder.held_bytes())) {
                    parts.extend(compiling.take().map(joined).transpose()?);
                    let part = builder.split_off();
                    let work = move || kept_part(part, strategy, room);
                    compiling = Some(thread::Builder::new().spawn_scoped(scope, work).map_err(not_started)?);
                }
            }
            if let Some(end) = end {
                told.end(input, end, &mut report)?;
            }
        }
        parts.extend(compiling.take().map(joined).transpose()?);
        readers.into_iter().try_for_each(|reader| reader.join().map_err(|_| stopped()))
    })?;
    if report.read() == 0 && sets.is_empty() && report.unresolved() == 0 {
        return Err(no_robots(&PathBuf::from(names.join(", "))).into());
    }
    drop(progress);
    let set = match room {
        Some(room) if !(parts.is_empty() && sets.is_empty()) => {
            if builder.held_bytes() > 0 {
                parts.push(kept_part(builder.split_off(), strategy, room)?);
            }
            merge(builder, strategy, room, &parts, sets, &mut report)?
        }
        _ => builder.finish_with(strategy, &COMPILING).map_err(too_large)?,
    };
    report.captures = set.report().clone();
    report.note_missing(&names);
    Ok((set, report))
}

fn too_large(error: TooLarge) -> Failure {
    Failure::new(format!("the set cannot be built: {error}"))
}

/// Compiles a builder's captures, and writes the part to a file.
fn kept_part(mut builder: SetBuilder, strategy: Strategy, room: &Room) -> Result<MappedFile> {
    let part = builder.finish_part(strategy, &QUIETLY).map_err(too_large)?;
    room.keep(&part).map_err(Failure::new)
}

/// Returns the part that a thread compiled.
fn joined(compiling: ScopedJoinHandle<'_, Result<MappedFile>>) -> Result<MappedFile> {
    let failed = |_| Err(Failure::new("the thread that compiles a part has failed; this is a fault of reptile"));
    compiling.join().unwrap_or_else(failed)
}

/// Merges a set's parts, then the given sets.
fn merge(
    builder: SetBuilder,
    strategy: Strategy,
    room: &Room,
    parts: &[MappedFile],
    sets: &[Loaded],
    report: &mut Report,
) -> Result<CompiledSet> {
    let mapped: Vec<&MappedFile> = parts.iter().chain(sets.iter().filter_map(Loaded::mapped)).collect();
    let _progress = Progress::of_time("merging");
    passing_through(&mapped, || {
        let opened = mapped.iter().map(|file| Set::from_bytes(file.as_ref()));
        let opened: Vec<Set<&[u8]>> = opened.collect::<std::result::Result<_, _>>().map_err(Failure::new)?;
        for (set, loaded) in opened.iter().skip(parts.len()).zip(sets) {
            set.verify_checksums().map_err(|error| damaged(&loaded.path, &error))?;
            let (captures, bytes) = (set.origin_count(), loaded.bytes().len() as u64);
            report.inputs.push(InputCounts { captures, bytes, is_set: true, ..InputCounts::default() });
            match made::unresolved(&loaded.path, loaded.bytes()) {
                Some(count) => report.unresolved_in_sets += count,
                None => report.sets_without_record += 1,
            }
        }
        let merged = builder.finish_merged(&opened, strategy, &QUIETLY, room);
        merged.map_err(|(part, error)| match part.and_then(|part| sets.get(part.checked_sub(parts.len())?)) {
            Some(loaded) => Failure::at(&loaded.path, error),
            None => Failure::new(error),
        })
    })
}

/// The command's threads, optionally with progress for compiled rulesets.
struct AllThreads {
    shows: bool,
}

/// Threads for compiling, with progress.
const COMPILING: AllThreads = AllThreads { shows: true };

/// Threads without progress, for merging and for compiling a part while inputs are read.
const QUIETLY: AllThreads = AllThreads { shows: false };

impl Threads for AllThreads {
    fn both<A: Send, B: Send>(&self, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
        rayon::join(a, b)
    }

    fn each<T: Send, S, R: Send>(
        &self,
        things: Vec<T>,
        start: impl Fn() -> S + Send + Sync,
        work: impl Fn(&mut S, T) -> R + Send + Sync,
    ) -> Vec<R> {
        let rulesets = || Progress::of("rulesets", Some(things.len() as u64));
        let progress = if self.shows { rulesets() } else { Progress::hidden() };
        let work = |state: &mut S, thing| {
            progress.add(1);
            work(state, thing)
        };
        things.into_par_iter().map_init(start, work).collect()
    }
}

/// Returns the approximate file count if all inputs are folders: one file or folder per host.
fn entries_of(inputs: &Inputs<'_>) -> Option<u64> {
    let Inputs::Paths(inputs) = inputs else { return None };
    inputs.iter().map(|input| Some(std::fs::read_dir(input).ok()?.count() as u64)).sum()
}

/// Returns how many inputs to read in parallel, up to `threads`.
fn reader_count(room: Option<&Room>, threads: usize) -> usize {
    let most = room.map_or(1, |room| room.parts_of(READER_BYTES));
    threads.min(most)
}

/// Parses bodies with a set's options.
struct Parser {
    dialect: &'static Dialect,
    profile: &'static Profile,
    with_other: bool,
    /// Whether fates are listed, which require capture sources.
    with_sources: bool,
}

/// A batch's items after parsing, with their input indexes.
type DoneItems = Vec<(usize, Done)>;

impl Parser {
    /// Parses a batch's bodies on all threads, in order.
    fn work_on(&self, batch: Batch<Item>) -> Batch<DoneItems> {
        let Batch { input, items, end } = batch;
        let work = items.into_par_iter().map_init(Bump::new, |arena, item| {
            let mut done = Vec::new();
            let read = item.read(&mut |item| {
                match item {
                    Item::Robots(robots) => done.push(self.robots(input, robots, arena)),
                    Item::SameBody { body, robots } => self.same_body(input, body, robots, arena, &mut done),
                    item => done.push((input, Done::Other(item))),
                }
                Ok(())
            });
            done.extend(read.err().map(|failure| (input, Done::Failed(failure.into()))));
            done
        });
        Batch { input, items: work.collect(), end }
    }

    fn prepare(&self, body: &[u8], arena: &Bump) -> std::result::Result<Prepared, BodyOverLimit> {
        if self.with_other {
            prepare(body, self.dialect, arena)
        } else {
            prepare_without_other(body, self.dialect, arena)
        }
    }

    fn robots(&self, input: usize, robots: Robots, arena: &mut Bump) -> (usize, Done) {
        let Robots { name, origins, capture, body, fetch, .. } = robots;
        let source = self.source(&name, fetch.as_ref());
        let input = fetch.map_or(input, |fetch| fetch.input);
        arena.reset();
        let (body, content) = match body.map(settle).transpose() {
            Ok(settled) => settled.unzip(),
            Err(fault) => return (input, Done::Faulty(name, fault)),
        };
        let strange = content.filter(|content| is_success(&capture) && !content.is_text());
        let strange = strange.map(|content| (name.clone(), content));
        let bytes = body.as_ref().map_or(0, Vec::len) as u64;
        let prepared = prepare_capture(&capture, body.as_deref(), self.profile, |body| self.prepare(body, arena));
        let done = match prepared {
            Ok((outcome, prepared)) => {
                let diagnostics = prepared.iter().flat_map(|prepared| prepared.diagnostics.counts()).collect();
                Done::Capture { origins, bytes, capture, outcome, prepared, diagnostics, strange, source }
            }
            Err(error) => Done::Other(bad_capture(name, &error)),
        };
        (input, done)
    }

    /// Returns a capture's source if fates are listed.
    fn source(&self, name: &str, fetch: Option<&Fetch>) -> Option<CaptureSource> {
        let redirects = || fetch.map(|fetch| fetch.redirects.clone()).unwrap_or_default();
        let record = fetch.map(|fetch| fetch.record);
        self.with_sources.then(|| CaptureSource { name: name.to_owned(), record, redirects: redirects() })
    }

    /// Parses a body once for all its captures.
    fn same_body(&self, input: usize, body: Vec<u8>, robots: Vec<Robots>, arena: &mut Bump, done: &mut DoneItems) {
        let input_of = |robots: &Robots| robots.fetch.as_ref().map_or(input, |fetch| fetch.input);
        arena.reset();
        let (body, content) = match settle(body) {
            Ok(settled) => settled,
            Err(fault) => {
                let mut fault = Some(fault);
                let mut first: Option<(&'static str, String)> = None;
                for robots in robots {
                    let item = match (&first, fault.take()) {
                        (_, Some(fault)) => fault.item(robots.name.clone()).map_err(Failure::from),
                        (Some((reason, detail)), None) => {
                            Ok(Item::Bad { name: robots.name.clone(), reason, detail: detail.clone() })
                        }
                        (None, None) => Err(stopped()),
                    };
                    if let Ok(Item::Bad { reason, detail, .. }) = &item {
                        first.get_or_insert_with(|| (reason, detail.clone()));
                    }
                    done.push((input_of(&robots), item.map_or_else(Done::Failed, Done::Other)));
                }
                return;
            }
        };
        let bytes = body.len() as u64;
        let (mut captures, mut names) = (Vec::new(), Vec::new());
        let mut parsed: Option<std::result::Result<Prepared, BodyOverLimit>> = None;
        for one in robots {
            let input = input_of(&one);
            let Robots { name, origins, capture, fetch, .. } = one;
            let source = self.source(&name, fetch.as_ref());
            let outcome = self.profile.outcome(&capture, &body);
            if outcome == Outcome::Use {
                let parsed = parsed.get_or_insert_with(|| self.prepare(&self.profile.readable(&capture, &body), arena));
                if let Err(error) = parsed {
                    let error = BadCapture::OverLimit(error.clone());
                    done.push((input, Done::Other(bad_capture(name, &error))));
                    continue;
                }
            }
            if !content.is_text() && is_success(&capture) {
                names.push(name);
            }
            captures.push((input, origins, capture, outcome, source));
        }
        let prepared = parsed.and_then(std::result::Result::ok);
        let diagnostics = prepared.iter().flat_map(|prepared| prepared.diagnostics.counts()).collect();
        let strange = (!names.is_empty()).then_some((names, content));
        done.push((input, Done::Captures { captures, bytes, prepared, diagnostics, strange }));
    }
}

/// Returns whether a capture has a 2xx status, or no status. Other bodies are error pages, which decide nothing.
fn is_success(capture: &Capture) -> bool {
    capture.status.is_none_or(|status| status / 100 == 2)
}

fn bad_capture(name: String, error: &BadCapture) -> Item {
    let (reason, detail) = match error {
        BadCapture::NoBody => ("no body", String::new()),
        BadCapture::OverLimit(error @ BodyOverLimit::Bytes(_)) => (TOO_LARGE, error.to_string()),
        BadCapture::OverLimit(error @ BodyOverLimit::Steps(_)) => ("too many steps for one URL", error.to_string()),
    };
    Item::Bad { name, reason, detail }
}

/// Adds an item to the fates.
fn add_fate(input: usize, done: &Done, fates: &mut Fates) -> Result<()> {
    let hash_of = |prepared: &Option<Prepared>| prepared.as_ref().map_or(0, |prepared| prepared.body_hash);
    match done {
        Done::Capture { origins, capture, outcome, prepared, source: Some(source), .. } => {
            fates.add(input, source, origins, capture, *outcome, hash_of(prepared))
        }
        Done::Captures { captures, prepared, .. } => {
            captures.iter().try_for_each(|(input, origins, capture, outcome, source)| {
                let hash = if *outcome == Outcome::Use { hash_of(prepared) } else { 0 };
                source.as_ref().map_or(Ok(()), |source| fates.add(*input, source, origins, capture, *outcome, hash))
            })
        }
        Done::Other(Item::Bad { name, reason, detail }) => {
            let separator = if detail.is_empty() { "" } else { ": " };
            fates.settle(input, name, Fate::Bad, format!("{reason}{separator}{detail}"))
        }
        Done::Other(Item::LeftOut { reason, name: Some(name) }) => {
            fates.settle(input, name, Fate::LeftOut, (*reason).to_owned())
        }
        _ => Ok(()),
    }
}

/// Adds an item to the set and to the report, and prints a message if necessary. `turn` is the input with which the
/// message is printed, and `input` is the input whose counts include the item.
fn take(
    (turn, input): (usize, usize),
    done: Done,
    builder: &mut SetBuilder,
    report: &mut Report,
    told: &mut Told<'_>,
) -> Result<()> {
    match done {
        Done::Capture { origins, bytes, capture, outcome, prepared, diagnostics, strange, .. } => {
            report.count_capture(input, bytes, &capture);
            report.rules += prepared.as_ref().map_or(0, |prepared| prepared.rule_count as u64);
            for (kind, count) in diagnostics {
                *report.diagnostics.entry(kind).or_insert(0) += count;
            }
            builder.add_capture(origins, &capture, outcome, prepared);
            if let Some((name, content)) = strange {
                report.strange.count(content);
                told.tell(turn, Message::Strange(name, content), report);
            }
        }
        Done::Captures { captures, bytes, prepared, diagnostics, strange } => {
            let used = captures.iter().filter(|(_, _, _, outcome, _)| *outcome == Outcome::Use).count() as u64;
            report.rules += used * prepared.as_ref().map_or(0, |prepared| prepared.rule_count as u64);
            for (kind, count) in diagnostics {
                *report.diagnostics.entry(kind).or_insert(0) += used * count;
            }
            captures.iter().for_each(|(input, _, capture, ..)| report.count_capture(*input, bytes, capture));
            let captures = captures.into_iter().map(|(_, origins, capture, outcome, _)| (origins, capture, outcome));
            builder.add_captures(captures, prepared);
            let (names, content) = strange.map_or((Vec::new(), Content::Text), |strange| strange);
            for name in names {
                report.strange.count(content);
                told.tell(turn, Message::Strange(name, content), report);
            }
        }
        Done::Other(Item::Bad { name, reason, detail }) => {
            if let Some(counts) = report.inputs.get_mut(input) {
                counts.bad += 1;
            }
            *report.bad.entry(reason).or_insert(0) += 1;
            let separator = if detail.is_empty() { "" } else { ": " };
            told.tell(turn, Message::Bad(format!("{name}: {reason}{separator}{detail}")), report);
        }
        Done::Other(Item::LeftOut { reason, name }) => {
            *report.left_out.entry(reason).or_insert(0) += 1;
            if let Some(name) = name {
                told.tell(turn, Message::LeftOut(reason, name), report);
            }
        }
        Done::Other(Item::Names(names)) => {
            if let Some(counts) = report.inputs.get_mut(input) {
                counts.has_names = true;
            }
            report.names.extend(names);
        }
        Done::Other(Item::Untrusted { from }) => {
            report.untrusted += 1;
            if let Some(record) = from {
                told.tell(turn, Message::Bad(untrusted_from(&record)), report);
            }
        }
        Done::Failed(failure) => return Err(failure),
        // A robots.txt is always parsed, a line is always read, and an invalid item remains an item, so none of these
        // reach this point.
        Done::Faulty(..) | Done::Other(Item::Robots(_) | Item::SameBody { .. } | Item::Lines { .. }) => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn reader_count_is_limited_by_memory() {
        let readers = |memory, threads| reader_count(Some(&Room::new(memory, Path::new("set"))), threads);
        for (memory, expected) in [
            (READER_BYTES - 1, 1),
            (READER_BYTES, 1),
            (READER_BYTES + 1, 1),
            (2 * READER_BYTES - 1, 1),
            (2 * READER_BYTES, 2),
            (2 * READER_BYTES + 1, 2),
            (u64::MAX, 8),
        ] {
            assert_eq!(readers(memory, 8), expected, "{memory}");
        }
        assert_eq!(readers(u64::MAX, 1), 1);
        assert_eq!(reader_count(None, 8), 1, "without a bound of memory, one after the other");
    }
}
