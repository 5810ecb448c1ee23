//! Writes the sections `buckets` and `origins`: chooses the seed and the order, and writes slots and records. [`super`]
//! defines their encoding.

use super::super::{TooLarge, put_long};
use super::{
    BUCKET_SLOTS, HEADER_BYTES, MAX_ORIGINS_BYTES, MAX_PROBE_SLOTS, MAX_SEEDS, OriginRecord, SLOT_BYTES, UNIT,
    bucket_count, bucket_of, encode, hash_of_record, is_bounded, key_of, origins_of_buckets, slot_of,
};
use crate::spool::Sink;
use crate::threads::{Threads, sort};

/// Returns an origin's contribution to the first seed, which is the sum of all origins' hashes.
pub(in super::super) fn seed_part(record: &OriginRecord<'_>) -> u64 {
    hash_of_record(0, record)
}

/// Returns the first seed from `first` on that bounds every look-up, and the list that `of_seed` returns for it, which
/// begins each item with an origin's hash.
fn choose_seed<T, E: From<TooLarge>>(
    first: u64,
    mut of_seed: impl FnMut(u64) -> Result<Vec<(u64, T)>, E>,
) -> Result<(u64, Vec<(u64, T)>), E> {
    for number in 0..MAX_SEEDS {
        let seed = first.wrapping_add(number);
        let hashed = of_seed(seed)?;
        let buckets = bucket_count(hashed.len() as u64);
        if is_bounded(&origins_of_buckets(buckets, hashed.iter().map(|&(hash, _)| hash))) {
            return Ok((seed, hashed));
        }
    }
    Err(E::from(TooLarge {
        what: "slots that an origin look-up reads, under each of 16 seeds",
        limit: MAX_PROBE_SLOTS as u64,
        found: MAX_PROBE_SLOTS as u64 + 1,
    }))
}

/// The order of origins, and the seed for their hashes.
///
/// It depends only on their names, so it can be computed before the addresses in their records are known.
pub(in super::super) struct OriginOrder<T> {
    pub(super) seed: u64,
    /// Each origin's hash and key, in record order.
    pub order: Vec<(u64, T)>,
}

impl OriginOrder<usize> {
    /// Orders origins by index. Origins must be distinct, and hosts at most [`crate::host::MAX_HOST_BYTES`] long.
    ///
    /// # Errors
    /// Returns an error if look-ups cannot be bounded.
    pub fn of(origins: &[OriginRecord<'_>], threads: &dyn Threads) -> Result<OriginOrder<usize>, TooLarge> {
        let first = origins.iter().fold(0, |sum: u64, origin| sum.wrapping_add(seed_part(origin)));
        OriginOrder::from_seed(first, origins, threads)
    }

    pub(super) fn from_seed(
        first: u64,
        origins: &[OriginRecord<'_>],
        threads: &dyn Threads,
    ) -> Result<OriginOrder<usize>, TooLarge> {
        let hashed = |seed| Ok(origins.iter().map(|origin| hash_of_record(seed, origin)).zip(0..).collect());
        OriginOrder::choose(first, hashed, |index| origins[index], threads)
    }
}

impl<T: Copy + Send> OriginOrder<T> {
    /// Orders origins under the first good seed from `first` on, the sum of every origin's [`seed_part`].
    ///
    /// `of_seed` returns each origin's hash and key, and `record` the origin for a key.
    ///
    /// # Errors
    /// Returns an error if look-ups cannot be bounded, or if `of_seed` does.
    pub fn choose<'a, E: From<TooLarge>>(
        first: u64,
        of_seed: impl FnMut(u64) -> Result<Vec<(u64, T)>, E>,
        record: impl Fn(T) -> OriginRecord<'a> + Sync,
        threads: &dyn Threads,
    ) -> Result<OriginOrder<T>, E> {
        let (seed, hashed) = choose_seed(first, of_seed)?;
        Ok(OriginOrder::with_seed(seed, hashed, record, threads))
    }

    pub(super) fn with_seed<'a>(
        seed: u64,
        mut order: Vec<(u64, T)>,
        record: impl Fn(T) -> OriginRecord<'a> + Sync,
        threads: &dyn Threads,
    ) -> OriginOrder<T> {
        sort(&mut order, threads, &|&(hash, place): &(u64, T), &(other_hash, other): &(u64, T)| {
            // The rest of the key is not in the cache, and equal hashes are very rare.
            hash.cmp(&other_hash).then_with(|| key_of(hash, &record(place)).cmp(&key_of(other_hash, &record(other))))
        });
        OriginOrder { seed, order }
    }
}

/// Record size in bytes for a host of usual length.
const USUAL_RECORD_BYTES: usize = 40;

/// Number of origins that a thread encodes at a time.
const PIECE_ORIGINS: usize = 1 << 12;

/// Number of origins that are encoded while the previous ones are written.
const AHEAD_ORIGINS: usize = 16 * PIECE_ORIGINS;

/// Writes the sections `buckets` and `origins` in the given order. `record` returns each record.
///
/// Records are scattered in memory, so several threads read and encode them while one writes the previous ones.
///
/// # Errors
/// Returns an error if the records exceed [`MAX_ORIGINS_BYTES`], or if `record` or a sink does.
pub(in super::super) fn write_origins<'a, T, O, E>(
    OriginOrder { seed, order }: &OriginOrder<T>,
    record: impl Fn(T) -> Result<OriginRecord<'a>, E> + Sync,
    slots: &mut O,
    records: &mut O,
    threads: &dyn Threads,
) -> Result<(), E>
where
    T: Copy + Send + Sync,
    O: Sink + Send,
    E: From<TooLarge> + From<O::Error> + Send,
{
    if order.is_empty() {
        return Ok(());
    }
    let buckets = bucket_count(order.len() as u64);
    let mut header = Vec::with_capacity(HEADER_BYTES);
    [order.len() as u64, buckets, *seed].into_iter().for_each(|number| put_long(&mut header, number));
    header.resize(HEADER_BYTES, 0);
    slots.put(&header)?;
    let (mut next, mut at) = (0, 0_u64);
    let mut write = |pieces: Vec<Result<EncodedPiece, E>>| {
        for piece in pieces {
            let EncodedPiece { bytes, slots: of_records } = piece?;
            for (hash, start) in of_records {
                let at = at + start;
                if at >= MAX_ORIGINS_BYTES {
                    return Err(TooLarge { what: "bytes of origins", limit: MAX_ORIGINS_BYTES, found: at }.into());
                }
                let slot = next.max(bucket_of(hash, buckets) * BUCKET_SLOTS);
                put_empty(slots, slot - next)?;
                next = slot + 1;
                slots.put(&slot_of(hash, at / UNIT as u64).to_le_bytes())?;
            }
            records.put(&bytes)?;
            at += bytes.len() as u64;
        }
        Ok::<(), E>(())
    };
    let encode_piece = |piece: &[(u64, T)]| {
        // Few records are longer.
        let bytes = Vec::with_capacity(piece.len() * USUAL_RECORD_BYTES);
        let mut encoded = EncodedPiece { bytes, slots: Vec::with_capacity(piece.len()) };
        for &(hash, place) in piece {
            encoded.slots.push((hash, encoded.bytes.len() as u64));
            encode(&record(place)?, &mut encoded.bytes);
        }
        Ok(encoded)
    };
    let mut ahead = order.chunks(AHEAD_ORIGINS);
    let mut encoded = Vec::new();
    loop {
        let next = ahead.next();
        let encode_next = || {
            let pieces = next.map(|origins| origins.chunks(PIECE_ORIGINS).collect());
            pieces.map(|pieces: Vec<_>| threads.each(&pieces, || (), |(), piece| encode_piece(piece)))
        };
        let (written, next) = threads.both(|| write(std::mem::take(&mut encoded)), encode_next);
        written?;
        match next {
            Some(next) => encoded = next,
            None => break,
        }
    }
    Ok(put_empty(slots, (buckets * BUCKET_SLOTS).saturating_sub(next))?)
}

/// Encoded records of consecutive origins.
struct EncodedPiece {
    bytes: Vec<u8>,
    /// Each origin's hash and its record's offset.
    slots: Vec<(u64, u64)>,
}

fn put_empty<O: Sink>(out: &mut O, slots: u64) -> Result<(), O::Error> {
    (0..slots).try_for_each(|_| out.put(&[0; SLOT_BYTES]))
}
