//! Work that the feature `rayon` shares among threads.

#[cfg(feature = "rayon")]
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

/// Maps each item, on all threads with the feature `rayon`. The results are in the order of the items.
pub(crate) fn map_all<T: Sync, R: Send>(items: &[T], map: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    #[cfg(feature = "rayon")]
    return items.par_iter().map(map).collect();
    #[cfg(not(feature = "rayon"))]
    items.iter().map(map).collect()
}
