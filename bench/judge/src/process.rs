//! Processes with time and memory limits, which answer messages or run to completion. The judge reads, writes and waits
//! on separate threads and kills the whole [`ProcessGroup`], so no process can stop it.

mod group;

use std::io::{BufReader, Read, Write as _};
use std::path::Path;
use std::process::{ChildStderr, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use self::group::{ProcessGroup, described, memory_of};
use crate::frame::{self, Message};
use crate::letters;

/// Interval between memory checks while waiting.
const TICK: Duration = Duration::from_millis(20);

/// Bytes kept from the end of a process's standard error.
pub const ERROR_BYTES: usize = 64 << 10;

/// Bytes kept from the start of a command's standard output.
const OUTPUT_BYTES: usize = 1 << 20;

/// Time limit for reading a dead process's output. The output is already there, but the machine may be busy, or a child
/// that left the group may hold the output open.
const READ_TIME: Duration = Duration::from_secs(5);

/// The limits of a process.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Time per reply, or for the whole command.
    pub time: Duration,
    /// Time for the first reply, including the start of the process; at least `time`.
    pub start: Duration,
    /// Resident memory of the process and its children, in bytes.
    pub memory: u64,
    /// Address space of each process, in bytes.
    pub address_space: Option<u64>,
}

/// Why there is no reply.
#[derive(Clone, Debug)]
pub struct NoReply {
    /// The kind of failure, a letter from [`crate::letters`].
    pub letter: u8,
    /// The cause, for the report.
    pub why: String,
}

/// The last bytes that a process wrote to standard error.
struct ErrorTail {
    kept: Arc<Mutex<Vec<u8>>>,
    /// Closed when everything has been read.
    end: Receiver<()>,
}

impl ErrorTail {
    /// Reads standard error to its end on a separate thread.
    fn of(errors: Option<ChildStderr>) -> ErrorTail {
        let tail = Arc::<Mutex<Vec<u8>>>::default();
        let kept = Arc::clone(&tail);
        let (sender, end) = channel();
        if let Some(mut errors) = errors {
            std::thread::spawn(move || {
                let _at_the_end = sender;
                let mut buffer = [0; 8192];
                while let Ok(length @ 1..) = errors.read(&mut buffer) {
                    let Ok(mut kept) = kept.lock() else { return };
                    kept.extend_from_slice(&buffer[..length]);
                    let over = kept.len().saturating_sub(ERROR_BYTES);
                    kept.drain(..over);
                }
            });
        }
        ErrorTail { kept: tail, end }
    }

    /// Returns the bytes read so far.
    fn now(&self) -> Vec<u8> {
        self.kept.lock().map(|kept| kept.clone()).unwrap_or_default()
    }

    /// Returns all bytes from a process that has ended, after waiting for the reader.
    fn all(&self) -> Vec<u8> {
        let _ = self.end.recv_timeout(READ_TIME);
        self.now()
    }
}

/// A process that answers messages.
pub struct EngineProcess {
    group: ProcessGroup,
    requests: Sender<Vec<u8>>,
    replies: Receiver<Result<Option<Message>, String>>,
    errors: ErrorTail,
    limits: Limits,
}

impl EngineProcess {
    /// Starts a process.
    ///
    /// # Errors
    /// Returns an error if the program cannot be started.
    pub fn start(arguments: &[String], folder: &Path, limits: Limits) -> Result<EngineProcess, String> {
        let mut group = ProcessGroup::start(arguments, folder, limits.address_space, Stdio::piped())?;
        let (requests, to_write) = channel::<Vec<u8>>();
        if let Some(mut input) = group.child.stdin.take() {
            std::thread::spawn(move || {
                for request in to_write {
                    // The reading thread notices when the process ends.
                    if input.write_all(&request).and_then(|()| input.flush()).is_err() {
                        return;
                    }
                }
            });
        }
        // At most one reply is queued, so that a process that writes endlessly does not fill memory.
        let (sender, replies) = sync_channel(1);
        if let Some(output) = group.child.stdout.take() {
            std::thread::spawn(move || {
                let mut output = BufReader::with_capacity(1 << 16, output);
                loop {
                    let read = frame::read(&mut output);
                    let is_last = !matches!(read, Ok(Some(_)));
                    if sender.send(read).is_err() || is_last {
                        return;
                    }
                }
            });
        }
        let errors = ErrorTail::of(group.child.stderr.take());
        Ok(EngineProcess { group, requests, replies, errors, limits })
    }

    /// Sends a request and waits for the reply. Returns the reply and the time from the first byte sent to the last
    /// byte read.
    ///
    /// # Errors
    /// Returns an error if the reply is malformed or late, or if the process ends or exceeds its memory limit. The
    /// process is then dead.
    pub fn ask(&mut self, request: Vec<u8>, extra_time: Duration) -> Result<(Message, Duration), NoReply> {
        let asked = self.try_ask(request, self.limits.time + extra_time);
        if let Err(broken) = &asked {
            self.group.kill();
            let said = printable(&self.errors.all());
            if let (Some(last), letters::ENDED) = (said.lines().rfind(|line| !line.trim().is_empty()), broken.letter) {
                let last: String = last.trim().chars().take(200).collect();
                return Err(NoReply { letter: broken.letter, why: format!("{}: {last}", broken.why) });
            }
        }
        asked
    }

    fn try_ask(&mut self, request: Vec<u8>, time: Duration) -> Result<(Message, Duration), NoReply> {
        match self.replies.try_recv() {
            Ok(Ok(Some(_))) => return Err(garbage("a reply without a request".into())),
            Ok(reply) => return self.broken_by(reply),
            Err(_) => {}
        }
        let start = Instant::now();
        // If the writing thread has ended, so has the process.
        let _ = self.requests.send(request);
        loop {
            match self.replies.recv_timeout(TICK) {
                Ok(Ok(Some(reply))) => return Ok((reply, start.elapsed())),
                Ok(reply) => return self.broken_by(reply),
                Err(RecvTimeoutError::Disconnected) => return self.broken_by(Ok(None)),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let memory = self.group.memory();
            if memory > self.limits.memory {
                let (memory, most) = (memory / 1_000_000, self.limits.memory / 1_000_000);
                return Err(NoReply {
                    letter: letters::MEMORY,
                    why: format!("took {memory} MB: at most {most} are allowed"),
                });
            }
            if start.elapsed() > time {
                let why = format!("no reply within {} s", time.as_secs_f64());
                return Err(NoReply { letter: letters::TIME, why });
            }
        }
    }

    /// Returns the error for a missing or malformed reply.
    fn broken_by<T>(&mut self, reply: Result<Option<Message>, String>) -> Result<T, NoReply> {
        Err(match reply {
            Err(fault) => garbage(fault),
            Ok(_) => NoReply { letter: letters::ENDED, why: self.group.ended() },
        })
    }

    /// Returns the last [`ERROR_BYTES`] bytes of the process's standard error, without terminal control characters.
    #[must_use]
    pub fn said(&self) -> String {
        printable(&self.errors.now())
    }

    /// Returns the resident memory of the process and its children, and the process's own peak, in bytes.
    #[must_use]
    pub fn memory(&self) -> (u64, u64) {
        (self.group.memory(), memory_of(self.group.child.id(), "VmHWM:"))
    }

    /// Sends `stop` to the process and waits for its end.
    ///
    /// # Errors
    /// Returns an error if it ends with a code other than 0, or does not end.
    pub fn stop(mut self, request: Vec<u8>) -> Result<(), String> {
        let _ = self.requests.send(request);
        let start = Instant::now();
        while start.elapsed() < self.limits.time {
            // Discard an optional reply.
            let _ = self.replies.try_recv();
            match self.group.child.try_wait() {
                Ok(Some(status)) if status.code() == Some(0) => return Ok(()),
                Ok(Some(status)) => return Err(described(status)),
                _ => std::thread::sleep(Duration::from_millis(2)),
            }
        }
        Err(format!("did not end within {} s", self.limits.time.as_secs_f64()))
    }
}

fn garbage(why: String) -> NoReply {
    NoReply { letter: letters::GARBAGE, why }
}

/// Returns an engine's text with spaces instead of characters that a terminal or a page would interpret: controls
/// except line ends, and marks that change the text direction.
#[must_use]
pub fn printable(text: &[u8]) -> String {
    let is_obeyed = |character: char| {
        (character.is_control() && character != '\n')
            || matches!(character, '\u{200E}' | '\u{200F}' | '\u{061C}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
    };
    let text = String::from_utf8_lossy(text);
    text.chars().map(|character| if is_obeyed(character) { ' ' } else { character }).collect()
}

/// The result of a completed command.
pub struct CommandResult {
    /// The exit code, or `None` if a signal ended it.
    pub code: Option<i32>,
    /// The first [`OUTPUT_BYTES`] bytes of standard output.
    pub output: Vec<u8>,
    /// The last [`ERROR_BYTES`] bytes of standard error.
    pub errors: Vec<u8>,
}

/// Runs a command to completion, without input.
///
/// # Errors
/// Returns an error if it cannot be started, takes too long or exceeds its memory limit.
pub fn run(arguments: &[String], folder: &Path, limits: &Limits) -> Result<CommandResult, String> {
    let mut group = ProcessGroup::start(arguments, folder, limits.address_space, Stdio::null())?;
    let errors = ErrorTail::of(group.child.stderr.take());
    let (sender, outputs) = channel();
    if let Some(mut output) = group.child.stdout.take() {
        std::thread::spawn(move || {
            let mut kept = Vec::new();
            let _ = output.by_ref().take(OUTPUT_BYTES as u64).read_to_end(&mut kept);
            // Discard the rest, so that the process can end.
            let _ = std::io::copy(&mut output, &mut std::io::sink());
            let _ = sender.send(kept);
        });
    }
    let start = Instant::now();
    let mut output = None;
    loop {
        if output.is_none() {
            output = outputs.recv_timeout(TICK).ok();
        } else {
            std::thread::sleep(Duration::from_millis(1));
        }
        if let Ok(Some(status)) = group.child.try_wait() {
            // Its remaining children may hold the output open.
            group.kill();
            let output = output.or_else(|| outputs.recv_timeout(READ_TIME).ok()).unwrap_or_default();
            return Ok(CommandResult { code: status.code(), output, errors: errors.all() });
        }
        if start.elapsed() > limits.time {
            return Err(format!("no end within {} s", limits.time.as_secs_f64()));
        }
        if group.memory() > limits.memory {
            return Err(format!("took more than {} MB", limits.memory / 1_000_000));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits =
        Limits { time: Duration::from_secs(20), start: Duration::ZERO, memory: u64::MAX, address_space: None };

    fn shell(script: &str) -> Result<CommandResult, String> {
        run(&["sh".into(), "-c".into(), script.into()], Path::new("/"), &LIMITS)
    }

    #[test]
    fn keeps_the_start_of_output_and_the_end_of_errors() {
        for (limit, to) in [(OUTPUT_BYTES, ""), (ERROR_BYTES, " >&2")] {
            for bytes in [limit - 1, limit, limit + 1] {
                let script = format!("(printf first; head -c {} /dev/zero | tr '\\0' x; printf last){to}", bytes - 9);
                let ended = shell(&script).unwrap();
                let kept = if to.is_empty() { &ended.output } else { &ended.errors };
                assert_eq!(kept.len(), bytes.min(limit), "{bytes}");
                assert_eq!(kept.starts_with(b"first"), to.is_empty() || bytes <= limit, "{bytes}");
                assert_eq!(kept.ends_with(b"last"), !to.is_empty() || bytes <= limit, "{bytes}");
            }
        }
    }

    #[test]
    fn remaining_children_are_killed() {
        let ended = shell("sleep 1000 & echo $!; exit 7").unwrap();
        assert_eq!(ended.code, Some(7));
        assert_gone(&String::from_utf8(ended.output).unwrap());
    }

    /// Waits until a process has ended.
    fn assert_gone(process: &str) {
        // A killed process exists until the kernel has removed it, and only its parent can wait for that.
        let start = Instant::now();
        loop {
            let status = std::fs::read_to_string(format!("/proc/{}/status", process.trim())).unwrap_or_default();
            if status.is_empty() || status.contains("State:\tZ") {
                break;
            }
            assert!(start.elapsed() < LIMITS.time, "{status}");
            std::thread::sleep(TICK);
        }
    }

    #[test]
    fn children_that_leave_the_group_are_killed() {
        // Once with the judge's mark in the environment, and once with an empty environment.
        for clean in ["", "env -i"] {
            let script = format!("{clean} setsid sh -c 'sleep 1000 & echo $!; exit' & wait; exit 7");
            let ended = shell(&script).unwrap();
            assert_eq!(ended.code, Some(7));
            assert_gone(&String::from_utf8(ended.output).unwrap());
        }
    }

    #[test]
    fn control_characters_are_not_printed() {
        let said = printable(b"\x1b[2Jred\x07 \xC2\x9b1m\r\n\xE2\x80\xAEtxt.\xff");
        assert_eq!(said, " [2Jred   1m \n txt.\u{FFFD}");
    }

    #[test]
    fn the_address_space_is_limited() {
        let limits = Limits { address_space: Some(100_000_000), ..LIMITS };
        // The limit is set just after the start, so the shell waits for it.
        let script = "while [ \"$(ulimit -v)\" = unlimited ]; do sleep 0.01; done; ulimit -v";
        let ended = run(&["sh".into(), "-c".into(), script.into()], Path::new("/"), &limits).unwrap();
        let output = String::from_utf8_lossy(&ended.output).into_owned();
        assert_eq!(output, "97656\n");
    }

    #[test]
    fn missing_programs_are_named() {
        let fault = run(&["no-such-program".into()], Path::new("/"), &LIMITS).err().unwrap();
        assert!(fault.contains("cannot start no-such-program"), "{fault}");
    }
}
