//! The slow, plainly correct matcher that every fast path is compared with.
//!
//! Reads the file anew for every question and evaluates every rule by its definition: no order, no automaton, no
//! merging. Shares the first two stages (lines, keys, groups) with the compiler, which the replay of the
//! reference's own verdicts keeps honest, and nothing of the stages behind them.

use bumpalo::Bump;
use reptile_engine::url::path_of;
use reptile_engine::verdict::RuleKind;

use crate::agents::{Named, named};
use crate::dialect::Dialect;
use crate::robots;

/// The oracle's answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Whether the URL may be fetched.
    pub allowed: bool,
    /// The line of the rule that decided, or 0.
    pub line: u32,
}

/// The best match so far of one kind of rule: priority, and the first line that has it.
#[derive(Clone, Copy)]
struct Best {
    priority: i64,
    line: u32,
}

const NONE: Best = Best { priority: -1, line: 0 };

impl Best {
    fn offer(&mut self, priority: i64, line: u32) {
        if priority > self.priority {
            *self = Best { priority, line };
        }
    }
}

/// Whether `agent` may fetch `url` according to the file `body`, and the line that says so.
///
/// Source: google/robotstxt, `RobotsMatcher`. Time: the length of the body times that of the path.
#[must_use]
pub fn decide(body: &[u8], dialect: &Dialect, agent: &[u8], url: &[u8]) -> Answer {
    let arena = Bump::new();
    let robots = robots::parse(body, dialect, &arena);
    let path = path_of(url).to_vec();
    let path = dialect.normal_form.path(&path);
    let (mut own, mut others) = ([NONE; 2], [NONE; 2]);
    let mut is_named = false;
    for group in &robots.groups {
        let is_own = |value: &&[u8]| matches!(named(value), Named::Token(token) if token.eq_ignore_ascii_case(agent));
        let scope = if group.agents.iter().any(is_own) {
            is_named = true;
            &mut own
        } else if group.agents.iter().any(|value| named(value) == Named::Others) {
            &mut others
        } else {
            continue;
        };
        for rule in &group.rules {
            let pattern = dialect.normal_form.pattern(rule.value);
            let mut priority = priority_of(&pattern, &path);
            if priority < 0
                && rule.kind == RuleKind::Allow
                && dialect.index_htm_opens_directory
                && let Some(slash) = pattern.iter().rposition(|&byte| byte == b'/')
                && pattern[slash..].starts_with(b"/index.htm")
            {
                priority = priority_of(&[&pattern[..=slash], b"$"].concat(), &path);
            }
            scope[rule.kind as usize].offer(priority, rule.line);
        }
    }
    let [allow, disallow] = if is_named { own } else { others };
    let restricts = allow.priority > 0 || disallow.priority > 0;
    Answer {
        allowed: !(restricts && disallow.priority > allow.priority),
        line: if disallow.priority > allow.priority { disallow.line } else { allow.line },
    }
}

/// The octets of the pattern if it matches, else -1.
fn priority_of(pattern: &[u8], path: &[u8]) -> i64 {
    if pattern_matches(pattern, path) { pattern.len() as i64 } else { -1 }
}

/// Whether a pattern matches a path, by definition: `*` is any run of bytes, a final `$` is the end of the path,
/// any other byte is itself, and what follows the pattern's end does not matter.
///
/// Keeps the set of all places in the path that the pattern read so far can have reached.
#[must_use]
pub fn pattern_matches(pattern: &[u8], path: &[u8]) -> bool {
    let mut reached = vec![false; path.len() + 1];
    reached[0] = true;
    for (index, &byte) in pattern.iter().enumerate() {
        if byte == b'$' && index + 1 == pattern.len() {
            return reached[path.len()];
        }
        let mut next = vec![false; path.len() + 1];
        if byte == b'*' {
            let first = reached.iter().position(|&here| here);
            if let Some(first) = first {
                next[first..].fill(true);
            }
        } else {
            for at in 0..path.len() {
                next[at + 1] = reached[at] && path[at] == byte;
            }
        }
        reached = next;
    }
    reached.contains(&true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::GOOGLE_LIB;

    #[test]
    fn patterns() {
        for (pattern, path, matches) in [
            ("/a", "/ab", true),
            ("/a$", "/a", true),
            ("/a$", "/ab", false),
            ("/*b", "/aab", true),
            ("/*b$", "/abab", true),
            ("/a*", "/a", true),
            ("/a$b", "/a$bc", true),
            ("*", "/", true),
            ("$", "/", false),
            ("*$", "/", true),
            ("a", "/a", false),
        ] {
            assert_eq!(pattern_matches(pattern.as_bytes(), path.as_bytes()), matches, "{pattern} {path}");
        }
    }

    #[test]
    fn measured_verdicts_and_lines() {
        // Body, agent, path, allowed, line: measured on the reference.
        for (body, agent, path, allowed, line) in [
            ("user-agent: *\ndisallow: /a\n", "FooBot", "/b", true, 0),
            ("user-agent: *\ndisallow: /a\n", "FooBot", "/a", false, 2),
            ("user-agent: *\ndisallow: /a\ndisallow: /a\ndisallow: /a\n", "FooBot", "/a", false, 2),
            ("user-agent: *\ndisallow: /a\nallow: /a\n", "FooBot", "/a", true, 3),
            ("user-agent: *\ndisallow: /*b\ndisallow: /ab\n", "FooBot", "/ab", false, 2),
            ("user-agent: *\ndisallow: /\nuser-agent: FooBot\ndisallow: /z\n", "FooBot", "/a", true, 0),
            ("user-agent: *\ndisallow:\n", "FooBot", "/a", true, 2),
            ("user-agent: *\ndisallow:\nallow:\n", "FooBot", "/a", true, 3),
            ("user-agent: *\ndisallow: /d/\nallow: /d/index.html\n", "FooBot", "/d/", true, 3),
            ("user-agent: *\n\rdisallow: /\n", "FooBot", "/a", false, 3),
        ] {
            let answer = decide(body.as_bytes(), &GOOGLE_LIB, agent.as_bytes(), path.as_bytes());
            assert_eq!(answer, Answer { allowed, line }, "{body:?} {agent} {path}");
        }
    }
}
