//! Input rows as the decider sees them: [`Line`].

use reptile::UrlParts;
use reptile::capture::Time;
use reptile_records::lines::trimmed_url;
use reptile_records::tables::{Fault, Row};
use reptile_records::time::{Zone, read_time};

use crate::by_row::NamedRow;

/// Returns a split URL without surrounding white space, consistent with [`trimmed_url`] for the joined URL.
#[inline]
pub(crate) fn trimmed_parts<'b>(mut parts: UrlParts<'b>) -> UrlParts<'b> {
    let is_white = |byte: Option<&u8>| byte.is_some_and(|&byte| byte <= b' ');
    if is_white(parts.scheme.first()) {
        parts.scheme = trimmed_url(parts.scheme);
    }
    let last = parts.query.unwrap_or(parts.path);
    if is_white(last.last()) {
        let len = last.iter().rposition(|&byte| byte > b' ').map_or(0, |at| at + 1);
        match &mut parts.query {
            Some(query) => *query = &last[..len],
            None => parts.path = &last[..len],
        }
    }
    parts
}

/// Returns the time in the second selected cell. A row without one gets a fault.
pub(crate) fn time_of(row: &mut Row<'_>, zone: &Zone) -> Option<Time> {
    let cell = row.cells[1].and_then(|cell| str::from_utf8(cell).ok());
    let time = cell.and_then(|cell| read_time(cell, zone).ok());
    if time.is_none() && row.fault.is_none() {
        row.fault = Some(Fault::NoTime);
    }
    time
}

/// An input row: the available bytes from its URL onwards, and the URL's length. List lines have no other data and
/// therefore need little memory.
pub(crate) struct Line<'b> {
    pub(crate) rest: &'b [u8],
    pub(crate) len: usize,
    /// The length of a list line, including its line end.
    pub(crate) row_len: usize,
    /// Other data for a table row.
    pub(crate) cells: Option<&'b Cells<'b>>,
}

/// A table row without its URL.
pub(crate) struct Cells<'b> {
    /// The whole row with its line end.
    pub(crate) row: &'b [u8],
    /// The reason for a missing URL, if any.
    pub(crate) fault: Option<Fault>,
    /// The row's time, if it has one and row times are used.
    pub(crate) time: Option<Time>,
    /// The cell with the crawler's name, if there is one.
    pub(crate) agent: &'b [u8],
    /// Number of preceding line ends in the block; for CSV only if rejected rows are requested.
    pub(crate) line_ends: u64,
}

impl<'b> Line<'b> {
    /// Returns the whole row with its line end.
    pub(crate) fn row(&self) -> &'b [u8] {
        self.cells.map_or_else(|| &self.rest[..self.row_len], |cells| cells.row)
    }

    /// Returns whether the row has no cell for the URL, not even an empty one.
    pub(crate) fn is_null(&self) -> bool {
        self.cells.is_some_and(|cells| cells.fault == Some(Fault::NoCell))
    }

    /// Returns whether the row is valid in its format.
    pub(crate) fn is_readable(&self) -> bool {
        let fault = self.cells.and_then(|cells| cells.fault);
        !matches!(fault, Some(Fault::NotJson | Fault::TooLong))
    }
}

impl NamedRow for Line<'_> {
    fn crawler(&self) -> &[u8] {
        self.cells.map_or(&[], |cells| cells.agent)
    }

    fn time(&self) -> Option<Time> {
        self.cells.and_then(|cells| cells.time)
    }
}

/// A text that is invalid everywhere: neither a URL nor a path that begins with a slash.
const INVALID_URL: &[u8] = b"no URL";

/// The URL to decide, without surrounding white space. A row whose URL could not be read has an invalid one.
impl AsRef<[u8]> for Line<'_> {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        if self.cells.is_some_and(|cells| cells.fault.is_some()) {
            return INVALID_URL;
        }
        trimmed_url(self.url())
    }
}

impl<'b> Line<'b> {
    /// Returns the URL as given.
    pub(crate) fn url(&self) -> &'b [u8] {
        &self.rest[..self.len]
    }
}
