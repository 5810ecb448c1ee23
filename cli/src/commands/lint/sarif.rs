//! Findings as SARIF 2.1.0, the format of code scanning. Each result is written immediately, so memory does not
//! grow with their number.

use reptile::lint::{Code, Finding, Severity};
use serde_json::json;

use crate::error::Result;
use crate::outputs::json::json_line;

/// Returns the text before the results: the tool and its kinds of findings.
pub fn start() -> Result<String> {
    let rules: Vec<_> = Code::ALL
        .iter()
        .map(|code| json!({ "id": code.as_str(), "shortDescription": { "text": code.describe() } }))
        .collect();
    let driver = json!({ "name": "reptile lint", "version": env!("CARGO_PKG_VERSION"), "rules": rules });
    let driver = json_line(&driver)?;
    Ok(format!(
        "{{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{{\"tool\":{{\"driver\":\n\
         {driver}}},\"columnKind\":\"unicodeCodePoints\",\"results\":[\n"
    ))
}

/// The text after the results.
pub const END: &str = "]}]}\n";

/// Returns a finding as a result, after a comma unless it is the first.
pub fn result(name: &str, finding: &Finding, has_results: &mut bool) -> Result<String> {
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let fix = finding.fix.as_ref().map(|fix| format!(" Fix: {fix}")).unwrap_or_default();
    let rule = Code::ALL.iter().position(|code| *code == finding.code);
    let result = json!({
        "ruleId": finding.code.as_str(),
        "ruleIndex": rule,
        "level": level,
        "message": { "text": format!("{}{fix}", finding.message) },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": uri(name) },
            "region": { "startLine": finding.line },
        } }],
    });
    let comma = if std::mem::replace(has_results, true) { "," } else { "" };
    Ok(format!("{comma}{}", json_line(&result)?))
}

/// Returns a path as a relative or absolute reference. All bytes except ASCII letters, digits and `/._-~` are
/// percent-encoded.
fn uri(name: &str) -> String {
    let mut uri = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}
