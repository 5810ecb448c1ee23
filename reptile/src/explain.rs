//! The reasons for a verdict on one robots.txt: the chosen group, and the effect of each line.
//!
//! ```
//! use bumpalo::Bump;
//! use reptile::explain::Reading;
//! use reptile::{Dialect, crawlers};
//!
//! let (body, dialect, arena) = (b"user-agent: GPTBot\ndisallow: /\n", Dialect::google(), Bump::new());
//! let reading = Reading::new(body, dialect, &arena);
//! let agent = crawlers::of_name(b"GPTBot", dialect);
//! let choice = reading.choose(&agent);
//! assert_eq!(reading.naming_lines(&agent, &choice).collect::<Vec<_>>(), [1]);
//! ```

pub use reptile_compiler::advice::explanation::{Reading, Why};
pub use reptile_compiler::oracle::{Choice, ChosenBy, choose};
