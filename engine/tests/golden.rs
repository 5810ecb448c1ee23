//! Opens a set of every format version.
//!
//! Each must give its recorded answers, or be rejected with its version number.
//!
//! `golden/vN.set` was written by the version that introduced format N. `golden/vN.tsv` contains that version's
//! answers: agent, URL, verdict, line, rule, reason. `reptile compile` made the sets from `corpora/robots` and
//! `corpora/captures/sample.jsonl`, and `reptile classify --explain --reason` the answers for GPTBot and FooBot from
//! `corpora/urls`. Format 3 changes until it is released. Formats 1 and 2 were never released.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may")]

use std::path::{Path, PathBuf};

use reptile_engine::format::FORMAT_VERSION;
use reptile_engine::platform::MappedFile;
use reptile_engine::set::Set;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

#[test]
fn older_versions_are_rejected_with_both_version_numbers() {
    for version in [1, 2] {
        let error = Set::from_bytes(std::fs::read(folder().join(format!("v{version}.set"))).unwrap()).err().unwrap();
        assert_eq!(
            error.to_string(),
            format!(
                "header: expected format version 3, the only one that this program reads, found version {version}: an \
                 older reptile wrote the set; compile it again"
            )
        );
    }
}

#[test]
fn supported_versions_verify_and_give_the_recorded_answers() {
    let folder = folder();
    for version in 3..=FORMAT_VERSION {
        let path = folder.join(format!("v{version}.set"));
        // SAFETY: nothing changes the test files.
        let file = unsafe { MappedFile::open(&path) }.unwrap();
        let (mapped, read) = (Set::from_bytes(file).unwrap(), Set::from_bytes(std::fs::read(&path).unwrap()).unwrap());
        mapped.verify().unwrap();
        read.verify().unwrap();
        let answers = std::fs::read(folder.join(format!("v{version}.tsv"))).unwrap();
        let mut count = 0;
        for row in answers.split(|&byte| byte == b'\n').filter(|row| !row.is_empty()) {
            let fields: Vec<&[u8]> = row.split(|&byte| byte == b'\t').collect();
            let [agent, url, verdict, line, rule, reason] = fields[..] else { panic!("{}", row.escape_ascii()) };
            let explained = mapped.explain(&mapped.agent(agent).unwrap(), url).unwrap();
            let found = explained.rule().map_or((0, String::new()), |rule| (rule.line, rule.to_string()));
            assert_eq!(explained.verdict.name().as_bytes(), verdict, "{}", row.escape_ascii());
            assert_eq!(found.0.to_string().as_bytes(), line, "{}", row.escape_ascii());
            assert_eq!(found.1.as_bytes(), rule, "{}", row.escape_ascii());
            assert_eq!(explained.reason().to_string().as_bytes(), reason, "{}", row.escape_ascii());
            assert_eq!(read.decide(&read.agent(agent).unwrap(), url).unwrap(), explained.verdict);
            count += 1;
        }
        assert_eq!(count, 96);
        let mut lines = Vec::new();
        for origin in mapped.origins() {
            let mut reader = mapped.site_of(&origin.unwrap()).unwrap().other().reader().unwrap();
            while let Some(line) = reader.next().unwrap() {
                lines.push(format!("{} {} {}", line.line, line.kind.as_str(), line.value.escape_ascii()));
            }
        }
        lines.sort();
        let expected = [
            "11 crawl-delay 2",
            "16 content-signal search=yes, ai-train=no",
            "16 crawl-delay 30",
            "19 sitemap https://news.example.org/sitemap-news.xml",
            "20 sitemap https://news.example.org/sitemap-all.xml.gz",
            "21 sitemap https://shop.example.com/sitemap.xml",
            "7 other /not-known",
            "8 noindex /noindex",
        ];
        // Each file applies to http and https, and each capture to one origin.
        let mut expected = expected.map(|line| [line, line]).concat();
        expected.insert(12, "3 crawl-delay 5");
        assert_eq!(lines, expected);
    }
}
