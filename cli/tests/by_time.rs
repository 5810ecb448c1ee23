//! Sets by time: compiling, inspecting, merging and updating them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io::{BufWriter, Write};

use reptile_corpora::Web;
use reptile_corpora::urls::Spread;
use serde_json::{Value, json};
use support::Folder;

/// A site whose file changes and then becomes unreachable, and one whose file has no time and then disappears.
const CAPTURES: [&str; 5] = [
    r#"{"url": "https://a.example/robots.txt", "body": "user-agent: *\ndisallow: /old\n", "time": "2026-01-01T00:00:00Z"}"#,
    r#"{"url": "https://a.example/robots.txt", "body": "user-agent: *\ndisallow: /new\n", "time": "2026-02-01T00:00:00Z"}"#,
    r#"{"url": "https://a.example/robots.txt", "status": 503, "time": "2026-03-01T00:00:00Z"}"#,
    r#"{"url": "https://b.example/robots.txt", "body": "user-agent: *\ndisallow: /b\n"}"#,
    r#"{"url": "https://b.example/robots.txt", "status": 404, "time": "2026-02-01T00:00:00Z"}"#,
];

const COMPILE: [&str; 5] = ["compile", "--force", "--profile", "rfc9309", "-o"];

fn compile(folder: &Folder, set: &str, options: &[&str], captures: &[&str]) -> support::Run {
    folder.write("c.jsonl", captures.join("\n"));
    folder.run(&[&COMPILE[..], &[set, "c.jsonl"], options].concat()).says(0, &[])
}

fn folder_with(options: &[&str]) -> Folder {
    let folder = Folder::new();
    compile(&folder, "set", options, &CAPTURES);
    folder
}

/// Removes policy numbers, which depend on all other policies.
fn without_policies(text: &str) -> Vec<&str> {
    text.lines().map(|line| line.split_once(", policy").map_or(line, |(line, _)| line)).collect()
}

#[test]
fn inspect_shows_when_each_policy_applied() {
    let folder = Folder::new();
    let run = compile(&folder, "set", &["--by-time"], &CAPTURES);
    run.says(0, &["captures by time  5\n", "spans of time  6\n"]);
    folder.run(&["inspect", "set"]).says(0, &[]);
    assert!(folder.run(&["inspect", "set"]).text().contains("spans of time"));

    let text = folder.run(&["inspect", "set", "a.example"]).says(0, &[]).text();
    let lines = without_policies(&text);
    let spans = [
        "https://a.example:443",
        "  from 2026-01-01T00:00:00Z until 2026-01-31T23:59:59Z: rules",
        "  from 2026-02-01T00:00:00Z until 2026-02-28T23:59:59Z: rules",
        "  from 2026-03-01T00:00:00Z until 2026-03-31T00:00:00Z: last good copy: 503",
        "  from 2026-03-31T00:00:01Z: allow all: unreachable for more than 30 days",
    ];
    assert_eq!(lines[..5], spans);
    // The policies follow, each once, with their rules.
    for rule in ["    line 2  Disallow: /old", "    line 2  Disallow: /new"] {
        assert!(lines.contains(&rule), "{text}");
    }
    assert_eq!(lines.iter().filter(|line| line.starts_with("  policy ")).count(), 4, "{text}");

    let text = folder.run(&["inspect", "set", "b.example"]).says(0, &[]).text();
    let spans =
        ["https://b.example:443", "  until 2026-01-31T23:59:59Z: rules", "  from 2026-02-01T00:00:00Z: allow all: 404"];
    assert_eq!(without_policies(&text)[..3], spans);

    let json = folder.run(&["inspect", "set", "b.example", "--json"]).says(0, &[]).text();
    let objects: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let policy = &objects[0]["policy"];
    let first = json!({
        "origin": "https://b.example:443", "from": null, "until": "2026-01-31T23:59:59Z", "source": "rules", "policy": policy,
    });
    assert_eq!((objects.len(), &objects[0]), (4, &first));
    let group = objects.iter().find(|object| object["rules"][0]["pattern"] == "/b").unwrap();
    assert_eq!(&group["policy"], policy);
}

/// A set compiled without `--by-time` has no spans, and gives the same verdicts at its own time.
#[test]
fn sets_without_by_time_have_no_spans() {
    let [with, without] = [&["--by-time"][..], &[]].map(folder_with);
    let text = without.run(&["inspect", "set", "a.example"]).says(0, &[]).text();
    assert!(!text.contains("from 2026") && !text.contains("/old"), "{text}");
    assert!(!without.run(&["inspect", "set"]).text().contains("by time"));
    assert!(without.read("set").len() < with.read("set").len());
    // At the set's own time, the verdicts are the same.
    let urls = ["https://a.example/old", "https://a.example/new", "https://b.example/b", "https://c.example/"];
    let verdicts = ["allow", "disallow", "allow", "unknown"];
    assert_eq!(with.verdicts("set", &urls), verdicts);
    assert_eq!(without.verdicts("set", &urls), verdicts);
    with.run(&["verify", "--deep", "set"]).says(0, &[]);
}

#[test]
fn merges_and_updates_equal_one_compilation() {
    let folder = folder_with(&["--by-time"]);
    let whole = folder.read("set");
    for split in 1..CAPTURES.len() {
        let (first, second) = CAPTURES.split_at(split);
        compile(&folder, "part-1", &["--by-time"], first);
        compile(&folder, "part-2", &["--by-time"], second);
        folder.run(&["merge", "--force", "part-2", "part-1", "-o", "merged"]).says(0, &[]);
        assert!(folder.read("merged") == whole, "merged from {split} captures and the rest");
        folder.run(&["update", "--force", "part-1", "c.jsonl", "-o", "updated"]).says(0, &[]);
        assert!(folder.read("updated") == whole, "updated after {split} captures");
    }
    compile(&folder, "plain", &[], &CAPTURES);
    folder.run(&["merge", "plain", "set", "-o", "both"]).says(2, &["validity by time: yes", "have no"]);
    folder.run(&["merge", "set", "plain", "-o", "both"]).says(2, &["validity by time: no", "have yes"]);
}

/// With `--by-time`, `--at` discards captures fetched later.
#[test]
fn at_discards_later_captures() {
    let folder = Folder::new();
    let run = compile(&folder, "set", &["--by-time", "--at", "2026-02-15"], &CAPTURES);
    run.says(0, &["discarded: fetched after the time asked for  1\n", "captures by time  4\n"]);
    let text = folder.run(&["inspect", "set", "a.example"]).says(0, &[]).text();
    assert_eq!(without_policies(&text)[2], "  from 2026-02-01T00:00:00Z: rules");
    compile(&folder, "until", &["--by-time", "--at", "2026-02-15"], &[&CAPTURES[..2], &CAPTURES[3..]].concat());
    assert!(folder.read("set") == folder.read("until"));
}

const VISITS: &str = "when,url,note\n\
    2025-12-31T23:59:59Z,https://a.example/old,\n\
    20260101000000,https://a.example/old,\n\
    1769904000,https://a.example/old,\"a, b\"\n\
    1769904000000,https://a.example/new,\n\
    2026-03-31,https://a.example/new,\n\
    1774915201.5,https://a.example/new,\n\
    2020-01-01,https://b.example/b,\n\
    2026-02-01,https://b.example/b,\n\
    yesterday,https://a.example/old,\n\
    ,https://b.example/b,\n\
    2026-02-01,no url,\n";

#[test]
fn rows_are_decided_by_the_rules_at_their_time() {
    let folder = folder_with(&["--by-time"]);
    folder.write("visits.csv", VISITS);
    let run = folder.run(&[
        "classify",
        "set",
        "visits.csv",
        "--at",
        "{when}",
        "--agent",
        "x",
        "--columns",
        "url,verdict,reason",
    ]);
    let run =
        run.says(0, &["visits.csv:10: no time in column 1 (\"when\")", "invalid: no time in column 1 (\"when\") 2\n"]);
    let copy = "rule of the last good copy, now 503";
    let expected = [
        ("old", "unknown", "no robots.txt is known"),
        ("old", "disallow", "rule"),
        ("old", "allow", "no rule matches"),
        ("new", "disallow", "rule"),
        ("new", "disallow", copy),
        ("new", "allow", "unreachable for more than 30 days"),
        ("b", "disallow", "rule"),
        ("b", "allow", "404"),
        ("old", "invalid", "no time"),
        ("b", "invalid", "no time"),
        ("no url", "invalid", "no URL"),
    ];
    let expected = expected.map(|(path, verdict, reason)| {
        let url = match path {
            "b" => "https://b.example/b".to_owned(),
            "no url" => path.to_owned(),
            _ => format!("https://a.example/{path}"),
        };
        format!("{url}\t{verdict}\t{reason}")
    });
    assert_eq!(run.text().lines().collect::<Vec<_>>(), expected);
    // The verdicts are the same without reasons, and with captures compiled in memory.
    for set in ["set", "c.jsonl"] {
        let args = ["classify", set, "visits.csv", "--at", "{1}", "--agent", "x", "--profile", "rfc9309"];
        let args = if set == "set" { &args[..7] } else { &args[..] };
        let text = folder.run(args).says(0, &[]).text();
        let without_reasons = expected.iter().map(|line| line.rsplit_once('\t').unwrap().0);
        assert!(text.lines().eq(without_reasons), "{text}");
    }
    let explained = folder.run(&["classify", "set", "visits.csv", "--at", "{when}", "--agent", "x", "--explain"]);
    assert_eq!(explained.text().lines().nth(1), Some("https://a.example/old\tdisallow\t2\tDisallow: /old"));

    folder.write("visits.jsonl", r#"{"url": "https://a.example/old", "seen": {"at": 1767225600}}"#);
    let args = ["classify", "set", "visits.jsonl", "--at", "{seen.at}", "--agent", "x"];
    assert_eq!(folder.run(&args).says(0, &[]).text(), "https://a.example/old\tdisallow\n");
}

#[test]
fn at_column_requires_a_set_by_time_and_a_column() {
    let folder = folder_with(&[]);
    folder.write("visits.csv", VISITS);
    let args = ["classify", "set", "visits.csv", "--at", "{when}", "--agent", "x"];
    folder.run(&args).says(2, &["set: is a compiled set without times, which --at requires", "--by-time"]);
    compile(&folder, "set", &["--by-time"], &CAPTURES);
    folder.write("urls.txt", "https://a.example/old\n");
    let list = ["classify", "set", "urls.txt", "--at", "{when}", "--agent", "x"];
    folder
        .run(&list)
        .says(2, &["urls.txt: --at when: there is no such column; the first row is \"https://a.example/old\""]);
    let other = ["classify", "set", "visits.csv", "--at", "{then}", "--agent", "x"];
    folder.run(&other).says(2, &["--at then: there is no such column"]);
}

/// Size of a comparison between a set by time and sets compiled for each time.
struct Size {
    origins: u64,
    captures_per_origin: u32,
    rows: u64,
    times: u32,
}

/// Decides rows of URLs and times by a set by time, and each time's rows by a set compiled for that time. Prints the
/// number of verdicts of each kind.
fn compare_with_sets_for_each_time(size: &Size) {
    let folder = Folder::new();
    let web = Web { origins: size.origins, seed: 6 };
    let mut captures = BufWriter::new(std::fs::File::create(folder.path("c.jsonl")).unwrap());
    for site in (0..web.origins).map(|number| web.site(number)) {
        for fetch in web.fetches(&site, size.captures_per_origin) {
            writeln!(captures, "{}", site.capture(&fetch.answer, fetch.time)).unwrap();
        }
    }
    captures.flush().unwrap();
    let (mut rows, random) = (Vec::new(), &mut web.visits());
    let made = web.urls(&Spread { urls: size.rows, exponent: 0.5, is_sorted: false }, |url| {
        rows.push((String::from_utf8_lossy(url).into_owned(), Web::visit_time(size.times, random)));
        Ok::<(), Infallible>(())
    });
    made.unwrap();
    let lines = rows.iter().map(|(url, time)| format!("{url}\t{time}\n"));
    folder.write("t.tsv", "url\ttime\n".to_owned() + &lines.collect::<String>());
    folder.run(&["compile", "--by-time", "-o", "set", "c.jsonl"]).says(0, &["spans of time"]);
    let columns = ["--url", "url", "--at", "{time}", "--agent", "GPTBot", "--agent", "Googlebot"];
    folder.run(&[&["classify", "set", "t.tsv", "-o", "found.tsv"], &columns[..]].concat()).says(0, &[]);
    let found = String::from_utf8(folder.read("found.tsv")).unwrap();
    let found: Vec<&str> = found.lines().collect();
    assert_eq!(found.len(), rows.len());

    let mut of_time: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    rows.iter().enumerate().for_each(|(row, (_, time))| of_time.entry(*time).or_default().push(row));
    assert_eq!(of_time.len(), size.times as usize);
    let mut verdicts: BTreeMap<&str, u64> = BTreeMap::new();
    for (time, rows_of_time) in of_time {
        let urls: String = rows_of_time.iter().map(|&row| rows[row].0.clone() + "\n").collect();
        folder.write("urls.txt", urls);
        folder.run(&["compile", "--force", "-o", "at", "--at", &time.to_string(), "c.jsonl"]).says(0, &[]);
        folder.run(&[&["classify", "at", "urls.txt", "-o", "at.tsv", "--force"], &columns[4..]].concat()).says(0, &[]);
        let expected = String::from_utf8(folder.read("at.tsv")).unwrap();
        let own: Vec<&str> = rows_of_time.iter().map(|&row| found[row]).collect();
        assert!(expected.lines().eq(own.iter().copied()), "different verdicts at {time}");
        own.iter().filter_map(|line| line.split('\t').nth(1)).for_each(|word| *verdicts.entry(word).or_default() += 1);
    }
    println!("{} rows agree with sets for {} times: {verdicts:?}", rows.len(), size.times);
    assert!(["allow", "disallow", "unknown"].iter().all(|&word| verdicts[word] > 0), "{verdicts:?}");
}

#[test]
fn rows_agree_with_a_set_compiled_for_their_time() {
    compare_with_sets_for_each_time(&Size { origins: 400, captures_per_origin: 3, rows: 4000, times: 12 });
}

/// Run with `cargo test -p reptile-cli --test all by_time::a_million -- --ignored --nocapture`.
#[test]
#[ignore = "takes minutes"]
fn a_million_rows_agree_with_a_set_compiled_for_their_time() {
    compare_with_sets_for_each_time(&Size { origins: 100_000, captures_per_origin: 3, rows: 1_000_000, times: 40 });
}
