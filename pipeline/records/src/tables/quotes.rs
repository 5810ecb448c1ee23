//! Quotes in delimited text: where rows end, and whether that depends on the program that wrote them.
//!
//! Programs write a quote in a quoted cell twice (RFC 4180), or after a backslash (Spark). Unless the user says which,
//! both are tried where a backslash precedes a quote, and the row continues until both end. A reading ends if its
//! program cannot have written the row, because text follows a closing quote. In TSV a quote may also be text.

use memchr::{memchr, memchr2};

/// The way to write a quote in a quoted cell.
///
/// ```
/// use reptile_records::tables::quotes::Escape;
///
/// assert_eq!(Escape::of_name("backslash"), Ok(Escape::Backslash));
/// assert_eq!(Escape::of_name("\""), Ok(Escape::Quote));
/// assert!(Escape::of_name("/").is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escape {
    /// Twice, as in RFC 4180.
    Quote,
    /// After a backslash, and a backslash after another one, as Spark writes.
    Backslash,
}

impl Escape {
    /// Returns the escape with this name, or this character.
    ///
    /// # Errors
    /// Returns an error if there is no such escape.
    pub fn of_name(name: &str) -> Result<Escape, String> {
        match name {
            "\\" => Ok(Escape::Backslash),
            "\"" => Ok(Escape::Quote),
            _ if name.eq_ignore_ascii_case("backslash") => Ok(Escape::Backslash),
            _ if name.eq_ignore_ascii_case("quote") => Ok(Escape::Quote),
            _ => Err("expected backslash, or quote for doubled quotes".into()),
        }
    }
}

/// A table's rules for quotes.
///
/// ```
/// use reptile_records::tables::{COMMA, quotes::Quoting};
///
/// assert_eq!(Quoting::csv(COMMA).escape, None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quoting {
    /// The byte between cells.
    pub delimiter: u8,
    /// The way to write a quote in a quoted cell, if it is known.
    pub escape: Option<Escape>,
    /// Whether a quote at a cell's start may be text, because the table may be TSV without quotes.
    pub may_be_plain: bool,
}

impl Quoting {
    /// Returns the rules for CSV with this delimiter and an unknown escape.
    #[must_use]
    pub fn csv(delimiter: u8) -> Quoting {
        Quoting { delimiter, escape: None, may_be_plain: false }
    }
}

/// The state between two bytes of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum QuoteState {
    /// At a cell's first byte.
    #[default]
    CellStart,
    /// In a cell, outside quotes.
    Cell,
    /// In a cell, inside quotes.
    Quoted,
    /// After a backslash that escapes the next byte.
    Escaped,
    /// After a quote inside quotes. It closes them unless another quote follows.
    AfterQuote,
    /// After a closing quote and a CR, which only a line end may follow.
    AfterCr,
    /// In a row of TSV without quotes.
    Plain,
}

impl QuoteState {
    fn is_open(self) -> bool {
        matches!(self, QuoteState::Quoted | QuoteState::Escaped)
    }

    /// Returns the next state if backslashes escape quotes, or `None` if no program with this rule writes the byte.
    fn next_with_backslashes(self, byte: u8, delimiter: u8) -> Option<QuoteState> {
        let ends_cell = byte == delimiter || byte == b'\n';
        Some(match (self, byte) {
            (QuoteState::Quoted, b'"') => QuoteState::AfterQuote,
            (QuoteState::Quoted, b'\\') => QuoteState::Escaped,
            (QuoteState::Quoted | QuoteState::Escaped, _) => QuoteState::Quoted,
            (QuoteState::AfterCr, byte) if byte != b'\n' => return None,
            _ if ends_cell => QuoteState::CellStart,
            (QuoteState::AfterQuote, b'\r') => QuoteState::AfterCr,
            (QuoteState::AfterQuote, _) => return None,
            (QuoteState::CellStart, b'"') => QuoteState::Quoted,
            _ => QuoteState::Cell,
        })
    }
}

/// A row scan. Each byte is read once, even if the row arrives in many pieces.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scan {
    /// The state with the known escape, or else with doubled quotes.
    pub state: QuoteState,
    /// Number of bytes read.
    pub len: usize,
    /// Offset of the last opening quote.
    pub quote: usize,
    /// Whether text follows a closing quote.
    pub is_broken: bool,
    /// Whether an odd number of backslashes in quotes precedes the next byte.
    is_odd: bool,
    /// The state if backslashes escape quotes, once it differs from `state`.
    other: Option<QuoteState>,
    /// Whether backslashes cannot escape quotes in this row, or it would end up the same.
    is_settled: bool,
    /// Whether the row contains a line end that only one reading has in quotes.
    is_split: bool,
}

impl Scan {
    /// Continues scanning a row that begins with `row`. Returns the row's length if it ends. Time: linear in the bytes
    /// not read before.
    pub fn read(&mut self, row: &[u8], quoting: Quoting) -> Option<usize> {
        loop {
            if self.other.is_none() {
                self.skip(row, quoting.delimiter);
                if self.step(row, quoting) {
                    continue;
                }
            }
            if self.push(*row.get(self.len)?, quoting) {
                return Some(self.len);
            }
        }
    }

    /// Reads the bytes at a usual quote at once, for speed. Returns whether it has read any.
    fn step(&mut self, row: &[u8], quoting: Quoting) -> bool {
        let rest = row.get(self.len..).unwrap_or_default();
        match (self.state, rest) {
            (QuoteState::CellStart, [b'"', ..]) => {
                self.quote = self.len;
                self.len += 1;
                self.state = QuoteState::Quoted;
            }
            (QuoteState::Quoted, [b'"', next, ..]) if *next == quoting.delimiter && !self.is_odd => {
                self.len += 2;
                self.state = QuoteState::CellStart;
            }
            (QuoteState::Quoted, [b'"', b'"', ..]) if quoting.escape != Some(Escape::Backslash) && !self.is_odd => {
                self.len += 2;
                self.is_settled = true;
            }
            _ => return false,
        }
        true
    }

    /// Skips bytes that do not matter.
    fn skip(&mut self, row: &[u8], delimiter: u8) {
        let rest = row.get(self.len..).unwrap_or_default();
        let end = match self.state {
            QuoteState::CellStart if rest.first() == Some(&b'"') => return,
            // Outside quotes, a quote after a delimiter is a cell's first byte.
            QuoteState::CellStart | QuoteState::Cell => memchr2(b'"', b'\n', rest),
            QuoteState::Quoted => memchr(b'"', rest),
            QuoteState::Plain => memchr(b'\n', rest),
            QuoteState::Escaped | QuoteState::AfterQuote | QuoteState::AfterCr => return,
        };
        let skipped = &rest[..end.unwrap_or(rest.len())];
        self.len += skipped.len();
        match (self.state, skipped.last()) {
            (QuoteState::CellStart | QuoteState::Cell, Some(&last)) => {
                self.state = if last == delimiter { QuoteState::CellStart } else { QuoteState::Cell };
            }
            (QuoteState::Quoted, _) => self.is_odd = ends_oddly(skipped, self.is_odd),
            _ => {}
        }
    }

    /// Skips bytes in quotes up to the next quote, if both readings agree. Returns their number.
    pub fn skip_quoted(&mut self, bytes: &[u8]) -> usize {
        if self.state != QuoteState::Quoted || self.other.is_some() {
            return 0;
        }
        let before = std::mem::take(&mut self.len);
        self.skip(bytes, b'"');
        let skipped = self.len;
        self.len += before;
        skipped
    }

    /// Reads a byte. Returns whether it ends the row.
    pub fn push(&mut self, byte: u8, quoting: Quoting) -> bool {
        self.len += 1;
        if byte == b'\n' {
            let (is_open, is_other_open) = (self.state.is_open(), self.other.map(QuoteState::is_open));
            if !is_open && is_other_open != Some(true) {
                return true;
            }
            self.is_split |= is_other_open.is_some_and(|other| other != is_open);
        }
        let other = self.other.map(|other| other.next_with_backslashes(byte, quoting.delimiter));
        self.state = self.next(byte, quoting);
        match other {
            Some(Some(state)) => self.other = Some(state),
            Some(None) => (self.other, self.is_settled) = (None, true),
            None => {}
        }
        false
    }

    /// Returns the next state, and begins the other reading where it differs.
    fn next(&mut self, byte: u8, quoting: Quoting) -> QuoteState {
        let is_escaped = std::mem::take(&mut self.is_odd);
        let ends_cell = byte == quoting.delimiter || byte == b'\n';
        match (self.state, byte) {
            (QuoteState::Plain, _) => QuoteState::Plain,
            (QuoteState::Quoted, b'"') if is_escaped && quoting.escape == Some(Escape::Backslash) => QuoteState::Quoted,
            (QuoteState::Quoted, b'"') => {
                if is_escaped && quoting.escape.is_none() && !self.is_settled && self.other.is_none() {
                    self.other = Some(QuoteState::Quoted);
                }
                QuoteState::AfterQuote
            }
            (QuoteState::Quoted | QuoteState::Escaped, _) => {
                self.is_odd = byte == b'\\' && !is_escaped;
                QuoteState::Quoted
            }
            (QuoteState::AfterQuote, b'"') if quoting.escape != Some(Escape::Backslash) => {
                self.is_settled |= self.other.is_none();
                QuoteState::Quoted
            }
            (QuoteState::AfterCr, byte) if byte != b'\n' => self.broken(byte, quoting),
            _ if ends_cell => QuoteState::CellStart,
            (QuoteState::AfterQuote, b'\r') => QuoteState::AfterCr,
            (QuoteState::AfterQuote, _) => self.broken(byte, quoting),
            (QuoteState::CellStart, b'"') => {
                self.quote = self.len - 1;
                QuoteState::Quoted
            }
            _ => QuoteState::Cell,
        }
    }

    /// Returns the state after a byte, if text follows a closing quote.
    fn broken(&mut self, byte: u8, quoting: Quoting) -> QuoteState {
        self.is_settled |= self.other.is_none();
        self.is_broken = true;
        match byte {
            _ if quoting.may_be_plain => QuoteState::Plain,
            byte if byte == quoting.delimiter => QuoteState::CellStart,
            _ => QuoteState::Cell,
        }
    }

    /// Returns whether the row cannot end here.
    pub fn is_open(&self) -> bool {
        self.state.is_open() || self.other.is_some_and(QuoteState::is_open)
    }

    /// Returns whether the row was read to different ends, or has different cells, depending on the escape.
    pub fn is_unclear(&self) -> bool {
        self.other.is_some() || self.is_split
    }

    /// Returns the scan with which a long row's next piece continues.
    pub fn next_piece(self) -> Scan {
        // A quote that opens in this piece has an offset in it; an earlier quote has no offset.
        Scan { len: 0, quote: usize::MAX, ..self }
    }

    /// Returns whether the next byte may belong to a quoted cell.
    pub fn is_in_quotes(&self) -> bool {
        self.other.is_some() || matches!(self.state, QuoteState::Quoted | QuoteState::AfterQuote)
    }
}

/// Returns whether text after an even or odd number of backslashes ends with an odd number of them.
#[inline]
pub(crate) fn ends_oddly(text: &[u8], is_odd_before: bool) -> bool {
    // Nearly no text does, and the loop below is not inlined.
    if !matches!(text, [] | [.., b'\\']) {
        return false;
    }
    let count = text.iter().rev().take_while(|&&byte| byte == b'\\').count();
    (count % 2 == 1) != (count == text.len() && is_odd_before)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows as text, the length up to the end, and whether they are unclear or broken.
    #[test]
    fn rows_end_where_both_readings_end() {
        type Case = (&'static str, Option<usize>, bool, bool);
        let cases: [Case; 19] = [
            ("a,b\nc", Some(4), false, false),
            ("\"a\nb\",c\nd", Some(8), false, false),
            ("\"a\"\"\nb\",c\nd", Some(10), false, false),
            ("\"a\"x\nb", Some(5), false, true),
            ("\"a\"\r\nb", Some(5), false, false),
            ("\"a\"\r,b\nb", Some(7), false, true),
            // Only Spark writes this.
            ("\"a \\\"b\\\"\",c\nd", Some(12), true, true),
            ("\"a\\\"\nb\",c\nd", Some(10), true, false),
            ("\"a\\\",\\\"\nb\",c\nd", Some(13), true, false),
            // Only programs that double quotes write this.
            ("\"a\\\",\"b\"\nd", Some(9), false, false),
            ("\"a\"\"\\\"\nb\",c\nd", Some(7), false, false),
            ("\"5\\\"\"\n\",c\nd", None, true, false),
            // A backslash before a backslash is not before the quote.
            ("\"a\\\\\",b\nd", Some(8), false, false),
            ("\"a\\\\\\\",b\nd", None, true, false),
            ("a\\\",b\nd", Some(6), false, false),
            ("a,\"b", None, false, false),
            ("a,\"b\\\"", None, true, false),
            ("a,\"b\\\"\nc\n", None, true, false),
            ("\"a\\\"\nb\"x\nd", Some(9), true, false),
        ];
        for (text, len, is_unclear, is_broken) in cases {
            for piece in 1..=text.len() {
                let mut scan = Scan::default();
                let ends = (piece..=text.len()).find_map(|len| scan.read(&text.as_bytes()[..len], Quoting::csv(b',')));
                assert_eq!((ends, scan.is_unclear(), scan.is_broken), (len, is_unclear, is_broken), "{text:?} {piece}");
            }
        }
        let tsv = Quoting { may_be_plain: true, ..Quoting::csv(b'\t') };
        let backslash = Quoting { escape: Some(Escape::Backslash), ..Quoting::csv(b',') };
        let quote = Quoting { escape: Some(Escape::Quote), ..Quoting::csv(b',') };
        for (text, quoting, len) in [
            ("\"a\" b\t\"c\nd\n", tsv, Some(9)),
            ("\"a\tb\nc\"\td\ne\n", tsv, Some(10)),
            ("\"a\tb\nc \"d\"\ne\n", tsv, Some(11)),
            ("\"a\\\"\nb\",c\nd", backslash, Some(10)),
            ("\"a\\\\\"\nb\",c\nd", backslash, Some(6)),
            ("\"a\"\"\nb\",c\nd", backslash, Some(5)),
            ("\"a\\\"\nb\",c\nd", quote, Some(5)),
        ] {
            assert_eq!(Scan::default().read(text.as_bytes(), quoting), len, "{text:?}");
        }
    }
}
