//! Writes an object that becomes visible when it is complete: in one request, or in parts that are joined at the end.

use std::collections::HashMap;
use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use object_store::multipart::{MultipartStore, PartId};
use object_store::path::Path as Key;
use object_store::{Error, ObjectStore, PutMode, PutOptions, PutPayload};
use tokio::task::JoinSet;
use tokio::time::timeout;
use xxhash_rust::xxh3::Xxh3Default;

use super::ObjectState;
use super::body::Version;
use super::client::{Purpose, Store, block_on, connect, failure, runtime};
use super::object_name::{ObjectName, invalid};

/// Number of bytes in a part. All parts but the last have this size, which some stores require.
pub(super) const PART_BYTES: usize = 16 << 20;

/// Maximum number of parts in an object, as in S3.
const MAX_PARTS: usize = 10_000;

/// Maximum number of parts that are sent at the same time.
const MAX_PARTS_IN_FLIGHT: usize = 4;

/// Maximum time in seconds for removing the parts of an object that was not completed.
const MAX_ABORT_SECONDS: u64 = 10;

/// Uploads in parts that are not complete, by number.
static UNFINISHED: Mutex<Option<(u64, HashMap<u64, Started>)>> = Mutex::new(None);

/// An unfinished upload, whose parts can be removed.
#[derive(Clone)]
struct Started {
    parts: Arc<dyn MultipartStore>,
    key: Key,
    id: String,
}

/// An object that is being written.
pub struct Upload {
    objects: Arc<dyn ObjectStore>,
    parts: Arc<dyn MultipartStore>,
    key: Key,
    /// Whether an existing object is replaced.
    force: bool,
    /// The state of the object that will be replaced.
    before: Option<ObjectState>,
    buffer: Vec<u8>,
    /// The parts, if the object has several.
    several: Option<UploadParts>,
    hash: Box<Xxh3Default>,
    bytes: u64,
}

struct UploadParts {
    started: Started,
    /// The upload's number in [`UNFINISHED`].
    number: u64,
    sending: JoinSet<(usize, object_store::Result<PartId>)>,
    /// The parts that were sent, by index.
    sent: Vec<Option<PartId>>,
}

impl Upload {
    /// Prepares to write the object with a name.
    ///
    /// # Errors
    /// Returns an error if the name is invalid, if the store cannot be reached, or if the object exists and `force` is
    /// not given.
    pub fn create(url: &str, force: bool) -> io::Result<Upload> {
        let name = ObjectName::of(url)?;
        let Store { objects, parts } = connect(&name, Purpose::Write)?;
        let parts = parts.ok_or_else(|| {
            invalid("is on a web server, which cannot be written to; write to s3://, gs://, az:// or a file")
        })?;
        Upload::of(objects, parts, name.key()?, force)
    }

    pub(super) fn of(
        objects: Arc<dyn ObjectStore>,
        parts: Arc<dyn MultipartStore>,
        key: Key,
        force: bool,
    ) -> io::Result<Upload> {
        // Also reports a missing bucket and wrong credentials, before any work.
        let before = match state(&objects, &key) {
            // With permission only to write, it is unknown whether the object exists. With `force`, it is irrelevant.
            Err(error) if force && error.kind() == ErrorKind::PermissionDenied => None,
            before => before?,
        };
        if before.is_some() && !force {
            return Err(ErrorKind::AlreadyExists.into());
        }
        let (buffer, hash) = (Vec::new(), Box::<Xxh3Default>::default());
        Ok(Upload { objects, parts, key, force, before, buffer, several: None, hash, bytes: 0 })
    }

    /// Returns the number of bytes written, and their XXH3-64 hash.
    pub fn identity(&self) -> (u64, u64) {
        (self.bytes, self.hash.digest())
    }

    /// Sends the first bytes of the buffer as a part.
    fn send(&mut self, len: usize) -> io::Result<()> {
        let rest = self.buffer.split_off(len);
        let part = PutPayload::from(std::mem::replace(&mut self.buffer, rest));
        let parts = match &mut self.several {
            Some(parts) => parts,
            None => self.several.insert(UploadParts::start(Arc::clone(&self.parts), self.key.clone())?),
        };
        parts.send(part)
    }

    /// Sends the remaining bytes. The object is not visible yet.
    ///
    /// # Errors
    /// Returns an error if a part cannot be sent.
    pub fn complete(&mut self) -> io::Result<()> {
        if self.several.is_none() {
            return Ok(());
        }
        if !self.buffer.is_empty() {
            self.send(self.buffer.len())?;
        }
        if let Some(parts) = &mut self.several {
            while !parts.sending.is_empty() {
                parts.wait()?;
            }
        }
        Ok(())
    }

    /// Makes the object visible, after [`Upload::complete`].
    ///
    /// # Errors
    /// Returns an error of the kind [`ErrorKind::AlreadyExists`] if an object was created in the meantime and must not
    /// be replaced, and other errors if the store refuses the object.
    pub fn publish(mut self) -> io::Result<()> {
        self.complete()?;
        let Some(parts) = self.several.take() else { return self.put() };
        // Joining parts cannot be conditional, so this look-up misses an object that is created after it.
        if !self.force && state(&self.objects, &self.key)?.is_some() {
            return Err(ErrorKind::AlreadyExists.into());
        }
        let ids: Option<Vec<PartId>> = parts.sent.iter().cloned().collect();
        let ids = ids.ok_or_else(|| io::Error::other("internal error: a part was not sent; please report it"))?;
        let Started { parts: store, key, id } = &parts.started;
        let joined = block_on(store.complete_multipart(key, id, ids))?;
        match joined {
            Ok(_) => {}
            // The response may be lost although the parts were joined.
            Err(error) if !self.is_written()? => return Err(refused(&error)),
            Err(_) => {}
        }
        parts.forget();
        Ok(())
    }

    /// Writes a small object in one request.
    fn put(&mut self) -> io::Result<()> {
        let payload = PutPayload::from(std::mem::take(&mut self.buffer));
        let mode = if self.force { PutMode::Overwrite } else { PutMode::Create };
        let put = |mode| self.objects.put_opts(&self.key, payload.clone(), PutOptions::from(mode));
        match block_on(put(mode))? {
            Err(Error::NotImplemented { .. } | Error::NotSupported { .. }) if !self.force => {
                // The store has no conditional writes, so this look-up misses an object that is created after it.
                if state(&self.objects, &self.key)?.is_some() {
                    return Err(ErrorKind::AlreadyExists.into());
                }
                block_on(put(PutMode::Overwrite))?.map(drop).map_err(|error| refused(&error))
            }
            written => written.map(drop).map_err(|error| refused(&error)),
        }
    }

    /// Returns whether the store has this upload's object, after joining has failed.
    fn is_written(&self) -> io::Result<bool> {
        let now = state(&self.objects, &self.key)?;
        Ok(now.as_ref().is_some_and(|now| now.bytes == self.bytes) && now != self.before)
    }
}

impl Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        self.buffer.extend_from_slice(bytes);
        while self.buffer.len() > PART_BYTES {
            self.send(PART_BYTES)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // Parts have a fixed size, so the buffered bytes wait for more.
        Ok(())
    }
}

impl UploadParts {
    fn start(parts: Arc<dyn MultipartStore>, key: Key) -> io::Result<UploadParts> {
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        // The lock is held until the upload is registered, so that an interrupt removes it.
        let id = block_on(parts.create_multipart(&key))?.map_err(|error| refused(&error))?;
        let (next, all) = unfinished.get_or_insert_default();
        let (number, started) = (*next, Started { parts, key, id });
        *next += 1;
        all.insert(number, started.clone());
        Ok(UploadParts { started, number, sending: JoinSet::new(), sent: Vec::new() })
    }

    fn send(&mut self, part: PutPayload) -> io::Result<()> {
        let index = self.sent.len();
        check_count(index + 1)?;
        while self.sending.len() >= MAX_PARTS_IN_FLIGHT {
            self.wait()?;
        }
        self.sent.push(None);
        let Started { parts, key, id } = self.started.clone();
        let send = async move { (index, parts.put_part(&key, &id, index, part).await) };
        self.sending.spawn_on(send, runtime()?.handle());
        Ok(())
    }

    /// Waits until a part was sent.
    fn wait(&mut self) -> io::Result<()> {
        match block_on(self.sending.join_next())? {
            Some(Ok((index, part))) => {
                self.sent[index] = Some(part.map_err(|error| refused(&error))?);
                Ok(())
            }
            Some(Err(error)) => Err(io::Error::other(error.to_string())),
            None => Ok(()),
        }
    }

    /// Removes the upload from [`UNFINISHED`].
    fn forget(&self) -> Option<Started> {
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        unfinished.as_mut().and_then(|(_, all)| all.remove(&self.number))
    }
}

impl Drop for UploadParts {
    fn drop(&mut self) {
        self.sending.abort_all();
        if let Some(started) = self.forget() {
            abort([started]);
        }
    }
}

fn check_count(parts: usize) -> io::Result<()> {
    let most = MAX_PARTS as u64 * PART_BYTES as u64;
    match parts > MAX_PARTS {
        true => Err(io::Error::other(format!("is larger than {most} bytes; write several smaller outputs"))),
        false => Ok(()),
    }
}

/// Removes the sent parts of all uploads that are not complete, for a program that ends early. No upload can begin or
/// become complete afterwards.
pub fn abort_uploads() {
    let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, all)) = &*unfinished {
        abort(all.values().cloned());
    }
    // Never unlocked: the program is about to end.
    std::mem::forget(unfinished);
}

/// Removes the sent parts of uploads, as far as possible within the time limit.
fn abort(uploads: impl IntoIterator<Item = Started>) {
    let all = uploads.into_iter().map(|Started { parts, key, id }| async move {
        // A store also removes old parts by its own rules.
        let _ = parts.abort_multipart(&key, &id).await;
    });
    let all = async { timeout(Duration::from_secs(MAX_ABORT_SECONDS), join_all(all)).await };
    let _ = block_on(all);
}

/// Converts the error of a request that writes.
fn refused(error: &Error) -> io::Error {
    match error {
        Error::NotFound { .. } => io::Error::new(ErrorKind::NotFound, "there is no such bucket or container"),
        _ => failure(error),
    }
}

/// Returns an object's state, or `None` if there is none.
fn state(objects: &Arc<dyn ObjectStore>, key: &Key) -> io::Result<Option<ObjectState>> {
    match block_on(Version::head(Arc::clone(objects), key.clone()))? {
        Ok(version) => Ok(Some(version.state())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stop_at_the_limit() {
        for (parts, fits) in [(MAX_PARTS - 1, true), (MAX_PARTS, true), (MAX_PARTS + 1, false)] {
            assert_eq!(check_count(parts).is_ok(), fits, "{parts}");
        }
    }
}
