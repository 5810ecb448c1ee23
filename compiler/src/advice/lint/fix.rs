//! Fixes: replacements suggested by findings, and the file with the proved ones applied.
//!
//! Every edit is proved (`equality`): in each dialect, no verdict changes for any crawler and any path. Edits without a
//! proof are left out and listed with the reason. Repairs that change verdicts are applied only on request, with the
//! paths that they open and close. No edit is made near a line that may begin a group, but that some crawler does not
//! read as such (`starts`).

use std::fmt;

use bumpalo::Bump;

use super::characters::quote;
use super::codes::Code;
use super::equality::{self, Effect, Steps, Stop, Version};
use super::findings::{Finding, Fix, Severity};
use super::starts::{DoubtfulGroup, doubtful_groups};
use super::{LintOptions, MAX_FINDINGS_PER_CODE, lint_with};
use crate::body::{DiagnosticKind, Lines, parse};
use crate::dialect::{self, Dialect};
use crate::limits::{MAX_PROOF_STEPS, MAX_PROVED_FILE_BYTES};

/// Options for [`fix_with`].
#[derive(Clone, Debug)]
pub struct FixOptions {
    /// The minimum severity of the fixed findings.
    pub least: Severity,
    /// The host of the robots.txt, if known. Rules that contain a URL on this host become rules with its path. Without
    /// a known host, or for another host's URL, such a fix would invent a rule.
    pub host: Option<Vec<u8>>,
    /// The dialects in which an edit must keep all verdicts, in addition to the file's own. By default
    /// [`CURRENT`](dialect::CURRENT).
    pub dialects: Vec<&'static Dialect>,
    /// Whether repairs that change verdicts are applied.
    pub changes: bool,
    /// The kinds of finding to fix. If empty, all kinds.
    pub codes: Vec<Code>,
    /// The lines to fix. If empty, all lines.
    pub lines: Vec<u32>,
}

impl Default for FixOptions {
    fn default() -> FixOptions {
        FixOptions {
            least: Severity::Note,
            host: None,
            dialects: dialect::CURRENT.to_vec(),
            changes: false,
            codes: Vec::new(),
            lines: Vec::new(),
        }
    }
}

impl FixOptions {
    /// Returns whether only some findings are chosen. They are fixed once.
    fn is_choice(&self) -> bool {
        !self.codes.is_empty() || !self.lines.is_empty()
    }

    fn chooses(&self, code: Code, line: u32) -> bool {
        (self.codes.is_empty() || self.codes.contains(&code)) && (self.lines.is_empty() || self.lines.contains(&line))
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
    /// Whether the change was proved to keep all verdicts in all dialects.
    pub keeps_verdicts: bool,
    /// The changed verdicts. Empty if the change keeps all verdicts.
    pub effects: Vec<Effect>,
}

/// A fix that was not applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfixed {
    /// The line number in the fixed file.
    pub line: u32,
    /// The code of the finding.
    pub code: Code,
    /// The reason.
    pub reason: Refusal,
}

/// The reason why a fix was not applied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// A repair that changes verdicts, or that is not proved to keep them. It is applied on request.
    Changes(Vec<Effect>),
    /// A change that is never applied, because verdicts change or because there is no proof that they do not.
    NotProved(Vec<Effect>),
    /// A repair that changes what the file states about the uses of pages. It is applied on request.
    ChangesUses,
    /// A removal that changes what the file states about the uses of pages.
    StatesUses,
    /// The edit is near this line of the fixed file, which may begin a group but is not read by some crawlers.
    NearDoubtfulStart(u32),
    /// The line's comment would ignore findings about the next line.
    HasIgnoreComment,
    /// The dialect reads the file only in part, or as a web page.
    ReadInPart,
    /// The file has more than [`MAX_PROVED_FILE_BYTES`], or a dialect refuses it.
    TooLarge,
    /// The proofs take more steps than allowed. The file is left unchanged.
    TooManySteps,
    /// The remedy is advice in words, which depends on the author's intention.
    OnlyAdvice,
}

impl Refusal {
    /// Returns whether the fix is applied if [changes](FixOptions::changes) are requested.
    #[must_use]
    pub const fn is_change(&self) -> bool {
        matches!(self, Refusal::Changes(_) | Refusal::ChangesUses)
    }
}

impl From<Stop> for Refusal {
    fn from(stop: Stop) -> Refusal {
        match stop {
            Stop::TooLarge => Refusal::TooLarge,
            Stop::TooManySteps => Refusal::TooManySteps,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Changes(effects) | Refusal::NotProved(effects) => f.write_str(&equality::describe(effects)),
            Refusal::ChangesUses | Refusal::StatesUses => f.write_str("changes what the file states about uses"),
            Refusal::NearDoubtfulStart(line) => {
                write!(f, "line {line} may begin a group, but not every crawler reads it so")
            }
            Refusal::HasIgnoreComment => f.write_str("its comment would ignore findings about the next line"),
            Refusal::ReadInPart => f.write_str("the file is read only in part"),
            Refusal::TooLarge => f.write_str("the file is too large for a proof"),
            Refusal::OnlyAdvice => f.write_str("the remedy depends on what you mean"),
            Refusal::TooManySteps => f.write_str("the proofs take too many steps, so that nothing is fixed"),
        }
    }
}

/// A file with its fixes applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// The fixed file.
    pub body: Vec<u8>,
    /// The changes, in the order in which they were made.
    pub changes: Vec<Change>,
    /// The fixes that were not applied, by line of the fixed file.
    pub unfixed: Vec<Unfixed>,
}

/// Maximum number of steps for all proofs about a file's fixes: about two seconds. A file that needs more is left
/// unchanged, so that fixing it again has the same result.
pub const MAX_FIX_STEPS: u64 = 256 * MAX_PROOF_STEPS as u64;

/// Number of steps counted for linting one byte of a robots.txt.
const LINT_STEPS_PER_BYTE: u64 = 64;

/// Applies the fixes of findings with at least the severity `least` that are proved to keep all verdicts in all
/// current dialects.
#[must_use]
pub fn fix(body: &[u8], dialect: &Dialect, least: Severity) -> Fixed {
    fix_of_host(body, dialect, least, None)
}

/// Fixes a host's robots.txt like [`fix`]; see [`FixOptions::host`].
#[must_use]
pub fn fix_of_host(body: &[u8], dialect: &Dialect, least: Severity, host: Option<&[u8]>) -> Fixed {
    fix_with(body, dialect, &FixOptions { least, host: host.map(<[u8]>::to_vec), ..FixOptions::default() })
}

/// Applies the fixes that are proved to keep all verdicts, and on request the repairs that change verdicts. The dialect
/// determines the findings.
///
/// Fixing the result again changes nothing. Time: at most [`MAX_FIX_STEPS`] for linting, parsing, compiling
/// and the proofs. A web page, a file that the dialect reads only in part, and a file in UTF-16 are
/// left unchanged.
///
/// ```
/// use reptile_compiler::advice::lint::{FixOptions, fix_with};
/// use reptile_compiler::dialect::GOOGLE;
///
/// let body = b"user-agent: *\ndisallow: /a\ndisallow: /a/b\ndissallow: /c\n";
/// let fixed = fix_with(body, &GOOGLE, &FixOptions::default());
/// assert_eq!(fixed.body, b"user-agent: *\ndisallow: /a\ndissallow: /c\n");
/// let reason = fixed.unfixed[0].reason.to_string();
/// assert!(reason.starts_with("closes \"/c\" for \"*\" in rfc9309"), "{reason}");
///
/// let fixed = fix_with(body, &GOOGLE, &FixOptions { changes: true, ..FixOptions::default() });
/// assert_eq!(fixed.body, b"user-agent: *\ndisallow: /a\nDisallow: /c\n");
/// ```
#[must_use]
pub fn fix_with(body: &[u8], dialect: &Dialect, options: &FixOptions) -> Fixed {
    fix_within(body, dialect, options, MAX_FIX_STEPS)
}

fn fix_within(body: &[u8], dialect: &Dialect, options: &FixOptions, max_steps: u64) -> Fixed {
    let dialects = with_others(dialect, &options.dialects);
    let mut fixer = Fixer { dialect, dialects, options, steps: Steps(max_steps) };
    let first = Text::new(body, dialect);
    let (mut text, mut changes) = (first.clone(), Vec::new());
    let refusal = if is_read_in_part(body, dialect) {
        Refusal::ReadInPart
    } else if body.len() > MAX_PROVED_FILE_BYTES {
        Refusal::TooLarge
    } else {
        match fixer.run(&mut text, &mut changes) {
            Ok(unfixed) => return Fixed { changes, unfixed: fixer.with_advice(unfixed, &text), body: text.body },
            Err(refusal) => refusal,
        }
    };
    let edits = fixer.edits(&first, MAX_FINDINGS_PER_CODE).into_iter();
    let unfixed = edits.map(|edit| edit.unfixed(refusal.clone())).collect();
    Fixed { changes: Vec::new(), unfixed: fixer.with_advice(unfixed, &first), body: first.body }
}

/// Returns a file's dialect, followed by the other dialects.
pub(super) fn with_others<'d>(dialect: &'d Dialect, others: &[&'d Dialect]) -> Vec<&'d Dialect> {
    let others = others.iter().copied().filter(|other| other.name != dialect.name);
    std::iter::once(dialect).chain(others).collect()
}

/// Returns whether removing lines could make others start to count, or change their meaning.
pub(super) fn is_read_in_part(body: &[u8], dialect: &Dialect) -> bool {
    use DiagnosticKind::{BodyCut, BodyIgnored, Html, TooManyRules};
    let arena = Bump::new();
    let diagnostics = parse(body, dialect, &arena).diagnostics;
    [BodyCut, BodyIgnored, Html, TooManyRules].into_iter().any(|kind| diagnostics.count(kind) > 0)
}

/// A file, with each line's number in the original.
#[derive(Clone)]
pub(super) struct Text {
    pub(super) body: Vec<u8>,
    numbers: Vec<u32>,
}

impl Text {
    pub(super) fn new(body: &[u8], dialect: &Dialect) -> Text {
        let numbers = (1..).take(Lines::new(body, dialect.byte_order_mark).count()).collect();
        Text { body: body.to_vec(), numbers }
    }

    /// Returns a line's number in the original, from 1.
    fn original(&self, line: u32) -> u32 {
        (line as usize).checked_sub(1).and_then(|index| self.numbers.get(index)).copied().unwrap_or(line)
    }

    /// Returns the text after edits, which must be sorted by line, with at most one per line.
    pub(super) fn with(&self, edits: &[PlannedEdit], dialect: &Dialect) -> Text {
        let Text { body, numbers } = self;
        let mut fixed = Text { body: Vec::with_capacity(body.len()), numbers: Vec::with_capacity(numbers.len()) };
        let mut edits = edits.iter().peekable();
        let mut copied = 0;
        for ((line, at), number) in Lines::new(body, dialect.byte_order_mark).zip(1_u32..).zip(numbers) {
            let Some(edit) = edits.next_if(|edit| edit.line == at) else {
                fixed.numbers.push(*number);
                continue;
            };
            let start = line.as_ptr() as usize - body.as_ptr() as usize;
            let end = start + line.len();
            let line_end = match &body[end..] {
                [b'\r', b'\n', ..] => 2,
                [_, ..] => 1,
                [] => 0,
            };
            fixed.body.extend_from_slice(&body[copied..start]);
            copied = end + line_end;
            if let Some(written) = &edit.written {
                fixed.numbers.extend(written.split(|&byte| byte == b'\n').map(|_| *number));
                fixed.body.extend_from_slice(written);
                fixed.body.extend_from_slice(&body[end..copied]);
            }
        }
        fixed.body.extend_from_slice(&body[copied..]);
        fixed
    }
}

/// A finding's edit.
#[derive(Clone)]
pub(super) struct PlannedEdit {
    line: u32,
    code: Code,
    before: String,
    /// The new lines with the comment, or `None` if the line is removed.
    pub(super) written: Option<Vec<u8>>,
    stage: Stage,
    /// The reason not to try the edit.
    pub(super) refusal: Option<Refusal>,
    /// Whether the edit may be applied although verdicts change.
    pub(super) may_change: bool,
}

/// The order of edits. A line is removed only if it is still superfluous after all other fixes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Replace,
    Remove,
    /// Findings about these rules assume that the other removals have been applied.
    RemoveProved,
}

impl PlannedEdit {
    /// Returns a finding's edit of a line, or `None` if its fix is only advice.
    pub(super) fn of(finding: &Finding, line: &[u8]) -> Option<PlannedEdit> {
        let comment = memchr::memchr(b'#', line).map(|hash| &line[hash..]);
        let (stage, written, may_change) = match finding.fix.as_ref()? {
            Fix::Words(_) => return None,
            Fix::Replace { text, .. } => {
                let comment = comment.map(|comment| [b" ", comment].concat()).unwrap_or_default();
                (Stage::Replace, Some([text.as_bytes(), &comment].concat()), true)
            }
            Fix::Remove => {
                let is_proved = matches!(finding.code, Code::HiddenRule | Code::SuperfluousRule);
                let stage = if is_proved { Stage::RemoveProved } else { Stage::Remove };
                (stage, comment.map(<[u8]>::to_vec), false)
            }
        };
        let is_ignoring = |comment: &[u8]| memchr::memmem::find(comment, b"lint-ignore").is_some();
        let refusal = match () {
            () if !may_change && comment.is_some_and(is_ignoring) => Some(Refusal::HasIgnoreComment),
            () if states_uses(line) || written.as_deref().is_some_and(states_uses) => {
                Some(if may_change { Refusal::ChangesUses } else { Refusal::StatesUses })
            }
            () => None,
        };
        let (line_number, code) = (finding.line, finding.code);
        Some(PlannedEdit { line: line_number, code, before: quote(line), written, stage, refusal, may_change })
    }

    /// Returns the doubtful group in which the edit may concern another crawler's rules.
    pub(super) fn doubtful_group<'g>(&self, groups: &'g [DoubtfulGroup]) -> Option<&'g DoubtfulGroup> {
        let next = groups.partition_point(|group| group.end <= self.line);
        groups.get(next).filter(|group| self.is_doubtful_in(group))
    }

    /// Returns whether the edit may concern another crawler's rules: it removes a line of a doubtful group, or changes a
    /// line after the doubtful start, except a user-agent line.
    fn is_doubtful_in(&self, group: &DoubtfulGroup) -> bool {
        let DoubtfulGroup { first, start, end } = *group;
        let is_start = self.written.as_deref().is_some_and(|line| line.starts_with(b"User-agent:"));
        if self.may_change {
            !is_start && start < self.line && self.line < end
        } else {
            (first..end).contains(&self.line)
        }
    }

    fn unfixed(self, reason: Refusal) -> Unfixed {
        Unfixed { line: self.line, code: self.code, reason }
    }

    fn change(self, text: &Text, effects: Vec<Effect>, keeps_verdicts: bool) -> Change {
        let lines = |written: Vec<u8>| written.split(|&byte| byte == b'\n').map(quote).collect::<Vec<_>>().join(" | ");
        let (line, after) = (text.original(self.line), self.written.map(lines));
        Change { line, code: self.code, before: self.before, after, keeps_verdicts, effects }
    }
}

/// Returns whether a line states something about the uses of pages, which the proofs do not cover.
fn states_uses(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    [&b"content-usage"[..], b"content-signal", b"license"]
        .into_iter()
        .any(|key| line.get(..key.len()).is_some_and(|start| start.eq_ignore_ascii_case(key)))
}

/// A refused edit.
type Refused = (PlannedEdit, Refusal);

/// Finds, proves and applies a file's edits.
struct Fixer<'d> {
    dialect: &'d Dialect,
    dialects: Vec<&'d Dialect>,
    options: &'d FixOptions,
    steps: Steps,
}

impl<'d> Fixer<'d> {
    /// Applies edits until no further edit is proved. Returns the remaining edits.
    ///
    /// # Errors
    /// Returns the reason for fixing nothing if a limit is reached.
    fn run(&mut self, text: &mut Text, changes: &mut Vec<Change>) -> Result<Vec<Unfixed>, Refusal> {
        // Each pass takes steps, so the step limit ends the loop. A line's mistakes are fixed one per pass.
        loop {
            let count = changes.len();
            let refused = self.pass(text, changes)?;
            if changes.len() == count || self.options.is_choice() {
                return Ok(refused.into_iter().map(|(edit, reason)| edit.unfixed(reason)).collect());
            }
        }
    }

    /// Applies the edits of the first stage that has a proved or requested one. Returns the refused edits.
    fn pass(&mut self, text: &mut Text, changes: &mut Vec<Change>) -> Result<Vec<Refused>, Refusal> {
        let is_tried = |edit: &PlannedEdit| {
            let is_requested = |refusal: &Refusal| self.options.changes && refusal.is_change();
            edit.refusal.as_ref().is_none_or(is_requested)
        };
        let (mut edits, refused) = self.edits(text, u32::MAX).into_iter().partition::<Vec<_>, _>(is_tried);
        let reason = |edit: PlannedEdit| edit.refusal.clone().map(|reason| (edit, reason));
        let mut refused: Vec<Refused> = refused.into_iter().filter_map(reason).collect();
        if edits.is_empty() {
            return Ok(refused);
        }
        self.steps.take(text.body.len() as u64 * LINT_STEPS_PER_BYTE)?;
        // Chosen edits are all made at once.
        edits.sort_by_key(|edit| (!self.options.is_choice()).then_some(edit.stage));
        let is_same_stage = |a: &PlannedEdit, b: &PlannedEdit| self.options.is_choice() || a.stage == b.stage;
        let stages: Vec<Vec<PlannedEdit>> = edits.chunk_by(is_same_stage).map(<[PlannedEdit]>::to_vec).collect();
        let made = self.first_proved(text, stages, &mut refused)?;
        if !made.edits.is_empty() {
            *text = text.with(&made.edits, self.dialect);
            changes.extend(made.changes);
        }
        refused.sort_by_key(|(edit, _)| edit.line);
        Ok(refused)
    }

    /// Returns the edits of the first stage that has a proved or requested one. Adds the refused edits.
    fn first_proved(
        &mut self,
        text: &Text,
        stages: Vec<Vec<PlannedEdit>>,
        refused: &mut Vec<Refused>,
    ) -> Result<Made, Refusal> {
        let arena = Bump::new();
        let before = self.parsed(text, &arena)?;
        let mut made = Made::default();
        for edits in stages {
            self.prove(text, &before, edits, &mut made)?;
            if self.options.changes {
                self.change(text, &mut made)?;
            }
            refused.append(&mut made.refused);
            if !made.edits.is_empty() {
                break;
            }
        }
        Ok(made)
    }

    fn findings(&self, text: &Text, max_per_code: u32) -> Vec<Finding> {
        let options = LintOptions { max_per_code, host: self.options.host.clone(), enabled: Vec::new() };
        lint_with(&text.body, self.dialect, &options).findings
    }

    /// Adds the chosen findings of a fixed file whose remedies are only advice, so that each remedy has a reason.
    fn with_advice(&self, mut unfixed: Vec<Unfixed>, text: &Text) -> Vec<Unfixed> {
        let options = self.options;
        let is_advice = |finding: &Finding| {
            matches!(finding.fix, Some(Fix::Words(_)))
                && finding.severity >= options.least
                && options.chooses(finding.code, text.original(finding.line))
        };
        let advice = self.findings(text, MAX_FINDINGS_PER_CODE).into_iter().filter(is_advice);
        unfixed.extend(advice.map(|Finding { line, code, .. }| Unfixed { line, code, reason: Refusal::OnlyAdvice }));
        unfixed.sort_by_key(|unfixed| unfixed.line);
        unfixed
    }

    /// Returns the edits of the file's findings, by line, at most one per line.
    fn edits(&self, text: &Text, max_per_code: u32) -> Vec<PlannedEdit> {
        let mut findings = self.findings(text, max_per_code).into_iter().peekable();
        let doubtful = doubtful_groups(&text.body, &self.dialects);
        let mut edits = Vec::new();
        for (line, number) in Lines::new(&text.body, self.dialect.byte_order_mark).zip(1..) {
            while let Some(finding) = findings.next_if(|finding| finding.line == number) {
                let is_chosen =
                    finding.severity >= self.options.least && self.options.chooses(finding.code, text.original(number));
                let Some(mut edit) = PlannedEdit::of(&finding, line).filter(|_| is_chosen) else { continue };
                if let Some(group) = edit.doubtful_group(&doubtful) {
                    edit.refusal = Some(Refusal::NearDoubtfulStart(group.start));
                }
                edits.push(edit);
            }
        }
        edits
    }

    fn parsed<'b>(&mut self, text: &'b Text, arena: &'b Bump) -> Result<Version<'d, 'b>, Refusal> {
        Ok(Version::new(&text.body, &self.dialects, arena, &mut self.steps)?)
    }

    /// Proves all edits together. If that fails, proves each half, down to single edits.
    fn prove(
        &mut self,
        text: &Text,
        before: &Version<'_, '_>,
        edits: Vec<PlannedEdit>,
        made: &mut Made,
    ) -> Result<(), Refusal> {
        let (Some(first), is_single) = (edits.first(), edits.len() == 1) else { return Ok(()) };
        let effects = match &first.refusal {
            Some(refusal) if is_single => {
                made.refused.push((first.clone(), refusal.clone()));
                return Ok(());
            }
            _ if edits.iter().any(|edit| edit.refusal.is_some()) => None,
            _ => {
                let later = text.with(&made.edits_and(&edits), self.dialect);
                Some(before.effects_of(&later.body, is_single, &mut self.steps)?)
            }
        };
        match effects {
            Some(effects) if effects.is_empty() => made.accept(text, edits),
            Some(effects) if is_single => {
                let refusal = if first.may_change { Refusal::Changes(effects) } else { Refusal::NotProved(effects) };
                made.refused.push((first.clone(), refusal));
            }
            _ => {
                let (left, right) = edits.split_at(edits.len() / 2);
                self.prove(text, before, left.to_vec(), made)?;
                self.prove(text, before, right.to_vec(), made)?;
            }
        }
        Ok(())
    }

    /// Applies the repairs among the refused edits, one at a time, and records their effects.
    fn change(&mut self, text: &Text, made: &mut Made) -> Result<(), Refusal> {
        let (wanted, refused) = std::mem::take(&mut made.refused).into_iter().partition(|(_, why)| why.is_change());
        made.refused = refused;
        let wanted: Vec<Refused> = wanted;
        let mut before = text.with(&made.edits, self.dialect);
        for (edit, _) in wanted {
            let edits = made.edits_and(std::slice::from_ref(&edit));
            let later = text.with(&edits, self.dialect);
            let arena = Bump::new();
            let effects = self.parsed(&before, &arena)?.effects_of(&later.body, true, &mut self.steps)?;
            let keeps_verdicts = effects.is_empty() && edit.refusal.is_none();
            made.changes.push(edit.change(text, effects, keeps_verdicts));
            (made.edits, before) = (edits, later);
        }
        Ok(())
    }
}

/// A pass's edits so far.
#[derive(Default)]
struct Made {
    /// The applied edits, by line.
    edits: Vec<PlannedEdit>,
    changes: Vec<Change>,
    refused: Vec<Refused>,
}

impl Made {
    /// Returns the applied edits and `more`, by line.
    fn edits_and(&self, more: &[PlannedEdit]) -> Vec<PlannedEdit> {
        let mut edits = [&self.edits, more].concat();
        edits.sort_by_key(|edit| edit.line);
        edits
    }

    fn accept(&mut self, text: &Text, edits: Vec<PlannedEdit>) {
        self.edits = self.edits_and(&edits);
        self.changes.extend(edits.into_iter().map(|edit| edit.change(text, Vec::new(), true)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::lint::findings::MAX_VALUE_BYTES;
    use crate::dialect::GOOGLE_LIB;

    #[test]
    fn long_values_are_not_replaced() {
        for (len, fits) in [(MAX_VALUE_BYTES - 1, true), (MAX_VALUE_BYTES, true), (MAX_VALUE_BYTES + 1, false)] {
            assert_eq!(Fix::replace("Disallow", &vec![b'a'; len], true).is_some(), fits, "{len}");
        }
    }

    #[test]
    fn files_that_need_too_many_steps_are_left_unchanged() {
        let body = b"user-agent: *\ndisallow: /a\ndisallow: /a\ndissallow: /b\n";
        let options = FixOptions::default();
        let fixed = |max_steps| fix_within(body, &GOOGLE_LIB, &options, max_steps);
        assert!(fixed(MAX_FIX_STEPS).changes.len() == 1);
        // Find the number of steps that the file needs.
        let (mut few, mut enough) = (0, MAX_FIX_STEPS);
        while few + 1 < enough {
            let middle = few.midpoint(enough);
            *(if fixed(middle).changes.is_empty() { &mut few } else { &mut enough }) = middle;
        }
        for (limit, is_fixed) in [(enough - 1, false), (enough, true), (enough + 1, true)] {
            let found = fixed(limit);
            assert_eq!(found.body.len() < body.len(), is_fixed, "{limit}");
            let is_refused = |left: &Unfixed| left.reason == Refusal::TooManySteps;
            assert_eq!(found.unfixed.iter().filter(|left| is_refused(left)).count(), if is_fixed { 0 } else { 2 });
        }
    }
}
