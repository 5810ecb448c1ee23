//! Files that are not sets, and sets that are cut or changed: what each command says of them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

mod support;

use support::{Folder, Run};

/// Where each section lies: name, start, length. Read from the table in the file's header.
fn sections(set: &[u8]) -> Vec<(String, usize, usize)> {
    let number = |at: usize| u64::from_le_bytes(set[at..at + 8].try_into().unwrap()) as usize;
    let entries = set[56..].chunks(32).take(9).enumerate();
    entries
        .map(|(index, entry)| {
            let name = String::from_utf8(entry[..8].iter().copied().take_while(|&byte| byte != 0).collect()).unwrap();
            (name, number(56 + index * 32 + 8), number(56 + index * 32 + 16))
        })
        .collect()
}

#[test]
fn a_flipped_bit_in_any_section_is_found_and_named() {
    let folder = Folder::with_set();
    let whole = folder.read("set");
    let sections = sections(&whole);
    assert_eq!(sections.len(), 9);
    for (name, start, len) in sections {
        assert!(len > 0, "the section {name} is empty, so nothing is tested");
        for at in [start, start + len / 2, start + len - 1] {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            folder.write("damaged", damaged);
            let text = format!("damaged: the set is damaged: {name}: expected");
            folder.run(&["verify", "damaged"]).says(2, &[&text]);
            folder.run(&["inspect", "damaged"]).says(2, &[&text]);
            let run = folder.run_with(&["classify", "damaged", "-o", "out", "--agent", "x"], b"http://a.example/\n");
            run.says(2, &[&text]);
            assert_eq!(folder.names(), ["damaged", "robots", "set", "set.made.json"]);
        }
    }
}

/// With `--no-verify` a flipped bit gives an error, the right answers, or, as the help says, wrong ones. Then every line is
/// still answered, and the check finds the damage.
#[test]
fn an_unchecked_damaged_set_fails_or_answers_every_line() {
    let folder = Folder::with_set();
    let whole = folder.read("set");
    let urls = b"http://a.example/private\nhttps://a.example/private/open\nhttp://a.example/xzy\nhttp://b.example/\n\
                 http://c.example:8080/\nhttp://n.example/\nnot a url\n";
    let ask = |set: &str| {
        let args = ["classify", set, "--no-verify", "--agent", "bot-a", "--agent", "x"];
        folder.run_with(&args, urls)
    };
    let right = ask("set").says(0, &[]);
    let (mut errors, mut rights, mut wrongs) = (0, 0, 0);
    for (name, start, len) in sections(&whole) {
        for at in (start..start + len).step_by(3) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            folder.write("damaged", damaged);
            let run = ask("damaged");
            if run.code == Some(2) {
                assert!(run.stderr.contains("damaged: the set is damaged: "), "{name} {at}: {run:?}");
                errors += 1;
                continue;
            }
            assert_eq!(run.code, Some(0), "{name} {at}: {run:?}");
            if run.stdout == right.stdout {
                rights += 1;
                continue;
            }
            // Every line is still answered, and whoever asks for the check learns of the damage.
            let urls_of = |run: &Run| {
                let text = run.text();
                text.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect::<Vec<_>>()
            };
            assert_eq!(urls_of(&run), urls_of(&right), "{name} {at}");
            folder.run(&["verify", "damaged"]).says(2, &[&format!("damaged: the set is damaged: {name}: expected")]);
            wrongs += 1;
        }
    }
    assert!(errors > 0 && rights > 0, "{errors} errors, {rights} right answers, {wrongs} wrong ones");
}

#[test]
fn a_set_that_was_not_checked_still_stops_where_it_makes_no_sense() {
    let folder = Folder::with_set();
    let mut set = folder.read("set");
    let sections = sections(&set);
    let (_, start, len) = sections.iter().find(|(name, ..)| name == "rulesets").unwrap();
    set[*start..start + len].fill(0xFF);
    folder.write("damaged", set);
    let args = ["classify", "damaged", "--no-verify", "-o", "out", "--agent", "bot-a"];
    let run = folder.run_with(&args, b"http://z.example/\nhttp://a.example/private\n");
    run.says(2, &["damaged: the set is damaged: rulesets: expected"]);
    assert_eq!(folder.names(), ["damaged", "robots", "set", "set.made.json"]);
}

#[test]
fn what_is_not_a_set_is_named() {
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
        ("empty", "empty: not a valid set: header: expected the label \"\\x89RPTL\\r\\n\\x1a\", found an empty file"),
        ("text", "text: not a valid set: header: expected the label"),
        ("label", "label: not a valid set: header: expected the label"),
        ("header", "header: not a valid set: header: expected at least"),
        ("cut", "the file is cut or padded"),
        ("long", "the file is cut or padded"),
        ("flipped", "flipped: not a valid set: header: expected checksum"),
    ];
    for (name, text) in cases {
        folder.run(&["verify", name]).says(2, &[text]);
        folder.run(&["inspect", name]).says(2, &[text]);
        folder.run(&["classify", name, "--agent", "x"]).says(2, &[text]);
        folder.run(&["classify", name, "--no-verify", "--agent", "x"]).says(2, &[text]);
    }
    folder.run(&["verify", "robots"]).says(2, &["robots: not a regular file"]);
}
