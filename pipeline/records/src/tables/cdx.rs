//! Classic CDX, a web archive index. The first line is a legend such as ` CDX N b a m s k r M S V g`: its first byte is
//! the delimiter, and each letter names a column. A line has a cell for each letter.
//!
//! The column `a` is the original URL, and `b` the time. `N`, the canonized URL, is ignored because it lacks the
//! scheme. Cells have no quotes or escapes, so a line with a different number of cells is ambiguous, and invalid.

use memchr::memchr_iter;

use super::cdxj::timestamp_of;
use super::csv::plain_cells;
use super::row::{Fault, pick};

/// The columns that an index server names, by their letters. Source: the Internet Archive's CDX legend
/// (archive.org/web/researcher/cdx_legend.php) and its CDX server's field names.
const NAMES: [(u8, &str); 11] = [
    (b'N', "urlkey"),
    (b'b', "timestamp"),
    (b'a', "original"),
    (b'm', "mimetype"),
    (b's', "statuscode"),
    (b'k', "digest"),
    (b'r', "redirect"),
    (b'M', "robotflags"),
    (b'S', "length"),
    (b'V', "offset"),
    (b'g', "filename"),
];

/// The letter of the original URL's column.
const ORIGINAL: u8 = b'a';

/// The letter of the time's column.
const TIME: u8 = b'b';

/// A first line that names the columns.
pub(crate) struct Legend<'l> {
    /// The byte between cells.
    pub delimiter: u8,
    letters: Vec<&'l [u8]>,
}

/// The locations of the wanted cells in a line.
#[derive(Debug)]
pub(crate) struct Cdx {
    /// The number of cells in a line.
    width: usize,
    delimiter: u8,
    /// Cell numbers, from 0.
    numbers: Vec<usize>,
    /// The wanted cells that hold the time.
    pub timestamps: Vec<usize>,
}

impl<'l> Legend<'l> {
    /// Parses a line without its line end, if it is a legend.
    pub fn of(line: &'l [u8]) -> Option<Legend<'l>> {
        let (&delimiter, rest) = line.split_first().filter(|(byte, _)| !byte.is_ascii_alphanumeric())?;
        let mut words = rest.split(|&byte| byte == delimiter);
        if words.next() != Some(b"CDX") {
            return None;
        }
        let mut letters: Vec<&[u8]> = words.collect();
        // Some programs end the legend with the delimiter.
        letters.pop_if(|last| last.is_empty());
        let is_letter = |word: &&[u8]| matches!(word, [letter] if letter.is_ascii_alphabetic() || *letter == b'#');
        (!letters.is_empty() && letters.iter().all(is_letter)).then_some(Legend { delimiter, letters })
    }

    /// Returns a column's number from 0, its letter and its name.
    ///
    /// # Errors
    /// Returns a message if there is no such column, or several have the letter.
    pub fn find(&self, option: &str, name: Option<&str>) -> Result<(usize, String), String> {
        let letter = match name {
            None => ORIGINAL,
            Some(name) => match *name.as_bytes() {
                [letter] if letter.is_ascii_alphabetic() => letter,
                _ => {
                    let known = NAMES.iter().find(|(_, known)| known.eq_ignore_ascii_case(name));
                    known.map(|&(letter, _)| letter).ok_or_else(|| self.missing(option, name))?
                }
            },
        };
        let mut places = self.letters.iter().enumerate().filter(|(_, word)| ***word == [letter]);
        let (number, _) = places.next().ok_or_else(|| match name {
            Some(name) => self.missing(option, name),
            None => format!("this CDX legend has no column a, the original URL; it has {}", self.list()),
        })?;
        if places.next().is_some() {
            return Err(format!("the CDX legend has several columns {}", char::from(letter)));
        }
        let long = NAMES.iter().find(|(known, _)| *known == letter).map_or("", |(_, name)| name);
        let long = if long.is_empty() { String::new() } else { format!(", {long}") };
        Ok((number, format!("column {} ({}{long})", number + 1, char::from(letter))))
    }

    /// Returns the lines' layout, given the numbers of the wanted cells.
    pub fn columns(&self, numbers: Vec<usize>) -> Cdx {
        let is_time = |number: usize| self.letters.get(number).is_some_and(|word| **word == [TIME]);
        let timestamps = numbers.iter().enumerate().filter(|(_, number)| is_time(**number)).map(|(cell, _)| cell);
        let timestamps = timestamps.collect();
        Cdx { width: self.letters.len(), delimiter: self.delimiter, numbers, timestamps }
    }

    fn missing(&self, option: &str, name: &str) -> String {
        let name = crate::shown::shown(name.as_bytes());
        format!("{option} {name}: there is no such column; the CDX legend has {}", self.list())
    }

    fn list(&self) -> String {
        let words: Vec<String> = self.letters.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        words.join(" ")
    }
}

impl Cdx {
    /// Stores a line's cells in `cells`.
    ///
    /// # Errors
    /// Returns the reason why the line has no cells.
    pub fn read<'b>(&self, line: &'b [u8], cells: &mut [Option<&'b [u8]>]) -> Result<(), Fault> {
        if memchr_iter(self.delimiter, line).count() + 1 != self.width {
            return Err(Fault::NotCdx);
        }
        pick(plain_cells(line, self.delimiter), &self.numbers, cells);
        for &cell in &self.timestamps {
            cells[cell] = cells[cell].and_then(timestamp_of);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legends_name_delimiter_and_columns() {
        for (line, delimiter, letters) in [
            (" CDX N b a m s k r M S V g", b' ', 11),
            (" CDX N b a m s k r V g", b' ', 9),
            ("\tCDX\tA\tb\ta", b'\t', 3),
            ("|CDX|a|", b'|', 1),
        ] {
            let legend = Legend::of(line.as_bytes()).unwrap();
            assert_eq!((legend.delimiter, legend.letters.len()), (delimiter, letters), "{line}");
        }
        for line in
            ["", " ", " CDX", "CDX N b a", " CDXJ N b", " CDX N bb a", " CDX N  a", " CDX 1", "xCDXxa", " cdx a"]
        {
            assert!(Legend::of(line.as_bytes()).is_none(), "{line}");
        }
        let legend = Legend::of(b" CDX N b a V V").unwrap();
        let number = |name| legend.find("--at", name).map(|(number, _)| number);
        assert_eq!((number(None), number(Some("b")), number(Some("Timestamp"))), (Ok(2), Ok(1), Ok(1)));
        for name in ["B", "g", "filename", "time", "3", "V"] {
            assert!(number(Some(name)).is_err(), "{name}");
        }
        assert!(Legend::of(b" CDX N b").unwrap().find("--url", None).is_err());
    }

    #[test]
    fn lines_have_a_cell_for_each_letter() {
        let cdx = Legend::of(b" CDX N b a m").unwrap().columns(vec![2, 1]);
        let read = |line: &'static str| {
            let mut cells = [None; 2];
            cdx.read(line.as_bytes(), &mut cells)
                .map(|()| cells.map(|cell| cell.map(|cell| str::from_utf8(cell).unwrap())))
        };
        assert_eq!(read("k 20240101000000 http://a/ x"), Ok([Some("http://a/"), Some("20240101000000")]));
        assert_eq!(read("k 20240101000000999 u -"), Ok([Some("u"), Some("20240101000000")]));
        assert_eq!(read("k 2024010112 u -"), Ok([Some("u"), None]));
        for line in ["", "k 2024 u", "k 2024 u v w x", " CDX N b a m"] {
            assert_eq!(read(line), Err(Fault::NotCdx), "{line}");
        }
    }
}
