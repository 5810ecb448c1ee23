//! One DFA over whole patterns, determinized by `regex-automata`: the textbook construction, for comparison.
//!
//! Shares only the rules and the output format with the factored construction, so that the tests can compare the two.
//! It is not the default because its states multiply: a ruleset with sixteen rules of the form `/*word` takes
//! thousands, and for the real files it takes a hundred times as long to build. [`MAX_WHOLE_DFA_BYTES`] bounds its
//! size; a larger ruleset is factored instead.

use std::collections::HashMap;

use regex_automata::dfa::{Automaton as _, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::primitives::StateID;
use regex_automata::util::start;
use regex_automata::{Anchored, MatchKind};
use regex_syntax::hir::{Dot, Hir, Look, Repetition};
use reptile_engine::automaton::ranks_in_trie;
use reptile_engine::format::automaton::{NO_RANKS, Ranks};

use super::builder::{Builder, BuiltRule};
use super::ranks::accept;
use crate::limits::{MAX_WHOLE_DFA_BYTES, MAX_WHOLE_DFA_PATTERN_BYTES};

impl<'l> Builder<'l> {
    /// Builds a DFA over all rules instead of the trie, or the factored automaton if the DFA would be too large.
    pub(super) fn whole_or_trie(&mut self) {
        if !self.whole() {
            self.trie();
            return;
        }
        let readable = ranks_in_trie(&self.draft).unwrap_or_default();
        for index in 0..self.rules.len() {
            let rule = self.rules[index];
            if !rule.has_text && !readable.contains(&rule.rank) {
                self.add_text(&rule);
            }
        }
    }

    /// Builds a DFA over all rules instead of the trie. Returns `false`, and builds nothing, if it would be too large.
    fn whole(&mut self) -> bool {
        let text: usize = self.rules.iter().map(|rule| rule.matcher.len()).sum();
        // The table size does not bound the time: one long pattern with many wildcards takes minutes within the size
        // limit.
        if text > MAX_WHOLE_DFA_PATTERN_BYTES {
            return false;
        }
        let Some(dfa) = determinize(&self.rules) else { return false };
        let Ok(start) = dfa.start_state(&start::Config::new().anchored(Anchored::Yes)) else { return false };
        self.draft.has_trie = true;
        let mut state_of: HashMap<StateID, usize> = HashMap::from([(start, self.new_state())]);
        let mut open = vec![start];
        while let Some(from) = open.pop() {
            let state = state_of[&from];
            // The DFA reports a match one byte late: after any byte if the match does not depend on the end, otherwise
            // at the end.
            let at_end = ranks(&self.rules, &dfa, dfa.next_eoi_state(from));
            let here = ranks(&self.rules, &dfa, dfa.next_state(from, b'/'));
            let state_draft = &mut self.draft.states[state];
            (state_draft.accept, state_draft.accept_at_end) = (here, at_end);
            (state_draft.disallows, state_draft.disallows_at_end) = (here[1] < here[0], at_end[1] < at_end[0]);
            state_draft.settled = true;
            let mut children = Vec::new();
            for byte in 0..=255 {
                let to = dfa.next_state(from, byte);
                if dfa.is_dead_state(to) {
                    continue;
                }
                let next = match state_of.get(&to) {
                    Some(&next) => next,
                    None => {
                        let next = self.new_state();
                        state_of.insert(to, next);
                        open.push(to);
                        next
                    }
                };
                children.push((byte, next as u32));
            }
            self.draft.states[state].children = self.arena.alloc_slice_copy(&children);
        }
        true
    }
}

fn determinize(rules: &[BuiltRule<'_>]) -> Option<dense::DFA<Vec<u32>>> {
    let any_run =
        || Hir::repetition(Repetition { min: 0, max: None, greedy: false, sub: Box::new(Hir::dot(Dot::AnyByte)) });
    let pattern = |rule: &BuiltRule<'_>| {
        let mut parts = Vec::new();
        for (index, segment) in rule.matcher.split(|&byte| byte == b'*').enumerate() {
            if index > 0 {
                parts.push(any_run());
            }
            parts.push(Hir::literal(segment));
        }
        // A pattern followed by any bytes stays accepted to the end of the path, as in trie states.
        parts.push(if rule.anchored { Hir::look(Look::End) } else { any_run() });
        Hir::concat(parts)
    };
    let patterns: Vec<Hir> = rules.iter().map(pattern).collect();
    let config = thompson::Config::new().utf8(false).nfa_size_limit(Some(MAX_WHOLE_DFA_BYTES));
    let nfa = thompson::Compiler::new().configure(config).build_many_from_hir(&patterns).ok()?;
    let config = dense::Config::new()
        .match_kind(MatchKind::All)
        .start_kind(regex_automata::dfa::StartKind::Anchored)
        .dfa_size_limit(Some(MAX_WHOLE_DFA_BYTES))
        .determinize_size_limit(Some(MAX_WHOLE_DFA_BYTES));
    dense::Builder::new().configure(config).build_from_nfa(&nfa).ok()
}

/// Returns the best ranks of the rules that match in a state.
fn ranks(rules: &[BuiltRule<'_>], dfa: &dense::DFA<Vec<u32>>, state: StateID) -> Ranks {
    let mut ranks = NO_RANKS;
    if dfa.is_match_state(state) {
        for index in 0..dfa.match_len(state) {
            accept(&mut ranks, rules[dfa.match_pattern(state, index).as_usize()].rank);
        }
    }
    ranks
}
