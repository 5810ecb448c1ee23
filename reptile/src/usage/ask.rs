//! Questions about usage: the answers of agents.

#[cfg(feature = "compile")]
use reptile_engine::set::UsageCategory;
use reptile_engine::verdict::{Preference, Verdict};

use super::Uses;
use crate::agent::{check_len, check_times};
use crate::error::{Error, ErrorKind};
use crate::{Agent, Agents, Explanation};
#[cfg(feature = "compile")]
use crate::{Directive, DirectiveKind};

/// A website's answer about one page and one crawler.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Whether the page may be fetched.
    pub verdict: Verdict,
    /// The preference for each use.
    ///
    /// [`Preference::NotApplicable`] if the page must not be fetched. [`Preference::Unknown`] if the set has no
    /// robots.txt for the URL, or the text is not a URL.
    pub preferences: Vec<Preference>,
}

impl Agent {
    /// Returns a URL's verdict and preferences; see [`crate::usage`].
    ///
    /// Time: [`Agent::decide`], and a second walk over the path if the robots.txt has usage rules with paths.
    ///
    /// # Errors
    /// The errors of [`Agent::decide`].
    pub fn usage(&self, url: impl AsRef<[u8]>, uses: &Uses) -> Result<Usage, Error> {
        let mut preferences = vec![Preference::Unknown; uses.len()];
        let (set, query) = self.query()?;
        let verdict = set.usage(query, url.as_ref(), &uses.query, &mut preferences)?;
        Ok(Usage { verdict, preferences })
    }

    /// Returns a URL's verdict and preferences at a time, by the robots.txt that applied then.
    ///
    /// Source: draft-ietf-aipref-attach-05, section 3.3: updates do not apply to pages that were fetched before them.
    ///
    /// # Errors
    /// The errors of [`Agent::decide_at`].
    pub fn usage_at(&self, url: impl AsRef<[u8]>, time: i64, uses: &Uses) -> Result<Usage, Error> {
        let (mut verdict, mut preferences) = ([Verdict::Invalid], vec![Preference::Unknown; uses.len()]);
        let urls = &[url.as_ref()];
        let (set, column) = self.column()?;
        set.usage_all(column, urls, Some(&[time]), &uses.query, &mut verdict, &mut preferences)?;
        Ok(Usage { verdict: verdict[0], preferences })
    }

    /// Returns the lines about usage that decide for a URL: the `Content-Usage` lines with the longest matching path,
    /// and the `Content-Signal` lines that apply to the crawler. Includes lines whose statements cannot be read.
    ///
    /// Time: linear in the lines, times the path's length for those with wildcards.
    ///
    /// # Errors
    /// The errors of [`Agent::decide`].
    #[cfg(feature = "compile")]
    pub fn usage_lines(&self, url: impl AsRef<[u8]>) -> Result<Vec<Directive>, Error> {
        let (set, query) = self.query()?;
        set.usage_lines(query, url.as_ref())
    }
}

impl Agent {
    /// Returns the answers of groups whose product token names a use, for a URL: each use's index in the question,
    /// and the explanation, in which a disallow forbids the use and an allow permits it.
    ///
    /// Empty for a URL without a known robots.txt, and for a page that the crawler must not fetch.
    ///
    /// ```
    /// use reptile::usage::{Sources, Vocabulary};
    /// use reptile::{Dialect, Robots, Verdict};
    ///
    /// let body = "User-agent: __usage_ai-training\nDisallow: /\nAllow: /open/\n";
    /// let agent = Robots::parse(body, Dialect::google())?.agent("FooBot")?;
    /// let uses = Vocabulary::default().uses(["train-ai"], Sources::default())?;
    /// let stated = agent.usage_groups("/open/1", &uses)?;
    /// assert_eq!((stated[0].0, stated[0].1.verdict, stated[0].1.rule().map(|rule| rule.line)), (0, Verdict::Allow, Some(3)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Agent::decide`].
    pub fn usage_groups(&self, url: impl AsRef<[u8]>, uses: &Uses) -> Result<Vec<(usize, Explanation)>, Error> {
        let (set, query) = self.query()?;
        set.usage_groups(query, url.as_ref(), &uses.query)
    }
}

impl Agent {
    /// Returns the numbers of the lines that decide about the uses for a URL, among the statements that the question
    /// reads. Empty for a page that the crawler must not fetch.
    ///
    /// # Errors
    /// The errors of [`Agent::decide`].
    #[cfg(feature = "compile")]
    pub fn usage_line_numbers(&self, url: impl AsRef<[u8]>, uses: &Uses) -> Result<Vec<u32>, Error> {
        let url = url.as_ref();
        if self.decide(url)? != Verdict::Allow {
            return Ok(Vec::new());
        }
        let reads = |has_labels: fn(&UsageCategory) -> bool| uses.query.categories().iter().any(has_labels);
        let reads_signals = reads(|category| !category.signals.is_empty());
        let reads_usage = reads(|category| !category.usage.is_empty());
        let is_read = |line: &Directive| match line.kind {
            DirectiveKind::ContentSignal => reads_signals,
            _ => reads_usage,
        };
        let mut numbers: Vec<u32> = self.usage_lines(url)?.into_iter().filter(is_read).map(|line| line.line).collect();
        let of_groups = self.usage_groups(url, uses)?;
        numbers.extend(of_groups.iter().filter_map(|(_, found)| found.rule()).map(|rule| rule.line));
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }
}

impl Agents {
    /// Computes verdicts and preferences for many URLs, on this thread.
    ///
    /// `verdicts[i * agents.len() + j]` is for `urls[i]` and the `j`-th crawler, as from [`Agents::decide_all`], or with
    /// times as from [`Agents::decide_all_at`]. `preferences[(i * agents.len() + j) * uses.len() + k]` is for the `k`-th
    /// use.
    ///
    /// # Errors
    /// Returns [`ErrorKind::BufferLength`] if a buffer has another length, and the errors of [`Agents::decide_all`] or
    /// [`Agents::decide_all_at`]. After an error neither result must be used.
    pub fn usage_all<U: AsRef<[u8]>>(
        &self,
        urls: &[U],
        times: Option<&[i64]>,
        uses: &Uses,
        verdicts: &mut [Verdict],
        preferences: &mut [Preference],
    ) -> Result<(), Error> {
        times.map_or(Ok(()), |times| check_times(urls.len(), times))?;
        check_len(urls.len(), self.len(), verdicts)?;
        if verdicts.len().checked_mul(uses.len()) != Some(preferences.len()) {
            let (needed, found) = (verdicts.len().saturating_mul(uses.len()), preferences.len());
            let message = format!(
                "{} verdicts and {} uses need a buffer of {needed} preferences, found {found}",
                verdicts.len(),
                uses.len()
            );
            return Err(Error::new(ErrorKind::BufferLength, message));
        }
        let (set, columns) = self.columns()?;
        set.usage_all(columns, urls, times, &uses.query, verdicts, preferences)
    }
}
