//! One thread that reads, all threads that decide, one thread that writes, each a chunk ahead of the next.
//!
//! Buffers are handed back and used again, so that memory is the same for a list of any length.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{Builder, JoinHandle};

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, IntoParallelRefMutIterator, ParallelIterator};

use super::rejects::Rejects;
use super::source::Source;
use super::totals::Totals;
use super::{Args, progress};
use crate::error::{Failure, Result};
use crate::inputs::lines::{Chunk, ChunkKind, without_line_end};
use crate::inputs::tables::Table;
use crate::inputs::tables::open::Opening;
use crate::outputs::file::Complete;
use crate::outputs::progress::Progress;
use crate::outputs::sink::Sink;
use crate::outputs::summary::grouped;
use crate::outputs::verdicts::{Answers, Decider, LongPart};

/// The number of chunks that are read, and of answers that are kept for writing, ahead of the threads that decide.
const AHEAD: usize = 1;

/// The threads that read and write, and the channels to and from them.
pub struct Pipeline {
    /// Receives the format and the columns once the first row has been read, or the error if it cannot be.
    table: Receiver<Result<Table>>,
    /// Receives the chunks, and `None` at the end: without it the thread that reads has failed.
    chunks: Receiver<io::Result<Option<Chunk>>>,
    /// The number of chunks that are read and not yet decided.
    waiting: Arc<AtomicUsize>,
    used_buffers: Sender<Vec<u8>>,
    answers: mpsc::SyncSender<Vec<Answers>>,
    used_answers: Receiver<Vec<Answers>>,
    writer: JoinHandle<Result<Sink>>,
    /// Whether the output is a terminal.
    is_terminal: bool,
}

impl Pipeline {
    /// Starts the threads.
    ///
    /// # Errors
    /// If the system cannot start them.
    pub fn start(opening: Opening, source: Source, sink: Sink, is_terminal: bool) -> Result<Pipeline> {
        let (table_sender, table) = mpsc::sync_channel(1);
        let waiting = Arc::new(AtomicUsize::new(0));
        let (chunk_sender, chunks) = mpsc::sync_channel(AHEAD);
        let (used_buffers, free_buffers) = mpsc::channel();
        // Nobody joins the reader: after a failure it may hang in a read that never returns.
        let reader_waiting = Arc::clone(&waiting);
        let failed = |error| Failure::new(format!("the threads cannot be started: {error}"));
        let reader = move || match source.open_rows(&opening) {
            Ok((table, mut rows)) => {
                if table_sender.send(Ok(table)).is_ok() {
                    let next = |buffer| rows.next(buffer, || reader_waiting.load(Ordering::Relaxed) == 0);
                    read(next, &chunk_sender, &free_buffers, &reader_waiting);
                }
            }
            // Whoever would hear of it has ended.
            Err(failure) => drop(table_sender.send(Err(failure))),
        };
        Builder::new().spawn(reader).map_err(failed)?;

        let (answers, answer_receiver) = mpsc::sync_channel(AHEAD);
        let (free_answers, used_answers) = mpsc::channel();
        let writer = move || write(sink, &answer_receiver, &free_answers);
        let writer = Builder::new().spawn(writer).map_err(failed)?;
        Ok(Pipeline { table, chunks, waiting, used_buffers, answers, used_answers, writer, is_terminal })
    }

    /// The format and the columns of the table. Called once, and first.
    ///
    /// # Errors
    /// If the table cannot be read, or does not have the wanted columns.
    pub fn table(&self) -> Result<Table> {
        let stopped = || Failure::new("the thread that reads has stopped; this is a fault of reptile");
        self.table.recv().unwrap_or_else(|_| Err(stopped()))
    }

    /// Decides every row, and completes the output, which begins with `header`, and the file of invalid rows. Their files still
    /// lack their names.
    ///
    /// # Errors
    /// If the table cannot be read, the set is damaged, or an output cannot be written.
    pub fn decide(
        self,
        table: Table,
        header: &[u8],
        decider: &Decider,
        mut rejects: Rejects,
        args: &Args,
    ) -> Result<(Totals, Vec<Complete>)> {
        let progress = progress(args, table.format, self.is_terminal);
        let mut totals = Totals::new(table);
        // If the writer is gone, the next one hears of it too.
        let _ = self.answers.send(vec![Answers::of_header(header)]);
        let result = self.decide_chunks(decider, args, &mut totals, &mut rejects, &progress);
        drop(progress);
        drop(self.answers);
        let written = self
            .writer
            .join()
            .unwrap_or_else(|_| Err(Failure::new("the thread that writes has failed; this is a fault of reptile")));
        // Deciding stops when writing fails, and then the error of the writer is the cause.
        let sink = written?;
        match result {
            Ok(()) => {
                let complete = sink.finish()?.complete()?;
                Ok((totals, complete.into_iter().chain(rejects.complete()?).collect()))
            }
            Err(Stop::Unwritable(failure)) => Err(failure),
            Err(Stop::Damaged(error)) => Err(Failure::at(&args.set, error)),
            Err(Stop::Unreadable(error)) => Err(Failure::at(&args.urls, format!("cannot be read: {error}"))),
            Err(Stop::WriterGone) => {
                Err(Failure::new("the thread that writes has stopped; this is a fault of reptile"))
            }
            Err(Stop::ReaderGone) => Err(Failure::new("the thread that reads has failed; this is a fault of reptile")),
        }
    }

    /// Decides the chunks as they come.
    fn decide_chunks(
        &self,
        decider: &Decider,
        args: &Args,
        totals: &mut Totals,
        rejects: &mut Rejects,
        progress: &Progress,
    ) -> std::result::Result<(), Stop> {
        // A CR at the end of a part may belong to the end of the line, which only the next part shows.
        let (mut held_cr, mut is_first) = (false, true);
        loop {
            let chunk = self.chunks.recv().map_err(|_| Stop::ReaderGone)?;
            let Some(chunk) = chunk.map_err(Stop::Unreadable)? else { return Ok(()) };
            let mut answers = self.used_answers.try_recv().unwrap_or_default();
            match chunk.kind {
                ChunkKind::Lines => {
                    let blocks = chunk.blocks();
                    totals.keep_sample(chunk.bytes());
                    answers.resize_with(blocks.len(), Answers::default);
                    let work = blocks.par_iter().zip(answers.par_iter_mut());
                    work.try_for_each(|(block, answers)| decider.decide(&totals.table, block, answers))
                        .map_err(Stop::Damaged)?;
                }
                ChunkKind::LongLine { last } => {
                    answers.resize_with(1, Answers::default);
                    let text = long_part(chunk.bytes(), last, &mut held_cr);
                    let part = LongPart { text: &text, is_first, is_last: last };
                    rejects.add_part(&part, totals.line_ends(), &totals.table).map_err(Stop::Unwritable)?;
                    is_first = last;
                    answers.iter_mut().for_each(|answers| decider.pass_on(&totals.table, &part, answers));
                }
            }
            for answers in &answers {
                let line_ends = totals.line_ends();
                totals.add(answers, &args.urls);
                rejects.add(&answers.rejected, line_ends, &totals.table).map_err(Stop::Unwritable)?;
            }
            progress.add(chunk.filled as u64);
            progress.say(|| format!(", {} URLs", grouped(totals.lines)));
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            // The reader may have ended already, and needs no buffer then.
            let _ = self.used_buffers.send(chunk.buffer);
            self.answers.send(answers).map_err(|_| Stop::WriterGone)?;
        }
    }
}

/// The reason why deciding stopped before the end of the list.
enum Stop {
    Damaged(reptile::Error),
    Unreadable(io::Error),
    Unwritable(Failure),
    WriterGone,
    ReaderGone,
}

/// A part of a long line without the end of the line. `held_cr` keeps a CR at the end of a part until the next one.
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

/// The thread that reads: chunks from the source, in buffers that come back.
fn read(
    mut next: impl FnMut(Vec<u8>) -> io::Result<Option<Chunk>>,
    chunks: &mpsc::SyncSender<io::Result<Option<Chunk>>>,
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

/// The thread that writes: answers in order, and their buffers back.
fn write(mut sink: Sink, answers: &Receiver<Vec<Answers>>, free_answers: &Sender<Vec<Answers>>) -> Result<Sink> {
    for answers in answers {
        answers.iter().try_for_each(|block| sink.write(block.text()))?;
        let _ = free_answers.send(answers);
    }
    Ok(sink)
}
