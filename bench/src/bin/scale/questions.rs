//! The questions: an agent, and URLs of a synthetic web.

use std::convert::Infallible;

use reptile_corpora::Web;
use reptile_corpora::urls::Spread;

/// The agent in all questions. Some of the files name it.
pub const AGENT: &str = "Googlebot";

/// URLs in one contiguous block, like a file that was read whole.
#[derive(Default)]
pub struct Urls {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Urls {
    /// Returns a web's URLs.
    pub fn of(web: &Web, spread: &Spread) -> Urls {
        let mut urls = Urls::default();
        let _ = web.urls(spread, |url| {
            urls.text.extend_from_slice(url);
            urls.ends.push(urls.text.len());
            Ok::<(), Infallible>(())
        });
        urls
    }

    /// Returns the URLs in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end])
    }
}
