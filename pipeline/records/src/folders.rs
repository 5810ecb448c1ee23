//! Folders with robots.txt files named after their hosts.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::bodies::read_body;
use super::hosts::{Hosts, Naming, PathOwner, is_hidden};
use super::{Item, Robots, Sink};
use crate::{Error, Result};

/// Reads every regular file in a folder and its subfolders, in an order that depends only on the names.
///
/// # Errors
/// Returns an error if the folder itself cannot be listed. An unreadable subfolder is an [`Item::Bad`].
pub fn read_folder(root: &Path, naming: &Naming, sink: &mut Sink<'_>) -> Result<()> {
    let mut hosts = Hosts::default();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = match list(&folder) {
            Ok(entries) => entries,
            Err(error) if folder == root => return Err(Error::io(root, error)),
            Err(error) => {
                let name = folder.display().to_string();
                sink(Item::Bad { name, reason: "unreadable", detail: error.to_string() })?;
                continue;
            }
        };
        for path in entries {
            if is_hidden(path.file_name().unwrap_or_default().as_encoded_bytes()) {
                sink(Item::left_out("hidden"))?;
            } else if fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir()) {
                // Links to folders do not get here, because they could form a cycle. A link to a file counts as the
                // file.
                folders.push(path);
            } else {
                sink(read_file(root, &path, naming, &mut hosts)?)?;
            }
        }
    }
    Ok(())
}

/// Returns a folder's entries, sorted by name.
fn list(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    paths.sort_unstable();
    Ok(paths)
}

/// Reads a path that is not a folder.
fn read_file(root: &Path, path: &Path, naming: &Naming, hosts: &mut Hosts) -> Result<Item> {
    let name = path.display().to_string();
    let inside = path.strip_prefix(root).unwrap_or(path).as_os_str().as_encoded_bytes();
    let (origins, time) = match hosts.of(inside, naming) {
        Ok(PathOwner::Origins(origins)) => (origins, None),
        Ok(PathOwner::Capture(origins, time)) => (origins, Some(time)),
        Ok(PathOwner::NotRobots(reason)) => return Ok(Item::LeftOut { reason, name: Some(name) }),
        Err(fault) => return Ok(fault.item(name)),
    };
    // Opening a pipe would wait for a writer, so the file type is checked first.
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Ok(Item::left_out("not a regular file"));
    }
    match read_body(File::open(path)) {
        Ok(body) => Ok(Item::Robots(Robots::file(name, origins, body).at(time))),
        Err(fault) => fault.item(name),
    }
}
