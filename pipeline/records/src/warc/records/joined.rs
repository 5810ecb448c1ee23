//! Records that are stored in several gzip members.
//!
//! A member usually holds whole records, and reading resumes with the next member after damage. But some writers store
//! a record's header and block separately, and others cut a file into members of equal size. The first member decides,
//! because the crawler wrote it. If it ends within a record, and the next member does not begin with a record, members
//! do not show where records begin. The file is then read as if it were one member, up to the first damage.

use super::{RECORD_START, Records};
use crate::gzip::Unpack;

/// Returns whether the available start of a member's data may begin a record.
pub(in crate::warc) fn may_begin_record(start: &[u8]) -> bool {
    start.iter().zip(RECORD_START).all(|(found, expected)| found == expected)
}

impl<R: Unpack> Records<R> {
    /// Continues the current record in the next member, if the file's first member ends within it.
    pub(super) fn continue_record(&mut self) {
        if self.is_joined || !self.is_first_member || self.is_untrusted || self.next_is_untrusted {
            return;
        }
        let unused = &self.buffer[self.filled..];
        let is_continued =
            |next: &mut Result<usize, String>| next.as_ref().is_ok_and(|&len| !may_begin_record(&unused[..len]));
        let Some(Ok(beginning)) = self.next.take_if(is_continued) else { return };
        self.is_joined = true;
        self.filled += beginning;
        self.given += beginning as u64;
    }

    /// Returns whether the source's members hold whole records.
    pub(super) fn has_members(&self) -> bool {
        self.source.has_members() && !self.is_joined
    }
}
