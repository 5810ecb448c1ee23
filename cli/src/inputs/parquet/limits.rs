//! The limits of a Parquet file: what is reserved or computed for it, whatever its headers and its footer claim.

/// Bytes of one page, packed or unpacked. DuckDB writes pages of up to 100,000,000 bytes, others pages of about a megabyte.
pub const MAX_PAGE_BYTES: u64 = 128 << 20;

/// Bytes of the header of a page. Statistics with long texts make it longer than some hundred bytes.
pub const MAX_HEADER_BYTES: usize = 1 << 20;

/// Bytes of the footer of a file.
pub const MAX_FOOTER_BYTES: usize = 16 << 20;

/// Levels of groups within groups in a schema.
pub const MAX_SCHEMA_DEPTH: usize = 64;

/// Elements of a schema: columns, and the groups that they are in.
pub const MAX_SCHEMA_ELEMENTS: usize = 100_000;

/// Bytes of the paths of all columns, each with the names of the groups that it is in.
pub const MAX_PATH_BYTES: u64 = 64 << 20;

/// Bytes of such a path for each of its names, beside those of the name itself.
pub const NAME_BYTES: u64 = 64;

/// Levels of structs and lists within one element of the footer.
pub const MAX_NESTING: usize = 32;

/// Row groups of a file. Writers begin a new one after a hundred thousand rows and more.
pub const MAX_ROW_GROUPS: u64 = 1 << 16;

/// Column chunks of a file: a column in a row group.
pub const MAX_CHUNKS: u64 = 1 << 18;

/// Structs in the other lists of the footer: pairs of metadata, statistics of encodings and the like.
pub const MAX_FOOTER_STRUCTS: u64 = 1 << 20;

/// Values of one dictionary. They are texts of a row group that repeat, so that there are far fewer than rows.
pub const MAX_DICTIONARY_VALUES: u32 = 8 << 20;

/// Bytes of memory for the pages of a row group that are read side by side: of each column its dictionary, and its largest
/// page, packed and unpacked.
pub const MAX_GROUP_BYTES: u64 = 384 << 20;

/// Bytes that the cells of a file may have for each of its own bytes, texts and [`CELL_BYTES`] for each cell.
pub const MAX_EXPANSION: u64 = 1000;

/// Bytes that the cells of any file may have, however small it is.
pub const MIN_EXPANDED_BYTES: u64 = 4 << 30;

/// Bytes for which a cell counts beside its text.
pub const CELL_BYTES: u64 = 8;

/// The most bytes that the cells of a file of so many bytes may have.
pub fn max_expanded_bytes(file_bytes: u64) -> u64 {
    file_bytes.saturating_mul(MAX_EXPANSION).max(MIN_EXPANDED_BYTES)
}

/// Checks a number against a limit. `what` says what the number counts, and where.
///
/// # Errors
/// If it is over the limit.
pub fn within(what: impl FnOnce() -> String, number: u64, limit: u64) -> Result<(), String> {
    if number <= limit { Ok(()) } else { Err(format!("{} {number}; the limit is {limit}", what())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_file_may_expand_further_than_a_large_one() {
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
    fn a_limit_holds_at_its_edges() {
        for (number, fits) in [(6, true), (7, true), (8, false)] {
            assert_eq!(within(|| "pages:".into(), number, 7).is_ok(), fits);
        }
        assert_eq!(within(|| "pages:".into(), 8, 7), Err("pages: 8; the limit is 7".into()));
    }
}
