//! Inputs of a crawl: captures of robots.txt files, and tables of URLs.
//!
//! [`Reading`] splits inputs of any kind into captures: folders, archives, WARC files, and tables. [`open`] opens and
//! detects an input, [`hosts`] turns file names into origins, [`bodies`] reads single files, [`lines`] and [`lists`] read lists,
//! [`sitemap`] reads sitemaps, [`tables`] finds the URLs in text tables, and [`parquet`], [`arrow`] and [`batches`] read columns. A [`place`]
//! names a local file or a remote object.
//! [`identity`] checks whether clients are the crawlers that they name. [`pages`] reads the statements that arrive with a crawl's pages, and [`stores`] reads and writes remote objects. This crate does not interpret robots.txt files, decide URLs or write to
//! a terminal. Notable events are [`Item`]s: the caller reports and counts them.
//!
//! ```
//! use reptile_records::{Item, ReadOptions, Reading, open::Input, spill::Scratch, warc::InputPlace};
//!
//! let folder = tempfile::tempdir()?;
//! std::fs::write(folder.path().join("example.com"), "user-agent: *\ndisallow: /private\n")?;
//!
//! let options = ReadOptions::default();
//! let reading = Reading::new(&options, Scratch::default());
//! let mut origins = Vec::new();
//! let input = Input::open(folder.path())?;
//! reading.read(input, InputPlace::default(), &mut |item| {
//!     if let Item::Robots(robots) = item {
//!         origins.extend(robots.origins.iter().map(ToString::to_string));
//!     }
//!     Ok(())
//! })?;
//! assert_eq!(origins, ["http://example.com", "https://example.com"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]
#![allow(rustdoc::private_intra_doc_links, reason = "module pages name their private parts, for maintainers")]

mod archives;
pub mod arrow;
pub mod batches;
pub mod bodies;
pub mod captures;
mod csv_captures;
pub mod detect;
mod dictionary;
mod error;
pub mod file_list;
pub mod fingerprint;
mod folders;
pub mod globs;
mod gzip;
mod heritrix;
pub mod hosts;
pub mod identity;
mod item;
mod jsonl;
pub mod lines;
pub mod lists;
mod magic;
pub mod open;
mod options;
pub mod pages;
pub mod parquet;
pub mod place;
mod ranged;
mod reading;
pub mod redacted;
mod robots_url;
pub mod shown;
pub mod sitemap;
pub mod spill;
pub mod stores;
pub mod tables;
pub mod text;
pub mod time;
pub mod trees;
mod tsv;
pub mod unpack;
pub mod warc;

pub use error::{Error, ErrorKind, Result};
pub use item::{Fetch, Item, Response, Robots, Sink};
pub use options::ReadOptions;
pub use reading::{Inputs, Reading, no_robots, read_bodies};
