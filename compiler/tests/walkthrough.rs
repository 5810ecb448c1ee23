//! Checks that every printed block in the walk-through in `AUTOMATON.md` is current. To rewrite the blocks:
//!
//! ```sh
//! REPTILE_REWRITE=1 cargo test -p reptile-compiler --test all walkthrough
//! ```

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::fmt::Write as _;
use std::path::Path;

use bumpalo::Bump;
use reptile_compiler::automaton::{Strategy, compile};
use reptile_compiler::dialect::GOOGLE_LIB;
use reptile_compiler::set::prepare;
use reptile_engine::automaton::Ruleset;
use reptile_engine::format::automaton::{AutomatonDraft, Decoded, NO_RANK, NO_RANKS, Ranks, State, decode, kind_of};

use crate::support::rulesets::compiled;

const BODY: &str = "user-agent: *
disallow: /shop/
allow: /shop/new
disallow: /*?sort=
allow: /shop/*.html$
disallow: /shop/*/old
disallow: /tmp$
";

const PATH: &str = "/shop/a.html?sort=up";

fn automaton() -> Vec<u8> {
    compiled(BODY, &GOOGLE_LIB, Strategy::Factored)
}

fn name(rank: u32) -> String {
    format!("{} {}", kind_of(rank).name(), rank / 2)
}

fn names(ranks: Ranks) -> String {
    let names: Vec<String> = ranks.into_iter().filter(|&rank| rank != NO_RANK).map(name).collect();
    if names.is_empty() { "nothing".into() } else { names.join(" and ") }
}

fn ranks(bytes: &[u8]) -> String {
    let mut out = String::from("place  rank  bytes  rule\n");
    for rule in Ruleset::new(bytes).unwrap().rules().unwrap() {
        let pattern = String::from_utf8(rule.pattern).unwrap();
        let len = pattern.len();
        writeln!(out, "{:5}  {:4}  {len:5}  {}: {pattern}", rule.rank / 2, rule.rank, rule.kind.name()).unwrap();
    }
    out
}

/// Appends bytes in hex, sixteen per line, with a note next to the first line.
fn hex(out: &mut String, bytes: &[u8], start: usize, end: usize, note: &str) {
    for (row, chunk) in bytes[start..end].chunks(16).enumerate() {
        let digits: Vec<String> = chunk.iter().map(|byte| format!("{byte:02x}")).collect();
        let line = format!("{:4}  {:47}  {}", start + row * 16, digits.join(" "), if row == 0 { note } else { "" });
        writeln!(out, "{}", line.trim_end()).unwrap();
    }
}

fn annotated(bytes: &[u8]) -> String {
    let decoded = decode(bytes).unwrap();
    let draft = decoded.draft();
    let width = usize::from(bytes[0]);
    let number = |field: usize| {
        let at = 1 + field * width;
        usize::from(u16::from_le_bytes(bytes[at..at + width].try_into().unwrap()))
    };
    assert_eq!(width, 2);
    let mut out = String::new();
    let (texts, fingerprints) = (number(3), number(5));
    hex(&mut out, bytes, 0, 1, &format!("numbers of {width} bytes"));
    for (field, note) in [
        format!("{} rules", number(0)),
        format!("the trie's root is at {}", number(1)),
        "no fallback patterns".into(),
        format!("texts at {texts}"),
        "no joint ranks".into(),
        format!("fingerprints at {fingerprints}"),
        "no rule with an empty pattern".into(),
        format!("{} wildcard automata", number(7)),
    ]
    .iter()
    .enumerate()
    {
        hex(&mut out, bytes, 1 + field * width, 1 + (field + 1) * width, note);
    }
    // Each part extends to the start of the next. A state's wildcard list precedes the state.
    let before = |state: &State<'_>| match state.wildcards.len() {
        0 => 0,
        count => 1 + count * (1 + width),
    };
    let mut parts: Vec<(usize, String)> = Vec::new();
    for (index, state) in draft.states.iter().enumerate() {
        let at = decoded.state_at(index);
        if before(state) > 0 {
            let lists: Vec<String> = state.wildcards.iter().map(|(bit, index)| format!("{bit}: {index}")).collect();
            parts.push((at - before(state), format!("begins wildcard automata {}", lists.join(", "))));
        }
        parts.push((at, format!("state {index}: {}", described(state))));
    }
    for (index, wildcard) in draft.wildcards.iter().enumerate() {
        let note = format!("wildcard automaton {index}: leads to {}", names(wildcard.best));
        parts.push((decoded.wildcard_at(index), note));
    }
    parts.push((texts, format!("{} texts: ranks, ends, patterns", draft.texts.len())));
    let mut different: Vec<&[u8; 80]> = Vec::new();
    for wildcard in &draft.wildcards {
        if !different.contains(&wildcard.fingerprints) {
            different.push(wildcard.fingerprints);
        }
    }
    for index in 0..different.len() {
        parts.push((fingerprints + 80 * index, format!("fingerprints {index}")));
    }
    assert!(parts.iter().is_sorted());
    let ends: Vec<usize> = parts.iter().skip(1).map(|part| part.0).chain([bytes.len()]).collect();
    for ((start, note), end) in parts.iter().zip(ends) {
        hex(&mut out, bytes, *start, end, note);
    }
    out
}

fn described(state: &State<'_>) -> String {
    let mut parts = vec![format!("label \"{}\"", state.label.escape_ascii())];
    for (ranks, end) in [(state.accept, ""), (state.accept_at_end, " at the end")] {
        if ranks != NO_RANKS {
            parts.push(format!("accepts {}{end}", names(ranks)));
        }
    }
    let children = state.children.iter().map(|&(byte, child)| format!("{} => {child}", byte.escape_ascii()));
    let children: Vec<String> = children.collect();
    if !children.is_empty() {
        parts.push(children.join(", "));
    }
    parts.join(", ")
}

/// Finds the best rule of each kind and records every step. The result is compared with the engine's.
struct Trace<'d> {
    draft: AutomatonDraft<'d>,
    path: &'d [u8],
    best: Ranks,
    out: String,
}

impl Trace<'_> {
    fn line(&mut self, at: usize, text: &str) {
        writeln!(self.out, "{at:4}  {text}").unwrap();
    }

    fn accept(&mut self, ranks: Ranks) {
        self.best = [self.best[0].min(ranks[0]), self.best[1].min(ranks[1])];
    }

    fn run(&mut self) {
        let (mut next, mut at, mut lists) = (Some(0_u32), 0, None);
        while let Some(index) = next {
            let state = self.draft.states[index as usize].clone();
            if !self.path[at..].starts_with(state.label) {
                self.line(at, &format!("trie state {index} does not go on with \"{}\"", state.label.escape_ascii()));
                break;
            }
            at += state.label.len();
            self.line(at, &format!("trie state {index}: {}", described(&state)));
            self.accept(state.accept);
            lists = state.wildcards.get(1).map(|&(_, first)| first).or(lists);
            let Some(&byte) = self.path.get(at) else {
                self.accept(state.accept_at_end);
                break;
            };
            next = state.children.iter().find(|&&(other, _)| other == byte).map(|&(_, child)| child);
            if next.is_none() {
                self.line(at, &format!("no transition for '{}': the walk through the trie ends", byte.escape_ascii()));
            }
            at += 1;
        }
        while let Some(index) = lists {
            let from = self.draft.wildcards[index as usize].from as usize;
            self.line(from, &format!("wildcard automaton {index} begins"));
            self.wildcard(index, from);
            lists = self.draft.wildcards[index as usize].next;
        }
        let (best, verdict) = (self.best, if self.best[1] < self.best[0] { "disallow" } else { "allow" });
        self.line(self.path.len(), &format!("{} matched: {verdict}", names(best)));
    }

    fn wildcard(&mut self, index: u32, mut at: usize) {
        let root = self.draft.wildcards[index as usize].children;
        let mut children = root;
        while let Some(&byte) = self.path.get(at) {
            let child = |children: &[(u8, u32)]| children.iter().find(|&&(other, _)| other == byte).map(|&(_, to)| to);
            let is_root = std::ptr::eq(children, root);
            let Some(state_index) = child(children).or_else(|| child(root).filter(|_| !is_root)) else {
                at += 1;
                children = root;
                continue;
            };
            let state = self.draft.states[state_index as usize].clone();
            at += 1;
            let common = state.label.iter().zip(&self.path[at..]).take_while(|(a, b)| a == b).count();
            at += common;
            if common < state.label.len() {
                self.line(at, &format!("  state {state_index} differs: back to the root"));
                children = root;
                continue;
            }
            self.line(at, &format!("  state {state_index}: {}", described(&state)));
            self.accept(state.accept);
            if at == self.path.len() {
                self.accept(state.accept_at_end);
            }
            assert!(state.wildcards.is_empty(), "the example must not have a wildcard after another");
            children = state.children;
        }
    }
}

fn walk(bytes: &[u8]) -> String {
    let decoded: Decoded<'_> = decode(bytes).unwrap();
    let out = String::from("byte  what happens\n");
    let mut trace = Trace { draft: decoded.draft(), path: PATH.as_bytes(), best: NO_RANKS, out };
    trace.run();
    let found = Ruleset::new(bytes).unwrap().matches(PATH.as_bytes()).unwrap();
    let some = |rank: u32| Some(rank).filter(|&rank| rank != NO_RANK);
    assert_eq!([found.allow, found.disallow], trace.best.map(some));
    trace.out
}

#[test]
fn printed_blocks_are_current() {
    let bytes = automaton();
    Ruleset::new(&bytes).unwrap().verify().unwrap();
    let blocks = [
        ("rules", BODY.to_owned()),
        ("ranks", ranks(&bytes)),
        ("automaton", Ruleset::new(&bytes).unwrap().to_text().unwrap()),
        ("bytes", annotated(&bytes)),
        ("walk", walk(&bytes)),
        ("path", format!("{PATH}\n")),
    ];
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("AUTOMATON.md");
    let text = std::fs::read_to_string(&file).unwrap();
    let mut expected = text.clone();
    for (name, block) in &blocks {
        let opening = format!("<!-- printed: {name} -->\n```text\n");
        let start = expected.find(&opening).unwrap_or_else(|| panic!("block {name} is missing")) + opening.len();
        let end = start + expected[start..].find("```").unwrap();
        expected.replace_range(start..end, block);
    }
    assert_eq!(text.matches("<!-- printed: ").count(), blocks.len());
    if std::env::var_os("REPTILE_REWRITE").is_some() {
        std::fs::write(&file, &expected).unwrap();
        return;
    }
    assert!(text == expected, "AUTOMATON.md is out of date; run with REPTILE_REWRITE=1 to rewrite it:\n{expected}");
}

/// Returns whether a text is a valid Graphviz graph within the subset that the engine writes: balanced braces, and
/// statements that consist of a name or an arrow, with quoted values.
fn is_graph(text: &str) -> bool {
    let (mut depth, mut statement, mut quoted, mut escaped) = (0_i32, String::new(), false, false);
    for character in text.chars() {
        match character {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {
                if character.is_control() {
                    return false;
                }
            }
            '{' => {
                let words: Vec<&str> = statement.split_whitespace().collect();
                if !matches!(words[..], ["digraph" | "subgraph", _]) {
                    return false;
                }
                statement.clear();
                depth += 1;
            }
            '}' => depth -= 1,
            ';' => {
                let (head, attributes) = statement.split_once('[').unwrap_or((&statement, "]"));
                let names: Vec<&str> = head.split_whitespace().collect();
                if !matches!(names[..], [_] | [_, "->", _]) || !attributes.trim_end().ends_with(']') {
                    return false;
                }
                statement.clear();
            }
            other => statement.push(other),
        }
    }
    depth == 0 && !quoted && statement.trim().is_empty()
}

#[test]
fn graphs_are_valid_for_all_patterns() {
    let arena = Bump::new();
    let bodies: [&[u8]; 5] = [
        BODY.as_bytes(),
        b"user-agent: *\ndisallow: /\"}\\]\ndisallow: /*\"];x->y\\\nallow: /\x01\x7f\xff*\\n\"\n",
        b"user-agent: *\n",
        b"user-agent: *\ndisallow:\n",
        b"user-agent: *\ndisallow: /*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*\"a\nallow: /*a*b*a\nallow: /index.html\n",
    ];
    let mut tried = 0;
    for body in bodies {
        for (list, _) in prepare(body, &GOOGLE_LIB, &arena).unwrap().groups {
            for (name, strategy) in Strategy::ALL {
                let bytes = compile(&list, strategy, &arena).unwrap();
                let ruleset = Ruleset::new(&bytes).unwrap();
                let graph = ruleset.to_dot().unwrap();
                assert!(is_graph(&graph), "{name}: {graph}");
                assert!(graph.is_ascii() && ruleset.to_text().unwrap().is_ascii());
                assert_eq!(format!("{ruleset:?}"), format!("Ruleset(\n{})", ruleset.to_text().unwrap()));
                tried += 1;
            }
        }
    }
    assert!(tried >= 12, "{tried}");
    assert!(!is_graph("digraph x { a -> b [label=\"\"\"]; }"));
    assert!(!is_graph("digraph x { a -> b -> }"));
}
