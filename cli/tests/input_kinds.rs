//! Runs every command that reads files on every kind of input, and compares the results with `cli/INPUTS.md`.
//!
//! `REPTILE_ACCEPT=1` writes the table.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::fmt::Write as _;
use std::path::Path;

use crate::classify_parquet::{captures, column};
use crate::support::{Folder, gz};
use crate::warc::closed;

/// A robots.txt that disallows everything.
const CLOSED: &str = "User-agent: *\nDisallow: /\n";

const LOG: &str = "192.0.2.1 - - [01/Jan/2026:00:00:00 +0000] \"GET /x HTTP/1.1\" 200 12 \"-\" \"bot-a/1.0\"\n";

/// The commands, with `FILE` as a placeholder for the input.
const COMMANDS: [(&str, &[&str]); 7] = [
    ("test", &["test", "FILE", "--agent", "bot-a", "/x"]),
    ("lint", &["lint", "FILE"]),
    ("fields", &["fields", "FILE"]),
    ("compile", &["compile", "FILE", "--force", "-o", "out"]),
    ("classify as SET", &["classify", "FILE", "urls", "--agent", "bot-a"]),
    ("classify as URLS", &["classify", "set", "FILE", "--agent", "bot-a"]),
    ("filter", &["filter", "FILE", "--set", "set", "--agent", "bot-a", "--force", "-o", "kept"]),
];

/// Indexes of the commands whose refusals the table shows, in order of preference.
const SHOWN: [usize; 3] = [5, 3, 0];

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

/// Returns a zip archive with files that are not compressed.
fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in files {
        writer.start_file(*name, options).unwrap();
        std::io::Write::write_all(&mut writer, bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Returns a tar archive with a robots.txt.
fn tar() -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(CLOSED.len() as u64);
    header.set_cksum();
    builder.append_data(&mut header, "a.example", CLOSED.as_bytes()).unwrap();
    builder.into_inner().unwrap()
}

/// Returns each kind of input with an example.
fn kinds() -> Vec<(&'static str, Vec<u8>)> {
    let text = |text: &str| text.as_bytes().to_vec();
    let record = closed("a.example");
    let packed = gz(CLOSED.as_bytes());
    let cdx_row = "example,a)/x 20260101000000 https://a.example/x text/html 200 AAAA 100\n";
    let utf16 = CLOSED.encode_utf16().flat_map(u16::to_le_bytes);
    vec![
        ("robots.txt", text(CLOSED)),
        ("robots.txt, gzip", packed.clone()),
        ("robots.txt, gzip, then zero bytes", [&packed[..], &[0; 512]].concat()),
        ("gzip that ends in its data", packed[..packed.len() - 12].to_vec()),
        ("gzip that ends in its trailer", packed[..packed.len() - 3].to_vec()),
        ("gzip, then other bytes", [&packed[..], b"other"].concat()),
        ("zstd that ends early", zstd(CLOSED.as_bytes())[..20].to_vec()),
        ("robots.txt in UTF-16", [0xff, 0xfe].into_iter().chain(utf16).collect()),
        ("empty file", Vec::new()),
        ("blank lines", text("\n\n")),
        ("other text", text("# Title\n\nSome words about a page.\n")),
        ("list of URLs", text("https://a.example/x\nhttps://a.example/y\n")),
        ("list of URLs and statuses", text("https://a.example/x 200\nhttps://a.example/y 404\n")),
        ("list of hosts", text("a.example\nb.example\n")),
        ("sitemap", text("<?xml version=\"1.0\"?>\n<urlset><url><loc>https://a.example/x</loc></url></urlset>\n")),
        ("TSV with URLs", text("url\tn\nhttps://a.example/x\t1\n")),
        ("CSV with URLs", text("url,n\nhttps://a.example/x,1\n")),
        ("CSV after sep=;", text("sep=;\nurl;n\nhttps://a.example/x;1\n")),
        ("CSV without names", text("https://a.example/x,1\nhttps://a.example/y,2\n")),
        ("JSON Lines with URLs", text("{\"url\":\"https://a.example/x\"}\n")),
        ("JSON Lines without URLs", text("{\"a\":1}\n")),
        ("JSON list", text("[{\"url\":\"https://a.example/x\"}]\n")),
        ("access log, combined", text(&LOG.repeat(4))),
        ("access log with virtual hosts", text(&format!("a.example:443 {LOG}").repeat(4))),
        (
            "access log of IIS",
            text(
                "#Software: IIS\n#Fields: date time cs-method cs-uri-stem cs-uri-query sc-status\n\
                 2026-01-01 00:00:00 GET /x - 200\n",
            ),
        ),
        (
            "access log of CloudFront",
            text(
                "#Version: 1.0\n#Fields: date time x-edge-location cs-method cs(Host) cs-uri-stem sc-status cs-uri-query\n\
                 2026-01-01\t00:00:00\tFRA2\tGET\td1.cloudfront.net\t/x\t200\t-\n",
            ),
        ),
        (
            "crawl.log of Heritrix",
            text(
                "2026-01-01T00:00:00.123Z   200    512 https://a.example/x L https://a.example/ text/html #1 - - - -\n",
            ),
        ),
        (
            "CDX with a legend",
            text(
                " CDX N b a m s k r M S V g\nexample,a)/x 20260101000000 https://a.example/x text/html 200 A - - 1 2 f\n",
            ),
        ),
        ("CDX without a legend", text(&cdx_row.repeat(2))),
        (
            "CDX in JSON",
            text(
                "[[\"urlkey\",\"timestamp\",\"original\"],\n[\"example,a)/x\",\"20260101000000\",\"https://a.example/x\"]]\n",
            ),
        ),
        (
            "CDXJ",
            text(
                "example,a)/x 20260101000000 {\"url\":\"https://a.example/x\",\"filename\":\"w\",\"offset\":\"0\",\"length\":\"9\"}\n",
            ),
        ),
        (
            "index of WARC records in CSV",
            text("url,warc_filename,warc_record_offset,warc_record_length\nhttps://a.example/robots.txt,w,0,9\n"),
        ),
        (
            "captures in JSON Lines",
            text(
                "{\"url\":\"https://a.example/robots.txt\",\"status\":200,\"body\":\"User-agent: *\\nDisallow: /\\n\"}\n",
            ),
        ),
        ("captures in CSV", text("url,status,body\nhttps://a.example/robots.txt,200,\"User-agent: *\nDisallow: /\"\n")),
        ("captures in Parquet", captures(&[("https://a.example/robots.txt", CLOSED)])),
        ("URLs in Parquet", column("url", &["https://a.example/x"])),
        ("Parquet that ends early", column("url", &["https://a.example/x"])[..100].to_vec()),
        ("WARC", record.clone()),
        ("WARC, gzip", gz(&record)),
        ("WACZ", zip(&[("datapackage.json", b"{}"), ("archive/data.warc.gz", &gz(&record))])),
        ("ARC", text("filedesc://a.arc 0.0.0.0 20260101000000 text/plain 76\n1 0 InternetArchive\n")),
        ("tar archive", tar()),
        ("other zip archive", zip(&[("a.example/robots.txt", CLOSED.as_bytes())])),
        ("Excel workbook", zip(&[("[Content_Types].xml", b"<Types/>"), ("xl/workbook.xml", b"<workbook/>")])),
        ("web page", text("<!DOCTYPE html>\n<title>Not found</title>\n")),
        ("PDF", text("%PDF-1.7\n%\u{e2}\n")),
        ("SQLite database", text("SQLite format 3\0")),
        ("NUL bytes", vec![0; 100]),
    ]
}

#[test]
fn every_kind_of_input_is_read_or_refused_as_the_table_says() {
    let folder = Folder::with_set();
    folder.write("urls", "https://a.example/x\n");
    let mut table = String::new();
    let mut ran = 0;
    let all = kinds();
    for (number, (kind, bytes)) in all.iter().enumerate() {
        // The name misleads, because only the content counts.
        let name = format!("{}.{}", number, ["txt", "csv", "gz", "warc", "parquet"][number % 5]);
        // A name that ends with `.csv` is the operator's word.
        let name = name.replace(".csv", ".dat");
        folder.write(&name, bytes);
        let mut cells = Vec::new();
        let mut refusals = vec![None; COMMANDS.len()];
        for (at, (command, args)) in COMMANDS.iter().enumerate() {
            let args: Vec<&str> = args.iter().map(|&arg| if arg == "FILE" { &*name } else { arg }).collect();
            let run = folder.run(&args);
            let first = run.stderr.lines().next().unwrap_or_default();
            cells.push(match run.code {
                Some(0) => "yes",
                Some(1) => "with problems",
                Some(2) => {
                    let message = first.strip_prefix("reptile: ").unwrap_or_default();
                    assert!(message.contains(&name), "{kind}, {command}: {run:#?}");
                    let message = message.strip_prefix(&format!("{name}: ")).unwrap_or(message);
                    refusals[at] = Some(message.replace(&name, "FILE"));
                    "no"
                }
                _ => panic!("{kind}, {command}: {run:#?}"),
            });
            // A set of any other text allows everything.
            let suggests_host = first.contains("--host");
            let may = kind.starts_with("robots.txt") || kind.starts_with("gzip") || kind.starts_with("access log");
            assert!(!suggests_host || may, "{kind}, {command}: {first}");
            ran += 1;
        }
        let shown = SHOWN.iter().find_map(|&at| refusals[at].as_deref()).unwrap_or_default();
        writeln!(table, "| {kind} | {} | {} |", cells.join(" | "), shown.replace('|', "\\|")).unwrap();
    }
    assert_eq!((all.len(), ran), (48, 48 * 7));
    let names: Vec<&str> = COMMANDS.iter().map(|(name, _)| *name).collect();
    let head = format!(
        "# Kinds of input\n\n\
         This table shows which commands read each kind of input, and one refusal. A test runs every combination and\n\
         compares the results with it. File names do not matter. *with problems* means that rows or files were invalid\n\
         (exit code 1).\n\n\
         | input | {} | refusal of `classify`, `compile` or `test` |\n|---|{}---|\n",
        names.join(" | "),
        "---|".repeat(names.len())
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("INPUTS.md");
    if std::env::var_os("REPTILE_ACCEPT").is_some() {
        std::fs::write(&path, head.clone() + &table).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    assert!(expected == head + &table, "cli/INPUTS.md is out of date; REPTILE_ACCEPT=1 writes it");
}
