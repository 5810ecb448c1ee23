//! Sets built to be slow to open, verify or query, with valid checksums. Their step counts are linear in the file size.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may")]

use bumpalo::Bump;
use reptile_compiler::automaton::Strategy;
use reptile_compiler::capture::{Capture, Outcome};
use reptile_compiler::dialect::GOOGLE_LIB;
use reptile_compiler::set::{OwnedOrigin, SetBuilder, prepare};
use reptile_engine::format::container::{self, Container, Header, Section, Sections};
use reptile_engine::format::origins::MAX_PROBE_SLOTS;
use reptile_engine::set::Set;
use reptile_engine::url::Scheme;
use reptile_engine::verdict::Cause;

/// Steps of `verify` per byte: the checksum, the tables, the origin table twice for each seed, and the automata.
const STEPS_PER_BYTE: u64 = 24;

/// Compiles a set in which each origin has its own policy, tokens, rules and other directives, and three captures at
/// different times.
fn honest(origins: usize) -> (Header, Sections) {
    let mut builder = SetBuilder::new(&GOOGLE_LIB).by_time(true);
    for number in 0..origins {
        let body = format!(
            "user-agent: bot-{number}x\ndisallow: /a{number}\nsitemap: https://h{number}.example/{number}\n\
             user-agent: *\nallow: /{number}\n"
        );
        let host = format!("h{number}.example").into_bytes().into();
        let origin = OwnedOrigin { host, scheme: Scheme::Http, port: 80 };
        for (day, outcome) in [(0, Outcome::Use), (1, Outcome::Unreachable(Cause::Network)), (40, Outcome::Use)] {
            let capture = Capture { time: Some(number as i64 + day * 86_400), ..Capture::default() };
            let body = (outcome == Outcome::Use).then(|| format!("{body}disallow: /{day}\n"));
            let record = body.map(|body| prepare(body.as_bytes(), &GOOGLE_LIB, &Bump::new()).unwrap());
            builder.add_capture([origin.clone()], &capture, outcome, record);
        }
    }
    let bytes = builder.finish(Strategy::default()).unwrap().to_bytes();
    let container = Container::read(&bytes).unwrap();
    (container.header(), Section::ALL.map(|section| container.section(&bytes, section).to_vec()))
}

/// Writes and verifies a set with these sections, and looks up origins. Returns whether `verify` accepts the set, and
/// its steps per byte.
fn verified(header: &Header, sections: &Sections) -> (bool, u64) {
    let mut bytes = Vec::new();
    container::write(&mut bytes, header, sections).unwrap();
    let len = bytes.len() as u64;
    let set = Set::from_bytes(bytes).unwrap();
    for host in ["h0.example", "h1.example", "nowhere.example"] {
        if let Ok((_, steps)) = set.origin_table().find_counted(Scheme::Http, host.as_bytes(), 80) {
            assert!(steps <= 2 * MAX_PROBE_SLOTS, "{steps} look-up steps");
        }
        let url = format!("http://{host}/");
        // Any result will do, as long as the call returns.
        let _ = set.agent(b"any").and_then(|agent| set.explain_at(&agent, url.as_bytes(), 86_400));
    }
    let (result, steps) = set.verify_counted();
    (result.is_ok(), steps / len)
}

/// Overwrites a 32-bit number in a section every `step` bytes, starting at `from`.
fn fill(section: &mut [u8], from: usize, step: usize, number: u32) {
    for at in (from..section.len().saturating_sub(3)).step_by(step) {
        section[at..at + 4].copy_from_slice(&number.to_le_bytes());
    }
}

/// An attack's name, and a function that damages a set's sections.
type Attack = (&'static str, fn(&mut Sections));

fn section(sections: &mut Sections, section: Section) -> &mut Vec<u8> {
    &mut sections[section as usize]
}

const ATTACKS: [Attack; 18] = [
    ("all slots lead to the last addressable record", |sections| {
        section(sections, Section::Buckets).iter_mut().skip(64).for_each(|byte| *byte = 0xFF);
    }),
    ("all slots lead to the first record", |sections| {
        let slots = section(sections, Section::Buckets);
        for slot in slots[64..].chunks_exact_mut(8) {
            slot.copy_from_slice(&1_u64.to_le_bytes());
        }
    }),
    ("no slot is empty", |sections| {
        let slots = section(sections, Section::Buckets);
        let full = slots[64..].chunks_exact(8).find(|slot| *slot != [0; 8]).unwrap().to_vec();
        slots[64..].chunks_exact_mut(8).for_each(|slot| slot.copy_from_slice(&full));
    }),
    ("more origins than possible", |sections| {
        section(sections, Section::Buckets)[..16].fill(0xFF);
    }),
    ("one bucket", |sections| {
        section(sections, Section::Buckets)[8..16].copy_from_slice(&1_u64.to_le_bytes());
    }),
    ("more buckets than possible", |sections| {
        section(sections, Section::Buckets)[8..16].copy_from_slice(&u64::MAX.to_le_bytes());
    }),
    ("all origins share the first policy", |sections| {
        let slots = section(sections, Section::Origins);
        // Every record takes 32 bytes.
        fill(slots, 0, 32, 0);
    }),
    ("policies with 2^32 - 1 tokens", |sections| fill(section(sections, Section::Policies), 8, 8, u32::MAX)),
    ("policies with 2^32 - 1 groups", |sections| fill(section(sections, Section::Policies), 12, 8, u32::MAX)),
    ("overlapping policies", |sections| {
        // Each policy claims a token for every 32 bytes of the section.
        let policies = section(sections, Section::Policies);
        let len = policies.len() as u32;
        fill(policies, 8, 16, len / 32);
    }),
    ("timelines with 2^32 - 1 captures", |sections| fill(section(sections, Section::Captures), 0, 8, u32::MAX)),
    ("timelines with 2^32 - 1 spans", |sections| fill(section(sections, Section::Captures), 4, 8, u32::MAX)),
    ("overlapping timelines", |sections| {
        // Each timeline claims a quarter of the section as captures.
        let captures = section(sections, Section::Captures);
        let len = captures.len() as u32;
        fill(captures, 0, 16, len / 128);
    }),
    ("spans that all begin at zero", |sections| {
        // The first record has two counts, then the span starts.
        let captures = section(sections, Section::Captures);
        let spans = u32::from_le_bytes(captures[4..8].try_into().unwrap()) as usize;
        captures[8..8 + spans * 8].fill(0);
    }),
    ("lines for 2^32 - 1 rules", |sections| {
        section(sections, Section::Lines).iter_mut().for_each(|byte| *byte = 0xFF);
        fill(section(sections, Section::Lines), 0, 8, u32::from_le_bytes([63 << 2, 0xFF, 0xFF, 0xFF]));
    }),
    ("rulesets that end before they begin", |sections| {
        let index = section(sections, Section::Index);
        let entries: Vec<Vec<u8>> = index.chunks_exact(8).rev().map(<[u8]>::to_vec).collect();
        *index = entries.concat();
    }),
    ("rulesets that span the whole section", |sections| {
        let end = sections[Section::Rulesets as usize].len() as u64;
        let index = section(sections, Section::Index);
        index.chunks_exact_mut(8).for_each(|entry| entry.copy_from_slice(&end.to_le_bytes()));
    }),
    ("tokens that all begin at zero", |sections| {
        let tokens = section(sections, Section::Tokens);
        let count = u64::from_le_bytes(tokens[..8].try_into().unwrap()) as usize;
        tokens[8..8 + count * 8].fill(0);
    }),
];

#[test]
fn verification_steps_are_linear_in_file_size() {
    let sizes = [100, 200, 400].map(|origins| (origins, honest(origins)));
    for (origins, (header, sections)) in &sizes {
        let (accepted, steps) = verified(header, sections);
        println!("{origins} origins, honest: {steps} verification steps per byte");
        assert!(accepted && steps <= STEPS_PER_BYTE, "{steps} steps per byte for an honest set");
    }
    for (name, attack) in ATTACKS {
        for (origins, (header, sections)) in &sizes {
            let mut hostile = sections.clone();
            attack(&mut hostile);
            assert!(hostile != *sections, "{name}");
            let (accepted, steps) = verified(header, &hostile);
            println!("{origins} origins, {name}: {steps} verification steps per byte");
            assert!(!accepted, "{name}");
            assert!(steps <= STEPS_PER_BYTE, "{name}: {steps} steps per byte");
        }
    }
}

/// Lines that share most of a long value with the previous line take few bytes each, yet verification stays linear.
#[test]
fn long_shared_values_verify_in_linear_time() {
    let steps_of = |lines: usize| {
        let start = "x".repeat(4000);
        let mut body = String::new();
        for number in 0..lines {
            // The body must stay within the 16 MiB limit.
            body.push_str(&format!("sitemap: {start}{}\n", char::from(b'a' + (number % 26) as u8)));
        }
        let mut builder = SetBuilder::new(&GOOGLE_LIB);
        let origin = OwnedOrigin { host: b"h0.example"[..].into(), scheme: Scheme::Http, port: 80 };
        builder.add([origin], prepare(body.as_bytes(), &GOOGLE_LIB, &Bump::new()).unwrap());
        let set = Set::from_bytes(builder.finish(Strategy::default()).unwrap().to_bytes()).unwrap();
        let (result, steps) = set.verify_counted();
        result.unwrap();
        steps / set.section_sizes().map(|(_, size)| size as u64).sum::<u64>()
    };
    assert!([50, 100, 200].into_iter().all(|lines| steps_of(lines) <= STEPS_PER_BYTE));
}
