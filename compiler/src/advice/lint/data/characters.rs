//! Characters that are invisible or look like others, with their names in Unicode, in order.

use std::sync::LazyLock;

use self::Kind::{Bullet, Invisible, Letter, Mark, Quote, Space};

/// A character that is easily overlooked or mistaken for another.
#[derive(Debug)]
pub(in super::super) struct Odd {
    pub(in super::super) character: char,
    pub(in super::super) kind: Kind,
    /// The ASCII text that it looks like. Empty if it is invisible.
    pub(in super::super) ascii: &'static str,
    /// The Unicode name.
    pub(in super::super) name: &'static str,
}

/// The kind of an odd character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Kind {
    Invisible,
    Space,
    Quote,
    /// Other punctuation, such as a dash.
    Mark,
    /// The mark of an item in a list.
    Bullet,
    /// A letter or a digit of another alphabet. It is odd only next to Latin letters.
    Letter,
}

/// The characters that findings name, in order. In WebAssembly, a text is much shorter than a table with addresses.
pub(in super::super) static CHARACTERS: LazyLock<Vec<Odd>> = LazyLock::new(|| TEXT.lines().filter_map(odd).collect());

/// A line for each character: the code point, the kind, the name, and the ASCII text in quotation marks.
pub(in super::super) const TEXT: &str = include_str!("characters.txt");

fn odd(line: &'static str) -> Option<Odd> {
    let (code_point, rest) = line.split_once(' ')?;
    let (kind, rest) = rest.split_once(' ')?;
    let (name, ascii) = rest.split_once('"')?;
    let kind = match kind {
        "invisible" => Invisible,
        "space" => Space,
        "quote" => Quote,
        "mark" => Mark,
        "bullet" => Bullet,
        "letter" => Letter,
        _ => return None,
    };
    let character = char::from_u32(u32::from_str_radix(code_point, 16).ok()?)?;
    Some(Odd { character, kind, ascii: ascii.strip_suffix('"')?, name: name.strip_suffix(' ')? })
}
