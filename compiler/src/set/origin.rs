//! Origins: the engine's [`OwnedOrigin`], re-exported for building sets.
//!
//! A robots.txt governs only URLs on its own origin. `DIALECTS.md`, section Scope, gives the sources.

pub use reptile_engine::url::{OwnedOrigin, RobotsUrlError};
