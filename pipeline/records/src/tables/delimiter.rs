//! The delimiter between cells in a CSV row: given by the user, or detected from the first row.

use super::Wanted;
use super::csv::{COMMA, Records, RowKind, plain_cells};
use super::guess::{is_url, is_url_name};

/// Detected delimiters with their names, in the order in which they are tried.
const KNOWN: [(u8, &str); 4] = [(COMMA, "comma"), (b';', "semicolon"), (b'\t', "tab"), (b'|', "pipe")];

/// A delimiter that the user gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delimiter(pub u8);

impl Delimiter {
    /// Returns the delimiter with this name, or this byte itself.
    ///
    /// # Errors
    /// Returns an error if it is not one ASCII byte, or if it has another meaning in CSV.
    pub fn of_name(name: &str) -> Result<Delimiter, String> {
        if let Some((byte, _)) = KNOWN.iter().find(|(_, known)| name.eq_ignore_ascii_case(known)) {
            return Ok(Delimiter(*byte));
        }
        match name.as_bytes() {
            &[byte] if byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"\"\n\r\0".contains(&byte) => {
                Ok(Delimiter(byte))
            }
            _ => Err(
                "expected comma, semicolon, tab, pipe or one character that is neither a letter, a digit nor a quote"
                    .into(),
            ),
        }
    }
}

/// Formats a delimiter for messages.
pub fn shown_delimiter(delimiter: u8) -> String {
    let name = KNOWN.iter().find(|(byte, _)| *byte == delimiter).map(|(_, name)| format!("{name}s"));
    name.unwrap_or_else(|| format!("\"{}\"", delimiter.escape_ascii())) + " between cells"
}

/// Returns whether `start` contains the whole first row, for any delimiter that may apply.
pub fn has_first_row(start: &[u8], given: Option<Delimiter>) -> bool {
    let has_row = |delimiter| Records::new(delimiter).has_row(start);
    given.map_or_else(|| KNOWN.iter().all(|&(known, _)| has_row(known)), |given| has_row(given.0))
}

/// Returns the cells of the first row, which ends at the latest with `start`, and its length. Returns `None` if the row
/// has an unclosed quote or is too long.
pub fn cells_of(start: &[u8], delimiter: u8) -> Option<(Vec<Vec<u8>>, usize)> {
    let mut records = Records::new(delimiter);
    let row = records.row(start);
    match row.kind {
        RowKind::Plain => {
            let line = super::without_line_end(&start[..row.len]);
            Some((plain_cells(line, delimiter).map(<[u8]>::to_vec).collect(), row.len))
        }
        RowKind::Quoted => {
            Some(((0..).map_while(|number| records.cell(number).map(<[u8]>::to_vec)).collect(), row.len))
        }
        RowKind::Unclosed | RowKind::TooLong => None,
    }
}

/// Detects a CSV table's delimiter.
///
/// This is the first known delimiter that splits the first row into cells with all wanted columns, or else a comma.
///
/// # Errors
/// Returns an error if the row could be one URL, or a URL and other cells.
pub fn delimiter_of(start: &[u8], wanted: &[Wanted]) -> Result<u8, String> {
    let whole = cells_of(start, COMMA).map(|(cells, _)| cells).unwrap_or_default();
    let found = KNOWN.iter().find(|&&(byte, _)| {
        let cells = cells_of(start, byte).map(|(cells, _)| cells).filter(|cells| cells.len() > 1);
        cells.is_some_and(|cells| has_wanted(&cells, wanted))
    });
    let Some(&(byte, name)) = found else { return Ok(COMMA) };
    // URLs cannot contain tabs, but may contain the other delimiters.
    let may_be_a_url = byte != COMMA && byte != b'\t' && whole.len() == 1 && is_url(start);
    if may_be_a_url {
        let message = "the first row is a URL with the character";
        return Err(format!(
            "{message} {:?}: give --delimiter comma if that belongs to the URL, else --delimiter {name}",
            char::from(byte)
        ));
    }
    Ok(byte)
}

/// Returns whether a table's first row has the wanted columns.
fn has_wanted(row: &[Vec<u8>], wanted: &[Wanted]) -> bool {
    wanted.iter().all(|wanted| match &wanted.name {
        Some(name) => match name.parse::<usize>() {
            Ok(number) => (1..=row.len()).contains(&number),
            Err(_) => row.iter().any(|cell| cell.eq_ignore_ascii_case(name.as_bytes())),
        },
        None => {
            let count = |is_it: fn(&[u8]) -> bool| row.iter().filter(|cell| is_it(cell)).count();
            count(is_url_name) == 1 || count(is_url) == 1
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_recognized_by_the_first_row() {
        let cases: [(&str, Option<&str>, Option<u8>); 24] = [
            ("url,a;b\n", None, Some(b',')),
            ("a;url\n", None, Some(b';')),
            ("a\tURL\n", None, Some(b'\t')),
            ("a|uri|b\n", None, Some(b'|')),
            ("\"a;b\";\"url\"\n", None, Some(b';')),
            ("\"a,b\";\"url\"\n", None, Some(b';')),
            ("\"a\nb\"|url\r\n", None, Some(b'|')),
            ("1;https://a.example/\n", None, Some(b';')),
            ("https://a.example/,1\n", None, Some(b',')),
            ("https://a.example/\t1\n", None, Some(b'\t')),
            // The URL itself may contain the character.
            ("https://a.example/;1\n", None, None),
            ("https://a.example/|1\n", None, None),
            ("https://a.example/;1,2\n", None, Some(b',')),
            ("\"https://a.example/\";1\n", None, Some(b';')),
            ("https://a.example/\n", None, Some(b',')),
            ("url\n", None, Some(b',')),
            ("id;link\n", None, Some(b',')),
            ("id;link\n", Some("link"), Some(b';')),
            ("id;link\n", Some("LINK"), Some(b';')),
            ("id;link\n", Some("2"), Some(b';')),
            ("id;link\n", Some("3"), Some(b',')),
            ("id,x;link\n", Some("2"), Some(b',')),
            ("url;https://a.example/;https://b.example/\n", None, Some(b';')),
            ("\"url;x\n", None, Some(b',')),
        ];
        for (row, name, expected) in cases {
            let wanted = [Wanted { option: "--url-column", name: name.map(str::to_owned) }];
            let found = delimiter_of(row.as_bytes(), &wanted);
            assert_eq!(found.as_ref().ok(), expected.as_ref(), "{row} {name:?}");
        }
    }

    #[test]
    fn delimiters_have_names_or_are_one_character() {
        for (name, byte) in [
            ("comma", Some(b',')),
            ("Tab", Some(b'\t')),
            ("semicolon", Some(b';')),
            ("pipe", Some(b'|')),
            (";", Some(b';')),
            ("\t", Some(b'\t')),
            ("^", Some(b'^')),
            ("\x01", Some(1)),
            ("", None),
            ("\"", None),
            ("\n", None),
            ("\r", None),
            ("a", None),
            ("1", None),
            (";;", None),
            ("§", None),
        ] {
            assert_eq!(Delimiter::of_name(name).ok().map(|delimiter| delimiter.0), byte, "{name:?}");
        }
    }
}
