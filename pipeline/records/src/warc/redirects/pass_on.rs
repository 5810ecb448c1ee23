//! Passes on the captures that redirects and revisits lead to, each body once.

use super::{Ending, Head, MAX_REDIRECTS, ORDER_BYTES, REASONS, Stored, broken, from_json};
use crate::spill::{Blobs, SortedRows};
use crate::{Item, Result, Robots, Sink};

/// Maximum memory in bytes for captures that share a body, without the body, while they are compiled.
pub(super) const MAX_SHARED_BYTES: usize = 4 << 20;

/// Passes on captures in row order. Captures with the same response share its body.
pub(super) fn pass_on(endings: &SortedRows, bodies: &Blobs, sink: &mut Sink<'_>) -> Result<()> {
    let mut cursor = endings.cursor()?;
    let mut shared: Option<Shared> = None;
    while let Some(row) = cursor.row() {
        let is_answered = row.first() == Some(&1);
        let start = if is_answered { 1 + 8 + 8 + ORDER_BYTES } else { 1 + ORDER_BYTES };
        match from_json(row.get(start..).ok_or_else(broken)?)? {
            Ending::Unresolved(name, reason) => {
                let reason = REASONS.get(usize::from(reason)).ok_or_else(broken)?;
                sink(Item::LeftOut { reason, name: Some(name) })?;
            }
            Ending::TooMany(waiting) => {
                let head = waiting.redirect.clone();
                sink(Item::Robots(waiting.robots(head, MAX_REDIRECTS, None)?))?;
            }
            Ending::Answered(waiting, offset, head_len, body_len) => {
                let mut known = match shared.take() {
                    Some(known) if known.offset == offset => known,
                    other => {
                        other.map_or(Ok(()), |other| other.pass_on(sink))?;
                        let Stored { head, .. } = from_json(&bodies.read(offset, head_len as usize)?)?;
                        let body = bodies.read(offset + u64::from(head_len), body_len as usize)?;
                        Shared { offset, head, body, robots: Vec::new(), bytes: 0 }
                    }
                };
                let redirects = waiting.redirects.len();
                let robots = waiting.robots(known.head.clone(), redirects, None)?;
                // A different media type may be interpreted differently.
                let is_same = |first: &Robots| {
                    first.capture.media_type == robots.capture.media_type
                        && first.capture.truncated == robots.capture.truncated
                };
                if known.bytes >= MAX_SHARED_BYTES || !known.robots.first().is_none_or(is_same) {
                    known.flush(sink)?;
                }
                known.bytes += shared_bytes(&robots);
                known.robots.push(robots);
                shared = Some(known);
            }
        }
        cursor.advance()?;
    }
    shared.map_or(Ok(()), |shared| shared.pass_on(sink))
}

/// Returns the memory for a capture that shares a body.
pub(super) fn shared_bytes(robots: &Robots) -> usize {
    size_of::<Robots>() + robots.memory_bytes()
}

/// Captures that share a body.
struct Shared {
    /// The body's offset.
    offset: u64,
    head: Head,
    body: Vec<u8>,
    robots: Vec<Robots>,
    /// Memory of the captures in bytes.
    bytes: usize,
}

impl Shared {
    /// Passes on the captures, and keeps the body for further captures.
    fn flush(&mut self, sink: &mut Sink<'_>) -> Result<()> {
        self.bytes = 0;
        sink(Item::SameBody { body: self.body.clone(), robots: std::mem::take(&mut self.robots) })
    }

    fn pass_on(self, sink: &mut Sink<'_>) -> Result<()> {
        let Shared { body, mut robots, .. } = self;
        sink(match robots.len() {
            1 => match robots.pop() {
                Some(robots) => Item::Robots(Robots { body: Some(body), ..robots }),
                None => return Ok(()),
            },
            _ => Item::SameBody { body, robots },
        })
    }
}
