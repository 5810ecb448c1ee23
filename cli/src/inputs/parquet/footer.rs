//! The shape of a Parquet footer and of a page header, looked at before the crate `parquet` reads them.
//!
//! That crate builds the schema by recursion, however deep it is, and reserves the memory that a page header says the page
//! needs. So both are walked here first, in the compact protocol of Thrift, and only their shape and sizes are kept. What
//! they mean is read by the crate.

/// The most levels of groups within groups in a schema.
pub const MAX_SCHEMA_DEPTH: usize = 64;

/// The most elements of a schema: columns, and the groups that they are in.
pub const MAX_SCHEMA_ELEMENTS: usize = 100_000;

/// The most levels of structs and lists within one element of the footer.
const MAX_NESTING: usize = 32;

/// The field of the footer that holds the list of schema elements.
const SCHEMA: i32 = 2;

/// The field of a page header that holds the size of the unpacked page.
const UNPACKED: i32 = 2;

/// The field of a page header that holds the size of the packed page.
const PACKED: i32 = 3;

/// The field of a schema element that holds the number of its children.
const CHILDREN: i32 = 5;

/// The number of a type in the compact protocol.
mod types {
    pub const BYTE: u8 = 3;
    pub const DOUBLE: u8 = 7;
    pub const BINARY: u8 = 8;
    pub const LIST: u8 = 9;
    pub const SET: u8 = 10;
    pub const STRUCT: u8 = 12;
    pub const UUID: u8 = 13;
}

/// Checks the shape of the schema in a footer, without its length and its magic bytes.
///
/// Time: linear in the footer. Memory: [`MAX_SCHEMA_DEPTH`] numbers.
///
/// # Errors
/// If the footer ends early or has a type of value that no footer has, or if its schema is larger or deeper than the
/// limits.
pub fn check(footer: &[u8]) -> Result<(), String> {
    let mut skim = Skim { rest: footer };
    let mut id = 0;
    while let Some((kind, number)) = skim.field(id).ok_or("its footer is damaged")? {
        id = number;
        match (number, kind) {
            (SCHEMA, types::LIST) => skim.schema()?,
            _ => skim.skip(kind, MAX_NESTING).ok_or("its footer is damaged")?,
        }
    }
    Ok(())
}

/// The bytes of a page, as its header says them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSizes {
    /// The header itself.
    pub header: u64,
    /// The rest of the page, unpacked.
    pub unpacked: u64,
    /// The same as it is in the file.
    pub packed: u64,
}

/// The unpacked and the packed size that a page header gives. `None` if the header is damaged, gives a size twice, or
/// does not end in these bytes.
///
/// Time: linear in the bytes.
pub fn page_sizes(header: &[u8]) -> Option<PageSizes> {
    let mut skim = Skim { rest: header };
    let (mut id, mut sizes) = (0, [None; 2]);
    while let Some((kind, number)) = skim.field(id)? {
        id = number;
        match (number, kind) {
            (UNPACKED | PACKED, 4..=6) => {
                let size = u64::try_from(skim.signed()?).ok()?;
                let known = sizes[usize::from(number == PACKED)].replace(size);
                if known.is_some() {
                    return None;
                }
            }
            _ => skim.skip(kind, MAX_NESTING)?,
        }
    }
    Some(PageSizes { header: (header.len() - skim.rest.len()) as u64, unpacked: sizes[0]?, packed: sizes[1]? })
}

/// Takes a number in the form that has as many bytes as it needs, which headers and pages share: seven bits in each byte,
/// the lowest first. `None` if it does not end.
pub fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = *rest.split_off_first()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// What is left of a footer or a header.
struct Skim<'b> {
    rest: &'b [u8],
}

impl Skim<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    fn bytes(&mut self, len: u64) -> Option<()> {
        self.rest = self.rest.get(usize::try_from(len).ok()?..)?;
        Some(())
    }

    fn number(&mut self) -> Option<u64> {
        varint(&mut self.rest)
    }

    fn signed(&mut self) -> Option<i32> {
        let number = self.number()?;
        i32::try_from((number >> 1) as i64 ^ -((number & 1) as i64)).ok()
    }

    /// The type and the number of the next field of a struct, whose field before was `last`; `Some(None)` at its end.
    fn field(&mut self, last: i32) -> Option<Option<(u8, i32)>> {
        let byte = self.byte()?;
        if byte == 0 {
            return Some(None);
        }
        let id = match byte >> 4 {
            0 => self.signed()?,
            delta => last.checked_add(i32::from(delta))?,
        };
        Some(Some((byte & 15, id)))
    }

    /// The type of the elements of a list, and how many there are.
    fn list(&mut self) -> Option<(u8, u64)> {
        let byte = self.byte()?;
        let len = if byte >> 4 == 15 { self.number()? } else { u64::from(byte >> 4) };
        Some((byte & 15, len))
    }

    /// Skips a value. A flag in a field is in the type of the field, and has no bytes.
    fn skip(&mut self, kind: u8, nesting: usize) -> Option<()> {
        match kind {
            1 | 2 => Some(()),
            types::BYTE => self.bytes(1),
            types::DOUBLE => self.bytes(8),
            types::UUID => self.bytes(16),
            4..=6 => self.number().map(drop),
            types::BINARY => {
                let len = self.number()?;
                self.bytes(len)
            }
            types::LIST | types::SET => {
                let (kind, len) = self.list()?;
                // Each element has a byte at least, flags in lists included.
                for _ in 0..len {
                    match kind {
                        1 | 2 => self.bytes(1)?,
                        _ => self.skip(kind, nesting.checked_sub(1)?)?,
                    }
                }
                Some(())
            }
            types::STRUCT => {
                let nesting = nesting.checked_sub(1)?;
                let mut id = 0;
                while let Some((kind, number)) = self.field(id)? {
                    id = number;
                    self.skip(kind, nesting)?;
                }
                Some(())
            }
            // Footers have no maps.
            _ => None,
        }
    }

    /// Walks the list of schema elements, in which each group is followed by its children.
    fn schema(&mut self) -> Result<(), String> {
        let damaged = "the schema in its footer is damaged";
        let (kind, len) = self.list().ok_or(damaged)?;
        if len > MAX_SCHEMA_ELEMENTS as u64 {
            return Err(format!("its schema has {len} elements; the limit is {MAX_SCHEMA_ELEMENTS}"));
        }
        if kind != types::STRUCT {
            return Err(damaged.into());
        }
        // How many children of each open group are still to come.
        let mut open: Vec<u64> = Vec::new();
        for _ in 0..len {
            let children = self.element().ok_or(damaged)?;
            while open.pop_if(|left| *left == 0).is_some() {}
            if let Some(left) = open.last_mut() {
                *left -= 1;
            }
            if children > 0 {
                open.push(children);
            }
            if open.len() > MAX_SCHEMA_DEPTH {
                return Err(format!("its schema has more than {MAX_SCHEMA_DEPTH} groups within groups"));
            }
        }
        Ok(())
    }

    /// Skips a schema element. Returns the number of its children.
    fn element(&mut self) -> Option<u64> {
        let (mut id, mut children) = (0, 0);
        while let Some((kind, number)) = self.field(id)? {
            id = number;
            match (number, kind) {
                (CHILDREN, 4..=6) => children = u64::try_from(self.signed()?).ok()?,
                _ => self.skip(kind, MAX_NESTING)?,
            }
        }
        Some(children)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A footer whose schema is a chain of so many groups, each in the one before.
    fn chain(groups: usize) -> Vec<u8> {
        let mut footer = vec![0x15, 2, 0x19];
        footer.extend(list_header(groups + 1));
        for _ in 0..groups {
            // A name of one byte, and one child.
            footer.extend([0x48, 1, b'g', 0x15, 2, 0]);
        }
        footer.extend([0x48, 1, b'c', 0, 0]);
        footer
    }

    fn list_header(mut len: usize) -> Vec<u8> {
        let mut header = vec![0xf0 | types::STRUCT];
        while len > 0x7f {
            header.push(len as u8 | 0x80);
            len >>= 7;
        }
        header.push(len as u8);
        header
    }

    #[test]
    fn the_limit_of_the_depth_holds_at_its_edges() {
        for (groups, fits) in [
            (0, true),
            (1, true),
            (MAX_SCHEMA_DEPTH - 1, true),
            (MAX_SCHEMA_DEPTH, true),
            (MAX_SCHEMA_DEPTH + 1, false),
            (90_000, false),
        ] {
            assert_eq!(check(&chain(groups)).is_ok(), fits, "{groups}");
        }
    }

    #[test]
    fn the_limit_of_the_elements_holds_at_its_edges() {
        for (len, fits) in
            [(MAX_SCHEMA_ELEMENTS - 1, true), (MAX_SCHEMA_ELEMENTS, true), (MAX_SCHEMA_ELEMENTS + 1, false)]
        {
            let mut footer = vec![0x15, 2, 0x19];
            footer.extend(list_header(len));
            footer.extend([0x48, 1, b'c', 0].repeat(len));
            footer.push(0);
            assert_eq!(check(&footer).is_ok(), fits, "{len}");
        }
    }

    #[test]
    fn the_limit_of_the_nesting_holds_at_its_edges() {
        for (structs, fits) in [(1, true), (MAX_NESTING - 1, true), (MAX_NESTING, true), (MAX_NESTING + 1, false)] {
            // Field 9 is a struct, whose first field is a struct, and so on.
            let mut footer = vec![0x9c];
            footer.extend(vec![0x1c; structs - 1]);
            footer.extend(vec![0; structs + 1]);
            assert_eq!(check(&footer).is_ok(), fits, "{structs}");
        }
    }

    #[test]
    fn a_page_header_gives_each_size_once() {
        // Type 0, 300 bytes unpacked, 200 packed, and a struct with one number.
        let header = [0x15, 0, 0x15, 0xd8, 4, 0x15, 0x90, 3, 0x2c, 0x15, 2, 0, 0];
        let sizes = PageSizes { header: header.len() as u64, unpacked: 300, packed: 200 };
        assert_eq!(page_sizes(&header), Some(sizes));
        assert_eq!(page_sizes(&[&header[..], b"the page"].concat()), Some(sizes));
        for len in 0..header.len() {
            assert_eq!(page_sizes(&header[..len]), None, "{len}");
        }
        let twice = [&header[..8], &[5, 4, 0x90, 3, 0]].concat();
        assert_eq!(page_sizes(&twice), None);
        // Fewer than no bytes.
        assert_eq!(page_sizes(&[0x15, 0, 0x15, 1, 0x15, 2, 0]), None);
    }

    #[test]
    fn a_footer_that_ends_early_is_damaged() {
        let whole = chain(3);
        assert_eq!(check(&whole), Ok(()));
        for len in 0..whole.len() {
            assert!(check(&whole[..len]).is_err(), "{len}");
        }
        // A list that says it has more elements than there are bytes.
        assert!(check(&[0x39, 0xf5, 0xff, 0xff, 0xff, 0xff, 0x0f]).is_err());
    }
}
