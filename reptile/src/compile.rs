//! Compiles sets: a [`Compiler`] takes [`Capture`]s, each a single fetch of a robots.txt, and returns a
//! [`CompiledSet`].
//!
//! `reptile-compiler` reads the robots.txt files. This module runs it on several threads and checks the arguments.

use std::fmt;
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use bumpalo::Bump;
use reptile_compiler::automaton::{Recompiled, Strategy, recompile};
use reptile_compiler::capture::{self, Outcome};
use reptile_compiler::set::{
    self, BadCapture, MergeError, Prepared, SetBuilder, prepare, prepare_capture, prepare_without_other,
};
use reptile_engine::platform::MappedFile;
use reptile_engine::set::Set as Engine;
use reptile_engine::spool::{Memory, Spool, Store};

use crate::error::{Error, ErrorKind};
use crate::{Challenger, Dialect, Origin, Profile, Set, Truncation};

/// A single fetch of a robots.txt: its origin, outcome and time.
///
/// A new capture is a file that was fetched successfully at an unknown time. Set the fields to add more facts.
///
/// ```
/// use reptile::Capture;
/// let found = Capture::new("https://example.com/robots.txt", "user-agent: *\ndisallow: /private")?;
/// let mut gone = Capture::without_body("https://gone.example.com/robots.txt")?;
/// (gone.status, gone.time) = (Some(404), Some(1_767_225_600));
/// # let _ = (found, gone);
/// # Ok::<(), reptile::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capture {
    /// The robots.txt's origin.
    pub origin: Origin,
    /// The body, if there was one.
    pub body: Option<Vec<u8>>,
    /// The status of the last response, after all followed redirects; `None` means 200.
    pub status: Option<u16>,
    /// Number of redirects followed.
    pub redirects: u32,
    /// The fetch time in seconds since 1970 (UTC).
    pub time: Option<i64>,
    /// The response's `Cache-Control`, which limits how long the file may be kept (RFC 9111 section 5.2.2).
    pub cache_control: Option<String>,
    /// The response's `Content-Type`.
    pub content_type: Option<String>,
    /// The product that marked the response as a challenge page with a response header; see
    /// [`challenger_of_header`](crate::challenger_of_header). Not needed if the body shows the product.
    pub challenger: Option<Challenger>,
    /// Why the body is incomplete, if it is.
    pub truncated: Option<Truncation>,
    /// Whether there was no valid response: unknown host, no connection, or a time-out.
    pub has_failed: bool,
}

impl Capture {
    /// Creates a capture for the robots.txt at a URL. Only `/robots.txt` governs an origin (RFC 9309 section 2.3).
    ///
    /// # Errors
    /// Returns [`ErrorKind::RobotsUrl`] if the URL is not a robots.txt URL.
    pub fn new(robots_url: impl AsRef<[u8]>, body: impl Into<Vec<u8>>) -> Result<Capture, Error> {
        Ok(Capture { body: Some(body.into()), ..Capture::without_body(robots_url)? })
    }

    /// Creates a capture without a body: a failed fetch, or a status that needs no body.
    ///
    /// # Errors
    /// Returns [`ErrorKind::RobotsUrl`] if the URL is not a robots.txt URL.
    pub fn without_body(robots_url: impl AsRef<[u8]>) -> Result<Capture, Error> {
        let url = robots_url.as_ref();
        let origin = Origin::of_robots_url(url)
            .map_err(|error| Error::new(ErrorKind::RobotsUrl, format!("\"{}\": {error}", url.escape_ascii())))?;
        Ok(Capture::of(origin, None))
    }

    /// Returns the capture of a successfully fetched file, for any origin.
    pub(crate) fn of_anything(body: &[u8]) -> Capture {
        Capture::of(crate::set::any_origin(), Some(body.to_vec()))
    }

    fn of(origin: Origin, body: Option<Vec<u8>>) -> Capture {
        Capture {
            origin,
            body,
            status: None,
            redirects: 0,
            time: None,
            cache_control: None,
            content_type: None,
            challenger: None,
            truncated: None,
            has_failed: false,
        }
    }

    /// Converts the capture for the compiler.
    pub(crate) fn facts(&self) -> capture::Capture {
        capture::Capture {
            status: self.status,
            redirects: self.redirects,
            time: self.time,
            max_age: self.cache_control.as_deref().and_then(capture::max_age),
            media_type: self.content_type.as_deref().map(capture::media_type),
            challenger: self.challenger,
            truncated: self.truncated,
            has_failed: self.has_failed,
        }
    }
}

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
    dialect: Dialect,
    profile: Profile,
    keeps_other: bool,
    /// The memory limit, and the folder for data over the limit.
    room: Option<(u64, PathBuf)>,
    /// Compiled parts over the limit.
    parts: Vec<MappedFile>,
    sets: Vec<Set>,
}

/// Divisor for the memory that may be held before it is compiled and written to a file. Compiling takes about twice
/// that memory.
const HELD_PART: u64 = 3;

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
            dialect: dialect.clone(),
            profile: profile.clone(),
            keeps_other: true,
            room: None,
            parts: Vec::new(),
            sets: Vec::new(),
        }
    }

    /// Limits memory for compiling. Data over this number of bytes goes to unnamed files in a folder, which are
    /// deleted when the process ends. The set is the same. Each origin takes about 100 bytes in addition to the
    /// limit. The default is to keep everything in memory.
    #[must_use]
    pub fn memory(mut self, bytes: u64, folder: impl Into<PathBuf>) -> Compiler {
        self.room = Some((bytes, folder.into()));
        self
    }

    /// Sets whether the set keeps other directives, the lines that decide no URL (Sitemap, Crawl-delay, ...). The
    /// default is `true`.
    #[must_use]
    pub fn other_directives(mut self, keep: bool) -> Compiler {
        self.keeps_other = keep;
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

    /// Reads one capture, on this thread. Time linear in the body.
    ///
    /// # Errors
    /// Returns [`ErrorKind::NoBody`], or [`ErrorKind::Limit`] if the body is too large. The capture is then skipped,
    /// and the compiler can be used as if it had never been added.
    pub fn add(&mut self, capture: Capture) -> Result<(), Error> {
        let (outcome, prepared) = self.read(&capture, &Bump::new())?;
        self.take(&capture, outcome, prepared)
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
            return Err(Error::new(ErrorKind::Merge, "the set has sites that are only in memory; compile them anew"));
        }
        self.sets.push(set.clone());
        Ok(())
    }

    /// Adds a parsed capture. If the builder then exceeds its limit, writes it out as a part.
    fn take(&mut self, capture: &Capture, outcome: Outcome, prepared: Option<Prepared>) -> Result<(), Error> {
        self.builder.add_capture([capture.origin.clone()], &capture.facts(), outcome, prepared);
        match &self.room {
            Some((memory, _)) if self.builder.held_bytes() as u64 >= memory / HELD_PART => self.keep_part(),
            _ => Ok(()),
        }
    }

    /// Compiles the builder's captures, and writes them to a file.
    fn keep_part(&mut self) -> Result<(), Error> {
        let Some((_, folder)) = &self.room else { return Ok(()) };
        if self.builder.held_bytes() > 0 {
            let part = self.builder.finish_part(Strategy::default(), &AllThreads);
            let part = part.map_err(|error| Error::new(ErrorKind::Limit, error.to_string()))?;
            self.parts.push(MappedFile::nameless(folder, |mut out| part.write(&mut out))?);
        }
        Ok(())
    }

    /// Reads many captures, on all threads with the feature `rayon`. Calls `on_error` with the origin of each skipped
    /// capture, and also of a capture after which a part could not be written ([`ErrorKind::Io`]). Holds up to 4,096
    /// captures in memory at a time.
    pub fn add_all(&mut self, captures: impl IntoIterator<Item = Capture>, mut on_error: impl FnMut(&Origin, Error)) {
        const BATCH: usize = 4096;
        let mut captures = captures.into_iter();
        loop {
            let batch: Vec<Capture> = captures.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                return;
            }
            let read = self.read_all(&batch);
            for (capture, read) in batch.into_iter().zip(read) {
                let taken = read.and_then(|(outcome, prepared)| self.take(&capture, outcome, prepared));
                if let Err(error) = taken {
                    on_error(&capture.origin, error);
                }
            }
        }
    }

    #[cfg(feature = "rayon")]
    fn read_all(&self, batch: &[Capture]) -> Vec<Result<(Outcome, Option<Prepared>), Error>> {
        use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
        let read = batch.par_iter().map_init(Bump::new, |arena, capture| {
            arena.reset();
            self.read(capture, arena)
        });
        read.collect()
    }

    #[cfg(not(feature = "rayon"))]
    fn read_all(&self, batch: &[Capture]) -> Vec<Result<(Outcome, Option<Prepared>), Error>> {
        batch.iter().map(|capture| self.read(capture, &Bump::new())).collect()
    }

    fn read(&self, capture: &Capture, arena: &Bump) -> Result<(Outcome, Option<Prepared>), Error> {
        read(capture, &self.dialect, &self.profile, self.keeps_other, arena)
    }

    /// Compiles every distinct ruleset, on all threads with the feature `rayon`.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Limit`] if something is too large for the format; [`ErrorKind::Merge`] or
    /// [`ErrorKind::Format`] if an added set cannot be merged with the rest or is damaged; and [`ErrorKind::Io`] if a
    /// temporary file cannot be written.
    pub fn finish(mut self) -> Result<CompiledSet, Error> {
        if self.parts.is_empty() && self.sets.is_empty() {
            return finish(self.builder).map(CompiledSet);
        }
        self.keep_part()?;
        let Compiler { builder, room, parts, sets, .. } = self;
        let bytes = parts.iter().map(AsRef::as_ref).chain(sets.iter().filter_map(Set::whole_bytes));
        let opened: Vec<Engine<&[u8]>> = bytes.map(Engine::from_bytes).collect::<Result<_, _>>()?;
        let strategy = Strategy::default();
        let merged = match &room {
            Some((_, folder)) => builder.finish_merged(&opened, strategy, &AllThreads, &TemporaryFiles(folder)),
            None => builder.finish_merged(&opened, strategy, &AllThreads, &Memory),
        };
        merged.map(CompiledSet).map_err(|(_, error)| match error {
            MergeError::Damaged(error) => error.into(),
            MergeError::Io(error) => io::Error::other(error).into(),
            MergeError::TooLarge(_) => Error::new(ErrorKind::Limit, error.to_string()),
            error => Error::new(ErrorKind::Merge, format!("a set that was added {error}")),
        })
    }
}

/// Unnamed files in a folder.
struct TemporaryFiles<'f>(&'f Path);

impl Store for TemporaryFiles<'_> {
    type Spool = TemporaryFile;

    fn create(&self) -> io::Result<TemporaryFile> {
        tempfile::tempfile_in(self.0).map(TemporaryFile)
    }
}

struct TemporaryFile(std::fs::File);

impl Write for TemporaryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Spool for TemporaryFile {
    fn copy_to(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut file = &self.0;
        file.rewind()?;
        io::copy(&mut io::BufReader::with_capacity(1 << 20, file), out).map(drop)
    }
}

impl fmt::Debug for Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Compiler { dialect, profile, keeps_other, .. } = self;
        let mut debug = f.debug_struct("Compiler");
        debug.field("dialect", &dialect.name).field("profile", &profile.name).field("other_directives", keeps_other);
        debug.finish_non_exhaustive()
    }
}

/// Reads one capture under a dialect and a profile.
pub(crate) fn read(
    capture: &Capture,
    dialect: &Dialect,
    profile: &Profile,
    keeps_other: bool,
    arena: &Bump,
) -> Result<(Outcome, Option<Prepared>), Error> {
    let read = if keeps_other { prepare } else { prepare_without_other };
    let made = prepare_capture(&capture.facts(), capture.body.as_deref(), profile, |body| read(body, dialect, arena));
    made.map_err(|error| match error {
        BadCapture::OverLimit(error) => Error::new(ErrorKind::Limit, error.to_string()),
        BadCapture::NoBody => Error::new(ErrorKind::NoBody, "the capture has no body"),
    })
}

/// Compiles one robots.txt, on this thread: compiling its few rulesets takes less time than handing them to other
/// threads.
pub(crate) fn finish_one(builder: SetBuilder) -> Result<set::CompiledSet, Error> {
    let compiled = builder.finish(Strategy::default());
    compiled.map_err(|error| Error::new(ErrorKind::Limit, error.to_string()))
}

/// Compiles a builder's captures.
pub(crate) fn finish(builder: SetBuilder) -> Result<set::CompiledSet, Error> {
    let compiled = builder.finish_with(Strategy::default(), &AllThreads);
    compiled.map_err(|error| Error::new(ErrorKind::Limit, error.to_string()))
}

/// Runs on all threads with the feature `rayon`, otherwise on the caller's thread.
#[cfg(not(feature = "rayon"))]
use reptile_engine::threads::OneThread as AllThreads;

#[cfg(feature = "rayon")]
struct AllThreads;

#[cfg(feature = "rayon")]
impl reptile_engine::threads::Threads for AllThreads {
    fn both<A: Send, B: Send>(&self, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
        rayon::join(a, b)
    }

    fn each<T: Send, S, R: Send>(
        &self,
        things: Vec<T>,
        start: impl Fn() -> S + Send + Sync,
        work: impl Fn(&mut S, T) -> R + Send + Sync,
    ) -> Vec<R> {
        use rayon::iter::{IntoParallelIterator, ParallelIterator};
        things.into_par_iter().map_init(start, work).collect()
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
        Set::from_bytes(self.0.to_bytes())
    }

    /// Writes the set from start to end.
    ///
    /// # Errors
    /// Returns the errors from `out`.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        self.0.write(out)
    }

    /// Writes the set to a file with this name. The file is either complete or absent: it is written under another
    /// name in the same folder, synced and renamed. Readers of an older set with this name keep the old one.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Io`] if the file cannot be written; then no file with this name was created or changed.
    pub fn write_file(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = tempfile::NamedTempFile::new_in(folder)?;
        let mut writer = BufWriter::new(file);
        self.write(&mut writer)?;
        let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
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
