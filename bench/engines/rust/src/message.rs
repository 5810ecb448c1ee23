//! Protocol messages: lists of fields, read from and written to streams.

use std::io::{self, BufRead, Read, Write};

/// Maximum length in bytes of a key or length, including its colon.
const MAX_HEAD: u64 = 64;

/// Maximum length of a value in bytes.
pub const MAX_VALUE: usize = 32 << 20;

/// Maximum number of fields in a message.
pub const MAX_FIELDS: usize = 100_000;

/// A message's fields: keys and values.
pub type Fields = Vec<(String, Vec<u8>)>;

/// Reads the next message, or returns `None` at the end of the input.
///
/// # Errors
/// Returns an error if the input cannot be read, ends within a message, or exceeds a protocol limit.
pub fn read(input: &mut impl BufRead) -> io::Result<Option<Fields>> {
    let mut fields = Fields::new();
    loop {
        match input.fill_buf()?.first() {
            None if fields.is_empty() => return Ok(None),
            None => return Err(malformed("the input ends within a message".to_owned())),
            Some(b'\n') => {
                input.consume(1);
                return Ok(Some(fields));
            }
            Some(_) if fields.len() == MAX_FIELDS => {
                return Err(malformed(format!("a message has more than {MAX_FIELDS} fields")));
            }
            Some(_) => fields.push(read_field(input)?),
        }
    }
}

/// Reads `key:length:value` and a newline.
fn read_field(input: &mut impl BufRead) -> io::Result<(String, Vec<u8>)> {
    let key = read_to_colon(input)?;
    let digits = read_to_colon(input)?;
    let length = digits.parse::<usize>().ok().filter(|&length| length <= MAX_VALUE);
    let length =
        length.ok_or_else(|| malformed(format!("expected a length of up to {MAX_VALUE}, found {digits:?}")))?;
    // A declared length does not allocate memory by itself.
    let mut value = Vec::new();
    input.by_ref().take(length as u64 + 1).read_to_end(&mut value)?;
    if value.len() <= length {
        return Err(malformed(format!("the input ends after {} of {length} bytes of {key:?}", value.len())));
    }
    if value.pop() != Some(b'\n') {
        return Err(malformed(format!("expected a newline after the {length} bytes of {key:?}")));
    }
    Ok((key, value))
}

/// Reads text up to a colon.
fn read_to_colon(input: &mut impl BufRead) -> io::Result<String> {
    let mut text = Vec::new();
    input.by_ref().take(MAX_HEAD).read_until(b':', &mut text)?;
    if text.pop() != Some(b':') {
        return Err(malformed(format!("expected key:length:value, found {:?}", text.escape_ascii().to_string())));
    }
    String::from_utf8(text).map_err(|_| malformed("a key is not text".to_owned()))
}

/// Writes a message and flushes the output.
///
/// # Errors
/// Returns an error if the output cannot be written.
pub fn write(output: &mut impl Write, fields: &[(&str, String)]) -> io::Result<()> {
    for (key, value) in fields {
        writeln!(output, "{key}:{}:{value}", value.len())?;
    }
    output.write_all(b"\n")?;
    output.flush()
}

fn malformed(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn one(text: &[u8]) -> io::Result<Option<Fields>> {
        read(&mut &text[..])
    }

    #[test]
    fn messages_survive_a_round_trip() {
        let mut bytes = Vec::new();
        write(&mut bytes, &[("do", "load".to_owned()), ("body", "a:1:\n\n".to_owned()), ("url", String::new())])
            .unwrap();
        let expected: Fields =
            vec![("do".into(), b"load".to_vec()), ("body".into(), b"a:1:\n\n".to_vec()), ("url".into(), vec![])];
        assert_eq!(one(&bytes).unwrap(), Some(expected));
        assert_eq!(one(b"").unwrap(), None);
    }

    #[test]
    fn malformed_messages_are_described() {
        for (text, expected) in [
            (&b"do:4:load\n"[..], "ends within"),
            (b"do:4:load", "ends after 4 of 4"),
            (b"do:33554432:x", "ends after 1 of 33554432"),
            (b"do:3:load\n\n", "newline after the 3"),
            (b"do:x:load\n\n", "\"x\""),
            (b"do:-1:load\n\n", "\"-1\""),
            (b"load\n\n", "expected key"),
            (b"\xff:0:\n\n", "not text"),
        ] {
            let error = one(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn messages_stop_at_the_limits() {
        for (length, taken) in [(MAX_VALUE - 1, true), (MAX_VALUE, true), (MAX_VALUE + 1, false)] {
            let mut bytes = format!("body:{length}:").into_bytes();
            bytes.resize(bytes.len() + length, b'x');
            bytes.extend_from_slice(b"\n\n");
            assert_eq!(one(&bytes).is_ok(), taken, "{length} bytes");
        }
        for (fields, taken) in [(MAX_FIELDS - 1, true), (MAX_FIELDS, true), (MAX_FIELDS + 1, false)] {
            let bytes = [&b"url:0:\n".repeat(fields)[..], b"\n"].concat();
            assert_eq!(one(&bytes).is_ok(), taken, "{fields} fields");
        }
    }
}
