//! `reptile summarize`: access, proofs, keys, formats, lists of origins, sites, and damaged or hostile inputs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;
use std::collections::HashMap;
use std::fs::File;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use reptile_records::time::show_time;
use support::Folder;

/// Returns the rows of a run, sorted because a set has its own order.
fn rows(text: &str) -> Vec<String> {
    let mut rows: Vec<String> = text.lines().map(str::to_owned).collect();
    rows.sort();
    rows
}

#[test]
fn each_origin_has_a_row_for_each_agent() {
    let folder = Folder::with_set();
    let run = folder.run(&["summarize", "set", "--agent", "bot-a", "--agent", "nobody"]).says(
        0,
        &[
            "origins 6\n",
            "agent bot-a allowed 2, disallowed 2, partial 2, unknown 0, unproved 0\n",
            "agent nobody allowed 2, disallowed 2, partial 2, unknown 0, unproved 0\n",
            "agent nobody is not named by any robots.txt",
        ],
    );
    let mut expected = Vec::new();
    for scheme in ["http", "https"] {
        expected.extend([
            format!("{scheme}://a.example/\tbot-a\tpartial\tnamed\t1\t1\trule\t/\t/private"),
            format!("{scheme}://a.example/\tnobody\tpartial\tdefault\t0\t1\trule\t/\t/xy"),
            format!("{scheme}://b.example/\tbot-a\tdisallowed\tdefault\t0\t1\trule\t\t"),
            format!("{scheme}://b.example/\tnobody\tdisallowed\tdefault\t0\t1\trule\t\t"),
        ]);
    }
    let found = rows(&run.text());
    let (ported, found): (Vec<String>, Vec<String>) = found.into_iter().partition(|row| row.contains(":8080"));
    assert_eq!(found, expected);
    assert!(!ported.is_empty() && ported.iter().all(|row| row.contains("\tallowed\tnone\t0\t0\tno rule matches\t\t")));
}

#[test]
fn fetch_results_apply_to_the_whole_origin() {
    let folder = Folder::new();
    let capture = |host: &str, status: u32, body: &str| {
        format!(
            "{{\"url\":\"https://{host}/robots.txt\",\"status\":{status},\"time\":1700000000,\"body\":\"{body}\"}}\n"
        )
    };
    let captures = [
        capture("gone.example", 404, ""),
        capture("down.example", 503, ""),
        capture("empty.example", 200, ""),
        capture("root.example", 200, "User-agent: *\\nDisallow: /\\nAllow: /$\\n"),
        capture("nothing.example", 200, "User-agent: *\\nDisallow:\\n"),
        capture("same.example", 200, "User-agent: *\\nDisallow: /p/\\nAllow: /p/\\n"),
    ];
    folder.write("captures.jsonl", captures.concat());
    let run = folder.run(&["summarize", "captures.jsonl", "--agent", "x", "--key", "host"]).says(0, &[]);
    let found: HashMap<String, String> = rows(&run.text())
        .iter()
        .map(|row| row.split_once('\t').unwrap())
        .map(|(host, rest)| (host.to_owned(), rest.to_owned()))
        .collect();
    for (host, expected) in [
        ("gone.example", "x\tallowed\tnone\t0\t0\t404\t\t"),
        ("down.example", "x\tdisallowed\tnone\t0\t0\t503\t\t"),
        ("empty.example", "x\tallowed\tnone\t0\t0\tno rule matches\t\t"),
        // A test of / alone would report the site as open.
        ("root.example", "x\tpartial\tdefault\t1\t1\trule\t/\t/a"),
        ("nothing.example", "x\tallowed\tdefault\t0\t0\tno rule matches\t\t"),
        ("same.example", "x\tallowed\tdefault\t1\t1\trule\t\t"),
    ] {
        assert_eq!(found[host], expected, "{host}");
    }
    // `classify` gives the same verdicts for the example paths.
    let urls = b"https://root.example/\nhttps://root.example/a\n";
    let verdicts = folder.run_with(&["classify", "captures.jsonl", "--agent", "x"], urls).says(0, &[]).text();
    assert_eq!(verdicts, "https://root.example/\tallow\nhttps://root.example/a\tdisallow\n");
}

#[test]
fn keys_and_formats_can_be_chosen() {
    let folder = Folder::new();
    folder.write("robots/www.shop.example.co.uk:8080", "User-agent: *\nDisallow: /\"a,b\"\n");
    folder.run(&["compile", "-o", "set", "--scheme", "https", "robots"]).says(0, &[]);
    let run =
        |options: &[&str]| folder.run(&[&["summarize", "set", "--agent", "x"], options].concat()).says(0, &[]).text();
    let cells = "x\tpartial\tdefault\t0\t1\trule\t/\t/\"a,b\"\n";
    let keys = "https://www.shop.example.co.uk:8080/\twww.shop.example.co.uk\texample.co.uk\tuk,co,example,shop:8080)/";
    assert_eq!(run(&["--key", "url,host,domain,surt"]), format!("{keys}\t{cells}"));
    let names = "agent\taccess\tgroup\tallow_rules\tdisallow_rules\treason\tallowed_path\tdisallowed_path\n";
    assert_eq!(run(&["--key", "domain", "--header"]), format!("domain\t{names}example.co.uk\t{cells}"));
    let csv = run(&["--key", "surt,host", "--header", "--format", "csv"]);
    let expected = "surt,host,agent,access,group,allow_rules,disallow_rules,reason,allowed_path,disallowed_path\n\
                    \"uk,co,example,shop:8080)/\",www.shop.example.co.uk,x,partial,default,0,1,rule,/,\"/\"\"a,b\"\"\"\n";
    assert_eq!(csv, expected);
    let json: serde_json::Value = serde_json::from_str(&run(&["--format", "jsonl"])).unwrap();
    let expected = serde_json::json!({
        "url": "https://www.shop.example.co.uk:8080/", "agent": "x", "access": "partial", "group": "default",
        "allow_rules": 0, "disallow_rules": 1, "reason": "rule", "allowed_path": "/", "disallowed_path": "/\"a,b\"",
    });
    assert_eq!(json, expected);
    folder.run(&["summarize", "set", "--agent", "x", "--header", "--format", "jsonl"]).says(2, &["--header"]);
    folder.run(&["summarize", "set", "--agent", "x", "--key", "ip"]).says(2, &["ip"]);
    folder.run(&["summarize", "set"]).says(2, &["--agent"]);

    folder.run(&["summarize", "set", "--agent", "x", "-o", "out.gz"]).says(0, &[]);
    folder.run(&["summarize", "set", "--agent", "x", "-o", "out.gz"]).says(2, &["exists already"]);
    folder.run(&["summarize", "set", "--agent", "x", "-o", "out.gz", "--force"]).says(0, &[]);
    folder.run(&["summarize", "set", "--agent", "x", "-o", "set", "--force"]).says(2, &["set"]);
    assert!(folder.read("out.gz").starts_with(&[0x1F, 0x8B]));
}

#[test]
fn each_line_of_a_list_has_a_row() {
    let folder = Folder::with_set();
    let list = "https://A.example/some/page?x\nb.example\nn.example\r\nhttp://c.example:8080\n\nnot a host\nb.example";
    folder.write("list", list);
    let says = ["agent bot-a allowed 1, disallowed 2, partial 1, unknown 1, unproved 0, invalid 2\n"];
    let run = folder.run(&["summarize", "set", "list", "--agent", "bot-a"]).says(0, &says);
    let expected = [
        "https://a.example/\tbot-a\tpartial\tnamed\t1\t1\trule\t/\t/private",
        "https://b.example/\tbot-a\tdisallowed\tdefault\t0\t1\trule\t\t",
        "https://n.example/\tbot-a\tunknown\tnone\t0\t0\tno robots.txt is known\t\t",
        "http://c.example:8080/\tbot-a\tallowed\tnone\t0\t0\tno rule matches\t\t",
        "\tbot-a\tinvalid\tnone\t0\t0\tno URL\t\t",
        "not a host\tbot-a\tinvalid\tnone\t0\t0\tno URL\t\t",
        "https://b.example/\tbot-a\tdisallowed\tdefault\t0\t1\trule\t\t",
    ];
    assert_eq!(run.text().lines().collect::<Vec<_>>(), expected);
    // On standard input, with lines that cannot be hosts.
    let hostile = [&[b'x'; 3 << 20][..], b"\n\0\xFF\nb.example\n"].concat();
    let run = folder.run_with(&["summarize", "set", "-", "--agent", "bot-a", "--key", "host"], &hostile).says(0, &[]);
    let text = String::from_utf8(run.stdout).unwrap();
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(text.lines().last().unwrap().starts_with("b.example\tbot-a\tdisallowed"), "{text}");
}

#[test]
fn a_damaged_set_is_refused() {
    let folder = Folder::with_set();
    let mut bytes = folder.read("set");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    folder.write("damaged", bytes);
    let run = folder.run(&["summarize", "damaged", "--agent", "x", "-o", "out"]).says(2, &["damaged: not a valid set"]);
    assert!(run.stdout.is_empty() && !folder.names().contains(&"out".to_owned()));
}

/// The set has more origins than a batch. One thread and several threads give the same rows.
#[test]
fn origins_are_summarized_in_batches() {
    const ORIGINS: usize = 20_000;
    let folder = Folder::new();
    let line = |number: usize| {
        let rule = if number.is_multiple_of(3) { String::new() } else { format!("/p{}", number % 500) };
        format!(
            "{{\"url\":\"https://h{number}.example/robots.txt\",\"body\":\"user-agent: *\\ndisallow: {rule}\\n\"}}\n"
        )
    };
    folder.write("web.jsonl", (0..ORIGINS).map(line).collect::<String>());
    folder.run(&["compile", "-o", "set", "web.jsonl"]).says(0, &[]);
    let one = folder.run(&["summarize", "set", "--agent", "x", "--threads", "1"]).says(0, &["origins 20,000\n"]);
    let many = folder.run(&["summarize", "set", "--agent", "x", "--threads", "4"]).says(0, &["examined 501\n"]);
    assert_eq!(one.stdout, many.stdout);
    let text = one.text();
    assert_eq!(text.lines().count(), ORIGINS);
    for row in text.lines() {
        let (url, rest) = row.split_once('\t').unwrap();
        let number: usize = url.strip_prefix("https://h").unwrap().split('.').next().unwrap().parse().unwrap();
        let expected = match number % 3 {
            0 => "x\tallowed\tdefault\t0\t0\tno rule matches\t\t".to_owned(),
            _ => format!("x\tpartial\tdefault\t0\t1\trule\t/\t/p{}", number % 500),
        };
        assert_eq!(rest, expected, "{url}");
    }
}

/// Returns the rows of a Parquet file as JSON, without null cells.
pub fn parquet_rows(folder: &Folder, name: &str) -> Vec<serde_json::Value> {
    let reader = SerializedFileReader::new(File::open(folder.path(name)).unwrap()).unwrap();
    let rows = reader.get_row_iter(None).unwrap().map(|row| {
        let row = row.unwrap();
        let cells = row.get_column_iter().filter_map(|(name, cell)| {
            let cell = match cell {
                Field::Null => return None,
                Field::Str(text) => text.clone().into(),
                Field::UInt(number) => (*number).into(),
                Field::TimestampMillis(time) => show_time(time / 1000).into(),
                other => panic!("{name}: {other:?}"),
            };
            Some((name.clone(), cell))
        });
        cells.collect::<serde_json::Map<_, _>>().into()
    });
    rows.collect()
}

/// Returns rows of JSON Lines, without cells that are null or empty strings.
pub fn json_rows(text: &str) -> Vec<serde_json::Value> {
    let rows = text.lines().map(|line| {
        let mut row: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).unwrap();
        row.retain(|_, cell| cell != "" && !cell.is_null());
        row.into()
    });
    rows.collect()
}

/// Returns a folder with a set of sites, each with different rules over http and https, with and without `www.`.
fn sites() -> Folder {
    let folder = Folder::new();
    let capture = |origin: &str, rest: &str| format!("{{\"url\":\"{origin}/robots.txt\",{rest}}}\n");
    let rule = |rule: &str| format!("\"body\":\"user-agent: *\\ndisallow: {rule}\"");
    let captures = [
        ("https://same.example", rule("/a")),
        ("http://same.example", rule("/a")),
        ("https://www.same.example", rule("/a")),
        ("http://www.same.example", rule("/a")),
        ("http://other.example", rule("/a")),
        ("http://www.other.example", rule("/b")),
        ("https://open.example", "\"status\":404".into()),
        ("https://www.open.example", rule("")),
        ("http://www.closed.example", rule("/")),
        ("https://closed.example", "\"status\":404".into()),
        ("http://www.one.co.uk", rule("/")),
        ("https://www.com", rule("/")),
        ("https://same.example:8443", rule("/")),
        ("http://1.2.3.4", rule("/")),
    ];
    folder.write("c.jsonl", captures.map(|(origin, rest)| capture(origin, &rest)).concat());
    folder.run(&["compile", "-o", "set", "c.jsonl"]).says(0, &[]);
    folder
}

#[test]
fn origins_of_a_site_share_a_row() {
    let folder = sites();
    let args = ["summarize", "set", "--agent", "x", "--by-site"];
    let run = folder.run(&[&args[..], &["--header"]].concat()).says(
        0,
        &[
            "sites 7\n",
            "origins without a site, skipped 1\n",
            "agent x same 2, different 2, one origin only 3, unknown 0\n",
        ],
    );
    let text = run.text();
    let (header, found) = text.split_once('\n').unwrap();
    assert_eq!(header, "host\tagent\thttps\thttp\thttps_www\thttp_www\tagree");
    let expected = [
        "1.2.3.4\tx\tunknown\tdisallowed\tunknown\tunknown\t",
        "closed.example\tx\tallowed\tunknown\tunknown\tdisallowed\tno",
        "one.co.uk\tx\tunknown\tunknown\tunknown\tdisallowed\t",
        "open.example\tx\tallowed\tunknown\tallowed\tunknown\tyes",
        "other.example\tx\tunknown\tpartial\tunknown\tpartial\tno",
        "same.example\tx\tpartial\tpartial\tpartial\tpartial\tyes",
        "www.com\tx\tdisallowed\tunknown\tunknown\tunknown\t",
    ];
    assert_eq!(rows(found), expected);
    let keys = folder.run(&[&args[..], &["--key", "surt,domain"]].concat()).says(0, &[]).text();
    assert!(rows(&keys).contains(&"uk,co,one)/\tone.co.uk\tx\tunknown\tunknown\tunknown\tdisallowed\t".to_owned()));
    folder.run(&[&args[..], &["--key", "host,url"]].concat()).says(2, &["--key url: a row of --by-site"]);
    // A line in a list represents its site, whichever of the site's origins it names.
    folder
        .write("list", "www.same.example\nhttp://same.example/x\nnew.example\nhttps://same.example:8443\nnot a host\n");
    let list = ["summarize", "set", "list", "--agent", "x", "--by-site"];
    let same = "same.example\tx\tpartial\tpartial\tpartial\tpartial\tyes\n";
    let invalid = |line: &str| format!("{line}\tx\tinvalid\tinvalid\tinvalid\tinvalid\t\n");
    let unknown = "new.example\tx\tunknown\tunknown\tunknown\tunknown\t\n";
    let expected = [same, same, unknown, &invalid("https://same.example:8443"), &invalid("not a host")].concat();
    let run = folder.run(&list).says(0, &["agent x same 2, different 0, one origin only 0, unknown 1, invalid 2\n"]);
    assert_eq!(run.text(), expected);
}

#[test]
fn summaries_are_written_as_parquet() {
    let folder = sites();
    folder.write("list", "same.example\nopen.example\nnew.example\nnot a host\n");
    for options in [&["--key", "url,surt"][..], &["--by-site"]] {
        let args = [&["summarize", "set", "list", "--agent", "x", "--agent", "y"], options].concat();
        let json = folder.run(&[&args[..], &["--format", "jsonl"]].concat()).says(0, &[]).text();
        folder.run(&[&args[..], &["--format", "parquet", "-o", "out", "--force"]].concat()).says(0, &[]);
        assert_eq!(parquet_rows(&folder, "out"), json_rows(&json));
        let piped = folder.run(&[&args[..], &["--format", "parquet"]].concat()).says(0, &[]);
        assert!(piped.stdout == folder.read("out"));
    }
    let reader = SerializedFileReader::new(File::open(folder.path("out")).unwrap()).unwrap();
    assert_eq!(reader.metadata().file_metadata().num_rows(), 8);
    let header = ["summarize", "set", "--agent", "x", "--header", "--format", "parquet", "-o", "new"];
    folder.run(&header).says(2, &["--header: a Parquet file already has column names in its schema"]);
    let terminal = ["summarize", "set", "--agent", "x", "--format", "parquet", "--color", "always"];
    folder.run(&terminal).says(2, &["--format parquet: standard output is a terminal"]);
    if cfg!(target_os = "linux") {
        let full = ["summarize", "set", "--agent", "x", "--format", "parquet", "-o", "/dev/full"];
        folder.run(&full).says(2, &["/dev/full: cannot be written: No space left on device"]);
    }
}
