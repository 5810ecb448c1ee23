//! Folders with robots.txt files named after their hosts.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use reptile::Origin;
use reptile::capture::Time;
use reptile::limits::MAX_BODY_BYTES;

use super::bodies::{Fault, read_body, read_sized};
use super::hosts::{Hosts, Naming, PathOwner, is_hidden};
use super::{Item, Robots, Sink};
use crate::place::Place;
use crate::{Error, Result, stores};

/// Reads every regular file in a folder and its subfolders, in an order that depends only on the names. With
/// `skips_unreadable`, a file or subfolder that the system cannot read is an [`Item::Bad`].
///
/// # Errors
/// Returns an error if the folder itself cannot be listed, and without `skips_unreadable` also if a file or subfolder
/// cannot be read. A set without that file would look complete.
pub fn read_folder(root: &Place, naming: &Naming, skips_unreadable: bool, sink: &mut Sink<'_>) -> Result<()> {
    match root {
        Place::Local(root) => read_local(root, naming, skips_unreadable, sink),
        Place::Remote(root) => read_remote(root, naming, skips_unreadable, sink),
    }
}

/// Reads every file in a local folder and its subfolders.
fn read_local(root: &Path, naming: &Naming, skips_unreadable: bool, sink: &mut Sink<'_>) -> Result<()> {
    let mut hosts = Hosts::default();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = match list(&folder) {
            Ok(entries) => entries,
            Err(error) if folder == root => return Err(Error::io(root, error)),
            Err(error) => {
                sink(item_of(&folder, Fault::Unreadable(error), skips_unreadable)?)?;
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
                sink(read_file(root, &path, naming, &mut hosts, skips_unreadable)?)?;
            }
        }
    }
    Ok(())
}

/// Reads every object in a remote folder and its subfolders, in the order of their names, several at the same time.
fn read_remote(root: &str, naming: &Naming, skips_unreadable: bool, sink: &mut Sink<'_>) -> Result<()> {
    let mut hosts = Hosts::default();
    let names = stores::list(root).map_err(|error| Error::io(root, error))?;
    for names in names.chunks(stores::SMALL_OBJECTS) {
        // Objects that are not robots.txt files are not read.
        let mut items = Vec::new();
        for name in names {
            let path = Path::new(name);
            let inside = inside(Path::new(root), path);
            items.push(match inside.split(|&byte| byte == b'/').any(is_hidden) {
                true => Err(Box::new(Item::left_out("hidden"))),
                false => owner(path, inside, naming, &mut hosts),
            });
        }
        let wanted = names.iter().zip(&items).filter(|(_, item)| item.is_ok()).map(|(name, _)| name.clone());
        let mut bodies = stores::read_small(&wanted.collect::<Vec<_>>(), MAX_BODY_BYTES as u64).into_iter();
        for (name, item) in names.iter().zip(items) {
            sink(match item {
                Err(item) => *item,
                Ok((origins, time)) => {
                    let read = bodies.next().unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into()));
                    let body = read.map_err(Fault::Unreadable).and_then(|(len, body)| read_sized(&body[..], len));
                    match body {
                        Ok(body) => Item::Robots(Robots::file(name.clone(), origins, body).at(time)),
                        Err(fault) => item_of(Path::new(name), fault, skips_unreadable)?,
                    }
                }
            })?;
        }
    }
    Ok(())
}

/// Returns a path's part inside a folder.
fn inside<'p>(root: &Path, path: &'p Path) -> &'p [u8] {
    path.strip_prefix(root).unwrap_or(path).as_os_str().as_encoded_bytes()
}

/// Returns a file's origins and its time, according to its name, or the item for a file without origins.
fn owner(
    path: &Path,
    inside: &[u8],
    naming: &Naming,
    hosts: &mut Hosts,
) -> std::result::Result<(Vec<Origin>, Option<Time>), Box<Item>> {
    let name = || path.display().to_string();
    match hosts.of(inside, naming) {
        Ok(PathOwner::Origins(origins)) => Ok((origins, None)),
        Ok(PathOwner::Capture(origins, time)) => Ok((origins, Some(time))),
        Ok(PathOwner::NotRobots(reason)) => Err(Box::new(Item::LeftOut { reason, name: Some(name()) })),
        Err(fault) => Err(Box::new(fault.item(name()))),
    }
}

/// Returns a folder's entries, sorted by name.
fn list(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    paths.sort_unstable();
    Ok(paths)
}

/// Returns the item for a file or subfolder with a problem.
///
/// # Errors
/// Returns an error if the system cannot read it, unless such files are skipped, or if there is not enough memory.
fn item_of(path: &Path, fault: Fault, skips_unreadable: bool) -> Result<Item> {
    match fault {
        Fault::Unreadable(error) if !skips_unreadable => Err(Error::io(path, error)),
        fault => fault.item(path.display().to_string()),
    }
}

/// Reads a path that is not a folder.
fn read_file(root: &Path, path: &Path, naming: &Naming, hosts: &mut Hosts, skips_unreadable: bool) -> Result<Item> {
    let (origins, time) = match owner(path, inside(root, path), naming, hosts) {
        Ok(owner) => owner,
        Err(item) => return Ok(*item),
    };
    // Opening a pipe would wait for a writer, so the file type is checked first.
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Ok(Item::left_out("not a regular file"));
    }
    match read_body(File::open(path)) {
        Ok(body) => Ok(Item::Robots(Robots::file(path.display().to_string(), origins, body).at(time))),
        Err(fault) => item_of(path, fault, skips_unreadable),
    }
}
