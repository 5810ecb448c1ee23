//! Damaged and hostile sets. Every error names its section, and nothing panics or hangs. A set that `verify` accepts
//! equals its rewritten content byte for byte, and causes no errors later.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use bumpalo::Bump;
use reptile_compiler::automaton::Strategy;
use reptile_compiler::capture::{Capture, Outcome};
use reptile_compiler::dialect::GOOGLE_LIB;
use reptile_compiler::set::{OwnedOrigin, SetBuilder, prepare};
use reptile_engine::format::FormatError;
use reptile_engine::format::container::{self, Container, ENTRY_BYTES, HEADER_BYTES, Header, Section, Sections};
use reptile_engine::set::Set;
use reptile_engine::threads::OneThread;
use reptile_engine::url::{Origin, Scheme};
use reptile_engine::verdict::{Cause, Explanation};
use xxhash_rust::xxh3::xxh3_64;

const URLS: [&[u8]; 16] = [
    b"http://closed.example/",
    b"http://kept.example/kept",
    b"http://a.example/",
    b"http://a.example/shop/x?sort=1&y",
    b"http://a.example/shop/cart/print/",
    b"http://a.example/a/b/c/d/e.pdf",
    b"http://a.example/index.html",
    b"http://a.example/l/ong/enough/to/pass/through/all/of/the/states",
    b"https://a.example/",
    b"http://b.example/x-a-b-c",
    b"http://b.example/private/z",
    b"http://c.example:8080/",
    b"http://n1.example/1234/x?q=",
    b"http://n2.example/1567/cart",
    b"http://nowhere.example/",
    b"no url",
];

/// Strategies that together use the whole format. A DFA over whole patterns would only add bytes.
const STRATEGIES: [Strategy; 2] = [Strategy::Factored, Strategy::Fallback];

const AGENTS: [&[u8]; 3] = [b"any", b"FooBot", b"bar-bot"];

/// Offset of the checksum for the header and section table.
const CHECKSUM_AT: usize = 56;

/// Compiles a small set that uses the whole format. With [`Strategy::Fallback`] it is a set by time.
fn sample(strategy: Strategy) -> Vec<u8> {
    let files: [(&str, Scheme, u16, &str); 6] = [
        (
            "a.example",
            Scheme::Http,
            80,
            "user-agent: *\nuser-agent: FooBot\nallow: /shop/index.html\ndisallow: /*sort=\ndisallow: /shop/*/print/$\n\
             disallow: /*.pdf$\ndisallow: /a/*b*d\nallow: /l/*/states\ndisallow: /l/*ough\ndisallow: /l/*.gif\n\
             disallow: /l/*?\ndisallow: /l/*;\ndisallow: /b\ndisallow: /c\ndisallow: /d\ndisallow: /e\ndisallow: /f\n\
             disallow: /g\ndisallow: /h\ndisallow:\ncontent-usage: train-ai=n\ncontent-usage: /u train-ai=y\n\
             content-usage: /*u search=n, train-ai=n\ncontent-signal: ai-train=no\n",
        ),
        (
            "a.example",
            Scheme::Https,
            443,
            "sitemap: https://a.example/1\nsitemap: https://a.example/2\nuser-agent: bar-bot\ndisallow: /\n\
             crawl-delay: 2\nx-key: y\n",
        ),
        (
            "b.example",
            Scheme::Http,
            80,
            "user-agent: *\ndisallow: /x*-a*-b*-c*-d*-e*-f*-g*-h*-i*-j*-k*-l*-m*-n*-o*-p*-q*-r\n\
             disallow: /private\nallow: /private/z*\n",
        ),
        ("c.example", Scheme::Http, 8080, ""),
        (
            "n1.example",
            Scheme::Http,
            80,
            "user-agent: *\ndisallow: /1234/*?q=\ndisallow: /1234/cart\ndisallow: /users/\n",
        ),
        // A near-copy of the previous file, stored as patches.
        (
            "n2.example",
            Scheme::Http,
            80,
            "user-agent: *\ndisallow: /1567/*?q=\ndisallow: /1567/cart\ndisallow: /users/\n",
        ),
    ];
    let mut builder = SetBuilder::new(&GOOGLE_LIB).by_time(strategy == Strategy::Fallback);
    for (host, scheme, port, body) in files {
        let arena = Bump::new();
        let origin = OwnedOrigin { host: host.as_bytes().into(), scheme, port };
        builder.add([origin], prepare(body.as_bytes(), &GOOGLE_LIB, &arena).unwrap());
    }
    let closed = OwnedOrigin { host: b"closed.example"[..].into(), scheme: Scheme::Http, port: 80 };
    builder.add_capture([closed], &Capture::default(), Outcome::Disallow(Cause::Status(503)), None);
    let kept = OwnedOrigin { host: b"kept.example"[..].into(), scheme: Scheme::Http, port: 80 };
    let body = prepare(b"user-agent: *\ndisallow: /kept\n", &GOOGLE_LIB, &Bump::new()).unwrap();
    let at = |time| Capture { time: Some(time), max_age: Some(60), ..Capture::default() };
    builder.add_capture([kept.clone()], &at(1000), Outcome::Use, Some(body));
    for time in [2000, 3000] {
        builder.add_capture([kept.clone()], &at(time), Outcome::Unreachable(Cause::Network), None);
    }
    builder.finish(strategy).unwrap().to_bytes()
}

/// Calls all of a set's queries.
fn ask_all<D: AsRef<[u8]>>(set: &Set<D>) -> Result<(), FormatError> {
    for agent in AGENTS {
        let agent = set.agent(agent)?;
        for url in URLS {
            set.decide(&agent, url)?;
            set.explain(&agent, url)?;
            if set.has_times() {
                set.explain_at(&agent, url, 2000)?;
            }
        }
    }
    let (chain, known) = (set.agent_chain(&[b"none", b"bar-bot"], false)?, set.crawler(b"FooBot/1.0")?);
    for url in URLS {
        set.decide(&chain, url)?;
        set.matching_rules(&chain, url)?;
        set.matching_rules(&known, url)?;
    }
    set.crawlers().iter().try_for_each(|crawler| crawler.map(drop))?;
    for origin in set.origins() {
        let origin = origin?;
        let found = Origin { scheme: origin.scheme, host: origin.host, port: origin.port };
        let _ = set.site(&found)?;
        let site = set.site_of(&origin)?;
        for group in site.policy().groups()? {
            group.rules.all()?;
            group.tokens.iter().try_for_each(|&token| set.tokens().name(token).map(drop))?;
        }
        let _ = (site.stale_at()?, site.expires_at()?, site.other().parts_of(&[0, 1])?, site.timeline()?);
        for span in site.spans()? {
            let _ = (set.policy_of_at(&origin, span.begin)?, set.policy_of_at(&origin, span.begin.wrapping_sub(1))?);
        }
        let mut reader = site.other().reader()?;
        while reader.next()?.is_some() {}
    }
    set.policy_count()?;
    Ok(())
}

/// Reads a set's content and writes it again.
fn rewritten<D: AsRef<[u8]>>(set: &Set<D>) -> Vec<u8> {
    let draft = set.to_draft().unwrap();
    let mut out = Vec::new();
    container::write(&mut out, &draft.header.clone(), &draft.write(&OneThread).unwrap()).unwrap();
    out
}

/// Runs all queries. If `verify` accepts the set, checks its guarantees. Returns whether it does.
fn ask(bytes: Vec<u8>) -> bool {
    let Ok(set) = Set::from_bytes(&bytes) else { return false };
    let answers = ask_all(&set);
    if set.verify().is_err() {
        // Any result will do, as long as the call returns.
        let _ = set.to_draft().map(|draft| draft.write(&OneThread));
        return false;
    }
    answers.unwrap();
    assert!(rewritten(&set) == bytes, "verify accepts a set that differs from its rewritten content");
    true
}

fn sections_of(bytes: &[u8]) -> (Header, Sections) {
    let container = Container::read(bytes).unwrap();
    (container.header(), Section::ALL.map(|section| container.section(bytes, section).to_vec()))
}

fn written(header: &Header, sections: &Sections) -> Vec<u8> {
    let mut out = Vec::new();
    container::write(&mut out, header, sections).unwrap();
    out
}

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
        assert!(ask(bytes));
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
                ask(damaged);
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
                    ask(write(&damaged));
                }
            }
            for len in 0..sections[section].len() {
                let mut damaged = sections.clone();
                damaged[section].truncate(len);
                ask(write(&damaged));
            }
            for other in 0..Section::COUNT {
                let mut damaged = sections.clone();
                damaged[section] = sections[other].clone();
                ask(write(&damaged));
            }
        }
    }
}

/// Returns a set's explanations for all agents and URLs.
fn answers<D: AsRef<[u8]>>(set: &Set<D>) -> Vec<Explanation> {
    let agents = AGENTS.map(|agent| set.agent(agent).unwrap());
    let questions = agents.iter().flat_map(|agent| URLS.map(|url| (agent, url)));
    questions.map(|(agent, url)| set.explain(agent, url).unwrap()).collect()
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
                ask(damaged);
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
        (4, "a newer reptile wrote the set; use that one, or compile it again"),
        (999, "a newer reptile wrote the set; use that one, or compile it again"),
        (1000, "the header is damaged"),
        (u32::MAX, "the header is damaged"),
    ] {
        let expected = "header: expected format version 3, the only one that this program reads";
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

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// Changes one part of a section: a bit, a byte, a 32-bit number, or a run of bytes.
fn mutate(section: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(section.len());
    match random.below(6) {
        0 => section[at] ^= 1 << random.below(8),
        1 => section[at] = random.next() as u8,
        2 => {
            let at = at / 4 * 4;
            let number = [0, 1, 2, u32::MAX, u32::MAX - 1, random.next() as u32 % 64][random.below(6)];
            section.iter_mut().skip(at).zip(number.to_le_bytes()).for_each(|(byte, new)| *byte = new);
        }
        3 => {
            let (from, len) = (random.below(section.len()), random.below(section.len() - at).min(64));
            let copied: Vec<u8> = section.iter().copied().cycle().skip(from).take(len).collect();
            section.splice(at..at + len, copied);
        }
        4 => drop(section.drain(at..(at + 4 * (1 + random.below(8))).min(section.len()))),
        _ => {
            let copied = section[at..(at + 4 * (1 + random.below(8))).min(section.len())].to_vec();
            section.splice(at..at, copied);
        }
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
        accepted += usize::from(ask(written(&header, &mutant)));
    }
    // Mutants of texts and plain numbers, such as lines and times, are valid.
    assert!((50..MUTANTS / 2).contains(&accepted), "{accepted} of {MUTANTS} accepted");
}
