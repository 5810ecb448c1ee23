//! The wording of reasons: groups, rules, and why one rule wins.

use reptile::crawlers::Resolved;
use reptile::explain::{ChosenBy, Why};
use reptile::settings::Order;
use reptile::{Rule, RuleKind, Verdict};

use super::{Answer, Column};
use reptile_records::text::printable;

/// Maximum number of characters shown from a file's line or a URL without `--full`.
const MAX_SHOWN: usize = 200;

/// Returns a file's line or a URL for output: safe for a terminal, and cut unless `full` is given.
pub fn shown(text: &[u8], full: bool) -> String {
    // A character has at most four bytes, so the cut part would not be shown anyway.
    let start = if full { text } else { &text[..text.len().min(MAX_SHOWN * 4 + 4)] };
    let text = printable(start);
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) if !full => format!("{}...", &text[..end]),
        _ => text,
    }
}

/// Returns a phrase with the first few of `count` numbers, and the number of others.
pub fn numbers(first: &[u32], count: usize) -> String {
    const SHOWN: usize = 8;
    let mut words: Vec<String> = first.iter().take(SHOWN).map(u32::to_string).collect();
    if count > SHOWN {
        words.push(format!("{} more", count - SHOWN));
    }
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => words.concat(),
    }
}

impl Column<'_> {
    /// Returns a line of the file, without spaces around it.
    pub fn text_of(&self, line: u32) -> &[u8] {
        self.reading.line(line).unwrap_or_default().trim_ascii()
    }

    /// Returns the group that an agent obeys, and why.
    pub fn group(&self, agent: usize) -> String {
        let (agent, choice, naming) = (&self.agents[agent], &self.choices[agent], &self.naming[agent]);
        let name = shown(agent.name.as_bytes(), false);
        let (line, merged) = match (naming.count, choice.groups.len()) {
            (1, _) => ("line", ""),
            (_, 1) => ("lines", ""),
            _ => ("lines", ", taken together"),
        };
        let place = format!("{line} {}{merged}", numbers(&naming.lines, naming.count));
        let token = |index: usize| shown(agent.tokens.get(index).map_or(&b""[..], Vec::as_slice), false);
        match choice.by {
            ChosenBy::Token(0) => format!("{place}: names {}", token(0)),
            ChosenBy::Token(index) => {
                format!("{place}: names {}, which {name} obeys where {} is not named", token(index), token(index - 1))
            }
            ChosenBy::DefaultGroup => format!("{place}: for *, since no group names {name}"),
            ChosenBy::Nobody => format!("none: {}", self.without_group(agent)),
        }
    }

    /// Returns the reason why an agent has no group.
    fn without_group(&self, agent: &Resolved) -> String {
        let name = shown(agent.name.as_bytes(), false);
        match (agent.tokens.is_empty(), agent.honors_default_group) {
            (true, _) => format!("{name} obeys no robots.txt"),
            (false, true) => format!("no group names {name}, and no group is for *"),
            (false, false) => format!("no group names {name}, which does not obey the rules for *"),
        }
    }

    /// Returns the reason for the verdict in words.
    pub fn because(&self, answer: &Answer) -> String {
        let Some(rule) = answer.explanation.rule() else {
            return match answer.why {
                Why::NoGroup => self.without_group(&self.agents[answer.agent]),
                Why::Fetch(cause) => {
                    let profile = self.fetch.map_or("", |fetch| fetch.profile.as_str());
                    let verb = if answer.explanation.verdict == Verdict::Allow { "allows" } else { "disallows" };
                    format!("fetching the robots.txt gave: {cause}; then the fetch profile {profile} {verb} everything")
                }
                _ => answer.explanation.reason().to_string(),
            };
        };
        let (kind, other) = match rule.kind {
            RuleKind::Allow => ("Allow", "Disallow"),
            RuleKind::Disallow => ("Disallow", "Allow"),
        };
        let reason = match answer.why {
            Why::AlwaysAllowed => format!("{} always allows {}", self.reading.dialect().name, printable(&rule.pattern)),
            Why::EmptyRule => "a rule without a value restricts nothing, and no other rule matches".into(),
            Why::Longer { octets, other } => format!("the {kind} is longer: {} against {other}", octets_of(octets)),
            Why::AllowOnTie { octets } => format!("both have {}, and then the Allow wins", octets_of(octets)),
            Why::First => "the first rule that matches decides".into(),
            _ => format!("no {other} matches"),
        };
        let index_page = if self.reading.opens_folder(rule, &answer.path) {
            "; an Allow of an index page also allows its folder"
        } else {
            ""
        };
        reason + index_page
    }

    /// Returns a rule's line number, and its text in the file.
    pub fn line_and_text(&self, rule: &Rule, full: bool) -> String {
        if rule.line == 0 {
            return format!("no line: {rule}");
        }
        format!("line {}: {}", rule.line, shown(self.text_of(rule.line), full))
    }

    /// Returns the rule as the dialect reads it, if that differs from the file.
    pub fn read_as(&self, rule: &Rule, full: bool) -> Option<String> {
        let written = self.reading.rule_at(rule.line)?;
        (written.value != rule.pattern).then(|| format!("read as {}: {}", rule.kind.name(), shown(&rule.pattern, full)))
    }

    /// Returns the number of octets that decide a rule's precedence, if the dialect orders rules by length.
    pub fn octets(&self, rule: &Rule, answer: &Answer) -> Option<usize> {
        let counts = self.reading.dialect().order != Order::FileOrder && rule.line != 0;
        counts.then(|| self.reading.octets(rule, &answer.path))
    }
}

/// Returns a number of octets in words.
pub fn octets_of(count: usize) -> String {
    format!("{count} {}", if count == 1 { "octet" } else { "octets" })
}
