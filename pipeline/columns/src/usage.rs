//! Columns about uses of pages, as the bindings request them: [`UsageColumns`], and their names, [`UsageOptions`].

use reptile::usage::{Sources, UnknownUsage, Uses, Vocabulary};

use crate::column::Layout;
use crate::error::{Error, ErrorKind};

/// The statements that are read by default, as by [`Sources::default`].
const DEFAULT_LINES: &str = "usage,tokens";

/// The meanings of an unknown preference, by their names.
const UNKNOWN: [(&str, UnknownUsage); 3] =
    [("allow", UnknownUsage::Allow), ("disallow", UnknownUsage::Disallow), ("unknown", UnknownUsage::Unknown)];

/// The columns about uses in a row: a preference for each use, and optionally a single verdict.
///
/// See [`ArrayDecider::with_usage`](crate::arrow::ArrayDecider::with_usage) for an example.
#[derive(Clone, Debug)]
pub struct UsageColumns {
    shown: Uses,
    /// The shown uses and the purpose, and the meaning of an unknown preference.
    purpose: Option<(Uses, UnknownUsage)>,
}

impl UsageColumns {
    /// Creates a column for each use: `CRAWLER:USE`, with `allowed`, `disallowed`, `unknown` or `not-applicable`.
    #[must_use]
    pub fn new(uses: Uses) -> UsageColumns {
        UsageColumns { shown: uses, purpose: None }
    }

    /// Returns the uses that have a column, without a purpose.
    #[must_use]
    pub fn shown(&self) -> &Uses {
        &self.shown
    }

    /// Adds the columns to a layout.
    ///
    /// # Errors
    /// The errors of [`Layout::with_uses`].
    pub(crate) fn added_to(&self, layout: Layout) -> Result<Layout, Error> {
        match self.purpose.clone() {
            Some((uses, unknown)) => layout.with_purpose(uses, self.shown.clone(), unknown),
            None => layout.with_uses(self.shown.clone()),
        }
    }
}

/// The names that select columns about uses.
///
/// ```
/// use reptile_columns::UsageOptions;
///
/// let options = UsageOptions { uses: vec!["train-ai".into()], lines: "all".into(), ..UsageOptions::default() };
/// assert!(options.columns()?.is_some());
/// assert!(UsageOptions::default().columns()?.is_none());
/// // There is no default for an unknown preference.
/// let options = UsageOptions { purpose: Some("train-ai".into()), ..options };
/// assert!(options.columns().unwrap_err().to_string().contains("unknown_usage"));
/// # Ok::<(), reptile_columns::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UsageOptions {
    /// The uses that get a column, such as `train-ai`.
    pub uses: Vec<String>,
    /// The statements that are read, separated by commas: `usage` (`Content-Usage`), `signals` (`Content-Signal`),
    /// `tokens` (groups whose product token names a use), `default-group` (those, and the groups for `*` in files
    /// where no group names the token), or `all` (the first three).
    pub lines: String,
    /// The vocabulary's name, or a file's path.
    pub vocabulary: String,
    /// The use of the column `purpose`, the single verdict for the fetch and this use.
    pub purpose: Option<String>,
    /// The verdict for an unknown preference in the column `purpose`: `allow`, `disallow` or `unknown`. Required with
    /// `purpose`, because the drafts leave the meaning open.
    pub unknown_usage: Option<String>,
}

impl Default for UsageOptions {
    fn default() -> UsageOptions {
        let vocabulary = Vocabulary::NAMES[0].to_owned();
        UsageOptions {
            uses: Vec::new(),
            lines: DEFAULT_LINES.to_owned(),
            vocabulary,
            purpose: None,
            unknown_usage: None,
        }
    }
}

impl UsageOptions {
    /// Returns the columns, or `None` if neither a use nor a purpose is named. Reads the vocabulary if it is a file.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Column`] for an unknown name, a purpose without the meaning of an unknown preference, and
    /// options that have no effect.
    pub fn columns(&self) -> Result<Option<UsageColumns>, Error> {
        let fail = |message: String| Error::new(ErrorKind::Column, message);
        let unknown = self.unknown_usage()?;
        if self.uses.is_empty() && self.purpose.is_none() {
            if *self != UsageOptions::default() {
                return Err(fail("lines and vocabulary: have no effect without uses or purpose".to_owned()));
            }
            return Ok(None);
        }
        let lines: Sources = self.lines.parse().map_err(|error| fail(format!("lines: {error}")))?;
        let vocabulary = Vocabulary::open(&self.vocabulary)
            .map_err(|error| fail(format!("vocabulary {:?}: {error}", self.vocabulary)))?;
        let uses = |names: &[&String]| vocabulary.uses(names, lines).map_err(|error| fail(error.to_string()));
        let mut names: Vec<&String> = self.uses.iter().collect();
        let shown = uses(&names)?;
        names.extend(&self.purpose);
        let purpose = match unknown {
            Some(unknown) => Some((uses(&names)?, unknown)),
            None => None,
        };
        Ok(Some(UsageColumns { shown, purpose }))
    }

    /// Returns the meaning of an unknown preference, or `None` without a purpose.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Column`] if a name is unknown, or if only one of the options `purpose` and `unknown_usage`
    /// is given.
    pub fn unknown_usage(&self) -> Result<Option<UnknownUsage>, Error> {
        let message = match (&self.purpose, &self.unknown_usage) {
            (None, None) => return Ok(None),
            (Some(_), Some(word)) => return named("unknown_usage", word, &UNKNOWN).map(Some),
            (Some(_), None) => {
                "purpose: needs unknown_usage (allow, disallow or unknown), because the drafts leave open what an unknown \
                 preference means"
            }
            (None, Some(_)) => "unknown_usage: has no effect without purpose",
        };
        Err(Error::new(ErrorKind::Column, message))
    }
}

/// Returns the value with a name.
fn named<T: Copy>(option: &str, name: &str, values: &[(&str, T)]) -> Result<T, Error> {
    let found = values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
        Error::new(ErrorKind::Column, format!("unknown {option} {name:?}; expected {}", names.join(", ")))
    })
}
