//! Outputs: standard output, or a file that appears under its name only when it is complete.
//!
//! A file is written beside its place under a hidden name, synchronised with the disk, and renamed. Whatever goes wrong
//! before the rename, an interrupt included, leaves nothing in the folder and an older file untouched. What a killed process
//! leaves, the next one that writes a file of the same name removes.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

use tempfile::NamedTempFile;

use super::hidden;
use super::packed::Packer;
use super::terminal::Stdout;
use crate::error::{Failure, Result};

/// The exit code after SIGINT or SIGTERM: 128 plus the number of SIGINT, as shells have it.
const INTERRUPTED: i32 = 130;

/// The hidden files that are being written, for the handler of interrupts to remove.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// An output that is being written.
pub struct Output {
    name: String,
    target: Target,
    /// Packs what is written, if the name of the output asks for it.
    packer: Option<Packer>,
}

enum Target {
    Stdout(Stdout),
    /// An existing device or pipe, which is written in place: a rename would replace it by a file.
    Device(File),
    File(Hidden),
}

/// A file under a hidden name beside its place.
struct Hidden {
    file: NamedTempFile,
    path: PathBuf,
    force: bool,
}

/// A file whose bytes are all on disk and that lacks only its name.
pub struct Complete {
    hidden: Hidden,
}

impl Output {
    /// Standard output.
    pub fn stdout() -> Output {
        Output { name: "standard output".into(), target: Target::Stdout(Stdout::new()), packer: None }
    }

    /// Opens a file as [`Output::create_file`] does, or an existing device or pipe; `-` is standard output. What goes to a
    /// name that ends in `.gz` or `.zst` is packed.
    ///
    /// # Errors
    /// As [`Output::create_file`], but for devices and pipes.
    pub fn create(path: &Path, force: bool) -> Result<Output> {
        if path == Path::new("-") {
            return Ok(Output::stdout());
        }
        let packer = Packer::for_name(path).map_err(|error| Failure::at(path, error))?;
        if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            let device = File::options().write(true).open(path).map_err(|error| Failure::at(path, error))?;
            return Ok(Output { name: path.display().to_string(), target: Target::Device(device), packer });
        }
        Ok(Output { packer, ..Output::create_file(path, force)? })
    }

    /// Opens the file of an option that writes beside the verdicts, if it is given.
    ///
    /// # Errors
    /// As [`Output::create`], and if the file would be standard output, where the verdicts go.
    pub fn create_beside(option: &str, path: Option<&Path>, force: bool) -> Result<Option<Output>> {
        if path == Some(Path::new("-")) {
            return Err(Failure::new(format!("{option}: expected a file; standard output is for the verdicts")));
        }
        path.map(|path| Output::create(path, force)).transpose()
    }

    /// Opens a file beside its place. A symbolic link stays, and the file that it points to is replaced.
    ///
    /// # Errors
    /// If the file exists and `force` is not given, if there is something else of that name, or if the folder cannot be
    /// written. All of it is found out here, before any work is done.
    pub fn create_file(path: &Path, force: bool) -> Result<Output> {
        let name = path.display().to_string();
        let path = resolved(path)?;
        let existing = match fs::metadata(&path) {
            Ok(found) => Some(found),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(Failure::at(&path, error)),
        };
        match &existing {
            Some(found) if !found.is_file() => return Err(Failure::at(&path, "exists and is not a regular file")),
            Some(_) if !force => return Err(Failure::at(&path, "exists already; --force replaces it")),
            _ => {}
        }
        let permissions = existing.map(|found| found.permissions()).or_else(usual_permissions);
        let file = create_hidden(&path, permissions).map_err(|error| {
            // The outer error repeats the hidden name, which means nothing to the user.
            let reason = error.get_ref().and_then(|inner| inner.source().map(ToString::to_string));
            Failure::new(format!("{name}: cannot be created: {}", reason.unwrap_or_else(|| error.to_string())))
        })?;
        Ok(Output { name, target: Target::File(Hidden { file, path, force }), packer: None })
    }

    /// Whether the output is a terminal.
    pub fn is_terminal(&self) -> bool {
        matches!(&self.target, Target::Stdout(stdout) if stdout.is_terminal())
    }

    /// Whether styles are shown in the output.
    pub fn is_coloured(&self) -> bool {
        matches!(&self.target, Target::Stdout(stdout) if stdout.is_coloured())
    }

    /// From now on writes bytes as they are, unless the output is a terminal or styles are shown in it. Returns whether it
    /// does.
    pub fn pass_bytes_on(&mut self) -> bool {
        if let Target::Stdout(stdout) = &mut self.target {
            stdout.pass_bytes_on();
        }
        !self.is_terminal() && !self.is_coloured()
    }

    /// Turns an error of writing into a failure that names the output. A reader of standard output that has gone away
    /// is not an error.
    pub fn failure(&self, error: &io::Error) -> Failure {
        match self.target {
            Target::Stdout(_) if error.kind() == ErrorKind::BrokenPipe => Failure::Quiet,
            _ => Failure::new(format!("{}: cannot be written: {error}", self.name)),
        }
    }

    /// Writes out what is buffered and gives a file its name.
    ///
    /// # Errors
    /// If the output cannot be written, or if another process has created the file in the meantime.
    pub fn finish(self) -> Result<()> {
        match self.complete()? {
            Some(complete) => publish([complete]),
            None => Ok(()),
        }
    }

    /// Brings every byte to where it belongs. A file is still hidden after this, until it is published; standard output
    /// and devices need no more and give `None`.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn complete(mut self) -> Result<Option<Complete>> {
        let packed = self.packer.take().map_or(Ok(Vec::new()), Packer::finish);
        let written = packed.and_then(|packed| self.target.write_all(&packed)).and_then(|()| self.flush());
        written.map_err(|error| self.failure(&error))?;
        let Target::File(hidden) = self.target else { return Ok(None) };
        hidden.file.as_file().sync_all().map_err(|error| hidden.failure(&error))?;
        Ok(Some(Complete { hidden }))
    }
}

impl Complete {
    /// The hidden name, under which the file can be read.
    pub fn hidden_path(&self) -> &Path {
        self.hidden.file.path()
    }
}

impl Hidden {
    fn failure(&self, error: &io::Error) -> Failure {
        Failure::at(&self.path, format!("cannot be written: {error}"))
    }
}

/// Gives files their names, one after the other. An interrupt comes before the first of them or after the last.
///
/// # Errors
/// If a file cannot be renamed, or was created by another process and is not to be replaced. The files before it have
/// their names; it and those after it are removed.
pub fn publish(files: impl IntoIterator<Item = Complete>) -> Result<()> {
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    for Complete { hidden: Hidden { file, path, force } } in files {
        let hidden_path = file.path().to_owned();
        let fail = |error: io::Error| Failure::at(&path, format!("cannot be written: {error}"));
        let renamed = if force { file.persist(&path) } else { file.persist_noclobber(&path) };
        renamed.map_err(|error| match error.error.kind() {
            ErrorKind::AlreadyExists => Failure::at(&path, "was created in the meantime; --force replaces it"),
            _ => fail(error.error),
        })?;
        unfinished.retain(|unfinished| *unfinished != hidden_path);
        // Without this the name might be lost when the power fails.
        File::open(folder(&path)).and_then(|folder| folder.sync_all()).map_err(fail)?;
    }
    Ok(())
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(packer) = &mut self.packer else { return self.target.write(bytes) };
        let packed = packer.pack(bytes)?;
        self.target.write_all(&packed)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // What a packer holds back stays there until the end: given out after each block, it would pack badly.
        self.target.flush()
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Target::Stdout(stdout) => stdout.write(bytes),
            Target::Device(file) => file.write(bytes),
            Target::File(hidden) => hidden.file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Target::Stdout(stdout) => stdout.flush(),
            Target::Device(file) => file.flush(),
            Target::File(hidden) => hidden.file.flush(),
        }
    }
}

/// Writes text to standard output.
pub fn print(text: impl AsRef<[u8]>) -> Result<()> {
    let mut stdout = Output::stdout();
    stdout.write_all(text.as_ref()).map_err(|error| stdout.failure(&error))?;
    stdout.finish()
}

/// The path of the file itself: a symbolic link is followed, and what does not exist is taken as it is.
///
/// # Errors
/// If a symbolic link points to nothing, or the path cannot be looked up.
pub fn resolved(path: &Path) -> Result<PathBuf> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => fs::canonicalize(path).map_err(|error| Failure::at(path, error)),
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Failure::at(path, error)),
        _ => Ok(path.into()),
    }
}

/// Creates the hidden file for a path.
fn create_hidden(path: &Path, permissions: Option<fs::Permissions>) -> io::Result<NamedTempFile> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    remove_when_interrupted();
    // Locked before the file exists, so that no interrupt comes between its creation and its entry in the list.
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    let file = hidden::create(folder(path), &name, permissions.as_ref())?;
    unfinished.push(file.path().into());
    drop(unfinished);
    hidden::remove_left(folder(path), &name, &file);
    Ok(file)
}

/// The folder that a file is in.
fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The permissions of a new file, from which the system takes those that the umask forbids. Temporary files would be
/// private.
fn usual_permissions() -> Option<fs::Permissions> {
    #[cfg(unix)]
    return Some(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    #[cfg(not(unix))]
    None
}

/// Installs the handler that removes unfinished files when the command is interrupted or terminated.
fn remove_when_interrupted() {
    static HANDLER: Once = Once::new();
    HANDLER.call_once(|| {
        // Without the handler an interrupt leaves the hidden file; nothing else depends on it.
        let _ = ctrlc::set_handler(|| {
            // The lock is held until the process ends, so that no file is renamed while it is being removed.
            let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
            for path in &*unfinished {
                let _ = fs::remove_file(path);
            }
            std::process::exit(INTERRUPTED);
        });
    });
}
