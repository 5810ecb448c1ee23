//! Compares the matcher with all readings of short lines, found by trying every end of every field.

use super::*;
use crate::tables::log::random::Random;

/// Number of random formats, each with several lines.
const FORMATS: usize = 4_000;
const LINES: usize = 12;

const CLASSES: [Class; 7] =
    [Class::Lead, Class::Any, Class::Word, Class::Number, Class::Address, Class::Time, Class::Request];
const LITERALS: [&str; 8] = [" ", "\" \"", "\"", " \"", "\" ", "[", "] \"", " - "];
const PIECES: [&str; 15] =
    ["", " ", "\"", "\\\"", "[", "] ", "1", "a.b", "-", "x y", "/", " HTTP/1.1", " HTTP/1.1\" ", "\" \"", " - "];

/// Returns all readings of a text: the end of each field.
fn readings(fields: &[Field], text: &[u8], escape: Escape, start: usize) -> Vec<Vec<usize>> {
    let [field, rest @ ..] = fields else { return vec![Vec::new()] };
    let literal = &field.literal;
    let ends = start..=text.len();
    let ends = ends.filter(|&end| match rest {
        [] => end + literal.len() == text.len() && text.ends_with(literal),
        _ => text[end..].starts_with(literal),
    });
    let is_real = |end: &usize| memchr(b'"', literal).is_none_or(|quote| !is_escaped(text, end + quote, escape));
    let ends: Vec<usize> =
        ends.filter(is_real).filter(|&end| is_of_class(field.class, text, start..end, escape)).collect();
    let after = |end: usize| {
        readings(rest, text, escape, end + literal.len()).into_iter().map(move |ends| [&[end][..], &ends].concat())
    };
    ends.into_iter().flat_map(after).collect()
}

fn is_of_class(class: Class, text: &[u8], range: Range<usize>, escape: Escape) -> bool {
    let is_bad = |at: usize| match text[at] {
        b'"' if escape == Escape::Backslash && class != Class::Lead => !is_escaped(text, at, escape),
        byte => !class.has(byte),
    };
    let is_limited = class != Class::Lead && range.clone().any(is_bad);
    match class {
        Class::Request => !is_limited || ends_with_protocol(&text[range]),
        _ => !is_limited && range.len() >= class.min_len(),
    }
}

/// Returns where a part begins in a text.
fn offset(text: &[u8], part: &[u8]) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

#[test]
fn fields_are_those_of_the_only_reading() {
    let random = &mut Random(0x9E37_79B9_7F4A_7C15);
    let (mut unique, mut ambiguous, mut foreign) = (0, 0, 0);
    for _ in 0..FORMATS {
        let count = 1 + random.below(5);
        let field = |place: usize, random: &mut Random| {
            let is_last = place + 1 == count;
            let literal = if is_last && random.below(2) == 0 { "" } else { random.one(&LITERALS) };
            Field { kind: FieldKind::Other, class: random.one(&CLASSES), name: String::new(), literal: literal.into() }
        };
        let fields: Vec<Field> = (0..count).map(|place| field(place, random)).collect();
        let start = random.one(&["", "", "\"", "[", " \"x\" "]).as_bytes().to_vec();
        let escape = random.one(&[Escape::Backslash, Escape::None]);
        let mut slots = [None; SLOT_COUNT];
        slots.iter_mut().for_each(|slot| *slot = (random.below(2) == 0).then(|| random.below(count)));
        slots[0] = Some(random.below(count));
        let matcher = Matcher::new(LogFormat { start: start.clone(), fields: fields.clone(), escape }, slots);
        for _ in 0..LINES {
            let mut line = start.clone();
            for field in &fields {
                (0..random.below(3)).for_each(|_| line.extend(random.one(&PIECES).as_bytes()));
                line.extend(&field.literal);
            }
            let mut values = Values::default();
            let found = matcher.find(&line, &mut values);
            let all = readings(&fields, &line, escape, start.len());
            let place = |reading: &[usize], slot: usize| {
                let begin = slot.checked_sub(1).map_or(start.len(), |at| reading[at] + fields[at].literal.len());
                begin..reading[slot]
            };
            let shown = String::from_utf8_lossy(&line);
            let mut found_places = Vec::new();
            for (value, slot) in values.iter().zip(slots) {
                let Some(slot) = slot.filter(|_| found.is_ok()) else { continue };
                let begin = offset(&line, value.unwrap());
                let found = begin..begin + value.unwrap().len();
                assert!(all.iter().all(|reading| place(reading, slot) == found), "{shown:?} {fields:?} {all:?}");
                found_places.push((slot, found));
            }
            found_places.sort_by_key(|(slot, _)| *slot);
            for pair in found_places.windows(2).filter(|pair| pair[0].0 != pair[1].0) {
                assert!(pair[0].1.end <= pair[1].1.start, "{shown:?} {fields:?}");
            }
            match found {
                Ok(()) => unique += 1,
                Err(Fault::TwoReadings) => {
                    let differs = |slot| all.iter().any(|reading| place(reading, slot) != place(&all[0], slot));
                    assert!(
                        slots.iter().flatten().any(|&slot| differs(slot)),
                        "{shown:?} {fields:?} {slots:?} {all:?}"
                    );
                    ambiguous += 1;
                }
                Err(_) => {
                    assert!(all.is_empty(), "{shown:?} {fields:?}");
                    foreign += 1;
                }
            }
        }
    }
    assert!(unique > 10_000 && ambiguous > 500 && foreign > 10_000, "{unique} {ambiguous} {foreign}");
}

#[test]
fn readings_are_limited() {
    let format = LogFormat::parse("$request_uri $x").unwrap();
    let matcher = Matcher::new(format, [Some(0), None, None, None, None, None, None, None]);
    // Each space may end the target, and the line's end is a place too.
    for (spaces, expected) in [(1, Ok(())), (2, Err(Fault::TwoReadings))] {
        let line = " ".repeat(spaces);
        assert_eq!(matcher.find(line.as_bytes(), &mut Values::default()), expected);
    }
    let format = LogFormat::parse("$x $y [$time_local] $request_uri").unwrap();
    let matcher = Matcher::new(format, [None, None, None, Some(3), None, None, None, None]);
    // The place of each space, two of the time, and the end of the line.
    for (spaces, is_read) in
        [(MAX_LITERAL_PLACES - 4, true), (MAX_LITERAL_PLACES - 3, true), (MAX_LITERAL_PLACES - 2, false)]
    {
        let line = format!("{}[1] /x", " ".repeat(spaces));
        let found = matcher.find(line.as_bytes(), &mut Values::default());
        assert_eq!(found, if is_read { Ok(()) } else { Err(Fault::TwoReadings) }, "{spaces}");
    }
}
