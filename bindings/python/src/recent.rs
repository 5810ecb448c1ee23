//! A cache for values that calls prepare from options: [`Recent`]. Programs repeat the same options for each page.

use std::collections::HashMap;
use std::fs;
use std::hash::Hash;
use std::path::{self, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// Maximum number of values in a cache. A program has a few.
const MAX_VALUES: usize = 64;

/// The values of recent calls, by their options.
pub struct Recent<K, V> {
    values: Mutex<HashMap<K, Arc<V>>>,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Recent<K, V> {
        Recent { values: Mutex::default() }
    }
}

impl<K: Eq + Hash, V> Recent<K, V> {
    /// Returns the value for some options, and makes it if it is not cached.
    pub fn get<E>(&self, options: K, make: impl FnOnce(&K) -> Result<V, E>) -> Result<Arc<V>, E> {
        let lock = || self.values.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&options) {
            return Ok(known.clone());
        }
        let made = Arc::new(make(&options)?);
        let mut values = lock();
        if values.len() >= MAX_VALUES {
            values.clear();
        }
        values.insert(options, made.clone());
        Ok(made)
    }
}

/// A file's path, modification time and size. Different versions of a file are different keys.
pub type FileVersion = (PathBuf, SystemTime, u64);

/// Returns the version of a vocabulary or profile file, or `None` for a built-in one. An unreadable file has no version
/// either, and no cached value, because parsing it is an error.
pub fn version_of(name: &str, shipped: &[&str]) -> Option<FileVersion> {
    if shipped.contains(&name) {
        return None;
    }
    let state = fs::metadata(name).ok()?;
    Some((path::absolute(name).ok()?, state.modified().ok()?, state.len()))
}
