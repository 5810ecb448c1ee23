//! The shapes of a site's paths, as a short list of patterns. Turns many URLs, for example from a sitemap, into a
//! proof's [`Assumption`](crate::reason::Assumption).
//!
//! ```
//! use reptile::reason::Assumption;
//! use reptile::shapes::Shapes;
//!
//! let mut shapes = Shapes::new();
//! for product in 1..=1000 {
//!     shapes.add(format!("https://shop.example.com/product/{product}/reviews").as_bytes())?;
//! }
//! shapes.add(b"https://shop.example.com/search?q=shoes&page=2")?;
//! let patterns = shapes.patterns();
//! assert_eq!(patterns, [&b"/product/*/reviews$"[..], b"/search?q=*&page=*"]);
//! # let form = reptile_engine::norm::NormalForm::Decoded;
//! # let assumption = Assumption::new(&patterns, form)?;
//! # assert!(assumption.includes(b"/product/77/reviews") && !assumption.includes(b"/product/77"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use reptile_engine::url::{UrlError, path_at_any_origin};

/// Maximum number of distinct segments that one place in the paths may have, and of distinct queries after one path.
/// Beyond it the place becomes a wildcard.
pub const MAX_VALUES: usize = 32;

/// Maximum number of patterns. Beyond it, places with several values become wildcards, the deepest first, until there
/// are few enough.
pub const MAX_SHAPES: usize = 128;

/// Maximum number of distinguished segments in a path. The rest of the path becomes a wildcard.
pub const MAX_SEGMENTS: usize = 16;

/// Maximum length in bytes for a segment or a query's keys that a pattern repeats. Longer ones become wildcards.
pub const MAX_VALUE_BYTES: usize = 255;

/// Maximum number of segments and queries in memory. Beyond it, places become wildcards in the same order.
pub const MAX_NODES: usize = 1 << 14;

/// Number of halvings that leave a single value.
const HALVINGS: u32 = MAX_VALUES.ilog2();

/// Number of the step that leaves a single value at each place.
const LAST_STEP: u32 = 2 * HALVINGS;

/// A tree over the segments of paths, which grows with each URL up to a limit.
///
/// Every added URL matches at least one of the patterns, in each dialect. A place with more than [`MAX_VALUES`] distinct
/// segments becomes a wildcard, which keeps the text before the first and after the last punctuation that all values
/// share, such as `.html`. A query becomes its keys in order. A literal `*` or `$`, and bytes that some dialects write in
/// several ways, become wildcards too, because a pattern cannot express them in each dialect.
///
/// A wildcard also matches slashes. So a page directly at a wildcard, as in `/product/*`, makes that pattern include
/// everything below it.
///
/// Time: linear in the URLs. Memory: at most a few megabytes, for any number of URLs. See [the module](self) for an
/// example.
#[derive(Clone, Debug, Default)]
pub struct Shapes {
    root: ShapeNode,
    /// The segments and queries added since the tree was last counted, plus that count.
    nodes: usize,
    urls: u64,
}

/// The continuations of paths after a segment.
#[derive(Clone, Debug, Default)]
struct ShapeNode {
    /// Whether a path without a query ends here.
    is_end: bool,
    queries: QueryKeys,
    next: NextSegments,
}

/// The queries after a path.
#[derive(Clone, Debug)]
enum QueryKeys {
    /// Each query's pattern, without the question mark.
    Keys(BTreeSet<Vec<u8>>),
    Any,
}

/// The segments at one place: either separate or merged.
#[derive(Clone, Debug, Default)]
struct NextSegments {
    values: BTreeMap<Vec<u8>, ShapeNode>,
    /// If this is set, there are no values.
    wild: Option<Box<MergedSegments>>,
}

/// Segments that were merged into a wildcard.
#[derive(Clone, Debug, Default)]
struct MergedSegments {
    shared: Option<CommonEnds>,
    node: ShapeNode,
}

/// The common prefix and suffix of merged segments.
#[derive(Clone, Debug)]
struct CommonEnds {
    /// The first and last bytes of all values. They may overlap.
    start: Vec<u8>,
    end: Vec<u8>,
    /// The length of the shortest value.
    min_len: usize,
}

impl Default for QueryKeys {
    fn default() -> QueryKeys {
        QueryKeys::Keys(BTreeSet::new())
    }
}

impl Shapes {
    /// Creates an empty tree.
    #[must_use]
    pub fn new() -> Shapes {
        Shapes::default()
    }

    /// Adds a URL, or a path that begins with a slash. The host does not matter.
    ///
    /// # Errors
    /// Returns an error if the text is neither. Nothing is added in this case.
    pub fn add(&mut self, url: &[u8]) -> Result<(), UrlError> {
        path_at_any_origin(url)?.with(|path| self.add_path(path));
        self.urls += 1;
        Ok(())
    }

    /// Returns the number of URLs that were added.
    #[must_use]
    pub fn urls(&self) -> u64 {
        self.urls
    }

    /// Returns the patterns in alphabetical order, at most [`MAX_SHAPES`]. Without URLs there are none.
    #[must_use]
    pub fn patterns(&self) -> Vec<Vec<u8>> {
        let mut root = self.root.clone();
        let mut step = 0;
        loop {
            let mut patterns = BTreeSet::new();
            root.collect(&mut vec![], &mut patterns);
            // After the last step, there are a few patterns for each number of segments.
            if patterns.len() <= MAX_SHAPES || step == LAST_STEP {
                return patterns.into_iter().collect();
            }
            step += 1;
            root.coarsen(0, step);
        }
    }

    fn add_path(&mut self, path: &[u8]) {
        let (path, query) = match path.iter().position(|&byte| byte == b'?') {
            Some(mark) => (&path[..mark], Some(&path[mark + 1..])),
            None => (path, None),
        };
        let mut node = &mut self.root;
        for segment in path.strip_prefix(b"/").unwrap_or(path).splitn(MAX_SEGMENTS, |&byte| byte == b'/') {
            node = node.next.child(segment, &mut self.nodes);
        }
        match query {
            None => node.is_end = true,
            Some(query) => node.queries.add(pattern_of_query(query), &mut self.nodes),
        }
        if self.nodes > MAX_NODES {
            // Shrinks to half the limit, so that this is rare.
            let mut step = 0;
            while self.nodes > MAX_NODES / 2 && step < LAST_STEP {
                step += 1;
                self.root.coarsen(0, step);
                self.nodes = self.root.count();
            }
        }
    }
}

/// Returns the number of values that a place at some depth keeps after a step to fewer shapes. Each step halves this
/// number once per level below the root. Wildcards near the root include the most, so the root is reduced last.
fn values_kept(depth: u32, step: u32) -> usize {
    let halvings = if depth > 0 { step * depth } else { step.saturating_sub(HALVINGS) };
    MAX_VALUES >> halvings.min(HALVINGS)
}

impl ShapeNode {
    fn merge(&mut self, other: ShapeNode) {
        self.is_end |= other.is_end;
        match other.queries {
            QueryKeys::Any => self.queries = QueryKeys::Any,
            QueryKeys::Keys(keys) => keys.into_iter().for_each(|keys| self.queries.add(Some(keys), &mut 0)),
        }
        for (value, node) in other.next.values {
            self.next.child(&value, &mut 0).merge(node);
        }
        if let Some(wild) = other.next.wild {
            self.next.merged().merge(*wild);
        }
    }

    /// Merges the values at each place with more values than a step allows.
    fn coarsen(&mut self, depth: u32, step: u32) {
        let max_values = values_kept(depth, step);
        if matches!(&self.queries, QueryKeys::Keys(keys) if keys.len() > max_values) {
            self.queries = QueryKeys::Any;
        }
        if self.next.values.len() > max_values {
            self.next.merged();
        }
        for node in self.next.nodes_mut() {
            node.coarsen(depth + 1, step);
        }
    }

    /// Returns the number of segments and queries.
    fn count(&self) -> usize {
        let queries = if let QueryKeys::Keys(keys) = &self.queries { keys.len() } else { 1 };
        queries + self.next.count()
    }

    /// Adds the patterns for this node, whose own pattern is `prefix`.
    fn collect(&self, prefix: &mut Vec<u8>, patterns: &mut BTreeSet<Vec<u8>>) {
        let len = prefix.len();
        let mut with = |end: &[&[u8]]| patterns.insert([prefix, &end.concat()[..]].concat());
        if self.is_end && prefix.ends_with(b"*") {
            // This pattern includes everything below it.
            with(&[]);
            return;
        }
        if self.is_end {
            with(&[b"$"]);
        }
        match &self.queries {
            QueryKeys::Any => {
                with(&[b"?*"]);
            }
            QueryKeys::Keys(keys) => {
                for keys in keys {
                    with(&[b"?", keys, if keys.ends_with(b"*") { b"" } else { b"$" }]);
                }
            }
        }
        for (value, node) in &self.next.values {
            prefix.push(b'/');
            prefix.extend_from_slice(value);
            node.collect(prefix, patterns);
            prefix.truncate(len);
        }
        if let Some(wild) = &self.next.wild {
            let (start, end) = wild.shared.as_ref().map_or((&b""[..], &b""[..]), CommonEnds::fixed);
            for part in [b"/", start, b"*", end] {
                prefix.extend_from_slice(part);
            }
            wild.node.collect(prefix, patterns);
            prefix.truncate(len);
        }
    }
}

impl QueryKeys {
    /// Adds a query's pattern, or `None` if a pattern cannot express the query. Updates the number of nodes.
    fn add(&mut self, pattern: Option<Vec<u8>>, nodes: &mut usize) {
        let QueryKeys::Keys(all) = self else { return };
        let before = all.len();
        let has_room = match pattern {
            Some(pattern) => all.insert(pattern) && all.len() <= MAX_VALUES || all.len() == before,
            None => false,
        };
        let after = if has_room { all.len() } else { 1 };
        if !has_room {
            *self = QueryKeys::Any;
        }
        *nodes = (*nodes + after).saturating_sub(before);
    }
}

impl NextSegments {
    /// Returns a segment's node, and creates it if necessary. Updates the number of nodes.
    fn child(&mut self, segment: &[u8], nodes: &mut usize) -> &mut ShapeNode {
        let is_separate = self.wild.is_none()
            && (self.values.contains_key(segment)
                || self.values.len() < MAX_VALUES && segment.len() <= MAX_VALUE_BYTES && is_segment(segment));
        if is_separate {
            if !self.values.contains_key(segment) {
                *nodes += 1;
            }
            return self.values.entry(segment.into()).or_default();
        }
        if self.wild.is_none() {
            let before = self.count();
            self.merged();
            *nodes = (*nodes + self.count()).saturating_sub(before);
        }
        let wild = self.merged();
        wild.include(CommonEnds::of(segment));
        &mut wild.node
    }

    /// Merges the values unless they are already merged.
    fn merged(&mut self) -> &mut MergedSegments {
        let wild = self.wild.get_or_insert_default();
        for (value, node) in mem::take(&mut self.values) {
            wild.include(CommonEnds::of(&value));
            wild.node.merge(node);
        }
        wild
    }

    fn nodes_mut(&mut self) -> impl Iterator<Item = &mut ShapeNode> {
        self.values.values_mut().chain(self.wild.iter_mut().map(|wild| &mut wild.node))
    }

    /// Returns the number of segments and queries.
    fn count(&self) -> usize {
        let nodes = self.values.values().chain(self.wild.iter().map(|wild| &wild.node));
        nodes.map(|node| 1 + node.count()).sum()
    }
}

impl MergedSegments {
    fn merge(&mut self, other: MergedSegments) {
        if let Some(shared) = other.shared {
            self.include(shared);
        }
        self.node.merge(other.node);
    }

    fn include(&mut self, other: CommonEnds) {
        match &mut self.shared {
            Some(shared) => shared.restrict(&other),
            shared => *shared = Some(other),
        }
    }
}

impl CommonEnds {
    fn of(value: &[u8]) -> CommonEnds {
        let len = value.len().min(MAX_VALUE_BYTES);
        CommonEnds { start: value[..len].into(), end: value[value.len() - len..].into(), min_len: value.len() }
    }

    /// Reduces this to the common parts of both.
    fn restrict(&mut self, other: &CommonEnds) {
        let at_start = self.start.iter().zip(&other.start).take_while(|(a, b)| a == b).count();
        self.start.truncate(at_start);
        let at_end = self.end.iter().rev().zip(other.end.iter().rev()).take_while(|(a, b)| a == b).count();
        self.end.drain(..self.end.len() - at_end);
        self.min_len = self.min_len.min(other.min_len);
    }

    /// Returns the text before the wildcard and the text after it. Both are cut at punctuation, so that a pattern does
    /// not depend on digits that a few values have in common, and that no percent-encoded byte is cut.
    fn fixed(&self) -> (&[u8], &[u8]) {
        let is_punctuation = |byte: &u8| !byte.is_ascii_alphanumeric();
        let plain = self.start.iter().position(|&byte| !is_plain(byte)).unwrap_or(self.start.len());
        let start = &self.start[..plain];
        let start = &start[..start.iter().rposition(is_punctuation).map_or(0, |at| at + 1)];
        let plain = self.end.iter().rposition(|&byte| !is_plain(byte)).map_or(0, |at| at + 1);
        let mut end = &self.end[plain..];
        loop {
            end = &end[end.iter().position(is_punctuation).unwrap_or(end.len())..];
            if start.len() + end.len() <= self.min_len || end.is_empty() {
                return (start, end);
            }
            end = &end[1..];
        }
    }
}

/// Returns the pattern of a query: its keys in order, each with a wildcard for its value. Returns `None` if the keys are
/// too long or cannot be repeated in a pattern.
fn pattern_of_query(query: &[u8]) -> Option<Vec<u8>> {
    let mut pattern = Vec::new();
    for (index, parameter) in query.split(|&byte| byte == b'&').enumerate() {
        if index > 0 {
            pattern.push(b'&');
        }
        let (key, value): (_, &[u8]) = match parameter.iter().position(|&byte| byte == b'=') {
            Some(at) => (&parameter[..at], b"=*"),
            None => (parameter, b""),
        };
        // Some dialects write `?` and `/` in a query differently.
        if !is_exact(key) || key.iter().any(|byte| b"?/".contains(byte)) || pattern.len() + key.len() > MAX_VALUE_BYTES
        {
            return None;
        }
        pattern.extend_from_slice(key);
        pattern.extend_from_slice(value);
    }
    Some(pattern)
}

/// Returns whether this is a single segment that a pattern can repeat.
fn is_segment(text: &[u8]) -> bool {
    is_exact(text) && !text.contains(&b'/')
}

/// Returns whether a pattern that repeats this text matches it in every dialect.
fn is_exact(text: &[u8]) -> bool {
    let is_digit = |byte: Option<&u8>| byte.is_some_and(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F'));
    let is_encoded = |at: usize| is_digit(text.get(at + 1)) && is_digit(text.get(at + 2));
    text.iter().enumerate().all(|(at, &byte)| is_plain(byte) || byte == b'%' && is_encoded(at))
}

/// Returns whether every dialect treats a byte the same in a path and in a pattern.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"%*$".contains(&byte)
}

#[cfg(test)]
mod tests {
    use reptile_engine::norm::NormalForm;

    use super::*;
    use crate::reason::Assumption;

    fn shapes_of<U: AsRef<[u8]>>(urls: impl IntoIterator<Item = U>) -> Shapes {
        let mut shapes = Shapes::new();
        for url in urls {
            shapes.add(url.as_ref()).unwrap();
        }
        shapes
    }

    fn patterns_of<U: AsRef<[u8]>>(urls: impl IntoIterator<Item = U>) -> Vec<String> {
        let patterns = shapes_of(urls).patterns();
        patterns.into_iter().map(|pattern| String::from_utf8(pattern).unwrap()).collect()
    }

    fn numbered(count: usize, url: impl Fn(usize) -> String) -> Vec<String> {
        (0..count).map(url).collect()
    }

    const MANY: usize = MAX_VALUES + 1;

    #[test]
    fn shapes_are_tight() {
        let cases: [(Vec<String>, &[&str]); 16] = [
            (vec![], &[]),
            (vec!["https://a.example".into(), "https://b.example/".into()], &["/$"]),
            (vec!["/a".into(), "/a/".into(), "/a/b#c".into()], &["/a$", "/a/$", "/a/b$"]),
            (vec!["/s?q=1&p=2".into(), "/s?q=3&p=".into(), "/s?p=4".into()], &["/s?p=*", "/s?q=*&p=*"]),
            (vec!["/s?".into(), "/s?print".into(), "/s?a=1&b".into()], &["/s?$", "/s?a=*&b$", "/s?print$"]),
            (numbered(MANY, |at| format!("/p/{at}/reviews")), &["/p/*/reviews$"]),
            (numbered(MANY, |at| format!("/p/item-{at}.html")), &["/p/item-*.html$"]),
            (numbered(MANY, |at| format!("/p/20{at:02}")), &["/p/*"]),
            // The page at the wildcard makes it include everything below.
            (numbered(MANY, |at| format!("/p/{at}{}", if at % 2 == 0 { "" } else { "/x?y=1" })), &["/p/*"]),
            (numbered(MANY, |at| format!("/p/{at}?page={at}")), &["/p/*?page=*"]),
            (numbered(MANY, |at| format!("/s?k{at}=1")), &["/s?*"]),
            // No pattern can repeat these.
            (vec!["/a*b/c".into(), "/a*b/d".into()], &["/*/c$", "/*/d$"]),
            (vec!["/a/b$".into(), "/x".into()], &["/a/*", "/x$"]),
            (vec!["/é/c".into(), "/%c3%A9/d".into(), "/%C3%A9".into()], &["/*"]),
            (vec!["/%C3%A9/c".into()], &["/%C3%A9/c$"]),
            (vec!["/s?k*=1".into(), "/t?a/b=1".into(), "/u?a?b".into()], &["/s?*", "/t?*", "/u?*"]),
        ];
        for (urls, patterns) in cases {
            assert_eq!(patterns_of(&urls), patterns, "{urls:?}");
        }
    }

    #[test]
    fn limits_make_shapes_coarser() {
        for count in [MAX_VALUES - 1, MAX_VALUES, MAX_VALUES + 1] {
            let is_within = count <= MAX_VALUES;
            assert_eq!(patterns_of(numbered(count, |at| format!("/{at}/x"))).len(), if is_within { count } else { 1 });
            assert_eq!(patterns_of(numbered(count, |at| format!("/?k{at}"))).len(), if is_within { count } else { 1 });
        }
        for segments in [MAX_SEGMENTS - 1, MAX_SEGMENTS, MAX_SEGMENTS + 1] {
            let pattern = &patterns_of(["/a".repeat(segments)])[0];
            assert_eq!(*pattern == format!("{}$", "/a".repeat(segments)), segments <= MAX_SEGMENTS, "{pattern}");
        }
        for len in [MAX_VALUE_BYTES - 1, MAX_VALUE_BYTES, MAX_VALUE_BYTES + 1] {
            let is_within = len <= MAX_VALUE_BYTES;
            let value = "a".repeat(len);
            assert_eq!(patterns_of([format!("/{value}/x")])[0].contains('*'), !is_within);
            assert_eq!(patterns_of([format!("/?{value}")])[0].contains('*'), !is_within);
        }
        for count in [MAX_SHAPES - 1, MAX_SHAPES, MAX_SHAPES + 1] {
            let urls = numbered(count, |at| format!("/{}/{}", at % 7, at / 7));
            let patterns = patterns_of(&urls);
            assert_eq!(patterns.iter().any(|pattern| pattern.contains('*')), count > MAX_SHAPES, "{patterns:?}");
            assert!(patterns.len() <= count.min(MAX_SHAPES));
        }
    }

    #[test]
    fn the_deepest_places_become_wildcards_first() {
        let dates = numbered(25 * 12 * 28, |at| format!("/{}/{}/{}/x", 2000 + at % 25, at / 25 % 12, at / 300));
        let products = numbered(2 * MANY, |at| format!("/product/{at}/{}", ["photos", "reviews"][at % 2]));
        let patterns = patterns_of(dates.iter().chain(&products));
        assert_eq!(patterns.len(), 27, "{patterns:?}");
        for pattern in ["/2000/*/*/x$", "/2024/*/*/x$", "/product/*/photos$", "/product/*/reviews$"] {
            assert!(patterns.iter().any(|found| found == pattern), "{pattern}: {patterns:?}");
        }
        assert_eq!((values_kept(0, HALVINGS), values_kept(1, HALVINGS)), (MAX_VALUES, 1));
        assert_eq!((values_kept(0, LAST_STEP - 1), values_kept(0, LAST_STEP)), (2, 1));
    }

    /// A small random number generator.
    struct Random(u64);

    impl Random {
        fn below(&mut self, end: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % end
        }

        fn url(&mut self, values: usize, segments: usize) -> Vec<u8> {
            const PARTS: [&[u8]; 24] = [
                b"a",
                b"b",
                b"item-",
                b".html",
                b"%41",
                b"%7e",
                b"%2A",
                b"%24",
                b"%2f",
                b"%",
                b"%4",
                b"*",
                b"$",
                b"?",
                b"=",
                b"&",
                b"\xc3\xa9",
                b"\xff",
                b" ",
                b"/",
                b"~",
                b";",
                b"%00",
                b"\\|\"",
            ];
            let mut url = Vec::new();
            for _ in 0..=self.below(segments) {
                url.extend_from_slice(b"/");
                match self.below(4) {
                    0 => (0..self.below(4)).for_each(|_| url.extend_from_slice(PARTS[self.below(PARTS.len())])),
                    _ => url.extend_from_slice(format!("item-{}.html", self.below(values)).as_bytes()),
                }
            }
            url
        }
    }

    #[test]
    fn every_url_matches_a_pattern_in_every_normal_form() {
        let mut random = Random(7);
        for round in 0..400 {
            let (values, segments) = (1 + random.below(80), 1 + random.below(2 * MAX_SEGMENTS));
            let mut urls: Vec<_> = (0..1 + random.below(200)).map(|_| random.url(values, segments)).collect();
            let shapes = shapes_of(&urls);
            let patterns = shapes.patterns();
            assert!(patterns.len() <= MAX_SHAPES && shapes.urls() == urls.len() as u64);
            for form in NormalForm::ALL {
                let assumption = Assumption::new(&patterns, form).unwrap();
                for url in &urls {
                    let is_included = path_at_any_origin(url).unwrap().with(|path| assumption.includes(path));
                    assert!(
                        is_included,
                        "{round} {form:?} {}: {}",
                        url.escape_ascii(),
                        patterns.concat().escape_ascii()
                    );
                }
            }
            // The order does not matter.
            urls.reverse();
            assert_eq!(shapes_of(&urls).patterns(), patterns);
        }
    }

    #[test]
    fn any_number_of_urls_takes_bounded_memory() {
        let mut random = Random(3);
        let (mut shapes, mut most) = (Shapes::new(), 0);
        for _ in 0..100_000 {
            let mut url = Vec::new();
            for _ in 0..1 + random.below(6) {
                url.extend_from_slice(format!("/{}", random.below(MAX_VALUES)).as_bytes());
            }
            shapes.add(&[&url[..], b"?", format!("k{}", random.below(MAX_VALUES)).as_bytes()].concat()).unwrap();
            most = most.max(shapes.nodes);
            assert!(shapes.nodes <= MAX_NODES);
        }
        assert_eq!(shapes.nodes, shapes.root.count());
        assert!(most > MAX_NODES / 2, "the limit was not reached: {most}");
        assert!((1..=MAX_SHAPES).contains(&shapes.patterns().len()));
    }

    #[test]
    fn text_that_is_not_a_url_is_refused() {
        let mut shapes = Shapes::new();
        for text in ["", "a", "a/b", "mailto:a@b.example", "https://"] {
            assert!(shapes.add(text.as_bytes()).is_err(), "{text}");
        }
        assert!(shapes.urls() == 0 && shapes.patterns().is_empty());
    }
}
