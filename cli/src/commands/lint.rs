//! `reptile lint`: finds mistakes in robots.txt files, line by line.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use reptile_compiler::advice::lint::{Code, Linted, MAX_FINDINGS_PER_CODE, Severity, lint};
use reptile_compiler::dialect::{self, Dialect};
use serde::Serialize;

use crate::error::{Exit, Failure, Result, note};
use crate::inputs::bodies::{read_input, settle};
use crate::inputs::open::Input;
use crate::inputs::options::dialects;
use crate::inputs::recognise::{Content, Wanted};
use crate::inputs::sets::report::Strange;
use crate::inputs::{Item, Robots, read_bodies};
use crate::outputs::file::Output;
use crate::outputs::json::json_line;
use crate::outputs::summary::{Summary, grouped};
use crate::outputs::text::printable;

/// Find mistakes in robots.txt files
///
/// Prints file, line, severity and kind of each finding, what is wrong, and a fix where
/// there is one. An error is a line that does not do what it says, or does more; a
/// warning, one that some crawlers read differently or that most likely is a mistake; a
/// note, one that could be shorter or plainer.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile lint robots.txt
  reptile lint robots/ --severity error
  reptile lint robots.tar.gz --json > findings.jsonl

Exit code: 0 no errors; 1 errors were found; 2 a file could not be read."
)]
pub struct Args {
    /// A robots.txt, a folder or archive of them under any names, or JSON Lines; - is standard input
    #[arg(value_name = "FILE|DIR|TAR", required = true)]
    inputs: Vec<PathBuf>,
    /// The dialect: which reading of the protocol the files are given [default: google]
    #[arg(long, value_name = "NAME", value_parser = dialects())]
    dialect: Option<&'static Dialect>,
    /// Print a JSON object for each finding
    #[arg(long)]
    json: bool,
    /// The least severity that is shown and counted
    #[arg(long, value_name = "LEVEL", default_value = "note", value_parser = severities())]
    severity: Severity,
    /// The greatest number of findings of one kind that are shown for each file; all are counted
    #[arg(long, value_name = "N", default_value_t = MAX_FINDINGS_PER_CODE)]
    max_findings: u32,
    /// Exit with 1 if a file is no text, such as a page or a picture
    #[arg(long)]
    strict: bool,
}

fn severities() -> impl TypedValueParser<Value = Severity> {
    PossibleValuesParser::new(Severity::ALL.map(Severity::as_str))
        .try_map(|name| Severity::ALL.into_iter().find(|severity| severity.as_str() == name).ok_or("no such severity"))
}

/// A finding as it is printed with `--json`.
#[derive(Serialize)]
struct FindingJson<'f> {
    file: &'f str,
    line: u32,
    severity: &'static str,
    code: &'static str,
    message: &'f str,
    fix: Option<&'f str>,
}

/// The findings so far, counted by kind.
struct Report<'a> {
    args: &'a Args,
    dialect: &'static Dialect,
    output: BufWriter<Output>,
    /// The number of findings of each kind.
    counts: BTreeMap<(Reverse<Severity>, Code), u64>,
    /// The number of files with findings of each kind.
    files_with: BTreeMap<(Reverse<Severity>, Code), u64>,
    files: u64,
    /// Bodies that are no text.
    strange: Strange,
    /// Whether some files could not be read.
    is_partial: bool,
}

/// Runs the command.
///
/// # Errors
/// If an input cannot be read, or the output cannot be written.
pub fn run(args: &Args) -> Result<Exit> {
    let mut report = Report {
        args,
        dialect: args.dialect.unwrap_or(dialect::DEFAULT),
        output: BufWriter::new(Output::stdout()),
        counts: BTreeMap::new(),
        files_with: BTreeMap::new(),
        files: 0,
        strange: Strange::default(),
        is_partial: false,
    };
    for path in &args.inputs {
        let input = Input::open(path)?;
        match input.content {
            Content::Folder | Content::Tar | Content::Json => read_bodies(input, &mut |item| report.item(item))?,
            Content::Set | Content::Zip | Content::Warc => return Err(input.refused(Wanted::Robots)),
            content => {
                let name = path.display().to_string();
                report.strange.add(&name, content);
                report.file(&name, &read_input(input)?)?;
            }
        }
    }
    report.finish()
}

impl Report<'_> {
    /// Checks an item of an input, if it is a robots.txt.
    fn item(&mut self, item: Item) -> Result<()> {
        match item {
            // The body of an error page is not a robots.txt, whatever it holds.
            Item::Robots(Robots { name, capture, body: Some(body), .. })
                if capture.status.is_none_or(|status| status / 100 == 2) =>
            {
                match settle(body) {
                    Ok((body, content)) => {
                        self.strange.add(&name, content);
                        self.file(&name, &body)?;
                    }
                    Err(fault) => self.item(fault.item(name)?)?,
                }
            }
            Item::Bad { name, reason, detail } => {
                self.is_partial = true;
                note(format!("{name}: {reason}: {detail}"));
            }
            Item::Robots(_) | Item::LeftOut { .. } => {}
        }
        Ok(())
    }

    /// Checks a robots.txt, and prints the findings.
    fn file(&mut self, name: &str, body: &[u8]) -> Result<()> {
        self.files += 1;
        let name = printable(name.as_bytes());
        let Linted { findings, counts } = lint(body, self.dialect, self.args.max_findings);
        for ((severity, code), count) in counts.into_iter().filter(|((severity, _), _)| *severity >= self.args.severity)
        {
            *self.counts.entry((Reverse(severity), code)).or_default() += count;
            *self.files_with.entry((Reverse(severity), code)).or_default() += 1;
        }
        for finding in findings.into_iter().filter(|finding| finding.severity >= self.args.severity) {
            let (line, severity, code) = (finding.line, finding.severity.as_str(), finding.code.as_str());
            let text = if self.args.json {
                let (message, fix) = (&*finding.message, finding.fix.as_deref());
                let finding = FindingJson { file: &name, line, severity, code, message, fix };
                json_line(&finding)?
            } else {
                let fix = finding.fix.map(|fix| format!("    fix: {fix}\n")).unwrap_or_default();
                format!("{name}:{line}: {severity}[{code}]: {}\n{fix}", finding.message)
            };
            let written = self.output.write_all(text.as_bytes());
            written.map_err(|error| self.output.get_ref().failure(&error))?;
        }
        Ok(())
    }

    /// Prints the counts.
    fn finish(self) -> Result<Exit> {
        let Report { args, mut output, counts, files_with, files, strange, is_partial, .. } = self;
        output.flush().map_err(|error| output.get_ref().failure(&error))?;
        let mut summary = Summary::default();
        summary.count("files", files);
        strange.describe(&mut summary);
        for (key @ (severity, code), &count) in &counts {
            let files = match files_with.get(key) {
                Some(1) | None => "in 1 file".into(),
                Some(&files) => format!("in {} files", grouped(files)),
            };
            summary.row(format!("{}[{code}]", severity.0), format!("{} {files}", grouped(count)));
        }
        summary.print();
        if is_partial {
            return Err(Failure::new("some files could not be read; they are named above"));
        }
        let is_strange = args.strict && strange.any();
        Ok(Exit::from_bad(is_strange || counts.keys().any(|(severity, _)| severity.0 == Severity::Error)))
    }
}
