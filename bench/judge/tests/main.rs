//! Tests of the program with engines that lie, hang, crash, print garbage or exhaust memory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test code: a panic is the report")]

mod engines;
mod runs;
mod support;
mod tries;
