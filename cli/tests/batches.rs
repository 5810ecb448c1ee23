//! Batches: inputs in every format that cannot be read to their ends, `--keep-going`, `--resume`, partitioned folders
//! and `--rows-per-file`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use serde_json::Value;

use crate::support::{Folder, gz};
use crate::warc::answer;

/// Number of captures in a test file.
const HOSTS: usize = 60;

fn host(number: usize) -> String {
    format!("h{number}.example")
}

fn body(number: usize) -> String {
    format!("user-agent: *\ndisallow: /private/{}\n", number * 7919 % 1000)
}

/// Returns a file with captures in each format.
fn formats() -> Vec<(&'static str, Vec<u8>)> {
    let (mut jsonl, mut tsv, mut csv) =
        (String::new(), "url\tstatus\tbody\n".to_owned(), "url,status,body\n".to_owned());
    let (mut warc, mut wet_like) = (Vec::new(), Vec::new());
    let mut tar = tar::Builder::new(Vec::new());
    let mut rows = Vec::new();
    for number in 0..HOSTS {
        let (host, body) = (host(number), body(number));
        let url = format!("https://{host}/robots.txt");
        let escaped = body.replace('\n', "\\n");
        jsonl += &format!("{{\"url\":\"{url}\",\"status\":200,\"body\":\"{escaped}\"}}\n");
        tsv += &format!("{url}\t200\t{escaped}\n");
        csv += &format!("{url},200,\"{body}\"\n");
        let record = answer(&url, "HTTP/1.1 200 OK", "", body.as_bytes());
        wet_like.extend(gz(&record));
        warc.extend(record);
        let mut header = tar::Header::new_gnu();
        header.set_size(body.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        tar.append_data(&mut header, &host, body.as_bytes()).unwrap();
        rows.push((url, body));
    }
    let rows: Vec<(&str, &str)> = rows.iter().map(|(url, body)| (&**url, &**body)).collect();
    vec![
        ("x.jsonl", jsonl.into_bytes()),
        ("x.tsv", tsv.into_bytes()),
        ("x.csv", csv.into_bytes()),
        ("x.warc", warc),
        ("members.warc.gz", wet_like),
        ("x.tar", tar.into_inner().unwrap()),
        ("x.parquet", crate::classify_parquet::captures(&rows)),
    ]
}

fn zst(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn bz2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Returns damaged files, which cannot be read to their ends, by name.
fn damaged() -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for (name, bytes) in formats() {
        let cut = |bytes: &[u8]| bytes[..bytes.len() * 3 / 5 + 3].to_vec();
        // Lines are separate: a cut line is one bad capture.
        let is_lines = matches!(name, "x.jsonl" | "x.tsv");
        if !is_lines && name != "x.csv" {
            files.push((format!("cut-{name}"), cut(&bytes)));
        }
        if matches!(name, "x.parquet" | "members.warc.gz") {
            continue;
        }
        type Pack = fn(&[u8]) -> Vec<u8>;
        let all: [(&str, Pack); 4] = [("gz", gz), ("zst", zst), ("bz2", bz2), ("xz", xz)];
        for (ending, pack) in all {
            let packed = pack(&bytes);
            files.push((format!("cut-{name}.{ending}"), cut(&packed)));
            let mut flipped = packed;
            let middle = flipped.len() / 2;
            flipped[middle] ^= 0x10;
            files.push((format!("flipped-{name}.{ending}"), flipped));
        }
    }
    files.push(("quote.csv".into(), b"url,body\nhttps://q.example/robots.txt,\"user-agent: *\n".to_vec()));
    files.push(("empty.jsonl".into(), Vec::new()));
    files.push(("empty.jsonl.gz".into(), gz(b"")));
    files.push(("urls.txt".into(), b"https://a.example/\n".to_vec()));
    files.push(("page.warc.gz".into(), gz(b"<!doctype html><title>x</title>")));
    files
}

#[test]
fn an_input_that_cannot_be_read_to_its_end_has_the_same_fate_in_every_format() {
    let folder = Folder::new();
    folder.write("good.jsonl", "{\"url\":\"https://good.example/robots.txt\",\"status\":404}\n");
    folder.run(&["compile", "-q", "-o", "good", "good.jsonl"]).says(0, &[]);
    let expected = folder.read("good");
    let files = damaged();
    assert!(files.len() > 40, "{}", files.len());
    let mut names: Vec<&str> = files.iter().map(|(name, _)| &**name).collect();
    for (name, bytes) in &files {
        folder.write(name, bytes);
        let run = folder.run(&["compile", "-o", "set", name, "good.jsonl"]);
        assert!(run.code == Some(2) && run.stderr.contains(&**name), "{name}: {run:?}");
        assert!(!folder.path("set").exists(), "{name}");
    }
    // All files in one run: each is listed once, and the set equals the good input's set.
    names.extend(["missing.jsonl", "good.jsonl"]);
    let run = folder.run(&[&["compile", "--keep-going", "-o", "set"], &names[..]].concat());
    let run = run.says(1, &[&format!("{} of {} inputs failed", names.len() - 1, names.len())]);
    let list = run.stderr.split("nothing in them is used:\n").nth(1).unwrap();
    let listed: Vec<&str> = list.lines().map(|line| line.strip_prefix("reptile:   ").unwrap()).collect();
    assert_eq!(listed.len(), names.len() - 1, "{list}");
    for (line, name) in listed.iter().zip(&names) {
        assert!(line.contains(name), "{line}: {name}");
    }
    assert!(folder.read("set") == expected);
    let record: Value = serde_json::from_slice(&folder.read("set.made.json")).unwrap();
    assert_eq!(record["inputs"].as_array().map(Vec::len), Some(1), "{record}");
    // Each file separately, so that no failure hides another. `update` and `lint` follow the same rule.
    for name in
        ["cut-x.jsonl.gz", "flipped-x.csv.xz", "cut-x.warc", "cut-members.warc.gz", "cut-x.tar", "cut-x.parquet"]
    {
        let args = ["compile", "--force", "--keep-going", "-o", "set", "good.jsonl", name];
        folder.run(&args).says(1, &["1 of 2 inputs failed"]);
        assert!(folder.read("set") == expected, "{name}");
        folder.run(&["update", "good", name, "--force", "-o", "set"]).says(2, &[name]);
        let run = folder.run(&["update", "good", name, "--force", "--keep-going", "-o", "set"]);
        run.says(1, &["1 of 1 inputs failed"]);
        assert!(folder.read("set") == expected, "{name}");
        folder.run(&["lint", name]).says(2, &[name]);
        folder.run(&["lint", name, "--keep-going"]).says(1, &["1 of 1 inputs failed", name]);
    }
}

#[test]
fn bad_captures_are_skipped_and_counted_in_every_format() {
    let folder = Folder::new();
    let cut = |bytes: &[u8]| bytes[..bytes.len() - 12].to_vec();
    for (name, bytes) in formats() {
        if matches!(name, "x.jsonl" | "x.tsv") {
            let bytes =
                if name == "x.tsv" { [&bytes[..], b"https://z.example/robots.txt"].concat() } else { cut(&bytes) };
            folder.write(name, bytes);
            folder.run(&["compile", "--force", "-o", "set", name]).says(1, &["skipped: not a valid capture 1\n"]);
        }
        if name == "members.warc.gz" {
            // The end of the first member is known, although its checksum is wrong.
            let mut bytes = bytes;
            let first = gz(&answer("https://h0.example/robots.txt", "HTTP/1.1 200 OK", "", body(0).as_bytes())).len();
            bytes[first - 8] ^= 1;
            folder.write(name, bytes);
            folder.run(&["compile", "--force", "-o", "set", name]).says(1, &["skipped: damaged record"]);
        }
    }
}

#[test]
fn options_that_keep_going_cannot_honor_are_errors() {
    let folder = Folder::with_set();
    folder.write("a.jsonl", "{\"url\":\"https://a.example/robots.txt\",\"status\":404}\n");
    folder.write("b/a.example", "");
    folder.write("c/a.example", "user-agent: *\n");
    let cases: [(&[&str], &str); 5] = [
        (&["compile", "--keep-going", "-o", "s", "-", "a.jsonl"], "-: --keep-going requires files and folders"),
        // Neither of them is damaged.
        (&["compile", "--keep-going", "-o", "s", "b", "c"], "are both for http://a.example"),
        (&["compile", "--keep-going", "-o", "s", "missing"], "no robots.txt found in missing"),
        (&["filter", "x", "--set", "set", "--agent", "x", "--keep-going", "-o", "f"], "requires -o with a folder"),
        (&["filter", "x", "--set", "set", "--agent", "x", "--resume", "-o", "f"], "--resume requires -o with a folder"),
    ];
    for (args, message) in cases {
        folder.run(args).says(2, &[message]);
        assert!(!folder.path("s").exists());
    }
}

#[test]
fn merge_keeps_going_without_damaged_sets() {
    let folder = Folder::new();
    for name in ["a", "b", "c"] {
        folder.write(&format!("{name}/{name}.example"), "user-agent: *\ndisallow: /\n");
        folder.run(&["compile", "-q", "-o", &format!("{name}.reptile"), name]).says(0, &[]);
    }
    let mut damaged = folder.read("b.reptile");
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    folder.write("b.reptile", damaged);
    folder.run(&["merge", "-q", "-o", "two", "a.reptile", "c.reptile"]).says(0, &[]);
    let run = folder.run(&["merge", "--keep-going", "-o", "all", "missing", "a.reptile", "b.reptile", "c.reptile"]);
    run.says(1, &["2 of 4 inputs failed", "missing: No such file", "b.reptile: not a valid set"]);
    assert!(folder.read("all") == folder.read("two"));
    folder.run(&["merge", "--keep-going", "-o", "none", "missing"]).says(2, &["no set is left to merge"]);
}

/// Writes a partitioned folder with 20 lists, one of them corrupt, and a set.
fn partitions() -> Folder {
    let folder = Folder::with_set();
    for number in 0..20 {
        let line = |row: usize| format!("http://{}.example/private/{number}/{row}\n", ["a", "b", "n"][row % 3]);
        let list: String = (0..500).map(line).collect();
        let bytes = gz(list.as_bytes());
        let bytes = if number == 7 { bytes[..bytes.len() / 2].to_vec() } else { bytes };
        folder.write(&format!("data/crawl=2026-0{}/subset=warc/part-{number:02}.gz", number % 3 + 1), bytes);
    }
    folder.write("data/_SUCCESS", "");
    folder.write("data/.part.crc", "");
    folder
}

/// Returns every file below a folder, by path.
fn tree(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.strip_prefix(root).unwrap().display().to_string(), fs::read(&path).unwrap());
            }
        }
    }
    files
}

const CLASSIFY: [&str; 9] = ["classify", "set", "--agent", "bot-a", "--agent", "nobody", "--agent", "nothing", "-o"];

#[test]
fn one_corrupt_list_among_twenty_is_listed_and_resume_retries_it() {
    let folder = partitions();
    let run = folder.run(&[&CLASSIFY[..], &["out/", "data"]].concat());
    run.says(2, &["part-07.gz: cannot be read: its gzip data cannot be decompressed"]);
    fs::remove_dir_all(folder.path("out")).unwrap();
    let args = [&CLASSIFY[..], &["out/", "data", "--keep-going", "--resume"]].concat();
    let run = folder
        .run(&args)
        .says(1, &["files written 19\n", "1 of 20 inputs failed", "crawl=2026-02/subset=warc/part-07"]);
    // Warnings about agents are printed once, not for each list.
    assert_eq!(run.stderr.matches("agent nobody is not named").count(), 1, "{run:?}");
    let all = tree(&folder.path("out"));
    assert_eq!(all.len(), 2 * 19, "each file has its record");
    assert!(all.contains_key("crawl=2026-01/subset=warc/part-00.gz.tsv"), "{:?}", all.keys());
    folder.run(&args).says(1, &["files written 0\n", "done before 19\n", "1 of 20 inputs failed"]);
    // The repaired list is the only one that is decided.
    folder.write("data/crawl=2026-02/subset=warc/part-07.gz", gz(b"http://a.example/private\n"));
    folder.run(&args).says(0, &["files written 1\n", "done before 19\n"]);
    assert!(all.iter().all(|(name, bytes)| folder.read(&format!("out/{name}")) == *bytes));
    // A pattern keeps the paths too, and gives the same files.
    folder.run(&[&CLASSIFY[..], &["pattern/", "data/**/*.gz"]].concat()).says(0, &["files written 20\n"]);
    let verdicts = |name: &str| {
        let files = tree(&folder.path(name)).into_iter();
        files.filter(|(name, _)| name.ends_with(".tsv")).collect::<Vec<_>>()
    };
    assert!(verdicts("out") == verdicts("pattern"));
    // The output may not be in a folder that is read, and several lists need a folder.
    folder.run(&[&CLASSIFY[..], &["data/out/", "data"]].concat()).says(2, &["data/out: is in the input folder data"]);
    folder.run(&[&CLASSIFY[..], &["data/", "data"]].concat()).says(2, &["data: is the input folder"]);
    folder.run(&["classify", "set", "data", "--agent", "x"]).says(2, &["data: is a folder; -o DIR/"]);
}

#[test]
fn resume_by_checksum_ignores_the_time_and_notices_changed_bytes() {
    let folder = Folder::with_set();
    folder.write("one.txt", "http://a.example/private\n");
    let run = |how: &str| folder.run(&[&CLASSIFY[..], &["out/", "one.txt", how]].concat());
    run("--resume").says(0, &["files written 1\n"]);
    run("--resume=checksum").says(2, &["was made without a checksum of its input"]);
    fs::remove_dir_all(folder.path("out")).unwrap();
    run("--resume=checksum").says(0, &["files written 1\n"]);
    let touch = || {
        let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
        fs::File::options().append(true).open(folder.path("one.txt")).unwrap().set_modified(time).unwrap();
    };
    run("--resume").says(0, &["done before 1\n"]);
    touch();
    run("--resume").says(2, &["one.txt.tsv: was made from another input, or the input has changed"]);
    run("--resume=checksum").says(0, &["done before 1\n"]);
    // The same size and time, but different bytes.
    folder.write("one.txt", "http://b.example/private\n");
    touch();
    run("--resume=checksum").says(2, &["one.txt.tsv: was made from another input, or the input has changed"]);
    folder.run(&[&CLASSIFY[..], &["out/", "one.txt", "--resume=often"]].concat()).says(2, &["invalid value 'often'"]);
}

#[test]
fn parts_hold_at_most_the_given_rows_and_resume_keeps_all_or_none() {
    let folder = Folder::with_set();
    let urls = |count: usize| (0..count).map(|row| format!("http://a.example/private/{row}\n")).collect::<String>();
    let names = || tree(&folder.path("out")).into_keys().filter(|name| !name.ends_with(".json")).collect::<Vec<_>>();
    for (rows, count) in [(0, 1), (9, 1), (10, 1), (11, 2), (20, 2), (21, 3), (1_000, 25)] {
        folder.write("a.txt", urls(rows));
        let limit = if rows > 100 { "40" } else { "10" };
        let args = [&CLASSIFY[..], &["out/", "a.txt", "--header", "--force", "--rows-per-file", limit]].concat();
        // Parts of a longer output are removed.
        folder.run(&args).says(0, &[&format!("files written {count}\n")]);
        assert_eq!(names().len(), count, "{rows}");
        folder.run(&[&CLASSIFY[..], &["whole/", "a.txt", "--header", "--force"]].concat()).says(0, &[]);
        let whole = String::from_utf8(folder.read("whole/a.txt.tsv")).unwrap();
        let (header, expected) = whole.split_at(whole.find('\n').unwrap() + 1);
        let mut found = String::new();
        for (number, name) in names().into_iter().enumerate() {
            assert_eq!(name, format!("a.txt-{number:05}.tsv"));
            let part = String::from_utf8(folder.read(&format!("out/{name}"))).unwrap();
            found += part.strip_prefix(header).unwrap();
            assert!(part.lines().count() <= limit.parse::<usize>().unwrap() + 1);
        }
        assert!(found == expected, "{rows}");
    }
    fs::remove_dir_all(folder.path("out")).unwrap();
    folder.write("a.txt", urls(25));
    let args = [&CLASSIFY[..], &["out/", "a.txt", "--format", "parquet", "--rows-per-file", "10", "--resume"]].concat();
    folder.run(&args).says(0, &["files written 3\n"]);
    let all = tree(&folder.path("out"));
    folder.run(&args).says(0, &["done before 3\n"]);
    // A run that was killed while it named the files.
    for lost in [&["a.txt-00002.parquet"][..], &["a.txt-00000.parquet", ".a.txt-00000.parquet.made.json"]] {
        lost.iter().for_each(|name| fs::remove_file(folder.path(&format!("out/{name}"))).unwrap());
        folder.run(&args).says(0, &["has only some of its parts, which are written again", "files written 3\n"]);
        assert!(tree(&folder.path("out")) == all);
    }
    let run = folder.run(&[&CLASSIFY[..], &["out/", "a.txt", "--format", "parquet", "--force"]].concat());
    run.says(2, &["a.txt-00000.parquet: is the output of a run with another --rows-per-file"]);
    folder.write("rows.csv", "url,n\nhttp://a.example/,1\n");
    let args = [&CLASSIFY[..3], &["bot-a", "rows.csv", "-o", "o/", "--rows-per-file", "9"]].concat();
    folder.run(&[&args[..], &["--add-columns"]].concat()).says(2, &["--rows-per-file: --add-columns and --only"]);
    folder
        .run(&["classify", "set", "--agent", "x", "--rows-per-file", "9"])
        .says(2, &["--rows-per-file: requires -o DIR/"]);
    folder.run(&[&CLASSIFY[..], &["o/", "a.txt", "--rows-per-file", "0"]].concat()).says(2, &["invalid value '0'"]);
}

#[test]
fn filter_keeps_going_and_resumes_in_a_folder() {
    let folder = Folder::with_set();
    let record = |host: &str| answer(&format!("http://{host}/page"), "HTTP/1.1 200 OK", "", b"page");
    for name in ["in/a.warc.gz", "in/sub/b.warc.gz", "in/c.warc.gz"] {
        folder.write(name, [gz(&record("a.example")), gz(&record("b.example"))].concat());
    }
    let whole = folder.read("in/c.warc.gz");
    folder.write("in/c.warc.gz", &whole[..whole.len() - 9]);
    let args = |options: &[&'static str]| {
        let start = ["filter", "in/**/*.warc.gz", "--set", "set", "--agent", "bot-a", "-o", "out/"];
        folder.run(&[&start[..], options].concat())
    };
    args(&[]).says(2, &["in/c.warc.gz: record 2: damaged WARC file, not read to its end"]);
    assert!(!folder.path("out/c.warc.gz").exists());
    fs::remove_dir_all(folder.path("out")).unwrap();
    args(&["--keep-going", "--resume"]).says(1, &["kept 2\n", "1 of 3 inputs failed", "in/c.warc.gz: record 2"]);
    let names: Vec<String> = tree(&folder.path("out")).into_keys().collect();
    let expected = [".a.warc.gz.made.json", "a.warc.gz", "sub/.b.warc.gz.made.json", "sub/b.warc.gz"];
    assert_eq!(names, expected);
    assert_eq!(folder.read("out/sub/b.warc.gz"), gz(&record("a.example")));
    folder.write("in/c.warc.gz", &whole);
    let before = tree(&folder.path("out"));
    args(&["--resume"]).says(0, &["kept 3\n", "records 6\n"]);
    args(&["--resume"]).says(0, &["kept 3\n", "records 6\n"]);
    assert!(before.iter().all(|(name, bytes)| folder.read(&format!("out/{name}")) == *bytes));
    args(&["--resume", "--any"]).says(2, &["was made with other options; --force with --resume replaces it"]);
    folder.write("in/c.warc.gz", gz(&record("a.example")));
    args(&["--resume"]).says(2, &["out/c.warc.gz: was made from another input, or the input has changed"]);
    args(&["--resume", "--force"]).says(0, &["kept 3\n", "records 5\n"]);
    folder.write("in/c.warc.gz", &whole[..whole.len() - 9]);
    let start = ["filter", "in/a.warc.gz", "in/c.warc.gz", "--set", "set", "--agent", "bot-a", "--dry-run"];
    folder.run(&[&start[..], &["--keep-going"]].concat()).says(1, &["kept 1\n", "records 2\n", "1 of 2 inputs failed"]);
}

#[test]
fn the_same_warning_about_many_tables_is_printed_once() {
    let folder = Folder::new();
    let names: Vec<String> = (0..20).map(|number| format!("{number:02}.jsonl")).collect();
    for (number, name) in names.iter().enumerate() {
        folder.write(name, format!("{{\"url\":\"https://{}/robots.txt\",\"status\":404}}\n", host(number)));
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let run = folder.run(&[&["compile", "-o", "set"], &names[..]].concat());
    let run = run.says(0, &["00.jsonl and 19 more inputs: no capture has a time"]);
    assert_eq!(run.stderr.matches("no capture has a time").count(), 1, "{run:?}");
}

#[cfg(unix)]
#[test]
fn a_killed_run_with_partitions_and_parts_resumes_to_the_same_bytes() {
    use std::process::Stdio;
    use std::time::Instant;

    let folder = partitions();
    folder.write("data/crawl=2026-02/subset=warc/part-07.gz", gz(b"http://a.example/private\n"));
    let args = [&CLASSIFY[..], &["out/", "data", "--resume", "--rows-per-file", "90", "--format", "parquet"]].concat();
    let start = Instant::now();
    folder.run(&args).says(0, &["files written 115\n"]);
    let whole = start.elapsed();
    let expected = tree(&folder.path("out"));
    let mut partial = 0;
    for moment in [3, 7] {
        fs::remove_dir_all(folder.path("out")).unwrap();
        let mut child = folder.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(whole / 10 * moment);
        let _ = child.kill();
        child.wait().unwrap();
        let left = tree(&folder.path("out"));
        let named = left.iter().filter(|(name, _)| !name.rsplit('/').next().unwrap().starts_with('.'));
        named.for_each(|(name, bytes)| assert!(expected[name] == *bytes, "{name}"));
        partial += usize::from(!left.is_empty() && left.len() < expected.len());
        folder.run(&args).says(0, &[]);
        assert!(tree(&folder.path("out")) == expected);
    }
    println!("{partial} of 2 runs were killed before their end");
}
