//! A verdict with its reasons, [`Explanation`], and a verdict's source, [`Provenance`].

use std::fmt;

use reptile_engine::url::MAX_URL_BYTES;
use reptile_engine::verdict::{self, PolicySource, Reason, Rule, RuleKind, Verdict};

use crate::Group;

/// A verdict with its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Explanation {
    /// The verdict.
    pub verdict: Verdict,
    /// Why the group that the crawler obeys applies to it.
    pub group: Group,
    /// The best matching `Allow` rule, whether it decided or not.
    pub allow: Option<Rule>,
    /// The best matching `Disallow` rule, whether it decided or not.
    pub disallow: Option<Rule>,
    /// The kind of the deciding rule. `None` if no rule matches, no group applies to the crawler, or no rules decide.
    pub decided_by: Option<RuleKind>,
    /// The policy source of the URL's origin: the rules of a file, or the result of fetching it.
    pub source: PolicySource,
    /// The reason for the verdict; its text is a few words.
    pub reason: Reason,
}

impl Explanation {
    /// Returns the deciding rule, if there is one. Its line is 0 if the set has no line numbers.
    #[must_use]
    pub fn rule(&self) -> Option<&Rule> {
        match self.decided_by? {
            RuleKind::Allow => self.allow.as_ref(),
            RuleKind::Disallow => self.disallow.as_ref(),
        }
    }

    /// Explains the verdict for a URL whose site is unknown, or for a text that is not a URL.
    pub(crate) fn without_site(url: &[u8], verdict: Verdict) -> Explanation {
        let explained = Explanation::new(verdict::Explanation::without_rule(verdict), Group::None);
        match verdict == Verdict::Invalid && url.len() > MAX_URL_BYTES {
            true => Explanation { reason: Reason::LongUrl, ..explained },
            false => explained,
        }
    }

    pub(crate) fn new(inner: verdict::Explanation, group: Group) -> Explanation {
        let reason = inner.reason();
        let verdict::Explanation { verdict, allow, disallow, decided_by, source } = inner;
        Explanation { verdict, group, allow, disallow, decided_by, source, reason }
    }
}

/// Writes the verdict, then the reason in brackets if there is one: `disallow (503)`, `unknown`.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason {
            Reason::NoRobots | Reason::NoUrl => self.verdict.fmt(f),
            reason => write!(f, "{} ({reason})", self.verdict),
        }
    }
}

/// Returns the text of a body's hash: `xxh3-64:` and 16 hexadecimal digits.
///
/// ```
/// # #[cfg(feature = "compile")]
/// assert_eq!(reptile::capture::digest_of_hash(255), "xxh3-64:00000000000000ff");
/// ```
#[must_use]
pub fn digest_of_hash(hash: u64) -> String {
    format!("xxh3-64:{hash:016x}")
}

/// The capture and ruleset that a verdict was derived from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Provenance {
    /// The deciding capture's fetch time in seconds since 1970. `None` if the set does not know it, or has no capture
    /// for the URL's origin.
    pub fetched_at: Option<i64>,
    /// The deciding ruleset's number, which is the same for equal rules throughout the set, and differs between sets.
    /// `None` if no group applies to the crawler, or no rules decide.
    pub ruleset: Option<u32>,
    /// The XXH3-64 hash of the deciding capture's body. `None` if its body does not decide, or if the set does not know
    /// the hash: for a file without a fetch time or a status, and in a set of one file.
    pub body_hash: Option<u64>,
    /// The deciding capture's status, if the set knows it.
    pub status: Option<u16>,
}

impl Provenance {
    /// Returns what identifies the deciding capture among its origin's: the digest of its body if that decides, or else
    /// its status, if the set knows it.
    ///
    /// A digest is `xxh3-64:` and 16 hexadecimal digits: the hash, without a seed, of the body as it was compiled, after
    /// its content and transfer codings were removed.
    ///
    /// ```
    /// # #[cfg(feature = "compile")] {
    /// use reptile::{Capture, Compiler, Dialect, capture::digest};
    ///
    /// let body = "user-agent: *\ndisallow: /a\n";
    /// let mut compiler = Compiler::new(Dialect::google());
    /// let mut file = Capture::new("https://a.example/robots.txt", body)?;
    /// file.time = Some(1_790_000_000);
    /// compiler.add(file)?;
    /// let mut gone = Capture::without_body("https://b.example/robots.txt")?;
    /// (gone.time, gone.status) = (Some(1_790_000_000), Some(404));
    /// compiler.add(gone)?;
    /// let agent = compiler.finish()?.into_set()?.agent("GPTBot")?;
    /// let capture = |url| agent.provenance(url).map(|found| found.capture());
    /// assert_eq!(capture("https://a.example/a")?, Some(digest(body.as_bytes())));
    /// assert_eq!(capture("https://b.example/a")?.as_deref(), Some("status:404"));
    /// assert_eq!(capture("https://c.example/a")?, None);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn capture(&self) -> Option<String> {
        let digest = self.body_hash.map(digest_of_hash);
        digest.or_else(|| self.status.map(|status| format!("status:{status}")))
    }

    /// Adds the data about a capture.
    pub(crate) fn of_capture(capture: Option<&reptile_engine::format::histories::CaptureRecord>) -> Provenance {
        use reptile_engine::format::histories::FetchOutcome;
        let Some(capture) = capture else { return Provenance::default() };
        let has_body = capture.outcome == FetchOutcome::Rules && capture.body_hash != 0;
        let body_hash = has_body.then_some(capture.body_hash);
        Provenance { fetched_at: capture.time, ruleset: None, body_hash, status: capture.status }
    }
}
