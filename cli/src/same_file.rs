//! Checks whether an output is also an input, which writing would destroy, and whether it is in its folder.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Failure, Result};
use reptile_records::hosts::is_hidden;
use reptile_records::place::Place;

/// Rejects an output that is an input or is inside an input folder. Hidden paths in the folder are never read, so they
/// are allowed. Called before anything is written.
///
/// # Errors
/// Returns an error if the output is such a file. Paths that cannot be looked up are reported later, when they are
/// opened.
pub fn refuse_overwriting<'p>(output: &Place, inputs: impl IntoIterator<Item = &'p Place>) -> Result<()> {
    for input in inputs {
        if output.is_remote() && is_inside(output, input) {
            return Err(Failure::at(output, format!("is the input {0}, or in it; choose another name", input.shown())));
        }
        let (Place::Local(path), Ok(found)) = (input, input.metadata()) else { continue };
        if found.is_dir() {
            let (Ok(folder), Some(written)) = (fs::canonicalize(path), path_of(output)) else { continue };
            let Ok(inside) = written.strip_prefix(&folder) else { continue };
            // The folder itself cannot be an output, which is reported when it is opened.
            let is_inside = inside.iter().next().is_some();
            if is_inside && !inside.iter().any(|part| is_hidden(part.as_encoded_bytes())) {
                let message = format!(
                    "is in the input folder {}, where a later run would read it as input; choose another folder",
                    input.display()
                );
                return Err(Failure::at(output, message));
            }
        } else if found.is_file() && is_same(output, path, &found) {
            return Err(Failure::at(output, format!("is the input {}; choose another name", input.display())));
        }
    }
    Ok(())
}

/// Returns whether a remote name is another one, or inside it if that is a folder.
fn is_inside(name: &Place, other: &Place) -> bool {
    let (Place::Remote(name), Place::Remote(other)) = (name, other) else { return false };
    name == other || (other.ends_with('/') && name.starts_with(other))
}

/// Rejects an output folder that is an input folder or inside one, because a later run would read the outputs.
///
/// # Errors
/// Returns an error if the folder is in such a place.
pub fn refuse_inside<'p>(folder: &Place, inputs: impl IntoIterator<Item = &'p Place>) -> Result<()> {
    for input in inputs.into_iter().filter(|input| input.is_dir()) {
        if is_same_place(folder, input) {
            return Err(Failure::at(folder, "is the input folder; choose another folder"));
        }
        refuse_overwriting(folder, [input])?;
    }
    Ok(())
}

/// Rejects a file in an output folder, or a folder on the way to it, that is a symbolic link, unless `follows` allows
/// it. The folder itself may be a link, because the operator names it. A link that is created after this check is not
/// noticed.
///
/// # Errors
/// Returns an error that names the link.
pub fn refuse_links(folder: &Place, file: &Place, follows: bool) -> Result<()> {
    if follows {
        return Ok(());
    }
    let (Place::Local(folder), Place::Local(file)) = (folder, file) else { return Ok(()) };
    let Ok(below) = file.strip_prefix(folder) else { return Ok(()) };
    let mut path = folder.clone();
    for part in below {
        path.push(part);
        if fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
            let message = "is a link in the output folder; --follow-links writes to its target";
            return Err(Failure::at(&path, message));
        }
    }
    Ok(())
}

/// Returns whether two outputs would be the same file.
pub fn is_same_place(output: &Place, other: &Place) -> bool {
    output == other || path_of(output).is_some_and(|path| path_of(other) == Some(path))
}

/// Returns a local output's path without symbolic links, whether or not the file exists.
fn path_of(output: &Place) -> Option<PathBuf> {
    let output = output.local()?;
    if let Ok(path) = fs::canonicalize(output) {
        return Some(path);
    }
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(fs::canonicalize(folder).ok()?.join(output.file_name()?))
}

/// Returns whether two paths lead to the same file, through hard or symbolic links.
#[cfg(unix)]
fn is_same(output: &Place, _: &Path, input: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    output.metadata().is_ok_and(|output| (output.dev(), output.ino()) == (input.dev(), input.ino()))
}

/// Returns whether two paths lead to the same file, through symbolic links.
#[cfg(not(unix))]
fn is_same(output: &Place, input: &Path, _: &fs::Metadata) -> bool {
    let Some(output) = output.local() else { return false };
    matches!((fs::canonicalize(output), fs::canonicalize(input)), (Ok(output), Ok(input)) if output == input)
}
