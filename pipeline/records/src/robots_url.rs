//! The URL of a robots.txt capture, and whether its response counts for the origin.
//!
//! A URL such as `https://a.example/robots%2Etxt` equals `/robots.txt`, but a server may treat it as another
//! one. Anyone can link to it, and so make a crawler fetch it. A response under another spelling therefore counts only
//! if it is a file of rules: an error or a page must not replace the origin's robots.txt.

use reptile::Origin;
use reptile::capture::Capture;
use reptile::urls::{RobotsUrlError, split};

use crate::detect::{Content, detect};

/// The URL of a robots.txt.
pub(crate) struct RobotsUrl {
    /// The origin that the robots.txt governs.
    pub origin: Origin,
    /// Whether the path is written as `/robots.txt`.
    pub is_plain: bool,
}

impl RobotsUrl {
    /// Parses a URL.
    ///
    /// # Errors
    /// Returns an error if it is not the URL of a robots.txt.
    pub fn of(url: &[u8]) -> Result<RobotsUrl, RobotsUrlError> {
        let origin = Origin::of_robots_url(url)?;
        let is_plain = split(url).is_ok_and(|url| url.path.with(|path| path == b"/robots.txt"));
        Ok(RobotsUrl { origin, is_plain })
    }

    /// Returns whether a response to this URL counts for the origin.
    pub fn accepts(&self, capture: &Capture, body: Option<&[u8]>) -> bool {
        let is_page = || capture.media_type.as_deref().is_some_and(|name| name == "text/html");
        let is_text = || body.is_some_and(|body| detect(body) == Content::Text);
        let is_success = || capture.status.is_none_or(|status| status / 100 == 2) && !capture.has_failed;
        self.is_plain || (is_success() && !is_page() && is_text())
    }
}
