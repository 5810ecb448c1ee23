//! `reptile compile` and `verify`, end to end: every kind of input, invalid inputs, and leftover files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;
use support::{Folder, binary, finish, gz};

#[test]
fn a_folder_gives_hosts_and_ports() {
    let folder = Folder::new();
    folder.robots();
    folder.write("robots/.hidden", "User-agent: *\nDisallow: /\n");
    folder.write("robots/.git/config", "");
    let run = folder.run(&["compile", "-o", "set", "robots"]);
    run.says(0, &["files read", "origins  6\n", "left out: hidden  2\n", "policies  3\n"]);
    let urls = [
        "http://a.example/private/x",
        "https://a.example/private/open",
        "http://A.EXAMPLE:80/private",
        "http://a.example:81/",
        "http://b.example/",
        "https://c.example:8080/",
        "http://c.example/",
        "ftp://a.example/",
        "http://hidden/",
    ];
    let expected = ["disallow", "allow", "disallow", "unknown", "disallow", "allow", "unknown", "unknown", "unknown"];
    assert_eq!(folder.verdicts("set", &urls), expected);
    folder.run(&["verify", "set"]).says(0, &[]);
    let text = folder.run(&["verify", "set"]).text();
    assert_eq!(text, format!("set: valid, 6 origins, 4 rulesets, {} bytes\n", with_comma(folder.read("set").len())));
    assert_eq!(folder.names(), ["robots", "set", "set.made.json"]);
}

fn with_comma(number: usize) -> String {
    if number < 1000 { number.to_string() } else { format!("{},{:03}", number / 1000, number % 1000) }
}

/// A set is not replaced by one with less than a tenth of its origins, except with `--force=shrink`.
#[test]
fn a_set_is_not_replaced_by_a_much_smaller_one() {
    let folder = Folder::new();
    let make = |folder_name: &str, origins: usize| {
        for number in 0..origins {
            folder.write(&format!("{folder_name}/h{number}.example"), "");
        }
    };
    make("many", 30);
    let compile = |input: &str, more: &[&str]| {
        folder.run(&[&["compile", "--scheme", "http", "-o", "set", input][..], more].concat())
    };
    for (origins, is_kept) in [(2, false), (3, true), (4, true)] {
        make(&origins.to_string(), origins);
        compile("many", &["--force=shrink"]).says(0, &[]);
        let before = (folder.read("set"), folder.read("set.made.json"));
        let run = compile(&origins.to_string(), &["--force"]);
        if is_kept {
            run.says(0, &[]);
        } else {
            run.says(2, &["set: has 30 origins, and the new set would have 2: refusing to replace it"]);
            assert_eq!((folder.read("set"), folder.read("set.made.json")), before);
        }
    }
    assert_eq!(folder.names(), ["2", "3", "4", "many", "set", "set.made.json"]);
    compile("many", &["--force=little"]).says(2, &["[possible values: alike, shrink]"]);
    // Files that are not valid sets need only `--force`.
    for bytes in [&b"precious"[..], b"\x89RPTL", b""] {
        folder.write("set", bytes);
        compile("2", &["--force"]).says(0, &[]);
    }
}

#[test]
fn schemes_can_be_chosen() {
    let folder = Folder::new();
    folder.robots();
    folder.run(&["compile", "-o", "set", "robots", "--scheme", "ftp", "--scheme", "https"]).says(0, &[]);
    let urls = ["http://b.example/", "https://b.example/", "ftp://b.example/", "ftp://c.example:8080/"];
    assert_eq!(folder.verdicts("set", &urls), ["unknown", "disallow", "disallow", "allow"]);
}

#[test]
fn thread_count_does_not_change_the_set() {
    let folder = Folder::new();
    for number in 0..300 {
        folder.write(&format!("robots/h{number}.example"), format!("User-agent: *\nDisallow: /{}\n", number % 50));
    }
    for (set, threads, strategy) in [("s1", "1", "factored"), ("s2", "4", "factored"), ("s3", "4", "fallback")] {
        let args = ["compile", "-o", set, "robots", "--threads", threads, "--strategy", strategy];
        folder.run(&args).says(0, &["origins  600\n", "distinct rulesets  50\n"]);
    }
    assert_eq!(folder.read("s1"), folder.read("s2"));
    let urls: Vec<String> = (0..300).map(|number| format!("http://h{number}.example/7")).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    assert_eq!(folder.verdicts("s1", &urls), folder.verdicts("s3", &urls));
    assert_eq!(folder.verdicts("s1", &urls).iter().filter(|&verdict| verdict == "disallow").count(), 6);
}

fn tar(files: &[(&str, &str)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, body) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(body.len() as u64);
        header.set_mode(0o644);
        // Written directly, because the crate refuses such names.
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        builder.append(&header, body.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap()
}

#[test]
fn archives_are_read_like_folders() {
    let folder = Folder::new();
    let archive = tar(&[
        ("./b.example/robots.txt", "User-agent: *\nDisallow: /\n"),
        ("./._b.example", "Disallow: /"),
        ("c.example:81", "User-agent: *\nDisallow: /c\n"),
    ]);
    folder.write("r.tar", &archive);
    folder.write("r.tar.gz", gz(&archive));
    let urls = ["http://b.example/", "https://c.example:81/c", "https://c.example/c"];
    for input in ["r.tar", "r.tar.gz"] {
        folder.run(&["compile", "--force", "-o", "set", input]).says(0, &["files read  2\n", "hidden"]);
        assert_eq!(folder.verdicts("set", &urls), ["disallow", "disallow", "unknown"]);
        assert_eq!(folder.verdicts(input, &urls), ["disallow", "disallow", "unknown"]);
    }
    // A truncated archive is refused.
    let packed = gz(&archive);
    folder.write("cut.tar.gz", &packed[..packed.len() / 2]);
    folder.run(&["compile", "-o", "cut", "cut.tar.gz"]).says(2, &["its gzip data cannot be decompressed"]);
    folder.write("no.tgz", "this is not an archive");
    folder
        .run(&["compile", "-o", "cut", "no.tgz"])
        .says(2, &["no.tgz: is text, but neither a robots.txt nor captures"]);
    assert!(!folder.names().contains(&"cut".to_owned()));
}

/// Every command gives a host the same meaning, however it is written.
#[test]
fn hosts_beyond_ascii_are_known_in_every_notation() {
    let folder = Folder::new();
    folder.write("robots/www.exämple.com", "User-agent: *\nDisallow: /x\n");
    folder.write("robots/[0::1]", "User-agent: *\nDisallow: /x\n");
    folder.write(
        "c.jsonl",
        "{\"url\": \"http://b\u{fc}cher.example/robots.txt\", \"body\": \"User-agent: *\\nDisallow: /x\\n\"}",
    );
    let names = ["www.exämple.com", "WWW.EXÄMPLE.COM", "www.xn--exmple-cua.com", "www.ex%C3%A4mple.com.", "[::1]"];
    folder.run(&["compile", "-o", "set", "robots", "c.jsonl"]).says(0, &["origins  5\n"]);
    let urls: Vec<String> = names.iter().map(|name| format!("http://u@{name}:80/x")).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).chain(["http://B%C3%9Ccher.example/x"]).collect();
    for set in ["set", "robots"] {
        let found = folder.verdicts(set, &urls);
        assert_eq!(found[..5], ["disallow"; 5], "{set}");
        assert_eq!(found[5] == "disallow", set == "set");
    }
    for name in names {
        folder.write("cases.tsv", format!("{name}\tany-bot\t/x\tDISALLOW\t2\n"));
        folder.run(&["check", "cases.tsv", "--robots", "robots"]).says(0, &["1 checked, 0 verdict differences"]);
        let listing = folder.run(&["inspect", "set", name]).says(0, &[]).text();
        assert!(listing.contains("Disallow: /x"), "{name}");
    }
    folder.run(&["inspect", "set", "exämple.com"]).says(1, &["no robots.txt is known"]);
    folder.run(&["inspect", "set", "1.2.3.4.5"]).says(2, &["no valid host"]);
    assert_eq!(folder.verdicts("set", &["http://exämple.com/x", "http://a\u{200d}b/"]), ["unknown", "unknown"]);
}

#[test]
fn invalid_files_are_reported_and_skipped() {
    let folder = Folder::new();
    folder.write("robots/good.example", "");
    folder.write("robots/bad host", "");
    folder.write("robots/bad:port", "");
    folder.write("robots/robots.txt", "");
    let limit = reptile::limits::MAX_BODY_BYTES;
    folder.write("robots/max.example", vec![b'\n'; limit]);
    folder.write("robots/over.example", vec![b'\n'; limit + 1]);
    folder.run(&["compile", "-o", "set", "robots"]).says(
        1,
        &[
            "robots/bad host: no valid host: \"bad host\" is not a host",
            "robots/bad:port: no valid host: \"bad:port\" is not a host: port is not a number",
            "robots/robots.txt: no valid host: rename the file",
            &format!("robots/over.example: too large: {} bytes; the limit is {limit}", limit + 1),
            "skipped: no valid host  3\n",
            "skipped: too large  1\n",
            "files read  2\n",
        ],
    );
    assert_eq!(folder.verdicts("set", &["http://over.example/", "http://max.example/"]), ["unknown", "allow"]);
}

#[test]
fn unreadable_files_are_errors_or_skipped() {
    let folder = Folder::new();
    folder.write("robots/good.example", "");
    std::os::unix::fs::symlink("nowhere", folder.path("robots/link.example")).unwrap();
    folder.run(&["compile", "-o", "set", "robots"]).says(2, &["robots/link.example: No such file"]);
    assert_eq!(folder.names(), ["robots"]);
    folder.run(&["lint", "robots"]).says(2, &["robots/link.example: No such file"]);
    let args = ["compile", "--keep-going", "-o", "set", "robots"];
    folder.run(&args).says(1, &["robots/link.example: unreadable: No such file", "skipped: unreadable 1\n"]);
    folder.run(&["lint", "--keep-going", "robots"]).says(1, &["robots/link.example: unreadable: No such file"]);
}

#[test]
fn a_single_file_needs_a_host() {
    let folder = Folder::new();
    folder.write("robots.txt", "User-agent: *\nDisallow: /\n");
    folder.run(&["compile", "-o", "set", "robots.txt"]).says(2, &["robots.txt: is a single robots.txt", "--host"]);
    folder.run(&["compile", "-o", "set", "robots.txt", "--host", "a b"]).says(2, &["--host a b: no valid host"]);
    assert_eq!(folder.names(), ["robots.txt"]);
    folder.run(&["compile", "-o", "set", "robots.txt", "--host", "One.example:82"]).says(0, &[]);
    assert_eq!(folder.verdicts("set", &["https://one.example:82/", "http://one.example/"]), ["disallow", "unknown"]);
    folder.robots();
    folder.run(&["compile", "-o", "set2", "robots", "--host", "x"]).says(2, &["robots: --host requires a single"]);
    folder.run(&["compile", "-o", "set2", "set"]).says(2, &["set: is a compiled set, not a folder or archive"]);
}

#[test]
fn an_input_without_robots_txt_is_an_error() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("empty")).unwrap();
    folder.robots();
    folder.write("empty.jsonl", "");
    folder.write("empty.tar", tar(&[]));
    let not_found = |input: &str| format!("no robots.txt found in {input}");
    // An archive without members consists of zeros.
    let zeros = "empty.tar: is binary data, not a folder or archive".to_owned();
    for (input, text) in
        [("empty", not_found("empty")), ("empty.jsonl", not_found("empty.jsonl")), ("empty.tar", zeros)]
    {
        folder.run(&["compile", "-o", "set", input]).says(2, &[&text]);
        folder.run(&["compile", "-o", "set", "robots", input]).says(2, &[&text]);
    }
    folder.run(&["compile", "-o", "set", "missing"]).says(2, &["missing: No such file or directory"]);
    folder.run(&["compile", "-o", "set"]).says(2, &["INPUT"]);
    assert_eq!(folder.names(), ["empty", "empty.jsonl", "empty.tar", "robots"]);
}

#[test]
fn an_output_is_replaced_only_with_force() {
    let folder = Folder::new();
    folder.robots();
    folder.write("set", "precious");
    folder.run(&["compile", "-o", "set", "robots"]).says(2, &["set: exists already; --force replaces it"]);
    assert_eq!(folder.read("set"), b"precious");
    // A later error does not change it either.
    folder.run(&["compile", "--force", "-o", "set", "missing"]).says(2, &["missing"]);
    assert_eq!(folder.read("set"), b"precious");
    std::os::unix::fs::symlink("set", folder.path("link")).unwrap();
    folder.run(&["compile", "--force", "-o", "link", "robots"]).says(0, &[]);
    folder.run(&["verify", "set"]).says(0, &[]);
    assert!(folder.path("link").is_symlink());
    folder
        .run(&["compile", "--force", "-o", "robots", "robots"])
        .says(2, &["robots: exists and is not a regular file"]);
    folder.run(&["compile", "-o", "no/where", "robots"]).says(2, &["no/where: cannot be created: No such file"]);
    assert_eq!(folder.names(), ["link", "robots", "set", "set.made.json"]);
}

#[test]
fn a_full_disk_leaves_nothing_behind() {
    let folder = Folder::with_set();
    folder.write("old", "precious");
    assert!(folder.read("set").len() > 512);
    for (output, left) in [("new", None), ("old", Some(b"precious"))] {
        // With the signal ignored, a write beyond the limit fails as on a full disk.
        let script = "trap '' XFSZ; ulimit -f 0; exec \"$@\"";
        let mut bash = std::process::Command::new("bash");
        bash.args(["-c", script, "bash"]).arg(binary()).args(["compile", "--force", "-o", output, "robots"]);
        bash.current_dir(folder.path("."));
        finish(bash).says(2, &[&format!("{output}: cannot be written: File too large")]);
        assert_eq!(std::fs::read(folder.path(output)).ok().as_deref(), left.map(|bytes| &bytes[..]));
    }
    assert_eq!(folder.names(), ["old", "robots", "set", "set.made.json"]);
    folder
        .run(&["compile", "--force", "-o", "/dev/full", "robots"])
        .says(2, &["/dev/full: exists and is not a regular"]);
}

#[test]
fn diagnostics_are_counted() {
    let folder = Folder::new();
    folder.write("robots/a.example", "Disallow: /\nwhat\nCrawl-delay: 3\nUser-agent: *\nDisallow: /a\0\n");
    folder.run(&["compile", "-o", "set", "robots"]).says(
        0,
        &[
            "diagnostic: rule that is in no group  1\n",
            "diagnostic: line without a separator  1\n",
            "diagnostic: key that decides nothing  1\n",
            "diagnostic: NUL byte inside a line  1\n",
            "rules as written  1\n",
        ],
    );
}
