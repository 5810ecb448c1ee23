//! Any bytes as a table of URLs in each text format, or as captures: one row out per row in, in bounded memory.
//!
//! Input: the format, the delimiter, then the table.
#![no_main]

use libfuzzer_sys::fuzz_target;
use reptile_fuzz::{files, memory, tables};
use reptile_records::tables::log::shape::Site;
use reptile_records::tables::open::Opening;
use reptile_records::tables::source::Source;
use reptile_records::tables::{Delimiter, Format, Wanted};

/// Memory of one execution in bytes: a chunk of rows, and for each byte of input its cells and its answer.
const BASE_BYTES: usize = 16 << 20;
const BYTES_PER_BYTE: usize = 1 << 10;

const FORMATS: [Option<Format>; 9] = [
    None,
    Some(Format::List),
    Some(Format::Tsv),
    Some(Format::Csv),
    Some(Format::Jsonl),
    Some(Format::Cdx),
    Some(Format::Cdxj),
    Some(Format::Log),
    Some(Format::JsonLog),
];

fuzz_target!(|data: &[u8]| {
    let Some((&[format, options], data)) = reptile_fuzz::options(data) else { return };
    let limit = BASE_BYTES + BYTES_PER_BYTE * data.len();
    let path = "table";
    memory::within(limit, || {
        let mut opening = Opening::of(path);
        opening.format = FORMATS[usize::from(format) % FORMATS.len()];
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
            opening.wanted.push(Wanted { option: "--at-column", name: Some("2".into()) });
        }
        let _ = tables::decided(Source::Text(Box::new(std::io::Cursor::new(data.to_vec()))), &opening);
    });
    if options & 128 != 0 {
        let path = files::written(data);
        memory::within(limit, || tables::captures(path, false));
    }
});
