//! URLs split into the parts that decide: origin and path.
//!
//! ```
//! use reptile::urls::split;
//!
//! let url = split(b"HTTPS://Example.com/a?b#c")?;
//! assert_eq!(url.origin.to_string(), "https://Example.com"); // host names are compared in any case
//! assert!(url.path.with(|path| path == b"/a?b"));
//! # Ok::<(), reptile::UrlError>(())
//! ```

pub use reptile_compiler::set::origin::RobotsUrlError;
pub use reptile_engine::host::canonical as canonical_host;
pub use reptile_engine::url::{Origin as OriginRef, Path, origin_of, path_at_any_origin, path_of, split};
