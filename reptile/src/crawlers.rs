//! The published crawlers, and the product tokens that each one obeys.
//!
//! ```
//! use reptile::{Dialect, crawlers};
//!
//! let news = crawlers::of_name(b"Googlebot-News", Dialect::google());
//! assert_eq!(news.tokens.len(), 2); // it obeys groups for Googlebot too
//! assert_eq!(crawlers::mistake(b"GPT-Bot"), Some(crawlers::Mistake::Nearly("GPTBot")));
//! assert_eq!(crawlers::mistake(b"ChatGPT").unwrap().tokens()[0], "GPTBot");
//! ```

pub use reptile_compiler::dialect::crawlers::{
    ALL, Crawler, DNS_SUFFIXES, DnsSuffixes, Obeys, RANGE_LISTS, RangeList, Record, Resolved, Standing, dns_suffixes,
    known, of_name, range_lists, read_as, records,
};
pub use reptile_compiler::dialect::mistakes::{Mistake, mistake};
pub use reptile_compiler::dialect::resolve::{ResolveError, resolve};
pub use reptile_engine::format::crawlers::Purposes;
pub use reptile_engine::spec::GROUPS;
pub use reptile_engine::token::{TokenError, crawler_in_header};
