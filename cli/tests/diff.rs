//! `reptile diff` on large and hostile files: work and output stay proportional to the files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;
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
    assert_eq!(text.lines().count(), 4001);
    assert_eq!(text.split(", ").count(), 2000);
}

/// Each product token has its own group in addition to a large common one. Listed in full, the output would have a
/// million rules for each thousand product tokens.
#[test]
fn the_output_is_proportional_to_the_files() {
    let folder = Folder::new();
    for count in [1000, 2000, 4000] {
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
    let expected = "@ all crawlers\n- 1: Sitemap: /old\n+ 10: Sitemap: /new\n\
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
    let object: serde_json::Value = serde_json::from_str(&text).unwrap();
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
