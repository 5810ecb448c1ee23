//! The operations of a file format on record batches: [`Encoder`].

use arrow_array::RecordBatch;
use parquet::file::metadata::KeyValue;

/// The result of encoding, with the error of the format's crate.
pub type Encoded<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Encodes record batches in a format.
pub trait Encoder: Send {
    fn write(&mut self, batch: &RecordBatch) -> Encoded;

    /// Encodes rows that wait for others.
    fn end_rows(&mut self) -> Encoded {
        Ok(())
    }

    /// Adds a metadata entry. Returns whether there is still a place for it.
    fn describe(&mut self, entry: KeyValue) -> bool;

    fn finish(&mut self) -> Encoded;

    /// Removes and returns the bytes that are complete.
    fn take(&mut self) -> Encoded<Vec<u8>>;
}
