//! Pages in WAT files: JSON with the headers and the elements of a response.
//!
//! Source: Common Crawl's `ia-web-commons`. A record describes one record of a WARC file, whose fields are in
//! `Envelope.WARC-Header-Metadata`. The date of the WAT record itself is later: it is the time of the extraction. Since
//! November 2024, a repeated header is a list of texts; before, only the last one was kept.

use std::fmt;

use reptile::rights::Statements;
use reptile_pages::{ContentType, CrawlerNames, Element, read_field};
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};

use super::page::Page;
use crate::warc::records::Record;

/// Maximum length of a record's JSON in bytes. The statements of a page with a longer one are unavailable.
pub const MAX_WAT_BYTES: usize = 16 << 20;

/// Reads a page's date and statements. Returns `None` if the record describes something other than a response.
pub fn read(record: &Record, names: &CrawlerNames, page: &mut Page) -> Option<()> {
    if record.block_start.len() as u64 != record.block_len() {
        page.statements = Statements::unavailable();
        return Some(());
    }
    // Unreadable JSON may describe a response.
    let Ok(document) = serde_json::from_slice::<Document>(&record.block_start) else {
        page.statements = Statements::unavailable();
        return Some(());
    };
    let Envelope { fields, payload } = document.envelope;
    if !matches!(fields.kind.as_deref(), Some("response" | "resource" | "revisit")) {
        return None;
    }
    if let Some(date) = fields.date {
        page.date = Some(date.into());
    }
    if let Some(id) = fields.id {
        page.id = Some(id.into());
    }
    let Some(response) = payload.and_then(|payload| payload.response) else {
        page.statements = Statements::unavailable();
        return Some(());
    };
    let mut content_type = ContentType::default();
    match response.headers {
        None => page.statements.set_missing(true, true),
        Some(Headers(headers)) => {
            for (name, value) in &headers {
                read_field(&mut page.statements, &mut content_type, name.as_bytes(), value.as_bytes());
            }
        }
    }
    let head = response.html.and_then(|html| html.head);
    // Texts without elements lack such a list.
    let lacks_head = head.is_none() && content_type.may_have_elements();
    let is_missing = lacks_head || fields.truncated.is_some() || fields.kind.as_deref() == Some("revisit");
    page.statements.set_missing(false, is_missing);
    let Head { metas, links } = head.unwrap_or_default();
    for Meta { name, content } in metas {
        if let Some(name) = name {
            let (name, content) = (name.into_bytes(), content.unwrap_or_default().into_bytes());
            names.add_element(&Element::Meta { name, content }, &mut page.statements);
        }
    }
    for Link { relations, url } in links {
        if let Some(relations) = relations {
            let (relations, target) = (relations.into_bytes(), url.unwrap_or_default().into_bytes());
            names.add_element(&Element::Link { relations, target }, &mut page.statements);
        }
    }
    Some(())
}

#[derive(Deserialize)]
struct Document {
    #[serde(rename = "Envelope")]
    envelope: Envelope,
}

#[derive(Deserialize)]
struct Envelope {
    #[serde(rename = "WARC-Header-Metadata", default)]
    fields: RecordFields,
    #[serde(rename = "Payload-Metadata")]
    payload: Option<Payload>,
}

#[derive(Default, Deserialize)]
struct RecordFields {
    #[serde(rename = "WARC-Type")]
    kind: Option<String>,
    #[serde(rename = "WARC-Date")]
    date: Option<String>,
    #[serde(rename = "WARC-Record-ID")]
    id: Option<String>,
    #[serde(rename = "WARC-Truncated")]
    truncated: Option<String>,
}

#[derive(Deserialize)]
struct Payload {
    #[serde(rename = "HTTP-Response-Metadata")]
    response: Option<Response>,
}

#[derive(Deserialize)]
struct Response {
    #[serde(rename = "Headers")]
    headers: Option<Headers>,
    #[serde(rename = "HTML-Metadata")]
    html: Option<Html>,
}

#[derive(Deserialize)]
struct Html {
    #[serde(rename = "Head")]
    head: Option<Head>,
}

#[derive(Default, Deserialize)]
struct Head {
    #[serde(rename = "Metas", default)]
    metas: Vec<Meta>,
    #[serde(rename = "Link", default)]
    links: Vec<Link>,
}

#[derive(Deserialize)]
struct Meta {
    name: Option<String>,
    content: Option<String>,
}

#[derive(Deserialize)]
struct Link {
    #[serde(rename = "rel")]
    relations: Option<String>,
    url: Option<String>,
}

/// Headers in order. A name may occur several times, and a value may be a list.
struct Headers(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Headers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Headers, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Headers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of headers")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Headers, A::Error> {
                let mut headers = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    let Texts(values) = map.next_value()?;
                    headers.extend(values.into_iter().map(|value| (name.clone(), value)));
                }
                Ok(Headers(headers))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

/// A text, or a list of texts. Other values are ignored.
struct Texts(Vec<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Texts, D::Error> {
        struct Values;
        impl<'de> Visitor<'de> for Values {
            type Value = Texts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of texts")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Texts, E> {
                Ok(Texts(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Texts, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = list.next_element::<String>()? {
                    texts.push(text);
                }
                Ok(Texts(texts))
            }
        }
        deserializer.deserialize_any(Values)
    }
}
