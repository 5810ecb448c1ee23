//! Opens set files, and caches them and the crawlers that they resolve: [`open`].

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::SystemTime;

use reptile::{Agents, Headers, MappedFile, Set};
use reptile_columns::arrow::ArrayDecider;
use reptile_columns::{Column, Scope, SetOrRobots, UsageOptions, text_of};

/// The times' column in rows with times.
pub const TIME: &str = "time";

/// Maximum number of set files that are kept open.
const MAX_OPEN_SETS: usize = 8;
/// Maximum number of deciders that are kept for a set file: one for each function and list of crawlers.
const MAX_DECIDERS: usize = 256;

/// The open set files, the least recently used first.
static OPEN: Mutex<Vec<Arc<OpenSet>>> = Mutex::new(Vec::new());

/// The columns, crawlers and options of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    pub columns: &'static [Column],
    /// Whether the names must resolve to one crawler.
    pub is_about_one: bool,
    /// Whether rows have times.
    pub is_timed: bool,
    pub names: Vec<String>,
    pub scope: Scope,
    pub usage: UsageOptions,
    pub is_exact: bool,
}

/// A mapped set file.
pub struct OpenSet {
    path: PathBuf,
    state: FileState,
    set: Set,
    /// The cached deciders, the least recently used first.
    deciders: Mutex<Vec<(Query, Arc<Decider>)>>,
    headers: OnceLock<Headers>,
}

/// Crawlers, and their decider for arrays of URLs.
pub struct Decider {
    pub agents: Agents,
    pub arrays: ArrayDecider,
}

/// Metadata that distinguishes a file from another file that was renamed over it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileState {
    len: u64,
    modified: Option<SystemTime>,
    /// The device and the file number, where the system has them.
    number: (u64, u64),
}

/// Returns a set file. It is opened again if another file has been renamed over it since.
///
/// Cost: reading the file's metadata, and microseconds to map the file if it is not open yet.
pub fn open(path: &[u8]) -> Result<Arc<OpenSet>, String> {
    let text = str::from_utf8(path).map_err(|_| "the set's path is not UTF-8".to_owned())?;
    let path = Path::new(text);
    let fail = |error: &dyn std::error::Error| format!("{text}: {}", text_of(error));
    let state = FileState::of(path).map_err(|error| fail(&error))?;
    let mut open = locked(&OPEN);
    if let Some(at) = open.iter().position(|set| set.path == path) {
        let set = open.remove(at);
        if set.state == state {
            open.push(set.clone());
            return Ok(set);
        }
    }
    // SAFETY: the documentation says that a set file must not change while it is open, only be replaced by renaming.
    let file = unsafe { MappedFile::open(path) }.map_err(|error| fail(&error))?;
    let set = Set::map(file).map_err(|error| fail(&error))?;
    let (deciders, headers) = (Mutex::default(), OnceLock::new());
    let set = Arc::new(OpenSet { path: path.to_owned(), state, set, deciders, headers });
    push(&mut open, set.clone(), MAX_OPEN_SETS);
    Ok(set)
}

impl OpenSet {
    /// Returns the decider for a query. Cost: a comparison with each kept query, or one resolution of the crawlers.
    pub fn decider(&self, query: &Query) -> Result<Arc<Decider>, String> {
        let mut deciders = locked(&self.deciders);
        if let Some(at) = deciders.iter().position(|(kept, _)| kept == query) {
            let kept = deciders.remove(at);
            let decider = kept.1.clone();
            deciders.push(kept);
            return Ok(decider);
        }
        let agents = self.agents(&query.names, query.is_exact)?;
        if query.is_about_one && agents.len() != 1 {
            let (name, count) = (query.names.join(", "), agents.len());
            return Err(format!("expected one crawler, found {count} in {name:?}; use robots_verdicts"));
        }
        let usage = query.usage.columns().map_err(|error| error.to_string())?;
        let arrays = ArrayDecider::with_usage(agents.clone(), query.columns, usage.as_ref());
        let arrays = arrays.map_err(|error| error.to_string())?;
        let arrays = arrays.parallel(false).in_scope(query.scope);
        let arrays = if query.is_timed { arrays.times(TIME) } else { arrays };
        let decider = Arc::new(Decider { agents, arrays });
        push(&mut deciders, (query.clone(), decider.clone()), MAX_DECIDERS);
        Ok(decider)
    }

    /// Returns the set.
    pub fn set(&self) -> &Set {
        &self.set
    }

    /// Resolves crawlers.
    pub fn agents(&self, names: &[String], is_exact: bool) -> Result<Agents, String> {
        SetOrRobots::Set(self.set.clone()).agents(names, is_exact).map_err(|error| error.to_string())
    }

    /// Returns the resolver for `User-Agent` headers. Cost: some microseconds the first time.
    pub fn headers(&self) -> Result<&Headers, String> {
        match self.headers.get() {
            Some(headers) => Ok(headers),
            None => {
                let headers = Headers::new(&self.set).map_err(|error| text_of(&error))?;
                Ok(self.headers.get_or_init(|| headers))
            }
        }
    }
}

impl FileState {
    fn of(path: &Path) -> io::Result<FileState> {
        let file = std::fs::metadata(path)?;
        #[cfg(unix)]
        let number = (std::os::unix::fs::MetadataExt::dev(&file), std::os::unix::fs::MetadataExt::ino(&file));
        #[cfg(not(unix))]
        let number = (0, 0);
        Ok(FileState { len: file.len(), modified: file.modified().ok(), number })
    }
}

/// Adds an item, and drops the least recently used one if there are more than `max`.
fn push<T>(kept: &mut Vec<T>, item: T, max: usize) {
    kept.push(item);
    if kept.len() > max {
        kept.remove(0);
    }
}

/// Locks a cache. Entries are complete even after a panic in another thread.
fn locked<T>(cache: &Mutex<T>) -> MutexGuard<'_, T> {
    cache.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_drop_the_least_recently_used() {
        for max in [MAX_OPEN_SETS, MAX_DECIDERS] {
            let mut kept = Vec::new();
            for item in 0..max - 1 {
                push(&mut kept, item, max);
            }
            assert_eq!(kept.len(), max - 1);
            push(&mut kept, max - 1, max);
            assert_eq!((kept.len(), kept[0]), (max, 0));
            push(&mut kept, max, max);
            assert_eq!((kept.len(), kept[0]), (max, 1));
        }
    }
}
