//! Messages of the protocol: lists of fields, read from a stream and written to one. What they mean is not known here.

use std::io::{self, BufRead, Read, Write};

/// The most bytes of a key and of a length together with their colons.
const MAX_HEAD: u64 = 64;

/// The most bytes of a value.
pub const MAX_VALUE: usize = 32 << 20;

/// The most fields of a message.
pub const MAX_FIELDS: usize = 100_000;

/// The fields of a message, each a key and a value.
pub type Fields = Vec<(String, Vec<u8>)>;

/// Reads the next message; `None` at the end of the input.
///
/// # Errors
/// Errors if the input cannot be read, ends within a message, or is over a limit of the protocol.
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
    let mut value = vec![0; length + 1];
    input.read_exact(&mut value)?;
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

/// Writes a message and flushes.
///
/// # Errors
/// Errors if the output cannot be written.
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
    fn a_message_is_read_as_it_was_written() {
        let mut bytes = Vec::new();
        write(&mut bytes, &[("do", "load".to_owned()), ("body", "a:1:\n\n".to_owned()), ("url", String::new())])
            .unwrap();
        let expected: Fields =
            vec![("do".into(), b"load".to_vec()), ("body".into(), b"a:1:\n\n".to_vec()), ("url".into(), vec![])];
        assert_eq!(one(&bytes).unwrap(), Some(expected));
        assert_eq!(one(b"").unwrap(), None);
    }

    #[test]
    fn a_damaged_message_is_an_error_that_says_what_is_wrong() {
        for (text, expected) in [
            (&b"do:4:load\n"[..], "ends within"),
            (b"do:4:load", "failed to fill"),
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
    fn the_limits_hold_to_the_byte_and_the_field() {
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
