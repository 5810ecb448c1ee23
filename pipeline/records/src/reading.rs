//! Splits the inputs of a command into items.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::{Mutex, PoisonError};

use reptile::Origin;
use reptile::body::has_directive;
use xxhash_rust::xxh3::xxh3_128;

use crate::bodies::{Fault, decompress_and_detect, read_sized};
use crate::captures::names::TableKind;
use crate::csv_captures::TAB;
use crate::detect::{Content, ExpectedInput};
use crate::hosts::Naming;
use crate::open::{Input, classify_hint};
use crate::options::{Captures, InputOptions, ReadOptions};
use crate::place::Place;
use crate::shown::shown;
use crate::spill::Scratch;
use crate::warc::InputPlace;
use crate::warc::redirects::Redirects;
use crate::{
    Error, Item, Response, Result, Robots, Sink, archives, captures, csv_captures, folders, hosts, parquet, warc,
};

/// Inputs to read.
pub enum Inputs<'p> {
    /// Names. Each one is opened when it is needed.
    Named(&'p [Place]),
    /// An open input.
    Opened(Box<Input>),
}

/// A reader for one command's inputs, in any order. It can read several capture inputs concurrently.
pub struct Reading<'o> {
    naming: Naming,
    host: Option<&'o str>,
    how: InputOptions<'o>,
    files: Mutex<Files>,
    redirects: Redirects,
}

impl<'o> Reading<'o> {
    /// Creates a reader. Items that must wait for the other inputs go to `scratch`.
    pub fn new(options: &'o ReadOptions, scratch: Scratch) -> Reading<'o> {
        let naming = Naming::of_schemes(&options.schemes);
        let how = InputOptions::of(options);
        let redirects = Redirects::new(scratch);
        Reading { naming, host: options.host.as_deref(), how, files: Mutex::default(), redirects }
    }

    /// Reads an input. JSON Lines and TSV lines are not parsed.
    ///
    /// An input without captures ([`Input::is_captures`]) must be read after all inputs before it. Otherwise the error
    /// for two files with the same origin would vary.
    ///
    /// # Errors
    /// Returns an error if the input is unreadable or empty, if a file in a folder is unreadable and
    /// [`ReadOptions::skip_unreadable`] is not set, or if a file's origin already has another file. Other problems in
    /// single files are [`Item::Bad`].
    pub fn read(&self, input: Input, place: InputPlace, sink: &mut Sink<'_>) -> Result<()> {
        let input = if self.host.is_some() { input.prefer_robots()? } else { input };
        // A folder may hold one host's captures.
        let may_be_one = matches!(input.content, Content::Folder | Content::Tar);
        if self.host.is_some()
            && !may_be_one
            && let Some(what) = input.collection()
        {
            let path = input.path.display();
            return Err(Error::run(format!("{path}: --host requires a single robots.txt, but this is {what}")));
        }
        let captures = Captures { redirects: &self.redirects, place, how: self.how };
        read_some(input, &self.naming, self.host, captures, &mut |item| {
            if let Item::Robots(robots) = &item
                && robots.is_file
            {
                self.files.lock().unwrap_or_else(PoisonError::into_inner).check(robots)?;
            }
            sink(item)
        })
    }

    /// Passes on the captures that had to wait until all inputs were read: redirects and revisits.
    ///
    /// # Errors
    /// Returns an error if a temporary file cannot be used, or if the sink fails.
    pub fn resolve(&self, sink: &mut Sink<'_>) -> Result<()> {
        self.redirects.resolve(sink)
    }
}

/// Reads all bodies in an input, regardless of file names, hosts and schemes.
///
/// # Errors
/// Returns the errors of [`Reading::read`].
pub fn read_bodies(input: Input, options: &ReadOptions, sink: &mut Sink<'_>) -> Result<()> {
    let redirects = Redirects::new(Scratch::default());
    let captures = Captures { redirects: &redirects, place: InputPlace::default(), how: InputOptions::of(options) };
    read_some(input, &Naming::Any, None, captures, &mut |item| item.read(sink))?;
    redirects.resolve(sink)
}

impl Item {
    /// Parses the item if it is lines, and passes on each line's capture or problem. Other items are passed on
    /// unchanged.
    ///
    /// # Errors
    /// Returns an error if there is not enough memory for a body, or if the sink fails.
    pub fn read(self, sink: &mut Sink<'_>) -> Result<()> {
        match self {
            Item::Lines { lines, first, bytes, .. } => lines.read(&bytes, first, sink),
            item => sink(item),
        }
    }

    /// Returns the item's captures and the decompressed body of their response, or `None` if the item has no captures.
    ///
    /// # Errors
    /// Returns an error for an invalid item, if the body cannot be decompressed within the compiler's limit, or for lines
    /// that [`Item::read`] has not parsed.
    pub fn into_response(self) -> Result<Option<Response>> {
        let (robots, body) = match self {
            Item::Robots(mut robots) => {
                let body = robots.body.take();
                (vec![robots], body)
            }
            Item::SameBody { body, robots } => (robots, Some(body)),
            Item::Bad { name, reason, detail } => return Err(Error::new(format!("{name}: {reason}: {detail}"))),
            Item::Lines { .. } => return Err(Error::new("internal error: lines that `Item::read` has not parsed")),
            _ => return Ok(None),
        };
        let name = robots.first().map(|one| one.name.clone()).unwrap_or_default();
        let body = body.map(decompress_and_detect).transpose().map_err(|fault| match fault.item(name) {
            Ok(Item::Bad { name, reason, detail }) => Error::new(format!("{name}: {reason}: {detail}")),
            Ok(_) => Error::new("a body that cannot be read"),
            Err(error) => error,
        })?;
        let captures = robots.into_iter().map(|one| (one.origins, one.capture)).collect();
        Ok(Some(Response { captures, body: body.map(|(body, _)| body) }))
    }
}

/// Reads an input, and fails if it is empty.
fn read_some(
    input: Input,
    naming: &Naming,
    host: Option<&str>,
    captures: Captures<'_>,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let path = input.path.clone();
    let mut found = false;
    let has_waiting = read(input, naming, host, captures, &mut |item| {
        found |= !matches!(item, Item::Names(_));
        sink(item)
    })?;
    if found || has_waiting { Ok(()) } else { Err(no_robots(path.display())) }
}

/// Splits an input into items. Returns whether captures wait for other inputs.
fn read(
    input: Input,
    naming: &Naming,
    host: Option<&str>,
    captures: Captures<'_>,
    sink: &mut Sink<'_>,
) -> Result<bool> {
    let Captures { redirects, place, how: InputOptions { zone, resync, skips_unreadable, .. } } = captures;
    let path = input.path.clone();
    if let Some(root) = captures.how.warc_root.filter(|_| input.content != Content::Parquet) {
        return warc::index::text::read(input, root, captures, sink);
    }
    let read = match (input.content, host) {
        (Content::Folder | Content::Tar, Some(host)) => read_history(input, host, naming, skips_unreadable, sink),
        (Content::Folder, None) => folders::read_folder(&path, naming, skips_unreadable, sink),
        (Content::Tar, None) => archives::read_tar(&path, input.into_source(), naming, sink),
        (Content::Json, host) if host.is_none() || !input.is_document() => {
            captures::lines::read_json(&path, input.into_source(), zone, sink)
        }
        (Content::Warc, _) => return warc::read(&path, input.into_source(), resync, redirects, (place, 0), sink),
        (Content::Parquet, _) if input.compression.is_none() && input.is_regular => {
            return parquet::captures::read(&path, input.into_ranged()?, captures, sink);
        }
        (Content::Zip, None) => return archives::wacz::read(input, captures, sink),
        (Content::Set | Content::Zip | Content::Parquet | Content::Arrow | Content::Arc | Content::CrawlLog, _) => {
            Err(input.refused(ExpectedInput::Captures))
        }
        // Any server response to a robots.txt request counts, and the protocol defines its meaning.
        (_, Some(host)) => {
            let origins = origins_of_host(host, naming)?;
            let name = path.display().to_string();
            sink(match read_sized(input.into_source(), 0) {
                Ok(body) => Item::Robots(Robots::file(name, origins, body)),
                Err(Fault::Unreadable(error)) => return Err(Error::io(&path, error)),
                Err(fault) => fault.item(name)?,
            })
        }
        (Content::Text, None) if warc::index::names::is_index(input.start()) => {
            Err(Error::at(&path, warc::index::WITHOUT_ROOT))
        }
        (Content::Text, None) => match input.table() {
            Some((TableKind::Captures, TAB)) => captures::lines::read_tsv(&path, input.into_source(), zone, sink),
            Some((TableKind::Captures, delimiter)) => {
                csv_captures::read(&path, input.into_source(), delimiter, zone, sink)
            }
            Some(_) => Err(Error::at(&path, TABLE_OF_URLS)),
            None => Err(match input.collection() {
                Some(what) => Error::at(&path, format!("is {what}; {}", classify_hint(path.display()))),
                None if has_directive(input.start()) => Error::at(&path, SINGLE_FILE),
                None => Error::at(&path, NO_DIRECTIVE),
            }),
        },
        (Content::Empty, None) => Ok(()),
        (_, None) => Err(input.refused(ExpectedInput::Captures)),
    };
    read.map(|()| false)
}

/// Maximum number of files before a host's first capture that are reported after it. Others are reported at once.
const MAX_HELD_ITEMS: usize = 1000;

/// Reads a folder or an archive with one host's captures, which are named after their times.
fn read_history(input: Input, host: &str, naming: &Naming, skips_unreadable: bool, sink: &mut Sink<'_>) -> Result<()> {
    let (path, what, is_tar) = (input.path.clone(), input.content.describe(), input.content == Content::Tar);
    let naming = Naming::History(origins_of_host(host, naming)?);
    let (mut has_capture, mut held) = (false, Vec::new());
    let mut keep = |item: Item| {
        has_capture |= matches!(item, Item::Robots(_) | Item::Bad { .. });
        // Without a capture, the error below explains more than the files' names.
        if !has_capture && held.len() < MAX_HELD_ITEMS {
            held.push(item);
            return Ok(());
        }
        sink(item)
    };
    match is_tar {
        true => archives::read_tar(&path, input.into_source(), &naming, &mut keep)?,
        false => folders::read_folder(&path, &naming, skips_unreadable, &mut keep)?,
    }
    if has_capture {
        return held.into_iter().try_for_each(sink);
    }
    let message =
        "--host requires a single robots.txt, or one host's captures as TIMESTAMP/robots.txt or TIMESTAMP.txt";
    Err(Error::at(&path, format!("{message}; this is {what} without them")))
}

/// Returns the origins for `--host`.
fn origins_of_host(host: &str, naming: &Naming) -> Result<Vec<Origin>> {
    let origins = hosts::origins_of_option(host, naming);
    origins.map_err(|error| Error::run(format!("--host {}: {error}", shown(host.as_bytes()))))
}

const SINGLE_FILE: &str = "is a single robots.txt; name its host with --host HOST[:PORT], or give a folder, a tar \
                           archive, or captures in JSON Lines, TSV, CSV, a Parquet or a WARC file";

/// Does not suggest `--host`, because a set compiled from text without directives allows everything.
const NO_DIRECTIVE: &str = "is text, but neither a robots.txt nor captures: it has no line such as \"User-agent: *\"; expected \
                            a folder, a tar archive, or captures in JSON Lines, TSV, CSV, a Parquet or a WARC file";

const TABLE_OF_URLS: &str = "is a table of URLs: its first line names no column of captures, such as \"status\" or \"body\"; \
                             `reptile compile --help` says which columns are read";

/// The files that were read, by origin.
#[derive(Default)]
struct Files {
    /// Each origin's file number. Origins are hashed, because there may be millions of long names.
    numbers: HashMap<u128, usize>,
    names: Vec<Box<str>>,
}

impl Files {
    /// Rejects a second file for an origin, because it is unknown which one counts.
    fn check(&mut self, Robots { name, origins, .. }: &Robots) -> Result<()> {
        let number = self.names.len();
        self.names.push(name.as_str().into());
        for origin in origins {
            let Origin { scheme, port, host } = origin;
            let key = [&[*scheme as u8], &port.to_le_bytes()[..], host].concat();
            let first = *self.numbers.entry(xxh3_128(&key)).or_insert(number);
            if first != number {
                let first = &self.names[first];
                return Err(Error::run(format!("{first} and {name} are both for {origin}; leave one of them out")));
            }
        }
        Ok(())
    }
}

/// Returns the error for inputs without a robots.txt.
pub fn no_robots(names: impl Display) -> Error {
    Error::new(format!("no robots.txt found in {names}"))
}
