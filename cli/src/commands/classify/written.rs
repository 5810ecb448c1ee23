//! The options of `reptile classify` that say what is written.

use clap::ValueEnum;
use reptile::{Agents, Verdict};

use crate::error::{Failure, Result};
use crate::inputs::tables::{self, Table};
use crate::outputs::columns::{Column, Format, Layout, shown_row};

/// What is written, as given.
#[derive(Clone, Debug, clap::Args)]
pub struct WrittenOptions {
    /// The columns, with commas between them [default: url,verdict]
    ///
    /// url is written once, the others for each agent, in this order; they are called AGENT:verdict, AGENT:line
    /// and so on. Without url the output is much shorter.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_enum, conflicts_with_all = ["explain", "reason", "only"])]
    columns: Vec<Column>,
    /// The same as --columns url,verdict,line,rule
    #[arg(long, conflicts_with = "only")]
    explain: bool,
    /// The same as --columns url,verdict,reason; with --explain, reason is the last column
    #[arg(long, conflicts_with = "only")]
    reason: bool,
    /// Add a last column with one verdict over all agents: disallow if any of them is refused
    #[arg(long, conflicts_with = "agent_column")]
    any_of: bool,
    /// How the output is written [default: tsv]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Write the names of the columns as the first line
    #[arg(long)]
    header: bool,
    /// Write the columns before each row of URLS: the row stays as it is, and the columns are [default: verdict]
    ///
    /// The output has the format of URLS, and a header if URLS has one.
    #[arg(long, conflicts_with_all = ["format", "header", "only"])]
    add_columns: bool,
    /// Write just the rows of URLS that have this verdict, as they are
    ///
    /// Byte for byte, unless the output is a terminal, and without columns. With several agents, the verdict is the one of
    /// --any-of. A header of URLS is kept.
    #[arg(long, value_name = "VERDICT", conflicts_with_all = ["format", "header"])]
    only: Option<Only>,
}

/// A verdict that rows can be chosen by.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Only {
    /// The rules allow it
    Allow,
    /// The rules disallow it
    Disallow,
    /// No robots.txt is known for its origin
    Unknown,
}

impl WrittenOptions {
    /// The columns, as given or by default.
    fn columns(&self) -> Vec<Column> {
        if !self.columns.is_empty() {
            return self.columns.clone();
        }
        let mut columns = vec![Column::Verdict];
        if !self.add_columns {
            columns.insert(0, Column::Url);
        }
        if self.explain {
            columns.extend([Column::Line, Column::Rule]);
        }
        if self.reason {
            columns.push(Column::Reason);
        }
        columns
    }

    /// Whether a column is written.
    pub fn has(&self, column: Column) -> bool {
        self.columns().contains(&column)
    }

    /// What is appended to the name of a list for its file of verdicts; nothing if the file has the rows of the list.
    pub fn ending(&self) -> Option<&'static str> {
        let ending = match self.format.unwrap_or_default() {
            Format::Tsv => ".tsv",
            Format::Csv => ".csv",
            Format::Jsonl => ".jsonl",
            Format::Parquet => ".parquet",
        };
        (!self.has_rows()).then_some(ending)
    }

    /// Whether rows of the table are written as they are.
    pub fn has_rows(&self) -> bool {
        self.add_columns || self.only.is_some()
    }

    /// The verdict that rows are chosen by.
    pub fn only(&self) -> Option<Verdict> {
        self.only.map(|only| match only {
            Only::Allow => Verdict::Allow,
            Only::Disallow => Verdict::Disallow,
            Only::Unknown => Verdict::Unknown,
        })
    }

    /// The cells of a row for so many agents, or for the one that the row names, for a table of this format.
    ///
    /// # Errors
    /// If the options do not go together with each other or with the format.
    pub fn layout(&self, table: tables::Format, agents: usize, is_by_row: bool) -> Result<Layout> {
        if table == tables::Format::Parquet && self.has_rows() {
            let option = if self.add_columns { "--add-columns" } else { "--only" };
            let message = "passes rows of text on, and URLS is a Parquet file; its rows keep their order and their number, so \
                           that the columns of the output can be set beside them";
            return Err(Failure::new(format!("{option}: {message}")));
        }
        let format = match self.add_columns {
            true => Format::of_table(table),
            false => self.format.unwrap_or_default(),
        };
        if self.header && format == Format::Parquet {
            return Err(Failure::new("--header: a Parquet file has the names of the columns in its schema"));
        }
        if self.header && format == Format::Jsonl {
            return Err(Failure::new("--header: JSON Lines have the names of the columns in each row"));
        }
        let mut columns = self.columns();
        if self.add_columns && columns.contains(&Column::Url) {
            return Err(Failure::new("--columns url: with --add-columns the URL is in the row already"));
        }
        let all = columns.len();
        columns.retain(|&column| column != Column::Url);
        let any_of = self.any_of || (self.only.is_some() && agents > 1);
        Ok(Layout { format, has_url: columns.len() < all, columns, any_of, has_row: self.add_columns, is_by_row })
    }

    /// Whether a Parquet file is written.
    pub fn is_parquet(&self) -> bool {
        self.format == Some(Format::Parquet)
    }

    /// The first line of the output, with the header of the table made safe if rows are shown on a terminal.
    pub fn header(&self, layout: &Layout, agents: &Agents, table: &Table, shows_rows: bool) -> Vec<u8> {
        let is_shown = shows_rows && !table.header.is_empty();
        let table_header = shown_row(&table.header, is_shown);
        if self.only.is_some() {
            return table_header.into_owned();
        }
        let has_header = self.header || (self.add_columns && !table.header.is_empty());
        if !has_header {
            return Vec::new();
        }
        let names: Vec<String> = agents.iter().map(|agent| agent.crawler().to_string()).collect();
        let mut header = layout.header(&names);
        if self.add_columns {
            layout.push_row(&table_header, true, &mut header);
        }
        header
    }
}
