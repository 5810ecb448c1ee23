//! Putting a set together: equal things once, in an order that does not depend on the order of the input.

pub mod origin;

use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};
use std::io::{self, Write};

use bumpalo::Bump;
use reptile_engine::format::TooLarge;
use reptile_engine::format::container::{self, Section};
use reptile_engine::format::fields::{Directive, encode, write_fields};
use reptile_engine::format::tables::{
    Group, NONE, OriginRecord, PolicyDraft, push_lines, write_agents, write_index, write_origins, write_policies,
};
use reptile_engine::url::MAX_HOST_BYTES;
use reptile_engine::verdict::PolicySource;
use xxhash_rust::xxh3::xxh3_64;

use crate::automaton::{Strategy, compile};
use crate::body::directives::DirectiveReader;
use crate::body::{Diagnostic, Robots, is_html, parse, parse_with};
use crate::capture::{Capture, Captures, Decision, Discarded, KeptCapture, Outcome, Profile, Time};
use crate::dialect::Dialect;
use crate::limits::{MAX_BODY_BYTES, MAX_DISCARDED_LISTED};
use crate::rules::groups::{Assignment, assign};
use crate::rules::order::{OrderScratch, RuleList, order};
pub use crate::set::origin::OwnedOrigin;

/// One robots.txt, ready to be added to a set. Owns its memory.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The product tokens that it names, in lower case and in order, with the index of their group. A token that is
    /// there more than once has several groups, which decide together.
    pub tokens: Vec<(Box<[u8]>, u32)>,
    /// The index of the group for everybody else.
    pub others: Option<u32>,
    /// For each group its rules, and the line of each by rank.
    pub groups: Vec<(RuleList, Vec<u32>)>,
    /// Its other directives, as a set holds it.
    pub fields: Box<[u8]>,
    /// What was odd about the file.
    pub diagnostics: Vec<Diagnostic>,
    /// How many rules the file has, as written.
    pub rule_count: usize,
    /// A number that depends on the body alone. It settles which of two files counts where nothing else does.
    pub body_hash: u64,
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
pub fn prepare(body: &[u8], dialect: &Dialect, arena: &Bump) -> Result<Prepared, BodyTooLarge> {
    check_size(body)?;
    let mut fields = DirectiveReader::new(dialect, is_html(body));
    let mut left_out = Vec::new();
    let mut robots = parse_with(body, dialect, arena, |line| left_out.extend(fields.line(line)));
    if !left_out.is_empty() {
        robots.diagnostics.append(&mut left_out);
        robots.diagnostics.sort_by_key(|diagnostic| diagnostic.line);
    }
    Ok(prepared_from(body, robots, &fields.finish(), dialect, arena))
}

/// As [`prepare`], but leaves out the other directives: for verdicts alone it is not needed.
///
/// # Errors
/// As [`prepare`].
pub fn prepare_without_other(body: &[u8], dialect: &Dialect, arena: &Bump) -> Result<Prepared, BodyTooLarge> {
    check_size(body)?;
    Ok(prepared_from(body, parse(body, dialect, arena), &[], dialect, arena))
}

fn check_size(body: &[u8]) -> Result<(), BodyTooLarge> {
    if body.len() > MAX_BODY_BYTES { Err(BodyTooLarge { found: body.len() }) } else { Ok(()) }
}

fn prepared_from<'b>(
    body: &[u8],
    robots: Robots<'b>,
    fields: &[Directive<'b>],
    dialect: &Dialect,
    arena: &'b Bump,
) -> Prepared {
    let assignment = assign(&robots, dialect, arena);
    let mut scratch = OrderScratch::default();
    Prepared {
        tokens: assignment.tokens.iter().map(|&(token, list)| (token.into(), list)).collect(),
        others: assignment.default_group,
        groups: assignment.lists.iter().map(|list| order(list, dialect, arena, &mut scratch)).collect(),
        fields: other_directives(fields, &assignment),
        diagnostics: robots.diagnostics,
        rule_count: robots.groups.iter().map(|group| group.rules.len()).sum(),
        body_hash: xxh3_64(body),
    }
}

/// The other directives of a file as a set holds it. Which of the file's groups each list of rules has is kept for those
/// groups alone that have any.
fn other_directives(fields: &[Directive<'_>], assignment: &Assignment<'_>) -> Box<[u8]> {
    if fields.is_empty() {
        return Box::default();
    }
    let with_fields: HashSet<u32> = fields.iter().filter_map(|field| field.part).collect();
    let mut parts = Vec::new();
    for (list, index) in assignment.lists.iter().zip(0..) {
        parts.extend(list.groups.iter().filter(|group| with_fields.contains(group)).map(|&group| (index, group)));
    }
    // Nothing that the reader lets through is too large for the format.
    encode(&parts, fields).map(Vec::into_boxed_slice).unwrap_or_default()
}

/// Why a capture cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadCapture {
    /// Its body is over a limit.
    TooLarge(BodyTooLarge),
    /// It should have a body, and has none.
    NoBody,
}

impl std::fmt::Display for BadCapture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BadCapture::TooLarge(error) => error.fmt(f),
            BadCapture::NoBody => f.write_str("no body"),
        }
    }
}

impl std::error::Error for BadCapture {}

/// What a capture comes to by itself, and its rules where they are to be used, which `read` is to read: [`prepare`], or
/// [`prepare_without_other`]. Pure, if `read` is.
///
/// # Errors
/// When its rules are to be used and there is no body, or too large a one. The answers 204 and 205 need none.
pub fn prepare_capture(
    capture: &Capture,
    body: Option<&[u8]>,
    profile: &Profile,
    read: impl FnOnce(&[u8]) -> Result<Prepared, BodyTooLarge>,
) -> Result<(Outcome, Option<Prepared>), BadCapture> {
    let outcome = profile.outcome(capture, body.unwrap_or_default());
    if outcome != Outcome::Use {
        return Ok((outcome, None));
    }
    let may_lack_body = matches!(capture.status, Some(204 | 205));
    let body = body.or(may_lack_body.then_some(&[])).ok_or(BadCapture::NoBody)?;
    let made = read(&profile.readable(capture, body)).map_err(BadCapture::TooLarge)?;
    Ok((outcome, Some(made)))
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

    /// The things in their own order, and for each number by which they were known the place in that order. Leaves
    /// out those that are not used.
    fn into_sorted(self, is_used: impl Fn(u32) -> bool) -> (Vec<T>, Vec<u32>) {
        let mut place_of = vec![NONE; self.numbers.len()];
        let mut things: Vec<(T, u32)> = self.numbers.into_iter().filter(|&(_, number)| is_used(number)).collect();
        things.sort_unstable();
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
    profile: &'static Profile,
    /// The time that the set is for.
    at: Option<Time>,
    /// The latest time of any capture.
    newest: Option<Time>,
    report: CaptureReport,
    tokens: Interner<Box<[u8]>>,
    lists: Interner<RuleList>,
    lines: Interner<Box<[u32]>>,
    /// Policies in terms of the numbers above; the `lines` of a group are a number here, not yet an offset.
    policies: Interner<PolicyKey>,
    fields: Interner<Box<[u8]>>,
    origins: HashMap<OwnedOrigin, Captures>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct PolicyKey {
    agents: Vec<(u32, u32)>,
    others: u32,
    groups: Vec<(u32, u32)>,
    fields: Option<u32>,
}

impl SetBuilder {
    /// A builder of a set under one dialect, with the fetch profile that goes with it, for the time of the newest
    /// capture.
    #[must_use]
    pub fn new(dialect: &'static Dialect) -> SetBuilder {
        SetBuilder::with_profile(dialect, Profile::of_dialect(dialect), None)
    }

    /// A builder of a set under one dialect and one fetch profile, for a time: captures from behind it do not count.
    /// Without one it is that of the newest capture.
    #[must_use]
    pub fn with_profile(dialect: &'static Dialect, profile: &'static Profile, at: Option<Time>) -> SetBuilder {
        SetBuilder {
            dialect,
            profile,
            at,
            newest: None,
            report: CaptureReport::default(),
            tokens: Interner::new(),
            lists: Interner::new(),
            lines: Interner::new(),
            policies: Interner::new(),
            fields: Interner::new(),
            origins: HashMap::new(),
        }
    }

    /// Adds a file that was fetched well, at a time that is not known, for some origins. Returns how many of them had
    /// one already. Of two files without a time one counts, whichever comes first.
    ///
    /// A host that is longer than [`MAX_HOST_BYTES`] can be in no URL and is left out.
    pub fn add(&mut self, origins: impl IntoIterator<Item = OwnedOrigin>, record: Prepared) -> usize {
        self.add_capture(origins, &Capture::default(), Outcome::Use, Some(record))
    }

    /// Adds a capture for some origins, with what [`prepare_capture`] made of it. Returns how many captures are discarded for
    /// it, itself included.
    pub fn add_capture(
        &mut self,
        origins: impl IntoIterator<Item = OwnedOrigin>,
        capture: &Capture,
        outcome: Outcome,
        record: Option<Prepared>,
    ) -> usize {
        let is_too_late = capture.time.is_some_and(|time| self.at.is_some_and(|at| time > at));
        self.newest = self.newest.max(capture.time);
        let body_hash = record.as_ref().map_or(0, |record| record.body_hash);
        let rules = record.filter(|_| !is_too_late).map_or(NONE, |record| self.number(record));
        let max_age = capture.max_age.map(|age| u32::try_from(age).unwrap_or(u32::MAX));
        let Capture { time, status, .. } = *capture;
        let kept = KeptCapture { time, outcome, body_hash, max_age, status, rules };
        let mut discarded = 0;
        for origin in origins.into_iter().filter(|origin| origin.host.len() <= MAX_HOST_BYTES) {
            if is_too_late {
                self.report.discard(&origin, &kept, Discarded::TooLate);
                discarded += 1;
                continue;
            }
            let dropped = match self.origins.get_mut(&origin) {
                Some(captures) => captures.add(kept),
                None => self.origins.entry(origin.clone()).or_default().add(kept),
            };
            for kept in dropped.iter().flatten() {
                self.report.discard(&origin, kept, Discarded::Superseded);
                discarded += 1;
            }
        }
        discarded
    }

    /// The number of a record's rules.
    fn number(&mut self, record: Prepared) -> u32 {
        self.tokens.numbers.reserve(record.tokens.len());
        self.lists.numbers.reserve(record.groups.len());
        self.lines.numbers.reserve(record.groups.len());
        let agents = record.tokens.into_iter().map(|(token, group)| (self.tokens.number(token), group)).collect();
        let groups = record.groups.into_iter();
        let groups = groups.map(|(list, lines)| (self.lists.number(list), self.lines.number(lines.into())));
        let fields = (!record.fields.is_empty()).then(|| self.fields.number(record.fields));
        let key = PolicyKey { agents, others: record.others.unwrap_or(NONE), groups: groups.collect(), fields };
        self.policies.number(key)
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
        let at = self.at.or(self.newest);
        let mut report = CaptureReport { at, ..self.report };
        let mut decided: Vec<(&OwnedOrigin, PolicySource, Option<u32>)> = Vec::with_capacity(self.origins.len());
        for (origin, captures) in &self.origins {
            let Some(decision) = captures.decide(self.profile, at) else { continue };
            let Decision { source, rules, is_stale, discarded } = decision;
            report.stale += u64::from(is_stale);
            *report.origins.entry(source).or_default() += 1;
            if let Some((kept, why)) = discarded {
                report.discard(origin, &kept, why);
            }
            decided.push((origin, source, rules));
        }

        // What only discarded captures have is not in the set.
        let mut keys: Vec<(PolicyKey, u32)> = self.policies.numbers.into_iter().collect();
        keys.sort_unstable_by_key(|&(_, number)| number);
        let mut used = Used {
            policies: vec![false; keys.len()],
            tokens: vec![false; self.tokens.numbers.len()],
            lists: vec![false; self.lists.numbers.len()],
            lines: vec![false; self.lines.numbers.len()],
            fields: vec![false; self.fields.numbers.len()],
        };
        for &(_, _, rules) in &decided {
            if let Some((key, number)) = rules.and_then(|rules| keys.get(rules as usize)) {
                used.mark(key, *number);
            }
        }
        let (tokens, token_place) = self.tokens.into_sorted(|number| used.tokens[number as usize]);
        let (lists, list_place) = self.lists.into_sorted(|number| used.lists[number as usize]);
        let (lines, lines_place) = self.lines.into_sorted(|number| used.lines[number as usize]);
        let (fields, fields_place) = self.fields.into_sorted(|number| used.fields[number as usize]);
        let automata = compile_all(&lists)?;

        let mut lines_section = Vec::new();
        let mut lines_at = Vec::with_capacity(lines.len());
        for lines in &lines {
            lines_at.push(push_lines(&mut lines_section, lines)?);
        }
        let draft_of = |source: PolicySource, rules: Option<u32>| {
            let Some((key, _)) = rules.and_then(|rules| keys.get(rules as usize)) else {
                return (PolicyDraft { source, others: NONE, ..PolicyDraft::default() }, None);
            };
            let place = |&(token, group): &(u32, u32)| (token_place[token as usize], group);
            let mut agents: Vec<(u32, u32)> = key.agents.iter().map(place).collect();
            agents.sort_unstable();
            let group = |&(list, lines): &(u32, u32)| Group {
                ruleset: list_place[list as usize],
                lines: lines_at[lines_place[lines as usize] as usize],
            };
            let groups = key.groups.iter().map(group).collect();
            let fields = key.fields.map(|number| fields_place[number as usize]);
            (PolicyDraft { source, agents, others: key.others, groups }, fields)
        };
        // The same policy may be known under two keys that differ in the order of their numbers only.
        let mut drafts: Interner<(PolicyDraft, Option<u32>)> = Interner::new();
        let mut known: HashMap<(PolicySource, Option<u32>), u32> = HashMap::new();
        let mut number_of =
            |source, rules| *known.entry((source, rules)).or_insert_with(|| drafts.number(draft_of(source, rules)));
        let numbers: Vec<u32> = decided.iter().map(|&(_, source, rules)| number_of(source, rules)).collect();
        let (policies, policy_place) = drafts.into_sorted(|_| true);
        let (policies, fields_of): (Vec<PolicyDraft>, Vec<Option<u32>>) = policies.into_iter().unzip();
        let origins: Vec<OriginRecord<'_>> = decided
            .iter()
            .zip(numbers)
            .map(|(&(origin, ..), number)| OriginRecord {
                host: &origin.host,
                scheme: origin.scheme,
                port: origin.port,
                policy: policy_place[number as usize],
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
        sections[Section::Rulesets as usize] = concat(automata);
        sections[Section::Lines as usize] = lines_section;
        sections[Section::Other as usize] = write_fields(&fields, &fields_of)?;
        Ok(CompiledSet { dialect: self.dialect, sections, report })
    }
}

/// All bytes one behind the other. Each is given back as soon as it is copied, and the first is not copied.
fn concat(all: Vec<Vec<u8>>) -> Vec<u8> {
    let size = all.iter().map(Vec::len).sum::<usize>();
    let mut all = all.into_iter();
    let mut joined = all.next().unwrap_or_default();
    joined.reserve_exact(size - joined.len());
    all.for_each(|bytes| joined.extend_from_slice(&bytes));
    joined
}

/// Which policies are in the set, and which tokens, lists, lines and other directives those need.
struct Used {
    policies: Vec<bool>,
    tokens: Vec<bool>,
    lists: Vec<bool>,
    lines: Vec<bool>,
    fields: Vec<bool>,
}

impl Used {
    fn mark(&mut self, key: &PolicyKey, number: u32) {
        if std::mem::replace(&mut self.policies[number as usize], true) {
            return;
        }
        key.agents.iter().for_each(|&(token, _)| self.tokens[token as usize] = true);
        for &(list, lines) in &key.groups {
            self.lists[list as usize] = true;
            self.lines[lines as usize] = true;
        }
        key.fields.iter().for_each(|&fields| self.fields[fields as usize] = true);
    }
}

/// What became of the captures. Does not depend on their order.
#[derive(Clone, Debug, Default)]
pub struct CaptureReport {
    /// The time that the set is for, if one was given or any capture has one.
    pub at: Option<Time>,
    /// How many origins there are by what holds for them.
    pub origins: BTreeMap<PolicySource, u64>,
    /// Origins for which an answer counts that is no longer fresh at the time of the set.
    pub stale: u64,
    /// How many captures do not count, by reason. One that stands for several origins is counted for each.
    pub discarded: BTreeMap<Discarded, u64>,
    listed: BinaryHeap<DiscardedCapture>,
}

/// A capture that does not count.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DiscardedCapture {
    /// Whose it was.
    pub origin: OwnedOrigin,
    /// When it was fetched.
    pub time: Option<Time>,
    /// The status that it came with.
    pub status: Option<u16>,
    /// Why it does not count.
    pub why: Discarded,
}

impl CaptureReport {
    fn discard(&mut self, origin: &OwnedOrigin, kept: &KeptCapture, why: Discarded) {
        *self.discarded.entry(why).or_default() += 1;
        let entry = DiscardedCapture { origin: origin.clone(), time: kept.time, status: kept.status, why };
        self.listed.push(entry);
        // The last in their order goes, so that those that stay do not depend on the order of input.
        if self.listed.len() > MAX_DISCARDED_LISTED {
            self.listed.pop();
        }
    }

    /// The discarded captures, by origin and time; the first [`MAX_DISCARDED_LISTED`] of them.
    #[must_use]
    pub fn listed(&self) -> Vec<DiscardedCapture> {
        self.listed.clone().into_sorted_vec()
    }
}

/// A set that only has to be written.
pub struct CompiledSet {
    dialect: &'static Dialect,
    sections: [Vec<u8>; Section::COUNT],
    report: CaptureReport,
}

impl CompiledSet {
    /// What became of the captures that it was made from.
    #[must_use]
    pub fn report(&self) -> &CaptureReport {
        &self.report
    }

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
        let mut bytes = Vec::with_capacity(container::size_of(&self.sections));
        // Writing to a vector cannot fail.
        let _ = self.write(&mut bytes);
        bytes
    }
}
