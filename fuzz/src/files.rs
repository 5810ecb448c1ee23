//! Inputs as files: a file per process, in memory if the system has a folder for that.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

static PATH: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    folder.join(format!("reptile-fuzz-{}", std::process::id()))
});

/// Writes the input to this process's file and returns its path. The next call replaces the content.
///
/// # Panics
/// Panics if the file cannot be written.
pub fn written(data: &[u8]) -> &'static Path {
    if let Err(error) = std::fs::write(&*PATH, data) {
        panic!("{}: {error}", PATH.display());
    }
    &PATH
}
