//! Inputs with one capture per line, in JSON Lines or TSV.
//!
//! Short lines are grouped unparsed as [`Item::Lines`], so that other threads can parse them with [`Item::read`].

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::sync::Arc;

use memchr::memchr;
use reptile::limits::MAX_BODY_BYTES;

use super::NO_CAPTURE;
use super::names::{Header, NameUse};
use crate::bodies::{TOO_LARGE, no_memory};
use crate::item::Lines;
use crate::jsonl;
use crate::place::Place;
use crate::tables::quotes::{Quoting, Scan};
use crate::time::Zone;
use crate::tsv;
use crate::unpack::{READ_BYTES, START_BYTES};
use crate::{Error, Item, Result, Sink};

/// Maximum line length in bytes: a body of maximum size with every byte written as `\u0000`, plus space for other
/// fields.
pub const MAX_LINE_BYTES: usize = 6 * MAX_BODY_BYTES + (1 << 20);

/// Maximum bytes that the line buffer keeps between lines.
const KEPT_BYTES: usize = 1 << 20;

/// Length in bytes from which a line is parsed immediately. Its body needs less memory, and there may be many such
/// lines.
const LONG_LINE_BYTES: usize = 1 << 20;

/// Size in bytes at which a block of lines is handed to a thread.
const BLOCK_BYTES: usize = 1 << 16;

impl Lines {
    /// Returns a line's name.
    pub(crate) fn name(&self, number: u64) -> String {
        // Names are built for all lines, including valid ones, so the full capacity is allocated at once.
        let mut name = String::with_capacity(self.path.len() + ":18446744073709551615".len());
        name.push_str(&self.path);
        // Writing to a string cannot fail.
        let _ = write!(name, ":{number}");
        name
    }

    /// Passes on the capture or the problem on each line. Lines are numbered from `first`, and blank lines are skipped.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory for a body, or if the sink fails.
    pub(crate) fn read(&self, bytes: &[u8], first: u64, sink: &mut Sink<'_>) -> Result<()> {
        let (mut json, mut names) = (jsonl::FieldReader::new(bytes), NameUse::default());
        let unended = bytes.last().is_some_and(|&byte| byte != b'\n').then_some(bytes.len());
        let mut start = 0;
        for (number, end) in (first..).zip(memchr::memchr_iter(b'\n', bytes).chain(unended)) {
            let line = start..end;
            start = end + 1;
            let text = &bytes[line.clone()];
            if text.trim_ascii().is_empty() {
                continue;
            }
            sink(match &self.columns {
                None => jsonl::item(&mut json, line, self.name(number), &self.zone, &mut names)?,
                Some(columns) => tsv::item(columns, text, self.name(number), &self.zone)?,
            })?;
        }
        if names.is_empty() { Ok(()) } else { sink(Item::Names(names)) }
    }
}

/// Reads JSON Lines. Short lines are grouped as [`Item::Lines`], and long lines are parsed.
///
/// # Errors
/// Returns an error if the input is unreadable.
pub fn read_json(path: &Place, source: impl Read, zone: &Zone, sink: &mut Sink<'_>) -> Result<()> {
    let mut source = BufReader::with_capacity(READ_BYTES, source);
    let lines = Lines { path: path.display().to_string(), columns: None, zone: zone.clone() };
    read_lines(&Arc::new(lines), &mut source, 1, sink)
}

/// Reads every row of a table whose first line names capture columns.
///
/// # Errors
/// Returns an error if the input is unreadable, or if two columns name the same field.
pub fn read_tsv(path: &Place, source: impl Read, zone: &Zone, sink: &mut Sink<'_>) -> Result<()> {
    let mut source = BufReader::with_capacity(READ_BYTES, source);
    let mut header = Vec::new();
    let next = next_line(&mut source, &mut header, START_BYTES);
    let next = next.map_err(|error| Error::at(path, format!("cannot be read: {error}")))?;
    if !matches!(next, NextLine::Line) {
        return Err(Error::at(path, format!("its first line has more than {START_BYTES} bytes")));
    }
    let columns = tsv::header_of(&header).map_err(|text| Error::at(path, text))?;
    sink(Item::Names(columns.names.clone()))?;
    let lines = Lines { path: path.display().to_string(), columns: Some(columns), zone: zone.clone() };
    read_lines(&Arc::new(lines), &mut source, 2, sink)
}

/// Reads the lines, numbering them from `first`.
///
/// # Errors
/// Returns an error if the input is unreadable.
pub fn read_lines(lines: &Arc<Lines>, source: &mut impl BufRead, first: u64, sink: &mut Sink<'_>) -> Result<()> {
    let (mut line, mut block) = (Vec::new(), LineBlock::default());
    let mut quotes = Quotes::default();
    for number in first.. {
        let name = || lines.name(number);
        let next = next_line(source, &mut line, MAX_LINE_BYTES);
        let is_line = matches!(next, Ok(NextLine::Line));
        let is_unclear = is_line && lines.columns.as_ref().is_some_and(|columns| quotes.are_unclear(columns, &line));
        let is_short = is_line && !is_unclear && line.len() < LONG_LINE_BYTES;
        if !is_short || block.bytes.len() >= BLOCK_BYTES {
            block.give(lines, sink)?;
        }
        match next {
            Err(error) => return Err(Error::new(format!("{}: cannot be read: {error}", name()))),
            Ok(NextLine::End) => break,
            Ok(NextLine::NoMemory(len)) => return Err(no_memory(&name(), len as u64)),
            Ok(NextLine::TooLong) => sink(Item::Bad {
                name: name(),
                reason: TOO_LARGE,
                detail: format!("the line of a capture has at most {MAX_LINE_BYTES} bytes"),
            })?,
            Ok(NextLine::Line) if is_unclear => sink(Item::Bad {
                name: name(),
                reason: NO_CAPTURE,
                detail: "a quote at the start of a cell: TSV has no quoted cells, but CSV, JSON Lines and Parquet do"
                    .into(),
            })?,
            Ok(NextLine::Line) if is_short => block.push(&line, number),
            Ok(NextLine::Line) => lines.read(&line, number, sink)?,
        }
        line.clear();
        line.shrink_to(KEPT_BYTES);
    }
    Ok(())
}

/// Finds lines that may be in quotes. Quotes are text in TSV, but some programs quote cells, even with line ends.
#[derive(Default)]
struct Quotes {
    /// The row that the next line would continue in a table with quoted cells.
    open: Option<Scan>,
}

impl Quotes {
    /// Returns whether the next line's cells depend on the meaning of a quote.
    fn are_unclear(&mut self, columns: &Header, line: &[u8]) -> bool {
        if self.open.is_none() && memchr(b'"', line).is_none() {
            return false;
        }
        let quoting = Quoting { may_be_plain: true, ..Quoting::csv(b'\t') };
        let was_open = self.open.is_some();
        let mut scan = self.open.take().unwrap_or_default();
        let is_ended = scan.read(line, quoting).is_some() || scan.push(b'\n', quoting);
        if !is_ended {
            self.open = Some(scan.next_piece());
        }
        was_open || !is_ended || scan.is_unclear() || (!scan.is_broken && tsv::have_quote(columns, line))
    }
}

/// Consecutive lines.
#[derive(Default)]
struct LineBlock {
    first: u64,
    count: usize,
    bytes: Vec<u8>,
}

impl LineBlock {
    fn push(&mut self, line: &[u8], number: u64) {
        if self.count == 0 {
            self.first = number;
            self.bytes.reserve_exact(BLOCK_BYTES + line.len());
        }
        self.count += 1;
        self.bytes.extend_from_slice(line);
        self.bytes.push(b'\n');
    }

    /// Passes on the lines, if there are any, and clears the block.
    fn give(&mut self, lines: &Arc<Lines>, sink: &mut Sink<'_>) -> Result<()> {
        let LineBlock { first, count, bytes } = std::mem::take(self);
        if count == 0 { Ok(()) } else { sink(Item::Lines { lines: Arc::clone(lines), first, count, bytes }) }
    }
}

/// The result of looking for the next line.
pub enum NextLine {
    /// The line is in the buffer.
    Line,
    /// The line exceeds the limit.
    TooLong,
    /// There is not enough memory for this many bytes. The line may be even longer.
    NoMemory(usize),
    /// There are no more lines.
    End,
}

/// Reads a line without its LF into an empty buffer, or skips it if it exceeds `limit` bytes.
pub fn next_line(source: &mut impl BufRead, line: &mut Vec<u8>, limit: usize) -> io::Result<NextLine> {
    let mut has_begun = false;
    loop {
        let read = match source.fill_buf() {
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if read.is_empty() {
            return Ok(if has_begun { NextLine::Line } else { NextLine::End });
        }
        has_begun = true;
        let line_end = memchr(b'\n', read);
        let part = &read[..line_end.unwrap_or(read.len())];
        let len = line.len() + part.len();
        if len > limit {
            source.skip_until(b'\n')?;
            return Ok(NextLine::TooLong);
        }
        if line.try_reserve(part.len()).is_err() {
            return Ok(NextLine::NoMemory(len));
        }
        line.extend_from_slice(part);
        let used = part.len() + usize::from(line_end.is_some());
        source.consume(used);
        if line_end.is_some() {
            return Ok(NextLine::Line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Robots;

    /// Describes an item's content.
    fn words(item: &Item) -> String {
        match item {
            Item::Robots(Robots { name, origins, capture, body, .. }) => {
                format!("{name} {} {capture:?} {body:?}", origins[0])
            }
            Item::Bad { name, reason, detail } => format!("{name} {reason} {detail}"),
            Item::Lines { .. }
            | Item::LeftOut { .. }
            | Item::Untrusted { .. }
            | Item::Remark { .. }
            | Item::Names(_)
            | Item::SameBody { .. } => String::new(),
        }
    }

    fn read_block(bytes: &[u8], first: u64) -> Vec<String> {
        let (lines, mut found) = (Lines { path: "p".into(), columns: None, zone: Zone::default() }, Vec::new());
        let read = lines.read(bytes, first, &mut |item| {
            if !matches!(item, Item::Names(_)) {
                found.push(words(&item));
            }
            Ok(())
        });
        read.unwrap();
        found
    }

    /// A block shares one reader, so a line's result must not depend on the preceding lines.
    #[test]
    fn lines_are_independent_of_preceding_lines() {
        let lines: [&[u8]; 18] = [
            br#"{"url":"http://a.example/robots.txt","status":200,"body":"user-agent: *\n"}"#,
            br#"{"url":"http://b.example/robots.txt","body":"\u0041\t"} "#,
            b"{\"url\":\"http://c.example/robots.txt\"}\r",
            b"\x0c{\"url\":\"http://d.example/robots.txt\"}",
            b"{\"url\":\"http://e.example/robots.txt\"}\x0c",
            br#"{"url":"http://f.example/robots.txt"} {"url":"http://g.example/robots.txt"}"#,
            br#"{"url":"http://h.example/robots.txt","more":"#,
            br#"{"url":"http://i.example/robots.txt"}}"#,
            br#"{"status":"100000"}"#,
            br#"{"body":"\x"}"#,
            br#"{"body":"unended"#,
            br#"["http://j.example/robots.txt",200,"body",null,null,null,null,null,"#,
            br#"{"a":1}]"#,
            br#"{"url":7}"#,
            b"{}",
            b"null",
            b"",
            b" \t",
        ];
        let alone = |line: &[u8], number| read_block(line, number);
        assert_eq!(lines.iter().flat_map(|line| alone(line, 1)).count(), lines.len() - 2);
        for (a, b, c) in (0..lines.len().pow(3)).map(|n| (n % 18, n / 18 % 18, n / 324)) {
            let block = [lines[a], lines[b], lines[c]].join(&b'\n');
            let expected = [(a, 5), (b, 6), (c, 7)].map(|(line, number)| alone(lines[line], number)).concat();
            assert_eq!(read_block(&block, 5), expected);
            assert_eq!(read_block(&[&block[..], b"\n"].concat(), 5), expected);
        }
    }

    #[test]
    fn a_block_ends_with_the_line_that_fills_it() {
        for (len, blocks) in [(BLOCK_BYTES - 2, 1), (BLOCK_BYTES - 1, 2), (BLOCK_BYTES, 2)] {
            let text = format!("{}\nx\n", "a".repeat(len));
            let lines = Arc::new(Lines { path: "p".into(), columns: None, zone: Zone::default() });
            let (mut found, mut read) = (Vec::new(), Vec::new());
            let result = read_lines(&lines, &mut text.as_bytes(), 3, &mut |item| {
                let Item::Lines { first, count, bytes, .. } = item else { panic!("not lines") };
                found.push((first, count));
                read.extend(bytes);
                Ok(())
            });
            result.unwrap();
            assert_eq!(read, text.as_bytes());
            assert_eq!(found, if blocks == 1 { vec![(3, 2)] } else { vec![(3, 1), (4, 1)] }, "{len}");
        }
    }

    #[test]
    fn lines_over_the_limit_are_too_long() {
        for end in ["", "\n", "\nnext"] {
            for (len, fits) in [(7, true), (8, true), (9, false), (100, false)] {
                let text = format!("{}{end}", "a".repeat(len));
                let mut source = text.as_bytes();
                let mut line = Vec::new();
                let next = next_line(&mut source, &mut line, 8).unwrap();
                assert_eq!(matches!(next, NextLine::Line), fits, "{len}");
                assert!(!fits || line.len() == len);
                line.clear();
                let next = next_line(&mut source, &mut line, 8).unwrap();
                assert_eq!(matches!(next, NextLine::Line), end == "\nnext");
                assert_eq!(line, end.trim_start().as_bytes());
            }
        }
    }
}
