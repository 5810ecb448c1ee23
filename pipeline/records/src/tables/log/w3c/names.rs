//! The `#Fields:` line, which names a log's fields.

use memchr::memchr;

use crate::lines::{lines, without_line_end};
use crate::shown::shown;

/// The start of the line that names the fields.
const FIELDS: &[u8] = b"#Fields:";

/// Maximum number of bytes that a message shows of a `#Fields:` line.
const MAX_SHOWN_BYTES: usize = 300;

/// The names of a log's fields, according to a `#Fields:` line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Names<'l> {
    pub(super) names: Vec<&'l [u8]>,
    pub(super) delimiter: u8,
}

impl<'l> Names<'l> {
    /// Parses a `#Fields:` line. A client cannot write one, because servers encode spaces.
    pub fn of(line: &'l [u8]) -> Option<Names<'l>> {
        let rest = line.strip_prefix(FIELDS).filter(|rest| rest.first().is_some_and(|byte| b" \t".contains(byte)))?;
        let names: Vec<&[u8]> = rest.split(|byte| b" \t".contains(byte)).filter(|name| !name.is_empty()).collect();
        let has_tabs = memchr(b'\t', rest).is_some();
        let names = Names { names, delimiter: b' ' };
        let delimiter = if has_tabs || names.are_of_cloudfront() { b'\t' } else { b' ' };
        Some(Names { delimiter, ..names })
    }

    pub(super) fn are_of_cloudfront(&self) -> bool {
        self.names.iter().any(|name| name.starts_with(b"x-edge-") || *name == b"x-host-header")
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains(&name.as_bytes())
    }

    pub(super) fn shown(&self) -> String {
        let names = self.names.join(&b" "[..]);
        shown(names.get(..MAX_SHOWN_BYTES).unwrap_or(&names))
    }
}

/// The start of a log: the lines before its first request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Head<'s> {
    /// The number of lines before the `#Fields:` line, that line's offset, and the line itself.
    Fields(u64, usize, &'s [u8]),
    /// There is no `#Fields:` line.
    Other,
    /// More lines are needed.
    NeedsMore,
}

impl<'s> Head<'s> {
    /// Reads the directives at the start of a file.
    pub fn of(start: &'s [u8], is_all: bool) -> Head<'s> {
        let mut at = 0;
        for (number, line) in (0..).zip(lines(start)) {
            let is_whole = is_all || line.ends_with(b"\n");
            match Names::of(without_line_end(line)) {
                Some(_) if is_whole => return Head::Fields(number, at, line),
                _ if is_whole && !line.starts_with(b"#") => return Head::Other,
                _ => at += line.len(),
            }
        }
        if is_all || !start.starts_with(b"#") { Head::Other } else { Head::NeedsMore }
    }
}
