//! The lists and their output files.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use reptile_records::place::Place;
use reptile_records::trees::NamedFile;

use super::super::plan::{Folder, Plan};
use crate::error::{Failure, Result};
use crate::failures::Failures;
use crate::outputs::build_record;
use crate::outputs::kept::state_of;
use crate::same_file::{is_same_place, refuse_links, refuse_overwriting};

/// A list and its output.
#[derive(Clone)]
pub struct Job {
    pub list: Place,
    /// The output file, or with `--rows-per-file` the file that its parts are named after.
    pub file: Place,
    /// Whether the output has several parts.
    has_parts: bool,
}

impl Job {
    /// Returns the output file, or the part with this number.
    pub fn part(&self, number: u32) -> Place {
        if !self.has_parts {
            return self.file.clone();
        }
        let (stem, ending) = self.split();
        self.file.with_file_name(concat(&[&stem, &format!("-{number:05}"), &ending]))
    }

    /// Rejects outputs and records that are links, or whose path below the folder leads through one, unless `follows`
    /// allows it.
    ///
    /// # Errors
    /// Returns an error that names the link, or if the folder cannot be listed.
    pub fn refuse_links(&self, folder: &Place, follows: bool) -> Result<()> {
        // The folder of the parts is checked before it is listed.
        refuse_links(folder, &self.part(0), follows)?;
        let existing = self.existing()?.into_iter().map(|(_, file)| file);
        existing.chain([self.part(0)]).try_for_each(|file| {
            refuse_links(folder, &file, follows)?;
            refuse_links(folder, &build_record::hidden_path_of(&file)?, follows)
        })
    }

    /// Rejects an earlier run's single file where this run writes parts, and parts where it writes a single file. With
    /// both, a reader of the folder would count the rows twice.
    ///
    /// # Errors
    /// Returns an error if there is such an output.
    pub fn refuse_other_form(&self) -> Result<()> {
        let other = Job { has_parts: !self.has_parts, ..self.clone() }.part(0);
        let is_there = |path: &Place| path.exists().map_err(|error| Failure::at(path, error));
        if !is_same_place(&other, &self.list) && is_there(&other)? && is_there(&build_record::hidden_path_of(&other)?)?
        {
            let message = "is the output of a run with another --rows-per-file; remove its files and records first";
            return Err(Failure::at(&other, message));
        }
        Ok(())
    }

    /// Returns the existing parts by number, or the existing file as part 0.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be listed.
    pub fn existing(&self) -> Result<Vec<(u32, Place)>> {
        if !self.has_parts {
            let is_there = self.file.exists().map_err(|error| Failure::at(&self.file, error))?;
            return Ok(if is_there { vec![(0, self.file.clone())] } else { Vec::new() });
        }
        let (stem, ending) = self.split();
        let folder = self.file.local().and_then(Path::parent).unwrap_or(Path::new("."));
        let fail = |error| Failure::at(folder, error);
        let mut parts = Vec::new();
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(parts),
            Err(error) => return Err(fail(error)),
        };
        for entry in entries {
            let name = entry.map_err(fail)?.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix(&*stem)?.strip_suffix(&*ending));
            let number = number.and_then(|number| number.strip_prefix('-')).filter(|number| number.len() >= 5);
            if let Some(number) = number.and_then(|number| number.parse().ok()) {
                parts.push((number, folder.join(name).into()));
            }
        }
        parts.sort();
        Ok(parts)
    }

    /// Returns the file name before and after the place of a part's number.
    fn split(&self) -> (String, String) {
        let name = self.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let packed = [".gz", ".zst"].iter().find(|ending| name.ends_with(*ending)).map_or(0, |ending| ending.len());
        let unpacked = name.len() - packed;
        let at = name[..unpacked].rfind('.').filter(|&at| at > 0).unwrap_or(unpacked);
        let ending = name[at..].to_owned();
        (name[..at].to_owned(), ending)
    }
}

fn concat(parts: &[&str]) -> OsString {
    parts.concat().into()
}

/// Rejects a list that no output can be named after, or whose state cannot be recorded.
///
/// # Errors
/// Returns an error if it is not a regular file.
fn refuse_special(list: &Place) -> Result<()> {
    if list.is_standard() {
        return Err(Failure::new("-o DIR/ cannot name a file after standard input; give the lists as files"));
    }
    if list.metadata().is_ok_and(|found| !found.is_file()) {
        return Err(Failure::at(list, "is not a regular file; -o DIR/ requires one for each list"));
    }
    state_of(list, None).map(drop)
}

/// Creates the folder unless it exists. Remote folders need not be created.
pub fn create(folder: &Place) -> Result<()> {
    let Place::Local(folder) = folder else { return Ok(()) };
    match fs::create_dir(folder) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        created => created.map_err(|error| Failure::at(folder, format!("the folder cannot be created: {error}"))),
    }
}

/// Returns each list with its output file. Lists that cannot be opened go to `failures`.
///
/// # Errors
/// Returns an error if a file or its record would replace the set, a list, or another list's file.
pub fn jobs(plan: &Plan, folder: &Folder, failures: &mut Failures) -> Result<Vec<Job>> {
    let mut outputs: HashMap<Place, Place> = HashMap::new();
    let mut jobs = Vec::new();
    let has_parts = plan.written.rows_per_file().is_some();
    if has_parts && folder.path.is_remote() {
        let message = "is remote: --rows-per-file requires a local folder, because files of an earlier run that are no \
                       longer made must be removed there; write to a local folder, and copy it";
        return Err(Failure::at(&folder.path, message));
    }
    for NamedFile { path: list, name } in &folder.lists {
        let name = output_name(name.clone(), plan.written.ending());
        let job = Job { list: list.clone(), file: folder.path.join(&name), has_parts };
        if job.has_parts && job.file.as_os_str().to_str().is_none() {
            return Err(Failure::at(&job.list, "--rows-per-file: the name is not UTF-8, so it cannot be numbered"));
        }
        for path in [job.part(0), build_record::hidden_path_of(&job.part(0))?] {
            refuse_overwriting(&path, folder.lists.iter().map(|list| &list.path).chain([&plan.set]))?;
            if let Some(other) = outputs.insert(path.clone(), job.list.clone()) {
                let message = format!("would be the file for both {} and {}", other.display(), job.list.display());
                return Err(Failure::at(&path, message));
            }
        }
        if failures.keep(&job.list, refuse_special(&job.list))?.is_some() {
            jobs.push(job);
        }
    }
    Ok(jobs)
}

/// Returns the path of a list's output below the folder. `ending` is the output's extension; without it, the output
/// keeps the list's rows.
fn output_name(name: PathBuf, ending: Option<&str>) -> PathBuf {
    match ending {
        Some(ending) if name.as_os_str().as_encoded_bytes().ends_with(ending.as_bytes()) => name,
        Some(ending) => {
            let mut name = name.into_os_string();
            name.push(ending);
            name.into()
        }
        // Outputs are never compressed this way.
        None if name.extension().is_some_and(|ending| ending == "bz2" || ending == "xz") => name.with_extension(""),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_named_after_lists_and_parts_are_numbered() {
        for (name, ending, file, part) in [
            ("a.txt", Some(".tsv"), "a.txt.tsv", "a.txt-00007.tsv"),
            ("a.txt.gz", Some(".parquet"), "a.txt.gz.parquet", "a.txt.gz-00007.parquet"),
            ("day=1/part-0.parquet", Some(".parquet"), "day=1/part-0.parquet", "day=1/part-0-00007.parquet"),
            ("a.jsonl", None, "a.jsonl", "a-00007.jsonl"),
            ("a.jsonl.gz", None, "a.jsonl.gz", "a-00007.jsonl.gz"),
            ("a.tsv.xz", None, "a.tsv", "a-00007.tsv"),
            ("list", None, "list", "list-00007"),
            (".list", None, ".list", ".list-00007"),
        ] {
            let found = output_name(name.into(), ending);
            assert_eq!(found, Path::new(file));
            let mut job = Job { list: name.into(), file: found.into(), has_parts: true };
            assert_eq!(job.part(7), Place::from(part));
            job.has_parts = false;
            assert_eq!(job.part(0), Place::from(file));
        }
    }
}
