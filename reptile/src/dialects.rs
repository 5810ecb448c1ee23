//! The known dialects.

pub use reptile_compiler::dialect::{ALL, DEFAULT, GOOGLE, GOOGLE_LIB, KOSTER_1994, OPERATORS, RFC9309, YANDEX};
