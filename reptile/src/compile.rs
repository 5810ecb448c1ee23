//! Compiles sets: a [`Compiler`] takes [`Capture`]s, each a single fetch of a robots.txt, and returns a
//! [`CompiledSet`].
//!
//! `reptile-compiler` reads the robots.txt files and builds the sets. This module runs it on several threads: a
//! [`Parser`] parses captures on any thread, and the compiler collects the results. Data over the memory limit is
//! compiled in parts, which are merged at the end.

mod fetch;
mod parser;
mod parts;
mod single;
mod threads;

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use reptile_compiler::automaton::{Recompiled, Strategy, recompile};
use reptile_compiler::set::{self, CaptureReport, MergeError, SetBuilder};
use reptile_engine::platform::MappedFile;
use reptile_engine::set::Set as Engine;
use reptile_engine::spool::{Memory, Store};

pub use self::fetch::Capture;
pub use self::parser::{Parsed, ParsedCapture, Parser};
pub(crate) use self::parts::too_large;
use self::parts::{CompiledParts, MemoryLimit};
pub(crate) use self::single::{SingleCompiled, SingleRead};
pub use self::threads::Progress;
use self::threads::{AllThreads, OnProgress};
use crate::error::{Error, ErrorKind};
use crate::files::{PendingFile, release_pages_during};
use crate::parallel::map_all;
use crate::{Dialect, Origin, Profile, Set};

/// Compiles any number of robots.txt captures to one set.
///
/// The captures' order never matters: the same captures give the same bytes. If an origin has several captures, the
/// fetch profile chooses by their times. Memory: about the size of the finished set, plus the current batch.
///
/// ```
/// use reptile::{Capture, Compiler, Dialect, Verdict};
///
/// let mut compiler = Compiler::new(Dialect::google());
/// compiler.add(Capture::new("https://example.com/robots.txt", "user-agent: *\ndisallow: /private")?)?;
/// let set = compiler.finish()?.into_set()?;
/// let agent = set.agent("AnyBot")?;
/// assert_eq!(agent.decide("https://example.com/private/1")?, Verdict::Disallow);
/// assert_eq!(agent.decide("https://example.com/")?, Verdict::Allow);
/// assert_eq!(agent.decide("https://example.org/")?, Verdict::Unknown);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Compiler {
    builder: SetBuilder,
    parser: Parser,
    strategy: Strategy,
    parts: CompiledParts,
    sets: Vec<Set>,
    on_progress: Option<Box<OnProgress>>,
}

impl Compiler {
    /// Creates a compiler for one dialect, with the dialect's own fetch profile, for the newest capture's time.
    #[must_use]
    pub fn new(dialect: &Dialect) -> Compiler {
        Compiler::with_profile(dialect, Profile::of_dialect(dialect), None)
    }

    /// Creates a compiler for one dialect and one fetch profile, for a time in seconds since 1970: later captures do
    /// not count. The default is the newest capture's time.
    #[must_use]
    pub fn with_profile(dialect: &Dialect, profile: &Profile, at: Option<i64>) -> Compiler {
        Compiler {
            builder: SetBuilder::with_profile(dialect, profile, at),
            parser: Parser::new(dialect, profile, true),
            strategy: Strategy::default(),
            parts: CompiledParts::default(),
            sets: Vec::new(),
            on_progress: None,
        }
    }

    /// Limits memory for compiling. Data over this number of bytes goes to unnamed files in a folder, which are
    /// deleted when the process ends. The set is the same. Each origin takes about 100 bytes in addition to the
    /// limit. The default is to keep everything in memory.
    ///
    /// With the feature `rayon`, a separate thread compiles the data over the limit while more captures are added,
    /// unless they are added by a thread of a pool. If the data cannot be written, a later call returns the error, and
    /// so does [`Compiler::finish`].
    #[must_use]
    pub fn memory(mut self, bytes: u64, folder: impl Into<PathBuf>) -> Compiler {
        self.parts.set_limit(MemoryLimit::new(bytes, folder.into()));
        self
    }

    /// Sets whether the set keeps other directives, the lines that decide no URL (Sitemap, Crawl-delay, ...). Must be
    /// called before [`Compiler::parser`]. The default is `true`.
    #[must_use]
    pub fn other_directives(mut self, keep: bool) -> Compiler {
        self.parser.keeps_other = keep;
        self
    }

    /// Sets whether the set keeps each rule's line number. Verdicts do not need it, but without it explanations name
    /// rules without lines. The default is `true`.
    #[must_use]
    pub fn line_numbers(mut self, keep: bool) -> Compiler {
        self.builder = self.builder.line_numbers(keep);
        self
    }

    /// Sets whether the set is by time: whether it keeps all captures, so that
    /// [`Agent::decide_at`](crate::Agent::decide_at) decides a URL by the rules that applied at its own time. Must be
    /// called before anything is added. By default, the set keeps only the captures that may still count.
    ///
    /// Size: 44 bytes for each capture, and the rules in each. An origin may have up to 8,192 captures.
    #[must_use]
    pub fn by_time(mut self, keep: bool) -> Compiler {
        self.builder = self.builder.by_time(keep);
        self
    }

    /// Sets how rules are compiled to automata. Verdicts do not depend on it. Sets can be merged only if they were
    /// compiled with the same strategy.
    #[must_use]
    pub fn strategy(mut self, strategy: Strategy) -> Compiler {
        self.strategy = strategy;
        self
    }

    /// Sets a function that is called with the progress of [`Compiler::finish`], on any thread, often. It is dropped
    /// when the call ends.
    #[must_use]
    pub fn on_progress(mut self, report: impl Fn(Progress) + Send + Sync + 'static) -> Compiler {
        self.on_progress = Some(Box::new(report));
        self
    }

    /// Returns a parser with this compiler's options, for parsing captures on other threads.
    #[must_use]
    pub fn parser(&self) -> Parser {
        self.parser.clone()
    }

    /// Adds one capture, on this thread. Time linear in the body.
    ///
    /// # Errors
    /// Returns [`ErrorKind::NoBody`], [`ErrorKind::Limit`] if the body is too large, or [`ErrorKind::Steps`] if its
    /// rules would take too long to decide a URL. The capture is then skipped, and the compiler can be used as if it
    /// had never been added. Returns [`ErrorKind::Io`] under the conditions listed for [`Compiler::add_parsed`].
    pub fn add(&mut self, capture: Capture) -> Result<(), Error> {
        let parsed = self.parser.parse_capture(&capture);
        self.add_all_of(parsed)
    }

    /// Adds captures that the compiler's [`Parser`] has parsed, except for those with an error.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Io`] or [`ErrorKind::Limit`] if data over the memory limit, which may have been added
    /// before, cannot be compiled or written. [`Compiler::finish`] then fails too.
    pub fn add_parsed(&mut self, parsed: Parsed) -> Result<(), Error> {
        let (captures, prepared) = parsed.into_parts();
        self.builder.add_captures(captures, prepared);
        self.parts.split_off_full(&mut self.builder, self.strategy)
    }

    /// Adds parsed captures. Returns the first error.
    fn add_all_of(&mut self, mut parsed: Parsed) -> Result<(), Error> {
        match parsed.take_error() {
            Some(error) => Err(error),
            None => self.add_parsed(parsed),
        }
    }

    /// Adds a set's captures: a set stores enough about them to be merged. The set must have been compiled under the
    /// same dialect and fetch profile. This call is cheap; [`Compiler::finish`] merges the set.
    ///
    /// ```
    /// use reptile::{Capture, Compiler, Dialect, Set, Verdict};
    ///
    /// let mut compiler = Compiler::new(Dialect::google());
    /// compiler.add(Capture::new("https://example.com/robots.txt", "user-agent: *\ndisallow: /")?)?;
    /// let old = compiler.finish()?.into_set()?;
    ///
    /// let mut compiler = Compiler::new(Dialect::google());
    /// compiler.add(Capture::new("https://example.org/robots.txt", "user-agent: *\ndisallow: /")?)?;
    /// compiler.add_set(&old)?;
    /// let both = compiler.finish()?.into_set()?;
    /// assert_eq!(both.agent("AnyBot")?.decide("https://example.com/")?, Verdict::Disallow);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Merge`] if the set holds a single [`Robots`](crate::Robots), or sites that were replaced
    /// in memory.
    pub fn add_set(&mut self, set: &Set) -> Result<(), Error> {
        if set.whole_bytes().is_none() {
            return Err(Error::new(ErrorKind::Merge, "the set has sites that are only in memory; compile them again"));
        }
        self.sets.push(set.clone());
        Ok(())
    }

    /// Adds many captures, on all threads with the feature `rayon`. Calls `on_error` with the origin of each skipped
    /// capture, and of a capture with which data over the memory limit could not be compiled or written
    /// ([`ErrorKind::Io`], [`ErrorKind::Limit`]). Holds up to 4,096 captures in memory at a time.
    pub fn add_all(&mut self, captures: impl IntoIterator<Item = Capture>, mut on_error: impl FnMut(&Origin, Error)) {
        const BATCH: usize = 4096;
        let mut captures = captures.into_iter();
        loop {
            let batch: Vec<Capture> = captures.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                return;
            }
            let parsed = map_all(&batch, |capture| self.parser.parse_capture(capture));
            for (capture, parsed) in batch.into_iter().zip(parsed) {
                if let Err(error) = self.add_all_of(parsed) {
                    on_error(&capture.origin, error);
                }
            }
        }
    }

    /// Compiles every distinct ruleset, on all threads with the feature `rayon`. Reads every byte of the added sets.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Limit`] if something is too large for the format; [`ErrorKind::Merge`] or
    /// [`ErrorKind::Format`] if an added set cannot be merged with the rest or is damaged, with
    /// [`Error::added_set`]; and [`ErrorKind::Io`] if a temporary file cannot be written.
    pub fn finish(self) -> Result<CompiledSet, Error> {
        let Compiler { mut builder, strategy, parts, sets, on_progress, .. } = self;
        let (parts, limit) = parts.finish(&mut builder, strategy, !sets.is_empty())?;
        if parts.is_empty() && sets.is_empty() {
            let threads = AllThreads::reporting(on_progress.as_deref(), builder.held_bytes());
            let compiled = builder.finish_with(strategy, &threads);
            return compiled.map(CompiledSet).map_err(|error| too_large(&error));
        }
        if let Some(report) = &on_progress {
            report(Progress::Merging);
        }
        let merged = match &limit {
            Some(limit) => {
                let mapped: Vec<&MappedFile> = parts.iter().chain(sets.iter().filter_map(Set::mapped)).collect();
                release_pages_during(&mapped, || merge(builder, &parts, &sets, strategy, limit))
            }
            None => merge(builder, &parts, &sets, strategy, &Memory),
        };
        merged.map(CompiledSet)
    }
}

/// Merges a set's parts and the added sets.
fn merge(
    builder: SetBuilder,
    parts: &[MappedFile],
    sets: &[Set],
    strategy: Strategy,
    store: &dyn Store,
) -> Result<set::CompiledSet, Error> {
    let mut opened: Vec<Engine<&[u8]>> =
        parts.iter().map(|part| Engine::from_bytes(part.as_ref())).collect::<Result<_, _>>()?;
    for (number, set) in sets.iter().enumerate() {
        // Damage would otherwise be compiled into the new set, with valid checksums.
        let set = Engine::from_bytes(set.whole_bytes().unwrap_or_default())
            .and_then(|set| set.verify_checksums().map(|()| set));
        opened.push(set.map_err(|error| Error::of_added_set(number, error.into()))?);
    }
    let merged = builder.finish_merged(&opened, strategy, &AllThreads::quiet(), store);
    merged.map_err(|(place, error)| {
        let error = match error {
            MergeError::Damaged(error) => error.into(),
            MergeError::Io(error) => io::Error::other(error).into(),
            MergeError::TooLarge(_) => Error::new(ErrorKind::Limit, error.to_string()),
            error => Error::new(ErrorKind::Merge, error.to_string()),
        };
        match place.and_then(|place| place.checked_sub(parts.len())) {
            Some(number) => Error::of_added_set(number, error),
            None => error,
        }
    })
}

impl fmt::Debug for Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parser { dialect, profile, keeps_other, .. } = &self.parser;
        let mut debug = f.debug_struct("Compiler");
        debug.field("dialect", &dialect.name).field("profile", &profile.name).field("other_directives", keeps_other);
        debug.finish_non_exhaustive()
    }
}

/// A compiled set that is ready to be written or used.
pub struct CompiledSet(set::CompiledSet);

impl CompiledSet {
    /// Opens the set in memory.
    ///
    /// # Errors
    /// The compiler's own output causes no error, but is checked like any other set.
    pub fn into_set(self) -> Result<Set, Error> {
        Set::from_bytes(self.to_bytes())
    }

    /// Returns the set's bytes, as [`Set::from_bytes`] opens them.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.to_bytes()
    }

    /// Returns statistics about the captures that the set was compiled from.
    #[must_use]
    pub fn report(&self) -> &CaptureReport {
        self.0.report()
    }

    /// Writes the set from start to end.
    ///
    /// # Errors
    /// Returns the errors from `out`.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        self.0.write(out)
    }

    /// Writes the set to a file with this name. The file is either complete or absent, as described for
    /// [`PendingFile`]. Readers of an older set with this name keep the old one.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Io`] if the file cannot be written; then no file with this name was created or changed,
    /// unless only writing its name to disk has failed, as described for [`PendingFile::publish`].
    pub fn write_file(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let mut writer = BufWriter::new(PendingFile::create(path.as_ref(), true)?);
        self.write(&mut writer)?;
        let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync()?;
        Ok(file.publish()?)
    }
}

impl fmt::Debug for CompiledSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompiledSet").field("report", self.0.report()).finish_non_exhaustive()
    }
}

impl Set {
    /// Verifies like [`Set::verify`], and compiles each ruleset again from its rules, on all threads with the feature
    /// `rayon`. If a set passes, its verdicts follow from its rules, even if its source is untrusted. Takes about as
    /// long as compiling did.
    ///
    /// # Errors
    /// The errors of [`Set::verify`], and [`ErrorKind::OtherCompiler`] if this version lacks the construction that
    /// the automata were built with.
    pub fn verify_deep(&self) -> Result<(), Error> {
        self.verify()?;
        verify_deep(self.engine())
    }
}

/// Compiles each of a set's rulesets again from its rules, and compares the bytes.
fn verify_deep<D: AsRef<[u8]> + Sync>(set: &Engine<D>) -> Result<(), Error> {
    let (rulesets, form) = (set.rulesets(), set.automata_form());
    let check = |number: u32| -> Result<(), Error> {
        let recompiled = rulesets.get(number).and_then(|ruleset| Ok(recompile(&ruleset.to_bytes()?, form)?))?;
        match recompiled {
            Recompiled::Same => Ok(()),
            Recompiled::Differs { offset, .. } => Err(Error::new(
                ErrorKind::Format,
                format!("ruleset {number} was not compiled from the rules that it lists: byte {offset} differs"),
            )),
            Recompiled::OtherForm { found, known } => Err(Error::new(
                ErrorKind::OtherCompiler,
                format!("construction {found:#x} made the automata, but this version only has {known:#x}"),
            )),
        }
    };
    #[cfg(feature = "rayon")]
    {
        use rayon::iter::{IntoParallelIterator, ParallelIterator};
        (0..rulesets.len()).into_par_iter().try_for_each(check)
    }
    #[cfg(not(feature = "rayon"))]
    (0..rulesets.len()).try_for_each(check)
}
