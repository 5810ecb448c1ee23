//! Recorded verdicts from Google's library on real robots.txt files. The files belong to third parties and are not in
//! this repository. They are read from the folder that [`reptile_bench::shared`] returns.

use std::collections::HashMap;
use std::path::Path;

use reptile_compiler::dialect::GOOGLE_LIB;

use super::{Corpus, CorpusFile, CorpusRow, DialectVerdict};
use crate::letters;

/// Reads the files and the recorded rows.
///
/// # Errors
/// Returns an error if a file cannot be read, or names the row if it is malformed.
pub fn load(shared: &Path) -> Result<Corpus, String> {
    let files = reptile_bench::real_files(shared).map_err(|error| format!("real files: {error}"))?;
    let path = shared.join("corpora/real/golden.tsv.gz");
    let lines = reptile_bench::lines(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut groups: Vec<CorpusFile> = files
        .into_iter()
        .map(|(host, body)| CorpusFile {
            origin: format!("https://{host}"),
            name: host,
            tag: "",
            body,
            rows: Vec::new(),
        })
        .collect();
    let places: HashMap<Vec<u8>, usize> =
        groups.iter().enumerate().map(|(place, group)| (group.name.as_bytes().to_vec(), place)).collect();
    for (number, line) in lines.iter().enumerate() {
        let fault = |fault: &str| format!("{}:{}: {fault}", path.display(), number + 1);
        let (host, row) = row(line).ok_or_else(|| fault("expected host, agent, URL, verdict and line"))?;
        let place = *places.get(host).ok_or_else(|| fault("no robots.txt for this host"))?;
        groups[place].rows.push(row);
    }
    groups.retain(|group| !group.rows.is_empty());
    let about = format!("recorded verdicts from Google's library on {} real files", groups.len());
    Ok(Corpus { name: "golden", about, groups })
}

fn row(line: &[u8]) -> Option<(&[u8], CorpusRow)> {
    let mut fields = line.split(|&byte| byte == b'\t');
    let (host, agent, url, verdict, line) =
        (fields.next()?, fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let letter = match verdict {
        b"ALLOW" => letters::ALLOW,
        b"DISALLOW" => letters::DISALLOW,
        _ => return None,
    };
    let line = std::str::from_utf8(line).ok()?.parse().ok()?;
    let recorded = Some((&GOOGLE_LIB, DialectVerdict { letter, line: Some(line) }));
    Some((host, CorpusRow { agent: agent.to_vec(), url: url.to_vec(), recorded }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_five_fields() {
        let (host, found) = row(b"a.example\tFooBot\t/a b\tDISALLOW\t3").unwrap();
        assert_eq!((host, &*found.url, found.recorded.unwrap().1.letter), (&b"a.example"[..], &b"/a b"[..], b'D'));
        for bad in ["a\tb\tc\tALLOW", "a\tb\tc\tMAYBE\t1", "a\tb\tc\tALLOW\tx"] {
            assert!(row(bad.as_bytes()).is_none(), "{bad}");
        }
    }
}
