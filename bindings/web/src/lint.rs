//! Findings and fixes.

use std::collections::{BTreeMap, HashSet};

use bumpalo::Bump;
use reptile::explain::ExplainedFile;
use reptile::lint::{Code as Kind, Finding, Fix, FixOptions, LintOptions, Linted, Severity, fix_with, lint_with};
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
    let reading = ExplainedFile::new(&file.body, file.dialect, &arena);
    let made = |changes| -> HashSet<(u32, Kind)> {
        let options = FixOptions { host: options.host.clone(), changes, ..FixOptions::default() };
        let made = fix_with(&file.body, file.dialect, &options).changes;
        made.into_iter().map(|change| (change.line, change.code)).collect()
    };
    let made = Made { proved: made(false), requested: made(true) };
    let Linted { findings, withheld, .. } = lint_with(&file.body, file.dialect, &options);
    let findings = findings.into_iter().filter(|finding| finding.severity >= least);
    let findings = findings.map(|finding| FindingJson {
        code: finding.code.as_str(),
        severity: finding.severity.as_str(),
        line: finding.line,
        fix: finding.fix.as_ref().map(|fix| fix_of(&finding, fix, &reading, &made)),
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

/// The lines and kinds of the possible fixes.
struct Made {
    /// The fixes that are proved to change no verdict.
    proved: HashSet<(u32, Kind)>,
    /// These fixes, and the repairs that change verdicts.
    requested: HashSet<(u32, Kind)>,
}

/// Describes a fix. An edit that may concern another group's rules is only advice.
fn fix_of(finding: &Finding, fix: &Fix, reading: &ExplainedFile<'_>, made: &Made) -> FixJson {
    let key = (finding.line, finding.code);
    let is_applied = made.proved.contains(&key);
    let can_be_made = !matches!(fix, Fix::Words(_)) && (is_applied || made.requested.contains(&key));
    let edit = can_be_made.then(|| edit_of(finding, fix, reading));
    FixJson { title: fix.to_string(), keeps_verdicts: edit.as_ref().map(|_| is_applied), edit, is_applied }
}

/// Returns a line's replacement, with its comment.
fn edit_of(finding: &Finding, fix: &Fix, reading: &ExplainedFile<'_>) -> Edit {
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

/// Returns the file with the fixes that are proved to change no verdict. The arguments are the host, the minimum
/// severity, kinds of finding, an empty argument, and lines. Without kinds and lines, every such fix is made.
pub fn fix(call: Call<'_>) -> Result<Vec<u8>, Failure> {
    let Call { items, handle, mut args, .. } = call;
    let file = items.file(handle)?;
    let (LintOptions { host, enabled: codes, .. }, least) = options_of(&mut args)?;
    let lines: Vec<u32> = args.list()?.into_iter().filter_map(|line| line.parse().ok()).collect();
    Ok(fix_with(&file.body, file.dialect, &FixOptions { least, host, codes, lines, ..FixOptions::default() }).body)
}
