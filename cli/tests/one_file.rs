//! Each robots.txt is given to every command under every dialect. All commands report the same kind of file and the
//! same verdicts. The files are in `corpora/kinds/files.toml`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;

use crate::support::{Folder, Run};

#[derive(Deserialize)]
struct Files {
    file: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    text: Option<String>,
    encoding: Option<String>,
    repeat: Option<usize>,
    then: Option<String>,
    hex: Option<String>,
    is: Option<String>,
    closed: String,
}

/// Commands that take a single robots.txt, and how each states its verdict for `/x`.
const COMMANDS: [(&str, &[&str], States); 14] = [
    ("test", &["test", "FILE", "--agent", "bot", "--all-dialects", "--json", "/x"], States::All),
    (
        "test",
        &["test", "FILE", "--agent", "bot", "--all-dialects", "--json", "--status", "200", "http://h.example/x"],
        States::Response,
    ),
    (
        "classify",
        &["classify", "FILE", "urls", "--host", "h.example", "--agent", "bot", "--dialect", "D"],
        States::Word(1),
    ),
    ("check", &["check", "rows", "--robots", "FILE", "--dialect", "D", "--print"], States::Word(3)),
    ("check", &["check", "FILE", "--prove", "closed", "--dialect", "D", "--allow-default"], States::ExitIfOpen),
    ("diff", &["diff", "empty", "FILE", "--verdicts", "--dialect", "D"], States::ExitIfClosed),
    ("diff", &["diff", "FILE", "--dialects", "PAIR"], States::Kind),
    ("fields", &["fields", "FILE", "--dialect", "D"], States::Kind),
    ("summarize", &["summarize", "FILE", "--host", "h.example", "--agent", "bot", "--dialect", "D"], States::Kind),
    ("timeline", &["timeline", "FILE", "--host", "h.example", "--agent", "bot", "--dialect", "D"], States::Kind),
    ("audit", &["audit", "log", "--set", "FILE", "--host", "h.example", "--dialect", "D"], States::Kind),
    ("inspect", &["inspect", "FILE", "--host", "h.example", "--dialect", "D"], States::Kind),
    ("lint", &["lint", "FILE", "--dialect", "D"], States::Takes),
    ("compile", &["compile", "FILE", "--host", "h.example", "--dialect", "D", "--force", "-o", "set"], States::Takes),
];

/// Commands that do not take a robots.txt.
const OTHERS: [&str; 8] = ["merge", "update", "filter", "verify", "agents", "dialects", "completions", "man"];

#[derive(Clone, Copy, PartialEq)]
enum States {
    /// The word with this number on the only line.
    Word(usize),
    /// An object with the verdict for each dialect.
    All,
    /// Exit code 1 if `/x` is allowed.
    ExitIfOpen,
    /// Exit code 1 if `/x` is disallowed.
    ExitIfClosed,
    /// No verdict, but the file's kind, under a dialect that reads web pages and one that does not.
    Kind,
    /// Also takes a file that is not a robots.txt, and reports its kind.
    Takes,
    /// The same as `All`, and takes any file as the body of a response.
    Response,
}

const DIALECTS: [&str; 9] = [
    "google-lib",
    "google",
    "rfc9309",
    "rfc9309-strict",
    "bing",
    "yandex",
    "yandex-2017",
    "koster-1996",
    "koster-1994",
];

impl States {
    /// Returns the dialects under which a command runs.
    fn dialects(self) -> &'static [&'static str] {
        match self {
            States::All | States::Response => &["google"],
            States::Kind => &["google", "yandex"],
            _ => &DIALECTS,
        }
    }
}

/// Number of files in the table.
const FILES: usize = 40;

impl Case {
    fn bytes(&self) -> Vec<u8> {
        if let Some(hex) = &self.hex {
            return hex.split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
        }
        let text = self.text.as_deref().unwrap().repeat(self.repeat.unwrap_or(1)) + self.then.as_deref().unwrap_or("");
        match self.encoding.as_deref() {
            None => text.into_bytes(),
            Some("UTF-16LE") => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Some("UTF-16BE") => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            Some("UTF-32LE") => text.chars().flat_map(|letter| u32::from(letter).to_le_bytes()).collect(),
            other => panic!("{other:?}"),
        }
    }

    fn is_closed(&self, dialect: &str) -> bool {
        match &*self.closed {
            "all" => true,
            "none" => false,
            "reads pages" => !dialect.starts_with("yandex"),
            other => panic!("{other}"),
        }
    }

    /// Checks the kind and the verdict that a command reports for the file.
    fn check(&self, run: &Run, states: States, dialect: &str, args: &[&str]) {
        let context = || format!("{}: {args:?}: {run:#?}", self.name);
        let has_rules = self.is.is_none() || self.closed != "none";
        let says_kind =
            |what: &str| run.stderr.contains(&format!("is {what}")) || run.stderr.contains(&format!("no text: {what}"));
        match &self.is {
            Some(what) if states != States::Response => assert!(says_kind(what), "{}", context()),
            Some(_) => {}
            None => {
                assert!(!run.stderr.contains("robots.txt: is ") && !run.stderr.contains("no text"), "{}", context())
            }
        }
        if !has_rules && !matches!(states, States::Takes | States::Response) {
            assert_eq!(run.code, Some(2), "{}", context());
            return;
        }
        let is_closed = self.is_closed(dialect);
        let verdict = if is_closed { "disallow" } else { "allow" };
        let text = run.text();
        let word = |place: usize| text.split_whitespace().nth(place).unwrap_or_default().to_ascii_lowercase();
        match states {
            States::Word(place) => assert_eq!(word(place), verdict, "{}", context()),
            States::All | States::Response => {
                let answers = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
                let closed: Vec<bool> = answers
                    .map(|answer| {
                        let is_closed = self.is_closed(answer["dialect"].as_str().unwrap());
                        (answer["verdict"] == "disallow") == is_closed
                    })
                    .collect();
                assert_eq!(closed, [true; DIALECTS.len()], "{}", context());
            }
            States::ExitIfOpen => assert_eq!(run.code, Some(i32::from(!is_closed)), "{}", context()),
            States::ExitIfClosed => assert_eq!(run.code, Some(i32::from(is_closed)), "{}", context()),
            States::Kind | States::Takes => assert!(matches!(run.code, Some(0 | 1)), "{}", context()),
        }
    }
}

#[test]
fn commands_agree_on_what_a_file_is_and_decides() {
    let files: Files = toml::from_str(include_str!("../../corpora/kinds/files.toml")).unwrap();
    assert_eq!(files.file.len(), FILES);
    let (next, ran) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let folder = Folder::new();
        folder.write("urls", "http://h.example/x\n");
        let request = "[14/Mar/2026:15:09:26 +0000] \"GET /x HTTP/1.1\" 200 5 \"-\" \"bot/1.0\"";
        folder.write("log", format!("192.0.2.1 - - {request}\n"));
        folder.write("rows", "h.example\tbot\t/x\n");
        folder.write("closed", "disallow bot /x\n");
        folder.write("empty", "");
        while let Some(case) = files.file.get(next.fetch_add(1, Ordering::Relaxed)) {
            folder.write("robots.txt", case.bytes());
            for (_, args, states) in COMMANDS {
                for &dialect in states.dialects() {
                    let pair = format!("google,{dialect}");
                    let replaced = |&arg: &&'static str| match arg {
                        "FILE" => "robots.txt",
                        "D" => dialect,
                        "PAIR" => &*pair,
                        arg => arg,
                    };
                    let args: Vec<&str> = args.iter().map(replaced).collect();
                    case.check(&folder.run(&args), states, dialect, &args);
                    ran.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(work))));
    let runs: usize = COMMANDS.iter().map(|(.., states)| states.dialects().len()).sum();
    assert_eq!(ran.into_inner(), FILES * runs);
}

#[test]
fn every_command_is_tried_or_takes_no_robots_txt() {
    let help = Folder::new().run(&["--help"]).says(0, &[]).text();
    let listed = help.lines().filter_map(|line| line.strip_prefix("  ")?.split_once("  "));
    let listed: BTreeSet<&str> =
        listed.map(|(name, _)| name).filter(|name| !name.starts_with(['-', ' ']) && !name.is_empty()).collect();
    let known: BTreeSet<&str> = COMMANDS.iter().map(|(name, ..)| *name).chain(OTHERS).collect();
    assert_eq!(listed, known);
    let dialects = Folder::new().run(&["dialects"]).says(0, &[]).text();
    assert!(DIALECTS.iter().all(|name| dialects.lines().any(|line| line.starts_with(name))), "{dialects}");
}
