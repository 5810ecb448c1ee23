//! Parses captures for a compiler, on any thread.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use bumpalo::Bump;
use reptile_compiler::body::DiagnosticKind;
use reptile_compiler::capture::{self, Outcome};
use reptile_compiler::set::{BadCapture, BodyOverLimit, Prepared, prepare, prepare_capture, prepare_without_other};

use super::fetch::Capture;
use crate::error::{Error, ErrorKind};
use crate::{Dialect, Origin, Profile};

/// Maximum size of an arena that is kept for the next body, in bytes. Larger bodies are rare.
const MAX_ARENA_BYTES: usize = 1 << 20;

/// Parses captures for a [`Compiler`](crate::Compiler), with its options.
///
/// Parsing takes most of the time of compiling, and captures can be parsed on any number of threads at once. The
/// compiler that [created](crate::Compiler::parser) the parser then adds the results.
///
/// ```
/// use reptile::{Compiler, Dialect, Verdict, capture};
///
/// let mut compiler = Compiler::new(Dialect::google());
/// let parser = compiler.parser();
/// let bodies = [("https://example.com", "user-agent: *\ndisallow: /a"), ("https://example.org", "")];
/// let parsed = std::thread::scope(|scope| {
///     let parse = |(origin, body): (&str, &'static str)| {
///         let capture = (vec![origin.parse().ok()?], capture::Capture::default());
///         let parser = &parser;
///         Some(scope.spawn(move || parser.parse([capture], Some(body.as_bytes()))))
///     };
///     let threads: Vec<_> = bodies.into_iter().filter_map(parse).collect();
///     threads.into_iter().filter_map(|thread| thread.join().ok()).collect::<Vec<_>>()
/// });
/// for parsed in parsed {
///     compiler.add_parsed(parsed)?;
/// }
/// let set = compiler.finish()?.into_set()?;
/// assert_eq!(set.agent("AnyBot")?.decide("https://example.com/a")?, Verdict::Disallow);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Parser {
    pub(super) dialect: Dialect,
    pub(super) profile: Profile,
    pub(super) keeps_other: bool,
    /// Memory for parsing, reused between bodies.
    arenas: Mutex<Vec<Bump>>,
}

/// Captures that share a body, after parsing.
#[derive(Debug)]
pub struct Parsed {
    captures: Vec<ParsedCapture>,
    pub(super) prepared: Option<Prepared>,
}

/// A capture after parsing.
#[derive(Debug)]
#[non_exhaustive]
pub struct ParsedCapture {
    /// The origins that the capture is for.
    pub origins: Vec<Origin>,
    /// The facts about the fetch.
    pub capture: capture::Capture,
    /// The outcome, or the reason that the capture is left out: [`ErrorKind::NoBody`], [`ErrorKind::Limit`] or
    /// [`ErrorKind::Steps`].
    pub outcome: Result<Outcome, Error>,
}

impl Parser {
    pub(super) fn new(dialect: &Dialect, profile: &Profile, keeps_other: bool) -> Parser {
        Parser { dialect: dialect.clone(), profile: profile.clone(), keeps_other, arenas: Mutex::default() }
    }

    /// Parses the body of one capture, or of several captures that share a response, such as the end of several
    /// redirects. Captures that share a response have the same media type, and it is truncated for all or for none.
    /// Time linear in the body.
    pub fn parse(
        &self,
        captures: impl IntoIterator<Item = (Vec<Origin>, capture::Capture)>,
        body: Option<&[u8]>,
    ) -> Parsed {
        self.with_arena(|arena| {
            let mut shared: Option<Result<Prepared, BodyOverLimit>> = None;
            let parse = |(origins, capture)| {
                let outcome = self.outcome(&capture, body, &mut shared, arena);
                ParsedCapture { origins, capture, outcome }
            };
            Parsed { captures: captures.into_iter().map(parse).collect(), prepared: shared.and_then(Result::ok) }
        })
    }

    /// Parses a file that was not fetched. The fetch profile does not apply, and the set always uses the file.
    pub fn parse_file(&self, origins: Vec<Origin>, body: &[u8]) -> Parsed {
        let prepared = self.with_arena(|arena| self.prepare(body, arena));
        let outcome = prepared.as_ref().map(|_| Outcome::Use).map_err(over_limit);
        let capture = ParsedCapture { origins, capture: capture::Capture::default(), outcome };
        Parsed { captures: vec![capture], prepared: prepared.ok() }
    }

    /// Returns a capture's outcome. Parses the body if the outcome uses it and no earlier capture did.
    fn outcome(
        &self,
        capture: &capture::Capture,
        body: Option<&[u8]>,
        shared: &mut Option<Result<Prepared, BodyOverLimit>>,
        arena: &Bump,
    ) -> Result<Outcome, Error> {
        if let (Some(shared), Some(body)) = (&*shared, body) {
            let outcome = self.profile.outcome(capture, body);
            return match shared {
                Err(error) if outcome == Outcome::Use => Err(over_limit(error)),
                _ => Ok(outcome),
            };
        }
        match prepare_capture(capture, body, &self.profile, |body| self.prepare(body, arena)) {
            Ok((outcome, prepared)) => {
                *shared = prepared.map(Ok).or(shared.take());
                Ok(outcome)
            }
            Err(error) => {
                let refused = refused(&error);
                if let BadCapture::OverLimit(error) = error {
                    *shared = Some(Err(error));
                }
                Err(refused)
            }
        }
    }

    pub(super) fn parse_capture(&self, capture: &Capture) -> Parsed {
        self.parse([(vec![capture.origin.clone()], capture.facts())], capture.body.as_deref())
    }

    fn prepare(&self, body: &[u8], arena: &Bump) -> Result<Prepared, BodyOverLimit> {
        let prepare = if self.keeps_other { prepare } else { prepare_without_other };
        prepare(body, &self.dialect, arena)
    }

    fn with_arena<R>(&self, work: impl FnOnce(&Bump) -> R) -> R {
        let arenas = || self.arenas.lock().unwrap_or_else(PoisonError::into_inner);
        let reused = arenas().pop();
        let mut arena = reused.unwrap_or_default();
        let result = work(&arena);
        if arena.allocated_bytes() <= MAX_ARENA_BYTES {
            arena.reset();
            arenas().push(arena);
        }
        result
    }
}

impl Clone for Parser {
    fn clone(&self) -> Parser {
        Parser::new(&self.dialect, &self.profile, self.keeps_other)
    }
}

impl fmt::Debug for Parser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parser { dialect, profile, keeps_other, .. } = self;
        let mut debug = f.debug_struct("Parser");
        debug.field("dialect", &dialect.name).field("profile", &profile.name).field("other_directives", keeps_other);
        debug.finish_non_exhaustive()
    }
}

impl Parsed {
    /// Returns the captures, in the given order. The compiler leaves out those without an outcome.
    #[must_use]
    pub fn captures(&self) -> &[ParsedCapture] {
        &self.captures
    }

    /// Returns the number of rules in the body as written, or 0 if no capture uses it.
    #[must_use]
    pub fn rule_count(&self) -> u64 {
        self.prepared.as_ref().map_or(0, |prepared| prepared.rule_count as u64)
    }

    /// Returns the number of diagnostics for the body, by kind.
    pub fn diagnostics(&self) -> impl Iterator<Item = (DiagnosticKind, u64)> {
        self.prepared.iter().flat_map(|prepared| prepared.diagnostics.counts())
    }

    /// Returns a number that depends only on the body, or 0 if no capture uses it. It decides between two captures if
    /// nothing else does.
    #[must_use]
    pub fn body_hash(&self) -> u64 {
        self.prepared.as_ref().map_or(0, |prepared| prepared.body_hash)
    }

    /// Returns the captures that can be used, with their outcomes, and the body's rules.
    pub(super) fn into_parts(
        self,
    ) -> (impl Iterator<Item = (Vec<Origin>, capture::Capture, Outcome)>, Option<Prepared>) {
        let usable = |ParsedCapture { origins, capture, outcome }| Some((origins, capture, outcome.ok()?));
        (self.captures.into_iter().filter_map(usable), self.prepared)
    }

    /// Removes the first capture that cannot be used, and returns the error.
    pub(super) fn take_error(&mut self) -> Option<Error> {
        let place = self.captures.iter().position(|capture| capture.outcome.is_err())?;
        self.captures.swap_remove(place).outcome.err()
    }
}

pub(super) fn refused(error: &BadCapture) -> Error {
    match error {
        BadCapture::OverLimit(error) => over_limit(error),
        BadCapture::NoBody => Error::new(ErrorKind::NoBody, "the capture has no body"),
    }
}

fn over_limit(error: &BodyOverLimit) -> Error {
    let kind = match error {
        BodyOverLimit::Bytes(_) => ErrorKind::Limit,
        BodyOverLimit::Steps(_) => ErrorKind::Steps,
    };
    Error::new(kind, error.to_string())
}
