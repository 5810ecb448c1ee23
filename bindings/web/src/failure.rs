//! Errors, as JavaScript receives them.

use std::fmt::Display;

use reptile::crawlers::Mistake;
use reptile::prove::{Mistakes, ProveError};
use reptile::{CrawlerError, CrawlerErrorKind, Error, ErrorKind};
use serde::Serialize;

/// The kind of an error: `ErrorCode` in `index.d.ts`.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Code {
    Argument,
    Freed,
    Limit,
    Steps,
    Dialect,
    Vocabulary,
    Category,
    #[serde(rename = "code")]
    Kind,
    Crawler,
    Group,
    Format,
    Assertions,
}

/// An error.
#[derive(Serialize)]
pub struct Failure {
    code: Code,
    message: String,
    suggestion: Option<String>,
    mistakes: Vec<MistakeJson>,
}

#[derive(Serialize)]
struct MistakeJson {
    line: u32,
    message: String,
}

impl Failure {
    pub fn new(code: Code, message: impl Into<String>) -> Failure {
        Failure { code, message: message.into(), suggestion: None, mistakes: Vec::new() }
    }

    /// Returns an error about an unknown name.
    pub fn unknown<'n>(code: Code, what: &str, name: &str, known: impl IntoIterator<Item = &'n str>) -> Failure {
        let known: Vec<&str> = known.into_iter().collect();
        Failure::new(code, format!("unknown {what} {name:?}; expected {}", known.join(", ")))
    }

    /// Returns an error about a name that is probably a mistake. One known crawler is a suggestion.
    pub fn mistaken(name: &str, mistake: Mistake) -> Failure {
        let message = format!("no group names {name:?}, {mistake}; the option `exact` takes it as it is");
        let suggestion = match mistake.tokens() {
            [token] => Some((*token).into()),
            _ => None,
        };
        Failure { suggestion, ..Failure::new(Code::Crawler, message) }
    }

    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let code = match error.kind() {
            ErrorKind::Format | ErrorKind::OtherCompiler => Code::Format,
            ErrorKind::Limit => Code::Limit,
            ErrorKind::Steps => Code::Steps,
            ErrorKind::Crawler => Code::Crawler,
            _ => Code::Argument,
        };
        // Without the causes, which are file errors: their messages would enlarge the module.
        Failure::new(code, error.to_string())
    }
}

impl From<CrawlerError> for Failure {
    fn from(error: CrawlerError) -> Failure {
        let code = match error.kind() {
            CrawlerErrorKind::Group => Code::Group,
            CrawlerErrorKind::Damaged => Code::Format,
            _ => Code::Crawler,
        };
        Failure { suggestion: error.suggestion().map(str::to_owned), ..Failure::new(code, error.to_string()) }
    }
}

impl From<ProveError> for Failure {
    fn from(error: ProveError) -> Failure {
        match error {
            ProveError::Mistakes(mistakes) => mistakes.into(),
            other => Failure::new(Code::Format, other.to_string()),
        }
    }
}

impl From<Mistakes> for Failure {
    fn from(mistakes: Mistakes) -> Failure {
        let listed = mistakes.iter().map(|mistake| MistakeJson { line: mistake.line, message: mistake.to_string() });
        Failure { mistakes: listed.collect(), ..Failure::new(Code::Assertions, mistakes.to_string()) }
    }
}

/// Returns a function that gives a code to any error of the library.
pub fn with_code<E: Display>(code: Code) -> impl Fn(E) -> Failure {
    move |error| Failure::new(code, error.to_string())
}
