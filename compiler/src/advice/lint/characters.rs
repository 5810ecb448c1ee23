//! Characters that are invisible or look like others: findings about them, and quoted text that names them. Crawlers
//! read every byte literally.

use super::codes::Code;
use super::data::characters::{CHARACTERS, Kind, Odd};
use super::findings::{Findings, Fix, Severity};

fn odd(character: char) -> Option<&'static Odd> {
    let at = CHARACTERS.binary_search_by_key(&character, |odd| odd.character).ok()?;
    CHARACTERS.get(at)
}

/// Maximum characters in a quoted text; the rest is left out.
pub(super) const MAX_QUOTED: usize = 80;

/// Quotes text from the file in a form that is safe in a message. Invisible characters and look-alikes are
/// named.
pub(super) fn quote(text: &[u8]) -> String {
    let start = &text[..text.len().min(MAX_QUOTED * 4)];
    let characters: Vec<char> = String::from_utf8_lossy(start).chars().take(MAX_QUOTED + 1).collect();
    let mut quoted = String::new();
    for (at, &character) in characters.iter().enumerate().take(MAX_QUOTED) {
        match shown(&characters, at) {
            Some(name) => quoted.push_str(&format!("<{name}>")),
            None if character.is_control() => quoted.extend(character.escape_default()),
            None => quoted.push(character),
        }
    }
    if characters.len() > MAX_QUOTED {
        quoted.push_str("...");
    }
    quoted
}

/// Returns the code point and name of the character at `at` if it cannot be shown as it is.
fn shown(text: &[char], at: usize) -> Option<String> {
    let &character = text.get(at)?;
    match odd(character) {
        Some(odd) if odd.kind != Kind::Letter || is_in_latin_word(text, at) => Some(code_point(character)),
        None if character.is_control() && !matches!(character, '\t' | '\n' | '\r') => Some(code_point(character)),
        _ => None,
    }
}

/// Returns a character's code point, and its name if it is in [`CHARACTERS`].
fn code_point(character: char) -> String {
    let name = odd(character).map(|odd| format!(" {}", odd.name)).unwrap_or_default();
    let remark = if character == '\u{FEFF}' { " (byte order mark)" } else { "" };
    format!("U+{:04X}{name}{remark}", u32::from(character))
}

/// Returns whether the word around `at` contains a Latin letter.
fn is_in_latin_word(text: &[char], at: usize) -> bool {
    let in_word = |character: &&char| character.is_alphanumeric();
    let (before, after) = text.split_at(at.min(text.len()));
    let word = before.iter().rev().take_while(in_word).chain(after.iter().take_while(in_word));
    word.take(MAX_WORD_CHARACTERS).any(char::is_ascii_alphabetic)
}

/// Maximum number of characters in a word that are searched for a Latin letter.
const MAX_WORD_CHARACTERS: usize = 64;

/// Text with odd characters, as people read it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plain {
    /// The text in ASCII: without invisible characters and bullets, and with look-alikes replaced.
    pub(super) text: Vec<u8>,
    /// The odd characters, each once.
    pub(super) odd: Vec<char>,
    /// Whether an odd character is certainly a mistake: any except punctuation between other characters.
    pub(super) is_certain: bool,
}

/// Maximum number of odd characters that a message names.
const MAX_CHARACTERS_SHOWN: usize = 3;

impl Plain {
    /// Reads text as people do. Returns `None` if it has no odd character.
    pub(super) fn of(text: &[u8]) -> Option<Plain> {
        if text.is_ascii() {
            return None;
        }
        let characters = characters_of(text);
        let mut plain = Plain { text: Vec::with_capacity(text.len()), odd: Vec::new(), is_certain: false };
        for (at, &character) in characters.iter().enumerate() {
            match odd(character).filter(|odd| is_odd_here(odd, &characters, at)) {
                Some(odd) => {
                    plain.text.extend_from_slice(odd.ascii.as_bytes());
                    plain.is_certain |= is_certain(odd, &characters, at);
                    if !plain.odd.contains(&character) {
                        plain.odd.push(character);
                    }
                }
                None => plain.text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        (!plain.odd.is_empty()).then_some(plain)
    }

    /// Returns the text without the quotation marks and white space around it.
    pub(super) fn without_quotes(&self) -> &[u8] {
        without_quotes(&self.text)
    }

    /// Describes the odd characters by name and appearance.
    pub(super) fn names(&self) -> String {
        let mut names: Vec<String> = self.odd.iter().take(MAX_CHARACTERS_SHOWN).map(|&odd| described(odd)).collect();
        if self.odd.len() > names.len() {
            names.push(format!("{} more", self.odd.len() - names.len()));
        }
        names.join(", ")
    }
}

/// Describes a character by name and appearance.
fn described(character: char) -> String {
    let look = match odd(character) {
        Some(Odd { kind: Kind::Invisible, .. }) => ", which is invisible".into(),
        Some(Odd { kind: Kind::Space, .. }) => ", which is not a space to crawlers".into(),
        Some(Odd { ascii, .. }) if !ascii.is_empty() => format!(", which looks like {ascii}"),
        _ => String::new(),
    };
    code_point(character) + &look
}

/// Returns text without the ASCII quotation marks and white space around it.
pub(super) fn without_quotes(text: &[u8]) -> &[u8] {
    let is_outside = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`".contains(byte);
    let start = text.iter().position(|byte| !is_outside(byte)).unwrap_or(text.len());
    let end = text.iter().rposition(|byte| !is_outside(byte)).map_or(start, |last| last + 1);
    &text[start..end]
}

/// Returns the characters of text in UTF-8, or else in Windows-1252.
fn characters_of(text: &[u8]) -> Vec<char> {
    match std::str::from_utf8(text) {
        Ok(text) => text.chars().collect(),
        Err(_) => text.iter().map(|&byte| windows_1252(byte)).collect(),
    }
}

/// Returns the character of a byte in Windows-1252, which extends Latin-1 with typographic characters.
pub(super) const fn windows_1252(byte: u8) -> char {
    match byte {
        0x85 => '\u{2026}',
        0x91 => '\u{2018}',
        0x92 => '\u{2019}',
        0x93 => '\u{201C}',
        0x94 => '\u{201D}',
        0x95 => '\u{2022}',
        0x96 => '\u{2013}',
        0x97 => '\u{2014}',
        _ => byte as char,
    }
}

/// Returns whether an odd character is out of place here, rather than usual in the text's language.
fn is_odd_here(odd: &Odd, text: &[char], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| text.get(at));
    let after = text.get(at + 1);
    let is_ascii = |neighbor: Option<&char>| neighbor.is_none_or(char::is_ascii);
    match odd.kind {
        // Joiners belong to words in some scripts, and variation selectors to symbols.
        Kind::Invisible if matches!(odd.character, '\u{200C}' | '\u{200D}' | '\u{FE00}'..='\u{FE0F}') => {
            before.is_none_or(|before| before.is_ascii() || self::odd(*before).is_some())
        }
        Kind::Letter => is_in_latin_word(text, at),
        Kind::Invisible | Kind::Space => true,
        // Between other characters that are not ASCII, the mark belongs to their language.
        Kind::Quote | Kind::Mark | Kind::Bullet => {
            is_ascii(before) && is_ascii(after) || before.is_none() || {
                let is_odd = |neighbor: Option<&char>| neighbor.is_some_and(|one| self::odd(*one).is_some());
                is_odd(before) || is_odd(after)
            }
        }
    }
}

/// Returns whether an odd character is certainly a mistake at this place. Page addresses contain dashes and
/// apostrophes.
fn is_certain(odd: &Odd, text: &[char], at: usize) -> bool {
    let is_inside = at > 0 && at + 1 < text.len();
    !(is_inside && (odd.ascii == "-" || odd.kind == Kind::Quote && odd.ascii == "'" || odd.kind == Kind::Bullet))
}

/// Adds a finding about odd characters: an error if `is_dead`, otherwise a warning. `effect` describes how crawlers
/// read the line.
pub(super) fn odd_characters(
    number: u32,
    plain: &Plain,
    is_dead: bool,
    effect: impl FnOnce() -> String,
    remedy: impl FnOnce() -> String,
    found: &mut Findings,
) {
    let severity = if is_dead { Severity::Error } else { Severity::Warning };
    found.add(number, Code::OddCharacter, severity, || {
        (format!("contains {}: {}", plain.names(), effect()).into(), Some(Fix::Words(remedy())))
    });
}

#[cfg(test)]
mod tests {
    use super::super::data::characters::TEXT;
    use super::*;

    #[test]
    fn characters_are_in_order_and_outside_printable_ascii() {
        assert!(CHARACTERS.windows(2).all(|pair| pair[0].character < pair[1].character));
        assert_eq!(CHARACTERS.len(), TEXT.lines().count());
        for odd in CHARACTERS.iter() {
            assert!(odd.ascii.is_ascii() && !matches!(odd.character, ' '..='~'), "{odd:?}");
            assert!(
                odd.name.bytes().all(|byte| byte.is_ascii_uppercase() || b"- 0123456789".contains(&byte)),
                "{odd:?}"
            );
        }
    }

    #[test]
    fn text_is_read_as_people_read_it() {
        let cases = [
            // A text, how people read it, whether that is certain, and the first odd character.
            ("User\u{2013}agent", "User-agent", false, "U+2013 EN DASH, which looks like -"),
            ("\u{FEFF}Allow", "Allow", true, "U+FEFF ZERO WIDTH NO-BREAK SPACE (byte order mark), which is invisible"),
            ("Dis\u{430}llow", "Disallow", true, "U+0430 CYRILLIC SMALL LETTER A, which looks like a"),
            ("\u{201C}/x\u{201D}", "\"/x\"", true, "U+201C LEFT DOUBLE QUOTATION MARK, which looks like \""),
            ("\u{A0}/x", " /x", true, "U+00A0 NO-BREAK SPACE, which is not a space to crawlers"),
            ("\u{FF0F}x", "/x", true, "U+FF0F FULLWIDTH SOLIDUS, which looks like /"),
            ("/a\u{200D}b", "/ab", true, "U+200D ZERO WIDTH JOINER, which is invisible"),
            ("/a\u{2019}b", "/a'b", false, "U+2019 RIGHT SINGLE QUOTATION MARK, which looks like '"),
        ];
        for (text, plain, is_certain, name) in cases {
            let found = Plain::of(text.as_bytes()).unwrap();
            assert_eq!((String::from_utf8_lossy(&found.text), found.is_certain), (plain.into(), is_certain), "{text}");
            assert!(found.names().starts_with(name), "{}", found.names());
        }
        // Latin-1 has the same characters in one byte.
        assert_eq!(Plain::of(b"\xA0Allow").unwrap().text, b" Allow");
        assert_eq!(Plain::of(b"\x93/x\x94").unwrap().without_quotes(), b"/x");
        for text in [
            "/\u{43F}\u{43E}\u{438}\u{441}\u{43A}/x",
            "/m\u{FC}ller",
            "/\u{645}\u{6CC}\u{200C}\u{634}",
            "/\u{5FEB}\u{901F}\u{FF1F}",
            "/a",
        ] {
            assert_eq!(Plain::of(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn long_words_are_searched_for_latin_letters_up_to_a_limit() {
        for (letters, is_latin) in
            [(MAX_WORD_CHARACTERS - 2, true), (MAX_WORD_CHARACTERS - 1, true), (MAX_WORD_CHARACTERS, false)]
        {
            let text: Vec<char> = format!("{}a", "\u{430}".repeat(letters)).chars().collect();
            assert_eq!(is_in_latin_word(&text, 0), is_latin, "{letters}");
        }
    }
}
