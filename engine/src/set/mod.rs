//! Opens, verifies and queries compiled sets.
//!
//! Connects the tables ([`crate::format`]) to the automata ([`crate::automaton`]). Uses no byte offsets.

mod agent;
mod batch;
mod columns;
mod periods;
mod policy;
mod site;
mod split;
mod times;
mod usage;
mod use_tokens;
mod uses;
mod verify;

pub use self::agent::Agent;
pub use self::batch::{BATCH_URLS, Lookup};
pub use self::periods::Period;
pub use self::policy::{GroupKind, Policy, PolicyGroup, Rules};
pub use self::site::Site;
pub use self::split::KnownHosts;
pub use self::use_tokens::UseTokens;
pub use self::uses::{UsageCategory, UsageQuery};
pub use self::verify::VerifyPart;
pub use crate::format::rulesets::RulesetPlace;

use crate::automaton::Ruleset;
use crate::format::FormatError;
use crate::format::automaton::Corrupt;
use crate::format::captures::Captures;
use crate::format::container::{Container, Section};
use crate::format::crawlers::{Crawlers, ResolvedCrawler};
use crate::format::directives::OtherDirectives;
#[cfg(feature = "write")]
use crate::format::draft::{SetDraft, SetTables};
use crate::format::lines::Lines;
use crate::format::origins::{OriginIter, OriginRecord, Origins};
use crate::format::policies::Policies;
use crate::format::reading::Interpretation;
use crate::format::rulesets::Rulesets;
use crate::format::tokens::{NameMatching, Tokens};
use crate::format::usages::Usages;
use crate::host;
use crate::norm::NormalForm;
use crate::url::{self, Origin, Path, UrlRef};
use crate::verdict::{Explanation, Rule, Verdict};

/// A compiled set of robots.txt files.
///
/// Its bytes are mapped (`platform::MappedFile`) or owned ([`Set::from_bytes`]).
///
/// Immutable; share it between threads by reference. Uses no memory besides its bytes. A decision does not allocate,
/// with three exceptions: a URL without a slash (`http://host?query`) and a path that is not in the set's normal form
/// are copied, and mapping a non-ASCII host may allocate.
///
/// Damage that opening does not detect causes a [`FormatError`] when the damaged bytes are read, never a panic. It
/// could also cause a wrong verdict; [`Set::verify`] rules that out.
pub struct Set<D> {
    data: D,
    container: Container,
    normal_form: NormalForm,
    name_matching: NameMatching,
    by_time: bool,
}

impl From<Corrupt> for FormatError {
    fn from(corrupt: Corrupt) -> FormatError {
        corrupt.in_section()
    }
}

impl<D: AsRef<[u8]>> Set<D> {
    /// Opens a set from bytes, and checks its header, section table and `reading` section.
    ///
    /// # Errors
    /// Returns an error if one of the three is invalid.
    pub fn from_bytes(data: D) -> Result<Set<D>, FormatError> {
        let container = Container::read(data.as_ref())?;
        let number = container.header().normal_form;
        let normal_form = NormalForm::from_number(number).ok_or_else(|| {
            FormatError::new("header", "the number of a normal form that this version knows", number.to_string())
        })?;
        let number = container.header().name_matching;
        let name_matching = NameMatching::from_number(number).ok_or_else(|| {
            FormatError::new("header", "a way of comparing names that this version knows", number.to_string())
        })?;
        let mut set = Set { data, container, normal_form, name_matching, by_time: false };
        Interpretation::verify(set.section(Section::Reading))?;
        set.by_time = set.read_reading()?.by_time;
        Ok(set)
    }

    #[inline]
    fn section(&self, section: Section) -> &[u8] {
        self.container.section(self.data.as_ref(), section)
    }

    fn read_reading(&self) -> Result<Interpretation<'_>, FormatError> {
        Interpretation::read(self.section(Section::Reading))
    }

    /// Returns the dialect, fetch profile and time that the set was compiled for.
    #[must_use]
    pub fn reading(&self) -> Interpretation<'_> {
        // Opening the set has already read this. If the file has shrunk since then, the next decision reports it.
        self.read_reading().unwrap_or(Interpretation {
            dialect: "",
            profile: "",
            at: None,
            freshness: None,
            max_age_cap: None,
            patience: 0,
            by_time: false,
        })
    }

    /// Returns the name of the dialect that the set was compiled for, for display.
    #[must_use]
    pub fn dialect(&self) -> String {
        self.reading().dialect.to_owned()
    }

    /// Returns the compiler's version number for the construction of the set's automata.
    #[must_use]
    pub fn automata_form(&self) -> u32 {
        self.container.header().automata_form
    }

    /// Returns the normal form of the set's patterns.
    #[must_use]
    pub fn normal_form(&self) -> NormalForm {
        self.normal_form
    }

    /// Returns each section's name and size in bytes.
    pub fn section_sizes(&self) -> impl Iterator<Item = (&'static str, usize)> + '_ {
        Section::ALL.into_iter().map(|section| (section.name(), self.section(section).len()))
    }

    /// Returns the product tokens named by the files in the set.
    #[must_use]
    pub fn tokens(&self) -> Tokens<'_> {
        Tokens(self.section(Section::Tokens))
    }

    /// Returns the known crawlers, each with the product tokens that it obeys under the set's dialect.
    ///
    /// ```no_run
    /// # use reptile_engine::{format::crawlers::Purposes, set::Set};
    /// let set = Set::from_bytes(std::fs::read("robots.set")?)?;
    /// let agent = set.crawler(b"Googlebot-Image")?;
    /// for crawler in set.crawlers().with_purpose(Purposes::AI_TRAINING) {
    ///     println!("{}", crawler?.name.escape_ascii());
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn crawlers(&self) -> Crawlers<'_> {
        Crawlers(self.section(Section::Crawlers))
    }

    /// Returns the hash table of origins.
    ///
    /// Most callers need [`Set::site`] instead.
    #[inline]
    #[must_use]
    pub fn origin_table(&self) -> Origins<'_> {
        Origins { buckets: self.section(Section::Buckets), records: self.section(Section::Origins) }
    }

    /// Returns the number of origins in the set.
    #[must_use]
    pub fn origin_count(&self) -> u64 {
        self.origin_table().count()
    }

    /// Returns all bytes of the set.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.data.as_ref()
    }

    /// Returns the owner of the set's bytes.
    #[must_use]
    pub fn data(&self) -> &D {
        &self.data
    }

    /// Iterates over the set's origins, in no particular order.
    ///
    /// Reads the table sequentially, without extra memory.
    #[must_use]
    pub fn origins(&self) -> OriginIter<'_> {
        self.origin_table().iter()
    }

    #[inline]
    fn policies(&self) -> Policies<'_> {
        Policies(self.section(Section::Policies))
    }

    #[inline]
    fn lines(&self) -> Lines<'_> {
        Lines(self.section(Section::Lines))
    }

    fn captures(&self) -> Captures<'_> {
        Captures { bytes: self.section(Section::Captures), by_time: self.by_time }
    }

    fn other(&self) -> OtherDirectives<'_> {
        OtherDirectives(self.section(Section::Other))
    }

    /// Returns the statements in the groups' usage rules.
    #[inline]
    #[must_use]
    pub fn usages(&self) -> Usages<'_> {
        Usages(self.section(Section::Usages))
    }

    /// Returns whether any robots.txt in the set has usage rules or signals.
    #[must_use]
    pub fn has_usages(&self) -> bool {
        !self.section(Section::Usages).is_empty()
    }

    /// Returns whether any origin has other directives.
    #[must_use]
    pub fn has_other_directives(&self) -> bool {
        !self.section(Section::Other).is_empty()
    }

    /// Returns whether the set has line numbers for its rules.
    ///
    /// True for a set without rules.
    #[must_use]
    pub fn has_lines(&self) -> bool {
        !self.section(Section::Lines).is_empty() || self.rulesets().is_empty()
    }

    /// Counts the distinct policies in the set.
    ///
    /// Reads each policy's header.
    ///
    /// # Errors
    /// Returns an error if the table is damaged.
    pub fn policy_count(&self) -> Result<u32, FormatError> {
        self.policies().iter().try_fold(0, |count, policy| policy.map(|_| count + 1))
    }

    /// Returns the whole content of the set.
    ///
    /// [`SetDraft::write`] turns it back into the same bytes. Time and memory are linear in the set.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    #[cfg(feature = "write")]
    pub fn to_draft(&self) -> Result<SetDraft<'_>, FormatError> {
        self.crawlers().to_table()?;
        let (reading, crawlers) = (self.read_reading()?, self.section(Section::Crawlers));
        SetDraft::read(self.container.header(), reading, crawlers, self.tables())
    }

    #[cfg(feature = "write")]
    pub(crate) fn tables(&self) -> SetTables<'_> {
        SetTables {
            tokens: self.tokens(),
            origins: self.origin_table(),
            captures: self.captures(),
            policies: self.policies(),
            rulesets: self.rulesets(),
            lines: self.lines(),
            other: self.other(),
            usages: self.usages(),
        }
    }

    /// Returns the automata.
    ///
    /// Equal rulesets are stored once, even if they come from different files.
    #[inline]
    #[must_use]
    pub fn rulesets(&self) -> Rulesets<'_> {
        Rulesets {
            index: self.section(Section::Index),
            bytes: self.section(Section::Rulesets),
            fingerprints: self.section(Section::Prints),
        }
    }

    /// Looks up an agent by its product token, in any letter case.
    ///
    /// The whole token counts; nothing is cut off.
    ///
    /// # Errors
    /// Returns an error if the table of product tokens is damaged.
    pub fn agent(&self, token: &[u8]) -> Result<Agent, FormatError> {
        self.agent_chain(&[token], true)
    }

    /// Looks up an agent with several product tokens.
    ///
    /// In each robots.txt, the first token that it names selects the groups. If it names none, the default group
    /// decides, provided that the agent honors it. An agent without tokens that does not honor the default group may
    /// fetch everything.
    ///
    /// # Errors
    /// Returns an error if the table of product tokens is damaged.
    pub fn agent_chain(&self, tokens: &[&[u8]], honors_default_group: bool) -> Result<Agent, FormatError> {
        Agent::look_up(self.tokens(), self.name_matching, tokens, honors_default_group)
    }

    /// Looks up a crawler by name, in any letter case.
    ///
    /// A known crawler obeys its chain of product tokens, any other only this name. See [`Set::crawlers`].
    ///
    /// # Errors
    /// Returns an error if the table of crawlers or product tokens is damaged.
    pub fn crawler(&self, name: &[u8]) -> Result<Agent, FormatError> {
        let ResolvedCrawler { tokens, honors_default_group, .. } =
            Crawlers(self.section(Section::Crawlers)).find(name)?;
        self.agent_chain(&tokens, honors_default_group)
    }

    /// Returns how product tokens are compared in this set.
    #[must_use]
    pub fn name_matching(&self) -> NameMatching {
        self.name_matching
    }

    /// Returns an origin's policy, or `None` if the set has no robots.txt for it.
    ///
    /// # Errors
    /// Returns an error if the tables are damaged.
    #[inline]
    pub fn policy(&self, origin: &Origin<'_>) -> Result<Option<Policy<'_>>, FormatError> {
        self.record(origin)?.map(|record| self.policy_of(&record)).transpose()
    }

    #[inline]
    fn record(&self, origin: &Origin<'_>) -> Result<Option<OriginRecord<'_>>, FormatError> {
        if host::is_plain(origin.host) {
            return self.origin_table().find(origin.scheme, origin.host, origin.port);
        }
        let Some(host) = host::canonical(origin.host) else { return Ok(None) };
        self.origin_table().find(origin.scheme, host.as_bytes(), origin.port)
    }

    /// Returns the policy of an origin from [`Set::origins`].
    ///
    /// # Errors
    /// Returns an error if the tables are damaged.
    #[inline]
    pub fn policy_of(&self, record: &OriginRecord<'_>) -> Result<Policy<'_>, FormatError> {
        self.policy_at(record.policy)
    }

    #[inline]
    fn policy_at(&self, address: u32) -> Result<Policy<'_>, FormatError> {
        let view = self.policies().get(address)?;
        Ok(Policy {
            number: address,
            view,
            rulesets: self.rulesets(),
            lines: self.lines(),
            // Few policies have usage rules, and most questions are about verdicts.
            usages: if view.has_usages() { self.usages() } else { Usages(&[]) },
            normal_form: self.normal_form,
        })
    }

    /// Returns the verdict for one URL and one agent.
    ///
    /// Time: one pass over the URL, one origin lookup, one walk. No allocation.
    ///
    /// # Errors
    /// Returns an error if the set is damaged. A malformed URL is not an error; it yields [`Verdict::Invalid`].
    #[inline]
    pub fn decide(&self, agent: &Agent, url: &[u8]) -> Result<Verdict, FormatError> {
        let mut verdict = [Verdict::Invalid];
        self.decide_each(std::slice::from_ref(agent), url, &mut verdict)?;
        Ok(verdict[0])
    }

    /// Computes the verdicts for one URL and several agents; `verdicts` has one element per agent.
    ///
    /// The URL is split and its origin looked up once, and adjacent agents that share a ruleset share its walk.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    #[inline]
    pub fn decide_each(&self, agents: &[Agent], url: &[u8], verdicts: &mut [Verdict]) -> Result<(), FormatError> {
        let (record, path) = match url::split_ordinary(url) {
            Some(UrlRef { origin: Origin { scheme, host, port }, path }) => {
                (self.origin_table().find(scheme, host, port)?, path)
            }
            None => {
                let Ok(UrlRef { origin, path }) = url::split_any(url) else {
                    verdicts.fill(Verdict::Invalid);
                    return Ok(());
                };
                (self.record(&origin)?, path)
            }
        };
        let Some(record) = record else {
            verdicts.fill(Verdict::Unknown);
            return Ok(());
        };
        self.decide_path(record.policy, agents, &path, verdicts)
    }

    /// Computes the verdicts for one URL and several agents by the policy with this [`Policy::number`].
    ///
    /// The URL's origin is ignored, and the URL may be just a path: [`url::path_at_any_origin`].
    ///
    /// # Errors
    /// Returns an error if the set is damaged or no policy has this number.
    #[inline]
    pub fn decide_each_by(
        &self,
        policy: u32,
        agents: &[Agent],
        url: &[u8],
        verdicts: &mut [Verdict],
    ) -> Result<(), FormatError> {
        let Ok(path) = url::path_at_any_origin(url) else {
            verdicts.fill(Verdict::Invalid);
            return Ok(());
        };
        self.decide_path(policy, agents, &path, verdicts)
    }

    /// Returns the place of the ruleset that alone decides every path for an agent under a policy.
    ///
    /// Returns `None` if no ruleset or several decide.
    ///
    /// # Errors
    /// Returns an error if the set is damaged or no policy has this number.
    pub fn only_ruleset(&self, policy: u32, agent: &Agent) -> Result<Option<RulesetPlace>, FormatError> {
        match agent.first_ruleset(&self.policies().get(policy)?) {
            Some((ruleset, true)) => Ok(Some(RulesetPlace::of(&self.rulesets().get(ruleset)?, self.data.as_ref()))),
            _ => Ok(None),
        }
    }

    /// Returns the verdict of a ruleset in this set for one URL.
    ///
    /// The URL's origin is ignored, and the URL may be just a path: [`url::path_at_any_origin`].
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    // Not inlined, so that the walk's registers do not depend on the caller; see *One function* in
    // `compiler/AUTOMATON.md`.
    #[inline(never)]
    pub fn decide_by_ruleset(&self, ruleset: &RulesetPlace, url: &[u8]) -> Result<Verdict, FormatError> {
        let Ok(path) = url::path_at_any_origin(url) else { return Ok(Verdict::Invalid) };
        let ruleset = Ruleset::stored(ruleset.in_set(self.data.as_ref())?)?;
        Ok(ruleset.verdict(&path.normal(self.normal_form))?)
    }

    /// Returns a ruleset's verdict for one path.
    #[inline(always)]
    fn verdict_of(&self, ruleset: u32, path: &Path<'_>) -> Result<Verdict, FormatError> {
        let ruleset = policy::ruleset_at(self.rulesets(), ruleset)?;
        Ok(ruleset.verdict(&path.normal(self.normal_form))?)
    }

    /// Computes the verdicts for one path and several agents by the policy at an address.
    #[inline]
    fn decide_path(
        &self,
        policy: u32,
        agents: &[Agent],
        path: &Path<'_>,
        verdicts: &mut [Verdict],
    ) -> Result<(), FormatError> {
        // Usually there is one agent and one ruleset decides. This path skips reading and copying everything else about
        // the policy, which took a third of the time of a short walk.
        if let ([agent], [verdict]) = (agents, &mut *verdicts) {
            if let Some((ruleset, true)) = agent.first_ruleset(&self.policies().get(policy)?) {
                *verdict = self.verdict_of(ruleset, path)?;
                return Ok(());
            }
        }
        self.policy_at(policy)?.decide_each(agents, path, verdicts)
    }

    /// Returns the verdict for one URL and one agent, with the best matching rule of each kind.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn explain(&self, agent: &Agent, url: &[u8]) -> Result<Explanation, FormatError> {
        let Ok(UrlRef { origin, path }) = url::split(url) else {
            return Ok(Explanation::without_rule(Verdict::Invalid));
        };
        match self.policy(&origin)? {
            None => Ok(Explanation::without_rule(Verdict::Unknown)),
            Some(policy) => path.with(|path| policy.explain(agent, path)),
        }
    }

    /// Returns all rules for an agent that match a URL, in order of precedence.
    ///
    /// See [`Policy::matching_rules`]. Empty for a malformed URL and for an unknown origin.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn matching_rules(&self, agent: &Agent, url: &[u8]) -> Result<Vec<Rule>, FormatError> {
        let Ok(UrlRef { origin, path }) = url::split(url) else { return Ok(Vec::new()) };
        match self.policy(&origin)? {
            None => Ok(Vec::new()),
            Some(policy) => path.with(|path| policy.matching_rules(agent, path)),
        }
    }
}
