//! Arrow IPC in memory: every supported type, dictionaries that change, limits, and damaged bytes.

use std::io::{Cursor, Write};
use std::sync::Arc;

use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, Date32Array, Date64Array, DictionaryArray,
    FixedSizeBinaryArray, Float64Array, Int8Array, Int32Array, Int64Array, LargeBinaryArray, LargeStringArray,
    NullArray, RecordBatch, StringArray, StringViewArray, StructArray, TimestampMicrosecondArray,
    TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray, UInt64Array,
};
use arrow_buffer::NullBuffer;
use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions, StreamWriter};
use arrow_ipc::{CompressionType, FieldNode, MetadataVersion, RecordBatchBuilder, root_as_message};
use arrow_schema::{DataType, Field, Fields};
use bumpalo::Bump;
use flatbuffers::FlatBufferBuilder;

use super::limits::{MAX_BATCH_ROWS, MAX_BODY_BYTES};
use super::messages::check_batch;
use super::*;
use crate::batches::urls::AT_OPTION;
use crate::magic::{ARROW_FILE, is_arrow_file};
use crate::ranged::Ranged;
use crate::tables::ColumnOption;
use crate::tables::open::URL_OPTION;

fn options() -> IpcWriteOptions {
    IpcWriteOptions::default()
}

fn compressed(kind: CompressionType) -> IpcWriteOptions {
    options().try_with_compression(Some(kind)).unwrap()
}

/// Returns the batches as a stream and as a file.
fn encoded(batches: &[RecordBatch], options: &IpcWriteOptions) -> [Vec<u8>; 2] {
    let schema = batches[0].schema();
    let mut stream = StreamWriter::try_new_with_options(Vec::new(), &schema, options.clone()).unwrap();
    let mut file = FileWriter::try_new_with_options(Vec::new(), &schema, options.clone()).unwrap();
    for batch in batches {
        stream.write(batch).unwrap();
        file.write(batch).unwrap();
    }
    [stream.into_inner().unwrap(), file.into_inner().unwrap()]
}

/// Returns a table with the column `url`.
fn table(urls: ArrayRef) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable([("url", urls, true)]).unwrap()
}

/// Returns the messages of a source, or those that a file's footer lists.
fn messages(bytes: &[u8], is_listed: bool) -> MessageResult<Messages> {
    if !is_listed {
        return Messages::of_source(Box::new(Cursor::new(bytes.to_vec())));
    }
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    Messages::of_file(Ranged::new(file, bytes.len() as u64))
}

type Cell = Option<String>;

/// Returns the cells of the selected columns in each row, or the error.
fn read(bytes: &[u8], wanted: &[(&'static str, Option<&str>)]) -> std::result::Result<Vec<Vec<Cell>>, String> {
    let selected = wanted.iter().map(|&(option, name)| ColumnOption { option, name: name.map(str::to_owned) });
    let opening = Opening { wanted: selected.collect(), ..Opening::of("-") };
    let messages = messages(bytes, is_arrow_file(bytes))?;
    let (_, mut rows) = find(messages, &opening)?;
    let mut found = Vec::new();
    while let Some(batch) = rows.next_batch()? {
        for block in batch.blocks() {
            let arena = Bump::new();
            for row in block.rows(&arena) {
                let cells = row.cells[..wanted.len()].iter();
                found.push(cells.map(|cell| cell.map(|cell| String::from_utf8_lossy(cell).into_owned())).collect());
            }
        }
    }
    Ok(found)
}

fn urls(bytes: &[u8]) -> std::result::Result<Vec<Cell>, String> {
    let rows = read(bytes, &[(URL_OPTION, None)])?;
    Ok(rows.into_iter().map(|mut row| row.remove(0)).collect())
}

fn words() -> Vec<Option<&'static str>> {
    vec![Some("http://a.example/a-long-text"), None, Some(""), Some("short"), Some("http://é.example/another")]
}

#[test]
fn texts_of_every_type_are_cells() {
    let words = words();
    let bytes: Vec<Option<&[u8]>> = words.iter().map(|word| word.map(str::as_bytes)).collect();
    let keys = Int8Array::from(vec![Some(0), None, Some(2), Some(3), Some(4)]);
    let dictionary = |values: ArrayRef| DictionaryArray::<Int8Type>::try_new(keys.clone(), values).unwrap();
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from(words.clone())),
        Arc::new(LargeStringArray::from(words.clone())),
        Arc::new(StringViewArray::from(words.clone())),
        Arc::new(BinaryArray::from(bytes.clone())),
        Arc::new(LargeBinaryArray::from(bytes.clone())),
        Arc::new(BinaryViewArray::from(bytes)),
        Arc::new(dictionary(Arc::new(StringArray::from(words.clone())))),
        Arc::new(dictionary(Arc::new(LargeStringArray::from(words.clone())))),
        Arc::new(dictionary(Arc::new(StringViewArray::from(words.clone())))),
    ];
    let expected: Vec<Cell> = words.iter().map(|word| word.map(str::to_owned)).collect();
    for array in arrays {
        let parts = [table(array.slice(0, 2)), table(array.slice(2, 0)), table(array.slice(2, 3))];
        for options in [options(), compressed(CompressionType::LZ4_FRAME), compressed(CompressionType::ZSTD)] {
            // A file cannot replace a dictionary, and slices share one.
            for bytes in encoded(&parts, &options) {
                assert_eq!(urls(&bytes).as_ref(), Ok(&expected), "{}", array.data_type());
            }
        }
    }
}

#[test]
fn other_types_are_cells_like_those_of_parquet() {
    let urls: ArrayRef = Arc::new(StringArray::from(vec!["http://a.example/", "http://b.example/"]));
    let fixed = FixedSizeBinaryArray::try_from_sparse_iter_with_size([Some(b"abc"), None].into_iter(), 3).unwrap();
    let cases: Vec<(ArrayRef, Option<&str>)> = vec![
        (Arc::new(Int64Array::from(vec![Some(-7), None])), Some("-7")),
        (Arc::new(Int8Array::from(vec![Some(-7), None])), Some("-7")),
        (Arc::new(UInt64Array::from(vec![Some(u64::MAX), None])), Some("18446744073709551615")),
        (Arc::new(Float64Array::from(vec![Some(1.5), None])), Some("1.5")),
        (Arc::new(Float64Array::from(vec![Some(f64::NAN), None])), None),
        (Arc::new(Date32Array::from(vec![Some(-1), None])), Some("1969-12-31T00:00:00")),
        (Arc::new(Date64Array::from(vec![Some(86_400_000), None])), Some("1970-01-02T00:00:00")),
        (Arc::new(TimestampSecondArray::from(vec![Some(-1), None])), Some("1969-12-31T23:59:59")),
        (Arc::new(TimestampSecondArray::from(vec![Some(-1), None]).with_timezone("UTC")), Some("@-1")),
        (Arc::new(TimestampMillisecondArray::from(vec![Some(-1), None]).with_timezone("+05:00")), Some("@-1")),
        (Arc::new(TimestampMicrosecondArray::from(vec![Some(1_999_999), None]).with_timezone("UTC")), Some("@1")),
        (
            Arc::new(TimestampNanosecondArray::from(vec![Some(i64::MAX), None]).with_timezone("UTC")),
            Some("@9223372036"),
        ),
        (Arc::new(fixed), Some("abc")),
    ];
    for (array, expected) in cases {
        let columns = [("url", urls.clone(), true), ("at", array.clone(), true)];
        let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
        for bytes in encoded(&[batch], &options()) {
            let rows = read(&bytes, &[(URL_OPTION, Some("url")), (AT_OPTION, Some("at"))]).unwrap();
            let found: Vec<Option<&str>> = rows.iter().map(|row| row[1].as_deref()).collect();
            assert_eq!(found, [expected, None], "{}", array.data_type());
        }
    }
}

#[test]
fn fields_of_structs_are_columns() {
    let fields = Fields::from(vec![Field::new("url", DataType::Utf8, true)]);
    let nulls = NullBuffer::from(vec![true, false, true, true, true]);
    let request = StructArray::new(fields, vec![Arc::new(StringArray::from(words()))], Some(nulls));
    let batch = RecordBatch::try_from_iter([("request", Arc::new(request) as ArrayRef)]).unwrap();
    for bytes in encoded(&[batch], &options()) {
        let rows = read(&bytes, &[(URL_OPTION, Some("request.url"))]).unwrap();
        let found: Vec<Option<&str>> = rows.iter().map(|row| row[0].as_deref()).collect();
        assert_eq!(found, words());
        assert_eq!(urls(&bytes).unwrap().len(), 5, "the only column with text");
    }
}

#[test]
fn columns_of_other_types_are_errors() {
    let text: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
    let number: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let flag: ArrayRef = Arc::new(BooleanArray::from(vec![true]));
    let null: ArrayRef = Arc::new(NullArray::new(1));
    let nested = StructArray::from(vec![(Arc::new(Field::new("id", DataType::Int32, false)), number.clone())]);
    let keys: ArrayRef = Arc::new(
        DictionaryArray::<Int32Type>::try_new(Int32Array::from(vec![0]), Arc::new(Int64Array::from(vec![7]))).unwrap(),
    );
    let of = |columns: &[(&str, &ArrayRef)]| {
        let columns = columns.iter().map(|&(name, array)| (name, array.clone()));
        encoded(&[RecordBatch::try_from_iter(columns).unwrap()], &options())
    };
    let cases = [
        (of(&[("url", &number)]), None, "column 1 (\"url\") has the type Int32; expected text"),
        (of(&[("url", &flag)]), None, "column 1 (\"url\") has the type Boolean; expected text"),
        (of(&[("url", &null)]), None, "column 1 (\"url\") has the type Null; expected text"),
        (of(&[("url", &keys)]), None, "has the type Dictionary(Int32, Int64), which is not read; expected text"),
        (of(&[("id", &number)]), None, "which column has the URLs? Say it with --url; the file has \"id\""),
        (of(&[("a", &text), ("b", &text)]), None, "which column has the URLs?"),
        (of(&[("url", &text), ("uri", &text)]), None, "which column has the URLs, column 1 (\"url\") or column 2"),
        (of(&[("a", &text)]), Some("b"), "--url b: there is no such column; the file has \"a\""),
        (of(&[("a", &text)]), Some("2"), "--url 2: the file has the columns 1 to 1"),
        (of(&[("a", &(Arc::new(nested) as ArrayRef))]), Some("a.id"), "has the type Int32; expected text"),
    ];
    for (encoded, column, expected) in cases {
        for bytes in encoded {
            let error = read(&bytes, &[(URL_OPTION, column)]).unwrap_err();
            assert!(error.contains(expected), "{error}\nexpected {expected}");
        }
    }
}

/// Returns a batch with dictionary texts.
fn keyed(words: &[&str], keys: Vec<Option<i32>>) -> RecordBatch {
    let words = Arc::new(StringArray::from(words.to_vec()));
    table(Arc::new(DictionaryArray::<Int32Type>::try_new(Int32Array::from(keys), words).unwrap()))
}

#[test]
fn dictionaries_grow_and_change() {
    let first = keyed(&["a", "b"], vec![Some(0), None, Some(1)]);
    let longer = keyed(&["a", "b", "c"], vec![Some(2), Some(0)]);
    let other = keyed(&["x"], vec![Some(0)]);
    let deltas = options().with_dictionary_handling(DictionaryHandling::Delta);
    let grown = ["a", "-", "b", "c", "a"];
    let stream = |batches: &[RecordBatch], options: IpcWriteOptions| {
        let mut writer = StreamWriter::try_new_with_options(Vec::new(), &first.schema(), options).unwrap();
        batches.iter().for_each(|batch| writer.write(batch).unwrap());
        writer.into_inner().unwrap()
    };
    let both = [first.clone(), longer];
    let [_, file] = encoded(&both, &deltas);
    for (bytes, expected) in [
        (stream(&both, deltas), &grown[..]),
        (stream(&both, options()), &grown),
        (file, &grown),
        (stream(&[first.clone(), other], options()), &["a", "-", "b", "x"]),
    ] {
        let found: Vec<String> = urls(&bytes).unwrap().into_iter().map(|url| url.unwrap_or("-".into())).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn long_batches_are_read_in_parts() {
    let count = 200_000;
    let all: Vec<String> = (0..count).map(|number| format!("http://a.example/{number}")).collect();
    let [stream, _] = encoded(&[table(Arc::new(StringArray::from(all.clone())))], &options());
    let messages = messages(&stream, false).unwrap();
    let (_, mut rows) = find(messages, &Opening::of("-")).unwrap();
    let mut sizes = Vec::new();
    while let Some(batch) = rows.next_batch().unwrap() {
        sizes.push(batch.blocks().map(|block| block.row_count()).sum::<usize>());
    }
    assert_eq!(sizes.iter().sum::<usize>(), count);
    assert!(sizes.iter().all(|&rows| rows <= 1 << 16), "{sizes:?}");
    assert!(urls(&stream).unwrap().into_iter().flatten().eq(all));
}

/// Polars writes dictionaries after the batches that need them, and no schema before the footer.
#[test]
fn files_are_read_through_their_footer() {
    let [_, file] = encoded(&[keyed(&["a", "b"], vec![Some(0), None, Some(1)])], &options());
    let count = |messages: Messages| {
        let (_, mut rows) = find(messages, &Opening::of("-"))?;
        let mut count = 0;
        while let Some(batch) = rows.next_batch()? {
            count += batch.blocks().map(|block| block.row_count()).sum::<usize>();
        }
        Ok::<_, String>(count)
    };
    for is_listed in [false, true] {
        assert_eq!(count(messages(&file, is_listed).unwrap()), Ok(3));
    }
    // The schema message before the first dictionary.
    let mut other = file.clone();
    other[8..40].fill(1);
    assert!(count(messages(&other, false).unwrap()).is_err());
    assert_eq!(count(messages(&other, true).unwrap()), Ok(3));
    let end = file.len() - 10;
    for (bytes, expected) in [
        (file[..end].to_vec(), "it ends before the magic bytes at the end of the file; it may be cut off"),
        ([&file[..end], &u32::MAX.to_le_bytes(), ARROW_FILE].concat(), "bytes of its footer: "),
        ([&file[..end], &(1_u32 << 20).to_le_bytes(), ARROW_FILE].concat(), "its footer is longer than the rest"),
        (ARROW_FILE.to_vec(), "its footer is longer than the rest"),
    ] {
        let error = messages(&bytes, true).err().unwrap();
        assert!(error.contains(expected), "{error}");
    }
}

/// Tests that a few bytes do not become many: each cell refers to the same megabyte.
#[test]
fn cells_stop_at_the_limit_for_the_input() {
    let words = StringArray::from(vec!["x".repeat(1 << 20)]);
    let keys = Int32Array::from(vec![0; 5000]);
    let urls_of = DictionaryArray::<Int32Type>::try_new(keys, Arc::new(words)).unwrap();
    for bytes in encoded(&[table(Arc::new(urls_of))], &options()) {
        let error = urls_count(&bytes).unwrap_err();
        assert!(error.contains("bytes of its cells so far: ") && error.contains("the limit is 4294967296"), "{error}");
    }
}

fn urls_count(bytes: &[u8]) -> std::result::Result<usize, String> {
    let messages = messages(bytes, is_arrow_file(bytes))?;
    let (_, mut rows) = find(messages, &Opening::of("-"))?;
    let mut count = 0;
    while let Some(batch) = rows.next_batch()? {
        count += batch.blocks().map(|block| block.row_count()).sum::<usize>();
    }
    Ok(count)
}

/// Returns the result of checking a batch of `rows` rows with these buffers: the offset and the length of each.
fn checked(rows: i64, buffers: &[(i64, i64)], body: &[u8], is_compressed: bool) -> MessageResult<()> {
    let mut builder = FlatBufferBuilder::new();
    let nodes = builder.create_vector(&[FieldNode::new(rows, 0)]);
    let buffers: Vec<arrow_ipc::Buffer> = buffers.iter().map(|&(at, len)| arrow_ipc::Buffer::new(at, len)).collect();
    let buffers = builder.create_vector(&buffers);
    let compression = is_compressed.then(|| arrow_ipc::BodyCompressionBuilder::new(&mut builder).finish());
    let mut batch = RecordBatchBuilder::new(&mut builder);
    batch.add_length(rows);
    batch.add_nodes(nodes);
    batch.add_buffers(buffers);
    if let Some(compression) = compression {
        batch.add_compression(compression);
    }
    let batch = batch.finish().as_union_value();
    let mut message = arrow_ipc::MessageBuilder::new(&mut builder);
    message.add_version(MetadataVersion::V5);
    message.add_header_type(MessageHeader::RecordBatch);
    message.add_header(batch);
    let message = message.finish();
    builder.finish(message, None);
    let message = root_as_message(builder.finished_data()).unwrap();
    check_batch(message.header_as_record_batch().unwrap(), body)
}

#[test]
fn stated_lengths_stop_at_their_limits() {
    let (rows, bytes) = (MAX_BATCH_ROWS as i64, MAX_BODY_BYTES as i64);
    let body = |len: i64| [&len.to_le_bytes()[..], &[0; 8]].concat();
    for (found, expected) in [
        (checked(rows - 1, &[], b"", false), None),
        (checked(rows, &[], b"", false), None),
        (checked(rows + 1, &[], b"", false), Some("rows in a record batch: 2147483649; the limit is 2147483648")),
        (checked(-1, &[], b"", false), Some("negative length")),
        (checked(1, &[(0, 16)], &[0; 16], false), None),
        (checked(1, &[(0, 17)], &[0; 16], false), Some("a buffer ends after its message")),
        (checked(1, &[(8, i64::MAX)], &[0; 16], false), Some("a buffer ends after its message")),
        (checked(1, &[(-8, 8)], &[0; 16], false), Some("a buffer ends after its message")),
        (checked(1, &[(0, 16), (8, 8)], &[0; 16], false), Some("its buffers overlap")),
        (checked(1, &[(0, 16)], &body(bytes - 1), true), None),
        (checked(1, &[(0, 16)], &body(bytes), true), None),
        (checked(1, &[(0, 16)], &body(bytes + 1), true), Some("without compression: 1073741825; the limit is")),
        (checked(1, &[(0, 16)], &body(-1), true), None),
        (checked(1, &[(0, 16)], &body(-2), true), Some("negative length")),
        (checked(1, &[(0, 7)], &[0; 7], true), Some("a compressed buffer has no length")),
        (checked(1, &[(0, 0)], b"", true), None),
    ] {
        match (found, expected) {
            (Ok(()), None) => {}
            (Err(found), Some(expected)) => assert!(found.contains(expected), "{found}"),
            (found, _) => panic!("{found:?}, expected {expected:?}"),
        }
    }
}

/// Returns small tables that use every part of the format.
fn bases() -> Vec<Vec<u8>> {
    let views: ArrayRef = Arc::new(StringViewArray::from(words()));
    let texts: ArrayRef = Arc::new(StringArray::from(words()));
    let dictionary: ArrayRef = keyed(&["http://a.example/", "b"], vec![Some(0), None, Some(1)]).column(0).clone();
    let deltas = options().with_dictionary_handling(DictionaryHandling::Delta);
    [
        encoded(&[table(views)], &options()),
        encoded(&[table(texts.clone()), table(texts.clone())], &options()),
        encoded(&[table(texts)], &compressed(CompressionType::ZSTD)),
        encoded(&[table(dictionary), keyed(&["http://a.example/", "b", "c"], vec![Some(2)])], &deltas),
    ]
    .concat()
}

#[test]
fn truncated_data_never_passes_for_complete() {
    for base in bases() {
        assert!(urls(&base).is_ok());
        for len in 0..base.len() {
            assert!(urls(&base[..len]).is_err(), "{len} of {} bytes", base.len());
        }
    }
}

/// Tests that changed bytes lead to rows or an error, and never to a panic or an endless loop.
#[test]
fn damaged_data_is_an_error_or_other_rows() {
    let mut state = 7_u64;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    let (mut errors, mut fine) = (0, 0);
    for base in bases() {
        for _ in 0..800 {
            let mut bytes = base.clone();
            for _ in 0..=below(3) {
                let at = below(bytes.len());
                match below(4) {
                    0 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][below(5)],
                    1 => bytes[at] ^= 1 << below(8),
                    2 => bytes[at] = below(256) as u8,
                    _ => {
                        let end = bytes.len().min(at + 4);
                        bytes[at..end].fill(0xff);
                    }
                }
            }
            match urls_count(&bytes) {
                Ok(_) => fine += 1,
                Err(_) => errors += 1,
            }
        }
    }
    assert!(errors > 1_000 && fine > 50, "{errors} errors, {fine} tables");
}
