//! The edits that findings suggest, each made alone, as a person accepts them one at a time.

use bumpalo::Bump;

use super::equality::{Steps, Version};
use super::findings::Finding;
use super::fix::{MAX_FIX_STEPS, PlannedEdit, Refusal, Text, is_read_in_part, with_others};
use super::starts::doubtful_groups;
use crate::body::Lines;
use crate::dialect::{CURRENT, Dialect};
use crate::limits::MAX_PROVED_FILE_BYTES;

/// The change to one line that a finding's fix makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The line, from 1.
    pub line: u32,
    /// The new line, with the old line's comment and without a line end. `None` removes the line with its line end.
    pub text: Option<String>,
    /// Whether it is proved that this edit by itself changes no verdict in any current dialect.
    pub keeps_verdicts: bool,
}

/// Returns the change that each finding's fix makes to the file by itself.
///
/// The change is `None` if the fix is only advice, if it may change the rules of crawlers other than the intended ones,
/// or if it is a removal that is not proved to keep all verdicts.
///
/// An edit can open or close paths by itself even if [`fix_with`](super::fix_with) makes it, because another edit may
/// undo its effect. So each edit has its own proof. All proofs together take at most [`MAX_FIX_STEPS`] steps; later
/// findings have no edits.
///
/// ```
/// use reptile_compiler::advice::lint::{LintOptions, edits_of, lint_with};
/// use reptile_compiler::dialect::GOOGLE;
///
/// let body = b"user-agent: *\ndisallow: /a\ndisallow: /a/b\ndisalllow: /c # closed\n";
/// let findings = lint_with(body, &GOOGLE, &LintOptions::default()).findings;
/// let edits: Vec<_> = edits_of(body, &GOOGLE, &findings).into_iter().flatten().collect();
/// assert_eq!((edits[0].line, edits[0].text.as_deref(), edits[0].keeps_verdicts), (3, None, true));
/// assert_eq!((edits[1].line, edits[1].text.as_deref(), edits[1].keeps_verdicts), (4, Some("Disallow: /c # closed"), false));
/// ```
#[must_use]
pub fn edits_of(body: &[u8], dialect: &Dialect, findings: &[Finding]) -> Vec<Option<Edit>> {
    edits_within(body, dialect, findings, MAX_FIX_STEPS)
}

fn edits_within(body: &[u8], dialect: &Dialect, findings: &[Finding], max_steps: u64) -> Vec<Option<Edit>> {
    let none = || vec![None; findings.len()];
    if body.len() > MAX_PROVED_FILE_BYTES || is_read_in_part(body, dialect) {
        return none();
    }
    let (dialects, arena, mut steps) = (with_others(dialect, &CURRENT), Bump::new(), Steps(max_steps));
    let Ok(before) = Version::new(body, &dialects, &arena, &mut steps) else { return none() };
    let text = Text::new(body, dialect);
    let doubtful = doubtful_groups(body, &dialects);
    let lines: Vec<&[u8]> = Lines::new(body, dialect.byte_order_mark).collect();
    let edit_of = |finding: &Finding| {
        let line = lines.get((finding.line as usize).checked_sub(1)?)?;
        let planned = PlannedEdit::of(finding, line).filter(|edit| edit.doubtful_group(&doubtful).is_none())?;
        let keeps_verdicts = match planned.refusal {
            None => {
                let later = text.with(std::slice::from_ref(&planned), dialect);
                before.effects_of(&later.body, false, &mut steps).ok()?.is_empty()
            }
            Some(Refusal::ChangesUses) => false,
            Some(_) => return None,
        };
        let text = planned.written.map(|written| String::from_utf8_lossy(&written).into_owned());
        (keeps_verdicts || planned.may_change).then_some(Edit { line: finding.line, text, keeps_verdicts })
    };
    findings.iter().map(edit_of).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{LintOptions, lint_with};
    use super::*;
    use crate::dialect::GOOGLE;

    fn edits(body: &[u8], max_steps: u64) -> Vec<(u32, Option<String>, bool)> {
        let findings = lint_with(body, &GOOGLE, &LintOptions::default()).findings;
        let edits = edits_within(body, &GOOGLE, &findings, max_steps).into_iter().flatten();
        edits.map(|Edit { line, text, keeps_verdicts }| (line, text, keeps_verdicts)).collect()
    }

    /// Each case has a file, and its edits: line, new text, and whether verdicts are kept by this edit alone.
    #[test]
    fn an_edit_is_proved_alone() {
        type Expected = &'static [(u32, Option<&'static str>, bool)];
        let cases: [(&[u8], Expected); 5] = [
            // Together, the edits change no verdict, and the first alone closes /c.
            (b"User-agent: *\ndisallow: /c\nAllow /c\n", &[(3, Some("Allow: /c"), false)]),
            (
                b"User-agent: *\ndissallow: /c\nAllow /c\n",
                &[(2, Some("Disallow: /c"), false), (3, Some("Allow: /c"), true)],
            ),
            (b"user-agent: *\ndisallow: /a\ndisallow: /a # again\n", &[(3, Some("# again"), true)]),
            (
                b"user-agent: *\ncontent-usage train-ai=n\ndisallow: /\n",
                &[(2, Some("Content-usage: train-ai=n"), false)],
            ),
            (b"<!DOCTYPE html>\nuser-agent: *\ndissallow: /a\n", &[]),
        ];
        for (body, expected) in cases {
            let expected = expected.iter().map(|(line, text, is_kept)| (*line, text.map(String::from), *is_kept));
            let expected: Vec<_> = expected.collect();
            assert_eq!(edits(body, MAX_FIX_STEPS), expected, "{}", body.escape_ascii());
        }
    }

    #[test]
    fn proofs_that_take_too_many_steps_give_no_edits() {
        let body = b"user-agent: *\ndisallow: /a\ndisallow: /a\n";
        let (mut few, mut enough) = (0, MAX_FIX_STEPS);
        while few + 1 < enough {
            let middle = few.midpoint(enough);
            *(if edits(body, middle).is_empty() { &mut few } else { &mut enough }) = middle;
        }
        for (limit, count) in [(enough - 1, 0), (enough, 1), (enough + 1, 1)] {
            assert_eq!(edits(body, limit).len(), count, "{limit}");
        }
    }
}
