//! Findings as commands for GitHub Actions, which shows them next to the file's lines.

use reptile::lint::{Finding, Severity};

use crate::outputs::annotations::{Annotation, Level};

/// Returns a finding as a command with a line end.
pub fn annotation(name: &str, finding: &Finding) -> String {
    let fix = finding.fix.as_ref().map(|fix| format!("\nfix: {fix}")).unwrap_or_default();
    let message = format!("{}{fix}", finding.message);
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
