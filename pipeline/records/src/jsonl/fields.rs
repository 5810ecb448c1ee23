//! The values of capture fields in JSON Lines, which become the cells that a table has.
//!
//! Each value is visited where it is in the line, and only the data that a capture needs is kept. As a result, messages
//! never repeat long texts, and a misplaced list is rejected at its opening bracket.

use std::borrow::Cow;
use std::fmt;

use reptile::capture::challenge_header;
use reptile::{Challenger, challenger_of_header};
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

use crate::captures::names::{CELLS, FIELDS, Field, MAX_HEADER_BYTES, MAX_LISTED_NAMES, two_names};
use crate::captures::{Body, Cell};
use crate::shown::shown;

/// Maximum characters kept from an escaped key. Reports and field names are shorter.
const MAX_KEPT_KEY_CHARS: usize = 128;

/// A string where another type is expected. Messages omit its text, which may be long.
const A_TEXT: Unexpected<'static> = Unexpected::Other("a text");

/// A capture's fields, under any supported name.
#[derive(Default)]
pub struct CaptureFields<'a> {
    /// The values of all fields but the body and the header fields. Each may be absent or null.
    values: [Option<Value<'a>>; CELLS],
    /// The last response's body.
    pub body: Option<Body>,
    /// The last response's header fields.
    pub headers: Option<Headers>,
    /// The object's keys.
    pub keys: Keys<'a>,
}

impl CaptureFields<'_> {
    /// Returns the value of each field as a cell. The capture's own field takes precedence over the same header field.
    pub fn cells(&self) -> [Cell<'_>; CELLS] {
        let mut cells = std::array::from_fn(|at| self.values[at].as_ref().map_or(Cell::Null, Value::cell));
        if let Some(headers) = &self.headers {
            for (field, value) in
                [(Field::ContentType, &headers.content_type), (Field::CacheControl, &headers.cache_control)]
            {
                if let (cell @ Cell::Null, Some(text)) = (&mut cells[field as usize], value) {
                    *cell = Cell::Text(text.as_bytes());
                }
            }
        }
        cells
    }
}

/// A field's value.
enum Value<'a> {
    /// A text, or the text of a number or a truth value.
    Text(Cow<'a, str>),
    /// A text over the field's limit.
    TooLong,
}

impl<'a> Value<'a> {
    /// Keeps a text, unless it is over the field's limit.
    fn of(field: Field, text: Cow<'a, str>) -> Value<'a> {
        if text.len() > field.limit() { Value::TooLong } else { Value::Text(text) }
    }

    fn cell(&self) -> Cell<'_> {
        match self {
            Value::Text(text) => Cell::Text(text.as_bytes()),
            Value::TooLong => Cell::TooLong,
        }
    }
}

/// An object's keys.
#[derive(Default, PartialEq, Eq)]
pub struct Keys<'a> {
    /// Each field's key: one with a value, or else one with null.
    pub used: [Option<Cow<'a, str>>; FIELDS],
    /// Unknown keys: the first [`MAX_LISTED_NAMES`].
    pub unused: Vec<Cow<'a, str>>,
    /// Whether there are more unknown keys.
    pub has_more: bool,
}

/// A key in an object.
struct JsonKey<'a> {
    name: Cow<'a, str>,
    field: Option<Field>,
}

impl<'de: 'a, 'a> Deserialize<'de> for JsonKey<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<JsonKey<'a>, D::Error> {
        deserializer.deserialize_str(KeyVisitor)
    }
}

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = JsonKey<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E: Error>(self, name: &'de str) -> std::result::Result<JsonKey<'de>, E> {
        Ok(JsonKey { name: Cow::Borrowed(name), field: Field::of_name(name.as_bytes()) })
    }

    fn visit_str<E: Error>(self, name: &str) -> std::result::Result<JsonKey<'de>, E> {
        // A key with escapes may be very long, and is only shown in reports.
        let start = name.char_indices().nth(MAX_KEPT_KEY_CHARS).map_or(name, |(end, _)| &name[..end]);
        Ok(JsonKey { name: Cow::Owned(start.to_owned()), field: Field::of_name(name.as_bytes()) })
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for CaptureFields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<CaptureFields<'a>, D::Error> {
        deserializer.deserialize_map(CaptureVisitor)
    }
}

struct CaptureVisitor;

impl<'de> Visitor<'de> for CaptureVisitor {
    type Value = CaptureFields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<CaptureFields<'de>, A::Error> {
        let mut fields = CaptureFields::default();
        while let Some(JsonKey { name, field }) = map.next_key()? {
            let Some(field) = field else {
                map.next_value::<IgnoredAny>()?;
                match fields.keys.unused.len() < MAX_LISTED_NAMES {
                    true => fields.keys.unused.push(name),
                    false => fields.keys.has_more = true,
                }
                continue;
            };
            let used = &mut fields.keys.used[field as usize];
            if used.as_ref() == Some(&name) {
                return Err(A::Error::custom(format_args!("duplicate field `{}`", shown(name.as_bytes()))));
            }
            let (is_new, has_both) = match field {
                Field::Body => put(&mut fields.body, map.next_value()?),
                Field::Headers => put(&mut fields.headers, map.next_value()?),
                field => put(&mut fields.values[field as usize], map.next_value_seed(FieldValue(field))?),
            };
            match used {
                Some(first) if has_both => {
                    return Err(A::Error::custom(two_names(field, first.as_bytes(), name.as_bytes())));
                }
                Some(_) if !is_new => {}
                used => *used = Some(name),
            }
        }
        Ok(fields)
    }
}

/// Stores a value in `place` unless it is null. Returns whether it is not null, and whether `place` had a value before.
fn put<T>(place: &mut Option<T>, value: Option<T>) -> (bool, bool) {
    let has_both = place.is_some() && value.is_some();
    let is_new = value.is_some();
    if is_new {
        *place = value;
    }
    (is_new, has_both)
}

/// Implements `Deserialize` with a visitor that accepts any type.
macro_rules! visited {
    ($type:ty, $visitor:ident) => {
        struct $visitor;

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
                deserializer.deserialize_any($visitor)
            }
        }
    };
}

/// Reads a field's value, or null.
#[derive(Clone, Copy)]
struct FieldValue(Field);

impl FieldValue {
    /// Returns the text of a number or a truth value, for a field that is a word.
    fn word<E: Error>(self, found: Unexpected<'_>, text: String) -> std::result::Result<Option<Value<'static>>, E> {
        match self.0 {
            Field::Url | Field::Base64 | Field::ContentType | Field::CacheControl => Err(E::invalid_type(found, &self)),
            _ => Ok(Some(Value::Text(text.into()))),
        }
    }
}

impl<'de> DeserializeSeed<'de> for FieldValue {
    type Value = Option<Value<'de>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for FieldValue {
    type Value = Option<Value<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Field::Url => "a url",
            Field::Status => "a status, a number from 100 to 999",
            Field::Time => "a time: a number since 1970, or a text such as 2026-03-14T15:09:26Z",
            Field::Base64 => "a text in base64",
            Field::Failed => "true or false",
            Field::Truncated => "true, false, \"length\", \"time\", \"disconnect\" or \"unspecified\"",
            Field::Redirects => "the number of redirects, or a list of their locations",
            Field::ContentType | Field::CacheControl => "the text of a header field, or a list of such",
            Field::Error | Field::Body | Field::Headers => "a text",
        })
    }

    fn visit_unit<E: Error>(self) -> std::result::Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> std::result::Result<Self::Value, E> {
        Ok(Some(Value::of(self.0, Cow::Borrowed(text))))
    }

    fn visit_str<E: Error>(self, text: &str) -> std::result::Result<Self::Value, E> {
        Ok(Some(if text.len() > self.0.limit() { Value::TooLong } else { Value::Text(text.to_owned().into()) }))
    }

    fn visit_u64<E: Error>(self, number: u64) -> std::result::Result<Self::Value, E> {
        self.word(Unexpected::Unsigned(number), number.to_string())
    }

    fn visit_i64<E: Error>(self, number: i64) -> std::result::Result<Self::Value, E> {
        self.word(Unexpected::Signed(number), number.to_string())
    }

    fn visit_f64<E: Error>(self, number: f64) -> std::result::Result<Self::Value, E> {
        self.word(Unexpected::Float(number), number.to_string())
    }

    fn visit_bool<E: Error>(self, is_true: bool) -> std::result::Result<Self::Value, E> {
        self.word(Unexpected::Bool(is_true), is_true.to_string())
    }

    /// Counts a list of redirects, and joins a header field's values.
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<Self::Value, A::Error> {
        let text = match self.0 {
            Field::Redirects => {
                let mut count = 0_u32;
                while list.next_element::<Words>()?.is_some() {
                    count = count.saturating_add(1);
                }
                count.to_string()
            }
            Field::ContentType | Field::CacheControl => {
                let mut joined = None;
                HeaderValue { joined: &mut joined, may_be_list: true }.visit_seq(list)?;
                joined.unwrap_or_default()
            }
            _ => return Err(A::Error::invalid_type(Unexpected::Seq, &self)),
        };
        Ok(Some(Value::Text(text.into())))
    }
}

visited!(Body, BodyVisitor);

impl Visitor<'_> for BodyVisitor {
    type Value = Body;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> std::result::Result<Body, E> {
        Ok(Body::of(text.as_bytes()))
    }
}

/// A string that is discarded.
pub struct Words;

visited!(Words, WordsVisitor);

impl Visitor<'_> for WordsVisitor {
    type Value = Words;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_str<E: Error>(self, _: &str) -> std::result::Result<Words, E> {
        Ok(Words)
    }
}

/// The relevant header fields, with names in any letter case. Repeated fields are joined by commas.
#[derive(Default)]
pub struct Headers {
    /// The Cache-Control values.
    pub cache_control: Option<String>,
    /// The Content-Type values.
    pub content_type: Option<String>,
    /// Values for header fields that mark challenge pages.
    challenges: Vec<(&'static str, Option<String>)>,
}

visited!(Headers, HeadersVisitor);

impl<'de> Visitor<'de> for HeadersVisitor {
    type Value = Headers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of header fields, or a list of pairs of a name and a value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pairs: A) -> std::result::Result<Headers, A::Error> {
        let mut headers = Headers::default();
        while pairs.next_element_seed(HeaderPair(&mut headers))?.is_some() {}
        Ok(headers)
    }

    fn visit_str<E: Error>(self, _: &str) -> std::result::Result<Headers, E> {
        Err(E::invalid_type(A_TEXT, &self))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> std::result::Result<Headers, A::Error> {
        let mut headers = Headers::default();
        while let Some(name) = fields.next_key()? {
            match headers.values_of(name) {
                Some(joined) => fields.next_value_seed(HeaderValue { joined, may_be_list: true })?,
                None => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        Ok(headers)
    }
}

impl Headers {
    /// Returns the place for a field's values, if the field is relevant.
    fn values_of(&mut self, name: HeaderName) -> Option<&mut Option<String>> {
        match name {
            HeaderName::CacheControl => Some(&mut self.cache_control),
            HeaderName::ContentType => Some(&mut self.content_type),
            HeaderName::Challenge(name) => {
                // There is at most one entry per known name.
                let index = self.challenges.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
                    self.challenges.push((name, None));
                    self.challenges.len() - 1
                });
                self.challenges.get_mut(index).map(|(_, value)| value)
            }
            HeaderName::Other => None,
        }
    }

    /// Returns the product that marked the response as a challenge page, if any.
    pub fn challenger(&self) -> Option<Challenger> {
        self.challenges.iter().find_map(|(name, value)| challenger_of_header(name, value.as_deref()?))
    }
}

/// A list with a header field's name and value.
struct HeaderPair<'h>(&'h mut Headers);

impl<'de> DeserializeSeed<'de> for HeaderPair<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for HeaderPair<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a pair of the name and the value of a header field")
    }

    fn visit_str<E: Error>(self, _: &str) -> std::result::Result<(), E> {
        Err(E::invalid_type(A_TEXT, &self))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pair: A) -> std::result::Result<(), A::Error> {
        let Some(name) = pair.next_element()? else { return Err(A::Error::invalid_length(0, &self)) };
        let value = match self.0.values_of(name) {
            Some(joined) => pair.next_element_seed(HeaderValue { joined, may_be_list: true })?,
            None => pair.next_element::<IgnoredAny>()?.map(|_| ()),
        };
        let is_pair = value.is_some() && pair.next_element::<IgnoredAny>()?.is_none();
        if is_pair { Ok(()) } else { Err(A::Error::custom("a header field is not a pair of a name and a value")) }
    }
}

/// A header field name.
enum HeaderName {
    CacheControl,
    ContentType,
    /// A field that marks a product's challenge pages, in lower case.
    Challenge(&'static str),
    Other,
}

visited!(HeaderName, HeaderNameVisitor);

impl Visitor<'_> for HeaderNameVisitor {
    type Value = HeaderName;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a header field")
    }

    fn visit_str<E: Error>(self, name: &str) -> std::result::Result<HeaderName, E> {
        Ok(match name {
            name if name.eq_ignore_ascii_case("cache-control") => HeaderName::CacheControl,
            name if name.eq_ignore_ascii_case("content-type") => HeaderName::ContentType,
            name => challenge_header(name).map_or(HeaderName::Other, HeaderName::Challenge),
        })
    }
}

/// A visitor that appends a header field's value or values to the preceding ones.
struct HeaderValue<'h> {
    joined: &'h mut Option<String>,
    may_be_list: bool,
}

impl<'de> DeserializeSeed<'de> for HeaderValue<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for HeaderValue<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.may_be_list {
            "the text of a header field, or a list of such"
        } else {
            "the text of a header field"
        })
    }

    fn visit_str<E: Error>(self, value: &str) -> std::result::Result<(), E> {
        let separator = if self.joined.is_some() { ", " } else { "" };
        let joined = self.joined.get_or_insert_default();
        let len = joined.len() + separator.len() + value.len();
        if len > MAX_HEADER_BYTES {
            let text = format_args!("a header field has {len} bytes or more; the limit is {MAX_HEADER_BYTES}");
            return Err(E::custom(text));
        }
        joined.push_str(separator);
        joined.push_str(value);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<(), A::Error> {
        if !self.may_be_list {
            return Err(A::Error::invalid_type(Unexpected::Seq, &self));
        }
        let joined = self.joined;
        while list.next_element_seed(HeaderValue { joined, may_be_list: false })?.is_some() {}
        Ok(())
    }
}
