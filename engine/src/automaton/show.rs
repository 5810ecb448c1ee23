//! Prints a ruleset's automaton as text or as a Graphviz graph.
//!
//! Bytes other than printable ASCII are escaped.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};

use super::Ruleset;
use crate::format::automaton::{
    AutomatonDraft, Corrupt, Decoded, NEEDS_ALL, NO_RANK, NO_WILDCARD, Ranks, State, Width, decode, kind_of,
};

impl Ruleset<'_> {
    /// Returns the automaton as text.
    ///
    /// Lists each state in the trie and the wildcard automata with its label, accepted rules and transitions, then the
    /// fallback patterns and the table of texts. A rank is shown as the rule's kind and its index in order of
    /// precedence, such as `Disallow 3`.
    ///
    /// Cost: linear in the automaton, about 50 bytes of text per state.
    ///
    /// # Errors
    /// Returns an error if the bytes are not an automaton. They need not be verified.
    pub fn to_text(&self) -> Result<String, Corrupt> {
        let bytes = self.to_bytes()?;
        let decoded = decode(&bytes)?;
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = AutomatonPrinter { decoded: &decoded, draft: &decoded.draft() }.write(self, &mut text);
        Ok(text)
    }

    /// Returns the automaton as a graph in Graphviz's DOT language.
    ///
    /// States are boxes, and accepting states have a thick frame. Solid arrows are transitions, dashed arrows begin
    /// wildcard automata, and dotted arrows lead to the next automaton in a list. For bytes without an arrow, a
    /// wildcard automaton's state behaves like the root.
    ///
    /// Cost: see [`Ruleset::to_text`].
    ///
    /// # Errors
    /// See [`Ruleset::to_text`].
    pub fn to_dot(&self) -> Result<String, Corrupt> {
        let bytes = self.to_bytes()?;
        let decoded = decode(&bytes)?;
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = write_dot(&decoded.draft(), &mut text);
        Ok(text)
    }
}

impl fmt::Debug for Ruleset<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_text() {
            Ok(text) => write!(f, "Ruleset(\n{text})"),
            Err(error) => write!(f, "Ruleset({error})"),
        }
    }
}

/// Formats a rank as its kind and index.
fn rank_name(rank: u32) -> String {
    if rank == NO_RANK { "-".into() } else { format!("{} {}", kind_of(rank).name(), rank / 2) }
}

/// Formats the ranks that are present.
fn rank_names(ranks: Ranks) -> String {
    let names: Vec<String> = ranks.into_iter().filter(|&rank| rank != NO_RANK).map(rank_name).collect();
    if names.is_empty() { "nothing".into() } else { names.join(", ") }
}

fn quoted(bytes: &[u8]) -> String {
    format!("\"{}\"", bytes.escape_ascii())
}

/// Returns the bytes that lead to each state, with runs written as `a-z`.
fn by_target(children: &[(u8, u32)]) -> BTreeMap<u32, String> {
    let mut runs: BTreeMap<u32, Vec<(u8, u8)>> = BTreeMap::new();
    for &(byte, child) in children {
        let runs = runs.entry(child).or_default();
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(byte) => *last = byte,
            _ => runs.push((byte, byte)),
        }
    }
    let escaped = |byte: u8| byte.escape_ascii().to_string();
    let name = |(first, last): (u8, u8)| match last - first {
        0 => escaped(first),
        1 => escaped(first) + " " + &escaped(last),
        _ => escaped(first) + "-" + &escaped(last),
    };
    runs.into_iter().map(|(child, runs)| (child, runs.into_iter().map(name).collect::<Vec<_>>().join(" "))).collect()
}

/// Maximum number of text bytes kept for a state. Bounds the memory for a trie as deep as the automaton is long.
const MAX_SHOWN_BYTES: usize = 120;

/// The length and last bytes of the text that leads to a state.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct ReadText {
    len: usize,
    end: Vec<u8>,
}

impl ReadText {
    fn then(&self, byte: &[u8], label: &[u8]) -> ReadText {
        let all = [&self.end, byte, label].concat();
        let cut = all.len().saturating_sub(MAX_SHOWN_BYTES);
        ReadText { len: self.len + byte.len() + label.len(), end: all[cut..].to_vec() }
    }

    fn quoted(&self) -> String {
        let cut = if self.len > self.end.len() { "..." } else { "" };
        format!("{cut}\"{}\"", self.end.escape_ascii())
    }
}

/// Returns the states reachable by the given transitions, by number, each with the shortest text that leads to it. In a
/// wildcard automaton, the state represents this text: the longest suffix of the input that begins a segment.
fn reachable(draft: &AutomatonDraft<'_>, children: &[(u8, u32)], start: &ReadText) -> Vec<(u32, ReadText)> {
    let mut open: BTreeSet<(ReadText, u32)> = BTreeSet::new();
    let add = |open: &mut BTreeSet<_>, read: &ReadText, children: &[(u8, u32)]| {
        let label = |state: u32| draft.states.get(state as usize).map_or(&[][..], |state| state.label);
        open.extend(children.iter().map(|&(byte, state)| (read.then(&[byte], label(state)), state)));
    };
    add(&mut open, start, children);
    let mut found: BTreeMap<u32, ReadText> = BTreeMap::new();
    while let Some((read, index)) = open.pop_first() {
        if let Some(state) = draft.states.get(index as usize).filter(|_| !found.contains_key(&index)) {
            add(&mut open, &read, state.children);
            found.insert(index, read);
        }
    }
    found.into_iter().collect()
}

struct AutomatonPrinter<'d> {
    decoded: &'d Decoded<'d>,
    draft: &'d AutomatonDraft<'d>,
}

impl AutomatonPrinter<'_> {
    fn write(&self, ruleset: &Ruleset<'_>, out: &mut String) -> fmt::Result {
        let draft = self.draft;
        let width = if ruleset.width() == Width::Two { 2 } else { 4 };
        writeln!(out, "{} rules, {} bytes, numbers of {width} bytes", draft.rule_count, ruleset.byte_len())?;
        if draft.has_trie {
            writeln!(out, "prefix trie:")?;
            for (index, read) in trie_states(draft) {
                self.state(out, index, &read, true)?;
            }
        }
        for index in 0..draft.wildcards.len() {
            self.wildcard(out, index)?;
        }
        for pattern in &draft.fallbacks {
            let end = if pattern.anchored { ", to the end of the path" } else { "" };
            writeln!(out, "fallback pattern: {} = {}{end}", quoted(pattern.text), rank_name(pattern.rank))?;
        }
        for text in &draft.texts {
            let directory = if text.flags.opens_directory { ", opens the directory" } else { "" };
            let literal = if text.flags.is_literal { ", literal" } else { "" };
            writeln!(out, "text: {} = {}{directory}{literal}", rank_name(text.rank), quoted(text.pattern))?;
        }
        if let Some(rank) = draft.otherwise {
            writeln!(out, "if no rule matches: {}, an empty pattern", rank_name(rank))?;
        }
        for (place, joint_rank) in draft.joint_ranks.iter().enumerate() {
            writeln!(out, "joint rank of rule {place}: {joint_rank}")?;
        }
        Ok(())
    }

    fn state(&self, out: &mut String, index: u32, read: &ReadText, in_trie: bool) -> fmt::Result {
        let Some(state) = self.draft.states.get(index as usize) else { return Ok(()) };
        write!(out, "  state {index} at {}: {}", self.decoded.state_at(index as usize), read.quoted())?;
        if !state.label.is_empty() && state.label.len() < read.len {
            write!(out, ", label {}", quoted(state.label))?;
        }
        for (ranks, end) in [(state.accept, ""), (state.accept_at_end, " at the end")] {
            if ranks != [NO_RANK; 2] {
                write!(out, ", accepts {}{end}", rank_names(ranks))?;
            }
        }
        for (is_set, name) in [
            (state.disallows, "disallows"),
            (state.disallows_at_end && !state.disallows, "disallows at the end"),
            (state.disallows && !state.disallows_at_end, "allows at the end"),
            (state.settled, "settled"),
        ] {
            write!(out, "{}{}", if is_set && in_trie { ", " } else { "" }, if is_set && in_trie { name } else { "" })?;
        }
        writeln!(out)?;
        for line in begins(state, in_trie) {
            writeln!(out, "    {line}")?;
        }
        for (child, bytes) in by_target(state.children) {
            writeln!(out, "    {bytes} => state {child}")?;
        }
        if !in_trie {
            writeln!(out, "    any other byte => as the root")?;
        }
        Ok(())
    }

    fn wildcard(&self, out: &mut String, index: usize) -> fmt::Result {
        let wildcard = &self.draft.wildcards[index];
        write!(out, "wildcard automaton {index} at {}:", self.decoded.wildcard_at(index))?;
        write!(out, " begins at byte {} of the path,", wildcard.from)?;
        write!(out, " leads to {}", rank_names(wildcard.best))?;
        if let Some(next) = wildcard.next {
            write!(out, ", next {next}")?;
        }
        match wildcard.deciding {
            Some(deciding) if deciding as usize != index => write!(out, ", a verdict needs {deciding} instead")?,
            _ => {}
        }
        writeln!(out)?;
        writeln!(out, "  root")?;
        for (child, bytes) in by_target(wildcard.children) {
            writeln!(out, "    {bytes} => state {child}")?;
        }
        writeln!(out, "    any other byte => root")?;
        for (index, read) in reachable(self.draft, wildcard.children, &ReadText::default()) {
            self.state(out, index, &read, false)?;
        }
        Ok(())
    }
}

/// Returns the trie's states, root first.
fn trie_states(draft: &AutomatonDraft<'_>) -> Vec<(u32, ReadText)> {
    let Some(root) = draft.states.first().filter(|_| draft.has_trie) else { return Vec::new() };
    let read = ReadText::default().then(&[], root.label);
    let others = reachable(draft, root.children, &read).into_iter().filter(|&(index, _)| index != 0);
    std::iter::once((0, read.clone())).chain(others).collect()
}

/// Describes the wildcard automata that begin at a state.
fn begins(state: &State<'_>, in_trie: bool) -> Vec<String> {
    let (true, &[(number, deciding), (_, first)]) = (in_trie, state.wildcards) else {
        return state.wildcards.iter().map(|&(bit, index)| format!("* begins {index}, bit {bit}")).collect();
    };
    let for_verdicts = match deciding {
        _ if number == NEEDS_ALL => ", all of it for verdicts".into(),
        NO_WILDCARD => ", none of it for verdicts".into(),
        _ if deciding == first => String::new(),
        _ => format!(", for verdicts from {deciding} on"),
    };
    vec![format!("* begins the list from {first} on{for_verdicts}")]
}

/// Escapes text for a quoted DOT string.
fn dot(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

fn write_dot(draft: &AutomatonDraft<'_>, out: &mut String) -> fmt::Result {
    writeln!(
        out,
        "digraph ruleset {{\n  rankdir=LR;\n  node [shape=box, fontname=monospace];\n  edge [fontname=monospace];"
    )?;
    if draft.has_trie {
        writeln!(out, "  subgraph cluster_trie {{\n    label=\"prefix trie\";")?;
        let states: Vec<u32> = trie_states(draft).into_iter().map(|(index, _)| index).collect();
        write_dot_states(draft, &states, out)?;
        writeln!(out, "  }}")?;
    }
    for (index, wildcard) in draft.wildcards.iter().enumerate() {
        writeln!(out, "  subgraph cluster_w{index} {{\n    label=\"wildcard automaton {index}\";")?;
        writeln!(out, "    w{index} [shape=circle, label=\"*\"];")?;
        let states = reachable(draft, wildcard.children, &ReadText::default());
        let states: Vec<u32> = states.into_iter().map(|(index, _)| index).collect();
        write_dot_states(draft, &states, out)?;
        for (child, bytes) in by_target(wildcard.children) {
            writeln!(out, "    w{index} -> s{child} [label=\"{}\"];", dot(&bytes))?;
        }
        writeln!(out, "  }}")?;
    }
    // Written outside the clusters, because an edge adds any node that it mentions first to the enclosing cluster.
    for (index, state) in draft.states.iter().enumerate() {
        let begun: BTreeSet<u32> = state.wildcards.iter().map(|&(_, wildcard)| wildcard).collect();
        for wildcard in begun.into_iter().filter(|&wildcard| wildcard != NO_WILDCARD) {
            writeln!(out, "  s{index} -> w{wildcard} [style=dashed, label=\"*\"];")?;
        }
    }
    for (index, wildcard) in draft.wildcards.iter().enumerate() {
        if let Some(next) = wildcard.next {
            writeln!(out, "  w{index} -> w{next} [style=dotted, label=\"next\"];")?;
        }
    }
    for (place, pattern) in draft.fallbacks.iter().enumerate() {
        let label = format!("fallback pattern {} = {}", pattern.text.escape_ascii(), rank_name(pattern.rank));
        writeln!(out, "  f{place} [shape=note, label=\"{}\"];", dot(&label))?;
    }
    for (place, text) in draft.texts.iter().enumerate() {
        let label = format!("text of {}: {}", rank_name(text.rank), text.pattern.escape_ascii());
        writeln!(out, "  t{place} [shape=plaintext, label=\"{}\"];", dot(&label))?;
    }
    writeln!(out, "}}")
}

fn write_dot_states(draft: &AutomatonDraft<'_>, states: &[u32], out: &mut String) -> fmt::Result {
    for &index in states {
        let Some(state) = draft.states.get(index as usize) else { continue };
        let mut lines = vec![format!("{index}: {}", state.label.escape_ascii())];
        if state.accept != [NO_RANK; 2] {
            lines.push(rank_names(state.accept));
        }
        if state.accept_at_end != [NO_RANK; 2] {
            lines.push(format!("$ {}", rank_names(state.accept_at_end)));
        }
        let width = if lines.len() > 1 { 3 } else { 1 };
        let label: Vec<String> = lines.iter().map(|line| dot(line)).collect();
        writeln!(out, "    s{index} [penwidth={width}, label=\"{}\"];", label.join("\\n"))?;
        for (child, bytes) in by_target(state.children) {
            writeln!(out, "    s{index} -> s{child} [label=\"{}\"];", dot(&bytes))?;
        }
    }
    Ok(())
}
