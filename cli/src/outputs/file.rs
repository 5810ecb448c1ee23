//! Where results go: standard output, or a file that appears under its name only when it is whole.
//!
//! A file is written beside its place under a hidden name, brought to disk, and renamed. Whatever goes wrong
//! before that, an interrupt included, leaves nothing behind and an older file untouched.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

use serde::Serialize;
use tempfile::NamedTempFile;

use crate::error::{Failure, Result, is_unsafe};

/// The exit code after a signal that ends the command, the one that shells have for an interrupt.
const INTERRUPTED: i32 = 130;

/// The unfinished file, for the handler of interrupts. One command writes one file.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// An output being written.
pub struct Output {
    name: String,
    target: Target,
}

enum Target {
    Stdout(io::Stdout),
    /// What is there already and is no regular file, such as a device: renaming would replace it.
    Device(File),
    Beside {
        file: NamedTempFile,
        path: PathBuf,
        force: bool,
    },
}

impl Output {
    /// Standard output.
    pub fn stdout() -> Output {
        Output { name: "standard output".into(), target: Target::Stdout(io::stdout()) }
    }

    /// A file, or a device that is there already.
    pub fn create(path: &Path, force: bool) -> Result<Output> {
        if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            let device = File::options().write(true).open(path).map_err(|error| Failure::at(path, error))?;
            return Ok(Output { name: path.display().to_string(), target: Target::Device(device) });
        }
        Output::create_file(path, force)
    }

    /// A file. Refuses to replace one unless `force` is given, before any work is done.
    pub fn create_file(path: &Path, force: bool) -> Result<Output> {
        let name = path.display().to_string();
        let existing = match fs::symlink_metadata(path) {
            Ok(found) => Some(found),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(Failure::at(path, error)),
        };
        // A link stays, and what it points to is replaced.
        let is_link = existing.as_ref().is_some_and(|found| found.file_type().is_symlink());
        let path =
            if is_link { fs::canonicalize(path).map_err(|error| Failure::at(path, error))? } else { path.into() };
        let existing = if is_link { fs::metadata(&path).ok() } else { existing };
        match &existing {
            Some(found) if !found.is_file() => return Err(Failure::at(&path, "exists and is not a regular file")),
            Some(_) if !force => return Err(Failure::at(&path, "exists already; --force replaces it")),
            _ => {}
        }
        let mut builder = tempfile::Builder::new();
        let base = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let prefix = format!(".{base}.");
        builder.prefix(&prefix).suffix(".tmp");
        if let Some(permissions) = existing.map(|found| found.permissions()).or_else(usual_permissions) {
            builder.permissions(permissions);
        }
        remove_when_interrupted();
        // Locked from before the file is there, so that no interrupt finds it without knowing of it.
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        let file = builder.tempfile_in(folder(&path)).map_err(|error| {
            let reason = error.get_ref().and_then(|inner| inner.source().map(ToString::to_string));
            Failure::new(format!("{name}: cannot be created: {}", reason.unwrap_or_else(|| error.to_string())))
        })?;
        *unfinished = Some(file.path().into());
        drop(unfinished);
        Ok(Output { name, target: Target::Beside { file, path, force } })
    }

    /// Whether it is a terminal.
    pub fn is_terminal(&self) -> bool {
        matches!(&self.target, Target::Stdout(stdout) if io::IsTerminal::is_terminal(stdout))
    }

    /// The failure that an error in writing is.
    pub fn failure(&self, error: &io::Error) -> Failure {
        match self.target {
            Target::Stdout(_) if error.kind() == ErrorKind::BrokenPipe => Failure::Quiet,
            _ => Failure::new(format!("{}: cannot be written: {error}", self.name)),
        }
    }

    /// Brings everything to where it belongs. `check` sees the file, whole and on disk, before it gets its name.
    pub fn finish(mut self, check: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        self.flush().map_err(|error| self.failure(&error))?;
        let Target::Beside { file, path, force } = self.target else { return Ok(()) };
        let fail = |error: io::Error| Failure::at(&path, format!("cannot be written: {error}"));
        file.as_file().sync_all().map_err(fail)?;
        check(file.path())?;
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        let renamed = if force { file.persist(&path) } else { file.persist_noclobber(&path) };
        renamed.map_err(|error| match error.error.kind() {
            ErrorKind::AlreadyExists => Failure::at(&path, "has come into being meanwhile; --force replaces it"),
            _ => fail(error.error),
        })?;
        *unfinished = None;
        drop(unfinished);
        // The name itself is on disk only when the folder is.
        File::open(folder(&path)).and_then(|folder| folder.sync_all()).map_err(fail)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            Target::Stdout(stdout) => stdout.write(bytes),
            Target::Device(file) => file.write(bytes),
            Target::Beside { file, .. } => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::Stdout(stdout) => stdout.flush(),
            Target::Device(file) => file.flush(),
            Target::Beside { file, .. } => file.flush(),
        }
    }
}

/// Writes text to standard output.
pub fn print(text: impl AsRef<[u8]>) -> Result<()> {
    let mut stdout = Output::stdout();
    stdout.write_all(text.as_ref()).map_err(|error| stdout.failure(&error))?;
    stdout.finish(|_| Ok(()))
}

/// A value as a line of JSON, in which what might do something to a terminal is escaped.
pub fn json_line(value: &impl Serialize) -> Result<String> {
    Ok(safe_json(&serde_json::to_string(value).map_err(Failure::new)?))
}

/// JSON as a line, in which what might do something to a terminal is escaped.
pub fn safe_json(json: &str) -> String {
    let mut line = String::with_capacity(json.len() + 1);
    for character in json.chars() {
        if is_unsafe(character) {
            // All of them are in the first plane.
            line.push_str(&format!("\\u{:04x}", u32::from(character)));
        } else {
            line.push(character);
        }
    }
    line.push('\n');
    line
}

/// The folder that a file is in.
fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// What a new file may be used for by whom, before the umask. Temporary files are private otherwise.
fn usual_permissions() -> Option<fs::Permissions> {
    #[cfg(unix)]
    return Some(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    #[cfg(not(unix))]
    None
}

/// Has the unfinished file removed when the user interrupts the command or the system ends it. Called before there
/// is one, so that no interrupt comes too early.
fn remove_when_interrupted() {
    static HANDLER: Once = Once::new();
    HANDLER.call_once(|| {
        // Without the handler an interrupt leaves the file; nothing else depends on it.
        let _ = ctrlc::set_handler(|| {
            // The lock is kept until the end, so that the file is not renamed while it is removed.
            let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(path) = &*unfinished {
                let _ = fs::remove_file(path);
            }
            std::process::exit(INTERRUPTED);
        });
    });
}
