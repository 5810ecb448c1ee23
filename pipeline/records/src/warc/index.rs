//! Robots.txt captures in an index of WARC records, such as Common Crawl's columnar index: the records are read by
//! their offsets in WARC files below a folder.
//!
//! The rows are sorted by file and offset first, so that each file is read forward, and nearby records together. Then
//! each record is read as from a whole WARC file: redirects and revisits among the listed records are resolved. A
//! record's range must hold exactly one record, with the URL and the time in the index; otherwise the row is bad. The
//! table may be wrong about the range, and a website may have written any bytes inside a block.

pub(crate) mod names;
pub(crate) mod text;

use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path};

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use reptile::capture::Time;
use reptile::limits::MAX_URL_BYTES;

use super::raw::OneMember;
use super::records::{NextRecord, RECORD_START, Record, Records};
use super::redirects::{Redirects, normal_url};
use super::{Awaited, InputPlace, MAX_BLOCK_BYTES, Reader, read_date};
use crate::bodies::TOO_LARGE;
use crate::captures::Cell;
use crate::gzip::{Member, Unpack};
use crate::place::Place;
use crate::ranged::Ranged;
use crate::shown::shown;
use crate::spill::SpilledRows;
use crate::time::{Zone, read_time, show_time};
use crate::unpack::Compression;
use crate::{Error, Item, Result, Sink};

/// Maximum length in bytes for a stored record: the largest block, and its header.
const MAX_RECORD_BYTES: u64 = (MAX_BLOCK_BYTES + (1 << 20)) as u64;

/// Maximum bytes that are read at once, unless a single record is longer.
const MAX_READ_BYTES: u64 = 4 << 20;

/// Maximum bytes between two records that are read at once.
const MAX_GAP_BYTES: u64 = 64 << 10;

/// Maximum records that are read at once.
const MAX_READ_RECORDS: usize = 64;

/// Maximum length in bytes for a decompressed record that is kept while others are checked. Longer records are
/// decompressed twice.
const MAX_KEPT_BYTES: usize = 512 << 10;

/// Maximum length in bytes for a file name in an index.
pub(crate) const MAX_FILE_NAME_BYTES: usize = 4 << 10;

/// The reason for a row without a usable range.
const NO_RANGE: &str = "not a valid row of a WARC index";

/// The reason for a row whose range does not hold its record.
const OTHER_RECORD: &str = "WARC index that does not match its files";

/// The reason for a row with the range of another row.
const REPEATED: &str = "row of a WARC index that repeats another row's record";

/// The error for an index without the option.
pub(crate) const WITHOUT_ROOT: &str = "is an index of WARC records, without bodies; expected --warc-root with the \
                                       folder that its file names start from";

/// The cells of a row: the URL, the time, the file, the offset and the length.
pub(crate) type Cells<'b> = [Cell<'b>; 5];

/// A row that is waiting for its record.
#[derive(Clone, Debug)]
struct IndexRow {
    file: Vec<u8>,
    offset: u64,
    len: u64,
    /// The row's number in the index, from 1.
    number: u64,
    time: Option<Time>,
    url: Vec<u8>,
}

impl IndexRow {
    /// Reads a row's cells.
    ///
    /// # Errors
    /// Returns the reason why the row is not usable, and details.
    fn of(number: u64, cells: Cells<'_>) -> std::result::Result<IndexRow, (&'static str, String)> {
        let [url, time, file, offset, len] = cells;
        let bad = |detail: String| (NO_RANGE, detail);
        let needed = |cell: Cell<'_>, what: &str, limit: usize| match cell {
            Cell::Text(text) => Ok(text.to_vec()),
            Cell::Null => Err(bad(format!("expected {what}, found nothing"))),
            Cell::TooLong => Err(bad(format!("expected {what} of at most {limit} bytes"))),
        };
        let count = |cell: Cell<'_>, what: &str| {
            let text = needed(cell, what, MAX_FILE_NAME_BYTES)?;
            let number = std::str::from_utf8(&text).ok().and_then(|text| text.parse::<u64>().ok());
            number.ok_or_else(|| bad(format!("expected {what}, found \"{}\"", shown(&text))))
        };
        let url = needed(url, "a URL", MAX_URL_BYTES)?;
        let file = needed(file, "a WARC file's name", MAX_FILE_NAME_BYTES)?;
        if !is_below(&file) {
            return Err(bad(format!("expected a path below the folder of --warc-root, found \"{}\"", shown(&file))));
        }
        let (offset, len) = (count(offset, "an offset in bytes")?, count(len, "a length in bytes")?);
        if len == 0 || offset.checked_add(len).is_none() {
            return Err(bad(format!("expected a range of bytes, found {len} bytes at byte {offset}")));
        }
        if len > MAX_RECORD_BYTES {
            return Err((TOO_LARGE, format!("its record has {len} bytes; the limit is {MAX_RECORD_BYTES}")));
        }
        let time = match time {
            Cell::Null => None,
            Cell::TooLong => return Err(bad("expected a time, found a long text".into())),
            Cell::Text(text) => {
                let text = std::str::from_utf8(text).map_err(|_| bad(format!("not a time: \"{}\"", shown(text))))?;
                // Records have times in UTC.
                Some(read_time(text, &Zone::default()).map_err(bad)?)
            }
        };
        Ok(IndexRow { file, offset, len, number, time, url })
    }

    fn end(&self) -> u64 {
        self.offset + self.len
    }

    /// Returns the row as bytes that sort by file and offset. File names have no zero bytes.
    fn push_to(&self, rows: &mut SpilledRows) -> Result<()> {
        let time = self.time.map_or_else(Vec::new, |time| time.to_be_bytes().to_vec());
        let numbers = [self.offset, self.len, self.number, time.len() as u64].map(u64::to_be_bytes);
        rows.push(&[&self.file, &[0], numbers.as_flattened(), &time, &self.url])
    }

    /// Parses the bytes of [`IndexRow::push_to`], or returns `None` for other bytes.
    fn read(bytes: &[u8]) -> Option<IndexRow> {
        let (file, rest) = bytes.split_at(memchr::memchr(0, bytes)?);
        let (numbers, rest) = rest.get(1..)?.split_first_chunk::<32>()?;
        let (chunks, _) = numbers.as_chunks::<8>();
        let [offset, len, number, time_len] = *chunks else { return None };
        let [offset, len, number, time_len] = [offset, len, number, time_len].map(u64::from_be_bytes);
        let (time, url) = rest.split_at_checked(usize::try_from(time_len).ok()?)?;
        let time = time.first_chunk().map(|time| Time::from_be_bytes(*time));
        Some(IndexRow { file: file.into(), offset, len, number, time, url: url.into() })
    }

    fn file(&self) -> String {
        shown(&self.file)
    }

    /// Returns the row's name in messages.
    fn name(&self, index: &Place) -> String {
        format!("{}: row {}: {} at byte {}", index.display(), self.number, self.file(), self.offset)
    }
}

/// Returns whether a file name is a relative path that stays below its folder.
fn is_below(file: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(file) else { return false };
    let is_plain = !text.is_empty() && !text.contains(['\0', '\\']);
    is_plain && Path::new(text).components().all(|part| matches!(part, Component::Normal(_)))
}

/// The rows of an index.
pub(crate) struct Index<'p> {
    path: &'p Place,
    rows: SpilledRows,
}

impl<'p> Index<'p> {
    /// Creates an index without rows. Rows over the memory limit go to a temporary file.
    pub fn new(path: &'p Place, redirects: &Redirects) -> Index<'p> {
        Index { path, rows: SpilledRows::new(redirects.scratch().clone()) }
    }

    /// Adds a row, with its number from 1. An unusable row is an [`Item::Bad`].
    ///
    /// # Errors
    /// Returns an error if a temporary file cannot be written, or if the sink fails.
    pub fn add(&mut self, number: u64, cells: Cells<'_>, sink: &mut Sink<'_>) -> Result<()> {
        match IndexRow::of(number, cells) {
            Ok(row) => row.push_to(&mut self.rows),
            Err((reason, detail)) => {
                sink(Item::Bad { name: format!("{}: row {number}", self.path.display()), reason, detail })
            }
        }
    }

    /// Reads the rows' records from the files below `root`. Returns whether captures wait for others.
    ///
    /// # Errors
    /// Returns an error if a file is unreadable, or if the sink fails. A row without its record is an [`Item::Bad`].
    pub fn read(self, root: &Place, redirects: &Redirects, place: InputPlace, sink: &mut Sink<'_>) -> Result<bool> {
        let rows = self.rows.finish()?;
        let mut cursor = rows.cursor()?;
        let mut file: Option<OpenFile<'_>> = None;
        let mut has_waiting = false;
        let mut files = 0;
        let mut batch: Vec<IndexRow> = Vec::new();
        loop {
            let row = match cursor.row() {
                Some(bytes) => {
                    Some(IndexRow::read(bytes).ok_or_else(|| Error::at(self.path, "damaged temporary file"))?)
                }
                None => None,
            };
            if !row.as_ref().is_some_and(|row| joins(&batch, row))
                && let Some(file) = &mut file
            {
                has_waiting |= file.read(&std::mem::take(&mut batch), redirects, sink)?;
            }
            let Some(row) = row else { return Ok(has_waiting) };
            cursor.advance()?;
            if file.as_ref().is_none_or(|file| file.name != row.file) {
                let rank = u64::from(place.rank) << 32 | files;
                file = Some(OpenFile::open(self.path, root, &row, place, rank)?);
                files += 1;
            }
            if batch.last().is_some_and(|last| (last.offset, last.len) == (row.offset, row.len)) {
                sink(Item::LeftOut { reason: REPEATED, name: Some(row.name(self.path)) })?;
                continue;
            }
            batch.push(row);
        }
    }
}

/// Returns whether a row's record is read together with the preceding ones.
fn joins(batch: &[IndexRow], row: &IndexRow) -> bool {
    let (Some(first), Some(last)) = (batch.first(), batch.last()) else { return true };
    let end = batch.iter().map(IndexRow::end).max().unwrap_or(0);
    let is_repeated = (last.offset, last.len) == (row.offset, row.len);
    row.file == first.file
        && (is_repeated
            || batch.len() < MAX_READ_RECORDS
                && row.offset <= end.saturating_add(MAX_GAP_BYTES)
                && row.end().max(end) - first.offset <= MAX_READ_BYTES)
}

/// The WARC file that is being read.
struct OpenFile<'p> {
    index: &'p Place,
    name: Vec<u8>,
    source: Ranged,
    place: InputPlace,
    rank: u64,
    awaited: Awaited,
}

impl<'p> OpenFile<'p> {
    /// Opens a row's file.
    fn open(index: &'p Place, root: &Place, row: &IndexRow, place: InputPlace, rank: u64) -> Result<OpenFile<'p>> {
        let source = open(root, &row.file)
            .map_err(|error| Error::at(index, format!("row {}: {}: {error}", row.number, row.file())))?;
        Ok(OpenFile { index, name: row.file.clone(), source, place, rank, awaited: Awaited::default() })
    }

    /// Reads some rows' records, in order. Returns whether captures wait for others.
    fn read(&mut self, rows: &[IndexRow], redirects: &Redirects, sink: &mut Sink<'_>) -> Result<bool> {
        let (within, outside): (Vec<&IndexRow>, Vec<&IndexRow>) =
            rows.iter().partition(|row| row.end() <= self.source.len());
        let start = within.first().map_or(0, |row| row.offset);
        let end = within.iter().map(|row| row.end()).max().unwrap_or(0);
        let bytes = match within.first() {
            None => Vec::new(),
            // The range is within the file, and at most as long as the limits allow.
            Some(first) => self
                .source
                .at(start, (end - start) as usize)
                .map_err(|error| Error::new(format!("{}: cannot be read: {error}", first.name(self.index))))?,
        };
        let stored: Vec<&[u8]> = within
            .iter()
            .map(|row| bytes.get((row.offset - start) as usize..(row.end() - start) as usize).unwrap_or_default())
            .collect();
        let checked: Vec<_> =
            stored.par_iter().zip(&within).map(|(stored, row)| StoredRecord::check(stored, row)).collect();
        let mut has_waiting = false;
        for ((row, stored), checked) in within.into_iter().zip(stored).zip(checked) {
            match checked {
                Err((reason, detail)) => sink(Item::Bad { name: row.name(self.index), reason, detail })?,
                Ok(record) => has_waiting |= self.pass_on(row, &record, stored, redirects, sink)?,
            }
        }
        for row in outside {
            let detail = format!("its record ends at byte {}, but the file has {} bytes", row.end(), self.source.len());
            sink(Item::Bad { name: row.name(self.index), reason: OTHER_RECORD, detail })?;
        }
        Ok(has_waiting)
    }

    /// Reads a checked record like one in a WARC file. Returns whether its capture waits for others.
    fn pass_on(
        &mut self,
        row: &IndexRow,
        record: &StoredRecord,
        stored: &[u8],
        redirects: &Redirects,
        sink: &mut Sink<'_>,
    ) -> Result<bool> {
        let name_of = |_| row.name(self.index);
        let unreadable = |error: io::Error| Error::new(format!("{}: cannot be read: {error}", name_of(0)));
        let records = Records::new(record.source(stored), false);
        let awaited = std::mem::take(&mut self.awaited);
        let mut reader = Reader {
            path: self.index,
            // The range is known to hold a whole record.
            searches: true,
            name_of: &name_of,
            records,
            redirects,
            place: self.place,
            rank: self.rank,
            awaited,
            has_waiting: false,
        };
        match reader.records.next_record().map_err(unreadable)? {
            NextRecord::Record(mut record) => {
                // Records are ordered by their offsets instead of their numbers.
                record.number = row.offset;
                reader.record(&record, sink)?.map_err(unreadable)?;
            }
            NextRecord::Damaged(damage) => sink(reader.damaged(damage)?)?,
            NextRecord::End => {}
        }
        self.awaited = reader.awaited;
        Ok(reader.has_waiting)
    }
}

/// Opens the WARC file with a name in an index. The name has been checked to stay below `root`.
///
/// # Errors
/// Returns an error if the file is unreadable or is not a regular file, or if a symbolic link on the way to it leaves
/// `root`. A crawl wrote the name, so it must not select a file elsewhere.
fn open(root: &Place, name: &[u8]) -> io::Result<Ranged> {
    let place = root.join(Path::new(String::from_utf8_lossy(name).as_ref()));
    let (Place::Local(root), Place::Local(path)) = (root, &place) else {
        // In a URL, `%2E%2E` is the folder above, and `?` ends the path.
        return match name.iter().any(|byte| b"?#%".contains(byte)) {
            true => Err(io::Error::other("a name with ?, # or % cannot be a part of a URL")),
            false => Ranged::open(&place),
        };
    };
    // The checked path has no links. Only a process that changes the folder at the same time could add one.
    let target = fs::canonicalize(path)?;
    if !target.starts_with(fs::canonicalize(root)?) {
        return Err(io::Error::other("a symbolic link on its path leaves the folder of --warc-root"));
    }
    // Opening a pipe would wait for a writer.
    match fs::metadata(&target)?.is_file() {
        true => Ranged::open(&Place::Local(target)),
        false => Err(io::Error::other("is not a regular file")),
    }
}

/// A range's bytes that hold one record.
enum StoredRecord {
    Plain,
    /// A gzip member. Its data is kept if it is short.
    Packed(Option<Vec<u8>>),
}

impl StoredRecord {
    /// Checks that a range holds exactly one complete record, with the row's URL and time.
    ///
    /// # Errors
    /// Returns the reason why the record cannot be used, and details.
    fn check(stored: &[u8], row: &IndexRow) -> std::result::Result<StoredRecord, (&'static str, String)> {
        let bad = |detail: String| (OTHER_RECORD, detail);
        let record = if stored.starts_with(RECORD_START) {
            StoredRecord::Plain
        } else if Compression::of(stored) == Some(Compression::Gzip) {
            StoredRecord::Packed(member_data(stored).map_err(bad)?)
        } else {
            let found = shown(&stored[..stored.len().min(20)]);
            return Err(bad(format!("expected a gzip member or \"WARC/\", found \"{found}\"")));
        };
        let mut records = Records::new(record.source(stored), false);
        let next = |records: &mut Records<_>| records.next_record().map_err(|error| bad(error.to_string()));
        let header = match next(&mut records)? {
            NextRecord::Record(header) => header,
            NextRecord::Damaged(damage) => return Err(bad(first_part(&damage.detail))),
            NextRecord::End => return Err(bad("expected a record, found an empty gzip member".into())),
        };
        match next(&mut records)? {
            NextRecord::End => {}
            NextRecord::Damaged(damage) if damage.number == 1 => return Err(bad(first_part(&damage.detail))),
            NextRecord::Damaged(_) | NextRecord::Record(_) => {
                return Err(bad(format!("its {} bytes hold more than one record", row.len)));
            }
        }
        is_of(&header, row).map_err(bad)?;
        Ok(record)
    }

    /// Returns a reader of the record.
    fn source<'b>(&'b self, stored: &'b [u8]) -> RecordReader<'b> {
        match self {
            StoredRecord::Plain => RecordReader::Plain(stored),
            StoredRecord::Packed(Some(data)) => RecordReader::Data(data),
            StoredRecord::Packed(None) => RecordReader::Packed(OneMember(Member::new(stored))),
        }
    }
}

/// Returns the description of damage without its consequences for a whole file.
fn first_part(detail: &str) -> String {
    detail.split("; ").next().unwrap_or_default().to_owned()
}

/// Decompresses and checks a gzip member, which must end with its range. Returns its data, if it is short.
fn member_data(stored: &[u8]) -> std::result::Result<Option<Vec<u8>>, String> {
    let mut member = Member::new(stored);
    let mut data = Vec::new();
    let damaged = |error: io::Error| format!("its gzip member is damaged: {error}");
    (&mut member).take(MAX_KEPT_BYTES as u64 + 1).read_to_end(&mut data).map_err(damaged)?;
    let is_kept = data.len() <= MAX_KEPT_BYTES;
    if !is_kept {
        io::copy(&mut member, &mut io::sink()).map_err(damaged)?;
    }
    match member.source().len() {
        0 => Ok(is_kept.then_some(data)),
        rest => Err(format!("its gzip member ends {rest} bytes before the end of its {} bytes", stored.len())),
    }
}

/// Checks that a record has the row's URL and time.
fn is_of(record: &Record, row: &IndexRow) -> std::result::Result<(), String> {
    let target = record.target.as_deref().unwrap_or_default();
    let is_same = target == row.url || normal_url(target).is_some_and(|url| Some(url) == normal_url(&row.url));
    if !is_same {
        return Err(format!("expected a record of {}, found one of \"{}\"", shown(&row.url), shown(target)));
    }
    let Some(expected) = row.time else { return Ok(()) };
    let date = record.date.as_deref().unwrap_or_default();
    match read_date(date) {
        Ok(found) if found == expected => Ok(()),
        _ => Err(format!("expected a record of {}, found one of \"{}\"", show_time(expected), shown(date))),
    }
}

/// A reader of one record.
enum RecordReader<'b> {
    /// Bytes that are not compressed.
    Plain(&'b [u8]),
    /// A gzip member's data.
    Data(&'b [u8]),
    Packed(OneMember<Member<&'b [u8]>>),
}

impl Read for RecordReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            RecordReader::Plain(bytes) | RecordReader::Data(bytes) => bytes.read(buffer),
            RecordReader::Packed(member) => member.read(buffer),
        }
    }
}

impl Unpack for RecordReader<'_> {
    fn has_members(&self) -> bool {
        !matches!(self, RecordReader::Plain(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gzip::tests::gzip;

    fn row(offset: u64, len: u64) -> IndexRow {
        IndexRow { file: b"file".to_vec(), offset, len, number: 1, time: Some(-1), url: b"url".to_vec() }
    }

    #[test]
    fn records_over_the_limit_are_too_large() {
        for (len, fits) in [(MAX_RECORD_BYTES - 1, true), (MAX_RECORD_BYTES, true), (MAX_RECORD_BYTES + 1, false)] {
            let len = len.to_string();
            let cells =
                [Cell::Text(b"url"), Cell::Null, Cell::Text(b"file"), Cell::Text(b"7"), Cell::Text(len.as_bytes())];
            assert_eq!(
                IndexRow::of(1, cells).map_err(|(reason, _)| reason).err(),
                (!fits).then_some(TOO_LARGE),
                "{len}"
            );
        }
    }

    #[test]
    fn rows_are_sorted_by_file_and_offset() {
        let mut rows = SpilledRows::new(crate::spill::Scratch::default());
        let mut expected = Vec::new();
        for file in [&b"a"[..], b"a.b", b"ab"] {
            for (offset, time) in [(1, None), (2, Some(-1)), (256, Some(Time::MAX)), (1 << 40, Some(0))] {
                expected.push(IndexRow { file: file.to_vec(), time, ..row(offset, 3) });
            }
        }
        expected.iter().rev().for_each(|row| row.push_to(&mut rows).unwrap());
        let sorted = rows.finish().unwrap();
        let mut cursor = sorted.cursor().unwrap();
        for row in expected {
            assert_eq!(format!("{:?}", IndexRow::read(cursor.row().unwrap())), format!("{:?}", Some(row)));
            cursor.advance().unwrap();
        }
        assert!(cursor.row().is_none());
    }

    #[test]
    fn near_records_are_read_together_up_to_the_limits() {
        let first = row(1000, 10);
        for (gap, is_near) in [(MAX_GAP_BYTES - 1, true), (MAX_GAP_BYTES, true), (MAX_GAP_BYTES + 1, false)] {
            assert_eq!(joins(std::slice::from_ref(&first), &row(1010 + gap, 5)), is_near, "{gap}");
        }
        for (len, fits) in [(MAX_READ_BYTES - 1, true), (MAX_READ_BYTES, true), (MAX_READ_BYTES + 1, false)] {
            assert_eq!(joins(std::slice::from_ref(&first), &row(1010, len - 10)), fits, "{len}");
        }
        for (count, fits) in [(MAX_READ_RECORDS - 1, true), (MAX_READ_RECORDS, false), (MAX_READ_RECORDS + 1, false)] {
            assert_eq!(joins(&vec![first.clone(); count], &row(1010, 1)), fits, "{count}");
            // A repeated row is only counted.
            assert!(joins(&vec![first.clone(); count], &first));
        }
        assert!(!joins(&[first], &IndexRow { file: b"other".to_vec(), ..row(1010, 1) }));
        assert!(joins(&[], &row(0, MAX_RECORD_BYTES)));
    }

    #[test]
    fn the_data_of_long_members_is_not_kept() {
        for len in [MAX_KEPT_BYTES - 1, MAX_KEPT_BYTES, MAX_KEPT_BYTES + 1] {
            let packed = gzip(&vec![b'a'; len]);
            let data = member_data(&packed).unwrap();
            assert_eq!(data.map(|data| data.len()), (len <= MAX_KEPT_BYTES).then_some(len));
            assert!(member_data(&packed[..packed.len() - 1]).unwrap_err().starts_with("its gzip member is damaged: "));
            let longer = [&packed[..], b"x"].concat();
            assert!(member_data(&longer).unwrap_err().starts_with("its gzip member ends 1 bytes before the end of"));
        }
    }
}
