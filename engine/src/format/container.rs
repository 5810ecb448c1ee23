//! The container: label, version, section table, checksums.
//!
//! Knows nothing of what the sections hold.

use std::io::{self, Write};

use xxhash_rust::xxh3::xxh3_64;

use super::{FORMAT_VERSION, FormatError, u32_at, u64_at};

/// The first eight bytes of every set. Like PNG's, they show at once when a transfer treated the file as text.
const LABEL: [u8; 8] = *b"\x89RPTL\r\n\x1a";

/// Reads back as this number on a machine of the writer's byte order, which is always little-endian.
const ENDIAN_MARK: u32 = 0x0102_0304;

const HEADER_BYTES: usize = 56;
const ENTRY_BYTES: usize = 32;
const NAME_BYTES: usize = 8;

/// The sections of a set, in the order in which they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Section {
    /// The name of the dialect that the set was compiled under, for people.
    Dialect,
    /// The product tokens that the set's groups name.
    Agents,
    /// Where each bucket of origins begins.
    Buckets,
    /// One record an origin.
    Origins,
    /// The bytes of host names.
    Hosts,
    /// For each robots.txt, which token has which ruleset.
    Policies,
    /// Where each ruleset's automaton begins.
    Index,
    /// The automata.
    Rulesets,
    /// Line numbers of rules.
    Lines,
    /// Other directives: the lines that decide nothing.
    Other,
}

impl Section {
    /// How many there are.
    pub const COUNT: usize = 10;

    /// Every section, in file order.
    pub const ALL: [Section; Section::COUNT] = [
        Section::Dialect,
        Section::Agents,
        Section::Buckets,
        Section::Origins,
        Section::Hosts,
        Section::Policies,
        Section::Index,
        Section::Rulesets,
        Section::Lines,
        Section::Other,
    ];

    /// The section's name, as in the file and in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Section::Dialect => "dialect",
            Section::Agents => "agents",
            Section::Buckets => "buckets",
            Section::Origins => "origins",
            Section::Hosts => "hosts",
            Section::Policies => "policies",
            Section::Index => "index",
            Section::Rulesets => "rulesets",
            Section::Lines => "lines",
            Section::Other => "fields",
        }
    }

    fn stored_name(self) -> [u8; NAME_BYTES] {
        let mut stored = [0; NAME_BYTES];
        stored[..self.name().len()].copy_from_slice(self.name().as_bytes());
        stored
    }
}

/// Where a section lies in the file, and its checksum. All zero for one that is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Entry {
    start: usize,
    len: usize,
    checksum: u64,
}

/// A set's header and section table, checked against the length of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Container {
    normal_form: u32,
    name_matching: u32,
    table_end: usize,
    entries: [Entry; Section::COUNT],
}

impl Container {
    /// Reads the header and the section table. Cost: fixed, whatever the size of the file.
    ///
    /// # Errors
    /// When the file is no set, is of another version, is shorter or longer than it says, or its header's
    /// checksum is wrong. The sections' own checksums are left to [`Container::verify`].
    pub fn read(file: &[u8]) -> Result<Container, FormatError> {
        let error = |expected: String, found: String| FormatError::new("header", expected, found);
        if !file.starts_with(&LABEL) {
            let start = &file[..file.len().min(LABEL.len())];
            let found = if start.is_empty() { "an empty file".into() } else { format!("\"{}\"", start.escape_ascii()) };
            return Err(error(format!("the label \"{}\"", LABEL.escape_ascii()), found));
        }
        let short = || error(format!("at least {HEADER_BYTES} bytes"), format!("{} bytes", file.len()));
        let version = u32_at(file, 8).ok_or_else(short)?;
        if version != FORMAT_VERSION {
            let expected = format!("format version {FORMAT_VERSION}; compile the set again with this version");
            return Err(error(expected, format!("version {version}")));
        }
        if u32_at(file, 12).ok_or_else(short)? != ENDIAN_MARK {
            return Err(error("the byte-order mark 04 03 02 01".into(), format!("{:02x?}", &file[12..16])));
        }
        let normal_form = u32_at(file, 16).ok_or_else(short)?;
        let count = u32_at(file, 20).ok_or_else(short)?;
        if count as usize > Section::COUNT {
            return Err(error(format!("{} sections at most", Section::COUNT), format!("{count}")));
        }
        let table_end = HEADER_BYTES + count as usize * ENTRY_BYTES;
        let Some(header) = file.get(..table_end) else {
            return Err(error(format!("at least {table_end} bytes"), format!("{} bytes", file.len())));
        };
        let checksum = u64_at(file, 48).ok_or_else(short)?;
        let actual = header_checksum(header);
        if checksum != actual {
            return Err(error(format!("checksum {checksum:016x}"), format!("{actual:016x}: the header is damaged")));
        }
        let name_matching = u32_at(file, 32).ok_or_else(short)?;
        let file_len = u64_at(file, 24).ok_or_else(short)?;
        if file_len != file.len() as u64 {
            return Err(error(format!("{file_len} bytes"), format!("{}: the file is cut or padded", file.len())));
        }
        let mut entries = [Entry::default(); Section::COUNT];
        let mut expected = Section::ALL.into_iter();
        for at in (HEADER_BYTES..table_end).step_by(ENTRY_BYTES) {
            let name = &file[at..at + NAME_BYTES];
            // Sections are in order, and those without a byte are not there.
            let section = expected.find(|section| name == section.stored_name()).ok_or_else(|| {
                error("the names of known sections, in order".into(), format!("\"{}\"", name.escape_ascii()))
            })?;
            let number = |offset| u64_at(file, at + offset).and_then(|number| usize::try_from(number).ok());
            let inside = || {
                let (start, len) = (number(8)?, number(16)?);
                (len > 0 && start >= table_end && start.checked_add(len)? <= file.len()).then_some((start, len))
            };
            let (start, len) = inside()
                .ok_or_else(|| FormatError::new(section.name(), "bytes inside the file", "none, or offsets outside"))?;
            entries[section as usize] = Entry { start, len, checksum: u64_at(file, at + 24).ok_or_else(short)? };
        }
        Ok(Container { normal_form, name_matching, table_end, entries })
    }

    /// The number of the normal form that patterns are in and URLs must be brought to.
    #[must_use]
    pub fn normal_form(&self) -> u32 {
        self.normal_form
    }

    /// The number of the way in which agents' names are compared.
    #[must_use]
    pub fn name_matching(&self) -> u32 {
        self.name_matching
    }

    /// The bytes of a section. `file` is what the container was read from.
    #[inline]
    #[must_use]
    pub fn section<'a>(&self, file: &'a [u8], section: Section) -> &'a [u8] {
        let Entry { start, len, .. } = self.entries[section as usize];
        // A file that shrank since it was opened reads as empty here and is reported by whoever looks inside.
        file.get(start..start + len).unwrap_or_default()
    }

    /// Checks that the few bytes between the sections, which no checksum covers, are zero.
    ///
    /// # Errors
    /// When one is not.
    pub fn verify_gaps(&self, file: &[u8]) -> Result<(), FormatError> {
        let (mut end, mut last) = (self.table_end, "header");
        for (section, entry) in Section::ALL.into_iter().zip(&self.entries).filter(|(_, entry)| entry.len > 0) {
            let gap = file.get(end..entry.start).unwrap_or(&[1]);
            if gap.len() >= 8 || gap.iter().any(|&byte| byte != 0) {
                return Err(FormatError::new(section.name(), "fewer than 8 zero bytes in front", "other bytes"));
            }
            (end, last) = (entry.start + entry.len, section.name());
        }
        if end != file.len() {
            return Err(FormatError::new(last, "the end of the file behind it", "more bytes"));
        }
        Ok(())
    }

    /// Reads the whole of a section, if it is there, and compares its checksum.
    ///
    /// # Errors
    /// When they differ.
    pub fn verify(&self, file: &[u8], section: Section) -> Result<(), FormatError> {
        let Entry { len, checksum: expected, .. } = self.entries[section as usize];
        if len == 0 {
            return Ok(());
        }
        let actual = xxh3_64(self.section(file, section));
        if expected == actual {
            return Ok(());
        }
        let found = format!("{actual:016x}: the section is damaged");
        Err(FormatError::new(section.name(), format!("checksum {expected:016x}"), found))
    }
}

/// The checksum of everything in front of the first section, but for the checksum itself.
fn header_checksum(header: &[u8]) -> u64 {
    let mut covered = header.to_vec();
    covered[48..56].fill(0);
    xxh3_64(&covered)
}

/// The most bytes that [`write()`] writes.
#[must_use]
pub fn size_of(sections: &[Vec<u8>; Section::COUNT]) -> usize {
    let largest_gap = 7;
    HEADER_BYTES + sections.iter().map(|bytes| ENTRY_BYTES + bytes.len() + largest_gap).sum::<usize>()
}

/// Writes a whole set: header, table, then each section that has bytes at the next multiple of eight.
///
/// # Errors
/// Those of `out`.
pub fn write(
    out: &mut impl Write,
    normal_form: u32,
    name_matching: u32,
    sections: &[Vec<u8>; Section::COUNT],
) -> io::Result<()> {
    let present: Vec<(Section, &Vec<u8>)> =
        Section::ALL.into_iter().zip(sections).filter(|(_, bytes)| !bytes.is_empty()).collect();
    let table_end = HEADER_BYTES + present.len() * ENTRY_BYTES;
    let mut header = vec![0; table_end];
    let mut end = table_end;
    for ((section, bytes), entry) in present.iter().zip(header[HEADER_BYTES..].chunks_exact_mut(ENTRY_BYTES)) {
        let start = end.next_multiple_of(8);
        end = start + bytes.len();
        entry[..8].copy_from_slice(&section.stored_name());
        entry[8..16].copy_from_slice(&(start as u64).to_le_bytes());
        entry[16..24].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
        entry[24..].copy_from_slice(&xxh3_64(bytes).to_le_bytes());
    }
    header[..8].copy_from_slice(&LABEL);
    header[8..12].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
    header[12..16].copy_from_slice(&ENDIAN_MARK.to_le_bytes());
    header[16..20].copy_from_slice(&normal_form.to_le_bytes());
    header[20..24].copy_from_slice(&(present.len() as u32).to_le_bytes());
    header[24..32].copy_from_slice(&(end as u64).to_le_bytes());
    header[32..36].copy_from_slice(&name_matching.to_le_bytes());
    let checksum = header_checksum(&header);
    header[48..56].copy_from_slice(&checksum.to_le_bytes());
    out.write_all(&header)?;
    let mut end = table_end;
    for (_, bytes) in present {
        out.write_all(&[0; 8][..end.next_multiple_of(8) - end])?;
        out.write_all(bytes)?;
        end = end.next_multiple_of(8) + bytes.len();
    }
    Ok(())
}
