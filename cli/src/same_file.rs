//! Whether an output is one of the inputs, which writing it would destroy.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Failure, Result};
use reptile_records::hosts::is_hidden;

/// Refuses an output that is one of the inputs, or that is in a folder that is an input. Called before anything is
/// written.
///
/// # Errors
/// If it is. Paths that cannot be looked up are left to whoever opens them.
pub fn refuse_overwriting<'p>(output: &Path, inputs: impl IntoIterator<Item = &'p Path>) -> Result<()> {
    for input in inputs {
        let Ok(found) = fs::metadata(input) else { continue };
        if found.is_dir() {
            let (Ok(folder), Some(place)) = (fs::canonicalize(input), place_of(output)) else { continue };
            let Ok(inside) = place.strip_prefix(&folder) else { continue };
            // The folder itself cannot be an output at all, which its opening says.
            let is_inside = inside.iter().next().is_some();
            if is_inside && !inside.iter().any(|part| is_hidden(part.as_encoded_bytes())) {
                let message = format!(
                    "is in {}, which is read; the next time it would be read as a robots.txt. Choose a place outside",
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

/// Whether two outputs would be one file.
pub fn is_same_place(output: &Path, other: &Path) -> bool {
    output == other || place_of(output).is_some_and(|place| place_of(other) == Some(place))
}

/// The place of an output without symbolic links, whether or not the file exists.
fn place_of(output: &Path) -> Option<PathBuf> {
    if let Ok(place) = fs::canonicalize(output) {
        return Some(place);
    }
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(fs::canonicalize(folder).ok()?.join(output.file_name()?))
}

/// Whether two paths lead to one file, through links of either kind.
#[cfg(unix)]
fn is_same(output: &Path, _: &Path, input: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(output).is_ok_and(|output| (output.dev(), output.ino()) == (input.dev(), input.ino()))
}

/// Whether two paths lead to one file, through symbolic links.
#[cfg(not(unix))]
fn is_same(output: &Path, input: &Path, _: &fs::Metadata) -> bool {
    matches!((fs::canonicalize(output), fs::canonicalize(input)), (Ok(output), Ok(input)) if output == input)
}
