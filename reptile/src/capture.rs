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
