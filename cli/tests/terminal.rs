//! Untrusted text reaches no terminal unescaped: every command, with control characters in names, bodies, agents, URLs
//! and arguments.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use crate::support;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::Stdio;

use support::{Folder, gz};

/// Colors, a bell, a line that overwrites the previous one, and text direction controls. NUL is missing because
/// arguments cannot contain it, and so is the line end.
const EVIL: &str = "\u{1b}[31m\u{7}\r\u{7f}\u{202e}\u{2028}\u{9b}31m\u{61c}\u{2066}";

/// Bytes that are not UTF-8. The last one is a control character on an eight-bit terminal.
const NO_UTF_8: &[u8] = b"\xff\xc2\x9b";

/// Returns the first part of an output that a terminal would act on, if any. Line ends and tabs are allowed.
fn harmful(output: &[u8]) -> Option<String> {
    for chunk in output.utf8_chunks() {
        let acts = |c: &char| {
            (c.is_control() && !matches!(c, '\n' | '\t'))
                || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        if let Some(found) = chunk.valid().chars().find(acts) {
            return Some(format!("{found:?} after {:?}", chunk.valid()));
        }
        if let Some(byte) = chunk.invalid().iter().find(|byte| **byte < 0xA0) {
            return Some(format!("{byte:#x} after {:?}", chunk.valid()));
        }
    }
    None
}

/// Returns a folder with hostile inputs of every kind. Most of their names contain [`EVIL`].
fn folder() -> Folder {
    let folder = Folder::new();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path("").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    let body = format!(
        "User-agent: bot{EVIL}\nDisallow: /{EVIL}\nSitemap: {EVIL}\nCrawl-delay: {EVIL}\nClean-param: {EVIL} /\n{EVIL}: {EVIL}\n\n\
         User-agent: *\nDisallow: /a{EVIL}*$\nAllow: /{EVIL}b\nClean-param: a{EVIL}&b\nContent-Signal: {EVIL}=no\n\
         Request-rate: {EVIL}\nHost: {EVIL}\nNoindex: {EVIL}\nDisallow: private{EVIL}\n"
    );
    let body = [body.as_bytes(), b"Disallow: /", NO_UTF_8, b"\n"].concat();
    write("robots/a.example", &body);
    write(&format!("robots/b{EVIL}.example"), &body);
    write(&format!("robots/{EVIL}/robots.txt"), b"");
    write("single", &body);
    write("other", &[&body[..], b"Disallow: /new"].concat());
    write(&evil("single"), &body);
    write(&evil("other"), b"");
    let line = |fields: &str| format!("{{\"url\": \"http://c.example/robots.txt\", {fields}}}\n");
    let json = serde_json::to_string(EVIL).unwrap();
    let lines = ["status", "time", "redirects", "truncated", "error", "body", "headers", EVIL];
    let lines = lines.map(|key| line(&format!("{}: {json}", serde_json::to_string(key).unwrap())));
    let urls = [format!("http://{EVIL}/robots.txt"), format!("http://d.example/{EVIL}"), EVIL.into()];
    let urls = urls.map(|url| format!("{{\"url\": {}}}\n", serde_json::to_string(&url).unwrap()));
    let raw = format!("{{\"url\": \"{EVIL}\"}}\n{{{EVIL}}}\n");
    let jsonl = [&lines.concat(), &urls.concat(), &raw].map(|text| text.as_bytes()).concat();
    write(&format!("c{EVIL}.jsonl"), &jsonl);
    write(&format!("no{EVIL}.tar.gz"), b"no");
    write(&format!("no{EVIL}.tar"), b"no");
    let mut tar = tar::Builder::new(Vec::new());
    for name in [format!("a.example/{EVIL}"), format!("{EVIL}/robots.txt"), format!("{EVIL}.example")] {
        let mut header = tar::Header::new_gnu();
        header.set_size(body.len() as u64);
        tar.append_data(&mut header, name, &body[..]).unwrap();
    }
    write(&format!("t{EVIL}.tar.gz"), &gz(&tar.into_inner().unwrap()));
    let urls = format!(
        "http://a.example/{EVIL}\nhttp://{EVIL}/\n{EVIL}\nhttp://a.example/b?a{EVIL}=1&b=2\r\nhttp://a.example/x\ty\0\n"
    );
    let long = EVIL.repeat((2 << 20) / EVIL.len());
    write("urls", &[urls.as_bytes(), b"http://a.example/", NO_UTF_8, b"\n", long.as_bytes(), b"\n"].concat());
    let plain = "http://a.example/,\n".repeat(300);
    let parquet = crate::classify_parquet::column("url", &[EVIL, &format!("http://a.example/{EVIL}"), "\n"]);
    write(&format!("p{EVIL}.parquet"), &parquet);
    let table = format!("{EVIL},url\n{plain}http://a.example/{EVIL},{EVIL}\n\"{EVIL},\"\n{EVIL}\n\"{EVIL}\n");
    write(&format!("t{EVIL}.csv"), table.as_bytes());
    let row = |target: &str| format!("192.0.2.7 - - [14/Mar/2026:15:09:26 +0000] \"GET {target} HTTP/1.1\" 200 5");
    let log = [row("/"), row(&format!("/{EVIL}")), row(EVIL), EVIL.to_owned()];
    let log: String = log.iter().map(|row| format!("{row} \"-\" \"{EVIL}bot/1 {EVIL}\"\n")).collect();
    write(&format!("l{EVIL}.log"), log.as_bytes());
    let rows = format!(
        "a.example\tx\t/a{EVIL}\tALLOW\t1\na.example\tbot{EVIL}\t/{EVIL}\n{EVIL}\t{EVIL}\t{EVIL}\tDISALLOW\n{EVIL}\nb\tc\td\t{EVIL}\n"
    );
    write("rows", &[rows.as_bytes(), b"a.example\tx\t/", NO_UTF_8, b"\tDISALLOW\t9\n"].concat());
    folder.run(&["compile", "-o", "set", "robots/a.example", "--host", "a.example"]).says(0, &[]);
    let set = folder.read("set");
    write(&evil("set"), &set);
    write(&evil("damaged"), &set[..set.len() - 1]);
    let made = String::from_utf8(folder.read("set.made.json")).unwrap();
    assert!(made.contains("robots/a.example"), "{made}");
    let made = made.replace("robots/a.example", json.trim_matches('"')).replace("\"reptile\"", &json);
    write(&(evil("set") + ".made.json"), made.as_bytes());
    write(&(evil("damaged") + ".made.json"), format!("{{\"{EVIL}\": 1}}").as_bytes());
    folder
}

fn evil(name: &str) -> String {
    format!("{name}{EVIL}")
}

/// Runs the command with a list on standard input. Panics if the output is harmful.
#[track_caller]
fn run(folder: &Folder, args: &[OsString], stdin: &[u8]) -> Vec<u8> {
    let mut child = folder.command(&[]).args(args).stdin(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let stdin = stdin.to_vec();
    let feeder = std::thread::spawn(move || drop(pipe.write_all(&stdin)));
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    assert!(matches!(output.status.code(), Some(0..=2)), "{args:?}: {output:?}");
    for (name, bytes) in [("standard output", &output.stdout), ("standard error", &output.stderr)] {
        assert_eq!(harmful(bytes), None, "{args:?} on {name}");
    }
    [output.stdout, output.stderr].concat()
}

/// Returns whether an output contains hostile text in one of the escaped forms.
fn shows_it(output: &[u8]) -> bool {
    let text = String::from_utf8_lossy(output);
    ["\\u{1b}", "\\u001b", "%1B", "%C2%9B", "\\x1B", "\\x1b"].iter().any(|escape| text.contains(escape))
}

/// Runs of every command. `~` is replaced by [`EVIL`].
const RUNS: &[&[&str]] = &[
    &["compile", "-o", "out~", "robots", "c~.jsonl", "t~.tar.gz"],
    &["compile", "-o", "out~", "robots"],
    &["compile", "--force", "-o", "out~", "no~.tar"],
    &["compile", "--force", "-o", "out~", "no~.tar.gz"],
    &["compile", "--force", "-o", "out~", "single~"],
    &["compile", "--force", "-o", "out~", "single~", "--host", "~"],
    &["compile", "--force", "-o", "out~", "set~"],
    &["compile", "--force", "-o", "missing/~", "robots"],
    &["compile", "--force", "-o", "out~", "missing~"],
    &["compile", "-o", "out", "robots", "--at", "~"],
    &["compile", "-o", "out", "robots", "--scheme", "~"],
    &["classify", "set~", "urls", "--agent", "x"],
    &["classify", "set~", "urls", "--agent", "x", "--columns", "url,verdict,line,rule,reason"],
    &["classify", "set~", "t~.csv", "--agent", "x"],
    &["classify", "set~", "t~.csv", "--agent", "x", "--url", "~"],
    &["classify", "set~", "t~.csv", "--agent", "x", "--input-format", "jsonl", "--url", "~"],
    &["classify", "set~", "t~.csv", "--agent", "x", "--input-format", "tsv", "--url", "1", "--explain"],
    &["classify", "set~", "p~.parquet", "--agent", "x"],
    &["classify", "set~", "p~.parquet", "--agent", "x", "--url", "~"],
    &["classify", "set~", "p~.parquet", "--agent", "x", "--url", "{~}://{~}"],
    &["classify", "set~", "p~.parquet", "--agent", "x", "--at", "{~}"],
    &["compile", "--force", "-o", "out~", "p~.parquet"],
    &["classify", "set~", "c~.jsonl", "--agent", "x"],
    &["classify", "set~", "c~.jsonl", "--agent", "x", "--format", "csv", "--columns", "url,rule,group,reason"],
    &["classify", "set~", "urls", "--agent", "x", "--format", "jsonl", "--columns", "url,rule,any-of"],
    &["classify", "set~", "urls", "--agent", "exact:a~>b~>*", "--format", "jsonl"],
    &["classify", "set~", "urls", "--agent", "x", "--columns", "~"],
    &["classify", "set~", "urls", "--agent", "exact:a~>b~>*", "--columns", "refused,ruleset,capture_time"],
    &["classify", "set~", "urls", "--agent", "x", "--treat", "unknown=~", "--treat", "invalid=~"],
    &["classify", "set~", "l~.log", "--host", "a.example", "--agent", "{user_agent}", "--columns", "url,agent,reason"],
    &["classify", "set~", "l~.log", "--host", "~", "--agent", "x"],
    &["classify", "set~", "l~.log", "--host", "a.example", "--agent", "{~}"],
    &["classify", "set~", "t~.csv", "--agent", "{1}", "--url", "2"],
    &["classify", "set~", "urls", "--agent", "x", "--rejects", "missing/~"],
    &["classify", "set~", "c~.jsonl", "--agent", "x", "--url", "~.~"],
    &["classify", "set", "urls", "--agent", "~"],
    &["classify", "set", "urls", "--agent", "a~>b~>*"],
    &["classify", "set", "urls", "--agent", "@~"],
    &["classify", "damaged~", "urls", "--agent", "x"],
    &["classify", "single~", "urls", "--agent", "x"],
    &["classify", "set", "missing~", "--agent", "x"],
    &["classify", "set", "urls", "--agent", "x", "-o", "missing/~"],
    &["test", "single~", "--agent", "x", "/~", "/a~", "http://~/b"],
    &["test", "single~", "--agent", "x", "--brief", "/~", "/a~"],
    &["test", "single~", "--agent", "x", "--json", "/~"],
    &["test", "single~", "--agent", "x", "--all-dialects", "/~"],
    &["test", "single~", "--agent", "x", "--full", "/~"],
    &["test", "single~", "--agent", "x"],
    &["test", "single~", "--agent", "~", "/"],
    &["test", "missing~", "--agent", "x", "/"],
    &["check", "rows", "--robots", "robots"],
    &["check", "rows", "--robots", "robots", "--print"],
    &["check", "rows", "--robots", "robots", "--all-dialects"],
    &["check", "rows", "--robots", "single~", "--all-dialects", "--print"],
    &["check", "rows", "--robots", "missing~"],
    &["check", "missing~", "--robots", "robots"],
    &["check", "rows", "--robots", "robots", "--max-differences", "~"],
    &["lint", "single~"],
    &["lint", "single~", "--json"],
    &["lint", "robots", "c~.jsonl"],
    &["lint", "robots", "--severity", "~"],
    &["lint", "missing~"],
    &["diff", "single~", "other~"],
    &["diff", "single~", "other~", "--urls", "urls"],
    &["diff", "single", "other", "--urls", "urls", "--agent", "~"],
    &["diff", "single~", "missing~"],
    &["diff", "single", "other", "--urls", "missing~"],
    &["inspect", "set~"],
    &["inspect", "set~", "a.example"],
    &["inspect", "set~", "a.example", "--automaton"],
    &["inspect", "set~", "a.example", "--automaton=dot"],
    &["inspect", "set", "a.example", "--automaton", "--agent", "~"],
    &["inspect", "set~", "~"],
    &["inspect", "set~", "nowhere.example"],
    &["inspect", "damaged~"],
    &["summarize", "set~", "--agent", "x"],
    &["summarize", "set~", "urls", "--agent", "x", "--key", "url,host,domain,surt", "--format", "jsonl"],
    &["summarize", "set~", "urls", "--agent", "x", "--by-site"],
    &["summarize", "set", "urls", "--agent", "~"],
    &["summarize", "set", "missing~", "--agent", "x"],
    &["summarize", "damaged~", "--agent", "x"],
    &["timeline", "set~", "--agent", "x"],
    &["timeline", "robots", "urls", "--agent", "x", "--key", "url,host,domain,surt"],
    &["timeline", "robots", "urls", "--agent", "~"],
    &["audit", "missing~", "--set", "set~"],
    &["audit", "urls", "--set", "set~", "--at", "{~}"],
    &["audit", "single~", "--set", "set~", "--host", "a.example"],
    &["audit", "urls", "--set", "damaged~"],
    &["audit", "urls", "--set", "set", "--ranges", "~=urls"],
    &["filter", "missing~", "--set", "set", "--agent", "x", "--dry-run"],
    &["filter", "single~", "--set", "set", "--agent", "x", "--dry-run"],
    &["fields", "single~"],
    &["fields", "single~", "--json"],
    &["fields", "set~", "a.example", "--agent", "x"],
    &["fields", "set~", "http://~/"],
    &["fields", "single", "--kind", "~"],
    &["fields", "damaged~"],
    &["merge", "set~", "-o", "merged~"],
    &["merge", "missing~", "-o", "merged~"],
    &["update", "set~", "missing~", "-o", "merged~"],
    &["diff", "set~", "set~", "--urls", "missing~"],
    &["verify", "set~"],
    &["verify", "--deep", "set~"],
    &["verify", "--checksums", "set~"],
    &["verify", "damaged~"],
    &["verify", "single~"],
    &["agents", "~"],
    &["agents", "exact:~"],
    &["dialects", "~"],
    &["completions", "~"],
    &["man", "~"],
    &["help", "~"],
    &["~"],
    &["--~"],
];

#[test]
fn no_command_prints_control_characters() {
    let folder = folder();
    let urls = folder.read("urls");
    let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
    for words in RUNS {
        let args: Vec<OsString> = words.iter().map(|word| word.replace('~', EVIL).into()).collect();
        let output = run(&folder, &args, &urls);
        *shown.entry(words[0]).or_default() += usize::from(shows_it(&output));
    }
    let overview = folder.run(&["--help"]).says(0, &[]).text();
    let commands: Vec<&str> = overview.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    let commands: Vec<&&str> =
        commands.iter().filter(|name| !name.is_empty() && !["reptile", "help"].contains(name)).collect();
    assert!(commands.contains(&&"verify"), "{overview}");
    for command in commands.into_iter().filter(|name| !name.starts_with('-')) {
        assert!(shown.get(command).is_some_and(|&count| count > 0), "{command} shows no hostile text: {shown:?}");
    }
}

/// Every option of these commands, with an invalid value if it takes one.
#[test]
fn no_option_echoes_control_characters() {
    let folder = folder();
    for command in
        ["compile", "classify", "test", "check", "lint", "diff", "inspect", "summarize", "timeline", "fields", "verify"]
    {
        let help = folder.run(&[command, "--help"]).says(0, &[]).text();
        let options = help.split_whitespace().filter(|word| word.starts_with("--") && word.len() > 2);
        let options: std::collections::BTreeSet<&str> =
            options.map(|word| word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric())).collect();
        assert!(options.len() > 1, "{help}");
        for option in options {
            for args in [
                vec![command.to_owned(), option.to_owned(), EVIL.to_owned()],
                vec![command.to_owned(), format!("{option}={EVIL}"), "single".into()],
                vec![command.to_owned(), format!("{option}{EVIL}")],
            ] {
                let args: Vec<OsString> = args.into_iter().map(OsString::from).collect();
                run(&folder, &args, b"");
            }
        }
    }
}

/// Paths and arguments that are not UTF-8.
#[test]
fn paths_and_arguments_that_are_not_utf8_are_escaped() {
    let folder = folder();
    let name = OsString::from_vec([b"n", NO_UTF_8, b"\x9b\n.tar"].concat());
    std::fs::write(folder.path("").join(&name), "no").unwrap();
    let arg = |text: &str| OsString::from(text);
    for args in [
        vec![arg("compile"), arg("-o"), arg("out"), name.clone()],
        vec![arg("compile"), arg("-o"), name.clone(), arg("robots")],
        vec![arg("classify"), name.clone(), arg("urls"), arg("--agent"), arg("x")],
        vec![arg("classify"), arg("set"), arg("urls"), arg("--agent"), name.clone()],
        vec![arg("verify"), name.clone()],
        vec![arg("inspect"), name.clone()],
        vec![arg("lint"), name.clone()],
        vec![arg("fields"), name.clone()],
        vec![arg("test"), name.clone(), arg("--agent"), arg("x"), arg("/")],
        vec![arg("check"), name.clone(), arg("--robots"), name.clone()],
        vec![arg("diff"), name.clone(), arg("single")],
        vec![name.clone()],
        vec![arg("check"), OsStr::from_bytes(b"--\xff\x9b").to_owned()],
    ] {
        run(&folder, &args, b"");
    }
}

/// A line end in a name cannot forge a message of the command.
#[test]
fn a_message_is_one_line() {
    let folder = Folder::new();
    let name = "a\nreptile: all is well";
    for args in [
        &["verify", name][..],
        &["compile", "-o", "out", name],
        &["lint", name],
        &["test", "x", "--agent", "a\nreptile: all is well", "/"],
        &["lint", "--severity", name, "x"],
    ] {
        let run = folder.run(args);
        assert!(!run.stderr.lines().any(|line| line == "reptile: all is well"), "{run:?}");
        assert_eq!(run.code, Some(2));
    }
    folder.robots();
    std::fs::rename(folder.path("robots"), folder.path(name)).unwrap();
    folder.run(&["compile", "-o", "set\nvalid", name]).says(0, &[]);
    assert!(folder.run(&["verify", "set\nvalid"]).text().starts_with("set\\nvalid: valid, "));
}

/// Colors appear only if requested, and only the command's own.
#[test]
fn colors_can_be_chosen() {
    let folder = Folder::with_set();
    folder.write("urls", "http://a.example/private\nhttp://b.example/\u{fdd1}\n");
    let red = "\u{1b}[31mdisallow\u{1b}[0m";
    let runs: [&[&str]; 3] = [
        &["classify", "set", "urls", "--agent", "bot-a"],
        &["test", "robots/a.example", "--agent", "bot-a", "/private"],
        &["test", "robots/a.example", "--brief", "--agent", "bot-a", "/private"],
    ];
    for args in runs {
        for (choice, no_color, is_colored) in [
            (None, None, false),
            (Some("auto"), None, false),
            (Some("never"), None, false),
            (Some("always"), None, true),
            (Some("always"), Some("1"), true),
        ] {
            let mut command = folder.command(args);
            command.args(choice.map(|choice| format!("--color={choice}")));
            command.env_remove("NO_COLOR").envs(no_color.map(|value| ("NO_COLOR", value)));
            let text = support::finish(command).says(0, &[]).text();
            assert_eq!(text.contains(red), is_colored, "{args:?} {choice:?}: {text:?}");
            assert_eq!(text.contains('\u{1b}'), is_colored, "{text:?}");
            assert!(!text.contains('\u{fdd1}'), "{text:?}");
        }
    }
    folder.run(&["verify", "absent", "--color", "always"]).says(2, &["\u{1b}[1;31mreptile: \u{1b}[0mabsent: "]);
    folder.run(&["verify", "set", "--color", "sometimes"]).says(2, &["auto, always, never"]);
    // Files have no colors.
    folder.run(&["classify", "set", "urls", "--agent", "bot-a", "--color", "always", "-o", "out"]).says(0, &[]);
    assert!(!folder.read("out").contains(&0x1b));
}

/// Terminal output is colored unless NO_COLOR or TERM disables it. `script` (util-linux) provides the terminal. Without
/// it, the test fails.
#[test]
fn terminal_output_is_colored() {
    let folder = Folder::with_set();
    for (name, value, is_colored) in
        [("X", "", true), ("NO_COLOR", "", true), ("NO_COLOR", "1", false), ("TERM", "dumb", false)]
    {
        let line = format!("'{}' test --brief robots/a.example --agent bot-a /private", support::binary().display());
        let mut script = std::process::Command::new("script");
        script.args(["-qec", &line, "/dev/null"]).current_dir(folder.path("."));
        script.env("TERM", "xterm").env_remove("NO_COLOR").env(name, value).stdin(Stdio::null());
        let output = script.output().expect("the program `script` of util-linux, which provides a terminal");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains("disallow") && text.contains("\u{1b}[31m") == is_colored, "{name}={value}: {text:?}");
    }
}

#[test]
fn quiet_prints_only_results_and_errors() {
    let folder = Folder::with_set();
    folder.write("robots/bad host", "");
    folder.write("urls", "http://a.example/private\n");
    folder.write("rows", "a.example\tx\t/\tDISALLOW\n");
    for (args, code) in [
        (&["compile", "--force", "-o", "set", "robots"][..], 1),
        (&["classify", "set", "urls", "--agent", "nobody"], 0),
        (&["check", "rows", "--robots", "robots"], 1),
        (&["lint", "robots"], 1),
        (&["inspect", "set", "nowhere.example"], 1),
    ] {
        for quiet in ["-q", "--quiet"] {
            let run = folder.run(&[&[quiet], args].concat());
            assert_eq!((run.code, &*run.stderr), (Some(code), ""), "{args:?}");
            let loud = folder.run(args);
            assert_eq!(loud.stdout, run.stdout, "{args:?}");
            assert!(!loud.stderr.is_empty(), "{args:?}");
        }
    }
    folder.run(&["-q", "verify", "absent"]).says(2, &["reptile: absent: "]);
}

#[test]
fn completions_and_manual_contain_commands_and_options() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = folder.run(&["completions", shell]).says(0, &[]).text();
        for word in ["classify", "summarize", "explain", "usage-from"] {
            assert!(text.contains(word), "no {word} for {shell}");
        }
    }
    folder.run(&["completions", "nosh"]).says(2, &["bash"]);
    let page = folder.run(&["man"]).says(0, &[]).text();
    assert!(page.contains(".TH reptile 1") && page.contains("reptile\\-summarize"), "{page}");
    let page = folder.run(&["man", "classify"]).says(0, &[]).text();
    for text in [".TH reptile-classify 1", "\\-\\-url", "Examples:"] {
        assert!(page.contains(text), "no {text:?} in {page}");
    }
    folder.run(&["man", "nonesuch"]).says(2, &["no such command: \"nonesuch\""]);
}
