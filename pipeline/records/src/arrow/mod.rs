//! Rows of a URL table in Arrow IPC, a file or a stream: each row's selected cells.
//!
//! [`messages`] reads the messages from start to end, within [`limits`]. The crate `arrow-ipc` decodes and validates
//! the columns that are needed, and [`columns`] turns them into the cells that Parquet files also have, so that the
//! same code finds and decides the rows.

mod columns;
pub(crate) mod limits;
mod messages;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::io::Read;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{RecordBatchDecoder, read_dictionary};
use arrow_ipc::{MessageHeader, MetadataVersion};
use arrow_schema::{ArrowError, Schema, SchemaRef};

use self::columns::Leaves;
use self::limits::MAX_DICTIONARIES_BYTES;
use self::messages::{Encoded, Messages, check_batch, damaged};
use crate::batches::kept::KeptRows;
use crate::lines::MAX_LINE_BYTES;
use crate::parquet::cells::Cells;
use crate::parquet::guard::guarded;
use crate::parquet::limits::{CELL_BYTES, max_expanded_bytes, within};
use crate::parquet::urls::{Batch, Selected, Splitting};
use crate::tables::open::Opening;
use crate::tables::{LINEAGE_KEY, Table};
use crate::{Error, Result};

/// A result whose error text continues a sentence that begins with the input's path.
type MessageResult<T> = std::result::Result<T, String>;

/// A table's remaining rows. See [`Source`](crate::tables::source::Source) for an example.
pub struct Rows {
    messages: Messages,
    schema: SchemaRef,
    leaves: Leaves,
    selected: Selected,
    /// The table's columns that are decoded, in the schema's order.
    decoded: Vec<usize>,
    dictionaries: HashMap<i64, ArrayRef>,
    /// Dictionary bytes copied so far because a later message extended the dictionary.
    copied: u64,
    /// The queue for kept columns, with their indexes among the decoded ones.
    kept: Option<(KeptRows, Vec<usize>)>,
    /// The kept columns of the current record batch.
    kept_batch: Option<RecordBatch>,
    /// The current record batch, and its number from 1.
    batch: Option<RecordBatch>,
    number: u64,
    /// The number of used rows in the current record batch.
    used: usize,
    /// Cell bytes so far.
    expanded: u64,
}

impl Rows {
    /// Reads the schema and finds the columns, with the URL column first.
    ///
    /// # Errors
    /// Returns an error if the source is unreadable or damaged, or the errors of [`Selected::find`].
    pub(crate) fn open(opening: &Opening, source: Box<dyn Read + Send>, splitting: Splitting) -> Result<(Table, Rows)> {
        let opened = Messages::new(source).and_then(|messages| Rows::find(messages, opening, splitting));
        opened.map_err(|text| Error::at(&opening.path, text))
    }

    fn find(mut messages: Messages, opening: &Opening, splitting: Splitting) -> MessageResult<(Table, Rows)> {
        let kept = opening.kept.as_ref();
        let schema = match messages.next()? {
            Some(encoded) => schema_of(&encoded)?,
            None => return Err(damaged("it has no schema")),
        };
        let leaves = Leaves::of(&schema);
        let mut selected = Selected::find(&leaves, opening, splitting)?;
        let mut decoded: Vec<usize> =
            selected.places.iter().filter_map(|&place| Some(leaves.get(place)?.column())).collect();
        let kept_places = kept.map(|kept| begin_kept(kept, &schema)).transpose()?.unwrap_or_default();
        decoded.extend(&kept_places);
        decoded.sort_unstable();
        decoded.dedup();
        let kept_places = kept_places.iter().filter_map(|place| decoded.binary_search(place).ok()).collect();
        let table = Table::of_arrow(std::mem::take(&mut selected.names));
        let rows = Rows {
            messages,
            schema: Arc::new(schema),
            leaves,
            selected,
            decoded,
            dictionaries: HashMap::new(),
            copied: 0,
            kept: kept.map(|kept| (kept.clone(), kept_places)),
            kept_batch: None,
            batch: None,
            number: 0,
            used: 0,
            expanded: 0,
        };
        Ok((table, rows))
    }

    /// Returns the next rows, or `None` at the end.
    ///
    /// # Errors
    /// Returns an error without the input's path if the input is unreadable, damaged or over a limit.
    pub(crate) fn next_batch(&mut self) -> MessageResult<Option<Batch>> {
        loop {
            if let Some(batch) = self.batch.take_if(|batch| self.used < batch.num_rows()) {
                let part = self.part(&batch)?;
                self.batch = Some(batch);
                return Ok(Some(part));
            }
            self.batch = None;
            let Some(encoded) = self.messages.next()? else { return Ok(None) };
            self.decode(&encoded)?;
        }
    }

    /// Returns the next rows of the current record batch.
    fn part(&mut self, batch: &RecordBatch) -> MessageResult<Batch> {
        let mut columns = Vec::with_capacity(self.selected.places.len());
        let mut end = batch.num_rows();
        for &place in &self.selected.places {
            let leaf = self.leaves.get(place).ok_or("has no columns")?;
            let column = self.decoded.binary_search(&leaf.column()).map_err(|_| "has no columns")?;
            let mut cells = Cells::new(MAX_LINE_BYTES);
            leaf.fill(&mut cells, batch, column, self.used..end)?;
            // Another column may stop earlier. All columns then end at its last row.
            end = self.used + cells.len();
            self.expanded = self.expanded.saturating_add(cells.text_bytes() as u64 + CELL_BYTES * cells.len() as u64);
            columns.push(Arc::new(cells));
        }
        let limit = max_expanded_bytes(self.messages.position());
        within(|| "bytes of its cells so far:".into(), self.expanded, limit)?;
        let rows = end - self.used;
        if let (Some((queue, _)), Some(kept)) = (&self.kept, &self.kept_batch) {
            queue.push(kept.slice(self.used, rows));
        }
        self.used = end;
        Ok(Batch::new(columns, rows, self.selected.url, self.selected.others))
    }

    /// Decodes a message: a record batch becomes the current one, and a dictionary is kept.
    fn decode(&mut self, encoded: &Encoded) -> MessageResult<()> {
        let message = encoded.message()?;
        let version = message.version();
        if version < MetadataVersion::V4 {
            return Err(damaged("it has the format from before Arrow 0.8, which is not read"));
        }
        if let Some(batch) = message.header_as_record_batch() {
            self.number += 1;
            check_batch(batch, &encoded.body).map_err(|text| self.in_batch(&text))?;
            let decode = |columns: &[usize]| {
                guarded(|| {
                    RecordBatchDecoder::try_new(
                        &encoded.body,
                        batch,
                        self.schema.clone(),
                        &self.dictionaries,
                        &version,
                    )?
                    .with_projection(Some(columns))
                    .read_record_batch()
                })
            };
            let found = decode(&self.decoded).map_err(|text| {
                // The message should name the column.
                let is_bad = |column: &&usize| decode(&[**column]).is_err();
                let name = self.decoded.iter().find(is_bad).and_then(|&column| self.schema.fields().get(column));
                let name = name.map(|field| format!("column \"{}\": ", crate::shown::shown(field.name().as_bytes())));
                self.in_batch(&damaged(&format!("{}{}", name.unwrap_or_default(), plain(&text))))
            })?;
            let kept = self.kept.as_ref().map(|(_, places)| found.project(places)).transpose();
            self.kept_batch = kept.map_err(|error| self.in_batch(&damaged(&error.to_string())))?;
            (self.batch, self.used) = (Some(found), 0);
            return Ok(());
        }
        match message.header_type() {
            MessageHeader::DictionaryBatch => self.keep_dictionary(encoded),
            MessageHeader::Schema => Err(damaged("it has a second schema")),
            other => Err(damaged(&format!("it has a message of type {other:?}, which is not read"))),
        }
    }

    /// Keeps or extends a dictionary.
    fn keep_dictionary(&mut self, encoded: &Encoded) -> MessageResult<()> {
        let message = encoded.message()?;
        let batch = message.header_as_dictionary_batch().ok_or_else(|| damaged("a dictionary without data"))?;
        let id = batch.id();
        let data = batch.data().ok_or_else(|| damaged("a dictionary without data"))?;
        check_batch(data, &encoded.body).map_err(|text| format!("dictionary {id}: {text}"))?;
        if let Some(before) = self.dictionaries.get(&id) {
            if batch.isDelta() {
                let copied = before.get_buffer_memory_size() as u64 + encoded.body.len() as u64;
                self.copied = self.copied.saturating_add(copied);
                let limit = max_expanded_bytes(self.messages.position());
                within(|| "bytes of extended dictionaries so far:".into(), self.copied, limit)?;
            } else if self.messages.is_file() {
                return Err(damaged(&format!("dictionary {id} occurs twice, which only a stream may have")));
            }
        }
        let version = message.version();
        guarded(|| read_dictionary(&encoded.body, batch, &self.schema, &mut self.dictionaries, &version))
            .map_err(|text| damaged(&format!("dictionary {id}: {}", plain(&text))))?;
        let all = self.dictionaries.values().map(|words| words.get_buffer_memory_size() as u64).sum();
        within(|| "bytes of its dictionaries:".into(), all, MAX_DICTIONARIES_BYTES)
    }

    /// Adds the current record batch's number to a message.
    fn in_batch(&self, text: &str) -> String {
        format!("record batch {}: {text}", self.number)
    }
}

/// Selects the kept columns of a table with this schema. Returns their indexes.
fn begin_kept(kept: &KeptRows, schema: &Schema) -> MessageResult<Vec<usize>> {
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let places = kept.select(&names)?;
    let mut schema = schema.project(&places).map_err(|error| error.to_string())?;
    schema.metadata.remove(LINEAGE_KEY);
    kept.begin(Arc::new(schema), None);
    Ok(places)
}

/// Decodes the schema.
fn schema_of(encoded: &Encoded) -> MessageResult<Schema> {
    let message = encoded.message()?;
    let Some(schema) = message.header_as_schema() else {
        return Err(damaged("it does not start with a schema"));
    };
    if !schema.endianness().equals_to_target_endianness() {
        return Err("has big-endian numbers, which are not read".into());
    }
    let schema: std::result::Result<_, String> =
        guarded(|| -> std::result::Result<_, ArrowError> { try_fb_to_schema(schema) });
    schema.map_err(|text| damaged(&plain(&text)))
}

/// Removes the error kind at the start of the crate's messages.
fn plain(text: &str) -> String {
    let kinds = ["Ipc error: ", "Invalid argument error: ", "Parser error: ", "Schema error: "];
    kinds.iter().find_map(|kind| text.strip_prefix(kind)).unwrap_or(text).to_owned()
}
