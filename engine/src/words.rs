//! Words for values, such as `allow` for a verdict: parsing them, and with the feature `serde` writing and reading them
//! in any format. Texts in bytes have the module `bytes`.

use std::fmt;

/// The error for a text that no value of a type has. It gives the expected words and the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWord {
    /// The kind of value: "a verdict".
    what: &'static str,
    expected: String,
    found: String,
}

impl UnknownWord {
    /// Creates the error for `found`, where `what` was expected: one of the words, or a text that a word describes.
    #[must_use]
    pub fn new(what: &'static str, expected: &[&str], found: &str) -> UnknownWord {
        UnknownWord { what, expected: expected.join(", "), found: found.into() }
    }
}

impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnknownWord { what, expected, found } = self;
        write!(f, "expected {what} ({expected}), found \"{}\"", found.escape_debug())
    }
}

impl std::error::Error for UnknownWord {}

/// Implements [`FromStr`](std::str::FromStr) for a type with a name for each value, and with the calling crate's
/// feature `serde` its serialization as that name.
#[doc(hidden)]
#[macro_export]
macro_rules! words {
    ($type:ty, $what:literal, $all:expr, $name:path) => {
        impl std::str::FromStr for $type {
            type Err = $crate::words::UnknownWord;

            fn from_str(text: &str) -> Result<$type, $crate::words::UnknownWord> {
                let all = $all;
                let unknown = || $crate::words::UnknownWord::new($what, &all.map($name), text);
                all.into_iter().find(|&value| $name(value) == text).ok_or_else(unknown)
            }
        }

        $crate::serde_as_text!($type, $what);
    };
}

/// Implements serialization as the text of [`Display`](std::fmt::Display), read by [`FromStr`](std::str::FromStr), with
/// the calling crate's feature `serde`.
#[doc(hidden)]
#[macro_export]
macro_rules! serde_as_text {
    ($type:ty, $what:literal) => {
        #[cfg(feature = "serde")]
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<$type, D::Error> {
                $crate::words::from_text(deserializer, $what)
            }
        }
    };
}

/// Reads a value from its text. `what` names it in an error: "a verdict".
///
/// # Errors
/// Returns an error if the input has no text there, or one that the type does not accept.
#[cfg(feature = "serde")]
pub fn from_text<'de, D, T>(deserializer: D, what: &'static str) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: std::str::FromStr<Err: fmt::Display>,
{
    struct Text<T>(&'static str, std::marker::PhantomData<T>);

    impl<T: std::str::FromStr<Err: fmt::Display>> serde::de::Visitor<'_> for Text<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{}, as a text", self.0)
        }

        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(E::custom)
        }
    }

    deserializer.deserialize_str(Text(what, std::marker::PhantomData))
}

/// A robots.txt's bytes inside another value, serialized as [`bytes`] are: for lists and pairs.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Text(#[serde(with = "bytes")] pub Vec<u8>);

/// For fields with a robots.txt's bytes, which are usually text: `#[serde(with = "reptile_engine::words::bytes")]`.
///
/// In formats for people, such as JSON, bytes in UTF-8 are a string. Others are a list of numbers, so that none is lost.
/// Other formats get bytes.
#[cfg(feature = "serde")]
pub mod bytes {
    use std::fmt;

    use serde::de::{Deserializer, Error, SeqAccess, Visitor};
    use serde::ser::Serializer;

    /// Writes bytes.
    ///
    /// # Errors
    /// Returns the format's error.
    pub fn serialize<S: Serializer>(bytes: impl AsRef<[u8]>, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = bytes.as_ref();
        match std::str::from_utf8(bytes) {
            Ok(text) if serializer.is_human_readable() => serializer.serialize_str(text),
            _ => serializer.serialize_bytes(bytes),
        }
    }

    /// Reads bytes.
    ///
    /// # Errors
    /// Returns an error if the input has neither a text nor bytes there.
    pub fn deserialize<'de, D: Deserializer<'de>, B: From<Vec<u8>>>(deserializer: D) -> Result<B, D::Error> {
        let bytes = match deserializer.is_human_readable() {
            true => deserializer.deserialize_any(Bytes),
            false => deserializer.deserialize_byte_buf(Bytes),
        };
        bytes.map(B::from)
    }

    struct Bytes;

    impl<'de> Visitor<'de> for Bytes {
        type Value = Vec<u8>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a text, or a list of bytes")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Vec<u8>, E> {
            Ok(text.into())
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
            Ok(bytes.into())
        }

        fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
            Ok(bytes)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<u8>, A::Error> {
            // The list grows with its items: a length that the input states is not believed.
            let mut bytes = Vec::new();
            while let Some(byte) = items.next_element()? {
                bytes.push(byte);
            }
            Ok(bytes)
        }
    }
}
