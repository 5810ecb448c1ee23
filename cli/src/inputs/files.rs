//! Robots.txt files named after their hosts, in a directory or an archive.
//!
//! The first part of a path below the directory is the host, or `host:port`; what follows does not matter, so
//! that `example.com` and `example.com/robots.txt` say the same.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use reptile_compiler::set::origin::OwnedOrigin;
use tar::{Archive, EntryType};

use super::{Fault, Item, Naming, Robots, Sink, read_body, read_sized};
use crate::error::{Failure, Result, printable};

/// Reads every regular file below a directory, in an order that depends on nothing but the names.
pub fn read_directory(root: &Path, naming: &Naming, sink: &mut Sink<'_>) -> Result<()> {
    let mut hosts = Hosts::default();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = match list(&folder) {
            Ok(entries) => entries,
            Err(error) if folder == root => return Err(Failure::at(root, error)),
            Err(error) => {
                let name = folder.display().to_string();
                sink(Item::Bad { name, reason: "unreadable", detail: error.to_string() })?;
                continue;
            }
        };
        for path in entries {
            if is_hidden(path.file_name().unwrap_or_default().as_encoded_bytes()) {
                sink(Item::LeftOut("hidden".into()))?;
                continue;
            }
            // A link to a file counts as the file. A link to a folder could lead in a circle and is not followed.
            let is_folder = fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir());
            if is_folder {
                folders.push(path);
                continue;
            }
            let name = path.display().to_string();
            let below = path.strip_prefix(root).unwrap_or(&path).as_os_str().as_encoded_bytes();
            let origins = match hosts.of(below, naming) {
                Ok(origins) => origins,
                Err(fault) => {
                    sink(fault.item(name))?;
                    continue;
                }
            };
            match fs::metadata(&path) {
                Ok(found) if !found.is_file() => sink(Item::LeftOut("not a regular file".into()))?,
                _ => sink(match read_body(File::open(&path)) {
                    Ok(body) => Item::Robots(Robots::file(name, origins, body)),
                    Err(fault) => fault.item(name),
                })?,
            }
        }
    }
    hosts.remark(root, sink)
}

/// The entries of a folder, in the order of their names.
fn list(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    paths.sort_unstable();
    Ok(paths)
}

/// Reads every regular file of an archive.
pub fn read_tar(path: &Path, source: impl Read, naming: &Naming, sink: &mut Sink<'_>) -> Result<()> {
    let broken = |error: std::io::Error| Failure::at(path, format!("the archive cannot be read: {error}"));
    let mut archive = Archive::new(source);
    let mut hosts = Hosts::default();
    for entry in archive.entries().map_err(broken)? {
        let entry = entry.map_err(broken)?;
        let inside = entry.path_bytes().into_owned();
        let parts = || inside.split(|&byte| byte == b'/').filter(|part| !part.is_empty() && *part != b".");
        match entry.header().entry_type() {
            EntryType::Directory => continue,
            _ if parts().any(is_hidden) => {
                sink(Item::LeftOut("hidden".into()))?;
                continue;
            }
            EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {}
            _ => {
                sink(Item::LeftOut("not a regular file".into()))?;
                continue;
            }
        }
        let name = format!("{}: {}", path.display(), printable(&inside));
        let origins = match hosts.of(&parts().collect::<Vec<_>>().join(&b'/'), naming) {
            Ok(origins) => origins,
            Err(fault) => {
                sink(fault.item(name))?;
                continue;
            }
        };
        let len = entry.size();
        sink(match read_sized(entry, len) {
            Ok(body) => Item::Robots(Robots::file(name, origins, body)),
            // What follows in a broken archive is lost too, and nobody knows what it was.
            Err(Fault::Unreadable(error)) => return Err(broken(error)),
            Err(fault) => fault.item(name),
        })?;
    }
    hosts.remark(path, sink)
}

fn is_hidden(name: &[u8]) -> bool {
    name.first() == Some(&b'.')
}

/// A name that gives no host.
struct Nameless {
    detail: String,
}

impl Nameless {
    fn item(self, name: String) -> Item {
        Item::Bad { name, reason: "no valid host", detail: self.detail }
    }
}

/// The hosts of an input, as far as needed to notice that there is a folder too many above them.
#[derive(Default)]
struct Hosts {
    first: Option<Vec<u8>>,
    differ: bool,
    in_folders: u64,
}

impl Hosts {
    /// The origins of the file at a path below the root.
    fn of(&mut self, below: &[u8], naming: &Naming) -> std::result::Result<Vec<OwnedOrigin>, Nameless> {
        let (host, is_folder) = match below.iter().position(|&byte| byte == b'/') {
            Some(end) => (&below[..end], true),
            None => (below, false),
        };
        if let Naming::Any = naming {
            return Ok(Vec::new());
        }
        if !is_folder && host.eq_ignore_ascii_case(b"robots.txt") {
            return Err(Nameless { detail: "name the file, or the folder that it is in, after its host".into() });
        }
        let origins = naming
            .origins(host)
            .map_err(|error| Nameless { detail: format!("\"{}\" is no host: {error}", printable(host)) })?;
        self.in_folders += u64::from(is_folder);
        match &self.first {
            Some(first) => self.differ |= first != host,
            None => self.first = Some(host.to_vec()),
        }
        Ok(origins)
    }

    /// Warns if all files were for one host.
    fn remark(self, path: &Path, sink: &mut Sink<'_>) -> Result<()> {
        match self.first {
            Some(host) if !self.differ && self.in_folders > 1 => sink(Item::Remark(format!(
                "{}: all {} files are below \"{}\", which is taken as their host; only one of them counts",
                path.display(),
                self.in_folders,
                printable(&host)
            ))),
            _ => Ok(()),
        }
    }
}
