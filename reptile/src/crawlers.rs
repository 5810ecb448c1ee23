//! Published crawlers, and the product tokens that they obey.

pub use reptile_compiler::dialect::crawlers::{
    ALL, Crawler, ResolveError, Resolved, nearly, of_name, read_as, resolve,
};
pub use reptile_engine::spec::GROUPS;
pub use reptile_engine::token::{TokenError, crawler_in_header};
