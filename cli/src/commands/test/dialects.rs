//! The answers of all dialects side by side.

use std::io::Write;

use bumpalo::Bump;
use reptile::crawlers::Resolved;
use reptile::dialects::ALL;
use reptile::explain::DecidingReason;
use reptile::{Dialect, Verdict};

use super::file::{Answer, Column, File, questions};
use super::shown::shown;
use crate::error::Stop;
use crate::outputs::align::{pad, width};
use crate::sets::agents::agents_under;

/// Width of a table column. A wider URL pushes the rest of its row to the right.
const MAX_COLUMN: usize = 60;

/// Returns every dialect with its index in the table, the reference dialect first.
pub fn from_reference(asked: &Dialect) -> impl Iterator<Item = (usize, &'static Dialect)> {
    let places = ALL.into_iter().enumerate();
    let (first, others): (Vec<_>, Vec<_>) = places.partition(|(_, dialect)| *dialect == asked);
    first.into_iter().chain(others)
}

/// The visible parts of an answer under one dialect.
struct VisibleAnswer {
    verdict: Verdict,
    line: u32,
    /// The remarks about the URL.
    remarks: Vec<String>,
    /// The reasons, printed if the dialects differ. Empty with `--brief`.
    reasons: String,
}

/// Writes the answers with `--all-dialects`: a column for each dialect, and the reasons where they disagree. The file
/// is read under one dialect at a time.
pub fn write(file: &File<'_>, urls: &[Vec<u8>], out: &mut impl Write) -> Result<(), Stop> {
    let mut kept: Vec<Vec<VisibleAnswer>> = ALL.iter().map(|_| Vec::new()).collect();
    let mut reference = 0;
    for (place, dialect) in from_reference(file.asked) {
        let arena = Bump::new();
        let column = file.column(dialect, &arena)?;
        if dialect == file.asked {
            reference = place;
        }
        let mut of_column = Vec::new();
        for (index, answer) in answered(&column, urls).enumerate() {
            let answer = answer?;
            let expected = kept[reference].get(index).map(|known| (known.verdict, known.line));
            of_column.push(VisibleAnswer {
                verdict: answer.explanation.verdict,
                line: answer.line(),
                remarks: answer.remarks.clone(),
                reasons: if file.args.brief { String::new() } else { reasons_of(&column, &answer, expected) },
            });
        }
        kept[place] = of_column;
    }
    let agents = agents_under(file.asked, &file.args.agents)?;
    out.write_all(table(&kept, reference, questions(urls, &agents), file.args.brief).as_bytes())?;
    Ok(())
}

/// Returns the answers for each URL and agent.
fn answered<'q>(
    column: &'q Column<'_>,
    urls: &'q [Vec<u8>],
) -> impl Iterator<Item = Result<Answer, crate::error::Failure>> {
    urls.iter().flat_map(|url| (0..column.agents.len()).map(|agent| column.answer(url, agent)))
}

/// Returns the table, the reasons, the remarks and the number of differing answers.
fn table<'q>(
    kept: &[Vec<VisibleAnswer>],
    reference: usize,
    questions: impl Iterator<Item = (&'q [u8], &'q Resolved)>,
    brief: bool,
) -> String {
    let names = ALL.iter().map(|dialect| dialect.as_str());
    let mut rows: Vec<Vec<String>> = vec![["", "URL", "agent"].into_iter().chain(names).map(str::to_owned).collect()];
    let (mut reasons, mut remarks) = (String::new(), Vec::new());
    let (mut count, mut differing) = (0, 0);
    for (index, (url, agent)) in questions.enumerate() {
        let answers: Vec<&VisibleAnswer> = kept.iter().filter_map(|of_column| of_column.get(index)).collect();
        let expected = answers.get(reference).map(|answer| answer.verdict);
        let differs = answers.iter().any(|answer| Some(answer.verdict) != expected);
        let mut row =
            vec![if differs { "!" } else { "" }.to_owned(), shown(url, false), shown(agent.name.as_bytes(), false)];
        for answer in &answers {
            let mark = if Some(answer.verdict) == expected { "" } else { "!" };
            let line = if answer.line == 0 { String::new() } else { format!(" {}", answer.line) };
            row.push(format!("{mark}{}{line}", answer.verdict));
        }
        rows.push(row);
        count += 1;
        differing += u32::from(differs);
        if let Some(remark) = remark_on(url, &answers).filter(|remark| !remarks.contains(remark)) {
            remarks.push(remark);
        }
        if differs && !brief {
            reasons.push_str(&together(&answers, url, &agent.name));
        }
    }
    let mut text = aligned(&rows);
    text.push_str(&reasons);
    if !remarks.is_empty() {
        text.push('\n');
        text.extend(remarks);
    }
    let against = ALL[reference].as_str();
    let verb = if differing == 1 { "differs" } else { "differ" };
    let of = if count == 1 { "answer" } else { "answers" };
    text.push_str(&format!(
        "\n{differing} of {count} {of} {verb} between dialects; ! marks a verdict that differs from {against}\n"
    ));
    text
}

/// Returns a line with the remarks about a URL, if there are any. If they differ, each names its dialects.
fn remark_on(url: &[u8], answers: &[&VisibleAnswer]) -> Option<String> {
    let mut by_text: Vec<(&str, Vec<&str>)> = Vec::new();
    for (answer, dialect) in answers.iter().zip(ALL) {
        for remark in &answer.remarks {
            match by_text.iter_mut().find(|(text, _)| text == remark) {
                Some((_, dialects)) => dialects.push(dialect.as_str()),
                None => by_text.push((remark, vec![dialect.as_str()])),
            }
        }
    }
    let text = match &by_text[..] {
        [] => return None,
        [(text, _)] => (*text).to_owned(),
        several => {
            let of_dialects = several.iter().map(|(text, dialects)| format!("{}: {text}", dialects.join(", ")));
            of_dialects.collect::<Vec<_>>().join("; ")
        }
    };
    Some(format!("{}: {text}\n", shown(url, false)))
}

/// Returns the reasons for an answer. `expected` is the verdict and line under the reference dialect.
fn reasons_of(column: &Column<'_>, answer: &Answer, expected: Option<(Verdict, u32)>) -> String {
    let mut lines = Vec::new();
    if !matches!(answer.why, DecidingReason::Fetch(_)) && answer.explanation.verdict != Verdict::Invalid {
        lines.push(format!("group: {}", column.group(answer.agent)));
    }
    if answer.path_differs {
        lines.push(format!("path: compared as {}", shown(&answer.shown_path, false)));
    }
    for rule in [&answer.explanation.allow, &answer.explanation.disallow].into_iter().flatten() {
        let read_as = column.read_as(rule, false).map(|words| format!(", {words}")).unwrap_or_default();
        lines.push(format!("{}{read_as}", column.line_and_text(rule, false)));
    }
    lines.push(format!("because {}", column.because(answer)));
    // This dialect may read the deciding line, or the whole file, differently.
    let verdict = answer.explanation.verdict;
    let (expected, decided_here) = expected.unwrap_or((verdict, 0));
    let here = column
        .reading
        .diagnostics()
        .filter(|&(line, _)| verdict != expected && (line == 0 || (decided_here != 0 && line == decided_here)));
    for (line, kind) in here {
        let place = if line == 0 { "the file".into() } else { format!("line {line}") };
        lines.push(format!("{place}: {}", kind.describe()));
    }
    format!("{verdict}\n      {}", lines.join("\n      "))
}

/// Returns one row's reasons. Dialects with the same reasons are listed together.
fn together(answers: &[&VisibleAnswer], url: &[u8], agent: &str) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (answer, dialect) in answers.iter().zip(ALL) {
        let name = dialect.as_str();
        match reasons.iter_mut().find(|(known, _)| *known == answer.reasons) {
            Some((_, names)) => names.push(name),
            None => reasons.push((&answer.reasons, vec![name])),
        }
    }
    let mut text = format!("\n! {}  for {}\n", shown(url, false), shown(agent.as_bytes(), false));
    for (words, names) in reasons {
        text.push_str(&format!("   {}: {words}\n", names.join(", ")));
    }
    text
}

/// Returns rows in aligned columns, each as wide as its widest cell.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let widest = |column: usize| rows.iter().map(|row| width(&row[column])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(|column| widest(column).min(MAX_COLUMN)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, &cells) in row.iter().zip(&widths) {
            if cells > 0 {
                line.push_str(&format!("{}  ", pad(cell, cells)));
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
