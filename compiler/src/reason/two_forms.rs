//! The paths that URLs can have, as they are written, and their bytes in two normal forms.
//!
//! Compares rules that different dialects read. A path is read letter by letter: a byte, an escape such as `%2F`, or a
//! `%` that does not begin one. Each normal form rewrites a letter regardless of the letters before it, except that a
//! `?` among them may matter. All data is derived from the normal forms themselves.

use std::collections::HashSet;

use reptile_engine::norm::NormalForm;

use super::paths::{PREFERENCE, is_written};
use super::search::{Alphabet, Bytes, Letter, MAX_FORMS};

/// A byte, an escape, or a `%` that does not begin one.
struct Unit {
    /// As written in a URL.
    written: Vec<u8>,
    /// In each normal form, before and after a `?`.
    normal: [[Vec<u8>; 2]; MAX_FORMS],
}

/// Everything that affects which letters may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    in_query: bool,
    /// Whether the path ends with a `%` that does not begin an escape, and perhaps one hex digit.
    lone: Lone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Lone {
    No,
    /// After the `%`.
    Percent,
    /// After the `%` and a hex digit. Another one would make it an escape.
    Digit,
}

/// The paths that URLs can have, and their bytes in two normal forms.
pub(super) struct TwoForms {
    /// The units, the preferred ones first. Of those that no normal form tells apart, only the first.
    units: Vec<Unit>,
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
            Unit { written, normal }
        };
        let units = bytes.into_iter().map(|byte| vec![byte]).chain(pairs).map(unit);
        // Other letters that look the same in both normal forms may follow different letters.
        let is_new = |unit: &Unit| {
            let follows =
                matches!(unit.written[..], [byte] if byte == b'?' || byte == b'%' || byte.is_ascii_hexdigit());
            let normal = unit.normal.clone();
            known.insert((follows.then(|| unit.written.clone()), normal))
        };
        TwoForms { units: units.filter(is_new).collect() }
    }

    fn unit(&self, letter: Letter) -> Option<&Unit> {
        self.units.get(usize::from(letter))
    }
}

impl Alphabet for TwoForms {
    type Place = Place;

    fn after_slash(&self) -> Place {
        Place { in_query: false, lone: Lone::No }
    }

    fn letters(&self, place: Place, special: &[Bytes; MAX_FORMS]) -> Vec<Letter> {
        let mut others = HashSet::new();
        let is_needed = |letter: &Letter| {
            let Some(next) = self.next(place, *letter) else { return false };
            let is_special = (0..MAX_FORMS)
                .any(|form| self.text(place, *letter, form).iter().any(|&byte| special[form].contains(byte)));
            is_special || others.insert(next)
        };
        (0..self.units.len() as Letter).filter(is_needed).collect()
    }

    fn next(&self, Place { in_query, lone }: Place, letter: Letter) -> Option<Place> {
        let written = &self.unit(letter)?.written;
        let lone = match (&written[..], lone) {
            ([byte], Lone::Digit) if byte.is_ascii_hexdigit() => return None,
            ([byte], Lone::Percent) if byte.is_ascii_hexdigit() => Lone::Digit,
            (b"%", _) => Lone::Percent,
            _ => Lone::No,
        };
        Some(Place { in_query: in_query || written[..] == *b"?", lone })
    }

    fn may_end(&self, _: Place) -> bool {
        true
    }

    fn text(&self, place: Place, letter: Letter, form: usize) -> &[u8] {
        let normal = self.unit(letter).and_then(|unit| unit.normal.get(form));
        normal.map_or(&[], |normal| &normal[usize::from(place.in_query)])
    }

    fn len(&self, letter: Letter) -> u32 {
        self.unit(letter).map_or(0, |unit| unit.written.len() as u32)
    }

    fn least_len(&self, bytes: u32) -> u32 {
        // A written byte becomes an escape at most.
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

    /// Each normal form of a path is made of its letters' normal forms, and every path can be read.
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
                    // Half of the letters are the ones that matter to others.
                    let among = if choice.index(2) == 0 { b"%?/aF2*$".len() } else { letters.units.len() };
                    let letter = match among {
                        8 => {
                            let byte = b"%?/aF2*$"[choice.index(8)];
                            let is_byte = |unit: &Unit| unit.written == [byte];
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
