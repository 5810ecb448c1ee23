//! Findings as SARIF 2.1.0, the format of code scanning. Each result is written immediately, so memory does not
//! grow with their number.

use serde_json::json;

use super::annotations::{Annotation, Level};
use super::json::json_line;
use crate::error::Result;

/// Returns the text before the results: the tool, and the code and description of each kind of finding.
pub fn start<'r>(tool: &str, rules: impl IntoIterator<Item = (&'r str, &'r str)>) -> Result<String> {
    let rules: Vec<_> = rules
        .into_iter()
        .map(|(code, description)| json!({ "id": code, "shortDescription": { "text": description } }))
        .collect();
    let driver = json!({ "name": tool, "version": env!("CARGO_PKG_VERSION"), "rules": rules });
    let driver = json_line(&driver)?;
    Ok(format!(
        "{{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{{\"tool\":{{\"driver\":\n\
         {driver}}},\"columnKind\":\"unicodeCodePoints\",\"results\":[\n"
    ))
}

/// The text after the results.
pub const END: &str = "]}]}\n";

/// Returns a finding as a result, after a comma unless it is the first. `rule` is the position of its kind in the list
/// for [`start`].
pub fn result(finding: &Annotation<'_>, rule: Option<usize>, has_results: &mut bool) -> Result<String> {
    let level = match finding.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "note",
    };
    let result = json!({
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": level,
        "message": { "text": finding.message },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": uri(finding.file) },
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
