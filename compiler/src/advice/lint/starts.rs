//! Lines that may begin a group, but that not every crawler reads as a user-agent line, such as `User–agent: x` with a
//! dash, `1. User-agent: x` or `GPTBot:`.
//!
//! The rules after such a line may be meant for its group. They belong to the group above for a crawler that does not
//! read the line, so that repairing one would close pages to the wrong crawlers, and removing one would lose it.

use super::keys::{KEYS, nearest_key};
use crate::body::{Line, Lines, line_of};
use crate::dialect::Dialect;

/// Returns the ranges of lines from a doubtful start in a group up to the next user-agent line that all dialects read,
/// without either.
pub(super) fn doubtful_starts(body: &[u8], dialects: &[&Dialect]) -> Vec<(u32, u32)> {
    let (mut ranges, mut open, mut is_in_group) = (Vec::new(), None, false);
    let Some(first) = dialects.first() else { return ranges };
    for (line, number) in Lines::new(body, first.byte_order_mark).zip(1_u32..) {
        let agents = dialects.iter().filter(|dialect| is_agent(line, dialect)).count();
        if agents == dialects.len() {
            ranges.extend(open.take().map(|start| (start, number)));
        } else if is_in_group && open.is_none() && (agents > 0 || may_begin_group(line)) {
            open = Some(number);
        }
        is_in_group |= agents > 0;
    }
    ranges.extend(open.map(|start| (start, u32::MAX)));
    ranges
}

fn is_agent(line: &[u8], dialect: &Dialect) -> bool {
    matches!(line_of(line, dialect, &mut |_| ()), Some(Line::Agent(_)))
}

/// Returns whether a line that no dialect reads as a user-agent line may have been meant as one: it has text, and no
/// other key that a person would recognize.
fn may_begin_group(line: &[u8]) -> bool {
    let text = line.split(|&byte| byte == b'#').next().unwrap_or_default();
    let text = text.trim_ascii_start();
    if text.trim_ascii().is_empty() {
        return false;
    }
    let key = text.split(|byte| matches!(byte, b':' | b'=')).next().unwrap_or_default().trim_ascii_end();
    let word = key.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    let begins = |start: &[u8]| text.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start));
    let has = |name: &str| key.windows(name.len()).any(|window| window.eq_ignore_ascii_case(name.as_bytes()));
    let is_other = |key| nearest_key(key).is_some_and(|known| known != KEYS[0]);
    let is_other_key = is_other(key) || is_other(word) || has("allow") || has("sitemap");
    !is_other_key && !begins(b"http://") && !begins(b"https://")
}
