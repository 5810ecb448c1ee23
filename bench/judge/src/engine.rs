//! The protocol's requests, and the processes that answer them. A process that fails is killed, and the next request
//! starts a new one with nothing loaded.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::engines::{EngineEntry, EngineStart, ResultPattern, expanded};
use crate::frame::Message;
use crate::letters;
use crate::process::{self, EngineProcess, NoReply};

/// The version of the protocol.
pub const PROTOCOL: &str = "1";

/// Maximum number of rows in a request.
pub const MAX_ROWS: usize = 10_000;

/// Maximum length of an engine's texts in characters.
const MAX_TEXT: usize = 300;

/// The protocol's models.
pub const MODELS: [&str; 8] = ["one-shot", "parse", "decide", "path", "fresh", "fresh-path", "crawl", "open"];

/// Returns whether a model makes a single pass over URLs that the engine has not seen.
#[must_use]
pub fn is_fresh(model: &str) -> bool {
    matches!(model, "fresh" | "fresh-path")
}

/// An engine's self-description.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Hello {
    /// The implementation's name.
    pub name: String,
    /// The implementation's version.
    pub version: String,
    /// The claimed dialect.
    pub dialect: String,
    /// Language and version.
    pub language: String,
    /// Its capabilities.
    pub can: Vec<String>,
    /// Notes that readers need to interpret the figures.
    pub notes: Vec<String>,
}

/// A question about a loaded robots.txt.
#[derive(Clone, Copy, Debug)]
pub struct Question<'q> {
    /// The slot that holds the robots.txt.
    pub slot: usize,
    /// The crawler.
    pub agent: &'q [u8],
    /// The URL.
    pub url: &'q [u8],
}

/// The answers to a list of questions.
#[derive(Clone, Debug, Default)]
pub struct EngineAnswers {
    /// A letter for each question.
    pub letters: Vec<u8>,
    /// A line number for each question, if the engine reports lines; an unknown line is `None`.
    pub lines: Option<Vec<Option<u32>>>,
}

/// A measurement reported by an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Total nanoseconds.
    pub ns: u64,
    /// Number of passes.
    pub passes: u64,
    /// Number of disallowed rows in all passes.
    pub disallowed: u64,
}

/// An engine and its current process.
pub struct Engine<'e> {
    /// Its entry in `engines.toml`.
    pub entry: &'e EngineEntry,
    running: Option<EngineProcess>,
    /// Number of failed processes.
    pub failures: usize,
    /// Total time spent waiting for replies that did not come.
    pub lost: Duration,
    /// The robots.txt for a command-line engine.
    file: Option<tempfile::NamedTempFile>,
    /// Standard error of the last process that failed or stopped.
    pub said: String,
}

impl<'e> Engine<'e> {
    /// Creates an engine without starting a process.
    #[must_use]
    pub fn new(entry: &'e EngineEntry) -> Engine<'e> {
        Engine { entry, running: None, failures: 0, lost: Duration::ZERO, file: None, said: String::new() }
    }

    /// Returns whether each question starts a process.
    #[must_use]
    pub fn is_command(&self) -> bool {
        matches!(self.entry.start, EngineStart::Command { .. })
    }

    /// Starts a process if necessary, and requests its self-description.
    ///
    /// # Errors
    /// Returns the errors of [`Engine::ask`], and an error if a required field is missing.
    pub fn hello(&mut self) -> Result<Hello, NoReply> {
        let mut request = Message::new("do", "hello");
        request.push("protocol", PROTOCOL);
        let limits = self.entry.limits;
        let start = if self.running.is_none() { limits.start.saturating_sub(limits.time) } else { Duration::ZERO };
        let reply = self.ask(&request, start)?.0;
        let text = |key| {
            let text = reply.text(key).filter(|text| !text.trim().is_empty());
            text.map(|text| shortened(&text)).ok_or_else(|| garbage(format!("the reply to hello has no `{key}`")))
        };
        let list = |key| reply.all(key).take(50).map(|text| shortened(&String::from_utf8_lossy(text))).collect();
        Ok(Hello {
            name: text("name")?,
            version: text("version")?,
            dialect: text("dialect")?,
            language: text("language").unwrap_or_default(),
            can: list("can"),
            notes: list("note"),
        })
    }

    /// Loads a robots.txt.
    ///
    /// # Errors
    /// Returns the errors of [`Engine::ask`], including a refusal.
    pub fn load(&mut self, slot: usize, origin: &str, body: &[u8]) -> Result<(), NoReply> {
        if self.is_command() {
            return self.write_file(body);
        }
        let mut request = Message::new("do", "load");
        request.push("slot", slot.to_string());
        request.push("origin", origin);
        request.push("body", body);
        self.ask(&request, Duration::ZERO).map(drop)
    }

    /// Makes the engine forget everything that was loaded.
    ///
    /// # Errors
    /// Returns the errors of [`Engine::ask`].
    pub fn clear(&mut self) -> Result<(), NoReply> {
        if self.is_command() {
            return Ok(());
        }
        self.ask(&Message::new("do", "clear"), Duration::ZERO).map(drop)
    }

    /// Asks up to [`MAX_ROWS`] questions. A command-line engine answers about the last loaded robots.txt.
    ///
    /// # Errors
    /// Returns the errors of [`Engine::ask`], and an error if the answers are malformed or their number is wrong.
    pub fn decide(&mut self, questions: &[Question<'_>]) -> Result<EngineAnswers, NoReply> {
        if self.is_command() {
            let letters = questions.iter().map(|question| self.run_command(question)).collect::<Result<_, _>>()?;
            return Ok(EngineAnswers { letters, lines: None });
        }
        let mut request = Message::new("do", "decide");
        push_rows(&mut request, questions)?;
        let reply = self.ask(&request, Duration::ZERO)?.0;
        answers(&reply, questions.len()).map_err(|why| self.fail(garbage(why)))
    }

    /// Lets the engine measure itself. Returns its samples and the judge's waiting time.
    ///
    /// # Errors
    /// Returns the errors of [`Engine::ask`], and an error if there are no samples or a sample is invalid.
    pub fn bench(
        &mut self,
        model: &str,
        budget: Duration,
        folder: Option<&Path>,
        questions: &[Question<'_>],
    ) -> Result<(Vec<Sample>, Duration), NoReply> {
        if self.is_command() {
            return Err(NoReply { letter: letters::SKIP, why: "a command is not measured".into() });
        }
        let mut request = Message::new("do", "bench");
        request.push("model", model);
        request.push("budget", budget.as_nanos().to_string());
        if let Some(folder) = folder {
            request.push("folder", folder.as_os_str().as_encoded_bytes());
        }
        push_rows(&mut request, questions)?;
        let (reply, wall) = self.ask(&request, budget * 2)?;
        let samples: Result<Vec<Sample>, String> = reply.all("sample").map(sample).collect();
        match samples {
            Ok(samples) if !samples.is_empty() => Ok((samples, wall)),
            Ok(_) => Err(self.fail(garbage("the reply to bench has no sample".into()))),
            Err(why) => Err(self.fail(garbage(why))),
        }
    }

    /// Sends a request to the process, starting it if necessary. Returns the reply and the time that it took.
    ///
    /// # Errors
    /// Returns an error if the process violates the protocol, exceeds a limit or ends; the process is then dead. Also
    /// returns an error if it refuses or skips the request or reports an error; it then keeps running.
    pub fn ask(&mut self, request: &Message, extra_time: Duration) -> Result<(Message, Duration), NoReply> {
        let bytes = request.to_bytes().map_err(|why| NoReply { letter: letters::UNSUPPORTED, why })?;
        if self.running.is_none() {
            if request.first("do") == Some(b"hello") {
                self.start()?;
            } else {
                self.hello()?;
            }
        }
        let Some(running) = &mut self.running else {
            return Err(NoReply { letter: letters::ENDED, why: "the process ended after its reply to hello".into() });
        };
        let (reply, wall) = running.ask(bytes, extra_time).map_err(|broken| self.fail(broken))?;
        let why = || reply.text("why").map_or_else(|| "no reason given".into(), |why| shortened(&why));
        let is = match reply.fields.first() {
            Some((key, value)) if key == "is" => &**value,
            _ => return Err(self.fail(garbage("the first field of a reply is not `is`".into()))),
        };
        match is {
            b"ok" => Ok((reply, wall)),
            b"refused" => Err(NoReply { letter: letters::REFUSED, why: why() }),
            b"skip" => Err(NoReply { letter: letters::SKIP, why: why() }),
            b"error" => Err(NoReply { letter: letters::ERROR, why: why() }),
            other => Err(self.fail(garbage(format!("`is` is \"{}\"", other.escape_ascii())))),
        }
    }

    fn start(&mut self) -> Result<(), NoReply> {
        let EngineStart::Run(run) = &self.entry.start else {
            return Err(NoReply { letter: letters::SKIP, why: "a command has no process".into() });
        };
        let started = expanded(run).and_then(|run| EngineProcess::start(&run, &self.entry.folder, self.entry.limits));
        self.running = Some(started.map_err(|why| self.fail(NoReply { letter: letters::ENDED, why }))?);
        Ok(())
    }

    /// Records a failure and ends the process.
    fn fail(&mut self, broken: NoReply) -> NoReply {
        self.failures += 1;
        if broken.letter == letters::TIME {
            self.lost += self.entry.limits.time;
        }
        if let Some(running) = self.running.take() {
            self.said = running.said();
        }
        broken
    }

    /// Returns the resident memory of the process and its children, and the process's peak, in bytes, or 0 without a
    /// process.
    #[must_use]
    pub fn memory(&self) -> (u64, u64) {
        self.running.as_ref().map_or((0, 0), EngineProcess::memory)
    }

    /// Stops the process, if there is one.
    ///
    /// # Errors
    /// Returns an error if it does not exit with code 0.
    pub fn stop(&mut self) -> Result<(), String> {
        let Some(running) = self.running.take() else { return Ok(()) };
        self.said = running.said();
        running.stop(Message::new("do", "stop").to_bytes()?)
    }

    /// Writes the robots.txt for a command to a temporary file.
    fn write_file(&mut self, body: &[u8]) -> Result<(), NoReply> {
        let written = tempfile::Builder::new().prefix("robots-").suffix(".txt").tempfile().and_then(|mut file| {
            file.write_all(body)?;
            Ok(file)
        });
        let fault = |error| NoReply { letter: letters::ERROR, why: format!("cannot write robots.txt: {error}") };
        self.file = Some(written.map_err(fault)?);
        Ok(())
    }

    fn run_command(&mut self, question: &Question<'_>) -> Result<u8, NoReply> {
        let EngineStart::Command { command, allow, disallow } = &self.entry.start else { return Ok(letters::ERROR) };
        let Some(file) = &self.file else { return Ok(letters::ERROR) };
        let (Some(agent), Some(url)) = (argument(question.agent), argument(question.url)) else {
            return Ok(letters::UNSUPPORTED);
        };
        let robots = file.path().to_string_lossy().into_owned();
        let command = expanded(command).map_err(|why| NoReply { letter: letters::ENDED, why })?;
        let filled: Vec<String> = command
            .into_iter()
            .map(|part| match &*part {
                "{robots}" => robots.clone(),
                "{agent}" => agent.to_owned(),
                "{url}" => url.to_owned(),
                _ => part,
            })
            .collect();
        match process::run(&filled, &self.entry.folder, &self.entry.limits) {
            Err(why) => Err(self.fail(NoReply { letter: letters::TIME, why })),
            Ok(ended) => match (shows(allow, &ended), shows(disallow, &ended)) {
                (true, false) => Ok(letters::ALLOW),
                (false, true) => Ok(letters::DISALLOW),
                _ => Err(NoReply { letter: letters::ERROR, why: neither(&ended) }),
            },
        }
    }
}

/// Describes a result that matches both verdicts or neither.
fn neither(ended: &process::CommandResult) -> String {
    let code = ended.code.map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"));
    let said = process::printable(&ended.errors);
    shortened(&format!("no verdict ({code}): {}", said.lines().last().unwrap_or("no message")))
}

/// Returns whether a command's result matches a verdict's conditions.
fn shows(sign: &ResultPattern, ended: &process::CommandResult) -> bool {
    let contains = |text: &str| {
        let text = text.as_bytes();
        text.is_empty() || ended.output.windows(text.len()).any(|window| window == text)
    };
    sign.exit.is_none_or(|code| ended.code == Some(code)) && sign.output.as_deref().is_none_or(contains)
}

/// Returns a command-line argument, or `None` if it is invalid or could be read as an option.
fn argument(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    (!text.is_empty() && !text.starts_with('-') && !text.contains('\0')).then_some(text)
}

/// Appends rows, adding a slot or agent only where it changes.
fn push_rows(request: &mut Message, questions: &[Question<'_>]) -> Result<(), NoReply> {
    if questions.len() > MAX_ROWS {
        let why = format!("{} rows in a request: at most {MAX_ROWS} are allowed", questions.len());
        return Err(NoReply { letter: letters::UNSUPPORTED, why });
    }
    let mut last: Option<&Question<'_>> = None;
    for question in questions {
        if last.is_none_or(|last| last.slot != question.slot) {
            request.push("slot", question.slot.to_string());
        }
        if last.is_none_or(|last| last.agent != question.agent) {
            request.push("agent", question.agent);
        }
        request.push("url", question.url);
        last = Some(question);
    }
    Ok(())
}

/// Reads the answers to `count` questions from a reply.
fn answers(reply: &Message, count: usize) -> Result<EngineAnswers, String> {
    let letters = reply.first("verdicts").ok_or("the reply to decide has no `verdicts`")?.to_vec();
    if letters.len() != count {
        return Err(format!("expected {count} verdicts, found {}", letters.len()));
    }
    if let Some(bad) = letters.iter().find(|letter| !b"ADUE".contains(letter)) {
        return Err(format!("expected verdict A, D, U or E, found \"{}\"", bad.escape_ascii()));
    }
    let Some(lines) = reply.text("lines") else { return Ok(EngineAnswers { letters, lines: None }) };
    let line = |text: &str| match text {
        "-" => Ok(None),
        number => number.parse().map(Some).map_err(|_| format!("expected a line number or `-`, found {number:?}")),
    };
    let lines: Vec<Option<u32>> =
        lines.split(' ').filter(|line| !line.is_empty()).map(line).collect::<Result<_, _>>()?;
    if lines.len() != count {
        return Err(format!("expected {count} lines, found {}", lines.len()));
    }
    Ok(EngineAnswers { letters, lines: Some(lines) })
}

/// Reads a sample, which consists of three numbers.
fn sample(text: &[u8]) -> Result<Sample, String> {
    let numbers: Option<Vec<u64>> =
        std::str::from_utf8(text).ok().and_then(|text| text.split(' ').map(|number| number.parse().ok()).collect());
    match numbers.as_deref() {
        Some(&[ns, passes, disallowed]) if passes > 0 => Ok(Sample { ns, passes, disallowed }),
        _ => Err(format!("expected nanoseconds, passes (1 or more) and a count, found \"{}\"", text.escape_ascii())),
    }
}

/// Returns an error for a well-formed message that violates the protocol.
fn garbage(why: String) -> NoReply {
    NoReply { letter: letters::GARBAGE, why }
}

/// Returns the first characters of a text as a single line.
fn shortened(text: &str) -> String {
    process::printable(text.as_bytes())
        .chars()
        .take(MAX_TEXT)
        .map(|character| if character == '\n' { ' ' } else { character })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_must_match_the_questions() {
        let reply = |verdicts: &str, lines: Option<&str>| {
            let mut reply = Message::new("is", "ok");
            reply.push("verdicts", verdicts);
            lines.into_iter().for_each(|lines| reply.push("lines", lines));
            answers(&reply, 3)
        };
        assert_eq!(reply("ADU", None).unwrap().letters, b"ADU");
        assert_eq!(reply("ADU", Some("2 0 -")).unwrap().lines.unwrap(), [Some(2), Some(0), None]);
        for (verdicts, lines, fault) in [
            ("AD", None, "expected 3 verdicts, found 2"),
            ("ADAD", None, "found 4"),
            ("ADX", None, "found \"X\""),
            ("ADA", Some("1 2"), "expected 3 lines"),
            ("ADA", Some("1 2 x"), "found \"x\""),
        ] {
            let found = reply(verdicts, lines).unwrap_err();
            assert!(found.contains(fault), "{found}");
        }
    }

    #[test]
    fn samples_are_three_numbers() {
        assert_eq!(sample(b"12 3 0").unwrap(), Sample { ns: 12, passes: 3, disallowed: 0 });
        for text in ["", "1 2", "1 0 0", "1 2 3 4", "-1 2 3", "1.5 2 3", "1  2 3"] {
            assert!(sample(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn slots_and_agents_are_sent_only_when_they_change() {
        let question = |slot, agent, url| Question { slot, agent, url };
        let mut request = Message::new("do", "decide");
        push_rows(&mut request, &[question(0, b"A", b"/1"), question(0, b"A", b"/2"), question(1, b"A", b"/3")])
            .unwrap();
        let keys: Vec<&str> = request.fields.iter().map(|(key, _)| &**key).collect();
        assert_eq!(keys, ["do", "slot", "agent", "url", "url", "slot", "url"]);
    }

    #[test]
    fn requests_stop_at_the_row_limit() {
        let question = Question { slot: 0, agent: b"A", url: b"/" };
        for (rows, is_good) in [(MAX_ROWS - 1, true), (MAX_ROWS, true), (MAX_ROWS + 1, false)] {
            let mut request = Message::default();
            assert_eq!(push_rows(&mut request, &vec![question; rows]).is_ok(), is_good, "{rows}");
        }
    }

    #[test]
    fn options_are_rejected_as_arguments() {
        assert_eq!(argument(b"/a"), Some("/a"));
        for text in [&b""[..], b"-x", b"a\0b", b"\xFF"] {
            assert_eq!(argument(text), None);
        }
    }
}
