//! A process and everything that it starts. Children that leave the process group are killed too: the judge adopts
//! orphans (as a *subreaper*), and recognizes their group by a mark in their environment.

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitOptions, getpid, kill_process, kill_process_group, prlimit, set_child_subreaper,
    waitpid,
};

/// Maximum number of inspected processes in a group.
const MAX_PROCESSES: usize = 256;

/// Maximum number of searches for orphans when a group is killed. Each killed process may leave others.
const MAX_SEARCHES: usize = 64;

/// Time for a process to end after it has closed its output, before it is killed.
const END_TIME: Duration = Duration::from_millis(300);

/// The environment variable that identifies a process's group.
const MARK: &str = "REPTILE_JUDGE_GROUP";

/// Processes that the judge itself has started. All its other children are adopted orphans.
static STARTED: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn started() -> MutexGuard<'static, BTreeSet<u32>> {
    STARTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A process and all its descendants.
pub struct ProcessGroup {
    /// The process.
    pub child: Child,
    pid: Option<Pid>,
    /// The value of [`MARK`] in the process's environment.
    mark: String,
}

impl ProcessGroup {
    /// Starts a process. `address_space` limits the address space of each process, in bytes.
    ///
    /// # Errors
    /// Returns an error if the program cannot be started.
    pub fn start(
        arguments: &[String],
        folder: &Path,
        address_space: Option<u64>,
        input: Stdio,
    ) -> Result<ProcessGroup, String> {
        static ADOPT: Once = Once::new();
        // Without this, a child that leaves the group may outlive the run, but nothing else changes.
        ADOPT.call_once(|| {
            let _ = set_child_subreaper(Some(getpid()));
        });
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mark = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let (program, arguments) = arguments.split_first().ok_or("an empty command")?;
        // A path is relative to the folder; a name is looked up.
        let path = if program.contains('/') { folder.join(program) } else { program.into() };
        let mut command = Command::new(path);
        command.args(arguments).current_dir(folder).env(MARK, &mark);
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        // The lock keeps other threads from searching for orphans until the new process is registered as the judge's
        // child.
        let mut started = started();
        let child = std::os::unix::process::CommandExt::process_group(&mut command, 0)
            .spawn()
            .map_err(|error| format!("cannot start {program}: {error}"))?;
        started.insert(child.id());
        drop(started);
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let group = ProcessGroup { child, pid, mark };
        if let Some(bytes) = address_space {
            let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
            prlimit(group.pid, Resource::As, limit)
                .map_err(|error| format!("cannot limit the address space of {program}: {error}"))?;
        }
        Ok(group)
    }

    /// Returns the resident memory of all processes in the group in bytes, or 0 if it is unavailable.
    pub fn memory(&self) -> u64 {
        let mut processes = vec![self.child.id()];
        processes.extend(self.orphans(&started(), false));
        with_descendants(processes).into_iter().map(|process| memory_of(process, "VmRSS:")).sum()
    }

    /// Kills all processes in the group.
    pub fn kill(&mut self) {
        let Some(pid) = self.pid.take() else { return };
        // Fails if all of them have ended.
        let _ = kill_process_group(pid, Signal::KILL);
        let _ = self.child.wait();
        let mut started = started();
        started.remove(&self.child.id());
        for _ in 0..MAX_SEARCHES {
            let orphans = self.orphans(&started, true);
            if orphans.is_empty() {
                return;
            }
            for process in with_descendants(orphans.clone()) {
                if let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) {
                    let _ = kill_process(pid, Signal::KILL);
                }
            }
            for pid in orphans.into_iter().filter_map(|process| Pid::from_raw(i32::try_from(process).ok()?)) {
                // The process is dead, but stays in the process list until the judge, its parent, reaps it.
                let _ = waitpid(Some(pid), WaitOptions::empty());
            }
        }
    }

    /// Returns how the process ended, after a short wait for its end.
    pub fn ended(&mut self) -> String {
        let start = Instant::now();
        while start.elapsed() < END_TIME {
            if let Ok(Some(status)) = self.child.try_wait() {
                return described(status);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        "closed its output without ending".into()
    }

    /// Returns the group's adopted processes. With `and_unmarked`, also includes processes that have removed the mark.
    fn orphans(&self, started: &BTreeSet<u32>, and_unmarked: bool) -> Vec<u32> {
        let is_ours = |process: &u32| {
            let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
            let mut marks = environment.split(|&byte| byte == 0).filter_map(|text| {
                let text = text.strip_prefix(MARK.as_bytes())?;
                text.strip_prefix(b"=")
            });
            marks.next().map_or(and_unmarked, |mark| mark == self.mark.as_bytes())
        };
        children_of(std::process::id()).into_iter().filter(|child| !started.contains(child)).filter(is_ours).collect()
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Returns how a process ended.
pub fn described(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".into(),
    }
}

/// Adds all descendants of the processes.
fn with_descendants(mut processes: Vec<u32>) -> Vec<u32> {
    let mut next = 0;
    while next < processes.len() && processes.len() < MAX_PROCESSES {
        processes.extend(children_of(processes[next]));
        next += 1;
    }
    processes
}

/// Returns a process's children, or none if they are unavailable.
fn children_of(process: u32) -> Vec<u32> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{process}/task")) else { return Vec::new() };
    let children =
        |thread: std::fs::DirEntry| std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
    let ids = |text: String| text.split_ascii_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<u32>>();
    threads.flatten().flat_map(|thread| ids(children(thread))).collect()
}

/// Returns a memory size of a process in bytes, by its name in `/proc`.
pub fn memory_of(process: u32, what: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(what));
    let kilobytes = line.and_then(|line| line.split_ascii_whitespace().next()).and_then(|number| number.parse().ok());
    kilobytes.map_or(0, |number: u64| number.saturating_mul(1024))
}
