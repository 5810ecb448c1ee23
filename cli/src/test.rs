//! `reptile test`: one robots.txt, a few URLs, and the line that decides each.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use reptile_compiler::crawlers::Resolved;
use reptile_compiler::dialect::{self, Dialect};
use reptile_compiler::limits::MAX_BODY_BYTES;
use reptile_compiler::robots::Lines;
use reptile_engine::set::{Policy, Set};
use reptile_engine::url::path_of;
use reptile_engine::verdict::{Rule, Verdict};

use crate::error::{Failure, Outcome, Result, printable};
use crate::input::dialects;
use crate::lines::{lines, without_line_end};
use crate::load::{ONE_ORIGIN, agents_under, compile_one, damaged};
use crate::output::print;

/// Try URLs on one robots.txt, and see which line decides
///
/// Only the path of a URL counts here, so a path such as /a/b will do.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile test robots.txt --agent MyBot /private/x /public
  curl -s https://example.com/robots.txt | reptile test - --agent MyBot --agent OtherBot /x
  reptile test robots.txt --agent MyBot < urls.txt"
)]
pub struct Args {
    /// A robots.txt; - is standard input
    robots: PathBuf,
    /// What to try; without any, one on each line of standard input
    #[arg(value_name = "URL")]
    urls: Vec<String>,
    /// A crawler: a product token, a chain such as "A>B>*", or a group, @ai-training or @search; may be given again
    #[arg(short, long = "agent", value_name = "TOKEN", required = true)]
    agents: Vec<String>,
    /// Which reading of the protocol the file is given [default: google-lib]
    #[arg(long, value_name = "NAME", value_parser = dialects())]
    dialect: Option<&'static Dialect>,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome> {
    let dialect = args.dialect.unwrap_or(dialect::ALL[0]);
    let from_stdin = args.robots == Path::new("-");
    if from_stdin && args.urls.is_empty() {
        return Err(Failure::new("standard input cannot be both the robots.txt and the URLs; give some URLs"));
    }
    let body = if from_stdin {
        read(io::stdin(), &args.robots)?
    } else {
        read(File::open(&args.robots).map_err(|error| Failure::at(&args.robots, error))?, &args.robots)?
    };
    let urls = if args.urls.is_empty() {
        let mut list = Vec::new();
        io::stdin().read_to_end(&mut list).map_err(|error| Failure::new(format!("standard input: {error}")))?;
        lines(&list).map(|line| without_line_end(line).to_vec()).collect()
    } else {
        args.urls.iter().map(|url| url.clone().into_bytes()).collect::<Vec<_>>()
    };
    let named = agents_under(dialect, &args.agents)?;
    let bytes = compile_one(&args.robots, &body, dialect)?;
    let text = Set::from_bytes(&bytes[..])
        .and_then(|set| {
            let Some(policy) = set.policy(&ONE_ORIGIN)? else { return Ok(String::new()) };
            explain_all(&named, dialect, &body, &urls, &set, &policy)
        })
        .map_err(|error| damaged(&args.robots, &error))?;
    print(text)?;
    Ok(Outcome::Done)
}

fn read(source: impl Read, path: &Path) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    // One byte over the limit is enough for the compiler to refuse it.
    let source = &mut source.take(MAX_BODY_BYTES as u64 + 1);
    source.read_to_end(&mut body).map_err(|error| Failure::at(path, error))?;
    Ok(body)
}

/// A line for each URL and agent, in columns.
fn explain_all(
    named: &[Resolved],
    dialect: &Dialect,
    body: &[u8],
    urls: &[Vec<u8>],
    set: &Set<&[u8]>,
    policy: &Policy<'_>,
) -> std::result::Result<String, reptile_engine::format::FormatError> {
    let body_lines: Vec<&[u8]> = Lines::new(body, dialect.byte_order_mark).collect();
    let shown: Vec<String> = urls.iter().map(|url| printable(url)).collect();
    let width = shown.iter().map(|url| url.chars().count()).max().unwrap_or(0).min(MAX_COLUMN);
    let agent_width = named.iter().map(|agent| agent.name.chars().count()).max().unwrap_or(0);
    let mut agents = Vec::new();
    for resolved in named {
        let agent = resolved.look_up(set)?;
        let has_group = policy.has_group(&agent)?;
        agents.push((&resolved.name, agent, has_group));
    }
    let mut text = String::new();
    for (url, shown) in urls.iter().zip(&shown) {
        for (name, agent, has_group) in &agents {
            let explanation = path_of(url).with(|path| policy.explain(agent, path))?;
            let reason = match explanation.rule() {
                Some(Rule { line: 0, .. }) => "always allowed".into(),
                Some(rule) => {
                    let line = body_lines.get((rule.line as usize).wrapping_sub(1)).copied().unwrap_or_default();
                    format!("line {}: {}", rule.line, printable(line.trim_ascii()))
                }
                None if !*has_group => "no group is for this agent".into(),
                None => "no rule matches".into(),
            };
            let verdict_width = Verdict::Disallow.name().len();
            text.push_str(&format!("{:verdict_width$}  ", explanation.verdict));
            if agents.len() > 1 {
                text.push_str(&format!("{:agent_width$}  ", printable(name.as_bytes())));
            }
            text.push_str(&format!("{shown:width$}   {reason}\n"));
        }
    }
    Ok(text)
}

/// Characters of the column of URLs. A longer URL pushes the rest of its line to the right.
const MAX_COLUMN: usize = 60;
