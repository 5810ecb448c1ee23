//! Arrow IPC limits: maximum memory and work per table, regardless of the lengths that its messages state.

/// Maximum size of a message's metadata in bytes, and of a file's footer. A schema with thousands of columns takes less
/// than a megabyte.
pub const MAX_METADATA_BYTES: usize = 16 << 20;

/// Maximum depth of nested tables in a message's metadata. A nested field of the schema takes one level.
pub const MAX_METADATA_DEPTH: usize = 64;

/// Maximum number of tables in a message's metadata. A field of the schema takes two, and so does each pair of its
/// metadata. Tables that occur several times count each time.
pub const MAX_METADATA_TABLES: usize = 1 << 20;

/// Maximum size in bytes of a message's body, and of its decompressed buffers together. Programs write batches of some
/// megabytes.
pub const MAX_BODY_BYTES: u64 = 1 << 30;

/// Maximum number of rows in a record batch, and of elements in any of its arrays.
pub const MAX_BATCH_ROWS: u64 = 1 << 31;

/// Maximum size of all dictionaries in memory, in bytes.
pub const MAX_DICTIONARIES_BYTES: u64 = 1 << 30;

/// Maximum number of record batches in a file, whose footer lists them.
pub const MAX_FILE_BATCHES: usize = 1 << 18;
