//! The fields of a capture in JSON Lines, in all the forms in which they may be written.

use std::borrow::Cow;
use std::fmt;

use reptile_compiler::capture::{Time, Truncation};
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

use crate::inputs::time::{in_range, read_time};

/// The fields of a capture. Other fields are ignored; all but the URL may be absent or null.
#[derive(Deserialize)]
pub struct CaptureFields<'a> {
    /// The URL that was requested, before any redirect.
    #[serde(borrow)]
    pub url: Cow<'a, str>,
    /// The HTTP status of the last answer.
    pub status: Option<Status>,
    /// The body of the last answer.
    pub body: Option<String>,
    /// The time of the fetch.
    pub time: Option<When>,
    /// The redirects that were followed.
    pub redirects: Option<Redirects>,
    /// The header fields of the last answer.
    pub headers: Option<Headers>,
    /// Whether, or why, the body is cut.
    pub truncated: Option<Truncated>,
    /// What went wrong with the connection, in any words.
    pub error: Option<Cow<'a, str>>,
}

/// A number in the place of a status. (An enum, since only an untagged one can say what was expected.)
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a status, a number from 100 to 999")]
pub enum Status {
    /// The number, which may be out of range.
    Code(u16),
}

/// A time, written as seconds since 1970 or as RFC 3339 has it.
pub struct When(pub Time);

impl<'de> Deserialize<'de> for When {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<When, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected a time: seconds since 1970, or a text such as 2026-03-14T15:09:26Z")]
        enum Written<'a> {
            Seconds(Time),
            #[serde(borrow)]
            Text(Cow<'a, str>),
        }
        let time = match Written::deserialize(deserializer)? {
            Written::Seconds(seconds) => in_range(seconds),
            Written::Text(text) => read_time(&text),
        };
        time.map(When).map_err(D::Error::custom)
    }
}

/// The number of redirects, written as a number or as a list of their locations, which is counted and not kept.
pub struct Redirects(pub u32);

impl<'de> Deserialize<'de> for Redirects {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Redirects, D::Error> {
        struct Count;
        impl<'de> Visitor<'de> for Count {
            type Value = Redirects;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the number of redirects, or a list of their locations")
            }

            fn visit_u64<E: Error>(self, count: u64) -> std::result::Result<Redirects, E> {
                Ok(Redirects(count.try_into().unwrap_or(u32::MAX)))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<Redirects, A::Error> {
                let mut count = 0_u32;
                while list.next_element::<Cow<'de, str>>()?.is_some() {
                    count = count.saturating_add(1);
                }
                Ok(Redirects(count))
            }
        }
        deserializer.deserialize_any(Count)
    }
}

/// The header fields that matter, whatever the case of their names. Several of one name are joined by commas.
#[derive(Default)]
pub struct Headers {
    /// The values of Cache-Control.
    pub cache_control: Option<String>,
    /// The values of Content-Type.
    pub content_type: Option<String>,
}

impl<'de> Deserialize<'de> for Headers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Headers, D::Error> {
        deserializer.deserialize_map(HeaderFields)
    }
}

/// Reads [`Headers`] from an object, field by field.
struct HeaderFields;

/// The value of a header field, or its several values.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected the text of a header field, or a list of such")]
enum HeaderValue {
    One(String),
    Several(Vec<String>),
}

impl<'de> Visitor<'de> for HeaderFields {
    type Value = Headers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of header fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> std::result::Result<Headers, A::Error> {
        let mut headers = Headers::default();
        while let Some(name) = fields.next_key::<Cow<'de, str>>()? {
            let field = if name.eq_ignore_ascii_case("cache-control") {
                &mut headers.cache_control
            } else if name.eq_ignore_ascii_case("content-type") {
                &mut headers.content_type
            } else {
                fields.next_value::<IgnoredAny>()?;
                continue;
            };
            let values = match fields.next_value()? {
                HeaderValue::One(value) => vec![value],
                HeaderValue::Several(values) => values,
            };
            let all = field.take().into_iter().chain(values).collect::<Vec<_>>();
            *field = Some(all.join(", "));
        }
        Ok(headers)
    }
}

/// The reason why the body is cut, if it is.
pub struct Truncated(pub Option<Truncation>);

impl<'de> Deserialize<'de> for Truncated {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Truncated, D::Error> {
        const EXPECTED: &str = "true, false, \"length\", \"time\", \"disconnect\" or \"unspecified\"";
        struct Word;
        impl Visitor<'_> for Word {
            type Value = Truncated;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED)
            }

            fn visit_bool<E: Error>(self, is_truncated: bool) -> std::result::Result<Truncated, E> {
                Ok(Truncated(is_truncated.then_some(Truncation::Unspecified)))
            }

            fn visit_str<E: Error>(self, word: &str) -> std::result::Result<Truncated, E> {
                let truncation = Truncation::from_name(word);
                truncation.map(Some).map(Truncated).ok_or_else(|| E::invalid_value(Unexpected::Str(word), &EXPECTED))
            }
        }
        deserializer.deserialize_any(Word)
    }
}
