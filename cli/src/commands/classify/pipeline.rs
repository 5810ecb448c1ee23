//! One thread reads, all threads decide, and one thread writes, each a chunk ahead of the next. The deciding threads
//! share two chunks.
//!
//! Buffers are reused, so memory does not depend on list length.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{Builder, JoinHandle};

use rayon::Scope;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, IntoParallelRefMutIterator, ParallelIterator};

use super::plan::{List, Plan};
use super::rejects::Rejects;
use super::totals::Totals;
use crate::error::{Failure, Result};
use crate::outputs::file::Complete;
use crate::outputs::parts::RowSink;
use crate::outputs::progress::Progress;
use crate::outputs::summary::grouped;
use crate::run::lineage::METADATA_KEY;
use reptile_columns::{Answers, LongPart, TableDecider};
use reptile_records::lines::{Chunk, ChunkKind, without_line_end};
use reptile_records::tables::open::Opening;
use reptile_records::tables::source::{Part, Source};
use reptile_records::tables::{Format, Table};

/// Maximum number of chunks waiting to be decided, and of chunks waiting to be written.
const AHEAD: usize = 1;

/// Maximum number of chunks decided at the same time: while some threads work on the last blocks of one, the others
/// begin the next.
const AT_ONCE: usize = 2;

/// A table being read, and the output for its answers.
pub struct Pipeline {
    /// Receives the format and the columns once the first row has been read, or the error if it cannot be.
    table: Receiver<Result<Table>>,
    reader: Reader,
    /// The output. The writing thread gets it after the first row, so that an earlier error removes the incomplete file
    /// immediately.
    sink: RowSink,
    /// Whether the output is a terminal.
    is_terminal: bool,
}

/// The channels to and from the reading thread. The thread is never joined, because after a failure it may be blocked
/// in a read that never returns.
struct Reader {
    /// Receives the chunks, and `None` at the end. If the channel closes earlier, the reading thread has failed.
    chunks: Receiver<io::Result<Option<Part>>>,
    /// Number of chunks read and not yet decided.
    waiting: Arc<AtomicUsize>,
    used_buffers: Sender<Vec<u8>>,
}

/// The writing thread, and the channels to and from it.
struct Writer {
    answers: mpsc::SyncSender<Vec<Answers>>,
    used_answers: Receiver<Vec<Answers>>,
    thread: JoinHandle<Result<RowSink>>,
}

impl Writer {
    /// Starts the thread.
    fn start(sink: RowSink, header: Vec<u8>) -> Result<Writer> {
        let (answers, answer_receiver) = mpsc::sync_channel(AHEAD);
        let (free_answers, used_answers) = mpsc::channel();
        let writer = move || write(sink, &header, &answer_receiver, &free_answers);
        let thread = Builder::new().spawn(writer).map_err(not_started)?;
        Ok(Writer { answers, used_answers, thread })
    }

    /// Waits until everything is written, and returns the output.
    fn join(self) -> Result<RowSink> {
        drop(self.answers);
        let failed = || Failure::new("internal error: the writing thread has failed; please report it");
        self.thread.join().unwrap_or_else(|_| Err(failed()))
    }
}

/// Returns the error for a thread that cannot be started.
fn not_started(error: io::Error) -> Failure {
    Failure::new(format!("the threads cannot be started: {error}"))
}

impl Pipeline {
    /// Starts the reading thread.
    ///
    /// # Errors
    /// Returns an error if the system cannot start the thread.
    pub fn start(opening: Opening, source: Source, sink: RowSink, is_terminal: bool) -> Result<Pipeline> {
        let (table_sender, table) = mpsc::sync_channel(1);
        let waiting = Arc::new(AtomicUsize::new(0));
        let (chunk_sender, chunks) = mpsc::sync_channel(AHEAD);
        let (used_buffers, free_buffers) = mpsc::channel();
        let reader_waiting = Arc::clone(&waiting);
        let reader = move || match source.open_rows(&opening) {
            Ok((table, mut rows)) => {
                if table_sender.send(Ok(table)).is_ok() {
                    let next = |buffer| rows.next(buffer, &|| reader_waiting.load(Ordering::Relaxed) == 0);
                    read(next, &chunk_sender, &free_buffers, &reader_waiting);
                }
            }
            // The receiver is gone.
            Err(error) => drop(table_sender.send(Err(error.into()))),
        };
        Builder::new().spawn(reader).map_err(not_started)?;
        Ok(Pipeline { table, reader: Reader { chunks, waiting, used_buffers }, sink, is_terminal })
    }

    /// Returns the table's format and columns. Called once, before [`Pipeline::decide`].
    ///
    /// # Errors
    /// Returns an error if the table cannot be read, or does not have the wanted columns.
    pub fn table(&self) -> Result<Table> {
        let stopped = || Failure::new("internal error: the reading thread has stopped; please report it");
        self.table.recv().unwrap_or_else(|_| Err(stopped()))
    }

    /// Decides every row, and completes the output, which begins with `header`, and the `--rejects` file. `stamp`
    /// returns the text for Parquet or Arrow metadata. The caller still has to publish both files.
    ///
    /// # Errors
    /// Returns an error if the table cannot be read, the set is damaged, or an output cannot be written.
    pub fn decide(
        self,
        table: Table,
        header: Vec<u8>,
        decider: &TableDecider,
        mut rejects: Rejects,
        (plan, list): (&Plan, &List),
        stamp: impl FnOnce(&Totals) -> Result<String>,
    ) -> Result<(Totals, Vec<Complete>)> {
        let progress = progress(list, table.format, self.is_terminal);
        let mut totals = Totals::new(table);
        let running = Running { reader: self.reader, writer: Writer::start(self.sink, header)? };
        let table = Arc::clone(&totals.table);
        let mut state = ChunkOutputs { totals: &mut totals, rejects: &mut rejects, list, progress: &progress };
        let result = rayon::in_place_scope(|scope| running.decide_chunks(scope, decider, &table, &mut state));
        drop(progress);
        // If writing fails, deciding stops too, and the writer's error is the cause.
        let sink = running.writer.join()?;
        match result {
            Ok(()) => {
                let complete = sink.complete(METADATA_KEY, &stamp(&totals)?)?;
                Ok((totals, complete.into_iter().chain(rejects.complete()?).collect()))
            }
            Err(Stop::Unwritable(failure)) => Err(failure),
            Err(Stop::Damaged(error)) => Err(Failure::at(&plan.set, error)),
            Err(Stop::Unreadable(error)) => Err(Failure::at(&list.urls, format!("cannot be read: {error}"))),
            Err(Stop::WriterGone) => {
                Err(Failure::new("internal error: the writing thread has stopped; please report it"))
            }
            Err(Stop::ReaderGone) => {
                Err(Failure::new("internal error: the reading thread has failed; please report it"))
            }
            Err(Stop::DeciderGone) => {
                Err(Failure::new("internal error: a deciding thread has failed; please report it"))
            }
        }
    }
}

/// A pipeline with running threads.
struct Running {
    reader: Reader,
    writer: Writer,
}

impl Running {
    /// Decides the chunks as they come, some at a time, and keeps their order.
    fn decide_chunks<'s>(
        &self,
        scope: &Scope<'s>,
        decider: &'s TableDecider,
        table: &'s Table,
        state: &mut ChunkOutputs<'_>,
    ) -> std::result::Result<(), Stop> {
        let mut begun = VecDeque::with_capacity(AT_ONCE);
        let mut long_lines = LongLines { held: Vec::new(), is_first: true };
        let mut end = None;
        loop {
            while end.is_none() && begun.len() < AT_ONCE {
                // Write finished answers before waiting for slow input.
                let chunk =
                    if begun.is_empty() { self.reader.chunks.recv().ok() } else { self.reader.chunks.try_recv().ok() };
                match chunk {
                    Some(Ok(Some(part))) => {
                        let answers = self.writer.used_answers.try_recv().unwrap_or_default();
                        begun.push_back(match part {
                            Part::Text(chunk @ Chunk { kind: ChunkKind::LongLine { last }, .. }) => {
                                PendingChunk::LongLine(long_lines.part(&chunk, last), chunk, answers)
                            }
                            part => PendingChunk::Rows(begin(scope, decider, table, part, answers)),
                        });
                    }
                    Some(Ok(None)) => end = Some(Ok(())),
                    Some(Err(error)) => end = Some(Err(Stop::Unreadable(error))),
                    None if begun.is_empty() => end = Some(Err(Stop::ReaderGone)),
                    None => break,
                }
            }
            match begun.pop_front() {
                Some(PendingChunk::Rows(decided)) => {
                    let Decided { part, answers, result } = decided.recv().map_err(|_| Stop::DeciderGone)?;
                    result.map_err(Stop::Damaged)?;
                    if let Part::Text(chunk) = &part {
                        state.totals.keep_sample(chunk.bytes());
                    }
                    self.hand_over(part, answers, state)?;
                }
                Some(PendingChunk::LongLine(part, chunk, mut answers)) => {
                    let part = part.as_part();
                    answers.resize_with(1, Answers::default);
                    let line_ends = state.totals.line_ends();
                    state.rejects.add_part(&part, line_ends, table).map_err(Stop::Unwritable)?;
                    answers.iter_mut().for_each(|answers| decider.pass_on(table, &part, answers));
                    self.hand_over(Part::Text(chunk), answers, state)?;
                }
                None => return end.unwrap_or(Ok(())),
            }
        }
    }

    /// Counts a chunk's answers and passes them to the writing thread. Returns the chunk's buffer to the reading
    /// thread.
    fn hand_over(
        &self,
        part: Part,
        answers: Vec<Answers>,
        state: &mut ChunkOutputs<'_>,
    ) -> std::result::Result<(), Stop> {
        let ChunkOutputs { totals, rejects, list, progress } = state;
        for answers in &answers {
            let line_ends = totals.line_ends();
            totals.add(answers, &list.urls);
            rejects.add(&answers.rejected, line_ends, &totals.table).map_err(Stop::Unwritable)?;
        }
        progress.add(part.byte_len() as u64);
        progress.say(|| format!(", {} URLs", grouped(totals.lines)));
        self.reader.waiting.fetch_sub(1, Ordering::Relaxed);
        if let Part::Text(chunk) = part {
            if let Some(row) = chunk.unclosed {
                totals.name_unclosed(row, &list.urls);
            }
            // A reader that has ended needs no buffer.
            let _ = self.reader.used_buffers.send(chunk.buffer);
        }
        self.writer.answers.send(answers).map_err(|_| Stop::WriterGone)
    }
}

/// The totals, and the output for invalid rows.
struct ChunkOutputs<'a> {
    totals: &'a mut Totals,
    rejects: &'a mut Rejects,
    list: &'a List,
    progress: &'a Progress,
}

/// A chunk that is being decided.
enum PendingChunk {
    /// Receives its answers.
    Rows(Receiver<Decided>),
    /// A part of an overlong line, which is not decided, with the chunk's buffer and the buffers for answers.
    LongLine(LongText, Chunk, Vec<Answers>),
}

/// A chunk that was decided, unless the set is damaged.
struct Decided {
    part: Part,
    answers: Vec<Answers>,
    result: std::result::Result<(), reptile::Error>,
}

/// Starts to decide a chunk on all threads. Returns the channel for its answers.
fn begin<'s>(
    scope: &Scope<'s>,
    decider: &'s TableDecider,
    table: &'s Table,
    part: Part,
    mut answers: Vec<Answers>,
) -> Receiver<Decided> {
    let (sender, decided) = mpsc::sync_channel(1);
    scope.spawn(move |_| {
        let blocks = part.blocks();
        answers.resize_with(blocks.len(), Answers::default);
        let work = blocks.par_iter().zip(answers.par_iter_mut());
        let result = work.try_for_each(|(&block, answers)| decider.decide(table, block, answers));
        drop(blocks);
        // The receiver is dropped if deciding was stopped.
        let _ = sender.send(Decided { part, answers, result });
    });
    decided
}

/// The reason why deciding stopped before the end of the list.
enum Stop {
    Damaged(reptile::Error),
    Unreadable(io::Error),
    Unwritable(Failure),
    WriterGone,
    ReaderGone,
    DeciderGone,
}

/// Progress through an overlong line.
struct LongLines {
    /// CR and LF at the end of the last part. Only the next part shows whether they end the line. In CSV they may be
    /// inside a cell.
    held: Vec<u8>,
    /// Whether the next part is the first of its line.
    is_first: bool,
}

/// A part of an overlong line.
struct LongText {
    text: Vec<u8>,
    line_ends: u64,
    is_first: bool,
    is_last: bool,
}

impl LongLines {
    /// Returns the next part.
    fn part(&mut self, chunk: &Chunk, is_last: bool) -> LongText {
        let text = long_part(chunk.bytes(), is_last, &mut self.held);
        let line_ends = memchr::memchr_iter(b'\n', chunk.bytes()).count() as u64;
        LongText { text, line_ends, is_first: std::mem::replace(&mut self.is_first, is_last), is_last }
    }
}

impl LongText {
    fn as_part(&self) -> LongPart<'_> {
        LongPart { text: &self.text, line_ends: self.line_ends, is_first: self.is_first, is_last: self.is_last }
    }
}

/// Returns a part of a long line without the line end. `held` keeps trailing CR and LF until the next part.
fn long_part(bytes: &[u8], last: bool, held: &mut Vec<u8>) -> Vec<u8> {
    let mut part = std::mem::take(held);
    part.extend_from_slice(bytes);
    let text = without_line_end(&part);
    if last {
        part.truncate(text.len());
    } else {
        let text = if text.len() == part.len() { text.strip_suffix(b"\r").unwrap_or(text) } else { text };
        *held = part.split_off(text.len());
    }
    part
}

/// Reads chunks from the source into reused buffers.
fn read(
    mut next: impl FnMut(Vec<u8>) -> io::Result<Option<Part>>,
    chunks: &mpsc::SyncSender<io::Result<Option<Part>>>,
    free_buffers: &Receiver<Vec<u8>>,
    waiting: &AtomicUsize,
) {
    loop {
        let buffer = free_buffers.try_recv().unwrap_or_default();
        let next = next(buffer);
        let is_last = !matches!(next, Ok(Some(_)));
        waiting.fetch_add(1, Ordering::Relaxed);
        if chunks.send(next).is_err() || is_last {
            return;
        }
    }
}

/// Writes the header and answers in order, and returns their buffers for reuse.
fn write(
    mut sink: RowSink,
    header: &[u8],
    answers: &Receiver<Vec<Answers>>,
    free_answers: &Sender<Vec<Answers>>,
) -> Result<RowSink> {
    sink.write_header(header)?;
    for answers in answers {
        answers.iter().try_for_each(|block| sink.write(&block.rows))?;
        let _ = free_answers.send(answers);
    }
    Ok(sink)
}

/// Returns the progress display for a list, hidden if the output goes to the same terminal. A compressed list's length
/// is unknown; columns are compressed too.
fn progress(list: &List, format: Format, is_terminal: bool) -> Progress {
    if is_terminal {
        return Progress::hidden();
    }
    let is_packed = list.urls.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    let is_packed = is_packed || matches!(format, Format::Parquet | Format::Arrow);
    let found = list.urls.metadata().ok().filter(|found| found.is_file() && !is_packed);
    Progress::of_bytes(found.map(|found| found.len()))
}
