//! An engine: the crate `regex`, or `regex-automata`, which `regex` builds on. The argument selects `regex`, asked for
//! all matching expressions, or `regex-automata`, asked for the first one.

use regex::bytes::{RegexSet, RegexSetBuilder};
use regex_automata::hybrid::dfa::{self, Cache, DFA};
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};
use reptile_judge_engines::matcher::{Expressions, MATCHER_BYTES, Matcher, MatcherEngine};
use reptile_judge_engines::{serve, version_of};

/// Finds all matching expressions.
struct All(RegexSet);

impl Matcher for All {
    fn new(expressions: &Expressions) -> Result<All, String> {
        let mut builder = RegexSetBuilder::new(expressions.anchored());
        builder.unicode(false).dot_matches_new_line(true).size_limit(MATCHER_BYTES).dfa_size_limit(MATCHER_BYTES);
        builder.build().map(All).map_err(|error| error.to_string())
    }

    fn first(&mut self, path: &[u8]) -> Result<Option<usize>, String> {
        Ok(self.0.matches(path).iter().next())
    }
}

/// Finds the first matching expression with a lazily built DFA.
struct First {
    dfa: DFA,
    cache: Cache,
}

impl Matcher for First {
    fn new(expressions: &Expressions) -> Result<First, String> {
        let dfa = DFA::builder()
            .configure(dfa::Config::new().cache_capacity(MATCHER_BYTES))
            .syntax(syntax::Config::new().unicode(false).utf8(false).dot_matches_new_line(true))
            .thompson(thompson::Config::new().utf8(false).nfa_size_limit(Some(MATCHER_BYTES)))
            .build_many(&expressions.texts)
            .map_err(|error| error.to_string())?;
        let cache = dfa.create_cache();
        Ok(First { dfa, cache })
    }

    fn first(&mut self, path: &[u8]) -> Result<Option<usize>, String> {
        let input = Input::new(path).anchored(Anchored::Yes);
        let found = self.dfa.try_search_fwd(&mut self.cache, &input).map_err(|error| error.to_string())?;
        Ok(found.map(|found| found.pattern().as_usize()))
    }
}

fn main() -> std::io::Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("regex-automata") => serve(MatcherEngine::<First>::new("regex-automata", version_of("regex-automata"))),
        _ => serve(MatcherEngine::<All>::new("regex", version_of("regex"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_find_the_first_matching_expression() {
        let mut expressions = Expressions::default();
        expressions.texts = ["/a.*c", "/ab", r"/\xff\z"].map(str::to_owned).to_vec();
        let mut all = All::new(&expressions).unwrap();
        let mut first = First::new(&expressions).unwrap();
        for (path, index) in [
            (&b"/ab"[..], Some(1)),
            (b"/ab\ncd", Some(0)),
            (b"x/ab", None),
            (b"/\xff", Some(2)),
            (b"/\xffx", None),
            (b"", None),
        ] {
            assert_eq!(all.first(path).unwrap(), index, "{path:?}");
            assert_eq!(first.first(path).unwrap(), index, "{path:?}");
        }
    }
}
