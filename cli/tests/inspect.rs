//! `reptile inspect` on hostile files: the output stays in proportion, and what cannot be shown is refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

mod support;

use support::Folder;

#[test]
fn the_listing_is_in_proportion_to_the_file() {
    let folder = Folder::new();
    for count in [1000, 2000, 4000] {
        let name =
            |at: usize| format!("{at:05}").bytes().map(|digit| (digit + b'a' - b'0') as char).collect::<String>();
        let agents: String = (0..count).map(|at| format!("user-agent: {}\n", name(at))).collect();
        let rules: String = (0..count).map(|at| format!("disallow: /{at}\n")).collect();
        // Each product token has a group of its own besides the common one.
        let own: String = (0..count).map(|at| format!("user-agent: {}\nallow: /{at}\n", name(at))).collect();
        let body = agents + &rules + &own;
        folder.write("robots.txt", &body);
        let run = folder.run(&["inspect", "robots.txt", "h", "--host", "h"]).says(0, &[]);
        assert!(run.stdout.len() < 16 * body.len() + 4096, "{count}: {} of {}", run.stdout.len(), body.len());
        assert!(run.text().contains("Disallow: /999\n"));
    }
}

#[test]
fn automata_that_are_too_large_are_refused() {
    let folder = Folder::new();
    let rules: String =
        (0..200_000_u32).map(|at| format!("disallow: /{:08x}\n", at.wrapping_mul(0x9E37_79B9))).collect();
    folder.write("robots.txt", format!("user-agent: *\n{rules}"));
    for more in [&[][..], &["--dot"]] {
        // A dialect that reads the file to its end.
        let args = ["inspect", "robots.txt", "h", "--host", "h", "--automaton", "--dialect", "google-lib"];
        let args = [&args[..], more].concat();
        folder.run(&args).says(2, &["at most 4,194,304 can be printed"]);
    }
    folder.write("robots.txt", "user-agent: *\ndisallow: /a\n");
    let text = folder.run(&["inspect", "robots.txt", "h", "--host", "h", "--automaton"]).says(0, &[]).text();
    assert!(text.contains("1 rules") && text.contains("prefix trie:"), "{text}");
}
