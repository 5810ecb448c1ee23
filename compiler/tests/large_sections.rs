//! Sections over 4 GiB: each record section of the set begins with a hole of several gigabytes, in a sparse file.

#![cfg(all(unix, target_pointer_width = "64"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::fs::File;
use std::os::unix::fs::FileExt;

use bumpalo::Bump;
use reptile_compiler::automaton::Strategy;
use reptile_compiler::capture::{Capture, Outcome};
use reptile_compiler::dialect::GOOGLE_LIB;
use reptile_compiler::set::{OwnedOrigin, SetBuilder, prepare};
use reptile_engine::format::container::{Container, ENTRY_BYTES, HEADER_BYTES, Section};
use reptile_engine::platform::MappedFile;
use reptile_engine::set::Set;
use reptile_engine::url::{self, Scheme};
use reptile_engine::verdict::Verdict;
use xxhash_rust::xxh3::xxh3_64;

/// The hole at the start of each record section: over 4 GiB, and a multiple of every record size, including the 80-byte
/// fingerprints.
const HOLE: u64 = (3 * 80) << 25;

/// The offset of the header's checksum.
const CHECKSUM_AT: usize = 56;

const BODY: &[u8] = b"user-agent: *\ndisallow: /private\n\ndisallow: /*?sort=\nsitemap: https://a.example/map\n\
    content-usage: search=n\n";

/// Compiles a small set with one origin and data in every section.
fn small() -> Vec<u8> {
    let mut builder = SetBuilder::new(&GOOGLE_LIB);
    let origin = OwnedOrigin { host: b"a.example"[..].into(), scheme: Scheme::Https, port: 443 };
    let prepared = prepare(BODY, &GOOGLE_LIB, &Bump::new()).unwrap();
    let capture = Capture { time: Some(1_000), ..Capture::default() };
    builder.add_capture([origin], &capture, Outcome::Use, Some(prepared));
    builder.finish(Strategy::default()).unwrap().to_bytes()
}

/// Adds `more` to the 32-bit number at `at`.
fn add(bytes: &mut [u8], at: usize, more: u64) {
    let number = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    bytes[at..at + 4].copy_from_slice(&(number + u32::try_from(more).unwrap()).to_le_bytes());
}

/// Returns the small set's sections, adjusted for holes at their starts, and the hole sizes. See `FORMAT.md`.
fn after_holes(bytes: &[u8]) -> Vec<(Section, u64, Vec<u8>)> {
    let container = Container::read(bytes).unwrap();
    let section = |section: Section| {
        let mut bytes = container.section(bytes, section).to_vec();
        let mut hole = 0;
        match section {
            Section::Origins => {
                hole = HOLE;
                add(&mut bytes, 0, HOLE / 8);
                add(&mut bytes, 4, HOLE / 4);
                add(&mut bytes, 8, HOLE / 4);
            }
            Section::Buckets => {
                let used = bytes[64..].chunks_exact_mut(8).find(|slot| **slot != [0; 8]).unwrap();
                let slot = u64::from_le_bytes(used.try_into().unwrap()) + HOLE / 8;
                used.copy_from_slice(&slot.to_le_bytes());
            }
            Section::Captures => {
                hole = HOLE;
                add(&mut bytes, 20, HOLE / 8);
            }
            Section::Policies => {
                hole = HOLE;
                // The hole replaces the first ruleset, so the index is one higher.
                add(&mut bytes, 16, 1);
                add(&mut bytes, 20, HOLE / 4);
                // The first usage group, which has no ruleset.
                add(&mut bytes, 28, HOLE / 4);
            }
            Section::Index => {
                let end = u64::from_le_bytes(bytes[..8].try_into().unwrap());
                bytes = [HOLE, HOLE + end].map(u64::to_le_bytes).concat();
            }
            Section::Rulesets => {
                hole = HOLE;
                // The section ends with the fingerprint indices.
                let place = bytes.len() - 4;
                add(&mut bytes, place, HOLE / 80);
            }
            Section::Prints | Section::Lines | Section::Other | Section::Usages => hole = HOLE,
            Section::Reading | Section::Crawlers | Section::Tokens => {}
        }
        (section, hole, bytes)
    };
    Section::ALL.into_iter().map(section).filter(|(_, _, bytes)| !bytes.is_empty()).collect()
}

/// Writes the set with its holes. Section checksums are copied from the small set, because opening does not read them.
fn write(file: &File, small: &[u8]) -> u64 {
    let sections = after_holes(small);
    let table_end = HEADER_BYTES + sections.len() * ENTRY_BYTES;
    let mut start = small[..table_end].to_vec();
    let mut end = table_end as u64;
    for ((_, hole, bytes), entry) in sections.iter().zip(start[HEADER_BYTES..].chunks_exact_mut(ENTRY_BYTES)) {
        let begin = end.next_multiple_of(64);
        end = begin + hole + bytes.len() as u64;
        entry[8..16].copy_from_slice(&begin.to_le_bytes());
        entry[16..24].copy_from_slice(&(end - begin).to_le_bytes());
        file.write_all_at(bytes, begin + hole).unwrap();
    }
    start[24..32].copy_from_slice(&end.to_le_bytes());
    start[CHECKSUM_AT..HEADER_BYTES].fill(0);
    let checksum = xxh3_64(&start);
    start[CHECKSUM_AT..HEADER_BYTES].copy_from_slice(&checksum.to_le_bytes());
    file.write_all_at(&start, 0).unwrap();
    file.set_len(end).unwrap();
    end
}

#[test]
fn sections_over_four_gibibytes_are_readable() {
    let small = small();
    let file = tempfile::NamedTempFile::new().unwrap();
    let len = write(file.as_file(), &small);
    assert!(len > 8 * HOLE, "{len}");
    // SAFETY: no other process uses the file, and it is not modified again.
    let mapped = unsafe { MappedFile::open(file.path()) }.unwrap();
    let (large, small) = (Set::from_bytes(mapped).unwrap(), Set::from_bytes(small).unwrap());
    small.verify().unwrap();
    for (name, size) in large.section_sizes() {
        let is_large =
            ["origins", "captures", "policies", "rulesets", "prints", "lines", "other", "usages"].contains(&name);
        assert_eq!(size as u64 > 4 << 30, is_large, "{name}: {size}");
    }
    let (agent, other) = (large.agent(b"Bot").unwrap(), small.agent(b"Bot").unwrap());
    for (path, verdict, line) in
        [("private/1", Verdict::Disallow, 2), ("x?sort=up", Verdict::Disallow, 4), ("", Verdict::Allow, 0)]
    {
        let url = format!("https://a.example/{path}");
        let found = large.explain(&agent, url.as_bytes()).unwrap();
        assert_eq!((found.verdict, found.rule().map_or(0, |rule| rule.line)), (verdict, line), "{url}");
        assert_eq!(found, small.explain(&other, url.as_bytes()).unwrap(), "{url}");
        assert_eq!(large.decide(&agent, url.as_bytes()).unwrap(), verdict, "{url}");
    }
    let site = large.site(&url::split(b"https://a.example/").unwrap().origin).unwrap().unwrap();
    let mut lines = site.other().reader().unwrap();
    assert_eq!(lines.next().unwrap().unwrap().value, b"https://a.example/map");
    assert_eq!(site.captures().unwrap().unwrap().newest.time, Some(1_000));
}
