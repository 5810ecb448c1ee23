//! Lists the lines of a robots.txt that decide no URL: sitemaps, delays and others.

use std::ffi::c_char;

use reptile::{Directive, DirectiveKind, DirectiveState, Site};
use reptile_columns::SetOrRobots;

use crate::agents::ReptileAgents;
use crate::border::{self, Failure, ReptileCode, call};
use crate::set::ReptileSet;

/// The kind of a line that decides no URL.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReptileDirectiveKind {
    /// `Sitemap`: a sitemap's URL.
    Sitemap = 0,
    /// `Crawl-delay`: seconds between two requests.
    CrawlDelay = 1,
    /// `Request-rate`: requests per period, possibly limited to some hours.
    RequestRate = 2,
    /// `Visit-time`: the permitted hours.
    VisitTime = 3,
    /// `Host`: a site's main host.
    Host = 4,
    /// `Clean-param`: URL parameters that do not change the page.
    CleanParam = 5,
    /// `Content-Signal`: permitted uses of fetched content.
    ContentSignal = 6,
    /// `Content-Usage`: IETF usage preferences, for one path or all paths.
    ContentUsage = 7,
    /// `Noindex`: paths to leave out of an index.
    Noindex = 8,
    /// An unknown key.
    Other = 9,
    /// The comment that begins a vendor-managed block.
    ManagedBegin = 10,
    /// The comment that ends a vendor-managed block.
    ManagedEnd = 11,
}

/// Whether a line counts under the set's dialect, and the reason if not.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReptileDirectiveState {
    /// The line counts.
    Counts = 0,
    /// The dialect ignores such lines.
    NotRead = 1,
    /// The dialect does not accept the value.
    Malformed = 2,
    /// The line is only valid in a group, but is outside all groups.
    Outside = 3,
    /// An earlier line overrides this one.
    Superseded = 4,
    /// Another reason, which only a later version names.
    Other = 5,
}

/// A line that decides no URL.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ReptileDirective {
    /// The line's kind.
    pub kind: ReptileDirectiveKind,
    /// Whether the line counts.
    pub state: ReptileDirectiveState,
    /// The line number in the robots.txt, starting at 1.
    pub line: u32,
    /// The key, NUL-terminated: as written for an unknown key, otherwise in lower case, such as `sitemap`.
    pub key: *const c_char,
    /// Length of the key in bytes.
    pub key_len: usize,
    /// The trimmed value as written, NUL-terminated. It may contain any bytes.
    pub value: *const c_char,
    /// Length of the value in bytes.
    pub value_len: usize,
}

/// Lines in file order. Allocated by the library; later versions may append fields to this structure, but not to
/// `reptile_directive`.
#[repr(C)]
pub struct ReptileDirectives {
    /// The lines, or null if there are none.
    pub items: *const ReptileDirective,
    /// Number of lines.
    pub len: usize,
    /// Whether a robots.txt, or the result of fetching it, is known for the origin.
    pub is_known: bool,
}

/// A list together with the memory that its pointers refer to.
#[repr(C)]
struct OwnedDirectives {
    shown: ReptileDirectives,
    items: Vec<ReptileDirective>,
    text: Vec<u8>,
}

/// Lists the sitemaps that count in the robots.txt of a URL's origin. The values are their URLs. For a single
/// robots.txt, the URL is ignored. The caller frees the list with `reptile_directives_free`. Thread-safe.
///
/// # Safety
/// `set` must be null or a set that is not freed during the call. `url` must be null or point to `url_len` bytes.
/// `directives` and `message` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_set_sitemaps(
    set: *const ReptileSet,
    url: *const c_char,
    url_len: usize,
    directives: *mut *mut ReptileDirectives,
    message: *mut *mut c_char,
) -> ReptileCode {
    let counts = |found: &Directive| found.kind == DirectiveKind::Sitemap && found.state == DirectiveState::Counts;
    // SAFETY: this function has the same requirements.
    unsafe { list_of_set(set, url, url_len, counts, directives, message) }
}

/// Lists all lines that decide no URL in the robots.txt of a URL's origin. For a single robots.txt, the URL is ignored.
/// The caller frees the list with `reptile_directives_free`. Thread-safe.
///
/// # Safety
/// As for `reptile_set_sitemaps`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_set_directives(
    set: *const ReptileSet,
    url: *const c_char,
    url_len: usize,
    directives: *mut *mut ReptileDirectives,
    message: *mut *mut c_char,
) -> ReptileCode {
    // SAFETY: this function has the same requirements.
    unsafe { list_of_set(set, url, url_len, |_| true, directives, message) }
}

/// # Safety
/// As for `reptile_set_sitemaps`.
unsafe fn list_of_set(
    set: *const ReptileSet,
    url: *const c_char,
    url_len: usize,
    wants: impl Fn(&Directive) -> bool,
    directives: *mut *mut ReptileDirectives,
    message: *mut *mut c_char,
) -> ReptileCode {
    let directives = directives.cast::<*mut OwnedDirectives>();
    let work = || {
        // SAFETY: the set is not freed during the call.
        let source = &unsafe { border::value(set, "the set") }?.source;
        // SAFETY: `url` is null or points to `url_len` bytes.
        let site = site_of(source, unsafe { border::values(url.cast::<u8>(), url_len, "the URL") }?)?;
        let is_known = site.is_some();
        let mut found = site.map(|site| site.directives).unwrap_or_default();
        found.retain(wants);
        Ok(listed(&found, is_known))
    };
    // SAFETY: `directives` and `message` are null or writable.
    unsafe { border::make(directives, "the directives", message, work) }
}

/// Lists the lines that decide no URL and apply to crawler number `agent` in the robots.txt of a URL's origin: the
/// lines in its groups, and the lines for every crawler. For a single robots.txt, the origin does not matter. The
/// caller frees the list with `reptile_directives_free`. Thread-safe.
///
/// # Safety
/// `agents` must be null or agents that are not freed during the call. `url` must be null or point to `url_len` bytes.
/// `directives` and `message` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_agent_directives(
    agents: *const ReptileAgents,
    agent: usize,
    url: *const c_char,
    url_len: usize,
    directives: *mut *mut ReptileDirectives,
    message: *mut *mut c_char,
) -> ReptileCode {
    let directives = directives.cast::<*mut OwnedDirectives>();
    let work = || {
        // SAFETY: the agents are not freed during the call.
        let agents = unsafe { border::value(agents, "the agents") }?;
        // SAFETY: `url` is null or points to `url_len` bytes.
        let url = unsafe { border::values(url.cast::<u8>(), url_len, "the URL") }?;
        let found = agents.agent(agent)?.directives(url)?;
        let is_known = !found.is_empty() || site_of(&agents.source, url)?.is_some();
        Ok(listed(&found, is_known))
    };
    // SAFETY: `directives` and `message` are null or writable.
    unsafe { border::make(directives, "the directives", message, work) }
}

/// Sets `*seconds` to the delay between two fetches from a URL's origin, if a `Crawl-delay` line applies to crawler
/// number `agent` under the set's dialect. Otherwise, and after an error, `*seconds` is -1. Thread-safe.
///
/// # Safety
/// `agents` must be null or agents that are not freed during the call. `url` must be null or point to `url_len` bytes.
/// `seconds` and `message` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_agent_crawl_delay(
    agents: *const ReptileAgents,
    agent: usize,
    url: *const c_char,
    url_len: usize,
    seconds: *mut f64,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: `seconds` is null or writable.
        unsafe { border::put(seconds, -1.0, "the seconds") }?;
        // SAFETY: the agents are not freed during the call.
        let agents = unsafe { border::value(agents, "the agents") }?;
        // SAFETY: `url` is null or points to `url_len` bytes.
        let url = unsafe { border::values(url.cast::<u8>(), url_len, "the URL") }?;
        let delay = agents.agent(agent)?.crawl_delay(url)?;
        // SAFETY: the first `put` has checked that `seconds` is not null.
        unsafe { border::put(seconds, delay.map_or(-1.0, |delay| delay.as_secs_f64()), "the seconds") }
    };
    // SAFETY: `message` is null or writable.
    unsafe { call(message, work) }
}

/// Frees a list and sets the caller's variable to null. A null pointer, or a pointer to null, is ignored. Returns
/// `REPTILE_CODE_ARGUMENT` if the list was already freed through another variable.
///
/// # Safety
/// `directives` must be null or readable and writable. No other thread may be using the list.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_directives_free(directives: *mut *mut ReptileDirectives) -> ReptileCode {
    // The public struct is the first field, so both pointers are equal.
    let directives = directives.cast::<*mut OwnedDirectives>();
    // SAFETY: `directives` is null or readable and writable, and no other thread uses the list.
    unsafe { border::free(directives, "the directives") }
}

/// Returns the data for a URL's origin, if it is known.
fn site_of(source: &SetOrRobots, url: &[u8]) -> Result<Option<Site>, Failure> {
    Ok(match source {
        SetOrRobots::Set(set) => set.site(url)?,
        SetOrRobots::Robots(robots) => Some(robots.site()?),
    })
}

fn listed(found: &[Directive], is_known: bool) -> OwnedDirectives {
    let key_of = |directive: &Directive| -> Vec<u8> {
        if directive.key.is_empty() { directive.kind.as_str().into() } else { directive.key.clone() }
    };
    let mut text = Vec::new();
    let mut add = |bytes: &[u8]| {
        text.extend_from_slice(bytes);
        text.push(0);
        text.len() - bytes.len() - 1
    };
    let places: Vec<_> = found.iter().map(|found| (add(&key_of(found)), add(&found.value))).collect();
    let start = text.as_ptr();
    let item = |(found, &(key, value)): (&Directive, &(usize, usize))| ReptileDirective {
        kind: kind_of(found.kind),
        state: state_of(found.state),
        line: found.line,
        // Moving the text's vector does not move its contents.
        key: start.wrapping_add(key).cast(),
        key_len: key_of(found).len(),
        value: start.wrapping_add(value).cast(),
        value_len: found.value.len(),
    };
    let items: Vec<ReptileDirective> = found.iter().zip(&places).map(item).collect();
    let first = if items.is_empty() { std::ptr::null() } else { items.as_ptr() };
    OwnedDirectives { shown: ReptileDirectives { items: first, len: items.len(), is_known }, items, text }
}

fn kind_of(kind: DirectiveKind) -> ReptileDirectiveKind {
    match kind {
        DirectiveKind::Sitemap => ReptileDirectiveKind::Sitemap,
        DirectiveKind::CrawlDelay => ReptileDirectiveKind::CrawlDelay,
        DirectiveKind::RequestRate => ReptileDirectiveKind::RequestRate,
        DirectiveKind::VisitTime => ReptileDirectiveKind::VisitTime,
        DirectiveKind::Host => ReptileDirectiveKind::Host,
        DirectiveKind::CleanParam => ReptileDirectiveKind::CleanParam,
        DirectiveKind::ContentSignal => ReptileDirectiveKind::ContentSignal,
        DirectiveKind::ContentUsage => ReptileDirectiveKind::ContentUsage,
        DirectiveKind::Noindex => ReptileDirectiveKind::Noindex,
        DirectiveKind::ManagedBegin => ReptileDirectiveKind::ManagedBegin,
        DirectiveKind::ManagedEnd => ReptileDirectiveKind::ManagedEnd,
        // Includes kinds of later versions.
        _ => ReptileDirectiveKind::Other,
    }
}

fn state_of(state: DirectiveState) -> ReptileDirectiveState {
    match state {
        DirectiveState::Counts => ReptileDirectiveState::Counts,
        DirectiveState::NotRead => ReptileDirectiveState::NotRead,
        DirectiveState::Malformed => ReptileDirectiveState::Malformed,
        DirectiveState::Outside => ReptileDirectiveState::Outside,
        DirectiveState::Superseded => ReptileDirectiveState::Superseded,
        _ => ReptileDirectiveState::Other,
    }
}
