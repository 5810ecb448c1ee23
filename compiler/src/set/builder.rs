//! Collects prepared files and captures, and compiles them to a set.

use std::collections::HashMap;
use std::hash::Hash;
use std::io::{self, Write};

use bumpalo::Bump;
use reptile_engine::format::captures::CaptureHistory;
use reptile_engine::format::container::{self, Header, Sections};
use reptile_engine::format::draft::SetDraft;
use reptile_engine::format::origins::OriginRecord;
use reptile_engine::format::policies::{Group, PolicyDraft};
use reptile_engine::format::{NONE, TooLarge};
use reptile_engine::url::MAX_HOST_BYTES;
use reptile_engine::verdict::PolicySource;

use crate::automaton::{Strategy, compile};
use crate::capture::{Capture, Captures, Decision, Discarded, KeptCapture, Outcome, Profile, Time};
use crate::dialect::Dialect;
use crate::rules::order::RuleList;
use crate::set::{CaptureReport, OwnedOrigin, Prepared, crawler_table};

/// Numbers values in the order in which they are first seen.
struct Interner<T> {
    numbers: HashMap<T, u32>,
}

impl<T: Eq + Hash> Interner<T> {
    fn new() -> Self {
        Interner { numbers: HashMap::new() }
    }

    fn number(&mut self, thing: T) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(thing).or_insert(next)
    }

    /// The values in the order of their numbers.
    fn into_things(self) -> Vec<T> {
        let mut things: Vec<(T, u32)> = self.numbers.into_iter().collect();
        things.sort_unstable_by_key(|&(_, number)| number);
        things.into_iter().map(|(thing, _)| thing).collect()
    }
}

/// Collects prepared files and captures, and compiles them to a set. The set depends on what was added, not on its
/// order.
///
/// Memory: the distinct rules, lines and names, about as much as the set itself.
pub struct SetBuilder {
    dialect: Dialect,
    profile: Profile,
    /// The time that the set is made for.
    at: Option<Time>,
    /// Whether the set is to have line numbers.
    keeps_lines: bool,
    /// The latest time of any capture.
    newest: Option<Time>,
    report: CaptureReport,
    tokens: Interner<Box<[u8]>>,
    lists: Interner<RuleList>,
    lines: Interner<Box<[u32]>>,
    other: Interner<Box<[u8]>>,
    files: Interner<File>,
    origins: HashMap<OwnedOrigin, Captures>,
}

/// The content of one robots.txt, as numbers of the builder's interners.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct File {
    /// Product tokens, each with the index of its group.
    tokens: Vec<(u32, u32)>,
    default_group: Option<u32>,
    /// For each group, its list of rules and their lines.
    groups: Vec<(u32, u32)>,
    other: Option<u32>,
}

impl SetBuilder {
    /// A builder of a set under one dialect, with the dialect's own fetch profile, for the time of the newest capture.
    #[must_use]
    pub fn new(dialect: &Dialect) -> SetBuilder {
        SetBuilder::with_profile(dialect, Profile::of_dialect(dialect), None)
    }

    /// A builder of a set under one dialect and one fetch profile, for a time: later captures do not count. If no time
    /// is given, it is the time of the newest capture.
    #[must_use]
    pub fn with_profile(dialect: &Dialect, profile: &Profile, at: Option<Time>) -> SetBuilder {
        SetBuilder {
            dialect: dialect.clone(),
            profile: profile.clone(),
            at,
            keeps_lines: true,
            newest: None,
            report: CaptureReport::default(),
            tokens: Interner::new(),
            lists: Interner::new(),
            lines: Interner::new(),
            other: Interner::new(),
            files: Interner::new(),
            origins: HashMap::new(),
        }
    }

    /// Sets whether the set keeps the line of each rule, which verdicts do not need. The default is to keep them.
    #[must_use]
    pub fn line_numbers(mut self, keep: bool) -> SetBuilder {
        self.keeps_lines = keep;
        self
    }

    /// Adds a file that was fetched successfully, at an unknown time, for some origins. Returns how many of them had
    /// such a file already. Of two files without a time one counts, regardless of their order.
    ///
    /// A host that is longer than [`MAX_HOST_BYTES`] cannot occur in a URL and is left out.
    pub fn add(&mut self, origins: impl IntoIterator<Item = OwnedOrigin>, record: Prepared) -> usize {
        self.add_capture(origins, &Capture::default(), Outcome::Use, Some(record))
    }

    /// Adds a capture for some origins, as [`prepare_capture`](crate::set::prepare_capture) returned it. Returns how
    /// many captures are discarded because of it, itself included.
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

    /// The number of a file's content.
    fn number(&mut self, record: Prepared) -> u32 {
        self.tokens.numbers.reserve(record.tokens.len());
        self.lists.numbers.reserve(record.groups.len());
        self.lines.numbers.reserve(record.groups.len());
        let tokens = record.tokens.into_iter().map(|(token, group)| (self.tokens.number(token), group));
        let mut tokens: Vec<(u32, u32)> = tokens.collect();
        tokens.sort_unstable();
        let mut lines_of = |lines: Vec<u32>| if self.keeps_lines { self.lines.number(lines.into()) } else { NONE };
        let groups = record.groups.into_iter();
        let groups = groups.map(|(list, lines)| (self.lists.number(list), lines_of(lines))).collect();
        let other = (!record.other.is_empty()).then(|| self.other.number(record.other));
        self.files.number(File { tokens, default_group: record.default_group, groups, other })
    }

    /// Compiles every distinct ruleset, on this thread. Writes nothing yet.
    ///
    /// # Errors
    /// When something is too large for the format.
    pub fn finish(self, strategy: Strategy) -> Result<CompiledSet, TooLarge> {
        let mut arena = Bump::new();
        self.finish_with(strategy, |lists| {
            let compiled = lists.iter().map(|list| {
                arena.reset();
                compile(list, strategy, &arena)
            });
            compiled.collect()
        })
    }

    /// Does the work of [`SetBuilder::finish`], but `compile_all` compiles the lists, each with [`compile`] by this
    /// strategy and in their order; this crate starts no threads.
    ///
    /// # Errors
    /// The errors of `compile_all`, and when something is too large for the format.
    pub fn finish_with(
        self,
        strategy: Strategy,
        compile_all: impl FnOnce(&[RuleList]) -> Result<Vec<Vec<u8>>, TooLarge>,
    ) -> Result<CompiledSet, TooLarge> {
        let at = self.at.or(self.newest);
        let mut report = CaptureReport { at, ..self.report };
        let mut content = Content::new(self.files.into_things());
        for (origin, captures) in &self.origins {
            let Some(decision) = captures.decide(&self.profile, at) else { continue };
            report.stale += u64::from(decision.is_stale);
            *report.origins.entry(decision.source).or_default() += 1;
            if let Some((kept, why)) = decision.discarded {
                report.discard(origin, &kept, why);
            }
            content.add(origin, &decision, captures.stored(&decision));
        }
        let (lists, list_places) = used_lists(self.lists, &content.files, &content.is_file_used);
        let rulesets = compile_all(&lists)?;
        drop(lists);
        let (tokens, lines, other) = (self.tokens.into_things(), self.lines.into_things(), self.other.into_things());
        let header = Header {
            normal_form: self.dialect.normal_form.number(),
            name_matching: self.dialect.name_matching.number(),
            automata_form: strategy.form(),
        };
        let draft = SetDraft {
            header,
            reading: self.profile.reading(&self.dialect.name, at),
            crawlers: crawler_table(&self.dialect),
            tokens: tokens.iter().map(|token| &**token).collect(),
            rulesets,
            lines: lines.iter().map(|lines| (&**lines).into()).collect(),
            other: other.iter().map(|other| &**other).collect(),
            policies: content.policies(&list_places),
            captures: content.histories.into_things(),
            origins: content.origins,
        };
        Ok(CompiledSet { header, sections: draft.write()?, report })
    }
}

/// The distinct lists of rules of the set's files, sorted, and for each number of the interner the list's index there.
fn used_lists(lists: Interner<RuleList>, files: &[File], is_file_used: &[bool]) -> (Vec<RuleList>, Vec<u32>) {
    let mut is_used = vec![false; lists.numbers.len()];
    for (file, _) in files.iter().zip(is_file_used).filter(|(_, is_used)| **is_used) {
        file.groups.iter().for_each(|&(list, _)| is_used[list as usize] = true);
    }
    let mut place_of = vec![NONE; is_used.len()];
    let mut lists: Vec<(RuleList, u32)> =
        lists.numbers.into_iter().filter(|&(_, number)| is_used[number as usize]).collect();
    lists.sort_unstable();
    for (place, &(_, number)) in (0..).zip(&lists) {
        place_of[number as usize] = place;
    }
    (lists.into_iter().map(|(list, _)| list).collect(), place_of)
}

/// The content of a set while it is collected from the origins.
struct Content<'a> {
    files: Vec<File>,
    /// Whether the set contains each file: not if only discarded captures have it.
    is_file_used: Vec<bool>,
    /// The distinct policies: the policy source of each, and the number of its file if rules decide.
    policies: Interner<(PolicySource, Option<u32>)>,
    histories: Interner<CaptureHistory>,
    origins: Vec<OriginRecord<'a>>,
}

impl<'a> Content<'a> {
    fn new(files: Vec<File>) -> Content<'a> {
        let is_file_used = vec![false; files.len()];
        Content { files, is_file_used, policies: Interner::new(), histories: Interner::new(), origins: Vec::new() }
    }

    fn add(&mut self, origin: &'a OwnedOrigin, decision: &Decision, history: Option<CaptureHistory>) {
        let policy = self.policy(decision.source, decision.rules);
        let history = history.map(|mut history| {
            for capture in [Some(&mut history.newest), history.answered.as_mut()].into_iter().flatten() {
                capture.policy = capture.policy.map(|file| self.policy(PolicySource::Rules, Some(file)));
            }
            self.histories.number(history)
        });
        let file = decision.rules.and_then(|file| self.files.get(file as usize));
        self.origins.push(OriginRecord {
            host: &origin.host,
            scheme: origin.scheme,
            port: origin.port,
            policy,
            captures: history,
            other: file.and_then(|file| file.other),
        });
    }

    fn policy(&mut self, source: PolicySource, file: Option<u32>) -> u32 {
        if let Some(is_used) = file.and_then(|file| self.is_file_used.get_mut(file as usize)) {
            *is_used = true;
        }
        self.policies.number((source, file))
    }

    /// The policies, whose rulesets are indices of the lists that are compiled.
    fn policies(&mut self, list_places: &[u32]) -> Vec<PolicyDraft> {
        let policies = std::mem::replace(&mut self.policies, Interner::new()).into_things();
        let draft = |(source, file): (PolicySource, Option<u32>)| {
            let Some(file) = file.and_then(|file| self.files.get(file as usize)) else {
                return PolicyDraft { source, ..PolicyDraft::default() };
            };
            let group = |&(list, lines): &(u32, u32)| Group { ruleset: list_places[list as usize], lines };
            let (tokens, groups) = (file.tokens.clone(), file.groups.iter().map(group).collect());
            PolicyDraft { source, tokens, default_group: file.default_group, groups }
        };
        policies.into_iter().map(draft).collect()
    }
}

/// A compiled set that is ready to be written.
pub struct CompiledSet {
    header: Header,
    sections: Sections,
    report: CaptureReport,
}

impl CompiledSet {
    /// What happened to the captures that the set was made from.
    #[must_use]
    pub fn report(&self) -> &CaptureReport {
        &self.report
    }

    /// Writes the set from start to end.
    ///
    /// # Errors
    /// The errors of `out`.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        container::write(out, &self.header, &self.sections)
    }

    /// The set as bytes, which [`reptile_engine::set::Set::from_bytes`] opens.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(container::size_of(&self.sections));
        // Writing to a vector cannot fail.
        let _ = self.write(&mut bytes);
        bytes
    }
}
