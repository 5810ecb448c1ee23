//! The published crawlers, and the product tokens that each one obeys.
//!
//! ```
//! use reptile::{Dialect, crawlers};
//!
//! let news = crawlers::of_name(b"Googlebot-News", Dialect::google());
//! assert_eq!(news.tokens.len(), 2); // it obeys groups for Googlebot too
//! assert_eq!(crawlers::nearly(b"GPT-Bot"), Some("GPTBot"));
//! ```

pub use reptile_compiler::dialect::crawlers::{ALL, Crawler, Resolved, nearly, of_name, read_as};
pub use reptile_compiler::dialect::resolve::{ResolveError, resolve};
pub use reptile_engine::spec::GROUPS;
pub use reptile_engine::token::{TokenError, crawler_in_header};
