//! The table of known crawlers, as stored in a set under a dialect.

use std::sync::OnceLock;

use reptile_engine::format::TooLarge;
use reptile_engine::format::crawlers::{CrawlerDraft, CrawlerTable, Crawlers, Purposes};
use reptile_engine::spool::SharedSection;
use reptile_engine::token::TokenSyntax;

use crate::dialect::crawlers::ALL;
use crate::dialect::{CallerVersion, Dialect, Family};

/// The prefix of Yandex crawler names without their own entry, and the product token that they fall back to. Source:
/// [`Family::Yandex`].
const SHARED_START: &str = "Yandex";

/// Number of different tables: one for each combination of known families, token syntax, and version cutting.
const TABLES: usize = (1 << (Family::Other as usize + 1)) * TokenSyntax::ALL.len() * 2;

/// Returns the table of known crawlers under a dialect, as a set stores it.
///
/// Each table is written, and its checksum computed, once per process. Every set has a table, and writing it took an
/// eighth of the time for a set with one small file.
///
/// # Errors
/// Returns an error if the table is too large for the format.
pub(super) fn crawler_section(dialect: &Dialect) -> Result<SharedSection, TooLarge> {
    static SECTIONS: [OnceLock<Result<SharedSection, TooLarge>>; TABLES] = [const { OnceLock::new() }; TABLES];
    let families = dialect.crawlers.iter().fold(0, |bits, &family| bits | 1 << family as usize);
    let cuts_version = usize::from(dialect.caller_version == CallerVersion::Cut);
    let place = (families * TokenSyntax::ALL.len() + dialect.token_syntax as usize) * 2 + cuts_version;
    // Leaked, because the static variable keeps the table until the process ends.
    let write = || Ok(SharedSection::new(crawler_table(dialect).write()?.leak()));
    SECTIONS[place].get_or_init(write).clone()
}

/// Returns the table of known crawlers that every set under a dialect contains.
///
/// # Errors
/// Returns an error if the table is too large for the format.
pub fn known_crawlers(dialect: &Dialect) -> Result<Crawlers<'static>, TooLarge> {
    Ok(Crawlers::new(crawler_section(dialect)?.bytes()))
}

/// Returns the known crawlers under a dialect.
///
/// A crawler from a family that the dialect does not know obeys only the name that it is given. A set resolves each
/// name like [`crate::dialect::crawlers::of_name`].
#[must_use]
pub fn crawler_table(dialect: &Dialect) -> CrawlerTable<'static> {
    let known = ALL.iter().map(|crawler| {
        let is_known = dialect.crawlers.contains(&crawler.family);
        CrawlerDraft {
            name: crawler.name.as_bytes(),
            chain: if is_known { crawler.tokens.iter().map(|token| token.as_bytes()).collect() } else { Vec::new() },
            starts_with_itself: !is_known,
            is_prefix: false,
            honors_default_group: crawler.honors_default_group || !is_known,
            purposes: crawler.purposes,
        }
    });
    let family = dialect.crawlers.contains(&Family::Yandex).then(|| CrawlerDraft {
        name: SHARED_START.as_bytes(),
        chain: vec![SHARED_START.as_bytes()],
        starts_with_itself: true,
        is_prefix: true,
        honors_default_group: true,
        purposes: Purposes::NONE,
    });
    CrawlerTable {
        syntax: dialect.token_syntax,
        cuts_version: dialect.caller_version == CallerVersion::Cut,
        crawlers: known.chain(family).collect(),
    }
}
