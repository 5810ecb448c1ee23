//! Output folders: links in them, and programs that read them as one table. Also folders that an index reads from.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::process::Command;

use crate::support::Folder;
use crate::warc::answer;

/// Links in an output folder: the link's name, its target, and the path that the message names.
#[cfg(unix)]
const LINKS: [(&str, &str, &str); 7] = [
    ("out/one.txt.tsv", "victim", "out/one.txt.tsv"),
    ("out/.one.txt.tsv.made.json", "victim", "out/.one.txt.tsv.made.json"),
    ("out/sub", "elsewhere", "out/sub"),
    ("out/sub/two.txt.tsv", "../victim", "out/sub/two.txt.tsv"),
    ("out/one.txt-00000.tsv", "victim", "out/one.txt-00000.tsv"),
    ("out/one.txt-00003.tsv", "victim", "out/one.txt-00003.tsv"),
    ("out/.one.txt-00000.tsv.made.json", "victim", "out/.one.txt-00000.tsv.made.json"),
];

#[cfg(unix)]
#[test]
fn verdicts_are_not_written_through_links() {
    for (link, target, named) in LINKS {
        let folder = Folder::with_set();
        folder.write("in/one.txt", "http://a.example/private\n");
        folder.write("in/sub/two.txt", "http://a.example/private\n");
        folder.write("victim", "precious");
        std::fs::create_dir_all(folder.path("elsewhere")).unwrap();
        std::fs::create_dir_all(folder.path(link).parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(folder.path(target.trim_start_matches("../")), folder.path(link)).unwrap();
        let parts = if link.contains("-0000") { &["--rows-per-file", "9"][..] } else { &[] };
        for options in [&["--force"][..], &["--resume"], &["--resume", "--force"]] {
            let args = ["classify", "set", "in", "--agent", "bot-a", "-o", "out/"];
            let run = folder.run(&[&args[..], options, parts].concat());
            run.says(2, &[named, "is a link in the output folder; --follow-links writes to its target"]);
            assert_eq!(folder.read("victim"), b"precious", "{link}");
            assert_eq!(std::fs::read_dir(folder.path("elsewhere")).unwrap().count(), 0, "{link}");
            assert!(!folder.path("out/in").exists());
        }
        let args = ["classify", "set", "in", "--agent", "bot-a", "-o", "out/", "--force", "--follow-links"];
        folder.run(&[&args[..], parts].concat()).says(0, &["files written 2\n"]);
    }
    let folder = Folder::with_set();
    folder.write("one.txt", "http://a.example/private\n");
    std::fs::create_dir(folder.path("real")).unwrap();
    std::os::unix::fs::symlink(folder.path("real"), folder.path("out")).unwrap();
    // The operator names the folder itself.
    folder.run(&["classify", "set", "one.txt", "--agent", "bot-a", "-o", "out/"]).says(0, &["files written 1\n"]);
    folder.run(&["classify", "set", "one.txt", "--agent", "bot-a", "--follow-links"]).says(2, &["--output <OUT>"]);
}

#[cfg(unix)]
#[test]
fn archives_are_not_written_through_links() {
    for (link, target, named) in [
        ("out/a.warc", "victim", "out/a.warc"),
        ("out/.a.warc.made.json", "victim", "out/.a.warc.made.json"),
        ("out/sub", "elsewhere", "out/sub"),
        ("out/sub/b.warc", "victim", "out/sub/b.warc"),
    ] {
        let folder = Folder::with_set();
        for name in ["in/a.warc", "in/sub/b.warc"] {
            folder.write(name, answer("http://b.example/page", "HTTP/1.1 200 OK", "", b"page"));
        }
        folder.write("victim", "precious");
        std::fs::create_dir_all(folder.path("elsewhere")).unwrap();
        std::fs::create_dir_all(folder.path(link).parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(folder.path(target), folder.path(link)).unwrap();
        let args = ["filter", "in", "--set", "set", "--agent", "bot-a", "-o", "out/", "--force"];
        folder.run(&args).says(2, &[named, "is a link in the output folder"]);
        assert_eq!(folder.read("victim"), b"precious", "{link}");
        folder.run(&[&args[..], &["--follow-links"]].concat()).says(0, &["records 2\n"]);
    }
    let folder = Folder::with_set();
    folder.write("a.warc", answer("http://b.example/page", "HTTP/1.1 200 OK", "", b"page"));
    folder
        .run(&["filter", "a.warc", "--set", "set", "--agent", "bot-a", "-o", "b.warc", "--follow-links"])
        .says(2, &["--follow-links requires -o with a folder"]);
}

/// Reads a folder as one table with each program, and prints the row counts.
const READ: &str = "
import sys
import duckdb, pandas, polars, pyarrow.dataset, pyarrow.parquet
folder = sys.argv[1]
print(pyarrow.dataset.dataset(folder, format='parquet', partitioning='hive').count_rows())
print(pyarrow.parquet.read_table(folder).num_rows)
print(len(pandas.read_parquet(folder)))
print(polars.scan_parquet(folder, hidden_file_prefix='.').collect().height)
print(polars.scan_parquet(folder + '/**/*.parquet').collect().height)
print(duckdb.sql(f\"select count(*) from '{folder}/**/*.parquet'\").fetchall()[0][0])
try:
    from pyspark.sql import SparkSession
except ImportError:
    sys.exit()
print(SparkSession.builder.master('local[1]').getOrCreate().read.parquet(folder).count())
";

/// The records in a folder do not disturb readers. Spark is asked if it is installed.
#[test]
#[ignore = "needs Python with duckdb, pandas, polars and pyarrow"]
fn query_engines_read_output_folders() {
    let folder = Folder::with_set();
    for name in ["in/day=1/one.txt", "in/day=2/one.txt"] {
        folder.write(name, "http://a.example/private\nhttp://a.example/\n");
    }
    let args = ["classify", "set", "in", "--agent", "bot-a", "-o", "out/", "--format", "parquet"];
    folder.run(&args).says(0, &["files written 2\n"]);
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let run = Command::new(python).args(["-c", READ]).arg(folder.path("out")).output().unwrap();
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    let counts: Vec<&str> = text.lines().collect();
    assert!(run.status.success() && counts.len() >= 6, "{text}{}", String::from_utf8_lossy(&run.stderr));
    assert!(counts.iter().all(|count| *count == "4"), "{text}");
}
