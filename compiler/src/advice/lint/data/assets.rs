//! Folders and queries from which platforms serve the scripts and style sheets of pages.

use std::sync::LazyLock;

/// A folder or a query of assets.
pub(in super::super) struct Assets {
    /// The text in rules that close it.
    pub(in super::super) text: &'static str,
    /// The platform that serves assets from it. Empty for a name that many platforms use.
    pub(in super::super) platform: &'static str,
    /// A style sheet and a script in it, as platforms name them.
    pub(in super::super) samples: [&'static str; 2],
    /// Text in the file that shows that the site uses the platform. Empty if no other platform uses the name.
    pub(in super::super) evidence: &'static str,
    /// Text in the file that shows that the folder has other files on the site. Empty if no text shows this.
    pub(in super::super) counter_evidence: &'static str,
    /// Whether many sites use the name, so that only a rule with the whole name is about assets.
    pub(in super::super) is_common: bool,
}

/// The known folders and queries. In WebAssembly, a text is much shorter than a table with addresses.
pub(in super::super) static ASSETS: LazyLock<Vec<Assets>> = LazyLock::new(|| TEXT.lines().filter_map(assets).collect());

/// A line for each entry: the text, the platform, the two samples, the evidence and the counter-evidence.
const TEXT: &str = include_str!("assets.txt");

fn assets(line: &'static str) -> Option<Assets> {
    let mut fields = line.split('|');
    let (text, platform, samples) = (fields.next()?, fields.next()?, [fields.next()?, fields.next()?]);
    let (evidence, counter_evidence) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
    Some(Assets { text, platform, samples, evidence, counter_evidence, is_common: platform.is_empty() })
}

/// Crawlers that render pages, as their operators document.
pub(in super::super) const RENDERERS: &[&str] = &["Googlebot", "bingbot", "Applebot", "YandexBot"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::crawlers;

    #[test]
    fn renderers_are_known_crawlers_and_samples_are_in_their_folders() {
        assert!(RENDERERS.iter().all(|name| crawlers::ALL.iter().any(|known| known.name == *name)));
        assert_eq!(ASSETS.len(), TEXT.lines().count());
        let mut texts: Vec<_> = ASSETS.iter().map(|assets| (assets.text, assets.evidence)).collect();
        texts.sort_unstable();
        assert!(texts.windows(2).all(|pair| pair[0] != pair[1]));
        for Assets { text, samples, .. } in ASSETS.iter() {
            let query = text.strip_prefix('/').filter(|text| text.starts_with('?'));
            let is_inside = |sample: &&str| query.map_or(sample.starts_with(text), |query| sample.contains(query));
            assert!(samples.iter().all(is_inside), "{text}");
        }
    }
}
