//! A verdict with its reasons.

use std::ffi::c_char;

use reptile::{Group, RuleKind};

use crate::agents::ReptileAgents;
use crate::border::{self, Failure, ReptileCode, call};
use crate::decide::ReptileVerdict;

/// Why the group that the crawler obeys is for it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReptileGroup {
    /// No group is for the crawler.
    None = 0,
    /// It is the default group, the group for `*`.
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

/// A verdict with its reasons. The library makes it, and later versions may add fields at the end.
#[repr(C)]
pub struct ReptileExplanation {
    /// The verdict.
    pub verdict: ReptileVerdict,
    /// Why the group that the crawler obeys is for it.
    pub group: ReptileGroup,
    /// The kind of the deciding rule.
    pub rule_kind: ReptileRuleKind,
    /// The line of the deciding rule in the robots.txt, from 1; 0 if no rule decided, or the set has no line numbers.
    pub line: u32,
    /// The path of the deciding rule, in normal form, with a NUL after it; empty if no rule decided.
    pub rule: *const c_char,
    /// The bytes of the rule, which may be anything but are mostly ASCII.
    pub rule_len: usize,
    /// The reason in a few words, such as `rule`, `no rule matches`, `404`. Ends with NUL.
    pub reason: *const c_char,
    /// The bytes of the reason.
    pub reason_len: usize,
}

/// An explanation with the memory that its pointers point to.
#[repr(C)]
struct Explained {
    shown: ReptileExplanation,
    rule: Vec<u8>,
    reason: Vec<u8>,
}

/// Decides one URL for the crawler number `agent`, with reasons. The explanation is the caller's, who frees it with
/// `reptile_explanation_free`. Any thread may call it.
///
/// # Safety
/// `agents` is null or agents that nobody frees meanwhile; `url` is null, or `url_len` bytes can be read there; `explanation` and
/// `message` are null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_explain(
    agents: *const ReptileAgents,
    agent: usize,
    url: *const c_char,
    url_len: usize,
    explanation: *mut *mut ReptileExplanation,
    message: *mut *mut c_char,
) -> ReptileCode {
    // SAFETY: as the caller of this function says.
    unsafe { explain_one(agents, agent, url, url_len, None, explanation, message) }
}

/// Decides one URL with reasons as `reptile_explain` does, by the rules that were in force at a time, in seconds since 1970. The set
/// has to be one by time (`reptile compile --by-time`), or the code is `REPTILE_CODE_OTHER`. Any thread may call it.
///
/// # Safety
/// As `reptile_explain`.
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
    // SAFETY: as the caller of this function says.
    unsafe { explain_one(agents, agent, url, url_len, Some(time), explanation, message) }
}

/// # Safety
/// As `reptile_explain`.
unsafe fn explain_one(
    agents: *const ReptileAgents,
    agent: usize,
    url: *const c_char,
    url_len: usize,
    time: Option<i64>,
    explanation: *mut *mut ReptileExplanation,
    message: *mut *mut c_char,
) -> ReptileCode {
    let explanation = explanation.cast::<*mut Explained>();
    let work = || {
        // SAFETY: `explanation` is null or may be written to.
        unsafe { border::clear(explanation, "the explanation") }?;
        // SAFETY: nobody frees the agents meanwhile.
        let agents = &unsafe { border::value(agents, "the agents") }?.agents;
        let Some(agent) = agents.iter().nth(agent) else {
            return Err(Failure::argument(format!("there is no crawler {agent}, only {}", agents.len())));
        };
        // SAFETY: unless it is null, so many bytes can be read at `url`.
        let url = unsafe { border::values(url.cast::<u8>(), url_len, "the URL") }?;
        let found = match time {
            None => agent.explain(url)?,
            Some(time) => agent.explain_at(url, time)?,
        };
        let explained = explained(&found);
        // SAFETY: `explanation` is not null, as `clear` has seen.
        unsafe { border::give(explanation, explained) };
        Ok(())
    };
    // SAFETY: `message` is null or may be written to.
    unsafe { call(message, work) }
}

/// Frees an explanation and sets the variable to null. Null, and a variable that is null, are fine. One that was freed already,
/// through another variable, is `REPTILE_CODE_ARGUMENT`.
///
/// # Safety
/// `explanation` is null or may be read and written to. No other thread uses the explanation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_explanation_free(explanation: *mut *mut ReptileExplanation) -> ReptileCode {
    // An explanation is the start of what was made, so that the pointers are the same.
    let explanation = explanation.cast::<*mut Explained>();
    // SAFETY: `explanation` is null or may be read and written to, and no other thread uses the explanation.
    let work = || unsafe { border::free(explanation, "the explanation") };
    // SAFETY: null may be the place for the message.
    unsafe { call(std::ptr::null_mut(), work) }
}

fn explained(found: &reptile::Explanation) -> Explained {
    let with_nul = |bytes: &[u8]| -> Vec<u8> { bytes.iter().copied().chain([0]).collect() };
    let pattern = found.rule().map_or(&[][..], |rule| &rule.pattern);
    let (rule, reason) = (with_nul(pattern), with_nul(found.reason.to_string().as_bytes()));
    let shown = ReptileExplanation {
        verdict: found.verdict.into(),
        group: match found.group {
            Group::Named => ReptileGroup::Named,
            Group::Default => ReptileGroup::Default,
            _ => ReptileGroup::None,
        },
        rule_kind: match found.decided_by {
            None => ReptileRuleKind::None,
            Some(RuleKind::Allow) => ReptileRuleKind::Allow,
            Some(RuleKind::Disallow) => ReptileRuleKind::Disallow,
        },
        line: found.rule().map_or(0, |rule| rule.line),
        // The texts stay where they are when the vectors move.
        rule: rule.as_ptr().cast(),
        rule_len: rule.len() - 1,
        reason: reason.as_ptr().cast(),
        reason_len: reason.len() - 1,
    };
    Explained { shown, rule, reason }
}
