//! Extracts wanted fields from JSON Lines. The rest of a line is only checked to be JSON.
//!
//! Strings without escapes are returned as slices of the line. Numbers are returned as text. `true`, `false`, `null`,
//! lists and objects count as missing. A wanted field that appears twice, in any letter case, makes the line invalid,
//! because programs differ in which one counts.

use std::fmt::{self, Write as _};

use bumpalo::Bump;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::row::{Fault, MAX_RAW_CELLS};

/// Paths from an object to the wanted fields, stored as a tree because several may share a prefix.
#[derive(Debug, Default)]
pub struct Fields {
    /// The cells that need this field.
    cells: Vec<usize>,
    /// Child fields on the path to a wanted field, by name. In a list, the name is the index, from 0.
    inner: Vec<(String, Fields)>,
}

impl Fields {
    /// Creates the tree for these paths, in cell order.
    pub fn of_steps(all: impl IntoIterator<Item = Vec<String>>) -> Fields {
        Fields::of_cells(all.into_iter().enumerate())
    }

    /// Creates the tree for these cells and their paths. A cell without a path stays empty.
    pub fn of_cells(all: impl IntoIterator<Item = (usize, Vec<String>)>) -> Fields {
        let mut root = Fields::default();
        for (cell, steps) in all {
            let mut field = &mut root;
            for step in steps {
                let at = field.inner(&step).unwrap_or_else(|| {
                    field.inner.push((step, Fields::default()));
                    field.inner.len() - 1
                });
                field = &mut field.inner[at].1;
            }
            field.cells.push(cell);
        }
        root
    }

    /// Stores a line's fields in their cells.
    ///
    /// # Errors
    /// Returns an error if the line is not an object, or has a wanted field twice.
    pub fn read<'b>(&self, line: &'b [u8], arena: &'b Bump, cells: &mut [Option<&'b [u8]>]) -> Result<(), Fault> {
        let mut reader = serde_json::Deserializer::from_slice(line);
        let (mut found, mut has_twice) = ([None; MAX_RAW_CELLS], false);
        let at = FieldVisitor { fields: self, arena, cells: &mut found, has_twice: &mut has_twice };
        // Serde would also accept a list, element by element, but a line must be an object.
        let is_object = line.trim_ascii_start().first() == Some(&b'{');
        let is_read = is_object && at.deserialize(&mut reader).is_ok() && reader.end().is_ok();
        if !is_read || has_twice {
            return Err(if is_read { Fault::TwoFields } else { Fault::NotJson });
        }
        cells.iter_mut().zip(found).for_each(|(cell, found)| *cell = found);
        Ok(())
    }

    fn inner(&self, name: &str) -> Option<usize> {
        self.inner.iter().position(|(step, _)| step == name)
    }
}

/// Splits a field name into steps. A name that begins with `/` is a JSON pointer (RFC 6901). In other names, dots
/// separate the steps.
///
/// # Errors
/// Returns an error if a step is empty, or if a pointer contains a `~` that is neither `~0` nor `~1`.
pub fn steps(name: &str) -> Result<Vec<String>, String> {
    let Some(pointer) = name.strip_prefix('/') else {
        let steps: Vec<String> = name.split('.').map(str::to_owned).collect();
        let is_whole = steps.iter().all(|step| !step.is_empty());
        let hint =
            "expected names with dots between them, such as request.url, or a JSON pointer, such as /request/url";
        return if is_whole { Ok(steps) } else { Err(hint.into()) };
    };
    let unescaped = pointer.split('/').map(|step| {
        let rest = step.replace("~0", "").replace("~1", "");
        if rest.contains('~') {
            return Err("in a JSON pointer, ~ is written ~0 and / in a name is written ~1".to_owned());
        }
        Ok(step.replace("~1", "/").replace("~0", "~"))
    });
    unescaped.collect()
}

/// A visitor that stores a value's wanted fields in the cells.
struct FieldVisitor<'f, 'b, 'c> {
    fields: &'f Fields,
    arena: &'b Bump,
    cells: &'c mut [Option<&'b [u8]>; MAX_RAW_CELLS],
    /// Whether an object had a wanted field twice.
    has_twice: &'c mut bool,
}

impl<'b> FieldVisitor<'_, 'b, '_> {
    fn put(self, text: Option<&'b [u8]>) {
        for &cell in &self.fields.cells {
            self.cells[cell] = text;
        }
    }

    /// Stores a number as text.
    fn put_number(self, number: impl fmt::Display) {
        if self.fields.cells.is_empty() {
            return;
        }
        let mut text = bumpalo::collections::String::new_in(self.arena);
        // Writing to memory cannot fail.
        let _ = write!(text, "{number}");
        self.put(Some(text.into_bump_str().as_bytes()));
    }
}

impl<'b> DeserializeSeed<'b> for FieldVisitor<'_, 'b, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'b>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'b> Visitor<'b> for FieldVisitor<'_, 'b, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_borrowed_str<E>(self, text: &'b str) -> Result<(), E> {
        self.put(Some(text.as_bytes()));
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        if !self.fields.cells.is_empty() {
            let text = self.arena.alloc_slice_copy(text.as_bytes());
            self.put(Some(text));
        }
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.put_number(number);
        Ok(())
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.put_number(number);
        Ok(())
    }

    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        self.put_number(number);
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.put(None);
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.put(None);
        Ok(())
    }

    fn visit_map<A: MapAccess<'b>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = 0_u32;
        while let Some(key) = map.next_key_seed(FieldNameVisitor(self.fields))? {
            let Some((at, is_exact)) = key else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            *self.has_twice |= seen & 1 << at != 0;
            seen |= 1 << at;
            match is_exact {
                true => {
                    let fields = &self.fields.inner[at].1;
                    let (cells, has_twice) = (&mut *self.cells, &mut *self.has_twice);
                    map.next_value_seed(FieldVisitor { fields, arena: self.arena, cells, has_twice })?;
                }
                false => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        self.put(None);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'b>>(self, mut list: A) -> Result<(), A::Error> {
        for number in 0_usize.. {
            let inner = match &self.fields.inner[..] {
                [] => None,
                _ => self.fields.inner(&number.to_string()).map(|at| &self.fields.inner[at]),
            };
            let is_there = match inner {
                Some((_, fields)) => {
                    let (cells, has_twice) = (&mut *self.cells, &mut *self.has_twice);
                    let at = FieldVisitor { fields, arena: self.arena, cells, has_twice };
                    list.next_element_seed(at)?.is_some()
                }
                None => list.next_element::<IgnoredAny>()?.is_some(),
            };
            if !is_there {
                break;
            }
        }
        self.put(None);
        Ok(())
    }
}

/// A visitor that looks up a field name among the wanted fields. Returns the field's place, and whether the name has the
/// same letter case.
struct FieldNameVisitor<'f>(&'f Fields);

impl<'b> DeserializeSeed<'b> for FieldNameVisitor<'_> {
    type Value = Option<(usize, bool)>;

    fn deserialize<D: serde::Deserializer<'b>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_str(self)
    }
}

impl Visitor<'_> for FieldNameVisitor<'_> {
    type Value = Option<(usize, bool)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        let nearly = || self.0.inner.iter().position(|(step, _)| step.eq_ignore_ascii_case(name)).map(|at| (at, false));
        Ok(self.0.inner(name).map(|at| (at, true)).or_else(nearly))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::MAX_CELLS;

    fn read(line: &[u8], names: &[&str]) -> Option<Vec<Option<String>>> {
        let fields = Fields::of_steps(names.iter().map(|name| steps(name).unwrap()));
        let (arena, mut cells) = (Bump::new(), [None; MAX_CELLS]);
        let is_read = fields.read(line, &arena, &mut cells).is_ok();
        assert!(is_read || cells == [None; MAX_CELLS]);
        let text = |cell: &Option<&[u8]>| cell.map(|text| String::from_utf8(text.to_vec()).unwrap());
        is_read.then(|| cells[..names.len()].iter().map(text).collect())
    }

    #[test]
    fn wanted_fields_are_found() {
        type Case<'c> = (&'c str, &'c [&'c str], &'c [Option<&'c str>]);
        let cases: [Case<'_>; 13] = [
            (r#"{"url":"u"}"#, &["url"], &[Some("u")]),
            (r#" {"a":[1,{"url":"no"}],"url" : "u","z":null} "#, &["url"], &[Some("u")]),
            (r#"{"url":"a\u0009\"é"}"#, &["url"], &[Some("a\t\"é")]),
            (r#"{"u\u0072l":"u"}"#, &["url"], &[Some("u")]),
            (r#"{"request":{"url":"u","at":7}}"#, &["request.url", "/request/at"], &[Some("u"), Some("7")]),
            (r#"{"a/b~c":"u"}"#, &["/a~1b~0c"], &[Some("u")]),
            (r#"{"requests":[{"url":"a"},{"url":"b"}]}"#, &["requests.1.url"], &[Some("b")]),
            (r#"{"url":"u","t":-5,"f":1.5}"#, &["f", "t", "url"], &[Some("1.5"), Some("-5"), Some("u")]),
            (r#"{"url":null}"#, &["url"], &[None]),
            (r#"{"url":["u"]}"#, &["url"], &[None]),
            (r#"{"url":{"url":"u"}}"#, &["url", "url.url"], &[None, Some("u")]),
            (r#"{"url":true,"other":20260314150926}"#, &["url", "other"], &[None, Some("20260314150926")]),
            (r#"{}"#, &["url"], &[None]),
        ];
        for (line, names, expected) in cases {
            let found = read(line.as_bytes(), names).unwrap();
            assert_eq!(found.iter().map(Option::as_deref).collect::<Vec<_>>(), expected, "{line}");
        }
    }

    #[test]
    fn wanted_fields_occur_once() {
        let read = |line: &str, names: &[&str]| {
            let fields = Fields::of_steps(names.iter().map(|name| steps(name).unwrap()));
            fields.read(line.as_bytes(), &Bump::new(), &mut [None; MAX_CELLS])
        };
        let cases: [(&str, &[&str], bool); 9] = [
            (r#"{"url":"a","url":"b"}"#, &["url"], false),
            (r#"{"url":"a","url":"a"}"#, &["url"], false),
            (r#"{"url":"a","u\u0072l":null}"#, &["url"], false),
            (r#"{"url":"a","URL":"b"}"#, &["url"], false),
            (r#"{"Url":"a","url":"b"}"#, &["url"], false),
            (r#"{"r":{"url":"a"},"r":{"id":"b"}}"#, &["r.url"], false),
            (r#"{"r":{"url":"a","url":1}}"#, &["at", "r.url"], false),
            (r#"{"a":1,"a":2,"url":"a"}"#, &["url"], true),
            (r#"{"url":"a","r":{"url":"b"}}"#, &["url"], true),
        ];
        for (line, names, is_read) in cases {
            let expected = if is_read { Ok(()) } else { Err(Fault::TwoFields) };
            assert_eq!(read(line, names), expected, "{line}");
        }
    }

    #[test]
    fn lines_without_an_object_have_no_fields() {
        let deep = format!("{{\"url\":\"u\",\"x\":{}", "[".repeat(1 << 20));
        let closed = format!("{}{}}}", deep, "]".repeat(1 << 20));
        for line in [
            "",
            "x",
            "[\"u\"]",
            "\"u\"",
            "{",
            "{\"url\":\"u\"",
            "{\"url\":\"u\"}x",
            "{\"url\":\"\\ud800\"}",
            "{\"url\":u}",
            &deep,
        ] {
            assert_eq!(read(line.as_bytes(), &["url"]), None, "{}", &line[..line.len().min(40)]);
        }
        assert_eq!(read(b"{\"url\":\"\xff\"}", &["url"]), None);
        // Skipped values may be nested to any depth. Selected values may not.
        assert_eq!(read(closed.as_bytes(), &["url"]), Some(vec![Some("u".into())]));
    }

    #[test]
    fn empty_steps_and_invalid_pointers_are_errors() {
        for name in ["", ".", "a.", "a..b", "/a~2", "/a~"] {
            assert!(steps(name).is_err(), "{name}");
        }
        assert_eq!(steps("/").unwrap(), [""]);
        assert_eq!(steps("/a//b").unwrap(), ["a", "", "b"]);
    }
}
