//! Columns of `reptile classify` that pipelines join by: refused agents, capture time and deciding ruleset. Also
//! verdicts replaced by `--treat`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::fs::File;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, RowAccessor};

use crate::support;
use support::{Folder, Run};

const URLS: &str = "http://a.example/private\nhttp://a.example/xzy\nhttp://b.example/\nhttp://a.example/\n\
                    http://n.example/\nnot a URL\n";

/// Classifies a list for `bot-a` and `x`.
fn run(folder: &Folder, text: &str, options: &[&str]) -> Run {
    folder.write("urls", text);
    folder.run(&[&["classify", "set", "urls", "--agent", "bot-a", "--agent", "x"], options].concat())
}

#[test]
fn refused_agents_fill_one_cell_in_every_text_format() {
    let folder = Folder::with_set();
    let tsv = run(&folder, URLS, &["--columns", "url,mask,refused", "--header"]).says(0, &[]).text();
    let expected = [
        "url\tmask\trefused",
        "http://a.example/private\t1\tbot-a",
        "http://a.example/xzy\t2\tx",
        "http://b.example/\t3\tbot-a;x",
        "http://a.example/\t0\t",
        "http://n.example/\t\tunknown",
        "not a URL\t\tinvalid",
    ];
    assert_eq!(tsv.lines().collect::<Vec<_>>(), expected);
    let csv = run(&folder, URLS, &["--columns", "url,mask,refused", "--header", "--format", "csv"]).text();
    assert_eq!(csv, tsv.replace('\t', ","));
    let json = run(&folder, URLS, &["--columns", "refused,verdict,mask", "--format", "jsonl"]).says(0, &[]).text();
    let verdicts = |a: &str, x: &str| format!("\"bot-a:verdict\":\"{a}\",\"x:verdict\":\"{x}\"");
    let expected = [
        "{\"refused\":[\"bot-a\"],".to_owned() + &verdicts("disallow", "allow") + ",\"mask\":1}",
        "{\"refused\":[\"x\"],".to_owned() + &verdicts("allow", "disallow") + ",\"mask\":2}",
        "{\"refused\":[\"bot-a\",\"x\"],".to_owned() + &verdicts("disallow", "disallow") + ",\"mask\":3}",
        "{\"refused\":[],".to_owned() + &verdicts("allow", "allow") + ",\"mask\":0}",
        "{\"refused\":null,".to_owned() + &verdicts("unknown", "unknown") + ",\"mask\":null}",
        "{\"refused\":null,".to_owned() + &verdicts("invalid", "invalid") + ",\"mask\":null}",
    ];
    assert_eq!(json.lines().collect::<Vec<_>>(), expected);
    let row = "http://a.example/private\n";
    let more = ["--columns", "url,mask,line,any-of"];
    assert_eq!(run(&folder, row, &more).text(), "http://a.example/private\t1\t2\t0\tdisallow\n");
    folder.write("t.csv", "url,n\nhttp://b.example/,7\n");
    let args = ["classify", "set", "t.csv", "--agent", "bot-a", "--add-columns", "--columns", "mask,refused"];
    assert_eq!(folder.run(&args).says(0, &[]).text(), "mask,refused,url,n\n1,bot-a,http://b.example/,7\n");
    // A line that is too long for a URL.
    let long = "x".repeat(3 << 20);
    let found = run(&folder, &format!("{long}\nhttp://b.example/\n"), &["--columns", "mask,refused"]).says(0, &[]);
    assert_eq!(found.text(), "\tinvalid\n3\tbot-a;x\n");
    // Also one that is short enough for a line.
    for long in [&long, &format!("http://b.example/{}", "x".repeat(64 << 10))] {
        // The exit code says that most rows are invalid.
        let found = run(&folder, &format!("{long}\n"), &["--columns", "reason"]).says(1, &[]);
        assert_eq!(found.text(), "URL over 64 KiB\tURL over 64 KiB\n");
    }
}

#[test]
fn columns_that_cannot_represent_the_agents_are_refused() {
    let folder = Folder::with_set();
    let names: Vec<String> = (0..65_u8)
        .map(|number| format!("bot-{}{}", char::from(b'a' + number / 26), char::from(b'a' + number % 26)))
        .collect();
    let mut args = vec!["classify", "set", "urls", "--columns", "mask"];
    folder.write("urls", "http://b.example/\n");
    names[..64].iter().for_each(|name| args.extend(["--agent", name]));
    assert_eq!(folder.run(&args).says(0, &[]).text(), format!("{}\n", u64::MAX));
    let json = folder.run(&[&args[..], &["--format", "jsonl"]].concat()).says(0, &[]).text();
    assert_eq!(json, format!("{{\"mask\":{}}}\n", u64::MAX));
    args.extend(["--agent", &names[64]]);
    folder.run(&args).says(2, &["--columns mask: expected at most 64 crawlers", "found 65", "\"bot-cm\""]);
    let refused = ["--columns", "refused", "--agent", "unknown"];
    run(&folder, URLS, &refused).says(2, &["--columns refused: the name \"unknown\" would be ambiguous"]);
    let json = run(&folder, URLS, &[&refused[..], &["--format", "jsonl"]].concat()).says(0, &[]).text();
    assert_eq!(json.lines().nth(2), Some("{\"refused\":[\"bot-a\",\"x\",\"unknown\"]}"));
    for column in ["mask", "refused"] {
        let args = ["classify", "set", "urls", "--agent", "{agent}", "--columns", column, "--input-format", "tsv"];
        folder.write("urls", "url\tagent\nhttp://b.example/\tGPTBot\n");
        folder.run(&args).says(2, &[&format!("--columns {column}: is about all named crawlers")]);
    }
}

/// Columns that depend only on verdicts are decided in batches, with the same result as row by row.
#[test]
fn batches_and_single_rows_give_the_same_columns() {
    let folder = Folder::with_set();
    let mut rows = String::from("agent\turl\ttime\n");
    for number in 0..3000 {
        let agent = ["bot-a", "x", "-", "Mozilla/5.0 (compatible; bot-a/1.0)", "Mozilla/5.0 (X11)", ""][number % 6];
        let host = ["a.example", "b.example", "n.example", "c.example:8080"][number % 4];
        let path = ["private", "xy", "private/open", "\u{202e}", ""][number % 5];
        rows += &format!("{agent}\thttp://{host}/{path}\t{number}\n");
    }
    folder.write("t.tsv", rows);
    let by_row = ["--agent", "{agent}"];
    let named = ["--agent", "bot-a", "--agent", "x"];
    let cases: [(&[&str], &str, usize); 4] = [
        (&by_row, "url,agent,verdict", 3),
        (&by_row, "verdict,agent", 2),
        (&named, "url,mask,refused,agent,verdict", 7),
        (&named, "agent", 2),
    ];
    for (agents, columns, count) in cases {
        let args = [&["classify", "set", "t.tsv", "--url", "url"], agents].concat();
        for format in ["tsv", "csv", "jsonl"] {
            let run = |columns: &str| {
                folder.run(&[&args[..], &["--columns", columns, "--format", format]].concat()).says(0, &[])
            };
            let (short, long) = (run(columns), run(&format!("{columns},group")));
            assert_eq!(short.stderr.lines().count(), long.stderr.lines().count());
            let (short, long) = (short.text(), long.text());
            assert_eq!((short.lines().count(), long.lines().count()), (3000, 3000));
            for (short, long) in short.lines().zip(long.lines()) {
                let without = |line: &str| -> Vec<String> {
                    if format == "jsonl" {
                        let object: serde_json::Value = serde_json::from_str(line).unwrap();
                        let fields = object.as_object().unwrap().iter();
                        return fields
                            .filter(|(name, _)| !name.ends_with("group"))
                            .map(|(name, cell)| format!("{name}={cell}"))
                            .collect();
                    }
                    let cells = line.split(if format == "tsv" { '\t' } else { ',' });
                    cells.filter(|cell| !["named", "default", "none"].contains(cell)).map(str::to_owned).collect()
                };
                assert_eq!(without(short), without(long), "{columns} {format}");
                assert_eq!(without(short).len(), count, "{columns} {format} {short}");
            }
        }
    }
}

#[test]
fn masks_times_and_lists_are_typed_in_parquet() {
    let folder = Folder::new();
    let capture = |host: &str, time: &str, body: &str| {
        format!("{{\"url\":\"http://{host}/robots.txt\",\"time\":\"{time}\",\"body\":\"{body}\"}}\n")
    };
    let bodies = [
        capture(
            "a.example",
            "2026-03-14T15:09:26Z",
            "user-agent: bot-a\\ndisallow: /a\\n\\nuser-agent: x\\ndisallow: /b",
        ),
        capture("b.example", "1969-12-31T23:59:59Z", "user-agent: *\\ndisallow: /"),
    ];
    folder.write("c.jsonl", bodies.concat() + "{\"url\":\"http://c.example/robots.txt\",\"body\":\"\"}\n");
    folder.run(&["compile", "-o", "set", "c.jsonl"]).says(0, &[]);
    let url = |row: usize| format!("http://{}.example/{}\n", ["a", "b", "c", "d"][row % 4], ["a", "b", ""][row % 3]);
    let urls: String = (0..5000).map(url).collect();
    let columns = ["--columns", "refused,mask,capture_time,ruleset,verdict"];
    let json = run(&folder, &urls, &[&columns[..], &["--format", "jsonl"]].concat()).says(0, &[]).text();
    run(&folder, &urls, &[&columns[..], &["--format", "parquet", "-o", "out"]].concat()).says(0, &[]);
    let reader = SerializedFileReader::new(File::open(folder.path("out")).unwrap()).unwrap();
    let metadata = reader.metadata().file_metadata().key_value_metadata().unwrap();
    let mask = metadata.iter().find(|pair| pair.key == "mask").unwrap();
    assert_eq!(mask.value.as_deref(), Some("[\"bot-a\",\"x\"]"));
    let (mut rows, mut lists, mut nulls) = (0, 0, 0);
    for (row, line) in reader.get_row_iter(None).unwrap().zip(json.lines()) {
        let (row, line): (_, serde_json::Value) = (row.unwrap(), serde_json::from_str(line).unwrap());
        for (at, (name, cell)) in row.get_column_iter().enumerate() {
            let expected = &line[name];
            match cell {
                Field::Null => {
                    assert!(expected.is_null(), "{name} {expected}");
                    nulls += 1;
                }
                Field::ULong(mask) => assert_eq!(expected, mask, "{name}"),
                Field::UInt(ruleset) => assert_eq!(expected, ruleset, "{name}"),
                Field::Str(text) => assert_eq!(expected, text, "{name}"),
                Field::TimestampMillis(time) => {
                    let text = expected.as_str().unwrap();
                    assert_eq!(if *time < 0 { "1969-12-31T23:59:59Z" } else { "2026-03-14T15:09:26Z" }, text);
                    assert!([-1000, 1_773_500_966_000].contains(time), "{time}");
                }
                Field::ListInternal(list) => {
                    assert_eq!(name, "refused");
                    let list = list.elements().iter().map(|name| match name {
                        Field::Str(name) => name.clone(),
                        other => panic!("{other:?}"),
                    });
                    assert_eq!(*expected, serde_json::Value::from(list.collect::<Vec<_>>()), "{line}");
                    assert_eq!(row.get_list(at).unwrap().len(), expected.as_array().unwrap().len());
                    lists += 1;
                }
                other => panic!("{name}: {other:?}"),
            }
        }
        rows += 1;
    }
    assert_eq!((rows, lists), (5000, 3750));
    assert!(nulls > 1250 * 4, "{nulls}");
}

/// Rows name their capture and ruleset as `inspect` does.
#[test]
fn rows_name_the_deciding_capture_and_ruleset() {
    let folder = Folder::new();
    let capture =
        |url: &str, time: u32, rest: &str| format!("{{\"url\":\"{url}/robots.txt\",\"time\":\"@{time}\",{rest}}}\n");
    let captures = [
        capture(
            "https://www.a.example",
            0,
            "\"body\":\"user-agent: *\\ndisallow: /a\\n\\nuser-agent: y\\ndisallow: /\"",
        ),
        capture("https://b.example", 86_400, "\"status\":404"),
        // A failure after an answer: the answer decides.
        capture("https://c.example", 172_800, "\"body\":\"user-agent: *\\ndisallow: /a\""),
        capture("https://c.example", 172_801, "\"status\":503"),
    ];
    folder.write("c.jsonl", captures.concat());
    folder.run(&["compile", "-o", "set", "c.jsonl"]).says(0, &[]);
    let ruleset = |host: &str, agent: &str| {
        let shown = folder.run(&["inspect", "set", host, "--agent", agent]).says(0, &[]).text();
        let line = shown.lines().find_map(|line| line.trim().strip_prefix("ruleset ")).unwrap().to_owned();
        line.split_once(':').unwrap().0.to_owned()
    };
    let star = ruleset("www.a.example", "x");
    let y = ruleset("www.a.example", "y");
    assert_eq!(star, ruleset("c.example", "x"), "equal rules share a ruleset");
    assert_ne!(star, y);
    folder.write(
        "urls",
        "https://www.a.example/\nhttp://a.example/a\nhttps://b.example/\nhttps://c.example/a\nhttps://n.example/\nx\n",
    );
    let args = ["classify", "set", "urls", "--agent", "x", "--agent", "y", "--columns", "capture_time,ruleset"];
    let found = folder.run(&[&args[..], &["--scope", "www", "--header"]].concat()).says(0, &[]).text();
    let expected = [
        "capture_time\tx:ruleset\ty:ruleset".to_owned(),
        format!("1970-01-01T00:00:00Z\t{star}\t{y}"),
        format!("1970-01-01T00:00:00Z\t{star}\t{y}"),
        "1970-01-02T00:00:00Z\t\t".to_owned(),
        format!("1970-01-03T00:00:00Z\t{star}\t{star}"),
        "\t\t".to_owned(),
        "\t\t".to_owned(),
    ];
    assert_eq!(found.lines().collect::<Vec<_>>(), expected);
    let alone = folder.run(&args).says(0, &[]).text();
    assert_eq!(alone.lines().nth(1), Some("\t\t"));
    // Rows that name no crawler have neither capture nor ruleset.
    folder.write("t.tsv", "url\tagent\nhttps://c.example/a\tx\nhttps://c.example/a\t-\n");
    let args = ["classify", "set", "t.tsv", "--agent", "{agent}", "--columns", "capture_time,ruleset,verdict"];
    let expected = format!("1970-01-03T00:00:00Z\t{star}\tdisallow\n\t\tunknown\n");
    assert_eq!(folder.run(&args).says(0, &[]).text(), expected);
}

/// Groups that are too large to merge decide together.
#[test]
fn unmerged_groups_report_the_ruleset_of_the_deciding_rule() {
    let folder = Folder::new();
    let token = |n: u8| format!("b{}{}", char::from(b'a' + n / 26), char::from(b'a' + n % 26));
    let mut body: String = (0..60).map(|n| format!("user-agent: {}\n", token(n))).collect();
    body.extend((0..1000).map(|n| format!("disallow: /x{n}\n")));
    body.extend((0..60).map(|n| format!("user-agent: {}\ndisallow: /own{n}\nallow: /x1/open\n", token(n))));
    folder.write("robots/a.example", body);
    folder.run(&["compile", "-o", "set", "robots"]).says(0, &[]);
    let last = token(59);
    let shown = folder.run(&["inspect", "set", "https://a.example/", "--agent", &last]).says(0, &[]).text();
    let rulesets: Vec<(&str, &str)> =
        shown.split("    ruleset ").skip(1).map(|part| part.split_once(": ").unwrap()).collect();
    assert_eq!(rulesets.len(), 2, "the groups are not merged");
    let with = |rule: &str| rulesets.iter().find(|(_, rules)| rules.contains(rule)).unwrap().0.to_owned();
    let (shared, own) = (with("Disallow: /x7\n"), with("Disallow: /own59\n"));
    folder.write("urls", ["x7", "own59", "x1/y", "x1/open"].map(|path| format!("http://a.example/{path}\n")).concat());
    let args = ["classify", "set", "urls", "--agent", &last, "--columns", "ruleset,verdict"];
    let expected = [(&shared, "disallow"), (&own, "disallow"), (&shared, "disallow"), (&own, "allow")];
    let expected: String = expected.map(|(ruleset, verdict)| format!("{ruleset}\t{verdict}\n")).concat();
    assert_eq!(folder.run(&args).says(0, &[]).text(), expected);
}

#[test]
fn rows_by_time_report_the_capture_of_a_set_for_that_time() {
    let folder = Folder::new();
    const DAY: u32 = 86_400;
    let line = |day: u32, rest: &str| {
        format!("{{\"url\":\"http://a.example/robots.txt\",\"time\":\"@{}\",{rest}}}\n", day * DAY)
    };
    let captures = [
        line(1, "\"body\":\"user-agent: *\\ndisallow: /a\""),
        line(5, "\"status\":503"),
        line(9, "\"status\":503"),
        line(60, "\"status\":404"),
        line(70, "\"status\":503"),
        line(80, "\"body\":\"user-agent: *\\ndisallow: /b\""),
    ];
    folder.write("c.jsonl", captures.concat());
    folder.run(&["compile", "--by-time", "-o", "set", "c.jsonl"]).says(0, &[]);
    let days = [0, 1, 4, 5, 8, 9, 20, 34, 36, 40, 59, 60, 69, 70, 79, 80, 99];
    let rows: String = days.iter().map(|day| format!("http://a.example/a\t@{}\n", day * DAY)).collect();
    folder.write("t.tsv", format!("url\ttime\n{rows}"));
    let columns = ["--agent", "x", "--columns", "capture_time,verdict"];
    let found = folder.run(&[&["classify", "set", "t.tsv", "--at", "{time}"], &columns[..]].concat()).says(0, &[]);
    let mut times = std::collections::HashSet::new();
    for (day, row) in days.iter().zip(found.text().lines()) {
        let at = format!("@{}", day * DAY);
        folder.run(&["compile", "--force", "--at", &at, "-o", "then", "c.jsonl"]);
        let then = folder.run_with(&[&["classify", "then", "-"], &columns[..]].concat(), b"http://a.example/a\n");
        assert_eq!(then.text(), format!("{row}\n"), "day {day}");
        times.insert(row.split('\t').next().unwrap().to_owned());
    }
    assert!(times.len() > 3, "{times:?}");
}

#[test]
fn unknown_and_invalid_rows_get_the_verdicts_chosen_by_the_user() {
    let folder = Folder::with_set();
    let counts = "agent bot-a allow 2, disallow 2, unknown 1, invalid 1\n";
    let found =
        run(&folder, URLS, &["--columns", "verdict,mask", "--treat", "unknown=disallow", "--treat", "invalid=allow"]);
    let found = found.says(0, &[counts, "unknown, written as disallow 1\n", "invalid, written as allow 1\n"]);
    let expected = ["disallow\tallow\t1", "allow\tdisallow\t2", "disallow\tdisallow\t3", "allow\tallow\t0"];
    let expected = [&expected[..], &["disallow\tdisallow\t3", "allow\tallow\t0"]].concat();
    assert_eq!(found.text().lines().collect::<Vec<_>>(), expected);
    // Reasons and rejected rows are the same in every mode.
    let reason = ["--columns", "verdict,reason,any-of", "--treat", "unknown=allow", "--rejects", "bad"];
    let found = run(&folder, URLS, &reason).says(0, &["unknown, written as allow 1\n"]);
    assert!(!found.stderr.contains("invalid, written"), "{found:?}");
    let rows = found.text();
    assert_eq!(rows.lines().nth(4), Some("allow\tno robots.txt is known\tallow\tno robots.txt is known\tallow"));
    assert_eq!(rows.lines().nth(5), Some("invalid\tno URL\tinvalid\tno URL\tinvalid"));
    assert_eq!(String::from_utf8(folder.read("bad")).unwrap(), "6\tno http, https or ftp URL\tnot a URL\n");
    let found =
        run(&folder, URLS, &["--columns", "refused", "--treat", "unknown=disallow", "--treat", "invalid=disallow"])
            .text();
    assert_eq!(found.lines().skip(3).collect::<Vec<_>>(), ["", "bot-a;x", "bot-a;x"]);
    // With `--only`, and with a line that is too long.
    let long = "y".repeat(3 << 20);
    let text = format!("{URLS}{long}\n");
    let only = |options: &[&str]| run(&folder, &text, options).says(0, &[]).text();
    let all: Vec<&str> = text.lines().collect();
    let some = |places: &[usize]| places.iter().map(|&place| format!("{}\n", all[place])).collect::<String>();
    assert_eq!(only(&["--only", "disallow", "--treat", "unknown=disallow"]), some(&[0, 1, 2, 4]));
    assert!(only(&["--only", "disallow", "--treat", "invalid=disallow"]) == some(&[0, 1, 2, 5, 6]));
    assert_eq!(only(&["--only", "unknown", "--treat", "invalid=disallow"]), some(&[4]));
    assert!(only(&["--only", "allow", "--treat", "unknown=allow", "--treat", "invalid=allow"]) == some(&[3, 4, 5, 6]));
    run(&folder, URLS, &["--only", "unknown", "--treat", "unknown=allow"])
        .says(2, &["--only unknown: no row is unknown"]);
    run(&folder, URLS, &["--treat", "unknown=keep"]).says(2, &["expected unknown, invalid or unknown-usage"]);
    // In Parquet, in color and on the report page.
    run(&folder, URLS, &["--format", "parquet", "--treat", "unknown=disallow", "-o", "out"]).says(0, &[]);
    let reader = SerializedFileReader::new(File::open(folder.path("out")).unwrap()).unwrap();
    let row = reader.get_row_iter(None).unwrap().nth(4).unwrap().unwrap();
    assert_eq!(row.get_string(1).unwrap(), "disallow");
    let shown =
        run(&folder, URLS, &["--columns", "verdict", "--treat", "unknown=disallow", "--color", "always"]).text();
    assert_eq!(shown.lines().nth(4), shown.lines().nth(2));
    run(&folder, URLS, &["--treat", "unknown=disallow", "--report", "page.html"]).says(0, &[]);
    let page = String::from_utf8(folder.read("page.html")).unwrap();
    assert!(
        page.contains("<tr><th scope=\"row\">unknown, written as disallow</th><td>1 rows (--treat)</td></tr>"),
        "{page}"
    );
    // Rows that name no crawler are unknown too.
    folder.write("t.tsv", "url\tagent\nhttp://b.example/\t-\nhttp://b.example/\tx\n");
    let args = ["classify", "set", "t.tsv", "--agent", "{agent}", "--columns", "agent,verdict"];
    let run = folder.run(&[&args[..], &["--treat", "unknown=allow"]].concat());
    assert_eq!(run.says(0, &["unknown, written as allow 1\n"]).text(), "\tallow\nx\tdisallow\n");
}
