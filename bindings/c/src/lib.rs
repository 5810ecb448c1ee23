//! C interface to Reptile. The header `reptile.h` is generated from this crate. `README.md` is the guide, and
//! `examples/` has complete programs.
//!
//! Rules for every function:
//!
//! - It returns a [`ReptileCode`]. On error, `*message` is set to a description, which the caller frees with
//!   [`reptile_text_free`]; on success it is set to null. `message` may be null.
//! - It never ends the process, unless memory runs out: panics are caught and become `REPTILE_CODE_PANIC`. Null
//!   pointers, lengths beyond half of the address space, and invalid handles (freed, of another type, or never created)
//!   are `REPTILE_CODE_ARGUMENT`. Only [`reptile_decide`] and [`reptile_decide_at`] do not check whether their handle
//!   was freed.
//! - No verdict survives an error: verdicts are first set to `REPTILE_VERDICT_NONE`, which is 0.
//! - Sets and agents are immutable. Any number of threads may share them, and compilers, until one is freed. Agents
//!   keep their set's data alive, so the set may be freed first. No function takes both a set and agents, so
//!   agents cannot be used with the wrong set.
//! - Memory that the library allocates is freed only by the library's functions.
//!
//! The module `border` handles pointers, handles, errors and panics. The other modules contain the functions.

mod access;
mod agents;
mod arrow;
mod border;
mod compile;
mod decide;
mod directives;
mod explain;
mod one_shot;
mod set;
mod threads;
mod usage;
mod version;

pub use access::{ReptileAccessKind, ReptileSummary, reptile_access, reptile_summarize_arrow, reptile_summary_free};
pub use agents::{
    ReptileAgents, reptile_agents_free, reptile_agents_in_scope, reptile_agents_len, reptile_agents_name,
    reptile_agents_of_header, reptile_agents_of_rows, reptile_agents_resolve,
};
pub use arrow::{reptile_decide_arrow, reptile_decide_arrow_stream};
pub use border::{ReptileCode, reptile_text_free};
pub use compile::{
    REPTILE_COMPILE_BY_TIME, REPTILE_COMPILE_NO_LINE_NUMBERS, REPTILE_COMPILE_NO_OTHER_DIRECTIVES, ReptileCapture,
    ReptileCompiler, ReptileCompilerOptions, reptile_compiler_add, reptile_compiler_add_set,
    reptile_compiler_finish_file, reptile_compiler_finish_set, reptile_compiler_free, reptile_compiler_new,
};
pub use decide::{ReptileVerdict, reptile_decide, reptile_decide_at, reptile_decide_many, reptile_decide_many_at};
pub use directives::{
    ReptileDirective, ReptileDirectiveKind, ReptileDirectiveState, ReptileDirectives, reptile_agent_crawl_delay,
    reptile_agent_directives, reptile_directives_free, reptile_set_directives, reptile_set_sitemaps,
};
pub use explain::{
    ReptileExplanation, ReptileGroup, ReptileRuleKind, reptile_explain, reptile_explain_at, reptile_explanation_free,
};
pub use one_shot::{ReptileOneShot, reptile_one_shot_decide, reptile_one_shot_free, reptile_one_shot_new};
pub use set::{
    ReptileSet, reptile_set_free, reptile_set_from_bytes, reptile_set_len, reptile_set_map, reptile_set_parse,
    reptile_set_read, reptile_set_verify,
};
pub use threads::reptile_shutdown;
pub use usage::{
    ReptilePreference, ReptileUsageLines, ReptileUses, reptile_usage, reptile_usage_at, reptile_uses_free,
    reptile_uses_new, reptile_uses_with_purpose,
};
pub use version::{reptile_format_version, reptile_version};
