//! Shared parts of the fuzz targets. `README.md` lists the targets and says how to run them.
//!
//! | module | contents |
//! |---|---|
//! | [`memory`] | a limit on the memory of one execution |
//! | [`files`] | inputs as files, for readers that need one |
//! | [`tables`], [`archives`] | decided tables and pages, with the number of their rows |
//! | [`references`] | simple readers, to compare Reptile's with |
//! | [`sets`], [`merged`], [`standards`], [`answers`] | the properties that the tests check too, in the tests' files |

pub mod archives;
pub mod files;
pub mod memory;
pub mod references;
pub mod tables;

#[path = "../../engine/tests/support/answers.rs"]
pub mod answers;
#[path = "../../compiler/tests/support/merged.rs"]
pub mod merged;
#[path = "../../compiler/tests/support/sets.rs"]
pub mod sets;
#[path = "../../engine/tests/support/standards.rs"]
pub mod standards;

/// Splits a target's options off its input: the first `N` bytes. Returns `None` for a shorter input.
#[must_use]
pub fn options<const N: usize>(data: &[u8]) -> Option<(&[u8; N], &[u8])> {
    data.split_first_chunk()
}
