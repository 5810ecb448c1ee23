//! Writes a Parquet file's kept columns: [`KeptWriter`].

use parquet::file::properties::WriterPropertiesPtr;
use parquet::schema::types::ColumnDescPtr;
use rayon::iter::{IntoParallelRefMutIterator, ParallelIterator};
use reptile_records::parquet::kept::{Kept, KeptLeaf};

use super::chunks::{Chunk, Pages};
use crate::error::{Error, ErrorKind};

/// Bytes of kept values at which a row group is written.
pub const KEPT_GROUP_BYTES: usize = 128 << 20;

/// Maximum bytes copied at once for all kept columns together. A single row may be larger.
const COPY_BYTES: usize = 32 << 20;

/// Copies kept columns, a few rows at a time.
pub struct KeptWriter {
    kept: Kept,
    leaves: Vec<(Box<dyn KeptLeaf>, Pages)>,
    properties: WriterPropertiesPtr,
    /// Value bytes in the current row group.
    bytes: usize,
    is_begun: bool,
}

impl KeptWriter {
    /// Prepares to copy columns, which are written as the columns `written`.
    pub fn new(kept: Kept, written: &[ColumnDescPtr], properties: &WriterPropertiesPtr) -> Result<KeptWriter, Error> {
        let leaves = kept.leaves(written).map_err(|error| Error::new(ErrorKind::Column, error.to_string()))?;
        let leaves = leaves.into_iter().map(|leaf| (leaf, Pages::default())).collect();
        Ok(KeptWriter { kept, leaves, properties: WriterPropertiesPtr::clone(properties), bytes: 0, is_begun: false })
    }

    /// Copies the next rows that are selected, at most `rows`. Returns how many rows were read, and the copied bytes.
    pub fn copy(&mut self, rows: usize, selected: Option<&[bool]>) -> Result<(usize, usize), Error> {
        if rows == 0 || self.leaves.is_empty() {
            return Ok((rows, 0));
        }
        if !self.is_begun {
            self.is_begun = true;
            self.leaves.iter_mut().for_each(|(leaf, pages)| leaf.begin(&self.properties, Box::new(pages.clone())));
        }
        let limit = COPY_BYTES / self.leaves.len();
        let ready = self.each(|leaf| Ok(leaf.ready()?.min(rows)))?;
        let ready = ready.into_iter().min().unwrap_or(0);
        if ready == 0 {
            return Err(self.failure("it has fewer rows than were decided".into()));
        }
        Kept::check_memory(self.leaves.iter().map(|(leaf, _)| &**leaf)).map_err(|text| self.failure(text))?;
        let fitting = self.leaves.iter().map(|(leaf, _)| leaf.fit(ready, limit)).min().unwrap_or(ready);
        let bytes = self.each(|leaf| leaf.copy(fitting, selected))?;
        Ok((fitting, bytes.into_iter().sum()))
    }

    /// Counts bytes, and returns whether the row group is complete.
    pub fn is_full(&mut self, bytes: usize) -> bool {
        self.bytes += bytes;
        self.bytes >= KEPT_GROUP_BYTES
    }

    /// Ends the row group, and returns its chunks.
    pub fn finish_group(&mut self) -> Result<Vec<Chunk>, Error> {
        (self.bytes, self.is_begun) = (0, false);
        let closed = self.each(|leaf| leaf.finish())?;
        Ok(closed
            .into_iter()
            .zip(&self.leaves)
            .map(|(close, (_, pages))| Chunk { bytes: pages.take(), close })
            .collect())
    }

    /// Checks that no rows are left.
    pub fn check_end(&mut self) -> Result<(), Error> {
        let left = self.each(|leaf| leaf.ready())?.into_iter().max().unwrap_or(0);
        if left > 0 {
            return Err(self.failure("it has more rows than were decided".into()));
        }
        Ok(())
    }

    /// Runs `work` for each column, on all threads. If several fail, the reported error is always the same.
    fn each<T: Send>(&mut self, work: impl Fn(&mut dyn KeptLeaf) -> Result<T, String> + Sync) -> Result<Vec<T>, Error> {
        let done: Vec<Result<T, String>> = match &mut self.leaves[..] {
            [(only, _)] => vec![work(&mut **only)],
            leaves => leaves.par_iter_mut().map(|(leaf, _)| work(&mut **leaf)).collect(),
        };
        done.into_iter().collect::<Result<_, _>>().map_err(|text| self.failure(text))
    }

    fn failure(&self, text: String) -> Error {
        Error::new(ErrorKind::Column, self.kept.failure(text).to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use reptile_records::parquet::ParquetFile;

    use super::*;
    use crate::{ColumnData, ParquetWriter};

    fn kept(schema: &str) -> Kept {
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let file = tempfile::NamedTempFile::new().unwrap();
        SerializedFileWriter::new(file.reopen().unwrap(), schema, Arc::default()).unwrap().close().unwrap();
        let file = ParquetFile::open(file.path()).unwrap();
        Kept::new(&file, &(0..file.field_names().len()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn row_groups_end_at_the_limit() {
        let schema = "message m { required int32 a; }";
        let written = parquet::schema::types::SchemaDescriptor::new(Arc::new(parse_message_type(schema).unwrap()));
        for (bytes, expected) in [(KEPT_GROUP_BYTES - 1, false), (KEPT_GROUP_BYTES, true), (KEPT_GROUP_BYTES + 1, true)]
        {
            let mut writer = KeptWriter::new(kept(schema), written.columns(), &Arc::default()).unwrap();
            assert!(!writer.is_full(bytes / 2));
            assert_eq!(writer.is_full(bytes - bytes / 2), expected, "{bytes}");
        }
    }

    #[test]
    fn rows_and_columns_that_do_not_fit_are_errors() {
        let schema = "message m { required int32 a; }";
        let verdict = || vec![("verdict".to_owned(), crate::Kind::Verdict)];
        // More rows than the file has.
        let mut file = ParquetWriter::with_kept(Vec::new(), verdict(), Some(kept(schema))).unwrap();
        let mut column = ColumnData::new(crate::Kind::Verdict);
        column.extend_verdicts([None].into_iter());
        let error = file.push(&[column]).unwrap_err().to_string();
        assert!(error.contains("it has fewer rows than were decided"), "{error}");
        // A selection in a file with other columns, and in a file without kept columns.
        assert!(file.push_selected(&[true]).is_err());
        assert!(ParquetWriter::new(Vec::new(), Vec::new()).unwrap().push_selected(&[true]).is_err());
        for (schema, is_fitting) in [
            ("message m { required int32 Verdict; }", false),
            ("message m { required int32 a; required int32 a; }", false),
            ("message m { required int32 a; required int32 b; }", true),
        ] {
            let file = ParquetWriter::with_kept(Vec::new(), verdict(), Some(kept(schema)));
            assert_eq!(file.is_ok(), is_fitting, "{schema}");
        }
    }
}
