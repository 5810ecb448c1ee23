//! `classify --scope`, which lets another origin decide if the URL's own origin has no known robots.txt.

use std::collections::HashMap;

use crate::support;
use support::Folder;

/// Hosts and their registered domains.
const HOSTS: [(&str, &str); 7] = [
    ("example.co.uk", "example.co.uk"),
    ("www.example.co.uk", "example.co.uk"),
    ("shop.example.co.uk", "example.co.uk"),
    ("www.shop.example.co.uk", "example.co.uk"),
    ("me.github.io", "me.github.io"),
    ("github.io", "github.io"),
    ("1.2.3.4", "1.2.3.4"),
];

/// Returns the origins that may decide a host's URLs, in order: a second implementation, to compare with the command.
fn candidates(scope: &str, scheme: &str, (host, domain): (&str, &str)) -> Vec<String> {
    let www = |host: &str| host.strip_prefix("www.").map_or_else(|| format!("www.{host}"), str::to_owned);
    let is_name = host != "1.2.3.4";
    let mut hosts = vec![host.to_owned()];
    if is_name && ["www", "domain"].contains(&scope) {
        hosts.push(www(host));
    }
    // A public suffix cannot be registered.
    if is_name && scope == "domain" && host != "github.io" {
        hosts.extend([domain.to_owned(), www(domain)]);
    }
    let other = if scheme == "http" { "https" } else { "http" };
    let schemes = if scope == "origin" { &[scheme][..] } else { &[scheme, other] };
    hosts.iter().flat_map(|host| schemes.iter().map(move |scheme| format!("{scheme}://{host}"))).collect()
}

#[test]
fn the_nearest_origin_with_a_robots_txt_decides() {
    let folder = Folder::new();
    let urls: Vec<(&str, (&str, &str), &str)> = ["http", "https"]
        .into_iter()
        .flat_map(|scheme| HOSTS.into_iter().map(move |host| (scheme, host)))
        .flat_map(|(scheme, host)| ["/", "/a?b"].map(|path| (scheme, host, path)))
        .collect();
    folder.write(
        "urls",
        urls.iter().map(|(scheme, (host, _), path)| format!("{scheme}://{host}{path}\n")).collect::<String>(),
    );
    let (mut stood_in, mut state) = (0, 1_u64);
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    for _ in 0..12 {
        let mut known = HashMap::new();
        for scheme in ["http", "https"] {
            for (host, _) in HOSTS.into_iter().chain([("www.github.io", ""), ("www.me.github.io", "")]) {
                if random(4) == 0 {
                    known.insert(format!("{scheme}://{host}"), ["/", "/a", "/none"][random(3) as usize]);
                }
            }
        }
        known.insert("http://somebody.example".into(), "/none");
        let capture = |(origin, rule): (&String, &&str)| {
            format!("{{\"url\":\"{origin}/robots.txt\",\"body\":\"user-agent: *\\ndisallow: {rule}\"}}\n")
        };
        folder.write("c.jsonl", known.iter().map(capture).collect::<String>());
        folder.run(&["compile", "--force", "-o", "set", "c.jsonl"]).says(0, &[]);
        for scope in ["origin", "scheme", "www", "domain"] {
            let args = ["classify", "set", "urls", "--agent", "x", "--scope", scope];
            let verdicts = folder.run(&args).says(0, &[]);
            let reasons = folder.run(&[&args[..], &["--columns", "verdict,reason"]].concat()).says(0, &[]);
            let (text, reasons_text) = (verdicts.text(), reasons.text());
            let rows = text.lines().zip(reasons_text.lines());
            assert_eq!((text.lines().count(), reasons_text.lines().count()), (urls.len(), urls.len()));
            let mut others = 0;
            for (&(scheme, host, path), (row, with_reason)) in urls.iter().zip(rows) {
                let all = candidates(scope, scheme, host);
                let decides = all.iter().position(|origin| known.contains_key(origin));
                let rule = decides.map(|place| known[&all[place]]);
                let verdict = match rule {
                    None => "unknown",
                    Some(rule) if path.starts_with(rule) => "disallow",
                    Some(_) => "allow",
                };
                assert_eq!(row, format!("{scheme}://{}{path}\t{verdict}", host.0), "{scope} {known:?}");
                let reason = match verdict {
                    "unknown" => "no robots.txt is known",
                    "disallow" => "rule",
                    _ => "no rule matches",
                };
                let whose = decides.filter(|&place| place > 0).map(|place| format!(", of {}", all[place]));
                assert_eq!(with_reason, format!("{verdict}\t{reason}{}", whose.clone().unwrap_or_default()), "{scope}");
                others += u64::from(whose.is_some());
            }
            let line = format!("decided by another origin {others}\n");
            assert!(scope != "origin" || others == 0);
            if others > 0 {
                verdicts.says(0, &[&line]);
                reasons.says(0, &[&line]);
            } else {
                assert!(!verdicts.stderr.contains("another origin"));
            }
            stood_in += others;
        }
    }
    assert!(stood_in > 300, "{stood_in}: too few rows decided by another origin");
}

#[test]
fn scope_applies_with_times_several_agents_and_only() {
    let folder = Folder::new();
    let capture = |time: &str, rule: &str| {
        format!(
            "{{\"url\":\"https://www.a.example/robots.txt\",\"time\":\"{time}\",\"body\":\"user-agent: *\\ndisallow: {rule}\\n\\nuser-agent: y\\ndisallow:\"}}\n"
        )
    };
    folder.write("c.jsonl", capture("2026-01-01T00:00:00Z", "/old") + &capture("2026-02-01T00:00:00Z", "/new"));
    folder.run(&["compile", "--by-time", "-o", "set", "c.jsonl"]).says(0, &[]);
    folder.write(
        "visits.tsv",
        "url\ttime\nhttp://a.example/old\t2026-01-02\nhttp://a.example/old\t2026-02-02\nhttp://a.example/old\t2025-01-01\n\
         http://b.example/\t2026-01-02\nhttp://a.example/new\tnever\n",
    );
    let args = ["classify", "set", "visits.tsv", "--at", "{time}", "--agent", "x", "--agent", "y", "--scope", "domain"];
    let run = folder.run(&args).says(0, &["decided by another origin 2\n"]);
    let expected = ["disallow\tallow", "allow\tallow", "unknown\tunknown", "unknown\tunknown", "invalid\tinvalid"];
    let verdicts: Vec<String> = run.text().lines().map(|line| line.split_once('\t').unwrap().1.to_owned()).collect();
    assert_eq!(verdicts, expected);
    let only = folder.run(&[&args[..], &["--only", "disallow"]].concat()).says(0, &[]);
    assert_eq!(only.text(), "url\ttime\nhttp://a.example/old\t2026-01-02\n");
}

#[test]
fn candidates_too_long_for_a_host_are_skipped() {
    let folder = Folder::with_set();
    // With www. in front, the host exceeds the limit of 255 bytes.
    let label = "x".repeat(62);
    let host = format!("{label}.{label}.{label}.{}", "y".repeat(63));
    assert_eq!(host.len(), 252);
    folder.write("urls", format!("http://{host}/\n"));
    for columns in ["verdict", "verdict,reason"] {
        let args = ["classify", "set", "urls", "--agent", "x", "--scope", "domain", "--columns", columns];
        let text = folder.run(&args).says(0, &[]).text();
        assert!(text.starts_with("unknown"), "{text}");
    }
}

/// Rows that name crawlers are decided by another origin, each for its crawler. A row without a crawler stays unknown.
#[test]
fn scope_applies_to_crawlers_named_in_rows() {
    let folder = Folder::new();
    let body = "user-agent: x\\ndisallow: /\\n\\nuser-agent: *\\ndisallow: /p";
    folder.write("c.jsonl", format!("{{\"url\":\"https://www.a.example/robots.txt\",\"body\":\"{body}\"}}\n"));
    folder.run(&["compile", "-o", "set", "c.jsonl"]).says(0, &[]);
    let (mut rows, mut expected) = (String::from("url\tagent\n"), Vec::new());
    for number in 0..1200 {
        let (host, agent) = (["a.example", "www.a.example", "b.example"][number % 3], ["x", "y", "-", "z"][number % 4]);
        let (scheme, path) = (["http", "https"][number % 2], ["p", "q"][number / 2 % 2]);
        rows += &format!("{scheme}://{host}/{path}\t{agent}\n");
        let verdict = match (host, agent, path) {
            ("b.example", ..) | (_, "-", _) => "unknown",
            (_, "x", _) | (_, _, "p") => "disallow",
            _ => "allow",
        };
        let own = scheme == "https" && host.starts_with("www");
        expected.push((agent.trim_matches('-'), verdict, verdict != "unknown" && !own));
    }
    folder.write("t.tsv", rows);
    let args = ["classify", "set", "t.tsv", "--agent", "{agent}", "--scope", "www", "--columns"];
    let stood_in = expected.iter().filter(|row| row.2).count();
    let figures = [
        format!("decided by another origin {stood_in}\n"),
        format!("rows that name no crawler {}\n", expected.iter().filter(|row| row.0.is_empty()).count()),
        format!("x allow 0, disallow {}, ", expected.iter().filter(|row| row.0 == "x" && row.1 == "disallow").count()),
    ];
    let figures = figures.each_ref().map(String::as_str);
    let short = folder.run(&[&args[..], &["agent,verdict"]].concat()).says(0, &figures).text();
    let long = folder.run(&[&args[..], &["agent,verdict,reason"]].concat()).says(0, &figures).text();
    for ((short, long), (agent, verdict, stands_in)) in short.lines().zip(long.lines()).zip(&expected) {
        assert_eq!(short, format!("{agent}\t{verdict}"));
        assert!(long.starts_with(short) && long.ends_with(", of https://www.a.example") == *stands_in, "{long}");
    }
    assert_eq!((short.lines().count(), long.lines().count()), (1200, 1200));
}
