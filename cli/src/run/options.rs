//! A command's options as JSON, named as on the command line.
//!
//! They come from the parsed command line, so a new option is in every record without more code.

use std::any::TypeId;
use std::ffi::OsStr;

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Map, Value};

use reptile_records::redacted::redacted;

/// Options by name, with `_` for `-`.
pub type Options = Map<String, Value>;

/// Options that do not affect an output's contents, or that name outputs and inputs, which a record lists.
const LEFT_OUT: [&str; 17] = [
    "color",
    "dry-run",
    "fates",
    "files-from",
    "force",
    "help",
    "keep-going",
    "memory",
    "metrics",
    "output",
    "quiet",
    "rejects",
    "report",
    "resume",
    "set",
    "threads",
    "version",
];

/// Returns a command's options, given or default, without those that are [`LEFT_OUT`].
pub fn options_of(command: &Command, matches: &ArgMatches) -> Options {
    let mut options = Options::new();
    for arg in command.get_arguments() {
        let Some(name) = arg.get_long().filter(|name| !LEFT_OUT.contains(name)) else { continue };
        options.insert(name.replace('-', "_"), value_of(arg, matches));
    }
    options
}

/// Returns an option's value: true or false for a flag, a list if there may be several values, and null if there is
/// none.
fn value_of(arg: &Arg, matches: &ArgMatches) -> Value {
    let id = arg.get_id().as_str();
    if matches!(arg.get_action(), ArgAction::SetTrue | ArgAction::SetFalse) {
        return matches.get_flag(id).into();
    }
    let values = matches.try_get_raw(id).ok().flatten();
    let mut values = values.into_iter().flatten().map(|value| typed(arg, value));
    let is_list = matches!(arg.get_action(), ArgAction::Append)
        || arg.get_value_delimiter().is_some()
        || arg.get_num_args().is_some_and(|range| range.max_values() > 1);
    if is_list { values.collect() } else { values.next().unwrap_or_default() }
}

/// Returns a value as a number if its option takes one, or else as text without credentials.
fn typed(arg: &Arg, value: &OsStr) -> Value {
    let text = value.to_string_lossy();
    let kind = arg.get_value_parser().type_id();
    let numbers = [TypeId::of::<u16>(), TypeId::of::<u32>(), TypeId::of::<u64>(), TypeId::of::<usize>()];
    let number = numbers.iter().any(|number| kind == *number).then(|| text.parse::<u64>().ok()).flatten();
    number.map_or_else(|| redacted(&text).into(), Value::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> Options {
        let command = crate::described();
        let matches = command.clone().try_get_matches_from(line.split(' ')).unwrap();
        let (name, matches) = matches.subcommand().unwrap();
        options_of(command.find_subcommand(name).unwrap(), matches)
    }

    #[test]
    fn options_have_the_types_of_json() {
        let found = options("reptile lint robots --fix --max-findings 7 --severity error");
        let expected = serde_json::json!({
            "all": false, "dialect": null, "dialects": [], "enable": [], "fix": "proved", "format": "text", "host": null,
            "json": false, "list": false, "max_findings": 7, "resync": false, "severity": "error", "strict": false,
        });
        assert_eq!(Value::from(found), expected);
        let found =
            options("reptile classify s u --agent a --agent b>* --columns url,mask --at 2026 --treat unknown=allow");
        assert_eq!(found["agent"], serde_json::json!(["a", "b>*"]));
        assert_eq!(found["columns"], serde_json::json!(["url", "mask"]));
        assert_eq!((&found["at"], &found["treat"]), (&"2026".into(), &serde_json::json!(["unknown=allow"])));
        let found = options("reptile classify s u --agent http://u:p@h/?sig=1");
        assert_eq!(found["agent"], serde_json::json!(["http://***@h/?sig=***"]));
    }

    #[test]
    fn thread_counts_and_output_names_are_left_out() {
        let plain = options("reptile classify s u --agent a -o o/");
        let other = "reptile classify t v --agent a -o p/ --resume --force --threads 3 --quiet";
        assert_eq!(plain, options(other));
        assert_ne!(plain, options(&format!("{other} --header")));
    }
}
