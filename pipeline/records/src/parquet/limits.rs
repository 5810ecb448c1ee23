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
