//! How often a decision may go over one path: what [`MAX_PASSES`](crate::format::automaton::MAX_PASSES) limits.

use crate::format::automaton::{Draft, MAX_WILDCARD_BRANCHES, NO_WILDCARD};

/// The most passes over one path that the ruleset of a draft needs: one through the trie, one for each wildcard
/// automaton that may begin, and one for each fallback pattern whose text before the first wildcard the path may begin
/// with.
///
/// Cost: linear in the draft, and sorting the fallback patterns. References that a writer would not make count as
/// nothing.
#[must_use]
pub fn passes(draft: &Draft<'_>) -> usize {
    1_usize.saturating_add(in_automata(draft)).saturating_add(in_fallbacks(draft))
}

/// The most wildcard automata that begin on one path: those of the longest list, each with those that begin after it.
///
/// Every list that a walk follows ends with the lists of the automata before, since `next` and the automata that
/// another one leads to have smaller numbers (*lists end*, *nesting*).
fn in_automata(draft: &Draft<'_>) -> usize {
    let mut is_seen = vec![false; draft.states.len()];
    let mut open: Vec<u32> = Vec::new();
    let mut begun: Vec<usize> = Vec::with_capacity(draft.wildcards.len());
    let mut listed: Vec<usize> = Vec::with_capacity(draft.wildcards.len());
    for wildcard in &draft.wildcards {
        let mut after = [NO_WILDCARD; MAX_WILDCARD_BRANCHES];
        open.extend(wildcard.children.iter().map(|&(_, child)| child));
        while let Some(index) = open.pop() {
            let Some(state) = draft.states.get(index as usize) else { continue };
            if std::mem::replace(&mut is_seen[index as usize], true) {
                continue;
            }
            open.extend(state.children.iter().map(|&(_, child)| child));
            for &(number, nested) in state.wildcards {
                if let Some(slot) = after.get_mut(usize::from(number)) {
                    *slot = nested;
                }
            }
        }
        let nested = after.iter().filter_map(|&nested| begun.get(nested as usize).copied());
        begun.push(nested.fold(1, usize::saturating_add));
    }
    for (wildcard, &begun) in draft.wildcards.iter().zip(&begun) {
        let next = wildcard.next.and_then(|next| listed.get(next as usize).copied());
        listed.push(begun.saturating_add(next.unwrap_or(0)));
    }
    listed.into_iter().max().unwrap_or(0)
}

/// The most fallback patterns of which one path can begin with the text before the first wildcard.
fn in_fallbacks(draft: &Draft<'_>) -> usize {
    let mut first_texts: Vec<&[u8]> = Vec::with_capacity(draft.fallbacks.len());
    first_texts.extend(draft.fallbacks.iter().map(|pattern| {
        let wildcard = memchr::memchr(b'*', pattern.text).unwrap_or(pattern.text.len());
        &pattern.text[..wildcard]
    }));
    first_texts.sort_unstable();
    // Each text of the stack begins with the one below it.
    let mut stack: Vec<&[u8]> = Vec::new();
    let mut most = 0;
    for text in first_texts {
        while stack.last().is_some_and(|below| !text.starts_with(below)) {
            stack.pop();
        }
        stack.push(text);
        most = most.max(stack.len());
    }
    most
}
