//! Column names: a month of captures in every format, with columns renamed to known and unknown names.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::fmt::Write as _;

use parquet::basic::{LogicalType, Type};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type as SchemaType;

use crate::support::{Folder, Run};

/// The month's columns.
const COLUMNS: [&str; 7] = ["url", "status", "time", "body", "error", "truncated", "redirects"];

const FORMATS: [&str; 4] = ["jsonl", "tsv", "csv", "parquet"];

const HOSTS: usize = 3;

const DAYS: usize = 30;

/// Returns a capture for each host and day, with cells in the order of [`COLUMNS`].
fn month() -> Vec<[String; 7]> {
    let row = |number: usize| {
        let (day, host) = (number / HOSTS + 1, number % HOSTS);
        let status = ["200", "404", "503", "200"][(day + host) % 4];
        let body = if status == "200" { format!("User-agent: *\nDisallow: /\"{day},{host}\"\n") } else { "-".into() };
        [
            format!("https://h{host}.example/robots.txt"),
            status.to_owned(),
            format!("2026-10-{day:02}T0{host}:00:00Z"),
            body,
            if (day, host) == (30, 2) { "timed out" } else { "" }.to_owned(),
            if day == 29 { "length" } else { "false" }.to_owned(),
            (day % 3).to_string(),
        ]
    };
    (0..HOSTS * DAYS).map(row).collect()
}

/// Returns the month in the given format, with the given column names.
fn written(format: &str, names: &[String; 7]) -> Vec<u8> {
    let mut text = String::new();
    match format {
        "jsonl" => {
            for row in month() {
                let fields = names.iter().zip(&row).map(|(name, cell)| {
                    format!("{}:{}", serde_json::Value::from(&**name), serde_json::Value::from(&**cell))
                });
                writeln!(text, "{{{}}}", fields.collect::<Vec<_>>().join(",")).unwrap();
            }
        }
        "tsv" => {
            writeln!(text, "{}", names.join("\t")).unwrap();
            for row in month() {
                writeln!(text, "{}", row.map(|cell| cell.replace('\n', "\\n")).join("\t")).unwrap();
            }
        }
        "csv" => {
            let quoted = |cell: &String| format!("\"{}\"", cell.replace('"', "\"\""));
            for row in std::iter::once(names.clone()).chain(month()) {
                writeln!(text, "{}", row.iter().map(quoted).collect::<Vec<_>>().join(",")).unwrap();
            }
        }
        _ => return parquet(names),
    }
    text.into_bytes()
}

fn parquet(names: &[String; 7]) -> Vec<u8> {
    let column = |name: &String| {
        let column = SchemaType::primitive_type_builder(name, Type::BYTE_ARRAY);
        let column = column.with_repetition(parquet::basic::Repetition::REQUIRED);
        std::sync::Arc::new(column.with_logical_type(Some(LogicalType::String)).build().unwrap())
    };
    let fields = names.iter().map(column).collect();
    let schema = SchemaType::group_type_builder("captures").with_fields(fields).build().unwrap();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema.into(), Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for at in 0..names.len() {
        let cells: Vec<ByteArray> = month().iter().map(|row| ByteArray::from(&*row[at])).collect();
        let mut column = group.next_column().unwrap().unwrap();
        let ColumnWriter::ByteArrayColumnWriter(texts) = column.untyped() else { panic!("not texts") };
        texts.write_batch(&cells, None, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.into_inner().unwrap()
}

fn names() -> [String; 7] {
    COLUMNS.map(str::to_owned)
}

fn renamed(column: &str, name: &str) -> [String; 7] {
    COLUMNS.map(|known| if known == column { name } else { known }.to_owned())
}

fn compile(folder: &Folder, format: &str, names: &[String; 7], options: &[&str]) -> Run {
    folder.write("month", written(format, names));
    folder.run(&[&["compile", "--force", "-o", "set", "month"], options].concat())
}

/// Every name in the guide gives the same set in every format, without a warning.
#[test]
fn known_column_names_give_the_same_set() {
    let folder = Folder::new();
    compile(&folder, "jsonl", &names(), &["--strict"]).says(0, &["files read 90\n", "origins 3\n"]);
    let expected = folder.read("set");
    let guide = include_str!("../guide/compile.md");
    let (mut known, mut runs) = (0, 0);
    for row in guide.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let column = cells[1].trim_matches('`');
        if !COLUMNS.contains(&column) {
            continue;
        }
        for (number, name) in cells[2].split(", ").map(|name| name.trim_matches('`')).enumerate() {
            known += 1;
            let spelling = [name.to_owned(), name.to_uppercase(), name.replace('_', "-")][number % 3].clone();
            // Each name is tested in one format, and a column's first three names in all formats.
            let formats = if number < 3 { &FORMATS[..] } else { &FORMATS[known % 4..known % 4 + 1] };
            for format in formats {
                runs += 1;
                let run = compile(&folder, format, &renamed(column, &spelling), &["--strict"]);
                let run = run.says(0, &["files read 90\n"]);
                assert!(!run.stderr.contains("not used"), "{format} {spelling}: {run:?}");
                assert!(folder.read("set") == expected, "{format}: {spelling}");
            }
        }
    }
    assert!(known > 60 && runs > 120, "{known} {runs}");
}

/// Unknown names are listed as unused. A missing status or time is a warning, which fails under `--strict`.
#[test]
fn unknown_column_names_are_listed() {
    let folder = Folder::new();
    let mut count = 0;
    for (column, name, says) in [
        ("status", "http_code_x", "no capture has a status: each answer counts as 200"),
        ("status", "code", "no capture has a status"),
        ("status", "statuses", "no capture has a status"),
        ("status", "fetch_state", "no capture has a status"),
        ("time", "when", "no capture has a time"),
        ("time", "fetch_time_utc_x", "no capture has a time"),
        ("time", "elapsed", "no capture has a time"),
        ("error", "note", ""),
        ("truncated", "cut", ""),
        ("redirects", "hops", ""),
    ] {
        for format in FORMATS {
            count += 1;
            let run = compile(&folder, format, &renamed(column, name), &[]).says(0, &["files read 90\n", says]);
            run.says(0, &[&format!("not used {name}\n")]);
            let code = i32::from(!says.is_empty());
            compile(&folder, format, &renamed(column, name), &["--strict"]).says(code, &[name]);
        }
    }
    assert_eq!(count, 40);
    // Without a URL there is no capture, and without a body no usable response.
    for format in FORMATS {
        let code = if format == "jsonl" { 1 } else { 2 };
        let run = compile(&folder, format, &renamed("url", "place"), &[]);
        assert!(run.code == Some(code) || run.code == Some(2), "{format}: {run:?}");
        compile(&folder, format, &renamed("body", "stuff"), &[]).says(1, &["no body", "not used stuff\n"]);
    }
}

/// Two columns for one field: choosing one would be a guess.
#[test]
fn two_columns_for_one_field_are_an_error_that_names_both() {
    let folder = Folder::new();
    let names = renamed("error", "Con-Tent");
    let says = "\"body\" and \"Con-Tent\" are both names of the body";
    for format in FORMATS {
        let code = if format == "jsonl" { 1 } else { 2 };
        let run = compile(&folder, format, &names, &[]);
        assert!(run.stderr.contains(says), "{format}: {run:?}");
        assert!(run.code == Some(code) || run.code == Some(2), "{format}: {run:?}");
    }
    // A null does not count as a value.
    let line =
        r#"{"url":"http://a.example/robots.txt","status":null,"http_status":404,"time":null,"warc_date":"2026-01-01"}"#;
    folder.write("null.jsonl", line);
    folder.run(&["compile", "-o", "null", "null.jsonl", "--strict"]).says(0, &["everything allowed (404)  1\n"]);
}

/// Errors as texts and as flags, in every form that programs write.
#[test]
fn error_and_failed_mean_no_answer() {
    let folder = Folder::new();
    let cases = [
        (r#""error":"timed out""#, true),
        (r#""error":true"#, true),
        (r#""failed":true"#, true),
        (r#""failed":1"#, true),
        (r#""has_failed":"True""#, true),
        (r#""exception":"DNSLookupError","failed":false"#, true),
        (r#""error":"","failed":false"#, false),
        (r#""error":null"#, false),
        (r#""error":"None""#, false),
        (r#""error":false"#, false),
        (r#""failed":"0""#, false),
    ];
    for (fields, has_failed) in cases {
        folder.write("c.jsonl", format!(r#"{{"url":"http://a.example/robots.txt","status":404,{fields}}}"#));
        let says = if has_failed { "everything disallowed (network error)" } else { "everything allowed (404)" };
        folder.run(&["compile", "--force", "-o", "set", "c.jsonl"]).says(0, &[says]);
    }
    folder.write("c.jsonl", r#"{"url":"http://a.example/robots.txt","failed":"perhaps"}"#);
    folder.run(&["compile", "--force", "-o", "set", "c.jsonl"]).says(2, &["expected true or false for failed"]);
}

/// A table, a list or JSON is not a robots.txt, even with `--host`.
#[test]
fn host_requires_a_single_robots_txt() {
    let folder = Folder::new();
    for (text, what) in [
        ("url,status\nhttp://a.example/robots.txt,404\n", "a table of captures"),
        ("url\tbody\nhttp://a.example/robots.txt\tx\n", "a table of captures"),
        ("URL;Title\nhttp://a.example/;x\n", "a table of URLs"),
        ("https://a.example/\nhttps://b.example/\n", "a list of URLs"),
        ("{\"url\":\"http://a.example/robots.txt\",\"status\":404}\n", "JSON"),
    ] {
        folder.write("x", text);
        let says = format!("x: --host requires a single robots.txt, but this is {what}");
        folder.run(&["compile", "--force", "-o", "set", "--host", "a.example", "x"]).says(2, &[&says]);
    }
    folder.write("robots", "User-agent: *\nDisallow: /\n");
    for (host, code) in [
        ("https://a.example", 0),
        ("https://a.example/robots.txt", 0),
        ("https://a.example/folder/robots.txt", 2),
        ("https://a.example/Robots.txt", 2),
        ("https://a.example/robots.txt?x", 2),
    ] {
        let run = folder.run(&["compile", "--force", "-o", "set", "--host", host, "robots"]);
        run.says(
            code,
            &[if code == 0 { "files read 1\n" } else { "a robots.txt governs its origin only from the path" }],
        );
    }
}

/// Invalid CSV rows are reported, and do not affect other rows.
#[test]
fn invalid_csv_rows_are_reported() {
    let folder = Folder::new();
    let limit = reptile::limits::MAX_BODY_BYTES;
    for (len, code) in [(limit - 1, 0), (limit, 0), (limit + 1, 1)] {
        let long = format!("http://l.example/robots.txt,200,\"{}\"", "\n".repeat(len));
        folder.write("c.csv", format!("url,status,body\n{long}\nhttp://a.example/robots.txt,200,\"a\n\"\n"));
        let says = if code == 0 { "files read 2\n" } else { "c.csv:2: too large: the limit is 16777216 bytes" };
        folder.run(&["compile", "--force", "-o", "set", "c.csv"]).says(code, &[says]);
    }
    let rows = "url,status,body\nhttp://a.example/robots.txt,200\n\r\nhttp://b.example/robots.txt,20,x\n\
                http://c.example/x,200,x\n\"http://d.example/robots.txt\",\"404\",\n";
    folder.write("c.csv", rows);
    folder.run(&["compile", "--force", "-o", "set", "c.csv"]).says(
        1,
        &[
            "c.csv:2: not a valid capture: expected 3 columns, as in the first line, found 2",
            "c.csv:4: not a valid capture: expected a status",
            "c.csv:5: not the url of a robots.txt",
            "files read 1\n",
        ],
    );
    folder.write("c.csv", "url,status,body\nhttp://a.example/robots.txt,200,\"x\nhttp://b.example/robots.txt,200,x\n");
    let says = "c.csv: a quote in the row that begins in line 2 is not closed";
    folder.run(&["compile", "--force", "-o", "set", "c.csv"]).says(2, &[says]);
}
