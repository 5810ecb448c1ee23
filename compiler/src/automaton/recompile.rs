//! Recompiles the rules that a ruleset lists and compares the bytes, which proves that the ruleset implements its
//! rules.

use bumpalo::Bump;
use reptile_engine::automaton::Ruleset;
use reptile_engine::format::automaton::Corrupt;

use super::compile;
use super::strategy::Strategy;
use crate::rules::order::RuleList;

/// The outcome of recompiling a ruleset's rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recompiled {
    /// The bytes are equal: the ruleset implements its rules.
    Same,
    /// The bytes differ: this construction did not produce the ruleset from the rules that it lists.
    Differs {
        /// The first offset where the bytes differ.
        offset: usize,
        /// The size of the ruleset in bytes.
        found: usize,
        /// The size of the recompiled rules in bytes.
        expected: usize,
    },
    /// Nothing was compiled, because this compiler version lacks the construction.
    OtherForm {
        /// The requested construction number.
        found: u32,
        /// The default construction number in this version.
        known: u32,
    },
}

/// Recompiles the rules that a ruleset lists, by the construction with the number `form` ([`Strategy::form`]), and
/// compares every byte.
///
/// A ruleset with the outcome [`Recompiled::Same`] decides every path by the first matching rule in rank order. This
/// depends only on the rules that [`Ruleset::rules`] lists and on the correctness of [`compile`], which the tests
/// compare with the oracle.
///
/// Takes the time and memory of compiling, which are linear in the patterns.
///
/// # Errors
/// Returns an error if the bytes are not an automaton, or do not list all of its rules.
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
    // Frees the parsed rules before compiling.
    let rules = Ruleset::new(bytes)?.rules()?;
    let list = RuleList::from_compiled(&rules, &Bump::new());
    drop(rules);
    let arena = Bump::new();
    // No ruleset has rules that are too large to write.
    let expected = compile(&list, strategy, &arena).unwrap_or_default();
    let offset = bytes.iter().zip(&expected).position(|(a, b)| a != b);
    Ok(match offset.or((bytes.len() != expected.len()).then(|| bytes.len().min(expected.len()))) {
        None => Recompiled::Same,
        Some(offset) => Recompiled::Differs { offset, found: bytes.len(), expected: expected.len() },
    })
}
