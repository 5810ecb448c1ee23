//! The native half of the Python package `reptile`. Its other half, in `python/reptile`, has the documentation that users see,
//! the types of verdicts and errors, and the drop-ins.
//!
//! Deciding is in the crate `reptile`, columns of verdicts in `reptile-arrow`; here are objects, conversions and the border:
//! strings are borrowed, the interpreter is let go of while work takes long, and errors are exceptions with the library's text.

mod agents;
mod arrow;
mod compile;
mod convert;
mod explain;
mod robots;
mod set;
mod timed;

/// The module `reptile._native`.
#[pyo3::pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::agents::{PyAgent, PyAgents};
    #[pymodule_export]
    use crate::arrow::{PyVerdictReader, PyVerdicts};
    #[pymodule_export]
    use crate::compile::{compile, merge};
    #[pymodule_export]
    use crate::explain::PyExplanation;
    #[pymodule_export]
    use crate::robots::PyRobots;
    #[pymodule_export]
    use crate::set::{PySet, dialects, open_set};

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    const FORMAT_VERSION: u32 = reptile::FORMAT_VERSION;
}
