//! JSON Lines: one fetched robots.txt a line, with `url`, `status` and `body`.
//!
//! Only a body that came with a status from 200 to 299 is used. What the other statuses mean is for whoever
//! fetched it to say, so their origins stay unknown; they are counted.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use reptile_compiler::builder::OriginKey;
use reptile_compiler::limits::MAX_BODY_BYTES;
use reptile_engine::url::split;
use serde::Deserialize;

use super::{Item, Robots, Sink, TOO_LARGE};
use crate::error::{Failure, Result};

/// Bytes of one line: a body of the greatest size, each byte of it written as `\u0000`, and room for the rest.
const MAX_RECORD_BYTES: usize = 6 * MAX_BODY_BYTES + (1 << 20);

#[derive(Deserialize)]
struct Record<'a> {
    #[serde(borrow)]
    url: Cow<'a, str>,
    status: Option<u16>,
    body: Option<String>,
}

/// Reads every line.
pub fn read(path: &Path, source: impl Read, sink: &mut Sink<'_>) -> Result<()> {
    let mut source = BufReader::with_capacity(1 << 16, source);
    let mut line = Vec::new();
    for number in 1_u64.. {
        let name = || format!("{}:{number}", path.display());
        match next_line(&mut source, &mut line, MAX_RECORD_BYTES) {
            Err(error) => return Err(Failure::new(format!("{}: cannot be read: {error}", name()))),
            Ok(Next::End) => break,
            Ok(Next::TooLong) => sink(Item::Bad {
                name: name(),
                reason: TOO_LARGE,
                detail: format!("a record has at most {MAX_RECORD_BYTES} bytes"),
            })?,
            Ok(Next::Line) if line.trim_ascii().is_empty() => {}
            Ok(Next::Line) => sink(item(&line, name()))?,
        }
        line.clear();
        line.shrink_to(1 << 20);
    }
    Ok(())
}

/// What a line is.
fn item(line: &[u8], name: String) -> Item {
    let bad = |name, reason, detail: String| Item::Bad { name, reason, detail };
    let record: Record<'_> = match serde_json::from_slice(line) {
        Ok(record) => record,
        Err(error) => {
            let text = error.to_string();
            let text = text.rsplit_once(" at line ").map_or(&*text, |(text, _)| text);
            return bad(name, "not a valid record", format!("{text} (column {})", error.column()));
        }
    };
    let url = match split(record.url.as_bytes()) {
        Ok(url) => url,
        Err(error) => return bad(name, "no valid url", format!("\"{}\": {error}", record.url.escape_debug())),
    };
    if !url.path.with(|path| path == b"/robots.txt") {
        return bad(name, "not the url of a robots.txt", format!("\"{}\"", record.url.escape_debug()));
    }
    let status = record.status.unwrap_or(200);
    if !(200..=299).contains(&status) {
        return Item::LeftOut(format!("status {status}"));
    }
    let Some(body) = record.body else { return bad(name, "no body", String::new()) };
    if body.len() > MAX_BODY_BYTES {
        return bad(name, TOO_LARGE, format!("{} bytes; the limit is {MAX_BODY_BYTES}", body.len()));
    }
    let origin = url.origin;
    let key = OriginKey { host: origin.host.to_ascii_lowercase().into(), scheme: origin.scheme, port: origin.port };
    Item::Robots(Robots { name, origins: vec![key], body: body.into_bytes() })
}

enum Next {
    Line,
    TooLong,
    End,
}

/// Reads a line into an empty buffer, or past it if it is longer than `limit`.
fn next_line(source: &mut impl BufRead, line: &mut Vec<u8>, limit: usize) -> io::Result<Next> {
    let read = source.by_ref().take(limit as u64 + 1).read_until(b'\n', line)?;
    if read == 0 {
        return Ok(Next::End);
    }
    if line.pop_if(|last| *last == b'\n').is_some() || line.len() <= limit {
        return Ok(Next::Line);
    }
    source.skip_until(b'\n')?;
    Ok(Next::TooLong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_a_line_holds_at_its_edges() {
        for end in ["", "\n", "\nnext"] {
            for (len, fits) in [(7, true), (8, true), (9, false), (100, false)] {
                let text = format!("{}{end}", "a".repeat(len));
                let mut source = text.as_bytes();
                let mut line = Vec::new();
                let next = next_line(&mut source, &mut line, 8).unwrap();
                assert_eq!(matches!(next, Next::Line), fits, "{len}");
                assert!(!fits || line.len() == len);
                line.clear();
                let next = next_line(&mut source, &mut line, 8).unwrap();
                assert_eq!(matches!(next, Next::Line), end == "\nnext");
                assert_eq!(line, end.trim_start().as_bytes());
            }
        }
    }
}
