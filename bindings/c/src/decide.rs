//! Decides single URLs and arrays of URLs.

use std::ffi::c_char;

use rayon::iter::{IndexedParallelIterator, ParallelIterator};
use rayon::slice::ParallelSliceMut;
use reptile::{Agent, Agents, Verdict};
use reptile_columns::{Scope, arrow::in_pool};

use crate::agents::ReptileAgents;
use crate::border::{self, Failure, ReptileCode, call};

/// The verdict for one URL and one crawler, in one byte.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReptileVerdict {
    /// No verdict: the call failed. The value is 0, so that memory that was never written allows nothing.
    None = 0,
    /// The rules allow the URL, or no rule matches it.
    Allow = 1,
    /// A rule or a failed fetch disallows the URL.
    Disallow = 2,
    /// The robots.txt for the URL's origin is not in the set. What to do is up to you.
    Unknown = 3,
    /// The string is not a valid URL.
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

/// Maximum number of crawlers whose verdicts for one URL are kept on the stack.
const FEW_AGENTS: usize = 64;
/// Maximum number of verdicts in temporary memory.
const HELD_VERDICTS: usize = 1 << 20;
/// Minimum number of URLs that a thread decides by other origins at a time.
const MIN_ROWS: usize = 256;

/// Decides one URL for each crawler: `verdicts[j]` is for crawler `j`. `verdicts_len` must be the number of crawlers.
/// The URL may be any bytes and need not be NUL-terminated. A malformed URL is not an error; it yields
/// `REPTILE_VERDICT_INVALID`. Thread-safe.
///
/// Unlike other functions, this one does not check whether its handle was freed, which would take longer than deciding.
///
/// # Safety
/// `agents` must be null or live agents that are not freed during the call. `url` must be null or point to `url_len`
/// bytes. `verdicts` must be null or point to `verdicts_len` writable bytes. `message` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_decide(
    agents: *const ReptileAgents,
    url: *const c_char,
    url_len: usize,
    verdicts: *mut u8,
    verdicts_len: usize,
    message: *mut *mut c_char,
) -> ReptileCode {
    // SAFETY: this function has the same requirements.
    unsafe { decide_one(agents, url, url_len, None, verdicts, verdicts_len, message) }
}

/// Decides one URL for each crawler by the rules that were active at `time`, in seconds since 1970. The set must be by
/// time (`REPTILE_COMPILE_BY_TIME`, or `reptile compile --by-time`), or the code is `REPTILE_CODE_OTHER`. Otherwise
/// like `reptile_decide`. Thread-safe.
///
/// # Safety
/// As for `reptile_decide`.
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
    // SAFETY: this function has the same requirements.
    unsafe { decide_one(agents, url, url_len, Some(time), verdicts, verdicts_len, message) }
}

/// # Safety
/// As for `reptile_decide`.
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
        // SAFETY: `verdicts` is null or points to `verdicts_len` writable bytes.
        let verdicts = unsafe { border::zeroed(verdicts, verdicts_len, "the verdicts") }?;
        // SAFETY: `agents` is null or live, and is not freed during the call.
        let resolved = unsafe { border::value_unchecked(agents, "the agents") }?;
        let (agents, scope) = (resolved.agents()?, &resolved.scope);
        check_len(1, agents, verdicts)?;
        // SAFETY: `url` is null or points to `url_len` bytes.
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
        if *scope > Scope::Origin {
            decide_in_scope(*scope, &agents.iter().collect::<Vec<_>>(), url, time, decided)?;
        }
        write(decided, verdicts);
        Ok(())
    };
    // SAFETY: `message` is null or writable.
    unsafe { call(message, work) }
}

/// Decides many URLs for each crawler: `verdicts[i * agents + j]` is for URL `i`, which has `url_lens[i]` bytes at
/// `urls[i]`, and crawler `j` of `agents`. `verdicts_len` must be the number of URLs times the number of crawlers. With
/// `all_threads`, the work is spread over all processors; otherwise it runs on the calling thread. Thread-safe.
///
/// Faster per URL than `reptile_decide`. URLs are decided in chunks, which need 16 bytes per URL and 1 byte per
/// verdict: at most 17 MiB.
///
/// # Safety
/// `agents` must be null or agents that are not freed during the call. `urls` and `url_lens` must be null or point to
/// `urls_len` values. Each URL must be null or point to as many bytes as its length says. `verdicts` must be null or
/// point to `verdicts_len` writable bytes. `message` must be null or writable.
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
    // SAFETY: this function has the same requirements.
    unsafe { decide_all(agents, urls, url_lens, None, urls_len, all_threads, verdicts, verdicts_len, message) }
}

/// Decides many URLs for each crawler by the rules that were active at the URL's own time, `times[i]`, in seconds since
/// 1970. The set must be by time, or the code is `REPTILE_CODE_OTHER`. Otherwise like `reptile_decide_many`.
/// Thread-safe.
///
/// # Safety
/// As for `reptile_decide_many`. `times` must be null or point to `urls_len` values.
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
    // SAFETY: this function has the same requirements.
    unsafe { decide_all(agents, urls, url_lens, Some(times), urls_len, all_threads, verdicts, verdicts_len, message) }
}

/// # Safety
/// As for `reptile_decide_many_at`.
#[allow(clippy::too_many_arguments, reason = "mirrors the C functions")]
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
        // SAFETY: `verdicts` is null or points to `verdicts_len` writable bytes.
        let verdicts = unsafe { border::zeroed(verdicts, verdicts_len, "the verdicts") }?;
        // SAFETY: the agents are not freed during the call.
        let agents = unsafe { border::value(agents, "the agents") }?;
        check_len(urls_len, agents.agents()?, verdicts)?;
        // SAFETY: `urls` is null or points to `urls_len` pointers.
        let urls = unsafe { border::values(urls, urls_len, "the URLs") }?;
        // SAFETY: `url_lens` is null or points to `urls_len` lengths.
        let lens = unsafe { border::values(url_lens, urls_len, "the lengths of the URLs") }?;
        // SAFETY: `times` is null or points to `urls_len` times.
        let times = times.map(|times| unsafe { border::values(times, urls_len, "the times") }).transpose()?;
        // SAFETY: each URL is null or points to as many bytes as its length says.
        let done = unsafe { decide_parts(agents, urls, lens, times, all_threads, verdicts) };
        if done.is_err() {
            verdicts.fill(ReptileVerdict::None as u8);
        }
        done
    };
    // SAFETY: `message` is null or writable.
    unsafe { call(message, work) }
}

/// Decides URLs in chunks, to limit memory use.
///
/// # Safety
/// Each URL must be null or point to as many bytes as its length says.
unsafe fn decide_parts(
    agents: &ReptileAgents,
    urls: &[*const c_char],
    lens: &[usize],
    times: Option<&[i64]>,
    all_threads: bool,
    verdicts: &mut [u8],
) -> Result<(), Failure> {
    let (agents, scope) = (agents.agents()?, &agents.scope);
    let each: Vec<&Agent> = agents.iter().collect();
    let rows = (HELD_VERDICTS / agents.len().max(1)).max(1);
    let mut texts: Vec<&[u8]> = Vec::new();
    let mut decided = Vec::new();
    let parts = urls.chunks(rows).zip(lens.chunks(rows)).zip(verdicts.chunks_mut(rows * agents.len().max(1)));
    for (part, ((urls, lens), verdicts)) in parts.enumerate() {
        let times = times.map(|times| times.get(part * rows..part * rows + urls.len()).unwrap_or_default());
        texts.clear();
        for (&url, &len) in urls.iter().zip(lens) {
            // SAFETY: the URL is null or points to `len` bytes.
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
        if *scope > Scope::Origin {
            let again = |(row, verdicts): (usize, &mut [Verdict])| {
                let time = times.and_then(|times| times.get(row).copied());
                decide_in_scope(*scope, &each, texts[row], time, verdicts)
            };
            let width = agents.len().max(1);
            if all_threads {
                in_pool(|| decided.par_chunks_mut(width).enumerate().with_min_len(MIN_ROWS).try_for_each(again))?;
            } else {
                decided.chunks_mut(width).enumerate().try_for_each(again)?;
            }
        }
        write(&decided, verdicts);
    }
    Ok(())
}

/// Decides a URL again by other origins, for crawlers that have no verdict.
fn decide_in_scope(
    scope: Scope,
    agents: &[&Agent],
    url: &[u8],
    time: Option<i64>,
    verdicts: &mut [Verdict],
) -> Result<(), reptile::Error> {
    for (verdict, agent) in verdicts.iter_mut().zip(agents).filter(|(verdict, _)| **verdict == Verdict::Unknown) {
        *verdict = scope.decide(agent, url, time)?;
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
