//! Collects prepared files and captures, and compiles them into a set.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use reptile_engine::format::captures::StoredCaptures;
use reptile_engine::format::container::{self, Header, Section};
use reptile_engine::format::draft::SetDraft;
use reptile_engine::format::origins::OriginRecord;
use reptile_engine::format::policies::PolicyDraft;
use reptile_engine::format::reading::Interpretation;
use reptile_engine::format::{NONE, TooLarge};
use reptile_engine::host::MAX_HOST_BYTES;
use reptile_engine::spool::SectionBytes;
use reptile_engine::threads::{OneThread, Threads};
use reptile_engine::verdict::PolicySource;

use super::contents::{Contents, Distinct, DistinctFile, number};
use crate::automaton::{Strategy, Workspace};
use crate::capture::{Capture, Captures, Decision, Discarded, KeptCapture, Outcome, Profile, Time};
use crate::dialect::Dialect;
use crate::rules::order::RuleList;
use crate::set::crawlers::crawler_section;
use crate::set::report::TieTimes;
use crate::set::{CaptureReport, OwnedOrigin, Prepared};

/// Approximate memory per origin without its host name: its captures, and its entries in lists and tables, which grow
/// by doubling.
const ORIGIN_BYTES: usize = 2 * (size_of::<Captures>() + size_of::<OwnedOrigin>() + size_of::<u32>());

/// Memory for a failure's time in a list that grows by doubling.
const FAILURE_BYTES: usize = 2 * size_of::<Time>();

/// Memory for a capture in such a list, in a set by time.
const CAPTURE_BYTES: usize = 2 * size_of::<KeptCapture>();

/// Collects prepared files and captures, and compiles them into a set.
///
/// The set does not depend on the order in which they are added.
///
/// Memory: the distinct rules, lines and names, about as much as the set itself.
pub struct SetBuilder {
    pub(super) dialect: Dialect,
    pub(super) profile: Profile,
    /// The set's time.
    pub(super) at: Option<Time>,
    /// Whether the set stores line numbers.
    keeps_lines: bool,
    /// Whether the set is by time.
    pub(super) by_time: bool,
    /// The latest time of any capture.
    pub(super) newest: Option<Time>,
    pub(super) report: CaptureReport,
    /// Times at which captures tie, for the few origins with ties. Kept when a part is compiled.
    pub(super) ties: BTreeMap<OwnedOrigin, TieTimes>,
    contents: Contents,
    /// Approximate memory for origins and captures.
    held_bytes: usize,
    origins: Distinct<OwnedOrigin>,
    /// Each origin's captures, by its number.
    captures: Vec<Captures>,
}

impl SetBuilder {
    /// Creates a builder for a dialect and its own fetch profile. The newest capture determines the set's time.
    #[must_use]
    pub fn new(dialect: &Dialect) -> SetBuilder {
        SetBuilder::with_profile(dialect, Profile::of_dialect(dialect), None)
    }

    /// Creates a builder for a dialect, a fetch profile and a time; later captures do not count.
    ///
    /// Without a time, the newest capture determines it.
    #[must_use]
    pub fn with_profile(dialect: &Dialect, profile: &Profile, at: Option<Time>) -> SetBuilder {
        SetBuilder {
            dialect: dialect.clone(),
            profile: profile.clone(),
            at,
            keeps_lines: true,
            by_time: false,
            newest: None,
            report: CaptureReport::default(),
            ties: BTreeMap::new(),
            contents: Contents::default(),
            held_bytes: 0,
            origins: Distinct::default(),
            captures: Vec::new(),
        }
    }

    /// Sets whether the set stores rule line numbers, which verdicts do not need. The default is `true`.
    #[must_use]
    pub fn line_numbers(mut self, keep: bool) -> SetBuilder {
        self.keeps_lines = keep;
        self
    }

    /// Sets whether the set is by time.
    ///
    /// Such a set keeps every capture, and the time span of each policy, so that URLs can be decided by the rules at
    /// their time. Call this before adding anything. By default a set keeps only captures that may still count.
    #[must_use]
    pub fn by_time(mut self, keep: bool) -> SetBuilder {
        self.by_time = keep;
        self
    }

    /// Adds a successfully fetched file with an unknown time for some origins.
    ///
    /// Returns the number of captures discarded as a result. Only one of several files without a time counts,
    /// regardless of their order.
    ///
    /// A host longer than [`MAX_HOST_BYTES`] cannot occur in a URL and is skipped.
    pub fn add(&mut self, origins: impl IntoIterator<Item = OwnedOrigin>, record: Prepared) -> usize {
        self.add_capture(origins, &Capture::default(), Outcome::Use, Some(record))
    }

    /// Adds a capture for some origins, as returned by [`prepare_capture`](crate::set::prepare_capture).
    ///
    /// Returns the number of captures discarded as a result, which may include this one.
    pub fn add_capture(
        &mut self,
        origins: impl IntoIterator<Item = OwnedOrigin>,
        capture: &Capture,
        outcome: Outcome,
        record: Option<Prepared>,
    ) -> usize {
        let is_too_late = self.is_too_late(capture);
        let body_hash = record.as_ref().map_or(0, |record| record.body_hash);
        let rules = record.filter(|_| !is_too_late).map_or(NONE, |record| self.contents.file(record, self.keeps_lines));
        self.add_file(origins, capture, outcome, body_hash, rules)
    }

    /// Adds captures that share a body, with their outcomes.
    ///
    /// Equivalent to [`SetBuilder::add_capture`] with a copy of `record` for each. Returns the number of captures
    /// discarded as a result, which may include these captures.
    ///
    /// The rules are added only once.
    pub fn add_captures(
        &mut self,
        captures: impl IntoIterator<Item = (Vec<OwnedOrigin>, Capture, Outcome)>,
        mut record: Option<Prepared>,
    ) -> usize {
        let body_hash = record.as_ref().map_or(0, |record| record.body_hash);
        let (mut discarded, mut rules) = (0, NONE);
        for (origins, capture, outcome) in captures {
            let is_used = outcome == Outcome::Use;
            let has_rules = is_used && !self.is_too_late(&capture);
            if has_rules {
                if let Some(record) = record.take() {
                    rules = self.contents.file(record, self.keeps_lines);
                }
            }
            let (body_hash, rules) = (if is_used { body_hash } else { 0 }, if has_rules { rules } else { NONE });
            discarded += self.add_file(origins, &capture, outcome, body_hash, rules);
        }
        discarded
    }

    fn is_too_late(&self, capture: &Capture) -> bool {
        capture.time.is_some_and(|time| self.at.is_some_and(|at| time > at))
    }

    /// Adds a capture. `rules` is its file's number in `contents`.
    fn add_file(
        &mut self,
        origins: impl IntoIterator<Item = OwnedOrigin>,
        capture: &Capture,
        outcome: Outcome,
        body_hash: u64,
        rules: u32,
    ) -> usize {
        let is_too_late = self.is_too_late(capture);
        self.newest = self.newest.max(capture.time);
        let kept = KeptCapture::new(capture, outcome, body_hash, rules);
        let mut discarded = 0;
        for origin in origins.into_iter().filter(|origin| origin.host.len() <= MAX_HOST_BYTES) {
            if is_too_late {
                self.report.discard(&origin, &kept, Discarded::TooLate);
                discarded += 1;
                continue;
            }
            let host_len = origin.host.len();
            let (place, is_new) = self.origins.insert_full(origin);
            if is_new {
                self.captures.push(Captures::new(self.by_time));
                self.held_bytes += ORIGIN_BYTES + host_len;
            }
            self.held_bytes += match self.by_time {
                true => CAPTURE_BYTES,
                false if kept.is_failure() => FAILURE_BYTES,
                false => 0,
            };
            let (origin, captures) = (&self.origins[place], &mut self.captures[place]);
            if captures.is_tied_with(&kept) {
                let times = self.ties.entry(origin.clone()).or_default();
                // Only the last tie can still count, unless the set is by time.
                if !self.by_time && times.last() < Some(&kept.time) {
                    times.clear();
                }
                times.insert(kept.time);
            }
            for kept in captures.add(kept).iter().flatten() {
                self.report.discard(origin, kept, Discarded::Superseded);
                discarded += 1;
            }
        }
        discarded
    }

    /// Compiles every distinct ruleset on this thread. Writes nothing yet.
    ///
    /// # Errors
    /// Returns an error if some part is too large for the format.
    pub fn finish(self, strategy: Strategy) -> Result<CompiledSet, TooLarge> {
        self.finish_with(strategy, &OneThread)
    }

    /// Compiles the set like [`SetBuilder::finish`], on the caller's threads; this crate starts none.
    ///
    /// # Errors
    /// Returns an error if some part is too large for the format.
    pub fn finish_with(mut self, strategy: Strategy, threads: &dyn Threads) -> Result<CompiledSet, TooLarge> {
        self.compile(strategy, threads, false)
    }

    /// Returns the approximate memory of the added data.
    ///
    /// Compiling it takes the same amount again, or twice as much if it is mostly rules.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.contents.held_bytes + self.held_bytes
    }

    /// Returns whether there is nothing to compile.
    pub(super) fn is_empty(&self) -> bool {
        self.origins.is_empty()
    }

    /// Moves the added data into a separate builder, which [`SetBuilder::finish_part`] can compile to a part of the
    /// set, even on another thread.
    ///
    /// This builder continues without the data. Costs nothing.
    #[must_use]
    pub fn split_off(&mut self) -> SetBuilder {
        SetBuilder {
            dialect: self.dialect.clone(),
            profile: self.profile.clone(),
            report: CaptureReport::default(),
            ties: BTreeMap::new(),
            contents: std::mem::take(&mut self.contents),
            held_bytes: std::mem::take(&mut self.held_bytes),
            origins: std::mem::take(&mut self.origins),
            captures: std::mem::take(&mut self.captures),
            ..*self
        }
    }

    /// Compiles the added data as a part of a set, for [`SetBuilder::finish_merged`], and continues without it.
    ///
    /// A part keeps more captures than a set does, and must not be used for decisions.
    ///
    /// # Errors
    /// Returns an error if some part is too large for the format. The builder cannot be used afterwards.
    pub fn finish_part(&mut self, strategy: Strategy, threads: &dyn Threads) -> Result<CompiledSet, TooLarge> {
        self.compile(strategy, threads, true)
    }

    /// Compiles the added data. For a part, captures are counted only when the set is complete.
    fn compile(&mut self, strategy: Strategy, threads: &dyn Threads, is_part: bool) -> Result<CompiledSet, TooLarge> {
        let at = self.at.or(self.newest);
        self.held_bytes = 0;
        let (origins, captures) = (std::mem::take(&mut self.origins), std::mem::take(&mut self.captures));
        let mut report = if is_part { CaptureReport::default() } else { std::mem::take(&mut self.report) };
        report.at = at;
        let Contents { tokens, lists, lines, other, usages, files, .. } = std::mem::take(&mut self.contents);
        let mut content = SetContents::new(files);
        content.origins.reserve_exact(origins.len());
        // Each origin's captures are freed immediately, because the history replaces them.
        for (origin, captures) in origins.iter().zip(captures) {
            captures.check_count()?;
            let Some(decision) = captures.decide(&self.profile, at) else { continue };
            let name = |source, file| content.policy(source, file);
            let (file, stored) = if is_part {
                (captures.rules(), captures.whole(name))
            } else {
                report.count(&|| origin.clone(), &decision);
                if let Some(times) = self.ties.get(origin) {
                    report.count_ties(origin, times, &captures);
                }
                (decision.rules, captures.stored(&decision, &self.profile, name))
            };
            content.add(origin, &decision, file, stored);
        }
        let (lists, place_of_list) = used_lists(lists, &content);
        let policies = content.policies(&place_of_list);
        let SetContents { histories, origins, files, .. } = content;
        drop(files);
        // The mutexes allow each list to be freed as soon as its automaton is complete.
        let lists: Vec<Mutex<RuleList>> = lists.into_iter().map(Mutex::new).collect();
        let rulesets = threads.each(&lists, Workspace::default, |workspace, list| {
            let list = std::mem::take(&mut *list.lock().unwrap_or_else(PoisonError::into_inner));
            let mut automaton = workspace.compile(&list, strategy)?;
            automaton.shrink_to_fit();
            Ok(automaton.into())
        });
        let header = Header {
            normal_form: self.dialect.normal_form.number(),
            name_matching: self.dialect.name_matching.number(),
            automata_form: strategy.form(),
        };
        let draft = SetDraft {
            header,
            reading: Interpretation { by_time: self.by_time, ..self.profile.reading(&self.dialect.name, at) },
            // Replaced below by the section that all sets share.
            crawlers: &[],
            tokens: tokens.iter().map(|token| &**token).collect(),
            rulesets: rulesets.into_iter().collect::<Result<_, TooLarge>>()?,
            lines: lines.iter().map(|lines| (&**lines).into()).collect(),
            other: other.iter().map(|other| &**other).collect(),
            usages: usages.iter().map(|usage| (&**usage).into()).collect(),
            policies,
            captures: histories.into_iter().collect(),
            origins,
        };
        let mut sections = draft.write(threads)?.map(SectionBytes::Held);
        sections[Section::Crawlers as usize] = SectionBytes::Shared(crawler_section(&self.dialect)?);
        Ok(CompiledSet { header, sections, report })
    }
}

/// Returns the distinct rule lists used by the set's files, and the new index for each list number. The lists are in
/// order of first occurrence, which does not affect the set.
fn used_lists(lists: Distinct<RuleList>, content: &SetContents<'_>) -> (Vec<RuleList>, Vec<u32>) {
    let mut is_used = vec![false; lists.len()];
    for (file, _) in content.files.iter().zip(&content.is_file_used).filter(|(_, is_used)| **is_used) {
        file.lists().for_each(|list| is_used[list as usize] = true);
    }
    let mut place_of_list = vec![NONE; is_used.len()];
    let mut used = Vec::new();
    for (number, list) in lists.into_iter().enumerate().filter(|&(number, _)| is_used[number]) {
        place_of_list[number] = used.len() as u32;
        used.push(list);
    }
    (used, place_of_list)
}

/// A set's content while it is collected from the origins.
struct SetContents<'a> {
    files: Distinct<DistinctFile>,
    /// Whether the set uses each file. Files that occur only in discarded captures are not used.
    is_file_used: Vec<bool>,
    /// The distinct policies: the policy source, and the file number if rules decide.
    policies: Distinct<(PolicySource, Option<u32>)>,
    histories: Distinct<StoredCaptures>,
    origins: Vec<OriginRecord<'a>>,
}

impl<'a> SetContents<'a> {
    fn new(files: Distinct<DistinctFile>) -> SetContents<'a> {
        let is_file_used = vec![false; files.len()];
        let (policies, histories) = (Distinct::default(), Distinct::default());
        SetContents { files, is_file_used, policies, histories, origins: Vec::new() }
    }

    /// Adds an origin with the other directives in `file`.
    fn add(
        &mut self,
        origin: &'a OwnedOrigin,
        decision: &Decision,
        file: Option<u32>,
        captures: Option<StoredCaptures>,
    ) {
        let policy = self.policy(decision.source, decision.rules);
        let history = captures.map(|captures| number(&mut self.histories, captures));
        let file = file.and_then(|file| self.files.get_index(file as usize));
        self.origins.push(OriginRecord {
            host: &origin.host,
            scheme: origin.scheme,
            port: origin.port,
            policy,
            captures: history,
            other: file.and_then(DistinctFile::other),
        });
    }

    fn policy(&mut self, source: PolicySource, file: Option<u32>) -> u32 {
        if let Some(is_used) = file.and_then(|file| self.is_file_used.get_mut(file as usize)) {
            *is_used = true;
        }
        number(&mut self.policies, (source, file))
    }

    /// Returns the policies, with indices of compiled lists as rulesets.
    fn policies(&mut self, place_of_list: &[u32]) -> Vec<PolicyDraft> {
        let policies = std::mem::take(&mut self.policies);
        let draft = |(source, file): (PolicySource, Option<u32>)| match file
            .and_then(|file| self.files.get_index(file as usize))
        {
            Some(file) => file.policy(source, place_of_list),
            None => PolicyDraft { source, ..PolicyDraft::default() },
        };
        policies.into_iter().map(draft).collect()
    }
}

/// A compiled set, ready to be written.
pub struct CompiledSet {
    pub(super) header: Header,
    pub(super) sections: [SectionBytes; Section::COUNT],
    pub(super) report: CaptureReport,
}

impl CompiledSet {
    /// Returns statistics about the captures that the set was built from.
    #[must_use]
    pub fn report(&self) -> &CaptureReport {
        &self.report
    }

    /// Writes the set from start to end.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        container::write_in_blocks(out, &self.header, &self.sections)
    }

    /// Returns the set as bytes, which [`reptile_engine::set::Set::from_bytes`] opens.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let sizes = self.sections.iter().map(SectionBytes::len).sum::<u64>();
        let mut bytes = Vec::with_capacity(sizes as usize + container::OVERHEAD_BYTES);
        // Writing to a vector cannot fail.
        let _ = container::write_spooled(&mut bytes, &self.header, &self.sections);
        bytes
    }
}
