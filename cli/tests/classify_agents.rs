//! `reptile classify --agent`, which decides each row for the crawler named in it, and `--rejects`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;

use support::{Folder, Run};

const GPTBOT: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0";

/// Returns a folder with a set that disallows everything for GPTBot, and `/private` for all other crawlers.
fn folder() -> Folder {
    let folder = Folder::new();
    let body = "User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nDisallow: /private\n";
    folder.write("robots/a.example", body);
    folder.run(&["compile", "-o", "set", "robots"]).says(0, &[]);
    folder
}

fn log(requests: &[(&str, &str)]) -> String {
    let line = |(path, agent): &(&str, &str)| {
        format!("192.0.2.7 - - [14/Mar/2026:15:09:26 +0000] \"GET {path} HTTP/1.1\" 200 5 \"-\" \"{agent}\"\n")
    };
    requests.iter().map(line).collect()
}

fn classify(folder: &Folder, name: &str, options: &[&str]) -> Run {
    folder.run(&[&["classify", "set", name], options].concat())
}

const OF_A: [&str; 4] = ["--host", "a.example", "--agent", "{user_agent}"];

#[test]
fn each_row_is_decided_for_the_crawler_it_names() {
    let folder = folder();
    let rows = [
        ("/x", GPTBOT),
        ("/x", BROWSER),
        ("/private", BROWSER),
        ("/x", "FooBot/1.0"),
        ("/private", "FooBot/1.0"),
        ("/x", "-"),
        ("/x", "GPTBot"),
        ("*", GPTBOT),
        ("*", BROWSER),
    ];
    folder.write("log", log(&rows));
    let explained = "agent\tverdict\tline\trule\tgroup\treason\n\
        GPTBot\tdisallow\t2\tDisallow: /\tnamed\trule\n\
        \tunknown\t0\t\tnone\tno crawler\n\
        \tunknown\t0\t\tnone\tno crawler\n\
        FooBot\tallow\t0\t\tdefault\tno rule matches\n\
        FooBot\tdisallow\t5\tDisallow: /private\tdefault\trule\n\
        \tunknown\t0\t\tnone\tno crawler\n\
        GPTBot\tdisallow\t2\tDisallow: /\tnamed\trule\n\
        GPTBot\tinvalid\t0\t\tnone\tno URL\n\
        \tinvalid\t0\t\tnone\tno URL\n";
    let says = [
        "all crawlers allow 1, disallow 3, unknown 3, invalid 2",
        "GPTBot allow 0, disallow 2, unknown 0, invalid 1",
        "FooBot allow 1, disallow 1, unknown 0, invalid 0",
        "rows that name no crawler 4",
    ];
    for threads in ["1", "3"] {
        let options = [&OF_A[..], &["--threads", threads, "--header", "--columns"]].concat();
        let run = classify(&folder, "log", &[&options[..], &["agent,verdict,line,rule,group,reason"]].concat());
        assert_eq!(run.says(0, &says).text(), explained);
        let verdicts = classify(&folder, "log", &[&options[..], &["verdict"]].concat()).says(0, &says).text();
        let expected: Vec<&str> = explained.lines().map(|line| line.split('\t').nth(1).unwrap()).collect();
        assert_eq!(verdicts.lines().collect::<Vec<_>>(), expected);
    }
    let only = classify(&folder, "log", &[&OF_A[..], &["--only", "disallow"]].concat()).text();
    assert_eq!(only, log(&[rows[0], rows[4], rows[6]]));
    let added =
        classify(&folder, "log", &[&OF_A[..], &["--add-columns", "--columns", "agent,verdict"]].concat()).text();
    assert!(added.starts_with(&format!("GPTBot\tdisallow\t{}\tunknown\t192.", log(&rows[..1]))), "{added}");
    let json =
        classify(&folder, "log", &[&OF_A[..], &["--format", "jsonl", "--columns", "agent,url,verdict"]].concat());
    assert!(
        json.text().starts_with("{\"agent\":\"GPTBot\",\"url\":\"https://a.example/x\",\"verdict\":\"disallow\"}\n")
    );
}

/// More crawlers than a thread caches.
#[test]
fn thread_count_does_not_change_verdicts_for_many_crawlers() {
    let folder = folder();
    let (mut table, mut expected) = ("agent,url\n".to_owned(), String::new());
    for number in 0..60_000_u32 {
        let (agent, path, verdict) = match number % 4 {
            0 => ("gptbot".to_owned(), "/x", "disallow"),
            1 => (format!("\"Mozilla/5.0 (x{number}, GPTBot/1)\""), "/y", "disallow"),
            2 => {
                let letters = |byte: u8| char::from(byte - b'0' + b'a');
                (number.to_string().bytes().map(letters).collect(), "/private", "disallow")
            }
            _ => (format!("Browser {number}/1"), "/x", "unknown"),
        };
        table.push_str(&format!("{agent},https://a.example{path}\n"));
        expected.push_str(verdict);
        expected.push('\n');
    }
    folder.write("t.csv", table);
    for threads in ["1", "2", "5"] {
        let options = ["--agent", "{agent}", "--columns", "verdict", "--threads", threads];
        let says = [
            "gptbot allow 0, disallow 15,000",
            "GPTBot allow 0, disallow 15,000",
            "other crawlers",
            "no crawler 15,000",
        ];
        assert!(classify(&folder, "t.csv", &options).says(0, &says).text() == expected, "{threads}");
    }
}

#[test]
fn at_column_and_agent_column_can_be_combined() {
    let folder = folder();
    let capture = |time: &str, agent: &str| {
        format!(
            "{{\"url\":\"https://a.example/robots.txt\",\"time\":\"{time}\",\"body\":\"user-agent: {agent}\\ndisallow: /\"}}\n"
        )
    };
    folder.write("c.jsonl", capture("2026-01-01", "gptbot") + &capture("2026-03-01", "ccbot"));
    folder.run(&["compile", "--force", "--by-time", "-o", "set", "c.jsonl"]).says(0, &[]);
    let rows = [
        "2025-01-01 GPTBot",
        "2026-02-01 GPTBot",
        "2026-02-01 CCBot",
        "2026-04-01 GPTBot",
        "2026-04-01 CCBot",
        "x CCBot",
        "2026-04-01 -",
    ];
    let table: String = rows.iter().map(|row| format!("https://a.example/\t{}\n", row.replace(' ', "\t"))).collect();
    folder.write("t", "url\ttime\tbot\n".to_owned() + &table);
    let expected = ["unknown", "disallow", "allow", "allow", "disallow", "invalid", "unknown"];
    for columns in ["verdict", "verdict,agent"] {
        let options = ["--at", "{time}", "--agent", "{bot}", "--columns", columns];
        let text = classify(&folder, "t", &options).says(0, &["t:7: no time"]).text();
        assert_eq!(text.lines().map(|line| line.split('\t').next().unwrap()).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn incompatible_options_are_refused() {
    let folder = folder();
    folder.write("log", log(&[("/x", GPTBOT)]));
    folder.write("common", "192.0.2.7 - - [14/Mar/2026:15:09:26 +0000] \"GET / HTTP/1.1\" 200 5\n");
    folder.write("list", "https://a.example/\n");
    let cases: [(&str, &[&str], &str); 6] = [
        ("log", &["--host", "a.example"], "--agent <TOKEN>"),
        ("log", &["--agent", "{user_agent}", "--agent", "x"], "so no other --agent can be given"),
        ("log", &["--agent", "{user_agent}", "--columns", "url,any-of"], "--columns any-of: is one verdict"),
        ("log", &["--host", "a.example", "--agent", "{bot}"], "--agent bot: an access log has the columns"),
        ("common", &["--host", "a.example", "--agent", "{user_agent}"], "this access log has no user agents"),
        ("list", &["--agent", "{1}", "--input-format", "list"], "--agent: a list of URLs has no columns"),
    ];
    for (name, options, says) in cases {
        classify(&folder, name, options).says(2, &[says]);
    }
}

#[test]
fn rejects_writes_invalid_rows_to_a_file() {
    let folder = folder();
    let long = "y".repeat(3 << 20);
    let cases = [
        (
            "list",
            format!("https://a.example/\nmailto:x\n\n{long}\nhttps://a.example/\r\nno url\r\nlast"),
            format!(
                "2\tno http, https or ftp URL\tmailto:x\n3\tno http, https or ftp URL\t\n4\tmore than 1048576 bytes\t{long}\n\
                 6\tno http, https or ftp URL\tno url\r\n7\tno http, https or ftp URL\tlast\n"
            ),
        ),
        (
            "t.csv",
            format!(
                "a,url\n\"1\n\n\",https://a.example/\n\"2\n\",x\n3\n5,\"{long}\"\n6,\"y\n\"\n\"4,https://a.example/\n\n"
            ),
            format!(
                "5\tno http, https or ftp URL\t\"2\n\",x\n7\tfewer cells than the 2 names in the header\t3\n\
                 8\tmore than 1048576 bytes\t5,\"{long}\"\n9\tno http, https or ftp URL\t6,\"y\n\"\n\
                 11\ta quote that is not closed\t\"4,https://a.example/\n\n"
            ),
        ),
        (
            "log",
            log(&[("/x", "-"), ("*", "-")]),
            format!("2\ta request for no URL (CONNECT or *)\t{}", log(&[("*", "-")])),
        ),
    ];
    for (name, text, expected) in cases {
        folder.write(name, text);
        for (threads, columns) in [("1", "verdict"), ("3", "verdict"), ("2", "url,reason")] {
            let host: &[&str] = if name == "log" { &["--host", "a.example"] } else { &[] };
            let options = ["--agent", "x", "--rejects", "bad", "--force", "--threads", threads, "--columns", columns];
            let run = classify(&folder, name, &[&options[..], host].concat());
            assert!(matches!(run.code, Some(0 | 1)), "{run:?}");
            assert!(String::from_utf8(folder.read("bad")).unwrap() == expected, "{name} {threads}");
        }
    }
    folder.write("big", "https://a.example/\nx\n".repeat(300_000));
    classify(&folder, "big", &["--agent", "x", "--rejects", "bad.gz", "--columns", "verdict"]).says(0, &[]);
    let run =
        classify(&folder, "bad.gz", &["--agent", "x", "--input-format", "tsv", "--url", "3", "--columns", "verdict"]);
    // The first row is read as the header.
    run.says(1, &["lines 299,999", "invalid 299,999"]);
}

#[test]
fn the_rejects_file_is_complete_or_absent() {
    let folder = folder();
    folder.write("list", "x\n");
    folder.write("there", "old");
    let run = |options: &[&str]| classify(&folder, "list", &[&["--agent", "x"], options].concat());
    run(&["--rejects", "there"]).says(2, &["there: exists already; --force replaces it"]);
    run(&["--rejects", "list"]).says(2, &["list: is the input list; choose another name"]);
    run(&["--rejects", "out", "-o", "out"]).says(2, &["out: is the output too; choose another name for --rejects"]);
    run(&["--rejects", "-"]).says(2, &["--rejects: expected a file"]);
    run(&["--force"]).says(2, &["--force"]);
    // A damaged set, and an output that cannot be written.
    folder.write("damaged", &folder.read("set")[..300]);
    folder.run(&["classify", "damaged", "list", "--agent", "x", "--rejects", "bad"]).says(2, &[]);
    if cfg!(target_os = "linux") {
        folder.write("many", "x\n".repeat(1 << 20));
        let args = ["classify", "set", "many", "--agent", "x", "--rejects", "bad", "-o", "/dev/full"];
        folder.run(&args).says(2, &["/dev/full: cannot be written"]);
    }
    assert_eq!(folder.read("there"), b"old");
    assert!(!folder.names().iter().any(|name| name.contains("bad")), "{:?}", folder.names());
    run(&["--rejects", "there", "--force", "-o", "out"]).says(1, &[]);
    assert_eq!(folder.read("there"), b"1\tno http, https or ftp URL\tx\n");
    assert_eq!(folder.read("out"), b"x\tinvalid\n");
}
