//! The answers to `--usage`: the website's preferences, and the lines that state them.

use std::collections::BTreeMap;

use reptile::usage::{Preference, Uses};
use reptile::{Agents, Set};

use super::args::Args;
use crate::error::{Failure, Result};
use crate::sets::agents::name_in;

/// The origin of the set's only robots.txt; see [`crate::sets::single::ONE_ORIGIN`].
const ORIGIN: &[u8] = b"http://localhost";

/// Returns the uses of `--usage`, or `None` if the option is not given.
///
/// # Errors
/// Returns an error for a use or vocabulary that does not exist, and for options that do not fit together.
pub fn of(args: &Args) -> Result<Option<Uses>> {
    if args.uses.usage.is_empty() {
        args.uses.refuse_without("--usage")?;
        return Ok(None);
    }
    if args.all_dialects && !args.json {
        return Err(Failure::new("--usage: with --all-dialects, it requires --json"));
    }
    args.uses.uses(&args.uses.vocabulary()?, "--usage", &args.uses.names()).map(Some)
}

/// The questions about usage under one dialect.
pub struct UsageQuestions<'u> {
    uses: &'u Uses,
    agents: Agents,
}

/// The website's preferences for a URL and an agent.
pub struct StatedPreferences {
    names: Vec<String>,
    preferences: Vec<Preference>,
    /// The lines that state them. Empty if they do not apply.
    pub lines: Vec<u32>,
}

impl<'u> UsageQuestions<'u> {
    /// Looks up the agents in a set with one robots.txt.
    ///
    /// # Errors
    /// Returns an error if the set is damaged. The agents' names are known to be valid.
    pub fn new(uses: &'u Uses, args: &Args, set: Vec<u8>) -> Result<UsageQuestions<'u>> {
        let (path, specs) = (&args.robots, &args.agents);
        let failed = |error: &dyn std::fmt::Display| Failure::at(path, error.to_string());
        let set = Set::from_bytes(set).map_err(|error| failed(&error))?;
        let mut crawlers = Vec::new();
        for spec in specs {
            crawlers.extend(set.crawlers_named(name_in(spec)).map_err(|error| failed(&error))?);
        }
        Ok(UsageQuestions { uses, agents: set.agents(crawlers).map_err(|error| failed(&error))? })
    }

    /// Returns the preferences for a path as written in a URL.
    ///
    /// # Errors
    /// Returns an error if the set is damaged.
    pub fn of(&self, agent: usize, path: &[u8]) -> std::result::Result<StatedPreferences, reptile::Error> {
        let url = [ORIGIN, path].concat();
        let names = self.uses.names().map(str::to_owned).collect();
        let Some(agent) = self.agents.iter().nth(agent) else {
            let preferences = vec![Preference::Unknown; self.uses.len()];
            return Ok(StatedPreferences { names, preferences, lines: Vec::new() });
        };
        let preferences = agent.usage(&url, self.uses)?.preferences;
        Ok(StatedPreferences { names, preferences, lines: agent.usage_line_numbers(&url, self.uses)? })
    }
}

impl StatedPreferences {
    /// Returns each use with its preference.
    pub fn preferences(&self) -> impl Iterator<Item = (&str, Preference)> {
        self.names.iter().map(String::as_str).zip(self.preferences.iter().copied())
    }

    /// Returns the preferences as a JSON object's content.
    pub fn to_map(&self) -> BTreeMap<&str, &'static str> {
        self.preferences().map(|(name, preference)| (name, preference.name())).collect()
    }
}
