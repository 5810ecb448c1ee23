//! Writes changed verdicts over all paths, as text and as JSON.

use std::io::Write;

use reptile::contents::Explanation;
use reptile::diff::{PathChange, PathExample, PathRow, PathRows};
use serde_json::{Map, Value, json};

use crate::error::{Result, Stop};
use crate::options::AssumedPaths;
use crate::outputs::json::{add_bytes, json_line};
use crate::outputs::names::ShownNames;
use reptile_records::text::{pasteable, printable};

/// Maximum size in bytes of the rows with examples. After it, crawlers are listed without examples. At least one row
/// has examples.
const MAX_EXAMPLE_BYTES: usize = 1 << 20;

/// The name for all crawlers.
const ALL_CRAWLERS: &str = "all crawlers";

/// The two sides of a comparison, in words.
pub struct Words {
    /// The dialects, if dialects are compared.
    dialects: Option<[&'static str; 2]>,
    /// The sides' names in JSON.
    sides: [&'static str; 2],
    /// The JSON names for a path that only the second side allows, and for a path that only the first side allows.
    json: [&'static str; 2],
    /// The same names in text.
    text: [String; 2],
    /// The texts before the verdicts of both sides.
    verbs: [String; 2],
    /// The URLs that the comparison is about.
    pub assumed: AssumedPaths,
}

impl Words {
    /// Returns the words for an old and a new file or set.
    pub fn of_versions(assumed: AssumedPaths) -> Words {
        Words {
            dialects: None,
            sides: ["old", "new"],
            json: ["opens", "closes"],
            text: ["opens".into(), "closes".into()],
            verbs: ["was ".into(), "is ".into()],
            assumed,
        }
    }

    /// Returns the words for two readings of one file.
    pub fn of_dialects(names: [&'static str; 2], assumed: AssumedPaths) -> Words {
        Words {
            dialects: Some(names),
            sides: ["first", "second"],
            json: ["second_only", "first_only"],
            text: [format!("only {} allows", names[1]), format!("only {} allows", names[0])],
            verbs: names.map(|name| format!("{name}: ")),
            assumed,
        }
    }

    /// Returns an example as text.
    fn example(&self, kind: usize, example: &PathExample) -> String {
        let name = &self.text[kind];
        match example {
            PathExample::None => format!("  {name} nothing\n"),
            PathExample::Unproved => format!("  {name}: unproved\n"),
            PathExample::Path { path, old, new } => {
                let path = pasteable(path);
                let [old, new] = [(&self.verbs[0], old), (&self.verbs[1], new)]
                    .map(|(verb, side)| format!("{verb}{} ({})", side.verdict, why(side)));
                format!("  {name} {path}\n    {old}; {new}\n")
            }
        }
    }

    fn example_json(&self, example: &PathExample) -> Value {
        let PathExample::Path { path, old, new } = example else { return Value::Null };
        let mut object = json!({});
        add_bytes(&mut object, "path", path);
        object[self.sides[0]] = side_json(old);
        object[self.sides[1]] = side_json(new);
        object
    }

    /// Returns a change's examples with their names in JSON.
    fn examples<'c>(&self, change: &'c PathChange) -> [(&'static str, &'c PathExample); 2] {
        [(self.json[0], &change.opens), (self.json[1], &change.closes)]
    }

    /// Returns the object for some crawlers, with examples if there is a change.
    pub fn object(&self, agents: Option<&[&[u8]]>, equal: Option<bool>, change: Option<&PathChange>) -> Value {
        let agents: Option<Vec<_>> =
            agents.map(|names| names.iter().map(|name| String::from_utf8_lossy(name)).collect());
        let (mut object, mut unproved) = (Map::new(), Vec::new());
        object.insert("change".into(), if self.dialects.is_some() { "reading" } else { "paths" }.into());
        if let Some(dialects) = self.dialects {
            object.insert("dialects".into(), json!(dialects));
        }
        object.insert("agents".into(), json!(agents));
        object.insert("equal".into(), equal.into());
        for (name, example) in change.into_iter().flat_map(|change| self.examples(change)) {
            if *example == PathExample::Unproved {
                unproved.push(name);
            }
            object.insert(name.into(), self.example_json(example));
        }
        if !unproved.is_empty() {
            object.insert("unproved".into(), json!(unproved));
        }
        if !self.assumed.patterns.is_empty() {
            let patterns: Vec<_> = self.assumed.patterns.iter().map(|text| String::from_utf8_lossy(text)).collect();
            object.insert("only".into(), json!(patterns));
        }
        Value::Object(object)
    }
}

/// Returns the reason for a verdict: the rule with its line, or another reason.
pub fn why(side: &Explanation) -> String {
    match side.rule() {
        Some(rule) if rule.line > 0 => printable(format!("line {}: {rule}", rule.line).as_bytes()),
        Some(rule) => printable(rule.to_string().as_bytes()),
        None => side.reason().to_string(),
    }
}

fn side_json(side: &Explanation) -> Value {
    let mut object = json!({"verdict": side.verdict.name(), "reason": side.reason().to_string()});
    if let Some(rule) = side.rule() {
        object["rule"] = rule.to_string().into();
        object["line"] = rule.line.into();
    }
    object
}

/// The result of a comparison.
#[derive(Default)]
pub struct PathComparison {
    /// Whether some verdict changes.
    pub is_change: bool,
    /// Whether some question is unproved.
    pub is_unproved: bool,
    /// The line about the crawlers without changes. The caller decides whether to write it.
    pub equal: String,
}

impl PathComparison {
    /// Returns the result for a comparison in which nothing changes for any crawler.
    ///
    /// # Errors
    /// Returns an error if the line cannot be serialized.
    pub fn of_equal(words: &Words, is_json: bool) -> Result<PathComparison> {
        let equal = if is_json {
            json_line(&words.object(None, Some(true), None))?
        } else {
            format!("= {ALL_CRAWLERS}: equal for every URL{}\n", words.assumed.scope())
        };
        Ok(PathComparison { equal, ..PathComparison::default() })
    }
}

/// Writes the rows: first those with a change, then the unproved ones. Returns the line about the equal ones.
///
/// # Errors
/// Returns an error if `out` cannot be written.
pub fn write(
    rows: &PathRows<'_>,
    words: &Words,
    is_json: bool,
    out: &mut impl Write,
) -> std::result::Result<PathComparison, Stop> {
    let mut equal: Vec<&[u8]> = Vec::new();
    let (mut others, mut unproved) = (equal.clone(), rows.not_compared.clone());
    let mut bytes = 0;
    let mut found = PathComparison::default();
    for row in &rows.rows {
        if row.change.is_equal() {
            equal.extend(&row.names);
        } else if !row.change.is_change() {
            unproved.extend(&row.names);
        } else if bytes >= MAX_EXAMPLE_BYTES {
            others.extend(&row.names);
        } else {
            let text = with_examples(row, words, is_json)?;
            bytes += text.len();
            out.write_all(text.as_bytes())?;
            found.is_change = true;
        }
    }
    found.is_change |= !others.is_empty();
    found.is_unproved = !unproved.is_empty();
    let is_all = !found.is_change && !found.is_unproved;
    if is_json {
        let line = |names: &[&[u8]], is_equal| match names {
            [] => Ok(String::new()),
            _ => json_line(&words.object(Some(names), is_equal, None)),
        };
        out.write_all(line(&others, Some(false))?.as_bytes())?;
        out.write_all(line(&unproved, None)?.as_bytes())?;
        found.equal = line(&equal, Some(true))?;
        return Ok(found);
    }
    if !others.is_empty() {
        writeln!(out, "! {}: not equal, without an example", list(&others))?;
    }
    if !unproved.is_empty() {
        writeln!(out, "? {}: unproved", list(&unproved))?;
    }
    if is_all {
        found.equal = PathComparison::of_equal(words, false)?.equal;
    } else if !equal.is_empty() {
        found.equal = format!("= {}: equal for every URL{}\n", list(&equal), words.assumed.scope());
    }
    Ok(found)
}

/// Writes a row that says that nothing is proved.
///
/// # Errors
/// Returns an error if `out` cannot be written.
pub fn write_unproved(words: &Words, is_json: bool, out: &mut impl Write) -> std::result::Result<PathComparison, Stop> {
    if is_json {
        out.write_all(json_line(&words.object(None, None, None))?.as_bytes())?;
    } else {
        writeln!(out, "? {ALL_CRAWLERS}: unproved")?;
    }
    Ok(PathComparison { is_unproved: true, ..PathComparison::default() })
}

/// Returns the first change among some rows in a few words; empty if there is none.
pub fn describe(rows: &PathRows<'_>, words: &Words) -> String {
    let Some(row) = rows.rows.iter().find(|row| row.change.is_change()) else { return String::new() };
    let found = (0..).zip(words.examples(&row.change)).find_map(|(at, (_, example))| match example {
        PathExample::Path { path, .. } => Some((at, path)),
        _ => None,
    });
    found.map_or_else(String::new, |(at, path): (usize, _)| {
        format!("{} {} for {}", words.text[at], pasteable(path), list(&row.names))
    })
}

/// Returns a row with its examples.
fn with_examples(row: &PathRow<'_>, words: &Words, is_json: bool) -> Result<String> {
    if is_json {
        return json_line(&words.object(Some(&row.names), Some(false), Some(&row.change)));
    }
    let examples = [&row.change.opens, &row.change.closes];
    let lines: String = (0..).zip(examples).map(|(kind, example)| words.example(kind, example)).collect();
    Ok(format!("! {}\n{lines}", list(&row.names)))
}

/// Returns the first names, separated by commas.
fn list(names: &[&[u8]]) -> String {
    let few = ShownNames::of(names.iter().map(|name| String::from_utf8_lossy(name).into_owned()), names.len());
    let shown = printable(few.shown.join(", ").as_bytes());
    if few.more == 0 { shown } else { format!("{shown} ... and {} more", few.more) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reptile::Verdict;

    #[test]
    fn examples_stop_at_the_limit() {
        let row = |name: &'static [u8], len: usize| {
            let side = |verdict| Box::new(Explanation::without_rule(verdict));
            let (old, new) = (side(Verdict::Disallow), side(Verdict::Allow));
            let opens = PathExample::Path { path: vec![b'/'; len], old, new };
            PathRow { names: vec![name], change: PathChange { opens, closes: PathExample::None } }
        };
        let words = Words::of_versions(AssumedPaths::default());
        let fixed = with_examples(&row(b"a", 0), &words, false).unwrap().len();
        for (len, is_shown) in
            [(MAX_EXAMPLE_BYTES - 1, true), (MAX_EXAMPLE_BYTES, false), (MAX_EXAMPLE_BYTES + 1, false)]
        {
            let rows = PathRows { rows: vec![row(b"a", len - fixed), row(b"b", 1)], not_compared: Vec::new() };
            let mut out = Vec::new();
            let found = write(&rows, &words, false, &mut out).ok().unwrap();
            assert!(found.is_change && !found.is_unproved);
            let text = String::from_utf8(out).unwrap();
            assert_eq!(text.contains("! b\n  opens /\n"), is_shown, "{len}");
            assert_eq!(text.ends_with("! b: not equal, without an example\n"), !is_shown, "{len}");
        }
    }
}
