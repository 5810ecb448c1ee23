//! Resolves crawlers by name.

use std::ffi::{CString, c_char};
use std::sync::Arc;

use reptile::{Agent, Agents};
use reptile_columns::{ByRow, Scope, SetOrRobots};

use crate::border::{self, Failure, ReptileCode, call};
use crate::set::ReptileSet;

/// Resolved crawlers, which keep their set alive. Any number of threads may use them at the same time.
#[derive(Clone)]
pub struct ReptileAgents {
    pub(crate) crawlers: Crawlers,
    /// The set that resolved the crawlers.
    pub(crate) source: SetOrRobots,
    /// The origins that may decide a URL whose own robots.txt is unknown.
    pub(crate) scope: Scope,
    names: Vec<CString>,
}

/// The crawlers that URLs are decided for.
#[derive(Clone)]
pub(crate) enum Crawlers {
    /// The same crawlers for each URL.
    Named(Agents),
    /// The crawler that each row names in this column.
    OfRows(Arc<ByRow>, String),
}

impl ReptileAgents {
    fn new(agents: Agents, source: &SetOrRobots) -> Result<ReptileAgents, Failure> {
        let names = agents.iter().map(|agent| CString::new(agent.crawler().to_string())).collect::<Result<_, _>>();
        let names = names.map_err(|_| Failure::argument("the name of a crawler has a NUL"))?;
        let crawlers = Crawlers::Named(agents);
        Ok(ReptileAgents { crawlers, source: source.clone(), scope: Scope::default(), names })
    }

    /// Returns the crawlers, or an error if rows name them.
    pub(crate) fn agents(&self) -> Result<&Agents, Failure> {
        match &self.crawlers {
            Crawlers::Named(agents) => Ok(agents),
            Crawlers::OfRows(..) => {
                let text = "these agents are of reptile_agents_of_rows, and only the Arrow functions have rows";
                Err(Failure::argument(text))
            }
        }
    }

    /// Returns one of the crawlers by its number.
    pub(crate) fn agent(&self, number: usize) -> Result<&Agent, Failure> {
        let agents = self.agents()?;
        let missing = || Failure::argument(format!("no crawler {number}: there are only {}", agents.len()));
        agents.iter().nth(number).ok_or_else(missing)
    }
}

/// Resolves crawlers: product tokens or known crawlers (`GPTBot`), chains of product tokens
/// (`Googlebot-News>Googlebot>*`), `*` for any other crawler, or crawler groups such as `@search`.
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
        // SAFETY: the set is not freed during the call.
        let set = unsafe { border::value(set, "the set") }?;
        // SAFETY: `names` is null or points to `names_len` pointers.
        let names = unsafe { border::values(names, names_len, "the names") }?;
        // SAFETY: each name is null or NUL-terminated.
        let names = names.iter().map(|&name| unsafe { border::text(name, "the name of a crawler") });
        let names: Vec<&str> = names.collect::<Result<_, _>>()?;
        let resolved = set.source.agents(&names, exact)?;
        let resolved = ReptileAgents::new(resolved, &set.source)?;
        Ok(resolved)
    };
    // SAFETY: `agents` and `message` are null or writable.
    unsafe { border::make(agents, "the agents", message, work) }
}

/// Resolves the crawler that sends a request with this `User-Agent` header. The header may be any bytes and need not be
/// NUL-terminated. `*agents` receives this one crawler, with its name. If the header names no crawler, such as a
/// browser's header, the code is `REPTILE_CODE_OK` and `*agents` is null. A header over 4,096 bytes names no crawler.
/// Thread-safe.
///
/// Cost: some microseconds. Reuse the agents for requests with the same header.
///
/// # Safety
/// `set` must be null or a set that is not freed during the call. `header` must be null or point to `header_len` bytes.
/// `agents` and `message` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_agents_of_header(
    set: *const ReptileSet,
    header: *const c_char,
    header_len: usize,
    agents: *mut *mut ReptileAgents,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: the set is not freed during the call.
        let source = &unsafe { border::value(set, "the set") }?.source;
        // SAFETY: `header` is null or points to `header_len` bytes.
        let header = unsafe { border::values(header.cast::<u8>(), header_len, "the header") }?;
        let found = match source {
            SetOrRobots::Set(set) => set.agent_of_header(header),
            SetOrRobots::Robots(robots) => robots.agent_of_header(header),
        };
        found?.map(|agent| ReptileAgents::new(agent.into(), source)).transpose()
    };
    // SAFETY: `agents` and `message` are null or writable.
    unsafe { border::make(agents, "the agents", message, work) }
}

/// Creates agents for the crawlers that rows name, for `reptile_decide_arrow` and `reptile_decide_arrow_stream`. Other
/// functions do not accept them. `agent_column` is the column with each row's crawler: a product token, or a complete
/// `User-Agent` header. With `headers`, every cell is a header, even a single word, as in a log. A row without a crawler
/// is `unknown`, or `invalid` if its URL is.
///
/// The result's columns have no crawler in front: `verdict`, `line` and so on, and `agent`, the crawler that was found.
/// `mask` and `refused` are errors. Unless `exact` is set or the cells are headers, so is a name that no robots.txt
/// contains and that differs by one letter from a known crawler. The set must not be one of `reptile_set_parse`. The
/// caller frees the agents with `reptile_agents_free`. Thread-safe.
///
/// # Safety
/// `set` must be null or a set that is not freed during the call. `agent_column` must be null or NUL-terminated.
/// `agents` and `message` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_agents_of_rows(
    set: *const ReptileSet,
    agent_column: *const c_char,
    headers: bool,
    exact: bool,
    agents: *mut *mut ReptileAgents,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: the set is not freed during the call.
        let source = &unsafe { border::value(set, "the set") }?.source;
        // SAFETY: `agent_column` is null or NUL-terminated.
        let column = unsafe { border::text(agent_column, "the agent column's name") }?;
        let SetOrRobots::Set(set) = source else {
            return Err(Failure::argument("rows can only name crawlers for a compiled set, not for one robots.txt"));
        };
        let by_row = ByRow::of_column(set, headers, exact)?;
        let crawlers = Crawlers::OfRows(Arc::new(by_row), column.to_owned());
        Ok(ReptileAgents { crawlers, source: source.clone(), scope: Scope::default(), names: Vec::new() })
    };
    // SAFETY: `agents` and `message` are null or writable.
    unsafe { border::make(agents, "the agents", message, work) }
}

/// Creates agents for the same crawlers that decide a URL by other origins if the robots.txt of its own origin is
/// unknown. This applies to all functions that decide or explain, including those for Arrow. `scope` is `origin` (no
/// other origin), `scheme` (also http instead of https, or the reverse), `www` (also with or without `www.`) or
/// `domain` (also the registered domain). Each includes the previous one.
///
/// RFC 9309 applies a robots.txt only to its own origin, so use a wider scope only if a verdict by a related origin is
/// better than an unknown one. Sitemaps, other directives and summaries still use the URL's own origin. The caller
/// frees the old and the new agents. Thread-safe.
///
/// Cost: a further decision for each origin that is tried, at most 7 for a URL without a known robots.txt.
///
/// # Safety
/// `agents` must be null or agents that are not freed during the call. `scope` must be null or NUL-terminated.
/// `in_scope` and `message` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_agents_in_scope(
    agents: *const ReptileAgents,
    scope: *const c_char,
    in_scope: *mut *mut ReptileAgents,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: the agents are not freed during the call.
        let agents = unsafe { border::value(agents, "the agents") }?;
        // SAFETY: `scope` is null or NUL-terminated.
        let name = unsafe { border::text(scope, "the scope") }?;
        let scope = Scope::from_name(name).ok_or_else(|| {
            let known: Vec<&str> = Scope::ALL.iter().map(|scope| scope.name()).collect();
            Failure::argument(format!("unknown scope {name:?}, expected one of {}", known.join(", ")))
        })?;
        Ok(ReptileAgents { scope, ..agents.clone() })
    };
    // SAFETY: `in_scope` and `message` are null or writable.
    unsafe { border::make(in_scope, "the agents in scope", message, work) }
}

/// Returns the number of crawlers, or 0 if the handle is invalid or rows name the crawlers. A crawler group counts as
/// several. Thread-safe.
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
    unsafe { border::free(agents, "the agents") }
}
