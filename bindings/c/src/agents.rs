//! Resolves crawlers by name.

use std::ffi::{CString, c_char};

use reptile::Agents;

use crate::border::{self, Failure, ReptileCode, call};
use crate::set::ReptileSet;

/// Resolved crawlers, which keep their set alive. Any number of threads may use them at the same time.
pub struct ReptileAgents {
    pub(crate) agents: Agents,
    names: Vec<CString>,
}

/// Resolves crawlers: product tokens or known crawlers (`GPTBot`), chains of product tokens
/// (`Googlebot-News>Googlebot>*`), `*` for any other crawler, or crawler groups (`@ai-training`, `@search`).
///
/// Invalid names are errors that suggest a correction. Unless `exact` is set, so is a name that no robots.txt contains
/// and that differs by one letter from a known crawler. Thread-safe.
///
/// # Safety
/// `set` must be null or a set that is not freed during the call. `names` must be null or point to `names_len`
/// NUL-terminated strings. `agents` and `message` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_agents_resolve(
    set: *const ReptileSet,
    names: *const *const c_char,
    names_len: usize,
    exact: bool,
    agents: *mut *mut ReptileAgents,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: `agents` is null or writable.
        unsafe { border::clear(agents, "the agents") }?;
        // SAFETY: the set is not freed during the call.
        let set = unsafe { border::value(set, "the set") }?;
        // SAFETY: `names` is null or points to `names_len` pointers.
        let names = unsafe { border::values(names, names_len, "the names") }?;
        // SAFETY: each name is null or NUL-terminated.
        let names = names.iter().map(|&name| unsafe { border::text(name, "the name of a crawler") });
        let names: Vec<&str> = names.collect::<Result<_, _>>()?;
        let resolved = set.source.agents(&names, exact)?;
        let of_agent = |agent: &reptile::Agent| CString::new(agent.crawler().to_string());
        let names = resolved.iter().map(of_agent).collect::<Result<_, _>>();
        let names = names.map_err(|_| Failure::argument("the name of a crawler has a NUL"))?;
        // SAFETY: `clear` has checked that `agents` is not null.
        unsafe { border::give(agents, ReptileAgents { agents: resolved, names }) };
        Ok(())
    };
    // SAFETY: `message` is null or writable.
    unsafe { call(message, work) }
}

/// Returns the number of crawlers, or 0 if the handle is invalid. A crawler group counts as several. Thread-safe.
///
/// # Safety
/// `agents` must be null or agents that are not freed during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_agents_len(agents: *const ReptileAgents) -> usize {
    let mut len = 0;
    let work = || {
        // SAFETY: the agents are not freed during the call.
        len = unsafe { border::value(agents, "the agents") }?.names.len();
        Ok(())
    };
    // SAFETY: `message` may be null.
    unsafe { call(std::ptr::null_mut(), work) };
    len
}

/// Returns a crawler's name as it was given, or null if the index is out of range. The string lives as long as the
/// agents. Thread-safe.
///
/// # Safety
/// `agents` must be null or agents that are not freed during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_agents_name(agents: *const ReptileAgents, agent: usize) -> *const c_char {
    let mut name = std::ptr::null();
    let work = || {
        // SAFETY: the agents are not freed during the call.
        let agents = unsafe { border::value(agents, "the agents") }?;
        name = agents.names.get(agent).map_or(std::ptr::null(), |name| name.as_ptr());
        Ok(())
    };
    // SAFETY: `message` may be null.
    unsafe { call(std::ptr::null_mut(), work) };
    name
}

/// Frees agents and sets the caller's variable to null. A null pointer, or a pointer to null, is ignored. Returns
/// `REPTILE_CODE_ARGUMENT` if the agents were already freed through another variable.
///
/// # Safety
/// `agents` must be null or readable and writable. No other thread may be using the agents.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_agents_free(agents: *mut *mut ReptileAgents) -> ReptileCode {
    // SAFETY: `agents` is null or readable and writable, and no other thread uses the agents.
    let work = || unsafe { border::free(agents, "the agents") };
    // SAFETY: `message` may be null.
    unsafe { call(std::ptr::null_mut(), work) }
}
