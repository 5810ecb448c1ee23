//! Origins, which are the engine's, under the name that builders of sets look for: see [`OwnedOrigin`].
//!
//! A robots.txt governs the URLs of its own origin only. `DIALECTS.md`, section Scope, has the sources.

pub use reptile_engine::url::{OwnedOrigin, RobotsUrlError};
