//! Encodings of page values.

use std::fmt;

/// A page's value encoding. Source: the Parquet format, Encodings.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Consecutive values. Texts are preceded by their lengths.
    Plain,
    /// Dictionary indexes. The format has an older name for this encoding too.
    Dictionary,
    /// Runs of a repeated number, or of bit-packed numbers.
    Rle,
    /// Bit-packed numbers, highest bit first.
    BitPacked,
    /// Differences between numbers.
    DeltaBinaryPacked,
    /// Text lengths as differences, then the texts.
    DeltaLengthByteArray,
    /// The prefix length shared with the preceding text, and the suffix.
    DeltaByteArray,
    /// Each number's first byte, then each number's second byte, and so on.
    ByteStreamSplit,
    /// Floating-point numbers as decimals.
    Alp,
}

/// All encodings with their numbers and names in the format.
const ALL: [(i32, Encoding, &str); 10] = [
    (0, Encoding::Plain, "PLAIN"),
    (8, Encoding::Dictionary, "RLE_DICTIONARY"),
    (2, Encoding::Dictionary, "PLAIN_DICTIONARY"),
    (3, Encoding::Rle, "RLE"),
    (4, Encoding::BitPacked, "BIT_PACKED"),
    (5, Encoding::DeltaBinaryPacked, "DELTA_BINARY_PACKED"),
    (6, Encoding::DeltaLengthByteArray, "DELTA_LENGTH_BYTE_ARRAY"),
    (7, Encoding::DeltaByteArray, "DELTA_BYTE_ARRAY"),
    (9, Encoding::ByteStreamSplit, "BYTE_STREAM_SPLIT"),
    (10, Encoding::Alp, "ALP"),
];

impl Encoding {
    /// Returns the encoding with a number.
    ///
    /// # Errors
    /// Returns an error if the number is unknown.
    pub fn of(number: i32) -> Result<Encoding, String> {
        let known = ALL.iter().find(|(known, ..)| *known == number).map(|(_, encoding, _)| *encoding);
        known
            .ok_or_else(|| format!("a page has the encoding {number}, which is not known; it may be of a newer format"))
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(ALL.iter().find(|(_, encoding, _)| encoding == self).map_or("", |(.., name)| name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_encoding_has_a_number_and_a_name() {
        let names: Vec<String> = (0..11).filter_map(|number| Some(Encoding::of(number).ok()?.to_string())).collect();
        assert_eq!(
            names.join(" "),
            "PLAIN RLE_DICTIONARY RLE BIT_PACKED DELTA_BINARY_PACKED DELTA_LENGTH_BYTE_ARRAY DELTA_BYTE_ARRAY \
             RLE_DICTIONARY BYTE_STREAM_SPLIT ALP"
        );
        for number in [-1, 1, 11, i32::MAX] {
            assert!(Encoding::of(number).is_err(), "{number}");
        }
    }
}
