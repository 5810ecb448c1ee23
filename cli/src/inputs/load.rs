//! A set that a command is to ask: from a set file, or compiled in memory from an input.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use bumpalo::Bump;
use reptile_compiler::automaton::Strategy;
use reptile_compiler::dialect::crawlers::{Resolved, resolve};
use reptile_compiler::dialect::{self, Dialect};
use reptile_compiler::set::{OwnedOrigin, SetBuilder, prepare};
use reptile_engine::platform::Mapped;
use reptile_engine::set::{OpenError, Set};
use reptile_engine::url::{Origin, Scheme};

use crate::error::{Failure, Result, note};
use crate::inputs::assemble::{Report, assemble};
use crate::inputs::{CompileOptions, Kind, read_single_file};

/// How every set file begins.
const LABEL_START: &[u8] = b"\x89RPTL";

/// The bytes of a set and where they are from.
pub struct Loaded {
    path: PathBuf,
    bytes: Bytes,
    /// What went into it, if it was compiled just now.
    pub report: Option<Report>,
}

enum Bytes {
    Mapped(Mapped),
    Compiled(Vec<u8>),
}

impl Loaded {
    /// Maps a set file, or reads and compiles an input.
    pub fn open(path: &Path, options: &CompileOptions) -> Result<Loaded> {
        let kind = Kind::of(path)?;
        let labelled = kind != Kind::Directory && has_label(path);
        if labelled || (kind == Kind::File && options.host.is_none()) {
            let loaded = Loaded::open_set(path).map_err(|failure| match failure {
                Failure::Fatal(message) if !labelled => {
                    Failure::Fatal(format!("{message}; a single robots.txt needs --host HOST[:PORT]"))
                }
                failure => failure,
            })?;
            if options.are_given() {
                let message = "is a compiled set; --dialect, --profile, --at, --strategy, --scheme, --host and \
                               --no-other are for inputs";
                return Err(Failure::at(path, message));
            }
            return Ok(loaded);
        }
        let (set, report) = assemble(&[path.into()], options)?;
        Ok(Loaded { path: path.into(), bytes: Bytes::Compiled(set.to_bytes()), report: Some(report) })
    }

    /// Whether a path is a set file.
    pub fn is_set(path: &Path) -> Result<bool> {
        Ok(Kind::of(path)? != Kind::Directory && has_label(path))
    }

    /// As [`Loaded::open`], but takes a single file that is no set as a robots.txt, and says whether it did. If its
    /// host is not given, it is for [`ONE_ORIGIN`].
    pub fn open_or_robots(path: &Path, options: &CompileOptions) -> Result<(Loaded, bool)> {
        if Kind::of(path)? != Kind::File || Loaded::is_set(path)? || options.host.is_some() {
            return Ok((Loaded::open(path, options)?, false));
        }
        let body = read_single_file(path)?;
        let bytes = Bytes::Compiled(compile_one(path, &body, options.dialect())?);
        Ok((Loaded { path: path.into(), bytes, report: None }, true))
    }

    /// Maps a set file.
    pub fn open_set(path: &Path) -> Result<Loaded> {
        let mapped = Mapped::open(path).map_err(|error| Failure::at(path, error))?;
        let loaded = Loaded { path: path.into(), bytes: Bytes::Mapped(mapped), report: None };
        loaded.set()?;
        Ok(loaded)
    }

    /// Tells the user of a set without any other directives, which may have been made with --no-other.
    pub fn note_without_side_data(&self, set: &Set<&[u8]>) {
        if !set.has_other_directives() {
            note(format_args!("{}: no other directives in it", self.path.display()));
        }
    }

    fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(mapped) => mapped.as_ref(),
            Bytes::Compiled(bytes) => bytes,
        }
    }

    /// How many bytes the set has.
    pub fn byte_len(&self) -> usize {
        self.bytes().len()
    }

    /// The set, its header checked.
    pub fn set(&self) -> Result<Set<&[u8]>> {
        Set::from_bytes(self.bytes()).map_err(|error| Failure::at(&self.path, OpenError::Format(error)))
    }

    /// The set, every byte checked.
    pub fn verified(&self) -> Result<Set<&[u8]>> {
        let set = self.set()?;
        set.verify().map_err(|error| damaged(&self.path, &error))?;
        Ok(set)
    }
}

/// The agents that a user means, as the dialect of a set understands them. The names in a set of a dialect that this
/// version does not know are taken as they are.
pub fn agents_of(set: &Set<&[u8]>, specs: &[String]) -> Result<Vec<Resolved>> {
    agents_under(Dialect::from_name(&set.dialect()).unwrap_or(dialect::ALL[0]), specs)
}

/// The agents that a user means, as a dialect understands them. A group of crawlers becomes its members.
pub fn agents_under(dialect: &Dialect, specs: &[String]) -> Result<Vec<Resolved>> {
    let mut agents: Vec<Resolved> = Vec::new();
    for spec in specs {
        let named = resolve(spec, dialect).map_err(|error| Failure::new(format!("--agent: {error}")))?;
        let is_group = named.len() > 1;
        // Somebody who names an agent twice wants two columns; one that is in two groups needs only one.
        for agent in named {
            if !is_group || !agents.contains(&agent) {
                agents.push(agent);
            }
        }
    }
    Ok(agents)
}

/// The failure of a set whose bytes make no sense.
pub fn damaged(path: &Path, error: &reptile_engine::format::FormatError) -> Failure {
    Failure::at(path, format!("the set is damaged: {error}"))
}

/// The origin of the one file in a set of [`compile_one`]. Nobody is asked whose the file is.
pub const ONE_ORIGIN: Origin<'static> = Origin { scheme: Scheme::Http, host: b"localhost", port: 80 };

/// A set of one file, by its default strategy.
pub fn compile_one(path: &Path, body: &[u8], dialect: &'static Dialect) -> Result<Vec<u8>> {
    let record = prepare(body, dialect, &Bump::new()).map_err(|error| Failure::at(path, error))?;
    let mut builder = SetBuilder::new(dialect);
    let origin = OwnedOrigin { host: ONE_ORIGIN.host.into(), scheme: ONE_ORIGIN.scheme, port: ONE_ORIGIN.port };
    builder.add([origin], record);
    let set = builder.finish(Strategy::default()).map_err(|error| Failure::at(path, error))?;
    Ok(set.to_bytes())
}

/// Whether a file begins like a set.
pub fn has_label(path: &Path) -> bool {
    let mut start = [0; LABEL_START.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == LABEL_START
}
