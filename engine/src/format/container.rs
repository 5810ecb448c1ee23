//! A set's container: label, version, section table, checksums.
//!
//! Does not interpret section contents.

mod layout;
#[cfg(feature = "write")]
mod write;

use xxhash_rust::xxh3::xxh3_64;

use self::layout::{CHECKSUM_AT, ENDIAN_MARK, LABEL, header_checksum};
pub use self::layout::{ENTRY_BYTES, FORMAT_VERSION, HEADER_BYTES, Header, SECTION_ALIGNMENT};
#[cfg(feature = "write")]
pub use self::write::{OVERHEAD_BYTES, Sections, write, write_in_blocks, write_spooled};
use super::bytes::{u32_at, u64_at};
use super::error::FormatError;
use super::section::NAME_BYTES;
pub use super::section::Section;

/// Maximum version that is reported as newer. A larger number means that the header is damaged.
const MAX_PLAUSIBLE_VERSION: u32 = 999;

/// The range of unused bytes in the header, which are zero.
const RESERVED: std::ops::Range<usize> = 40..CHECKSUM_AT;

/// A section's location in the file and its checksum. All zero for an absent section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct SectionEntry {
    start: usize,
    len: usize,
    checksum: u64,
}

/// A set's header and section table, checked against the file's length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Container {
    header: Header,
    table_end: usize,
    entries: [SectionEntry; Section::COUNT],
}

impl Container {
    /// Reads the header and the section table.
    ///
    /// Checks every byte in both, because given sections have exactly one valid header and table. [`Container::verify`]
    /// checks the sections' checksums. The cost does not depend on the file's size.
    ///
    /// # Errors
    /// Returns an error if the file is not a set, has another version, is shorter or longer than its header says, or if
    /// its header and section table are not what [`write()`] writes.
    pub fn read(file: &[u8]) -> Result<Container, FormatError> {
        let header = read_header(file)?;
        let count = number(file, 20)? as usize;
        if count > Section::COUNT {
            return Err(error(20, format!("at most {} sections", Section::COUNT), count.to_string()));
        }
        let table_end = HEADER_BYTES + count * ENTRY_BYTES;
        let Some(covered) = file.get(..table_end) else {
            return Err(error(file.len(), format!("at least {table_end} bytes"), format!("{} bytes", file.len())));
        };
        let (stored, actual) = (u64_at(file, CHECKSUM_AT).unwrap_or_default(), header_checksum(covered));
        if stored != actual {
            return Err(error(CHECKSUM_AT, format!("checksum {actual:016x}"), format!("{stored:016x}")));
        }
        if file[RESERVED].iter().any(|&byte| byte != 0) {
            return Err(error(RESERVED.start, "zeros", format!("{:02x?}", &file[RESERVED])));
        }
        let file_len = u64_at(file, 24).unwrap_or_default();
        if file_len != file.len() as u64 {
            let found = format!("{}: the file is cut or padded", file.len());
            return Err(error(24, format!("{file_len} bytes"), found));
        }
        let entries = read_table(&file[..table_end])?;
        let end = entries.iter().map(|entry| entry.start + entry.len).max().unwrap_or(0).max(table_end);
        if end != file.len() {
            return Err(error(24, format!("the end of the last section, {end}"), format!("{file_len}")));
        }
        Ok(Container { header, table_end, entries })
    }

    /// Returns the set-wide settings in the header.
    #[must_use]
    pub fn header(&self) -> Header {
        self.header
    }

    /// Returns a section's bytes. `file` must be the bytes from which the container was read.
    #[inline]
    #[must_use]
    pub fn section<'a>(&self, file: &'a [u8], section: Section) -> &'a [u8] {
        let SectionEntry { start, len, .. } = self.entries[section as usize];
        // If the file has shrunk since it was opened, this section is empty here, and its reader reports an error.
        file.get(start..start + len).unwrap_or_default()
    }

    /// Checks that the bytes between the sections, which no checksum covers, are zero.
    ///
    /// # Errors
    /// Returns an error if one of them is not zero.
    pub fn verify_gaps(&self, file: &[u8]) -> Result<(), FormatError> {
        let (mut end, mut last) = (self.table_end, "header");
        for (section, entry) in Section::ALL.into_iter().zip(&self.entries).filter(|(_, entry)| entry.len > 0) {
            let gap = file.get(end..entry.start).unwrap_or(&[1]);
            if gap.iter().any(|&byte| byte != 0) {
                return Err(FormatError::new(last, "zeros between it and the next section", "other bytes"));
            }
            (end, last) = (entry.start + entry.len, section.name());
        }
        Ok(())
    }

    /// Reads an entire section, if it is present, and compares its checksum.
    ///
    /// # Errors
    /// Returns an error if the checksums differ.
    pub fn verify(&self, file: &[u8], section: Section) -> Result<(), FormatError> {
        let SectionEntry { len, checksum: stored, .. } = self.entries[section as usize];
        if len == 0 {
            return Ok(());
        }
        let actual = xxh3_64(self.section(file, section));
        if stored == actual {
            return Ok(());
        }
        let found = format!("bytes with the checksum {actual:016x}");
        Err(FormatError::new(section.name(), format!("bytes with the checksum {stored:016x}"), found))
    }
}

/// Returns an error at an offset in the header or the section table.
#[cold]
fn error(offset: usize, expected: impl Into<String>, found: impl Into<String>) -> FormatError {
    FormatError::new("header", expected, found).in_record_at(offset)
}

/// Returns a four-byte number from the header.
fn number(file: &[u8], at: usize) -> Result<u32, FormatError> {
    let short = || error(file.len(), format!("at least {HEADER_BYTES} bytes"), format!("{} bytes", file.len()));
    u32_at(file, at).ok_or_else(short)
}

/// Checks the header's fixed fields.
fn read_header(file: &[u8]) -> Result<Header, FormatError> {
    if file.len() < LABEL.len() && LABEL.starts_with(file) {
        number(file, 0)?;
        number(file, 4)?;
    }
    if !file.starts_with(&LABEL) {
        let start = &file[..file.len().min(LABEL.len())];
        let found = if start.is_empty() { "an empty file".into() } else { format!("\"{}\"", start.escape_ascii()) };
        return Err(FormatError::new("header", format!("the label \"{}\"", LABEL.escape_ascii()), found));
    }
    let version = number(file, 8)?;
    if version != FORMAT_VERSION {
        let origin = match version {
            1..FORMAT_VERSION => "an older reptile wrote the set; compile it again",
            FORMAT_VERSION..=MAX_PLAUSIBLE_VERSION => {
                "a newer reptile wrote the set; use that one, or compile it again"
            }
            _ => "the header is damaged",
        };
        let expected = format!("format version {FORMAT_VERSION}, the only one that this program reads");
        return Err(FormatError::new("header", expected, format!("version {version}: {origin}")));
    }
    if number(file, 12)? != ENDIAN_MARK {
        return Err(error(12, "the byte-order mark 04 03 02 01", format!("{:02x?}", &file[12..16])));
    }
    number(file, HEADER_BYTES - 4)?;
    Ok(Header { normal_form: number(file, 16)?, name_matching: number(file, 32)?, automata_form: number(file, 36)? })
}

/// Reads the section table. Each section must begin where the previous one ends, after alignment.
fn read_table(table: &[u8]) -> Result<[SectionEntry; Section::COUNT], FormatError> {
    let mut entries = [SectionEntry::default(); Section::COUNT];
    let mut order = Section::ALL.into_iter();
    let mut end = table.len() as u64;
    for at in (HEADER_BYTES..table.len()).step_by(ENTRY_BYTES) {
        let name = &table[at..at + NAME_BYTES];
        let section = order.find(|section| name == section.stored_name()).ok_or_else(|| {
            error(at, "the names of known sections, in order", format!("\"{}\"", name.escape_ascii()))
        })?;
        let field = |offset| u64_at(table, at + offset).unwrap_or_default();
        let (start, len) = (field(8), field(16));
        let expected = end.checked_next_multiple_of(SECTION_ALIGNMENT as u64);
        if Some(start) != expected {
            let expected = format!("the section {} at the next multiple of {SECTION_ALIGNMENT}", section.name());
            return Err(error(at + 8, expected, format!("offset {start}")));
        }
        // An offset that exceeds this machine's address space is also past the end of the file.
        let inside = start.checked_add(len).filter(|&end| len > 0 && usize::try_from(end).is_ok());
        end = inside
            .ok_or_else(|| error(at + 16, format!("a length of the section {}", section.name()), format!("{len}")))?;
        entries[section as usize] = SectionEntry { start: start as usize, len: len as usize, checksum: field(24) };
    }
    Ok(entries)
}

/// Length in bytes of the part of the label that survives a transfer as text.
pub const LABEL_START_BYTES: usize = 5;

/// Returns whether bytes begin like a set. A set that a transfer has damaged still does, so that the error names the damage.
pub fn has_label(start: &[u8]) -> bool {
    start.starts_with(&LABEL[..LABEL_START_BYTES])
}
