//! Hidden files, which become outputs when they are complete, and removal of files that a killed process left.
//!
//! A hidden file is locked while its process lives. The next process that writes an output with the same name removes
//! that output's unlocked hidden files. Locks work across hosts on most network file systems, but not on all. The name
//! therefore also identifies the system boot, and a file from another boot must be old as well. Links are never
//! followed, and only regular files with an exactly matching name are removed.

use std::fs;
use std::io;
use std::path::Path;
#[cfg(unix)]
use std::{fs::File, os::unix::fs::MetadataExt, time::Duration};

#[cfg(unix)]
use rustix::{fs::FlockOperation::NonBlockingLockExclusive, fs::flock, io::Errno};
use tempfile::NamedTempFile;

/// Maximum number of bytes from an output's name in its hidden name. Longer names might not fit.
const MAX_NAME_BYTES: usize = 128;

/// Maximum number of hidden files checked per output and run. Normal use never creates more.
#[cfg(unix)]
const MAX_LOOKED_AT: usize = 1000;

/// Minimum time since the last write before a hidden file from another boot counts as abandoned. Its writer may be
/// alive on another host, reading its input.
#[cfg(unix)]
const MIN_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Number of boot digits in a hidden name.
const BOOT_DIGITS: usize = 8;

/// Number of random characters in a hidden name.
const RANDOM_CHARACTERS: usize = 6;

/// Maximum number of names tried if another process removes each new file before it is locked.
const MAX_CHOICES: usize = 8;

/// The suffix of hidden names.
const SUFFIX: &str = ".tmp";

/// Creates a locked hidden file in the output's folder.
///
/// # Errors
/// Returns an error if the file cannot be created.
pub fn create(folder: &Path, name: &str, permissions: Option<&fs::Permissions>) -> io::Result<NamedTempFile> {
    let prefix = prefix_of(name);
    let own_prefix = format!("{prefix}{}-", boot().unwrap_or_else(|| "0".repeat(BOOT_DIGITS)));
    let mut builder = tempfile::Builder::new();
    builder.prefix(&own_prefix).suffix(SUFFIX).rand_bytes(RANDOM_CHARACTERS);
    if let Some(permissions) = permissions {
        builder.permissions(permissions.clone());
    }
    choose(|| builder.tempfile_in(folder), hold)
}

/// Returns the prefix of an output's hidden names, with as many whole characters of the output's name as fit.
fn prefix_of(name: &str) -> String {
    let end = (0..=name.len().min(MAX_NAME_BYTES)).rev().find(|&end| name.is_char_boundary(end));
    format!(".{}.", &name[..end.unwrap_or(0)])
}

/// Makes items until one is held. After [`MAX_CHOICES`] items, the last is returned without being held.
fn choose<T>(mut make: impl FnMut() -> io::Result<T>, mut hold: impl FnMut(&T) -> io::Result<bool>) -> io::Result<T> {
    let mut made = make()?;
    for _ in 1..MAX_CHOICES {
        if hold(&made)? {
            break;
        }
        made = make()?;
    }
    Ok(made)
}

/// Returns the first digits of the system's boot identifier, or `None` if it is unavailable.
fn boot() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let digits: String = id.chars().filter(char::is_ascii_hexdigit).take(BOOT_DIGITS).collect();
    (digits.len() == BOOT_DIGITS).then_some(digits)
}

/// Locks a new file while it is open. Returns `false` if another process holds the lock or has removed the file.
#[cfg(unix)]
fn hold(file: &NamedTempFile) -> io::Result<bool> {
    match flock(file.as_file(), NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Ok(false),
        // Where files cannot be locked, none is ever removed.
        Err(_) => Ok(true),
        Ok(()) => Ok(file.as_file().metadata()?.nlink() > 0),
    }
}

/// A lock would prevent this process from reading the file.
#[cfg(not(unix))]
fn hold(_: &NamedTempFile) -> io::Result<bool> {
    Ok(true)
}

/// Removes an output's abandoned hidden files. `own` is the same output's new hidden file. Files that cannot be removed
/// remain and do no harm.
#[cfg(unix)]
pub fn remove_abandoned(folder: &Path, name: &str, own: &NamedTempFile) {
    let prefix = prefix_of(name);
    let boot = boot();
    let Ok(entries) = fs::read_dir(folder) else { return };
    let names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
    let hidden = names.filter_map(|name| Some((boot_of(name.to_str()?, &prefix)?.to_owned(), name)));
    for (since, name) in hidden.take(MAX_LOOKED_AT) {
        let path = folder.join(name);
        if path != own.path() {
            let _ = remove_if_abandoned(&path, own, boot.as_deref() == Some(&*since));
        }
    }
}

/// Without locks, abandoned files cannot be detected.
#[cfg(not(unix))]
pub fn remove_abandoned(_: &Path, _: &str, _: &NamedTempFile) {}

/// Returns the boot digits in a hidden name with this prefix, or `None` for any other name.
#[cfg(unix)]
fn boot_of<'n>(name: &'n str, prefix: &str) -> Option<&'n str> {
    let (boot, random) = name.strip_prefix(prefix)?.strip_suffix(SUFFIX)?.split_once('-')?;
    let fits = boot.len() == BOOT_DIGITS
        && boot.bytes().all(|byte| byte.is_ascii_hexdigit())
        && random.len() == RANDOM_CHARACTERS
        && random.bytes().all(|byte| byte.is_ascii_alphanumeric());
    fits.then_some(boot)
}

/// Removes a hidden file if it is unlocked and either was created since this boot or is old. Both files' times come
/// from the file system's clock.
#[cfg(unix)]
fn remove_if_abandoned(path: &Path, own: &NamedTempFile, is_of_this_boot: bool) -> io::Result<()> {
    let found = fs::symlink_metadata(path)?;
    if !found.is_file() {
        return Ok(());
    }
    if !is_of_this_boot {
        let age = own.as_file().metadata()?.modified()?.duration_since(found.modified()?);
        if age.unwrap_or_default() < MIN_AGE {
            return Ok(());
        }
    }
    // Some file systems lock only files that are open for writing. A pipe that replaces the file at this moment would
    // not block, since it is opened for both.
    let file = File::options().read(true).write(true).open(path)?;
    let opened = file.metadata()?;
    if (opened.dev(), opened.ino()) == (found.dev(), found.ino()) && flock(&file, NonBlockingLockExclusive).is_ok() {
        fs::remove_file(path)?;
    }
    Ok(())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    /// Returns the names in a folder, except for one.
    fn names(folder: &Path, but: &NamedTempFile) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
        let mut names: Vec<String> = entries
            .filter(|entry| entry.path() != but.path())
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Creates a file that was last written `age` ago.
    fn file(folder: &Path, name: &str, age: Duration) -> File {
        let file = File::create(folder.join(name)).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
        file
    }

    fn swept(folder: &Path) -> Vec<String> {
        let own = create(folder, "out", None).unwrap();
        remove_abandoned(folder, "out", &own);
        assert!(own.path().exists());
        names(folder, &own)
    }

    #[test]
    fn choices_stop_at_the_limit() {
        for failures in [MAX_CHOICES - 2, MAX_CHOICES - 1, MAX_CHOICES, usize::MAX] {
            let mut made = 0;
            let make = || {
                made += 1;
                Ok(made)
            };
            let chosen = choose(make, |&number| Ok(number > failures)).unwrap();
            assert_eq!(chosen, failures.saturating_add(1).min(MAX_CHOICES), "{failures}");
        }
    }

    #[test]
    fn only_exact_names_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let boot = boot().unwrap_or_else(|| "0".repeat(BOOT_DIGITS));
        let old = 2 * MIN_AGE;
        file(folder.path(), &format!(".out.{boot}-aB3dE6.tmp"), old);
        let others = [
            "out".into(),
            format!(".out.{boot}-aB3dE.tmp"),
            format!(".out.{boot}-aB3d.6.tmp"),
            format!(".out.{boot}-aB3dE6.tmp2"),
            format!(".out.made.json.{boot}-aB3dE6.tmp"),
            format!(".outs.{boot}-aB3dE6.tmp"),
            format!("out.{boot}-aB3dE6.tmp"),
            ".out.precious.tmp".into(),
            ".out.0123456z-aB3dE6.tmp".into(),
        ];
        for name in &others {
            file(folder.path(), name, old);
        }
        let mut expected = others.to_vec();
        expected.sort();
        assert_eq!(swept(folder.path()), expected);
    }

    #[test]
    fn files_from_other_boots_must_be_old() {
        let folder = tempfile::tempdir().unwrap();
        let own = create(folder.path(), "out", None).unwrap();
        let now = own.as_file().metadata().unwrap().modified().unwrap();
        let path = folder.path().join(".out.00000000-aB3dE6.tmp");
        let step = Duration::from_secs(1);
        for (is_of_this_boot, time, stays) in [
            (true, now, false),
            (false, now + step, true),
            (false, now - (MIN_AGE - step), true),
            (false, now - MIN_AGE, false),
            (false, now - (MIN_AGE + step), false),
            // Written by a clock that shows 1970.
            (false, SystemTime::UNIX_EPOCH, false),
        ] {
            File::create(&path).unwrap().set_modified(time).unwrap();
            remove_if_abandoned(&path, &own, is_of_this_boot).unwrap();
            assert_eq!(path.exists(), stays, "{time:?}");
        }
    }

    #[test]
    fn locked_files_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let held = create(folder.path(), "out", None).unwrap();
        let name = held.path().file_name().unwrap().to_str().unwrap().to_owned();
        assert_eq!(swept(folder.path()), std::slice::from_ref(&name));
        // The file stays, but its lock is released, as if its process had been killed.
        let (_, path) = held.keep().unwrap();
        assert!(path.exists());
        assert!(swept(folder.path()).is_empty());
    }

    #[test]
    fn links_folders_pipes_and_link_targets_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let boot = boot().unwrap_or_else(|| "0".repeat(BOOT_DIGITS));
        let name = |end: &str| format!(".out.{boot}-{end}.tmp");
        file(folder.path(), "precious", 2 * MIN_AGE);
        std::os::unix::fs::symlink("precious", folder.path().join(name("alinkA"))).unwrap();
        fs::create_dir(folder.path().join(name("folder"))).unwrap();
        let made = std::process::Command::new("mkfifo").arg(folder.path().join(name("apipeA"))).status().unwrap();
        assert!(made.success());
        assert_eq!(swept(folder.path()), [name("alinkA"), name("apipeA"), name("folder"), "precious".into()]);
    }

    #[test]
    fn checked_files_stop_at_the_limit() {
        let boot = boot().unwrap_or_else(|| "0".repeat(BOOT_DIGITS));
        for (count, left) in [(MAX_LOOKED_AT - 2, 0), (MAX_LOOKED_AT - 1, 0), (MAX_LOOKED_AT + 50, 50)] {
            let folder = tempfile::tempdir().unwrap();
            for number in 0..count {
                file(folder.path(), &format!(".out.{boot}-{number:06}.tmp"), 2 * MIN_AGE);
            }
            // The check may include the new file from this run.
            assert!((left..=left + 1).contains(&swept(folder.path()).len()), "{count}");
        }
    }

    #[test]
    fn long_names_are_shortened() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["n".repeat(255), "é".repeat(127), "日".repeat(85)] {
            create(folder.path(), &name, None).unwrap();
        }
    }
}
