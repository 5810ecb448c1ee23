//! Statements in a web page's elements: `<meta>` and `<link>`.
//!
//! The tokenizer follows the HTML standard, and scripting is off: the content of `<noscript>` counts, as for a crawler
//! without scripts. Comments, scripts, styles and other raw text have no elements. Elements in the body count, because
//! search engines honor them there.

use std::ops::Range;

use aho_corasick::AhoCorasick;
use html5gum::emitters::callback::{Callback, CallbackEmitter, CallbackEvent};
use html5gum::{Span, State, Tokenizer};
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

/// Returns whether a media type is HTML's. A response without a type may be HTML.
pub fn is_html(media_type: Option<&[u8]>) -> bool {
    let Some(media_type) = media_type else { return true };
    let name = media_type.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
    name.is_empty() || [&b"text/html"[..], b"application/xhtml+xml"].iter().any(|html| name.eq_ignore_ascii_case(html))
}

/// Returns whether a `Link` field has a link with the relation `license`. Source: RFC 8288, section 3.
pub fn is_license_link(value: &[u8]) -> bool {
    let value = value.to_ascii_lowercase();
    memmem::find_iter(&value, b"rel").any(|at| {
        let after = value[at + b"rel".len()..].trim_ascii_start();
        let Some(after) = after.strip_prefix(b"=") else { return false };
        let after = after.trim_ascii_start();
        let relations = match after.strip_prefix(b"\"") {
            Some(quoted) => quoted.split(|&byte| byte == b'"').next(),
            None => after.split(|byte| b";, ".contains(byte)).next(),
        };
        is_license(relations.unwrap_or_default())
    })
}

/// Returns whether a list of relations in lower case has `license`.
fn is_license(relations: &[u8]) -> bool {
    relations.split(u8::is_ascii_whitespace).any(|relation| relation == LICENSE)
}

/// The names of `<meta>` elements to read.
#[derive(Clone, Debug)]
pub struct Names {
    /// The crawlers' names, in lower case.
    crawlers: Vec<Box<[u8]>>,
    /// Searches for the words without which a text has no statement.
    words: Option<AhoCorasick>,
}

impl Default for Names {
    fn default() -> Names {
        Names::new::<&[u8]>([])
    }
}

impl Names {
    /// Creates a list of crawlers' names, in addition to `robots`.
    pub fn new<N: AsRef<[u8]>>(names: impl IntoIterator<Item = N>) -> Names {
        let crawlers: Vec<Box<[u8]>> =
            names.into_iter().map(|name| name.as_ref().to_ascii_lowercase().into()).collect();
        let words = [ROBOTS, TDM_RESERVATION, LICENSE].into_iter().chain(crawlers.iter().map(|name| &**name));
        // Without a search, every text is read.
        let words = AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok();
        Names { crawlers, words }
    }

    /// Adds the statements in a text.
    pub fn read(&self, text: &[u8], statements: &mut Statements) {
        if let [0xfe, 0xff, rest @ ..] = text {
            return self.read_utf8(&utf16(rest, u16::from_be_bytes), statements);
        }
        if let [0xff, 0xfe, rest @ ..] = text {
            return self.read_utf8(&utf16(rest, u16::from_le_bytes), statements);
        }
        self.read_utf8(text, statements);
    }

    fn read_utf8(&self, text: &[u8], statements: &mut Statements) {
        let Some(end) = self.end_of_statements(text) else { return };
        let mut tokenizer = Tokenizer::new_with_emitter(&text[..end], CallbackEmitter::new(Elements::default()));
        while let Some(Ok(found)) = tokenizer.next() {
            match found {
                Found::Raw(state) => tokenizer.set_state(state),
                Found::Element(element) => self.add(element, statements),
            }
        }
    }

    /// Returns the end of the last tag that may have a statement: it has a word that statements need, or a character
    /// reference, which may be a part of that word. Most texts lack such a tag, or have it near the start, and this
    /// search is faster than the tokenizer.
    fn end_of_statements(&self, text: &[u8]) -> Option<usize> {
        let Some(words) = &self.words else { return Some(text.len()) };
        let may_state = |tag: &Range<usize>| {
            let tag = &text[tag.clone()];
            words.is_match(tag) || memchr::memchr(b'&', tag).is_some()
        };
        tags(text).filter(may_state).last().map(|tag| tag.end)
    }

    /// Adds an element's statement, if it has one.
    pub fn add(&self, element: Element, statements: &mut Statements) {
        match element {
            Element::Meta { name, content } => {
                let name = name.trim_ascii().to_ascii_lowercase();
                match &*name {
                    ROBOTS => statements.add(Channel::RobotsMeta, b"", &content),
                    TDM_RESERVATION => statements.add(Channel::TdmMeta, b"", &content),
                    name if self.crawlers.iter().any(|crawler| &**crawler == name) => {
                        statements.add(Channel::RobotsMeta, name, &content);
                    }
                    _ => {}
                }
            }
            Element::Link { relations, target } => {
                if is_license(&relations.to_ascii_lowercase()) {
                    statements.add(Channel::License, b"", &target);
                }
            }
        }
    }
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

/// Converts UTF-16 to UTF-8. Invalid units become U+FFFD.
fn utf16(bytes: &[u8], unit: impl Fn([u8; 2]) -> u16) -> Vec<u8> {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)).collect::<String>().into()
}

/// An element that may have a statement.
#[derive(Debug, PartialEq, Eq)]
pub enum Element {
    /// `<meta name=... content=...>`.
    Meta { name: Vec<u8>, content: Vec<u8> },
    /// `<link rel=... href=...>`.
    Link { relations: Vec<u8>, target: Vec<u8> },
}

/// A tag that the tokenizer stops at.
enum Found {
    /// An element.
    Element(Element),
    /// The start of raw text, which the tokenizer reads in this state.
    Raw(State),
}

/// The tags and attributes of interest.
#[derive(Clone, Copy, Default, PartialEq)]
enum Tag {
    #[default]
    Other,
    Meta,
    Link,
    Raw(State),
}

/// Collects elements from the tokenizer's events.
#[derive(Default)]
struct Elements {
    tag: Tag,
    /// The place of the current attribute in `values`, if it is of interest.
    current: Option<usize>,
    /// The name or relation, and the content or target. The first of several attributes with a name counts.
    values: [Option<Vec<u8>>; 2],
}

impl Callback<Found, ()> for Elements {
    fn handle_event(&mut self, event: CallbackEvent<'_>, _: Span<()>) -> Option<Found> {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.values = [None, None];
                self.current = None;
                self.tag = match name {
                    b"meta" => Tag::Meta,
                    b"link" => Tag::Link,
                    b"title" | b"textarea" => Tag::Raw(State::RcData),
                    b"style" | b"xmp" | b"iframe" | b"noembed" | b"noframes" => Tag::Raw(State::RawText),
                    b"script" => Tag::Raw(State::ScriptData),
                    b"plaintext" => Tag::Raw(State::PlainText),
                    _ => Tag::Other,
                };
            }
            CallbackEvent::AttributeName { name } => {
                let place = match (self.tag, name) {
                    (Tag::Meta, b"name") | (Tag::Link, b"rel") => Some(0),
                    (Tag::Meta, b"content") | (Tag::Link, b"href") => Some(1),
                    _ => None,
                };
                self.current = place.filter(|&place| self.values[place].is_none());
                if let Some(place) = self.current {
                    self.values[place] = Some(Vec::new());
                }
            }
            CallbackEvent::AttributeValue { value } => {
                if let Some(place) = self.current {
                    self.values[place] = Some(value.to_vec());
                }
            }
            CallbackEvent::CloseStartTag { .. } => {
                let [first, second] = std::mem::take(&mut self.values).map(Option::unwrap_or_default);
                return match std::mem::take(&mut self.tag) {
                    Tag::Meta => Some(Found::Element(Element::Meta { name: first, content: second })),
                    Tag::Link => Some(Found::Element(Element::Link { relations: first, target: second })),
                    Tag::Raw(state) => Some(Found::Raw(state)),
                    Tag::Other => None,
                };
            }
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &[u8]) -> Vec<String> {
        let mut statements = Statements::default();
        Names::new(["GPTBot"]).read(text, &mut statements);
        let mut all = Vec::new();
        for channel in Channel::ALL {
            let of_channel = statements.of(channel);
            all.extend(of_channel.map(|(name, text)| {
                let text = String::from_utf8_lossy(text);
                format!("{} {}={text}", channel.name(), String::from_utf8_lossy(name))
            }));
        }
        all
    }

    #[test]
    fn elements_are_found_where_a_browser_without_scripts_finds_them() {
        for (text, expected) in [
            ("<meta name=robots content=noai>", &["meta-robots =noai"][..]),
            ("<META NAME='Robots' CONTENT=\"NoAI, noindex\"/>", &["meta-robots =NoAI, noindex"]),
            ("<meta content='noai' name=' robots '>", &["meta-robots =noai"]),
            ("<meta name=\"r&#111;bots\" content=\"no&#97;i\">", &["meta-robots =noai"]),
            ("<meta name=\"gptbot\" content=noai><meta name=otherbot content=noai>", &["meta-robots gptbot=noai"]),
            ("<meta name=robots name=gptbot content=a content=b>", &["meta-robots =a"]),
            ("<meta name=robots>", &["meta-robots ="]),
            ("<meta property=robots content=noai>", &[]),
            ("<meta name=tdm-reservation content=1>", &["tdm-meta =1"]),
            ("<link rel='license' href=/l.xml><link rel=stylesheet href=license>", &["license =/l.xml"]),
            ("<a rel=license href=/l.xml>", &[]),
            // Comments, raw text and attributes have no elements.
            ("<!-- <meta name=robots content=noai> -->", &[]),
            ("<!-- > <meta name=robots content=noai> --><meta name=robots content=b>", &["meta-robots =b"]),
            ("<script>'<meta name=robots content=noai>'</script>", &[]),
            ("<script><!-- <script> </script> <meta name=robots content=noai> --></script>", &[]),
            ("<style><meta name=robots content=noai></style>", &[]),
            ("<title><meta name=robots content=noai></title><meta name=robots content=b>", &["meta-robots =b"]),
            ("<textarea><meta name=robots content=noai></textarea>", &[]),
            ("<noframes><meta name=robots content=noai></noframes>", &[]),
            ("<p title='<meta name=robots content=noai>'>", &[]),
            ("<plaintext><meta name=robots content=noai>", &[]),
            // Scripting is off.
            ("<noscript><meta name=robots content=noai></noscript>", &["meta-robots =noai"]),
            ("<noscript><!-- </noscript> <meta name=robots content=noai> --></noscript>", &[]),
            // Search engines also read elements in the body.
            ("<body><p><meta name=robots content=noai>", &["meta-robots =noai"]),
            // An incomplete tag is not an element.
            ("<meta name=robots content=noai", &[]),
            ("</meta name=robots content=noai>", &[]),
            ("<metadata name=robots content=noai>", &[]),
            ("<meta name=a content='>'><meta content='a>b <c' name=robots>", &["meta-robots =a>b <c"]),
            ("<link href=/l.xml rel='licens&#101;'>", &["license =/l.xml"]),
            // A quote within a value without quotes is text.
            ("<meta a=b\" content=\">\" name=robots>", &["meta-robots =>"]),
            ("<meta a = '\"' content = \n\t'\">' name=robots>", &["meta-robots =\">"]),
            ("<meta content='<link \">' title=\"'>\" name=robots>", &["meta-robots =<link \">"]),
        ] {
            assert_eq!(found(text.as_bytes()), expected, "{text}");
        }
        let text = "<meta name=robots content=noai>";
        let wide = |bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
        assert_eq!(found(&[b"\xff\xfe", &*wide(u16::to_le_bytes)].concat()), ["meta-robots =noai"]);
        assert_eq!(found(&[b"\xfe\xff", &*wide(u16::to_be_bytes)].concat()), ["meta-robots =noai"]);
    }

    /// The search before the tokenizer must not change what is found.
    #[test]
    fn the_search_changes_nothing() {
        let parts = [
            "<meta ",
            "name=",
            "robots",
            "r&#111;bots",
            "content=",
            "noai",
            ">",
            "<!--",
            "-->",
            "<script>",
            "</script>",
            "\"",
            "'",
            "=",
            "a=",
            "<link rel=license href=x>",
            "<link rel=",
            "licens&#101;",
            "&amp;",
            "<p>",
            "gptbot ",
            " ",
            "<noscript>",
            "<title>",
            "</title>",
            "<META name=tdm-reservation content=1>",
        ];
        let mut seed = 7_u64;
        let names = Names::new(["GPTBot"]);
        let all = Names { words: None, ..names.clone() };
        let mut with_statements = 0;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..12 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text += parts[(seed >> 33) as usize % parts.len()];
            }
            let read = |names: &Names| {
                let mut statements = Statements::default();
                names.read(text.as_bytes(), &mut statements);
                statements
            };
            let expected = read(&all);
            with_statements += u32::from(expected != Statements::default());
            assert_eq!(read(&names), expected, "{text}");
        }
        assert!(with_statements > 1000, "{with_statements}");
    }

    #[test]
    fn long_tags_are_read_too() {
        for len in [4095, 4096, 4097] {
            let text = format!("<meta content=\"{}\" name=\"r&#111;bots\">", "a".repeat(len));
            assert_eq!(found(text.as_bytes()).len(), 1, "{len}");
        }
        let text = format!("<meta title=\"{}\" content=noai name=\"r&#111;bots\">", "a".repeat(60_000));
        assert_eq!(found(text.as_bytes()), ["meta-robots =noai"]);
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
            ("", false),
        ] {
            assert_eq!(is_license_link(value.as_bytes()), expected, "{value}");
        }
    }
}
