//! `reptile dialects`: the dialects, one per line.

use std::fmt::Write;

use reptile::{Profile, dialects};

use crate::error::{Exit, Result};
use crate::outputs::file::print;

/// List the dialects: the interpretations of the protocol for --dialect
///
/// Dialects that are not historical are current: `lint --fix` keeps verdicts in all of them.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile dialects
  reptile test robots.txt --agent MyBot --all-dialects /private

Exit code: 0."
)]
pub struct Args {}

/// Runs the command.
///
/// # Errors
/// Returns an error if standard output cannot be written.
pub fn run(_: &Args) -> Result<Exit> {
    let mut text = String::new();
    let _ = writeln!(text, "{:<16}{:<17}what it is", "dialect", "fetch profile");
    for dialect in dialects::ALL {
        let mark = match dialect {
            _ if dialect.name == dialects::DEFAULT.name => " (the default)",
            _ if dialects::CURRENT.iter().all(|current| current.name != dialect.name) => " (historical)",
            _ => "",
        };
        let profile = Profile::of_dialect(dialect).as_str();
        let _ = writeln!(text, "{:<16}{profile:<17}{}{mark}", dialect.as_str(), dialects::meaning(dialect));
    }
    print(text)?;
    Ok(Exit::Done)
}
