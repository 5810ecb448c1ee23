//! Damaged and hostile sets. Every error names its section, and nothing panics or hangs. A set that `verify` accepts
//! equals its rewritten content byte for byte, and causes no errors later.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use reptile_compiler::automaton::Strategy;
use reptile_engine::format::container::{Container, ENTRY_BYTES, HEADER_BYTES, Header, Section, Sections};
use reptile_engine::set::Set;
use xxhash_rust::xxh3::xxh3_64;

use crate::support::sets::{Choose, STRATEGIES, answers, check, mutate, sample, sections_of, written};

/// Offset of the checksum for the header and section table.
const CHECKSUM_AT: usize = 56;

#[test]
fn the_sample_is_valid_and_has_every_section() {
    for strategy in STRATEGIES {
        let bytes = sample(strategy);
        let set = Set::from_bytes(&bytes[..]).unwrap();
        set.verify().unwrap();
        // Fallback patterns have no fingerprints.
        let is_there = |name, size| size > 0 || (name == "prints" && strategy == Strategy::Fallback);
        assert!(set.section_sizes().all(|(name, size)| is_there(name, size)));
        let numbers = 0..set.rulesets().len();
        let patched = numbers.filter(|&number| set.rulesets().get(number).unwrap().is_patched()).count();
        assert!(patched > 0, "{strategy:?}");
        assert_eq!(set.automata_form(), strategy.form());
        assert!(check(bytes));
    }
}

#[test]
fn truncated_and_padded_files_are_rejected() {
    let whole = sample(Strategy::Factored);
    for len in 0..whole.len() {
        let error = Set::from_bytes(whole[..len].to_vec()).err().expect("a truncated file was opened");
        assert_eq!(error.section(), "header", "{error}");
    }
    let error = Set::from_bytes([&whole[..], b"\0"].concat()).err().expect("a padded file was opened");
    assert_eq!(
        error.to_string(),
        format!(
            "header at byte 24: expected {} bytes, found {}: the file is cut or padded",
            whole.len(),
            whole.len() + 1
        )
    );
}

#[test]
fn flipped_bits_are_reported_with_their_section() {
    for strategy in STRATEGIES {
        let whole = sample(strategy);
        let container = Container::read(&whole).unwrap();
        let range_of = |section: Section| {
            let bytes = container.section(&whole, section);
            let start = bytes.as_ptr() as usize - whole.as_ptr() as usize;
            start..start + bytes.len()
        };
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            let section = Section::ALL.into_iter().find(|&section| range_of(section).contains(&at));
            let error = match (section, Set::from_bytes(damaged)) {
                (_, Err(error)) => {
                    // Opening reads one section.
                    let expected = if section == Some(Section::Reading) { "reading" } else { "header" };
                    assert_eq!(error.section(), expected, "byte {at}: {error}");
                    continue;
                }
                (_, Ok(set)) => set.verify().expect_err("verify accepted a flipped bit"),
            };
            if let Some(section) = section {
                assert_eq!(error.section(), section.name(), "byte {at}: {error}");
            }
        }
    }
}

#[test]
fn changed_bytes_do_not_break_queries() {
    for strategy in STRATEGIES {
        let whole = sample(strategy);
        for at in 0..whole.len() {
            for value in [0x00, 0x01, 0x7F, 0x80, 0xFF, whole[at] ^ 1, whole[at].wrapping_add(1)] {
                let mut damaged = whole.clone();
                damaged[at] = value;
                check(damaged);
            }
        }
    }
}

/// Damage with valid checksums, as from a hostile writer.
#[test]
fn damage_with_valid_checksums_does_not_break_queries() {
    for strategy in STRATEGIES {
        let whole = sample(strategy);
        let (header, sections) = sections_of(&whole);
        let write = |sections: &Sections| written(&header, sections);
        assert_eq!(write(&sections), whole);
        for section in 0..Section::COUNT {
            for at in 0..sections[section].len() {
                for value in
                    [0x00, 0x01, 0x20, 0x40, 0xFF, sections[section][at] ^ 1, sections[section][at].wrapping_sub(1)]
                {
                    let mut damaged = sections.clone();
                    damaged[section][at] = value;
                    check(write(&damaged));
                }
            }
            for len in 0..sections[section].len() {
                let mut damaged = sections.clone();
                damaged[section].truncate(len);
                check(write(&damaged));
            }
            for other in 0..Section::COUNT {
                let mut damaged = sections.clone();
                damaged[section] = sections[other].clone();
                check(write(&damaged));
            }
        }
    }
}

/// Fingerprints must pass every position at which a segment can begin. Passing other positions only costs time.
#[test]
fn fingerprints_that_contradict_the_rules_are_rejected() {
    let whole = sample(Strategy::Factored);
    let (header, sections) = sections_of(&whole);
    let expected = answers(&Set::from_bytes(&whole[..]).unwrap());
    let (mut refused, mut accepted) = (0, 0);
    for at in 0..sections[Section::Prints as usize].len() {
        for bit in 0..8 {
            let mut damaged = sections.clone();
            damaged[Section::Prints as usize][at] ^= 1 << bit;
            let bytes = written(&header, &damaged);
            let set = Set::from_bytes(&bytes[..]).unwrap();
            if set.verify().is_ok() {
                accepted += 1;
                assert_eq!(answers(&set), expected, "byte {at}, bit {bit}");
            } else {
                refused += 1;
                let has_bit = sections[Section::Prints as usize][at] >> bit & 1 != 0;
                assert!(has_bit, "byte {at}, bit {bit}: rejected for passing an additional position");
            }
        }
    }
    let mut none = sections.clone();
    none[Section::Prints as usize].fill(0);
    assert!(Set::from_bytes(written(&header, &none)).unwrap().verify().is_err());
    println!("{refused} rejected, {accepted} accepted");
    assert!(refused > 0 && accepted > 0);
}

#[test]
fn bad_section_tables_are_rejected() {
    let whole = sample(Strategy::Factored);
    let table_end = HEADER_BYTES + ENTRY_BYTES * Section::COUNT;
    for entry in 0..Section::COUNT {
        for field in [8, 16] {
            for value in [0, 1, 63, table_end as u64 - 1, whole.len() as u64, u64::MAX / 2, u64::MAX - 63, u64::MAX] {
                let mut damaged = whole.clone();
                let at = HEADER_BYTES + entry * ENTRY_BYTES + field;
                damaged[at..at + 8].copy_from_slice(&value.to_le_bytes());
                damaged[CHECKSUM_AT..HEADER_BYTES].fill(0);
                let checksum = xxh3_64(&damaged[..table_end]);
                damaged[CHECKSUM_AT..HEADER_BYTES].copy_from_slice(&checksum.to_le_bytes());
                if let Ok(set) = Set::from_bytes(damaged.clone()) {
                    assert!(damaged == whole || set.verify().is_err(), "section {entry}, field {field}, value {value}");
                }
                check(damaged);
            }
        }
    }
}

#[test]
fn other_versions_and_byte_orders_are_reported() {
    let whole = sample(Strategy::Factored);
    let refused = |at: usize, bytes: &[u8]| {
        let mut other = whole.clone();
        other[at..at + bytes.len()].copy_from_slice(bytes);
        Set::from_bytes(other).err().expect("was opened").to_string()
    };
    for (version, origin) in [
        (0, "the header is damaged"),
        (1, "an older reptile wrote the set; compile it again"),
        (2, "an older reptile wrote the set; compile it again"),
        (3, "an older reptile wrote the set; compile it again"),
        (5, "a newer reptile wrote the set; use that one, or compile it again"),
        (999, "a newer reptile wrote the set; use that one, or compile it again"),
        (1000, "the header is damaged"),
        (u32::MAX, "the header is damaged"),
    ] {
        let expected = "header: expected format version 4, the only one that this program reads";
        assert_eq!(refused(8, &version.to_le_bytes()), format!("{expected}, found version {version}: {origin}"));
    }
    assert!(refused(12, &[1, 2, 3, 4]).contains("byte-order mark 04 03 02 01, found [01, 02, 03, 04]"));
    assert!(refused(0, b"User-age").starts_with("header: expected the label"));
}

/// A deterministic pseudorandom number generator (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }
}

impl Choose for Random {
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// Mutates the tables and updates the checksums. Other tests cover the automata.
#[test]
fn accepted_mutants_rewrite_to_the_same_bytes() {
    const MUTANTS: usize = 4000;
    let samples = STRATEGIES.map(|strategy| sections_of(&sample(strategy)));
    let mut random = Random(17);
    let mut accepted = 0;
    for number in 0..MUTANTS {
        let (header, sections) = &samples[number % samples.len()];
        let mut mutant = sections.clone();
        for _ in 0..1 + random.below(2) {
            let mut section = random.below(Section::COUNT);
            while section == Section::Rulesets as usize {
                section = random.below(Section::COUNT);
            }
            if !mutant[section].is_empty() {
                mutate(&mut mutant[section], &mut random);
            }
        }
        let header = Header { automata_form: random.next() as u32, ..*header };
        accepted += usize::from(check(written(&header, &mutant)));
    }
    // Mutants of texts and plain numbers, such as lines and times, are valid.
    assert!((50..MUTANTS / 2).contains(&accepted), "{accepted} of {MUTANTS} accepted");
}
