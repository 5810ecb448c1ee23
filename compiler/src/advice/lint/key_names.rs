//! The known keys, and the known key that a misspelled one most likely means.

use crate::names::letters_in;

/// Keys that decide URLs, and `sitemap`, which nearly all dialects read.
pub(super) const KEYS: [&str; 4] = ["user-agent", "disallow", "allow", "sitemap"];

/// The keys in [`KEYS`] that decide URLs.
pub(super) const DECIDING_KEYS: [&str; 3] = ["user-agent", "disallow", "allow"];

/// Keys that are recognized after other text on a line, longer ones before their endings: those in [`KEYS`], and others
/// that no other word ends with.
pub(super) const JOINED_KEYS: [&str; 7] =
    [KEYS[0], "useragent", KEYS[1], KEYS[2], KEYS[3], UNUSED_KEYS[0], UNUSED_KEYS[1]];

/// Keys that decide no URL, and that some crawlers read or once read. Source: google/robotstxt, its reporting parser.
pub(super) const UNUSED_KEYS: [&str; 10] = [
    "crawl-delay",
    "clean-param",
    "domain",
    "host",
    "noarchive",
    "nofollow",
    "noindex",
    "request-rate",
    "revisit-after",
    "visit-time",
];

/// Keys that decide no URL, but state the uses of pages.
pub(super) const USAGE_KEYS: [&str; 3] = ["content-signal", "content-usage", "license"];

/// Number of known keys.
const KNOWN_KEYS: usize = KEYS.len() + UNUSED_KEYS.len() + USAGE_KEYS.len();

/// Maximum length of a key that is compared letter by letter with the known keys, in bytes.
const MAX_KEY_BYTES: usize = 24;

/// Minimum length of such a key: one less than the shortest known key.
const MIN_KEY_BYTES: usize = 3;

/// Returns the same key as [`nearest`], without counting steps.
pub(super) fn nearest_key(key: &[u8]) -> Option<&'static str> {
    nearest(key, &mut 0)
}

/// Returns the known key nearest to a key, if it is near enough, and counts steps.
pub(super) fn nearest(key: &[u8], steps: &mut u64) -> Option<&'static str> {
    if !(MIN_KEY_BYTES..=MAX_KEY_BYTES).contains(&key.len()) {
        return None;
    }
    let letters = letters_in(key);
    let all = KEYS.into_iter().chain(UNUSED_KEYS).chain(USAGE_KEYS).zip(LETTERS);
    let near = all.filter_map(|(known, letters_of_known)| {
        let allowed = if known.len() < 6 { 1 } else { 2 };
        // Each edit adds at most one letter that the other key lacks. Most keys are rejected here, without a table.
        let missing = |of: u32, from: u32| (of & !from).count_ones() as usize;
        if key.len().abs_diff(known.len()) > allowed
            || missing(letters, letters_of_known) > allowed
            || missing(letters_of_known, letters) > allowed
        {
            return None;
        }
        *steps += (key.len() * known.len()) as u64;
        // Letters inserted, removed, replaced, or swapped with the next. Each byte becomes a character, so that keys
        // that are not UTF-8 are also compared byte by byte.
        let text: String = key.iter().map(|byte| char::from(byte.to_ascii_lowercase())).collect();
        let distance = strsim::osa_distance(&text, known);
        (distance <= allowed).then_some((distance, known))
    });
    near.min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

/// The set of letters in each known key.
const LETTERS: [u32; KNOWN_KEYS] = {
    let mut letters = [0; KNOWN_KEYS];
    let mut at = 0;
    while at < letters.len() {
        let known = if at < KEYS.len() {
            KEYS[at]
        } else if at < KEYS.len() + UNUSED_KEYS.len() {
            UNUSED_KEYS[at - KEYS.len()]
        } else {
            USAGE_KEYS[at - KEYS.len() - UNUSED_KEYS.len()]
        };
        letters[at] = letters_in(known.as_bytes());
        at += 1;
    }
    letters
};
