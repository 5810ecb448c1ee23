//! The output options of `reptile classify`.

use clap::ValueEnum;
use reptile::Verdict;
use reptile::rights::RightsQuery;
use reptile::usage::UnknownUsage;

use crate::error::{Failure, Result};
use crate::options::{ColumnChoice, PurposeOptions, RightsOptions, UsageOptions, answer_formats, columns};
use crate::outputs::endings::{chosen_format, format_of, names_in_schema};
use reptile_columns::{
    AnswerFormat, Column, Crawlers, Decider, KeptColumns, Layout, TableDecider, VERDICTS, shown_row,
};
use reptile_records::place::Place;
use reptile_records::tables::quotes::Escape;
use reptile_records::tables::{self, Table};

/// The output options, as given.
#[derive(Clone, Debug, clap::Args)]
pub struct WrittenOptions {
    /// The columns, separated by commas [default: url,verdict]
    ///
    /// Columns are written in the given order: url, mask, refused, capture_time and capture once, all others once per
    /// agent, called AGENT:verdict, AGENT:line and so on. For several agents, consecutive per-agent columns are grouped by
    /// agent. No column may be given twice. Without url, the output is much shorter. The bits of mask have the order of
    /// the agents in the summary; Parquet and Arrow have the names in their metadata. If the verdict is unknown or
    /// invalid, mask is empty or null, and refused is null, or the verdict's name in TSV and CSV. The last column may be
    /// any-of, one verdict for all agents: disallow if any of them is disallowed.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = columns(), conflicts_with_all = ["explain", "only"])]
    columns: Vec<ColumnChoice>,
    /// The same as --columns url,verdict,line,rule
    #[arg(long, conflicts_with = "only")]
    explain: bool,
    #[command(flatten)]
    uses: UsageOptions,
    #[command(flatten)]
    purpose: PurposeOptions,
    /// The output format [default: from the extension of --output, or else tsv]
    #[arg(long, value_name = "FORMAT", value_parser = answer_formats())]
    format: Option<AnswerFormat>,
    /// Write the column names as the first line
    #[arg(long)]
    header: bool,
    /// Write the columns before each unchanged row of URLS [default column: verdict]
    ///
    /// The output has the format of URLS, and a header if URLS has one. In Parquet and Arrow, the columns of URLS
    /// come first and keep their types.
    #[arg(long, conflicts_with_all = ["format", "header", "only", "usage", "purpose"])]
    add_columns: bool,
    /// Keep these Parquet or Arrow columns before the verdict columns: names separated by commas, or all
    ///
    /// In Parquet and Arrow, the columns keep their types, and structs and lists are kept whole. In CSV and TSV, times
    /// are in ISO 8601, and nulls are empty. The default for --columns is then verdict. With --only, the output has only
    /// these columns.
    #[arg(long, value_name = "NAMES", value_parser = KeptColumns::from_list, conflicts_with = "add_columns")]
    keep_columns: Option<KeptColumns>,
    /// Write only rows with this verdict, unchanged
    ///
    /// Rows are written byte for byte, unless the output is a terminal, and without columns. Rows of Parquet or Arrow
    /// go to the same format with the same columns. With several agents, their verdict any-of counts. A header in URLS
    /// is kept.
    #[arg(long, value_name = "VERDICT", conflicts_with_all = ["format", "header", "usage", "purpose"])]
    only: Option<SelectedVerdict>,
    /// Split each list's output into files with at most N rows: NAME-00000.tsv, NAME-00001.tsv and so on
    ///
    /// The files of a list appear together, when the last one is complete. --resume keeps all of them or none.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub rows_per_file: Option<u64>,
}

/// A verdict that `--only` selects.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum SelectedVerdict {
    /// The rules allow it
    Allow,
    /// The rules disallow it
    Disallow,
    /// SET has no robots.txt for its origin
    Unknown,
}

impl SelectedVerdict {
    fn verdict(self) -> Verdict {
        match self {
            SelectedVerdict::Allow => Verdict::Allow,
            SelectedVerdict::Disallow => Verdict::Disallow,
            SelectedVerdict::Unknown => Verdict::Unknown,
        }
    }
}

impl WrittenOptions {
    /// Returns the options without an effect on pages, and whether each is given.
    pub fn without_effect_on_pages(&self) -> [(&'static str, bool); 6] {
        let is_treated = |verdict: Result<Option<Verdict>>| verdict.is_ok_and(|verdict| verdict.is_some());
        [
            ("--columns", !self.columns.is_empty()),
            ("--explain", self.explain),
            ("--add-columns", self.add_columns),
            ("--keep-columns", self.keep_columns.is_some()),
            ("--only", self.only.is_some()),
            ("--treat unknown or invalid", is_treated(self.purpose.unknown()) || is_treated(self.purpose.invalid())),
        ]
    }

    /// Returns the columns, as given or by default.
    fn columns(&self) -> Vec<ColumnChoice> {
        if !self.columns.is_empty() {
            return self.columns.clone();
        }
        let url = (!self.add_columns && self.keep_columns.is_none()).then_some(Column::Url);
        let explained = [Column::Line, Column::Rule].into_iter().filter(|_| self.explain);
        url.into_iter().chain([Column::Verdict]).chain(explained).map(ColumnChoice::One).collect()
    }
}

/// The resolved output options.
pub struct Written {
    columns: Vec<Column>,
    any_of: bool,
    uses: UsageOptions,
    purpose: Option<(String, UnknownUsage)>,
    format: AnswerFormat,
    header: bool,
    add_columns: bool,
    kept: Option<KeptColumns>,
    only: Option<Verdict>,
    rows_per_file: Option<u64>,
    /// The verdict to write for each verdict, by number.
    replaced: [Verdict; 4],
}

impl Written {
    /// Resolves the options for an output, whose name may determine the format.
    ///
    /// # Errors
    /// Returns an error if options contradict each other or the name. `is_by_row` says whether rows name crawlers.
    pub fn resolve(options: WrittenOptions, output: Option<&Place>, is_by_row: bool) -> Result<Written> {
        let mut columns = options.columns();
        let any_of = columns.pop_if(|last| *last == ColumnChoice::AnyOf).is_some();
        if any_of && is_by_row {
            return Err(Failure::new("--columns any-of: is one verdict for several --agent; here rows name one each"));
        }
        let column = |choice| match choice {
            ColumnChoice::One(column) => Ok(column),
            ColumnChoice::AnyOf => Err(Failure::new("--columns: any-of is the last column, and is given once")),
        };
        let (unknown, invalid) = (options.purpose.unknown()?, options.purpose.invalid()?);
        let has_rows = options.add_columns || options.only.is_some();
        let format = if has_rows { options.format } else { chosen_format(output, options.format)? };
        if options.only.is_some_and(|only| only.verdict() == Verdict::Unknown) && unknown.is_some() {
            return Err(Failure::new("--only unknown: no row is unknown, because --treat replaces that verdict"));
        }
        Ok(Written {
            columns: columns.into_iter().map(column).collect::<Result<_>>()?,
            any_of,
            purpose: options.purpose.given()?.map(|(purpose, unknown)| (purpose.to_owned(), unknown)),
            uses: options.uses,
            format: format.unwrap_or_default(),
            header: options.header,
            add_columns: options.add_columns,
            kept: options.keep_columns,
            only: options.only.map(SelectedVerdict::verdict),
            rows_per_file: options.rows_per_file,
            replaced: VERDICTS.map(|verdict| match verdict {
                Verdict::Unknown => unknown.unwrap_or(verdict),
                Verdict::Invalid => invalid.unwrap_or(verdict),
                _ => verdict,
            }),
        })
    }

    /// Returns the question of `--rights`, and the meaning of unknown uses if its last use is a purpose.
    ///
    /// # Errors
    /// Returns an error for an invalid profile or use.
    pub fn rights(&self, rights: &RightsOptions) -> Result<(RightsQuery, Option<UnknownUsage>)> {
        self.uses.refuse_without("Content-Usage columns without --rights, whose profile names the lines that count")?;
        let query = rights.query(&self.uses.names(), self.purpose.as_ref().map(|(name, _)| &**name))?;
        self.check_header(self.format)?;
        Ok((query, self.purpose.as_ref().map(|(_, unknown)| *unknown)))
    }

    /// Refuses a header in a format without header lines.
    fn check_header(&self, format: AnswerFormat) -> Result<()> {
        if self.header && format == AnswerFormat::Jsonl {
            return Err(Failure::new("--header: JSON Lines already have column names in each row"));
        }
        if self.header && format.is_columnar() {
            return Err(Failure::new(names_in_schema(format)));
        }
        Ok(())
    }

    /// Returns whether the first line has the column names.
    pub fn has_header(&self) -> bool {
        self.header
    }

    /// Returns whether a column is written.
    pub fn has(&self, column: Column) -> bool {
        self.columns.contains(&column)
    }

    /// Returns the suffix of a list's verdict file name, or `None` if the output keeps the list's rows.
    pub fn ending(&self) -> Option<&'static str> {
        let ending = match self.format {
            AnswerFormat::Tsv => ".tsv",
            AnswerFormat::Csv | AnswerFormat::Delimited(_) => ".csv",
            AnswerFormat::Jsonl => ".jsonl",
            AnswerFormat::Parquet => ".parquet",
            AnswerFormat::Arrow => ".arrow",
            AnswerFormat::ArrowStream => ".arrows",
        };
        (!self.has_rows()).then_some(ending)
    }

    /// Returns the maximum number of rows in a file, if a list's output is split.
    pub fn rows_per_file(&self) -> Option<u64> {
        self.rows_per_file
    }

    /// Returns whether the table's rows are written unchanged.
    pub fn has_rows(&self) -> bool {
        self.add_columns || self.only.is_some()
    }

    /// Returns the option that keeps the table's rows.
    pub fn option_for_rows(&self) -> &'static str {
        if self.add_columns { "--add-columns" } else { "--only" }
    }

    /// Returns the columns of `--keep-columns`.
    pub fn keep_columns(&self) -> Option<&KeptColumns> {
        self.kept.as_ref()
    }

    /// Returns the verdict of `--only`.
    pub fn only(&self) -> Option<Verdict> {
        self.only
    }

    /// Checks that new cells can precede rows in which backslashes escape quotes.
    ///
    /// # Errors
    /// Returns an error with `--add-columns`, because the new cells double quotes.
    pub fn check_escape(&self, escape: Option<Escape>) -> Result<()> {
        if self.add_columns && escape == Some(Escape::Backslash) {
            let message = "--add-columns: new cells have doubled quotes, and --escape backslash keeps rows with other ones; \
                           select columns with --columns";
            return Err(Failure::new(message));
        }
        Ok(())
    }

    /// Returns the columns and the format for these crawlers. The table has this format and delimiter.
    ///
    /// # Errors
    /// Returns an error if the options contradict each other or the format.
    pub fn layout(
        &self,
        (table, delimiter): (tables::Format, u8),
        crawlers: Crawlers,
    ) -> Result<(Layout, AnswerFormat)> {
        if table == tables::Format::Csv && self.has_rows() && self.rows_per_file.is_some() {
            let message = "--rows-per-file: --add-columns and --only keep the rows of a CSV table, which may have several \
                           lines; write verdict columns, or leave out --rows-per-file";
            return Err(Failure::new(message));
        }
        let keeps_columns = matches!(table, tables::Format::Parquet | tables::Format::Arrow) && self.has_rows();
        let format = match self.add_columns || keeps_columns {
            true => AnswerFormat::of_table(table, delimiter),
            false => self.format,
        };
        self.check_header(format)?;
        // The rows of one verdict have only the table's own columns.
        let columns = if keeps_columns && self.only.is_some() { Vec::new() } else { self.columns.clone() };
        if self.add_columns && columns.contains(&Column::Url) {
            return Err(Failure::new("--columns url: with --add-columns, the row already contains the URL"));
        }
        let is_several = matches!(&crawlers, Crawlers::Named(names) if names.len() > 1);
        let of_columns = |error| Failure::new(format!("--columns {error}"));
        let layout = self.with_uses(Layout::new(&columns).map_err(of_columns)?)?;
        let layout = layout.any_of(self.any_of || (self.only.is_some() && is_several)).written_as(self.replaced);
        layout.check(&crawlers).and_then(|()| format.check(&layout, &crawlers)).map_err(of_columns)?;
        Ok((layout, format))
    }

    /// Adds the columns of `--usage` and `--purpose`.
    fn with_uses(&self, layout: Layout) -> Result<Layout> {
        if self.uses.usage.is_empty() && self.purpose.is_none() {
            self.uses.refuse_without("--usage or --purpose")?;
            return Ok(layout);
        }
        let vocabulary = self.uses.vocabulary()?;
        let uses = |option: &str, names: &[&str]| self.uses.uses(&vocabulary, option, names);
        let mut names = self.uses.names();
        let shown = uses("--usage", &names)?;
        let layout = match &self.purpose {
            Some((purpose, unknown)) => {
                names.push(purpose);
                layout.with_purpose(uses("--purpose", &names)?, shown, *unknown)
            }
            None => layout.with_uses(shown),
        };
        layout.map_err(|error| Failure::new(format!("--usage {error}")))
    }

    /// Returns a decider that writes rows in this format, with the table's rows if they are wanted.
    ///
    /// # Errors
    /// The errors of [`Written::layout`].
    pub fn decider(&self, decider: Decider, format: AnswerFormat) -> Result<TableDecider> {
        let decider = TableDecider::new(decider, format).map_err(Failure::new)?;
        let has_rows = self.add_columns && !format.is_columnar();
        let decider = decider.with_rows(has_rows).and_then(|decider| decider.only(self.only));
        decider.map_err(Failure::new)
    }

    /// Checks an output name, if the output keeps rows from a table in this format.
    ///
    /// # Errors
    /// Returns an error if the name implies another format.
    pub fn check_name(&self, output: &Place, table: tables::Format) -> Result<()> {
        let Some(named) = format_of(output).filter(|_| self.has_rows()) else { return Ok(()) };
        // Without added columns, a URL list is also a one-column CSV table.
        let is_list = table == tables::Format::List && self.only.is_some() && named == AnswerFormat::Csv;
        // The delimiter does not matter.
        let written = AnswerFormat::of_table(table, b',');
        let are_columns = written.is_columnar() && named.is_columnar();
        if named == written || is_list || are_columns {
            return Ok(());
        }
        let (option, named, written) = (self.option_for_rows(), named.name(), written.name());
        let message =
            format!("its extension means {named}, but {option} keeps the format of URLS, {written}; rename it");
        Err(Failure::at(output, message))
    }

    /// Returns the format, as given or by default. Rows of URLS that are written unchanged keep their own.
    pub fn format(&self) -> AnswerFormat {
        self.format
    }

    /// Returns the first output line. The table header is made safe for a terminal if rows are shown on one.
    pub fn header(&self, decider: &TableDecider, table: &Table, shows_rows: bool) -> Vec<u8> {
        if self.only.is_some() {
            return shown_row(&table.header, shows_rows && !table.header.is_empty()).into_owned();
        }
        let has_header = self.header || (self.add_columns && !table.header.is_empty());
        if has_header { decider.header(&table.header) } else { Vec::new() }
    }
}
