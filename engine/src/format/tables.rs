//! The tables of a set: agents, origins, policies, the index of rulesets, line numbers.
//!
//! Each table has a writer that returns its sections' bytes and a reader over them. Readers check every access.

use xxhash_rust::xxh3::xxh3_64;

use super::container::Section;
use super::{FormatError, TooLarge, fit, u32_at, u64_at};
use crate::url::Scheme;
use crate::verdict::{Cause, PolicySource};

/// Stands for "none" wherever the tables hold a number of something.
pub const NONE: u32 = u32::MAX;

fn damaged(section: Section, expected: &str) -> FormatError {
    FormatError::new(section.name(), expected, "bytes that are none: run `verify` on the file")
}

fn put(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_le_bytes());
}

/// Writes the product tokens, which are in order, in lower case and without repetition.
///
/// # Errors
/// When they take 4 GiB or more.
pub fn write_agents(tokens: &[&[u8]]) -> Result<Vec<u8>, TooLarge> {
    let mut out = Vec::new();
    put(&mut out, fit("agents", tokens.len(), NONE.into())?);
    let mut end = 0;
    for token in tokens {
        end += token.len();
        put(&mut out, fit("bytes of agents' names", end, NONE.into())?);
    }
    tokens.iter().for_each(|token| out.extend_from_slice(token));
    Ok(out)
}

/// The product tokens of a set, numbered in the order of their bytes.
#[derive(Clone, Copy)]
pub struct Agents<'a>(pub &'a [u8]);

impl<'a> Agents<'a> {
    /// How many there are.
    ///
    /// # Errors
    /// When the table is damaged.
    pub fn count(self) -> Result<u32, FormatError> {
        let count = u32_at(self.0, 0).filter(|&count| (count as usize) < self.0.len() / 4);
        count.ok_or_else(|| damaged(Section::Agents, "a table of agents"))
    }

    /// The name of an agent.
    ///
    /// # Errors
    /// When there is none of that number.
    pub fn name(self, agent: u32) -> Result<&'a [u8], FormatError> {
        let count = self.count()? as usize;
        let name = || {
            let index = agent as usize;
            let start = if index == 0 { 0 } else { u32_at(self.0, index * 4)? };
            let end = u32_at(self.0, 4 + index * 4).filter(|_| index < count)?;
            self.0.get(4 + count * 4..)?.get(start as usize..end as usize)
        };
        name().ok_or_else(|| damaged(Section::Agents, "an agent's name"))
    }

    /// Reads all of the table: the names are in order.
    ///
    /// # Errors
    /// When they are not.
    pub fn verify(self) -> Result<(), FormatError> {
        let mut last = None;
        for agent in 0..self.count()? {
            let name = self.name(agent)?;
            if last >= Some(name) {
                return Err(damaged(Section::Agents, "names in order"));
            }
            last = Some(name);
        }
        Ok(())
    }

    /// The numbers of the agents whose name contains this one, in any letter case; none for an empty one. Looks at
    /// every name.
    ///
    /// # Errors
    /// When the table is damaged.
    pub fn find_containing(self, name: &[u8]) -> Result<Vec<u32>, FormatError> {
        let name = name.to_ascii_lowercase();
        let finder = memchr::memmem::Finder::new(&name);
        let mut found = Vec::new();
        for agent in 0..self.count()? {
            if !name.is_empty() && finder.find(self.name(agent)?).is_some() {
                found.push(agent);
            }
        }
        Ok(found)
    }

    /// The number of the agent with this name, in any letter case. A binary search.
    ///
    /// # Errors
    /// When the table is damaged.
    pub fn find(self, name: &[u8]) -> Result<Option<u32>, FormatError> {
        let name = name.to_ascii_lowercase();
        let (mut low, mut high) = (0, self.count()?);
        while low < high {
            let middle = low.midpoint(high);
            match self.name(middle)?.cmp(&name) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Ok(Some(middle)),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Ok(None)
    }
}

/// How an agent's name is compared with the names in the files. Case never matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameMatching {
    /// They are equal. Number 0.
    Equal,
    /// The name in the file contains the agent's. Of several groups that an agent then has, the one that comes
    /// first in the file decides alone. Number 1.
    Contained,
}

impl NameMatching {
    /// The number that stands for it in a set file.
    #[must_use]
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// The way with this number, or `None` if this version of the engine does not know it.
    #[must_use]
    pub const fn from_number(number: u32) -> Option<NameMatching> {
        match number {
            0 => Some(NameMatching::Equal),
            1 => Some(NameMatching::Contained),
            _ => None,
        }
    }
}

/// An origin and the number of its policy, as the table of origins holds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OriginRecord<'a> {
    /// The host in lower case.
    pub host: &'a [u8],
    /// The scheme.
    pub scheme: Scheme,
    /// The port.
    pub port: u16,
    /// The number of its policy.
    pub policy: u32,
}

const ORIGIN_BYTES: usize = 16;

/// Spreads origins over the table. Two origins with the same hash are told apart by their names.
fn origin_hash(scheme: Scheme, host: &[u8], port: u16) -> u64 {
    let salt = (u64::from(port) << 8 | scheme as u64).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    xxh3_64(host).wrapping_add(salt).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

/// Which bucket of `count`, a power of two, a hash falls into: its highest bits.
fn bucket_of(hash: u64, bucket_bits: u32) -> usize {
    hash.checked_shr(64 - bucket_bits).unwrap_or(0) as usize
}

/// Writes the origins: the sections `buckets`, `origins` and `hosts`. No origin may be there twice.
///
/// # Errors
/// When there are 2^32 or more, or their names take 4 GiB or more.
pub fn write_origins(origins: &[OriginRecord<'_>]) -> Result<[Vec<u8>; 3], TooLarge> {
    let _: u32 = fit("origins", origins.len(), NONE.into())?;
    let bucket_bits = (origins.len() / 2).max(1).next_power_of_two().trailing_zeros();
    let mut order: Vec<(u64, &OriginRecord<'_>)> =
        origins.iter().map(|origin| (origin_hash(origin.scheme, origin.host, origin.port), origin)).collect();
    // By hash, then by the origin itself, so that the bytes do not depend on the order of the input.
    order.sort_unstable();
    let mut names: Vec<&[u8]> = origins.iter().map(|origin| origin.host).collect();
    names.sort_unstable();
    names.dedup();
    let mut hosts = Vec::new();
    let mut name_at = std::collections::HashMap::with_capacity(names.len());
    for name in names {
        name_at.insert(name, fit::<u32>("bytes of host names", hosts.len(), NONE.into())?);
        hosts.extend_from_slice(name);
    }
    let mut buckets = Vec::new();
    put(&mut buckets, bucket_bits);
    let mut records = Vec::with_capacity(order.len() * ORIGIN_BYTES);
    let mut bucket = 0;
    for (index, &(hash, origin)) in (0_u32..).zip(&order) {
        while bucket <= bucket_of(hash, bucket_bits) {
            put(&mut buckets, index);
            bucket += 1;
        }
        put(&mut records, hash as u32);
        put(&mut records, name_at.get(origin.host).copied().unwrap_or(NONE));
        put(&mut records, origin.policy);
        records.extend_from_slice(&origin.port.to_le_bytes());
        records.extend_from_slice(&[origin.scheme as u8, origin.host.len() as u8]);
    }
    while bucket <= 1 << bucket_bits {
        put(&mut buckets, order.len() as u32);
        bucket += 1;
    }
    Ok([buckets, records, hosts])
}

/// The origins of a set.
#[derive(Clone, Copy)]
pub struct Origins<'a> {
    /// The section `buckets`.
    pub buckets: &'a [u8],
    /// The section `origins`.
    pub records: &'a [u8],
    /// The section `hosts`.
    pub hosts: &'a [u8],
}

impl<'a> Origins<'a> {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len() / ORIGIN_BYTES
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The origin at a place of the table. Places follow no order that means anything.
    ///
    /// # Errors
    /// When the table is damaged.
    pub fn at(&self, place: usize) -> Result<OriginRecord<'a>, FormatError> {
        let record = || {
            let record: &[u8; ORIGIN_BYTES] = self.records.get(place * ORIGIN_BYTES..)?.first_chunk()?;
            let start = u32_at(record, 4)? as usize;
            let host = self.hosts.get(start..start + usize::from(record[15]))?;
            let scheme = Scheme::from_number(record[14])?;
            let port = u16::from_le_bytes([record[12], record[13]]);
            Some(OriginRecord { host, scheme, port, policy: u32_at(record, 8)? })
        };
        record().ok_or_else(|| damaged(Section::Origins, "an origin"))
    }

    /// The number of the policy of an origin, whose host is in lower case. Two or three memory accesses that
    /// miss the cache in a large set.
    ///
    /// # Errors
    /// When the tables are damaged.
    #[inline]
    pub fn find(&self, scheme: Scheme, host: &[u8], port: u16) -> Result<Option<u32>, FormatError> {
        let buckets = || damaged(Section::Buckets, "a table of buckets");
        let hash = origin_hash(scheme, host, port);
        let bits = u32_at(self.buckets, 0).filter(|&bits| bits < 32).ok_or_else(buckets)?;
        let bucket = 4 + bucket_of(hash, bits) * 4;
        let start = u32_at(self.buckets, bucket).ok_or_else(buckets)?;
        let end = u32_at(self.buckets, bucket + 4).ok_or_else(buckets)?;
        for place in start..end {
            let place = place as usize;
            let found = u32_at(self.records, place * ORIGIN_BYTES).ok_or_else(buckets)?;
            if found == hash as u32 {
                let origin = self.at(place)?;
                if origin.host == host && origin.scheme == scheme && origin.port == port {
                    return Ok(Some(origin.policy));
                }
            }
        }
        Ok(None)
    }

    /// Reads all of the tables: every origin is found where a look-up searches for it.
    ///
    /// # Errors
    /// When one is not, or there are bytes to spare.
    pub fn verify(&self, policies: u32) -> Result<(), FormatError> {
        if !self.records.len().is_multiple_of(ORIGIN_BYTES) {
            return Err(damaged(Section::Origins, "whole records"));
        }
        for place in 0..self.len() {
            let origin = self.at(place)?;
            if origin.policy >= policies {
                return Err(damaged(Section::Origins, "the number of a policy"));
            }
            if self.find(origin.scheme, origin.host, origin.port)? != Some(origin.policy) {
                return Err(damaged(Section::Buckets, "the bucket of an origin"));
            }
        }
        Ok(())
    }
}

/// The rules that a policy has for some agents: numbers of a ruleset and of the line numbers of its rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Group {
    /// The number of the ruleset.
    pub ruleset: u32,
    /// Where the line numbers are in the section `lines`; [`NONE`] if they were left out.
    pub lines: u32,
}

/// Who gets which rules of one robots.txt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PolicyDraft {
    /// What the policy rests on. Where no rules decide there are no agents and no groups.
    pub source: PolicySource,
    /// For each agent that the file names: its number, and the index of its group. In the order of the numbers.
    /// An agent that is there more than once has several groups, which decide together.
    pub agents: Vec<(u32, u32)>,
    /// The index of the group for all other agents, or [`NONE`].
    pub others: u32,
    /// The groups.
    pub groups: Vec<Group>,
}

/// Writes the policies.
///
/// # Errors
/// When they take 4 GiB or more.
pub fn write_policies(policies: &[PolicyDraft]) -> Result<Vec<u8>, TooLarge> {
    let mut out = Vec::new();
    put(&mut out, fit("policies", policies.len(), NONE.into())?);
    let mut end = 4 + policies.len() * 4;
    for policy in policies {
        put(&mut out, fit("bytes of policies", end, NONE.into())?);
        end += 16 + policy.agents.len() * 8 + policy.groups.len() * 8;
    }
    for policy in policies {
        put(&mut out, kind_of_source(policy.source));
        put(&mut out, policy.others);
        put(&mut out, fit("agents of a policy", policy.agents.len(), NONE.into())?);
        put(&mut out, fit("groups of a policy", policy.groups.len(), NONE.into())?);
        policy.agents.iter().for_each(|&(agent, _)| put(&mut out, agent));
        policy.agents.iter().for_each(|&(_, group)| put(&mut out, group));
        for group in &policy.groups {
            put(&mut out, group.ruleset);
            put(&mut out, group.lines);
        }
    }
    Ok(out)
}

/// The kind of a policy as it is stored: a byte for the source, a byte for the cause, and the cause's number.
fn kind_of_source(source: PolicySource) -> u32 {
    let (source, cause) = match source {
        PolicySource::Rules => return 0,
        PolicySource::LastGoodCopy(cause) => (1, cause),
        PolicySource::AllowAll(cause) => (FIRST_WITHOUT_RULES, cause),
        PolicySource::DisallowAll(cause) => (FIRST_WITHOUT_RULES + 1, cause),
    };
    let (cause, number) = match cause {
        Cause::Status(status) => (1, status),
        Cause::Redirects => (2, 0),
        Cause::Network => (3, 0),
        Cause::NotText => (4, 0),
        Cause::TooLarge => (5, 0),
        Cause::Unreachable(days) => (6, days),
    };
    u32::from(number) << 16 | cause << 8 | u32::from(source)
}

/// What a kind says; `None` if it is none.
fn source_of_kind(kind: u32) -> Option<PolicySource> {
    let [source, cause, ..] = kind.to_le_bytes();
    let number = (kind >> 16) as u16;
    let cause = match (cause, number) {
        (0, 0) if source == 0 => return Some(PolicySource::Rules),
        (1, status) => Cause::Status(status),
        (2, 0) => Cause::Redirects,
        (3, 0) => Cause::Network,
        (4, 0) => Cause::NotText,
        (5, 0) => Cause::TooLarge,
        (6, days) => Cause::Unreachable(days),
        _ => return None,
    };
    match source {
        1 => Some(PolicySource::LastGoodCopy(cause)),
        FIRST_WITHOUT_RULES => Some(PolicySource::AllowAll(cause)),
        3 => Some(PolicySource::DisallowAll(cause)),
        _ => None,
    }
}

/// The first of the bases that leave nothing to rules.
const FIRST_WITHOUT_RULES: u8 = 2;

/// The policies of a set.
#[derive(Clone, Copy)]
pub struct Policies<'a>(pub &'a [u8]);

impl<'a> Policies<'a> {
    /// How many there are.
    ///
    /// # Errors
    /// When the table is damaged.
    pub fn count(self) -> Result<u32, FormatError> {
        u32_at(self.0, 0).ok_or_else(|| damaged(Section::Policies, "a table of policies"))
    }

    /// One of them.
    ///
    /// # Errors
    /// When there is none of that number.
    #[inline]
    pub fn get(self, policy: u32) -> Result<PolicyView<'a>, FormatError> {
        let view = || {
            let at = u32_at(self.0, 4 + policy as usize * 4).filter(|_| u32_at(self.0, 0) > Some(policy))?;
            let record = self.0.get(at as usize..)?;
            let (agents, groups) = (u32_at(record, 8)? as usize, u32_at(record, 12)? as usize);
            let size = agents.checked_add(groups)?.checked_mul(8)?;
            let body = record.get(16..)?.get(..size)?;
            Some(PolicyView { kind: u32_at(record, 0)?, others: u32_at(record, 4)?, body, agents })
        };
        view().ok_or_else(|| damaged(Section::Policies, "a policy"))
    }
}

/// A policy as it lies in the bytes.
#[derive(Clone, Copy)]
pub struct PolicyView<'a> {
    kind: u32,
    others: u32,
    body: &'a [u8],
    agents: usize,
}

impl<'a> PolicyView<'a> {
    /// Whether rules decide. One comparison.
    #[inline]
    #[must_use]
    pub fn has_rules(&self) -> bool {
        (self.kind as u8) < FIRST_WITHOUT_RULES
    }

    /// What the policy rests on.
    ///
    /// # Errors
    /// When the policy is damaged.
    pub fn source(&self) -> Result<PolicySource, FormatError> {
        source_of_kind(self.kind).ok_or_else(|| damaged(Section::Policies, "a kind of policy that this version knows"))
    }

    fn group(&self, index: u32) -> Result<Group, FormatError> {
        let at = self.agents * 8 + index as usize * 8;
        let group = || Some(Group { ruleset: u32_at(self.body, at)?, lines: u32_at(self.body, at + 4)? });
        group().ok_or_else(|| damaged(Section::Policies, "a group"))
    }

    /// The group for all agents that the file does not name.
    ///
    /// # Errors
    /// When the policy is damaged.
    pub fn others(&self) -> Result<Option<Group>, FormatError> {
        if self.others == NONE { Ok(None) } else { self.group(self.others).map(Some) }
    }

    /// The groups for an agent: its own, else that for all others. Mostly one; none for an agent without any;
    /// several where the rules of an agent's groups were too many to be merged for each agent anew.
    ///
    /// # Errors
    /// When the policy is damaged.
    #[inline]
    pub fn for_agent(&self, agent: Option<u32>) -> Result<AgentGroups<'_>, FormatError> {
        if let Some(agent) = agent
            && let Some(entry) = self.entry_of(agent)
        {
            let first = self.group_of_entry(entry).map(Some)?;
            return Ok(AgentGroups { policy: self, agent, next: entry + 1, first, index: self.group_index(entry) });
        }
        self.only(self.others)
    }

    /// The groups for an agent of several names: those of the first step, each a list of numbers, of which the file
    /// names any; else that for all others, if the agent honours it.
    ///
    /// A step of several numbers stands for one name in sets where names are contained in each other; of the
    /// groups of such a step the first decides alone.
    ///
    /// # Errors
    /// When the policy is damaged.
    pub fn for_steps(&self, steps: &[Box<[u32]>], honours_default_group: bool) -> Result<AgentGroups<'_>, FormatError> {
        for step in steps {
            if let [agent] = **step {
                if self.entry_of(agent).is_some() {
                    return self.for_agent(Some(agent));
                }
                continue;
            }
            let entries = step.iter().filter_map(|&agent| self.entry_of(agent));
            if let Some(group) = entries.map(|entry| self.group_index(entry)).min() {
                return self.only(group);
            }
        }
        self.only(if honours_default_group { self.others } else { NONE })
    }

    /// One group, or none if the index is [`NONE`].
    #[inline]
    fn only(&self, index: u32) -> Result<AgentGroups<'_>, FormatError> {
        let first = if index == NONE { None } else { Some(self.group(index)?) };
        Ok(AgentGroups { policy: self, agent: NONE, next: self.agents, first, index })
    }

    /// The first entry of an agent.
    #[inline]
    fn entry_of(&self, agent: u32) -> Option<usize> {
        let agents = self.body.get(..self.agents * 4).unwrap_or_default();
        if agents.is_empty() {
            return None;
        }
        let (mut low, mut high) = (0, self.agents);
        while low < high {
            let middle = low.midpoint(high);
            if u32_at(agents, middle * 4) < Some(agent) { low = middle + 1 } else { high = middle }
        }
        (u32_at(agents, low * 4) == Some(agent)).then_some(low)
    }

    fn group_index(&self, entry: usize) -> u32 {
        u32_at(self.body, self.agents * 4 + entry * 4).unwrap_or(NONE)
    }

    fn group_of_entry(&self, entry: usize) -> Result<Group, FormatError> {
        self.group(self.group_index(entry))
    }

    /// Reads all of the policy: its kind is known, its agents exist and are in order, its groups exist.
    ///
    /// # Errors
    /// When one does not.
    pub fn verify(&self, agents: u32) -> Result<(), FormatError> {
        let groups = (self.body.len() / 8 - self.agents) as u32;
        if self.source()?.verdict().is_some() && !(self.body.is_empty() && self.others == NONE) {
            return Err(damaged(Section::Policies, "no groups where no rules decide"));
        }
        let mut last = None;
        for (agent, group) in self.agents() {
            if agent >= agents || last >= Some((agent, group)) || group >= groups {
                return Err(damaged(Section::Policies, "agents in order, each with a group"));
            }
            last = Some((agent, group));
        }
        self.others().map(drop)
    }

    /// Every agent that the file names, with its group's index.
    pub fn agents(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let number = |index: usize| u32_at(self.body, index * 4).unwrap_or(NONE);
        (0..self.agents).map(move |index| (number(index), number(self.agents + index)))
    }

    /// The index of the group for all agents that the file does not name.
    #[must_use]
    pub fn default_group_index(&self) -> Option<u32> {
        Some(self.others).filter(|&index| index != NONE)
    }

    /// How many groups there are.
    #[must_use]
    pub fn group_count(&self) -> u32 {
        (self.body.len() / 8 - self.agents) as u32
    }

    /// Every group.
    ///
    /// # Errors
    /// When the policy is damaged.
    pub fn groups(&self) -> Result<Vec<Group>, FormatError> {
        (0..self.group_count()).map(|index| self.group(index)).collect()
    }
}

/// The groups of one agent.
#[derive(Clone, Copy)]
pub struct AgentGroups<'p> {
    policy: &'p PolicyView<'p>,
    agent: u32,
    next: usize,
    /// The first group, if there is any. Almost always the only one.
    pub first: Option<Group>,
    /// The index of the first group.
    index: u32,
}

impl AgentGroups<'_> {
    /// Whether there are more groups than the first.
    #[inline]
    #[must_use]
    pub fn has_more(&self) -> bool {
        self.next < self.policy.agents && u32_at(self.policy.body, self.next * 4) == Some(self.agent)
    }

    /// The indices of all of the groups.
    #[must_use]
    pub fn indices(mut self) -> Vec<u32> {
        let mut all: Vec<u32> = self.first.map(|_| self.index).into_iter().collect();
        while self.has_more() {
            all.push(self.policy.group_index(self.next));
            self.next += 1;
        }
        all
    }

    /// All of the groups.
    ///
    /// # Errors
    /// When the policy is damaged.
    pub fn all(mut self) -> Result<Vec<Group>, FormatError> {
        let mut all: Vec<Group> = self.first.into_iter().collect();
        while self.has_more() {
            all.push(self.policy.group_of_entry(self.next)?);
            self.next += 1;
        }
        Ok(all)
    }
}

/// Writes the index of rulesets: where each begins, and where the last one ends.
#[must_use]
pub fn write_index(sizes: impl Iterator<Item = usize>) -> Vec<u8> {
    let mut out = 0_u64.to_le_bytes().to_vec();
    let mut end = 0;
    for size in sizes {
        end += size as u64;
        out.extend_from_slice(&end.to_le_bytes());
    }
    out
}

/// The rulesets of a set.
#[derive(Clone, Copy)]
pub struct Rulesets<'a> {
    /// The section `index`.
    pub index: &'a [u8],
    /// The section `rulesets`.
    pub bytes: &'a [u8],
}

impl<'a> Rulesets<'a> {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> u32 {
        u32::try_from((self.index.len() / 8).saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of one of them.
    ///
    /// # Errors
    /// When there is none of that number.
    #[inline]
    pub fn get(&self, ruleset: u32) -> Result<&'a [u8], FormatError> {
        let bytes = || {
            let at = ruleset as usize * 8;
            let start = usize::try_from(u64_at(self.index, at)?).ok()?;
            self.bytes.get(start..usize::try_from(u64_at(self.index, at + 8)?).ok()?)
        };
        bytes().ok_or_else(|| damaged(Section::Index, "a ruleset"))
    }
}

/// Appends the line numbers of a group's rules, by rank, with as few bytes a number as the largest needs.
/// Returns where they begin.
///
/// # Errors
/// When the section takes 4 GiB or more.
pub fn push_lines(section: &mut Vec<u8>, lines: &[u32]) -> Result<u32, TooLarge> {
    let at = fit("bytes of line numbers", section.len(), NONE.into())?;
    let width = match lines.iter().max() {
        None | Some(0..=0xFF) => 1,
        Some(0x100..=0xFFFF) => 2,
        Some(_) => 4,
    };
    section.push(width as u8);
    for line in lines {
        section.extend_from_slice(&line.to_le_bytes()[..width]);
    }
    Ok(at)
}

/// The line of the rule at `rank` in a group whose line numbers begin at `at`; 0 if they were left out.
///
/// # Errors
/// When the section is damaged.
pub fn line_at(section: &[u8], at: u32, rank: u32) -> Result<u32, FormatError> {
    if at == NONE {
        return Ok(0);
    }
    let line = || {
        let lines = section.get(at as usize..)?;
        let width = usize::from(*lines.first()?);
        let line = lines.get(1 + rank as usize * width..)?.get(..width)?;
        match *line {
            [line] => Some(line.into()),
            [low, high] => Some(u16::from_le_bytes([low, high]).into()),
            [a, b, c, d] => Some(u32::from_le_bytes([a, b, c, d])),
            _ => None,
        }
    };
    line().ok_or_else(|| damaged(Section::Lines, "a line number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_comes_back_and_nothing_else_is_one() {
        let mut causes = vec![Cause::Redirects, Cause::Network, Cause::NotText, Cause::TooLarge];
        causes.extend(
            [0, 1, 404, u16::MAX].into_iter().flat_map(|number| [Cause::Status(number), Cause::Unreachable(number)]),
        );
        let bases = causes.iter().flat_map(|&cause| {
            [PolicySource::LastGoodCopy(cause), PolicySource::AllowAll(cause), PolicySource::DisallowAll(cause)]
        });
        let bases: Vec<PolicySource> = bases.chain([PolicySource::Rules]).collect();
        for &source in &bases {
            let draft = PolicyDraft { source, others: NONE, ..PolicyDraft::default() };
            let bytes = write_policies(&[draft]).unwrap();
            let view = Policies(&bytes).get(0).unwrap();
            view.verify(0).unwrap();
            assert_eq!(view.source().unwrap(), source);
            assert_eq!(view.has_rules(), source.verdict().is_none(), "{source:?}");
        }
        // Of all kinds with small numbers only those are known that a source has.
        let known = (0..=0x000F_FFFF).filter(|&kind| source_of_kind(kind).is_some());
        let mut count = 0;
        for kind in known {
            assert_eq!(source_of_kind(kind).map(kind_of_source), Some(kind));
            count += 1;
        }
        assert_eq!(count, 1 + 3 * (4 + 2 * 16));
    }

    #[test]
    fn what_no_rules_decide_has_no_groups() {
        let groups = vec![Group { ruleset: 0, lines: NONE }];
        for (source, others, fits) in [
            (PolicySource::Rules, 0, true),
            (PolicySource::LastGoodCopy(Cause::Network), 0, true),
            (PolicySource::AllowAll(Cause::Network), NONE, false),
            (PolicySource::DisallowAll(Cause::Network), 0, false),
        ] {
            let draft = PolicyDraft { source, agents: Vec::new(), others, groups: groups.clone() };
            let bytes = write_policies(&[draft]).unwrap();
            assert_eq!(Policies(&bytes).get(0).unwrap().verify(0).is_ok(), fits, "{source:?}");
        }
    }
}
