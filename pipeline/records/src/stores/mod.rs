//! Inputs and outputs that are not local files: objects in S3, Google Cloud Storage and Azure, and web resources.
//!
//! [`Object`] reads one, in order or by position, and [`Upload`] writes one, which appears when it is complete. All
//! functions take URLs, as [`Place::Remote`](crate::place::Place) has them, and block; the asynchronous runtime is
//! private. Without the feature `stores`, no object can be opened, and every function returns an error that says so.
//!
//! ```
//! use reptile_records::stores::Object;
//!
//! assert!(Object::open("s3://bucket/").is_err(), "a folder is not an object");
//! ```

#[cfg(not(feature = "stores"))]
mod absent;
#[cfg(feature = "stores")]
mod body;
#[cfg(feature = "stores")]
mod client;
#[cfg(feature = "stores")]
mod listing;
#[cfg(feature = "stores")]
mod object;
#[cfg(feature = "stores")]
mod object_name;
#[cfg(all(test, feature = "stores"))]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests;
#[cfg(feature = "stores")]
mod upload;

#[cfg(not(feature = "stores"))]
pub use absent::{Object, Reader, Upload, abort_uploads, expand, list, read_small};
#[cfg(feature = "stores")]
pub use listing::{expand, list, read_small};
#[cfg(feature = "stores")]
pub use object::{Object, Reader};
#[cfg(feature = "stores")]
pub use upload::{Upload, abort_uploads};

/// Number of small objects that a caller should pass to [`read_small`] at once.
pub const SMALL_OBJECTS: usize = 64;

/// A remote object's state, as its server reports it.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectState {
    /// Size in bytes.
    pub bytes: u64,
    /// The time of the last change, in seconds and nanoseconds since 1970, if the server reports it.
    pub changed: Option<(u64, u32)>,
    /// The entity tag, if the server reports it.
    pub etag: Option<String>,
}
