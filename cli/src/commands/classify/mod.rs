//! `reptile classify`: reads a list of URLs and writes it with verdict columns.
//!
//! The threads and buffers are in [`pipeline`]; `reptile-columns` decides the rows.

mod kept;
mod lineage;
mod many;
mod pages;
mod parts;
mod pipeline;
mod rejects;
mod report;
mod site;
mod totals;
mod written;

use std::time::{Duration, Instant};

use clap::ArgGroup;
use clap::builder::ArgPredicate;
use reptile::{Agents, Set};

use crate::error::{Exit, Failure, Result, note};
use crate::failures::KeepGoing;
use crate::inputs::FilesFrom;
use crate::options::{CompileOptions, ExactAgent, Resume, RightsOptions, scopes, table_formats};
use crate::outputs::file::{Complete, Output, publish};
use crate::outputs::identity::Identity;
use crate::outputs::parts::RowSink;
use crate::outputs::progress::Progress;
use crate::outputs::sink::{Kept, Sink};
use crate::outputs::style::Style;
use crate::run::Run;
use crate::run::lineage::{InputState, Lineage, OutputState, SetState};
use crate::run::metrics::MetricsOptions;
use crate::same_file::{is_same_place, refuse_overwriting};
use crate::sets::agents::agents;
use crate::sets::report::Report as SetReport;
use crate::sets::{Loaded, note_without_times, refuse_swapped};
use pages::PageSettings;
use parts::PartOptions;
use pipeline::Pipeline;
use rejects::Rejects;
use report::{Report, Subject};
use reptile_columns::{ByRow, Column, Crawlers, Decider, Scope, TableDecider, Times, VERDICTS, columns_of};
use reptile_records::pages::Pages;
use reptile_records::parquet::urls::{AT_OPTION, Splitting};
use reptile_records::place::Place;
use reptile_records::tables::log::format::LogFormat;
use reptile_records::tables::log::shape::Site;
use reptile_records::tables::open::{Opening, URL_OPTION};
use reptile_records::tables::quotes::Escape;
use reptile_records::tables::source::Source;
use reptile_records::tables::{COMMA, Delimiter, Format, Wanted};
use site::SiteOptions;
use totals::Totals;
use written::WrittenOptions;

/// Decide each URL in a list or table
///
/// URLS is a list with a URL on each line, or a sitemap; TSV, CSV, JSON Lines, Parquet or
/// Arrow IPC with a URL column, or columns of its parts; CDX or CDXJ; or an access log of
/// nginx or Apache, or of these and others in JSON. A log line's URL is the requested path
/// at its virtual host, or else at --host, with the scheme from --scheme (default: https).
/// In other formats, --scheme is for URLs without a scheme, which are invalid otherwise.
/// Writes a line for each row, in the same order: the URL as given, and a column with the
/// verdict for each agent, separated by tabs:
///   allow     the rules allow it, or say nothing about it
///   disallow  the rules disallow it
///   unknown   the set has no robots.txt for the URL's origin
///   invalid   the row has no http, https or ftp URL, or is too long
/// With --agent-column, rows that name no crawler are unknown too.
///
/// With --rights, URLS is a crawl archive (WARC, WET or WAT), and the rows are its pages:
/// the URL, the time, the record, and for each agent the verdict, the permission for each
/// use, the preferences in robots.txt, and conflicts; then the page's own statements.
///
/// Lines end at LF; one CR before it is removed. Tabs and other characters that control a
/// terminal are written as %XX. White space around a URL is ignored. Unreadable table rows
/// are invalid, and are counted and reported. So is a row with an unclosed CSV quote, which
/// extends to the end of URLS. Memory use does not depend on the size of URLS or the length
/// of a line.
#[derive(Clone, clap::Args)]
#[command(
    verbatim_doc_comment,
    group(ArgGroup::new("files").multiple(true)),
    after_help = "Examples:
  reptile classify web.reptile urls.txt.gz --agent MyBot -o verdicts.tsv
  reptile classify web.reptile --agent MyBot --agent OtherBot < urls.txt > verdicts.tsv
  reptile classify web.reptile crawl.csv.gz --url-column target --agent MyBot
  reptile classify years.reptile visits.tsv --at-column time --agent MyBot
  reptile classify years.reptile urls.txt --at 2026-03-14 --agent MyBot -o out.parquet
  reptile classify web.reptile access.log --host example.com --agent-column user_agent
  reptile classify web.reptile day-*.gz --agent MyBot --output-folder out --resume
  reptile classify robots/ urls.txt --agent MyBot --explain

TOKEN is a product token, such as Googlebot, in any letter case. If a robots.txt does
not name it, the rules for * apply. Dialects with known crawlers also look up a
crawler's other names: for Googlebot-Image the group Googlebot-Image, else Googlebot,
else *. A chain has the same effect in any dialect: \"Googlebot-Image>Googlebot>*\".
Without the final *, the rules for * do not apply. @ai-training and @search are groups
of crawlers, with a column for each crawler.

Exit code: 0 done, regardless of the verdicts; 1 most rows are invalid, a CSV quote is
unclosed, a list failed (--keep-going), or SET was compiled from an input with bad
files; 2 the command failed, and -o left no file."
)]
pub struct Args {
    /// A set file; or any INPUT of `reptile compile`, which is compiled in memory
    #[arg(value_name = "SET")]
    set: Place,
    /// The list or table of URLs; decompressed if necessary; - is standard input; several require --output-folder
    #[arg(
        value_name = "URLS",
        default_value = "-",
        hide_default_value = true,
        default_value_if("files_from", ArgPredicate::IsPresent, None)
    )]
    lists: Vec<Place>,
    #[command(flatten)]
    files_from: FilesFrom,
    /// The current list.
    #[arg(skip)]
    urls: Place,
    /// A crawler: a product token, a chain, or a group of crawlers; can be repeated, with a column for each
    #[arg(short, long = "agent", value_name = "TOKEN", required_unless_present = "agent_column")]
    agents: Vec<String>,
    /// The crawler column: each URL is decided for the crawler in its row
    ///
    /// Each row has a product token, or a whole User-Agent header such as the column user_agent of an access log. A
    /// header names a known crawler if one of its products is that crawler. Otherwise it names its first product with a
    /// version, if that is not a browser's and calls itself a bot, crawler or spider, or is named by a robots.txt in
    /// SET. Rows that name no crawler are unknown, with the reason "no crawler". So are rows whose cell has more than
    /// 4,096 bytes.
    #[arg(long, value_name = "COLUMN", conflicts_with = "agents")]
    agent_column: Option<String>,
    #[command(flatten)]
    exact: ExactAgent,
    /// The URL column: its name in the first row, its number from 1, or a JSON Lines field [default: url]
    ///
    /// Nested fields are named with a dot (request.url) or as a JSON pointer (/request/url). By default, the column is
    /// found if it is called url or uri, or if the first row has exactly one URL.
    #[arg(long, value_name = "COLUMN")]
    url_column: Option<String>,
    #[command(flatten)]
    parts: PartOptions,
    /// Read URLs from the columns url_protocol, url_host_name, url_port, url_path, url_query of Parquet or Arrow
    ///
    /// Common Crawl's index has these columns. They are also used if the file has no other URL column.
    #[arg(long, conflicts_with = "url_column")]
    split_columns: bool,
    /// Treat url_port and url_query as empty if Parquet or Arrow with split URLs lacks them [default: an error]
    ///
    /// Without its query, a URL is a different one, and may get a different verdict.
    #[arg(long, value_name = "AS", value_parser = ["empty"], conflicts_with = "url_column")]
    missing_columns: Option<String>,
    /// The time column: each URL is decided by the rules that were active at its row's time
    ///
    /// Requires a SET compiled with --by-time. Times are dates with or without a time of day (2026-03-14,
    /// 2026-03-14 15:09:26, 2026-03-14T15:09:26Z), web archive dates (4 to 14 digits), seconds since 1970 (10
    /// digits; also 13, 16 or 19 for smaller units), or access log times. --timezone applies to times without a zone.
    /// The column is called time in an access log and timestamp in CDX and CDXJ. Rows without a time are invalid.
    /// Before its origin's first capture, a URL is unknown.
    #[arg(long, value_name = "COLUMN", conflicts_with = "at")]
    at_column: Option<String>,
    /// The format of URLS [default: detected from the first line and the file extension]
    #[arg(long, value_name = "FORMAT", value_parser = table_formats())]
    input_format: Option<Format>,
    /// The format of an access log's lines: nginx's log_format or Apache's LogFormat, as in the server's configuration
    ///
    /// The variables without the directive's name are enough, such as '$host $remote_addr [$time_local] "$request"'.
    /// The names common, combined, vhost_combined and main (nginx's packaged format) are known too. The host is the
    /// format's $server_name or %v, else $host or %V, else $http_host or %{Host}i; without any, --host is required. The
    /// path is in $request or %r, $request_uri, or %U%q. A line that can be read in two ways is invalid.
    #[arg(long, value_name = "FORMAT", value_parser = LogFormat::parse)]
    log_format: Option<LogFormat>,
    /// The delimiter of CSV: comma, semicolon, tab, pipe, space, \x01, ^A or one character [default: detected]
    ///
    /// The first four are detected from a header with the selected columns. Without a header, the first 100 rows must
    /// agree on one of them, with a URL in the same column of each.
    #[arg(long, value_name = "CHARACTER", value_parser = Delimiter::of_name)]
    delimiter: Option<Delimiter>,
    /// What precedes a quote in a quoted cell of CSV: backslash, as Spark writes, or quote, as in RFC 4180
    ///
    /// Without this option, both are understood, and a row that they would split differently is invalid.
    #[arg(long, value_name = "CHARACTER", value_parser = Escape::of_name)]
    escape: Option<Escape>,
    /// The origins that may decide a URL [default: origin]
    ///
    /// A robots.txt applies only to its own origin (RFC 9309), so URLs of other origins are unknown. With a wider
    /// scope, the nearest robots.txt is used for an origin without one in SET: first the same host's, then that of the
    /// host with or without www., then the registered domain's, each with the URL's own choice of http or https first.
    /// The reason column names the origin.
    #[arg(long, value_name = "SCOPE", value_parser = scopes(), default_value = "origin", hide_default_value = true)]
    scope: Scope,
    #[command(flatten)]
    written: WrittenOptions,
    #[command(flatten)]
    rights: RightsOptions,
    /// Write to this file instead of standard output; it gets its name only when it is complete
    ///
    /// The extension .tsv, .csv, .jsonl, .parquet, .arrow or .arrows (an Arrow stream) selects the format, and .gz or
    /// .zst after it selects compression.
    #[arg(short, long, value_name = "OUT", group = "files")]
    output: Option<Place>,
    /// Replace the output file if it exists
    #[arg(long, requires = "files")]
    force: bool,
    /// Write a file for each list into this folder, named after it with .tsv or another extension appended
    ///
    /// With --add-columns and --only, the name does not change, and an extension is not repeated. A folder among URLS
    /// means all files below it, except for hidden ones and names that begin with _. The outputs for a folder or a
    /// pattern keep their paths below it, such as crawl=2026-03/part-0.tsv. Each file appears when it is complete,
    /// together with a record of the set, the options and the input (.FILE.made.json), which --resume reads.
    #[arg(long, value_name = "DIR", group = "files", conflicts_with_all = ["output", "rejects"])]
    output_folder: Option<Place>,
    /// Keep files in --output-folder that were already made from the same set, options and input
    ///
    /// An input has changed if its size, time or ETag has changed. With --resume=checksum, its size and the checksum of
    /// its bytes decide, and the record has the checksum. A changed input is an error, unless --force replaces the
    /// file.
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "state",
        requires = "output_folder")]
    resume: Option<Resume>,
    /// Write through symbolic links in --output-folder; otherwise they are errors
    #[arg(long, requires = "output_folder")]
    follow_links: bool,
    #[command(flatten)]
    keep_going: KeepGoing,
    /// Write invalid rows to this file: the line number, the problem, and the unchanged row
    ///
    /// The three are separated by tabs. The file gets its name only if the command succeeds.
    #[arg(long, value_name = "FILE", group = "files")]
    rejects: Option<Place>,
    /// Write an HTML report: the verdicts, and the origins and rules that disallow the most URLs
    ///
    /// The page needs no network. Counting origins and rules takes about as long again. With --agent-column, rules and
    /// unknown origins are not counted. With --output-folder, the page covers all lists decided in this run.
    #[arg(long, value_name = "FILE.html", group = "files")]
    report: Option<Place>,
    /// Do not check every byte of the set first
    ///
    /// The check reads the whole set. Without it, a damaged set may be detected late, or give wrong verdicts.
    #[arg(long)]
    no_verify: bool,
    /// Copy the set into memory with large pages first
    ///
    /// May help with millions of unsorted URLs and a set of hundreds of megabytes, on systems that map files in 4 KB
    /// pages. The copy takes as much memory as the set, and is not shared with other processes. It has no effect on
    /// systems without large pages.
    #[arg(long)]
    large_pages: bool,
    #[command(flatten)]
    options: CompileOptions,
    #[command(flatten)]
    pub metrics: MetricsOptions,
    #[command(flatten)]
    pub threads: crate::Threads,
}

/// Runs the command.
///
/// # Errors
/// Returns an error if the list or the set cannot be read, the set is damaged, or the output cannot be written.
pub fn run(args: &Args, run: &Run) -> Result<Exit> {
    if let Some(folder) = &args.output_folder {
        return many::run(args, folder, run);
    }
    let args = &Args { lists: args.files_from.expand(&args.lists)?, ..args.clone() };
    let [list] = &args.lists[..] else {
        return Err(Failure::new("several URL lists require --output-folder DIR, which gets a file for each list"));
    };
    refuse_swapped("classify", &args.set, list.as_os_str().to_str())?;
    if list.is_dir() {
        return Err(Failure::at(list, "is a folder; --output-folder DIR writes a file for each list in it"));
    }
    let written = args.written.for_output(args.output.as_ref())?;
    let args = Args { urls: list.clone(), written, ..args.clone() };
    let outputs = [&args.output, &args.rejects, &args.report].into_iter().flatten();
    run.check_metrics_path([&args.set, &args.urls], outputs)?;
    let files = Files::open(&args)?;
    let input = InputState::of(&args.urls);
    let settings = Settings::open(&args, run)?;
    let decided = decide(&args, files, &settings, (&input, None), run, |_, _, _| Ok(Vec::new()))?;
    let Decided { is_bad, totals, mut lineage, .. } = decided;
    let output = &args.output.clone().unwrap_or_else(Place::standard);
    lineage.outputs.push(OutputState::new(output, lineage.rows.written));
    lineage.outputs.extend(args.rejects.as_ref().map(|path| OutputState::new(path, Some(totals.invalid()))));
    lineage.outputs.extend(args.report.as_ref().map(|path| OutputState::new(path, None)));
    run.add(lineage);
    Ok(Exit::from_bad(settings.any_bad || is_bad))
}

/// A list that was decided.
struct Decided {
    /// Whether most rows are invalid, or the last one has an unclosed quote.
    is_bad: bool,
    totals: Totals,
    decider: TableDecider,
    time: Duration,
    /// Without the output.
    lineage: Lineage,
}

/// An open list.
enum Input {
    Table(Source),
    /// An archive of pages, with `--rights`.
    Pages(Box<Pages>),
}

/// The input and outputs of one list.
struct Files {
    source: Input,
    output: Output,
    rejects: Rejects,
    report: Report,
}

impl Files {
    fn open(args: &Args) -> Result<Files> {
        refuse_same_files(args)?;
        let splitting = Splitting { is_split: args.split_columns, absent_is_empty: args.missing_columns.is_some() };
        let source = match &args.rights.rights {
            Some(_) => Input::Pages(Box::new(Pages::open(&args.urls, args.options.archives.resync)?)),
            None => Input::Table(Source::open(&args.urls, splitting)?),
        };
        let output = match &args.output {
            Some(path) => Output::create(path, args.force)?,
            None => Output::stdout(),
        };
        let rejects = Rejects::create(args.rejects.as_ref(), args.force)?;
        Ok(Files { source, output, rejects, report: Report::create(args.report.as_ref(), args.force)? })
    }
}

/// The settings that apply to every list.
struct Settings {
    set: Set,
    /// The set's entry in records.
    state: SetState,
    /// Whether the set was compiled from an input with bad files.
    any_bad: bool,
    /// The crawlers, unless rows name them.
    named: Option<Agents>,
    times: Times,
    site: std::result::Result<Site, String>,
    site_options: SiteOptions,
    /// The question about pages, with `--rights`.
    pages: Option<PageSettings>,
}

impl Settings {
    fn open(args: &Args, run: &Run) -> Result<Settings> {
        // An input can be compiled with times as needed; a set file either has them or not.
        let mut options = args.options.clone();
        let is_set = Loaded::is_set(&args.set)?;
        // A set with times keeps the rules of every time, while an input is compiled for the given time.
        let at = if is_set { options.at()? } else { None };
        options.at.take_if(|_| is_set);
        let times = match (&args.at_column, at) {
            (Some(_), _) => Times::OfRows,
            (None, Some(time)) => Times::At(time),
            (None, None) => Times::None,
        };
        options.by_time |= times == Times::OfRows && !is_set;
        let (site, site_options) = SiteOptions::take(&mut options, &args.set, is_set);
        let mut loaded = Loaded::open(&args.set, &options)?;
        if args.large_pages {
            loaded = loaded.in_large_pages()?;
        }
        let any_bad = loaded.report.as_ref().is_some_and(SetReport::any_bad);
        // `--no-verify` avoids reading the whole set, unless the hash decides whether files are up to date.
        let is_stamped = (args.written.format().is_columnar() || run.has_metrics()) && !args.no_verify;
        let identity = (is_stamped || args.output_folder.is_some()).then(|| Identity::of(loaded.bytes()));
        let state = SetState::of(&args.set, &loaded.set()?, loaded.bytes().len() as u64, identity);
        let set = loaded.into_set()?;
        if !args.no_verify {
            set.verify().map_err(|error| Failure::at(&args.set, error))?;
        }
        if times != Times::None && !set.has_times() {
            let message = match times {
                Times::At(_) => "is a compiled set without times, which --at requires; compile it again with --by-time",
                _ => "has no times, which --at-column requires; compile it again with --by-time",
            };
            return Err(Failure::at(&args.set, message));
        }
        if is_set && times == Times::None && set.has_times() && args.rights.rights.is_none() {
            note_without_times(&args.set, set.time(), "--at-column or --at");
        }
        if args.written.has(Column::Line) && !set.has_line_numbers() {
            note(format_args!("{}: has no line numbers; every line is 0", args.set.display()));
        }
        let named = args.agent_column.is_none().then(|| agents(&set, &args.set, &args.agents, args.exact));
        let named = named.transpose()?;
        let pages = PageSettings::open(args, named.as_ref(), set.has_times())?;
        Ok(Settings { named, set, state, any_bad, times, site, site_options, pages })
    }
}

/// Decides a list and publishes the output, with additional files from `beside`. `beside` gets the complete outputs,
/// their lineage, and whether most rows are invalid or a quote is unclosed. `input` is the state of the list before it
/// was read. If the output has several parts, `next` opens them.
fn decide(
    args: &Args,
    files: Files,
    settings: &Settings,
    (input, next): (&InputState, Option<NextOutput>),
    run: &Run,
    beside: impl FnOnce(&[Complete], &Lineage, bool) -> Result<Vec<Complete>>,
) -> Result<Decided> {
    let Files { source, mut output, rejects, report } = files;
    let source = match (source, &settings.pages) {
        (Input::Pages(archive), Some(pages)) => {
            return pages::decide(args, (*archive, output), (settings, pages), (input, next), run, beside);
        }
        (Input::Table(source), _) => source,
        (Input::Pages(_), None) => {
            return Err(Failure::new("internal error: pages without a question; please report it"));
        }
    };
    let is_colored = output.is_colored();
    let shows_rows = args.written.has_rows() && !output.pass_bytes_on();
    let start = Instant::now();
    let wanted = wanted(args);
    let last_cell = wanted.len() - 1;
    let site = settings.site.clone();
    let (parts, scheme) = (args.parts.names(), settings.site_options.scheme);
    let mut opening = Opening {
        path: args.urls.clone(),
        format: args.input_format,
        delimiter: args.delimiter,
        escape: args.escape,
        wanted,
        parts,
        scheme,
        log_format: args.log_format.clone(),
        site,
        kept: None,
    };
    let is_terminal = output.is_terminal();
    let kept = kept::kept_columns(args, &source)?;
    opening.kept = kept::queue(&kept);
    let is_kept = kept.is_some();
    let sink = sink(args, output, next, settings.named.as_ref(), kept)?;
    let pipeline = Pipeline::start(opening, source, sink, is_terminal)?;
    let table = pipeline.table()?;
    settings.site_options.check(&table, &args.urls)?;
    if !is_kept {
        kept::refuse_unkept(args, table.format)?;
    }
    args.written.check_escape(args.escape)?;
    let (layout, format) = args.written.layout((table.format, table.delimiter), crawlers(settings.named.as_ref()))?;
    let decider = match &settings.named {
        Some(named) => Decider::new(named.clone(), layout),
        None => {
            let by_row = ByRow::new(&settings.set, last_cell, matches!(table.format, Format::Log | Format::JsonLog));
            let by_row = by_row.map_err(|error| Failure::at(&args.set, error))?;
            Decider::by_row(by_row.take_names_exactly(args.exact.exact_agent), layout)
        }
    };
    let decider = decider.map_err(Failure::new)?.at(settings.times).in_scope(args.scope);
    if let Some(output) = args.output.as_ref().filter(|_| args.output_folder.is_none()) {
        args.written.check_name(output, table.format)?;
    }
    let mut decider = args.written.decider(decider, format)?.show_rows(shows_rows);
    if is_colored {
        decider = decider.verdict_words(VERDICTS.map(|verdict| Style::of_verdict(verdict).of(verdict.name())));
    }
    let decider = decider.keep_rejected(rejects.are_kept()).count_tops(report.is_wanted());
    let decider = decider.in_zone(table.zone_of_times(&args.options.zone.timezone));
    let header = args.written.header(&decider, &table, shows_rows);
    let lineage = |totals: &Totals| lineage::of_list(run, args, settings, input, totals, &decider);
    let stamp = |totals: &Totals| lineage(totals).stamp();
    let (totals, complete) = pipeline.decide(table, &header, &decider, rejects, args, stamp)?;
    let lineage = lineage(&totals);
    let time = start.elapsed();
    let urls = format!(", read as {}", totals.table);
    let subject = Subject { name: &args.urls, urls, set_path: &args.set, set: &settings.set };
    let report = report.complete(&subject, &totals, &decider, time)?;
    let beside = beside(&complete, &lineage, totals.is_bad())?;
    // Name the record first: it is harmless without the file, but a file without it looks like any other.
    publish(beside.into_iter().chain(complete).chain(report))?;
    let is_bad = totals.report(&args.urls, &decider, time);
    Ok(Decided { is_bad, totals, decider, time, lineage })
}

/// Opens the output for the part with a number.
type NextOutput = Box<dyn FnMut(u32) -> Result<Output> + Send>;

/// Returns the sink that writes answers to the output, and to the further outputs that `next` opens.
fn sink(
    args: &Args,
    output: Output,
    next: Option<NextOutput>,
    named: Option<&Agents>,
    kept: Option<(Kept, reptile_columns::Format)>,
) -> Result<RowSink> {
    let crawlers = crawlers(named);
    if let Some((kept, format)) = kept {
        if args.written.rows_per_file().is_some() {
            let message = "--rows-per-file: cannot divide columns that are kept from the input; leave it out";
            return Err(Failure::at(&args.urls, message));
        }
        // The rows of one verdict have only the table's own columns.
        let columns = match args.written.only() {
            Some(_) => Vec::new(),
            None => columns_of(&args.written.layout((kept.table(), COMMA), crawlers.clone())?.0, &crawlers),
        };
        return Sink::keeping(output, format, columns, kept).map(RowSink::One);
    }
    let format = args.written.format();
    let columns = if format.is_columnar() {
        // Without kept columns, the columns do not depend on the input format.
        let (layout, _) = args.written.layout((Format::List, COMMA), crawlers.clone())?;
        columns_of(&layout, &crawlers)
    } else {
        Vec::new()
    };
    let first = Sink::new(output, format, columns.clone())?;
    Ok(match (args.written.rows_per_file(), next) {
        (Some(rows), Some(mut next)) => {
            RowSink::parts(first, rows, Box::new(move |number| Sink::new(next(number)?, format, columns.clone())))
        }
        _ => RowSink::One(first),
    })
}

/// Returns the crawlers whose columns are written: those given, or those that rows name.
fn crawlers(named: Option<&Agents>) -> Crawlers {
    match named {
        Some(agents) => Crawlers::Named(agents.iter().map(|agent| agent.crawler().to_string()).collect()),
        None => Crawlers::OfRows,
    }
}

/// Rejects an output that is an input, and two outputs with one name.
fn refuse_same_files(args: &Args) -> Result<()> {
    let outputs = [("the output", &args.output), ("--rejects", &args.rejects), ("--report", &args.report)];
    let outputs: Vec<(&str, &Place)> =
        outputs.iter().filter_map(|(what, path)| Some((*what, path.as_ref()?))).collect();
    for (place, (what, output)) in outputs.iter().enumerate() {
        refuse_overwriting(output, [&args.set, &args.urls])?;
        if let Some((other, _)) = outputs[..place].iter().find(|(_, other)| is_same_place(output, other)) {
            return Err(Failure::at(*output, format!("is {other} too; choose another name for {what}")));
        }
    }
    Ok(())
}

/// Returns the columns to read: URLs, then times and crawlers if requested.
fn wanted(args: &Args) -> Vec<Wanted> {
    let named = |option, name: &Option<String>| name.clone().map(|name| Wanted { option, name: Some(name) });
    let url = Wanted { option: URL_OPTION, name: args.url_column.clone() };
    let others = [named(AT_OPTION, &args.at_column), named("--agent-column", &args.agent_column)];
    [url].into_iter().chain(others.into_iter().flatten()).collect()
}

/// Returns the progress display for a list, hidden if the output goes to the same terminal. A compressed list's length
/// is unknown; columns are compressed too.
fn progress(args: &Args, format: Format, is_terminal: bool) -> Progress {
    if is_terminal {
        return Progress::hidden();
    }
    let is_packed = args.urls.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    let is_packed = is_packed || matches!(format, Format::Parquet | Format::Arrow);
    let found = args.urls.metadata().ok().filter(|found| found.is_file() && !is_packed);
    Progress::of_bytes(found.map(|found| found.len()))
}
