//! `reptile classify`: a list of URLs in, the same list with columns of verdicts out.
//!
//! The threads and buffers are in [`pipeline`]; `reptile-columns` decides the rows.

mod many;
mod pipeline;
mod rejects;
mod report;
mod site;
mod totals;
mod written;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::ArgGroup;
use reptile::{Agents, Set};

use crate::error::{Exit, Failure, Result, note};
use crate::options::{CompileOptions, ExactAgent, scopes, table_formats};
use crate::outputs::build_record::Identity;
use crate::outputs::file::{Complete, Output, publish};
use crate::outputs::progress::Progress;
use crate::outputs::sink::Sink;
use crate::outputs::style::Style;
use crate::same_file::{is_same_place, refuse_overwriting};
use crate::sets::agents::agents;
use crate::sets::report::Report as SetReport;
use crate::sets::{Loaded, note_without_times, refuse_swapped};
use pipeline::Pipeline;
use rejects::Rejects;
use report::{Report, Subject};
use reptile_columns::{ByRow, Column, Crawlers, Decider, Scope, TableDecider, Times, VERDICTS, columns_of};
use reptile_records::globs::expand;
use reptile_records::parquet::urls::{AT_OPTION, Splitting};
use reptile_records::tables::log::shape::Site;
use reptile_records::tables::open::Opening;
use reptile_records::tables::source::Source;
use reptile_records::tables::{COMMA, Delimiter, Format, Wanted};
use site::SiteOptions;
use totals::Totals;
use written::WrittenOptions;

/// Decide each URL of a list or a table
///
/// URLS is a list with a URL on each line; TSV, CSV, JSON Lines or Parquet with a column of
/// URLs; CDXJ; or an access log of nginx or Apache, of which each line is the URL that was
/// requested: of the virtual host that it names, else of --host, with --scheme (https).
/// Writes a line for each row, in the same order: the URL as it is given, and a column
/// for each agent, separated by tabs:
///   allow     the rules allow it, or say nothing about it
///   disallow  the rules disallow it
///   unknown   the set has no robots.txt for the URL's origin
///   invalid   the row has no http, https or ftp URL, or is too long
/// With --agent-column a row that names no crawler is unknown too.
///
/// Lines end at LF; one CR before it is removed. Tabs and other characters that a
/// terminal interprets are written as %XX. White space around a URL is ignored. A table
/// row that cannot be read is invalid, counted and named; so is an unclosed CSV quote,
/// which swallows the rest of URLS. Memory does not depend on the length of URLS or of a
/// line.
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

TOKEN is a product token, such as Googlebot, in any letter case. Where a robots.txt
does not name it, its rules for * apply. Dialects that know crawlers also look up
the other names that a crawler obeys: for Googlebot-Image the group Googlebot-Image,
else Googlebot, else *. A chain says the same under any dialect:
\"Googlebot-Image>Googlebot>*\"; without the * at its end the rules for * do not
apply. @ai-training and @search are groups of crawlers, a column each.

Exit code: 0 done, whatever the verdicts; 1 most rows are invalid, a quote of CSV is
not closed, or SET was compiled from an input and some of its files were bad; 2 the command could not go
on, and no file is left by -o."
)]
pub struct Args {
    /// A set file; or what `reptile compile` takes as INPUT, to be compiled in memory
    #[arg(value_name = "SET")]
    set: PathBuf,
    /// The list or the table of URLs; unpacked if it is packed; - is standard input; several need --output-folder
    #[arg(value_name = "URLS", default_value = "-", hide_default_value = true)]
    lists: Vec<PathBuf>,
    /// The list that is being decided.
    #[arg(skip)]
    urls: PathBuf,
    /// A crawler: a product token, a chain of them, or a group of crawlers; may be given again, a column each
    #[arg(short, long = "agent", value_name = "TOKEN", required_unless_present = "agent_column")]
    agents: Vec<String>,
    /// The column of crawlers: each URL is decided for the crawler that its own row names
    ///
    /// A product token in each row, or a whole User-Agent header, as access logs have it in the column user_agent. A header
    /// names a known crawler if that is a product in it, or else its first product with a version, if that is no browser's
    /// and calls itself a bot, crawler or spider or is named by a robots.txt of SET. A row that names no crawler is unknown,
    /// with the reason \"no crawler\"; so is one whose cell has more than 4,096 bytes.
    #[arg(long, value_name = "COLUMN", conflicts_with = "agents")]
    agent_column: Option<String>,
    #[command(flatten)]
    exact: ExactAgent,
    /// The column of URLs: its name in the first row, or its number from 1 on; in JSON Lines the field [default: url]
    ///
    /// A field within another one is named with a dot (request.url) or as a JSON pointer (/request/url). Without this
    /// option the column is found if one is called url or uri, or if the first row has one URL.
    #[arg(long, value_name = "COLUMN")]
    url_column: Option<String>,
    /// Take the URLs from the columns url_protocol, url_host_name, url_port, url_path and url_query of a Parquet file
    ///
    /// As Common Crawl's index has them. They are also taken if the file has no other column of URLs.
    #[arg(long, conflicts_with = "url_column")]
    split_columns: bool,
    /// Take url_port and url_query as empty in every row if a Parquet file with split URLs does not have them [default: an error]
    ///
    /// Without its query a URL is another one, and may get another verdict.
    #[arg(long, value_name = "AS", value_parser = ["empty"], conflicts_with = "url_column")]
    missing_columns: Option<String>,
    /// The column of times: each URL is decided by the rules that were in force at its own time
    ///
    /// Requires a SET that was compiled with --by-time. Times are dates with or without a time of day (2026-03-14,
    /// 2026-03-14 15:09:26, 2026-03-14T15:09:26Z), dates of web archives (4 to 14 digits), seconds since 1970 (10
    /// digits; also 13, 16 or 19 for smaller units), or access log times. --timezone is the zone of times without one.
    /// The column is called time in an access log and timestamp in CDXJ. A row without a time is invalid. Before the
    /// first capture of its origin a URL is unknown.
    #[arg(long, value_name = "COLUMN", conflicts_with = "at")]
    at_column: Option<String>,
    /// The format of URLS [default: recognised by the first line and the end of the name]
    #[arg(long, value_name = "FORMAT", value_parser = table_formats())]
    input_format: Option<Format>,
    /// The delimiter of CSV: comma, semicolon, tab, pipe or one character [default: recognised]
    ///
    /// The first four are recognised by the first row, which must have the selected columns or a single URL.
    #[arg(long, value_name = "CHARACTER", value_parser = Delimiter::of_name)]
    delimiter: Option<Delimiter>,
    /// Which origins decide a URL [default: origin]
    ///
    /// A robots.txt governs its own origin only (RFC 9309), and a URL of another one is unknown. With more than that, what
    /// is nearest stands in for an origin without a robots.txt in SET: first the same host, then with www. or without it,
    /// then the registered domain, each with the URL's own one of http and https first. The column reason says whose
    /// robots.txt it was.
    #[arg(long, value_name = "SCOPE", value_parser = scopes(), default_value = "origin", hide_default_value = true)]
    scope: Scope,
    #[command(flatten)]
    written: WrittenOptions,
    /// Write to this file instead of standard output; it appears under its name only when it is whole
    ///
    /// A name that ends in .tsv, .csv, .jsonl or .parquet chooses the format, and .gz or .zst after it the compression.
    #[arg(short, long, value_name = "OUT", group = "files")]
    output: Option<PathBuf>,
    /// Replace the output file if there is one
    #[arg(long, requires = "files")]
    force: bool,
    /// Write one file for each list into this folder, named after it with .tsv, .csv, .jsonl or .parquet appended
    ///
    /// With --add-columns and --only the name stays as it is. Each file appears when it is whole, with a record beside it of the
    /// set, the options and the input (FILE.made.json), by which --resume knows it again.
    #[arg(long, value_name = "DIR", group = "files", conflicts_with_all = ["output", "rejects"])]
    output_folder: Option<PathBuf>,
    /// Keep the files of --output-folder that were already made with the same set, options and input
    #[arg(long, requires = "output_folder")]
    resume: bool,
    /// Write the rows that are invalid to this file, as they are, after their line numbers and what is wrong with them
    ///
    /// Tabs stand between the three. The file appears under its name only when the command has succeeded.
    #[arg(long, value_name = "FILE", group = "files")]
    rejects: Option<PathBuf>,
    /// Write a page for people: the verdicts, and the origins and rules that disallow the most URLs
    ///
    /// One HTML file that needs no network. Counting origins and rules takes about as long again. With --agent-column rules and
    /// unknown origins are not counted. With --output-folder it is about all lists that this run decides.
    #[arg(long, value_name = "FILE.html", group = "files")]
    report: Option<PathBuf>,
    /// Do not check every byte of the set first
    ///
    /// The check reads the whole set. Without it a damaged set may be noticed late, or give wrong verdicts.
    #[arg(long)]
    no_verify: bool,
    /// Copy the set into memory with large pages first
    ///
    /// May help with millions of URLs in no order and a set of hundreds of megabytes, where the system maps files in pages
    /// of 4 KB. The copy takes as much memory as the set, and other processes do not share it. Without effect where the
    /// system has no large pages.
    #[arg(long)]
    large_pages: bool,
    #[command(flatten)]
    options: CompileOptions,
    #[command(flatten)]
    pub threads: crate::Threads,
}

/// Runs the command.
///
/// # Errors
/// Returns an error if the list or the set cannot be read, the set is damaged, or the output cannot be written.
pub fn run(args: &Args) -> Result<Exit> {
    let args = &Args { lists: expand(&args.lists)?, ..args.clone() };
    if let Some(folder) = &args.output_folder {
        return many::run(args, folder);
    }
    let [list] = &args.lists[..] else {
        return Err(Failure::new(
            "there are several lists of URLs; --output-folder DIR writes a file for each of them",
        ));
    };
    refuse_swapped("classify", &args.set, list.to_str())?;
    let written = args.written.for_output(args.output.as_deref())?;
    let args = Args { urls: list.clone(), written, ..args.clone() };
    let files = Files::open(&args)?;
    let asked = Asked::open(&args)?;
    let decided = decide(&args, files, &asked, |_, _| Ok(None))?;
    Ok(Exit::from_bad(asked.any_bad || decided.is_bad))
}

/// A list that was decided.
struct Decided {
    /// Whether most rows are invalid, or the last one has an unclosed quote.
    is_bad: bool,
    totals: Totals,
    decider: TableDecider,
    time: Duration,
}

/// The input and outputs of one list.
struct Files {
    source: Source,
    output: Output,
    rejects: Rejects,
    report: Report,
}

impl Files {
    fn open(args: &Args) -> Result<Files> {
        refuse_same_files(args)?;
        let splitting = Splitting { is_split: args.split_columns, absent_is_empty: args.missing_columns.is_some() };
        let source = Source::open(&args.urls, splitting)?;
        let output = match &args.output {
            Some(path) => Output::create(path, args.force)?,
            None => Output::stdout(),
        };
        let rejects = Rejects::create(args.rejects.as_deref(), args.force)?;
        Ok(Files { source, output, rejects, report: Report::create(args.report.as_deref(), args.force)? })
    }
}

/// The settings that apply to every list.
struct Asked {
    set: Set,
    /// The set's entry in the output record, if a record is wanted.
    identity: Option<Identity>,
    /// Whether the set was compiled from an input, some files of which were bad.
    any_bad: bool,
    /// The crawlers, if rows do not name theirs.
    named: Option<Agents>,
    times: Times,
    site: std::result::Result<Site, String>,
    site_options: SiteOptions,
}

impl Asked {
    fn open(args: &Args) -> Result<Asked> {
        // An input that is compiled for this is compiled by time; a set file is so or not.
        let mut options = args.options.clone();
        let is_set = Loaded::is_set(&args.set)?;
        // A set by time keeps the rules of every time, while an input is compiled for the given time.
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
        let identity = args.output_folder.is_some().then(|| Identity::of(loaded.bytes()));
        let set = loaded.into_set()?;
        if !args.no_verify {
            set.verify().map_err(|error| Failure::at(&args.set, error))?;
        }
        if times != Times::None && !set.has_times() {
            let what = "what was in force when, which";
            let message = match times {
                Times::At(_) => {
                    format!("is a compiled set without {what} --at asks for; compile it again with --by-time")
                }
                _ => format!("does not keep {what} --at-column asks for; compile it again with --by-time"),
            };
            return Err(Failure::at(&args.set, message));
        }
        if is_set && times == Times::None && set.has_times() {
            note_without_times(&args.set, set.time(), "--at-column or --at");
        }
        if args.written.has(Column::Line) && !set.has_line_numbers() {
            note(format_args!("{}: no line numbers in it; every line is 0", args.set.display()));
        }
        let named = args.agent_column.is_none().then(|| agents(&set, &args.set, &args.agents, args.exact));
        Ok(Asked { named: named.transpose()?, set, identity, any_bad, times, site, site_options })
    }
}

/// Decides a list, and gives the output its name, with the file that `beside` makes when the output is complete and it
/// is known whether most rows are invalid.
fn decide(
    args: &Args,
    files: Files,
    asked: &Asked,
    beside: impl FnOnce(&[Complete], bool) -> Result<Option<Complete>>,
) -> Result<Decided> {
    let Files { source, mut output, rejects, report } = files;
    let is_colored = output.is_coloured();
    let shows_rows = args.written.has_rows() && !output.pass_bytes_on();
    let start = Instant::now();
    let wanted = wanted(args);
    let last_cell = wanted.len() - 1;
    let site = asked.site.clone();
    let opening =
        Opening { path: args.urls.clone(), format: args.input_format, delimiter: args.delimiter, wanted, site };
    let is_terminal = output.is_terminal();
    let sink = sink(args, output, asked.named.as_ref())?;
    let pipeline = Pipeline::start(opening, source, sink, is_terminal)?;
    let table = pipeline.table()?;
    asked.site_options.check(&table, &args.urls)?;
    let (layout, format) = args.written.layout((table.format, table.delimiter), crawlers(asked.named.as_ref()))?;
    let decider = match &asked.named {
        Some(named) => Decider::new(named.clone(), layout),
        None => {
            let by_row = ByRow::new(&asked.set, last_cell, table.format == Format::Log);
            let by_row = by_row.map_err(|error| Failure::at(&args.set, error))?;
            Decider::by_row(by_row.take_names_exactly(args.exact.exact_agent), layout)
        }
    };
    let decider = decider.map_err(Failure::new)?.at(asked.times).in_scope(args.scope);
    if let Some(output) = args.output.as_deref().filter(|_| args.output_folder.is_none()) {
        args.written.check_name(output, table.format)?;
    }
    let mut decider = args.written.decider(decider, format)?.show_rows(shows_rows);
    if is_colored {
        decider = decider.verdict_words(VERDICTS.map(|verdict| Style::of_verdict(verdict).of(verdict.name())));
    }
    let decider = decider.keep_rejected(rejects.are_kept()).count_tops(report.is_wanted());
    let decider = decider.in_zone(table.zone_of_times(&args.options.timezone));
    let header = args.written.header(&decider, &table, shows_rows);
    let (totals, complete) = pipeline.decide(table, &header, &decider, rejects, args)?;
    let time = start.elapsed();
    let urls = format!(", read as {}", totals.table);
    let subject = Subject { name: &args.urls, urls, set_path: &args.set, set: &asked.set };
    let report = report.complete(&subject, &totals, &decider, time)?;
    let beside = beside(&complete, totals.is_bad())?;
    // Name the record first: it is harmless without the file, but a file without it looks like any other.
    publish(beside.into_iter().chain(complete).chain(report))?;
    let is_bad = totals.report(&args.urls, &decider, time);
    Ok(Decided { is_bad, totals, decider, time })
}

/// Returns the sink that writes answers to the output.
fn sink(args: &Args, output: Output, named: Option<&Agents>) -> Result<Sink> {
    if !args.written.is_parquet() {
        return Sink::new(output, None);
    }
    // The columns do not depend on the format of the input, to which nothing can be added here.
    let crawlers = crawlers(named);
    let (layout, _) = args.written.layout((Format::List, COMMA), crawlers.clone())?;
    Sink::new(output, Some(columns_of(&layout, &crawlers)))
}

/// Returns the crawlers whose columns are written: those given, or those that rows name.
fn crawlers(named: Option<&Agents>) -> Crawlers {
    match named {
        Some(agents) => Crawlers::Named(agents.iter().map(|agent| agent.crawler().to_string()).collect()),
        None => Crawlers::OfRows,
    }
}

/// Refuses to write a file that is read, or two outputs to one file.
fn refuse_same_files(args: &Args) -> Result<()> {
    let outputs = [("the output", &args.output), ("--rejects", &args.rejects), ("--report", &args.report)];
    let outputs: Vec<(&str, &PathBuf)> =
        outputs.iter().filter_map(|(what, path)| Some((*what, path.as_ref()?))).collect();
    for (place, (what, output)) in outputs.iter().enumerate() {
        refuse_overwriting(output, [args.set.as_path(), &args.urls])?;
        if let Some((other, _)) = outputs[..place].iter().find(|(_, other)| is_same_place(output, other)) {
            return Err(Failure::at(output, format!("is {other} too; choose another name for {what}")));
        }
    }
    Ok(())
}

/// Returns the columns to read: URLs, then times and crawlers if requested.
fn wanted(args: &Args) -> Vec<Wanted> {
    let named = |option, name: &Option<String>| name.clone().map(|name| Wanted { option, name: Some(name) });
    let url = Wanted { option: "--url-column", name: args.url_column.clone() };
    let others = [named(AT_OPTION, &args.at_column), named("--agent-column", &args.agent_column)];
    [url].into_iter().chain(others.into_iter().flatten()).collect()
}

/// Progress through the list, unless the output goes to the same terminal. The unpacked length of a packed list is not
/// known; the columns of a Parquet file are packed too.
fn progress(args: &Args, format: Format, is_terminal: bool) -> Progress {
    if is_terminal {
        return Progress::hidden();
    }
    let is_packed = args.urls.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    let is_packed = is_packed || format == Format::Parquet;
    let found = std::fs::metadata(&args.urls).ok().filter(|found| found.is_file() && !is_packed);
    Progress::of_bytes(found.map(|found| found.len()))
}
