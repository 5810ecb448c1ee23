//! Simple readers, written from the formats' definitions, to compare Reptile's readers with. None is complete: a reader
//! returns `None` where it cannot tell.

use std::collections::HashMap;

use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaDataReader};

/// Splits a text table into rows. Each line is a row, and in CSV each line outside quotes, which open only at a cell's
/// start. Also returns whether the last row ends inside quotes.
#[must_use]
pub fn rows(text: &[u8], csv_delimiter: Option<u8>) -> (Vec<&[u8]>, bool) {
    #[derive(Clone, Copy, PartialEq)]
    enum At {
        CellStart,
        Cell,
        Quoted,
        AfterQuote,
    }
    let (mut rows, mut start, mut at) = (Vec::new(), 0, At::CellStart);
    for (place, &byte) in text.iter().enumerate() {
        at = match (at, byte) {
            (At::Quoted, b'"') => At::AfterQuote,
            (At::Quoted, _) => At::Quoted,
            (At::CellStart | At::AfterQuote, b'"') if csv_delimiter.is_some() => At::Quoted,
            (_, b'\n') => {
                rows.push(&text[std::mem::replace(&mut start, place + 1)..=place]);
                At::CellStart
            }
            (_, byte) if Some(byte) == csv_delimiter => At::CellStart,
            _ => At::Cell,
        };
    }
    if start < text.len() {
        rows.push(&text[start..]);
    }
    (rows, at == At::Quoted)
}

/// Counts the records in an uncompressed WARC file, up to the first one whose end is unknown. Returns `None` for other
/// files.
#[must_use]
pub fn warc_records(file: &[u8]) -> Option<u64> {
    /// Bytes that old crawls wrote after a block without counting them, and the line ends after them.
    const UNCOUNTED: [usize; 2] = [0, 2];
    const LINE_ENDS: usize = 4;
    if !file.starts_with(b"WARC/") {
        return None;
    }
    let (mut rest, mut count) = (file, 0);
    loop {
        let blank = rest.iter().take_while(|byte| b"\r\n".contains(byte)).count();
        rest = &rest[blank..];
        if !rest.starts_with(b"WARC/") {
            return Some(count);
        }
        count += 1;
        let Some((header, after)) = split_header(rest) else { return Some(count) };
        let Some(after) = content_length(header).and_then(|len| after.get(len..)) else { return Some(count) };
        let is_start = |bytes: &[u8]| bytes.is_empty() || bytes.starts_with(b"WARC/");
        let found = UNCOUNTED.into_iter().find_map(|uncounted| {
            let after = after.get(uncounted..)?;
            let blank = after.iter().take_while(|byte| b"\r\n".contains(byte)).count();
            (is_start(&after[blank..]) && (uncounted == 0 || blank <= LINE_ENDS)).then_some(after)
        });
        match found {
            Some(after) => rest = after,
            // After an empty line there may be other bytes, which are damage of their own.
            None => return Some(count),
        }
    }
}

/// Splits a record after its header's empty line.
fn split_header(record: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut at = 0;
    for line in record.split_inclusive(|&byte| byte == b'\n') {
        at += line.len();
        if line.ends_with(b"\n") && line.trim_ascii().is_empty() {
            return Some(record.split_at(at));
        }
    }
    None
}

/// Returns the length that all of a header's Content-Length fields declare. A line without a colon is not a field.
fn content_length(header: &[u8]) -> Option<usize> {
    let (mut found, mut is_last) = (None, false);
    for line in header.split(|&byte| byte == b'\n') {
        if matches!(line.first(), Some(b' ' | b'\t')) {
            if is_last && !line.trim_ascii().is_empty() {
                return None;
            }
            continue;
        }
        let colon = line.iter().position(|&byte| byte == b':').unwrap_or(0);
        is_last = line[..colon].trim_ascii().eq_ignore_ascii_case(b"content-length");
        if is_last {
            let digits = std::str::from_utf8(line[colon + 1..].trim_ascii()).ok()?;
            let number = digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse().ok())??;
            if found.replace(number).is_some_and(|before| before != number) {
                return None;
            }
        }
    }
    found
}

/// Returns the number of rows that a Parquet file declares, and whether the pages of all columns have the checksums in
/// their headers. Returns `None` for a file with other structures than usual.
#[must_use]
pub fn parquet_rows(file: &[u8]) -> Option<(u64, bool)> {
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&bytes::Bytes::copy_from_slice(file)).ok()?;
    let (mut rows, mut is_intact) = (0, true);
    for group in metadata.row_groups() {
        rows += u64::try_from(group.num_rows()).ok()?;
        for chunk in group.columns() {
            is_intact &= has_checksums(file, chunk)?;
        }
    }
    Some((rows, is_intact))
}

/// Returns whether a column chunk's pages have the checksums in their headers.
fn has_checksums(file: &[u8], chunk: &ColumnChunkMetaData) -> Option<bool> {
    let first = chunk.dictionary_page_offset().filter(|&at| at > 0).unwrap_or(chunk.data_page_offset());
    let mut rest = file.get(usize::try_from(first.min(chunk.data_page_offset())).ok()?..)?;
    let mut left = chunk.num_values();
    while left > 0 {
        let header = Thrift::read(&mut rest, 0)?;
        let page = rest.split_off(..usize::try_from(header.number(3)?).ok()?)?;
        if let Some(expected) = header.number(4) {
            let mut sum = flate2::Crc::new();
            sum.update(page);
            if sum.sum() != expected as u32 {
                return Some(false);
            }
        }
        left -= [5, 8].into_iter().find_map(|data| header.structs.get(&data)?.number(1)).unwrap_or(0).max(0);
    }
    Some(true)
}

/// A struct in Thrift's compact protocol: its numbers and structs by field.
#[derive(Default)]
struct Thrift {
    numbers: HashMap<i64, i64>,
    structs: HashMap<i64, Thrift>,
}

impl Thrift {
    /// Maximum nesting.
    const MAX_DEPTH: usize = 4;

    fn read(bytes: &mut &[u8], depth: usize) -> Option<Thrift> {
        let (mut found, mut field) = (Thrift::default(), 0_i64);
        loop {
            let byte = *bytes.split_off_first()?;
            if byte == 0 {
                return Some(found);
            }
            field = if byte >> 4 > 0 { field + i64::from(byte >> 4) } else { zigzag(varint(bytes)?) };
            match byte & 15 {
                1 | 2 => {}
                4..=6 => drop(found.numbers.insert(field, zigzag(varint(bytes)?))),
                8 => {
                    let len = usize::try_from(varint(bytes)?).ok()?;
                    bytes.split_off(..len)?;
                }
                12 if depth < Thrift::MAX_DEPTH => {
                    let read = Thrift::read(bytes, depth + 1)?;
                    found.structs.insert(field, read);
                }
                _ => return None,
            }
        }
    }

    fn number(&self, field: i64) -> Option<i64> {
        self.numbers.get(&field).copied()
    }
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.split_off_first()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn zigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}
