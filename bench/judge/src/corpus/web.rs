//! Sites from the synthetic web in `corpora/`, the same in every run, with recorded verdicts and lines from Google's
//! library. `reptile-judge expect ENGINE` records them again.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use reptile_compiler::dialect::GOOGLE_LIB;
use reptile_corpora::Web;
use reptile_corpora::site::HostAnswer;
use reptile_corpora::urls::Spread;

use super::{Corpus, CorpusFile, CorpusRow, DialectVerdict};
use crate::engine::EngineAnswers;

/// The web that contains the sites.
const WEB: Web = Web { origins: 400, seed: 9309 };

/// Total number of URLs on all sites.
const URLS: u64 = 4_000;

/// The crawlers. Each is combined with every URL.
const AGENTS: [&[u8]; 3] = [b"Googlebot", b"GPTBot", b"AhrefsBot"];

/// Returns the path of the recorded verdicts.
#[must_use]
pub fn expected_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("expected/web.tsv")
}

/// Generates the sites that have a robots.txt, with their rows.
#[must_use]
pub fn make() -> Corpus {
    let mut urls: HashMap<Vec<u8>, Vec<Vec<u8>>> = HashMap::new();
    let collect = |url: &[u8]| {
        let host = url.split(|&byte| byte == b'/').nth(2).unwrap_or_default();
        urls.entry(host.to_vec()).or_default().push(url.to_vec());
        Ok::<(), Infallible>(())
    };
    let Ok(()) = WEB.urls(&Spread { urls: URLS, exponent: 0.0, is_sorted: true }, collect);
    let group = |number| {
        let site = WEB.site(number);
        let HostAnswer::File(body) = site.answer else { return None };
        let urls = urls.get(site.host.as_bytes())?;
        let row = |agent: &[u8], url: &Vec<u8>| CorpusRow { agent: agent.to_vec(), url: url.clone(), recorded: None };
        let rows = AGENTS.iter().flat_map(|agent| urls.iter().map(|url| row(agent, url))).collect();
        let scheme = if site.is_https { "https" } else { "http" };
        Some(CorpusFile { origin: format!("{scheme}://{}", site.host), name: site.host, tag: "", body, rows })
    };
    let groups: Vec<CorpusFile> = (0..WEB.origins).filter_map(group).collect();
    let about = format!("{} sites from the synthetic web, the same in every run", groups.len());
    Corpus { name: "web", about, groups }
}

/// Generates the sites, and adds the recorded verdicts from a file.
///
/// # Errors
/// Returns an error if the file cannot be read or describes other rows.
pub fn load(path: &Path) -> Result<Corpus, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut corpus = make();
    add_expected(&mut corpus, &text).map_err(|fault| format!("{}:{fault}", path.display()))?;
    Ok(corpus)
}

/// Formats verdicts for the recorded file.
#[must_use]
pub fn written(corpus: &Corpus, by: &str, answers: &[EngineAnswers]) -> String {
    let mut text = format!("# The verdicts and lines of {by} on the corpus `web`: host, verdicts, lines\n");
    for (group, answers) in corpus.groups.iter().zip(answers) {
        let _ = write!(text, "{}\t{}\t", group.name, String::from_utf8_lossy(&answers.letters));
        let lines = answers.lines.as_deref().unwrap_or_default().iter();
        let lines: Vec<String> = lines.map(|line| line.map_or("-".into(), |line| line.to_string())).collect();
        let _ = writeln!(text, "{}", lines.join(" "));
    }
    text
}

fn add_expected(corpus: &mut Corpus, text: &str) -> Result<(), String> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#'));
    for group in &mut corpus.groups {
        let (number, line) = lines.next().ok_or("1: fewer sites than the corpus has")?;
        let fault = |fault: String| format!("{}: {fault}; record it again with `reptile-judge expect`", number + 1);
        let mut fields = line.split('\t');
        let (host, letters) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default().as_bytes());
        let found: Vec<Option<u32>> =
            fields.next().unwrap_or_default().split(' ').map(|line| line.parse().ok()).collect();
        if host != group.name || letters.len() != group.rows.len() || found.len() != letters.len() {
            let rows = group.rows.len();
            return Err(fault(format!(
                "expected {} with {rows} rows, found {host} with {}",
                group.name,
                letters.len()
            )));
        }
        for (row, (&letter, line)) in group.rows.iter_mut().zip(letters.iter().zip(found)) {
            row.recorded = Some((&GOOGLE_LIB, DialectVerdict { letter, line }));
        }
    }
    match lines.next() {
        None => Ok(()),
        Some((number, _)) => Err(format!("{}: more sites than the corpus has", number + 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_verdicts_match_the_oracle() {
        let corpus = load(&expected_path()).unwrap();
        assert!(corpus.rows() > 5_000, "{}", corpus.rows());
        let mut disallowed = 0;
        for group in &corpus.groups {
            for row in &group.rows {
                let recorded = row.recorded.unwrap().1;
                disallowed += usize::from(recorded.letter == b'D');
                let found = super::super::read(&GOOGLE_LIB, &group.body, &row.agent, &row.url);
                assert_eq!(found, recorded, "{} {}", group.name, row.url.escape_ascii());
            }
        }
        assert!(disallowed > 300, "{disallowed}");
    }

    #[test]
    fn files_with_other_rows_are_rejected() {
        let mut corpus = make();
        let answers: Vec<EngineAnswers> = corpus
            .groups
            .iter()
            .map(|group| {
                let rows = group.rows.len();
                EngineAnswers { letters: vec![b'A'; rows], lines: Some(vec![Some(0); rows]) }
            })
            .collect();
        let text = written(&corpus, "a test", &answers);
        add_expected(&mut corpus, &text).unwrap();
        let (short, _) = text.trim_end().rsplit_once('\n').unwrap();
        assert!(add_expected(&mut corpus, short).unwrap_err().contains("fewer sites"));
        assert!(add_expected(&mut corpus, &format!("{text}x\tA\t0\n")).unwrap_err().contains("more sites"));
        assert!(add_expected(&mut corpus, &text.replacen('A', "", 1)).unwrap_err().contains(":"));
    }
}
