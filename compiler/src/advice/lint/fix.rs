//! Fixes: what a finding says to write instead, and the file with the fixes made.
//!
//! Made are only those that cannot be wrong: superfluous lines are removed, lines are written as they are read anyway,
//! and lines of errors as they were obviously meant. The last kind changes verdicts, and each change says so.

use std::borrow::Cow;
use std::fmt;

use bumpalo::Bump;

use super::{Code, Finding, Severity, lint_of_host, quote};
use crate::body::{DiagnosticKind, Lines, parse};
use crate::dialect::Dialect;

/// What to do about a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fix {
    /// What to do, in words.
    Words(String),
    /// What to write instead of the line, but for its comment: one line or several.
    Replace {
        /// The lines, without the last line end.
        text: String,
        /// Whether no verdict changes under the dialect.
        keeps_verdicts: bool,
    },
    /// The line can go: no verdict changes under the dialect.
    Remove,
}

/// The most bytes of a value that a fix has in it.
const MAX_VALUE_BYTES: usize = 80;

impl Fix {
    /// A line with a key and a value. `None` if the value is long, or has bytes that are not shown as they are.
    pub(super) fn replace(key: &str, value: &[u8], keeps_verdicts: bool) -> Option<Fix> {
        let is_shown = value.len() <= MAX_VALUE_BYTES && value.iter().all(|byte| matches!(byte, b' '..=b'~'));
        let value = std::str::from_utf8(value).ok().filter(|_| is_shown)?;
        Some(Fix::Replace { text: format!("{key}: {value}").trim_end().into(), keeps_verdicts })
    }
}

impl fmt::Display for Fix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fix::Words(text) => f.write_str(text),
            Fix::Replace { text, .. } => f.write_str(&text.replace('\n', " | ")),
            Fix::Remove => f.write_str("remove it"),
        }
    }
}

impl From<&str> for Fix {
    fn from(words: &str) -> Fix {
        Fix::Words(words.into())
    }
}

impl From<String> for Fix {
    fn from(words: String) -> Fix {
        Fix::Words(words)
    }
}

/// A line that was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The line in the file as it was.
    pub line: u32,
    /// The finding.
    pub code: Code,
    /// The line before the change, without control characters and cut if it is long.
    pub before: String,
    /// The lines after it; `None` if the line is gone.
    pub after: Option<String>,
    /// Whether no verdict changes because of it.
    pub keeps_verdicts: bool,
}

/// A file with its fixes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// The file.
    pub body: Vec<u8>,
    /// What was changed, in the order in which it was done.
    pub changes: Vec<Change>,
}

/// The most times that a file is linted to be fixed: a line may have one mistake after another.
const MAX_FIX_PASSES: usize = 30;

/// The most findings of one code that are fixed each time.
const MAX_FIXES_PER_PASS: u32 = 1000;

/// Fixes the findings of at least a severity that have a fix beyond doubt. Lines are removed when nothing else is left to
/// fix, so that none goes as superfluous that would not be so afterwards.
///
/// A web page, a file that the dialect reads in part, and one in UTF-16 stay as they are.
#[must_use]
pub fn fix(body: &[u8], dialect: &Dialect, least: Severity) -> Fixed {
    fix_of_host(body, dialect, least, None)
}

/// Fixes a host's robots.txt like [`fix`], and also turns rules that contain a URL of this host into rules with its
/// path. Without a known host, or for another host's URL, such a fix would invent a rule.
#[must_use]
pub fn fix_of_host(body: &[u8], dialect: &Dialect, least: Severity, host: Option<&[u8]>) -> Fixed {
    let mut fixed = Fixed { body: body.to_vec(), changes: Vec::new() };
    let mut numbers: Vec<u32> = (1..).take(Lines::new(body, dialect.byte_order_mark).count()).collect();
    for _ in 0..MAX_FIX_PASSES {
        if is_read_in_part(&fixed.body, dialect) {
            break;
        }
        let mut findings = lint_of_host(&fixed.body, dialect, MAX_FIXES_PER_PASS, host).findings;
        findings.retain(|finding| finding.severity >= least && stage_of(finding).is_some());
        let first = findings.iter().map(stage_of).min().flatten();
        findings.retain(|finding| stage_of(finding) == first);
        if findings.is_empty() {
            break;
        }
        make(&mut fixed, &findings, &mut numbers, dialect);
    }
    fixed
}

/// Whether lines of the file could begin to count, or to mean something else, when others go.
fn is_read_in_part(body: &[u8], dialect: &Dialect) -> bool {
    use DiagnosticKind::{BodyCut, BodyIgnored, Html, TooManyRules};
    let arena = Bump::new();
    let diagnostics = parse(body, dialect, &arena).diagnostics;
    [BodyCut, BodyIgnored, Html, TooManyRules].into_iter().any(|kind| diagnostics.count(kind) > 0)
}

/// When the fix of a finding is made, the smallest first; `None` for a fix that is not made.
fn stage_of(finding: &Finding) -> Option<u8> {
    match finding.fix {
        None | Some(Fix::Words(_)) => None,
        Some(Fix::Replace { keeps_verdicts: false, .. }) => (finding.severity == Severity::Error).then_some(0),
        Some(Fix::Replace { .. }) => Some(1),
        Some(Fix::Remove) => Some(2),
    }
}

/// Makes the fixes of findings, which are in the order of their lines, at most one for each line.
fn make(fixed: &mut Fixed, findings: &[Finding], numbers: &mut Vec<u32>, dialect: &Dialect) {
    let body = std::mem::take(&mut fixed.body);
    let mut kept_numbers = Vec::with_capacity(numbers.len());
    let mut findings = findings.iter().peekable();
    let mut copied = 0;
    for ((line, at), number) in Lines::new(&body, dialect.byte_order_mark).zip(1_u32..).zip(&*numbers) {
        let Some(finding) = findings.next_if(|finding| finding.line == at) else {
            kept_numbers.push(*number);
            continue;
        };
        let start = line.as_ptr() as usize - body.as_ptr() as usize;
        let end = start + line.len();
        let comment = memchr::memchr(b'#', line).map(|hash| &line[hash..]);
        let text = match &finding.fix {
            Some(Fix::Replace { text, .. }) => Some(Cow::Borrowed(text.as_bytes())),
            _ => None,
        };
        let written = match (&text, comment) {
            (Some(text), Some(comment)) => Some([text, b" ".as_slice(), comment].concat()),
            (Some(text), None) => Some(text.to_vec()),
            (None, comment) => comment.map(<[u8]>::to_vec),
        };
        fixed.body.extend_from_slice(&body[copied..start]);
        let line_end = match &body[end..] {
            [b'\r', b'\n', ..] => 2,
            [_, ..] => 1,
            [] => 0,
        };
        copied = end + line_end;
        let after =
            written.as_deref().map(|written| written.split(|&byte| byte == b'\n').map(quote).collect::<Vec<_>>());
        if let Some(written) = written {
            kept_numbers.extend(written.split(|&byte| byte == b'\n').map(|_| *number));
            fixed.body.extend_from_slice(&written);
            fixed.body.extend_from_slice(&body[end..copied]);
        }
        fixed.changes.push(Change {
            line: *number,
            code: finding.code,
            before: quote(line),
            after: after.map(|lines| lines.join(" | ")),
            keeps_verdicts: !matches!(finding.fix, Some(Fix::Replace { keeps_verdicts: false, .. })),
        });
    }
    fixed.body.extend_from_slice(&body[copied..]);
    *numbers = kept_numbers;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::GOOGLE_LIB;

    #[test]
    fn the_limit_of_a_value_holds_at_its_edges() {
        for (len, fits) in [(MAX_VALUE_BYTES - 1, true), (MAX_VALUE_BYTES, true), (MAX_VALUE_BYTES + 1, false)] {
            assert_eq!(Fix::replace("Disallow", &vec![b'a'; len], true).is_some(), fits, "{len}");
        }
    }

    #[test]
    fn the_limit_of_fixes_in_one_pass_holds_at_its_edges() {
        let most = MAX_FIXES_PER_PASS as usize;
        for count in [most - 1, most, most + 1] {
            // Each line but the first is superfluous, and a finding.
            let body = format!("user-agent: *\n{}", "disallow: /a\n".repeat(count + 1));
            let listed = lint_of_host(body.as_bytes(), &GOOGLE_LIB, MAX_FIXES_PER_PASS, None).findings;
            let fixes = listed.iter().filter(|finding| stage_of(finding).is_some()).count();
            assert_eq!(fixes, count.min(most), "{count}");
            // What one pass leaves the next one fixes.
            let fixed = fix(body.as_bytes(), &GOOGLE_LIB, Severity::Note);
            assert_eq!((fixed.changes.len(), &*fixed.body), (count, &b"user-agent: *\ndisallow: /a\n"[..]), "{count}");
        }
    }

    #[test]
    fn the_limit_of_passes_holds_at_its_edges() {
        // Every pass makes as many fixes as it may, so that so many lines need so many passes.
        let most = MAX_FIXES_PER_PASS as usize;
        for (passes, left) in [(MAX_FIX_PASSES - 1, 0), (MAX_FIX_PASSES, 0), (MAX_FIX_PASSES + 1, most)] {
            let body = format!("user-agent: *\n{}", "disallow: /a\n".repeat(passes * most + 1));
            let fixed = fix(body.as_bytes(), &GOOGLE_LIB, Severity::Note);
            assert_eq!(fixed.changes.len(), passes * most - left, "{passes}");
        }
    }
}
