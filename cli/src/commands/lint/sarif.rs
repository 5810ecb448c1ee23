//! Findings as SARIF, the format of code scanning.

use reptile::lint::{Code, Finding};

use super::github::level;
use crate::error::Result;
use crate::outputs::annotations::Annotation;
use crate::outputs::sarif;

pub use crate::outputs::sarif::END;

/// Returns the text before the results: the tool and its kinds of findings.
pub fn start() -> Result<String> {
    sarif::start("reptile lint", Code::ALL.iter().map(|code| (code.as_str(), code.describe())))
}

/// Returns a finding as a result, after a comma unless it is the first, with the reason if it is not fixed.
pub fn result(name: &str, finding: &Finding, not_fixed: Option<&str>, has_results: &mut bool) -> Result<String> {
    let fix = finding.fix.as_ref().map(|fix| format!(" Fix: {fix}")).unwrap_or_default();
    let not_fixed = not_fixed.map(|reason| format!(" Not fixed: {reason}")).unwrap_or_default();
    let message = format!("{}{fix}{not_fixed}", finding.message);
    let code = finding.code.as_str();
    let rule = Code::ALL.iter().position(|code| *code == finding.code);
    let level = level(finding.severity);
    let finding = Annotation { level, file: name, line: finding.line, code, title: code, message: &message };
    sarif::result(&finding, rule, has_results)
}
