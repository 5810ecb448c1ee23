//! The commands, each in the file or folder of its name: its arguments, its help, and what it does.

pub mod agents;
pub mod check;
pub mod classify;
pub mod clean_param;
pub mod compile;
pub mod dialects;
pub mod diff;
pub mod fields;
pub mod inspect;
pub mod lint;
pub mod manual;
pub mod merge;
pub mod test;
pub mod update;
pub mod verify;
