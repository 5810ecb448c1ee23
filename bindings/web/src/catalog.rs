//! The dialects, crawlers and vocabularies that the library knows, and its limits.

use reptile::crawlers::{ALL, GROUPS};
use reptile::limits::{MAX_BODY_BYTES, MAX_URL_BYTES};
use reptile::prove::{MAX_ASSERTION_BYTES, MAX_ASSERTIONS};
use reptile::settings::Family;
use reptile::usage::Vocabulary;
use reptile::{Profile, dialects};
use serde::Serialize;

use crate::ask::{MAX_AGENTS, MAX_VERDICTS};
use crate::failure::Failure;
use crate::set::MAX_SET_BYTES;
use crate::state::{Call, json};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Catalog {
    version: &'static str,
    dialects: Vec<DialectJson>,
    crawlers: Vec<CrawlerJson>,
    groups: Vec<GroupJson>,
    vocabularies: Vec<VocabularyJson>,
    /// The limits, in the order in which `index.js` lists them.
    limits: [usize; 7],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DialectJson {
    name: &'static str,
    meaning: &'static str,
    profile: &'static str,
    is_default: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CrawlerJson {
    name: &'static str,
    tokens: &'static [&'static str],
    honors_default_group: bool,
    family: &'static str,
    groups: Vec<&'static str>,
}

#[derive(Serialize)]
struct GroupJson {
    name: &'static str,
    crawlers: Vec<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct VocabularyJson {
    name: &'static str,
    categories: Vec<String>,
    is_default: bool,
}

/// Returns the dialects, crawlers, groups, vocabularies and limits.
pub fn all(_: Call<'_>) -> Result<Vec<u8>, Failure> {
    let dialects = dialects::ALL.iter().map(|dialect| DialectJson {
        name: dialect.as_str(),
        meaning: dialects::meaning(dialect),
        profile: Profile::of_dialect(dialect).as_str(),
        is_default: *dialect == dialects::DEFAULT,
    });
    let crawlers = ALL.iter().map(|crawler| CrawlerJson {
        name: crawler.name,
        tokens: crawler.tokens,
        honors_default_group: crawler.honors_default_group,
        family: match crawler.family {
            Family::Google => "google",
            Family::Yandex => "yandex",
            Family::Bing => "bing",
            _ => "other",
        },
        groups: GROUPS
            .iter()
            .filter(|(_, of_group)| crawler.purposes.contains(*of_group))
            .map(|(name, _)| *name)
            .collect(),
    });
    let groups = GROUPS.iter().map(|&(name, of_group)| GroupJson {
        name,
        crawlers: ALL
            .iter()
            .filter(|crawler| crawler.purposes.contains(of_group))
            .map(|crawler| crawler.name)
            .collect(),
    });
    let vocabularies = Vocabulary::NAMES.iter().map(|&name| VocabularyJson {
        name,
        categories: Vocabulary::named(name).iter().flat_map(|known| known.categories()).map(str::to_owned).collect(),
        is_default: name == Vocabulary::default().name(),
    });
    json(&Catalog {
        version: env!("CARGO_PKG_VERSION"),
        dialects: dialects.collect(),
        crawlers: crawlers.collect(),
        groups: groups.collect(),
        vocabularies: vocabularies.collect(),
        limits: [
            MAX_BODY_BYTES,
            MAX_URL_BYTES,
            MAX_SET_BYTES,
            MAX_ASSERTIONS,
            MAX_ASSERTION_BYTES,
            MAX_AGENTS,
            MAX_VERDICTS,
        ],
    })
}
