//! A single fetch of a robots.txt, as a compiler takes it.

use reptile_compiler::capture;

use crate::error::{Error, ErrorKind};
use crate::{Challenger, Origin, Truncation};

/// A single fetch of a robots.txt: its origin, outcome and time.
///
/// A new capture is a file that was fetched successfully at an unknown time. Set the fields to add more facts.
///
/// ```
/// use reptile::Capture;
/// let found = Capture::new("https://example.com/robots.txt", "user-agent: *\ndisallow: /private")?;
/// let mut gone = Capture::without_body("https://gone.example.com/robots.txt")?;
/// (gone.status, gone.time) = (Some(404), Some(1_767_225_600));
/// # let _ = (found, gone);
/// # Ok::<(), reptile::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capture {
    /// The robots.txt's origin.
    pub origin: Origin,
    /// The body, if there was one.
    pub body: Option<Vec<u8>>,
    /// The status of the last response, after all followed redirects; `None` means 200.
    pub status: Option<u16>,
    /// Number of redirects followed.
    pub redirects: u32,
    /// The fetch time in seconds since 1970 (UTC).
    pub time: Option<i64>,
    /// The response's `Cache-Control`, which limits how long the file may be kept (RFC 9111 section 5.2.2).
    pub cache_control: Option<String>,
    /// The response's `Content-Type`.
    pub content_type: Option<String>,
    /// The product that marked the response as a challenge page with a response header; see
    /// [`challenger_of_header`](crate::challenger_of_header). Not needed if the body shows the product.
    pub challenger: Option<Challenger>,
    /// The reason why the body is truncated, if it is.
    pub truncated: Option<Truncation>,
    /// Whether there was no valid response: unknown host, no connection, or a time-out.
    pub has_failed: bool,
}

impl Capture {
    /// Creates a capture for the robots.txt at a URL. Only `/robots.txt` governs an origin (RFC 9309 section 2.3).
    ///
    /// # Errors
    /// Returns [`ErrorKind::RobotsUrl`] if the URL is not a robots.txt URL.
    pub fn new(robots_url: impl AsRef<[u8]>, body: impl Into<Vec<u8>>) -> Result<Capture, Error> {
        Ok(Capture { body: Some(body.into()), ..Capture::without_body(robots_url)? })
    }

    /// Creates a capture without a body: a failed fetch, or a status that needs no body.
    ///
    /// # Errors
    /// Returns [`ErrorKind::RobotsUrl`] if the URL is not a robots.txt URL.
    pub fn without_body(robots_url: impl AsRef<[u8]>) -> Result<Capture, Error> {
        let url = robots_url.as_ref();
        let origin = Origin::of_robots_url(url)
            .map_err(|error| Error::new(ErrorKind::RobotsUrl, format!("\"{}\": {error}", url.escape_ascii())))?;
        Ok(Capture::of(origin, None))
    }

    pub(super) fn of(origin: Origin, body: Option<Vec<u8>>) -> Capture {
        Capture {
            origin,
            body,
            status: None,
            redirects: 0,
            time: None,
            cache_control: None,
            content_type: None,
            challenger: None,
            truncated: None,
            has_failed: false,
        }
    }

    /// Converts the capture for the compiler.
    pub(crate) fn facts(&self) -> capture::Capture {
        capture::Capture {
            status: self.status,
            redirects: self.redirects,
            time: self.time,
            max_age: self.cache_control.as_deref().and_then(capture::max_age),
            media_type: self.content_type.as_deref().map(capture::media_type),
            challenger: self.challenger,
            truncated: self.truncated,
            has_failed: self.has_failed,
        }
    }
}
