//! Text in a value that means something elsewhere: lists, placeholders and templates, comments, and further directives.

use memchr::{memchr, memchr_iter, memmem};

use super::data::words::{COMMENT_MARKS, Meaning, PLACEHOLDERS, is_connective};
use super::key_names::JOINED_KEYS;

/// Line breaks that are written as text. A longer one comes before its own ending.
const WRITTEN_BREAKS: [&[u8]; 8] = [b"\\r\\n", b"\\n", b"\\r", b"<br>", b"<br/>", b"<br />", b"</br>", b"&#10;"];

/// Returns the offset of the first further directive in a line's text, and the number of further directives.
pub(super) fn further_directives(text: &[u8]) -> Option<(usize, usize)> {
    let own = memchr(b':', text)?;
    let mut further =
        memchr_iter(b':', &text[own + 1..]).filter_map(|colon| key_before(text, own + 1, own + 1 + colon));
    let first = further.next()?;
    Some((first, 1 + further.count()))
}

/// Returns the offset of a key that ends before the colon and begins another directive.
fn key_before(text: &[u8], start: usize, colon: usize) -> Option<usize> {
    let before = text[start..colon].trim_ascii_end();
    let ends_with = |key: &str| {
        before.len() >= key.len() && before[before.len() - key.len()..].eq_ignore_ascii_case(key.as_bytes())
    };
    let key = JOINED_KEYS.into_iter().find(|key| ends_with(key))?;
    let at = before.len() - key.len();
    let outside = &before[..at];
    let is_separated = match outside.last() {
        None => true,
        Some(byte) => byte.is_ascii_whitespace() || b",;|>".contains(byte),
    };
    // Lines joined without a separator: only the capital letter shows the beginning.
    let is_joined = || before[at].is_ascii_uppercase() && !outside.ends_with(b"?") && !outside.ends_with(b"&");
    let is_after_break = || WRITTEN_BREAKS.iter().any(|text| outside.ends_with(text));
    (is_separated || is_after_break() || is_joined()).then_some(start + at)
}

/// Returns a line break that is written as text at the end of a value.
pub(super) fn written_break(value: &[u8]) -> Option<&'static [u8]> {
    let value = value.trim_ascii_end();
    WRITTEN_BREAKS
        .into_iter()
        .find(|text| value.len() >= text.len() && value[value.len() - text.len()..].eq_ignore_ascii_case(text))
}

/// Maximum number of paths in a list that a message shows.
const MAX_PATHS_SHOWN: usize = 10;

/// Returns the paths of a list, or `None` if a value is not a list of paths.
pub(super) fn paths_of_list(value: &[u8]) -> Option<Vec<&[u8]>> {
    let is_separator = |byte: &u8| b",;| \t".contains(byte);
    value.iter().position(is_separator)?;
    let parts: Vec<&[u8]> = value
        .split(is_separator)
        .map(inside)
        .filter(|part| !part.is_empty() && !is_connective(part))
        .take(MAX_PATHS_SHOWN + 1)
        .collect();
    let is_path = |part: &&[u8]| {
        part.starts_with(b"/") && !part.starts_with(b"//") && *part != b"/*"
            || part.starts_with(b"*/")
            || part.starts_with(b"*.")
    };
    // A matrix parameter or a query may contain a separator, but not before a slash.
    (parts.len() > 1 && parts.iter().all(is_path) && parts.iter().all(|part| memchr(b'?', part).is_none()))
        .then_some(parts)
}

/// Returns text without the quotation marks and brackets around it.
fn inside(part: &[u8]) -> &[u8] {
    let is_outside = |byte: &u8| b"\"'`[]()".contains(byte);
    let start = part.iter().position(|byte| !is_outside(byte)).unwrap_or(part.len());
    let end = part.iter().rposition(|byte| !is_outside(byte)).map_or(start, |last| last + 1);
    &part[start..end]
}

/// Returns the parts of a comment in a value: the mark of another language, and the value before it.
pub(super) fn comment_in(value: &[u8]) -> Option<(&'static str, &[u8])> {
    let marked =
        COMMENT_MARKS.iter().filter(|mark| !matches!(**mark, "%" | "!" | "'" | "'''" | "\"\"\"" | "*/" | "-->"));
    marked.into_iter().find_map(|mark| {
        let mut places = memmem::find_iter(value, mark.as_bytes());
        let at = places.find(|&at| at > 0 && value[at - 1].is_ascii_whitespace())?;
        Some((*mark, value[..at].trim_ascii_end()))
    })
}

/// Returns the meaning of a placeholder for a path.
pub(super) fn placeholder(value: &[u8]) -> Option<Meaning> {
    PLACEHOLDERS.iter().find(|(word, _)| value.eq_ignore_ascii_case(word.as_bytes())).map(|(_, meaning)| *meaning)
}

/// Pairs of text that enclose an expression in templates.
const TEMPLATES: [(&[u8], &[u8]); 9] = [
    (b"{{", b"}}"),
    (b"{%", b"%}"),
    (b"<?", b"?>"),
    (b"<%", b"%>"),
    (b"${", b"}"),
    (b"$(", b")"),
    (b"#{", b"}"),
    (b"@{", b"}"),
    (b"[[", b"]]"),
];

/// Returns the text of an unrendered template.
pub(super) fn unrendered(text: &[u8]) -> Option<&[u8]> {
    // Hardly any line has one of these bytes.
    if !text.iter().any(|byte| b"{<%[_$".contains(byte)) {
        return None;
    }
    let enclosed = TEMPLATES.into_iter().find_map(|(begin, end)| {
        let at = memmem::find(text, begin)?;
        let after = &text[at + begin.len()..];
        let len = memmem::find(after, end);
        let inside = &after[..len.unwrap_or(after.len())];
        let is_whole = len.is_some() || begin == b"<?" && (inside.starts_with(b"php") || inside.starts_with(b"="));
        let is_name = inside.iter().any(u8::is_ascii_alphabetic);
        (is_whole && is_name)
            .then(|| &text[at..text.len().min(at + begin.len() + inside.len() + len.map_or(0, |_| end.len()))])
    });
    enclosed.or_else(|| variable(text, b"%")).or_else(|| variable(text, b"__"))
}

/// Returns a name in capital letters between two marks, such as `%BASE%`. Escaped bytes are not names.
fn variable<'t>(text: &'t [u8], mark: &[u8]) -> Option<&'t [u8]> {
    let is_name = |byte: &u8| byte.is_ascii_uppercase() || *byte == b'_';
    memmem::find_iter(text, mark).find_map(|at| {
        let name = &text[at + mark.len()..];
        let len =
            memmem::find(name, mark).filter(|&len| len >= MIN_VARIABLE_BYTES && name[..len].iter().all(is_name))?;
        let after = &name[len + mark.len()..];
        let is_escape = |text: &[u8]| text.get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let follows_escape = at >= 3 && text[at - 3] == b'%';
        let is_escaped = mark == b"%" && (is_escape(after) || follows_escape);
        (!is_escaped && name[0] != b'_').then(|| &text[at..at + len + 2 * mark.len()])
    })
}

/// Minimum length of a variable's name in bytes. Two letters may be an escaped byte.
const MIN_VARIABLE_BYTES: usize = 3;

/// Returns a route parameter, such as `{id}`, `:id`, `<id>` or `[id]`.
pub(super) fn parameter(value: &[u8]) -> Option<&[u8]> {
    if !value.iter().any(|byte| b"{:<[".contains(byte)) {
        return None;
    }
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
    let is_name = |name: &[u8]| name.first().is_some_and(u8::is_ascii_alphabetic) && name.iter().all(is_letter);
    let braces = memchr(b'{', value).and_then(|at| {
        let len = memchr(b'}', &value[at..])?;
        let name = &value[at + 1..at + len];
        let name = name.split(|&byte| byte == b':').next().unwrap_or_default();
        (is_name(name.strip_suffix(b"?").unwrap_or(name)) || !name.is_empty() && name.iter().all(u8::is_ascii_digit))
            .then(|| &value[at..=at + len])
    });
    braces.or_else(|| {
        value.split(|&byte| byte == b'/').find(|segment| match segment {
            [b':', name @ ..] => {
                let name =
                    name.strip_suffix(b"?").or(name.strip_suffix(b"*")).or(name.strip_suffix(b"$")).unwrap_or(name);
                is_name(name)
            }
            [b'<', name @ .., b'>'] => is_name(name.rsplit(|&byte| byte == b':').next().unwrap_or_default()),
            [b'[', name @ .., b']'] => is_name(name.strip_prefix(b"...").unwrap_or(name)),
            _ => false,
        })
    })
}

/// Expands a list in braces as shells do: `/*.{jpg,png}` becomes `/*.jpg` and `/*.png`.
pub(super) fn alternatives(value: &[u8]) -> Option<Vec<Vec<u8>>> {
    let open = memchr(b'{', value)?;
    let close = open + memchr(b'}', &value[open..])?;
    let inside = &value[open + 1..close];
    let separator = *inside.iter().find(|byte| b",|".contains(byte))?;
    if inside.iter().any(|byte| b"{\"'=".contains(byte))
        || inside.iter().all(|byte| byte.is_ascii_digit() || *byte == b',')
    {
        return None;
    }
    let each = inside.split(|&byte| byte == separator).take(MAX_PATHS_SHOWN);
    Some(each.map(|part| [&value[..open], part.trim_ascii(), &value[close + 1..]].concat()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_other_languages_is_recognized() {
        let shown = |text: Option<&[u8]>| text.map(|text| String::from_utf8_lossy(text).into_owned());
        for (value, template, route) in [
            ("/{{ x }}/a", Some("{{ x }}"), None),
            ("/{% url 'a' %}", Some("{% url 'a' %}"), None),
            ("<?php echo $base", Some("<?php echo $base"), None),
            ("/<?= $x ?>/b", Some("<?= $x ?>"), None),
            ("/<%= x %>", Some("<%= x %>"), None),
            ("${BASE}/x", Some("${BASE}"), Some("{BASE}")),
            ("$(BASE)/x", Some("$(BASE)"), None),
            ("#{base}/x", Some("#{base}"), Some("{base}")),
            ("/[[name]]/", Some("[[name]]"), None),
            ("%BASE%/z", Some("%BASE%"), None),
            ("/%SITE_URL%/z", Some("%SITE_URL%"), None),
            ("__BASE__/z", Some("__BASE__"), None),
            ("/user/{id}", None, Some("{id}")),
            ("/user/{id:int}/x", None, Some("{id:int}")),
            ("/{0}/", None, Some("{0}")),
            ("/user/:id", None, Some(":id")),
            ("/user/:id?/edit", None, Some(":id?")),
            ("/user/<int:id>/", None, Some("<int:id>")),
            ("/blog/[slug]", None, Some("[slug]")),
            ("/blog/[...slug]/", None, Some("[...slug]")),
            ("/wiki/Special:Search", None, None),
            ("/a%D7%95%D7%99", None, None),
            ("/%C3%AACOLE%20b", None, None),
            ("/%AB%CD", None, None),
            ("/*?f=[0]", None, None),
            ("/a__b__c", None, None),
            ("/x:8080/", None, None),
            ("/<", None, None),
        ] {
            assert_eq!(shown(unrendered(value.as_bytes())).as_deref(), template, "{value}");
            assert_eq!(shown(parameter(value.as_bytes())).as_deref(), route, "{value}");
        }
    }

    #[test]
    fn names_of_variables_have_a_minimum_length() {
        for (len, is_name) in
            [(MIN_VARIABLE_BYTES - 1, false), (MIN_VARIABLE_BYTES, true), (MIN_VARIABLE_BYTES + 1, true)]
        {
            let text = format!("/%{}%/", "X".repeat(len));
            assert_eq!(unrendered(text.as_bytes()).is_some(), is_name, "{text}");
        }
    }

    #[test]
    fn lists_are_recognized() {
        for (value, count) in [
            ("/a,/b", 2),
            ("/a;/b", 2),
            ("/a, /b", 2),
            ("/a /b", 2),
            ("/a | /b | /c", 3),
            ("/a and /b", 2),
            ("/a,*/b", 2),
            ("[/a, /b]", 2),
            ("\"/a\", \"/b\"", 2),
            ("/a + /b", 2),
            ("*.jpg,*.png", 2),
            ("/a,b", 0),
            ("/a;jsessionid=/x", 0),
            ("/map/@1,2/", 0),
            ("/a //b", 0),
            ("/a?x=1,/b", 0),
            ("/a", 0),
        ] {
            assert_eq!(paths_of_list(value.as_bytes()).map_or(0, |parts| parts.len()), count, "{value}");
        }
        for (count, shown) in [
            (MAX_PATHS_SHOWN - 1, MAX_PATHS_SHOWN - 1),
            (MAX_PATHS_SHOWN, MAX_PATHS_SHOWN),
            (MAX_PATHS_SHOWN + 1, MAX_PATHS_SHOWN + 1),
            (MAX_PATHS_SHOWN + 2, MAX_PATHS_SHOWN + 1),
        ] {
            let list = vec!["/a"; count].join(",");
            assert_eq!(paths_of_list(list.as_bytes()).map(|parts| parts.len()), Some(shown));
        }
        let one = |value: &str| {
            alternatives(value.as_bytes()).map(|all| String::from_utf8_lossy(&all.join(&b' ')).into_owned())
        };
        assert_eq!(one("/*.{jpg,png}$").as_deref(), Some("/*.jpg$ /*.png$"));
        assert_eq!(one("/{a|b}/").as_deref(), Some("/a/ /b/"));
        assert_eq!((one("/a{3}"), one("/a{1,2}"), one("/{\"a\",1}")), (None, None, None));
    }

    #[test]
    fn further_directives_are_recognized() {
        for (text, further) in [
            ("User-agent: * Disallow: /", Some((14, 1))),
            ("User-agent: *\\nDisallow: /a\\nDisallow: /b", Some((15, 2))),
            ("User-agent: *<br>Disallow: /", Some((17, 1))),
            ("Disallow: /a; Allow: /b", Some((14, 1))),
            ("Disallow: /aDisallow: /b", Some((12, 1))),
            ("Disallow: /a Sitemap: https://a.example/x", Some((13, 1))),
            ("Disallow: /redirect?disallow:x", None),
            ("Disallow: /wiki/allow:x", None),
            ("Sitemap: https://a.example/x", None),
            ("Disallow: /a", None),
        ] {
            assert_eq!(further_directives(text.as_bytes()), further, "{text}");
        }
        assert_eq!(written_break(b"/a\\n"), Some(&b"\\n"[..]));
        assert_eq!(written_break(b"/a<BR>"), Some(&b"<br>"[..]));
        assert_eq!(written_break(b"/a"), None);
    }
}
