//! Resolving crawlers by name.

use std::ffi::{CString, c_char};

use reptile::Agents;

use crate::border::{self, Failure, ReptileCode, call};
use crate::set::ReptileSet;

/// Crawlers, resolved by a set, which they keep alive. Any number of threads may use them at the same time.
pub struct ReptileAgents {
    pub(crate) agents: Agents,
    names: Vec<CString>,
}

/// Resolves crawlers: product tokens or known crawlers (`GPTBot`), chains of product tokens (`Googlebot-News>Googlebot>*`), `*` for
/// any other crawler, or groups of crawlers (`@ai-training`, `@search`).
///
/// A name that cannot be one is an error that says what to write, and so is a name that no robots.txt names and that is one letter
/// off from a known crawler's, unless `exact`. Any thread may call it.
///
/// # Safety
/// `set` is null or a set that nobody frees meanwhile; `names` is null, or `names_len` texts that end with NUL can be read there;
/// `agents` and `message` are null or may be written to.
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
        // SAFETY: `agents` is null or may be written to.
        unsafe { border::clear(agents, "the agents") }?;
        // SAFETY: nobody frees the set meanwhile.
        let set = unsafe { border::value(set, "the set") }?;
        // SAFETY: unless it is null, so many pointers can be read at `names`.
        let names = unsafe { border::values(names, names_len, "the names") }?;
        // SAFETY: each of them is null or ends with NUL.
        let names = names.iter().map(|&name| unsafe { border::text(name, "the name of a crawler") });
        let names: Vec<&str> = names.collect::<Result<_, _>>()?;
        let resolved = set.source.agents(&names, exact)?;
        let of_agent = |agent: &reptile::Agent| CString::new(agent.crawler().to_string());
        let names = resolved.iter().map(of_agent).collect::<Result<_, _>>();
        let names = names.map_err(|_| Failure::argument("the name of a crawler has a NUL"))?;
        // SAFETY: `agents` is not null, as `clear` has seen.
        unsafe { border::give(agents, ReptileAgents { agents: resolved, names }) };
        Ok(())
    };
    // SAFETY: `message` is null or may be written to.
    unsafe { call(message, work) }
}

/// The number of crawlers, which is more than that of the names if one of them is a group; 0 for a pointer that is not to agents in
/// use. Any thread may call it.
///
/// # Safety
/// `agents` is null or agents that nobody frees meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_agents_len(agents: *const ReptileAgents) -> usize {
    let mut len = 0;
    let work = || {
        // SAFETY: nobody frees the agents meanwhile.
        len = unsafe { border::value(agents, "the agents") }?.names.len();
        Ok(())
    };
    // SAFETY: null may be the place for the message.
    unsafe { call(std::ptr::null_mut(), work) };
    len
}

/// The name of one of the crawlers, as it was given; null if there are not so many. The text lives as long as the agents. Any
/// thread may call it.
///
/// # Safety
/// `agents` is null or agents that nobody frees meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_agents_name(agents: *const ReptileAgents, agent: usize) -> *const c_char {
    let mut name = std::ptr::null();
    let work = || {
        // SAFETY: nobody frees the agents meanwhile.
        let agents = unsafe { border::value(agents, "the agents") }?;
        name = agents.names.get(agent).map_or(std::ptr::null(), |name| name.as_ptr());
        Ok(())
    };
    // SAFETY: null may be the place for the message.
    unsafe { call(std::ptr::null_mut(), work) };
    name
}

/// Frees agents and sets the variable to null. Null, and a variable that is null, are fine. Agents that were freed already, through
/// another variable, are `REPTILE_CODE_ARGUMENT`.
///
/// # Safety
/// `agents` is null or may be read and written to. No other thread uses the agents.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_agents_free(agents: *mut *mut ReptileAgents) -> ReptileCode {
    // SAFETY: `agents` is null or may be read and written to, and no other thread uses the agents.
    let work = || unsafe { border::free(agents, "the agents") };
    // SAFETY: null may be the place for the message.
    unsafe { call(std::ptr::null_mut(), work) }
}
