//! Writes the section `policies`. [`super`] defines its encoding.

use super::super::{FormatError, NONE};
use super::{FIRST_WITHOUT_RULES, PolicyView, StoredGroup, UsageGroup, encode, numbers_of_cause};
use crate::verdict::PolicySource;

/// A decoded policy: which crawlers get which rules from a robots.txt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PolicyDraft {
    /// The policy source. A source without rules has no tokens and no groups.
    pub source: PolicySource,
    /// A number and a group index for each product token in the file, sorted by number. A token with several entries
    /// has several groups, which decide together.
    pub tokens: Vec<(u32, u32)>,
    /// The default group's index, for all crawlers that the file does not name.
    pub default_group: Option<u32>,
    /// The groups. A group may have no token if its user-agent line has no name.
    pub groups: Vec<StoredGroup>,
    /// The usage rules of each group, and then those for crawlers without a group. Empty if no group has usage rules.
    pub usages: Vec<UsageGroup>,
}

impl PolicyDraft {
    /// Appends the record. Its counts fit because a robots.txt is smaller than 4 GiB.
    pub(in super::super) fn encode(&self, out: &mut Vec<u8>) {
        let PolicyDraft { source, tokens, default_group, groups, usages } = self;
        let (kind, default_group, count) = (kind_of_source(*source), default_group.unwrap_or(NONE), tokens.len());
        let (groups, usages) = (groups.iter().copied(), usages.iter().copied());
        encode(kind, default_group, count, tokens.iter().copied(), groups, usages, out);
    }
}

impl PolicyView<'_> {
    /// Decodes the record.
    ///
    /// # Errors
    /// Returns an error if the policy is damaged.
    pub fn to_draft(&self) -> Result<PolicyDraft, FormatError> {
        Ok(PolicyDraft {
            source: self.source()?,
            tokens: self.tokens().collect(),
            default_group: self.default_group_index(),
            groups: self.all_groups().collect(),
            usages: self.all_usages().collect(),
        })
    }
}

/// Returns a policy source's stored kind.
pub(super) fn kind_of_source(source: PolicySource) -> u32 {
    let (source, cause) = match source {
        PolicySource::Rules => return 0,
        PolicySource::LastGoodCopy(cause) => (1, cause),
        PolicySource::AllowAll(cause) => (FIRST_WITHOUT_RULES, cause),
        PolicySource::DisallowAll(cause) => (FIRST_WITHOUT_RULES + 1, cause),
    };
    let (cause, number) = numbers_of_cause(cause);
    u32::from(number) << 16 | u32::from(cause) << 4 | u32::from(source)
}
