//! Explains a verdict to people who test a file: the group that an agent obeys, the matching rules' octets, and how a
//! dialect treats each line. Makes no decisions itself.

use bumpalo::Bump;
use reptile_engine::norm::Pattern;
use reptile_engine::verdict::{Cause, Explanation, Reason, Rule, RuleKind};

use crate::body::{DiagnosticKind, Group, Line, Lines, RawRule, Robots, line_of, parse};
use crate::dialect::crawlers::Resolved;
use crate::dialect::{Dialect, EmptyDisallow, Order};
use crate::oracle::{Choice, ChosenBy, choose, names, weight_of};

/// Maximum lines read to find one by its number. A mark for every line of a 16 MB file with short lines would take
/// several times the file's size.
const LINES_BETWEEN_MARKS: usize = 64;

/// A robots.txt as read under a dialect, with the line numbers of its groups and rules.
///
/// Takes about 30 bytes of memory per rule and per user-agent line.
pub struct ExplainedFile<'b> {
    dialect: &'b Dialect,
    robots: Robots<'b>,
    /// The rest of the file before every 64th line, starting with the first.
    marks: Vec<Lines<'b>>,
    line_count: usize,
    /// Line numbers, from 1, for user-agent lines that are in groups.
    agent_lines: Vec<u32>,
    /// Each group's first index in `agent_lines`.
    first_agents: Vec<u32>,
    /// For each group with rules, the line of its last rule, and the group's index.
    last_rules: Vec<(u32, u32)>,
}

/// Why the deciding rule wins, or why no rule decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecidingReason {
    /// No group applies to the agent.
    NoGroup,
    /// No rule in its groups matches.
    NoMatch,
    /// The outcome of fetching the file decides, not the file's rules.
    Fetch(Cause),
    /// The dialect allows the path regardless of the file.
    AlwaysAllowed,
    /// The rule has no value and restricts nothing; it is reported because no other rule matches.
    EmptyRule,
    /// Only rules of this kind match, and this one comes first in order of precedence.
    OnlyKind,
    /// The rule has more octets than the other kind's best rule.
    Longer {
        /// The deciding rule's octets.
        octets: usize,
        /// The octets of the other kind's best rule.
        other: usize,
    },
    /// Both rules have equally many octets, so the allow wins.
    AllowOnTie {
        /// The shared octet count.
        octets: usize,
    },
    /// The rule comes before the other kind's first matching rule.
    First,
}

impl DecidingReason {
    /// Returns the reason's stable name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            DecidingReason::NoGroup => "no-group",
            DecidingReason::NoMatch => "no-match",
            DecidingReason::Fetch(_) => "fetch",
            DecidingReason::AlwaysAllowed => "always-allowed",
            DecidingReason::EmptyRule => "empty-rule",
            DecidingReason::OnlyKind => "only-kind",
            DecidingReason::Longer { .. } => "longer",
            DecidingReason::AllowOnTie { .. } => "allow-on-tie",
            DecidingReason::First => "first",
        }
    }
}

impl<'b> ExplainedFile<'b> {
    /// Reads a file in linear time.
    #[must_use]
    pub fn new(body: &'b [u8], dialect: &'b Dialect, arena: &'b Bump) -> ExplainedFile<'b> {
        let robots = parse(body, dialect, arena);
        // The first user-agent lines of the file are the groups' user-agent lines, in order. A dialect's limit may
        // leave later ones without a group.
        let agent_count: usize = robots.groups.iter().map(|group| group.agents.len()).sum();
        let (mut marks, mut agent_lines) = (Vec::new(), Vec::with_capacity(agent_count));
        let mut lines = Lines::new(body, dialect.byte_order_mark);
        let mut line_count = 0;
        loop {
            let rest = lines.clone();
            let Some(line) = lines.next() else { break };
            if line_count % LINES_BETWEEN_MARKS == 0 {
                marks.push(rest);
            }
            line_count += 1;
            let is_agent = || matches!(line_of(line, dialect, &mut |_| ()), Some(Line::Agent(_)));
            if agent_lines.len() < agent_count && is_agent() {
                agent_lines.push(line_count as u32);
            }
        }
        let first_agents = robots
            .groups
            .iter()
            .scan(0, |next, group| Some(std::mem::replace(next, *next + group.agents.len() as u32)));
        let first_agents = first_agents.collect();
        let last_rules = (0..).zip(&robots.groups);
        let last_rules = last_rules.filter_map(|(index, group)| Some((group.rules.last()?.line, index))).collect();
        ExplainedFile { dialect, robots, marks, line_count, agent_lines, first_agents, last_rules }
    }

    /// Returns the dialect.
    #[must_use]
    pub fn dialect(&self) -> &'b Dialect {
        self.dialect
    }

    /// Iterates over the file's lines, without line ends.
    pub fn lines(&self) -> impl Iterator<Item = &'b [u8]> + use<'b> {
        self.marks.first().cloned().into_iter().flatten()
    }

    /// Returns the line count. The text after the last line end is a line even if it is empty.
    #[must_use]
    pub fn line_count(&self) -> usize {
        self.line_count
    }

    /// Returns the line with a number, from 1, without its line end. Reads at most 64 lines.
    #[must_use]
    pub fn line(&self, number: u32) -> Option<&'b [u8]> {
        let index = (number as usize).checked_sub(1)?;
        self.marks.get(index / LINES_BETWEEN_MARKS)?.clone().nth(index % LINES_BETWEEN_MARKS)
    }

    /// Returns the groups in file order, each with the lines of its user-agent lines.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = (&Group<'b>, &[u32])> {
        self.robots.groups.iter().zip(&self.first_agents).map(|(group, &first)| {
            let lines = self.agent_lines.get(first as usize..).unwrap_or_default();
            (group, &lines[..lines.len().min(group.agents.len())])
        })
    }

    /// Chooses the groups that an agent obeys.
    ///
    /// Takes time proportional to the user-agent lines times the agent's tokens.
    #[must_use]
    pub fn choose(&self, agent: &Resolved) -> Choice {
        choose(&self.robots, self.dialect, agent)
    }

    /// Returns the user-agent lines that assign the chosen groups to the agent.
    ///
    /// Takes time linear in these groups' user-agent lines.
    pub fn naming_lines<'r>(&'r self, agent: &'r Resolved, choice: &'r Choice) -> impl Iterator<Item = u32> + 'r {
        let (is_named, token) = match choice.by {
            ChosenBy::Token(index) => (true, agent.tokens.get(index).map(Vec::as_slice)),
            ChosenBy::DefaultGroup => (true, None),
            ChosenBy::Nobody => (false, None),
        };
        let lines_of = move |&group: &usize| {
            let lines = &self.agent_lines[(self.first_agents[group] as usize).min(self.agent_lines.len())..];
            let values = self.robots.groups[group].agents.iter().zip(lines);
            values.filter(move |(value, _)| names(value, token, self.dialect)).map(|(_, &line)| line)
        };
        choice.groups.iter().filter(move |_| is_named).flat_map(lines_of)
    }

    /// Returns the first diagnostics by line. A diagnostic about the whole file has line 0.
    pub fn diagnostics(&self) -> impl Iterator<Item = (u32, DiagnosticKind)> + '_ {
        self.robots.diagnostics.first().iter().map(|diagnostic| {
            let of_file =
                matches!(diagnostic.kind, DiagnosticKind::BodyCut | DiagnosticKind::BodyIgnored | DiagnosticKind::Html);
            (if of_file { 0 } else { diagnostic.line }, diagnostic.kind)
        })
    }

    /// Returns the rule on a line, as written. Takes time logarithmic in the group and rule counts.
    #[must_use]
    pub fn rule_at(&self, line: u32) -> Option<RawRule<'b>> {
        let &(_, group) = self.last_rules.get(self.last_rules.partition_point(|&(last, _)| last < line))?;
        let rules = self.robots.groups[group as usize].rules;
        rules.binary_search_by_key(&line, |rule| rule.line).ok().map(|at| rules[at])
    }

    /// Returns why the explained rule decided. `path` must be the explained path, in the dialect's normal form.
    #[must_use]
    pub fn why(&self, explanation: &Explanation, choice: &Choice, path: &[u8]) -> DecidingReason {
        if let Reason::Fetch(cause) = explanation.reason() {
            return DecidingReason::Fetch(cause);
        }
        let Some(decided) = explanation.rule() else {
            return if choice.groups.is_empty() { DecidingReason::NoGroup } else { DecidingReason::NoMatch };
        };
        let other = match decided.kind {
            RuleKind::Allow => explanation.disallow.as_ref(),
            RuleKind::Disallow => explanation.allow.as_ref(),
        };
        let means_nothing = |rule: &RawRule<'_>| {
            rule.value.is_empty()
                && (rule.kind == RuleKind::Allow || self.dialect.empty_disallow == EmptyDisallow::NoRule)
        };
        match other {
            _ if decided.line == 0 => DecidingReason::AlwaysAllowed,
            _ if self.rule_at(decided.line).as_ref().is_some_and(means_nothing) => DecidingReason::EmptyRule,
            None => DecidingReason::OnlyKind,
            Some(_) if self.dialect.order == Order::FileOrder => DecidingReason::First,
            Some(other) => match (self.octets(decided, path), self.octets(other, path)) {
                (octets, other) if octets == other => DecidingReason::AllowOnTie { octets },
                (octets, other) => DecidingReason::Longer { octets, other },
            },
        }
    }

    /// Counts a rule's octets for precedence when the longest rule decides.
    ///
    /// The rule must match `path`, which must be in the dialect's normal form.
    ///
    /// Time: linear in the rule, and for an allow of an index page also in the path.
    #[must_use]
    pub fn octets(&self, rule: &Rule, path: &[u8]) -> usize {
        let Some(written) = self.rule_at(rule.line) else { return rule.pattern.len() };
        let is_root = written.value.is_empty() && written.kind == RuleKind::Disallow && rule.kind == RuleKind::Allow;
        let pattern = self.dialect.normal_form.pattern(if is_root { b"/" } else { written.value });
        if self.opens_folder(rule, path) {
            // The directory's own pattern: up to the last slash, plus `$`.
            return memchr::memrchr(b'/', &pattern).map_or(pattern.len(), |slash| slash + 2);
        }
        weight_of(&pattern, self.dialect.order)
    }

    /// Returns whether an allow of an index page matches `path` only as the page's directory.
    #[must_use]
    pub fn opens_folder(&self, rule: &Rule, path: &[u8]) -> bool {
        let Some(written) = self.rule_at(rule.line) else { return false };
        let pattern = self.dialect.normal_form.pattern(written.value);
        let last = memchr::memrchr(b'/', &pattern).unwrap_or(0);
        self.dialect.index_htm_opens_directory
            && rule.kind == RuleKind::Allow
            && pattern[last..].starts_with(b"/index.htm")
            && !Pattern::new(&pattern).matches(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::crawlers::of_name;
    use crate::dialect::{GOOGLE, GOOGLE_LIB, KOSTER_1996, RFC9309, YANDEX};
    use crate::set::{OwnedOrigin, SetBuilder, prepare};
    use reptile_engine::set::Set;
    use reptile_engine::url::{Origin, Scheme};
    use reptile_engine::verdict::{PolicySource, Verdict};

    /// Explains a compiled set's decision: how the group was chosen, its naming lines, the deciding line, and the
    /// reason.
    fn why(
        body: &str,
        dialect: &'static Dialect,
        agent: &str,
        path: &str,
    ) -> (ChosenBy, Vec<u32>, u32, DecidingReason) {
        let origin = Origin { scheme: Scheme::Http, host: b"h", port: 80 };
        let mut builder = SetBuilder::new(dialect);
        let key = OwnedOrigin { host: origin.host.into(), scheme: origin.scheme, port: origin.port };
        builder.add([key], prepare(body.as_bytes(), dialect, &Bump::new()).unwrap());
        let set = Set::from_bytes(builder.finish(Default::default()).unwrap().to_bytes()).unwrap();
        let resolved = of_name(agent.as_bytes(), dialect);
        let policy = set.policy(&origin).unwrap().unwrap();
        let explanation = policy.explain(&resolved.look_up(&set).unwrap(), path.as_bytes()).unwrap();
        let arena = Bump::new();
        let reading = ExplainedFile::new(body.as_bytes(), dialect, &arena);
        let choice = reading.choose(&resolved);
        let lines = reading.naming_lines(&resolved, &choice).collect();
        let path = dialect.normal_form.path(path.as_bytes());
        let why = reading.why(&explanation, &choice, &path);
        (choice.by, lines, explanation.rule().map_or(0, |rule| rule.line), why)
    }

    #[test]
    fn every_reason_occurs() {
        use ChosenBy::{DefaultGroup, Nobody, Token};
        let body = "user-agent: a\nuser-agent: b\nallow: /x\ndisallow: /x\ndisallow: /x/y\nallow: /d/index.html\ndisallow: /d\n\n\
                    user-agent: c\n\nuser-agent: *\ndisallow: /é\ndisallow:\n";
        for (dialect, agent, path, expected) in [
            (&GOOGLE_LIB, "a", "/x", (Token(0), vec![1], 3, DecidingReason::AllowOnTie { octets: 2 })),
            (&GOOGLE_LIB, "B", "/x/y", (Token(0), vec![2], 5, DecidingReason::Longer { octets: 4, other: 2 })),
            (&GOOGLE_LIB, "a", "/d/", (Token(0), vec![1], 6, DecidingReason::Longer { octets: 4, other: 2 })),
            (
                &GOOGLE_LIB,
                "a",
                "/d/index.html",
                (Token(0), vec![1], 6, DecidingReason::Longer { octets: 13, other: 2 }),
            ),
            (&GOOGLE_LIB, "a", "/z", (Token(0), vec![1], 0, DecidingReason::NoMatch)),
            (&GOOGLE_LIB, "z", "/%C3%A9", (DefaultGroup, vec![11], 12, DecidingReason::OnlyKind)),
            (&GOOGLE_LIB, "c", "/z", (Token(0), vec![9], 13, DecidingReason::EmptyRule)),
            (&YANDEX, "c", "/z", (Token(0), vec![9], 0, DecidingReason::NoMatch)),
            (&YANDEX, "z", "/z", (DefaultGroup, vec![11], 13, DecidingReason::OnlyKind)),
            (&RFC9309, "z", "/robots.txt", (DefaultGroup, vec![11], 0, DecidingReason::AlwaysAllowed)),
            (&KOSTER_1996, "a", "/x/y", (Token(0), vec![1], 3, DecidingReason::First)),
            (&GOOGLE, "AdsBot-Google", "/%C3%A9", (Nobody, vec![], 0, DecidingReason::NoGroup)),
        ] {
            assert_eq!(why(body, dialect, agent, path), expected, "{} {agent} {path}", dialect.name);
        }
    }

    #[test]
    fn fetch_outcomes_take_precedence_over_a_missing_group() {
        let arena = Bump::new();
        let reading = ExplainedFile::new(b"user-agent: a\ndisallow: /\n", &GOOGLE_LIB, &arena);
        let choice = reading.choose(&of_name(b"z", &GOOGLE_LIB));
        let cause = Cause::Status(503);
        let explanation =
            Explanation { source: PolicySource::DisallowAll(cause), ..Explanation::without_rule(Verdict::Disallow) };
        assert_eq!(reading.why(&explanation, &choice, b"/"), DecidingReason::Fetch(cause));
        assert_eq!(reading.why(&Explanation::without_rule(Verdict::Allow), &choice, b"/"), DecidingReason::NoGroup);
    }

    #[test]
    fn lines_are_found_by_number() {
        let arena = Bump::new();
        for count in [0, 1, LINES_BETWEEN_MARKS - 1, LINES_BETWEEN_MARKS, LINES_BETWEEN_MARKS + 1, 1000] {
            let body: String = (1..=count).map(|number| format!("{number}\r\n")).collect();
            let reading = ExplainedFile::new(body.as_bytes(), &GOOGLE_LIB, &arena);
            assert_eq!((reading.line_count(), reading.lines().count()), (count + 1, count + 1));
            assert_eq!(reading.marks.len(), count / LINES_BETWEEN_MARKS + 1);
            for number in 1..=count {
                assert_eq!(reading.line(number as u32), Some(number.to_string().as_bytes()));
            }
            assert_eq!(reading.line(count as u32 + 1), Some(&b""[..]));
            assert_eq!((reading.line(0), reading.line(count as u32 + 2)), (None, None));
        }
    }

    #[test]
    fn rules_are_found_by_line() {
        let arena = Bump::new();
        let body = b"user-agent: a\n\nuser-agent: b\ndisallow: /1\nx\ndisallow: /2\n\nuser-agent: c\n\nuser-agent: d\nallow: /3\n";
        for dialect in [&GOOGLE_LIB, &YANDEX] {
            let reading = ExplainedFile::new(body, dialect, &arena);
            let found: Vec<u32> = (0..13).filter(|&line| reading.rule_at(line).is_some()).collect();
            assert_eq!(found, [4, 6, 11], "{}", dialect.name);
        }
    }
}
