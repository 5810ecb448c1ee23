//! Explains verdicts.

use std::ffi::c_char;

use reptile::{Group, RuleKind};

use crate::agents::ReptileAgents;
use crate::border::{self, ReptileCode, with_nul};
use crate::decide::ReptileVerdict;

/// Why the crawler obeys its group.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReptileGroup {
    /// No group applies to the crawler.
    None = 0,
    /// The default group (`*`) applies.
    Default = 1,
    /// The group names the crawler.
    Named = 2,
}

/// The kind of the deciding rule.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReptileRuleKind {
    /// No rule decided.
    None = 0,
    /// An `Allow` line.
    Allow = 1,
    /// A `Disallow` line.
    Disallow = 2,
}

/// A verdict with its reasons. Allocated by the library; later versions may append fields.
#[repr(C)]
pub struct ReptileExplanation {
    /// The verdict.
    pub verdict: ReptileVerdict,
    /// Why the crawler obeys its group.
    pub group: ReptileGroup,
    /// The kind of the deciding rule.
    pub rule_kind: ReptileRuleKind,
    /// The deciding rule's line number in the robots.txt, starting at 1. It is 0 if no rule decided or the set has no
    /// line numbers.
    pub line: u32,
    /// The deciding rule as in a robots.txt, with its path in normal form: `Disallow: /cart`. NUL-terminated. Empty if no
    /// rule decided.
    pub rule: *const c_char,
    /// Length of the rule in bytes. The rule is usually ASCII but may contain any bytes.
    pub rule_len: usize,
    /// A short reason such as `rule`, `no rule matches` or `404`, NUL-terminated.
    pub reason: *const c_char,
    /// Length of the reason in bytes.
    pub reason_len: usize,
    /// The origin whose robots.txt decided instead of the URL's own, such as `https://www.shop.example`,
    /// NUL-terminated. Otherwise empty. Only agents from `reptile_agents_in_scope` use other origins.
    pub origin: *const c_char,
    /// Length of the origin in bytes.
    pub origin_len: usize,
    /// The end of `rule` that is the deciding rule's path, `/cart`. Empty if no rule decided.
    pub path: *const c_char,
    /// Length of the path in bytes.
    pub path_len: usize,
}

/// An explanation together with the strings that its pointers refer to.
#[repr(C)]
struct OwnedExplanation {
    shown: ReptileExplanation,
    rule: Vec<u8>,
    reason: Vec<u8>,
    origin: Vec<u8>,
}

/// Decides one URL for crawler number `agent`, with reasons. The caller frees the explanation with
/// `reptile_explanation_free`. Thread-safe.
///
/// # Safety
/// `agents` must be null or agents that are not freed during the call. `url` must be null or point to `url_len` bytes.
/// `explanation` and `message` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_explain(
    agents: *const ReptileAgents,
    agent: usize,
    url: *const c_char,
    url_len: usize,
    explanation: *mut *mut ReptileExplanation,
    message: *mut *mut c_char,
) -> ReptileCode {
    // SAFETY: this function has the same requirements.
    unsafe { explain_one(agents, agent, url, url_len, None, explanation, message) }
}

/// Decides one URL with reasons by the rules that were active at `time`, in seconds since 1970. The set must be by
/// time, or the code is `REPTILE_CODE_OTHER`. Otherwise like `reptile_explain`. Thread-safe.
///
/// # Safety
/// As for `reptile_explain`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_explain_at(
    agents: *const ReptileAgents,
    agent: usize,
    url: *const c_char,
    url_len: usize,
    time: i64,
    explanation: *mut *mut ReptileExplanation,
    message: *mut *mut c_char,
) -> ReptileCode {
    // SAFETY: this function has the same requirements.
    unsafe { explain_one(agents, agent, url, url_len, Some(time), explanation, message) }
}

/// # Safety
/// As for `reptile_explain`.
unsafe fn explain_one(
    agents: *const ReptileAgents,
    agent: usize,
    url: *const c_char,
    url_len: usize,
    time: Option<i64>,
    explanation: *mut *mut ReptileExplanation,
    message: *mut *mut c_char,
) -> ReptileCode {
    let explanation = explanation.cast::<*mut OwnedExplanation>();
    let work = || {
        // SAFETY: the agents are not freed during the call.
        let agents = unsafe { border::value(agents, "the agents") }?;
        let agent = agents.agent(agent)?;
        // SAFETY: `url` is null or points to `url_len` bytes.
        let url = unsafe { border::values(url.cast::<u8>(), url_len, "the URL") }?;
        let (found, stand_in) = agents.scope.explain(agent, url, time)?;
        Ok(explained(&found, stand_in.as_deref()))
    };
    // SAFETY: `explanation` and `message` are null or writable.
    unsafe { border::make(explanation, "the explanation", message, work) }
}

/// Frees an explanation and sets the caller's variable to null. A null pointer, or a pointer to null, is ignored.
/// Returns `REPTILE_CODE_ARGUMENT` if the explanation was already freed through another variable.
///
/// # Safety
/// `explanation` must be null or readable and writable. No other thread may be using the explanation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_explanation_free(explanation: *mut *mut ReptileExplanation) -> ReptileCode {
    // The public struct is the first field, so both pointers are equal.
    let explanation = explanation.cast::<*mut OwnedExplanation>();
    // SAFETY: `explanation` is null or readable and writable, and no other thread uses the explanation.
    unsafe { border::free(explanation, "the explanation") }
}

fn explained(found: &reptile::Explanation, stand_in: Option<&str>) -> OwnedExplanation {
    let rule = found.rule().map(|rule| (rule.kind.name(), &rule.pattern[..]));
    let line = rule.map_or_else(Vec::new, |(kind, path)| [kind.as_bytes(), b": ", path].concat());
    let (rule, path_len) = (with_nul(&line), rule.map_or(0, |(_, path)| path.len()));
    let path = &rule[rule.len() - 1 - path_len..];
    let (path, reason) = (path.as_ptr().cast(), with_nul(found.reason.to_string().as_bytes()));
    let origin = with_nul(stand_in.unwrap_or_default().as_bytes());
    let shown = ReptileExplanation {
        verdict: found.verdict.into(),
        group: group_of(found.group),
        rule_kind: match found.decided_by {
            None => ReptileRuleKind::None,
            Some(RuleKind::Allow) => ReptileRuleKind::Allow,
            Some(RuleKind::Disallow) => ReptileRuleKind::Disallow,
        },
        line: found.rule().map_or(0, |rule| rule.line),
        // Moving the vectors does not move their contents.
        rule: rule.as_ptr().cast(),
        rule_len: rule.len() - 1,
        reason: reason.as_ptr().cast(),
        reason_len: reason.len() - 1,
        origin: origin.as_ptr().cast(),
        origin_len: origin.len() - 1,
        path,
        path_len,
    };
    OwnedExplanation { shown, rule, reason, origin }
}

pub(crate) fn group_of(group: Group) -> ReptileGroup {
    match group {
        Group::Named => ReptileGroup::Named,
        Group::Default => ReptileGroup::Default,
        _ => ReptileGroup::None,
    }
}
