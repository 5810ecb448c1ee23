//! The subcommands.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process;
use std::time::Duration;

use reptile_compiler::dialect;

use crate::corpus::{Corpus, fresh, golden, read, suite, web};
use crate::engine::{Engine, MODELS};
use crate::engines::{self, EngineEntry};
use crate::records::{CorpusRecord, Difference, EndRecord, EngineRecord, Record, RunRecord, Writer};
use crate::report::chart;
use crate::speed::Plan;
use crate::verdicts::{self, Opponent, ask, differences, differing};
use crate::{speed, traced, try_engine};

/// The corpora, in the order of use.
const CORPORA: [&str; 4] = ["suite", "web", "fresh", "golden"];

/// The location of the engine list.
#[derive(clap::Args)]
pub struct EngineListArgs {
    /// The file that lists the engines
    #[arg(long, value_name = "FILE", default_value = "bench/engines.toml")]
    engines: PathBuf,
}

impl EngineListArgs {
    /// Reads the list.
    fn entries(&self) -> Result<Vec<EngineEntry>, String> {
        engines::read(&self.engines)
    }

    /// Finds an engine in the list.
    fn entry(&self, name: &str) -> Result<EngineEntry, String> {
        let mut entries = self.entries()?;
        let names = entries.iter().map(|entry| &*entry.name).collect::<Vec<_>>().join(", ");
        let index = entries.iter().position(|entry| entry.name == name);
        let index = index.ok_or_else(|| format!("{}: no engine {name}, but {names}", self.engines.display()))?;
        Ok(entries.swap_remove(index))
    }
}

/// Options that select rows.
#[derive(clap::Args)]
struct RowArgs {
    /// Only these corpora: suite, web, fresh, golden
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    corpora: Vec<String>,
    /// The seed for the fresh corpus [default: a new one in every run]
    #[arg(long)]
    seed: Option<u64>,
    /// Number of fresh robots.txt files, with 20 rows each
    #[arg(long, value_name = "COUNT", default_value_t = 500)]
    fresh: usize,
    /// Seconds per engine and corpus; rows that do not fit are not counted
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    corpus_time: u64,
}

/// The arguments of `run`.
#[derive(clap::Args)]
pub struct RunArgs {
    #[command(flatten)]
    source: EngineListArgs,
    /// Only these engines
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Only verdicts
    #[arg(long, conflicts_with = "speed")]
    verdicts: bool,
    /// Only speed
    #[arg(long)]
    speed: bool,
    #[command(flatten)]
    rows: RowArgs,
    /// Time per measurement in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    time: u64,
    /// Number of rounds; the figures are medians
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=100))]
    rounds: u64,
    /// Only these speed models: one-shot, parse, decide, path, fresh, crawl, open, hostile
    #[arg(long, value_name = "MODEL", value_delimiter = ',', value_parser = models())]
    models: Vec<String>,
    /// Only these speed inputs, by their names in the report
    #[arg(long, value_name = "INPUT", value_delimiter = ',')]
    inputs: Vec<String>,
    /// Skip real files, even if they are present
    #[arg(long)]
    no_real: bool,
    /// Folder for the records, which must not contain a run
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
}

/// Returns a parser for the names that `--models` accepts.
fn models() -> clap::builder::PossibleValuesParser {
    MODELS.into_iter().chain([speed::HOSTILE]).into()
}

/// The arguments of `compare`.
#[derive(clap::Args)]
pub struct CompareArgs {
    /// An engine
    a: String,
    /// Another engine
    b: String,
    #[command(flatten)]
    source: EngineListArgs,
    #[command(flatten)]
    rows: RowArgs,
    /// Maximum number of minimized differences per corpus
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    examples: usize,
}

/// Prints a line. A closed pipe, as with `head`, is ignored. Other errors end the program.
pub fn say(line: impl Display) {
    if let Err(error) = writeln!(io::stdout(), "{line}")
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        eprintln!("reptile-judge: standard output: {error}");
        process::exit(2);
    }
}

/// Prints a line for each engine. Returns whether all available engines reply to `hello`.
///
/// # Errors
/// Returns an error if `engines.toml` cannot be read.
pub fn list(source: &EngineListArgs, build: bool) -> Result<bool, String> {
    let mut all_greet = true;
    // One command may build several engines.
    let mut built: HashMap<Vec<String>, Option<String>> = HashMap::new();
    for entry in &source.entries()? {
        let (name, dialect) = (&entry.name, entry.dialect_name());
        let fault = entry
            .build
            .clone()
            .filter(|_| build)
            .and_then(|command| built.entry(command).or_insert_with(|| entry.run_build().err()).clone());
        if let Some(missing) = fault.or_else(|| entry.absent()) {
            say(format_args!("{name}\tabsent\t{dialect}\t{}", missing.lines().last().unwrap_or_default()));
            continue;
        }
        let mut engine = Engine::new(entry);
        if engine.is_command() {
            say(format_args!("{name}\tpresent\t{dialect}\ta command"));
            continue;
        }
        match engine.hello() {
            Ok(hello) => {
                say(format_args!(
                    "{name}\tpresent\t{}\t{} {}, {}",
                    hello.dialect, hello.name, hello.version, hello.language
                ));
            }
            Err(broken) => {
                all_greet = false;
                say(format_args!("{name}\tbroken\t{dialect}\t{}", broken.why));
            }
        }
    }
    Ok(all_greet)
}

/// Prints an engine's mistakes. Returns whether there are none.
///
/// # Errors
/// Returns an error if the engine is unknown or absent.
pub fn try_one(name: &str, source: &EngineListArgs) -> Result<bool, String> {
    let entry = source.entry(name)?;
    if let Some(missing) = entry.absent() {
        return Err(format!("{name} is absent: {missing}"));
    }
    let findings = try_engine::try_engine(&entry);
    findings.remarks.iter().for_each(|remark| say(format_args!("note   {remark}")));
    findings.faults.iter().for_each(|fault| say(format_args!("fault  {fault}")));
    say(format_args!("{name}: {} checks, {} faults", findings.checks, findings.faults.len()));
    Ok(findings.faults.is_empty())
}

impl RowArgs {
    /// Returns the time for each engine and corpus.
    const fn corpus_time(&self) -> Duration {
        Duration::from_secs(self.corpus_time)
    }

    /// Returns the given seed, or a new one.
    fn seed(&self) -> u64 {
        let now = || jiff::Timestamp::now().as_nanosecond() as u64;
        self.seed.unwrap_or_else(|| reptile_bench::generate::Random::new(now()).next() % 1_000_000_000)
    }

    /// Loads or generates the corpora. Returns records for absent ones, with the reason.
    fn corpora(&self, seed: u64, with_real: bool) -> Result<(Vec<Corpus>, Vec<CorpusRecord>), String> {
        if let Some(unknown) = self.corpora.iter().find(|name| !CORPORA.contains(&&***name)) {
            return Err(format!("no corpus {unknown}, but {}", CORPORA.join(", ")));
        }
        let is_wanted = |name: &str| self.corpora.is_empty() || self.corpora.iter().any(|wanted| wanted == name);
        let (mut corpora, mut absent) = (Vec::new(), Vec::new());
        if is_wanted("suite") {
            corpora.push(suite::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpora/suite"))?);
        }
        if is_wanted("web") {
            corpora.push(web::load(&web::expected_path())?);
        }
        if is_wanted("fresh") {
            if self.fresh > fresh::MAX_FILES {
                return Err(format!("--fresh {}: at most {} are allowed", self.fresh, fresh::MAX_FILES));
            }
            corpora.push(fresh::make(seed, self.fresh));
        }
        if is_wanted("golden") {
            match reptile_bench::shared().filter(|_| with_real) {
                Some(shared) => corpora.push(golden::load(&shared)?),
                None => {
                    let about = "absent: no folder with real robots.txt files (REPTILE_SHARED)".to_owned();
                    eprintln!("golden: {about}");
                    absent.push(CorpusRecord { corpus: "golden".into(), about, rows: 0 });
                }
            }
        }
        Ok((corpora, absent))
    }
}

/// Measures engines and writes the records. Returns whether all available engines replied to `hello`.
///
/// # Errors
/// Returns an error if an input cannot be read or the records cannot be written.
pub fn run(arguments: &RunArgs) -> Result<bool, String> {
    let entries = arguments.source.entries()?;
    if let Some(unknown) = arguments.only.iter().find(|name| !entries.iter().any(|entry| entry.name == ***name)) {
        return Err(format!("{}: no engine {unknown}", arguments.source.engines.display()));
    }
    let is_wanted = |entry: &&EngineEntry| arguments.only.is_empty() || arguments.only.contains(&entry.name);
    let wanted: Vec<&EngineEntry> = entries.iter().filter(is_wanted).collect();
    let seed = arguments.rows.seed();
    let (corpora, absent) =
        if arguments.speed { Default::default() } else { arguments.rows.corpora(seed, !arguments.no_real)? };
    let mut writer = Writer::create(&arguments.output)?;
    eprintln!("seed {seed}");
    writer.write(&Record::Run(RunRecord {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started: now(),
        command: command(),
        seed,
        machine: machine(),
        budget_ms: arguments.time,
        rounds: arguments.rounds as usize,
    }))?;
    let (present, all_greet) = greet(&wanted, &mut writer)?;
    for record in absent {
        writer.write(&Record::Corpus(record))?;
    }
    verdicts::run(&present, &corpora, arguments.rows.corpus_time(), &mut writer)?;
    if !arguments.speed {
        traced::run(&present, &traced::read(&traced::path())?, &mut writer)?;
    }
    if !arguments.verdicts {
        let plan = Plan {
            budget: Duration::from_millis(arguments.time),
            rounds: arguments.rounds as usize,
            seed,
            with_real: !arguments.no_real,
            models: arguments.models.clone(),
            inputs: arguments.inputs.clone(),
        };
        speed::run(&present, &plan, &mut writer)?;
    }
    writer.write(&Record::End(EndRecord { ended: now() }))?;
    Ok(all_greet)
}

/// Requests each engine's self-description and records it. Returns the available engines, and whether all of them
/// replied.
fn greet<'e>(entries: &[&'e EngineEntry], writer: &mut Writer) -> Result<(Vec<&'e EngineEntry>, bool), String> {
    let (mut present, mut all_greet) = (Vec::new(), true);
    for &entry in entries {
        let mut record = EngineRecord {
            engine: entry.name.clone(),
            dialect: entry.dialect_name().to_owned(),
            language: entry.language.clone(),
            absent: entry.absent(),
            ..EngineRecord::default()
        };
        if record.absent.is_none() {
            let mut engine = Engine::new(entry);
            record.is_command = engine.is_command();
            if !record.is_command {
                match engine.hello() {
                    Ok(hello) => record.hello = Some(hello),
                    Err(broken) => {
                        all_greet = false;
                        record.absent = Some(format!("does not answer: {}", broken.why));
                    }
                }
            }
        }
        match &record.absent {
            Some(why) => eprintln!("{}: {why}", entry.name),
            None => present.push(entry),
        }
        writer.write(&Record::Engine(record))?;
    }
    Ok((present, all_greet))
}

/// Returns the current time.
fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// Returns the command line. Omits the path of the program, which says more about the user than about the run.
fn command() -> Vec<String> {
    let arguments = std::env::args().skip(1);
    std::iter::once("reptile-judge".to_owned()).chain(arguments).collect()
}

/// Returns facts about the machine.
fn machine() -> Vec<(String, String)> {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let value = |text: &str, key: &str| {
        let line = text.lines().find(|line| line.starts_with(key));
        let value = line.and_then(|line| line.split_once([':', '=']));
        value.map_or_else(|| "unknown".to_owned(), |(_, value)| value.trim().trim_matches('"').to_owned())
    };
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    vec![
        ("processor".into(), value(&read("/proc/cpuinfo"), "model name")),
        ("cores".into(), cores.to_string()),
        ("memory".into(), value(&read("/proc/meminfo"), "MemTotal")),
        ("system".into(), value(&read("/etc/os-release"), "PRETTY_NAME")),
        ("kernel".into(), read("/proc/sys/kernel/osrelease").trim().to_owned()),
    ]
}

/// Prints the differences between two engines. Returns whether they agree.
///
/// # Errors
/// Returns an error if an engine is unknown or absent, or an input cannot be read.
pub fn compare(arguments: &CompareArgs) -> Result<bool, String> {
    let seed = arguments.rows.seed();
    let (corpora, _) = arguments.rows.corpora(seed, true)?;
    let entries = [arguments.source.entry(&arguments.a)?, arguments.source.entry(&arguments.b)?];
    for entry in &entries {
        if let Some(missing) = entry.absent() {
            return Err(format!("{} is absent: {missing}", entry.name));
        }
    }
    let [a, b] = &entries;
    let mut total = 0;
    let mut seen = HashSet::new();
    say(format_args!("seed {seed}"));
    let time = arguments.rows.corpus_time();
    for corpus in &corpora {
        let (mut one, mut other) = (Engine::new(a), Engine::new(b));
        let (ours, theirs) = (ask(&mut one, corpus, time).answers, ask(&mut other, corpus, time).answers);
        let all = [(a.name.clone(), ours), (b.name.clone(), theirs)];
        for pair in verdicts::pairs(corpus.name, &all) {
            say(format_args!("{}: {} of {} rows differ", corpus.name, pair.differ, pair.rows));
            total += pair.differ;
        }
        let [(_, ours), (_, theirs)] = &all;
        let rows = differing(ours, theirs.iter().map(|answers| answers.letters.clone()));
        for difference in differences(&mut one, &mut Opponent::Engine(&mut other), corpus, &rows, arguments.examples) {
            if seen.insert((difference.body.clone(), difference.url.clone())) {
                print_difference(&difference);
            }
        }
    }
    Ok(total == 0)
}

fn print_difference(difference: &Difference) {
    let meaning = |letter: char| crate::letters::meaning(letter as u8);
    say(format_args!("\nfound in {}", difference.found_in));
    difference.body.iter().for_each(|line| say(format_args!("    {line}")));
    say(format_args!("  {} for {}", difference.url, difference.agent));
    say(format_args!("    {}: {}", difference.engine, meaning(difference.verdict)));
    say(format_args!("    {}: {}", difference.against, meaning(difference.other)));
    for letter in ['A', 'D'] {
        let names: Vec<&str> =
            difference.dialects.iter().filter(|(_, found)| *found == letter).map(|(name, _)| &**name).collect();
        if !names.is_empty() {
            say(format_args!("    {} by {}", meaning(letter), names.join(", ")));
        }
    }
}

/// Draws the chart of a run, and prints its path and its alternative text. Returns true.
///
/// # Errors
/// Returns an error if `engines.toml` or the run's report cannot be read, or the chart cannot be written.
pub fn chart(folder: &Path, source: &EngineListArgs) -> Result<bool, String> {
    let (path, alternative) = chart::write(folder, &source.entries()?)?;
    say(format_args!("{}\n{alternative}", path.display()));
    Ok(true)
}

/// Records an engine's verdicts on the web corpus as the expected verdicts. Returns whether they match the oracle.
///
/// # Errors
/// Returns an error if the engine is absent or fails, or the file cannot be written.
pub fn expect(name: &str, source: &EngineListArgs) -> Result<bool, String> {
    let entry = source.entry(name)?;
    let mut corpus = web::make();
    let mut engine = Engine::new(&entry);
    let hello = engine.hello().map_err(|broken| format!("{name}: {}", broken.why))?;
    let asked = ask(&mut engine, &corpus, Duration::MAX);
    if let Some(failure) = asked.failures.first() {
        return Err(format!("{name}: {}: {}", failure.at, failure.why));
    }
    let text = web::written(&corpus, &format!("{} {}", hello.name, hello.version), &asked.answers);
    let path = web::expected_path();
    std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    corpus.groups.iter_mut().for_each(|group| group.rows.iter_mut().for_each(|row| row.recorded = None));
    let mut differ = 0;
    for (group, answers) in corpus.groups.iter().zip(&asked.answers) {
        for (row, &letter) in group.rows.iter().zip(&answers.letters) {
            differ += usize::from(read(&dialect::GOOGLE_LIB, &group.body, &row.agent, &row.url).letter != letter);
        }
    }
    say(format_args!("{}: {} rows, {differ} of them differ from google-lib", path.display(), corpus.rows()));
    Ok(differ == 0)
}
