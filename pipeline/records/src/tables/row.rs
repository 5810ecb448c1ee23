//! A row of a table, the same for every reader: the wanted cells, and the reasons why a row is invalid.

/// Maximum number of columns that a command uses.
pub const MAX_CELLS: usize = 5;

/// Maximum number of cells that are read from a row: the parts of a URL, and the other wanted cells.
pub(crate) const MAX_RAW_CELLS: usize = PART_COUNT + MAX_CELLS - 1;

/// A row's wanted cells, in the requested order. A missing cell is `None`.
pub type Cells<'b> = [Option<&'b [u8]>; MAX_CELLS];

/// A column that a command uses.
#[derive(Clone, Debug)]
pub struct ColumnOption {
    /// The option that names the column, for messages.
    pub option: &'static str,
    /// The user's name for the column: a name, or a number from 1. `None` is the URL column.
    pub name: Option<String>,
}

/// Number of parts of a URL that a column may hold.
pub const PART_COUNT: usize = 5;

/// Returns whether a cell looks like a URL: it starts with a scheme and `://`.
pub fn is_url(cell: &[u8]) -> bool {
    let scheme = cell.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte)).count();
    scheme > 0 && cell[scheme..].starts_with(b"://")
}

/// Names of URL columns that are found by default, in lower case.
const URL_NAMES: [&str; 2] = ["url", "uri"];

/// Returns whether a column name indicates URLs.
pub fn is_url_name(name: &[u8]) -> bool {
    URL_NAMES.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

/// Stores the cells with these numbers in `cells`.
#[inline]
pub fn pick<'b>(all: impl Iterator<Item = &'b [u8]>, numbers: &[usize], cells: &mut [Option<&'b [u8]>]) {
    let last = numbers.iter().copied().max().unwrap_or(0);
    for (at, found) in all.take(last + 1).enumerate() {
        for (cell, _) in cells.iter_mut().zip(numbers).filter(|(_, number)| **number == at) {
            *cell = Some(found);
        }
    }
}

/// The reason why a row has no cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The row is longer than [`MAX_LINE_BYTES`](crate::lines::MAX_LINE_BYTES).
    TooLong,
    /// The row opens a quote that is still unclosed at the input's end.
    Unclosed,
    /// The row is not a JSON object.
    NotJson,
    /// The row lacks the first wanted column.
    NoCell,
    /// The second wanted column does not contain a valid time.
    NoTime,
    /// The row is not a CDX line with a cell for each column.
    NotCdx,
    /// The row is not a CDXJ line.
    NotCdxj,
    /// The row is not an access log line.
    NotLog,
    /// The access log line is for a connection without a request.
    NoRequest,
    /// The request is not an HTTP request.
    BrokenRequest,
    /// The request is not for a URL.
    NoTarget,
    /// The request's host is unknown.
    NoHost,
    /// The URL's scheme is unknown, or is not http, https or ftp.
    NoScheme,
    /// The host's cell is not a host.
    NotHost,
    /// The port's cell is not a port, or the host has a port too.
    NotPort,
    /// The path's cell does not begin with a slash.
    NotPath,
    /// Both the path and the query's cell have a query.
    TwoQueries,
    /// The request is for another host than the log's.
    OtherHost,
    /// The line has two readings with different cells.
    TwoReadings,
    /// The row has fewer cells than the first row.
    FewCells,
    /// The row has more cells than the first row, and they are not empty.
    ManyCells,
    /// Text follows a closing quote.
    AfterQuote,
    /// The row's cells depend on the meaning of backslashes.
    Escape,
    /// The row's cells depend on the meaning of a quote at the start of a TSV cell.
    Quote,
    /// The row begins with a byte order mark.
    Mark,
    /// The row repeats the header.
    SecondHeader,
    /// A JSON object has a wanted field twice.
    TwoFields,
    /// A line of a list has a space within its text.
    Space,
    /// A line of an access log describes the log.
    Directive,
}

impl Fault {
    /// All faults in numeric order.
    pub const ALL: [Fault; 29] = [
        Fault::TooLong,
        Fault::Unclosed,
        Fault::NotJson,
        Fault::NoCell,
        Fault::NoTime,
        Fault::NotCdx,
        Fault::NotCdxj,
        Fault::NotLog,
        Fault::NoRequest,
        Fault::BrokenRequest,
        Fault::NoTarget,
        Fault::NoHost,
        Fault::NoScheme,
        Fault::NotHost,
        Fault::NotPort,
        Fault::NotPath,
        Fault::TwoQueries,
        Fault::OtherHost,
        Fault::TwoReadings,
        Fault::FewCells,
        Fault::ManyCells,
        Fault::AfterQuote,
        Fault::Escape,
        Fault::Quote,
        Fault::Mark,
        Fault::SecondHeader,
        Fault::TwoFields,
        Fault::Space,
        Fault::Directive,
    ];

    /// Returns the problem's name in files for programs. Names do not change.
    pub fn name(self) -> &'static str {
        match self {
            Fault::TooLong => "too-long",
            Fault::Unclosed => "unclosed-quote",
            Fault::NotJson => "not-json",
            Fault::NoCell => "no-cell",
            Fault::NoTime => "no-time",
            Fault::NotCdx => "not-cdx",
            Fault::NotCdxj => "not-cdxj",
            Fault::NotLog => "not-a-log-line",
            Fault::NoRequest => "empty-request",
            Fault::BrokenRequest => "broken-request",
            Fault::NoTarget => "no-target",
            Fault::NoHost => "no-host",
            Fault::NoScheme => "no-scheme",
            Fault::NotHost => "not-a-host",
            Fault::NotPort => "not-a-port",
            Fault::NotPath => "not-a-path",
            Fault::TwoQueries => "two-queries",
            Fault::OtherHost => "other-host",
            Fault::TwoReadings => "two-readings",
            Fault::FewCells => "fewer-cells",
            Fault::ManyCells => "more-cells",
            Fault::AfterQuote => "text-after-quote",
            Fault::Escape => "unclear-backslash",
            Fault::Quote => "unclear-quote",
            Fault::Mark => "byte-order-mark",
            Fault::SecondHeader => "second-header",
            Fault::TwoFields => "field-twice",
            Fault::Space => "space",
            Fault::Directive => "directive",
        }
    }
}
