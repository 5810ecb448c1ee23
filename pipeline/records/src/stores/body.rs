//! An object's bytes in order, from any offset. Broken streams are resumed, and no byte comes from another version of
//! the object.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use object_store::path::Path as Key;
use object_store::{Error, GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore};

use super::ObjectState;
use super::client::{changed, failure};

/// Maximum number of consecutive times that a stream is resumed without receiving a byte. Each time, the store's client
/// also repeats failed requests.
pub const MAX_RESUMES: usize = 5;

/// Wait before the first resumption, in milliseconds. It doubles each time. Tests do not wait.
const RESUME_MILLISECONDS: u64 = if cfg!(test) { 0 } else { 100 };

/// A stream of an object's bytes.
pub type Bodies = BoxStream<'static, object_store::Result<Bytes>>;

/// One version of an object.
pub struct Version {
    store: Arc<dyn ObjectStore>,
    key: Key,
    meta: ObjectMeta,
}

impl Version {
    /// Requests an object. Returns the version that the server sends, and its bytes.
    ///
    /// # Errors
    /// Returns an error if there is no such object, or if it cannot be read.
    pub async fn get(store: Arc<dyn ObjectStore>, key: Key) -> io::Result<(Version, Bodies)> {
        let found = store.get_opts(&key, GetOptions::default()).await.map_err(|error| failure(&error))?;
        let version = Version { store, key, meta: found.meta.clone() };
        Ok((version, found.into_stream()))
    }

    /// Requests an object's state, without its bytes.
    ///
    /// # Errors
    /// Returns the errors of [`Version::get`].
    pub async fn head(store: Arc<dyn ObjectStore>, key: Key) -> io::Result<Version> {
        let options = GetOptions { head: true, ..GetOptions::default() };
        let meta = store.get_opts(&key, options).await.map_err(|error| failure(&error))?.meta;
        Ok(Version { store, key, meta })
    }

    /// Returns the size in bytes.
    pub fn len(&self) -> u64 {
        self.meta.size
    }

    /// Returns the state that the server reported.
    pub fn state(&self) -> ObjectState {
        let seconds = u64::try_from(self.meta.last_modified.timestamp()).ok().filter(|&seconds| seconds > 0);
        let changed = seconds.map(|seconds| (seconds, self.meta.last_modified.timestamp_subsec_nanos()));
        ObjectState { bytes: self.meta.size, changed, etag: self.meta.e_tag.clone() }
    }

    /// Requests some bytes of this version.
    ///
    /// # Errors
    /// Returns an error if the object was changed, or cannot be read by ranges.
    async fn range(&self, range: Range<u64>) -> io::Result<Bodies> {
        // A weak tag never matches in a request, so only the responses are compared.
        let if_match = self.meta.e_tag.clone().filter(|tag| !tag.starts_with("W/"));
        let options = GetOptions { range: Some(GetRange::Bounded(range)), if_match, ..GetOptions::default() };
        let found = self.store.get_opts(&self.key, options).await.map_err(|error| range_failure(&error))?;
        self.check(&found)?;
        Ok(found.into_stream())
    }

    /// Compares a response with the first one.
    ///
    /// # Errors
    /// Returns an error if the object was changed.
    fn check(&self, found: &GetResult) -> io::Result<()> {
        let strong = |meta: &ObjectMeta| meta.e_tag.as_deref().map(|tag| tag.trim_start_matches("W/").to_owned());
        let is_same = match (strong(&self.meta), strong(&found.meta)) {
            (Some(first), Some(now)) => first == now,
            (None, None) => self.meta.last_modified == found.meta.last_modified,
            _ => false,
        };
        if is_same && self.meta.size == found.meta.size { Ok(()) } else { Err(changed()) }
    }

    /// Reads some bytes of this version.
    ///
    /// # Errors
    /// Returns the errors of [`Body::next`].
    pub async fn read(self: &Arc<Version>, range: Range<u64>) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity((range.end - range.start) as usize);
        let mut body = Body::new(Arc::clone(self), range, None);
        while let Some(more) = body.next().await? {
            bytes.extend_from_slice(&more);
        }
        Ok(bytes)
    }
}

/// Explains a server's answer to a request for a range.
fn range_failure(error: &Error) -> io::Error {
    let text = error.to_string();
    let has_no_ranges = matches!(error, Error::NotSupported { .. }) || text.contains("non-partial response");
    match has_no_ranges {
        true => io::Error::new(
            io::ErrorKind::Unsupported,
            "its server does not send ranges of bytes, which are needed here; download the file first",
        ),
        false => failure(error),
    }
}

/// The remaining bytes of a range.
pub struct Body {
    version: Arc<Version>,
    stream: Option<Bodies>,
    left: Range<u64>,
    /// Number of resumptions since the last byte.
    resumes: usize,
}

impl Body {
    /// Prepares to read a range. `stream` are its bytes, if they have been requested.
    pub fn new(version: Arc<Version>, range: Range<u64>, stream: Option<Bodies>) -> Body {
        Body { version, stream, left: range, resumes: 0 }
    }

    /// Returns the number of bytes left.
    pub fn left(&self) -> u64 {
        self.left.end - self.left.start
    }

    /// Skips the remaining bytes.
    pub fn skip(&mut self) {
        self.left.start = self.left.end;
        self.stream = None;
    }

    /// Returns the next bytes, or `None` at the end of the range.
    ///
    /// # Errors
    /// Returns an error if the object was changed, if it cannot be read by ranges after a failure, or if resuming fails
    /// [`MAX_RESUMES`] times without a byte.
    pub async fn next(&mut self) -> io::Result<Option<Bytes>> {
        while self.left() > 0 {
            let stream = match &mut self.stream {
                Some(stream) => stream,
                None => self.stream.insert(self.version.range(self.left.clone()).await?),
            };
            let failed = match stream.next().await {
                Some(Ok(bytes)) if bytes.len() as u64 > self.left() => {
                    return Err(io::Error::other("its server sent more bytes than it announced"));
                }
                Some(Ok(bytes)) if bytes.is_empty() => continue,
                Some(Ok(bytes)) => {
                    self.left.start += bytes.len() as u64;
                    self.resumes = 0;
                    return Ok(Some(bytes));
                }
                Some(Err(error)) => failure(&error),
                None => io::Error::new(io::ErrorKind::UnexpectedEof, "its server sent fewer bytes than it announced"),
            };
            self.stream = None;
            if self.resumes == MAX_RESUMES {
                let at = self.left.start;
                let text = format!("cannot be read on from byte {at} after {MAX_RESUMES} tries: {failed}");
                return Err(io::Error::new(failed.kind(), text));
            }
            tokio::time::sleep(Duration::from_millis(RESUME_MILLISECONDS << self.resumes)).await;
            self.resumes += 1;
        }
        Ok(None)
    }
}
