//! JSON Lines: one capture of a robots.txt a line.
//!
//! What its status, redirects, times and errors mean is for a fetch profile to say (`reptile_compiler::capture`). Here
//! they are read, and a record that makes no sense is refused.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use reptile_compiler::capture::{self, Capture, Time, Truncation};
use reptile_compiler::limits::MAX_BODY_BYTES;
use reptile_compiler::set::origin::{OwnedOrigin, RobotsUrlError};
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

use super::time::{in_range, read_time};
use super::{Item, Robots, Sink, TOO_LARGE};
use crate::error::{Failure, Result};

/// Bytes of one line: a body of the greatest size, each byte of it written as `\u0000`, and room for the rest.
const MAX_RECORD_BYTES: usize = 6 * MAX_BODY_BYTES + (1 << 20);

/// The fields of a record. Others may be there and are not looked at; all but the URL may be absent or null.
#[derive(Deserialize)]
struct Record<'a> {
    /// The URL that was asked for first.
    #[serde(borrow)]
    url: Cow<'a, str>,
    /// The status of the last answer.
    status: Option<Status>,
    body: Option<String>,
    /// When it was fetched.
    time: Option<When>,
    /// The redirects that were followed.
    redirects: Option<Redirects>,
    /// The header fields of the last answer.
    headers: Option<Headers>,
    /// Whether, or why, the body is not whole.
    truncated: Option<Truncated>,
    /// What went wrong with the connection, in any words.
    error: Option<Cow<'a, str>>,
}

/// A number that may be a status.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a status, a number from 100 to 999")]
enum Status {
    Code(u16),
}

/// Seconds since 1970, or RFC 3339.
struct When(Time);

impl<'de> Deserialize<'de> for When {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<When, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected a time: seconds since 1970, or a text such as 2026-03-14T15:09:26Z")]
        enum Written<'a> {
            Seconds(Time),
            #[serde(borrow)]
            Text(Cow<'a, str>),
        }
        let time = match Written::deserialize(deserializer)? {
            Written::Seconds(seconds) => in_range(seconds),
            Written::Text(text) => read_time(&text),
        };
        time.map(When).map_err(D::Error::custom)
    }
}

/// How many redirects there were: their number, or a list of their locations, of which no more is kept.
struct Redirects(u32);

impl<'de> Deserialize<'de> for Redirects {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Redirects, D::Error> {
        struct Count;
        impl<'de> Visitor<'de> for Count {
            type Value = Redirects;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the number of redirects, or a list of their locations")
            }

            fn visit_u64<E: Error>(self, count: u64) -> std::result::Result<Redirects, E> {
                Ok(Redirects(count.try_into().unwrap_or(u32::MAX)))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<Redirects, A::Error> {
                let mut count = 0_u32;
                while list.next_element::<Cow<'de, str>>()?.is_some() {
                    count = count.saturating_add(1);
                }
                Ok(Redirects(count))
            }
        }
        deserializer.deserialize_any(Count)
    }
}

/// The header fields that matter, whatever the case of their names; several of one name are joined.
#[derive(Default)]
struct Headers {
    cache_control: Option<String>,
    content_type: Option<String>,
}

impl<'de> Deserialize<'de> for Headers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Headers, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected the text of a header field, or a list of such")]
        enum Written {
            One(String),
            Several(Vec<String>),
        }
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Headers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of header fields")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> std::result::Result<Headers, A::Error> {
                let mut headers = Headers::default();
                while let Some(name) = fields.next_key::<Cow<'de, str>>()? {
                    let field = if name.eq_ignore_ascii_case("cache-control") {
                        &mut headers.cache_control
                    } else if name.eq_ignore_ascii_case("content-type") {
                        &mut headers.content_type
                    } else {
                        fields.next_value::<IgnoredAny>()?;
                        continue;
                    };
                    let values = match fields.next_value()? {
                        Written::One(value) => vec![value],
                        Written::Several(values) => values,
                    };
                    let all = field.take().into_iter().chain(values).collect::<Vec<_>>();
                    *field = Some(all.join(", "));
                }
                Ok(headers)
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

/// Why the body is not whole, if it is not.
struct Truncated(Option<Truncation>);

impl<'de> Deserialize<'de> for Truncated {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Truncated, D::Error> {
        const EXPECTED: &str = "true, false, \"length\", \"time\", \"disconnect\" or \"unspecified\"";
        struct Word;
        impl Visitor<'_> for Word {
            type Value = Truncated;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED)
            }

            fn visit_bool<E: Error>(self, is_truncated: bool) -> std::result::Result<Truncated, E> {
                Ok(Truncated(is_truncated.then_some(Truncation::Unspecified)))
            }

            fn visit_str<E: Error>(self, word: &str) -> std::result::Result<Truncated, E> {
                let truncation = Truncation::from_name(word);
                truncation.map(Some).map(Truncated).ok_or_else(|| E::invalid_value(Unexpected::Str(word), &EXPECTED))
            }
        }
        deserializer.deserialize_any(Word)
    }
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
    // A list of the fields' values in their order would be read too, and is nothing that anybody means.
    if line.trim_ascii_start().starts_with(b"[") {
        return bad(name, "not a valid record", "expected an object, found a list".into());
    }
    let record: Record<'_> = match serde_json::from_slice(line) {
        Ok(record) => record,
        Err(error) => {
            let text = error.to_string();
            let text = text.rsplit_once(" at line ").map_or(&*text, |(text, _)| text);
            return bad(name, "not a valid record", format!("{text} (column {})", error.column()));
        }
    };
    let origin = match OwnedOrigin::of_robots_url(record.url.as_bytes()) {
        Ok(origin) => origin,
        Err(RobotsUrlError::OtherPath) => {
            return bad(name, "not the url of a robots.txt", format!("\"{}\"", record.url.escape_debug()));
        }
        Err(error) => return bad(name, "no valid url", format!("\"{}\": {error}", record.url.escape_debug())),
    };
    let status = record.status.map(|Status::Code(status)| status);
    if let Some(status) = status.filter(|status| !(100..=999).contains(status)) {
        return bad(name, "no valid status", format!("expected a number from 100 to 999, found {status}"));
    }
    let headers = record.headers.unwrap_or_default();
    let capture = Capture {
        status,
        redirects: record.redirects.map_or(0, |redirects| redirects.0),
        time: record.time.map(|when| when.0),
        max_age: headers.cache_control.as_deref().and_then(capture::max_age),
        media_type: headers.content_type.as_deref().map(capture::media_type),
        truncated: record.truncated.and_then(|truncated| truncated.0),
        has_failed: record.error.is_some_and(|error| !error.is_empty()),
    };
    if let Some(body) = record.body.as_ref().filter(|body| body.len() > MAX_BODY_BYTES) {
        return bad(name, TOO_LARGE, format!("{} bytes; the limit is {MAX_BODY_BYTES}", body.len()));
    }
    Item::Robots(Robots { name, origins: vec![origin], capture, body: record.body.map(String::into_bytes) })
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
