//! Parquet in and out: `reptile classify` and `compile` on files with every supported type and encoding, damaged files,
//! and Parquet output.
//!
//! `pandas_polars_and_duckdb_read_and_write` tests interoperability with other programs. It needs Python with pyarrow,
//! pandas, polars and duckdb:
//!
//! `PYTHON=venv/bin/python cargo test -p reptile-cli --test all parquet -- --ignored`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::fs::File;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, Type};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::Field;
use parquet::schema::parser::parse_message_type;

use crate::parquet_refused::ALL_PARTS;
use crate::support::{self, Folder, Run, gz};

/// Non-null cells of a column.
pub enum Cells {
    Texts(Vec<ByteArray>),
    Fixed(Vec<FixedLenByteArray>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Int96(Vec<Int96>),
    Doubles(Vec<f64>),
    Flags(Vec<bool>),
}

/// A column: its cells, and for each row whether it has one. `levels` is empty for required columns, `lists` for
/// columns that are not lists.
pub struct Column {
    pub cells: Cells,
    pub levels: Vec<i16>,
    pub lists: Vec<i16>,
}

pub fn texts<T: AsRef<[u8]>>(rows: &[Option<T>]) -> Column {
    let cells = rows.iter().flatten().map(|text| ByteArray::from(text.as_ref().to_vec())).collect();
    let levels = rows.iter().map(|row| i16::from(row.is_some())).collect();
    Column { cells: Cells::Texts(cells), levels, lists: Vec::new() }
}

fn required(cells: Cells) -> Column {
    Column { cells, levels: Vec::new(), lists: Vec::new() }
}

fn optional(cells: Cells, levels: &[i16]) -> Column {
    Column { cells, levels: levels.into(), lists: Vec::new() }
}

/// Returns a file with the given schema and row groups.
pub fn file(schema: &str, groups: &[Vec<Column>], properties: WriterPropertiesBuilder) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(&format!("message m {{ {schema} }}")).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build())).unwrap();
    for group in groups {
        let mut group_writer = writer.next_row_group().unwrap();
        for column in group {
            let mut column_writer = group_writer.next_column().unwrap().unwrap();
            let levels = Some(&column.levels[..]).filter(|levels| !levels.is_empty());
            let lists = Some(&column.lists[..]).filter(|lists| !lists.is_empty());
            match (column_writer.untyped(), &column.cells) {
                (ColumnWriter::ByteArrayColumnWriter(writer), Cells::Texts(cells)) => {
                    writer.write_batch(cells, levels, lists).unwrap();
                }
                (ColumnWriter::FixedLenByteArrayColumnWriter(writer), Cells::Fixed(cells)) => {
                    writer.write_batch(cells, levels, lists).unwrap();
                }
                (ColumnWriter::Int32ColumnWriter(writer), Cells::Int32(cells)) => {
                    writer.write_batch(cells, levels, lists).unwrap();
                }
                (ColumnWriter::Int64ColumnWriter(writer), Cells::Int64(cells)) => {
                    writer.write_batch(cells, levels, lists).unwrap();
                }
                (ColumnWriter::Int96ColumnWriter(writer), Cells::Int96(cells)) => {
                    writer.write_batch(cells, levels, lists).unwrap();
                }
                (ColumnWriter::DoubleColumnWriter(writer), Cells::Doubles(cells)) => {
                    writer.write_batch(cells, levels, lists).unwrap();
                }
                (ColumnWriter::BoolColumnWriter(writer), Cells::Flags(cells)) => {
                    writer.write_batch(cells, levels, lists).unwrap();
                }
                _ => panic!("the cells do not fit the schema"),
            }
            column_writer.close().unwrap();
        }
        group_writer.close().unwrap();
    }
    writer.into_inner().unwrap()
}

/// Returns a file with the URLs and bodies of robots.txt files.
pub fn captures(files: &[(&str, &str)]) -> Vec<u8> {
    let urls = texts(&files.iter().map(|(url, _)| Some(url)).collect::<Vec<_>>());
    let bodies = texts(&files.iter().map(|(_, body)| Some(body)).collect::<Vec<_>>());
    file("optional binary url (UTF8); optional binary body (UTF8);", &[vec![urls, bodies]], plain())
}

/// Returns a file with one text column.
pub fn column(name: &str, rows: &[&str]) -> Vec<u8> {
    let texts = texts(&rows.iter().map(Some).collect::<Vec<_>>());
    file(&format!("optional binary {name} (UTF8);"), &[vec![texts]], plain())
}

pub fn plain() -> WriterPropertiesBuilder {
    WriterProperties::builder()
}

fn classify(folder: &Folder, name: &str, options: &[&str]) -> Run {
    folder.run(&[&["classify", "set", name, "--agent", "bot-a"], options].concat())
}

/// Returns URLs of every verdict, nulls, bytes that are not UTF-8, a line end within a URL, and an overlong URL.
fn rows() -> Vec<Option<Vec<u8>>> {
    let mut rows: Vec<Option<Vec<u8>>> = vec![
        Some(b"http://a.example/private".to_vec()),
        None,
        Some(b"http://b.example/".to_vec()),
        Some(b"http://a.example/\xe9".to_vec()),
        Some(b"".to_vec()),
        Some(b"http://a.example/x\nhttp://b.example/".to_vec()),
        Some(b"http://z.example/".to_vec()),
        Some([&b"http://a.example/"[..], &vec![b'p'; (1 << 20) + 1]].concat()),
        Some(b"http://a.example/private/open".to_vec()),
    ];
    rows.extend((0..300).map(|number| match number % 7 {
        3 => None,
        digit => Some(format!("http://{}.example/private/{number}", ["a", "b"][digit % 2]).into_bytes()),
    }));
    rows
}

/// Returns the expected output of `classify` for the rows.
fn expected(rows: &[Option<Vec<u8>>]) -> String {
    let line = |row: &Option<Vec<u8>>| {
        let Some(url) = row else { return "\tinvalid\n".to_owned() };
        if url.len() > 1 << 20 {
            return "\tinvalid\n".to_owned();
        }
        let text = String::from_utf8_lossy(url).replace('\n', "%0A");
        let verdict = match &*text {
            "http://a.example/private" | "http://b.example/" => "disallow",
            "http://z.example/" => "unknown",
            "" => "invalid",
            text if text.contains("%0A") => "invalid",
            text if text.contains("b.example") => "disallow",
            text if text.ends_with("open") || !text.contains("/private") => "allow",
            _ => "disallow",
        };
        format!("{text}\t{verdict}\n")
    };
    rows.iter().map(line).collect()
}

#[test]
fn urls_are_read_in_every_encoding_and_compression() {
    let folder = Folder::with_set();
    let rows = rows();
    let expected = expected(&rows);
    let mut properties: Vec<WriterPropertiesBuilder> = vec![
        plain(),
        plain().set_dictionary_enabled(false),
        plain().set_writer_version(WriterVersion::PARQUET_2_0),
        plain().set_data_page_row_count_limit(10).set_write_batch_size(5),
        plain().set_dictionary_page_size_limit(200).set_write_batch_size(5),
    ];
    for encoding in [Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY] {
        properties.push(plain().set_dictionary_enabled(false).set_encoding(encoding));
    }
    for packing in [
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::ZSTD(Default::default()),
        Compression::LZ4_RAW,
    ] {
        properties.push(plain().set_compression(packing));
        properties.push(plain().set_compression(packing).set_writer_version(WriterVersion::PARQUET_2_0));
    }
    for (number, properties) in properties.into_iter().enumerate() {
        let groups: Vec<Vec<Column>> = rows.chunks(200).map(|rows| vec![texts(rows)]).collect();
        folder.write("a.parquet", file("optional binary url (UTF8);", &groups, properties));
        let run = classify(&folder, "a.parquet", &[]);
        let run = run.says(0, &["input Parquet, URLs in column 1 (\"url\")", "lines 309\n", "row 2: without column 1"]);
        assert_eq!(
            String::from_utf8_lossy(&run.stdout).replace('\u{fffd}', "?"),
            expected.replace('\u{fffd}', "?"),
            "{number}"
        );
    }
}

#[test]
fn url_columns_of_every_type_are_found() {
    let folder = Folder::with_set();
    let urls = || Cells::Texts(["http://a.example/private", "http://b.example/"].map(ByteArray::from).into());
    let fixed = ["http://a.example/", "http://b.example/"].map(|url| ByteArray::from(url).into());
    let numbers = || required(Cells::Int64(vec![1, 2]));
    let cases: [(&str, Vec<Column>, &[&str], &str); 5] = [
        ("required binary URL;", vec![required(urls())], &[], "disallow disallow"),
        ("required binary link;", vec![required(urls())], &[], "disallow disallow"),
        (
            "required int64 id; required binary u;",
            vec![numbers(), required(urls())],
            &["--url", "2"],
            "disallow disallow",
        ),
        (
            "required int64 url; optional group r { optional binary u; }",
            vec![numbers(), optional(urls(), &[2, 2])],
            &["--url", "R.U"],
            "disallow disallow",
        ),
        ("required fixed_len_byte_array(17) url;", vec![required(Cells::Fixed(fixed.into()))], &[], "allow disallow"),
    ];
    for (schema, columns, options, verdicts) in cases {
        folder.write("a.parquet", file(schema, &[columns], plain()));
        let run = classify(&folder, "a.parquet", &[options, &["--columns", "verdict"]].concat());
        assert_eq!(run.text().trim().replace('\n', " "), verdicts, "{schema} {run:?}");
    }
}

#[test]
fn invalid_files_and_columns_are_reported() {
    let folder = Folder::with_set();
    let two = || texts(&[Some("http://a.example/"), None]);
    let list = Column { cells: Cells::Texts(vec!["a".into(), "b".into()]), levels: vec![1, 1], lists: vec![0, 1] };
    folder.write("list", file("repeated binary url;", &[vec![list]], plain()));
    folder.write("two", file("optional binary url; optional binary uri;", &[vec![two(), two()]], plain()));
    folder.write("none", file("required int32 id;", &[vec![required(Cells::Int32(vec![1]))]], plain()));
    folder.write("same", file("optional binary a; optional binary a;", &[vec![two(), two()]], plain()));
    let whole = folder.read("two");
    folder.write("packed.gz", gz(&whole));
    folder.write("short", &whole[..6]);
    folder.write("cut", &whole[..whole.len() - 9]);
    folder.write("text", "http://a.example/\n");
    let long = [&whole[..whole.len() - 8], &(200_u32 << 20).to_le_bytes(), b"PAR1"].concat();
    folder.write("long", long);
    let cases: [(&str, &[&str], &str); 13] = [
        (
            "list",
            &["--url", "url"],
            "list: --url: column 1 (\"url\") is a list, and one value for each row is expected; expected text",
        ),
        ("two", &[], "two: which column has the URLs, column 1 (\"url\") or column 2 (\"uri\")? Say it with --url"),
        ("two", &["--url", "x"], "two: --url x: there is no such column; the file has \"url\", \"uri\""),
        ("two", &["--url", "3"], "--url 3: the file has the columns 1 to 2"),
        ("two", &["--url", "0"], "--url 0: the file has the columns 1 to 2"),
        ("two", &["--url", ALL_PARTS], "two: --url: there are no columns url_protocol, url_host_name"),
        ("two", &["--input-format", "csv"], "two: --input-format: is a Parquet file, not CSV"),
        ("text", &["--input-format", "parquet"], "text: --input-format parquet: is not a Parquet file"),
        ("same", &["--url", "a"], "a: several columns have this name; give a number, from 1 on"),
        (
            "packed.gz",
            &[],
            "packed.gz: is a Parquet file, compressed with gzip, not a list or a table of URLs; Parquet is read from its end: save it as an uncompressed file",
        ),
        ("short", &[], "short: is a damaged Parquet file"),
        ("cut", &[], "cut: is a damaged Parquet file: it does not end with the magic bytes PAR1; it may be cut off"),
        ("long", &[], "its footer has 209715200 bytes; the limit is 16777216"),
    ];
    for (name, options, says) in cases {
        classify(&folder, name, options).says(2, &[says]);
    }
    const MAX_FOOTER_BYTES: u32 = 16 << 20;
    for (len, is_over) in [(MAX_FOOTER_BYTES - 1, false), (MAX_FOOTER_BYTES, false), (MAX_FOOTER_BYTES + 1, true)] {
        let zeros = vec![0; len as usize];
        folder.write("zeros", [&b"PAR1"[..], &zeros, &len.to_le_bytes(), b"PAR1"].concat());
        let run = classify(&folder, "zeros", &[]).says(2, &["zeros: is a damaged Parquet file: "]);
        assert_eq!(run.stderr.contains("the limit is"), is_over, "{len} {run:?}");
    }
    let run = folder.run_with(&["classify", "set", "-", "--agent", "bot-a"], &whole);
    run.says(2, &["standard input: is a Parquet file", "save it as an uncompressed file"]);
    folder.run_with(&["compile", "-o", "out", "-"], &whole).says(2, &["standard input: is a Parquet file"]);
}

/// The split columns of Common Crawl's index give the same verdicts as the full URLs.
#[test]
fn split_columns_equal_the_joined_url() {
    type UrlCells =
        (Option<&'static str>, Option<&'static str>, Option<i32>, Option<&'static str>, Option<&'static str>);
    let folder = Folder::with_set();
    let rows: [(UrlCells, &str); 19] = [
        ((Some("http"), Some("a.example"), None, Some("/private"), None), "http://a.example/private"),
        ((Some("http"), Some("a.example"), None, Some("/x"), Some("y")), "http://a.example/x?y"),
        ((Some("http"), Some("a.example"), Some(80), Some("/private"), Some("")), "http://a.example:80/private?"),
        ((Some("https"), Some("c.example"), Some(8080), Some("/"), None), "https://c.example:8080/"),
        ((Some("http"), Some("b.example"), None, None, Some("q=1")), "http://b.example?q=1"),
        ((Some("http"), Some("b.example"), None, Some(""), None), "http://b.example"),
        ((None, Some("b.example"), None, Some("/"), None), ""),
        ((Some("http"), None, None, Some("/"), None), ""),
        ((Some("http"), Some("a.example/private"), None, Some("/"), None), "http://a.example/private/"),
        ((None, Some("http://a.example"), None, Some("/private"), None), ""),
        ((Some("http"), None, None, Some("a.example/private"), None), ""),
        ((Some("http"), Some(""), None, Some("/private"), None), "http:///private"),
        ((Some("HTTP"), Some("A.example"), None, Some("/private"), None), "HTTP://A.example/private"),
        ((Some("http"), Some("u@a.example"), None, Some("/private"), None), "http://u@a.example/private"),
        ((Some("http"), Some("a.example"), None, Some("/private#x"), Some("y")), "http://a.example/private#x?y"),
        ((Some("http"), Some("a.example"), Some(0), Some("/private"), None), "http://a.example:0/private"),
        ((Some("http"), Some("a.example"), Some(443), Some("/private"), None), "http://a.example:443/private"),
        ((Some("http"), Some("a.example"), Some(70_000), Some("/private"), None), "http://a.example:70000/private"),
        ((Some("http"), Some("a.example"), None, Some("private"), None), "http://a.exampleprivate"),
    ];
    let parts = |pick: fn(&UrlCells) -> Option<&'static str>| texts(&rows.map(|(parts, _)| pick(&parts)));
    let ports: Vec<i32> = rows.iter().filter_map(|(parts, _)| parts.2).collect();
    let levels = rows.map(|(parts, _)| i16::from(parts.2.is_some()));
    let columns = || {
        let ports = optional(Cells::Int32(ports.clone()), &levels);
        vec![parts(|row| row.0), parts(|row| row.1), ports, parts(|row| row.3), parts(|row| row.4)]
    };
    let schema = "optional binary url_protocol (UTF8); optional binary url_host_name (UTF8); optional int32 url_port; \
                  optional binary url_path (UTF8); optional binary url_query (UTF8);";
    folder.write("split", file(schema, &[columns(), columns()], plain()));
    let with_url = [vec![texts(&rows.map(|_| Some("http://z.example/")))], columns()].into_iter().flatten().collect();
    folder.write("both", file(&format!("optional binary url; {schema}"), &[with_url], plain()));
    folder.write("urls", rows.map(|(_, url)| format!("{url}\n")).concat());
    let listed = classify(&folder, "urls", &[]).text();
    let found = classify(&folder, "split", &[]).says(0, &["URLs in columns url_protocol, url_host_name"]);
    assert_eq!(found.text(), listed.repeat(2));
    assert_eq!(classify(&folder, "both", &["--url", ALL_PARTS]).text(), listed);
    // If the output has no URL column, ordinary URLs are not joined. The reported rows are the same.
    for options in [
        &["--columns", "verdict"][..],
        &["--columns", "verdict", "--agent", "other"],
        &["--columns", "verdict,any-of", "--agent", "other"],
    ] {
        let found = classify(&folder, "split", options);
        assert_eq!(found.text(), classify(&folder, "urls", options).text().repeat(2), "{options:?}");
        assert!(found.stderr.contains("row 7: without columns") && found.stderr.contains("row 26: "), "{found:?}");
    }
    // More rows than a batch, with hosts in a dictionary and without one.
    let many: Vec<usize> = (0..5_000).map(|row| row * 7 % rows.len()).collect();
    let parts = |pick: fn(&UrlCells) -> Option<&'static str>| {
        texts(&many.iter().map(|&row| pick(&rows[row].0)).collect::<Vec<_>>())
    };
    let numbers: Vec<i32> = many.iter().filter_map(|&row| rows[row].0.2).collect();
    let levels: Vec<i16> = many.iter().map(|&row| i16::from(rows[row].0.2.is_some())).collect();
    folder.write("urls", many.iter().map(|&row| format!("{}\n", rows[row].1)).collect::<String>());
    let listed = classify(&folder, "urls", &["--columns", "verdict"]).text();
    for properties in [plain(), plain().set_dictionary_enabled(false), plain().set_data_page_row_count_limit(100)] {
        let ports = optional(Cells::Int32(numbers.clone()), &levels);
        let columns = vec![parts(|row| row.0), parts(|row| row.1), ports, parts(|row| row.3), parts(|row| row.4)];
        folder.write("many", file(schema, &[columns], properties));
        assert_eq!(classify(&folder, "many", &["--columns", "verdict"]).text(), listed);
    }
    assert_eq!(classify(&folder, "both", &["--columns", "verdict"]).text(), "unknown\n".repeat(rows.len()));
}

#[test]
fn times_of_every_type_are_read_like_text() {
    let folder = Folder::new();
    let line = |time: i64, rule: &str| {
        format!(
            "{{\"url\":\"http://a.example/robots.txt\",\"time\":\"@{time}\",\"body\":\"user-agent: *\\ndisallow: {rule}\"}}\n"
        )
    };
    folder.write("c.jsonl", line(86_400, "/") + &line(172_800, "/x"));
    folder.run(&["compile", "--by-time", "-o", "set", "c.jsonl"]).says(0, &[]);
    let seconds = [86_399_i64, 86_400, 172_799, 172_800];
    let scaled = |by: i64| required(Cells::Int64(seconds.map(|time| time * by + by - 1).into()));
    let int96 = seconds.map(|time| {
        let mut value = Int96::new();
        let nanoseconds = (time % 86_400) as u64 * 1_000_000_000;
        value.set_data(nanoseconds as u32, (nanoseconds >> 32) as u32, (time / 86_400 + 2_440_588) as u32);
        value
    });
    let late = |by: i64| required(Cells::Int64([1_700_000_000; 4].map(|time| time * by).into()));
    let cases: [(&str, Column, &str); 14] = [
        ("required int64 t (TIMESTAMP(MILLIS,true));", scaled(1_000), "unknown disallow disallow allow"),
        ("required int64 t (TIMESTAMP(MICROS,true));", scaled(1_000_000), "unknown disallow disallow allow"),
        ("required int64 t (TIMESTAMP(NANOS,false));", scaled(1_000_000_000), "unknown disallow disallow allow"),
        // The type does not determine the unit, so the number of digits does, as in JSON. These numbers are too short.
        ("required int64 t;", scaled(1), "invalid invalid invalid invalid"),
        ("required int64 t;", late(1), "allow allow allow allow"),
        ("required int64 t;", late(1_000), "allow allow allow allow"),
        ("required int64 t;", late(1_000_000_000), "allow allow allow allow"),
        (
            "required int64 t (INTEGER(64,false));",
            required(Cells::Int64(vec![-1, 1_700_000_000, 0, 19700102])),
            "invalid allow invalid disallow",
        ),
        (
            "required int32 t (INTEGER(32,false));",
            required(Cells::Int32(vec![-1, 1_700_000_000, 0, 19700101])),
            "allow allow invalid unknown",
        ),
        ("required int64 t (TIMESTAMP(MILLIS,false));", scaled(1_000), "unknown disallow disallow allow"),
        ("required int96 t;", required(Cells::Int96(int96.into())), "unknown disallow disallow allow"),
        ("required int32 t (DATE);", required(Cells::Int32(vec![0, 1, 1, 2])), "unknown disallow disallow allow"),
        (
            "optional binary t;",
            texts(&[Some("1970-01-01"), None, Some("1970-01-02T23:59:59Z"), Some("soon")]),
            "unknown invalid disallow invalid",
        ),
        (
            "required double t;",
            required(Cells::Doubles(vec![86_399.5, f64::NAN, 1_700_000_000.5, 19_700_102.0])),
            "invalid invalid allow disallow",
        ),
    ];
    for (schema, times, verdicts) in cases {
        let columns = vec![texts(&[Some("http://a.example/"); 4]), times];
        folder.write("a.parquet", file(&format!("optional binary url; {schema}"), &[columns], plain()));
        let args = ["classify", "set", "a.parquet", "--agent", "a", "--at", "{t}", "--columns", "verdict"];
        assert_eq!(folder.run(&args).text().trim().replace('\n', " "), verdicts, "{schema}");
    }
    // A time zone shifts local times, but not instants.
    let day = "disallow disallow allow allow";
    for (schema, times, verdicts) in [
        ("required int64 t (TIMESTAMP(MILLIS,true));", scaled(1_000), "unknown disallow disallow allow"),
        ("required int64 t (TIMESTAMP(MILLIS,false));", scaled(1_000), day),
        ("required int32 t (DATE);", required(Cells::Int32(vec![1, 1, 2, 3])), day),
    ] {
        let columns = vec![texts(&[Some("http://a.example/"); 4]), times];
        folder.write("a.parquet", file(&format!("optional binary url; {schema}"), &[columns], plain()));
        let args = ["classify", "set", "a.parquet", "--agent", "a", "--at", "{t}", "--columns", "verdict"];
        let args = [&args[..], &["--timezone", "-01:00"]].concat();
        assert_eq!(folder.run(&args).text().trim().replace('\n', " "), verdicts, "{schema} an hour later");
    }
}

/// Whichever byte is damaged, the command prints an error or a bounded number of verdicts.
#[test]
fn damaged_files_give_an_error_or_verdicts() {
    let folder = Folder::with_set();
    let rows: Vec<Option<String>> = (0..64).map(|row| Some(format!("http://a.example/{}", row % 9))).collect();
    let mut tried = 0;
    let mut codes = [0; 3];
    let shapes = [
        plain().set_compression(Compression::ZSTD(Default::default())),
        plain().set_writer_version(WriterVersion::PARQUET_2_0).set_dictionary_enabled(false),
        plain().set_dictionary_enabled(false).set_column_encoding("url".into(), Encoding::DELTA_LENGTH_BYTE_ARRAY),
        plain().set_dictionary_enabled(false).set_column_encoding("url".into(), Encoding::DELTA_BYTE_ARRAY),
    ];
    for properties in shapes {
        let groups = vec![vec![texts(&rows), required(Cells::Int64((0..64).collect()))]];
        let whole = file("optional binary url (UTF8); required int64 t;", &groups, properties);
        for at in (4..whole.len() - 4).step_by(11) {
            let mut damaged = whole.clone();
            damaged[at] ^= [0xff, 0x01, 0x80][tried % 3];
            folder.write("a.parquet", &damaged);
            let run = classify(&folder, "a.parquet", &["--url", "1", "--columns", "verdict"]);
            let code = run.code.unwrap_or_else(|| panic!("byte {at}: {run:?}"));
            codes[code as usize] += 1;
            assert!(!run.stderr.contains("panicked"), "byte {at}: {}", run.stderr);
            match code {
                2 => assert!(run.stderr.starts_with("reptile: a.parquet: "), "byte {at}: {}", run.stderr),
                _ => assert!(run.text().lines().count() < 100_000),
            }
            tried += 1;
        }
    }
    println!("{tried} files, exit codes {codes:?}");
    assert!(codes[2] > 20, "{codes:?}");
}

#[test]
fn verdicts_are_written_as_parquet_columns() {
    let folder = Folder::with_set();
    let long = "x".repeat(3 << 20);
    folder.write(
        "urls",
        format!("http://a.example/private\n\nhttp://a.example/\x07é\n{long}\nhttp://z.example/\nhttp://b.example/\n"),
    );
    let options = ["--format", "parquet", "-o", "out.parquet", "--agent", "other"];
    let columns = ["--columns", "url,verdict,line,rule,group,reason,any-of"];
    let args = [&["classify", "set", "urls", "--agent", "bot-a"], &options[..], &columns].concat();
    folder.run(&args).says(0, &["lines 6\n"]);
    let reader = SerializedFileReader::new(File::open(folder.path("out.parquet")).unwrap()).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr();
    let types: Vec<(String, Type)> = schema.columns().iter().map(|c| (c.name().into(), c.physical_type())).collect();
    let names = "url bot-a:verdict bot-a:line bot-a:rule bot-a:group bot-a:reason other:verdict other:line other:rule \
                 other:group other:reason verdict";
    assert_eq!(types.iter().map(|(name, _)| &**name).collect::<Vec<_>>().join(" "), names);
    assert!(types.iter().all(|(name, kind)| (*kind == Type::INT32) == name.ends_with(":line")), "{types:?}");
    let jsonl = [&args[..5], &["--format", "jsonl", "--agent", "other"], &columns].concat();
    let lines = folder.run(&jsonl).text();
    let mut rows = 0;
    for (row, line) in reader.get_row_iter(None).unwrap().zip(lines.lines()) {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        for (name, cell) in row.unwrap().get_column_iter() {
            let expected = &line[name];
            match cell {
                // Text output contains all of an overlong line.
                Field::Null if name == "url" => assert!(expected == "" || rows == 3),
                Field::Null => assert!(expected == "" || expected == 0, "{name} {expected}"),
                Field::Str(text) => assert_eq!(expected, text),
                Field::UInt(number) => assert_eq!(expected, number),
                other => panic!("{name}: {other:?}"),
            }
        }
        rows += 1;
    }
    assert_eq!(rows, 6);
    // The output is read again: the URLs and their order are the same.
    let again = classify(&folder, "out.parquet", &["--columns", "verdict"]).text();
    assert_eq!(again, "disallow\ninvalid\nallow\ninvalid\nunknown\ndisallow\n");
    for (options, says) in [
        (&["--add-columns"][..], "the argument '--format <FORMAT>' cannot be used with '--add-columns'"),
        (&["--header"], "--header: a Parquet file already has column names in its schema"),
    ] {
        classify(&folder, "urls", &[&["--format", "parquet", "-o", "x"], options].concat()).says(2, &[says]);
    }
    assert!(!folder.names().contains(&"x".to_owned()));
    if cfg!(target_os = "linux") {
        let run = classify(&folder, "urls", &["--format", "parquet", "-o", "/dev/full"]);
        run.says(2, &["/dev/full: cannot be written: No space left on device"]);
    }
    // A pipe receives the same bytes as a file.
    let piped = classify(&folder, "urls", &["--format", "parquet"]).says(0, &[]);
    classify(&folder, "urls", &["--format", "parquet", "-o", "file"]).says(0, &[]);
    assert!(piped.stdout == folder.read("file"));
}

/// No row is lost or moved at the end of a row group or batch.
#[test]
fn row_groups_have_a_bounded_size() {
    let folder = Folder::with_set();
    let rows = (1 << 18) + 1;
    let url = |row: usize| format!("http://a.example/{}{row}", if row.is_multiple_of(3) { "private/" } else { "" });
    folder.write("urls", (0..rows).map(|row| url(row) + "\n").collect::<String>());
    classify(&folder, "urls", &["--format", "parquet", "-o", "out"]).says(0, &[]);
    let reader = SerializedFileReader::new(File::open(folder.path("out")).unwrap()).unwrap();
    let groups = reader.metadata().row_groups().iter();
    assert_eq!(groups.map(|group| group.num_rows()).collect::<Vec<_>>(), [1 << 18, 1]);
    let text = classify(&folder, "urls", &[]).text();
    assert!(classify(&folder, "out", &[]).text() == text);
    assert_eq!(text.lines().nth(rows - 1).unwrap(), format!("{}\tallow", url(rows - 1)));
}

#[test]
fn captures_are_compiled_from_parquet_columns() {
    let folder = Folder::new();
    let closed = "user-agent: *\ndisallow: /";
    let rows = 7;
    let urls = texts(&[
        Some("http://a.example/robots.txt"),
        Some("http://b.example/robots.txt"),
        Some("http://c.example/robots.txt"),
        Some("http://d.example/robots.txt"),
        Some("http://e.example/index.html"),
        None,
        Some("http://f.example/robots.txt"),
    ]);
    let status = optional(Cells::Doubles(vec![200.0, 404.0, 503.0, 99.0, 200.0]), &[1, 1, 1, 1, 1, 0, 0]);
    let times = required(Cells::Int64((0..rows).map(|row| row * 1_000_000).collect()));
    let bodies = texts(&[Some(closed), None, None, Some(""), Some(""), None, None]);
    let errors = texts(&[None, None, None, None, None, None, Some("timed out")]);
    let schema = "optional binary url (UTF8); optional double status; required int64 time (TIMESTAMP(MICROS,true)); \
                  optional binary content; optional binary error;";
    folder.write("web.parquet", file(schema, &[vec![urls, status, times, bodies, errors]], plain()));
    let run = folder.run(&["compile", "-o", "set", "web.parquet"]);
    run.says(
        1,
        &[
            "files read 4\n",
            "web.parquet: row 4: not a valid capture: expected a status, a number from 100 to 999, found \"99\"",
            "web.parquet: row 5: not the url of a robots.txt: \"http://e.example/index.html\"",
            "web.parquet: row 6: no valid url",
        ],
    );
    let urls = ["a", "b", "c", "d", "f"].map(|host| format!("http://{host}.example/x"));
    let urls = urls.each_ref().map(String::as_str);
    assert_eq!(folder.verdicts("set", &urls), ["disallow", "allow", "disallow", "unknown", "disallow"]);
    folder.write("other.parquet", file("required int64 id;", &[vec![required(Cells::Int64(vec![1]))]], plain()));
    let says = "other.parquet: has no column \"url\" with the URLs of robots.txt files; it has \"id\"";
    folder.run(&["compile", "-o", "x", "other.parquet"]).says(2, &[says]);
}

/// Script that reads a file with other programs, or writes files with them. Its arguments are the folder and `read` or
/// `write`.
const PYTHON: &str = r#"
import sys, duckdb, pandas, polars, pyarrow as pa, pyarrow.parquet as pq
folder, what = sys.argv[1:]
urls = [f"http://{'ab'[n % 2]}.example/private/{n}" if n % 7 else None for n in range(5000)]
if what == "write":
    pandas.DataFrame({"url": urls}).to_parquet(folder + "/pandas.parquet")
    pandas.DataFrame({"url": pandas.Categorical(urls)}).to_parquet(folder + "/categories.parquet")
    polars.DataFrame({"url": urls}).write_parquet(folder + "/polars.parquet")
    polars.DataFrame({"url": urls}).write_parquet(folder + "/polars-lz4.parquet", compression="lz4", row_group_size=999)
    table = pa.table({"url": pa.array(urls, pa.large_string())})
    pq.write_table(table, folder + "/large.parquet", data_page_version="2.0", compression="gzip")
    pq.write_table(table, folder + "/delta.parquet", use_dictionary=False, column_encoding="DELTA_BYTE_ARRAY")
    for codec in ["none", "gzip", "zstd", "lz4", "brotli"]:
        pq.write_table(table, f"{folder}/arrow-{codec}.parquet", compression=codec, write_page_checksum=True)
    for version in ["1.0", "2.0"]:
        for encoding in ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"]:
            pq.write_table(table, f"{folder}/arrow-{encoding}-{version}.parquet", use_dictionary=False, data_page_size=5000,
                           data_page_version=version, column_encoding=encoding, write_page_checksum=True)
    frame = pandas.DataFrame({"url": urls})
    duckdb.sql(f"copy frame to '{folder}/duckdb.parquet'")
    duckdb.sql(f"copy frame to '{folder}/duckdb-2.parquet' (parquet_version v2, codec zstd)")
    duckdb.sql(f"copy (select case when i % 7 = 3 then null else 'http://a.example/' || (i % 5) end as url from range(1001) t(i)) "
               f"to '{folder}/filled.parquet' (codec brotli)")
else:
    file = folder + "/out.parquet"
    frame, polar = pandas.read_parquet(file), polars.read_parquet(file)
    duck = duckdb.sql(f"select * from '{file}'")
    print("pandas", [str(kind) for kind in frame.dtypes])
    print("polars", [str(kind) for kind in polar.dtypes])
    print("duckdb", [str(kind) for kind in duck.types])
    count = dict(frame["bot-a:verdict"].value_counts())
    assert count == dict(polar["bot-a:verdict"].drop_nulls().value_counts().rows()) == dict(
        duckdb.sql(f"select \"bot-a:verdict\" as v, count(*) from '{file}' where v is not null group by 1").fetchall()), count
    assert [url is None for url in urls] == [verdict is None for verdict in polar["bot-a:verdict"]]
    assert [None if u != u else u for u in frame["url"]] == polar["url"].to_list() == urls
    assert [row[0] for row in duckdb.sql(f"select url from '{file}'").fetchall()] == urls
    lines = polar["bot-a:line"].to_list()
    assert polar["bot-a:line"].dtype == polars.UInt32 and set(lines) == {2, None}, set(lines)
    name = "bot-a:verdict"
    table = pq.read_table(file, read_dictionary=[name])
    assert pa.types.is_dictionary(table.schema.field(name).type), table.schema
    assert str(pandas.read_parquet(file, read_dictionary=[name])[name].dtype) == "category"
    assert table.schema.field("mask").type == pa.uint64() and polar["mask"].dtype == polars.UInt64
    assert table.schema.metadata[b"mask"] == b'["bot-a"]', table.schema.metadata
    assert table.schema.field("refused").type == pa.list_(pa.field("element", pa.string(), False)), table.schema
    assert polar["refused"].dtype == polars.List(polars.String) and polar["bot-a:ruleset"].dtype == polars.UInt32
    assert table.schema.field("capture_time").type == pa.timestamp("ms", "UTC"), table.schema
    refused = {"disallow": ["bot-a"], "allow": [], "unknown": None, "invalid": None, None: None}
    assert polar["refused"].to_list() == [refused[verdict] for verdict in polar[name]] == table["refused"].to_pylist()
    assert polar["mask"].to_list() == [names if names is None else len(names) for names in polar["refused"].to_list()]
    rows = duckdb.sql(f"select count(*) from '{file}' where list_contains(refused, 'bot-a') and mask & 1 = 1").fetchall()[0]
    assert rows[0] == count["disallow"], rows
    print("counts", {name: int(number) for name, number in count.items()}, len(frame), "rows")
"#;

#[test]
#[ignore = "needs Python with pyarrow, pandas, polars and duckdb"]
fn pandas_polars_and_duckdb_read_and_write() {
    let folder = Folder::with_set();
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let run = |what: &str| {
        let mut command = std::process::Command::new(&python);
        let done = command.args(["-c", PYTHON]).arg(folder.path("")).arg(what).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        print!("{}", String::from_utf8_lossy(&done.stdout));
    };
    run("write");
    let columns = ["--columns", "url,verdict,line,rule,reason"];
    let mut texts = Vec::new();
    for name in folder.names().into_iter().filter(|name| name.ends_with(".parquet") && name != "filled.parquet") {
        texts.push((classify(&folder, &name, &columns).says(0, &["lines 5,000"]).text(), name));
    }
    assert_eq!(texts.len(), 19);
    // DuckDB pads bit-packed runs with zeros.
    classify(&folder, "filled.parquet", &columns).says(0, &["lines 1,001"]);
    for (text, name) in &texts {
        assert!(*text == texts[0].0, "{name}");
    }
    let columns = ["--columns", "url,mask,refused,capture_time,verdict,line,rule,reason,ruleset"];
    let write = [&columns[..], &["--format", "parquet", "-o", "out.parquet"]].concat();
    classify(&folder, "pandas.parquet", &write).says(0, &[]);
    run("read");
}

#[test]
fn agent_column_and_rejects_work_with_parquet() {
    let folder = Folder::with_set();
    let urls = texts(&[Some("http://a.example/private"), Some("http://a.example/private"), Some("a\nb"), None]);
    let agents = texts(&[Some("bot-a"), None, Some("bot-a"), Some("Mozilla/5.0 (compatible; bot-a/1.0)")]);
    let schema = "optional binary url (UTF8); optional binary agent (UTF8);";
    folder.write("a.parquet", file(schema, &[vec![urls, agents]], plain()));
    let args = ["classify", "set", "a.parquet", "--agent", "{agent}", "--columns", "agent,verdict,line"];
    let rejects = ["--rejects", "bad", "--format", "parquet", "-o", "out"];
    let text = folder.run(&args).text();
    assert_eq!(text, "bot-a\tdisallow\t2\n\tunknown\t0\nbot-a\tinvalid\t0\nbot-a\tinvalid\t0\n");
    folder.run(&[&args[..], &rejects].concat()).says(0, &["lines 4\n"]);
    let rejected = String::from_utf8(folder.read("bad")).unwrap();
    assert_eq!(rejected, "3\tno http, https or ftp URL\ta%0Ab\n4\twithout column 1 (\"url\")\t\n");
    let reader = SerializedFileReader::new(File::open(folder.path("out")).unwrap()).unwrap();
    let rows: Vec<String> = reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
    assert_eq!(rows[0], "{agent: \"bot-a\", verdict: \"disallow\", line: 2}");
    assert_eq!(rows[1], "{agent: null, verdict: \"unknown\", line: null}");
    assert_eq!(rows[2], "{agent: \"bot-a\", verdict: \"invalid\", line: null}");
    assert_eq!(rows[3], "{agent: null, verdict: null, line: null}");
}

/// A table without rows has one empty row group, or none.
#[test]
fn row_groups_may_be_empty() {
    let folder = Folder::with_set();
    let empty = || vec![texts::<&str>(&[])];
    let one = || vec![texts(&[Some("http://a.example/private")])];
    let cases: [(&str, Vec<Vec<Column>>, usize); 4] = [
        ("none", vec![], 0),
        ("one", vec![empty()], 0),
        ("between", vec![one(), empty(), one()], 2),
        ("around", vec![empty(), one(), empty()], 1),
    ];
    for (name, groups, rows) in cases {
        for is_dictionary in [false, true] {
            let properties = plain().set_dictionary_enabled(is_dictionary);
            folder.write(name, file("optional binary url (UTF8);", &groups, properties));
            let run = classify(&folder, name, &["--columns", "verdict"]);
            assert_eq!(run.text(), "disallow\n".repeat(rows), "{name} {is_dictionary} {run:?}");
        }
    }
}

/// A row without a URL has null in every column of Parquet output. An empty URL is invalid, and text output has no
/// nulls.
#[test]
fn null_urls_give_null_columns() {
    let folder = Folder::with_set();
    let rows = [Some("http://a.example/private"), None, Some(""), Some("http://b.example/"), None];
    folder.write("whole", file("optional binary url (UTF8);", &[vec![texts(&rows)]], plain()));
    let scheme = texts(&[Some("http"), None, Some(""), Some("http"), Some("http")]);
    let host = texts(&[Some("a.example"), Some("a.example"), Some(""), Some("b.example"), None]);
    let path = texts(&[Some("/private"), Some("/"), Some(""), Some("/"), Some("/")]);
    let none = || texts(&[None::<&str>; 5]);
    let schema = "optional binary url_protocol (UTF8); optional binary url_host_name (UTF8); optional binary url_port \
                  (UTF8); optional binary url_path (UTF8); optional binary url_query (UTF8);";
    folder.write("split", file(schema, &[vec![scheme, host, none(), path, none()]], plain()));
    folder.write("nulls", file("optional binary url (UTF8);", &[vec![none()]], plain()));
    let cases: [(&str, &[&str]); 5] = [
        ("verdicts", &["--columns", "verdict"]),
        ("any of", &["--agent", "other", "--columns", "verdict,any-of"]),
        ("lists", &["--columns", "url,verdict,mask,refused"]),
        ("all", &["--columns", "url,verdict,line,rule,group,reason,ruleset,capture_time,mask,refused"]),
        ("chosen", &["--columns", "url,verdict", "--treat", "invalid=disallow"]),
    ];
    for input in ["whole", "split", "nulls"] {
        for (name, options) in cases {
            let run = classify(&folder, input, &[options, &["--force", "--format", "parquet", "-o", "out"]].concat());
            assert!(matches!(run.code, Some(0 | 1)), "{input} {name} {run:?}");
            let reader = SerializedFileReader::new(File::open(folder.path("out")).unwrap()).unwrap();
            let found: Vec<_> = reader.get_row_iter(None).unwrap().map(|row| row.unwrap()).collect();
            let are_null = found.iter().map(|row| row.get_column_iter().all(|(_, cell)| *cell == Field::Null));
            let is_null = [input == "nulls", true, input == "nulls", input == "nulls", true];
            assert_eq!(are_null.collect::<Vec<_>>(), is_null, "{input} {name}");
            let empty = if name == "chosen" { "disallow" } else { "invalid" };
            let verdict = found[2].get_column_iter().find(|(name, _)| name.ends_with("verdict")).unwrap().1;
            assert!(input == "nulls" || *verdict == Field::Str(empty.into()), "{input} {name} {verdict:?}");
        }
    }
    let text = classify(&folder, "whole", &["--columns", "verdict,reason"]).text();
    assert_eq!(text.lines().nth(1), Some("invalid\tno URL"));
}

/// Reads and writes 400 MB of URLs.
#[test]
#[cfg(target_os = "linux")]
fn memory_does_not_grow_with_file_size() {
    let folder = Folder::with_set();
    let path = "p".repeat(10_000);
    let url = ByteArray::from(format!("http://a.example/{path}").into_bytes());
    let group = || vec![required(Cells::Texts(vec![url.clone(); 10_000]))];
    let properties = plain().set_dictionary_enabled(false).set_compression(Compression::ZSTD(Default::default()));
    folder.write("a.parquet", file("required binary url;", &[group(), group(), group(), group()], properties));
    for output in [&["-o", "out", "--format", "parquet"][..], &["-o", "text"]] {
        let args = [&["classify", "set", "a.parquet", "--agent", "bot-a"], output].concat();
        let mut child = folder.command(&args).spawn().unwrap();
        let peak = support::watch_memory(child.id());
        assert!(child.wait().unwrap().success());
        let peak = peak.join().unwrap();
        assert!(peak > 0 || cfg!(not(target_os = "linux")));
        println!("{output:?}: {peak} bytes");
        assert!(peak < 300_000_000, "{peak} bytes for {output:?}");
    }
    let reader = SerializedFileReader::new(File::open(folder.path("out")).unwrap()).unwrap();
    assert_eq!(reader.metadata().num_row_groups(), 3);
    let rows = classify(&folder, "out", &["--columns", "verdict"]).text();
    assert_eq!((rows.lines().count(), rows.lines().all(|row| row == "allow")), (40_000, true));
}
