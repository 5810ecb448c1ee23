//! Findings and fixes.

use std::collections::BTreeMap;

use reptile::lint::{
    Code as Kind, Edit, Fix, FixOptions, LintOptions, Linted, Severity, edits_of, fix_with, lint_with,
};
use serde::Serialize;

use crate::args::Args;
use crate::failure::{Code, Failure, with_code};
use crate::state::{Call, json};

#[derive(Serialize)]
struct FindingsJson {
    findings: Vec<FindingJson>,
    /// The number of findings that are not reported because their kinds are off by default, for each kind.
    withheld: BTreeMap<&'static str, u64>,
}

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
    edit: Option<EditJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    keeps_verdicts: Option<bool>,
    is_applied: bool,
}

/// The replacement of a line.
#[derive(Serialize)]
struct EditJson {
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
    let Linted { mut findings, withheld, .. } = lint_with(&file.body, file.dialect, &options);
    findings.retain(|finding| finding.severity >= least);
    let edits = edits_of(&file.body, file.dialect, &findings);
    let findings = findings.into_iter().zip(edits).map(|(finding, edit)| FindingJson {
        code: finding.code.as_str(),
        severity: finding.severity.as_str(),
        line: finding.line,
        fix: finding.fix.as_ref().map(|fix| fix_of(fix, edit)),
        message: finding.message,
    });
    // Findings that are off by default are notes.
    let withheld = withheld.into_iter().filter(|_| least == Severity::Note);
    let withheld = withheld.map(|(code, count)| (code.as_str(), count)).collect();
    json(&FindingsJson { findings: findings.collect(), withheld })
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

fn fix_of(fix: &Fix, edit: Option<Edit>) -> FixJson {
    let keeps_verdicts = edit.as_ref().map(|edit| edit.keeps_verdicts);
    let edit = edit.map(|Edit { line, text, .. }| EditJson { from: line, to: line, text });
    FixJson { title: fix.to_string(), edit, keeps_verdicts, is_applied: keeps_verdicts == Some(true) }
}

/// Returns the file with the fixes that are proved to change no verdict. The arguments are the host, the minimum
/// severity, kinds of finding, an empty argument, and lines. Without kinds and lines, every such fix is made.
pub fn fix(call: Call<'_>) -> Result<Vec<u8>, Failure> {
    let Call { items, handle, mut args, .. } = call;
    let file = items.file(handle)?;
    let (LintOptions { host, enabled: codes, .. }, least) = options_of(&mut args)?;
    let lines: Vec<u32> = args.list()?.into_iter().filter_map(|line| line.parse().ok()).collect();
    Ok(fix_with(&file.body, file.dialect, &FixOptions { least, host, codes, lines, ..FixOptions::default() }).body)
}
