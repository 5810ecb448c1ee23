//! Summaries of origins as batches, with the columns of `reptile summarize`: [`summarize`].

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema};
use reptile::summary::{Summarizer, Summary};
use reptile::urls::split;
use reptile::{Agents, Origin};

use super::{arrays, in_pool};
use crate::data::{CellSink, ColumnData, ColumnType, SUMMARY_COLUMNS};
use crate::error::Error;

/// Maximum number of origins in a batch, which has a row for each origin and crawler.
pub const MAX_ORIGINS_IN_BATCH: usize = 8192;

/// Summarizes what crawlers may fetch from each origin, and passes the rows to `each`, in batches of up to
/// [`MAX_ORIGINS_IN_BATCH`] origins. Uses all threads.
///
/// `origins` are URLs or hosts, and a host means its https origin; `None` means every origin in the set, in the set's
/// order. A text that is neither has the access `invalid`, and an origin that is not in the set `unknown`.
///
/// ```
/// use arrow_array::cast::AsArray;
/// use reptile::{Capture, Compiler, Dialect};
/// use reptile_columns::arrow::summarize;
///
/// let mut compiler = Compiler::new(Dialect::google());
/// compiler.add(Capture::new("https://example.com/robots.txt", "user-agent: *\nallow: /$\ndisallow: /")?)?;
/// let agents = compiler.finish()?.into_set()?.agents(["GPTBot"])?;
/// let mut found = Vec::new();
/// summarize(&agents, Some(&["example.com", "https://example.org/a", "not a host"]), |batch| {
///     let access = batch.column(2).as_string::<i64>();
///     found.extend(access.iter().flatten().map(str::to_owned));
///     Ok(())
/// })?;
/// assert_eq!(found, ["partial", "unknown", "invalid"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns [`ErrorKind::Set`](crate::ErrorKind::Set) if the set is damaged, and the errors of `each`.
pub fn summarize<O: AsRef<str>>(
    agents: &Agents,
    origins: Option<&[O]>,
    mut each: impl FnMut(RecordBatch) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut batches = Batches {
        names: agents.iter().map(|agent| agent.crawler().to_string()).collect(),
        summarizer: Summarizer::new(agents.clone()),
    };
    let Some(origins) = origins else {
        let mut stored = agents.origins().map(|origin| Ok(Ok(origin?)));
        loop {
            let names: Result<Vec<Name<'_>>, reptile::Error> = stored.by_ref().take(MAX_ORIGINS_IN_BATCH).collect();
            let names = names?;
            if names.is_empty() {
                return Ok(());
            }
            each(batches.batch(&names)?)?;
        }
    };
    for part in origins.chunks(MAX_ORIGINS_IN_BATCH) {
        let names: Vec<Name<'_>> = part.iter().map(|text| named(text.as_ref())).collect();
        each(batches.batch(&names)?)?;
    }
    Ok(())
}

/// Returns the schema of the batches.
///
/// ```
/// let schema = reptile_columns::arrow::summary_schema();
/// assert_eq!(schema.field(2).name(), "access");
/// ```
#[must_use]
pub fn summary_schema() -> Schema {
    let columns = std::iter::once(("url", ColumnType::Text)).chain(SUMMARY_COLUMNS);
    Schema::new(columns.map(|(name, kind)| arrays::field(name, &kind)).collect::<Vec<Field>>())
}

/// An origin, or a text that is neither a URL nor a host.
type Name<'t> = Result<Origin, &'t str>;

/// Returns the origin that a text names: a URL's origin, or a host's https origin.
fn named(text: &str) -> Name<'_> {
    let text = text.trim();
    let is_host = !text.is_empty() && !text.contains(['/', '?', '#', '@', '\\']);
    let of_url = split(text.as_bytes()).ok().and_then(|url| Origin::new(&url.origin).ok());
    let of_host = || is_host.then(|| format!("https://{text}").parse().ok()).flatten();
    of_url.or_else(of_host).ok_or(text)
}

struct Batches {
    names: Vec<String>,
    summarizer: Summarizer,
}

impl Batches {
    /// Returns the rows for some origins.
    fn batch(&mut self, names: &[Name<'_>]) -> Result<RecordBatch, Error> {
        let origins: Vec<Origin> = names.iter().filter_map(|name| name.as_ref().ok().cloned()).collect();
        let summarizer = &mut self.summarizer;
        let summaries = in_pool(|| summarizer.summarize(&origins))?;
        let mut summaries = summaries.chunks_exact(self.names.len().max(1));
        let invalid = vec![Summary::invalid(); self.names.len()];
        let mut urls = ColumnData::new(ColumnType::Text);
        let mut columns = SUMMARY_COLUMNS.map(|(_, kind)| ColumnData::new(kind));
        for name in names {
            let (key, of_origin) = match name {
                Ok(origin) => (format!("{origin}/"), summaries.next().unwrap_or(&invalid)),
                Err(text) => ((*text).to_owned(), &invalid[..]),
            };
            for (agent, summary) in self.names.iter().zip(of_origin) {
                urls.cells().text(key.as_bytes());
                push(&mut columns, agent, summary);
            }
        }
        let schema = Arc::new(summary_schema());
        let arrays: Result<Vec<ArrayRef>, Error> =
            std::iter::once(urls).chain(columns).map(|column| arrays::array(column, None)).collect();
        Ok(RecordBatch::try_new(schema, arrays?)?)
    }
}

/// Appends a row to the columns after the URL.
fn push(columns: &mut [ColumnData; SUMMARY_COLUMNS.len()], agent: &str, summary: &Summary<'_>) {
    let [crawler, access, group, allow_rules, disallow_rules, reason, allowed_path, disallowed_path] = columns;
    let reason_text = summary.reason.to_string();
    for (column, text) in [
        (crawler, agent.as_bytes()),
        (access, summary.access.name().as_bytes()),
        (group, summary.group.as_str().as_bytes()),
        (reason, reason_text.as_bytes()),
        (allowed_path, summary.allowed_path.as_deref().unwrap_or_default()),
        (disallowed_path, summary.disallowed_path.as_deref().unwrap_or_default()),
    ] {
        column.cells().text(text);
    }
    allow_rules.cells().number(summary.allow_rules);
    disallow_rules.cells().number(summary.disallow_rules);
}
