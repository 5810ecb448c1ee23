//! Invalid lines that are too long for a URL or a table row, processed in parts.

use std::ops::Range;

use reptile::Verdict;
use reptile_records::tables::{self, Fault, Table};
use reptile_records::text::opaque_column;

use super::format::{AnswerFormat, safe_cells};
use super::rows::AnswerRows;
use super::{Answers, TableDecider, push_row};
use crate::column::Cell;
use crate::decide::{DecidedRow, ExplainedOrReason, RowReasons};

/// The reason for a row without a URL, as [`reptile::Reason::NoUrl`] shows it.
const NO_URL: &str = "no URL";

/// The reason for a line that is too long for a URL, as [`reptile::Reason::LongUrl`] shows it.
const LONG_URL: &str = "URL over 64 KiB";

/// Part of an overlong line, without its line end, for [`TableDecider::pass_on`].
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

impl TableDecider {
    /// Copies part of a line that is too long for a URL or a table row. A table's line is copied only if input rows are
    /// written. The cells, with the verdict `invalid`, follow the last part, or precede a row's first part.
    pub fn pass_on(&self, table: &Table, part: &LongPart<'_>, answers: &mut Answers) {
        self.prepare(answers);
        let is_list = table.format == tables::Format::List;
        let reason = if is_list { LONG_URL } else { NO_URL };
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
        let all = 0..self.decider.order().len();
        let rows = match &mut answers.rows {
            AnswerRows::Text(rows) => rows,
            // Only text has overlong lines.
            AnswerRows::Selected(_) => return,
            AnswerRows::Columns(columns) => {
                // A text's length comes first in Parquet and Arrow. No URL is that long, so the URL is null.
                if part.is_last {
                    self.with_invalid(reason, |row| {
                        for (&cell, column) in self.decider.order().iter().zip(&mut *columns) {
                            self.decider.write_cell(cell, row, &mut safe_cells(column));
                        }
                    });
                }
                return;
            }
        };
        let mut buffer = Vec::new();
        if let Some(only) = self.only {
            if only == self.decider.layout().written[Verdict::Invalid as usize] {
                self.push_text(part, &mut buffer);
                rows.push(&buffer);
            }
            return;
        }
        // The URL's cell is written as its parts arrive.
        let url = self.decider.order().iter().position(|&cell| cell == Cell::Url);
        if let Some(url) = url {
            let quote: &[u8] = if self.format == AnswerFormat::Jsonl { b"\"" } else { b"" };
            if part.is_first {
                self.push_invalid(reason, 0..url, &mut buffer);
                buffer.extend_from_slice(&[&self.texts.leads[url], quote].concat());
            }
            if is_list {
                self.format.push_part(part.text, &mut buffer);
            }
            if part.is_last {
                buffer.extend_from_slice(quote);
            }
        }
        // If the row is copied, it contains the URL, which needs no cell.
        if if self.has_row { part.is_first } else { part.is_last } {
            self.push_invalid(reason, url.map_or(0, |url| url + 1)..all.end, &mut buffer);
            buffer.extend_from_slice(&self.texts.end);
        }
        if self.has_row {
            self.push_part(part, &mut buffer);
        }
        rows.push(&buffer);
    }

    /// Appends some cells for a row without a URL.
    fn push_invalid(&self, reason: &'static str, cells: Range<usize>, buffer: &mut Vec<u8>) {
        self.with_invalid(reason, |row| self.texts.push_cells(&self.decider, cells, row, buffer));
    }

    /// Runs `write` with a row without a URL.
    fn with_invalid(&self, reason: &'static str, write: impl FnOnce(&DecidedRow<'_>)) {
        let crawlers = self.decider.crawlers().names().len();
        let verdicts = vec![Verdict::Invalid; crawlers];
        let explained: Vec<ExplainedOrReason> = (0..crawlers).map(|_| Err(reason)).collect();
        let crawler = self.decider.is_by_row().then_some("");
        write(&DecidedRow { url: b"", verdicts: &verdicts, crawler, why: RowReasons::Explained(&explained) });
    }

    /// Appends part of an input row. Unreadable JSON rows are omitted.
    fn push_part(&self, part: &LongPart<'_>, buffer: &mut Vec<u8>) {
        let is_json = self.format == AnswerFormat::Jsonl;
        if is_json && part.is_first {
            push_row(self.format, b"", false, buffer);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlong_lines_have_the_reason_of_invalid_urls() {
        assert_eq!(NO_URL, reptile::Reason::NoUrl.to_string());
        assert_eq!(LONG_URL, reptile::Reason::LongUrl.to_string());
    }
}
