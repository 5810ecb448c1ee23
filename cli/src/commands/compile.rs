//! `reptile compile`: turns inputs into a set file and a build record. `merge` and `update` write
//! their sets by the same steps.

use std::io::{BufWriter, Write};
use std::time::Instant;

use reptile::contents::{FormatError, Ruleset, Set};
use reptile::files::release_pages_during;
use reptile::{CompiledSet, MappedFile};

use crate::error::{Exit, Failure, Result, damaged};
use crate::failures::{Failures, KeepGoing};
use crate::inputs::FilesFrom;
use crate::options::CompileOptions;
use crate::outputs::build_record;
use crate::outputs::endings::refuse_for_set;
use crate::outputs::fates::{self, FateWriter};
use crate::outputs::file::{Complete, Output, publish};
use crate::outputs::identity::Identity;
use crate::outputs::summary::{Summary, grouped, seconds};
use crate::run::Run;
use crate::run::lineage::{CaptureCounts, InputState, Lineage, NamedCounts, OutputState, SetState};
use crate::run::metrics::MetricsOptions;
use crate::same_file::{is_same_place, refuse_overwriting};
use crate::sets::Loaded;
use crate::sets::assemble::assemble_with;
use crate::sets::fates::Fates;
use crate::sets::map::map;
use crate::sets::memory_budget::{DEFAULT_MEMORY, MemoryBudget, memory};
use crate::sets::report::Report;
use reptile_records::place::Place;

/// Compile robots.txt files into a set
///
/// An INPUT is one of
///   a folder        robots.txt files named after their hosts: DIR/example.com,
///                   DIR/example.com:8080, DIR/example.com/robots.txt; or captures
///                   named after their times: DIR/example.com/20260314150926.txt,
///                   DIR/example.com/20260314150926/robots.txt, or without the host
///                   and with --host HOST; other files are skipped
///   a tar archive   the same; a folder around all hosts is ignored
///   JSON Lines      a capture on each line
///   TSV, CSV        a capture in each row; the first line names the columns
///   a Parquet file  a capture in each row, with columns of these names
///   a WARC file     of a crawler, such as the robotstxt files of Common Crawl
///   a WARC index    a Parquet file that lists WARC records; see --warc-root
///   a single file   with --host HOST, or the URL that it was fetched from
/// It is recognized by its contents, regardless of its name. gzip, zstd, bzip2 and xz are
/// decompressed, even inside a folder or an archive. - is standard input. Files of captures
/// are read in parallel. A single large WARC file also keeps several processors busy if it
/// is uncompressed, or compressed with gzip, one record per member. A quoted pattern, such
/// as 'crawl/*.warc.gz', means all files that it matches.
///
/// A capture is one fetch of one robots.txt: a JSON object with the "url" that was
/// requested first, and the last response's "status", "body" and "headers" (an object:
/// Cache-Control and Content-Type matter); "time" (2026-03-14T15:09:26Z, or another
/// format in cli/guide/compile.md); "redirects" (their number, or a list); "truncated" (true,
/// or the reason: "length", "time", "disconnect", "unspecified"); "error" (a text, if
/// there was no response). Only "url" is required. --profile determines their meaning.
/// Other common names are known too, such as fetch_status, warc_date and Status Code:
/// cli/guide/compile.md lists them. The summary lists the unused names. WARC records
/// contain the same fields; redirects and revisits are resolved across all files, and are
/// skipped and named if their target is missing. A damaged record is skipped. If the next
/// record's start is unknown, the file cannot be read to its end, which is an error: see
/// --keep-going and --resync. In TSV, a tab, a line end and a backslash are \t, \n and \\,
/// and \N is a missing value. "body_base64" is a body in base64, in every format.
///
/// The profile chooses among several captures for one origin by time, not by order. A
/// capture without a time counts as older than any with a time. Of two at the same time,
/// one with rules counts; if both have rules, a hash of the body decides. Hidden files are
/// skipped. With --by-time, the set keeps all captures, and the active period of each
/// policy: `reptile classify --at '{time}'` decides each URL by the rules at its time.
///
/// The set gets its name only when it is complete and checked. SET.made.json next to it
/// records how it was made. That file is optional; `reptile inspect` shows it.
///
/// Some of the printed figures:
///   product tokens named   names in User-agent lines, each counted once
///   policies               an origin's rules for all crawlers, or the outcome of
///                          fetching if it decides instead; equal policies are
///                          stored once
///   distinct rulesets      the rules that decide together for one group; equal
///                          rulesets are stored once
///   diagnostic             lines that the dialect does not read as written;
///                          `reptile lint` lists them
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile compile -o web.reptile robots/
  reptile compile --force -o web.reptile fetched-1.jsonl.gz fetched-2.jsonl.gz
  reptile compile --host example.com -o one.reptile robots.txt
  reptile compile --by-time -o years.reptile 'captures/*.jsonl.gz'

Exit code: 0 done; 1 some files were bad and left out; 2 an input cannot be read
to its end (without --keep-going), two files are for one origin, or the set could
not be written."
)]
pub struct Args {
    /// What to compile
    #[arg(required_unless_present = "files_from", value_name = "INPUT")]
    inputs: Vec<Place>,
    #[command(flatten)]
    files_from: FilesFrom,
    #[command(flatten)]
    target: Target,
    /// Exit with 1 for doubtful captures too: pages, remarks, tables without status or time, ties
    ///
    /// A capture is doubtful if the robots.txt is not text, such as a web page; if the summary counts a remark on it,
    /// such as a missing end; if no capture in a table has a status or a time; or if only a hash decides between two
    /// captures.
    #[arg(long)]
    strict: bool,
    /// Also write the fate of each capture to FILE: TSV, CSV, JSON Lines, Parquet or Arrow, by extension
    ///
    /// The columns are file, record, capture (its name in messages), url, time, status, redirects (their number),
    /// redirect_chain (their targets), fate and detail. The fate is used, superseded, failed, too-late, left-out or
    /// bad. The detail is the reason, or the name of the capture that decides instead. A file for both http and https
    /// has a row for each.
    #[arg(long, value_name = "FILE")]
    fates: Option<Place>,
    #[command(flatten)]
    keep_going: KeepGoing,
    #[command(flatten)]
    options: CompileOptions,
    #[command(flatten)]
    pub metrics: MetricsOptions,
    #[command(flatten)]
    pub threads: crate::Threads,
}

/// Where a set goes, and what may be replaced: arguments of the commands that make a set.
#[derive(clap::Args)]
pub struct Target {
    /// The set file to write
    #[arg(short, long, value_name = "SET")]
    output: Place,
    /// Replace the set file and its .made.json if they exist
    ///
    /// A new set with fewer than a tenth of the old one's origins is an error, unless --force=shrink allows it.
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "alike")]
    force: Option<Force>,
    /// The memory limit for making the set, such as 512M or 2G; data over the limit goes to temporary files next to the
    /// set
    #[arg(long, value_name = "BYTES", default_value = DEFAULT_MEMORY, value_parser = memory)]
    memory: u64,
}

/// Which sets may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Force {
    /// A set that the new one does not shrink to less than a tenth of its origins
    Alike,
    /// Any set
    Shrink,
}

/// The files that a set is written to, while they are hidden.
pub struct Outputs<'t> {
    target: &'t Target,
    start: Instant,
    /// The memory for making the set.
    pub budget: MemoryBudget,
    set: Output,
    record: Output,
    /// The inputs as they were before they were read.
    inputs: Vec<InputState>,
}

/// The `--fates` file of a set: its path, the complete file, and the capture count for each fate.
type FatesFile<'a> = (&'a Place, Option<Complete>, NamedCounts);

impl Target {
    /// Opens the set and the record next to it, before any work, so that a folder that cannot be written is reported
    /// immediately.
    ///
    /// # Errors
    /// Returns an error if a file exists and must not be replaced, is one of the inputs, or cannot be created.
    pub fn open<'p>(&self, inputs: impl Iterator<Item = &'p Place> + Clone, run: &Run) -> Result<Outputs<'_>> {
        let start = Instant::now();
        if self.output.is_standard() {
            return Err(Failure::new("--output: expected a file name; a set cannot be written to standard output"));
        }
        let record_path = build_record::path_of(&self.output)?;
        for path in [&self.output, &record_path] {
            refuse_overwriting(path, inputs.clone())?;
        }
        refuse_for_set(&self.output)?;
        run.check_metrics_path(inputs.clone(), [&self.output, &record_path])?;
        let set = Output::create_readable(&self.output, self.force.is_some())?;
        let record = Output::create_file(&record_path, self.force.is_some())?;
        let budget = MemoryBudget::new(self.memory, &record_path);
        let inputs = inputs.map(InputState::of).collect();
        Ok(Outputs { target: self, start, budget, set, record, inputs })
    }
}

impl Outputs<'_> {
    /// Writes a set, reads it back, checks every byte, gives its files their names, prints the set's figures, and adds
    /// them to the run's record.
    ///
    /// # Errors
    /// Returns an error if the set cannot be written, is damaged, or would replace one with far more origins.
    pub fn publish(
        self,
        set: CompiledSet,
        inputs: &[Place],
        report: &Report,
        fates: Option<FatesFile<'_>>,
        run: &Run,
    ) -> Result<()> {
        let mut summary = Summary::default();
        let complete = write(&set, self.set)?;
        drop(set);
        let target = &self.target.output;
        let (state, identity) = check(target, &complete, report, &mut summary)?;
        let (fates, more, fate_counts) =
            fates.map_or((None, None, None), |(path, complete, counts)| (Some(path), complete, Some(counts)));
        let mut lineage = Lineage {
            set: Some(state),
            inputs: input_states(&self.inputs, inputs, report),
            captures: Some(CaptureCounts::of(report, fate_counts)),
            outputs: vec![OutputState::new(target, None).with(&identity)],
            ..run.lineage()
        };
        lineage.rows.read = Some(report.read());
        let record = build_record::write(&lineage, self.record)?;
        lineage.outputs.extend(fates.map(|path| OutputState::new(path, None)));
        if self.target.force != Some(Force::Shrink) {
            refuse_shrinking(&self.target.output, &complete.hidden_path()?)?;
        }
        publish([complete].into_iter().chain(record).chain(more))?;
        report.name_discarded();
        report.note_ties();
        report.note_future();
        summary.row("time", seconds(self.start.elapsed()));
        summary.print();
        run.add(lineage);
        Ok(())
    }
}

/// Returns the inputs' states with their counts. `states` were taken before the inputs were read; sets that were
/// opened separately are missing.
fn input_states(states: &[InputState], inputs: &[Place], report: &Report) -> Vec<InputState> {
    // The inputs that were used have the order of all inputs, so each search begins after the last state found.
    let mut states = states.iter();
    let mut state_of = |path: &Place| states.find(|state| state.file == *path).cloned();
    let counted = inputs.iter().zip(&report.inputs).map(|(path, counts)| InputState {
        rows: Some(counts.captures),
        invalid: Some(counts.bad),
        body_bytes: Some(counts.bytes),
        ..state_of(path).unwrap_or_else(|| InputState::of(path))
    });
    counted.collect()
}

/// Runs the command.
///
/// # Errors
/// Returns an error if an input cannot be read to its end, or the set cannot be built or written.
pub fn run(args: &Args, run: &Run) -> Result<Exit> {
    let inputs = args.files_from.expand(&args.inputs)?;
    let mut failures = Failures::new(args.keep_going);
    let result = args.compile(&inputs, run, &mut failures);
    failures.close(run, inputs.len(), result)
}

impl Args {
    /// Compiles the inputs. Those left out go to `failures`.
    fn compile(&self, inputs: &[Place], run: &Run, failures: &mut Failures) -> Result<Exit> {
        let outputs = self.target.open(inputs.iter(), run)?;
        let fates = self.fates.as_ref().map(|path| self.open_fates(path, inputs, &outputs, run)).transpose()?;
        let (mut fates, writer) = fates.unzip();
        let assembled = assemble_with(&outputs.budget, inputs, &self.options, Vec::new(), fates.as_mut(), failures);
        let (set, report) = assembled?;
        let used: Vec<Place> = failures.without(inputs).cloned().collect();
        let mut file = None;
        if let Some(((fates, mut writer), path)) = fates.zip(writer).zip(self.fates.as_ref()) {
            fates.finish(self.options.at()?, report.captures.at, &mut |row| writer.push(&row))?;
            let counts = writer.counts();
            let mut left = used.iter().peekable();
            let mut is_used = |state: &&InputState| left.next_if(|path| **path == state.file).is_some();
            let inputs = outputs.inputs.iter().filter(|state| is_used(state)).cloned().collect();
            let stamp = Lineage { inputs, ..run.lineage() }.stamp()?;
            file = Some((path, writer.finish(&stamp)?, counts));
        }
        outputs.publish(set, &used, &report, file, run)?;
        Ok(self.exit(&report))
    }

    /// Opens the output file for fates, before any other work.
    fn open_fates(
        &self,
        path: &Place,
        inputs: &[Place],
        outputs: &Outputs<'_>,
        run: &Run,
    ) -> Result<(Fates, FateWriter)> {
        run.check_metrics_path([], [path])?;
        refuse_overwriting(path, inputs.iter())?;
        let set = &self.target.output;
        if is_same_place(path, set) || is_same_place(path, &build_record::path_of(set)?) {
            return Err(Failure::at(path, "is the set or its build record; name another file with --fates"));
        }
        let names: Vec<String> = inputs.iter().map(|path| path.shown()).collect();
        fates::format_of(path)?;
        let output = Output::create(path, self.target.force.is_some())?;
        let writer = FateWriter::new(path, output, names.clone())?;
        let options = &self.options;
        Ok((Fates::new(&outputs.budget.scratch(), options.set.profile(), options.by_time, names), writer))
    }

    /// Returns a run's exit code according to its report.
    fn exit(&self, report: &Report) -> Exit {
        let is_doubtful =
            || report.non_text.any() || !report.remarks.is_empty() || report.lacks_columns || report.captures.ties > 0;
        Exit::from_bad(report.any_bad() || (self.strict && is_doubtful()))
    }
}

/// Divisor for the minimum number of origins in a set that replaces another one. With fewer, an input was most likely
/// truncated.
const MIN_KEPT_PART: u64 = 10;

/// Refuses to replace a set with one that has lost most of its origins. Other files and damaged sets may be replaced.
///
/// # Errors
/// Returns an error if the new set has fewer than a tenth as many origins as the old one.
fn refuse_shrinking(old: &Place, new: &Place) -> Result<()> {
    if !old.exists().map_err(|error| Failure::at(old, error))? || !Loaded::is_set(old)? {
        return Ok(());
    }
    let mapped = map(old)?;
    // A damaged set may be replaced.
    let Ok(set) = Set::from_bytes(mapped.as_ref()) else { return Ok(()) };
    let had = set.origin_count();
    let has = Loaded::open_set(new).map_err(|failure| failure.of_output(old))?.set()?.origin_count();
    if has.saturating_mul(MIN_KEPT_PART) < had {
        let message = format!(
            "has {} origins, and the new set would have {}: refusing to replace it; --force=shrink permits that",
            grouped(had),
            grouped(has)
        );
        return Err(Failure::at(old, message));
    }
    Ok(())
}

/// Writes the set to its file, which lacks its name after this.
fn write(set: &CompiledSet, output: Output) -> Result<Complete> {
    let mut writer = BufWriter::new(output);
    let written = set.write(&mut writer).and_then(|()| writer.flush());
    // Taken apart, since dropping the writer after an error would write the rest again.
    let (output, _) = writer.into_parts();
    written.map_err(|error| output.failure(&error))?;
    output.complete()?.ok_or_else(|| Failure::new("a set can only be written to a file"))
}

/// Reads the set back from its file, compares the checksums, and reports its contents. Returns the state of the set, as
/// it will be at `target`, and its identity.
///
/// Does not check the structure again. `reptile verify` does, which took a quarter of the time of compiling here.
fn check(target: &Place, complete: &Complete, report: &Report, summary: &mut Summary) -> Result<(SetState, Identity)> {
    let loaded = Loaded::open_set(&complete.hidden_path()?).map_err(|failure| failure.of_output(target))?;
    let files: Vec<&MappedFile> = loaded.mapped().into_iter().collect();
    release_pages_during(&files, || {
        let set = loaded.set()?;
        let described = set.verify_checksums().and_then(|()| describe(&set, report, summary));
        described.map_err(|error| damaged(target, &error).of_output(target))?;
        let bytes = loaded.bytes();
        summary.row("bytes", format!("{} in, {} in the set", grouped(report.bytes()), grouped(bytes.len() as u64)));
        let identity = Identity::of(bytes);
        Ok((SetState::of(target, &set, identity.bytes, Some(identity.clone())), identity))
    })
}

/// Adds rows for the inputs and the set.
fn describe<D: AsRef<[u8]>>(
    set: &Set<D>,
    report: &Report,
    summary: &mut Summary,
) -> std::result::Result<(), FormatError> {
    report.describe_inputs(summary);
    summary.count("origins", set.origin_count());
    report.describe_captures(summary);
    describe_times(set, summary)?;
    summary.count("product tokens named", set.tokens().count()?.into());
    summary.count("policies", set.policy_count()?.into());
    describe_rulesets(set, summary)?;
    summary.count("rules as written", report.rules);
    report.describe_diagnostics(summary);
    Ok(())
}

/// Adds rows for the captures in a set with times; none for other sets. Reads every origin's record.
pub fn describe_times<D: AsRef<[u8]>>(set: &Set<D>, summary: &mut Summary) -> std::result::Result<(), FormatError> {
    if !set.has_times() {
        return Ok(());
    }
    let (mut captures, mut spans) = (0, 0);
    for origin in set.origins() {
        let timeline = set.site_of(&origin?)?.timeline()?;
        // A file without a time is not kept as a capture, and holds at all times.
        captures += timeline.as_ref().map_or(1, |timeline| timeline.captures.len() as u64);
        spans += timeline.map_or(1, |timeline| timeline.spans.len() as u64);
    }
    summary.count("  captures by time", captures);
    summary.count("  spans of time", spans);
    Ok(())
}

/// Adds rows for the number of rulesets, by the parts that their automata have.
pub fn describe_rulesets<D: AsRef<[u8]>>(set: &Set<D>, summary: &mut Summary) -> std::result::Result<(), FormatError> {
    let rulesets = set.rulesets();
    let (mut trie_only, mut with_wildcards, mut with_fallbacks) = (0, 0, 0);
    for number in 0..rulesets.len() {
        let shape = Ruleset::stored(rulesets.get(number)?)?.shape();
        match (shape.fallbacks, shape.wildcards) {
            (true, _) => with_fallbacks += 1,
            (false, 0) => trie_only += 1,
            (false, _) => with_wildcards += 1,
        }
    }
    summary.count("distinct rulesets", rulesets.len().into());
    summary.count("  trie only", trie_only);
    summary.count("  with wildcards", with_wildcards);
    summary.count("  with fallback patterns", with_fallbacks);
    Ok(())
}
