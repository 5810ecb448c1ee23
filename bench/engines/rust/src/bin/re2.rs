//! An engine: RE2::Set from the system's RE2 library, asked for all matching expressions.

use reptile_judge_engines::matcher::re2::Re2Set;
use reptile_judge_engines::matcher::{Expressions, MATCHER_BYTES, Matcher, MatcherEngine};
use reptile_judge_engines::serve;

struct Set(Re2Set);

impl Matcher for Set {
    fn new(expressions: &Expressions) -> Result<Set, String> {
        let texts: Vec<&str> = expressions.texts.iter().map(String::as_str).collect();
        Re2Set::new(&texts, MATCHER_BYTES as i64).map(Set).map_err(|error| error.to_string())
    }

    fn first(&mut self, path: &[u8]) -> Result<Option<usize>, String> {
        self.0.first(path).map_err(|error| error.to_string())
    }
}

fn main() -> std::io::Result<()> {
    // RE2 does not report its version, so the build asks the system for it.
    serve(MatcherEngine::<Set>::new("RE2::Set", env!("RE2_VERSION")))
}
