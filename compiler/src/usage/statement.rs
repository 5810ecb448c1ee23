//! Statements: labels, and whether each use is allowed.

use std::collections::BTreeMap;
use std::fmt;

use reptile_engine::verdict::Preference;
use sfv::{BareItem, Dictionary, Item, ListEntry, Parser};

/// The preferences in a line or header, or in several: one for each label.
///
/// A label is a short name for a use, such as `train-ai`. Labels without a preference are unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Statement(BTreeMap<Box<str>, Preference>);

/// The error for a statement that is not a dictionary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementError {
    expected: String,
    offset: Option<usize>,
}

impl StatementError {
    /// Returns the mistake's offset in bytes, if it has one place.
    #[must_use]
    pub fn offset(&self) -> Option<usize> {
        self.offset
    }
}

impl fmt::Display for StatementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a dictionary such as \"train-ai=n, search=y\": {}", self.expected)
    }
}

impl std::error::Error for StatementError {}

/// The values that the signal `use` takes, from the least use to the highest, with their labels here.
const USE_LEVELS: [(&str, &str); 3] =
    [("immediate", "use-immediate"), ("reference", "use-reference"), ("full", "use-full")];

impl Statement {
    /// Parses the dictionary in a `Content-Usage` line or header.
    ///
    /// `y` allows a use and `n` disallows it. Any other value leaves it unknown. Parameters are ignored, and the last
    /// value of a repeated key counts.
    ///
    /// Source: draft-ietf-aipref-vocab, section 6; RFC 9651, section 4.2.2. An empty text is an empty dictionary.
    ///
    /// # Errors
    /// Returns an error if the text is not a dictionary. Such a statement is unknown for every use.
    ///
    /// ```
    /// use reptile_compiler::usage::Statement;
    /// use reptile_engine::verdict::Preference;
    ///
    /// let statement = Statement::parse(b"train-ai=n, search=y;since=2026")?;
    /// assert_eq!(statement.get("train-ai"), Preference::Disallowed);
    /// assert_eq!(statement.get("search"), Preference::Allowed);
    /// assert_eq!(statement.get("ai-use"), Preference::Unknown);
    /// assert!(Statement::parse(b"Train-AI=n").is_err());
    /// # Ok::<(), reptile_compiler::usage::StatementError>(())
    /// ```
    pub fn parse(text: &[u8]) -> Result<Statement, StatementError> {
        Statement::parse_all(text).map(|(statement, _)| statement)
    }

    /// Parses a dictionary like [`Statement::parse`], and also returns the labels whose values are neither `y` nor `n`.
    ///
    /// # Errors
    /// The errors of [`Statement::parse`].
    pub fn parse_all(text: &[u8]) -> Result<(Statement, Vec<Box<str>>), StatementError> {
        let dictionary: Dictionary = Parser::new(text)
            .parse()
            .map_err(|error| StatementError { offset: error.index(), expected: error.to_string() })?;
        let (mut statement, mut unread) = (Statement::default(), Vec::new());
        for (key, entry) in &dictionary {
            let value = match entry {
                ListEntry::Item(Item { bare_item: BareItem::Token(token), .. }) => token.as_str(),
                _ => "",
            };
            let label: Box<str> = key.as_str().into();
            match value {
                "y" => statement.add(label, true),
                "n" => statement.add(label, false),
                _ => unread.push(label),
            }
        }
        Ok((statement, unread))
    }

    /// Parses a `Content-Signal` line's value.
    ///
    /// `yes` allows a use and `no` disallows it, in any letter case. `use=reference` allows the uses `use-immediate` and
    /// `use-reference`, and disallows `use-full`. Labels are in lower case. A repeated signal is combined.
    ///
    /// The second result is whether the whole value could be read. Other parts are left out.
    ///
    /// Source: contentsignals.org. Letter case and spaces around `=` are read as websites write them.
    #[must_use]
    pub fn signals(value: &[u8]) -> (Statement, bool) {
        let (mut statement, mut is_whole) = (Statement::default(), true);
        for signal in value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).filter(|signal| !signal.is_empty()) {
            let read = || {
                let text = std::str::from_utf8(signal).ok()?.to_ascii_lowercase();
                let (label, value) = text.split_once('=')?;
                let (label, value) = (label.trim_end(), value.trim_start());
                let is_label = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
                if label.is_empty() || !label.bytes().all(is_label) {
                    return None;
                }
                if label == "use" {
                    let level = USE_LEVELS.iter().position(|(name, _)| *name == value)?;
                    let label = |(place, (_, label)): (usize, &(&str, &str))| (Box::from(*label), place <= level);
                    return Some(USE_LEVELS.iter().enumerate().map(label).collect::<Vec<_>>());
                }
                match value {
                    "yes" => Some(vec![(label.into(), true)]),
                    "no" => Some(vec![(label.into(), false)]),
                    _ => None,
                }
            };
            match read() {
                Some(labels) => labels.into_iter().for_each(|(label, is_allowed)| statement.add(label, is_allowed)),
                None => is_whole = false,
            }
        }
        (statement, is_whole)
    }

    fn add(&mut self, label: Box<str>, is_allowed: bool) {
        let preference = if is_allowed { Preference::Allowed } else { Preference::Disallowed };
        let known = self.0.entry(label).or_insert(preference);
        *known = known.combined_with(preference);
    }

    /// Returns the preference for a label.
    #[must_use]
    pub fn get(&self, label: &str) -> Preference {
        self.0.get(label).copied().unwrap_or(Preference::Unknown)
    }

    /// Returns the labels in byte order, each allowed or disallowed.
    pub fn entries(&self) -> impl Iterator<Item = (&str, Preference)> {
        self.0.iter().map(|(label, &preference)| (&**label, preference))
    }

    /// Returns whether the statement says nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Combines this statement with another: for each label, the most restrictive preference.
    ///
    /// Source: draft-ietf-aipref-vocab, section 5.1.
    pub fn combine(&mut self, other: &Statement) {
        for (label, preference) in other.entries() {
            self.add(label.into(), preference == Preference::Allowed);
        }
    }
}

/// Writes the statement as a dictionary: `search=y, train-ai=n`.
impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (label, preference)) in self.entries().enumerate() {
            let separator = if place == 0 { "" } else { ", " };
            let value = if preference == Preference::Allowed { "y" } else { "n" };
            write!(f, "{separator}{label}={value}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dictionaries_are_read_as_in_rfc_9651() {
        for (text, expected) in [
            ("train-ai=n", Some("train-ai=n")),
            ("train-ai=n, search=y", Some("search=y, train-ai=n")),
            ("train-ai=n,search=y", Some("search=y, train-ai=n")),
            ("train-ai=n;x=\"a;b\", search=y", Some("search=y, train-ai=n")),
            ("train-ai;allow=n, train-ai=y", Some("train-ai=y")),
            ("train-ai=y, train-ai", Some("")),
            ("train-ai=y, train-ai=n", Some("train-ai=n")),
            ("train-ai=(y n)", Some("")),
            ("train-ai=\"n\"", Some("")),
            ("train-ai=?0", Some("")),
            ("train-ai=N", Some("")),
            ("other=y", Some("other=y")),
            ("*a.b_c=n", Some("*a.b_c=n")),
            ("", Some("")),
            ("  train-ai=n  ", Some("train-ai=n")),
            ("Train-AI=n", None),
            ("train-ai = n", None),
            ("train-ai=n,", None),
            ("=", None),
            ("*.pdf train-ai=n", None),
            ("train-ai=n search=y", None),
            ("train-ai=\u{e9}", None),
        ] {
            let found = Statement::parse(text.as_bytes());
            assert_eq!(found.as_ref().ok().map(Statement::to_string).as_deref(), expected, "{text} {found:?}");
        }
        let error = Statement::parse(b"Train-AI=n").unwrap_err();
        assert!(error.to_string().starts_with("not a dictionary such as \"train-ai=n, search=y\": "), "{error}");
        assert_eq!(error.offset(), Some(0));
    }

    /// Inputs from the tests of a public implementation (peacprotocol/peac, Apache-2.0), answered by the drafts. That
    /// implementation also accepts spaces around `=`, a trailing `;`, and labels that imply others.
    #[test]
    fn inputs_of_another_implementation_are_read_as_in_the_drafts() {
        let long = format!("train-ai=n,{}", "x".repeat(10_000));
        for (text, expected) in [
            ("train-ai=n", Some("train-ai=n")),
            ("train-ai=y, search=n", Some("search=n, train-ai=y")),
            ("train-ai=n, train-genai=n, search=y", Some("search=y, train-ai=n, train-genai=n")),
            ("bots=y, train-ai=n", Some("bots=y, train-ai=n")),
            ("train-ai=n;ext=1", Some("train-ai=n")),
            ("train-ai=n;q=0.5", Some("train-ai=n")),
            ("train-ai", Some("")),
            ("train-ai=?1", Some("")),
            ("train-ai=maybe", Some("")),
            ("train-ai=n, future-key=y, x-custom=n", Some("future-key=y, train-ai=n, x-custom=n")),
            ("train-ai=y, train-ai=n", Some("train-ai=n")),
            ("  train-ai = n ,  search = y  ", None),
            (&long, Some("train-ai=n")),
            ("train-ai= y ; q=1", None),
            ("train-ai=n;", None),
            ("train-ai=n;;;", None),
            ("train-ai=\"a;b\"", Some("")),
            ("bots;foo=bar, train-ai=n", Some("train-ai=n")),
            ("train-ai=\"allow\";q=1, train-ai=n", Some("train-ai=n")),
            ("x-custom=n;q=1", Some("x-custom=n")),
            ("invalid-preference", Some("")),
            ("search=y,train-ai=n", Some("search=y, train-ai=n")),
        ] {
            let found = Statement::parse(text.as_bytes());
            assert_eq!(
                found.ok().map(|found| found.to_string()).as_deref(),
                expected,
                "{}",
                &text[..text.len().min(60)]
            );
        }
    }

    #[test]
    fn signals_are_read_as_websites_write_them() {
        for (value, expected, is_whole) in [
            ("search=yes, ai-train=no, ai-input=no", "ai-input=n, ai-train=n, search=y", true),
            ("Search = YES,AI-Train=No", "ai-train=n, search=y", true),
            ("use=immediate", "use-full=n, use-immediate=y, use-reference=n", true),
            ("use=reference", "use-full=n, use-immediate=y, use-reference=y", true),
            ("use=full", "use-full=y, use-immediate=y, use-reference=y", true),
            ("use=none, search=yes", "search=y", false),
            ("search=yes, search=no", "search=n", true),
            ("search=maybe, ai-train=no", "ai-train=n", false),
            ("search, =yes, a b=no", "", false),
            ("", "", true),
        ] {
            let (statement, found) = Statement::signals(value.as_bytes());
            assert_eq!((statement.to_string().as_str(), found), (expected, is_whole), "{value}");
        }
    }

    #[test]
    fn combining_keeps_the_most_restrictive() {
        let statement = |text: &str| Statement::parse(text.as_bytes()).unwrap();
        for (a, b, both) in
            [("a=y, b=n, c=y", "a=n, b=y, c=y", "a=n, b=n, c=y"), ("a=y", "b=n", "a=y, b=n"), ("", "a=y", "a=y")]
        {
            for (a, b) in [(a, b), (b, a)] {
                let mut combined = statement(a);
                combined.combine(&statement(b));
                assert_eq!(combined, statement(both));
            }
        }
    }
}
