//! A single robots.txt, which is read first, and compiled when that pays off.

use std::cell::Cell;

use bumpalo::Bump;
use reptile_compiler::automaton::Workspace;
use reptile_compiler::body::Diagnostic;
use reptile_compiler::capture::{self, Outcome};
use reptile_compiler::set::{
    BadCapture, ObeyedGroups, Prepared, UnorderedFile, compile_single, prepare_alone, prepare_capture, read_alone,
};
use reptile_engine::url::path_at_any_origin;

use super::parser::refused;
use super::parts::too_large;
use crate::error::Error;
use crate::set::any_origin;
use crate::{Dialect, Profile, Verdict};

/// Maximum size of the arena that a thread keeps for its next single file, in bytes.
const MAX_THREAD_ARENA_BYTES: usize = 1 << 17;

/// Number of steps after which a small file is compiled. A step compares a byte of a rule with a byte of a URL.
/// Compiling even the smallest file takes as long as a thousand steps or more.
const FIRST_STEPS: usize = 1024;

/// Number of bytes in a file for each further step.
const BYTES_PER_STEP: usize = 32;

/// Whether every file is compiled at once. WebAssembly modules have no code to decide without a set, because browsers
/// fetch the code, and because the modules explain each verdict anyway.
const ALWAYS_COMPILES: bool = cfg!(target_family = "wasm");

/// Number of steps for a decision, in addition to the steps for its rules.
const STEPS_PER_DECISION: usize = 16;

/// A capture that has been read.
pub(crate) struct SingleRead {
    facts: capture::Capture,
    outcome: Outcome,
    file: Option<SingleFile>,
    dialect: Dialect,
    profile: Profile,
    /// The number of steps left before the file is compiled.
    steps: usize,
}

/// A capture's file.
enum SingleFile {
    Read(UnorderedFile),
    /// Only if [`ALWAYS_COMPILES`].
    Prepared(Prepared),
}

/// A set with one robots.txt, and the file's first diagnostics.
pub(crate) struct SingleCompiled {
    pub(crate) bytes: Vec<u8>,
    pub(crate) diagnostics: Box<[Diagnostic]>,
}

impl SingleRead {
    /// Reads a capture.
    ///
    /// # Errors
    /// Returns the errors of [`Robots::from_capture`](crate::Robots::from_capture).
    pub(crate) fn new(
        facts: &capture::Capture,
        body: Option<&[u8]>,
        dialect: &Dialect,
        profile: &Profile,
    ) -> Result<SingleRead, Error> {
        let read = |body: &[u8]| {
            with_scratch(|arena, _| match ALWAYS_COMPILES {
                true => prepare_alone(body, dialect, arena).map(SingleFile::Prepared),
                false => read_alone(body, dialect, arena).map(SingleFile::Read),
            })
        };
        let (outcome, file) = prepare_capture(facts, body, profile, read).map_err(|error| refused(&error))?;
        let (facts, dialect, profile) = (facts.clone(), dialect.clone(), profile.clone());
        let steps = FIRST_STEPS + body.map_or(0, <[u8]>::len) / BYTES_PER_STEP;
        Ok(SingleRead { facts, outcome, file, dialect, profile, steps })
    }

    /// Returns whether the capture must be compiled at once.
    ///
    /// Reasons are that no rules are used, and [`ALWAYS_COMPILES`].
    pub(crate) fn must_compile(&self) -> bool {
        self.uncompiled().is_none()
    }

    fn uncompiled(&self) -> Option<&UnorderedFile> {
        match &self.file {
            Some(SingleFile::Read(file)) if !ALWAYS_COMPILES => Some(file),
            _ => None,
        }
    }

    /// Returns the groups that a crawler with these product tokens obeys.
    pub(crate) fn groups_of(&self, tokens: &[Vec<u8>], honors_default_group: bool) -> Option<ObeyedGroups> {
        let file = self.uncompiled()?;
        Some(file.groups_of(&self.dialect, tokens, honors_default_group))
    }

    /// Returns the verdict for one URL, or `None` if it now pays off to compile the file.
    pub(crate) fn decide(&mut self, groups: &ObeyedGroups, url: &[u8]) -> Option<Verdict> {
        let file = self.uncompiled()?;
        let Ok(path) = path_at_any_origin(url) else { return Some(Verdict::Invalid) };
        if self.steps == 0 {
            return None;
        }
        let mut steps = STEPS_PER_DECISION;
        let answer = file.decide(groups, &self.dialect, &path, BYTES_PER_STEP * self.steps, &mut steps);
        self.steps = self.steps.saturating_sub(steps);
        Some(if answer.ok()?.allowed { Verdict::Allow } else { Verdict::Disallow })
    }

    /// Compiles the file to a set, on this thread: compiling its few rulesets takes less time than handing them to
    /// other threads.
    ///
    /// # Errors
    /// Returns an error if the set is too large for the format.
    pub(crate) fn compile(self) -> Result<SingleCompiled, Error> {
        let SingleRead { facts, outcome, file, dialect, profile, .. } = self;
        with_scratch(|arena, workspace| {
            let prepared = match file {
                Some(SingleFile::Prepared(prepared)) => Some(prepared),
                Some(SingleFile::Read(file)) if !ALWAYS_COMPILES => {
                    let prepared = file.prepare(&dialect, arena);
                    Some(prepared.map_err(|error| refused(&BadCapture::OverLimit(error)))?)
                }
                _ => None,
            };
            let diagnostics = prepared.as_ref().map_or(&[][..], |prepared| prepared.diagnostics.first()).into();
            let set = compile_single(&any_origin(), &facts, (outcome, prepared), &dialect, &profile, workspace);
            Ok(SingleCompiled { bytes: set.map_err(|error| too_large(&error))?.to_bytes(), diagnostics })
        })
    }
}

/// Memory for one robots.txt, reused by the thread's next one.
#[derive(Default)]
struct Scratch {
    arena: Bump,
    workspace: Workspace,
}

fn with_scratch<R>(work: impl FnOnce(&Bump, &mut Workspace) -> R) -> R {
    thread_local! {
        static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
    }
    // The memory is missing while the thread ends.
    let mut scratch = SCRATCH.try_with(Cell::take).ok().flatten().unwrap_or_default();
    let Scratch { arena, workspace } = &mut *scratch;
    let result = work(arena, workspace);
    if arena.allocated_bytes() <= MAX_THREAD_ARENA_BYTES {
        arena.reset();
    } else {
        *arena = Bump::new();
    }
    // While the thread ends, the memory is freed instead.
    let _ = SCRATCH.try_with(|kept| kept.set(Some(scratch)));
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> SingleRead {
        let (facts, dialect) = (capture::Capture::default(), Dialect::google());
        SingleRead::new(&facts, Some(body.as_bytes()), dialect, Profile::of_dialect(dialect)).unwrap()
    }

    /// Returns the number of URLs that a file decides before it is compiled.
    fn decided(body: &str, url: &str) -> usize {
        let mut file = read(body);
        let groups = file.groups_of(&[], true).unwrap();
        (0..1000).take_while(|_| file.decide(&groups, url.as_bytes()).is_some()).count()
    }

    #[test]
    fn files_are_compiled_after_some_steps() {
        let rules = |count: usize| "disallow: /b\n".repeat(count);
        let body = |count| format!("user-agent: *\n{}", rules(count));
        // Each rule takes two steps: one for itself, and one for the slash that it shares with the path.
        for count in [10, 1000] {
            let steps = FIRST_STEPS + body(count).len() / BYTES_PER_STEP;
            let each = STEPS_PER_DECISION + 2 * count;
            assert_eq!(decided(&body(count), "/a"), steps.div_ceil(each), "{count}");
        }
        assert_eq!(decided(&body(1), "no URL"), 1000);
    }

    #[test]
    fn only_failed_fetches_are_compiled_at_once() {
        let (facts, dialect) = (capture::Capture { has_failed: true, ..Default::default() }, Dialect::google());
        let failed = SingleRead::new(&facts, None, dialect, Profile::of_dialect(dialect));
        assert!(failed.is_ok_and(|read| read.must_compile()));
        // With 300 patterns, the rules must be ordered before the file is accepted.
        for count in [1, 300] {
            let wildcards = read(&format!("user-agent: *\n{}", "disallow: /a*b\n".repeat(count)));
            assert!(!wildcards.must_compile(), "{count}");
        }
    }
}
