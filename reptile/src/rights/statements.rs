//! The places where a page's rights are stated, and the statements that arrive with a page.

/// A place where a page's rights are stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Channel {
    /// `robots`: `Content-Usage` lines in robots.txt.
    Robots,
    /// `signal`: `Content-Signal` lines in robots.txt.
    Signal,
    /// `token`: groups in robots.txt whose product token names a use.
    Token,
    /// `content-usage`: the response header `Content-Usage` (draft-ietf-aipref-attach, section 2).
    UsageHeader,
    /// `x-robots-tag`: the response header `X-Robots-Tag`.
    RobotsHeader,
    /// `meta-robots`: `<meta name="robots">`, or a crawler's name instead of `robots`.
    RobotsMeta,
    /// `tdm-header`: the response header `tdm-reservation` (TDMRep, section 4.1).
    TdmHeader,
    /// `tdm-meta`: `<meta name="tdm-reservation">` (TDMRep, section 4.3).
    TdmMeta,
    /// `tdm-file`: the website's file `/.well-known/tdmrep.json` (TDMRep). It exists only for websites whose file is
    /// known.
    TdmFile,
    /// `license`: a link to a license, in the response header `Link` or in `<link>`. It is a fact without an answer.
    License,
}

reptile_engine::named!(Channel, "a channel", name {
    Robots => "robots",
    Signal => "signal",
    Token => "token",
    UsageHeader => "content-usage",
    RobotsHeader => "x-robots-tag",
    RobotsMeta => "meta-robots",
    TdmHeader => "tdm-header",
    TdmMeta => "tdm-meta",
    TdmFile => "tdm-file",
    License => "license",
});

impl Channel {
    /// Returns whether the statements arrive with the page or in the website's `tdmrep.json`, and not in robots.txt.
    #[must_use]
    pub const fn is_of_page(self) -> bool {
        !self.is_of_robots()
    }

    /// Returns whether the statements are in robots.txt.
    #[must_use]
    pub const fn is_of_robots(self) -> bool {
        matches!(self, Channel::Robots | Channel::Signal | Channel::Token)
    }

    /// Returns whether the statements are in the page's text, and not in its headers. Licenses may be in either.
    #[must_use]
    pub const fn is_in_text(self) -> bool {
        matches!(self, Channel::RobotsMeta | Channel::TdmMeta)
    }

    /// Returns whether statements give each label a value, as in `train-ai=n`.
    pub(super) const fn has_values(self) -> bool {
        matches!(self, Channel::Robots | Channel::Signal | Channel::Token | Channel::UsageHeader)
    }
}

/// Maximum number of statements about a page. A page with more has unavailable rights.
pub const MAX_STATEMENTS: usize = 64;

/// Maximum length of a statement in bytes. A page with a longer one has unavailable rights.
pub const MAX_STATEMENT_BYTES: usize = 8192;

/// The statements that arrive with a page: a text for each header field or element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statements {
    all: Vec<PageStatement>,
    /// Whether the headers are missing, or too many or too long to be read.
    lacks_headers: bool,
    /// Whether the page's text is missing, or cannot be read.
    lacks_text: bool,
    /// Whether the website has a `tdmrep.json` that is missing here, or cannot be read.
    lacks_tdm_file: bool,
}

/// One of a page's statements.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PageStatement {
    channel: Channel,
    /// A crawler's name, in an element that is not for all crawlers.
    name: Box<[u8]>,
    text: Box<[u8]>,
}

impl Statements {
    /// Returns the statements about a page whose headers and text are both missing.
    #[must_use]
    pub fn unavailable() -> Statements {
        Statements { lacks_headers: true, lacks_text: true, ..Statements::default() }
    }

    /// Adds a header field's value, or an element's. `name` is the crawler's name in a `<meta>` element, or empty for
    /// all crawlers. Over [`MAX_STATEMENTS`] or [`MAX_STATEMENT_BYTES`] the channel's source becomes unavailable.
    pub fn add(&mut self, channel: Channel, name: &[u8], text: &[u8]) {
        if self.all.len() >= MAX_STATEMENTS || name.len() + text.len() > MAX_STATEMENT_BYTES {
            self.set_channel_missing(channel);
        } else {
            self.all.push(PageStatement { channel, name: name.into(), text: text.into() });
        }
    }

    /// Records that the headers or the text are missing. Later calls cannot undo this.
    pub fn set_missing(&mut self, headers: bool, text: bool) {
        self.lacks_headers |= headers;
        self.lacks_text |= text;
    }

    /// Records that the website has a `tdmrep.json` that is missing here. Later calls cannot undo this.
    pub fn set_tdm_file_missing(&mut self) {
        self.lacks_tdm_file = true;
    }

    fn set_channel_missing(&mut self, channel: Channel) {
        match channel {
            Channel::TdmFile => self.set_tdm_file_missing(),
            _ => self.set_missing(!channel.is_in_text(), channel.is_in_text()),
        }
    }

    /// Combines two versions of one page's statements. Either may be right: another way to read the page, or
    /// another record of it. All statements count. Where the versions differ, others may be missing.
    ///
    /// ```
    /// use reptile::rights::{Channel, Statements};
    /// let (mut page, mut other) = (Statements::default(), Statements::default());
    /// other.add(Channel::RobotsHeader, b"", b"noai");
    /// page.merge(&other);
    /// assert!(page.of(Channel::RobotsHeader).eq([(&b""[..], &b"noai"[..])]));
    /// assert!(page.lacks(Channel::RobotsHeader) && !page.lacks(Channel::RobotsMeta));
    /// ```
    pub fn merge(&mut self, other: &Statements) {
        for channel in Channel::ALL.into_iter().filter(|channel| *channel != Channel::License) {
            if !self.of(channel).eq(other.of(channel)) {
                self.set_channel_missing(channel);
            }
        }
        self.set_missing(other.lacks_headers, other.lacks_text);
        self.lacks_tdm_file |= other.lacks_tdm_file;
        for statement in &other.all {
            if !self.all.contains(statement) {
                self.add(statement.channel, &statement.name, &statement.text);
            }
        }
    }

    /// Returns whether a channel is missing.
    #[must_use]
    pub fn lacks(&self, channel: Channel) -> bool {
        match channel {
            Channel::TdmFile => self.lacks_tdm_file,
            _ if channel.is_in_text() => self.lacks_text,
            _ => channel.is_of_page() && self.lacks_headers,
        }
    }

    /// Returns the size of the texts in bytes.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        self.all.iter().map(|statement| statement.name.len() + statement.text.len()).sum()
    }

    /// Returns a channel's statements in order: each crawler's name, or nothing, and the text.
    pub fn of(&self, channel: Channel) -> impl Iterator<Item = (&[u8], &[u8])> {
        let of_channel = self.all.iter().filter(move |statement| statement.channel == channel);
        of_channel.map(|statement| (&*statement.name, &*statement.text))
    }
}
