//! The fields in a header: of a WARC record, or of the HTTP response in it.

use std::borrow::Cow;

use memchr::memchr;

/// Parses a number that consists only of digits and is within range.
pub(super) fn number(digits: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?;
    text.parse().ok()
}

/// Returns whether a line continues the preceding one.
pub(super) fn is_folded(line: &[u8]) -> bool {
    matches!(line.first(), Some(b' ' | b'\t'))
}

/// Returns the fields in a header, after its first line. A line that starts with white space continues the preceding
/// line. Lines without a colon are ignored, and so is what continues them or the first line (RFC 9112, section 2.2).
pub(crate) fn fields(header: &[u8]) -> impl Iterator<Item = (&[u8], Cow<'_, [u8]>)> {
    let mut rest = header;
    next_line(&mut rest);
    std::iter::from_fn(move || {
        loop {
            let line = next_line(&mut rest)?;
            let Some(colon) = memchr(b':', line).filter(|_| !is_folded(line)) else { continue };
            let mut value = Cow::Borrowed(line[colon + 1..].trim_ascii());
            while is_folded(rest)
                && let Some(folded) = next_line(&mut rest)
            {
                let value = value.to_mut();
                if !value.is_empty() {
                    value.push(b' ');
                }
                value.extend_from_slice(folded.trim_ascii());
            }
            return Some((line[..colon].trim_ascii(), value));
        }
    })
}

/// Removes the first line, with its LF, and returns it.
fn next_line<'t>(text: &mut &'t [u8]) -> Option<&'t [u8]> {
    let len = memchr(b'\n', text).map_or(text.len(), |end| end + 1);
    let (line, rest) = text.split_at(len);
    *text = rest;
    (len > 0).then_some(line)
}

/// Maximum length in bytes for names from [`lower_name`]. All supported names are shorter.
pub(crate) const MAX_NAME_BYTES: usize = 32;

/// Returns a field's name in lower case, or an empty one if it is longer than any supported name.
pub(crate) fn lower_name<'m>(name: &[u8], memory: &'m mut [u8; MAX_NAME_BYTES]) -> &'m [u8] {
    let Some(lower) = memory.get_mut(..name.len()) else { return &[] };
    lower.iter_mut().zip(name).for_each(|(lower, byte)| *lower = byte.to_ascii_lowercase());
    lower
}

/// Returns a URI without the angle brackets around it.
pub(super) fn without_brackets(uri: &[u8]) -> &[u8] {
    match uri {
        [b'<', inner @ .., b'>'] => inner,
        _ => uri,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_in_any_notation() {
        let header = b"first: line\r\n D: 4\r\nA:1\nb :  2 \r\nno colon\r\n\tE: 5\r\n F: 6\r\n\
            C: x\r\n\ty\r\n z\r\nA:\r\n 3\r\n: none\r\n\r\n";
        let found: Vec<(&[u8], Cow<'_, [u8]>)> = fields(header).collect();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let found: Vec<(String, String)> = found.iter().map(|(name, value)| (text(name), text(value))).collect();
        let expected = [("A", "1"), ("b", "2"), ("C", "x y z"), ("A", "3"), ("", "none")];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}
