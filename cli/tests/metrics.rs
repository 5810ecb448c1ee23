//! `--metrics`, and the lineage in `.FILE.made.json`, `SET.made.json` and Parquet metadata.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::{Value, json};

use crate::support::{Folder, gz};

/// Returns the guide page's fields: each path, such as `inputs[].rows`, and its type.
fn documented() -> BTreeMap<String, String> {
    let (_, fields) = include_str!("../guide/batches.md").split_once("\n### Fields\n").unwrap();
    let rows = fields.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    rows.map(|(field, rest)| (field.to_owned(), rest.split_once(" |").unwrap().0.to_owned())).collect()
}

/// Adds the paths of a value's fields. The fields of a map, according to the documented types, have no fixed names.
fn add_fields(value: &Value, path: &str, types: &BTreeMap<String, String>, fields: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) if !types.get(path).is_some_and(|kind| kind.starts_with("map")) => {
            for (name, value) in object {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                add_fields(value, &path, types, fields);
                fields.insert(path);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| add_fields(value, &format!("{path}[]"), types, fields)),
        _ => {}
    }
}

/// Returns whether a value has the documented type.
fn has_type(value: &Value, kind: &str) -> bool {
    kind.split(" or ").any(|kind| match kind {
        "text" => value.is_string(),
        "time" => value.as_str().is_some_and(|time| time.ends_with('Z') && time.contains('T')),
        "integer" => value.is_u64(),
        "number" => value.is_f64(),
        "true" | "false" => value.is_boolean(),
        "null" => value.is_null(),
        "object" | "map of options" => value.is_object(),
        "map of integers" => value.as_object().is_some_and(|map| map.values().all(Value::is_u64)),
        "list" => value.is_array(),
        _ => panic!("unknown type {kind} in the guide"),
    })
}

/// Asserts the type of each field. `value` is at `path`.
fn check_types(value: &Value, path: &str, types: &BTreeMap<String, String>) {
    if let Some(kind) = types.get(path) {
        assert!(has_type(value, kind), "{path} is {value}, expected {kind}");
        if kind.starts_with("map") {
            return;
        }
    }
    match value {
        Value::Object(object) => object.iter().for_each(|(name, value)| {
            check_types(value, &if path.is_empty() { name.clone() } else { format!("{path}.{name}") }, types);
        }),
        Value::Array(values) => values.iter().for_each(|value| check_types(value, &format!("{path}[]"), types)),
        _ => {}
    }
}

fn record(folder: &Folder, name: &str) -> Value {
    serde_json::from_slice(&folder.read(name)).unwrap()
}

const WARC: &str = "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/private\r\n\
                    WARC-Date: 2026-03-14T15:09:26Z\r\nWARC-Record-ID: <urn:1>\r\nContent-Length: 2\r\n\r\nok\r\n\r\n";

/// Returns a folder with the inputs of [`RUNS`].
fn folder() -> Folder {
    let folder = Folder::with_set();
    folder.write("robots/bad host", "");
    folder.write(
        "c.jsonl",
        [r#"{"url": "http://d.example/robots.txt", "time": "2026-02-01T00:00:00Z", "status": 404}"#, "junk"].join("\n"),
    );
    folder.write("urls", "http://a.example/private\nhttp://a.example/x\nhttp://n.example/\njunk\n");
    folder.write(
        "rows.csv",
        "url,crawler\nhttp://a.example/private,bot-a\nhttp://b.example/,other/1.0\nhttp://b.example/,Mozilla/5.0\n",
    );
    let request = |agent: &str| format!("http://a.example/private\t2026-03-14T15:09:26Z\t{agent}\n");
    folder.write("requests.tsv", format!("url\ttime\tuser_agent\n{}{}", request("bot-a"), request("Mozilla/5.0")));
    folder.write("hosts", "a.example\n:::\n");
    folder.write("a.warc", WARC);
    folder.write("b.warc", WARC.replace("private", "open"));
    folder
}

/// Commands, their exit codes, and some of their metrics. Each command also gets `--metrics m.json`.
const RUNS: [(&str, i32, &str, &str); 14] = [
    (
        "compile -o s1 robots c.jsonl --fates f.tsv",
        1,
        "captures.bad",
        r#"{"no valid host": 1, "not a valid capture": 1}"#,
    ),
    ("compile -o s2 c.jsonl", 1, "inputs.0.invalid", "1"),
    ("merge set s2 -o s3", 0, "set.origins", "7"),
    ("update set c.jsonl -o s4", 1, "rows.read", "1"),
    ("classify set urls --agent bot-a --agent x --columns url,verdict,any-of", 0, "together", COUNTS),
    ("classify set urls --agent bot-a --only allow -o o.txt", 0, "outputs.0.rows", "1"),
    ("classify set rows.csv --agent {crawler} -o o.tsv", 0, "rows.without_agent", "1"),
    ("classify set urls rows.csv --agent bot-a -o out/", 0, "rows.read", "7"),
    ("filter a.warc b.warc --set set --agent bot-a -o kept/", 0, "rows.written", "1"),
    ("summarize set hosts --agent bot-a -o o.jsonl", 0, "invalid_rows", r#"{"no-origin": 1}"#),
    ("timeline robots hosts --agent bot-a -o o.parquet", 1, "set.by_time", "true"),
    ("audit requests.tsv --set set --status none --violations v.csv --report r.html", 0, "rows.without_agent", "1"),
    ("lint robots/a.example --severity note", 1, "rows.read", "1"),
    ("verify set", 0, "set.by_time", "false"),
];

const COUNTS: &str = r#"{"allow": 1, "disallow": 1, "unknown": 1, "invalid": 1}"#;

#[test]
fn every_field_of_every_command_is_documented() {
    let (folder, types) = (folder(), documented());
    let mut all = BTreeSet::new();
    for (command, code, field, expected) in RUNS {
        let args: Vec<&str> = command.split(' ').chain(["--metrics", "m.json"]).collect();
        folder.run(&args).says(code, &[]);
        let metrics = record(&folder, "m.json");
        let mut fields = BTreeSet::new();
        add_fields(&metrics, "", &types, &mut fields);
        let unknown: Vec<_> = fields.iter().filter(|field| !types.contains_key(*field)).collect();
        assert!(unknown.is_empty(), "{command}: not in the guide: {unknown:?}");
        let missing: Vec<_> = types.keys().filter(|field| !field.contains('.') && !fields.contains(*field)).collect();
        assert!(missing.is_empty(), "{command}: without {missing:?}");
        check_types(&metrics, "", &types);
        let pointer = format!("/{}", field.replace('.', "/"));
        let expected: Value = serde_json::from_str(expected).unwrap();
        assert_eq!(metrics.pointer(&pointer), Some(&expected), "{command}: {field} in {metrics:#}");
        assert_eq!(metrics["exit_code"], code, "{command}");
        assert_eq!(metrics["command"], args[0], "{command}");
        assert_eq!(metrics["schema"], "reptile-run/1", "{command}");
        all.extend(fields);
    }
    // Only a run that goes on after an error has failures.
    let unused: Vec<_> = types.keys().filter(|field| !all.contains(*field) && !field.starts_with("failures")).collect();
    assert!(unused.is_empty(), "in the guide, but in no metrics: {unused:?}");
    assert!(!folder.names().iter().any(|name| name.starts_with('.')), "{:?}", folder.names());
}

#[test]
fn counts_are_those_of_the_rows() {
    let folder = folder();
    let url = |row: usize| match row % 5 {
        0 => "http://a.example/private".to_owned(),
        1 => format!("http://b.example/{row}"),
        2 => format!("http://n.example/{row}"),
        3 => "junk".to_owned(),
        _ => format!("http://a.example/{row}"),
    };
    let rows: String = (0..1003).map(|row| format!("{row}\t{}\n", url(row))).collect();
    folder.write("t.tsv", format!("n\turl\n{rows}short\n"));
    let args =
        ["classify", "set", "t.tsv", "--agent", "bot-a", "--agent", "other", "-o", "o.tsv", "--metrics", "m.json"];
    folder.run(&args).says(0, &[]);
    let metrics = record(&folder, "m.json");
    let written = String::from_utf8(folder.read("o.tsv")).unwrap();
    for (at, agent) in ["bot-a", "other"].into_iter().enumerate() {
        let mut counts = BTreeMap::from(["allow", "disallow", "unknown", "invalid"].map(|verdict| (verdict, 0)));
        for line in written.lines() {
            *counts.get_mut(line.split('\t').nth(at + 1).unwrap()).unwrap() += 1;
        }
        assert_eq!(metrics["verdicts"][at], json!({"agent": agent, "counts": counts}));
    }
    assert_eq!(metrics["invalid_rows"], json!({"no-url": 200, "fewer-cells": 1}));
    assert_eq!(metrics["rows"]["read"], 1004);
    let (output, bytes) = (&metrics["outputs"][0], folder.read("o.tsv"));
    assert_eq!(
        (&output["path"], &output["bytes"], &output["rows"]),
        (&json!("o.tsv"), &json!(bytes.len()), &json!(1004))
    );
    let input = &metrics["inputs"][0];
    let size = folder.read("t.tsv").len();
    assert_eq!((&input["path"], &input["bytes"], &input["invalid"]), (&json!("t.tsv"), &json!(size), &json!(201)));
    assert!(input["xxh3_64"].is_null(), "no checksum unless it is wanted: {input}");
    // The set's own record has the same checksum, and standard input has no state.
    assert_eq!(metrics["set"]["xxh3_64"], record(&folder, "set.made.json")["set"]["xxh3_64"]);
    let args = ["classify", "set", "-", "--agent", "bot-a", "--metrics", "m.json,checksums"];
    folder.run_with(&args, b"http://a.example/\n").says(0, &[]);
    let metrics = record(&folder, "m.json");
    assert!(metrics["inputs"][0]["bytes"].is_null() && metrics["outputs"][0]["bytes"].is_null(), "{metrics:#}");
    assert_eq!((&metrics["inputs"][0]["path"], &metrics["outputs"][0]["path"]), (&json!("-"), &json!("-")));
    folder.run(&["verify", "set", "--metrics", "m.json,checksums"]).says(0, &[]);
    let metrics = record(&folder, "m.json");
    assert_eq!(metrics["inputs"][0]["xxh3_64"], metrics["set"]["xxh3_64"]);
    assert!(metrics["seconds"].as_f64().unwrap() > 0.0);
    if cfg!(target_os = "linux") {
        assert!(metrics["peak_memory_bytes"].as_u64().unwrap() > 1 << 20);
    }
}

#[test]
fn a_failed_run_writes_its_error() {
    let folder = folder();
    folder.write("cut.gz", &gz(b"http://a.example/\n")[..20]);
    for (args, error) in [
        (&["classify", "set", "nowhere", "--agent", "x"][..], "nowhere: No such file"),
        (&["classify", "set", "cut.gz", "--agent", "x", "-o", "o"], "cut.gz: its gzip data cannot be decompressed"),
        (&["classify", "set", "urls", "a.warc", "--agent", "x"], "several URL lists require -o DIR/"),
        (&["compile", "-o", "set", "robots"], "set: exists already"),
        (&["merge", "urls", "-o", "o"], "urls: "),
        (&["verify", "urls"], "urls: "),
        (&["filter", "urls", "--set", "set", "--agent", "x", "-o", "o"], "urls: "),
    ] {
        folder.write("m.json", "{\n  \"schema\": \"reptile-run/0\", of an older version");
        folder.run(&[args, &["--metrics", "m.json"]].concat()).says(2, &[error]);
        let metrics = record(&folder, "m.json");
        assert_eq!(metrics["exit_code"], 2, "{args:?}");
        assert!(metrics["error"].as_str().unwrap().contains(error), "{metrics:#}");
        assert_eq!(metrics["outputs"], json!([]), "{args:?}");
    }
    assert!(!folder.path("o").exists());
}

#[test]
fn a_killed_run_leaves_no_metrics() {
    let folder = folder();
    folder.run(&["verify", "set", "--metrics", "m.json"]).says(0, &[]);
    let mut command = folder.command(&["classify", "set", "-", "--agent", "x", "--metrics", "m.json"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    while folder.path("m.json").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it waits for its input");
        sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!folder.path("m.json").exists());
    folder.run(&["verify", "set", "--metrics", "m.json"]).says(0, &[]);
    assert!(!folder.names().iter().any(|name| name.starts_with('.')), "{:?}", folder.names());
}

#[test]
fn only_metrics_are_replaced() {
    let folder = folder();
    fs::create_dir(folder.path("folder")).unwrap();
    folder.write("precious.json", "{}");
    let made = folder.read("set.made.json");
    let (classify, compile) = (["classify", "set", "urls", "--agent", "x"], ["compile", "-o", "new", "robots"]);
    let both = [&compile[..], &["--force", "--fates", "m.tsv"]].concat();
    let out = [&classify[..], &["-o", "out/", "--force"]].concat();
    let filter = ["filter", "a.warc", "--set", "set", "--agent", "x", "-o", "kept/"];
    let cases: [(&[&str], &str, &str); 14] = [
        (&classify, "urls", "urls: exists and is not a metrics file"),
        (&classify, "set", "set: exists and is not a metrics file"),
        (&classify, "set.made.json", "set.made.json: exists and is not a metrics file"),
        (&classify, "precious.json", "precious.json: exists and is not a metrics file"),
        (&classify, "folder", "folder: "),
        (&classify, "-", "--metrics: expected a file name"),
        (&classify, "m.json.gz", "m.json.gz: --metrics are not compressed"),
        (&classify, "absent/m.json", "absent/m.json: "),
        (&compile, "new", "new: is another output too"),
        (&compile, "./new.made.json", "./new.made.json: is another output too"),
        (&compile, "robots/m.json", "robots/m.json: is in the input folder robots"),
        (&both, "m.tsv", "m.tsv: is another output too"),
        (&out, "out/urls.tsv", "out/urls.tsv: is another output too"),
        (&filter, "kept/a.warc", "kept/a.warc: is another output too"),
    ];
    for (args, path, message) in cases {
        fs::create_dir_all(folder.path(if path.starts_with("out") { "out" } else { "kept" })).unwrap();
        folder.run(&[args, &["--metrics", path]].concat()).says(2, &[message]);
        assert!(!folder.path("new").exists(), "{path}");
    }
    assert_eq!(folder.read("precious.json"), b"{}");
    assert_eq!(folder.read("set.made.json"), made);
    folder.run(&["verify", "set", "--input-checksums"]).says(2, &["--metrics FILE.json,checksums"]);
}

#[test]
fn credentials_and_the_environment_are_not_recorded() {
    let folder = folder();
    let path = "s3://AKIAKEY:topsecret@bucket/urls?X-Amz-Signature=topsecret&versionId=3";
    let args = ["classify", path, "urls", "--agent", "bot (+https://me:topsecret@h.example/)", "--metrics", "m.json"];
    let mut command = folder.command(&args);
    command.env("AWS_SECRET_ACCESS_KEY", "topsecret").env("REPTILE_TEST", "topsecret");
    assert_eq!(command.output().unwrap().status.code(), Some(2));
    let text = String::from_utf8(folder.read("m.json")).unwrap();
    assert!(!text.contains("topsecret") && !text.contains("AKIAKEY"), "{text}");
    assert!(text.contains("bot (+https://***@h.example/)"), "{text}");
    assert!(text.contains("s3://***@bucket/urls?X-Amz-Signature=***&versionId=3"), "{text}");
}

/// Returns metrics without the fields that differ between equal runs.
fn deterministic(folder: &Folder, name: &str) -> Value {
    let mut metrics = record(folder, name);
    let object = metrics.as_object_mut().unwrap();
    for field in ["seconds", "rows_per_second", "peak_memory_bytes", "kept_outputs"] {
        assert!(object.remove(field).is_some(), "{field}");
    }
    metrics
}

#[test]
fn a_resumed_run_has_the_same_record() {
    let folder = folder();
    folder.write("junk.txt", "junk\njunk\nhttp://a.example/\n");
    let lists = ["urls", "rows.csv", "junk.txt"];
    let args = |lists: &[&'static str], options: &[&'static str]| {
        let options = [options, &["-o", "out/", "--format", "parquet", "--agent", "bot-a"]].concat();
        [&["classify", "set"], lists, &options].concat()
    };
    folder.run(&args(&lists, &["--metrics", "one.json"])).says(1, &[]);
    let files = |folder: &Folder| {
        let names = fs::read_dir(folder.path("out")).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.map(|name| (folder.read(&format!("out/{name}")), name)).collect::<BTreeSet<_>>()
    };
    let expected = files(&folder);
    assert_eq!(expected.len(), 6);
    fs::remove_dir_all(folder.path("out")).unwrap();
    folder.run(&args(&lists[..1], &["--threads", "1"])).says(0, &[]);
    folder.run(&args(&lists, &["--resume", "--threads", "2", "--metrics", "two.json"])).says(1, &[]);
    assert!(files(&folder) == expected, "the same files, whether or not metrics are written");
    assert_eq!(record(&folder, "two.json")["kept_outputs"], 1);
    assert_eq!(deterministic(&folder, "one.json"), deterministic(&folder, "two.json"));
    folder.run(&args(&lists, &["--resume", "--metrics", "three.json"])).says(1, &["done before 3"]);
    assert_eq!(deterministic(&folder, "one.json"), deterministic(&folder, "three.json"));
    assert_eq!(record(&folder, "three.json")["rows_per_second"], 0.0);

    // A file's record and its metadata are parts of the same object.
    let mut made = record(&folder, "out/.urls.parquet.made.json");
    let reader = SerializedFileReader::new(File::open(folder.path("out/urls.parquet")).unwrap()).unwrap();
    let entries = reader.metadata().file_metadata().key_value_metadata().unwrap();
    let stamp = entries.iter().find(|entry| entry.key == "reptile").unwrap();
    let stamp: Value = serde_json::from_str(stamp.value.as_deref().unwrap()).unwrap();
    let object = made.as_object_mut().unwrap();
    assert_eq!(object.remove("most_are_invalid"), Some(json!(false)));
    let outputs = object.remove("outputs").unwrap();
    assert_eq!(outputs[0]["bytes"], folder.read("out/urls.parquet").len());
    assert!(made["inputs"][0].as_object_mut().unwrap().remove("changed").unwrap().is_string());
    assert_eq!(stamp, made);
    assert_eq!(made["schema"], "reptile-lineage/1");
    assert_eq!(made["options"]["format"], "parquet");
}

#[test]
fn parquet_outputs_of_other_commands_are_stamped() {
    let folder = folder();
    folder.run(&["summarize", "set", "--agent", "bot-a", "-o", "s.parquet"]).says(0, &[]);
    folder.run(&["compile", "-o", "t", "robots", "--fates", "f.parquet"]).says(1, &[]);
    for (name, command, rows) in [("s.parquet", "summarize", json!(6)), ("f.parquet", "compile", json!(null))] {
        let reader = SerializedFileReader::new(File::open(folder.path(name)).unwrap()).unwrap();
        let entries = reader.metadata().file_metadata().key_value_metadata().unwrap();
        let stamp = entries.iter().find(|entry| entry.key == "reptile").unwrap().value.as_deref().unwrap();
        let stamp: Value = serde_json::from_str(stamp).unwrap();
        assert_eq!((&stamp["command"], &stamp["rows"]["written"]), (&json!(command), &rows), "{stamp:#}");
    }
}
