//! Columns that list the refused agents in one cell: `mask`, with a bit for each agent, and `refused`, with their
//! names.
//!
//! For the verdicts `unknown` and `invalid`, no agent is known to be refused or allowed. The mask is then empty, and
//! the list is null in JSON Lines and Parquet. In TSV and CSV, where an empty cell is an empty list, it is the
//! verdict's word.

use reptile::Verdict;

use super::columns::{Column, Format};
use crate::error::{Failure, Result};

/// Maximum number of agents in a mask.
pub const MAX_MASKED_AGENTS: usize = 64;

/// The separator between names in TSV and CSV.
const BETWEEN: &str = ";";

/// The list length that represents null in Parquet answer rows.
pub const NO_LIST: u32 = u32::MAX;

/// Checks that the columns can be written for these agents.
///
/// # Errors
/// Returns an error if the rows name their own agents, if there are more agents than mask bits, or if a text
/// format would contain a name with `;`, or one that is `unknown` or `invalid`.
pub fn check(columns: &[Column], format: Format, names: &[String], is_by_row: bool) -> Result<()> {
    let asked = columns.iter().find(|column| matches!(column, Column::Mask | Column::Refused));
    if let (Some(column), true) = (asked, is_by_row) {
        let name = column.name();
        let message = "is over the crawlers of --agent, and with --agent-column each row has its own; write verdict";
        return Err(Failure::new(format!("--columns {name}: {message}")));
    }
    if let (true, Some(first)) = (columns.contains(&Column::Mask), names.get(MAX_MASKED_AGENTS)) {
        let (count, message) = (names.len(), "agents at most, a bit for each; the first without a bit is");
        let message = format!("--columns mask: expected {MAX_MASKED_AGENTS} {message} {first:?}, found {count} agents");
        return Err(Failure::new(message));
    }
    let is_text = matches!(format, Format::Tsv | Format::Csv | Format::Delimited(_));
    let is_unclear = |name: &&String| {
        name.contains(BETWEEN)
            || [Verdict::Unknown, Verdict::Invalid].iter().any(|verdict| name.eq_ignore_ascii_case(verdict.name()))
    };
    if let (true, Some(name)) = (is_text && columns.contains(&Column::Refused), names.iter().find(is_unclear)) {
        let message = format!(
            "--columns refused: the agent {name:?} could be read as something else among names with ; between them; \
             --format jsonl and parquet have a list"
        );
        return Err(Failure::new(message));
    }
    Ok(())
}

/// Appends the cell for a row, with one verdict per agent in `names`.
pub fn push(
    column: Column,
    format: Format,
    names: &[String],
    verdicts: impl Iterator<Item = Verdict> + Clone,
    text: &mut Vec<u8>,
) {
    let open = verdicts.clone().find(|verdict| matches!(verdict, Verdict::Unknown | Verdict::Invalid));
    let refused = verdicts.enumerate().filter(|(_, verdict)| *verdict == Verdict::Disallow).map(|(at, _)| at);
    if column == Column::Mask {
        let mask = refused.fold(0, |mask, at| mask | 1_u64.checked_shl(at as u32).unwrap_or(0));
        return format.push_long(open.is_none().then_some(mask), text);
    }
    match (format, open) {
        (Format::Parquet, None) => {
            text.extend_from_slice(&(refused.clone().count() as u32).to_le_bytes());
            refused.for_each(|at| text.extend_from_slice(&(at as u32).to_le_bytes()));
        }
        (Format::Parquet, Some(_)) => text.extend_from_slice(&NO_LIST.to_le_bytes()),
        (Format::Jsonl, None) => {
            text.push(b'[');
            for (place, name) in refused.filter_map(|at| names.get(at)).enumerate() {
                if place > 0 {
                    text.push(b',');
                }
                format.push(name.as_bytes(), text);
            }
            text.push(b']');
        }
        (Format::Jsonl, Some(_)) => format.push_nothing(text),
        (_, None) => {
            let start = text.len();
            for (place, name) in refused.filter_map(|at| names.get(at)).enumerate() {
                text.extend_from_slice(if place > 0 { BETWEEN.as_bytes() } else { b"" });
                text.extend_from_slice(name.as_bytes());
            }
            // Nearly all names need no quotes or escapes.
            if !text[start..].iter().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b',')) {
                let cell = text.split_off(start);
                format.push(&cell, text);
            }
        }
        (_, Some(verdict)) => format.push(verdict.name().as_bytes(), text),
    }
}

#[cfg(test)]
#[allow(clippy::panic, reason = "a test may")]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|number| format!("bot-{number}")).collect()
    }

    #[test]
    fn masks_stop_at_64_agents() {
        for (count, fits) in [(MAX_MASKED_AGENTS - 1, true), (MAX_MASKED_AGENTS, true), (MAX_MASKED_AGENTS + 1, false)]
        {
            let names = names(count);
            match check(&[Column::Mask], Format::Tsv, &names, false) {
                Ok(()) => assert!(fits, "{count}"),
                Err(failure) => assert!(!fits && failure.to_string().contains("\"bot-64\""), "{failure}"),
            }
            assert!(check(&[Column::Refused], Format::Tsv, &names, false).is_ok());
            let mut text = Vec::new();
            let verdicts = (0..count).map(|at| if at + 1 == count { Verdict::Disallow } else { Verdict::Allow });
            push(Column::Mask, Format::Tsv, &names, verdicts, &mut text);
            let bit = 1_u64.checked_shl(count as u32 - 1).unwrap_or(0);
            assert_eq!(text, bit.to_string().as_bytes());
        }
    }

    #[test]
    fn text_formats_reject_ambiguous_names() {
        for name in ["a;b", "Unknown", "invalid"] {
            let names = [name.to_owned()];
            assert!(check(&[Column::Refused], Format::Csv, &names, false).is_err(), "{name}");
            assert!(check(&[Column::Refused], Format::Jsonl, &names, false).is_ok(), "{name}");
            assert!(check(&[Column::Mask, Column::Verdict], Format::Csv, &names, false).is_ok(), "{name}");
        }
        assert!(check(&[Column::Refused], Format::Jsonl, &names(1), true).is_err());
        assert!(check(&[Column::Verdict], Format::Jsonl, &names(1), true).is_ok());
    }
}
