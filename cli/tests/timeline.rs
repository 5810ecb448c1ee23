//! `reptile timeline`: periods, evidence, formats, and the same answers as `classify --at` and `summarize`.
//!
//! `python_reads_a_timeline` needs Python with pyarrow:
//! `PYTHON=venv/bin/python cargo test -p reptile-cli --test all timeline -- --ignored`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use reptile_corpora::Web;
use reptile_corpora::times::{FIRST_TIME, SECONDS};
use reptile_records::time::show_time;
use serde_json::{Map, Value};
use xxhash_rust::xxh3::xxh3_64;

use crate::summarize::{json_rows, parquet_rows};
use crate::support::Folder;

const MANAGED: &str = r"# BEGIN Cloudflare Managed content\nuser-agent: GPTBot\ndisallow: /\n# END Cloudflare Managed Content\nuser-agent: *\ndisallow: /new\n\nuser-agent: Googlebot\ndisallow: /g\n";

/// Returns a capture as JSON. `rest` is its status and body.
fn capture(host: &str, time: &str, rest: &str) -> String {
    let time = if time.is_empty() { String::new() } else { format!(",\"time\":\"{time}\"") };
    format!("{{\"url\":\"https://{host}/robots.txt\"{time},{rest}}}\n")
}

fn body(text: &str) -> String {
    format!("\"status\":200,\"body\":\"{text}\"")
}

/// Returns a folder with a set by time: a site whose file changes, becomes unreachable, and returns; one whose file has
/// no time and then disappears; one that was never reachable; and one with an empty file.
fn years() -> Folder {
    let folder = Folder::new();
    let captures = [
        capture("a.example", "2026-01-01T00:00:00Z", &body(r"user-agent: *\ndisallow: /old\n")),
        capture("a.example", "2026-02-01T00:00:00Z", &body(MANAGED)),
        // The same file again begins no period.
        capture("a.example", "2026-02-10T00:00:00Z", &body(MANAGED)),
        capture("a.example", "2026-03-01T00:00:00Z", "\"status\":503"),
        capture("a.example", "2026-05-01T00:00:00Z", &body(MANAGED)),
        capture("b.example", "", "\"body\":\"user-agent: *\\ndisallow: /b\\n\""),
        capture("b.example", "2026-02-01T00:00:00Z", "\"status\":404"),
        capture("c.example", "2026-02-01T00:00:00Z", "\"error\":\"connection timed out\""),
        capture("d.example", "2026-02-01T00:00:00Z", &body("")),
    ];
    folder.write("c.jsonl", captures.concat());
    folder.run(&["compile", "--by-time", "--profile", "rfc9309", "-o", "set", "c.jsonl"]).says(0, &[]);
    folder
}

#[test]
fn each_period_has_a_row_for_each_agent() {
    let folder = years();
    folder.write("list", "a.example\nb.example\nc.example\nd.example\nn.example\nnot a host\n");
    let args = ["timeline", "set", "list", "--key", "host", "--header", "-a", "GPTBot", "-a", "Googlebot-Image"];
    let says = [
        "origins 6\n",
        "periods 12\n",
        "agent GPTBot allowed 4, disallowed 4, partial 2, unknown 1, unproved 0, invalid 1\n",
        "agent Googlebot-Image allowed 4, disallowed 1, partial 5, unknown 1, unproved 0, invalid 1\n",
    ];
    let text = folder.run(&args).says(0, &says).text();
    let (header, rows) = text.split_once('\n').unwrap();
    let names = "host agent valid_from valid_to access group allow_rules disallow_rules reason allowed_path \
                 disallowed_path source cause managed capture_time status digest";
    assert_eq!(header.replace('\t', " "), names);
    let hash = |body: &str| format!("xxh3-64:{:016x}", xxh3_64(body.replace("\\n", "\n").as_bytes()));
    let (old, managed, empty) =
        (&*hash(r"user-agent: *\ndisallow: /old\n"), &*hash(MANAGED), "xxh3-64:2d06800538d394c2");
    let table = [
        // host, from, to, GPTBot, Googlebot-Image, source, cause, managed for each, evidence
        (
            "a.example",
            "2026-01-01",
            "2026-01-31T23:59:59Z",
            ["partial", "default"],
            ["partial", "default"],
            "rules",
            "",
            ["", ""],
            "2026-01-01",
            "200",
            old,
        ),
        (
            "a.example",
            "2026-02-01",
            "2026-02-28T23:59:59Z",
            ["disallowed", "named"],
            ["partial", "inherited"],
            "rules",
            "",
            ["yes", "elsewhere"],
            "2026-02-01",
            "200",
            managed,
        ),
        (
            "a.example",
            "2026-03-01",
            "2026-03-31T00:00:00Z",
            ["disallowed", "named"],
            ["partial", "inherited"],
            "last-good-copy",
            "503",
            ["yes", "elsewhere"],
            "2026-02-10",
            "200",
            managed,
        ),
        (
            "a.example",
            "2026-03-31T00:00:01Z",
            "2026-04-30T23:59:59Z",
            ["allowed", "none"],
            ["allowed", "none"],
            "allow-all",
            "unreachable for more than 30 days",
            ["", ""],
            "2026-03-01",
            "503",
            "",
        ),
        (
            "a.example",
            "2026-05-01",
            "",
            ["disallowed", "named"],
            ["partial", "inherited"],
            "rules",
            "",
            ["yes", "elsewhere"],
            "2026-05-01",
            "200",
            managed,
        ),
        (
            "b.example",
            "",
            "2026-01-31T23:59:59Z",
            ["partial", "default"],
            ["partial", "default"],
            "rules",
            "",
            ["", ""],
            "",
            "",
            "",
        ),
        (
            "b.example",
            "2026-02-01",
            "",
            ["allowed", "none"],
            ["allowed", "none"],
            "allow-all",
            "404",
            ["", ""],
            "2026-02-01",
            "404",
            "",
        ),
        (
            "c.example",
            "2026-02-01",
            "2026-03-03T00:00:00Z",
            ["disallowed", "none"],
            ["disallowed", "none"],
            "disallow-all",
            "network error",
            ["", ""],
            "2026-02-01",
            "",
            "",
        ),
        (
            "c.example",
            "2026-03-03T00:00:01Z",
            "",
            ["allowed", "none"],
            ["allowed", "none"],
            "allow-all",
            "unreachable for more than 30 days",
            ["", ""],
            "2026-02-01",
            "",
            "",
        ),
        (
            "d.example",
            "2026-02-01",
            "",
            ["allowed", "none"],
            ["allowed", "none"],
            "rules",
            "",
            ["no", "no"],
            "2026-02-01",
            "200",
            empty,
        ),
        ("n.example", "", "", ["unknown", "none"], ["unknown", "none"], "", "", ["", ""], "", "", ""),
        ("not a host", "", "", ["invalid", "none"], ["invalid", "none"], "", "", ["", ""], "", "", ""),
    ];
    let time = |text: &str| if text.len() == 10 { format!("{text}T00:00:00Z") } else { text.to_owned() };
    let mut expected = Vec::new();
    for (host, from, to, gptbot, image, source, cause, managed, captured, status, hash) in table {
        for (agent, [access, group], managed) in
            [("GPTBot", gptbot, managed[0]), ("Googlebot-Image", image, managed[1])]
        {
            let (from, captured) = (time(from), time(captured));
            expected.push(format!(
                "{host} {agent} {from} {to} {access} {group} | {source} {cause} {managed} {captured} {status} {hash}"
            ));
        }
    }
    let shown = rows.lines().map(|row| {
        let cells: Vec<&str> = row.split('\t').collect();
        format!("{} | {}", cells[..6].join(" "), cells[11..].join(" "))
    });
    assert_eq!(shown.collect::<Vec<_>>(), expected);
    assert_eq!(expected.len(), 24);
    // Without a list, the origins of the set.
    let all = folder.run(&["timeline", "set", "--agent", "GPTBot"]).says(0, &["origins 4\n", "periods 10\n"]).text();
    assert_eq!(all.lines().count(), 10);
    // Captures that are compiled in memory have the same periods.
    let args = ["timeline", "c.jsonl", "--agent", "GPTBot", "--profile", "rfc9309"];
    assert_eq!(folder.run(&args).says(0, &[]).text(), all);
}

#[test]
fn sets_with_few_facts_have_empty_cells() {
    let folder = years();
    folder.write("robots/r.example", "# BEGIN Cloudflare Managed content\nuser-agent: *\ndisallow: /\n");
    folder.write("empty.jsonl", "\n");
    let compile = |set: &str, options: &[&str]| {
        folder.run(&[&["compile", "--force", "--by-time", "-o", set], options].concat()).says(0, &[]);
    };
    compile("plain", &["robots", "--scheme", "https"]);
    compile("no-lines", &["robots", "--scheme", "https", "--omit", "lines"]);
    compile("no-other", &["robots", "--scheme", "https", "--omit", "other"]);
    compile("early", &["c.jsonl", "--at", "2026-01-15"]);
    // The row is always valid, with nothing about its captures.
    let row = |managed: &str| {
        format!("https://r.example/\tx\t\t\tdisallowed\tdefault\t0\t1\trule\t\t\trules\t\t{managed}\t\t\t\n")
    };
    let cases = [
        ("plain", "x", row("yes"), ""),
        ("no-lines", "x", row(""), ""),
        ("no-other", "x", row(""), "no-other: no other directives in it, so managed is empty"),
    ];
    for (set, agent, expected, says) in &cases {
        let run = folder.run(&["timeline", set, "--agent", agent]).says(0, &[says]);
        assert_eq!(run.text(), *expected, "{set}");
    }
    assert_eq!(cases.len(), 3);
    let text = folder.run(&["timeline", "early", "--agent", "x"]).says(0, &["periods 2\n"]).text();
    assert!(
        text.lines().any(|row| row.starts_with("https://a.example/\tx\t2026-01-01T00:00:00Z\t\tpartial")),
        "{text}"
    );
    folder.run(&["compile", "-o", "without", "c.jsonl"]).says(0, &[]);
    folder
        .run(&["timeline", "without", "--agent", "x", "-o", "out"])
        .says(2, &["without: is a compiled set without times"]);
    assert!(!folder.names().contains(&"out".to_owned()));
    folder.run(&["timeline", "empty.jsonl", "--agent", "x"]).says(2, &["empty.jsonl: is text, not a compiled set"]);
    // All captures are later than the set's time.
    folder.write("late.jsonl", capture("a.example", "2026-01-01", &body(r"user-agent: *\ndisallow: /\n")));
    compile("none", &["late.jsonl", "--at", "2025-01-01"]);
    let none = folder.run(&["timeline", "none", "--agent", "x", "--header"]).says(0, &["origins 0\n", "periods 0\n"]);
    assert_eq!(none.text().lines().count(), 1);
    folder.run(&["timeline", "none", "--agent", "x", "-o", "none.parquet"]).says(0, &[]);
    assert!(parquet_rows(&folder, "none.parquet").is_empty());
}

#[test]
fn uses_are_those_of_each_period() {
    let folder = Folder::new();
    let captures = [
        capture("a.example", "2026-01-01", &body(r"user-agent: *\nallow: /\n")),
        capture("a.example", "2026-02-01", &body(r"user-agent: *\ncontent-usage: train-ai=n\nallow: /\n")),
        capture("a.example", "2026-03-01", &body(r"user-agent: *\ncontent-usage: train-ai=y\nallow: /\n")),
        capture("a.example", "2026-04-01", &body(r"user-agent: *\ncontent-usage: train-ai=y\ndisallow: /\n")),
    ];
    folder.write("c.jsonl", captures.concat());
    let args = ["timeline", "c.jsonl", "--agent", "x", "--usage", "train-ai,search", "--header"];
    let says = "train-ai allowed 1, disallowed 1, partial 0, unknown 1, not-applicable 1, unproved 0";
    let text = folder.run(&args).says(0, &[says]).text();
    let uses: Vec<Vec<&str>> = text.lines().map(|row| row.split('\t').skip(17).collect()).collect();
    let expected = [
        ["train-ai", "search"],
        ["unknown", "unknown"],
        ["disallowed", "unknown"],
        ["allowed", "unknown"],
        ["not-applicable", "not-applicable"],
    ];
    assert_eq!(uses, expected);
}

#[test]
fn all_formats_agree() {
    let folder = years();
    folder.write("list", "a.example\nb.example\nn.example\nnot a host\n");
    let args = ["timeline", "set", "list", "-a", "GPTBot", "-a", "x", "--key", "url,domain", "--usage", "train-ai"];
    let write = |options: &[&str]| folder.run(&[&args[..], options].concat()).says(0, &[]).text();
    let json = json_rows(&write(&["--format", "jsonl"]));
    assert_eq!(json.len(), 2 * 9);
    write(&["-o", "out.parquet"]);
    assert_eq!(parquet_rows(&folder, "out.parquet"), json);
    for (format, delimiter) in [("tsv", '\t'), ("csv", ',')] {
        let text = write(&["--header", "--format", format]);
        let mut lines = text.lines().map(|line| line.split(delimiter).map(str::to_owned).collect::<Vec<_>>());
        let names = lines.next().unwrap();
        // Only the reason of a last good copy contains a comma.
        let rows = lines.filter(|cells| cells.len() == names.len()).map(|cells| {
            let cell = |(name, text): (&String, String)| match &**name {
                _ if text.is_empty() => None,
                "allow_rules" | "disallow_rules" | "status" => {
                    Some((name.clone(), text.parse::<u32>().unwrap().into()))
                }
                _ => Some((name.clone(), text.into())),
            };
            Value::Object(names.iter().zip(cells).filter_map(cell).collect::<Map<_, _>>())
        });
        let has_comma = |row: &&Value| format == "csv" && row["reason"].as_str().unwrap().contains(',');
        let expected: Vec<Value> = json.iter().filter(|row| !has_comma(row)).cloned().collect();
        assert_eq!(rows.collect::<Vec<_>>(), expected, "{format}");
    }
}

const PYTHON: &str = r"
import sys, json, datetime, pyarrow.parquet as pq, pyarrow.ipc as ipc
folder = sys.argv[1]
def rows(table):
    for row in table.to_pylist():
        yield {name: cell.strftime('%Y-%m-%dT%H:%M:%SZ') if isinstance(cell, datetime.datetime) else cell
               for name, cell in row.items() if cell is not None}
expected = [json.loads(line) for line in open(folder + 'out.jsonl')]
expected = [{name: cell for name, cell in row.items() if cell not in (None, '')} for row in expected]
assert expected
assert list(rows(pq.read_table(folder + 'out.parquet'))) == expected
assert list(rows(ipc.open_file(folder + 'out.arrow').read_all())) == expected
assert list(rows(ipc.open_stream(folder + 'out.arrows').read_all())) == expected
print(len(expected), 'rows agree')
";

#[test]
#[ignore = "needs Python with pyarrow"]
fn python_reads_a_timeline() {
    let folder = years();
    for name in ["out.jsonl", "out.parquet", "out.arrow", "out.arrows"] {
        folder.run(&["timeline", "set", "-a", "GPTBot", "-a", "x", "-o", name]).says(0, &[]);
    }
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let done = std::process::Command::new(python).args(["-c", PYTHON]).arg(folder.path("")).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// The periods exceed a batch. One thread and several threads give the same rows.
#[test]
fn periods_are_written_in_batches() {
    const ORIGINS: usize = 3_000;
    const PERIODS: usize = 4;
    let folder = Folder::new();
    let line = |number: usize| {
        let (origin, period) = (number / PERIODS, number % PERIODS);
        let rules = format!(r"user-agent: *\ndisallow: /p{}\n", (origin + period) % 500);
        capture(&format!("h{origin}.example"), &format!("2026-0{}-01", period + 1), &body(&rules))
    };
    folder.write("web.jsonl", (0..ORIGINS * PERIODS).map(line).collect::<String>());
    folder.run(&["compile", "--by-time", "-o", "set", "web.jsonl"]).says(0, &[]);
    let run = |threads| folder.run(&["timeline", "set", "--agent", "x", "--threads", threads, "--format", "jsonl"]);
    let one = run("1").says(0, &["origins 3,000\n", "periods 12,000\n", "examined 500\n"]);
    assert!(one.stdout == run("4").says(0, &[]).stdout);
    let mut rows = 0;
    for row in one.text().lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let url = row["url"].as_str().unwrap();
        let origin: usize = url["https://h".len()..].split('.').next().unwrap().parse().unwrap();
        let month: usize = row["valid_from"].as_str().unwrap()[5..7].parse().unwrap();
        assert_eq!(row["disallowed_path"], format!("/p{}", (origin + month - 1) % 500), "{url}");
        rows += 1;
    }
    assert_eq!(rows, ORIGINS * PERIODS);
}

const AGENTS: [&str; 5] = ["GPTBot", "Googlebot", "Googlebot-Image", "CCBot", "x"];
const ORIGINS: u64 = 200;
const DATES: usize = 50;

/// Paths of every origin, besides the paths that rows show.
const PATHS: [&str; 4] = ["/", "/wp-admin/x", "/search?q=1", "/a/b/index.html"];

/// The rows of a timeline for each origin and agent.
type Periods = HashMap<(String, String), Vec<Value>>;

/// Returns the row that contains a time.
fn at(periods: &[Value], time: i64) -> Option<&Value> {
    let time = show_time(time);
    let is_at = |row: &&Value| {
        row["valid_from"].as_str().is_none_or(|from| from <= &*time)
            && row["valid_to"].as_str().is_none_or(|to| &*time <= to)
    };
    let mut found = periods.iter().filter(is_at);
    let row = found.next();
    assert!(found.next().is_none(), "two periods contain {time}");
    row
}

/// Returns a folder with a set by time of synthetic sites, and its timeline.
fn synthetic() -> (Folder, Periods) {
    let folder = Folder::new();
    let web = Web { origins: ORIGINS, seed: 51 };
    let mut captures = String::new();
    for site in (0..web.origins).map(|number| web.site(number)) {
        for fetch in web.fetches(&site, 6) {
            writeln!(captures, "{}", site.capture(&fetch.answer, fetch.time)).unwrap();
        }
    }
    folder.write("c.jsonl", captures);
    folder.run(&["compile", "--by-time", "-o", "set", "c.jsonl"]).says(0, &[]);
    let agents = AGENTS.iter().flat_map(|agent| ["--agent", agent]);
    let args = ["timeline", "set", "--format", "jsonl"].into_iter().chain(agents);
    let text = folder.run(&args.collect::<Vec<_>>()).says(0, &["origins 200\n"]).text();
    let mut periods = Periods::new();
    for row in text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let key = |name: &str| row[name].as_str().unwrap().to_owned();
        periods.entry((key("url"), key("agent"))).or_default().push(row);
    }
    (folder, periods)
}

/// Returns the dates at which an origin is checked: the bounds of its first periods, and evenly spaced ones.
fn dates(periods: &[Value]) -> Vec<i64> {
    let bounds = periods.iter().filter_map(|row| {
        let from = row["valid_from"].as_str()?;
        reptile_records::time::read_time(from, &reptile_records::time::Zone::default()).ok()
    });
    let mut dates: Vec<i64> = bounds.flat_map(|from| [from - 1, from]).take(10).collect();
    let even = (DATES - dates.len()) as i64;
    // The first is before all captures, and the last after all of them.
    dates.extend((0..even).map(|number| FIRST_TIME - 1 + number * (SECONDS + 60 * 86_400) / (even - 1)));
    dates
}

#[test]
fn periods_agree_with_the_verdicts_at_each_date() {
    let (folder, periods) = synthetic();
    let origins: Vec<&String> = periods.keys().filter(|(_, agent)| agent == AGENTS[0]).map(|(url, _)| url).collect();
    assert_eq!(origins.len() as u64, ORIGINS);
    let (mut table, mut asked) = ("url\ttime\n".to_owned(), Vec::new());
    for origin in origins {
        let of = |agent: &str| &periods[&(origin.clone(), agent.to_owned())][..];
        let shown = AGENTS
            .iter()
            .flat_map(|agent| of(agent))
            .flat_map(|row| ["allowed_path", "disallowed_path"].map(|name| row[name].as_str().unwrap()));
        let mut paths: Vec<&str> = PATHS.into_iter().chain(shown.filter(|path| !path.is_empty())).collect();
        paths.sort_unstable();
        paths.dedup();
        for date in dates(of(AGENTS[0])) {
            for path in &paths {
                let url = format!("{}{path}", origin.trim_end_matches('/'));
                writeln!(table, "{url}\t{date}").unwrap();
                asked.push((origin, *path, date));
            }
        }
    }
    folder.write("t.tsv", table);
    let agents = AGENTS.iter().flat_map(|agent| ["--agent", agent]);
    let args = ["classify", "set", "t.tsv", "--url", "url", "--at", "{time}", "--columns", "url,capture_time,verdict"];
    let text = folder.run(&args.into_iter().chain(agents).collect::<Vec<_>>()).says(0, &[]).text();
    let mut checked: BTreeMap<&str, u64> = BTreeMap::new();
    let mut begins = 0;
    for (row, (origin, path, date)) in text.lines().zip(&asked) {
        let cells: Vec<&str> = row.split('\t').collect();
        for (agent, verdict) in AGENTS.iter().zip(&cells[2..]) {
            let row = at(&periods[&((*origin).clone(), (*agent).to_owned())], *date);
            let access = row.map_or("none", |row| row["access"].as_str().unwrap());
            let expected = match access {
                "none" => "unknown",
                "allowed" => "allow",
                "disallowed" => "disallow",
                "partial" if row.unwrap()["allowed_path"] == *path => "allow",
                "partial" if row.unwrap()["disallowed_path"] == *path => "disallow",
                "partial" => continue,
                other => panic!("{origin} {agent}: {other}"),
            };
            assert_eq!(*verdict, expected, "{origin} {path} {agent} {}", show_time(*date));
            *checked.entry(access).or_default() += 1;
            if let Some(row) = row.filter(|row| row["valid_from"] == show_time(*date)) {
                assert_eq!(row["capture_time"].as_str().unwrap_or_default(), cells[1], "{origin} {}", show_time(*date));
                begins += 1;
            }
        }
    }
    println!("{} rows, {checked:?}, {begins} at the beginning of a period", asked.len());
    assert!(asked.len() as u64 >= ORIGINS * DATES as u64 * PATHS.len() as u64 && text.lines().count() == asked.len());
    assert!(["none", "allowed", "disallowed", "partial"].iter().all(|&access| checked[access] > 2_000), "{checked:?}");
    assert!(begins > 2_000, "{begins}");
}

#[test]
fn rows_equal_the_summary_of_a_set_for_their_time() {
    let (folder, periods) = synthetic();
    let agents: Vec<&str> = AGENTS.iter().flat_map(|agent| ["--agent", agent]).collect();
    let mut compared = 0;
    for number in 0..6 {
        let time = FIRST_TIME + 40 * 86_400 + number * SECONDS / 5;
        folder.run(&["compile", "--force", "-o", "at", "--at", &time.to_string(), "c.jsonl"]).says(0, &[]);
        let args = [&["summarize", "at", "--format", "jsonl"], &agents[..]].concat();
        let text = folder.run(&args).says(0, &[]).text();
        let known = periods.values().filter_map(|periods| at(periods, time)).count();
        assert_eq!(text.lines().count(), known);
        for expected in text.lines().map(|line| serde_json::from_str::<Map<String, Value>>(line).unwrap()) {
            let key = |name: &str| expected[name].as_str().unwrap().to_owned();
            let row = at(&periods[&(key("url"), key("agent"))], time).unwrap();
            for (name, cell) in &expected {
                let found = if row[name] == "inherited" { &Value::from("named") } else { &row[name] };
                assert_eq!(found, cell, "{name} in {row}");
            }
            compared += 1;
        }
    }
    assert!(compared > 4_000, "{compared}");
}
