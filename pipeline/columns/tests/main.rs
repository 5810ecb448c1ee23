//! This crate's tests, in one program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod arrays;
mod by_row;
mod columns;
mod streams;
mod summary;
mod usage;
