//! Origins: the engine's [`OwnedOrigin`], exported here for builders of sets.
//!
//! A robots.txt governs the URLs of its own origin only. `DIALECTS.md`, section Scope, has the sources.

pub use reptile_engine::url::{OwnedOrigin, RobotsUrlError};
