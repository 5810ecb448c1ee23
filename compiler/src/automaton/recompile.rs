//! Compiles the rules that a ruleset lists once more and compares the bytes: the proof that the ruleset answers as its
//! rules say.

use bumpalo::Bump;
use reptile_engine::automaton::Ruleset;
use reptile_engine::format::automaton::Corrupt;

use super::{Strategy, compile};
use crate::rules::order::RuleList;

/// The outcome of compiling the rules that a ruleset lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recompiled {
    /// The bytes are the same: the ruleset answers as its rules say.
    Same,
    /// The bytes differ: the ruleset was not made from the rules that it lists by this construction.
    Differs {
        /// The first offset at which the bytes differ.
        offset: usize,
        /// The number of bytes in the ruleset.
        found: usize,
        /// The number of bytes that its rules compile to.
        expected: usize,
    },
    /// Nothing was compiled, because this version of the compiler does not have the construction.
    OtherForm {
        /// The number of the construction that was asked for.
        found: u32,
        /// The number of the default construction of this version.
        known: u32,
    },
}

/// Compiles the rules that a ruleset lists once more, by the construction with the number `form` ([`Strategy::form`]),
/// and compares every byte.
///
/// A ruleset with the outcome [`Recompiled::Same`] decides every path by the first of its rules, in the order of their
/// ranks, that matches. This depends only on the rules that [`Ruleset::rules`] lists and on the correctness of
/// [`compile`], which the tests compare with the oracle.
///
/// Time and memory: as for compiling, so linear in the patterns.
///
/// # Errors
/// When the bytes are not an automaton, or do not list all of its rules.
///
/// ```
/// use bumpalo::Bump;
/// use reptile_compiler::automaton::{Recompiled, Strategy, compile, recompile};
/// use reptile_compiler::{dialect::GOOGLE_LIB, set::prepare};
///
/// let arena = Bump::new();
/// let prepared = prepare(b"user-agent: *\ndisallow: /*?sort=\n", &GOOGLE_LIB, &arena)?;
/// let mut bytes = compile(&prepared.groups[0].0, Strategy::Factored, &arena)?;
/// assert_eq!(recompile(&bytes, Strategy::Factored.form())?, Recompiled::Same);
///
/// // The list of rules now has another pattern than the automaton.
/// let last = bytes.len() - 1;
/// bytes[last] = b'!';
/// assert!(matches!(recompile(&bytes, Strategy::Factored.form())?, Recompiled::Differs { .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn recompile(bytes: &[u8], form: u32) -> Result<Recompiled, Corrupt> {
    let Some(strategy) = Strategy::from_form(form) else {
        return Ok(Recompiled::OtherForm { found: form, known: Strategy::default().form() });
    };
    // What was read of the rules is freed before they are compiled.
    let rules = Ruleset::new(bytes)?.rules()?;
    let list = RuleList::from_compiled(&rules, &Bump::new());
    drop(rules);
    let arena = Bump::new();
    // No ruleset has rules that are too large to be written.
    let expected = compile(&list, strategy, &arena).unwrap_or_default();
    let offset = bytes.iter().zip(&expected).position(|(a, b)| a != b);
    Ok(match offset.or((bytes.len() != expected.len()).then(|| bytes.len().min(expected.len()))) {
        None => Recompiled::Same,
        Some(offset) => Recompiled::Differs { offset, found: bytes.len(), expected: expected.len() },
    })
}

/// Runs [`recompile`] for each of several rulesets, in their order. Each outcome depends on its ruleset alone, so a
/// caller with several threads can give each thread a share of the rulesets.
pub fn recompile_each<'b>(
    rulesets: impl IntoIterator<Item = &'b [u8]>,
    form: u32,
) -> impl Iterator<Item = Result<Recompiled, Corrupt>> {
    rulesets.into_iter().map(move |bytes| recompile(bytes, form))
}
