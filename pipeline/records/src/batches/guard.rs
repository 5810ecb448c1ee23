//! Calls into other crates, with panics turned into errors.
//!
//! The crate `parquet` and the decompressors return errors for most damaged files, but do not guarantee it. After a
//! panic, their state is discarded.

use std::cell::Cell;
use std::fmt::Display;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether a panic in this thread will become an error.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`, and turns its error or panic into text. A panic prints nothing.
///
/// # Errors
/// Returns an error if `work` fails or panics.
pub fn guarded<T, E: Display>(work: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_GUARDED.get() {
                usual(info);
            }
        }));
    });
    // Guarded calls may be nested.
    let before = IS_GUARDED.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(before);
    match result {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => {
            let text = error.to_string();
            let text = text.strip_prefix("Parquet argument error: ").unwrap_or(&text);
            Err(text.strip_prefix("Parquet error: ").unwrap_or(text).to_owned())
        }
        Err(_) => Err("its bytes contradict each other".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_and_errors_become_texts() {
        assert_eq!(guarded(|| Ok::<_, String>(7)), Ok(7));
        assert_eq!(guarded(|| Err::<u8, _>("Parquet error: EOF")), Err("EOF".into()));
        assert_eq!(guarded(|| Err::<u8, _>("Parquet argument error: Parquet error: EOF")), Err("EOF".into()));
        let panicking = || -> Result<u8, String> { panic!("out of range") };
        assert_eq!(guarded(panicking), Err("its bytes contradict each other".into()));
        assert!(!IS_GUARDED.get());
    }
}
