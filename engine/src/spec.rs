//! Parses crawler specifications given by users.
//!
//! A specification is a name, a chain of product tokens, a crawler group, or any crawler.
//!
//! This module only splits the text. [`crate::token`] decides whether a name is a product token. The set's crawler
//! table lists the tokens that a known crawler obeys, and the crawlers in a group.

use std::fmt;

use crate::format::crawlers::Purposes;

/// Named crawler groups, and the purposes that their members have.
pub const GROUPS: [(&str, Purposes); 6] = [
    ("@ai-training", Purposes::AI_TRAINING),
    ("@search", Purposes::SEARCH),
    ("@ai-search", Purposes::AI_SEARCH),
    ("@user-triggered", Purposes::USER_TRIGGERED),
    ("@archive", Purposes::ARCHIVE),
    ("@seo", Purposes::SEO),
];

/// A parsed specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spec<'t> {
    /// `*`: any crawler that obeys only the default group.
    Any,
    /// `@search`: the crawlers with all of these purposes.
    Group(Purposes),
    /// `A>B>*`: a crawler that obeys the groups for the first of these product tokens that a file names.
    Chain {
        /// The product tokens, as written.
        tokens: Vec<&'t str>,
        /// Whether the chain ends in `*`, so that the default group comes last.
        honors_default_group: bool,
    },
    /// The name of a known crawler, or a product token.
    Name(&'t str),
}

/// Why a text is not a crawler specification.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpecError {
    /// No crawler group has this name.
    UnknownGroup(String),
    /// A chain has an empty name, or a `*` before another name.
    Chain(String),
}

impl<'t> Spec<'t> {
    /// Parses a specification.
    ///
    /// Linear in its length.
    ///
    /// ```
    /// use reptile_engine::spec::Spec;
    /// let chain = |tokens, honors_default_group| Ok(Spec::Chain { tokens, honors_default_group });
    /// assert_eq!(Spec::read("A>B>*"), chain(vec!["A", "B"], true));
    /// assert_eq!(Spec::read("A>B"), chain(vec!["A", "B"], false));
    /// assert_eq!(Spec::read("Googlebot/2.1"), Ok(Spec::Name("Googlebot/2.1")));
    /// assert!(Spec::read("A>>B").is_err() && Spec::read("@nobody").is_err());
    /// ```
    ///
    /// # Errors
    /// Returns an error if a group is unknown, or a chain has an empty name or a `*` before its end.
    pub fn read(text: &'t str) -> Result<Spec<'t>, SpecError> {
        if text == "*" {
            return Ok(Spec::Any);
        }
        if text.starts_with('@') {
            let group = GROUPS.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
            return group
                .map(|(_, purposes)| Spec::Group(purposes))
                .ok_or_else(|| SpecError::UnknownGroup(text.into()));
        }
        if !text.contains('>') {
            return Ok(Spec::Name(text));
        }
        let (names, honors_default_group) = match text.strip_suffix(">*") {
            Some(names) => (names, true),
            None => (text, false),
        };
        let tokens: Vec<&str> = names.split('>').collect();
        if tokens.iter().any(|&token| token.is_empty() || token == "*") {
            return Err(SpecError::Chain(text.into()));
        }
        Ok(Spec::Chain { tokens, honors_default_group })
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecError::UnknownGroup(text) => {
                let known = GROUPS.map(|(name, _)| name).join(", ");
                write!(f, "unknown group of crawlers {text:?}; the known ones are {known}")
            }
            SpecError::Chain(text) => {
                write!(f, "{text:?} is not a chain of product tokens, such as Googlebot-News>Googlebot>*")
            }
        }
    }
}

impl std::error::Error for SpecError {}
