//! The answers of all dialects side by side.

use std::collections::BTreeSet;

use reptile_compiler::advice::explanation::Why;
use reptile_compiler::dialect::GOOGLE_LIB;
use reptile_engine::verdict::Verdict;

use super::words::shown;
use super::{Answer, Column, Tested};
use crate::outputs::text::{pad, width};

/// Cells of a column of the table. A wider URL pushes the rest of its row to the right.
const MAX_COLUMN: usize = 60;

/// The answers with `--all-dialects`: a column for each dialect, and the reasons where they disagree.
pub fn table(tested: &Tested<'_>, brief: bool) -> String {
    let reference = tested.file.reference;
    let columns: Vec<_> = tested.columns().collect();
    let mut rows: Vec<Vec<String>> = vec![
        ["", "URL", "agent"]
            .into_iter()
            .chain(columns.iter().map(|(column, _)| column.reading.dialect().as_str()))
            .map(str::to_owned)
            .collect(),
    ];
    let (mut reasons, mut remarks) = (String::new(), BTreeSet::new());
    let (mut count, mut differing) = (0, 0);
    for (index, (url, agent)) in tested.questions().enumerate() {
        let answers = || columns.iter().map(|(_, answers)| &answers[index]);
        let found: Vec<(Verdict, u32)> = answers().map(|answer| (answer.explanation.verdict, answer.line())).collect();
        let expected = found[reference].0;
        let differs = found.iter().any(|&(verdict, _)| verdict != expected);
        let mut row =
            vec![if differs { "!" } else { "" }.to_owned(), shown(url, false), shown(agent.name.as_bytes(), false)];
        for (verdict, line) in found {
            let mark = if verdict == expected { "" } else { "!" };
            let line = if line == 0 { String::new() } else { format!(" {line}") };
            row.push(format!("{mark}{verdict}{line}"));
        }
        rows.push(row);
        count += 1;
        differing += u32::from(differs);
        remarks.extend(remarks_of(tested, index, url));
        if differs && !brief {
            reasons.push_str(&reasons_of(tested, index, url, &agent.name));
        }
    }
    let mut text = aligned(&rows);
    text.push_str(&reasons);
    if !remarks.is_empty() {
        text.push('\n');
        text.extend(remarks);
    }
    let against = tested.file.reference().reading.dialect().as_str();
    let verb = if differing == 1 { "differs" } else { "differ" };
    let of = if count == 1 { "answer" } else { "answers" };
    text.push_str(&format!(
        "\n{differing} of {count} {of} {verb} between dialects; ! marks a verdict other than that of {against}\n"
    ));
    text
}

/// The remarks about a URL, with the dialect where it takes bytes as they come.
fn remarks_of(tested: &Tested<'_>, index: usize, url: &[u8]) -> BTreeSet<String> {
    let of_column = |(column, answers): (&Column<'_>, &[Answer])| -> Vec<String> {
        let dialect = column.reading.dialect();
        let place = if *dialect == GOOGLE_LIB { format!("  {dialect}") } else { String::new() };
        let remark = |remark: &String| format!("{}{place}: {remark}\n", shown(url, false));
        answers[index].remarks.iter().map(remark).collect()
    };
    tested.columns().flat_map(of_column).collect()
}

/// The reasons of one row. Dialects with the same reasons are named together.
fn reasons_of(tested: &Tested<'_>, index: usize, url: &[u8], agent: &str) -> String {
    let (_, answers) = tested.reference();
    let (decided_here, expected) = (answers[index].line(), answers[index].explanation.verdict);
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for (column, answers) in tested.columns() {
        let answer = &answers[index];
        let mut lines = Vec::new();
        if !matches!(answer.why, Why::Fetch(_)) {
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
        // A different verdict may come from what this dialect makes of the deciding line, or of the whole file.
        let verdict = answer.explanation.verdict;
        let here = column
            .reading
            .diagnostics()
            .filter(|&(line, _)| verdict != expected && (line == 0 || (decided_here != 0 && line == decided_here)));
        for (line, kind) in here {
            let place = if line == 0 { "the file".into() } else { format!("line {line}") };
            lines.push(format!("{place}: {}", kind.describe()));
        }
        let words = format!("{verdict}\n      {}", lines.join("\n      "));
        let name = column.reading.dialect().as_str();
        match reasons.iter_mut().find(|(known, _)| *known == words) {
            Some((_, names)) => names.push(name),
            None => reasons.push((words, vec![name])),
        }
    }
    let mut text = format!("\n! {}  for {}\n", shown(url, false), shown(agent.as_bytes(), false));
    for (words, names) in reasons {
        text.push_str(&format!("   {}: {words}\n", names.join(", ")));
    }
    text
}

/// Rows in aligned columns, each as wide as its widest cell.
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
