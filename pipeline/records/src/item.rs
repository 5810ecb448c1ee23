//! What readers find in an input: captures, lines with captures, and remarks.

use std::sync::Arc;

use reptile::Origin;
use reptile::capture::{Capture, Time};

use crate::Result;
use crate::captures::names::{Header, NameUse};
use crate::time::Zone;

/// Something found in an input.
pub enum Item {
    /// A robots.txt.
    Robots(Robots),
    /// Captures that share a response, after redirects.
    SameBody {
        /// The shared body.
        body: Vec<u8>,
        /// The captures, without the body.
        robots: Vec<Robots>,
    },
    /// Unparsed lines, each with one capture. [`Item::read`] parses them, which is work for another thread.
    Lines {
        /// The input, and the format of its lines.
        lines: Arc<Lines>,
        /// The number of the first line, from 1.
        first: u64,
        /// The number of lines.
        count: usize,
        /// The lines, each ending with LF.
        bytes: Vec<u8>,
    },
    /// An invalid robots.txt. It is reported by name, counted and skipped.
    Bad {
        /// The location: a path, or a path and a line.
        name: String,
        /// The problem's kind, in the same words for all such items.
        reason: &'static str,
        /// Details about this item. May be empty.
        detail: String,
    },
    /// Column or key names in one part of the input. They are only reported.
    Names(NameUse),
    /// A remark on a capture that is used. It is reported by name and counted.
    Remark {
        /// The remark, in the same words for all such captures.
        reason: &'static str,
        /// The capture's location.
        name: String,
    },
    /// A search found the next record of a damaged archive, so a website may have written it. Such records are counted.
    Untrusted {
        /// The record's location, if it is the first one in its file.
        from: Option<String>,
    },
    /// A deliberately skipped item, which is counted.
    LeftOut {
        /// The reason, in the same words for all such items.
        reason: &'static str,
        /// The path, if it should be reported.
        name: Option<String>,
    },
}

/// A robots.txt capture and its origins.
pub struct Robots {
    /// The capture's location.
    pub name: String,
    /// The origins that it applies to.
    pub origins: Vec<Origin>,
    /// The known facts about its fetch.
    pub capture: Capture,
    /// The fetched bytes, if any, up to the compiler's limit.
    pub body: Option<Vec<u8>>,
    /// Whether this is a file without capture metadata, so that a profile cannot choose between it and another one.
    pub is_file: bool,
    /// The capture's record, if it is from a WARC file.
    pub fetch: Option<Fetch>,
}

/// Captures that share a response.
#[derive(Debug)]
pub struct Response {
    /// Each capture's origins, and the facts about its fetch.
    pub captures: Vec<(Vec<Origin>, Capture)>,
    /// The decompressed body, if there is one.
    pub body: Option<Vec<u8>>,
}

/// The WARC record of a robots.txt request.
#[derive(Debug)]
pub struct Fetch {
    /// The file's index on the command line.
    pub input: usize,
    /// The record's number in the file, from 1.
    pub record: u64,
    /// The redirect targets in order, in WHATWG form.
    pub redirects: Vec<String>,
}

impl Item {
    /// Creates a skipped item that is not reported by name.
    pub(crate) fn left_out(reason: &'static str) -> Item {
        Item::LeftOut { reason, name: None }
    }

    /// Returns the item's memory in bytes, including its texts and its body.
    pub fn memory_bytes(&self) -> usize {
        let own = size_of::<Item>();
        own + match self {
            Item::Robots(robots) => robots.memory_bytes(),
            Item::SameBody { body, robots } => {
                body.capacity() + robots.iter().map(|one| size_of::<Robots>() + one.memory_bytes()).sum::<usize>()
            }
            // Each line may become an item.
            Item::Lines { count, bytes, .. } => count * own + bytes.len(),
            Item::Bad { name, detail, .. } => name.len() + detail.len(),
            Item::Remark { name, .. } => name.len(),
            Item::LeftOut { name, .. } | Item::Untrusted { from: name } => name.as_ref().map_or(0, String::len),
            // Limited in size, and rare.
            Item::Names(_) => 0,
        }
    }
}

impl Robots {
    /// Creates a capture for a file without capture metadata.
    pub(crate) fn file(name: String, origins: Vec<Origin>, body: Vec<u8>) -> Robots {
        Robots { name, origins, capture: Capture::default(), body: Some(body), is_file: true, fetch: None }
    }

    /// Returns the capture with its time, if its name has one. A profile can choose between captures with times.
    pub(crate) fn at(mut self, time: Option<Time>) -> Robots {
        self.is_file = time.is_none();
        self.capture.time = time;
        self
    }

    /// Returns the memory for the texts, the origins and the body in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        let origins = self.origins.iter().map(|origin| size_of::<Origin>() + origin.host.len());
        let media_type = self.capture.media_type.as_ref().map_or(0, |name| name.len());
        let redirects = self.fetch.iter().flat_map(|fetch| &fetch.redirects);
        let redirects = redirects.map(|url| size_of::<String>() + url.len()).sum::<usize>();
        let texts = self.name.len() + media_type + redirects;
        texts + origins.sum::<usize>() + self.body.as_ref().map_or(0, Vec::capacity)
    }
}

/// A receiver for an input's items. An error stops reading.
pub type Sink<'s> = dyn FnMut(Item) -> Result<()> + 's;

/// An input's lines, each with one capture.
///
/// See [`captures`](crate::captures) for an example.
pub struct Lines {
    /// The input's path.
    pub(crate) path: String,
    /// The columns for TSV. Without them, the lines are JSON.
    pub(crate) columns: Option<Header>,
    /// The time zone for times without one.
    pub(crate) zone: Zone,
}
