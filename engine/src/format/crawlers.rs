//! The section `crawlers`: each known crawler's product tokens, so that readers in any language resolve names in the
//! same way.
//!
//! A robots.txt does not say that Googlebot-Image also obeys the group for Googlebot; its operator's documentation
//! does. The compiler contains the table and writes it in its dialect's terms.

use std::iter;

use super::container::Section;
use super::{FormatError, TooLarge, fit, put, u32_at};
use crate::token::{TokenSyntax, without_version};

/// Maximum length in bytes of a crawler's name or product token.
pub const MAX_CRAWLER_NAME_BYTES: usize = 255;

/// Maximum number of product tokens for a crawler.
pub const MAX_CRAWLER_TOKENS: usize = 255;

/// Header size in bytes. The table of ends follows.
const HEADER_BYTES: usize = 8;

const HONORS_DEFAULT_GROUP: u8 = 1;
const IS_PREFIX: u8 = 2;
const STARTS_WITH_ITSELF: u8 = 4;

/// A crawler's purposes, for selecting crawlers. A set of bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purposes(u8);

impl Purposes {
    /// No known purpose.
    pub const NONE: Purposes = Purposes(0);
    /// Fetches training data for models, or is a product token that permits training on pages.
    pub const AI_TRAINING: Purposes = Purposes(1);
    /// Fetches pages for a search or answer engine.
    pub const SEARCH: Purposes = Purposes(2);
    /// Fetches pages for answers by a model.
    pub const AI_SEARCH: Purposes = Purposes(4);
    /// Fetches single pages at a user's request.
    pub const USER_TRIGGERED: Purposes = Purposes(8);
    /// Fetches pages for an archive.
    pub const ARCHIVE: Purposes = Purposes(16);
    /// Fetches pages for search engine optimization.
    pub const SEO: Purposes = Purposes(32);

    const KNOWN: u8 = 63;

    /// Returns whether the crawler has all these purposes.
    #[must_use]
    pub fn contains(self, purposes: Purposes) -> bool {
        self.0 & purposes.0 == purposes.0
    }

    /// Returns the union of two sets of purposes.
    #[must_use]
    pub const fn union(self, other: Purposes) -> Purposes {
        Purposes(self.0 | other.0)
    }
}

/// A known crawler before it is encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrawlerDraft<'a> {
    /// The crawler's name, by which users select it.
    pub name: &'a [u8],
    /// The crawler's product tokens, most specific first.
    pub chain: Vec<&'a [u8]>,
    /// Whether the caller's name precedes the chain.
    pub starts_with_itself: bool,
    /// Whether the entry is a family: it represents every crawler whose name has this prefix and no entry.
    pub is_prefix: bool,
    /// Whether the crawler obeys the default group if a file does not name it.
    pub honors_default_group: bool,
    /// The crawler's purposes.
    pub purposes: Purposes,
}

/// The decoded section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrawlerTable<'a> {
    /// The syntax of product tokens in user-agent lines.
    pub syntax: TokenSyntax,
    /// Whether a caller's name is cut at its first `/`, where the version begins.
    pub cuts_version: bool,
    /// The crawlers, in any order. Names must differ by more than letter case.
    pub crawlers: Vec<CrawlerDraft<'a>>,
}

impl CrawlerTable<'_> {
    /// Writes the section.
    ///
    /// # Errors
    /// Returns an error if a name is too long, or there are too many product tokens.
    pub fn write(&self) -> Result<Vec<u8>, TooLarge> {
        fn lower<'n>(crawler: &CrawlerDraft<'n>) -> impl Iterator<Item = u8> + 'n {
            crawler.name.iter().map(u8::to_ascii_lowercase)
        }
        // Most names have different prefixes, which compare as numbers.
        let beginning =
            |crawler| lower(crawler).chain(iter::repeat(0)).take(16).fold(0, |key, byte| key << 8 | u128::from(byte));
        let mut crawlers: Vec<(u128, &CrawlerDraft<'_>)> =
            self.crawlers.iter().map(|crawler| (beginning(crawler), crawler)).collect();
        crawlers.sort_by(|(key, a), (other, b)| key.cmp(other).then_with(|| lower(a).cmp(lower(b))));
        let names = |crawler: &CrawlerDraft<'_>| crawler.chain.iter().map(|token| token.len() + 1).sum::<usize>();
        let bytes = self.crawlers.iter().map(|crawler| crawler.name.len() + 4 + names(crawler)).sum();
        let (mut ends, mut records) = (Vec::with_capacity(crawlers.len() * 4), Vec::with_capacity(bytes));
        for (_, crawler) in &crawlers {
            encode(crawler, &mut records)?;
            put(&mut ends, fit("bytes of crawlers", records.len(), u32::MAX.into())?);
        }
        let mut out = vec![self.syntax as u8, self.cuts_version.into(), 0, 0];
        put(&mut out, fit("crawlers", crawlers.len(), u32::MAX.into())?);
        out.append(&mut ends);
        out.append(&mut records);
        Ok(out)
    }
}

/// Appends a crawler's record.
fn encode(crawler: &CrawlerDraft<'_>, out: &mut Vec<u8>) -> Result<(), TooLarge> {
    let limited = |what, found: usize, limit: usize| {
        u8::try_from(found).map_err(|_| TooLarge { what, limit: limit as u64, found: found as u64 })
    };
    let name_len = |name: &[u8]| limited("bytes of a crawler's name", name.len(), MAX_CRAWLER_NAME_BYTES);
    let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    out.push(
        flag(crawler.honors_default_group, HONORS_DEFAULT_GROUP)
            | flag(crawler.is_prefix, IS_PREFIX)
            | flag(crawler.starts_with_itself, STARTS_WITH_ITSELF),
    );
    out.push(crawler.purposes.0);
    out.push(limited("product tokens of a crawler", crawler.chain.len(), MAX_CRAWLER_TOKENS)?);
    for name in [crawler.name].iter().chain(&crawler.chain) {
        out.push(name_len(name)?);
        out.extend_from_slice(name);
    }
    Ok(())
}

/// The known crawlers in a set.
#[derive(Clone, Copy)]
pub struct Crawlers<'a>(pub(crate) &'a [u8]);

/// A crawler resolved by name: the product tokens to look for, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedCrawler<'a> {
    /// The product tokens, most specific first. A crawler without tokens obeys no robots.txt unless it honors the
    /// default group.
    pub tokens: Vec<&'a [u8]>,
    /// Whether the crawler obeys the default group if a file does not name it.
    pub honors_default_group: bool,
    /// The crawler's entry in the table; `None` for an unknown name.
    pub known: Option<CrawlerDraft<'a>>,
}

impl<'a> Crawlers<'a> {
    /// Creates a view of a table that [`CrawlerTable::write`] returned.
    #[must_use]
    pub fn new(table: &'a [u8]) -> Crawlers<'a> {
        Crawlers(table)
    }

    /// Returns the syntax of product tokens in user-agent lines.
    ///
    /// # Errors
    /// Returns an error if the table is damaged.
    pub fn syntax(self) -> Result<TokenSyntax, FormatError> {
        let known = self.0.first().and_then(|&number| TokenSyntax::ALL.get(usize::from(number)));
        known.copied().ok_or_else(|| self.error(0, "a product token syntax that this version knows", self.number_at(0)))
    }

    /// Returns whether a caller's name is cut before its version.
    ///
    /// # Errors
    /// Returns an error if the table is damaged.
    pub fn cuts_version(self) -> Result<bool, FormatError> {
        match self.0.get(1) {
            Some(0) => Ok(false),
            Some(1) => Ok(true),
            _ => Err(self.error(1, "the number 0 or 1", self.number_at(1))),
        }
    }

    /// Describes the byte at an offset, for errors.
    #[cold]
    fn number_at(self, at: usize) -> String {
        self.0.get(at).map_or("the end of the section".into(), |number| format!("number {number}"))
    }

    #[cold]
    fn error(self, at: usize, expected: &str, found: impl Into<String>) -> FormatError {
        FormatError::at(Section::Crawlers, at, expected, found)
    }

    /// Returns the number of crawlers.
    ///
    /// # Errors
    /// Returns an error if the table is damaged.
    pub fn count(self) -> Result<u32, FormatError> {
        let count = u32_at(self.0, 4).filter(|&count| (self.0.len() - HEADER_BYTES) / 4 >= count as usize);
        count.ok_or_else(|| {
            let found = u32_at(self.0, 4).map_or("the end of the section".into(), |count| format!("{count} crawlers"));
            self.error(4, "as many crawlers as fit", found)
        })
    }

    /// Returns the crawler at an index in a table of `count`.
    fn at(self, place: usize, count: usize) -> Result<CrawlerDraft<'a>, FormatError> {
        self.record(place, count).and_then(read).ok_or_else(|| self.no_crawler(place, count))
    }

    /// Returns the record at an index in a table of `count`.
    fn record(self, place: usize, count: usize) -> Option<&'a [u8]> {
        let records = HEADER_BYTES + count * 4;
        let start = if place == 0 { 0 } else { u32_at(self.0, HEADER_BYTES + place * 4 - 4)? as usize };
        let end = u32_at(self.0, HEADER_BYTES + place * 4).filter(|_| place < count)? as usize;
        self.0.get(records + start..records.checked_add(end)?)
    }

    #[cold]
    fn no_crawler(self, place: usize, count: usize) -> FormatError {
        self.error(HEADER_BYTES + place * 4, "a crawler", format!("entry {place} of {count}"))
    }

    /// Returns every crawler, sorted by name in lower case.
    pub fn iter(self) -> impl Iterator<Item = Result<CrawlerDraft<'a>, FormatError>> {
        let count = self.count();
        let error = count.as_ref().err().cloned();
        let count = count.unwrap_or(0) as usize;
        (0..count).map(move |place| self.at(place, count)).chain(error.map(Err))
    }

    /// Returns the crawlers with all these purposes, sorted by name in lower case.
    pub fn with_purpose(self, purposes: Purposes) -> impl Iterator<Item = Result<CrawlerDraft<'a>, FormatError>> {
        self.iter().filter(move |crawler| crawler.as_ref().map_or(true, |crawler| crawler.purposes.contains(purposes)))
    }

    /// Resolves a crawler by name, in any letter case.
    ///
    /// Returns the known crawler with that name, otherwise the longest family whose name is a prefix, otherwise a
    /// crawler that obeys only this name. Reads every entry's name.
    ///
    /// # Errors
    /// Returns an error if the table is damaged.
    pub fn find(self, name: &'a [u8]) -> Result<ResolvedCrawler<'a>, FormatError> {
        let name = if self.cuts_version()? { without_version(name) } else { name };
        let mut known = None;
        let count = self.count()? as usize;
        for place in 0..count {
            // Most records differ in the name, so their product tokens need not be read.
            let start = self.record(place, count).and_then(name_of);
            let (flags, of_record) = start.ok_or_else(|| self.no_crawler(place, count))?;
            if name.eq_ignore_ascii_case(of_record) {
                known = Some(place);
                break;
            }
            let start = name.get(..of_record.len()).filter(|_| flags & IS_PREFIX != 0);
            // Longer prefixes are sorted after shorter ones.
            if start.is_some_and(|start| start.eq_ignore_ascii_case(of_record)) {
                known = Some(place);
            }
        }
        let Some(place) = known else {
            return Ok(ResolvedCrawler { tokens: vec![name], honors_default_group: true, known: None });
        };
        let crawler = self.at(place, count)?;
        let itself = crawler.starts_with_itself.then_some(name);
        let tokens = itself.into_iter().chain(crawler.chain.iter().copied()).collect();
        let honors_default_group = crawler.honors_default_group;
        Ok(ResolvedCrawler { tokens, honors_default_group, known: Some(crawler) })
    }

    /// Decodes the section.
    ///
    /// # Errors
    /// Returns an error if the table is damaged.
    pub fn to_table(self) -> Result<CrawlerTable<'a>, FormatError> {
        let crawlers = self.iter().collect::<Result<_, _>>()?;
        Ok(CrawlerTable { syntax: self.syntax()?, cuts_version: self.cuts_version()?, crawlers })
    }

    /// Proves that the section is canonical.
    pub(crate) fn verify(self, steps: &mut u64) -> Result<(), FormatError> {
        *steps += self.0.len() as u64;
        let mut last: Option<Vec<u8>> = None;
        for crawler in self.iter() {
            let name = crawler?.name.to_ascii_lowercase();
            if last.as_ref() >= Some(&name) {
                let found = format!("\"{}\"", name.escape_ascii());
                return Err(self.error(0, "distinct names in order", found));
            }
            last = Some(name);
        }
        match self.to_table()?.write() {
            Ok(written) if written == self.0 => Ok(()),
            _ => Err(self.error(0, "the only encoding of the table", "another encoding")),
        }
    }
}

/// Returns a record's flags and name.
fn name_of(record: &[u8]) -> Option<(u8, &[u8])> {
    let (&[flags, _, _, len], rest) = record.split_first_chunk()?;
    Some((flags, rest.get(..len.into())?))
}

/// Reads a crawler's record, which must take up all bytes.
fn read(bytes: &[u8]) -> Option<CrawlerDraft<'_>> {
    let (&[flags, purposes, count], mut rest) = bytes.split_first_chunk::<3>()?;
    if flags & !(HONORS_DEFAULT_GROUP | IS_PREFIX | STARTS_WITH_ITSELF) != 0 || purposes & !Purposes::KNOWN != 0 {
        return None;
    }
    let mut text = || {
        let (&len, after) = rest.split_first()?;
        let (text, after) = after.split_at_checked(len.into())?;
        rest = after;
        Some(text)
    };
    let name = text()?;
    let chain = (0..count).map(|_| text()).collect::<Option<Vec<&[u8]>>>()?;
    rest.is_empty().then_some(CrawlerDraft {
        name,
        chain,
        starts_with_itself: flags & STARTS_WITH_ITSELF != 0,
        is_prefix: flags & IS_PREFIX != 0,
        honors_default_group: flags & HONORS_DEFAULT_GROUP != 0,
        purposes: Purposes(purposes),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crawler(name: &[u8]) -> CrawlerDraft<'_> {
        CrawlerDraft {
            name,
            chain: vec![name],
            starts_with_itself: false,
            is_prefix: false,
            honors_default_group: true,
            purposes: Purposes::default(),
        }
    }

    fn table<'a>(crawlers: impl Into<Vec<CrawlerDraft<'a>>>) -> CrawlerTable<'a> {
        CrawlerTable { syntax: TokenSyntax::Letters, cuts_version: true, crawlers: crawlers.into() }
    }

    #[test]
    fn names_resolve_to_the_longest_entry() {
        let prefix =
            |name, then| CrawlerDraft { chain: vec![then], is_prefix: true, starts_with_itself: true, ..crawler(name) };
        let search = CrawlerDraft { purposes: Purposes::SEARCH, ..crawler(b"YaCy") };
        let bytes = table([prefix(b"ya", b"first"), search, prefix(b"yan", b"second")]).write().unwrap();
        let crawlers = Crawlers(&bytes);
        crawlers.verify(&mut 0).unwrap();
        let tokens = |name| crawlers.find(name).unwrap().tokens;
        assert_eq!(tokens(b"yacy"), [b"YaCy"]);
        assert_eq!(tokens(b"YaX/1.0"), [&b"YaX"[..], b"first"]);
        assert_eq!(tokens(b"YANtra /3"), [&b"YANtra"[..], b"second"]);
        assert_eq!(tokens(b"other"), [b"other"]);
        assert_eq!(tokens(b""), [b""]);
        assert_eq!(crawlers.with_purpose(Purposes::SEARCH).count(), 1);
        assert_eq!(crawlers.with_purpose(Purposes::SEARCH.union(Purposes::AI_TRAINING)).count(), 0);
    }

    #[test]
    fn verify_rejects_any_other_encoding() {
        let bytes = table([crawler(b"b"), crawler(b"A")]).write().unwrap();
        Crawlers(&bytes).verify(&mut 0).unwrap();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut other = bytes.clone();
                other[at] ^= 1 << bit;
                if Crawlers(&other).verify(&mut 0).is_ok() {
                    assert_eq!(Crawlers(&other).to_table().unwrap().write().unwrap(), other, "byte {at}, bit {bit}");
                }
            }
            assert!(Crawlers(&bytes[..at]).verify(&mut 0).is_err());
        }
    }

    #[test]
    fn errors_in_the_header_name_the_expected_and_the_found_number() {
        let bytes = table([crawler(b"a")]).write().unwrap();
        let with = |at: usize, byte: u8| [&bytes[..at], &[byte], &bytes[at + 1..]].concat();
        let syntax = |bytes: &[u8]| Crawlers(bytes).syntax().unwrap_err().to_string();
        let expected = "crawlers at byte 0: expected a product token syntax that this version knows, found ";
        assert_eq!(syntax(&with(0, 12)), format!("{expected}number 12"));
        assert_eq!(syntax(b""), format!("{expected}the end of the section"));
        let cuts = |bytes: &[u8]| Crawlers(bytes).cuts_version().unwrap_err().to_string();
        assert_eq!(cuts(&with(1, 2)), "crawlers at byte 1: expected the number 0 or 1, found number 2");
        assert_eq!(cuts(&[0]), "crawlers at byte 1: expected the number 0 or 1, found the end of the section");
        let count = |bytes: &[u8]| Crawlers(bytes).count().unwrap_err().to_string();
        let expected = "crawlers at byte 4: expected as many crawlers as fit, found ";
        assert_eq!(count(&with(5, 1)), format!("{expected}257 crawlers"));
        assert_eq!(count(&bytes[..7]), format!("{expected}the end of the section"));
    }

    #[test]
    fn longer_names_and_chains_than_the_limits_are_rejected() {
        for (len, fits) in
            [(MAX_CRAWLER_NAME_BYTES - 1, true), (MAX_CRAWLER_NAME_BYTES, true), (MAX_CRAWLER_NAME_BYTES + 1, false)]
        {
            assert_eq!(table([crawler(&vec![b'a'; len])]).write().is_ok(), fits, "{len}");
        }
        for (len, fits) in [(MAX_CRAWLER_TOKENS - 1, true), (MAX_CRAWLER_TOKENS, true), (MAX_CRAWLER_TOKENS + 1, false)]
        {
            let chain = vec![&b"a"[..]; len];
            assert_eq!(table([CrawlerDraft { chain, ..crawler(b"a") }]).write().is_ok(), fits, "{len}");
        }
    }
}
