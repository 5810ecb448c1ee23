//! Findings as commands for GitHub Actions, which shows them next to the file's lines.

use reptile::lint::{Finding, Severity};

use crate::outputs::annotations::{Annotation, Level};

/// Returns a finding as a command with a line end, with the reason if it is not fixed.
pub fn annotation(name: &str, finding: &Finding, not_fixed: Option<&str>) -> String {
    let fix = finding.fix.as_ref().map(|fix| format!("\nfix: {fix}")).unwrap_or_default();
    let not_fixed = not_fixed.map(|reason| format!("\nnot fixed: {reason}")).unwrap_or_default();
    let message = format!("{}{fix}{not_fixed}", finding.message);
    let code = finding.code.as_str();
    let level = level(finding.severity);
    Annotation { level, file: name, line: finding.line, code, title: code, message: &message }.github()
}

/// Returns a severity's level in annotations.
pub fn level(severity: Severity) -> Level {
    match severity {
        Severity::Error => Level::Error,
        Severity::Warning => Level::Warning,
        Severity::Note => Level::Note,
    }
}
