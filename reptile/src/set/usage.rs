//! Questions about usage to a set: preferences of many URLs and of one, and the lines that state them.

use reptile_engine::set as engine;
use reptile_engine::verdict::{Preference, Verdict};

#[cfg(feature = "compile")]
use super::directives_of;
use super::{AgentColumns, AgentQuery, Set, SiteLookup};
use crate::Explanation;
use crate::error::Error;
#[cfg(feature = "compile")]
use crate::{Directive, DirectiveKind};

impl Set {
    /// Computes verdicts and preferences for many URLs, with a row for each URL.
    pub(crate) fn usage_all<U: AsRef<[u8]>>(
        &self,
        columns: AgentColumns<'_>,
        urls: &[U],
        times: Option<&[i64]>,
        query: &engine::UsageQuery,
        verdicts: &mut [Verdict],
        preferences: &mut [Preference],
    ) -> Result<(), Error> {
        let (agents, texts) = (columns.resolved, urls.iter().map(AsRef::as_ref));
        if let Some(times) = times {
            let timed = texts.zip(times.iter().copied());
            return Ok(self.timed()?.usage_all_at(agents, timed, query, verdicts, preferences)?);
        }
        if let Some(policy) = self.only {
            return Ok(self.engine.usage_all_by(policy, agents, texts, query, verdicts, preferences)?);
        }
        if self.replaced.is_empty() {
            return Ok(self.engine.usage_all(agents, texts, query, verdicts, preferences)?);
        }
        let width = columns.width();
        let rows = verdicts.chunks_mut(width).zip(preferences.chunks_mut((width * query.len()).max(1)));
        let own_tokens = self.engine.use_tokens(query)?;
        for (url, (verdicts, preferences)) in texts.zip(rows) {
            let (site, path, replaced) = match self.find(url)? {
                SiteLookup::Site { site, path, replaced } => (site, path, replaced),
                other => {
                    verdicts.fill(other.without_site());
                    preferences.fill(Preference::Unknown);
                    continue;
                }
            };
            let again: Option<Vec<engine::Agent>> = replaced
                .map(|engine| columns.chains.iter().map(|chain| chain.look_up(engine)).collect::<Result<_, Error>>())
                .transpose()?;
            let agents = again.as_deref().unwrap_or(agents);
            let of_replaced = replaced.map(|engine| engine.use_tokens(query)).transpose()?;
            let tokens = of_replaced.as_ref().unwrap_or(&own_tokens);
            site.policy().usage_each(agents, &path, (query, tokens), verdicts, preferences)?;
        }
        Ok(())
    }

    /// Returns one URL's verdict, and fills in the preferences.
    ///
    /// Looks the site up once, without a batch's tables.
    pub(crate) fn usage(
        &self,
        query: AgentQuery<'_>,
        url: &[u8],
        uses: &engine::UsageQuery,
        preferences: &mut [Preference],
    ) -> Result<Verdict, Error> {
        let (site, path, replaced) = match self.find(url)? {
            SiteLookup::Site { site, path, replaced } => (site, path, replaced),
            other => {
                preferences.fill(Preference::Unknown);
                return Ok(other.without_site());
            }
        };
        let again = replaced.map(|engine| query.chain.look_up(engine)).transpose()?;
        let agent = std::slice::from_ref(again.as_ref().unwrap_or(query.resolved));
        let tokens = replaced.unwrap_or(&self.engine).use_tokens(uses)?;
        let mut verdict = [Verdict::Unknown];
        site.policy().usage_each(agent, &path, (uses, &tokens), &mut verdict, preferences)?;
        Ok(verdict[0])
    }

    /// Returns the answers of groups whose product token names a use.
    pub(crate) fn usage_groups(
        &self,
        query: AgentQuery<'_>,
        url: &[u8],
        uses: &engine::UsageQuery,
    ) -> Result<Vec<(usize, Explanation)>, Error> {
        let SiteLookup::Site { site, path, replaced } = self.find(url)? else { return Ok(Vec::new()) };
        let agent = replaced.map(|engine| query.chain.look_up(engine)).transpose()?;
        let (agent, policy) = (agent.as_ref().unwrap_or(query.resolved), site.policy());
        let tokens = replaced.unwrap_or(&self.engine).use_tokens(uses)?;
        let found = path.with(|path| {
            let may_fetch = policy.decide(agent, path)? == Verdict::Allow;
            if may_fetch { policy.explain_uses(&tokens, agent, path) } else { Ok(Vec::new()) }
        })?;
        Ok(found.into_iter().map(|(number, inner, group)| (number, Explanation::new(inner, group))).collect())
    }

    /// Returns the lines about usage that decide for a URL.
    #[cfg(feature = "compile")]
    pub(crate) fn usage_lines(&self, query: AgentQuery<'_>, url: &[u8]) -> Result<Vec<Directive>, Error> {
        use reptile_compiler::body::directives::content_usage;
        use reptile_engine::norm::Pattern;
        let form = self.engine.normal_form();
        let none = |_| Vec::new();
        self.ask(query, url, none, |site, agent, path| {
            let parts = site.other().parts_of(&site.policy().group_indices(agent)?)?;
            let is_usage =
                |line: &Directive| matches!(line.kind, DirectiveKind::ContentUsage | DirectiveKind::ContentSignal);
            let mut own = directives_of(site, |part| part.is_some_and(|part| parts.contains(&part)))?;
            own.retain(is_usage);
            let path = form.path(path);
            let len_of = |line: &Directive| {
                let pattern = content_usage(&line.value).0.map(|pattern| form.pattern(pattern));
                match pattern {
                    None => Some(0),
                    Some(pattern) => Pattern::new(&pattern).matches(&path).then_some(pattern.len()),
                }
            };
            let is_content_usage = |line: &Directive| line.kind == DirectiveKind::ContentUsage;
            let longest = own.iter().filter(|line| is_content_usage(line)).filter_map(len_of).max();
            let has_signals = own.iter().any(|line| !is_content_usage(line));
            own.retain(|line| !is_content_usage(line) || len_of(line) == longest && longest.is_some());
            if !has_signals {
                let of_file = directives_of(site, |part| part.is_none())?;
                own.extend(of_file.into_iter().filter(|line| is_usage(line) && !is_content_usage(line)));
            }
            own.sort_by_key(|line| line.line);
            Ok(own)
        })
    }
}
