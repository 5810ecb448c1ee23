//! The tests of the program: engines that lie, hang, crash, print garbage or eat memory, each of which is a result.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test code: a panic is the report")]

mod engines;
mod runs;
mod support;
mod tries;
