//! The section `usages`: the statements in each group's usage rules, by rank.
//!
//! A pool (see `FORMAT.md`) with addresses in 4-byte units. A record begins with five four-byte numbers: its length,
//! the statement count, the rule count, and two statements, each as its index plus one, or 0 for none: one for
//! rules without a path, and one for signals. Then come each statement's offset, each rule's statement and
//! pattern length in rank order, and the statements. A statement has a two-byte count of labels. Each label has a
//! two-byte length, its bytes, and a byte: 0 if the use is allowed, 1 if it is disallowed.
//!
//! The engine does not interpret labels.

#[cfg(feature = "write")]
mod write;

#[cfg(feature = "write")]
pub use self::write::{Labels, UsageDraft};
use super::container::Section;
use super::pool::{PoolReferences, verify_pool};
use super::{FormatError, NONE, u16_at, u32_at};
use crate::verdict::Preference;

/// Address unit in bytes.
pub(super) const UNIT: usize = 4;

/// Size in bytes of a record's numbers before the offsets.
const HEADER_BYTES: usize = 20;

/// Maximum number of rules in a group with equal pattern lengths that are not plain.
///
/// Several may match a path, and their statements are combined, so each is tried. A group over the
/// limit states nothing. Files with more than a few rules are generated, and their rules are plain.
pub const MAX_TIED_PATTERNS: usize = 1024;

/// The statements in a set's usage rules.
#[derive(Clone, Copy)]
pub struct Usages<'a>(pub(crate) &'a [u8]);

impl<'a> Usages<'a> {
    /// Returns the record at an address, or `None` if the address is [`NONE`].
    ///
    /// # Errors
    /// Returns an error if there is no record at that address.
    #[inline]
    pub fn get(self, address: u32) -> Result<Option<UsageView<'a>>, FormatError> {
        if address == NONE {
            return Ok(None);
        }
        let at = address as usize * UNIT;
        let view = UsageView::read(self.0.get(at..).unwrap_or_default());
        view.map(Some).ok_or_else(|| damaged("a record of usage rules", "other bytes").in_record_at(at))
    }

    /// Returns the bytes of the record at an address.
    ///
    /// # Errors
    /// Returns an error if there is no record at that address.
    #[cfg(feature = "write")]
    pub(super) fn record(self, address: u32) -> Result<&'a [u8], FormatError> {
        let view = self.get(address)?;
        view.map(|view| view.bytes).ok_or_else(|| damaged("a record of usage rules", "no address"))
    }

    /// Proves that the section is canonical.
    pub(crate) fn verify(self, steps: &mut u64) -> Result<PoolReferences, FormatError> {
        verify_pool(Section::Usages, self.0, UNIT, steps, |bytes, out| {
            let view = UsageView::read(bytes).ok_or_else(|| damaged("a record of usage rules", "other bytes"))?;
            view.verify()?;
            out.extend_from_slice(view.bytes);
            Ok(())
        })
    }
}

#[cold]
fn damaged(expected: &str, found: impl Into<String>) -> FormatError {
    FormatError::at(Section::Usages, 0, expected, found)
}

/// A view of a record's bytes.
#[derive(Clone, Copy)]
pub struct UsageView<'a> {
    bytes: &'a [u8],
    statements: usize,
    rules: usize,
}

impl<'a> UsageView<'a> {
    #[inline]
    fn read(bytes: &'a [u8]) -> Option<UsageView<'a>> {
        let len = u32_at(bytes, 0)? as usize;
        let (statements, rules) = (u32_at(bytes, 4)? as usize, u32_at(bytes, 8)? as usize);
        let bytes = bytes.get(..len)?;
        let numbers = HEADER_BYTES.checked_add(statements.checked_mul(4)?)?.checked_add(rules.checked_mul(8)?)?;
        (numbers <= len && len % UNIT == 0).then_some(UsageView { bytes, statements, rules })
    }

    /// Returns the number of rules with a path.
    #[must_use]
    pub fn rule_count(&self) -> u32 {
        self.rules as u32
    }

    /// Returns the statement for paths that no rule matches, if there is one.
    ///
    /// # Errors
    /// Returns an error if the record is damaged.
    #[inline]
    pub fn base(&self) -> Result<Option<StatementView<'a>>, FormatError> {
        self.optional(12)
    }

    /// Returns the signals' statement, if there are any.
    ///
    /// # Errors
    /// Returns an error if the record is damaged.
    #[inline]
    pub fn signals(&self) -> Result<Option<StatementView<'a>>, FormatError> {
        self.optional(16)
    }

    #[inline]
    fn optional(&self, at: usize) -> Result<Option<StatementView<'a>>, FormatError> {
        let number = u32_at(self.bytes, at).unwrap_or_default();
        number.checked_sub(1).map(|index| self.statement(index)).transpose()
    }

    /// Returns the statement and the pattern length in bytes, by the rule's place in rank order.
    ///
    /// # Errors
    /// Returns an error if the record is damaged or lacks the rule.
    #[inline]
    pub fn rule(&self, place: u32) -> Result<(StatementView<'a>, u32), FormatError> {
        let (statement, len) = self.numbers_of(place)?;
        Ok((self.statement(statement)?, len))
    }

    /// Returns a rule's pattern length in bytes.
    ///
    /// # Errors
    /// Returns an error if the record lacks the rule.
    #[inline]
    pub fn len_of(&self, place: u32) -> Result<u32, FormatError> {
        self.numbers_of(place).map(|(_, len)| len)
    }

    #[inline]
    fn numbers_of(&self, place: u32) -> Result<(u32, u32), FormatError> {
        let at = HEADER_BYTES + self.statements * 4 + place as usize * 8;
        let numbers = || Some((u32_at(self.bytes, at)?, u32_at(self.bytes, at + 4)?));
        let is_there = (place as usize) < self.rules;
        let found = if is_there { numbers() } else { None };
        found.ok_or_else(|| damaged("a usage rule", format!("rule {place} of {}", self.rules)))
    }

    #[inline]
    fn statement(&self, index: u32) -> Result<StatementView<'a>, FormatError> {
        let start = || {
            let is_there = (index as usize) < self.statements;
            u32_at(self.bytes, HEADER_BYTES + index as usize * 4).filter(|_| is_there)
        };
        let bytes = start().and_then(|start| self.bytes.get(start as usize..));
        match bytes.and_then(|bytes| Some((u16_at(bytes, 0)?, &bytes[2..]))) {
            Some((count, rest)) => Ok(StatementView { count, rest }),
            None => Err(damaged("a statement", format!("statement {index} of {}", self.statements))),
        }
    }

    /// Checks that the statements are sorted, distinct and used, without gaps, and that the longest rules come first.
    fn verify(&self) -> Result<(), FormatError> {
        let mut end = HEADER_BYTES + self.statements * 4 + self.rules * 8;
        let mut last: Option<&[u8]> = None;
        for index in 0..self.statements {
            let start = u32_at(self.bytes, HEADER_BYTES + index * 4).unwrap_or_default() as usize;
            if start != end {
                return Err(damaged("statements without gaps", format!("offset {start} instead of {end}")));
            }
            let statement = self.statement(index as u32)?;
            end = self.bytes.len() - statement.verify()?;
            let bytes = self.bytes.get(start..end).unwrap_or_default();
            if last >= Some(bytes) {
                return Err(damaged("distinct statements sorted by their bytes", "another order"));
            }
            last = Some(bytes);
        }
        if self.bytes.len() != end.next_multiple_of(UNIT) || self.bytes[end..].iter().any(|&byte| byte != 0) {
            return Err(damaged("zeros up to a multiple of 4 bytes", "other bytes"));
        }
        let mut is_used = vec![false; self.statements];
        let mut mark = |index: u32| match is_used.get_mut(index as usize) {
            Some(used) => {
                *used = true;
                Ok(())
            }
            None => Err(damaged("a statement", format!("statement {index} of {}", self.statements))),
        };
        for at in [12, 16] {
            if let Some(index) = u32_at(self.bytes, at).unwrap_or_default().checked_sub(1) {
                mark(index)?;
            }
        }
        let mut shorter = u32::MAX;
        for place in 0..self.rules as u32 {
            let (statement, len) = self.numbers_of(place)?;
            mark(statement)?;
            if len > shorter || len == 0 {
                return Err(damaged("rules sorted by length, longest first", format!("length {len}")));
            }
            shorter = len;
        }
        if is_used.is_empty() || is_used.contains(&false) {
            return Err(damaged("statements that rules or signals use", "an unused one, or none"));
        }
        Ok(())
    }
}

/// A view of a statement: labels, and whether each use is allowed.
#[derive(Clone, Copy)]
pub struct StatementView<'a> {
    count: u16,
    /// The labels, followed by the record's remaining bytes.
    rest: &'a [u8],
}

impl<'a> StatementView<'a> {
    /// Calls `look` with each label and its preference.
    ///
    /// # Errors
    /// Returns an error if the statement is damaged.
    #[inline]
    pub(crate) fn each_label(mut self, mut look: impl FnMut(&[u8], Preference)) -> Result<(), FormatError> {
        while let Some((label, preference)) = self.next_label()? {
            look(label, preference);
        }
        Ok(())
    }

    /// Returns the labels in byte order, each allowed or disallowed.
    ///
    /// # Errors
    /// Returns an error if the statement is damaged.
    pub fn labels(mut self) -> Result<Vec<(&'a [u8], Preference)>, FormatError> {
        let mut labels = Vec::new();
        while let Some(label) = self.next_label()? {
            labels.push(label);
        }
        Ok(labels)
    }

    #[inline]
    fn next_label(&mut self) -> Result<Option<(&'a [u8], Preference)>, FormatError> {
        let Some(left) = self.count.checked_sub(1) else { return Ok(None) };
        let found = || {
            let len = usize::from(u16_at(self.rest, 0)?);
            let (label, rest) = self.rest.get(2..)?.split_at_checked(len)?;
            match *rest.first()? {
                0 => Some((label, Preference::Allowed, &rest[1..])),
                1 => Some((label, Preference::Disallowed, &rest[1..])),
                _ => None,
            }
        };
        let (label, preference, rest) = found().ok_or_else(|| damaged("a label and its preference", "other bytes"))?;
        (self.count, self.rest) = (left, rest);
        Ok(Some((label, preference)))
    }

    /// Checks that the labels are sorted and distinct. Returns how many bytes follow the statement.
    fn verify(mut self) -> Result<usize, FormatError> {
        let mut last = None;
        while let Some((label, _)) = self.next_label()? {
            if last >= Some(label) {
                return Err(damaged("distinct labels sorted by their bytes", "another order"));
            }
            last = Some(label);
        }
        Ok(self.rest.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &str) -> Labels {
        let label = |text: &str| {
            let (label, value) = text.split_once('=').unwrap();
            (label.as_bytes().into(), if value == "y" { Preference::Allowed } else { Preference::Disallowed })
        };
        text.split_terminator(' ').map(label).collect()
    }

    fn draft() -> UsageDraft {
        let mut draft = UsageDraft::default();
        for (text, len) in [("b=n a=y", 9), ("", 9), ("a=y b=n", 3)] {
            draft.add_rule(labels(text), len);
        }
        draft.base = Some(draft.add(labels("a=n")));
        draft
    }

    fn get(statement: StatementView<'_>, label: &[u8]) -> Preference {
        let mut found = Preference::Unknown;
        let look = |other: &[u8], preference| found = if other == label { preference } else { found };
        statement.each_label(look).unwrap();
        found
    }

    #[test]
    fn records_round_trip() {
        let bytes = draft().encode().unwrap();
        Usages(&bytes).verify(&mut 0).unwrap();
        let view = Usages(&bytes).get(0).unwrap().unwrap();
        assert_eq!(Usages(&[&bytes[..], &bytes].concat()).record(0), Ok(&bytes[..]));
        assert_eq!(view.rule_count(), 3);
        let both = [(&b"a"[..], Preference::Allowed), (b"b", Preference::Disallowed)];
        for (place, expected, len) in [(0, &both[..], 9), (1, &[], 9), (2, &both, 3)] {
            let (statement, found) = view.rule(place).unwrap();
            assert_eq!((statement.labels().unwrap(), found), (expected.to_vec(), len));
            let preference = |label: &[u8]| get(statement, label);
            let expected = expected.get(1).map_or(Preference::Unknown, |label| label.1);
            assert_eq!(
                (preference(b"b"), preference(b"c"), preference(b"")),
                (expected, Preference::Unknown, Preference::Unknown)
            );
        }
        assert_eq!(get(view.base().unwrap().unwrap(), b"a"), Preference::Disallowed);
        assert!(view.signals().unwrap().is_none());
        assert!(view.rule(3).is_err());
        // Equal content has equal bytes.
        let mut other = UsageDraft::default();
        other.base = Some(other.add(labels("a=n")));
        for (text, len) in [("a=y b=n", 9), ("", 9), ("a=y b=n", 3)] {
            other.add_rule(labels(text), len);
        }
        assert_eq!(other.encode().unwrap(), bytes);
    }

    /// Changes each byte to each value: reading never panics, and no other bytes than the writer's verify as the same
    /// content.
    #[test]
    fn damaged_records_are_errors_or_other_content() {
        let bytes = draft().encode().unwrap();
        let content = |bytes: &[u8]| -> Result<String, FormatError> {
            let Some(view) = Usages(bytes).get(0)? else { return Ok(String::new()) };
            let base = view.base()?.map(StatementView::labels).transpose()?;
            let signals = view.signals()?.map(StatementView::labels).transpose()?;
            let mut content = format!("{base:?} {signals:?}");
            for place in 0..view.rule_count() {
                let (statement, len) = view.rule(place)?;
                content += &format!(" {len} {:?}", statement.labels()?);
            }
            Ok(content)
        };
        let whole = content(&bytes).unwrap();
        let mut verified = 0;
        let step = if cfg!(miri) { 85 } else { 1 };
        for at in 0..bytes.len() {
            for value in (0..=u8::MAX).step_by(step) {
                let mut bytes = bytes.clone();
                if std::mem::replace(&mut bytes[at], value) == value {
                    continue;
                }
                let found = content(&bytes);
                if Usages(&bytes).verify(&mut 0).is_ok() {
                    verified += 1;
                    assert_ne!(found.unwrap(), whole, "byte {at} is {value}");
                }
            }
        }
        assert!(verified > 0);
    }
}
