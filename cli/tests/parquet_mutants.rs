//! Thousands of damaged Parquet files. Whichever bytes change, `reptile classify` ends with a message or with rows, in
//! bounded memory and time. If pages have checksums, it decides no URL that was not in the file.
//!
//! The long runs are ignored by default, and one needs a Python with pyarrow:
//!
//! `PYTHON=python3 cargo test -p reptile-cli --test all parquet_mutants -- --ignored`.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::collections::BTreeMap;
use std::io::Read;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader, ParquetMetaDataWriter};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use wait4::Wait4;

use crate::classify_parquet::{Cells, Column, file, texts};
use crate::parquet_refused::ALL_PARTS;
use crate::support::{Folder, Random};

/// Maximum memory of a run in bytes. The system's count starts with the memory of the test program.
const MAX_PEAK_BYTES: u64 = 700 << 20;

/// Maximum processor time of a run.
const MAX_TIME: Duration = Duration::from_secs(20);

/// An undamaged file.
struct Base {
    name: String,
    bytes: Vec<u8>,
    /// Options that locate its URLs.
    options: &'static [&'static str],
    /// The output for the undamaged file.
    lines: Vec<String>,
    /// Locations of its pages, without their headers.
    bodies: Vec<Range<usize>>,
    /// Locations of its page headers.
    headers: Vec<Range<usize>>,
    footer: Range<usize>,
    has_checksums: bool,
}

/// Reads a number in Thrift's compact protocol.
fn number(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..).step_by(7) {
        let byte = *bytes.split_off_first().unwrap();
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    number
}

/// Skips a struct.
fn skip_struct(bytes: &mut &[u8]) {
    loop {
        let byte = *bytes.split_off_first().unwrap();
        if byte == 0 {
            return;
        }
        if byte >> 4 == 0 {
            number(bytes);
        }
        match byte & 15 {
            1 | 2 => {}
            8 => {
                let len = number(bytes) as usize;
                bytes.split_off(..len).unwrap();
            }
            12 => skip_struct(bytes),
            3..=6 => drop(number(bytes)),
            other => panic!("type {other} in a page header"),
        }
    }
}

/// Returns three lengths: a page header, its first three numbers, and the compressed page.
fn header(bytes: &[u8]) -> (usize, usize, usize) {
    let mut rest = bytes;
    skip_struct(&mut rest);
    let len = bytes.len() - rest.len();
    let mut rest = bytes;
    let mut packed = 0;
    for _ in 0..3 {
        assert_eq!(rest.split_off_first(), Some(&0x15));
        packed = number(&mut rest) as usize / 2;
    }
    (len, bytes.len() - rest.len(), packed)
}

/// Returns the locations of all page headers and page bodies.
fn pages(bytes: &[u8], metadata: &ParquetMetaData) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let (mut headers, mut bodies) = (Vec::new(), Vec::new());
    for chunk in metadata.row_groups().iter().flat_map(|group| group.columns()) {
        let (start, len) = chunk.byte_range();
        let (mut at, end) = (start as usize, (start + len) as usize);
        while at < end {
            let (len, _, packed) = header(&bytes[at..end]);
            headers.push(at..at + len);
            bodies.push(at + len..at + len + packed);
            at += len + packed;
        }
    }
    (headers, bodies)
}

fn metadata(bytes: &[u8]) -> ParquetMetaData {
    ParquetMetaDataReader::new().parse_and_finish(&Bytes::copy_from_slice(bytes)).unwrap()
}

/// Returns the same file with a checksum in each page header.
fn with_checksums(bytes: &[u8]) -> Vec<u8> {
    let metadata = metadata(bytes);
    let mut out = b"PAR1".to_vec();
    let mut groups = Vec::new();
    for group in metadata.row_groups() {
        let mut chunks = Vec::new();
        for chunk in group.columns() {
            let (start, len) = chunk.byte_range();
            let (mut at, end) = (start as usize, (start + len) as usize);
            let (first, new_start) = (chunk.data_page_offset() as usize, out.len());
            let mut new_first = out.len();
            while at < end {
                if at == first {
                    new_first = out.len();
                }
                let (len, numbers, packed) = header(&bytes[at..end]);
                let body = &bytes[at + len..at + len + packed];
                let mut crc = flate2::Crc::new();
                crc.update(body);
                // A signed number. The next field's number is now relative to this one, and smaller by one.
                let sum = i64::from(crc.sum() as i32);
                let mut zigzag = (sum << 1 ^ sum >> 63) as u64 & 0xffff_ffff;
                out.extend_from_slice(&bytes[at..at + numbers]);
                out.push(0x15);
                while zigzag > 0x7f {
                    out.push(zigzag as u8 | 0x80);
                    zigzag >>= 7;
                }
                out.push(zigzag as u8);
                out.push(bytes[at + numbers] - 0x10);
                out.extend_from_slice(&bytes[at + numbers + 1..at + len]);
                out.extend_from_slice(body);
                at += len + packed;
            }
            let dictionary = chunk.dictionary_page_offset().map(|_| new_start as i64);
            let builder = chunk.clone().into_builder().set_data_page_offset(new_first as i64);
            let builder = builder.set_dictionary_page_offset(dictionary);
            let builder = builder.set_total_compressed_size((out.len() - new_start) as i64);
            let builder = builder.set_offset_index_offset(None).set_offset_index_length(None);
            chunks.push(builder.set_column_index_offset(None).set_column_index_length(None).build().unwrap());
        }
        groups.push(group.clone().into_builder().set_column_metadata(chunks).build().unwrap());
    }
    let metadata = metadata.into_builder().set_page_index(None).set_row_groups(groups).build();
    ParquetMetaDataWriter::new(&mut out, &metadata).finish().unwrap();
    out
}

impl Base {
    fn new(folder: &Folder, name: String, bytes: Vec<u8>, options: &'static [&'static str], checks: bool) -> Base {
        let metadata = metadata(&bytes);
        let (headers, bodies) = pages(&bytes, &metadata);
        let len = u32::from_le_bytes(bytes[bytes.len() - 8..][..4].try_into().unwrap()) as usize;
        let footer = bytes.len() - 8 - len..bytes.len();
        folder.write("base", &bytes);
        let run = folder.run(&args("base", options).iter().map(|arg| &**arg).collect::<Vec<_>>()).says(0, &[]);
        let lines: Vec<String> = run.text().lines().map(str::to_owned).collect();
        assert_eq!(lines.len() as i64, metadata.file_metadata().num_rows(), "{name}");
        Base { name, bytes, options, lines, bodies, headers, footer, has_checksums: checks }
    }

    /// Returns a changed copy of the file, a description, and whether only page bodies were changed.
    fn mutant(&self, random: &mut Random) -> (Vec<u8>, &'static str, bool) {
        let mut bytes = self.bytes.clone();
        let any = 4..bytes.len();
        let within = |range: &Range<usize>, random: &mut Random| range.start + random.below(range.len());
        let one = |ranges: &[Range<usize>], random: &mut Random| ranges[random.below(ranges.len())].clone();
        let big = [0xff, 0xff, 0xff, 0xff, 0x07];
        match random.below(10) {
            0 => {
                let at = within(&any, random);
                bytes[at] ^= 1 << random.below(8);
                (bytes, "a bit anywhere", false)
            }
            1 | 2 => {
                let body = one(&self.bodies, random);
                if body.is_empty() {
                    return (bytes, "nothing", true);
                }
                for _ in 0..1 + random.below(3) {
                    let at = within(&body, random);
                    bytes[at] = bytes[at].wrapping_add(1 + random.below(255) as u8);
                }
                (bytes, "bytes of a page", true)
            }
            3 => {
                let at = within(&one(&self.headers, random), random);
                bytes[at] ^= 1 << random.below(8);
                (bytes, "a bit of a page header", false)
            }
            4 => {
                let at = within(&one(&self.headers, random), random);
                bytes[at] = bytes[at].wrapping_add(1 + random.below(255) as u8);
                (bytes, "a byte of a page header", false)
            }
            5 => {
                let at = within(&self.footer, random);
                bytes[at] = bytes[at].wrapping_add(1 + random.below(255) as u8);
                (bytes, "a byte of the footer", false)
            }
            6 => {
                bytes.truncate(within(&any, random));
                (bytes, "cut off", false)
            }
            7 => {
                let at = within(&any, random);
                let end = (at + 1 + random.below(16)).min(bytes.len());
                bytes.drain(at..end);
                (bytes, "bytes deleted", false)
            }
            8 => {
                let at = within(&any, random);
                let end = (at + 1 + random.below(16)).min(bytes.len());
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
                (bytes, "bytes repeated", false)
            }
            _ => {
                // A large number instead of another one, in a page header or in the footer.
                let range = if random.below(2) == 0 { one(&self.headers, random) } else { self.footer.clone() };
                let at = within(&range, random);
                let end = (at + 1 + random.below(3)).min(bytes.len());
                bytes.splice(at..end, big);
                (bytes, "a large number", false)
            }
        }
    }
}

fn args<'a>(name: &'a str, options: &[&'a str]) -> Vec<&'a str> {
    [&["classify", "set", name, "--agent", "bot-a", "--columns", "url,verdict"], options].concat()
}

/// Tries `count` mutants of the files, and prints the results.
fn try_mutants(folder: &Folder, bases: &[Base], count: usize, seed: u64) {
    let next = AtomicUsize::new(0);
    let total = std::sync::Mutex::new((BTreeMap::<String, usize>::new(), 0_u64, Duration::ZERO));
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let (next, total) = (&next, &total);
            scope.spawn(move || {
                let name = format!("mutant-{thread}");
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    let base = &bases[number % bases.len()];
                    let mut random = Random((seed + number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
                    random.below(2);
                    let (bytes, how, is_in_pages) = base.mutant(&mut random);
                    folder.write(&name, &bytes);
                    let what = format!("seed {seed}, number {number}, {}, {how}", base.name);
                    let outcome = try_one(folder, base, &name, &bytes, is_in_pages, &what);
                    let (outcome, peak, time) = outcome;
                    let mut total = total.lock().unwrap();
                    *total.0.entry(outcome.to_owned()).or_default() += 1;
                    (total.1, total.2) = (total.1.max(peak), total.2.max(time));
                }
            });
        }
    });
    let (outcomes, peak, time) = total.into_inner().unwrap();
    println!("{count} mutants of {} files: {outcomes:?}, at most {peak} bytes and {time:?}", bases.len());
    assert!(outcomes["refused"] > count / 3, "{outcomes:?}");
}

/// Classifies a mutant. Returns the result, the memory and the time.
fn try_one(
    folder: &Folder,
    base: &Base,
    name: &str,
    bytes: &[u8],
    is_in_pages: bool,
    what: &str,
) -> (&'static str, u64, Duration) {
    let mut child = folder.command(&args(name, base.options)).spawn().unwrap();
    let peak = crate::support::watch_memory(child.id());
    let mut stderr = child.stderr.take().unwrap();
    let errors = std::thread::spawn(move || {
        let mut text = Vec::new();
        stderr.read_to_end(&mut text).unwrap();
        String::from_utf8_lossy(&text).into_owned()
    });
    // More output than any file has is not read.
    let (mut stdout, mut text) = (child.stdout.take().unwrap(), Vec::new());
    (&mut stdout).take(1 << 24).read_to_end(&mut text).unwrap();
    drop(stdout);
    let done = child.wait4().unwrap();
    let stderr = errors.join().unwrap();
    let code = done.status.code().unwrap_or_else(|| panic!("{what}: {:?} {stderr}", done.status));
    let time = done.rusage.utime + done.rusage.stime;
    assert!((0..=2).contains(&code) && !stderr.contains("panicked"), "{what}: {code} {stderr}");
    let peak = peak.join().unwrap();
    assert!(peak < MAX_PEAK_BYTES && time < MAX_TIME, "{what}: {peak} bytes, {time:?}");
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    let outcome = if code == 2 {
        assert!(stderr.starts_with("reptile: "), "{what}: {stderr}");
        "refused"
    } else {
        let footer = ParquetMetaDataReader::new().parse_and_finish(&Bytes::copy_from_slice(bytes)).unwrap();
        assert_eq!(lines.len() as i64, footer.file_metadata().num_rows(), "{what}");
        if lines == base.lines { "the same" } else { "other rows" }
    };
    if outcome == "other rows" {
        let changed = lines.iter().zip(&base.lines).find(|(found, expected)| *found != *expected);
        assert!(!base.has_checksums, "{what}: {changed:?}, {} rows", lines.len());
        assert!(!is_in_pages || lines.len() == base.lines.len(), "{what}: {} rows", lines.len());
    }
    (outcome, peak, time)
}

/// Returns URLs on several hosts, including nulls, and the same URLs in the split columns of Common Crawl's index.
fn columns(rows: usize) -> Vec<Column> {
    let kept = |row: &usize| row % 7 != 3;
    let rows: Vec<usize> = (0..rows).collect();
    let column =
        |value: &dyn Fn(usize) -> Option<String>| texts(&rows.iter().map(|&row| value(row)).collect::<Vec<_>>());
    let host = |row: usize| ["a", "b"][row % 2];
    let ports: Vec<i32> = rows.iter().filter(|row| *row % 5 == 0).map(|row| 8000 + *row as i32 % 3).collect();
    let levels = rows.iter().map(|row| i16::from(row % 5 == 0)).collect();
    vec![
        column(&|row| kept(&row).then(|| format!("http://{}.example/private/{row}", host(row)))),
        column(&|_| Some("http".into())),
        column(&|row| Some(format!("{}.example", host(row)))),
        Column { cells: Cells::Int32(ports), levels, lists: Vec::new() },
        column(&|row| Some(format!("/private/{row}"))),
        column(&|row| (row % 3 == 0).then(|| format!("q={row}"))),
    ]
}

const SCHEMA: &str = "optional binary url (UTF8); optional binary url_protocol (UTF8); optional binary url_host_name (UTF8); \
                      optional int32 url_port; optional binary url_path (UTF8); optional binary url_query (UTF8);";

/// Returns files in every encoding, compression and page version that the crate writes, each with and without
/// checksums.
fn bases(folder: &Folder) -> Vec<Base> {
    let builder =
        || WriterProperties::builder().set_statistics_enabled(parquet::file::properties::EnabledStatistics::None);
    let plain = || builder().set_dictionary_enabled(false);
    let v2 = |builder: WriterPropertiesBuilder| builder.set_writer_version(WriterVersion::PARQUET_2_0);
    let small = |builder: WriterPropertiesBuilder| builder.set_data_page_row_count_limit(20).set_write_batch_size(10);
    let text = |encoding: Encoding| {
        let names = ["url", "url_protocol", "url_host_name", "url_path", "url_query"];
        let builder = names.iter().fold(plain(), |builder, &name| builder.set_column_encoding(name.into(), encoding));
        builder.set_column_encoding("url_port".into(), Encoding::DELTA_BINARY_PACKED)
    };
    let shapes = [
        ("plain", plain()),
        ("dictionary", builder()),
        ("many pages", small(builder())),
        ("version 2", small(v2(plain()))),
        ("lengths", text(Encoding::DELTA_LENGTH_BYTE_ARRAY)),
        ("prefixes", small(v2(text(Encoding::DELTA_BYTE_ARRAY)))),
        ("split bytes", plain().set_column_encoding("url_port".into(), Encoding::BYTE_STREAM_SPLIT)),
        ("snappy", small(builder().set_compression(Compression::SNAPPY))),
        ("gzip", builder().set_compression(Compression::GZIP(Default::default()))),
        ("zstd", v2(builder().set_compression(Compression::ZSTD(Default::default())))),
        ("lz4", small(plain().set_compression(Compression::LZ4_RAW))),
        ("hadoop lz4", plain().set_compression(Compression::LZ4)),
    ];
    let mut bases = Vec::new();
    for (name, properties) in shapes {
        let groups = [columns(60), columns(40)];
        let bytes = file(SCHEMA, &groups, properties);
        for (options, which) in [(&["--url", "url"][..], "url"), (&["--url", ALL_PARTS], "split")] {
            let sums = with_checksums(&bytes);
            bases.push(Base::new(folder, format!("{name}, {which}"), bytes.clone(), options, false));
            bases.push(Base::new(folder, format!("{name}, {which}, checksums"), sums, options, true));
        }
    }
    bases
}

#[test]
fn some_mutants_are_refused_or_give_all_rows() {
    let folder = Folder::with_set();
    try_mutants(&folder, &bases(&folder), 480, 1);
}

#[test]
#[ignore = "twenty thousand runs of the command take some minutes"]
fn mutants_are_refused_or_give_all_rows() {
    let folder = Folder::with_set();
    try_mutants(&folder, &bases(&folder), 20_160, 1_000);
}

/// Writes files with checksums in pyarrow. The argument is the folder.
const PYTHON: &str = r#"
import sys, pyarrow as pa, pyarrow.parquet as pq
folder = sys.argv[1]
rows = range(100)
host = lambda n: "ab"[n % 2] + ".example"
table = pa.table({
    "url": [f"http://{host(n)}/private/{n}" if n % 7 != 3 else None for n in rows],
    "url_protocol": ["http" for n in rows],
    "url_host_name": [host(n) for n in rows],
    "url_port": pa.array([8000 + n % 3 if n % 5 == 0 else None for n in rows], pa.int32()),
    "url_path": [f"/private/{n}" for n in rows],
    "url_query": [f"q={n}" if n % 3 == 0 else None for n in rows],
})
names = table.column_names
def write(name, **options):
    for version in ["1.0", "2.0"]:
        pq.write_table(table, f"{folder}/{name}-{version}.parquet", data_page_version=version, row_group_size=60,
                       write_page_checksum=True, write_statistics=False, **options)
def encoded(text, number):
    return dict(use_dictionary=False, column_encoding={name: number if name == "url_port" else text for name in names})
write("dictionary")
for codec in ["none", "gzip", "zstd", "lz4", "brotli"]:
    write(codec, compression=codec)
write("plain", use_dictionary=False, compression="none")
write("small", data_page_size=100, write_batch_size=10)
write("lengths", **encoded("DELTA_LENGTH_BYTE_ARRAY", "DELTA_BINARY_PACKED"))
write("prefixes", **encoded("DELTA_BYTE_ARRAY", "BYTE_STREAM_SPLIT"))
"#;

#[test]
#[ignore = "needs Python with pyarrow"]
fn pyarrow_mutants_are_refused_or_give_all_rows() {
    let folder = Folder::with_set();
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let done = std::process::Command::new(&python).args(["-c", PYTHON]).arg(folder.path("")).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let mut bases = Vec::new();
    for name in folder.names().into_iter().filter(|name| name.ends_with(".parquet")) {
        for options in [&["--url", "url"][..], &["--url", ALL_PARTS]] {
            let what = format!("{name} {}", options[0]);
            bases.push(Base::new(&folder, what, folder.read(&name), options, true));
        }
    }
    assert_eq!(bases.len(), 40);
    // All files have the same contents.
    for base in &bases {
        let first = bases.iter().find(|first| first.options == base.options).unwrap();
        assert_eq!(base.lines, first.lines, "{}", base.name);
    }
    try_mutants(&folder, &bases, 8_000, 5_000);
}
