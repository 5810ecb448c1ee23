//! Recognizes two unsupported formats of the crawler Heritrix: ARC, the predecessor of WARC, and `crawl.log`.

/// The URL of an ARC file's first record, which describes the file.
const ARC: &[u8] = b"filedesc://";

/// Returns whether an input starts like an ARC file.
pub(crate) fn is_arc(start: &[u8]) -> bool {
    start.starts_with(ARC)
}

/// Returns whether an input starts like a `crawl.log`.
///
/// Its lines have the time, the status, the size or `-`, the URL, and the path of links to the URL, separated by
/// spaces. Source: heritrix.readthedocs.io, "Log files".
pub(crate) fn is_crawl_log(start: &[u8]) -> bool {
    let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let mut words = line.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
    let [time, status, size, url, links] = std::array::from_fn(|_| words.next().unwrap_or_default());
    let is_number = |word: &[u8]| !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    // Such as 2026-01-02T03:04:05.123Z.
    let is_time = time.len() >= 20 && time.get(10) == Some(&b'T') && time.ends_with(b"Z") && time[0].is_ascii_digit();
    is_time
        // Heritrix's own codes, such as -9998 for a page that a robots.txt disallows, are negative.
        && is_number(status.strip_prefix(b"-").unwrap_or(status))
        && (size == b"-" || is_number(size))
        && url.iter().position(|&byte| byte == b':').is_some_and(|end| url[..end].iter().all(u8::is_ascii_alphabetic))
        && (links == b"-" || !links.is_empty() && links.iter().all(u8::is_ascii_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crawl_logs_are_recognized_by_their_first_line() {
        let log = "2026-01-02T03:04:05.123Z   200       1234 https://a.example/ LLE https://a.example/ text/html #042 ";
        let cases = [
            (log, true),
            ("2026-01-02T03:04:05.123Z -9998          - https://a.example/x L https://a.example/ unknown #1 - -", true),
            ("2026-01-02T03:04:05Z     1         61 dns:a.example P https://a.example/ text/dns #1\n", true),
            ("2026-01-02T03:04:05.123Z 200 1 https://a.example/ - - text/html", true),
            ("2026-01-02T03:04:05.123Z 200 1 /path L", false),
            ("2026-01-02T03:04:05.123Z GET 1 https://a.example/ L", false),
            ("2026-01-02T03:04:05.123Z 200 x https://a.example/ L", false),
            ("2026-01-02T03:04:05.123Z 200 1 https://a.example/ 0.1", false),
            ("2026-01-02T03:04:05.123Z 200 1 https://a.example/", false),
            ("2026-01-02T03:04:05.123Z\t200\t1\thttps://a.example/\tL", false),
            ("2026-01-02 03:04:05 200 1 https://a.example/ L", false),
            ("\n2026-01-02T03:04:05.123Z 200 1 https://a.example/ L", false),
            ("https://a.example/", false),
            ("", false),
        ];
        for (text, expected) in cases {
            assert_eq!(is_crawl_log(text.as_bytes()), expected, "{text}");
        }
        assert!(is_arc(b"filedesc://a.arc 0.0.0.0 20260102030405 text/plain 77\n") && !is_arc(b"filedesc:"));
        assert_eq!(cases.len(), 14);
    }
}
