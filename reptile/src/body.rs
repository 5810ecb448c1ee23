//! A robots.txt as written: groups, rules, directives and diagnostics, by line.
//!
//! ```
//! use bumpalo::Bump;
//! use reptile::Dialect;
//! use reptile::body::parse;
//!
//! let arena = Bump::new();
//! let robots = parse(b"user-agent: *\ndisallow: /private\n", Dialect::google(), &arena);
//! assert_eq!(robots.groups.len(), 1);
//! ```

pub use reptile_compiler::advice::clean_param::CleanParams;
pub use reptile_compiler::body::directives::{self, DirectiveReader, Hours};
pub use reptile_compiler::body::{
    BodyFormat, BodyKind, DiagnosticKind, Encoding, Group, RawRule, has_directive, parse, parse_with,
};
pub use reptile_compiler::rules::groups::{Named, named};

pub use crate::location::is_location;
