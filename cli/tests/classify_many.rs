//! `classify -o DIR/`, which writes a file for each list, and `--resume`, which continues a stopped run.

use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Instant;

use crate::support;
use support::Folder;

fn folder() -> Folder {
    let folder = Folder::with_set();
    folder.write("one.txt", "http://a.example/private\nhttp://a.example/x\n");
    folder.write("two.csv", "n,url\n1,http://b.example/\n2,http://n.example/\n");
    folder.write("three.txt", "http://a.example/private\n");
    folder
}

const LISTS: [&str; 3] = ["one.txt", "two.csv", "three.txt"];

fn classify<'a>(lists: &[&'a str], options: &[&'a str]) -> Vec<&'a str> {
    [&["classify", "set"], lists, &["--agent", "bot-a", "-o", "out/"], options].concat()
}

fn text(folder: &Folder, name: &str) -> String {
    String::from_utf8(folder.read(name)).unwrap()
}

#[test]
fn every_list_gets_its_own_file() {
    let folder = folder();
    folder.run(&classify(&LISTS, &[])).says(0, &["files written 3\n", "URLs two.csv\n", "lines 2\n"]);
    for list in LISTS {
        let alone = folder.run(&["classify", "set", list, "--agent", "bot-a"]).says(0, &[]).text();
        assert_eq!(text(&folder, &format!("out/{list}.tsv")), alone, "{list}");
    }
    for (format, ending) in [("csv", "csv"), ("jsonl", "jsonl")] {
        folder.run(&classify(&["one.txt"], &["--format", format])).says(0, &["files written 1\n"]);
        assert!(folder.path(&format!("out/one.txt.{ending}")).exists());
    }
    // With `--only`, the output has the format of its list.
    folder.run(&classify(&LISTS, &["--only", "disallow"])).says(0, &[]);
    assert_eq!(text(&folder, "out/two.csv"), "n,url\n1,http://b.example/\n");
    let names = fs::read_dir(folder.path("out")).unwrap().count();
    assert_eq!(names, 2 * (3 + 2 + 3), "each file has a record, and there are no other files");
}

#[test]
fn resume_keeps_finished_files_and_writes_the_rest() {
    let folder = folder();
    folder.run(&classify(&LISTS[..2], &[])).says(0, &[]);
    folder.run(&classify(&LISTS, &[])).says(2, &["out/one.txt.tsv: exists already; --resume keeps finished files"]);
    assert!(!folder.path("out/three.txt.tsv").exists());
    let before = fs::metadata(folder.path("out/one.txt.tsv")).unwrap().modified().unwrap();
    folder.run(&classify(&LISTS, &["--resume"])).says(0, &["files written 1\n", "done before 2\n"]);
    assert_eq!(fs::metadata(folder.path("out/one.txt.tsv")).unwrap().modified().unwrap(), before);
    folder.run(&classify(&LISTS, &["--resume"])).says(0, &["files written 0\n", "done before 3\n"]);
    // The number of threads does not change a file.
    folder.run(&classify(&LISTS, &["--resume", "--threads", "1"])).says(0, &["done before 3\n"]);

    for (options, how) in [
        (&["--header"][..], "was made with other options"),
        (&["--scope", "www"], "was made with other options"),
        (&["--agent", "bot-b"], "was made with other options"),
        (&["--input-format", "list"], "was made with other options"),
    ] {
        let options = [&["--resume"], options].concat();
        folder.run(&classify(&["one.txt"], &options)).says(2, &["out/one.txt.tsv: ", how, "--force with --resume"]);
    }
    folder.write("one.txt", "http://a.example/other\n");
    let run = folder.run(&classify(&LISTS, &["--resume"]));
    run.says(2, &["out/one.txt.tsv: was made from another input, or the input has changed"]);
    let run = folder.run(&classify(&LISTS, &["--resume", "--force"]));
    run.says(0, &["one.txt.tsv: was made from another input", "files written 1\n", "done before 2\n"]);
    assert_eq!(text(&folder, "out/one.txt.tsv"), "http://a.example/other\tallow\n");

    // A file that was truncated later, one with a malformed record, and one without a record.
    let whole = folder.read("out/three.txt.tsv");
    folder.write("out/three.txt.tsv", &whole[..5]);
    folder
        .run(&classify(&LISTS, &["--resume"]))
        .says(2, &["out/three.txt.tsv: was made with other bytes than it has now"]);
    folder.write("out/three.txt.tsv", &whole);
    folder.run(&classify(&LISTS, &["--resume"])).says(0, &["done before 3\n"]);
    folder.write("out/.three.txt.tsv.made.json", "{}");
    folder
        .run(&classify(&LISTS, &["--resume"]))
        .says(2, &["out/three.txt.tsv: has a record of how it was made, which is malformed"]);
    fs::remove_file(folder.path("out/.three.txt.tsv.made.json")).unwrap();
    folder.run(&classify(&LISTS, &["--resume"])).says(2, &["out/three.txt.tsv: has no record of how it was made"]);

    // A list with mostly invalid rows changes the exit code every time.
    folder.write("junk.txt", "junk\njunk\nhttp://a.example/\n");
    folder.run(&classify(&["junk.txt"], &["--resume"])).says(1, &["files written 1\n"]);
    folder.run(&classify(&["junk.txt"], &["--resume"])).says(1, &["done before 1\n"]);
    folder
        .run(&["classify", "set", "--agent", "x", "-o", "out/"])
        .says(2, &["-o DIR/ cannot name a file after standard input"]);
    folder.write("out/a.tsv", "http://a.example/\n");
    folder.write("sub/a", "http://a.example/\n");
    let run = folder.run(&classify(&["sub/a", "out/a.tsv"], &["--force"]));
    run.says(2, &["out/a.tsv: is the input out/a.tsv"]);

    // A different set.
    folder.write("other/a.example", "user-agent: *\ndisallow: /\n");
    folder.run(&["compile", "--force", "-o", "set", "other"]).says(0, &[]);
    folder.run(&classify(&["two.csv"], &["--resume"])).says(2, &["out/two.csv.tsv: was made by another set"]);
}

#[test]
fn errors_are_reported_before_anything_is_written() {
    let folder = folder();
    folder.write("sub/one.txt", "http://a.example/\n");
    let cases: [(&[&str], &[&str], &str); 4] = [
        (&["one.txt", "sub/one.txt"], &[], "out/one.txt.tsv: would be the file for both one.txt and sub/one.txt"),
        (&["one.txt", "nowhere.txt"], &[], "nowhere.txt: No such file"),
        (&["one.txt", "sub"], &[], "out/one.txt.tsv: would be the file for both one.txt and sub/one.txt"),
        (&["one.txt", "two.csv"], &["--rejects", "r"], "--rejects: is for one list"),
    ];
    for (lists, options, message) in cases {
        folder.run(&classify(lists, options)).says(2, &[message]);
        assert!(fs::read_dir(folder.path("out")).map_or(0, Iterator::count) == 0, "{message}");
    }
    folder
        .run(&["classify", "set", "one.txt", "two.csv", "--agent", "x"])
        .says(2, &["-o DIR/, a folder that gets a file"]);
    folder.run(&["classify", "set", "one.txt", "--agent", "x", "--resume"]).says(2, &["--output <OUT>"]);
    folder.write("file", "x");
    let args = ["classify", "set", "one.txt", "--agent", "x", "-o", "file/"];
    folder.run(&args).says(2, &["file: the folder cannot be created"]);
    let args = ["classify", "set", "out/one.txt", "--agent", "x", "-o", "out/", "--only", "allow", "--force"];
    folder.write("out/one.txt", "http://a.example/\n");
    folder.run(&args).says(2, &["out/one.txt: is the input out/one.txt"]);
    assert_eq!(text(&folder, "out/one.txt"), "http://a.example/\n");
}

/// A list without a column of URLs fails after its output was opened.
#[test]
fn a_list_that_cannot_be_read_leaves_no_incomplete_file() {
    let folder = folder();
    folder.write("bad.csv", "x,y\n1,2\n3,4\n");
    for _ in 0..5 {
        folder.run(&classify(&["one.txt", "bad.csv"], &["--force"])).says(2, &["bad.csv: which column has the URLs?"]);
        let names: Vec<String> = fs::read_dir(folder.path("out"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".tmp") || name.contains("bad"))
            .collect();
        assert_eq!(names, [""; 0]);
    }
}

#[cfg(unix)]
#[test]
fn a_killed_run_resumes_with_the_remaining_files() {
    let folder = Folder::with_set();
    let names: Vec<String> = (0..8).map(|number| format!("list{number}.txt")).collect();
    let lists: Vec<&str> = names.iter().map(String::as_str).collect();
    for (number, name) in names.iter().enumerate() {
        let line = |row: usize| format!("http://{}.example/private/{number}/{row}\n", ["a", "b", "n"][row % 3]);
        folder.write(name, (0..20_000).map(line).collect::<String>());
    }
    let args = classify(&lists, &["--resume"]);
    let start = Instant::now();
    folder.run(&args).says(0, &["files written 8\n"]);
    let whole = start.elapsed();
    let expected: Vec<Vec<u8>> = names.iter().map(|name| folder.read(&format!("out/{name}.tsv"))).collect();
    let mut partial = 0;
    for moment in 1..10 {
        fs::remove_dir_all(folder.path("out")).unwrap();
        let mut child = folder.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        sleep(whole / 10 * moment);
        let _ = child.kill();
        child.wait().unwrap();
        let done = names.iter().filter(|name| folder.path(&format!("out/{name}.tsv")).exists()).count();
        partial += usize::from(done > 0 && done < names.len());
        for (name, expected) in names.iter().zip(&expected) {
            let file = format!("out/{name}.tsv");
            assert!(!folder.path(&file).exists() || folder.read(&file) == *expected, "{file}");
        }
        folder.run(&args).says(0, &[&format!("files written {}\n", names.len() - done)]);
        for (name, expected) in names.iter().zip(&expected) {
            assert!(folder.read(&format!("out/{name}.tsv")) == *expected);
        }
        let entries = fs::read_dir(folder.path("out")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        // Records are hidden too.
        let unfinished = names.filter(|name| name.starts_with('.') && !name.ends_with(".made.json"));
        assert_eq!(unfinished.count(), 0);
    }
    println!("{partial} of 9 runs were killed between two files");
}
