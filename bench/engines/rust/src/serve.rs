//! The request loop, and replies to all requests except `bench`.

use std::collections::BTreeMap;
use std::io::{self, BufWriter};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::implementation::{Implementation, Question};
use crate::message::{self, Fields};

/// The supported version of the protocol.
const PROTOCOL: &[u8] = b"1";

/// A reply that is not `ok`.
pub(crate) enum Refusal {
    /// The implementation rejects the robots.txt.
    Refused(String),
    /// The implementation does not support the request.
    Skip(String),
    /// The request is malformed.
    Error(String),
}

/// A reply's fields after `is`.
pub(crate) type Reply = Result<Vec<(&'static str, String)>, Refusal>;

/// A loaded robots.txt.
pub(crate) struct Slot {
    pub(crate) origin: String,
    pub(crate) body: Vec<u8>,
}

/// An implementation and the loaded files.
pub struct Session<I> {
    pub(crate) implementation: I,
    pub(crate) slots: BTreeMap<u32, Slot>,
}

/// A requested row, with the index of its `slot` field.
pub(crate) struct RequestedRow<'a> {
    pub(crate) field: usize,
    pub(crate) slot: u32,
    pub(crate) row: Question<'a>,
}

/// Calls an implementation. Returns `None` if it panics.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// Returns the first value with a key.
pub(crate) fn field<'a>(fields: &'a Fields, key: &str) -> Result<&'a [u8], Refusal> {
    let found = fields.iter().find(|(name, _)| name == key);
    found.map(|(_, value)| &value[..]).ok_or_else(|| Refusal::Error(format!("expected a field {key:?}")))
}

pub(crate) fn number<T: std::str::FromStr>(value: &[u8]) -> Result<T, Refusal> {
    let text = String::from_utf8_lossy(value);
    text.parse().map_err(|_| Refusal::Error(format!("expected a number, found {text:?}")))
}

pub(crate) fn rows(fields: &Fields) -> Result<Vec<RequestedRow<'_>>, Refusal> {
    let mut rows = Vec::new();
    let (mut slot, mut agent, mut count) = (None, &b""[..], 0);
    for (key, value) in fields {
        match key.as_str() {
            "slot" => (slot, count) = (Some(number(value)?), count + 1),
            "agent" => agent = value,
            "url" => {
                let slot = slot.ok_or_else(|| Refusal::Error("expected a slot before the first URL".to_owned()))?;
                rows.push(RequestedRow { field: count, slot, row: Question::new(agent, value) });
            }
            _ => {}
        }
    }
    Ok(rows)
}

impl<I: Implementation> Session<I> {
    /// Creates a session without files.
    pub fn new(implementation: I) -> Session<I> {
        Session { implementation, slots: BTreeMap::new() }
    }

    /// Returns the reply to a request.
    pub fn reply(&mut self, request: &Fields) -> Vec<(&'static str, String)> {
        let asked = request.first().filter(|(key, _)| key == "do").map(|(_, value)| &value[..]);
        let answer = match asked {
            Some(b"hello") => self.hello(request),
            Some(b"load") => self.load(request),
            Some(b"clear") => {
                self.slots.clear();
                Ok(Vec::new())
            }
            Some(b"decide") => self.decide(request),
            Some(b"bench") => self.bench(request),
            other => Err(Refusal::Skip(format!("no such request: {}", other.unwrap_or_default().escape_ascii()))),
        };
        let (is, mut rest) = match answer {
            Ok(rest) => ("ok", rest),
            Err(Refusal::Refused(why)) => ("refused", vec![("why", why)]),
            Err(Refusal::Skip(why)) => ("skip", vec![("why", why)]),
            Err(Refusal::Error(why)) => ("error", vec![("why", why)]),
        };
        rest.insert(0, ("is", is.to_owned()));
        rest
    }

    fn hello(&self, request: &Fields) -> Reply {
        if field(request, "protocol")? != PROTOCOL {
            return Err(Refusal::Skip("this engine supports version 1 of the protocol".to_owned()));
        }
        let hello = self.implementation.hello();
        let mut reply = vec![("name", hello.name), ("version", hello.version), ("dialect", hello.dialect)];
        reply.push(("language", concat!("Rust ", env!("COMPILER")).to_owned()));
        let mut can = vec!["load", "decide", "bench:one-shot"];
        if I::LINES {
            can.push("lines");
        }
        if I::PARSES {
            can.extend(["bench:parse", "bench:decide", "bench:fresh"]);
        }
        if I::PARSES && I::TAKES_PATHS {
            can.extend(["bench:path", "bench:fresh-path"]);
        }
        if I::PARSES && I::CRAWLS {
            can.push("bench:crawl");
        }
        if I::OPENS {
            can.push("bench:open");
        }
        reply.extend(can.into_iter().map(|ability| ("can", ability.to_owned())));
        reply.extend(hello.notes.into_iter().map(|note| ("note", note)));
        Ok(reply)
    }

    fn load(&mut self, request: &Fields) -> Reply {
        let slot = number(field(request, "slot")?)?;
        self.slots.remove(&slot);
        let origin = String::from_utf8_lossy(field(request, "origin")?).into_owned();
        let body = field(request, "body")?.to_vec();
        match guarded(|| self.implementation.parse(&body).map(|_| ())) {
            None => return Err(Refusal::Refused("it panicked".to_owned())),
            Some(Err(why)) => return Err(Refusal::Refused(why)),
            Some(Ok(())) => self.slots.insert(slot, Slot { origin, body }),
        };
        Ok(Vec::new())
    }

    fn decide(&self, request: &Fields) -> Reply {
        let asked = rows(request)?;
        let files = self.files(&asked);
        let readies = self.readies(&files, &asked);
        let (mut verdicts, mut lines) = (String::new(), Vec::new());
        for (RequestedRow { slot, row, .. }, ready) in asked.iter().zip(readies.of_rows()) {
            let verdict = match ready {
                Some(Some(ready)) => guarded(|| self.implementation.allows(ready, row)),
                Some(None) => Some(None),
                None => None,
            };
            verdicts.push(match verdict {
                Some(Some(true)) => 'A',
                Some(Some(false)) => 'D',
                Some(None) if self.slots.contains_key(slot) => 'U',
                _ => 'E',
            });
            let line =
                ready.and_then(Option::as_ref).and_then(|ready| guarded(|| self.implementation.line(ready, row))?);
            lines.push(line.map_or("-".to_owned(), |line| line.to_string()));
        }
        let mut reply = vec![("verdicts", verdicts)];
        if I::LINES {
            reply.push(("lines", lines.join(" ")));
        }
        Ok(reply)
    }
}

/// Answers requests until `stop` or the end of the input.
///
/// # Errors
/// Returns an error if the input is malformed or the output cannot be written.
pub fn serve<I: Implementation>(implementation: I) -> io::Result<()> {
    // A panic in an implementation becomes a row's `E`. Its message would only fill standard error.
    std::panic::set_hook(Box::new(|_| {}));
    let mut input = io::stdin().lock();
    let mut output = BufWriter::new(io::stdout().lock());
    let mut session = Session::new(implementation);
    while let Some(request) = message::read(&mut input)? {
        if request.first().is_some_and(|(key, value)| key == "do" && value == b"stop") {
            break;
        }
        message::write(&mut output, &session.reply(&request))?;
    }
    Ok(())
}
