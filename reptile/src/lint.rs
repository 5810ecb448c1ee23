//! Mistakes in a robots.txt, and their fixes.
//!
//! ```
//! use reptile::Dialect;
//! use reptile::lint::{MAX_FINDINGS_PER_CODE, Severity, fix_of_host, lint_of_host};
//!
//! let body = b"user-agent: *\ndissallow: /private\n";
//! let linted = lint_of_host(body, Dialect::google(), MAX_FINDINGS_PER_CODE, None);
//! assert_eq!(linted.findings[0].line, 2);
//! let fixed = fix_of_host(body, Dialect::google(), Severity::Warning, None);
//! assert_eq!(fixed.body, b"user-agent: *\nDisallow: /private\n");
//! ```

pub use reptile_compiler::advice::lint::{
    Code, Finding, Fix, Fixed, LintOptions, Linted, MAX_FINDINGS_PER_CODE, Proved, Severity, fix_of_host, lint_of_host,
    lint_with,
};
