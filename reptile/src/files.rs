//! Files that appear under their names only when they are complete, and mapped files that are larger than memory.

mod hidden;

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use reptile_engine::platform::MappedFile;
use tempfile::NamedTempFile;

/// The time between two releases of mapped files' pages.
const RELEASE_INTERVAL: Duration = Duration::from_millis(50);

/// A file that is written under a hidden name in its destination folder until it is published.
///
/// If it is dropped before, the hidden file is removed, and an existing file does not change. If the process is killed,
/// the next process that creates a pending file with the same name removes the hidden file. A symbolic link remains,
/// and its target is replaced.
///
/// A new file has the usual mode, and a file that replaces another one has that file's mode. The system applies the
/// umask to both.
///
/// ```
/// use std::io::Write;
/// use reptile::files::PendingFile;
///
/// let folder = std::env::temp_dir();
/// let path = folder.join(format!("pending-{}.txt", std::process::id()));
/// let mut file = PendingFile::create(&path, false)?;
/// file.write_all(b"complete")?;
/// file.sync()?;
/// assert!(!path.exists());
/// file.publish()?;
/// assert_eq!(std::fs::read(&path)?, b"complete");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct PendingFile {
    file: NamedTempFile,
    path: PathBuf,
    replaces: bool,
}

impl PendingFile {
    /// Creates the hidden file. `replace` says whether the published file may replace another one.
    ///
    /// # Errors
    /// Returns [`ErrorKind::AlreadyExists`] if a file exists that must not be replaced, and another error if the name
    /// belongs to something other than a file, if a symbolic link is dangling, or if the folder is not writable.
    pub fn create(path: &Path, replace: bool) -> io::Result<PendingFile> {
        let path = target_of(path)?;
        let existing = match fs::metadata(&path) {
            Ok(found) => Some(found),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        match &existing {
            Some(found) if !found.is_file() => {
                return Err(io::Error::new(ErrorKind::InvalidInput, "exists and is not a regular file"));
            }
            Some(_) if !replace => return Err(io::Error::new(ErrorKind::AlreadyExists, "exists already")),
            _ => {}
        }
        let permissions = existing.map(|found| found.permissions()).or_else(usual_permissions);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let file = hidden::create(folder_of(&path), &name, permissions.as_ref()).map_err(|error| {
            // The hidden name means nothing to the user.
            let text = error.to_string();
            let reason = text.rsplit_once(" at path ").map_or(&*text, |(reason, _)| reason);
            io::Error::new(error.kind(), format!("cannot be created: {reason}"))
        })?;
        hidden::remove_abandoned(folder_of(&path), &name, &file);
        Ok(PendingFile { file, path, replaces: replace })
    }

    /// Returns the hidden path, where the file can be read before it is published.
    #[must_use]
    pub fn hidden_path(&self) -> &Path {
        self.file.path()
    }

    /// Writes the file's bytes to disk.
    ///
    /// # Errors
    /// Returns an error if they cannot be written.
    pub fn sync(&self) -> io::Result<()> {
        self.file.as_file().sync_all()
    }

    /// Renames the file to its final name, and writes the name to disk. Call [`PendingFile::sync`] first.
    ///
    /// # Errors
    /// Returns [`ErrorKind::AlreadyExists`] if another process has created a file in the meantime that must not be
    /// replaced, or another error if the file cannot be renamed. The hidden file is then removed. Also returns an error
    /// if the name cannot be written to disk; then the complete file has its name, which a power failure could undo.
    pub fn publish(self) -> io::Result<()> {
        let PendingFile { file, path, replaces } = self;
        if replaces { file.persist(&path) } else { file.persist_noclobber(&path) }.map_err(|error| error.error)?;
        sync_folder(folder_of(&path))
    }
}

impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The error of `NamedTempFile` itself would contain the hidden name.
        self.file.as_file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_file_mut().flush()
    }
}

/// Returns the target of a symbolic link, or any other path unchanged, even if no file exists there.
///
/// ```
/// use std::path::Path;
///
/// let path = Path::new("not-yet-written.reptile");
/// assert_eq!(reptile::files::target_of(path)?, path);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// Returns an error if a symbolic link is dangling, or if the path cannot be looked up.
pub fn target_of(path: &Path) -> io::Result<PathBuf> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => fs::canonicalize(path),
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(path.into()),
    }
}

/// Returns a file's folder.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Returns a new file's permissions, before the system applies the umask. Temporary files would be private.
fn usual_permissions() -> Option<fs::Permissions> {
    #[cfg(unix)]
    return Some(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    #[cfg(not(unix))]
    None
}

/// Writes a folder's names to disk. Without this, a power failure could lose a new name. Systems other than Unix cannot
/// open folders, and do not need this.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Runs `work`, which reads mapped files of any size. Another thread releases their pages regularly, so that only
/// recently read pages take memory.
///
/// ```no_run
/// use reptile::{MappedFile, files::release_pages_during};
///
/// // SAFETY: no process writes to this file.
/// let file = unsafe { MappedFile::open("web.reptile") }?;
/// let zeros = release_pages_during(&[&file], || file.as_ref().iter().filter(|&&byte| byte == 0).count());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn release_pages_during<R>(files: &[&MappedFile], work: impl FnOnce() -> R) -> R {
    let (end, ended) = mpsc::channel::<()>();
    thread::scope(|scope| {
        // Without the thread, the pages stay in memory; nothing else depends on it.
        let _ = thread::Builder::new().spawn_scoped(scope, move || {
            while ended.recv_timeout(RELEASE_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                files.iter().for_each(|file| file.release());
            }
        });
        let result = work();
        drop(end);
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, replace: bool, bytes: &[u8]) -> io::Result<()> {
        let mut file = PendingFile::create(path, replace)?;
        file.write_all(bytes)?;
        file.sync()?;
        file.publish()
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[cfg(unix)]
    #[test]
    fn files_have_the_mode_of_a_new_file_or_of_the_replaced_one() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        File::create(&path).unwrap();
        let usual = mode();
        fs::remove_file(&path).unwrap();
        for (existing, expected) in [
            (None, usual),
            (Some(0o600), 0o600),
            (Some(0o400), 0o400),
            // The system applies the umask to the replaced file's mode too.
            (Some(0o666), usual),
            (Some(0o640), 0o640 & (usual | 0o111)),
        ] {
            let _ = fs::remove_file(&path);
            if let Some(mode) = existing {
                fs::write(&path, "old").unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            }
            write(&path, true, b"new").unwrap();
            assert_eq!(format!("{:o}", mode()), format!("{expected:o}"), "{existing:?}");
        }
    }

    #[test]
    fn refused_and_abandoned_files_leave_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (path, sub) = (folder.path().join("old"), folder.path().join("folder"));
        fs::write(&path, "old").unwrap();
        fs::create_dir(&sub).unwrap();
        for (path, replace, kind, text) in [
            (path.clone(), false, ErrorKind::AlreadyExists, "exists already"),
            (sub.clone(), true, ErrorKind::InvalidInput, "exists and is not a regular file"),
            (folder.path().join("none/new"), true, ErrorKind::NotFound, "cannot be created: No such file"),
        ] {
            let error = PendingFile::create(&path, replace).unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.to_string().starts_with(text) && !error.to_string().contains(".tmp"), "{error}");
        }
        let mut abandoned = PendingFile::create(&path, true).unwrap();
        abandoned.write_all(b"half").unwrap();
        assert_eq!(names(folder.path()).len(), 3);
        drop(abandoned);
        assert_eq!(
            (names(folder.path()), fs::read(&path).unwrap()),
            (vec!["folder".into(), "old".into()], b"old".to_vec())
        );
    }

    #[test]
    fn files_created_in_the_meantime_are_replaced_only_if_allowed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for (replace, expected) in [(false, "other"), (true, "own")] {
            let _ = fs::remove_file(&path);
            let mut file = PendingFile::create(&path, replace).unwrap();
            file.write_all(b"own").unwrap();
            file.sync().unwrap();
            fs::write(&path, "other").unwrap();
            let result = file.publish();
            assert_eq!(result.err().map(|error| error.kind()), (!replace).then_some(ErrorKind::AlreadyExists));
            assert_eq!(fs::read_to_string(&path).unwrap(), expected);
            assert_eq!(names(folder.path()), ["file"]);
        }
    }

    #[cfg(unix)]
    #[test]
    fn symbolic_links_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (link, target) = (folder.path().join("link"), folder.path().join("target"));
        std::os::unix::fs::symlink("target", &link).unwrap();
        assert_eq!(PendingFile::create(&link, true).unwrap_err().kind(), ErrorKind::NotFound);
        fs::write(&target, "old").unwrap();
        write(&link, true, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&target).unwrap(), b"new");
    }

    #[test]
    fn folders_can_be_synced() {
        let folder = tempfile::tempdir().unwrap();
        sync_folder(folder.path()).unwrap();
        sync_folder(folder_of(Path::new("file"))).unwrap();
        assert_eq!(sync_folder(&folder.path().join("none")).is_err(), cfg!(unix));
    }

    #[test]
    fn released_pages_can_be_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let bytes: Vec<u8> = (0..8 << 20).map(|at| (at % 251) as u8).collect();
        let file = MappedFile::nameless(folder.path(), |out| out.write_all(&bytes)).unwrap();
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
        for _ in 0..3 {
            assert!(file.as_ref() == bytes);
            file.release();
        }
        assert!(release_pages_during(&[&file], || file.as_ref() == bytes));
        let empty = MappedFile::nameless(folder.path(), |_| Ok(())).unwrap();
        empty.release();
        assert!(empty.as_ref().is_empty());
    }
}
