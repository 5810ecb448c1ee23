//! The reasons for a verdict on one robots.txt: the group that was chosen, and the fate of every line.

pub use reptile_compiler::advice::explanation::{Reading, Why};
pub use reptile_compiler::oracle::{Choice, ChosenBy, choose};
