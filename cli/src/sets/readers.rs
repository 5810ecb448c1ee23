//! Threads that read a set's inputs, one input at a time each, and send the items in batches.
//!
//! Capture files (WARC, JSON Lines, Parquet) are read in parallel. Folders and archives with files named after hosts
//! are read when all earlier inputs are complete, and so are pipes and other special files, which may block forever.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::{io, thread};

use super::messages::InputTurns;
use crate::error::{Failure, Result};
use reptile_records::detect::Content;
use reptile_records::open::Input;
use reptile_records::place::Place;
use reptile_records::warc::InputPlace;
use reptile_records::{Inputs, Item, Reading, Sink};

/// Maximum items in a batch, so that a batch with empty bodies is bounded too.
const BATCH_ITEMS: usize = 1 << 15;

/// Some of an input's items.
pub struct Batch<T> {
    /// The input's index on the command line.
    pub input: usize,
    /// The items.
    pub items: Vec<T>,
    /// The number of items that were left out and are not named, by reason: most of an archive's records.
    pub left_out: BTreeMap<&'static str, u64>,
    /// The final result, in the input's last batch.
    pub end: Option<Result<()>>,
    /// Whether the input has contributed to the set, in this batch or an earlier one.
    pub has_contributed: bool,
}

impl<T> Batch<T> {
    fn new(input: usize) -> Batch<T> {
        Batch { input, items: Vec::new(), left_out: BTreeMap::new(), end: None, has_contributed: false }
    }

    /// Returns the batch with the results of `work` instead of its items.
    pub fn map<U>(self, work: impl FnOnce(Vec<T>) -> Vec<U>) -> Batch<U> {
        let Batch { input, items, left_out, end, has_contributed } = self;
        Batch { input, items: work(items), left_out, end, has_contributed }
    }
}

/// Reads inputs on several threads.
pub struct Readers<'a> {
    inputs: Sources<'a>,
    reading: Reading<'a>,
    turns: &'a InputTurns,
    /// Batch size in memory, in bytes: bodies and metadata.
    batch_bytes: usize,
    /// Index of the next input to read.
    next: AtomicUsize,
    /// Count of completed inputs.
    ended: AtomicUsize,
    /// Each input path's rank.
    ranks: Vec<u32>,
    /// Inputs to leave out, by index.
    left_out: BTreeSet<usize>,
    /// Whether the other inputs are read if one fails.
    keeps_going: bool,
    /// Whether an input failed after it contributed, which makes the results of this pass unusable.
    is_spoiled: AtomicBool,
}

enum Sources<'a> {
    Named(&'a [Place]),
    Opened(Mutex<Option<Input>>),
}

impl<'a> Readers<'a> {
    /// Creates readers that send batches up to `batch_bytes` bytes.
    pub fn new(inputs: Inputs<'a>, reading: Reading<'a>, turns: &'a InputTurns, batch_bytes: usize) -> Readers<'a> {
        let inputs = match inputs {
            Inputs::Named(paths) => Sources::Named(paths),
            Inputs::Opened(input) => Sources::Opened(Mutex::new(Some(*input))),
        };
        let ranks = match &inputs {
            Sources::Named(paths) => ranks_of(paths),
            Sources::Opened(_) => vec![0],
        };
        let (next, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (left_out, keeps_going, is_spoiled) = (BTreeSet::new(), false, AtomicBool::new(false));
        Readers { inputs, reading, turns, batch_bytes, next, ended, ranks, left_out, keeps_going, is_spoiled }
    }

    /// Leaves out some inputs, by index. With `keeps_going`, reads the other inputs if one fails.
    pub fn leave_out(self, inputs: &BTreeSet<usize>, keeps_going: bool) -> Readers<'a> {
        Readers { left_out: inputs.clone(), keeps_going, ..self }
    }

    /// Starts `count` threads, or fewer if there are fewer inputs.
    ///
    /// # Errors
    /// Returns an error if a thread cannot be started.
    pub fn start<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        count: usize,
        send: &SyncSender<Batch<Item>>,
    ) -> io::Result<Vec<ScopedJoinHandle<'s, ()>>> {
        let start = |_| {
            let send = send.clone();
            Builder::new().spawn_scoped(scope, move || self.work(&send))
        };
        (0..count.clamp(1, self.len().max(1))).map(start).collect()
    }

    fn len(&self) -> usize {
        match &self.inputs {
            Sources::Named(paths) => paths.len(),
            Sources::Opened(_) => 1,
        }
    }

    /// Reads inputs one at a time, until none remain or the receiver has ended.
    fn work(&self, send: &SyncSender<Batch<Item>>) {
        let _guard = EndOnPanic(self.turns);
        loop {
            let input = self.next.fetch_add(1, Ordering::Relaxed);
            if input >= self.len() {
                return;
            }
            let mut batch = Batch::new(input);
            let result = if self.left_out.contains(&input) { Ok(()) } else { self.read(&mut batch, send) };
            let is_read = result.is_ok() || self.keeps_going;
            if result.is_err() && batch.has_contributed {
                self.is_spoiled.store(true, Ordering::Release);
            }
            batch.end = Some(result);
            if send.send(batch).is_err() {
                return;
            }
            // The thread that reads the last input continues with the waiting captures, as one more input.
            if is_read && self.ended.fetch_add(1, Ordering::AcqRel) + 1 == self.len() {
                if self.is_spoiled.load(Ordering::Acquire) {
                    return;
                }
                let mut batch = Batch::new(self.len());
                let result = self.send(&mut batch, send, &mut |sink| Ok(self.reading.resolve(sink)?));
                batch.end = Some(result);
                // Sending fails only if the receiver has ended.
                let _ = send.send(batch);
                return;
            }
        }
    }

    /// Reads one input. Items that were not sent remain in the batch.
    fn read(&self, batch: &mut Batch<Item>, send: &SyncSender<Batch<Item>>) -> Result<()> {
        let number = batch.input;
        if !self.turns.wait_for_space(number) {
            return Err(stopped());
        }
        let input = self.open(number)?;
        if !input.is_captures() && !self.turns.wait_for(number) {
            return Err(stopped());
        }
        let place = InputPlace { input: number, rank: self.ranks.get(number).copied().unwrap_or(0) };
        // A WARC file's pages and redirects wait for the other inputs.
        batch.has_contributed = matches!(input.content, Content::Warc | Content::Zip);
        let mut input = Some(input);
        self.send(batch, send, &mut |sink| match input.take() {
            Some(input) => Ok(self.reading.read(input, place, sink)?),
            None => Ok(()),
        })
    }

    /// Sends the items that `read` finds. The last, incomplete batch remains in `batch`.
    fn send(
        &self,
        batch: &mut Batch<Item>,
        send: &SyncSender<Batch<Item>>,
        read: &mut dyn FnMut(&mut Sink<'_>) -> Result<()>,
    ) -> Result<()> {
        let number = batch.input;
        let (mut bytes, mut items) = (0, 0);
        read(&mut |item| {
            items += 1;
            if let Item::LeftOut { reason, name: None } = item {
                *batch.left_out.entry(reason).or_default() += 1;
            } else {
                bytes += item.memory_bytes();
                batch.items.push(item);
            }
            batch.has_contributed = true;
            if bytes >= self.batch_bytes || items >= BATCH_ITEMS {
                (bytes, items) = (0, 0);
                let full = std::mem::replace(batch, Batch { has_contributed: true, ..Batch::new(number) });
                if send.send(full).is_err() || !self.turns.wait_for_space(number) {
                    return Err(stopped().into());
                }
            }
            Ok(())
        })
    }

    fn open(&self, number: usize) -> Result<Input> {
        let failed = || Failure::new("internal error: an input was opened twice; please report it");
        match &self.inputs {
            Sources::Opened(input) => input.lock().unwrap_or_else(PoisonError::into_inner).take().ok_or_else(failed),
            Sources::Named(paths) => {
                let path = paths.get(number).ok_or_else(failed)?;
                if !is_file(path) && !self.turns.wait_for(number) {
                    return Err(stopped());
                }
                Ok(Input::open(path)?)
            }
        }
    }
}

/// Returns each path's rank among all paths.
fn ranks_of(paths: &[Place]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..paths.len()).collect();
    order.sort_by_key(|&place| Path::new(paths[place].as_os_str()));
    let mut ranks = vec![0; paths.len()];
    for (rank, place) in (0..).zip(order) {
        ranks[place] = rank;
    }
    ranks
}

/// Returns the error for a reader thread that stopped, and for the threads that wait for it.
pub fn stopped() -> Failure {
    Failure::new("internal error: a thread that reads the inputs has failed; please report it")
}

/// Releases waiting threads if a reader panics.
struct EndOnPanic<'t>(&'t InputTurns);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.end();
        }
    }
}

/// Returns whether a path is a regular file or remote, which can be opened without blocking.
fn is_file(path: &Place) -> bool {
    !path.is_standard() && path.is_file_or_remote()
}
