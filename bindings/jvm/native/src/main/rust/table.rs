//! Values by number: [`Table`].

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use crate::border::Failure;

/// Values that Java objects refer to by number. Numbers are not reused, so the number of a removed value stays invalid.
pub struct Table<T> {
    values: LazyLock<RwLock<Values<T>>>,
}

struct Values<T> {
    by_number: HashMap<i64, Arc<T>>,
    last: i64,
}

impl<T> Table<T> {
    /// Creates an empty table.
    pub const fn new() -> Table<T> {
        Table { values: LazyLock::new(|| RwLock::new(Values { by_number: HashMap::new(), last: 0 })) }
    }

    /// Adds a value, and returns its number, which is positive.
    pub fn add(&self, value: T) -> i64 {
        let mut values = self.values.write().unwrap_or_else(PoisonError::into_inner);
        values.last += 1;
        let number = values.last;
        values.by_number.insert(number, Arc::new(value));
        number
    }

    /// Returns a value.
    ///
    /// # Errors
    /// Returns an `IllegalStateException` if the value was removed, or never existed.
    pub fn get(&self, number: i64) -> Result<Arc<T>, Failure> {
        let values = self.values.read().unwrap_or_else(PoisonError::into_inner);
        values.by_number.get(&number).cloned().ok_or(Failure::Closed)
    }

    /// Removes a value, if it exists. Calls that use it finish first.
    pub fn remove(&self, number: i64) {
        let removed = self.values.write().unwrap_or_else(PoisonError::into_inner).by_number.remove(&number);
        // Dropped without the lock: a compiler may free much memory.
        drop(removed);
    }
}
