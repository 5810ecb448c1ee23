//! The oracle: a slow, obviously correct matcher. The tests compare all compiled rulesets with it.
//!
//! Parses the file again for every question and evaluates every rule by its definition: no order, no automaton, no
//! merging. It shares with the compiler only the parsing of lines, keys and groups, a stage that is also tested against
//! recorded verdicts of the reference. It has its own matcher.

use bumpalo::Bump;
use reptile_engine::format::directives::DirectiveKind;
use reptile_engine::format::tokens::NameMatching;
use reptile_engine::url::path_of;
use reptile_engine::verdict::{Preference, RuleKind};

use crate::body::directives::{content_usage, kind_of};
use crate::body::{Group, RawRule, Robots, parse, parse_with};
use crate::dialect::crawlers::{Resolved, of_name};
use crate::dialect::{Dialect, EmptyDisallow, GroupChoice, Order};
use crate::rules::groups::{Named, named};
use crate::usage::Statement;

/// The oracle's answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OracleAnswer {
    /// Whether the URL may be fetched.
    pub allowed: bool,
    /// The line of the rule that decided, or 0.
    pub line: u32,
}

/// The answer if no rule matches.
const ALLOWED: OracleAnswer = OracleAnswer { allowed: true, line: 0 };

/// Decides whether the crawler named `agent` in this dialect may fetch `url` according to the file `body`, and returns
/// the line that decided.
///
/// Source: google/robotstxt, `RobotsMatcher`, for that library's behavior; the dialect's switches for the others. Takes
/// time proportional to the body length times the path length.
#[must_use]
pub fn decide(body: &[u8], dialect: &Dialect, agent: &[u8], url: &[u8]) -> OracleAnswer {
    decide_for(body, dialect, &of_name(agent, dialect), url)
}

/// Decides like [`decide`], for an agent with known product tokens.
#[must_use]
pub fn decide_for(body: &[u8], dialect: &Dialect, agent: &Resolved, url: &[u8]) -> OracleAnswer {
    let arena = Bump::new();
    let robots = parse(body, dialect, &arena);
    let path = path_of(url).to_vec();
    let path = dialect.normal_form.path(&path);
    if dialect.robots_txt_always_allowed && *path == *b"/robots.txt" {
        return ALLOWED;
    }
    let matching: Vec<RuleMatch> = choose(&robots, dialect, agent)
        .groups
        .into_iter()
        .flat_map(|group| robots.groups[group].rules)
        .filter_map(|rule| match_of(rule, &path, dialect))
        .collect();
    let (empty, matching): (Vec<RuleMatch>, Vec<RuleMatch>) = matching.into_iter().partition(|found| found.is_empty);
    // The first of the best rules decides; line numbers follow file order.
    let best = match dialect.order {
        Order::FileOrder => matching.iter().min_by_key(|found| found.line),
        Order::Longest | Order::LongestWithoutTrailingWildcards => {
            matching.iter().min_by_key(|found| (std::cmp::Reverse(found.weight), found.kind, found.line))
        }
    };
    if let Some(best) = best {
        return OracleAnswer { allowed: best.kind == RuleKind::Allow, line: best.line };
    }
    // A rule with an empty pattern restricts nothing, but is reported if no other rule matches.
    empty
        .iter()
        .min_by_key(|found| (found.kind, found.line))
        .map_or(ALLOWED, |found| OracleAnswer { line: found.line, ..ALLOWED })
}

/// The reason that an agent obeys its groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChosenBy {
    /// The groups name the agent's product token at this index, the first of its tokens that the file names.
    Token(usize),
    /// The groups are the default group.
    DefaultGroup,
    /// The agent obeys no group.
    Nobody,
}

/// The groups that an agent obeys, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The reason that the agent obeys them.
    pub by: ChosenBy,
    /// The indices of the groups in the file.
    pub groups: Vec<usize>,
}

/// Chooses the groups that the agent obeys. Takes time proportional to the user-agent lines times the agent's tokens.
#[must_use]
pub fn choose(robots: &Robots<'_>, dialect: &Dialect, agent: &Resolved) -> Choice {
    let groups_naming = |token: Option<&[u8]>| -> Vec<usize> {
        let is_for = |group: &Group<'_>| group.agents.iter().any(|value| names(value, token, dialect));
        let all = robots.groups.iter().enumerate().filter(|(_, group)| is_for(group)).map(|(index, _)| index);
        match dialect.group_choice {
            GroupChoice::Merge => all.collect(),
            GroupChoice::First => all.take(1).collect(),
        }
    };
    for (index, token) in agent.tokens.iter().enumerate() {
        let groups = groups_naming(Some(token));
        if !groups.is_empty() {
            return Choice { by: ChosenBy::Token(index), groups };
        }
    }
    let groups = if agent.honors_default_group { groups_naming(None) } else { Vec::new() };
    Choice { by: if groups.is_empty() { ChosenBy::Nobody } else { ChosenBy::DefaultGroup }, groups }
}

/// Returns whether a user-agent value names a product token, or, for `None`, the default group.
pub(crate) fn names(value: &[u8], token: Option<&[u8]>, dialect: &Dialect) -> bool {
    match (named(value, dialect), token) {
        (Named::Everyone, token) => token.is_none(),
        (Named::Token(_), None) => false,
        (Named::Token(name), Some(token)) if dialect.name_matching == NameMatching::Contained => {
            name.windows(token.len().max(1)).any(|window| window.eq_ignore_ascii_case(token))
        }
        (Named::Token(name), Some(token)) => name.eq_ignore_ascii_case(token),
    }
}

/// Returns the preference that the groups for a product token state for `url`, if the token names a use instead of a
/// crawler. With `has_default_group`, the groups for `*` state it if no group names the token.
///
/// Source: the abstract of draft-kelley-aipref-training-preference-signal-00.
#[must_use]
pub fn stated_by_token(
    body: &[u8],
    dialect: &Dialect,
    token: &[u8],
    has_default_group: bool,
    url: &[u8],
) -> Preference {
    let tokens = vec![token.into()];
    let token = Resolved { name: String::new(), tokens, honors_default_group: has_default_group };
    let arena = Bump::new();
    match choose(&parse(body, dialect, &arena), dialect, &token).by {
        ChosenBy::Nobody => Preference::Unknown,
        ChosenBy::Token(_) | ChosenBy::DefaultGroup if decide_for(body, dialect, &token, url).allowed => {
            Preference::Allowed
        }
        ChosenBy::Token(_) | ChosenBy::DefaultGroup => Preference::Disallowed,
    }
}

/// A file's statements about a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OracleUses {
    /// The deciding usage rules' combined statement.
    pub usage: Statement,
    /// The signals' combined statement.
    pub signals: Statement,
}

/// Returns the statements in the file `body` that apply to `url`, for an agent that may fetch it.
///
/// Source: draft-ietf-aipref-attach, section 3. Takes time proportional to the body length times the path length.
#[must_use]
pub fn uses(body: &[u8], dialect: &Dialect, agent: &Resolved, url: &[u8]) -> OracleUses {
    let arena = Bump::new();
    let mut lines = Vec::new();
    let robots = parse_with(
        body,
        dialect,
        &arena,
        |line| {
            lines.push((line.group, kind_of(line.key), line.value));
            None
        },
        |_| (),
    );
    let path = path_of(url).to_vec();
    let path = dialect.normal_form.path(&path);
    let groups = choose(&robots, dialect, agent).groups;
    let is_of_agent = |group: Option<u32>| group.is_some_and(|group| groups.contains(&(group as usize)));
    let mut uses = OracleUses::default();
    let mut longest = None;
    for &(_, _, value) in
        lines.iter().filter(|(group, kind, _)| is_of_agent(*group) && *kind == DirectiveKind::ContentUsage)
    {
        let (pattern, statement) = content_usage(value);
        let pattern = pattern.map(|pattern| dialect.normal_form.pattern(pattern));
        let len = pattern.as_ref().map_or(0, |pattern| pattern.len());
        if pattern.is_some_and(|pattern| !pattern_matches(&pattern, &path)) || Some(len) < longest {
            continue;
        }
        if Some(len) > longest {
            (longest, uses.usage) = (Some(len), Statement::default());
        }
        uses.usage.combine(&Statement::parse(statement).unwrap_or_default());
    }
    let signals_of = |group: Option<u32>| {
        let of_group = lines.iter().filter(move |line| line.0 == group && line.1 == DirectiveKind::ContentSignal);
        of_group.map(|line| Statement::signals(line.2).0)
    };
    let of_groups: Vec<Statement> = groups.iter().flat_map(|&group| signals_of(Some(group as u32))).collect();
    let signals = if of_groups.is_empty() { signals_of(None).collect() } else { of_groups };
    signals.iter().for_each(|statement| uses.signals.combine(statement));
    uses
}

#[derive(Clone, Copy)]
struct RuleMatch {
    kind: RuleKind,
    weight: usize,
    line: u32,
    is_empty: bool,
}

fn match_of(rule: &RawRule<'_>, path: &[u8], dialect: &Dialect) -> Option<RuleMatch> {
    let RawRule { mut kind, mut value, line } = *rule;
    if kind == RuleKind::Disallow && value.is_empty() && dialect.empty_disallow == EmptyDisallow::AllowRoot {
        (kind, value) = (RuleKind::Allow, b"/");
    }
    let pattern = dialect.normal_form.pattern(value);
    let found = |pattern: &[u8]| RuleMatch {
        kind,
        weight: weight_of(pattern, dialect.order),
        line,
        is_empty: pattern.is_empty(),
    };
    if pattern_matches(&pattern, path) {
        return Some(found(&pattern));
    }
    if kind == RuleKind::Allow && dialect.index_htm_opens_directory {
        let slash = pattern.iter().rposition(|&byte| byte == b'/')?;
        if pattern[slash..].starts_with(b"/index.htm") {
            let directory = [&pattern[..=slash], b"$"].concat();
            return pattern_matches(&directory, path).then(|| found(&directory));
        }
    }
    None
}

/// Returns the number of octets in a normalized pattern that count for precedence.
pub(crate) fn weight_of(mut pattern: &[u8], order: Order) -> usize {
    if order == Order::LongestWithoutTrailingWildcards {
        if pattern.ends_with(b"*$") {
            pattern = &pattern[..pattern.len() - 1];
        }
        while let [start @ .., b'*'] = pattern {
            pattern = start;
        }
    }
    pattern.len()
}

/// Returns whether a pattern matches a path, by definition: `*` matches any bytes, a final `$` matches the end of the
/// path, any other byte matches itself, and any text may follow the match.
///
/// Keeps the list of all path positions reachable with the pattern read so far.
#[must_use]
pub fn pattern_matches(pattern: &[u8], path: &[u8]) -> bool {
    let mut reached = vec![0];
    for (index, &byte) in pattern.iter().enumerate() {
        reached = match (byte, reached.first()) {
            (b'$', _) if index + 1 == pattern.len() => return reached.contains(&path.len()),
            (b'*', Some(&first)) => (first..=path.len()).collect(),
            _ => reached.into_iter().filter(|&at| path.get(at) == Some(&byte)).map(|at| at + 1).collect(),
        };
    }
    !reached.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::GOOGLE_LIB;

    #[test]
    fn patterns_match_by_definition() {
        for (pattern, path, matches) in [
            ("/a", "/ab", true),
            ("/a$", "/a", true),
            ("/a$", "/ab", false),
            ("/*b", "/aab", true),
            ("/*b$", "/abab", true),
            ("/a*", "/a", true),
            ("/a$b", "/a$bc", true),
            ("*", "/", true),
            ("$", "/", false),
            ("*$", "/", true),
            ("a", "/a", false),
        ] {
            assert_eq!(pattern_matches(pattern.as_bytes(), path.as_bytes()), matches, "{pattern} {path}");
        }
    }

    #[test]
    fn verdicts_and_lines_equal_those_of_the_reference() {
        // Body, agent, path, allowed, line, as measured on the reference.
        for (body, agent, path, allowed, line) in [
            ("user-agent: *\ndisallow: /a\n", "FooBot", "/b", true, 0),
            ("user-agent: *\ndisallow: /a\n", "FooBot", "/a", false, 2),
            ("user-agent: *\ndisallow: /a\ndisallow: /a\ndisallow: /a\n", "FooBot", "/a", false, 2),
            ("user-agent: *\ndisallow: /a\nallow: /a\n", "FooBot", "/a", true, 3),
            ("user-agent: *\ndisallow: /*b\ndisallow: /ab\n", "FooBot", "/ab", false, 2),
            ("user-agent: *\ndisallow: /\nuser-agent: FooBot\ndisallow: /z\n", "FooBot", "/a", true, 0),
            ("user-agent: *\ndisallow:\n", "FooBot", "/a", true, 2),
            ("user-agent: *\ndisallow:\nallow:\n", "FooBot", "/a", true, 3),
            ("user-agent: *\ndisallow: /d/\nallow: /d/index.html\n", "FooBot", "/d/", true, 3),
            ("user-agent: *\n\rdisallow: /\n", "FooBot", "/a", false, 3),
        ] {
            let answer = decide(body.as_bytes(), &GOOGLE_LIB, agent.as_bytes(), path.as_bytes());
            assert_eq!(answer, OracleAnswer { allowed, line }, "{body:?} {agent} {path}");
        }
    }
}
