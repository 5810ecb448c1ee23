//! `reptile filter`: the records of crawl archives that crawlers may fetch, copied as they are.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use flate2::bufread::GzDecoder;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use reptile::{Agents, Verdict};

use crate::error::{Exit, Failure, Result, note};
use crate::inputs::FilesFrom;
use crate::options::{CompileOptions, ExactAgent};
use crate::outputs::file::Output;
use crate::outputs::summary::Summary;
use crate::same_file::refuse_overwriting;
use crate::sets::Loaded;
use crate::sets::agents::agents;
use crate::sets::report::{Report, UNTRUSTED, untrusted_from};
use reptile_records::detect::{Content, detect};
use reptile_records::shown::shown;
use reptile_records::unpack::Compression;
use reptile_records::unpack::START_BYTES;
use reptile_records::warc::fault_of;
use reptile_records::warc::raw::{NextStored, PackedRecords, PlainRecords, Stored};
use reptile_records::warc::read_date;
use reptile_records::warc::records::{RECORD_START, Record};

/// Number of bytes per read.
const READ_BYTES: usize = 1 << 16;

/// Maximum number of damaged records reported per file, and of records without a valid date per output.
const MAX_NAMED_DAMAGES: u64 = 10;

/// Copy crawl archive records that crawlers may fetch
///
/// Reads WARC, WET and WAT files and writes the records whose URL (WARC-Target-URI) is
/// allowed, byte for byte: a record that is a gzip member is copied compressed. Requests
/// and metadata follow their responses. Records without a URL, such as warcinfo, are kept.
/// With a set made with --by-time, each record is decided at its own WARC-Date; a record
/// without a valid date counts as invalid.
/// Damaged records are reported, counted and dropped. If the next record's start is
/// unknown, reading the file stops; --resync searches for it. If the output name ends in
/// .gz, uncompressed records are written as one gzip member each.
#[derive(Clone, clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile filter CC-MAIN-1.warc.gz --set web.reptile --agent CCBot -o allowed.warc.gz
  reptile filter wet/*.wet.gz --set web.reptile --agent @ai-training -o allowed/
  reptile filter CC-MAIN-1.warc.gz --set web.reptile --agent CCBot --dry-run

With several agents, a record is kept if all of them may fetch it, or with --any if one
of them may. Archives must be uncompressed, or compressed record by record with gzip.

Exit code: 0 done; 1 records were damaged, or SET was compiled from an input with bad
files; 2 the command failed. No file is left incomplete."
)]
pub struct Args {
    /// The archives; - is standard input
    #[arg(required_unless_present = "files_from", value_name = "WARC")]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    files_from: FilesFrom,
    /// A set file; or any INPUT of `reptile compile`, which is compiled in memory
    #[arg(long, value_name = "SET")]
    set: PathBuf,
    /// A crawler: a product token, a chain, or a group of crawlers; can be repeated
    #[arg(short, long = "agent", value_name = "TOKEN", required = true)]
    agents: Vec<String>,
    #[command(flatten)]
    exact: ExactAgent,
    /// Keep records that any agent may fetch; by default, all agents must be allowed
    #[arg(long)]
    any: bool,
    /// Keep or drop records of unknown origins: SET has no robots.txt for them [default: drop]
    #[arg(long, value_name = "WHAT")]
    unknown: Option<Rest>,
    /// Keep or drop records with invalid URLs: dns:example.com and the like [default: drop]
    #[arg(long, value_name = "WHAT")]
    invalid: Option<Rest>,
    /// Write all archives to this file; or to this folder, each under its own name
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Replace existing output files
    #[arg(long, requires = "output")]
    force: bool,
    /// Only count records
    #[arg(long, conflicts_with = "output")]
    dry_run: bool,
    #[command(flatten)]
    options: CompileOptions,
    #[command(flatten)]
    pub threads: crate::Threads,
}

/// What to do with records that are neither allowed nor disallowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Rest {
    /// Write them
    Keep,
    /// Skip them
    #[default]
    Drop,
}

/// Runs the command.
///
/// # Errors
/// Returns an error if the set or an archive cannot be read, an archive cannot be copied record by record, or an output
/// cannot be written.
pub fn run(args: &Args) -> Result<Exit> {
    let args = &Args { inputs: args.files_from.expand(&args.inputs)?, ..args.clone() };
    let into_folder = args.output.as_deref().filter(|output| output.is_dir() || ends_in_slash(output));
    if let Some(output) = &args.output {
        let inputs = args.inputs.iter().map(PathBuf::as_path).filter(|_| into_folder.is_none());
        refuse_overwriting(output, inputs.chain([args.set.as_path()]))?;
    }
    // If the set is a file, the archive options apply to the filtered inputs.
    let mut options = args.options.clone();
    options.archives.resync &= !Loaded::is_set(&args.set)?;
    let loaded = Loaded::open(&args.set, &options)?;
    let any_bad = loaded.report.as_ref().is_some_and(Report::any_bad);
    let set = loaded.into_set()?;
    set.verify().map_err(|error| Failure::at(&args.set, error))?;
    let by_time = set.has_times();
    let filter = Filter { by_time, agents: agents(&set, &args.set, &args.agents, args.exact)?, args };
    let counts = match into_folder {
        Some(folder) => filter.each_into(folder)?,
        None => filter.all_into_one()?,
    };
    counts.report();
    Ok(Exit::from_bad(any_bad || counts.damaged > 0))
}

/// Returns whether a path is written as a folder's path.
fn ends_in_slash(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// The crawlers and options that decide which records are kept.
struct Filter<'a> {
    agents: Agents,
    /// Whether each record is decided at its own date.
    by_time: bool,
    args: &'a Args,
}

/// Counts of records by kind.
#[derive(Clone, Copy, Default)]
struct Counts {
    /// By verdict number.
    verdicts: [u64; 4],
    without_url: u64,
    /// Number of invalid records without a valid date.
    without_date: u64,
    damaged: u64,
    untrusted: u64,
    kept: u64,
    bytes: u64,
}

impl Filter<'_> {
    /// Copies each archive to a file with its name in a folder, several at the same time.
    fn each_into(&self, folder: &Path) -> Result<Counts> {
        fs::create_dir_all(folder).map_err(|error| Failure::at(folder, error))?;
        let mut names: Vec<_> = self.args.inputs.iter().map(|input| input.file_name()).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            let name = pair[0].unwrap_or_default().to_string_lossy();
            return Err(Failure::at(folder, format!("two archives would both be written to {name}")));
        }
        let copy = |input: &PathBuf| {
            let name = input.file_name().filter(|_| input != Path::new("-"));
            let name = name.ok_or_else(|| Failure::at(input, "has no file name to use in the folder of --output"))?;
            let path = folder.join(name);
            refuse_overwriting(&path, self.args.inputs.iter().chain([&self.args.set]).map(PathBuf::as_path))?;
            let mut target = Target::create(&path, self.args.force)?;
            let mut counts = Counts::default();
            self.copy(Archive::open(input)?, Some(&mut target), &mut counts)?;
            target.output.finish()?;
            Ok(counts)
        };
        let each: Vec<Counts> = self.args.inputs.par_iter().map(copy).collect::<Result<_>>()?;
        Ok(each.into_iter().fold(Counts::default(), Counts::and))
    }

    /// Copies all archives to one output, sequentially.
    fn all_into_one(&self) -> Result<Counts> {
        let mut target = match &self.args.output {
            _ if self.args.dry_run => None,
            Some(path) if path != Path::new("-") => Some(Target::create(path, self.args.force)?),
            _ => Some(Target { output: Output::stdout(), packs: false }),
        };
        if let Some(target) = &mut target
            && !target.output.pass_bytes_on()
        {
            return Err(Failure::new("the records would be written to a terminal; -o names a file, --dry-run counts"));
        }
        let (mut counts, mut first) = (Counts::default(), None);
        for input in &self.args.inputs {
            let archive = Archive::open(input)?;
            let is_packed = archive.is_packed;
            let is_mixed = *first.get_or_insert(is_packed) != is_packed;
            if is_mixed && target.as_ref().is_some_and(|target| !target.packs) {
                let message = "compressed and uncompressed archives cannot be written to one file; expected -o with \
                               a folder, or with a name that ends in .gz, which compresses all";
                return Err(Failure::at(input, message));
            }
            self.copy(archive, target.as_mut(), &mut counts)?;
        }
        if let Some(target) = target {
            target.output.finish()?;
        }
        Ok(counts)
    }

    /// Copies an archive's kept records.
    fn copy(&self, archive: Archive<'_>, mut target: Option<&mut Target>, counts: &mut Counts) -> Result<()> {
        let Archive { path, source, is_packed } = archive;
        let mut write = |stored: Stored| match &mut target {
            None => Ok(0),
            Some(Target { output, packs }) => {
                let written = if *packs && !is_packed { stored.pack_to(output) } else { stored.copy_to(output) };
                written.map_err(|error| output.failure(&error))
            }
        };
        let searches = self.args.options.archives.resync;
        if is_packed {
            let mut records = PackedRecords::new(source, searches);
            self.copy_each(path, || records.next_record(), &mut write, counts)
        } else {
            let mut records = PlainRecords::new(source, searches);
            self.copy_each(path, || records.next_record(), &mut write, counts)
        }
    }

    fn copy_each(
        &self,
        path: &Path,
        mut next: impl FnMut() -> io::Result<NextStored>,
        write: &mut dyn FnMut(Stored) -> Result<u64>,
        counts: &mut Counts,
    ) -> Result<()> {
        let (mut damaged, mut untrusted) = (0, 0);
        loop {
            match next().map_err(|error| Failure::at(path, format!("cannot be read: {error}")))? {
                NextStored::End => break,
                NextStored::Damaged(damage) => {
                    damaged += 1;
                    if damaged <= MAX_NAMED_DAMAGES || damage.stops {
                        let (path, number, fault, detail) =
                            (path.display(), damage.number, fault_of(&damage), damage.detail);
                        note(format_args!("{path}: record {number}: {fault}: {detail}"));
                    }
                }
                NextStored::Several(number) => {
                    let message = format!(
                        "records are compressed together from record {number} on, expected each one separately; \
                         decompress it first"
                    );
                    return Err(Failure::at(path, message));
                }
                NextStored::Record(record, stored) => {
                    if record.is_untrusted {
                        untrusted += 1;
                        if untrusted == 1 {
                            note(untrusted_from(&format!("{}: record {}", path.display(), record.number)));
                        }
                    }
                    if self.keeps(path, &record, counts)? {
                        counts.kept += 1;
                        counts.bytes += write(stored)?;
                    }
                }
            }
        }
        counts.damaged += damaged;
        counts.untrusted += untrusted;
        Ok(())
    }

    /// Returns whether a record is kept. Counts its verdict.
    fn keeps(&self, path: &Path, record: &Record, counts: &mut Counts) -> Result<bool> {
        let Some(url) = &record.target else {
            counts.without_url += 1;
            return Ok(true);
        };
        let mut verdicts = vec![Verdict::Invalid; self.agents.len()];
        let date = record.date.as_deref().unwrap_or_default();
        let decided = match read_date(date) {
            _ if !self.by_time => self.agents.decide(url, &mut verdicts),
            Ok(time) => self.agents.decide_all_at(&[url], &[time], &mut verdicts),
            Err(_) => {
                counts.without_date += 1;
                if counts.without_date <= MAX_NAMED_DAMAGES {
                    let (path, number, date) = (path.display(), record.number, shown(date));
                    note(format_args!(
                        "{path}: record {number}: \"{date}\" is not a valid date; the record counts as invalid"
                    ));
                }
                Ok(())
            }
        };
        decided.map_err(|error| Failure::at(&self.args.set, error))?;
        let is_allowed = |verdict: &Verdict| *verdict == Verdict::Allow;
        let verdict = match verdicts.first() {
            Some(&verdict @ (Verdict::Unknown | Verdict::Invalid)) => verdict,
            _ if self.args.any && verdicts.iter().any(is_allowed) => Verdict::Allow,
            _ if verdicts.iter().all(is_allowed) => Verdict::Allow,
            _ => Verdict::Disallow,
        };
        counts.verdicts[verdict as usize] += 1;
        Ok(match verdict {
            Verdict::Allow => true,
            Verdict::Disallow => false,
            Verdict::Unknown => self.args.unknown == Some(Rest::Keep),
            Verdict::Invalid => self.args.invalid == Some(Rest::Keep),
        })
    }
}

impl Counts {
    fn and(mut self, other: Counts) -> Counts {
        self.verdicts.iter_mut().zip(other.verdicts).for_each(|(count, more)| *count += more);
        self.without_url += other.without_url;
        self.without_date += other.without_date;
        self.damaged += other.damaged;
        self.untrusted += other.untrusted;
        self.kept += other.kept;
        self.bytes += other.bytes;
        self
    }

    fn report(&self) {
        let mut summary = Summary::default();
        summary.count("records", self.verdicts.iter().sum::<u64>() + self.without_url + self.damaged);
        for verdict in [Verdict::Allow, Verdict::Disallow, Verdict::Unknown, Verdict::Invalid] {
            summary.count(format!("  {verdict}"), self.verdicts[verdict as usize]);
        }
        if self.without_date > 0 {
            summary.count("    without a valid date", self.without_date);
        }
        summary.count("  without a URL", self.without_url);
        summary.count("  damaged", self.damaged);
        if self.untrusted > 0 {
            summary.count(format!("  {UNTRUSTED}"), self.untrusted);
        }
        summary.count("kept", self.kept);
        summary.count("bytes written", self.bytes);
        summary.print();
    }
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
    fn create(path: &Path, force: bool) -> Result<Target> {
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
fn other_content(start: &[u8]) -> Option<String> {
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
        (None, content) => Some(format!("is {}, compressed with gzip, not a WARC file", content.describe())),
    }
}

/// An open archive.
struct Archive<'p> {
    path: &'p Path,
    source: Box<dyn BufRead + Send>,
    is_packed: bool,
}

impl Archive<'_> {
    fn open(path: &Path) -> Result<Archive<'_>> {
        let fail = |error: io::Error| Failure::at(path, error);
        let mut source: Box<dyn BufRead + Send> = if path == Path::new("-") {
            Box::new(BufReader::with_capacity(READ_BYTES, io::stdin()))
        } else {
            let file = File::open(path).map_err(fail)?;
            if file.metadata().map_err(fail)?.is_dir() {
                return Err(Failure::at(path, "is a folder, not a WARC file"));
            }
            Box::new(BufReader::with_capacity(READ_BYTES, file))
        };
        let start = source.fill_buf().map_err(fail)?;
        let (compression, content) = (Compression::of(start), detect(start));
        let is_packed = compression == Some(Compression::Gzip);
        match compression {
            Some(Compression::Gzip) => {
                if let Some(message) = other_content(start) {
                    return Err(Failure::at(path, message));
                }
            }
            Some(compression) => {
                return Err(Failure::at(path, format!("is compressed with {compression}; decompress it first")));
            }
            None if matches!(content, Content::Warc | Content::Empty) => {}
            None => return Err(Failure::at(path, format!("is {}, not a WARC file", content.describe()))),
        }
        Ok(Archive { path, source, is_packed })
    }
}
