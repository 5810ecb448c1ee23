//! The table of `reptile check`: its rows, and the loop over them on all threads.

use std::borrow::Cow;
use std::io::Read;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use reptile::RuleKind;
use reptile::contents::FormatError;
use reptile::limits::MAX_URL_BYTES;
use reptile::urls::{Path as UrlPath, path_at_any_origin};

use super::args::Args;
use crate::error::{Failure, Result, damaged};
use crate::url_list::fault;
use reptile_records::lines::{ChunkKind, Chunks, MAX_LINE_BYTES, blocks, without_line_end};
use reptile_records::text::url_column;

/// Approximate size of a table block in bytes. Each block is processed by one thread.
const BLOCK_BYTES: usize = 64 << 10;

/// Maximum bytes shown from a malformed row or an unknown host.
pub const MAX_SHOWN_BYTES: usize = 200;

/// A row of the table.
pub struct CheckRow<'a> {
    /// The host whose robots.txt decides, or a URL of its origin.
    pub host: &'a [u8],
    /// The product token, or the name of a crawler.
    pub agent: &'a [u8],
    /// The URL, or its path.
    pub url: &'a [u8],
    /// The URL's path.
    pub path: UrlPath<'a>,
    /// The expected verdict and line, if given.
    pub expected: Option<(RuleKind, Option<u32>)>,
}

/// The problem with a row over [`MAX_LINE_BYTES`].
pub const TOO_LONG: &str = "longer than 1 MiB";
const _: () = assert!(MAX_LINE_BYTES == 1 << 20 && MAX_URL_BYTES == 64 << 10);

impl<'a> CheckRow<'a> {
    /// Reads a line of the table; `None` is a line without a row: a comment, a header, or an empty line.
    ///
    /// # Errors
    /// Returns a short description of the problem.
    pub fn read(line: &'a [u8]) -> std::result::Result<Option<CheckRow<'a>>, Cow<'static, str>> {
        let line = without_line_end(line);
        if line.is_empty() || line.starts_with(b"#") || is_header(line) {
            return Ok(None);
        }
        if line.len() > MAX_LINE_BYTES {
            return Err(TOO_LONG.into());
        }
        let mut columns = line.split(|&byte| byte == b'\t');
        let (Some(host), Some(agent), Some(url)) = (columns.next(), columns.next(), columns.next()) else {
            return Err("fewer than 3 columns".into());
        };
        if url.len() > MAX_URL_BYTES {
            return Err("a URL of more than 64 KiB".into());
        }
        let verdict = match columns.next() {
            None => None,
            Some(verdict) if verdict.eq_ignore_ascii_case(b"allow") => Some(RuleKind::Allow),
            Some(verdict) if verdict.eq_ignore_ascii_case(b"disallow") => Some(RuleKind::Disallow),
            Some(_) => return Err("the fourth column is neither ALLOW nor DISALLOW".into()),
        };
        let number = |text: &[u8]| {
            let text = std::str::from_utf8(text).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
            text.and_then(|text| text.parse().ok()).ok_or("the fifth column is not a line number")
        };
        let rule_line = columns.next().map(number).transpose()?;
        if columns.next().is_some() {
            return Err("more than 5 columns".into());
        }
        let path = path_at_any_origin(url).map_err(fault)?;
        Ok(Some(CheckRow { host, agent, url, path, expected: verdict.map(|verdict| (verdict, rule_line)) }))
    }

    /// Returns the first three columns for the output, escaped like URLs.
    pub fn columns(&self) -> Vec<u8> {
        [self.host, self.agent, self.url].map(url_column).join(&b'\t')
    }
}

/// Returns whether a line is a header: it begins with the columns `host`, `agent`, and `url` or `path`, in any letter
/// case.
fn is_header(line: &[u8]) -> bool {
    let mut columns = line.split(|&byte| byte == b'\t');
    let mut is_next = |names: &[&str]| {
        columns.next().is_some_and(|column| names.iter().any(|name| column.eq_ignore_ascii_case(name.as_bytes())))
    };
    is_next(&["host"]) && is_next(&["agent"]) && is_next(&["url", "path"])
}

/// Returns a rule kind's verdict as the table writes it.
pub fn word(kind: RuleKind) -> &'static str {
    match kind {
        RuleKind::Allow => "ALLOW",
        RuleKind::Disallow => "DISALLOW",
    }
}

/// Rejects a table without rows, which would always pass.
///
/// # Errors
/// Returns an error if there is no row.
pub fn refuse_nothing(args: &Args, rows: u64) -> Result<()> {
    match rows {
        0 => Err(Failure::at(args.cases(), "contains no rows; expected rows with host, agent and url")),
        _ => Ok(()),
    }
}

/// Processes the table chunk by chunk, each on all threads, and merges the results in row order.
///
/// # Errors
/// Returns an error if the table cannot be read, the set is damaged, or merging fails.
pub fn each_block<T: Send>(
    source: impl Read,
    args: &Args,
    work_on: impl Fn(&[u8]) -> std::result::Result<T, FormatError> + Sync,
    long_row: impl Fn() -> T,
    mut merge: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    let mut chunks = Chunks::new(source);
    let mut buffer = Vec::new();
    loop {
        let chunk = chunks.next(buffer, &|| false);
        let chunk = chunk.map_err(|error| Failure::at(args.cases(), format!("cannot be read: {error}")))?;
        let Some(chunk) = chunk else { return Ok(()) };
        let done: Vec<T> = match chunk.kind {
            ChunkKind::Lines => {
                let blocks = blocks(chunk.bytes(), chunk.filled.div_ceil(BLOCK_BYTES));
                let work = blocks.into_par_iter().map(&work_on);
                work.collect::<std::result::Result<_, _>>().map_err(|error| damaged(args.robots(), &error))?
            }
            ChunkKind::LongLine { last: true } => vec![long_row()],
            ChunkKind::LongLine { last: false } => Vec::new(),
        };
        done.into_iter().try_for_each(&mut merge)?;
        buffer = chunk.buffer;
    }
}
