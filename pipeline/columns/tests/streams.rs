//! Streams: URL columns, batches and errors.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayIterator, ArrayRef, Int32Array, LargeStringArray, RecordBatchReader, StringArray, StructArray,
};
use arrow_schema::{ArrowError, DataType, Field, Fields};
use reptile_columns::Column;
use reptile_columns::arrow::{ArrayDecider, MAX_ROWS_IN_BATCH, VerdictStream};

use crate::arrays::{agents, words};

type Arrays = Vec<Result<ArrayRef, ArrowError>>;

fn stream(
    data_type: DataType,
    arrays: Arrays,
    column: Option<&str>,
) -> Result<VerdictStream<ArrayIterator<Arrays>>, reptile_columns::Error> {
    let field = Arc::new(Field::new("urls", data_type, true));
    let decider = ArrayDecider::new(agents(&["MyBot"]), &[Column::Url, Column::Verdict]).unwrap();
    VerdictStream::new(ArrayIterator::new(arrays, field), column, decider)
}

fn texts(rows: usize) -> ArrayRef {
    Arc::new(LargeStringArray::from_iter_values((0..rows).map(|_| "https://shop.example/cart")))
}

#[test]
fn large_arrays_are_split_into_batches() {
    for (rows, expected) in [
        (0, vec![]),
        (MAX_ROWS_IN_BATCH - 1, vec![MAX_ROWS_IN_BATCH - 1]),
        (MAX_ROWS_IN_BATCH, vec![MAX_ROWS_IN_BATCH]),
        (MAX_ROWS_IN_BATCH + 1, vec![MAX_ROWS_IN_BATCH, 1]),
    ] {
        let mut expected = expected;
        expected.push(3);
        let stream = stream(DataType::LargeUtf8, vec![Ok(texts(rows)), Ok(texts(3))], None).unwrap();
        let found: Vec<usize> = stream.map(|batch| batch.unwrap().num_rows()).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn the_url_column_is_found() {
    let row = |names: &[(&str, ArrayRef)]| -> ArrayRef {
        let fields: Fields =
            names.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
        Arc::new(StructArray::new(fields, names.iter().map(|(_, array)| array.clone()).collect(), None))
    };
    let number: ArrayRef = Arc::new(Int32Array::from(vec![7]));
    let text: ArrayRef = Arc::new(StringArray::from(vec!["https://shop.example/cart"]));
    let other: ArrayRef = Arc::new(StringArray::from(vec!["no URL"]));
    let verdict = |array: &ArrayRef, column: Option<&str>| {
        let mut stream =
            stream(array.data_type().clone(), vec![Ok(array.clone())], column).map_err(|error| error.to_string())?;
        Ok::<_, String>(words(&stream.next().unwrap().unwrap(), "MyBot:verdict")[0].clone().unwrap())
    };
    let both = row(&[("n", number.clone()), ("title", other.clone()), ("url", text.clone())]);
    assert_eq!(verdict(&both, None).unwrap(), "disallow");
    assert_eq!(verdict(&both, Some("title")).unwrap(), "invalid");
    assert!(verdict(&both, Some("n")).unwrap_err().contains("found Int32"));
    assert!(verdict(&both, Some("link")).unwrap_err().contains("the columns are n, title, url"));
    assert_eq!(verdict(&row(&[("n", number.clone()), ("link", text.clone())]), None).unwrap(), "disallow");
    assert!(verdict(&row(&[("a", other), ("b", text.clone())]), None).unwrap_err().contains("no column \"url\""));
    assert!(verdict(&number, None).unwrap_err().contains("Int32"));
    assert!(verdict(&text, Some("url")).unwrap_err().contains("without columns"));
}

#[test]
fn streams_end_after_an_error_without_nul_in_its_text() {
    let failed = || Err(ArrowError::ExternalError("a\0b".into()));
    let mut stream = stream(DataType::LargeUtf8, vec![Ok(texts(1)), failed(), Ok(texts(1))], None).unwrap();
    assert_eq!(stream.schema().fields().len(), 2);
    assert!(stream.next().unwrap().is_ok());
    let error = stream.next().unwrap().unwrap_err().to_string();
    assert!(error.contains("a%00b") && !error.contains('\0'), "{error}");
    assert!(stream.next().is_none());
}

#[test]
fn panics_become_errors() {
    struct Panics(Arc<Field>);
    impl Iterator for Panics {
        type Item = Result<ArrayRef, ArrowError>;
        fn next(&mut self) -> Option<Self::Item> {
            panic!("as if by mistake")
        }
    }
    impl arrow_array::ArrayReader for Panics {
        fn field(&self) -> &Arc<Field> {
            &self.0
        }
    }
    let urls = Panics(Arc::new(Field::new("urls", DataType::Utf8, true)));
    let decider = ArrayDecider::new(agents(&["MyBot"]), &[Column::Verdict]).unwrap();
    let mut stream = VerdictStream::new(urls, None, decider).unwrap();
    assert!(stream.next().unwrap().unwrap_err().to_string().contains("as if by mistake"));
    assert!(stream.next().is_none());
}
