//! Finds the contents that the merged set needs, and numbers them.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use super::super::draft::SetTables;
use super::super::numbers::NumberSet;
use super::super::{FormatError, NONE};
use super::decide::{Decide, OriginDecision, OriginInput};
use super::error::{MergeError, of_part};
use super::files::FileRecord;
use super::join::JoinedOrigins;

use crate::threads::Threads;
use crate::verdict::PolicySource;

/// The contents needed from one set. Record numbers are addresses.
#[derive(Default)]
pub(super) struct UsedRecords {
    /// Policies needed with source [`PolicySource::Rules`].
    pub policies: NumberSet,
    pub other: NumberSet,
    pub tokens: NumberSet,
    pub rulesets: NumberSet,
    pub lines: NumberSet,
    pub usages: NumberSet,
}

/// A policy with a source other than a file's rules, and the file whose rules it has, if any.
///
/// The file's `other` is [`NONE`].
pub(super) type PolicyVariant = (PolicySource, Option<FileRecord>);

/// The contents needed from all sets.
pub(super) struct UsedContents {
    pub parts: Vec<UsedRecords>,
    pub variants: BTreeSet<PolicyVariant>,
}

/// The needed contents, and the counters from the decisions.
pub(super) struct Decisions<C> {
    pub used: UsedContents,
    pub counts: Vec<C>,
}

/// The contents that one set's origins need.
#[derive(Default)]
struct PartNeeds<C> {
    counts: C,
    own: UsedRecords,
    /// Files in other sets, and whether each one's policy and other directives are needed.
    far: Vec<(FileRecord, bool, bool)>,
    variants: BTreeSet<PolicyVariant>,
}

/// Decides every origin, and collects the contents that it needs.
pub(super) fn find<D: Decide>(
    tables: &[SetTables<'_>],
    joined: &JoinedOrigins,
    decide: &D,
    threads: &dyn Threads,
) -> Result<Decisions<D::Counts>, MergeError<D::Error>> {
    let needed = threads.each_number(tables.len(), |part| {
        let (mut needed, mut input) = (PartNeeds::default(), OriginInput::default());
        for found in joined.origins(part, &tables[part]) {
            let (at, origin, others) = of_part(part, found)?;
            input.collect_from(tables, (at, origin), others)?;
            let decided = decide.decide(&origin, &input.found, &mut needed.counts);
            needed.add(part, &input, decided.map_err(MergeError::Undecided)?);
        }
        Ok::<PartNeeds<D::Counts>, MergeError<D::Error>>(needed)
    });
    let mut used = UsedContents { parts: Vec::new(), variants: BTreeSet::new() };
    let (mut counts, mut far) = (Vec::new(), Vec::new());
    for needed in needed {
        let mut needed = needed?;
        used.parts.push(needed.own);
        used.variants.append(&mut needed.variants);
        far.append(&mut needed.far);
        counts.push(needed.counts);
    }
    for (file, needs_policy, needs_other) in far {
        used.parts[file.part as usize].file(file, needs_policy, needs_other);
    }
    let variants = &used.variants;
    let parts: Vec<_> = used.parts.into_iter().map(Mutex::new).enumerate().collect();
    let with_contents = threads.each(
        &parts,
        || (),
        |(), (part, used)| {
            let mut used = std::mem::take(&mut *used.lock().unwrap_or_else(PoisonError::into_inner));
            let policies: Vec<u32> = used.policies.iter().collect();
            let of_variants = variants.iter().filter_map(|(_, file)| file.filter(|file| file.part as usize == *part));
            for address in policies.into_iter().chain(of_variants.map(|file| file.policy)) {
                of_part(*part, used.contents_of(&tables[*part], address))?;
            }
            Ok::<UsedRecords, MergeError<D::Error>>(used)
        },
    );
    used.parts = with_contents.into_iter().collect::<Result<_, _>>()?;
    Ok(Decisions { used, counts })
}

impl UsedRecords {
    /// Records that a file's policy and other directives are needed.
    fn file(&mut self, file: FileRecord, needs_policy: bool, needs_other: bool) {
        if needs_policy {
            self.policies.insert(file.policy as usize);
        }
        if needs_other && file.other != NONE {
            self.other.insert(file.other as usize);
        }
    }

    /// Records that a policy's contents are needed.
    fn contents_of(&mut self, tables: &SetTables<'_>, policy: u32) -> Result<(), FormatError> {
        let policy = tables.policies.get(policy)?;
        // A damaged set's references may be invalid, so they are looked up first.
        for (token, _) in policy.tokens() {
            tables.tokens.name(token)?;
            self.tokens.insert(token as usize);
        }
        for group in policy.all_groups() {
            tables.rulesets.get(group.ruleset)?;
            self.rulesets.insert(group.ruleset as usize);
            if tables.lines.get(group.lines)?.is_some() {
                self.lines.insert(group.lines as usize);
            }
        }
        for usage in policy.all_usages() {
            if usage.ruleset != NONE {
                tables.rulesets.get(usage.ruleset)?;
                self.rulesets.insert(usage.ruleset as usize);
            }
            if tables.usages.get(usage.statements)?.is_some() {
                self.usages.insert(usage.statements as usize);
            }
        }
        Ok(())
    }
}

impl<C> PartNeeds<C> {
    /// Records the contents that a decision needs.
    fn add(&mut self, part: usize, input: &OriginInput, decided: OriginDecision) {
        let mut note = |file: FileRecord, needs_policy, needs_other| {
            if file.part as usize == part {
                self.own.file(file, needs_policy, needs_other);
            } else {
                self.far.push((file, needs_policy, needs_other));
            }
        };
        let deciding = decided.file.and_then(|file| input.file(file));
        let is_of_file = decided.source == PolicySource::Rules;
        if let Some(file) = deciding {
            note(file, is_of_file, true);
        }
        if !is_of_file {
            self.variants.insert((decided.source, deciding.map(|file| FileRecord { other: NONE, ..file })));
        }
        for (source, file) in decided.policies {
            let file = file.and_then(|file| input.file(file));
            match file {
                Some(file) if source == PolicySource::Rules => note(file, true, false),
                _ => drop(self.variants.insert((source, file.map(|file| FileRecord { other: NONE, ..file })))),
            }
        }
    }
}
