//! `reptile classify`: a list of URLs in, the same list with columns of verdicts out.
//!
//! One thread reads, all threads decide, one thread writes, each a chunk ahead of the next. Buffers go round in
//! circles, so that memory is the same for a list of any length.

use std::io::{self, IsTerminal, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, IntoParallelRefMutIterator, ParallelIterator};
use reptile_compiler::dialect::crawlers::Resolved;
use reptile_compiler::dialect::{Dialect, Token};
use reptile_engine::verdict::Verdict;

use crate::error::{Failure, Outcome, Result, note};
use crate::inputs::lines::{self, Chunk, ChunkKind, Chunks, blocks, without_line_end};
use crate::inputs::options::CompileOptions;
use crate::inputs::sets::agents::agents_of;
use crate::inputs::sets::{Loaded, damaged};
use crate::outputs::file::Output;
use crate::outputs::summary::{Summary, grouped, rate, seconds};
use crate::outputs::text::printable;
use crate::outputs::verdicts::{Answers, Decider, Tally};

/// Bytes of a piece, the work of one thread at a time: enough to be worth handing over, and few enough that many
/// threads end together.
const PIECE_BYTES: usize = 64 << 10;

/// Chunks that are read or written ahead.
const AHEAD: usize = 1;

/// Decide each URL of a list
///
/// Writes a line for each line of URLS, in the same order: the URL as it is given,
/// and a column for each agent, separated by tabs:
///   allow     the rules allow it, or say nothing about it
///   disallow  the rules disallow it
///   unknown   the set has no robots.txt for the URL's origin
///   invalid   the line is no http, https or ftp URL, or is too long
///
/// Lines end at LF; one CR in front of it is taken off. Memory does not depend on
/// how long the list or a line is.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "Examples:
  reptile classify web.reptile urls.txt.gz --agent MyBot -o verdicts.tsv
  cut -f2 crawl.tsv | reptile classify web.reptile --agent MyBot --agent OtherBot > verdicts.tsv
  reptile classify robots/ urls.txt --agent MyBot --explain

An agent is a product token, such as Googlebot, in any letter case. One that a
robots.txt does not name gets its rules for *. Dialects that know crawlers look up
their other names too: Googlebot-Image is Googlebot-Image, else Googlebot, else *.
To say so yourself write \"Googlebot-Image>Googlebot>*\"; without the * at the end
its rules do not apply. @ai-training and @search stand for many crawlers.

Exit code: 0 done, whatever the verdicts; 1 SET was compiled from an input and
some of its files were bad; 2 the command could not go on (-o leaves no file)."
)]
pub struct Args {
    /// A set file, or what `reptile compile` takes as INPUT, to be compiled in memory
    #[arg(value_name = "SET")]
    set: PathBuf,
    /// The list, a URL a line; unpacked if its name ends in .gz; - is standard input
    #[arg(default_value = "-", hide_default_value = true)]
    urls: PathBuf,
    /// A crawler: a product token, a chain of them, or a group; give it again for another column
    #[arg(short, long = "agent", value_name = "TOKEN", required = true)]
    agents: Vec<String>,
    /// Follow each verdict with two more columns: the line of the rule that decided, and the rule
    ///
    /// Line 0 and no rule where none decided. NUL, tab, CR and LF in a rule are written as %00, %09, %0D, %0A.
    #[arg(long)]
    explain: bool,
    /// Follow each verdict, behind the columns of --explain, with another column: why
    ///
    /// "rule", "no rule matches", what came of fetching the robots.txt (such as "404", "503", "network error"), "no
    /// robots.txt is known" or "no URL".
    #[arg(long)]
    reason: bool,
    /// Write to this file instead of standard output; it gets its name when it is whole
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Replace the output file if there is one
    #[arg(long)]
    force: bool,
    /// Do not check every byte of the set first
    ///
    /// The check reads the whole set. Without it a damaged set may be noticed late, or give wrong verdicts.
    #[arg(long)]
    no_verify: bool,
    #[command(flatten)]
    options: CompileOptions,
    #[command(flatten)]
    threads: crate::Threads,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome> {
    args.threads.apply()?;
    let source = lines::open(&args.urls)?;
    let output = match &args.output {
        Some(path) => Output::create(path, args.force)?,
        None => Output::stdout(),
    };
    let loaded = Loaded::open(&args.set, &args.options)?;
    let set = if args.no_verify { loaded.set()? } else { loaded.verified()? };
    let named = agents_of(&set, &args.agents)?;
    let agents = named.iter().map(|agent| agent.look_up(&set));
    let agents = agents.collect::<std::result::Result<Vec<_>, _>>().map_err(|error| damaged(&args.set, &error))?;
    if Dialect::from_name(&set.dialect()).is_none_or(|dialect| dialect.token == Token::Letters) {
        named.iter().for_each(warn_of_agent);
    }
    let decider = Decider { set, agents, explain: args.explain, reason: args.reason };

    let progress = progress(&output);
    let start = Instant::now();
    let totals = Pipeline::start(source, output).decide(&decider, args, &progress)?;
    progress.finish_and_clear();
    totals.report(&named, &decider, start.elapsed());
    Ok(Outcome::from_bad(loaded.report.is_some_and(|report| report.any_bad())))
}

/// A token that no group can have is most likely a mistake of the caller's.
fn warn_of_agent(agent: &Resolved) {
    let in_token = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'-' || *byte == b'_';
    for token in agent.tokens.iter().filter(|token| token.is_empty() || !token.iter().all(in_token)) {
        note(format_args!(
            "agent \"{}\": a group names only letters, \"-\" and \"_\", so none can name it; it is taken as it is",
            printable(token)
        ));
    }
}

/// A progress bar, if there is somebody to see it and it spoils no output.
fn progress(output: &Output) -> ProgressBar {
    if output.is_terminal() || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {human_pos} URLs in {elapsed}") {
        bar.set_style(style);
    }
    bar
}

/// What was decided in all.
#[derive(Default)]
struct Totals {
    lines: u64,
    tally: Tally,
}

impl Totals {
    fn add(&mut self, answers: &Answers) {
        self.lines += answers.lines;
        self.tally.resize(answers.tally.len(), [0; 4]);
        for (total, counts) in self.tally.iter_mut().zip(&answers.tally) {
            total.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
        }
    }

    fn report(mut self, named: &[Resolved], decider: &Decider<'_>, time: Duration) {
        let mut summary = Summary::default();
        summary.count("lines", self.lines);
        self.tally.resize(named.len(), [0; 4]);
        for ((resolved, agent), counts) in named.iter().zip(&decider.agents).zip(&self.tally) {
            let verdicts = [Verdict::Allow, Verdict::Disallow, Verdict::Unknown, Verdict::Invalid];
            let counts = verdicts.map(|verdict| format!("{verdict} {}", grouped(counts[verdict as usize])));
            let name = printable(resolved.name.as_bytes());
            summary.row(format!("agent {name}"), counts.join(", "));
            if !agent.is_named() {
                let applies = match (agent.honours_default_group(), &*resolved.tokens) {
                    (true, _) => "is named by no robots.txt of this set; the rules for * apply",
                    (false, []) => "obeys no robots.txt, by its operator's word",
                    (false, _) => "is named by no robots.txt of this set, and the rules for * are not for it",
                };
                note(format_args!("agent {name} {applies}"));
            }
        }
        summary.row("time", format!("{}, {} URLs/s", seconds(time), rate(self.lines, time)));
        summary.print();
    }
}

/// The threads that read and write, and the channels to and from them.
struct Pipeline {
    chunks: Receiver<io::Result<Chunk>>,
    /// Chunks that are read and not yet decided.
    waiting: Arc<AtomicUsize>,
    used_buffers: Sender<Vec<u8>>,
    answers: mpsc::SyncSender<Vec<Answers>>,
    used_answers: Receiver<Vec<Answers>>,
    writer: JoinHandle<Result<Output>>,
}

impl Pipeline {
    fn start(source: Box<dyn Read + Send>, output: Output) -> Pipeline {
        let waiting = Arc::new(AtomicUsize::new(0));
        let (chunk_sender, chunks) = mpsc::sync_channel(AHEAD);
        let (used_buffers, free_buffers) = mpsc::channel();
        // The reader is not waited for: after a failure it may hang in a read that never comes back.
        let reader_waiting = Arc::clone(&waiting);
        thread::spawn(move || read(source, &chunk_sender, &free_buffers, &reader_waiting));

        let (answers, answer_receiver) = mpsc::sync_channel(AHEAD);
        let (free_answers, used_answers) = mpsc::channel();
        let writer = thread::spawn(move || write(output, &answer_receiver, &free_answers));
        Pipeline { chunks, waiting, used_buffers, answers, used_answers, writer }
    }

    /// Decides everything and brings it to its place.
    fn decide(self, decider: &Decider<'_>, args: &Args, progress: &ProgressBar) -> Result<Totals> {
        let mut totals = Totals::default();
        let result = self.decide_chunks(decider, &mut totals, progress);
        drop(self.answers);
        let written = self.writer.join().unwrap_or_else(|_| Err(Failure::new("the writing thread has failed")));
        // When writing fails the deciding stops, and the reason is the writer's.
        let output = written?;
        match result {
            Ok(()) => output.finish().map(|()| totals),
            Err(Stop::Damaged(error)) => Err(damaged(&args.set, &error)),
            Err(Stop::Unreadable(error)) => Err(Failure::at(&args.urls, format!("cannot be read: {error}"))),
            Err(Stop::WriterGone) => Err(Failure::new("the writing thread has stopped")),
        }
    }

    fn decide_chunks(
        &self,
        decider: &Decider<'_>,
        totals: &mut Totals,
        progress: &ProgressBar,
    ) -> std::result::Result<(), Stop> {
        // A CR at the end of a part may be the one that ends the line, which shows in the next part.
        let mut held_cr = false;
        for chunk in &self.chunks {
            let chunk = chunk.map_err(Stop::Unreadable)?;
            let mut answers = self.used_answers.try_recv().unwrap_or_default();
            match chunk.kind {
                ChunkKind::Lines => {
                    let blocks = blocks(chunk.bytes(), chunk.filled.div_ceil(PIECE_BYTES));
                    answers.resize_with(blocks.len(), Answers::default);
                    let work = blocks.par_iter().zip(answers.par_iter_mut());
                    work.try_for_each(|(piece, answers)| decider.decide(piece, answers)).map_err(Stop::Damaged)?;
                }
                ChunkKind::LongLine { last } => {
                    answers.resize_with(1, Answers::default);
                    let part = long_part(chunk.bytes(), last, &mut held_cr);
                    answers.iter_mut().for_each(|answers| decider.pass_on(&part, last, answers));
                }
            }
            answers.iter().for_each(|answers| totals.add(answers));
            progress.set_position(totals.lines);
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            // Neither thread need be there any more to take a buffer back.
            let _ = self.used_buffers.send(chunk.buffer);
            self.answers.send(answers).map_err(|_| Stop::WriterGone)?;
        }
        Ok(())
    }
}

/// Why deciding stopped before the end.
enum Stop {
    Damaged(reptile_engine::format::FormatError),
    Unreadable(io::Error),
    WriterGone,
}

/// A part of a long line as it is put out, without the line's end.
fn long_part(bytes: &[u8], last: bool, held_cr: &mut bool) -> Vec<u8> {
    let mut part = if std::mem::take(held_cr) { vec![b'\r'] } else { Vec::new() };
    part.extend_from_slice(bytes);
    if last {
        part.truncate(without_line_end(&part).len());
    } else {
        *held_cr = part.pop_if(|end| *end == b'\r').is_some();
    }
    part
}

/// The reading thread.
fn read(
    source: Box<dyn Read + Send>,
    chunks: &mpsc::SyncSender<io::Result<Chunk>>,
    free_buffers: &Receiver<Vec<u8>>,
    waiting: &AtomicUsize,
) {
    let mut reader = Chunks::new(source);
    loop {
        let buffer = free_buffers.try_recv().unwrap_or_default();
        let next = reader.next(buffer, || waiting.load(Ordering::Relaxed) == 0);
        let Some(next) = next.transpose() else { return };
        let failed = next.is_err();
        waiting.fetch_add(1, Ordering::Relaxed);
        if chunks.send(next).is_err() || failed {
            return;
        }
    }
}

/// The writing thread.
fn write(mut output: Output, answers: &Receiver<Vec<Answers>>, free_answers: &Sender<Vec<Answers>>) -> Result<Output> {
    for answers in answers {
        for piece in &answers {
            if let Err(error) = output.write_all(&piece.text).and_then(|()| output.flush()) {
                return Err(output.failure(&error));
            }
        }
        let _ = free_answers.send(answers);
    }
    Ok(output)
}
