//! The line that names a log's fields, and the fields that a request's URL needs.

use std::sync::Arc;

use memchr::memchr;

use super::W3c;
use crate::lines::{lines, without_line_end};
use crate::shown::shown;
use crate::tables::ColumnOption;
use crate::tables::address::{HOST, PartNames};
use crate::tables::log::json::{CLOUDFRONT, IIS, JsonLog, JsonShape, REQUEST_CELLS};
use crate::tables::log::shape::Site;

/// The start of the line that names the fields.
const FIELDS: &[u8] = b"#Fields:";

/// The field with the Host header as the client sent it.
const CLIENT_HOST: &str = "cs-host";

/// The fields without which a request has no URL.
pub(super) const NEEDED: [&str; 2] = ["cs-uri-stem", "cs-uri-query"];

/// The field that a log may lack: the scheme.
const OPTIONAL: &str = "cs-protocol";

/// Maximum number of bytes that a message shows of a `#Fields:` line.
const MAX_SHOWN_BYTES: usize = 300;

/// The names of a log's fields, according to a `#Fields:` line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Names<'l> {
    pub(super) names: Vec<&'l [u8]>,
    pub(super) delimiter: u8,
}

impl<'l> Names<'l> {
    /// Parses a `#Fields:` line. A client cannot write one, because servers encode spaces.
    pub fn of(line: &'l [u8]) -> Option<Names<'l>> {
        let rest = line.strip_prefix(FIELDS).filter(|rest| rest.first().is_some_and(|byte| b" \t".contains(byte)))?;
        let names: Vec<&[u8]> = rest.split(|byte| b" \t".contains(byte)).filter(|name| !name.is_empty()).collect();
        let has_tabs = memchr(b'\t', rest).is_some();
        let names = Names { names, delimiter: b' ' };
        let delimiter = if has_tabs || names.are_of_cloudfront() { b'\t' } else { b' ' };
        Some(Names { delimiter, ..names })
    }

    fn are_of_cloudfront(&self) -> bool {
        self.names.iter().any(|name| name.starts_with(b"x-edge-") || *name == b"x-host-header")
    }

    fn has(&self, name: &str) -> bool {
        self.names.contains(&name.as_bytes())
    }

    fn shown(&self) -> String {
        let names = self.names.join(&b" "[..]);
        shown(names.get(..MAX_SHOWN_BYTES).unwrap_or(&names))
    }

    /// Returns the reader of lines, the rules for joining their fields, and the names of the wanted columns. `parts` are the
    /// fields of the URL's parts, if the user names them.
    ///
    /// # Errors
    /// Returns a message if a field is missing or there twice, or if neither the log nor the user gives a host.
    pub fn columns(
        &self,
        site: &Site,
        wanted: &[ColumnOption],
        parts: &PartNames,
    ) -> Result<(Arc<W3c>, JsonLog, Vec<String>), String> {
        let is_split = parts[HOST].is_some();
        let known = if self.are_of_cloudfront() { &CLOUDFRONT } else { &IIS };
        // The Host header as the client sent it counts only if it is named.
        let shape = JsonShape::of_names(known, is_split, |name| self.has(name) && name != CLIENT_HOST);
        if !shape.has_host() && site.host.is_none() {
            let or_header = if self.has(CLIENT_HOST) {
                "; cs-host is the client's own text, which counts only if it is named, with \
                 --url 'https://{cs-host}{cs-uri-stem}?{cs-uri-query}'"
            } else {
                ""
            };
            return Err(format!("no hosts in this access log: give its host with --host{or_header}"));
        }
        let (mut cells, log, names) = shape.cells(site, wanted)?;
        if is_split {
            let [scheme, host, port, path, query] = parts;
            if port.is_some() {
                return Err("--url: the hosts of an access log have their own ports; leave out the port".into());
            }
            cells.retain(|(cell, _)| *cell >= REQUEST_CELLS);
            let named = (0..).zip([scheme, host, path, query]);
            cells.extend(named.filter_map(|(cell, name)| Some((cell, vec![name.clone()?]))));
        }
        let needed = NEEDED.iter().filter(|_| !is_split).map(|name| (*name).to_owned());
        let wanted = cells.iter().map(|(_, path)| path.join(".")).filter(|name| is_split || name != OPTIONAL);
        if let Some(name) = needed.chain(wanted).find(|name| !self.has(name)) {
            let name = shown(name.as_bytes());
            return Err(format!("its #Fields: line has no {name}; it has {}", self.shown()));
        }
        let twice = || format!("its #Fields: line has a field twice; it has {}", self.shown());
        let w3c = W3c::new(cells, self).ok_or_else(twice)?;
        Ok((Arc::new(w3c), log, names))
    }
}

/// The start of a log: the lines before its first request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Head<'s> {
    /// The number of lines before the `#Fields:` line, that line's place and the line itself.
    Fields(u64, usize, &'s [u8]),
    /// There is no `#Fields:` line.
    Other,
    /// More lines are needed.
    NeedsMore,
}

impl<'s> Head<'s> {
    /// Reads the directives at the start of a file.
    pub fn of(start: &'s [u8], is_all: bool) -> Head<'s> {
        let mut at = 0;
        for (number, line) in (0..).zip(lines(start)) {
            let is_whole = is_all || line.ends_with(b"\n");
            match Names::of(without_line_end(line)) {
                Some(_) if is_whole => return Head::Fields(number, at, line),
                _ if is_whole && !line.starts_with(b"#") => return Head::Other,
                _ => at += line.len(),
            }
        }
        if is_all || !start.starts_with(b"#") { Head::Other } else { Head::NeedsMore }
    }
}
