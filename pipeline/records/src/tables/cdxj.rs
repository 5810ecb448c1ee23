//! CDXJ, a web archive index. Each line has a key, a 14-digit time, and a JSON object that contains the URL.
//!
//! The key is the URL with its host labels in reverse order (SURT). It is ignored because it lacks the scheme.

use bumpalo::Bump;
use memchr::memchr;

use super::json::Fields;
use super::row::Fault;

/// The name of the time column, as index servers write it.
pub const TIMESTAMP: &str = "timestamp";

/// The locations of wanted cells in a line.
#[derive(Debug)]
pub struct Cdxj {
    /// The fields of the JSON object.
    pub fields: Fields,
    /// The cells that need the time.
    pub timestamps: Vec<usize>,
}

impl Cdxj {
    /// Stores a line's cells in `cells`. Text that differs from the line is allocated in `arena`.
    ///
    /// # Errors
    /// Returns the reason why the line has no cells.
    pub fn read<'b>(&self, line: &'b [u8], arena: &'b Bump, cells: &mut [Option<&'b [u8]>]) -> Result<(), Fault> {
        let (timestamp, object) = parts(line).ok_or(Fault::NotCdxj)?;
        self.fields.read(object, arena, cells)?;
        let timestamp = timestamp_of(timestamp);
        self.timestamps.iter().for_each(|&cell| cells[cell] = timestamp);
        Ok(())
    }
}

/// Returns the digits of a web archive's time.
///
/// A timestamp with milliseconds has three more digits. Ten digits would be read as seconds.
pub(super) fn timestamp_of(digits: &[u8]) -> Option<&[u8]> {
    match digits.len() {
        17 => digits.get(..14),
        4 | 6 | 8 | 12 | 14 => Some(digits),
        _ => None,
    }
}

/// Returns a line's time and object.
fn parts(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let key = memchr(b' ', line).filter(|&len| len > 0)?;
    let rest = &line[key + 1..];
    let (timestamp, object) = rest.split_at(memchr(b' ', rest)?);
    let is_time = !timestamp.is_empty() && timestamp.iter().all(u8::is_ascii_digit);
    is_time.then_some((timestamp, &object[1..]))
}

/// Returns whether this is a CDXJ line.
pub fn is_cdxj(line: &[u8]) -> bool {
    parts(line).is_some_and(|(_, object)| object.trim_ascii_start().starts_with(b"{"))
}

/// Returns whether a file's first line describes the file and not a URL, such as `!OpenWayback-CDXJ 1.0`.
pub fn is_header(line: &[u8]) -> bool {
    (line.starts_with(b"!") || line.starts_with(b"@") || line.starts_with(b" CDX")) && !is_cdxj(line)
}

/// Returns whether a line begins a CDXJ file.
pub fn is_marked(line: &[u8]) -> bool {
    line.starts_with(b"!OpenWayback-CDXJ") || line.starts_with(b" CDXJ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::MAX_CELLS;

    #[test]
    fn lines_have_a_key_a_time_and_an_object() {
        let fields = Fields::of_steps([vec!["url".to_owned()]]);
        let cdxj = Cdxj { fields, timestamps: vec![1] };
        let read = |line: &str| {
            let (arena, mut cells) = (Bump::new(), [None; MAX_CELLS]);
            let found = cdxj.read(line.as_bytes(), &arena, &mut cells);
            let text = |cell: Option<&[u8]>| cell.map(|cell| String::from_utf8_lossy(cell).into_owned());
            found.map(|()| (text(cells[0]), text(cells[1])))
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(read(r#"a,b)/ 20240101000000 {"x":1,"url":"u"}"#), Ok((some("u"), some("20240101000000"))));
        assert_eq!(read(r#"a,b)/ 2024 {"uri":"u"}"#), Ok((None, some("2024"))));
        assert_eq!(read(r#"a,b)/ 2024010112 {"url":"u"}"#), Ok((some("u"), None)));
        assert_eq!(read(r#"a,b)/ 20240101000000999 {"url":"u"}"#), Ok((some("u"), some("20240101000000"))));
        assert_eq!(read(r#"a,b)/ 2024 {"url":"u""#), Err(Fault::NotJson));
        assert_eq!(read("a,b)/ 2024 []"), Err(Fault::NotJson));
        for line in ["", " ", "a", "a 2024", "a {}", " 2024 {}", "a 20x4 {}", "a  {}", "!x 1.0"] {
            assert_eq!(read(line), Err(Fault::NotCdxj), "{line}");
        }
        assert!(is_cdxj(b"a 1 {}") && !is_cdxj(b"a 1 b") && !is_cdxj(b"{\"a\": 1 }"));
        assert!(is_header(b"!OpenWayback-CDXJ 1.0") && is_header(b"@x") && !is_header(b"!a 2024 {}"));
    }
}
