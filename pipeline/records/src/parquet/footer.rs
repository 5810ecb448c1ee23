//! Checks a Parquet footer's shape before the crate `parquet` reads it.
//!
//! The crate builds the schema recursively, at any depth, and reserves memory for as many elements as a list or a group
//! declares. So the footer is walked here first, in Thrift's compact protocol. This pass keeps only the shape; the
//! crate reads the meaning.

use super::encoding::Encoding;
use super::limits::{
    MAX_CHUNKS, MAX_FOOTER_STRUCTS, MAX_NESTING, MAX_PATH_BYTES, MAX_ROW_GROUPS, MAX_SCHEMA_DEPTH, MAX_SCHEMA_ELEMENTS,
    NAME_BYTES,
};
use crate::batches::limits::within;

/// Field numbers in the footer.
mod fields {
    /// The list of schema elements.
    pub const SCHEMA: i32 = 2;
    /// The list of row groups.
    pub const ROW_GROUPS: i32 = 4;
    /// The file's encryption, if the footer itself is not encrypted.
    pub const ENCRYPTION: i32 = 8;
    /// In a schema element: its name.
    pub const NAME: i32 = 4;
    /// In a schema element: the number of its children.
    pub const CHILDREN: i32 = 5;
    /// In a row group: the list of column chunks.
    pub const CHUNKS: i32 = 1;
    /// In a column chunk: the path to another file that holds it.
    pub const FILE_PATH: i32 = 1;
    /// In a column chunk: its metadata.
    pub const METADATA: i32 = 3;
    /// In column metadata: the encoding list.
    pub const ENCODINGS: i32 = 2;
    /// In column metadata: the compression.
    pub const CODEC: i32 = 4;
}

/// The highest codec number in the format.
const LAST_CODEC: i32 = 7;

/// The error for a footer that ends early, or has an unknown value type.
const DAMAGED: &str = "is a damaged Parquet file: its footer is damaged";

/// The error for an encrypted file.
pub const ENCRYPTED: &str = "is an encrypted Parquet file, which is not read; write it without encryption";

/// Type numbers in the compact protocol.
pub mod types {
    pub const BYTE: u8 = 3;
    pub const DOUBLE: u8 = 7;
    pub const BINARY: u8 = 8;
    pub const LIST: u8 = 9;
    pub const SET: u8 = 10;
    pub const STRUCT: u8 = 12;
    pub const UUID: u8 = 13;
}

/// Checks a footer's shape, given without its length and its magic bytes.
///
/// Time: linear in the footer. Memory: [`MAX_SCHEMA_DEPTH`] numbers.
///
/// # Errors
/// Returns an error if the footer ends early, has an unknown value type, or exceeds a limit, or if it describes
/// anything encrypted, unknown, or in other files. The error's text continues a sentence that begins with the file's
/// path.
pub fn check(footer: &[u8]) -> Result<(), String> {
    let mut skim = Skim { rest: footer };
    let (mut id, mut counts) = (0, FooterCounts::default());
    while let Some((kind, number)) = skim.field(id).ok_or(DAMAGED)? {
        id = number;
        match (number, kind) {
            (fields::SCHEMA, types::LIST) => skim.schema()?,
            (fields::ROW_GROUPS, types::LIST) => skim.row_groups(&mut counts)?,
            (fields::ENCRYPTION, types::STRUCT) => return Err(ENCRYPTED.into()),
            _ => skim.skip(kind, MAX_NESTING, &mut counts.structs).ok_or(DAMAGED)?,
        }
        counts.check()?;
    }
    Ok(())
}

/// Element counts in a footer's lists.
#[derive(Default)]
struct FooterCounts {
    row_groups: u64,
    chunks: u64,
    structs: u64,
}

impl FooterCounts {
    /// Returns an error if a count exceeds its limit.
    fn check(&self) -> Result<(), String> {
        let what = |what: &'static str| move || format!("cannot be read: {what} in its footer:");
        within(what("row groups"), self.row_groups, MAX_ROW_GROUPS)?;
        within(what("column chunks"), self.chunks, MAX_CHUNKS)?;
        within(what("structs"), self.structs, MAX_FOOTER_STRUCTS)
    }
}

/// Reads a variable-length number, as used in page headers and footers: seven bits per byte, lowest bits first. Returns
/// `None` if it does not end.
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

/// The unread part of a footer or header.
pub struct Skim<'b> {
    /// The remaining bytes.
    pub rest: &'b [u8],
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

    /// Reads a signed number.
    pub fn signed(&mut self) -> Option<i32> {
        let number = self.number()?;
        i32::try_from((number >> 1) as i64 ^ -((number & 1) as i64)).ok()
    }

    /// Reads the next field's type and number after the field `last`. Returns `Some(None)` at the struct's end.
    pub fn field(&mut self, last: i32) -> Option<Option<(u8, i32)>> {
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

    /// Reads a list's element type and length.
    fn list(&mut self) -> Option<(u8, u64)> {
        let byte = self.byte()?;
        let len = if byte >> 4 == 15 { self.number()? } else { u64::from(byte >> 4) };
        Some((byte & 15, len))
    }

    /// Reads the numbers of a struct's fields 1 to `N`, with flags as 0 and 1. Returns `None` if a field is repeated.
    pub fn numbers<const N: usize>(&mut self) -> Option<[Option<i32>; N]> {
        let (mut id, mut numbers) = (0, [None; N]);
        while let Some((kind, field)) = self.field(id)? {
            id = field;
            let slot = usize::try_from(field).ok().and_then(|field| numbers.get_mut(field.checked_sub(1)?));
            let number = match (slot.is_some(), kind) {
                (true, 1 | 2) => i32::from(kind == 1),
                (true, 4..=6) => self.signed()?,
                _ => {
                    self.skip_any(kind)?;
                    continue;
                }
            };
            if slot?.replace(number).is_some() {
                return None;
            }
        }
        Some(numbers)
    }

    /// Skips a field's value.
    pub fn skip_any(&mut self, kind: u8) -> Option<()> {
        self.skip(kind, MAX_NESTING, &mut 0)
    }

    /// Skips a value, and counts structs in lists. A flag field has no bytes, because its type contains its value.
    fn skip(&mut self, kind: u8, nesting: usize, structs: &mut u64) -> Option<()> {
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
                if kind == types::STRUCT {
                    *structs = structs.saturating_add(len);
                }
                // The crate takes flags in lists for empty values, and reads their bytes as the next field, which may
                // claim two billion flags. Valid footers and page headers have flags in fields only.
                if matches!(kind, 1 | 2) && len > 0 {
                    return None;
                }
                // Each element has at least one byte.
                for _ in 0..len {
                    self.skip(kind, nesting.checked_sub(1)?, structs)?;
                }
                Some(())
            }
            types::STRUCT => {
                let nesting = nesting.checked_sub(1)?;
                let mut id = 0;
                while let Some((kind, number)) = self.field(id)? {
                    id = number;
                    self.skip(kind, nesting, structs)?;
                }
                Some(())
            }
            // Footers have no maps.
            _ => None,
        }
    }

    /// Walks the schema elements. Each group is followed by its children.
    fn schema(&mut self) -> Result<(), String> {
        let damaged = "is a damaged Parquet file: the schema in its footer is damaged";
        let (kind, len) = self.list().ok_or(damaged)?;
        within(|| "cannot be read: elements of its schema:".into(), len, MAX_SCHEMA_ELEMENTS as u64)?;
        if kind != types::STRUCT {
            return Err(damaged.into());
        }
        // For each open group: the remaining children, and the path length in bytes.
        let mut open: Vec<(u64, u64)> = Vec::new();
        let mut path_bytes = 0_u64;
        for number in 0..len {
            let (name, children) = self.element().ok_or(damaged)?;
            // The crate reserves memory for all children that a group declares.
            if children >= len - number && children > 0 {
                return Err(damaged.into());
            }
            while open.pop_if(|(left, _)| *left == 0).is_some() {}
            let mut path = name.saturating_add(NAME_BYTES);
            if let Some((left, before)) = open.last_mut() {
                *left -= 1;
                path = path.saturating_add(*before);
            }
            if children > 0 {
                open.push((children, path));
            } else {
                // Each column's path repeats its groups' names.
                path_bytes = path_bytes.saturating_add(path);
            }
            within(
                || "cannot be read: groups within groups in its schema:".into(),
                open.len() as u64,
                MAX_SCHEMA_DEPTH as u64,
            )?;
            within(|| "cannot be read: bytes of the names in its schema:".into(), path_bytes, MAX_PATH_BYTES)?;
        }
        Ok(())
    }

    /// Skips a schema element. Returns its name's length in bytes, and the number of its children.
    fn element(&mut self) -> Option<(u64, u64)> {
        let (mut id, mut name, mut children) = (0, 0, 0);
        while let Some((kind, number)) = self.field(id)? {
            id = number;
            match (number, kind) {
                (fields::CHILDREN, 4..=6) => children = u64::try_from(self.signed()?).ok()?,
                (fields::NAME, types::BINARY) => {
                    name = self.number()?;
                    self.bytes(name)?;
                }
                _ => self.skip_any(kind)?,
            }
        }
        Some((name, children))
    }

    /// Walks a list of structs. Calls `walk` for each field that `skip` does not skip.
    fn structs(
        &mut self,
        counted: impl FnOnce(u64) -> Result<(), String>,
        mut walk: impl FnMut(&mut Self, u8, i32) -> Result<bool, String>,
    ) -> Result<(), String> {
        let (kind, len) = self.list().ok_or(DAMAGED)?;
        if kind != types::STRUCT && len > 0 {
            return Err(DAMAGED.into());
        }
        counted(len)?;
        for _ in 0..len {
            self.fields(&mut walk)?;
        }
        Ok(())
    }

    /// Walks a struct's fields. `walk` returns whether it has consumed a field's value; otherwise the value is skipped.
    fn fields(&mut self, mut walk: impl FnMut(&mut Self, u8, i32) -> Result<bool, String>) -> Result<(), String> {
        let mut id = 0;
        while let Some((kind, number)) = self.field(id).ok_or(DAMAGED)? {
            id = number;
            if !walk(self, kind, number)? {
                self.skip_any(kind).ok_or(DAMAGED)?;
            }
        }
        Ok(())
    }

    /// Walks the list of row groups.
    fn row_groups(&mut self, counts: &mut FooterCounts) -> Result<(), String> {
        let FooterCounts { row_groups, chunks, structs } = counts;
        let count = |len: u64| {
            *row_groups = row_groups.saturating_add(len);
            FooterCounts { row_groups: *row_groups, ..FooterCounts::default() }.check()
        };
        self.structs(count, |skim, kind, number| {
            if (number, kind) != (fields::CHUNKS, types::LIST) {
                skim.skip(kind, MAX_NESTING, structs).ok_or(DAMAGED)?;
                FooterCounts { structs: *structs, ..FooterCounts::default() }.check()?;
                return Ok(true);
            }
            let count = |len: u64| {
                *chunks = chunks.saturating_add(len);
                FooterCounts { chunks: *chunks, ..FooterCounts::default() }.check()
            };
            skim.structs(count, |skim, kind, number| skim.chunk_field(kind, number, structs))?;
            Ok(true)
        })
    }

    /// Checks a field in a column chunk.
    fn chunk_field(&mut self, kind: u8, number: i32, structs: &mut u64) -> Result<bool, String> {
        match (number, kind) {
            (fields::FILE_PATH, types::BINARY) => {
                let len = self.number().ok_or(DAMAGED)?;
                self.bytes(len).ok_or(DAMAGED)?;
                if len > 0 {
                    return Err("has its columns in other files, as a file _metadata has; give those files".into());
                }
                Ok(true)
            }
            (fields::METADATA, types::STRUCT) => {
                self.fields(|skim, kind, number| skim.metadata_field(kind, number, structs))?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Checks a field in column metadata.
    fn metadata_field(&mut self, kind: u8, number: i32, structs: &mut u64) -> Result<bool, String> {
        match (number, kind) {
            (fields::ENCODINGS, types::LIST) => {
                let (kind, len) = self.list().ok_or(DAMAGED)?;
                if !(4..=6).contains(&kind) && len > 0 {
                    return Err(DAMAGED.into());
                }
                for _ in 0..len {
                    let number = self.signed().ok_or(DAMAGED)?;
                    Encoding::of(number).map_err(|error| format!("cannot be read: {error}"))?;
                }
            }
            (fields::CODEC, 4..=6) => {
                let codec = self.signed().ok_or(DAMAGED)?;
                if !(0..=LAST_CODEC).contains(&codec) {
                    return Err(format!(
                        "cannot be read: a column has the compression {codec}, which is not known; it may be of a newer format"
                    ));
                }
            }
            _ => {
                self.skip(kind, MAX_NESTING, structs).ok_or(DAMAGED)?;
                FooterCounts { structs: *structs, ..FooterCounts::default() }.check()?;
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a footer whose schema has `groups` groups, each inside the previous one.
    fn chain(groups: usize) -> Vec<u8> {
        let mut footer = vec![0x15, 2, 0x19];
        footer.extend(list_header(groups + 1));
        for _ in 0..groups {
            // A one-byte name, and one child.
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
    fn schemas_nested_too_deeply_are_rejected() {
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
    fn schemas_with_too_many_elements_are_rejected() {
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
    fn structs_nested_too_deeply_are_rejected() {
        for (structs, fits) in [(1, true), (MAX_NESTING - 1, true), (MAX_NESTING, true), (MAX_NESTING + 1, false)] {
            // Field 9 is a struct, its first field is a struct, and so on.
            let mut footer = vec![0x9c];
            footer.extend(vec![0x1c; structs - 1]);
            footer.extend(vec![0; structs + 1]);
            assert_eq!(check(&footer).is_ok(), fits, "{structs}");
        }
    }

    /// The crate would read the flags themselves as the next field, which may be a list of two billion flags.
    #[test]
    fn lists_of_flags_are_rejected() {
        for (footer, fits) in [
            (&[0x99, 0x20 | types::BYTE, 1, 1, 0][..], true),
            (&[0x99, 0x01, 0], true),
            (&[0x99, 0x02, 0], true),
            (&[0x99, 0x11, 1, 0], false),
            (&[0x99, 0x22, 1, 2, 0], false),
            // In a list of lists.
            (&[0x99, 0x10 | types::LIST, 0x11, 1, 0], false),
        ] {
            assert_eq!(check(footer).is_ok(), fits, "{footer:x?}");
        }
    }

    /// Returns a footer whose field `number` lists `len` identical structs.
    fn list_of(number: u8, len: usize, element: &[u8]) -> Vec<u8> {
        let mut footer = vec![number << 4 | types::LIST];
        footer.extend(list_header(len));
        footer.extend(element.repeat(len));
        footer.push(0);
        footer
    }

    #[test]
    fn lists_over_their_limits_are_rejected() {
        // An empty row group, a row group with 100 empty chunks, and a metadata pair.
        let chunks = [&[0x19, 0xfc, 100][..], &[0; 100], &[0]].concat();
        for (number, element, per, limit) in
            [(4, &[0][..], 1, MAX_ROW_GROUPS), (4, &chunks, 100, MAX_CHUNKS), (5, &[0], 1, MAX_FOOTER_STRUCTS)]
        {
            let edge = limit / per;
            for (len, fits) in [(edge - 1, true), (edge, true), (edge + 1, false)] {
                assert_eq!(check(&list_of(number, len as usize, element)).is_ok(), fits, "{number} {limit} {len}");
            }
        }
    }

    /// Tests that a column's path includes its groups' names, since short names may add up to long paths.
    #[test]
    fn column_paths_over_the_limit_are_rejected() {
        let columns = 1_000;
        let root = MAX_PATH_BYTES / columns - 1 - 2 * NAME_BYTES;
        for (name, fits) in [(root - 1, true), (root, true), (root + 1, false)] {
            let mut footer = vec![0x19];
            footer.extend(list_header(columns as usize + 1));
            footer.extend([0x48, name as u8 | 0x80, (name >> 7) as u8 | 0x80, (name >> 14) as u8]);
            footer.extend(vec![b'g'; name as usize]);
            footer.extend([0x15, 0xd0, 0x0f, 0]);
            footer.extend([0x48, 1, b'c', 0].repeat(columns as usize));
            footer.push(0);
            // The list is field 2.
            footer[0] = 0x29;
            assert_eq!(check(&footer).is_ok(), fits, "{name} {:?}", check(&footer));
        }
    }

    #[test]
    fn groups_with_more_children_than_elements_are_rejected() {
        // A group that declares 2, 1 and 2^30 children, and one column.
        for (children, fits) in [(&[4][..], false), (&[2], true), (&[0x80, 0x80, 0x80, 0x80, 8], false)] {
            let footer = [&[0x29, 0x2c, 0x48, 1, b'g', 0x15][..], children, &[0, 0x48, 1, b'c', 0, 0]].concat();
            assert_eq!(check(&footer).is_ok(), fits, "{children:?}");
        }
    }

    #[test]
    fn unknown_encodings_and_codecs_are_named() {
        // A row group with an encoding in its chunk's metadata, and another with a compression.
        let chunk = |metadata: &[u8]| list_of(4, 1, &[&[0x19, 0x1c, 0x3c][..], metadata, &[0, 0, 0]].concat());
        for (metadata, says) in [
            (&[0x29, 0x15, 20][..], None),
            (&[0x29, 0x15, 22], Some("the encoding 11, which is not known; it may be of a newer format")),
            (&[0x45, 14], None),
            (&[0x45, 16], Some("the compression 8, which is not known; it may be of a newer format")),
        ] {
            let found = check(&chunk(metadata));
            assert_eq!(found.is_ok(), says.is_none(), "{found:?}");
            assert!(says.is_none_or(|says| found.unwrap_err().contains(says)));
        }
    }

    #[test]
    fn truncated_footers_are_rejected() {
        let whole = chain(3);
        assert_eq!(check(&whole), Ok(()));
        for len in 0..whole.len() {
            assert!(check(&whole[..len]).is_err(), "{len}");
        }
        // A list that declares more elements than there are bytes.
        assert!(check(&[0x39, 0xf5, 0xff, 0xff, 0xff, 0xff, 0x0f]).is_err());
    }
}
