//! Prints messages in input order, regardless of the order in which inputs are read.
//!
//! Messages for the current input are printed immediately. Messages for later inputs are queued, and their readers
//! wait if the queue is long ([`InputTurns`]), so that memory is bounded and no message is lost.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::report::{MAX_NAMED, Report};
use crate::error::{Result, note};
use reptile_records::detect::Content;

/// Message bytes that may be queued before readers of later inputs wait.
pub const MAX_QUEUED_BYTES: usize = 16 << 20;

/// A message about an item. It does not count the item.
pub enum Message {
    /// The item is invalid, with a description.
    Bad(String),
    /// The item was skipped, with the reason and its name.
    LeftOut(&'static str, String),
    /// The capture is used, with a remark and its name.
    Remark(&'static str, String),
    /// The body is not text, with its name.
    NonText(String, Content),
}

impl Message {
    fn bytes(&self) -> usize {
        let (Message::Bad(text) | Message::LeftOut(_, text) | Message::Remark(_, text) | Message::NonText(text, _)) =
            self;
        size_of::<Message>() + text.len()
    }

    fn print(&self, report: &mut Report) {
        match self {
            Message::Bad(text) => note(text),
            Message::LeftOut(reason, name) => report.name_item(reason, &format!("{name}: left out")),
            Message::Remark(reason, name) => report.name_item(reason, name),
            Message::NonText(name, content) => report.non_text.name(name, *content),
        }
    }

    /// Returns the key of a message that is printed up to [`MAX_NAMED`] times, or `None` if it is always printed.
    fn key(&self) -> Option<&'static str> {
        match self {
            Message::Bad(_) => None,
            Message::LeftOut(reason, _) | Message::Remark(reason, _) => Some(reason),
            Message::NonText(..) => Some("no text"),
        }
    }
}

/// The queued messages for an input.
#[derive(Default)]
struct QueuedMessages {
    messages: Vec<Message>,
    /// Counts of rate-limited messages, by key.
    named: BTreeMap<&'static str, u64>,
    /// The final result, if reading has ended.
    end: Option<Result<()>>,
}

/// Prints messages in input order.
pub struct OrderedMessages<'t> {
    turn: usize,
    queues: BTreeMap<usize, QueuedMessages>,
    bytes: usize,
    turns: &'t InputTurns,
    /// The first input whose messages are printed.
    silent_before: usize,
}

impl<'t> OrderedMessages<'t> {
    /// Starts with the first input.
    pub fn new(turns: &'t InputTurns) -> OrderedMessages<'t> {
        OrderedMessages { turn: 0, queues: BTreeMap::new(), bytes: 0, turns, silent_before: 0 }
    }

    /// Drops the messages about all inputs before this one, because an earlier pass has printed them.
    pub fn silent_before(mut self, input: usize) -> OrderedMessages<'t> {
        self.silent_before = input;
        self
    }

    /// Returns the current input's index.
    pub fn turn(&self) -> usize {
        self.turn
    }

    /// Prints a message about an input, now or when the input becomes the current one.
    pub fn add(&mut self, input: usize, message: Message, report: &mut Report) {
        if input < self.silent_before {
            return;
        }
        if input == self.turn {
            return message.print(report);
        }
        let queue = self.queues.entry(input).or_default();
        if let Some(key) = message.key() {
            let named = queue.named.entry(key).or_insert(0);
            *named += 1;
            if *named > MAX_NAMED {
                return;
            }
        }
        self.bytes += message.bytes();
        queue.messages.push(message);
        self.turns.set(self.turn, self.bytes);
    }

    /// Records that an input has ended, and advances to the first input that has not.
    ///
    /// # Errors
    /// Returns the error of the first input that could not be read, after printing all messages for earlier inputs.
    pub fn end(&mut self, input: usize, result: Result<()>, report: &mut Report) -> Result<()> {
        self.queues.entry(input).or_default().end = Some(result);
        while let Some(end) = self.queues.get_mut(&self.turn).and_then(|queue| queue.end.take()) {
            self.print_queued(report);
            end?;
            self.queues.remove(&self.turn);
            self.turn += 1;
            self.print_queued(report);
        }
        self.turns.set(self.turn, self.bytes);
        Ok(())
    }

    /// Prints the current input's queued messages.
    fn print_queued(&mut self, report: &mut Report) {
        let Some(queue) = self.queues.get_mut(&self.turn) else { return };
        for message in std::mem::take(&mut queue.messages) {
            self.bytes -= message.bytes();
            message.print(report);
        }
    }
}

impl Drop for OrderedMessages<'_> {
    /// Releases all waiting readers, because the receiver has ended.
    fn drop(&mut self) {
        self.turns.end();
    }
}

/// The current input, for readers that wait.
#[derive(Default)]
pub struct InputTurns {
    state: Mutex<TurnState>,
    changed: Condvar,
}

#[derive(Default)]
struct TurnState {
    turn: usize,
    bytes: usize,
    is_over: bool,
}

impl InputTurns {
    /// Waits until an input is the current one. Returns `false` if the receiver has ended.
    pub fn wait_for(&self, input: usize) -> bool {
        self.wait(|state| state.turn == input)
    }

    /// Waits until more messages about an input are accepted. Returns `false` if the receiver has ended.
    pub fn wait_for_space(&self, input: usize) -> bool {
        self.wait(|state| state.turn == input || state.bytes < MAX_QUEUED_BYTES)
    }

    /// Releases all waiting readers, because the receiver has ended.
    pub fn end(&self) {
        self.state().is_over = true;
        self.changed.notify_all();
    }

    fn wait(&self, is_ready: impl Fn(&TurnState) -> bool) -> bool {
        let wait = |state: &mut TurnState| !state.is_over && !is_ready(state);
        !self.changed.wait_while(self.state(), wait).unwrap_or_else(PoisonError::into_inner).is_over
    }

    fn set(&self, turn: usize, bytes: usize) {
        let mut state = self.state();
        (state.turn, state.bytes) = (turn, bytes);
        drop(state);
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, TurnState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Failure;

    #[test]
    fn readers_wait_when_the_message_limit_is_reached() {
        for (len, has_space) in [(MAX_QUEUED_BYTES - 1, true), (MAX_QUEUED_BYTES, false), (MAX_QUEUED_BYTES + 1, false)]
        {
            let (turns, mut report) = (InputTurns::default(), Report::default());
            let mut messages = OrderedMessages::new(&turns);
            let text = "x".repeat(len - size_of::<Message>());
            messages.add(1, Message::Bad(text), &mut report);
            let state = turns.state();
            assert_eq!(state.bytes, len);
            assert_eq!(state.bytes < MAX_QUEUED_BYTES, has_space);
            drop(state);
            // The current input never waits. Others stop waiting when it has ended.
            assert!(turns.wait_for_space(0));
            messages.turns.set(0, 0);
            assert!(turns.wait_for_space(2));
        }
    }

    #[test]
    fn the_first_input_to_fail_determines_the_error() {
        let (turns, mut report) = (InputTurns::default(), Report::default());
        let mut messages = OrderedMessages::new(&turns);
        for _ in 0..2 * MAX_NAMED {
            messages.add(2, Message::LeftOut("a reason", "name".into()), &mut report);
        }
        assert_eq!(messages.queues[&2].messages.len() as u64, MAX_NAMED);
        assert!(messages.end(3, Err(Failure::new("later")), &mut report).is_ok());
        assert!(messages.end(1, Err(Failure::new("first")), &mut report).is_ok());
        let failure = messages.end(0, Ok(()), &mut report);
        assert!(failure.is_err_and(|failure| failure.to_string() == "first"));
        drop(messages);
        assert!(!turns.wait_for(7));
    }
}
