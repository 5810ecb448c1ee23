//! Memory for compiling a set, and temporary files for data over the limit.
//!
//! The files have no names, so the system removes them when the command ends, even after a crash.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use reptile::MappedFile;
use reptile::build::{CompiledSet, Spool, Store};

use reptile_records::spill::{MAX_BUFFER_BYTES, Scratch};

/// The default memory limit, as typed.
pub const DEFAULT_MEMORY: &str = "2G";

/// Minimum memory limit, in bytes.
pub const MIN_MEMORY: u64 = 16 << 20;

/// Divisor for the memory that a set builder may hold before its part is compiled and written to a file. Compiling
/// takes about twice that memory, while the next part is collected.
const HELD_PART: u64 = 4;

/// Maximum bytes that a builder holds, even with more memory: the next part is collected while one is compiled, so
/// that single-threaded steps do not stop the other threads.
const MAX_HELD_BYTES: u64 = 256 << 20;

/// Divisor for the memory of each redirect buffer; there are five.
const SCRATCH_PART: u64 = 64;

/// How long pages of mapped files may stay in memory.
const RELEASE_INTERVAL: Duration = Duration::from_millis(50);

/// Bytes copied at a time.
const COPIED_BYTES: usize = 1 << 20;

/// Parses a memory limit, such as `512M`, `2G` or `3000000000`.
///
/// # Errors
/// Returns an error if the text is not a size, or if it is below [`MIN_MEMORY`].
pub fn memory(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_uppercase().trim_end_matches('B').trim_end_matches('I') {
        "" => Some(0),
        "K" => Some(10),
        "M" => Some(20),
        "G" => Some(30),
        "T" => Some(40),
        _ => None,
    };
    let number = digits.parse().ok().zip(shift).and_then(|(number, shift): (u64, u32)| number.checked_mul(1 << shift));
    match number {
        None => Err("expected a number of bytes, such as 512M or 2G".into()),
        Some(number) if number < MIN_MEMORY => Err(format!("expected {}M or more", MIN_MEMORY >> 20)),
        Some(number) => Ok(number),
    }
}

/// The memory for compiling a set, and the folder for data over the limit.
pub struct Room {
    memory: u64,
    folder: PathBuf,
}

impl Room {
    /// Creates a limit of `memory` bytes. Temporary files go to `file`'s folder.
    pub fn new(memory: u64, file: &Path) -> Room {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        Room { memory, folder: folder.unwrap_or(Path::new(".")).into() }
    }

    /// Returns whether `held_bytes` reaches the limit for a builder.
    pub fn is_full(&self, held_bytes: usize) -> bool {
        held_bytes as u64 >= self.part_of(HELD_PART).min(MAX_HELD_BYTES)
    }

    /// Returns the memory divided by `parts`.
    pub fn part_of(&self, parts: u64) -> u64 {
        self.memory / parts
    }

    /// Returns how many blocks of `bytes` bytes fit into the memory, at least 1.
    pub fn parts_of(&self, bytes: u64) -> usize {
        usize::try_from(self.memory / bytes).unwrap_or(usize::MAX).max(1)
    }

    /// Returns the memory and folder for data that must wait until all inputs are read.
    pub fn scratch(&self) -> Scratch {
        let buffer_bytes = self.part_of(SCRATCH_PART).min(MAX_BUFFER_BYTES as u64) as usize;
        Scratch { folder: Some(self.folder.clone()), buffer_bytes }
    }

    /// Writes part of a set to a file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written, for example because the disk is full.
    pub fn keep(&self, part: &CompiledSet) -> io::Result<MappedFile> {
        MappedFile::nameless(&self.folder, |mut out| part.write(&mut out)).map_err(|error| self.no_room(&error))
    }

    fn no_room(&self, error: &io::Error) -> io::Error {
        let folder = self.folder.display();
        io::Error::new(error.kind(), format!("{folder}: no room for the temporary files of the set: {error}"))
    }
}

impl Store for Room {
    type Spool = TemporaryFile;

    fn create(&self) -> io::Result<TemporaryFile> {
        let file = tempfile::tempfile_in(&self.folder).map_err(|error| self.no_room(&error))?;
        Ok(TemporaryFile { file, room: Room { memory: self.memory, folder: self.folder.clone() } })
    }
}

/// A file without a name.
pub struct TemporaryFile {
    file: File,
    room: Room,
}

impl Write for TemporaryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(|error| self.room.no_room(&error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(|error| self.room.no_room(&error))
    }
}

impl Spool for TemporaryFile {
    fn copy_to(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut file = &self.file;
        file.rewind()?;
        let mut reader = io::BufReader::with_capacity(COPIED_BYTES, file);
        io::copy(&mut reader, out).map(drop)
    }
}

/// Runs `work` on mapped files of any size. Only recently read pages stay in memory.
pub fn passing_through<R>(files: &[&MappedFile], work: impl FnOnce() -> R) -> R {
    let (end, ended) = mpsc::channel::<()>();
    thread::scope(|scope| {
        // Without the thread, the pages stay in memory; nothing else depends on it.
        let _ = thread::Builder::new().spawn_scoped(scope, move || {
            while ended.recv_timeout(RELEASE_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                files.iter().for_each(|file| file.release());
            }
        });
        let result = work();
        drop(end);
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_parsed_and_checked_against_the_minimum() {
        for (text, expected) in [
            ("2G", Some(2 << 30)),
            ("512m", Some(512 << 20)),
            ("16MiB", Some(16 << 20)),
            ("20480K", Some(20 << 20)),
            ("1T", Some(1 << 40)),
            ("16777215", None),
            ("16777216", Some(16_777_216)),
            ("16777217", Some(16_777_217)),
            ("15M", None),
            ("", None),
            ("G", None),
            ("2X", None),
            ("-1G", None),
            ("99999999999T", None),
        ] {
            assert_eq!(memory(text).ok(), expected, "{text}");
        }
        assert!(memory(DEFAULT_MEMORY).is_ok());
    }

    #[test]
    fn released_pages_can_be_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let bytes: Vec<u8> = (0..8 << 20).map(|at| (at % 251) as u8).collect();
        let file = MappedFile::nameless(folder.path(), |out| out.write_all(&bytes)).unwrap();
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
        for _ in 0..3 {
            assert!(file.as_ref() == bytes);
            file.release();
        }
        assert!(passing_through(&[&file], || file.as_ref() == bytes));
        let empty = MappedFile::nameless(folder.path(), |_| Ok(())).unwrap();
        empty.release();
        assert!(empty.as_ref().is_empty());
    }

    #[test]
    fn errors_name_the_temporary_folder() {
        let folder = tempfile::tempdir().unwrap();
        let room = Room::new(MIN_MEMORY, &folder.path().join("none/out"));
        let error = room.create().err().unwrap().to_string();
        assert!(error.contains("none: no room for the temporary files"), "{error}");
    }
}
