//! Any bytes as a table of URLs in each text format, or as captures: one row out per row in, in bounded memory. A
//! simple reader finds the same rows.
//!
//! Input: the format, the options, then the table.
#![no_main]

use std::io::{Cursor, Read};

use bumpalo::Bump;
use libfuzzer_sys::fuzz_target;
use reptile_fuzz::references::rows;
use reptile_fuzz::{archives, files, memory, tables};
use reptile_records::tables::log::shape::Site;
use reptile_records::tables::open::Opening;
use reptile_records::tables::quotes::Escape;
use reptile_records::tables::source::{Block, Source};
use reptile_records::tables::{ColumnOption, Delimiter, Fault, Format};

/// Memory of one execution in bytes: a chunk of rows, and for each byte of input its cells and its answer.
const BASE_BYTES: usize = 16 << 20;
const BYTES_PER_BYTE: usize = 1 << 10;

const FORMATS: [Option<Format>; 10] = [
    None,
    Some(Format::List),
    Some(Format::Tsv),
    Some(Format::Csv),
    Some(Format::Jsonl),
    Some(Format::Cdx),
    Some(Format::Cdxj),
    Some(Format::Log),
    Some(Format::JsonLog),
    Some(Format::W3cLog),
];

/// Bytes per read, with the option for a slow source.
const SLOW_READ: usize = 7;

/// A source that returns a few bytes at a time.
struct Slow(Cursor<Vec<u8>>);

impl Read for Slow {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let len = buffer.len().min(SLOW_READ);
        self.0.read(&mut buffer[..len])
    }
}

/// Checks that a table's rows begin and end where a simple reader finds them.
fn check(source: Source, opening: &Opening, data: &[u8]) {
    let (mut found, mut header_len, mut delimiter, mut is_unclosed) = (Vec::new(), 0, None, false);
    let decided = tables::decided(source, opening, |table, block| {
        let Block::Text(text) = block else { panic!("the source is text") };
        header_len = table.header.len();
        delimiter = (table.format == Format::Csv).then_some(table.delimiter);
        for row in table.rows(text, &Bump::new()) {
            found.push(row.bytes.to_vec());
            is_unclosed = row.fault == Some(Fault::Unclosed);
        }
    });
    if decided.is_some() && !found.is_empty() {
        // A byte order mark precedes the header.
        let rest = &data[data.len() - found.iter().map(Vec::len).sum::<usize>()..];
        assert!(rest.len() + header_len <= data.len());
        // A detected table may have other forms of quotes.
        if opening.format.is_some() {
            assert_eq!((found.iter().map(|row| &row[..]).collect(), is_unclosed), rows(rest, delimiter), "rows");
        } else {
            assert_eq!(found.concat(), rest, "rows");
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((&[format, options], data)) = reptile_fuzz::options(data) else { return };
    let limit = BASE_BYTES + BYTES_PER_BYTE * data.len();
    let path = "table";
    memory::within(limit, || {
        let mut opening = Opening::of(path);
        opening.format = FORMATS[usize::from(format) % FORMATS.len()];
        if opening.format == Some(Format::Csv) {
            opening.escape = Some(Escape::Quote);
        }
        if opening.format == Some(Format::Csv) && options & 1 != 0 {
            opening.delimiter = Delimiter::of_name("semicolon").ok();
        }
        if options & 2 != 0 {
            opening.site = Site::of_options(Some("https://h.example"), &[]);
        }
        if options & 4 != 0 {
            opening.scheme = Some("https");
        }
        if options & 8 != 0 {
            opening.wanted.push(ColumnOption { option: "--at", name: Some("2".into()) });
        }
        let source = Cursor::new(data.to_vec());
        let source: Box<dyn Read + Send> = if options & 16 != 0 { Box::new(Slow(source)) } else { Box::new(source) };
        check(Source::Text(source), &opening, data);
    });
    if options & 128 != 0 {
        let path = files::written(data);
        memory::within(limit, || archives::captures(path, false));
        memory::within(limit, || archives::indexed(path));
    }
});
