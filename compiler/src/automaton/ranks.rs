//! The best ranks of each kind of rule.

use reptile_engine::format::automaton::{Ranks, kind_of};

/// Adds a rank to the accepted ranks, keeping the better rank of its kind.
pub(super) fn accept(ranks: &mut Ranks, rank: u32) {
    let slot = &mut ranks[kind_of(rank) as usize];
    *slot = (*slot).min(rank);
}

/// Keeps the better rank of each kind.
pub(super) fn merge(into: &mut Ranks, from: Ranks) {
    *into = [into[0].min(from[0]), into[1].min(from[1])];
}
