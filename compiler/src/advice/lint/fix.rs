//! Fixes: replacements suggested by findings, and the file with fixes applied.
//!
//! Only safe fixes are applied: superfluous lines are removed, lines are rewritten as crawlers read them anyway, and
//! lines with errors are corrected to their obvious intent. The last kind changes verdicts, and each such change says
//! so.

use std::borrow::Cow;
use std::fmt;

use bumpalo::Bump;

use super::{Code, Finding, Severity, lint_of_host, quote};
use crate::body::{DiagnosticKind, Lines, parse};
use crate::dialect::Dialect;

/// The remedy for a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fix {
    /// Advice in words.
    Words(String),
    /// A replacement for the line except its comment: one or more lines.
    Replace {
        /// The lines, without a final line end.
        text: String,
        /// Whether no verdict changes under the dialect.
        keeps_verdicts: bool,
    },
    /// Removal of the line. No verdict changes under the dialect.
    Remove,
}

/// Maximum length of a value in a fix, in bytes.
const MAX_VALUE_BYTES: usize = 80;

impl Fix {
    /// Returns a line with a key and a value, or `None` if the value is long or has bytes that cannot be shown
    /// verbatim.
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

/// A changed line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The line number in the original file.
    pub line: u32,
    /// The code of the fixed finding.
    pub code: Code,
    /// The line before the change, without control characters, and shortened if long.
    pub before: String,
    /// The lines after the change, or `None` if the line was removed.
    pub after: Option<String>,
    /// Whether the change keeps all verdicts.
    pub keeps_verdicts: bool,
}

/// A file with its fixes applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// The fixed file.
    pub body: Vec<u8>,
    /// The changes, in the order in which they were made.
    pub changes: Vec<Change>,
}

/// Maximum number of passes to fix a file. A line may have several mistakes, fixed one per pass.
const MAX_FIX_PASSES: usize = 30;

/// Maximum number of fixes per code and pass.
const MAX_FIXES_PER_PASS: u32 = 1000;

/// Applies the safe fixes of findings with at least the severity `least`.
///
/// Lines are removed last, so that a line is removed only if it is still superfluous after all other fixes.
///
/// A web page, a file that the dialect reads only in part, and a file in UTF-16 are left unchanged.
#[must_use]
pub fn fix(body: &[u8], dialect: &Dialect, least: Severity) -> Fixed {
    fix_of_host(body, dialect, least, None)
}

/// Fixes a host's robots.txt like [`fix`], and also turns rules that contain a URL on this host into rules with its
/// path.
///
/// Without a known host, or for another host's URL, such a fix would invent a rule.
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

/// Returns whether removing lines could make others start to count, or change their meaning.
fn is_read_in_part(body: &[u8], dialect: &Dialect) -> bool {
    use DiagnosticKind::{BodyCut, BodyIgnored, Html, TooManyRules};
    let arena = Bump::new();
    let diagnostics = parse(body, dialect, &arena).diagnostics;
    [BodyCut, BodyIgnored, Html, TooManyRules].into_iter().any(|kind| diagnostics.count(kind) > 0)
}

/// Returns the stage in which a finding's fix is applied, the smallest first, or `None` if it is not applied.
fn stage_of(finding: &Finding) -> Option<u8> {
    match finding.fix {
        None | Some(Fix::Words(_)) => None,
        Some(Fix::Replace { keeps_verdicts: false, .. }) => (finding.severity == Severity::Error).then_some(0),
        Some(Fix::Replace { .. }) => Some(1),
        // Proofs about these rules assume that the other removals have been applied.
        Some(Fix::Remove) if matches!(finding.code, Code::HiddenRule | Code::SuperfluousRule) => Some(3),
        Some(Fix::Remove) => Some(2),
    }
}

/// Applies the fixes of findings, which are sorted by line, at most one per line.
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
    fn long_values_are_not_replaced() {
        for (len, fits) in [(MAX_VALUE_BYTES - 1, true), (MAX_VALUE_BYTES, true), (MAX_VALUE_BYTES + 1, false)] {
            assert_eq!(Fix::replace("Disallow", &vec![b'a'; len], true).is_some(), fits, "{len}");
        }
    }

    #[test]
    fn remaining_fixes_are_made_in_the_next_pass() {
        let most = MAX_FIXES_PER_PASS as usize;
        for count in [most - 1, most, most + 1] {
            // Every rule but the first is superfluous, and has a finding.
            let body = format!("user-agent: *\n{}", "disallow: /a\n".repeat(count + 1));
            let listed = lint_of_host(body.as_bytes(), &GOOGLE_LIB, MAX_FIXES_PER_PASS, None).findings;
            let fixes = listed.iter().filter(|finding| stage_of(finding).is_some()).count();
            assert_eq!(fixes, count.min(most), "{count}");
            // The next pass fixes the remaining lines.
            let fixed = fix(body.as_bytes(), &GOOGLE_LIB, Severity::Note);
            assert_eq!((fixed.changes.len(), &*fixed.body), (count, &b"user-agent: *\ndisallow: /a\n"[..]), "{count}");
        }
    }

    #[test]
    fn fixing_stops_after_the_last_pass() {
        // Each pass makes the maximum number of fixes, so these lines need exactly `passes` passes.
        let most = MAX_FIXES_PER_PASS as usize;
        for (passes, left) in [(MAX_FIX_PASSES - 1, 0), (MAX_FIX_PASSES, 0), (MAX_FIX_PASSES + 1, most)] {
            let body = format!("user-agent: *\n{}", "disallow: /a\n".repeat(passes * most + 1));
            let fixed = fix(body.as_bytes(), &GOOGLE_LIB, Severity::Note);
            assert_eq!(fixed.changes.len(), passes * most - left, "{passes}");
        }
    }
}
