//! Single queries on a file: [`OneShot`].

use std::sync::Arc;

use reptile_compiler::capture::{self, Outcome};
use reptile_compiler::dialect::crawlers::Resolved;
use reptile_compiler::limits::MAX_BODY_BYTES;
use reptile_compiler::once::decide_path_once;
use reptile_engine::url::path_at_any_origin;

use crate::crawler::Crawler;
use crate::error::{CrawlerError, Error};
use crate::location::refuse_location;
use crate::robots::Robots;
use crate::set::Chain;
use crate::{Dialect, Profile, Verdict};

/// Decides single queries directly from a robots.txt's bytes, and keeps nothing from the file.
///
/// The verdict and the line are the same as from [`Robots`], which compiles the file first and then decides faster.
/// Use [`Robots`] for several URLs.
///
/// Cost: creating a value takes some microseconds, because the crawler is resolved. A query takes one pass over the
/// file. For each rule in the crawler's groups that starts like the path, it takes at most linear time in path and
/// pattern. It allocates only for text that must be normalized. A file whose rules would take more than 16,777,216
/// steps on one URL is compiled instead.
#[derive(Clone, Debug)]
pub struct OneShot {
    dialect: Dialect,
    crawler: Crawler,
    chain: Arc<Chain>,
    resolved: Resolved,
}

impl OneShot {
    /// Resolves a crawler as [`Robots::agent`] does.
    ///
    /// ```
    /// use reptile::{Dialect, OneShot, Verdict};
    /// let one_shot = OneShot::new("AnyBot", Dialect::rfc9309())?;
    /// let body = "User-agent: *\nDisallow: /cart\n";
    /// assert_eq!(one_shot.decide(body, "https://shop.example/cart?item=1")?, (Verdict::Disallow, Some(2)));
    /// assert_eq!(one_shot.decide(body, "/help")?, (Verdict::Allow, None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Robots::agent`].
    pub fn new(crawler: impl Into<Crawler>, dialect: &Dialect) -> Result<OneShot, CrawlerError> {
        let crawler = crawler.into();
        let empty = Robots::parse("", dialect).map_err(|error| CrawlerError::damaged(&crawler, error))?;
        let agent = empty.agent(crawler.clone())?;
        let resolved = Resolved {
            name: crawler.to_string(),
            tokens: agent.chain.tokens.clone(),
            honors_default_group: agent.chain.honors_default_group,
        };
        Ok(OneShot { dialect: dialect.clone(), crawler, chain: agent.chain, resolved })
    }

    /// Returns the verdict by a robots.txt for a URL or only a path, and the deciding rule's line number, if a rule
    /// decides. A text that is neither is not an error; its verdict is [`Verdict::Invalid`].
    ///
    /// # Errors
    /// The errors of [`Robots::parse`], such as [`ErrorKind::NotRobots`](crate::ErrorKind::NotRobots) if the arguments
    /// are swapped.
    pub fn decide(&self, body: impl AsRef<[u8]>, url: impl AsRef<[u8]>) -> Result<(Verdict, Option<u32>), Error> {
        let (body, url) = (body.as_ref(), url.as_ref());
        refuse_location(body)?;
        let Ok(path) = path_at_any_origin(url) else { return Ok((Verdict::Invalid, None)) };
        let (facts, profile) = (capture::Capture::default(), Profile::of_dialect(&self.dialect));
        if body.len() <= MAX_BODY_BYTES && profile.outcome(&facts, body) == Outcome::Use {
            let body = profile.readable(&facts, body);
            if let Ok(answer) = decide_path_once(&body, &self.dialect, &self.resolved, &path) {
                let verdict = if answer.allowed { Verdict::Allow } else { Verdict::Disallow };
                return Ok((verdict, of_file(answer.line)));
            }
        }
        self.decide_compiled(body, url)
    }

    /// Does the work of [`OneShot::decide`] for a file that must be converted first, or whose rules take too many
    /// steps.
    #[cold]
    fn decide_compiled(&self, body: &[u8], url: &[u8]) -> Result<(Verdict, Option<u32>), Error> {
        let robots = Robots::parse(body, &self.dialect)?;
        let explained = robots.agent_of_chain(&self.crawler, &self.chain)?.explain(url)?;
        Ok((explained.verdict, explained.rule().and_then(|rule| of_file(rule.line))))
    }
}

/// Returns the line, or `None` for 0, which is not a line in the file.
fn of_file(line: u32) -> Option<u32> {
    Some(line).filter(|&line| line > 0)
}
