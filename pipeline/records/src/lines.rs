//! Reads line lists in chunks that are large enough to hand to another thread, with bounded memory.
//!
//! This module does not interpret lines. An overlong line is passed on in parts. CSV rows, which may contain line ends,
//! are split like lines, but never inside quotes.
//!
//! ```
//! use reptile_records::lines::{ChunkKind, Chunks, lines, trimmed_url, without_line_end};
//!
//! let list: &[u8] = b"https://a.example/\r\n  https://b.example/ \nhttps://c.example/";
//! let mut chunks = Chunks::new(list);
//! let (mut urls, mut buffer) = (Vec::new(), Vec::new());
//! while let Some(chunk) = chunks.next(buffer, &|| false)? {
//!     // This example skips overlong lines.
//!     if chunk.kind == ChunkKind::Lines {
//!         // Each block could go to another thread.
//!         for line in chunk.blocks().into_iter().flat_map(lines) {
//!             urls.push(trimmed_url(without_line_end(line)).to_vec());
//!         }
//!     }
//!     buffer = chunk.buffer;
//! }
//! assert_eq!(urls, [&b"https://a.example/"[..], b"https://b.example/", b"https://c.example/"]);
//! # Ok::<(), std::io::Error>(())
//! ```

mod chunks;

pub use chunks::{Chunk, ChunkKind, Chunks, RowEnds, blocks};

/// Maximum length in bytes for a line that is kept whole. Longer lines far exceed
/// [`MAX_URL_BYTES`](reptile::limits::MAX_URL_BYTES), and are passed on in parts, unread.
pub const MAX_LINE_BYTES: usize = 1 << 20;

/// Returns a block's lines, each with its LF. Bytes after the last LF are a line too.
pub fn lines(block: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', block).map(|at| at + 1);
    let rest = (block.last().is_some_and(|&last| last != b'\n')).then_some(block.len());
    ends.chain(rest).map(move |end| &block[std::mem::replace(&mut start, end)..end])
}

/// Returns a line without its LF, and otherwise unchanged.
pub fn without_lf(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

/// Returns a line without its LF and one preceding CR. A CR without an LF does not end a line.
#[inline]
pub fn without_line_end(line: &[u8]) -> &[u8] {
    match line {
        [text @ .., b'\r', b'\n'] | [text @ .., b'\n'] => text,
        _ => line,
    }
}

/// Returns the number of times that a byte is in text of a few hundred bytes, as in a line.
///
/// The compiler makes vector code of this loop. For short text it takes a third of the time that `memchr` takes to count.
#[inline]
pub(crate) fn count_bytes(byte: u8, text: &[u8]) -> usize {
    let in_piece = |piece: &[u8]| piece.iter().map(|other| u8::from(*other == byte)).sum::<u8>();
    text.chunks(usize::from(u8::MAX)).map(|piece| usize::from(in_piece(piece))).sum()
}

/// Returns a URL without leading and trailing spaces and C0 controls, as the WHATWG URL standard requires. Inside the
/// URL they make it invalid, except in its path.
#[inline]
#[must_use]
pub fn trimmed_url(url: &[u8]) -> &[u8] {
    let is_white = |byte: &u8| *byte <= b' ';
    // Nearly every URL needs no trimming.
    if !url.first().is_some_and(is_white) && !url.last().is_some_and(is_white) {
        return url;
    }
    let start = url.iter().position(|byte| !is_white(byte)).unwrap_or(url.len());
    let end = url.iter().rposition(|byte| !is_white(byte)).map_or(start, |last| last + 1);
    &url[start..end]
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read};

    use super::*;

    /// A source that returns a few bytes at a time.
    struct Drops<'a>(&'a [u8], usize);

    impl Read for Drops<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let len = self.1.min(buffer.len()).min(self.0.len());
            buffer[..len].copy_from_slice(&self.0[..len]);
            self.0 = &self.0[len..];
            Ok(len)
        }
    }

    /// Returns each line, and whether it was passed on as a long line, in any number of parts.
    fn read(input: &[u8], drop: usize, awaited: bool) -> Vec<(Vec<u8>, bool)> {
        let mut chunks = Chunks::with_sizes(Drops(input, drop), RowEnds::Lines, 32, 8);
        let (mut found, mut long) = (Vec::new(), Vec::new());
        while let Some(chunk) = chunks.next(Vec::new(), &|| awaited).unwrap() {
            match chunk.kind {
                ChunkKind::Lines => {
                    let lines = blocks(chunk.bytes(), 3).into_iter().flat_map(lines);
                    found.extend(lines.map(|line| (without_lf(line).into(), false)));
                }
                ChunkKind::LongLine { last } => {
                    long.extend_from_slice(chunk.bytes());
                    if last {
                        found.push((without_lf(&long).into(), true));
                        long.clear();
                    }
                }
            }
        }
        assert!(long.is_empty());
        found
    }

    #[test]
    fn lines_are_returned_unchanged() {
        let inputs: [&[u8]; 9] =
            [b"", b"\n", b"\n\n", b"a", b"a\n", b"a\r\nb\0\n\nc", b"\na", b"abcdefgh\nabcdefg\n\nabcdefgh", b"a\n\n\n"];
        for input in inputs {
            let mut expected: Vec<&[u8]> = input.split(|&byte| byte == b'\n').collect();
            expected.pop_if(|last| last.is_empty());
            for drop in 1..12 {
                for awaited in [false, true] {
                    let found = read(input, drop, awaited);
                    assert_eq!(found.iter().map(|(line, _)| &line[..]).collect::<Vec<_>>(), expected);
                    assert!(found.iter().all(|&(_, long)| !long));
                }
            }
        }
    }

    #[test]
    fn long_lines_are_complete_in_any_context() {
        for len in 0..140 {
            for (before, after) in [("", ""), ("x\n", ""), ("", "\ny\n"), ("x\nxx\n", "\n\ny"), ("", "\n")] {
                let input = format!("{before}{}{after}", "z".repeat(len));
                let mut expected: Vec<&str> = input.split('\n').collect();
                expected.pop_if(|last| last.is_empty());
                for drop in [1, 7, 31, 32, 33, 1000] {
                    let found = read(input.as_bytes(), drop, drop % 2 == 0);
                    let texts: Vec<&[u8]> = found.iter().map(|(line, _)| &line[..]).collect();
                    assert_eq!(texts, expected.iter().map(|line| line.as_bytes()).collect::<Vec<_>>(), "{len} {drop}");
                }
            }
        }
    }

    #[test]
    fn the_last_line_is_long_if_it_exceeds_the_limit() {
        for (len, long) in [(7, false), (8, false), (9, true)] {
            assert_eq!(read(&vec![b'z'; len], 100, false), [(vec![b'z'; len], long)]);
        }
    }

    #[test]
    fn only_one_line_end_is_removed() {
        let table: [(&[u8], &[u8]); 7] = [
            (b"a", b"a"),
            (b"a\n", b"a"),
            (b"a\r\n", b"a"),
            (b"a\r\r\n", b"a\r"),
            (b"a\r", b"a\r"),
            (b"\n", b""),
            (b"", b""),
        ];
        for (line, text) in table {
            assert_eq!(without_line_end(line), text);
        }
    }

    #[test]
    fn urls_are_trimmed_only_at_their_ends() {
        let table: [(&[u8], &[u8]); 10] = [
            (b"", b""),
            (b" \t\r\n\0", b""),
            (b"a", b"a"),
            (b" a", b"a"),
            (b"a\x1f", b"a"),
            (b"\0 a b\t\r ", b"a b"),
            (b"a\tb", b"a\tb"),
            // DEL and no-break space are not removed.
            (b"a\x7f", b"a\x7f"),
            ("\u{a0}a".as_bytes(), "\u{a0}a".as_bytes()),
            (b"\xffa ", b"\xffa"),
        ];
        for (url, trimmed) in table {
            assert_eq!(trimmed_url(url), trimmed, "{}", url.escape_ascii());
        }
    }

    #[test]
    fn an_awaited_line_does_not_wait_for_more() {
        let mut chunks = Chunks::with_sizes(Drops(b"a\nb\nc\n", 2), RowEnds::Lines, 32, 8);
        assert_eq!(chunks.next(Vec::new(), &|| true).unwrap().unwrap().bytes(), b"a\n");
        assert_eq!(chunks.next(Vec::new(), &|| false).unwrap().unwrap().bytes(), b"b\nc\n");
    }
}
