//! Asks engines about a corpus, compares their answers with the dialects and with each other, and minimizes
//! differences.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reptile_bench::generate::Random;
use reptile_compiler::dialect::{self, Dialect};

use crate::corpus::{COMMON, Corpus, CorpusFile, DialectVerdict, read, shown};
use crate::engine::{Engine, EngineAnswers, MAX_ROWS, Question};
use crate::engines::EngineEntry;
use crate::letters;
use crate::minimize::{DifferingCase, minimize};
use crate::process::NoReply;
use crate::records::{AnswersRecord, CorpusRecord, Difference, Failure, Pair, Record, Score, Writer};

/// Number of process failures after which the judge abandons a corpus for an engine.
pub const MAX_FAILURES: usize = 20;

/// Time spent waiting in vain after which the judge abandons a corpus for an engine.
const MAX_LOST: Duration = Duration::from_secs(60);

/// Maximum number of rows per corpus for a command-line engine, which starts a process for each row.
pub const MAX_COMMAND_ROWS: usize = 1_000;

/// Maximum number of minimized differences per engine and corpus.
const MAX_EXAMPLES: usize = 12;

/// Time limit for minimizing an engine's differences in a corpus. A difference that is still being minimized is shown
/// only if it is small.
const MINIMIZE_TIME: Duration = Duration::from_secs(5);

/// Maximum size of an incompletely minimized robots.txt in bytes.
const MAX_UNFINISHED_BYTES: usize = 500;

/// Number of engines asked in parallel. Speed is not measured at the same time.
const AT_A_TIME: usize = 2;

/// An engine's answers, group by group, and its failures.
#[derive(Default)]
pub struct CorpusAnswers {
    /// The answers.
    pub answers: Vec<EngineAnswers>,
    /// The failures.
    pub failures: Vec<Failure>,
}

/// Asks an engine about a corpus for at most `time`. Every row gets a letter, even if the engine fails. The files are
/// in random order, so that an engine that runs out of time has still seen every kind of file.
pub fn ask(engine: &mut Engine<'_>, corpus: &Corpus, time: Duration) -> CorpusAnswers {
    let most_rows = if engine.is_command() { MAX_COMMAND_ROWS } else { usize::MAX };
    ask_at_most(engine, corpus, most_rows, time)
}

/// Asks about whole groups until `most_rows` or `time` is reached.
fn ask_at_most(engine: &mut Engine<'_>, corpus: &Corpus, most_rows: usize, time: Duration) -> CorpusAnswers {
    let mut order: Vec<usize> = (0..corpus.groups.len()).collect();
    Random::new(1).shuffle(&mut order);
    let not_asked = |group: &CorpusFile| without(letters::NOT_ASKED, group.rows.len());
    let mut asked = CorpusAnswers { answers: corpus.groups.iter().map(not_asked).collect(), failures: Vec::new() };
    let mut rows = 0;
    let start = Instant::now();
    let most = AbandonLimits { failures: engine.failures + MAX_FAILURES, lost: engine.lost + MAX_LOST.min(time) };
    for index in order {
        if most.is_reached(engine) || rows >= most_rows || start.elapsed() >= time {
            break;
        }
        let group = &corpus.groups[index];
        rows += group.rows.len();
        let mut failed = Vec::new();
        asked.answers[index] = ask_group(engine, group, most, &mut failed);
        let at = format!("{}: {}", corpus.name, group.name);
        let engine = &engine.entry.name;
        let failure = |broken: NoReply| Failure {
            engine: engine.clone(),
            at: at.clone(),
            letter: char::from(broken.letter),
            why: broken.why,
        };
        asked.failures.extend(failed.into_iter().map(failure));
    }
    asked
}

/// Totals of failures and lost time at which an engine is abandoned.
#[derive(Clone, Copy)]
struct AbandonLimits {
    failures: usize,
    lost: Duration,
}

impl AbandonLimits {
    fn is_reached(&self, engine: &Engine<'_>) -> bool {
        engine.failures >= self.failures || engine.lost >= self.lost
    }
}

/// Returns the same letter for all rows.
fn without(letter: u8, rows: usize) -> EngineAnswers {
    EngineAnswers { letters: vec![letter; rows], lines: None }
}

/// Asks about all rows for a robots.txt together, or about each row alone if that fails.
fn ask_group(
    engine: &mut Engine<'_>,
    group: &CorpusFile,
    most: AbandonLimits,
    failed: &mut Vec<NoReply>,
) -> EngineAnswers {
    if let Err(broken) = engine.load(0, &group.origin, &group.body) {
        let letter = broken.letter;
        failed.push(broken);
        return without(letter, group.rows.len());
    }
    let questions: Vec<Question<'_>> =
        group.rows.iter().map(|row| Question { slot: 0, agent: &row.agent, url: &row.url }).collect();
    let mut all = EngineAnswers { letters: Vec::new(), lines: Some(Vec::new()) };
    for questions in questions.chunks(MAX_ROWS) {
        match engine.decide(questions) {
            Ok(answers) => append(&mut all, answers),
            Err(broken) if questions.len() == 1 || broken.letter == letters::SKIP => {
                append(&mut all, without(broken.letter, questions.len()));
                failed.push(broken);
            }
            Err(_) => {
                for question in questions {
                    append(&mut all, ask_row(engine, group, question, most, failed));
                }
            }
        }
    }
    all
}

/// Asks about one row after loading the robots.txt again.
fn ask_row(
    engine: &mut Engine<'_>,
    group: &CorpusFile,
    question: &Question<'_>,
    most: AbandonLimits,
    failed: &mut Vec<NoReply>,
) -> EngineAnswers {
    if most.is_reached(engine) {
        return without(letters::NOT_ASKED, 1);
    }
    let loaded = engine.load(0, &group.origin, &group.body);
    loaded.and_then(|()| engine.decide(std::slice::from_ref(question))).unwrap_or_else(|broken| {
        let letter = broken.letter;
        failed.push(broken);
        without(letter, 1)
    })
}

/// Appends answers. Lines that are missing in `part` become unknown.
fn append(all: &mut EngineAnswers, part: EngineAnswers) {
    let rows = part.letters.len();
    all.letters.extend(part.letters);
    let lines = part.lines.unwrap_or_else(|| vec![None; rows]);
    if let Some(all) = &mut all.lines {
        all.extend(lines);
    }
}

/// Some dialects' verdicts on a corpus.
pub struct DialectVerdicts(pub Vec<(&'static Dialect, Vec<Vec<DialectVerdict>>)>);

impl DialectVerdicts {
    /// Computes some dialects' verdicts.
    #[must_use]
    pub fn new(corpus: &Corpus, dialects: &[&'static Dialect]) -> DialectVerdicts {
        DialectVerdicts(dialects.iter().map(|&dialect| (dialect, corpus.readings(dialect))).collect())
    }

    /// Returns a dialect's verdicts, or `None` if they were not computed.
    #[must_use]
    pub fn of(&self, dialect: &Dialect) -> Option<&[Vec<DialectVerdict>]> {
        self.0.iter().find(|(known, _)| *known == dialect).map(|(_, readings)| &**readings)
    }
}

/// Compares the answers with each dialect, by tag.
#[must_use]
pub fn scores(engine: &str, corpus: &Corpus, answers: &[EngineAnswers], readings: &DialectVerdicts) -> Vec<Score> {
    let mut scores: Vec<Score> = Vec::new();
    for (dialect, readings) in &readings.0 {
        let first = scores.len();
        for ((group, answers), readings) in corpus.groups.iter().zip(answers).zip(readings) {
            let place = scores[first..].iter().position(|score| score.tag == group.tag).map(|place| first + place);
            let place = place.unwrap_or_else(|| {
                let (engine, corpus) = (engine.to_owned(), corpus.name.to_owned());
                let (tag, dialect) = (group.tag.to_owned(), dialect.as_str().to_owned());
                scores.push(Score { engine, corpus, tag, dialect, ..Score::default() });
                scores.len() - 1
            });
            for (row, reading) in readings.iter().enumerate() {
                let line = answers.lines.as_ref().and_then(|lines| lines.get(row).copied().flatten());
                count(&mut scores[place], answers.letters[row], line, *reading);
            }
        }
    }
    scores
}

fn count(score: &mut Score, letter: u8, line: Option<u32>, reading: DialectVerdict) {
    if letter == letters::NOT_ASKED || reading.letter == letters::NOT_ASKED {
        return;
    }
    score.rows += 1;
    match letter {
        letter if letter == reading.letter => score.right += 1,
        letters::ALLOW | letters::DISALLOW => score.wrong += 1,
        letters::UNSUPPORTED => score.unsupported += 1,
        _ => score.failed += 1,
    }
    if let (Some(line), Some(expected)) = (line, reading.line)
        && letters::is_verdict(letter)
    {
        score.lines += 1;
        score.lines_right += usize::from(line == expected);
    }
}

/// Compares each pair of engines.
#[must_use]
pub fn pairs(corpus: &str, all: &[(String, Vec<EngineAnswers>)]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (index, (a, ours)) in all.iter().enumerate() {
        for (b, theirs) in &all[index + 1..] {
            let (mut rows, mut differ) = (0, 0);
            let letters = ours.iter().zip(theirs).flat_map(|(a, b)| a.letters.iter().zip(&b.letters));
            for (&a, &b) in letters.filter(|(a, b)| letters::is_verdict(**a) && letters::is_verdict(**b)) {
                rows += 1;
                differ += usize::from(a != b);
            }
            pairs.push(Pair { a: a.clone(), b: b.clone(), corpus: corpus.to_owned(), rows, differ });
        }
    }
    pairs
}

/// The other side of a difference.
pub enum Opponent<'o, 'e> {
    /// A dialect.
    Dialect(&'static Dialect),
    /// An engine.
    Engine(&'o mut Engine<'e>),
}

impl Opponent<'_, '_> {
    fn letter(&mut self, case: &DifferingCase) -> Option<u8> {
        match self {
            Opponent::Dialect(dialect) => Some(read(dialect, &case.body, &case.agent, &case.url).letter),
            Opponent::Engine(engine) => letter_of(engine, case),
        }
    }
}

fn letter_of(engine: &mut Engine<'_>, case: &DifferingCase) -> Option<u8> {
    engine.load(0, "https://a.example", &case.body).ok()?;
    let question = Question { slot: 0, agent: &case.agent, url: &case.url };
    engine.decide(&[question]).ok()?.letters.first().copied()
}

/// Returns whether the time for minimizing is over.
fn is_over(elapsed: Duration) -> bool {
    elapsed >= MINIMIZE_TIME
}

/// Returns whether a case is too long to be shown without complete minimization.
fn is_unfinished(elapsed: Duration, bytes: usize) -> bool {
    is_over(elapsed) && bytes > MAX_UNFINISHED_BYTES
}

/// Minimizes up to `most` rows on which an engine and the other side differ, at most one per robots.txt. Omits
/// duplicate results.
pub fn differences(
    engine: &mut Engine<'_>,
    other: &mut Opponent<'_, '_>,
    corpus: &Corpus,
    rows: &[(usize, usize)],
    most: usize,
) -> Vec<Difference> {
    let mut found: Vec<Difference> = Vec::new();
    let start = Instant::now();
    for &(group, row) in spread(rows, most).iter() {
        if is_over(start.elapsed()) {
            break;
        }
        let group = &corpus.groups[group];
        let row = &group.rows[row];
        let case = DifferingCase { body: group.body.clone(), agent: row.agent.clone(), url: row.url.clone() };
        // An engine that answers differently when asked about a single row has another problem, which cannot be
        // minimized.
        let (Some(ours), Some(theirs)) = (letter_of(engine, &case), other.letter(&case)) else { continue };
        if ours == theirs || !letters::is_verdict(ours) || !letters::is_verdict(theirs) {
            continue;
        }
        let case = minimize(case, &mut |case| {
            !is_over(start.elapsed()) && letter_of(engine, case) == Some(ours) && other.letter(case) == Some(theirs)
        });
        if is_unfinished(start.elapsed(), case.body.len()) {
            break;
        }
        let (against, is_engine) = match &other {
            Opponent::Dialect(dialect) => (dialect.as_str().to_owned(), false),
            Opponent::Engine(engine) => (engine.entry.name.clone(), true),
        };
        let by = |dialect: &&'static Dialect| {
            let letter = read(dialect, &case.body, &case.agent, &case.url).letter;
            (dialect.as_str().to_owned(), char::from(letter))
        };
        let difference = Difference {
            engine: engine.entry.name.clone(),
            against,
            is_engine,
            found_in: format!("{}: {}", corpus.name, group.name),
            body: case.body.split_inclusive(|&byte| byte == b'\n').map(line_of).collect(),
            body_base64: BASE64_STANDARD.encode(&case.body),
            agent: shown(&case.agent),
            url: shown(&case.url),
            verdict: char::from(ours),
            other: char::from(theirs),
            dialects: dialect::ALL.iter().map(by).collect(),
        };
        let is_known = |known: &Difference| known.body == difference.body && known.url == difference.url;
        if !found.iter().any(is_known) {
            found.push(difference);
        }
    }
    found.sort_by_key(|difference| difference.body.iter().map(String::len).sum::<usize>() + difference.url.len());
    found
}

/// Returns a line as printable text, without its newline.
fn line_of(line: &[u8]) -> String {
    shown(line.strip_suffix(b"\n").unwrap_or(line))
}

/// Returns up to `most` items, evenly spread over the list.
fn spread<T: Copy>(things: &[T], most: usize) -> Vec<T> {
    let count = things.len().min(most);
    (0..count).map(|index| things[index * things.len() / count]).collect()
}

/// Returns the first row in each group on which the verdicts differ.
#[must_use]
pub fn differing<'l>(ours: &[EngineAnswers], theirs: impl Iterator<Item = Vec<u8>> + 'l) -> Vec<(usize, usize)> {
    let differs = |(a, b): (&u8, &u8)| a != b && letters::is_verdict(*a) && letters::is_verdict(*b);
    let of_group = |(group, (ours, theirs)): (usize, (&EngineAnswers, Vec<u8>))| {
        ours.letters.iter().zip(&theirs).position(differs).map(|row| (group, row))
    };
    ours.iter().zip(theirs).enumerate().filter_map(of_group).collect()
}

/// Asks all engines about all corpora and writes the records. Spends at most `time` on each engine and corpus.
///
/// # Errors
/// Returns an error if a record cannot be written. Failures of engines are recorded instead.
pub fn run(entries: &[&EngineEntry], corpora: &[Corpus], time: Duration, writer: &mut Writer) -> Result<(), String> {
    for corpus in corpora {
        eprintln!("{}: {} rows", corpus.name, corpus.rows());
        let (name, about) = (corpus.name.to_owned(), corpus.about.clone());
        writer.write(&Record::Corpus(CorpusRecord { corpus: name, about, rows: corpus.rows() }))?;
        let readings = DialectVerdicts::new(corpus, &dialects_for(corpus, entries));
        let next = AtomicUsize::new(0);
        let done = Mutex::new((&mut *writer, Vec::new()));
        let work = || -> Result<(), String> {
            while let Some(entry) = entries.get(next.fetch_add(1, Ordering::Relaxed)) {
                let (answers, records) = run_engine(entry, corpus, &readings, time);
                let (writer, all) = &mut *done.lock().unwrap_or_else(PoisonError::into_inner);
                records.iter().try_for_each(|record| writer.write(record))?;
                all.push((entry.name.clone(), answers));
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..AT_A_TIME).map(|_| scope.spawn(work)).collect();
            let mine = work();
            let ended =
                others.into_iter().map(|other| other.join().unwrap_or_else(|_| Err("a thread panicked".into())));
            ended.fold(mine, Result::and)
        })?;
        let (writer, mut all) = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        all.sort_by_key(|(name, _)| entries.iter().position(|entry| entry.name == *name));
        for pair in pairs(corpus.name, &all) {
            writer.write(&Record::Pair(pair))?;
        }
    }
    Ok(())
}

/// Returns all dialects for a small corpus, or the claimed and recorded ones for a large corpus.
fn dialects_for(corpus: &Corpus, entries: &[&EngineEntry]) -> Vec<&'static Dialect> {
    const LARGE: usize = 50_000;
    let is_claimed =
        |dialect: &&'static Dialect| entries.iter().any(|entry| entry.dialect.unwrap_or(COMMON) == *dialect);
    let is_recorded = |dialect: &&'static Dialect| {
        corpus
            .groups
            .iter()
            .flat_map(|group| &group.rows)
            .take(1)
            .any(|row| row.recorded.is_some_and(|(recorded, _)| recorded == *dialect))
    };
    let all = dialect::ALL.into_iter();
    all.filter(|dialect| corpus.rows() < LARGE || is_claimed(dialect) || is_recorded(dialect)).collect()
}

/// Asks an engine about a corpus. Returns its answers and all records except the corpus and pairs.
fn run_engine(
    entry: &EngineEntry,
    corpus: &Corpus,
    readings: &DialectVerdicts,
    time: Duration,
) -> (Vec<EngineAnswers>, Vec<Record>) {
    let mut engine = Engine::new(entry);
    let start = Instant::now();
    let asked = ask(&mut engine, corpus, time);
    let took = start.elapsed();
    let answers_of = |(group, answers): (&CorpusFile, &EngineAnswers)| {
        Record::Answers(AnswersRecord {
            engine: entry.name.clone(),
            corpus: corpus.name.to_owned(),
            group: group.name.clone(),
            verdicts: String::from_utf8_lossy(&answers.letters).into_owned(),
        })
    };
    let mut records: Vec<Record> = corpus.groups.iter().zip(&asked.answers).map(answers_of).collect();
    records.extend(asked.failures.into_iter().map(Record::Failure));
    let claimed = entry.dialect.unwrap_or(COMMON);
    let all = scores(&entry.name, corpus, &asked.answers, readings);
    let told = |score: &&Score| score.dialect == claimed.as_str();
    let (right, rows) = all.iter().filter(told).fold((0, 0), |sum, score| (sum.0 + score.right, sum.1 + score.rows));
    records.extend(all.into_iter().map(Record::Score));
    let start = Instant::now();
    if let Some(expected) = readings.of(claimed) {
        let expected = expected.iter().map(|readings| readings.iter().map(|reading| reading.letter).collect());
        let rows = differing(&asked.answers, expected);
        let found = differences(&mut engine, &mut Opponent::Dialect(claimed), corpus, &rows, MAX_EXAMPLES);
        records.extend(found.into_iter().map(Record::Difference));
    }
    let (took, small) = (took.as_secs_f64(), start.elapsed().as_secs_f64());
    let claim = claimed.as_str();
    eprintln!("  {}: {right} of {rows} as {claim} ({took:.1} s, {small:.1} s for differences)", entry.name);
    if let Err(why) = engine.stop() {
        let (engine, at) = (entry.name.clone(), format!("{}: stop", corpus.name));
        records.push(Record::Failure(Failure { engine, at, letter: char::from(letters::ENDED), why }));
    }
    (asked.answers, records)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_engines_stop_at_the_row_limit() {
        let text = "[[engine]]\nname = \"true\"\ndialect = \"own\"\ncommand = [\"true\"]\n\
                    allow = { exit = 0 }\ndisallow = { exit = 1 }\n";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("engines.toml");
        std::fs::write(&path, text).unwrap();
        let entry = &crate::engines::read(&path).unwrap()[0];
        let asked = |rows, most, time| {
            let mut corpus = crate::corpus::fresh::make(1, rows);
            corpus.groups.iter_mut().for_each(|group| group.rows.truncate(1));
            let asked = ask_at_most(&mut Engine::new(entry), &corpus, most, time);
            let mut found: Vec<u8> = asked.answers.iter().flat_map(|answers| answers.letters.clone()).collect();
            found.sort_unstable();
            String::from_utf8(found).unwrap()
        };
        for (rows, letters) in [(2, "AA"), (3, "AAA"), (4, "AAAN")] {
            assert_eq!(asked(rows, 3, Duration::MAX), letters);
        }
        assert_eq!(asked(3, 3, Duration::ZERO), "NNN", "no rows are asked without time");
    }

    #[test]
    fn minimizing_stops_at_its_limits() {
        let nanosecond = Duration::from_nanos(1);
        for (elapsed, over) in
            [(MINIMIZE_TIME - nanosecond, false), (MINIMIZE_TIME, true), (MINIMIZE_TIME + nanosecond, true)]
        {
            assert_eq!(is_over(elapsed), over, "{elapsed:?}");
            for (bytes, is_long) in
                [(MAX_UNFINISHED_BYTES - 1, false), (MAX_UNFINISHED_BYTES, false), (MAX_UNFINISHED_BYTES + 1, true)]
            {
                assert_eq!(is_unfinished(elapsed, bytes), over && is_long, "{elapsed:?} {bytes}");
            }
        }
    }

    #[test]
    fn unasked_rows_do_not_count() {
        let mut score = Score::default();
        let reading = DialectVerdict { letter: b'D', line: Some(3) };
        for (letter, line) in
            [(b'D', Some(3)), (b'A', Some(0)), (b'U', None), (b'T', None), (b'N', None), (b'D', Some(4)), (b'D', None)]
        {
            count(&mut score, letter, line, reading);
        }
        assert_eq!((score.rows, score.right, score.wrong, score.unsupported, score.failed), (6, 3, 1, 1, 1));
        assert_eq!((score.lines, score.lines_right), (3, 1));
    }

    #[test]
    fn pairs_only_count_rows_with_two_verdicts() {
        let answers = |letters: &[u8]| vec![EngineAnswers { letters: letters.to_vec(), lines: None }];
        let all = [("a".into(), answers(b"AADDE")), ("b".into(), answers(b"ADDUA")), ("c".into(), answers(b"AADDD"))];
        let found: Vec<_> = pairs("x", &all).iter().map(|pair| (pair.rows, pair.differ)).collect();
        assert_eq!(found, [(3, 1), (4, 0), (4, 2)]);
    }

    #[test]
    fn examples_are_evenly_spread() {
        assert_eq!(spread(&[1, 2, 3], 12), [1, 2, 3]);
        assert_eq!(spread(&(0..100).collect::<Vec<_>>(), 4), [0, 25, 50, 75]);
        assert!(spread::<u8>(&[], 4).is_empty());
    }
}
