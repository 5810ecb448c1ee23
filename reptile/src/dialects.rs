//! The known dialects. [`Dialect::from_name`](crate::Dialect::from_name) finds one by its name.
//!
//! ```
//! use reptile::{Dialect, dialects};
//!
//! assert!(dialects::ALL.iter().all(|dialect| Dialect::from_name(dialect.as_str()) == Some(dialect)));
//! ```

pub use reptile_compiler::dialect::{ALL, CURRENT, DEFAULT, GOOGLE, GOOGLE_LIB, KOSTER_1994, RFC9309, YANDEX};

use crate::Dialect;

/// A description of each dialect.
const MEANINGS: [(&str, &str); 9] = [
    ("google-lib", "Google's open-source library, byte for byte; knows no crawlers"),
    ("google", "Google's crawlers, according to Google's documentation"),
    ("rfc9309", "RFC 9309 as implementations read it"),
    ("rfc9309-strict", "RFC 9309 to the letter: lines outside its grammar are ignored"),
    ("yandex", "Yandex today"),
    ("yandex-2017", "Yandex until 2017: the first matching rule decides; Host, Crawl-delay"),
    ("bing", "Bing's documentation, RFC 9309 for the rest; Crawl-delay"),
    ("koster-1994", "the first note, of 1994: only Disallow, no wildcards"),
    ("koster-1996", "the draft of 1996: Allow and Disallow in file order"),
];

/// Returns a short description of a known dialect. For a custom dialect the text is empty.
///
/// ```
/// use reptile::dialects::{ALL, YANDEX, meaning};
/// assert_eq!(meaning(&YANDEX), "Yandex today");
/// assert!(ALL.iter().all(|dialect| !meaning(dialect).is_empty()));
/// ```
#[must_use]
pub fn meaning(dialect: &Dialect) -> &'static str {
    MEANINGS.iter().find(|(name, _)| *name == dialect.as_str()).map_or("", |(_, meaning)| meaning)
}
