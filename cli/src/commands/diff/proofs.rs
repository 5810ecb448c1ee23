//! The proofs about all URLs for two compiled files, or for two dialects' readings of one file.

use reptile::contents::Set;
use reptile::crawlers::Resolved;
use reptile::diff::{PathDiff, PathRow, PathRows};

use super::paths::Words;
use crate::error::{Failure, Stop, note};
use crate::sets::single::ONE_ORIGIN;

/// Maximum total size in bytes of two files for proofs, so that both sets fit into memory.
const MAX_PROVED_BYTES: usize = 8 << 20;

/// Returns whether files with these lengths are small enough for proofs, and prints a note if they are not.
pub fn can_be_proved(lengths: [usize; 2]) -> bool {
    let is_small = lengths[0].saturating_add(lengths[1]) <= MAX_PROVED_BYTES;
    if !is_small {
        note(format_args!("nothing is proved, because the files have more than {MAX_PROVED_BYTES} bytes in total"));
    }
    is_small
}

/// Opens both compiled files.
///
/// # Errors
/// Returns an error if a set is damaged.
pub fn open(sets: &[Vec<u8>; 2]) -> std::result::Result<[Set<&[u8]>; 2], Stop> {
    Ok([Set::from_bytes(&sets[0][..])?, Set::from_bytes(&sets[1][..])?])
}

/// Compares two single-file sets over all URLs, for the given crawlers or else for all. The crawlers have the same
/// order on both sides.
///
/// # Errors
/// Returns an error if a set is damaged.
pub fn rows<'s>(
    words: &Words,
    given: [&'s [Resolved]; 2],
    sets: &'s [Set<&'s [u8]>; 2],
) -> std::result::Result<PathRows<'s>, Stop> {
    let failure = |error: reptile::Error| Stop::Other(Failure::new(error));
    let assumption = words.assumed.assumption(sets[0].normal_form())?;
    let mut diff = PathDiff::new(&sets[0], &sets[1]).under(assumption);
    let (Some(old), Some(new)) = (sets[0].policy(&ONE_ORIGIN)?, sets[1].policy(&ONE_ORIGIN)?) else {
        return Ok(PathRows::default());
    };
    let policies = [old, new];
    if given[0].is_empty() {
        return diff.rows(&policies).map_err(failure);
    }
    let mut rows = PathRows::default();
    for (old, new) in given[0].iter().zip(given[1]) {
        let agents = [old.look_up(&sets[0])?, new.look_up(&sets[1])?];
        let change = diff.change(&policies, &agents).map_err(failure)?;
        rows.rows.push(PathRow { names: vec![old.name.as_bytes()], change });
    }
    Ok(rows)
}
