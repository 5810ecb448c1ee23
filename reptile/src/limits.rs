//! Input limits, each with its unit.

pub use reptile_compiler::limits::{MAX_BODY_BYTES, MAX_TIME, MIN_TIME};
pub use reptile_engine::url::MAX_URL_BYTES;
