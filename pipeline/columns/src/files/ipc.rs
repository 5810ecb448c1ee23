//! Arrow IPC, as a file or a stream. Verdicts are dictionaries, whose words are written once.

use arrow_array::RecordBatch;
use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, Schema};
use parquet::file::metadata::KeyValue;

use super::encoder::{Encoded, Encoder};

/// Returns the options of both writers. A kept dictionary may grow, but a file cannot replace it.
fn options() -> IpcWriteOptions {
    IpcWriteOptions::default().with_dictionary_handling(DictionaryHandling::Delta)
}

/// Begins a file.
pub fn file(schema: &Schema) -> Encoded<FileWriter<Vec<u8>>> {
    Ok(FileWriter::try_new_with_options(Vec::new(), schema, options())?)
}

/// Begins a stream.
pub fn stream(schema: &Schema) -> Encoded<StreamWriter<Vec<u8>>> {
    Ok(StreamWriter::try_new_with_options(Vec::new(), schema, options())?)
}

impl Encoder for FileWriter<Vec<u8>> {
    fn write(&mut self, batch: &RecordBatch) -> Encoded {
        self.write(batch).map_err(|error| match error {
            ArrowError::InvalidArgumentError(text) if text.contains("replacement") => {
                "a dictionary changes, which only a stream can have: write .arrows".into()
            }
            error => error.into(),
        })
    }

    fn describe(&mut self, entry: KeyValue) -> bool {
        self.write_metadata(entry.key, entry.value.unwrap_or_default());
        true
    }

    fn finish(&mut self) -> Encoded {
        Ok(self.finish()?)
    }

    fn take(&mut self) -> Encoded<Vec<u8>> {
        Ok(std::mem::take(self.get_mut()))
    }
}

impl Encoder for StreamWriter<Vec<u8>> {
    fn write(&mut self, batch: &RecordBatch) -> Encoded {
        Ok(self.write(batch)?)
    }

    fn describe(&mut self, _: KeyValue) -> bool {
        false
    }

    fn finish(&mut self) -> Encoded {
        Ok(self.finish()?)
    }

    fn take(&mut self) -> Encoded<Vec<u8>> {
        Ok(std::mem::take(self.get_mut()))
    }
}
