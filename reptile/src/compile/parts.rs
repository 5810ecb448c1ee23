//! Parts of a set that exceeds its memory limit. Each part is compiled and written to a file without a name, which
//! the system removes when the process ends, even after a crash.

use std::io::{self, Seek, Write};
#[cfg(feature = "rayon")]
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
#[cfg(feature = "rayon")]
use std::thread::{self, JoinHandle};

use reptile_compiler::automaton::Strategy;
use reptile_compiler::set::SetBuilder;
use reptile_engine::format::TooLarge;
use reptile_engine::platform::MappedFile;
use reptile_engine::spool::{Spool, Store};

use super::threads::AllThreads;
use crate::error::{Error, ErrorKind};

/// Divisor for the memory that a builder may hold before its data is compiled as a part. Compiling takes about twice
/// that memory, while the next part is collected.
const HELD_PART: u64 = 4;

/// Maximum bytes that a builder holds, even with more memory: the next part is collected while one is compiled, so
/// that single-threaded steps do not stop the other threads.
const MAX_HELD_BYTES: u64 = 256 << 20;

/// Bytes copied at a time.
const COPIED_BYTES: usize = 1 << 20;

/// A memory limit, and the folder for data over the limit.
#[derive(Clone)]
pub(super) struct MemoryLimit {
    bytes: u64,
    folder: PathBuf,
}

impl MemoryLimit {
    pub fn new(bytes: u64, folder: PathBuf) -> MemoryLimit {
        MemoryLimit { bytes, folder }
    }

    /// Returns whether a builder that holds this many bytes has to be compiled.
    fn is_reached(&self, held_bytes: usize) -> bool {
        held_bytes as u64 >= (self.bytes / HELD_PART).min(MAX_HELD_BYTES)
    }

    /// Compiles a builder's captures, and writes the part to a file.
    fn compile(&self, mut builder: SetBuilder, strategy: Strategy) -> Result<MappedFile, Error> {
        let part = builder.finish_part(strategy, &AllThreads::quiet()).map_err(|error| too_large(&error))?;
        let file = MappedFile::nameless(&self.folder, |mut out| part.write(&mut out));
        Ok(file.map_err(|error| no_space(&self.folder, &error))?)
    }
}

/// Returns an error about a temporary file that names its folder.
fn no_space(folder: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: no room for the temporary files of the set: {error}", folder.display()))
}

impl Store for MemoryLimit {
    fn create(&self) -> io::Result<Box<dyn Spool>> {
        let file = tempfile::tempfile_in(&self.folder).map_err(|error| no_space(&self.folder, &error))?;
        Ok(Box::new(TemporaryFile { file, folder: self.folder.clone() }))
    }
}

/// A file without a name.
struct TemporaryFile {
    file: std::fs::File,
    folder: PathBuf,
}

impl Write for TemporaryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(|error| no_space(&self.folder, &error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(|error| no_space(&self.folder, &error))
    }
}

impl Spool for TemporaryFile {
    fn copy_to(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut file = &self.file;
        file.rewind()?;
        io::copy(&mut io::BufReader::with_capacity(COPIED_BYTES, file), out).map(drop)
    }
}

/// The compiled parts. A separate thread may be compiling one more.
#[derive(Default)]
pub(super) struct CompiledParts {
    limit: Option<MemoryLimit>,
    compiled: Vec<MappedFile>,
    /// Whether a part was lost because of an error.
    has_lost: bool,
    #[cfg(feature = "rayon")]
    in_progress: Option<JoinHandle<Result<MappedFile, Error>>>,
}

impl CompiledParts {
    /// Sets the limit. Without one, no parts are compiled.
    pub fn set_limit(&mut self, limit: MemoryLimit) {
        self.limit = Some(limit);
    }

    /// Compiles a builder's captures as a part if they reach the limit. Waits for the previous part, but not for this
    /// one.
    ///
    /// # Errors
    /// Returns the error of this part or the previous one. The set is incomplete after this, so that
    /// [`CompiledParts::finish`] fails too.
    pub fn split_off_full(&mut self, builder: &mut SetBuilder, strategy: Strategy) -> Result<(), Error> {
        let Some(limit) = self.limit.clone().filter(|limit| limit.is_reached(builder.held_bytes())) else {
            return Ok(());
        };
        let compiled = self.compile(limit, builder.split_off(), strategy);
        self.has_lost |= compiled.is_err();
        compiled
    }

    fn compile(&mut self, limit: MemoryLimit, part: SetBuilder, strategy: Strategy) -> Result<(), Error> {
        // In a thread pool, the work of another thread would go to the global pool instead.
        #[cfg(feature = "rayon")]
        if rayon::current_thread_index().is_none() {
            self.wait()?;
            let thread = thread::Builder::new().spawn(move || limit.compile(part, strategy));
            let not_started =
                |error: io::Error| io::Error::new(error.kind(), format!("a thread cannot be started: {error}"));
            self.in_progress = Some(thread.map_err(not_started)?);
            return Ok(());
        }
        self.compiled.push(limit.compile(part, strategy)?);
        Ok(())
    }

    /// Waits for the part in progress. Continues a panic of its thread.
    #[cfg(feature = "rayon")]
    fn wait(&mut self) -> Result<(), Error> {
        if let Some(thread) = self.in_progress.take() {
            self.compiled.push(thread.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        Ok(())
    }

    /// Returns all parts, and the limit. If anything has to be merged and there is a limit, the builder's captures
    /// become the last part. `has_sets` says whether there are sets to merge.
    ///
    /// # Errors
    /// Returns an error if a part cannot be compiled or written, or was lost before.
    pub fn finish(
        mut self,
        builder: &mut SetBuilder,
        strategy: Strategy,
        has_sets: bool,
    ) -> Result<(Vec<MappedFile>, Option<MemoryLimit>), Error> {
        #[cfg(feature = "rayon")]
        self.wait()?;
        if self.has_lost {
            return Err(io::Error::other("the set is incomplete, because an earlier part of it was lost").into());
        }
        let (mut parts, limit) = (std::mem::take(&mut self.compiled), self.limit.take());
        let is_merged = has_sets || !parts.is_empty();
        if let Some(limit) = limit.as_ref().filter(|_| is_merged && builder.held_bytes() > 0) {
            parts.push(limit.compile(builder.split_off(), strategy)?);
        }
        Ok((parts, limit))
    }
}

#[cfg(feature = "rayon")]
impl Drop for CompiledParts {
    /// Waits for the thread. Its part is not used, so its errors do not matter.
    fn drop(&mut self) {
        let _ = self.in_progress.take().map(JoinHandle::join);
    }
}

/// Returns the error for a set that exceeds the format.
pub(crate) fn too_large(error: &TooLarge) -> Error {
    Error::new(ErrorKind::Limit, format!("the set cannot be built: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stop_at_the_limit() {
        let limit = |bytes| MemoryLimit::new(bytes, PathBuf::from("."));
        for (memory, held, is_reached) in [
            (400, 99, false),
            (400, 100, true),
            (403, 100, true),
            (404, 100, false),
            (HELD_PART * MAX_HELD_BYTES, MAX_HELD_BYTES - 1, false),
            (HELD_PART * MAX_HELD_BYTES, MAX_HELD_BYTES, true),
            (u64::MAX, MAX_HELD_BYTES - 1, false),
            (u64::MAX, MAX_HELD_BYTES, true),
        ] {
            assert_eq!(limit(memory).is_reached(held as usize), is_reached, "{held} of {memory}");
        }
    }

    #[test]
    fn errors_name_the_temporary_folder() {
        let folder = tempfile::tempdir().unwrap();
        let limit = MemoryLimit::new(1, folder.path().join("none"));
        let error = limit.create().err().unwrap().to_string();
        assert!(error.contains("none: no room for the temporary files"), "{error}");
    }
}
