//! Runs this program a second time, in a process that has loaded Vectorscan instead of Hyperscan.
//!
//! The two libraries have the same name, so one process cannot load both. The second process gets the expressions and
//! the paths as one line of JSON, and then one line for each task. It times itself with the same loop, so no figure
//! includes the communication between the processes.

use std::io::{BufRead, BufReader, Write, stdin, stdout};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::expressions::Expressions;
use crate::hyperscan::HyperscanRules;
use crate::rounds::{Any, Done, Task, over};

/// The argument that makes the program print the library that it has loaded.
pub const SAY_LIBRARY: &str = "--say-library";

/// The argument that makes the program carry out tasks.
pub const SERVE: &str = "--serve";

/// Prepares to start this program with the library in a folder.
fn command(folder: &Path, argument: &str) -> Any<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(argument).env("LD_LIBRARY_PATH", folder);
    Ok(command)
}

/// Returns the name and version that the library in a folder reports.
///
/// # Errors
/// Errors if the library is missing, or is not Vectorscan.
pub fn vectorscan_in(folder: &Path) -> Any<String> {
    let said = command(folder, SAY_LIBRARY)?.output()?;
    let name = String::from_utf8(said.stdout)?.trim().to_owned();
    if !name.starts_with("Vectorscan") {
        return Err(format!("{}: expected a libhs.so.5 of Vectorscan, found {name:?}", folder.display()).into());
    }
    Ok(name)
}

/// A second process, which has compiled the expressions with Vectorscan.
pub struct OtherLibrary {
    child: Child,
    answers: BufReader<ChildStdout>,
    /// How long the library took to compile the expressions, in seconds.
    pub built: f64,
}

impl OtherLibrary {
    /// Starts the process with the library in a folder, and has it compile the expressions.
    ///
    /// # Errors
    /// Errors if the process does not start, or if the library refuses an expression.
    pub fn new(folder: &Path, expressions: &Expressions, lists: &[Vec<String>]) -> Any<OtherLibrary> {
        let mut child = command(folder, SERVE)?.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let answers = BufReader::new(child.stdout.take().ok_or("the second process has no output")?);
        let mut other = OtherLibrary { child, answers, built: 0.0 };
        let inputs = serde_json::to_string(&(&expressions.texts, &expressions.disallow, lists))?;
        other.built = serde_json::from_str::<Result<f64, String>>(&other.ask(&inputs)?)??;
        Ok(other)
    }

    /// Has the process carry out a task and returns its figures.
    ///
    /// # Errors
    /// Errors if the process has ended.
    pub fn decide(&mut self, task: Task) -> Any<Done> {
        let answer = self.ask(&serde_json::to_string(&[task.list, task.count, task.repeat, task.warm_up])?)?;
        let (seconds, disallowed) = serde_json::from_str(&answer)?;
        Ok(Done { seconds, disallowed })
    }

    /// Sends a line to the process and waits for a line from it.
    fn ask(&mut self, line: &str) -> Any<String> {
        let requests = self.child.stdin.as_mut().ok_or("the second process has no input")?;
        writeln!(requests, "{line}")?;
        requests.flush()?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        Ok(answer)
    }
}

impl Drop for OtherLibrary {
    fn drop(&mut self) {
        // `wait` closes the input of the process, which makes it end.
        let _ = self.child.wait();
    }
}

/// Carries out tasks in the second process until its input ends.
///
/// # Errors
/// Errors if a line is not one that [`OtherLibrary`] writes.
pub fn serve() -> Any<()> {
    let mut lines = stdin().lock().lines();
    let inputs = lines.next().ok_or("expected a line of expressions, found the end of the input")??;
    let (texts, disallow, lists): (Vec<String>, Vec<bool>, Vec<Vec<String>>) = serde_json::from_str(&inputs)?;
    let expressions = Expressions { texts, disallow };
    let made = HyperscanRules::new(&expressions).map_err(|reason| reason.to_string());
    answer(&serde_json::to_string(&made.as_ref().map(|rules| rules.built))?)?;
    let Ok(rules) = made else { return Ok(()) };
    let mut decide = over(&lists, |path| expressions.disallows(rules.first(path)));
    for line in lines {
        let [list, count, repeat, warm_up] = serde_json::from_str(&line?)?;
        let done = decide(Task { list, count, repeat, warm_up })?;
        answer(&serde_json::to_string(&(done.seconds, done.disallowed))?)?;
    }
    Ok(())
}

/// Sends a line to the first process.
fn answer(line: &str) -> Any<()> {
    let mut out = stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}
