//! Conversions between Rust and Java: [`Failure`]s, which become exceptions, and bytes.

use std::any::Any;
use std::error::Error as _;
use std::io;

use jni::errors::ErrorPolicy;
use jni::objects::{JByteArray, JClass, JObject, JThrowable, JValue};
use jni::strings::{JNIStr, JNIString};
use jni::{Env, EnvUnowned, jni_sig, jni_str};
use reptile::{Crawler, CrawlerError, CrawlerErrorKind, Error, ErrorKind};

/// An error that becomes a Java exception.
pub enum Failure {
    /// A call to Java failed. Usually an exception is pending.
    Jni(jni::errors::Error),
    /// The object was closed.
    Closed,
    /// An unknown name, or another argument that the caller could have checked.
    Argument(String),
    /// The name of a crawler is invalid.
    Crawler(CrawlerError),
    /// The name of a crawler is probably misspelled.
    Misspelled(String),
    /// A file could not be read or written.
    File(String, io::Error),
    /// A capture cannot be compiled.
    Compile(String),
    /// Another error of the library.
    Library(Error),
    /// An error about a file.
    LibraryFile(String, Error),
}

impl From<jni::errors::Error> for Failure {
    fn from(error: jni::errors::Error) -> Failure {
        Failure::Jni(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Library(error)
    }
}

impl From<CrawlerError> for Failure {
    fn from(error: CrawlerError) -> Failure {
        Failure::Crawler(error)
    }
}

const INTERNAL: &JNIStr = jni_str!("reptile/natives/InternalException");
const COMPILE: &JNIStr = jni_str!("reptile/natives/CompileException");
const DAMAGED: &JNIStr = jni_str!("reptile/DamagedSetException");
const AGENT_NAME: &JNIStr = jni_str!("reptile/AgentNameException");
const STATE: &JNIStr = jni_str!("java/lang/IllegalStateException");
const ARGUMENT: &JNIStr = jni_str!("java/lang/IllegalArgumentException");
const IO: &JNIStr = jni_str!("java/io/IOException");
const EXISTS: &JNIStr = jni_str!("java/nio/file/FileAlreadyExistsException");
const MISSING: &JNIStr = jni_str!("java/nio/file/NoSuchFileException");
const ACCESS: &JNIStr = jni_str!("java/nio/file/AccessDeniedException");

impl Failure {
    fn throw(self, env: &mut Env<'_>) -> jni::errors::Result<()> {
        match self {
            Failure::Jni(error) => throw(env, INTERNAL, &error.to_string()),
            Failure::Closed => throw(env, STATE, "expected an open object, found a closed one"),
            Failure::Argument(text) => throw(env, ARGUMENT, &text),
            Failure::Compile(text) => throw(env, COMPILE, &text),
            Failure::Crawler(error) if error.kind() == CrawlerErrorKind::Damaged => {
                throw(env, INTERNAL, &text_of(&error))
            }
            Failure::Crawler(error) => throw(env, AGENT_NAME, &text_of(&error)),
            Failure::Misspelled(text) => throw(env, AGENT_NAME, &text),
            Failure::File(path, error) => throw_io(env, &path, &error),
            Failure::LibraryFile(path, error) if error.kind() == ErrorKind::Io => {
                match error.source().and_then(|source| source.downcast_ref::<io::Error>()) {
                    Some(source) => throw_io(env, &path, source),
                    None => throw(env, IO, &format!("{path}: {}", text_of(&error))),
                }
            }
            Failure::Library(error) if error.kind() == ErrorKind::NotRobots => throw(env, ARGUMENT, &text_of(&error)),
            Failure::Library(error) | Failure::LibraryFile(_, error) => match error.section() {
                Some(section) => throw_damaged(env, section, &error),
                None => throw(env, COMPILE, &text_of(&error)),
            },
        }
    }
}

fn throw(env: &mut Env<'_>, class: &JNIStr, message: &str) -> jni::errors::Result<()> {
    match env.throw_new(class, JNIString::from(message)) {
        // The exception that was just thrown.
        Ok(()) | Err(jni::errors::Error::JavaException) => Ok(()),
        Err(error) => Err(error),
    }
}

fn throw_io(env: &mut Env<'_>, path: &str, error: &io::Error) -> jni::errors::Result<()> {
    match error.kind() {
        io::ErrorKind::AlreadyExists => throw(env, EXISTS, path),
        io::ErrorKind::NotFound => throw(env, MISSING, path),
        io::ErrorKind::PermissionDenied => throw(env, ACCESS, path),
        _ => throw(env, IO, &format!("{path}: {error}")),
    }
}

/// Throws the exception that the reader in Java throws for a damaged set.
fn throw_damaged(env: &mut Env<'_>, section: &str, error: &Error) -> jni::errors::Result<()> {
    let section = env.new_string(section)?;
    let expected = env.new_string(error.expected().unwrap_or("another value"))?;
    let found = env.new_string(error.found().unwrap_or("this one"))?;
    let offset = i64::try_from(error.offset().unwrap_or_default()).unwrap_or(i64::MAX);
    let arguments = [JValue::Object(&section), JValue::Long(offset), JValue::Object(&expected), JValue::Object(&found)];
    let signature = jni_sig!("(Ljava/lang/String;JLjava/lang/String;Ljava/lang/String;)V");
    let exception = env.new_object(DAMAGED, signature, &arguments)?;
    let exception = env.cast_local::<JThrowable<'_>>(exception)?;
    match env.throw(exception) {
        Ok(()) | Err(jni::errors::Error::JavaException) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Returns an error's text with its causes.
pub fn text_of(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let more = next.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = next.source();
    }
    text
}

/// Throws an exception for each error and each panic.
struct Throw;

impl<T: Default> ErrorPolicy<T, Failure> for Throw {
    type Captures<'l: 'n, 'n> = ();

    fn on_error<'l: 'n, 'n>(env: &mut Env<'l>, (): &mut (), failure: Failure) -> jni::errors::Result<T> {
        // For instance a consumer's exception.
        if !env.exception_check() {
            failure.throw(env)?;
        }
        Ok(T::default())
    }

    fn on_panic<'l: 'n, 'n>(
        env: &mut Env<'l>,
        (): &mut (),
        payload: Box<dyn Any + Send + 'static>,
    ) -> jni::errors::Result<T> {
        if !env.exception_check() {
            let text = payload.downcast_ref::<&'static str>().copied().map(str::to_owned);
            let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
            throw(env, INTERNAL, &format!("panic in the native library: {text}"))?;
        }
        Ok(T::default())
    }
}

/// Runs a native method's work. An error or a panic becomes an exception, and the result is then meaningless.
pub fn run<'l, T: Default>(mut env: EnvUnowned<'l>, work: impl FnOnce(&mut Env<'l>) -> Result<T, Failure>) -> T {
    env.with_env(work).resolve::<Throw>()
}

/// Returns an array's bytes, or `None` for null.
pub fn optional(env: &Env<'_>, array: &JByteArray<'_>) -> Result<Option<Vec<u8>>, Failure> {
    if array.is_null() { Ok(None) } else { bytes(env, array).map(Some) }
}

/// Returns an array's bytes.
///
/// # Errors
/// Returns an error if the array is null.
pub fn bytes(env: &Env<'_>, array: &JByteArray<'_>) -> Result<Vec<u8>, Failure> {
    Ok(env.convert_byte_array(array)?)
}

/// Returns a text in UTF-8.
pub fn text(env: &Env<'_>, array: &JByteArray<'_>) -> Result<String, Failure> {
    String::from_utf8(bytes(env, array)?).map_err(|error| {
        Failure::Argument(format!("expected a text without unpaired surrogates, found {}", error.utf8_error()))
    })
}

/// Returns the crawler with a name. For `*`, it is a crawler that no group names.
pub fn crawler(name: String) -> Crawler {
    if name == "*" { Crawler::anyone() } else { Crawler::from(name) }
}

/// Panics, for the test that a panic becomes an exception.
#[unsafe(no_mangle)]
#[allow(clippy::panic, reason = "the method's purpose")]
pub extern "system" fn Java_reptile_natives_Library_panic<'l>(env: EnvUnowned<'l>, _: JClass<'l>) {
    run(env, |_| -> Result<(), Failure> { panic!("as requested") });
}

/// Returns a Java string, with bytes that are not UTF-8 replaced; null for `None`.
pub fn string<'l>(env: &mut Env<'l>, bytes: Option<&[u8]>) -> Result<JObject<'l>, Failure> {
    match bytes {
        Some(bytes) => Ok(env.new_string(String::from_utf8_lossy(bytes))?.into()),
        None => Ok(JObject::null()),
    }
}
