//! `reptile check --prove`: assertions about every URL, each proved or refuted for one robots.txt.

use std::io::{BufWriter, Write};

use bumpalo::Bump;
use reptile::body::parse;
use reptile::prove::{Assertions, Claim, Counterexample, Mistakes, Options, Outcome, Proof, ProveError};
use reptile::{Dialect, Explanation, Profile, Robots, Verdict, dialects};
use serde::Serialize;

use super::args::{Args, OutcomeFormat};
use crate::error::{Exit, Failure, Result, complain};
use crate::outputs::annotations::{Annotation, Level};
use crate::outputs::file::Output;
use crate::outputs::json::json_line;
use crate::outputs::names;
use crate::outputs::sarif;
use crate::outputs::style::Style;
use crate::outputs::summary::grouped;
use crate::outputs::terminal::tell;
use crate::sets::single::one;
use crate::url_list::{command_line, refuse_url_list};
use reptile_records::detect::{Content, ExpectedInput};
use reptile_records::open::{Input, read_input};
use reptile_records::place::Place;
use reptile_records::text::{pasteable, printable};

/// Maximum bytes shown from a rule.
const MAX_RULE_BYTES: usize = 1024;

/// Proves or refutes each assertion in a list, and prints the outcomes.
///
/// # Errors
/// Returns an error if the list or the robots.txt cannot be read, or an assertion is malformed.
pub fn run(args: &Args, list: &Place) -> Result<Exit> {
    if list.is_standard() && args.input.is_standard() {
        return Err(Failure::new("standard input cannot be both the robots.txt and the assertions"));
    }
    let dialect = args.dialect.unwrap_or(dialects::DEFAULT);
    let assertions = read_assertions(list, dialect)?;
    let robots = read_robots(args, list, dialect)?;
    let mut options = Options::default();
    options.allow_default = args.allow_default;
    let outcomes = assertions.prove(&robots, &options).map_err(|error| match error {
        ProveError::Mistakes(mistakes) => refused(list, &mistakes),
        error => Failure::at(&args.input, error),
    })?;
    let mut report = Report {
        format: args.format,
        robots: printable(args.input.display().to_string().as_bytes()),
        has_robots_file: !args.input.is_standard(),
        list: printable(list.display().to_string().as_bytes()),
        max_steps: options.max_steps,
        allow_unproved: args.allow_unproved,
        has_results: false,
        output: BufWriter::new(Output::stdout()),
    };
    report.write_all(&outcomes)?;
    let count = |wanted: fn(&Proof) -> bool| outcomes.iter().filter(|outcome| wanted(&outcome.proof)).count() as u64;
    let (held, unproved) = (count(|proof| *proof == Proof::Holds), count(|proof| *proof == Proof::Unproved));
    let (all, failed) = (outcomes.len() as u64, outcomes.len() as u64 - held - unproved);
    let (all, failed, held, more) = (grouped(all), grouped(failed), grouped(held), grouped(unproved));
    tell(&format!("{all} assertions: {held} proved, {failed} failed, {more} unproved\n"));
    Ok(Exit::from_bad(outcomes.iter().any(|outcome| !report.passes(outcome))))
}

/// Reads the assertions.
///
/// # Errors
/// Returns an error if the file cannot be read or has a mistake, or is a robots.txt instead.
fn read_assertions(list: &Place, dialect: &Dialect) -> Result<Assertions> {
    let input = Input::open(list)?;
    if !matches!(input.content, Content::Text | Content::Empty) {
        return Err(Failure::at(list, format!("is {}, not a list of assertions", input.content.describe())));
    }
    let text = read_input(input)?;
    Assertions::parse(&text).map_err(|mistakes| {
        if parse(&text, dialect, &Bump::new()).groups.is_empty() {
            return refused(list, &mistakes);
        }
        let expected = command(&list.display().to_string(), "ASSERTIONS");
        Failure::at(list, format!("is a robots.txt, not a list of assertions; expected `{expected}`"))
    })
}

/// Reads and compiles the robots.txt.
///
/// # Errors
/// Returns an error if the file cannot be read, is not a single robots.txt, or is a list of assertions instead.
fn read_robots(args: &Args, list: &Place, dialect: &Dialect) -> Result<Robots> {
    let path = &args.input;
    let input = Input::open(path)?.prefer_robots()?;
    if input.is_collection() {
        return Err(input.refused(ExpectedInput::Robots).into());
    }
    let body = read_input(one(input, ExpectedInput::Robots, Profile::of_dialect(dialect))?)?;
    let expected = || format!("expected `{}`", command("robots.txt", &list.display().to_string()));
    refuse_url_list(path, &body, expected)?;
    if Assertions::parse(&body).is_ok() {
        return Err(Failure::at(path, format!("is a list of assertions, not a robots.txt; {}", expected())));
    }
    Robots::parse(&body, dialect).map_err(|error| Failure::at(path, error))
}

/// Returns the command line that checks a robots.txt against a list.
fn command(robots: &str, list: &str) -> String {
    command_line(["check", robots, "--prove", list])
}

/// Writes each mistake with its line, and returns the error that ends the command.
fn refused(list: &Place, mistakes: &Mistakes) -> Failure {
    let name = list.display();
    for mistake in mistakes.iter() {
        complain(format_args!("{name}:{}: {mistake}", mistake.line));
    }
    let more = match mistakes.count() - mistakes.iter().len() {
        0 => String::new(),
        more => format!(", {} not shown", grouped(more as u64)),
    };
    let count = match mistakes.count() {
        1 => "1 mistake".to_owned(),
        count => format!("{} mistakes{more}", grouped(count as u64)),
    };
    Failure::at(list, format!("{count}; nothing was proved"))
}

/// An outcome for `--format json`.
#[derive(Serialize)]
struct OutcomeJson<'o> {
    file: &'o str,
    line: u32,
    assertion: &'o str,
    result: &'static str,
    passed: bool,
    message: Option<&'o str>,
    path: Option<String>,
    verdicts: Vec<VerdictJson<'o>>,
}

/// A crawler's verdict for a counterexample.
#[derive(Serialize)]
struct VerdictJson<'o> {
    crawler: &'o str,
    verdict: &'static str,
    line: u32,
    rule: Option<String>,
    reason: String,
}

/// Prints outcomes.
struct Report {
    format: OutcomeFormat,
    /// The names of the files.
    robots: String,
    list: String,
    /// Whether the robots.txt has a path that an annotation can name.
    has_robots_file: bool,
    max_steps: usize,
    allow_unproved: bool,
    /// Whether a SARIF result was written.
    has_results: bool,
    output: BufWriter<Output>,
}

impl Report {
    /// Returns whether the exit code may be 0.
    fn passes(&self, outcome: &Outcome<'_>) -> bool {
        match outcome.proof {
            Proof::Holds => true,
            Proof::Unproved => self.allow_unproved,
            _ => false,
        }
    }

    fn write(&mut self, text: &str) -> Result<()> {
        self.output.write_all(text.as_bytes()).map_err(|error| self.output.get_ref().failure(&error))
    }

    fn write_all(&mut self, outcomes: &[Outcome<'_>]) -> Result<()> {
        if self.format == OutcomeFormat::Sarif {
            let rules = Claim::ALL.map(|claim| (claim.name(), describe(claim)));
            self.write(&sarif::start("reptile check", rules)?)?;
        }
        for outcome in outcomes {
            let text = self.text_of(outcome)?;
            self.write(&text)?;
        }
        if self.format == OutcomeFormat::Sarif {
            self.write(sarif::END)?;
        }
        self.output.flush().map_err(|error| self.output.get_ref().failure(&error))
    }

    /// Returns an outcome in the format. Annotations leave out proved assertions.
    fn text_of(&mut self, outcome: &Outcome<'_>) -> Result<String> {
        let message = self.message(outcome);
        let found = match &outcome.proof {
            Proof::Counterexample(found) => Some(found),
            _ => None,
        };
        match self.format {
            OutcomeFormat::Text => Ok(self.lines(outcome, message.as_deref(), found)),
            OutcomeFormat::Json => self.json(outcome, message.as_deref(), found),
            OutcomeFormat::Github | OutcomeFormat::Sarif => match message {
                None => Ok(String::new()),
                Some(message) => self.annotation(outcome, message, found),
            },
        }
    }

    /// Returns the result in words, unless the assertion holds.
    fn message(&self, outcome: &Outcome<'_>) -> Option<String> {
        let name = |index: usize| outcome.crawlers.get(index).map_or("", String::as_str);
        Some(match &outcome.proof {
            Proof::Holds => return None,
            Proof::NoGroup(name) if name == "*" => {
                "no group is for *, so everything is allowed; --allow-default accepts that".into()
            }
            Proof::NoGroup(name) => {
                format!("no group names {}; --allow-default accepts that", printable(name.as_bytes()))
            }
            Proof::Counterexample(found) => {
                let path = pasteable(&found.path);
                let is_allowed = |index| {
                    let explanation: Option<&Explanation> = found.explanations.get(index);
                    explanation.is_some_and(|explanation| explanation.verdict == Verdict::Allow)
                };
                let may = |index| if is_allowed(index) { "may" } else { "may not" };
                match found.explanations.len() {
                    1 => format!("{} {} fetch {path}", name(0), may(0)),
                    _ => format!("{} {} fetch {path}, and {} {}", name(0), may(0), name(1), may(1)),
                }
            }
            _ => {
                let steps = grouped(self.max_steps as u64);
                format!("not proved within {steps} steps; --allow-unproved accepts that")
            }
        })
    }

    /// Returns an outcome as lines for people.
    fn lines(&self, outcome: &Outcome<'_>, message: Option<&str>, found: Option<&Counterexample>) -> String {
        let result = match &outcome.proof {
            Proof::Holds => Style::Good.of("ok"),
            Proof::Unproved => Style::Doubtful.of("unproved"),
            _ => Style::Bad.of("FAILED"),
        };
        let text = printable(outcome.to_string().as_bytes());
        let message = message.map(|message| format!(": {message}")).unwrap_or_default();
        let mut lines = format!("{}:{}: {result}: {text}{message}\n", self.list, outcome.assertion.line);
        for reason in self.reasons(outcome, found) {
            lines.push_str(&format!("    {reason}\n"));
        }
        lines
    }

    /// Returns a line for each crawler: its verdict for the counterexample, and the deciding rule with its place.
    fn reasons(&self, outcome: &Outcome<'_>, found: Option<&Counterexample>) -> Vec<String> {
        let explanations = found.map_or(&[][..], |found| &found.explanations);
        let reason = |(name, explanation): (&String, &Explanation)| {
            let reason = match explanation.rule() {
                Some(rule) => format!("{}:{}: {}", self.robots, rule.line, cut(&rule.to_string())),
                None => explanation.reason.to_string(),
            };
            format!("{name}: {}: {reason}", explanation.verdict)
        };
        outcome.crawlers.iter().zip(explanations).map(reason).collect()
    }

    fn json(&self, outcome: &Outcome<'_>, message: Option<&str>, found: Option<&Counterexample>) -> Result<String> {
        let explanations = found.map_or(&[][..], |found| &found.explanations);
        let verdicts = outcome.crawlers.iter().zip(explanations).map(|(crawler, explanation)| VerdictJson {
            crawler,
            verdict: explanation.verdict.name(),
            line: explanation.rule().map_or(0, |rule| rule.line),
            rule: explanation.rule().map(|rule| cut(&rule.to_string())),
            reason: explanation.reason.to_string(),
        });
        let assertion = outcome.to_string();
        json_line(&OutcomeJson {
            file: &self.list,
            line: outcome.assertion.line,
            assertion: &assertion,
            result: outcome.proof.name(),
            passed: self.passes(outcome),
            message,
            path: found.map(|found| pasteable(&found.path)),
            verdicts: verdicts.collect(),
        })
    }

    /// Returns an outcome as an annotation. It is at the first crawler's deciding rule, or else at the second one's, or
    /// else at the assertion.
    fn annotation(&mut self, outcome: &Outcome<'_>, message: String, found: Option<&Counterexample>) -> Result<String> {
        let explanations = found.map_or(&[][..], |found| &found.explanations);
        let rule = explanations.iter().find_map(Explanation::rule).filter(|_| self.has_robots_file);
        let (file, line) = match rule {
            Some(rule) => (self.robots.clone(), rule.line),
            None => (self.list.clone(), outcome.assertion.line),
        };
        let reasons = self.reasons(outcome, found);
        let message = std::iter::once(message).chain(reasons).collect::<Vec<_>>().join("\n");
        let title = printable(outcome.to_string().as_bytes());
        let claim = outcome.assertion.claim;
        let annotation = Annotation {
            level: if self.passes(outcome) { Level::Note } else { Level::Error },
            file: &file,
            line,
            code: claim.name(),
            title: &title,
            message: &message,
        };
        if self.format == OutcomeFormat::Github {
            return Ok(annotation.github());
        }
        // SARIF has no title.
        let message = format!("{title}: {message}");
        let rule = Claim::ALL.iter().position(|other| *other == claim);
        sarif::result(&Annotation { message: &message, ..annotation }, rule, &mut self.has_results)
    }
}

/// Returns what a claim asserts.
fn describe(claim: Claim) -> &'static str {
    match claim {
        Claim::Allow => "A crawler may fetch every URL that matches.",
        Claim::Disallow => "A crawler may fetch no URL that matches.",
        Claim::Same => "Two crawlers get the same verdict for every URL.",
        Claim::NoMore => "A crawler may fetch nothing that another one may not.",
        _ => "An assertion about every URL.",
    }
}

/// Returns a rule's text for output, cut after [`MAX_RULE_BYTES`].
fn cut(rule: &str) -> String {
    names::cut(printable(rule.as_bytes()), MAX_RULE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_cut_at_the_limit() {
        for (len, is_cut) in [(MAX_RULE_BYTES - 1, false), (MAX_RULE_BYTES, false), (MAX_RULE_BYTES + 1, true)] {
            let text = cut(&"x".repeat(len));
            assert_eq!((text.ends_with("..."), text.len() == len), (is_cut, !is_cut), "{len}");
            assert!(cut(&"é".repeat(len)).len() <= MAX_RULE_BYTES + 3);
        }
        assert_eq!(cut("Disallow: /\u{1b}"), "Disallow: /\\u{1b}");
    }
}
