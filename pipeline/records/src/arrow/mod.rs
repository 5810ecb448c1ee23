//! Rows of a URL table in Arrow IPC, a file or a stream: each row's selected cells.
//!
//! [`messages`] reads the messages, within [`limits`]. The crate `arrow-ipc` decodes and validates
//! the columns that are needed, and [`batches`](crate::batches) turns them into rows. [`columns`] lists the columns.

mod columns;
pub(crate) mod limits;
mod messages;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ipc::reader::{RecordBatchDecoder, read_dictionary};
use arrow_ipc::{MessageHeader, MetadataVersion};
use arrow_schema::{Schema, SchemaRef};

use self::columns::{Leaf, Leaves};
use self::limits::MAX_DICTIONARIES_BYTES;
use self::messages::{Encoded, Messages, check_batch, damaged, plain};
use crate::batches::guard::guarded;
use crate::batches::kept::KeptRows;
use crate::batches::limits::{max_expanded_bytes, within};
use crate::batches::urls::{Selected, UrlRows};
use crate::batches::{Decoded, RecordBatches};
use crate::open::Input;
use crate::tables::open::Opening;
use crate::tables::{LINEAGE_KEY, Table};
use crate::{Error, Result};

/// A result whose error text continues a sentence that begins with the input's path.
type MessageResult<T> = std::result::Result<T, String>;

/// Arrow IPC's record batches.
struct Batches {
    messages: Messages,
    schema: SchemaRef,
    /// The selected columns, and their indexes among the decoded ones.
    selected: Vec<(Leaf, usize)>,
    /// The table's columns that are decoded, in the schema's order.
    decoded: Vec<usize>,
    dictionaries: HashMap<i64, ArrayRef>,
    /// Dictionary bytes copied so far because a later message extended the dictionary.
    copied: u64,
    /// The indexes of kept columns among the decoded ones.
    kept: Option<Vec<usize>>,
    /// The number of the current record batch, from 1.
    number: u64,
}

/// Reads the schema and finds the columns, with the URL column first. See [`Source`](crate::tables::source::Source) for
/// an example.
///
/// # Errors
/// Returns an error if the source is unreadable or damaged, or the errors of [`Selected::find`].
pub(crate) fn open(input: Input, opening: &Opening) -> Result<(Table, UrlRows)> {
    let messages = match input.is_regular && input.compression.is_none() && input.is_arrow_file() {
        true => Messages::of_file(input.into_ranged()?),
        false => Messages::of_source(Box::new(input.into_source())),
    };
    let opened = messages.and_then(|messages| find(messages, opening));
    opened.map_err(|text| Error::at(&opening.path, text))
}

fn find(mut messages: Messages, opening: &Opening) -> MessageResult<(Table, UrlRows)> {
    let kept = opening.kept.as_ref();
    let schema = messages.schema()?;
    let leaves = Leaves::of(&schema);
    let mut selected = Selected::find(&leaves, opening)?;
    let kept_places = kept.map(|kept| begin_kept(kept, &schema)).transpose()?;
    let places = selected.places.iter().filter_map(|&place| leaves.get(place));
    let mut decoded: Vec<usize> = places.clone().map(Leaf::column).collect();
    decoded.extend(kept_places.iter().flatten());
    decoded.sort_unstable();
    decoded.dedup();
    let find = |column: usize| decoded.binary_search(&column).ok();
    let batches = Batches {
        messages,
        selected: places.filter_map(|leaf| Some((leaf.clone(), find(leaf.column())?))).collect(),
        kept: kept_places.map(|places| places.into_iter().filter_map(find).collect()),
        schema: Arc::new(schema),
        decoded,
        dictionaries: HashMap::new(),
        copied: 0,
        number: 0,
    };
    let table = Table::of_arrow(std::mem::take(&mut selected.names));
    Ok((table, UrlRows::new(Box::new(batches), &selected, opening.kept.clone())))
}

impl RecordBatches for Batches {
    fn next(&mut self) -> MessageResult<Option<Decoded>> {
        while let Some(encoded) = self.messages.next()? {
            if let Some(batch) = self.decode(&encoded)? {
                let selected = self.selected.iter().map(|(leaf, place)| leaf.values(&batch, *place));
                let selected = selected.collect::<MessageResult<_>>()?;
                let kept = self.kept.as_ref().map(|places| batch.project(places)).transpose();
                let kept = kept.map_err(|error| self.in_batch(&damaged(&error.to_string())))?;
                return Ok(Some(Decoded { rows: batch.num_rows(), selected, kept }));
            }
        }
        Ok(None)
    }

    fn byte_len(&self) -> u64 {
        self.messages.position()
    }
}

impl Batches {
    /// Decodes a message. Returns its record batch, or keeps its dictionary.
    fn decode(&mut self, encoded: &Encoded) -> MessageResult<Option<RecordBatch>> {
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
            return decode(&self.decoded).map(Some).map_err(|text| {
                // The message should name the column.
                let is_bad = |column: &&usize| decode(&[**column]).is_err();
                let name = self.decoded.iter().find(is_bad).and_then(|&column| self.schema.fields().get(column));
                let name = name.map(|field| format!("column \"{}\": ", crate::shown::shown(field.name().as_bytes())));
                self.in_batch(&damaged(&format!("{}{}", name.unwrap_or_default(), plain(&text))))
            });
        }
        match message.header_type() {
            MessageHeader::DictionaryBatch => self.keep_dictionary(encoded).map(|()| None),
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
