//! `reptile filter`: the records of crawl archives that crawlers may fetch, copied as they are.

mod args;
mod counts;
mod plan;
mod record;
mod rights;

use std::fs;
use std::io::{self, BufRead, BufWriter, ErrorKind, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::GzDecoder;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use reptile::capture::Time;
use reptile::{Agents, Verdict};

pub use self::args::Args;
use crate::error::{Exit, Failure, Result, note};
use crate::failures::Failures;
use crate::outputs::build_record;
use crate::outputs::file::{Output, publish};
use crate::outputs::identity::Identity;
use crate::outputs::kept::{made_before, refuse_changed, state_of};
use crate::run::Run;
use crate::run::lineage::{InputState, Lineage, OutputState, SetState};
use crate::same_file::{refuse_links, refuse_overwriting};
use crate::sets::Loaded;
use crate::sets::agents::agents;
use crate::sets::report::{MAX_NAMED, RecordFaults, Report};
use counts::FilterCounts;
use plan::{Destination, Plan};
use record::FilterLineage;
use reptile_records::detect::{Content, ExpectedInput, detect};
use reptile_records::place::Place;
use reptile_records::shown::shown;
use reptile_records::trees::NamedFile;
use reptile_records::unpack::Compression;
use reptile_records::unpack::START_BYTES;
use reptile_records::warc::raw::{ArchiveBytes, NextStored, PackedRecords, PlainRecords, Stored};
use reptile_records::warc::read_date;
use reptile_records::warc::records::{RECORD_START, Record};
use rights::{Followed, Followers, PageFilter};

/// Number of bytes per write to a file.
const WRITE_BYTES: usize = 1 << 18;

/// Runs the command.
///
/// # Errors
/// Returns an error if the set or an archive cannot be read, an archive cannot be copied record by record, or an output
/// cannot be written.
pub fn run(args: Args, run: &Run) -> Result<Exit> {
    let plan = &Plan::resolve(args)?;
    run.check_metrics_path(plan.inputs.iter().chain([&plan.set]), plan.file())?;
    let loaded = Loaded::open(&plan.set, &plan.set_options.with_defaults())?;
    let any_bad = loaded.report.as_ref().is_some_and(Report::any_bad);
    let has_records = matches!(plan.destination, Destination::Folder { .. });
    let identity = (has_records || run.has_metrics()).then(|| Identity::of(loaded.bytes()));
    let state = SetState::of(&plan.set, &loaded.set()?, loaded.bytes().len() as u64, identity);
    let set = loaded.into_set()?;
    set.verify().map_err(|error| Failure::at(&plan.set, error))?;
    let by_time = set.has_times();
    let agents = agents(&set, &plan.set, &plan.agents)?;
    let pages = PageFilter::open(plan, &agents, by_time)?;
    let filter = Filter { by_time, agents, pages, plan, state, run, undated_named: AtomicU64::new(0) };
    let mut failures = Failures::new(plan.keep_going);
    let counts = match &plan.destination {
        Destination::Folder { path, inputs } => filter.each_into(path, inputs, &mut failures),
        Destination::One(file) => filter.all_into_one(Some(file.as_ref()), &mut failures),
        Destination::Count => filter.all_into_one(None, &mut failures),
    };
    let exit = counts.map(|counts| {
        counts.report();
        Exit::from_bad(any_bad || counts.damaged > 0)
    });
    failures.close(run, plan.inputs.len(), exit)
}

/// The crawlers and options that decide which records are kept.
struct Filter<'a> {
    agents: Agents,
    /// The question about pages, with `--rights`.
    pages: Option<PageFilter>,
    /// Whether each record is decided at its own date.
    by_time: bool,
    plan: &'a Plan,
    /// The state of the set.
    state: SetState,
    run: &'a Run,
    /// Number of records without a valid date in all archives, for the messages about the first ones.
    undated_named: AtomicU64,
}

impl Filter<'_> {
    /// Copies each archive to a file with its name in a folder, several at the same time. Archives that cannot be read
    /// to their ends go to `failures`.
    fn each_into(&self, folder: &Place, inputs: &[NamedFile], failures: &mut Failures) -> Result<FilterCounts> {
        create_folder(folder)?;
        let mut names: Vec<_> = inputs.iter().map(|input| &input.name).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            let name = pair[0].display();
            return Err(Failure::at(folder, format!("two archives would both be written to {name}")));
        }
        let copy = |input: &NamedFile| self.copy_into(folder, input);
        let each: Vec<Result<Copied>> = if failures.keeps_going() {
            inputs.par_iter().map(copy).collect()
        } else {
            inputs.par_iter().map(copy).collect::<Result<Vec<_>>>()?.into_iter().map(Ok).collect()
        };
        let mut all = FilterCounts::default();
        for (input, copied) in inputs.iter().zip(each) {
            let copied = failures.keep_about(&input.path, &folder.join(&input.name), copied)?;
            if let Some(Copied { counts, lineage, was_kept }) = copied {
                all = all.and(counts);
                if was_kept { self.run.add_kept(lineage) } else { self.run.add(lineage) }
            }
        }
        Ok(all)
    }

    /// Copies an archive to its file in a folder, unless `--resume` keeps the file.
    fn copy_into(&self, folder: &Place, NamedFile { path: input, name }: &NamedFile) -> Result<Copied> {
        if input.is_standard() {
            return Err(Failure::at(input, "has no file name to use in the folder of --output"));
        }
        let path = folder.join(name);
        refuse_links(folder, &path, self.plan.in_folder.follow_links)?;
        let record_path = build_record::hidden_path_of(&path)?;
        refuse_links(folder, &record_path, self.plan.in_folder.follow_links)?;
        for path in [&path, &record_path] {
            refuse_overwriting(path, self.plan.inputs.iter().chain([&self.plan.set]))?;
        }
        self.run.check_metrics_path([], [&path, &record_path])?;
        // A pipe has no state to compare.
        let fingerprint = input.is_file_or_remote().then(|| state_of(input, self.plan.in_folder.resume)).transpose()?;
        let state = fingerprint.as_ref().map_or_else(|| InputState::of(input), |found| InputState::new(input, found));
        let (options, force) = (self.plan.in_folder, self.plan.force);
        let earlier = made_before(&path, options, force, (&self.state, &state), self.run)?;
        if let Some(FilterLineage { lineage, counts }) = earlier {
            return Ok(Copied { counts, lineage, was_kept: true });
        }
        if let Some(parent) = path.local().and_then(Path::parent) {
            create_folder(&parent.into())?;
        }
        let mut target = Target::create(&path, self.plan.force)?;
        let mut counts = FilterCounts::default();
        self.copy(Archive::open(input)?, Some(&mut target), &mut counts)?;
        let mut lineage = counts.lineage(self.run, &self.state);
        lineage.inputs = vec![counts.input(state)];
        let mut output = OutputState::new(&path, Some(counts.kept));
        if let Some(complete) = target.output.complete()? {
            let mut record = None;
            output = output.with(&complete.identity().map_err(|error| Failure::at(&path, error))?);
            lineage.outputs = vec![output.clone()];
            if let Some(fingerprint) = fingerprint {
                refuse_changed(input, &fingerprint)?;
                let file = Output::create_file(&record_path, true)?;
                record = build_record::write(&FilterLineage { lineage: lineage.clone(), counts }, file)?;
            }
            // A record without its file is harmless, and a file without its record cannot be resumed.
            publish(record.into_iter().chain([complete]))?;
        }
        lineage.outputs = vec![output];
        Ok(Copied { counts, lineage, was_kept: false })
    }

    /// Copies all archives to one output, sequentially: to this file, or else to standard output. Without an output,
    /// only counts records.
    fn all_into_one(&self, output: Option<Option<&Place>>, failures: &mut Failures) -> Result<FilterCounts> {
        let mut target = match output {
            None => None,
            Some(Some(path)) if !path.is_standard() => Some(Target::create(path, self.plan.force)?),
            Some(_) => Some(Target { output: Output::stdout(), packs: false }),
        };
        if let Some(target) = &mut target
            && !target.output.pass_bytes_on()
        {
            return Err(Failure::new("the records would be written to a terminal; -o names a file, --dry-run counts"));
        }
        let (mut counts, mut first, mut inputs) = (FilterCounts::default(), None, Vec::new());
        for input in &self.plan.inputs {
            if failures.keeps_going() {
                // Only with --dry-run, which writes nothing.
                let mut own = FilterCounts::default();
                let counted = Archive::open(input).and_then(|archive| self.copy(archive, None, &mut own));
                if failures.keep(input, counted)?.is_some() {
                    inputs.push(own.input(InputState::of(input)));
                    counts = counts.and(own);
                }
                continue;
            }
            let archive = Archive::open(input)?;
            let is_packed = archive.is_packed;
            let is_mixed = *first.get_or_insert(is_packed) != is_packed;
            if is_mixed && target.as_ref().is_some_and(|target| !target.packs) {
                let message = "compressed and uncompressed archives cannot be written to one file; expected -o with \
                               a folder, or with a name that ends in .gz, which compresses all";
                return Err(Failure::at(input, message));
            }
            let (state, mut own) = (InputState::of(input), FilterCounts::default());
            self.copy(archive, target.as_mut(), &mut own)?;
            inputs.push(own.input(state));
            counts = counts.and(own);
        }
        let mut lineage = Lineage { inputs, ..counts.lineage(self.run, &self.state) };
        if let Some(target) = target {
            target.output.finish()?;
            let output = &output.flatten().cloned().unwrap_or_else(Place::standard);
            lineage.outputs.push(OutputState::new(output, Some(counts.kept)));
        }
        self.run.add(lineage);
        Ok(counts)
    }

    /// Copies an archive's kept records.
    fn copy(&self, archive: Archive<'_>, target: Option<&mut Target>, counts: &mut FilterCounts) -> Result<()> {
        let Some(Target { output, packs }) = target else {
            return self.copy_to(archive, &mut |_| Ok(0), counts);
        };
        let packs = *packs && !archive.is_packed;
        // A file is not read before it is complete, but a pipe's reader gets each record at once.
        let capacity = if output.is_file() { WRITE_BYTES } else { 0 };
        let mut output = BufWriter::with_capacity(capacity, output);
        let mut write = |stored: Stored| {
            let written = if packs { stored.pack_to(&mut output) } else { stored.copy_to(&mut output) };
            written.map_err(|error| output.get_ref().failure(&error))
        };
        self.copy_to(archive, &mut write, counts)?;
        output.flush().map_err(|error| output.get_ref().failure(&error))
    }

    fn copy_to(
        &self,
        Archive { path, source, is_packed }: Archive<'_>,
        write: &mut dyn FnMut(Stored) -> Result<u64>,
        counts: &mut FilterCounts,
    ) -> Result<()> {
        let searches = self.plan.resync;
        if is_packed {
            let records = PackedRecords::new(source, searches);
            let mut records = if self.pages.is_some() { records.with_block_starts() } else { records };
            self.copy_each(path, || records.next_record(), write, counts)
        } else {
            let records = PlainRecords::new(source, searches);
            let mut records = if self.pages.is_some() { records.with_block_starts() } else { records };
            self.copy_each(path, || records.next_record(), write, counts)
        }
    }

    fn copy_each(
        &self,
        path: &Place,
        mut next: impl FnMut() -> io::Result<NextStored>,
        write: &mut dyn FnMut(Stored) -> Result<u64>,
        counts: &mut FilterCounts,
    ) -> Result<()> {
        let mut faults = RecordFaults::of(path, self.plan.resync);
        let mut followers = Followers::default();
        let mut add = |followed: Vec<Followed>, counts: &mut FilterCounts| -> Result<()> {
            followed.into_iter().try_for_each(|(_, stored, verdict)| {
                if self.keeps_verdict(verdict, counts) {
                    counts.kept += 1;
                    counts.bytes += write(stored)?;
                }
                Ok(())
            })
        };
        loop {
            match next().map_err(|error| Failure::at(path, format!("cannot be read: {error}")))? {
                NextStored::End => {
                    add(followers.end(), counts)?;
                    break;
                }
                NextStored::Damaged(damage) => {
                    // It may be the response to a waiting request.
                    add(followers.end(), counts)?;
                    faults.add_damage(damage)?;
                }
                NextStored::Several(number) => {
                    let message = format!(
                        "records are compressed together from record {number} on, or in parts; expected a gzip member \
                         for each one: decompress it first"
                    );
                    return Err(Failure::at(path, message));
                }
                NextStored::Record(record, stored) => {
                    faults.add_record(&record);
                    let followed = match &self.pages {
                        None => {
                            let verdict = self.verdict(path, &record, counts)?;
                            vec![(record, stored, verdict)]
                        }
                        Some(pages) => {
                            match pages.verdicts(&record).map_err(|error| Failure::at(&self.plan.set, error))? {
                                Some(verdicts) => {
                                    self.check_date(path, &record, counts);
                                    let verdict = self.together(&verdicts);
                                    followers.page(record, stored, verdict)
                                }
                                None => followers.other(record, stored),
                            }
                        }
                    };
                    add(followed, counts)?;
                }
            }
        }
        counts.damaged += faults.damaged;
        counts.untrusted += faults.untrusted;
        Ok(())
    }

    /// Returns a record's verdict, or `None` for a record without a URL.
    fn verdict(&self, path: &Place, record: &Record, counts: &mut FilterCounts) -> Result<Option<Verdict>> {
        let Some(url) = &record.target else { return Ok(None) };
        let mut verdicts = vec![Verdict::Invalid; self.agents.len()];
        let decided = match self.check_date(path, record, counts) {
            _ if !self.by_time => self.agents.decide(url, &mut verdicts),
            Some(time) => self.agents.decide_all_at(&[url], &[time], &mut verdicts),
            None => Ok(()),
        };
        decided.map_err(|error| Failure::at(&self.plan.set, error))?;
        Ok(Some(self.together(&verdicts)))
    }

    /// Returns a record's date. If each record is decided at its own date, counts and reports an invalid one.
    fn check_date(&self, path: &Place, record: &Record, counts: &mut FilterCounts) -> Option<Time> {
        let date = record.date.as_deref().unwrap_or_default();
        let time = read_date(date).ok();
        if time.is_none() && self.by_time {
            counts.without_date += 1;
            if self.undated_named.fetch_add(1, Ordering::Relaxed) < MAX_NAMED {
                let (path, number, date) = (path.display(), record.number, shown(date));
                note(format_args!(
                    "{path}: record {number}: \"{date}\" is not a valid date; the record counts as invalid"
                ));
            }
        }
        time
    }

    /// Returns one verdict for all agents.
    fn together(&self, verdicts: &[Verdict]) -> Verdict {
        let is_allowed = |verdict: &Verdict| *verdict == Verdict::Allow;
        let open = verdicts.iter().find(|verdict| matches!(verdict, Verdict::Unknown | Verdict::Invalid));
        match open {
            _ if verdicts.iter().all(is_allowed) => Verdict::Allow,
            _ if self.plan.any && verdicts.iter().any(is_allowed) => Verdict::Allow,
            // Of all agents, one that is refused decides; of any, one that is not.
            _ if !self.plan.any && verdicts.contains(&Verdict::Disallow) => Verdict::Disallow,
            Some(&open) => open,
            None => Verdict::Disallow,
        }
    }

    /// Returns whether a record with a verdict is kept, and counts it. A record without a URL is kept.
    fn keeps_verdict(&self, verdict: Option<Verdict>, counts: &mut FilterCounts) -> bool {
        let Some(verdict) = verdict else {
            counts.without_url += 1;
            return true;
        };
        counts.verdicts[verdict as usize] += 1;
        self.plan.keeps[verdict as usize]
    }
}

/// An archive that was copied to its file.
struct Copied {
    counts: FilterCounts,
    lineage: Lineage,
    /// Whether an earlier run has copied it.
    was_kept: bool,
}

/// Creates a local folder, unless it exists.
fn create_folder(folder: &Place) -> Result<()> {
    let Place::Local(folder) = folder else { return Ok(()) };
    fs::create_dir_all(folder).map_err(|error| Failure::at(folder, error))
}

/// Where records go.
struct Target {
    output: Output,
    /// Whether uncompressed records are compressed.
    packs: bool,
}

impl Target {
    /// Opens a file.
    ///
    /// # Errors
    /// Returns an error under the conditions listed for [`Output::create_file`], or if the name's extension selects a
    /// compression other than gzip.
    fn create(path: &Place, force: bool) -> Result<Target> {
        let end = path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase());
        let packs = match end.as_deref() {
            Some("gz") => true,
            Some(end @ ("zst" | "bz2" | "xz")) => {
                let message = format!(
                    "records cannot be compressed as .{end}; expected a name that ends in .gz, or in no such extension"
                );
                return Err(Failure::at(path, message));
            }
            _ => false,
        };
        Ok(Target { output: Output::create_file(path, force)?, packs })
    }
}

/// Returns a message about the first compressed member's content, if it is certainly not a record.
fn other_content(start: &[u8], path: &Place) -> Option<String> {
    let mut member = GzDecoder::new(start);
    let mut first = Vec::new();
    let read = (&mut member).take(START_BYTES as u64).read_to_end(&mut first);
    // The rest of the member is checked as far as it has been read.
    let is_damaged = |error: io::Error| error.kind() != ErrorKind::UnexpectedEof;
    if read.and_then(|_| io::copy(&mut member, &mut io::sink())).is_err_and(is_damaged) {
        return None;
    }
    if first.is_empty() || RECORD_START.starts_with(&first) {
        return None;
    }
    match (Compression::of(&first), detect(&first)) {
        (Some(compression), _) => Some(format!("is {compression} within gzip, not a WARC file")),
        (None, Content::Warc | Content::Empty) => None,
        (None, content) => Some(refusal(content, Some(Compression::Gzip), path)),
    }
}

/// Returns the message about a file with other content.
fn refusal(content: Content, compression: Option<Compression>, path: &Place) -> String {
    let packed = compression.map(|found| format!(", compressed with {found}")).unwrap_or_default();
    let hint = content.hint(ExpectedInput::Warc, &path.display().to_string());
    let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
    format!("is {}{packed}, not a WARC file{hint}", content.describe())
}

/// An open archive.
struct Archive<'p> {
    path: &'p Place,
    source: ArchiveBytes,
    is_packed: bool,
}

impl Archive<'_> {
    fn open(path: &Place) -> Result<Archive<'_>> {
        let fail = |error: io::Error| Failure::at(path, error);
        let mut source = if path.is_standard() {
            ArchiveBytes::stdin()
        } else {
            if path.is_dir() {
                return Err(Failure::at(path, "is a folder, not a WARC file"));
            }
            ArchiveBytes::open(path).map_err(fail)?
        };
        let compression = Compression::of(source.fill_buf().map_err(fail)?);
        let is_packed = compression == Some(Compression::Gzip);
        if is_packed {
            if let Some(message) = other_content(source.fill_buf().map_err(fail)?, path) {
                return Err(Failure::at(path, message));
            }
            return Ok(Archive { path, source, is_packed });
        }
        if compression.is_some() {
            source = source.decompressed().map_err(fail)?;
        }
        let content = detect(source.fill_buf().map_err(fail)?);
        if !matches!(content, Content::Warc | Content::Empty) {
            return Err(Failure::at(path, refusal(content, compression, path)));
        }
        Ok(Archive { path, source, is_packed })
    }
}
