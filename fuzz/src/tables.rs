//! Decides tables of URLs, and checks the number of their rows.

use std::cell::RefCell;

use bumpalo::Bump;
use reptile::{Dialect, Robots};
use reptile_columns::{AnswerFormat, AnswerRows, Answers, Column, Decider, Layout, TableDecider};
use reptile_records::tables::Table;
use reptile_records::tables::open::Opening;
use reptile_records::tables::source::{Block, Part, Source};

thread_local! {
    static DECIDER: TableDecider = decider();
    /// The memory of the last chunk. A new one would be cleared in each execution.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

fn decider() -> TableDecider {
    let robots = Robots::parse("user-agent: *\ndisallow: /private\nallow: /private/*.html$\n", Dialect::google());
    let agents = robots.expect("a valid file").agents(["GPTBot"]).expect("a valid name");
    let layout = Layout::new(&[Column::Verdict, Column::Url, Column::Line]).expect("different columns");
    let decider = Decider::new(agents, layout).expect("columns for one crawler");
    TableDecider::new(decider, AnswerFormat::Tsv).expect("TSV has all columns").keep_rejected(true)
}

/// A decided table.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Decided {
    /// The number of rows.
    pub rows: u64,
    /// Each row's verdict, URL and line, as TSV.
    pub text: Vec<u8>,
}

/// Decides a table to its end, and calls `visit` for each block of rows. Returns `None` if the table cannot be read to
/// its end.
///
/// # Panics
/// Panics unless each input row has exactly one output row.
#[must_use]
pub fn decided(source: Source, opening: &Opening, mut visit: impl FnMut(&Table, Block<'_>)) -> Option<Decided> {
    let (table, mut rows) = source.open_rows(opening).ok()?;
    let (mut answers, mut all) = (Answers::default(), Decided::default());
    loop {
        // A waiting thread takes the first whole rows of each read.
        let part = rows.next(BUFFER.take(), &|| true).ok()?;
        let Some(part) = part else { return Some(all) };
        for block in part.blocks() {
            visit(&table, block);
            DECIDER.with(|decider| decider.decide(&table, block, &mut answers)).expect("the robots.txt is valid");
            let expected = match block {
                Block::Text(text) => table.rows(text, &Bump::new()).count() as u64,
                Block::Cells(cells) => cells.row_count() as u64,
            };
            let AnswerRows::Text(text) = &answers.rows else { panic!("TSV is text") };
            let lines = text.as_bytes().iter().filter(|&&byte| byte == b'\n').count() as u64;
            assert_eq!((answers.lines, lines), (expected, expected), "rows of {table}");
            let verdicts: u64 = answers.tally.iter().flatten().sum();
            assert_eq!(verdicts, expected, "verdicts of {table}");
            let rejected = answers.rejected.rows.len() as u64;
            let faults: u64 = answers.faults.counts.iter().sum();
            assert!(
                faults <= rejected && rejected <= expected,
                "{faults} faults, {rejected} rejected, {expected} rows"
            );
            all.rows += expected;
            all.text.extend_from_slice(text.as_bytes());
        }
        if let Part::Text(chunk) = part {
            BUFFER.set(chunk.buffer);
        }
    }
}
