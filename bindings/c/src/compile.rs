//! Compiles and merges sets.

use std::ffi::c_char;
use std::io::{self, BufWriter, Write};
use std::mem::offset_of;
use std::sync::{Mutex, MutexGuard};

use reptile::files::PendingFile;
use reptile::{CompiledSet, Compiler, Origin, Parser, Profile, Truncation, capture};
use reptile_columns::{SetOrRobots, arrow::in_pool};

use crate::border::{self, Failure, ReptileCode, Versioned, call};
use crate::set::{ReptileSet, at, dialect_named, path_of};

/// Flag for `reptile_compiler_options`: compiles a set by time. It keeps every capture, so that `reptile_decide_at` can
/// decide by the rules that were active at a time. Each capture takes 44 bytes plus its rules. An origin may have up to
/// 8,192 captures.
pub const REPTILE_COMPILE_BY_TIME: u64 = 1;
/// Flag for `reptile_compiler_options`: omits line numbers, for a smaller set.
pub const REPTILE_COMPILE_NO_LINE_NUMBERS: u64 = 2;
/// Flag for `reptile_compiler_options`: omits other directives, such as sitemaps, for a smaller set.
pub const REPTILE_COMPILE_NO_OTHER_DIRECTIVES: u64 = 4;

const ALL_FLAGS: u64 = REPTILE_COMPILE_BY_TIME | REPTILE_COMPILE_NO_LINE_NUMBERS | REPTILE_COMPILE_NO_OTHER_DIRECTIVES;

/// Options for compiling a set. Set `size` to `sizeof(reptile_compiler_options)`, and all fields that you do not use to
/// zero: later versions may append fields.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ReptileCompilerOptions {
    /// `sizeof(reptile_compiler_options)`.
    pub size: usize,
    /// The dialect, such as `google`, `google-lib` or `rfc9309`. Null means `google`.
    pub dialect: *const c_char,
    /// The fetch profile, which defines what a failed fetch means, such as `google` or `rfc9309`. Null means the
    /// dialect's own profile.
    pub profile: *const c_char,
    /// The time that the set is compiled for, in seconds since 1970. Later captures do not count. 0 means the newest
    /// capture's time.
    pub at: i64,
    /// `REPTILE_COMPILE_BY_TIME` and the other flags, combined with `|`.
    pub flags: u64,
    /// Memory limit for the set's data, in bytes. Data over the limit goes to unnamed files in `folder`. Each origin
    /// takes about 100 additional bytes. 0 means no limit.
    pub memory: u64,
    /// The folder for data over the memory limit (bytes on Unix, UTF-8 elsewhere). Required with `memory`.
    pub folder: *const c_char,
}

// SAFETY: the fields are integers and pointers, and the first is the size.
unsafe impl Versioned for ReptileCompilerOptions {
    const FIRST_BYTES: usize = offset_of!(ReptileCompilerOptions, folder) + size_of::<*const c_char>();
}

/// One fetch of one robots.txt. Set `size` to `sizeof(reptile_capture)`, and all fields that you do not use to zero:
/// later versions may append fields. Strings end with NUL and must be UTF-8. Null means unknown.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ReptileCapture {
    /// `sizeof(reptile_capture)`.
    pub size: usize,
    /// The URL of the robots.txt, such as `https://shop.example/robots.txt`. For a redirect, the first URL.
    pub url: *const c_char,
    /// Length of the URL in bytes.
    pub url_len: usize,
    /// The body, or null if there was none. For an empty file, a non-null pointer and the length 0.
    pub body: *const u8,
    /// Length of the body in bytes. At most 16,777,216.
    pub body_len: usize,
    /// The fetch time in seconds since 1970, or 0 if it is unknown.
    pub time: i64,
    /// The response's `Cache-Control`, which limits how long the file may be kept.
    pub cache_control: *const c_char,
    /// The response's `Content-Type`.
    pub content_type: *const c_char,
    /// Why the body is truncated: `length`, `time`, `disconnect` or `unspecified`. Null if it is complete.
    pub truncated: *const c_char,
    /// Why there was no response, as free text. Null or empty if there was a response.
    pub error: *const c_char,
    /// The status of the last response, or 0 if it is unknown, which means 200.
    pub status: u32,
    /// Number of redirects followed.
    pub redirects: u32,
}

// SAFETY: the fields are integers and pointers, and the first is the size.
unsafe impl Versioned for ReptileCapture {
    const FIRST_BYTES: usize = offset_of!(ReptileCapture, redirects) + size_of::<u32>();
}

/// Compiles robots.txt files to a set. Any number of threads may add captures at the same time.
pub struct ReptileCompiler {
    /// Parses captures outside the lock. Parsing takes most of the time.
    parser: Parser,
    has_memory_limit: bool,
    state: Mutex<CompilerState>,
}

enum CompilerState {
    Adding(Box<Compiler>),
    Compiled(Box<CompiledSet>),
    /// Compiling has failed and consumed the captures.
    Failed,
}

impl ReptileCompiler {
    fn lock(&self) -> Result<MutexGuard<'_, CompilerState>, Failure> {
        let spoiled = |_| Failure::new(ReptileCode::Panic, "the compiler is unusable after an internal error");
        self.state.lock().map_err(spoiled)
    }

    /// Runs `work` on the compiler, unless it is finished.
    fn adding<R>(&self, work: impl FnOnce(&mut Compiler) -> Result<R, Failure>) -> Result<R, Failure> {
        match &mut *self.lock()? {
            CompilerState::Adding(compiler) => work(compiler),
            CompilerState::Compiled(_) | CompilerState::Failed => {
                Err(Failure::argument("the compiler is finished: captures and sets must be added before"))
            }
        }
    }

    fn add(&self, origin: Origin, facts: capture::Capture, body: Option<&[u8]>) -> Result<(), Failure> {
        // Do not parse if the compiler is finished.
        self.adding(|_| Ok(()))?;
        let parsed = self.parser.parse([(vec![origin], facts)], body);
        match parsed.captures().iter().find_map(|capture| capture.outcome.as_ref().err()) {
            Some(error) => Err(Failure::of_library(error)),
            None => self.adding(|compiler| {
                // Data over the memory limit is compiled in the pool that `reptile_shutdown` ends, not in a global
                // pool.
                let added = if self.has_memory_limit {
                    in_pool(|| compiler.add_parsed(parsed))
                } else {
                    compiler.add_parsed(parsed)
                };
                Ok(added?)
            }),
        }
    }

    /// Compiles the captures on the first call, and runs `work` on the set.
    fn compiled<R>(&self, work: impl FnOnce(&CompiledSet) -> Result<R, Failure>) -> Result<R, Failure> {
        let mut state = self.lock()?;
        *state = match std::mem::replace(&mut *state, CompilerState::Failed) {
            CompilerState::Adding(compiler) => CompilerState::Compiled(Box::new(in_pool(|| compiler.finish())?)),
            other => other,
        };
        match &*state {
            CompilerState::Compiled(compiled) => work(compiled),
            CompilerState::Adding(_) | CompilerState::Failed => {
                Err(Failure::argument("the compiler has failed before: free it and compile again"))
            }
        }
    }
}

/// Creates a compiler. `options` may be null, which means the Google dialect, its fetch profile, and the newest
/// capture's time. Thread-safe.
///
/// # Safety
/// `options` must be null or point to `options->size` bytes, with pointers that are null or valid. `compiler` and
/// `message` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_compiler_new(
    options: *const ReptileCompilerOptions,
    compiler: *mut *mut ReptileCompiler,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: if they are not null, the options have as many bytes as they say.
        let options = (!options.is_null()).then(|| unsafe { border::versioned(options, "the options") }).transpose()?;
        let made = match &options {
            None => Compiler::new(dialect_named(None)?),
            // SAFETY: the options' pointers are null or valid.
            Some(options) => unsafe { with_options(options) }?,
        };
        let has_memory_limit = options.is_some_and(|options| options.memory > 0);
        let parser = made.parser();
        let state = Mutex::new(CompilerState::Adding(Box::new(made)));
        Ok(ReptileCompiler { parser, has_memory_limit, state })
    };
    // SAFETY: `compiler` and `message` are null or writable.
    unsafe { border::make(compiler, "the compiler", message, work) }
}

/// # Safety
/// The options' pointers must be null or NUL-terminated.
unsafe fn with_options(options: &ReptileCompilerOptions) -> Result<Compiler, Failure> {
    // SAFETY: the dialect is null or NUL-terminated.
    let dialect = dialect_named(unsafe { border::optional_text(options.dialect, "the dialect") }?)?;
    // SAFETY: the profile is null or NUL-terminated.
    let profile = match unsafe { border::optional_text(options.profile, "the fetch profile") }? {
        None => Profile::of_dialect(dialect),
        Some(name) => Profile::from_name(name)
            .ok_or_else(|| Failure::argument(format!("unknown fetch profile {name:?}, expected such as \"google\"")))?,
    };
    let unknown = options.flags & !ALL_FLAGS;
    if unknown != 0 {
        return Err(Failure::argument(format!(
            "the options: unknown flags {unknown:#x}, expected only {ALL_FLAGS:#x}"
        )));
    }
    let has = |flag: u64| options.flags & flag != 0;
    let mut compiler = Compiler::with_profile(dialect, profile, Some(options.at).filter(|&at| at != 0))
        .by_time(has(REPTILE_COMPILE_BY_TIME))
        .line_numbers(!has(REPTILE_COMPILE_NO_LINE_NUMBERS))
        .other_directives(!has(REPTILE_COMPILE_NO_OTHER_DIRECTIVES));
    if options.memory > 0 {
        // SAFETY: the folder is null or NUL-terminated.
        let folder = unsafe { border::path_bytes(options.folder, "the folder for data over the memory limit") }?;
        compiler = compiler.memory(options.memory, path_of(folder)?);
    }
    Ok(compiler)
}

/// Adds one capture. The order does not matter: if an origin has several captures, the fetch profile chooses by time.
/// If the call fails, the capture is left out, and more captures may be added. The body is not copied. Thread-safe.
///
/// Cost: time linear in the body. The set's data stays in memory, up to the limit in the options.
///
/// # Safety
/// `compiler` must be null or a compiler that is not freed during the call. `capture` must be null or point to
/// `capture->size` bytes. Its strings must be null or NUL-terminated, and its `url` and `body` must be null or point to
/// `url_len` and `body_len` bytes. `message` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_compiler_add(
    compiler: *const ReptileCompiler,
    capture: *const ReptileCapture,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: the compiler is not freed during the call.
        let compiler = unsafe { border::value(compiler, "the compiler") }?;
        // SAFETY: the capture is null or has as many bytes as it says.
        let capture = unsafe { border::versioned(capture, "the capture") }?;
        // SAFETY: `url` is null or points to `url_len` bytes.
        let url = unsafe { border::values(capture.url.cast::<u8>(), capture.url_len, "the robots.txt URL") }?;
        let fail = |failure: Failure| failure.before(&url.escape_ascii().to_string());
        // SAFETY: `body` is null or points to `body_len` bytes.
        let body = unsafe { border::values(capture.body, capture.body_len, "the body") }.map_err(fail)?;
        let body = (!capture.body.is_null()).then_some(body);
        let origin =
            Origin::of_robots_url(url).map_err(|error| fail(Failure::new(ReptileCode::Capture, error.to_string())))?;
        // SAFETY: the strings are null or NUL-terminated.
        let facts = unsafe { facts_of(&capture) }.map_err(fail)?;
        compiler.add(origin, facts, body).map_err(fail)
    };
    // SAFETY: `message` is null or writable.
    unsafe { call(message, work) }
}

/// # Safety
/// The capture's strings must be null or NUL-terminated.
unsafe fn facts_of(capture: &ReptileCapture) -> Result<capture::Capture, Failure> {
    let status = u16::try_from(capture.status)
        .map_err(|_| Failure::argument(format!("the status is {}, expected 0 to 65535", capture.status)))?;
    // SAFETY: the string is null or NUL-terminated.
    let cache_control = unsafe { border::optional_text(capture.cache_control, "cache_control") }?;
    // SAFETY: the string is null or NUL-terminated.
    let content_type = unsafe { border::optional_text(capture.content_type, "content_type") }?;
    // SAFETY: the string is null or NUL-terminated.
    let truncated = unsafe { border::optional_text(capture.truncated, "truncated") }?;
    // SAFETY: the string is null or NUL-terminated.
    let error = unsafe { border::optional_text(capture.error, "error") }?;
    let reason = |name: &str| {
        let expected = Truncation::ALL.map(Truncation::as_str).join(", ");
        Truncation::from_name(name)
            .ok_or_else(|| Failure::argument(format!("truncated is {name:?}, expected one of {expected}")))
    };
    Ok(capture::Capture {
        status: Some(status).filter(|&status| status != 0),
        redirects: capture.redirects,
        time: Some(capture.time).filter(|&time| time != 0),
        max_age: cache_control.and_then(capture::max_age),
        media_type: content_type.map(capture::media_type),
        truncated: truncated.map(reason).transpose()?,
        has_failed: error.is_some_and(|error| !error.is_empty()),
        ..capture::Capture::default()
    })
}

/// Adds the captures in a set. The result is identical, byte for byte, to compiling all captures at once, in any order.
/// The set must have the compiler's dialect, fetch profile and flags, which is checked when the compiler finishes. The
/// set may be freed afterwards, because the compiler keeps its data alive. This call is cheap: the set is merged when
/// the compiler finishes. Thread-safe.
///
/// # Safety
/// `compiler` must be null or a compiler, and `set` must be null or a set. Neither may be freed during the call.
/// `message` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_compiler_add_set(
    compiler: *const ReptileCompiler,
    set: *const ReptileSet,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: the compiler is not freed during the call.
        let compiler = unsafe { border::value(compiler, "the compiler") }?;
        // SAFETY: the set is not freed during the call.
        match &unsafe { border::value(set, "the set") }?.source {
            SetOrRobots::Set(set) => compiler.adding(|compiler| Ok(compiler.add_set(set)?)),
            SetOrRobots::Robots(_) => {
                let text = "the set is a single robots.txt, expected a compiled set: add the file as a capture";
                Err(Failure::new(ReptileCode::Merge, text))
            }
        }
    };
    // SAFETY: `message` is null or writable.
    unsafe { call(message, work) }
}

/// Compiles the captures and writes the set to a file, which is either complete or absent. If the file exists already,
/// the code is `REPTILE_CODE_EXISTS`, unless `force` is set; readers of the old file then keep it. Uses all threads.
/// Thread-safe.
///
/// Afterwards, no captures can be added, but the set may be written again, or opened with
/// `reptile_compiler_finish_set`. If the file cannot be written, the call may be repeated with another path. If
/// compiling fails, the compiler can only be freed.
///
/// # Safety
/// `compiler` must be null or a compiler that is not freed during the call. `path` must be null or NUL-terminated
/// (bytes on Unix, UTF-8 elsewhere). `message` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_compiler_finish_file(
    compiler: *const ReptileCompiler,
    path: *const c_char,
    force: bool,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: the compiler is not freed during the call.
        let compiler = unsafe { border::value(compiler, "the compiler") }?;
        // SAFETY: `path` is null or NUL-terminated.
        let path = path_of(unsafe { border::path_bytes(path, "the path") }?)?;
        let fail = |error: io::Error| at(path, Failure::of_io(&error));
        // Create the file before compiling, which may take minutes. Create it in the pool, because the hidden file's
        // random name makes the standard library allocate memory for the current thread, which the main thread would
        // not free.
        let file = in_pool(|| PendingFile::create(path, force)).map_err(fail)?;
        compiler.compiled(|compiled| {
            let write = || -> io::Result<()> {
                let mut writer = BufWriter::new(file);
                compiled.write(&mut writer)?;
                writer.flush()?;
                let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
                file.sync()?;
                file.publish()
            };
            write().map_err(fail)
        })
    };
    // SAFETY: `message` is null or writable.
    unsafe { call(message, work) }
}

/// Compiles the captures and opens the set in memory. Uses all threads. Otherwise like `reptile_compiler_finish_file`.
/// Thread-safe.
///
/// # Safety
/// `compiler` must be null or a compiler that is not freed during the call. `set` and `message` must be null or
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_compiler_finish_set(
    compiler: *const ReptileCompiler,
    set: *mut *mut ReptileSet,
    message: *mut *mut c_char,
) -> ReptileCode {
    let work = || {
        // SAFETY: the compiler is not freed during the call.
        let compiler = unsafe { border::value(compiler, "the compiler") }?;
        let source = |compiled: &CompiledSet| Ok(SetOrRobots::Set(reptile::Set::from_bytes(compiled.to_bytes())?));
        Ok(ReptileSet { source: compiler.compiled(source)? })
    };
    // SAFETY: `set` and `message` are null or writable.
    unsafe { border::make(set, "the set", message, work) }
}

/// Frees a compiler and sets the caller's variable to null. A null pointer, or a pointer to null, is ignored. Sets from
/// the compiler stay valid. Returns `REPTILE_CODE_ARGUMENT` if the compiler was already freed through another variable.
///
/// # Safety
/// `compiler` must be null or readable and writable. No other thread may be using the compiler.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reptile_compiler_free(compiler: *mut *mut ReptileCompiler) -> ReptileCode {
    // SAFETY: `compiler` is null or readable and writable, and no other thread uses the compiler.
    unsafe { border::free(compiler, "the compiler") }
}
