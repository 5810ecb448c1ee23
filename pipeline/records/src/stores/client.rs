//! Connections to stores: one per bucket and purpose, with finite timeouts and retries. Credentials come from the
//! environment.

use std::collections::HashMap;
use std::error::Error as StdError;
use std::future::Future;
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::multipart::MultipartStore;
use object_store::{BackoffConfig, ClientConfigKey, Error, ObjectStore, RetryConfig};
use tokio::runtime::{Builder, Runtime};

use super::object_name::{ObjectName, StoreKind};
use crate::redacted::redacted_text;
use crate::text::printable;

/// Maximum number of times that a failed request is repeated.
pub const MAX_RETRIES: usize = 8;

/// Maximum time in seconds from a request to its last repetition.
const MAX_RETRY_SECONDS: u64 = 240;

/// Maximum time in seconds between two repetitions. The first wait is a tenth of a second.
const MAX_BACKOFF_SECONDS: u64 = 10;

/// Maximum time in seconds for opening a connection.
const MAX_CONNECT_SECONDS: u64 = 10;

/// Maximum time in seconds without a byte from the server, while an object is read.
const MAX_SILENCE_SECONDS: u64 = 30;

/// Maximum time in seconds for one response. Only slow streams take long, and they are resumed afterwards.
const MAX_RESPONSE_SECONDS: u64 = 6 * 3600;

/// Maximum time in seconds for sending a part and its response.
const MAX_SEND_SECONDS: u64 = 300;

/// Maximum number of characters of a server's message that are shown.
const MAX_MESSAGE_CHARACTERS: usize = 1000;

/// The address at which a virtual machine asks for its role. It is used if the environment has no credentials.
const ROLES: &str = "//169.254.169.254/";

/// The environment variable that permits `http://`, which neither encrypts nor authenticates.
const ALLOW_HTTP: &str = "REPTILE_ALLOW_HTTP";

/// A connected store.
#[derive(Clone)]
pub struct Store {
    pub objects: Arc<dyn ObjectStore>,
    /// Parts of larger objects. `None` for web servers.
    pub parts: Option<Arc<dyn MultipartStore>>,
}

/// A connection's purpose, which determines its timeouts.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Purpose {
    Read,
    Write,
}

/// Runs a future to its end on this thread. Its connections are driven by the runtime's thread.
///
/// # Errors
/// Returns an error if the runtime cannot be started.
pub fn block_on<T>(future: impl Future<Output = T>) -> io::Result<T> {
    Ok(runtime()?.block_on(future))
}

/// Returns the runtime, which is started at the first use.
///
/// # Errors
/// Returns an error if its thread cannot be started.
pub fn runtime() -> io::Result<&'static Runtime> {
    static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();
    let started = RUNTIME.get_or_init(|| {
        // Fails only if the program has already chosen a provider, which works too.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(1).thread_name("stores").enable_all();
        builder.build().map_err(|error| error.to_string())
    });
    started.as_ref().map_err(|error| io::Error::other(format!("no thread for connections: {error}")))
}

/// Returns the connection to an object's store, which is opened at the first use.
///
/// # Errors
/// Returns an error if the name or a setting in the environment is invalid.
pub fn connect(name: &ObjectName, purpose: Purpose) -> io::Result<Store> {
    static STORES: Mutex<Option<HashMap<(String, Purpose), Store>>> = Mutex::new(None);
    // A web server's connection is for one name, so the map would grow without bound.
    if name.kind == StoreKind::Web {
        return open(name, purpose);
    }
    let mut stores = STORES.lock().unwrap_or_else(PoisonError::into_inner);
    let stores = stores.get_or_insert_default();
    let key = (name.root.clone(), purpose);
    if let Some(store) = stores.get(&key) {
        return Ok(store.clone());
    }
    let store = open(name, purpose)?;
    stores.insert(key, store.clone());
    Ok(store)
}

fn open(name: &ObjectName, purpose: Purpose) -> io::Result<Store> {
    runtime()?;
    let settings = settings(purpose);
    let built = match name.kind {
        StoreKind::S3 => {
            let builder = AmazonS3Builder::from_env().with_url(&name.root).with_retry(retries());
            let set = |builder: AmazonS3Builder, (key, value): (ClientConfigKey, String)| {
                builder.with_config(AmazonS3ConfigKey::Client(key), value)
            };
            settings.into_iter().fold(builder, set).build().map(with_parts)
        }
        StoreKind::Google => {
            let builder = GoogleCloudStorageBuilder::from_env().with_url(&name.root).with_retry(retries());
            let set = |builder: GoogleCloudStorageBuilder, (key, value): (ClientConfigKey, String)| {
                builder.with_config(GoogleConfigKey::Client(key), value)
            };
            settings.into_iter().fold(builder, set).build().map(with_parts)
        }
        StoreKind::Azure => {
            let builder = MicrosoftAzureBuilder::from_env().with_url(&name.root).with_retry(retries());
            let set = |builder: MicrosoftAzureBuilder, (key, value): (ClientConfigKey, String)| {
                builder.with_config(AzureConfigKey::Client(key), value)
            };
            settings.into_iter().fold(builder, set).build().map(with_parts)
        }
        StoreKind::Web => {
            let is_plain = name.root.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("http://"));
            let allowed = std::env::var(ALLOW_HTTP).is_ok_and(|value| value == "true" || value == "1");
            if is_plain && !allowed {
                return Err(io::Error::new(
                    ErrorKind::Unsupported,
                    format!("is read without encryption; use https://, or set {ALLOW_HTTP}=true"),
                ));
            }
            let builder = HttpBuilder::new().with_url(&name.root).with_retry(retries());
            let builder = builder.with_config(ClientConfigKey::AllowHttp, allowed.to_string());
            let set = |builder: HttpBuilder, (key, value)| builder.with_config(key, value);
            let store = settings.into_iter().fold(builder, set).build();
            store.map(|store| Store { objects: Arc::new(store), parts: None })
        }
    };
    built.map_err(|error| failure(&error))
}

fn with_parts<S: ObjectStore + MultipartStore>(store: S) -> Store {
    let store = Arc::new(store);
    Store { objects: Arc::clone(&store) as Arc<dyn ObjectStore>, parts: Some(store) }
}

fn settings(purpose: Purpose) -> [(ClientConfigKey, String); 4] {
    let (all, silence) = match purpose {
        Purpose::Read => (MAX_RESPONSE_SECONDS, MAX_SILENCE_SECONDS),
        // The server is silent while it receives a part.
        Purpose::Write => (MAX_SEND_SECONDS, MAX_SEND_SECONDS),
    };
    let seconds = |count: u64| format!("{count} seconds");
    [
        (ClientConfigKey::ConnectTimeout, seconds(MAX_CONNECT_SECONDS)),
        (ClientConfigKey::ReadTimeout, seconds(silence)),
        (ClientConfigKey::Timeout, seconds(all)),
        (ClientConfigKey::UserAgent, concat!("reptile/", env!("CARGO_PKG_VERSION")).into()),
    ]
}

fn retries() -> RetryConfig {
    let backoff = BackoffConfig { max_backoff: Duration::from_secs(MAX_BACKOFF_SECONDS), ..BackoffConfig::default() };
    RetryConfig { backoff, max_retries: MAX_RETRIES, retry_timeout: Duration::from_secs(MAX_RETRY_SECONDS) }
}

/// Converts a store's error, worded to follow the object's name. Secrets are removed.
pub fn failure(error: &Error) -> io::Error {
    let text = |before: &str| format!("{before}{}", cut(&redacted_text(&with_cause(error))));
    match error {
        Error::NotFound { .. } => io::Error::new(ErrorKind::NotFound, "no such object"),
        Error::AlreadyExists { .. } => io::Error::new(ErrorKind::AlreadyExists, "the object exists"),
        Error::PermissionDenied { .. } => io::Error::new(ErrorKind::PermissionDenied, text("permission denied: ")),
        Error::Unauthenticated { .. } => {
            io::Error::new(ErrorKind::PermissionDenied, text("no valid credentials in the environment: "))
        }
        Error::Precondition { .. } => changed(),
        _ if error.to_string().contains(ROLES) => {
            io::Error::new(ErrorKind::PermissionDenied, text("no credentials in the environment, and no role here: "))
        }
        _ => io::Error::other(text("")),
    }
}

/// Makes a message from a server printable, and truncates it.
fn cut(message: &str) -> String {
    printable(message.as_bytes()).chars().take(MAX_MESSAGE_CHARACTERS).collect()
}

/// Returns an error's message, with its innermost cause if the message lacks it: a certificate, or a refused
/// connection.
fn with_cause(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause.and_then(StdError::source) {
        cause = Some(next);
    }
    match cause.map(ToString::to_string) {
        Some(cause) if !text.contains(&cause) => {
            text += &format!(": {cause}");
            text
        }
        _ => text,
    }
}

/// Returns the error for an object that was replaced while it was read.
pub fn changed() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "was changed while it was read; run the command again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_truncated_at_the_limit() {
        for len in [MAX_MESSAGE_CHARACTERS - 1, MAX_MESSAGE_CHARACTERS, MAX_MESSAGE_CHARACTERS + 1] {
            assert_eq!(cut(&"x".repeat(len)).len(), len.min(MAX_MESSAGE_CHARACTERS));
        }
    }

    #[test]
    fn absent_credentials_are_named() {
        let source = "Error performing PUT http://169.254.169.254/latest/api/token in 1 s: refused".into();
        let error = failure(&Error::Generic { store: "S3", source });
        assert!(error.to_string().starts_with("no credentials in the environment"), "{error}");
    }

    #[test]
    fn messages_do_not_contain_secrets() {
        let source = "Error performing GET https://h/a?sig=abc in 1 s (url \"https://u:p@h/\"): refused".into();
        let error = Error::Generic { store: "HTTP", source };
        let expected = "Error performing GET https://h/a?sig=*** in 1 s (url \"https://***@h/\"): refused";
        assert!(failure(&error).to_string().ends_with(expected), "{}", failure(&error));
    }
}
