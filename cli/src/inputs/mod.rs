//! The inputs of a compilation: which kinds there are, and how each is read to robots.txt bodies with origins.
//!
//! Directories and archives are read in [`files`], JSON Lines in [`jsonl`]. Nothing here looks into a body.

pub mod assemble;
mod files;
mod jsonl;
pub mod lines;
pub mod load;
pub mod time;

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use flate2::read::MultiGzDecoder;
use reptile_compiler::automaton::Strategy;
use reptile_compiler::capture::{self, Capture, Profile, Time};
use reptile_compiler::dialect::{self, Dialect};
use reptile_compiler::limits::MAX_BODY_BYTES;
use reptile_compiler::set::origin::OwnedOrigin;
use reptile_engine::url::{Scheme, UrlError, origin_of};

use crate::error::{Failure, Result};

/// The options that say how robots.txt files are read and compiled.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct CompileOptions {
    /// Which reading of the protocol the files are given [default: google-lib]
    #[arg(long, value_name = "NAME", value_parser = dialects())]
    pub dialect: Option<&'static Dialect>,
    /// Whose habits say what a status, a redirect or an error means [default: those that go with the dialect]
    #[arg(long, value_name = "NAME", value_parser = profiles())]
    pub profile: Option<&'static Profile>,
    /// The time that the set is for; captures from behind it do not count [default: that of the newest capture]
    ///
    /// Such as 2026-03-14T15:09:26Z, 2026-03-14, or seconds since 1970.
    #[arg(long, value_name = "TIME", value_parser = time::read_time, allow_negative_numbers = true)]
    pub at: Option<Time>,
    /// How rulesets become automata; the answers are the same [default: factored]
    #[arg(long, value_name = "NAME", value_parser = strategies())]
    pub strategy: Option<Strategy>,
    /// What files that are named after a host stand for; may be given several times [default: http and https]
    ///
    /// JSON Lines are not concerned: each record's url says its scheme.
    #[arg(long = "scheme", value_name = "SCHEME", value_parser = schemes())]
    pub schemes: Vec<Scheme>,
    /// Whose robots.txt it is, when INPUT is one single file
    #[arg(long, value_name = "HOST[:PORT]")]
    pub host: Option<String>,
    /// Leave out the lines that decide no URL: Sitemap, Crawl-delay and the like
    #[arg(long)]
    pub no_other: bool,
}

impl CompileOptions {
    /// The dialect, given or not.
    pub fn dialect(&self) -> &'static Dialect {
        self.dialect.unwrap_or(dialect::ALL[0])
    }

    /// The fetch profile, given or not.
    pub fn profile(&self) -> &'static Profile {
        self.profile.unwrap_or_else(|| Profile::of_dialect(self.dialect()))
    }

    /// Whether any of them was given.
    pub fn are_given(&self) -> bool {
        self.profile.is_some()
            || self.at.is_some()
            || self.dialect.is_some()
            || self.strategy.is_some()
            || !self.schemes.is_empty()
            || self.host.is_some()
            || self.no_other
    }
}

/// Reads the name of a dialect.
pub fn dialects() -> impl TypedValueParser<Value = &'static Dialect> {
    PossibleValuesParser::new(dialect::ALL.map(|dialect| dialect.as_str()))
        .try_map(|name| Dialect::from_name(&name).ok_or("no such dialect"))
}

/// Reads the name of a fetch profile.
pub fn profiles() -> impl TypedValueParser<Value = &'static Profile> {
    PossibleValuesParser::new(capture::ALL.map(|profile| profile.as_str()))
        .try_map(|name| Profile::from_name(&name).ok_or("no such profile"))
}

/// Reads the name of a strategy.
pub fn strategies() -> impl TypedValueParser<Value = Strategy> {
    let find = |name: String| Strategy::ALL.into_iter().find(|&(known, _)| known == name);
    PossibleValuesParser::new(Strategy::ALL.map(|(name, _)| name))
        .try_map(move |name| find(name).map(|(_, strategy)| strategy).ok_or("no such strategy"))
}

/// Reads the name of a scheme.
pub fn schemes() -> impl TypedValueParser<Value = Scheme> {
    PossibleValuesParser::new(Scheme::ALL.map(Scheme::as_str))
        .try_map(|name| Scheme::from_name(name.as_bytes()).ok_or("no such scheme"))
}

/// Something found in an input.
pub enum Item {
    /// A robots.txt.
    Robots(Robots),
    /// Something that should have been a robots.txt. It is named to the user, counted and left out.
    Bad {
        /// Where it is: a path, or a path and a line.
        name: String,
        /// What is wrong, in words that are the same for all that have this fault.
        reason: &'static str,
        /// What exactly is wrong; may be empty.
        detail: String,
    },
    /// Something that is rightly left out, and only counted.
    LeftOut(String),
    /// A remark for the user about the whole of an input.
    Remark(String),
}

/// A capture of a robots.txt, and the origins that it is for.
pub struct Robots {
    /// Where it is.
    pub name: String,
    /// Whose it is.
    pub origins: Vec<OwnedOrigin>,
    /// What is known of its fetch.
    pub capture: Capture,
    /// Its bytes, no more than the compiler takes, if there are any.
    pub body: Option<Vec<u8>>,
}

impl Robots {
    /// A file, of whose fetch nothing is known.
    fn file(name: String, origins: Vec<OwnedOrigin>, body: Vec<u8>) -> Robots {
        Robots { name, origins, capture: Capture::default(), body: Some(body) }
    }

    /// How many bytes there are.
    pub fn byte_len(&self) -> usize {
        self.body.as_ref().map_or(0, Vec::len)
    }
}

/// Takes what is found. An error ends the reading.
pub type Sink<'s> = dyn FnMut(Item) -> Result<()> + 's;

/// Reads all of an input. Errors are those that leave the rest of it unread.
pub fn read(path: &Path, options: &CompileOptions, sink: &mut Sink<'_>) -> Result<()> {
    let kind = Kind::of(path)?;
    if options.host.is_some() && kind != Kind::File {
        return Err(Failure::at(path, "--host goes with a single robots.txt, and this is something else"));
    }
    read_kind(kind, path, &Naming::new(&options.schemes), options.host.as_deref(), sink)
}

/// Reads every body of an input, whatever the files in it are named after. One without any is an error.
pub fn read_bodies(path: &Path, sink: &mut Sink<'_>) -> Result<()> {
    let mut found = false;
    read_kind(Kind::of(path)?, path, &Naming::Any, None, &mut |item| {
        found |= !matches!(item, Item::Remark(_));
        sink(item)
    })?;
    if found { Ok(()) } else { Err(no_robots(path)) }
}

fn read_kind(kind: Kind, path: &Path, naming: &Naming, host: Option<&str>, sink: &mut Sink<'_>) -> Result<()> {
    match kind {
        Kind::Directory => files::read_directory(path, naming, sink),
        Kind::Tar => files::read_tar(path, unpacked(path, false)?, naming, sink),
        Kind::TarGz => files::read_tar(path, unpacked(path, true)?, naming, sink),
        Kind::Jsonl => jsonl::read(path, unpacked(path, false)?, sink),
        Kind::JsonlGz => jsonl::read(path, unpacked(path, true)?, sink),
        Kind::File => {
            let Some(host) = host else { return Err(Failure::at(path, SINGLE_FILE)) };
            let origins = naming.origins(host.as_bytes());
            let origins = origins.map_err(|error| Failure::new(format!("--host {host}: {error}")))?;
            let name = path.display().to_string();
            sink(match read_body(File::open(path)) {
                Ok(body) => Item::Robots(Robots::file(name, origins, body)),
                Err(fault) => fault.item(name),
            })
        }
    }
}

const SINGLE_FILE: &str = "is a single file; say whose robots.txt it is with --host HOST[:PORT], or give a directory, \
                           a .tar or .tar.gz archive, or JSON Lines (.jsonl, .jsonl.gz)";

/// The kinds of input. All but directories are known by their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Files named after hosts.
    Directory,
    /// The same in an archive.
    Tar,
    /// The same in a compressed archive.
    TarGz,
    /// A record a line.
    Jsonl,
    /// The same, compressed.
    JsonlGz,
    /// Anything else.
    File,
}

impl Kind {
    /// The kind of what is at a path.
    pub fn of(path: &Path) -> Result<Kind> {
        let metadata = fs::metadata(path).map_err(|error| Failure::at(path, error))?;
        if metadata.is_dir() {
            return Ok(Kind::Directory);
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let kinds = [
            (".tar", Kind::Tar),
            (".tar.gz", Kind::TarGz),
            (".tgz", Kind::TarGz),
            (".jsonl", Kind::Jsonl),
            (".ndjson", Kind::Jsonl),
            (".jsonl.gz", Kind::JsonlGz),
            (".ndjson.gz", Kind::JsonlGz),
        ];
        Ok(kinds.into_iter().find(|(end, _)| name.ends_with(end)).map_or(Kind::File, |(_, kind)| kind))
    }
}

/// The bytes of a file, unpacked if need be.
fn unpacked(path: &Path, gz: bool) -> Result<Box<dyn Read>> {
    let file = BufReader::with_capacity(1 << 16, File::open(path).map_err(|error| Failure::at(path, error))?);
    Ok(if gz { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) })
}

/// How the names of files become origins.
enum Naming {
    /// They are hosts, and stand for an origin of each of these schemes.
    Hosts(Vec<Scheme>),
    /// They do not matter, and stand for none.
    Any,
}

impl Naming {
    fn new(schemes: &[Scheme]) -> Naming {
        let mut schemes = if schemes.is_empty() { vec![Scheme::Http, Scheme::Https] } else { schemes.to_vec() };
        schemes.sort_unstable();
        schemes.dedup();
        Naming::Hosts(schemes)
    }

    /// The origins that `host` or `host:port` stands for: one for each scheme, with its default port or that one.
    fn origins(&self, name: &[u8]) -> std::result::Result<Vec<OwnedOrigin>, UrlError> {
        let Naming::Hosts(schemes) = self else { return Ok(Vec::new()) };
        // In a URL each of these would end the host or what is in front of it.
        if name.iter().any(|byte| b"/?#;@".contains(byte)) {
            return Err(UrlError::Host);
        }
        schemes.iter().map(|&scheme| OwnedOrigin::new(&origin_of(scheme, name)?)).collect()
    }
}

/// Why there is no body.
enum Fault {
    Unreadable(io::Error),
    TooLarge(u64),
}

impl Fault {
    fn item(self, name: String) -> Item {
        let (reason, detail) = match self {
            Fault::Unreadable(error) => ("unreadable", error.to_string()),
            Fault::TooLarge(len) => (TOO_LARGE, format!("{len} bytes; the limit is {MAX_BODY_BYTES}")),
        };
        Item::Bad { name, reason, detail }
    }
}

/// What is wrong with a robots.txt that the compiler refuses.
pub const TOO_LARGE: &str = "too large";

/// Reads a robots.txt whose size is known before any of it is read.
fn read_body(file: io::Result<File>) -> std::result::Result<Vec<u8>, Fault> {
    let file = file.map_err(Fault::Unreadable)?;
    let len = file.metadata().map_err(Fault::Unreadable)?.len();
    read_sized(file, len)
}

/// Reads a body of `len` bytes, or more if it has grown meanwhile.
fn read_sized(source: impl Read, len: u64) -> std::result::Result<Vec<u8>, Fault> {
    let limit = MAX_BODY_BYTES as u64;
    if len > limit {
        return Err(Fault::TooLarge(len));
    }
    let mut body = Vec::with_capacity(len as usize);
    match source.take(limit + 1).read_to_end(&mut body) {
        Ok(read) if read as u64 > limit => Err(Fault::TooLarge(read as u64)),
        Ok(_) => Ok(body),
        Err(error) => Err(Fault::Unreadable(error)),
    }
}

/// Reads a single robots.txt to its end, which may be standard input. One over the limit is an error.
pub fn read_single(source: impl Read, path: &Path) -> Result<Vec<u8>> {
    read_sized(source, 0).map_err(|fault| {
        Failure::at(
            path,
            match fault {
                Fault::Unreadable(error) => error.to_string(),
                Fault::TooLarge(_) => format!("{TOO_LARGE}; the limit is {MAX_BODY_BYTES} bytes"),
            },
        )
    })
}

/// Opens a single robots.txt and reads it, as [`read_single`] does.
pub fn read_single_file(path: &Path) -> Result<Vec<u8>> {
    read_single(File::open(path).map_err(|error| Failure::at(path, error))?, path)
}

/// Reads several inputs, one after the other. One in which there is nothing at all is an error.
pub fn read_all(paths: &[PathBuf], options: &CompileOptions, sink: &mut Sink<'_>) -> Result<()> {
    for path in paths {
        let mut found = false;
        read(path, options, &mut |item| {
            found |= !matches!(item, Item::Remark(_));
            sink(item)
        })?;
        if !found {
            return Err(no_robots(path));
        }
    }
    Ok(())
}

/// An input, or all of them, without anything to compile.
pub fn no_robots(path: &Path) -> Failure {
    Failure::new(format!("no robots.txt found in {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_for_origins() {
        let naming = |name: &str, schemes: &[Scheme]| {
            let origins = Naming::new(schemes).origins(name.as_bytes());
            origins.map(|origins| {
                let show = |origin: OwnedOrigin| {
                    format!("{}://{}:{}", origin.scheme.as_str(), String::from_utf8_lossy(&origin.host), origin.port)
                };
                origins.into_iter().map(show).collect::<Vec<_>>().join(" ")
            })
        };
        assert_eq!(naming("A.b", &[]), Ok("http://a.b:80 https://a.b:443".into()));
        assert_eq!(naming("a:8080", &[]), Ok("http://a:8080 https://a:8080".into()));
        assert_eq!(naming("a", &[Scheme::Ftp, Scheme::Http, Scheme::Ftp]), Ok("http://a:80 ftp://a:21".into()));
        assert_eq!(naming("[0::1]:81", &[Scheme::Http]), Ok("http://[::1]:81".into()));
        assert_eq!(naming("BÜCHER.de.", &[Scheme::Http]), Ok("http://xn--bcher-kva.de:80".into()));
        for bad in ["", "a b", "a/b", "u@a", "1.2.3.4.5", "a%2fb", "a?b", "a#", "a;", "http://a"] {
            assert_eq!(naming(bad, &[]), Err(UrlError::Host), "{bad}");
        }
        assert_eq!(naming("a:b", &[]), Err(UrlError::Port));
    }

    #[test]
    fn kinds_are_known_by_name() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Kind::of(folder.path()).unwrap(), Kind::Directory);
        let table = [
            ("a.tar", Kind::Tar),
            ("a.TAR.GZ", Kind::TarGz),
            ("a.tgz", Kind::TarGz),
            ("a.jsonl", Kind::Jsonl),
            ("a.ndjson.gz", Kind::JsonlGz),
            ("a.gz", Kind::File),
            ("robots.txt", Kind::File),
        ];
        for (name, kind) in table {
            let path = folder.path().join(name);
            fs::write(&path, "").unwrap();
            assert_eq!(Kind::of(&path).unwrap(), kind, "{name}");
        }
    }
}
