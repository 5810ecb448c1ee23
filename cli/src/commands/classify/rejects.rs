//! The `--rejects` file: invalid rows, each preceded by its line number and problem.

use std::io::Write;

use crate::error::Result;
use crate::outputs::file::{Complete, Output};
use reptile_columns::{LongPart, Rejected};
use reptile_records::place::Place;
use reptile_records::tables::{Fault, Table};

/// The file, if requested.
pub struct Rejects {
    output: Option<Output>,
}

impl Rejects {
    /// Opens the file, if requested.
    ///
    /// # Errors
    /// The errors of [`Output::create_beside`].
    pub fn create(path: Option<&Place>, force: bool) -> Result<Rejects> {
        Ok(Rejects { output: Output::create_beside("--rejects", path, force)? })
    }

    /// Returns whether there is a file.
    pub fn are_kept(&self) -> bool {
        self.output.is_some()
    }

    /// Writes a block's invalid rows, numbered from the given count of line ends.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn add(&mut self, rejected: &Rejected, line_ends: u64, table: &Table) -> Result<()> {
        let Some(output) = &mut self.output else { return Ok(()) };
        let mut rest = &rejected.bytes[..];
        let mut text = Vec::with_capacity(rest.len() + rejected.rows.len() * 64);
        for &(line, fault, len) in &rejected.rows {
            let (row, after) = rest.split_at(len.min(rest.len()));
            rest = after;
            push_lead(line_ends + line, fault, table, &mut text);
            text.extend_from_slice(row);
            if !row.ends_with(b"\n") {
                text.push(b'\n');
            }
        }
        output.write_all(&text).map_err(|error| output.failure(&error))
    }

    /// Writes a part of an overlong row.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn add_part(&mut self, part: &LongPart<'_>, line_ends: u64, table: &Table) -> Result<()> {
        let Some(output) = &mut self.output else { return Ok(()) };
        let mut text = Vec::with_capacity(part.text.len() + 64);
        if part.is_first {
            push_lead(line_ends, Some(Fault::TooLong), table, &mut text);
        }
        text.extend_from_slice(part.text);
        if part.is_last {
            text.push(b'\n');
        }
        output.write_all(&text).map_err(|error| output.failure(&error))
    }

    /// Completes the file. The caller still has to publish it.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn complete(self) -> Result<Option<Complete>> {
        self.output.map_or(Ok(None), Output::complete)
    }
}

/// Appends a row's prefix: its line number and problem.
fn push_lead(line_ends: u64, fault: Option<Fault>, table: &Table, text: &mut Vec<u8>) {
    let what = fault.map_or_else(|| "no http, https or ftp URL".to_owned(), |fault| fault.describe(table));
    text.extend_from_slice(format!("{}\t{what}\t", line_ends + 1).as_bytes());
}
