//! Outputs: standard output, or a file that appears under its name only when it is complete.
//!
//! The library's [`PendingFile`] writes a file under a hidden name and renames it. This module also removes the hidden
//! files when the command is interrupted, and publishes several files together.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;
use std::sync::{Mutex, Once, PoisonError};

use reptile::files::PendingFile;

use super::compressed::Compressor;
use super::identity::Identity;
use super::remote::Remote;
use super::terminal::Stdout;
use crate::error::{Failure, Result, Stop, damaged};
use reptile_records::place::Place;
use reptile_records::stores::abort_uploads;

/// The exit code after SIGINT or SIGTERM: 128 plus the number of SIGINT, as in shells.
const INTERRUPTED: i32 = 130;

/// Unfinished hidden files, to be removed by the interrupt handler.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// An output that is being written.
pub struct Output {
    name: String,
    target: Target,
    /// Compresses the output, if its file extension requests that.
    compressor: Option<Compressor>,
}

enum Target {
    Stdout(Stdout),
    /// An existing device or pipe, written in place because a rename would replace it with a file.
    Device(File),
    File(PendingFile),
    Remote(Box<Remote>),
}

/// A complete file on disk that still has its hidden name.
pub struct Complete {
    name: String,
    file: Unpublished,
}

enum Unpublished {
    File(PendingFile),
    Remote(Box<Remote>),
}

impl Output {
    /// Returns standard output.
    pub fn stdout() -> Output {
        Output { name: "standard output".into(), target: Target::Stdout(Stdout::new()), compressor: None }
    }

    /// Opens a file like [`Output::create_file`], or an existing device or pipe. `-` means standard output. Names that
    /// end in `.gz` or `.zst` select compression.
    ///
    /// # Errors
    /// Returns an error under the conditions listed for [`Output::create_file`], except for devices and pipes.
    pub fn create(path: &Place, force: bool) -> Result<Output> {
        if path.is_standard() {
            return Ok(Output::stdout());
        }
        let compressor = Compressor::for_name(path).map_err(|error| Failure::at(path, error))?;
        if let Place::Local(device) = path
            && path.is_special()
        {
            let device = File::options().write(true).open(device).map_err(|error| Failure::at(path, error))?;
            return Ok(Output { name: path.display().to_string(), target: Target::Device(device), compressor });
        }
        Ok(Output { compressor, ..Output::create_file(path, force)? })
    }

    /// Opens the file for an option that writes additional output, if it is given.
    ///
    /// # Errors
    /// Returns an error under the conditions listed for [`Output::create`], or if the path is standard output, which
    /// receives the verdicts.
    pub fn create_beside(option: &str, path: Option<&Place>, force: bool) -> Result<Option<Output>> {
        if path.is_some_and(Place::is_standard) {
            return Err(Failure::new(format!("{option}: expected a file; standard output is for the verdicts")));
        }
        path.map(|path| Output::create(path, force)).transpose()
    }

    /// Opens a hidden file in the destination folder. A symbolic link remains, and its target is replaced.
    ///
    /// # Errors
    /// Returns an error if the file exists and `force` is not given, if the name belongs to something other than a
    /// file, or if the folder is not writable. These checks happen here, before any work is done.
    pub fn create_file(path: &Place, force: bool) -> Result<Output> {
        remove_when_interrupted();
        let local = match path {
            Place::Local(local) => local,
            Place::Remote(url) => {
                let remote = Box::new(Remote::stream(url, force)?);
                return Ok(Output { name: path.shown(), target: Target::Remote(remote), compressor: None });
            }
        };
        // The lock is taken before the file exists, so that no interrupt can occur between its creation and its
        // registration.
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        let file = PendingFile::create(local, force).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => Failure::at(path, format!("{error}; --force replaces it")),
            _ => Failure::at(path, error),
        })?;
        unfinished.push(file.hidden_path().into());
        Ok(Output { name: path.display().to_string(), target: Target::File(file), compressor: None })
    }

    /// Opens a file like [`Output::create_file`] that can be read before it is published: a remote one is first written
    /// to a temporary file.
    ///
    /// # Errors
    /// Returns an error under the conditions listed for [`Output::create_file`].
    pub fn create_readable(path: &Place, force: bool) -> Result<Output> {
        let Place::Remote(url) = path else { return Output::create_file(path, force) };
        remove_when_interrupted();
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        let remote = Box::new(Remote::spool(url, force)?);
        unfinished.extend(remote.path().map(PathBuf::from));
        Ok(Output { name: path.shown(), target: Target::Remote(remote), compressor: None })
    }

    /// Returns whether the output is a new file or object, which appears only when it is complete.
    pub fn is_file(&self) -> bool {
        matches!(self.target, Target::File(_) | Target::Remote(_))
    }

    /// Returns whether the output is a terminal.
    pub fn is_terminal(&self) -> bool {
        matches!(&self.target, Target::Stdout(stdout) if stdout.is_terminal())
    }

    /// Returns whether the output shows styles.
    pub fn is_colored(&self) -> bool {
        matches!(&self.target, Target::Stdout(stdout) if stdout.is_colored())
    }

    /// Disables escaping for later writes, unless the output is a terminal or shows styles. Returns whether escaping is
    /// disabled.
    pub fn pass_bytes_on(&mut self) -> bool {
        if let Target::Stdout(stdout) = &mut self.target {
            stdout.pass_bytes_on();
        }
        !self.is_terminal() && !self.is_colored()
    }

    /// Converts a write error to a failure that names the output. A closed standard output is not an error.
    pub fn failure(&self, error: &io::Error) -> Failure {
        match self.target {
            Target::Stdout(_) if error.kind() == ErrorKind::BrokenPipe => Failure::Quiet,
            _ => not_written(&self.name, error),
        }
    }

    /// Returns the failure for a command that reads the set at `path`, and writes to this output until `stop`.
    pub fn stop_failure(&self, stop: Stop, path: &Place) -> Failure {
        match stop {
            Stop::Write(error) => self.failure(&error),
            Stop::Set(error) => damaged(path, &error),
            Stop::Other(failure) => failure,
        }
    }

    /// Flushes the output and gives a file its name.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written, or if another process has created the file in the meantime.
    pub fn finish(self) -> Result<()> {
        match self.complete()? {
            Some(complete) => publish([complete]),
            None => Ok(()),
        }
    }

    /// Flushes all bytes to their destination. Files keep their hidden names until they are published. Standard output
    /// and devices are finished after this and return `None`.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn complete(mut self) -> Result<Option<Complete>> {
        let compressed = self.compressor.take().map_or(Ok(Vec::new()), Compressor::finish);
        let written = compressed.and_then(|compressed| self.target.write_all(&compressed)).and_then(|()| self.flush());
        written.map_err(|error| self.failure(&error))?;
        let (synced, file) = match self.target {
            Target::File(file) => (file.sync(), Unpublished::File(file)),
            Target::Remote(mut remote) => (remote.complete(), Unpublished::Remote(remote)),
            Target::Stdout(_) | Target::Device(_) => return Ok(None),
        };
        synced.map_err(|error| not_written(&self.name, &error))?;
        Ok(Some(Complete { name: self.name, file }))
    }
}

impl Complete {
    /// Returns the hidden path, where the file can be read.
    ///
    /// # Errors
    /// Returns an error for a remote output that was not opened with [`Output::create_readable`].
    pub fn hidden_path(&self) -> Result<Place> {
        let path = match &self.file {
            Unpublished::File(file) => Some(file.hidden_path()),
            Unpublished::Remote(remote) => remote.path(),
        };
        let failed = || Failure::new(format!("internal error: {} cannot be read yet; please report it", self.name));
        path.map(Place::from).ok_or_else(failed)
    }

    /// Returns the identity of the file's bytes.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn identity(&self) -> io::Result<Identity> {
        match &self.file {
            Unpublished::File(file) => Identity::of_file(file.hidden_path()),
            Unpublished::Remote(remote) => remote.identity(),
        }
    }
}

fn not_written(name: &str, error: &io::Error) -> Failure {
    Failure::new(format!("{name}: cannot be written: {error}"))
}

/// Gives files their final names, or makes remote ones visible, one at a time. An interrupt takes effect before the
/// first or after the last.
///
/// # Errors
/// Returns an error if a file cannot be renamed, or was created by another process and must not be replaced. Earlier
/// files keep their final names. The failed file and all later ones are removed.
pub fn publish(files: impl IntoIterator<Item = Complete>) -> Result<()> {
    let mut files: Vec<Complete> = files.into_iter().collect();
    for Complete { name, file } in &mut files {
        // Sending may take long, so an interrupt is still possible.
        if let Unpublished::Remote(remote) = file {
            remote.send().map_err(|error| not_written(name, &error))?;
        }
    }
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    for Complete { name, file } in files {
        let published = match file {
            Unpublished::File(file) => {
                let hidden_path = file.hidden_path().to_owned();
                let published = file.publish();
                unfinished.retain(|unfinished| *unfinished != hidden_path);
                published
            }
            Unpublished::Remote(remote) => remote.publish(),
        };
        published.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => {
                Failure::new(format!("{name}: was created in the meantime; --force replaces it"))
            }
            _ => not_written(&name, &error),
        })?;
    }
    Ok(())
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(compressor) = &mut self.compressor else { return self.target.write(bytes) };
        let compressed = compressor.compress(bytes)?;
        self.target.write_all(&compressed)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // The compressor's buffered bytes remain there until the end, because flushing after each block compresses
        // badly.
        self.target.flush()
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Target::Stdout(stdout) => stdout.write(bytes),
            Target::Device(file) => file.write(bytes),
            Target::File(file) => file.write(bytes),
            Target::Remote(remote) => remote.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Target::Stdout(stdout) => stdout.flush(),
            Target::Device(file) => file.flush(),
            Target::File(file) => file.flush(),
            Target::Remote(remote) => remote.flush(),
        }
    }
}

/// Writes text to standard output.
pub fn print(text: impl AsRef<[u8]>) -> Result<()> {
    let mut stdout = Output::stdout();
    stdout.write_all(text.as_ref()).map_err(|error| stdout.failure(&error))?;
    stdout.finish()
}

/// Installs a handler that removes unfinished files when the command is interrupted or terminated.
fn remove_when_interrupted() {
    static HANDLER: Once = Once::new();
    HANDLER.call_once(|| {
        // Without the handler, an interrupt leaves the hidden file; nothing else depends on it.
        let _ = ctrlc::set_handler(|| {
            // The lock is held until the process ends, so that no file is renamed during removal.
            let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
            for path in &*unfinished {
                let _ = fs::remove_file(path);
            }
            abort_uploads();
            std::process::exit(INTERRUPTED);
        });
    });
}
