//! Parts that several functions' answers share.

use reptile::{Explanation, Rule, RuleKind};
use serde::Serialize;

/// Returns text for JavaScript. Bytes that are not UTF-8 are replaced.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A verdict and its reason: `Decision` in `index.d.ts`.
#[derive(Serialize)]
pub struct Decision {
    pub verdict: &'static str,
    pub line: u32,
    pub reason: String,
}

impl Decision {
    pub fn of(explanation: &Explanation) -> Decision {
        Decision {
            verdict: explanation.verdict.name(),
            line: explanation.rule().map_or(0, |rule| rule.line),
            reason: explanation.reason.to_string(),
        }
    }
}

/// A rule: `Rule` in `index.d.ts`.
#[derive(Serialize)]
pub struct RuleJson {
    pub line: u32,
    pub kind: &'static str,
    pub pattern: String,
}

impl RuleJson {
    pub fn of(rule: &Rule) -> RuleJson {
        RuleJson { line: rule.line, kind: kind_of(rule.kind), pattern: text(&rule.pattern) }
    }
}

/// Returns a kind's word, which is also the verdict's.
pub fn kind_of(kind: RuleKind) -> &'static str {
    match kind {
        RuleKind::Allow => "allow",
        RuleKind::Disallow => "disallow",
    }
}
