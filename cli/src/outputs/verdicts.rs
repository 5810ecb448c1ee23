//! Rows with URLs in, the same URLs with columns of verdicts out: the inner loop of `reptile classify`.
//!
//! Nothing here knows of files or threads. The output buffers are reused.

use bumpalo::Bump;
use reptile::{Agents, Error, Reason, Rule, Verdict};

use super::style::Style;
use super::text::{are_plain_columns, opaque_column, url_column};
use crate::inputs::lines::{lines, without_line_end};
use crate::inputs::tables::{Fault, Format, Row, Table};

/// The number of times that each verdict was given, for each agent.
pub type Tally = Vec<[u64; 4]>;

/// Every verdict, in the order of their numbers.
const VERDICTS: [Verdict; 4] = [Verdict::Allow, Verdict::Disallow, Verdict::Unknown, Verdict::Invalid];

/// The number of URLs that are given to the library at once: several of its batches, so that few are not full.
const URLS_AT_ONCE: usize = 512;

/// The agents to decide for, and the columns to write.
pub struct Decider {
    /// The agents, one column of verdicts each, with the set that resolved them.
    pub agents: Agents,
    /// Whether two columns follow each verdict: the line of the deciding rule, and the rule.
    pub explain: bool,
    /// Whether a column with the reason follows, after those of `explain`.
    pub reason: bool,
    /// Whether the verdicts are coloured.
    pub coloured: bool,
}

/// The output lines of one block of input rows.
#[derive(Default)]
pub struct Answers {
    text: Text,
    /// The number of lines in it.
    pub lines: u64,
    /// The verdicts in it, counted.
    pub tally: Tally,
    /// The line ends of the input in it: more than rows if there are line ends in quotes.
    pub line_ends: u64,
    /// The rows whose URL could not be read.
    pub faults: Faults,
}

/// The most rows of a block that are named for a fault.
pub const MAX_NAMED_FAULTS: usize = 10;

/// Rows whose URL could not be read.
#[derive(Default)]
pub struct Faults {
    /// How many there are, in the order of [`Fault::ALL`].
    pub counts: [u64; Fault::ALL.len()],
    /// The first of them, each with the number of line ends before it in the block.
    pub first: Vec<(u64, Fault)>,
}

impl Faults {
    /// Notes the fault of a row, if it has one.
    #[inline]
    fn note(&mut self, block: &[u8], row: &Row<'_>) {
        if let Some(fault) = row.fault {
            self.counts[fault as usize] += 1;
            if self.first.len() < MAX_NAMED_FAULTS {
                let line_ends = memchr::memchr_iter(b'\n', &block[..row.start]).count();
                self.first.push((line_ends as u64, fault));
            }
        }
    }
}

impl Decider {
    /// Decides each row of a block. Replaces what `answers` holds and reuses its memory. Allocates once for the block,
    /// and nothing for a URL unless the columns of `explain` or `reason` are asked for.
    ///
    /// # Errors
    /// If the set is damaged.
    pub fn decide(&self, table: &Table, block: &[u8], answers: &mut Answers) -> Result<(), Error> {
        answers.clear(self.agents.len());
        let Answers { text, lines: line_count, tally, line_ends, faults } = answers;
        let written = Written { text, lines: line_count, tally };
        if table.format == Format::List {
            let mut start = 0;
            let rows = lines(block).map(|line| {
                let rest = &block[start..];
                start += line.len();
                Line { rest, len: without_line_end(line).len() }
            });
            // Asked once for the block instead of once for each line of it, since nearly all blocks are plain.
            self.decide_rows(rows, are_plain_columns(block), written)?;
        } else {
            let arena = Bump::new();
            let rows = table.rows(block, &arena).map(|row| {
                faults.note(block, &row);
                Line::of_cell(row.cells[0].unwrap_or_default())
            });
            self.decide_rows(rows, false, written)?;
        }
        *line_ends = match table.format {
            Format::Csv => memchr::memchr_iter(b'\n', block).count() as u64,
            _ => *line_count,
        };
        Ok(())
    }

    fn decide_rows<'b>(
        &self,
        rows: impl Iterator<Item = Line<'b>>,
        is_plain: bool,
        written: Written<'_>,
    ) -> Result<(), Error> {
        if self.explain || self.reason {
            self.explain_each(rows, written)
        } else {
            self.decide_each(rows, is_plain, written)
        }
    }

    /// The verdicts of rows, without reasons. `is_plain` says that [`url_column`] leaves all of them as they are.
    fn decide_each<'b>(
        &self,
        mut rows: impl Iterator<Item = Line<'b>>,
        is_plain: bool,
        written: Written<'_>,
    ) -> Result<(), Error> {
        let Written { text, lines: line_count, tally } = written;
        let columns = ["", "\n"].map(|end| VERDICTS.map(|verdict| Column::new([&self.column(verdict), end].concat())));
        let width = self.agents.len();
        let mut urls: Vec<Line<'_>> = Vec::with_capacity(URLS_AT_ONCE);
        let mut verdicts = vec![Verdict::Invalid; URLS_AT_ONCE * width];
        loop {
            urls.clear();
            urls.extend(rows.by_ref().take(URLS_AT_ONCE));
            if urls.is_empty() {
                return Ok(());
            }
            let verdicts = &mut verdicts[..urls.len() * width];
            self.agents.decide_all(&urls, verdicts)?;
            *line_count += urls.len() as u64;
            for (url, verdicts) in urls.iter().zip(verdicts.chunks_exact(width)) {
                if is_plain {
                    text.push_start(url.rest, url.len);
                } else {
                    text.push(&url_column(url.as_ref()));
                }
                for (at, (&verdict, counts)) in (1..).zip(verdicts.iter().zip(&mut *tally)) {
                    counts[verdict as usize] += 1;
                    let Column { bytes, len } = &columns[usize::from(at == width)][verdict as usize];
                    text.push_start(bytes, *len);
                }
            }
        }
    }

    /// The verdicts of rows, with the columns of `explain` and `reason`.
    fn explain_each<'b>(&self, rows: impl Iterator<Item = Line<'b>>, written: Written<'_>) -> Result<(), Error> {
        let mut columns = Vec::new();
        for row in rows {
            let url = row.as_ref();
            *written.lines += 1;
            written.text.push(&url_column(url));
            for (agent, counts) in self.agents.iter().zip(&mut *written.tally) {
                let explanation = agent.explain(url)?;
                counts[explanation.verdict as usize] += 1;
                columns.clear();
                self.push_columns(&mut columns, explanation.verdict, explanation.rule(), explanation.reason);
                written.text.push(&columns);
            }
            written.text.push(b"\n");
        }
        Ok(())
    }

    /// Passes on a part of a line that is too long for a URL, or for a row of a table, of which nothing is passed on. The
    /// columns, which say `invalid`, follow the last part.
    pub fn pass_on(&self, table: &Table, part: &[u8], last: bool, answers: &mut Answers) {
        answers.clear(self.agents.len());
        let is_list = table.format == Format::List;
        if is_list {
            answers.text.push(&opaque_column(part));
        }
        if last {
            answers.lines = 1;
            answers.line_ends = 1;
            if !is_list {
                answers.faults.counts[Fault::TooLong as usize] = 1;
                answers.faults.first.push((0, Fault::TooLong));
            }
            let mut columns = Vec::new();
            for counts in &mut answers.tally {
                counts[Verdict::Invalid as usize] = 1;
                self.push_columns(&mut columns, Verdict::Invalid, None, Reason::NoUrl);
            }
            answers.text.push(&columns);
            answers.text.push(b"\n");
        }
    }
}

impl Decider {
    /// The column of a verdict, with the tab before it.
    fn column(&self, verdict: Verdict) -> String {
        let name = verdict.name();
        let name = if self.coloured { Style::of_verdict(verdict).of(name) } else { name.to_owned() };
        format!("\t{name}")
    }

    /// Appends the columns of one agent.
    fn push_columns(&self, text: &mut Vec<u8>, verdict: Verdict, rule: Option<&Rule>, reason: Reason) {
        text.extend_from_slice(self.column(verdict).as_bytes());
        if self.explain {
            push_rule(text, rule);
        }
        if self.reason {
            text.extend_from_slice(format!("\t{reason}").as_bytes());
        }
    }
}

/// Where verdicts are written and counted.
struct Written<'a> {
    text: &'a mut Text,
    lines: &'a mut u64,
    tally: &'a mut Tally,
}

/// The URL of a row: the block from the URL on as far as it is at hand, and the length of the URL.
struct Line<'b> {
    rest: &'b [u8],
    len: usize,
}

impl<'b> Line<'b> {
    fn of_cell(cell: &'b [u8]) -> Line<'b> {
        Line { rest: cell, len: cell.len() }
    }
}

impl AsRef<[u8]> for Line<'_> {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        &self.rest[..self.len]
    }
}

/// The number of bytes that are copied at once: few lines are longer.
const BYTES_AT_ONCE: usize = 64;

/// The column of a verdict, ready to be copied by blocks.
struct Column {
    /// The text of the column, then zeros.
    bytes: Vec<u8>,
    len: usize,
}

impl Column {
    fn new(text: String) -> Column {
        let len = text.len();
        let mut bytes = text.into_bytes();
        bytes.resize(len.next_multiple_of(BYTES_AT_ONCE), 0);
        Column { bytes, len }
    }
}

/// A text that grows by short pieces. Its memory is longer than the text, so that pieces can be copied in blocks of one
/// size, which is faster than by their length; what is copied too much, the next piece replaces.
#[derive(Default)]
struct Text {
    bytes: Vec<u8>,
    len: usize,
}

impl Text {
    /// Appends bytes.
    fn push(&mut self, bytes: &[u8]) {
        self.reserve(bytes.len());
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    /// Appends the first `len` bytes of `bytes`, by blocks as long as there are enough bytes.
    #[inline]
    fn push_start(&mut self, bytes: &[u8], len: usize) {
        self.reserve(len);
        let to = &mut self.bytes[self.len..];
        let mut at = 0;
        while at < len {
            match (to[at..].first_chunk_mut(), bytes[at..].first_chunk::<BYTES_AT_ONCE>()) {
                (Some(to), Some(from)) => *to = *from,
                _ => to[at..len].copy_from_slice(&bytes[at..len]),
            }
            at += BYTES_AT_ONCE;
        }
        self.len += len;
    }

    /// Makes room for `more` bytes, and for a block after them.
    #[inline]
    fn reserve(&mut self, more: usize) {
        if self.bytes.len() < self.len + more + BYTES_AT_ONCE {
            self.grow(more);
        }
    }

    #[cold]
    fn grow(&mut self, more: usize) {
        let len = (self.bytes.len() * 2).max(self.len + more + BYTES_AT_ONCE);
        self.bytes.resize(len, 0);
    }
}

impl Answers {
    /// The lines.
    pub fn text(&self) -> &[u8] {
        &self.text.bytes[..self.text.len]
    }

    /// Empties the buffers and sets the counts of `agents` agents to zero.
    fn clear(&mut self, agents: usize) {
        self.text.len = 0;
        self.lines = 0;
        self.line_ends = 0;
        self.faults.counts = [0; Fault::ALL.len()];
        self.faults.first.clear();
        self.tally.clear();
        self.tally.resize(agents, [0; 4]);
    }
}

/// The columns of line and rule where no rule decided.
const NO_RULE: &[u8] = b"\t0\t";

/// Appends the line and the text of the deciding rule.
fn push_rule(text: &mut Vec<u8>, rule: Option<&Rule>) {
    let Some(rule) = rule else {
        text.extend_from_slice(NO_RULE);
        return;
    };
    text.extend_from_slice(format!("\t{}\t{}: ", rule.line, rule.kind.name()).as_bytes());
    text.extend_from_slice(&url_column(&rule.pattern));
}

#[cfg(test)]
mod tests {
    use super::*;
    use reptile::RuleKind;

    #[test]
    fn pieces_are_joined_whatever_their_length() {
        let source: Vec<u8> = (0..=255).collect();
        for len in 0..200 {
            let (mut text, mut expected) = (Text::default(), Vec::new());
            for (rest, push_len) in [(0, len), (256 - len, len), (3, 1), (100, len / 2)] {
                text.push_start(&source[rest..], push_len);
                text.push(&source[..3]);
                expected.extend_from_slice(&source[rest..rest + push_len]);
                expected.extend_from_slice(&source[..3]);
            }
            let column = Column::new("x".repeat(len));
            text.push_start(&column.bytes, column.len);
            expected.resize(expected.len() + len, b'x');
            assert_eq!(text.bytes[..text.len], expected, "{len}");
        }
    }

    #[test]
    fn verdicts_and_faults_are_in_the_order_of_their_numbers() {
        assert_eq!(Fault::ALL.map(|fault| fault as usize), [0, 1, 2, 3]);
        assert_eq!(VERDICTS.map(|verdict| verdict as usize), [0, 1, 2, 3]);
    }

    #[test]
    fn bytes_that_would_break_a_column_are_escaped() {
        let rule = Rule { kind: RuleKind::Disallow, pattern: b"/a\tb\rc\nd\0e".to_vec(), line: 7 };
        let mut text = Vec::new();
        push_rule(&mut text, Some(&rule));
        assert_eq!(text, b"\t7\tDisallow: /a%09b%0Dc%0Ad%00e");
    }
}
