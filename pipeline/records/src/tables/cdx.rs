//! Classic CDX, a web archive index. The first line is a legend such as ` CDX N b a m s k r M S V g`: its first byte is
//! the delimiter, and each letter names a column. A line has a cell for each letter. Without its first byte, the legend
//! has the delimiter after `CDX`.
//!
//! Index servers leave the legend out. Lines without one are unambiguous if all first lines have the same usual number
//! of cells, with a time of 14 digits in the second cell and a URL in the third.
//!
//! The column `a` is the original URL, and `b` the time. `N`, the canonized URL, is ignored because it lacks the
//! scheme. Cells have no quotes or escapes, so a line with a different number of cells is ambiguous, and invalid.

use memchr::memchr_iter;

use super::cdxj::timestamp_of;
use super::csv::plain_cells;
use super::row::{Fault, is_url, pick};

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

/// The assumed legends of files without one: the Wayback Machine's index server, and the classic formats with 9 and 11
/// columns (archive.org/web/researcher/cdx_file_format.php).
const USUAL: [&[u8]; 3] = [b" CDX N b a m s k S", b" CDX N b a m s k r V g", b" CDX N b a m s k r M S V g"];

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
    /// For each cell, the wanted cell with the same letter, which must have the same text. Empty if no wanted letter is
    /// repeated.
    twins: Vec<Option<usize>>,
    /// The wanted cells that hold the time.
    pub timestamps: Vec<usize>,
}

/// Returns whether a line is a CDX row: a key, a time of 14 digits and a URL. No legend is needed.
pub(crate) fn is_row(line: &[u8]) -> bool {
    let mut cells = plain_cells(line, b' ');
    let (key, time, url) = (cells.next().unwrap_or_default(), cells.next(), cells.next());
    !key.is_empty() && !is_url(key) && are_time_and_url(time, url)
}

/// Returns whether two cells are a time of 14 digits and a URL. Archives also have addresses such as `dns:example.com`.
pub(super) fn are_time_and_url(time: Option<&[u8]>, url: Option<&[u8]>) -> bool {
    let is_time = |text: &[u8]| text.len() == 14 && text.iter().all(u8::is_ascii_digit);
    time.is_some_and(is_time) && url.is_some_and(|url| is_url(url) || url.starts_with(b"dns:"))
}

impl<'l> Legend<'l> {
    /// Returns the usual legend that fits a file's first lines, or `None` if they are not CDX rows of one such width.
    pub fn of_rows<'r>(lines: impl Iterator<Item = &'r [u8]>) -> Option<Legend<'static>> {
        let mut lines = lines.peekable();
        let width = memchr_iter(b' ', lines.peek()?).count() + 1;
        let legend = Legend::of_width(width)?;
        lines.all(|line| is_row(line) && memchr_iter(b' ', line).count() + 1 == width).then_some(legend)
    }

    /// Returns the usual legend with this number of columns.
    pub fn of_width(width: usize) -> Option<Legend<'static>> {
        USUAL.into_iter().filter_map(Legend::of).find(|legend| legend.letters.len() == width)
    }

    /// Returns the names of the columns, as index servers write them.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        let name = |word: &&[u8]| NAMES.iter().find(|(letter, _)| **word == [*letter]).map_or("", |(_, name)| name);
        self.letters.iter().map(name)
    }

    /// Parses a line without its line end, if it is a legend.
    pub fn of(line: &'l [u8]) -> Option<Legend<'l>> {
        if let Some(delimiter) = line.strip_prefix(b"CDX").and_then(<[u8]>::first) {
            return Legend::of_words(*delimiter, line).filter(|_| !delimiter.is_ascii_alphanumeric());
        }
        let (&delimiter, rest) = line.split_first().filter(|(byte, _)| !byte.is_ascii_alphanumeric())?;
        Legend::of_words(delimiter, rest)
    }

    fn of_words(delimiter: u8, rest: &'l [u8]) -> Option<Legend<'l>> {
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
    /// Returns a message if there is no such column.
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
        let number = self.letters.iter().position(|word| **word == [letter]).ok_or_else(|| match name {
            Some(name) => self.missing(option, name),
            None => format!(
                "its CDX legend has no column a, the original URL, but {}; --url names another column",
                self.list()
            ),
        })?;
        let long = NAMES.iter().find(|(known, _)| *known == letter).map_or("", |(_, name)| name);
        let long = if long.is_empty() { String::new() } else { format!(", {long}") };
        Ok((number, format!("column {} ({}{long})", number + 1, char::from(letter))))
    }

    /// Returns the lines' layout, given the numbers of the wanted cells.
    pub fn columns(&self, numbers: Vec<usize>) -> Cdx {
        let is_time = |number: usize| self.letters.get(number).is_some_and(|word| **word == [TIME]);
        let timestamps = numbers.iter().enumerate().filter(|(_, number)| is_time(**number)).map(|(cell, _)| cell);
        let timestamps = timestamps.collect();
        let twin = |word| numbers.iter().position(|&number| self.letters.get(number) == Some(word));
        let twins: Vec<Option<usize>> = self.letters.iter().map(twin).collect();
        let has_twins = (0..).zip(&twins).any(|(number, twin)| twin.is_some() && !numbers.contains(&number));
        let twins = if has_twins { twins } else { Vec::new() };
        Cdx { width: self.letters.len(), delimiter: self.delimiter, numbers, twins, timestamps }
    }

    fn missing(&self, option: &str, name: &str) -> String {
        let name = crate::shown::shown(name.as_bytes());
        format!("{option} {name}: there is no such column; the CDX legend has {}", self.list())
    }

    fn list(&self) -> String {
        let words: Vec<String> = self.letters.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        words.join(", ")
    }
}

impl Cdx {
    /// Stores a line's cells in `cells`.
    ///
    /// # Errors
    /// Returns an error if the number of cells is wrong, or if columns with the same letter differ.
    pub fn read<'b>(&self, line: &'b [u8], cells: &mut [Option<&'b [u8]>]) -> Result<(), Fault> {
        if memchr_iter(self.delimiter, line).count() + 1 != self.width {
            return Err(Fault::NotCdx);
        }
        pick(plain_cells(line, self.delimiter), &self.numbers, cells);
        let mut texts = plain_cells(line, self.delimiter).zip(&self.twins);
        if texts.any(|(text, twin)| twin.is_some_and(|cell| cells[cell] != Some(text))) {
            cells.fill(None);
            return Err(Fault::TwoReadings);
        }
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
            ("CDX N b a m s k r M S V g", b' ', 11),
            ("CDX\tN\tb\ta", b'\t', 3),
        ] {
            let legend = Legend::of(line.as_bytes()).unwrap();
            assert_eq!((legend.delimiter, legend.letters.len()), (delimiter, letters), "{line}");
        }
        for line in
            ["", " ", " CDX", "CDX", "CDXJ N b", "CDXxNxb", " CDXJ N b", " CDX N bb a", " CDX N  a", " CDX 1", "xCDXxa"]
        {
            assert!(Legend::of(line.as_bytes()).is_none(), "{line}");
        }
        let legend = Legend::of(b" CDX N b a V V").unwrap();
        let number = |name| legend.find("--at", name).map(|(number, _)| number);
        assert_eq!((number(None), number(Some("b")), number(Some("Timestamp"))), (Ok(2), Ok(1), Ok(1)));
        for name in ["B", "g", "filename", "time", "3"] {
            assert!(number(Some(name)).is_err(), "{name}");
        }
        assert!(Legend::of(b" CDX N b").unwrap().find("--url", None).is_err());
    }

    #[test]
    fn first_lines_without_a_legend_have_one_reading() {
        const SEVEN: &str = "b,a)/ 20240101000000 http://a.b/ text/html 200 X 5";
        let nine = format!("{SEVEN} 9 f.warc.gz");
        let eleven = format!("{nine} - -");
        for (lines, width) in [
            (vec![SEVEN], 7),
            (vec![SEVEN; 3], 7),
            (vec![&nine], 9),
            (vec!["dns:a.b 20240101000000 dns:a.b text/dns - X - 9 f", &nine], 9),
            (vec![&eleven], 11),
        ] {
            assert_eq!(
                Legend::of_rows(lines.iter().map(|line| line.as_bytes())).map(|legend| legend.letters.len()),
                Some(width)
            );
        }
        for lines in [
            vec![],
            vec![""],
            vec![SEVEN, &nine],
            vec![SEVEN, ""],
            vec!["b,a)/ 20240101000000 http://a.b/ text/html 200 X"],
            vec!["b,a)/ 2024010100000 http://a.b/ text/html 200 X 5"],
            vec!["b,a)/ 20240101000000 a.b/ text/html 200 X 5"],
            vec!["http://a.b/ 20240101000000 http://c.d/ text/html 200 X 5"],
            vec![" 20240101000000 http://a.b/ text/html 200 X 5"],
        ] {
            assert!(Legend::of_rows(lines.iter().map(|line| line.as_bytes())).is_none(), "{lines:?}");
        }
    }

    #[test]
    fn columns_with_one_letter_have_one_text() {
        // The legend of wget's --warc-cdx.
        let cdx = Legend::of(b" CDX a b a m").unwrap();
        let cdx = cdx.columns(vec![cdx.find("--url", None).unwrap().0, 1]);
        let mut cells = [None; 2];
        assert_eq!(cdx.read(b"u 20240101000000 u x", &mut cells), Ok(()));
        assert_eq!(cells, [Some(&b"u"[..]), Some(b"20240101000000")]);
        assert_eq!(cdx.read(b"u 20240101000000 v x", &mut cells), Err(Fault::TwoReadings));
        assert_eq!(cells, [None; 2]);
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
