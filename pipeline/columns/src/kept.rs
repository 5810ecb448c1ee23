//! Selects the input columns that an output keeps, in any format with named columns: [`KeptColumns`].

use crate::error::{Error, ErrorKind};

/// Maximum number of column names in a message.
const MAX_SHOWN_NAMES: usize = 20;

/// The input columns that an output keeps before its verdict columns. A struct is kept with all its
/// fields, and a list with all its elements.
///
/// ```
/// use reptile_columns::KeptColumns;
///
/// let columns = ["url", "id", "Lang"];
/// assert_eq!(KeptColumns::from_list("lang,id")?.places(&columns)?, [2, 1]);
/// assert_eq!(KeptColumns::from_list("all")?.places(&columns)?, [0, 1, 2]);
/// assert!(KeptColumns::from_list("title")?.places(&columns).is_err());
/// # Ok::<(), reptile_columns::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeptColumns {
    /// Every column, in the table's order.
    All,
    /// The columns with these names, in this order.
    Named(Vec<String>),
}

impl KeptColumns {
    /// Parses `all`, or names separated by commas.
    ///
    /// # Errors
    /// Returns an error if a name is empty or occurs twice.
    pub fn from_list(names: &str) -> Result<KeptColumns, Error> {
        if names.trim() == "all" {
            return Ok(KeptColumns::All);
        }
        let mut kept: Vec<String> = Vec::new();
        for name in names.split(',').map(str::trim) {
            if name.is_empty() {
                return Err(failure(format!("an empty column name in {names:?}; expected names separated by commas")));
            }
            if kept.iter().any(|other| other == name) {
                return Err(failure(format!("the column {name:?} occurs twice")));
            }
            kept.push(name.to_owned());
        }
        Ok(KeptColumns::Named(kept))
    }

    /// Returns the places of the kept columns among a table's columns, in the order in which they are written. A name
    /// in another letter case matches if no column has the exact name.
    ///
    /// # Errors
    /// Returns an error if a name matches no column or several, or if two names match one column.
    pub fn places<S: AsRef<str>>(&self, columns: &[S]) -> Result<Vec<usize>, Error> {
        let KeptColumns::Named(names) = self else { return Ok((0..columns.len()).collect()) };
        let mut places = Vec::with_capacity(names.len());
        for name in names {
            let place = place_of(name, columns)?;
            if places.contains(&place) {
                return Err(failure(format!("{name:?}: this column is named twice")));
            }
            places.push(place);
        }
        Ok(places)
    }
}

/// Finds a column by name.
fn place_of<S: AsRef<str>>(name: &str, columns: &[S]) -> Result<usize, Error> {
    let places = |is: &dyn Fn(&str) -> bool| -> Vec<usize> {
        columns.iter().enumerate().filter(|(_, column)| is(column.as_ref())).map(|(at, _)| at).collect()
    };
    for is in [&(|column: &str| column == name) as &dyn Fn(&str) -> bool, &|column| column.eq_ignore_ascii_case(name)] {
        match places(is)[..] {
            [] => {}
            [at] => return Ok(at),
            _ => return Err(failure(format!("{name:?}: several columns have this name"))),
        }
    }
    let shown: Vec<String> =
        columns.iter().take(MAX_SHOWN_NAMES).map(|column| format!("{:?}", column.as_ref())).collect();
    let more = columns.len().saturating_sub(MAX_SHOWN_NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Err(failure(format!("{name:?}: there is no such column; the columns are {}{more}", shown.join(", "))))
}

/// Checks that no two output columns share a name: neither two kept columns, nor a kept and a written one. Names
/// that differ only in letter case are the same, because many programs ignore the case.
///
/// ```
/// use reptile_columns::check_names;
/// assert!(check_names(&["url", "id"], &["GPTBot:verdict"]).is_ok());
/// let error = check_names(&["URL", "id"], &["url", "verdict"]).unwrap_err();
/// assert!(error.to_string().contains("\"URL\""));
/// ```
///
/// # Errors
/// Returns an error that names the first such column.
pub fn check_names<S: AsRef<str>, T: AsRef<str>>(kept: &[S], written: &[T]) -> Result<(), Error> {
    for (at, name) in kept.iter().map(AsRef::as_ref).enumerate() {
        if written.iter().any(|other| other.as_ref().eq_ignore_ascii_case(name)) {
            let message = "is a kept column and a written one; do not keep it, or choose other columns";
            return Err(failure(format!("{name:?}: {message}")));
        }
        if kept[..at].iter().any(|other| other.as_ref() == name) {
            return Err(failure(format!("{name:?}: two kept columns have this name; keep other columns")));
        }
    }
    Ok(())
}

fn failure(message: String) -> Error {
    Error::new(ErrorKind::Column, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_selected_by_name_or_rejected() {
        let columns = ["url", "Id", "id", "Lang", "url"];
        for (names, expected) in [
            ("all", Ok(vec![0, 1, 2, 3, 4])),
            ("id", Ok(vec![2])),
            ("Id, lang", Ok(vec![1, 3])),
            ("ID", Err("several columns have this name")),
            ("url", Err("several columns have this name")),
            ("id,id", Err("occurs twice")),
            ("lang,Lang", Err("named twice")),
            ("id,", Err("an empty column name")),
            ("", Err("an empty column name")),
            ("none", Err("the columns are \"url\", \"Id\", \"id\", \"Lang\", \"url\"")),
        ] {
            let found = KeptColumns::from_list(names).and_then(|kept| kept.places(&columns));
            match (found, expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{names}"),
                (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{names}: {error}"),
                (found, _) => panic!("{names}: {found:?}"),
            }
        }
    }

    #[test]
    fn long_lists_of_columns_are_cut() {
        for (count, more) in [(MAX_SHOWN_NAMES, false), (MAX_SHOWN_NAMES + 1, true)] {
            let columns: Vec<String> = (0..count).map(|number| format!("c{number}")).collect();
            let error = KeptColumns::Named(vec!["x".into()]).places(&columns).unwrap_err().to_string();
            assert_eq!(error.ends_with(" and 1 more"), more, "{error}");
        }
    }

    #[test]
    fn names_that_clash_are_errors() {
        assert!(check_names(&["a", "A", "b"], &["c"]).is_ok());
        assert!(check_names(&["a", "a"], &[""]).is_err());
        assert!(check_names(&["a", "B"], &["b"]).is_err());
    }
}
