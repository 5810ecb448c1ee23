//! The reasons for a verdict by one robots.txt: the chosen group, and each line's fate.

pub use reptile_compiler::advice::explanation::{Reading, Why};
pub use reptile_compiler::oracle::{Choice, ChosenBy, choose};
