//! `reptile merge`, `update`, and `diff` of two sets, end to end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;
use support::Folder;

/// Returns the next number below `below` from a fixed sequence.
fn next(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

/// Returns captures of 300 origins in shuffled order, about five per origin, at equal and different times, with shared
/// rules and with failures.
fn captures() -> Vec<String> {
    let state = &mut 7;
    let capture = |state: &mut u64| {
        let origin = next(state, 300);
        let url = format!("http://h{origin}.example/robots.txt");
        // Every seventh origin has no time, and therefore only one capture.
        let time = match origin % 7 {
            0 => String::new(),
            _ => format!(r#","time":{}"#, 1_700_000_000 + 86_400 * next(state, 60)),
        };
        let body = format!(
            "user-agent: *\\ndisallow: /{}\\n\\nuser-agent: bot{}\\nallow: /{}\\nsitemap: http://s{}.example/\\n",
            next(state, 3),
            next(state, 3),
            next(state, 3),
            next(state, 2)
        );
        let line = match next(state, 8) {
            0 => format!(r#"{{"url":"{url}"{time},"status":404}}"#),
            1 => format!(r#"{{"url":"{url}"{time},"status":503}}"#),
            2 => format!(r#"{{"url":"{url}"{time},"error":"no connection"}}"#),
            3 => format!(r#"{{"url":"{url}"{time},"body":"{body}","headers":{{"cache-control":"max-age=60"}}}}"#),
            4 => format!(r#"{{"url":"{url}"{time},"body":"{body}"}}"#),
            _ => format!(r#"{{"url":"{url}"{time},"status":200,"body":"{body}"}}"#),
        };
        (origin, line)
    };
    let mut seen = std::collections::HashSet::new();
    let captures = (0..1500).map(|_| capture(state)).filter(|&(origin, _)| origin % 7 != 0 || seen.insert(origin));
    captures.map(|(_, line)| line).collect()
}

#[test]
fn merged_parts_equal_the_whole() {
    let folder = Folder::new();
    let lines = captures();
    folder.write("all.jsonl", lines.join("\n"));
    folder.run(&["compile", "-o", "whole", "all.jsonl"]).says(0, &["discarded"]);
    let mut parts: Vec<Vec<&str>> = vec![Vec::new(); 10];
    let state = &mut 11;
    lines.iter().for_each(|line| parts[next(state, 10) as usize].push(line));
    for (number, part) in parts.iter().enumerate() {
        folder.write(&format!("{number}.jsonl"), part.join("\n"));
        folder.run(&["compile", "-o", &format!("part{number}"), &format!("{number}.jsonl")]).says(0, &[]);
    }
    for (name, order) in [("m1", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]), ("m2", [7, 3, 9, 1, 0, 8, 2, 6, 4, 5])] {
        let sets = order.map(|number| format!("part{number}"));
        let mut args = vec!["merge", "-o", name];
        args.extend(sets.iter().map(String::as_str));
        folder.run(&args).says(0, &["sets read  10\n", "origins in them"]);
        assert!(folder.read(name) == folder.read("whole"), "{order:?}");
    }
    // Merged step by step, on one thread, and with the remaining captures.
    folder.run(&["merge", "part0", "part1", "part2", "-o", "few", "--threads", "1"]).says(0, &[]);
    let rest: Vec<String> = (3..10).map(|number| format!("{number}.jsonl")).collect();
    let mut args = vec!["update", "few", "-o", "updated"];
    args.extend(rest.iter().map(String::as_str));
    folder.run(&args).says(0, &["sets read  1\n", "files read"]);
    assert!(folder.read("updated") == folder.read("whole"));
    folder.run(&["verify", "--deep", "updated"]).says(0, &[]);
    // In place.
    args[3] = "few";
    folder.run(&args).says(2, &["few: exists already; --force replaces it"]);
    args.push("--force");
    folder.run(&args).says(0, &[]);
    assert!(folder.read("few") == folder.read("whole"));
    let made = String::from_utf8(folder.read("few.made.json")).unwrap();
    assert!(made.contains("\"path\": \"few\"") && made.contains("\"path\": \"9.jsonl\""), "{made}");
    folder.run(&["diff", "whole", "updated"]).says(0, &[]);
}

#[test]
fn incompatible_sets_are_refused() {
    let folder = Folder::new();
    folder.write("a/a.example", "user-agent: *\ndisallow: /a\n");
    folder.write("b/b.example", "user-agent: *\ndisallow: /b\n");
    folder.write("other/a.example", "user-agent: *\ndisallow: /other\n");
    folder.run(&["compile", "-o", "sa", "a"]).says(0, &[]);
    folder.run(&["compile", "-o", "sb", "b"]).says(0, &[]);
    folder.run(&["compile", "-o", "other-file", "other"]).says(0, &[]);
    folder.run(&["compile", "-o", "dialect", "b", "--dialect", "yandex"]).says(0, &[]);
    folder.run(&["compile", "-o", "profile", "b", "--profile", "nutch"]).says(0, &[]);
    folder.run(&["compile", "-o", "form", "b", "--strategy", "fallback"]).says(0, &[]);
    let mut damaged = folder.read("sb");
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    folder.write("damaged", damaged);
    for (set, message) in [
        ("dialect", "dialect: has the dialect yandex, and the sets before it have google"),
        ("profile", "profile: has the fetch profile nutch, and the sets before it have google"),
        ("form", "form: has the construction of automata"),
        ("other-file", "other-file: has another robots.txt for http"),
        ("damaged", "damaged: not a valid set"),
        ("a", "a: "),
    ] {
        let run = folder.run(&["merge", "sa", set, "-o", "merged"]);
        run.says(2, &[message]);
    }
    folder.run(&["update", "sa", "other", "-o", "merged"]).says(2, &["another robots.txt for http"]);
    folder.run(&["merge", "sa", "sb", "-o", "sa", "--force"]).says(2, &["sa"]);
    assert!(
        folder.names().iter().all(|name| !name.contains("merged") && !name.starts_with('.')),
        "{:?}",
        folder.names()
    );
    // The same file twice is not a conflict.
    folder.run(&["update", "sa", "a", "b", "-o", "merged"]).says(0, &[]);
    folder.run(&["merge", "sb", "sa", "-o", "merged2"]).says(0, &["origins  4\n"]);
    assert!(folder.read("merged") == folder.read("merged2"));
}

/// `update` and `merge` make the same sets as `compile` does from all captures, with any options of the first set.
/// Options that a set does not store are repeated.
#[test]
fn set_options_are_kept() {
    let folder = Folder::new();
    let line = |host: &str, time: u32| {
        format!(
            "{{\"url\":\"http://{host}.example/robots.txt\",\"time\":{time},\"body\":\"user-agent: *\\ndisallow: \
             /{host}{time}*x\\nsitemap: http://s.example/\\n\"}}\n"
        )
    };
    folder.write("old.jsonl", line("a", 1000) + &line("b", 1000));
    folder.write("new.jsonl", line("b", 2000) + &line("c", 2000));
    folder
        .write("all.jsonl", folder.read("old.jsonl").into_iter().chain(folder.read("new.jsonl")).collect::<Vec<u8>>());
    let mut compared = 0;
    for (kept, given_again) in [
        (&[][..], &[][..]),
        (&["--omit", "lines"], &[]),
        (&["--by-time"], &[]),
        (&["--omit", "lines", "--by-time"], &[]),
        (&["--dialect", "yandex"], &[]),
        (&["--dialect", "rfc9309", "--profile", "commoncrawl"], &[]),
        (&["--strategy", "fallback"], &[]),
        (&[], &["--omit", "other"]),
        (&["--omit", "lines", "--by-time", "--dialect", "bing", "--profile", "yandex"], &["--omit", "other"]),
    ] {
        let compile = |set: &str, input: &str| {
            let args = [&["compile", "--force", "-o", set, input][..], kept, given_again].concat();
            folder.run(&args).says(0, &[]);
        };
        compile("whole", "all.jsonl");
        compile("old", "old.jsonl");
        compile("new", "new.jsonl");
        let args = [&["update", "--force", "-o", "updated", "old", "new.jsonl"][..], given_again].concat();
        folder.run(&args).says(0, &[]);
        assert!(folder.read("updated") == folder.read("whole"), "update: {kept:?} {given_again:?}");
        for (first, second) in [("old", "new"), ("new", "old")] {
            folder.run(&["merge", "--force", "-o", "merged", first, second]).says(0, &[]);
            assert!(folder.read("merged") == folder.read("whole"), "merge: {kept:?} {given_again:?}");
        }
        compared += 1;
    }
    assert_eq!(compared, 9);
    // If one of two sets has line numbers, they are kept.
    folder.run(&["compile", "--force", "-o", "old", "old.jsonl", "--omit", "lines"]).says(0, &[]);
    folder.run(&["compile", "--force", "-o", "new", "new.jsonl"]).says(0, &[]);
    let lines = |first: &str, second: &str| {
        folder.run(&["merge", "--force", "-o", "merged", first, second]).says(0, &[]);
        let args = ["classify", "merged", "--agent", "a", "--columns", "verdict,line"];
        folder.run_with(&args, b"http://a.example/a1000x\nhttp://c.example/c2000x\n").says(0, &[]).text()
    };
    assert_eq!(
        (lines("old", "new"), lines("new", "old")),
        ("disallow\t0\ndisallow\t2\n".into(), "disallow\t0\ndisallow\t2\n".into())
    );
}

#[test]
fn differences_between_sets_are_listed() {
    let folder = Folder::new();
    let both = "user-agent: *\ndisallow: /a\n";
    let old = [
        ("same.example", both.to_owned()),
        ("moved.example", "\n\nuser-agent: *\ndisallow: /a\n".into()),
        ("gone.example", both.into()),
        ("rules.example", "user-agent: *\ndisallow: /a\n\nuser-agent: bot\ndisallow: /b\n".into()),
        ("map.example", format!("{both}sitemap: http://map.example/1\n")),
    ];
    let new = [
        ("same.example", both.to_owned()),
        ("moved.example", both.into()),
        ("added.example", both.into()),
        ("rules.example", "user-agent: *\ndisallow: /a\n\nuser-agent: bot\nallow: /b\n".into()),
        ("map.example", format!("{both}sitemap: http://map.example/2\n")),
    ];
    for (name, files) in [("old", &old), ("new", &new)] {
        files.iter().for_each(|(host, body)| folder.write(&format!("{name}/{host}"), body));
        folder.run(&["compile", "--scheme", "http", "-o", &format!("{name}.set"), name]).says(0, &[]);
    }
    let text = folder.run(&["diff", "old.set", "new.set"]).says(1, &[]).text();
    assert_eq!(
        text,
        "@ origins: 1 added, 1 gone, 2 changed, 2 the same\n\
         @ equal for every URL: 3 of 4; 1 not, 0 unproved, 0 with another fetch outcome\n\
         + http://added.example\n- http://gone.example\n\
         ! http://rules.example\topens /b for bot; rules for bot\n= http://map.example\tother directives\n"
    );
    let urls = ["/a", "/b"].iter().flat_map(|path| {
        ["same", "gone", "added", "rules", "unknown"].map(|host| format!("http://{host}.example{path}\n"))
    });
    folder.write("urls", urls.collect::<String>());
    let text = folder.run(&["diff", "old.set", "new.set", "--urls", "urls"]).says(1, &[]).text();
    let flips: Vec<&str> = text.lines().skip(6).collect();
    assert_eq!(
        flips,
        [
            "http://gone.example/a\t*\tdisallow\tline 2: Disallow: /a\tunknown\tno robots.txt is known",
            "http://added.example/a\t*\tunknown\tno robots.txt is known\tdisallow\tline 2: Disallow: /a",
            "http://gone.example/b\t*\tallow\tno rule matches\tunknown\tno robots.txt is known",
            "http://added.example/b\t*\tunknown\tno robots.txt is known\tallow\tno rule matches",
            "http://rules.example/b\tbot\tdisallow\tline 5: Disallow: /b\tallow\tline 5: Allow: /b",
        ]
    );
    let run = folder.run(&["diff", "old.set", "new.set", "--urls", "urls", "--agent", "bot", "--json"]).says(1, &[]);
    let text = run.text();
    for part in [
        r#"{"added":1,"change":"counts","changed":2,"equal":1,"gone":1,"outcome":0,"same":2,"unproved":0,"verdicts":1}"#,
        r#"{"agents":["bot"],"change":"origin","kind":"changed","origin":"http://rules.example","paths":{"agents":["bot"],"#,
        r#""other_directives":true"#,
        r#""old":{"line":5,"reason":"rule","rule":"Disallow: /b","verdict":"disallow"}"#,
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    folder.run(&["diff", "old.set", "old.set", "--urls", "urls"]).says(0, &[]);
    folder.run(&["compile", "-o", "yandex.set", "--dialect", "yandex", "new"]).says(0, &[]);
    folder.run(&["diff", "old.set", "yandex.set"]).says(2, &["yandex.set: has the dialect yandex"]);
    folder.run(&["diff", "old.set", "new/same.example"]).says(2, &["old.set"]);
}

/// If no product tokens are chosen, URLs are decided for a limited number of them.
#[test]
fn urls_are_compared_for_a_limited_number_of_tokens() {
    const MAX_TOKENS: usize = 1024;
    let letter = |digit: usize| char::from(b'a' + (digit % 26) as u8);
    for count in [MAX_TOKENS - 1, MAX_TOKENS, MAX_TOKENS + 1] {
        let folder = Folder::new();
        let name = |n: usize| format!("user-agent: x{}{}{}\n", letter(n / 676), letter(n / 26), letter(n));
        let agents = (0..count).map(name).collect::<String>();
        for (set, rule) in [("old", "disallow"), ("new", "allow")] {
            folder.write(&format!("{set}.txt"), format!("{agents}{rule}: /a\n"));
            folder.run(&["compile", "--host", "h.example", "-o", set, &format!("{set}.txt")]).says(0, &[]);
        }
        folder.write("urls", "http://h.example/a\n");
        let run = folder.run(&["diff", "old", "new", "--urls", "urls"]).says(1, &[]);
        assert_eq!(run.stderr.contains("1 product tokens were not compared"), count > MAX_TOKENS, "{run:?}");
        assert!(run.text().contains("http://h.example/a\txaaa,xaab,"), "{run:?}");
        folder.run(&["diff", "old", "new", "--urls", "urls", "--agent", "xaac"]).says(1, &[]);
    }
}
