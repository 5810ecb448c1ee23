//! The contents of a robots.txt by line: groups, rules, directives and diagnostics.

pub use reptile_compiler::advice::clean_param::CleanParams;
pub use reptile_compiler::body::directives::{self, DirectiveReader, Hours};
pub use reptile_compiler::body::{DiagnosticKind, Group, RawRule, is_html, parse, parse_with};
pub use reptile_compiler::rules::groups::{Named, named};
