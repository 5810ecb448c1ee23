//! `reptile-judge report`: turns the records of a run into a report in Markdown and HTML, with plots and CSV files. It
//! only uses the records, so a report can be regenerated.

pub mod chart;
mod document;
mod figures;
mod tables;

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use crate::engine::Sample;
use crate::records::{self, Speed};

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
    files.extend(tables_of_values(&records)?);
    for (file, text) in &files {
        std::fs::write(folder.join(file), text).map_err(|error| format!("{file}: {error}"))?;
    }
    Ok(files.into_iter().map(|(file, _)| file).collect())
}

/// Returns the raw figures as CSV files: names and contents.
fn tables_of_values(records: &Records) -> Result<Vec<(String, String)>, String> {
    let samples =
        records.speeds.iter().flat_map(|speed| speed.samples.iter().map(move |sample| SpeedSample { speed, sample }));
    Ok(vec![
        csv_file(
            "samples.csv",
            "engine,model,input,round,units,ns,passes,disallowed,wall_ns,right,checked,void",
            samples,
        )?,
        csv_file(
            "medians.csv",
            "engine,model,input,ns,least_ns,most_ns,rounds,void_rounds,units,right,dialect",
            figures(&records.speeds),
        )?,
        csv_file(
            "verdicts.csv",
            "engine,corpus,tag,dialect,rows,right,wrong,unsupported,failed,lines,lines_right",
            &records.scores,
        )?,
        csv_file("pairs.csv", "a,b,corpus,rows,differ", &records.pairs)?,
        csv_file("hostile.csv", "engine,file,verdicts,bytes,ns,right,known,why", &records.hostile)?,
        csv_file("memory.csv", "engine,input,files,bytes,refused,before,after,peak", &records.memory)?,
    ])
}

/// A sample with the measurement that contains it.
#[derive(Serialize)]
struct SpeedSample<'r> {
    #[serde(flatten)]
    speed: &'r Speed,
    #[serde(flatten)]
    sample: &'r Sample,
}

/// Returns a CSV file with a line for each record. The columns are the names of its fields.
fn csv_file(
    name: &str,
    columns: &str,
    records: impl IntoIterator<Item = impl Serialize>,
) -> Result<(String, String), String> {
    let mut text = format!("{columns}\n");
    for record in records {
        let fields = serde_json::to_value(record).map_err(|error| format!("{name}: {error}"))?;
        let cell = |column| match &fields[column] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            number => number.to_string(),
        };
        text.push_str(&csv_line(&columns.split(',').map(cell).collect::<Vec<_>>()));
    }
    Ok((name.to_owned(), text))
}
