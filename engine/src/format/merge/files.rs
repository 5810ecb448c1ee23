//! The robots.txt files of several sets, and which of them are equal.

use std::borrow::Cow;

use super::super::draft::SetTables;
use super::super::{FormatError, NONE};
use super::error::{MergeError, of_part};

/// A robots.txt in a set: the addresses of its policy and its other directives, or [`NONE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct FileRecord {
    pub part: u32,
    pub policy: u32,
    pub other: u32,
}

/// Returns whether two files have the same content.
pub(super) fn is_same<E>(tables: &[SetTables<'_>], a: FileRecord, b: FileRecord) -> Result<bool, MergeError<E>> {
    if a == b || a.part == b.part {
        // Within a set, equal contents have one address.
        return Ok(a == b);
    }
    Ok(content(tables, a)? == content(tables, b)?)
}

/// A group's automaton with its lines or statements.
type GroupContent<'t> = (Option<Cow<'t, [u8]>>, Option<&'t [u8]>);

/// Tokens with their groups, the default group, each group and usage group, and the other directives.
type FileContent<'t> = (Vec<(&'t [u8], u32)>, Option<u32>, Vec<GroupContent<'t>>, Option<&'t [u8]>);

fn content<'t, E>(tables: &[SetTables<'t>], file: FileRecord) -> Result<FileContent<'t>, MergeError<E>> {
    let SetTables { policies, tokens, rulesets, lines, other, usages, .. } = tables[file.part as usize];
    let read = || {
        let policy = policies.get(file.policy)?;
        let tokens = policy.tokens().map(|(token, group)| Ok((tokens.name(token)?, group)));
        let groups = policy.all_groups().map(|group| {
            let lines = if group.lines == NONE { None } else { Some(lines.record(group.lines)?) };
            Ok((Some(rulesets.get(group.ruleset)?.to_bytes()?), lines))
        });
        let usage_groups = policy.all_usages().map(|usage| {
            let ruleset = if usage.ruleset == NONE { None } else { Some(rulesets.get(usage.ruleset)?.to_bytes()?) };
            Ok((ruleset, if usage.statements == NONE { None } else { Some(usages.record(usage.statements)?) }))
        });
        let other = if file.other == NONE { None } else { Some(other.get(Some(file.other)).record()?) };
        Ok((
            tokens.collect::<Result<_, FormatError>>()?,
            policy.default_group_index(),
            groups.chain(usage_groups).collect::<Result<_, FormatError>>()?,
            other,
        ))
    };
    of_part(file.part as usize, read())
}
