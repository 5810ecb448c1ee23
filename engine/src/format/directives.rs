//! The section `other`: other directives, the lines in a robots.txt that decide no URL, as kind, text and line number.
//!
//! A pool (see `FORMAT.md`) with addresses in 4-byte units. Each distinct list of lines has one record. Origins refer
//! to the records. No decision reads the section, and the engine does not interpret the values.

use std::time::Duration;

use super::container::Section;
use super::pool::{PoolReferences, verify_pool};
use super::{FormatError, TooLarge, fit, pad};

/// Address unit in bytes.
pub(super) const UNIT: usize = 4;

/// Maximum size of a value or key in bytes. Longer ones are neither written nor read, so a reader needs no more memory
/// than this. RFC 9651, section 3.2, requires parsers to support dictionaries of 1,024 members with keys of 64 characters.
/// With `=n, ` after each key, such a `Content-Usage` value has 68 KiB, which leaves 4 KiB for its path.
pub const MAX_DIRECTIVE_BYTES: usize = 72 << 10;

/// Maximum number of other directives per robots.txt. Later ones are left out with a diagnostic. The maximum in 4,231
/// real files is 1,992.
pub const MAX_DIRECTIVES: usize = 4096;

/// Maximum total bytes of values and unknown keys in a robots.txt's other directives. Later ones are left out with a
/// diagnostic. Bounds a record's decoded size, because values that share prefixes may take a thousand times their stored
/// size. The maximum among 4,231 real files is 692,324.
pub const MAX_DIRECTIVE_TEXT_BYTES: usize = 1 << 20;

/// A directive's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[repr(u8)]
pub enum DirectiveKind {
    /// `Sitemap`: a sitemap's URL.
    Sitemap = 0,
    /// `Crawl-delay`: seconds between two requests.
    CrawlDelay = 1,
    /// `Request-rate`: requests per period, possibly only at some hours.
    RequestRate = 2,
    /// `Visit-time`: the permitted hours.
    VisitTime = 3,
    /// `Host`: a site's main host.
    Host = 4,
    /// `Clean-param`: URL parameters that do not change the page.
    CleanParam = 5,
    /// `Content-Signal`: permitted uses of fetched content.
    ContentSignal = 6,
    /// `Content-Usage`: IETF usage preferences, for one path or all paths.
    ContentUsage = 7,
    /// `Noindex`: paths to leave out of an index.
    Noindex = 8,
    /// An unknown key, which the record stores.
    Other = 9,
    /// The comment that begins a vendor-managed block; its text is the value.
    ManagedBegin = 10,
    /// The comment that ends a vendor-managed block.
    ManagedEnd = 11,
}

crate::words!(DirectiveKind, "a kind of directive", as_str {
    Sitemap => "sitemap",
    CrawlDelay => "crawl-delay",
    RequestRate => "request-rate",
    VisitTime => "visit-time",
    Host => "host",
    CleanParam => "clean-param",
    ContentSignal => "content-signal",
    ContentUsage => "content-usage",
    Noindex => "noindex",
    Other => "other",
    ManagedBegin => "managed-begin",
    ManagedEnd => "managed-end",
});

/// Whether a line counts under the set's dialect, and if not, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[repr(u8)]
pub enum DirectiveState {
    /// The line counts.
    Counts = 0,
    /// The dialect ignores such lines. Other dialects may read them.
    NotRead = 1,
    /// The dialect does not accept the value.
    Malformed = 2,
    /// The line is only valid in a group, but is outside all groups.
    Outside = 3,
    /// An earlier line overrides this one.
    Superseded = 4,
}

crate::words!(DirectiveState, "the state of a directive", as_str {
    Counts => "counts",
    NotRead => "not-read",
    Malformed => "malformed",
    Outside => "outside",
    Superseded => "superseded",
});

/// One of the other directives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Directive<'a> {
    /// The directive's kind.
    pub kind: DirectiveKind,
    /// Whether the line counts under the dialect.
    pub state: DirectiveState,
    /// The part that contains the line, or `None` for a line that applies to every crawler. [`DirectiveList::parts_of`]
    /// returns a group's parts.
    pub part: Option<u32>,
    /// The key as written, for [`DirectiveKind::Other`]; otherwise empty.
    pub key: &'a [u8],
    /// The trimmed value as written.
    pub value: &'a [u8],
    /// The line number, from 1.
    pub line: u32,
}

/// Parses seconds with an optional fraction: `2`, `4.5`, `.5`.
///
/// Truncates to nanoseconds. Returns `None` for anything else, and for more than 2^32 - 1 seconds.
#[must_use]
pub fn decimal_seconds(value: &[u8]) -> Option<Duration> {
    let (whole, fraction) = match value.iter().position(|&byte| byte == b'.') {
        Some(point) => (&value[..point], &value[point + 1..]),
        None => (value, &b""[..]),
    };
    let is_number = whole.iter().chain(fraction).all(u8::is_ascii_digit) && whole.len() + fraction.len() > 0;
    let seconds: u32 = match whole {
        _ if !is_number => return None,
        [] => 0,
        digits => std::str::from_utf8(digits).ok()?.parse().ok()?,
    };
    let digits = fraction.iter().map(|digit| u32::from(digit - b'0')).chain(std::iter::repeat(0)).take(9);
    Some(Duration::new(seconds.into(), digits.fold(0, |nanos, digit| nanos * 10 + digit)))
}

/// Bits for the kind in a line's first byte; the others contain the state.
const KIND_BITS: u32 = 4;

/// Encodes a file's record: sorted pairs of a policy group and its part, then the lines in file order.
///
/// Empty for a file without such lines.
///
/// # Errors
/// Returns an error if a value or a key is longer than [`MAX_DIRECTIVE_BYTES`], all together are longer than
/// [`MAX_DIRECTIVE_TEXT_BYTES`], or there are more than [`MAX_DIRECTIVES`] lines.
pub fn encode(parts: &[(u32, u32)], lines: &[Directive<'_>]) -> Result<Vec<u8>, TooLarge> {
    let mut out = Vec::new();
    if lines.is_empty() {
        return Ok(out);
    }
    // The group count comes first, so that a reader can check that the policy has these groups without reading the
    // pairs.
    put(&mut out, parts.last().map_or(0, |&(group, _)| group.saturating_add(1)));
    put(&mut out, fit("parts of a file", parts.len(), u32::MAX.into())?);
    for &(group, part) in parts {
        put(&mut out, group);
        put(&mut out, part);
    }
    if lines.len() > MAX_DIRECTIVES {
        let (limit, found) = (MAX_DIRECTIVES as u64, lines.len() as u64);
        return Err(TooLarge { what: "lines of other directives", limit, found });
    }
    let text: usize = lines.iter().map(|line| line.key.len() + line.value.len()).sum();
    if text > MAX_DIRECTIVE_TEXT_BYTES {
        let limit = MAX_DIRECTIVE_TEXT_BYTES as u64;
        return Err(TooLarge { what: "bytes of all lines of other directives", limit, found: text as u64 });
    }
    put(&mut out, lines.len() as u32);
    let (mut before, mut value): (u32, &[u8]) = (0, b"");
    for line in lines {
        for text in [line.key, line.value] {
            if text.len() > MAX_DIRECTIVE_BYTES {
                let limit = MAX_DIRECTIVE_BYTES as u64;
                return Err(TooLarge { what: "bytes of a line of other directives", limit, found: text.len() as u64 });
            }
        }
        out.push((line.state as u8) << KIND_BITS | line.kind as u8);
        put(&mut out, line.part.map_or(0, |part| part.saturating_add(1)));
        put(&mut out, line.line.wrapping_sub(before));
        if line.kind == DirectiveKind::Other {
            put(&mut out, line.key.len() as u32);
            out.extend_from_slice(line.key);
        }
        // Neighboring values often share a prefix, such as a site's sitemap URLs.
        let shared = value.iter().zip(line.value).take_while(|(a, b)| a == b).count();
        put(&mut out, shared as u32);
        put(&mut out, (line.value.len() - shared) as u32);
        out.extend_from_slice(&line.value[shared..]);
        (before, value) = (line.line, line.value);
    }
    pad(&mut out, UNIT);
    Ok(out)
}

fn put(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cold]
fn damaged(expected: &str, found: impl Into<String>) -> FormatError {
    FormatError::at(Section::Other, 0, expected, found)
}

/// The other directives in a set.
#[derive(Clone, Copy)]
pub struct OtherDirectives<'a>(pub(crate) &'a [u8]);

impl<'a> OtherDirectives<'a> {
    /// Returns the lines at an address. Empty without an address.
    #[must_use]
    pub fn get(self, address: Option<u32>) -> DirectiveList<'a> {
        let Some(address) = address else { return DirectiveList { bytes: &[], is_absent: true } };
        DirectiveList { bytes: self.0.get(address as usize * UNIT..).unwrap_or_default(), is_absent: false }
    }

    /// Proves that the section is canonical.
    pub(crate) fn verify(self, steps: &mut u64) -> Result<PoolReferences, FormatError> {
        verify_pool(Section::Other, self.0, UNIT, steps, |bytes, out| {
            let list = DirectiveList { bytes, is_absent: false };
            let parts = list.parts()?;
            if parts.windows(2).any(|pair| pair[0] >= pair[1]) {
                return Err(damaged("sorted groups and parts", "another order"));
            }
            let groups = parts.last().map_or(0, |&(group, _)| group.saturating_add(1));
            if list.group_count()? != groups {
                return Err(damaged(&format!("{groups} groups"), list.group_count()?.to_string()));
            }
            let mut reader = list.reader()?;
            if reader.left == 0 {
                return Err(damaged("at least one line", "none"));
            }
            // Reading accepts only the shortest numbers and texts, so they need not be encoded again.
            while reader.next()?.is_some() {}
            out.extend_from_slice(&bytes[..bytes.len() - reader.source.bytes.len()]);
            pad(out, UNIT);
            Ok(())
        })
    }
}

/// The other directives for an origin.
#[derive(Clone, Copy)]
pub struct DirectiveList<'a> {
    /// The record, followed by the section's remaining bytes.
    bytes: &'a [u8],
    is_absent: bool,
}

impl<'a> DirectiveList<'a> {
    /// Returns whether there are no lines.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.is_absent
    }

    /// Returns the minimum group count for the policy.
    ///
    /// # Errors
    /// Returns an error if the section is damaged.
    pub(crate) fn group_count(&self) -> Result<u32, FormatError> {
        if self.is_absent { Ok(0) } else { RecordReader { bytes: self.bytes }.number() }
    }

    /// Returns pairs: the index of a group in the policy, and a part of the file that it has.
    ///
    /// # Errors
    /// Returns an error if the section is damaged.
    pub fn parts(&self) -> Result<Vec<(u32, u32)>, FormatError> {
        let mut source = RecordReader { bytes: self.bytes };
        // Reserves no capacity, because the count is untrusted.
        let mut parts = Vec::new();
        for _ in 0..if self.is_absent { 0 } else { source.part_count()? } {
            parts.push((source.number()?, source.number()?));
        }
        Ok(parts)
    }

    /// Returns the parts that any of these groups has. Groups are indexes in the policy.
    ///
    /// # Errors
    /// Returns an error if the section is damaged.
    pub fn parts_of(&self, groups: &[u32]) -> Result<Vec<u32>, FormatError> {
        let mut parts = self.parts()?;
        parts.retain(|(group, _)| groups.contains(group));
        Ok(parts.into_iter().map(|(_, part)| part).collect())
    }

    /// Returns a reader for the lines, in file order.
    ///
    /// # Errors
    /// Returns an error if the section is damaged.
    pub fn reader(&self) -> Result<DirectiveReader<'a>, FormatError> {
        let mut source = RecordReader { bytes: self.bytes };
        let mut left = 0;
        if !self.is_absent {
            for _ in 0..source.part_count()? {
                source.number()?;
                source.number()?;
            }
            left = source.number()?;
            if left as usize > MAX_DIRECTIVES {
                return Err(damaged(&format!("at most {MAX_DIRECTIVES} lines"), left.to_string()));
            }
        }
        Ok(DirectiveReader { source, left, line: 0, text: 0, value: Vec::new() })
    }

    /// Returns the record's bytes.
    ///
    /// # Errors
    /// Returns an error if the section is damaged.
    #[cfg(feature = "write")]
    pub(crate) fn record(&self) -> Result<&'a [u8], FormatError> {
        let mut reader = self.reader()?;
        while reader.next()?.is_some() {}
        let len = (self.bytes.len() - reader.source.bytes.len()).next_multiple_of(UNIT);
        self.bytes.get(..len).ok_or_else(|| damaged("whole units of 4 bytes", "the end of the section"))
    }
}

/// Reads an origin's lines in order. Needs memory for one value.
pub struct DirectiveReader<'a> {
    source: RecordReader<'a>,
    left: u32,
    line: u32,
    /// Total bytes of keys and values so far.
    text: usize,
    value: Vec<u8>,
}

impl DirectiveReader<'_> {
    /// Returns the next line, or `None` after the last.
    ///
    /// # Errors
    /// Returns an error if the section is damaged.
    #[allow(clippy::should_implement_trait, reason = "the result borrows from the reader")]
    pub fn next(&mut self) -> Result<Option<Directive<'_>>, FormatError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let first = self.source.byte()?;
        let kind = DirectiveKind::ALL.get(usize::from(first & ((1 << KIND_BITS) - 1)));
        let state = DirectiveState::ALL.get(usize::from(first >> KIND_BITS));
        let (Some(&kind), Some(&state)) = (kind, state) else {
            return Err(damaged("a kind and a state that this version knows", format!("{first:02x}")));
        };
        let part = self.source.number()?.checked_sub(1);
        self.line = self.line.wrapping_add(self.source.number()?);
        let key = if kind == DirectiveKind::Other { self.source.text(0)? } else { b"" };
        let shared = self.source.number()? as usize;
        if shared > self.value.len() {
            let expected = format!("a prefix of the previous value's {} bytes", self.value.len());
            return Err(damaged(&expected, format!("a prefix of {shared} bytes")));
        }
        let text = self.source.text(shared)?;
        self.text += key.len() + shared + text.len();
        if self.text > MAX_DIRECTIVE_TEXT_BYTES {
            let expected = format!("texts of at most {MAX_DIRECTIVE_TEXT_BYTES} bytes in a record");
            return Err(damaged(&expected, self.text.to_string()));
        }
        if !text.is_empty() && self.value.get(shared) == text.first() {
            return Err(damaged("the longest common prefix with the previous value", format!("{shared} bytes")));
        }
        self.value.truncate(shared);
        self.value.extend_from_slice(text);
        Ok(Some(Directive { kind, state, part, key, value: &self.value, line: self.line }))
    }
}

/// A byte reader that moves from start to end.
#[derive(Clone, Copy)]
struct RecordReader<'a> {
    bytes: &'a [u8],
}

impl<'a> RecordReader<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], FormatError> {
        let split = self.bytes.split_at_checked(len);
        let (taken, rest) = split.ok_or_else(|| damaged("the rest of a record", "the end of the section"))?;
        self.bytes = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, FormatError> {
        Ok(self.take(1)?.first().copied().unwrap_or_default())
    }

    fn number(&mut self) -> Result<u32, FormatError> {
        let mut number = 0_u64;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7F) << shift;
            if byte == 0 && shift > 0 {
                return Err(damaged("a number in its shortest form", "a longer one"));
            }
            if byte < 0x80 {
                return u32::try_from(number).map_err(|_| damaged("a number of 32 bits", number.to_string()));
            }
        }
        Err(damaged("a number of at most five bytes", "a longer one"))
    }

    /// Reads the pair count.
    fn part_count(&mut self) -> Result<u32, FormatError> {
        self.number()?;
        self.number()
    }

    /// Reads a text's length and remaining bytes. `before` is its length so far.
    fn text(&mut self, before: usize) -> Result<&'a [u8], FormatError> {
        let len = self.number()? as usize;
        if before + len > MAX_DIRECTIVE_BYTES {
            return Err(damaged(&format!("a text of at most {MAX_DIRECTIVE_BYTES} bytes"), (before + len).to_string()));
        }
        self.take(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line<'a>(kind: DirectiveKind, part: Option<u32>, key: &'a [u8], value: &'a [u8], line: u32) -> Directive<'a> {
        Directive { kind, state: DirectiveState::Counts, part, key, value, line }
    }

    #[test]
    fn records_round_trip() {
        let lines = [
            line(DirectiveKind::Sitemap, None, b"", b"https://a.example/1", 1),
            Directive {
                state: DirectiveState::Superseded,
                ..line(DirectiveKind::Sitemap, None, b"", b"https://a.example/2", 300)
            },
            line(DirectiveKind::Other, Some(7), b"Key", b"", 300),
            line(DirectiveKind::CrawlDelay, Some(200), b"", b"2.5", 70_000),
        ];
        let record = encode(&[(0, 7), (1, 200)], &lines).unwrap();
        assert!(encode(&[(0, 7)], &[]).unwrap().is_empty());
        let other = OtherDirectives(&record);
        other.verify(&mut 0).unwrap();
        let list = other.get(Some(0));
        let mut reader = list.reader().unwrap();
        for line in lines {
            assert_eq!(reader.next().unwrap(), Some(line));
        }
        assert_eq!(reader.next().unwrap(), None);
        assert_eq!(list.parts_of(&[1, 2]).unwrap(), [200]);
        assert_eq!(list.group_count(), Ok(2));
        assert_eq!(list.record(), Ok(&record[..]));
        assert!(other.get(None).reader().unwrap().next().unwrap().is_none());
    }

    #[test]
    fn records_have_one_encoding() {
        let record = encode(&[(0, 7)], &[line(DirectiveKind::Other, Some(7), b"k", b"vw", 3)]).unwrap();
        for at in 0..record.len() {
            for bit in 0..8 {
                let mut other = record.clone();
                other[at] ^= 1 << bit;
                if OtherDirectives(&other).verify(&mut 0).is_err() {
                    continue;
                }
                let list = OtherDirectives(&other).get(Some(0));
                let mut reader = list.reader().unwrap();
                let found = reader.next().unwrap().unwrap();
                assert_eq!(encode(&list.parts().unwrap(), &[found]).unwrap(), other, "byte {at}, bit {bit}");
            }
        }
    }

    #[test]
    fn longer_texts_than_the_limit_are_neither_written_nor_read() {
        for (len, fits) in
            [(MAX_DIRECTIVE_BYTES - 1, true), (MAX_DIRECTIVE_BYTES, true), (MAX_DIRECTIVE_BYTES + 1, false)]
        {
            let text = vec![b'a'; len];
            assert_eq!(encode(&[], &[line(DirectiveKind::Host, None, b"", &text, 1)]).is_ok(), fits);
            assert_eq!(encode(&[], &[line(DirectiveKind::Other, None, &text, b"", 1)]).is_ok(), fits);
            // Two values that differ only in the second one's end. The limit applies to the decoded value.
            let start = vec![b'a'; MAX_DIRECTIVE_BYTES - 1];
            let mut bytes = encode(&[], &[line(DirectiveKind::Host, None, b"", &start, 1)]).unwrap();
            // Changes the count to two lines, and removes the padding before the second.
            bytes[2] = 2;
            bytes.truncate(3 + 7 + start.len());
            bytes.extend_from_slice(&[DirectiveKind::Host as u8, 0, 1]);
            put(&mut bytes, MAX_DIRECTIVE_BYTES as u32 - 1);
            put(&mut bytes, (len + 1 - MAX_DIRECTIVE_BYTES) as u32);
            bytes.extend_from_slice(&[b'a'; 2]);
            let list = OtherDirectives(&bytes).get(Some(0));
            let mut reader = list.reader().unwrap();
            assert!(reader.next().unwrap().is_some());
            assert_eq!(reader.next().is_ok(), fits, "{len}");
        }
    }

    #[test]
    fn more_text_than_the_limit_is_neither_written_nor_read() {
        // Values of equal bytes share all but the last one's end, so the record is small although its text is large.
        let whole = vec![b'a'; MAX_DIRECTIVE_BYTES];
        let count = MAX_DIRECTIVE_TEXT_BYTES / MAX_DIRECTIVE_BYTES;
        let rest = MAX_DIRECTIVE_TEXT_BYTES % MAX_DIRECTIVE_BYTES;
        for (len, fits) in [(rest - 1, true), (rest, true), (rest + 1, false)] {
            let mut lines = vec![line(DirectiveKind::Host, None, b"", &whole, 1); count];
            lines.push(line(DirectiveKind::Host, None, b"", &whole[..len], 1));
            assert_eq!(encode(&[], &lines).is_ok(), fits, "{len}");
            // The same record, encoded without the limit.
            let mut bytes = vec![0, 0];
            put(&mut bytes, lines.len() as u32);
            for (place, found) in lines.iter().enumerate() {
                bytes.extend_from_slice(&[DirectiveKind::Host as u8, 0, 0]);
                put(&mut bytes, if place == 0 { 0 } else { found.value.len() as u32 });
                put(&mut bytes, if place == 0 { found.value.len() as u32 } else { 0 });
                bytes.extend_from_slice(if place == 0 { found.value } else { b"" });
            }
            let mut reader = DirectiveList { bytes: &bytes, is_absent: false }.reader().unwrap();
            assert!((0..count).all(|_| reader.next().unwrap().is_some()));
            assert_eq!(reader.next().is_ok(), fits, "{len}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn more_lines_than_the_limit_are_neither_written_nor_read() {
        for (count, fits) in [(MAX_DIRECTIVES - 1, true), (MAX_DIRECTIVES, true), (MAX_DIRECTIVES + 1, false)] {
            let lines = vec![line(DirectiveKind::Host, None, b"", b"a", 1); count];
            assert_eq!(encode(&[], &lines).is_ok(), fits, "{count}");
            // A record with this many lines, encoded without the limit: no groups, no parts, the count, and the lines.
            let mut bytes = vec![0, 0];
            put(&mut bytes, count as u32);
            (0..count).for_each(|_| bytes.extend_from_slice(&[DirectiveKind::Host as u8, 0, 0, 0, 0]));
            let list = DirectiveList { bytes: &bytes, is_absent: false };
            assert_eq!(list.reader().is_ok(), fits, "{count}");
        }
    }
}
