//! The elements of an HTML page, as browsers find them.
//!
//! The library builds the same tree as browsers (HTML standard, section 13.2), which decides whether a tag is an
//! element: it may be raw text, in a comment, or in SVG or MathML, whose elements have other rules. This module keeps no
//! tree. Elements in the body count, because search engines honor them there.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use html5ever::buffer_queue::BufferQueue;
use html5ever::interface::ElementFlags;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{NodeOrText, QuirksMode, TreeBuilder, TreeBuilderOpts, TreeSink};
use html5ever::{Attribute, QualName, TokenizerResult, local_name, ns};

use crate::elements::Element;

/// Maximum number of steps to build a page's tree. Nested elements can take time that is quadratic in the text, and a
/// page that takes more steps counts as not read. Typical pages take a tenth.
const MAX_STEPS: usize = 1 << 20;

/// The steps to create an element. To look at an open element is one step.
const STEPS_PER_ELEMENT: usize = 256;

/// Number of bytes that are parsed at once. After each such part, the steps are compared with their limit.
const PART_BYTES: usize = 256;

/// The elements of a page.
pub struct HtmlPage {
    /// The elements that may have statements.
    pub elements: Vec<Element>,
    /// Whether the page was read as far as wanted, and all browsers find these elements.
    pub is_read: bool,
    /// Whether there is a `<noscript>`, so that browsers with scripts may find other elements.
    pub has_noscript: bool,
}

/// Reads the elements in the first `end` bytes, and with `to_body` reads on to the start of the body, which must be in the
/// text.
pub fn read(text: &str, end: usize, to_body: bool, has_scripts: bool) -> HtmlPage {
    read_within(text, end, to_body, has_scripts, MAX_STEPS).0
}

/// Also returns the number of steps.
fn read_within(text: &str, end: usize, to_body: bool, has_scripts: bool, max_steps: usize) -> (HtmlPage, usize) {
    let options = TreeBuilderOpts { scripting_enabled: has_scripts, ..TreeBuilderOpts::default() };
    let tokens = Tokens { tree: TreeBuilder::new(Tree::default(), options), seen: Seen::default() };
    let tokenizer = Tokenizer::new(tokens, TokenizerOpts::default());
    let tree = &tokenizer.sink.tree.sink;
    let input = BufferQueue::default();
    let mut rest = text;
    let is_done = |rest: &str| text.len() - rest.len() >= end && (!to_body || tree.has_body.get());
    while !rest.is_empty() && !is_done(rest) && tree.steps.get() <= max_steps {
        let mut ends = PART_BYTES.min(rest.len())..=rest.len();
        let (part, after) = rest.split_at(ends.find(|&end| rest.is_char_boundary(end)).unwrap_or(rest.len()));
        input.push_back(StrTendril::from(part));
        // Scripts do not run, and the text is decoded already.
        while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
        rest = after;
    }
    let (seen, steps) = (&tokenizer.sink.seen, tree.steps.get());
    let is_read = is_done(rest) && !seen.differs.get() && steps <= max_steps;
    (HtmlPage { elements: tree.elements.take(), is_read, has_noscript: seen.noscript.get() }, steps)
}

/// Passes tokens on to the tree, and notes those that browsers treat differently.
struct Tokens {
    tree: TreeBuilder<Rc<Node>, Tree>,
    seen: Seen,
}

/// The tokens so far.
#[derive(Default)]
struct Seen {
    /// Whether a `<select>` may be open. Until 2025, browsers ignored most tags in it.
    select: Cell<bool>,
    /// Whether browsers disagree about the rest: whether it is text, or in SVG or MathML.
    differs: Cell<bool>,
    noscript: Cell<bool>,
}

impl TokenSink for Tokens {
    type Handle = Rc<Node>;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Rc<Node>> {
        if let Token::TagToken(tag) = &token {
            let is_start = tag.kind == TagKind::StartTag;
            match tag.name {
                local_name!("select") => self.seen.select.set(is_start),
                local_name!("noscript") => self.seen.noscript.set(true),
                _ => {}
            }
            let changes_mode = matches!(
                tag.name,
                local_name!("title")
                    | local_name!("textarea")
                    | local_name!("style")
                    | local_name!("xmp")
                    | local_name!("iframe")
                    | local_name!("noembed")
                    | local_name!("noframes")
                    | local_name!("noscript")
                    | local_name!("plaintext")
                    | local_name!("svg")
                    | local_name!("math")
            );
            // These end tags end SVG and MathML, but not in older browsers.
            let ends_foreign = !is_start
                && matches!(tag.name, local_name!("p") | local_name!("br"))
                && self.tree.adjusted_current_node_present_but_not_in_html_namespace();
            if ends_foreign || is_start && changes_mode && self.seen.select.get() {
                self.seen.differs.set(true);
            }
        }
        self.tree.process_token(token, line)
    }

    fn end(&self) {
        self.tree.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.tree.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// A node. Only an element's name matters.
struct Node {
    name: QualName,
    is_integration_point: bool,
}

/// The tree's elements so far.
struct Tree {
    elements: RefCell<Vec<Element>>,
    has_body: Cell<bool>,
    steps: Cell<usize>,
    /// Any node that is not an element.
    other: Rc<Node>,
}

impl Default for Tree {
    fn default() -> Tree {
        let name = QualName::new(None, ns!(), local_name!(""));
        let other = Rc::new(Node { name, is_integration_point: false });
        Tree { elements: RefCell::default(), has_body: Cell::default(), steps: Cell::default(), other }
    }
}

impl Tree {
    fn count(&self, steps: usize) {
        self.steps.set(self.steps.get() + steps);
    }
}

/// Returns an attribute's value, which is empty if there is no such attribute.
fn value(attributes: &[Attribute], name: &html5ever::LocalName) -> Vec<u8> {
    let found = attributes.iter().find(|attribute| attribute.name.local == *name);
    found.map(|attribute| attribute.value.as_bytes().to_vec()).unwrap_or_default()
}

impl TreeSink for Tree {
    type Handle = Rc<Node>;
    type Output = ();
    type ElemName<'a> = &'a QualName;

    fn finish(self) {}

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Rc<Node> {
        self.other.clone()
    }

    fn elem_name<'a>(&'a self, node: &'a Rc<Node>) -> &'a QualName {
        self.count(1);
        &node.name
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, flags: ElementFlags) -> Rc<Node> {
        self.count(STEPS_PER_ELEMENT);
        if name.ns == ns!(html) {
            let mut elements = self.elements.borrow_mut();
            match name.local {
                local_name!("meta") => elements.push(Element::Meta {
                    name: value(&attributes, &local_name!("name")),
                    content: value(&attributes, &local_name!("content")),
                }),
                local_name!("link") => elements.push(Element::Link {
                    relations: value(&attributes, &local_name!("rel")),
                    target: value(&attributes, &local_name!("href")),
                }),
                local_name!("body") | local_name!("frameset") => self.has_body.set(true),
                _ => {}
            }
        }
        Rc::new(Node { name, is_integration_point: flags.mathml_annotation_xml_integration_point })
    }

    fn create_comment(&self, _: StrTendril) -> Rc<Node> {
        self.other.clone()
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Rc<Node> {
        self.other.clone()
    }

    fn append(&self, _: &Rc<Node>, _: NodeOrText<Rc<Node>>) {}

    fn append_based_on_parent_node(&self, _: &Rc<Node>, _: &Rc<Node>, _: NodeOrText<Rc<Node>>) {}

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, template: &Rc<Node>) -> Rc<Node> {
        template.clone()
    }

    fn same_node(&self, one: &Rc<Node>, other: &Rc<Node>) -> bool {
        self.count(1);
        Rc::ptr_eq(one, other)
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, _: &Rc<Node>, _: NodeOrText<Rc<Node>>) {}

    fn add_attrs_if_missing(&self, _: &Rc<Node>, _: Vec<Attribute>) {}

    fn remove_from_parent(&self, _: &Rc<Node>) {}

    fn reparent_children(&self, _: &Rc<Node>, _: &Rc<Node>) {}

    fn is_mathml_annotation_xml_integration_point(&self, node: &Rc<Node>) -> bool {
        node.is_integration_point
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const META: &str = "<meta name=robots content=noai>";

    #[test]
    fn pages_with_too_many_steps_are_not_read() {
        let text = format!("{}{META}", "<p><b>text".repeat(99));
        let (_, steps) = read_within(&text, text.len(), true, false, MAX_STEPS);
        for max in [steps - 1, steps, steps + 1] {
            let (page, _) = read_within(&text, text.len(), true, false, max);
            assert_eq!(page.is_read, steps <= max, "{max}");
        }
    }

    /// Parts of a page are parsed until the limit is passed, so that a page cannot take long.
    #[test]
    fn nested_pages_take_bounded_steps() {
        let attributes: String = (0..20_000).map(|number| format!(" a{number}")).collect();
        let different: String = (0..9000).map(|number| format!("<b a{number}>")).collect();
        for (name, text) in [
            ("div", "<div>".repeat(13_000)),
            ("end tags", "<i><u>".repeat(5000) + &"</b>".repeat(9000)),
            ("formatting", different + &"<p>a".repeat(9000)),
            ("tables", "<table><tr><td>".repeat(5000)),
            ("foreign", "<svg><a>".repeat(9000)),
            ("templates", "<template>".repeat(7000)),
            ("attributes", format!("<p{attributes}>")),
        ] {
            let (page, steps) = read_within(&text, text.len(), false, false, MAX_STEPS);
            assert!(steps < 40 * MAX_STEPS, "{name}: {steps}");
            assert!(page.is_read || steps > MAX_STEPS, "{name}");
        }
        // A dense page of 64 KiB is read.
        let text = "<i>1234567890</i>".repeat(3700) + META;
        assert!(read(&text, text.len(), true, false).is_read);
    }
}
