//! Writes records of the section `usages`. [`super`] defines their encoding.

use super::super::{TooLarge, fit, pad, put};
use super::{HEADER_BYTES, UNIT};
use crate::verdict::Preference;

/// A statement: labels in byte order, each [`Preference::Allowed`] or [`Preference::Disallowed`].
pub type Labels = std::collections::BTreeMap<Box<[u8]>, Preference>;

/// The statements in a group's usage rules.
#[derive(Clone, Debug, Default)]
pub struct UsageDraft {
    statements: Vec<Labels>,
    /// The index of the statement for rules without a path.
    pub base: Option<u32>,
    /// The signals' statement, by its index.
    pub signals: Option<u32>,
    rules: Vec<(u32, u32)>,
}

impl UsageDraft {
    /// Adds a statement and returns its index.
    pub fn add(&mut self, statement: Labels) -> u32 {
        self.statements.push(statement);
        self.statements.len() as u32 - 1
    }

    /// Adds the next rule in rank order, with its statement and its pattern length in bytes.
    pub fn add_rule(&mut self, statement: Labels, len: u32) {
        let statement = self.add(statement);
        self.rules.push((statement, len));
    }

    /// Returns whether there are no statements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.statements.is_empty()
    }

    /// Encodes a record.
    ///
    /// # Errors
    /// Returns an error if a statement has more than 65,535 labels, a label is longer than that, or the record takes
    /// 4 GiB.
    pub fn encode(&self) -> Result<Vec<u8>, TooLarge> {
        let encoded = self.statements.iter().map(encode_statement).collect::<Result<Vec<_>, _>>()?;
        let used = self.rules.iter().map(|&(statement, _)| statement).chain(self.base).chain(self.signals);
        let mut sorted: Vec<&[u8]> =
            used.filter_map(|statement| encoded.get(statement as usize)).map(|statement| &**statement).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let index = |statement: u32| {
            let bytes = encoded.get(statement as usize).map_or(&[][..], |statement| statement);
            sorted.binary_search(&bytes).unwrap_or_default() as u32
        };
        let first = HEADER_BYTES + sorted.len() * 4 + self.rules.len() * 8;
        let end = first + sorted.iter().map(|statement| statement.len()).sum::<usize>();
        let limit = u32::MAX.into();
        let mut out = Vec::with_capacity(end + UNIT);
        put(&mut out, fit("bytes of statements of a group", end.next_multiple_of(UNIT), limit)?);
        put(&mut out, sorted.len() as u32);
        put(&mut out, self.rules.len() as u32);
        for statement in [self.base, self.signals] {
            put(&mut out, statement.map_or(0, |statement| index(statement) + 1));
        }
        let mut at = first;
        for statement in &sorted {
            put(&mut out, at as u32);
            at += statement.len();
        }
        for &(statement, len) in &self.rules {
            put(&mut out, index(statement));
            put(&mut out, len);
        }
        sorted.iter().for_each(|statement| out.extend_from_slice(statement));
        pad(&mut out, UNIT);
        Ok(out)
    }
}

fn encode_statement(labels: &Labels) -> Result<Vec<u8>, TooLarge> {
    let (mut out, limit) = (Vec::new(), u16::MAX.into());
    out.extend_from_slice(&fit::<u16>("labels of a statement", labels.len(), limit)?.to_le_bytes());
    for (label, preference) in labels {
        out.extend_from_slice(&fit::<u16>("bytes of a label", label.len(), limit)?.to_le_bytes());
        out.extend_from_slice(label);
        out.push(u8::from(*preference == Preference::Disallowed));
    }
    Ok(out)
}
