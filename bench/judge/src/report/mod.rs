//! `reptile-judge report`: turns the records of a run into a report in Markdown and HTML, with plots and CSV files. It
//! only uses the records, so a report can be regenerated.

mod document;
mod figures;
mod tables;

use std::path::Path;

use crate::records;

use self::document::{Block, csv_line, html, markdown};
use self::figures::{Records, figures};

/// Writes the report of a run to the folder that contains its records. Returns the file names.
///
/// # Errors
/// Returns an error if the records cannot be read or a file cannot be written.
pub fn write(folder: &Path) -> Result<Vec<String>, String> {
    let records = Records::new(records::read(folder)?)?;
    let title = format!("robots.txt implementations, measured on {}", records.run.started);
    let blocks = tables::page(&title, &records);
    let mut files =
        vec![("report.md".to_owned(), markdown(&blocks)), ("report.html".to_owned(), html(&title, &blocks))];
    for block in &blocks {
        if let Block::Plot(file, _, svg) = block {
            files.push((file.clone(), svg.clone()));
        }
    }
    files.extend(tables_of_values(&records));
    for (file, text) in &files {
        std::fs::write(folder.join(file), text).map_err(|error| format!("{file}: {error}"))?;
    }
    Ok(files.into_iter().map(|(file, _)| file).collect())
}

/// Returns the raw figures as CSV files: names and contents.
fn tables_of_values(records: &Records) -> Vec<(String, String)> {
    let table = |name: &str, head: &[&str], rows: Vec<Vec<String>>| {
        let head: Vec<String> = head.iter().map(|&cell| cell.to_owned()).collect();
        (name.to_owned(), std::iter::once(&head).chain(&rows).map(|row| csv_line(row)).collect::<String>())
    };
    let speeds = records.speeds.iter().flat_map(|speed| {
        speed.samples.iter().map(|sample| {
            let numbers =
                [speed.round as u64, speed.units as u64, sample.ns, sample.passes, sample.disallowed, speed.wall_ns];
            let mut row = vec![speed.engine.clone(), speed.model.clone(), speed.input.clone()];
            row.extend(numbers.map(|number| number.to_string()));
            row.extend([speed.right.to_string(), speed.checked.to_string(), speed.void.clone().unwrap_or_default()]);
            row
        })
    });
    let medians = figures(&records.speeds).into_iter().map(|figure| {
        let ns = figure.ns.map_or(String::new(), |ns| format!("{ns:.2}"));
        let (least, most) = (format!("{:.2}", figure.range.0), format!("{:.2}", figure.range.1));
        let numbers = [figure.rounds, figure.voids, figure.units].map(|number| number.to_string());
        let mut row = vec![figure.engine, figure.model, figure.input, ns, least, most];
        row.extend(numbers);
        row.extend([format!("{:.6}", figure.right), figure.dialect]);
        row
    });
    let scores = records.scores.iter().map(|score| {
        let numbers =
            [score.rows, score.right, score.wrong, score.unsupported, score.failed, score.lines, score.lines_right];
        let mut row = vec![score.engine.clone(), score.corpus.clone(), score.tag.clone(), score.dialect.clone()];
        row.extend(numbers.map(|number| number.to_string()));
        row
    });
    let pairs = records.pairs.iter().map(|pair| {
        vec![pair.a.clone(), pair.b.clone(), pair.corpus.clone(), pair.rows.to_string(), pair.differ.to_string()]
    });
    let hostile = records.hostile.iter().map(|hostile| {
        let numbers = [hostile.bytes as u64, hostile.ns, hostile.right as u64, hostile.known as u64];
        let mut row = vec![hostile.engine.clone(), hostile.file.clone(), hostile.verdicts.clone()];
        row.extend(numbers.map(|number| number.to_string()));
        row.push(hostile.why.clone().unwrap_or_default());
        row
    });
    let memory = records.memory.iter().map(|memory| {
        let numbers = [memory.files as u64, memory.bytes as u64, memory.refused as u64, memory.before, memory.after];
        let mut row = vec![memory.engine.clone(), memory.input.clone()];
        row.extend(numbers.map(|number| number.to_string()));
        row.push(memory.peak.to_string());
        row
    });
    let speed_head = [
        "engine",
        "model",
        "input",
        "round",
        "units",
        "ns",
        "passes",
        "disallowed",
        "wall_ns",
        "right",
        "checked",
        "void",
    ];
    let median_head =
        ["engine", "model", "input", "ns", "least_ns", "most_ns", "rounds", "void_rounds", "units", "right", "dialect"];
    let score_head = [
        "engine",
        "corpus",
        "tag",
        "dialect",
        "rows",
        "right",
        "wrong",
        "unsupported",
        "failed",
        "lines",
        "lines_right",
    ];
    let memory_head = ["engine", "input", "files", "bytes", "refused", "before", "after", "peak"];
    vec![
        table("samples.csv", &speed_head, speeds.collect()),
        table("medians.csv", &median_head, medians.collect()),
        table("verdicts.csv", &score_head, scores.collect()),
        table("pairs.csv", &["a", "b", "corpus", "rows", "differ"], pairs.collect()),
        table(
            "hostile.csv",
            &["engine", "file", "verdicts", "bytes", "ns", "right", "known", "why"],
            hostile.collect(),
        ),
        table("memory.csv", &memory_head, memory.collect()),
    ]
}
