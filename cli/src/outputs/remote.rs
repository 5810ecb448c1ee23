//! Remote outputs: sent while they are written, or from a temporary file that can be read first.

use std::fs::File;
use std::io::{self, ErrorKind, Write};

use std::path::Path;

use tempfile::NamedTempFile;

use super::identity::Identity;
use crate::error::{Failure, Result};
use reptile_records::stores::Upload;

/// A remote output that is not visible yet.
pub struct Remote {
    upload: Upload,
    /// The bytes, if they can be read before they are sent.
    spool: Option<NamedTempFile>,
}

impl Remote {
    /// Prepares to send the bytes while they are written.
    ///
    /// # Errors
    /// Returns an error if the name is invalid, if the store cannot be reached, or if the object exists and `force` is
    /// not given.
    pub fn stream(url: &str, force: bool) -> Result<Remote> {
        let upload = Upload::create(url, force).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => Failure::at(url, "exists already; --force replaces it"),
            _ => Failure::at(url, error),
        })?;
        Ok(Remote { upload, spool: None })
    }

    /// Prepares to write the bytes to a temporary file first.
    ///
    /// # Errors
    /// Returns the errors of [`Remote::stream`], and an error if there can be no temporary file.
    pub fn spool(url: &str, force: bool) -> Result<Remote> {
        let remote = Remote::stream(url, force)?;
        let spool = tempfile::Builder::new().prefix(".reptile-").tempfile();
        let spool = spool.map_err(|error| Failure::at(std::env::temp_dir(), format!("no temporary file: {error}")))?;
        Ok(Remote { spool: Some(spool), ..remote })
    }

    /// Returns the temporary file's path, if there is one.
    pub fn path(&self) -> Option<&Path> {
        self.spool.as_ref().map(NamedTempFile::path)
    }

    /// Returns the identity of the bytes.
    ///
    /// # Errors
    /// Returns an error if the temporary file cannot be read.
    pub fn identity(&self) -> io::Result<Identity> {
        match &self.spool {
            Some(file) => Identity::of_file(file.path()),
            None => {
                let (bytes, hash) = self.upload.identity();
                Ok(Identity::of_hash(bytes, hash))
            }
        }
    }

    /// Sends the bytes that were written, except those in a temporary file.
    ///
    /// # Errors
    /// Returns an error if they cannot be sent.
    pub fn complete(&mut self) -> io::Result<()> {
        match &self.spool {
            Some(_) => Ok(()),
            None => self.upload.complete(),
        }
    }

    /// Sends the bytes in the temporary file.
    ///
    /// # Errors
    /// Returns an error if they cannot be read or sent.
    pub fn send(&mut self) -> io::Result<()> {
        if let Some(file) = self.spool.take() {
            io::copy(&mut File::open(file.path())?, &mut self.upload)?;
            self.upload.complete()?;
        }
        Ok(())
    }

    /// Makes the object visible, after [`Remote::send`].
    ///
    /// # Errors
    /// Returns an error if the store refuses it, of the kind [`ErrorKind::AlreadyExists`] if it was created in the
    /// meantime.
    pub fn publish(self) -> io::Result<()> {
        self.upload.publish()
    }
}

impl Write for Remote {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.spool {
            Some(file) => file.write(bytes),
            None => self.upload.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.spool {
            Some(file) => file.flush(),
            None => self.upload.flush(),
        }
    }
}
