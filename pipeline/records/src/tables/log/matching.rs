//! Finds a line's fields by a log format, if there is only one way to read them.
//!
//! Clients choose the text of many fields, and it may look like the format's literals. Servers escape quotes, so if a
//! line has as many unescaped quotes as its format, each of them belongs to the format. This fixes the ends of quoted
//! fields without reading further ([`Matcher::aligned`]). Fields without quotes lie between two of the format's quotes.
//! A field's end is certain if its text cannot contain the next literal. All other fields, and lines with more quotes,
//! need a search of all readings ([`Search`]). A wanted field that differs between two readings makes the line invalid.

use std::ops::Range;

use memchr::memmem::Finder;
use memchr::{memchr, memchr_iter, memrchr};

use super::Fault;
use super::format::{Class, Escape, Field, FieldKind, LogFormat};
use crate::lines::count_bytes;

/// Maximum number of places in a line where the format's literals may be, if the line has several readings. Bounds the
/// memory for them, which is 16 bytes per place. Real lines have a few hundred places.
pub(super) const MAX_LITERAL_PLACES: usize = 65_536;

/// Number of wanted fields.
pub(super) const SLOT_COUNT: usize = 8;

/// The text of the wanted fields.
pub(super) type Values<'b> = [Option<&'b [u8]>; SLOT_COUNT];

/// A format that is prepared for finding fields.
#[derive(Debug)]
pub(super) struct Matcher {
    format: LogFormat,
    /// The places of the wanted fields.
    slots: [Option<usize>; SLOT_COUNT],
    /// For each field whose class cannot have the literal after it: the bytes of the class.
    bounds: Vec<Option<&'static Members>>,
    /// The segments that have wanted fields, in order.
    segments: Vec<Segment>,
    /// The number of quotes in the format.
    quotes: usize,
    /// Whether any text may follow the format's last field.
    is_open: bool,
    /// Finds the protocol in a request.
    protocol: Finder<'static>,
}

/// For each byte, whether a class has it.
type Members = [bool; 256];

/// Fields between two quotes of a format, or between a quote and the line's start or end.
#[derive(Debug)]
struct Segment {
    /// The number of quotes before it.
    quote: usize,
    fields: Range<usize>,
    /// The end of the fields that are read. None is read after a virtual host with its port, which no client can move.
    read: usize,
    /// The literal before its first field.
    before: Vec<u8>,
    /// The length of that literal from its last quote on.
    from_quote: Option<usize>,
    /// The literal after its last field.
    after: Vec<u8>,
    /// The length of that literal before its first quote.
    to_quote: Option<usize>,
    /// The class of the field after that, if it has a number.
    has_number_after: bool,
    wanted: Vec<WantedField>,
}

#[derive(Debug)]
struct WantedField {
    slot: usize,
    place: usize,
    /// Whether the first occurrences of all literals in the segment give its only reading.
    is_certain: bool,
}

impl Matcher {
    /// Prepares a format for finding the fields at `slots`.
    pub fn new(format: LogFormat, slots: [Option<usize>; SLOT_COUNT]) -> Matcher {
        let mut quotes = quotes_in(&format.start);
        let (mut segments, mut begin) = (Vec::new(), 0);
        for (place, field) in format.fields.iter().enumerate() {
            let count = quotes_in(&field.literal);
            if count == 0 && place + 1 < format.fields.len() {
                continue;
            }
            let fields = begin..place + 1;
            let wanted: Vec<WantedField> = (0..SLOT_COUNT)
                .filter_map(|slot| slots[slot].filter(|place| fields.contains(place)).map(|place| (slot, place)))
                .map(|(slot, place)| WantedField { slot, place, is_certain: is_certain(&format, &fields, place) })
                .collect();
            if !wanted.is_empty() {
                let before =
                    begin.checked_sub(1).map_or(&format.start, |before| &format.fields[before].literal).clone();
                let is_first = |wanted: &WantedField| wanted.is_certain && wanted.place == fields.start;
                let read = match &wanted[..] {
                    [only] if is_first(only) && matches!(format.fields[only.place].kind, FieldKind::HostAndPort(_)) => {
                        fields.start + 1
                    }
                    _ => fields.end,
                };
                let has_number_after = format.fields.get(place + 1).is_some_and(|field| field.class == Class::Number);
                segments.push(Segment {
                    quote: quotes,
                    fields,
                    read,
                    from_quote: memrchr(b'"', &before).map(|at| before.len() - at),
                    before,
                    to_quote: memchr(b'"', &field.literal),
                    after: field.literal.clone(),
                    has_number_after,
                    wanted,
                });
            }
            begin = place + 1;
            quotes += count;
        }
        let last = format.fields.len() - 1;
        let bound = |(place, field): (usize, &Field)| {
            let is_bound = place == last || field.literal.first().is_some_and(|byte| !field.class.has(*byte));
            field.class.members().filter(|_| is_bound)
        };
        let bounds = format.fields.iter().enumerate().map(bound).collect();
        let is_open = format.fields.last().is_some_and(|field| field.class == Class::Rest);
        Matcher { format, slots, bounds, segments, quotes, is_open, protocol: Finder::new(b" HTTP/") }
    }

    /// Returns how fields are escaped.
    pub fn escape(&self) -> Escape {
        self.format.escape
    }

    /// Stores the text of a line's wanted fields.
    ///
    /// Time: a few steps per byte. If the line may have several readings, a few steps per byte and field.
    ///
    /// # Errors
    /// Returns an error if the line does not match the format, or if it has two readings that differ in a wanted field.
    #[inline]
    pub fn find<'b>(&self, line: &'b [u8], values: &mut Values<'b>) -> Result<(), Fault> {
        if self.aligned(line, values).is_some() {
            return Ok(());
        }
        self.search(line, values)
    }

    /// Stores the text of the wanted fields if all the line's quotes belong to the format, and the fields are certain.
    #[inline]
    fn aligned<'b>(&self, line: &'b [u8], values: &mut Values<'b>) -> Option<()> {
        let mut quotes = Quotes::of(line, self.format.escape);
        let (mut number, mut last) = (0, 0);
        for segment in &self.segments {
            while number < segment.quote {
                last = quotes.next()?;
                number += 1;
            }
            let start = segment.from_quote.map_or(segment.before.len(), |len| last + len);
            let end = match segment.to_quote {
                Some(offset) => {
                    last = quotes.next()?;
                    number += 1;
                    last.checked_sub(offset)?
                }
                None => line.len().checked_sub(segment.after.len())?,
            };
            let text = line.get(start..end)?;
            let is_first = segment.fields.start == 0;
            let has_start = is_at_end(&line[..start], &segment.before) && (!is_first || start == segment.before.len());
            let has_literals = has_start && is_at_start(&line[end..], &segment.after);
            let next = || line.get(end + segment.after.len()).is_some_and(|byte| Class::Number.has(*byte));
            if !has_literals || segment.has_number_after && !next() {
                return None;
            }
            self.fields(segment, text, values)?;
        }
        let rest = &line[if number > 0 { last + 1 } else { 0 }..];
        let is_only_reading = if self.is_open {
            // Another reading needs a longer request, which ends with its protocol.
            self.protocol.find(rest).is_none()
        } else {
            let count = count_bytes(b'"', rest);
            number + count == self.quotes || number + quotes.count() == self.quotes
        };
        is_only_reading.then_some(())
    }

    /// Stores the text of a segment's wanted fields if each is certain.
    #[inline]
    fn fields<'b>(&self, segment: &Segment, text: &'b [u8], values: &mut Values<'b>) -> Option<()> {
        if let [WantedField { slot, .. }] = segment.wanted[..]
            && segment.fields.len() == 1
        {
            values[slot] = Some(text);
            return Some(());
        }
        let mut start = 0;
        for place in segment.fields.start..segment.read {
            let Field { class, literal, .. } = &self.format.fields[place];
            let rest = &text[start..];
            let is_last = place + 1 == segment.fields.end;
            let (len, is_field) = match self.bounds[place] {
                Some(members) => {
                    let len = len_of(members, rest);
                    let has_end = if is_last { len == rest.len() } else { is_at_start(&rest[len..], literal) };
                    (len, has_end && len >= class.min_len())
                }
                None => {
                    let len = if is_last { rest.len() } else { first_place(rest, literal)? };
                    (len, class.accepts(&rest[..len], self.format.escape))
                }
            };
            if !is_field {
                return None;
            }
            for wanted in segment.wanted.iter().filter(|wanted| wanted.place == place) {
                if !wanted.is_certain {
                    return None;
                }
                values[wanted.slot] = Some(&rest[..len]);
            }
            start += if is_last { len } else { len + literal.len() };
        }
        Some(())
    }

    /// Searches all readings of a line, as [`Matcher::find`] does if the quotes are not enough.
    ///
    /// # Errors
    /// Returns an error if the line does not match the format, or if it has two readings that differ in a wanted field.
    #[cold]
    pub fn search<'b>(&self, line: &'b [u8], values: &mut Values<'b>) -> Result<(), Fault> {
        let fields = &self.format.fields;
        let text = line.strip_prefix(&*self.format.start).ok_or(Fault::NotLog)?;
        let text = fields.last().and_then(|last| text.strip_suffix(&*last.literal)).ok_or(Fault::NotLog)?;
        let places = Search { fields, text, escape: self.format.escape }.places()?;
        for (value, slot) in values.iter_mut().zip(self.slots) {
            let Some(slot) = slot else { continue };
            let start = match slot.checked_sub(1) {
                Some(before) => places[before].map(|place| place + fields[before].literal.len()),
                None => Some(0),
            };
            let (start, end) = start.zip(places[slot]).ok_or(Fault::TwoReadings)?;
            *value = Some(&text[start..end]);
        }
        Ok(())
    }
}

/// Returns whether the first occurrences of a segment's literals give the only reading of a field, if each field's text
/// is of its class: the field and all before it cannot contain the literals after them, or the field and all after it
/// cannot contain the literals before them.
fn is_certain(format: &LogFormat, fields: &Range<usize>, place: usize) -> bool {
    let cannot_have = |place: usize, byte: Option<&u8>| {
        let class = format.fields[place].class;
        class.members().is_some() && byte.is_some_and(|&byte| !class.has(byte))
    };
    let last = fields.end - 1;
    let from_start =
        (fields.start..=place).all(|place| place == last || cannot_have(place, format.fields[place].literal.first()));
    let from_end =
        (place.max(fields.start + 1)..=last).all(|place| cannot_have(place, format.fields[place - 1].literal.last()));
    from_start || from_end
}

impl Class {
    /// Returns whether text of the class may contain a byte. A request without quotes is meant.
    const fn has(self, byte: u8) -> bool {
        match self {
            Class::Lead | Class::Any | Class::Rest => true,
            Class::Word => byte > b' ',
            Class::Number => byte.is_ascii_digit() || matches!(byte, b'-' | b'.'),
            Class::Address => byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b':' | b'-' | b'_'),
            Class::Time => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b':' | b'+' | b'-' | b'.' | b',' | b' ')
            }
            Class::Request => byte != b'"',
        }
    }

    /// Returns the shortest length of text of the class.
    fn min_len(self) -> usize {
        usize::from(matches!(self, Class::Number | Class::Address | Class::Time))
    }

    /// Returns whether text is of the class.
    #[inline]
    fn accepts(self, text: &[u8], escape: Escape) -> bool {
        match self {
            Class::Lead | Class::Any => true,
            Class::Rest => text.first().is_none_or(|byte| *byte == b' '),
            Class::Request => ends_with_protocol(text) || Quotes::of(text, escape).next().is_none(),
            _ => text.len() >= self.min_len() && text.iter().all(|byte| self.has(*byte)),
        }
    }

    /// Returns for each byte whether the class has it, if it has only some bytes.
    fn members(self) -> Option<&'static Members> {
        const fn of(class: Class) -> Members {
            let mut members = [false; 256];
            let mut byte = 0;
            while byte < members.len() {
                members[byte] = class.has(byte as u8);
                byte += 1;
            }
            members
        }
        match self {
            Class::Word => Some(const { &of(Class::Word) }),
            Class::Number => Some(const { &of(Class::Number) }),
            Class::Address => Some(const { &of(Class::Address) }),
            Class::Time => Some(const { &of(Class::Time) }),
            Class::Lead | Class::Any | Class::Rest | Class::Request => None,
        }
    }
}

/// Returns the length of the text of a class at the start of `text`.
#[inline]
fn len_of(members: &Members, text: &[u8]) -> usize {
    text.iter().position(|byte| !members[usize::from(*byte)]).unwrap_or(text.len())
}

/// Returns whether text ends as a request does: with ` HTTP/1.1` or another version.
fn ends_with_protocol(text: &[u8]) -> bool {
    let version = text.rsplit(|byte| *byte == b' ').next().and_then(|word| word.strip_prefix(b"HTTP/"));
    let is_version = |version: &[u8]| version.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    version.is_some_and(|version| !version.is_empty() && is_version(version))
}

fn quotes_in(text: &[u8]) -> usize {
    memchr_iter(b'"', text).count()
}

/// Returns the first place of a literal in text.
#[inline]
fn first_place(text: &[u8], literal: &[u8]) -> Option<usize> {
    let first = *literal.first()?;
    let mut from = 0;
    loop {
        from += first_byte(first, &text[from..])?;
        if is_at_start(&text[from..], literal) {
            return Some(from);
        }
        from += 1;
    }
}

/// Returns the first place of a byte in text. Most fields are short, so that a loop is done before `memchr` begins.
#[inline]
fn first_byte(byte: u8, text: &[u8]) -> Option<usize> {
    const SHORT: usize = 16;
    let found = text.iter().take(SHORT).position(|other| *other == byte);
    found.or_else(|| Some(SHORT + memchr(byte, text.get(SHORT..)?)?))
}

/// Returns whether text starts with a literal. For one byte, a call to compare memory takes longer.
#[inline]
fn is_at_start(text: &[u8], literal: &[u8]) -> bool {
    match literal {
        [byte] => text.first() == Some(byte),
        _ => text.starts_with(literal),
    }
}

/// Returns whether text ends with a literal.
#[inline]
fn is_at_end(text: &[u8], literal: &[u8]) -> bool {
    match literal {
        [] => true,
        [byte] => text.last() == Some(byte),
        _ => text.ends_with(literal),
    }
}

/// Returns whether the byte at `at` follows an odd number of backslashes.
#[inline]
fn is_escaped(text: &[u8], at: usize, escape: Escape) -> bool {
    let is_backslash = |byte: &&u8| **byte == b'\\';
    let has_backslash = at > 0 && text[at - 1] == b'\\';
    has_backslash && escape == Escape::Backslash && text[..at].iter().rev().take_while(is_backslash).count() % 2 == 1
}

/// The places of unescaped quotes in text.
struct Quotes<'t> {
    text: &'t [u8],
    all: memchr::Memchr<'t>,
    escape: Escape,
}

impl<'t> Quotes<'t> {
    #[inline]
    fn of(text: &'t [u8], escape: Escape) -> Quotes<'t> {
        Quotes { text, all: memchr_iter(b'"', text), escape }
    }
}

impl Iterator for Quotes<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let Quotes { text, all, escape } = self;
        all.find(|&at| !is_escaped(text, at, *escape))
    }
}

/// All readings of a text.
struct Search<'s, 't> {
    /// The fields. The last one ends with the text.
    fields: &'s [Field],
    text: &'t [u8],
    escape: Escape,
}

impl Search<'_, '_> {
    /// Returns each field's end if it is the same in all readings.
    ///
    /// # Errors
    /// Returns an error if there is no reading, or if there are too many.
    fn places(&self) -> Result<Vec<Option<usize>>, Fault> {
        // The ends of each field that the text before them allows.
        let (mut ends, mut count) = (Vec::with_capacity(self.fields.len()), 0);
        let mut starts = vec![0];
        for (place, field) in self.fields.iter().enumerate() {
            let is_last = place + 1 == self.fields.len();
            let first = *starts.first().ok_or(Fault::NotLog)?;
            let literals = if is_last { vec![self.text.len()] } else { self.literals(&field.literal, first, count)? };
            count += literals.len();
            let reached = self.reached(field.class, &starts, literals);
            starts = reached.iter().map(|end| end + field.literal.len()).collect();
            ends.push(reached);
        }
        // The ends of each field that the text after them allows, too.
        let mut known = vec![None; self.fields.len()];
        let mut later = ends.pop().filter(|last| !last.is_empty()).ok_or(Fault::NotLog)?;
        known[self.fields.len() - 1] = Some(self.text.len());
        while let Some(earlier) = ends.pop() {
            let place = ends.len();
            later = self.reaching(place, earlier, &later);
            known[place] = if let [only] = later[..] { Some(only) } else { None };
        }
        Ok(known)
    }

    /// Returns the places of a literal from `first` on. `count` places are known already.
    fn literals(&self, literal: &[u8], first: usize, count: usize) -> Result<Vec<usize>, Fault> {
        let (text, mut from, mut places) = (self.text, first, Vec::new());
        let quote = memchr(b'"', literal);
        let finder = Finder::new(literal);
        while let Some(at) = text.get(from..).and_then(|rest| finder.find(rest)) {
            let place = from + at;
            from = place + 1;
            // Only the rest of a line follows nothing.
            let is_end = || text.get(place).is_none_or(|byte| *byte == b' ');
            let is_literal = if literal.is_empty() {
                is_end()
            } else {
                quote.is_none_or(|quote| !is_escaped(text, place + quote, self.escape))
            };
            if is_literal {
                places.push(place);
            }
            if count + places.len() > MAX_LITERAL_PLACES {
                return Err(Fault::TwoReadings);
            }
        }
        Ok(places)
    }

    /// Returns the ends that a field with one of the starts can have. Both are sorted.
    fn reached(&self, class: Class, starts: &[usize], mut ends: Vec<usize>) -> Vec<usize> {
        let Some(&first) = starts.first() else { return Vec::new() };
        if class == Class::Rest {
            ends.retain(|&end| starts.iter().any(|&start| self.is_marked(class, start, end)));
            return ends;
        }
        let mut starts = starts.iter().copied().peekable();
        // The last start before the end, and the first byte from which on the text is of the class.
        let (mut start, mut clear, mut read) = (None, 0, 0);
        ends.retain(|&end| {
            while let Some(next) = starts.next_if(|next| next + class.min_len() <= end) {
                start = Some(next);
            }
            let Some(start) = start else { return false };
            if read <= end && class != Class::Lead {
                let bad = (read..end).rev().find(|&at| !self.may_contain(class, at));
                clear = bad.map_or(clear, |bad| bad + 1);
                read = end;
            }
            start >= clear || self.is_marked(class, first, end)
        });
        ends
    }

    /// Returns the ends of the field at `place` after which the next field can have one of the ends `later`.
    fn reaching(&self, place: usize, mut ends: Vec<usize>, later: &[usize]) -> Vec<usize> {
        let (class, skipped) = (self.fields[place + 1].class, self.fields[place].literal.len());
        let mut later = later.iter().rev().copied().peekable();
        let (mut end, mut clear, mut read) = (None, self.text.len(), self.text.len());
        let first = ends.first().map_or(0, |first| first + skipped);
        let mut has_mark = false;
        ends.reverse();
        ends.retain(|&before| {
            let start = before + skipped;
            while let Some(next) = later.next_if(|next| start + class.min_len() <= *next) {
                has_mark |= self.is_marked(class, first, next);
                end = Some(next);
            }
            let Some(end) = end else { return false };
            if start < read && class != Class::Lead {
                let bad = (start..read).find(|&at| !self.may_contain(class, at));
                clear = bad.unwrap_or(clear);
                read = start;
            }
            match class {
                Class::Rest => self.is_marked(class, start, end),
                _ => has_mark || end <= clear,
            }
        });
        ends.reverse();
        ends
    }

    /// Returns whether a field of the class may contain the byte at a place.
    fn may_contain(&self, class: Class, at: usize) -> bool {
        match self.text[at] {
            b'"' if self.escape == Escape::Backslash => is_escaped(self.text, at, self.escape),
            byte => class.has(byte),
        }
    }

    /// Returns whether a field is of its class because of its protocol, or because of the space before a line's rest.
    fn is_marked(&self, class: Class, start: usize, end: usize) -> bool {
        match class {
            Class::Request => ends_with_protocol(&self.text[start..end]),
            Class::Rest => start == end || self.text[start] == b' ',
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
