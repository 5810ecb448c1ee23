//! Access logs in the W3C's extended format, as IIS and CloudFront write them.
//!
//! A `#Fields:` line ([`names`]) names the fields. The server writes another one if the fields change ([`marks`]).
//! Requests become URLs by the same rules as in JSON logs ([`super::json`]).

use std::sync::{Arc, OnceLock};

use memchr::memchr_iter;

use super::Fault;
use super::json::{CLOUDFRONT, FieldCells, IIS, JsonLog, JsonShape, REQUEST_CELLS};
use super::shape::Site;
use crate::shown::shown;
use crate::tables::ColumnOption;
use crate::tables::address::{HOST, PartNames};
use crate::tables::csv::plain_cells;

pub(crate) mod marks;
pub(crate) mod names;

pub(crate) use names::Names;

/// Maximum number of different `#Fields:` lines in a log. A server writes another one if its configuration changes; the
/// lines after further ones are invalid.
const MAX_LAYOUTS: usize = 64;

/// The start of a line that is marked with its layout. The layout's number follows as one byte.
const MARK: &[u8] = b"#\0";

/// Added to a layout's number, which would otherwise look like a line end.
const FIRST_NUMBER: u8 = 0x80;

/// The field with the Host header as the client sent it.
const CLIENT_HOST: &str = "cs-host";

/// The fields that every request's URL needs.
const NEEDED: [&str; 2] = ["cs-uri-stem", "cs-uri-query"];

/// The scheme's field, which a log may lack.
const OPTIONAL: &str = "cs-protocol";

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

impl W3c {
    /// Returns the reader of the wanted fields with the first layout, or `None` if that layout is invalid.
    fn new(fields: FieldCells, names: &Names<'_>) -> Option<W3c> {
        let w3c = W3c { fields, layouts: [const { OnceLock::new() }; MAX_LAYOUTS] };
        w3c.put(0, names);
        w3c.layouts[0].get()?.is_some().then_some(w3c)
    }

    /// Returns the locations of the wanted fields, or `None` if a required field is missing or a field is repeated.
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

    /// Stores the layout with this number, unless the number is over the limit.
    fn put(&self, number: usize, names: &Names<'_>) {
        if let Some(place) = self.layouts.get(number) {
            place.get_or_init(|| self.layout(names));
        }
    }

    /// Stores a line's fields in their cells.
    ///
    /// # Errors
    /// Returns an error if the line does not have its layout's fields.
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

impl Names<'_> {
    /// Returns the reader of lines, the rules for joining their fields, and the names of the wanted columns.
    ///
    /// `parts` are the fields of the URL's parts, if the user names them.
    ///
    /// # Errors
    /// Returns a message if a field is missing or repeated, or if neither the log nor the user gives a host.
    pub fn columns(
        &self,
        site: &Site,
        wanted: &[ColumnOption],
        parts: &PartNames,
    ) -> Result<(Arc<W3c>, JsonLog, Vec<String>), String> {
        let is_split = parts[HOST].is_some();
        let known = if self.are_of_cloudfront() { &CLOUDFRONT } else { &IIS };
        // The client chooses the Host header, so that field counts only if the user names it.
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
        let is_repeated = |name: &&String| self.names.iter().filter(|other| **other == name.as_bytes()).count() > 1;
        let all: Vec<String> = cells.iter().map(|(_, path)| path.join(".")).collect();
        let name = all.iter().find(is_repeated).map(|name| shown(name.as_bytes())).unwrap_or_default();
        let twice = || format!("its #Fields: line has {name} twice; it has {}", self.shown());
        let w3c = W3c::new(cells, self).ok_or_else(twice)?;
        Ok((Arc::new(w3c), log, names))
    }
}

/// Returns a row without the mark of its layout.
pub(crate) fn without_mark(row: &[u8]) -> &[u8] {
    if row.starts_with(MARK) { row.get(MARK.len() + 1..).unwrap_or(row) } else { row }
}

#[cfg(test)]
mod tests;
