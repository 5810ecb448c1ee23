//! The layout of the help: `-h` fits on a screen, and `--help` is complete.
//!
//! Each command contains its own text. This module cuts each text to its first clause for `-h`, and omits rarely used
//! options there.

use std::any::TypeId;
use std::ffi::OsString;

use clap::builder::{PathBufValueParser, Resettable, TypedValueParser};
use clap::{Arg, Command, ValueHint};
use reptile_records::place::Place;

/// Options that only `--help` lists. Options with the same name mean the same in every command.
const RARE: [&str; 40] = [
    "follow_links",
    "usage",
    "usage_from",
    "purpose",
    "treat",
    "vocabulary",
    "profile",
    "at",
    "strategy",
    "scheme",
    "schemes",
    "omit",
    "by_time",
    "threads",
    "max_differences",
    "color",
    "max_findings",
    "scope",
    "add_columns",
    "keep_columns",
    "header",
    "rejects",
    "report",
    "resume",
    "delimiter",
    "escape",
    "timezone",
    "resync",
    "warc_root",
    "fates",
    "metrics",
    "files_from",
    "keep_going",
    "rows_per_file",
    "rights",
    "rights_from",
    "exact_agent",
    "client",
    "ranges_at",
    "dns",
];

/// The commands that only print reference text.
const REFERENCE: [&str; 4] = ["agents", "dialects", "completions", "man"];

/// The commands in groups, each under its heading, in the order of the help.
const GROUPS: [(&str, &[&str]); 4] = [
    ("One robots.txt", &["test", "lint", "diff", "check"]),
    ("Many robots.txt files", &["compile", "classify", "summarize", "timeline", "audit", "filter", "fields"]),
    ("Compiled sets", &["merge", "update", "inspect", "verify"]),
    ("Reference", &REFERENCE),
];

/// Moves a leading `help` to the end as `--help`, because people write either.
pub fn help_last(mut args: Vec<OsString>) -> Vec<OsString> {
    if args.get(1).is_some_and(|arg| arg == "help") {
        args.remove(1);
        args.push("--help".into());
    }
    args
}

/// Returns the command and all subcommands with this help layout.
pub fn shaped(command: Command) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let name = command.get_name().to_owned();
    // The command list must leave space for the options on a screen; see `help_last`.
    let command = short(command).display_name(name).disable_help_subcommand(true);
    // The usual blank lines are removed to save space on the screen.
    let command = command.help_template("{about-with-newline}{usage-heading} {usage}\n{all-args}{after-help}");
    let command = command.mut_arg("quiet", |arg| arg.hide_short_help(true));
    // They are options of every command, but one place in the help is enough.
    let is_general = |arg: &&Arg| arg.get_id() == "color" || arg.get_id() == "quiet";
    let general: Vec<Arg> = command.get_arguments().filter(is_general).cloned().collect();
    let command = names.into_iter().fold(command, |command, sub| {
        let prints_only_results = REFERENCE.contains(&&*sub);
        let hidden = general.iter().filter(|arg| arg.get_id() == "color" || prints_only_results);
        let hidden: Vec<Arg> = hidden.map(|arg| arg.clone().hide(true)).collect();
        // All commands print the same version.
        command.mut_subcommand(sub, |sub| short(sub.args(hidden)).display_name("reptile"))
    });
    let template = format!(
        "{{about-with-newline}}{{usage-heading}} {{usage}}\n\n{}Options:\n{{options}}{{after-help}}",
        grouped(&command)
    );
    command.help_template(template)
}

/// Returns the list of commands in their groups. clap has one heading for all of them.
fn grouped(command: &Command) -> String {
    let about = |name: &str| command.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
    let mut text = String::new();
    for (heading, names) in GROUPS {
        text.push_str(&format!("{heading}:\n"));
        for name in names {
            text.push_str(&format!("  {name:<13}{}\n", about(name).unwrap_or_default()));
        }
        text.push('\n');
    }
    text
}

/// Returns an option or argument whose value, if it is a [`Place`], is parsed and completed like a path.
fn with_places(arg: Arg) -> Arg {
    match arg.get_value_parser().type_id() == TypeId::of::<Place>() {
        true => arg.value_parser(PathBufValueParser::new().map(Place::from)).value_hint(ValueHint::AnyPath),
        false => arg,
    }
}

/// Returns one command with a short help.
fn short(command: Command) -> Command {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let command = if command.get_long_about().is_none() { command.long_about(about.clone()) } else { command };
    let rest = command.get_after_help().cloned();
    let command = command.about(until(&about, &[", ", ": "]).to_owned());
    let command = command.after_long_help(Resettable::from(rest)).after_help(Resettable::Reset);
    command.mut_args(with_places).mut_args(|arg| {
        let whole = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
        let first = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let values: Vec<String> = arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
        let takes_values = arg.get_action().takes_values() && !values.is_empty();
        let is_rare = RARE.contains(&arg.get_id().as_str());
        let whole = if takes_values { format!("{whole}\n\n[possible values: {}]", values.join(", ")) } else { whole };
        let arg = if takes_values { arg.hide_possible_values(true) } else { arg };
        arg.help(until(&first, &["; ", ": ", " ["]).to_owned()).long_help(whole).hide_short_help(is_rare)
    })
}

/// Returns the text before the first matching delimiter, or the whole text.
fn until<'t>(text: &'t str, ends: &[&str]) -> &'t str {
    let ends = ends.iter().filter_map(|end| text.find(end));
    &text[..ends.min().unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let command = crate::described();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        grouped.sort_unstable();
        let mut commands: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        commands.sort_unstable();
        assert_eq!(grouped, commands);
    }

    #[test]
    fn a_text_ends_at_the_first_of_its_ends() {
        for (text, first) in [
            ("", ""),
            ("The set file", "The set file"),
            ("A list; - is standard input", "A list"),
            ("The dialect: which reading [default: google]", "The dialect"),
            ("A host [default: every origin]", "A host"),
        ] {
            assert_eq!(until(text, &["; ", ": ", " ["]), first);
        }
    }
}
