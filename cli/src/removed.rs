//! Options and commands of earlier versions. The error for such a word names its new form.

use std::ffi::OsString;

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// An option that was removed.
struct Removed {
    option: &'static str,
    /// The commands that had it.
    commands: &'static [&'static str],
    /// What to do now, after "use ".
    instead: &'static str,
}

/// The commands that take SET.
const WITH_SET: &[&str] = &["classify", "summarize", "filter", "fields", "inspect"];

/// The commands that take SET and decide nothing at a time.
const WITHOUT_TIMES: &[&str] = &["summarize", "filter", "fields", "inspect"];

/// The commands that ask about usage.
const WITH_USAGE: &[&str] = &["test", "classify", "summarize"];

/// The commands that write metrics.
const WITH_METRICS: &[&str] = &["lint", "compile", "classify", "summarize", "filter", "merge", "update", "verify"];

/// A template of a URL's parts.
const TEMPLATE: &str = "--url '{SCHEME}://{HOST}:{PORT}{PATH}?{QUERY}' with the names of the columns";

/// All removed options.
const REMOVED: &[Removed] = &[
    of("--url-column", &["classify"], "--url COLUMN"),
    of("--scheme-column", &["classify"], TEMPLATE),
    of("--host-column", &["classify"], TEMPLATE),
    of("--port-column", &["classify"], TEMPLATE),
    of("--path-column", &["classify"], TEMPLATE),
    of("--query-column", &["classify"], TEMPLATE),
    of(
        "--split-columns",
        &["classify"],
        "no option if these are the only columns of URLs, or else \
         --url '{url_protocol}://{url_host_name}:{url_port}{url_path}?{url_query}'",
    ),
    of(
        "--missing-columns",
        &["classify"],
        "--url '{url_protocol}://{url_host_name}{url_path}', without the columns that the file lacks",
    ),
    of("--at-column", &["classify"], "--at '{COLUMN}'"),
    of("--agent-column", &["classify"], "--agent '{COLUMN}'"),
    of("--log-format", &["classify"], "--input-format FORMAT"),
    of("--reason", &["classify"], "--columns url,verdict,reason"),
    of("--any-of", &["classify"], "--columns url,verdict,any-of"),
    of("--unknown", &["classify"], "--treat unknown=VERDICT"),
    of("--invalid", &["classify"], "--treat invalid=VERDICT"),
    of("--unknown", &["filter"], "--treat unknown=allow to keep such records"),
    of("--invalid", &["filter"], "--treat invalid=allow to keep such records"),
    of("--unknown-usage", &["classify", "filter"], "--treat unknown-usage=VERDICT"),
    of("--output-folder", &["classify"], "--output DIR/, with a slash at the end"),
    of("--no-verify", &["classify"], "no option: a set is always checked"),
    of("--large-pages", &["classify"], "no option: a set is always mapped"),
    of(
        "--exact-agent",
        &["test", "diff", "classify", "summarize", "filter", "fields", "inspect"],
        "--agent exact:NAME",
    ),
    of("--exact-agent", &["agents"], "exact:NAME as the name"),
    of("--signals", WITH_USAGE, "--usage-from content-signal"),
    of("--combine", WITH_USAGE, "--usage-from both"),
    of("--input-checksums", WITH_METRICS, "--metrics FILE.json,checksums"),
    of("--allow-shrink", &["compile", "merge", "update"], "--force=shrink"),
    of("--no-other", &["compile", "update"], "--omit other"),
    of("--no-lines", &["compile"], "--omit lines"),
    of("--no-other", WITH_SET, "`reptile compile --omit other`, and its set as SET"),
    of("--no-lines", WITH_SET, "`reptile compile --omit lines`, and its set as SET"),
    of("--strategy", WITH_SET, "`reptile compile --strategy`, and its set as SET"),
    of("--strategy", &["check"], "`reptile compile --strategy`; verdicts do not depend on it"),
    of("--warc-root", WITH_SET, "`reptile compile --warc-root`, and its set as SET"),
    of("--by-time", WITH_SET, "`reptile compile --by-time`, and its set as SET"),
    of("--at", WITHOUT_TIMES, "`reptile compile --at`, and its set as SET"),
    of("--timezone", WITHOUT_TIMES, "`reptile compile --timezone`, and its set as SET"),
    of("--scheme", &["fields", "inspect"], "a URL as HOST, such as http://example.com"),
    of("--scheme", &["summarize", "filter"], "`reptile compile --scheme`, and its set as SET"),
    of("--resync", &["summarize", "fields", "inspect"], "`reptile compile --resync`, and its set as SET"),
    of("--dot", &["inspect"], "--automaton=dot"),
];

/// The only removed command.
const CLEAN_PARAM: &str =
    "clean-param was removed; `reptile fields --kind clean-param` lists the lines, and Rust programs apply them";

const fn of(option: &'static str, commands: &'static [&'static str], instead: &'static str) -> Removed {
    Removed { option, commands, instead }
}

/// Returns a sentence with the new form of an option or command, if the command line is invalid because it was removed.
pub fn explained(args: &[OsString], error: &Error) -> Option<String> {
    if error.get(ContextKind::InvalidSubcommand) == Some(&ContextValue::String("clean-param".into())) {
        return Some(CLEAN_PARAM.into());
    }
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return None };
    let option = option.split('=').next().unwrap_or(option);
    let is_of = |removed: &&Removed| {
        removed.option == option && args.iter().any(|arg| removed.commands.iter().any(|name| arg == name))
    };
    let Removed { option, instead, .. } = REMOVED.iter().find(is_of)?;
    Some(format!("{option} was removed; use {instead}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;

    /// Returns the options that a text names.
    fn options_in(text: &str) -> impl Iterator<Item = &str> {
        text.split([' ', '\'', '=', '`', ',']).filter_map(|word| word.strip_prefix("--"))
    }

    #[test]
    fn each_removed_option_names_its_new_form() {
        let command = crate::described();
        let mut tried = 0;
        for Removed { option, commands, instead } in REMOVED {
            for name in *commands {
                let args = ["reptile", name, option, "x"].map(OsString::from);
                let error = command.clone().try_get_matches_from(&args).unwrap_err();
                let sentence = explained(&args, &error);
                assert_eq!(sentence, Some(format!("{option} was removed; use {instead}")), "{name}: {error}");
                let owner = if instead.contains("`reptile compile") { "compile" } else { name };
                let owner = command.find_subcommand(owner).unwrap();
                for new in options_in(instead) {
                    assert!(owner.get_arguments().any(|arg| arg.get_long() == Some(new)), "{name} {option}: {new}");
                }
                tried += 1;
            }
        }
        assert_eq!(tried, 92);
    }

    #[test]
    fn the_removed_command_names_its_replacement() {
        let args = ["reptile", "clean-param", "robots.txt"].map(OsString::from);
        let error = crate::described().try_get_matches_from(&args).unwrap_err();
        assert_eq!(explained(&args, &error).as_deref(), Some(CLEAN_PARAM));
    }

    #[test]
    fn other_mistakes_are_not_explained() {
        for line in ["reptile compile --url-column x", "reptile classify --nothing", "reptile test --agent"] {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let error = crate::described().try_get_matches_from(&args).unwrap_err();
            assert_eq!(explained(&args, &error), None, "{line}");
        }
    }
}
