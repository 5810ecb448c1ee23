//! Questions about uses of pages, and each use's labels in each kind of statement.

use crate::format::FormatError;
use crate::format::usages::{StatementView, UsageView};
use crate::verdict::Preference;

/// A use, with its labels in statements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageCategory {
    /// The labels in usage rules.
    pub usage: Vec<Box<[u8]>>,
    /// The labels in signals.
    pub signals: Vec<Box<[u8]>>,
    /// The product tokens of groups whose rules are statements: the use is forbidden where a `Disallow` decides, and
    /// permitted elsewhere.
    pub tokens: Vec<Box<[u8]>>,
}

/// The uses that a question is about.
///
/// A category's preference is the most restrictive one among its labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageQuery {
    categories: Vec<UsageCategory>,
    pub(super) reads_usage: bool,
    reads_signals: bool,
    /// Whether the default group is a statement about a use if no group names its token.
    has_default_group: bool,
}

impl UsageQuery {
    /// Creates a question about these categories.
    #[must_use]
    pub fn new(categories: Vec<UsageCategory>) -> UsageQuery {
        let reads_usage = categories.iter().any(|category| !category.usage.is_empty());
        let reads_signals = categories.iter().any(|category| !category.signals.is_empty());
        UsageQuery { categories, reads_usage, reads_signals, has_default_group: false }
    }

    /// Returns the same question, with the default group as a statement about each use whose token no group names.
    #[must_use]
    pub fn with_default_group(self) -> UsageQuery {
        UsageQuery { has_default_group: true, ..self }
    }

    /// Returns whether the default group is a statement about each use whose token no group names.
    #[must_use]
    pub fn has_default_group(&self) -> bool {
        self.has_default_group
    }

    /// Returns the categories.
    #[must_use]
    pub fn categories(&self) -> &[UsageCategory] {
        &self.categories
    }

    /// Returns the number of categories, which is the length of an answer.
    #[must_use]
    pub fn len(&self) -> usize {
        self.categories.len()
    }

    /// Returns whether there are no categories.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.categories.is_empty()
    }

    /// Returns the preferences that a usage rule's statement gives, one for each category.
    ///
    /// # Errors
    /// Returns an error if the statement is damaged.
    pub fn stated_by_rule(&self, statement: StatementView<'_>) -> Result<Vec<Preference>, FormatError> {
        let mut answer = vec![Preference::Unknown; self.len()];
        self.combine(statement, |category| &category.usage, &mut answer)?;
        Ok(answer)
    }

    /// Returns the preferences that a group's signals give, one for each category.
    ///
    /// # Errors
    /// Returns an error if the statement is damaged.
    pub fn stated_by_signals(&self, view: UsageView<'_>) -> Result<Vec<Preference>, FormatError> {
        let mut answer = vec![Preference::Unknown; self.len()];
        self.combine_signals(view, &mut answer)?;
        Ok(answer)
    }

    /// Combines an answer with a group's signals.
    #[inline]
    pub(super) fn combine_signals(&self, view: UsageView<'_>, answer: &mut [Preference]) -> Result<(), FormatError> {
        match view.signals()? {
            Some(signals) if self.reads_signals => self.combine(signals, |category| &category.signals, answer),
            _ => Ok(()),
        }
    }

    /// Combines an answer with a statement.
    #[inline]
    pub(super) fn combine(
        &self,
        statement: StatementView<'_>,
        labels: impl Fn(&UsageCategory) -> &[Box<[u8]>],
        answer: &mut [Preference],
    ) -> Result<(), FormatError> {
        statement.each_label(|label, stated| {
            for (category, preference) in self.categories.iter().zip(&mut *answer) {
                if labels(category).iter().any(|known| **known == *label) {
                    *preference = preference.combined_with(stated);
                }
            }
        })
    }
}
