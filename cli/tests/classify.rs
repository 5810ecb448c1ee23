//! `reptile classify`, end to end: every kind of line, and every way a run can fail.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;
use std::fs::File;
use std::io::{Read, Write};
use std::process::Stdio;
use std::time::Duration;

use support::{Folder, finish, gz};

const AGENT: [&str; 2] = ["--agent", "bot-a"];

fn classify<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["classify", "set"], more, &AGENT].concat()
}

#[test]
fn every_line_gets_a_verdict() {
    let folder = Folder::with_set();
    let cases: [(&[u8], &[u8]); 14] = [
        (b"", b""),
        (b"\n", b"\tinvalid\n"),
        (b"http://a.example/private\n", b"http://a.example/private\tdisallow\n"),
        (b"http://a.example/private", b"http://a.example/private\tdisallow\n"),
        (b"http://a.example/private\r\n", b"http://a.example/private\tdisallow\n"),
        (b"http://a.example/private\r\r\n", b"http://a.example/private%0D\tdisallow\n"),
        (b"http://a.example/private\r", b"http://a.example/private%0D\tdisallow\n"),
        (b"http://a.example/x\0y\nhttp://b.example", b"http://a.example/x%00y\tinvalid\nhttp://b.example\tdisallow\n"),
        (b"http://a.example/\xFF\xFE/\n", b"http://a.example/\xFF\xFE/\tallow\n"),
        (b"http://\xFF.example/\n", b"http://\xFF.example/\tinvalid\n"),
        (b"\n\nhttps://z.example/\n\n", b"\tinvalid\n\tinvalid\nhttps://z.example/\tunknown\n\tinvalid\n"),
        // A URL and a tab in the first line would start a table.
        (b"http://a.example\nhttp://a.example/a\tb\n", b"http://a.example\tallow\nhttp://a.example/a%09b\tinvalid\n"),
        (b"mailto:a@a.example\n", b"mailto:a@a.example\tinvalid\n"),
        (b"/private\n", b"/private\tinvalid\n"),
    ];
    for (input, output) in cases {
        folder.write("urls", input);
        folder.write("urls.gz", [gz(&input[..input.len() / 2]), gz(&input[input.len() / 2..])].concat());
        for run in [
            folder.run_with(&classify(&[]), input),
            folder.run_with(&classify(&["-"]), input),
            folder.run(&classify(&["urls"])),
            folder.run(&classify(&["urls.gz"])),
            folder.run(&[&["classify", "robots", "urls"], &AGENT[..]].concat()),
        ] {
            assert_eq!(run.stdout.escape_ascii().to_string(), output.escape_ascii().to_string());
            let lines = output.iter().filter(|&&byte| byte == b'\n').count();
            let invalid = output.split(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\tinvalid")).count();
            run.says(i32::from(invalid * 2 > lines), &[&format!("lines  {lines}\n")]);
        }
    }
}

#[test]
fn each_agent_gets_its_own_columns() {
    let folder = Folder::with_set();
    let urls = "http://a.example/private\nhttp://a.example/xzy\nhttp://a.example/private/open\nhttp://n.example/\nx\n";
    let agents = ["--agent", "BOT-A", "--agent", "nobody", "--agent", "nobody-else"];
    let run = folder.run_with(&[&["classify", "set"], &agents[..]].concat(), urls.as_bytes());
    let run = run.says(
        0,
        &[
            "agent BOT-A      allow 2, disallow 1, unknown 1, invalid 1\n",
            "agent nobody     allow 2, disallow 1, unknown 1, invalid 1\n",
            "agent nobody is not named by any robots.txt in this set; the rules for * apply\n",
        ],
    );
    assert_eq!(
        run.text(),
        "http://a.example/private\tdisallow\tallow\tallow\n\
         http://a.example/xzy\tallow\tdisallow\tdisallow\n\
         http://a.example/private/open\tallow\tallow\tallow\n\
         http://n.example/\tunknown\tunknown\tunknown\n\
         x\tinvalid\tinvalid\tinvalid\n"
    );
    assert!(!run.stderr.contains("BOT-A is named by no"));
    let run = folder.run_with(&[&["classify", "set", "--explain"], &agents[..4]].concat(), urls.as_bytes());
    assert_eq!(
        run.text(),
        "http://a.example/private\tdisallow\t2\tDisallow: /private\tallow\t0\t\n\
         http://a.example/xzy\tallow\t0\t\tdisallow\t6\tDisallow: /x*y\n\
         http://a.example/private/open\tallow\t3\tAllow: /private/open\tallow\t0\t\n\
         http://n.example/\tunknown\t0\t\tunknown\t0\t\n\
         x\tinvalid\t0\t\tinvalid\t0\t\n"
    );
}

#[test]
fn agents_may_be_chains_of_names() {
    let folder = Folder::new();
    folder.write("robots/h.example", "user-agent: *\ndisallow: /\n\nuser-agent: googlebot\ndisallow: /g\n");
    let urls = b"http://h.example/x\nhttp://h.example/g\n";
    let agents = ["Googlebot-Image", "AdsBot-Google", "Google-Safety", "nobody>googlebot", "nobody>x", "nobody>x>*"];
    let agents: Vec<&str> = agents.into_iter().flat_map(|agent| ["--agent", agent]).collect();
    let ask = |dialect: &str| {
        folder.run(&["compile", "-o", dialect, "robots", "--dialect", dialect]).says(0, &[]);
        folder.run_with(&[&["classify", dialect], &agents[..]].concat(), urls)
    };
    assert_eq!(
        ask("google").says(0, &["Google-Safety obeys no robots.txt", "does not obey the rules for *"]).text(),
        "http://h.example/x\tallow\tallow\tallow\tallow\tallow\tdisallow\n\
         http://h.example/g\tdisallow\tallow\tallow\tdisallow\tallow\tdisallow\n"
    );
    // A dialect without a crawler list takes crawler names literally. A chain means the same in every dialect.
    assert_eq!(
        ask("google-lib").text(),
        "http://h.example/x\tdisallow\tdisallow\tdisallow\tallow\tallow\tdisallow\n\
         http://h.example/g\tdisallow\tdisallow\tdisallow\tdisallow\tallow\tdisallow\n"
    );
    let run = folder.run_with(&["classify", "google", "--agent", "@ai-training", "--agent", "Googlebot"], urls);
    let columns = run.says(0, &["agent GPTBot", "agent CCBot"]).text().lines().next().unwrap().split('\t').count();
    assert!(columns > 10, "{columns}");
    folder.run_with(&["classify", "google", "--agent", "@nobody"], urls).says(2, &["@nobody", "@ai-training"]);
    folder.run_with(&["classify", "google", "--agent", "a>>b"], urls).says(2, &["is not a chain"]);
    folder.run_with(&["classify", "google", "--agent", "bot/2.1"], urls).says(2, &["--agent: ", "write \"bot\""]);
}

#[test]
fn chunks_are_written_in_input_order() {
    let folder = Folder::with_set();
    let (mut input, mut output) = (String::new(), String::new());
    for number in 0..400_000 {
        let end = if number % 3 == 0 { "\r\n" } else { "\n" };
        let (path, verdict) = if number % 7 == 0 { ("private", "disallow") } else { ("public", "allow") };
        input.push_str(&format!("http://a.example/{path}/{number}{end}"));
        output.push_str(&format!("http://a.example/{path}/{number}\t{verdict}\n"));
    }
    folder.write("urls", &input);
    folder.run(&classify(&["urls", "-o", "out", "--threads", "3"])).says(0, &["lines  400,000\n"]);
    assert!(folder.read("out") == output.as_bytes());
    assert!(folder.run_with(&classify(&["--threads", "1"]), input.as_bytes()).stdout == output.as_bytes());
}

#[test]
fn lines_of_any_length_are_answered() {
    let folder = Folder::with_set();
    // Around the URL limit, the longest line that is kept whole, and the chunk size.
    for (edge, valid_up_to) in [(65_536, 65_536), (1 << 20, 0), (4 << 20, 0), (9 << 20, 0)] {
        for len in [edge - 1, edge, edge + 1] {
            let mut url = b"http://a.example/private".to_vec();
            url.resize(len, b'a');
            let verdict: &[u8] = if len <= valid_up_to { b"disallow" } else { b"invalid" };
            let ends = [&b"\n"[..], b"\r\n", b""];
            for end in if len == edge { &ends[..] } else { &ends[..1] } {
                let input = [b"x\n", &url[..], end].concat();
                let mut output = [b"x\tinvalid\n", &url[..], b"\t", verdict, b"\n"].concat();
                let found = folder.run_with(&classify(&[]), &input);
                assert!(found.stdout == output, "{len}");
                output.truncate(output.len() - 1);
                output.extend_from_slice(b"\t0\t\nhttp://b.example\tdisallow\t2\tDisallow: /\n");
                if len > valid_up_to && !end.is_empty() {
                    let input = [&input[..], b"http://b.example"].concat();
                    let found = folder.run_with(&classify(&["--explain"]), &input);
                    let output = [b"x\tinvalid\t0\t\n", &output[10..]].concat();
                    assert!(found.stdout == output, "{len}");
                }
            }
        }
    }
}

#[test]
fn a_cr_inside_a_long_line_is_kept() {
    let folder = Folder::with_set();
    let line = vec![b'\r'; 10 << 20];
    let found = folder.run_with(&classify(&[]), &[&line[..], b"\n"].concat());
    assert!(found.stdout == [&b"%0D".repeat(line.len() - 1)[..], b"\tinvalid\n"].concat());
    let found = folder.run_with(&classify(&[]), &line);
    assert!(found.stdout == [&b"%0D".repeat(line.len())[..], b"\tinvalid\n"].concat());
}

#[test]
fn memory_does_not_grow_with_line_or_list_length() {
    let folder = Folder::with_set();
    let peak = |block: &[u8], megabytes: usize, code: i32| {
        let mut child =
            folder.command(&classify(&["--threads", "2"])).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        for _ in 0..megabytes << 20 >> 16 {
            pipe.write_all(block).unwrap();
        }
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        drop(pipe);
        assert_eq!(child.wait().unwrap().code(), Some(code));
        let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap().to_owned();
        line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap()
    };
    let urls = "http://a.example/private/1234567\n".repeat(1986);
    for (block, name, code) in [(vec![b'a'; 1 << 16], "line", 1), (urls.into_bytes(), "list", 0)] {
        let kib = peak(&block, 150, code);
        assert!(kib < 100 << 10, "{kib} KiB for a long {name}");
    }
}

#[test]
fn answers_do_not_wait_for_the_end_of_the_list() {
    let folder = Folder::with_set();
    let mut child = folder.command(&classify(&[])).stdin(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let mut answer = [0; 27];
    for _ in 0..3 {
        pipe.write_all(b"http://b.example/\n").unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"http://b.example/\tdisallow\n");
    }
    drop(pipe);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let folder = Folder::with_set();
    folder.write("urls", "http://a.example/private\n".repeat(500_000));
    let mut child = folder.command(&classify(&["urls"])).spawn().unwrap();
    let mut start = [0; 100];
    child.stdout.take().unwrap().read_exact(&mut start).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap()), (Some(0), String::new()));
}

#[test]
fn a_full_disk_is_an_error() {
    let folder = Folder::with_set();
    folder.write("urls", "http://a.example/private\n");
    folder.run(&classify(&["urls", "-o", "/dev/full"])).says(2, &["/dev/full: cannot be written: No space left"]);
    let mut command = folder.command(&classify(&["urls"]));
    command.stdout(File::options().write(true).open("/dev/full").unwrap());
    finish(command).says(2, &["standard output: cannot be written: No space left"]);
    folder.run(&classify(&["urls", "-o", "/dev/null"])).says(0, &[]);
    assert_eq!(folder.names(), ["robots", "set", "set.made.json", "urls"]);
}

/// A disk that fills up during the output, and a folder that is not writable.
#[test]
fn a_failed_output_leaves_no_file() {
    let folder = Folder::with_set();
    folder.write("urls", "http://a.example/private\n".repeat(100_000));
    let mut bash = std::process::Command::new("bash");
    // With the signal ignored, a write beyond the limit of 64 KiB fails as on a full disk.
    bash.args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$@\"", "bash"]).arg(support::binary());
    bash.args(classify(&["urls", "-o", "out"])).current_dir(folder.path("."));
    finish(bash).says(2, &["out: cannot be written: File too large"]);
    folder.run(&classify(&["urls", "-o", "absent/out"])).says(2, &["absent/out: cannot be created: No such file"]);
    // No user can create a file here, not even root.
    folder.run(&classify(&["urls", "-o", "/proc/out"])).says(2, &["/proc/out: cannot be created: "]);
    assert_eq!(folder.names(), ["robots", "set", "set.made.json", "urls"]);
}

#[test]
fn outputs_are_complete_or_absent() {
    let folder = Folder::with_set();
    folder.write("urls", "http://a.example/private\n");
    folder.run(&classify(&["urls", "-o", "out"])).says(0, &[]);
    folder.write("urls", "http://b.example/\n");
    folder.run(&classify(&["urls", "-o", "out"])).says(2, &["out: exists already; --force replaces it"]);
    assert_eq!(folder.read("out"), b"http://a.example/private\tdisallow\n");
    folder.run(&classify(&["urls", "-o", "out", "--force"])).says(0, &[]);
    assert_eq!(folder.read("out"), b"http://b.example/\tdisallow\n");
    // A list that turns out to be truncated.
    let packed = gz(&b"http://a.example/private\n".repeat(1000));
    folder.write("cut.gz", &packed[..packed.len() - 9]);
    folder.run(&classify(&["cut.gz", "-o", "new"])).says(2, &["cut.gz: cannot be read"]);
    folder.write("no.gz", "http://a.example/private\n");
    // File extensions do not matter.
    assert_eq!(folder.run(&classify(&["no.gz"])).says(0, &[]).text(), "http://a.example/private\tdisallow\n");
    folder.run(&classify(&["missing", "-o", "new"])).says(2, &["missing: No such file"]);
    folder
        .run(&classify(&["robots", "-o", "new"]))
        .says(2, &["robots: is a folder; -o DIR/ writes a file for each list in it into the folder DIR"]);
    assert_eq!(folder.names(), ["cut.gz", "no.gz", "out", "robots", "set", "set.made.json", "urls"]);
}

#[test]
fn an_interrupt_leaves_nothing_behind() {
    let folder = Folder::with_set();
    for signal in ["-INT", "-TERM"] {
        let mut child = folder.command(&classify(&["-o", "out"])).stdin(Stdio::piped()).spawn().unwrap();
        let mut tries = 0;
        while folder.names().len() < 4 {
            std::thread::sleep(Duration::from_millis(10));
            tries += 1;
            assert!(tries < 1000, "no temporary file: {:?}", folder.names());
        }
        // Waiting for a child closes its standard input, and the end of input would race with the signal.
        let _open = child.stdin.take();
        let kill = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(folder.names(), ["robots", "set", "set.made.json"]);
    }
}

#[test]
fn compile_options_are_refused_for_compiled_sets() {
    let folder = Folder::with_set();
    for option in [["--dialect", "google-lib"], ["--profile", "google"]] {
        folder.run(&classify(&["-", option[0], option[1]])).says(2, &["set: is a compiled set; --dialect"]);
    }
    for (option, says) in [
        (["--host", "x"], "-: is read as a list of URLs; --host is for access logs"),
        (["--scheme", "ftp"], "[possible values: http, https]"),
    ] {
        folder.run(&classify(&["-", option[0], option[1]])).says(2, &[says]);
    }
    folder.run(&["classify", "set"]).says(2, &["--agent <TOKEN>"]);
    folder.run(&classify(&["-", "--dialect", "nonesuch"])).says(2, &["google-lib"]);
    folder.write("robots.txt", "User-agent: *\nDisallow: /\n");
    let run = folder.run_with(&["classify", "robots.txt", "--host", "h", "--agent", "x"], b"http://h/");
    assert_eq!(run.text(), "http://h/\tdisallow\n");
}

#[test]
fn invalid_files_of_an_input_change_the_exit_code() {
    let folder = Folder::with_set();
    folder.write("robots/bad host", "");
    let run = folder.run_with(&["classify", "robots", "--agent", "x"], b"http://b.example/\n");
    assert_eq!(run.says(1, &["robots/bad host: no valid host"]).text(), "http://b.example/\tdisallow\n");
}
