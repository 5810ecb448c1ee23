//! Findings and fixes.

use std::collections::BTreeMap;

use bumpalo::Bump;
use reptile::explain::Reading;
use reptile::lint::{Code as Kind, Finding, Fix, LintOptions, Severity, fix_of_host, lint_with};
use serde::Serialize;

use crate::args::Args;
use crate::failure::{Code, Failure, with_code};
use crate::file::File;
use crate::state::{Call, json};

#[derive(Serialize)]
struct FindingJson {
    code: &'static str,
    severity: &'static str,
    line: u32,
    message: String,
    fix: Option<FixJson>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FixJson {
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    edit: Option<Edit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    keeps_verdicts: Option<bool>,
    is_applied: bool,
}

/// The replacement of a line.
#[derive(Serialize)]
struct Edit {
    from: u32,
    to: u32,
    /// The new lines, or `None` to remove the line with its line end.
    text: Option<String>,
}

/// Finds mistakes. The arguments are the host, the minimum severity, and the kinds of finding to enable.
pub fn lint(call: Call<'_>) -> Result<Vec<u8>, Failure> {
    let Call { items, handle, mut args, .. } = call;
    let file = items.file(handle)?;
    let (options, least) = options_of(&mut args)?;
    let arena = Bump::new();
    let reading = Reading::new(&file.body, file.dialect, &arena);
    let findings = lint_with(&file.body, file.dialect, &options).findings;
    let findings = findings.into_iter().filter(|finding| finding.severity >= least);
    let findings = findings.map(|finding| FindingJson {
        code: finding.code.as_str(),
        severity: finding.severity.as_str(),
        line: finding.line,
        fix: finding.fix.as_ref().map(|fix| fix_of(&finding, fix, &reading)),
        message: finding.message,
    });
    json(&findings.collect::<Vec<_>>())
}

/// Reads the host, the minimum severity, and kinds of finding.
fn options_of(args: &mut Args<'_>) -> Result<(LintOptions, Severity), Failure> {
    let host = args.given()?.map(|host| host.as_bytes().to_vec());
    let least = args.given()?.map_or(Ok(Severity::Note), str::parse).map_err(with_code(Code::Argument))?;
    Ok((LintOptions { host, enabled: kinds(args)?, ..LintOptions::default() }, least))
}

fn kinds(args: &mut Args<'_>) -> Result<Vec<Kind>, Failure> {
    args.list()?.into_iter().map(|name| name.parse().map_err(with_code(Code::Kind))).collect()
}

fn fix_of(finding: &Finding, fix: &Fix, reading: &Reading<'_>) -> FixJson {
    let (edit, keeps_verdicts) = match fix {
        Fix::Words(_) => (None, None),
        Fix::Replace { keeps_verdicts, .. } => (Some(edit_of(finding, fix, reading)), Some(*keeps_verdicts)),
        Fix::Remove => (Some(edit_of(finding, fix, reading)), Some(true)),
    };
    let is_applied = keeps_verdicts.is_some_and(|keeps| keeps || finding.severity == Severity::Error);
    FixJson { title: fix.to_string(), edit, keeps_verdicts, is_applied }
}

/// Returns a line's replacement, with its comment.
fn edit_of(finding: &Finding, fix: &Fix, reading: &Reading<'_>) -> Edit {
    let line = reading.line(finding.line).unwrap_or_default();
    let comment = line.iter().position(|&byte| byte == b'#').and_then(|hash| line.get(hash..));
    let comment = comment.map(String::from_utf8_lossy);
    let text = match (fix, comment) {
        (Fix::Replace { text, .. }, Some(comment)) => Some(format!("{text} {comment}")),
        (Fix::Replace { text, .. }, None) => Some(text.clone()),
        (_, comment) => comment.map(|comment| comment.into_owned()),
    };
    Edit { from: finding.line, to: finding.line, text }
}

/// Returns the file with fixes. The arguments are the host, the minimum severity, kinds of finding, an empty argument,
/// and lines. Without kinds and lines, every fix is made.
pub fn fix(call: Call<'_>) -> Result<Vec<u8>, Failure> {
    let Call { items, handle, mut args, .. } = call;
    let file = items.file(handle)?;
    let (options, least) = options_of(&mut args)?;
    let lines: Vec<u32> = args.list()?.into_iter().filter_map(|line| line.parse().ok()).collect();
    if options.enabled.is_empty() && lines.is_empty() {
        return Ok(fix_of_host(&file.body, file.dialect, least, options.host.as_deref()).body);
    }
    Ok(fix_some(file, options, least, &lines))
}

/// Returns the file with the fixes of the chosen kinds on the chosen lines. An empty list chooses all.
fn fix_some(file: &File, options: LintOptions, least: Severity, lines: &[u32]) -> Vec<u8> {
    let arena = Bump::new();
    let reading = Reading::new(&file.body, file.dialect, &arena);
    let options = LintOptions { max_per_code: u32::MAX, ..options };
    let mut edits: BTreeMap<u32, Edit> = BTreeMap::new();
    for finding in lint_with(&file.body, file.dialect, &options).findings {
        let is_chosen = finding.severity >= least
            && (options.enabled.is_empty() || options.enabled.contains(&finding.code))
            && (lines.is_empty() || lines.contains(&finding.line));
        let fix = finding.fix.as_ref().filter(|fix| is_chosen && fix_of(&finding, fix, &reading).is_applied);
        if let Some(fix) = fix {
            edits.insert(finding.line, edit_of(&finding, fix, &reading));
        }
    }
    let (body, mut fixed, mut copied) = (&file.body, Vec::with_capacity(file.body.len()), 0);
    for (line, number) in reading.lines().zip(1..) {
        let Some(edit) = edits.get(&number) else { continue };
        let start = line.as_ptr() as usize - body.as_ptr() as usize;
        let end = start + line.len();
        let line_end = match &body[end..] {
            [b'\r', b'\n', ..] => 2,
            [_, ..] => 1,
            [] => 0,
        };
        fixed.extend_from_slice(&body[copied..start]);
        copied = end + line_end;
        if let Some(text) = &edit.text {
            fixed.extend_from_slice(text.as_bytes());
            fixed.extend_from_slice(&body[end..copied]);
        }
    }
    fixed.extend_from_slice(&body[copied..]);
    fixed
}
