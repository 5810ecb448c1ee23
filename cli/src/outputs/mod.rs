//! Command output: whole files ([`file`], under hidden names until they are complete, or [`remote`]), human-readable
//! figures ([`summary`]), HTML ([`page`]), capture fates ([`fates`]), build records ([`build_record`]), what identifies a
//! file ([`identity`]), JSON ([`json`]), name lists ([`names`]), formats by extension ([`endings`]), compressed bytes ([`compressed`]), rows in any format ([`sink`]),
//! text columns ([`align`]), findings for other tools ([`annotations`], [`sarif`]), [`style`]s, [`progress`], and the
//! only path to standard output and standard error ([`terminal`]).

pub mod align;
pub mod annotations;
pub mod build_record;
mod compressed;
pub mod endings;
pub mod fates;
pub mod file;
pub mod identity;
pub mod json;
pub mod kept;
pub mod names;
pub mod page;
pub mod parts;
pub mod progress;
mod remote;
pub mod sarif;
pub mod sink;
pub mod style;
pub mod summary;
pub mod terminal;
