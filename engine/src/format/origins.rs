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
mod tests {
    use super::*;
    use crate::format::TooLarge;
    use crate::threads::OneThread;

    fn first_seed<'a>(origins: impl Iterator<Item = OriginRecord<'a>>) -> u64 {
        origins.fold(0, |sum, origin| sum.wrapping_add(seed_part(&origin)))
    }

    fn written_in(origins: &[OriginRecord<'_>], order: &OriginOrder<usize>) -> (Vec<u8>, Vec<u8>) {
        let (mut slots, mut records) = (Vec::new(), Vec::new());
        let record = |index: usize| Ok::<_, TooLarge>(origins[index]);
        write_origins(order, record, &mut slots, &mut records, &OneThread).unwrap();
        (slots, records)
    }

    fn written(origins: &[OriginRecord<'_>]) -> (Vec<u8>, Vec<u8>) {
        written_in(origins, &OriginOrder::of(origins, &OneThread).unwrap())
    }

    fn written_with_seed(origins: &[OriginRecord<'_>], seed: u64) -> (Vec<u8>, Vec<u8>) {
        let hashed = origins.iter().map(|origin| hash_of_record(seed, origin)).zip(0..).collect();
        written_in(origins, &OriginOrder::with_seed(seed, hashed, |index: usize| origins[index], &OneThread))
    }

    fn record(host: &[u8]) -> OriginRecord<'_> {
        OriginRecord { host, scheme: Scheme::Https, port: 443, policy: 0, captures: None, other: None }
    }

    /// Returns `count` names that a seed places in this bucket.
    fn names_in_bucket(seed: u64, bucket: u64, buckets: u64, count: usize, salt: &str) -> Vec<String> {
        let names = (0..).map(|number: u32| format!("{salt}{number}.example"));
        let is_in = |name: &String| bucket_of(hash_of(seed, Scheme::Https, name.as_bytes(), 443), buckets) == bucket;
        names.filter(is_in).take(count).collect()
    }

    fn found(slots: &[u8], records: &[u8], host: &[u8]) -> Result<bool, FormatError> {
        let table = Origins { buckets: slots, records };
        let (found, steps) = table.find_counted(Scheme::Https, host, 443)?;
        assert!(steps <= 2 * MAX_PROBE_SLOTS, "{steps} steps");
        Ok(found.is_some())
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn look_ups_find_exactly_the_origins_written() {
        let names: Vec<String> = (0..5000).map(|number| format!("h{number}.example")).collect();
        let mut origins: Vec<OriginRecord<'_>> = names.iter().map(|name| record(name.as_bytes())).collect();
        origins.push(OriginRecord { scheme: Scheme::Http, port: 443, policy: 9, captures: Some(3), ..origins[0] });
        origins.push(OriginRecord { port: 444, policy: 8, other: Some(0), ..origins[0] });
        let (slots, records) = written(&origins);
        let table = Origins { buckets: &slots, records: &records };
        table.verify(&mut 0, |_| Ok(())).unwrap();
        for origin in &origins {
            assert_eq!(table.find(origin.scheme, origin.host, origin.port), Ok(Some(*origin)));
        }
        let mut all: Vec<OriginRecord<'_>> = table.iter().collect::<Result<_, _>>().unwrap();
        all.sort_unstable();
        origins.sort_unstable();
        assert!(all == origins);
        for name in ["h5000.example", "", "H1.example", &"h".repeat(300)] {
            assert_eq!(table.find(Scheme::Https, name.as_bytes(), 443), Ok(None));
        }
        assert_eq!(table.find(Scheme::Ftp, b"h1.example", 443), Ok(None));
        assert_eq!(table.find(Scheme::Https, b"h1.example", 1), Ok(None));
        // The result does not depend on input order.
        origins.reverse();
        assert_eq!(written(&origins), (slots, records));
    }

    /// Up to [`ORIGINS_PER_BUCKET`] origins share one bucket, and are found without hashing.
    #[test]
    fn look_ups_in_a_table_with_one_bucket_match_larger_tables() {
        let kinds = [(Scheme::Http, 80), (Scheme::Https, 443), (Scheme::Https, 8443)];
        let origin = |at: usize| {
            let (scheme, port) = kinds[at % kinds.len()];
            let host: &[u8] = if at < kinds.len() { b"a.example" } else { b"b.example" };
            OriginRecord { scheme, port, policy: at as u32, ..record(host) }
        };
        for count in 1..=ORIGINS_PER_BUCKET as usize + 1 {
            let origins: Vec<OriginRecord<'_>> = (0..count).map(origin).collect();
            let (slots, records) = written(&origins);
            assert_eq!(u64_at(&slots, 8) == Some(1), count as u64 <= ORIGINS_PER_BUCKET, "{count}");
            let table = Origins { buckets: &slots, records: &records };
            for at in 0..2 * kinds.len() {
                let wanted = origin(at);
                let (found, steps) = table.find_counted(wanted.scheme, wanted.host, wanted.port).unwrap();
                assert_eq!(found, (at < count).then_some(wanted), "{at} of {count}");
                assert!(steps <= 2 * count + 1, "{steps} steps for {count}");
            }
            // A damaged slot whose address is past the end.
            let damaged = [&slots[..HEADER_BYTES], &[0xFF; SLOT_BYTES], &slots[HEADER_BYTES + SLOT_BYTES..]].concat();
            let is_error =
                Origins { buckets: &damaged, records: &records }.find(Scheme::Http, b"a.example", 80).is_err();
            assert_eq!(is_error, count as u64 <= ORIGINS_PER_BUCKET, "{count}");
        }
    }

    #[test]
    fn an_empty_table_has_no_bytes() {
        let (slots, records) = written(&[]);
        assert!(slots.is_empty() && records.is_empty());
        Origins { buckets: &slots, records: &records }.verify(&mut 0, |_| Ok(())).unwrap();
        assert_eq!(found(&slots, &records, b"a"), Ok(false));
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn look_ups_stop_at_the_slot_limit() {
        // All origins are in one bucket, and so in one run. A look-up reads the run and the empty slot after it.
        for (count, fits) in [(MAX_PROBE_SLOTS - 2, true), (MAX_PROBE_SLOTS - 1, true), (MAX_PROBE_SLOTS, false)] {
            let mut origins_of_bucket = [0_u8; 64];
            origins_of_bucket[3] = count as u8;
            assert_eq!(is_bounded(&origins_of_bucket), fits, "{count}");
            // The same run, after an empty slot and from several buckets.
            let mut spread = [0_u8; 64];
            spread[5] = 7;
            spread[6] = 8;
            spread[7] = (count - 8) as u8;
            assert_eq!(is_bounded(&spread), fits, "{count}");
            let names = names_in_bucket(77, 2, bucket_count(count as u64), count, "");
            let origins: Vec<OriginRecord<'_>> = names.iter().map(|name| record(name.as_bytes())).collect();
            let (slots, records) = written_with_seed(&origins, 77);
            let absent = names_in_bucket(77, 2, bucket_count(count as u64), 1, "x");
            assert!(names.iter().all(|name| found(&slots, &records, name.as_bytes()) == Ok(true)));
            // A look-up also stops in an unverified table.
            let answer = found(&slots, &records, absent[0].as_bytes());
            assert_eq!(answer.ok(), fits.then_some(false), "{count}");
        }
    }

    /// Names that collide under one seed do not slow down look-ups: the writer takes the first seed that bounds them.
    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn colliding_names_change_the_seed() {
        let (first, buckets) = (41, 64);
        let mut names = names_in_bucket(first, 7, buckets, MAX_PROBE_SLOTS, "a");
        names.extend(names_in_bucket(first + 1, 9, buckets, 256 - MAX_PROBE_SLOTS, "b"));
        assert_eq!(bucket_count(names.len() as u64), buckets);
        let origins: Vec<OriginRecord<'_>> = names.iter().map(|name| record(name.as_bytes())).collect();
        for tried in [first, first + 2] {
            assert_eq!(OriginOrder::from_seed(tried, &origins, &OneThread).unwrap().seed, first + 2);
        }

        // A real table's seed depends on all its origins, and these names do not collide under it.
        let (mut slots, mut records) = written(&origins);
        let verify = |slots: &[u8], records: &[u8]| Origins { buckets: slots, records }.verify(&mut 0, |_| Ok(()));
        verify(&slots, &records).unwrap();
        let seed = first_seed(origins.iter().copied());
        assert_eq!(u64_at(&slots, 16), Some(seed));
        for other in [seed.wrapping_add(1), seed.wrapping_add(MAX_SEEDS), seed.wrapping_sub(1), first] {
            (slots, records) = written_with_seed(&origins, other);
            let error = verify(&slots, &records).unwrap_err();
            assert_eq!((error.section(), error.offset()), ("buckets", Some(16)), "{error}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn verify_rejects_any_other_encoding() {
        let names: Vec<String> = (0..30).map(|number| format!("h{number}.example")).collect();
        let origins: Vec<OriginRecord<'_>> = names.iter().map(|name| record(name.as_bytes())).collect();
        let (slots, records) = written(&origins);
        let table = |slots: &[u8], records: &[u8]| Origins { buckets: slots, records }.verify(&mut 0, |_| Ok(()));
        for at in 0..slots.len() {
            for bit in 0..8 {
                let mut other = slots.clone();
                other[at] ^= 1 << bit;
                assert!(table(&other, &records).is_err(), "byte {at}, bit {bit} of buckets");
            }
        }
        for at in 0..records.len() {
            for bit in 0..8 {
                let mut other = records.clone();
                other[at] ^= 1 << bit;
                // `verify` on this table does not check references.
                if table(&slots, &other).is_ok() {
                    let origins: Vec<OriginRecord<'_>> =
                        OriginIter { origins: Origins { buckets: &slots, records: &other }, at: 0 }.flatten().collect();
                    assert_eq!(written(&origins), (slots.clone(), other), "byte {at}, bit {bit}");
                }
            }
        }
        for longer in [[&slots[..], &[0; 8]].concat(), slots[..slots.len() - 8].to_vec(), Vec::new()] {
            assert!(table(&longer, &records).is_err());
        }
        assert!(table(&slots, &[]).is_err());
    }

    /// The hashes are the first and the last with each upper half-word. A hash's bucket is the last one that begins at
    /// or before the hash.
    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn every_short_hash_is_in_the_bucket_whose_range_contains_it() {
        let mut tried = 0;
        for buckets in (1..=24).chain([255, 256, 257, 65_535, 65_536]) {
            let mut bucket = 0;
            for hash in (0..=u64::from(u16::MAX)).flat_map(|upper| [upper << 48, upper << 48 | ((1 << 48) - 1)]) {
                while u128::from(bucket + 1) << 64 <= u128::from(hash) * u128::from(buckets) {
                    bucket += 1;
                }
                assert_eq!(bucket_of(hash, buckets), bucket, "{hash:016x} of {buckets}");
                tried += 1;
            }
            assert_eq!(bucket, buckets - 1);
        }
        assert_eq!(tried, 29 * 2 * 65_536);
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn buckets_are_the_fewest_that_hold_the_average_number_of_origins() {
        let mut buckets = 0;
        for origins in 0..=65_536 {
            buckets += u64::from(buckets * ORIGINS_PER_BUCKET < origins);
            assert_eq!(bucket_count(origins), buckets, "{origins}");
        }
        assert_eq!(buckets, 16_384);
    }

    /// Each half-word of a hash, and all addresses of up to 16 bits and around the largest one.
    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn slots_hold_an_address_and_the_lowest_bits_of_the_hash() {
        let largest = MAX_ORIGINS_BYTES / UNIT as u64 - 1;
        assert_eq!(largest, (1 << 40) - 2);
        let hashes = (0..4).flat_map(|part| (0..=u64::from(u16::MAX)).map(move |bits| bits << (16 * part)));
        let addresses = (0..=u64::from(u16::MAX)).chain(largest - 65_535..=largest);
        let of_hashes = hashes.flat_map(|hash| [0, 1, 0x1234_5678, largest].map(|address| (hash, address)));
        let of_addresses = addresses.flat_map(|address| [0, 0x00AB_CDEF, u64::MAX].map(|hash| (hash, address)));
        let mut tried = 0;
        for (hash, address) in of_hashes.chain(of_addresses) {
            let slot = slot_of(hash, address);
            assert_eq!(slot.to_le_bytes()[..5], (address + 1).to_le_bytes()[..5], "{hash:x} {address:x}");
            assert_eq!(slot.to_le_bytes()[5..], hash.to_le_bytes()[..3], "{hash:x} {address:x}");
            // On a 32-bit machine no section is so large.
            if let Ok(address) = usize::try_from(address) {
                assert_eq!(byte_of(slot), address.saturating_mul(8), "{hash:x} {address:x}");
            }
            tried += 1;
        }
        assert_eq!(tried, 4 * 65_536 * 4 + 2 * 65_536 * 3);
        // An empty slot has no record.
        assert_eq!(byte_of(0), usize::MAX);
    }

    /// Compares [`is_bounded`] with a table in which every origin takes the first free slot.
    #[test]
    #[cfg_attr(miri, ignore = "too many inputs")]
    fn tables_are_bounded_if_no_simulated_look_up_reads_too_many_slots() {
        const COUNTS: [u8; 10] = [0, 1, 7, 8, 9, 16, 111, 119, 127, 128];
        const BUCKETS: usize = 4;
        let (mut tried, mut bounded) = (0, 0);
        for number in 0..COUNTS.len().pow(BUCKETS as u32) {
            let digit = |at: u32| COUNTS[number / COUNTS.len().pow(at) % COUNTS.len()];
            let origins_of_bucket: [u8; BUCKETS] = std::array::from_fn(|at| digit(at as u32));
            let mut is_full = [false; BUCKETS * 128 + 32];
            for (bucket, &origins) in origins_of_bucket.iter().enumerate() {
                let slots = is_full[bucket * 8..].iter_mut().filter(|is_full| !**is_full);
                slots.take(origins.into()).for_each(|is_full| *is_full = true);
            }
            let reads = |bucket: usize| 1 + is_full[bucket * 8..].iter().take_while(|is_full| **is_full).count();
            let expected = (0..BUCKETS).all(|bucket| reads(bucket) <= MAX_PROBE_SLOTS);
            assert_eq!(is_bounded(&origins_of_bucket), expected, "{origins_of_bucket:?}");
            (tried, bounded) = (tried + 1, bounded + usize::from(expected));
        }
        assert_eq!(tried, 10_000);
        assert!((1000..9000).contains(&bounded), "{bounded}");
    }
}
