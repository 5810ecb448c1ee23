//! Reads tar archive members sequentially, in bounded memory.
//!
//! The `tar` crate parses 512-byte header blocks. This module reads everything between them, because the crate loads
//! long names and extended headers into memory without a limit. It does not know how members are used.
//!
//! A member with an unknown name or kind becomes [`MemberKind::Faulty`], and reading continues after it. If the next
//! member's position is unknown, reading ends with an error.

use std::io::{self, ErrorKind, Read};

use tar::{EntryType, Header};

/// Block size in bytes. Headers fill one block, and bodies are padded to whole blocks.
const BLOCK_BYTES: usize = 512;

/// Maximum length of a member's long name in bytes. Names that a system can open are much shorter.
pub const MAX_NAME_BYTES: u64 = 64 << 10;

/// Maximum length of a member's extended (PAX) header in bytes. In practice, extended attributes are its largest
/// entries, and Linux allows 64 KiB each.
pub const MAX_EXTENDED_BYTES: u64 = 1 << 20;

/// An archive member without its body.
#[derive(Debug)]
pub struct Member {
    /// The path as written.
    pub path: Vec<u8>,
    /// The member's kind.
    pub kind: MemberKind,
    /// The body's length in bytes.
    pub size: u64,
}

/// A member's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberKind {
    /// A regular file. Its body is its content.
    File,
    /// A folder.
    Folder,
    /// Another name for a file that is already in the archive.
    HardLink,
    /// A sparse file, stored without runs of zeros, in any GNU tar format.
    Sparse,
    /// A symbolic link, a device, a pipe, or a type that only some tar programs support.
    Other,
    /// A member without a usable name or size. The text is the reason.
    Faulty(&'static str),
}

/// Metadata from the headers that precede a member.
#[derive(Default)]
struct Extended {
    path: Option<Vec<u8>>,
    size: Option<u64>,
    is_sparse: bool,
    fault: Option<&'static str>,
}

/// Maximum bytes kept after an archive's end, enough to recognize another archive.
const AFTER_END_BYTES: usize = BLOCK_BYTES;

/// The bytes after an archive's end.
pub struct AfterEnd {
    /// Offset of the first nonzero byte, in the decompressed archive.
    pub offset: u64,
    /// Number of bytes from that offset to the end.
    pub len: u64,
    /// The first bytes, at most [`AFTER_END_BYTES`].
    pub start: Vec<u8>,
}

/// A reader of archive members.
pub struct Members<R> {
    source: R,
    /// Bytes read so far.
    position: u64,
    /// Unread bytes in the current member's body.
    body: u64,
    /// Bytes between that body's end and the next header.
    padding: u64,
}

impl<R: Read> Members<R> {
    /// Creates a reader for an archive that begins at the current position in `source`.
    pub fn new(source: R) -> Members<R> {
        Members { source, position: 0, body: 0, padding: 0 }
    }

    /// Returns the next member, or `None` at the archive's end. Skips the rest of the previous body.
    ///
    /// # Errors
    /// Returns an error if the archive is unreadable or truncated, or has a malformed header.
    pub fn next(&mut self) -> io::Result<Option<Member>> {
        let mut extended = Extended::default();
        let mut is_inside = false;
        loop {
            self.skip_body()?;
            let start = self.position;
            let Some(header) = self.header()? else {
                // Otherwise a member announced by a long name or an extended header would be lost silently.
                return if is_inside { Err(cut(self.position)) } else { Ok(None) };
            };
            is_inside = true;
            let size = size_of(&header).map_err(|found| malformed(start, &found))?;
            self.open_body(size);
            match header.entry_type() {
                EntryType::GNULongName => self.long_name(&mut extended)?,
                EntryType::XHeader => self.extended_header(&mut extended)?,
                // Link targets are not used, and a global header does not describe one member.
                EntryType::GNULongLink => {}
                EntryType::XGlobalHeader => is_inside = false,
                kind => return self.member(&header, kind, extended).map(Some),
            }
        }
    }

    /// Returns the member described by a header and the preceding headers.
    fn member(&mut self, header: &Header, kind: EntryType, extended: Extended) -> io::Result<Member> {
        if kind == EntryType::GNUSparse {
            self.skip_sparse_headers(header)?;
        }
        let path = extended.path.unwrap_or_else(|| header.path_bytes().into_owned());
        if let Some(size) = extended.size {
            self.open_body(size);
        }
        let kind = match kind {
            _ if extended.fault.is_some() => MemberKind::Faulty(extended.fault.unwrap_or_default()),
            EntryType::GNUSparse => MemberKind::Sparse,
            _ if extended.is_sparse => MemberKind::Sparse,
            EntryType::Directory => MemberKind::Folder,
            // Before POSIX, a folder was a file whose name ended with a slash.
            EntryType::Regular if path.ends_with(b"/") => MemberKind::Folder,
            EntryType::Regular | EntryType::Continuous => MemberKind::File,
            EntryType::Link => MemberKind::HardLink,
            _ => MemberKind::Other,
        };
        Ok(Member { path, kind, size: self.body })
    }

    /// Returns the current member's body.
    pub fn body(&mut self) -> Body<'_, R> {
        Body(self)
    }

    /// Reads to the input's end. Returns the bytes after the archive's end, or `None` if all are zero.
    ///
    /// Reading to the end also verifies a compressed archive completely.
    ///
    /// # Errors
    /// Returns an error if the input is unreadable.
    pub fn after_end(&mut self) -> io::Result<Option<AfterEnd>> {
        let mut buffer = [0; 16 * BLOCK_BYTES];
        let mut after: Option<AfterEnd> = None;
        loop {
            let read = match self.source.read(&mut buffer) {
                Ok(0) => return Ok(after),
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let mut found = &buffer[..read];
            if after.is_none() {
                found = &found[found.iter().take_while(|&&byte| byte == 0).count()..];
            }
            if !found.is_empty() {
                let offset = self.position + (read - found.len()) as u64;
                let after = after.get_or_insert(AfterEnd { offset, len: 0, start: Vec::new() });
                after.len += found.len() as u64;
                let missing = AFTER_END_BYTES.saturating_sub(after.start.len());
                after.start.extend_from_slice(&found[..found.len().min(missing)]);
            }
            self.position += read as u64;
        }
    }

    /// Returns the next header, or `None` at a zero block or the input's end.
    fn header(&mut self) -> io::Result<Option<Header>> {
        let start = self.position;
        let mut header = Header::new_old();
        if !self.fill(header.as_mut_bytes())? || header.as_bytes().iter().all(|&byte| byte == 0) {
            return Ok(None);
        }
        let written = header.cksum().map_err(|error| malformed(start, &error.to_string()))?;
        if !checksums(header.as_bytes()).contains(&i64::from(written)) {
            let [unsigned, _] = checksums(header.as_bytes());
            return Err(malformed(start, &format!("its checksum is {written}, and its bytes give {unsigned}")));
        }
        Ok(Some(header))
    }

    /// Fills a block, or returns `false` if the input ends before it.
    fn fill(&mut self, block: &mut [u8; BLOCK_BYTES]) -> io::Result<bool> {
        let mut filled = 0;
        while filled < BLOCK_BYTES {
            match self.source.read(&mut block[filled..]) {
                Ok(0) if filled == 0 => return Ok(false),
                Ok(0) => return Err(cut(self.position + filled as u64)),
                Ok(read) => filled += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.position += BLOCK_BYTES as u64;
        Ok(true)
    }

    /// Begins a body of `size` bytes.
    fn open_body(&mut self, size: u64) {
        self.body = size;
        self.padding = size.next_multiple_of(BLOCK_BYTES as u64) - size;
    }

    /// Skips the rest of a body and its padding.
    fn skip_body(&mut self) -> io::Result<()> {
        let left = self.body + self.padding;
        (self.body, self.padding) = (0, 0);
        let skipped = io::copy(&mut self.source.by_ref().take(left), &mut io::sink())?;
        self.position += skipped;
        if skipped < left { Err(cut(self.position)) } else { Ok(()) }
    }

    /// Returns a metadata header's body, or `None` if it exceeds `limit` bytes.
    fn header_body(&mut self, limit: u64) -> io::Result<Option<Vec<u8>>> {
        if self.body > limit {
            return Ok(None);
        }
        let size = self.body as usize;
        let mut body = Vec::with_capacity(size);
        self.body().read_to_end(&mut body)?;
        Ok(Some(body))
    }

    /// Reads the next member's long name.
    fn long_name(&mut self, extended: &mut Extended) -> io::Result<()> {
        match self.header_body(MAX_NAME_BYTES)? {
            None => extended.fault = Some("its name is longer than the limit of 64 KiB"),
            Some(mut name) => {
                name.truncate(name.iter().position(|&byte| byte == 0).unwrap_or(name.len()));
                extended.path = Some(name);
            }
        }
        Ok(())
    }

    /// Reads an extended header's entries for the next member.
    fn extended_header(&mut self, extended: &mut Extended) -> io::Result<()> {
        let Some(body) = self.header_body(MAX_EXTENDED_BYTES)? else {
            extended.fault = Some("its extended header is longer than the limit of 1 MiB");
            return Ok(());
        };
        let mut rest = &body[..];
        while !rest.is_empty() {
            let Some((key, value, after)) = record(rest) else {
                extended.fault = Some("its extended header is malformed");
                return Ok(());
            };
            rest = after;
            match key {
                // Sparse files have their real path in a separate key, and a made-up name in this one.
                b"path" if !extended.is_sparse || extended.path.is_none() => extended.path = Some(value.to_vec()),
                b"GNU.sparse.name" => (extended.path, extended.is_sparse) = (Some(value.to_vec()), true),
                b"size" => match std::str::from_utf8(value).ok().and_then(|size| size.parse().ok()) {
                    Some(size) if size <= MAX_SIZE => extended.size = Some(size),
                    _ => extended.fault = Some("its extended header is malformed"),
                },
                key => extended.is_sparse |= key.starts_with(b"GNU.sparse."),
            }
        }
        Ok(())
    }

    /// Skips the headers that continue a sparse file's map. A flag byte in each says whether another one follows.
    fn skip_sparse_headers(&mut self, header: &Header) -> io::Result<()> {
        /// Flag positions in a GNU header and in a continuation header.
        const FLAG_IN_HEADER: usize = 482;
        const FLAG_IN_EXTENSION: usize = 504;
        let mut block = *header.as_bytes();
        let mut flag = FLAG_IN_HEADER;
        while block[flag] != 0 {
            if !self.fill(&mut block)? {
                return Err(cut(self.position));
            }
            flag = FLAG_IN_EXTENSION;
        }
        Ok(())
    }
}

/// Returns whether an input begins with a header.
///
/// Zeros are not a header: an archive without members looks like a file that contains only zeros, and has no robots.txt
/// either.
pub fn is_header(start: &[u8]) -> bool {
    let Some(block) = start.first_chunk::<BLOCK_BYTES>() else { return false };
    let mut header = Header::new_old();
    header.as_mut_bytes().copy_from_slice(block);
    header.cksum().is_ok_and(|written| checksums(block).contains(&i64::from(written)))
}

/// A reader that stops at the member's end, and fails if the archive ends earlier.
pub struct Body<'m, R>(&'m mut Members<R>);

impl<R: Read> Read for Body<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Body(members) = self;
        let wanted = buffer.len().min(usize::try_from(members.body).unwrap_or(usize::MAX));
        if wanted == 0 {
            return Ok(0);
        }
        let read = members.source.read(&mut buffer[..wanted])?;
        if read == 0 {
            return Err(cut(members.position));
        }
        members.position += read as u64;
        members.body -= read as u64;
        Ok(read)
    }
}

/// Maximum body size in bytes, small enough that sums of positions cannot overflow.
const MAX_SIZE: u64 = 1 << 62;

/// Returns the size in a header.
///
/// # Errors
/// Returns a description of the problem if the size is malformed, negative or too large.
fn size_of(header: &Header) -> Result<u64, String> {
    let field = &header.as_old().size;
    // Binary sizes are signed and have eleven bytes. The crate reads only the last eight.
    let is_binary = field[0] & 0x80 != 0;
    let fits = !is_binary || (field[0] == 0x80 && field[1..4] == [0; 3]);
    let size = header.entry_size().map_err(|error| error.to_string())?;
    if fits && size <= MAX_SIZE { Ok(size) } else { Err("its size is negative or more than any file has".into()) }
}

/// Returns a header's checksums: its byte sum, and the sum over signed bytes, which some old programs wrote.
fn checksums(header: &[u8; BLOCK_BYTES]) -> [i64; 2] {
    // The checksum field itself counts as spaces.
    let bytes = || header.iter().enumerate().map(|(at, &byte)| if (148..156).contains(&at) { b' ' } else { byte });
    [bytes().map(i64::from).sum(), bytes().map(|byte| i64::from(byte.cast_signed())).sum()]
}

/// Splits off the first record in an extended header, and returns its key, its value and the remaining bytes.
///
/// A record is `LENGTH KEY=VALUE\n`. The decimal length counts the whole record, so values may contain any byte.
fn record(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let digits = bytes.iter().position(|&byte| byte == b' ')?;
    let len: usize = std::str::from_utf8(&bytes[..digits]).ok()?.parse().ok()?;
    let (record, after) = bytes.split_at_checked(len)?;
    let text = record.get(digits + 1..)?.strip_suffix(b"\n")?;
    let equals = text.iter().position(|&byte| byte == b'=')?;
    Some((&text[..equals], &text[equals + 1..], after))
}

fn cut(position: u64) -> io::Error {
    io::Error::new(ErrorKind::UnexpectedEof, format!("it is cut: it ends at byte {position}, inside a member"))
}

fn malformed(position: u64, found: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("malformed header at byte {position}: {found}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a header, and a body that may be shorter than the header's size.
    fn entry(kind: u8, name: &[u8], size: u64, body: &[u8]) -> Vec<u8> {
        let mut header = Header::new_gnu();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name);
        header.as_mut_bytes()[156] = kind;
        header.set_size(size);
        header.set_cksum();
        let mut bytes = header.as_bytes().to_vec();
        bytes.extend_from_slice(body);
        bytes.resize(bytes.len().next_multiple_of(BLOCK_BYTES), 0);
        bytes
    }

    fn file(name: &str, body: &str) -> Vec<u8> {
        entry(b'0', name.as_bytes(), body.len() as u64, body.as_bytes())
    }

    fn pax(records: &[(&str, &str)]) -> Vec<u8> {
        let mut body = Vec::new();
        for (key, value) in records {
            let rest = key.len() + value.len() + 3;
            let len = (rest..).find(|&len| len == rest + len.to_string().len()).unwrap();
            body.extend_from_slice(format!("{len} {key}={value}\n").as_bytes());
        }
        entry(b'x', b"PaxHeaders/x", body.len() as u64, &body)
    }

    /// Returns each member as text, and the final error.
    fn read(bytes: &[u8]) -> (Vec<(String, MemberKind, String)>, Option<String>) {
        let mut members = Members::new(bytes);
        let mut found = Vec::new();
        loop {
            match members.next() {
                Ok(Some(Member { path, kind, .. })) => {
                    let mut body = String::new();
                    if let Err(error) = members.body().read_to_string(&mut body) {
                        return (found, Some(error.to_string()));
                    }
                    found.push((String::from_utf8(path).unwrap(), kind, body));
                }
                Ok(None) => return (found, None),
                Err(error) => return (found, Some(error.to_string())),
            }
        }
    }

    fn names(bytes: &[u8]) -> Vec<(String, MemberKind)> {
        let (found, error) = read(bytes);
        assert_eq!(error, None);
        found.into_iter().map(|(name, kind, _)| (name, kind)).collect()
    }

    #[test]
    fn long_names_and_extended_headers_apply_only_to_the_next_member() {
        let archive = [
            entry(b'L', b"././@LongLink", 8, b"long/er\0"),
            file("short", "1"),
            file("second", "2"),
            pax(&[("comment", "a\nb=c"), ("path", "wide"), ("size", "3")]),
            entry(b'0', b"short", 0, b"345"),
            entry(b'g', b"global", 3, b"???"),
            entry(b'K', b"././@LongLink", 5, b"where"),
            entry(b'2', b"link", 0, b""),
            entry(b'5', b"folder/", 0, b""),
            entry(b'0', b"old/", 0, b""),
            entry(b'1', b"hard", 0, b""),
        ]
        .concat();
        let (found, error) = read(&archive);
        assert_eq!(error, None);
        let found: Vec<_> = found.iter().map(|(name, kind, body)| (&**name, *kind, &**body)).collect();
        assert_eq!(
            found,
            [
                ("long/er", MemberKind::File, "1"),
                ("second", MemberKind::File, "2"),
                ("wide", MemberKind::File, "345"),
                ("link", MemberKind::Other, ""),
                ("folder/", MemberKind::Folder, ""),
                ("old/", MemberKind::Folder, ""),
                ("hard", MemberKind::HardLink, ""),
            ]
        );
    }

    #[test]
    fn longer_names_and_extended_headers_invalidate_one_member() {
        for (len, fits) in [(MAX_NAME_BYTES - 1, true), (MAX_NAME_BYTES, true), (MAX_NAME_BYTES + 1, false)] {
            let name = "n".repeat(len as usize);
            let found = names(&[entry(b'L', b"", len, name.as_bytes()), file("a", ""), file("b", "")].concat());
            let first = if fits { (name, MemberKind::File) } else { ("a".into(), found[0].1) };
            assert_eq!(found, [first, ("b".into(), MemberKind::File)]);
            assert_eq!(matches!(found[0].1, MemberKind::Faulty("its name is longer than the limit of 64 KiB")), !fits);
        }
        for (len, fits) in [(MAX_EXTENDED_BYTES - 1, true), (MAX_EXTENDED_BYTES, true), (MAX_EXTENDED_BYTES + 1, false)]
        {
            let record = format!("{len} path=");
            let name = "n".repeat(len as usize - record.len() - 1);
            let body = format!("{record}{name}\n");
            let found = names(&[entry(b'x', b"", len, body.as_bytes()), file("a", ""), file("b", "")].concat());
            let first = if fits { (name, MemberKind::File) } else { ("a".into(), found[0].1) };
            assert_eq!(found, [first, ("b".into(), MemberKind::File)]);
            let text = "its extended header is longer than the limit of 1 MiB";
            assert_eq!(found[0].1 == MemberKind::Faulty(text), !fits);
        }
    }

    #[test]
    fn sparse_files_are_recognized_in_all_three_formats() {
        let mut old = entry(b'S', b"old", 0, b"");
        old[482] = 1;
        let sum = checksums(old[..512].try_into().unwrap())[0];
        old[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        let mut extension = vec![0; 512];
        extension[504] = 1;
        old.extend_from_slice(&extension);
        old.extend_from_slice(&[0; 512]);
        let archive = [
            old,
            pax(&[("GNU.sparse.size", "5"), ("GNU.sparse.numblocks", "1")]),
            file("0.0", "x"),
            pax(&[("GNU.sparse.major", "1"), ("GNU.sparse.name", "1.0"), ("path", "made/up")]),
            file("made", "x"),
            file("next", ""),
        ]
        .concat();
        let expected = [
            ("old", MemberKind::Sparse),
            ("0.0", MemberKind::Sparse),
            ("1.0", MemberKind::Sparse),
            ("next", MemberKind::File),
        ];
        assert_eq!(names(&archive), expected.map(|(name, kind)| (name.to_owned(), kind)));
    }

    #[test]
    fn truncated_archives_are_errors_at_every_length() {
        let archive = [entry(b'L', b"", 5, b"name\0"), file("a", "12"), pax(&[("path", "b")]), file("x", "3")].concat();
        assert_eq!(read(&archive).1, None);
        // An archive may end only after a complete member.
        for len in 0..archive.len() {
            let error = read(&archive[..len]).1;
            assert_eq!(error.is_none(), len == 0 || len == 4 * 512, "{len}: {error:?}");
        }
    }

    #[test]
    fn wrong_sizes_and_checksums_are_errors() {
        let mut negative = entry(b'0', b"a", 1 << 40, b"");
        negative[124] = 0xff;
        let mut huge = entry(b'0', b"a", 1 << 40, b"");
        huge[125] = 1;
        for (bytes, says) in [(negative, "its size is negative"), (huge, "its size is negative")] {
            let mut bytes = bytes;
            let sum = checksums(bytes[..512].try_into().unwrap())[0];
            bytes[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
            let error = read(&bytes).1.unwrap();
            assert!(error.contains("at byte 0") && error.contains(says), "{error}");
        }
        for size in [1 << 33, MAX_SIZE] {
            assert!(read(&entry(b'0', b"a", size, b"x")).1.unwrap().contains("it is cut"));
        }
        assert!(read(&entry(b'0', b"a", MAX_SIZE + 1, b"x")).1.unwrap().contains("its size"));
        let mut damaged = file("a", "");
        damaged[0] = b'b';
        assert!(read(&damaged).1.unwrap().contains("its checksum is"));
    }

    #[test]
    fn malformed_extended_headers_invalidate_one_member() {
        for body in ["x", "9 path=a\n", "7 path=a\n", "9 pathaa\n", "12 size=-1\n\n", "11 size=1e\n"] {
            let archive = [entry(b'x', b"", body.len() as u64, body.as_bytes()), file("a", ""), file("b", "")].concat();
            let expected = [("a", MemberKind::Faulty("its extended header is malformed")), ("b", MemberKind::File)];
            if body != "9 path=a\n" {
                assert_eq!(names(&archive), expected.map(|(name, kind)| (name.to_owned(), kind)), "{body:?}");
            }
        }
    }

    #[test]
    fn bytes_after_the_end_are_reported() {
        for (after, more) in [
            (vec![], None),
            (vec![0; 5000], None),
            (file("b", ""), Some((1536, 512, 512))),
            ([vec![0; 9000], vec![b'x'; 9000]].concat(), Some((10536, 9000, 512))),
        ] {
            let archive = [file("a", ""), vec![0; 1024], after].concat();
            let mut members = Members::new(&archive[..]);
            while members.next().unwrap().is_some() {}
            let found = members.after_end().unwrap().map(|after| (after.offset, after.len, after.start.len()));
            assert_eq!(found, more);
        }
    }
}
