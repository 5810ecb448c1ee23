//! Tables with named and typed columns, such as Parquet and Arrow IPC: their columns by name, and messages about them.

use super::is_url_name;
use crate::batches::cells::Class;
use crate::shown::{listed, shown};

/// A result whose error text continues a sentence that begins with the table's path.
type MessageResult<T> = std::result::Result<T, String>;

/// A table with named and typed columns.
pub(crate) trait NamedColumns {
    /// Returns the number of columns.
    fn column_count(&self) -> usize;

    /// Returns a column's name, or an empty text if there is no such column. Fields of a struct have the struct's name
    /// and a dot before their own.
    fn name(&self, at: usize) -> String;

    /// Returns a column's class.
    ///
    /// # Errors
    /// Returns an error if there is no such column, or if its type is not read.
    fn class(&self, at: usize) -> MessageResult<Class>;

    /// Returns a column's type as the format writes it.
    fn type_name(&self, at: usize) -> String;

    /// Returns the format's text types for a message.
    fn text_types(&self) -> &'static str;

    /// Returns the indexes of the columns whose name satisfies `is`.
    fn places(&self, is: &dyn Fn(&str) -> bool) -> Vec<usize> {
        (0..self.column_count()).filter(|&at| is(&self.name(at))).collect()
    }

    /// Returns the index of the column that a user specifies by name, or by number from 1.
    ///
    /// # Errors
    /// Returns an error if no column matches, or if several columns have this name.
    fn find(&self, name: &str) -> MessageResult<usize> {
        if let Ok(number) = name.parse::<usize>() {
            let at = number.checked_sub(1).filter(|&at| at < self.column_count());
            return at.ok_or_else(|| format!("{number}: the file has the columns 1 to {}", self.column_count()));
        }
        let quoted = shown(name.as_bytes());
        for is in [&(|found: &str| found == name) as &dyn Fn(&str) -> bool, &|found| found.eq_ignore_ascii_case(name)] {
            match self.places(is)[..] {
                [] => {}
                [at] => return Ok(at),
                _ => return Err(format!("{quoted}: several columns have this name; give a number, from 1 on")),
            }
        }
        Err(format!("{quoted}: there is no such column; the file has {}", self.names()))
    }

    /// Returns the column names for a message.
    fn names(&self) -> String {
        let name = |at: usize| format!("\"{}\"", shown(self.name(at).as_bytes()));
        listed((0..self.column_count()).map(name))
    }

    /// Describes a column for a message by its number and its name.
    fn describe(&self, at: usize) -> String {
        format!("column {} (\"{}\")", at + 1, shown(self.name(at).as_bytes()))
    }

    /// Returns the index of the column with a name.
    ///
    /// # Errors
    /// Returns an error if several columns have this name.
    fn only(&self, name: &str) -> MessageResult<Option<usize>> {
        match self.places(&|found| found.eq_ignore_ascii_case(name))[..] {
            [] => Ok(None),
            _ => self.find(name).map(Some),
        }
    }

    /// Checks that a column has a permitted type. `expected` describes these types.
    ///
    /// # Errors
    /// Returns an error that names the column, its type and the expected types.
    fn expect(&self, at: usize, classes: &[Class], expected: &str) -> MessageResult<()> {
        let found = match self.class(at) {
            Ok(class) if classes.contains(&class) => return Ok(()),
            Ok(_) => format!("has the type {}", self.type_name(at)),
            Err(text) => text,
        };
        Err(format!("{} {found}; expected {expected}", self.describe(at)))
    }

    /// Returns the column with a known URL name, regardless of its type. Without such a name, returns the only text
    /// column, unless the table has one of the `split` URL's columns.
    ///
    /// # Errors
    /// Returns an error if several columns have such a name.
    fn url_column(&self, option: &str, split: &[&str]) -> MessageResult<Option<usize>> {
        match self.places(&|name| is_url_name(name.as_bytes()))[..] {
            [] => {}
            [at] => return Ok(Some(at)),
            [first, second, ..] => {
                let (first, second) = (self.describe(first), self.describe(second));
                return Err(format!("which column has the URLs, {first} or {second}? Say it with {option}"));
            }
        }
        if !self.places(&|name| split.iter().any(|part| name.eq_ignore_ascii_case(part))).is_empty() {
            return Ok(None);
        }
        let is_text = |&at: &usize| self.class(at) == Ok(Class::Text);
        let texts: Vec<usize> = (0..self.column_count()).filter(is_text).collect();
        Ok(if let [at] = texts[..] { Some(at) } else { None })
    }
}
