//! Verifies that a set's bytes are exactly what the writer makes from its content.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::automaton::Ruleset;
use crate::format::automaton::MAX_PASSES;
use crate::format::container::Section;
use crate::format::origins::OriginRecord;
use crate::format::policies::{PolicyView, UsageGroup};
use crate::format::reading::Interpretation;
use crate::format::timelines::BEFORE_ALL_TIMES;
use crate::format::usages::MAX_TIED_PATTERNS;
use crate::format::{FormatError, NONE};
use crate::set::Set;
use crate::verdict::{PolicySource, RuleKind};

/// A unit of work in verifying a set.
///
/// Units are independent: several threads can process them in any order, or at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyPart(VerifyStep);

#[derive(Clone, Debug, PartialEq, Eq)]
enum VerifyStep {
    /// The bytes between the sections.
    Gaps,
    /// A section's checksum.
    Checksum(Section),
    /// The automata in a range of rulesets.
    Automata(Range<u32>),
    /// All tables and the references between them.
    SetTables,
}

/// Number of rulesets in a unit of work.
const RULESETS_OF_PART: u32 = 1 << 10;

impl<D: AsRef<[u8]>> Set<D> {
    /// Verifies the whole set.
    ///
    /// Checks each section's checksum, and that writing the content would give exactly these bytes. Every record has
    /// its only encoding, is in its place, occurs once, and is referred to. Every reference leads to a record.
    ///
    /// A verified set never causes a [`FormatError`]. Checksums do not prove that the content is right: anyone who
    /// writes a set can compute them.
    ///
    /// Cost: linear in the size of the file plus the automata of rulesets stored as patches, at about 100 MB per
    /// second. Memory for checking references: two bits for every 4 or 8 bytes of a section, and a copy of the shared
    /// fingerprints.
    ///
    /// # Errors
    /// Returns the first violation, with its section and offset.
    pub fn verify(&self) -> Result<(), FormatError> {
        self.verify_counted().0
    }

    /// Verifies like [`Set::verify`], and counts the steps.
    ///
    /// Steps are bytes and records read, including for checksums and automata. For tests; the work is the same.
    pub fn verify_counted(&self) -> (Result<(), FormatError>, u64) {
        let mut steps = self.data.as_ref().len() as u64;
        let result = self.verify_parts().iter().try_for_each(|part| self.verify_part_counted(part, &mut steps));
        (result, steps)
    }

    /// Divides [`Set::verify`] into units of work.
    ///
    /// A set is valid if [`Set::verify_part`] accepts all of them. If several fail, [`Set::verify`] returns the first
    /// unit's error.
    #[must_use]
    pub fn verify_parts(&self) -> Vec<VerifyPart> {
        let rulesets = self.rulesets().len();
        let starts = (0..rulesets).step_by(RULESETS_OF_PART as usize);
        let automata =
            starts.map(|start| VerifyStep::Automata(start..start.saturating_add(RULESETS_OF_PART).min(rulesets)));
        let before = std::iter::once(VerifyStep::Gaps).chain(Section::ALL.into_iter().map(VerifyStep::Checksum));
        before.chain(automata).chain([VerifyStep::SetTables]).map(VerifyPart).collect()
    }

    /// Processes a unit of work from [`Set::verify_parts`].
    ///
    /// The longest one takes about a third of the total time.
    ///
    /// # Errors
    /// Returns the first violation.
    pub fn verify_part(&self, part: &VerifyPart) -> Result<(), FormatError> {
        self.verify_part_counted(part, &mut 0)
    }

    fn verify_part_counted(&self, part: &VerifyPart, steps: &mut u64) -> Result<(), FormatError> {
        let file = self.data.as_ref();
        match &part.0 {
            VerifyStep::Gaps => self.container.verify_gaps(file),
            VerifyStep::Checksum(section) => self.container.verify(file, *section),
            VerifyStep::Automata(range) => self.verify_automata(range.clone(), steps),
            VerifyStep::SetTables => self.verify_tables(steps),
        }
    }

    /// Checks only the sections' checksums, as fast as memory or disk.
    ///
    /// # Errors
    /// Returns an error for the first damaged section.
    pub fn verify_checksums(&self) -> Result<(), FormatError> {
        let file = self.data.as_ref();
        self.container.verify_gaps(file)?;
        Section::ALL.into_iter().try_for_each(|section| self.container.verify(file, section))
    }

    /// Proves that the automata in a range are canonical.
    fn verify_automata(&self, numbers: Range<u32>, steps: &mut u64) -> Result<(), FormatError> {
        let rulesets = self.rulesets();
        for number in numbers {
            let stored = rulesets.get(number)?;
            let verified = stored.to_bytes().and_then(|automaton| {
                *steps += 1 + automaton.len() as u64;
                Ruleset::new(&automaton).and_then(|ruleset| ruleset.verify())
            });
            verified.map_err(|error| FormatError::from(error).in_record_at(rulesets.start(number)))?;
        }
        Ok(())
    }

    fn verify_tables(&self, steps: &mut u64) -> Result<(), FormatError> {
        Interpretation::verify(self.section(Section::Reading))?;
        let reading = self.read_reading()?;
        self.crawlers().verify(steps)?;
        let mut tokens = self.tokens().verify(steps)?;
        let mut rulesets = self.rulesets().verify(steps)?;
        let mut lines = self.lines().verify(steps)?;
        let mut usages = self.usages().verify(steps)?;
        let (mut passes, mut usage_groups) = (HashMap::new(), HashSet::new());
        let mut policies = self.policies().verify(steps, |policy| {
            if let Some((token, _)) = policy.tokens().find(|&(token, _)| !tokens.refer(token)) {
                return Err(missing(Section::Policies, "a product token", token));
            }
            self.verify_joint_groups(policy, &mut passes)?;
            for group in policy.all_groups() {
                if !rulesets.refer(group.ruleset) {
                    return Err(missing(Section::Policies, "a ruleset", group.ruleset));
                }
                let Some(list) = self.lines().get(group.lines)? else { continue };
                if !lines.refer(group.lines) {
                    return Err(missing(Section::Policies, "line numbers", group.lines));
                }
                self.expect_lines(group.ruleset, list.len())?;
            }
            for usage in policy.all_usages().filter(|usage| *usage != UsageGroup::EMPTY) {
                if usage.ruleset != NONE && !rulesets.refer(usage.ruleset) {
                    return Err(missing(Section::Policies, "a ruleset", usage.ruleset));
                }
                if !usages.refer(usage.statements) {
                    return Err(missing(Section::Policies, "statements", usage.statements));
                }
                if usage_groups.insert(usage) {
                    self.verify_usage_group(usage)?;
                }
            }
            Ok(())
        })?;
        let mut captures = self.captures().verify(steps, |stored| {
            if let Some(policy) = stored.policies().find(|&policy| !policies.refer(policy)) {
                return Err(missing(Section::Captures, "a policy", policy));
            }
            stored
                .captures()
                .filter_map(|capture| capture.policy)
                .try_for_each(|policy| self.expect_rules(&self.policies().get(policy)?))
        })?;
        let mut other = self.other().verify(steps)?;
        self.origin_table().verify(steps, |origin| {
            if !policies.refer(origin.policy) {
                return Err(missing(Section::Origins, "a policy", origin.policy));
            }
            let policy = self.policies().get(origin.policy)?;
            match origin.captures {
                None => self.expect_rules(&policy)?,
                Some(address) if !captures.refer(address) => {
                    return Err(missing(Section::Origins, "captures", address));
                }
                Some(_) if self.by_time => self.expect_active(origin, reading.at)?,
                Some(_) => {}
            }
            let Some(address) = origin.other else { return Ok(()) };
            if !other.refer(address) {
                return Err(missing(Section::Origins, "other directives", address));
            }
            expect_groups(self.other().get(origin.other).group_count()?, policy.group_count())
        })?;
        for references in [tokens, rulesets, lines, policies, captures, other, usages] {
            references.finish(steps)?;
        }
        Ok(())
    }

    /// Checks that the stored lengths equal the patterns' lengths, and that few patterns have equal lengths.
    fn verify_usage_group(&self, usage: UsageGroup) -> Result<(), FormatError> {
        let error = |expected: &str, found: String| Err(FormatError::at(Section::Usages, 0, expected, found));
        let Some(view) = self.usages().get(usage.statements)? else { return Ok(()) };
        let rules = match usage.ruleset {
            NONE => Vec::new(),
            number => Ruleset::stored(self.rulesets().get(number)?)?.rules()?,
        };
        if rules.len() != view.rule_count() as usize || usage.ruleset != NONE && rules.is_empty() {
            return error(&format!("statements of {} rules", rules.len()), view.rule_count().to_string());
        }
        let (mut tied, mut last) = (0, (0, RuleKind::Allow));
        for (place, rule) in (0..).zip(&rules) {
            let len = view.len_of(place)?;
            if rule.pattern.len() != len as usize {
                return error(&format!("a pattern of {len} bytes"), rule.pattern.len().to_string());
            }
            if rule.kind == RuleKind::Allow && last == (len, RuleKind::Disallow) {
                return error(
                    &format!("patterns of {len} bytes with wildcards before plain ones"),
                    "another order".into(),
                );
            }
            tied = if len == last.0 { tied } else { 0 } + usize::from(rule.kind == RuleKind::Allow);
            if tied > MAX_TIED_PATTERNS {
                return error(&format!("up to {MAX_TIED_PATTERNS} patterns of {len} bytes"), "more".into());
            }
            last = (len, rule.kind);
        }
        Ok(())
    }

    /// Checks that an origin's policy is active at the set's time.
    fn expect_active(&self, origin: &OriginRecord<'_>, at: Option<i64>) -> Result<(), FormatError> {
        let found = self.address_at(origin, at.unwrap_or(BEFORE_ALL_TIMES))?;
        if found == Some(origin.policy) {
            return Ok(());
        }
        let expected = format!("policy {}, which its origin has at the set's time", origin.policy);
        let found = found.map_or("no policy".into(), |policy| format!("policy {policy}"));
        Err(FormatError::new(Section::Captures.name(), expected, found))
    }

    /// Checks that a group has a line number for each rule in its ruleset.
    fn expect_lines(&self, ruleset: u32, lines: usize) -> Result<(), FormatError> {
        let rules = Ruleset::stored(self.rulesets().get(ruleset)?)?.rule_count();
        if lines == rules as usize {
            return Ok(());
        }
        let expected = format!("{rules} line numbers for {rules} rules");
        Err(FormatError::at(Section::Policies, 0, expected, lines.to_string()))
    }

    /// Checks groups that decide together, as all groups for one product token do: they must have joint ranks, and
    /// together need no more passes over a path than a single ruleset may. Caches each ruleset's passes for the
    /// policies that share it.
    fn verify_joint_groups(
        &self,
        policy: &PolicyView<'_>,
        passes: &mut HashMap<u32, usize>,
    ) -> Result<(), FormatError> {
        let groups: Vec<_> = policy.all_groups().collect();
        let tokens: Vec<(u32, u32)> = policy.tokens().collect();
        for run in tokens.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1) {
            let mut sum = 0_usize;
            for group in run.iter().filter_map(|&(_, group)| groups.get(group as usize)) {
                let ruleset = Ruleset::stored(self.rulesets().get(group.ruleset)?)?;
                if ruleset.rule_count() > 0 && ruleset.joint_rank(0).is_err() {
                    let expected = "joint ranks in rulesets that decide together";
                    let found = format!("none in ruleset {}", group.ruleset);
                    return Err(FormatError::at(Section::Policies, 0, expected, found));
                }
                let passes = match passes.entry(group.ruleset) {
                    Entry::Occupied(known) => *known.get(),
                    Entry::Vacant(place) => *place.insert(ruleset.passes()?),
                };
                sum = sum.saturating_add(passes);
            }
            if sum > MAX_PASSES {
                let expected = format!("up to {MAX_PASSES} passes over one path");
                return Err(FormatError::at(Section::Policies, 0, expected, sum.to_string()));
            }
        }
        Ok(())
    }

    /// Checks that a policy contains a fetched file's rules.
    fn expect_rules(&self, policy: &PolicyView<'_>) -> Result<(), FormatError> {
        match policy.source()? {
            PolicySource::Rules => Ok(()),
            other => {
                let found =
                    other.cause().map_or("no rules".into(), |cause| format!("a policy from a failed fetch ({cause})"));
                Err(FormatError::new(Section::Policies.name(), "a policy with a fetched file's rules", found))
            }
        }
    }
}

/// Checks that other directives belong to groups that their origin's policy has.
fn expect_groups(needed: u32, groups: u32) -> Result<(), FormatError> {
    if needed <= groups {
        return Ok(());
    }
    let expected = format!("other directives for at most {groups} groups");
    let found = format!("other directives for {needed} groups");
    Err(FormatError::new(Section::Origins.name(), expected, found))
}

/// Returns the error for a reference that does not lead to a record.
#[cold]
fn missing(section: Section, what: &str, address: u32) -> FormatError {
    FormatError::at(section, 0, format!("a reference to {what}"), format!("{address}, where no record begins"))
}
