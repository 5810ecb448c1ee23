//! `reptile inspect`: listings proportional to the file, automata that are too large to print, freshness, and JSON.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;
use serde_json::{Value, json};
use support::Folder;

#[test]
fn the_listing_is_proportional_to_the_file() {
    let folder = Folder::new();
    for count in [1000, 2000, 4000] {
        let name =
            |at: usize| format!("{at:05}").bytes().map(|digit| (digit + b'a' - b'0') as char).collect::<String>();
        let agents: String = (0..count).map(|at| format!("user-agent: {}\n", name(at))).collect();
        let rules: String = (0..count).map(|at| format!("disallow: /{at}\n")).collect();
        // Each product token has its own group in addition to the common one.
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
        (0..300_000_u32).map(|at| format!("disallow: /{:08x}\n", at.wrapping_mul(0x9E37_79B9))).collect();
    folder.write("robots.txt", format!("user-agent: *\n{rules}"));
    for form in ["--automaton", "--automaton=dot"] {
        // The default dialect reads only the first 500 KiB.
        let args = ["inspect", "robots.txt", "h", "--host", "h", form, "--dialect", "google-lib"];
        folder.run(&args).says(2, &["at most 4,194,304 can be printed"]);
    }
    folder.write("robots.txt", "user-agent: *\ndisallow: /a\n");
    let text = folder.run(&["inspect", "robots.txt", "h", "--host", "h", "--automaton"]).says(0, &[]).text();
    assert!(text.contains("1 rules") && text.contains("prefix trie:"), "{text}");
}

#[test]
fn origins_are_listed_with_their_freshness() {
    let folder = Folder::new();
    let captures = [
        r#"{"url": "https://a.example/robots.txt", "status": 200, "body": "user-agent: *\\ndisallow: /\\n", "time": "2026-02-01T00:00:00Z"}"#,
        r#"{"url": "https://b.example/robots.txt", "status": 404, "time": "2026-02-02T00:00:00Z"}"#,
        r#"{"url": "https://c.example/robots.txt", "status": 503, "time": "2026-02-03T00:00:00Z"}"#,
    ];
    folder.write("c.jsonl", captures.join("\n"));
    folder.run(&["compile", "-o", "set", "c.jsonl", "--profile", "rfc9309"]).says(0, &[]);
    let text = folder.run(&["inspect", "set", "--origins"]).says(0, &[]).text();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0], "https://a.example:443\trules\t2026-02-01T00:00:00Z\t2026-02-02T00:00:00Z\t-");
    assert!(lines[1].starts_with("https://b.example:443\tallow all: 404\t2026-02-02T00:00:00Z\t"), "{text}");
    assert!(lines[2].starts_with("https://c.example:443\tdisallow all: 503\t2026-02-03T00:00:00Z\t"), "{text}");
    assert!(lines[2].ends_with("\t2026-03-05T00:00:00Z"), "{text}");
    let json = folder.run(&["inspect", "set", "--origins", "--json"]).says(0, &[]).text();
    let objects: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let first = objects.iter().find(|object| object["origin"] == "https://a.example:443").unwrap();
    let expected = json!({
        "origin": "https://a.example:443", "source": "rules", "fetched": "2026-02-01T00:00:00Z",
        "fresh_until": "2026-02-02T00:00:00Z", "holds_until": null,
    });
    assert_eq!(*first, expected);
    // A file without a time has no dates.
    let set = Folder::with_set();
    let text = set.run(&["inspect", "set", "--origins"]).says(0, &[]).text();
    assert_eq!(text.lines().filter(|line| line.ends_with("\trules\t-\t-\t-")).count(), 6, "{text}");
    set.run(&["inspect", "set", "--origins", "a.example"]).says(2, &["--origins"]);
}

#[test]
fn sets_and_hosts_are_printed_as_json() {
    let folder = Folder::with_set();
    let text = folder.run(&["inspect", "set", "--json"]).says(0, &[]).text();
    let object: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(text.lines().count(), 1);
    assert_eq!((&object["origins"], &object["as_of"]), (&json!(6), &Value::Null));
    assert_eq!(object["bytes"], folder.read("set").len());
    assert_eq!(object["dialect"], object["made"]["set"]["dialect"]);
    assert_eq!(object["profile"], object["made"]["set"]["profile"]);
    assert_eq!(object["made"]["inputs"][0]["path"], "robots");
    assert!(object["largest_rulesets"].as_array().unwrap().iter().any(|ruleset| ruleset["rules"] == 2), "{object}");
    let text = folder.run(&["inspect", "set", "http://a.example", "--json"]).says(0, &[]).text();
    let objects: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut agents: Vec<&Value> = objects.iter().map(|object| &object["agents"]).collect();
    agents.sort_by_key(|agents| agents.to_string());
    assert_eq!(agents, [&json!(["*"]), &json!(["bot-a"])]);
    let named = objects.iter().find(|object| object["agents"][0] == "bot-a").unwrap();
    assert_eq!((&named["origins"], &named["source"]), (&json!(["http://a.example:80"]), &json!("rules")));
    let rule = |line: u32, rule: &str, pattern: &str| json!({"line": line, "rule": rule, "pattern": pattern});
    assert_eq!(named["rules"], json!([rule(2, "Disallow", "/private"), rule(3, "Allow", "/private/open")]));
    folder.run(&["inspect", "set", "nobody.example", "--json"]).says(1, &["no robots.txt is known"]);
}

#[test]
fn agent_selects_the_groups_of_one_crawler() {
    let folder = Folder::with_set();
    let groups = |agent: &str, host: &str| {
        let text = folder.run(&["inspect", "set", &format!("http://{host}"), "--agent", agent]).says(0, &[]).text();
        text.lines().filter_map(|line| line.strip_prefix("  group: ")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(groups("bot-a", "a.example"), ["bot-a"]);
    assert_eq!(groups("bot-b", "a.example"), ["*"]);
    assert_eq!(groups("bot-a", "c.example:8080"), [""; 0]);
    let text = folder.run(&["inspect", "set", "c.example:8080", "--agent", "bot-a"]).says(0, &[]).text();
    assert!(text.contains("  no group applies to this crawler: everything is allowed\n"), "{text}");
    folder.run(&["inspect", "set", "--agent", "bot-a"]).says(2, &["HOST"]);
}
