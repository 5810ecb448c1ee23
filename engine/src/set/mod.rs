//! The compiled set: opening, verifying and querying it.
//!
//! Joins the tables ([`crate::format`]) to the automata ([`crate::automaton`]). Knows no byte offsets.

mod agent;
mod batch;
mod columns;
mod policy;
mod site;
mod split;
mod times;
mod verify;

pub use self::agent::Agent;
pub use self::batch::{BATCH_URLS, Found};
pub use self::policy::{GroupKind, Policy, PolicyGroup, Rules};
pub use self::site::Site;
pub use self::split::KnownHosts;
pub use self::verify::VerifyPart;

use crate::format::FormatError;
use crate::format::automaton::Corrupt;
use crate::format::captures::Captures;
use crate::format::container::{Container, Section};
use crate::format::crawlers::{Crawlers, ResolvedCrawler};
use crate::format::directives::OtherDirectives;
use crate::format::draft::{ReadBack, SetDraft, Tables};
use crate::format::lines::Lines;
use crate::format::origins::{OriginIter, OriginRecord, Origins};
use crate::format::policies::Policies;
use crate::format::reading::Reading;
use crate::format::rulesets::Rulesets;
use crate::format::tokens::{NameMatching, Tokens};
use crate::host;
use crate::norm::NormalForm;
use crate::url::{self, MAX_URL_BYTES, Origin, Path, UrlRef};
use crate::verdict::{Explanation, Rule, Verdict};

/// A compiled set of robots.txt files, over bytes that are mapped (`platform::MappedFile`) or owned ([`Set::from_bytes`]).
///
/// Immutable; share it between threads by reference. Takes no memory besides its bytes. A decision allocates nothing,
/// with these exceptions: a URL of the form `http://host?query`, which lacks the slash, is copied; so is a path that is
/// not in the set's normal form; and mapping a host beyond ASCII may allocate.
///
/// Damage that opening does not notice gives a [`FormatError`] when the damaged bytes are read, never a panic. It could
/// also give a wrong verdict; [`Set::verify`] rules that out.
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
    /// Opens a set from bytes, after checking its header, section table and the section `reading`.
    ///
    /// # Errors
    /// When one of the three is invalid; the error says what was expected and what was found.
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
        Reading::verify(set.section(Section::Reading))?;
        set.by_time = set.read_reading()?.by_time;
        Ok(set)
    }

    #[inline]
    fn section(&self, section: Section) -> &[u8] {
        self.container.section(self.data.as_ref(), section)
    }

    fn read_reading(&self) -> Result<Reading<'_>, FormatError> {
        Reading::read(self.section(Section::Reading))
    }

    /// The reading of the protocol and the time that the set was made for.
    #[must_use]
    pub fn reading(&self) -> Reading<'_> {
        // Opening the set has read this once already. If the file has shrunk since, the next decision reports it.
        self.read_reading().unwrap_or(Reading {
            dialect: "",
            profile: "",
            at: None,
            freshness: None,
            max_age_cap: None,
            patience: 0,
            by_time: false,
        })
    }

    /// The name of the dialect that the set was compiled under, for people.
    #[must_use]
    pub fn dialect(&self) -> String {
        self.reading().dialect.to_owned()
    }

    /// The number of the construction that made the set's automata, as the compiler counts its constructions.
    #[must_use]
    pub fn automata_form(&self) -> u32 {
        self.container.header().automata_form
    }

    /// The normal form of the set's patterns.
    #[must_use]
    pub fn normal_form(&self) -> NormalForm {
        self.normal_form
    }

    /// The number of bytes that each section takes.
    pub fn section_sizes(&self) -> impl Iterator<Item = (&'static str, usize)> + '_ {
        Section::ALL.into_iter().map(|section| (section.name(), self.section(section).len()))
    }

    /// The product tokens that the files in the set name.
    #[must_use]
    pub fn tokens(&self) -> Tokens<'_> {
        Tokens(self.section(Section::Tokens))
    }

    /// The known crawlers, each with the product tokens that it obeys under the set's dialect.
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

    /// The hash table of origins. Most callers want [`Set::site`].
    #[inline]
    #[must_use]
    pub fn origin_table(&self) -> Origins<'_> {
        Origins { buckets: self.section(Section::Buckets), records: self.section(Section::Origins) }
    }

    /// The number of origins in the set.
    #[must_use]
    pub fn origin_count(&self) -> u64 {
        self.origin_table().count()
    }

    /// The bytes of the whole set.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.data.as_ref()
    }

    /// Every origin of the set, in no particular order. Reads the table from start to end, without extra memory.
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

    /// Whether any origin has other directives.
    #[must_use]
    pub fn has_other_directives(&self) -> bool {
        !self.section(Section::Other).is_empty()
    }

    /// Whether the set has the line numbers of its rules, if it has any rules.
    #[must_use]
    pub fn has_lines(&self) -> bool {
        !self.section(Section::Lines).is_empty() || self.rulesets().is_empty()
    }

    /// The number of distinct policies in the set. Reads the header of each.
    ///
    /// # Errors
    /// When the table is damaged.
    pub fn policy_count(&self) -> Result<u32, FormatError> {
        self.policies().iter().try_fold(0, |count, policy| policy.map(|_| count + 1))
    }

    /// The content of the whole set, from which [`SetDraft::write`] makes the same bytes again. Time and memory: linear
    /// in the set.
    ///
    /// # Errors
    /// When the set is damaged.
    pub fn to_draft(&self) -> Result<SetDraft<'_>, FormatError> {
        let (reading, crawlers) = (self.read_reading()?, self.crawlers().to_table()?);
        ReadBack::read(self.container.header(), reading, crawlers, self.tables())
    }

    /// The tables of the set.
    pub(crate) fn tables(&self) -> Tables<'_> {
        Tables {
            tokens: self.tokens(),
            origins: self.origin_table(),
            captures: self.captures(),
            policies: self.policies(),
            rulesets: self.rulesets(),
            lines: self.lines(),
            other: self.other(),
        }
    }

    /// The automata. Equal rulesets are stored once, whichever files they came from.
    #[inline]
    #[must_use]
    pub fn rulesets(&self) -> Rulesets<'_> {
        Rulesets {
            index: self.section(Section::Index),
            bytes: self.section(Section::Rulesets),
            fingerprints: self.section(Section::Prints),
        }
    }

    /// Looks up an agent by its product token, in any letter case. The token is used as given: nothing is cut off.
    ///
    /// # Errors
    /// When the table of product tokens is damaged.
    pub fn agent(&self, token: &[u8]) -> Result<Agent, FormatError> {
        self.agent_chain(&[token], true)
    }

    /// Looks up an agent by several product tokens: the groups of the first token that a robots.txt names decide; if it
    /// names none of them, the default group decides, if the agent honours it. An agent that has no tokens and does not
    /// honour the default group may fetch everything.
    ///
    /// # Errors
    /// When the table of product tokens is damaged.
    pub fn agent_chain(&self, tokens: &[&[u8]], honours_default_group: bool) -> Result<Agent, FormatError> {
        Agent::look_up(self.tokens(), self.name_matching, tokens, honours_default_group)
    }

    /// Looks up a crawler by its name, in any letter case: a known crawler obeys the product tokens of its chain, any
    /// other only this name. See [`Set::crawlers`].
    ///
    /// # Errors
    /// When the table of crawlers or of product tokens is damaged.
    pub fn crawler(&self, name: &[u8]) -> Result<Agent, FormatError> {
        let ResolvedCrawler { tokens, honours_default_group, .. } =
            Crawlers(self.section(Section::Crawlers)).find(name)?;
        self.agent_chain(&tokens, honours_default_group)
    }

    /// How product tokens are compared in this set.
    #[must_use]
    pub fn name_matching(&self) -> NameMatching {
        self.name_matching
    }

    /// The policy of an origin; `None` if the set knows no robots.txt for it.
    ///
    /// # Errors
    /// When the tables are damaged.
    #[inline]
    pub fn policy(&self, origin: &Origin<'_>) -> Result<Option<Policy<'_>>, FormatError> {
        self.record(origin)?.map(|record| self.policy_of(&record)).transpose()
    }

    /// Everything that the set has for an origin; `None` if it knows no robots.txt for it.
    ///
    /// # Errors
    /// When the tables are damaged.
    ///
    /// ```no_run
    /// # use reptile_engine::{format::directives::DirectiveKind, set::Set, url};
    /// let set = Set::from_bytes(std::fs::read("robots.set")?)?;
    /// if let Some(site) = set.site(&url::split(b"https://example.com/")?.origin)? {
    ///     let mut lines = site.other().reader()?;
    ///     while let Some(line) = lines.next()? {
    ///         if line.kind == DirectiveKind::Sitemap {
    ///             println!("line {}: {}", line.line, line.value.escape_ascii());
    ///         }
    ///     }
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn site(&self, origin: &Origin<'_>) -> Result<Option<Site<'_>>, FormatError> {
        self.record(origin)?.map(|record| self.site_of(&record)).transpose()
    }

    #[inline]
    fn record(&self, origin: &Origin<'_>) -> Result<Option<OriginRecord<'_>>, FormatError> {
        if host::is_plain(origin.host) {
            return self.origin_table().find(origin.scheme, origin.host, origin.port);
        }
        let Some(host) = host::canonical(origin.host) else { return Ok(None) };
        self.origin_table().find(origin.scheme, host.as_bytes(), origin.port)
    }

    /// The policy of an origin from [`Set::origins`].
    ///
    /// # Errors
    /// When the tables are damaged.
    #[inline]
    pub fn policy_of(&self, record: &OriginRecord<'_>) -> Result<Policy<'_>, FormatError> {
        self.policy_at(record.policy)
    }

    #[inline]
    fn policy_at(&self, address: u32) -> Result<Policy<'_>, FormatError> {
        Ok(Policy {
            number: address,
            view: self.policies().get(address)?,
            rulesets: self.rulesets(),
            lines: self.lines(),
            normal_form: self.normal_form,
        })
    }

    /// Everything that the set has for an origin from its [`Set::origins`].
    ///
    /// # Errors
    /// When the tables are damaged.
    pub fn site_of<'s>(&'s self, record: &OriginRecord<'s>) -> Result<Site<'s>, FormatError> {
        Ok(Site {
            record: *record,
            policy: self.policy_of(record)?,
            captures: self.captures(),
            other: self.other(),
            reading: self.section(Section::Reading),
        })
    }

    /// The verdict for one URL and one agent.
    ///
    /// Time: one pass over the URL, one look-up of its origin, one walk. No allocation.
    ///
    /// # Errors
    /// When the set is damaged. A malformed URL is not an error; it yields [`Verdict::Invalid`].
    #[inline]
    pub fn decide(&self, agent: &Agent, url: &[u8]) -> Result<Verdict, FormatError> {
        let mut verdict = [Verdict::Invalid];
        self.decide_each(std::slice::from_ref(agent), url, &mut verdict)?;
        Ok(verdict[0])
    }

    /// The verdicts for one URL and several agents; `verdicts` has one element for each agent. The URL is split and its
    /// origin looked up once, and neighbouring agents that share a ruleset share its walk.
    ///
    /// # Errors
    /// When the set is damaged.
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

    /// The verdicts for one URL and several agents by the policy with this [`Policy::number`], whatever the host of the URL, which
    /// may be a path alone.
    ///
    /// # Errors
    /// When the set is damaged, or no policy has this number.
    #[inline]
    pub fn decide_each_by(
        &self,
        policy: u32,
        agents: &[Agent],
        url: &[u8],
        verdicts: &mut [Verdict],
    ) -> Result<(), FormatError> {
        let Some(path) = path_at_any_host(url) else {
            verdicts.fill(Verdict::Invalid);
            return Ok(());
        };
        self.decide_path(policy, agents, &path, verdicts)
    }

    /// The number of the ruleset by which a policy decides every path for an agent; `None` if none or several decide.
    ///
    /// # Errors
    /// When the set is damaged, or no policy has this number.
    pub fn only_ruleset(&self, policy: u32, agent: &Agent) -> Result<Option<u32>, FormatError> {
        let first = batch::first_ruleset(agent, &self.policies().get(policy)?);
        Ok(first.and_then(|(ruleset, decides_alone)| decides_alone.then_some(ruleset)))
    }

    /// The verdict for one URL by one ruleset, whatever the host of the URL, which may be a path alone.
    ///
    /// # Errors
    /// When the set is damaged, or no ruleset has this number.
    #[inline]
    pub fn decide_by_ruleset(&self, ruleset: u32, url: &[u8]) -> Result<Verdict, FormatError> {
        path_at_any_host(url).map_or(Ok(Verdict::Invalid), |path| self.verdict_of(ruleset, &path))
    }

    /// The verdict of one ruleset for one path.
    #[inline(always)]
    fn verdict_of(&self, ruleset: u32, path: &Path<'_>) -> Result<Verdict, FormatError> {
        let ruleset = policy::ruleset_at(self.rulesets(), ruleset)?;
        Ok(path.with_normal(self.normal_form, |path| ruleset.verdict(path))?)
    }

    /// The verdicts for one path and several agents by the policy at an address.
    #[inline]
    fn decide_path(
        &self,
        policy: u32,
        agents: &[Agent],
        path: &Path<'_>,
        verdicts: &mut [Verdict],
    ) -> Result<(), FormatError> {
        // Mostly one agent asks and one ruleset decides; all that other policies need is then neither read nor copied, which
        // took a third of the time of a short walk.
        if let ([agent], [verdict]) = (agents, &mut *verdicts)
            && let Some((ruleset, true)) = batch::first_ruleset(agent, &self.policies().get(policy)?)
        {
            *verdict = self.verdict_of(ruleset, path)?;
            return Ok(());
        }
        self.policy_at(policy)?.decide_each(agents, path, verdicts)
    }

    /// The verdict for one URL and one agent, with the best matching rule of each kind.
    ///
    /// # Errors
    /// When the set is damaged.
    pub fn explain(&self, agent: &Agent, url: &[u8]) -> Result<Explanation, FormatError> {
        let Ok(UrlRef { origin, path }) = url::split(url) else {
            return Ok(Explanation::without_rule(Verdict::Invalid));
        };
        match self.policy(&origin)? {
            None => Ok(Explanation::without_rule(Verdict::Unknown)),
            Some(policy) => path.with(|path| policy.explain(agent, path)),
        }
    }

    /// Every rule for an agent that matches a URL, in the order of precedence; see [`Policy::matching_rules`]. Empty
    /// for a malformed URL, and for a URL whose origin is unknown.
    ///
    /// # Errors
    /// When the set is damaged.
    pub fn matching_rules(&self, agent: &Agent, url: &[u8]) -> Result<Vec<Rule>, FormatError> {
        let Ok(UrlRef { origin, path }) = url::split(url) else { return Ok(Vec::new()) };
        match self.policy(&origin)? {
            None => Ok(Vec::new()),
            Some(policy) => path.with(|path| policy.matching_rules(agent, path)),
        }
    }
}

/// The path of a URL that is decided whatever its host; `None` if the URL is too long.
#[inline(always)]
fn path_at_any_host(url: &[u8]) -> Option<Path<'_>> {
    (url.len() <= MAX_URL_BYTES).then(|| url::path_of(url))
}
