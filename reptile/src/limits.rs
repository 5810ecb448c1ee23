//! Limits of inputs, each with its unit.
//!
//! ```
//! use reptile::{Dialect, Robots, limits::MAX_BODY_BYTES};
//!
//! assert!(Robots::parse(vec![b'#'; MAX_BODY_BYTES], Dialect::google()).is_ok());
//! assert!(Robots::parse(vec![b'#'; MAX_BODY_BYTES + 1], Dialect::google()).is_err());
//! ```

pub use reptile_compiler::limits::{MAX_BODY_BYTES, MAX_PROOF_STEPS, MAX_TIME, MIN_TIME};
pub use reptile_engine::url::MAX_URL_BYTES;
