//! `reptile compile`: from inputs to a set file.

use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::time::Instant;

use reptile_engine::automaton::Ruleset;
use reptile_engine::format::FormatError;
use reptile_engine::set::Set;

use crate::error::{Failure, Outcome, Result};
use crate::inputs::assemble::{Report, assemble};
use crate::inputs::load::{damaged, has_label};
use crate::inputs::{CompileOptions, Kind};
use crate::outputs::file::Output;
use crate::outputs::summary::{Summary, grouped, seconds};

/// Compile robots.txt files into a set
///
/// An INPUT is one of
///   a directory     every file below it is a robots.txt; the first part of its
///                   path is the host: DIR/example.com, DIR/example.com:8080,
///                   DIR/example.com/robots.txt
///   .tar, .tar.gz   the same in an archive
///   .jsonl          a record a line; also .ndjson, and .gz of both
///   a single file   with --host
///
/// A record has the "url" that was asked for first, and of the last answer "status",
/// "body" and "headers" (an object: Cache-Control and Content-Type matter); "time"
/// (2026-03-14T15:09:26Z, or seconds since 1970); "redirects" (how many were
/// followed, or a list of them); "truncated" (true, or why: "length", "time",
/// "disconnect", "unspecified"); "error" (a text, if there was no answer). All but
/// "url" may be left out. --profile says what they mean.
///
/// Where several captures are for one origin the profile chooses among them, by their
/// times and not by their order. One without a time is older than any with one. Of
/// two at the same time one counts, always the same. Hidden files are left out. The
/// set gets its name when it is whole and checked.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile compile -o web.reptile robots/
  reptile compile --force -o web.reptile fetched-1.jsonl.gz fetched-2.jsonl.gz
  reptile compile --host example.com -o one.reptile robots.txt

Exit code: 0 done, 1 some files were bad and left out, 2 no set written."
)]
pub struct Args {
    /// What to compile
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// The set file to write
    #[arg(short, long, value_name = "SET")]
    output: PathBuf,
    /// Replace the set file if there is one
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    options: CompileOptions,
    #[command(flatten)]
    threads: crate::Threads,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome> {
    let start = Instant::now();
    args.threads.apply()?;
    for path in &args.inputs {
        if Kind::of(path)? != Kind::Directory && has_label(path) {
            return Err(Failure::at(path, "is a compiled set already"));
        }
    }
    let output = Output::create_file(&args.output, args.force)?;
    let (set, report) = assemble(&args.inputs, &args.options)?;
    let mut writer = BufWriter::new(output);
    let written = set.write(&mut writer).and_then(|()| writer.flush());
    // Taken apart, not unwrapped: after an error the rest must not be written again.
    let (output, _) = writer.into_parts();
    written.map_err(|error| output.failure(&error))?;

    let mut summary = Summary::default();
    output.finish(|path| {
        let set = Set::open(path).map_err(|error| Failure::at(path, error))?;
        set.verify().map_err(|error| damaged(path, &error))?;
        describe(&set, &report, &mut summary).map_err(|error| damaged(path, &error))?;
        let bytes = std::fs::metadata(path).map_err(|error| Failure::at(path, error))?.len();
        summary.row("bytes", format!("{} in, {} in the set", grouped(report.bytes), grouped(bytes)));
        Ok(())
    })?;
    report.name_discarded();
    report.note_future();
    summary.row("time", seconds(start.elapsed()));
    summary.print();
    Ok(Outcome::from_bad(report.any_bad()))
}

/// Says what went in and what came out.
fn describe<D: AsRef<[u8]>>(
    set: &Set<D>,
    report: &Report,
    summary: &mut Summary,
) -> std::result::Result<(), FormatError> {
    report.describe_inputs(summary);
    summary.count("origins", set.origin_count());
    report.describe_captures(summary);
    summary.count("agents named", set.tokens().count()?.into());
    summary.count("policies", set.policy_count()?.into());
    describe_rulesets(set, summary)?;
    summary.count("rules as written", report.rules);
    report.describe_diagnostics(summary);
    Ok(())
}

/// Says how many rulesets there are of which shape.
pub fn describe_rulesets<D: AsRef<[u8]>>(set: &Set<D>, summary: &mut Summary) -> std::result::Result<(), FormatError> {
    let rulesets = set.rulesets();
    let (mut plain, mut starred, mut listed) = (0, 0, 0);
    for number in 0..rulesets.len() {
        let shape = Ruleset::new(rulesets.get(number)?)?.shape();
        match (shape.fallbacks, shape.wildcards) {
            (true, _) => listed += 1,
            (false, 0) => plain += 1,
            (false, _) => starred += 1,
        }
    }
    summary.count("distinct rulesets", rulesets.len().into());
    summary.count("  trie only", plain);
    summary.count("  with wildcards", starred);
    summary.count("  with fallback patterns", listed);
    Ok(())
}
