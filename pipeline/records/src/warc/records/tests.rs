//! Tests of [`records`](super).

use std::io::Cursor;

use super::*;

fn first(bytes: Vec<u8>, limit: usize) -> Result<Option<Vec<u8>>, String> {
    let mut records = Records::new(Cursor::new(bytes), false);
    match records.next_record().unwrap() {
        NextRecord::Record(_) => match records.block(limit).unwrap() {
            Block::Whole(block, _) => Ok(Some(block)),
            Block::TooLarge(_) => Ok(None),
            Block::NoMemory(_) => Err("no memory".into()),
            Block::Damaged(damage) => Err(damage.detail),
        },
        NextRecord::Damaged(damage) => Err(damage.detail),
        NextRecord::End => Err("nothing".into()),
    }
}

/// Returns the number of complete records in a file, and the damage reports.
fn all(bytes: Vec<u8>, searches: bool) -> (usize, Vec<Damage>) {
    let mut records = Records::new(Cursor::new(bytes), searches);
    let (mut whole, mut damages) = (0, Vec::new());
    loop {
        match records.next_record().unwrap() {
            NextRecord::Record(_) => whole += 1,
            NextRecord::Damaged(damage) => damages.push(damage),
            NextRecord::End => return (whole, damages),
        }
    }
}

/// Tests headers over the first limit, which lose their record, and over the second limit, which lose the rest of the
/// file.
#[test]
fn headers_over_their_limits_are_damaged() {
    for limit in [MAX_HEADER_BYTES, MAX_SKIPPED_HEADER_BYTES] {
        for len in [limit - 1, limit, limit + 1] {
            for (before, after) in [("", "Content-Length: 1\r\n"), ("Content-Length: 1\r\n", "")] {
                let start = format!("WARC/1.1\r\n{before}X: ");
                let end = format!("\r\n{after}\r\n");
                let value = "x".repeat(len - start.len() - end.len());
                let next = "WARC/1.0\r\nContent-Length: 0\r\n\r\n";
                let (whole, damages) = all(format!("{start}{value}{end}y\r\n\r\n{next}").into_bytes(), false);
                let expected = match len {
                    _ if len <= MAX_HEADER_BYTES => (2, None),
                    _ if len <= MAX_SKIPPED_HEADER_BYTES => (1, Some(false)),
                    _ => (0, Some(true)),
                };
                assert_eq!((whole, damages.first().map(|damage| damage.stops)), expected, "{len} {damages:?}");
                assert!(damages.len() <= 1);
            }
        }
    }
}

#[test]
fn lines_in_skipped_headers_stop_at_the_limit() {
    for len in [MAX_SKIPPED_LINE_BYTES - 1, MAX_SKIPPED_LINE_BYTES, MAX_SKIPPED_LINE_BYTES + 1] {
        for zeros in ["0", " "] {
            let line = format!("Content-Length: {}1\n", zeros.repeat(len - "Content-Length: 1\n".len()));
            let long = "x".repeat(MAX_HEADER_BYTES);
            let (_, damages) = all(format!("WARC/1.0\nX: {long}\n{line}\ny\n\n").into_bytes(), false);
            assert_eq!(damages[0].stops, len > MAX_SKIPPED_LINE_BYTES, "{len} {damages:?}");
        }
    }
}

/// Tests that an overlong header's length lines are read as in any other header.
#[test]
fn skipped_headers_with_unusable_lengths_stop_the_reader() {
    let long = format!("X: {}\r\n folded\r\n", "x".repeat(MAX_HEADER_BYTES));
    for (header, stops) in [
        (format!("Content-Length: 1\r\n{long}"), false),
        (format!("{long}content-length :1\r\n"), false),
        (format!("{long}Content-Length: 1\r\nY: z\r\n folded\r\n"), false),
        (format!("{long}Content-Length:\r\n 1\r\n"), false),
        (format!("Content-Length: 1\r\n{long}Content-Length: 1\r\n"), false),
        (format!("Content-Length: 1\r\n{long}Content-Length: 2\r\n"), true),
        (format!("{long}Content-Length: 1\r\n 0\r\n"), true),
        (format!("{long}Content-Length: +1\r\n"), true),
        (long.clone(), true),
        (format!("{long}{}", "Content-Length: 1\r\n".repeat(2 * MAX_HEADER_BYTES / 19)), false),
    ] {
        let next = "WARC/1.0\r\nContent-Length: 0\r\n\r\n";
        let (whole, damages) = all(format!("WARC/1.0\r\n{header}\r\ny\r\n\r\n{next}").into_bytes(), false);
        let shown = &header[header.len() - 40..];
        assert_eq!((whole, damages.len(), damages[0].stops), (usize::from(!stops), 1, stops), "{shown} {damages:?}");
    }
}

#[test]
fn blocks_over_the_limit_are_too_large() {
    for len in [9, 10, 11] {
        let block = "x".repeat(len);
        let found = first(format!("WARC/1.0\nContent-Length: {len}\n\n{block}\n\n").into_bytes(), 10);
        assert_eq!(found, Ok((len <= 10).then(|| block.into_bytes())));
    }
}

#[test]
fn uncounted_bytes_are_read_up_to_the_limit() {
    for (more, expected) in [("", "body"), ("\n", "body"), ("a", "bodya\r"), ("ab", "bodyab"), ("a\n", "bodya\n")] {
        let found = first(format!("WARC/1.0\r\nContent-Length: 4\r\n\r\nbody{more}\r\n\r\n").into_bytes(), 10);
        assert_eq!(found, Ok(Some(expected.as_bytes().to_vec())), "{more:?}");
    }
    for more in ["abc", "abc\r\n\r\n", "ab\r\n\r\n\r\n", "abWARC", "\r\nWARC"] {
        let found = first(format!("WARC/1.0\r\nContent-Length: 4\r\n\r\nbody{more}").into_bytes(), 10);
        assert!(
            found.clone().is_err_and(|detail| detail.starts_with("its block is followed by")),
            "{more:?} {found:?}"
        );
    }
}

/// Tests that arbitrary bytes are read to their end, and that each record is either returned or reported as damaged.
#[test]
fn arbitrary_bytes_are_read_to_the_end() {
    let parts: [&[u8]; 8] =
        [b"WARC/1.0\r\n", b"Content-Length: 3\r\n", b"\r\n", b"abc", b"\n", b"WARC/", b"Content-Length: 99\n", b"x"];
    let mut state = 1_u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as usize
    };
    for _ in 0..20_000 {
        let count = random() % 12;
        let bytes: Vec<u8> = (0..count).flat_map(|_| parts[random() % parts.len()]).copied().collect();
        let searches = random() % 2 == 0;
        let mut records = Records::new(Cursor::new(bytes.clone()), searches);
        let mut found = 0;
        while !matches!(records.next_record().unwrap(), NextRecord::End) {
            if random() % 2 == 0 {
                records.block(10).unwrap();
            }
            found += 1;
            // A record may be damaged both in its header and at its end.
            assert!(found <= 2 * count, "{:?}", String::from_utf8_lossy(&bytes));
        }
    }
}

/// Tests that a record without fields is checked like any other one.
#[test]
fn only_needed_fields_are_kept() {
    let record = |kind: &str, fields: &str| {
        let fields =
            format!("WARC-Date: a\r\nWARC-Target-URI: <b>\r\nWARC-Record-ID: c\r\nContent-Type: d\r\n{fields}");
        format!("WARC/1.0\r\nWARC-Type: {kind}\r\n{fields}Content-Length: 1\r\n\r\ny\r\n\r\n")
    };
    let is_request = |kind: &str| kind == "request";
    for (kind, is_kept) in [("Request", true), ("request", true), ("response", false), ("x", false)] {
        let bytes = record(kind, "") + &record(kind, "WARC-Date: e\r\n");
        let mut records = Records::new(Cursor::new(bytes), false).with_fields_of(is_request);
        let NextRecord::Record(found) = records.next_record().unwrap() else { panic!("{kind}") };
        assert_eq!((&*found.kind, found.block_len()), (&*kind.to_lowercase(), 1));
        let values = [&found.target, &found.date, &found.content_type, &found.links().id];
        let expected = [b"b", b"a", b"d", b"c"].map(|value| is_kept.then(|| value.to_vec()));
        assert_eq!(values.map(Clone::clone), expected, "{kind}");
        let NextRecord::Damaged(damage) = records.next_record().unwrap() else { panic!("{kind}") };
        assert_eq!(damage.detail, "it has two WARC-Date fields that differ");
    }
}
