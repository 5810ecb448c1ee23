//! Files that are not sets, and sets that were truncated or changed: the message of each command.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;
use reptile_engine::format::container::{self, Container, Header, Section, Sections};
use support::Folder;

/// Returns name, start and length of every section that is not empty.
fn sections(set: &[u8]) -> Vec<(&'static str, usize, usize)> {
    let container = Container::read(set).unwrap();
    let sections = Section::ALL.into_iter().map(|section| (section.name(), container.section(set, section)));
    let place = |bytes: &[u8]| bytes.as_ptr() as usize - set.as_ptr() as usize;
    let sections = sections.filter(|(_, bytes)| !bytes.is_empty());
    sections.map(|(name, bytes)| (name, place(bytes), bytes.len())).collect()
}

#[test]
fn a_flipped_bit_in_any_section_is_reported() {
    let folder = Folder::new();
    folder.robots();
    // A capture with a time and a usage rule, so that the sections for both have bytes too.
    let body = r"user-agent: *\ncontent-usage: search=n";
    let capture = r#"{"url": "http://d.example/robots.txt", "time": "2026-02-01T00:00:00Z", "body": "BODY"}"#;
    folder.write("c.jsonl", capture.replace("BODY", body));
    folder.run(&["compile", "-o", "set", "robots", "c.jsonl"]).says(0, &[]);
    let whole = folder.read("set");
    let sections = sections(&whole);
    assert_eq!(sections.len(), Section::ALL.len(), "an empty section is not tested");
    for (name, start, len) in sections {
        for at in [start, start + len / 2, start + len - 1] {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            folder.write("damaged", damaged);
            // Some damage is found on opening, the rest by checking every byte. Both messages name the section.
            let text = format!(": {name}");
            folder.run(&["verify", "damaged"]).says(2, &["reptile: damaged: ", &text, "expected"]);
            folder.run(&["inspect", "damaged"]).says(2, &["reptile: damaged: ", &text, "expected"]);
            let run = folder.run_with(&["classify", "damaged", "-o", "out", "--agent", "x"], b"http://a.example/\n");
            run.says(2, &[&text]);
            assert_eq!(folder.names(), ["c.jsonl", "damaged", "robots", "set", "set.made.json"]);
        }
    }
}

#[test]
fn files_that_are_not_sets_are_named() {
    let folder = Folder::with_set();
    let whole = folder.read("set");
    folder.write("empty", "");
    folder.write("text", "User-agent: *\n");
    folder.write("label", &whole[..5]);
    folder.write("header", &whole[..40]);
    folder.write("cut", &whole[..whole.len() - 1]);
    folder.write("long", [&whole[..], b"\0"].concat());
    let mut header = whole.clone();
    header[30] ^= 1;
    folder.write("flipped", &header);
    let cases = [
        ("missing", "missing: No such file or directory"),
        ("empty", "empty: is an empty file, not a compiled set"),
        ("text", "text: is text, not a compiled set"),
        ("label", "label: not a valid set: header"),
        ("header", "header: not a valid set: header at byte 40: expected at least"),
        ("cut", "the file is cut or padded"),
        ("long", "the file is cut or padded"),
        ("flipped", "flipped: not a valid set: header at byte"),
    ];
    for (name, text) in cases {
        folder.run(&["verify", name]).says(2, &[text]);
        folder.run(&["inspect", name]).says(2, &[text]);
        folder.run(&["classify", name, "--agent", "x"]).says(2, &[text]);
    }
    folder.run(&["verify", "robots"]).says(2, &["robots: is a folder, not a compiled set"]);
}

/// Returns a copy of a set with a changed header and section, and valid checksums.
fn forged(
    set: &[u8],
    header: impl FnOnce(&mut Header),
    section: Section,
    change: impl FnOnce(&mut Vec<u8>),
) -> Vec<u8> {
    let container = Container::read(set).unwrap();
    let mut sections: Sections = Section::ALL.map(|section| container.section(set, section).to_vec());
    change(&mut sections[section as usize]);
    let mut head = container.header();
    header(&mut head);
    let mut out = Vec::new();
    container::write(&mut out, &head, &sections).unwrap();
    assert_ne!(out, set, "nothing was changed");
    out
}

#[test]
fn a_good_set_passes_the_deep_check() {
    let folder = Folder::with_set();
    let plain = folder.run(&["verify", "set"]).says(0, &[]).text();
    let size = folder.read("set").len();
    assert!(plain.starts_with("set: valid, 6 origins, 4 rulesets, "), "{plain}");
    assert!(plain.replace(',', "").ends_with(&format!(" {size} bytes\n")), "{plain}");
    let deep = folder.run(&["verify", "set", "--deep", "--threads", "2"]).says(0, &[]).text();
    let time = deep.strip_prefix(&format!("{}, every ruleset recompiled in ", plain.trim_end())).unwrap();
    assert!(time.strip_suffix(" s\n").unwrap().parse::<f64>().is_ok(), "{deep}");
}

#[test]
fn checksums_detect_every_changed_byte() {
    let folder = Folder::with_set();
    let set = folder.read("set");
    let unchanged = format!("set: unchanged, {} bytes\n", set.len());
    let printed = folder.run(&["verify", "--checksums", "set"]).says(0, &[]).text();
    assert_eq!(printed.replace(',', "").replace("unchanged ", "unchanged, "), unchanged);
    // After the first bytes, which identify a set.
    for at in (64..set.len()).step_by(set.len() / 40) {
        let mut damaged = set.clone();
        damaged[at] ^= 1;
        folder.write("damaged", &damaged);
        folder.run(&["verify", "--checksums", "damaged"]).says(2, &["reptile: damaged: ", "expected"]);
    }
    folder.write("cut", &set[..set.len() - 1]);
    folder.run(&["verify", "--checksums", "cut"]).says(2, &["reptile: cut: "]);
    folder.run(&["verify", "--checksums", "--deep", "set"]).says(2, &["cannot be used with"]);
}

/// A ruleset with wildcards contains an automaton, which decides, and a list of rules, which is displayed. The
/// checksums are valid, so the difference is deliberate.
#[test]
fn the_deep_check_finds_rules_that_differ_from_the_automaton() {
    let folder = Folder::with_set();
    let forged = forged(
        &folder.read("set"),
        |_| {},
        Section::Rulesets,
        |rulesets| {
            let listed = b"/x*y";
            let at = rulesets.windows(listed.len()).rposition(|bytes| bytes == listed).unwrap();
            rulesets[at + listed.len() - 1] = b'z';
        },
    );
    folder.write("forged", forged);
    folder.run(&["verify", "forged"]).says(0, &[]);
    let run = folder.run(&["verify", "forged", "--deep"]);
    let run = run.says(2, &["reptile: forged: ruleset ", "was not compiled from the rules that it lists"]);
    assert_eq!(run.text(), "");
}

#[test]
fn the_deep_check_refuses_automata_of_another_compiler() {
    let folder = Folder::with_set();
    let foreign = forged(&folder.read("set"), |header| header.automata_form = u32::MAX, Section::Rulesets, |_| {});
    folder.write("foreign", foreign);
    folder.run(&["verify", "foreign"]).says(0, &[]);
    let text =
        "reptile: foreign: made by another version of the compiler; compile the set again, or verify it without --deep";
    folder.run(&["verify", "foreign", "--deep"]).says(2, &[text]);
}
