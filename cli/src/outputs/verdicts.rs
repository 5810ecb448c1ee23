//! Lines of URLs in, the same lines with columns of verdicts out: the inner loop of `reptile classify`.
//!
//! Nothing here knows of files or threads. The output buffers are reused.

use reptile::{Agents, Error, Reason, Rule, Verdict};

use super::style::Style;
use super::text::{opaque_column, url_column};
use crate::inputs::lines::{lines, without_line_end};

/// The number of times that each verdict was given, for each agent.
pub type Tally = Vec<[u64; 4]>;

/// The number of URLs that are given to the library at once: several of its batches, so that few are not full.
const URLS_AT_ONCE: usize = 512;

/// The agents to decide for, and the columns to write.
pub struct Decider {
    /// The agents, one column of verdicts each, with the set that resolved them.
    pub agents: Agents,
    /// Whether two columns follow each verdict: the line of the deciding rule, and the rule.
    pub explain: bool,
    /// Whether a column with the reason follows, after those of `explain`.
    pub reason: bool,
    /// Whether the verdicts are coloured.
    pub coloured: bool,
}

/// The output lines of one block of input lines.
#[derive(Default)]
pub struct Answers {
    /// The text.
    pub text: Vec<u8>,
    /// The number of lines in it.
    pub lines: u64,
    /// The verdicts in it, counted.
    pub tally: Tally,
}

impl Decider {
    /// Decides each line of a block. Replaces what `answers` holds and reuses its memory. Allocates once for the block,
    /// and nothing for a URL unless the columns of `explain` or `reason` are asked for.
    ///
    /// # Errors
    /// If the set is damaged.
    pub fn decide(&self, block: &[u8], answers: &mut Answers) -> Result<(), Error> {
        answers.clear(self.agents.len());
        let Answers { text, lines: line_count, tally } = answers;
        if self.explain || self.reason {
            for line in lines(block) {
                let url = without_line_end(line);
                *line_count += 1;
                text.extend_from_slice(&url_column(url));
                for (agent, counts) in self.agents.iter().zip(&mut *tally) {
                    let explanation = agent.explain(url)?;
                    counts[explanation.verdict as usize] += 1;
                    self.push_columns(text, explanation.verdict, explanation.rule(), explanation.reason);
                }
                text.push(b'\n');
            }
            return Ok(());
        }
        let mut urls = Vec::with_capacity(URLS_AT_ONCE);
        let mut verdicts = vec![Verdict::Invalid; URLS_AT_ONCE * self.agents.len()];
        let mut all = lines(block).map(without_line_end);
        loop {
            urls.clear();
            urls.extend(all.by_ref().take(URLS_AT_ONCE));
            if urls.is_empty() {
                return Ok(());
            }
            let verdicts = &mut verdicts[..urls.len() * self.agents.len()];
            self.agents.decide_all(&urls, verdicts)?;
            *line_count += urls.len() as u64;
            for (url, verdicts) in urls.iter().zip(verdicts.chunks_exact(self.agents.len())) {
                text.extend_from_slice(&url_column(url));
                for (&verdict, counts) in verdicts.iter().zip(&mut *tally) {
                    counts[verdict as usize] += 1;
                    self.push_verdict(text, verdict);
                }
                text.push(b'\n');
            }
        }
    }

    /// Passes on a part of a line that is too long for a URL. The columns, which say `invalid`, follow the last part.
    pub fn pass_on(&self, part: &[u8], last: bool, answers: &mut Answers) {
        answers.clear(self.agents.len());
        answers.text.extend_from_slice(&opaque_column(part));
        if last {
            answers.lines = 1;
            for counts in &mut answers.tally {
                counts[Verdict::Invalid as usize] = 1;
                self.push_columns(&mut answers.text, Verdict::Invalid, None, Reason::NoUrl);
            }
            answers.text.push(b'\n');
        }
    }
}

impl Decider {
    /// Appends the column of a verdict.
    #[inline]
    fn push_verdict(&self, text: &mut Vec<u8>, verdict: Verdict) {
        if self.coloured {
            text.push(b'\t');
            text.extend_from_slice(Style::of_verdict(verdict).of(verdict.name()).as_bytes());
        } else {
            text.extend_from_slice(column(verdict));
        }
    }

    /// Appends the columns of one agent.
    fn push_columns(&self, text: &mut Vec<u8>, verdict: Verdict, rule: Option<&Rule>, reason: Reason) {
        self.push_verdict(text, verdict);
        if self.explain {
            push_rule(text, rule);
        }
        if self.reason {
            text.extend_from_slice(format!("\t{reason}").as_bytes());
        }
    }
}

impl Answers {
    /// Empties the buffers and sets the counts of `agents` agents to zero.
    fn clear(&mut self, agents: usize) {
        self.text.clear();
        self.lines = 0;
        self.tally.clear();
        self.tally.resize(agents, [0; 4]);
    }
}

/// The columns of line and rule where no rule decided.
const NO_RULE: &[u8] = b"\t0\t";

/// The column of a verdict, with the tab before it.
fn column(verdict: Verdict) -> &'static [u8] {
    match verdict {
        Verdict::Allow => b"\tallow",
        Verdict::Disallow => b"\tdisallow",
        Verdict::Unknown => b"\tunknown",
        Verdict::Invalid => b"\tinvalid",
    }
}

/// Appends the line and the text of the deciding rule.
fn push_rule(text: &mut Vec<u8>, rule: Option<&Rule>) {
    let Some(rule) = rule else {
        text.extend_from_slice(NO_RULE);
        return;
    };
    text.extend_from_slice(format!("\t{}\t{}: ", rule.line, rule.kind.name()).as_bytes());
    text.extend_from_slice(&url_column(&rule.pattern));
}

#[cfg(test)]
mod tests {
    use super::*;
    use reptile::RuleKind;

    #[test]
    fn columns_are_named_as_the_verdicts_are() {
        for verdict in [Verdict::Allow, Verdict::Disallow, Verdict::Unknown, Verdict::Invalid] {
            assert_eq!(column(verdict), format!("\t{verdict}").as_bytes());
        }
    }

    #[test]
    fn bytes_that_would_break_a_column_are_escaped() {
        let rule = Rule { kind: RuleKind::Disallow, pattern: b"/a\tb\rc\nd\0e".to_vec(), line: 7 };
        let mut text = Vec::new();
        push_rule(&mut text, Some(&rule));
        assert_eq!(text, b"\t7\tDisallow: /a%09b%0Dc%0Ad%00e");
    }
}
