//! The same program once more, in a process that has loaded another library of Hyperscan's interface: Vectorscan.
//!
//! Two libraries of one name do not fit into one process. The other process gets the expressions and the paths as a
//! line of JSON, and then a line for each task; it times itself, by the same loop, so that the way between the
//! processes is in no figure.

use std::io::{BufRead, BufReader, Write, stdin, stdout};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::expressions::Expressions;
use crate::hyperscan::HyperscanRules;
use crate::rounds::{Any, Done, Task, over};

/// The argument by which the program says which library it has loaded, and the one by which it carries out tasks.
pub const SAY_LIBRARY: &str = "--say-library";
pub const SERVE: &str = "--serve";

fn command(folder: &Path, argument: &str) -> Any<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(argument).env("LD_LIBRARY_PATH", folder);
    Ok(command)
}

/// The name of the library in a folder, as it says itself.
///
/// # Errors
/// When it is not Vectorscan.
pub fn vectorscan_in(folder: &Path) -> Any<String> {
    let said = command(folder, SAY_LIBRARY)?.output()?;
    let name = String::from_utf8(said.stdout)?.trim().to_owned();
    if !name.starts_with("Vectorscan") {
        return Err(format!("{}: expected a libhs.so.5 of Vectorscan, found {name:?}", folder.display()).into());
    }
    Ok(name)
}

/// A process that has compiled expressions with the other library.
pub struct OtherLibrary {
    child: Child,
    answers: BufReader<ChildStdout>,
    /// How long the library took to compile the expressions, in seconds.
    pub built: f64,
}

impl OtherLibrary {
    /// Starts the process with the library in a folder.
    ///
    /// # Errors
    /// When it does not start, or the library refuses the expressions.
    pub fn new(folder: &Path, expressions: &Expressions, lists: &[Vec<String>]) -> Any<OtherLibrary> {
        let mut child = command(folder, SERVE)?.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let answers = BufReader::new(child.stdout.take().ok_or("no output")?);
        let mut other = OtherLibrary { child, answers, built: 0.0 };
        let inputs = serde_json::to_string(&(&expressions.texts, &expressions.disallow, lists))?;
        other.built = serde_json::from_str::<Result<f64, String>>(&other.ask(&inputs)?)??;
        Ok(other)
    }

    /// Has the process carry out a task.
    ///
    /// # Errors
    /// When it has ended.
    pub fn decide(&mut self, task: Task) -> Any<Done> {
        let answer = self.ask(&serde_json::to_string(&[task.list, task.count, task.repeat, task.warm_up])?)?;
        let (seconds, disallowed) = serde_json::from_str(&answer)?;
        Ok(Done { seconds, disallowed })
    }

    fn ask(&mut self, line: &str) -> Any<String> {
        let requests = self.child.stdin.as_mut().ok_or("no input")?;
        writeln!(requests, "{line}")?;
        requests.flush()?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        Ok(answer)
    }
}

impl Drop for OtherLibrary {
    fn drop(&mut self) {
        // This closes its input, upon which it ends.
        let _ = self.child.wait();
    }
}

/// The other side: answers until the input ends.
///
/// # Errors
/// When a line is none of those that [`OtherLibrary`] writes.
pub fn serve() -> Any<()> {
    let mut lines = stdin().lock().lines();
    let inputs = lines.next().ok_or("no expressions")??;
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

fn answer(line: &str) -> Any<()> {
    let mut out = stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}
