//! Tar archives of robots.txt files named after their hosts.

use std::io::Read;
use std::path::Path;

use tar::{Archive, Entry, EntryType};

use super::bodies::{Fault, read_sized};
use super::hosts::{Hosts, Naming, is_hidden};
use super::{Item, Robots, Sink};
use crate::error::{Failure, Result};
use crate::outputs::text::printable;

/// Reads every regular file of an archive.
///
/// # Errors
/// If the archive is cut or damaged: what follows the damage is lost, and nobody knows what it was.
pub fn read_tar(path: &Path, source: impl Read, naming: &Naming, sink: &mut Sink<'_>) -> Result<()> {
    let mut archive = Archive::new(source);
    let mut hosts = Hosts::default();
    for entry in archive.entries().map_err(|error| unreadable(path, &error))? {
        let entry = entry.map_err(|error| unreadable(path, &error))?;
        if let Some(item) = read_entry(path, entry, naming, &mut hosts)? {
            sink(item)?;
        }
    }
    hosts.remark(path, sink)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::at(path, format!("the archive cannot be read: {error}"))
}

/// Reads one entry; `None` is a folder.
fn read_entry<R: Read>(path: &Path, entry: Entry<'_, R>, naming: &Naming, hosts: &mut Hosts) -> Result<Option<Item>> {
    let inside = entry.path_bytes().into_owned();
    let parts = || inside.split(|&byte| byte == b'/').filter(|part| !part.is_empty() && *part != b".");
    match entry.header().entry_type() {
        EntryType::Directory => return Ok(None),
        _ if parts().any(is_hidden) => return Ok(Some(Item::LeftOut("hidden".into()))),
        EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {}
        _ => return Ok(Some(Item::LeftOut("not a regular file".into()))),
    }
    let name = format!("{}: {}", path.display(), printable(&inside));
    let origins = match hosts.of(&parts().collect::<Vec<_>>().join(&b'/'), naming) {
        Ok(origins) => origins,
        Err(fault) => return Ok(Some(fault.item(name))),
    };
    let len = entry.size();
    match read_sized(entry, len) {
        Ok(body) => Ok(Some(Item::Robots(Robots::file(name, origins, body)))),
        Err(Fault::Unreadable(error)) => Err(unreadable(path, &error)),
        Err(fault) => Ok(Some(fault.item(name))),
    }
}
