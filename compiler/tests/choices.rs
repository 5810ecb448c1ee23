//! Which form the compiler chooses for the rules of a group: the cases of `corpora/automaton`, which `AUTOMATON.md`
//! explains. That every form gives the same answers is for `equivalence.rs`.
#![allow(clippy::unwrap_used, reason = "a test may")]

use std::path::Path;

use bumpalo::Bump;
use reptile_compiler::automaton::{Strategy, compile};
use reptile_compiler::builder::record;
use reptile_compiler::dialect::GOOGLE_LIB;
use reptile_engine::automaton::{Ruleset, Shape};
use reptile_engine::format::automaton::{Width, width};
use serde::Deserialize;

const CASES: usize = 16;

#[derive(Deserialize)]
struct Cases {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    patterns: Vec<String>,
    times: Option<usize>,
    head: bool,
    stars: u32,
    listed: bool,
    width: u32,
    bytes: Option<usize>,
}

impl Case {
    fn body(&self) -> String {
        let numbers = 0..self.times.unwrap_or(1);
        let rules = numbers.flat_map(|n| self.patterns.iter().map(move |text| text.replace("{n}", &n.to_string())));
        rules.fold("user-agent: *\n".to_owned(), |body, pattern| format!("{body}disallow: {pattern}\n"))
    }
}

#[test]
fn every_choice() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpora/automaton/choices.toml");
    let cases: Cases = toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut wrong = Vec::new();
    for case in &cases.case {
        let arena = Bump::new();
        let list = record(case.body().as_bytes(), &GOOGLE_LIB, &arena).unwrap().groups.swap_remove(0).0;
        let automaton = compile(&list, Strategy::Factored, &arena).unwrap();
        let ruleset = Ruleset::new(&automaton).unwrap();
        ruleset.verify().unwrap();
        let expected = Shape { head: case.head, stars: case.stars, listed: case.listed };
        let (found, found_width) = (ruleset.shape(), width(&automaton).unwrap());
        let expected_width = if case.width == 2 { Width::Two } else { Width::Four };
        if (found, found_width) != (expected, expected_width) || case.bytes.is_some_and(|len| len != automaton.len()) {
            wrong.push(format!("{}: {found:?}, {found_width:?}, {} bytes", case.name, automaton.len()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(cases.case.len(), CASES);
}
