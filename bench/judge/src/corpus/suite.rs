//! The conformance suite in `corpora/suite`, as described in `corpora/README.md`.

use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reptile_compiler::dialect::Dialect;
use serde::Deserialize;

use super::{Corpus, CorpusFile, CorpusRow, DialectVerdict};
use crate::letters;

/// Maximum size in bytes for a body or URL made from repeated parts.
const MAX_PARTS_BYTES: usize = 20 << 20;

const TAGS: [&str; 7] = ["RFC 9309", "Google", "Yandex", "Bing", "1994 and 1996", "choices", "robustness"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SuiteFile {
    dialect: String,
    case: Vec<SuiteCase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SuiteCase {
    name: String,
    source: String,
    body: Option<String>,
    body_base64: Option<String>,
    body_parts: Option<Vec<(String, usize)>>,
    agent: Option<String>,
    url: Option<String>,
    verdict: Option<Verdict>,
    line: Option<u32>,
    checks: Option<Vec<SuiteCheck>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SuiteCheck {
    agent: Option<String>,
    url: Option<String>,
    url_parts: Option<Vec<(String, usize)>>,
    verdict: Verdict,
    line: Option<u32>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Allow,
    Disallow,
}

/// Reads all files in the folder.
///
/// # Errors
/// Returns an error that names the file if it cannot be read or is malformed.
pub fn load(folder: &Path) -> Result<Corpus, String> {
    let at_fault = |path: &Path, fault: &dyn std::fmt::Display| format!("{}: {fault}", path.display());
    let entries = std::fs::read_dir(folder).map_err(|error| at_fault(folder, &error))?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let mut groups = Vec::new();
    for path in &paths {
        let text = std::fs::read_to_string(path).map_err(|error| at_fault(path, &error))?;
        let file = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        groups.extend(groups_of(&text, &file).map_err(|fault| at_fault(path, &fault))?);
    }
    let about = format!("the conformance suite: {} cases in {} files of corpora/suite", groups.len(), paths.len());
    Ok(Corpus { name: "suite", about, groups })
}

fn groups_of(text: &str, file: &str) -> Result<Vec<CorpusFile>, String> {
    let suite: SuiteFile = toml::from_str(text).map_err(|error| error.to_string())?;
    let dialect = Dialect::from_name(&suite.dialect).ok_or_else(|| format!("no dialect {:?}", suite.dialect))?;
    suite
        .case
        .into_iter()
        .map(|case| {
            let name = case.name.clone();
            group(case, file, dialect).map_err(|fault| format!("case {name:?}: {fault}"))
        })
        .collect()
}

fn group(case: SuiteCase, file: &str, dialect: &'static Dialect) -> Result<CorpusFile, String> {
    let is_raw = case.body.is_none();
    let body = match (case.body, case.body_base64, case.body_parts) {
        (Some(body), None, None) => body.into_bytes(),
        (None, Some(body), None) => decoded(&body)?,
        (None, None, Some(parts)) => {
            let parts: Result<Vec<_>, String> =
                parts.iter().map(|(part, times)| Ok((decoded(part)?, *times))).collect();
            repeated(&parts?)?
        }
        _ => return Err("give one of body, body_base64 and body_parts".into()),
    };
    let checks = match (case.checks, case.verdict) {
        (Some(checks), None) => checks,
        (None, Some(verdict)) => vec![SuiteCheck { agent: None, url: None, url_parts: None, verdict, line: case.line }],
        _ => return Err("give either checks or a verdict".into()),
    };
    let row = |check: SuiteCheck| -> Result<CorpusRow, String> {
        let url = match (check.url, check.url_parts) {
            (Some(url), None) => url.into_bytes(),
            (None, Some(parts)) => {
                let parts: Vec<_> = parts.into_iter().map(|(part, times)| (part.into_bytes(), times)).collect();
                repeated(&parts)?
            }
            (None, None) => case.url.clone().ok_or("no url")?.into_bytes(),
            _ => return Err("give one of url and url_parts".into()),
        };
        let agent = check.agent.or_else(|| case.agent.clone()).ok_or("no agent")?.into_bytes();
        let letter = if matches!(check.verdict, Verdict::Allow) { letters::ALLOW } else { letters::DISALLOW };
        Ok(CorpusRow { agent, url, recorded: Some((dialect, DialectVerdict { letter, line: check.line })) })
    };
    Ok(CorpusFile {
        tag: tag(&case.source, dialect.as_str(), is_raw || body.iter().any(|&byte| byte < b' ' && byte != b'\n')),
        name: format!("{file}: {}", case.name),
        origin: "http://example.com".into(),
        rows: checks.into_iter().map(row).collect::<Result<_, _>>()?,
        body,
    })
}

/// Returns a case's topic, based on its source and dialect.
fn tag(source: &str, dialect: &str, is_raw: bool) -> &'static str {
    let [rfc, google, yandex, bing, old, choices, robustness] = TAGS;
    if is_raw {
        robustness
    } else if source.starts_with("our choice") {
        choices
    } else if source.contains("RFC 9309") {
        rfc
    } else if dialect.starts_with("yandex") {
        yandex
    } else if dialect == "bing" {
        bing
    } else if dialect.starts_with("koster") {
        old
    } else {
        google
    }
}

fn decoded(text: &str) -> Result<Vec<u8>, String> {
    BASE64_STANDARD.decode(text).map_err(|error| format!("not base64: {error}"))
}

/// Joins parts, each repeated the given number of times.
fn repeated(parts: &[(Vec<u8>, usize)]) -> Result<Vec<u8>, String> {
    let bytes = parts.iter().map(|(part, times)| part.len().saturating_mul(*times)).fold(0, usize::saturating_add);
    if bytes > MAX_PARTS_BYTES {
        return Err(format!("parts of {bytes} bytes: at most {MAX_PARTS_BYTES} are allowed"));
    }
    Ok(parts.iter().flat_map(|(part, times)| part.repeat(*times)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stop_at_the_size_limit() {
        for (bytes, is_good) in
            [(MAX_PARTS_BYTES - 1, true), (MAX_PARTS_BYTES, true), (MAX_PARTS_BYTES + 1, false), (usize::MAX, false)]
        {
            assert_eq!(repeated(&[(b"x".to_vec(), bytes)]).is_ok(), is_good, "{bytes}");
        }
    }

    #[test]
    fn oracle_agrees_with_every_row() {
        let corpus = load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpora/suite")).unwrap();
        // The same counts as in `compiler/tests/suite.rs`.
        assert_eq!((corpus.groups.len(), corpus.rows()), (314, 959));
        for tag in TAGS {
            assert!(corpus.groups.iter().any(|group| group.tag == tag), "no case about {tag}");
        }
        for group in &corpus.groups {
            for row in &group.rows {
                let (dialect, recorded) = row.recorded.unwrap();
                let found = super::super::read(dialect, &group.body, &row.agent, &row.url);
                let line = recorded.line.or(found.line);
                assert_eq!(found, DialectVerdict { line, ..recorded }, "{}", group.name);
            }
        }
    }
}
