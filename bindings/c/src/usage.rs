//! Usage preferences: the website's answer about uses such as `train-ai`.

use std::ffi::c_char;

use reptile::usage::Preference;
use reptile_columns::{UsageColumns, UsageOptions};

use crate::agents::ReptileAgents;
use crate::border::{self, Failure, ReptileCode, call};

/// A website's preference about a use, in one byte.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReptilePreference {
    /// No preference: the call failed. The value is 0, so that memory that was never written allows nothing.
    None = 0,
    /// The website permits the use.
    Allowed = 1,
    /// The website does not permit the use.
    Disallowed = 2,
    /// The website says nothing about the use, or its statement cannot be read.
    Unknown = 3,
    /// The page must not be fetched, so preferences do not apply to it.
    NotApplicable = 4,
}

impl From<Preference> for ReptilePreference {
    fn from(preference: Preference) -> ReptilePreference {
        match preference {
            Preference::Allowed => ReptilePreference::Allowed,
            Preference::Disallowed => ReptilePreference::Disallowed,
            Preference::Unknown => ReptilePreference::Unknown,
            Preference::NotApplicable => ReptilePreference::NotApplicable,
        }
    }
}

/// The statements that preferences are read from. Values may be combined with `|`; the most restrictive statement holds.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReptileUsageLines {
    /// The default: `Content-Usage` lines, and groups whose product token names a use.
    Default = 0,
    /// `Content-Usage` lines.
    Usage = 1,
    /// `Content-Signal` lines.
    Signals = 2,
    /// Groups whose product token names a use.
    Tokens = 4,
    /// Such groups, and the groups for `*` in files where no group names the token.
    DefaultGroup = 8,
    /// Lines of both kinds, and groups for tokens.
    All = 7,
}

/// The uses in a question. Immutable: any number of threads may share them.
pub struct ReptileUses {
    /// The columns about the uses and the purpose.
    pub(crate) columns: UsageColumns,
}

/// Prepares questions about uses, such as `train-ai`, which must be in a vocabulary. `vocabulary` is the name of a
/// vocabulary or a file's path, as in `reptile classify --vocabulary`, or null for the default. `lines` is one or more
/// of `REPTILE_USAGE_LINES_...`, combined with `|`. Wrong names are `REPTILE_CODE_ARGUMENT`. The caller frees the uses
/// with `reptile_uses_free`. Thread-safe.
///
/// # Safety
/// `names` must be null or point to `names_len` NUL-terminated strings. `vocabulary` must be null or NUL-terminated.
/// `uses` and `message` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_uses_new(
    names: *const *const c_char,
    names_len: usize,
    lines: u32,
    vocabulary: *const c_char,
    uses: *mut *mut ReptileUses,
    message: *mut *mut c_char,
) -> ReptileCode {
    // SAFETY: this function has the same requirements.
    let options = || unsafe { options(names, names_len, lines, vocabulary) };
    // SAFETY: `uses` and `message` are null or writable.
    unsafe { border::make(uses, "the uses", message, || prepared(&options()?)) }
}

/// Prepares questions like `reptile_uses_new`, and about a purpose, for the Arrow functions: a single verdict for the
/// fetch and the use `purpose`. `unknown_usage` is the verdict for an unknown preference: `allow`, `disallow` or
/// `unknown`. It is required, because the drafts leave the meaning open. `names_len` may be 0. Thread-safe.
///
/// # Safety
/// As for `reptile_uses_new`. `purpose` and `unknown_usage` must be null or NUL-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_uses_with_purpose(
    names: *const *const c_char,
    names_len: usize,
    lines: u32,
    vocabulary: *const c_char,
    purpose: *const c_char,
    unknown_usage: *const c_char,
    uses: *mut *mut ReptileUses,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: this function has the same requirements.
        let options = unsafe { options(names, names_len, lines, vocabulary) }?;
        // SAFETY: `purpose` is null or NUL-terminated.
        let purpose = unsafe { border::text(purpose, "the purpose") }?;
        // SAFETY: `unknown_usage` is null or NUL-terminated.
        let unknown = unsafe { border::text(unknown_usage, "the verdict for an unknown preference") }?;
        prepared(&UsageOptions {
            purpose: Some(purpose.to_owned()),
            unknown_usage: Some(unknown.to_owned()),
            ..options
        })
    };
    // SAFETY: `uses` and `message` are null or writable.
    unsafe { border::make(uses, "the uses", message, work) }
}

/// # Safety
/// As for `reptile_uses_new`.
unsafe fn options(
    names: *const *const c_char,
    names_len: usize,
    lines: u32,
    vocabulary: *const c_char,
) -> Result<UsageOptions, Failure> {
    // SAFETY: `names` is null or points to `names_len` pointers.
    let names = unsafe { border::values(names, names_len, "the names") }?;
    // SAFETY: each name is null or NUL-terminated.
    let uses = names.iter().map(|&name| unsafe { border::text(name, "the name of a use") }.map(str::to_owned));
    let uses = uses.collect::<Result<Vec<String>, Failure>>()?;
    let lines = names_of(lines)?;
    // SAFETY: `vocabulary` is null or NUL-terminated.
    let vocabulary = unsafe { border::optional_text(vocabulary, "the vocabulary") }?.map(str::to_owned);
    let options = UsageOptions { uses, lines, ..UsageOptions::default() };
    Ok(UsageOptions { vocabulary: vocabulary.unwrap_or_else(|| options.vocabulary.clone()), ..options })
}

/// Returns the names for a combination of [`ReptileUsageLines`], as in [`UsageOptions::lines`].
fn names_of(lines: u32) -> Result<String, Failure> {
    const NAMES: [&str; 4] = ["usage", "signals", "tokens", "default-group"];
    if lines == 0 {
        return Ok(UsageOptions::default().lines);
    }
    if lines >> NAMES.len() != 0 {
        return Err(Failure::argument(format!("the lines are a combination of 1, 2, 4 and 8, not {lines}")));
    }
    let named = (0..).zip(NAMES).filter(|(bit, _)| lines >> bit & 1 != 0);
    Ok(named.map(|(_, name)| name).collect::<Vec<_>>().join(","))
}

/// Prepares the questions of some options.
fn prepared(options: &UsageOptions) -> Result<ReptileUses, Failure> {
    let columns = options.columns().map_err(|error| Failure::argument(error.to_string()))?;
    let columns = columns.ok_or_else(|| Failure::argument("no use is named"))?;
    Ok(ReptileUses { columns })
}

/// Writes a website's preference for each of the uses to `preferences`, for one page and crawler number `agent`.
/// `preferences_len` must be the number of uses. Each byte is one of `REPTILE_PREFERENCE_...`. Thread-safe.
///
/// Scopes do not apply: only the URL's own origin answers.
///
/// # Safety
/// `agents` and `uses` must be null or handles that are not freed during the call. `url` must be null or point to
/// `url_len` bytes. `preferences` must be null or point to `preferences_len` writable bytes. `message` must be null or
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_usage(
    agents: *const ReptileAgents,
    agent: usize,
    url: *const c_char,
    url_len: usize,
    uses: *const ReptileUses,
    preferences: *mut u8,
    preferences_len: usize,
    message: *mut *mut c_char,
) -> ReptileCode {
    // SAFETY: this function has the same requirements.
    unsafe { usage_of(agents, agent, url, url_len, None, uses, preferences, preferences_len, message) }
}

/// Answers like `reptile_usage`, by the rules that were active at `time`, in seconds since 1970. The set must be by
/// time, or the code is `REPTILE_CODE_OTHER`. Thread-safe.
///
/// # Safety
/// As for `reptile_usage`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_usage_at(
    agents: *const ReptileAgents,
    agent: usize,
    url: *const c_char,
    url_len: usize,
    time: i64,
    uses: *const ReptileUses,
    preferences: *mut u8,
    preferences_len: usize,
    message: *mut *mut c_char,
) -> ReptileCode {
    // SAFETY: this function has the same requirements.
    unsafe { usage_of(agents, agent, url, url_len, Some(time), uses, preferences, preferences_len, message) }
}

/// # Safety
/// As for `reptile_usage`.
#[allow(clippy::too_many_arguments, reason = "the arguments of the public functions")]
unsafe fn usage_of(
    agents: *const ReptileAgents,
    agent: usize,
    url: *const c_char,
    url_len: usize,
    time: Option<i64>,
    uses: *const ReptileUses,
    preferences: *mut u8,
    preferences_len: usize,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: `preferences` is null or points to `preferences_len` writable bytes.
        let preferences = unsafe { border::zeroed(preferences, preferences_len, "the preferences") }?;
        // SAFETY: the agents are not freed during the call.
        let agents = unsafe { border::value(agents, "the agents") }?;
        // SAFETY: the uses are not freed during the call.
        let uses = unsafe { border::value(uses, "the uses") }?.columns.shown();
        if preferences.len() != uses.len() {
            let (needed, found) = (uses.len(), preferences.len());
            return Err(Failure::argument(format!("{needed} uses need {needed} preferences, not {found}")));
        }
        let agent = agents.agent(agent)?;
        // SAFETY: `url` is null or points to `url_len` bytes.
        let url = unsafe { border::values(url.cast::<u8>(), url_len, "the URL") }?;
        let found = match time {
            None => agent.usage(url, uses)?,
            Some(time) => agent.usage_at(url, time, uses)?,
        };
        for (to, from) in preferences.iter_mut().zip(found.preferences) {
            *to = ReptilePreference::from(from) as u8;
        }
        Ok(())
    };
    // SAFETY: `message` is null or writable.
    unsafe { call(message, work) }
}

/// Frees uses and sets the caller's variable to null. A null pointer, or a pointer to null, is ignored. Returns
/// `REPTILE_CODE_ARGUMENT` if the uses were already freed through another variable.
///
/// # Safety
/// `uses` must be null or readable and writable. No other thread may be using the uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_uses_free(uses: *mut *mut ReptileUses) -> ReptileCode {
    // SAFETY: `uses` is null or readable and writable, and no other thread uses it.
    unsafe { border::free(uses, "the uses") }
}
