//! Writes containers. [`super`] defines their encoding.

use std::io::{self, Write};

use xxhash_rust::xxh3::xxh3_64;

use super::super::section::Section;
use super::layout::{
    CHECKSUM_AT, ENDIAN_MARK, ENTRY_BYTES, FORMAT_VERSION, HEADER_BYTES, Header, LABEL, SECTION_ALIGNMENT,
    WHOLE_HEADER_BYTES, header_checksum,
};
use crate::platform::LARGE_PAGE;
use crate::spool::SectionBytes;

/// A set's sections as bytes, in the order of [`Section::ALL`].
pub type Sections = [Vec<u8>; Section::COUNT];

/// Maximum size in bytes of a set without its sections.
pub const OVERHEAD_BYTES: usize = HEADER_BYTES + Section::COUNT * (ENTRY_BYTES + SECTION_ALIGNMENT - 1);

/// Writes a whole set: header, table, then each nonempty section at the next multiple of [`SECTION_ALIGNMENT`].
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn write(out: &mut impl Write, header: &Header, sections: &Sections) -> io::Result<()> {
    let measured = sections.each_ref().map(|bytes| (bytes.len() as u64, xxh3_64(bytes)));
    write_measured(out, header, &measured, |section, out| out.write_all(&sections[section as usize]))
}

/// Writes a whole set as [`write()`] does, from sections that may be on disk.
///
/// # Errors
/// Returns an error if reading a section or writing to `out` fails.
pub fn write_spooled(
    out: &mut impl Write,
    header: &Header,
    sections: &[SectionBytes; Section::COUNT],
) -> io::Result<()> {
    let measured = sections.each_ref().map(|section| (section.len(), section.checksum()));
    write_measured(out, header, &measured, |section, out| sections[section as usize].copy_to(out))
}

/// Writes a whole set as [`write_spooled`] does, in aligned blocks of one large page. For a set that will be mapped.
///
/// # Errors
/// Returns the errors of [`write_spooled`].
pub fn write_in_blocks(
    out: &mut impl Write,
    header: &Header,
    sections: &[SectionBytes; Section::COUNT],
) -> io::Result<()> {
    let mut out = BlockWriter { out, block: Vec::new() };
    write_spooled(&mut out, header, sections)?;
    out.flush()
}

/// A buffered writer that writes aligned blocks of one large page, regardless of the sizes written to it.
///
/// Linux caches the data of one write call in one piece of memory, and maps the piece as a large page if it has the
/// size of one. Random access to a mapped set then needs fewer page-table steps; see
/// [`MappedFile`](crate::platform::MappedFile).
struct BlockWriter<'w, W> {
    out: &'w mut W,
    block: Vec<u8>,
}

impl<W: Write> Write for BlockWriter<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.block.len() == LARGE_PAGE {
            self.out.write_all(&self.block)?;
            self.block.clear();
        }
        let (taken, _) = bytes.split_at(bytes.len().min(LARGE_PAGE - self.block.len()));
        self.block.extend_from_slice(taken);
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.block)?;
        self.block.clear();
        self.out.flush()
    }
}

/// Writes a whole set from section lengths and checksums; `copy` writes one section's bytes.
fn write_measured<W: Write>(
    out: &mut W,
    header: &Header,
    measured: &[(u64, u64); Section::COUNT],
    mut copy: impl FnMut(Section, &mut W) -> io::Result<()>,
) -> io::Result<()> {
    const ALIGNMENT: u64 = SECTION_ALIGNMENT as u64;
    let present = || Section::ALL.into_iter().zip(*measured).filter(|&(_, (len, _))| len > 0);
    let count = present().count();
    let table_end = HEADER_BYTES + count * ENTRY_BYTES;
    let mut start = [0; WHOLE_HEADER_BYTES];
    let start = &mut start[..table_end];
    let mut end = table_end as u64;
    for ((section, (len, checksum)), entry) in present().zip(start[HEADER_BYTES..].chunks_exact_mut(ENTRY_BYTES)) {
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
    start[20..24].copy_from_slice(&(count as u32).to_le_bytes());
    start[24..32].copy_from_slice(&end.to_le_bytes());
    start[32..36].copy_from_slice(&header.name_matching.to_le_bytes());
    start[36..40].copy_from_slice(&header.automata_form.to_le_bytes());
    let checksum = header_checksum(start);
    start[CHECKSUM_AT..HEADER_BYTES].copy_from_slice(&checksum.to_le_bytes());
    out.write_all(start)?;
    let mut end = table_end as u64;
    for (section, (len, _)) in present() {
        let start = end.next_multiple_of(ALIGNMENT);
        out.write_all(&[0; SECTION_ALIGNMENT][..(start - end) as usize])?;
        copy(section, out)?;
        end = start + len;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A writer that records the size of each write.
    #[derive(Default)]
    struct Sizes {
        bytes: Vec<u8>,
        sizes: Vec<usize>,
    }

    impl Write for Sizes {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.bytes.extend_from_slice(bytes);
            self.sizes.push(bytes.len());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many bytes")]
    fn blocks_are_large_pages_whatever_the_sizes_written() {
        let bytes: Vec<u8> = (0..3 * LARGE_PAGE as u32).map(|at| (at.wrapping_mul(0x9E37_79B9) >> 24) as u8).collect();
        for len in [0, 1, LARGE_PAGE - 1, LARGE_PAGE, LARGE_PAGE + 1, 2 * LARGE_PAGE, bytes.len() - 1] {
            for size in [1_000, LARGE_PAGE - 1, LARGE_PAGE, LARGE_PAGE + 1, bytes.len()] {
                let mut sizes = Sizes::default();
                let mut out = BlockWriter { out: &mut sizes, block: Vec::new() };
                bytes[..len].chunks(size).for_each(|chunk| out.write_all(chunk).unwrap());
                out.flush().unwrap();
                assert!(sizes.bytes == bytes[..len], "{len} by {size}");
                let mut expected = vec![LARGE_PAGE; len / LARGE_PAGE];
                expected.extend((len % LARGE_PAGE > 0).then_some(len % LARGE_PAGE));
                assert_eq!(sizes.sizes, expected, "{len} by {size}");
            }
        }
    }
}
