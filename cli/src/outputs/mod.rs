//! What commands write: whole files ([`file`]), figures for people ([`summary`]), columns of verdicts ([`verdicts`]),
//! the record of how a set was made ([`made`]), JSON ([`json`]), lists of names ([`names`]), and text that is safe to show
//! ([`text`]).

pub mod file;
pub mod json;
pub mod made;
pub mod names;
pub mod summary;
pub mod text;
pub mod verdicts;
