//! A crawler as a caller names it: [`Crawler`].

use std::fmt;

/// A crawler as a caller names it, before a set resolves it.
///
/// A `&str` is [`Crawler::named`], so `set.agent("Googlebot-Image")` does the right thing for known crawlers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crawler {
    pub(crate) name: Vec<u8>,
    pub(crate) kind: CrawlerForm,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CrawlerForm {
    /// A name to look up in the crawler table. A name that is not in the table is a product token.
    Named,
    /// One product token, which is not looked up in the table.
    Token,
    /// A name used exactly as given, which does not have to be a product token.
    Verbatim,
    /// A chain of product tokens.
    Chain { tokens: Vec<Vec<u8>>, honors_default_group: bool },
}

impl Crawler {
    /// Returns a crawler by its operator's name for it. A known crawler obeys the chain of product tokens in the
    /// set's crawler table: under Google's documented rules `Googlebot-Image` obeys the group for `Googlebot-Image`,
    /// or else the group for `Googlebot`, or else the default group. Any other name is a product token.
    #[must_use]
    pub fn named(name: impl AsRef<[u8]>) -> Crawler {
        Crawler { name: name.as_ref().to_vec(), kind: CrawlerForm::Named }
    }

    /// Returns a crawler that obeys only this product token, and the default group if no group names the token. The
    /// crawler table is not consulted.
    #[must_use]
    pub fn token(token: impl AsRef<[u8]>) -> Crawler {
        Crawler { name: token.as_ref().to_vec(), kind: CrawlerForm::Token }
    }

    /// Returns a crawler that obeys the groups for the first of these product tokens that a robots.txt names. If the
    /// file names no token, the crawler obeys the default group if `honors_default_group` is set. A crawler without
    /// any token and without the default group obeys no robots.txt.
    #[must_use]
    pub fn chain<T: AsRef<[u8]>>(tokens: impl IntoIterator<Item = T>, honors_default_group: bool) -> Crawler {
        let tokens: Vec<Vec<u8>> = tokens.into_iter().map(|token| token.as_ref().to_vec()).collect();
        let mut name = tokens.join(&b'>');
        if honors_default_group {
            name.extend_from_slice(if name.is_empty() { b"*" } else { b">*" });
        }
        Crawler { name, kind: CrawlerForm::Chain { tokens, honors_default_group } }
    }

    /// Returns a crawler that no group names: it obeys the default group.
    ///
    /// ```
    /// use reptile::{Crawler, Dialect, Robots, Verdict};
    /// let robots = Robots::parse("user-agent: *\ndisallow: /a", Dialect::google())?;
    /// assert_eq!(robots.agent(Crawler::anyone())?.decide("/a")?, Verdict::Disallow);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn anyone() -> Crawler {
        Crawler::chain::<&[u8]>([], true)
    }

    /// Returns a crawler whose name is exactly these bytes. Nothing is looked up, cut off or refused: for conformance
    /// tests, which use names that no crawler should have.
    #[must_use]
    pub fn verbatim(name: impl AsRef<[u8]>) -> Crawler {
        Crawler { name: name.as_ref().to_vec(), kind: CrawlerForm::Verbatim }
    }
}

impl From<&str> for Crawler {
    fn from(name: &str) -> Crawler {
        Crawler::named(name)
    }
}

impl From<&String> for Crawler {
    fn from(name: &String) -> Crawler {
        Crawler::named(name)
    }
}

impl From<String> for Crawler {
    fn from(name: String) -> Crawler {
        Crawler::named(name)
    }
}

impl fmt::Display for Crawler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.name))
    }
}
