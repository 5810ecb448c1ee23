//! Checked pages for the crate `parquet`, whose decoders trust the counts in a page: [`CheckedPages`].

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use parquet::basic::{Encoding as CrateEncoding, Type};
use parquet::column::page::{Page as CratePage, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::schema::types::ColumnDescriptor;

use super::ahead::{AheadPages, Chunk};
use super::encoding::Encoding;
use super::kinds::width_of;
use super::limits::{MAX_GROUP_BYTES, MAX_PAGE_BYTES, MAX_READ_VALUES, within};
use super::page::{Data, Kind, Levels, Page, in_page};
use super::runs::Deltas;

/// The error for a page whose counts and bytes contradict each other.
const DAMAGED: &str = "its numbers of values and bytes contradict each other";

/// Counts a column reader's values and bytes since the last reset. A single row may have many values, on many pages.
#[derive(Default)]
pub struct ReadCounts {
    values: AtomicU64,
    bytes: AtomicU64,
}

impl ReadCounts {
    /// Resets the counts.
    pub fn reset(&self) {
        self.values.store(0, Ordering::Relaxed);
        self.bytes.store(0, Ordering::Relaxed);
    }

    /// Counts a page.
    fn add(&self, values: u64, bytes: u64) -> std::result::Result<(), String> {
        let values = self.values.fetch_add(values, Ordering::Relaxed).saturating_add(values);
        let bytes = self.bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        within(|| "values of the pages that a few rows are on:".into(), values, MAX_READ_VALUES)?;
        within(|| "bytes of the pages that a few rows are on:".into(), bytes, MAX_GROUP_BYTES)
    }
}

/// A column chunk's pages, as the crate expects them.
pub struct CheckedPages {
    pages: AheadPages,
    physical: Type,
    /// Bytes per value, if the width is fixed.
    width: usize,
    max_definition: i16,
    max_repetition: i16,
    counts: Arc<ReadCounts>,
    next: Option<CratePage>,
}

impl CheckedPages {
    /// Prepares to read a chunk's pages one at a time.
    pub fn new(chunk: Chunk, column: &ColumnDescriptor, counts: Arc<ReadCounts>) -> CheckedPages {
        let (physical, width) = (column.physical_type(), width_of(column));
        let (max_definition, max_repetition) = (column.max_def_level(), column.max_rep_level());
        let pages = AheadPages::single(chunk);
        CheckedPages { pages, physical, width, max_definition, max_repetition, counts, next: None }
    }

    /// Reads the next page with values, unless it is known.
    fn peek(&mut self) -> Result<Option<&CratePage>> {
        while self.next.is_none() {
            let Some(page) = self.pages.next().map_err(ParquetError::General)? else { return Ok(None) };
            let offset = page.offset;
            self.next = self.page(page).map_err(|text| ParquetError::General(in_page(offset, text)))?;
        }
        Ok(self.next.as_ref())
    }

    /// Checks and converts a page. Returns `None` for a page without values.
    fn page(&self, page: Page) -> std::result::Result<Option<CratePage>, String> {
        let Page { kind, bytes: buf, .. } = page;
        Ok(match kind {
            Kind::Dictionary(count, encoding) => {
                if !matches!(encoding, Encoding::Plain | Encoding::Dictionary) {
                    return Err(format!("it is a dictionary with the encoding {encoding}, which is not read"));
                }
                let len = buf.len() as u64;
                let is_possible = match self.physical {
                    // Each text follows its length, which has 4 bytes.
                    Type::BYTE_ARRAY => 4 * u64::from(count) <= len,
                    Type::BOOLEAN => false,
                    _ => u64::from(count) * self.width as u64 == len,
                };
                if !is_possible {
                    return Err(DAMAGED.into());
                }
                Some(CratePage::DictionaryPage {
                    buf,
                    num_values: count,
                    encoding: CrateEncoding::PLAIN,
                    is_sorted: false,
                })
            }
            Kind::Data(Data { values: 0, .. }) | Kind::Index => None,
            Kind::Data(Data { values, encoding, levels }) => {
                let start = self.values_start(&buf, &levels, values).ok_or(DAMAGED)?;
                let expanded = self.check_values(&buf.slice(start..), encoding, values)?;
                // Rows with one value are decoded a few at a time, regardless of the page's size.
                let several = if self.max_repetition > 0 { values } else { 0 };
                self.counts.add(several.into(), buf.len() as u64 + expanded)?;
                let encoding = crate_encoding(encoding)?;
                Some(match levels {
                    Levels::V1 { encoding: definition, repetition } => CratePage::DataPage {
                        buf,
                        num_values: values,
                        encoding,
                        def_level_encoding: crate_encoding(definition)?,
                        rep_level_encoding: repetition.map_or(Ok(CrateEncoding::RLE), crate_encoding)?,
                        statistics: None,
                    },
                    Levels::V2 { nulls, rows, repetition, definition, .. } => CratePage::DataPageV2 {
                        buf,
                        num_values: values,
                        encoding,
                        num_nulls: nulls,
                        num_rows: rows,
                        def_levels_byte_len: definition,
                        rep_levels_byte_len: repetition,
                        is_compressed: false,
                        statistics: None,
                    },
                })
            }
        })
    }
}

impl CheckedPages {
    /// Returns where a page's values start. They follow its levels.
    fn values_start(&self, page: &Bytes, levels: &Levels, values: u32) -> Option<usize> {
        let start = match *levels {
            Levels::V2 { repetition, definition, .. } => (repetition as usize).checked_add(definition as usize)?,
            Levels::V1 { encoding, repetition } => {
                let mut at = 0_usize;
                let repetition = (repetition.unwrap_or(Encoding::Rle), self.max_repetition);
                for (encoding, max) in [repetition, (encoding, self.max_definition)] {
                    if max <= 0 {
                        continue;
                    }
                    let width = (u16::BITS - (max as u16).leading_zeros()) as usize;
                    let len = match encoding {
                        Encoding::BitPacked => (values as usize).checked_mul(width)?.div_ceil(8),
                        _ => 4 + u32::from_le_bytes(*page.get(at..)?.first_chunk()?) as usize,
                    };
                    at = at.checked_add(len)?;
                }
                at
            }
        };
        (start <= page.len()).then_some(start)
    }

    /// Checks the counts before a page's values. Returns how many bytes decoding adds to the page.
    fn check_values(&self, bytes: &Bytes, encoding: Encoding, values: u32) -> std::result::Result<u64, String> {
        // A page with only nulls has no values.
        if bytes.is_empty() {
            return Ok(0);
        }
        let list = |from: usize| -> std::result::Result<(Deltas, usize), String> {
            let bytes = bytes.slice(from..);
            let end = Deltas::end(&bytes).ok_or(DAMAGED)?;
            let list = Deltas::new(bytes.slice(..end)).filter(|list| list.left() <= values.into());
            Ok((list.ok_or(DAMAGED)?, from + end))
        };
        match encoding {
            Encoding::DeltaBinaryPacked | Encoding::DeltaLengthByteArray => {
                list(0)?;
                Ok(0)
            }
            Encoding::DeltaByteArray => {
                let (prefixes, end) = list(0)?;
                let (rests, _) = list(end)?;
                let expanded = sum(prefixes)?.saturating_add(sum(rests)?);
                within(|| "bytes of its texts with their shared prefixes:".into(), expanded, MAX_PAGE_BYTES)?;
                Ok(expanded)
            }
            _ => Ok(0),
        }
    }
}

/// Returns the sum of lengths.
fn sum(mut lengths: Deltas) -> std::result::Result<u64, String> {
    /// Number of lengths that are decoded at once.
    const PIECE: u64 = 4096;
    let (mut piece, mut sum) = (Vec::new(), 0_u64);
    while lengths.left() > 0 {
        piece.clear();
        lengths.read(lengths.left().min(PIECE) as usize, &mut piece).ok_or(DAMAGED)?;
        for &len in &piece {
            sum = sum.saturating_add(u64::try_from(len).map_err(|_| DAMAGED)?);
        }
    }
    Ok(sum)
}

/// Returns the crate's name for an encoding.
fn crate_encoding(encoding: Encoding) -> std::result::Result<CrateEncoding, String> {
    Ok(match encoding {
        Encoding::Plain => CrateEncoding::PLAIN,
        Encoding::Dictionary => CrateEncoding::RLE_DICTIONARY,
        Encoding::Rle => CrateEncoding::RLE,
        #[allow(deprecated, reason = "old files have it")]
        Encoding::BitPacked => CrateEncoding::BIT_PACKED,
        Encoding::DeltaBinaryPacked => CrateEncoding::DELTA_BINARY_PACKED,
        Encoding::DeltaLengthByteArray => CrateEncoding::DELTA_LENGTH_BYTE_ARRAY,
        Encoding::DeltaByteArray => CrateEncoding::DELTA_BYTE_ARRAY,
        Encoding::ByteStreamSplit => CrateEncoding::BYTE_STREAM_SPLIT,
        Encoding::Alp => return Err(format!("it has the encoding {encoding}, which is not read")),
    })
}

impl Iterator for CheckedPages {
    type Item = Result<CratePage>;

    fn next(&mut self) -> Option<Result<CratePage>> {
        self.get_next_page().transpose()
    }
}

impl PageReader for CheckedPages {
    fn get_next_page(&mut self) -> Result<Option<CratePage>> {
        self.peek()?;
        Ok(self.next.take())
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        Ok(self.peek()?.map(|page| PageMetadata {
            num_rows: match page {
                CratePage::DataPageV2 { num_rows, .. } => Some(*num_rows as usize),
                _ => None,
            },
            num_levels: page.is_data_page().then_some(page.num_values() as usize),
            is_dict: page.is_dictionary_page(),
        }))
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.get_next_page().map(drop)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use parquet::column::writer::ColumnWriter;
    use parquet::data_type::ByteArray;
    use parquet::file::metadata::ColumnChunkMetaData;
    use parquet::file::properties::{EnabledStatistics, WriterProperties};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::super::ParquetFile;
    use super::super::kept::{Kept, KeptLeaf};
    use super::*;
    use crate::ranged::Ranged;

    #[test]
    fn pages_of_a_few_rows_stop_at_the_limits() {
        for (values, bytes, fits) in [
            (MAX_READ_VALUES - 1, 0, true),
            (MAX_READ_VALUES, 0, true),
            (MAX_READ_VALUES + 1, 0, false),
            (0, MAX_GROUP_BYTES - 1, true),
            (0, MAX_GROUP_BYTES, true),
            (0, MAX_GROUP_BYTES + 1, false),
        ] {
            let counts = ReadCounts::default();
            assert_eq!(counts.add(values, bytes).is_ok(), fits, "{values} {bytes}");
            counts.reset();
            assert!(counts.add(values / 2, bytes / 2).is_ok());
            assert_eq!(counts.add(values - values / 2, bytes - bytes / 2).is_ok(), fits, "{values} {bytes}");
        }
    }

    /// Returns the leaf column of a file with one row group.
    fn leaf(schema: &str, write: impl FnOnce(&mut ColumnWriter<'_>)) -> Box<dyn KeptLeaf> {
        let schema = Arc::new(parse_message_type(&format!("message m {{ {schema} }}")).unwrap());
        let properties = WriterProperties::builder().set_statistics_enabled(EnabledStatistics::None);
        let properties = properties.set_data_page_size_limit(1 << 40).set_dictionary_page_size_limit(4 << 20);
        let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build())).unwrap();
        let mut group = file.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        write(column.untyped());
        column.close().unwrap();
        group.close().unwrap();
        let mut saved = tempfile::NamedTempFile::new().unwrap();
        saved.write_all(&file.into_inner().unwrap()).unwrap();
        let file = ParquetFile::open(saved.path()).unwrap();
        let written = file.columns().to_vec();
        Kept::new(&file, &[0]).unwrap().leaves(&written).unwrap().remove(0)
    }

    /// Tests a row whose levels take a few bytes in the file.
    #[test]
    fn a_row_with_too_many_values_is_rejected() {
        for (values, fits) in [(1 << 16, true), (MAX_READ_VALUES as usize + 1, false)] {
            let mut column =
                leaf("optional group a (LIST) { repeated group list { optional int32 element; } }", |to| {
                    let mut lists = vec![1; values];
                    lists[0] = 0;
                    if let ColumnWriter::Int32ColumnWriter(to) = to {
                        to.write_batch(&[], Some(&vec![2; values]), Some(&lists)).unwrap();
                    }
                });
            let ready = column.ready();
            assert_eq!(ready, if fits { Ok(1) } else { ready.clone() }, "{values}");
            assert!(fits || ready.is_err_and(|text| text.contains("values of the pages that a few rows are on")));
        }
    }

    /// Tests that few rows are copied at once if every value may be the same megabyte in a dictionary.
    #[test]
    fn large_values_are_copied_a_few_rows_at_a_time() {
        let mut column = leaf("required binary a;", |to| {
            if let ColumnWriter::ByteArrayColumnWriter(to) = to {
                to.write_batch(&vec![ByteArray::from(vec![b'a'; 1 << 20]); 300], None, None).unwrap();
            }
        });
        assert_eq!(column.ready(), Ok(300));
        let row = (1 << 20) + 4;
        for (limit, rows) in [(0, 1), (row - 1, 1), (row, 1), (2 * row - 1, 1), (2 * row, 2), (300 * row, 300)] {
            assert_eq!(column.fit(300, limit), rows, "{limit}");
        }
        assert_eq!(column.fit(7, usize::MAX), 7);
    }

    #[test]
    fn counts_that_contradict_the_bytes_are_rejected() {
        let schema = |column: &str| parse_message_type(&format!("message m {{ {column} a; }}")).unwrap();
        let pages = |column: &str| {
            let schema = parquet::schema::types::SchemaDescriptor::new(Arc::new(schema(column)));
            let descr = schema.column(0);
            // The chunk has no pages.
            let metadata = ColumnChunkMetaData::builder(Arc::clone(&descr)).build().unwrap();
            let source = Arc::new(Ranged::new(tempfile::tempfile().unwrap(), 0));
            let chunk = Chunk::new(&source, &descr, &metadata, 0).unwrap();
            CheckedPages::new(chunk, &descr, Arc::default())
        };
        let dictionary = |column: &str, count, len| {
            let page = Page { offset: 0, kind: Kind::Dictionary(count, Encoding::Plain), bytes: vec![0; len].into() };
            pages(column).page(page).is_ok()
        };
        for (column, count, len, is_possible) in [
            ("required binary", 3, 12, true),
            ("required binary", 3, 11, false),
            ("required int32", 3, 12, true),
            ("required int32", 3, 13, false),
            ("required int96", 1, 12, true),
            ("required fixed_len_byte_array(5)", 2, 10, true),
            ("required fixed_len_byte_array(5)", 2, 9, false),
            ("required boolean", 0, 0, false),
        ] {
            assert_eq!(dictionary(column, count, len), is_possible, "{column} {count} {len}");
        }
        // A list of differences that declares 5 numbers: a block of 128 in 4 parts, the first number 1, then widths 0.
        let deltas = [128, 1, 4, 5, 2, 0, 0, 0, 0, 0];
        for (values, encoding, is_possible) in [
            (5, Encoding::DeltaBinaryPacked, true),
            (4, Encoding::DeltaBinaryPacked, false),
            (5, Encoding::DeltaLengthByteArray, true),
            (4, Encoding::DeltaLengthByteArray, false),
            (5, Encoding::DeltaByteArray, true),
            (4, Encoding::DeltaByteArray, false),
        ] {
            let bytes = Bytes::from(deltas.repeat(2));
            let found = pages("required binary").check_values(&bytes, encoding, values);
            assert_eq!(found.is_ok(), is_possible, "{values} {encoding} {found:?}");
        }
    }
}
