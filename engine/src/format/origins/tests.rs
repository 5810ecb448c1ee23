//! Tests.

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
        let is_error = Origins { buckets: &damaged, records: &records }.find(Scheme::Http, b"a.example", 80).is_err();
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
