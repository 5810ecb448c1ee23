//! Findings about keys: known keys that decide nothing, misspelt keys, and unknown keys.

use super::{Code, Findings, Severity, quote};
use crate::body::{Line, line_of};
use crate::dialect::{ALL, Dialect};

/// Keys that decide URLs, and `sitemap`, which nearly all dialects read.
const KEYS: [&str; 4] = ["user-agent", "disallow", "allow", "sitemap"];

/// Keys that some crawler reads or once read, and that decide no URL. Source: google/robotstxt, its reporting parser.
const UNUSED_KEYS: [&str; 12] = [
    "crawl-delay",
    "clean-param",
    "content-signal",
    "content-usage",
    "domain",
    "host",
    "noarchive",
    "nofollow",
    "noindex",
    "request-rate",
    "revisit-after",
    "visit-time",
];

/// The text before the first white space.
fn first_word(key: &[u8]) -> &[u8] {
    key.split(|&byte| byte == b' ' || byte == b'\t').next().unwrap_or_default()
}

/// Whether the text before a colon begins with a key and continues after white space, so that the colon belongs to the
/// value.
pub(super) fn lacks_colon(key: &[u8]) -> bool {
    let word = first_word(key);
    word.len() < key.len() && KEYS.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

/// Adds a finding about a key, if it needs one.
pub(super) fn key_of_line(number: u32, line: &[u8], key: &[u8], has_colon: bool, is_read: bool, found: &mut Findings) {
    let is_one_of = |keys: &[&str], key: &[u8]| keys.iter().any(|known| key.eq_ignore_ascii_case(known.as_bytes()));
    let readers = || {
        let counts = |dialect: &&&Dialect| {
            matches!(line_of(line, dialect, &mut |_| ()), Some(Line::Agent(_) | Line::Rule(..) | Line::Sitemap(..)))
        };
        let names: Vec<&str> = ALL.iter().filter(counts).map(|dialect| dialect.as_str()).collect();
        if names.is_empty() { "no dialect reads it".into() } else { format!("only {} read it", names.join(", ")) }
    };
    let severity = if is_read { Severity::Warning } else { Severity::Error };
    let first_word = first_word(key);
    if !has_colon || lacks_colon(key) {
        let known = known_key(first_word, found);
        // A key that lacks its own colon and takes a later one is read, but its value is cut.
        let severity = match known {
            Some(_) if has_colon => Severity::Error,
            Some(_) => severity,
            None => Severity::Warning,
        };
        found.add(number, Code::MissingColon, severity, || {
            let fix = match known {
                Some(known) => {
                    let value = line[line.len().min(line.len() - line.trim_ascii_start().len() + first_word.len())..]
                        .trim_ascii();
                    format!("{}: {}", capital(known), quote(value))
                }
                None => "put # before a comment".into(),
            };
            (format!("no colon after the key; {}", readers()).into(), Some(fix))
        });
        return;
    }
    if is_one_of(&KEYS, key) {
        return;
    }
    if is_one_of(&UNUSED_KEYS, key) {
        found.add(number, Code::UnusedKey, Severity::Note, || {
            (format!("\"{}\" decides no URL, and does not end the list of user-agent lines", quote(key)).into(), None)
        });
        return;
    }
    match known_key(key, found) {
        Some(known) => found.add(number, Code::MisspeltKey, severity, || {
            let message = format!("\"{}\" is not \"{known}\"; {}", quote(key), readers());
            (message.into(), Some(format!("{}: ...", capital(known))))
        }),
        None if is_read => found.add(number, Code::MisspeltKey, Severity::Warning, || {
            (format!("\"{}\" is not a key, but begins like one; {}", quote(key), readers()).into(), None)
        }),
        None => found.add(number, Code::UnknownKey, Severity::Warning, || {
            let is_url = line[line.len().min(key.len() + 1)..].starts_with(b"//");
            let fix = is_url.then(|| "put \"Sitemap: \" before it, if it is the address of a sitemap".to_owned());
            (format!("\"{}\" is not a key; the line decides nothing", quote(key)).into(), fix)
        }),
    }
}

/// The most bytes of a key that is compared with the known keys letter by letter.
const MAX_KEY_BYTES: usize = 24;

/// The fewest bytes of such a key: one less than the shortest known key has.
const MIN_KEY_BYTES: usize = 3;

/// The known key that a key is, or most likely was meant to be.
fn known_key(key: &[u8], found: &mut Findings) -> Option<&'static str> {
    if !(MIN_KEY_BYTES..=MAX_KEY_BYTES).contains(&key.len()) {
        return None;
    }
    let letters = letters_in(key);
    let all = KEYS.into_iter().chain(UNUSED_KEYS).zip(LETTERS);
    let near = all.filter_map(|(known, letters_of_known)| {
        let allowed = if known.len() < 6 { 1 } else { 2 };
        // Each change adds at most one letter that the other key lacks. Most keys end here, and need no table.
        let missing = |of: u32, from: u32| (of & !from).count_ones() as usize;
        if key.len().abs_diff(known.len()) > allowed
            || missing(letters, letters_of_known) > allowed
            || missing(letters_of_known, letters) > allowed
        {
            return None;
        }
        found.steps += (key.len() * known.len()) as u64;
        // Letters inserted, removed, replaced, or swapped with the next. A character for each byte, so that a key that
        // is not UTF-8 is compared byte by byte too.
        let text: String = key.iter().map(|byte| char::from(byte.to_ascii_lowercase())).collect();
        let distance = strsim::osa_distance(&text, known);
        (distance <= allowed).then_some((distance, known))
    });
    near.min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

/// The letters in each known key.
const LETTERS: [u32; KEYS.len() + UNUSED_KEYS.len()] = {
    let mut letters = [0; KEYS.len() + UNUSED_KEYS.len()];
    let mut at = 0;
    while at < letters.len() {
        let known = if at < KEYS.len() { KEYS[at] } else { UNUSED_KEYS[at - KEYS.len()] };
        letters[at] = letters_in(known.as_bytes());
        at += 1;
    }
    letters
};

/// The letters in a key, in any case, as bits; other bytes share these bits.
const fn letters_in(key: &[u8]) -> u32 {
    let (mut letters, mut at) = (0, 0);
    while at < key.len() {
        letters |= 1 << (key[at] & 31);
        at += 1;
    }
    letters
}

fn capital(key: &str) -> String {
    let mut text = key.to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}
