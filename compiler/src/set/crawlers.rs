//! The table of known crawlers, as stored in a set under a dialect.

use reptile_engine::format::crawlers::{CrawlerDraft, CrawlerTable, Purposes};

use crate::dialect::crawlers::ALL;
use crate::dialect::{CallerVersion, Dialect, Family};

/// The prefix of Yandex crawler names without their own entry, and the product token that they fall back to. Source:
/// [`Family::Yandex`].
const SHARED_START: &str = "Yandex";

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
