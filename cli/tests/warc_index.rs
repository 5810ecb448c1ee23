//! `compile --warc-root`: an index of WARC records gives the same set as the WARC files, and never another record.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use parquet::file::properties::WriterProperties;

use crate::classify_parquet::{Cells, Column, file, texts};
use crate::redirects::{WrittenRecord, cases};
use crate::support::{Folder, gz};
use crate::warc::{CLOSED, answer, record};

/// A row of an index.
#[derive(Clone)]
struct IndexRow {
    url: String,
    time: Option<String>,
    file: String,
    offset: i64,
    len: i32,
}

/// Returns an index with the columns of Common Crawl's columnar index that are read, and some others.
fn index(rows: &[IndexRow]) -> Vec<u8> {
    let text = |cell: fn(&IndexRow) -> Option<&str>| texts(&rows.iter().map(cell).collect::<Vec<_>>());
    let required = |cells| Column { cells, levels: Vec::new(), lists: Vec::new() };
    let columns = vec![
        text(|_| Some("com,example)/robots.txt")),
        text(|row| Some(&row.url)),
        text(|row| row.time.as_deref()),
        required(Cells::Int32(vec![200; rows.len()])),
        text(|row| Some(&row.file)),
        required(Cells::Int64(rows.iter().map(|row| row.offset).collect())),
        required(Cells::Int32(rows.iter().map(|row| row.len).collect())),
    ];
    let schema = "optional binary url_surtkey (UTF8); optional binary url (UTF8); optional binary fetch_time (UTF8); \
                  required int32 fetch_status; optional binary warc_filename (UTF8); \
                  required int64 warc_record_offset; required int32 warc_record_length;";
    file(schema, &[columns], WriterProperties::builder())
}

/// Returns a field of a record's header.
fn field(record: &[u8], name: &str) -> Option<String> {
    let text = String::from_utf8_lossy(record).into_owned();
    let header = text.split("\r\n\r\n").next().unwrap().to_owned();
    header.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ").map(str::to_owned))
}

/// Writes a WARC file below `root`, and returns a row for each record.
fn write(folder: &Folder, name: &str, records: &[Vec<u8>], is_packed: bool) -> Vec<IndexRow> {
    let (mut bytes, mut rows) = (Vec::new(), Vec::new());
    for record in records {
        let stored = if is_packed { gz(record) } else { record.clone() };
        rows.push(IndexRow {
            url: field(record, "WARC-Target-URI").unwrap(),
            time: field(record, "WARC-Date"),
            file: name.into(),
            offset: bytes.len() as i64,
            len: stored.len() as i32,
        });
        bytes.extend(stored);
    }
    std::fs::create_dir_all(folder.path("root/crawl")).unwrap();
    folder.write(&format!("root/{name}"), bytes);
    rows
}

/// Redirects and revisits are resolved among all listed records, as in the files themselves.
#[test]
fn an_index_gives_the_same_set_as_its_files() {
    for (number, case) in cases().into_iter().enumerate() {
        let folder = Folder::new();
        let mut rows = Vec::new();
        let mut args = vec!["compile".to_owned(), "-o".into(), "expected".into()];
        for (number, records) in case.files.iter().enumerate() {
            let name = format!("crawl/{number}.warc");
            let records: Vec<Vec<u8>> = records.iter().map(WrittenRecord::bytes).collect();
            rows.extend(write(&folder, &name, &records, number % 2 == 0));
            args.push(format!("root/{name}"));
        }
        folder.run(&args.iter().map(String::as_str).collect::<Vec<_>>()).says(0, &[]);
        // An index is sorted by URL, and a row may occur twice.
        rows.reverse();
        rows.push(rows[0].clone());
        folder.write("index", index(&rows));
        let threads = if number % 2 == 0 { "1" } else { "4" };
        let args = ["compile", "-o", "set", "index", "--warc-root", "root", "--threads", threads];
        let repeated = "left out: row of a WARC index that repeats another row's record 1\n";
        folder.run(&args).says(0, &[repeated]);
        assert!(folder.read("set") == folder.read("expected"), "{}", case.name);
        assert!(String::from_utf8(folder.read("set.made.json")).unwrap().contains("\"warc_root\": \"root\""));
    }
}

fn closed(host: &str) -> Vec<u8> {
    answer(&format!("http://{host}/robots.txt"), "HTTP/1.1 200 OK", "", CLOSED.as_bytes())
}

#[test]
fn a_row_without_its_record_is_bad() {
    let folder = Folder::new();
    for is_packed in [true, false] {
        let request = "WARC-Target-URI: http://q.example/robots.txt\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n";
        let records = [closed("a.example"), closed("b.example"), record("request", request, b"GET")];
        let rows = write(&folder, "crawl/w", &records, is_packed);
        let b = rows[1].clone();
        let changed = |change: &dyn Fn(&mut IndexRow)| {
            let mut row = b.clone();
            change(&mut row);
            row
        };
        let other = "WARC index that does not match its files";
        let unusable = "not a valid row of a WARC index";
        let at = b.offset;
        let cases: Vec<(IndexRow, String)> = vec![
            (
                changed(&|row| row.url = "http://c.example/robots.txt".into()),
                format!(
                    "row 2: crawl/w at byte {at}: {other}: expected a record of http://c.example/robots.txt, \
                     found one of \
                 \"http://b.example/robots.txt\"\n"
                ),
            ),
            (
                changed(&|row| row.time = Some("2026-01-02T03:04:06Z".into())),
                format!("{other}: expected a record of 2026-01-02T03:04:06Z, found one of \"2026-01-02T03:04:05Z\"\n"),
            ),
            (changed(&|row| row.time = Some("soon".into())), format!("row 2: {unusable}: expected a time such as")),
            (
                changed(&|row| row.offset += 1),
                format!("at byte {}: {other}: expected a gzip member or \"WARC/\"", at + 1),
            ),
            (changed(&|row| row.len -= 10), format!("row 2: crawl/w at byte {at}: {other}: it")),
            (changed(&|row| row.len += 10), format!("row 2: crawl/w at byte {at}: {other}: its ")),
            (changed(&|row| row.len += rows[2].len), format!("row 2: crawl/w at byte {at}: {other}: its ")),
            (
                changed(&|row| row.len = 10_000),
                format!(
                    "{other}: its record ends at byte {}, but the file has {} bytes\n",
                    at + 10_000,
                    at + i64::from(b.len + rows[2].len)
                ),
            ),
            (changed(&|row| row.len = 0), format!("{unusable}: expected a range of bytes, found 0 bytes")),
            (changed(&|row| row.len = i32::MAX), format!("row 2: too large: its record has {} bytes", i32::MAX)),
            (changed(&|row| row.offset = -1), format!("{unusable}: expected an offset in bytes, found \"-1\"\n")),
            (changed(&|row| row.offset = i64::MAX), format!("{other}: its record ends at byte")),
            (changed(&|row| row.file = "../index".into()), format!("{unusable}: expected a path below the folder")),
            (changed(&|row| row.file = "/etc/passwd".into()), format!("{unusable}: expected a path below the folder")),
            (changed(&|row| row.file = String::new()), format!("{unusable}: expected a path below the folder")),
            (
                changed(&|row| row.file = "x".repeat(4097)),
                format!("{unusable}: expected a WARC file's name of at most 4096 bytes\n"),
            ),
        ];
        for (row, message) in cases {
            folder.write("index", index(&[rows[0].clone(), row]));
            let run = folder.run(&["compile", "--force", "-o", "set", "index", "--warc-root", "root"]);
            run.says(1, &[&message, "files read 1\n"]);
            assert_eq!(folder.verdicts("set", &["http://a.example/", "http://b.example/"]), ["disallow", "unknown"]);
        }
        // Without a time, only the URL is compared. A record that is not a response is left out, as in the file.
        folder.write("index", index(&[changed(&|row| row.time = None), rows[2].clone()]));
        let run = folder.run(&["compile", "--force", "-o", "set", "index", "--warc-root", "root"]);
        run.says(0, &["left out: record that is not a server response 1\n", "files read 1\n"]);
        assert_eq!(folder.verdicts("set", &["http://b.example/"]), ["disallow"]);
    }
}

/// A crawl wrote the names in an index. They select no file outside the folder, not even through a link.
#[cfg(unix)]
#[test]
fn an_index_reads_only_files_below_its_folder() {
    for (link, target, is_read) in [
        ("root/crawl/x", "outside/w", false),
        ("root/x", "outside", false),
        ("root/crawl/x", "root/crawl/w", true),
        ("root/x", "root/crawl", true),
    ] {
        let folder = Folder::new();
        let mut rows = write(&folder, "crawl/w", &[closed("a.example")], true);
        folder.write("outside/w", folder.read("root/crawl/w"));
        std::os::unix::fs::symlink(folder.path(target), folder.path(link)).unwrap();
        rows[0].file = if link == "root/x" { "x/w".into() } else { "crawl/x".into() };
        folder.write("index", index(&rows));
        let run = folder.run(&["compile", "-o", "set", "index", "--warc-root", "root"]);
        if is_read {
            run.says(0, &["files read 1\n"]);
        } else {
            run.says(2, &["row 1: ", "a symbolic link on its path leaves the folder of --warc-root"]);
        }
    }
}

#[test]
fn an_index_needs_its_files_and_the_option_needs_an_index() {
    let folder = Folder::new();
    let rows = write(&folder, "crawl/w", &[closed("a.example")], true);
    folder.write("index", index(&rows));
    folder.write("bodies", crate::classify_parquet::captures(&[("http://a.example/robots.txt", CLOSED)]));
    folder.write("text", "user-agent: *\n");
    let some = "optional binary url (UTF8); optional binary warc_filename (UTF8);";
    folder.write("some", file(some, &[vec![texts(&[Some("u")]), texts(&[Some("f")])]], WriterProperties::builder()));
    folder.write("nowhere", index(&[IndexRow { file: "crawl/none".into(), ..rows[0].clone() }]));
    let root = ["--warc-root", "root"];
    for (input, options, message) in [
        ("index", &[][..], "index: is an index of WARC records, without bodies; expected --warc-root with the folder"),
        ("some", &root, "some: has some columns of an index of WARC records, but no column \"warc_record_offset\""),
        ("bodies", &root, "bodies: is not an index of WARC records, which --warc-root requires: expected the columns"),
        (
            "root/crawl/w",
            &root,
            "root/crawl/w: --warc-root requires an index of WARC records: Parquet, CDXJ, or a table with the columns",
        ),
        ("root", &root, "\"warc_record_offset\" and \"warc_record_length\", but this is a folder"),
        ("text", &root, "\"warc_record_offset\" and \"warc_record_length\", but this is text"),
        ("nowhere", &root, "nowhere: row 1: crawl/none: "),
        ("index", &["--warc-root", "root", "--host", "a.example"], "cannot be used with"),
        ("index", &["--warc-root", "none"], "index: row 1: crawl/w: "),
    ] {
        folder.run(&[&["compile", "-o", "set", input], options].concat()).says(2, &[message]);
    }
}

/// The forms of an index in text: its name, its first line, and the line for a row.
type Form = (&'static str, &'static str, fn(&IndexRow) -> String);

/// Returns the digits of a time.
fn digits(row: &IndexRow) -> String {
    row.time.as_deref().unwrap_or_default().chars().filter(char::is_ascii_digit).collect()
}

fn object(row: &IndexRow) -> String {
    let IndexRow { url, file, offset, len, .. } = row;
    format!(
        r#"{{"url": "{url}", "mime": "text/html", "status": "200", "length": "{len}", "offset": "{offset}", "filename": "{file}"}}"#
    )
}

const FORMS: [Form; 9] = [
    ("cdxj", "", |row| format!("example,a)/robots.txt {} {}", digits(row), object(row))),
    ("marked.cdxj", "!OpenWayback-CDXJ 1.0\n", |row| format!("example,a)/robots.txt {} {}", digits(row), object(row))),
    ("jsonl", "", object),
    ("cdx", " CDX N b a m s k r M S V g\n", |row| {
        format!(
            "example,a)/robots.txt {} {} text/html 200 X - - {} {} {}",
            digits(row),
            row.url,
            row.len,
            row.offset,
            row.file
        )
    }),
    ("csv", "url_surtkey,url,fetch_time,fetch_status,warc_filename,warc_record_offset,warc_record_length\n", |row| {
        let time = row.time.as_deref().unwrap_or_default();
        format!("x,{},{time},200,{},{},{}", row.url, row.file, row.offset, row.len)
    }),
    ("quoted", "\"url\",\"fetch_time\",\"warc_filename\",\"warc_record_offset\",\"warc_record_length\"\n", |row| {
        let time = row.time.as_deref().unwrap_or_default().replace(['T', 'Z'], " ").trim().to_owned() + ".000";
        format!("\"{}\",\"{time}\",\"{}\",\"{}\",\"{}\"", row.url, row.file, row.offset, row.len)
    }),
    ("api", "url,filename,offset,length\n", |row| format!("{},{},{},{}", row.url, row.file, row.offset, row.len)),
    ("tsv", "WARC_FILENAME\turl\twarc_record_offset\twarc_record_length\n", |row| {
        format!("{}\t{}\t{}\t{}", row.file, row.url, row.offset, row.len)
    }),
    ("semicolons", "url;filename;offset;length;timestamp\n", |row| {
        format!("{};{};{};{};{}", row.url, row.file, row.offset, row.len, digits(row))
    }),
];

/// Writes an index in a form.
fn text_index((_, header, line): &Form, rows: &[IndexRow]) -> String {
    rows.iter().fold((*header).to_owned(), |text, row| text + &line(row) + "\n")
}

#[test]
fn an_index_in_text_is_read_like_parquet() {
    let folder = Folder::new();
    let rows = write(&folder, "crawl/w", &[closed("a.example"), closed("b.example"), closed("c.example")], true);
    folder.run(&["compile", "-o", "expected", "root/crawl/w"]).says(0, &[]);
    let root = ["--warc-root", "root"];
    let run =
        |name: &str, more: &[&str]| folder.run(&[&["compile", "--force=shrink", "-o", "set", name], more].concat());
    let mut count = 0;
    for form in &FORMS {
        let name = form.0;
        let text = text_index(form, &rows);
        for bytes in [text.clone().into_bytes(), gz(text.as_bytes()), text.trim_end().as_bytes().to_vec()] {
            folder.write(name, bytes);
            run(name, &root).says(0, &["files read 3\n"]);
            assert!(folder.read("set") == folder.read("expected"), "{name}");
        }
        // Without the option, an index is neither captures nor a robots.txt.
        if name != "jsonl" {
            run(name, &[])
                .says(2, &["is an index of WARC records, without bodies; expected --warc-root with the folder"]);
            run(name, &["--host", "a.example"]).says(2, &["a single robots.txt, but this is an index of WARC records"]);
        }
        // A bad row changes no other row.
        let mut bad = rows.clone();
        bad[1].url = "http://z.example/robots.txt".into();
        bad[2].file = "../w".into();
        folder.write(name, text_index(form, &bad));
        let message = "expected a record of http://z.example/robots.txt, found one of \"http://b.example/robots.txt\"";
        let below =
            "row 3: not a valid row of a WARC index: expected a path below the folder of --warc-root, found \"../w\"";
        run(name, &root).says(1, &["row 2: crawl/w at byte ", message, below, "files read 1\n"]);
        let mut other = rows.clone();
        other[0].time = Some("2026-01-02T03:04:06Z".into());
        let has_time = text_index(form, &other) != text;
        folder.write(name, text_index(form, &other));
        let read = run(name, &root);
        match has_time {
            true => read.says(1, &["row 1: crawl/w at byte 0: ", "expected a record of 2026-01-02T03:04:06Z"]),
            false => read.says(0, &["files read 3\n"]),
        };
        count += 1;
    }
    assert_eq!(count, 9);
}

#[test]
fn a_broken_row_or_a_missing_column_of_an_index_in_text_is_named() {
    let folder = Folder::new();
    let rows = write(&folder, "crawl/w", &[closed("a.example")], true);
    let csv = text_index(&FORMS[6], &rows);
    let row = csv.lines().nth(1).unwrap();
    let long = "x".repeat(4097);
    for (text, code, message) in [
        (
            format!("{csv}a,b\n{row}x\n"),
            1,
            "row 2: not a valid row of a WARC index: fewer cells than the 4 names in the header",
        ),
        (format!("{csv}{row}x\n"), 1, "row 2: not a valid row of a WARC index: expected a length in bytes, found \""),
        (format!("{csv}http://a.example/robots.txt,,0,9\n"), 1, "expected a WARC file's name, found nothing"),
        (
            format!("{csv}http://a.example/robots.txt,{long},0,9\n"),
            1,
            "expected a WARC file's name of at most 4096 bytes",
        ),
        (format!("{csv},crawl/w,0,9\n"), 1, "row 2: not a valid row of a WARC index: expected a URL, found nothing"),
        (csv.replace("offset", "start"), 2, "--warc-root offset: there is no such column"),
        (csv.replace("url", "link"), 2, "--warc-root"),
        (csv.replace("length\n", "length,offset\n"), 2, "--warc-root"),
        (csv.replace("filename", "path"), 2, "--warc-root requires an index of WARC records"),
        ("url,filename,offset,length\n".into(), 2, "no robots.txt found"),
    ] {
        folder.write("index", &text);
        folder.run(&["compile", "--force", "-o", "set", "index", "--warc-root", "root"]).says(code, &[message]);
    }
    // A table of captures may have such columns too.
    folder.write(
        "captures",
        format!("url,filename,offset,length,body\nhttp://a.example/robots.txt,x,0,1,\"{CLOSED}\"\n"),
    );
    folder.run(&["compile", "--force", "-o", "set", "captures"]).says(0, &["files read 1\n"]);
}
