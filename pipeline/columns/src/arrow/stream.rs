//! Decides a stream of URL arrays, and returns batches of verdicts: [`VerdictStream`].

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::{Array, ArrayReader, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, SchemaRef};

use super::{ArrayDecider, Places, urls};
use crate::error::Error;

/// Maximum number of rows in a batch. A larger array is split into several batches, so that memory is bounded.
pub const MAX_ROWS_IN_BATCH: usize = 1 << 20;

/// Decides an array stream as it is read: the next array is requested after the previous one has been passed on.
///
/// The stream ends after an error. A panic becomes an error, because the reader may be a C program.
///
/// ```
/// use std::sync::Arc;
///
/// use arrow_array::{ArrayIterator, ArrayRef, StringArray};
/// use arrow_schema::{ArrowError, DataType, Field};
/// use reptile::{Dialect, Robots};
/// use reptile_columns::arrow::{ArrayDecider, VerdictStream};
/// use reptile_columns::{Column, SetOrRobots};
///
/// let robots = Robots::parse("user-agent: *\ndisallow: /private\n", Dialect::google())?;
/// let agents = SetOrRobots::Robots(robots).agents(&["GPTBot"], false)?;
/// let decider = ArrayDecider::new(agents, &[Column::Verdict])?;
/// let urls: ArrayRef = Arc::new(StringArray::from(vec!["https://example.com/private/notes"]));
/// let arrays: Vec<Result<ArrayRef, ArrowError>> = vec![Ok(urls)];
/// let field = Arc::new(Field::new("urls", DataType::Utf8, true));
/// let stream = VerdictStream::new(ArrayIterator::new(arrays, field), None, decider)?;
/// for batch in stream {
///     assert_eq!(batch?.num_rows(), 1);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct VerdictStream<R> {
    urls: R,
    places: Places,
    decider: ArrayDecider,
    schema: SchemaRef,
    /// The last array's remaining parts.
    waiting: VecDeque<ArrayRef>,
    has_ended: bool,
}

impl<R: ArrayReader> VerdictStream<R> {
    /// Decides a stream's URLs. If its arrays have columns, the URLs are in the given column, or else in `url`, or
    /// else in the only text column.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Array`](crate::ErrorKind::Array) if there is no such column, or it does not contain
    /// texts.
    pub fn new(urls: R, column: Option<&str>, decider: ArrayDecider) -> Result<VerdictStream<R>, Error> {
        let data_type = urls.field().data_type().clone();
        let places = decider.places(&data_type, column)?;
        let schema = Arc::new(decider.schema(&urls::type_at(places.urls, &data_type)));
        Ok(VerdictStream { urls, places, decider, schema, waiting: VecDeque::new(), has_ended: false })
    }

    fn advance(&mut self) -> Option<Result<RecordBatch, ArrowError>> {
        loop {
            if let Some(array) = self.waiting.pop_front() {
                return Some(self.decider.decide_at(self.places, &array).map_err(ArrowError::from));
            }
            match self.urls.next()? {
                Ok(array) => self.waiting.extend(parts(&array)),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Splits an array into parts that are not too large.
fn parts(array: &ArrayRef) -> impl Iterator<Item = ArrayRef> + '_ {
    let starts = (0..array.len()).step_by(MAX_ROWS_IN_BATCH);
    starts.map(|start| array.slice(start, MAX_ROWS_IN_BATCH.min(array.len() - start)))
}

impl<R: ArrayReader> Iterator for VerdictStream<R> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        let next = catch_unwind(AssertUnwindSafe(|| self.advance()))
            .unwrap_or_else(|panic| Some(Err(Error::of_panic(&*panic).into())));
        let next = next.map(|next| next.map_err(without_nul));
        self.has_ended = !matches!(next, Some(Ok(_)));
        next
    }
}

/// Escapes NUL in an error. The input stream's errors may have any text, and the C stream interface cannot represent
/// NUL.
fn without_nul(error: ArrowError) -> ArrowError {
    let text = error.to_string();
    if text.contains('\0') { ArrowError::ComputeError(text.replace('\0', "%00")) } else { error }
}

impl<R: ArrayReader> RecordBatchReader for VerdictStream<R> {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

/// Shows the URLs' type, for tests of forwarded streams.
impl<R: ArrayReader> std::fmt::Debug for VerdictStream<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let urls: &DataType = self.urls.field().data_type();
        f.debug_struct("VerdictStream").field("urls", urls).field("decider", &self.decider).finish_non_exhaustive()
    }
}
