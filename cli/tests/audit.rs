//! `reptile audit`, against the truth of a generator: crawlers that obey, that do not, that obey an old copy, that use a
//! crawler's name from elsewhere, and that do not wait; three log formats in two time zones; a set with four versions.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::support::{self, Folder, Random};

const DAY: i64 = 86_400;
const GRACE: i64 = DAY;
const SESSION: i64 = 300;

/// 2026-01-01T00:00:00Z.
const START: i64 = 1_767_225_600;

/// Number of days.
const DAYS: i64 = 60;

/// Number of requests, and the environment variable for another number.
const REQUESTS: usize = 20_000;
const REQUESTS_VARIABLE: &str = "REPTILE_AUDIT_REQUESTS";

/// The addresses of OpenAI's crawler in the test.
const RANGE: &str = "192.0.2.0/28";

/// A version of a website's rules: its day, and the disallowed prefixes for each group.
struct Version {
    day: i64,
    groups: &'static [(&'static str, &'static [&'static str])],
}

/// A website, with the `Crawl-delay` of its newest version.
struct Site {
    host: &'static str,
    versions: &'static [Version],
    delay: i64,
}

const SITES: [Site; 2] = [
    Site {
        host: "a.example",
        delay: 5,
        versions: &[
            Version { day: 2, groups: &[("*", &["/private"])] },
            Version { day: 20, groups: &[("*", &["/private", "/new"]), ("GPTBot", &["/"])] },
            Version { day: 21, groups: &[("*", &["/private"]), ("GPTBot", &["/"])] },
            Version { day: 40, groups: &[("*", &["/private", "/open"]), ("GPTBot", &["/private"])] },
        ],
    },
    Site { host: "b.example", delay: 0, versions: &[Version { day: -10, groups: &[("*", &["/"])] }] },
];

const PATHS: [&str; 6] = ["/private/1", "/open/2?q=\\x22", "/new/3", "/", "/img/4.png", "/open"];

impl Version {
    fn start(&self) -> i64 {
        START + self.day * DAY + 3_600 * 7
    }

    fn group(&self, crawler: &str) -> &'static [&'static str] {
        let of = |name: &str| self.groups.iter().find(|(group, _)| *group == name).map(|(_, rules)| *rules);
        of(crawler).or_else(|| of("*")).unwrap_or_default()
    }

    fn disallows(&self, crawler: &str, path: &str) -> bool {
        self.group(crawler).iter().any(|rule| path.starts_with(rule))
    }

    fn body(&self, delay: i64) -> String {
        let mut body = String::new();
        for (group, rules) in self.groups {
            let _ = writeln!(body, "User-agent: {group}");
            body.extend(rules.iter().map(|rule| format!("Disallow: {rule}\n")));
            if delay > 0 {
                let _ = writeln!(body, "Crawl-delay: {delay}");
            }
        }
        body
    }
}

impl Site {
    /// Returns the version that is active at a time, and its number.
    fn at(&self, time: i64) -> Option<&'static Version> {
        self.versions.iter().rfind(|version| version.start() <= time)
    }

    /// Returns whether a file that was active in the grace period allows a URL, or may have.
    fn is_in_grace(&self, crawler: &str, path: &str, time: i64) -> bool {
        let since = time - GRACE;
        // The versions that begin in the period replace one that was active before.
        let begins = self.versions.iter().filter(|version| version.start() > since && version.start() <= time);
        begins
            .map(|version| self.at(version.start() - 1))
            .any(|before| before.is_none_or(|before| !before.disallows(crawler, path)))
    }
}

/// How a crawler behaves.
#[derive(Clone, Copy, PartialEq)]
enum Manner {
    /// Requests what its copy allows, and fetches a new copy every day.
    Obeys,
    /// Requests anything.
    Disobeys,
    /// Obeys a copy from the day before.
    ObeysOldCopy,
    /// Obeys, and does not wait.
    Hurries,
    Browses,
}

struct Crawler {
    header: &'static str,
    /// The name that the audit should find.
    name: &'static str,
    manner: Manner,
    clients: &'static [&'static str],
}

const CRAWLERS: [Crawler; 7] = [
    Crawler {
        header: "GoodBot/1.0 (+https://good.example)",
        name: "GoodBot",
        manner: Manner::Obeys,
        clients: &["198.51.100.7"],
    },
    Crawler {
        header: "RogueBot/2",
        name: "RogueBot",
        manner: Manner::Disobeys,
        clients: &["198.51.100.8", "2001:db8::8"],
    },
    Crawler { header: "StaleBot/3", name: "StaleBot", manner: Manner::ObeysOldCopy, clients: &["198.51.100.9"] },
    Crawler {
        header: "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)",
        name: "GPTBot",
        manner: Manner::Disobeys,
        // The second is not in the crawler's range.
        clients: &["192.0.2.3", "203.0.113.5"],
    },
    Crawler { header: "ChatGPT-User/1.0", name: "ChatGPT-User", manner: Manner::Disobeys, clients: &["203.0.113.6"] },
    Crawler { header: "HastyBot/1", name: "HastyBot", manner: Manner::Hurries, clients: &["198.51.100.10"] },
    // A header that looks like the end of one line and the start of another.
    Crawler {
        header: "Mozilla/5.0 (X11; Linux) Firefox/120.0\\x22 [01/Jan/2026] \\x22GET /private HTTP/1.1\\x22 200 1",
        name: "",
        manner: Manner::Browses,
        clients: &["203.0.113.77"],
    },
];

struct Event {
    time: i64,
    crawler: usize,
    site: usize,
    path: String,
    status: u16,
    client: &'static str,
}

/// Returns events in the order of time. At each site, a crawler makes at most one request in a second.
fn events(count: usize) -> Vec<Event> {
    let mut random = Random(0x5eed);
    let mut events = Vec::with_capacity(count);
    let mut copies: BTreeMap<(usize, usize), i64> = BTreeMap::new();
    let mut next = [START; CRAWLERS.len()];
    let step = (DAYS * DAY * CRAWLERS.len() as i64 / count as i64).max(2) as usize;
    while events.len() < count {
        let crawler = (0..CRAWLERS.len()).min_by_key(|&at| next[at]).unwrap();
        let time = next[crawler];
        let &Crawler { manner, clients, .. } = &CRAWLERS[crawler];
        // Usually short pauses, and sometimes the end of a session.
        next[crawler] += match random.below(20) {
            0 => SESSION + random.below(step * 38) as i64,
            _ if manner == Manner::Hurries => 1 + random.below(3) as i64,
            _ => 1 + random.below(step.min(290)) as i64,
        };
        let site = random.below(SITES.len());
        let copy = copies.get(&(crawler, site)).copied();
        let is_old = copy.is_none_or(|copy| time - copy > DAY);
        let fetches = match manner {
            Manner::Obeys | Manner::Hurries | Manner::ObeysOldCopy => is_old,
            _ => random.below(500) == 0,
        };
        let path = *random.one(&PATHS);
        let read = |path: &str| path.replace("\\x22", "\"");
        let believed = match manner {
            Manner::ObeysOldCopy => SITES[site].at(time - DAY),
            _ => SITES[site].at(copy.unwrap_or(time)),
        };
        let obeys = !matches!(manner, Manner::Disobeys | Manner::Browses);
        let path = match obeys && believed.is_some_and(|it| it.disallows(CRAWLERS[crawler].name, &read(path))) {
            // Everything is disallowed, or this path is.
            true => "/robots.txt",
            false => path,
        };
        let path = if fetches { "/robots.txt" } else { path };
        let status = match random.below(10) {
            0 => 403,
            1 => 429,
            2 if path == "/robots.txt" => 503,
            2 => 404,
            _ => 200,
        };
        if path == "/robots.txt" && (status == 200 || status == 404) {
            copies.insert((crawler, site), time);
        }
        events.push(Event {
            time,
            crawler,
            site,
            path: path.into(),
            status,
            client: clients[random.below(clients.len())],
        });
    }
    events.sort_by_key(|event| event.time);
    events
}

/// A crawler's expected counts.
#[derive(Debug, Default)]
struct Truth {
    counts: BTreeMap<&'static str, u64>,
    ages: [u64; 5],
    oldest: Option<i64>,
    first: Option<i64>,
    last: Option<i64>,
    first_violation: Option<i64>,
    last_violation: Option<i64>,
    paused: i64,
}

impl Truth {
    fn add(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }
}

#[derive(Default)]
struct Truths {
    crawlers: BTreeMap<&'static str, Truth>,
    unnamed: u64,
    /// Each violation: time, crawler, client, URL, status, whether it is in the grace period.
    violations: Vec<(i64, &'static str, &'static str, String, u16, bool)>,
}

fn truth(events: &[Event]) -> Truths {
    let mut all = Truths::default();
    let mut visits: BTreeMap<(usize, usize), (i64, Option<i64>)> = BTreeMap::new();
    for event in events {
        let (crawler, site) = (&CRAWLERS[event.crawler], &SITES[event.site]);
        if crawler.manner == Manner::Browses {
            all.unnamed += 1;
            continue;
        }
        let path = event.path.replace("\\x22", "\"");
        let found = all.crawlers.entry(crawler.name).or_default();
        found.first.get_or_insert(event.time);
        found.last = Some(event.time);
        let is_robots = path == "/robots.txt";
        let gives_copy = is_robots && matches!(event.status, 200 | 404);
        let visit = visits.get(&(event.crawler, event.site)).copied();
        match visit {
            Some((last, _)) if event.time - last < SESSION => {
                found.add("pauses");
                found.paused += event.time - last;
            }
            _ => found.add("sessions"),
        }
        if let (Some((last, _)), true) = (visit, site.delay > 0) {
            found.add("delayed");
            if event.time - last < site.delay {
                found.add("too_short");
            }
        }
        let copy = visit.and_then(|(_, copy)| copy);
        visits.insert((event.crawler, event.site), (event.time, if gives_copy { Some(event.time) } else { copy }));
        if is_robots {
            found.add("fetches");
            if gives_copy {
                found.add("copies");
            }
            continue;
        }
        found.add("requests");
        let is_refused = matches!(event.status, 403 | 429);
        if is_refused {
            found.add("refused");
        }
        let age = copy.map(|copy| event.time - copy);
        found.ages[match age {
            None => 4,
            Some(..=3_600) => 0,
            Some(..=86_400) => 1,
            Some(..=604_800) => 2,
            Some(_) => 3,
        }] += 1;
        found.oldest = found.oldest.max(age);
        let identity = match (crawler.name, event.client) {
            ("GPTBot", "192.0.2.3") => "verified",
            ("GPTBot", _) => "failed",
            _ => "no_check",
        };
        found.add(identity);
        let Some(version) = site.at(event.time) else {
            found.add("unknown");
            continue;
        };
        if !version.disallows(crawler.name, &path) {
            found.add("allowed");
            continue;
        }
        let is_in_grace = site.is_in_grace(crawler.name, &path, event.time);
        found.add(if is_in_grace { "in_grace" } else { "violations" });
        if !is_in_grace {
            found.add(if is_refused { "refused_violations" } else { "served_violations" });
            if version.group(crawler.name).contains(&"/") {
                found.add("blocked");
            }
            found.first_violation.get_or_insert(event.time);
            found.last_violation = Some(event.time);
        }
        let url = format!("https://{}{path}", site.host);
        all.violations.push((event.time, crawler.name, event.client, url, event.status, is_in_grace));
    }
    all
}

/// Returns a time as year, month, day, hour, minute and second, `offset` seconds east of UTC.
fn parts(time: i64, offset: i64) -> (i64, usize, i64, i64, i64, i64) {
    let time = time + offset;
    let (mut day, second) = (time.div_euclid(DAY) - START / DAY, time.rem_euclid(DAY));
    let (mut year, mut month) = (2026, 0);
    if day < 0 {
        (year, month, day) = (2025, 11, day + 31);
    }
    for len in [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < len || year == 2025 {
            break;
        }
        day -= len;
        month += 1;
    }
    (year, month, day + 1, second / 3600, second / 60 % 60, second % 60)
}

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Writes each event to one of three logs: Apache's with virtual hosts two hours east of UTC, nginx's in JSON in UTC, and
/// CloudFront's.
fn write_logs(folder: &Folder, events: &[Event]) {
    let (mut text, mut objects) = (String::new(), String::new());
    let mut w3c = String::from(
        "#Version: 1.0\n#Fields: date time c-ip sc-status x-host-header cs-protocol cs-uri-stem cs-uri-query cs(User-Agent)\n",
    );
    for (number, event) in events.iter().enumerate() {
        let (header, host) = (CRAWLERS[event.crawler].header, SITES[event.site].host);
        let Event { time, path, status, client, .. } = event;
        match number % 3 {
            0 => {
                let (year, month, day, h, m, s) = parts(*time, 7_200);
                let _ = writeln!(
                    text,
                    "{host}:443 {client} - - [{day:02}/{}/{year}:{h:02}:{m:02}:{s:02} +0200] \"GET {path} HTTP/1.1\" \
                     {status} 5 \"-\" \"{header}\"",
                    MONTHS[month]
                );
            }
            1 => {
                let (year, month, day, h, m, s) = parts(*time, 0);
                let header = header.replace("\\x22", "\\\"");
                let path = path.replace("\\x22", "\\\"");
                let _ = writeln!(
                    objects,
                    "{{\"time_iso8601\":\"{year}-{:02}-{day:02}T{h:02}:{m:02}:{s:02}+00:00\",\"server_name\":\"{host}\",\
                     \"remote_addr\":\"{client}\",\"request_uri\":\"{path}\",\"scheme\":\"https\",\"status\":\"{status}\",\
                     \"http_user_agent\":\"{header}\"}}",
                    month + 1
                );
            }
            _ => {
                let (year, month, day, h, m, s) = parts(*time, 0);
                let header = header.replace("\\x22", "%22").replace(' ', "%20");
                let path = path.replace("\\x22", "%22");
                let (stem, query) = path.split_once('?').unwrap_or((&path, "-"));
                let _ = writeln!(
                    w3c,
                    "{year}-{:02}-{day:02}\t{h:02}:{m:02}:{s:02}\t{client}\t{status}\t{host}\thttps\t{stem}\t{query}\t{header}",
                    month + 1
                );
            }
        }
    }
    folder.write("text.log", text);
    folder.write("json.log", objects);
    folder.write("w3c.log", w3c);
}

fn write_set(folder: &Folder) {
    let mut captures = String::new();
    for site in &SITES {
        for version in site.versions {
            let url = format!("https://{}/robots.txt", site.host);
            let capture = json!({ "url": url, "body": version.body(site.delay), "time": version.start() });
            let _ = writeln!(captures, "{capture}");
        }
    }
    folder.write("captures.jsonl", captures);
    folder.run(&["compile", "--by-time", "-o", "set", "captures.jsonl"]).says(0, &[]);
    folder.write(
        "gptbot.json",
        format!(r#"{{"creationTime":"2026-06-01T00:00:00Z","prefixes":[{{"ipv4Prefix":"{RANGE}"}}]}}"#),
    );
}

fn requests() -> usize {
    std::env::var(REQUESTS_VARIABLE).map_or(REQUESTS, |count| count.parse().unwrap())
}

fn shown(time: i64) -> String {
    let (year, month, day, h, m, s) = parts(time, 0);
    format!("{year}-{:02}-{day:02}T{h:02}:{m:02}:{s:02}Z", month + 1)
}

/// Checks the counts and the violations of an audit, and returns its JSON.
fn check(run: &support::Run, violations: &[u8], truths: &Truths, is_checked: bool) -> Value {
    let found: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(found["rows_without_crawler"], truths.unnamed);
    assert_eq!(found["unordered_requests"], 0);
    let crawlers = found["crawlers"].as_array().unwrap();
    assert_eq!(crawlers.len(), truths.crawlers.len());
    for crawler in crawlers {
        let name = crawler["crawler"].as_str().unwrap();
        let truth = &truths.crawlers[name];
        let count = |what: &str| truth.counts.get(what).copied().unwrap_or_default();
        let plain = [
            "requests",
            "allowed",
            "violations",
            "in_grace",
            "unknown",
            "blocked",
            "served_violations",
            "refused_violations",
            "refused",
            "sessions",
            "pauses",
        ];
        for what in plain {
            assert_eq!(crawler[what], count(what), "{name}: {what}");
        }
        let robots = &crawler["robots_txt"];
        assert_eq!(
            (&robots["fetches"], &robots["copies"]),
            (&json!(count("fetches")), &json!(count("copies"))),
            "{name}"
        );
        assert_eq!(robots["oldest_copy_seconds"], json!(truth.oldest), "{name}");
        for (class, expected) in ["hour", "day", "week", "older", "not_fetched"].iter().zip(truth.ages) {
            assert_eq!(robots["requests_by_age"][class], expected, "{name}: {class}");
        }
        let delays = json!({ "pauses": count("delayed"), "too_short": count("too_short") });
        assert_eq!(crawler["crawl_delay"], delays, "{name}");
        let mean = truth.paused as f64 / count("pauses").max(1) as f64;
        assert!((crawler["mean_pause_seconds"].as_f64().unwrap_or_default() - mean).abs() < 1e-9, "{name}");
        let times = [truth.first, truth.last, truth.first_violation, truth.last_violation];
        for (what, time) in ["first_request", "last_request", "first_violation", "last_violation"].iter().zip(times) {
            assert_eq!(crawler[what], json!(time.map(shown)), "{name}: {what}");
        }
        let identity = ["verified", "failed", "no_check"].map(|what| (what.to_owned(), count(what).into()));
        let identity = if is_checked { Value::Object(identity.into_iter().collect()) } else { Value::Null };
        assert_eq!(crawler["identity"], identity, "{name}");
    }
    let rows = std::str::from_utf8(violations).unwrap().lines();
    let mut rows: Vec<Value> = rows.map(|row| serde_json::from_str(row).unwrap()).collect();
    assert!(rows.is_sorted_by_key(|row| row["time"].to_string()));
    // Requests of one second in different logs have no order.
    let key = |time: &str, crawler: &str, url: &str| [time, crawler, url].join(" ");
    let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    rows.sort_by_cached_key(|row| key(&text(row, "time"), &text(row, "crawler"), &text(row, "url")));
    let mut violations: Vec<_> = truths.violations.iter().collect();
    violations.sort_by_cached_key(|(time, crawler, _, url, ..)| key(&shown(*time), crawler, url));
    assert_eq!(rows.len(), violations.len());
    for (row, (time, crawler, client, url, status, is_in_grace)) in rows.iter().zip(violations) {
        let site = SITES.iter().find(|site| url.contains(site.host)).unwrap();
        let expected = [
            ("time", json!(shown(*time))),
            ("crawler", json!(crawler)),
            ("client", json!(if is_checked { client } else { "" })),
            ("url", json!(url)),
            ("status", json!(status)),
            ("verdict", json!("disallow")),
            ("in_grace", json!(if *is_in_grace { "yes" } else { "no" })),
            ("capture_time", json!(shown(site.at(*time).unwrap().start()))),
            ("capture", json!(reptile::capture::digest(site.at(*time).unwrap().body(site.delay).as_bytes()))),
        ];
        for (name, value) in expected {
            assert_eq!(row[name], value, "{name}: {row:?}");
        }
        assert!(row["rule"].as_str().unwrap().starts_with("Disallow: /") && row["line"].as_u64() > Some(1), "{row:?}");
    }
    found
}

#[test]
fn every_count_equals_the_truth() {
    let folder = Folder::new();
    write_set(&folder);
    let events = events(requests());
    write_logs(&folder, &events);
    let truths = truth(&events);
    assert_eq!(truths.crawlers.len(), CRAWLERS.len() - 1);
    let grace = truths.violations.iter().filter(|violation| violation.5).count();
    assert!(grace > 10 && truths.violations.len() > 1_000, "{grace} of {}", truths.violations.len());
    // In any order of logs, with any number of threads.
    let runs = [(["text.log", "json.log", "w3c.log"], "1"), (["w3c.log", "text.log", "json.log"], "3")];
    for (logs, threads) in runs {
        let options = ["--json", "-q", "--set", "set", "--threads", threads, "--force", "--violations", "v.jsonl"];
        let run = folder.run(&[&["audit"], &logs[..], &options].concat()).says(0, &[]);
        let found = check(&run, &folder.read("v.jsonl"), &truths, false);
        assert_eq!((&found["rows"], &found["invalid_rows"]), (&json!(events.len()), &json!({})));
    }
    // Each violation is evidence: the set decides it again, and refuses a changed one.
    let rows = String::from_utf8(folder.read("v.jsonl")).unwrap();
    let rows: Vec<&str> = rows.lines().take(100).collect();
    folder.write("rows.jsonl", rows.join("\n"));
    folder.run(&["verify", "set", "--row", "rows.jsonl"]).says(0, &[]);
    let changed = rows[0].replace("Disallow: /", "Disallow: /x");
    folder.write("rows.jsonl", [&changed, rows[1]].join("\n"));
    assert!(folder.run(&["verify", "set", "--row", "rows.jsonl"]).says(1, &[]).text().contains("Disallow: /x"));
}

/// Clients' addresses are known in two of the formats, without a format from the user.
#[test]
fn clients_are_checked() {
    let folder = Folder::new();
    write_set(&folder);
    let events = events(requests());
    write_logs(&folder, &events);
    let of_logs = events.into_iter().enumerate().filter(|(number, _)| number % 3 != 0).map(|(_, event)| event);
    let truths = truth(&of_logs.collect::<Vec<_>>());
    let options = ["--set", "set", "--json", "-q", "--ranges", "GPTBot=gptbot.json", "--violations", "v.jsonl"];
    let run = folder.run(&[&["audit", "json.log", "w3c.log"], &options[..]].concat()).says(0, &[]);
    let found = check(&run, &folder.read("v.jsonl"), &truths, true);
    assert_eq!((&found["ranges"][0]["prefixes"], &found["ranges"][0]["name"]), (&json!(1), &json!("GPTBot")));
    // A list that is older than the log proves nothing about other addresses.
    let old = [&options[..], &["--ranges-at", "2025-12-31", "--force"]].concat();
    folder.write("gptbot.json", RANGE);
    let run = folder.run(&[&["audit", "json.log", "w3c.log"], &old[..]].concat()).says(0, &[]);
    let found: Value = serde_json::from_slice(&run.stdout).unwrap();
    let gptbot = found["crawlers"].as_array().unwrap().iter().find(|crawler| crawler["crawler"] == "GPTBot").unwrap();
    let truth = &truths.crawlers["GPTBot"].counts;
    let expected = json!({ "verified": truth["verified"], "failed": 0, "no_check": truth["failed"] });
    assert_eq!(gptbot["identity"], expected);
    let names = "192.0.2.3\tcrawl-3.other.example\n203.0.113.5\tgooglebot.com.other.example\n";
    folder.write("names.tsv", names);
    let run = folder.run(&["audit", "json.log", "--set", "set", "--dns", "names.tsv", "--json", "-q"]).says(0, &[]);
    let found: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(found["dns"]["addresses"], 2);
}

/// Each line has a log, options, the exit code and a part of the message.
#[test]
fn columns_and_options_that_do_not_fit_are_errors() {
    let folder = Folder::new();
    write_set(&folder);
    folder.write("a.csv", "ts,ua,url,code\n2026-02-01T00:00:00Z,GPTBot,https://a.example/private,200\n");
    folder.write(
        "a.log",
        "192.0.2.3 - - [01/Feb/2026:00:00:00 +0000] \"GET /private HTTP/1.1\" 200 5 \"-\" \"GPTBot/1.2\"\n",
    );
    folder.write("empty.log", "");
    folder.write("list.txt", "https://a.example/private\n");
    let cases: [(&[&str], i32, &str); 22] = [
        (&["a.csv"], 2, "--at time"),
        (&["a.csv", "--at", "{ts}"], 2, "--agent user_agent"),
        (&["a.csv", "--at", "{ts}", "--agent", "{ua}"], 2, "--status none leaves the statuses out"),
        (&["a.csv", "--at", "{ts}", "--agent", "{ua}", "--status", "{code}"], 0, "rows 1"),
        (&["a.csv", "--at", "{ts}", "--agent", "exact:{ua}", "--status", "none"], 0, "rows 1"),
        (&["a.csv", "--at", "ts"], 2, "expected a column's name in braces"),
        (&["a.csv", "--at", "{ts}", "--agent", "GPTBot"], 2, "expected a column's name in braces"),
        (&["a.log"], 2, "--host"),
        (&["a.log", "--host", "a.example"], 0, "rows 1"),
        (&["a.log", "--host", "a.example", "--client", "{client}"], 2, "a line's first field could be a header"),
        (&["a.log", "--host", "a.example", "--client", "{client}", "--input-format", "combined"], 0, "rows 1"),
        (&["a.log", "--host", "a.example", "--ranges", "gptbot.json"], 2, "expected NAME=FILE"),
        (&["a.log", "--host", "a.example", "--ranges", "NoBot=gptbot.json"], 2, "NoBot"),
        (&["a.log", "--host", "a.example", "--ranges-at", "2026-01-01"], 2, "--ranges"),
        (&["a.log", "--host", "a.example", "--grace", "1d"], 2, "such as 24h"),
        (&["a.log", "--host", "a.example", "--violations", "v.txt"], 2, "ends in .tsv, .csv"),
        (&["a.log", "--host", "a.example", "--violations", "a.log"], 2, "is the input"),
        (&["a.log", "./a.log", "--host", "a.example"], 2, "is given twice"),
        (&["a.log", "--host", "a.example", "--violations", "v.csv", "--report", "v.csv"], 2, "is --violations too"),
        (&["a.log", "--host", "other.example"], 0, "no robots.txt for the website and time of 1 of 1 requests"),
        (&["missing.log", "--host", "a.example"], 2, "missing.log"),
        (&["list.txt"], 2, "list.txt"),
    ];
    for (options, code, text) in cases {
        folder.run(&[&["audit", "--set", "set"], options].concat()).says(code, &[text]);
    }
    folder.run(&["audit", "empty.log", "--set", "set", "--host", "a.example"]).says(0, &["rows 0"]);
    folder.run(&["audit", "a.log", "--set", "missing", "--host", "a.example"]).says(2, &["missing"]);
    assert!(folder.names().iter().all(|name| !name.starts_with("v.")), "{:?}", folder.names());
}

/// A set without times has one set of rules, and a single robots.txt has them for all times.
#[test]
fn rules_without_times_apply_to_all_requests() {
    let folder = Folder::new();
    let line = |time: &str| format!("192.0.2.3 - - [{time}] \"GET /x HTTP/1.1\" 200 5 \"-\" \"GPTBot/1.2\"\n");
    folder.write("a.log", line("01/Feb/2026:00:00:00 +0000") + &line("01/Feb/1996:00:00:00 +0000"));
    folder.write("robots.txt", "User-agent: *\nDisallow: /x\n");
    let options = ["audit", "a.log", "--host", "a.example", "--json", "--set"];
    let run = folder.run(&[&options[..], &["robots.txt"]].concat()).says(0, &[]);
    let found: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((&found["crawlers"][0]["violations"], &found["crawlers"][0]["in_grace"]), (&json!(2), &json!(0)));
    folder.run(&["compile", "-o", "set", "--host", "a.example", "robots.txt"]).says(0, &[]);
    let run = folder.run(&[&options[..], &["set"]].concat()).says(0, &["is a compiled set without times"]);
    let other: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((&other["crawlers"], &other["set"]["by_time"]), (&found["crawlers"], &json!(false)));
}

#[test]
fn too_many_logs_of_the_same_time_are_refused() {
    const MAX_OPEN_LOGS: usize = 128;
    let folder = Folder::new();
    folder.write("robots.txt", "User-agent: *\nDisallow: /\n");
    let line = "192.0.2.3 - - [01/Feb/2026:00:00:00 +0000] \"GET / HTTP/1.1\" 200 5 \"-\" \"GPTBot/1.2\"\n";
    for count in [MAX_OPEN_LOGS - 1, MAX_OPEN_LOGS, MAX_OPEN_LOGS + 1] {
        let names: Vec<String> = (0..count).map(|number| format!("{number}.log")).collect();
        names.iter().for_each(|name| folder.write(name, line));
        folder.write("names", names.join("\n"));
        let run = folder.run(&["audit", "--files-from", "names", "--set", "robots.txt", "--host", "a.example"]);
        match count > MAX_OPEN_LOGS {
            true => drop(run.says(2, &["more than 128 logs cover the same time"])),
            false => drop(run.says(0, &[&format!("rows {count}")])),
        }
    }
    // Only one of several logs of different days is open at a time.
    for number in 0..=MAX_OPEN_LOGS {
        let (day, month) = (number % 28 + 1, MONTHS[number / 28]);
        folder.write(&format!("{number}.log"), line.replace("01/Feb", &format!("{day:02}/{month}")));
    }
    let run = folder.run(&["audit", "--files-from", "names", "--set", "robots.txt", "--host", "a.example", "--json"]);
    let found: Value = serde_json::from_slice(&run.says(0, &[]).stdout).unwrap();
    assert_eq!((&found["rows"], &found["crawlers"][0]["sessions"]), (&json!(129), &json!(129)));
}

/// Strangers' text in the report and the summary is escaped.
#[test]
fn reports_escape_what_strangers_write() {
    let folder = Folder::new();
    folder.write("robots.txt", "User-agent: *\nDisallow: /\n");
    let line = "192.0.2.3 - - [01/Feb/2026:00:00:00 +0000] \"GET /<script>alert(1)</script>\\x1b[31m HTTP/1.1\" 200 5 \
                \"-\" \"Bot<b>/1 Bot&Co-bot/1.0\"\n";
    folder.write("a.log", line);
    let options = ["--host", "a.example", "--set", "robots.txt", "--report", "r.html"];
    let run = folder.run(&[&["audit", "a.log"], &options[..]].concat()).says(0, &[]);
    let page = String::from_utf8(folder.read("r.html")).unwrap();
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && !page.contains("<script"), "{page}");
    assert!(!page.contains('\x1b') && !run.text().contains('\x1b'));
    for needless in ["http://", "src=", "url("] {
        assert!(!page.contains(needless), "{needless}");
    }
    let unknown = [&options[..], &["--force", "--violations", "v.jsonl"]].concat();
    let unknown: Vec<&str> = unknown.iter().map(|word| if *word == "a.example" { "b.example" } else { word }).collect();
    folder.run(&["compile", "-q", "-o", "set", "--host", "a.example", "robots.txt"]).says(0, &[]);
    let unknown: Vec<&str> = unknown.iter().map(|word| if *word == "robots.txt" { "set" } else { word }).collect();
    folder.run(&[&["audit", "a.log"], &unknown[..]].concat()).says(0, &["which are unknown"]);
    let undecided = String::from_utf8(folder.read("r.html")).unwrap();
    assert!(undecided.contains("1 could not be decided") && !undecided.contains("violated no rule"), "{undecided}");
    let sections = page.matches("<section").count();
    assert_eq!((sections, page.matches("<svg").count(), page.matches("</svg>").count()), (1, 1, 1));
}
