//! Self-contained HTML pages: reports that need no scripts and no network, and are legible on a phone and in dark mode.

use std::fmt::{Arguments, Write};

use html_escape::encode_quoted_attribute;

/// The styles of every page. Colors also differ in lightness, for color-blind readers.
const STYLE: &str = "\
:root{color-scheme:light dark;--allow:#2e7d4f;--disallow:#d0603b;--unknown:#9aa3ad;--invalid:#6b4fa0;--line:#8884}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem}
h1{font-size:1.5rem;margin:.5rem 0}h2{font-size:1.15rem;margin:2rem 0 .5rem}
p{margin:.4rem 0}code,td{overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.3rem .5rem;border-bottom:1px solid var(--line);vertical-align:top}
.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.key span{display:inline-block;margin-right:1rem}
.key i{display:inline-block;width:.8rem;height:.8rem;border-radius:.2rem;margin-right:.35rem}
@media(max-width:40rem){th,td{padding:.3rem .25rem}body{padding:.6rem}}
";

/// A page that is being written.
pub struct Page {
    text: String,
}

impl Page {
    /// Begins a page. `title` is plain text, and `style` has the styles that only this page needs.
    pub fn new(title: &str, style: &str) -> Page {
        let title = escaped(title);
        Page {
            text: format!(
                "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
                 <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
                 <title>{title}</title>\n<style>\n{STYLE}{style}</style></head>\n<body>\n<main>\n<h1>{title}</h1>\n"
            ),
        }
    }

    /// Appends HTML. Text in it has to be [`escaped`].
    pub fn push(&mut self, html: Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(html);
    }

    /// Appends HTML.
    pub fn push_str(&mut self, html: &str) {
        self.text.push_str(html);
    }

    /// Appends a table of facts: names, and values in HTML.
    pub fn push_facts(&mut self, facts: impl IntoIterator<Item = (String, String)>) {
        self.push_str("<table>\n");
        for (name, fact) in facts {
            self.push(format_args!("<tr><th scope=\"row\">{name}</th><td>{fact}</td></tr>\n"));
        }
        self.push_str("</table>\n");
    }

    /// Ends the page.
    pub fn finish(mut self) -> String {
        self.push_str("</main>\n</body></html>\n");
        self.text
    }
}

/// Escapes text for HTML.
pub fn escaped(text: &str) -> String {
    encode_quoted_attribute(text).into_owned()
}
