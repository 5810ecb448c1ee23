//! Putting a set together: equal things once, in an order that does not depend on the order of the input.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use bumpalo::Bump;
use reptile_engine::format::TooLarge;
use reptile_engine::format::container::{self, Section};
use reptile_engine::format::fields::{encode, write_fields};
use reptile_engine::format::tables::{
    Group, NONE, OriginEntry, PolicyDraft, push_lines, write_agents, write_index, write_origins, write_policies,
};
use reptile_engine::url::{MAX_HOST_BYTES, Scheme};

use crate::agents::{Assignment, assign};
use crate::automaton::{Strategy, compile};
use crate::dialect::Dialect;
use crate::fields;
use crate::limits::MAX_BODY_BYTES;
use crate::robots::{Diagnostic, Oddity, RawField, Robots, parse, parse_with};
use crate::rules::{RuleList, order};

/// One robots.txt, ready to be added to a set. Owns its memory.
#[derive(Clone, Debug)]
pub struct Record {
    /// The product tokens that it names, in lower case and in order, with the index of their group. A token that is
    /// there more than once has several groups, which decide together.
    pub tokens: Vec<(Box<[u8]>, u32)>,
    /// The index of the group for everybody else.
    pub others: Option<u32>,
    /// For each group its rules, and the line of each by rank.
    pub groups: Vec<(RuleList, Vec<u32>)>,
    /// Its side data, as a set holds it.
    pub fields: Box<[u8]>,
    /// What was odd about the file.
    pub diagnostics: Vec<Diagnostic>,
    /// How many rules the file has, as written.
    pub rule_count: usize,
}

/// A robots.txt that is over a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyTooLarge {
    /// How many bytes it has.
    pub found: usize,
}

impl std::fmt::Display for BodyTooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "robots.txt has {} bytes, over the limit of {MAX_BODY_BYTES}", self.found)
    }
}

impl std::error::Error for BodyTooLarge {}

/// Reads one robots.txt. A pure function of its arguments; call it from any number of threads, with an arena
/// for each, and [`Bump::reset`] between the calls.
///
/// # Errors
/// When the body is longer than [`MAX_BODY_BYTES`].
pub fn record(body: &[u8], dialect: &Dialect, arena: &Bump) -> Result<Record, BodyTooLarge> {
    check_size(body)?;
    let mut lines = Vec::new();
    let robots = parse_with(body, dialect, arena, |field| lines.push(field));
    Ok(record_of(&robots, dialect, arena, &lines))
}

/// As [`record`], but leaves out the side data: for verdicts alone it is not needed.
///
/// # Errors
/// As [`record`].
pub fn record_without_side_data(body: &[u8], dialect: &Dialect, arena: &Bump) -> Result<Record, BodyTooLarge> {
    check_size(body)?;
    Ok(record_of(&parse(body, dialect, arena), dialect, arena, &[]))
}

fn check_size(body: &[u8]) -> Result<(), BodyTooLarge> {
    if body.len() > MAX_BODY_BYTES { Err(BodyTooLarge { found: body.len() }) } else { Ok(()) }
}

fn record_of<'b>(robots: &Robots<'b>, dialect: &Dialect, arena: &'b Bump, lines: &[RawField<'b>]) -> Record {
    let assignment = assign(robots, dialect, arena);
    let mut diagnostics = robots.diagnostics.to_vec();
    let fields = side_data(lines, &assignment, dialect, &mut diagnostics);
    Record {
        tokens: assignment.tokens.iter().map(|&(token, list)| (token.into(), list)).collect(),
        others: assignment.others,
        groups: assignment.lists.iter().map(|list| order(list, dialect, arena)).collect(),
        fields,
        diagnostics,
        rule_count: robots.groups.iter().map(|group| group.rules.len()).sum(),
    }
}

/// The side data of a file as a set holds it. Which of the file's groups each list of rules has is kept for those
/// groups alone that have any.
fn side_data(
    lines: &[RawField<'_>],
    assignment: &Assignment<'_>,
    dialect: &Dialect,
    diagnostics: &mut Vec<Diagnostic>,
) -> Box<[u8]> {
    if lines.is_empty() {
        return Box::default();
    }
    let is_html = diagnostics.iter().any(|diagnostic| diagnostic.oddity == Oddity::Html);
    let before = diagnostics.len();
    let fields = fields::read(lines, dialect, is_html, &mut |diagnostic| diagnostics.push(diagnostic));
    if diagnostics.len() > before {
        diagnostics.sort_by_key(|diagnostic| diagnostic.line);
    }
    let with_fields: HashSet<u32> = fields.iter().filter_map(|field| field.part).collect();
    let mut parts = Vec::new();
    for (list, index) in assignment.lists.iter().zip(0..) {
        parts.extend(list.groups.iter().filter(|group| with_fields.contains(group)).map(|&group| (index, group)));
    }
    // Nothing that `read` lets through is too large for the format.
    encode(&parts, &fields).map(Vec::into_boxed_slice).unwrap_or_default()
}

/// An origin that a record is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OriginKey {
    /// The host, in lower case.
    pub host: Box<[u8]>,
    /// The scheme.
    pub scheme: Scheme,
    /// The port.
    pub port: u16,
}

/// Numbers things in the order in which they first come.
struct Interner<T> {
    numbers: HashMap<T, u32>,
}

impl<T: Clone + Eq + std::hash::Hash + Ord> Interner<T> {
    fn new() -> Self {
        Interner { numbers: HashMap::new() }
    }

    fn number(&mut self, thing: T) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(thing).or_insert(next)
    }

    /// The things in their own order, and for each number by which they were known the place in that order.
    fn into_sorted(self) -> (Vec<T>, Vec<u32>) {
        let mut things: Vec<(T, u32)> = self.numbers.into_iter().collect();
        things.sort_unstable();
        let mut place_of = vec![0; things.len()];
        for (place, &(_, number)) in (0..).zip(&things) {
            place_of[number as usize] = place;
        }
        (things.into_iter().map(|(thing, _)| thing).collect(), place_of)
    }
}

/// Collects records and writes them as a set.
///
/// Memory: the rules, lines and names of what is distinct, about as much as the set itself.
pub struct SetBuilder {
    dialect: &'static Dialect,
    tokens: Interner<Box<[u8]>>,
    lists: Interner<RuleList>,
    lines: Interner<Vec<u32>>,
    /// Policies in terms of the numbers above; the `lines` of a group are a number here, not yet an offset.
    policies: Interner<PolicyKey>,
    fields: Interner<Box<[u8]>>,
    origins: HashMap<OriginKey, u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct PolicyKey {
    agents: Vec<(u32, u32)>,
    others: u32,
    groups: Vec<(u32, u32)>,
    fields: Option<u32>,
}

impl SetBuilder {
    /// A builder of a set under one dialect.
    #[must_use]
    pub fn new(dialect: &'static Dialect) -> SetBuilder {
        SetBuilder {
            dialect,
            tokens: Interner::new(),
            lists: Interner::new(),
            lines: Interner::new(),
            policies: Interner::new(),
            fields: Interner::new(),
            origins: HashMap::new(),
        }
    }

    /// Adds a record for some origins. Returns how many of them had one already, which this one replaces.
    ///
    /// A host that is longer than [`MAX_HOST_BYTES`] can be in no URL and is left out.
    pub fn add(&mut self, origins: impl IntoIterator<Item = OriginKey>, record: Record) -> usize {
        let agents = record.tokens.into_iter().map(|(token, group)| (self.tokens.number(token), group)).collect();
        let groups = record.groups.into_iter().map(|(list, lines)| (self.lists.number(list), self.lines.number(lines)));
        let fields = (!record.fields.is_empty()).then(|| self.fields.number(record.fields));
        let key = PolicyKey { agents, others: record.others.unwrap_or(NONE), groups: groups.collect(), fields };
        let policy = self.policies.number(key);
        let fitting = origins.into_iter().filter(|origin| origin.host.len() <= MAX_HOST_BYTES);
        fitting.filter(|origin| self.origins.insert(origin.clone(), policy).is_some()).count()
    }

    /// Writes nothing yet, but compiles every distinct ruleset, on this thread.
    ///
    /// # Errors
    /// When something is too large for the format.
    pub fn finish(self, strategy: Strategy) -> Result<CompiledSet, TooLarge> {
        let mut arena = Bump::new();
        self.finish_with(|lists| {
            let compiled = lists.iter().map(|list| {
                arena.reset();
                compile(list, strategy, &arena)
            });
            compiled.collect()
        })
    }

    /// As [`SetBuilder::finish`], but leaves it to `compile_all` to compile the lists, each with
    /// [`compile`] and in their order; this crate starts no threads.
    ///
    /// # Errors
    /// Those of `compile_all`, and when something is too large for the format.
    pub fn finish_with(
        self,
        compile_all: impl FnOnce(&[RuleList]) -> Result<Vec<Vec<u8>>, TooLarge>,
    ) -> Result<CompiledSet, TooLarge> {
        let (tokens, token_place) = self.tokens.into_sorted();
        let (lists, list_place) = self.lists.into_sorted();
        let (lines, lines_place) = self.lines.into_sorted();
        let (fields, fields_place) = self.fields.into_sorted();
        let automata = compile_all(&lists)?;

        let mut lines_section = Vec::new();
        let mut lines_at = Vec::with_capacity(lines.len());
        for lines in &lines {
            lines_at.push(push_lines(&mut lines_section, lines)?);
        }
        // The same policy may be known under two keys that differ in the order of their numbers only.
        let mut drafts: Interner<(PolicyDraft, Option<u32>)> = Interner::new();
        let mut keys: Vec<(PolicyKey, u32)> = self.policies.numbers.into_iter().collect();
        keys.sort_unstable_by_key(|&(_, number)| number);
        let draft_of: Vec<u32> = keys
            .into_iter()
            .map(|(key, _)| {
                let mut agents: Vec<(u32, u32)> =
                    key.agents.iter().map(|&(token, group)| (token_place[token as usize], group)).collect();
                agents.sort_unstable();
                let group = |&(list, lines): &(u32, u32)| Group {
                    ruleset: list_place[list as usize],
                    lines: lines_at[lines_place[lines as usize] as usize],
                };
                let groups = key.groups.iter().map(group).collect();
                let fields = key.fields.map(|number| fields_place[number as usize]);
                drafts.number((PolicyDraft { agents, others: key.others, groups }, fields))
            })
            .collect();
        let (policies, policy_place) = drafts.into_sorted();
        let (policies, fields_of): (Vec<PolicyDraft>, Vec<Option<u32>>) = policies.into_iter().unzip();
        let origins: Vec<OriginEntry<'_>> = self
            .origins
            .iter()
            .map(|(origin, &policy)| OriginEntry {
                host: &origin.host,
                scheme: origin.scheme,
                port: origin.port,
                policy: policy_place[draft_of[policy as usize] as usize],
            })
            .collect();

        let mut sections: [Vec<u8>; Section::COUNT] = Default::default();
        sections[Section::Dialect as usize] = self.dialect.name.as_bytes().to_vec();
        sections[Section::Agents as usize] = write_agents(&tokens.iter().map(|token| &**token).collect::<Vec<_>>())?;
        let [buckets, records, hosts] = write_origins(&origins)?;
        sections[Section::Buckets as usize] = buckets;
        sections[Section::Origins as usize] = records;
        sections[Section::Hosts as usize] = hosts;
        sections[Section::Policies as usize] = write_policies(&policies)?;
        sections[Section::Index as usize] = write_index(automata.iter().map(Vec::len));
        sections[Section::Rulesets as usize] = automata.concat();
        sections[Section::Lines as usize] = lines_section;
        sections[Section::Fields as usize] = write_fields(&fields, &fields_of)?;
        Ok(CompiledSet { dialect: self.dialect, sections })
    }
}

/// A set that only has to be written.
pub struct CompiledSet {
    dialect: &'static Dialect,
    sections: [Vec<u8>; Section::COUNT],
}

impl CompiledSet {
    /// Writes the set, front to back.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let Dialect { normal_form, name_matching, .. } = self.dialect;
        container::write(out, normal_form.number(), name_matching.number(), &self.sections)
    }

    /// The set as bytes, to be opened with [`reptile_engine::set::Set::from_bytes`].
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Writing to a vector cannot fail.
        let _ = self.write(&mut bytes);
        bytes
    }
}
