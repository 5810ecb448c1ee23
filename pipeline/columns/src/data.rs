//! Columns under construction: [`ColumnData`]. [`arrays`](crate::arrays) converts them to arrays. [`CellSink`] is a destination for one cell: one of these columns, or text.

use std::borrow::Cow;

use reptile::{Group, Verdict};

use crate::column::{Cell, Column, Crawlers, Layout, VERDICTS};

/// The values of a group column, by key.
pub(crate) const GROUPS: [Group; 3] = [Group::Named, Group::Default, Group::None];

/// The key of a null verdict or group.
const NULL_KEY: i8 = -1;

/// A column's type. See [`RowFormat`](crate::RowFormat) for an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// A mostly unique text; empty is null.
    Text,
    /// A frequently repeated text; empty is null.
    Word,
    /// A verdict.
    Verdict,
    /// A group.
    Group,
    /// A 32-bit number; 0 is null.
    Number,
    /// A 32-bit number, never null.
    Count,
    /// A 32-bit number, or null.
    Id,
    /// A 64-bit number, or null.
    Long,
    /// A 64-bit number, or null, with a bit for each name. The file's metadata lists the names.
    Mask(Vec<String>),
    /// A time in milliseconds since 1970, or null.
    Time,
    /// A list of indexes into these names, or null.
    Names(Vec<String>),
}

/// Destination for one cell.
pub(crate) trait CellSink {
    /// Writes a text.
    fn text(&mut self, text: &[u8]);
    /// Writes a verdict.
    fn verdict(&mut self, verdict: Verdict);
    /// Writes a group.
    fn group(&mut self, group: Group);
    /// Writes a number. For a [`ColumnType::Number`] column, 0 is null.
    fn number(&mut self, number: u32);
    /// Writes a number or null.
    fn long(&mut self, number: Option<u64>);
    /// Writes a time in seconds since 1970, or null.
    fn time(&mut self, time: Option<i64>);
    /// Writes a list of names, given by their indexes, or the verdict that replaces the list.
    fn list(&mut self, names: &[String], places: Result<&mut dyn Iterator<Item = usize>, Verdict>);
}

/// A column's values for consecutive rows. See [`ColumnWriter`](crate::ColumnWriter) for an example.
#[derive(Clone, Debug)]
pub struct ColumnData {
    pub(crate) kind: ColumnType,
    pub(crate) values: Values,
}

/// The values in the form that their kind needs.
#[derive(Clone, Debug)]
pub(crate) enum Values {
    /// Concatenated texts in UTF-8, and their bounds: 0, then each text's end.
    Texts { bytes: Vec<u8>, bounds: Vec<i64> },
    /// Indexes into [`VERDICTS`] or [`GROUPS`], or [`NULL_KEY`].
    Keys(Vec<i8>),
    /// Numbers.
    Numbers(Vec<u32>),
    /// Numbers, and whether each is present. Absent numbers are arbitrary.
    Longs { longs: Vec<i64>, present: Vec<bool> },
    /// Indexes of list items, each list's end among them, and whether each list is present.
    Lists { items: Vec<u32>, ends: Vec<u32>, present: Vec<bool> },
}

impl ColumnData {
    /// Creates an empty column.
    #[must_use]
    pub fn new(kind: ColumnType) -> ColumnData {
        let values = match kind {
            ColumnType::Text | ColumnType::Word => Values::Texts { bytes: Vec::new(), bounds: vec![0] },
            ColumnType::Verdict | ColumnType::Group => Values::Keys(Vec::new()),
            ColumnType::Number | ColumnType::Count => Values::Numbers(Vec::new()),
            ColumnType::Id | ColumnType::Long | ColumnType::Mask(_) | ColumnType::Time => {
                Values::Longs { longs: Vec::new(), present: Vec::new() }
            }
            ColumnType::Names(_) => Values::Lists { items: Vec::new(), ends: Vec::new(), present: Vec::new() },
        };
        ColumnData { kind, values }
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.values {
            Values::Texts { bounds, .. } => bounds.len() - 1,
            Values::Keys(keys) => keys.len(),
            Values::Numbers(numbers) => numbers.len(),
            Values::Longs { longs, .. } => longs.len(),
            Values::Lists { ends, .. } => ends.len(),
        }
    }

    /// Returns the size of some rows' texts in bytes. Each name in a list counts as the longest one.
    #[cfg(feature = "files")]
    pub(crate) fn text_bytes(&self, rows: std::ops::Range<usize>) -> usize {
        match (&self.values, &self.kind) {
            (Values::Texts { bounds, .. }, _) => (bounds[rows.end] - bounds[rows.start]) as usize,
            (Values::Lists { ends, .. }, ColumnType::Names(names)) => {
                let end_of = |rows: usize| rows.checked_sub(1).map_or(0, |last| ends[last]) as usize;
                let longest = names.iter().map(String::len).max().unwrap_or(0);
                (end_of(rows.end) - end_of(rows.start)) * longest
            }
            _ => 0,
        }
    }

    /// Returns whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a sink that appends cells without escaping their texts.
    #[cfg_attr(not(feature = "arrow"), allow(dead_code, reason = "text formats change their texts"))]
    pub(crate) fn cells(&mut self) -> ColumnCells<'_> {
        ColumnCells { column: self, clean: |text| Cow::Borrowed(text) }
    }

    /// Removes all rows, and keeps the memory.
    pub fn clear(&mut self) {
        match &mut self.values {
            Values::Texts { bytes, bounds } => {
                bytes.clear();
                bounds.truncate(1);
            }
            Values::Keys(keys) => keys.clear(),
            Values::Numbers(numbers) => numbers.clear(),
            Values::Longs { longs, present } => {
                longs.clear();
                present.clear();
            }
            Values::Lists { items, ends, present } => {
                items.clear();
                ends.clear();
                present.clear();
            }
        }
    }

    /// Appends the keys of verdicts; `None` is a null.
    pub(crate) fn extend_verdicts(&mut self, verdicts: impl Iterator<Item = Option<Verdict>>) {
        if let Values::Keys(keys) = &mut self.values {
            keys.extend(verdicts.map(|verdict| verdict.map_or(NULL_KEY, |verdict| verdict as i8)));
        }
    }

    /// Replaces the last row with a null. A [`ColumnType::Count`] becomes 0.
    pub(crate) fn null_last(&mut self) {
        match &mut self.values {
            Values::Texts { bytes, bounds } => {
                bounds.pop();
                let end = bounds.last().copied().unwrap_or(0);
                bytes.truncate(end as usize);
                bounds.push(end);
            }
            Values::Keys(keys) => set_last(keys, NULL_KEY),
            Values::Numbers(numbers) => set_last(numbers, 0),
            Values::Longs { present, .. } => set_last(present, false),
            Values::Lists { items, ends, present } => {
                ends.pop();
                let end = ends.last().copied().unwrap_or(0);
                items.truncate(end as usize);
                ends.push(end);
                set_last(present, false);
            }
        }
    }

    /// Returns a copy of some rows.
    #[must_use]
    pub fn slice(&self, rows: std::ops::Range<usize>) -> ColumnData {
        let mut slice = ColumnData::new(self.kind.clone());
        slice.append(self, rows);
        slice
    }

    /// Appends some of another column's rows. Both have the same kind.
    pub(crate) fn append(&mut self, other: &ColumnData, rows: std::ops::Range<usize>) {
        match (&mut self.values, &other.values) {
            (Values::Texts { bytes, bounds }, Values::Texts { bytes: from, bounds: of }) => {
                let (start, end) = (of[rows.start], of[rows.end]);
                let moved = bytes.len() as i64 - start;
                bytes.extend_from_slice(&from[start as usize..end as usize]);
                bounds.extend(of[rows.start + 1..=rows.end].iter().map(|bound| bound + moved));
            }
            (Values::Keys(keys), Values::Keys(from)) => keys.extend_from_slice(&from[rows]),
            (Values::Numbers(numbers), Values::Numbers(from)) => numbers.extend_from_slice(&from[rows]),
            (Values::Longs { longs, present }, Values::Longs { longs: from, present: are }) => {
                longs.extend_from_slice(&from[rows.clone()]);
                present.extend_from_slice(&are[rows]);
            }
            (Values::Lists { items, ends, present }, Values::Lists { items: from, ends: of, present: are }) => {
                let start = rows.start.checked_sub(1).map_or(0, |before| of[before]);
                let end = rows.end.checked_sub(1).map_or(0, |last| of[last]).max(start);
                let len = items.len() as u32;
                items.extend_from_slice(&from[start as usize..end as usize]);
                ends.extend(of[rows.clone()].iter().map(|end| end - start + len));
                present.extend_from_slice(&are[rows]);
            }
            _ => {}
        }
    }
}

fn set_last<T>(values: &mut [T], value: T) {
    if let Some(last) = values.last_mut() {
        *last = value;
    }
}

/// A function that changes a column's texts before they are converted to UTF-8.
pub(crate) type Clean = fn(&[u8]) -> Cow<'_, [u8]>;

/// A sink that appends cells to a column.
pub(crate) struct ColumnCells<'c> {
    pub(crate) column: &'c mut ColumnData,
    pub(crate) clean: Clean,
}

impl CellSink for ColumnCells<'_> {
    fn text(&mut self, text: &[u8]) {
        if let Values::Texts { bytes, bounds } = &mut self.column.values {
            bytes.extend_from_slice(&as_utf8(&(self.clean)(text)));
            bounds.push(bytes.len() as i64);
        }
    }

    fn verdict(&mut self, verdict: Verdict) {
        if let Values::Keys(keys) = &mut self.column.values {
            keys.push(verdict as i8);
        }
    }

    fn group(&mut self, group: Group) {
        if let Values::Keys(keys) = &mut self.column.values {
            let key = GROUPS.iter().position(|&one| one == group).unwrap_or(GROUPS.len() - 1);
            keys.push(key as i8);
        }
    }

    fn number(&mut self, number: u32) {
        if let Values::Numbers(numbers) = &mut self.column.values {
            numbers.push(number);
        }
    }

    fn long(&mut self, number: Option<u64>) {
        if let Values::Longs { longs, present } = &mut self.column.values {
            // The bits are the same as in the unsigned number.
            longs.push(number.unwrap_or(0) as i64);
            present.push(number.is_some());
        }
    }

    fn time(&mut self, time: Option<i64>) {
        // All times in a set can be expressed in milliseconds without overflow.
        self.long(time.map(|time| time.saturating_mul(1000) as u64));
    }

    fn list(&mut self, _: &[String], places: Result<&mut dyn Iterator<Item = usize>, Verdict>) {
        if let Values::Lists { items, ends, present } = &mut self.column.values {
            present.push(places.is_ok());
            if let Ok(places) = places {
                items.extend(places.map(|place| place as u32));
            }
            ends.push(items.len() as u32);
        }
    }
}

/// Converts text to UTF-8. Invalid bytes become `%XX`, which means the same in a URL.
pub(crate) fn as_utf8(text: &[u8]) -> Cow<'_, [u8]> {
    // Nearly all texts are ASCII, which is checked faster.
    if text.is_ascii() || str::from_utf8(text).is_ok() {
        return Cow::Borrowed(text);
    }
    let mut valid = Vec::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        valid.extend_from_slice(chunk.valid().as_bytes());
        for byte in chunk.invalid() {
            valid.extend_from_slice(format!("%{byte:02X}").as_bytes());
        }
    }
    Cow::Owned(valid)
}

/// The columns of a summary (`reptile::summary`), after the one that names the origin.
///
/// ```
/// assert_eq!(reptile_columns::SUMMARY_COLUMNS[1].0, "access");
/// ```
pub const SUMMARY_COLUMNS: [(&str, ColumnType); 8] = [
    ("agent", ColumnType::Word),
    ("access", ColumnType::Word),
    ("group", ColumnType::Word),
    ("allow_rules", ColumnType::Count),
    ("disallow_rules", ColumnType::Count),
    ("reason", ColumnType::Word),
    ("allowed_path", ColumnType::Text),
    ("disallowed_path", ColumnType::Text),
];

/// Returns a layout's columns for these crawlers, each with its name and kind. See
/// [`ColumnWriter`](crate::ColumnWriter) for an example.
#[must_use]
pub fn columns_of(layout: &Layout, crawlers: &Crawlers) -> Vec<(String, ColumnType)> {
    layout.names(crawlers).into_iter().zip(kinds_of(layout, crawlers)).collect()
}

/// Returns the kinds of a layout's columns for these crawlers.
pub(crate) fn kinds_of(layout: &Layout, crawlers: &Crawlers) -> impl Iterator<Item = ColumnType> {
    let agents = crawlers.names();
    layout.cells(agents.len()).into_iter().map(move |cell| match cell {
        Cell::Url => ColumnType::Text,
        Cell::Once(column) | Cell::Agent(_, column) => kind_of(column, agents),
        Cell::AnyOf => ColumnType::Verdict,
    })
}

fn kind_of(column: Column, agents: &[String]) -> ColumnType {
    match column {
        Column::Url => ColumnType::Text,
        Column::Verdict => ColumnType::Verdict,
        Column::Group => ColumnType::Group,
        Column::Line => ColumnType::Number,
        Column::Ruleset => ColumnType::Id,
        Column::CaptureTime => ColumnType::Time,
        Column::Mask => ColumnType::Mask(agents.to_vec()),
        Column::Refused => ColumnType::Names(agents.to_vec()),
        Column::Agent | Column::Rule | Column::Reason | Column::Capture | Column::Usage(_) | Column::Purpose => {
            ColumnType::Word
        }
    }
}

/// Returns the words for a column's keys.
pub(crate) fn words_of(kind: &ColumnType) -> Vec<&'static str> {
    match kind {
        ColumnType::Group => GROUPS.map(Group::as_str).to_vec(),
        _ => VERDICTS.map(Verdict::name).to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns every type of column. Lists have these names.
    fn types(names: &[String]) -> [ColumnType; 6] {
        [
            ColumnType::Text,
            ColumnType::Verdict,
            ColumnType::Group,
            ColumnType::Number,
            ColumnType::Long,
            ColumnType::Names(names.to_vec()),
        ]
    }

    #[test]
    fn appended_rows_equal_pushed_rows() {
        let names = vec!["a".to_owned(), "b".to_owned()];
        for kind in types(&names) {
            let column = |rows: std::ops::Range<usize>| {
                let mut column = ColumnData::new(kind.clone());
                let mut cells = column.cells();
                for row in rows {
                    match kind {
                        ColumnType::Text => cells.text(&b"0123456789"[..row % 10]),
                        ColumnType::Verdict => cells.verdict(VERDICTS[row % 4]),
                        ColumnType::Group => cells.group(GROUPS[row % 3]),
                        ColumnType::Number => cells.number(row as u32),
                        ColumnType::Long => cells.long((row % 3 > 0).then_some(row as u64)),
                        _ if row % 4 == 0 => cells.list(&names, Err(Verdict::Unknown)),
                        _ => cells.list(&names, Ok(&mut (0..row % 3))),
                    }
                }
                column
            };
            let all = column(0..50);
            assert_eq!(all.len(), 50);
            for (start, end) in [(0, 0), (0, 50), (1, 1), (7, 23), (49, 50), (50, 50)] {
                let mut appended = column(0..start);
                appended.append(&all, start..end);
                assert_eq!(format!("{appended:?}"), format!("{:?}", column(0..end)), "{kind:?} {start} {end}");
                appended.clear();
                assert!(appended.is_empty());
            }
        }
    }

    #[test]
    fn the_last_row_becomes_null() {
        let names = vec!["a".to_owned()];
        for kind in types(&names) {
            let mut column = ColumnData::new(kind.clone());
            for _ in 0..2 {
                let mut cells = column.cells();
                match kind {
                    ColumnType::Text => cells.text(b"text"),
                    ColumnType::Verdict => cells.verdict(Verdict::Invalid),
                    ColumnType::Group => cells.group(Group::None),
                    ColumnType::Number => cells.number(7),
                    ColumnType::Long => cells.long(Some(7)),
                    _ => cells.list(&names, Ok(&mut (0..1))),
                }
            }
            column.null_last();
            let expected = match kind {
                ColumnType::Text => r#"Texts { bytes: [116, 101, 120, 116], bounds: [0, 4, 4] }"#,
                ColumnType::Verdict => "Keys([3, -1])",
                ColumnType::Group => "Keys([2, -1])",
                ColumnType::Number => "Numbers([7, 0])",
                ColumnType::Long => "Longs { longs: [7, 7], present: [true, false] }",
                _ => "Lists { items: [0], ends: [1, 1], present: [true, false] }",
            };
            assert_eq!(format!("{:?}", column.values), expected, "{kind:?}");
        }
    }

    #[test]
    fn invalid_bytes_are_escaped() {
        assert_eq!(*as_utf8(b"a\xFFb"), *b"a%FFb");
        assert_eq!(*as_utf8("é".as_bytes()), *"é".as_bytes());
    }
}
