//! The rules of a group as regular expressions, and the engines of the `regex` family that match them.

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

/// Bytes that these engines may use for their program, and for the automaton that they make as they go.
const REGEX_BYTES: usize = 4 << 30;

/// An expression for each rule, over bytes, where a dot is any of them and the match is to begin where the text does;
/// the rule that decides before those that it beats. What others would have to do, too: reading and ordering the rules
/// is Reptile's work and not in the times of the engines.
pub struct Expressions {
    /// The expressions, without `\A`.
    pub texts: Vec<String>,
    /// Whether the rule of each is a disallow.
    pub disallow: Vec<bool>,
}

impl Expressions {
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

    /// The expressions for engines that look for them everywhere.
    pub fn anchored(&self) -> impl Iterator<Item = String> {
        self.texts.iter().map(|text| format!(r"\A{text}"))
    }

    /// Whether the first of the expressions that match, if any does, is a disallow.
    pub fn disallows(&self, first: Option<usize>) -> bool {
        first.and_then(|first| self.disallow.get(first)).is_some_and(|&disallow| disallow)
    }
}

pub fn regex_set(expressions: &Expressions) -> Any<RegexSet> {
    let mut builder = RegexSetBuilder::new(expressions.anchored());
    builder.unicode(false).dot_matches_new_line(true).size_limit(REGEX_BYTES).dfa_size_limit(REGEX_BYTES);
    Ok(builder.build()?)
}

/// What `RegexSet` is made of, asked for the first expression that matches instead of for all: as quick as that
/// library gets.
pub struct LazyDfa {
    dfa: DFA,
    cache: Cache,
}

impl LazyDfa {
    pub fn new(expressions: &Expressions) -> Any<LazyDfa> {
        let dfa = DFA::builder()
            .configure(dfa::Config::new().cache_capacity(REGEX_BYTES))
            .syntax(syntax::Config::new().unicode(false).utf8(false).dot_matches_new_line(true))
            .thompson(thompson::Config::new().utf8(false).nfa_size_limit(Some(REGEX_BYTES)))
            .build_many(&expressions.texts)?;
        let cache = dfa.create_cache();
        Ok(LazyDfa { dfa, cache })
    }

    pub fn first(&mut self, path: &str) -> Option<usize> {
        let found = self.dfa.try_search_fwd(&mut self.cache, &Input::new(path).anchored(Anchored::Yes));
        found.ok().flatten().map(|found| found.pattern().as_usize())
    }
}
