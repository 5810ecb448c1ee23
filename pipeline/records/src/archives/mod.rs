//! Tar archives with robots.txt files named after their hosts.
//!
//! [`members`] reads an archive, and this module turns its members into robots.txt files. Sparse files and hard links
//! are reported as invalid: they are hardly ever intended, and an incomplete body would give wrong verdicts.

mod members;
pub(crate) mod wacz;

use std::io::Read;

use super::bodies::{Fault, read_sized};
use super::hosts::{Hosts, Naming, PathOwner, is_hidden};
use super::shown::shown;
use super::{Item, Robots, Sink};
use crate::place::Place;
use crate::text::grouped;
use crate::{Error, Result};
pub use members::is_header as is_tar;
use members::{AfterEnd, Member, MemberKind, Members};

/// Maximum bytes after an archive's end that a message shows.
const SHOWN_BYTES: usize = 20;

/// Reads every regular file in an archive.
///
/// # Errors
/// Returns an error if the archive is truncated or damaged, because the rest cannot be read.
pub fn read_tar(path: &Place, source: impl Read, naming: &Naming, sink: &mut Sink<'_>) -> Result<()> {
    let mut members = Members::new(source);
    let mut hosts = Hosts::default();
    while let Some(member) = members.next().map_err(|error| unreadable(path, &error))? {
        if let Some(item) = read_member(path, member, &mut members, naming, &mut hosts)? {
            sink(item)?;
        }
    }
    if let Some(AfterEnd { offset, len, start }) = members.after_end().map_err(|error| unreadable(path, &error))? {
        let (what, advice) = match is_tar(&start) {
            true => ("another archive".into(), "; give archives that were put together end to end one by one"),
            false => (format!("\"{}\"", shown(&start[..start.len().min(SHOWN_BYTES)])), ""),
        };
        let (offset, len) = (grouped(offset), grouped(len));
        return Err(Error::at(
            path,
            format!(
                "data after the end of an archive: {len} bytes are not read, from byte {offset} on, where {what} \
                 begins{advice}"
            ),
        ));
    }
    Ok(())
}

fn unreadable(path: &Place, error: &std::io::Error) -> Error {
    Error::at(path, format!("the archive cannot be read: {error}"))
}

/// Reads one member, or returns `None` for a folder.
fn read_member<R: Read>(
    archive: &Place,
    member: Member,
    members: &mut Members<R>,
    naming: &Naming,
    hosts: &mut Hosts,
) -> Result<Option<Item>> {
    let Member { path, kind, size } = member;
    let parts = || path.split(|&byte| byte == b'/').filter(|part| !part.is_empty() && *part != b".");
    let name = || format!("{}: {}", archive.display(), shown(&path));
    let bad = |reason, detail: &str| Ok(Some(Item::Bad { name: name(), reason, detail: detail.into() }));
    match kind {
        MemberKind::Folder => return Ok(None),
        MemberKind::Faulty(fault) => return bad("malformed member of an archive", fault),
        _ if parts().any(is_hidden) => return Ok(Some(Item::left_out("hidden"))),
        MemberKind::File => {}
        MemberKind::Sparse => return bad("sparse file in an archive", "make the archive without --sparse"),
        MemberKind::HardLink => return bad("hard link in an archive", "make the archive with --hard-dereference"),
        MemberKind::Other => return Ok(Some(Item::left_out("not a regular file"))),
    }
    let (origins, time) = match hosts.of(&parts().collect::<Vec<_>>().join(&b'/'), naming) {
        Ok(PathOwner::Origins(origins)) => (origins, None),
        Ok(PathOwner::Capture(origins, time)) => (origins, Some(time)),
        Ok(PathOwner::NotRobots(reason)) => return Ok(Some(Item::LeftOut { reason, name: Some(name()) })),
        Err(fault) => return Ok(Some(fault.item(name()))),
    };
    match read_sized(members.body(), size) {
        Ok(body) => Ok(Some(Item::Robots(Robots::file(name(), origins, body).at(time)))),
        Err(Fault::Unreadable(error)) => Err(unreadable(archive, &error)),
        Err(fault) => fault.item(name()).map(Some),
    }
}
