//! Damaged sets: every error names its section, nothing panics or hangs, and `verify` lets nothing through.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use bumpalo::Bump;
use reptile_compiler::automaton::Strategy;
use reptile_compiler::capture::{Capture, Outcome};
use reptile_compiler::dialect::GOOGLE_LIB;
use reptile_compiler::set::{OwnedOrigin, SetBuilder, prepare};
use reptile_engine::format::container::{self, Container, Section};
use reptile_engine::set::Set;
use reptile_engine::url::Scheme;
use reptile_engine::verdict::Cause;
use xxhash_rust::xxh3::xxh3_64;

const URLS: [&[u8]; 13] = [
    b"http://closed.example/",
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
    b"http://nowhere.example/",
    b"no url",
];

/// Between them they use every part of the format. A DFA over whole patterns would add nothing but bytes.
const STRATEGIES: [Strategy; 2] = [Strategy::Factored, Strategy::Fallback];

const AGENTS: [&[u8]; 3] = [b"any", b"FooBot", b"bar-bot"];

/// A small set with every part that the format has.
fn sample(strategy: Strategy) -> Vec<u8> {
    let files: [(&str, Scheme, u16, &str); 4] = [
        (
            "a.example",
            Scheme::Http,
            80,
            "user-agent: *\nuser-agent: FooBot\nallow: /shop/index.html\ndisallow: /*sort=\ndisallow: /shop/*/print/$\n\
             disallow: /*.pdf$\ndisallow: /a/*b*d\nallow: /l/*/states\ndisallow: /l/*ough\ndisallow: /l/*.gif\n\
             disallow: /l/*?\ndisallow: /l/*;\ndisallow: /b\ndisallow: /c\ndisallow: /d\ndisallow: /e\ndisallow: /f\n\
             disallow: /g\ndisallow: /h\ndisallow:\n",
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
    ];
    let mut builder = SetBuilder::new(&GOOGLE_LIB);
    for (host, scheme, port, body) in files {
        let arena = Bump::new();
        let origin = OwnedOrigin { host: host.as_bytes().into(), scheme, port };
        builder.add([origin], prepare(body.as_bytes(), &GOOGLE_LIB, &arena).unwrap());
    }
    let closed = OwnedOrigin { host: b"closed.example"[..].into(), scheme: Scheme::Http, port: 80 };
    builder.add_capture([closed], &Capture::default(), Outcome::Disallow(Cause::Status(503)), None);
    builder.finish(strategy).unwrap().to_bytes()
}

/// Asks everything that can be asked. Only that it comes back matters.
fn ask(bytes: Vec<u8>) {
    let Ok(set) = Set::from_bytes(bytes) else { return };
    let _ = set.verify();
    for agent in AGENTS {
        let Ok(agent) = set.agent(agent) else { continue };
        for url in URLS {
            let _ = set.decide(&agent, url);
            let _ = set.explain(&agent, url);
        }
    }
    for origin in set.origins() {
        let Ok(site) = origin.and_then(|origin| set.site_of(&origin)) else { continue };
        let Ok(groups) = site.policy().groups() else { continue };
        groups.iter().for_each(|group| drop(group.rules.all()));
        drop((site.stale_at(), site.expires_at(), site.other().parts_of(&[0, 1])));
        let Ok(mut reader) = site.other().reader() else { continue };
        while let Ok(Some(_)) = reader.next() {}
    }
}

#[test]
fn the_sample_is_whole_and_has_every_part() {
    for strategy in STRATEGIES {
        let set = Set::from_bytes(sample(strategy)).unwrap();
        set.verify().unwrap();
        assert!(set.section_sizes().all(|(_, size)| size > 0));
    }
}

#[test]
fn a_cut_or_padded_file_is_refused() {
    let whole = sample(Strategy::Factored);
    for len in 0..whole.len() {
        let error = Set::from_bytes(whole[..len].to_vec()).err().expect("a cut file was opened");
        assert_eq!(error.section(), "header", "{error}");
    }
    let error = Set::from_bytes([&whole[..], b"\0"].concat()).err().expect("a padded file was opened");
    assert_eq!(
        error.to_string(),
        format!("header: expected {} bytes, found {}: the file is cut or padded", whole.len(), whole.len() + 1)
    );
}

#[test]
fn a_flipped_byte_is_found_and_its_section_named() {
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
                    assert!(section.is_none(), "opening read a section: {error}");
                    assert_eq!(error.section(), "header", "byte {at}: {error}");
                    continue;
                }
                (_, Ok(set)) => set.verify().expect_err("verify let a flipped byte through"),
            };
            if let Some(section) = section {
                assert_eq!(error.section(), section.name(), "byte {at}: {error}");
            }
        }
    }
}

#[test]
fn any_byte_may_be_anything() {
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

/// Damage with checksums that fit: what a hostile writer would send.
#[test]
fn sections_may_hold_anything_under_a_right_checksum() {
    for strategy in STRATEGIES {
        let whole = sample(strategy);
        let container = Container::read(&whole).unwrap();
        let sections = Section::ALL.map(|section| container.section(&whole, section).to_vec());
        let write = |sections: &[Vec<u8>; Section::COUNT]| {
            let mut out = Vec::new();
            container::write(&mut out, &container.header(), sections).unwrap();
            out
        };
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

#[test]
fn the_section_table_may_point_anywhere() {
    let whole = sample(Strategy::Factored);
    let table_end = 56 + 32 * Section::COUNT;
    for entry in 0..Section::COUNT {
        for field in [8, 16] {
            for value in [0, 1, 55, table_end as u64 - 1, whole.len() as u64, u64::MAX / 2, u64::MAX - 7, u64::MAX] {
                let mut damaged = whole.clone();
                let at = 56 + entry * 32 + field;
                damaged[at..at + 8].copy_from_slice(&value.to_le_bytes());
                damaged[48..56].fill(0);
                let checksum = xxh3_64(&damaged[..table_end]);
                damaged[48..56].copy_from_slice(&checksum.to_le_bytes());
                if let Ok(set) = Set::from_bytes(damaged.clone()) {
                    assert!(damaged == whole || set.verify().is_err(), "section {entry}, field {field}, value {value}");
                }
                ask(damaged);
            }
        }
    }
}

#[test]
fn another_version_or_byte_order_is_refused_by_name() {
    let whole = sample(Strategy::Factored);
    let refused = |at: usize, bytes: &[u8]| {
        let mut other = whole.clone();
        other[at..at + bytes.len()].copy_from_slice(bytes);
        Set::from_bytes(other).err().expect("was opened").to_string()
    };
    assert_eq!(
        refused(8, &2_u32.to_le_bytes()),
        "header: expected format version 1; compile the set again with this version, found version 2"
    );
    assert!(refused(12, &[1, 2, 3, 4]).contains("byte-order mark 04 03 02 01, found [01, 02, 03, 04]"));
    assert!(refused(0, b"User-age").starts_with("header: expected the label"));
}
