//! Writes the changes to an origin as text and as JSON.

use reptile::PolicySource;
use reptile::diff::Change;
use serde_json::{Value, json};

use crate::outputs::names::ShownNames;
use reptile_records::text::printable;

/// Returns a readable description of a change, beginning with its example's; empty if nothing changed.
pub fn describe(example: String, change: &Change) -> String {
    let mut words = Vec::new();
    if !example.is_empty() {
        words.push(example);
    }
    words.extend(change.source.map(|sources| {
        let [old, new] = sources.map(source_name);
        format!("was {old}, is {new}")
    }));
    let few = changed_agents(change);
    if !few.shown.is_empty() {
        words.push(format!("rules for {}", printable(few.list().as_bytes())));
    }
    words.extend(change.other_directives.then(|| "other directives".to_owned()));
    words.join("; ")
}

/// Adds a change to a JSON object.
pub fn add_json(change: &Change, object: &mut Value) {
    if let Some(sources) = change.source {
        let [old, new] = sources.map(source_name);
        object["source"] = json!({"old": old, "new": new});
    }
    let few = changed_agents(change);
    if !few.shown.is_empty() {
        object["agents"] = json!(few.shown);
    }
    if few.more > 0 {
        object["more_agents"] = few.more.into();
    }
    if change.other_directives {
        object["other_directives"] = true.into();
    }
}

/// Returns the product tokens whose rules changed, with `*` for the default group.
fn changed_agents(change: &Change) -> ShownNames {
    let tokens = change.tokens.iter().map(|token| String::from_utf8_lossy(token).into_owned());
    let names = tokens.chain(change.default_group.then(|| "*".to_owned()));
    ShownNames::of(names, change.tokens.len() + usize::from(change.default_group))
}

fn source_name(source: PolicySource) -> String {
    match source {
        PolicySource::LastGoodCopy(cause) => format!("the last good copy ({cause})"),
        PolicySource::AllowAll(cause) => format!("everything allowed ({cause})"),
        PolicySource::DisallowAll(cause) => format!("everything disallowed ({cause})"),
        _ => "rules".into(),
    }
}
