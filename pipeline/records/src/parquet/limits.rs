//! Parquet limits: maximum memory and work per file, regardless of the values in its headers and footer.

/// Maximum page size in bytes, compressed or not. DuckDB writes pages of up to 100,000,000 bytes, others about a
/// megabyte.
pub const MAX_PAGE_BYTES: u64 = 128 << 20;

/// Maximum page header size in bytes. Usual headers have a few hundred bytes, but long texts in statistics add to that.
pub const MAX_HEADER_BYTES: usize = 1 << 20;

/// Maximum footer size in bytes.
pub const MAX_FOOTER_BYTES: usize = 16 << 20;

/// Maximum depth of nested groups in a schema.
pub const MAX_SCHEMA_DEPTH: usize = 64;

/// Maximum number of schema elements: columns and their groups.
pub const MAX_SCHEMA_ELEMENTS: usize = 100_000;

/// Maximum total length of all column paths in bytes. A path contains the column's group names.
pub const MAX_PATH_BYTES: u64 = 64 << 20;

/// Bytes that each name adds to a path, in addition to its own length.
pub const NAME_BYTES: u64 = 64;

/// Maximum depth of nested structs and lists within a footer element.
pub const MAX_NESTING: usize = 32;

/// Maximum number of row groups in a file. Writers usually begin a new group after at least a hundred thousand rows.
pub const MAX_ROW_GROUPS: u64 = 1 << 16;

/// Maximum number of column chunks in a file. A chunk is one column in one row group.
pub const MAX_CHUNKS: u64 = 1 << 18;

/// Maximum number of structs in the footer's other lists: metadata pairs, encoding statistics and the like.
pub const MAX_FOOTER_STRUCTS: u64 = 1 << 20;

/// Maximum number of values on the pages from which a few rows of a kept list column are decoded. A row may have any
/// number of values, and a few bytes may represent all of them.
pub const MAX_READ_VALUES: u64 = 8 << 20;

/// Maximum number of values in a dictionary. A dictionary holds a row group's repeated texts, so it is much smaller.
pub const MAX_DICTIONARY_VALUES: u32 = 8 << 20;

/// Maximum memory in bytes for the pages in a row group's selected columns: for each column its dictionary, and its
/// largest page, compressed and decompressed.
pub const MAX_GROUP_BYTES: u64 = 384 << 20;

/// Maximum ratio of a file's cell bytes to its own bytes. Cell bytes are texts and [`CELL_BYTES`] per cell.
pub const MAX_EXPANSION: u64 = 1000;

/// Number of cell bytes that any file may have, however small it is.
pub const MIN_EXPANDED_BYTES: u64 = 4 << 30;

/// Bytes that each cell counts in addition to its text.
pub const CELL_BYTES: u64 = 8;

/// Returns the maximum cell bytes for a file with `file_bytes` bytes.
pub fn max_expanded_bytes(file_bytes: u64) -> u64 {
    file_bytes.saturating_mul(MAX_EXPANSION).max(MIN_EXPANDED_BYTES)
}

/// Checks a number against a limit. `what` describes the number and its location.
///
/// # Errors
/// Returns an error if the number is over the limit.
pub fn within(what: impl FnOnce() -> String, number: u64, limit: u64) -> Result<(), String> {
    if number <= limit { Ok(()) } else { Err(format!("{} {number}; the limit is {limit}", what())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_files_may_expand_further_than_large_ones() {
        let edge = MIN_EXPANDED_BYTES / MAX_EXPANSION;
        for (len, bytes) in [
            (0, MIN_EXPANDED_BYTES),
            (edge, MIN_EXPANDED_BYTES),
            (edge + 1, (edge + 1) * MAX_EXPANSION),
            (1 << 40, MAX_EXPANSION << 40),
            (u64::MAX, u64::MAX),
        ] {
            assert_eq!(max_expanded_bytes(len), bytes, "{len}");
        }
    }

    #[test]
    fn numbers_over_the_limit_are_rejected() {
        for (number, fits) in [(6, true), (7, true), (8, false)] {
            assert_eq!(within(|| "pages:".into(), number, 7).is_ok(), fits);
        }
        assert_eq!(within(|| "pages:".into(), 8, 7), Err("pages: 8; the limit is 7".into()));
    }
}
