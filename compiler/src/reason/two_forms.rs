//! The paths that URLs can have, as they are written, and their bytes in two normal forms.
//!
//! Serves comparisons of rules in different dialects. A path is read letter by letter: a byte, an escape such as `%2F`,
//! or a `%` that does not begin an escape. Each normal form rewrites a letter regardless of the letters before it,
//! except that an earlier `?` may matter. All data is derived from the normal forms themselves.

use std::collections::HashSet;

use reptile_engine::norm::NormalForm;

use super::paths::{PREFERENCE, is_written};
use super::search::{Alphabet, Letter, MAX_FORMS, SpecialBytes};

/// A byte, an escape, or a `%` that does not begin an escape.
struct WrittenUnit {
    /// As written in a URL.
    written: Vec<u8>,
    /// In each normal form, before and after a `?`.
    normal: [[Vec<u8>; 2]; MAX_FORMS],
}

/// Everything that affects which letters may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TwoFormsState {
    in_query: bool,
    /// Whether the path ends with a `%` that does not begin an escape, and perhaps one hex digit.
    lone: LoneEscape,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum LoneEscape {
    No,
    /// After the `%`.
    Percent,
    /// After the `%` and a hex digit. Another one would make it an escape.
    Digit,
}

impl TwoFormsState {
    /// Returns all places in index order.
    fn all() -> impl Iterator<Item = TwoFormsState> {
        let lone = [LoneEscape::No, LoneEscape::Percent, LoneEscape::Digit];
        [false, true].into_iter().flat_map(move |in_query| lone.map(|lone| TwoFormsState { in_query, lone }))
    }

    fn index(self) -> usize {
        usize::from(self.in_query) * 3 + self.lone as usize
    }
}

/// The paths that URLs can have, and their bytes in two normal forms.
pub(super) struct TwoForms {
    /// The units in order of preference. If no normal form distinguishes several units, only the first.
    units: Vec<WrittenUnit>,
    /// For each normal form, its bytes' counterparts in the other form.
    bytes: [Vec<Counterpart>; MAX_FORMS],
    /// For each normal form, before and after a `?`, the letters with a byte.
    with_byte: [[Vec<Vec<Letter>>; 2]; MAX_FORMS],
    /// For each place, by its index, the letters grouped by the place that they lead to.
    leading: Vec<Vec<Vec<Letter>>>,
}

/// The counterpart in the other normal form of a byte in this one.
#[derive(Clone, Default)]
struct Counterpart {
    /// The other form's text for a unit that is this byte in this form.
    other: Option<Vec<u8>>,
    /// Whether several such units have different texts in the other form.
    is_ambiguous: bool,
    /// Whether the byte may begin a longer unit in this form.
    begins_longer: bool,
    /// Whether the byte may be in a longer unit in this form.
    is_in_longer: bool,
}

impl TwoForms {
    /// Derives the letters from two normal forms. Costs a few thousand short normalizations.
    pub(super) fn of(forms: [NormalForm; MAX_FORMS]) -> TwoForms {
        let mut bytes: Vec<u8> = (0..=255).filter(|&byte| is_written(byte)).collect();
        bytes.sort_unstable_by_key(|&byte| PREFERENCE[usize::from(byte)]);
        let digits: Vec<u8> = (0..=255_u8).filter(u8::is_ascii_hexdigit).collect();
        let pairs = digits.iter().flat_map(|&high| digits.iter().map(move |&low| vec![b'%', high, low]));
        let mut known = HashSet::new();
        let unit = |written: Vec<u8>| {
            let in_query = [b"?", &written[..]].concat();
            let normal = forms.map(|form| [form.path(&written).into_owned(), form.path(&in_query)[1..].to_vec()]);
            WrittenUnit { written, normal }
        };
        let units = bytes.into_iter().map(|byte| vec![byte]).chain(pairs).map(unit);
        // Other letters that are the same in both normal forms may follow different letters.
        let is_new = |unit: &WrittenUnit| {
            let follows =
                matches!(unit.written[..], [byte] if byte == b'?' || byte == b'%' || byte.is_ascii_hexdigit());
            let normal = unit.normal.clone();
            known.insert((follows.then(|| unit.written.clone()), normal))
        };
        let units: Vec<WrittenUnit> = units.filter(is_new).collect();
        let mut bytes = [(); MAX_FORMS].map(|()| vec![Counterpart::default(); 256]);
        for (unit, in_query) in units.iter().flat_map(|unit| [(unit, 0), (unit, 1)]) {
            for (form, bytes) in bytes.iter_mut().enumerate() {
                let (own, other) = (&unit.normal[form][in_query], &unit.normal[1 - form][in_query]);
                match own[..] {
                    [byte] => {
                        let known = bytes[usize::from(byte)].other.get_or_insert_with(|| other.clone());
                        let is_same = known == other;
                        bytes[usize::from(byte)].is_ambiguous |= !is_same;
                    }
                    [first, ..] => {
                        bytes[usize::from(first)].begins_longer = true;
                        own.iter().for_each(|&byte| bytes[usize::from(byte)].is_in_longer = true);
                    }
                    [] => {}
                }
            }
        }
        let mut with_byte = [(); MAX_FORMS].map(|()| [(); 2].map(|()| vec![Vec::new(); 256]));
        for (letter, unit) in (0..).zip(&units) {
            for (form, in_query) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                for &byte in &unit.normal[form][in_query] {
                    let letters: &mut Vec<Letter> = &mut with_byte[form][in_query][usize::from(byte)];
                    if letters.last() != Some(&letter) {
                        letters.push(letter);
                    }
                }
            }
        }
        let mut forms = TwoForms { units, bytes, with_byte, leading: Vec::new() };
        forms.leading = TwoFormsState::all().map(|place| forms.by_next(place)).collect();
        forms
    }

    /// Returns the letters that may follow a place, grouped by the place that they lead to.
    fn by_next(&self, place: TwoFormsState) -> Vec<Vec<Letter>> {
        let mut lists: Vec<(TwoFormsState, Vec<Letter>)> = Vec::new();
        for letter in 0..self.units.len() as Letter {
            let Some(next) = self.next(place, letter) else { continue };
            match lists.iter_mut().find(|(known, _)| *known == next) {
                Some((_, letters)) => letters.push(letter),
                None => lists.push((next, vec![letter])),
            }
        }
        lists.into_iter().map(|(_, letters)| letters).collect()
    }

    /// Returns a pattern in the other normal form that matches every path that `pattern` matches in this form, or
    /// `None` if no such pattern is known.
    ///
    /// The result is known if each byte is a separate unit wherever it matches, with one text in the other form.
    pub(super) fn translate(&self, form: usize, pattern: &[u8]) -> Option<Vec<u8>> {
        let bytes = self.bytes.get(form)?;
        let mut text = Vec::with_capacity(pattern.len());
        for (number, segment) in pattern.split(|&byte| byte == b'*').enumerate() {
            if number > 0 {
                text.push(b'*');
                if segment.first().is_some_and(|&byte| bytes[usize::from(byte)].is_in_longer) {
                    return None;
                }
            }
            for &byte in segment {
                let Counterpart { other, is_ambiguous, begins_longer, .. } = &bytes[usize::from(byte)];
                let other = other.as_ref().filter(|_| !is_ambiguous && !begins_longer)?;
                text.extend_from_slice(other);
            }
        }
        Some(text)
    }

    fn unit(&self, letter: Letter) -> Option<&WrittenUnit> {
        self.units.get(usize::from(letter))
    }
}

impl Alphabet for TwoForms {
    type TextState = TwoFormsState;

    fn after_slash(&self) -> TwoFormsState {
        TwoFormsState { in_query: false, lone: LoneEscape::No }
    }

    fn letters(&self, place: TwoFormsState, special: &[SpecialBytes; MAX_FORMS]) -> Vec<Letter> {
        let mut letters = Vec::new();
        for (special, with_byte) in special.iter().zip(&self.with_byte) {
            let with_special =
                special.list.iter().flat_map(|&byte| &with_byte[usize::from(place.in_query)][usize::from(byte)]);
            letters.extend(with_special.copied().filter(|&letter| self.next(place, letter).is_some()));
        }
        let is_special = |letter: Letter| {
            let is_in = |form: usize| self.text(place, letter, form).iter().any(|&byte| special[form].contains(byte));
            (0..MAX_FORMS).any(is_in)
        };
        // One letter represents all others that lead to the same place.
        let leading = self.leading.get(place.index()).into_iter().flatten();
        letters.extend(leading.filter_map(|letters| letters.iter().copied().find(|&letter| !is_special(letter))));
        letters.sort_unstable();
        letters.dedup();
        letters
    }

    fn next(&self, TwoFormsState { in_query, lone }: TwoFormsState, letter: Letter) -> Option<TwoFormsState> {
        let written = &self.unit(letter)?.written;
        let lone = match (&written[..], lone) {
            ([byte], LoneEscape::Digit) if byte.is_ascii_hexdigit() => return None,
            ([byte], LoneEscape::Percent) if byte.is_ascii_hexdigit() => LoneEscape::Digit,
            (b"%", _) => LoneEscape::Percent,
            _ => LoneEscape::No,
        };
        Some(TwoFormsState { in_query: in_query || written[..] == *b"?", lone })
    }

    fn may_end(&self, _: TwoFormsState) -> bool {
        true
    }

    fn text(&self, place: TwoFormsState, letter: Letter, form: usize) -> &[u8] {
        let normal = self.unit(letter).and_then(|unit| unit.normal.get(form));
        normal.map_or(&[], |normal| &normal[usize::from(place.in_query)])
    }

    fn len(&self, letter: Letter) -> u32 {
        self.unit(letter).map_or(0, |unit| unit.written.len() as u32)
    }

    fn least_len(&self, bytes: u32) -> u32 {
        // A written byte becomes at most an escape.
        bytes.div_ceil(3)
    }

    fn write(&self, letter: Letter, path: &mut Vec<u8>) {
        path.extend(self.unit(letter).iter().flat_map(|unit| &unit.written));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::{Config, TestRunner};

    #[test]
    fn places_are_in_order_of_their_index() {
        assert!(TwoFormsState::all().enumerate().all(|(index, place)| place.index() == index));
    }

    /// A path's normal form is the concatenation of its letters' normal forms, and every path can be read.
    #[test]
    fn letters_together_have_the_normal_form_of_the_path() {
        const CASES: u32 = 500;
        for forms in NormalForm::ALL.into_iter().flat_map(|a| NormalForm::ALL.map(|b| [a, b])) {
            let letters = TwoForms::of(forms);
            let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
            let choices = proptest::collection::vec(any::<proptest::sample::Index>(), 0..12);
            let outcome = TestRunner::new(config).run(&choices, |choices| {
                let (mut place, mut path) = (letters.after_slash(), b"/".to_vec());
                let mut normal = [b"/".to_vec(), b"/".to_vec()];
                for choice in choices {
                    // Half the letters are letters that can affect later ones.
                    let among = if choice.index(2) == 0 { b"%?/aF2*$".len() } else { letters.units.len() };
                    let letter = match among {
                        8 => {
                            let byte = b"%?/aF2*$"[choice.index(8)];
                            let is_byte = |unit: &WrittenUnit| unit.written == [byte];
                            letters.units.iter().position(is_byte).unwrap_or_default() as Letter
                        }
                        all => choice.index(all) as Letter,
                    };
                    let Some(next) = letters.next(place, letter) else { continue };
                    for (form, normal) in normal.iter_mut().enumerate() {
                        normal.extend_from_slice(letters.text(place, letter, form));
                    }
                    letters.write(letter, &mut path);
                    place = next;
                }
                for (form, normal) in forms.into_iter().zip(&normal) {
                    prop_assert_eq!(&*form.path(&path), &normal[..], "{:?} {}", form, path.escape_ascii());
                }
                Ok(())
            });
            outcome.unwrap();
        }
    }
}
