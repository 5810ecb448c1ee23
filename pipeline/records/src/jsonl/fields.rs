//! Capture fields in JSON Lines, in all accepted forms.
//!
//! Each value is visited where it is in the line, and only the data that a capture needs is kept. As a result, messages
//! never repeat long texts, and a misplaced list is rejected at its opening bracket.

use std::borrow::Cow;
use std::fmt;

use reptile::capture::challenge_header;
use reptile::limits::{MAX_BODY_BYTES, MAX_URL_BYTES};
use reptile::{Challenger, Truncation, challenger_of_header};
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

use crate::captures::names::{FIELDS, Field, MAX_HEADER_BYTES, MAX_LISTED_NAMES, two_names};
use crate::captures::{Body, base64_body, failed_of, is_error, truncation_of};
use crate::shown::shown;
use crate::time::{MAX_TIME_BYTES, WrittenTime};

/// Maximum characters kept from an escaped key. Reports and field names are shorter.
const MAX_KEPT_KEY_CHARS: usize = 128;

/// A string where another type is expected. Messages omit its text, which may be long.
const A_TEXT: Unexpected<'static> = Unexpected::Other("a text");

/// A capture's fields, under any supported name. All except the URL may be absent or null.
#[derive(Default)]
pub struct CaptureFields<'a> {
    /// The requested URL, before any redirect.
    pub url: Url<'a>,
    /// The last response's HTTP status.
    pub status: Option<Status>,
    /// The last response's body.
    pub body: Option<Body>,
    /// The body in base64. It takes precedence over a text body.
    pub body_base64: Option<Base64Body>,
    /// The fetch time.
    pub time: Option<When>,
    /// The redirects that were followed.
    pub redirects: Option<Redirects>,
    /// The last response's header fields.
    pub headers: Option<Headers>,
    /// The last response's Content-Type. It takes precedence over the header fields.
    pub content_type: Option<Joined>,
    /// The last response's Cache-Control. It takes precedence over the header fields.
    pub cache_control: Option<Joined>,
    /// Whether, or why, the body is truncated.
    pub truncated: Option<Truncated>,
    /// A connection error, as any text.
    pub error: Option<Problem>,
    /// Whether the fetch got no response.
    pub failed: Option<Failed>,
    /// The object's keys.
    pub keys: Keys<'a>,
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
struct Key<'a> {
    name: Cow<'a, str>,
    field: Option<Field>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Key<'a>, D::Error> {
        deserializer.deserialize_str(KeyVisitor)
    }
}

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = Key<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E: Error>(self, name: &'de str) -> std::result::Result<Key<'de>, E> {
        Ok(Key { name: Cow::Borrowed(name), field: Field::of_name(name.as_bytes()) })
    }

    fn visit_str<E: Error>(self, name: &str) -> std::result::Result<Key<'de>, E> {
        // A key with escapes may be very long, and is only shown in reports.
        let start = name.char_indices().nth(MAX_KEPT_KEY_CHARS).map_or(name, |(end, _)| &name[..end]);
        Ok(Key { name: Cow::Owned(start.to_owned()), field: Field::of_name(name.as_bytes()) })
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
        let mut url = None;
        while let Some(Key { name, field }) = map.next_key()? {
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
                Field::Url => put(&mut url, map.next_value()?),
                Field::Status => put(&mut fields.status, map.next_value()?),
                Field::Time => put(&mut fields.time, map.next_value()?),
                Field::Body => put(&mut fields.body, map.next_value()?),
                Field::Base64 => put(&mut fields.body_base64, map.next_value()?),
                Field::Error => put(&mut fields.error, map.next_value()?),
                Field::Failed => put(&mut fields.failed, map.next_value()?),
                Field::Truncated => put(&mut fields.truncated, map.next_value()?),
                Field::Redirects => put(&mut fields.redirects, map.next_value()?),
                Field::ContentType => put(&mut fields.content_type, map.next_value()?),
                Field::CacheControl => put(&mut fields.cache_control, map.next_value()?),
                Field::Headers => put(&mut fields.headers, map.next_value()?),
            };
            match used {
                Some(first) if has_both => {
                    return Err(A::Error::custom(two_names(field, first.as_bytes(), name.as_bytes())));
                }
                Some(_) if !is_new => {}
                used => *used = Some(name),
            }
        }
        fields.url = url.ok_or_else(|| A::Error::missing_field("url"))?;
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

/// A URL with at most [`MAX_URL_BYTES`].
#[derive(Default)]
pub struct Url<'a>(pub Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Url<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Url<'a>, D::Error> {
        deserializer.deserialize_any(UrlVisitor)
    }
}

struct UrlVisitor;

impl UrlVisitor {
    fn check<E: Error>(url: &str) -> std::result::Result<(), E> {
        if url.len() <= MAX_URL_BYTES {
            return Ok(());
        }
        Err(E::custom(format_args!("the url has {} bytes; the limit is {MAX_URL_BYTES}", url.len())))
    }
}

impl<'de> Visitor<'de> for UrlVisitor {
    type Value = Url<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a url")
    }

    fn visit_borrowed_str<E: Error>(self, url: &'de str) -> std::result::Result<Url<'de>, E> {
        UrlVisitor::check(url).map(|()| Url(Cow::Borrowed(url)))
    }

    fn visit_str<E: Error>(self, url: &str) -> std::result::Result<Url<'de>, E> {
        UrlVisitor::check(url).map(|()| Url(Cow::Owned(url.to_owned())))
    }
}

/// A number from 100 to 999.
pub struct Status(pub u16);

visited!(Status, StatusVisitor);

impl StatusVisitor {
    const EXPECTED: &str = "expected a status, a number from 100 to 999";
}

impl Visitor<'_> for StatusVisitor {
    type Value = Status;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a status, a number from 100 to 999")
    }

    fn visit_u64<E: Error>(self, number: u64) -> std::result::Result<Status, E> {
        let status = u16::try_from(number).ok().filter(|status| (100..=999).contains(status));
        status.map(Status).ok_or_else(|| E::custom(format_args!("{}, found {number}", Self::EXPECTED)))
    }

    fn visit_f64<E: Error>(self, number: f64) -> std::result::Result<Status, E> {
        // Programs write integers this way if the column has gaps.
        let whole = (number.fract() == 0.0 && (0.0..=1000.0).contains(&number)).then_some(number as u64);
        self.visit_u64(whole.ok_or_else(|| E::custom(format_args!("{}, found {number}", Self::EXPECTED)))?)
    }

    fn visit_str<E: Error>(self, text: &str) -> std::result::Result<Status, E> {
        let number = Some(text.trim()).filter(|text| text.len() == 3).and_then(|text| text.parse().ok());
        self.visit_u64(number.ok_or_else(|| E::custom(format_args!("{}, found a text", Self::EXPECTED)))?)
    }
}

visited!(Body, BodyVisitor);

impl Visitor<'_> for BodyVisitor {
    type Value = Body;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> std::result::Result<Body, E> {
        if text.len() > MAX_BODY_BYTES {
            return Ok(Body::TooLarge(text.len()));
        }
        let mut body = Vec::new();
        if body.try_reserve_exact(text.len()).is_err() {
            return Ok(Body::NoMemory(text.len()));
        }
        body.extend_from_slice(text.as_bytes());
        Ok(Body::Whole(body))
    }
}

/// A body in base64, with optional padding and line breaks.
pub struct Base64Body(pub Body);

visited!(Base64Body, Base64BodyVisitor);

impl Visitor<'_> for Base64BodyVisitor {
    type Value = Base64Body;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text in base64")
    }

    fn visit_str<E: Error>(self, text: &str) -> std::result::Result<Base64Body, E> {
        base64_body(text.as_bytes()).map(Base64Body).map_err(E::custom)
    }
}

/// A time in any form of [`WrittenTime`], as a number or a string. JSON numbers have no unit, so the number of digits
/// determines it, as in a string.
pub struct When(pub WrittenTime);

visited!(When, WhenVisitor);

impl Visitor<'_> for WhenVisitor {
    type Value = When;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time: a number since 1970, or a text such as 2026-03-14T15:09:26Z")
    }

    fn visit_i64<E: Error>(self, number: i64) -> std::result::Result<When, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_u64<E: Error>(self, number: u64) -> std::result::Result<When, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_f64<E: Error>(self, number: f64) -> std::result::Result<When, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_str<E: Error>(self, text: &str) -> std::result::Result<When, E> {
        if text.len() > MAX_TIME_BYTES {
            return Err(E::invalid_value(Unexpected::Other("a long text"), &self));
        }
        WrittenTime::parse(text).map(When).map_err(E::custom)
    }
}

/// The number of redirects, given as a number or as a list of locations. A list is only counted.
pub struct Redirects(pub u32);

visited!(Redirects, RedirectsVisitor);

impl<'de> Visitor<'de> for RedirectsVisitor {
    type Value = Redirects;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the number of redirects, or a list of their locations")
    }

    fn visit_u64<E: Error>(self, count: u64) -> std::result::Result<Redirects, E> {
        Ok(Redirects(count.try_into().unwrap_or(u32::MAX)))
    }

    fn visit_f64<E: Error>(self, count: f64) -> std::result::Result<Redirects, E> {
        // Programs write integers this way if the column has gaps.
        match count.fract() == 0.0 && (0.0..=1e9).contains(&count) {
            true => Ok(Redirects(count as u32)),
            false => Err(E::invalid_value(Unexpected::Float(count), &self)),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> std::result::Result<Redirects, E> {
        // Some programs write every value as a string.
        let is_number = !text.is_empty() && text.len() <= 20 && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number {
            return Err(E::invalid_type(A_TEXT, &self));
        }
        Ok(Redirects(text.parse().unwrap_or(u32::MAX)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<Redirects, A::Error> {
        let mut count = 0_u32;
        while list.next_element::<Words>()?.is_some() {
            count = count.saturating_add(1);
        }
        Ok(Redirects(count))
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

/// An error without its text.
pub struct Problem {
    /// Whether there was an error.
    pub is_error: bool,
}

visited!(Problem, ProblemVisitor);

impl Visitor<'_> for ProblemVisitor {
    type Value = Problem;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_str<E: Error>(self, text: &str) -> std::result::Result<Problem, E> {
        Ok(Problem { is_error: is_error(text) })
    }

    fn visit_bool<E: Error>(self, is_error: bool) -> std::result::Result<Problem, E> {
        Ok(Problem { is_error })
    }
}

/// Whether the fetch got no response: true or false, 1 or 0, or the same as a string.
pub struct Failed(pub bool);

visited!(Failed, FailedVisitor);

impl Visitor<'_> for FailedVisitor {
    type Value = Failed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true or false")
    }

    fn visit_bool<E: Error>(self, has_failed: bool) -> std::result::Result<Failed, E> {
        Ok(Failed(has_failed))
    }

    fn visit_u64<E: Error>(self, number: u64) -> std::result::Result<Failed, E> {
        if number > 1 {
            return Err(E::invalid_value(Unexpected::Unsigned(number), &self));
        }
        Ok(Failed(number == 1))
    }

    fn visit_str<E: Error>(self, text: &str) -> std::result::Result<Failed, E> {
        failed_of(text).map(Failed).map_err(E::custom)
    }
}

/// A header field's value. Multiple values are joined by commas.
pub struct Joined(pub String);

impl<'de> Deserialize<'de> for Joined {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Joined, D::Error> {
        let mut joined = None;
        HeaderValue { joined: &mut joined, may_be_list: true }.deserialize(deserializer)?;
        Ok(Joined(joined.unwrap_or_default()))
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

/// The reason why the body is truncated, if it is.
pub struct Truncated(pub Option<Truncation>);

visited!(Truncated, TruncatedVisitor);

impl TruncatedVisitor {
    const EXPECTED: &str = "true, false, \"length\", \"time\", \"disconnect\" or \"unspecified\"";
}

impl Visitor<'_> for TruncatedVisitor {
    type Value = Truncated;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::EXPECTED)
    }

    fn visit_bool<E: Error>(self, is_truncated: bool) -> std::result::Result<Truncated, E> {
        Ok(Truncated(is_truncated.then_some(Truncation::Unspecified)))
    }

    fn visit_str<E: Error>(self, word: &str) -> std::result::Result<Truncated, E> {
        truncation_of(word).map(Truncated).map_err(|_| {
            E::custom(format_args!("invalid value: string \"{}\", expected {}", shown(word.as_bytes()), Self::EXPECTED))
        })
    }
}
