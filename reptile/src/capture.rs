//! The facts about a fetch, and their meaning.

pub use reptile_compiler::capture::{
    ALL as PROFILES, Capture, Captures, Discarded, KeptCapture, Outcome, Time, challenge_header, max_age, media_type,
};
pub use reptile_compiler::set::{CaptureReport, DiscardedCapture};
