//! Mistakes in a robots.txt, and their fixes.
//!
//! ```
//! use reptile::Dialect;
//! use reptile::lint::{FixOptions, MAX_FINDINGS_PER_CODE, fix_with, lint_of_host};
//!
//! let body = b"user-agent: *\ndisallow: /a\ndisallow: /a/b\ndisalllow: /c\n";
//! let linted = lint_of_host(body, Dialect::google(), MAX_FINDINGS_PER_CODE, None);
//! assert_eq!(linted.findings[0].line, 3);
//! // By default no verdict changes in any current dialect. The other fixes are listed with the reason.
//! let fixed = fix_with(body, Dialect::google(), &FixOptions::default());
//! assert_eq!(fixed.body, b"user-agent: *\ndisallow: /a\ndisalllow: /c\n");
//! assert!(fixed.unfixed[0].reason.to_string().starts_with("closes \"/c\" for \"*\" in google"));
//!
//! let options = FixOptions { changes: true, ..FixOptions::default() };
//! let fixed = fix_with(body, Dialect::google(), &options);
//! assert_eq!(fixed.body, b"user-agent: *\ndisallow: /a\nDisallow: /c\n");
//! let effect = &fixed.changes[0].effects[0];
//! assert!(effect.opens.is_none() && effect.closes.as_ref().is_some_and(|found| found.path == b"/c"));
//! ```

pub use reptile_compiler::advice::lint::{
    Change, Code, Edit, Effect, Example, Finding, Fix, FixOptions, Fixed, LintOptions, Linted, MAX_FINDINGS_PER_CODE,
    MAX_FIX_STEPS, Proved, Refusal, Severity, Unfixed, edits_of, fix_of_host, fix_with, lint_of_host, lint_with,
};
