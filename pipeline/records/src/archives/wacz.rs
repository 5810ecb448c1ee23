//! WACZ files: zip archives whose folder `archive/` has WARC files. Source: specs.webrecorder.net/wacz/1.1.1.
//!
//! The zip stores the WARC files without compression, so each one is read directly from its place in the zip.

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

/// Maximum number of bytes that are read to find the WARC files, which limits the memory for the directory. An entry
/// has about 100 bytes.
const MAX_DIRECTORY_BYTES: u64 = 64 << 20;

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
    let directory = Directory { source, at: 0, left: MAX_DIRECTORY_BYTES };
    let mut archive = ZipArchive::new(BufReader::new(directory)).map_err(|error| damaged(&error))?;
    let (mut files, mut bytes) = (Vec::new(), 0_u64);
    for number in 0..archive.len() {
        let file = archive.by_index_raw(number).map_err(|error| damaged(&error))?;
        let name = file.name_raw();
        if !name.starts_with(FOLDER) || !file.is_file() {
            continue;
        }
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

/// A zip archive while its directory is read, up to a limit.
struct Directory<'s> {
    source: &'s Ranged,
    at: u64,
    /// Number of bytes that may still be read.
    left: u64,
}

impl Read for Directory<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = self.source.len().saturating_sub(self.at);
        let len = buffer.len().min(usize::try_from(rest).unwrap_or(usize::MAX));
        let too_large =
            || io::Error::other(format!("its directory has more than {} bytes", grouped(MAX_DIRECTORY_BYTES)));
        self.left = self.left.checked_sub(len as u64).ok_or_else(too_large)?;
        let read = self.source.read_at(self.at, &mut buffer[..len])?;
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
    use super::*;

    #[test]
    fn a_directory_is_read_up_to_the_limit() {
        for len in [MAX_DIRECTORY_BYTES - 1, MAX_DIRECTORY_BYTES, MAX_DIRECTORY_BYTES + 1] {
            let file = tempfile::tempfile().unwrap();
            file.set_len(len).unwrap();
            let source = Ranged::new(file, len);
            let mut directory = Directory { source: &source, at: 0, left: MAX_DIRECTORY_BYTES };
            let read = io::copy(&mut BufReader::with_capacity(READ_BYTES, &mut directory), &mut io::sink());
            match len <= MAX_DIRECTORY_BYTES {
                true => assert_eq!(read.unwrap(), len),
                false => assert_eq!(read.unwrap_err().to_string(), "its directory has more than 67,108,864 bytes"),
            }
        }
    }
}
