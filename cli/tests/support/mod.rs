//! Runs the built command in a temporary folder.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may; not every one uses all"
)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// Result of a run: exit code and output.
#[derive(Debug)]
pub struct Run {
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Run {
    /// Asserts the exit code, and that standard error contains each text. Column widths do not matter.
    #[track_caller]
    pub fn says(self, code: i32, texts: &[&str]) -> Run {
        assert_eq!(self.code, Some(code), "{self:#?}");
        for text in texts {
            assert!(squeeze(&self.stderr).contains(&squeeze(text)), "no {text:?} in {self:#?}");
        }
        self
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.stdout.clone()).unwrap()
    }
}

/// Replaces consecutive blanks by one.
fn squeeze(text: &str) -> String {
    text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A temporary folder, with methods that run the command in it.
pub struct Folder {
    dir: TempDir,
}

impl Folder {
    pub fn new() -> Folder {
        Folder { dir: tempfile::tempdir().unwrap() }
    }

    /// Returns a folder with a compiled set `set` of [`ROBOTS`].
    pub fn with_set() -> Folder {
        let folder = Folder::new();
        folder.robots();
        folder.run(&["compile", "-o", "set", "robots"]).says(0, &[]);
        folder
    }

    /// Writes [`ROBOTS`] below `robots/`.
    pub fn robots(&self) {
        for (name, body) in ROBOTS {
            self.write(&format!("robots/{name}"), body);
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Returns the names in the folder, including hidden ones.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.dir.path()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Returns the verdict for each URL, by a set or an input.
    pub fn verdicts(&self, set: &str, urls: &[&str]) -> Vec<String> {
        let run = self.run_with(&["classify", set, "--agent", "bot-a"], urls.join("\n").as_bytes()).says(0, &[]);
        run.text().lines().map(|line| line.split('\t').nth(1).unwrap().to_owned()).collect()
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command.args(args).current_dir(&self.dir);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn run(&self, args: &[&str]) -> Run {
        finish(self.command(args))
    }

    pub fn run_with(&self, args: &[&str], stdin: &[u8]) -> Run {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let stdin = stdin.to_vec();
        let feeder = std::thread::spawn(move || {
            let _ = pipe.write_all(&stdin);
        });
        let output = child.wait_with_output().unwrap();
        feeder.join().unwrap();
        run_of(output)
    }
}

pub fn finish(mut command: Command) -> Run {
    run_of(command.output().unwrap())
}

fn run_of(output: std::process::Output) -> Run {
    Run { code: output.status.code(), stdout: output.stdout, stderr: String::from_utf8(output.stderr).unwrap() }
}

pub fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_reptile"))
}

pub fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Reproducible pseudo-random numbers.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit.max(1)
    }

    pub fn one<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// Names and bodies of files in a folder. They fill every section of a set.
pub const ROBOTS: [(&str, &str); 3] = [
    (
        "a.example",
        "User-agent: bot-a\nDisallow: /private\nAllow: /private/open\n\nUser-agent: *\nDisallow: /x*y\nSitemap: /s\n",
    ),
    ("B.example/robots.txt", "User-agent: *\nDisallow: /\n"),
    ("c.example:8080", "User-agent: other\nDisallow:\n"),
];

/// Measures a process's peak memory in bytes until it ends. The system's figure for an ended process includes the
/// memory of the test program that started it.
pub fn watch_memory(process: u32) -> std::thread::JoinHandle<u64> {
    let path = format!("/proc/{process}/status");
    std::thread::spawn(move || {
        let mut peak = 0;
        loop {
            let status = std::fs::read_to_string(&path).unwrap_or_default();
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let Some(kibibytes) = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok()) else {
                return peak;
            };
            peak = peak.max(kibibytes << 10);
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    })
}
