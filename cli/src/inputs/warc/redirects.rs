//! Puts the steps of redirects together, which a crawler writes as records of their own.
//!
//! The end of a redirect may come after it, or before it, if the crawler had already asked there and remembered the
//! answer. Memory is bounded: of what came before, the latest [`MAX_SEEN_BYTES`] are kept, and at most [`MAX_AWAITED`]
//! origins, and [`MAX_AWAITED_BYTES`] of them, wait for what comes.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use reptile_compiler::capture::{Capture, Time};
use reptile_compiler::set::origin::OwnedOrigin;
use reptile_engine::url::MAX_URL_BYTES;
use url::Url;

use super::http::Answer;
use crate::error::Result;
use crate::inputs::{Item, Robots};

/// Redirects that are followed from one to the next. Each fetch profile stops sooner.
pub const MAX_REDIRECTS: u32 = 20;

/// Origins that wait for the end of a redirect. The one that has waited longest is given up when there are more.
pub const MAX_AWAITED: usize = 1 << 16;

/// Bytes of the origins that wait, with the URLs that they wait for. The one that has waited longest is given up when there
/// are more.
pub const MAX_AWAITED_BYTES: usize = 64 << 20;

/// Bytes of answers that are kept for redirects that come later in the same file.
pub const MAX_SEEN_BYTES: usize = 64 << 20;

/// A URL in the form of the WHATWG standard, without fragment, so that a `Location` is found however it is written.
pub type Key = Rc<str>;

/// The key of a URL.
pub fn key(url: &[u8]) -> Option<Key> {
    let url = std::str::from_utf8(url).ok().filter(|url| url.len() <= MAX_URL_BYTES)?;
    key_of(Url::parse(url).ok()?)
}

fn key_of(mut url: Url) -> Option<Key> {
    url.set_fragment(None);
    (matches!(url.scheme(), "http" | "https") && url.as_str().len() <= MAX_URL_BYTES).then(|| url.as_str().into())
}

/// An origin whose robots.txt was asked for.
pub struct Waiting {
    /// The name of the record in which it was.
    pub name: String,
    /// The origin.
    pub origin: OwnedOrigin,
    /// When.
    pub time: Option<Time>,
    /// The redirects that were followed so far.
    pub redirects: u32,
}

impl Waiting {
    /// An origin of which no redirect was followed yet.
    pub fn new(name: String, origin: OwnedOrigin, time: Option<Time>) -> Waiting {
        Waiting { name, origin, time, redirects: 0 }
    }

    /// The capture of a robots.txt whose answer is this one, or a redirect that leads nowhere.
    fn robots(self, answer: &Capture, body: Option<&[u8]>) -> Robots {
        let Waiting { name, origin, time, redirects } = self;
        let capture = Capture { redirects, time, ..answer.clone() };
        Robots { name, origins: vec![origin], capture, body: body.map(<[u8]>::to_vec), is_file: false }
    }
}

/// What is known of a URL from its answer.
#[derive(Clone)]
enum Seen {
    Answer(Rc<Answer>),
    Redirect(Capture, Key),
}

impl Seen {
    fn bytes(&self) -> usize {
        size_of::<Seen>()
            + match self {
                Seen::Answer(answer) => size_of::<Answer>() + answer.body.len() + text_bytes(&answer.capture),
                Seen::Redirect(capture, key) => key.len() + text_bytes(capture),
            }
    }
}

/// Bytes of the texts of a capture.
fn text_bytes(capture: &Capture) -> usize {
    capture.media_type.as_ref().map_or(0, |name| name.len())
}

/// Bytes that an origin takes while it waits for a URL, the URL included.
fn waiting_bytes(url: &str, (waiting, answer): &(Waiting, Capture)) -> usize {
    size_of::<(Waiting, Capture)>() + url.len() + waiting.name.len() + waiting.origin.host.len() + text_bytes(answer)
}

/// The redirects of one file.
#[derive(Default)]
pub struct Redirects {
    awaited: Aged<Vec<(Waiting, Capture)>>,
    awaited_count: usize,
    awaited_bytes: usize,
    seen: Aged<Seen>,
    seen_bytes: usize,
}

/// Takes the captures that are complete.
pub type Complete<'s> = dyn FnMut(Robots) -> Result<()> + 's;

impl Redirects {
    /// Whether an origin waits for the answer of a URL.
    pub fn is_awaited(&self, key: Option<&str>) -> bool {
        key.is_some_and(|key| self.awaited.map.contains_key(key))
    }

    /// Takes the answer of a URL; `asked` is the origin, if the URL is that of its robots.txt.
    ///
    /// # Errors
    /// Those of `complete`.
    pub fn add(
        &mut self,
        asked: Option<Waiting>,
        url: Option<Key>,
        answer: Answer,
        complete: &mut Complete<'_>,
    ) -> Result<()> {
        let awaited = url.as_deref().and_then(|url| Some((url, self.awaited.remove(url)?)));
        let awaited = awaited.map(|(url, awaited)| self.no_longer_waiting(url, awaited)).unwrap_or_default();
        let reached = awaited.into_iter().map(|(waiting, _)| Waiting { redirects: waiting.redirects + 1, ..waiting });
        let all: Vec<Waiting> = reached.chain(asked).collect();
        let seen = match next_step(url.as_deref(), &answer) {
            Some(next) => Seen::Redirect(answer.capture, next),
            // Where it leads is settled, and may be a long text.
            None => Seen::Answer(Rc::new(Answer { location: None, ..answer })),
        };
        for waiting in all {
            self.follow(waiting, seen.clone(), complete)?;
        }
        if let Some(url) = url {
            self.remember(url, seen);
        }
        while (self.awaited_count > MAX_AWAITED || self.awaited_bytes > MAX_AWAITED_BYTES)
            && let Some((url, given_up)) = self.awaited.pop_oldest()
        {
            let given_up = self.no_longer_waiting(&url, given_up);
            given_up.into_iter().try_for_each(|(waiting, answer)| complete(waiting.robots(&answer, None)))?;
        }
        Ok(())
    }

    /// Counts origins as waiting no longer.
    fn no_longer_waiting(&mut self, url: &str, awaited: Vec<(Waiting, Capture)>) -> Vec<(Waiting, Capture)> {
        self.awaited_count -= awaited.len();
        self.awaited_bytes -= awaited.iter().map(|waiting| waiting_bytes(url, waiting)).sum::<usize>();
        awaited
    }

    /// Follows redirects as far as their answers are known.
    fn follow(&mut self, mut waiting: Waiting, mut seen: Seen, complete: &mut Complete<'_>) -> Result<()> {
        loop {
            match seen {
                Seen::Answer(answer) => return complete(waiting.robots(&answer.capture, Some(&answer.body))),
                Seen::Redirect(answer, _) if waiting.redirects >= MAX_REDIRECTS => {
                    return complete(waiting.robots(&answer, None));
                }
                Seen::Redirect(answer, next) => match self.seen.map.get(&*next) {
                    Some((_, known)) => {
                        seen = known.clone();
                        waiting.redirects += 1;
                    }
                    None => {
                        let waiting = (waiting, answer);
                        self.awaited_count += 1;
                        self.awaited_bytes += waiting_bytes(&next, &waiting);
                        self.awaited.or_default(next).push(waiting);
                        return Ok(());
                    }
                },
            }
        }
    }

    fn remember(&mut self, url: Key, seen: Seen) {
        self.seen_bytes += url.len() + seen.bytes();
        if let Some(before) = self.seen.remove(&url) {
            self.seen_bytes -= url.len() + before.bytes();
        }
        self.seen.or_insert(url, seen);
        while self.seen_bytes > MAX_SEEN_BYTES
            && let Some((url, seen)) = self.seen.pop_oldest()
        {
            self.seen_bytes -= url.len() + seen.bytes();
        }
    }

    /// The origins that still wait at the end of the file, each as the capture of its last redirect.
    pub fn end(mut self) -> impl Iterator<Item = Item> {
        std::iter::from_fn(move || self.awaited.pop_oldest())
            .flat_map(|(_, waiting)| waiting)
            .map(|(waiting, answer)| Item::Robots(waiting.robots(&answer, None)))
    }
}

/// Where a redirect leads; `None` if the answer is no redirect, or leads nowhere.
fn next_step(url: Option<&str>, answer: &Answer) -> Option<Key> {
    if !matches!(answer.capture.status, Some(301 | 302 | 303 | 307 | 308)) {
        return None;
    }
    let location = std::str::from_utf8(answer.location.as_deref()?).ok()?;
    key_of(Url::parse(url?).ok()?.join(location).ok()?)
}

/// Things by URL, of which the oldest can be taken out. Time: logarithmic.
struct Aged<V> {
    map: HashMap<Key, (u64, V)>,
    /// The URLs by the order in which they came.
    order: BTreeMap<u64, Key>,
    next: u64,
}

impl<V> Default for Aged<V> {
    fn default() -> Aged<V> {
        Aged { map: HashMap::new(), order: BTreeMap::new(), next: 0 }
    }
}

impl<V> Aged<V> {
    /// What is kept for a URL, which is `value` if there was nothing.
    fn or_insert(&mut self, url: Key, value: V) -> &mut V {
        let entry = self.map.entry(url);
        if let std::collections::hash_map::Entry::Vacant(vacant) = &entry {
            self.order.insert(self.next, Rc::clone(vacant.key()));
        }
        let (_, value) = entry.or_insert_with(|| {
            self.next += 1;
            (self.next - 1, value)
        });
        value
    }

    fn remove(&mut self, url: &str) -> Option<V> {
        let (number, value) = self.map.remove(url)?;
        self.order.remove(&number);
        Some(value)
    }

    fn pop_oldest(&mut self) -> Option<(Key, V)> {
        let (_, url) = self.order.pop_first()?;
        let (_, value) = self.map.remove(&url)?;
        Some((url, value))
    }
}

impl<V: Default> Aged<V> {
    fn or_default(&mut self, url: Key) -> &mut V {
        self.or_insert(url, V::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, location: Option<&str>, body: &[u8]) -> Answer {
        let capture = Capture { status: Some(status), ..Capture::default() };
        Answer { capture, location: location.map(|location| location.as_bytes().to_vec()), body: body.to_vec() }
    }

    fn waiting(host: &str) -> Waiting {
        Waiting::new(String::new(), format!("http://{host}").parse().unwrap(), Some(7))
    }

    /// Adds an answer, and returns the host, the status and the redirects of each capture that is complete.
    fn add(redirects: &mut Redirects, asked: Option<&str>, url: &str, answer: Answer) -> Vec<(String, u16, u32)> {
        let mut complete = Vec::new();
        let mut take = |robots: Robots| {
            let host = String::from_utf8(robots.origins[0].host.to_vec()).unwrap();
            complete.push((host, robots.capture.status.unwrap(), robots.capture.redirects));
            Ok(())
        };
        redirects.add(asked.map(waiting), key(url.as_bytes()), answer, &mut take).unwrap();
        complete
    }

    fn url(number: usize) -> String {
        format!("http://h{number}/robots.txt")
    }

    #[test]
    fn the_limit_of_redirects_holds_at_its_edges() {
        for count in [MAX_REDIRECTS - 1, MAX_REDIRECTS, MAX_REDIRECTS + 1] {
            let count = count as usize;
            let fits = count <= MAX_REDIRECTS as usize;
            let status = if fits { 200 } else { 302 };
            let followed = count.min(MAX_REDIRECTS as usize) as u32;
            // The steps in their order, and the other way round.
            for is_reverse in [false, true] {
                let mut redirects = Redirects::default();
                let mut steps: Vec<usize> = (0..=count).collect();
                if is_reverse {
                    steps.reverse();
                }
                let mut complete = Vec::new();
                for step in steps {
                    let is_last = step == count;
                    let next = url(step + 1);
                    let answer = answer(if is_last { 200 } else { 302 }, (!is_last).then_some(&next), b"");
                    complete.extend(add(&mut redirects, (step == 0).then_some("h0"), &url(step), answer));
                }
                assert_eq!(complete, [("h0".to_owned(), status, followed)], "{count} {is_reverse}");
                assert_eq!(redirects.end().count(), 0);
            }
        }
    }

    #[test]
    fn the_limit_of_waiting_origins_holds_at_its_edges() {
        for count in [MAX_AWAITED - 1, MAX_AWAITED, MAX_AWAITED + 1] {
            let mut redirects = Redirects::default();
            let mut complete = Vec::new();
            for number in 0..count {
                let to = format!("http://to/{number}");
                complete.extend(add(
                    &mut redirects,
                    Some(&format!("h{number}")),
                    &url(number),
                    answer(301, Some(&to), b""),
                ));
            }
            let given_up = count.saturating_sub(MAX_AWAITED);
            assert_eq!(complete, [("h0".to_owned(), 301, 0)][..given_up]);
            assert_eq!(redirects.end().count(), count - given_up);
        }
    }

    #[test]
    fn the_limit_of_waiting_bytes_holds_at_its_edges() {
        let to = |number: usize, len: usize| format!("http://to/{number:05}/{}", "x".repeat(len));
        let one = |len: usize| {
            let waiting = (waiting("h00000"), answer(301, None, b"").capture);
            waiting_bytes(&to(0, len), &waiting)
        };
        // A length of which so many fit that what is left is short: the last one is a URL too.
        let long = (50_000..60_000).find(|&long| MAX_AWAITED_BYTES % one(long) < 1_000).unwrap_or_default();
        let (count, rest) = (MAX_AWAITED_BYTES / one(long), MAX_AWAITED_BYTES % one(long));
        for more in [0, 1, 2] {
            let mut redirects = Redirects::default();
            // The last one fills what is left, but for a byte, to the byte, and beyond it.
            let last = (long + rest + more).saturating_sub(1);
            let mut complete = Vec::new();
            for number in 0..count {
                let to = to(number, if number + 1 == count { last } else { long });
                let host = format!("h{number:05}");
                complete.extend(add(&mut redirects, Some(&host), &url(number), answer(301, Some(&to), b"")));
            }
            assert_eq!(complete.len(), usize::from(more == 2), "{more}");
            assert!(redirects.awaited_bytes <= MAX_AWAITED_BYTES);
        }
    }

    #[test]
    fn the_limit_of_kept_answers_holds_at_its_edges() {
        let own = |url: &str, body: usize| url.len() + size_of::<Seen>() + size_of::<Answer>() + body;
        let first = url(1);
        let half = MAX_SEEN_BYTES / 2;
        for more in [0, 1, 2] {
            let mut redirects = Redirects::default();
            let second = url(2);
            let len = MAX_SEEN_BYTES - own(&first, half) - own(&second, 0) - 1 + more;
            add(&mut redirects, Some("h1"), &first, answer(200, None, &vec![b'#'; half]));
            add(&mut redirects, Some("h2"), &second, answer(200, None, &vec![b'#'; len]));
            assert!(redirects.seen_bytes <= MAX_SEEN_BYTES);
            let found = add(&mut redirects, Some("h3"), &url(3), answer(301, Some(&first), b""));
            assert_eq!(found.len(), usize::from(more < 2), "{more}");
        }
    }

    #[test]
    fn memory_is_counted_to_nothing() {
        let mut redirects = Redirects::default();
        for round in 0..3 {
            for number in 0..50 {
                let to = url((number * 7 + round) % 50);
                add(&mut redirects, Some("h"), &url(number), answer(301, Some(&to), b""));
                add(&mut redirects, Some("h"), &url(number * 3), answer(200, None, b"12345"));
            }
        }
        let bytes: usize = redirects.seen.map.iter().map(|(url, (_, seen))| url.len() + seen.bytes()).sum();
        assert_eq!(redirects.seen_bytes, bytes);
        let awaited: usize = redirects.awaited.map.values().map(|(_, waiting)| waiting.len()).sum();
        assert_eq!(redirects.awaited_count, awaited);
        let all =
            redirects.awaited.map.iter().flat_map(|(url, (_, all))| all.iter().map(|one| waiting_bytes(url, one)));
        assert_eq!(redirects.awaited_bytes, all.sum::<usize>());
    }
}
