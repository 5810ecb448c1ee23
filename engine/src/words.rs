//! Words for values, such as `allow` for a verdict. They can be parsed, and with the feature `serde` also serialized in
//! any format. The module `bytes` serializes text that may not be UTF-8.

use std::fmt;

/// The error for a text that is not the word for any value of a type. It lists the expected words and the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWord {
    /// The kind of value, such as "a verdict".
    what: &'static str,
    expected: String,
    found: String,
}

impl UnknownWord {
    /// Creates the error for `found`, where `what` was expected. Each item in `expected` is a word or a description.
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

/// Names each value of an enum. Generates `ALL`, the function that returns a value's name, and
/// [`Display`](std::fmt::Display).
#[doc(hidden)]
#[macro_export]
macro_rules! named {
    ($type:ident, $what:literal, $name:ident { $($value:ident => $text:literal,)* }) => {
        impl $type {
            /// Every value, in the order of declaration.
            pub const ALL: [$type; [$($text),*].len()] = [$($type::$value),*];

            #[doc = concat!("Returns the name of ", $what, " in output.")]
            #[must_use]
            pub const fn $name(self) -> &'static str {
                match self {
                    $($type::$value => $text,)*
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.$name())
            }
        }
    };
}

/// Like `named`, and implements [`FromStr`](std::str::FromStr). With the calling crate's feature `serde`, also
/// implements serialization as the name.
#[doc(hidden)]
#[macro_export]
macro_rules! words {
    ($type:ident, $what:literal, $name:ident $names:tt) => {
        $crate::named!($type, $what, $name $names);

        impl std::str::FromStr for $type {
            type Err = $crate::words::UnknownWord;

            fn from_str(text: &str) -> Result<$type, $crate::words::UnknownWord> {
                let unknown = || $crate::words::UnknownWord::new($what, &$type::ALL.map($type::$name), text);
                $type::ALL.into_iter().find(|value| value.$name() == text).ok_or_else(unknown)
            }
        }

        $crate::serde_as_text!($type, $what);
    };
}

/// With the calling crate's feature `serde`, implements serialization as the text of [`Display`](std::fmt::Display),
/// and deserialization with [`FromStr`](std::str::FromStr).
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

/// Reads a value from its text. `what` names the kind of value in an error, such as "a verdict".
///
/// # Errors
/// Returns an error if the input has no text there, or a text that the type does not accept.
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

/// Bytes from a robots.txt in a list or a pair, serialized by [`bytes`].
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Text(#[serde(with = "bytes")] pub Vec<u8>);

/// Serializes a robots.txt's bytes, which are usually text: `#[serde(with = "reptile_engine::words::bytes")]`.
///
/// In human-readable formats such as JSON, UTF-8 bytes are a string, and other bytes are a list of numbers, so no byte
/// is lost. Other formats get bytes.
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
            // The vector grows with its items, because the input may state a wrong length.
            let mut bytes = Vec::new();
            while let Some(byte) = items.next_element()? {
                bytes.push(byte);
            }
            Ok(bytes)
        }
    }
}
