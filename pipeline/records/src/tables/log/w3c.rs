//! Access logs whose `#Fields:` line names the fields, in the W3C's extended format: those of IIS and CloudFront. The server
//! writes that line, and it may follow again with other fields ([`super::headers`]). Requests become URLs by the rules of
//! logs in JSON ([`super::json`]).

use std::sync::{Arc, OnceLock};

use memchr::{memchr, memchr_iter};

use super::Fault;
use super::json::{CLOUDFRONT, FieldCells, IIS, JsonLog, JsonShape, REQUEST_CELLS};
use super::shape::Site;
use crate::lines::{lines, without_line_end};
use crate::shown::shown;
use crate::tables::Wanted;
use crate::tables::address::{HOST, PartNames};
use crate::tables::csv::plain_cells;

/// The start of the line that names the fields.
const FIELDS: &[u8] = b"#Fields:";

/// The field with the Host header as the client sent it.
const CLIENT_HOST: &str = "cs-host";

/// The fields without which a request has no URL.
const NEEDED: [&str; 2] = ["cs-uri-stem", "cs-uri-query"];

/// Maximum number of different `#Fields:` lines in a log. A server writes another one if its configuration changes; the lines
/// after further ones are invalid.
pub(super) const MAX_LAYOUTS: usize = 64;

/// Maximum number of bytes that a message shows of a `#Fields:` line.
const MAX_SHOWN_BYTES: usize = 300;

/// The start of a line that is marked with its layout: a sign, and then the layout's number.
pub(super) const MARK: &[u8] = b"#\0";

/// Added to a layout's number, so that it is no line end.
pub(super) const FIRST_NUMBER: u8 = 0x80;

/// The names of a log's fields, according to a `#Fields:` line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Names<'l> {
    names: Vec<&'l [u8]>,
    delimiter: u8,
}

/// The locations of the wanted fields in a line.
#[derive(Debug)]
struct Layout {
    width: usize,
    delimiter: u8,
    /// Cells, and the numbers of their fields.
    numbers: Vec<(usize, usize)>,
}

/// The wanted fields, and their locations after each `#Fields:` line.
#[derive(Debug)]
pub(crate) struct W3c {
    fields: FieldCells,
    layouts: [OnceLock<Option<Layout>>; MAX_LAYOUTS],
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
        wanted: &[Wanted],
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
        let wanted = cells.iter().map(|(_, path)| path.join(".")).filter(|name| is_split || !is_optional(name));
        if let Some(name) = needed.chain(wanted).find(|name| !self.has(name)) {
            let name = shown(name.as_bytes());
            return Err(format!("its #Fields: line has no {name}; it has {}", self.shown()));
        }
        let w3c = W3c { fields: cells, layouts: [const { OnceLock::new() }; MAX_LAYOUTS] };
        let layout = w3c.layout(self);
        if layout.is_none() {
            return Err(format!("its #Fields: line has a field twice; it has {}", self.shown()));
        }
        w3c.layouts[0].get_or_init(|| layout);
        Ok((Arc::new(w3c), log, names))
    }
}

/// Returns whether a log may lack a field: the scheme.
fn is_optional(name: &str) -> bool {
    name == "cs-protocol"
}

impl W3c {
    /// Returns the locations of the wanted fields. `None` if a needed one is missing, or if one is there twice.
    fn layout(&self, names: &Names<'_>) -> Option<Layout> {
        let mut numbers = Vec::new();
        for (cell, path) in &self.fields {
            let name = path.join(".");
            let mut found = (0..).zip(&names.names).filter(|(_, other)| **other == name.as_bytes()).map(|(at, _)| at);
            match (found.next(), found.next()) {
                (Some(number), None) => numbers.push((*cell, number)),
                (None, None) if !NEEDED.contains(&&*name) => {}
                _ => return None,
            }
        }
        Some(Layout { width: names.names.len(), delimiter: names.delimiter, numbers })
    }

    /// Stores the layout with a number, if it is not too large.
    pub fn put(&self, number: usize, names: &Names<'_>) {
        if let Some(place) = self.layouts.get(number) {
            place.get_or_init(|| self.layout(names));
        }
    }

    /// Stores a line's fields in their cells.
    ///
    /// # Errors
    /// Returns the reason why the line has no fields.
    pub fn read<'b>(&self, line: &'b [u8], cells: &mut [Option<&'b [u8]>]) -> Result<(), Fault> {
        let (number, line) = match line.strip_prefix(MARK) {
            Some([number, rest @ ..]) => (usize::from(number.wrapping_sub(FIRST_NUMBER)), rest),
            _ => (0, line),
        };
        if line.starts_with(b"#") {
            return Err(Fault::Directive);
        }
        let layout = self.layouts.get(number).and_then(OnceLock::get).and_then(Option::as_ref).ok_or(Fault::NotLog)?;
        match memchr_iter(layout.delimiter, line).count() + 1 {
            count if count < layout.width => return Err(Fault::FewCells),
            count if count > layout.width => return Err(Fault::ManyCells),
            _ => {}
        }
        for (at, text) in plain_cells(line, layout.delimiter).enumerate() {
            for &(cell, _) in layout.numbers.iter().filter(|(_, number)| *number == at) {
                cells[cell] = Some(text).filter(|text| *text != b"-");
            }
        }
        Ok(())
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

/// Returns a row without the mark of its layout.
pub(crate) fn without_mark(row: &[u8]) -> &[u8] {
    if row.starts_with(MARK) { row.get(MARK.len() + 1..).unwrap_or(row) } else { row }
}

#[cfg(test)]
mod tests;
