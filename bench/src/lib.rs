//! What the benchmarks share: finding and loading their inputs.
//!
//! The large inputs are real files that belong to others. They are read from a folder beside the workspace,
//! `../shared`, or the one that `REPTILE_SHARED` names, and are never part of it.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

/// A real robots.txt: its host and its bytes.
pub type RealFile = (String, Vec<u8>);

/// The folder of real inputs, or `None` where it is absent.
#[must_use]
pub fn shared() -> Option<PathBuf> {
    let named = std::env::var_os("REPTILE_SHARED").map(PathBuf::from);
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    Some(named.unwrap_or_else(beside)).filter(|path| path.is_dir())
}

/// Every real robots.txt, in the order of the archive.
///
/// # Errors
/// When the archive cannot be read.
pub fn real_files(shared: &Path) -> io::Result<Vec<RealFile>> {
    let mut archive = tar::Archive::new(GzDecoder::new(File::open(shared.join("corpora/real/robots.tar.gz"))?));
    let mut files = Vec::new();
    for entry in archive.entries()? {
        let mut entry = entry?;
        if entry.header().entry_type().is_file() {
            let host = entry.path()?.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let mut body = Vec::new();
            entry.read_to_end(&mut body)?;
            files.push((host, body));
        }
    }
    Ok(files)
}

/// The lines of a file, which may be compressed.
///
/// # Errors
/// When it cannot be read.
pub fn lines(path: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut text = Vec::new();
    let mut file = File::open(path)?;
    if path.extension().is_some_and(|extension| extension == "gz") {
        GzDecoder::new(file).read_to_end(&mut text)?;
    } else {
        file.read_to_end(&mut text)?;
    }
    Ok(text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect())
}

/// The five benchmark files: a name, the host whose robots.txt it is, and how many rules that has.
pub const W2: [(&str, &str); 5] = [
    ("p50", "www.chapters.indigo.ca"),
    ("p90", "www.concur.com"),
    ("p99", "www.meetup.com"),
    ("star", "www.etsy.com"),
    ("max", "docs.oracle.com"),
];
