//! Set builders.

pub use reptile_compiler::automaton::Strategy;
pub use reptile_compiler::set::{
    BadCapture, BodyOverLimit, CompiledSet, Prepared, SetBuilder, prepare, prepare_capture, prepare_without_other,
};
pub use reptile_engine::format::TooLarge;
pub use reptile_engine::spool::{Spool, Store};
pub use reptile_engine::threads::Threads;
