//! Captures, and their outcomes under a fetch profile.
//!
//! ```
//! use reptile::Profile;
//! use reptile::capture::{Capture, Outcome, PROFILES};
//!
//! let google = PROFILES.iter().find(|profile| profile.as_str() == "google").ok_or("no such profile")?;
//! let ok = Capture { status: Some(200), ..Capture::default() };
//! assert_eq!(google.outcome(&ok, b"user-agent: *\ndisallow: /\n"), Outcome::Use);
//! # Ok::<(), &str>(())
//! ```

pub use reptile_compiler::capture::{
    ALL as PROFILES, Capture, Captures, Discarded, KeptCapture, Outcome, Time, challenge_header, max_age, media_type,
};
pub use reptile_compiler::set::{CaptureReport, DiscardedCapture};

pub use crate::explanation::digest_of_hash;

/// Returns a body's digest, as in [`Provenance::capture`](crate::Provenance::capture).
///
/// ```
/// assert_eq!(reptile::capture::digest(b""), "xxh3-64:2d06800538d394c2");
/// ```
#[must_use]
pub fn digest(body: &[u8]) -> String {
    digest_of_hash(reptile_compiler::set::hash_of_body(body))
}
