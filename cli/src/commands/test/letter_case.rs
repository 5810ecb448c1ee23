//! The remark on a path that has another verdict in the letter case of a rule.
//!
//! Paths are compared with their letter case, so `/private` is open under `Disallow: /Private`. The file in lower case
//! finds the rule that would decide, and the verdict for the path in that rule's letter case confirms the remark.

use memchr::memmem;
use reptile_records::place::Place;

use reptile::contents::{Agent, Set};
use reptile::crawlers::Resolved;
use reptile::explain::ExplainedFile;
use reptile::{Dialect, Verdict};

use super::args::Fetch;
use super::shown::shown;
use crate::error::{Result, damaged};
use crate::sets::single::{ONE_ORIGIN, compile_capture};
use reptile::capture::Capture;

/// Maximum size in bytes of a file for which there are remarks. Each remark needs a second compiled set. Google and
/// Yandex read half of this.
const MAX_LOWER_CASE_BYTES: usize = 1 << 20;

/// A file in lower case, under one dialect.
pub struct LowerCase {
    set: Set<Vec<u8>>,
    agents: Vec<Agent>,
}

impl LowerCase {
    /// Compiles a file in lower case, unless it is longer than [`MAX_LOWER_CASE_BYTES`].
    pub fn new(
        name: &Place,
        body: &[u8],
        dialect: &'static Dialect,
        fetch: Fetch,
        agents: &[Resolved],
    ) -> Result<Option<LowerCase>> {
        if body.len() > MAX_LOWER_CASE_BYTES {
            return Ok(None);
        }
        let capture = Capture { status: fetch.status, ..Capture::default() };
        let bytes = compile_capture(name, &body.to_ascii_lowercase(), dialect, fetch.profile, &capture)?;
        let set = Set::from_bytes(bytes).map_err(|error| damaged(name, &error))?;
        let agents = agents.iter().map(|agent| agent.look_up(&set)).collect::<std::result::Result<_, _>>();
        Ok(Some(LowerCase { agents: agents.map_err(|error| damaged(name, &error))?, set }))
    }

    /// Returns the remark on a path, if its verdict differs in the letter case of a rule. `set` is the file as written,
    /// and `looked_up` the agent in it.
    ///
    /// # Errors
    /// Returns an error if a set is damaged.
    pub fn remark(
        &self,
        file: &ExplainedFile<'_>,
        (set, looked_up): (&Set<Vec<u8>>, &Agent),
        agent: usize,
        path: &[u8],
        verdict: Verdict,
    ) -> std::result::Result<Option<String>, reptile::Error> {
        let (Some(policy), Some(lower)) = (set.policy(&ONE_ORIGIN)?, self.set.policy(&ONE_ORIGIN)?) else {
            return Ok(None);
        };
        let answer = lower.explain(&self.agents[agent], &path.to_ascii_lowercase())?;
        let rule = answer.rule().filter(|_| answer.verdict != verdict);
        let Some(line) = rule.map(|rule| rule.line) else { return Ok(None) };
        let Some(written) = file.rule_at(line) else { return Ok(None) };
        let form = file.dialect().normal_form;
        let Some(other) = in_case_of(&form.path(path), &form.pattern(written.value)) else { return Ok(None) };
        let other_verdict = policy.explain(looked_up, &other)?.verdict;
        Ok((other_verdict != verdict).then(|| {
            let other = shown(&form.shown(&other), false);
            format!("letter case counts: {other}, as in line {line}, has the verdict {other_verdict}")
        }))
    }
}

/// Returns a path in the letter case of a pattern, or `None` if they differ in more than letter case.
fn in_case_of(path: &[u8], pattern: &[u8]) -> Option<Vec<u8>> {
    let (lower, mut path) = (path.to_ascii_lowercase(), path.to_vec());
    let (pattern, is_anchored) = match pattern.strip_suffix(b"$") {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let last = pattern.iter().filter(|&&byte| byte == b'*').count();
    let mut from = 0;
    for (index, segment) in pattern.split(|&byte| byte == b'*').enumerate() {
        let rest = lower.get(from..)?;
        let at = match index {
            0 => 0,
            _ if index == last && is_anchored => rest.len().checked_sub(segment.len())?,
            _ if segment.is_empty() => 0,
            // A comparison at each position would take time proportional to the product of the lengths.
            _ => memmem::find(rest, &segment.to_ascii_lowercase())?,
        };
        let found = path.get_mut(from + at..from + at + segment.len())?;
        if !found.eq_ignore_ascii_case(segment) {
            return None;
        }
        found.copy_from_slice(segment);
        from += at + segment.len();
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_take_the_letter_case_of_a_pattern() {
        for (path, pattern, expected) in [
            ("/private/x", "/Private", Some("/Private/x")),
            ("/a/FOO/b.PDF", "/*foo*.pdf$", Some("/a/foo/b.pdf")),
            ("/a.PDF/x.pdf", "/*.Pdf$", Some("/a.PDF/x.Pdf")),
            ("/a", "/*", Some("/a")),
            ("/privat", "/Private", None),
            ("/a/b", "/*/C", None),
        ] {
            let found = in_case_of(path.as_bytes(), pattern.as_bytes());
            assert_eq!(found.as_deref(), expected.map(str::as_bytes), "{path} {pattern}");
        }
    }
}
