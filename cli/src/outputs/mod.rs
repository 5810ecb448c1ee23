//! What commands put out: files that are whole or not there ([`file`]), summaries for people ([`summary`]), and lines with
//! columns of verdicts ([`verdicts`]).

pub mod file;
pub mod summary;
pub mod verdicts;
