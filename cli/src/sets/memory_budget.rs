//! Memory for compiling a set, and the folder for data over the limit.

use std::path::{Path, PathBuf};

use reptile_records::place::Place;
use reptile_records::spill::{MAX_BUFFER_BYTES, Scratch};

/// The default memory limit, as typed.
pub const DEFAULT_MEMORY: &str = "2G";

/// Minimum memory limit, in bytes.
pub const MIN_MEMORY: u64 = 16 << 20;

/// Divisor for the memory of each redirect buffer; there are five.
const SCRATCH_PART: u64 = 64;

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
pub struct MemoryBudget {
    bytes: u64,
    folder: PathBuf,
}

impl MemoryBudget {
    /// Creates a limit. Temporary files go to `file`'s folder, or to the system's if `file` is remote.
    pub fn new(bytes: u64, file: &Place) -> MemoryBudget {
        let Place::Local(file) = file else {
            return MemoryBudget { bytes, folder: std::env::temp_dir() };
        };
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        MemoryBudget { bytes, folder: folder.unwrap_or(Path::new(".")).into() }
    }

    /// Returns the limit in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the folder for temporary files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the memory divided by `parts`.
    pub fn part_of(&self, parts: u64) -> u64 {
        self.bytes / parts
    }

    /// Returns how many blocks of `bytes` bytes fit into the memory, at least 1.
    pub fn parts_of(&self, bytes: u64) -> usize {
        usize::try_from(self.bytes / bytes).unwrap_or(usize::MAX).max(1)
    }

    /// Returns the memory and folder for data that must wait until all inputs are read.
    pub fn scratch(&self) -> Scratch {
        let buffer_bytes = self.part_of(SCRATCH_PART).min(MAX_BUFFER_BYTES as u64) as usize;
        Scratch { folder: Some(self.folder.clone()), buffer_bytes }
    }
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
}
