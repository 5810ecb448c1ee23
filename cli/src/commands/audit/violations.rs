//! The rows of `--violations`.

use reptile_columns::audit::{Request, Violation};
use reptile_columns::{AnswerFormat, AnswerRows, ColumnType, RowFormat};

use reptile_records::identity::Identity;

use super::args::Args;
use crate::error::{Failure, Result};
use crate::outputs::endings::format_of;
use crate::outputs::file::{Complete, Output};
use crate::outputs::sink::Sink;

/// Number of rows that are written together.
const ROWS_AT_ONCE: usize = 1024;

/// The columns of a violation.
const COLUMNS: [(&str, ColumnType); 13] = [
    ("time", ColumnType::Time),
    ("crawler", ColumnType::Word),
    ("client", ColumnType::Text),
    ("identity", ColumnType::Word),
    ("url", ColumnType::Text),
    ("status", ColumnType::Long),
    ("verdict", ColumnType::Verdict),
    ("line", ColumnType::Number),
    ("rule", ColumnType::Text),
    ("reason", ColumnType::Text),
    ("in_grace", ColumnType::Word),
    ("capture_time", ColumnType::Time),
    ("capture", ColumnType::Text),
];

/// The file of violations, if requested.
pub struct Violations {
    file: Option<File>,
}

struct File {
    sink: Sink,
    format: RowFormat,
    rows: AnswerRows,
    waiting: usize,
}

impl Violations {
    /// Opens the file, if requested.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written, or has no extension of a table.
    pub fn create(args: &Args) -> Result<Violations> {
        let Some(path) = &args.violations else { return Ok(Violations { file: None }) };
        let expected = "expected a name that ends in .tsv, .csv, .jsonl, .parquet, .arrow or .arrows";
        let format = format_of(path).ok_or_else(|| Failure::at(path, expected))?;
        let Some(output) = Output::create_beside("--violations", Some(path), args.force)? else {
            return Ok(Violations { file: None });
        };
        let columns = COLUMNS.into_iter().map(|(name, kind)| (name.to_owned(), kind)).collect();
        let rows = RowFormat::new(format, columns);
        let mut sink = Sink::new(output, format, rows.columns().to_vec(), None)?;
        if !format.is_columnar() && format != AnswerFormat::Jsonl {
            sink.write_header(&rows.header())?;
        }
        Ok(Violations { file: Some(File { sink, rows: rows.rows(), format: rows, waiting: 0 }) })
    }

    /// Writes a violation.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn push(&mut self, crawler: &str, request: &Request) -> Result<()> {
        match (&mut self.file, &request.violation) {
            (Some(file), Some(violation)) => file.push(crawler, request, violation),
            _ => Ok(()),
        }
    }

    /// Completes the file. The caller still has to publish it.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn complete(self) -> Result<Vec<Complete>> {
        let Some(mut file) = self.file else { return Ok(Vec::new()) };
        file.write()?;
        Ok(file.sink.finish()?.complete()?.into_iter().collect())
    }
}

impl File {
    fn push(&mut self, crawler: &str, request: &Request, violation: &Violation) -> Result<()> {
        let rule = violation.explained.rule();
        let mut cells = self.format.begin(&mut self.rows);
        cells.time(Some(request.time));
        cells.text(crawler.as_bytes());
        cells.text(&violation.client);
        cells.text(request.identity.map_or("", Identity::as_str).as_bytes());
        cells.text(&violation.url);
        cells.long(request.status.map(u64::from));
        cells.verdict(request.verdict);
        cells.number(rule.map_or(0, |rule| rule.line));
        cells.text(rule.map(ToString::to_string).unwrap_or_default().as_bytes());
        cells.text(violation.explained.reason.to_string().as_bytes());
        cells.text(if violation.is_in_grace { b"yes" } else { b"no" });
        cells.time(violation.provenance.fetched_at);
        cells.text(violation.provenance.capture().unwrap_or_default().as_bytes());
        cells.end();
        self.waiting += 1;
        if self.waiting >= ROWS_AT_ONCE { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<()> {
        self.waiting = 0;
        self.sink.write(&self.rows)?;
        self.rows.clear();
        Ok(())
    }
}
