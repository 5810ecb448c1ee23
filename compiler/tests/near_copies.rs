//! Rulesets that differ in a few bytes, such as the files of shops on one platform. They answer as they would alone,
//! take few bytes, and are accepted in only one stored form.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use bumpalo::Bump;
use reptile_compiler::automaton::Strategy;
use reptile_compiler::dialect::GOOGLE_LIB;
use reptile_compiler::set::{OwnedOrigin, SetBuilder, prepare};
use reptile_engine::format::automaton::without_fingerprints;
use reptile_engine::format::container::{self, Container, Header, Section, Sections};
use reptile_engine::set::Set;
use reptile_engine::threads::OneThread;
use reptile_engine::url::Scheme;

/// A shop platform's file, with the shop's number in some rules in three groups.
const SHOP: &str = include_str!("../../corpora/templates/shop.txt");

fn body(number: u64) -> String {
    SHOP.replace("{number}", &number.to_string()).replace("{host}", &host(number))
}

fn host(number: u64) -> String {
    format!("shop-{number}.example")
}

/// Returns `count` different ten-digit numbers.
fn numbers(count: u64) -> Vec<u64> {
    (0..count).map(|index| 1_000_000_000 + index.wrapping_mul(0x9E37_79B9_7F4A_7C15) % 9_000_000_000).collect()
}

fn set_of(numbers: &[u64], strategy: Strategy) -> Vec<u8> {
    let mut builder = SetBuilder::new(&GOOGLE_LIB);
    for &number in numbers {
        let origin = OwnedOrigin { host: host(number).into_bytes().into(), scheme: Scheme::Https, port: 443 };
        builder.add([origin], prepare(body(number).as_bytes(), &GOOGLE_LIB, &Bump::new()).unwrap());
    }
    builder.finish(strategy).unwrap().to_bytes()
}

fn size_of(set: &Set<Vec<u8>>, names: &[&str]) -> usize {
    set.section_sizes().filter(|(name, _)| names.contains(name)).map(|(_, size)| size).sum()
}

#[test]
fn near_copies_answer_as_they_would_alone() {
    let numbers = numbers(60);
    for (name, strategy) in Strategy::ALL {
        let set = Set::from_bytes(set_of(&numbers, strategy)).unwrap();
        set.verify().unwrap();
        let rulesets = set.rulesets();
        let patched = (0..rulesets.len()).filter(|&ruleset| rulesets.get(ruleset).unwrap().is_patched()).count();
        assert!(patched > 100 || name != "factored", "{name}: {patched} of {}", rulesets.len());
        for (index, &number) in numbers.iter().enumerate() {
            let alone = Set::from_bytes(set_of(&[number], strategy)).unwrap();
            let other = numbers[(index + 1) % numbers.len()];
            let paths = [
                format!("{number}/checkouts"),
                format!("{number}/orders/7"),
                format!("{other}/checkouts"),
                "admin".into(),
                "".into(),
                "collections/a+b?sort_by=c".into(),
                "de/collections/a?filter.x=1&filter.y=2".into(),
            ];
            for agent in ["anybot", "adsbot-google", "ahrefsbot", "nutch"] {
                let agents = [&set, &alone].map(|set| set.agent(agent.as_bytes()).unwrap());
                for path in &paths {
                    let url = format!("https://{}/{path}", host(number));
                    let found = set.explain(&agents[0], url.as_bytes()).unwrap();
                    assert_eq!(found, alone.explain(&agents[1], url.as_bytes()).unwrap(), "{name}: {agent}: {url}");
                    assert_eq!(
                        set.decide(&agents[0], url.as_bytes()).unwrap(),
                        found.verdict,
                        "{name}: {agent}: {url}"
                    );
                    let all = set.matching_rules(&agents[0], url.as_bytes()).unwrap();
                    assert_eq!(
                        all,
                        alone.matching_rules(&agents[1], url.as_bytes()).unwrap(),
                        "{name}: {agent}: {url}"
                    );
                }
            }
        }
    }
}

#[test]
fn near_copies_take_few_bytes() {
    let names = ["index", "rulesets", "prints", "lines"];
    let sizes = [1000, 2000].map(|count| {
        let set = Set::from_bytes(set_of(&numbers(count), Strategy::Factored)).unwrap();
        size_of(&set, &names)
    });
    // Three rulesets per shop, each with an index entry, the base ruleset's number, and the digits in up to two places.
    let each = (sizes[1] - sizes[0]) / 1000;
    println!("{sizes:?}: {each} bytes per shop");
    assert!(each < 3 * (8 + 4 + 2 * 3 + 10 + 8), "{each} bytes per shop");
}

#[test]
fn input_order_leaves_no_trace() {
    let mut numbers = numbers(40);
    let set = set_of(&numbers, Strategy::Factored);
    numbers.reverse();
    numbers.swap(3, 17);
    assert!(set == set_of(&numbers, Strategy::Factored));
    let read = Set::from_bytes(&set).unwrap();
    let draft = read.to_draft().unwrap();
    let mut again = Vec::new();
    container::write(&mut again, &draft.header.clone(), &draft.write(&OneThread).unwrap()).unwrap();
    assert!(set == again);
}

/// A way to store the rulesets that no writer uses.
type Change = (&'static str, fn(&mut Sections));

const PAYLOAD_PATCHES: u64 = 1 << 48;

fn entries(sections: &Sections) -> Vec<u64> {
    let index = sections[Section::Index as usize].chunks_exact(8);
    index.map(|entry| u64::from_le_bytes(entry.try_into().unwrap())).collect()
}

/// Returns the number, start and end of the first ruleset that is stored as patches.
fn first_patched(sections: &Sections) -> (usize, usize, usize) {
    let entries = entries(sections);
    let number = entries.iter().position(|entry| entry & PAYLOAD_PATCHES != 0).unwrap();
    let end = |number: usize| (entries[number] & 0xFFFF_FFFF) as usize;
    (number, end(number - 1), end(number))
}

fn put_entry(sections: &mut Sections, number: usize, entry: u64) {
    sections[Section::Index as usize][number * 8..number * 8 + 8].copy_from_slice(&entry.to_le_bytes());
}

const CHANGES: [Change; 9] = [
    ("patches marked as an automaton", |sections| {
        let (number, ..) = first_patched(sections);
        let entry = entries(sections)[number];
        put_entry(sections, number, entry & !PAYLOAD_PATCHES);
    }),
    ("an automaton marked as patches", |sections| {
        let entry = entries(sections)[0];
        put_entry(sections, 0, entry | PAYLOAD_PATCHES);
    }),
    ("an unknown payload", |sections| {
        let entry = entries(sections)[0];
        put_entry(sections, 0, entry | 2 << 48);
    }),
    ("patches of patches", |sections| {
        let (number, start, _) = first_patched(sections);
        sections[Section::Rulesets as usize][start..start + 4].copy_from_slice(&(number as u32).to_le_bytes());
    }),
    ("patches of a missing ruleset", |sections| {
        let (_, start, _) = first_patched(sections);
        sections[Section::Rulesets as usize][start..start + 4].fill(0xFF);
    }),
    ("a patch after the end", |sections| {
        let (_, start, _) = first_patched(sections);
        sections[Section::Rulesets as usize][start + 4..start + 6].fill(0xFF);
    }),
    ("a truncated patch", |sections| {
        let (_, start, _) = first_patched(sections);
        sections[Section::Rulesets as usize][start + 6] = 0xFF;
    }),
    ("unused fingerprints", |sections| {
        let prints = &mut sections[Section::Prints as usize];
        prints.extend_from_within(..96);
    }),
    ("duplicate fingerprints", |sections| {
        let prints = &mut sections[Section::Prints as usize];
        prints.copy_within(..96, 96);
    }),
];

fn sections_of(bytes: &[u8]) -> (Header, Sections) {
    let container = Container::read(bytes).unwrap();
    (container.header(), Section::ALL.map(|section| container.section(bytes, section).to_vec()))
}

#[test]
fn noncanonical_storage_is_rejected() {
    let bytes = set_of(&numbers(8), Strategy::Factored);
    let (header, sections) = sections_of(&bytes);
    for (name, change) in CHANGES {
        let mut changed = sections.clone();
        change(&mut changed);
        assert!(changed != sections, "{name}");
        let mut out = Vec::new();
        container::write(&mut out, &header, &changed).unwrap();
        let set = Set::from_bytes(out).unwrap();
        assert!(set.verify().is_err(), "{name}");
        let agent = set.agent(b"anybot").unwrap();
        for number in numbers(8) {
            // Any result will do, as long as the call returns.
            let _ = set.decide(&agent, format!("https://{}/admin", host(number)).as_bytes());
        }
    }
}

#[test]
fn near_copies_stored_whole_are_rejected() {
    let bytes = set_of(&numbers(8), Strategy::Factored);
    let set = Set::from_bytes(&bytes).unwrap();
    let (header, mut sections) = sections_of(&bytes);
    let automaton = |number: u32| set.rulesets().get(number).unwrap().to_bytes().unwrap();
    // A ruleset without fingerprints, because its automaton is stored unchanged.
    let mut numbers = 0..set.rulesets().len();
    let is_plain = |&number: &u32| {
        set.rulesets().get(number).unwrap().is_patched()
            && without_fingerprints(&automaton(number)).unwrap().1.is_empty()
    };
    let number = numbers.find(is_plain).unwrap();
    let all = entries(&sections);
    let end_of = |number: u32| (all[number as usize] & 0xFFFF_FFFF) as usize;
    let (start, end) = (end_of(number - 1), end_of(number));
    let whole = automaton(number).into_owned();
    let more = (whole.len() - (end - start)) as u64;
    sections[Section::Rulesets as usize].splice(start..end, whole);
    put_entry(&mut sections, number as usize, (all[number as usize] & !PAYLOAD_PATCHES) + more);
    for (later, entry) in all.iter().enumerate().skip(number as usize + 1) {
        put_entry(&mut sections, later, entry + more);
    }
    let mut out = Vec::new();
    container::write(&mut out, &header, &sections).unwrap();
    let changed = Set::from_bytes(out).unwrap();
    for number in 0..set.rulesets().len() {
        assert_eq!(changed.rulesets().get(number).unwrap().to_bytes().unwrap(), automaton(number), "{number}");
    }
    let error = changed.verify().unwrap_err();
    assert_eq!(error.expected(), "the only form in which the ruleset is stored");
}
