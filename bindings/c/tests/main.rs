//! Tests of the C interface, in one program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod agents;
mod compile;
mod directives;
mod examples;
mod header;
mod misuse;
mod one_shot;
mod packages;
mod rows;
mod times;
mod usage;
