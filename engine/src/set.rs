//! The compiled set: opening it, checking it, and asking it.
//!
//! Joins the tables ([`crate::format::tables`]) to the automata ([`crate::automaton`]). Knows no offsets.

use std::fmt;
use std::io;
use std::path::Path;

use crate::automaton::Ruleset;
use crate::format::FormatError;
use crate::format::automaton::{Corrupt, kind_of};
use crate::format::container::{Container, Section};
use crate::format::fields::{DirectiveList, OtherDirectives};
use crate::format::tables::{
    AgentGroups, Agents, Group, NONE, NameMatching, OriginRecord, Origins, Policies, PolicyView, Rulesets, line_at,
};
use crate::host::{self, ToAscii};
use crate::norm::NormalForm;
use crate::platform::Mapped;
use crate::url::{self, Origin, UrlRef};
use crate::verdict::{Explanation, PolicySource, Rule, RuleKind, Verdict};

/// A compiled set of robots.txt files, over bytes that are mapped ([`Set::open`]) or owned ([`Set::from_bytes`]).
///
/// Immutable; share it between threads by reference. Costs no memory beside its bytes. A decision allocates
/// nothing (a URL of the form `http://host?query`, which lacks the slash, is copied, and so is a path that is not in
/// the set's normal form; a host beyond ASCII is mapped by a function that may allocate).
///
/// Bytes that are damaged in a way that opening does not notice give a [`FormatError`] when they are met, never a
/// panic. They could also give a wrong answer, as damaged data can; [`Set::verify`] rules that out.
pub struct Set<D> {
    data: D,
    container: Container,
    normal_form: NormalForm,
    name_matching: NameMatching,
    to_ascii: Option<ToAscii>,
}

/// Why a set file could not be opened.
#[derive(Debug)]
pub enum OpenError {
    /// The file could not be read.
    Io(io::Error),
    /// The file is not a set, or not a whole one.
    Format(FormatError),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::Io(error) => error.fmt(f),
            OpenError::Format(error) => write!(f, "not a valid set: {error}"),
        }
    }
}

impl std::error::Error for OpenError {}

impl From<FormatError> for OpenError {
    fn from(error: FormatError) -> OpenError {
        OpenError::Format(error)
    }
}

impl From<Corrupt> for FormatError {
    fn from(corrupt: Corrupt) -> FormatError {
        corrupt.in_section()
    }
}

/// An agent as a set knows it: looked up once, then used for any number of decisions.
///
/// An agent that no robots.txt of the set names is an agent like any other: it gets the rules for all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    names: Names,
}

/// The numbers of the names that an agent goes by.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Names {
    /// One name, and else the rules for all others.
    One(Option<u32>),
    /// The groups of the first step that a file names; see [`PolicyView::for_steps`].
    Steps { steps: Box<[Box<[u32]>]>, honours_default_group: bool },
    /// None: it obeys no robots.txt.
    Free,
}

impl Agent {
    /// Whether any robots.txt of the set names it.
    #[must_use]
    pub fn is_named(&self) -> bool {
        match &self.names {
            Names::One(number) => number.is_some(),
            Names::Steps { steps, .. } => !steps.is_empty(),
            Names::Free => false,
        }
    }

    /// Whether it gets the rules for all others where none of its names has rules of its own.
    #[must_use]
    pub fn honours_default_group(&self) -> bool {
        !matches!(self.names, Names::Steps { honours_default_group: false, .. } | Names::Free)
    }

    #[inline]
    fn groups<'p>(&self, policy: &'p PolicyView<'_>) -> Result<AgentGroups<'p>, FormatError> {
        match &self.names {
            Names::One(number) => policy.for_agent(*number),
            Names::Steps { steps, honours_default_group } => policy.for_steps(steps, *honours_default_group),
            Names::Free => policy.for_steps(&[], false),
        }
    }
}

impl Set<Mapped> {
    /// Maps a set file and checks what is cheap to check. Microseconds, whatever the size.
    ///
    /// # Errors
    /// When the file cannot be mapped or is not a set of this format version; see [`Set::from_bytes`].
    pub fn open(path: &Path) -> Result<Set<Mapped>, OpenError> {
        Ok(Set::from_bytes(Mapped::open(path).map_err(OpenError::Io)?)?)
    }
}

impl<D: AsRef<[u8]>> Set<D> {
    /// Takes bytes as a set, after checking its label, version, lengths and the header's checksum.
    ///
    /// # Errors
    /// When one of them is wrong; the error says which and what was expected.
    pub fn from_bytes(data: D) -> Result<Set<D>, FormatError> {
        let container = Container::read(data.as_ref())?;
        let number = container.normal_form();
        let normal_form = NormalForm::from_number(number).ok_or_else(|| {
            FormatError::new("header", "the number of a normal form that this version knows", number.to_string())
        })?;
        let number = container.name_matching();
        let name_matching = NameMatching::from_number(number).ok_or_else(|| {
            FormatError::new("header", "a way of comparing names that this version knows", number.to_string())
        })?;
        Ok(Set { data, container, normal_form, name_matching, to_ascii: None })
    }

    /// Has the names of hosts beyond ASCII mapped by this function, which is to be the one that the set's maker used.
    /// Without it their origins are unknown: this crate has no tables of Unicode. Names in ASCII never need it.
    #[must_use]
    pub fn with_to_ascii(self, to_ascii: ToAscii) -> Set<D> {
        Set { to_ascii: Some(to_ascii), ..self }
    }

    /// Reads every byte: the checksum of each section, and that every reference leads to something sensible.
    ///
    /// Cost: linear in the size of the file, about a second for a gigabyte.
    ///
    /// # Errors
    /// The first thing that is wrong, with its section.
    pub fn verify(&self) -> Result<(), FormatError> {
        self.verify_checksums()?;
        self.agents().verify()?;
        let (policies, rulesets) = (self.policies(), self.rulesets());
        for ruleset in 0..rulesets.len() {
            Ruleset::new(rulesets.get(ruleset)?)?.verify()?;
        }
        for policy in 0..policies.count()? {
            let policy = policies.get(policy)?;
            policy.verify(self.agents().count()?)?;
            for group in policy.groups()? {
                let rules = Ruleset::new(rulesets.get(group.ruleset)?)?.rule_count();
                if rules > 0 {
                    line_at(self.section(Section::Lines), group.lines, rules - 1)?;
                }
            }
        }
        self.fields().verify(|policy| Ok(policies.get(policy)?.group_count()))?;
        self.origins().verify(policies.count()?)
    }

    /// Compares the checksum of each section, and no more. As fast as memory or disk.
    ///
    /// # Errors
    /// The first section that is damaged.
    pub fn verify_checksums(&self) -> Result<(), FormatError> {
        let file = self.data.as_ref();
        self.container.verify_gaps(file)?;
        Section::ALL.into_iter().try_for_each(|section| self.container.verify(file, section))
    }

    #[inline]
    fn section(&self, section: Section) -> &[u8] {
        self.container.section(self.data.as_ref(), section)
    }

    /// The name of the dialect that the set was compiled under, for people.
    #[must_use]
    pub fn dialect(&self) -> String {
        String::from_utf8_lossy(self.section(Section::Dialect)).into_owned()
    }

    /// The normal form of the set's patterns.
    #[must_use]
    pub fn normal_form(&self) -> NormalForm {
        self.normal_form
    }

    /// How many bytes each section takes.
    pub fn section_sizes(&self) -> impl Iterator<Item = (&'static str, usize)> + '_ {
        Section::ALL.into_iter().map(|section| (section.name(), self.section(section).len()))
    }

    /// The agents that the set's files name.
    #[must_use]
    pub fn agents(&self) -> Agents<'_> {
        Agents(self.section(Section::Agents))
    }

    /// The origins that the set knows.
    #[inline]
    #[must_use]
    pub fn origins(&self) -> Origins<'_> {
        Origins {
            buckets: self.section(Section::Buckets),
            records: self.section(Section::Origins),
            hosts: self.section(Section::Hosts),
        }
    }

    #[inline]
    fn policies(&self) -> Policies<'_> {
        Policies(self.section(Section::Policies))
    }

    #[inline]
    fn fields(&self) -> OtherDirectives<'_> {
        OtherDirectives(self.section(Section::Other))
    }

    /// Whether any policy has other directives.
    #[must_use]
    pub fn has_other_directives(&self) -> bool {
        !self.section(Section::Other).is_empty()
    }

    /// The other directives of a policy: the lines that decide nothing, such as `Sitemap`. None in a set that was made
    /// without. No decision reads any of it; one look-up costs a binary search over the policies.
    ///
    /// # Errors
    /// When the set is damaged.
    ///
    /// ```no_run
    /// # use reptile_engine::{format::fields::DirectiveKind, set::Set};
    /// let set = Set::open("robots.set".as_ref())?;
    /// let policy = set.policy_of(&set.origins().at(0)?)?;
    /// let mut lines = set.fields_of(&policy)?.reader()?;
    /// while let Some(field) = lines.next()? {
    ///     if field.kind == DirectiveKind::Sitemap {
    ///         println!("line {}: {}", field.line, field.value.escape_ascii());
    ///     }
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fields_of(&self, policy: &Policy<'_>) -> Result<DirectiveList<'_>, FormatError> {
        self.fields().of_policy(policy.number)
    }

    /// How many policies, that is, different robots.txt files, there are.
    ///
    /// # Errors
    /// When the table is damaged.
    pub fn policy_count(&self) -> Result<u32, FormatError> {
        self.policies().count()
    }

    /// The automata, each stored once whichever files it came from.
    #[inline]
    #[must_use]
    pub fn rulesets(&self) -> Rulesets<'_> {
        Rulesets { index: self.section(Section::Index), bytes: self.section(Section::Rulesets) }
    }

    /// Looks up an agent by its product token, in any letter case. Taken as it is: nothing is cut off.
    ///
    /// # Errors
    /// When the table of agents is damaged.
    pub fn agent(&self, token: &[u8]) -> Result<Agent, FormatError> {
        match self.name_matching {
            NameMatching::Equal => Ok(Agent { names: Names::One(self.agents().find(token)?) }),
            NameMatching::Contained => self.agent_chain(&[token], true),
        }
    }

    /// Looks up an agent that goes by several product tokens: the groups of the first one that a robots.txt names
    /// decide, and where it names none those for all others, if the agent honours them. An agent without tokens
    /// that does not honour them either may fetch everything.
    ///
    /// # Errors
    /// When the table of agents is damaged.
    pub fn agent_chain(&self, tokens: &[&[u8]], honours_default_group: bool) -> Result<Agent, FormatError> {
        let mut steps: Vec<Box<[u32]>> = Vec::with_capacity(tokens.len());
        for token in tokens {
            let numbers: Vec<u32> = match self.name_matching {
                NameMatching::Equal => self.agents().find(token)?.into_iter().collect(),
                NameMatching::Contained => self.agents().find_containing(token)?,
            };
            if !numbers.is_empty() {
                steps.push(numbers.into());
            }
        }
        let names = match *steps {
            _ if tokens.is_empty() && !honours_default_group => Names::Free,
            [] if honours_default_group => Names::One(None),
            [ref step] if honours_default_group && step.len() == 1 => Names::One(Some(step[0])),
            _ => Names::Steps { steps: steps.into(), honours_default_group },
        };
        Ok(Agent { names })
    }

    /// How names are compared in this set.
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
        let found = if host::is_plain(origin.host) {
            self.origins().find(origin.scheme, origin.host, origin.port)?
        } else {
            let Some(host) = host::canonical(origin.host, self.to_ascii) else { return Ok(None) };
            self.origins().find(origin.scheme, host.as_bytes(), origin.port)?
        };
        found.map(|policy| self.policy_number(policy)).transpose()
    }

    /// The policy of an entry of [`Set::origins`].
    ///
    /// # Errors
    /// When the tables are damaged.
    pub fn policy_of(&self, entry: &OriginRecord<'_>) -> Result<Policy<'_>, FormatError> {
        self.policy_number(entry.policy)
    }

    #[inline]
    fn policy_number(&self, policy: u32) -> Result<Policy<'_>, FormatError> {
        Ok(Policy {
            number: policy,
            view: self.policies().get(policy)?,
            rulesets: self.rulesets(),
            lines: self.section(Section::Lines),
            normal_form: self.normal_form,
        })
    }

    /// The verdict for one URL and one agent.
    ///
    /// Time: one pass over the URL, one look-up of its origin, one walk. No allocation.
    ///
    /// # Errors
    /// When the set is damaged. A URL that is none is no error but [`Verdict::Invalid`].
    #[inline]
    pub fn decide(&self, agent: &Agent, url: &[u8]) -> Result<Verdict, FormatError> {
        let mut verdict = [Verdict::Invalid];
        self.decide_each(std::slice::from_ref(agent), url, &mut verdict)?;
        Ok(verdict[0])
    }

    /// The verdicts for one URL and several agents; `verdicts` has a place for each. The URL is split and its
    /// origin looked up once, and agents that share a ruleset share its walk if they stand side by side.
    ///
    /// # Errors
    /// When the set is damaged.
    #[inline]
    pub fn decide_each(&self, agents: &[Agent], url: &[u8], verdicts: &mut [Verdict]) -> Result<(), FormatError> {
        let Ok(UrlRef { origin, path }) = url::split(url) else {
            verdicts.fill(Verdict::Invalid);
            return Ok(());
        };
        let Some(policy) = self.policy(&origin)? else {
            verdicts.fill(Verdict::Unknown);
            return Ok(());
        };
        if !policy.view.has_rules() {
            let decided = agents.iter().zip(verdicts);
            for (agent, verdict) in decided {
                *verdict = policy.without_rules(agent)?.verdict;
            }
            return Ok(());
        }
        path.with(|path| {
            let path = self.normal_form.path(path);
            let mut last = None;
            for (agent, verdict) in agents.iter().zip(verdicts) {
                let groups = agent.groups(&policy.view)?;
                *verdict = match (groups.first, last) {
                    _ if groups.has_more() => policy.explain_together(groups.all()?, &path)?.verdict,
                    (None, _) => Verdict::Allow,
                    (Some(group), Some((walked, known))) if walked == group => known,
                    (Some(group), _) => {
                        let verdict = policy.rules(group)?.ruleset.verdict(&path)?;
                        last = Some((group, verdict));
                        verdict
                    }
                };
            }
            Ok(())
        })
    }

    /// The verdict for one URL and one agent, with the rules that match best.
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
}

/// The rules of one robots.txt for all agents.
#[derive(Clone, Copy)]
pub struct Policy<'a> {
    number: u32,
    view: PolicyView<'a>,
    rulesets: Rulesets<'a>,
    lines: &'a [u8],
    normal_form: NormalForm,
}

impl<'a> Policy<'a> {
    /// The verdict for a path as it stands in a URL. Never `Unknown` or `Invalid`.
    ///
    /// # Errors
    /// When the set is damaged.
    pub fn decide(&self, agent: &Agent, path: &[u8]) -> Result<Verdict, FormatError> {
        if !self.view.has_rules() {
            return Ok(self.without_rules(agent)?.verdict);
        }
        let groups = agent.groups(&self.view)?;
        if groups.has_more() {
            return Ok(self.explain_together(groups.all()?, &self.normal_form.path(path))?.verdict);
        }
        let Some(group) = groups.first else { return Ok(Verdict::Allow) };
        Ok(self.rules(group)?.ruleset.verdict(&self.normal_form.path(path))?)
    }

    /// The verdict for a path as it stands in a URL, with the rules that match best.
    ///
    /// # Errors
    /// When the set is damaged.
    pub fn explain(&self, agent: &Agent, path: &[u8]) -> Result<Explanation, FormatError> {
        if !self.view.has_rules() {
            return self.without_rules(agent);
        }
        self.explain_together(agent.groups(&self.view)?.all()?, &self.normal_form.path(path))
    }

    /// What the policy rests on.
    ///
    /// # Errors
    /// When the set is damaged.
    pub fn source(&self) -> Result<PolicySource, FormatError> {
        self.view.source()
    }

    /// The verdict where no rules decide. It holds for every path, and for every agent that obeys robots.txt at all.
    #[cold]
    fn without_rules(&self, agent: &Agent) -> Result<Explanation, FormatError> {
        let source = self.view.source()?;
        Ok(match source.verdict() {
            Some(verdict) if agent.names != Names::Free => Explanation { source, ..Explanation::without_rule(verdict) },
            _ => Explanation::without_rule(Verdict::Allow),
        })
    }

    /// Whether any rules are for an agent, be they its own or those for all others.
    ///
    /// # Errors
    /// When the set is damaged.
    pub fn has_group(&self, agent: &Agent) -> Result<bool, FormatError> {
        Ok(agent.groups(&self.view)?.first.is_some())
    }

    /// The policy's number in the set.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The indices, among [`Policy::groups`], of the groups that an agent has; none if nothing is said to it.
    ///
    /// # Errors
    /// When the policy is damaged.
    pub fn group_indices(&self, agent: &Agent) -> Result<Vec<u32>, FormatError> {
        Ok(agent.groups(&self.view)?.indices())
    }

    /// Decides by the rules of several groups at once, for a path in normal form: the best of each group are
    /// compared by their keys, and by their lines where those are equal.
    fn explain_together(&self, groups: Vec<Group>, path: &[u8]) -> Result<Explanation, FormatError> {
        let alone = groups.len() == 1;
        let mut best: [Option<(u32, Rule)>; 2] = [None, None];
        let mut empty: Option<Rule> = None;
        for group in groups {
            let rules = self.rules(group)?;
            let matches = rules.ruleset.matches(path)?;
            for rank in [matches.allow, matches.disallow].into_iter().flatten() {
                let rule = rules.rule(rank, rules.ruleset.pattern(rank, path)?)?;
                if rule.pattern.is_empty() {
                    if empty.as_ref().is_none_or(|other| (rule.kind, rule.line) < (other.kind, other.line)) {
                        empty = Some(rule);
                    }
                    continue;
                }
                let key = if alone { rank } else { rules.ruleset.joint_rank(rank)? };
                let slot = &mut best[rule.kind as usize];
                if slot.as_ref().is_none_or(|(other_key, other)| (key, rule.line) < (*other_key, other.line)) {
                    *slot = Some((key, rule));
                }
            }
        }
        let [allow, disallow] = best;
        let disallows = match (&allow, &disallow) {
            (Some((allow, _)), Some((disallow, _))) => disallow < allow,
            (None, Some(_)) => true,
            (_, None) => false,
        };
        let mut explanation = Explanation {
            verdict: if disallows { Verdict::Disallow } else { Verdict::Allow },
            decided_by: [&allow, &disallow][usize::from(disallows)].as_ref().map(|(_, rule)| rule.kind),
            source: self.view.source()?,
            allow: allow.map(|(_, rule)| rule),
            disallow: disallow.map(|(_, rule)| rule),
        };
        // An empty pattern restricts nothing, whichever word stands in front of it. It is named when nothing else
        // matches.
        if let Some(empty) = empty.filter(|_| explanation.decided_by.is_none()) {
            explanation.decided_by = Some(empty.kind);
            match empty.kind {
                RuleKind::Allow => explanation.allow = Some(empty),
                RuleKind::Disallow => explanation.disallow = Some(empty),
            }
        }
        Ok(explanation)
    }

    /// The groups of the file: for each, the numbers of the agents that it is for, whether it is for all others,
    /// and its rules.
    ///
    /// # Errors
    /// When the policy is damaged.
    pub fn groups(&self) -> Result<Vec<(Vec<u32>, bool, Rules<'a>)>, FormatError> {
        let groups = self.view.groups()?;
        let mut agents = vec![Vec::new(); groups.len()];
        for (agent, group) in self.view.agents() {
            if let Some(agents) = agents.get_mut(group as usize) {
                agents.push(agent);
            }
        }
        let others = self.view.default_group_index();
        let groups = groups.into_iter().zip(agents).enumerate();
        let with_rules =
            groups.map(|(index, (group, agents))| Ok((agents, others == Some(index as u32), self.rules(group)?)));
        with_rules.collect()
    }

    #[inline]
    fn rules(&self, group: Group) -> Result<Rules<'a>, FormatError> {
        let ruleset = Ruleset::new(self.rulesets.get(group.ruleset)?)?;
        Ok(Rules { ruleset, number: group.ruleset, lines: self.lines, lines_at: group.lines })
    }
}

/// The rules of one group of one robots.txt: a ruleset, which files may share, and the lines of this file.
#[derive(Clone, Copy)]
pub struct Rules<'a> {
    /// The automaton.
    pub ruleset: Ruleset<'a>,
    /// The ruleset's number in the set.
    pub number: u32,
    lines: &'a [u8],
    lines_at: u32,
}

impl Rules<'_> {
    /// Whether line numbers are known.
    #[must_use]
    pub fn has_lines(&self) -> bool {
        self.lines_at != NONE
    }

    /// The rule that a rank of the ruleset stands for.
    fn rule(&self, rank: u32, pattern: Vec<u8>) -> Result<Rule, FormatError> {
        Ok(Rule { kind: kind_of(rank), pattern, line: line_at(self.lines, self.lines_at, rank / 2)? })
    }

    /// Every rule, in the order of precedence; see [`Ruleset::rules`].
    ///
    /// # Errors
    /// When the set is damaged.
    pub fn all(&self) -> Result<Vec<Rule>, FormatError> {
        self.ruleset.rules()?.into_iter().map(|rule| self.rule(rule.rank, rule.pattern)).collect()
    }
}
