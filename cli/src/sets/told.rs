//! What the user is told of the items of inputs, in the order of the inputs, whatever the order in which they are read.
//!
//! Of the input whose turn it is everything is told at once. What there is to tell of the others waits, and readers of other
//! inputs wait too if that is much ([`Turns`]), so that memory is bounded and nothing is lost.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::report::{MAX_NAMED, Report};
use crate::error::{Result, note};
use reptile_records::recognise::Content;

/// Bytes of messages that wait until readers of later inputs wait too.
pub const MAX_WAITING_MESSAGE_BYTES: usize = 16 << 20;

/// What there is to tell of an item. Counting is not its task.
pub enum Message {
    /// The item is faulty, in these words.
    Bad(String),
    /// The item was left out for this reason, and has this name.
    LeftOut(&'static str, String),
    /// The body of this name is no text.
    Strange(String, Content),
}

impl Message {
    fn bytes(&self) -> usize {
        let (Message::Bad(text) | Message::LeftOut(_, text) | Message::Strange(text, _)) = self;
        size_of::<Message>() + text.len()
    }

    fn tell(&self, report: &mut Report) {
        match self {
            Message::Bad(text) => note(text),
            Message::LeftOut(reason, name) => report.name_left_out(reason, name),
            Message::Strange(name, content) => report.strange.name(name, *content),
        }
    }

    /// Messages of one such key are told up to [`MAX_NAMED`]; without a key all are.
    fn key(&self) -> Option<&'static str> {
        match self {
            Message::Bad(_) => None,
            Message::LeftOut(reason, _) => Some(reason),
            Message::Strange(..) => Some("no text"),
        }
    }
}

/// What waits to be told of an input.
#[derive(Default)]
struct Waiting {
    messages: Vec<Message>,
    /// How many of them there are of those that are told up to a number.
    named: BTreeMap<&'static str, u64>,
    /// How reading it ended, if it did.
    end: Option<Result<()>>,
}

/// Tells of the inputs in their order.
pub struct Told<'t> {
    turn: usize,
    waiting: BTreeMap<usize, Waiting>,
    bytes: usize,
    turns: &'t Turns,
}

impl<'t> Told<'t> {
    /// It is the turn of the first input.
    pub fn new(turns: &'t Turns) -> Told<'t> {
        Told { turn: 0, waiting: BTreeMap::new(), bytes: 0, turns }
    }

    /// Tells something of an input, now or when its turn comes.
    pub fn tell(&mut self, input: usize, message: Message, report: &mut Report) {
        if input == self.turn {
            return message.tell(report);
        }
        let waiting = self.waiting.entry(input).or_default();
        if let Some(key) = message.key() {
            let named = waiting.named.entry(key).or_insert(0);
            *named += 1;
            if *named > MAX_NAMED {
                return;
            }
        }
        self.bytes += message.bytes();
        waiting.messages.push(message);
        self.turns.set(self.turn, self.bytes);
    }

    /// Reading an input has ended. If it was its turn, it is that of the next one, and so on.
    ///
    /// # Errors
    /// The failure of the first input that could not be read, when everything of the inputs before it was told.
    pub fn end(&mut self, input: usize, result: Result<()>, report: &mut Report) -> Result<()> {
        self.waiting.entry(input).or_default().end = Some(result);
        while let Some(end) = self.waiting.get_mut(&self.turn).and_then(|waiting| waiting.end.take()) {
            self.tell_waiting(report);
            end?;
            self.waiting.remove(&self.turn);
            self.turn += 1;
            self.tell_waiting(report);
        }
        self.turns.set(self.turn, self.bytes);
        Ok(())
    }

    /// Tells what waits of the input whose turn it is.
    fn tell_waiting(&mut self, report: &mut Report) {
        let Some(waiting) = self.waiting.get_mut(&self.turn) else { return };
        for message in std::mem::take(&mut waiting.messages) {
            self.bytes -= message.bytes();
            message.tell(report);
        }
    }
}

impl Drop for Told<'_> {
    /// Nobody listens any more, so no reader has to wait.
    fn drop(&mut self) {
        self.turns.end();
    }
}

/// The turns of the inputs, which readers wait for.
#[derive(Default)]
pub struct Turns {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    turn: usize,
    bytes: usize,
    is_over: bool,
}

impl Turns {
    /// Waits for the turn of an input. `false` if nobody listens any more.
    pub fn wait_for(&self, input: usize) -> bool {
        self.wait(|state| state.turn == input)
    }

    /// Waits until there may be more messages about an input. `false` if nobody listens any more.
    pub fn wait_for_room(&self, input: usize) -> bool {
        self.wait(|state| state.turn == input || state.bytes < MAX_WAITING_MESSAGE_BYTES)
    }

    /// Nobody listens any more, so that nobody needs to wait.
    pub fn end(&self) {
        self.state().is_over = true;
        self.changed.notify_all();
    }

    fn wait(&self, is_ready: impl Fn(&State) -> bool) -> bool {
        let wait = |state: &mut State| !state.is_over && !is_ready(state);
        !self.changed.wait_while(self.state(), wait).unwrap_or_else(PoisonError::into_inner).is_over
    }

    fn set(&self, turn: usize, bytes: usize) {
        let mut state = self.state();
        (state.turn, state.bytes) = (turn, bytes);
        drop(state);
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Failure;

    #[test]
    fn the_limit_of_waiting_messages_holds_at_its_edges() {
        for (len, has_room) in [
            (MAX_WAITING_MESSAGE_BYTES - 1, true),
            (MAX_WAITING_MESSAGE_BYTES, false),
            (MAX_WAITING_MESSAGE_BYTES + 1, false),
        ] {
            let (turns, mut report) = (Turns::default(), Report::default());
            let mut told = Told::new(&turns);
            let text = "x".repeat(len - size_of::<Message>());
            told.tell(1, Message::Bad(text), &mut report);
            let state = turns.state();
            assert_eq!(state.bytes, len);
            assert_eq!(state.bytes < MAX_WAITING_MESSAGE_BYTES, has_room);
            drop(state);
            // The input whose turn it is need not wait, and others no longer when it has ended.
            assert!(turns.wait_for_room(0));
            told.turns.set(0, 0);
            assert!(turns.wait_for_room(2));
        }
    }

    #[test]
    fn the_first_failure_in_the_order_of_the_inputs_counts() {
        let (turns, mut report) = (Turns::default(), Report::default());
        let mut told = Told::new(&turns);
        for _ in 0..2 * MAX_NAMED {
            told.tell(2, Message::LeftOut("a reason", "name".into()), &mut report);
        }
        assert_eq!(told.waiting[&2].messages.len() as u64, MAX_NAMED);
        assert!(told.end(3, Err(Failure::new("later")), &mut report).is_ok());
        assert!(told.end(1, Err(Failure::new("first")), &mut report).is_ok());
        let failure = told.end(0, Ok(()), &mut report);
        assert!(failure.is_err_and(|failure| failure.to_string() == "first"));
        drop(told);
        assert!(!turns.wait_for(7));
    }
}
