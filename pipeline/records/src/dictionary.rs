//! zstd decoders, and the dictionary at the start of a `.warc.zst` file.
//!
//! The file begins with a skippable frame that holds a zstd dictionary, which may be compressed. All other frames need
//! this dictionary. A frame that needs another dictionary is an error. Source: iipc.github.io/warc-specifications,
//! warc-zstd 1.0.

use std::io::{self, BufRead, Read};

use zstd::stream::read::Decoder as ZstdDecoder;

use crate::gzip::cut;
use crate::text::grouped;

/// Maximum length in bytes for a dictionary, as stored and decompressed: the size that the specification requires of
/// every reader.
const MAX_DICTIONARY_BYTES: usize = 8 << 20;

/// Maximum size of a zstd window, as a power of two.
pub(crate) const MAX_WINDOW_LOG: u32 = 27;

/// The first bytes of the skippable frame with a dictionary.
const FRAME: [u8; 4] = [0x5d, 0x2a, 0x4d, 0x18];

/// The first bytes of a zstd frame.
const COMPRESSED: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The first bytes of a zstd dictionary (RFC 8878, section 5).
const DICTIONARY: [u8; 4] = [0x37, 0xa4, 0x30, 0xec];

/// zstd's error message for a frame whose dictionary is missing or different.
const MISMATCH: &str = "Dictionary mismatch";

/// Creates a zstd decoder with the memory limit.
///
/// # Errors
/// Returns an error if there is not enough memory.
pub(crate) fn unpack_zstd<R: BufRead>(source: R) -> io::Result<ZstdDecoder<'static, R>> {
    unpack_zstd_with(source, &[])
}

/// Creates a zstd decoder with the memory limit, for frames that may need this dictionary.
pub(crate) fn unpack_zstd_with<R: BufRead>(source: R, dictionary: &[u8]) -> io::Result<ZstdDecoder<'static, R>> {
    let mut decoder = ZstdDecoder::with_dictionary(source, dictionary)?;
    decoder.window_log_max(MAX_WINDOW_LOG)?;
    Ok(decoder)
}

/// Returns whether a file starts like a frame with a dictionary.
pub(crate) fn may_follow(start: &[u8]) -> bool {
    start.starts_with(&FRAME)
}

/// Reads the frame at the start of a file, and returns its dictionary, or `None` if it holds other content.
///
/// Other programs may store anything in a skippable frame, so other content is skipped.
///
/// # Errors
/// Returns an error if the file ends in the frame, or if the dictionary is damaged or too large.
pub(crate) fn read(source: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut header = [0; FRAME.len() + 4];
    source.read_exact(&mut header).map_err(|error| cut(error, "its first frame has no length"))?;
    let [.., a, b, c, d] = header;
    let len = u32::from_le_bytes([a, b, c, d]) as usize;
    let mut content = Vec::new();
    source.take(len.min(DICTIONARY.len()) as u64).read_to_end(&mut content)?;
    let is_dictionary = content == DICTIONARY || content == COMPRESSED;
    if is_dictionary && len > MAX_DICTIONARY_BYTES {
        return Err(too_large(&grouped(len as u64)));
    }
    let rest = (len - content.len()) as u64;
    let read = match is_dictionary {
        true => source.take(rest).read_to_end(&mut content)? as u64,
        false => io::copy(&mut source.take(rest), &mut io::sink())?,
    };
    if read < rest {
        let found = grouped(len as u64 - (rest - read));
        let text = format!("it ends after {found} of the {} bytes of its first frame", grouped(len as u64));
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
    }
    match is_dictionary {
        true if content.starts_with(&COMPRESSED) => decompress(&content).map(Some),
        true => Ok(Some(content)),
        false => Ok(None),
    }
}

/// Decompresses a dictionary, which must be a single frame.
fn decompress(frame: &[u8]) -> io::Result<Vec<u8>> {
    let of_dictionary = |error: io::Error| io::Error::new(error.kind(), format!("its dictionary is damaged: {error}"));
    let mut decoder = unpack_zstd(frame)?.single_frame();
    let mut dictionary = Vec::new();
    (&mut decoder).take(MAX_DICTIONARY_BYTES as u64 + 1).read_to_end(&mut dictionary).map_err(of_dictionary)?;
    if dictionary.len() > MAX_DICTIONARY_BYTES {
        return Err(too_large("more"));
    }
    if !dictionary.starts_with(&DICTIONARY) || !decoder.get_ref().is_empty() {
        return Err(of_dictionary(io::Error::other("expected a frame with a dictionary and nothing else")));
    }
    Ok(dictionary)
}

fn too_large(found: &str) -> io::Error {
    let limit = grouped(MAX_DICTIONARY_BYTES as u64);
    io::Error::other(format!("its dictionary has {found} bytes; the limit is {limit}"))
}

/// Explains zstd's error about a frame whose dictionary is missing, and passes on other errors.
pub(crate) fn explain(error: io::Error) -> io::Error {
    if error.to_string() != MISMATCH {
        return error;
    }
    io::Error::new(
        error.kind(),
        "a frame needs a dictionary, and the file's first frame has none or another one; decompress the file with \
         `zstd -d -D DICTIONARY`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dictionary(len: usize) -> Vec<u8> {
        [&DICTIONARY[..], &vec![0; len - DICTIONARY.len()]].concat()
    }

    fn frame(content: &[u8]) -> Vec<u8> {
        [&FRAME[..], &(content.len() as u32).to_le_bytes(), content].concat()
    }

    #[test]
    fn dictionaries_are_read_up_to_the_limit() {
        for len in [MAX_DICTIONARY_BYTES - 1, MAX_DICTIONARY_BYTES, MAX_DICTIONARY_BYTES + 1] {
            let plain = dictionary(len);
            for content in [plain.clone(), zstd::encode_all(&*plain, 1).unwrap()] {
                let found = read(&mut &*frame(&content)).map_err(|error| error.to_string());
                match len <= MAX_DICTIONARY_BYTES {
                    true => assert!(found == Ok(Some(plain.clone())), "{len}"),
                    false => assert!(found.unwrap_err().ends_with("bytes; the limit is 8,388,608"), "{len}"),
                }
            }
        }
        // The announced length alone exceeds the limit, so the content is not read.
        let endless = [&FRAME[..], &[0xff; 4], &DICTIONARY].concat();
        let error = read(&mut &*endless).unwrap_err().to_string();
        assert_eq!(error, "its dictionary has 4,294,967,295 bytes; the limit is 8,388,608");
        let other = [&FRAME[..], &[0xff; 4], b"other"].concat();
        let error = read(&mut &*other).unwrap_err().to_string();
        assert_eq!(error, "it ends after 5 of the 4,294,967,295 bytes of its first frame");
    }

    #[test]
    fn a_frame_has_a_whole_dictionary_or_none() {
        let plain = dictionary(1000);
        let packed = zstd::encode_all(&*plain, 1).unwrap();
        let expected = "expected a frame with a dictionary and nothing else";
        let cases = [
            (plain.clone(), Ok(Some(plain.clone()))),
            (packed.clone(), Ok(Some(plain.clone()))),
            (Vec::new(), Ok(None)),
            (b"7\xa40".to_vec(), Ok(None)),
            (b"any text".to_vec(), Ok(None)),
            ([&packed[..], b"x"].concat(), Err(expected)),
            ([&packed[..], &packed].concat(), Err(expected)),
            (zstd::encode_all(&b"text"[..], 1).unwrap(), Err(expected)),
            (zstd::encode_all(&b""[..], 1).unwrap(), Err(expected)),
            (packed[..packed.len() - 1].to_vec(), Err("its dictionary is damaged: ")),
            (COMPRESSED.to_vec(), Err("its dictionary is damaged: ")),
        ];
        for (content, expected) in &cases {
            let stored = frame(content);
            let found = read(&mut &*stored);
            match (found, expected) {
                (Ok(found), Ok(expected)) => assert_eq!(&found, expected),
                (Err(error), Err(text)) => assert!(error.to_string().contains(text), "{error}"),
                (found, expected) => panic!("{found:?}, expected {expected:?}"),
            }
            for len in FRAME.len()..stored.len() {
                assert!(read(&mut &stored[..len]).is_err(), "{len} of {stored:?}");
            }
        }
        assert_eq!(cases.len(), 11);
    }
}
