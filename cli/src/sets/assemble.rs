//! Compiles inputs to a set, on all threads.
//!
//! Reader threads ([`readers`](super::readers)) read a batch each, other threads parse an earlier batch, and one
//! thread adds the batch before that to the library's [`Compiler`], which keeps the memory limit. Memory holds two
//! batches, one more for each reader, and the distinct data in all files, which is about the size of the set. Messages
//! are printed in input order ([`messages`](super::messages)).
//!
//! With `--keep-going`, an input that cannot be read to its end is left out entirely. If some of its captures were
//! already added, the other inputs are read again, so that the set is the same as without the failed input.

use std::collections::BTreeSet;
use std::error::Error as _;
use std::sync::{OnceLock, mpsc};
use std::thread;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use reptile::capture::{Capture, Outcome};
use reptile::files::release_pages_during;
use reptile::{CompiledSet, Compiler, ErrorKind, Parsed, ParsedCapture};

use super::fates::{CaptureSource, Fate, Fates};
use super::loaded::Loaded;
use super::memory_budget::MemoryBudget;
use super::messages::{InputTurns, Message, OrderedMessages};
use super::readers::{Batch, Readers, stopped};
use super::report::{InputCounts, Report, untrusted_from};
use crate::error::{Failure, Result, note};
use crate::failures::Failures;
use crate::options::{CompileOptions, Omitted};
use crate::outputs::build_record;
use crate::outputs::progress::Progress;
use reptile_records::bodies::{Fault, TOO_LARGE, decompress_and_detect};
use reptile_records::detect::Content;
use reptile_records::place::Place;
use reptile_records::spill::Scratch;
use reptile_records::{Inputs, Item, Reading, Robots, no_robots};

/// Batch size in memory, in bytes: bodies and metadata. Parsing it takes about the same amount again.
const BATCH_BYTES: usize = 8 << 20;

/// Divisor for the memory that a batch may use. Several batches are processed at a time.
const BATCH_PART: u64 = 32;

/// Memory for each reader thread, in bytes: a file may be compressed with a large window, and its reader caches some
/// data. With less memory, fewer threads read.
const READER_BYTES: u64 = 128 << 20;

/// An item after its body was parsed.
enum ParsedItem {
    Captures(ParsedCaptures),
    /// An error that ends the command.
    Failed(Failure),
    Other(Item),
}

/// Captures that share a body. At least one of them can be used.
struct ParsedCaptures {
    parsed: Parsed,
    /// Each capture's input, and its source, in the same order.
    sources: Vec<(usize, CaptureSource)>,
    /// The body's size.
    bytes: u64,
    /// The body's content, if there is a body.
    content: Option<Content>,
}

impl ParsedCaptures {
    /// Returns the captures that can be used, with their inputs, sources and outcomes.
    fn usable(&self) -> impl Iterator<Item = (usize, &CaptureSource, &ParsedCapture, Outcome)> {
        let sources = self.sources.iter().zip(self.parsed.captures());
        sources.filter_map(|((input, source), parsed)| Some((*input, source, parsed, *parsed.outcome.as_ref().ok()?)))
    }
}

/// Reads and compiles inputs. Invalid files are reported and counted.
///
/// # Errors
/// Returns an error if an input cannot be read to its end, if no input contains a robots.txt, or if the set exceeds a
/// limit.
pub fn assemble(inputs: Inputs<'_>, options: &CompileOptions) -> Result<(CompiledSet, Report)> {
    finish(read_inputs(None, inputs, options, None, &mut Pass::default())?, Vec::new())
}

/// Does the work of [`assemble`] for paths, and merges some sets, which must have been compiled with the same options.
/// Adds each capture to `fates`, and each input that was left out to `failures`.
///
/// # Errors
/// Returns the errors of [`assemble`], except for an input that cannot be read to its end if the run goes on after
/// failures. Also returns an error if a set has other options, is damaged, or does not record which of two files is
/// newer, or if a temporary file cannot be written.
pub fn assemble_with(
    budget: &MemoryBudget,
    paths: &[Place],
    options: &CompileOptions,
    sets: Vec<Loaded>,
    fates: Option<&mut Fates>,
    failures: &mut Failures,
) -> Result<(CompiledSet, Report)> {
    failures.refuse_streams(paths)?;
    let mut pass = Pass { keeps_going: failures.keeps_going(), ..Pass::default() };
    let read = read_until_whole(budget, paths, options, fates, &mut pass);
    // Later passes may find earlier inputs.
    pass.all_failed.sort_by_key(|(input, _)| *input);
    for (input, failure) in pass.all_failed {
        failures.add(paths.get(input).unwrap_or(&Place::from("")), failure)?;
    }
    let (set, mut report) = finish(read?, sets)?;
    let mut input = 0..;
    report.inputs.retain(|_| input.next().is_none_or(|input| !pass.left_out.contains(&input)));
    Ok((set, report))
}

/// Reads the inputs until every input is either read to its end, or left out.
fn read_until_whole(
    budget: &MemoryBudget,
    paths: &[Place],
    options: &CompileOptions,
    mut fates: Option<&mut Fates>,
    pass: &mut Pass,
) -> Result<Read> {
    loop {
        let read = read_inputs(Some(budget), Inputs::Named(paths), options, fates.as_deref_mut(), pass);
        pass.left_out.extend(pass.failed.iter().map(|(input, _)| *input));
        pass.all_failed.append(&mut pass.failed);
        let read = read?;
        if !std::mem::take(&mut pass.is_spoiled) {
            return Ok(read);
        }
        if pass.number == 0 {
            note("some inputs cannot be read to their ends; the others are read again without them");
        }
        pass.number += 1;
        if let Some(fates) = &mut fates {
            fates.clear();
        }
    }
}

/// A pass over the inputs.
#[derive(Default)]
struct Pass {
    /// Whether the pass goes on after an input that cannot be read to its end.
    keeps_going: bool,
    /// The pass's number, from 0.
    number: u32,
    /// The first input whose messages no earlier pass has printed.
    unprinted: usize,
    /// The inputs to leave out, by index.
    left_out: BTreeSet<usize>,
    /// The inputs that failed in this pass.
    failed: Vec<(usize, Failure)>,
    /// The inputs that failed in earlier passes.
    all_failed: Vec<(usize, Failure)>,
    /// Whether a failed input has already contributed items, so that this pass cannot be used.
    is_spoiled: bool,
}

/// The result of a pass.
struct Read {
    compiler: Compiler,
    report: Report,
    names: Vec<String>,
}

fn read_inputs(
    budget: Option<&MemoryBudget>,
    inputs: Inputs<'_>,
    options: &CompileOptions,
    mut fates: Option<&mut Fates>,
    pass: &mut Pass,
) -> Result<Read> {
    let mut compiler = compiler_for(options, budget)?;
    let names = match &inputs {
        Inputs::Opened(input) => vec![input.path.display().to_string()],
        Inputs::Named(paths) => paths.iter().map(|path| path.display().to_string()).collect(),
    };
    let mut report = Report { inputs: vec![InputCounts::default(); names.len()], ..Report::default() };
    let progress = Progress::of("files", entries_of(&inputs));
    let batch_bytes = budget.map_or(BATCH_BYTES, |budget| budget.part_of(BATCH_PART).min(BATCH_BYTES as u64) as usize);
    let scratch = budget.map_or_else(Scratch::default, MemoryBudget::scratch);
    let turns = InputTurns::default();
    let reading = options.reading(pass.keeps_going);
    let readers = Readers::new(inputs, Reading::new(&reading, scratch), &turns, batch_bytes);
    let readers = readers.leave_out(&pass.left_out, pass.keeps_going);
    thread::scope(|scope| {
        let not_started = |error| Failure::new(format!("a thread cannot be started: {error}"));
        let mut messages = OrderedMessages::new(&turns).silent_before(pass.unprinted);
        let (send, batches) = mpsc::sync_channel(0);
        let readers =
            readers.start(scope, reader_count(budget, rayon::current_num_threads()), &send).map_err(not_started)?;
        drop(send);
        let (send, parsed) = mpsc::sync_channel(0);
        let parser = compiler.parser();
        let parsing = move || {
            for batch in batches {
                if send.send(parse_batch(&parser, batch)).is_err() {
                    break;
                }
            }
        };
        thread::Builder::new().spawn_scoped(scope, parsing).map_err(not_started)?;
        for Batch { input, items, left_out, end, has_contributed } in &parsed {
            progress.add(items.iter().map(|items| items.len() as u64).chain(left_out.values().copied()).sum());
            for (reason, count) in left_out {
                *report.left_out.entry(reason).or_insert(0) += count;
            }
            for (own, item) in items.into_iter().flatten() {
                if let Some(fates) = &mut fates {
                    add_fate(own, &item, fates)?;
                }
                add((input, own), item, &mut compiler, &mut report, &mut messages)?;
            }
            let end = match end {
                Some(Err(failure)) if pass.keeps_going && failure.is_of_one_input() => {
                    pass.failed.push((input, failure));
                    pass.is_spoiled |= has_contributed;
                    Some(Ok(()))
                }
                // Two files for one origin, for example. Without the failed inputs, this may not happen again.
                Some(Err(_)) if pass.is_spoiled => break,
                end => end,
            };
            if let Some(end) = end {
                messages.end(input, end, &mut report)?;
            }
        }
        drop(parsed);
        // The captures that waited for all inputs are not inputs: a spoiled pass does not resolve them.
        pass.unprinted = pass.unprinted.max(messages.turn().min(names.len()));
        drop(messages);
        readers.into_iter().try_for_each(|reader| reader.join().map_err(|_| stopped()))
    })?;
    Ok(Read { compiler, report, names })
}

/// Adds the sets, and compiles all captures.
fn finish(read: Read, sets: Vec<Loaded>) -> Result<(CompiledSet, Report)> {
    let Read { mut compiler, mut report, names } = read;
    if report.read() == 0 && sets.is_empty() && report.unresolved() == 0 {
        return Err(no_robots(names.join(", ")).into());
    }
    let paths = add_sets(&mut compiler, sets, &mut report)?;
    let set = compiler.finish().map_err(|error| failure(&error, &paths))?;
    report.captures = set.report().clone();
    report.note_missing(&names);
    Ok((set, report))
}

/// Returns a compiler with the command's options.
fn compiler_for(options: &CompileOptions, budget: Option<&MemoryBudget>) -> Result<Compiler> {
    let bar = OnceLock::new();
    let show = move |progress| match progress {
        reptile::Progress::Rulesets { total, .. } => {
            bar.get_or_init(|| Progress::of("rulesets", Some(total))).add(1);
        }
        reptile::Progress::Merging => {
            bar.get_or_init(|| Progress::of_time("merging"));
        }
        _ => {}
    };
    let compiler = Compiler::with_profile(options.set.dialect(), options.set.profile(), options.at()?)
        .strategy(options.strategy.unwrap_or_default())
        .line_numbers(!options.omits(Omitted::Lines))
        .other_directives(!options.omits(Omitted::Other))
        .by_time(options.by_time)
        .on_progress(show);
    Ok(match budget {
        Some(budget) => compiler.memory(budget.bytes(), budget.folder()),
        None => compiler,
    })
}

/// Adds sets to the compiler and the report. Returns their paths.
fn add_sets(compiler: &mut Compiler, sets: Vec<Loaded>, report: &mut Report) -> Result<Vec<Place>> {
    let mut paths = Vec::new();
    for loaded in sets {
        let (captures, bytes) = (loaded.set()?.origin_count(), loaded.bytes().len() as u64);
        report.inputs.push(InputCounts { captures, bytes, is_set: true, ..InputCounts::default() });
        let mapped: Vec<_> = loaded.mapped().into_iter().collect();
        match release_pages_during(&mapped, || build_record::unresolved(&loaded.path, loaded.bytes())) {
            Some(count) => report.unresolved_in_sets += count,
            None => report.sets_without_record += 1,
        }
        paths.push(loaded.path.clone());
        compiler.add_set(&loaded.into_set()?).map_err(Failure::new)?;
    }
    Ok(paths)
}

/// Converts an error of the compiler. `sets` are the paths of the added sets.
fn failure(error: &reptile::Error, sets: &[Place]) -> Failure {
    let cause = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    match error.added_set().and_then(|number| sets.get(number)) {
        Some(path) => Failure::at(path, cause),
        None => Failure::new(cause),
    }
}

/// Returns the approximate file count if all inputs are folders: one file or folder per host.
fn entries_of(inputs: &Inputs<'_>) -> Option<u64> {
    let Inputs::Named(inputs) = inputs else { return None };
    inputs.iter().map(|input| Some(std::fs::read_dir(input.local()?).ok()?.count() as u64)).sum()
}

/// Returns how many inputs to read in parallel, up to `threads`.
fn reader_count(budget: Option<&MemoryBudget>, threads: usize) -> usize {
    let most = budget.map_or(1, |budget| budget.parts_of(READER_BYTES));
    threads.min(most)
}

/// A batch's items after parsing, with their input indexes.
type ParsedItems = Vec<(usize, ParsedItem)>;

/// Parses a batch's bodies on all threads, in order.
fn parse_batch(parser: &reptile::Parser, batch: Batch<Item>) -> Batch<ParsedItems> {
    let input = batch.input;
    let parse = |mut parsed: ParsedItems, item: Item| {
        let read = item.read(&mut |item| {
            match item {
                Item::Robots(mut robots) => {
                    let body = robots.body.take();
                    parse_captures(parser, input, body, [robots], &mut parsed);
                }
                Item::SameBody { body, robots } => parse_captures(parser, input, Some(body), robots, &mut parsed),
                item => parsed.push((input, ParsedItem::Other(item))),
            }
            Ok(())
        });
        parsed.extend(read.err().map(|failure| (input, ParsedItem::Failed(failure.into()))));
        parsed
    };
    // One list for each part that a thread parses: a list for each item took a tenth of the command's processor time.
    batch.map(|items| items.into_par_iter().fold(Vec::new, parse).collect())
}

/// Parses a body once for all its captures.
fn parse_captures(
    parser: &reptile::Parser,
    input: usize,
    body: Option<Vec<u8>>,
    robots: impl IntoIterator<Item = Robots>,
    items: &mut ParsedItems,
) {
    let robots = robots.into_iter().map(|Robots { name, origins, capture, fetch, .. }| {
        let input = fetch.as_ref().map_or(input, |fetch| fetch.input);
        let (record, redirects) = fetch.map_or((None, Vec::new()), |fetch| (Some(fetch.record), fetch.redirects));
        ((input, CaptureSource { name, record, redirects }), (origins, capture))
    });
    let (body, content) = match body.map(decompress_and_detect).transpose() {
        Ok(body) => body.unzip(),
        Err(fault) => return reject_captures(fault, robots.map(|(source, _)| source), items),
    };
    let mut sources = Vec::with_capacity(robots.size_hint().0);
    let captures = robots.map(|(source, capture)| {
        sources.push(source);
        capture
    });
    let parsed = parser.parse(captures, body.as_deref());
    let outcomes = || parsed.captures().iter().map(|capture| &capture.outcome);
    for ((input, source), outcome) in sources.iter().zip(outcomes()) {
        if let Err(error) = outcome {
            items.push((*input, ParsedItem::Other(bad_capture(source.name.clone(), error))));
        }
    }
    if outcomes().any(std::result::Result::is_ok) {
        let bytes = body.as_ref().map_or(0, Vec::len) as u64;
        items.push((input, ParsedItem::Captures(ParsedCaptures { parsed, sources, bytes, content })));
    }
}

/// Adds an invalid item for each capture, because the body cannot be decompressed.
fn reject_captures(fault: Fault, mut sources: impl Iterator<Item = (usize, CaptureSource)>, items: &mut ParsedItems) {
    let Some((input, source)) = sources.next() else { return };
    match fault.item(source.name) {
        Ok(Item::Bad { name, reason, detail }) => {
            items.push((input, ParsedItem::Other(Item::Bad { name, reason, detail: detail.clone() })));
            items.extend(sources.map(|(input, source)| {
                (input, ParsedItem::Other(Item::Bad { name: source.name, reason, detail: detail.clone() }))
            }));
        }
        Ok(item) => items.push((input, ParsedItem::Other(item))),
        Err(error) => items.push((input, ParsedItem::Failed(error.into()))),
    }
}

/// Returns whether a capture has a 2xx status, or no status. Other bodies are error pages, which decide nothing.
fn is_success(capture: &Capture) -> bool {
    capture.status.is_none_or(|status| status / 100 == 2)
}

fn bad_capture(name: String, error: &reptile::Error) -> Item {
    let (reason, detail) = match error.kind() {
        ErrorKind::NoBody => ("no body", String::new()),
        ErrorKind::Steps => ("too many steps for one URL", error.to_string()),
        _ => (TOO_LARGE, error.to_string()),
    };
    Item::Bad { name, reason, detail }
}

/// Adds an item to the fates.
fn add_fate(input: usize, item: &ParsedItem, fates: &mut Fates) -> Result<()> {
    match item {
        ParsedItem::Captures(captures) => captures.usable().try_for_each(|(input, source, parsed, outcome)| {
            let hash = if outcome == Outcome::Use { captures.parsed.body_hash() } else { 0 };
            fates.add(input, source, &parsed.origins, &parsed.capture, outcome, hash)
        }),
        ParsedItem::Other(Item::Bad { name, reason, detail }) => {
            let separator = if detail.is_empty() { "" } else { ": " };
            fates.add_unused(input, name, Fate::Bad, format!("{reason}{separator}{detail}"))
        }
        ParsedItem::Other(Item::LeftOut { reason, name: Some(name) }) => {
            fates.add_unused(input, name, Fate::LeftOut, (*reason).to_owned())
        }
        _ => Ok(()),
    }
}

/// Adds an item to the compiler and to the report, and prints a message if necessary. `turn` is the input with which
/// the message is printed, and `input` is the input whose counts include the item.
fn add(
    (turn, input): (usize, usize),
    item: ParsedItem,
    compiler: &mut Compiler,
    report: &mut Report,
    messages: &mut OrderedMessages<'_>,
) -> Result<()> {
    match item {
        ParsedItem::Captures(captures) => return add_captures(turn, captures, compiler, report, messages),
        ParsedItem::Other(Item::Bad { name, reason, detail }) => {
            if let Some(counts) = report.inputs.get_mut(input) {
                counts.bad += 1;
            }
            *report.bad.entry(reason).or_insert(0) += 1;
            let separator = if detail.is_empty() { "" } else { ": " };
            messages.add(turn, Message::Bad(format!("{name}: {reason}{separator}{detail}")), report);
        }
        ParsedItem::Other(Item::LeftOut { reason, name }) => {
            *report.left_out.entry(reason).or_insert(0) += 1;
            if let Some(name) = name {
                messages.add(turn, Message::LeftOut(reason, name), report);
            }
        }
        ParsedItem::Other(Item::Remark { reason, name }) => {
            *report.remarks.entry(reason).or_insert(0) += 1;
            messages.add(turn, Message::Remark(reason, name), report);
        }
        ParsedItem::Other(Item::Names(names)) => {
            if let Some(counts) = report.inputs.get_mut(input) {
                counts.has_names = true;
            }
            report.names.extend(names);
        }
        ParsedItem::Other(Item::Untrusted { from }) => {
            report.untrusted += 1;
            if let Some(record) = from {
                messages.add(turn, Message::Bad(untrusted_from(&record)), report);
            }
        }
        ParsedItem::Failed(failure) => return Err(failure),
        // A robots.txt is always parsed and a line is always read, so none of these reach this point.
        ParsedItem::Other(Item::Robots(_) | Item::SameBody { .. } | Item::Lines { .. }) => {}
    }
    Ok(())
}

/// Adds captures to the compiler and to the report, and prints a message for each body that is not text.
fn add_captures(
    turn: usize,
    captures: ParsedCaptures,
    compiler: &mut Compiler,
    report: &mut Report,
    messages: &mut OrderedMessages<'_>,
) -> Result<()> {
    let used = captures.usable().filter(|(.., outcome)| *outcome == Outcome::Use).count() as u64;
    report.rules += used * captures.parsed.rule_count();
    for (kind, count) in captures.parsed.diagnostics() {
        *report.diagnostics.entry(kind).or_insert(0) += used * count;
    }
    let non_text = captures.content.filter(|content| !content.is_text());
    let mut names = Vec::new();
    for (input, source, parsed, _) in captures.usable() {
        report.count_capture(input, captures.bytes, &parsed.capture);
        if non_text.is_some() && is_success(&parsed.capture) {
            names.push(source.name.clone());
        }
    }
    compiler.add_parsed(captures.parsed).map_err(|error| failure(&error, &[]))?;
    for (name, content) in names.into_iter().zip(non_text.into_iter().cycle()) {
        report.non_text.count(content);
        messages.add(turn, Message::NonText(name, content), report);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reader_count_is_limited_by_memory() {
        let readers = |memory, threads| reader_count(Some(&MemoryBudget::new(memory, &Place::from("set"))), threads);
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
        assert_eq!(reader_count(None, 8), 1, "without a memory limit, one at a time");
    }
}
