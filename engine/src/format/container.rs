//! The container of a set: label, version, section table, checksums.
//!
//! Knows nothing of what the sections contain.

use std::io::{self, Write};

use xxhash_rust::xxh3::xxh3_64;

use super::{FORMAT_VERSION, FormatError, u32_at, u64_at};
use crate::spool::SectionBytes;

/// The first eight bytes of every set. Like PNG's, they show at once when a transfer treated the file as text.
const LABEL: [u8; 8] = *b"\x89RPTL\r\n\x1a";

/// On a machine of the file's byte order, which is always little-endian, the mark is read as this number.
const ENDIAN_MARK: u32 = 0x0102_0304;

/// Maximum number that is read as the version of a newer format. Larger numbers are damage.
const MAX_PLAUSIBLE_VERSION: u32 = 999;

/// Bytes of the header: one cache line.
pub const HEADER_BYTES: usize = 64;

/// Bytes of an entry of the section table.
pub const ENTRY_BYTES: usize = 32;

/// The alignment of sections in bytes, so that what is laid out by cache lines stays aligned to them.
pub const SECTION_ALIGNMENT: usize = 64;

const NAME_BYTES: usize = 8;

/// The offset of the checksum in the header.
const CHECKSUM_AT: usize = 56;

/// The offset of the unused bytes of the header, which are zero.
const RESERVED: std::ops::Range<usize> = 40..CHECKSUM_AT;

/// The sections of a set, in the order in which they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Section {
    /// The dialect, the fetch profile and the time that the set was made for.
    Reading,
    /// Known crawlers and the product tokens that each obeys.
    Crawlers,
    /// The product tokens that the files name.
    Tokens,
    /// The hash table of origins.
    Buckets,
    /// A record for each origin.
    Origins,
    /// The capture history of each origin.
    Captures,
    /// For each robots.txt, which product token has which group of rules.
    Policies,
    /// Where each ruleset ends.
    Index,
    /// The automata.
    Rulesets,
    /// The fingerprints that automata share.
    Prints,
    /// Line numbers of rules.
    Lines,
    /// Other directives: the lines that decide no URL.
    Other,
}

impl Section {
    /// The number of sections.
    pub const COUNT: usize = 12;

    /// Every section, in file order.
    pub const ALL: [Section; Section::COUNT] = [
        Section::Reading,
        Section::Crawlers,
        Section::Tokens,
        Section::Buckets,
        Section::Origins,
        Section::Captures,
        Section::Policies,
        Section::Index,
        Section::Rulesets,
        Section::Prints,
        Section::Lines,
        Section::Other,
    ];

    /// The section's name, as in the file and in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Section::Reading => "reading",
            Section::Crawlers => "crawlers",
            Section::Tokens => "tokens",
            Section::Buckets => "buckets",
            Section::Origins => "origins",
            Section::Captures => "captures",
            Section::Policies => "policies",
            Section::Index => "index",
            Section::Rulesets => "rulesets",
            Section::Prints => "prints",
            Section::Lines => "lines",
            Section::Other => "other",
        }
    }

    fn stored_name(self) -> [u8; NAME_BYTES] {
        let mut stored = [0; NAME_BYTES];
        stored[..self.name().len()].copy_from_slice(self.name().as_bytes());
        stored
    }
}

/// The settings of the whole set that the header stores, apart from the section table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The number of the normal form, which patterns are in and paths must be brought into.
    pub normal_form: u32,
    /// The number of the way in which product tokens are compared.
    pub name_matching: u32,
    /// The number of the construction that made the automata, as the compiler counts its constructions and their
    /// revisions. No reader needs it; it tells whether two sets of the same content have the same bytes.
    pub automata_form: u32,
}

/// The place of a section in the file, and its checksum. All zero for a section that is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Entry {
    start: usize,
    len: usize,
    checksum: u64,
}

/// A set's header and section table, checked against the length of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Container {
    header: Header,
    table_end: usize,
    entries: [Entry; Section::COUNT],
}

impl Container {
    /// Reads the header and the section table. Sections have exactly one valid header and table, so everything in them
    /// is checked; the checksums of the sections are left to [`Container::verify`].
    ///
    /// Cost: fixed, whatever the size of the file.
    ///
    /// # Errors
    /// When the file is not a set, is of another version, is shorter or longer than it says, or its header and section
    /// table are not what [`write()`] writes.
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

    /// The settings of the whole set that the header stores.
    #[must_use]
    pub fn header(&self) -> Header {
        self.header
    }

    /// The bytes of a section. `file` must be the bytes that the container was read from.
    #[inline]
    #[must_use]
    pub fn section<'a>(&self, file: &'a [u8], section: Section) -> &'a [u8] {
        let Entry { start, len, .. } = self.entries[section as usize];
        // A section of a file that has shrunk since it was opened is empty here; whatever reads the section reports
        // that.
        file.get(start..start + len).unwrap_or_default()
    }

    /// Checks that the bytes between the sections, which no checksum covers, are zero.
    ///
    /// # Errors
    /// When one of them is not zero.
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

    /// Reads the whole of a section, if it is present, and compares its checksum.
    ///
    /// # Errors
    /// When the checksums differ.
    pub fn verify(&self, file: &[u8], section: Section) -> Result<(), FormatError> {
        let Entry { len, checksum: stored, .. } = self.entries[section as usize];
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

/// An error at a byte of the header or the section table.
#[cold]
fn error(offset: usize, expected: impl Into<String>, found: impl Into<String>) -> FormatError {
    FormatError::new("header", expected, found).in_record_at(offset)
}

/// A number of four bytes of the header.
fn number(file: &[u8], at: usize) -> Result<u32, FormatError> {
    let short = || error(file.len(), format!("at least {HEADER_BYTES} bytes"), format!("{} bytes", file.len()));
    u32_at(file, at).ok_or_else(short)
}

/// Checks the fields at fixed places of the header.
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

/// Reads the entries of the section table, each of which must begin where the one before ends.
fn read_table(table: &[u8]) -> Result<[Entry; Section::COUNT], FormatError> {
    let mut entries = [Entry::default(); Section::COUNT];
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
        // An offset beyond the memory of this machine is also beyond the end of the file.
        let inside = start.checked_add(len).filter(|&end| len > 0 && usize::try_from(end).is_ok());
        end = inside
            .ok_or_else(|| error(at + 16, format!("a length of the section {}", section.name()), format!("{len}")))?;
        entries[section as usize] = Entry { start: start as usize, len: len as usize, checksum: field(24) };
    }
    Ok(entries)
}

/// The checksum of the header and the section table, except for the checksum field itself.
fn header_checksum(header: &[u8]) -> u64 {
    let mut covered = header.to_vec();
    covered[CHECKSUM_AT..HEADER_BYTES].fill(0);
    xxh3_64(&covered)
}

/// The sections of a set as bytes, in the order of [`Section::ALL`].
pub type Sections = [Vec<u8>; Section::COUNT];

/// The most bytes of a set beside those of its sections.
pub const OVERHEAD_BYTES: usize = HEADER_BYTES + Section::COUNT * (ENTRY_BYTES + SECTION_ALIGNMENT - 1);

/// Writes a whole set: header, table, then each section that has bytes at the next multiple of [`SECTION_ALIGNMENT`].
///
/// # Errors
/// The errors of `out`.
pub fn write(out: &mut impl Write, header: &Header, sections: &Sections) -> io::Result<()> {
    let measured = sections.each_ref().map(|bytes| (bytes.len() as u64, xxh3_64(bytes)));
    write_measured(out, header, &measured, |section, out| out.write_all(&sections[section as usize]))
}

/// Writes a whole set as [`write()`] does, from sections that need not be in memory.
///
/// # Errors
/// The errors of reading the sections, and those of `out`.
pub fn write_spooled(
    out: &mut impl Write,
    header: &Header,
    sections: &[SectionBytes; Section::COUNT],
) -> io::Result<()> {
    let measured = sections.each_ref().map(|section| (section.len(), section.checksum()));
    write_measured(out, header, &measured, |section, out| sections[section as usize].copy_to(out))
}

/// Writes a whole set whose sections have these lengths and checksums; `copy` writes the bytes of one.
fn write_measured<W: Write>(
    out: &mut W,
    header: &Header,
    measured: &[(u64, u64); Section::COUNT],
    mut copy: impl FnMut(Section, &mut W) -> io::Result<()>,
) -> io::Result<()> {
    const ALIGNMENT: u64 = SECTION_ALIGNMENT as u64;
    let present: Vec<(Section, (u64, u64))> =
        Section::ALL.into_iter().zip(*measured).filter(|&(_, (len, _))| len > 0).collect();
    let table_end = HEADER_BYTES + present.len() * ENTRY_BYTES;
    let mut start = vec![0; table_end];
    let mut end = table_end as u64;
    for (&(section, (len, checksum)), entry) in present.iter().zip(start[HEADER_BYTES..].chunks_exact_mut(ENTRY_BYTES))
    {
        let start = end.next_multiple_of(ALIGNMENT);
        end = start + len;
        entry[..8].copy_from_slice(&section.stored_name());
        entry[8..16].copy_from_slice(&start.to_le_bytes());
        entry[16..24].copy_from_slice(&len.to_le_bytes());
        entry[24..].copy_from_slice(&checksum.to_le_bytes());
    }
    start[..8].copy_from_slice(&LABEL);
    start[8..12].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
    start[12..16].copy_from_slice(&ENDIAN_MARK.to_le_bytes());
    start[16..20].copy_from_slice(&header.normal_form.to_le_bytes());
    start[20..24].copy_from_slice(&(present.len() as u32).to_le_bytes());
    start[24..32].copy_from_slice(&end.to_le_bytes());
    start[32..36].copy_from_slice(&header.name_matching.to_le_bytes());
    start[36..40].copy_from_slice(&header.automata_form.to_le_bytes());
    let checksum = header_checksum(&start);
    start[CHECKSUM_AT..HEADER_BYTES].copy_from_slice(&checksum.to_le_bytes());
    out.write_all(&start)?;
    let mut end = table_end as u64;
    for (section, (len, _)) in present {
        let start = end.next_multiple_of(ALIGNMENT);
        out.write_all(&[0; SECTION_ALIGNMENT][..(start - end) as usize])?;
        copy(section, out)?;
        end = start + len;
    }
    Ok(())
}

/// Length in bytes of the part of the label that survives a transfer as text.
pub const LABEL_START_BYTES: usize = 5;

/// Returns whether bytes begin like a set. A set that a transfer has damaged still does, so that the error names the damage.
pub fn has_label(start: &[u8]) -> bool {
    start.starts_with(&LABEL[..LABEL_START_BYTES])
}
