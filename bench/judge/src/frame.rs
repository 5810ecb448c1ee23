//! Messages: lists of fields, read and written as specified in `PROTOCOL.md`.

use std::io::{self, BufRead, Read as _, Write};

/// Maximum length of a key in bytes.
pub const MAX_KEY_BYTES: usize = 32;

/// Maximum number of digits in a length.
const MAX_LENGTH_DIGITS: usize = 8;

/// Maximum length of a value in bytes.
pub const MAX_VALUE_BYTES: usize = 32 << 20;

/// Maximum number of fields in a message.
pub const MAX_FIELDS: usize = 100_000;

/// Maximum size of a message in bytes, including keys, lengths and newlines.
pub const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// Maximum number of unexpected bytes shown in an error.
const SHOWN_BYTES: usize = 60;

/// A list of fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// The fields in order: keys and values.
    pub fields: Vec<(String, Vec<u8>)>,
}

impl Message {
    /// Creates a message with one field.
    #[must_use]
    pub fn new(key: &str, value: &str) -> Message {
        Message { fields: vec![(key.to_owned(), value.as_bytes().to_vec())] }
    }

    /// Appends a field.
    pub fn push(&mut self, key: &str, value: impl AsRef<[u8]>) {
        self.fields.push((key.to_owned(), value.as_ref().to_vec()));
    }

    /// Returns all values with this key, in order.
    pub fn all<'m>(&'m self, key: &'m str) -> impl Iterator<Item = &'m [u8]> {
        self.fields.iter().filter(move |(name, _)| name == key).map(|(_, value)| &**value)
    }

    /// Returns the first value with this key.
    #[must_use]
    pub fn first<'m>(&'m self, key: &'m str) -> Option<&'m [u8]> {
        self.all(key).next()
    }

    /// Returns a key's first value as text, with invalid UTF-8 replaced.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<String> {
        self.first(key).map(|value| String::from_utf8_lossy(value).into_owned())
    }

    /// Encodes the message.
    ///
    /// # Errors
    /// Returns an error if the message exceeds a protocol limit.
    pub fn to_bytes(&self) -> Result<Vec<u8>, String> {
        limit("fields in a message", self.fields.len(), MAX_FIELDS)?;
        let mut bytes = Vec::new();
        for (key, value) in &self.fields {
            limit("bytes in a key", key.len(), MAX_KEY_BYTES)?;
            limit("bytes in a value", value.len(), MAX_VALUE_BYTES)?;
            // Writing to a `Vec` cannot fail.
            let _ = write!(bytes, "{key}:{}:", value.len());
            bytes.extend_from_slice(value);
            bytes.push(b'\n');
            limit("bytes in a message", bytes.len(), MAX_MESSAGE_BYTES)?;
        }
        bytes.push(b'\n');
        limit("bytes in a message", bytes.len(), MAX_MESSAGE_BYTES)?;
        Ok(bytes)
    }
}

/// Returns an error if a number exceeds its limit.
fn limit(what: &str, found: usize, limit: usize) -> Result<(), String> {
    if found > limit { Err(format!("{found} {what}: at most {limit} are allowed")) } else { Ok(()) }
}

/// Reads a message, or returns `None` at the end of the input. Uses no more memory than the largest valid message.
///
/// # Errors
/// Returns an error with the field number if the input is malformed, exceeds a limit, or cannot be read.
pub fn read(input: &mut impl BufRead) -> Result<Option<Message>, String> {
    let mut message = Message::default();
    let mut bytes = 0;
    loop {
        let number = message.fields.len() + 1;
        let at_fault = |fault: String| format!("field {number} of a message: {fault}");
        let first = peek(input).map_err(at_fault)?;
        match first {
            None if message.fields.is_empty() => return Ok(None),
            None => return Err(at_fault("the output ends, expected a field or an empty line".into())),
            Some(b'\n') => {
                input.consume(1);
                limit("bytes in a message", bytes + 1, MAX_MESSAGE_BYTES)?;
                if message.fields.is_empty() {
                    return Err("found an empty line, expected a message".into());
                }
                return Ok(Some(message));
            }
            Some(_) => {
                limit("fields in a message", number, MAX_FIELDS)?;
                let field = field(input, &mut bytes).map_err(at_fault)?;
                message.fields.push(field);
            }
        }
    }
}

/// Returns the next byte without consuming it.
fn peek(input: &mut impl BufRead) -> Result<Option<u8>, String> {
    loop {
        match input.fill_buf() {
            Ok(buffer) => return Ok(buffer.first().copied()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(format!("cannot read: {error}")),
        }
    }
}

/// Reads a field, and adds its size to `bytes`.
fn field(input: &mut impl BufRead, bytes: &mut usize) -> Result<(String, Vec<u8>), String> {
    let key = until_colon(input, MAX_KEY_BYTES, "a key of a-z, 0-9, `-`, `_`", |byte| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_'
    })?;
    let digits = until_colon(input, MAX_LENGTH_DIGITS, "a length in decimal digits", |byte| byte.is_ascii_digit())?;
    if digits.len() > 1 && digits.starts_with('0') {
        return Err(format!("expected a length without leading zeros, found {digits}"));
    }
    let length: usize = digits.parse().map_err(|_| format!("not a length: {digits}"))?;
    limit("bytes in a value", length, MAX_VALUE_BYTES)?;
    *bytes += key.len() + digits.len() + 3 + length;
    // Count the final empty line, too.
    limit("bytes in a message", *bytes + 1, MAX_MESSAGE_BYTES)?;
    let mut value = Vec::new();
    input.take(length as u64).read_to_end(&mut value).map_err(|error| format!("cannot read: {error}"))?;
    if value.len() < length {
        return Err(format!("the output ends after {} of {length} bytes of `{key}`", value.len()));
    }
    match peek(input)? {
        Some(b'\n') => input.consume(1),
        Some(_) => return Err(format!("expected a newline after the {length} bytes of `{key}`, {}", found(input))),
        None => return Err(format!("the output ends, expected a newline after `{key}`")),
    }
    Ok((key, value))
}

/// Reads text up to a colon, and consumes the colon.
fn until_colon(
    input: &mut impl BufRead,
    most: usize,
    expected: &str,
    is_good: impl Fn(u8) -> bool,
) -> Result<String, String> {
    let mut text = String::new();
    loop {
        match peek(input)? {
            Some(b':') if !text.is_empty() => {
                input.consume(1);
                return Ok(text);
            }
            Some(byte) if is_good(byte) && text.len() < most => {
                input.consume(1);
                text.push(char::from(byte));
            }
            Some(_) => {
                return Err(format!(
                    "expected {expected}, 1 to {most} long, and a colon, {}",
                    found_after(&text, input)
                ));
            }
            None => return Err(format!("the output ends in {expected}: {text:?}")),
        }
    }
}

fn found(input: &mut impl BufRead) -> String {
    found_after("", input)
}

/// Formats unexpected input, including the text that was already consumed.
fn found_after(taken: &str, input: &mut impl BufRead) -> String {
    let next = input.fill_buf().unwrap_or_default();
    let shown = &next[..next.len().min(SHOWN_BYTES)];
    format!("found \"{taken}{}\"", shown.escape_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(bytes: &[u8]) -> Result<Option<Message>, String> {
        read(&mut io::BufReader::with_capacity(7, bytes))
    }

    #[test]
    fn messages_survive_a_round_trip() {
        let mut message = Message::new("do", "load");
        message.push("slot", "0");
        message.push("body", b"User-agent: *\nDisallow: /a\n\xFF\0:\n\n");
        message.push("empty", "");
        let bytes = message.to_bytes().unwrap();
        assert!(bytes.starts_with(b"do:4:load\nslot:1:0\nbody:32:User-agent"), "{}", bytes.escape_ascii());
        let two = [&bytes[..], &bytes[..]].concat();
        let mut input = &two[..];
        assert_eq!(read(&mut input).unwrap().unwrap(), message);
        assert_eq!(read(&mut input).unwrap().unwrap(), message);
        assert_eq!(read(&mut input).unwrap(), None);
    }

    #[test]
    fn truncated_messages_are_errors() {
        let bytes = Message::new("verdicts", "AD\nA").to_bytes().unwrap();
        for end in 1..bytes.len() {
            assert!(read_all(&bytes[..end]).is_err(), "{}", bytes[..end].escape_ascii());
        }
    }

    #[test]
    fn malformed_messages_are_described() {
        for (text, fault) in [
            ("Traceback (most recent call last):\n", "field 1 of a message: expected a key"),
            ("\n", "found an empty line"),
            (":1:a\n\n", "expected a key"),
            ("a:b\n\n", "a length"),
            ("a::\n\n", "a length"),
            ("a:-1:\n\n", "a length"),
            ("a:01:x\n\n", "leading zeros"),
            ("a:1:xy\n\n", "expected a newline after the 1 bytes of `a`, found \"y"),
            ("a:1:x\nb:9:x\n\n", "field 2 of a message: the output ends after 3 of 9 bytes of `b`"),
        ] {
            let found = read_all(text.as_bytes()).unwrap_err();
            assert!(found.contains(fault), "{text:?}: {found}");
        }
    }

    #[test]
    fn protocol_document_states_the_limits() {
        const PAGE: &str = include_str!("../PROTOCOL.md");
        let grouped = |number: usize| {
            let digits = number.to_string();
            let parts = digits.as_bytes().rchunks(3).rev().map(|part| std::str::from_utf8(part).unwrap());
            parts.collect::<Vec<_>>().join(",")
        };
        for text in [
            format!("1 to {MAX_KEY_BYTES}, from"),
            format!("1 to {MAX_LENGTH_DIGITS}, without"),
            format!("bytes in a value | {} ", grouped(MAX_VALUE_BYTES)),
            format!("fields in a message | {} ", grouped(MAX_FIELDS)),
            format!("bytes in a whole message | {} ", grouped(MAX_MESSAGE_BYTES)),
            format!("more than {} rows", grouped(crate::engine::MAX_ROWS)),
            format!("last {} KiB", crate::process::ERROR_BYTES >> 10),
        ] {
            assert!(PAGE.contains(&text), "PROTOCOL.md does not say {text:?}");
        }
        for model in crate::engine::MODELS {
            assert!(PAGE.contains(&format!("\n| `{model}` | ")), "PROTOCOL.md has no model {model}");
        }
    }

    #[test]
    fn keys_stop_at_the_limit() {
        for (length, is_good) in [(MAX_KEY_BYTES - 1, true), (MAX_KEY_BYTES, true), (MAX_KEY_BYTES + 1, false)] {
            let key = "k".repeat(length);
            assert_eq!(read_all(format!("{key}:1:x\n\n").as_bytes()).is_ok(), is_good, "{length}");
            assert_eq!(Message::new(&key, "").to_bytes().is_ok(), is_good, "{length}");
        }
    }

    #[test]
    fn values_stop_at_the_limit() {
        for (length, is_good) in [(MAX_VALUE_BYTES - 1, true), (MAX_VALUE_BYTES, true), (MAX_VALUE_BYTES + 1, false)] {
            let mut message = Message::default();
            message.push("v", vec![b'x'; length]);
            assert_eq!(message.to_bytes().is_ok(), is_good, "{length}");
            let mut bytes = format!("v:{length}:").into_bytes();
            bytes.resize(bytes.len() + length, b'x');
            bytes.extend(b"\n\n");
            assert_eq!(read_all(&bytes).is_ok(), is_good, "{length}");
        }
        // A declared length does not allocate memory by itself.
        assert!(read_all(b"v:33554432:x").unwrap_err().contains("after 1 of 33554432"));
        assert!(read_all(b"v:123456789:x").unwrap_err().contains("1 to 8 long"));
    }

    #[test]
    fn messages_stop_at_the_field_limit() {
        for (count, is_good) in [(MAX_FIELDS - 1, true), (MAX_FIELDS, true), (MAX_FIELDS + 1, false)] {
            let message = Message { fields: vec![("k".into(), Vec::new()); count] };
            assert_eq!(message.to_bytes().is_ok(), is_good, "{count}");
            let bytes = ["k:0:\n".repeat(count), "\n".into()].concat();
            assert_eq!(read_all(bytes.as_bytes()).is_ok(), is_good, "{count}");
        }
    }

    #[test]
    fn messages_stop_at_the_size_limit() {
        // Two fields `a:8 digits:...\n` have 24 bytes in addition to their values; the empty line has one.
        let first = MAX_VALUE_BYTES - 20;
        for (total, is_good) in
            [(MAX_MESSAGE_BYTES - 1, true), (MAX_MESSAGE_BYTES, true), (MAX_MESSAGE_BYTES + 1, false)]
        {
            let mut message = Message::default();
            message.push("a", vec![b'x'; first]);
            message.push("a", vec![b'x'; total - first - 25]);
            assert_eq!(message.to_bytes().is_ok(), is_good, "{total}");
            let bytes: Vec<u8> = message
                .fields
                .iter()
                .flat_map(|(key, value)| [format!("{key}:{}:", value.len()).as_bytes(), value, b"\n"].concat())
                .chain(*b"\n")
                .collect();
            assert_eq!(bytes.len(), total);
            assert_eq!(read_all(&bytes).is_ok(), is_good, "{total}");
        }
    }
}
