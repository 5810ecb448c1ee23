//! The parts of a container's header, and where they are.

use xxhash_rust::xxh3::xxh3_64;

use super::super::section::Section;

/// The only format version that this engine writes and reads.
pub const FORMAT_VERSION: u32 = 4;

/// Every set's first eight bytes. Like PNG's, they reveal a transfer that treated the file as text.
pub(super) const LABEL: [u8; 8] = *b"\x89RPTL\r\n\x1a";

/// The byte-order mark, as a machine with the file's byte order reads it. The file is always little-endian.
pub(super) const ENDIAN_MARK: u32 = 0x0102_0304;

/// Header size in bytes: one cache line.
pub const HEADER_BYTES: usize = 64;

/// Section table entry size in bytes.
pub const ENTRY_BYTES: usize = 32;

/// Size in bytes of the header and a table of all sections.
pub(super) const WHOLE_HEADER_BYTES: usize = HEADER_BYTES + Section::COUNT * ENTRY_BYTES;

/// Section alignment in bytes. Keeps data with a cache-line layout aligned.
pub const SECTION_ALIGNMENT: usize = 64;

/// The checksum's offset in the header.
pub(super) const CHECKSUM_AT: usize = 56;

/// The set-wide settings in the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The normal form's number, for patterns and paths.
    pub normal_form: u32,
    /// The number that says how product tokens are compared.
    pub name_matching: u32,
    /// The construction that made the automata, as numbered by the compiler, including its revision. Readers do not
    /// need it; it tells whether two sets with the same content have the same bytes.
    pub automata_form: u32,
}

/// Returns the checksum for the header and the section table, except for the checksum field itself.
pub(super) fn header_checksum(header: &[u8]) -> u64 {
    let mut covered = [0; WHOLE_HEADER_BYTES];
    let covered = &mut covered[..header.len()];
    covered.copy_from_slice(header);
    covered[CHECKSUM_AT..HEADER_BYTES].fill(0);
    xxh3_64(covered)
}
