//! URL parts as every decision reads them.

pub use reptile_compiler::set::origin::RobotsUrlError;
pub use reptile_engine::host::canonical as canonical_host;
pub use reptile_engine::url::{Origin as OriginRef, origin_of, path_of, split};
