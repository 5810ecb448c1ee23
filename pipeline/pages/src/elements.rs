//! Elements with statements: `<meta>` and `<link>`.

use std::ops::Range;

use aho_corasick::AhoCorasick;
use memchr::memmem;
use reptile::rights::{Channel, Statements};

/// The name of elements for all crawlers.
const ROBOTS: &[u8] = b"robots";

/// The name of elements of the TDM Reservation Protocol.
const TDM_RESERVATION: &[u8] = b"tdm-reservation";

/// The relation of links to licenses.
const LICENSE: &[u8] = b"license";

/// The name of elements with statements.
const META: &[u8] = b"meta";

/// The name of elements with links.
const LINK: &[u8] = b"link";

/// Returns whether a `Link` field has a link with the relation `license`. Source: RFC 8288, section 3.
pub fn is_license_link(value: &[u8]) -> bool {
    let value = value.to_ascii_lowercase();
    memmem::find_iter(&value, b"rel").any(|at| {
        let after = value[at + b"rel".len()..].trim_ascii_start();
        let Some(after) = after.strip_prefix(b"=") else { return false };
        let after = after.trim_ascii_start();
        let relations = match after.strip_prefix(b"\"") {
            Some(quoted) => quoted.split(|&byte| byte == b'"').next(),
            // No relation has `=`. Ending there keeps the time linear.
            None => after.split(|byte| b";, =".contains(byte)).next(),
        };
        is_license(relations.unwrap_or_default())
    })
}

/// Returns whether a list of relations in lower case has `license`.
fn is_license(relations: &[u8]) -> bool {
    relations.split(u8::is_ascii_whitespace).any(|relation| relation == LICENSE)
}

/// The crawlers whose names `<meta>` elements may have, in addition to `robots`.
#[derive(Clone, Debug)]
pub struct CrawlerNames {
    /// The crawlers' names, in lower case.
    crawlers: Vec<Box<[u8]>>,
    /// Searches for the words without which a text has no statement.
    words: Option<AhoCorasick>,
}

impl Default for CrawlerNames {
    fn default() -> CrawlerNames {
        CrawlerNames::new::<&[u8]>([])
    }
}

impl CrawlerNames {
    /// Creates a list of product tokens, in any letter case.
    pub fn new<N: AsRef<[u8]>>(names: impl IntoIterator<Item = N>) -> CrawlerNames {
        let crawlers: Vec<Box<[u8]>> =
            names.into_iter().map(|name| name.as_ref().to_ascii_lowercase().into()).collect();
        let words = [ROBOTS, TDM_RESERVATION, LICENSE].into_iter().chain(crawlers.iter().map(|name| &**name));
        // Without a search, every text is read.
        let words = AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok();
        CrawlerNames { crawlers, words }
    }

    /// Returns the end of the last tag that may have a statement: it has a word that statements need, or a character
    /// reference that may be a part of that word. Without such a tag, no way to read the text finds a statement. Most
    /// texts lack one, or have it near the start, and this search is faster than any parser.
    pub(crate) fn end_of_statements(&self, text: &[u8]) -> Option<usize> {
        let may_state = |tag: &Range<usize>| {
            let tag = &text[tag.clone()];
            let Some(words) = &self.words else { return true };
            words.is_match(tag) || has_spelled_letter(tag)
        };
        tags(text).filter(may_state).last().map(|tag| tag.end)
    }

    /// Adds an element's statement, if it has one. A name may be a list, or a product token with a version.
    pub fn add_element(&self, element: &Element, statements: &mut Statements) {
        match element {
            Element::Meta { name, content } => {
                let name = name.to_ascii_lowercase();
                let names = name.split(|byte| byte.is_ascii_whitespace() || *byte == b',');
                for name in names.filter_map(|name| name.split(|&byte| byte == b'/').next()) {
                    match name {
                        ROBOTS => statements.add(Channel::RobotsMeta, b"", content),
                        TDM_RESERVATION => statements.add(Channel::TdmMeta, b"", content),
                        name if self.crawlers.iter().any(|crawler| &**crawler == name) => {
                            statements.add(Channel::RobotsMeta, name, content);
                        }
                        _ => {}
                    }
                }
            }
            Element::Link { relations, target } => {
                if is_license(&relations.to_ascii_lowercase()) {
                    statements.add(Channel::License, b"", target);
                }
            }
        }
    }
}

/// The named character references of characters that names of elements have.
const SPELLED: [&[u8]; 3] = [b"fjlig", b"lowbar", b"UnderBar"];

/// Returns whether a tag has a character reference that may be a part of a word. Most are in URLs, as `&amp;` or `&#038;`.
fn has_spelled_letter(tag: &[u8]) -> bool {
    memchr::memchr_iter(b'&', tag).any(|at| {
        let name = &tag[at + 1..];
        let (digits, radix) = match name {
            [b'#', b'x' | b'X', digits @ ..] => (digits, 16),
            [b'#', digits @ ..] => (digits, 10),
            _ => return SPELLED.iter().any(|spelled| name.starts_with(spelled)),
        };
        let digits = digits.iter().map_while(|&digit| char::from(digit).to_digit(radix));
        let number = digits.fold(0, |number: u32, digit| number.saturating_mul(radix).saturating_add(digit));
        u8::try_from(number).is_ok_and(|byte| byte.is_ascii_graphic() && byte != b'&')
    })
}

/// Returns the parts of a text that contain all tags `<meta ...>` and `<link ...>`. Takes linear time.
///
/// Comments and values may contain what looks like a tag. A part therefore ends where none of its tags can still be open.
/// Quotes begin a value only after `=`, and even there they may be text.
fn tags(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let begins = |at: usize| {
        let name = text.get(at + 1..).and_then(|rest| rest.get(..META.len()));
        name.is_some_and(|name| name.eq_ignore_ascii_case(META) || name.eq_ignore_ascii_case(LINK))
    };
    let mut brackets = memchr::memchr_iter(b'<', text);
    let mut end = 0;
    std::iter::from_fn(move || {
        let start = brackets.find(|&at| at >= end && begins(at))?;
        // Whether a tag may be open, and whether its value in single or in double quotes may be.
        let (mut open, mut single, mut double) = (true, false, false);
        let mut after_equals = false;
        end = start;
        while open || single || double {
            end += 1;
            let Some(&byte) = text.get(end) else { return Some(start..text.len()) };
            match byte {
                b'<' => open |= begins(end),
                b'>' => open = false,
                b'\'' => (open, single) = (open | single, open & after_equals),
                b'"' => (open, double) = (open | double, open & after_equals),
                _ => {}
            }
            after_equals = byte == b'=' || after_equals && byte.is_ascii_whitespace();
        }
        Some(start..end + 1)
    })
}

/// An element that may have a statement.
#[derive(Debug, PartialEq, Eq)]
pub enum Element {
    /// `<meta name=... content=...>`.
    Meta {
        /// The attribute `name`.
        name: Vec<u8>,
        /// The attribute `content`.
        content: Vec<u8>,
    },
    /// `<link rel=... href=...>`.
    Link {
        /// The attribute `rel`.
        relations: Vec<u8>,
        /// The attribute `href`.
        target: Vec<u8>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_may_be_spelled_with_references() {
        let names = CrawlerNames::new(["a_bot"]);
        let cases = [
            ("<meta name=robots>", true),
            ("<meta name=ROBOTS>", true),
            ("<meta name=r&#111;bots>", true),
            ("<meta name=r&#x6F;bots>", true),
            ("<meta name=r&#X06f;bots>", true),
            ("<meta name=a&lowbar;bot>", true),
            ("<meta name=a&UnderBar;bot>", true),
            ("<meta name=&#1110000000000000;>", false),
            ("<link href='/?a&b&#038;c&amp;d&#38;e&#8217;'>", false),
            ("<link rel=stylesheet>", false),
            ("<a rel=license>", false),
        ];
        for (text, expected) in cases {
            assert_eq!(names.end_of_statements(text.as_bytes()), expected.then_some(text.len()), "{text}");
        }
        assert_eq!(cases.len(), 11);
    }

    #[test]
    fn links_to_licenses_are_recognized() {
        for (value, expected) in [
            ("</l>; rel=license", true),
            ("</l>; rel=\"license\"; type=\"application/rsl+xml\"", true),
            ("</a>; rel=next, </l>; REL = \"terms License\"", true),
            ("</l>; rel=\"licenses\"", false),
            ("</license>; rel=next", false),
            ("</l>; relation=license", false),
            ("</l>; rel=rel=license", true),
            ("", false),
        ] {
            assert_eq!(is_license_link(value.as_bytes()), expected, "{value}");
        }
    }

    /// In quadratic time, this field alone takes minutes.
    #[test]
    fn long_fields_take_linear_time() {
        assert!(!is_license_link(&b"rel=".repeat(1 << 20)));
    }
}
