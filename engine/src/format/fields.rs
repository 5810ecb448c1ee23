//! Other directives: the lines of a robots.txt that decide no URL, as kind, text and line number.
//!
//! The record of one file is written by [`encode`] and read by [`DirectiveList`], the section over all policies by
//! [`write_fields`] and [`OtherDirectives`]. What a value means is not known here, and no decision reads any of it.

use super::container::Section;
use super::{FormatError, TooLarge, fit, u32_at};

/// Bytes of one value, or of one key. A longer one cannot be written, and makes no sense when read; it bounds what a
/// reader has to hold.
pub const MAX_DIRECTIVE_BYTES: usize = 4096;

/// What a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[repr(u8)]
pub enum DirectiveKind {
    /// The address of a sitemap.
    Sitemap = 0,
    /// Seconds between two requests.
    CrawlDelay = 1,
    /// Requests in a time, perhaps at some hours only.
    RequestRate = 2,
    /// The hours for visits.
    VisitTime = 3,
    /// The main one of several hosts.
    Host = 4,
    /// Parameters of URLs that change nothing.
    CleanParam = 5,
    /// Content signals: what may be done with what was fetched.
    ContentSignal = 6,
    /// Usage preferences of the IETF, for a path or for all.
    ContentUsage = 7,
    /// Paths to be left out of an index.
    Noindex = 8,
    /// Anything else; the record has the key.
    Other = 9,
}

impl DirectiveKind {
    /// Every kind, by its number.
    pub const ALL: [DirectiveKind; 10] = [
        DirectiveKind::Sitemap,
        DirectiveKind::CrawlDelay,
        DirectiveKind::RequestRate,
        DirectiveKind::VisitTime,
        DirectiveKind::Host,
        DirectiveKind::CleanParam,
        DirectiveKind::ContentSignal,
        DirectiveKind::ContentUsage,
        DirectiveKind::Noindex,
        DirectiveKind::Other,
    ];

    /// The key that begins such a line, in lower case; `other` for any other.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            DirectiveKind::Sitemap => "sitemap",
            DirectiveKind::CrawlDelay => "crawl-delay",
            DirectiveKind::RequestRate => "request-rate",
            DirectiveKind::VisitTime => "visit-time",
            DirectiveKind::Host => "host",
            DirectiveKind::CleanParam => "clean-param",
            DirectiveKind::ContentSignal => "content-signal",
            DirectiveKind::ContentUsage => "content-usage",
            DirectiveKind::Noindex => "noindex",
            DirectiveKind::Other => "other",
        }
    }
}

/// What the dialect that a set was compiled under makes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[repr(u8)]
pub enum DirectiveState {
    /// It counts.
    Counts = 0,
    /// The dialect gives such lines no meaning. Others may.
    NotRead = 1,
    /// The value is none that the dialect takes.
    Malformed = 2,
    /// It belongs into a group, and stands in none.
    Outside = 3,
    /// Only one such line counts, and an earlier one does.
    Superseded = 4,
}

impl DirectiveState {
    const ALL: [DirectiveState; 5] = [
        DirectiveState::Counts,
        DirectiveState::NotRead,
        DirectiveState::Malformed,
        DirectiveState::Outside,
        DirectiveState::Superseded,
    ];

    /// The word that stands for it in output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            DirectiveState::Counts => "counts",
            DirectiveState::NotRead => "not-read",
            DirectiveState::Malformed => "malformed",
            DirectiveState::Outside => "outside",
            DirectiveState::Superseded => "superseded",
        }
    }
}

/// A line of other directives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Directive<'a> {
    /// What it is about.
    pub kind: DirectiveKind,
    /// What the dialect makes of it.
    pub state: DirectiveState,
    /// The part of the file that it belongs to, for the lines that are for some agents; `None` for those that are
    /// for everybody. [`DirectiveList::parts_of`] has the parts of a group.
    pub part: Option<u32>,
    /// The key as written, for [`DirectiveKind::Other`]; else empty.
    pub key: &'a [u8],
    /// The value as written, trimmed.
    pub value: &'a [u8],
    /// The line, from 1.
    pub line: u32,
}

/// Bits of a field's first byte that are its kind; the others are its state.
const KIND_BITS: u32 = 4;

/// Writes the record of one file: which parts of it each group of its policy has, as pairs of both, in order, and the
/// lines in their order. Nothing for a file without any.
///
/// # Errors
/// When a value or a key is longer than [`MAX_DIRECTIVE_BYTES`], or there are 2^32 lines or more.
pub fn encode(parts: &[(u32, u32)], fields: &[Directive<'_>]) -> Result<Vec<u8>, TooLarge> {
    let mut out = Vec::new();
    if fields.is_empty() {
        return Ok(out);
    }
    put(&mut out, fit("parts of a file", parts.len(), u32::MAX.into())?);
    for &(group, part) in parts {
        put(&mut out, group);
        put(&mut out, part);
    }
    put(&mut out, fit("lines of other directives", fields.len(), u32::MAX.into())?);
    let (mut line, mut value): (u32, &[u8]) = (0, b"");
    for field in fields {
        for text in [field.key, field.value] {
            if text.len() > MAX_DIRECTIVE_BYTES {
                let limit = MAX_DIRECTIVE_BYTES as u64;
                return Err(TooLarge { what: "bytes of a line of other directives", limit, found: text.len() as u64 });
            }
        }
        out.push((field.state as u8) << KIND_BITS | field.kind as u8);
        put(&mut out, field.part.map_or(0, |part| part + 1));
        put(&mut out, field.line.wrapping_sub(line));
        if field.kind == DirectiveKind::Other {
            put(&mut out, field.key.len() as u32);
            out.extend_from_slice(field.key);
        }
        // Neighbours are often alike: the addresses of one site's sitemaps.
        let shared = value.iter().zip(field.value).take_while(|(a, b)| a == b).count();
        put(&mut out, shared as u32);
        put(&mut out, (field.value.len() - shared) as u32);
        out.extend_from_slice(&field.value[shared..]);
        (line, value) = (field.line, field.value);
    }
    Ok(out)
}

/// Writes the section: for each policy, in the order of their numbers, the index of its record or `None`, over the
/// records of [`encode`]. Empty if no policy has one.
///
/// # Errors
/// When it takes 4 GiB or more.
pub fn write_fields(records: &[Box<[u8]>], policies: &[Option<u32>]) -> Result<Vec<u8>, TooLarge> {
    let with_record: Vec<(u32, u32)> =
        (0..).zip(policies).filter_map(|(policy, record)| Some((policy, (*record)?))).collect();
    if with_record.is_empty() {
        return Ok(Vec::new());
    }
    let too_large = |size| fit::<u32>("bytes of other directives", size, u32::MAX.into());
    let mut end = 4 + with_record.len() * 8;
    let mut starts = Vec::with_capacity(records.len());
    for record in records {
        starts.push(too_large(end)?);
        end += record.len();
    }
    too_large(end)?;
    let mut out = Vec::with_capacity(end);
    out.extend_from_slice(&(with_record.len() as u32).to_le_bytes());
    with_record.iter().for_each(|(policy, _)| out.extend_from_slice(&policy.to_le_bytes()));
    for &(_, record) in &with_record {
        out.extend_from_slice(&starts.get(record as usize).copied().unwrap_or(u32::MAX).to_le_bytes());
    }
    records.iter().for_each(|record| out.extend_from_slice(record));
    Ok(out)
}

fn put(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn damaged(expected: &str) -> FormatError {
    FormatError::new(Section::Other.name(), expected, "bytes that are none: run `verify` on the file")
}

/// The other directives of a set.
#[derive(Clone, Copy)]
pub struct OtherDirectives<'a>(pub &'a [u8]);

impl<'a> OtherDirectives<'a> {
    /// How many policies have any.
    ///
    /// # Errors
    /// When the section is damaged.
    pub fn count(self) -> Result<u32, FormatError> {
        if self.0.is_empty() {
            return Ok(0);
        }
        let count = u32_at(self.0, 0).filter(|&count| (count as usize) < self.0.len() / 8);
        count.ok_or_else(|| damaged("a table of policies"))
    }

    /// The number of the policy at a place of the table, and its lines.
    fn at(self, place: u32) -> Result<(u32, DirectiveList<'a>), FormatError> {
        let count = self.count()? as usize;
        let entry = || {
            let policy = u32_at(self.0, 4 + place as usize * 4)?;
            let start = u32_at(self.0, 4 + count * 4 + place as usize * 4)? as usize;
            Some((policy, DirectiveList { bytes: self.0.get(start..).filter(|_| start >= 4 + count * 8)? }))
        };
        entry().ok_or_else(|| damaged("an entry of the table of policies"))
    }

    /// The lines of a policy, by its number. A binary search.
    ///
    /// # Errors
    /// When the section is damaged.
    pub fn of_policy(self, policy: u32) -> Result<DirectiveList<'a>, FormatError> {
        let (mut low, mut high) = (0, self.count()?);
        while low < high {
            let middle = low.midpoint(high);
            let (found, list) = self.at(middle)?;
            match found.cmp(&policy) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Ok(list),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Ok(DirectiveList { bytes: &[] })
    }

    /// Reads all of the section: the policies exist and are in order, and so are the groups that parts are for.
    ///
    /// # Errors
    /// When something is not so.
    pub fn verify(self, groups_of: impl Fn(u32) -> Result<u32, FormatError>) -> Result<(), FormatError> {
        let mut last = None;
        for place in 0..self.count()? {
            let (policy, list) = self.at(place)?;
            if last >= Some(policy) {
                return Err(damaged("policies in order"));
            }
            last = Some(policy);
            let groups = groups_of(policy)?;
            let mut last = None;
            for pair in list.parts()? {
                if pair.0 >= groups || last >= Some(pair) {
                    return Err(damaged("parts in order, each of a group of the policy"));
                }
                last = Some(pair);
            }
            let mut reader = list.reader()?;
            while reader.next()?.is_some() {}
        }
        Ok(())
    }
}

/// The other directives of one policy.
#[derive(Clone, Copy)]
pub struct DirectiveList<'a> {
    bytes: &'a [u8],
}

impl<'a> DirectiveList<'a> {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Pairs of a group of the policy, by its index, and a part of the file that it has.
    ///
    /// # Errors
    /// When the section is damaged.
    pub fn parts(&self) -> Result<Vec<(u32, u32)>, FormatError> {
        let mut source = Source { bytes: self.bytes };
        // Not reserved: the count is not to be trusted.
        let mut parts = Vec::new();
        for _ in 0..if self.is_empty() { 0 } else { source.number()? } {
            parts.push((source.number()?, source.number()?));
        }
        Ok(parts)
    }

    /// The parts of the file that some groups of the policy have, by their indices.
    ///
    /// # Errors
    /// When the section is damaged.
    pub fn parts_of(&self, groups: &[u32]) -> Result<Vec<u32>, FormatError> {
        let mut parts = self.parts()?;
        parts.retain(|(group, _)| groups.contains(group));
        Ok(parts.into_iter().map(|(_, part)| part).collect())
    }

    /// The lines, in their order.
    ///
    /// # Errors
    /// When the section is damaged.
    pub fn reader(&self) -> Result<DirectiveReader<'a>, FormatError> {
        let mut source = Source { bytes: self.bytes };
        let mut left = 0;
        if !self.is_empty() {
            for _ in 0..source.number()? {
                source.number()?;
                source.number()?;
            }
            left = source.number()?;
        }
        Ok(DirectiveReader { source, left, line: 0, value: Vec::new() })
    }
}

/// Reads the lines of one policy one after the other, with memory for one value.
pub struct DirectiveReader<'a> {
    source: Source<'a>,
    left: u32,
    line: u32,
    value: Vec<u8>,
}

impl DirectiveReader<'_> {
    /// The next line; `None` behind the last.
    ///
    /// # Errors
    /// When the section is damaged.
    #[allow(clippy::should_implement_trait, reason = "what it gives borrows from the reader")]
    pub fn next(&mut self) -> Result<Option<Directive<'_>>, FormatError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let &[first] = self.source.take(1)? else { return Err(damaged("a line")) };
        let kind = DirectiveKind::ALL.get(usize::from(first & ((1 << KIND_BITS) - 1)));
        let state = DirectiveState::ALL.get(usize::from(first >> KIND_BITS));
        let (Some(&kind), Some(&state)) = (kind, state) else { return Err(damaged("a kind of line")) };
        let part = self.source.number()?.checked_sub(1);
        self.line = self.line.wrapping_add(self.source.number()?);
        let key = if kind == DirectiveKind::Other { self.source.text(0)? } else { b"" };
        let shared = self.source.number()? as usize;
        if shared > self.value.len() {
            return Err(damaged("a value that begins like the one before"));
        }
        self.value.truncate(shared);
        self.value.extend_from_slice(self.source.text(shared)?);
        Ok(Some(Directive { kind, state, part, key, value: &self.value, line: self.line }))
    }
}

/// Bytes that are read from front to back.
#[derive(Clone, Copy)]
struct Source<'a> {
    bytes: &'a [u8],
}

impl<'a> Source<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], FormatError> {
        let (taken, rest) = self.bytes.split_at_checked(len).ok_or_else(|| damaged("more bytes"))?;
        self.bytes = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u32, FormatError> {
        let mut number = 0_u64;
        for shift in (0..35).step_by(7) {
            let &[byte] = self.take(1)? else { break };
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return u32::try_from(number).map_err(|_| damaged("a number of 32 bits"));
            }
        }
        Err(damaged("a number of five bytes at most"))
    }

    /// Text with its length in front, which has `before` bytes already.
    fn text(&mut self, before: usize) -> Result<&'a [u8], FormatError> {
        let len = self.number()? as usize;
        if before + len > MAX_DIRECTIVE_BYTES {
            return Err(damaged("text within the limit of a line"));
        }
        self.take(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field<'a>(kind: DirectiveKind, part: Option<u32>, key: &'a [u8], value: &'a [u8], line: u32) -> Directive<'a> {
        Directive { kind, state: DirectiveState::Counts, part, key, value, line }
    }

    #[test]
    fn what_is_written_is_read() {
        let fields = [
            field(DirectiveKind::Sitemap, None, b"", b"https://a.example/1", 1),
            Directive {
                state: DirectiveState::Superseded,
                ..field(DirectiveKind::Sitemap, None, b"", b"https://a.example/2", 300)
            },
            field(DirectiveKind::Other, Some(7), b"Key", b"", 300),
            field(DirectiveKind::CrawlDelay, Some(200), b"", b"2.5", 70_000),
        ];
        let record: Box<[u8]> = encode(&[(0, 7), (1, 200)], &fields).unwrap().into();
        assert!(encode(&[(0, 7)], &[]).unwrap().is_empty());
        let section = write_fields(&[record], &[None, Some(0), None, Some(0)]).unwrap();
        let read = OtherDirectives(&section);
        assert_eq!(read.count(), Ok(2));
        for policy in 0..5 {
            let list = read.of_policy(policy).unwrap();
            let mut reader = list.reader().unwrap();
            for field in fields.iter().filter(|_| policy % 2 == 1 && policy < 4) {
                assert_eq!(reader.next().unwrap(), Some(*field));
            }
            assert_eq!(reader.next().unwrap(), None);
        }
        assert_eq!(read.of_policy(1).unwrap().parts_of(&[1, 2]).unwrap(), [200]);
        read.verify(|_| Ok(2)).unwrap();
        assert!(read.verify(|_| Ok(1)).is_err());
        assert!(write_fields(&[], &[None]).unwrap().is_empty());
    }

    #[test]
    fn the_limit_of_a_text_holds_at_its_edges() {
        for (len, fits) in
            [(MAX_DIRECTIVE_BYTES - 1, true), (MAX_DIRECTIVE_BYTES, true), (MAX_DIRECTIVE_BYTES + 1, false)]
        {
            let text = vec![b'a'; len];
            assert_eq!(encode(&[], &[field(DirectiveKind::Host, None, b"", &text, 1)]).is_ok(), fits);
            assert_eq!(encode(&[], &[field(DirectiveKind::Other, None, &text, b"", 1)]).is_ok(), fits);
            // Two values that share all but the end of the second: what is read is bounded as a whole.
            let start = vec![b'a'; MAX_DIRECTIVE_BYTES - 1];
            let mut bytes = encode(&[], &[field(DirectiveKind::Host, None, b"", &start, 1)]).unwrap();
            bytes[1] = 2;
            bytes.extend_from_slice(&[DirectiveKind::Host as u8, 0, 1]);
            put(&mut bytes, MAX_DIRECTIVE_BYTES as u32 - 1);
            put(&mut bytes, (len + 1 - MAX_DIRECTIVE_BYTES) as u32);
            bytes.extend_from_slice(&[b'a'; 2]);
            let list = DirectiveList { bytes: &bytes };
            let mut reader = list.reader().unwrap();
            assert!(reader.next().unwrap().is_some());
            assert_eq!(reader.next().is_ok(), fits, "{len}");
        }
    }
}
