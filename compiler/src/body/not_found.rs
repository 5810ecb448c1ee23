//! Detects server error pages that say "not found".
//!
//! Some sites answer requests for missing pages with 5xx, and Google treats such a response as a 404. The words alone
//! prove nothing: `Host not found` is a proxy's error, and `table or view not found` a database's. So the page must say
//! it as its title, as a heading, or as its whole text. In case of doubt it does not count, and the site stays closed.

use std::cell::Cell;
use std::sync::LazyLock;

use memchr::{memchr, memmem};

use crate::limits::MAX_NOT_FOUND_BYTES;

/// A phrase that error pages use for "not found".
struct Phrase {
    text: &'static str,
    /// Whether it names a page. Only such a phrase may appear next to the site's name in a title.
    names_page: bool,
}

const fn phrase(text: &'static str, names_page: bool) -> Phrase {
    Phrase { text, names_page }
}

/// The phrases, in the languages of the dialects' sources.
const PHRASES: [Phrase; 15] = [
    phrase("Not Found", false),     // RFC 9110 section 15.5.5; the page of Apache and nginx
    phrase("Page not found", true), // WordPress, wp_get_document_title; Django, 404.html; Drupal
    phrase("This page could not be found", true), // Next.js, the default page
    phrase("Sayfa bulunamadı", true), // tr: Laravel-Lang/http-statuses, 404
    phrase("Bulunamadı", false),    // tr: our translation, without the noun
    phrase("پیدا نشد", false),      // fa: Laravel-Lang/http-statuses, 404
    phrase("یافت نشد", false),      // fa: our translation, without the noun
    phrase("صفحه پیدا نشد", true),  // fa: the same with the noun, our translation
    phrase("صفحه یافت نشد", true),  // fa: WordPress themes
    phrase("الصفحة غير موجودة", true), // ar: Laravel-Lang/http-statuses, 404; WordPress themes
    phrase("لم يتم العثور على الصفحة", true), // ar: our translation of "the page was not found"
    phrase("पृष्ठ नहीं मिला", true),   // hi: public sites, such as the RTI portal
    phrase("पेज नहीं मिला", true),    // hi: the same with the English noun, our translation
    phrase("पृष्ठ लापता", true),      // hi: Django's translation, 404.html
    phrase("पता नहीं चला", false),   // hi: Laravel-Lang/http-statuses, 404
];

/// The phrases after [`fold`].
static FOLDED: LazyLock<Vec<(String, bool)>> = LazyLock::new(|| {
    let folded = |phrase: &Phrase| (fold(phrase.text, &Steps::default()), phrase.names_page);
    PHRASES.iter().map(folded).collect()
});

/// Words that may surround a phrase if they include the status 404.
const AROUND_STATUS: [&str; 7] = ["404", "error", "http", "hata", "خطا", "خطای", "त्रुटि"];

/// Returns whether a page says "not found".
///
/// Reads the first [`MAX_NOT_FOUND_BYTES`] bytes. In a longer page only the title and headings count. Takes linear
/// time.
pub(crate) fn says_not_found(body: &[u8]) -> bool {
    says_not_found_counted(body, &Steps::default())
}

/// Counts the bytes that are read, each time that they are read. For tests.
#[derive(Default)]
struct Steps(Cell<usize>);

impl Steps {
    fn add(&self, bytes: usize) {
        self.0.set(self.0.get() + bytes);
    }

    /// Returns the first place of a byte.
    fn find(&self, byte: u8, text: &str) -> Option<usize> {
        let found = memchr(byte, text.as_bytes());
        self.add(found.map_or(text.len(), |at| at + 1));
        found
    }

    /// Returns the first place of the end tag with this name.
    fn find_end_tag(&self, name: &str, text: &str) -> Option<usize> {
        let found = memmem::find_iter(text.as_bytes(), b"</").find(|&end| is_tag(&text[end + 2..], name));
        self.add(found.map_or(text.len(), |at| at + 2));
        found
    }
}

/// Does the work of [`says_not_found`], and counts its steps.
fn says_not_found_counted(body: &[u8], steps: &Steps) -> bool {
    let start = &body[..body.len().min(MAX_NOT_FOUND_BYTES)];
    let is_whole = start.len() == body.len();
    let text = String::from_utf8_lossy(start);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if !text.starts_with('<') {
        return is_whole && is_statement(text, false, steps);
    }
    let text = without_hidden(text, steps);
    let title = elements(&text, "title", steps).next();
    let headings = || elements(&text, "h1", steps).chain(elements(&text, "h2", steps));
    // A page that also names a server error may be about either one.
    if title.into_iter().chain(headings()).any(|text| names_server_error(text, steps)) {
        return false;
    }
    title.is_some_and(|title| is_statement(title, true, steps))
        || headings().any(|heading| is_statement(heading, false, steps))
        || (is_whole && is_statement(&text, false, steps))
}

/// Returns whether a text, which may contain tags and entities, is one of the phrases, with or without the status 404.
/// A title may also contain the site's name.
fn is_statement(text: &str, is_title: bool, steps: &Steps) -> bool {
    let folded = fold(&without_tags(text, steps), steps);
    let mut parts: Vec<&str> = parts(&folded).map(|part| without_status(part, steps)).collect();
    parts.retain(|part| !part.is_empty());
    let names = |part: &str| FOLDED.iter().find(|(phrase, _)| phrase == part).map(|&(_, names_page)| names_page);
    match &parts[..] {
        [only] => names(only).is_some(),
        [first, .., last] => is_title && (names(first) == Some(true) || names(last) == Some(true)),
        [] => false,
    }
}

/// Returns whether a text contains a number from 500 to 599 as a word.
fn names_server_error(text: &str, steps: &Steps) -> bool {
    let folded = fold(&without_tags(text, steps), steps);
    let mut words = folded.split(|char: char| !char.is_alphanumeric());
    words.any(|word| word.len() == 3 && word.starts_with('5') && word.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Splits a folded text at separators, which titles put between a statement and a name.
fn parts(folded: &str) -> impl Iterator<Item = &str> {
    const SEPARATORS: [char; 12] = ['|', '·', '•', '»', '«', '–', '—', '(', ')', '[', ']', ':'];
    folded.split(SEPARATORS).flat_map(|part| part.split(" - "))
}

/// Removes the status 404 with its surrounding words, and punctuation, from a part. Without a status, removes only
/// punctuation.
fn without_status<'p>(part: &'p str, steps: &Steps) -> &'p str {
    let trim = |text| str::trim_matches(text, |char: char| char.is_whitespace() || PUNCTUATION.contains(char));
    let whole = trim(part);
    let (mut rest, mut has_status) = (whole, false);
    loop {
        let first = rest.split(' ').next().unwrap_or_default();
        let last = rest.rsplit(' ').next().unwrap_or_default();
        steps.add(first.len() + last.len());
        let word = [first, last].into_iter().find(|word| AROUND_STATUS.contains(&trim(word)));
        let Some(word) = word.filter(|word| !word.is_empty()) else { break };
        has_status |= trim(word) == "404";
        rest = trim(rest.strip_prefix(word).or_else(|| rest.strip_suffix(word)).unwrap_or_default());
    }
    if has_status { rest } else { whole }
}

/// Punctuation that may surround a phrase.
const PUNCTUATION: &str = ".,;!?…-\"'“”‘’،؛؟۔।";

/// Returns the contents of complete elements with this name, including tags and entities.
fn elements<'t>(text: &'t str, name: &'static str, steps: &Steps) -> impl Iterator<Item = &'t str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(tag) = text.get(at..).and_then(|rest| steps.find(b'<', rest)) {
            let start = at + tag + 1;
            at = start;
            if !is_tag(&text[start..], name) {
                continue;
            }
            let content = start + steps.find(b'>', &text[start..])? + 1;
            let end = steps.find_end_tag(name, &text[content..])?;
            at = content + end;
            return Some(&text[content..content + end]);
        }
        None
    })
}

/// Returns whether a text after `<` or `</` is the tag with this name.
fn is_tag(text: &str, name: &str) -> bool {
    let bytes = text.as_bytes();
    let is_name = bytes.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()));
    is_name && bytes.get(name.len()).is_some_and(|&next| next == b'>' || next == b'/' || next.is_ascii_whitespace())
}

/// Removes comments, scripts and styles, which readers cannot see. An unclosed one hides the rest of the page.
fn without_hidden(text: &str, steps: &Steps) -> String {
    const HIDDEN: [&str; 4] = ["script", "style", "noscript", "template"];
    let (mut kept, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(start) = steps.find(b'<', rest) {
        kept.push_str(&rest[..start]);
        let tag = &rest[start..];
        let end = if tag.starts_with("<!--") {
            let end = tag.find("-->").map_or(tag.len(), |end| end + 3);
            steps.add(end);
            Some(end)
        } else {
            let name = HIDDEN.into_iter().find(|name| is_tag(&tag[1..], name));
            name.map(|name| steps.find_end_tag(name, tag).map_or(tag.len(), |close| close + 2 + name.len()))
        };
        match end {
            Some(end) => rest = &tag[end..],
            None => {
                kept.push('<');
                rest = &tag[1..];
            }
        }
    }
    kept.push_str(rest);
    kept
}

/// Replaces each tag with a space.
fn without_tags(text: &str, steps: &Steps) -> String {
    let (mut kept, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(start) = steps.find(b'<', rest) {
        kept.push_str(&rest[..start]);
        kept.push(' ');
        rest = steps.find(b'>', &rest[start..]).map_or("", |end| &rest[start + end + 1..]);
    }
    kept.push_str(rest);
    kept
}

/// Normalizes a text: decodes entities, collapses white space, and removes spelling variants within a language: the case
/// of letters, the dot of the Turkish `i`, variant forms of Arabic and Persian letters, joiners and separators. Only
/// ASCII's letters and the Turkish `i` need their case: the phrases have no other letters with a case.
fn fold(text: &str, steps: &Steps) -> String {
    steps.add(text.len());
    let mut folded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let (char, len) = if char == '&' { entity(rest).unwrap_or((char, 1)) } else { (char, char.len_utf8()) };
        rest = &rest[len..];
        match char.to_ascii_lowercase() {
            // Joiners, direction marks, soft hyphens, the dot of a Turkish capital, marks on Arabic letters.
            '\u{ad}' | '\u{307}' | '\u{640}' | '\u{64b}'..='\u{652}' | '\u{200b}'..='\u{200f}' | '\u{feff}' => {}
            'ı' | 'İ' => folded.push('i'),
            'ي' | 'ى' => folded.push('ی'),
            'ك' => folded.push('ک'),
            '٠'..='٩' => folded.push(digit(char, '٠')),
            '۰'..='۹' => folded.push(digit(char, '۰')),
            '०'..='९' => folded.push(digit(char, '०')),
            char if char.is_whitespace() => {
                if !folded.ends_with(' ') {
                    folded.push(' ');
                }
            }
            char => folded.push(char),
        }
    }
    folded.trim().to_owned()
}

/// Converts a digit in the script with this zero to ASCII.
fn digit(char: char, zero: char) -> char {
    char::from_digit(u32::from(char) - u32::from(zero), 10).unwrap_or(char)
}

/// Decodes the entity at the start of a text: a number, or a name that error pages use. Returns it with its length in
/// bytes.
fn entity(text: &str) -> Option<(char, usize)> {
    const NAMES: [(&str, char); 14] = [
        ("amp", '&'),
        ("lt", '<'),
        ("gt", '>'),
        ("quot", '"'),
        ("apos", '\''),
        ("nbsp", ' '),
        ("ndash", '–'),
        ("mdash", '—'),
        ("middot", '·'),
        ("bull", '•'),
        ("raquo", '»'),
        ("laquo", '«'),
        ("hellip", '…'),
        ("rsquo", '’'),
    ];
    /// `&#x10FFFF;` and a few zeros.
    const MAX_BYTES: usize = 16;
    let end = memchr(b';', &text.as_bytes()[..text.len().min(MAX_BYTES)])?;
    let name = text.get(1..end)?;
    let char = match name.strip_prefix('#') {
        Some(number) => {
            let hex = number.strip_prefix(['x', 'X']);
            let code = hex.map_or_else(|| number.parse().ok(), |hex| u32::from_str_radix(hex, 16).ok());
            char::from_u32(code?)?
        }
        None => NAMES.iter().find(|(known, _)| *known == name)?.1,
    };
    Some((char, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_case_of_phrases_does_not_count() {
        let fold = |text: &str| fold(text, &Steps::default());
        for text in PHRASES.iter().map(|phrase| phrase.text).chain(AROUND_STATUS) {
            assert_eq!(fold(&text.to_uppercase()), fold(text));
            assert_eq!(fold(text), fold(&fold(text)));
        }
    }

    #[test]
    fn every_phrase_is_read_as_title_heading_and_whole_text() {
        let mut compared = 0;
        for Phrase { text, names_page } in &PHRASES {
            for (body, expected) in [
                (format!("<!DOCTYPE html><html><head><title>{text}</title></head><body><p>x</p></body></html>"), true),
                (format!("<html><title>404 - {text}</title><p>x"), true),
                (format!("<html><title>Error 404: {text}!</title><p>x"), true),
                (format!("<html><title>{text} (404)</title><p>x"), true),
                (format!("<html><body><H1 class=x>{text}.</H1><p>x"), true),
                (format!("<html><body><h2><span>404</span> <b>{text}</b></h2><p>x"), true),
                (format!("<html><body><p>{text}</p></body></html>"), true),
                (text.to_string(), true),
                (format!("\u{feff}\r\n 404 {text}.\r\n"), true),
                (format!("<html><title>{text} - My shop</title><p>x"), *names_page),
                (format!("<html><title>My shop | {text}</title><p>x"), *names_page),
                (format!("<html><body><h1>{text} - My shop</h1><p>x"), false),
                (format!("<html><body><p>{text}</p><p>x</p>"), false),
                (format!("x {text}"), false),
                (format!("{text}: x"), false),
                (format!("<html><title>Host: {text}</title>"), *names_page),
                (format!("<html><title>503</title><h1>{text}</h1>"), false),
                (format!("<html><title>{text}</title><h1>HTTP Error 500.19</h1>"), false),
                (format!("<html><!-- <title>{text}</title> --><p>x"), false),
                (format!("<html><script>'<title>{text}</title>'</script><p>x"), false),
                (format!("<html><h3>{text}</h3><p>x"), false),
                (format!("<html><title>{text}<p>x"), false),
            ] {
                assert_eq!(says_not_found(body.as_bytes()), expected, "{body}");
                compared += 1;
            }
        }
        assert_eq!(compared, 15 * 22);
    }

    #[test]
    fn real_pages_are_recognized() {
        for (body, expected) in [
            (
                "<html>\r\n<head><title>404 Not Found</title></head>\r\n<body>\r\n<center><h1>404 Not Found</h1></center>",
                true,
            ),
            ("<title>Page not found &#8211; My Blog</title><p>x", true),
            ("<title>Page not found &ndash; My Blog</title><p>x", true),
            ("<title>PAGE&nbsp;NOT\n FOUND</title><p>x", true),
            ("<title>404: This page could not be found.</title><p>x", true),
            ("<h1>SAYFA BULUNAMADI</h1><p>x", true),
            ("<h1>SAYFA BULUNAMADİ</h1><p>x", true),
            ("<h1>Sayfa bulunamadi\u{307}</h1><p>x", true),
            ("<h1>Sayfa Bulunamad&#x131;</h1><p>x", true),
            ("<h1>صفحه\u{200c} يافت نشد</h1><p>x", true),
            ("<h1>خطای ۴۰۴: صفحه یافت نشد</h1><p>x", true),
            ("<title>पृष्ठ नहीं मिला (४०४)</title><p>x", true),
            ("404", false),
            ("", false),
            ("<", false),
            ("&", false),
            ("Host not found", false),
            ("<title>Host not found</title>", false),
            ("<title>Host not found - 404</title>", false),
            ("<h1>Error: not found</h1>", false),
            ("<h1>Error Not Found</h1>", false),
            ("<h1>500 Internal Server Error</h1><p>The page was not found", false),
            ("SQLSTATE[42S02]: Base table or view not found: 1146 Table 'x.y' doesn't exist", false),
            ("Fatal error: Class 'Not Found' not found", false),
            ("<p>not found</p><p>Try again later</p>", false),
        ] {
            assert_eq!(says_not_found(body.as_bytes()), expected, "{body}");
        }
    }

    #[test]
    fn the_search_stops_at_the_limit() {
        for (len, is_found) in
            [(MAX_NOT_FOUND_BYTES - 1, true), (MAX_NOT_FOUND_BYTES, true), (MAX_NOT_FOUND_BYTES + 1, false)]
        {
            let text = format!("{:>len$}", "Not Found");
            assert_eq!(says_not_found(text.as_bytes()), is_found, "{len}");
            // A title's closing tag may end at the limit, but not after it.
            let title = "<title>Not Found</title>";
            let page = format!("<html>{}{title}<p>x", " ".repeat(len - "<html>".len() - title.len()));
            assert_eq!(says_not_found(page.as_bytes()), is_found, "{len}");
        }
    }

    #[test]
    fn hostile_pages_take_linear_time() {
        const MAX_STEPS_PER_BYTE: usize = 20;
        let mut most = 0.0_f64;
        for unit in ["<", "<title>", "<h1><h1", "</", "<!--", "<script", "&", "&#", "&amp;", "404 ", "- ", "<title></"]
        {
            for (start, end) in [("<", ""), ("<h1>", "</h1>"), ("<title>", "</title>")] {
                for len in [MAX_NOT_FOUND_BYTES / 16, MAX_NOT_FOUND_BYTES] {
                    let units = unit.repeat((len - start.len() - end.len()) / unit.len());
                    let page = format!("{start}{units}{end}");
                    let steps = Steps::default();
                    assert!(!says_not_found_counted(page.as_bytes(), &steps), "{start}{unit}");
                    let steps = steps.0.get();
                    assert!(steps <= MAX_STEPS_PER_BYTE * len, "{start}{unit}: {steps} steps for {len} bytes");
                    most = most.max(steps as f64 / len as f64);
                }
            }
        }
        println!("up to {most:.1} steps per byte");
    }
}
