//! A web archive's index in JSON, as its server writes it (`output=json`): a list of lists, with one list on each line.
//! The first list may have the columns' names.
//!
//! ```text
//! [["urlkey","timestamp","original"],
//! ["com,example)/","20260314150926","https://example.com/"]]
//! ```

use bumpalo::Bump;

use super::ColumnOption;
use super::cdx::{Legend, are_time_and_url};
use super::cdxj::{TIMESTAMP, timestamp_of};
use super::row::{Fault, is_url, is_url_name};
use crate::shown::shown;

/// The name of the column with the URL.
const ORIGINAL: &str = "original";

/// The locations of the wanted cells in a line.
#[derive(Debug)]
pub(crate) struct JsonRows {
    /// The number of cells in a line.
    width: usize,
    /// Cell numbers, from 0.
    numbers: Vec<usize>,
    /// The wanted cells that hold the time.
    pub timestamps: Vec<usize>,
}

/// The columns' names, and whether the first line has them.
pub(crate) struct Names {
    names: Vec<String>,
    pub are_in_file: bool,
}

impl Names {
    /// Returns the columns' names, or `None` if a web archive's index cannot begin with this line.
    pub fn of(line: &[u8]) -> Option<Names> {
        let cells = cells_of(line)?;
        if cells.iter().any(|cell| is_original(cell)) && !cells.iter().any(|cell| is_url(cell.as_bytes())) {
            return Some(Names { names: cells, are_in_file: true });
        }
        let cell = |at: usize| cells.get(at).map(String::as_bytes);
        let legend = Legend::of_width(cells.len()).filter(|_| are_time_and_url(cell(1), cell(2)))?;
        Some(Names { names: legend.names().map(str::to_owned).collect(), are_in_file: false })
    }

    /// Returns the locations of the wanted columns, and their names for messages.
    ///
    /// # Errors
    /// Returns a message if a column is missing, or if several columns have its name.
    pub fn columns(&self, wanted: &[ColumnOption]) -> Result<(JsonRows, Vec<String>), String> {
        let numbers = wanted.iter().map(|wanted| self.find(wanted)).collect::<Result<Vec<_>, _>>()?;
        let name = |number: &usize| format!("column {} (\"{}\")", number + 1, shown(self.names[*number].as_bytes()));
        let names = numbers.iter().map(name).collect();
        let is_time = |number: &usize| self.names[*number] == TIMESTAMP;
        let timestamps = (0..).zip(&numbers).filter(|(_, number)| is_time(number)).map(|(cell, _)| cell).collect();
        Ok((JsonRows { width: self.names.len(), numbers, timestamps }, names))
    }

    fn find(&self, wanted: &ColumnOption) -> Result<usize, String> {
        let is_wanted = |name: &&String| wanted.name.as_ref().map_or(is_original(name), |wanted| wanted == *name);
        let found: Vec<usize> = (0..).zip(&self.names).filter(|(_, name)| is_wanted(name)).map(|(at, _)| at).collect();
        let option = wanted.option;
        match found[..] {
            [number] => Ok(number),
            [] => Err(format!(
                "{option}: there is no such column; the first line has {}",
                shown(self.names.join(", ").as_bytes())
            )),
            _ => Err(format!("{option}: several columns have this name")),
        }
    }
}

impl JsonRows {
    /// Stores a line's cells in `cells`, allocated in `arena`.
    ///
    /// # Errors
    /// Returns an error if the line is not a list with a text for each column.
    pub fn read<'b>(&self, line: &[u8], arena: &'b Bump, cells: &mut [Option<&'b [u8]>]) -> Result<(), Fault> {
        let texts = cells_of(line).filter(|texts| texts.len() == self.width).ok_or(Fault::NotCdx)?;
        for (cell, &number) in cells.iter_mut().zip(&self.numbers) {
            *cell = texts.get(number).map(|text| &*arena.alloc_slice_copy(text.as_bytes()));
        }
        for &cell in &self.timestamps {
            cells[cell] = cells[cell].and_then(timestamp_of);
        }
        Ok(())
    }
}

/// Returns whether a name is a name of the URL column.
fn is_original(name: &str) -> bool {
    name == ORIGINAL || is_url_name(name.as_bytes())
}

/// Returns the texts in a line's list. Ignores the outer list's brackets, and a comma at the end.
fn cells_of(line: &[u8]) -> Option<Vec<String>> {
    let line = line.trim_ascii();
    let line = line.strip_prefix(b"[").filter(|inner| inner.trim_ascii_start().starts_with(b"[")).unwrap_or(line);
    let line = line.strip_suffix(b",").unwrap_or(line);
    let line = line.strip_suffix(b"]").filter(|inner| inner.trim_ascii_end().ends_with(b"]")).unwrap_or(line);
    serde_json::from_slice(line).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_a_list_of_texts() {
        let names = Names::of(br#"[["urlkey","timestamp","original"],"#).unwrap();
        let wanted = |name: Option<&str>| ColumnOption { option: "--x", name: name.map(str::to_owned) };
        let (rows, shown) = names.columns(&[wanted(None), wanted(Some("timestamp"))]).unwrap();
        assert_eq!(shown, ["column 3 (\"original\")", "column 2 (\"timestamp\")"]);
        let (arena, mut tried) = (Bump::new(), 0);
        for (line, expected) in [
            (r#"["k","20240101000000","http://a/"],"#, Ok([Some("http://a/"), Some("20240101000000")])),
            (
                r#" [ "k", "20240101000000999", "http://a/\u0062" ] ] "#,
                Ok([Some("http://a/b"), Some("20240101000000")]),
            ),
            (r#"["k","x","u"]]"#, Ok([Some("u"), None])),
            (r#"["k","2024","u","v"],"#, Err(Fault::NotCdx)),
            (r#"["k","2024"],"#, Err(Fault::NotCdx)),
            (r#"["k",2024,"u"],"#, Err(Fault::NotCdx)),
            (r#"["k","2024","u"],["k","2024","v"],"#, Err(Fault::NotCdx)),
            (r#"["k","2024","u""#, Err(Fault::NotCdx)),
            (r#"{"original":"u"}"#, Err(Fault::NotCdx)),
            ("[],", Err(Fault::NotCdx)),
            ("]", Err(Fault::NotCdx)),
            ("", Err(Fault::NotCdx)),
        ] {
            let mut cells = [None; 2];
            let found = rows.read(line.as_bytes(), &arena, &mut cells);
            let text = |cell: Option<&'_ [u8]>| cell.map(|cell| String::from_utf8(cell.to_vec()).unwrap());
            assert_eq!(
                found.map(|()| cells.map(text)),
                expected.map(|cells| cells.map(|cell| cell.map(str::to_owned))),
                "{line}"
            );
            tried += 1;
        }
        assert_eq!(tried, 12);
    }

    #[test]
    fn the_first_line_names_the_columns_or_has_the_usual_ones() {
        for (line, expected) in [
            (r#"[["original"],"#, Some((1, true))),
            (r#"["url","x"]"#, Some((2, true))),
            (r#"[["k","20240101000000","http://a/","text/html","200","X","5"],"#, Some((7, false))),
            (r#"[["k","20240101000000","http://a/","text/html","200","X"],"#, None),
            (r#"[["k","20240101","http://a/","text/html","200","X","5"],"#, None),
            (r#"[["original","http://a/"],"#, None),
            (r#"[["a","b"],"#, None),
            (r#"[["original"],["http://a/"]]"#, None),
            ("[[", None),
            ("[", None),
        ] {
            let found = Names::of(line.as_bytes()).map(|names| (names.names.len(), names.are_in_file));
            assert_eq!(found, expected, "{line}");
        }
        let names = Names::of(br#"[["url","x","x"],"#).unwrap();
        for name in ["x", "y"] {
            assert!(names.columns(&[ColumnOption { option: "--x", name: Some(name.into()) }]).is_err(), "{name}");
        }
    }
}
