//! The data about a known crawler: a row of the table.

use reptile_engine::format::crawlers::Purposes;

use crate::dialect::Family;

/// The data about a known crawler that decisions and findings need. [`Record`] has the rest.
#[derive(Debug)]
pub struct Crawler {
    /// The name by which users choose the crawler.
    pub name: &'static str,
    /// The product tokens, the most specific first. A crawler without any obeys no robots.txt.
    pub tokens: &'static [&'static str],
    /// Whether the crawler obeys the rules for `*` if none of its tokens is named.
    pub honors_default_group: bool,
    /// The operator's family.
    pub family: Family,
    /// The purposes for which it can be selected as a member of a group.
    pub purposes: Purposes,
    /// Whether its operator says that it obeys robots.txt.
    pub obeys: Obeys,
    /// Whether the name is current.
    pub standing: Standing,
}

/// Whether an operator says that a crawler obeys robots.txt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Obeys {
    /// The operator says that the crawler obeys.
    Yes,
    /// The operator says nothing, or no statement is known. RFC 9309 asks every crawler to obey.
    NotStated,
    /// Users trigger its requests, and not all rules apply to these. Contains the source.
    UserTriggered(&'static str),
    /// The operator says that the crawler does not obey. Contains the source.
    No(&'static str),
}

/// Whether a crawler's name is current.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Standing {
    /// The operator documents the name, or no source says otherwise.
    Current,
    /// The name is common, but no page of its operator documents it.
    Undocumented,
    /// The operator no longer uses the name.
    Retired,
    /// The operator uses another name instead.
    ReplacedBy(&'static str),
    /// The name is another name of this crawler.
    OtherName(&'static str),
}

/// The data about a known crawler that [`Crawler`] lacks. Programs that do not use it do not contain it.
#[derive(Debug)]
pub struct Record {
    /// The operator.
    pub operator: &'static str,
    /// The product in its `User-Agent` header; `None` for a token that no header has. The crawler's name if no source
    /// gives another product.
    pub header: Option<&'static str>,
    /// The source, in words. *Our choice* marks a value that no source settles.
    pub source: &'static str,
    /// The date of the last check, such as `2026-09-28`, or `2026-11` if only the month is known; `None` without a
    /// date.
    pub checked: Option<&'static str>,
}

impl Crawler {
    /// Returns a remark if the crawler does not always obey robots.txt or its name is no longer used.
    ///
    /// ```
    /// use reptile_compiler::dialect::crawlers::known;
    /// let remark = |name: &[u8]| known(name).and_then(|known| known.remark());
    /// assert!(remark(b"Kimi-User").unwrap().starts_with("users trigger its requests, and not all rules apply"));
    /// assert_eq!(remark(b"claude-web").unwrap(), "the name is retired: its operator no longer uses it");
    /// assert_eq!(remark(b"GPTBot"), None);
    /// ```
    #[must_use]
    pub fn remark(&self) -> Option<String> {
        Some(match (self.obeys, self.standing) {
            (Obeys::UserTriggered(source), _) => {
                format!("users trigger its requests, and not all rules apply to those (source: {source})")
            }
            (Obeys::No(source), _) => format!("its operator says that it does not obey robots.txt (source: {source})"),
            (_, Standing::Retired) => "the name is retired: its operator no longer uses it".into(),
            (_, Standing::ReplacedBy(other)) => format!("its operator uses \"{other}\" instead"),
            _ => return None,
        })
    }
}
