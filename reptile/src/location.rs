//! Recognizes arguments that were mixed up: a URL, a path or a file name instead of a robots.txt.

use reptile_engine::url::{MAX_URL_BYTES, Scheme};

use crate::error::{Error, ErrorKind};

/// Maximum number of bytes of a mistaken text in a message.
const SHOWN_BYTES: usize = 80;

/// Schemes of files that programs open, besides web pages.
const FILE_SCHEMES: [&[u8]; 3] = [b"file", b"s3", b"gs"];

/// Returns an error if a body is a URL, a path or a file name.
pub(crate) fn refuse_location(body: &[u8]) -> Result<(), Error> {
    if !is_location(body) {
        return Ok(());
    }
    let shown = String::from_utf8_lossy(&body[..body.len().min(SHOWN_BYTES)]);
    let dots = if body.len() > SHOWN_BYTES { "..." } else { "" };
    let message = format!(
        "expected the text of a robots.txt, found a URL, a path or a file name: {shown:?}{dots}; pass the file's \
         content as the body, and the URL after it"
    );
    Err(Error::new(ErrorKind::NotRobots, message))
}

/// Returns whether a text that should be a robots.txt is a URL, a path or a file name: a single word that says nothing as
/// a robots.txt under any dialect. Such a text shows that arguments were swapped, or that a file was not read.
///
/// Most bodies end the test at their first space or line break.
///
/// ```
/// use reptile::body::is_location;
/// assert!(is_location(b"https://example.com/private") && is_location(b"/private") && is_location(b"robots.txt"));
/// assert!(!is_location(b"Disallow: /") && !is_location(b"") && !is_location(b"/private\n"));
/// ```
#[must_use]
pub fn is_location(text: &[u8]) -> bool {
    let is_word = text.len() <= MAX_URL_BYTES && text.iter().all(|&byte| byte > b' ' && byte != 0x7F);
    is_word && (text.starts_with(b"/") || has_scheme(text) || is_file_name(text))
}

/// Returns whether a text begins with the scheme of a web page or a file, and `://`. Other words are directives, as in
/// `disallow://a`.
fn has_scheme(text: &[u8]) -> bool {
    let Some(end) = text.windows(3).position(|bytes| bytes == b"://") else { return false };
    let scheme = text[..end].to_ascii_lowercase();
    Scheme::from_name(&scheme).is_some() || FILE_SCHEMES.contains(&&*scheme)
}

/// Returns whether a word is the name of a file in a folder, or of a text file. Comments, web pages and JSON are not, and
/// neither is a line with a colon, except after a drive letter.
fn is_file_name(text: &[u8]) -> bool {
    let name = match text {
        [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic() => &text[2..],
        _ => text,
    };
    let is_plain = !name.starts_with(b"\xEF\xBB\xBF") && !name.iter().any(|byte| b":#<\"{".contains(byte));
    let is_text = name.len() >= 4 && name[name.len() - 4..].eq_ignore_ascii_case(b".txt");
    is_plain && (is_text || name.iter().any(|byte| b"/\\".contains(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_as_long_as_a_url_are_refused() {
        for (len, is_refused) in [(MAX_URL_BYTES - 1, true), (MAX_URL_BYTES, true), (MAX_URL_BYTES + 1, false)] {
            let text = format!("/{}", "a".repeat(len - 1));
            let error = refuse_location(text.as_bytes()).err();
            assert_eq!(error.is_some(), is_refused, "{len}");
            assert!(error.is_none_or(|error| error.to_string().len() < 300));
        }
    }

    #[test]
    fn long_texts_are_cut_in_messages() {
        for (len, is_cut) in [(SHOWN_BYTES - 1, false), (SHOWN_BYTES, false), (SHOWN_BYTES + 1, true)] {
            let error = refuse_location(format!("/{}", "a".repeat(len - 1)).as_bytes()).unwrap_err();
            assert_eq!(error.to_string().contains("\"...;"), is_cut, "{error}");
        }
    }
}
