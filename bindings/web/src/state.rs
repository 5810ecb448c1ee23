//! The module's state: files, sets and the buffers of a call.

use std::cell::RefCell;

use reptile::{Agents, Dialect, Reason, Robots, Set};

use crate::args::Args;
use crate::failure::{Code, Failure};

thread_local! {
    /// The state. A WebAssembly module without imports has one thread, and no call begins during another one.
    pub static STATE: RefCell<State> = const { RefCell::new(State::new()) };
}

/// The module's state.
pub struct State {
    pub input: Vec<u8>,
    pub output: Vec<u8>,
    pub items: Items,
    /// The reasons of earlier verdicts, by number. There are few, because causes have no free text.
    pub reasons: Vec<Reason>,
}

impl State {
    const fn new() -> State {
        State {
            input: Vec::new(),
            output: Vec::new(),
            items: Items { all: Vec::new(), unused: Vec::new() },
            reasons: Vec::new(),
        }
    }
}

/// A robots.txt as read under a dialect.
pub struct File {
    pub body: Vec<u8>,
    pub dialect: &'static Dialect,
    pub robots: Robots,
    /// The file under each dialect, in the order of [`reptile::dialects::ALL`]. Empty until the first use.
    pub others: Vec<Robots>,
}

/// An open set.
pub struct Opened {
    pub set: Set,
}

/// A file or a set, with the crawlers that it has resolved.
pub struct Item {
    pub kind: Kind,
    pub agents: Vec<Agents>,
}

pub enum Kind {
    File(Box<File>),
    Set(Box<Opened>),
}

/// All files and sets, by handle.
pub struct Items {
    all: Vec<Option<Item>>,
    /// The freed handles, which are used again.
    unused: Vec<u32>,
}

impl Items {
    /// Adds a file or a set, and returns its handle.
    pub fn add(&mut self, kind: Kind) -> u32 {
        let item = Some(Item { kind, agents: Vec::new() });
        if let Some(handle) = self.unused.pop() {
            self.all[handle as usize] = item;
            return handle;
        }
        self.all.push(item);
        self.all.len() as u32 - 1
    }

    pub fn remove(&mut self, handle: u32) {
        if self.all.get_mut(handle as usize).is_some_and(|item| item.take().is_some()) {
            self.unused.push(handle);
        }
    }

    pub fn forget(&mut self, handle: u32) {
        if let Some(Some(item)) = self.all.get_mut(handle as usize) {
            item.agents = Vec::new();
        }
    }

    pub fn item(&mut self, handle: u32) -> Result<&mut Item, Failure> {
        let item = self.all.get_mut(handle as usize).and_then(Option::as_mut);
        item.ok_or_else(|| Failure::new(Code::Freed, "the object was freed"))
    }

    pub fn file(&self, handle: u32) -> Result<&File, Failure> {
        match self.all.get(handle as usize) {
            Some(Some(Item { kind: Kind::File(file), .. })) => Ok(file),
            _ => Err(Failure::new(Code::Freed, "the file was freed")),
        }
    }

    pub fn set(&self, handle: u32) -> Result<&Opened, Failure> {
        match self.all.get(handle as usize) {
            Some(Some(Item { kind: Kind::Set(set), .. })) => Ok(set),
            _ => Err(Failure::new(Code::Freed, "the set was freed")),
        }
    }

    /// Returns crawlers that a file or a set has resolved.
    pub fn agents(&self, handle: u32, agents: u32) -> Result<&Agents, Failure> {
        let item = self.all.get(handle as usize).and_then(Option::as_ref);
        let agents = item.and_then(|item| item.agents.get(agents as usize));
        agents.ok_or_else(|| Failure::new(Code::Freed, "the object was freed"))
    }
}

/// The parts of the state that a function uses.
pub struct Call<'s> {
    pub items: &'s mut Items,
    pub reasons: &'s mut Vec<Reason>,
    /// The call's handle.
    pub handle: u32,
    /// The call's number. Its meaning depends on the function.
    pub number: u32,
    pub args: Args<'s>,
}

/// Calls a function, and stores its answer or its error. Returns whether it is an error.
pub fn answer(handle: u32, number: u32, function: fn(Call<'_>) -> Result<Vec<u8>, Failure>) -> u32 {
    STATE.with_borrow_mut(|state| {
        let State { input, output, items, reasons } = state;
        *output = Vec::new();
        let found = function(Call { items, reasons, handle, number, args: Args::new(input) });
        let is_error = found.is_err();
        *output = found.unwrap_or_else(|failure| failure.to_json());
        u32::from(is_error)
    })
}

/// Returns a value as JSON. Answers always serialize, so `serde_json`'s error messages are left out.
pub fn json(value: &impl serde::Serialize) -> Result<Vec<u8>, Failure> {
    serde_json::to_vec(value).map_err(|_| Failure::new(Code::Argument, "the answer cannot be written"))
}
