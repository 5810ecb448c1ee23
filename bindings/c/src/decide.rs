//! Deciding one URL, or many.

use std::ffi::c_char;

use reptile::{Agents, Verdict};
use reptile_arrow::in_pool;

use crate::agents::ReptileAgents;
use crate::border::{self, Failure, ReptileCode, call};

/// The verdict for one URL and one crawler, in a byte.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReptileVerdict {
    /// No verdict: the call failed. The value is 0, so that memory that was never written to does not allow anything.
    None = 0,
    /// The rules allow the URL, or no rule matches it.
    Allow = 1,
    /// A rule or a failed fetch disallows the URL.
    Disallow = 2,
    /// No robots.txt is known for the origin of the URL. What to do with it is your choice.
    Unknown = 3,
    /// The text is not a valid URL.
    Invalid = 4,
}

impl From<Verdict> for ReptileVerdict {
    fn from(verdict: Verdict) -> ReptileVerdict {
        match verdict {
            Verdict::Allow => ReptileVerdict::Allow,
            Verdict::Disallow => ReptileVerdict::Disallow,
            Verdict::Unknown => ReptileVerdict::Unknown,
            Verdict::Invalid => ReptileVerdict::Invalid,
        }
    }
}

/// The most crawlers whose verdicts for one URL need no memory of their own.
const FEW_AGENTS: usize = 64;
/// The most verdicts that are held at a time, beside those of the caller.
const HELD_VERDICTS: usize = 1 << 20;

/// Decides one URL for each of the crawlers: `verdicts[j]` is for the crawler `j`. `verdicts_len` has to be the number of crawlers.
/// The URL need not end with NUL, and is any bytes; one that is malformed is not an error but `REPTILE_VERDICT_INVALID`. Any thread
/// may call it.
///
/// It is the only function that does not look whether its handle was freed, which would take longer than to decide.
///
/// # Safety
/// `agents` is null or agents that nobody frees meanwhile; `url` is null, or `url_len` bytes can be read there; `verdicts` is null,
/// or `verdicts_len` bytes can be written there; `message` is null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_decide(
    agents: *const ReptileAgents,
    url: *const c_char,
    url_len: usize,
    verdicts: *mut u8,
    verdicts_len: usize,
    message: *mut *mut c_char,
) -> ReptileCode {
    // SAFETY: as the caller of this function says.
    unsafe { decide_one(agents, url, url_len, None, verdicts, verdicts_len, message) }
}

/// Decides one URL for each of the crawlers as `reptile_decide` does, by the rules that were in force at a time, in seconds since 1970: as
/// a set that was compiled for that time. The set has to be one by time (`reptile compile --by-time`), or the code is
/// `REPTILE_CODE_OTHER`. Any thread may call it.
///
/// # Safety
/// As `reptile_decide`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_decide_at(
    agents: *const ReptileAgents,
    url: *const c_char,
    url_len: usize,
    time: i64,
    verdicts: *mut u8,
    verdicts_len: usize,
    message: *mut *mut c_char,
) -> ReptileCode {
    // SAFETY: as the caller of this function says.
    unsafe { decide_one(agents, url, url_len, Some(time), verdicts, verdicts_len, message) }
}

/// # Safety
/// As `reptile_decide`.
unsafe fn decide_one(
    agents: *const ReptileAgents,
    url: *const c_char,
    url_len: usize,
    time: Option<i64>,
    verdicts: *mut u8,
    verdicts_len: usize,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: unless it is null, so many bytes can be written at `verdicts`.
        let verdicts = unsafe { border::zeroed(verdicts, verdicts_len, "the verdicts") }?;
        // SAFETY: `agents` is null or agents that nobody frees meanwhile.
        let agents = &unsafe { border::value_unchecked(agents, "the agents") }?.agents;
        check_len(1, agents, verdicts)?;
        // SAFETY: unless it is null, so many bytes can be read at `url`.
        let url = unsafe { border::values(url.cast::<u8>(), url_len, "the URL") }?;
        let mut few = [Verdict::Invalid; FEW_AGENTS];
        let mut many = Vec::new();
        let decided = match few.get_mut(..agents.len()) {
            Some(few) => few,
            None => {
                many.resize(agents.len(), Verdict::Invalid);
                &mut many
            }
        };
        match time {
            None => agents.decide(url, decided)?,
            Some(time) => agents.decide_all_at(&[url], &[time], decided)?,
        }
        write(decided, verdicts);
        Ok(())
    };
    // SAFETY: `message` is null or may be written to.
    unsafe { call(message, work) }
}

/// Decides many URLs for each of the crawlers: `verdicts[i * agents + j]` is for the URL `i`, of `url_lens[i]` bytes at `urls[i]`,
/// and the crawler `j` of `agents`. `verdicts_len` has to be the number of URLs times that of crawlers. With `all_threads` the URLs
/// are shared out to all processors, otherwise the calling thread does the work. Any thread may call it.
///
/// Faster for each URL than `reptile_decide`, and takes 17 bytes for each of the URLs that are decided at a time, 1 MB at most for
/// verdicts.
///
/// # Safety
/// `agents` is null or agents that nobody frees meanwhile; `urls` and `url_lens` are null, or so many values can be read there, and
/// each of the URLs is null, or so many bytes can be read there; `verdicts` is null, or `verdicts_len` bytes can be written there;
/// `message` is null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_decide_many(
    agents: *const ReptileAgents,
    urls: *const *const c_char,
    url_lens: *const usize,
    urls_len: usize,
    all_threads: bool,
    verdicts: *mut u8,
    verdicts_len: usize,
    message: *mut *mut c_char,
) -> ReptileCode {
    // SAFETY: as the caller of this function says.
    unsafe { decide_all(agents, urls, url_lens, None, urls_len, all_threads, verdicts, verdicts_len, message) }
}

/// Decides many URLs for each of the crawlers as `reptile_decide_many` does, each by the rules that were in force at its own time: `times[i]`,
/// in seconds since 1970. The set has to be one by time, or the code is `REPTILE_CODE_OTHER`. Any thread may call it.
///
/// # Safety
/// As `reptile_decide_many`; `times` is null, or `urls_len` values can be read there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_decide_many_at(
    agents: *const ReptileAgents,
    urls: *const *const c_char,
    url_lens: *const usize,
    times: *const i64,
    urls_len: usize,
    all_threads: bool,
    verdicts: *mut u8,
    verdicts_len: usize,
    message: *mut *mut c_char,
) -> ReptileCode {
    // SAFETY: as the caller of this function says.
    unsafe { decide_all(agents, urls, url_lens, Some(times), urls_len, all_threads, verdicts, verdicts_len, message) }
}

/// # Safety
/// As `reptile_decide_many_at`.
#[allow(clippy::too_many_arguments, reason = "those of the functions of C")]
unsafe fn decide_all(
    agents: *const ReptileAgents,
    urls: *const *const c_char,
    url_lens: *const usize,
    times: Option<*const i64>,
    urls_len: usize,
    all_threads: bool,
    verdicts: *mut u8,
    verdicts_len: usize,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: unless it is null, so many bytes can be written at `verdicts`.
        let verdicts = unsafe { border::zeroed(verdicts, verdicts_len, "the verdicts") }?;
        // SAFETY: nobody frees the agents meanwhile.
        let agents = &unsafe { border::value(agents, "the agents") }?.agents;
        check_len(urls_len, agents, verdicts)?;
        // SAFETY: unless it is null, so many pointers can be read at `urls`.
        let urls = unsafe { border::values(urls, urls_len, "the URLs") }?;
        // SAFETY: unless it is null, so many lengths can be read at `url_lens`.
        let lens = unsafe { border::values(url_lens, urls_len, "the lengths of the URLs") }?;
        // SAFETY: unless it is null, so many times can be read at `times`.
        let times = times.map(|times| unsafe { border::values(times, urls_len, "the times") }).transpose()?;
        // SAFETY: unless a URL is null, so many bytes can be read there as its length says.
        let done = unsafe { decide_parts(agents, urls, lens, times, all_threads, verdicts) };
        if done.is_err() {
            verdicts.fill(ReptileVerdict::None as u8);
        }
        done
    };
    // SAFETY: `message` is null or may be written to.
    unsafe { call(message, work) }
}

/// Decides URLs in parts, of which each takes little memory.
///
/// # Safety
/// Each of the URLs is null, or so many bytes can be read there as its length says.
unsafe fn decide_parts(
    agents: &Agents,
    urls: &[*const c_char],
    lens: &[usize],
    times: Option<&[i64]>,
    all_threads: bool,
    verdicts: &mut [u8],
) -> Result<(), Failure> {
    let rows = (HELD_VERDICTS / agents.len().max(1)).max(1);
    let mut texts: Vec<&[u8]> = Vec::new();
    let mut decided = Vec::new();
    let parts = urls.chunks(rows).zip(lens.chunks(rows)).zip(verdicts.chunks_mut(rows * agents.len().max(1)));
    for (part, ((urls, lens), verdicts)) in parts.enumerate() {
        let times = times.map(|times| times.get(part * rows..part * rows + urls.len()).unwrap_or_default());
        texts.clear();
        for (&url, &len) in urls.iter().zip(lens) {
            // SAFETY: unless the URL is null, so many bytes can be read there.
            texts.push(unsafe { border::values(url.cast::<u8>(), len, "a URL") }?);
        }
        decided.clear();
        decided.resize(verdicts.len(), Verdict::Invalid);
        match (times, all_threads) {
            (None, true) => in_pool(|| agents.par_decide_all(&texts, &mut decided))?,
            (None, false) => agents.decide_all(&texts, &mut decided)?,
            (Some(times), true) => in_pool(|| agents.par_decide_all_at(&texts, times, &mut decided))?,
            (Some(times), false) => agents.decide_all_at(&texts, times, &mut decided)?,
        }
        write(&decided, verdicts);
    }
    Ok(())
}

fn write(decided: &[Verdict], verdicts: &mut [u8]) {
    for (place, &verdict) in verdicts.iter_mut().zip(decided) {
        *place = ReptileVerdict::from(verdict) as u8;
    }
}

fn check_len(urls: usize, agents: &Agents, verdicts: &[u8]) -> Result<(), Failure> {
    if urls.checked_mul(agents.len()) == Some(verdicts.len()) {
        return Ok(());
    }
    Err(Failure::argument(format!(
        "{urls} URLs for {} crawlers need a buffer of {} verdicts, found {}",
        agents.len(),
        urls.saturating_mul(agents.len()),
        verdicts.len()
    )))
}
