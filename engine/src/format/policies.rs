//! The section `policies`: which product token has which group of rules, for each robots.txt or its absence.
//!
//! A pool (see `FORMAT.md`) with addresses in 8-byte units.

#[cfg(feature = "write")]
mod write;

#[cfg(feature = "write")]
pub use self::write::PolicyDraft;
use super::container::Section;
use super::pool::{PoolReferences, verify_pool};
use super::{FormatError, NONE, put, u32_at};
use crate::platform::{prefetch, select};
use crate::verdict::{Cause, Challenger, PolicySource};

/// Address unit in bytes.
pub(super) const UNIT: usize = 8;

/// Record header size in bytes. The token numbers follow.
const HEADER_BYTES: usize = 16;

/// Size of a token's or a group's entry in bytes.
const ENTRY_BYTES: usize = 8;

/// A group in a policy: its ruleset and line numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StoredGroup {
    /// The ruleset's number.
    pub ruleset: u32,
    /// The line numbers' address; [`NONE`] if the set was written without them.
    pub lines: u32,
}

/// A group's usage rules in a policy: their ruleset and their statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UsageGroup {
    /// The number of the ruleset with the rules' paths; [`NONE`] if no usage rule has a path.
    pub ruleset: u32,
    /// The statements' address in the section `usages`; [`NONE`] if there are none.
    pub statements: u32,
}

impl UsageGroup {
    /// A group that states nothing.
    pub const EMPTY: UsageGroup = UsageGroup { ruleset: NONE, statements: NONE };
}

/// Bit of a kind: the groups are followed by usage groups.
const HAS_USAGES: u32 = 1 << 8;

/// Appends a record.
fn encode(
    kind: u32,
    default_group: u32,
    token_count: usize,
    tokens: impl Iterator<Item = (u32, u32)> + Clone,
    groups: impl ExactSizeIterator<Item = StoredGroup>,
    usages: impl ExactSizeIterator<Item = UsageGroup>,
    out: &mut Vec<u8>,
) {
    let kind = if usages.len() > 0 { kind | HAS_USAGES } else { kind };
    for number in [kind, default_group, token_count as u32, groups.len() as u32] {
        put(out, number);
    }
    tokens.clone().for_each(|(token, _)| put(out, token));
    tokens.for_each(|(_, group)| put(out, group));
    for group in groups {
        put(out, group.ruleset);
        put(out, group.lines);
    }
    for usage in usages {
        put(out, usage.ruleset);
        put(out, usage.statements);
    }
}

/// The first policy source whose verdict does not depend on rules.
const FIRST_WITHOUT_RULES: u8 = 2;

/// Returns a cause's stored numbers.
pub(super) fn numbers_of_cause(cause: Cause) -> (u8, u16) {
    match cause {
        Cause::Status(status) => (1, status),
        Cause::Redirects => (2, 0),
        Cause::Network => (3, 0),
        Cause::NotText => (4, 0),
        Cause::TooLarge => (5, 0),
        Cause::Unreachable(days) => (6, days),
        Cause::NotFoundPage(status) => (7, status),
        Cause::Challenge(challenger) => (8, challenger.number()),
    }
}

/// Returns the cause with these stored numbers, or `None` if they are invalid.
pub(super) fn cause_of_numbers(cause: u8, number: u16) -> Option<Cause> {
    match (cause, number) {
        (1, status) => Some(Cause::Status(status)),
        (2, 0) => Some(Cause::Redirects),
        (3, 0) => Some(Cause::Network),
        (4, 0) => Some(Cause::NotText),
        (5, 0) => Some(Cause::TooLarge),
        (6, days) => Some(Cause::Unreachable(days)),
        (7, status) => Some(Cause::NotFoundPage(status)),
        (8, number) => Some(Cause::Challenge(Challenger::from_number(number))),
        _ => None,
    }
}

/// Returns the policy source for a stored kind, or `None` if the kind is invalid.
///
/// A kind has one byte for policy source and cause, a byte with the bit [`HAS_USAGES`], and two bytes for the
/// cause's number.
fn source_of_kind(kind: u32) -> Option<PolicySource> {
    let kind = kind & !HAS_USAGES;
    let [first, zero, ..] = kind.to_le_bytes();
    let (source, cause, number) = (first & 0xF, first >> 4, (kind >> 16) as u16);
    if zero != 0 {
        return None;
    }
    match source {
        0 if kind == 0 => Some(PolicySource::Rules),
        1 => cause_of_numbers(cause, number).map(PolicySource::LastGoodCopy),
        FIRST_WITHOUT_RULES => cause_of_numbers(cause, number).map(PolicySource::AllowAll),
        3 => cause_of_numbers(cause, number).map(PolicySource::DisallowAll),
        _ => None,
    }
}

/// The policies in a set.
#[derive(Clone, Copy)]
pub struct Policies<'a>(pub(crate) &'a [u8]);

impl<'a> Policies<'a> {
    /// Returns the policy at an address.
    ///
    /// # Errors
    /// Returns an error if there is no policy at that address.
    #[inline(always)]
    pub fn get(self, address: u32) -> Result<PolicyView<'a>, FormatError> {
        let at = address as usize * UNIT;
        self.0.get(at..).and_then(PolicyView::read).ok_or_else(|| self.missing(at))
    }

    #[inline]
    pub(crate) fn prefetch(self, address: u32) {
        prefetch(self.0, address as usize * UNIT);
    }

    #[cold]
    fn missing(self, at: usize) -> FormatError {
        let found = format!("other bytes, or the end of the section at {}", self.0.len());
        FormatError::at(Section::Policies, at, "a policy", found)
    }

    /// Returns every policy with its address, in section order. Ends after the first error.
    pub fn iter(self) -> impl Iterator<Item = Result<(u32, PolicyView<'a>), FormatError>> {
        let mut at = 0;
        std::iter::from_fn(move || {
            if at >= self.0.len() {
                return None;
            }
            let address = (at / UNIT) as u32;
            let view = self.get(address);
            at = view.as_ref().map_or(self.0.len(), |view| at + view.byte_len());
            Some(view.map(|view| (address, view)))
        })
    }

    /// Proves that the section is canonical. Calls `check` for each record.
    pub(crate) fn verify(
        self,
        steps: &mut u64,
        mut check: impl FnMut(&PolicyView<'a>) -> Result<(), FormatError>,
    ) -> Result<PoolReferences, FormatError> {
        verify_pool(Section::Policies, self.0, UNIT, steps, |bytes, out| {
            let view = PolicyView::read(bytes).ok_or_else(|| self.missing(0))?;
            view.verify()?;
            check(&view)?;
            let kind = view.kind & !HAS_USAGES;
            let (groups, usages) = (view.all_groups(), view.all_usages());
            encode(kind, view.default_group, view.tokens, view.tokens(), groups, usages, out);
            Ok(())
        })
    }
}

/// A view of a policy's bytes.
#[derive(Clone, Copy)]
pub struct PolicyView<'a> {
    kind: u32,
    /// The default group's index, for all crawlers that the file does not name, or [`NONE`].
    default_group: u32,
    /// The token numbers, then each token's group, then the groups, then the usage groups.
    body: &'a [u8],
    /// The number of tokens.
    tokens: usize,
    /// The number of groups.
    groups: usize,
}

impl<'a> PolicyView<'a> {
    /// Returns the policy at the start of these bytes.
    #[inline(always)]
    fn read(bytes: &'a [u8]) -> Option<PolicyView<'a>> {
        let (header, rest) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        let number = |at: usize| u32_at(header, at).unwrap_or_default();
        let (tokens, groups) = (number(8) as usize, number(12) as usize);
        let kind = number(0);
        // A usage group for each group, and one for the crawlers without a group.
        let usages = if kind & HAS_USAGES != 0 { u64::from(number(12)) + 1 } else { 0 };
        // With 32-bit addresses, a length beyond them must not wrap around to one that fits.
        let body_bytes = (u64::from(number(8)) + u64::from(number(12)) + usages) * ENTRY_BYTES as u64;
        let body = rest.get(..usize::try_from(body_bytes).ok()?)?;
        Some(PolicyView { kind, default_group: number(4), body, tokens, groups })
    }

    /// Returns the record's size in bytes.
    fn byte_len(&self) -> usize {
        HEADER_BYTES + self.body.len()
    }

    /// Returns whether rules decide. Costs one comparison.
    #[inline]
    #[must_use]
    pub fn has_rules(&self) -> bool {
        (self.kind as u8) & 0xF < FIRST_WITHOUT_RULES
    }

    /// Returns the policy source.
    ///
    /// # Errors
    /// Returns an error if the policy is damaged.
    pub fn source(&self) -> Result<PolicySource, FormatError> {
        let damaged = || self.error("a kind of policy that this version knows", format!("{:08x}", self.kind));
        source_of_kind(self.kind).ok_or_else(damaged)
    }

    #[cold]
    fn error(&self, expected: &str, found: impl Into<String>) -> FormatError {
        FormatError::new(Section::Policies.name(), expected, found)
    }

    #[inline(always)]
    fn group(&self, index: u32) -> Result<StoredGroup, FormatError> {
        let at = (self.tokens + index as usize) * ENTRY_BYTES;
        let is_there = (index as usize) < self.groups;
        let numbers = || Some((u32_at(self.body, at)?, u32_at(self.body, at + 4)?)).filter(|_| is_there);
        let group = || numbers().map(|(ruleset, lines)| StoredGroup { ruleset, lines });
        group().ok_or_else(|| self.error("a group of the policy", format!("group {index} of {}", self.group_count())))
    }

    /// Returns the groups for a product token, or the default group if it has none.
    ///
    /// There is usually one group. There is none if the file has neither, and there are several if a token's groups had
    /// too many rules to be merged for each token separately.
    ///
    /// # Errors
    /// Returns an error if the policy is damaged.
    #[inline(always)]
    pub fn for_token(&self, token: Option<u32>) -> Result<ChosenGroups<'_>, FormatError> {
        if let Some(token) = token {
            if let Some(entry) = self.entry_of(token) {
                let index = self.group_index(entry);
                let first = self.group(index).map(Some)?;
                return Ok(ChosenGroups { policy: self, token, next: entry + 1, first, index, is_named: true });
            }
        }
        self.only(self.default_group, false)
    }

    /// Returns the groups for a crawler with several product tokens.
    ///
    /// A step is a list of token numbers, and the first step with a token in the file selects the groups. If there is
    /// none, the default group decides if the crawler honors it. In sets that compare tokens by containment, a step has
    /// several numbers for one product token, and its first group decides alone.
    ///
    /// # Errors
    /// Returns an error if the policy is damaged.
    pub fn for_steps(&self, steps: &[Box<[u32]>], honors_default_group: bool) -> Result<ChosenGroups<'_>, FormatError> {
        for step in steps {
            if let [token] = **step {
                if self.entry_of(token).is_some() {
                    return self.for_token(Some(token));
                }
                continue;
            }
            let entries = step.iter().filter_map(|&token| self.entry_of(token));
            if let Some(group) = entries.map(|entry| self.group_index(entry)).min() {
                return self.only(group, true);
            }
        }
        self.only(if honors_default_group { self.default_group } else { NONE }, false)
    }

    /// Returns one group, or no group if the index is [`NONE`].
    #[inline(always)]
    fn only(&self, index: u32, is_named: bool) -> Result<ChosenGroups<'_>, FormatError> {
        let first = if index == NONE { None } else { Some(self.group(index)?) };
        Ok(ChosenGroups { policy: self, token: NONE, next: self.tokens, first, index, is_named })
    }

    /// Returns the position where a token's entries begin.
    #[inline]
    fn entry_of(&self, token: u32) -> Option<usize> {
        let tokens = self.body.get(..self.tokens * 4).unwrap_or_default();
        if tokens.is_empty() {
            return None;
        }
        // Binary search without branches on the numbers, which are unpredictable because they differ between files.
        let (mut low, mut count) = (0, self.tokens);
        while count > 1 {
            let half = count / 2;
            let is_before = u32_at(tokens, (low + half - 1) * 4) < Some(token);
            low = select(is_before, low + half, low);
            count -= half;
        }
        low += usize::from(u32_at(tokens, low * 4) < Some(token));
        (u32_at(tokens, low * 4) == Some(token)).then_some(low)
    }

    #[inline]
    fn group_index(&self, entry: usize) -> u32 {
        u32_at(self.body, (self.tokens + entry) * 4).unwrap_or(NONE)
    }

    /// Checks that the kind is known, the tokens are in order, and their groups exist.
    fn verify(&self) -> Result<(), FormatError> {
        let groups = self.group_count();
        if self.source()?.verdict().is_some() && !(self.body.is_empty() && self.default_group == NONE) {
            return Err(self.error("no groups where no rules decide", format!("{groups} groups")));
        }
        if self.has_usages() && self.all_usages().all(|usage| usage == UsageGroup::EMPTY) {
            return Err(self.error("usage groups with statements", "none"));
        }
        let mut last = None;
        for entry in self.tokens() {
            if last >= Some(entry) {
                return Err(self.error("distinct token and group pairs in order", format!("token {}", entry.0)));
            }
            last = Some(entry);
        }
        let mut chosen = self.tokens().map(|(_, group)| group).chain(self.default_group_index());
        match chosen.find(|&group| group >= groups) {
            Some(group) => Err(self.error("a group of the policy", format!("group {group} of {groups}"))),
            None => Ok(()),
        }
    }

    /// Returns each product token's number with its group index.
    pub fn tokens(&self) -> impl Iterator<Item = (u32, u32)> + Clone + '_ {
        let number = |index: usize| u32_at(self.body, index * 4).unwrap_or(NONE);
        (0..self.tokens).map(move |index| (number(index), number(self.tokens + index)))
    }

    /// Returns the length of [`PolicyView::tokens`].
    #[inline]
    #[must_use]
    pub fn token_count(&self) -> usize {
        self.tokens
    }

    /// Returns whether the file names a product token. Time: logarithmic in the number of tokens.
    #[inline]
    #[must_use]
    pub fn names(&self, token: u32) -> bool {
        self.entry_of(token).is_some()
    }

    /// Returns the default group's index, for all crawlers that the file does not name.
    #[must_use]
    pub fn default_group_index(&self) -> Option<u32> {
        Some(self.default_group).filter(|&index| index != NONE)
    }

    /// Returns the number of groups.
    #[must_use]
    pub fn group_count(&self) -> u32 {
        self.groups as u32
    }

    /// Returns whether any group has usage rules. Costs one comparison.
    #[inline]
    #[must_use]
    pub fn has_usages(&self) -> bool {
        self.kind & HAS_USAGES != 0
    }

    /// Returns the usage group for a group's index, or with [`NONE`] the one for crawlers without a group.
    #[inline]
    fn usage(&self, index: u32) -> UsageGroup {
        let index = if index == NONE { self.groups } else { index as usize };
        let at = (self.tokens + self.groups + index) * ENTRY_BYTES;
        let usage = || Some(UsageGroup { ruleset: u32_at(self.body, at)?, statements: u32_at(self.body, at + 4)? });
        usage().unwrap_or(UsageGroup::EMPTY)
    }

    /// Returns the usage groups: one per group, and one for crawlers without a group. Empty if the policy has no usage
    /// rules.
    pub fn all_usages(&self) -> impl ExactSizeIterator<Item = UsageGroup> + '_ {
        let count = if self.has_usages() { self.groups + 1 } else { 0 };
        (0..count).map(|index| self.usage(index as u32))
    }

    /// Returns every group.
    pub fn all_groups(&self) -> impl ExactSizeIterator<Item = StoredGroup> + '_ {
        let groups = self.tokens * ENTRY_BYTES..(self.tokens + self.groups) * ENTRY_BYTES;
        let groups = self.body.get(groups).unwrap_or_default().chunks_exact(ENTRY_BYTES);
        groups.map(|group| StoredGroup {
            ruleset: u32_at(group, 0).unwrap_or(NONE),
            lines: u32_at(group, 4).unwrap_or(NONE),
        })
    }
}

/// The groups for one crawler.
#[derive(Clone, Copy)]
pub struct ChosenGroups<'p> {
    policy: &'p PolicyView<'p>,
    token: u32,
    next: usize,
    /// The first group, if any. Usually the only one.
    pub first: Option<StoredGroup>,
    /// The first group's index.
    index: u32,
    /// Whether the file names the crawler.
    is_named: bool,
}

impl ChosenGroups<'_> {
    /// Returns whether there is more than one group.
    #[inline]
    #[must_use]
    pub fn has_more(&self) -> bool {
        self.next < self.policy.tokens && u32_at(self.policy.body, self.next * 4) == Some(self.token)
    }

    /// Returns whether the groups name the crawler, rather than being the default group.
    #[must_use]
    pub fn is_named(&self) -> bool {
        self.is_named
    }

    /// Returns the usage groups for the crawler: one for each of its groups, or the one for crawlers without a group.
    #[inline]
    pub fn usages(mut self) -> impl Iterator<Item = UsageGroup> {
        let first = self.policy.usage(if self.first.is_some() { self.index } else { NONE });
        std::iter::once(first).chain(std::iter::from_fn(move || {
            let index = self.has_more().then(|| self.policy.group_index(self.next))?;
            self.next += 1;
            Some(self.policy.usage(index))
        }))
    }

    /// Returns all the crawler's group indexes.
    #[must_use]
    pub fn indices(mut self) -> Vec<u32> {
        let mut all: Vec<u32> = self.first.map(|_| self.index).into_iter().collect();
        while self.has_more() {
            all.push(self.policy.group_index(self.next));
            self.next += 1;
        }
        all
    }

    /// Returns all groups for the crawler.
    ///
    /// # Errors
    /// Returns an error if the policy is damaged.
    pub fn all(mut self) -> Result<Vec<StoredGroup>, FormatError> {
        let mut all: Vec<StoredGroup> = self.first.into_iter().collect();
        while self.has_more() {
            all.push(self.policy.group(self.policy.group_index(self.next))?);
            self.next += 1;
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::write::kind_of_source;
    use super::*;

    fn encoded(draft: &PolicyDraft) -> Vec<u8> {
        let mut out = Vec::new();
        draft.encode(&mut out);
        out
    }

    #[test]
    fn policy_sources_round_trip_and_other_kinds_are_invalid() {
        let mut causes = vec![Cause::Redirects, Cause::Network, Cause::NotText, Cause::TooLarge];
        causes.extend([0, 1, 404, u16::MAX].into_iter().flat_map(|number| {
            let challenge = Cause::Challenge(Challenger::from_number(number));
            [Cause::Status(number), Cause::Unreachable(number), Cause::NotFoundPage(number), challenge]
        }));
        let sources = causes.iter().flat_map(|&cause| {
            [PolicySource::LastGoodCopy(cause), PolicySource::AllowAll(cause), PolicySource::DisallowAll(cause)]
        });
        let sources: Vec<PolicySource> = sources.chain([PolicySource::Rules]).collect();
        for &source in &sources {
            let bytes = encoded(&PolicyDraft { source, ..PolicyDraft::default() });
            Policies(&bytes).verify(&mut 0, |_| Ok(())).unwrap();
            let view = Policies(&bytes).get(0).unwrap();
            assert_eq!(view.source().unwrap(), source);
            assert_eq!(view.has_rules(), source.verdict().is_none(), "{source:?}");
        }
        // Among all kinds with small numbers, exactly those with a policy source are valid.
        let numbers: u32 = if cfg!(miri) { 1 } else { 16 };
        let kinds = (0..numbers).flat_map(|number| (0..=0xFFFF).map(move |low| number << 16 | low));
        let known: Vec<u32> = kinds.filter(|&kind| source_of_kind(kind).is_some()).collect();
        assert!(known.iter().all(|&kind| source_of_kind(kind).map(kind_of_source) == Some(kind & !HAS_USAGES)));
        assert_eq!(known.len(), 2 * (1 + 3 * (4 + 4 * numbers as usize)));
    }

    /// Checks the stored numbers, which are part of the format (see `FORMAT.md`) and must never change.
    #[test]
    fn stored_kinds_match_the_format() {
        for (source, kind) in [
            (PolicySource::Rules, 0),
            (PolicySource::AllowAll(Cause::Status(404)), 404 << 16 | 0x12),
            (PolicySource::DisallowAll(Cause::Redirects), 0x23),
            (PolicySource::LastGoodCopy(Cause::Network), 0x31),
            (PolicySource::AllowAll(Cause::NotText), 0x42),
            (PolicySource::AllowAll(Cause::TooLarge), 0x52),
            (PolicySource::AllowAll(Cause::Unreachable(30)), 30 << 16 | 0x62),
            (PolicySource::AllowAll(Cause::NotFoundPage(503)), 503 << 16 | 0x72),
            (PolicySource::LastGoodCopy(Cause::Challenge(Challenger::ANUBIS)), 1 << 16 | 0x81),
            (PolicySource::DisallowAll(Cause::Challenge(Challenger::VERCEL)), 9 << 16 | 0x83),
            (PolicySource::DisallowAll(Cause::Challenge(Challenger::from_number(10))), 10 << 16 | 0x83),
        ] {
            assert_eq!((kind_of_source(source), source_of_kind(kind)), (kind, Some(source)));
        }
        assert_eq!(Cause::Challenge(Challenger::ANUBIS).to_string(), "challenge page of Anubis");
        assert_eq!(Cause::Challenge(Challenger::VERCEL).to_string(), "challenge page of Vercel");
        for number in [0, 10, u16::MAX] {
            assert_eq!(Cause::Challenge(Challenger::from_number(number)).to_string(), "challenge page");
        }
        assert_eq!([9 << 4 | 2, 0x92, 0xF3, 0x200].map(source_of_kind), [None; 4]);
    }

    #[test]
    fn counts_that_exceed_the_section_are_rejected() {
        // The tokens, the groups and the kind. Sums of 2 to the 32nd would wrap around with 32-bit addresses.
        for (tokens, groups, kind, fits) in [
            (0, 0, 0, true),
            (1, 1, 0, true),
            (2, 1, 0, false),
            (0, 0, HAS_USAGES, true),
            (1 << 31, 1 << 31, 0, false),
            (1, u32::MAX, 0, false),
            (0, u32::MAX, HAS_USAGES, false),
            (u32::MAX, u32::MAX, HAS_USAGES, false),
        ] {
            let header = [kind, NONE, tokens, groups].map(u32::to_le_bytes).concat();
            let bytes = [&header[..], &[0; 2 * ENTRY_BYTES]].concat();
            assert_eq!(PolicyView::read(&bytes).is_some(), fits, "{tokens} {groups} {kind}");
        }
    }

    #[test]
    fn verify_rejects_inconsistent_policies() {
        let group = StoredGroup { ruleset: 0, lines: NONE };
        let whole = PolicyDraft {
            tokens: vec![(1, 0), (4, 0), (4, 1)],
            default_group: Some(2),
            groups: vec![group; 3],
            ..PolicyDraft::default()
        };
        let with = |change: &dyn Fn(&mut PolicyDraft)| {
            let mut draft = whole.clone();
            change(&mut draft);
            draft
        };
        for (draft, fits) in [
            (whole.clone(), true),
            (with(&|draft| draft.source = PolicySource::LastGoodCopy(Cause::Network)), true),
            (with(&|draft| draft.source = PolicySource::DisallowAll(Cause::Network)), false),
            (PolicyDraft { source: PolicySource::AllowAll(Cause::Network), ..PolicyDraft::default() }, true),
            (with(&|draft| draft.tokens.swap(0, 1)), false),
            (with(&|draft| draft.tokens[1] = (4, 1)), false),
            (with(&|draft| draft.default_group = None), true),
            (with(&|draft| draft.default_group = Some(3)), false),
            (with(&|draft| draft.tokens[0].1 = 3), false),
            (with(&|draft| draft.usages = vec![UsageGroup { ruleset: NONE, statements: 0 }; 4]), true),
            (with(&|draft| draft.usages = vec![UsageGroup::EMPTY; 4]), false),
        ] {
            let bytes = encoded(&draft);
            assert_eq!(Policies(&bytes).verify(&mut 0, |_| Ok(())).is_ok(), fits, "{draft:?}");
            assert_eq!(Policies(&bytes).get(0).unwrap().to_draft(), Ok(draft));
        }
    }
}
