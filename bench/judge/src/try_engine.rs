//! `reptile-judge try`: checks an engine against the protocol and lists its mistakes, for authors of engines.

use std::time::Duration;

use crate::engine::{Engine, MODELS, Question, is_fresh};
use crate::engines::{EngineEntry, claimed};
use crate::frame::Message;
use crate::letters;
use crate::process::NoReply;

/// A file that all dialects interpret in the same way.
const BODY: &[u8] = b"User-agent: *\nDisallow: /private\nAllow: /private/open\n\nUser-agent: OtherBot\nDisallow: /\n";

/// Crawler, URL, verdict and line. All dialects agree on these, except those in which the first matching rule decides.
const ROWS: [(&[u8], &[u8], u8, u32); 5] = [
    (b"FooBot", b"https://example.com/", b'A', 0),
    (b"FooBot", b"https://example.com/private/x", b'D', 2),
    (b"FooBot", b"https://example.com/private/open", b'A', 3),
    (b"OtherBot", b"https://example.com/", b'D', 6),
    (b"OtherBot", b"https://example.com/private", b'D', 6),
];

/// Rows without a right answer. Each must still get a letter.
const HARD_ROWS: [(&[u8], &[u8]); 8] = [
    (b"FooBot", b""),
    (b"FooBot", b"/private"),
    (b"FooBot", b"no url"),
    (b"FooBot", b"https://example.com/\xFF\xFE\0"),
    (b"FooBot", b"https://[::1/"),
    (b"FooBot", b"https://example.com/%zz?\n:\n\n"),
    (b"", b"https://example.com/private"),
    (b"Foo\xFFBot\n", b"https://example.com/private"),
];

/// Hostile robots.txt files. An engine may refuse them.
const HARD_BODIES: [&[u8]; 5] = [
    b"",
    b"\xEF\xBB\xBFUser-agent: *\r\rDisallow: /\0\xFF\r",
    b"do:4:stop\n\nis:2:ok\n\n",
    b"<html><body>404</body></html>",
    b"user-agent: *\ndisallow: /*a*a*a*a*a*a*a*a*a*a*a*a*b$\n",
];

/// Number of process failures after which the engine gets no more hostile files.
const MAX_FAILURES: usize = 3;

/// The results of all checks.
#[derive(Debug, Default)]
pub struct Findings {
    /// The mistakes, one sentence each.
    pub faults: Vec<String>,
    /// Remarks on correct but notable behavior.
    pub remarks: Vec<String>,
    /// Number of checks.
    pub checks: usize,
}

impl Findings {
    fn check(&mut self, is_good: bool, fault: impl FnOnce() -> String) {
        self.checks += 1;
        if !is_good {
            self.faults.push(fault());
        }
    }

    /// Records a missing reply. A skip is only a remark.
    fn broken(&mut self, what: &str, broken: &NoReply) {
        self.checks += 1;
        let text = format!("{what}: {} ({})", broken.why, letters::meaning(broken.letter));
        if broken.letter == letters::SKIP { self.remarks.push(text) } else { self.faults.push(text) }
    }
}

/// Checks an engine against the protocol.
#[must_use]
pub fn try_engine(entry: &EngineEntry) -> Findings {
    let mut findings = Findings::default();
    let mut engine = Engine::new(entry);
    let mut can: Vec<String> = Vec::new();
    if !engine.is_command() {
        match engine.hello() {
            Ok(hello) => {
                let (said, claim) = (&hello.dialect, entry.dialect_name());
                findings.check(claimed(said).is_ok(), || format!("hello: {said:?} is not a dialect in PROTOCOL.md"));
                findings
                    .check(said == claim, || format!("hello: the dialect is {said:?}, and {claim:?} in engines.toml"));
                let about = format!("{} {}, {}, {}", hello.name, hello.version, hello.language, hello.dialect);
                findings.remarks.push(about);
                check_can(&mut findings, &hello.can);
                can = hello.can;
            }
            Err(broken) => {
                findings.broken("hello", &broken);
                return findings;
            }
        }
        unknown_request(&mut findings, &mut engine);
    }
    decide(&mut findings, &mut engine, can.iter().any(|can| can == "lines"));
    hard(&mut findings, &mut engine);
    if !engine.is_command() {
        bench(&mut findings, &mut engine, &can);
        stop(&mut findings, &mut engine);
    }
    let said = engine.said.lines().last().unwrap_or_default().trim();
    if !said.is_empty() {
        findings.remarks.push(format!("standard error ends with: {said}"));
    }
    findings
}

/// Checks that the claimed capabilities are known, and that the required ones are present.
fn check_can(findings: &mut Findings, can: &[String]) {
    for thing in can {
        let is_known = match thing.strip_prefix("bench:") {
            Some(model) => MODELS.contains(&model),
            None => ["load", "decide", "lines"].contains(&&**thing),
        };
        findings.check(is_known, || format!("hello: `can` {thing:?} is not in PROTOCOL.md"));
    }
    for needed in ["load", "decide"] {
        findings.check(can.iter().any(|thing| thing == needed), || format!("hello: `can` lacks {needed:?}"));
    }
}

/// Checks that an unknown request is skipped.
fn unknown_request(findings: &mut Findings, engine: &mut Engine<'_>) {
    let mut request = Message::new("do", "no-such-request");
    request.push("no-such-field", b"\n\n\xFF\0");
    match engine.ask(&request, Duration::ZERO) {
        Err(broken) if broken.letter == letters::SKIP => findings.checks += 1,
        Err(broken) => findings.broken("an unknown request", &broken),
        Ok(_) => findings.check(false, || "an unknown request: expected `skip`, found `ok`".into()),
    }
}

/// Checks easy questions.
fn decide(findings: &mut Findings, engine: &mut Engine<'_>, has_lines: bool) {
    if let Err(broken) = engine.load(0, "https://example.com", BODY) {
        return findings.broken("load", &broken);
    }
    let questions = ROWS.map(|(agent, url, ..)| Question { slot: 0, agent, url });
    let answers = match engine.decide(&questions) {
        Ok(answers) => answers,
        Err(broken) => return findings.broken("decide", &broken),
    };
    for (index, (agent, url, verdict, line)) in ROWS.into_iter().enumerate() {
        let found = answers.letters[index];
        let row = format!("decide: {} {}", agent.escape_ascii(), url.escape_ascii());
        findings.check(letters::is_verdict(found), || format!("{row}: {}", letters::meaning(found)));
        // In some dialects the first matching rule decides, so this is only a remark.
        if found != verdict && letters::is_verdict(found) {
            let (found, most) = (letters::meaning(found), letters::meaning(verdict));
            findings.remarks.push(format!("{row}: {found}, but {most} in most dialects"));
        } else if let Some(Some(found)) = answers.lines.as_ref().map(|lines| lines[index])
            && found != line
        {
            findings.remarks.push(format!("{row}: expected line {line}, found line {found}"));
        }
    }
    if !engine.is_command() {
        findings.check(has_lines == answers.lines.is_some(), || {
            "decide: expected `lines` if and only if `can` names them".into()
        });
        match engine.decide(&[]) {
            Ok(_) => findings.checks += 1,
            Err(broken) => findings.broken("decide without rows", &broken),
        }
        empty_slot(findings, engine);
    }
}

/// Checks a slot that was never loaded, and one after `clear`.
fn empty_slot(findings: &mut Findings, engine: &mut Engine<'_>) {
    let ask = |findings: &mut Findings, engine: &mut Engine<'_>, slot, what: &str| match engine.decide(&[Question {
        slot,
        agent: b"FooBot",
        url: b"https://example.com/private",
    }]) {
        Ok(answers) => findings
            .check(answers.letters == b"E", || format!("{what}: expected E, found {}", answers.letters.escape_ascii())),
        Err(broken) => findings.broken(what, &broken),
    };
    ask(findings, engine, 99_999, "a slot that was never loaded");
    match engine.clear() {
        Ok(()) => ask(findings, engine, 0, "a slot after clear"),
        Err(broken) => findings.broken("clear", &broken),
    }
}

/// Checks questions and files without a right answer.
fn hard(findings: &mut Findings, engine: &mut Engine<'_>) {
    for (number, body) in [BODY].into_iter().chain(HARD_BODIES).enumerate() {
        if engine.failures >= MAX_FAILURES {
            return findings.remarks.push(format!("failed {MAX_FAILURES} times: remaining hostile files are skipped"));
        }
        let what = format!("hostile file {number}");
        match engine.load(1, "https://example.com", body) {
            Ok(()) => {}
            Err(broken) if broken.letter == letters::REFUSED => {
                findings.remarks.push(format!("{what} is refused: {}", broken.why));
                continue;
            }
            Err(broken) => {
                findings.broken(&what, &broken);
                continue;
            }
        }
        let questions = HARD_ROWS.map(|(agent, url)| Question { slot: 1, agent, url });
        match engine.decide(&questions) {
            Ok(_) => findings.checks += 1,
            Err(broken) => findings.broken(&format!("{what}, {} malformed rows", questions.len()), &broken),
        }
    }
}

/// Checks a small measurement of each model.
fn bench(findings: &mut Findings, engine: &mut Engine<'_>, can: &[String]) {
    let Ok(folder) = tempfile::tempdir() else { return };
    for model in MODELS {
        let what = format!("bench {model}");
        let is_named = can.iter().any(|thing| thing.strip_prefix("bench:") == Some(model));
        let _ = engine.clear();
        if let Err(broken) = engine.load(0, "https://example.com", BODY) {
            return findings.broken("load", &broken);
        }
        let questions = ROWS.map(|(agent, url, ..)| Question { slot: 0, agent, url });
        // In two models only the first row counts.
        let counted = if matches!(model, "parse" | "open") { 1 } else { questions.len() };
        let expected = match engine.decide(&questions) {
            Ok(answers) => answers.letters[..counted].iter().filter(|&&letter| letter == b'D').count() as u64,
            Err(broken) => return findings.broken("decide", &broken),
        };
        for budget in [Duration::ZERO, Duration::from_millis(20)] {
            match engine.bench(model, budget, Some(folder.path()), &questions) {
                Ok((samples, wall)) => {
                    findings.check(is_named, || format!("{what}: answered, but `can` does not name it"));
                    check_samples(findings, &what, &samples, expected, budget, wall);
                }
                Err(broken) if broken.letter == letters::SKIP => {
                    findings.check(!is_named, || format!("{what}: skipped, but `can` names it"));
                    findings.remarks.push(format!("{what} is skipped: {}", broken.why));
                    break;
                }
                Err(broken) => findings.broken(&what, &broken),
            }
        }
    }
}

/// Checks that samples have the right counts and fill the budget.
fn check_samples(
    findings: &mut Findings,
    what: &str,
    samples: &[crate::engine::Sample],
    expected: u64,
    budget: Duration,
    wall: Duration,
) {
    let wrong = samples.iter().find(|sample| sample.disallowed != expected.saturating_mul(sample.passes));
    findings.check(wrong.is_none(), || {
        let sample = wrong.copied().unwrap_or(samples[0]);
        format!("{what}: {} disallowed in {} passes, expected {expected} per pass", sample.disallowed, sample.passes)
    });
    let sum = Duration::from_nanos(samples.iter().map(|sample| sample.ns).fold(0, u64::saturating_add));
    findings.check(sum <= wall, || format!("{what}: the samples take {sum:?}, but the reply took {wall:?}"));
    if what.strip_prefix("bench ").is_some_and(is_fresh) {
        findings.check(samples.len() == 1 && samples[0].passes == 1, || {
            format!("{what}: expected exactly one sample with one pass")
        });
    } else {
        findings
            .check(sum >= budget, || format!("{what}: the samples take {sum:?}, less than the budget of {budget:?}"));
        let short = samples.iter().find(|sample| sample.ns < 1_000_000);
        findings.check(short.is_none(), || format!("{what}: a sample is shorter than 1 ms"));
    }
}

/// Checks that the process ends when asked to.
fn stop(findings: &mut Findings, engine: &mut Engine<'_>) {
    let ended = engine.stop();
    findings.check(ended.is_ok(), || format!("stop: the process {}", ended.err().unwrap_or_default()));
}
