//! `reptile diff`: proved changes for every URL. On large and hostile files, work and output stay proportional to the
//! files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;
use reptile::diff::MAX_ROWS;
use reptile::limits::MAX_URL_BYTES;
use support::Folder;

/// Returns a product token of letters only, which Google's library reads in full.
fn name(mut number: usize) -> String {
    let mut name = String::new();
    for _ in 0..4 {
        name.push((b'a' + (number % 26) as u8) as char);
        number /= 26;
    }
    name
}

fn agents(count: usize) -> String {
    (0..count).map(|at| format!("user-agent: {}\n", name(at))).collect()
}

fn rules(count: usize, start: &str) -> String {
    (0..count).map(|at| format!("disallow: /{start}{at}\n")).collect()
}

#[test]
fn product_tokens_with_the_same_rules_are_listed_together() {
    let folder = Folder::new();
    folder.write("old", agents(2000) + &rules(2000, "a"));
    folder.write("new", agents(2000) + &rules(2000, "b"));
    let text = folder.run(&["diff", "old", "new"]).says(1, &[]).text();
    assert_eq!(text.lines().filter(|line| line.starts_with('@')).count(), 1);
    let lines: Vec<&str> = text.lines().skip_while(|line| !line.starts_with('@')).collect();
    assert_eq!(lines.len(), 4001);
    assert_eq!(lines[0].split(", ").count(), 2000);
    // The answers come first.
    let first: Vec<&str> = text.lines().take(5).collect();
    assert!(first[0].starts_with("! aaaa, aaba, ") && first[0].ends_with(" ... and 1984 more"), "{first:?}");
    assert_eq!(first[1], "  opens /a0");
    assert_eq!(first[2], "    was disallow (line 2001: Disallow: /a0); is allow (no rule matches)");
    assert_eq!(first[3], "  closes /b0");
}

/// Each product token has its own group in addition to a large common one. Listed in full, the output would have a
/// million rules for each thousand product tokens.
#[test]
fn the_output_is_proportional_to_the_files() {
    let folder = Folder::new();
    for count in [1000, 2000] {
        let file = |start: &str| {
            let own: String = (0..count).map(|at| format!("user-agent: {}\nallow: /{at}\n", name(at))).collect();
            agents(count) + &rules(count, start) + &own
        };
        folder.write("old", file("a"));
        folder.write("new", file("b"));
        let run = folder.run(&["diff", "old", "new"]).says(1, &[]);
        let text = run.text();
        assert!(text.len() < 100 * file("a").len(), "{} bytes for {count}", text.len());
        // Each name is either compared, or listed as not compared.
        let not_compared =
            text.lines().find_map(|line| line.strip_prefix("? not compared, since they share too many rules: "));
        let not_compared = not_compared.map_or(0, |names| names.split(", ").count());
        let compared: usize =
            text.lines().filter(|line| line.starts_with('@')).map(|line| line.split(", ").count()).sum();
        assert!(not_compared > 0 && compared > 0, "{compared} {not_compared}");
        assert_eq!(compared + not_compared, count);
    }
    // Equal files need no comparison.
    folder.write("new", folder.read("old"));
    assert_eq!(folder.run(&["diff", "old", "new"]).says(0, &[]).text(), "");
}

#[test]
fn urls_are_decided_once_for_crawlers_with_the_same_groups() {
    let folder = Folder::new();
    folder.write("old", agents(20) + "disallow: /a\n\nuser-agent: *\ndisallow: /b\n");
    folder.write("new", agents(19) + "disallow: /c\n\nuser-agent: *\ndisallow: /b\n");
    let run = folder.run_with(&["diff", "old", "new", "--urls", "-"], b"/a\n\n/b\r\n/d");
    let text = run.says(1, &[]).text();
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('/')).collect();
    let first: Vec<String> = (0..16).map(name).collect();
    let row = format!("/a\t{} ... and 3 more\tdisallow\t21\tallow\t0", first.join(","));
    assert_eq!(rows, [row.as_str(), "/a\ttaaa\tdisallow\t21\tallow\t0", "/b\ttaaa\tallow\t0\tdisallow\t23"]);
}

#[test]
fn urls_are_decided_for_a_limited_number_of_groups() {
    let folder = Folder::new();
    // The limit includes the default group.
    for (count, fits) in [(1022, true), (1023, true), (1024, false)] {
        let file: String = (0..count).map(|at| format!("user-agent: {}\nallow: /{at}\n", name(at))).collect();
        folder.write("old", &file);
        folder.write("new", file + "user-agent: *\ndisallow: /\n");
        let run = folder.run_with(&["diff", "old", "new", "--urls", "-"], b"/a\n");
        let words: &[&str] = if fits { &[] } else { &["1,025 crawlers with different groups", "--agent"] };
        let run = run.says(if fits { 1 } else { 2 }, words);
        assert_eq!(run.text().contains("/a\t*\tallow\t0\tdisallow\t"), fits, "{count}");
    }
    let run = folder.run_with(&["diff", "old", "new", "--urls", "-", "--agent", "zzz"], b"/a\n");
    assert!(run.says(1, &[]).text().ends_with("/a\tzzz\tallow\t0\tdisallow\t2050\n"));
}

#[test]
fn lines_too_long_for_a_url_are_counted() {
    let folder = Folder::new();
    folder.write("old", "user-agent: *\ndisallow: /a\n");
    folder.write("new", "user-agent: *\n");
    let urls = format!("/a\n/a{}\n/a\n", "x".repeat(6 << 20));
    let run =
        folder.run_with(&["diff", "old", "new", "--urls", "-"], urls.as_bytes()).says(1, &["1 lines are too long"]);
    assert!(run.text().ends_with("/a\t*\tdisallow\t2\tallow\t0\n/a\t*\tdisallow\t2\tallow\t0\n"));
}

const OLD: &str = "Sitemap: /old\nSitemap: /both\nUser-agent: a\nCrawl-delay: 1\nDisallow: /x\n\n\
                   User-agent: b\nContent-Signal: search=yes\nDisallow:\n";
const NEW: &str = "User-agent: a\nCrawl-delay: 2\nDisallow: /x\n\n\
                   User-agent: b\nContent-Signal: search=yes\nX-Odd: 1\nAllow: /\nSitemap: /both\nSitemap: /new\n";

#[test]
fn other_directives_are_compared() {
    let folder = Folder::new();
    folder.write("old", OLD);
    folder.write("new", NEW);
    let expected = "= all crawlers: equal for every URL\n\
                    @ all crawlers\n- 1: Sitemap: /old\n+ 10: Sitemap: /new\n\
                    @ a\n- 4: Crawl-delay: 1\n+ 2: Crawl-delay: 2\n\
                    @ b\n- 9: Disallow:\n+ 7: X-Odd: 1\n+ 8: Allow: /\n";
    assert_eq!(folder.run(&["diff", "old", "new"]).says(1, &[]).text(), expected);
    // Only line numbers differ, not content.
    folder.write("new", format!("# moved\n{OLD}"));
    assert_eq!(folder.run(&["diff", "old", "new"]).says(0, &[]).text(), "");
}

#[test]
fn changes_are_printed_as_json() {
    let folder = Folder::new();
    folder.write("old", OLD);
    folder.write("new", NEW.replace("User-agent: a\n", "User-agent: Googlebot\n"));
    let run = folder.run_with(&["diff", "old", "new", "--json", "--dialect", "google", "--urls", "-"], b"/x\n/y\n");
    let text = run.says(1, &[]).text();
    let objects: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let lines = |line: u32, key: &str, value: &str| serde_json::json!({"line": line, "key": key, "value": value});
    assert_eq!(objects[0]["agents"], serde_json::json!(["a"]));
    let opens = serde_json::json!({
        "path": "/x", "old": {"verdict": "disallow", "reason": "rule", "rule": "Disallow: /x", "line": 5},
        "new": {"verdict": "allow", "reason": "no rule matches"},
    });
    assert_eq!((&objects[0]["opens"], &objects[0]["closes"]), (&opens, &serde_json::Value::Null));
    assert_eq!(objects[1]["agents"][0], "googlebot");
    assert_eq!(objects[2], serde_json::json!({"change": "paths", "agents": ["*", "b"], "equal": true}));
    let objects: Vec<serde_json::Value> = objects.into_iter().filter(|object| object["change"] != "paths").collect();
    assert_eq!(
        objects[0],
        serde_json::json!({
            "change": "lines", "agents": null, "group": "kept", "moved": [],
            "removed": [lines(1, "Sitemap", "/old")], "added": [lines(10, "Sitemap", "/new")],
        })
    );
    assert_eq!(
        objects[1],
        serde_json::json!({
            "change": "lines", "agents": ["a"], "group": "removed", "moved": [], "added": [],
            "removed": [lines(4, "Crawl-delay", "1"), lines(5, "Disallow", "/x")],
        })
    );
    let find = |change: &str| objects.iter().filter(|object| object["change"] == change).collect::<Vec<_>>();
    let crawler = serde_json::json!({"change": "crawler", "agent": "Googlebot-Image", "old": null, "new": "Googlebot"});
    assert!(find("crawler").contains(&&crawler), "{text}");
    let side = |verdict: &str, line: u32| serde_json::json!({"verdict": verdict, "line": line});
    let verdict = |agents: &str, old, new| serde_json::json!({"change": "verdict", "url": "/x", "agents": [agents], "old": old, "new": new});
    let flips = [
        &verdict("a", side("disallow", 5), side("allow", 0)),
        &verdict("googlebot", side("allow", 0), side("disallow", 3)),
    ];
    assert_eq!(find("verdict"), flips);
    // Where the first matching rule decides, rule order is part of the meaning.
    folder.write("old", "user-agent: a\ndisallow: /x\nallow: /\n");
    folder.write("new", "user-agent: a\nallow: /\ndisallow: /x\n");
    let text = folder.run(&["diff", "old", "new", "--json", "--dialect", "koster-1996"]).says(1, &[]).text();
    let object: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(object["moved"], serde_json::json!([{"old_line": 2, "line": 3, "key": "Disallow", "value": "/x"}]));
}

#[test]
fn urls_longer_than_the_limit_are_skipped() {
    let folder = Folder::new();
    folder.write("old", "user-agent: *\ndisallow: /y\n");
    folder.write("new", "user-agent: *\ndisallow: /z\n");
    for len in [MAX_URL_BYTES - 1, MAX_URL_BYTES, MAX_URL_BYTES + 1] {
        let is_too_long = len > MAX_URL_BYTES;
        folder.write("urls", format!("/{}\n/z\n", "y".repeat(len - 1)));
        let run = folder.run(&["diff", "old", "new", "--urls", "urls"]);
        assert_eq!(run.code, Some(1));
        assert_eq!(run.stderr.contains("urls: 1 lines are too long for a URL"), is_too_long, "{len}");
        let flips = run.text().lines().filter(|line| line.starts_with('/')).count();
        assert_eq!(flips, if is_too_long { 1 } else { 2 }, "{len}");
    }
}

/// Old and new rules as a site owner edits them, and the expected answer lines.
const EDITS: &[(&str, &str, &str, &[&str])] = &[
    (
        "a slash is added",
        "User-agent: *\nDisallow: /private\n",
        "User-agent: *\nDisallow: /private/\n",
        &["! *", "  opens /private", "  closes nothing"],
    ),
    (
        "the end anchor is lost",
        "User-agent: *\nDisallow: /*.pdf$\n",
        "User-agent: *\nDisallow: /*.pdf\n",
        &["! *", "  opens nothing", "  closes /.pdfa"],
    ),
    (
        "a blank line and a second group split a group",
        "User-agent: *\nDisallow: /cart\nDisallow: /login\n",
        "User-agent: *\nDisallow: /cart\n\nUser-agent: bot\nDisallow: /login\n",
        &["! *", "  opens /login", "  closes nothing", "! bot", "  opens /cart", "  closes nothing"],
    ),
    (
        "a group for one crawler",
        "User-agent: *\nDisallow: /cart\n",
        "User-agent: *\nDisallow: /cart\n\nUser-agent: GPTBot\nDisallow: /images\n",
        &["! gptbot", "  opens /cart", "  closes /images", "= *: equal for every URL"],
    ),
    (
        "an Allow that was redundant is removed",
        "User-agent: *\nAllow: /\nDisallow: /admin\n",
        "User-agent: *\nDisallow: /admin\n",
        &["= all crawlers: equal for every URL"],
    ),
    (
        "an exception moves to another group",
        "User-agent: *\nDisallow: /a/\nAllow: /a/ok\n\nUser-agent: bot\nDisallow: /a/\n",
        "User-agent: *\nDisallow: /a/\n\nUser-agent: bot\nDisallow: /a/\nAllow: /a/ok\n",
        &["! *", "  opens nothing", "  closes /a/ok", "! bot", "  opens /a/ok", "  closes nothing"],
    ),
    (
        "a duplicate and a hidden rule are removed",
        "User-agent: *\nDisallow: /tmp\nDisallow: /tmp/cache\nDisallow: /tmp*\n",
        "User-agent: *\nDisallow: /tmp\n",
        &["= all crawlers: equal for every URL"],
    ),
    (
        "every URL with a query becomes those with one parameter",
        "User-agent: *\nDisallow: /*?\n",
        "User-agent: *\nDisallow: /*?sort=\n",
        &["! *", "  opens /?", "  closes nothing"],
    ),
    (
        "the letter case changes",
        "User-agent: *\nDisallow: /Admin\n",
        "User-agent: *\nDisallow: /admin\n",
        &["! *", "  opens /Admin", "  closes /admin"],
    ),
    (
        "a rule is commented out",
        "User-agent: *\nDisallow: /\nAllow: /$\n",
        "User-agent: *\n# Disallow: /\nAllow: /$\n",
        &["! *", "  opens /a", "  closes nothing"],
    ),
    (
        "letters are escaped",
        "User-agent: *\nDisallow: /ö\nDisallow: /~a\n",
        "User-agent: *\nDisallow: /%C3%B6\nDisallow: /%7ea\n",
        &["! *", "  opens /~a", "  closes /%7Ea"],
    ),
];

/// Returns the answer lines, without the deciding rules.
fn answers(text: &str) -> Vec<&str> {
    let is_answer =
        |line: &&str| line.starts_with(['!', '?', '=']) || line.starts_with("  ") && !line.starts_with("    ");
    text.lines().filter(is_answer).collect()
}

#[test]
fn edits_are_answered_for_every_url() {
    let folder = Folder::new();
    for (name, old, new, expected) in EDITS {
        folder.write("old", old);
        folder.write("new", new);
        let text = folder.run(&["diff", "old", "new"]).says(1, &[]).text();
        assert_eq!(&answers(&text), expected, "{name}: {text}");
        // Only changed verdicts count with --verdicts.
        let is_equal = expected.iter().all(|line| line.starts_with('='));
        let text = folder.run(&["diff", "old", "new", "--verdicts"]).says(i32::from(!is_equal), &[]).text();
        assert_eq!(&answers(&text), expected, "{name}: {text}");
        // The reverse comparison opens the paths that this one closes.
        let text = folder.run(&["diff", "new", "old", "--verdicts"]).says(i32::from(!is_equal), &[]).text();
        let turn = |line: &str| match line.starts_with("  opens") {
            true => line.replace("opens", "closes"),
            false => line.replace("closes", "opens"),
        };
        let mut there: Vec<String> = expected.iter().map(|line| turn(line)).collect();
        let mut back: Vec<String> = answers(&text).into_iter().map(str::to_owned).collect();
        there.sort();
        back.sort();
        assert_eq!(there, back, "{name}");
        // `--urls` confirms the examples.
        let paths: Vec<&str> = expected.iter().filter_map(|line| line.strip_prefix("  ")?.split(' ').nth(1)).collect();
        let paths: Vec<&str> = paths.into_iter().filter(|path| path.starts_with('/')).collect();
        if !paths.is_empty() {
            folder.write("urls", paths.join("\n"));
            let text = folder.run(&["diff", "old", "new", "--urls", "urls"]).says(1, &[]).text();
            assert!(text.lines().filter(|line| line.starts_with('/')).count() >= paths.len(), "{name}: {text}");
        }
    }
}

#[test]
fn an_assumption_restricts_the_answers() {
    let folder = Folder::new();
    folder.write("old", "User-agent: *\nDisallow: /shop/a\nDisallow: /x\n");
    folder.write("new", "User-agent: *\nDisallow: /shop\n");
    for (only, code, expected) in [
        (&["/shop/*"][..], 1, &["! *", "  opens nothing", "  closes /shop/"][..]),
        (&["/shop/a*"], 0, &["= all crawlers: equal for every URL that matches /shop/a*"]),
        (&["/shop/a*", "/x$"], 1, &["! *", "  opens /x", "  closes nothing"]),
        (&["/blog", "/*.html$"], 1, &["! *", "  opens /x.html", "  closes /shop.html"]),
    ] {
        let mut args = vec!["diff", "old", "new", "--verdicts"];
        only.iter().for_each(|pattern| args.extend(["--only", pattern]));
        assert_eq!(answers(&folder.run(&args).says(code, &[]).text()), expected, "{only:?}");
        args.push("--json");
        let text = folder.run(&args).says(code, &[]).text();
        assert!(text.contains(&format!("\"only\":{}", serde_json::json!(only))), "{text}");
    }
    folder.run(&["diff", "old", "new", "--only", "shop"]).says(2, &["--only: \"shop\" matches no path"]);
    folder.run(&["diff", "old", "old", "--only", "shop"]).says(2, &["expected a pattern that begins with / or *"]);
}

#[test]
fn the_shapes_of_a_list_restrict_the_answers() {
    let folder = Folder::new();
    folder.write("old", "User-agent: *\nDisallow: /shop/a\nDisallow: /x\n");
    folder.write("new", "User-agent: *\nDisallow: /shop\n");
    let sitemap = |paths: &[&str]| -> String {
        let urls = paths.iter().map(|path| format!("<url><loc>https://h.example{path}</loc></url>"));
        format!("<urlset>{}</urlset>", urls.collect::<String>())
    };
    for (paths, code, expected) in [
        (&["/shop/a", "/blog"][..], 0, &["= all crawlers: equal for every URL like those in map (2 patterns)"][..]),
        (&["/shop/b?c=1", "/blog"], 1, &["! *", "  opens nothing", "  closes /shop/b?c="]),
    ] {
        for text in [sitemap(paths), paths.join("\n")] {
            folder.write("map", &text);
            let args = ["diff", "old", "new", "--verdicts", "--shapes", "map"];
            assert_eq!(answers(&folder.run(&args).says(code, &[]).text()), expected, "{text}");
        }
    }
    let index = "<sitemapindex><sitemap><loc>https://a.example/1.xml</loc></sitemap></sitemapindex>";
    for (text, message) in [
        ("# nothing\n", "map: contains no URL"),
        (index, "map: line 1: is an index of sitemaps, not a sitemap"),
        ("<!doctype html><p>Not found", "map: is a web page (HTML), not a sitemap"),
    ] {
        folder.write("map", text);
        folder.run(&["diff", "old", "old", "--shapes", "map"]).says(2, &[message]);
    }
    folder.run(&["diff", "old", "new", "--shapes", "none"]).says(2, &["none"]);
    folder.run(&["diff", "old", "new", "--shapes", "map", "--only", "/"]).says(2, &["cannot be used with"]);
}

#[test]
fn two_dialects_read_one_file() {
    let folder = Folder::new();
    folder.write("same", "User-agent: *\nDisallow: /a\n");
    folder.write("file", "User-agent: *\nAllow: /\nDisallow: /a$\n\nUser-agent: bot\nDisallow: /b\n");
    let run = |args: &[&str]| folder.run(&[&["diff", "--dialects"], args].concat());
    assert_eq!(run(&["google,yandex", "same"]).says(0, &[]).text(), "= all crawlers: equal for every URL\n");
    let text = run(&["koster-1996,google", "file"]).says(1, &[]).text();
    // The first matching rule decides by the draft from 1996, which has no wildcards.
    let expected = "! *\n  only google allows nothing\n  only koster-1996 allows /a\n    \
                    koster-1996: allow (line 2: Allow: /); google: disallow (line 3: Disallow: /a$)\n";
    assert!(text.starts_with(expected), "{text}");
    let text = run(&["google,koster-1996", "file", "--json", "--agent", "x"]).says(1, &[]).text();
    let object: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(object["dialects"], serde_json::json!(["google", "koster-1996"]));
    assert_eq!((&object["first_only"], &object["second_only"]["path"]), (&serde_json::Value::Null, &"/a".into()));
    assert_eq!(object["second_only"]["first"]["line"], 3);
    run(&["google", "same"]).says(2, &["expected two dialects with a comma between them, found 1"]);
    run(&["google,yandex", "missing"]).says(2, &["missing"]);
    run(&["google,nobody", "same"]).says(2, &["nobody"]);
    run(&["google,yandex", "same", "file"]).says(2, &["cannot be used with"]);
}

#[test]
fn crawlers_with_several_product_tokens_are_compared() {
    let folder = Folder::new();
    folder.write("old", "User-agent: Googlebot\nDisallow: /a\n");
    folder.write("new", "User-agent: Googlebot\nDisallow: /a\n\nUser-agent: Googlebot-Image\nDisallow: /b\n");
    let text = folder.run(&["diff", "old", "new", "--verdicts"]).says(1, &[]).text();
    // Googlebot-Image obeyed the group for Googlebot.
    let expected = ["! googlebot-image", "  opens /a", "  closes /b"];
    assert_eq!(&answers(&text)[..3], expected, "{text}");
    let text = folder.run(&["diff", "old", "new", "--verdicts", "--agent", "Googlebot-Video"]).says(0, &[]).text();
    assert_eq!(text, "= all crawlers: equal for every URL\n");
    // The same bytes need no proof.
    let same = "{\"agents\":null,\"change\":\"paths\",\"equal\":true}\n";
    assert_eq!(folder.run(&["diff", "old", "old", "--verdicts", "--json"]).says(0, &[]).text(), same);
    assert_eq!(folder.run(&["diff", "old", "old"]).says(0, &[]).text(), "");
}

/// Crawlers with different groups are compared up to a limit, and the others are unproved.
#[test]
fn rows_stop_at_the_limit() {
    let folder = Folder::new();
    for rows in [MAX_ROWS - 1, MAX_ROWS, MAX_ROWS + 1] {
        // The row for `*` counts.
        let file = |start: &str| -> String {
            (1..rows).map(|at| format!("user-agent: {}\nallow: /{start}{at}\n", name(at))).collect()
        };
        folder.write("old", file("a") + "user-agent: *\ndisallow: /\n");
        folder.write("new", file("b") + "user-agent: *\ndisallow: /\n");
        let text = folder.run(&["diff", "old", "new", "--verdicts"]).says(i32::from(rows > MAX_ROWS), &[]).text();
        assert_eq!(text.contains("? "), rows > MAX_ROWS, "{rows}: {text}");
        assert!(rows > MAX_ROWS || text == "= all crawlers: equal for every URL\n", "{text}");
    }
}

#[test]
fn large_files_are_not_proved() {
    const MAX_PROVED_BYTES: usize = 8 << 20;
    let folder = Folder::new();
    let file = |rule: &str, len: usize| {
        let rules = format!("user-agent: *\ndisallow: {rule}\n#");
        let padding = "x".repeat(len - rules.len());
        rules + &padding
    };
    for total in [MAX_PROVED_BYTES - 1, MAX_PROVED_BYTES, MAX_PROVED_BYTES + 1] {
        folder.write("old", file("/a", MAX_PROVED_BYTES / 2));
        folder.write("new", file("/b", total - MAX_PROVED_BYTES / 2));
        let run = folder.run(&["diff", "old", "new", "--verdicts"]).says(1, &[]);
        let expected: &[&str] = if total > MAX_PROVED_BYTES {
            &["? all crawlers: unproved"]
        } else {
            &["! *", "  opens /a", "  closes /b"]
        };
        assert_eq!(answers(&run.text()), expected, "{total}");
        assert_eq!(run.stderr.contains("nothing is proved, because"), total > MAX_PROVED_BYTES, "{total}");
    }
    // Both readings of one file count.
    for (len, code) in [(MAX_PROVED_BYTES / 2, 0), (MAX_PROVED_BYTES / 2 + 1, 1)] {
        folder.write("file", file("/a", len));
        folder.run(&["diff", "--dialects", "google,google-lib", "file"]).says(code, &[]);
    }
}

/// Each path that a comparison of dialects prints, given to `test`, has the stated verdicts.
#[test]
fn printed_examples_can_be_tested() {
    let bodies: [&[u8]; 9] = [
        b"user-agent: *\ndisallow: /a\xff\n",
        b"user-agent: *\ndisallow: /caf\xc3\xa9\n",
        b"user-agent: *\ndisallow: /%ff\nallow: /%FF/b\n",
        b"user-agent: *\ndisallow: /a b\n",
        b"user-agent: *\ndisallow: /a\tb*\xe9$\n",
        b"user-agent: *\ndisallow: /\xe2\x80\xae\n",
        b"user-agent: *\ndisallow: /'\\\xf0\n",
        b"user-agent: *\ndisallow: *\x80\nallow: /\xc2*\x80\n",
        b"user-agent: *\ndisallow: /%41\nallow: /a%\n",
    ];
    let dialects =
        ["google-lib", "google", "rfc9309", "rfc9309-strict", "yandex", "yandex-2017", "bing", "koster-1994"];
    let folder = Folder::new();
    let (mut examples, mut raw) = (0, 0);
    for body in bodies {
        folder.write("r.txt", body);
        for (at, first) in dialects.iter().enumerate() {
            for second in &dialects[at + 1..] {
                let pair = format!("{first},{second}");
                let run = folder.run(&["diff", "--dialects", &pair, "r.txt"]);
                for line in String::from_utf8_lossy(&run.stdout).lines().filter_map(|line| line.strip_prefix("  only "))
                {
                    let Some((allowing, path)) = line.split_once(" allows ") else { continue };
                    if !path.starts_with(['/', '$']) {
                        continue;
                    }
                    examples += 1;
                    raw += usize::from(path.starts_with('$'));
                    let quoted = if path.starts_with('$') {
                        path.to_owned()
                    } else {
                        format!("'{}'", path.replace('\'', r"'\''"))
                    };
                    for dialect in [first, second] {
                        let expected = if *dialect == allowing { "allow" } else { "disallow" };
                        // Bash reads `$'...'`, as the user's shell does.
                        let by_list = format!(
                            "printf 'http://a.example%s\\n' {quoted} | \"$R\" classify r.txt --host a.example \
                             --input-format list --agent exact:x --dialect {dialect} --columns verdict"
                        );
                        // Typed letters outside ASCII and spaces are sent as a browser escapes them.
                        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/%~?*-._".contains(&byte);
                        let is_letter = path.contains(r"\xe2\x80\xae");
                        let is_sent_as_typed = path.starts_with('$') && !is_letter || path.bytes().all(is_plain);
                        let by_test = format!("\"$R\" test r.txt {quoted} --agent exact:x --dialect {dialect} --brief");
                        for command in [Some(by_list), is_sent_as_typed.then_some(by_test)].into_iter().flatten() {
                            let mut bash = std::process::Command::new("bash");
                            bash.args(["-c", &command])
                                .env("R", crate::support::binary())
                                .current_dir(folder.path("."));
                            let run = bash.output().unwrap();
                            let found = String::from_utf8_lossy(&run.stdout).into_owned();
                            assert!(found.starts_with(expected), "{pair} {path} {dialect}: {run:?}");
                        }
                    }
                }
            }
        }
    }
    assert!(examples > 50 && raw > 0, "{examples} {raw}");
}
