//! Compiles the rules of one group, and compares their verdicts with the oracle's.

use bumpalo::Bump;
use reptile_compiler::automaton::{Strategy, compile};
use reptile_compiler::dialect::{Dialect, GOOGLE_LIB};
use reptile_compiler::oracle;
use reptile_compiler::set::prepare;
use reptile_engine::automaton::{Ruleset, Shape};
use reptile_engine::verdict::Verdict;

/// Compiles a file's first group.
pub fn compiled(body: &str, dialect: &Dialect, strategy: Strategy) -> Vec<u8> {
    let arena = Bump::new();
    let list = prepare(body.as_bytes(), dialect, &arena).unwrap().groups.swap_remove(0).0;
    compile(&list, strategy, &arena).unwrap()
}

/// Returns whether a ruleset and the oracle give the same verdict for a path.
pub fn agrees(ruleset: Ruleset<'_>, body: &str, path: &str) -> bool {
    let expected = oracle::decide(body.as_bytes(), &GOOGLE_LIB, b"any", path.as_bytes()).allowed;
    (ruleset.verdict(path.as_bytes()).unwrap() == Verdict::Allow) == expected
}

/// Compiles a file's first group, verifies the automaton, and compares its verdicts for some paths with the oracle's.
pub fn shape_of<P: AsRef<str>>(body: &str, strategy: Strategy, paths: impl IntoIterator<Item = P>) -> Shape {
    let automaton = compiled(body, &GOOGLE_LIB, strategy);
    let ruleset = Ruleset::new(&automaton).unwrap();
    ruleset.verify().unwrap();
    for path in paths {
        let path = path.as_ref();
        assert!(agrees(ruleset, body, path), "{path} of\n{}", body.get(..1000).unwrap_or(body));
    }
    ruleset.shape()
}
