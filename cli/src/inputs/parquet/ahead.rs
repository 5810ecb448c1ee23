//! The pages of a column of texts, unpacked on all threads, some ahead of the one that is needed.
//!
//! Each page is packed by itself, so that the pages of one column chunk can be unpacked at the same time once the headers have
//! been read; the crate `parquet` unpacks each as if it were all of the chunk. So a file with one row group, whose largest
//! column is most of it, is read on all threads, too.

use std::collections::VecDeque;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::column::page::{Page, PageReader};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::ColumnDescPtr;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::guard::guarded;
use super::source::{Checks, Chunk, Source};

/// Bytes of unpacked pages from which on no more pages are unpacked ahead. Writers make pages of a megabyte; a larger page than
/// this one is unpacked by itself.
const AHEAD_BYTES: u64 = 4 << 20;

/// Pages that are unpacked ahead, however small they are.
const MAX_AHEAD_PAGES: usize = 64;

/// The pages of a column chunk that are still to come.
pub struct AheadPages {
    source: Arc<Source>,
    column: ColumnDescPtr,
    packing: Compression,
    checks: Checks,
    /// Where the next page begins that was not unpacked, and where the last one ends.
    next: u64,
    end: u64,
    ready: VecDeque<Result<Option<Page>, String>>,
}

impl AheadPages {
    /// The pages of a chunk of a column.
    ///
    /// # Errors
    /// If its place in the file is impossible.
    pub fn new(
        source: &Arc<Source>,
        column: &ColumnDescPtr,
        chunk: &ColumnChunkMetaData,
        checks: Checks,
    ) -> Result<AheadPages, String> {
        let (next, len) = guarded(|| Ok::<_, String>(chunk.byte_range()))?;
        let end = next.checked_add(len).ok_or("its place in the file is impossible")?;
        let (source, column, packing) = (Arc::clone(source), Arc::clone(column), chunk.compression());
        Ok(AheadPages { source, column, packing, checks, next, end, ready: VecDeque::new() })
    }

    /// The next page that has something in it; `None` at the end.
    ///
    /// # Errors
    /// If it is damaged, or cannot be read.
    pub fn next(&mut self) -> Result<Option<Page>, String> {
        loop {
            match self.ready.pop_front() {
                Some(page) => {
                    // An index of the pages is no page of its own.
                    let Some(page) = page? else { continue };
                    if guarded(|| self.checks.pass(&page))? {
                        return Ok(Some(page));
                    }
                }
                None if self.next >= self.end => return Ok(None),
                None => self.unpack(),
            }
        }
    }

    /// Unpacks the next pages: one at least, and several within the limits.
    fn unpack(&mut self) {
        let (mut spans, mut bytes, mut failure) = (Vec::new(), 0, None);
        while self.next < self.end {
            match guarded(|| self.source.page_header(self.next)) {
                Ok((_, sizes)) => {
                    bytes += sizes.unpacked;
                    if is_enough(spans.len(), bytes) {
                        break;
                    }
                    // Of a page that is longer than what is left, the crate says so.
                    let len = (sizes.header + sizes.packed).min(self.end - self.next);
                    spans.push((self.next, len));
                    self.next += len;
                }
                Err(error) => {
                    self.next = self.end;
                    failure = Some(Err(error));
                }
            }
        }
        let unpacked: Vec<_> = match spans[..] {
            [(start, len)] => vec![self.page(start, len)],
            _ => spans.into_par_iter().map(|(start, len)| self.page(start, len)).collect(),
        };
        self.ready.extend(unpacked.into_iter().chain(failure));
    }

    /// The page that is so many bytes from a place on.
    fn page(&self, start: u64, len: u64) -> Result<Option<Page>, String> {
        guarded(|| {
            // All that the crate asks of a chunk to unpack a page of it.
            let chunk = ColumnChunkMetaData::builder(Arc::clone(&self.column))
                .set_compression(self.packing)
                .set_data_page_offset(i64::try_from(start)?)
                .set_total_compressed_size(i64::try_from(len)?)
                .build()?;
            SerializedPageReader::new(Arc::new(Chunk(Arc::clone(&self.source))), &chunk, 0, None)?.get_next_page()
        })
    }
}

/// Whether after so many pages none is unpacked ahead that makes them so many bytes.
fn is_enough(pages: usize, bytes: u64) -> bool {
    pages >= MAX_AHEAD_PAGES || (pages > 0 && bytes > AHEAD_BYTES)
}

#[cfg(test)]
mod tests {
    use parquet::column::writer::ColumnWriter;
    use parquet::data_type::ByteArray;
    use parquet::file::properties::{EnabledStatistics, WriterProperties};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::super::ParquetFile;
    use super::*;

    #[test]
    fn the_limits_of_pages_ahead_hold_at_their_edges() {
        for (pages, bytes, expected) in [
            (0, AHEAD_BYTES + 1, false),
            (1, AHEAD_BYTES - 1, false),
            (1, AHEAD_BYTES, false),
            (1, AHEAD_BYTES + 1, true),
            (MAX_AHEAD_PAGES - 1, 0, false),
            (MAX_AHEAD_PAGES, 0, true),
            (MAX_AHEAD_PAGES + 1, 0, true),
        ] {
            assert_eq!(is_enough(pages, bytes), expected, "{pages} {bytes}");
        }
    }

    /// The most pages that are ready at once of a file with a text of so many bytes on each page.
    fn most_ready(pages: usize, len: usize) -> usize {
        let properties = WriterProperties::builder()
            .set_statistics_enabled(EnabledStatistics::None)
            .set_dictionary_enabled(false)
            .set_data_page_row_count_limit(1)
            .set_write_batch_size(1);
        let schema = Arc::new(parse_message_type("message m { required binary url; }").unwrap());
        let mut packed = tempfile::NamedTempFile::new().unwrap();
        let mut file = SerializedFileWriter::new(&mut packed, schema, Arc::new(properties.build())).unwrap();
        let mut group = file.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let text = ByteArray::from(vec![b'a'; len]);
        match column.untyped() {
            ColumnWriter::ByteArrayColumnWriter(column) => column.write_batch(&vec![text; pages], None, None).unwrap(),
            _ => panic!("not a column of texts"),
        };
        column.close().unwrap();
        group.close().unwrap();
        file.close().unwrap();
        let file = ParquetFile::open(packed.path()).unwrap();
        let column = &file.columns()[0];
        let checks = Checks::new(Arc::clone(column), Arc::default());
        let chunk = file.metadata.row_group(0).column(0);
        let mut ahead = AheadPages::new(&file.source, column, chunk, checks).unwrap();
        let (mut found, mut most) = (0, 0);
        while let Some(page) = ahead.next().unwrap() {
            assert_eq!((page.num_values(), page.buffer().len()), (1, len + 4));
            found += 1;
            most = most.max(ahead.ready.len() + 1);
        }
        assert_eq!(found, pages);
        most
    }

    #[test]
    fn pages_are_unpacked_a_few_ahead() {
        assert_eq!(most_ready(1, 10), 1);
        assert_eq!(most_ready(3 * MAX_AHEAD_PAGES, 10), MAX_AHEAD_PAGES);
        assert_eq!(most_ready(9, 1 << 20), 3);
        assert_eq!(most_ready(3, 5 << 20), 1);
    }
}
