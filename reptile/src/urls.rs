//! URLs split into the parts that decide: origin and path.
//!
//! ```
//! use reptile::urls::split;
//!
//! let (origin, path) = split(b"HTTPS://Example.com/a?b#c")?;
//! assert_eq!((origin.to_string(), &path[..]), ("https://example.com".to_owned(), &b"/a?b"[..]));
//! # Ok::<(), reptile::UrlError>(())
//! ```

pub use reptile_compiler::set::origin::RobotsUrlError;
pub use reptile_engine::host::canonical as canonical_host;
pub use reptile_engine::url::{Origin as OriginRef, origin_of, path_of, split};
