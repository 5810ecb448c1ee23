//! Computes the maximum number of passes over one path.
//!
//! [`MAX_PASSES`](crate::format::automaton::MAX_PASSES) limits it.

use crate::format::automaton::{AutomatonDraft, MAX_WILDCARD_BRANCHES, NO_WILDCARD};

/// Returns the maximum number of passes that a draft's ruleset needs over one path.
///
/// There is one for the trie, one for each wildcard automaton that may begin, and one for each fallback pattern whose
/// text before its first wildcard may begin the path.
///
/// Cost: linear in the draft, plus sorting the fallback patterns. Invalid references are not counted.
#[must_use]
pub fn passes(draft: &AutomatonDraft<'_>) -> usize {
    1_usize.saturating_add(in_automata(draft)).saturating_add(in_fallbacks(draft))
}

/// Returns the maximum number of wildcard automata that begin on one path: the automata in the longest list and all
/// automata nested in them.
///
/// `next` and nested automata have smaller numbers (*lists end*, *nesting*), so their counts are already known.
fn in_automata(draft: &AutomatonDraft<'_>) -> usize {
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

/// Returns the maximum number of fallback patterns whose texts before the first wildcard can all begin the same path.
fn in_fallbacks(draft: &AutomatonDraft<'_>) -> usize {
    let mut first_texts: Vec<&[u8]> = Vec::with_capacity(draft.fallbacks.len());
    first_texts.extend(draft.fallbacks.iter().map(|pattern| {
        let wildcard = memchr::memchr(b'*', pattern.text).unwrap_or(pattern.text.len());
        &pattern.text[..wildcard]
    }));
    first_texts.sort_unstable();
    // Each text on the stack begins with the text below it.
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
