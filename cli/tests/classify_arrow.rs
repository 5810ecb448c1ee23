//! Arrow IPC as input and output: files and streams, by name, by option, and through standard input and output, with
//! the same rows as text. `reptile-records` tests the supported types and damaged bytes.
//!
//! `pyarrow_reads_and_writes` tests interoperability. It needs a Python with pyarrow:
//!
//! `PYTHON=venv/bin/python cargo test -p reptile-cli --test all classify_arrow -- --ignored`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::collections::HashMap;
use std::io::Cursor;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int64Type, TimestampMillisecondType, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int64Array, ListArray, NullArray, RecordBatch, StringArray, StructArray,
};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{DataType, Field, SchemaRef, TimeUnit};

use crate::support::{Folder, Run, gz};

/// The marker at a stream's end.
const END: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

fn classify(folder: &Folder, options: &[&str], stdin: &[u8]) -> Run {
    folder.run_with(&[&["classify", "set", "--agent", "bot-a"], options].concat(), stdin)
}

/// Returns URLs of every verdict, nulls, and a URL with a line end.
fn urls() -> Vec<Option<String>> {
    let mut urls: Vec<Option<String>> = [
        Some("http://a.example/private"),
        None,
        Some("http://b.example/"),
        Some(""),
        Some("http://a.example/x\nhttp://b.example/"),
        Some("http://é.example/"),
        Some("http://a.example/private/open"),
    ]
    .into_iter()
    .map(|url| url.map(str::to_owned))
    .collect();
    urls.extend((0..9_000).map(|number| match number % 7 {
        3 => None,
        digit => Some(format!("http://{}.example/private/{number}", ["a", "b"][digit % 2])),
    }));
    urls
}

/// Returns the URLs in two batches.
fn batches(urls: &[Option<String>]) -> Vec<RecordBatch> {
    let batch = |part: &[Option<String>]| {
        let array: ArrayRef = Arc::new(StringArray::from(part.to_vec()));
        RecordBatch::try_from_iter_with_nullable([("url", array, true)]).unwrap()
    };
    urls.chunks(urls.len().div_ceil(2).max(1)).map(batch).collect()
}

fn stream(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.into_inner().unwrap()
}

fn file(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = FileWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.into_inner().unwrap()
}

/// Reads a file or a stream.
fn read(bytes: Vec<u8>) -> (SchemaRef, Vec<RecordBatch>) {
    if bytes.starts_with(b"ARROW1") {
        let reader = FileReader::try_new(Cursor::new(bytes), None).unwrap();
        return (reader.schema(), reader.map(Result::unwrap).collect());
    }
    assert!(bytes.ends_with(&END));
    let reader = StreamReader::try_new(Cursor::new(bytes), None).unwrap();
    (reader.schema(), reader.map(Result::unwrap).collect())
}

/// Returns a cell as JSON Lines would show it.
fn shown(array: &ArrayRef, row: usize) -> serde_json::Value {
    if array.is_null(row) {
        return serde_json::Value::Null;
    }
    match array.data_type() {
        DataType::LargeUtf8 => array.as_string::<i64>().value(row).into(),
        DataType::Dictionary(..) => {
            let keys = array.as_dictionary::<Int8Type>();
            keys.values().as_string::<i32>().value(keys.key(row).unwrap()).into()
        }
        DataType::Utf8 => array.as_string::<i32>().value(row).into(),
        DataType::Utf8View => array.as_string_view().value(row).into(),
        DataType::UInt32 => array.as_primitive::<UInt32Type>().value(row).into(),
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).into(),
        DataType::Timestamp(TimeUnit::Millisecond, Some(_)) => {
            array.as_primitive::<TimestampMillisecondType>().value(row).into()
        }
        DataType::LargeList(_) => {
            let items = array.as_list::<i64>().value(row);
            items.as_string::<i64>().iter().collect::<Vec<_>>().into()
        }
        other => panic!("{other}"),
    }
}

/// Returns each row's cells, in the order of the columns.
fn cells(bytes: Vec<u8>) -> Vec<Vec<serde_json::Value>> {
    let (_, batches) = read(bytes);
    let rows = |batch: &RecordBatch| {
        let columns = batch.columns().to_vec();
        (0..batch.num_rows()).map(move |row| columns.iter().map(|column| shown(column, row)).collect()).collect()
    };
    batches.iter().flat_map(|batch| -> Vec<Vec<serde_json::Value>> { rows(batch) }).collect()
}

#[test]
fn inputs_and_outputs_have_the_rows_of_text() {
    let folder = Folder::with_set();
    let urls = urls();
    let batches = batches(&urls);
    let rows = urls.iter().map(|url| match url {
        Some(url) => format!("{}\n", serde_json::json!({ "url": url })),
        None => "{}\n".into(),
    });
    folder.write("urls.jsonl", rows.collect::<String>());
    folder.write("urls.arrows", stream(&batches));
    folder.write("urls.feather", file(&batches));
    folder.write("urls.arrow.gz", gz(&file(&batches)));
    let columns = ["--columns", "url,verdict,line,rule,reason,group"];
    let text = classify(&folder, &[&["urls.jsonl"], &columns[..]].concat(), b"").says(0, &[]).text();
    assert_eq!(text.lines().count(), urls.len());
    let input = "input Arrow IPC, URLs in column 1 (\"url\")";
    for name in ["urls.arrows", "urls.feather", "urls.arrow.gz"] {
        let run = classify(&folder, &[&[name], &columns[..]].concat(), b"");
        assert_eq!(run.says(0, &[input, "row 2: without column 1 (\"url\")"]).text(), text, "{name}");
        for format in [&[][..], &["--input-format", "arrow"]] {
            let run = classify(&folder, &[&["-"], &columns[..], format].concat(), &folder.read(name));
            assert_eq!(run.says(0, &[input]).text(), text, "{name} on standard input");
        }
    }
    // A row without a URL has only nulls in columns.
    let json = classify(&folder, &[&["urls.jsonl", "--format", "jsonl"], &columns[..]].concat(), b"").text();
    let order = ["url", "bot-a:verdict", "bot-a:line", "bot-a:rule", "bot-a:reason", "bot-a:group"];
    let expected: Vec<Vec<serde_json::Value>> = json
        .lines()
        .zip(&urls)
        .map(|(line, url)| {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let cell = |name: &&str| match &row[name] {
                _ if url.is_none() => serde_json::Value::Null,
                cell if cell == "" || cell == 0 => serde_json::Value::Null,
                cell => cell.clone(),
            };
            order.iter().map(cell).collect()
        })
        .collect();
    for (options, name) in [
        (&["-o", "out.arrow"][..], "out.arrow"),
        (&["-o", "out.arrows"], "out.arrows"),
        (&["-o", "out.feather"], "out.feather"),
        (&["--format", "arrow"], ""),
        (&["--format", "arrow-stream"], ""),
    ] {
        let run = classify(&folder, &[&["-"], &columns[..], options].concat(), &stream(&batches)).says(0, &[]);
        let bytes = if name.is_empty() { run.stdout } else { folder.read(name) };
        let is_stream = !bytes.starts_with(b"ARROW1");
        assert_eq!(is_stream, name == "out.arrows" || options.contains(&"arrow-stream"));
        assert!(cells(bytes) == expected, "{options:?}");
    }
}

#[test]
fn columns_have_the_types_of_parquet() {
    let folder = Folder::with_set();
    let columns = "url,verdict,line,rule,group,reason,ruleset,capture_time,mask,refused";
    let urls = "http://a.example/private\nhttp://z.example/\n";
    classify(&folder, &["-", "--columns", columns, "-o", "out.arrows"], urls.as_bytes()).says(0, &[]);
    let (schema, batches) = read(folder.read("out.arrows"));
    let types: Vec<String> = schema.fields().iter().map(|field| field.data_type().to_string()).collect();
    let word = "Dictionary(Int8, Utf8)";
    let expected = [
        "LargeUtf8",
        word,
        "UInt32",
        "LargeUtf8",
        word,
        "LargeUtf8",
        "UInt32",
        "Timestamp(ms, \"UTC\")",
        "UInt64",
        "LargeList(LargeUtf8)",
    ];
    assert_eq!(types, expected);
    assert_eq!(schema.metadata().get("mask").map(String::as_str), Some("[\"bot-a\"]"));
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 2);
    // A table without rows still has its columns.
    classify(&folder, &["-", "-o", "none.arrow"], b"").says(0, &[]);
    let (schema, batches) = read(folder.read("none.arrow"));
    assert_eq!((schema.fields().len(), batches.len()), (2, 0));
}

#[test]
fn other_commands_write_arrow() {
    let folder = Folder::with_set();
    for (args, name, rows) in [
        (&["summarize", "set", "--agent", "bot-a"][..], "summary.arrows", 6),
        (&["timeline", "robots", "--agent", "bot-a"], "timeline.arrow", 6),
        (&["compile", "robots", "--force", "-o", "other", "--fates", "fates.arrow"], "fates.arrow", 6),
    ] {
        let output: &[&str] = if args[0] != "compile" { &["-o", name] } else { &[] };
        folder.run(&[args, output].concat()).says(0, &[]);
        let (_, batches) = read(folder.read(name));
        assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), rows, "{name}");
    }
}

#[test]
fn incomplete_data_and_contradictions_are_errors() {
    let folder = Folder::with_set();
    let batches = batches(&urls());
    let whole = stream(&batches);
    let cut = &whole[..whole.len() - END.len()];
    folder.write("whole.arrows", &whole);
    folder.write("cut.arrows", cut);
    folder.write("cut.arrow", &file(&batches)[..2_000]);
    folder.write("twice.arrows", [&whole[..], &whole].concat());
    folder.write("text.txt", "http://a.example/\n");
    folder.write("old.feather", b"FEA1\0\0\0\0");
    let cases: &[(&[&str], &str)] = &[
        (
            &["cut.arrows"],
            "cut.arrows: cannot be read: is damaged Arrow IPC data: it ends before the end-of-stream marker",
        ),
        (&["cut.arrow"], "it ends before the magic bytes at the end of the file; it may be cut off"),
        (&["twice.arrows"], "has more data after its end-of-stream marker"),
        (&["old.feather"], "old.feather: is a Feather file in the first version, not a list or a table of URLs"),
        (&["text.txt", "--input-format", "arrow"], "text.txt: --input-format arrow: is not Arrow IPC"),
        (&["whole.arrows", "--input-format", "csv"], "whole.arrows: --input-format: is Arrow IPC, not CSV"),
        (&["whole.arrows", "--delimiter", "comma"], "whole.arrows: --delimiter: is Arrow IPC, not CSV"),
        (&["whole.arrows", "--url", "link"], "--url link: there is no such column; the file has \"url\""),
        (&["whole.arrows", "--header", "--format", "arrow"], "--header: Arrow already has column names in its schema"),
        (
            &["whole.arrows", "--format", "arrow", "-o", "x.arrows"],
            "its extension means arrow-stream, but --format is arrow",
        ),
        (&["whole.arrows", "--format", "tsv", "-o", "x.arrow"], "its extension means arrow, but --format is tsv"),
    ];
    for (options, expected) in cases {
        classify(&folder, options, b"").says(2, &[expected]);
    }
    // Neither output looks complete.
    let run = classify(&folder, &["-", "--format", "arrow-stream"], cut).says(2, &["-: cannot be read"]);
    assert!(!run.stdout.ends_with(&END));
    classify(&folder, &["-", "-o", "out.arrows"], cut).says(2, &[]);
    assert!(!folder.names().contains(&"out.arrows".to_owned()));
    folder
        .run(&["compile", "-o", "x", "whole.arrows"])
        .says(2, &["whole.arrows: is Arrow IPC, not a folder or archive"]);
}

/// Returns a table with columns of other types, and metadata.
fn wide() -> RecordBatch {
    let urls = urls();
    let count = urls.len() as i64;
    let lists = (0..count).map(|row| (row % 3 > 0).then(|| (0..row % 4).map(Some).collect::<Vec<_>>()));
    let words: DictionaryArray<Int8Type> =
        (0..count).map(|row| (row % 5 > 0).then(|| ["a", "b"][row as usize % 2])).collect();
    let url: ArrayRef = Arc::new(StringArray::from(urls));
    let id: ArrayRef = Arc::new(Int64Array::from_iter(0..count));
    let pair = StructArray::from(vec![(Arc::new(Field::new("id", DataType::Int64, true)), id.clone())]);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", id),
        ("url", url),
        ("list", Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(lists))),
        ("word", Arc::new(words)),
        ("pair", Arc::new(pair)),
        ("none", Arc::new(NullArray::new(count as usize))),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)));
    let batch = batch.unwrap();
    let schema = batch.schema().as_ref().clone().with_metadata(HashMap::from([("owner".to_owned(), "x".to_owned())]));
    batch.with_schema(Arc::new(schema)).unwrap()
}

#[test]
fn other_columns_are_kept_unchanged() {
    let folder = Folder::with_set();
    let wide = wide();
    folder.write("wide.arrows", stream(std::slice::from_ref(&wide)));
    folder.write("wide.arrow", file(std::slice::from_ref(&wide)));
    let text = classify(&folder, &["wide.arrows", "--columns", "verdict"], b"").says(0, &[]).text();
    let verdicts: Vec<&str> = text.lines().collect();
    let all: &[&str] = &["id", "url", "list", "word", "pair", "none"];
    let pipe = ["--input-format", "arrow"];
    for (options, output, kept, is_stream) in [
        (&["wide.arrows", "--add-columns"][..], "a.arrows", all, true),
        (&["wide.arrow", "--add-columns"], "a.arrow", all, false),
        (&["wide.arrow", "--add-columns"], "", all, false),
        (&["-", "--add-columns", pipe[0], pipe[1]], "", all, true),
        (&["-", "--keep-columns", "none,list,ID", "--format", "arrow"], "", &["none", "list", "id"], false),
        (&["wide.arrow", "--keep-columns", "all", "--columns", "verdict,line"], "b.arrows", all, true),
    ] {
        let output_options: &[&str] = if output.is_empty() { &[] } else { &["--force", "-o", output] };
        let run = classify(&folder, &[options, output_options].concat(), &folder.read("wide.arrows")).says(0, &[]);
        let bytes = if output.is_empty() { run.stdout } else { folder.read(output) };
        assert_eq!(!bytes.starts_with(b"ARROW1"), is_stream, "{options:?}");
        let (schema, batches) = read(bytes);
        assert_eq!(schema.metadata().get("owner").map(String::as_str), Some("x"));
        let mut row = 0;
        for batch in batches {
            for (at, name) in kept.iter().enumerate() {
                let input = wide.column_by_name(name).unwrap().slice(row, batch.num_rows());
                assert_eq!(schema.field(at), wide.schema().field_with_name(name).unwrap(), "{options:?}");
                assert!(batch.column(at) == &input, "{options:?} {name}");
            }
            for at in 0..batch.num_rows() {
                let verdict = shown(batch.column(kept.len()), at);
                assert_eq!(verdict.as_str().unwrap_or("invalid"), verdicts[row + at], "{options:?}");
            }
            row += batch.num_rows();
        }
        assert_eq!(row, wide.num_rows(), "{options:?}");
    }
    for (options, columns) in [
        (&["wide.arrow", "--only", "disallow", "-o", "only.arrows"][..], 6),
        (&["-", "--only", "disallow", "--input-format", "arrow", "-o", "only.arrow"], 6),
        (&["wide.arrow", "--only", "disallow", "--keep-columns", "id", "-o", "id.arrows"], 1),
    ] {
        classify(&folder, options, &folder.read("wide.arrows")).says(0, &[]);
        let (schema, batches) = read(folder.read(options[options.len() - 1]));
        assert_eq!(schema.fields().len(), columns);
        let ids = batches.iter().flat_map(|batch| batch.column(0).as_primitive::<Int64Type>().values().to_vec());
        let expected = (0..wide.num_rows()).filter(|&row| verdicts[row] == "disallow").map(|row| row as i64);
        assert!(ids.eq(expected), "{options:?}");
    }
    folder.write("text.txt", "http://a.example/\n");
    let cases: &[(&[&str], &str)] = &[
        (&["wide.arrow", "--keep-columns", "id,x", "-o", "x.arrow"], "--keep-columns: \"x\": there is no such column"),
        (
            &["wide.arrow", "--keep-columns", "id", "--format", "jsonl"],
            "--keep-columns: expected output in Parquet, Arrow, CSV or TSV",
        ),
        (&["wide.arrow", "--keep-columns", "url", "--columns", "url", "--format", "arrow"], "\"url\""),
        (
            &["text.txt", "--keep-columns", "id", "--format", "arrow"],
            "is text, and --keep-columns needs a table in Parquet or Arrow",
        ),
        (&["-", "--only", "allow"], "--only: is Arrow IPC from a pipe; also give --input-format arrow"),
        (&["wide.arrow", "--only", "allow", "-o", "x.csv"], "--only keeps the format of URLS, arrow; rename it"),
    ];
    for (options, expected) in cases {
        classify(&folder, options, &folder.read("wide.arrows")).says(2, &[expected]);
    }
    classify(&folder, &["-", "--keep-columns", "id", "--format", "arrow"], b"http://a.example/\n")
        .says(2, &["is text, expected Arrow IPC, whose columns can be kept"]);
}

/// Columns of Arrow become columns of Parquet, and these become Arrow again.
#[test]
fn columns_are_kept_between_parquet_and_arrow() {
    let folder = Folder::with_set();
    let wide = wide();
    folder.write("in.arrow", file(std::slice::from_ref(&wide)));
    classify(&folder, &["in.arrow", "--add-columns", "-o", "all.parquet"], b"").says(0, &[]);
    classify(&folder, &["in.arrow", "--only", "disallow", "-o", "only.parquet"], b"").says(0, &[]);
    let text = classify(&folder, &["in.arrow", "--columns", "verdict"], b"").text();
    for (parquet, verdict) in [("all.parquet", None), ("only.parquet", Some("disallow"))] {
        let is_kept = |row: &usize| verdict.is_none_or(|verdict| text.lines().nth(*row) == Some(verdict));
        let rows: Vec<usize> = (0..wide.num_rows()).filter(is_kept).collect();
        let names = ["url", "list", "word", "pair", "id"];
        let options = ["--url", "url", "--keep-columns", "url,list,word,pair,id", "--force", "-o", "back.arrows"];
        classify(&folder, &[&[parquet], &options[..]].concat(), b"").says(0, &[]);
        let (schema, batches) = read(folder.read("back.arrows"));
        assert_eq!(schema.metadata().get("owner").map(String::as_str), Some("x"), "{parquet}");
        let mut found = 0;
        for batch in batches {
            for at in 0..batch.num_rows() {
                let row = rows[found];
                let [url, list, word, pair, id] = [0, 1, 2, 3, 4].map(|column| batch.column(column));
                let before = names.map(|name| wide.column_by_name(name).unwrap());
                assert_eq!(shown(url, at), shown(before[0], row), "{parquet} {row}");
                assert_eq!(shown(word, at), shown(before[2], row), "{parquet} {row}");
                assert_eq!(list.is_null(at), before[1].is_null(row), "{parquet} {row}");
                let lists = (list.as_list::<i32>().value(at), before[1].as_list::<i32>().value(row));
                assert!(list.is_null(at) || lists.0 == lists.1, "{parquet} {row}");
                assert_eq!(pair.as_struct().column(0).as_primitive::<Int64Type>().value(at), row as i64);
                assert_eq!(id.as_primitive::<Int64Type>().value(at), row as i64);
                found += 1;
            }
        }
        assert_eq!((found, found > 0), (rows.len(), true), "{parquet}");
    }
}

const PYTHON: &str = r#"
import sys, pyarrow as pa, pyarrow.ipc as ipc
folder, what = sys.argv[1:]
urls = [f"http://{'ab'[n % 2]}.example/private/{n}" if n % 7 else None for n in range(5000)]
if what == "write":
    texts = pa.array(urls)
    kinds = [pa.utf8(), pa.large_utf8(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()]
    columns = [texts.cast(kind) for kind in kinds] + [texts.dictionary_encode(), texts.cast(pa.large_utf8()).dictionary_encode()]
    for column in columns:
        table = pa.table({"id": range(5000), "url": column})
        for codec in [None, "lz4", "zstd"]:
            for version in [ipc.MetadataVersion.V4, ipc.MetadataVersion.V5]:
                options = ipc.IpcWriteOptions(compression=codec if version == ipc.MetadataVersion.V5 else None, metadata_version=version)
                name = f"{folder}/{column.type}-{codec}-{version}".replace("<", "").replace(">", "").replace(" ", "")
                for new, end in [(ipc.new_stream, "arrows"), (ipc.new_file, "arrow")]:
                    with new(f"{name}.{end}", table.schema, options=options) as writer:
                        writer.write_table(table.slice(0, 0))
                        writer.write_table(table.slice(0, 1777))
                        writer.write_table(table.slice(1777), max_chunksize=999)
else:
    tables = [ipc.open_file(folder + "/out.arrow").read_all(), ipc.open_stream(folder + "/out.arrows").read_all()]
    for table in tables:
        table.validate(full=True)
        assert table.column("url").to_pylist() == urls
        assert table.column("bot-a:verdict").to_pylist() == tables[0].column("bot-a:verdict").to_pylist()
        assert [url is None for url in urls] == [verdict is None for verdict in table.column("bot-a:verdict").to_pylist()]
        assert set(table.column("bot-a:line").to_pylist()) == {2, None}
        assert set(table.column("bot-a:verdict").to_pylist()) == {"disallow", None}
        assert table.schema.field("capture_time").type == pa.timestamp("ms", "UTC")
        print(table.schema.types)
"#;

#[test]
#[ignore = "needs Python with pyarrow"]
fn pyarrow_reads_and_writes() {
    let folder = Folder::with_set();
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let run = |what: &str| {
        let mut command = std::process::Command::new(&python);
        let done = command.args(["-c", PYTHON]).arg(folder.path("")).arg(what).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        print!("{}", String::from_utf8_lossy(&done.stdout));
    };
    run("write");
    let names: Vec<String> = folder.names().into_iter().filter(|name| name.contains(".arrow")).collect();
    assert_eq!(names.len(), 96);
    let text = |name: &str| {
        classify(&folder, &[name, "--columns", "url,verdict,line,rule,reason"], b"").says(0, &["lines 5,000"]).text()
    };
    let first = text(&names[0]);
    assert!(names.iter().all(|name| text(name) == first));
    for name in ["out.arrow", "out.arrows"] {
        classify(&folder, &[&names[0], "--columns", "url,verdict,line,capture_time", "-o", name], b"").says(0, &[]);
    }
    run("read");
}
