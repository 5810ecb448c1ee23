//! Limits for tables in columns: maximum memory and work per table, regardless of the lengths that it states.

use arrow_array::{Array, RecordBatch};
use arrow_data::ArrayData;
use arrow_schema::DataType;

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

/// Returns the size of a batch's values in bytes. A text that several values refer to counts each time.
pub fn content_bytes(batch: &RecordBatch) -> u64 {
    batch.columns().iter().map(|column| bytes_of(&column.to_data())).sum()
}

fn bytes_of(data: &ArrayData) -> u64 {
    let children: u64 = data.child_data().iter().map(bytes_of).sum();
    let own = match data.data_type() {
        // A view begins with its text's length.
        DataType::BinaryView | DataType::Utf8View => {
            let views = data.buffers().first().map_or(&[][..], |views| views.typed_data::<u128>());
            let views = views.get(data.offset()..).unwrap_or_default().iter().take(data.len());
            views.map(|&view| u64::from(view as u32) + CELL_BYTES).sum()
        }
        _ if data.child_data().is_empty() => data.get_slice_memory_size().map_or(0, |bytes| bytes as u64),
        _ => CELL_BYTES.saturating_mul(data.len() as u64),
    };
    own.saturating_add(children)
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
