//! The interface without the feature `stores`: every function that would reach a store returns an error.

use std::io::{self, ErrorKind, Write};

use super::ObjectState;

/// The error's text, worded to follow a name.
const ABSENT: &str = "this build reads and writes only local files; published programs also reach object stores and web \
                      servers, and so does a build with `--features stores`";

fn absent<T>() -> io::Result<T> {
    Err(io::Error::new(ErrorKind::Unsupported, ABSENT))
}

/// A remote object. This build opens none.
#[derive(Clone)]
pub struct Object(());

/// A reader of a remote object, without bytes in this build.
pub type Reader = io::Empty;

impl Object {
    /// Returns an error in this build.
    ///
    /// # Errors
    /// Always returns an error.
    pub fn open(_: &str) -> io::Result<Object> {
        absent()
    }

    /// Returns an error in this build.
    ///
    /// # Errors
    /// Always returns an error.
    pub fn state_at(_: &str) -> io::Result<ObjectState> {
        absent()
    }

    /// Returns the size in bytes.
    pub fn len(&self) -> u64 {
        0
    }

    /// Returns whether the object has no bytes.
    pub fn is_empty(&self) -> bool {
        true
    }

    /// Returns an error in this build.
    ///
    /// # Errors
    /// Always returns an error.
    pub fn read_at(&self, _: u64, _: &mut [u8]) -> io::Result<usize> {
        absent()
    }

    /// Returns a reader from the first byte.
    pub fn into_reader(self) -> Reader {
        io::empty()
    }
}

/// A remote object that is being written. This build creates none.
pub struct Upload(());

impl Upload {
    /// Returns an error in this build.
    ///
    /// # Errors
    /// Always returns an error.
    pub fn create(_: &str, _: bool) -> io::Result<Upload> {
        absent()
    }

    /// Returns an error in this build.
    ///
    /// # Errors
    /// Always returns an error.
    pub fn complete(&mut self) -> io::Result<()> {
        absent()
    }

    /// Returns an error in this build.
    ///
    /// # Errors
    /// Always returns an error.
    pub fn publish(self) -> io::Result<()> {
        absent()
    }

    /// Returns the number of bytes written, and their XXH3-64 hash.
    pub fn identity(&self) -> (u64, u64) {
        (0, 0)
    }
}

impl Write for Upload {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        absent()
    }

    fn flush(&mut self) -> io::Result<()> {
        absent()
    }
}

/// Does nothing in this build, which has no uploads.
pub fn abort_uploads() {}

/// Returns an error in this build.
///
/// # Errors
/// Always returns an error.
pub fn expand(_: &str) -> io::Result<Vec<String>> {
    absent()
}

/// Returns an error in this build.
///
/// # Errors
/// Always returns an error.
pub fn list(_: &str) -> io::Result<Vec<String>> {
    absent()
}

/// Returns an error for each object in this build.
pub fn read_small(urls: &[String], _: u64) -> Vec<io::Result<(u64, Vec<u8>)>> {
    urls.iter().map(|_| absent()).collect()
}
