//! Merging sets gives the same bytes as compiling all captures at once.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may")]

use std::io::{self, Read};

use bumpalo::Bump;
use proptest::prelude::*;
use reptile_compiler::automaton::Strategy as Form;
use reptile_compiler::capture::{self, Profile};
use reptile_compiler::dialect::{GOOGLE, RFC9309};
use reptile_compiler::set::{CaptureReport, CompiledSet, MergeError, SetBuilder, prepare, prepare_without_other};
use reptile_engine::format::TooLarge;
use reptile_engine::format::merge::MAX_PARTS;
use reptile_engine::set::Set;
use reptile_engine::spool::{Memory, Spool, Store};
use reptile_engine::threads::OneThread;

use crate::support;
use crate::support::merged::{self, Fetch, Settings, may_be_undecided, opened, origin};

/// Files that share rules, lines, tokens and other directives in several ways.
const BODIES: [&str; 7] = [
    "user-agent: *\ndisallow: /a\ndisallow: /*b$\nsitemap: http://a.example/s.xml\n",
    "# the same rules on other lines\nuser-agent: *\n\ndisallow: /*b$\ndisallow: /a\n",
    "# the same rules on other lines!\nuser-agent: *\n\ndisallow: /*b$\ndisallow: /a\n",
    "user-agent: x\nuser-agent: Y\ndisallow: /*?\nallow: /a/index.html\n\nuser-agent: *\ndisallow: /a\ndisallow: /*b$\n",
    "user-agent: y\ndisallow:\nuser-agent: z\nallow: /%41*/ü*$$\ndisallow: /\ncrawl-delay: 3\n\
     content-usage: /b search=n\ncontent-usage: train-ai=n\n",
    "content-signal: search=no\nuser-agent: x\ncontent-usage: /b search=n\nsitemap: http://a.example/s.xml\n",
    "",
];

fn add(builder: &mut SetBuilder, fetch: &Fetch) {
    merged::add(builder, fetch, &BODIES);
}

fn compiled<'f>(fetches: impl IntoIterator<Item = &'f Fetch>, profile: &Profile, at: Option<i64>) -> Vec<u8> {
    compiled_by(fetches, profile, at, false)
}

fn compiled_by<'f>(
    fetches: impl IntoIterator<Item = &'f Fetch>,
    profile: &Profile,
    at: Option<i64>,
    by_time: bool,
) -> Vec<u8> {
    Settings { bodies: &BODIES, profile, at, by_time }.compiled(fetches)
}

/// Merges sets and further captures.
fn merged(sets: &[Vec<u8>], more: &[&Fetch], profile: &Profile, at: Option<i64>) -> Result<Vec<u8>, MergeError> {
    merged_by(sets, more, profile, at, false)
}

fn merged_by(
    sets: &[Vec<u8>],
    more: &[&Fetch],
    profile: &Profile,
    at: Option<i64>,
    by_time: bool,
) -> Result<Vec<u8>, MergeError> {
    Settings { bodies: &BODIES, profile, at, by_time }.merged(sets, more)
}

/// Returns a report's fields in a comparable form.
fn said(set: &CompiledSet) -> impl PartialEq + std::fmt::Debug {
    let CaptureReport { at, origins, stale, discarded, ties, first_tie, .. } = set.report().clone();
    (at, origins, stale, discarded, ties, first_tie, set.report().listed())
}

proptest! {
    #![proptest_config(support::cases(2000))]

    #[test]
    fn merged_parts_equal_the_whole(
        fetches in prop::collection::vec(
            ((0..3_usize, prop::option::weighted(0.9, 0..60_i64), 0..7_u8, 0..BODIES.len(),
              prop::option::weighted(0.2, 0..9_u64), prop::option::weighted(0.5, 200..202_u16)), 0..4_usize), 0..16),
        patience in 0..30_i64,
        keeps_last_answer in any::<bool>(),
        at in prop::option::weighted(0.3, 40..60_i64),
        merges_twice in any::<bool>(),
        by_time in any::<bool>(),
    ) {
        let mut profile = capture::RFC9309.clone();
        (profile.patience, profile.keeps_last_answer) = (patience, keeps_last_answer);
        let of_part = |wanted: usize| fetches.iter().filter(move |(_, part)| *part == wanted).map(|(fetch, _)| fetch);
        let whole = compiled_by(fetches.iter().map(|(fetch, _)| fetch), &profile, at, by_time);
        Set::from_bytes(&whole[..]).unwrap().verify().unwrap();
        let mut parts: Vec<Vec<u8>> = (0..3).map(|part| compiled_by(of_part(part), &profile, at, by_time)).collect();
        let more: Vec<&Fetch> = of_part(3).collect();
        let is_undecided = may_be_undecided(fetches.iter().map(|(fetch, _)| fetch));
        let first: Vec<Vec<u8>> = if merges_twice { parts.drain(..2).collect() } else { Vec::new() };
        let result = merged_by(&first, &[], &profile, at, by_time).and_then(|both| {
            parts.extend(merges_twice.then_some(both));
            merged_by(&parts, &more, &profile, at, by_time)
        });
        match result {
            Ok(bytes) => prop_assert!(bytes == whole),
            Err(MergeError::Undecided(_)) => prop_assert!(is_undecided),
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}

proptest! {
    #![proptest_config(support::cases(2000))]

    /// A set compiled in parts of any size, merged in any order, equals the set compiled at once. So does its report.
    #[test]
    fn parts_written_early_merge_to_the_whole(
        fetches in prop::collection::vec(
            ((0..4_usize, prop::option::weighted(0.8, 0..60_i64), 0..7_u8, 0..BODIES.len(),
              prop::option::weighted(0.2, 0..9_u64), prop::option::weighted(0.5, 200..202_u16)), any::<bool>()), 0..24),
        patience in 0..30_i64,
        keeps_last_answer in any::<bool>(),
        at in prop::option::weighted(0.3, 40..60_i64),
        reversed in any::<bool>(),
        by_time in any::<bool>(),
    ) {
        let mut profile = capture::RFC9309.clone();
        (profile.patience, profile.keeps_last_answer) = (patience, keeps_last_answer);
        let mut whole = SetBuilder::with_profile(&GOOGLE, &profile, at).by_time(by_time);
        let mut builder = SetBuilder::with_profile(&GOOGLE, &profile, at).by_time(by_time);
        let mut parts: Vec<Vec<u8>> = Vec::new();
        for (fetch, ends_part) in &fetches {
            add(&mut whole, fetch);
            add(&mut builder, fetch);
            if *ends_part {
                parts.push(builder.finish_part(Form::default(), &OneThread).unwrap().to_bytes());
                prop_assert_eq!(builder.held_bytes(), 0);
            }
        }
        if reversed {
            parts.reverse();
        }
        let whole = whole.finish(Form::default()).unwrap();
        let merged = builder.finish_merged(&opened(&parts).unwrap(), Form::default(), &OneThread, &Memory).unwrap();
        prop_assert!(merged.to_bytes() == whole.to_bytes());
        prop_assert_eq!(said(&merged), said(&whole));
    }
}

/// Without time and status, a set does not store a file's body hash, so merging cannot choose between two such files.
#[test]
fn files_without_a_time_are_not_chosen_arbitrarily() {
    let plain = |host, body| (host, None, 0, body, None, None);
    let set = |fetch: Fetch| compiled([&fetch], &capture::RFC9309, None);
    let both = |a: Fetch, b: Fetch| merged(&[set(a), set(b)], &[], &capture::RFC9309, None);
    let refused = Err(MergeError::Undecided(origin(0)));
    assert_eq!(both(plain(0, 0), plain(0, 3)), refused);
    assert_eq!(both(plain(0, 0), (0, None, 0, 0, None, Some(200))), refused);
    assert_eq!(merged(&[set(plain(0, 0))], &[], &capture::RFC9309, None).unwrap(), set(plain(0, 0)));
    // A set stores these two files as one.
    let same = both(plain(0, 1), plain(0, 2)).unwrap();
    assert_eq!(same, compiled([&plain(0, 1), &plain(0, 2)], &capture::RFC9309, None));
    let apart = both(plain(0, 0), plain(1, 3)).unwrap();
    assert_eq!(apart, compiled([&plain(1, 3), &plain(0, 0)], &capture::RFC9309, None));
    // After a failure the file remains active, and a status or a time decides which file counts.
    for other in [(0, Some(5), 5, 0, None, None), (0, None, 3, 0, None, Some(404)), (0, Some(5), 0, 3, None, None)] {
        let bytes = both(plain(0, 0), other).unwrap();
        assert_eq!(bytes, compiled([&other, &plain(0, 0)], &capture::RFC9309, None));
    }
}

#[test]
fn sets_with_other_settings_are_rejected_by_name() {
    let file = (0, Some(1), 0, 0, None, Some(200));
    let mut other_patience = capture::RFC9309.clone();
    other_patience.patience += 1;
    let dialect = SetBuilder::with_profile(&RFC9309, &capture::RFC9309, None);
    let form = SetBuilder::with_profile(&GOOGLE, &capture::RFC9309, None);
    for (bytes, setting) in [
        (compiled([&file], &capture::GOOGLE, None), "fetch profile"),
        (compiled([&file], &other_patience, None), "times of the fetch profile:"),
        (dialect.finish(Form::default()).unwrap().to_bytes(), "dialect"),
        (form.finish(Form::Fallback).unwrap().to_bytes(), "construction of automata"),
    ] {
        match merged(&[bytes], &[], &capture::RFC9309, None) {
            Err(MergeError::OtherSetting { setting: found, .. }) => assert_eq!(found, setting),
            other => panic!("{setting}: {:?}", other.map(|_| ())),
        }
    }
}

#[test]
fn sets_with_and_without_times_are_not_merged() {
    let file = (0, Some(1), 0, 0, None, Some(200));
    for by_time in [true, false] {
        let part = compiled_by([&file], &capture::RFC9309, None, !by_time);
        let error = merged_by(&[part], &[], &capture::RFC9309, None, by_time).err().unwrap().to_string();
        let (expected, found) = if by_time { ("yes", "no") } else { ("no", "yes") };
        assert_eq!(error, format!("has the validity by time: {found}, and the sets before it have {expected}"));
    }
}

/// Real files give the same set whether they are compiled at once, merged, or compiled in many parts.
#[test]
fn real_files_merge_to_the_whole() {
    let Some(shared) = support::shared() else { return };
    let file = support::read(&shared.join("corpora/real/robots.tar.gz"));
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(&file[..]));
    let mut files: Vec<Vec<u8>> = Vec::new();
    for entry in archive.entries().unwrap() {
        let mut body = Vec::new();
        entry.unwrap().read_to_end(&mut body).unwrap();
        files.push(body);
    }
    assert!(files.len() > 4000);
    let builder = |files: &[Vec<u8>], first: usize, with_other: bool| {
        let mut builder = SetBuilder::new(&GOOGLE);
        for (number, body) in files.iter().enumerate() {
            let read = if with_other { prepare } else { prepare_without_other };
            builder.add([origin(first + number)], read(body, &GOOGLE, &Bump::new()).unwrap());
        }
        builder
    };
    for with_other in [true, false] {
        let whole = builder(&files, 0, with_other).finish(Form::default()).unwrap().to_bytes();
        let (old, new) = files.split_at(files.len() / 2);
        let set = builder(old, 0, with_other).finish(Form::default()).unwrap().to_bytes();
        let again = builder(new, old.len(), with_other);
        let again = again.finish_merged(&opened(&[set]).unwrap(), Form::default(), &OneThread, &Memory).unwrap();
        assert!(again.to_bytes() == whole);
        // In parts with about 140 files each.
        let mut rest = builder(&[], 0, with_other);
        let parts = files.chunks(files.len() / 30).zip((0..).step_by(files.len() / 30));
        let parts = parts.map(|(files, first)| {
            let mut part = builder(files, first, with_other);
            part.finish_part(Form::default(), &OneThread).unwrap().to_bytes()
        });
        let parts: Vec<Vec<u8>> = parts.collect();
        let again = rest.finish_part(Form::default(), &OneThread).unwrap().to_bytes();
        let again = rest
            .finish_merged(&opened(&[parts, vec![again]].concat()).unwrap(), Form::default(), &OneThread, &Memory)
            .unwrap();
        assert!(again.to_bytes() == whole);
    }
}

#[test]
fn the_number_of_merged_sets_is_limited() {
    let set = compiled([&(0, Some(1), 0, 0, None, None)], &capture::RFC9309, None);
    for (count, fits) in [(MAX_PARTS - 1, true), (MAX_PARTS, true), (MAX_PARTS + 1, false)] {
        let builder = SetBuilder::with_profile(&GOOGLE, &capture::RFC9309, None);
        match builder.finish_merged(&opened(&vec![set.clone(); count]).unwrap(), Form::default(), &OneThread, &Memory) {
            Ok(merged) => assert!(fits && merged.to_bytes() == set, "{count}"),
            Err((part, error)) => {
                let too_large =
                    TooLarge { what: "sets that are merged at once", limit: MAX_PARTS as u64, found: count as u64 };
                assert_eq!((fits, part, error), (false, None, MergeError::TooLarge(too_large)));
            }
        }
    }
}

/// A store that cannot create files, or that has no space left.
struct Full(bool);

impl Store for Full {
    fn create(&self) -> io::Result<Box<dyn Spool>> {
        if self.0 { Ok(Box::new(Disk)) } else { Err(io::ErrorKind::PermissionDenied.into()) }
    }
}

struct Disk;

impl io::Write for Disk {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Spool for Disk {
    fn copy_to(&self, _: &mut dyn io::Write) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn full_disks_are_reported_as_errors() {
    let set = compiled([&(0, Some(1), 0, 0, None, None)], &capture::RFC9309, None);
    for store in [Full(false), Full(true)] {
        let builder = SetBuilder::with_profile(&GOOGLE, &capture::RFC9309, None);
        let merged =
            builder.finish_merged(&opened(std::slice::from_ref(&set)).unwrap(), Form::default(), &OneThread, &store);
        assert!(matches!(merged, Err((None, MergeError::Io(_)))));
    }
}

/// Merging a damaged set always ends, with an error or with a set.
#[test]
fn damaged_sets_are_rejected_or_merged() {
    let fetches = [(0, Some(1), 0, 0, None, None), (1, Some(2), 0, 3, None, Some(200)), (2, None, 5, 0, None, None)];
    let whole = compiled(&fetches, &capture::RFC9309, None);
    let other = compiled([&(0, Some(5), 0, 4, Some(3), None)], &capture::RFC9309, None);
    let mut refused = 0;
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x41;
        refused += usize::from(merged(&[damaged, other.clone()], &[], &capture::RFC9309, None).is_err());
    }
    assert!(refused > whole.len() / 10, "{refused} of {}", whole.len());
}
