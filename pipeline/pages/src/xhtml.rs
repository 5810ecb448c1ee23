//! The elements of a page in XML, as browsers find them: elements `meta` and `link` in the namespace of XHTML, with any
//! prefix.

use std::borrow::Cow;

use quick_xml::XmlVersion;
use quick_xml::errors::Error;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::ResolveResult;
use quick_xml::reader::NsReader;

use crate::elements::Element;

/// The namespace of XHTML.
const XHTML: &str = "http://www.w3.org/1999/xhtml";

/// The elements of a page.
pub struct XmlPage {
    /// The elements that may have statements.
    pub elements: Vec<Element>,
    /// Whether the page was read as browsers read it, up to its end.
    pub is_read: bool,
}

/// Reads a page. With `is_start`, the text is only the page's start: the page counts as read if its body has begun, or
/// if it is another kind of document, such as a feed.
pub fn read(text: &str, is_start: bool) -> XmlPage {
    let mut reader = NsReader::from_str(text);
    let mut elements = Vec::new();
    let (mut depth, mut is_page, mut has_body, mut is_clear) = (0_usize, true, false, true);
    let mut has_root = false;
    let is_complete = loop {
        let (namespace, event) = match reader.read_resolved_event() {
            Ok((namespace, event)) => (namespace, event),
            // The end of the start may be within a tag.
            Err(Error::Syntax(_)) => break is_start,
            Err(_) => break false,
        };
        let is_xhtml = matches!(namespace, ResolveResult::Bound(name) if name.as_ref() == XHTML);
        match &event {
            Event::Start(tag) | Event::Empty(tag) => {
                is_clear &= !matches!(namespace, ResolveResult::Unknown(_));
                let local = tag.local_name();
                if !has_root {
                    (has_root, is_page) = (true, is_xhtml);
                }
                if is_xhtml && local.as_ref() == "body" {
                    has_body = true;
                }
                if is_xhtml {
                    is_clear &= add(tag, local.as_ref(), &mut elements);
                }
                depth += usize::from(matches!(event, Event::Start(_)));
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            // An internal subset may define entities with elements, and default attributes.
            Event::DocType(text) => is_clear &= !text.contains('['),
            Event::Eof => break is_start || depth == 0,
            _ => {}
        }
    };
    XmlPage { elements, is_read: is_clear && is_complete && (!is_start || has_body || !is_page) }
}

/// Adds an element if it may have statements. Returns whether it could be read.
fn add(tag: &BytesStart<'_>, local: &str, elements: &mut Vec<Element>) -> bool {
    let names = match local {
        "meta" => ["name", "content"],
        "link" => ["rel", "href"],
        _ => return true,
    };
    let mut values = [Vec::new(), Vec::new()];
    for attribute in tag.attributes() {
        let Ok(attribute) = attribute else { return false };
        let Some(place) = names.iter().position(|name| *name == attribute.key.as_ref()) else { continue };
        let Ok(value) = attribute.normalized_value(XmlVersion::Implicit1_0) else { return false };
        values[place] = Cow::into_owned(value).into_bytes();
    }
    let [first, second] = values;
    elements.push(match local {
        "meta" => Element::Meta { name: first, content: second },
        _ => Element::Link { relations: first, target: second },
    });
    true
}
