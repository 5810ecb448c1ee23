//! The only path to standard output and standard error. No byte that controls a terminal passes.
//!
//! Code that quotes untrusted text makes it printable or a safe column ([`reptile_records::text`]). Control characters
//! missed there are escaped here, except for line ends and tabs, which only the quoting code can tell from its own.
//! This module does not handle files.
#![allow(clippy::disallowed_methods, reason = "all other output passes through here")]

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, OnceLock, PoisonError};

use indicatif::ProgressBar;

use super::style::style_of;
use reptile_records::redacted::without_secrets;
use reptile_records::text::{is_plain, is_unsafe};

/// Maximum number of bytes in a UTF-8 character.
const MAX_CHARACTER_BYTES: usize = 4;

/// A color setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless the variable NO_COLOR has a value.
    Auto,
    /// Everywhere.
    Always,
    /// Nowhere.
    Never,
}

/// The user's color and quiet settings.
static WANTED: OnceLock<(Color, bool)> = OnceLock::new();

/// The visible progress display.
static PROGRESS: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Stores the user's settings. Called once, before anything is written.
pub fn set_up(color: Color, quiet: bool) {
    let _ = WANTED.set((color, quiet));
}

impl Color {
    /// Returns the setting with this name.
    pub fn from_name(name: &str) -> Option<Color> {
        <Color as clap::ValueEnum>::from_str(name, false).ok()
    }

    /// Returns whether to color an output.
    fn applies(self, is_terminal: bool) -> bool {
        let has_value = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        match self {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                is_terminal && !has_value("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
            }
        }
    }
}

impl From<Color> for clap::ColorChoice {
    fn from(color: Color) -> clap::ColorChoice {
        match color {
            Color::Auto => clap::ColorChoice::Auto,
            Color::Always => clap::ColorChoice::Always,
            Color::Never => clap::ColorChoice::Never,
        }
    }
}

/// Returns the user's settings, or the defaults.
fn wanted() -> (Color, bool) {
    WANTED.get().copied().unwrap_or((Color::Auto, false))
}

/// Writes remarks and figures on standard error, unless `--quiet` is given. A closed standard error is not an error.
pub fn tell(text: &str) {
    if !wanted().1 {
        tell_error(text);
    }
}

/// Writes an error on standard error.
pub fn tell_error(text: &str) {
    let mut stderr = io::stderr();
    let colored = wanted().0.applies(stderr.is_terminal());
    suspended(|| {
        let _ = stderr.write_all(&defused(without_secrets(text).as_bytes(), colored));
    });
}

/// Sets the visible progress display, which is suspended while other text is printed.
pub fn show_progress(bar: Option<ProgressBar>) {
    *PROGRESS.lock().unwrap_or_else(PoisonError::into_inner) = bar;
}

/// Runs `write` while the progress display is suspended.
fn suspended(write: impl FnOnce()) {
    let shown = PROGRESS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match shown {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Returns whether standard error is a terminal and progress is wanted.
pub fn is_interactive() -> bool {
    io::stderr().is_terminal() && !wanted().1
}

/// Standard output.
pub struct Stdout {
    stdout: io::Stdout,
    /// The bytes of an incomplete character at the end.
    begun: Vec<u8>,
    /// Whether styles are shown.
    colored: bool,
    /// Whether bytes are written unescaped.
    is_raw: bool,
}

impl Stdout {
    /// Opens standard output.
    pub fn new() -> Stdout {
        let stdout = io::stdout();
        Stdout { colored: wanted().0.applies(stdout.is_terminal()), stdout, begun: Vec::new(), is_raw: false }
    }

    /// Returns whether standard output is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.stdout.is_terminal()
    }

    /// Returns whether styles are shown.
    pub fn is_colored(&self) -> bool {
        self.colored
    }

    /// Disables escaping for later writes, unless the output is a terminal or shows styles.
    pub fn pass_bytes_on(&mut self) {
        self.is_raw = !self.is_terminal() && !self.colored;
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_raw {
            return self.stdout.write(bytes);
        }
        let text = if self.begun.is_empty() {
            Cow::Borrowed(bytes)
        } else {
            Cow::Owned([&std::mem::take(&mut self.begun), bytes].concat())
        };
        let (whole, begun) = text.split_at(text.len() - begun_len(&text));
        self.stdout.write_all(&defused(whole, self.colored))?;
        self.begun = begun.to_vec();
        Ok(bytes.len())
    }

    /// Writes an incomplete character as invalid UTF-8. Its remaining bytes, written later, are invalid too.
    fn flush(&mut self) -> io::Result<()> {
        let begun = std::mem::take(&mut self.begun);
        self.stdout.write_all(&defused(&begun, self.colored))?;
        self.stdout.flush()
    }
}

/// Returns the number of bytes in an incomplete character at a text's end.
fn begun_len(text: &[u8]) -> usize {
    let tail = &text[text.len() - text.len().min(MAX_CHARACTER_BYTES - 1)..];
    let Some(start) = tail.iter().rposition(|&byte| byte >= 0xC0) else { return 0 };
    match std::str::from_utf8(&tail[start..]) {
        Err(error) if error.error_len().is_none() => tail.len() - start,
        _ => 0,
    }
}

/// Escapes characters that control a terminal, except line ends and tabs, and shows or removes styles. Invalid UTF-8
/// bytes remain, except for those that are control characters on a terminal with eight-bit characters.
fn defused(text: &[u8], colored: bool) -> Cow<'_, [u8]> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let mut safe = Vec::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        for character in chunk.valid().chars() {
            if let Some(style) = style_of(character) {
                safe.extend_from_slice(if colored { style.as_bytes() } else { b"" });
            } else if is_unsafe(character) && !matches!(character, '\t' | '\n') {
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
    fn terminal_controls_are_escaped() {
        for (text, safe) in [
            (&b"a\tb\nc~"[..], &b"a\tb\nc~"[..]),
            ("é日\u{200d}".as_bytes(), "é日\u{200d}".as_bytes()),
            (b"\x1b[31m\x07\r\x7f\0", b"\\u{1b}[31m\\u{7}\\r\\u{7f}\\u{0}"),
            ("\u{9b}\u{202e}\u{2028}\u{61c}".as_bytes(), b"\\u{9b}\\u{202e}\\u{2028}\\u{61c}"),
            (b"\xff\xe2\x80\x9b\x9b\xc3", b"\xff\xe2\x80\x9b\\x9b\xc3"),
        ] {
            assert_eq!(defused(text, false).escape_ascii().to_string(), safe.escape_ascii().to_string());
        }
    }

    #[test]
    fn styles_are_shown_or_removed() {
        let text = super::super::style::Style::Bad.of("x\u{1b}[0m");
        assert_eq!(&*defused(text.as_bytes(), false), b"x\\u{1b}[0m");
        assert_eq!(&*defused(text.as_bytes(), true), b"\x1b[31mx\\u{1b}[0m\x1b[0m");
    }

    #[test]
    fn incomplete_characters_wait_for_their_last_byte() {
        for (text, begun) in [
            (&b""[..], 0),
            (b"a", 0),
            ("é".as_bytes(), 0),
            (b"a\xc2", 1),
            (b"\xe2", 1),
            (b"abc\xe2\x80", 2),
            (b"\xf0\x9f\x98", 3),
            ("a\u{1f600}".as_bytes(), 0),
            // No character begins with this byte.
            (b"\xff", 0),
            (b"a\xe2\xe2", 1),
            (b"a\xe2b", 0),
            (b"\x80\x80\x80", 0),
        ] {
            assert_eq!(begun_len(text), begun, "{}", text.escape_ascii());
        }
    }
}
