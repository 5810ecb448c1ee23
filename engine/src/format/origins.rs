//! The sections `buckets` and `origins`: a hash table from origins to their policies.
//!
//! `origins` has a record for each origin that includes its host name, so a look-up usually reads one cache line there.
//! The records are sorted by hash. `buckets` has eight-byte slots, eight to a cache line: 24 bits of hash and a
//! record's address, or zero. An origin's slot is the first free one from its bucket on; because origins are placed in
//! hash order, writing and verifying take one pass each. `FORMAT.md` describes both sections.
//!
//! Attackers can choose host names. The hash therefore has a seed that depends on all origins in the set, so that
//! controlling some of them is not enough to predict it. Starting there, the writer takes the first seed for which no
//! look-up reads more than [`MAX_PROBE_SLOTS`] slots.

#[cfg(feature = "write")]
mod write;

use xxhash_rust::xxh3::xxh3_64_with_seed;

#[cfg(feature = "write")]
pub(super) use self::write::{OriginOrder, seed_part, write_origins};
use super::container::Section;
use super::{FormatError, NONE, pad, put, u32_at, u64_at};
use crate::host::MAX_HOST_BYTES;
use crate::platform::{as_chunks, prefetch};
use crate::steps::StepCounter;
use crate::url::Scheme;

/// Slots per bucket: one cache line.
pub const BUCKET_SLOTS: u64 = 8;

/// Average number of origins per bucket. With four, one look-up in twenty needs a second cache line and the table has
/// 16 bytes per origin; with five, one look-up in six and 13 bytes.
pub const ORIGINS_PER_BUCKET: u64 = 4;

/// Maximum number of slots that a look-up reads, including the final empty slot. With random names, one look-up in ten
/// million exceeds 64, which is too many for a large set, and one in 10^12 exceeds 128.
pub const MAX_PROBE_SLOTS: usize = 128;

/// Maximum number of seeds to try.
pub const MAX_SEEDS: u64 = 16;

/// Bits per slot for a record's address plus 1.
const ADDRESS_BITS: u32 = 40;

/// Maximum size of all origin records in bytes, limited by their addresses.
pub const MAX_ORIGINS_BYTES: u64 = ((1 << ADDRESS_BITS) - 1) * UNIT as u64;

/// Address unit in bytes.
pub(super) const UNIT: usize = 8;

/// Size of the `buckets` header in bytes: one cache line.
const HEADER_BYTES: usize = 64;

/// Slot size in bytes.
const SLOT_BYTES: usize = 8;

/// Bucket size in bytes.
const BUCKET_BYTES: usize = BUCKET_SLOTS as usize * SLOT_BYTES;

/// Record header size in bytes. The host name follows.
const RECORD_BYTES: usize = 16;

/// Record size in bytes for a typical host.
const TYPICAL_RECORD_BYTES: usize = 40;

/// An origin in a set, and the addresses of its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OriginRecord<'a> {
    /// The host, in the canonical form of [`crate::host::canonical`].
    pub host: &'a [u8],
    /// The scheme.
    pub scheme: Scheme,
    /// The port.
    pub port: u16,
    /// The origin's policy address.
    pub policy: u32,
    /// The address of its capture history; `None` for a file that was fetched successfully at an unknown time.
    pub captures: Option<u32>,
    /// The address of its other directives, if it has any.
    pub other: Option<u32>,
}

/// Returns the hash that distributes origins over the table. Look-ups also compare scheme, host and port.
#[inline]
fn hash_of(seed: u64, scheme: Scheme, host: &[u8], port: u16) -> u64 {
    let salt = (u64::from(port) << 8 | scheme as u64).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    xxh3_64_with_seed(host, seed).wrapping_add(salt).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

/// Returns a record's hash under a seed.
pub(super) fn hash_of_record(seed: u64, record: &OriginRecord<'_>) -> u64 {
    hash_of(seed, record.scheme, record.host, record.port)
}

/// Returns the number of buckets for this many origins.
fn bucket_count(origins: u64) -> u64 {
    origins.div_ceil(ORIGINS_PER_BUCKET)
}

/// Returns a hash's bucket. A greater hash never has a smaller bucket.
#[inline]
fn bucket_of(hash: u64, buckets: u64) -> u64 {
    ((u128::from(hash) * u128::from(buckets)) >> 64) as u64
}

/// Returns a record's slot: the lowest bits of its hash, and its address plus 1.
fn slot_of(hash: u64, address: u64) -> u64 {
    hash << ADDRESS_BITS | (address + 1)
}

/// Returns the byte offset of a slot's record.
#[inline(always)]
fn byte_of(slot: u64) -> usize {
    ((slot & ((1 << ADDRESS_BITS) - 1)).wrapping_sub(1) as usize).saturating_mul(UNIT)
}

/// Returns whether no look-up reads more than [`MAX_PROBE_SLOTS`] slots, given each bucket's origin count. Linear.
fn is_bounded(origins_of_bucket: &[u8]) -> bool {
    // The start and end of the current run of full slots.
    let (mut start, mut end) = (0, 0);
    for (bucket, &origins) in (0..).zip(origins_of_bucket) {
        let first = bucket * BUCKET_SLOTS as usize;
        if end < first {
            (start, end) = (first, first);
        }
        end += usize::from(origins);
        // A look-up that begins at `start` reads the whole run and an empty slot.
        if end - start >= MAX_PROBE_SLOTS {
            return false;
        }
    }
    true
}

/// Counts the origins in each bucket. Saturates at 255, which is already too many for a bucket.
fn origins_of_buckets(buckets: u64, hashes: impl Iterator<Item = u64>) -> Vec<u8> {
    let mut origins = vec![0_u8; buckets as usize];
    for hash in hashes {
        if let Some(count) = origins.get_mut(bucket_of(hash, buckets) as usize) {
            *count = count.saturating_add(1);
        }
    }
    origins
}

/// Appends an origin's record.
fn encode(origin: &OriginRecord<'_>, out: &mut Vec<u8>) {
    put(out, origin.policy);
    put(out, origin.captures.unwrap_or(NONE));
    put(out, origin.other.unwrap_or(NONE));
    out.extend_from_slice(&origin.port.to_le_bytes());
    // A host has at most 255 bytes.
    out.extend_from_slice(&[origin.scheme as u8, origin.host.len() as u8]);
    out.extend_from_slice(origin.host);
    pad(out, UNIT);
}

/// Returns port, scheme and host length as encoded in a record.
#[inline(always)]
fn head_of(scheme: Scheme, host_len: u8, port: u16) -> u32 {
    u32::from(port) | (scheme as u32) << 16 | u32::from(host_len) << 24
}

fn key_of<'a>(hash: u64, origin: &OriginRecord<'a>) -> (u64, Scheme, u16, &'a [u8]) {
    (hash, origin.scheme, origin.port, origin.host)
}

/// The hash table for origins.
#[derive(Clone, Copy)]
pub struct Origins<'a> {
    /// The section `buckets`.
    pub(crate) buckets: &'a [u8],
    /// The section `origins`.
    pub(crate) records: &'a [u8],
}

impl<'a> Origins<'a> {
    /// Returns the origin count stored in the header.
    #[must_use]
    pub fn count(&self) -> u64 {
        u64_at(self.buckets, 0).unwrap_or(0)
    }

    /// Returns an origin's record, or `None` if the set does not contain the origin.
    ///
    /// `host` must be in the canonical form of [`crate::host::canonical`].
    ///
    /// Reads at most [`MAX_PROBE_SLOTS`] slots. In a large set two memory accesses miss the cache.
    ///
    /// # Errors
    /// Returns an error if the table is damaged.
    // Compiled once for WebAssembly, not in each crate.
    #[cfg_attr(not(target_family = "wasm"), inline)]
    pub fn find(&self, scheme: Scheme, host: &[u8], port: u16) -> Result<Option<OriginRecord<'a>>, FormatError> {
        self.find_with(scheme, host, port, &mut ())
    }

    /// Looks up an origin as [`Origins::find`] does, and counts the slots and records that it reads. For tests.
    ///
    /// # Errors
    /// Returns an error if the table is damaged.
    pub fn find_counted(
        &self,
        scheme: Scheme,
        host: &[u8],
        port: u16,
    ) -> Result<(Option<OriginRecord<'a>>, usize), FormatError> {
        let mut steps = 0;
        let found = self.find_with(scheme, host, port, &mut steps)?;
        Ok((found, steps))
    }

    #[inline(always)]
    fn find_with(
        &self,
        scheme: Scheme,
        host: &[u8],
        port: u16,
        count: &mut impl StepCounter,
    ) -> Result<Option<OriginRecord<'a>>, FormatError> {
        // In a table with one bucket every look-up begins at its start, and comparing the few records takes less time
        // than computing a hash. The memory accesses up to the rules then do not depend on the URL's bytes, so the
        // processor can read ahead while it splits the URL.
        if u64_at(self.buckets, 8) == Some(1) {
            return self.find_from(0, |_| true, scheme, host, port, count);
        }
        self.find_hashed_with(self.hash(scheme, host, port), scheme, host, port, count)
    }

    /// Returns an origin's hash in this table. The result is arbitrary if the table is damaged or empty.
    #[inline]
    pub(crate) fn hash(&self, scheme: Scheme, host: &[u8], port: u16) -> u64 {
        hash_of(u64_at(self.buckets, 16).unwrap_or_default(), scheme, host, port)
    }

    /// Returns the offset of a hash's bucket, in bytes after the header.
    #[inline(always)]
    fn start_of(&self, hash: u64) -> usize {
        let buckets = u64_at(self.buckets, 8).unwrap_or_default();
        (bucket_of(hash, buckets) as usize).saturating_mul(BUCKET_SLOTS as usize * SLOT_BYTES)
    }

    #[inline]
    pub(crate) fn prefetch_bucket(&self, hash: u64) {
        prefetch(self.buckets, HEADER_BYTES.saturating_add(self.start_of(hash)));
    }

    /// Returns the offset of the first record in a hash's bucket whose slot matches the hash bits.
    ///
    /// If the set contains the origin, this is most likely its record. Waits for the bucket, and prefetches the record.
    ///
    /// Compares all slots in the bucket without branches, because the position of the match is unpredictable.
    #[inline]
    pub(crate) fn prefetch_record(&self, hash: u64) -> Option<usize> {
        let start = HEADER_BYTES.saturating_add(self.start_of(hash));
        let (slots, _) = as_chunks::<SLOT_BYTES, u8>(self.buckets.get(start..)?.first_chunk::<BUCKET_BYTES>()?);
        let wanted = hash << ADDRESS_BITS;
        let hits = (0..).zip(slots).fold(0_u32, |hits, (place, slot)| {
            hits | u32::from((u64::from_le_bytes(*slot) ^ wanted) >> ADDRESS_BITS == 0) << place
        });
        let slot = u64::from_le_bytes(*slots.get(hits.trailing_zeros() as usize)?);
        let at = byte_of(slot);
        // Half of the records with a typical host extend into the next cache line.
        prefetch(self.records, at);
        prefetch(self.records, at.saturating_add(TYPICAL_RECORD_BYTES));
        Some(at)
    }

    /// Looks up an origin whose [`Origins::hash`] is known.
    ///
    /// First tries the record at the offset from [`Origins::prefetch_record`].
    ///
    /// # Errors
    /// Returns an error if the table is damaged.
    #[inline]
    pub(crate) fn find_expected(
        &self,
        expected_at: Option<usize>,
        hash: u64,
        scheme: Scheme,
        host: &[u8],
        port: u16,
    ) -> Result<Option<OriginRecord<'a>>, FormatError> {
        let expected = expected_at.and_then(|at| self.records.get(at..));
        if let Some(record) = expected {
            if host.len() <= MAX_HOST_BYTES
                && u32_at(record, 12) == Some(head_of(scheme, host.len() as u8, port))
                && record.get(RECORD_BYTES..RECORD_BYTES + host.len()) == Some(host)
            {
                if let Some(record) = self.record_of(record, scheme, port, host.len()) {
                    return Ok(Some(record));
                }
            }
        }
        self.find_hashed_with(hash, scheme, host, port, &mut ())
    }

    #[inline(always)]
    fn find_hashed_with(
        &self,
        hash: u64,
        scheme: Scheme,
        host: &[u8],
        port: u16,
        count: &mut impl StepCounter,
    ) -> Result<Option<OriginRecord<'a>>, FormatError> {
        let has_bits = |slot: u64| (slot ^ hash << ADDRESS_BITS) >> ADDRESS_BITS == 0;
        self.find_from(self.start_of(hash), has_bits, scheme, host, port, count)
    }

    /// Finds an origin's record. Searches the slots that `may_be` accepts, from `start` bytes after the header.
    #[inline(always)]
    fn find_from(
        &self,
        start: usize,
        may_be: impl Fn(u64) -> bool,
        scheme: Scheme,
        host: &[u8],
        port: u16,
        count: &mut impl StepCounter,
    ) -> Result<Option<OriginRecord<'a>>, FormatError> {
        // A record stores the host length in one byte.
        let Ok(host_len) = u8::try_from(host.len()) else { return Ok(None) };
        if self.buckets.len() < HEADER_BYTES {
            return if self.buckets.is_empty() { Ok(None) } else { Err(self.no_buckets()) };
        }
        let slots = self.buckets.get(HEADER_BYTES.saturating_add(start)..).ok_or_else(|| self.no_buckets())?;
        let wanted = head_of(scheme, host_len, port);
        for slot in slots.chunks_exact(SLOT_BYTES).take(MAX_PROBE_SLOTS) {
            let slot = u64_at(slot, 0).unwrap_or_default();
            count.add(1);
            if slot == 0 {
                return Ok(None);
            }
            if may_be(slot) {
                count.add(1);
                let at = byte_of(slot);
                let record = self.records.get(at..).ok_or_else(|| self.no_record(at))?;
                if u32_at(record, 12) == Some(wanted)
                    && record.get(RECORD_BYTES..RECORD_BYTES + host.len()) == Some(host)
                {
                    return self
                        .record_of(record, scheme, port, host.len())
                        .map(Some)
                        .ok_or_else(|| self.no_record(at));
                }
            }
        }
        if slots.len() < MAX_PROBE_SLOTS * SLOT_BYTES { Ok(None) } else { Err(self.no_end(start)) }
    }

    #[inline(always)]
    fn record_of(&self, record: &'a [u8], scheme: Scheme, port: u16, host_len: usize) -> Option<OriginRecord<'a>> {
        let host = record.get(RECORD_BYTES..RECORD_BYTES + host_len)?;
        let optional = |at| Some(Some(u32_at(record, at)?).filter(|&address| address != NONE));
        Some(OriginRecord {
            host,
            scheme,
            port,
            policy: u32_at(record, 0)?,
            captures: optional(4)?,
            other: optional(8)?,
        })
    }

    #[cold]
    fn no_buckets(&self) -> FormatError {
        let found = format!("{} bytes for {} origins", self.buckets.len(), self.count());
        FormatError::new(Section::Buckets.name(), "a table of buckets", found)
    }

    #[cold]
    fn no_record(&self, at: usize) -> FormatError {
        let found = format!("the address of byte {at} of {}", self.records.len());
        FormatError::new(Section::Buckets.name(), "the address of an origin", found)
    }

    #[cold]
    fn no_end(&self, start: usize) -> FormatError {
        let expected = format!("an empty slot among {MAX_PROBE_SLOTS}");
        FormatError::at(Section::Buckets, HEADER_BYTES.saturating_add(start), expected, "none")
    }

    /// Returns the record at a byte offset in the section, and the next record's offset.
    pub(super) fn at(&self, at: usize) -> Result<(OriginRecord<'a>, usize), FormatError> {
        let record = || {
            let record = self.records.get(at..)?;
            let head: &[u8; RECORD_BYTES] = record.first_chunk()?;
            let scheme = Scheme::from_number(head[14])?;
            let port = u16::from_le_bytes([head[12], head[13]]);
            let origin = self.record_of(record, scheme, port, head[15].into())?;
            Some((origin, at + (RECORD_BYTES + origin.host.len()).next_multiple_of(UNIT)))
        };
        record().ok_or_else(|| {
            let found =
                format!("{} bytes that are not a record", self.records.len().saturating_sub(at).min(RECORD_BYTES));
            FormatError::at(Section::Origins, at, "the record of an origin", found)
        })
    }

    /// Returns every origin in hash order. Ends after an error.
    #[must_use]
    pub fn iter(self) -> OriginIter<'a> {
        OriginIter { origins: self, at: 0 }
    }

    /// Proves that the sections are canonical. Calls `check` for each record.
    pub(crate) fn verify(
        self,
        steps: &mut u64,
        mut check: impl FnMut(&OriginRecord<'a>) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        let damaged = |at, expected: &str, found: String| FormatError::at(Section::Buckets, at, expected, found);
        let (mut count, mut first) = (0_u64, 0_u64);
        for origin in self.iter() {
            let origin = origin?;
            check(&origin)?;
            *steps += 1 + origin.host.len() as u64;
            count += 1;
            first = first.wrapping_add(hash_of_record(0, &origin));
        }
        if count == 0 {
            let is_absent = self.buckets.is_empty() && self.records.is_empty();
            return if is_absent { Ok(()) } else { Err(damaged(0, "no table for zero origins", "a table".into())) };
        }
        let long = |at: usize| u64_at(self.buckets, at).unwrap_or_default();
        let (buckets, seed) = (bucket_count(count), long(16));
        if (long(0), long(8)) != (count, buckets) {
            let found = format!("{} in {}", long(0), long(8));
            return Err(damaged(0, &format!("{count} origins in {buckets} buckets"), found));
        }
        let number = seed.wrapping_sub(first);
        if number >= MAX_SEEDS {
            let expected = format!("one of the {MAX_SEEDS} seeds from {first:016x} on");
            return Err(damaged(16, &expected, format!("{seed:016x}")));
        }
        if self.buckets.get(24..HEADER_BYTES).is_none_or(|rest| rest.iter().any(|&byte| byte != 0)) {
            return Err(damaged(24, "zeros", "other bytes".into()));
        }
        self.verify_slots(seed, buckets, steps)?;
        for number in 0..=number {
            let tried = first.wrapping_add(number);
            *steps += count + buckets;
            let hashes = self.iter().filter_map(Result::ok).map(|origin| hash_of_record(tried, &origin));
            if is_bounded(&origins_of_buckets(buckets, hashes)) != (tried == seed) {
                let expected = "the first seed that bounds every look-up";
                return Err(damaged(16, expected, format!("{seed:016x}")));
            }
        }
        Ok(())
    }

    /// Checks the records' order and encoding, and every slot.
    fn verify_slots(&self, seed: u64, buckets: u64, steps: &mut u64) -> Result<(), FormatError> {
        let slots = self.buckets.get(HEADER_BYTES..).unwrap_or_default();
        let (mut at, mut next, mut last) = (0, 0_u64, None);
        let mut written = Vec::new();
        // Checks that the slots in a range are empty.
        let empty_up_to = |from: u64, to: u64| {
            let range = from as usize * SLOT_BYTES..to as usize * SLOT_BYTES;
            match slots.get(range.clone()) {
                Some(empty) if empty.iter().all(|&byte| byte == 0) => Ok(()),
                Some(_) => {
                    Err(FormatError::at(Section::Buckets, HEADER_BYTES + range.start, "empty slots", "used slots"))
                }
                None => Err(self.no_buckets()),
            }
        };
        while at < self.records.len() {
            let (origin, end) = self.at(at)?;
            written.clear();
            encode(&origin, &mut written);
            if self.records.get(at..end) != Some(&written[..]) {
                return Err(FormatError::at(Section::Origins, at, "the only encoding of a record", "another encoding"));
            }
            let hash = hash_of_record(seed, &origin);
            let key = key_of(hash, &origin);
            if last >= Some(key) {
                let expected = "distinct origins sorted by hash";
                return Err(FormatError::at(Section::Origins, at, expected, "another order"));
            }
            let slot = next.max(bucket_of(hash, buckets) * BUCKET_SLOTS);
            empty_up_to(next, slot)?;
            let place = slot as usize * SLOT_BYTES;
            let expected = slot_of(hash, (at / UNIT) as u64);
            if u64_at(slots, place) != Some(expected) {
                let found = u64_at(slots, place).map_or("the end of the section".into(), |slot| format!("{slot:016x}"));
                return Err(FormatError::at(
                    Section::Buckets,
                    HEADER_BYTES + place,
                    format!("the slot {expected:016x}"),
                    found,
                ));
            }
            *steps += 1 + (slot - next) + written.len() as u64;
            (at, next, last) = (end, slot + 1, Some(key));
        }
        let end = next.max(buckets * BUCKET_SLOTS);
        empty_up_to(next, end)?;
        if slots.len() as u64 != end * SLOT_BYTES as u64 {
            return Err(FormatError::new(
                Section::Buckets.name(),
                format!("{end} slots"),
                format!("{} bytes", slots.len()),
            ));
        }
        Ok(())
    }
}

/// An iterator over every origin in a set; see [`Origins::iter`].
#[derive(Clone)]
pub struct OriginIter<'a> {
    origins: Origins<'a>,
    at: usize,
}

impl<'a> Iterator for OriginIter<'a> {
    type Item = Result<OriginRecord<'a>, FormatError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.origins.records.len() {
            return None;
        }
        match self.origins.at(self.at) {
            Ok((origin, next)) => {
                self.at = next;
                Some(Ok(origin))
            }
            Err(error) => {
                self.at = self.origins.records.len();
                Some(Err(error))
            }
        }
    }
}

#[cfg(test)]
mod tests;
