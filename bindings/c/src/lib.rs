//! Reptile in C. The header `reptile.h` is made from this crate; `README.md` is the guide, `examples/` has whole programs.
//!
//! What holds for every function:
//!
//! - It returns a [`ReptileCode`]. If that is not `REPTILE_CODE_OK` and `message` is not null, `*message` is the text of the error,
//!   which the caller frees with [`reptile_text_free`]; otherwise `*message` is null. `message` may be null.
//! - No call ends the process: a panic is caught and becomes `REPTILE_CODE_PANIC`. Null pointers, lengths beyond half of the address
//!   space, and handles that were freed already, of another kind or never made are `REPTILE_CODE_ARGUMENT`; just
//!   [`reptile_decide`] does not look whether its handle was freed.
//! - After an error no verdict is left: `REPTILE_VERDICT_NONE` is 0, and verdicts are set to it first.
//! - Sets and agents do not change. Any number of threads may use one at the same time, as long as none of them frees it.
//!   Agents keep what they need of their set, which may be freed before them. No function takes both a set and agents, so that
//!   agents cannot be used with a set that did not resolve them.
//! - Memory that the library gives out is freed by the library's functions only.
//!
//! The modules: `border` is the way in and out (pointers, handles, errors, panics), the others are the functions.

mod agents;
mod arrow;
mod border;
mod decide;
mod explain;
mod set;
mod version;

pub use agents::{ReptileAgents, reptile_agents_free, reptile_agents_len, reptile_agents_name, reptile_agents_resolve};
pub use arrow::{reptile_decide_arrow, reptile_decide_arrow_stream};
pub use border::{ReptileCode, reptile_text_free};
pub use decide::{ReptileVerdict, reptile_decide, reptile_decide_at, reptile_decide_many, reptile_decide_many_at};
pub use explain::{
    ReptileExplanation, ReptileGroup, ReptileRuleKind, reptile_explain, reptile_explain_at, reptile_explanation_free,
};
pub use set::{
    ReptileSet, reptile_set_free, reptile_set_from_bytes, reptile_set_len, reptile_set_map, reptile_set_parse,
    reptile_set_read, reptile_set_verify,
};
pub use version::{reptile_format_version, reptile_version};
