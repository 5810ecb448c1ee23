//! Rejected Parquet files, each with a message that names the cause, and the supported columns and types.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{CompressionCodec, Encoding};
use parquet::data_type::FixedLenByteArray;
use parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, ParquetMetaData, ParquetMetaDataReader, ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::file::properties::WriterProperties;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::SchemaDescriptor;

use crate::classify_parquet::{Cells, Column, file, texts};
use crate::support::{Folder, Run};

fn plain() -> parquet::file::properties::WriterPropertiesBuilder {
    WriterProperties::builder()
}

fn required(cells: Cells) -> Column {
    Column { cells, levels: Vec::new(), lists: Vec::new() }
}

/// Returns a column of two nulls.
fn nulls(cells: Cells) -> Column {
    Column { cells, levels: vec![0, 0], lists: Vec::new() }
}

fn urls() -> Column {
    texts(&[Some("http://a.example/private"), Some("http://b.example/")])
}

/// All parts of a URL in Common Crawl's index, as a template.
pub const ALL_PARTS: &str = "{url_protocol}://{url_host_name}:{url_port}{url_path}?{url_query}";

fn classify(folder: &Folder, name: &str, options: &[&str]) -> Run {
    let agent: &[&str] = if options.contains(&"--agent") { &[] } else { &["--agent", "bot-a"] };
    folder.run(&[&["classify", "set", name, "--columns", "verdict"], agent, options].concat())
}

#[test]
fn a_column_with_a_url_name_is_the_url_column() {
    let folder = Folder::with_set();
    const TEXT: &str = "expected text (BYTE_ARRAY or FIXED_LEN_BYTE_ARRAY)";
    let numbers = || Cells::Int32(vec![1, 2]);
    let cases: Vec<(&str, Vec<Column>, &[&str], &str)> = vec![
        // A URL column with the wrong type, next to a text column.
        (
            "optional int32 url (UNKNOWN); optional binary referrer;",
            vec![nulls(Cells::Int32(vec![])), urls()],
            &[],
            "column 1 (\"url\") has the type null (it has no values); expected text",
        ),
        (
            "optional int32 url; optional binary a;",
            vec![nulls(Cells::Int32(vec![])), urls()],
            &[],
            "type INT32; expected",
        ),
        (
            "optional binary a; optional boolean URL;",
            vec![urls(), nulls(Cells::Flags(vec![]))],
            &[],
            "column 2 (\"URL\") has the type BOOLEAN; expected text",
        ),
        ("required double uri; optional binary a;", vec![required(Cells::Doubles(vec![1.0, 2.0])), urls()], &[], TEXT),
        (
            "required int64 url (TIMESTAMP(MILLIS,true)); optional binary a;",
            vec![required(Cells::Int64(vec![1, 2])), urls()],
            &[],
            "column 1 (\"url\") has the type INT64 (TIMESTAMP); expected text",
        ),
        (
            "required fixed_len_byte_array(16) url (UUID); optional binary a;",
            vec![
                required(Cells::Fixed(vec![
                    FixedLenByteArray::from(vec![1; 16]),
                    FixedLenByteArray::from(vec![2; 16]),
                ])),
                urls(),
            ],
            &[],
            "column 1 (\"url\") has the type FIXED_LEN_BYTE_ARRAY (UUID), which is not read; expected text",
        ),
        // Two columns with names of URLs, one of them with the wrong type.
        (
            "optional binary url; optional binary uri;",
            vec![urls(), urls()],
            &[],
            "which column has the URLs, column 1 (\"url\") or column 2 (\"uri\")? Say it with --url",
        ),
        (
            "optional int32 url; optional binary uri;",
            vec![nulls(Cells::Int32(vec![])), urls()],
            &[],
            "which column has the URLs, column 1 (\"url\") or column 2 (\"uri\")?",
        ),
        // Columns selected by options.
        (
            "required int32 id; optional binary a;",
            vec![required(numbers()), urls()],
            &["--url", "id"],
            "--url: column 1 (\"id\") has the type INT32; expected text",
        ),
        (
            "required boolean f;",
            vec![required(Cells::Flags(vec![true, false]))],
            &["--url", "1"],
            "--url: column 1 (\"f\") has the type BOOLEAN; expected text",
        ),
        (
            "optional binary url; required boolean t;",
            vec![urls(), required(Cells::Flags(vec![true, false]))],
            &["--at", "{t}"],
            "--at: column 2 (\"t\") has the type BOOLEAN; expected a time, a date, a number or text",
        ),
        (
            "optional binary url; required int32 t (TIME_MILLIS);",
            vec![urls(), required(numbers())],
            &["--at", "{t}"],
            "--at: column 2 (\"t\") has the type INT32 (TIME",
        ),
        (
            "optional binary url; required int64 t (DECIMAL(9,2));",
            vec![urls(), required(Cells::Int64(vec![1, 2]))],
            &["--at", "{t}"],
            "has the type INT64 (DECIMAL), which is not read; expected a time",
        ),
        (
            "optional binary url; required int32 agent;",
            vec![urls(), required(numbers())],
            &["--agent", "{agent}"],
            "--agent: column 2 (\"agent\") has the type INT32; expected text",
        ),
    ];
    let mut tried = 0;
    for (schema, columns, options, says) in cases {
        folder.write("a.parquet", file(schema, &[columns], plain()));
        if options.contains(&"--at") {
            folder
                .write("c.jsonl", "{\"url\":\"http://a.example/robots.txt\",\"time\":\"2001-01-01\",\"body\":\"\"}\n");
            folder.run(&["compile", "--force", "--by-time", "-o", "times", "c.jsonl"]).says(0, &[]);
            let args = ["classify", "times", "a.parquet", "--agent", "bot-a"];
            folder.run(&[&args[..], options].concat()).says(2, &[says]);
        } else {
            classify(&folder, "a.parquet", options).says(2, &[says]);
        }
        tried += 1;
    }
    assert_eq!(tried, 14);
}

/// Returns the columns of a split URL with two rows. The first row is disallowed only because of its query.
fn split(without: &[&str], change: &[(&str, &str, Cells)]) -> (String, Vec<Column>) {
    let all = [
        ("url_protocol", "binary", Cells::Texts(vec!["http".into(), "http".into()])),
        ("url_host_name", "binary", Cells::Texts(vec!["q.example".into(), "b.example".into()])),
        ("url_port", "int32", Cells::Int32(vec![80, 80])),
        ("url_path", "binary", Cells::Texts(vec!["/".into(), "/".into()])),
        ("url_query", "binary", Cells::Texts(vec!["secret".into(), "x".into()])),
    ];
    let (mut schema, mut columns) = (String::new(), Vec::new());
    for (name, kind, cells) in all {
        if without.contains(&name) {
            continue;
        }
        let (kind, cells) = match change.iter().find(|(changed, ..)| *changed == name) {
            Some((_, kind, Cells::Int32(numbers))) => (*kind, Cells::Int32(numbers.clone())),
            Some((_, kind, Cells::Doubles(numbers))) => (*kind, Cells::Doubles(numbers.clone())),
            Some((_, kind, Cells::Texts(texts))) => (*kind, Cells::Texts(texts.clone())),
            _ => (kind, cells),
        };
        let (kind, logical) = kind.split_once(' ').unwrap_or((kind, ""));
        let is_empty = matches!(&cells, Cells::Int32(numbers) if numbers.is_empty());
        schema += &format!("{} {kind} {name} {logical};", if is_empty { "optional" } else { "required" });
        columns.push(if is_empty { nulls(cells) } else { required(cells) });
    }
    (schema, columns)
}

#[test]
fn missing_columns_of_split_urls_are_errors_unless_taken_as_empty() {
    let folder = Folder::new();
    folder.write("robots/q.example", "user-agent: *\ndisallow: /?secret\n");
    folder.write("robots/b.example", "user-agent: *\ndisallow: /\n");
    folder.run(&["compile", "-o", "set", "robots"]).says(0, &[]);
    let none = || Cells::Int32(vec![]);
    let no_query = "there is no column \"url_query\" for the split URL: without it URLs are decided as others; if it is always \
                    empty, leave it out of --url '{url_protocol}://";
    let without_query = &["--url", "{url_protocol}://{url_host_name}:{url_port}{url_path}"][..];
    let without_both = &["--url", "{url_protocol}://{url_host_name}{url_path}"][..];
    type Case<'c> = (&'c [&'c str], Vec<(&'c str, &'c str, Cells)>, &'c [&'c str], i32, &'c str, &'c str);
    let cases: Vec<Case<'_>> = vec![
        (
            &[],
            vec![],
            &[],
            0,
            "columns url_protocol, url_host_name, url_port, url_path, url_query\n",
            "disallow disallow",
        ),
        (&["url_query"], vec![], &[], 2, no_query, ""),
        (&["url_port"], vec![], &[], 2, "there is no column \"url_port\" for the split URL", ""),
        (&["url_query"], vec![], &["--url", ALL_PARTS], 2, no_query, ""),
        (
            &["url_query"],
            vec![],
            without_query,
            0,
            "URLs in column 1 (\"url_protocol\"), column 2 (\"url_host_name\"), column 3 (\"url_port\"), column 4",
            "allow disallow",
        ),
        (
            &["url_query", "url_port"],
            vec![],
            without_both,
            0,
            "URLs in column 1 (\"url_protocol\"), column 2 (\"url_host_name\"), column 3 (\"url_path\")",
            "allow disallow",
        ),
        (&["url_path"], vec![], without_query, 2, "--url url_path: there is no such column", ""),
        (&["url_protocol", "url_host_name"], vec![], &[], 2, "there is no column \"url_protocol\"", ""),
        // Columns of nulls count as present.
        (&[], vec![("url_query", "int32 (UNKNOWN)", none())], &[], 0, "url_path, url_query\n", "allow disallow"),
        (&[], vec![("url_port", "int32 (UNKNOWN)", none())], &[], 0, "url_port, url_path", "disallow disallow"),
        (&[], vec![("url_port", "double", Cells::Doubles(vec![80.0, 80.0]))], &[], 0, "", "disallow disallow"),
        (
            &[],
            vec![("url_port", "binary", Cells::Texts(vec!["80".into(), "80".into()]))],
            &[],
            0,
            "",
            "disallow disallow",
        ),
        (
            &[],
            vec![("url_query", "int32", Cells::Int32(vec![1, 2]))],
            &[],
            2,
            "column 5 (\"url_query\") has the type INT32; expected text",
            "",
        ),
        (
            &[],
            vec![("url_port", "int32 (DATE)", Cells::Int32(vec![1, 2]))],
            &[],
            2,
            "column 3 (\"url_port\") has the type INT32 (DATE); expected a number or text",
            "",
        ),
        (
            &[],
            vec![("url_host_name", "int32 (UNKNOWN)", none())],
            &[],
            2,
            "column 2 (\"url_host_name\") has the type null (it has no values); expected text",
            "",
        ),
        (
            &["url_query", "url_port", "url_path", "url_protocol", "url_host_name"][..4],
            vec![],
            &[],
            2,
            "\"url_protocol\"",
            "",
        ),
    ];
    assert_eq!(cases.len(), 16);
    for (without, change, options, code, says, verdicts) in cases {
        let (schema, columns) = split(without, &change);
        folder.write("a.parquet", file(&schema, &[columns], plain()));
        let run = classify(&folder, "a.parquet", options).says(code, &[says]);
        assert_eq!(run.text().split_whitespace().collect::<Vec<_>>().join(" "), verdicts, "{without:?} {run:?}");
    }
    // Two columns with the same name do not count as a missing column.
    let two = "required binary url_protocol; required binary url_host_name; required int32 url_port; \
               required binary url_path; required binary url_query; required binary url_query;";
    let (_, mut columns) = split(&[], &[]);
    columns.push(required(Cells::Texts(vec!["a".into(), "b".into()])));
    folder.write("a.parquet", file(two, &[columns], plain()));
    classify(&folder, "a.parquet", &[]).says(2, &["url_query: several columns have this name"]);
    folder.write("whole.parquet", file("optional binary url;", &[vec![urls()]], plain()));
    classify(&folder, "whole.parquet", without_both).says(2, &["--url url_protocol: there is no such column"]);
    folder.write("list", "http://a.example/\n");
    classify(&folder, "list", without_both).says(2, &["list: --url url_protocol: there is no such column"]);
}

/// Returns a file with these chunks in one row group. Each chunk is given as the bytes of its pages.
fn assemble(schema: &str, rows: i64, chunks: &[(&[u8], CompressionCodec)]) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(&format!("message m {{ {schema} }}")).unwrap());
    let schema = Arc::new(SchemaDescriptor::new(schema));
    let mut bytes = b"PAR1".to_vec();
    let mut group = RowGroupMetaData::builder(Arc::clone(&schema)).set_num_rows(rows).set_total_byte_size(1);
    for ((pages, codec), column) in chunks.iter().zip(schema.columns()) {
        let chunk = ColumnChunkMetaData::builder(Arc::clone(column))
            .set_compression_codec(*codec)
            .set_encodings(vec![Encoding::PLAIN])
            .set_data_page_offset(bytes.len() as i64)
            .set_total_compressed_size(pages.len() as i64)
            .set_total_uncompressed_size(pages.len() as i64)
            .set_num_values(rows);
        bytes.extend_from_slice(pages);
        group = group.add_column_metadata(chunk.build().unwrap());
    }
    let file = FileMetaData::new(1, rows, None, None, schema, None);
    let metadata = ParquetMetaData::new(file, vec![group.build().unwrap()]);
    ParquetMetaDataWriter::new(&mut bytes, &metadata).finish().unwrap();
    bytes
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// Returns a data page that claims to have `unpacked` bytes.
fn page(values: u64, encoding: u64, unpacked: u64, body: &[u8]) -> Vec<u8> {
    page_of(values, encoding, 3, unpacked, body)
}

/// Returns a data page whose definition levels have this encoding.
fn page_of(values: u64, encoding: u64, levels: u64, unpacked: u64, body: &[u8]) -> Vec<u8> {
    let number = |number: u64| [&[0x15][..], &varint(number * 2)].concat();
    let data = [number(values), number(encoding), number(levels), number(3), vec![0]].concat();
    [number(0), number(unpacked), number(body.len() as u64), vec![0x2c], data, vec![0], body.to_vec()].concat()
}

#[test]
fn pages_must_have_their_declared_number_of_values() {
    let folder = Folder::with_set();
    let text = |text: &str| [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat();
    let one = text("http://a.example/private");
    let two = [&one[..], &text("http://b.example/")].concat();
    // The levels of an optional column: a run of two, and a run of three.
    let levels = |count: u8| [&[2, 0, 0, 0, count << 1, 1][..], &two].concat();
    let lengths = [&[128, 1, 4, 2, 48, 13, 0, 0, 0, 0][..], b"http://a.example/privatehttp://b.example/"].concat();
    let (prefixes, rests) = ([128, 1, 4, 2, 0, 20, 0, 0, 0, 0], [128, 1, 4, 2, 48, 27, 0, 0, 0, 0]);
    let prefixes = [&prefixes[..], &rests, b"http://a.example/private.........."].concat();
    let required = "required binary url;";
    let optional = "optional binary url;";
    let whole = |encoding: u64, body: &[u8]| page(2, encoding, body.len() as u64, body);
    let longer = |body: &[u8]| [body, &[0]].concat();
    // fastparquet writes eight zero bytes after the values.
    let padded = |body: &[u8], zeros: usize| [body, &vec![0; zeros]].concat();
    // Packed levels of an old file, with the highest bit first: a null, then a text.
    let packed = |body: &[u8]| page_of(2, 0, 4, body.len() as u64, body);
    let short = "has fewer values than it says";
    let surplus = "has more values than it says";
    let cases: Vec<(&str, i64, Vec<u8>, &str)> = vec![
        (required, 2, whole(0, &two), ""),
        (required, 2, whole(0, &one), short),
        (required, 2, whole(0, &longer(&two)), surplus),
        (required, 2, page(1, 0, two.len() as u64, &two), "has pages with 1 values, and its row group has 2 rows"),
        (required, 1, page(1, 0, two.len() as u64, &two), surplus),
        (required, 2, whole(0, &padded(&two, 8)), ""),
        (required, 2, whole(0, &padded(&two, 7)), surplus),
        (required, 2, whole(0, &padded(&two, 9)), surplus),
        (required, 2, whole(0, &[&two[..], &[0, 0, 0, 0, 0, 0, 0, 1]].concat()), surplus),
        (optional, 2, whole(0, &padded(&levels(2), 8)), ""),
        (optional, 2, packed(&[&[0b0100_0000], &one[..]].concat()), ""),
        (optional, 2, packed(&[&[0b1100_0000], &one[..]].concat()), short),
        (required, 2, whole(6, &padded(&lengths, 8)), ""),
        (required, 2, whole(7, &padded(&prefixes, 8)), ""),
        (required, 1, whole(0, &two), "has pages with 2 values, and its row group has 1 rows"),
        (required, 2, [page(1, 0, 28, &one), page(0, 0, 0, &[]), page(1, 0, 28, &one)].concat(), ""),
        (optional, 2, whole(0, &levels(2)), ""),
        (optional, 2, whole(0, &levels(1)), short),
        (optional, 2, whole(0, &levels(3)), short),
        (required, 2, whole(6, &lengths), ""),
        (required, 2, whole(6, &longer(&lengths)), surplus),
        (required, 2, whole(6, &lengths[..30]), short),
        (required, 2, whole(7, &prefixes), ""),
        (required, 2, whole(7, &longer(&prefixes)), surplus),
        (
            required,
            2,
            whole(5, &two),
            "it has the encoding DELTA_BINARY_PACKED, which is not read for the type BYTE_ARRAY",
        ),
        (required, 2, whole(11, &two), "has the encoding 11, which is not known; it may be of a newer format"),
        (required, 2, whole(8, &[0, 4]), "it needs a dictionary, and there is none before it"),
        (required, 2, longer(&whole(0, &two)), "its header is damaged"),
        (required, 2, whole(0, &two)[..40].to_vec(), "it ends after the end of its column chunk"),
    ];
    assert_eq!(cases.len(), 29);
    for (number, (schema, rows, pages, says)) in cases.into_iter().enumerate() {
        folder.write("a.parquet", assemble(schema, rows, &[(&pages, CompressionCodec::UNCOMPRESSED)]));
        let run = classify(&folder, "a.parquet", &[]);
        if says.is_empty() {
            let expected = rows as usize;
            assert_eq!((run.code, run.text().lines().count()), (Some(0), expected), "{number} {run:?}");
            let is_first = run.text().starts_with("disallow\n");
            assert!(is_first != (number == 10) && run.text().contains("disallow"), "{number} {run:?}");
        } else {
            assert!(run.code == Some(2) && run.stderr.contains(says), "{number} {says} {run:?}");
            run.says(2, &["row group 1, column 1 (\"url\")", says]);
        }
    }
}

#[test]
fn unsupported_files_are_rejected_with_the_cause() {
    let folder = Folder::with_set();
    let whole = file("optional binary url;", &[vec![urls()]], plain());
    let end = whole.len();
    let encrypted = [b"PARE", &whole[4..end - 4], b"PARE"].concat();
    // The encryption field of an unencrypted footer, after the writer's field.
    let len = u32::from_le_bytes(whole[end - 8..end - 4].try_into().unwrap()) as usize;
    let footer = &whole[end - 8 - len..end - 9];
    let mark = |fields: &[u8]| {
        let footer = [footer, fields, &[0]].concat();
        [&whole[..end - 8 - len], &footer, &(footer.len() as u32).to_le_bytes(), b"PAR1"].concat()
    };
    let texts = [&3_u32.to_le_bytes()[..], b"abc"].concat();
    let page = page(1, 0, 7, &texts);
    let packed = |codec| assemble("required binary url;", 1, &[(&page, codec)]);
    let mut other_file = packed(CompressionCodec::UNCOMPRESSED);
    {
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&Bytes::from(other_file.clone())).unwrap();
        let group = metadata.row_group(0).clone();
        let chunk = group.column(0).clone().into_builder().set_file_path("part-0.parquet".into()).build().unwrap();
        let group = group.into_builder().set_column_metadata(vec![chunk]).build().unwrap();
        let metadata = metadata.into_builder().set_row_groups(vec![group]).build();
        other_file.truncate(4 + page.len());
        ParquetMetaDataWriter::new(&mut other_file, &metadata).finish().unwrap();
    }
    let cases = [
        (encrypted, "is an encrypted Parquet file, which is not read; write it without encryption"),
        // A struct as field 8, followed by other fields.
        (mark(&[0x0c, 16, 0]), "is an encrypted Parquet file, which is not read; write it without encryption"),
        (
            packed(CompressionCodec::LZO),
            "is compressed with LZO, which is not read; write it with snappy, zstd, gzip, LZ4 or brotli",
        ),
        (other_file, "has its columns in other files, as a file _metadata has; give those files"),
        (packed(CompressionCodec::BROTLI), "the page at byte 4: cannot be decompressed"),
        (packed(CompressionCodec::GZIP), "the page at byte 4: cannot be decompressed"),
    ];
    for (bytes, says) in cases {
        folder.write("a.parquet", bytes);
        classify(&folder, "a.parquet", &[]).says(2, &["a.parquet: ", says]);
        folder.run(&["compile", "--force", "-o", "x", "a.parquet"]).says(2, &["a.parquet: ", says]);
    }
}

/// The pages of all selected columns share one limit, which is checked before any page is decompressed.
#[test]
fn row_groups_with_pages_over_the_limit_are_rejected() {
    const MAX_PAGE_BYTES: u64 = 128 << 20;
    let folder = Folder::with_set();
    let schema = "required binary url_protocol; required binary url_host_name; required int32 url_port; \
                  required binary url_path; required binary url_query;";
    for (port, is_over) in [(7, false), (8, false), (9, true)] {
        // Each column needs its declared size and its compressed bytes: 4 and 4, 4 and 4, ... and 4 for the last.
        let sizes = [MAX_PAGE_BYTES - 20, MAX_PAGE_BYTES - 4, port, MAX_PAGE_BYTES - 8, 4];
        let pages = sizes.map(|size| page(1, 0, size, &[0; 4]));
        let chunks: Vec<(&[u8], CompressionCodec)> =
            pages.iter().map(|page| (&page[..], CompressionCodec::ZSTD)).collect();
        folder.write("a.parquet", assemble(schema, 1, &chunks));
        let run = classify(&folder, "a.parquet", &["--url", ALL_PARTS]);
        let says = match is_over {
            true => "row group 1: bytes of the largest pages of its columns: 402653185; the limit is 402653184",
            false => "cannot be decompressed",
        };
        run.says(2, &[says]);
    }
}

#[test]
fn capture_numbers_and_times_are_read_by_type() {
    let folder = Folder::new();
    let robots = || texts(&[Some("http://a.example/robots.txt"); 2]);
    // The later of two captures of an origin counts.
    let bodies = || texts(&[Some("user-agent: *\ndisallow: /"), Some("user-agent: *\ndisallow:")]);
    let seconds = [1_100_000_000_i64, 1_100_086_400];
    let times = |by: i64| required(Cells::Int64(seconds.map(|time| time * by + by - 1).into()));
    let cases: Vec<(&str, Column, &str)> = vec![
        ("required int64 time (TIMESTAMP(MILLIS,true))", times(1_000), ""),
        ("required int64 time (TIMESTAMP(MILLIS,false))", times(1_000), ""),
        ("required int64 time (TIMESTAMP_MICROS)", times(1_000_000), ""),
        ("required int64 time (TIMESTAMP(NANOS,false))", times(1_000_000_000), ""),
        ("required int64 time (UINT_64)", times(1), ""),
        ("required int32 time (DATE)", required(Cells::Int32(vec![12_000, 12_001])), ""),
        ("required double time", required(Cells::Doubles(vec![1_100_000_000.5, 1_100_086_400.5])), ""),
        ("required int32 status", required(Cells::Int32(vec![200, 404])), "second"),
        ("required double status", required(Cells::Doubles(vec![200.0, 404.0])), "second"),
        ("required int32 status (UINT_16)", required(Cells::Int32(vec![200, 404])), "second"),
        ("required int64 time (TIME(MICROS,true))", times(1), "column 3 (\"time\") has the type INT64 (TIME"),
        ("required int64 status (DECIMAL(9,2))", times(1), "column 3 (\"status\") has the type INT64 (DECIMAL)"),
        // Neither the largest unsigned number nor a time in the year 58000 is valid.
        ("required int64 time (UINT_64)", required(Cells::Int64(vec![-1, -1])), "18446744073709551615"),
        (
            "required int64 time (TIMESTAMP(MILLIS,true))",
            required(Cells::Int64(vec![1_773_500_966_000_000; 2])),
            "expected a time in the years 1 to 9999, found 1773500966000 seconds",
        ),
    ];
    assert_eq!(cases.len(), 14);
    for (column, values, says) in cases {
        let schema = format!("optional binary url (UTF8); optional binary body; {column};");
        folder.write("a.parquet", file(&schema, &[vec![robots(), bodies(), values]], plain()));
        let run = folder.run(&["compile", "--force", "-o", "set", "a.parquet"]);
        match says {
            "" => {
                run.says(0, &[]);
                assert_eq!(folder.verdicts("set", &["http://a.example/"]), ["allow"], "{column}");
            }
            "second" => assert_eq!(run.code, Some(0), "{column} {run:?}"),
            says => assert!(run.code != Some(0) && run.stderr.contains(says), "{column} {run:?}"),
        }
    }
}
