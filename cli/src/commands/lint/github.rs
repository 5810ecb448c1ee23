//! Findings as commands for GitHub Actions, which shows them next to the file's lines.

use reptile::lint::{Finding, Severity};

/// Returns a finding as a command with a line end.
pub fn annotation(name: &str, finding: &Finding) -> String {
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let fix = finding.fix.as_ref().map(|fix| format!("\nfix: {fix}")).unwrap_or_default();
    let message = escaped(&format!("{}{fix}", finding.message), false);
    let (name, code) = (escaped(name, true), escaped(finding.code.as_str(), true));
    format!("::{level} file={name},line={},title={code}::{message}\n", finding.line)
}

/// Escapes text for a command. Properties also escape commas and colons, which end them.
fn escaped(text: &str, is_property: bool) -> String {
    let text = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    if is_property { text.replace(':', "%3A").replace(',', "%2C") } else { text }
}
