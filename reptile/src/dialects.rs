//! The known dialects. [`Dialect::from_name`](crate::Dialect::from_name) finds one by its name.
//!
//! ```
//! use reptile::{Dialect, dialects};
//!
//! assert!(dialects::ALL.iter().all(|dialect| Dialect::from_name(dialect.as_str()) == Some(dialect)));
//! ```

pub use reptile_compiler::dialect::{ALL, DEFAULT, GOOGLE, GOOGLE_LIB, KOSTER_1994, RFC9309, YANDEX};
