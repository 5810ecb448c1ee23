//! Adds whole sets to a builder, by what they keep of their captures: what comes out is what compiling all captures at
//! once gives.

use std::collections::HashMap;
use std::fmt;

use bumpalo::Bump;
use foldhash::fast::RandomState;
use reptile_engine::automaton::Ruleset;
use reptile_engine::format::captures::StoredCaptures;
use reptile_engine::format::draft::SetDraft;
use reptile_engine::format::origins::OriginRecord;
use reptile_engine::format::policies::PolicyDraft;
use reptile_engine::format::{FormatError, NONE};
use reptile_engine::set::Set;
use reptile_engine::threads::Threads;

use super::contents::{Contents, File, number};
use crate::automaton::Strategy;
use crate::capture::{Captures, Discarded, KeptCapture};
use crate::rules::order::RuleList;
use crate::set::{OwnedOrigin, SetBuilder};

/// Why a set cannot be merged with others.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeError {
    /// The set is damaged.
    Damaged(FormatError),
    /// The set is damaged, or was made by a later version: it has a record that this version cannot read.
    Unreadable,
    /// The set was made with another setting than the rest.
    OtherSetting {
        /// The setting.
        setting: &'static str,
        /// Its value for the rest.
        expected: String,
        /// Its value for the set.
        found: String,
    },
    /// There are two different files for this origin whose times are not known, and a set does not keep what settles
    /// which of them counts.
    Undecided(OwnedOrigin),
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MergeError::Damaged(error) => error.fmt(f),
            MergeError::Unreadable => f.write_str("a record of it cannot be read; compile the set again"),
            MergeError::OtherSetting { setting, expected, found } => {
                write!(f, "has the {setting} {found}, and the sets before it have {expected}")
            }
            MergeError::Undecided(origin) => write!(
                f,
                "has another robots.txt for {origin} than the sets before it, and no times say which of them counts"
            ),
        }
    }
}

impl std::error::Error for MergeError {}

impl From<FormatError> for MergeError {
    fn from(error: FormatError) -> MergeError {
        MergeError::Damaged(error)
    }
}

/// The numbers that the contents of one set have in a builder.
struct Numbers<'d> {
    draft: &'d SetDraft<'d>,
    tokens: Vec<u32>,
    lists: Vec<u32>,
    lines: Vec<u32>,
    other: Vec<u32>,
    /// The file of each pair of a policy and other directives that was asked for.
    files: HashMap<(u32, Option<u32>), u32, RandomState>,
}

impl SetBuilder {
    /// Adds all that a set holds, as if its captures were added. A capture that the set does not keep never counts, with
    /// those of other sets either. The set must have been compiled with the dialect and the fetch profile of this
    /// builder, and by `strategy`.
    ///
    /// Add sets after captures: of files without times, only a set that comes later is checked against what is there.
    /// A set for a time leaves out what was fetched later; a merged set is for the latest of the times.
    ///
    /// Time and memory: linear in the set.
    ///
    /// # Errors
    /// When the set is damaged or has other settings, and when two files for one origin have no times. The builder then
    /// holds a part of the set and is of no use.
    pub fn add_set<D: AsRef<[u8]> + Sync>(
        &mut self,
        set: &Set<D>,
        strategy: Strategy,
        threads: &impl Threads,
    ) -> Result<(), MergeError> {
        self.check_settings(set, strategy)?;
        let draft = set.to_draft()?;
        let numbered = Numbers::of(&draft, &mut self.contents, threads);
        let mut numbers = numbered?;
        for origin in &draft.origins {
            let stored = numbers.captures(origin, &mut self.contents)?;
            let owned = OwnedOrigin { host: origin.host.into(), scheme: origin.scheme, port: origin.port };
            let place = self.place(&owned);
            let Some(dropped) = self.captures[place].add_stored(&stored) else {
                return Err(MergeError::Undecided(owned));
            };
            for kept in &dropped {
                self.report.discard(&owned, kept, Discarded::Superseded);
            }
        }
        self.newest = self.newest.max(draft.reading.at);
        Ok(())
    }

    /// Checks that a set was made with the settings of this builder.
    fn check_settings<D: AsRef<[u8]>>(&self, set: &Set<D>, strategy: Strategy) -> Result<(), MergeError> {
        let same = |setting, expected: &str, found: &str| {
            if expected == found {
                return Ok(());
            }
            Err(MergeError::OtherSetting { setting, expected: expected.into(), found: found.into() })
        };
        let found = set.reading();
        let own = self.profile.reading(&self.dialect.name, found.at);
        same("dialect", own.dialect, found.dialect)?;
        same("fetch profile", own.profile, found.profile)?;
        let times = |reading: &reptile_engine::format::reading::Reading<'_>| {
            let shown = |seconds: Option<i64>| seconds.map_or("none".into(), |seconds| seconds.to_string());
            let (freshness, cap) = (shown(reading.freshness), shown(reading.max_age_cap));
            format!("freshness {freshness}, max-age up to {cap}, patience {} seconds", reading.patience)
        };
        same("times of the fetch profile:", &times(&own), &times(&found))?;
        let dialect = &self.dialect;
        let number = |number: u32| number.to_string();
        let yes_or_no = |yes: bool| if yes { "yes" } else { "no" };
        same("validity by time:", yes_or_no(self.by_time), yes_or_no(set.has_times()))?;
        same("normal form", &number(dialect.normal_form.number()), &number(set.normal_form().number()))?;
        same("way of comparing names", &number(dialect.name_matching.number()), &number(set.name_matching().number()))?;
        let form = |form: u32| format!("{form:#x}");
        same("construction of automata", &form(strategy.form()), &form(set.automata_form()))
    }
}

impl<'d> Numbers<'d> {
    /// Adds the tokens, rules, lines and other directives of a set.
    fn of(draft: &'d SetDraft<'d>, contents: &mut Contents, threads: &impl Threads) -> Result<Numbers<'d>, MergeError> {
        // The rules are compiled again. So it does not matter how a set stores them.
        let rulesets = draft.rulesets.iter().map(|automaton| &**automaton).collect();
        let lists = threads.each(rulesets, Bump::new, |arena, automaton: &[u8]| {
            arena.reset();
            let rules = Ruleset::new(automaton).and_then(|ruleset| ruleset.rules()).map_err(FormatError::from)?;
            Ok::<_, FormatError>(RuleList::from_compiled(&rules, arena))
        });
        let lists = lists.into_iter().map(|list| Ok(number(&mut contents.lists, list?)));
        Ok(Numbers {
            draft,
            lists: lists.collect::<Result<_, FormatError>>()?,
            tokens: draft.tokens.iter().map(|&token| number(&mut contents.tokens, token.into())).collect(),
            lines: draft.lines.iter().map(|lines| number(&mut contents.lines, (&**lines).into())).collect(),
            other: draft.other.iter().map(|&other| number(&mut contents.other, other.into())).collect(),
            files: HashMap::default(),
        })
    }

    /// The captures of an origin, with the builder's numbers for their files.
    fn captures(&mut self, origin: &OriginRecord<'_>, contents: &mut Contents) -> Result<Captures, MergeError> {
        let Some(history) = origin.captures else {
            let mut captures = Captures::default();
            captures.add(KeptCapture::plain(self.file(origin.policy, origin.other, contents)?));
            return Ok(captures);
        };
        let mut stored = self.draft.captures.get(history as usize).ok_or(MergeError::Unreadable)?.clone();
        // Only the capture that decides at the time of a set has other directives, and the origin has them. An older one
        // never decides at a later time, so it does not matter that it gets them too.
        for capture in stored.captures_mut() {
            capture.policy = capture.policy.map(|policy| self.file(policy, origin.other, contents)).transpose()?;
        }
        let captures = match &stored {
            StoredCaptures::History(history) => Captures::from_stored(history),
            StoredCaptures::Timeline(timeline) => Captures::from_timeline(timeline),
        };
        captures.ok_or(MergeError::Unreadable)
    }

    /// The file with the rules of a policy and with these other directives.
    fn file(&mut self, policy: u32, other: Option<u32>, contents: &mut Contents) -> Result<u32, MergeError> {
        if let Some(&file) = self.files.get(&(policy, other)) {
            return Ok(file);
        }
        let PolicyDraft { tokens, default_group, groups, .. } =
            self.draft.policies.get(policy as usize).ok_or(MergeError::Unreadable)?;
        let in_builder = |numbers: &[u32], index: u32| numbers.get(index as usize).copied();
        let tokens = tokens.iter().map(|&(token, group)| Some((in_builder(&self.tokens, token)?, group)));
        let groups = groups.iter().map(|group| {
            let lines = if group.lines == NONE { NONE } else { in_builder(&self.lines, group.lines)? };
            Some((in_builder(&self.lists, group.ruleset)?, lines))
        });
        let own_other = other.map(|other| in_builder(&self.other, other).ok_or(MergeError::Unreadable)).transpose()?;
        let tokens = tokens.collect::<Option<_>>().ok_or(MergeError::Unreadable)?;
        let groups: Vec<(u32, u32)> = groups.collect::<Option<_>>().ok_or(MergeError::Unreadable)?;
        let file = number(&mut contents.files, File::new(tokens, *default_group, &groups, own_other));
        self.files.insert((policy, other), file);
        Ok(file)
    }
}
