//! `reptile clean-param`: removes from URLs the parameters that a robots.txt says change nothing.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{BufWriter, Write};

use reptile::DirectiveKind;
use reptile::body::CleanParams;
use reptile::contents::{FormatError, Set, Site};
use reptile::dialects::YANDEX;
use reptile::limits::MAX_URL_BYTES;
use reptile::urls::split;
use serde_json::json;

use crate::error::{Exit, Failure, Result, Stop};
use crate::options::SetOptions;
use crate::outputs::file::Output;
use crate::outputs::json::safe_json;
use crate::sets::single::ONE_ORIGIN;
use crate::sets::{Loaded, refuse_swapped};
use crate::url_list::{command_line, typed_urls};
use reptile_records::lines::{ChunkKind, Chunks, lines, without_lf, without_line_end};
use reptile_records::lists::open;
use reptile_records::place::Place;
use reptile_records::text::{opaque_column, url_column};

/// Maximum number of cached Clean-param lists. A full cache is cleared. A list takes a few kilobytes at most, usually
/// nothing.
const MAX_KNOWN: usize = 1 << 14;

/// Remove insignificant parameters from URLs, as declared by Clean-param lines
///
/// Prints a line for each line of the list. A single robots.txt applies to all URLs,
/// regardless of host, and is read under --dialect yandex by default. In a set, the
/// robots.txt of the URL's origin applies. Every well-formed Clean-param line counts in
/// every dialect. URLs without such parameters and text that is not a URL do not change,
/// except that characters that control a terminal are written as %XX, and a CR before a
/// line end is removed.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile clean-param robots.txt 'https://example.com/forum/?sid=1&t=2'
  reptile clean-param web.reptile --urls urls.txt.gz > cleaned.txt

Exit code: 0 done; 2 the command failed."
)]
pub struct Args {
    /// A set file, a robots.txt, or any INPUT of `reptile compile`
    set: Place,
    /// The URLs to clean; if none are given, the lines of --urls
    #[arg(value_name = "URL", conflicts_with = "list")]
    urls: Vec<OsString>,
    /// A list with a URL on each line; decompressed if necessary; - is standard input
    #[arg(long = "urls", value_name = "FILE", default_value = "-")]
    list: Place,
    /// Print a JSON object for each URL: "url", "clean" and "changed"
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    options: SetOptions,
}

/// Runs the command.
///
/// # Errors
/// Returns an error if the set or the list cannot be read, or the output cannot be written.
pub fn run(args: &Args) -> Result<Exit> {
    refuse_swapped("clean-param", &args.set, args.urls.first().and_then(|url| url.to_str()))?;
    let mut options = args.options.with_defaults();
    if !Loaded::is_set(&args.set)? {
        options.set.dialect.get_or_insert(&YANDEX);
    }
    let set = args.set.display().to_string();
    let urls = typed_urls(&args.urls, |list| command_line(["clean-param", &set, "--urls", list]))?;
    let (loaded, is_one) = Loaded::open_or_robots(&args.set, &options)?;
    let set = loaded.verified()?;
    loaded.note_without_other_directives(&set);
    let mut cleaner = Cleaner { set: &set, is_one, known: HashMap::new() };
    let mut out = BufWriter::new(Output::stdout());
    let done = if urls.is_empty() {
        clean_list(args, &mut cleaner, &mut out)
    } else {
        urls.iter().try_for_each(|url| clean_line(args, &mut cleaner, url, b"\n", &mut out))
    };
    done.and_then(|()| out.flush().map_err(Stop::Write)).map_err(|stop| out.get_ref().stop_failure(stop, &args.set))?;
    Ok(Exit::Done)
}

/// Cleans the lines of the list.
fn clean_list(args: &Args, cleaner: &mut Cleaner<'_>, out: &mut impl Write) -> std::result::Result<(), Stop> {
    let mut chunks = Chunks::new(open(&args.list).map_err(Failure::from)?);
    let mut buffer = Vec::new();
    let unreadable = |error| Stop::Other(Failure::at(args.list.as_input(), error));
    while let Some(chunk) = chunks.next(buffer, &|| true).map_err(unreadable)? {
        match chunk.kind {
            ChunkKind::Lines => {
                for line in lines(chunk.bytes()) {
                    let line_end = &line[without_lf(line).len()..];
                    clean_line(args, cleaner, without_line_end(line), line_end, out)?;
                }
            }
            // The line is far too long for a URL.
            ChunkKind::LongLine { .. } if !args.json => {
                let (text, line_end) = chunk.bytes().split_at(without_lf(chunk.bytes()).len());
                out.write_all(&opaque_column(text)).and_then(|()| out.write_all(line_end)).map_err(Stop::Write)?;
            }
            ChunkKind::LongLine { last } => {
                if last {
                    let object = json!({"url": null, "clean": null, "changed": false});
                    out.write_all(safe_json(&object.to_string()).as_bytes()).map_err(Stop::Write)?;
                }
            }
        }
        out.flush().map_err(Stop::Write)?;
        buffer = chunk.buffer;
    }
    Ok(())
}

/// Writes one URL cleaned, and the end of its line.
fn clean_line(
    args: &Args,
    cleaner: &mut Cleaner<'_>,
    url: &[u8],
    line_end: &[u8],
    out: &mut impl Write,
) -> std::result::Result<(), Stop> {
    let clean = cleaner.clean(url).map_err(Stop::Set)?;
    if args.json {
        let text = |bytes| String::from_utf8_lossy(bytes);
        let object = json!({"url": text(url), "clean": text(&clean), "changed": clean != url});
        return out.write_all(safe_json(&object.to_string()).as_bytes()).map_err(Stop::Write);
    }
    out.write_all(&url_column(&clean)).and_then(|()| out.write_all(line_end)).map_err(Stop::Write)
}

/// A set, with a cache of its Clean-param lines.
struct Cleaner<'s> {
    set: &'s Set<&'s [u8]>,
    /// Whether the set is a single robots.txt, which applies to all URLs.
    is_one: bool,
    /// The cache, by the address of an origin's other directives.
    known: HashMap<u32, CleanParams>,
}

impl Cleaner<'_> {
    /// Returns a URL without the parameters that change nothing.
    fn clean<'u>(&mut self, url: &'u [u8]) -> std::result::Result<Cow<'u, [u8]>, FormatError> {
        // Longer text is not a URL, and thousands of prefixes may have to be compared with it.
        if url.len() > MAX_URL_BYTES {
            return Ok(Cow::Borrowed(url));
        }
        let site = if self.is_one {
            self.set.site(&ONE_ORIGIN)?
        } else {
            match split(url) {
                Ok(url) => self.set.site(&url.origin)?,
                Err(_) => None,
            }
        };
        let Some(site) = site else { return Ok(Cow::Borrowed(url)) };
        // The address of the other directives, which origins may share.
        let Some(address) = site.origin().other else { return Ok(Cow::Borrowed(url)) };
        if self.known.len() >= MAX_KNOWN && !self.known.contains_key(&address) {
            self.known.clear();
        }
        let params = match self.known.entry(address) {
            std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::hash_map::Entry::Vacant(entry) => entry.insert(params_of(&site)?),
        };
        Ok(params.clean(url))
    }
}

/// Returns the Clean-param lines of an origin.
fn params_of(site: &Site<'_>) -> std::result::Result<CleanParams, FormatError> {
    let mut values: Vec<Vec<u8>> = Vec::new();
    let mut reader = site.other().reader()?;
    while let Some(field) = reader.next()? {
        if field.kind == DirectiveKind::CleanParam {
            values.push(field.value.to_vec());
        }
    }
    Ok(CleanParams::new(values.iter().map(Vec::as_slice)))
}
