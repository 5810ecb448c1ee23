//! The arguments of `reptile classify`, and their values. [`written`](super::written) has the output options.

use clap::ArgGroup;
use clap::builder::ArgPredicate;

use super::written::WrittenOptions;
use crate::failures::KeepGoing;
use crate::inputs::FilesFrom;
use crate::options::{ArchiveOptions, RightsOptions, SetOptions, ZoneOption, scopes};
use crate::outputs::kept::FolderOptions;
use crate::run::metrics::MetricsOptions;
use crate::tables::{TableOptions, column_of};
use reptile_columns::Scope;
use reptile_records::place::Place;
use reptile_records::time::WrittenTime;

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
Without the final *, the rules for * do not apply. @ai-training, @ai-search,
@search, @user-triggered, @archive and @seo are groups of crawlers, with a column for
each crawler.

Exit code: 0 done, regardless of the verdicts; 1 most rows are invalid, a CSV quote is
unclosed, a list failed (--keep-going), or SET was compiled from an input with bad
files; 2 the command failed, and -o left no file."
)]
pub struct Args {
    /// A set file; or any INPUT of `reptile compile`, which is compiled in memory
    #[arg(value_name = "SET")]
    pub set: Place,
    /// The list or table of URLs; decompressed if necessary; - is standard input; several require -o DIR/
    #[arg(
        value_name = "URLS",
        default_value = "-",
        hide_default_value = true,
        default_value_if("files_from", ArgPredicate::IsPresent, None)
    )]
    pub lists: Vec<Place>,
    #[command(flatten)]
    pub files_from: FilesFrom,
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
    pub agents: Vec<String>,
    #[command(flatten)]
    pub tables: TableOptions,
    /// The time at which URLs are decided, or '{COLUMN}', each row's own
    ///
    /// Requires a SET compiled with --by-time; another SET is compiled for the time. Times are dates with or without a
    /// time of day (2026-03-14, 2026-03-14 15:09:26, 2026-03-14T15:09:26Z), web archive dates (4 to 14 digits), seconds
    /// since 1970 (10 digits; in columns also 13, 16 or 19 for smaller units), or access log times. The column is called
    /// time in an access log and timestamp in CDX and CDXJ. Rows without a time are invalid. Before its origin's first
    /// capture, a URL is unknown.
    #[arg(long, value_name = "TIME", value_parser = DecisionTime::parse, allow_negative_numbers = true)]
    pub at: Option<DecisionTime>,
    #[command(flatten)]
    pub zone: ZoneOption,
    /// The origins that may decide a URL [default: origin]
    ///
    /// A robots.txt applies only to its own origin (RFC 9309), so URLs of other origins are unknown. With a wider
    /// scope, an origin without a robots.txt in SET uses the nearest one: from the same host, then from the host with
    /// or without www., then from the registered domain, each with the URL's own choice of http or https first. The
    /// reason column names the origin.
    #[arg(long, value_name = "SCOPE", value_parser = scopes(), default_value = "origin", hide_default_value = true)]
    pub scope: Scope,
    #[command(flatten)]
    pub written: WrittenOptions,
    #[command(flatten)]
    pub rights: RightsOptions,
    #[command(flatten)]
    pub archives: ArchiveOptions,
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
    pub output: Option<Place>,
    /// Replace the output file if it exists
    #[arg(long, requires = "files")]
    pub force: bool,
    #[command(flatten)]
    pub in_folder: FolderOptions,
    #[command(flatten)]
    pub keep_going: KeepGoing,
    /// Write invalid rows to this file: the line number, the problem, and the unchanged row
    ///
    /// The three are separated by tabs. The file gets its name only if the command succeeds.
    #[arg(long, value_name = "FILE", group = "files")]
    pub rejects: Option<Place>,
    /// Write an HTML report: the verdicts, and the origins and rules that disallow the most URLs
    ///
    /// The page needs no network. Counting origins and rules takes about as long again. If rows name crawlers, rules and
    /// unknown origins are not counted. For a folder, the page covers all lists decided in this run.
    #[arg(long, value_name = "FILE.html", group = "files")]
    pub report: Option<Place>,
    #[command(flatten)]
    pub options: SetOptions,
    #[command(flatten)]
    pub metrics: MetricsOptions,
    #[command(flatten)]
    pub threads: crate::Threads,
}

/// The time of `--at`: one for all rows, or a column with each row's own.
#[derive(Clone, Debug)]
pub enum DecisionTime {
    Time(WrittenTime),
    Column(String),
}

impl DecisionTime {
    /// Parses a time, or a column's name in braces.
    ///
    /// # Errors
    /// Returns an error if it is neither.
    pub fn parse(text: &str) -> std::result::Result<DecisionTime, String> {
        match column_of(text) {
            Some(name) => Ok(DecisionTime::Column(name.to_owned())),
            None => WrittenTime::parse(text)
                .map(DecisionTime::Time)
                .map_err(|error| format!("{error}; for each row's own time, write its column in braces: '{{time}}'")),
        }
    }
}
