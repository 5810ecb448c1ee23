//! The paths that URLs can have in a normal form, as a small automaton over bytes.
//!
//! All data is derived from the normal form itself, one octet at a time, so that the two cannot differ.

use reptile_engine::norm::NormalForm;

use super::search::{Alphabet, Letter, MAX_FORMS, SpecialBytes};

/// The bytes in the order preferred in examples: common path characters first.
pub(super) const BY_PREFERENCE: [u8; 256] = {
    const FIRST: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789-_./ABCDEFGHIJKLMNOPQRSTUVWXYZ~=&?+,;:@!()'";
    let mut order = [0; 256];
    let mut is_placed = [false; 256];
    let mut at = 0;
    while at < FIRST.len() {
        order[at] = FIRST[at];
        is_placed[FIRST[at] as usize] = true;
        at += 1;
    }
    // The other printable ASCII characters, then all remaining bytes.
    let mut round = 0;
    while round < 2 {
        let mut byte = 0;
        while byte < 256 {
            if !is_placed[byte] && (round == 1 || (byte > 0x20 && byte < 0x7F)) {
                order[at] = byte as u8;
                is_placed[byte] = true;
                at += 1;
            }
            byte += 1;
        }
        round += 1;
    }
    order
};

/// The position of each byte in [`BY_PREFERENCE`].
pub(super) const PREFERENCE: [u8; 256] = {
    let mut preference = [0; 256];
    let mut at = 0;
    while at < 256 {
        preference[BY_PREFERENCE[at] as usize] = at as u8;
        at += 1;
    }
    preference
};

/// The state after reading part of a path, which determines what may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PathState {
    /// Whether a `?` was read, if that matters in the normal form.
    in_query: bool,
    escape: Escape,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Escape {
    /// Not in an escape.
    Outside,
    /// After a `%`.
    Percent,
    /// After a `%` and this hex digit.
    Digit(u8),
}

impl PathState {
    /// The start of a path.
    pub(super) const START: PathState = PathState { in_query: false, escape: Escape::Outside };

    /// Returns whether the place is outside escapes.
    pub(super) fn is_plain(self) -> bool {
        self.escape == Escape::Outside
    }
}

/// The paths that URLs can have in a normal form. Does not check that they begin with a slash.
pub(super) struct Paths {
    /// Whether a byte occurs unescaped, before and after a `?`.
    plain: [[bool; 256]; 2],
    /// Whether `%` followed by these two hex digits occurs.
    pairs: Vec<bool>,
    /// Whether a `%` occurs that does not begin an escape.
    lone_percent: bool,
    /// Whether the bytes after a `%` matter.
    has_escapes: bool,
    /// Whether it matters that a `?` was read.
    has_query: bool,
    /// The spelling of each unescaped byte in a URL.
    written: Vec<Vec<u8>>,
}

/// Returns whether a byte can occur unescaped in a URL's path.
pub(super) fn is_written(byte: u8) -> bool {
    !matches!(byte, 0 | b'\t' | b'\n' | b'\r' | b'#')
}

/// Returns the index of two hex digits.
fn pair(high: u8, low: u8) -> usize {
    usize::from(high) << 8 | usize::from(low)
}

impl Paths {
    /// Derives the paths from a normal form. Costs a few thousand short normalizations.
    pub(super) fn of(form: NormalForm) -> Paths {
        let mut plain = [[false; 256]; 2];
        let mut written: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
        // The cost of each byte's best spelling; less is better.
        let mut effort = [u8::MAX; 256];
        let escapes = (0..=255_u8).map(|byte| format!("%{byte:02X}").into_bytes());
        let spellings = (0..=255).filter(|&byte| is_written(byte)).map(|byte| vec![byte]).chain(escapes);
        for spelling in spellings {
            if let [normal] = *form.path(&spelling) {
                plain[0][usize::from(normal)] = true;
                let own_effort = match *spelling {
                    [byte] if byte == normal && byte.is_ascii_graphic() => 0,
                    [byte] if byte != normal => 1,
                    [_] => 3,
                    _ => 2,
                };
                if own_effort < effort[usize::from(normal)] {
                    effort[usize::from(normal)] = own_effort;
                    written[usize::from(normal)] = spelling.clone();
                }
            }
            if let [b'?', normal] = *form.path(&[b"?", &spelling[..]].concat()) {
                plain[1][usize::from(normal)] = true;
            }
        }
        let lone_percent = plain[0][usize::from(b'%')];
        let mut pairs = vec![false; 1 << 16];
        let digits = || (0..=255_u8).filter(u8::is_ascii_hexdigit);
        for (high, low) in digits().flat_map(|high| digits().map(move |low| (high, low))) {
            let escape = [b'%', high, low];
            pairs[pair(high, low)] = *form.path(&escape) == escape;
        }
        let all_pairs = digits().all(|high| digits().all(|low| pairs[pair(high, low)]));
        let has_query = plain[0] != plain[1];
        Paths { plain, pairs, lone_percent, has_escapes: !(all_pairs && lone_percent), has_query, written }
    }

    /// Reads one byte. Returns `None` if no path continues with it.
    pub(super) fn next(&self, place: PathState, byte: u8) -> Option<PathState> {
        let PathState { in_query, escape } = place;
        let go_on = |escape| Some(PathState { in_query, escape });
        match escape {
            Escape::Percent if byte.is_ascii_hexdigit() => return go_on(Escape::Digit(byte)),
            Escape::Digit(high) if byte.is_ascii_hexdigit() => {
                return if self.pairs[pair(high, byte)] { go_on(Escape::Outside) } else { None };
            }
            Escape::Percent | Escape::Digit(_) if !self.lone_percent => return None,
            _ => {}
        }
        if byte == b'%' && self.has_escapes {
            return go_on(Escape::Percent);
        }
        let is_plain = self.plain[usize::from(in_query)][usize::from(byte)];
        let in_query = in_query || (self.has_query && byte == b'?');
        is_plain.then_some(PathState { in_query, escape: Escape::Outside })
    }

    pub(super) fn may_end(&self, place: PathState) -> bool {
        place.is_plain() || self.lone_percent
    }

    /// Returns whether a URL can have this path, which must begin with a slash.
    pub(super) fn accepts(&self, path: &[u8]) -> bool {
        let end = path.iter().try_fold(PathState::START, |place, &byte| self.next(place, byte));
        path.first() == Some(&b'/') && end.is_some_and(|place| self.may_end(place))
    }

    /// Returns a spelling of the path in a URL, whose normal form is `path`.
    pub(super) fn as_written(&self, path: &[u8]) -> Vec<u8> {
        path.iter().flat_map(|&byte| &self.written[usize::from(byte)]).copied().collect()
    }
}

/// Each byte as a text.
const TEXTS: [u8; 256] = {
    let mut texts = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        texts[byte] = byte as u8;
        byte += 1;
    }
    texts
};

/// Paths in one normal form. The letters are its bytes.
impl Alphabet for Paths {
    type TextState = PathState;

    fn after_slash(&self) -> PathState {
        // The slash is in every normal form.
        self.next(PathState::START, b'/').unwrap_or(PathState::START)
    }

    /// Returns the special bytes, and a byte that represents all others. If there is such a byte, an escape leads only
    /// to states that three such bytes also reach.
    fn letters(&self, place: PathState, [special, _]: &[SpecialBytes; MAX_FORMS]) -> Vec<Letter> {
        let is_like_others = |byte: u8| !special.contains(byte) && self.next(place, byte) == Some(place);
        match BY_PREFERENCE.into_iter().find(|&byte| place.is_plain() && is_like_others(byte)) {
            None => BY_PREFERENCE.map(Letter::from).into(),
            Some(other) => {
                let mut list = special.list.clone();
                list.push(other);
                list.sort_unstable_by_key(|&byte| PREFERENCE[usize::from(byte)]);
                list.into_iter().map(Letter::from).collect()
            }
        }
    }

    fn next(&self, place: PathState, letter: Letter) -> Option<PathState> {
        self.next(place, letter as u8)
    }

    fn may_end(&self, place: PathState) -> bool {
        self.may_end(place)
    }

    fn text(&self, _: PathState, letter: Letter, _: usize) -> &[u8] {
        TEXTS.get(usize::from(letter)..=usize::from(letter)).unwrap_or_default()
    }

    fn len(&self, _: Letter) -> u32 {
        1
    }

    fn least_len(&self, bytes: u32) -> u32 {
        bytes
    }

    fn write(&self, letter: Letter, path: &mut Vec<u8>) {
        path.push(letter as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns all texts over an alphabet up to a length, after a slash.
    fn texts(alphabet: &[u8], max_len: u32) -> Vec<Vec<u8>> {
        let mut texts = vec![b"/".to_vec()];
        let mut start = 0;
        for _ in 0..max_len {
            let end = texts.len();
            for at in start..end {
                let longer: Vec<Vec<u8>> = alphabet.iter().map(|&byte| [&texts[at][..], &[byte]].concat()).collect();
                texts.extend(longer);
            }
            start = end;
        }
        texts
    }

    /// The automaton accepts the path of every URL, and every path that it accepts can be written in a URL.
    #[test]
    fn accepted_paths_are_the_paths_of_urls() {
        for form in NormalForm::ALL {
            let paths = Paths::of(form);
            for url in texts(b"%2aAFf?*$/: \xC3", 4) {
                let path = form.path(&url);
                assert!(paths.accepts(&path), "{form:?} {}", url.escape_ascii());
            }
            let (mut accepted, mut refused) = (0, 0);
            for path in texts(b"%025aAF?*$\0\n/:# \xC3", 4) {
                if paths.accepts(&path) {
                    let written = paths.as_written(&path);
                    let shown = written.escape_ascii();
                    assert!(written.iter().all(|&byte| is_written(byte)), "{form:?} {shown}");
                    assert_eq!(*form.path(&written), path, "{form:?} {shown}");
                    accepted += 1;
                } else {
                    // A path that is its own normal form must be accepted.
                    let is_own = path.iter().all(|&byte| is_written(byte)) && *form.path(&path) == path;
                    assert!(!is_own, "{form:?} {}", path.escape_ascii());
                    refused += 1;
                }
            }
            assert!(accepted > 1000 && refused > 1000, "{form:?} {accepted} {refused}");
        }
    }

    #[test]
    fn the_preference_order_contains_every_byte_once() {
        let mut order = BY_PREFERENCE;
        order.sort_unstable();
        assert!(order.into_iter().eq(0..=255));
    }
}
