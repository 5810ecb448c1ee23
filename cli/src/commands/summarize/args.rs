//! The arguments that `summarize` and `timeline` share.

use reptile::usage::Uses;
use reptile_columns::AnswerFormat;
use reptile_records::place::Place;

use super::keys::OriginKey;
use crate::error::{Failure, Result};
use crate::options::{SetOptions, UsageOptions, answer_formats};
use crate::outputs::endings::{chosen_format, names_in_schema};
use crate::run::metrics::MetricsOptions;

/// The arguments of a command that writes rows about origins and agents.
#[derive(clap::Args)]
pub struct RowArgs {
    /// A set file; or any INPUT of `reptile compile`, which is compiled in memory
    #[arg(value_name = "SET")]
    pub set: Place,
    /// A list with a URL or host on each line, for rows about only these; a host means its https origin
    pub origins: Option<Place>,
    /// A crawler: a product token, a chain, or a group of crawlers; can be repeated, with rows for each
    #[arg(short, long = "agent", value_name = "TOKEN", required = true)]
    pub agents: Vec<String>,
    /// The columns that name the origin, separated by commas [default: url]
    #[arg(long = "key", value_name = "NAMES", value_delimiter = ',', value_enum)]
    pub keys: Vec<OriginKey>,
    /// The output format [default: from the extension of --output, or else tsv]
    #[arg(long, value_name = "FORMAT", value_parser = answer_formats())]
    format: Option<AnswerFormat>,
    /// Write the column names as the first line
    #[arg(long)]
    pub header: bool,
    /// Write to this file instead of standard output; it gets its name only when it is complete
    ///
    /// The extension .tsv, .csv, .jsonl, .parquet, .arrow or .arrows selects the format, and .gz or .zst after it
    /// selects compression.
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<Place>,
    /// Replace the output file if it exists
    #[arg(long, requires = "output")]
    pub force: bool,
    #[command(flatten)]
    uses: UsageOptions,
    #[command(flatten)]
    pub options: SetOptions,
    #[command(flatten)]
    pub metrics: MetricsOptions,
    #[command(flatten)]
    pub threads: crate::Threads,
}

impl RowArgs {
    /// Returns the output format.
    ///
    /// # Errors
    /// Returns an error if an option contradicts the format.
    pub fn format(&self) -> Result<AnswerFormat> {
        let format = chosen_format(self.output.as_ref(), self.format)?.unwrap_or_default();
        if self.header && format == AnswerFormat::Jsonl {
            return Err(Failure::new("--header: JSON Lines already have column names in each row"));
        }
        if self.header && format.is_columnar() {
            return Err(Failure::new(names_in_schema(format)));
        }
        Ok(format)
    }

    /// Returns the key columns, given or default.
    ///
    /// # Errors
    /// Returns an error if a key is given twice.
    pub fn keys(&self) -> Result<Vec<OriginKey>> {
        let keys = &self.keys;
        match keys.iter().enumerate().find(|&(at, key)| keys[..at].contains(key)) {
            Some((_, key)) => Err(Failure::new(format!("--key: {} is given twice", key.name()))),
            None if keys.is_empty() => Ok(vec![OriginKey::Url]),
            None => Ok(keys.clone()),
        }
    }

    /// Returns the uses of `--usage`; none without it.
    ///
    /// # Errors
    /// Returns an error if the vocabulary lacks one of them, or an option has no effect without `--usage`.
    pub fn uses(&self) -> Result<Uses> {
        let names = self.uses.names();
        if names.is_empty() {
            self.uses.refuse_without("--usage")?;
        }
        self.uses.uses(&self.uses.vocabulary()?, "--usage", &names)
    }

    /// Returns the paths of the inputs.
    pub fn inputs(&self) -> impl Iterator<Item = &Place> {
        [&self.set].into_iter().chain(self.origins.as_ref())
    }
}
