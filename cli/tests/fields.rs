//! `reptile fields`, end to end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;
use support::Folder;

const BODY: &str = "Sitemap: http://a.example/s.xml\nUser-agent: *\nCrawl-delay: 4.5\nDisallow: /a\n\nUser-agent: GPTBot\n\
                    Content-Signal: ai-train=no\nX-Odd: a\tb\\\x01\nDisallow: /\nClean-param: sid&ref /forum\n";

#[test]
fn directives_are_printed_as_columns() {
    let folder = Folder::new();
    folder.write("robots.txt", BODY);
    let all = "-\t1\tsitemap\tcounts\t-\thttp://a.example/s.xml\n\
               -\t3\tcrawl-delay\tnot-read\t*\t4.5\n\
               -\t7\tcontent-signal\tnot-read\tgptbot\tai-train=no\n\
               -\t8\tx-odd\tnot-read\tgptbot\ta\\tb\\\\\\x01\n\
               -\t10\tclean-param\tnot-read\t-\tsid&ref /forum\n";
    assert_eq!(folder.run(&["fields", "robots.txt"]).says(0, &[]).text(), all);
    let lines = |args: &[&str]| {
        let text = folder.run(&[&["fields", "robots.txt"], args].concat()).says(0, &[]).text();
        text.lines().map(|line| line.split('\t').nth(1).unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(lines(&["--agent", "GPTBot"]), "1 7 8 10");
    assert_eq!(lines(&["--agent", "OtherBot"]), "1 3 10");
    assert_eq!(lines(&["--kind", "sitemap", "--kind", "other"]), "1 8");
    let counting = folder.run(&["fields", "robots.txt", "--dialect", "yandex-2017"]).says(0, &[]).text();
    assert_eq!(counting.matches("\tcounts\t").count(), 3, "{counting}");
    folder.run(&["fields", "robots.txt", "--agent", "@search"]).says(2, &["one crawler"]);
    folder.run(&["fields", "robots.txt", "--kind", "none"]).says(2, &["invalid value"]);
    folder.run(&["fields", "missing"]).says(2, &["missing"]);
}

#[test]
fn directives_are_printed_as_json() {
    let folder = Folder::new();
    folder.write("robots.txt", BODY);
    let text = folder.run(&["fields", "robots.txt", "--json", "--agent", "gptbot"]).says(0, &[]).text();
    let objects: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects.len(), 4);
    assert_eq!(objects[1]["agents"], serde_json::json!(["gptbot"]));
    assert_eq!(objects[1]["means"], serde_json::json!({"statement": {"ai-train": "disallowed"}, "error": null}));
    assert_eq!(objects[2]["value"], "a\tb\\\u{1}");
    assert_eq!(objects[3]["means"], serde_json::json!({"names": ["sid", "ref"], "prefix": "/forum"}));
    assert!(objects[3]["agents"].is_null());
}

/// Lines about uses are shown with their meaning, or why they cannot be read.
#[test]
fn lines_about_uses_are_parsed() {
    use serde_json::{Value, json};
    let folder = Folder::new();
    let not_whole = "not everything is a signal such as search=yes; the rest is read";
    let no_uri = "not an absolute URI such as https://example.com/license.xml";
    let expired = "from an expired draft: no vocabulary reads it";
    for (line, means) in [
        (
            "Content-Usage: train-ai=n, search=y",
            json!({"path": null, "statement": {"train-ai": "disallowed", "search": "allowed"}, "error": null}),
        ),
        (
            "Content-Usage: /*.pdf$ ai-use=maybe",
            json!({"path": "/*.pdf$", "statement": {"ai-use": "unknown"}, "error": null}),
        ),
        ("Content-Usage: /a", json!({"path": "/a", "statement": {}, "error": null})),
        (
            "Content-Usage: /a Train-AI=n",
            json!({"path": "/a", "statement": null, "error": "not a dictionary such as \"train-ai=n, search=y\": expected start of key ('a'-'z' or '*') at index 0"}),
        ),
        (
            "Content-Signal: Search=yes, ai-train=no",
            json!({"statement": {"search": "allowed", "ai-train": "disallowed"}, "error": null}),
        ),
        (
            "Content-Signal: search=maybe, ai-train=no",
            json!({"statement": {"ai-train": "disallowed"}, "error": not_whole}),
        ),
        ("License: https://a.example/license.xml", json!({"url": "https://a.example/license.xml", "error": null})),
        ("License: urn:x:y", json!({"url": "urn:x:y", "error": null})),
        ("License: /license.xml", json!({"url": null, "error": no_uri})),
        ("License: https://a b", json!({"url": null, "error": no_uri})),
        ("License: 1a:b", json!({"url": null, "error": no_uri})),
        ("License: https:", json!({"url": null, "error": no_uri})),
        ("DisallowAITraining: /x", json!({"path": "/x", "error": expired})),
    ] {
        folder.write("robots.txt", format!("user-agent: *\n{line}\n"));
        // Some dialects read DisallowAITraining as a Disallow.
        let text = folder.run(&["fields", "robots.txt", "--json", "--dialect", "rfc9309"]).says(0, &[]).text();
        let object: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(object["means"], means, "{line}");
    }
}

/// A group's own licenses and signals replace those before all groups. A license counts only if it is an absolute URI.
#[test]
fn a_groups_own_lines_replace_those_of_the_file() {
    let folder = Folder::new();
    folder.write(
        "robots.txt",
        "License: https://a.example/1\nContent-Signal: search=yes\nUser-agent: a\nLicense: https://a.example/2\n\
         Disallow: /x\nUser-agent: b\nLicense: no-uri\nContent-Signal: search=no\nDisallow: /y\n",
    );
    for (agent, lines) in [(Some("a"), "2 4"), (Some("b"), "1 7 8"), (Some("c"), "1 2"), (None, "1 2 4 7 8")] {
        let agent = agent.map_or(Vec::new(), |agent| vec!["--agent", agent]);
        let text = folder.run(&[&["fields", "robots.txt"], &agent[..]].concat()).says(0, &[]).text();
        let found: Vec<&str> = text.lines().map(|line| line.split('\t').nth(1).unwrap()).collect();
        assert_eq!(found.join(" "), lines, "{agent:?}");
    }
}

#[test]
fn directives_of_a_set_are_listed() {
    let folder = Folder::new();
    folder.write("robots/a.example", BODY);
    folder.write("robots/b.example", "Sitemap: http://b.example/b\n");
    folder.run(&["compile", "-o", "set", "robots"]).says(0, &[]);
    let run = folder.run(&["fields", "set", "b.example"]).says(0, &[]);
    assert_eq!(
        run.text().lines().filter(|line| line.ends_with("\t1\tsitemap\tcounts\t-\thttp://b.example/b")).count(),
        2,
        "{run:?}"
    );
    assert_eq!(folder.run(&["fields", "set"]).says(0, &[]).text().lines().count(), 12);
    assert_eq!(folder.run(&["fields", "set", "https://b.example/x"]).says(0, &[]).text().lines().count(), 1);
    let run = folder.run(&["fields", "set", "http://b.example"]).says(0, &[]);
    assert_eq!(run.text(), "http://b.example:80\t1\tsitemap\tcounts\t-\thttp://b.example/b\n");
    folder.run(&["fields", "set", "c.example"]).says(1, &["no robots.txt is known for c.example"]);
    folder.run(&["compile", "--omit", "other", "-o", "bare", "robots"]).says(0, &[]);
    assert_eq!(folder.run(&["fields", "bare"]).says(0, &["bare: no other directives in it"]).text(), "");
    assert!(folder.read("bare").len() + 100 < folder.read("set").len());
    folder
        .run(&["fields", "set", "--no-other"])
        .says(2, &["--no-other was removed; use `reptile compile --omit other`"]);
}

#[test]
fn omitted_directives_are_counted() {
    let folder = Folder::new();
    let body = format!("Sitemap: /{}\n{}", "a".repeat(80_000), "Host: a\n".repeat(4097));
    folder.write("robots/a.example", body);
    folder.run(&["compile", "-o", "set", "robots"]).says(
        0,
        &[
            "diagnostic: other directive too long, left out 1",
            "diagnostic: other directive after the last that is kept, left out 1",
        ],
    );
}

/// If a group names thousands of product tokens, the first 16 are listed and the others counted.
#[test]
fn long_lists_of_product_tokens_are_abbreviated() {
    let folder = Folder::new();
    let name = |at: usize| format!("{at:04}").bytes().map(|digit| (digit + b'a' - b'0') as char).collect::<String>();
    for (count, more) in [(15, 0), (16, 0), (17, 1), (5000, 4984)] {
        let agents: String = (0..count).map(|at| format!("user-agent: {}\n", name(at))).collect();
        folder.write("robots.txt", agents + &"x: y\n".repeat(1000));
        let text = folder.run(&["fields", "robots.txt"]).says(0, &[]).text();
        assert_eq!(text.lines().count(), 1000);
        let agents = text.lines().next().unwrap().split('\t').nth(4).unwrap();
        assert!(agents.starts_with("aaaa,aaab,"), "{agents}");
        assert_eq!(agents.split(" ... and ").nth(1).unwrap_or("0 more"), format!("{more} more"));
        assert!(text.len() < 1000 * 150, "{} bytes", text.len());
        let json = folder.run(&["fields", "robots.txt", "--json"]).says(0, &[]).text();
        let object: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
        assert_eq!(object["agents"].as_array().unwrap().len(), count.min(16));
        assert_eq!(object["more_agents"].as_u64().unwrap_or(0), more);
        assert!(json.len() < 1000 * 300, "{} bytes", json.len());
    }
    // A name of 1 MiB is truncated.
    folder.write("robots.txt", format!("user-agent: {}\n{}", "n".repeat(1 << 20), "x: y\n".repeat(1000)));
    let run = folder.run(&["fields", "robots.txt", "--dialect", "rfc9309"]).says(0, &[]);
    assert!(run.stdout.len() < 1_100_000, "{} bytes", run.stdout.len());
}

/// `lint` reports nothing that `fields` contradicts, and suggests one remedy per place.
#[test]
fn findings_and_directives_agree() {
    let folder = Folder::new();
    let lint = |dialect: &str| folder.run(&["lint", "robots.txt", "--dialect", dialect]).text();
    let mut checked = 0;
    for (dialect, lines, states, finding, is_found) in [
        (
            "google",
            "Sitemap: https://a.example/x https://b.example/y",
            &["malformed"][..],
            "1: error[sitemap-url]",
            true,
        ),
        ("google", "Sitemap: https://a.example/x", &["counts"], "sitemap-url", false),
        ("yandex", "Sitemap: https://a.example/x\thttps://b.example/y", &["malformed"], "1: error[sitemap-url]", true),
        ("yandex-2017", "Host: https://a/b\nHost: a.example", &["malformed", "counts"], "duplicate", false),
        ("yandex-2017", "Host: a.example\nHost: b.example", &["counts", "superseded"], "2: note[duplicate", true),
        ("bing", "User-agent: *\nCrawl-delay: x\nCrawl-delay: 2", &["malformed", "counts"], "duplicate", false),
        ("bing", "User-agent: *\nCrawl-delay: 1\nCrawl-delay: 2", &["counts", "superseded"], "3: note[duplicate", true),
        ("google", "# <meta name=\"robots\">\nLicense: https://a.example/l.xml", &["not-read"], "[html]", false),
        ("google", "<!-- plugin -->\nX-Own: 1", &[], "[html]", true),
    ] {
        folder.write("robots.txt", format!("{lines}\n"));
        let text = folder.run(&["fields", "robots.txt", "--dialect", dialect]);
        let found: Vec<String> = text.text().lines().map(|line| line.split('\t').nth(3).unwrap().to_owned()).collect();
        // A page without rules is refused.
        assert_eq!(
            (found.iter().map(String::as_str).collect::<Vec<_>>(), text.code),
            (states.to_vec(), Some(if states.is_empty() { 2 } else { 0 })),
            "{lines}"
        );
        let findings = lint(dialect).replace("robots.txt:", "");
        assert_eq!(findings.contains(finding), is_found, "{lines}: {findings}");
        checked += 1;
    }
    assert_eq!(checked, 9);

    let over = format!("User-agent: *\nDisallow: /a\nContent-Usage: train-ai=n;x={}\n", "a".repeat(80_000));
    folder.write("robots.txt", over);
    folder.run(&["fields", "robots.txt"]).says(0, &["1 other directives are left out, because they exceed a limit"]);
    assert!(lint("google").contains("[usage-over-limit]"));

    for (lines, is_closed) in [
        ("User-agent: *\nDisallow: /\n\nUser-agent: *\nAllow: /\n", false),
        ("User-agent: *\nDisallow: /\n\nUser-agent: *\nAllow: /*\n", false),
        ("User-agent: *\nDisallow: /\nAllow: /$\n", true),
        ("User-agent: *\nDisallow: /\n\nUser-agent: *\nAllow: /a\n", true),
    ] {
        folder.write("robots.txt", lines);
        let found = lint("google");
        assert_eq!(found.contains("[closed-site]"), is_closed, "{lines}: {found}");
        assert!(!is_closed || !found.contains("robots.txt:2: warning[hidden-rule]"), "{lines}: {found}");
    }

    folder.write("robots.txt", "User-agent: *\nCrawl-delay: 5\n\nUser-agent: GPTBot\nDisallow: /\n");
    let found = lint("google");
    assert_eq!(found.matches("fix: put \"Disallow:\" after line 1\n").count(), 2, "{found}");
    assert!(!found.contains("remove the blank line"), "{found}");
    folder.write("robots.txt", "User-agent: *\n\nDisallow: /a\n");
    assert!(lint("google").contains("fix: remove the blank line\n"));
}

/// Groups whose token names a use are statements, like lines about uses.
#[test]
fn groups_for_tokens_of_uses_are_statements() {
    use serde_json::json;
    let folder = Folder::new();
    let body = "User-agent: *\nContent-Usage: search=y\nDisallow: /private/\n\nUser-agent: __USAGE_ai-training\n\
                User-agent: GPTBot\nDisallow: /\nAllow: /open/\n";
    folder.write("robots.txt", body);
    folder.write("empty.txt", "User-agent: __usage_ai-training\nDisallow:\n");
    folder.write("none.txt", "User-agent: __usage_ai-training\n\nSitemap: /s\n");
    folder.write("other.txt", "User-agent: __usage_search\nDisallow: /\n");
    let usage = "-\t2\tcontent-usage\tnot-read\t*\tsearch=y\n";
    let token = "-\t7\tdisallow\tcounts\t__usage_ai-training\t/\n-\t8\tallow\tcounts\t__usage_ai-training\t/open/\n";
    let none = "-\t2\tdisallow\tcounts\t__usage_ai-training\t\n";
    let both = [usage, token].concat();
    let cases: [(&[&str], &str); 8] = [
        (&["robots.txt"], &both),
        (&["robots.txt", "--kind", "content-usage"], &both),
        (&["robots.txt", "--agent", "FooBot"], &both),
        (&["robots.txt", "--agent", "GPTBot"], token),
        (&["robots.txt", "--kind", "sitemap"], ""),
        (&["empty.txt"], none),
        (&["none.txt", "--kind", "content-usage"], "-\t0\tallow\tcounts\t__usage_ai-training\t\n"),
        (&["other.txt"], ""),
    ];
    for (args, expected) in cases {
        assert_eq!(folder.run(&[&["fields"], args].concat()).says(0, &[]).text(), expected, "{args:?}");
    }
    let text = folder.run(&["fields", "robots.txt", "--json"]).says(0, &[]).text();
    let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(last["means"], json!({"path": "/open/", "statement": {"train-ai": "allowed"}, "error": null}));
    assert_eq!((&last["line"], &last["agents"]), (&json!(8), &json!(["__usage_ai-training"])));
    let text = folder.run(&["fields", "empty.txt", "--json"]).says(0, &[]).text();
    assert!(text.contains(r#""statement":{"train-ai":"allowed"}"#), "{text}");
}
