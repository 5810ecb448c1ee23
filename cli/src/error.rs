//! How a command ends: done, done with bad inputs, or not at all.
//!
//! Holds the exit codes and the one error type of this crate. The words of a message are chosen where the error
//! is met; every one names the file that it is about.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

/// A command that came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything was done. Exit code 0.
    Done,
    /// Some inputs were bad and were left out, or differences were found. Exit code 1.
    SomeBad,
}

impl Outcome {
    /// `SomeBad` if there was anything bad.
    pub fn from_bad(any: bool) -> Outcome {
        if any { Outcome::SomeBad } else { Outcome::Done }
    }
}

/// A command that could not go on.
#[derive(Debug)]
pub enum Failure {
    /// What to tell the user. Exit code 2.
    Fatal(String),
    /// Whoever read the output has gone away, and wants to hear no more. Exit code 0.
    Quiet,
}

/// What commands give back.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A message of its own.
    pub fn new(message: impl Display) -> Failure {
        Failure::Fatal(message.to_string())
    }

    /// A message about a file.
    pub fn at(path: &Path, message: impl Display) -> Failure {
        Failure::Fatal(format!("{}: {message}", path.display()))
    }
}

/// Writes a line for people on standard error. That nobody can read it is no reason to stop.
pub fn note(message: impl Display) {
    let _ = writeln!(io::stderr(), "reptile: {message}");
}

/// Text from a file as it may be shown on a terminal: what is no UTF-8 replaced, control characters escaped, and those
/// that turn the direction of the text.
pub fn printable(text: &[u8]) -> String {
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

/// Text as it may stand in a column, from which the bytes can be told.
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
                _ if is_unsafe(character) => {
                    hex(character.encode_utf8(&mut [0; 4]).as_bytes(), &mut shown);
                }
                _ => shown.push(character),
            }
        }
        hex(chunk.invalid(), &mut shown);
    }
    shown
}

/// Whether a character does something to a terminal other than to be seen there.
pub fn is_unsafe(character: char) -> bool {
    let turns = matches!(character, '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    character.is_control() || turns
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
    fn one_record_is_one_line() {
        for (bytes, shown) in [
            (&b"a b"[..], "a b"),
            (b"a\tb\\c", "a\\tb\\\\c"),
            (b"\x00\x1b\xff\x0b", "\\x00\\x1B\\xFF\\x0B"),
            ("é\u{85}\u{2028}".as_bytes(), "é\\xC2\\x85\\xE2\\x80\\xA8"),
        ] {
            assert_eq!(escaped(bytes), shown);
        }
    }
}
