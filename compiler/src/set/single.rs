//! Compiles a set with one origin and one capture, without [`SetBuilder`](super::SetBuilder)'s tables for finding equal
//! content in many files.

use std::borrow::Cow;

use reptile_engine::format::container::{Header, Section};
use reptile_engine::format::draft::SetDraft;
use reptile_engine::format::origins::OriginRecord;
use reptile_engine::format::policies::{PolicyDraft, StoredGroup, UsageGroup};
use reptile_engine::format::{NONE, TooLarge};
use reptile_engine::spool::SectionBytes;
use reptile_engine::threads::OneThread;
use reptile_engine::verdict::PolicySource;

use super::builder::CompiledSet;
use super::contents::{Distinct, number};
use super::crawlers::crawler_section;
use super::{CaptureReport, OwnedOrigin, Prepared};
use crate::automaton::{Strategy, Workspace};
use crate::capture::{Capture, Captures, KeptCapture, Outcome, Profile};
use crate::dialect::Dialect;
use crate::rules::order::RuleList;

/// Compiles one capture for the time of its fetch, given the result of [`prepare_capture`](super::prepare_capture).
///
/// The set has the same bytes as if a [`SetBuilder`](super::SetBuilder) had compiled only this capture, but its report
/// is empty. The origin's host must be at most [`MAX_HOST_BYTES`](reptile_engine::host::MAX_HOST_BYTES) long.
///
/// # Errors
/// Returns an error if any part is too large for the format.
pub fn compile_single(
    origin: &OwnedOrigin,
    capture: &Capture,
    (outcome, prepared): (Outcome, Option<Prepared>),
    dialect: &Dialect,
    profile: &Profile,
    workspace: &mut Workspace,
) -> Result<CompiledSet, TooLarge> {
    let strategy = Strategy::default();
    let rules = if prepared.is_some() { 0 } else { NONE };
    let Prepared { tokens, default_group, groups, usages, other, body_hash, .. } = prepared.unwrap_or_default();
    let mut captures = Captures::default();
    captures.add(KeptCapture::new(capture, outcome, body_hash, rules));
    let decision = captures.decide(profile, capture.time);

    let mut policies: Vec<(PolicySource, Option<u32>)> = Vec::new();
    let mut policy = |source, file| {
        let known = policies.iter().position(|&policy| policy == (source, file));
        known.unwrap_or_else(|| {
            policies.push((source, file));
            policies.len() - 1
        }) as u32
    };
    let (mut origins, mut histories) = (Vec::new(), Vec::new());
    if let Some(decision) = &decision {
        let OwnedOrigin { scheme, ref host, port } = *origin;
        let policy_of_origin = policy(decision.source, decision.rules);
        histories.extend(captures.stored(decision, profile, policy));
        let captures = (!histories.is_empty()).then_some(0);
        let other = decision.rules.filter(|_| !other.is_empty()).map(|_| 0);
        origins.push(OriginRecord { host, scheme, port, policy: policy_of_origin, captures, other });
    }

    let mut lists: Distinct<RuleList> = Distinct::default();
    let mut lines: Vec<Cow<'_, [u32]>> = Vec::with_capacity(groups.len());
    let groups = groups.into_iter().map(|(list, lines_of_group)| {
        lines.push(lines_of_group.into());
        StoredGroup { ruleset: number(&mut lists, list), lines: lines.len() as u32 - 1 }
    });
    let groups: Vec<StoredGroup> = groups.collect();
    let mut statements: Vec<Cow<'_, [u8]>> = Vec::new();
    let usages = usages.into_iter().map(|usage| {
        let ruleset = if usage.list.byte_len() > 0 { number(&mut lists, usage.list) } else { NONE };
        if usage.statements.is_empty() {
            return UsageGroup { ruleset, statements: NONE };
        }
        statements.push(usage.statements.into_vec().into());
        UsageGroup { ruleset, statements: statements.len() as u32 - 1 }
    });
    let usages: Vec<UsageGroup> = usages.collect();
    let mut rulesets: Vec<Cow<'_, [u8]>> = Vec::with_capacity(lists.len());
    // Each list is freed as soon as its automaton is complete.
    for list in lists {
        let mut automaton = workspace.compile(&list, strategy)?;
        automaton.shrink_to_fit();
        rulesets.push(automaton.into());
    }
    let numbered = (0..).zip(&tokens).map(|(number, &(_, group))| (number, group)).collect();
    let with_rules = PolicyDraft { source: PolicySource::Rules, tokens: numbered, default_group, groups, usages };
    let draft_of = |&(source, file): &(PolicySource, Option<u32>)| match file {
        Some(_) => PolicyDraft { source, ..with_rules.clone() },
        None => PolicyDraft { source, ..PolicyDraft::default() },
    };

    let header = Header {
        normal_form: dialect.normal_form.number(),
        name_matching: dialect.name_matching.number(),
        automata_form: strategy.form(),
    };
    let draft = SetDraft {
        header,
        reading: profile.reading(&dialect.name, capture.time),
        // Replaced below by the section that all sets share.
        crawlers: &[],
        tokens: tokens.iter().map(|(token, _)| &**token).collect(),
        rulesets,
        lines,
        other: if other.is_empty() { Vec::new() } else { vec![&other] },
        usages: statements,
        policies: policies.iter().map(draft_of).collect(),
        captures: histories,
        origins,
    };
    let mut sections = draft.write(&OneThread)?.map(SectionBytes::Held);
    sections[Section::Crawlers as usize] = SectionBytes::Shared(crawler_section(dialect)?);
    Ok(CompiledSet { header, sections, report: CaptureReport::default() })
}
