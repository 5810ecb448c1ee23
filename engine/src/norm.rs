//! Normal forms for comparing URL paths and patterns byte by byte, and [`Pattern`], which matches them.
//!
//! All normalization of paths and patterns happens here. A set's header names one normal form. The compiler has applied
//! [`NormalForm::pattern`] to every rule in the set, and each lookup applies [`NormalForm::path`] to its URL. Which
//! dialect uses which form is defined elsewhere.
//!
//! A normalized pattern has two operators: every `*` is a wildcard for any run of bytes, including none, and a `$` as
//! the very last byte is the end anchor. Every other byte is literal. A form in which rules can match a literal `*` or
//! `$` must escape it on both sides, or replace it by another byte.

use std::borrow::Cow;

use memchr::{memchr, memmem};

/// A way to write paths and patterns so that equivalent ones have equal bytes.
///
/// Set files store the form's number, whose meaning never changes. Normalizing is idempotent on both sides, and except
/// in the first form, which leaves paths unchanged, a text without `*` and `$` has the same form as a path and as a
/// pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NormalForm {
    /// Paths stay as written. In patterns the hex digits of `%xx` become upper case and bytes from 0x80 up become
    /// `%XX`; nothing is decoded. Number 1.
    AsWritten,
    /// Like [`NormalForm::AsWritten`], but paths are treated like patterns. Number 2.
    Escaped,
    /// On both sides, `%XX` is decoded if it encodes a letter, digit, `-`, `.`, `_` or `~`, and its hex digits become
    /// upper case otherwise. Bytes from 0x80 up, spaces, and a `%` that does not begin a `%XX` are encoded. A `*` or
    /// `$` that is not an operator (in paths, every one) becomes `%2A` or `%24`. Other bytes stay: control bytes, and
    /// the reserved ``!"#&'()+,/:;<=>?@[\]^`{|}``. Number 3.
    Decoded,
    /// Like [`NormalForm::Decoded`], but control bytes, ``"<>\^`{|}:@[]#``, every `?` except the first, and every `/`
    /// after that `?` are encoded too. Number 4.
    Reserved,
    /// Every `%XX` is decoded except `%2F`, `%25`, `%00` and `%0A`, whose hex digits become upper case. A `%` that does
    /// not begin a `%XX` becomes `%25`. There are no operators: `*` becomes a NUL byte, and `$` a line feed. Number 5.
    FullyDecoded,
    /// Every byte stays except `*` and `$`, which become a NUL byte and a line feed, because there are no operators.
    /// Number 6.
    Verbatim,
}

/// Replaces `*` in a form without operators. No URL contains this byte.
const LITERAL_STAR: u8 = 0;
/// Replaces `$` in a form without operators. No URL or line contains this byte.
const LITERAL_DOLLAR: u8 = b'\n';

impl NormalForm {
    /// Every form by number, starting at 1.
    pub const ALL: [NormalForm; 6] = [
        NormalForm::AsWritten,
        NormalForm::Escaped,
        NormalForm::Decoded,
        NormalForm::Reserved,
        NormalForm::FullyDecoded,
        NormalForm::Verbatim,
    ];

    /// Returns the form's number in set files.
    #[must_use]
    pub const fn number(self) -> u32 {
        match self {
            NormalForm::AsWritten => 1,
            NormalForm::Escaped => 2,
            NormalForm::Decoded => 3,
            NormalForm::Reserved => 4,
            NormalForm::FullyDecoded => 5,
            NormalForm::Verbatim => 6,
        }
    }

    /// Returns the form's bit in a bit set.
    const fn bit(self) -> u8 {
        1 << (self.number() - 1)
    }

    /// Returns the form with a number, or `None` if this engine version does not know it.
    #[must_use]
    pub fn from_number(number: u32) -> Option<NormalForm> {
        NormalForm::ALL.into_iter().find(|form| form.number() == number)
    }

    /// Returns whether `*` and a final `$` are operators in a pattern as written.
    #[must_use]
    pub const fn has_operators(self) -> bool {
        !matches!(self, NormalForm::FullyDecoded | NormalForm::Verbatim)
    }

    /// Returns whether every path without `%`, `*`, `$`, spaces and non-ASCII bytes stays as it is. False only for
    /// [`NormalForm::Reserved`].
    #[inline]
    pub(crate) const fn keeps_unescapable(self) -> bool {
        !matches!(self, NormalForm::Reserved)
    }

    /// Normalizes a URL's path and query.
    ///
    /// Borrows if nothing changes. Otherwise takes one pass and at most triples the length.
    #[inline]
    #[must_use]
    pub fn path(self, path: &[u8]) -> Cow<'_, [u8]> {
        match self {
            NormalForm::AsWritten => Cow::Borrowed(path),
            _ => rewrite(self, path, TextKind::Path),
        }
    }

    /// Normalizes a rule's pattern.
    ///
    /// Borrows if nothing changes. Otherwise takes one pass and at most triples the length.
    ///
    /// ```
    /// use reptile_engine::norm::NormalForm;
    /// let form = NormalForm::AsWritten;
    /// assert_eq!(&*form.pattern(b"/a/b"), b"/a/b");
    /// assert_eq!(&*form.pattern("/á%7e%".as_bytes()), b"/%C3%A1%7E%");
    /// ```
    #[must_use]
    pub fn pattern(self, pattern: &[u8]) -> Cow<'_, [u8]> {
        rewrite(self, pattern, TextKind::Pattern)
    }

    /// Returns whether every form keeps a byte if it also keeps all bytes before it, in paths and patterns.
    ///
    /// Texts that first differ at such a byte differ in every normal form, so there is no need to normalize them.
    #[inline]
    #[must_use]
    pub const fn is_kept(byte: u8) -> bool {
        const KEPT: [bool; 256] = {
            let mut kept = [false; 256];
            let mut byte = 0;
            while byte < 256 {
                kept[byte] = is_unreserved(byte as u8) || byte as u8 == b'/';
                byte += 1;
            }
            kept
        };
        KEPT[byte as usize]
    }

    /// Returns a normalized pattern for display, with the bytes that replaced `*` and `$` changed back.
    #[must_use]
    pub fn shown(self, pattern: &[u8]) -> Cow<'_, [u8]> {
        if self.has_operators() || !pattern.iter().any(|byte| [LITERAL_STAR, LITERAL_DOLLAR].contains(byte)) {
            return Cow::Borrowed(pattern);
        }
        let shown = pattern.iter().map(|&byte| match byte {
            LITERAL_STAR => b'*',
            LITERAL_DOLLAR => b'$',
            byte => byte,
        });
        Cow::Owned(shown.collect())
    }
}

/// A normalized pattern, split from its end anchor.
///
/// Every `*` in its text is a wildcard. Borrows the pattern's bytes, so creating one is cheap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern<'a> {
    /// Text before the end anchor, or all of it if there is no anchor.
    pub text: &'a [u8],
    /// Whether a match must end where the path ends.
    pub anchored: bool,
}

impl<'a> Pattern<'a> {
    /// Splits a pattern, which must be in a normal form.
    #[inline]
    #[must_use]
    pub fn new(normal: &'a [u8]) -> Pattern<'a> {
        match normal {
            [text @ .., b'$'] => Pattern { text, anchored: true },
            text => Pattern { text, anchored: false },
        }
    }

    /// Removes wildcards at the pattern's end.
    ///
    /// The result matches the same paths: a final wildcard cancels an end anchor, and without an end anchor any text
    /// may follow anyway.
    #[inline]
    #[must_use]
    pub fn without_trailing_wildcards(self) -> Pattern<'a> {
        let len = self.text.iter().rposition(|&byte| byte != b'*').map_or(0, |last| last + 1);
        Pattern { text: &self.text[..len], anchored: self.anchored && len == self.text.len() }
    }

    /// Returns the text before the first wildcard.
    ///
    /// Every matching path begins with it.
    #[must_use]
    pub fn prefix(self) -> &'a [u8] {
        &self.text[..memchr(b'*', self.text).unwrap_or(self.text.len())]
    }

    /// Returns whether the pattern matches a path in the same normal form.
    ///
    /// Searches for each segment after the previous one. The leftmost occurrence is always right, so there is no
    /// backtracking, and the time is linear in the lengths of pattern and path.
    ///
    /// ```
    /// use reptile_engine::norm::Pattern;
    /// assert!(Pattern::new(b"/*.gif$").matches(b"/a.gif.gif"));
    /// assert!(!Pattern::new(b"/*.gif$").matches(b"/a.gif?"));
    /// ```
    #[must_use]
    pub fn matches(self, path: &[u8]) -> bool {
        let Pattern { text, anchored } = self;
        let Some(first_wildcard) = memchr(b'*', text) else {
            return if anchored { path == text } else { path.starts_with(text) };
        };
        let Some(mut rest) = path.strip_prefix(&text[..first_wildcard]) else { return false };
        let mut segments = &text[first_wildcard + 1..];
        while let Some(wildcard) = memchr(b'*', segments) {
            let Some(end) = end_of(&segments[..wildcard], rest) else { return false };
            (rest, segments) = (&rest[end..], &segments[wildcard + 1..]);
        }
        if anchored { rest.ends_with(segments) } else { end_of(segments, rest).is_some() }
    }
}

/// Maximum length of a segment that is compared wherever its second byte occurs. Longer segments are searched with
/// `memmem`: its setup takes longer than searching most paths, but its time is linear.
const MAX_SHORT_SEGMENT_BYTES: usize = 16;

/// Returns the end of a segment's leftmost occurrence.
fn end_of(segment: &[u8], text: &[u8]) -> Option<usize> {
    match segment {
        [] => Some(0),
        [byte] => memchr(*byte, text).map(|at| at + 1),
        // Searches for the second byte, because the first is often a slash, which is frequent in paths.
        [_, second, ..] if segment.len() <= MAX_SHORT_SEGMENT_BYTES => {
            let mut start = 0;
            loop {
                start += memchr(*second, text.get(start + 1..)?)?;
                if text[start..].starts_with(segment) {
                    return Some(start + segment.len());
                }
                start += 1;
            }
        }
        _ => memmem::find(text, segment).map(|at| at + segment.len()),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TextKind {
    Path,
    Pattern,
}

/// Result of rewriting a byte or a `%XX`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Octet {
    /// A literal byte.
    Byte(u8),
    /// A byte to be written as `%XX`.
    Escape(u8),
}

/// For each byte, the forms (as bits) in which it may change, or may change other bytes.
const CHANGED_BY: [u8; 256] = {
    let mut changed_by = [0; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        let is_operator = matches!(byte, b'*' | b'$');
        let mut forms = NormalForm::Reserved.bit() * !is_unreserved(byte) as u8;
        if !byte.is_ascii() || byte == b'%' {
            forms |= NormalForm::AsWritten.bit() | NormalForm::Escaped.bit() | NormalForm::Decoded.bit();
        }
        if byte == b'%' || is_operator {
            forms |= NormalForm::FullyDecoded.bit();
        }
        if byte == b' ' || is_operator {
            forms |= NormalForm::Decoded.bit();
        }
        if is_operator {
            forms |= NormalForm::Verbatim.bit();
        }
        changed_by[at] = forms;
        at += 1;
    }
    changed_by
};

/// Rewrites a text to a form. Copying starts at the first byte that changes. Runs of bytes that cannot change, which
/// make up nearly all of most texts, are skipped at about one byte per cycle.
fn rewrite(form: NormalForm, text: &[u8], side: TextKind) -> Cow<'_, [u8]> {
    let can_change = |&byte: &u8| CHANGED_BY[usize::from(byte)] & form.bit() != 0;
    let Some(first) = text.iter().position(can_change) else { return Cow::Borrowed(text) };
    let mut out: Option<Vec<u8>> = None;
    let (mut at, mut in_query) = (first, false);
    while let Some(&byte) = text.get(at) {
        if !can_change(&byte) {
            let run = text[at..].iter().position(can_change).unwrap_or(text.len() - at);
            if let Some(out) = &mut out {
                out.extend_from_slice(&text[at..at + run]);
            }
            at += run;
            continue;
        }
        let escaped = if byte == b'%' && form != NormalForm::Verbatim { hex_pair(text, at) } else { None };
        let (octet, len) = match escaped {
            Some(pair) => (form.of_escape(value_of(pair)), 3),
            None => (form.of_byte(byte, side, at + 1 == text.len(), in_query), 1),
        };
        in_query |= byte == b'?';
        let unchanged = match (octet, escaped) {
            (Octet::Byte(new), None) => new == byte,
            (Octet::Escape(_), Some(pair)) => !pair.iter().any(u8::is_ascii_lowercase),
            _ => false,
        };
        if !unchanged && out.is_none() {
            let mut copy = Vec::with_capacity(text.len() + 16);
            copy.extend_from_slice(&text[..at]);
            out = Some(copy);
        }
        if let Some(out) = &mut out {
            const HEX: &[u8; 16] = b"0123456789ABCDEF";
            match octet {
                Octet::Byte(new) => out.push(new),
                Octet::Escape(byte) => {
                    out.extend_from_slice(&[b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
                }
            }
        }
        at += len;
    }
    out.map_or(Cow::Borrowed(text), Cow::Owned)
}

impl NormalForm {
    /// Returns the result for a byte written as `%XX`.
    fn of_escape(self, byte: u8) -> Octet {
        match self {
            NormalForm::AsWritten | NormalForm::Escaped => Octet::Escape(byte),
            NormalForm::Decoded | NormalForm::Reserved if is_unreserved(byte) => Octet::Byte(byte),
            NormalForm::Decoded | NormalForm::Reserved => Octet::Escape(byte),
            // A decoded `%` could begin a new escape. NUL and LF already represent `*` and `$`.
            NormalForm::FullyDecoded => match byte {
                b'/' | b'%' | LITERAL_STAR | LITERAL_DOLLAR => Octet::Escape(byte),
                b'*' => Octet::Byte(LITERAL_STAR),
                b'$' => Octet::Byte(LITERAL_DOLLAR),
                _ => Octet::Byte(byte),
            },
            // Unreachable: this form has no escapes.
            NormalForm::Verbatim => Octet::Escape(byte),
        }
    }

    /// Returns the result for a byte that is not part of a `%XX`. `last` says whether it ends the text, and `in_query`
    /// whether a `?` comes before it.
    fn of_byte(self, byte: u8, side: TextKind, last: bool, in_query: bool) -> Octet {
        let is_operator = side == TextKind::Pattern && (byte == b'*' || (byte == b'$' && last));
        let escapes = match (self, byte) {
            (NormalForm::FullyDecoded | NormalForm::Verbatim, b'*') => return Octet::Byte(LITERAL_STAR),
            (NormalForm::FullyDecoded | NormalForm::Verbatim, b'$') => return Octet::Byte(LITERAL_DOLLAR),
            (NormalForm::Verbatim, _) => false,
            (NormalForm::FullyDecoded, _) => byte == b'%',
            (NormalForm::AsWritten | NormalForm::Escaped, _) => !byte.is_ascii(),
            (_, b'*' | b'$') => !is_operator,
            (_, b' ' | b'%') => true,
            (NormalForm::Reserved, b'/' | b'?') => in_query,
            (NormalForm::Reserved, _) => {
                !byte.is_ascii() || byte.is_ascii_control() || b"\"<>\\^`{|}:@[]#".contains(&byte)
            }
            (_, _) => !byte.is_ascii(),
        };
        if escapes { Octet::Escape(byte) } else { Octet::Byte(byte) }
    }
}

/// Returns whether a byte is unreserved by RFC 3986.
const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// Decodes two hex digits.
fn value_of(pair: [u8; 2]) -> u8 {
    let digit = |digit: u8| match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    };
    digit(pair[0]) << 4 | digit(pair[1])
}

/// Returns the two hex digits after the byte at `at`, if both are present.
fn hex_pair(text: &[u8], at: usize) -> Option<[u8; 2]> {
    let pair = [*text.get(at + 1)?, *text.get(at + 2)?];
    pair.iter().all(u8::is_ascii_hexdigit).then_some(pair)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn as_written_escapes_patterns_like_the_reference() {
        // The reference's test table for `MaybeEscapePattern`, with results as measured.
        let table: [(&[u8], &[u8]); 10] = [
            (b"/a/b/c", b"/a/b/c"),
            ("á".as_bytes(), b"%C3%A1"),
            (b"%aa", b"%AA"),
            (b"%%41", b"%%41"),
            (b"%gg", b"%gg"),
            (b"%4", b"%4"),
            (b"%", b"%"),
            (b"~%7e", b"~%7E"),
            (b"%2a*%24$", b"%2A*%24$"),
            (b"/a b", b"/a b"),
        ];
        for (raw, escaped) in table {
            assert_eq!(&*NormalForm::AsWritten.pattern(raw), escaped);
        }
    }

    #[test]
    fn numbers_round_trip() {
        for (number, form) in (1..).zip(NormalForm::ALL) {
            assert_eq!(form.number(), number);
            assert_eq!(NormalForm::from_number(number), Some(form));
        }
        assert_eq!(NormalForm::from_number(0), None);
        assert_eq!(NormalForm::from_number(7), None);
    }

    /// Form, text, expected path, expected pattern.
    const FORMS: [(NormalForm, &str, &str, &str); 26] = [
        (NormalForm::Escaped, "/é%c3%62*$", "/%C3%A9%C3%62*$", "/%C3%A9%C3%62*$"),
        (NormalForm::Decoded, "/%7ea%2f%3A%41", "/~a%2F%3AA", "/~a%2F%3AA"),
        (NormalForm::Decoded, "/a b?c=d:e/f", "/a%20b?c=d:e/f", "/a%20b?c=d:e/f"),
        (NormalForm::Decoded, "/a*b$c$", "/a%2Ab%24c%24", "/a*b%24c$"),
        (NormalForm::Decoded, "/%2a%24", "/%2A%24", "/%2A%24"),
        (NormalForm::Decoded, "/100%", "/100%25", "/100%25"),
        (NormalForm::Decoded, "/%%341", "/%2541", "/%2541"),
        (NormalForm::Decoded, "/\u{1}<>", "/\u{1}<>", "/\u{1}<>"),
        // The table in RFC 9309 section 2.2.2. Its fifth row shows escapes that are then decoded.
        (NormalForm::Reserved, "/foo/bar?baz=quz", "/foo/bar?baz=quz", "/foo/bar?baz=quz"),
        (
            NormalForm::Reserved,
            "/foo/bar?baz=https://foo.bar",
            "/foo/bar?baz=https%3A%2F%2Ffoo.bar",
            "/foo/bar?baz=https%3A%2F%2Ffoo.bar",
        ),
        (NormalForm::Reserved, "/foo/bar/ツ", "/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84"),
        (NormalForm::Reserved, "/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84"),
        (NormalForm::Reserved, "/foo/bar/%62%61%7A", "/foo/bar/baz", "/foo/bar/baz"),
        (NormalForm::Reserved, "/a:b@c[d]", "/a%3Ab%40c%5Bd%5D", "/a%3Ab%40c%5Bd%5D"),
        (NormalForm::Reserved, "/a&b=;+,!'()", "/a&b=;+,!'()", "/a&b=;+,!'()"),
        (NormalForm::Reserved, "/?a?b/c", "/?a%3Fb%2Fc", "/?a%3Fb%2Fc"),
        (NormalForm::Reserved, "/%2f%3f?%2F", "/%2F%3F?%2F", "/%2F%3F?%2F"),
        (NormalForm::Reserved, "/\u{1}<\u{7f}", "/%01%3C%7F", "/%01%3C%7F"),
        // The table in the 1996 draft.
        (NormalForm::FullyDecoded, "/a%3cd.html", "/a<d.html", "/a<d.html"),
        (NormalForm::FullyDecoded, "/a%2fb.html", "/a%2Fb.html", "/a%2Fb.html"),
        (NormalForm::FullyDecoded, "/%7ejoe", "/~joe", "/~joe"),
        (NormalForm::FullyDecoded, "/%2A*%24$", "/\0\0\n\n", "/\0\0\n\n"),
        (NormalForm::FullyDecoded, "/%2541%", "/%2541%25", "/%2541%25"),
        (NormalForm::FullyDecoded, "/%00%0a", "/%00%0A", "/%00%0A"),
        (NormalForm::Verbatim, "/a%2f%é b", "/a%2f%é b", "/a%2f%é b"),
        (NormalForm::Verbatim, "/*$", "/\0\n", "/\0\n"),
    ];

    #[test]
    fn paths_and_patterns_are_normalized_as_documented() {
        for (form, text, path, pattern) in FORMS {
            for (found, expected) in [(form.path(text.as_bytes()), path), (form.pattern(text.as_bytes()), pattern)] {
                assert_eq!(found.escape_ascii().to_string(), expected.as_bytes().escape_ascii().to_string());
                assert_eq!(matches!(found, Cow::Borrowed(_)), text == expected, "{form:?} {text}");
            }
        }
        assert_eq!(&*NormalForm::Verbatim.shown(b"/\0a\n"), b"/*a$");
        assert_eq!(&*NormalForm::Escaped.shown(b"/\0a\n"), b"/\0a\n");
    }

    /// Returns whether a pattern matches, by trying every length for every wildcard.
    fn matches_slowly(pattern: &[u8], path: &[u8]) -> bool {
        match pattern {
            [] => true,
            [b'$'] => path.is_empty(),
            [b'*', rest @ ..] => (0..=path.len()).any(|skipped| matches_slowly(rest, &path[skipped..])),
            [byte, rest @ ..] => path.first() == Some(byte) && matches_slowly(rest, &path[1..]),
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn matching_agrees_with_exhaustive_search() {
        // Returns all texts over an alphabet, by increasing length.
        fn texts(alphabet: &[u8], count: usize) -> Vec<Vec<u8>> {
            let mut texts = vec![Vec::new()];
            for at in 0..count {
                let longer: Vec<Vec<u8>> = alphabet.iter().map(|&byte| [&texts[at][..], &[byte]].concat()).collect();
                texts.extend(longer);
            }
            texts
        }
        let (patterns, paths) = (texts(b"ab*$", 341), texts(b"ab$", 121));
        assert_eq!((patterns.len(), paths.len()), (1365, 364));
        for pattern in &patterns {
            let (whole, trimmed) = (Pattern::new(pattern), Pattern::new(pattern).without_trailing_wildcards());
            for path in &paths {
                let expected = matches_slowly(pattern, path);
                assert_eq!(whole.matches(path), expected, "{pattern:?} {path:?}");
                assert_eq!(trimmed.matches(path), expected, "{pattern:?} {path:?}");
                assert!(!expected || path.starts_with(whole.prefix()));
            }
        }
    }

    #[test]
    fn every_match_begins_with_the_text_before_the_first_wildcard() {
        for (pattern, prefix) in [("/a/b", "/a/b"), ("/a*b*$", "/a"), ("*", ""), ("/a$", "/a"), ("$", ""), ("", "")] {
            assert_eq!(Pattern::new(pattern.as_bytes()).prefix(), prefix.as_bytes(), "{pattern}");
        }
    }

    /// Checks each form's documentation: which bytes it leaves unchanged in paths.
    #[test]
    fn each_form_leaves_the_documented_bytes_unchanged() {
        let reserved_kept = |byte: &u8| b"!\"#&'()+,/:;<=>?@[\\]^`{|}".contains(byte) || byte.is_ascii_control();
        for byte in 0..=255_u8 {
            let stays = |form: NormalForm| *form.path(&[b'/', byte, b'x']) == [b'/', byte, b'x'];
            assert!(stays(NormalForm::AsWritten));
            assert_eq!(stays(NormalForm::Escaped), byte.is_ascii(), "{byte}");
            assert_eq!(stays(NormalForm::Decoded), is_unreserved(byte) || reserved_kept(&byte), "{byte}");
            let also_encoded = byte.is_ascii_control() || b"\"<>\\^`{|}:@[]#".contains(&byte);
            assert_eq!(stays(NormalForm::Reserved), stays(NormalForm::Decoded) && !also_encoded, "{byte}");
            assert_eq!(stays(NormalForm::FullyDecoded), !b"%*$".contains(&byte), "{byte}");
            assert_eq!(stays(NormalForm::Verbatim), !b"*$".contains(&byte), "{byte}");
        }
    }

    /// Generates bytes that often form escapes and operators.
    fn text() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![
            4 => Just(b'%'),
            6 => proptest::sample::select(b"0123456789abcdefABCDEF".to_vec()),
            3 => proptest::sample::select(b"*$/?".to_vec()),
            2 => any::<u8>(),
        ];
        proptest::collection::vec(byte, 0..24)
    }

    #[test]
    fn bytes_outside_changed_by_stay_unchanged() {
        let mut tried = 0;
        for (form, byte) in NormalForm::ALL.into_iter().flat_map(|form| (0..=255_u8).map(move |byte| (form, byte))) {
            if CHANGED_BY[usize::from(byte)] & form.bit() != 0 {
                continue;
            }
            for side in [TextKind::Path, TextKind::Pattern] {
                for (last, in_query) in [(false, false), (false, true), (true, false), (true, true)] {
                    assert!(form.of_byte(byte, side, last, in_query) == Octet::Byte(byte), "{form:?} {byte}");
                    tried += 1;
                }
            }
            assert!(byte != b'%' || form == NormalForm::Verbatim, "{form:?}");
            assert!(byte != b'?' || form != NormalForm::Reserved);
        }
        assert!(tried > 6000);
    }

    #[test]
    fn segments_of_any_length_are_found() {
        for len in MAX_SHORT_SEGMENT_BYTES - 1..=MAX_SHORT_SEGMENT_BYTES + 1 {
            let segment = format!("/{}", "b".repeat(len - 1));
            let pattern = format!("/*{segment}*/");
            let pattern = Pattern::new(pattern.as_bytes());
            for (before, after, is_match) in
                [("/a/b", "/", true), ("/", "/", true), ("/a/b", "", false), ("a", "/", false)]
            {
                assert_eq!(pattern.matches(format!("{before}{segment}{after}").as_bytes()), is_match, "{len} {before}");
            }
            assert!(!pattern.matches(format!("/a{}/", &segment[..len - 1]).as_bytes()), "{len}");
        }
    }

    proptest! {
        #[test]
        fn pattern_is_idempotent_and_ascii(raw in proptest::collection::vec(any::<u8>(), 0..64)) {
            let once = NormalForm::AsWritten.pattern(&raw).into_owned();
            prop_assert!(once.is_ascii());
            prop_assert_eq!(&*NormalForm::AsWritten.pattern(&once), &once[..]);
        }

        #[test]
        fn both_sides_are_idempotent(raw in text()) {
            for form in NormalForm::ALL {
                let path = form.path(&raw).into_owned();
                prop_assert_eq!(&*form.path(&path), &path[..], "{:?}", form);
                let pattern = form.pattern(&raw).into_owned();
                prop_assert_eq!(&*form.pattern(&pattern), &pattern[..], "{:?}", form);
            }
        }

        #[test]
        fn kept_prefixes_stay_unchanged(raw in text()) {
            let kept = raw.iter().take_while(|&&byte| NormalForm::is_kept(byte)).count();
            for form in NormalForm::ALL {
                prop_assert_eq!(&form.path(&raw)[..kept], &raw[..kept], "{:?}", form);
                prop_assert_eq!(&form.pattern(&raw)[..kept], &raw[..kept], "{:?}", form);
            }
        }

        #[test]
        fn without_operators_paths_and_patterns_agree(mut raw in text()) {
            for form in NormalForm::ALL[1..].iter().rev() {
                if form.has_operators() {
                    raw.retain(|byte| *byte != b'*' && *byte != b'$');
                }
                prop_assert_eq!(form.path(&raw), form.pattern(&raw), "{:?}", form);
            }
        }
    }

    #[test]
    fn unreserved_bytes_are_those_of_rfc_3986() {
        let unreserved = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
        for byte in 0..=u8::MAX {
            assert_eq!(is_unreserved(byte), unreserved.contains(&byte), "{byte}");
            assert_eq!(NormalForm::is_kept(byte), unreserved.contains(&byte) || byte == b'/', "{byte}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn every_pair_of_bytes_is_decoded_as_the_standard_library_does() {
        let mut decoded = 0;
        for pair in (0..=u16::MAX).map(u16::to_be_bytes) {
            let is_hex = pair.iter().all(|&byte| char::from(byte).is_ascii_hexdigit());
            let text = [b'%', pair[0], pair[1]];
            assert_eq!(hex_pair(&text, 0), is_hex.then_some(pair), "{pair:?}");
            assert_eq!(hex_pair(&text[..2], 0), None);
            if is_hex {
                let expected = u8::from_str_radix(std::str::from_utf8(&pair).unwrap(), 16).unwrap();
                assert_eq!(value_of(pair), expected, "{pair:?}");
                decoded += 1;
            }
        }
        assert_eq!(decoded, 22 * 22);
    }

    /// Normalizes a text byte by byte, as each form is documented.
    fn normalized_slowly(form: NormalForm, text: &[u8], side: TextKind) -> Vec<u8> {
        if form == NormalForm::AsWritten && side == TextKind::Path {
            return text.to_vec();
        }
        let (mut out, mut rest) = (Vec::new(), text);
        while let [byte, after @ ..] = rest {
            let escape = match rest {
                [b'%', high, low, ..] if form != NormalForm::Verbatim => {
                    let digits = [*high, *low].map(char::from);
                    let digits = digits.iter().all(char::is_ascii_hexdigit).then(|| String::from_iter(digits));
                    digits.map(|digits| (u8::from_str_radix(&digits, 16).unwrap(), digits.to_uppercase()))
                }
                _ => None,
            };
            let is_in_query = text[..text.len() - rest.len()].contains(&b'?');
            let is_operator = side == TextKind::Pattern && (*byte == b'*' || rest == b"$");
            rest = if escape.is_some() { &after[2..] } else { after };
            let decoded = escape.as_ref().map_or(*byte, |(decoded, _)| *decoded);
            let is_literal = !form.has_operators() || escape.is_some();
            let stays_escaped = match form {
                NormalForm::AsWritten | NormalForm::Escaped => true,
                NormalForm::Decoded | NormalForm::Reserved => {
                    !decoded.is_ascii_alphanumeric() && !b"-._~".contains(&decoded)
                }
                NormalForm::FullyDecoded | NormalForm::Verbatim => b"/%\0\n".contains(&decoded),
            };
            let is_encoded = match form {
                NormalForm::AsWritten | NormalForm::Escaped => *byte > 127,
                NormalForm::Decoded => *byte > 127 || b" %*$".contains(byte) && !is_operator,
                NormalForm::Reserved => {
                    (*byte < 33 || *byte > 126 || b"%*$\"<>\\^`{|}:@[]#".contains(byte)) && !is_operator
                        || (b"?/".contains(byte) && is_in_query)
                }
                NormalForm::FullyDecoded => *byte == b'%',
                NormalForm::Verbatim => false,
            };
            match (escape, decoded) {
                (Some((_, digits)), _) if stays_escaped => out.extend(format!("%{digits}").bytes()),
                (None, _) if is_encoded => out.extend(format!("%{byte:02X}").bytes()),
                (_, b'*') if is_literal => out.push(0),
                (_, b'$') if is_literal => out.push(b'\n'),
                _ => out.push(decoded),
            }
        }
        out
    }

    /// Every pair of bytes, by itself and after a `%`.
    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn every_pair_of_bytes_is_normalized_as_documented() {
        let mut tried = 0;
        for pair in (0..=u16::MAX).map(u16::to_be_bytes) {
            for (form, text) in
                NormalForm::ALL.into_iter().flat_map(|form| [(form, pair.to_vec()), (form, [b"%", &pair[..]].concat())])
            {
                let found = [form.path(&text), form.pattern(&text)];
                let expected = [TextKind::Path, TextKind::Pattern].map(|side| normalized_slowly(form, &text, side));
                assert_eq!(found, expected, "{form:?} {}", text.escape_ascii());
                tried += 1;
            }
        }
        assert_eq!(tried, 65_536 * NormalForm::ALL.len() * 2);
    }
}
