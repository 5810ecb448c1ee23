//! `reptile test`: decides URLs by one robots.txt, and shows the group, the rules, the line and the reason for each.
//!
//! [`file`](mod@file) has the questions and answers. [`answers`] and [`listing`] show them for one dialect, [`dialects`]
//! for all dialects, and [`json`] for programs. [`typed`] and [`letter_case`] remark on URLs, [`uses`] asks about usage,
//! and [`words`] has the wording.
//!
//! A file of n bytes is read and compiled in O(n) steps per dialect, and in O(n) memory for one dialect. With
//! `--all-dialects` it is read under one dialect at a time, and only the printed parts are kept. With `--brief` and
//! `--json`, each URL is answered as it is read, in memory that does not depend on the number of URLs. An answer takes
//! the walk and time linear in the longest rule. The other forms show at most [`MAX_ANSWERS`] answers, and so do
//! `--json` and `--all-dialects` together for a file over [`MAX_HELD_BYTES`]. The user-agent lines and rule texts shown
//! with each answer are limited.

mod answers;
mod args;
mod dialects;
mod file;
mod json;
mod letter_case;
mod listing;
mod shown;
mod typed;
mod uses;
mod words;

use std::io::{BufWriter, Write};

use bumpalo::Bump;
use reptile::Profile;
use reptile::limits::MAX_URL_BYTES;

pub use self::args::Args;
use crate::error::{Exit, Failure, Result, Stop};
use crate::outputs::file::Output;
use crate::outputs::summary::grouped;
use crate::sets::agents::{agents_for, agents_under, note_unobeying};
use crate::sets::single::one;
use crate::url_list::{command_line, is_robots, refuse_url_list, typed_urls};
use file::{DialectResults, File, VerdictTally};
use reptile_records::detect::{Content, ExpectedInput};
use reptile_records::open::Input;
use reptile_records::open::read_input;
use reptile_records::place::Place;

/// Maximum number of answers shown in full or as a table. `--brief` and `--json` have no limit.
pub const MAX_ANSWERS: usize = 1000;

/// Maximum size in bytes of a robots.txt that `--json` and `--all-dialects` together keep compiled under every dialect,
/// to answer any number of URLs as they arrive. A larger file is compiled under one dialect at a time.
const MAX_HELD_BYTES: usize = 1 << 20;

/// Runs the command.
///
/// # Errors
/// Returns an error if the robots.txt or the URLs cannot be read, or the output cannot be written.
pub fn run(args: &Args) -> Result<Exit> {
    let from_stdin = args.robots.is_standard();
    if from_stdin && args.urls.is_empty() && args.list.is_standard() {
        return Err(Failure::new("standard input cannot be both the robots.txt and the URLs; give URLs as arguments"));
    }
    let body = read_body(args)?;
    let urls = typed_urls(&args.urls, |list| list_command(args, &args.robots, list))?;
    match urls.iter().find(|url| url.is_empty() || url.len() > MAX_URL_BYTES) {
        Some([]) => return Err(Failure::new("an empty argument is not a URL; the path of the home page is /")),
        Some(url) => {
            let start = String::from_utf8_lossy(&url[..40]);
            let message = format!("a URL of {} bytes, over the limit of {MAX_URL_BYTES}: {start:?}...", url.len());
            return Err(Failure::new(message));
        }
        None => {}
    }
    let uses = uses::of(args)?;
    let asked = args.dialect.unwrap_or(reptile::dialects::DEFAULT);
    agents_for(asked, &args.agents, &[&body])?;
    note_unobeying(&args.agents);
    let file = File { args, urls, body: &body, asked, uses, given: VerdictTally::default() };
    let mut out = BufWriter::new(Output::stdout());
    let written = answer(&file, &mut out).and_then(|left_out| out.flush().map(|()| left_out).map_err(Stop::Write));
    let left_out = written.map_err(|stop| out.get_ref().stop_failure(stop, &args.robots))?;
    // An overlong URL has no verdict, so it does not have the expected one.
    let is_done = args.expect.is_none_or(|expected| file.given.is_all(expected) && left_out == 0);
    Ok(Exit::from_bad(!is_done))
}

/// Reads the robots.txt. With `--status` or `--profile`, any file is accepted as the body of a response.
///
/// # Errors
/// Returns an error if the file is unreadable. Without these options, also returns an error if it is neither a robots.txt
/// nor another format with rules.
fn read_body(args: &Args) -> Result<Vec<u8>> {
    let input = Input::open(&args.robots)?;
    let is_response = match input.content {
        Content::Folder => false,
        // The fetch profile decides how to treat a page.
        Content::Html | Content::Xml => args.status.is_some() || args.profile.is_some(),
        _ => args.status.is_some(),
    };
    if is_response {
        return Ok(read_input(input)?);
    }
    let input = input.prefer_robots()?;
    let dialect = args.dialect.unwrap_or(reptile::dialects::DEFAULT);
    let body = read_input(one(input, ExpectedInput::Robots, Profile::of_dialect(dialect))?)?;
    let swapped = || {
        let robots = args.urls.iter().find(|url| is_robots(&Place::from(&***url)));
        let robots = robots.map_or(Place::from("ROBOTS.TXT"), |url| Place::from(&**url));
        let command = list_command(args, &robots, &args.robots.display().to_string());
        format!("`{command}` tests them")
    };
    refuse_url_list(&args.robots, &body, swapped)?;
    Ok(body)
}

/// Returns the command line that tests a list with the same options.
fn list_command(args: &Args, robots: &Place, list: &str) -> String {
    let (robots, status) = (robots.display().to_string(), args.status.map(|status| status.to_string()));
    let mut words = vec!["test", &robots];
    words.extend(args.agents.iter().flat_map(|agent| ["--agent", agent]));
    words.extend(args.dialect.iter().flat_map(|dialect| ["--dialect", dialect.as_str()]));
    words.extend(args.all_dialects.then_some("--all-dialects"));
    words.extend(status.iter().flat_map(|status| ["--status", status]));
    words.extend(args.profile.iter().flat_map(|profile| ["--profile", profile.as_str()]));
    words.extend(args.expect.iter().flat_map(|expected| ["--expect", expected.name()]));
    let flags = [("--brief", args.brief), ("--json", args.json), ("--full", args.full)];
    words.extend(flags.iter().filter(|(_, is_given)| *is_given).map(|(flag, _)| *flag));
    words.extend(["--urls", list]);
    command_line(words)
}

/// Writes the answers for all URLs. Returns the number of overlong lines, which have no answer.
fn answer(file: &File<'_>, out: &mut impl Write) -> std::result::Result<u64, Stop> {
    let args = file.args;
    let arena = Bump::new();
    if args.all_dialects && args.json && file.body.len() <= MAX_HELD_BYTES {
        let columns = reptile::dialects::ALL.iter().map(|dialect| file.column(dialect, &arena));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        return file.each_url(out, |url, out| json::write(&columns, file.asked, url, out));
    }
    if args.all_dialects {
        let (urls, left_out) = few_urls(file, out)?;
        if args.json {
            json::write_by_dialect(file, &urls, out)?
        } else {
            dialects::write(file, &urls, out)?
        }
        return Ok(left_out);
    }
    let column = file.column(file.asked, &arena)?;
    if args.json {
        return file.each_url(out, |url, out| json::write(std::slice::from_ref(&column), file.asked, url, out));
    }
    if args.brief {
        // The URL column fits the URLs given as arguments.
        let brief = answers::Brief::new(&column, &file.urls);
        return file
            .each_url(out, |url, out| (0..column.agents.len()).try_for_each(|agent| brief.write(url, agent, out)));
    }
    let (urls, left_out) = few_urls(file, out)?;
    let tested = DialectResults { name: &args.robots, column: &column, answers: column.answers(&urls)?, urls: &urls };
    listing::write(&tested, args.full, out)?;
    out.write_all(answers::full(&tested, args.full).as_bytes())?;
    Ok(left_out)
}

/// Returns the URLs, if there are few enough to answer together, and the number of overlong lines.
///
/// # Errors
/// Returns an error if there are more than [`MAX_ANSWERS`] answers, or the URLs cannot be read.
fn few_urls(file: &File<'_>, out: &mut impl Write) -> std::result::Result<(Vec<Vec<u8>>, u64), Stop> {
    let args = file.args;
    let agent_count = agents_under(file.asked, &args.agents)?.len();
    let mut urls: Vec<Vec<u8>> = Vec::new();
    let left_out = file.each_url(out, |url, _| {
        urls.push(url.to_vec());
        if urls.len() * agent_count > MAX_ANSWERS {
            let limit = grouped(MAX_ANSWERS as u64);
            let others = match (args.all_dialects, args.json) {
                (true, true) => format!("a file of at most {} bytes takes any number", grouped(MAX_HELD_BYTES as u64)),
                (true, false) => "--json takes any number".into(),
                (false, _) => "--brief and --json take any number".into(),
            };
            let message =
                format!("at most {limit} answers, one for each URL and crawler, are shown in this form; {others}");
            return Err(Failure::new(message).into());
        }
        Ok(())
    })?;
    Ok((urls, left_out))
}
