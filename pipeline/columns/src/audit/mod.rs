//! Audits access logs: did crawlers obey the robots.txt that applied at the time of each request?
//!
//! [`Auditor`] decides the requests in a block, on any thread. [`Sorter`] numbers crawlers and origins and sorts the
//! requests of all logs by time. [`Audit`] counts them in this order: requests, violations, copies of robots.txt,
//! sessions and pauses. Memory depends on the limits below and not on the logs' size.
//!
//! A request violates the rules if the robots.txt that applied at its time disallows it. A crawler may use a copy of
//! robots.txt for a day (RFC 9309, section 2.4). A disallowed request is therefore counted separately if a robots.txt
//! that applied in the grace period before the request allows it.
//!
//! ```
//! use reptile::{Capture, Compiler, Dialect};
//! use reptile_columns::audit::{Audit, AuditCells, AuditOptions, Auditor, Sorter};
//! use reptile_records::tables::{ColumnOption, log::shape::Site, open::Opening, source::Source};
//!
//! let mut compiler = Compiler::new(Dialect::google()).by_time(true);
//! let mut capture = Capture::new("https://example.com/robots.txt", "user-agent: *\ndisallow: /private")?;
//! capture.time = Some(1_000_000_000);
//! compiler.add(capture)?;
//! let set = compiler.finish()?.into_set()?;
//!
//! let log = b"192.0.2.1 - - [14/Mar/2026:15:09:26 +0000] \"GET /private HTTP/1.1\" 200 5 \"-\" \"GPTBot/1.2\"\n";
//! let site = Site::of_options(Some("example.com"), &[])?;
//! let named = |name: &str| ColumnOption { option: "--column", name: Some(name.to_owned()) };
//! let wanted = vec![ColumnOption { option: "--url", name: None }, named("time"), named("user_agent"), named("status")];
//! let opening = Opening { site: Ok(site), wanted, ..Opening::of("access.log") };
//! let (table, mut rows) = Source::Text(Box::new(&log[..])).open_rows(&opening)?;
//!
//! let cells = AuditCells { status: Some(3), client: None };
//! let auditor = Auditor::new(&set, true, cells, AuditOptions::default())?;
//! let (mut sorter, mut audit) = (Sorter::default(), Audit::new(&set));
//! while let Some(part) = rows.next(Vec::new(), &|| true)? {
//!     for block in part.blocks() {
//!         sorter.add(auditor.decide(&table, block)?);
//!     }
//! }
//! audit.add(sorter.take(i64::MAX), |_, _| Ok::<(), reptile::Error>(()))?;
//! let found = audit.finish();
//! assert_eq!((&*found.crawlers[0].name, found.crawlers[0].violations), ("GPTBot", 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod counts;
mod requests;
mod sorter;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests;
mod visits;

pub use counts::{Audited, COPY_AGES, CrawlerAudit, Day, MAX_AUDITED_CRAWLERS, MAX_AUDITED_DAYS};
pub use requests::{AuditCells, AuditOptions, Auditor, DAY_SECONDS, Request, Requests, Violation};
pub use sorter::{MAX_ORIGINS, MAX_WAITING, MAX_WAITING_BYTES, REORDER_SECONDS, Sorted, Sorter};
pub use visits::{Audit, MAX_VISITS, SESSION_SECONDS};
