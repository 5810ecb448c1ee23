//! Merges the data that origins refer to: tokens, rulesets, lines, other directives, and policies.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BTreeMap, BinaryHeap};

use super::super::container::Section;
use super::super::draft::{LINES, OTHER, POLICIES, SetTables, USAGES};
use super::super::numbers::NumberSet;
use super::super::policies::{PolicyDraft, StoredGroup, UsageGroup};
use super::super::pool::{EncodedRecords, PoolWriter, write_pool};
use super::super::rulesets::RulesetWriter;
use super::super::tokens::write_tokens;
use super::super::{FormatError, NONE};
use super::error::{MergeError, of_part};
use super::files::FileRecord;
use super::used::{PolicyVariant, UsedContents, UsedRecords};
use crate::spool::{SectionBytes, SectionWriter, Store};
use crate::threads::Threads;
use crate::verdict::PolicySource;

/// The new numbers or addresses of one section's needed records, for each set.
#[derive(Default)]
struct Renumbering {
    places: Vec<NumberSet>,
    to: Vec<Vec<u32>>,
}

impl Renumbering {
    fn of(used: impl Iterator<Item = NumberSet>) -> Renumbering {
        let counted = used.map(|mut numbers| {
            numbers.count();
            numbers
        });
        let places: Vec<NumberSet> = counted.collect();
        let to = places.iter().map(|_| Vec::new()).collect();
        Renumbering { places, to }
    }

    /// Returns a needed record's new address.
    fn get(&self, part: usize, address: u32) -> u32 {
        let index = self.places[part].rank(address as usize);
        index.and_then(|index| self.to[part].get(index as usize)).copied().unwrap_or(NONE)
    }
}

/// The addresses of policies and other directives in the merged set.
pub(super) struct MergedAddresses {
    /// Policies with a file's rules.
    policies: Renumbering,
    variants: BTreeMap<PolicyVariant, u32>,
    other: Renumbering,
}

impl MergedAddresses {
    /// Returns a policy's address.
    pub fn policy(&self, source: PolicySource, file: Option<FileRecord>) -> u32 {
        match (source, file) {
            (PolicySource::Rules, Some(file)) => self.policies.get(file.part as usize, file.policy),
            _ => {
                let variant = (source, file.map(|file| FileRecord { other: NONE, ..file }));
                self.variants.get(&variant).copied().unwrap_or(NONE)
            }
        }
    }

    /// Returns the address of a file's other directives, or [`NONE`].
    pub fn other(&self, file: FileRecord) -> u32 {
        if file.other == NONE { NONE } else { self.other.get(file.part as usize, file.other) }
    }
}

type SpooledSections = Vec<(Section, SectionBytes)>;

/// Merges the contents. Rulesets are merged in parallel with lines and other directives.
pub(super) fn merge_contents<E: Send>(
    tables: &[SetTables<'_>],
    used: UsedContents,
    threads: &dyn Threads,
    store: &dyn Store,
) -> Result<(MergedAddresses, SpooledSections), MergeError<E>> {
    let UsedContents { mut parts, variants } = used;
    let mut take = |of: fn(&mut UsedRecords) -> &mut NumberSet| {
        Renumbering::of(parts.iter_mut().map(|part| std::mem::take(of(part))).collect::<Vec<_>>().into_iter())
    };
    let policies = take(|part| &mut part.policies);
    let (tokens, mut rulesets) = (take(|part| &mut part.tokens), take(|part| &mut part.rulesets));
    let (mut lines, mut other) = (take(|part| &mut part.lines), take(|part| &mut part.other));
    let usages = take(|part| &mut part.usages);
    let (rulesets, (lines, other)) = threads.both(
        || merge_rulesets::<E>(tables, std::mem::take(&mut rulesets), store),
        || {
            let (lines, other) = (std::mem::take(&mut lines), std::mem::take(&mut other));
            (
                merge_pool::<E>(LINES, tables, lines, store, |tables, address| tables.lines.record(address)),
                merge_pool::<E>(OTHER, tables, other, store, |tables, address| {
                    tables.other.get(Some(address)).record()
                }),
            )
        },
    );
    let ((rulesets, mut sections), (lines, line_bytes), (other, other_bytes)) = (rulesets?, lines?, other?);
    let (usages, usage_bytes) =
        merge_pool::<E>(USAGES, tables, usages, store, |tables, address| tables.usages.record(address))?;
    let (tokens, token_bytes) = merge_tokens(tables, tokens)?;
    sections.extend([(Section::Tokens, token_bytes), (Section::Lines, line_bytes), (Section::Other, other_bytes)]);
    sections.push((Section::Usages, usage_bytes));
    let renumbering = Renumberings { tokens, rulesets, lines, usages };
    let (policies, variants, policy_bytes) = renumbering.merge_policies(tables, policies, variants, threads, store)?;
    sections.push((Section::Policies, policy_bytes));
    Ok((MergedAddresses { policies, variants, other }, sections))
}

/// Merges sorted records: passes the smallest remaining record and its set's number to `take` until none remain.
fn merge_sorted<R: Ord, E>(
    mut next: Vec<impl FnMut() -> Option<Result<R, FormatError>>>,
    mut take: impl FnMut(usize, &R) -> Result<(), MergeError<E>>,
) -> Result<(), MergeError<E>> {
    let mut heap = BinaryHeap::new();
    for (part, next) in next.iter_mut().enumerate() {
        if let Some(first) = next() {
            heap.push(Reverse((of_part(part, first)?, part)));
        }
    }
    while let Some(mut least) = heap.peek_mut() {
        let Reverse((record, part)) = &mut *least;
        take(*part, record)?;
        match next[*part]() {
            Some(record_after) => *record = of_part(*part, record_after)?,
            None => drop(PeekMut::pop(least)),
        }
    }
    Ok(())
}

fn merge_rulesets<E>(
    tables: &[SetTables<'_>],
    mut renumbering: Renumbering,
    store: &dyn Store,
) -> Result<(Renumbering, SpooledSections), MergeError<E>> {
    let mut writer = RulesetWriter::new(SectionWriter::new(store.create()?));
    let next = tables.iter().zip(&renumbering.places).map(|(tables, places)| {
        let (rulesets, mut numbers) = (tables.rulesets, places.iter());
        move || {
            let number = numbers.next()?;
            Some(rulesets.get(number).and_then(|ruleset| Ok(ruleset.to_bytes()?)))
        }
    });
    let to = &mut renumbering.to;
    merge_sorted(next.collect(), |part, automaton: &Cow<'_, [u8]>| {
        to[part].push(writer.push::<MergeError<E>>(automaton)?);
        Ok(())
    })?;
    let (index, rulesets, fingerprints) = writer.finish();
    let sections = vec![
        (Section::Index, SectionBytes::Held(index)),
        (Section::Rulesets, rulesets.finish()?),
        (Section::Prints, SectionBytes::Held(fingerprints)),
    ];
    Ok((renumbering, sections))
}

/// Merges the records of a pool that refer to no other section.
fn merge_pool<'t, E>(
    pool: (&'static str, usize),
    tables: &[SetTables<'t>],
    mut renumbering: Renumbering,
    store: &dyn Store,
    record: impl Fn(&SetTables<'t>, u32) -> Result<&'t [u8], FormatError> + Copy,
) -> Result<(Renumbering, SectionBytes), MergeError<E>> {
    let mut pool = PoolWriter::new(pool, SectionWriter::new(store.create()?));
    let next = tables.iter().zip(&renumbering.places).map(|(tables, places)| {
        let mut addresses = places.iter();
        move || addresses.next().map(|address| record(tables, address))
    });
    let to = &mut renumbering.to;
    merge_sorted(next.collect(), |part, record: &&[u8]| {
        to[part].push(pool.push::<MergeError<E>>(record)?);
        Ok(())
    })?;
    Ok((renumbering, pool.out.finish()?))
}

fn merge_tokens<E>(
    tables: &[SetTables<'_>],
    mut renumbering: Renumbering,
) -> Result<(Renumbering, SectionBytes), MergeError<E>> {
    let mut sorted: Vec<&[u8]> = Vec::new();
    let next = tables.iter().zip(&renumbering.places).map(|(tables, places)| {
        let (tokens, mut numbers) = (tables.tokens, places.iter());
        move || numbers.next().map(|number| tokens.name(number))
    });
    let to = &mut renumbering.to;
    merge_sorted(next.collect(), |part, &name: &&[u8]| {
        if sorted.last() != Some(&name) {
            sorted.push(name);
        }
        // A number that is too large for the format causes an error when the table is written.
        to[part].push(sorted.len() as u32 - 1);
        Ok(())
    })?;
    let bytes = write_tokens(&sorted)?;
    Ok((renumbering, SectionBytes::Held(bytes)))
}

/// New numbers and addresses for the data that policies refer to.
struct Renumberings {
    tokens: Renumbering,
    rulesets: Renumbering,
    lines: Renumbering,
    usages: Renumbering,
}

impl Renumberings {
    fn merge_policies<E: Send>(
        &self,
        tables: &[SetTables<'_>],
        mut renumbering: Renumbering,
        variants: impl IntoIterator<Item = PolicyVariant>,
        threads: &dyn Threads,
        store: &dyn Store,
    ) -> Result<(Renumbering, BTreeMap<PolicyVariant, u32>, SectionBytes), MergeError<E>> {
        let of_set = |(): &mut (), &(part, places): &(usize, &NumberSet)| {
            let mut records = EncodedRecords::default();
            for policy in places.iter() {
                let file = FileRecord { part: part as u32, policy, other: NONE };
                let draft = of_part(part, self.draft(tables, PolicySource::Rules, file))?;
                records.push_with(|out| draft.encode(out));
            }
            Ok::<EncodedRecords, MergeError<E>>(records)
        };
        let mut records = EncodedRecords::default();
        for of_set in threads.each(&renumbering.places.iter().enumerate().collect::<Vec<_>>(), || (), of_set) {
            records.append(&of_set?);
        }
        let variants: Vec<PolicyVariant> = variants.into_iter().collect();
        for &(source, file) in &variants {
            let draft = match file {
                Some(file) => of_part(file.part as usize, self.draft(tables, source, file))?,
                None => PolicyDraft { source, ..PolicyDraft::default() },
            };
            records.push_with(|out| draft.encode(out));
        }
        let mut pool = PoolWriter::new(POLICIES, SectionWriter::new(store.create()?));
        let mut addresses = write_pool::<_, MergeError<E>>(&mut pool, &records, |_| true, threads)?.into_iter();
        for (to, places) in renumbering.to.iter_mut().zip(&renumbering.places) {
            *to = addresses.by_ref().take(places.iter().count()).collect();
        }
        Ok((renumbering, variants.into_iter().zip(addresses).collect(), pool.out.finish()?))
    }

    /// Returns the new set's policy with a file's rules.
    fn draft(
        &self,
        tables: &[SetTables<'_>],
        source: PolicySource,
        file: FileRecord,
    ) -> Result<PolicyDraft, FormatError> {
        let part = file.part as usize;
        let mut draft = tables[part].policies.get(file.policy)?.to_draft()?;
        let PolicyDraft { tokens, groups, usages, .. } = &mut draft;
        tokens.iter_mut().for_each(|(token, _)| *token = self.tokens.get(part, *token));
        tokens.sort_unstable();
        for StoredGroup { ruleset, lines } in groups {
            *ruleset = self.rulesets.get(part, *ruleset);
            *lines = if *lines == NONE { NONE } else { self.lines.get(part, *lines) };
        }
        for UsageGroup { ruleset, statements } in usages {
            *ruleset = if *ruleset == NONE { NONE } else { self.rulesets.get(part, *ruleset) };
            *statements = if *statements == NONE { NONE } else { self.usages.get(part, *statements) };
        }
        Ok(PolicyDraft { source, ..draft })
    }
}
