//! Inputs designed to exhaust memory, to hang the command or to lose data: each ends with an answer or a message, in
//! bounded memory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

use support::{Folder, Run, binary, finish, gz};

/// Address space in KiB that suffices for every input here.
const ENOUGH_KIB: u32 = 400_000;

/// Additional address space in KiB that jemalloc reserves for the same work, compared with the system's allocator.
const RESERVED_KIB: u32 = if cfg!(feature = "jemalloc") { 40_000 } else { 0 };

/// A robots.txt that disallows everything.
const CLOSED: &str = "User-agent: *\nDisallow: /\n";

/// Runs the command with a memory limit and a timeout.
fn run_in(folder: &Folder, kib: u32, args: &[&str]) -> Run {
    let mut bash = Command::new("bash");
    bash.args(["-c", "ulimit -v $0; exec timeout 60 \"$@\"", &kib.to_string()]).arg(binary()).args(args);
    // The runtime may hang when it prints a backtrace without memory.
    bash.current_dir(folder.path(".")).stdin(Stdio::null()).env_remove("RUST_BACKTRACE");
    // glibc's allocator reserves 64 MiB of address space for each thread while it can, and else shares one heap. With a
    // limit near the sum, success would depend on the order of the allocations.
    bash.env("MALLOC_ARENA_MAX", "1");
    // By default, jemalloc keeps the address space of freed memory, which the limit counts although it is not in use.
    bash.env("_RJEM_MALLOC_CONF", "retain:false,dirty_decay_ms:0,muzzy_decay_ms:0");
    finish(bash)
}

/// Runs the command with a timeout.
fn run_briefly(folder: &Folder, args: &[&str]) -> Run {
    run_in(folder, 8_000_000, args)
}

/// Returns a header in the format of GNU tar.
fn header(kind: u8, name: &str, size: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
    header.as_mut_bytes()[156] = kind;
    header.set_size(size);
    header.set_mode(0o644);
    header.set_cksum();
    header
}

/// Returns an archive member.
fn member(kind: u8, name: &str, body: &str) -> Vec<u8> {
    let mut bytes = header(kind, name, body.len() as u64).as_bytes().to_vec();
    bytes.extend_from_slice(body.as_bytes());
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

/// Compresses `first`, `mib` MiB of a repeated block, and `last`.
fn packed(first: &[u8], block: &[u8], mib: usize, last: &[u8]) -> Vec<u8> {
    // Concatenated gzip members are a valid file, and take no time to make.
    let repeated = gz(&block.repeat((1 << 20) / block.len()));
    [gz(first), repeated.repeat(mib), gz(last)].concat()
}

#[test]
fn long_archive_headers_take_little_memory() {
    const MIB: usize = 512;
    let folder = Folder::new();
    let closed = member(b'0', "b.example", CLOSED);
    let last = [member(b'0', "a.example", CLOSED), closed.clone()].concat();
    let size = (MIB << 20) as u64;
    let name = packed(header(b'L', "././@LongLink", size).as_bytes(), b"a", MIB, &last);
    let pax = packed(header(b'x', "PaxHeaders/x", size).as_bytes(), b"a", MIB, &last);
    let global = packed(header(b'g', "PaxHeaders/g", size).as_bytes(), b"a", MIB, &last);
    let mut extension = [0; 512];
    extension[504] = 1;
    let mut sparse = header(b'S', "a.example", 0);
    sparse.as_mut_bytes()[482] = 1;
    sparse.set_cksum();
    let sparse = packed(sparse.as_bytes(), &extension, MIB, &[vec![0; 512], closed].concat());
    for (input, bytes, code, says) in [
        ("name.tgz", name, 1, "name.tgz: a.example: malformed member of an archive: its name is longer than the limit"),
        ("pax.tgz", pax, 1, "pax.tgz: a.example: malformed member of an archive: its extended header is longer than"),
        ("global.tgz", global, 0, "files read 2"),
        ("sparse.tgz", sparse, 1, "sparse.tgz: a.example: sparse file in an archive: make the archive without"),
    ] {
        folder.write(input, bytes);
        let run = run_in(&folder, ENOUGH_KIB, &["compile", "--threads", "1", "--force", "-o", "set", input]);
        run.says(code, &[says]);
        let expected = if code == 1 { "unknown" } else { "disallow" };
        assert_eq!(folder.verdicts("set", &["http://a.example/", "http://b.example/"]), [expected, "disallow"]);
    }
}

#[test]
fn members_that_are_not_plain_files_are_reported() {
    let folder = Folder::new();
    let archive = [
        member(b'0', "a.example", CLOSED),
        member(b'1', "b.example", ""),
        member(b'2', "c.example", ""),
        member(b'3', "d.example", ""),
    ];
    folder.write("links.tar", archive.concat());
    folder.run(&["compile", "-o", "set", "links.tar"]).says(
        1,
        &[
            "links.tar: b.example: hard link in an archive: make the archive with --hard-dereference",
            "left out: not a regular file  2\n",
            "files read  1\n",
        ],
    );
    folder.write("two.tar", [&archive[0][..], &[0; 1024], &archive[0]].concat());
    let says = "two.tar: data after the end of an archive: 1,024 bytes are not read, from byte 2,048 on, where another \
                archive begins; give archives that were put together end to end one by one";
    folder.run(&["compile", "-o", "two", "two.tar"]).says(2, &[says]);
    folder.write("page.tar", [&archive[0][..], &[0; 1024], b"<html>"].concat());
    let says = "data after the end of an archive: 6 bytes are not read, from byte 2,048 on, where \"<html>\" begins\n";
    folder.run(&["compile", "-o", "page", "page.tar"]).says(2, &[says]);
    // A compressed archive is checked to its end, beyond its last member.
    let mut damaged = gz(&[&archive[0][..], &[0; 10240]].concat());
    let checksum = damaged.len() - 8;
    damaged[checksum] ^= 1;
    folder.write("damaged.tgz", damaged);
    folder.run(&["compile", "-o", "x", "damaged.tgz"]).says(2, &["damaged.tgz: the archive cannot be read"]);
    for (name, mut bytes) in [("size.tar", archive[0].clone()), ("cut.tar", archive[0].clone())] {
        if name == "size.tar" {
            bytes[..512].copy_from_slice(header(b'0', "a.example", 1 << 40).as_bytes());
        } else {
            bytes.truncate(520);
        }
        folder.write(name, bytes);
        folder.run(&["compile", "-o", "x", name]).says(2, &[name, "cannot be read: it is cut: it ends at byte"]);
    }
}

#[test]
fn long_capture_fields_take_little_memory() {
    let folder = Folder::new();
    let url = r#"{"url":"http://a.example/robots.txt","status":404"#;
    let lines = [
        ("type", format!(r#"{url},"headers":{{"content-type":""#), "x", "\"}}\n", "a header field has"),
        ("url", r#"{"status":404,"url":"http://a.example/"#.to_owned(), "x", "\"}\n", "no valid url: more than"),
        ("status", format!(r#"{url},"error":"","redirects":1,"status":["#), "0,", "0]}\n", "duplicate field `status`"),
        ("code", r#"{"url":"http://a.example/robots.txt","status":["#.to_owned(), "0,", "0]}\n", "invalid type"),
        ("time", format!(r#"{url},"time":["#), "[]", "]}\n", "invalid type: sequence, expected a time"),
        ("times", format!(r#"{url},"time":""#), "x", "\"}\n", "a long text"),
        ("values", format!(r#"{url},"headers":{{"content-type":["#), "\"\",", "\"\"]}}\n", "a header field has"),
        ("names", format!(r#"{url},"headers":{{""#), "x", "\":\"\",\"age\":[[{}]]}}\n", ""),
        ("words", format!(r#"{url},"truncated":""#), "x", "\"}\n", "for truncated, found \"a long text\""),
        ("text", "\"".to_owned(), "x", "\"\n", "expected an object"),
        ("redirects", format!(r#"{url},"redirects":["#), "\"\",", "5]}\n", "invalid type: integer `5`"),
        ("error", format!(r#"{url},"error":""#), "x", "\"}\n", ""),
        ("more", format!(r#"{url},"more":["#), "[", "\n", "EOF"),
    ];
    let closed = r#"{"url":"http://b.example/robots.txt","body":"User-agent: *\nDisallow: /"}"#.to_owned() + "\n";
    for (name, first, block, last, says) in lines {
        // Sixteen lines of 7.5 MiB each. One fits in memory, but not all of them.
        let block = block.repeat(12 / block.len());
        let line = packed(first.as_bytes(), &block.repeat(1 << 14).as_bytes()[..3 << 16], 8, last.as_bytes());
        let input = format!("{name}.jsonl.gz");
        folder.write(&input, [gz(closed.as_bytes()), line.repeat(16)].concat());
        let run =
            run_in(&folder, 130_000 + RESERVED_KIB, &["compile", "--threads", "1", "--force", "-o", "set", &input]);
        let run = run.says(i32::from(!says.is_empty()), &[says]);
        assert!(run.stderr.len() < 20_000, "{name}: {} bytes of messages", run.stderr.len());
        assert_eq!(folder.verdicts("set", &["http://b.example/"]), ["disallow"], "{name}");
    }
}

#[test]
fn header_fields_bodies_and_urls_over_the_limit_are_rejected() {
    let folder = Folder::new();
    // The command's MAX_HEADER_BYTES.
    const HEADER: usize = 64 << 10;
    const URL: usize = reptile::limits::MAX_URL_BYTES;
    for (len, code) in [(HEADER - 1, 0), (HEADER, 0), (HEADER + 1, 1)] {
        let line = |values: String| {
            format!(
                "{{\"url\":\"http://a.example/robots.txt\",\"body\":\"\",\"headers\":{{\"Content-Type\":{values}}}}}\n"
            )
        };
        // The values are joined by a comma and a space.
        let joined = format!("[\"{}\",\"text/html\"]", "x".repeat(len - 11));
        let good = line("\"\"".into()).replace("a.e", "b.e");
        folder.write("c.jsonl", [line(format!("\"{}\"", "x".repeat(len))), line(joined), good].concat());
        let run = folder.run(&["compile", "--force", "-o", "set", "c.jsonl"]);
        let says = if code == 0 { "files read 3" } else { "c.jsonl:2: not a valid capture: a header field has 65537" };
        run.says(code, &[says]);
    }
    let limit = reptile::limits::MAX_BODY_BYTES;
    for (len, code) in [(limit - 1, 0), (limit, 0), (limit + 1, 1)] {
        let body = "\\n".repeat(len - 1);
        let line =
            |host: &str, body: &str| format!("{{\"url\":\"http://{host}.example/robots.txt\",\"body\":\"{body}x\"}}\n");
        folder.write("c.jsonl", line("a", &body) + &line("b", ""));
        let run = folder.run(&["compile", "--force", "-o", "set", "c.jsonl"]);
        let says = if code == 0 { "files read 2" } else { "c.jsonl:1: too large: the limit is 16777216 bytes" };
        run.says(code, &[says]);
    }
    for (len, says) in [
        (URL - 1, "not the url of a robots.txt"),
        (URL, "not the url of a robots.txt"),
        (URL + 1, "no valid url: more than 65536 bytes"),
    ] {
        let start = "http://a.example/";
        let good = "{\"url\":\"http://b.example/robots.txt\",\"body\":\"\"}\n";
        let url = format!("{start}{}", "x".repeat(len - start.len()));
        folder.write("c.jsonl", format!("{good}{{\"url\":\"{url}\",\"body\":\"\"}}\n"));
        let run = folder.run(&["compile", "--force", "-o", "set", "c.jsonl"]).says(1, &["c.jsonl:2: ", says]);
        assert!(run.stderr.len() < 2000);
    }
}

#[test]
fn out_of_memory_messages_name_the_input_and_its_size() {
    let folder = Folder::new();
    let line = r#"{"url":"http://a.example/robots.txt","body":""#;
    folder.write("c.jsonl.gz", packed(line.as_bytes(), b"x", 90, b"\"}\n"));
    let run = run_in(&folder, 130_000 + RESERVED_KIB, &["compile", "--threads", "1", "-o", "set", "c.jsonl.gz"]);
    run.says(2, &["c.jsonl.gz:1: there is not enough memory for its ", " bytes"]);
    folder.write("robots.txt", vec![b'\n'; 16_000_000]);
    for args in [&["test", "robots.txt", "--agent", "a", "/"][..], &["lint", "robots.txt", "--dialect", "google-lib"]] {
        // With less memory, not even the program can be loaded.
        for kib in [60_000, 80_000, 160_000, 280_000].map(|kib| kib + RESERVED_KIB) {
            let run = run_in(&folder, kib, args);
            run.says(2, &["robots.txt: there is not enough memory for its ", " bytes"]);
        }
        let run = run_in(&folder, 1_000_000, args);
        assert!(matches!(run.code, Some(0 | 1)), "{args:?}: {:?}", run.stderr);
    }
}

#[test]
fn sets_from_pipes_are_refused_but_robots_txt_is_read() {
    let folder = Folder::with_set();
    assert!(Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap().success());
    for args in [
        &["verify", "pipe"][..],
        &["inspect", "pipe"],
        &["classify", "pipe", "--agent", "a"],
        &["classify", "/dev/null", "--agent", "a"],
        &["verify", "/dev/zero"],
    ] {
        run_briefly(&folder, args).says(2, &["is a pipe or a device; a compiled set must be a regular file"]);
    }
    run_briefly(&folder, &["verify", "robots"]).says(2, &["robots: is a folder, not a compiled set"]);
    let bash = |script: &str| {
        let mut bash = Command::new("bash");
        bash.args(["-c", &format!("exec timeout 20 {script}"), &binary().display().to_string()]);
        bash.current_dir(folder.path("."));
        finish(bash)
    };
    bash("$0 fields <(cat set)").says(2, &["is a compiled set, but not a regular file; save it"]);
    for script in ["$0 test <(cat set) --agent a /", "$0 lint - < set", "$0 test set --agent a /"] {
        bash(script).says(2, &["is a compiled set, not a robots.txt"]);
    }
    // A robots.txt from a pipe is complete: detection does not consume its first bytes.
    bash("$0 fields <(printf 'Sitemap: http://h/s')").says(0, &[]);
    assert_eq!(bash("$0 fields <(printf 'Sitemap: http://h/s')").text(), "-\t1\tsitemap\tcounts\t-\thttp://h/s\n");
    let text = bash("$0 classify set <(sleep 0.2; echo http://a.example/private) --agent bot-a").says(0, &[]).text();
    assert_eq!(text, "http://a.example/private\tdisallow\n");
    bash("$0 compile -o one --host a.example <(cat robots/a.example)").says(0, &["files read 1"]);
}

#[test]
fn an_input_is_never_replaced_by_its_output() {
    let folder = Folder::new();
    folder.robots();
    let line = r#"{"url":"http://b.example/robots.txt","status":404}"#;
    folder.write("c.jsonl", line);
    folder.write("x.made.json", line);
    std::fs::hard_link(folder.path("c.jsonl"), folder.path("hard")).unwrap();
    symlink("c.jsonl", folder.path("soft")).unwrap();
    symlink("robots", folder.path("link")).unwrap();
    let names = folder.names();
    for output in ["c.jsonl", "./c.jsonl", "hard", "soft", "robots/../c.jsonl"] {
        let run = folder.run(&["compile", "--force", "-o", output, "robots", "c.jsonl"]);
        run.says(2, &[output, ": is the input c.jsonl; choose another name"]);
    }
    folder
        .run(&["compile", "--force", "-o", "x", "--host", "a", "x.made.json"])
        .says(2, &["x.made.json: is the input"]);
    for (output, input) in
        [("robots/web", "robots"), ("link/web", "robots"), ("web", "."), ("robots/a.example", "link")]
    {
        let run = folder.run(&["compile", "--force", "-o", output, input]);
        run.says(2, &[output, "where a later run would read it as input; choose another folder"]);
    }
    assert_eq!(folder.read("c.jsonl"), line.as_bytes());
    assert_eq!(folder.names(), names);
    // Hidden files are not read, so one of them may be the output.
    folder.run(&["compile", "-o", "robots/.web", "robots"]).says(0, &[]);
    folder.run(&["compile", "-o", "set", "robots"]).says(0, &[]);
    folder.write("urls", "http://a.example/\n");
    for output in ["urls", "set"] {
        let args = ["classify", "set", "urls", "--agent", "a", "--force", "-o", output];
        folder.run(&args).says(2, &[output, ": is the input "]);
    }
    assert_eq!(folder.read("urls"), b"http://a.example/\n");
}

#[test]
fn links_to_files_are_followed_and_cycles_are_not() {
    let folder = Folder::new();
    folder.robots();
    folder.write("outside", CLOSED);
    symlink(".", folder.path("robots/circle.example")).unwrap();
    symlink("..", folder.path("robots/up.example")).unwrap();
    symlink("self.example", folder.path("robots/self.example")).unwrap();
    symlink("../outside", folder.path("robots/away.example")).unwrap();
    run_briefly(&folder, &["compile", "-o", "set", "robots"])
        .says(2, &["robots/self.example: Too many levels of symbolic links"]);
    run_briefly(&folder, &["compile", "--keep-going", "-o", "set", "robots"]).says(
        1,
        &[
            "robots/self.example: unreadable: Too many levels of symbolic links",
            "left out: not a regular file  2\n",
            "files read  4\n",
        ],
    );
    assert_eq!(folder.verdicts("set", &["http://away.example/"]), ["disallow"]);
}

#[test]
fn files_without_permission_are_reported() {
    let folder = Folder::new();
    folder.robots();
    folder.write("robots/closed.example", CLOSED);
    folder.write("robots/folder.example/robots.txt", CLOSED);
    for (name, mode) in [("robots/closed.example", 0), ("robots/folder.example", 0), (".", 0o777)] {
        std::fs::set_permissions(folder.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    }
    // Root may read everything, so the command runs as another user.
    let is_root = std::fs::read(folder.path("robots/closed.example")).is_ok();
    let program = folder.path("reptile");
    std::fs::copy(binary(), &program).unwrap();
    let run = |option: &[&str]| {
        let mut command = Command::new(if is_root { "setpriv" } else { "env" });
        if is_root {
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        }
        command.arg(&program).args(["compile", "-o", "set", "robots"]).args(option).current_dir(folder.path("."));
        finish(command)
    };
    run(&[]).says(2, &["robots/closed.example: Permission denied"]);
    let run = run(&["--keep-going"]);
    std::fs::set_permissions(folder.path("robots/folder.example"), std::fs::Permissions::from_mode(0o755)).unwrap();
    run.says(
        1,
        &[
            "robots/closed.example: unreadable: Permission denied",
            "robots/folder.example: unreadable: Permission denied",
            "skipped: unreadable  2\n",
            "files read  3\n",
        ],
    );
}

#[test]
fn slow_input_and_stop_signals_lose_nothing() {
    let folder = Folder::with_set();
    let mut command = folder.command(&["classify", "set", "--agent", "bot-a"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let id = child.id().to_string();
    let mut expected = String::new();
    for number in 0..20 {
        let url = format!("http://a.example/private/{number}");
        expected.push_str(&format!("{url}\tdisallow\n"));
        let line = format!("{url}\n");
        let (first, second) = line.split_at(number % line.len());
        pipe.write_all(first.as_bytes()).unwrap();
        for signal in ["-STOP", "-CONT"] {
            assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        }
        pipe.write_all(second.as_bytes()).unwrap();
    }
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn thousands_of_files_and_members_are_read() {
    const FILES: usize = 5000;
    let folder = Folder::new();
    let mut archive = Vec::new();
    for number in 0..FILES {
        let name = format!("h{number}.example");
        folder.write(&format!("robots/{name}"), CLOSED);
        archive.extend(member(b'0', &name, CLOSED));
    }
    folder.write("robots.tar", archive);
    for input in ["robots", "robots.tar"] {
        let run = run_in(&folder, ENOUGH_KIB, &["compile", "--threads", "1", "--force", "-o", "set", input]);
        run.says(0, &["files read  5,000\n", "origins  10,000\n", "policies  1\n"]);
    }
}
