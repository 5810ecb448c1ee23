//! The default dialect, and values of `--agent`: mistakes end with exit code 2 and suggest what to write.
#![allow(clippy::unwrap_used, clippy::panic, reason = "test code: a panic is the report")]

use crate::support;
use std::path::Path;

use support::Folder;

/// Number of examples in Google's documentation that have a verdict.
const GOOGLE_EXAMPLES: usize = 174;

/// Checks every example from Google's documentation in the default dialect. Prints `skipped` if the shared folder is
/// missing.
#[test]
fn google_examples_pass_in_the_default_dialect() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/spec/source_examples.json");
    let Ok(cases) = std::fs::read(cases) else {
        println!("skipped: no shared folder");
        return;
    };
    let cases: Vec<serde_json::Value> = serde_json::from_slice(&cases).unwrap();
    let folder = Folder::new();
    let mut rows = String::new();
    for case in cases.iter().filter(|case| case["dialect"] == "google-docs") {
        let text = |key: &str| case[key].as_str().unwrap();
        let verdict = match text("expect") {
            "A" => "ALLOW",
            "D" => "DISALLOW",
            // Only M24, which is a display error in the document.
            _ => continue,
        };
        let host = format!("{}.example", text("id").to_lowercase());
        folder.write(&format!("robots/{host}"), text("body"));
        rows += &format!("{host}\t{}\t{}\t{verdict}\n", text("agent"), text("url"));
    }
    assert_eq!(rows.lines().count(), GOOGLE_EXAMPLES);
    folder.write("cases.tsv", &rows);
    let all = format!("{GOOGLE_EXAMPLES} rows: {GOOGLE_EXAMPLES} checked, 0 verdict differences");
    folder.run(&["check", "cases.tsv", "--robots", "robots"]).says(0, &[&all]);
    // google-lib decides some of them differently.
    folder.run(&["check", "cases.tsv", "--robots", "robots", "--dialect", "google-lib"]).says(1, &[]);
}

/// The default dialect knows the documented crawlers, and treats raw and escaped UTF-8 alike.
#[test]
fn the_default_dialect_knows_the_documented_crawlers() {
    let folder = Folder::new();
    folder.write(
        "robots.txt",
        "User-agent: *\nDisallow: /star\nUser-agent: Googlebot\nDisallow: /bot\nUser-agent: AdsBot-Google\n\
         Disallow: /ads\nUser-agent: Accents\nDisallow: /caf\u{e9}\nDisallow: /%e3%83%84\n",
    );
    for (agent, disallowed, allowed) in [
        ("Anybot", "/star", "/bot"),
        ("Googlebot-Image", "/bot", "/star"),
        ("AdsBot-Google-Mobile-Apps", "/ads", "/star"),
        ("Accents", "/caf%C3%A9", "/cafe"),
        ("Accents", "/caf\u{e9}", "/caf"),
        ("Accents", "/\u{30c4}", "/star"),
    ] {
        let text =
            folder.run(&["test", "--brief", "robots.txt", "--agent", agent, disallowed, allowed]).says(0, &[]).text();
        let verdicts: Vec<&str> = text.lines().map(|line| line.split(' ').next().unwrap()).collect();
        assert_eq!(verdicts, ["disallow", "allow"], "{agent}: {text}");
    }
    for agent in ["Mediapartners-Google", "APIs-Google", "FeedFetcher-Google", "Google-Read-Aloud", "Google-Safety"] {
        let text = folder.run(&["test", "--brief", "robots.txt", "--agent", agent, "/star"]).says(0, &[]).text();
        assert!(text.starts_with("allow "), "{agent}: {text}");
    }
}

/// Every command rejects a mistaken crawler name and suggests a correction.
#[test]
fn mistaken_agent_names_end_with_exit_code_2() {
    let folder = Folder::with_set();
    folder.write("robots.txt", "User-agent: Googelbott\nDisallow: /\n");
    folder.write("urls.txt", "http://a.example/\n");
    for (agent, message) in [
        ("GPTBot,CCBot", "give each name by itself: \"GPTBot\", \"CCBot\""),
        ("Googlebot/2.1", "write \"Googlebot\""),
        ("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "write \"Googlebot\""),
        ("", "empty product token: write a crawler's name, or \"*\" for the default group"),
        (
            "Googelbot",
            "no robots.txt names \"Googelbot\", which is nearly the crawler \"Googlebot\": write that, or exact:Googelbot",
        ),
        ("Googelbot>*", "nearly the crawler \"Googlebot\""),
        ("x>GTPBot", "nearly the crawler \"GPTBot\""),
        (
            "ChatGPT",
            "no robots.txt names \"ChatGPT\", which is not a crawler's name: write \"GPTBot\", \"OAI-SearchBot\" or \
             \"ChatGPT-User\", or exact:ChatGPT",
        ),
        ("openai", "write \"GPTBot\""),
        ("Anthropic>*", "write \"ClaudeBot\", \"Claude-SearchBot\" or \"Claude-User\""),
        ("all", "every crawler is \"*\""),
    ] {
        for command in [
            &["classify", "set", "urls.txt", "--agent", agent][..],
            &["test", "robots.txt", "/", "--agent", agent],
            &["diff", "robots.txt", "robots.txt", "--agent", agent],
            &["fields", "set", "a.example", "--agent", agent],
            &["inspect", "set", "a.example", "--automaton", "--agent", agent],
            &["agents", agent],
        ] {
            folder.run(command).says(2, &[message]);
        }
    }
    folder.run(&["test", "robots.txt", "/", "--agent", "exact:Googelbot"]).says(0, &[]);
    folder.run(&["classify", "set", "urls.txt", "--agent", "exact:Googelbot"]).says(0, &[]);
    folder.run(&["test", "robots.txt", "/", "--agent", "exact:ChatGPT"]).says(0, &[]);
    // A brand's name from the file is accepted with a remark.
    folder.write("brand.txt", "User-agent: ChatGPT\nDisallow: /\n");
    let remark = "--agent chatgpt: a robots.txt contains this name, but its crawlers are probably GPTBot, OAI-SearchBot, \
                  ChatGPT-User";
    folder.run(&["test", "brand.txt", "/", "--agent", "chatgpt"]).says(0, &[remark]);
    // A name from the file, one that resembles no known crawler, and another crawler's that resembles one.
    folder.run(&["test", "robots.txt", "/", "--agent", "googelbott", "--agent", "MyBot"]).says(0, &[]);
    for other in ["Snapbot", "pingbot", "Snapbot>*"] {
        folder.run(&["test", "robots.txt", "/", "--agent", other]).says(0, &[]);
        folder.run(&["classify", "set", "urls.txt", "--agent", other]).says(0, &[]);
    }
    folder.run(&["classify", "set", "urls.txt", "--agent", "other", "--agent", "MyBot"]).says(0, &[]);
}

#[test]
fn crawlers_and_dialects_are_listed() {
    let folder = Folder::new();
    let rows = |args: &[&str]| -> Vec<String> {
        let text = folder.run(args).says(0, &[]).text();
        text.lines()
            .map(|line| line.split("  ").filter(|cell| !cell.is_empty()).map(str::trim).collect::<Vec<_>>().join("|"))
            .collect()
    };
    let all = rows(&["agents"]);
    assert!(
        all.contains(&"Googlebot-Image|Googlebot-Image > Googlebot > *|@search|yes|-|Google's list of crawlers".into())
    );
    assert!(all.iter().any(|row| row.starts_with("Google-Read-Aloud|nothing: it obeys no robots.txt|")));
    assert!(all.iter().any(|row| row.starts_with("@ai-training contains ")));
    let last = all.last().unwrap();
    assert!(last.starts_with("oldest check: 2026-08-07, ") && last.contains(" days ago: Webzio, "), "{last}");
    let archives = rows(&["agents", "--purpose", "archive"]);
    assert!(archives[1].starts_with("archive.org_bot|archive > *|@archive|not-stated|-|"), "{archives:?}");
    assert!(archives.contains(&"@archive contains 1 of them".into()), "{archives:?}");
    folder.run(&["agents", "--purpose", "ads"]).says(2, &["user-triggered"]);
    folder.run(&["agents", "--purpose", "seo", "GPTBot"]).says(2, &["cannot be used with"]);
    let one = rows(&["agents", "googlebot-news"]);
    assert!(one.contains(&"google|googlebot-news|Googlebot-News > Googlebot > *|Google's list of crawlers, Google's robots.txt specification".into()), "{one:?}");
    assert!(one.contains(&"rfc9309|googlebot-news|googlebot-news > *".into()), "{one:?}");
    assert_eq!(rows(&["agents", "googlebot-news", "--dialect", "google"]).len(), 2);
    assert!(rows(&["agents", "@ai-training", "--dialect", "google"]).len() > 10);
    let dialects = rows(&["dialects"]);
    assert_eq!(dialects.len(), 10);
    assert!(
        dialects.iter().any(|row| row.starts_with("google|google|") && row.ends_with("(the default)")),
        "{dialects:?}"
    );
}

#[test]
fn crawlers_are_listed_as_json() {
    use serde_json::{Value, json};
    let folder = Folder::new();
    let objects = |args: &[&str]| -> Vec<Value> {
        let text = folder.run(&[&["agents", "--json"], args].concat()).says(0, &[]).text();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let all = objects(&[]);
    assert_eq!(all.len(), reptile::crawlers::ALL.len());
    let of = |name: &str| all.iter().find(|object| object["name"] == name).unwrap();
    assert_eq!(
        *of("Kimi-SearchBot"),
        json!({
            "name": "Kimi-SearchBot", "dialect": "google", "tokens": ["Kimi-SearchBot"], "default": true,
            "other_names": [], "standing": "current", "other": null, "header": "Kimi-SearchBot",
            "operator": "Moonshot", "purposes": ["search", "ai-search"], "obeys": "yes",
            "source": "a third party on kimi.com/policies/kimi-crawlers", "checked": "2026-09-28", "ranges": [],
            "dns": [],
        })
    );
    for (name, key, expected) in [
        ("Google-GeminiNotebook", "other_names", json!(["Google-NotebookLM"])),
        ("Google-NotebookLM", "other", json!("Google-GeminiNotebook")),
        ("omgilibot", "standing", json!("replaced-by")),
        ("Claude-Web", "standing", json!("retired")),
        ("DeepSeekBot", "standing", json!("undocumented")),
        ("Perplexity-User", "obeys", json!("user-triggered")),
        ("Google-Safety", "obeys", json!("no")),
        ("Webzio-Extended", "header", Value::Null),
        ("Diffbot", "purposes", json!([])),
        ("GPTBot", "checked", Value::Null),
        ("GPTBot", "ranges", json!(["https://openai.com/gptbot.json"])),
        ("Claude-User", "ranges", json!(["https://claude.com/crawling/bots.json"])),
        ("Amazonbot", "dns", json!(["crawl.amazonbot.amazon"])),
        ("YandexVideo", "dns", json!(["yandex.ru", "yandex.net", "yandex.com"])),
        ("Googlebot-News", "tokens", json!(["Googlebot-News", "Googlebot"])),
    ] {
        assert_eq!(of(name)[key], expected, "{name}");
    }
    let users = objects(&["--purpose", "user-triggered"]);
    assert!(users.len() > 10 && users.iter().all(|object| object["purposes"] == json!(["user-triggered"])));
    let unknown = objects(&["MyBot", "--dialect", "rfc9309"]);
    assert_eq!(unknown, [json!({"name": "MyBot", "dialect": "rfc9309", "tokens": ["MyBot"], "default": true})]);
}

/// `test` remarks on each crawler that does not always obey, once per name or group.
#[test]
fn test_says_which_crawlers_do_not_always_obey() {
    let folder = Folder::new();
    folder.write("robots.txt", "User-agent: *\nDisallow: /a\n");
    let cases: [(&[&str], &[&str]); 7] = [
        (&["ChatGPT-User"], &["--agent ChatGPT-User: users trigger its requests, and not all rules apply"]),
        (&["exact:kimi-user"], &["--agent kimi-user: users trigger its requests"]),
        (&["Google-Safety"], &["--agent Google-Safety: its operator says that it does not obey robots.txt"]),
        (&["Claude-Web"], &["--agent Claude-Web: the name is retired"]),
        (&["omgilibot"], &["--agent omgilibot: its operator uses \"Webzio\" instead"]),
        (&["@user-triggered"], &["--agent @user-triggered: not all rules apply to ", "ChatGPT-User, "]),
        (&["GPTBot", "Claude-User", "@seo", "*", "A>B"], &[]),
    ];
    for (agents, remarks) in cases {
        let mut args = vec!["test", "robots.txt", "/b", "--brief"];
        args.extend(agents.iter().flat_map(|agent| ["--agent", agent]));
        let run = folder.run(&args).says(0, remarks);
        assert_eq!(
            run.stderr.contains("rules apply") || run.stderr.contains("operator"),
            !remarks.is_empty(),
            "{run:?}"
        );
    }
}

/// Known crawlers whose names the dialect reads only partially are accepted with one note. Unknown names are rejected.
#[test]
fn known_crawlers_with_partially_read_names_are_accepted() {
    let folder = Folder::new();
    folder.write("a.example", "user-agent: MJ12bot\ndisallow: /mj\n\nuser-agent: *\ndisallow: /star\n");
    folder.run(&["compile", "-o", "google", "--host", "a.example", "a.example"]).says(0, &[]);
    folder.run(&["compile", "-o", "yandex", "--host", "a.example", "--dialect", "yandex", "a.example"]).says(0, &[]);
    let remark = "--agent MJ12bot: the dialect reads a user-agent line with this name as \"MJ\"";
    for (args, is_noted) in [
        (&["classify", "google", "--agent", "MJ12bot"][..], true),
        (&["classify", "google", "--agent", "MJ12bot", "--agent", "GPTBot"], true),
        (&["classify", "yandex", "--agent", "MJ12bot"], false),
        (&["classify", "google", "--agent", "MJ"], false),
        (&["classify", "google", "--agent", "@ai-training"], false),
        (&["test", "a.example", "--agent", "MJ12bot", "--brief", "/mj"], true),
        (&["test", "a.example", "--agent", "MJ12bot", "--dialect", "yandex", "--brief", "/mj"], false),
    ] {
        let run = folder.run_with(args, b"http://a.example/mj\n").says(0, &[]);
        assert!(
            String::from_utf8_lossy(&run.stdout).contains("disallow") || args.contains(&"@ai-training"),
            "{args:?}: {run:?}"
        );
        assert_eq!(run.stderr.matches(remark).count(), usize::from(is_noted), "{args:?}: {run:?}");
    }
    for (name, read_as) in [("archive.org_bot", "archive"), ("Ai2Bot-Dolma", "Ai"), ("img2dataset", "img")] {
        let remark = format!("--agent {name}: the dialect reads a user-agent line with this name as \"{read_as}\"");
        folder.write("cut.example", format!("user-agent: {name}\ndisallow: /cut\n"));
        folder.write("urls.txt", "http://a.example/mj\n");
        let test = folder.run(&["test", "cut.example", "/cut", "--brief", "--agent", name]).says(0, &[&remark]);
        assert!(String::from_utf8_lossy(&test.stdout).starts_with("disallow"), "{test:?}");
        folder.run(&["classify", "google", "urls.txt", "--agent", name]).says(0, &[&remark]);
        let run = folder.run(&["test", "cut.example", "/cut", "--brief", "--agent", name, "--dialect", "yandex"]);
        assert!(!run.says(0, &[]).stderr.contains("reads a user-agent line"));
    }
    for name in ["MJ13bot", "MJ12bot/1.4", "MJ12bot>*"] {
        folder.run_with(&["classify", "google", "--agent", name], b"").says(2, &["--agent: "]);
    }
}
