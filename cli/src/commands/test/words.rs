//! The wording of reasons: groups, rules, and why one rule wins.

use reptile::explain::Phrases;
use reptile::settings::Order;
use reptile::{Rule, Verdict};

use super::file::{Answer, Column};
use super::shown::shown;

impl Column<'_> {
    /// Returns a line of the file, without spaces around it.
    pub fn text_of(&self, line: u32) -> &[u8] {
        self.reading.line(line).unwrap_or_default().trim_ascii()
    }

    /// Returns the group that an agent obeys, and why.
    pub fn group(&self, agent: usize) -> String {
        let naming = &self.naming[agent];
        self.phrases(agent).group(&naming.lines, naming.count)
    }

    /// Returns the reason for the verdict in words.
    pub fn because(&self, answer: &Answer) -> String {
        if answer.explanation.verdict == Verdict::Invalid {
            return "the text is not a URL or a path".into();
        }
        let profile = Some(self.fetch.profile);
        self.phrases(answer.agent).because(&answer.explanation, answer.why, &answer.path, profile)
    }

    fn phrases(&self, agent: usize) -> Phrases<'_> {
        let (agent, choice) = (&self.agents[agent], &self.choices[agent]);
        Phrases { reading: &self.reading, agent, choice, shown: &|text| shown(text, false) }
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
