//! A list of assertions, and its parser.

use std::fmt;

use reptile_engine::spec::Spec;

/// Maximum assertions in a list.
pub const MAX_ASSERTIONS: usize = 1000;

/// Maximum bytes in a line of the list, without its line end.
pub const MAX_ASSERTION_BYTES: usize = 16 << 10;

/// Maximum mistakes listed in an error; all are counted.
pub const MAX_MISTAKES_LISTED: usize = 20;

/// Maximum bytes of a word quoted in a message.
const MAX_QUOTED_BYTES: usize = 100;

/// The expectation for the first word of a line.
const EXPECTED_CLAIM: &str = "`allow CRAWLER PATTERN`, `disallow CRAWLER PATTERN`, `same CRAWLER CRAWLER` or \
                              `CRAWLER <= CRAWLER`";

/// Assertions about a robots.txt. See [the module](crate::prove) for their syntax and an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assertions(Vec<Assertion>);

/// One assertion. See [the module](crate::prove) for the syntax.
///
/// ```
/// use reptile::prove::{Assertions, Claim};
/// let list = Assertions::parse("# the shop\nSAME Googlebot\tBingbot /shop/*")?;
/// let assertion = list.iter().next().unwrap();
/// assert_eq!((assertion.line, assertion.claim), (2, Claim::Same));
/// assert_eq!(assertion.crawlers, ["Googlebot", "Bingbot"]);
/// assert_eq!(assertion.to_string(), "same Googlebot Bingbot /shop/*");
/// # Ok::<(), reptile::prove::Mistakes>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Assertion {
    /// The line number, from 1.
    pub line: u32,
    /// The statement about its crawlers.
    pub claim: Claim,
    /// The crawlers as written: one for [`Claim::Allow`] and [`Claim::Disallow`], two for the others.
    pub crawlers: Vec<String>,
    /// The assertion is about paths that match any of these. An empty list means every path.
    pub patterns: Vec<Vec<u8>>,
}

/// An assertion's statement about its crawlers. See [the module](crate::prove) for the syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Claim {
    /// The crawler may fetch every path.
    Allow,
    /// The crawler may fetch no path.
    Disallow,
    /// Both crawlers get the same verdict for every path.
    Same,
    /// The first crawler may fetch nothing that the second one may not.
    NoMore,
}

reptile_engine::words!(Claim, "a claim", name {
    Allow => "allow",
    Disallow => "disallow",
    Same => "same",
    NoMore => "permits-no-more",
});

/// A mistake in a line of a list.
///
/// ```
/// use reptile::prove::Assertions;
/// let mistakes = Assertions::parse("allow GPTBot private").unwrap_err();
/// let mistake = mistakes.iter().next().unwrap();
/// assert_eq!(mistake.to_string(), "expected a pattern that begins with / or *, found \"private\"");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mistake {
    /// The line number, from 1.
    pub line: u32,
    /// The expected text.
    pub expected: String,
    /// The actual text.
    pub found: String,
}

impl Mistake {
    pub(super) fn new(line: u32, expected: impl Into<String>, found: impl Into<String>) -> Mistake {
        Mistake { line, expected: expected.into(), found: found.into() }
    }
}

/// Writes the mistake without its line.
impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, found {}", self.expected, self.found)
    }
}

/// The mistakes in a list, in line order: all are counted, and the first [`MAX_MISTAKES_LISTED`] are listed.
///
/// ```
/// use reptile::prove::Assertions;
/// let mistakes = Assertions::parse("allow\n\ndeny GPTBot /").unwrap_err();
/// assert_eq!(mistakes.count(), 2);
/// assert_eq!(mistakes.iter().map(|mistake| mistake.line).collect::<Vec<_>>(), [1, 3]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mistakes {
    listed: Vec<Mistake>,
    count: usize,
}

impl Mistakes {
    /// Returns the listed mistakes.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Mistake> {
        self.listed.iter()
    }

    /// Returns the number of all mistakes, listed or not.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    pub(super) fn add(&mut self, mistake: Mistake) {
        self.count += 1;
        if self.listed.len() < MAX_MISTAKES_LISTED {
            self.listed.push(mistake);
        }
    }
}

/// Writes each listed mistake with its line, separated by `; `.
impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.listed.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}line {}: {mistake}", mistake.line)?;
        }
        match self.count - self.listed.len() {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

impl std::error::Error for Mistakes {}

impl Assertions {
    /// Parses a list, one assertion a line; see [the module](crate::prove). A byte order mark at the start is skipped,
    /// and lines end in LF or CR LF. Linear in the list's length.
    ///
    /// Crawler names are checked when a robots.txt is known, because the dialect decides which names are valid.
    ///
    /// # Errors
    /// Returns every mistake. A list without any assertion is a mistake, because it would always pass.
    pub fn parse(list: impl AsRef<[u8]>) -> Result<Assertions, Mistakes> {
        let list = list.as_ref();
        let list = list.strip_prefix(b"\xef\xbb\xbf").unwrap_or(list);
        let (mut assertions, mut mistakes, mut count) = (Vec::new(), Mistakes::default(), 0_usize);
        let mut line = 0_u32;
        for text in list.split(|&byte| byte == b'\n') {
            line = line.saturating_add(1);
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            if text.len() > MAX_ASSERTION_BYTES {
                count += 1;
                let expected = format!("at most {MAX_ASSERTION_BYTES} bytes in a line");
                mistakes.add(Mistake::new(line, expected, text.len().to_string()));
                continue;
            }
            let words = words(text);
            if words.is_empty() {
                continue;
            }
            count += 1;
            if count == MAX_ASSERTIONS + 1 {
                mistakes.add(Mistake::new(line, format!("at most {MAX_ASSERTIONS} assertions"), "another one"));
            }
            match Assertion::parse(line, &words) {
                Ok(assertion) if count <= MAX_ASSERTIONS => assertions.push(assertion),
                Ok(_) => {}
                Err(mistake) => mistakes.add(mistake),
            }
        }
        if count == 0 {
            mistakes.add(Mistake::new(line, EXPECTED_CLAIM, "no assertion in the whole list"));
        }
        if mistakes.count == 0 { Ok(Assertions(assertions)) } else { Err(mistakes) }
    }

    /// Returns the assertions in line order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Assertion> {
        self.0.iter()
    }
}

impl Assertion {
    /// Parses a line's words. There is at least one.
    fn parse(line: u32, words: &[&[u8]]) -> Result<Assertion, Mistake> {
        let word = |index: usize| words.get(index).copied();
        let (claim, crawlers, patterns_from) = match word(0).unwrap_or_default() {
            _ if word(1) == Some(b"<=") => (Claim::NoMore, vec![word(0), word(2)], 3),
            first if first.eq_ignore_ascii_case(b"allow") => (Claim::Allow, vec![word(1)], 2),
            first if first.eq_ignore_ascii_case(b"disallow") => (Claim::Disallow, vec![word(1)], 2),
            first if first.eq_ignore_ascii_case(b"same") => (Claim::Same, vec![word(1), word(2)], 3),
            first if first.windows(2).any(|pair| pair == b"<=") => {
                return Err(Mistake::new(line, "spaces around <=", quoted(first)));
            }
            first => return Err(Mistake::new(line, EXPECTED_CLAIM, quoted(first))),
        };
        let crawlers = crawlers.into_iter().map(|word| crawler(line, word)).collect::<Result<Vec<_>, _>>()?;
        if let [first, second] = &crawlers[..] {
            if first.eq_ignore_ascii_case(second) {
                return Err(Mistake::new(
                    line,
                    "two different crawlers",
                    format!("{} twice", quoted(first.as_bytes())),
                ));
            }
        }
        let patterns = words.get(patterns_from..).unwrap_or_default();
        if let Some(other) = patterns.iter().find(|pattern| !is_pattern(pattern)) {
            return Err(Mistake::new(line, "a pattern that begins with / or *", quoted(other)));
        }
        if patterns.is_empty() && matches!(claim, Claim::Allow | Claim::Disallow) {
            return Err(Mistake::new(line, "a pattern, such as /private/* or /$", "the end of the line"));
        }
        let patterns = patterns.iter().map(|pattern| pattern.to_vec()).collect();
        Ok(Assertion { line, claim, crawlers, patterns })
    }

    /// Returns the assertion's text for other crawlers, such as the members of a group.
    pub(super) fn text_for(&self, crawlers: &[String]) -> String {
        let mut text = match (self.claim, crawlers) {
            (Claim::NoMore, [first, second]) => format!("{first} <= {second}"),
            (claim, crawlers) => format!("{} {}", claim.name(), crawlers.join(" ")),
        };
        for pattern in &self.patterns {
            text.push(' ');
            text.push_str(&String::from_utf8_lossy(pattern));
        }
        text
    }
}

/// Writes the assertion as in a list, with single spaces and without a comment.
impl fmt::Display for Assertion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text_for(&self.crawlers))
    }
}

/// Returns a line's words before its comment.
fn words(line: &[u8]) -> Vec<&[u8]> {
    let text = line.split(|&byte| byte == b'#').next().unwrap_or_default();
    text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect()
}

/// Returns whether a word is a pattern that can match a path.
fn is_pattern(word: &[u8]) -> bool {
    matches!(word.first(), Some(b'/' | b'*'))
}

/// Returns the crawler that a word names. Only a robots.txt's dialect decides whether the name is a product token.
fn crawler(line: u32, word: Option<&[u8]>) -> Result<String, Mistake> {
    let mistake = |found: String| Mistake::new(line, "a crawler", found);
    let Some(word) = word else { return Err(mistake("the end of the line".into())) };
    let Ok(name) = std::str::from_utf8(word) else {
        return Err(mistake(format!("{}, which is not UTF-8", quoted(word))));
    };
    if name != "*" && is_pattern(word) {
        return Err(mistake(format!("the pattern {}", quoted(word))));
    }
    Spec::read(name).map_err(|error| mistake(error.to_string()))?;
    Ok(name.to_owned())
}

/// Returns a word in quotes, cut after [`MAX_QUOTED_BYTES`].
pub(super) fn quoted(word: &[u8]) -> String {
    let (text, more) = match word.get(..MAX_QUOTED_BYTES) {
        Some(start) if word.len() > MAX_QUOTED_BYTES => (start, "..."),
        _ => (word, ""),
    };
    format!("\"{}\"{more}", String::from_utf8_lossy(text))
}
