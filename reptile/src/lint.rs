//! Mistakes in a robots.txt, and their fixes.

pub use reptile_compiler::advice::lint::{
    Code, Finding, Fix, Fixed, Linted, MAX_FINDINGS_PER_CODE, Severity, fix_of_host, lint_of_host,
};
