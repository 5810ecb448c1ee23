//! Decides tables of URLs, and checks the number of their rows.

use std::cell::RefCell;
use std::path::Path;

use bumpalo::Bump;
use reptile::{Dialect, Robots};
use reptile_columns::{Answers, Column, Decider, Format, Layout, Rows, TableDecider};
use reptile_records::open::Input;
use reptile_records::spill::Scratch;
use reptile_records::tables::open::Opening;
use reptile_records::tables::source::{Block, Part, Source};
use reptile_records::warc::InputPlace;
use reptile_records::{Item, ReadOptions, Reading};

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
    TableDecider::new(decider, Format::Tsv).expect("TSV has all columns").keep_rejected(true)
}

/// Decides a table to its end. Returns its number of rows, or `None` if it cannot be read to its end.
///
/// # Panics
/// Panics unless each input row has exactly one output row.
#[must_use]
pub fn decided(source: Source, opening: &Opening) -> Option<u64> {
    let (table, mut rows) = source.open_rows(opening).ok()?;
    let (mut answers, mut count) = (Answers::default(), 0);
    loop {
        let part = rows.next(BUFFER.take(), || false).ok()?;
        let Some(part) = part else { return Some(count) };
        for block in part.blocks() {
            DECIDER.with(|decider| decider.decide(&table, block, &mut answers)).expect("the robots.txt is valid");
            let expected = match block {
                Block::Text(text) => table.rows(text, &Bump::new()).count() as u64,
                Block::Cells(cells) => cells.row_count() as u64,
            };
            let Rows::Text(text) = &answers.rows else { panic!("TSV is text") };
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
            count += expected;
        }
        if let Part::Text(chunk) = part {
            BUFFER.set(chunk.buffer);
        }
    }
}

/// Reads all captures of an input, with their bodies. Returns their number, or `None` if the input is not captures or
/// cannot be read to its end.
#[must_use]
pub fn captures(path: &Path, resync: bool) -> Option<u64> {
    let options = ReadOptions { resync, ..ReadOptions::default() };
    let reading = Reading::new(&options, Scratch::default());
    let mut count = 0;
    let mut add = |item: Item| {
        item.read(&mut |item| {
            if let Ok(Some(response)) = item.into_response() {
                count += response.captures.len() as u64;
            }
            Ok(())
        })
    };
    reading.read(Input::open(path).ok()?, InputPlace::default(), &mut add).ok()?;
    reading.resolve(&mut add).ok()?;
    Some(count)
}
