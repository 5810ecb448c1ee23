//! Vocabularies: which labels in statements mean which uses. Data, because new labels appear every few months.

use std::fmt;

use reptile_engine::set::{UsageCategory, UsageQuery};

use super::text::{self, TextError};
use super::{Sources, Uses};

/// A named list of categories, with the labels that stand for each of them.
///
/// The default is `aipref-08`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vocabulary {
    name: Box<str>,
    categories: Vec<Category>,
    /// Whether each other label is a category of its own.
    is_open: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Category {
    name: Box<str>,
    labels: UsageCategory,
}

/// The error for a use that a vocabulary does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownUse {
    name: Box<str>,
    vocabulary: Box<str>,
    known: Vec<Box<str>>,
}

impl UnknownUse {
    /// Returns the error for a use that a vocabulary or profile does not have.
    pub(crate) fn new(name: &str, vocabulary: &str, known: &[Box<str>]) -> UnknownUse {
        UnknownUse { name: name.into(), vocabulary: vocabulary.into(), known: known.to_vec() }
    }
}

impl fmt::Display for UnknownUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnknownUse { name, vocabulary, known } = self;
        let expected = match &known[..] {
            [] => "letters, digits, \"-\", \"_\", \".\" and \"*\"".into(),
            known => known.join(", "),
        };
        write!(f, "the vocabulary {vocabulary} has no use \"{}\"; expected {expected}", name.escape_debug())
    }
}

impl std::error::Error for UnknownUse {}

/// The vocabularies that ship, with their texts.
const SHIPPED: [(&str, &str); 3] = [
    ("aipref-08", include_str!("aipref-08.txt")),
    ("aipref-07", include_str!("aipref-07.txt")),
    ("legacy", include_str!("legacy.txt")),
];

/// The vocabulary in which each label is a category.
const ANY: &str = "any";

/// Maximum number of bytes in the text of a vocabulary.
pub const MAX_VOCABULARY_BYTES: usize = 1 << 16;

impl Default for Vocabulary {
    fn default() -> Vocabulary {
        Vocabulary::named("aipref-08").unwrap_or(Vocabulary { name: ANY.into(), categories: Vec::new(), is_open: true })
    }
}

impl Vocabulary {
    /// The names of the vocabularies that ship. In `any`, each label is a category.
    pub const NAMES: [&str; 4] = ["aipref-08", "aipref-07", "legacy", ANY];

    /// Returns a vocabulary that ships, or `None` if there is none of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Vocabulary> {
        if name == ANY {
            return Some(Vocabulary { name: ANY.into(), categories: Vec::new(), is_open: true });
        }
        let (name, text) = SHIPPED.into_iter().find(|(known, _)| *known == name)?;
        Vocabulary::parse(name, text).ok()
    }

    /// Returns a vocabulary that ships, or else reads the file with this path, in the form of [`Vocabulary::parse`].
    ///
    /// ```
    /// use reptile::usage::Vocabulary;
    /// assert_eq!(Vocabulary::open("aipref-07")?.name(), "aipref-07");
    /// assert!(Vocabulary::open("aipref-99").is_err());
    /// # Ok::<(), reptile::usage::TextError>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, and the errors of [`Vocabulary::parse`].
    pub fn open(name: &str) -> Result<Vocabulary, TextError> {
        if let Some(vocabulary) = Vocabulary::named(name) {
            return Ok(vocabulary);
        }
        let text = text::read_file(name, MAX_VOCABULARY_BYTES, &Vocabulary::NAMES)?;
        Vocabulary::parse(name, &text)
    }

    /// Parses a vocabulary.
    ///
    /// Each line is `category = labels | signals | tokens`: the labels in `Content-Usage` and in `Content-Signal` and
    /// the product tokens that name the category, separated by spaces. If several of them have preferences, the most
    /// restrictive one holds. Each list may be empty, and trailing bars may be omitted. Text after `#` is a comment.
    /// The signal `use` has the labels `use-immediate`, `use-reference` and `use-full`.
    ///
    /// ```
    /// use reptile::usage::{Sources, Vocabulary};
    /// let vocabulary = Vocabulary::parse("ours", "training = train-ai train-genai | ai-train  # our choice\n")?;
    /// assert!(vocabulary.uses(["training"], Sources::ALL).is_ok());
    /// let error = vocabulary.uses(["search"], Sources::ALL).unwrap_err();
    /// assert_eq!(error.to_string(), "the vocabulary ours has no use \"search\"; expected training");
    /// # Ok::<(), reptile::usage::TextError>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error for the first line of another form, for a category without labels, one that is listed twice, and
    /// a text without categories or over [`MAX_VOCABULARY_BYTES`].
    pub fn parse(name: &str, text: &str) -> Result<Vocabulary, TextError> {
        let mut categories: Vec<Category> = Vec::new();
        for (number, content) in text::content_lines(text, MAX_VOCABULARY_BYTES)? {
            let (category, labels) = content
                .split_once('=')
                .ok_or_else(|| TextError::new(number, "category = labels | signals | tokens", content))?;
            let (usage, signals) = labels.split_once('|').unwrap_or((labels, ""));
            let (signals, tokens) = signals.split_once('|').unwrap_or((signals, ""));
            let category = category.trim();
            for label in usage.split_whitespace().chain(signals.split_whitespace()).chain([category]) {
                if !is_label(label) {
                    return Err(TextError::new(
                        number,
                        "labels of lower-case letters, digits, \"-\", \"_\", \".\" and \"*\"",
                        label,
                    ));
                }
            }
            let is_token =
                |token: &str| token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
            if let Some(token) = tokens.split_whitespace().find(|token| !is_token(token)) {
                return Err(TextError::new(number, "product tokens of letters, digits, \"-\" and \"_\"", token));
            }
            let boxed = |labels: &str| labels.split_whitespace().map(|label| label.as_bytes().into()).collect();
            let labels = UsageCategory { usage: boxed(usage), signals: boxed(signals), tokens: boxed(tokens) };
            if labels == UsageCategory::default() {
                return Err(TextError::new(number, "at least one label or token", content));
            }
            if categories.iter().any(|known| &*known.name == category) {
                return Err(TextError::new(number, "each category once", category));
            }
            categories.push(Category { name: category.into(), labels });
        }
        if categories.is_empty() {
            return Err(TextError::new(1, "at least one category", ""));
        }
        Ok(Vocabulary { name: name.into(), categories, is_open: false })
    }

    /// Returns the vocabulary's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the names of the categories; none for `any`.
    pub fn categories(&self) -> impl ExactSizeIterator<Item = &str> {
        self.categories.iter().map(|category| &*category.name)
    }

    /// Prepares a question about some categories.
    ///
    /// # Errors
    /// Returns an error for the first category that the vocabulary does not have, or that has neither a label nor a token
    /// in these sources.
    pub fn uses<N: AsRef<str>>(
        &self,
        names: impl IntoIterator<Item = N>,
        sources: Sources,
    ) -> Result<Uses, UnknownUse> {
        let (mut all, mut categories) = (Vec::new(), Vec::new());
        for name in names {
            let name = name.as_ref();
            let known = self.categories.iter().find(|category| &*category.name == name);
            let own = || {
                let label: Box<[u8]> = name.as_bytes().into();
                UsageCategory { usage: vec![label.clone()], signals: vec![label], tokens: Vec::new() }
            };
            let mut labels = match known {
                Some(category) => category.labels.clone(),
                None if self.is_open && is_label(name) => own(),
                None => UsageCategory::default(),
            };
            let UsageCategory { usage, signals, tokens } = &mut labels;
            for (list, statements) in [(usage, Sources::USAGE), (signals, Sources::SIGNALS), (tokens, Sources::TOKENS)]
            {
                if !sources.has(statements) {
                    list.clear();
                }
            }
            if labels == UsageCategory::default() {
                let known: Vec<Box<str>> = self.categories.iter().map(|category| category.name.clone()).collect();
                return Err(UnknownUse::new(name, &self.name, &known));
            }
            all.push(name.into());
            categories.push(labels);
        }
        let query = UsageQuery::new(categories);
        let query = if sources.has(Sources::DEFAULT_GROUP) { query.with_default_group() } else { query };
        Ok(Uses { names: all, query })
    }
}

/// Returns whether a text can be a label: the key of a dictionary.
///
/// Source: RFC 9651, section 3.1.2.
fn is_label(text: &str) -> bool {
    let is_inside = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-.*".contains(&byte);
    let is_first = |byte: &u8| byte.is_ascii_lowercase() || *byte == b'*';
    text.as_bytes().first().is_some_and(is_first) && text.bytes().all(is_inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_vocabularies_have_their_categories() {
        for (name, categories) in [
            ("aipref-08", &["train-ai", "search", "ai-use"][..]),
            ("aipref-07", &["train-ai", "search"]),
            ("legacy", &["train-ai", "search", "ai-use", "tdm", "all", "bots"]),
            ("any", &[]),
        ] {
            let vocabulary = Vocabulary::named(name).unwrap();
            assert_eq!((vocabulary.name(), vocabulary.categories().collect::<Vec<_>>()), (name, categories.to_vec()));
        }
        assert_eq!(Vocabulary::default().name(), Vocabulary::NAMES[0]);
        assert!(Vocabulary::NAMES.into_iter().all(|name| Vocabulary::named(name).is_some()));
        assert_eq!(Vocabulary::named("aipref-09"), None);
        let error = Vocabulary::open("aipref-09").unwrap_err();
        let start = format!("expected {}, or a file", Vocabulary::NAMES.join(", "));
        assert!(error.to_string().starts_with(&start), "{error}");
        let error = Vocabulary::named("aipref-07").unwrap().uses(["ai-use"], Sources::USAGE).unwrap_err();
        assert_eq!(error.to_string(), "the vocabulary aipref-07 has no use \"ai-use\"; expected train-ai, search");
        assert!(Vocabulary::named("any").unwrap().uses(["*x.y"], Sources::USAGE).is_ok());
        assert!(Vocabulary::named("any").unwrap().uses(["Train"], Sources::USAGE).is_err());
        assert!(Vocabulary::named("any").unwrap().uses([""], Sources::USAGE).is_err());
    }

    /// The linter knows the same tokens.
    #[test]
    #[cfg(feature = "compile")]
    fn the_default_vocabulary_has_the_known_tokens() {
        for (token, label) in reptile_compiler::usage::tokens::TOKENS {
            let uses = Vocabulary::default().uses([label], Sources::TOKENS).unwrap();
            assert_eq!(uses.query.categories()[0].tokens, [token.as_bytes().into()]);
        }
        let error = Vocabulary::default().uses(["search"], Sources::TOKENS).unwrap_err();
        assert!(error.to_string().starts_with("the vocabulary aipref-08 has no use \"search\""), "{error}");
    }

    #[test]
    fn mistakes_are_reported_with_their_line() {
        for (text, expected) in [
            ("a = b | c d # x\n\nb = | c\nc = d", None),
            ("", Some("line 1: expected at least one category, found \"\"")),
            ("a = b\nc", Some("line 2: expected category = labels | signals | tokens, found \"c\"")),
            ("a = |", Some("line 1: expected at least one label or token, found \"a = |\"")),
            ("a = b || __use_a Use-B", None),
            (
                "a = b | c | d e*",
                Some("line 1: expected product tokens of letters, digits, \"-\" and \"_\", found \"e*\""),
            ),
            ("a = b\na = c", Some("line 2: expected each category once, found \"a\"")),
            (
                "a = B",
                Some(
                    "line 1: expected labels of lower-case letters, digits, \"-\", \"_\", \".\" and \"*\", found \"B\"",
                ),
            ),
        ] {
            let found = Vocabulary::parse("x", text).err().map(|error| error.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
        for (len, fits) in
            [(MAX_VOCABULARY_BYTES - 1, true), (MAX_VOCABULARY_BYTES, true), (MAX_VOCABULARY_BYTES + 1, false)]
        {
            let text = format!("a = b{}", " ".repeat(len - 5));
            assert_eq!(Vocabulary::parse("x", &text).is_ok(), fits, "{len}");
        }
    }
}
