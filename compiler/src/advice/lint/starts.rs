//! Lines that may begin a group, but that not every crawler reads as a user-agent line, such as `User–agent: x` with a
//! dash, `1. User-agent: x` or `GPTBot:`.
//!
//! The rules after such a line may be meant for its group. For a crawler that does not read the line, they belong to
//! the group above. Repairing such a rule would close pages to the wrong crawlers, and removing it would lose the rule.

use super::key_names::{KEYS, nearest_key};
use crate::body::{Line, Lines, line_of};
use crate::dialect::Dialect;

/// A group with a line that may begin another one.
#[derive(Clone, Copy)]
pub(super) struct DoubtfulGroup {
    /// The first line of the group.
    pub(super) first: u32,
    /// The first line that may begin another group.
    pub(super) start: u32,
    /// The next user-agent line that all dialects read.
    pub(super) end: u32,
}

/// Returns the doubtful groups in a file, in line order.
pub(super) fn doubtful_groups(body: &[u8], dialects: &[&Dialect]) -> Vec<DoubtfulGroup> {
    let (mut groups, mut open, mut first) = (Vec::new(), None::<DoubtfulGroup>, None);
    let Some(dialect) = dialects.first() else { return groups };
    for (line, number) in Lines::new(body, dialect.byte_order_mark).zip(1_u32..) {
        let agents = dialects.iter().filter(|dialect| is_agent(line, dialect)).count();
        if agents == dialects.len() {
            groups.extend(open.take().map(|group| DoubtfulGroup { end: number, ..group }));
            first = Some(number);
        } else if agents > 0 || may_begin_group(line) {
            open = open.or(first.map(|first| DoubtfulGroup { first, start: number, end: u32::MAX }));
            first = first.or((agents > 0).then_some(number));
        }
    }
    groups.extend(open);
    groups
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
