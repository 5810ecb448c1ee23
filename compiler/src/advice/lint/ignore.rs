//! Comments that ignore findings: `# lint-ignore: CODE ...` at the end of a line for that line, or on a separate line
//! for the next one; and `# lint-ignore-file: CODE ...` for the whole file.

use std::str::FromStr;

use memchr::{memchr, memmem};

use super::codes::Code;
use crate::body::Lines;
use crate::dialect::Dialect;

/// One bit per code.
type Codes = u128;

const _: () = assert!(Code::ALL.len() <= Codes::BITS as usize, "one bit per code");

/// The ignored findings.
#[derive(Default)]
pub(super) struct Ignored {
    in_file: Codes,
    /// Ignored codes by line, in line order.
    by_line: Vec<(u32, Codes)>,
}

const MARK: &[u8] = b"lint-ignore";

impl Ignored {
    /// Reads the comments of a file. Calls `on_unknown` with the line and the name of each unknown code.
    pub(super) fn read(body: &[u8], dialect: &Dialect, mut on_unknown: impl FnMut(u32, &[u8])) -> Ignored {
        let mut ignored = Ignored::default();
        // Hardly any file has such a comment.
        if memmem::find(body, MARK).is_none() {
            return ignored;
        }
        for (line, number) in Lines::new(body, dialect.byte_order_mark).zip(1..) {
            let Some(hash) = memchr(b'#', line) else { continue };
            let Some(rest) = line[hash + 1..].trim_ascii_start().strip_prefix(MARK) else { continue };
            let (is_file, rest) = match rest.strip_prefix(b"-file") {
                Some(rest) => (true, rest),
                None => (false, rest),
            };
            let Some(names) = rest.trim_ascii_start().strip_prefix(b":") else { continue };
            let codes = codes_of(names, |name| on_unknown(number, name));
            if is_file {
                ignored.in_file |= codes;
            } else {
                let is_alone = line[..hash].trim_ascii().is_empty();
                ignored.for_line(if is_alone { number + 1 } else { number }, codes);
            }
        }
        ignored
    }

    fn for_line(&mut self, line: u32, codes: Codes) {
        match self.by_line.last_mut() {
            Some((last, all)) if *last == line => *all |= codes,
            _ => self.by_line.push((line, codes)),
        }
    }

    /// Returns whether findings with this code are ignored on a line.
    pub(super) fn has(&self, line: u32, code: Code) -> bool {
        let of_line = self.by_line.binary_search_by_key(&line, |&(line, _)| line).map_or(0, |at| self.by_line[at].1);
        (self.in_file | of_line) >> code as u32 & 1 == 1
    }
}

/// Returns the codes with the given names. Calls `on_unknown` with each name that no code has.
fn codes_of(names: &[u8], mut on_unknown: impl FnMut(&[u8])) -> Codes {
    let names = names.split(|byte| byte.is_ascii_whitespace() || *byte == b',').filter(|name| !name.is_empty());
    names.fold(0, |codes, name| match std::str::from_utf8(name).ok().and_then(|name| Code::from_str(name).ok()) {
        Some(code) => codes | 1 << code as u32,
        None => {
            on_unknown(name);
            codes
        }
    })
}
