//! Rules in vendor-managed blocks, such as Cloudflare's.

use std::ops::Range;

use reptile::DirectiveKind;
use reptile::contents::{Agent, FormatError, Policy, Set};

use super::subjects::Subject;

/// Whether a robots.txt has a vendor-managed block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Managed {
    /// It has a block with rules for the agent.
    Yes,
    /// It has a block, but only with rules for other agents.
    Elsewhere,
    No,
}

impl Managed {
    /// Returns the word in the column.
    pub fn name(self) -> &'static str {
        match self {
            Managed::Yes => "yes",
            Managed::Elsewhere => "elsewhere",
            Managed::No => "no",
        }
    }
}

/// The lines of a robots.txt that are in managed blocks.
pub struct ManagedLines(Vec<Range<u32>>);

impl ManagedLines {
    /// Returns the lines in a period, or `None` if they are unknown: a set stores them only for the file at its own
    /// time.
    pub fn of(set: &Set<&[u8]>, subject: &Subject<'_>) -> Result<Option<ManagedLines>, FormatError> {
        let (Some(site), Some(period)) = (subject.site, &subject.period) else { return Ok(None) };
        let has_file = period.policy.source()?.verdict().is_none();
        if !(has_file && subject.has_directives && set.has_other_directives()) {
            return Ok(None);
        }
        let (mut lines, mut begin) = (Vec::new(), None);
        let mut directives = site.other().reader()?;
        while let Some(directive) = directives.next()? {
            match directive.kind {
                DirectiveKind::ManagedBegin => begin = begin.or(Some(directive.line)),
                DirectiveKind::ManagedEnd => lines.extend(begin.take().map(|begin| begin..directive.line)),
                _ => {}
            }
        }
        // A block without an end lasts to the end of the file.
        lines.extend(begin.map(|begin| begin..u32::MAX));
        Ok(Some(ManagedLines(lines)))
    }

    /// Returns whether rules for an agent are in a block, or `None` if the set has no line numbers.
    pub fn managed(&self, policy: &Policy<'_>, agent: &Agent) -> Result<Option<Managed>, FormatError> {
        if self.0.is_empty() {
            return Ok(Some(Managed::No));
        }
        for rules in policy.rules_for(agent)? {
            if !rules.has_lines() {
                return Ok(None);
            }
            if rules.all()?.iter().any(|rule| self.0.iter().any(|block| block.contains(&rule.line))) {
                return Ok(Some(Managed::Yes));
            }
        }
        Ok(Some(Managed::Elsewhere))
    }
}
