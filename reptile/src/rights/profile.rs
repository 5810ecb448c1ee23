//! Profiles: which channels count, and which use each of their tokens means. Data, because the choice is the reader's.

use reptile_compiler::usage::Statement;
use reptile_engine::set::{UsageCategory, UsageQuery};
use reptile_engine::verdict::Preference;

use super::{Channel, Statements, tokens};
use crate::Agent;
use crate::usage::text::{self, TextError};
use crate::usage::{UnknownUse, Uses};

/// Maximum number of bytes in the text of a profile.
pub const MAX_PROFILE_BYTES: usize = 1 << 16;

/// A named list of channels and tokens, with their meanings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    name: Box<str>,
    categories: Vec<Box<str>>,
    meanings: Vec<TokenMeaning>,
}

/// A token's meaning for a use.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TokenMeaning {
    channel: Channel,
    /// A token, or a label whose value is in the statement.
    token: Box<str>,
    /// The use, by index.
    category: usize,
    /// The token's preference. Of a label, it is unused.
    preference: Preference,
}

/// The profiles that ship, with their texts.
const SHIPPED: [(&str, &str); 3] =
    [("all", include_str!("all.txt")), ("aipref", include_str!("aipref.txt")), ("robots", include_str!("robots.txt"))];

impl Profile {
    /// The names of the profiles that ship.
    pub const NAMES: [&str; 3] = [SHIPPED[0].0, SHIPPED[1].0, SHIPPED[2].0];

    /// Returns a profile that ships, or `None` if there is none of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Profile> {
        let (name, text) = SHIPPED.into_iter().find(|(known, _)| *known == name)?;
        Profile::parse(name, text).ok()
    }

    /// Returns a profile that ships, or else reads the file with this path, in the form of [`Profile::parse`].
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, and the errors of [`Profile::parse`].
    pub fn open(name: &str) -> Result<Profile, TextError> {
        if let Some(profile) = Profile::named(name) {
            return Ok(profile);
        }
        let text = text::read_file(name, MAX_PROFILE_BYTES, &Profile::NAMES)?;
        Profile::parse(name, &text)
    }

    /// Parses a profile.
    ///
    /// Each line is `channels token = uses`. A channel is one of [`Channel::name`], several are separated by commas. In
    /// `robots`, `signal`, `token` and `content-usage` the token is a label whose value is in the statement, and the uses
    /// are names. In the other channels each use has the value that the token means: `y` or `n`. Text after `#` is a
    /// comment. A channel without a line does not count.
    ///
    /// ```
    /// use reptile::rights::Profile;
    /// let text = "robots train-ai = training\nx-robots-tag,meta-robots noai = training=n  # our choice\n";
    /// let profile = Profile::parse("ours", text)?;
    /// assert!(profile.categories().eq(["training"]));
    /// assert!(Profile::parse("ours", "x-robots-tag noai = training").is_err());
    /// # Ok::<(), reptile::usage::TextError>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error for the first line of another form, a token that a channel has twice, and a text without lines
    /// or over [`MAX_PROFILE_BYTES`].
    pub fn parse(name: &str, text: &str) -> Result<Profile, TextError> {
        let mut profile = Profile { name: name.into(), categories: Vec::new(), meanings: Vec::new() };
        for (number, content) in text::content_lines(text, MAX_PROFILE_BYTES)? {
            profile.add(content).map_err(|(expected, found)| TextError::new(number, expected, found))?;
        }
        if profile.meanings.is_empty() {
            return Err(TextError::new(1, "at least one line", ""));
        }
        Ok(profile)
    }

    /// Adds a line. The error is the expected text, and the text found instead.
    fn add<'t>(&mut self, content: &'t str) -> Result<(), (String, &'t str)> {
        let form = || ("channels token = uses".to_owned(), content);
        let (left, uses) = content.split_once(" = ").ok_or_else(form)?;
        let mut words = left.split_whitespace();
        let (Some(channels), Some(token), None) = (words.next(), words.next(), words.next()) else {
            return Err(form());
        };
        if token.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Err(("a token in lower case".into(), token));
        }
        if uses.trim().is_empty() {
            return Err(("at least one use".into(), content));
        }
        let known = self.meanings.len();
        for name in channels.split(',') {
            let is_counted = |channel: &Channel| *channel != Channel::License && channel.name() == name;
            let Some(channel) = Channel::ALL.into_iter().find(is_counted) else {
                let channels = Channel::ALL.into_iter().filter(|channel| *channel != Channel::License);
                return Err((channels.map(Channel::name).collect::<Vec<_>>().join(", "), name));
            };
            if self.meanings[..known].iter().any(|known| known.channel == channel && &*known.token == token) {
                return Err(("each token of a channel once".into(), token));
            }
            for text in uses.split_whitespace() {
                let (category, preference) = match text.split_once('=') {
                    None if channel.has_values() => (text, Preference::Unknown),
                    Some((category, "y")) if !channel.has_values() => (category, Preference::Allowed),
                    Some((category, "n")) if !channel.has_values() => (category, Preference::Disallowed),
                    _ if channel.has_values() => return Err((format!("a use without a value for {name}"), text)),
                    _ => return Err((format!("a use with the value y or n for {name}"), text)),
                };
                let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.*".contains(&byte);
                if category.is_empty() || !category.bytes().all(is_name) {
                    return Err(("a use of lower-case letters, digits, \"-\", \"_\", \".\" and \"*\"".into(), text));
                }
                let category = match self.categories.iter().position(|known| &**known == category) {
                    Some(place) => place,
                    None => {
                        self.categories.push(category.into());
                        self.categories.len() - 1
                    }
                };
                self.meanings.push(TokenMeaning { channel, token: token.into(), category, preference });
            }
        }
        Ok(())
    }

    /// Returns the profile's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the names of the uses, in the order of their first lines.
    pub fn categories(&self) -> impl ExactSizeIterator<Item = &str> {
        self.categories.iter().map(|category| &**category)
    }

    /// Prepares a question about some uses.
    ///
    /// # Errors
    /// Returns an error for the first use that the profile does not have.
    pub fn query<N: AsRef<str>>(&self, names: impl IntoIterator<Item = N>) -> Result<RightsQuery, UnknownUse> {
        let (mut names_of_uses, mut meanings) = (Vec::new(), Vec::new());
        for name in names {
            let name = name.as_ref();
            let Some(known) = self.categories.iter().position(|category| &**category == name) else {
                return Err(UnknownUse::new(name, &self.name, &self.categories));
            };
            let category = names_of_uses.len();
            let of_category = self.meanings.iter().filter(|meaning| meaning.category == known);
            meanings.extend(of_category.map(|meaning| TokenMeaning { category, ..meaning.clone() }));
            names_of_uses.push(name.into());
        }
        let of_robots = RobotsQuery::new(&names_of_uses, &meanings);
        Ok(RightsQuery { names: names_of_uses, meanings, of_robots })
    }
}

/// A question about the rights to use pages: some of a profile's uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RightsQuery {
    names: Vec<Box<str>>,
    /// The meanings for these uses. Their categories are indexes into `names`.
    meanings: Vec<TokenMeaning>,
    pub(super) of_robots: RobotsQuery,
}

/// The question for robots.txt: each use, in each channel for which it has labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RobotsQuery {
    pub(super) uses: Uses,
    /// For each of `uses`, the channel, and the use's index among the names. A channel's uses are adjacent.
    pub(super) places: Vec<(Channel, usize)>,
}

impl RobotsQuery {
    fn new(names: &[Box<str>], meanings: &[TokenMeaning]) -> RobotsQuery {
        let (mut asked, mut categories, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for channel in Channel::ALL.into_iter().filter(|channel| channel.is_of_robots()) {
            for (place, name) in names.iter().enumerate() {
                let of_use = |meaning: &&TokenMeaning| meaning.channel == channel && meaning.category == place;
                let labels: Vec<Box<[u8]>> =
                    meanings.iter().filter(of_use).map(|meaning| meaning.token.as_bytes().into()).collect();
                if labels.is_empty() {
                    continue;
                }
                let none = UsageCategory::default();
                categories.push(match channel {
                    Channel::Signal => UsageCategory { signals: labels, ..none },
                    Channel::Token => UsageCategory { tokens: labels, ..none },
                    _ => UsageCategory { usage: labels, ..none },
                });
                asked.push(name.clone());
                places.push((channel, place));
            }
        }
        RobotsQuery { uses: Uses { names: asked, query: UsageQuery::new(categories) }, places }
    }
}

impl RightsQuery {
    /// Returns the uses' names.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    /// Returns the number of uses.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns whether there are no uses.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns whether a statement in the page's text counts, so that the text must be read.
    #[must_use]
    pub fn reads_text(&self) -> bool {
        self.meanings.iter().any(|meaning| meaning.channel.is_in_text())
    }

    /// Returns whether a use depends on a channel for which `test` holds.
    pub(super) fn needs(&self, place: usize, test: impl Fn(Channel) -> bool) -> bool {
        self.meanings.iter().any(|meaning| meaning.category == place && test(meaning.channel))
    }

    /// Returns whether a channel's token has a meaning.
    fn is_known(&self, channel: Channel, token: &str) -> bool {
        self.meanings.iter().any(|meaning| meaning.channel == channel && &*meaning.token == token)
    }

    /// Returns whether a channel's token disallows all uses that it has a meaning for.
    fn restricts(&self, channel: Channel, token: &str) -> bool {
        let mut meanings =
            self.meanings.iter().filter(|meaning| meaning.channel == channel && &*meaning.token == token);
        meanings.all(|meaning| meaning.preference == Preference::Disallowed)
    }

    /// Returns the preferences that a page's channel states for a crawler, for each use. `None` if the channel does not
    /// count or says nothing.
    pub(super) fn read(&self, channel: Channel, page: &Statements, agent: &Agent) -> Option<Vec<Preference>> {
        let is_counted = self.meanings.iter().any(|meaning| meaning.channel == channel);
        if !is_counted || page.of(channel).next().is_none() {
            return None;
        }
        let is_for = |name: &[u8]| name.is_empty() || agent.tokens().any(|token| tokens::is_product(name, token));
        let mut stated = vec![Preference::Unknown; self.len()];
        let mut add = |token: &str, value: Option<Preference>| {
            for meaning in &self.meanings {
                if meaning.channel == channel && &*meaning.token == token {
                    let stated = &mut stated[meaning.category];
                    *stated = stated.combined_with(value.unwrap_or(meaning.preference));
                }
            }
        };
        match channel {
            Channel::UsageHeader => {
                // Repeated fields are one dictionary (RFC 9651, section 4.2).
                let fields: Vec<&[u8]> = page.of(channel).map(|(_, text)| text).collect();
                let combined = Statement::parse(&fields.join(&b", "[..])).ok();
                // An unreadable dictionary says nothing (draft-ietf-aipref-vocab, section 6). Its readable members may
                // come from another header, and show that the website does not permit a use.
                if combined.is_none() || page.lacks(channel) {
                    let members = fields.iter().flat_map(|field| field.split(|&byte| byte == b','));
                    for member in members.filter_map(|member| Statement::parse(member).ok()) {
                        let restrictions = member.entries().filter(|(_, found)| *found == Preference::Disallowed);
                        restrictions.for_each(|(label, preference)| add(label, Some(preference)));
                    }
                }
                let statement = combined.unwrap_or_default();
                statement.entries().for_each(|(label, preference)| add(label, Some(preference)));
            }
            Channel::RobotsHeader => {
                let is_known = |word: &str| self.is_known(channel, word);
                for (name, token) in page.of(channel).flat_map(|(_, text)| tokens::of_field(text, is_known)) {
                    if is_for(name.as_bytes()) {
                        add(&token, None);
                    }
                }
            }
            Channel::RobotsMeta => {
                let elements = page.of(channel).filter(|(name, _)| is_for(name));
                elements.flat_map(|(_, text)| tokens::of_element(text)).for_each(|token| add(&token, None));
            }
            Channel::TdmHeader | Channel::TdmMeta | Channel::TdmFile => {
                for text in page.of(channel).map(|(_, text)| String::from_utf8_lossy(text).to_ascii_lowercase()) {
                    add(text.trim(), None);
                    // Of a malformed value such as `0, 1`, only restrictions count.
                    let tokens = tokens::of_malformed(&text).filter(|token| self.restricts(channel, token));
                    tokens.for_each(|token| add(token, None));
                }
            }
            Channel::Robots | Channel::Signal | Channel::Token | Channel::License => {}
        }
        Some(stated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every meaning names its source.
    #[test]
    fn shipped_profiles_are_valid_and_name_their_sources() {
        for (name, text) in SHIPPED {
            let profile = Profile::parse(name, text).unwrap();
            assert_eq!(profile.name(), name);
            for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
                let source = line.split_once('#').map(|(_, source)| source.trim()).unwrap_or_default();
                assert!(source.len() > 10, "{name}: no source: {line}");
            }
        }
        assert_eq!(Profile::named("none"), None);
        let error = Profile::open("none").unwrap_err().to_string();
        assert!(error.starts_with("expected all, aipref, robots, or a file that can be read"), "{error}");
        let error = Profile::named("aipref").unwrap().query(["training"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the vocabulary aipref has no use \"training\"; expected train-ai, search, ai-use"
        );
    }

    #[test]
    fn mistakes_are_reported_with_their_line() {
        for (text, expected) in [
            ("robots a = b c # x\n\nx-robots-tag,meta-robots d = b=n c=y", None),
            ("", Some("line 1: expected at least one line, found \"\"")),
            ("\nrobots a", Some("line 2: expected channels token = uses, found \"robots a\"")),
            ("robots a b = c", Some("line 1: expected channels token = uses, found \"robots a b = c\"")),
            ("robots A = c", Some("line 1: expected a token in lower case, found \"A\"")),
            ("robots a = c=n", Some("line 1: expected a use without a value for robots, found \"c=n\"")),
            ("tdm-meta 1 = c", Some("line 1: expected a use with the value y or n for tdm-meta, found \"c\"")),
            ("tdm-meta 1 = c=no", Some("line 1: expected a use with the value y or n for tdm-meta, found \"c=no\"")),
            (
                "robots a = B",
                Some(
                    "line 1: expected a use of lower-case letters, digits, \"-\", \"_\", \".\" and \"*\", found \"B\"",
                ),
            ),
            ("robots a = c\nrobots a = d", Some("line 2: expected each token of a channel once, found \"a\"")),
            (
                "license a = c=n",
                Some(
                    "line 1: expected robots, signal, token, content-usage, x-robots-tag, meta-robots, tdm-header, tdm-meta, \
                     tdm-file, found \"license\"",
                ),
            ),
        ] {
            let found = Profile::parse("x", text).err().map(|error| error.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
        for len in [MAX_PROFILE_BYTES - 1, MAX_PROFILE_BYTES, MAX_PROFILE_BYTES + 1] {
            let text = format!("robots a = b{}", " ".repeat(len - 12));
            assert_eq!(Profile::parse("x", &text).is_ok(), len <= MAX_PROFILE_BYTES, "{len}");
        }
    }
}
