//! The first bytes of binary formats whose readers and the detection of contents share them.

use crate::arrow::limits::MAX_METADATA_BYTES;

/// The first and the last bytes of a Parquet file.
pub const PARQUET: &[u8] = b"PAR1";

/// The last bytes of a Parquet file with an encrypted footer.
pub const ENCRYPTED_PARQUET: &[u8] = b"PARE";

/// The first and the last bytes of an Arrow IPC file.
pub const ARROW_FILE: &[u8] = b"ARROW1";

/// The marker before each Arrow IPC message since Arrow 0.15.
pub const ARROW_CONTINUATION: [u8; 4] = [0xff; 4];

/// Returns whether an input starts like an Arrow IPC file.
pub fn is_arrow_file(start: &[u8]) -> bool {
    start.starts_with(ARROW_FILE)
}

/// Returns whether an input starts like an Arrow IPC stream: with the marker and a plausible length, which is never 0
/// at the start.
pub fn is_arrow_stream(start: &[u8]) -> bool {
    let Some((marker, rest)) = start.split_first_chunk() else { return false };
    let len = rest.split_first_chunk().map_or(0, |(len, _)| u32::from_le_bytes(*len) as usize);
    *marker == ARROW_CONTINUATION && len > 0 && len % 8 == 0 && len <= MAX_METADATA_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_start_with_a_marker_and_a_plausible_length() {
        let start = |len: usize| [&ARROW_CONTINUATION[..], &(len as u32).to_le_bytes()].concat();
        for (bytes, expected) in [
            (start(8), true),
            (start(264), true),
            (start(MAX_METADATA_BYTES - 8), true),
            (start(MAX_METADATA_BYTES), true),
            (start(MAX_METADATA_BYTES + 8), false),
            (start(0), false),
            (start(9), false),
            (start(8)[..7].to_vec(), false),
            (b"ARROW1\0\0".to_vec(), false),
            (Vec::new(), false),
        ] {
            assert_eq!(is_arrow_stream(&bytes), expected, "{bytes:?}");
        }
        assert!(is_arrow_file(b"ARROW1\0\0") && !is_arrow_file(b"ARROW2\0\0"));
    }
}
