//! Findings about keys: known keys that decide nothing, misspelled keys, and unknown keys.

use super::characters::{Plain, odd_characters, quote, without_quotes};
use super::codes::Code;
use super::data::words::{COMMENT_MARKS, KEY_MARKS};
use super::findings::{Findings, Fix, Severity};
use super::key_names::{DECIDING_KEYS, KEYS, UNUSED_KEYS, USAGE_KEYS, nearest};
use super::repairs::{are_labels, is_misspelling, is_value_of};
use super::values::unrendered;
use crate::body::{Line, line_of};
use crate::dialect::{ALL, CrawlDelays, Dialect, OPERATORS};

/// A key for uses that no dialect defines, because the draft that proposed it has expired. Some dialects read it as a
/// `Disallow`, because it begins like one. Source: draft-canel-robots-ai-control (2024).
const DISALLOW_TRAINING: &str = "disallowaitraining";

/// The remedy for every `Host` line.
pub(super) const REMOVE_HOST: &str = "remove the line: no current crawler reads it";

/// The remedy for keys that search engines read only in pages.
const PAGE_RULE: &str =
    "use a robots meta element or the header X-Robots-Tag, on pages that crawlers may fetch, and remove the line";

/// Returns the text before the first white space or equals sign.
fn first_word(key: &[u8]) -> &[u8] {
    key.split(|&byte| matches!(byte, b' ' | b'\t' | b'=')).next().unwrap_or_default()
}

/// Returns whether the text before a colon begins with a key and continues after white space, so that the colon belongs
/// to the value.
pub(super) fn lacks_colon(key: &[u8]) -> bool {
    let word = first_word(key);
    word.len() < key.len() && KEYS.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

/// A line with a key, as written.
pub(super) struct WrittenLine<'l> {
    pub(super) number: u32,
    pub(super) line: &'l [u8],
    /// The line before its comment.
    pub(super) text: &'l [u8],
    pub(super) key: &'l [u8],
    pub(super) has_colon: bool,
    /// Whether the dialect reads the line.
    pub(super) is_read: bool,
}

impl WrittenLine<'_> {
    /// Returns the offset of the key.
    fn start(&self) -> usize {
        self.text.len() - self.text.trim_ascii_start().len()
    }

    /// Returns the offset of the first colon, or the length of the text.
    fn colon(&self) -> usize {
        memchr::memchr(b':', self.text).unwrap_or(self.text.len())
    }

    /// Describes which dialects read the line.
    fn readers(&self) -> String {
        let counts = |dialect: &&&Dialect| {
            matches!(
                line_of(self.line, dialect, &mut |_| ()),
                Some(Line::Agent(_) | Line::Rule(..) | Line::Sitemap(..))
            )
        };
        let names: Vec<&str> = ALL.iter().filter(counts).map(|dialect| dialect.as_str()).collect();
        if names.is_empty() { "no dialect reads it".into() } else { format!("only {} read it", names.join(", ")) }
    }

    /// Returns the line with a known key instead of the written key, and with the text after `skipped` bytes as its
    /// value. Returns advice if the known key may not be the intended one.
    fn with_key(&self, known: &str, written: &[u8], skipped: usize, keeps_verdicts: bool) -> Option<Fix> {
        if !is_misspelling(written, known) {
            return Some("put # before the line if it is a comment".into());
        }
        let value = self.text.get(skipped..).unwrap_or_default().trim_ascii();
        if !is_value_of(known, value) {
            return Some(format!("write \"{}:\" and one value", capital(known)).into());
        }
        // A key that decides no URL changes no verdict.
        let keeps_verdicts = keeps_verdicts || !DECIDING_KEYS.contains(&known);
        Fix::replace(&capital(known), value, keeps_verdicts)
    }

    /// Returns the line with the missing colon after the known key at its start. As in Google's reading, words such as
    /// `all` in `Disallow all: /` belong to the key.
    fn with_colon(&self, known: &str, word: &[u8]) -> Option<Fix> {
        let text = self.text.trim_ascii_end();
        let (after, colon) = (self.start() + word.len(), self.colon());
        let rest = text.get(after..).unwrap_or_default().trim_ascii_start();
        let rest = rest.strip_prefix(b"=").unwrap_or(rest).trim_ascii_start();
        let is_labeled = self.has_colon && self.text.get(after..colon).is_some_and(are_labels);
        let skipped = if is_labeled { colon + 1 } else { text.len() - rest.len() };
        let value = text.get(skipped..).unwrap_or_default().trim_ascii_start();
        if known == "disallow" && text.trim_ascii() == word {
            return Fix::replace("Disallow", b"", self.is_read);
        }
        let is_rule = matches!(known, "allow" | "disallow");
        if value.is_empty() || is_rule && !matches!(value[0], b'/' | b'*') {
            return Some(format!("write \"{}:\" and one value", capital(known)).into());
        }
        self.with_key(known, word, skipped, self.is_read && (is_labeled || !self.has_colon))
    }
}

/// Adds a finding about a key, if it needs one.
pub(super) fn key_of_line(line: &WrittenLine<'_>, found: &mut Findings) {
    let WrittenLine { number, key, has_colon, is_read, .. } = *line;
    if odd_key(line, found)
        || !is_read
            && (quoted_line(line, found) || commented(line, found) || numbered(line, found) || template(line, found))
    {
        return;
    }
    let is_one_of = |keys: &[&str], key: &[u8]| keys.iter().any(|known| key.eq_ignore_ascii_case(known.as_bytes()));
    let severity = if is_read { Severity::Warning } else { Severity::Error };
    let first_word = first_word(key);
    if !has_colon || lacks_colon(key) {
        let known = known_key(first_word, found);
        // A key without its own colon that takes a later one is read, but its value is cut.
        let severity = match known {
            Some(_) if has_colon => Severity::Error,
            Some(_) => severity,
            None => Severity::Warning,
        };
        found.add(number, Code::MissingColon, severity, || {
            let fix = match known {
                Some(known) => line.with_colon(known, first_word),
                None => Some("put # before a comment".into()),
            };
            (format!("no colon after the key; {}", line.readers()).into(), fix)
        });
        return;
    }
    if is_one_of(&KEYS, key) || is_one_of(&USAGE_KEYS, key) {
        return;
    }
    if is_one_of(&[DISALLOW_TRAINING], key) {
        let severity = if is_read { Severity::Error } else { Severity::Warning };
        found.add(number, Code::DisallowAiTraining, severity, || {
            let meaning = if is_read { ", as a Disallow for all uses" } else { "" };
            let message =
                format!("states nothing about training, because its draft has expired; {}{meaning}", line.readers());
            let value = line.text.get(line.colon() + 1..).unwrap_or_default().trim_ascii();
            (message.into(), Fix::replace("Content-Usage", &[value, b" train-ai=n"].concat(), false))
        });
        return;
    }
    if is_one_of(&UNUSED_KEYS, key) {
        found.add(number, Code::UnusedKey, Severity::Note, || {
            let lower = key.to_ascii_lowercase();
            let message = format!("\"{}\" decides no URL; {}", quote(key), readers_of_unused(&lower));
            let fix = match &lower[..] {
                b"host" => Some(REMOVE_HOST.into()),
                b"noindex" | b"nofollow" | b"noarchive" => Some(PAGE_RULE.into()),
                _ => None,
            };
            (message.into(), fix)
        });
        return;
    }
    match known_key(key, found) {
        Some(known) => found.add(number, Code::MisspelledKey, severity, || {
            let message = format!("\"{}\" is not \"{known}\"; {}", quote(key), line.readers());
            (message.into(), line.with_key(known, key, line.colon() + 1, is_read))
        }),
        None if is_read => found.add(number, Code::MisspelledKey, Severity::Warning, || {
            (format!("\"{}\" is not a key, but begins like one; {}", quote(key), line.readers()).into(), None)
        }),
        None => found.add(number, Code::UnknownKey, Severity::Warning, || {
            let is_url = line.line[line.line.len().min(key.len() + 1)..].starts_with(b"//");
            let fix = is_url.then(|| "put \"Sitemap: \" before it, if it is a sitemap's URL".into());
            (format!("\"{}\" is not a key; the line decides nothing", quote(key)).into(), fix)
        }),
    }
}

/// Finds a key or a colon with odd characters that people read as a known key.
fn odd_key(line: &WrittenLine<'_>, found: &mut Findings) -> bool {
    // Odd characters in a value do not affect the key.
    if line.key.is_ascii() && line.has_colon {
        return false;
    }
    let Some(plain) = Plain::of(if line.has_colon { line.key } else { line.text }) else { return false };
    let mut text = plain.without_quotes();
    if let Some(rest) = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"*")) {
        text = rest.trim_ascii();
    }
    let (key, value) = match memchr::memchr(b':', text) {
        Some(colon) => (text[..colon].trim_ascii(), Some(text[colon + 1..].trim_ascii())),
        None => (text, None),
    };
    let known = known_key(key, found).filter(|_| line.has_colon || value.is_some());
    if known.is_none() && !text.is_empty() {
        return false;
    }
    let effect = || match known {
        Some("user-agent") if !line.is_read => {
            format!("{}, and the rules below belong to the group above, if there is one", line.readers())
        }
        Some(_) => line.readers(),
        None => "the line is neither blank nor a comment".into(),
    };
    let remedy = || match known {
        Some(known) => {
            let own = line.text.get(line.colon() + 1..).unwrap_or_default().trim_ascii();
            format!("write \"{}: {}\" in ASCII", capital(known), quote(value.unwrap_or(own)))
        }
        None => "remove the characters".into(),
    };
    odd_characters(line.number, &plain, known.is_some() && !line.is_read, effect, remedy, found);
    true
}

/// Finds a directive in quotation marks.
fn quoted_line(line: &WrittenLine<'_>, found: &mut Findings) -> bool {
    let inside = without_quotes(line.text);
    let known = known_key(without_quotes(line.key), found).filter(|_| line.has_colon);
    let is_quoted = line.text.trim_ascii().first().is_some_and(|byte| b"\"'`".contains(byte));
    let Some(known) = known.filter(|_| is_quoted) else { return false };
    found.add(line.number, Code::OddCharacter, Severity::Error, || {
        let message = format!("the quotation mark belongs to the key, which is not \"{known}\": {}", line.readers());
        (message.into(), Some(format!("write \"{}\" without quotation marks", quote(inside).replace('"', "")).into()))
    });
    true
}

/// Finds a line that another language's mark comments out, or that is a comment in another language.
fn commented(line: &WrittenLine<'_>, found: &mut Findings) -> bool {
    let text = line.text.trim_ascii();
    let begins = |mark: &&&str| text.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark.as_bytes()));
    let is_key = |rest: &[u8]| {
        let rest = rest.trim_ascii_start();
        let key = rest.split(|&byte| byte == b':').next().unwrap_or_default().trim_ascii();
        key.len() < rest.len() && DECIDING_KEYS.iter().any(|known| key.eq_ignore_ascii_case(known.as_bytes()))
    };
    let mark = COMMENT_MARKS.iter().find(begins);
    let mark = mark.or_else(|| KEY_MARKS.iter().filter(begins).find(|mark| is_key(&text[mark.len()..])));
    let Some(mark) = mark.filter(|mark| text.len() > mark.len() || mark.len() > 1) else { return false };
    found.add(line.number, Code::CommentMark, Severity::Warning, || {
        let message = format!("\"{}\" does not begin a comment, but {}", quote(&text[..mark.len()]), line.readers());
        (message.into(), Some("begin a comment with #".into()))
    });
    true
}

/// Finds a directive with a list item's number.
fn numbered(line: &WrittenLine<'_>, found: &mut Findings) -> bool {
    let text = line.text.trim_ascii();
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let Some(rest) = text.get(digits + 1..).filter(|_| digits > 0 && b".):".contains(&text[digits])) else {
        return false;
    };
    let Some(colon) = memchr::memchr(b':', rest) else { return false };
    let (key, value) = (rest[..colon].trim_ascii(), rest[colon + 1..].trim_ascii());
    let Some(known) = KEYS.iter().find(|known| key.eq_ignore_ascii_case(known.as_bytes())) else { return false };
    found.add(line.number, Code::MisspelledKey, Severity::Error, || {
        let message = format!("the number belongs to the key, which is not \"{known}\"; {}", line.readers());
        (message.into(), Some(format!("write \"{}: {}\"", capital(known), quote(value)).into()))
    });
    true
}

/// Finds a line of an unrendered template.
fn template(line: &WrittenLine<'_>, found: &mut Findings) -> bool {
    let Some(text) = unrendered(if line.has_colon { line.key } else { line.text }) else { return false };
    found.add(line.number, Code::Placeholder, Severity::Error, || {
        let message = format!("\"{}\" is a template that was not rendered; {}", quote(text), line.readers());
        (message.into(), Some("serve the text that the template produces".into()))
    });
    true
}

/// Describes who reads and who ignores a key that decides no URL.
fn readers_of_unused(key: &[u8]) -> String {
    let reads = |dialect: &Dialect| match key {
        b"crawl-delay" => dialect.other_directives.crawl_delay != CrawlDelays::NotRead,
        b"host" => dialect.other_directives.host,
        b"clean-param" => dialect.other_directives.clean_param,
        _ => false,
    };
    let (readers, others): (Vec<_>, Vec<_>) = OPERATORS.into_iter().partition(|(_, dialect)| reads(dialect));
    let names = |list: &[(&'static str, &Dialect)]| list.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    match readers.len() {
        0 => "Google, Bing and Yandex ignore it".into(),
        1 => format!("{} reads it; ignored by {}", names(&readers), names(&others)),
        _ => format!("{} read it; ignored by {}", names(&readers), names(&others)),
    }
}

/// Returns the known key that a key equals or most likely means.
fn known_key(key: &[u8], found: &mut Findings) -> Option<&'static str> {
    nearest(key, &mut found.steps)
}

fn capital(key: &str) -> String {
    let mut text = key.to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}
