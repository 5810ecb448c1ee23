//! `reptile classify`: reads a list of URLs and writes it with verdict columns.
//!
//! The threads and buffers are in [`pipeline`]; `reptile-columns` decides the rows.

mod kept;
mod lineage;
mod many;
mod pages;
mod pipeline;
mod plan;
mod rejects;
mod report;
mod totals;
mod url;
mod written;

use std::time::{Duration, Instant};

use clap::ArgGroup;
use clap::builder::{ArgPredicate, PossibleValuesParser, TypedValueParser};
use reptile::{Agents, Scheme, Set};

use crate::error::{Exit, Failure, Result, note};
use crate::failures::KeepGoing;
use crate::inputs::FilesFrom;
use crate::options::{ArchiveOptions, Resume, RightsOptions, SetOptions, ZoneOption, scopes, table_format};
use crate::outputs::file::{Complete, Output, publish};
use crate::outputs::identity::Identity;
use crate::outputs::parts::RowSink;
use crate::outputs::progress::Progress;
use crate::outputs::sink::Sink;
use crate::outputs::style::Style;
use crate::run::Run;
use crate::run::lineage::{InputState, Lineage, OutputState, SetState};
use crate::run::metrics::MetricsOptions;
use crate::same_file::{is_same_place, refuse_overwriting};
use crate::sets::agents::agents;
use crate::sets::report::Report as SetReport;
use crate::sets::{Loaded, note_without_times};
use kept::KeptTable;
use pages::PageSettings;
use pipeline::Pipeline;
use plan::{CrawlerNames, DecisionTime, InputFormat, List, Lists, Plan};
use rejects::Rejects;
use report::{Report, Subject};
use reptile_columns::{ByRow, Column, Crawlers, Decider, Scope, TableDecider, Times, VERDICTS, columns_of};
use reptile_records::pages::Pages;
use reptile_records::place::Place;
use reptile_records::tables::log::format::LogFormat;
use reptile_records::tables::log::shape::Site;
use reptile_records::tables::quotes::Escape;
use reptile_records::tables::source::Source;
use reptile_records::tables::{COMMA, Delimiter, Format};
use totals::Totals;
use url::UrlColumns;
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
/// With --agent '{COLUMN}', rows that name no crawler are unknown too.
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
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    group(ArgGroup::new("files").multiple(true)),
    after_help = "Examples:
  reptile classify web.reptile urls.txt.gz --agent MyBot -o verdicts.tsv
  reptile classify web.reptile --agent MyBot --agent OtherBot < urls.txt > verdicts.tsv
  reptile classify web.reptile crawl.csv.gz --url target --agent MyBot
  reptile classify web.reptile crawl.csv.gz --url 'https://{host}{path}' --agent MyBot
  reptile classify years.reptile visits.tsv --at '{time}' --agent MyBot
  reptile classify years.reptile urls.txt --at 2026-03-14 --agent MyBot -o out.parquet
  reptile classify web.reptile access.log --host example.com --agent '{user_agent}'
  reptile classify web.reptile day-*.gz --agent MyBot -o out/ --resume
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
    /// The list or table of URLs; decompressed if necessary; - is standard input; several require -o DIR/
    #[arg(
        value_name = "URLS",
        default_value = "-",
        hide_default_value = true,
        default_value_if("files_from", ArgPredicate::IsPresent, None)
    )]
    lists: Vec<Place>,
    #[command(flatten)]
    files_from: FilesFrom,
    /// A crawler: a product token, a chain, or a group of crawlers; can be repeated; or '{COLUMN}'
    ///
    /// The output has a column for each crawler. With a column in braces, each URL is decided for the crawler in its
    /// row. Each row has a product token, or a whole User-Agent header such as the column user_agent of an access log. A
    /// header names a known crawler if one of its products is that crawler. Otherwise it names its first product with a
    /// version, if that is not a browser's and calls itself a bot, crawler or spider, or is named by a robots.txt in
    /// SET. Rows that name no crawler are unknown, with the reason "no crawler". So are rows whose cell has more than
    /// 4,096 bytes. exact:NAME and 'exact:{COLUMN}' use names unchanged, even if they resemble a known crawler's name
    /// and no robots.txt names them.
    #[arg(short, long = "agent", value_name = "TOKEN", required = true)]
    agents: Vec<String>,
    /// The URL column, or a template of columns: '{scheme}://{host}:{port}{path}?{query}' [default: url]
    ///
    /// A column is given by its name in the first row, its number from 1, or a JSON Lines field. Nested fields are named
    /// with a dot (request.url) or as a JSON pointer (/request/url). By default, the column is found if it is called url
    /// or uri, or if the first row has exactly one URL. In Parquet and Arrow, the columns of Common Crawl's index,
    /// url_protocol, url_host_name, url_port, url_path and url_query, are used if there is no other URL column.
    ///
    /// A template names the columns of a URL's parts. All but the host may be left out, and then are empty; the scheme
    /// may also be written, such as https://, or be left to --scheme. A host may have a port if the port is empty, but no
    /// user information; an IPv6 address needs no brackets. The path begins with a slash, and may contain the query if
    /// the query is empty. Empty cells and nulls mean the scheme's own port, the path / and no query. Rows with a
    /// malformed part are invalid.
    #[arg(long, value_name = "COLUMN", value_parser = UrlColumns::parse)]
    url: Option<UrlColumns>,
    /// The time at which URLs are decided, or '{COLUMN}', each row's own
    ///
    /// Requires a SET compiled with --by-time; another SET is compiled for the time. Times are dates with or without a
    /// time of day (2026-03-14, 2026-03-14 15:09:26, 2026-03-14T15:09:26Z), web archive dates (4 to 14 digits), seconds
    /// since 1970 (10 digits; in columns also 13, 16 or 19 for smaller units), or access log times. The column is called
    /// time in an access log and timestamp in CDX and CDXJ. Rows without a time are invalid. Before its origin's first
    /// capture, a URL is unknown.
    #[arg(long, value_name = "TIME", value_parser = DecisionTime::parse, allow_negative_numbers = true)]
    at: Option<DecisionTime>,
    #[command(flatten)]
    zone: ZoneOption,
    /// The scheme of URLs without one, and of an access log's requests: http or https
    #[arg(long, value_name = "SCHEME", value_parser = web_schemes())]
    scheme: Option<Scheme>,
    /// The format of URLS, or of an access log's lines [default: detected from the first line and the file extension]
    ///
    /// Formats are list, tsv, csv, jsonl (or ndjson), cdx, cdxj, log (an access log in the common or combined format),
    /// json-log (one in JSON Lines, as Caddy, Cloudflare, CloudFront, nginx and others write it), w3c (one with a
    /// #Fields: line, as IIS and CloudFront write it), parquet and arrow.
    ///
    /// For an access log in another format, give nginx's log_format or Apache's LogFormat, as in the server's
    /// configuration. The variables without the directive's name are enough, such as
    /// '$host $remote_addr [$time_local] "$request"'. The names common, combined, vhost_combined and main (nginx's
    /// packaged format) are known too. The host is the format's $server_name or %v, else $host or %V, else $http_host or
    /// %{Host}i; without any, --host is required. The path is in $request or %r, $request_uri, or %U%q. A line that can
    /// be read in two ways is invalid.
    #[arg(long, value_name = "FORMAT", value_parser = input_format)]
    input_format: Option<InputFormat>,
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
    #[command(flatten)]
    archives: ArchiveOptions,
    /// Write to this file instead of standard output; or a file for each list to this folder, DIR/
    ///
    /// A file gets its name only when it is complete. The extension .tsv, .csv, .jsonl, .parquet, .arrow or .arrows (an
    /// Arrow stream) selects the format, and .gz or .zst after it selects compression.
    ///
    /// OUT is a folder if it exists as one or ends in a slash. Its files are named after the lists with .tsv or another
    /// extension appended. With --add-columns and --only, the name does not change, and an extension is not repeated. A
    /// folder among URLS means all files below it, except for hidden ones and names that begin with _. The outputs for a
    /// folder or a pattern keep their paths below it, such as crawl=2026-03/part-0.tsv. Each file appears when it is
    /// complete, together with a record of the set, the options and the input (.FILE.made.json), which --resume reads.
    #[arg(short, long, value_name = "OUT", group = "files")]
    output: Option<Place>,
    /// Replace the output file if it exists
    #[arg(long, requires = "files")]
    force: bool,
    /// Keep files in the folder of --output that were already made from the same set, options and input
    ///
    /// An input has changed if its size, time or ETag has changed. With --resume=checksum, its size and the checksum of
    /// its bytes decide, and the record has the checksum. A changed input is an error, unless --force replaces the
    /// file.
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "state",
        requires = "output")]
    resume: Option<Resume>,
    /// Write through symbolic links in the folder of --output; otherwise they are errors
    #[arg(long, requires = "output")]
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
    /// The page needs no network. Counting origins and rules takes about as long again. If rows name crawlers, rules and
    /// unknown origins are not counted. For a folder, the page covers all lists decided in this run.
    #[arg(long, value_name = "FILE.html", group = "files")]
    report: Option<Place>,
    #[command(flatten)]
    options: SetOptions,
    #[command(flatten)]
    pub metrics: MetricsOptions,
    #[command(flatten)]
    pub threads: crate::Threads,
}

/// Returns a parser for the scheme of URLs without one.
fn web_schemes() -> impl TypedValueParser<Value = Scheme> {
    PossibleValuesParser::new(["http", "https"]).map(|name| if name == "http" { Scheme::Http } else { Scheme::Https })
}

/// Parses a table's format, or the format of an access log's lines.
fn input_format(text: &str) -> std::result::Result<InputFormat, String> {
    match table_format(text) {
        Some(format) => Ok(InputFormat::Table(format)),
        None => LogFormat::parse(text).map(InputFormat::Log).map_err(|error| {
            format!(
                "neither a known format (list, tsv, csv, jsonl, cdx, cdxj, log, json-log, w3c, parquet, arrow) nor an \
                     access log's format: {error}"
            )
        }),
    }
}

/// Runs the command.
///
/// # Errors
/// Returns an error if the list or the set cannot be read, the set is damaged, or the output cannot be written.
pub fn run(args: Args, run: &Run) -> Result<Exit> {
    match plan::resolve(args)? {
        (plan, Lists::One(list)) => run_one(&plan, &list, run),
        (plan, Lists::Several(folder)) => many::run(&plan, &folder, run),
    }
}

/// Decides the only list.
fn run_one(plan: &Plan, list: &List, run: &Run) -> Result<Exit> {
    let outputs = [&list.output, &list.rejects, &list.report].into_iter().flatten();
    run.check_metrics_path([&plan.set, &list.urls], outputs)?;
    let files = Files::open(plan, list)?;
    let input = InputState::of(&list.urls);
    let settings = Settings::open(plan, false, run)?;
    let decided = decide(plan, list, files, &settings, (&input, None), run, |_, _, _| Ok(Vec::new()))?;
    let Decided { is_bad, totals, mut lineage, .. } = decided;
    let output = &list.output.clone().unwrap_or_else(Place::standard);
    lineage.outputs.push(OutputState::new(output, lineage.rows.written));
    lineage.outputs.extend(list.rejects.as_ref().map(|path| OutputState::new(path, Some(totals.invalid()))));
    lineage.outputs.extend(list.report.as_ref().map(|path| OutputState::new(path, None)));
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
    fn open(plan: &Plan, list: &List) -> Result<Files> {
        refuse_same_files(plan, list)?;
        let source = match &plan.rights.rights {
            Some(_) => Input::Pages(Box::new(Pages::open(&list.urls, plan.resync)?)),
            None => Input::Table(Source::open(&list.urls)?),
        };
        let output = match &list.output {
            Some(path) => Output::create(path, list.force)?,
            None => Output::stdout(),
        };
        let rejects = Rejects::create(list.rejects.as_ref(), list.force)?;
        Ok(Files { source, output, rejects, report: Report::create(list.report.as_ref(), list.force)? })
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
    /// Whether `--host` was given, and does not apply to the set.
    is_host_for_a_log: bool,
    /// The question about pages, with `--rights`.
    pages: Option<PageSettings>,
}

impl Settings {
    /// Opens the set. `has_records` says whether each output gets a record of the set.
    fn open(plan: &Plan, has_records: bool, run: &Run) -> Result<Settings> {
        let is_set = Loaded::is_set(&plan.set)?;
        let mut options = plan.set_options.with_defaults();
        options.zone.timezone = plan.zone.clone();
        options.at = plan.at;
        let at = options.at()?;
        // A set with times keeps the rules of every time, while an input is compiled for the given time, or with the
        // rules of every time if rows have their own.
        let times = match (&plan.at_column, at) {
            (Some(_), _) => Times::OfRows,
            (None, Some(time)) if is_set => Times::At(time),
            (None, _) => Times::None,
        };
        options.by_time = times == Times::OfRows;
        // A set file needs no host, and a folder's files give their own.
        let is_host_of_set = !is_set && !plan.set.is_dir() && !plan.set.is_remote_folder();
        let host = if is_host_of_set { None } else { options.set.host.take() };
        let loaded = Loaded::open(&plan.set, &options)?;
        let any_bad = loaded.report.as_ref().is_some_and(SetReport::any_bad);
        let is_stamped = plan.written.format().is_columnar() || run.has_metrics() || has_records;
        let identity = is_stamped.then(|| Identity::of(loaded.bytes()));
        let state = SetState::of(&plan.set, &loaded.set()?, loaded.bytes().len() as u64, identity);
        let set = loaded.into_set()?;
        set.verify().map_err(|error| Failure::at(&plan.set, error))?;
        if times != Times::None && !set.has_times() {
            let message = "is a compiled set without times, which --at requires; compile it again with --by-time";
            return Err(Failure::at(&plan.set, message));
        }
        if is_set && times == Times::None && set.has_times() && plan.rights.rights.is_none() {
            note_without_times(&plan.set, set.time(), "--at");
        }
        if plan.written.has(Column::Line) && !set.has_line_numbers() {
            note(format_args!("{}: has no line numbers; every line is 0", plan.set.display()));
        }
        let named = match &plan.crawlers {
            CrawlerNames::Given(names) => Some(agents(&set, &plan.set, names)?),
            CrawlerNames::OfRows { .. } => None,
        };
        let pages = PageSettings::open(plan, named.as_ref(), set.has_times())?;
        let (site, is_host_for_a_log) = (plan.site(), host.is_some());
        Ok(Settings { named, set, state, any_bad, times, site, is_host_for_a_log, pages })
    }

    /// Checks that the table is a log if the host requires one.
    ///
    /// # Errors
    /// Returns an error if the host is only for a log, and the table at `path` is not a log.
    fn check_host(&self, table: Format, path: &Place) -> Result<()> {
        if self.is_host_for_a_log && !table.is_log() {
            let message =
                format!("is read as {table}; --host is for access logs, and for a SET that is a single robots.txt");
            return Err(Failure::at(path, message));
        }
        Ok(())
    }
}

/// Decides a list and publishes the output, with additional files from `beside`. `beside` gets the complete outputs,
/// their lineage, and whether most rows are invalid or a quote is unclosed. `input` is the state of the list before it
/// was read. If the output has several parts, `next` opens them.
fn decide(
    plan: &Plan,
    list: &List,
    files: Files,
    settings: &Settings,
    (input, next): (&InputState, Option<NextOutput>),
    run: &Run,
    beside: impl FnOnce(&[Complete], &Lineage, bool) -> Result<Vec<Complete>>,
) -> Result<Decided> {
    let Files { source, mut output, rejects, report } = files;
    let source = match (source, &settings.pages) {
        (Input::Pages(archive), Some(pages)) => {
            return pages::decide((plan, list), (*archive, output), (settings, pages), (input, next), run, beside);
        }
        (Input::Table(source), _) => source,
        (Input::Pages(_), None) => {
            return Err(Failure::new("internal error: pages without a question; please report it"));
        }
    };
    let is_colored = output.is_colored();
    let shows_rows = plan.written.has_rows() && !output.pass_bytes_on();
    let start = Instant::now();
    let mut opening = plan.opening(&list.urls, settings.site.clone());
    let last_cell = opening.wanted.len() - 1;
    let is_terminal = output.is_terminal();
    let kept = kept::kept_columns(plan, list, &source)?;
    opening.kept = kept.as_ref().map(|kept| kept.rows.clone());
    let sink = sink(plan, output, next, settings.named.as_ref(), kept.as_ref())?;
    let pipeline = Pipeline::start(opening, source, sink, is_terminal)?;
    let table = pipeline.table()?;
    settings.check_host(table.format, &list.urls)?;
    if kept.is_none() {
        kept::refuse_unkept(plan, list, table.format)?;
    }
    plan.written.check_escape(plan.escape)?;
    let (layout, format) = plan.written.layout((table.format, table.delimiter), crawlers(settings.named.as_ref()))?;
    let decider = match (&settings.named, &plan.crawlers) {
        (Some(named), _) => Decider::new(named.clone(), layout),
        (None, crawlers) => {
            let by_row = ByRow::new(&settings.set, last_cell, table.format.is_log());
            let by_row = by_row.map_err(|error| Failure::at(&plan.set, error))?;
            let is_exact = matches!(crawlers, CrawlerNames::OfRows { is_exact: true, .. });
            Decider::by_row(by_row.take_names_exactly(is_exact), layout)
        }
    };
    let decider = decider.map_err(Failure::new)?.at(settings.times).in_scope(plan.scope);
    if let Some(output) = list.output.as_ref().filter(|_| list.is_named) {
        plan.written.check_name(output, table.format)?;
    }
    let mut decider = plan.written.decider(decider, format)?.show_rows(shows_rows);
    if is_colored {
        decider = decider.verdict_words(VERDICTS.map(|verdict| Style::of_verdict(verdict).of(verdict.name())));
    }
    let decider = decider.keep_rejected(rejects.are_kept()).count_tops(report.is_wanted());
    let decider = decider.in_zone(table.zone_of_times(&plan.zone));
    let mut header = plan.written.header(&decider, &table, shows_rows);
    if let Some(columns) = kept.as_ref().and_then(KeptTable::text) {
        header = kept::header(&columns, &list.urls, decider.decider(), header)?;
    }
    let lineage = |totals: &Totals| lineage::of_list(run, plan, settings, input, totals, &decider);
    let stamp = |totals: &Totals| lineage(totals).stamp();
    let (totals, complete) = pipeline.decide(table, header, &decider, rejects, (plan, list), stamp)?;
    let lineage = lineage(&totals);
    let time = start.elapsed();
    let urls = format!(", read as {}", totals.table);
    let subject = Subject { name: &list.urls, urls, set_path: &plan.set, set: &settings.set };
    let report = report.complete(&subject, &totals, &decider, time)?;
    let beside = beside(&complete, &lineage, totals.is_bad())?;
    // Name the record first: it is harmless without the file, but a file without it looks like any other.
    publish(beside.into_iter().chain(complete).chain(report))?;
    let is_bad = totals.report(&list.urls, &decider, time);
    Ok(Decided { is_bad, totals, decider, time, lineage })
}

/// Opens the output for the part with a number.
type NextOutput = Box<dyn FnMut(u32) -> Result<Output> + Send>;

/// Returns the sink that writes answers to the output, and to the further outputs that `next` opens.
fn sink(
    plan: &Plan,
    output: Output,
    next: Option<NextOutput>,
    named: Option<&Agents>,
    kept: Option<&KeptTable>,
) -> Result<RowSink> {
    let crawlers = crawlers(named);
    // Without kept columns, the columns do not depend on the input format.
    let (table, format, kept) = match kept {
        Some(KeptTable { rows, table, format }) => (*table, *format, Some(rows.clone())),
        None => (Format::List, plan.written.format(), None),
    };
    // The rows of one verdict have only the table's own columns.
    let is_selection = kept.is_some() && plan.written.only().is_some();
    let columns = match format.is_columnar() && !is_selection {
        true => columns_of(&plan.written.layout((table, COMMA), crawlers.clone())?.0, &crawlers),
        false => Vec::new(),
    };
    let first = Sink::new(output, format, columns.clone(), kept.clone())?;
    Ok(match (plan.written.rows_per_file(), next) {
        (Some(rows), Some(mut next)) => {
            let sink = move |number| Sink::new(next(number)?, format, columns.clone(), kept.clone());
            RowSink::parts(first, rows, Box::new(sink))
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
fn refuse_same_files(plan: &Plan, list: &List) -> Result<()> {
    let outputs = [("the output", &list.output), ("--rejects", &list.rejects), ("--report", &list.report)];
    let outputs: Vec<(&str, &Place)> =
        outputs.iter().filter_map(|(what, path)| Some((*what, path.as_ref()?))).collect();
    for (place, (what, output)) in outputs.iter().enumerate() {
        refuse_overwriting(output, [&plan.set, &list.urls])?;
        if let Some((other, _)) = outputs[..place].iter().find(|(_, other)| is_same_place(output, other)) {
            return Err(Failure::at(*output, format!("is {other} too; choose another name for {what}")));
        }
    }
    Ok(())
}

/// Returns the progress display for a list, hidden if the output goes to the same terminal. A compressed list's length
/// is unknown; columns are compressed too.
fn progress(list: &List, format: Format, is_terminal: bool) -> Progress {
    if is_terminal {
        return Progress::hidden();
    }
    let is_packed = list.urls.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    let is_packed = is_packed || matches!(format, Format::Parquet | Format::Arrow);
    let found = list.urls.metadata().ok().filter(|found| found.is_file() && !is_packed);
    Progress::of_bytes(found.map(|found| found.len()))
}
