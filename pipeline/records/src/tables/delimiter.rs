//! The delimiter between cells, as users name it and messages show it.

use super::csv::COMMA;

/// Delimiters with names. All but the last are [detected](super::columns).
const NAMED: [(u8, &str); 5] = [(COMMA, "comma"), (b';', "semicolon"), (b'\t', "tab"), (b'|', "pipe"), (b' ', "space")];

/// A byte between cells.
///
/// ```
/// use reptile_records::tables::Delimiter;
///
/// assert_eq!(Delimiter::of_name("tab"), Ok(Delimiter(b'\t')));
/// // Hive writes tables with this one.
/// assert_eq!(Delimiter::of_name(r"\x01"), Delimiter::of_name("^A"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delimiter(pub u8);

impl Delimiter {
    /// Returns the delimiter with this name, such as `tab`, `\x01` or `^A`, or this byte itself.
    ///
    /// # Errors
    /// Returns an error if it is not one ASCII byte, or if it has another meaning in CSV.
    pub fn of_name(name: &str) -> Result<Delimiter, String> {
        let named = NAMED.iter().find(|(_, known)| name.eq_ignore_ascii_case(known)).map(|&(byte, _)| byte);
        let byte = named.or_else(|| control(name)).or(match *name.as_bytes() {
            [byte] => Some(byte),
            _ => None,
        });
        let is_fit = |byte: &u8| byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"\"\\\n\r\0".contains(byte);
        byte.filter(is_fit).map(Delimiter).ok_or_else(|| {
            "expected comma, semicolon, tab, pipe, space, \\x01 or one character that is neither a letter, a digit, a \
             quote nor a backslash"
                .into()
        })
    }
}

/// Returns the delimiter that a first line declares, or `None` if it declares none.
///
/// Excel reads and writes such a line: exactly `sep=` and one of the [detected](super::columns) delimiters. Like a
/// header, the line comes from the program that wrote the table. It cannot be a row of a table with several columns,
/// because such a row has more cells.
pub(super) fn declared(line: &[u8]) -> Option<Delimiter> {
    match *line {
        [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', byte @ (COMMA | b';' | b'\t' | b'|')] => Some(Delimiter(byte)),
        _ => None,
    }
}

/// Returns the byte that `\x01`, `\t` or `^A` names.
fn control(name: &str) -> Option<u8> {
    match *name.as_bytes() {
        [b'\\', b'x' | b'X', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
            u8::from_str_radix(&name[2..], 16).ok()
        }
        [b'\\', b't'] => Some(b'\t'),
        [b'^', letter @ (b'@'..=b'_' | b'a'..=b'z')] => Some(letter & 0x1f),
        _ => None,
    }
}

/// Returns the name with which a user gives a delimiter.
pub fn name_of(delimiter: u8) -> String {
    let name = NAMED.iter().find(|(byte, _)| *byte == delimiter).map(|(_, name)| (*name).to_owned());
    name.unwrap_or_else(|| delimiter.escape_ascii().to_string())
}

/// Formats a delimiter for messages.
pub fn shown_delimiter(delimiter: u8) -> String {
    let name = NAMED.iter().find(|(byte, _)| *byte == delimiter).map(|(_, name)| format!("{name}s"));
    name.unwrap_or_else(|| format!("\"{}\"", delimiter.escape_ascii())) + " between cells"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_have_names_or_are_one_character() {
        for (name, byte) in [
            ("comma", Some(b',')),
            ("Tab", Some(b'\t')),
            ("semicolon", Some(b';')),
            ("pipe", Some(b'|')),
            ("space", Some(b' ')),
            (" ", Some(b' ')),
            (";", Some(b';')),
            ("\t", Some(b'\t')),
            ("\\t", Some(b'\t')),
            ("^", Some(b'^')),
            ("\x01", Some(1)),
            ("\\x01", Some(1)),
            ("\\X1f", Some(0x1f)),
            ("^A", Some(1)),
            ("^_", Some(0x1f)),
            ("\\x3B", Some(b';')),
            ("\\x41", None),
            ("\\x0a", None),
            ("\\x00", None),
            ("\\xff", None),
            ("\\x1", None),
            ("\\x+1", None),
            ("^J", None),
            ("^1", None),
            ("", None),
            ("\"", None),
            ("\\", None),
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
