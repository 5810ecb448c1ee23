//! The native methods of the Java class `reptile.natives.Library`: compiling sets, one-shot verdicts, and access by
//! crawler.
//!
//! No pointer crosses the border. A Java object holds the number of an entry in a [`table::Table`], so a closed or
//! wrong number is an exception. A panic becomes an exception too.

mod border;
mod compiler;
mod one_shot;
mod summaries;
mod table;
