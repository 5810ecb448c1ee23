//! Runs the judge with engines from `rogue.py`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Returns the path of the test engine.
pub fn rogue() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rogue.py")
}

/// Returns the real Python interpreter. Python launchers on the PATH can take a second per start.
fn python() -> String {
    let output = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    String::from_utf8(output.expect("the tests of the judge need python3").stdout).unwrap().trim().to_owned()
}

/// A folder with an `engines.toml` that lists an engine for each mode of `rogue.py`, named after the mode.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new(modes: &[&str]) -> Folder {
        let folder = tempfile::tempdir().unwrap();
        let mut text = String::new();
        let python = python();
        for mode in modes {
            // Short limits for modes that never reply, long ones for modes that may be late on a busy machine.
            let (start, seconds) = match *mode {
                "silent" => (0.5, 0.5),
                "hang" | "child" | "deaf" => (60.0, 2.0),
                _ => (60.0, 60.0),
            };
            write!(
                text,
                "[[engine]]\nname = \"{mode}\"\ndialect = \"rfc9309\"\nneeds = [\"python3\"]\n\
                 run = [{python:?}, {:?}, \"{mode}\"]\n\
                 start_seconds = {start}\nseconds = {seconds}\nmemory_mb = 200\n\n",
                rogue()
            )
            .unwrap();
        }
        std::fs::write(folder.path().join("engines.toml"), text).unwrap();
        Folder(folder)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs the judge in this folder.
    pub fn judge(&self, arguments: &[&str]) -> Output {
        let (command, rest) = arguments.split_first().unwrap();
        let mut judge = Command::new(env!("CARGO_BIN_EXE_reptile-judge"));
        judge.arg(command).args(rest).current_dir(self.path());
        judge.args(["--engines", "engines.toml"]).output().unwrap()
    }
}

/// Returns the exit code and all output, for assertion messages.
pub fn result_of(output: &Output) -> (Option<i32>, String) {
    let text = [&output.stdout[..], &output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}
