//! Invalid lines that are too long for a URL or a table row, processed in parts.

use std::ops::Range;

use reptile::{Reason, Verdict};

use super::cells::Known;
use super::{Answers, Decider};
use crate::outputs::columns::{self, Cell};
use reptile_records::tables::{Fault, Format, Table};
use reptile_records::text::opaque_column;

/// Part of an overlong line, without its line end.
pub struct LongPart<'b> {
    /// The bytes.
    pub text: &'b [u8],
    /// Number of line ends in the part and directly after it.
    pub line_ends: u64,
    /// Whether this is the first part.
    pub is_first: bool,
    /// Whether this is the last part.
    pub is_last: bool,
}

impl Decider {
    /// Copies part of a line that is too long for a URL or a table row. For a table, nothing is copied unless whole
    /// rows are wanted. The cells, with the verdict `invalid`, follow the last part, or precede a row's first part.
    pub fn pass_on(&self, table: &Table, part: &LongPart<'_>, answers: &mut Answers) {
        answers.clear(self.tallies());
        let is_list = table.format == Format::List;
        // A long CSV row may have line ends in each part.
        answers.line_ends = part.line_ends;
        if part.is_first && !is_list {
            answers.faults.first.push((0, Fault::TooLong));
        }
        if part.is_last {
            answers.lines = 1;
            answers.tally.iter_mut().for_each(|counts| counts[Verdict::Invalid as usize] = 1);
            if !is_list {
                answers.faults.counts[Fault::TooLong as usize] = 1;
            }
        }
        let mut buffer = Vec::new();
        if let Some(only) = self.only {
            if only == self.layout.taken[Verdict::Invalid as usize] {
                self.push_text(part, &mut buffer);
                answers.text.push(&buffer);
            }
            return;
        }
        // The URL's cell is written as its parts arrive, except in Parquet, where the length comes first. No URL is
        // that long.
        let url = self.order.iter().position(|&cell| cell == Cell::Url);
        let url = url.filter(|_| self.layout.format != columns::Format::Parquet);
        let (all, has_row) = (self.order.len(), self.layout.has_row);
        if let Some(url) = url {
            let quote: &[u8] = if self.layout.format == columns::Format::Jsonl { b"\"" } else { b"" };
            if part.is_first {
                self.push_invalid(0..url, &mut buffer);
                buffer.extend_from_slice(&[&self.leads[url], quote].concat());
            }
            if is_list {
                self.layout.format.push_part(part.text, &mut buffer);
            }
            if part.is_last {
                buffer.extend_from_slice(quote);
            }
        }
        // If the row is copied, it contains the URL, which needs no cell.
        if if has_row { part.is_first } else { part.is_last } {
            self.push_invalid(url.map_or(0, |url| url + 1)..all, &mut buffer);
            buffer.extend_from_slice(&self.end);
        }
        if has_row {
            self.push_part(part, &mut buffer);
        }
        answers.text.push(&buffer);
    }

    /// Appends some cells for a row without a URL.
    fn push_invalid(&self, cells: Range<usize>, buffer: &mut Vec<u8>) {
        let reason = Reason::NoUrl.to_string();
        let (verdicts, explained): (Vec<_>, Vec<_>) =
            self.names.iter().map(|_| (Verdict::Invalid, Err(&*reason))).unzip();
        let crawler = self.is_by_row().then_some("");
        let known = Known { url: b"", verdicts: &verdicts, crawler, fetched_at: None, explained: Some(&explained) };
        self.push_cells(cells, &known, buffer);
    }

    /// Appends part of an input row. Unreadable JSON rows are omitted.
    fn push_part(&self, part: &LongPart<'_>, buffer: &mut Vec<u8>) {
        let is_json = self.layout.format == columns::Format::Jsonl;
        if is_json && part.is_first {
            self.layout.push_row(b"", false, buffer);
        } else if !is_json {
            self.push_text(part, buffer);
        }
    }

    /// Appends part of an input row, unchanged or made safe for a terminal.
    fn push_text(&self, part: &LongPart<'_>, buffer: &mut Vec<u8>) {
        match self.shows_rows {
            true => buffer.extend(opaque_column(part.text)),
            false => buffer.extend_from_slice(part.text),
        }
        if part.is_last {
            buffer.push(b'\n');
        }
    }
}
