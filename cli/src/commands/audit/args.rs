//! The arguments of `reptile audit`, and their values.

use std::sync::Arc;

use clap::ArgGroup;
use reptile_records::identity::{Identities, NamedFile};
use reptile_records::place::Place;
use reptile_records::tables::ColumnOption;
use reptile_records::tables::open::URL_OPTION;

use crate::error::{Failure, Result};
use crate::inputs::FilesFrom;
use crate::options::{SetOptions, ZoneOption};
use crate::run::metrics::MetricsOptions;
use crate::sets::agents::EXACT;
use crate::tables::{TableOptions, column_of};
use reptile_columns::audit::AuditCells;
use reptile_records::batches::urls::AT_OPTION;
use reptile_records::time::WrittenTime;

/// Audit whether crawlers in access logs obeyed
///
/// Reads access logs in any format that `reptile classify` reads, or tables with the same
/// columns, and decides each crawler's requests by the robots.txt that SET has for their
/// time. Logs may be given in any order, and are merged by time. Prints for each crawler:
///   requests    requests, except those for robots.txt
///   unknown     requests without a robots.txt in SET for their website and time
///   violations  requests that the rules disallow
///   in grace    disallowed requests that a robots.txt of the last 24 hours (--grace) allows:
///               a crawler may use its copy for a day (RFC 9309, section 2.4)
///   blocked     violations on a site whose rules disallow everything for this crawler
///   served      violations that were answered, and refused ones (status 403 or 429)
///   robots.txt  how often it was fetched, and the age of the copy at each request
///   sessions    visits that end after five idle minutes, and the pauses in them
///   too short   pauses shorter than the site's Crawl-delay, even if the dialect ignores it
///   verified    with --ranges or --dns: requests from the operator's addresses; failed ones
///               are from other addresses
///
/// Requests that name no crawler, such as a browser's, are counted and not decided.
/// A name alone proves nothing: anyone can send the header of a crawler.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    group(ArgGroup::new("files").multiple(true)),
    after_help = "Examples:
  reptile audit access.log --set years.reptile --host example.com
  reptile audit day-*.log.gz --set years.reptile --violations violations.csv
  reptile audit access.log --set robots.txt --host example.com --report audit.html
  reptile audit visits.parquet --set years.reptile --agent '{ua}' --at '{ts}' --status none

Rows of --violations are in time order, with the columns time, crawler, client, identity, url,
status, verdict, line, rule, reason, in_grace, capture_time and capture. `reptile verify --row`
decides rows in CSV, TSV and JSON Lines again; it checks verdict, line, rule, capture_time and
capture.

Exit code: 0 done, regardless of violations; 1 most rows of a log are invalid, or SET was
compiled from an input with bad files; 2 the command failed, and left no file."
)]
pub struct Args {
    /// Access logs, or tables of requests; decompressed if necessary; - is standard input
    #[arg(value_name = "LOG", required_unless_present = "files_from")]
    pub logs: Vec<Place>,
    #[command(flatten)]
    pub files_from: FilesFrom,
    /// A set file, best compiled with --by-time; or any INPUT of `reptile compile`, which is compiled in memory
    #[arg(long, value_name = "SET")]
    pub set: Place,
    /// The column of crawlers: product tokens, or User-Agent headers [default: '{user_agent}']
    ///
    /// Each cell is read as with --agent of `reptile classify`; 'exact:{COLUMN}' uses names unchanged.
    #[arg(short, long = "agent", value_name = "{COLUMN}", value_parser = AgentColumn::parse)]
    pub agent: Option<AgentColumn>,
    /// The column of times [default: '{time}']
    #[arg(long, value_name = "{COLUMN}", value_parser = column)]
    pub at: Option<String>,
    #[command(flatten)]
    pub zone: ZoneOption,
    /// The column of the responses' statuses, or none [default: '{status}']
    #[arg(long, value_name = "{COLUMN}|none", value_parser = OptionalColumn::parse)]
    pub status: Option<OptionalColumn>,
    /// The column of the clients' addresses [default: '{client}' with --ranges or --dns, or else none]
    ///
    /// '{client}' is the address that the server of an access log saw. In tables and JSON logs, another column may have
    /// the address from a proxy that you trust. A header is the client's own text.
    #[arg(long, value_name = "{COLUMN}", value_parser = column)]
    pub client: Option<String>,
    /// Check clients by addresses: FILE lists the addresses of the crawler or operator NAME; can be repeated
    ///
    /// FILE is the JSON that operators publish, or has an address or CIDR prefix on each line. `reptile agents --json`
    /// has the URLs of published lists. A client is verified or failed, or no check is possible: for crawlers without a
    /// list, and for an address outside a list that is older than the request, because the operator may have added it
    /// since.
    #[arg(long, value_name = "NAME=FILE", value_parser = NamedFile::parse)]
    pub ranges: Vec<NamedFile>,
    /// When the files of --ranges were fetched [default: the creationTime in each]
    #[arg(long, value_name = "TIME", value_parser = WrittenTime::parse, requires = "ranges", allow_negative_numbers = true)]
    pub ranges_at: Option<WrittenTime>,
    /// Check clients by DNS names: FILE has an address, a tab and a name on each line
    ///
    /// The names must come from reverse lookups that forward lookups have confirmed. The command looks nothing up.
    #[arg(long, value_name = "FILE")]
    pub dns: Option<Place>,
    #[command(flatten)]
    pub tables: TableOptions,
    /// How long an earlier robots.txt may be obeyed [default: 24h]
    ///
    /// For example 90m or 0s. The period begins when SET's capture of the new file was fetched. A delivery network may
    /// serve the old file for another day.
    #[arg(long, value_name = "DURATION", value_parser = Grace::parse, default_value = "24h", hide_default_value = true)]
    pub grace: Grace,
    /// Write a row for each disallowed request; in the order of time
    ///
    /// The extension .tsv, .csv, .jsonl, .parquet, .arrow or .arrows selects the format, and .gz or .zst after it
    /// selects compression. TSV and CSV begin with the columns' names.
    #[arg(long, value_name = "FILE", group = "files")]
    pub violations: Option<Place>,
    /// Write an HTML report with a timeline for each crawler; the page needs no network
    #[arg(long, value_name = "FILE.html", group = "files")]
    pub report: Option<Place>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Replace output files if they exist
    #[arg(long, requires = "files")]
    pub force: bool,
    #[command(flatten)]
    pub set_options: SetOptions,
    #[command(flatten)]
    pub metrics: MetricsOptions,
    #[command(flatten)]
    pub threads: crate::Threads,
}

impl Args {
    /// Returns the output files.
    pub fn outputs(&self) -> impl Iterator<Item = &Place> {
        [&self.violations, &self.report].into_iter().flatten()
    }

    /// Returns the columns to read, and the positions of the status and the client among them.
    pub fn wanted(&self) -> (Vec<ColumnOption>, AuditCells) {
        let named = |option, name: &str| ColumnOption { option, name: Some(name.to_owned()) };
        let agent = self.agent.as_ref().map_or("user_agent", |agent| &agent.column);
        let mut wanted = vec![
            ColumnOption { option: URL_OPTION, name: self.tables.url_column() },
            named(AT_OPTION, self.at.as_deref().unwrap_or("time")),
            named("--agent", agent),
        ];
        let mut add = |option, name: Option<&str>| {
            wanted.push(named(option, name?));
            Some(wanted.len() - 1)
        };
        let status = match &self.status {
            None => Some("status"),
            Some(OptionalColumn(name)) => name.as_deref(),
        };
        let client = self.client.as_deref().or(self.checks_clients().then_some("client"));
        let cells = AuditCells { status: add("--status", status), client: add("--client", client) };
        (wanted, cells)
    }

    /// Returns whether clients are checked.
    pub fn checks_clients(&self) -> bool {
        !self.ranges.is_empty() || self.dns.is_some()
    }

    /// Reads the known addresses of crawlers, if clients are checked.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, or has another format.
    pub fn identities(&self) -> Result<Option<Arc<Identities>>> {
        if !self.checks_clients() {
            return Ok(None);
        }
        let as_of = self.ranges_at.map(|time| time.in_zone(&self.zone.timezone)).transpose();
        let as_of = as_of.map_err(|error| Failure::new(format!("--ranges-at: {error}")))?;
        Ok(Some(Arc::new(Identities::read(&self.ranges, self.dns.as_ref(), as_of)?)))
    }

    /// Adds a remedy to the error about a missing column of statuses that the user did not name.
    pub fn with_remedy(&self, failure: Failure) -> Failure {
        let message = failure.to_string();
        match self.status.is_none() && message.contains("--status") {
            true => Failure::new(format!("{message}; --status none leaves the statuses out")),
            false => failure,
        }
    }

    /// Returns whether crawlers' names are used unchanged.
    pub fn is_exact(&self) -> bool {
        self.agent.as_ref().is_some_and(|agent| agent.is_exact)
    }
}

/// The column of crawlers.
#[derive(Clone, Debug)]
pub struct AgentColumn {
    column: String,
    is_exact: bool,
}

impl AgentColumn {
    fn parse(text: &str) -> std::result::Result<AgentColumn, String> {
        let (is_exact, name) = text.strip_prefix(EXACT).map_or((false, text), |name| (true, name));
        Ok(AgentColumn { column: column(name)?, is_exact })
    }
}

/// A column that the user may leave out.
#[derive(Clone, Debug)]
pub struct OptionalColumn(Option<String>);

impl OptionalColumn {
    fn parse(text: &str) -> std::result::Result<OptionalColumn, String> {
        Ok(OptionalColumn(if text == "none" { None } else { Some(column(text)?) }))
    }
}

/// Returns the name of a column in braces.
fn column(text: &str) -> std::result::Result<String, String> {
    column_of(text)
        .map(str::to_owned)
        .ok_or_else(|| "expected a column's name in braces, such as '{user_agent}'".to_owned())
}

/// The grace period after a change.
#[derive(Clone, Copy, Debug)]
pub struct Grace(i64);

/// Maximum grace period in seconds: a year. Longer ones would excuse everything.
pub const MAX_GRACE_SECONDS: i64 = 365 * 86_400;

impl Grace {
    fn parse(text: &str) -> std::result::Result<Grace, String> {
        let expected = "expected a number with a unit, such as 24h, 90m or 0s, up to 365 days (8760h)";
        let (number, factor) = [("h", 3600), ("m", 60), ("s", 1)]
            .iter()
            .find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)))
            .ok_or(expected)?;
        let number = number.parse::<u32>().map_err(|_| expected)?;
        let seconds = i64::from(number) * factor;
        if seconds > MAX_GRACE_SECONDS { Err(expected.into()) } else { Ok(Grace(seconds)) }
    }

    /// Returns the period in seconds.
    pub fn seconds(self) -> i64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grace_periods_have_a_unit_and_a_limit() {
        for (text, expected) in [
            ("24h", Some(86_400)),
            ("90m", Some(5_400)),
            ("0s", Some(0)),
            ("8759h", Some(MAX_GRACE_SECONDS - 3_600)),
            ("8760h", Some(MAX_GRACE_SECONDS)),
            ("31536000s", Some(MAX_GRACE_SECONDS)),
            ("31536001s", None),
            ("8761h", None),
            ("24", None),
            ("h", None),
            ("-1h", None),
            ("1d", None),
            ("1.5h", None),
        ] {
            assert_eq!(Grace::parse(text).ok().map(Grace::seconds), expected, "{text}");
        }
    }
}
