//! Inputs of the commands: robots.txt files in folders, archives and JSON Lines; lists of URLs; and compiled sets.
//!
//! This file reads an input of any kind and gives its robots.txt files one by one. Nothing here looks into a body.
//! [`options`] has the arguments, [`kinds`] tells the kinds of input apart, [`hosts`] turns names of files into origins,
//! [`bodies`] reads single files, [`lines`] reads lists, and [`sets`] opens and compiles sets.

mod archives;
pub mod bodies;
mod folders;
mod hosts;
mod jsonl;
pub mod kinds;
pub mod lines;
pub mod options;
pub mod same;
pub mod sets;
pub mod shown;
pub mod time;

use std::fs::File;
use std::path::{Path, PathBuf};

use reptile_compiler::capture::Capture;
use reptile_compiler::set::origin::OwnedOrigin;

use crate::error::{Failure, Result};
use bodies::read_body;
use hosts::Naming;
use kinds::{Kind, unpacked};
use options::CompileOptions;
use shown::shown;

/// Something found in an input.
pub enum Item {
    /// A robots.txt.
    Robots(Robots),
    /// Something that should have been a robots.txt. It is named to the user, counted and left out.
    Bad {
        /// Where it is: a path, or a path and a line.
        name: String,
        /// The kind of fault, in the same words for all that have it.
        reason: &'static str,
        /// The details of this one; may be empty.
        detail: String,
    },
    /// Something that is rightly left out, and only counted, under this reason.
    LeftOut(String),
    /// A remark for the user about a whole input.
    Remark(String),
}

/// A capture of a robots.txt, and the origins that it is for.
pub struct Robots {
    /// Where it is.
    pub name: String,
    /// The origins that it is for.
    pub origins: Vec<OwnedOrigin>,
    /// What is known of its fetch.
    pub capture: Capture,
    /// Its bytes, if any were fetched; no more than the compiler takes.
    pub body: Option<Vec<u8>>,
}

impl Item {
    /// The bytes that the item takes in memory, those of its texts and its body included.
    pub fn memory_bytes(&self) -> usize {
        let own = size_of::<Item>();
        own + match self {
            Item::Robots(robots) => robots.memory_bytes(),
            Item::Bad { name, detail, .. } => name.len() + detail.len(),
            Item::LeftOut(text) | Item::Remark(text) => text.len(),
        }
    }
}

impl Robots {
    /// A file, whose fetch nothing is known of.
    fn file(name: String, origins: Vec<OwnedOrigin>, body: Vec<u8>) -> Robots {
        Robots { name, origins, capture: Capture::default(), body: Some(body) }
    }

    /// The bytes that the texts, the origins and the body take.
    fn memory_bytes(&self) -> usize {
        let origins = self.origins.iter().map(|origin| size_of::<OwnedOrigin>() + origin.host.len());
        let media_type = self.capture.media_type.as_ref().map_or(0, |name| name.len());
        self.name.len() + origins.sum::<usize>() + media_type + self.body.as_ref().map_or(0, Vec::capacity)
    }
}

/// Receives the items of an input. An error stops the reading.
pub type Sink<'s> = dyn FnMut(Item) -> Result<()> + 's;

/// Reads several inputs, one after the other, and gives each item with the place of its input in `paths`.
///
/// # Errors
/// If an input cannot be read to its end, or holds nothing at all. Faults of single files are [`Item::Bad`].
pub fn read_all(
    paths: &[PathBuf],
    options: &CompileOptions,
    sink: &mut dyn FnMut(usize, Item) -> Result<()>,
) -> Result<()> {
    let naming = Naming::Hosts(options.schemes());
    for (place, path) in paths.iter().enumerate() {
        let kind = Kind::of(path)?;
        if options.host.is_some() && kind != Kind::File {
            return Err(Failure::at(path, "--host goes with a single robots.txt, and this is something else"));
        }
        read_some(path, |found| read(kind, path, &naming, options.host.as_deref(), found), &mut |item| {
            sink(place, item)
        })?;
    }
    Ok(())
}

/// Reads every body of an input, whatever the files in it are named after.
///
/// # Errors
/// As [`read_all`].
pub fn read_bodies(path: &Path, sink: &mut Sink<'_>) -> Result<()> {
    let kind = Kind::of(path)?;
    read_some(path, |found| read(kind, path, &Naming::Any, None, found), sink)
}

/// Runs `read` and fails if it finds nothing but remarks.
fn read_some(path: &Path, read: impl FnOnce(&mut Sink<'_>) -> Result<()>, sink: &mut Sink<'_>) -> Result<()> {
    let mut found = false;
    read(&mut |item| {
        found |= !matches!(item, Item::Remark(_));
        sink(item)
    })?;
    if found { Ok(()) } else { Err(no_robots(path)) }
}

/// Reads an input of a known kind.
fn read(kind: Kind, path: &Path, naming: &Naming, host: Option<&str>, sink: &mut Sink<'_>) -> Result<()> {
    match kind {
        Kind::Folder => folders::read_folder(path, naming, sink),
        Kind::Tar => archives::read_tar(path, unpacked(path, false)?, naming, sink),
        Kind::TarGz => archives::read_tar(path, unpacked(path, true)?, naming, sink),
        Kind::Jsonl => jsonl::read(path, unpacked(path, false)?, sink),
        Kind::JsonlGz => jsonl::read(path, unpacked(path, true)?, sink),
        Kind::File => {
            let Some(host) = host else { return Err(Failure::at(path, SINGLE_FILE)) };
            let origins = naming.origins(host.as_bytes());
            let origins = origins.map_err(|error| Failure::new(format!("--host {host}: {error}")))?;
            let name = path.display().to_string();
            sink(match read_body(File::open(path)) {
                Ok(body) => Item::Robots(Robots::file(name, origins, body)),
                Err(fault) => fault.item(name)?,
            })
        }
    }
}

const SINGLE_FILE: &str = "is a single file; say whose robots.txt it is with --host HOST[:PORT], or give a folder, a .tar \
                           or .tar.gz archive, or JSON Lines (.jsonl, .jsonl.gz)";

/// The failure of an input, or of all of them, in which there is no robots.txt.
pub fn no_robots(path: &Path) -> Failure {
    Failure::new(format!("no robots.txt found in {}", path.display()))
}
