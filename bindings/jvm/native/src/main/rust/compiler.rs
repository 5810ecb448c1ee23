//! Compiling sets: the class `SetCompiler`.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use jni::objects::{JByteArray, JClass};
use jni::sys::{jboolean, jint, jlong};
use jni::{Env, EnvUnowned};
use reptile::capture::{Capture, max_age, media_type};
use reptile::files::PendingFile;
use reptile::{Compiler, Dialect, Origin, Parser, Profile, Truncation, challenger_of_header};

use crate::border::{Failure, bytes, optional, run, text};
use crate::table::Table;

/// A compiler, which is `None` once the set is finished. Its parser works on any thread, without the lock.
struct OpenCompiler {
    parser: Parser,
    compiler: Mutex<Option<Compiler>>,
}

static COMPILERS: Table<OpenCompiler> = Table::new();

/// Returns the dialect with a name.
///
/// # Errors
/// Returns an error that lists the known names, and becomes an `IllegalArgumentException`.
pub fn dialect_of(name: &str) -> Result<Dialect, Failure> {
    name.parse().map_err(|error| Failure::Argument(format!("{error}")))
}

/// `long compilerNew(byte[] dialect, byte[] profile, boolean hasTime, long time, boolean isByTime, boolean keepsLines,
/// boolean keepsOther, long memory, byte[] folder)`: the profile and the folder may be null.
#[unsafe(no_mangle)]
pub extern "system" fn Java_reptile_natives_Library_compilerNew<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    dialect: JByteArray<'l>,
    profile: JByteArray<'l>,
    has_time: jboolean,
    time: jlong,
    is_by_time: jboolean,
    keeps_lines: jboolean,
    keeps_other: jboolean,
    memory: jlong,
    folder: JByteArray<'l>,
) -> jlong {
    run(env, |env| {
        let dialect = dialect_of(&text(env, &dialect)?)?;
        let profile = match profile.is_null() {
            true => Profile::of_dialect(&dialect).clone(),
            false => text(env, &profile)?.parse().map_err(|error| Failure::Argument(format!("{error}")))?,
        };
        let compiler = Compiler::with_profile(&dialect, &profile, has_time.then_some(time));
        let mut compiler = compiler.by_time(is_by_time).line_numbers(keeps_lines).other_directives(keeps_other);
        if !folder.is_null() {
            let memory = u64::try_from(memory)
                .map_err(|_| Failure::Argument(format!("expected a number of bytes from 0, found {memory}")))?;
            compiler = compiler.memory(memory, text(env, &folder)?);
        }
        Ok(COMPILERS.add(OpenCompiler { parser: compiler.parser(), compiler: Mutex::new(Some(compiler)) }))
    })
}

/// `void compilerAdd(long number, byte[] url, byte[] body, int status, boolean hasTime, long time, int redirects,
/// byte[] truncated, boolean hasFailed, byte[] headers)`: a status of 0 is unknown. The body and `truncated` may be
/// null. The headers are lines of name, colon and value.
#[unsafe(no_mangle)]
pub extern "system" fn Java_reptile_natives_Library_compilerAdd<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    number: jlong,
    url: JByteArray<'l>,
    body: JByteArray<'l>,
    status: jint,
    has_time: jboolean,
    time: jlong,
    redirects: jint,
    truncated: JByteArray<'l>,
    has_failed: jboolean,
    headers: JByteArray<'l>,
) {
    run(env, |env| {
        let compiling = COMPILERS.get(number)?;
        let robots = reptile::Capture::without_body(bytes(env, &url)?)?;
        let mut capture = Capture {
            status: u16::try_from(status).ok().filter(|&status| status > 0),
            time: has_time.then_some(time),
            redirects: u32::try_from(redirects).unwrap_or_default(),
            truncated: truncation(env, &truncated)?,
            has_failed,
            ..Capture::default()
        };
        add_headers(&mut capture, &bytes(env, &headers)?);
        let body = optional(env, &body)?;
        compiling.add(robots.origin, capture, body.as_deref())
    });
}

/// `void compilerFinish(long number, byte[] path, boolean replace)`
#[unsafe(no_mangle)]
pub extern "system" fn Java_reptile_natives_Library_compilerFinish<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    number: jlong,
    path: JByteArray<'l>,
    replace: jboolean,
) {
    run(env, |env| COMPILERS.get(number)?.finish(&text(env, &path)?, replace));
}

/// `void compilerFree(long number)`
#[unsafe(no_mangle)]
pub extern "system" fn Java_reptile_natives_Library_compilerFree<'l>(
    env: EnvUnowned<'l>,
    _: JClass<'l>,
    number: jlong,
) {
    run(env, |_| {
        COMPILERS.remove(number);
        Ok(())
    });
}

impl OpenCompiler {
    fn add(&self, origin: Origin, capture: Capture, body: Option<&[u8]>) -> Result<(), Failure> {
        let parsed = self.parser.parse([(vec![origin.clone()], capture)], body);
        if let Some(error) = parsed.captures().iter().find_map(|capture| capture.outcome.as_ref().err()) {
            return Err(Failure::Compile(format!("{origin}: {}", crate::border::text_of(error))));
        }
        let mut compiler = self.compiler.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(compiler.as_mut().ok_or(Failure::Closed)?.add_parsed(parsed)?)
    }

    /// Compiles and writes the set. If the file exists already, the compiler can still be used.
    fn finish(&self, path: &str, replace: bool) -> Result<(), Failure> {
        let of_file = |error: io::Error| Failure::File(path.to_owned(), error);
        let mut held = self.compiler.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_none() {
            return Err(Failure::Closed);
        }
        let file = PendingFile::create(Path::new(path), replace).map_err(of_file)?;
        let compiler = held.take().ok_or(Failure::Closed)?;
        let compiled = compiler.finish().map_err(|error| Failure::LibraryFile(path.to_owned(), error))?;
        let mut writer = BufWriter::new(file);
        compiled.write(&mut writer).and_then(|()| writer.flush()).map_err(of_file)?;
        let file = writer.into_inner().map_err(|error| of_file(error.into_error()))?;
        file.sync().and_then(|()| file.publish()).map_err(of_file)
    }
}

/// Returns why a body is truncated, or `None` for null.
fn truncation(env: &Env<'_>, name: &JByteArray<'_>) -> Result<Option<Truncation>, Failure> {
    if name.is_null() {
        return Ok(None);
    }
    let name = text(env, name)?;
    let unknown = || Failure::Argument(format!("expected length, time, disconnect or unspecified, found {name}"));
    Truncation::from_name(&name).map(Some).ok_or_else(unknown)
}

/// Reads the headers that count. Repeated values of one header are joined, as in a response.
fn add_headers(capture: &mut Capture, headers: &[u8]) {
    let (mut cache_control, mut content_type) = (None, None);
    let headers = String::from_utf8_lossy(headers);
    for (name, value) in headers.lines().filter_map(|line| line.split_once(':')) {
        let joined = match name {
            _ if name.eq_ignore_ascii_case("cache-control") => &mut cache_control,
            _ if name.eq_ignore_ascii_case("content-type") => &mut content_type,
            _ => {
                capture.challenger = capture.challenger.or_else(|| challenger_of_header(name, value.trim()));
                continue;
            }
        };
        let before: Option<String> = joined.take();
        *joined = Some(before.map_or_else(|| value.trim().to_owned(), |before| format!("{before}, {}", value.trim())));
    }
    capture.max_age = cache_control.as_deref().and_then(max_age);
    capture.media_type = content_type.as_deref().map(media_type);
}
