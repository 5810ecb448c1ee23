//! Checks whether an output is also an input, which writing would destroy, and whether it is in its folder.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Failure, Result};
use reptile_records::hosts::is_hidden;
use reptile_records::redacted::shown_path;
use reptile_records::stores::is_remote;

/// Rejects an output that is an input or is inside an input folder. Hidden paths in the folder are never read, so they
/// are allowed. Called before anything is written.
///
/// # Errors
/// Returns an error if the output is such a file. Paths that cannot be looked up are reported later, when they are
/// opened.
pub fn refuse_overwriting<'p>(output: &Path, inputs: impl IntoIterator<Item = &'p Path>) -> Result<()> {
    for input in inputs {
        if is_remote(output) && is_inside(output, input) {
            return Err(Failure::at(
                output,
                format!("is the input {0}, or in it; choose another name", shown_path(input)),
            ));
        }
        let Ok(found) = fs::metadata(input) else { continue };
        if found.is_dir() {
            let (Ok(folder), Some(place)) = (fs::canonicalize(input), place_of(output)) else { continue };
            let Ok(inside) = place.strip_prefix(&folder) else { continue };
            // The folder itself cannot be an output, which is reported when it is opened.
            let is_inside = inside.iter().next().is_some();
            if is_inside && !inside.iter().any(|part| is_hidden(part.as_encoded_bytes())) {
                let message = format!(
                    "is in the input folder {}, where a later run would read it as input; choose another folder",
                    input.display()
                );
                return Err(Failure::at(output, message));
            }
        } else if found.is_file() && is_same(output, input, &found) {
            return Err(Failure::at(output, format!("is the input {}; choose another name", input.display())));
        }
    }
    Ok(())
}

/// Returns whether a remote name is another one, or inside it if that is a folder.
fn is_inside(name: &Path, other: &Path) -> bool {
    let (Some(name), Some(other)) = (name.to_str(), other.to_str()) else { return false };
    name == other || (other.ends_with('/') && name.starts_with(other))
}

/// Rejects an output folder that is an input folder or inside one, because a later run would read the outputs.
///
/// # Errors
/// Returns an error if the folder is in such a place.
pub fn refuse_inside<'p>(folder: &Path, inputs: impl IntoIterator<Item = &'p PathBuf>) -> Result<()> {
    for input in inputs.into_iter().filter(|input| input.is_dir()) {
        if is_same_place(folder, input) {
            return Err(Failure::at(folder, "is the input folder; choose another folder"));
        }
        refuse_overwriting(folder, [input.as_path()])?;
    }
    Ok(())
}

/// Rejects a file in an output folder, or a folder on the way to it, that is a symbolic link, unless `follows` allows
/// it. The folder itself may be a link, because the operator names it. A link that is created after this check is not
/// noticed.
///
/// # Errors
/// Returns an error that names the link.
pub fn refuse_links(folder: &Path, file: &Path, follows: bool) -> Result<()> {
    if follows {
        return Ok(());
    }
    let Ok(below) = file.strip_prefix(folder) else { return Ok(()) };
    let mut place = folder.to_path_buf();
    for part in below {
        place.push(part);
        if fs::symlink_metadata(&place).is_ok_and(|found| found.is_symlink()) {
            let message = "is a link in the output folder; --follow-links writes to its target";
            return Err(Failure::at(&place, message));
        }
    }
    Ok(())
}

/// Returns whether two outputs would be the same file.
pub fn is_same_place(output: &Path, other: &Path) -> bool {
    output == other || place_of(output).is_some_and(|place| place_of(other) == Some(place))
}

/// Returns an output's path without symbolic links, whether or not the file exists.
fn place_of(output: &Path) -> Option<PathBuf> {
    if let Ok(place) = fs::canonicalize(output) {
        return Some(place);
    }
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(fs::canonicalize(folder).ok()?.join(output.file_name()?))
}

/// Returns whether two paths lead to the same file, through hard or symbolic links.
#[cfg(unix)]
fn is_same(output: &Path, _: &Path, input: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(output).is_ok_and(|output| (output.dev(), output.ino()) == (input.dev(), input.ino()))
}

/// Returns whether two paths lead to the same file, through symbolic links.
#[cfg(not(unix))]
fn is_same(output: &Path, input: &Path, _: &fs::Metadata) -> bool {
    matches!((fs::canonicalize(output), fs::canonicalize(input)), (Ok(output), Ok(input)) if output == input)
}
