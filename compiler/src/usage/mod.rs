//! Usage rules: lines that permit or forbid certain uses of a website's pages.
//!
//! A statement ([`Statement`]) gives a preference for each label that it contains. [`rules`] compiles the statements in
//! a group's `Content-Usage` and `Content-Signal` lines. Callers choose the labels and their meanings when asking.
//! Groups whose product token names a use ([`tokens`]) are compiled like any other group.
//!
//! Source: draft-ietf-aipref-attach-05, draft-ietf-aipref-vocab-08, and contentsignals.org for signals.

pub mod rules;
mod statement;
pub mod tokens;

pub use self::statement::{Statement, StatementError};
