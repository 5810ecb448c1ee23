//! `reptile classify --keep-columns` from Parquet and Arrow to CSV and TSV.
//!
//! `pandas_reads_kept_columns` needs Python with pyarrow and pandas:
//!
//! `PYTHON=venv/bin/python cargo test -p reptile-cli --test all kept_text -- --ignored`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Float16Type, Int8Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Date64Array, Decimal64Array, Decimal128Array,
    Decimal256Array, DictionaryArray, DurationMillisecondArray, FixedSizeBinaryArray, Float16Array, Float32Array,
    Float64Array, Int8Array, Int64Array, LargeStringArray, ListArray, NullArray, RecordBatch, StringArray,
    StringViewArray, StructArray, Time32SecondArray, Time64MicrosecondArray, TimestampMicrosecondArray,
    TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray, UInt64Array,
};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{DataType, Field};
use parquet::arrow::ArrowWriter;

use crate::support::{Folder, Run};

/// A column, and its cells in CSV and in TSV.
type Case = (&'static str, ArrayRef, [&'static str; 3], Option<[&'static str; 3]>);

/// Formats of the input: a name, and whether it is read from a pipe.
const INPUTS: [(&str, bool); 3] = [("in.parquet", false), ("in.arrow", false), ("in.arrows", true)];

fn column(array: impl Array + 'static) -> ArrayRef {
    Arc::new(array)
}

/// Returns columns of every type with a text. Each has a null in its last row.
fn cases() -> Vec<Case> {
    let quoted = ["a \"b\", c", "line\r\nend\tand tab", ""];
    let csv = ["\"a \"\"b\"\", c\"", "\"line\r\nend\tand tab\"", "\"\""];
    let tsv = ["a \"b\", c", "line%0D%0Aend%09and tab", ""];
    let small = |number: f32| <Float16Type as ArrowPrimitiveType>::Native::from_f32(number);
    let texts = ["é, 日", "x", "NULL"];
    let words: DictionaryArray<Int8Type> = vec![Some("w,1"), Some("w2"), None].into_iter().collect();
    // 2026-03-14T15:09:26.535897932Z.
    const NANOSECONDS: i64 = 1_773_500_966_535_897_932;
    let at = |unit: i64| vec![Some(NANOSECONDS / unit), Some(-1), None];
    vec![
        ("quoted", column(StringArray::from_iter_values(quoted)), csv, Some(tsv)),
        ("large", column(LargeStringArray::from(texts.to_vec())), ["\"é, 日\"", "x", "NULL"], Some(texts)),
        ("view", column(StringViewArray::from(texts.to_vec())), ["\"é, 日\"", "x", "NULL"], Some(texts)),
        ("word", column(words), ["\"w,1\"", "w2", ""], Some(["w,1", "w2", ""])),
        ("null", column(NullArray::new(3)), ["", "", ""], None),
        ("flag", column(BooleanArray::from(vec![Some(true), Some(false), None])), ["true", "false", ""], None),
        ("i8", column(Int8Array::from(vec![Some(-128), Some(0), None])), ["-128", "0", ""], None),
        ("i64", column(Int64Array::from(vec![Some(i64::MIN), Some(7), None])), ["-9223372036854775808", "7", ""], None),
        (
            "u64",
            column(UInt64Array::from(vec![Some(u64::MAX), Some(0), None])),
            ["18446744073709551615", "0", ""],
            None,
        ),
        ("f16", column(Float16Array::from(vec![Some(small(0.5)), Some(small(-2.0)), None])), ["0.5", "-2.0", ""], None),
        ("f32", column(Float32Array::from(vec![Some(0.1), Some(f32::NAN), None])), ["0.1", "NaN", ""], None),
        (
            "f64",
            column(Float64Array::from(vec![Some(0.1 + 0.2), Some(-1e300), None])),
            ["0.30000000000000004", "-1e300", ""],
            None,
        ),
        ("inf", column(Float64Array::from(vec![Some(f64::INFINITY), Some(-0.0), None])), ["inf", "-0.0", ""], None),
        (
            "d64",
            column(Decimal64Array::from(vec![Some(12345), Some(-1), None]).with_precision_and_scale(10, 2).unwrap()),
            ["123.45", "-0.01", ""],
            None,
        ),
        (
            "d128",
            column(
                Decimal128Array::from(vec![Some(10_i128.pow(37)), Some(0), None])
                    .with_precision_and_scale(38, 3)
                    .unwrap(),
            ),
            ["10000000000000000000000000000000000.000", "0.000", ""],
            None,
        ),
        ("date", column(Date32Array::from(vec![Some(20_526), Some(-1), None])), ["2026-03-14", "1969-12-31", ""], None),
        (
            "time_us",
            column(Time64MicrosecondArray::from(vec![Some(54_566_535_897), Some(1), None])),
            ["15:09:26.535897", "00:00:00.000001", ""],
            None,
        ),
        (
            "local_ms",
            column(TimestampMillisecondArray::from(at(1_000_000))),
            ["2026-03-14T15:09:26.535", "1969-12-31T23:59:59.999", ""],
            None,
        ),
        (
            "instant_us",
            column(TimestampMicrosecondArray::from(at(1_000)).with_timezone("UTC")),
            ["2026-03-14T15:09:26.535897Z", "1969-12-31T23:59:59.999999Z", ""],
            None,
        ),
        (
            "zoned_ns",
            column(TimestampNanosecondArray::from(at(1)).with_timezone("Europe/Berlin")),
            ["2026-03-14T15:09:26.535897932Z", "1969-12-31T23:59:59.999999999Z", ""],
            None,
        ),
        (
            "late",
            column(TimestampMillisecondArray::from(vec![Some(253_402_300_800_000), Some(-62_198_755_200_000), None])),
            ["+10000-01-01T00:00:00", "-0001-01-01T00:00:00", ""],
            None,
        ),
    ]
}

/// Returns types that Parquet lacks. They are kept from Arrow only.
fn only_in_arrow() -> Vec<Case> {
    vec![
        (
            "time",
            column(Time32SecondArray::from(vec![Some(54_566), Some(0), None])),
            ["15:09:26", "00:00:00", ""],
            None,
        ),
        (
            "seconds",
            column(TimestampSecondArray::from(vec![Some(1_773_500_966), Some(-1), None]).with_timezone("+02:00")),
            ["2026-03-14T15:09:26Z", "1969-12-31T23:59:59Z", ""],
            None,
        ),
        (
            "date64",
            column(Date64Array::from(vec![Some(1_773_446_400_000), Some(0), None])),
            ["2026-03-14", "1970-01-01", ""],
            None,
        ),
        (
            "d256",
            column(
                Decimal256Array::from_iter([Some(5.into()), Some((-5).into()), None])
                    .with_precision_and_scale(50, 1)
                    .unwrap(),
            ),
            ["0.5", "-0.5", ""],
            None,
        ),
    ]
}

/// Writes a table with URLs and these columns in every format.
fn write(folder: &Folder, urls: &[&str], columns: &[(&str, ArrayRef)], names: &[&str]) {
    let urls = ("url", column(StringArray::from(urls.to_vec())));
    let columns = [&[urls], columns].concat();
    let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)));
    let batch = batch.unwrap();
    for name in names {
        let bytes = if name.ends_with(".parquet") {
            let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
            writer.write(&batch).unwrap();
            writer.into_inner().unwrap()
        } else if name.ends_with(".arrow") {
            let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
            writer.write(&batch).unwrap();
            writer.into_inner().unwrap()
        } else {
            let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
            writer.write(&batch).unwrap();
            writer.into_inner().unwrap()
        };
        folder.write(name, bytes);
    }
}

fn classify(folder: &Folder, input: &str, is_pipe: bool, options: &[&str]) -> Run {
    let stdin = if is_pipe { folder.read(input) } else { Vec::new() };
    let input = if is_pipe { "-" } else { input };
    folder.run_with(&[&["classify", "set", input, "-q", "--agent", "bot-a", "--url", "url"], options].concat(), &stdin)
}

const URLS: [&str; 3] = ["http://a.example/private", "http://a.example/", "http://none.example/"];
const VERDICTS: [&str; 3] = ["disallow", "allow", "unknown"];

#[test]
fn every_type_becomes_text() {
    let folder = Folder::with_set();
    let mut checked = 0;
    for (cases, inputs) in [(cases(), &INPUTS[..]), (only_in_arrow(), &INPUTS[1..])] {
        let columns: Vec<(&str, ArrayRef)> = cases.iter().map(|(name, array, ..)| (*name, Arc::clone(array))).collect();
        let files: Vec<&str> = inputs.iter().map(|(input, _)| *input).collect();
        write(&folder, &URLS, &columns, &files);
        let names: Vec<&str> = cases.iter().map(|(name, ..)| *name).collect();
        for (input, is_pipe) in inputs {
            for (format, separator, is_csv) in [("csv", ",", true), ("tsv", "\t", false)] {
                let line = |cells: Vec<&str>, last: &str| [&cells[..], &[last]].concat().join(separator) + "\n";
                let cell =
                    |(_, _, csv, tsv): &Case, row: usize| if is_csv { csv[row] } else { tsv.unwrap_or(*csv)[row] };
                let mut expected = line(names.clone(), "bot-a:verdict");
                for (row, verdict) in VERDICTS.iter().enumerate() {
                    expected += &line(cases.iter().map(|case| cell(case, row)).collect(), verdict);
                    checked += cases.len();
                }
                let options = ["--keep-columns", &names.join(","), "--header", "--format", format];
                let run = classify(&folder, input, *is_pipe, &options).says(0, &[]);
                assert_eq!(run.text(), expected, "{input} {format}");
                let run = classify(&folder, input, *is_pipe, &[&options[..2], &options[3..]].concat()).says(0, &[]);
                assert_eq!(Some(&*run.text()), expected.split_once('\n').map(|(_, rows)| rows), "{input} {format}");
            }
        }
    }
    assert_eq!(checked, 3 * (3 * 2 * 21 + 2 * 2 * 4));
}

#[test]
fn kept_text_is_in_the_given_order_and_divided_by_rows() {
    const ROWS: usize = 20_000;
    let folder = Folder::with_set();
    let urls: Vec<String> =
        (0..ROWS).map(|row| format!("http://a.example/{}{row}", ["", "private/"][row % 2])).collect();
    let titles = StringArray::from_iter((0..ROWS).map(|row| (row % 5 > 0).then(|| format!("line {row}\n\"end\""))));
    let ids = Int64Array::from_iter_values((0..ROWS).map(|row| row as i64));
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    write(&folder, &urls, &[("Title", column(titles)), ("id", column(ids))], &["in.parquet", "in.arrow"]);
    let row = |row: usize| {
        let title = if !row.is_multiple_of(5) { format!("\"line {row}\n\"\"end\"\"\"") } else { String::new() };
        format!("{row},{title},{},{}\n", urls[row], ["allow", "disallow"][row % 2])
    };
    let header = "id,Title,url,bot-a:verdict\n";
    let options = ["--keep-columns", "id,title", "--columns", "url,verdict", "--header", "--format", "csv"];
    let mut divided = 0;
    for input in ["in.parquet", "in.arrow"] {
        for size in [7_000, 16_384, ROWS - 1, ROWS, ROWS + 1] {
            let count = size.to_string();
            let parts = [&options[..], &["--rows-per-file", &count, "-o", "parts/"]].concat();
            classify(&folder, input, false, &parts).says(0, &[]);
            for (number, start) in (0..ROWS).step_by(size).enumerate() {
                let rows: String = (start..ROWS.min(start + size)).map(row).collect();
                let found = String::from_utf8(folder.read(&format!("parts/{input}-{number:05}.csv"))).unwrap();
                assert!(found == format!("{header}{rows}"), "{input}, {size} rows, part {number}");
                divided += 1;
            }
            std::fs::remove_dir_all(folder.path("parts")).unwrap();
        }
        classify(&folder, input, false, &[&options[..], &["-o", "out.csv", "--force"]].concat()).says(0, &[]);
        let whole: String = (0..ROWS).map(row).collect();
        assert!(String::from_utf8(folder.read("out.csv")).unwrap() == format!("{header}{whole}"), "{input}");
    }
    assert_eq!(divided, 2 * (3 + 2 + 2 + 1 + 1));
}

#[test]
fn columns_without_a_text_are_refused() {
    let folder = Folder::with_set();
    let list = ListArray::from_iter_primitive::<arrow_array::types::Int64Type, _, _>(vec![Some(vec![Some(1)]); 3]);
    let inside: ArrayRef = column(Int64Array::from(vec![1, 2, 3]));
    let fields = StructArray::from(vec![(Arc::new(Field::new("x", DataType::Int64, true)), inside)]);
    let bytes = FixedSizeBinaryArray::try_from_iter([[1, 2]; 3].iter()).unwrap();
    let columns: [(&str, ArrayRef); 6] = [
        ("tags", column(list)),
        ("pair", column(fields)),
        ("raw", column(BinaryArray::from(vec![&b"x"[..]; 3]))),
        ("fixed", column(bytes)),
        ("took", column(DurationMillisecondArray::from(vec![1; 3]))),
        ("far", column(TimestampSecondArray::from(vec![0, i64::MAX, 0]))),
    ];
    write(&folder, &URLS, &columns, &["in.arrow", "in.arrows"]);
    write(&folder, &URLS, &columns[..4], &["in.parquet"]);
    let cases = [
        ("tags", "csv", "--keep-columns: csv: \"tags\" (list): these types have no text; keep other columns"),
        ("tags", "tsv", "--keep-columns: tsv: \"tags\" (list)"),
        ("pair", "csv", "\"pair\" (struct)"),
        ("url,raw", "csv", "\"raw\" (binary): these types have no text"),
        ("fixed", "csv", "\"fixed\" (binary)"),
        ("tags,pair,url", "csv", "\"tags\" (list), \"pair\" (struct): these types"),
        ("none", "csv", "--keep-columns: \"none\": there is no such column"),
        ("url", "jsonl", "--keep-columns: expected output in Parquet, Arrow, CSV or TSV, not JSON Lines"),
        ("took", "csv", "\"took\" (Duration(ms))"),
        ("far", "csv", "\"far\": a value of this kept column cannot be written as text"),
    ];
    let mut refused = 0;
    for (names, format, says) in cases {
        for (input, is_pipe) in INPUTS {
            if input == "in.parquet" && matches!(names, "took" | "far") {
                continue;
            }
            let options = ["--keep-columns", names, "--format", format, "-o", "out"];
            classify(&folder, input, is_pipe, &options).says(2, &[says]);
            refused += 1;
        }
    }
    assert_eq!(refused, 28);
    let clash = ["--keep-columns", "url", "--columns", "url,verdict", "-o", "out.csv"];
    classify(&folder, "in.parquet", false, &clash).says(2, &["\"url\": is a kept column and a written one"]);
    let selected = ["--only", "allow", "--keep-columns", "url", "-o", "out.csv"];
    classify(&folder, "in.parquet", false, &selected).says(2, &["out.csv: its extension means csv"]);
    assert!(!folder.names().iter().any(|name| name.starts_with("out")));
}

/// Script that writes a table with URLs from a file, or compares the output with it. Its arguments are the folder and
/// `write`, or `read` and the format.
const PYTHON: &str = r#"
import sys, datetime, decimal, os, io, pyarrow as pa, pyarrow.parquet as pq, pandas as pd
folder, what, *form = sys.argv[1:]
urls = [line.rstrip("\n") for line in open(folder + "/urls.txt", encoding="utf-8")]
rows = len(urls)
def column(value, kind, every=7):
    return pa.array([None if n % every == 0 else value(n) for n in range(rows)], kind)
day, second = datetime.datetime(2026, 3, 14, 15, 9, 26, 535897), datetime.timedelta(seconds=1)
odd = ["plain", "a,b", 'say "x"', "two\nlines", "cr\rhere", "crlf\r\nend", "tab\there", "é日本", " blank ", "'", '"']
table = pa.table({
    "url": pa.array(urls), "i64": column(lambda n: n * 10**12, pa.int64()), "u8": column(lambda n: n % 256, pa.uint8()),
    "f64": column(lambda n: n / 3 * 10.0**(n % 40 - 20), pa.float64()), "f32": column(lambda n: n / 3, pa.float32()),
    "flag": column(lambda n: n % 3 == 0, pa.bool_()), "text": column(lambda n: odd[n % len(odd)] + str(n), pa.string()),
    "only": column(lambda n: odd[n % len(odd)], pa.string()), "date": column(lambda n: (day + n * second).date(), pa.date32()),
    "local": column(lambda n: day + n * second, pa.timestamp("us")),
    "zoned": column(lambda n: day + n * second, pa.timestamp("us", "Europe/Berlin")),
    "decimal": column(lambda n: decimal.Decimal(n) / 100, pa.decimal128(12, 2)),
    "word": column(lambda n: odd[n % 3], pa.dictionary(pa.int32(), pa.string())),
    "time": column(lambda n: (day + n * second).time(), pa.time64("us")),
})
if what == "write":
    pq.write_table(table, folder + "/in.parquet", row_group_size=7001)
    with pa.ipc.new_file(folder + "/in.arrow", table.schema) as out:
        out.write_table(table, max_chunksize=5003)
    sys.exit()
form, name = form
columns = [c for c in table.column_names if form == "csv" or c not in ("text", "only")]
texts = {c: str for c in columns + ["bot-a:verdict"]}
read = pd.read_csv(folder + "/" + name, sep=dict(csv=",", tsv="\t")[form], dtype=texts, keep_default_na=False,
                   quoting=dict(csv=0, tsv=3)[form], lineterminator=None if form == "csv" else "\n")
assert list(read.columns) == columns + ["bot-a:verdict"] and len(read) == rows, (len(read), rows)
plain = [line.rstrip("\n").split("\t")[-1] for line in open(folder + "/plain.tsv", encoding="utf-8", newline="\n")]
assert list(read["bot-a:verdict"]) == plain
parse = {"i64": int, "u8": int, "f64": float, "f32": float, "flag": lambda t: {"true": True, "false": False}[t],
    "date": datetime.date.fromisoformat, "local": datetime.datetime.fromisoformat, "zoned": datetime.datetime.fromisoformat,
    "decimal": decimal.Decimal, "time": datetime.time.fromisoformat}
checked = 0
for c in columns:
    for expected, found in zip(table[c].to_pylist(), read[c]):
        if expected is None:
            assert found == "", (c, found)
        else:
            value = parse.get(c, str)(found)
            if c == "f32":
                value = pa.scalar(value, pa.float32()).as_py()
            assert value == expected, (c, found, expected)
        checked += 1
# Typed reading: pandas parses numbers and times itself.
typed = pd.read_csv(folder + "/" + name, sep=dict(csv=",", tsv="\t")[form], quoting=dict(csv=0, tsv=3)[form],
                    parse_dates=["local", "zoned"], float_precision="round_trip")
for c in ("i64", "u8", "f64", "decimal"):
    expected = table[c].to_pandas().astype(float)
    assert ((typed[c] == expected) | (typed[c].isna() & expected.isna())).all(), c
for c in ("local", "zoned"):
    expected = table[c].to_pandas()
    expected = expected.dt.tz_convert("UTC") if c == "zoned" else expected
    assert ((typed[c] == expected) | (typed[c].isna() & expected.isna())).all(), c
print(form, name, rows, "rows,", checked, "cells")
"#;

#[test]
#[ignore = "needs Python with pyarrow and pandas"]
fn pandas_reads_kept_columns() {
    let folder = Folder::with_set();
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let urls = std::env::var("URLS").map_or_else(
        |_| (0..20_000).map(|row| format!("http://{}.example/private/{row}\n", ["a", "b"][row % 2])).collect(),
        |path| std::fs::read_to_string(path).unwrap(),
    );
    folder.write("urls.txt", urls);
    let run = |args: &[&str]| {
        let mut command = std::process::Command::new(&python);
        let done = command.args(["-c", PYTHON]).arg(folder.path("")).args(args).output().unwrap();
        assert!(done.status.success(), "{args:?} {}", String::from_utf8_lossy(&done.stderr));
        print!("{}", String::from_utf8_lossy(&done.stdout));
    };
    run(&["write"]);
    classify(&folder, "in.parquet", false, &["-o", "plain.tsv"]).says(0, &[]);
    for input in ["in.parquet", "in.arrow"] {
        for (format, name, columns) in [
            ("csv", "out.csv", "all"),
            ("tsv", "out.tsv", "url,i64,u8,f64,f32,flag,date,local,zoned,decimal,word,time"),
        ] {
            let options = ["--keep-columns", columns, "--header", "-o", name, "--force"];
            classify(&folder, input, false, &options).says(0, &[]);
            run(&["read", format, name]);
        }
    }
}
