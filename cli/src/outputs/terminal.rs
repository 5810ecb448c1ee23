//! The only way to standard output and standard error, where no byte leaves that a terminal would act on.
//!
//! Whoever quotes a stranger's text makes it printable or a safe column where it is quoted ([`super::text`]). What was
//! forgotten there is escaped here, except for line ends and tabs, which only the quoting place can tell from its own.
//! Files are not the business of this module.
#![allow(clippy::disallowed_methods, reason = "everything else comes here")]

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use super::text::is_unsafe;

/// Bytes of the longest character in UTF-8.
const MAX_CHARACTER_BYTES: usize = 4;

/// Writes text on standard error. A closed standard error is not a reason to stop.
pub fn tell(text: &str) {
    let _ = io::stderr().write_all(&defused(text.as_bytes()));
}

/// Whether a person sees standard error at once.
pub fn tells_a_person() -> bool {
    io::stderr().is_terminal()
}

/// Standard output.
pub struct Stdout {
    stdout: io::Stdout,
    /// The beginning of a character whose end is not written yet.
    begun: Vec<u8>,
}

impl Stdout {
    /// Opens standard output.
    pub fn new() -> Stdout {
        Stdout { stdout: io::stdout(), begun: Vec::new() }
    }

    /// Whether a person sees it at once.
    pub fn is_terminal(&self) -> bool {
        self.stdout.is_terminal()
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = if self.begun.is_empty() {
            Cow::Borrowed(bytes)
        } else {
            Cow::Owned([&std::mem::take(&mut self.begun), bytes].concat())
        };
        let (whole, begun) = text.split_at(text.len() - begun_len(&text));
        self.stdout.write_all(&defused(whole))?;
        self.begun = begun.to_vec();
        Ok(bytes.len())
    }

    /// A character that has only begun is not one: its bytes are invalid UTF-8, as are those that would have ended it.
    fn flush(&mut self) -> io::Result<()> {
        let begun = std::mem::take(&mut self.begun);
        self.stdout.write_all(&defused(&begun))?;
        self.stdout.flush()
    }
}

/// The number of bytes at the end of a text that begin a character without ending it.
fn begun_len(text: &[u8]) -> usize {
    let tail = &text[text.len() - text.len().min(MAX_CHARACTER_BYTES - 1)..];
    let Some(start) = tail.iter().rposition(|&byte| byte >= 0xC0) else { return 0 };
    match std::str::from_utf8(&tail[start..]) {
        Err(error) if error.error_len().is_none() => tail.len() - start,
        _ => 0,
    }
}

/// The text with everything escaped that a terminal acts on, except line ends and tabs. Bytes that are not UTF-8 stay,
/// except those that are controls to a terminal with eight-bit characters.
fn defused(text: &[u8]) -> Cow<'_, [u8]> {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n');
    if text.iter().fold(true, |plain, byte| plain & is_plain(byte)) {
        return Cow::Borrowed(text);
    }
    let mut safe = Vec::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        for character in chunk.valid().chars() {
            if is_unsafe(character) && !matches!(character, '\t' | '\n') {
                safe.extend(character.escape_default().map(|escape| escape as u8));
            } else {
                safe.extend_from_slice(character.encode_utf8(&mut [0; MAX_CHARACTER_BYTES]).as_bytes());
            }
        }
        for &byte in chunk.invalid() {
            if (0x80..0xA0).contains(&byte) {
                safe.extend(byte.escape_ascii());
            } else {
                safe.push(byte);
            }
        }
    }
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_acts_on_is_escaped() {
        for (text, safe) in [
            (&b"a\tb\nc~"[..], &b"a\tb\nc~"[..]),
            ("é日\u{200d}".as_bytes(), "é日\u{200d}".as_bytes()),
            (b"\x1b[31m\x07\r\x7f\0", b"\\u{1b}[31m\\u{7}\\r\\u{7f}\\u{0}"),
            ("\u{9b}\u{202e}\u{2028}\u{61c}".as_bytes(), b"\\u{9b}\\u{202e}\\u{2028}\\u{61c}"),
            (b"\xff\xe2\x80\x9b\x9b\xc3", b"\xff\xe2\x80\x9b\\x9b\xc3"),
        ] {
            assert_eq!(defused(text).escape_ascii().to_string(), safe.escape_ascii().to_string());
        }
    }

    #[test]
    fn a_character_that_has_begun_waits_for_its_end() {
        for (text, begun) in [
            (&b""[..], 0),
            (b"a", 0),
            ("é".as_bytes(), 0),
            (b"a\xc2", 1),
            (b"\xe2", 1),
            (b"abc\xe2\x80", 2),
            (b"\xf0\x9f\x98", 3),
            ("a\u{1f600}".as_bytes(), 0),
            // No character begins so.
            (b"\xff", 0),
            (b"a\xe2\xe2", 1),
            (b"a\xe2b", 0),
            (b"\x80\x80\x80", 0),
        ] {
            assert_eq!(begun_len(text), begun, "{}", text.escape_ascii());
        }
    }
}
