//! Mistakes in a robots.txt, and their fixes.
//!
//! ```
//! use reptile::Dialect;
//! use reptile::lint::{FixOptions, MAX_FINDINGS_PER_CODE, fix_with, lint_of_host};
//!
//! let body = b"user-agent: *\ndisallow: /a\ndisallow: /a/b\ndisalllow: /c\n";
//! let linted = lint_of_host(body, Dialect::google(), MAX_FINDINGS_PER_CODE, None);
//! assert_eq!(linted.findings[0].line, 3);
//! // By default no verdict changes in any current dialect. The other fixes are listed with the reason.
//! let fixed = fix_with(body, Dialect::google(), &FixOptions::default());
//! assert_eq!(fixed.body, b"user-agent: *\ndisallow: /a\ndisalllow: /c\n");
//! assert!(fixed.unfixed[0].reason.to_string().starts_with("closes \"/c\" for \"*\" in google"));
//!
//! let options = FixOptions { changes: true, ..FixOptions::default() };
//! let fixed = fix_with(body, Dialect::google(), &options);
//! assert_eq!(fixed.body, b"user-agent: *\ndisallow: /a\nDisallow: /c\n");
//! let effect = &fixed.changes[0].effects[0];
//! assert!(effect.opens.is_none() && effect.closes.as_ref().is_some_and(|found| found.path == b"/c"));
//! ```

use std::collections::HashSet;

use bumpalo::Bump;

use crate::Dialect;
use crate::explain::ExplainedFile;

pub use reptile_compiler::advice::lint::{
    Change, Code, Effect, Example, Finding, Fix, FixOptions, Fixed, LintOptions, Linted, MAX_FINDINGS_PER_CODE,
    MAX_FIX_STEPS, Proved, Refusal, Severity, Unfixed, fix_of_host, fix_with, lint_of_host, lint_with,
};

/// The change to one line that a finding's fix makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The line, from 1.
    pub line: u32,
    /// The new line, with the old line's comment and without a line end. `None` removes the line with its line end.
    pub text: Option<String>,
    /// Whether it is proved that no verdict changes in any current dialect. [`fix_with`] makes only such changes by
    /// default.
    pub keeps_verdicts: bool,
}

/// Returns the change that each finding's fix makes to the file. It is `None` if the fix is only advice, or if it may
/// change the rules of crawlers other than the intended ones. `host` is the file's host, as in [`LintOptions::host`].
///
/// ```
/// use reptile::Dialect;
/// use reptile::lint::{LintOptions, edits_of, lint_with};
///
/// let body = b"user-agent: *\ndisallow: /a\ndisallow: /a/b\ndisalllow: /c # closed\n";
/// let findings = lint_with(body, Dialect::google(), &LintOptions::default()).findings;
/// let edits: Vec<_> = edits_of(body, Dialect::google(), None, &findings).into_iter().flatten().collect();
/// assert_eq!((edits[0].line, edits[0].text.as_deref(), edits[0].keeps_verdicts), (3, None, true));
/// assert_eq!((edits[1].line, edits[1].text.as_deref(), edits[1].keeps_verdicts), (4, Some("Disallow: /c # closed"), false));
/// ```
#[must_use]
pub fn edits_of(body: &[u8], dialect: &Dialect, host: Option<&[u8]>, findings: &[Finding]) -> Vec<Option<Edit>> {
    let made = |changes| -> HashSet<(u32, Code)> {
        let options = FixOptions { host: host.map(<[u8]>::to_vec), changes, ..FixOptions::default() };
        fix_with(body, dialect, &options).changes.into_iter().map(|change| (change.line, change.code)).collect()
    };
    let (proved, requested) = (made(false), made(true));
    let arena = Bump::new();
    let file = ExplainedFile::new(body, dialect, &arena);
    let edit_of = |finding: &Finding| {
        let fix = finding.fix.as_ref().filter(|fix| !matches!(fix, Fix::Words(_)))?;
        let key = (finding.line, finding.code);
        let keeps_verdicts = proved.contains(&key);
        let text = new_line(fix, file.line(finding.line).unwrap_or_default());
        (keeps_verdicts || requested.contains(&key)).then_some(Edit { line: finding.line, text, keeps_verdicts })
    };
    findings.iter().map(edit_of).collect()
}

/// Returns a line after a fix, with its comment, or `None` if nothing is left.
fn new_line(fix: &Fix, line: &[u8]) -> Option<String> {
    let comment = line.iter().position(|&byte| byte == b'#').and_then(|hash| line.get(hash..));
    let comment = comment.map(String::from_utf8_lossy);
    match (fix, comment) {
        (Fix::Replace { text, .. }, Some(comment)) => Some(format!("{text} {comment}")),
        (Fix::Replace { text, .. }, None) => Some(text.clone()),
        (_, comment) => comment.map(|comment| comment.into_owned()),
    }
}
