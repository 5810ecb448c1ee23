//! `reptile lint`: finds mistakes in robots.txt files, line by line.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use reptile::lint::{
    Change, Code, Finding, Fix, FixOptions, Fixed, LintOptions, Linted, MAX_FINDINGS_PER_CODE, Severity, Unfixed,
    fix_with, lint_with,
};
use reptile::{Dialect, Scheme, dialects};
use serde::Serialize;

mod github;
mod sarif;

use crate::error::{Exit, Failure, Result, note};
use crate::failures::{Failures, KeepGoing};
use crate::inputs::FilesFrom;
use crate::options::{ArchiveOptions, dialects};
use crate::outputs::file::Output;
use crate::outputs::json::json_line;
use crate::outputs::progress::Progress;
use crate::outputs::summary::{Summary, grouped};
use crate::run::Run;
use crate::run::lineage::{FindingCounts, InputState, Lineage, OutputState, RowCounts};
use crate::run::metrics::MetricsOptions;
use crate::sets::report::{NonTextBodies, UNTRUSTED, untrusted_from};
use crate::url_list::refuse_url_list;
use reptile_records::bodies::decompress_and_detect;
use reptile_records::detect::{Content, ExpectedInput, detect};
use reptile_records::hosts::{Hosts, Naming, PathOwner, origins_of_option};
use reptile_records::open::Input;
use reptile_records::open::{read_input, read_robots};
use reptile_records::place::Place;
use reptile_records::text::printable;
use reptile_records::{Item, ReadOptions, Robots, read_bodies};

/// Find mistakes in robots.txt files
///
/// Prints the file, line, severity, kind and message of each finding, and a fix if there is
/// one. An error is a line that does not do what it says, or does more. A warning is a line
/// that some crawlers read differently, or that is probably a mistake. A note is a line that
/// could be shorter or clearer.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile lint robots.txt
  reptile lint robots/ --severity error
  reptile lint robots.tar.gz --json > findings.jsonl
  reptile lint robots.txt --fix
  reptile lint robots.txt --fix=changes --dialects google,bing
  reptile lint robots.txt --format sarif > lint.sarif
  reptile lint robots.txt --all
  reptile lint --list

A comment ignores findings: `# lint-ignore: CODE ...` at the end of a line for that line,
or alone for the next one; `# lint-ignore-file: CODE ...` for the whole file.

Exit code: 0 no errors; 1 errors were found, or with --keep-going a file could not be
read; 2 a file could not be read."
)]
pub struct Args {
    /// A robots.txt, a folder or archive of them under any names, JSON Lines or a WARC file; - is standard input
    #[arg(value_name = "FILE|DIR|TAR", required_unless_present_any = ["list", "files_from"])]
    inputs: Vec<Place>,
    #[command(flatten)]
    files_from: FilesFrom,
    /// The dialect: how the files are interpreted [default: google]
    #[arg(long, value_name = "NAME", value_parser = dialects())]
    dialect: Option<&'static Dialect>,
    /// The output format: `github` for GitHub Actions annotations, `sarif` for code scanning
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: LintFormat,
    /// Print a JSON object for each finding: the same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Apply fixes that are proved to change no verdict; print them, then the other findings
    ///
    /// A fix is applied if no verdict changes for any crawler and any path in any dialect of
    /// --dialects: by default the current ones; --dialects names others, such as yandex-2017. The
    /// other findings state why they are not fixed. With --fix=changes, mistakes such as a
    /// misspelled key are corrected too, and each change is printed with a shortest path that it
    /// opens or closes. A rule with a URL is fixed only if the URL has the file's own host: the
    /// host of --host, or the host in the file name.
    #[arg(
        long,
        verbatim_doc_comment,
        value_name = "WHICH",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "proved"
    )]
    fix: Option<Fixes>,
    /// The dialects in which --fix changes no verdict; --dialect is one of them [default: all current ones, see `reptile dialects`]
    #[arg(long, value_name = "A,B,...", value_parser = dialects(), value_delimiter = ',', requires = "fix")]
    dialects: Vec<&'static Dialect>,
    /// The host of the files [default: the host in the file name, or none]
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// Print every kind of finding
    #[arg(long, exclusive = true)]
    list: bool,
    /// Also report a kind of finding that is off by default; can be repeated
    #[arg(long, value_name = "KIND", value_parser = kinds_off_by_default())]
    enable: Vec<Code>,
    /// Also report all kinds that are off by default
    #[arg(long)]
    all: bool,
    /// The lowest severity shown and counted
    #[arg(long, value_name = "LEVEL", default_value = "note", value_parser = severities())]
    severity: Severity,
    /// Maximum number of findings of one kind shown for each file; all are counted
    #[arg(long, value_name = "N", default_value_t = MAX_FINDINGS_PER_CODE)]
    max_findings: u32,
    /// Exit with 1 if a file is not text; for example, a web page or an image
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    keep_going: KeepGoing,
    #[command(flatten)]
    archives: ArchiveOptions,
    #[command(flatten)]
    pub metrics: MetricsOptions,
}

/// Which fixes are applied.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Fixes {
    /// Fixes that are proved to change no verdict.
    Proved,
    /// Also repairs that change verdicts.
    Changes,
}

/// How findings are printed.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum LintFormat {
    Text,
    Json,
    Github,
    Sarif,
}

impl Args {
    /// Returns the kinds that are off by default but enabled.
    fn enabled(&self) -> Vec<Code> {
        if !self.all {
            return self.enable.clone();
        }
        Code::ALL.iter().copied().filter(|code| code.is_off_by_default()).collect()
    }
}

fn severities() -> impl TypedValueParser<Value = Severity> {
    PossibleValuesParser::new(Severity::ALL.map(Severity::as_str))
        .try_map(|name| Severity::ALL.into_iter().find(|severity| severity.as_str() == name).ok_or("no such severity"))
}

fn kinds_off_by_default() -> impl TypedValueParser<Value = Code> {
    let names = Code::ALL.iter().filter(|code| code.is_off_by_default()).map(|code| code.as_str());
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Code>())
}

/// A finding as it is printed with `--json`.
#[derive(Serialize)]
struct FindingJson<'f> {
    file: &'f str,
    line: u32,
    severity: &'static str,
    code: &'static str,
    message: &'f str,
    fix: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_fixed: Option<String>,
}

/// The findings so far, counted by kind.
struct Report<'a> {
    args: &'a Args,
    format: LintFormat,
    dialect: &'static Dialect,
    /// The host of `--host`.
    host: Option<Vec<u8>>,
    output: BufWriter<Output>,
    /// Number of findings per kind.
    counts: BTreeMap<(Reverse<Severity>, Code), u64>,
    /// Number of files with findings, per kind.
    files_with: BTreeMap<(Reverse<Severity>, Code), u64>,
    files: u64,
    /// Number of findings per kind that is off by default.
    withheld: BTreeMap<Code, u64>,
    /// Whether a finding was printed.
    has_results: bool,
    /// Bodies that are not text.
    non_text: NonTextBodies,
    /// Number of records in damaged archives that were found by a search, or follow such a record.
    untrusted: u64,
    /// Whether some files could not be read.
    is_partial: bool,
    progress: Progress,
}

/// Runs the command.
///
/// # Errors
/// Returns an error if an input cannot be read, or the output cannot be written.
pub fn run(args: &Args, run: &Run) -> Result<Exit> {
    if args.list {
        return list();
    }
    let inputs = args.files_from.expand(&args.inputs)?;
    let output = Output::stdout();
    // Findings on the same terminal already show progress.
    let progress = if output.is_terminal() { Progress::hidden() } else { Progress::of("files", None) };
    let mut report = Report {
        args,
        format: if args.json { LintFormat::Json } else { args.format },
        dialect: args.dialect.unwrap_or(dialects::DEFAULT),
        host: args.host.as_deref().map(given_host).transpose()?,
        output: BufWriter::new(output),
        counts: BTreeMap::new(),
        files_with: BTreeMap::new(),
        files: 0,
        withheld: BTreeMap::new(),
        has_results: false,
        non_text: NonTextBodies::default(),
        untrusted: 0,
        is_partial: false,
        progress,
    };
    run.check_metrics_path(inputs.iter(), [])?;
    let states: Vec<InputState> = inputs.iter().map(InputState::of).collect();
    report.begin()?;
    let mut failures = Failures::new(args.keep_going);
    for path in &inputs {
        let checked = report.input(path);
        failures.keep(path, checked)?;
    }
    let finished = report.finish(states, run);
    failures.close(run, inputs.len(), finished)
}

impl Report<'_> {
    /// Checks, and with `--fix` fixes, every file in an input.
    fn input(&mut self, path: &Place) -> Result<()> {
        if let Some(fixes) = self.args.fix {
            return self.fix(path, fixes);
        }
        let input = Input::open(path)?.prefer_robots()?;
        match input.content {
            _ if input.is_collection() => {
                let options = ReadOptions {
                    resync: self.args.archives.resync,
                    skip_unreadable: self.args.keep_going.keep_going,
                    ..ReadOptions::default()
                };
                read_bodies(input, &options, &mut |item| Ok(self.item(item)?))?;
            }
            Content::Set | Content::Zip | Content::Arc | Content::CrawlLog => {
                return Err(input.refused(ExpectedInput::Robots).into());
            }
            _ if input.rows_in_text().is_some() => return Err(input.refused(ExpectedInput::Robots).into()),
            _ => {
                let (name, body) = (path.display().to_string(), read_input(input)?);
                refuse_url_list(path, &body, || "expected a robots.txt".into())?;
                self.non_text.add(&name, detect(&body));
                self.file(&name, None, &body, &[])?;
            }
        }
        Ok(())
    }

    /// Checks an item of an input, if it is a robots.txt.
    fn item(&mut self, item: Item) -> Result<()> {
        match item {
            // An error page's body is never a robots.txt.
            Item::Robots(Robots { name, origins, capture, body: Some(body), .. })
                if capture.status.is_none_or(|status| status / 100 == 2) =>
            {
                match decompress_and_detect(body) {
                    Ok((body, content)) => {
                        self.non_text.add(&name, content);
                        self.file(&name, origins.first().map(|origin| &origin.host[..]), &body, &[])?;
                    }
                    Err(fault) => self.item(fault.item(name)?)?,
                }
            }
            // Checked once, under the first name.
            Item::SameBody { body, robots } => {
                if let Some(first) = robots.into_iter().next() {
                    self.item(Item::Robots(Robots { body: Some(body), ..first }))?;
                }
            }
            Item::Bad { name, reason, detail } => {
                self.is_partial = true;
                note(format!("{name}: {reason}: {detail}"));
            }
            Item::Untrusted { from } => {
                self.untrusted += 1;
                if let Some(record) = from {
                    note(untrusted_from(&record));
                }
            }
            Item::Remark { reason, name } => note(format!("{name}: {reason}")),
            Item::Robots(_) | Item::LeftOut { .. } | Item::Lines { .. } | Item::Names(_) => {}
        }
        Ok(())
    }

    /// Checks a robots.txt, with its host if known. Prints the findings, and why some are not fixed.
    fn file(&mut self, name: &str, host: Option<&[u8]>, body: &[u8], unfixed: &[Unfixed]) -> Result<()> {
        self.files += 1;
        self.progress.add(1);
        let host = self.host.clone().or_else(|| host.map(<[u8]>::to_vec)).or_else(|| host_of(name));
        let name = printable(name.as_bytes());
        let options = LintOptions { max_per_code: self.args.max_findings, host, enabled: self.args.enabled() };
        let Linted { findings, counts, withheld, .. } = lint_with(body, self.dialect, &options);
        for (code, count) in withheld {
            *self.withheld.entry(code).or_default() += count;
        }
        for ((severity, code), count) in counts.into_iter().filter(|((severity, _), _)| *severity >= self.args.severity)
        {
            *self.counts.entry((Reverse(severity), code)).or_default() += count;
            *self.files_with.entry((Reverse(severity), code)).or_default() += 1;
        }
        for finding in findings.into_iter().filter(|finding| finding.severity >= self.args.severity) {
            let reason = unfixed.iter().find(|unfixed| (unfixed.line, unfixed.code) == (finding.line, finding.code));
            let not_fixed = reason.map(reason_of);
            let text = match self.format {
                LintFormat::Text => text_of(&name, &finding, not_fixed.as_deref()),
                LintFormat::Json => {
                    let Finding { line, code, message, fix, .. } = &finding;
                    let (severity, code) = (finding.severity.as_str(), code.as_str());
                    let fix = fix.as_ref().map(Fix::to_string);
                    json_line(&FindingJson { file: &name, line: *line, severity, code, message, fix, not_fixed })?
                }
                LintFormat::Github => github::annotation(&name, &finding, not_fixed.as_deref()),
                LintFormat::Sarif => sarif::result(&name, &finding, not_fixed.as_deref(), &mut self.has_results)?,
            };
            self.write(&text)?;
        }
        Ok(())
    }

    /// Fixes a file in place, prints the changes, and checks the result.
    fn fix(&mut self, input: &Place, fixes: Fixes) -> Result<()> {
        let Some(file) = input.local().filter(|file| file.is_file()) else {
            return Err(Failure::at(input, "--fix requires a file name"));
        };
        let body = read_robots(input)?;
        if std::fs::read(file).map_err(|error| Failure::at(input, error))? != body {
            return Err(Failure::at(input, "--fix cannot change compressed files"));
        }
        let host = self.host.clone().or_else(|| host_of(&input.display().to_string()));
        let mut options =
            FixOptions { least: self.args.severity, host, changes: fixes == Fixes::Changes, ..FixOptions::default() };
        if !self.args.dialects.is_empty() {
            options.dialects.clone_from(&self.args.dialects);
        }
        let Fixed { body: fixed, changes, unfixed } = fix_with(&body, self.dialect, &options);
        if fixed != body {
            let mut output = Output::create_file(input, true)?;
            let written = output.write_all(&fixed);
            written.map_err(|error| output.failure(&error))?;
            output.finish()?;
        }
        let name = input.display().to_string();
        for change in changes {
            note(format!("{name}:{}: fixed[{}]: {}", change.line, change.code, text_of_change(&change)));
        }
        self.file(&name, None, &fixed, &unfixed)
    }

    fn write(&mut self, text: &str) -> Result<()> {
        self.output.write_all(text.as_bytes()).map_err(|error| self.output.get_ref().failure(&error))
    }

    /// Prints the text before the findings.
    fn begin(&mut self) -> Result<()> {
        if self.format == LintFormat::Sarif { self.write(&sarif::start()?) } else { Ok(()) }
    }

    /// Prints the counts, and adds them to the record of the run.
    fn finish(mut self, inputs: Vec<InputState>, run: &Run) -> Result<Exit> {
        if self.format == LintFormat::Sarif {
            self.write(sarif::END)?;
        }
        let Report {
            args,
            mut output,
            counts,
            files_with,
            files,
            non_text,
            untrusted,
            is_partial,
            withheld,
            progress,
            ..
        } = self;
        drop(progress);
        output.flush().map_err(|error| output.get_ref().failure(&error))?;
        let mut summary = Summary::default();
        summary.count("files", files);
        non_text.describe(&mut summary);
        if untrusted > 0 {
            summary.count(format!("  {UNTRUSTED}"), untrusted);
        }
        for (key @ (severity, code), &count) in &counts {
            let files = match files_with.get(key) {
                Some(1) | None => "in 1 file".into(),
                Some(&files) => format!("in {} files", grouped(files)),
            };
            summary.row(format!("{}[{code}]", severity.0), format!("{} {files}", grouped(count)));
        }
        summary.print();
        // Findings that are off by default are notes.
        if !withheld.is_empty() && args.severity == Severity::Note {
            note(text_of_withheld(&withheld));
        }
        let findings = counts.iter().map(|(key @ (severity, code), &count)| FindingCounts {
            severity: severity.0.as_str().into(),
            code: code.as_str().into(),
            count,
            files: files_with.get(key).copied().unwrap_or_default(),
        });
        run.add(Lineage {
            inputs,
            rows: RowCounts { read: Some(files), ..RowCounts::default() },
            findings: findings.collect(),
            outputs: vec![OutputState::new(&Place::standard(), None)],
            ..run.lineage()
        });
        if is_partial && !args.keep_going.keep_going {
            return Err(Failure::new("some files could not be read; see above"));
        }
        let is_non_text = args.strict && non_text.any();
        Ok(Exit::from_bad(
            is_partial || is_non_text || counts.keys().any(|(severity, _)| severity.0 == Severity::Error),
        ))
    }
}

/// Returns the host of `--host`.
///
/// # Errors
/// Returns an error if the host is invalid.
fn given_host(text: &str) -> Result<Vec<u8>> {
    let naming = Naming::Hosts(vec![Scheme::Https]);
    let origins = origins_of_option(text, &naming).map_err(|error| Failure::new(format!("--host {text}: {error}")))?;
    Ok(origins.into_iter().next().map(|origin| origin.host.to_vec()).unwrap_or_default())
}

/// Returns the host that a file is named after, as `compile` reads names. A name without a dot is not conclusive.
fn host_of(path: &str) -> Option<Vec<u8>> {
    match Hosts::default().of(path.as_bytes(), &Naming::Hosts(vec![Scheme::Https])) {
        Ok(PathOwner::Origins(origins) | PathOwner::Capture(origins, _)) => {
            origins.first().map(|origin| origin.host.to_vec()).filter(|host| host.contains(&b'.'))
        }
        Ok(PathOwner::NotRobots(_)) | Err(_) => None,
    }
}

/// Returns a finding as text for people, with the reason if it is not fixed.
fn text_of(name: &str, finding: &Finding, not_fixed: Option<&str>) -> String {
    let Finding { line, severity, code, message, fix } = finding;
    let fix = fix.as_ref().map(|fix| format!("    fix: {fix}\n")).unwrap_or_default();
    let not_fixed = not_fixed.map(|reason| format!("    not fixed: {reason}\n")).unwrap_or_default();
    format!("{name}:{line}: {severity}[{code}]: {message}\n{fix}{not_fixed}")
}

/// Returns the reason that a finding is not fixed.
fn reason_of(unfixed: &Unfixed) -> String {
    let hint = if unfixed.reason.is_change() { "; --fix=changes applies it" } else { "" };
    format!("{}{hint}", unfixed.reason)
}

/// Returns a line before and after its fix, and the changed verdicts.
fn text_of_change(change: &Change) -> String {
    let after = change.after.as_ref().map_or_else(|| "removed".into(), |after| format!("now \"{after}\""));
    let effects: Vec<String> = change.effects.iter().map(ToString::to_string).collect();
    let verdicts = match &effects[..] {
        _ if change.keeps_verdicts => String::new(),
        [] => "; statements about uses change".into(),
        effects => format!("; verdicts change: {}", effects.join("; ")),
    };
    format!("\"{}\" {after}{verdicts}", change.before)
}

/// Returns the count of the findings that are off by default, with their first kinds.
fn text_of_withheld(withheld: &BTreeMap<Code, u64>) -> String {
    const SHOWN: usize = 3;
    let kinds: Vec<&str> = withheld.keys().map(|code| code.as_str()).take(SHOWN).collect();
    let more = if withheld.len() > kinds.len() { ", ..." } else { "" };
    format!("{} more with --all: {}{more}", grouped(withheld.values().sum()), kinds.join(", "))
}

/// Prints every kind of finding.
fn list() -> Result<Exit> {
    let mut output = BufWriter::new(Output::stdout());
    let widest = Code::ALL.iter().map(|code| code.as_str().len()).max().unwrap_or_default();
    for code in Code::ALL {
        let written = writeln!(output, "{code:widest$}  {}", code.describe());
        written.map_err(|error| output.get_ref().failure(&error))?;
    }
    output.flush().map_err(|error| output.get_ref().failure(&error))?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_that_are_off_by_default_are_named_up_to_three() {
        let all = [(Code::Html, 1_000), (Code::NonAscii, 2), (Code::NulByte, 3), (Code::Utf16, 4)];
        for (kinds, text) in [
            (1, "1,000 more with --all: html"),
            (2, "1,002 more with --all: html, non-ascii"),
            (3, "1,005 more with --all: html, non-ascii, nul-byte"),
            (4, "1,009 more with --all: html, non-ascii, nul-byte, ..."),
        ] {
            assert_eq!(text_of_withheld(&all.into_iter().take(kinds).collect()), text);
        }
    }
}
