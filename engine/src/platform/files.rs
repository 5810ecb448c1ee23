//! Memory-mapped files.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

use super::LARGE_PAGE;

/// A file mapped read-only, or an in-memory copy.
#[derive(Debug)]
pub struct MappedFile {
    // `None` for an empty file, which `memmap2` refuses to map.
    map: Option<memmap2::Mmap>,
    /// The file's byte range in the map.
    place: Range<usize>,
    /// Whether the map is a copy, whose pages cannot be read from the file again.
    #[cfg_attr(not(unix), allow(dead_code, reason = "pages are released only on Unix"))]
    is_copy: bool,
}

impl MappedFile {
    /// Maps a file with one system call.
    ///
    /// # Safety
    /// The file must not be written to or truncated while it is mapped, by this process or any other. Replacing it by
    /// renaming another file over it is fine. Bytes that change during a read are undefined behavior in Rust, and
    /// reading truncated bytes ends the process (`SIGBUS` on Unix).
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened, is not a regular file, or cannot be mapped.
    pub unsafe fn open(path: impl AsRef<Path>) -> io::Result<MappedFile> {
        let file = File::open(path)?;
        // SAFETY: the requirements are the same.
        unsafe { MappedFile::of(&file) }
    }

    /// Maps an open file with one system call.
    ///
    /// # Safety
    /// See [`MappedFile::open`].
    ///
    /// # Errors
    /// Returns an error if the file is not a regular file or cannot be mapped.
    pub unsafe fn of(file: &File) -> io::Result<MappedFile> {
        if length(file)? == 0 {
            return Ok(MappedFile { map: None, place: 0..0, is_copy: false });
        }
        // SAFETY: `Mmap::map` requires that the file does not change while it is mapped, and the caller guarantees it.
        let map = unsafe { memmap2::Mmap::map(file) }?;
        Ok(MappedFile { place: 0..map.len(), map: Some(map), is_copy: false })
    }

    /// Writes an unnamed file in a folder and maps it.
    ///
    /// The system removes it once it is unmapped, however the process ends.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created, written or mapped, or if `write` fails.
    #[cfg(feature = "nameless")]
    pub fn nameless(folder: &Path, write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> io::Result<MappedFile> {
        let file = tempfile::tempfile_in(folder)?;
        let mut out = io::BufWriter::with_capacity(1 << 20, &file);
        write(&mut out)?;
        io::Write::flush(&mut out)?;
        drop(out);
        // SAFETY: the file no longer changes. It has no name, so no other process can open it, and `file` is dropped
        // here without further writes.
        unsafe { MappedFile::of(&file) }
    }

    /// Releases pages that have been read.
    ///
    /// The system may keep them in its page cache, and reading one again then takes about a microsecond. Does nothing
    /// to a copy, or on systems other than Unix.
    pub fn release(&self) {
        #[cfg(unix)]
        if let Some(map) = self.map.as_ref().filter(|_| !self.is_copy) {
            // SAFETY: a copy would lose its pages, but this is not a copy. The map is read-only and shared with the
            // file, which does not change while it is mapped. A released page is read from the file again with the same
            // bytes, even during a read. If the system refuses, nothing has changed.
            let _ = unsafe { map.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
        }
    }

    /// Tells the system to expect few, scattered reads.
    ///
    /// It then reads only the pages that are touched and does not read ahead. With an uncached file of 288 MB, reading
    /// 1,000 places took 51 ms and loaded 4 MB, instead of 446 ms and the whole file. Do not call it before reading
    /// everything, as verifying a set does: that took 5.5 s instead of 0.4. Has no effect on cached pages, or on
    /// systems other than Unix.
    pub fn expect_few_reads(&self) {
        #[cfg(unix)]
        if let Some(map) = &self.map {
            // Advice only: if the system refuses it, more is read than necessary.
            let _ = map.advise(memmap2::Advice::Random);
        }
    }

    /// Reads a file into memory, using large pages if the system has them (Linux, unless disabled).
    ///
    /// Random access to a set that is much larger than the processor's caches then needs fewer page-table steps.
    ///
    /// Cost: reads the whole file. The copy takes as much memory as the file and is not shared between processes.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened, is not a regular file, cannot be read, or does not fit in memory.
    pub fn copy(path: impl AsRef<Path>) -> io::Result<MappedFile> {
        let mut file = File::open(path)?;
        let len = length(&file)?;
        if len == 0 {
            return Ok(MappedFile { map: None, place: 0..0, is_copy: true });
        }
        let pages = len.checked_next_multiple_of(LARGE_PAGE).and_then(|pages| pages.checked_add(LARGE_PAGE));
        let mut map = memmap2::MmapMut::map_anon(pages.ok_or(io::ErrorKind::OutOfMemory)?)?;
        // Large pages need a start that is a multiple of their size.
        let start = map.as_ptr().align_offset(LARGE_PAGE).min(LARGE_PAGE);
        // A system without large pages refuses the advice, which is harmless.
        #[cfg(target_os = "linux")]
        let _ = map.advise_range(memmap2::Advice::HugePage, start, len.next_multiple_of(LARGE_PAGE));
        let place = start..start + len;
        file.read_exact(map.get_mut(place.clone()).unwrap_or_default())?;
        Ok(MappedFile { map: Some(map.make_read_only()?), place, is_copy: true })
    }
}

/// Returns the length of a regular file.
fn length(file: &File) -> io::Result<usize> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok(usize::try_from(metadata.len()).map_err(|_| io::ErrorKind::FileTooLarge)?)
}

impl AsRef<[u8]> for MappedFile {
    fn as_ref(&self) -> &[u8] {
        self.map.as_deref().and_then(|map| map.get(self.place.clone())).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_equal_their_files() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let bytes: Vec<u8> = (0..=LARGE_PAGE as u32).map(|at| (at.wrapping_mul(0x9E37_79B9) >> 24) as u8).collect();
        for len in [0, 1, 4_096, LARGE_PAGE - 1, LARGE_PAGE, LARGE_PAGE + 1] {
            std::fs::write(file.path(), &bytes[..len]).unwrap();
            let copy = MappedFile::copy(file.path()).unwrap();
            assert!(copy.as_ref() == &bytes[..len], "{len}");
            // A copy has no file to reload its pages from, so `release` must keep them.
            copy.release();
            assert!(copy.as_ref() == &bytes[..len], "{len}");
            assert!(len == 0 || copy.as_ref().as_ptr().align_offset(LARGE_PAGE) == 0, "{len}");
            assert!(len == 0 || flags_of(&copy).is_none_or(|flags| flags.contains(" hg ")), "{len}");
        }
        assert!(MappedFile::copy(file.path().parent().unwrap()).is_err());
        assert!(MappedFile::copy(file.path().join("absent")).is_err());
    }

    #[test]
    fn expecting_few_reads_sets_the_random_read_flag() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for bytes in [&b""[..], b"some bytes"] {
            std::fs::write(file.path(), bytes).unwrap();
            // SAFETY: nothing else writes to the file, and the map is dropped before the test writes to it again.
            let mapped = unsafe { MappedFile::open(file.path()) }.unwrap();
            assert!(flags_of(&mapped).is_none_or(|flags| !flags.contains(" rr ")));
            mapped.expect_few_reads();
            assert_eq!(mapped.as_ref(), bytes);
            assert!(bytes.is_empty() || flags_of(&mapped).is_none_or(|flags| flags.contains(" rr ")));
        }
    }

    /// Returns the Linux flags for a file's mapping, or `None` on other systems or for an empty file.
    fn flags_of(file: &MappedFile) -> Option<String> {
        let at = file.as_ref().first().map(|first| std::ptr::from_ref(first).addr())?;
        let text = std::fs::read_to_string("/proc/self/smaps").ok()?;
        let holds = |line: &&str| {
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            let number = |text| usize::from_str_radix(text, 16).ok();
            range.is_some_and(|(start, end)| number(start) <= Some(at) && Some(at) < number(end))
        };
        let lines = text.lines().skip_while(|line| !holds(line));
        lines.skip(1).find_map(|line| line.strip_prefix("VmFlags:")).map(str::to_owned)
    }
}
