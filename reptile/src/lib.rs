//! The Robots Exclusion Protocol, compiled: decides URLs by robots.txt files, a handful or millions, with the rule and
//! the line that decided.
//!
//! - **One robots.txt**: [`Robots`] reads it and can decide at once; [`OneShot`] answers a single query.
//! - **Millions**: [`Compiler`] compiles them to a [`Set`]; [`Set::read`] opens it again anywhere.
//! - **Crawlers**: [`Set::agent`] and [`Set::agents`] resolve them to an [`Agent`], which decides URLs;
//!   [`Set::agent_of_header`] finds the crawler that sends a `User-Agent` header.
//! - **Usage**: [`usage`] tells what a website permits to be done with its pages.
//! - **Tools**: [`lint`], [`explain`], [`reason`], [`prove`], [`body`], [`contents`], [`summary`] and [`mod@diff`] serve
//!   programs that show or compare rules.
//! - **Readings**: a [`Dialect`] defines what a robots.txt means (Google's library, Google's documentation, RFC 9309,
//!   Yandex, Bing, the drafts from 1994 and 1996, or your own), and a [`Profile`] what a failed fetch means.
//!
//! ```
//! use reptile::{Dialect, Robots, Verdict};
//!
//! let robots = Robots::parse("user-agent: *\ndisallow: /private\nallow: /private/press\n", Dialect::google())?;
//! let agent = robots.agent("GPTBot")?;
//! assert_eq!(agent.decide("https://example.com/private/press/1")?, Verdict::Allow);
//!
//! let explained = agent.explain("/private/notes")?;
//! assert_eq!(explained.verdict, Verdict::Disallow);
//! assert_eq!(explained.rule().map(|rule| rule.line), Some(2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! No verdict is accidental. An origin without a robots.txt in the set is [`Verdict::Unknown`], a malformed URL is
//! [`Verdict::Invalid`], and the caller chooses what to do with them. An invalid crawler name is an error, and so is
//! a damaged set. No content in a robots.txt, a URL or a set file can make a call panic, and each function documents
//! a bound on its time.
//!
//! # Features
//!
//! All but `serde` are on by default.
//!
//! | feature | what it adds |
//! |---|---|
//! | `compile` | [`Robots`], [`OneShot`], [`Compiler`], [`Set::with_robots`], [`Set::verify_deep`]; without it the crate reads sets |
//! | `idna` | hosts beyond ASCII (UTS 46); without it their origins are unknown |
//! | `mmap` | [`Set::map`] |
//! | `rayon` | batches on all threads, compiling on all threads |
//! | `serde` | serialization of results, off by default: [words such as `allow`](#words) |
//!
//! Features only add: none changes a verdict, except that with `idna` more origins are known.
//!
//! # Words
//!
//! Each value of types such as [`Verdict`], [`Group`], [`RuleKind`], [`Scheme`], [`Cause`], [`Reason`] and [`Origin`]
//! has one text, which the command also prints. `Display` writes it, and `FromStr` reads it; an [`UnknownWord`] lists
//! the expected words. The feature `serde` serializes these values as their texts. Structs such as [`Explanation`]
//! become records of their fields. Patterns and paths become texts, or lists of bytes if they are not UTF-8.
//!
//! ```
//! use reptile::{Reason, Verdict};
//!
//! assert_eq!("disallow".parse(), Ok(Verdict::Disallow));
//! assert_eq!(Verdict::Disallow.to_string(), "disallow");
//! let error = "denied".parse::<Verdict>().unwrap_err();
//! assert_eq!(error.to_string(), "expected a verdict (allow, disallow, unknown, invalid), found \"denied\"");
//! let reason: Reason = "rule of the last good copy, now 503".parse()?;
//! # #[cfg(feature = "serde")]
//! assert_eq!(serde_json::to_string(&(Verdict::Allow, reason))?, r#"["allow","rule of the last good copy, now 503"]"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod agent;
#[cfg(feature = "compile")]
pub mod body;
#[cfg(feature = "compile")]
pub mod capture;
#[cfg(feature = "compile")]
mod compile;
#[cfg(feature = "compile")]
pub mod contents;
mod crawler;
#[cfg(feature = "compile")]
pub mod crawlers;
#[cfg(feature = "compile")]
pub mod dialects;
#[cfg(feature = "compile")]
pub mod diff;
mod error;
#[cfg(feature = "compile")]
pub mod explain;
mod explanation;
#[cfg(feature = "compile")]
pub mod files;
mod header;
#[cfg(feature = "compile")]
pub mod limits;
#[cfg(feature = "compile")]
pub mod lint;
#[cfg(feature = "compile")]
mod location;
#[cfg(feature = "compile")]
mod one_shot;
#[cfg(feature = "compile")]
mod parallel;
#[cfg(feature = "compile")]
pub mod prove;
#[cfg(feature = "compile")]
pub mod reason;
#[cfg(feature = "compile")]
pub mod rights;
#[cfg(feature = "compile")]
mod robots;
mod set;
#[cfg(feature = "compile")]
pub mod shapes;
mod site;
#[cfg(feature = "compile")]
pub mod summary;
#[cfg(feature = "compile")]
pub mod urls;
pub mod usage;

pub use agent::{Agent, Agents, KnownHosts};
#[cfg(feature = "compile")]
pub use compile::{Capture, CompiledSet, Compiler, Parsed, ParsedCapture, Parser, Progress};
pub use crawler::Crawler;
pub use error::{CrawlerError, CrawlerErrorKind, Error, ErrorKind};
pub use explanation::{Explanation, Provenance};
pub use header::{Headers, MAX_HEADER_BYTES};
#[cfg(feature = "compile")]
pub use one_shot::OneShot;
#[cfg(feature = "compile")]
pub use robots::Robots;
pub use set::{KnownCrawler, Set};
pub use site::{Directive, Site, Span};

#[cfg(feature = "compile")]
pub use reptile_compiler::capture::{Profile, Truncation, challenger_of_header};
#[cfg(feature = "compile")]
pub use reptile_compiler::dialect::Dialect;

/// The settings of a [`Dialect`] and a [`Profile`], for building your own, and of a [`Compiler`].
#[cfg(feature = "compile")]
pub mod settings {
    pub use reptile_compiler::automaton::Strategy;
    pub use reptile_compiler::capture::{Effect, Freshness, NotText};
    pub use reptile_compiler::dialect::{
        BlankLine, BodyLimit, ByteOrderMark, CallerVersion, CrawlDelays, DefaultToken, EmptyDisallow, Family,
        GroupChoice, KeyMatching, Order, OtherDirectives, RuleBytes, RuleStart, Sitemaps, TokenSyntax, WhiteSpace,
    };
    pub use reptile_engine::format::tokens::NameMatching;
    pub use reptile_engine::norm::NormalForm;
}

pub use reptile_engine::format::FORMAT_VERSION;
pub use reptile_engine::format::directives::{DirectiveKind, DirectiveState};
#[cfg(feature = "mmap")]
pub use reptile_engine::platform::MappedFile;
pub use reptile_engine::set::GroupKind as Group;
pub use reptile_engine::url::{OwnedOrigin as Origin, Scheme, UrlError, UrlParts};
pub use reptile_engine::verdict::{Cause, Challenger, PolicySource, Reason, Rule, RuleKind, Verdict};
pub use reptile_engine::words::UnknownWord;
