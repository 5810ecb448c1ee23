//! The native half of the Python package `reptile`. The other half, in `python/reptile`, contains the user
//! documentation, the types of verdicts and errors, and the drop-ins.
//!
//! The crate `reptile` decides, and `reptile-columns` builds columns of verdicts. This crate defines Python objects and
//! conversions: strings are borrowed, the interpreter is released during long work, and errors become exceptions with
//! the library's message.

mod agents;
mod arrow;
mod ask;
mod captures;
mod compile;
mod convert;
mod explain;
mod joined;
mod lint;
mod one_shot;
mod pickled;
mod prove;
mod recent;
mod restored;
mod rights;
mod robots;
mod set;
mod texts;
mod usage;

/// The module `reptile._native`.
#[pyo3::pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::agents::{PyAgent, PyAgents};
    #[pymodule_export]
    use crate::arrow::{PyVerdictReader, PyVerdicts, unpickled_verdicts};
    #[pymodule_export]
    use crate::compile::{compile, merge};
    #[pymodule_export]
    use crate::explain::{PyExplanation, unpickled_explanation};
    #[pymodule_export]
    use crate::one_shot::PyOneShot;
    #[pymodule_export]
    use crate::restored::{unpickled_agent, unpickled_agents};
    #[pymodule_export]
    use crate::robots::PyRobots;
    #[pymodule_export]
    use crate::set::{PyOrigins, PySet, dialects, open_set};

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    const FORMAT_VERSION: u32 = reptile::FORMAT_VERSION;
    /// The names of built-in vocabularies and profiles.
    #[pymodule_export]
    const VOCABULARIES: [&str; 4] = reptile::usage::Vocabulary::NAMES;
    #[pymodule_export]
    const PROFILES: [&str; 3] = reptile::rights::Profile::NAMES;
}
