//! `reptile classify`: a list of URLs in, the same list with columns of verdicts out.
//!
//! The threads and buffers are in [`pipeline`]; the verdicts of one line are made in
//! [`verdicts`](crate::outputs::verdicts).

mod pipeline;
mod source;
mod totals;
mod written;

use std::path::PathBuf;
use std::time::Instant;

use reptile::Agents;

use crate::error::{Exit, Failure, Result, note};
use crate::inputs::options::{CompileOptions, ExactAgent};
use crate::inputs::same::refuse_overwriting;
use crate::inputs::sets::Loaded;
use crate::inputs::sets::agents::agents;
use crate::inputs::sets::report::Report;
use crate::inputs::tables::open::Opening;
use crate::inputs::tables::{Format, Wanted};
use crate::outputs::columns::Column;
use crate::outputs::file::Output;
use crate::outputs::parquet::ParquetOutput;
use crate::outputs::progress::Progress;
use crate::outputs::verdicts::Decider;
use pipeline::{Pipeline, Sink};
use source::Source;
use written::WrittenOptions;

/// Decide each URL of a list or a table
///
/// URLS is a list with a URL on each line, or TSV, CSV, JSON Lines or a Parquet file with
/// a column of URLs. Writes a line for each row, in the same order: the URL as it is given, and a
/// column for each agent, separated by tabs:
///   allow     the rules allow it, or say nothing about it
///   disallow  the rules disallow it
///   unknown   the set has no robots.txt for the URL's origin
///   invalid   the row has no http, https or ftp URL, or is too long
///
/// Lines end at LF; one CR before it is removed. Tabs and other characters that a
/// terminal acts on are written as %XX. A row of a table that cannot be read is invalid,
/// counted and named. Memory does not depend on how long URLS or a line is.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile classify web.reptile urls.txt.gz --agent MyBot -o verdicts.tsv
  reptile classify web.reptile --agent MyBot --agent OtherBot < urls.txt > verdicts.tsv
  reptile classify web.reptile crawl.csv.gz --url-column target --agent MyBot
  reptile classify years.reptile visits.tsv --at-column time --agent MyBot
  reptile classify robots/ urls.txt --agent MyBot --explain

TOKEN is a product token, such as Googlebot, in any letter case. Where a robots.txt
does not name it, its rules for * apply. Dialects that know crawlers also look up
the other names that a crawler obeys: for Googlebot-Image the group Googlebot-Image,
else Googlebot, else *. A chain says the same under any dialect:
\"Googlebot-Image>Googlebot>*\"; without the * at its end the rules for * do not
apply. @ai-training and @search are groups of crawlers, a column each.

Exit code: 0 done, whatever the verdicts; 1 most rows are invalid, or SET was
compiled from an input and some of its files were bad; 2 the command could not go
on, and no file is left by -o."
)]
pub struct Args {
    /// A set file; or what `reptile compile` takes as INPUT, to be compiled in memory
    #[arg(value_name = "SET")]
    set: PathBuf,
    /// The list or the table of URLs; unpacked if it is packed; - is standard input
    #[arg(default_value = "-", hide_default_value = true)]
    urls: PathBuf,
    /// A crawler: a product token, a chain of them, or a group of crawlers; may be given again, a column each
    #[arg(short, long = "agent", value_name = "TOKEN", required = true)]
    agents: Vec<String>,
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
    /// The column of times: each URL is decided by the rules that were in force at its own time
    ///
    /// As SET holds them that was compiled with --by-time. Times are RFC 3339 (2026-03-14T15:09:26Z), dates, seconds or
    /// milliseconds since 1970, or 14 digits (20260314150926). A row without a time is invalid; before the first capture of
    /// its origin a URL is unknown.
    #[arg(long, value_name = "COLUMN")]
    at_column: Option<String>,
    /// The format of URLS [default: recognised by the first line and the end of the name]
    #[arg(long, value_name = "FORMAT")]
    input_format: Option<Format>,
    #[command(flatten)]
    written: WrittenOptions,
    /// Write to this file instead of standard output; it appears under its name only when it is whole
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Replace the output file if there is one
    #[arg(long, requires = "output")]
    force: bool,
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
/// If the list or the set cannot be read, the set is damaged, or the output cannot be written.
pub fn run(args: &Args) -> Result<Exit> {
    if let Some(output) = &args.output {
        refuse_overwriting(output, [args.set.as_path(), &args.urls])?;
    }
    let source = Source::open(&args.urls, args.split_columns)?;
    let mut output = match &args.output {
        Some(path) => Output::create(path, args.force)?,
        None => Output::stdout(),
    };
    // An input that is compiled for this is compiled by time; a set file is so or not.
    let by_time = args.at_column.is_some();
    let mut options = args.options.clone();
    options.by_time |= by_time && !Loaded::is_set(&args.set)?;
    let mut loaded = Loaded::open(&args.set, &options)?;
    if args.large_pages {
        loaded = loaded.in_large_pages()?;
    }
    let any_bad = loaded.report.as_ref().is_some_and(Report::any_bad);
    let set = loaded.into_set()?;
    if !args.no_verify {
        set.verify().map_err(|error| Failure::at(&args.set, error))?;
    }
    if by_time && !set.has_times() {
        let message =
            "does not keep what was in force when, which --at-column asks for; compile it again with --by-time";
        return Err(Failure::at(&args.set, message));
    }
    if args.written.has(Column::Line) && !set.has_line_numbers() {
        note(format_args!("{}: no line numbers in it; every line is 0", args.set.display()));
    }
    let agents = agents(&set, &args.set, &args.agents, args.exact)?;
    let coloured = output.is_coloured();
    let shows_rows = args.written.has_rows() && !output.pass_bytes_on();
    let start = Instant::now();
    let url_column = Wanted { option: "--url-column", name: args.url_column.clone() };
    let at_column = args.at_column.clone().map(|name| Wanted { option: "--at-column", name: Some(name) });
    let wanted = [url_column].into_iter().chain(at_column).collect();
    let opening = Opening { path: args.urls.clone(), format: args.input_format, wanted };
    let is_terminal = output.is_terminal();
    let sink = sink(args, output, &agents)?;
    let pipeline = Pipeline::start(opening, source, sink, is_terminal)?;
    let table = pipeline.table()?;
    let layout = args.written.layout(table.format, agents.len())?;
    let header = args.written.header(&layout, &agents, &table, shows_rows);
    let decider = Decider::new(agents, layout, args.written.only(), by_time, coloured, shows_rows);
    let totals = pipeline.decide(table, &header, &decider, args)?;
    let most_are_invalid = totals.report(&args.urls, decider.agents(), start.elapsed());
    Ok(Exit::from_bad(any_bad || most_are_invalid))
}

/// The way of the answers to the output.
fn sink(args: &Args, output: Output, agents: &Agents) -> Result<Sink> {
    if !args.written.is_parquet() {
        return Ok(Sink::Text(Box::new(output)));
    }
    if output.is_terminal() {
        return Err(Failure::new("--format parquet: a terminal cannot show it; give the name of a file with --output"));
    }
    // The columns do not depend on the format of the input, to which nothing can be added here.
    let layout = args.written.layout(Format::List, agents.len())?;
    let names: Vec<String> = agents.iter().map(|agent| agent.crawler().to_string()).collect();
    ParquetOutput::new(output, &layout, &names).map(|output| Sink::Parquet(Box::new(output)))
}

/// Progress through the list, unless the output goes to the same terminal. How long a packed list is nobody knows; the columns
/// of a Parquet file are packed too.
fn progress(args: &Args, format: Format, is_terminal: bool) -> Progress {
    if is_terminal {
        return Progress::hidden();
    }
    let is_packed = args.urls.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    let is_packed = is_packed || format == Format::Parquet;
    let found = std::fs::metadata(&args.urls).ok().filter(|found| found.is_file() && !is_packed);
    Progress::of_bytes(found.map(|found| found.len()))
}
