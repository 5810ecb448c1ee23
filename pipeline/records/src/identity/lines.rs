//! The lines of lists and of tables of names.

/// Returns the lines with content and their numbers, without comments and surrounding spaces.
pub fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let without_comment = |line: &'_ [u8]| memchr::memchr(b'#', line).unwrap_or(line.len());
    let lines = bytes.split(|&byte| byte == b'\n').enumerate();
    let lines = lines.map(move |(at, line)| (at + 1, line[..without_comment(line)].trim_ascii()));
    lines.filter(|(_, line)| !line.is_empty())
}
