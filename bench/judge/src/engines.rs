//! `engines.toml`: the list of engines, how to start them, and their requirements. This module only runs the commands
//! `check` and `build`; [`crate::engine`] starts the engines.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reptile_compiler::dialect::Dialect;
use serde::Deserialize;

use crate::process::{self, Limits};

/// Default time limit for a reply in seconds.
const DEFAULT_SECONDS: f64 = 10.0;

/// Default time limit for the first reply in seconds. It includes the start.
const DEFAULT_START_SECONDS: f64 = 60.0;

/// Maximum time limit that an entry may set, in seconds.
const MAX_SECONDS: f64 = 3600.0;

/// Default memory limit in MB.
const DEFAULT_MEMORY_MB: u64 = 2_000;

/// Bytes in a MB.
const MB: u64 = 1_000_000;

/// Time limit for the command `check`.
const CHECK_TIME: Duration = Duration::from_secs(30);

/// Time limit for a build.
const BUILD_TIME: Duration = Duration::from_secs(1800);

/// Maximum size of `engines.toml` in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Maximum number of engines in a file.
pub const MAX_ENGINES: usize = 200;

/// A command's result that means allow or disallow.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultPattern {
    /// The exit code.
    pub exit: Option<i32>,
    /// Text that standard output must contain.
    pub output: Option<String>,
}

/// An entry as written in the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenEntry {
    name: String,
    dialect: String,
    language: Option<String>,
    run: Option<Vec<String>>,
    command: Option<Vec<String>>,
    allow: Option<ResultPattern>,
    disallow: Option<ResultPattern>,
    #[serde(default)]
    needs: Vec<String>,
    check: Option<Vec<String>>,
    build: Option<Vec<String>>,
    install: Option<String>,
    seconds: Option<f64>,
    start_seconds: Option<f64>,
    memory_mb: Option<u64>,
    address_space_mb: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EngineList {
    #[serde(default)]
    engine: Vec<WrittenEntry>,
}

/// How an engine is run.
#[derive(Clone, Debug)]
pub enum EngineStart {
    /// A process that speaks the protocol.
    Run(Vec<String>),
    /// A process for each question.
    Command {
        /// The arguments, with placeholders.
        command: Vec<String>,
        /// The result that means allow.
        allow: ResultPattern,
        /// The result that means disallow.
        disallow: ResultPattern,
    },
}

/// An entry of `engines.toml`.
#[derive(Clone, Debug)]
pub struct EngineEntry {
    /// The name, unique in the file.
    pub name: String,
    /// The language, according to the file.
    pub language: String,
    /// The claimed dialect, or `None` for `own`.
    pub dialect: Option<&'static Dialect>,
    /// How it is run.
    pub start: EngineStart,
    /// Time and memory limits.
    pub limits: Limits,
    /// The folder in which its commands run.
    pub folder: PathBuf,
    needs: Vec<String>,
    check: Option<Vec<String>>,
    /// The command that builds it.
    pub build: Option<Vec<String>>,
    install: Option<String>,
}

/// Reads the entries from a file.
///
/// # Errors
/// Returns an error if the file cannot be read, does not have the format described in its header, or exceeds a limit.
/// Names the engine.
pub fn read(path: &Path) -> Result<Vec<EngineEntry>, String> {
    let at_fault = |fault: &dyn std::fmt::Display| format!("{}: {fault}", path.display());
    let length = std::fs::metadata(path).map_err(|error| at_fault(&error))?.len();
    if length > MAX_FILE_BYTES {
        return Err(at_fault(&format!("{length} bytes: at most {MAX_FILE_BYTES} are allowed")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| at_fault(&error))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = std::path::absolute(folder).map_err(|error| at_fault(&error))?;
    entries(&text, &folder).map_err(|fault| at_fault(&fault))
}

fn entries(text: &str, folder: &Path) -> Result<Vec<EngineEntry>, String> {
    let file: EngineList = toml::from_str(text).map_err(|error| error.to_string())?;
    if file.engine.len() > MAX_ENGINES {
        return Err(format!("{} engines: at most {MAX_ENGINES} are allowed", file.engine.len()));
    }
    let mut names = HashSet::new();
    let mut entries = Vec::new();
    for written in file.engine {
        let name = written.name.clone();
        if !names.insert(name.clone()) {
            return Err(format!("two engines named {name}"));
        }
        entries.push(entry(written, folder).map_err(|fault| format!("engine {name}: {fault}"))?);
    }
    Ok(entries)
}

fn entry(written: WrittenEntry, folder: &Path) -> Result<EngineEntry, String> {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    if written.name.is_empty() || written.name.len() > 60 || !written.name.bytes().all(good) {
        return Err("a name is 1 to 60 letters, digits, `.`, `-` or `_`".into());
    }
    let start = match (written.run, written.command, written.allow, written.disallow) {
        (Some(run), None, None, None) if !run.is_empty() => EngineStart::Run(run),
        (None, Some(command), Some(allow), Some(disallow)) if !command.is_empty() => {
            let is_good = |sign: &ResultPattern| sign.exit.is_some() != sign.output.is_some();
            if !is_good(&allow) || !is_good(&disallow) {
                return Err("give `allow` and `disallow` either `exit` or `output`".into());
            }
            EngineStart::Command { command, allow, disallow }
        }
        _ => return Err("give either `run`, or `command`, `allow` and `disallow`".into()),
    };
    let time = |seconds: f64| match seconds > 0.0 && seconds <= MAX_SECONDS {
        true => Ok(Duration::from_secs_f64(seconds)),
        false => Err(format!("{seconds} seconds: expected more than 0 and at most {MAX_SECONDS}")),
    };
    let bytes = |mb: u64| mb.checked_mul(MB).filter(|&bytes| bytes > 0).ok_or(format!("not a size in MB: {mb}"));
    Ok(EngineEntry {
        dialect: claimed(&written.dialect)?,
        name: written.name,
        language: written.language.unwrap_or_default(),
        start,
        limits: Limits {
            time: time(written.seconds.unwrap_or(DEFAULT_SECONDS))?,
            start: time(written.start_seconds.unwrap_or(DEFAULT_START_SECONDS))?,
            memory: bytes(written.memory_mb.unwrap_or(DEFAULT_MEMORY_MB))?,
            address_space: written.address_space_mb.map(bytes).transpose()?,
        },
        folder: folder.to_owned(),
        needs: written.needs,
        check: written.check,
        build: written.build,
        install: written.install,
    })
}

/// Returns the dialect with a name, or `None` for `own`.
///
/// # Errors
/// Returns an error if the name is unknown.
pub fn claimed(name: &str) -> Result<Option<&'static Dialect>, String> {
    match Dialect::from_name(name) {
        None if name == "own" => Ok(None),
        None => Err(format!("no dialect {name:?}: see PROTOCOL.md, or use \"own\"")),
        known => Ok(known),
    }
}

impl EngineEntry {
    /// Returns the engine's missing requirement, or `None` if it can run. Runs the command `check` if there is one.
    #[must_use]
    pub fn absent(&self) -> Option<String> {
        let missing = self.missing()?;
        Some(match &self.install {
            Some(install) => format!("{missing}; {install}"),
            None => missing,
        })
    }

    /// Returns the missing requirement for a build, if any.
    fn missing_needs(&self) -> Option<String> {
        for need in &self.needs {
            match expand(need) {
                Err(fault) => return Some(fault),
                Ok(need) if need.contains('/') && !self.folder.join(&need).exists() => {
                    return Some(format!("no file {need}"));
                }
                Ok(need) if !need.contains('/') && !is_on_path(&need) => return Some(format!("no program {need}")),
                Ok(_) => {}
            }
        }
        None
    }

    fn missing(&self) -> Option<String> {
        if let Some(missing) = self.missing_needs() {
            return Some(missing);
        }
        let arguments = match &self.start {
            EngineStart::Run(run) => run,
            EngineStart::Command { command, .. } => command,
        };
        match expanded(arguments) {
            Err(fault) => return Some(fault),
            Ok(arguments) => {
                let program = arguments.first().filter(|program| program.contains('/'));
                if let Some(program) = program.filter(|program| !self.folder.join(program).is_file()) {
                    let built = "not built: run `reptile-judge engines --build`";
                    return Some(self.build.as_ref().map_or(format!("no file {program}"), |_| built.to_owned()));
                }
            }
        }
        let check = self.check.as_ref()?;
        let limits = Limits { time: CHECK_TIME, ..self.limits };
        let run = expanded(check).and_then(|check| process::run(&check, &self.folder, &limits));
        match run {
            Err(fault) => Some(fault),
            Ok(ended) if ended.code == Some(0) => None,
            Ok(ended) => {
                let errors = process::printable(&ended.errors);
                Some(errors.lines().last().unwrap_or("its check failed").trim().to_owned())
            }
        }
    }

    /// Runs the command `build`, if there is one and its requirements are met.
    ///
    /// # Errors
    /// Returns an error with the last line of output if the command fails.
    pub fn run_build(&self) -> Result<(), String> {
        let Some(build) = self.build.as_ref().filter(|_| self.missing_needs().is_none()) else { return Ok(()) };
        let limits = Limits { time: BUILD_TIME, start: BUILD_TIME, memory: u64::MAX, address_space: None };
        let ended = process::run(&expanded(build)?, &self.folder, &limits)?;
        if ended.code == Some(0) {
            return Ok(());
        }
        let said = process::printable(&ended.errors);
        let last = said.lines().rfind(|line| !line.trim().is_empty());
        Err(format!("the build failed: {}", last.unwrap_or("no message").trim()))
    }

    /// Returns the name of the claimed dialect.
    #[must_use]
    pub fn dialect_name(&self) -> &'static str {
        self.dialect.map_or("own", Dialect::as_str)
    }
}

/// Replaces environment variables in arguments.
///
/// # Errors
/// Returns an error if a variable is not set and has no default.
pub fn expanded(arguments: &[String]) -> Result<Vec<String>, String> {
    arguments.iter().map(|argument| expand(argument)).collect()
}

/// Replaces environment variables in a text: `${NAME}`, or `${NAME:-text}` with a default.
fn expand(text: &str) -> Result<String, String> {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        expanded.push_str(before);
        let (variable, after) = after.split_once('}').ok_or_else(|| format!("no `}}` after `${{` in {text:?}"))?;
        let (name, default) = match variable.split_once(":-") {
            Some((name, default)) => (name, Some(default.to_owned())),
            None => (variable, None),
        };
        let value = std::env::var(name).ok().filter(|value| !value.is_empty()).or(default);
        expanded.push_str(&value.ok_or_else(|| format!("the variable {name} is not set"))?);
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

/// Returns whether a program is in a folder listed in `PATH`.
fn is_on_path(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<EngineEntry>, String> {
        entries(text, Path::new("/nowhere"))
    }

    #[test]
    fn entries_are_checked() {
        let good = "[[engine]]\nname = \"a\"\ndialect = \"google-lib\"\nrun = [\"a\"]\n";
        let entries = parse(good).unwrap();
        assert_eq!((entries[0].dialect_name(), entries[0].limits.memory), ("google-lib", 2_000_000_000));
        for (text, fault) in [
            (good.replace("\"a\"\nd", "\"a b\"\nd"), "a name is"),
            (good.replace("google-lib", "altavista"), "engine a: no dialect \"altavista\""),
            (good.replace("run = [\"a\"]", "run = []"), "give either"),
            (good.replace("run", "command"), "give either"),
            (format!("{good}color = 1\n"), "unknown field `color`"),
            (format!("{good}{good}"), "two engines named a"),
            (format!("{good}seconds = 0\n"), "expected more than 0"),
            (format!("{good}seconds = 3601\n"), "expected more than 0"),
            (format!("{good}memory_mb = 0\n"), "not a size"),
            (good.replace("run", "command") + "allow = { exit = 0 }\ndisallow = { }\n", "either `exit` or `output`"),
        ] {
            let found = parse(&text).unwrap_err();
            assert!(found.contains(fault), "{text}: {found}");
        }
        assert!(parse(&format!("{good}seconds = 3600\n")).is_ok());
    }

    #[test]
    fn files_stop_at_the_engine_limit() {
        for (count, is_good) in [(MAX_ENGINES - 1, true), (MAX_ENGINES, true), (MAX_ENGINES + 1, false)] {
            let entry = |n: usize| format!("[[engine]]\nname = \"e{n}\"\ndialect = \"own\"\nrun = [\"a\"]\n");
            assert_eq!(parse(&(0..count).map(entry).collect::<String>()).is_ok(), is_good, "{count}");
        }
    }

    #[test]
    fn variables_have_values_or_defaults() {
        assert_eq!(expand("a${REPTILE_NO_SUCH:-b/c}d$e").unwrap(), "ab/cd$e");
        assert!(expand("${REPTILE_NO_SUCH}").unwrap_err().contains("REPTILE_NO_SUCH is not set"));
        assert!(expand("${PATH").is_err());
        assert_eq!(expand("${PATH}").unwrap(), std::env::var("PATH").unwrap());
    }

    #[test]
    fn missing_requirements_are_named() {
        let entry = |more: &str| {
            let text = format!("[[engine]]\nname = \"a\"\ndialect = \"own\"\nrun = [\"a\"]\n{more}\n");
            let mut entry = parse(&text).unwrap().remove(0);
            entry.folder = std::env::temp_dir();
            entry.absent()
        };
        assert_eq!(entry("needs = [\"sh\"]"), None);
        assert_eq!(entry("needs = [\"no-such-program\"]").unwrap(), "no program no-such-program");
        assert_eq!(entry("needs = [\"no/file\"]\ninstall = \"make it\"").unwrap(), "no file no/file; make it");
        assert_eq!(entry("check = [\"sh\", \"-c\", \"echo no module >&2; exit 3\"]").unwrap(), "no module");
        assert_eq!(entry("check = [\"true\"]"), None);
        let built = |program: &str| {
            let text = "[[engine]]\nname = \"a\"\ndialect = \"own\"\nneeds = [\"sh\"]\n";
            let mut entries =
                parse(&format!("{text}run = [\"{program}\"]\nbuild = [\"touch\", \"{program}\"]\n")).unwrap();
            let mut entry = entries.remove(0);
            let folder = tempfile::tempdir().unwrap();
            entry.folder = folder.path().to_owned();
            let before = entry.absent();
            (before, entry.run_build(), entry.absent())
        };
        let (before, build, after) = built("./engine");
        assert!(before.unwrap().starts_with("not built"));
        assert_eq!((build, after), (Ok(()), None));
        assert!(built("no/engine").1.unwrap_err().starts_with("the build failed: touch: "));
    }
}
