//! A set's decoded content, for writing and after reading.
//!
//! [`SetDraft::write`] is the only writer of sets. It writes the canonical form: everything sorted, no duplicates, and
//! no unreferenced content. So neither input order nor unused content affects the bytes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::convert::Infallible;

use super::captures::{self, Captures, StoredCaptures};
use super::container::{Header, Section, Sections};
use super::directives::{self, OtherDirectives};
use super::lines::{self, Lines};
use super::origins::{OriginOrder, OriginRecord, Origins, write_origins};
use super::policies::{self, Policies, PolicyDraft, StoredGroup, UsageGroup};
use super::pool::{EncodedRecords, PoolWriter, write_pool};
use super::reading::Interpretation;
use super::rulesets::{Rulesets, write_rulesets};
use super::tokens::{Tokens, write_tokens};
use super::usages::{self, Usages};
use super::{FormatError, NONE, TooLarge};
use crate::threads::Threads;

/// Each pool's content in error messages, and its address unit.
pub(super) const LINES: (&str, usize) = ("bytes of line numbers", lines::UNIT);
pub(super) const OTHER: (&str, usize) = ("bytes of other directives", directives::UNIT);
pub(super) const USAGES: (&str, usize) = ("bytes of usage rules", usages::UNIT);
pub(super) const POLICIES: (&str, usize) = ("bytes of policies", policies::UNIT);
pub(super) const CAPTURES: (&str, usize) = ("bytes of captures", captures::UNIT);

/// A set's content. Elements refer to each other by their indexes in these lists.
#[derive(Clone, Debug)]
pub struct SetDraft<'a> {
    /// The set-wide settings in the header.
    pub header: Header,
    /// The protocol interpretation that the set is compiled with.
    pub reading: Interpretation<'a>,
    /// The known crawlers, as [`CrawlerTable::write`](super::crawlers::CrawlerTable::write) writes them.
    pub crawlers: &'a [u8],
    /// Product tokens in lower case.
    pub tokens: Vec<&'a [u8]>,
    /// Automata, as [`super::automaton::write`] writes them.
    pub rulesets: Vec<Cow<'a, [u8]>>,
    /// Each group's line numbers in rank order.
    pub lines: Vec<Cow<'a, [u32]>>,
    /// Other directives, as [`super::directives::encode`] writes them. No element is empty.
    pub other: Vec<&'a [u8]>,
    /// The statements of usage rules, as [`UsageDraft::encode`](super::usages::UsageDraft::encode) writes them.
    pub usages: Vec<Cow<'a, [u8]>>,
    /// Policies. Their tokens, rulesets, lines and usages are indexes into the lists above; tokens may be unsorted.
    pub policies: Vec<PolicyDraft>,
    /// Capture records without plain ones: timelines in a set by time, otherwise histories. Their policies are indexes
    /// into the list above.
    pub captures: Vec<StoredCaptures>,
    /// Distinct origins. Their policies, captures and other directives are indexes into the lists above.
    pub origins: Vec<OriginRecord<'a>>,
}

/// The referenced elements in each list.
struct UsedElements {
    tokens: Vec<bool>,
    rulesets: Vec<bool>,
    lines: Vec<bool>,
    other: Vec<bool>,
    usages: Vec<bool>,
    policies: Vec<bool>,
    captures: Vec<bool>,
}

fn mark(used: &mut [bool], place: Option<u32>) {
    if let Some(used) = place.and_then(|place| used.get_mut(place as usize)) {
        *used = true;
    }
}

/// Returns the address at which a list element was written.
fn new_address(to: &[u32], place: u32) -> u32 {
    to.get(place as usize).copied().unwrap_or(NONE)
}

impl SetDraft<'_> {
    fn used(&self) -> UsedElements {
        let mut used = UsedElements {
            tokens: vec![false; self.tokens.len()],
            rulesets: vec![false; self.rulesets.len()],
            lines: vec![false; self.lines.len()],
            other: vec![false; self.other.len()],
            usages: vec![false; self.usages.len()],
            policies: vec![false; self.policies.len()],
            captures: vec![false; self.captures.len()],
        };
        for origin in &self.origins {
            mark(&mut used.policies, Some(origin.policy));
            mark(&mut used.captures, origin.captures);
            mark(&mut used.other, origin.other);
        }
        for (stored, _) in self.captures.iter().zip(&used.captures).filter(|(_, is_used)| **is_used) {
            stored.policies().for_each(|policy| mark(&mut used.policies, Some(policy)));
        }
        for (policy, _) in self.policies.iter().zip(&used.policies).filter(|(_, is_used)| **is_used) {
            policy.tokens.iter().for_each(|&(token, _)| mark(&mut used.tokens, Some(token)));
            for group in &policy.groups {
                mark(&mut used.rulesets, Some(group.ruleset));
                mark(&mut used.lines, Some(group.lines));
            }
            for usage in &policy.usages {
                mark(&mut used.rulesets, Some(usage.ruleset));
                mark(&mut used.usages, Some(usage.statements));
            }
        }
        used
    }

    /// Writes the sections in canonical form.
    ///
    /// Sections that do not refer to each other are written in parallel if there are threads.
    ///
    /// Time: sorts everything. Memory: the sections, and again the largest one except the automata.
    ///
    /// # Errors
    /// Returns an error if any part exceeds a format limit.
    pub fn write(mut self, threads: &dyn Threads) -> Result<Sections, TooLarge> {
        let used = self.used();
        let write_lines = || {
            pool_of(LINES, &self.lines, &used.lines, threads, |lines, out| {
                lines::encode(lines, out);
            })
        };
        let write_other = || {
            pool_of(OTHER, &self.other, &used.other, threads, |record, out| {
                out.extend_from_slice(record);
            })
        };
        let usages = pool_of(USAGES, &self.usages, &used.usages, threads, |record, out| {
            out.extend_from_slice(record);
        })?;
        let (rulesets, (order, (tokens, (lines, other)))) = threads.both(
            || write_rulesets(std::mem::take(&mut self.rulesets), &used.rulesets),
            || {
                threads.both(
                    || OriginOrder::of(&self.origins, threads),
                    || {
                        let tokens = sorted_tokens(&self.tokens, &used.tokens);
                        (tokens, threads.both(write_lines, write_other))
                    },
                )
            },
        );
        let (tokens, token_numbers) = tokens;
        let ((rulesets, ruleset_numbers), order, lines, other) = (rulesets?, order?, lines?, other?);
        let policies = pool_of(POLICIES, &self.policies, &used.policies, threads, |policy, out| {
            let mut tokens: Vec<(u32, u32)> =
                policy.tokens.iter().map(|&(token, group)| (new_address(&token_numbers, token), group)).collect();
            tokens.sort_unstable();
            let group = |group: &StoredGroup| StoredGroup {
                ruleset: new_address(&ruleset_numbers, group.ruleset),
                lines: new_address(&lines.addresses, group.lines),
            };
            let usage = |usage: &UsageGroup| UsageGroup {
                ruleset: new_address(&ruleset_numbers, usage.ruleset),
                statements: new_address(&usages.addresses, usage.statements),
            };
            let groups = policy.groups.iter().map(group).collect();
            let default_group = policy.default_group;
            let usages = policy.usages.iter().map(usage).collect();
            PolicyDraft { source: policy.source, tokens, default_group, groups, usages }.encode(out);
        })?;
        let captures = pool_of(CAPTURES, &self.captures, &used.captures, threads, |stored, out| {
            let written =
                stored.clone().with_policies(|policy| Ok::<_, Infallible>(new_address(&policies.addresses, policy)));
            written.unwrap_or_else(|never| match never {}).encode(out);
        })?;
        for origin in &mut self.origins {
            origin.policy = new_address(&policies.addresses, origin.policy);
            origin.captures = origin.captures.map(|place| new_address(&captures.addresses, place));
            origin.other = origin.other.map(|place| new_address(&other.addresses, place));
        }
        let [mut buckets, mut origins] = [0; 2].map(|_| Vec::with_capacity(USUAL_RECORD_BYTES));
        let record = |index: usize| Ok::<_, TooLarge>(self.origins[index]);
        write_origins(&order, record, &mut buckets, &mut origins, threads)?;
        let (index, rulesets, fingerprints) = rulesets.finish();
        let mut sections = Sections::default();
        for (section, bytes) in [
            (Section::Reading, self.reading.write()?),
            (Section::Crawlers, self.crawlers.to_vec()),
            (Section::Tokens, write_tokens(&tokens)?),
            (Section::Buckets, buckets),
            (Section::Origins, origins),
            (Section::Captures, captures.bytes),
            (Section::Policies, policies.bytes),
            (Section::Index, index),
            (Section::Rulesets, rulesets),
            (Section::Prints, fingerprints),
            (Section::Lines, lines.bytes),
            (Section::Other, other.bytes),
            (Section::Usages, usages.bytes),
        ] {
            sections[section as usize] = bytes;
        }
        Ok(sections)
    }
}

/// Returns the used tokens, sorted and without duplicates, and each input token's number.
fn sorted_tokens<'a>(tokens: &[&'a [u8]], is_used: &[bool]) -> (Vec<&'a [u8]>, Vec<u32>) {
    let mut sorted: Vec<&[u8]> =
        tokens.iter().zip(is_used).filter(|(_, used)| **used).map(|(token, _)| *token).collect();
    sorted.sort_unstable();
    sorted.dedup();
    // A number that is too large for the format causes an error when the table is written.
    let number = |token: &&[u8]| sorted.binary_search(token).map_or(NONE, |number| number as u32);
    let numbers = tokens.iter().map(number).collect();
    (sorted, numbers)
}

/// Initial capacity for a record, in bytes. Few records of a small file are larger.
const USUAL_RECORD_BYTES: usize = 128;

/// A written pool, and each input record's address; [`NONE`] for unused records.
struct WrittenPool {
    bytes: Vec<u8>,
    addresses: Vec<u32>,
}

/// Writes a pool with the used records. `pool` is its content in error messages, and its address unit.
fn pool_of<T>(
    pool: (&'static str, usize),
    things: &[T],
    is_used: &[bool],
    threads: &dyn Threads,
    mut encode: impl FnMut(&T, &mut Vec<u8>),
) -> Result<WrittenPool, TooLarge> {
    // In a set with one file, most pools have at most one record, so there is nothing to sort.
    if things.is_empty() {
        return Ok(WrittenPool { bytes: Vec::new(), addresses: Vec::new() });
    }
    if let ([thing], [true]) = (things, is_used) {
        let mut bytes = Vec::with_capacity(USUAL_RECORD_BYTES);
        encode(thing, &mut bytes);
        return Ok(WrittenPool { bytes, addresses: vec![0] });
    }
    let mut records = EncodedRecords::default();
    for (thing, used) in things.iter().zip(is_used) {
        records.push_with(|out| {
            if *used {
                encode(thing, out)
            }
        });
    }
    let mut pool = PoolWriter::new(pool, Vec::with_capacity(records.byte_len()));
    let addresses = write_pool::<_, TooLarge>(&mut pool, &records, |place| is_used[place], threads)?;
    Ok(WrittenPool { bytes: pool.out, addresses })
}

/// A set's tables for reading.
#[derive(Clone, Copy)]
pub(crate) struct SetTables<'a> {
    pub tokens: Tokens<'a>,
    pub origins: Origins<'a>,
    pub captures: Captures<'a>,
    pub policies: Policies<'a>,
    pub rulesets: Rulesets<'a>,
    pub lines: Lines<'a>,
    pub other: OtherDirectives<'a>,
    pub usages: Usages<'a>,
}

/// A list of records read back, each at its first reference.
struct ReadList<T> {
    records: Vec<T>,
    /// Maps addresses to indexes in `records`.
    index_of: HashMap<u32, u32>,
}

impl<T> ReadList<T> {
    fn new() -> ReadList<T> {
        ReadList { records: Vec::new(), index_of: HashMap::new() }
    }

    /// Returns a record's index. Reads the record if the list does not have it yet.
    fn index(&mut self, address: u32, read: impl FnOnce() -> Result<T, FormatError>) -> Result<u32, FormatError> {
        if let Some(&index) = self.index_of.get(&address) {
            return Ok(index);
        }
        let record = read()?;
        let index = self.records.len() as u32;
        self.records.push(record);
        self.index_of.insert(address, index);
        Ok(index)
    }
}

impl<'a> SetDraft<'a> {
    /// Reads a set's content back. Time and memory: linear in the set.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub(crate) fn read(
        header: Header,
        reading: Interpretation<'a>,
        crawlers: &'a [u8],
        tables: SetTables<'a>,
    ) -> Result<SetDraft<'a>, FormatError> {
        let (mut lines, mut usages, mut policies) = (ReadList::new(), ReadList::new(), ReadList::new());
        let mut policy_index = |address| {
            policies.index(address, || {
                let mut policy = tables.policies.get(address)?.to_draft()?;
                for group in policy.groups.iter_mut().filter(|group| group.lines != NONE) {
                    let list = || Ok(tables.lines.get(group.lines)?.map_or_else(Vec::new, |list| list.to_vec()).into());
                    group.lines = lines.index(group.lines, list)?;
                }
                for usage in policy.usages.iter_mut().filter(|usage| usage.statements != NONE) {
                    let statements = || Ok(tables.usages.record(usage.statements)?.into());
                    usage.statements = usages.index(usage.statements, statements)?;
                }
                Ok(policy)
            })
        };
        let (mut captures, mut other, mut origins) = (ReadList::new(), ReadList::new(), Vec::new());
        for origin in tables.origins.iter() {
            let mut origin = origin?;
            origin.policy = policy_index(origin.policy)?;
            if let Some(address) = &mut origin.captures {
                let stored = || tables.captures.get(*address)?.with_policies(&mut policy_index);
                *address = captures.index(*address, stored)?;
            }
            if let Some(address) = &mut origin.other {
                *address = other.index(*address, || tables.other.get(Some(*address)).record())?;
            }
            origins.push(origin);
        }
        let automata = (0..tables.rulesets.len()).map(|number| Ok(tables.rulesets.get(number)?.to_bytes()?));
        Ok(SetDraft {
            header,
            reading,
            crawlers,
            tokens: tables.tokens.iter().collect::<Result<_, _>>()?,
            rulesets: automata.collect::<Result<_, FormatError>>()?,
            lines: lines.records,
            other: other.records,
            usages: usages.records,
            policies: policies.records,
            captures: captures.records,
            origins,
        })
    }
}
