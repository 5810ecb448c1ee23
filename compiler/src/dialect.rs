//! The dialects: every reading of the protocol, each a value of one struct.
//!
//! Nothing else in the workspace says what a dialect does. The stages that these switches steer are in
//! [`crate::robots`] (bytes to groups), [`crate::agents`] (who gets which group) and [`crate::rules`] (their
//! order); [`NormalForm`] is the engine's.

use reptile_engine::norm::NormalForm;

use crate::limits::MAX_LINE_BYTES_GOOGLE;

/// One reading of the Robots Exclusion Protocol.
#[derive(Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The name by which users choose it.
    pub name: &'static str,
    /// How the beginning of a file is treated.
    pub byte_order_mark: ByteOrderMark,
    /// Bytes of a line behind this many are dropped.
    pub max_line_bytes: usize,
    /// Whether a NUL byte ends the usable part of a line.
    pub nul_ends_line: bool,
    /// Which spellings of a key count.
    pub keys: Keys,
    /// Whether a line without any colon may have white space in its stead, if it has exactly two words.
    pub colon_optional: bool,
    /// How paths and patterns are written so that equal things are equal.
    pub normal_form: NormalForm,
    /// Whether an allow of `.../index.htm...` also allows the directory itself.
    pub index_htm_opens_directory: bool,
}

/// What is skipped at the very start of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ByteOrderMark {
    /// As many bytes as agree with `EF BB BF`, from none to all three.
    CommonPrefix,
}

/// Which spellings of a key count. Case never matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Keys {
    /// Anything that begins with the key or one of its frequent misspellings.
    PrefixesAndTypos,
}

/// google/robotstxt, the open-source C++ library, byte for byte (commit 22b355f).
pub const GOOGLE_LIB: Dialect = Dialect {
    name: "google-lib",
    byte_order_mark: ByteOrderMark::CommonPrefix,
    max_line_bytes: MAX_LINE_BYTES_GOOGLE,
    nul_ends_line: true,
    keys: Keys::PrefixesAndTypos,
    colon_optional: true,
    normal_form: NormalForm::AsWritten,
    index_htm_opens_directory: true,
};

/// Every dialect, in the order in which they are listed to users. The first is the default.
pub const ALL: [&Dialect; 1] = [&GOOGLE_LIB];

impl Dialect {
    /// The dialect with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<&'static Dialect> {
        ALL.into_iter().find(|dialect| dialect.name == name)
    }
}
