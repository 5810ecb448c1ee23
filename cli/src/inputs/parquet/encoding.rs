//! The encodings of values in a page.

use std::fmt;

/// How values are written in a page. Source: the Parquet format, Encodings.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// One after the other, texts with their lengths before them.
    Plain,
    /// The place of each in a dictionary, by its older name too.
    Dictionary,
    /// Runs of a number that repeats, and of numbers packed bit by bit.
    Rle,
    /// Numbers packed bit by bit, the highest bit first.
    BitPacked,
    /// Differences between numbers.
    DeltaBinaryPacked,
    /// The lengths of texts as differences, then the texts.
    DeltaLengthByteArray,
    /// What each text shares with the one before, and the rest of it.
    DeltaByteArray,
    /// The first byte of each number, then the second of each, and so on.
    ByteStreamSplit,
    /// Decimals of floating-point numbers.
    Alp,
}

/// Every encoding with its number in the format and its name there.
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
    /// The encoding of a number.
    ///
    /// # Errors
    /// If there is no such encoding.
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
    fn each_number_is_an_encoding_with_a_name() {
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
