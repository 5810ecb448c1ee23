//! `reptile classify` from Parquet to Parquet: `--keep-columns`, `--add-columns` and `--only` keep columns with their
//! types, and rows with their order.
//!
//! `pyarrow_and_duckdb_read_kept_columns` needs Python with pyarrow and duckdb:
//!
//! `PYTHON=venv/bin/python cargo test -p reptile-cli --test all kept -- --ignored`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::data_type::ByteArray;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

use crate::classify_parquet::{Cells, Column, file, texts};
use crate::support::{Folder, Run};

/// A list of lists, a struct with an optional field, numbers with logical types, flags, and the URLs.
const SCHEMA: &str = "optional group list (LIST) = 7 { repeated group list { optional group element (LIST) \
                      { repeated group list { optional int32 element (INTEGER(8,false)); } } } } \
                      required int64 at (TIMESTAMP(MICROS,false)); \
                      optional group pair = 9 { required boolean flag; optional binary word (UTF8); } \
                      optional binary url (UTF8);";

/// Returns a file's schema, metadata entries and rows.
type Contents = (Vec<String>, Vec<KeyValue>, Vec<Vec<(String, Field)>>);

fn contents(bytes: Vec<u8>) -> Contents {
    let file = SerializedFileReader::new(Bytes::from(bytes)).unwrap();
    let metadata = file.metadata().file_metadata();
    let fields = metadata.schema().get_fields().iter().map(|field| format!("{field:?}")).collect();
    let entries = metadata.key_value_metadata().cloned().unwrap_or_default();
    let rows = file.get_row_iter(None).unwrap().map(|row| row.unwrap().into_columns()).collect();
    (fields, entries, rows)
}

/// Returns the columns of a row group with these row numbers.
fn columns(rows: std::ops::Range<usize>) -> Vec<Column> {
    let (mut numbers, mut levels, mut lists) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows.clone() {
        // Null, an empty list, a list with a null, lists with empty lists and nulls, and a long list.
        let row_levels: &[(i16, i16)] = match row % 6 {
            0 => &[(0, 0)],
            1 => &[(1, 0)],
            2 => &[(2, 0)],
            3 => &[(3, 0), (5, 1), (4, 2)],
            4 => &[(5, 0), (5, 2), (5, 2), (5, 1)],
            _ => &[(5, 0), (5, 1), (4, 1), (5, 1), (5, 2)],
        };
        levels.extend(row_levels.iter().map(|(level, _)| *level));
        lists.extend(row_levels.iter().map(|(_, list)| *list));
        numbers.extend(row_levels.iter().filter(|(level, _)| *level == 5).map(|_| (row % 200) as i32));
    }
    let has_pair = |row: &usize| !row.is_multiple_of(5);
    let pairs: Vec<usize> = rows.clone().filter(has_pair).collect();
    let flags = pairs.iter().map(|row| row % 3 == 0).collect();
    let words = pairs.iter().filter(|row| *row % 2 == 0).map(|row| ByteArray::from(format!("w{}", row % 40).as_str()));
    let word_levels = rows.clone().map(|row| i16::from(has_pair(&row)) + i16::from(has_pair(&row) && row % 2 == 0));
    let urls: Vec<Option<String>> = rows.clone().map(url).collect();
    vec![
        Column { cells: Cells::Int32(numbers), levels, lists },
        Column {
            cells: Cells::Int64(rows.clone().map(|row| row as i64 * 1_000).collect()),
            levels: Vec::new(),
            lists: Vec::new(),
        },
        Column {
            cells: Cells::Flags(flags),
            levels: rows.clone().map(|row| i16::from(has_pair(&row))).collect(),
            lists: Vec::new(),
        },
        Column { cells: Cells::Texts(words.collect()), levels: word_levels.collect(), lists: Vec::new() },
        texts(&urls),
    ]
}

fn url(row: usize) -> Option<String> {
    match row % 7 {
        0 => None,
        1..=3 => Some(format!("http://a.example/private/{row}")),
        4 => Some(format!("http://none.example/{row}")),
        5 => Some("not a URL".into()),
        _ => Some(format!("http://a.example/{row}")),
    }
}

fn properties() -> WriterPropertiesBuilder {
    let entries = [("own", "kept"), ("ARROW:schema", "of another schema"), ("pandas", "{}")];
    let entries = entries.map(|(key, value)| KeyValue::new(key.to_owned(), value.to_owned()));
    WriterProperties::builder().set_key_value_metadata(Some(entries.to_vec()))
}

fn classify(folder: &Folder, options: &[&str]) -> Run {
    let fixed = ["classify", "set", "in.parquet", "--agent", "bot-a", "--url", "url", "--force"];
    folder.run(&[&fixed, options].concat())
}

#[test]
fn kept_columns_keep_types_and_values() {
    let folder = Folder::with_set();
    let encodings = [
        properties(),
        properties().set_compression(Compression::SNAPPY).set_writer_version(WriterVersion::PARQUET_2_0),
        properties().set_dictionary_enabled(false).set_data_page_row_count_limit(7).set_write_batch_size(5),
        properties()
            .set_dictionary_enabled(false)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_column_encoding("pair.word".into(), Encoding::PLAIN)
            .set_column_encoding("at".into(), Encoding::DELTA_BINARY_PACKED)
            .set_column_encoding("url".into(), Encoding::DELTA_BYTE_ARRAY),
    ];
    for (at, properties) in encodings.into_iter().enumerate() {
        // More rows than are copied at once, in row groups of different sizes, one of them empty.
        let groups = [columns(0..5000), columns(0..0), columns(5000..5001), columns(5001..6000)];
        folder.write("in.parquet", file(SCHEMA, &groups, properties));
        let (fields, entries, rows) = contents(folder.read("in.parquet"));
        classify(&folder, &["-o", "plain.parquet"]).says(0, &[]);
        let verdicts: Vec<Field> =
            contents(folder.read("plain.parquet")).2.iter().map(|row| row[1].1.clone()).collect();

        classify(&folder, &["--add-columns", "-o", "out.parquet"]).says(0, &[]);
        let added = contents(folder.read("out.parquet"));
        assert_eq!(added.0[..4], fields, "{at}");
        let keys: Vec<&str> = added.1.iter().map(|entry| &*entry.key).collect();
        assert_eq!((added.1.first(), &keys[..]), (entries.first(), &["own", "reptile"][..]), "{at}");
        assert_eq!(added.2.len(), rows.len());
        for ((found, row), verdict) in added.2.iter().zip(&rows).zip(&verdicts) {
            assert_eq!((&found[..4], &found[4].1), (&row[..], verdict), "{at}");
        }

        classify(&folder, &["--keep-columns", "PAIR,list", "--columns", "url,verdict", "-o", "out.parquet"])
            .says(0, &[]);
        let kept = contents(folder.read("out.parquet"));
        assert_eq!(kept.0[..2], [fields[2].clone(), fields[0].clone()], "{at}");
        for (found, row) in kept.2.iter().zip(&rows) {
            let names: Vec<&str> = found.iter().map(|(name, _)| &**name).collect();
            assert_eq!(names, ["pair", "list", "url", "bot-a:verdict"]);
            assert_eq!((&found[0], &found[1]), (&row[2], &row[0]), "{at}");
        }

        for only in ["allow", "disallow", "unknown"] {
            classify(&folder, &["--only", only, "-o", "out.parquet"]).says(0, &[]);
            let selected = contents(folder.read("out.parquet"));
            let is_it = |verdict: &&Field| **verdict == Field::Str(only.into());
            let expected: Vec<_> = rows.iter().zip(&verdicts).filter(|(_, verdict)| is_it(verdict)).collect();
            assert!(!expected.is_empty());
            assert!(selected.2.iter().eq(expected.into_iter().map(|(row, _)| row)), "{at} {only}");
            // The schema is the same, so its descriptions stay true.
            assert_eq!(selected.0, fields, "{at}");
            assert_eq!(selected.1[..entries.len()], entries, "{at}");
        }
        classify(&folder, &["--only", "allow", "--keep-columns", "at", "-o", "out.parquet"]).says(0, &[]);
        assert_eq!(contents(folder.read("out.parquet")).0, fields[1..2], "{at}");
    }
    // No rows.
    folder.write("in.parquet", file(SCHEMA, &[], properties()));
    classify(&folder, &["--add-columns", "-o", "out.parquet"]).says(0, &[]);
    assert_eq!(contents(folder.read("out.parquet")).2.len(), 0);
}

/// Each part goes on with the kept columns where the part before it ended, also within a batch.
#[test]
fn kept_columns_are_divided_into_files() {
    const ROWS: usize = 100;
    let folder = Folder::with_set();
    folder.write("in.parquet", file(SCHEMA, &[columns(0..37), columns(37..ROWS)], properties()));
    let read = |name: &str| contents(folder.read(name));
    let run = |options: &[&str]| {
        let run = classify(&folder, options);
        // Some rows are invalid.
        assert!(matches!(run.code, Some(0 | 1)), "{options:?} {run:?}");
    };
    let mut divided = 0;
    for options in [
        &["--keep-columns", "all", "--format", "parquet"][..],
        &["--keep-columns", "at", "--format", "parquet"],
        &["--add-columns"],
        &["--only", "disallow"],
    ] {
        run(&[options, &["-o", "whole/"]].concat());
        let (schema, _, rows) = read("whole/in.parquet");
        assert!(rows.len() == ROWS || options[0] == "--only" && rows.len() > 40, "{} rows", rows.len());
        for size in [1, 7, 36, 37, 38, rows.len() - 1, rows.len(), rows.len() + 1] {
            let count = size.to_string();
            run(&[options, &["--rows-per-file", &count, "-o", "parts/"]].concat());
            let parts = rows.len().div_ceil(size);
            for (number, expected) in rows.chunks(size).enumerate() {
                let (own_schema, _, own) = read(&format!("parts/in-{number:05}.parquet"));
                assert!(own_schema == schema && own == expected, "{options:?}, {size} rows, part {number}");
            }
            assert!(!folder.path(&format!("parts/in-{parts:05}.parquet")).exists());
            std::fs::remove_dir_all(folder.path("parts")).unwrap();
            divided += 1;
        }
    }
    assert_eq!(divided, 32);
}

#[test]
fn options_that_do_not_fit_are_errors() {
    let folder = Folder::with_set();
    folder.write("in.parquet", file(SCHEMA, &[columns(0..9)], properties()));
    folder.write("list.txt", "http://a.example/\n");
    for (options, says) in [
        (
            &["--keep-columns", "nope", "-o", "o.parquet"][..],
            "in.parquet: --keep-columns: \"nope\": there is no such column",
        ),
        (
            &["--keep-columns", "all", "--columns", "url", "-o", "o.parquet"],
            "\"url\": is a kept column and a written one",
        ),
        (&["--keep-columns", "at,at", "-o", "o.parquet"], "the column \"at\" occurs twice"),
        (&["--keep-columns", "at", "--add-columns", "-o", "o.parquet"], "cannot be used with"),
        (&["--keep-columns", "at", "-o", "o.jsonl"], "--keep-columns: expected output in Parquet, Arrow, CSV or TSV"),
        (
            &["--add-columns", "-o", "o.csv"],
            "o.csv: its extension means csv, but --add-columns keeps the format of URLS",
        ),
        (&["--only", "allow", "-o", "o.tsv"], "o.tsv: its extension means tsv, but --only keeps the format of URLS"),
    ] {
        classify(&folder, options).says(2, &[says]);
    }
    let text = ["classify", "set", "list.txt", "--agent", "bot-a", "--keep-columns", "all", "-o", "o.parquet"];
    folder.run(&text).says(2, &["list.txt: is text, and --keep-columns needs a table in Parquet or Arrow"]);
    assert!(!folder.names().iter().any(|name| name.starts_with("o.")));
}

/// A page that cannot be read leaves no output, even if no verdict depends on it.
#[test]
fn damaged_kept_columns_are_errors() {
    let folder = Folder::with_set();
    let properties = || properties().set_dictionary_enabled(false).set_statistics_enabled(EnabledStatistics::None);
    let bytes = file(SCHEMA, &[columns(0..3000)], properties().set_compression(Compression::SNAPPY));
    let metadata = SerializedFileReader::new(Bytes::from(bytes.clone())).unwrap().metadata().clone();
    for column in [0, 2, 3] {
        let (start, len) = metadata.row_group(0).column(column).byte_range();
        let mut damaged = bytes.clone();
        damaged[(start + len / 2) as usize..(start + len) as usize].fill(0xff);
        folder.write("in.parquet", damaged);
        classify(&folder, &["-o", "o.parquet"]).says(0, &[]);
        std::fs::remove_file(folder.path("o.parquet")).unwrap();
        let name = ["list.list.element.list.element", "", "pair.flag", "pair.word"][column];
        let says = format!("in.parquet: cannot be read: row group 1, column {} (\"{name}\")", column + 1);
        for options in [&["--add-columns"][..], &["--only", "allow"]] {
            classify(&folder, &[options, &["-o", "o.parquet"]].concat()).says(2, &[&says]);
            assert!(!folder.path("o.parquet").exists());
        }
    }
}

/// Script that writes a file with every type, or compares kept columns with it. Its arguments are the folder and
/// `write`, or `read` and the name of the verdict in `out.parquet` if its rows were selected.
const PYTHON: &str = r#"
import sys, datetime, decimal, duckdb, pyarrow as pa, pyarrow.parquet as pq
folder, what, *only = sys.argv[1:]
source, out, rows = folder + "/in.parquet", folder + "/out.parquet", 20000
def column(value, kind, every=7):
    return pa.array([None if n % every == 0 else value(n) for n in range(rows)], kind)
day = datetime.datetime(2026, 3, 14)
second = datetime.timedelta(seconds=1)
if what == "write":
    table = pa.table({
        "url": column(lambda n: f"http://{'abz'[n % 3]}.example/{['private', 'x'][n % 2]}/{n}", pa.string(), 11),
        "i8": column(lambda n: n % 100, pa.int8()), "u64": column(lambda n: 2**63 + n, pa.uint64()),
        "f32": column(lambda n: n / 3, pa.float32()), "flag": column(lambda n: n % 3 == 0, pa.bool_()),
        "instant": column(lambda n: day + n * second, pa.timestamp("us", "UTC")),
        "local": column(lambda n: day + n * second, pa.timestamp("ms")), "time": column(lambda n: n, pa.time64("us")),
        "date": column(lambda n: (day + n * second).date(), pa.date32()),
        "decimal": column(lambda n: decimal.Decimal(n) / 100, pa.decimal128(12, 2)),
        "binary": column(lambda n: bytes([n % 256] * (n % 7)), pa.binary()), "fixed": column(lambda n: bytes([n % 256] * 5), pa.binary(5)),
        "lists": column(lambda n: [[None if k == 2 else str(k) for k in range(j)] for j in range(n % 4)], pa.list_(pa.list_(pa.string()))),
        "struct": column(lambda n: {"x": n, "y": None if n % 4 == 0 else f"y{n % 9}", "z": list(range(n % 3))},
                         pa.struct([("x", pa.int32()), ("y", pa.string()), ("z", pa.list_(pa.int16()))])),
        "map": column(lambda n: [(f"k{j}", j) for j in range(n % 4)], pa.map_(pa.string(), pa.int64())),
        "null": pa.nulls(rows),
    })
    pq.write_table(table, source, row_group_size=7001, data_page_version=only[0])
else:
    before, after = pq.ParquetFile(source), pq.ParquetFile(out)
    for n, old in enumerate(before.schema):
        new = after.schema.column(n)
        same = lambda c: (c.path, c.physical_type, str(c.logical_type), c.length, c.max_definition_level, c.max_repetition_level)
        assert same(old) == same(new), (old, new)
    before, after = before.read(), after.read()
    names = before.column_names
    if only:
        verdicts = pq.read_table(folder + "/plain.parquet")["bot-a:verdict"].to_pylist()
        before = before.filter(pa.array([verdict == only[0] for verdict in verdicts]))
        assert after.column_names == names and after.num_rows > 0
    assert before.schema.equals(after.select(names).schema), after.schema
    assert before.to_pylist() == after.select(names).to_pylist()
    quoted = ", ".join(f'"{name}"' for name in names)
    old, new = (duckdb.sql(f"select {quoted} from '{file}'") for file in (source, out))
    assert old.types == new.types, (old.types, new.types)
    texts = lambda file: duckdb.sql(f"select t::varchar from (select {quoted} from '{file}') t").fetchall()
    assert only or texts(source) == texts(out)
    print(after.num_rows, "rows with", len(names), "kept columns")
"#;

#[test]
#[ignore = "needs Python with pyarrow and duckdb"]
fn pyarrow_and_duckdb_read_kept_columns() {
    let folder = Folder::with_set();
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let run = |args: &[&str]| {
        let mut command = std::process::Command::new(&python);
        let done = command.args(["-c", PYTHON]).arg(folder.path("")).args(args).output().unwrap();
        assert!(done.status.success(), "{args:?} {}", String::from_utf8_lossy(&done.stderr));
        print!("{}", String::from_utf8_lossy(&done.stdout));
    };
    for version in ["1.0", "2.0"] {
        run(&["write", version]);
        classify(&folder, &["-o", "plain.parquet"]).says(0, &[]);
        classify(&folder, &["--add-columns", "-o", "out.parquet"]).says(0, &[]);
        run(&["read"]);
        for only in ["allow", "disallow", "unknown"] {
            classify(&folder, &["--only", only, "-o", "out.parquet"]).says(0, &[]);
            run(&["read", only]);
        }
    }
}
