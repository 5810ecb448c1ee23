//! The statements about rights that arrive with a page: in response headers, and in `<meta>` and `<link>` elements.
//!
//! A text counts as read only if it was read as browsers read it. A text that is cut, damaged or ambiguous has the
//! statements that were found, and lacks the others ([`Statements::lacks`]). [`reptile::rights`] interprets the
//! statements, and the crate `reptile-records` reads pages from archives.

mod elements;
mod html;
mod readings;
mod xhtml;

use reptile::rights::{Channel, Statements};

use self::elements::is_license_link;
pub use self::elements::{CrawlerNames, Element};
pub use self::readings::ContentType;

/// Number of bytes of a page's decoded text that are searched for elements.
pub const MAX_TEXT_BYTES: usize = 64 << 10;

/// The text of a response, for [`CrawlerNames::statements`].
#[derive(Clone, Copy, Debug)]
pub enum PageText<'t> {
    /// Bytes in the encoding that the header `Content-Type`, or the text itself, declares.
    Bytes(&'t [u8]),
    /// A text that the caller has decoded.
    Str(&'t str),
}

impl CrawlerNames {
    /// Returns the statements in a response that does not come from an archive. Without headers or without a text,
    /// their statements are missing. A longer text is read up to [`MAX_TEXT_BYTES`]. The caller decodes the content
    /// codings, and calls [`Statements::set_missing`] if the text lacks its end.
    ///
    /// ```
    /// use reptile::rights::Channel;
    /// use reptile_pages::{CrawlerNames, PageText};
    /// let headers: [(&[u8], &[u8]); 1] = [(b"X-Robots-Tag", b"noai")];
    /// let page = CrawlerNames::new(["gptbot"]).statements(Some(&headers), Some(PageText::Str("<meta name=GPTBot content=noindex>")));
    /// assert_eq!(page.of(Channel::RobotsHeader).next(), Some((&b""[..], &b"noai"[..])));
    /// assert_eq!(page.of(Channel::RobotsMeta).next(), Some((&b"gptbot"[..], &b"noindex"[..])));
    /// ```
    #[must_use]
    pub fn statements(&self, headers: Option<&[(&[u8], &[u8])]>, text: Option<PageText<'_>>) -> Statements {
        let mut statements = Statements::default();
        let mut content_type = ContentType::default();
        for (name, value) in headers.unwrap_or_default() {
            read_field(&mut statements, &mut content_type, name.trim_ascii(), value.trim_ascii());
        }
        let may_have_elements = content_type.may_have_elements();
        statements.set_missing(headers.is_none(), text.is_none() && may_have_elements);
        let bytes = match text {
            Some(PageText::Bytes(bytes)) => bytes,
            Some(PageText::Str(text)) => {
                content_type.set_utf8();
                text.as_bytes()
            }
            None => return statements,
        };
        if may_have_elements {
            let start = &bytes[..bytes.len().min(MAX_TEXT_BYTES)];
            self.read_text(start, start.len() < bytes.len(), &content_type, &mut statements);
        }
        statements
    }

    /// Adds the statements in the start of a text, of up to [`MAX_TEXT_BYTES`], in the encodings and formats of its
    /// content type. `is_start` says that the text continues.
    pub fn read_text(&self, start: &[u8], is_start: bool, content_type: &ContentType, statements: &mut Statements) {
        readings::read(start, is_start, content_type, self, statements);
    }
}

/// Reads a header field: a statement, or part of the content type.
pub fn read_field(statements: &mut Statements, content_type: &mut ContentType, name: &[u8], value: &[u8]) {
    match name.eq_ignore_ascii_case(b"content-type") {
        true => content_type.add(value),
        false => add_field(statements, name, value),
    }
}

/// Adds a response header's statements, if it has any.
fn add_field(statements: &mut Statements, name: &[u8], value: &[u8]) {
    let channel = match name {
        name if name.eq_ignore_ascii_case(b"content-usage") => Channel::UsageHeader,
        name if name.eq_ignore_ascii_case(b"x-robots-tag") => Channel::RobotsHeader,
        name if name.eq_ignore_ascii_case(b"tdm-reservation") => Channel::TdmHeader,
        name if name.eq_ignore_ascii_case(b"link") && is_license_link(value) => Channel::License,
        _ => return,
    };
    statements.add(channel, b"", value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_up_to_the_limit() {
        const ELEMENT: &str = "<meta name=robots content=noai>";
        for (len, is_read) in [(MAX_TEXT_BYTES - 1, true), (MAX_TEXT_BYTES, true), (MAX_TEXT_BYTES + 1, false)] {
            let text = " ".repeat(len - ELEMENT.len()) + ELEMENT;
            let page = CrawlerNames::default().statements(Some(&[]), Some(PageText::Str(&text)));
            assert_eq!(page.of(Channel::RobotsMeta).count(), usize::from(is_read), "{len}");
            assert_eq!(page.lacks(Channel::RobotsMeta), !is_read, "{len}");
        }
    }
}
