//! Makes text from files and command lines safe for a terminal, and aligns it in columns.
//!
//! ```
//! use reptile_records::text::{are_plain_columns, escaped, opaque_column, pasteable, printable, url_column};
//!
//! // A file cannot clear the screen.
//! assert_eq!(printable(b"Disallow: /\x1b[2J"), r"Disallow: /\u{1b}[2J");
//!
//! // A path with a byte outside UTF-8 can be pasted.
//! assert_eq!(pasteable(b"/caf\xE9"), r"$'/caf\xe9'");
//!
//! // A tab cannot begin another column.
//! assert_eq!(escaped(b"GPT\tBot"), r"GPT\tBot");
//! assert_eq!(url_column(b"https://example.com/a\tb")[..], b"https://example.com/a%09b"[..]);
//! assert_eq!(opaque_column(b"half a \xC3"), b"half a %C3");
//! assert!(are_plain_columns(b"https://example.com/\nhttps://example.org/\n"));
//! ```

use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Noncharacters that mark styles in a program's own text. Text from files never contains them unescaped.
pub const MARKS: RangeInclusive<char> = '\u{FDD0}'..='\u{FDD4}';

/// Makes a file's text safe for a terminal. Invalid UTF-8 is replaced. Control characters and text direction marks are
/// escaped. Tabs stay.
pub fn printable(text: &[u8]) -> String {
    if is_plain(text) && !text.contains(&b'\n') {
        return String::from_utf8_lossy(text).into_owned();
    }
    let mut shown = String::with_capacity(text.len());
    for character in String::from_utf8_lossy(text).chars() {
        if is_unsafe(character) && character != '\t' {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Formats a path or a URL so that it can be given to a command again. Text that a terminal shows unchanged stays.
/// Other text becomes `$'...'` with `\xNN` for each such byte, as Bash, Zsh and POSIX shells read it.
pub fn pasteable(text: &[u8]) -> String {
    let is_plain = std::str::from_utf8(text).is_ok_and(|text| !text.chars().any(|c| c == '\u{FFFD}' || is_unsafe(c)));
    if is_plain {
        return String::from_utf8_lossy(text).into_owned();
    }
    let mut shown = String::from("$'");
    for &byte in text {
        match byte {
            b'\'' | b'\\' => shown.extend(['\\', char::from(byte)]),
            b' '..=b'~' => shown.push(char::from(byte)),
            _ => shown.push_str(&format!("\\x{byte:02x}")),
        }
    }
    shown.push('\'');
    shown
}

/// Escapes text for a column that ends at a tab. Bytes that would break the column become `\t`, `\\` or `\xNN`, and can
/// be recovered.
pub fn escaped(text: &[u8]) -> String {
    let mut shown = String::with_capacity(text.len());
    let hex = |bytes: &[u8], shown: &mut String| {
        for byte in bytes {
            shown.push_str(&format!("\\x{byte:02X}"));
        }
    };
    for chunk in text.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\\' => shown.push_str("\\\\"),
                '\t' => shown.push_str("\\t"),
                _ if is_unsafe(character) => hex(character.encode_utf8(&mut [0; 4]).as_bytes(), &mut shown),
                _ => shown.push(character),
            }
        }
        hex(chunk.invalid(), &mut shown);
    }
    shown
}

/// Formats all or part of a URL for a column that ends at a tab. Bytes that would break the column or act on a terminal
/// become `%XX`, which means the same in a path. Other bytes stay. Invalid UTF-8 also stays, except for bytes that act
/// on a terminal with eight-bit characters.
pub fn url_column(text: &[u8]) -> Cow<'_, [u8]> {
    // Nearly all URLs are plain. `all` would be slower because it checks one byte at a time.
    if text.iter().fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    let mut shown = Vec::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        for character in chunk.valid().chars() {
            let mut bytes = [0; 4];
            let bytes = character.encode_utf8(&mut bytes).as_bytes();
            if is_unsafe(character) { push_percent(bytes, &mut shown) } else { shown.extend_from_slice(bytes) }
        }
        for byte in chunk.invalid() {
            let byte = std::slice::from_ref(byte);
            if byte[0] < 0xA0 { push_percent(byte, &mut shown) } else { shown.extend_from_slice(byte) }
        }
    }
    Cow::Owned(shown)
}

/// Returns whether [`url_column`] certainly leaves every line unchanged. It may be `false` for other such texts.
pub fn are_plain_columns(lines: &[u8]) -> bool {
    lines.iter().fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~' | b'\n'))
}

/// Formats a fragment of a line that is not a URL for a column that ends at a tab. Every byte except printable ASCII
/// becomes `%XX`, because a character may begin in one fragment and end in the next.
pub fn opaque_column(text: &[u8]) -> Vec<u8> {
    let mut shown = Vec::with_capacity(text.len());
    for byte in text {
        let byte = std::slice::from_ref(byte);
        if matches!(byte, [b' '..=b'~']) { shown.extend_from_slice(byte) } else { push_percent(byte, &mut shown) }
    }
    shown
}

fn push_percent(bytes: &[u8], shown: &mut Vec<u8>) {
    for byte in bytes {
        shown.extend_from_slice(format!("%{byte:02X}").as_bytes());
    }
}

/// Returns whether a terminal acts on a character without showing it.
///
/// These are control characters, line separators and text direction marks. Also returns `true` for this program's
/// internal style marks.
pub fn is_unsafe(character: char) -> bool {
    let changes_direction =
        matches!(character, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    character.is_control() || changes_direction || MARKS.contains(&character)
}

/// Formats a number with a comma between groups of three digits.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns whether a text consists only of printable ASCII characters, tabs and line ends.
///
/// ```
/// assert!(reptile_records::text::is_plain(b"a b\tc\n"));
/// assert!(!reptile_records::text::is_plain(b"a\x1b[0m"));
/// ```
#[must_use]
pub fn is_plain(text: &[u8]) -> bool {
    // The compiler vectorizes this, because it has no branches. Everything that a command prints is checked here.
    text.iter().fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~' | b'\t' | b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(printable(b"a\x1b[31m\0\xff\tb"), "a\\u{1b}[31m\\u{0}\u{fffd}\tb");
        assert_eq!(printable("a\u{202e}b\u{85}\u{200c}".as_bytes()), "a\\u{202e}b\\u{85}\u{200c}");
    }

    #[test]
    fn no_byte_can_break_a_column() {
        for (bytes, shown) in [
            (&b"a b"[..], "a b"),
            (b"a\tb\\c", "a\\tb\\\\c"),
            (b"\x00\x1b\xff\x0b", "\\x00\\x1B\\xFF\\x0B"),
            ("é\u{85}\u{2028}".as_bytes(), "é\\xC2\\x85\\xE2\\x80\\xA8"),
        ] {
            assert_eq!(escaped(bytes), shown);
        }
    }

    #[test]
    fn url_columns_remain_urls() {
        for (bytes, shown) in [
            (&b"http://a/b c?\\"[..], &b"http://a/b c?\\"[..]),
            ("/é日\u{200d}".as_bytes(), "/é日\u{200d}".as_bytes()),
            (b"/a\tb\rc\n\0\x1b\x7f", b"/a%09b%0Dc%0A%00%1B%7F"),
            ("\u{85}\u{202e}\u{2028}".as_bytes(), b"%C2%85%E2%80%AE%E2%80%A8"),
            (b"/\xff\x9b\xc2\xe9", b"/\xff%9B\xc2\xe9"),
        ] {
            assert_eq!(url_column(bytes).escape_ascii().to_string(), shown.escape_ascii().to_string());
        }
        assert!(are_plain_columns(b"http://a/ ~\n\nb"));
        for byte in (0..=255).filter(|byte| !matches!(byte, b' '..=b'~' | b'\n')) {
            assert!(!are_plain_columns(&[b'a', byte, b'\n']), "{byte}");
        }
        assert_eq!(opaque_column("a é\t~".as_bytes()), b"a %C3%A9%09~");
    }

    #[test]
    fn digits_are_grouped() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }
}
