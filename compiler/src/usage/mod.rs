//! Usage rules: what a website permits to be done with its pages.
//!
//! A statement ([`Statement`]) gives a preference for each label that it contains. [`rules`] compiles the statements of
//! a group's `Content-Usage` and `Content-Signal` lines. Which labels count, and what they mean, is chosen when asking.
//!
//! Source: draft-ietf-aipref-attach-05, draft-ietf-aipref-vocab-08, and contentsignals.org for signals.

pub mod rules;
mod statement;

pub use self::statement::{Statement, StatementError};
