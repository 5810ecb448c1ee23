//! WACZ files: zip archives whose folder `archive/` has WARC files. Source: specs.webrecorder.net/wacz/1.1.1.
//!
//! The zip stores the WARC files without compression, so each one is read directly from its place in the zip.

use std::cell::Cell;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

use flate2::Crc;
use zip::{CompressionMethod, ZipArchive};

use crate::detect::{Content, ExpectedInput, detect};
use crate::gzip::Unpack;
use crate::open::Input;
use crate::options::{Captures, InputOptions};
use crate::place::Place;
use crate::ranged::Ranged;
use crate::shown::shown;
use crate::text::grouped;
use crate::unpack::{Start, unpack};
use crate::{Error, Result, Sink, warc};

/// Maximum number of bytes in the directory at the zip's end, which limits the memory for it. An entry has about 100
/// bytes.
const MAX_DIRECTORY_BYTES: u64 = 64 << 20;

/// Number of bytes per read of the directory, or of a file's header.
const BLOCK_BYTES: usize = 1 << 13;

/// The folder of WARC files.
const FOLDER: &[u8] = b"archive/";

/// Number of bytes per read. For a remote zip, each read is a request.
const READ_BYTES: usize = 1 << 20;

/// Reads the robots.txt captures in the WARC files. Returns whether captures wait for other inputs.
///
/// # Errors
/// Returns an error if there are no WARC files, or if one is compressed or cannot be read to its end.
pub(crate) fn read(input: Input, captures: Captures<'_>, sink: &mut Sink<'_>) -> Result<bool> {
    let path = input.path.clone();
    let refused = input.refused(ExpectedInput::Captures);
    if !input.is_regular || input.compression.is_some() {
        return Err(refused);
    }
    let source = Arc::new(input.into_ranged()?);
    let files = stored_files(&source).map_err(|text| Error::at(&path, text))?;
    if files.is_empty() {
        return Err(refused);
    }
    let Captures { redirects, place, how: InputOptions { resync, .. } } = captures;
    let mut has_waiting = false;
    for (number, (name, file)) in (0..).zip(files) {
        // This path is used only in messages.
        let member = Place::Local(format!("{}: {}", path.display(), shown(&name)).into());
        let fail = |error: io::Error| Error::at(&member, format!("cannot be read: {error}"));
        let start = Start::read(Box::new(BufReader::with_capacity(READ_BYTES, file))).map_err(fail)?;
        let (source, _) = unpack(start).map_err(fail)?;
        let content = detect(&source.bytes);
        if !matches!(content, Content::Warc | Content::Empty) {
            return Err(Error::at(&member, format!("is {}, not a WARC file", content.describe())));
        }
        has_waiting |= warc::read(&member, source, resync, redirects, (place, number), sink)?;
    }
    Ok(has_waiting)
}

/// Finds the WARC files in a zip archive, in the order of its directory. Errors are messages.
fn stored_files(source: &Arc<Ranged>) -> std::result::Result<Vec<(Vec<u8>, Stored)>, String> {
    let damaged = |error: &dyn std::fmt::Display| format!("the zip archive cannot be read: {error}");
    // The library may read parts of the directory twice.
    let left = Cell::new(Some(2 * MAX_DIRECTORY_BYTES));
    let directory = Directory { source, at: 0, left: &left, block: Vec::new(), start: 0 };
    let mut archive = ZipArchive::new(directory).map_err(|error| damaged(&error))?;
    left.set(None);
    let is_in_folder = |name: &str| name.as_bytes().starts_with(FOLDER);
    let (mut files, mut bytes) = (Vec::new(), 0_u64);
    for number in 0..archive.len() {
        if !archive.name_for_index(number).is_some_and(is_in_folder) {
            continue;
        }
        let file = archive.by_index_raw(number).map_err(|error| damaged(&error))?;
        if !file.is_file() {
            continue;
        }
        let name = file.name_raw();
        if file.compression() != CompressionMethod::Stored || file.encrypted() {
            let text = "is compressed or encrypted in the zip archive; extract it, and give the files";
            return Err(format!("{} {text}", shown(name)));
        }
        let (start, len) = (file.data_start().unwrap_or(0), file.compressed_size());
        bytes = bytes.saturating_add(len);
        if start.checked_add(len).is_none_or(|end| end > source.len()) || bytes > source.len() {
            return Err(damaged(&"its files overlap, or end after it"));
        }
        let (source, checksum) = (Arc::clone(source), (Crc::new(), file.crc32()));
        files.push((name.to_vec(), Stored { source, at: start, left: len, checksum }));
    }
    Ok(files)
}

/// A file that is stored in a zip archive.
struct Stored {
    source: Arc<Ranged>,
    at: u64,
    left: u64,
    /// The checksum of the bytes so far, and the expected checksum of all bytes.
    checksum: (Crc, u32),
}

impl Read for Stored {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let read = self.source.read_at(self.at, &mut buffer[..len])?;
        if read < len.min(1) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.at += read as u64;
        self.left -= read as u64;
        self.checksum.0.update(&buffer[..read]);
        if self.left == 0 && len > 0 && self.checksum.0.sum() != self.checksum.1 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "its checksum in the zip archive is wrong"));
        }
        Ok(read)
    }
}

impl Unpack for Stored {}

/// A zip archive while its directory and its files' headers are read. The library seeks before each entry, so a block
/// of bytes is kept.
struct Directory<'s> {
    source: &'s Ranged,
    at: u64,
    /// Number of bytes that may still be read, while the directory is read.
    left: &'s Cell<Option<u64>>,
    block: Vec<u8>,
    /// The block's offset.
    start: u64,
}

impl Directory<'_> {
    /// Reads the block at the current offset.
    fn fill(&mut self) -> io::Result<()> {
        let rest = self.source.len().saturating_sub(self.at);
        let len = BLOCK_BYTES.min(usize::try_from(rest).unwrap_or(usize::MAX));
        if let Some(left) = self.left.get() {
            let left = left.checked_sub(len as u64).filter(|_| rest <= MAX_DIRECTORY_BYTES);
            let too_large = || format!("its directory has more than {} bytes", grouped(MAX_DIRECTORY_BYTES));
            self.left.set(Some(left.ok_or_else(|| io::Error::other(too_large()))?));
        }
        self.block.resize(len, 0);
        let read = self.source.read_at(self.at, &mut self.block)?;
        self.block.truncate(read);
        self.start = self.at;
        Ok(())
    }
}

impl Read for Directory<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let is_kept = (self.start..self.start + self.block.len() as u64).contains(&self.at);
        if !is_kept && !buffer.is_empty() && self.at < self.source.len() {
            self.fill()?;
        }
        let place = usize::try_from(self.at.saturating_sub(self.start)).unwrap_or(usize::MAX);
        let read = self.block.get(place..).unwrap_or_default().read(buffer)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for Directory<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.source.len().checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    fn found(file: File) -> std::result::Result<usize, String> {
        let len = file.metadata().unwrap().len();
        stored_files(&Arc::new(Ranged::new(file, len))).map(|files| files.len())
    }

    #[test]
    fn many_small_files_are_found() {
        // More than 65,535 files need the directory's second version.
        for count in [1, 5_000, 70_000] {
            let mut zip = ZipWriter::new(io::BufWriter::new(tempfile::tempfile().unwrap()));
            let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
            zip.start_file("datapackage.json", options).unwrap();
            for number in 0..count {
                zip.start_file(format!("archive/{number}.warc"), options).unwrap();
                zip.write_all(b"x").unwrap();
            }
            assert_eq!(found(zip.finish().unwrap().into_inner().unwrap()), Ok(count));
        }
    }

    /// Writes a directory of this size with files of no folder, after a start without files.
    fn directory(len: u64) -> File {
        const ENTRY: u64 = 46;
        const END: u64 = 22;
        let mut file = io::BufWriter::new(tempfile::tempfile().unwrap());
        let start = b"PK\x03\x04 a start";
        file.write_all(start).unwrap();
        let (mut left, mut count) = (len - END, 0_u16);
        while left > 0 {
            // The last entry but one leaves room for the last.
            let name = (left - ENTRY).min(60_000);
            let name = if left - ENTRY - name > 0 { name.min(left - 2 * ENTRY) } else { name };
            file.write_all(b"PK\x01\x02\x14\0\x14\0").unwrap();
            file.write_all(&[0; 20]).unwrap();
            file.write_all(&u16::try_from(name).unwrap().to_le_bytes()).unwrap();
            file.write_all(&[0; 16]).unwrap();
            file.write_all(&vec![b'n'; name as usize]).unwrap();
            (left, count) = (left - ENTRY - name, count + 1);
        }
        file.write_all(b"PK\x05\x06\0\0\0\0").unwrap();
        file.write_all(&[count.to_le_bytes(), count.to_le_bytes()].concat()).unwrap();
        file.write_all(&u32::try_from(len - END).unwrap().to_le_bytes()).unwrap();
        file.write_all(&u32::try_from(start.len()).unwrap().to_le_bytes()).unwrap();
        file.write_all(&[0; 2]).unwrap();
        file.into_inner().unwrap()
    }

    #[test]
    fn a_directory_is_read_up_to_the_limit() {
        for len in [1_000, MAX_DIRECTORY_BYTES - 1, MAX_DIRECTORY_BYTES, MAX_DIRECTORY_BYTES + 1] {
            match (found(directory(len)), len <= MAX_DIRECTORY_BYTES) {
                (Ok(count), true) => assert_eq!(count, 0),
                (Err(error), false) => {
                    assert!(error.ends_with("its directory has more than 67,108,864 bytes"), "{error}");
                }
                (found, _) => panic!("{len}: {found:?}"),
            }
        }
    }
}
