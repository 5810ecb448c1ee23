//! Prints changes as text and as JSON.

use std::io::Write;

use serde::Serialize;
use serde_json::json;

use super::lines::Line;
use super::rules::{Change, Changes, Fate};
use crate::error::Stop;
use crate::outputs::json::json_line;
use reptile_records::text::printable;

/// Writes the removed and added lines, and the moved ones if rule order decides. Product tokens with the same changes
/// are listed together.
///
/// # Errors
/// Returns an error if `out` cannot be written.
pub fn text(changes: &Changes<'_, '_>, out: &mut impl Write) -> Result<(), Stop> {
    let for_all = &changes.for_all;
    if !for_all.is_empty() {
        writeln!(out, "@ all crawlers")?;
        write_lines(&for_all.removed, &for_all.added, out)?;
    }
    changes.each_listed(|names, change| {
        write!(out, "@ ")?;
        write_names(changes, names, out)?;
        write_change(changes, change, out)
    })?;
    if !changes.not_compared.is_empty() {
        write!(out, "? not compared, since they share too many rules: ")?;
        write_names(changes, &changes.not_compared, out)?;
    }
    Ok(())
}

/// Returns the name at an index, as printed.
fn name<'b>(changes: &Changes<'_, 'b>, at: u32) -> &'b [u8] {
    changes.names.names[at as usize].token.unwrap_or(b"*")
}

/// Writes the names at these indices, and a line end.
fn write_names(changes: &Changes<'_, '_>, places: &[u32], out: &mut impl Write) -> Result<(), Stop> {
    for (index, &at) in places.iter().enumerate() {
        let separator = if index == 0 { "" } else { ", " };
        write!(out, "{separator}{}", printable(name(changes, at)))?;
    }
    Ok(writeln!(out)?)
}

fn write_change(changes: &Changes<'_, '_>, change: &Change, out: &mut impl Write) -> Result<(), Stop> {
    let fallback = |side: usize| if changes.has_default[side] { "the rules for *" } else { "no rules" };
    match (change.fate, change.is_default) {
        (Fate::Kept, _) => {}
        (Fate::Removed, true) => writeln!(out, "- the group")?,
        (Fate::Added, true) => writeln!(out, "+ the group")?,
        (Fate::Removed, false) => writeln!(out, "- the group; {} now apply", fallback(1))?,
        (Fate::Added, false) => writeln!(out, "+ the group; {} applied before", fallback(0))?,
    }
    let [removed, added, moved] = changes.lines_of(change);
    write_lines(removed, added, out)?;
    for pair in moved.chunks_exact(2) {
        writeln!(out, "~ {} > {}: {}", pair[0].number(), pair[1].number(), shown(&pair[0]))?;
    }
    Ok(())
}

fn write_lines(removed: &[Line<'_>], added: &[Line<'_>], out: &mut impl Write) -> Result<(), Stop> {
    for (sign, lines) in [('-', removed), ('+', added)] {
        for line in lines {
            writeln!(out, "{sign} {}: {}", line.number(), shown(line))?;
        }
    }
    Ok(())
}

/// Returns a line as text, safe for a terminal.
fn shown(line: &Line<'_>) -> String {
    format!("{}: {}", printable(line.key()), printable(line.value())).trim_end().to_owned()
}

/// A line as JSON.
#[derive(Serialize)]
struct LineJson {
    line: u32,
    key: String,
    value: String,
}

impl From<&Line<'_>> for LineJson {
    fn from(line: &Line<'_>) -> LineJson {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        LineJson { line: line.number(), key: text(line.key()), value: text(line.value()) }
    }
}

/// A rule that moved, as JSON.
#[derive(Serialize)]
struct MovedJson {
    old_line: u32,
    #[serde(flatten)]
    new: LineJson,
}

/// The change for some names, or for all crawlers, as JSON.
#[derive(Serialize)]
struct ChangeJson {
    change: &'static str,
    agents: Option<Vec<String>>,
    group: &'static str,
    removed: Vec<LineJson>,
    added: Vec<LineJson>,
    moved: Vec<MovedJson>,
}

/// Writes an object for each change.
///
/// # Errors
/// Returns an error if `out` cannot be written.
pub fn json(changes: &Changes<'_, '_>, out: &mut impl Write) -> Result<(), Stop> {
    let of = |lines: &[Line<'_>]| lines.iter().map(LineJson::from).collect();
    let names = |places: &[u32]| -> Vec<String> {
        places.iter().map(|&at| String::from_utf8_lossy(name(changes, at)).into_owned()).collect()
    };
    let for_all = &changes.for_all;
    if !for_all.is_empty() {
        let (removed, added) = (of(&for_all.removed), of(&for_all.added));
        let object = ChangeJson { change: "lines", agents: None, group: "kept", removed, added, moved: Vec::new() };
        out.write_all(json_line(&object)?.as_bytes())?;
    }
    changes.each_listed(|places, change| {
        let [removed, added, moved] = changes.lines_of(change);
        let pairs = moved.chunks_exact(2);
        let object = ChangeJson {
            change: "lines",
            agents: Some(names(places)),
            group: match change.fate {
                Fate::Kept => "kept",
                Fate::Removed => "removed",
                Fate::Added => "added",
            },
            removed: of(removed),
            added: of(added),
            moved: pairs.map(|pair| MovedJson { old_line: pair[0].number(), new: (&pair[1]).into() }).collect(),
        };
        Ok::<(), Stop>(out.write_all(json_line(&object)?.as_bytes())?)
    })?;
    if !changes.not_compared.is_empty() {
        let object = json!({"change": "not-compared", "agents": names(&changes.not_compared)});
        out.write_all(json_line(&object)?.as_bytes())?;
    }
    Ok(())
}
