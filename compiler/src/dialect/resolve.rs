//! Resolves a user's agent specifications to known crawlers and product tokens.

use std::fmt;

use reptile_engine::spec::{Spec, SpecError};

use super::Dialect;
use super::crawlers::{ALL, Resolved, of_name, read_as};
use super::token::{TokenError, product_token};

/// The reason that a string names no agent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResolveError {
    /// The syntax is invalid.
    Spec(SpecError),
    /// A name is not a product token.
    Token(TokenError),
}

impl fmt::Display for ResolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ResolveError::Spec(error) => error.fmt(f),
            ResolveError::Token(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ResolveError {}

impl From<SpecError> for ResolveError {
    fn from(error: SpecError) -> ResolveError {
        ResolveError::Spec(error)
    }
}

impl From<TokenError> for ResolveError {
    fn from(error: TokenError) -> ResolveError {
        ResolveError::Token(error)
    }
}

/// Resolves a known crawler's name like [`of_name`], but with product tokens as the dialect reads them from a
/// user-agent line.
fn of_known(name: &str, dialect: &Dialect) -> Resolved {
    let mut agent = of_name(name.as_bytes(), dialect);
    for token in &mut agent.tokens {
        token.truncate(dialect.token_syntax.token_of(token).len());
    }
    agent.tokens.retain(|token| !token.is_empty());
    agent
}

/// Resolves a user's agent specification: a product token, a known crawler's name, a chain such as
/// `Googlebot-News>Googlebot>*` (which falls back to the default group only if it ends in `*`), `*` for the default
/// group alone, or a group of crawlers such as `@ai-training`.
///
/// A known crawler whose whole name cannot be read from a user-agent line obeys the groups for the token that is read
/// instead ([`read_as`]).
///
/// ```
/// use reptile_compiler::dialect::{GOOGLE, GOOGLE_LIB, resolve::resolve};
/// let tokens = |spec, dialect| resolve(spec, dialect).unwrap()[0].tokens.clone();
/// assert_eq!(tokens("googlebot-image", &GOOGLE), [&b"Googlebot-Image"[..], b"Googlebot"]);
/// assert_eq!(tokens("googlebot-image", &GOOGLE_LIB), [b"googlebot-image"]);
/// assert!(!resolve("a>b", &GOOGLE_LIB).unwrap()[0].honors_default_group);
/// assert!(resolve("@search", &GOOGLE).unwrap().len() > 10);
/// assert!(resolve("GPTBot,CCBot", &GOOGLE).is_err());
/// ```
///
/// # Errors
/// Returns an error if a group of crawlers is unknown, a chain has an empty name, or a name is not a product token
/// ([`product_token`]).
pub fn resolve(spec: &str, dialect: &Dialect) -> Result<Vec<Resolved>, ResolveError> {
    Ok(match Spec::read(spec)? {
        Spec::Any => vec![Resolved { name: spec.into(), tokens: Vec::new(), honors_default_group: true }],
        Spec::Group(purposes) => {
            let members = ALL.iter().filter(|crawler| crawler.purposes.contains(purposes));
            members.map(|crawler| of_known(crawler.name, dialect)).collect()
        }
        Spec::Chain { tokens, honors_default_group } => {
            let tokens = tokens.into_iter().map(|name| product_token(name, dialect).map(<[u8]>::to_vec));
            let tokens = tokens.collect::<Result<Vec<Vec<u8>>, TokenError>>()?;
            vec![Resolved { name: spec.into(), tokens, honors_default_group }]
        }
        Spec::Name(name) if read_as(name, dialect).is_some() => vec![of_known(name, dialect)],
        Spec::Name(name) => {
            product_token(name, dialect)?;
            vec![of_name(name.as_bytes(), dialect)]
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{GOOGLE, GOOGLE_LIB, KOSTER_1996, YANDEX};

    #[test]
    fn chains_and_groups_are_parsed() {
        for (spec, tokens, honors_default_group) in [("A>B>*", 2, true), ("A>B", 2, false), ("A>*", 1, true)] {
            let found = &resolve(spec, &GOOGLE).unwrap()[0];
            assert_eq!((found.tokens.len(), found.honors_default_group), (tokens, honors_default_group), "{spec}");
        }
        for spec in [">", "A>", ">A", "A>>B", "*>A", "A>*>*", "@", "@nobody", "", "A,B", "A/1", "A>B/1>*", "A>B2"] {
            assert!(resolve(spec, &GOOGLE).is_err(), "{spec}");
        }
        let default = &resolve("*", &GOOGLE).unwrap()[0];
        assert_eq!((default.tokens.len(), default.honors_default_group), (0, true));
        assert_eq!(resolve("A/1>B/2", &KOSTER_1996).unwrap()[0].tokens, [b"A", b"B"]);
        let error = resolve("@nobody", &GOOGLE).unwrap_err().to_string();
        assert_eq!(
            error,
            "unknown group of crawlers \"@nobody\"; the known ones are @ai-training, @search, @ai-search, \
             @user-triggered, @archive, @seo"
        );
        assert!(resolve("@AI-training", &GOOGLE_LIB).unwrap().iter().any(|agent| agent.name == "GPTBot"));
        assert!(resolve("@ai-training", &GOOGLE_LIB).unwrap().iter().all(|agent| agent.name != "Googlebot"));
    }

    #[test]
    fn known_crawlers_are_accepted_even_if_read_partially() {
        let tokens = |spec: &str, dialect| {
            let found = resolve(spec, dialect).map_err(|error| error.to_string())?;
            let names = found.iter().flat_map(|agent| &agent.tokens).map(|token| String::from_utf8_lossy(token).into());
            Ok::<Vec<String>, String>(names.collect())
        };
        for (spec, read_by_google, read_by_yandex) in [
            ("MJ12bot", Some("MJ"), Some("MJ12bot")),
            ("mj12BOT", Some("MJ"), Some("mj12BOT")),
            ("AI2Bot", Some("AI"), Some("AI2Bot")),
            ("Ai2Bot-Dolma", Some("Ai"), Some("Ai2Bot-Dolma")),
            ("archive.org_bot", Some("archive"), Some("archive.org_bot")),
            ("img2dataset", Some("img"), Some("img2dataset")),
            // An unknown name, a version, a list, and a chain, which must consist of product tokens.
            ("MJ13bot", None, Some("MJ13bot")),
            ("MJ12bot/1", None, Some("MJ12bot")),
            ("MJ12bot,AI2Bot", None, None),
            ("MJ12bot x", None, None),
            ("MJ12bot>*", None, Some("MJ12bot")),
        ] {
            for (dialect, expected) in [(&GOOGLE, read_by_google), (&YANDEX, read_by_yandex)] {
                let found = tokens(spec, dialect);
                let as_given = found.as_ref().ok().and_then(|tokens| tokens.first()).map(String::as_str);
                let is_equal = match (as_given, expected) {
                    (Some(found), Some(expected)) => found.eq_ignore_ascii_case(expected),
                    (found, expected) => found == expected,
                };
                assert!(is_equal, "{spec} under {dialect}: {found:?}");
            }
        }
        let training = tokens("@ai-training", &GOOGLE).unwrap();
        assert!(training.iter().any(|token| token == "AI") && training.iter().all(|token| token != "AI2Bot"));
        // Exact names, for conformance tests.
        assert_eq!(of_name(b"MJ12bot", &GOOGLE_LIB).tokens, [b"MJ12bot"]);
    }
}
