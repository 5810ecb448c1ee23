//! Writes the rules of a group as regular expressions, and matches them with the engines of the `regex` family.

use std::fmt::Write as _;

use regex::bytes::{RegexSet, RegexSetBuilder};
use regex_automata::hybrid::dfa::{self, Cache, DFA};
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};
use reptile_compiler::rules::order::RuleList;
use reptile_engine::format::automaton::kind_of;
use reptile_engine::verdict::RuleKind;

use crate::rounds::Any;

/// The memory that these engines may use for their program, and again for the automaton that they build while they
/// match, in bytes.
pub const REGEX_BYTES: usize = 4 << 30;

/// One expression for each rule of a group, in the order of precedence, so that the first that matches decides. The
/// expressions are over bytes, a dot matches any byte, and a match begins at the start of the text. Reptile reads and
/// orders the rules; the times of the engines do not include that work.
pub struct Expressions {
    /// The expressions, without `\A`.
    pub texts: Vec<String>,
    /// Whether the rule of each expression is a disallow.
    pub disallow: Vec<bool>,
}

impl Expressions {
    /// Writes the expressions of a list of rules; a rule with an empty pattern decides nothing and gets none.
    pub fn of(list: &RuleList) -> Expressions {
        let mut rules: Vec<_> = list.iter().filter(|rule| !rule.is_empty).collect();
        rules.sort_by_key(|rule| rule.rank);
        let expression = |matcher: &[u8], anchored: bool| {
            let mut text = String::new();
            for &byte in matcher {
                match byte {
                    b'*' => text.push_str(".*"),
                    b'/' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => text.push(char::from(byte)),
                    _ => {
                        let _ = write!(text, r"\x{byte:02x}");
                    }
                }
            }
            text + if anchored { r"\z" } else { "" }
        };
        Expressions {
            texts: rules.iter().map(|rule| expression(rule.matcher, rule.anchored)).collect(),
            disallow: rules.iter().map(|rule| kind_of(rule.rank) == RuleKind::Disallow).collect(),
        }
    }

    /// Returns the expressions with `\A`, for engines that would otherwise search the whole text.
    pub fn anchored(&self) -> impl Iterator<Item = String> {
        self.texts.iter().map(|text| format!(r"\A{text}"))
    }

    /// Says whether the path is disallowed, given the first expression that matches, if any does.
    pub fn disallows(&self, first: Option<usize>) -> bool {
        first.and_then(|first| self.disallow.get(first)).is_some_and(|&disallow| disallow)
    }
}

/// Builds a `RegexSet` of the expressions.
///
/// # Errors
/// Errors if an expression or the whole set is over a limit of the library.
pub fn regex_set(expressions: &Expressions) -> Any<RegexSet> {
    let mut builder = RegexSetBuilder::new(expressions.anchored());
    builder.unicode(false).dot_matches_new_line(true).size_limit(REGEX_BYTES).dfa_size_limit(REGEX_BYTES);
    Ok(builder.build()?)
}

/// The lazy DFA on which `RegexSet` is built, asked for the first expression that matches instead of for all: the fastest
/// use of that library.
pub struct LazyDfa {
    dfa: DFA,
    cache: Cache,
}

impl LazyDfa {
    /// Builds what the DFA needs before its first search.
    ///
    /// # Errors
    /// Errors if an expression or the whole set is over a limit of the library.
    pub fn new(expressions: &Expressions) -> Any<LazyDfa> {
        let dfa = DFA::builder()
            .configure(dfa::Config::new().cache_capacity(REGEX_BYTES))
            .syntax(syntax::Config::new().unicode(false).utf8(false).dot_matches_new_line(true))
            .thompson(thompson::Config::new().utf8(false).nfa_size_limit(Some(REGEX_BYTES)))
            .build_many(&expressions.texts)?;
        let cache = dfa.create_cache();
        Ok(LazyDfa { dfa, cache })
    }

    /// Returns the index of the first expression that matches a path, or `None` if none does.
    pub fn first(&mut self, path: &str) -> Option<usize> {
        let found = self.dfa.try_search_fwd(&mut self.cache, &Input::new(path).anchored(Anchored::Yes));
        found.ok().flatten().map(|found| found.pattern().as_usize())
    }
}
