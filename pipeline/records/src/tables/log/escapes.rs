//! Escapes for characters that would end a field, and the original request behind them.

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use memchr::{memchr, memmem};

use super::Fault;

/// A program's way of writing the characters that its format reserves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escapes {
    /// As they are.
    None,
    /// As `%XX`. CloudFront encodes spaces, control characters, bytes that are not ASCII and the characters
    /// ``"#%<>[]\^`{|}~'``, so a percent sign that the client sent becomes `%25`. From 2013 to about 2019, user agents
    /// were encoded twice.
    Percent,
    /// IIS writes a plus sign instead of a space. It also decodes the path.
    Plus,
}

/// Characters that make a decoded path ambiguous: those that clients send encoded, and the plus sign.
const UNCLEAR: &[u8] = b"\"#%+<>?[\\]^`{|}";

/// Text that Application Request Routing adds to the query in a log, also in Azure App Service.
const ADDED: [&[u8]; 2] = [b"X-ARR-LOG-ID=", b"X-ARR-CACHE-HIT="];

impl Escapes {
    /// Returns a request's target and query as the client sent them.
    ///
    /// # Errors
    /// Returns an error if the client may have sent a different target or query.
    pub fn target<'b>(
        self,
        target: &'b [u8],
        query: Option<&'b [u8]>,
        arena: &'b Bump,
    ) -> Result<(&'b [u8], Option<&'b [u8]>), Fault> {
        match self {
            Escapes::None => Ok((target, query)),
            // A request line cannot contain the other bytes, so the client must have encoded them.
            Escapes::Percent => {
                let decoded = |text| decoded(text, |byte| byte > b' ' && byte < 0x7f, arena);
                Ok((decoded(target), query.map(decoded)))
            }
            Escapes::Plus => {
                let is_unclear = |byte: &u8| UNCLEAR.contains(byte);
                let has_added = |query| ADDED.iter().any(|text| memmem::find(query, text).is_some());
                let is_clear =
                    !target.iter().any(is_unclear) && str::from_utf8(target).is_ok() && !query.is_some_and(has_added);
                if is_clear { Ok((target, query)) } else { Err(Fault::TwoReadings) }
            }
        }
    }

    /// Returns a user agent as the client sent it.
    ///
    /// The client may have sent escapes itself. Decoding them is harmless, because a user agent is only a claim.
    pub fn agent<'b>(self, text: &'b [u8], arena: &'b Bump) -> &'b [u8] {
        let once = |text| decoded(text, |_| true, arena);
        match self {
            Escapes::None => text,
            Escapes::Percent => once(once(text)),
            Escapes::Plus if memchr(b'+', text).is_none() => text,
            Escapes::Plus => {
                let plain = arena.alloc_slice_copy(text);
                plain.iter_mut().filter(|byte| **byte == b'+').for_each(|byte| *byte = b' ');
                plain
            }
        }
    }
}

/// Decodes each `%XX` for which `is_it` accepts the byte. Other text is unchanged.
fn decoded<'b>(text: &'b [u8], is_it: impl Fn(u8) -> bool, arena: &'b Bump) -> &'b [u8] {
    if memchr(b'%', text).is_none() {
        return text;
    }
    let mut plain = BumpVec::with_capacity_in(text.len(), arena);
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        let digit = |at: usize| after.get(at).and_then(|&digit| char::from(digit).to_digit(16));
        let value = digit(0).zip(digit(1)).and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
        match value.filter(|&value| byte == b'%' && is_it(value)) {
            Some(value) => {
                plain.push(value);
                rest = &after[2..];
            }
            None => {
                plain.push(byte);
                rest = after;
            }
        }
    }
    plain.into_bump_slice()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_as_the_client_sent_them_or_have_two_readings() {
        let arena = Bump::new();
        let cases = [
            (Escapes::None, "/a%20b+c", "d%25", Some("/a%20b+c?d%25")),
            (Escapes::Percent, "/a", "b=c+d", Some("/a?b=c+d")),
            // The client sent %20, %C3%A9, %2F and %25.
            (Escapes::Percent, "/a%2520b", "c=%25C3%25a9%252F%2525", Some("/a%20b?c=%C3%a9%2F%25")),
            // It sent the characters themselves.
            (Escapes::Percent, "/%7Ea/it%27s", "b%5B0%5D=%7C", Some("/~a/it's?b[0]=|")),
            // These stay encoded, because they would end the URL, or have the same meaning.
            (Escapes::Percent, "/a%20b%0Ac%7f", "%C3%A9%00", Some("/a%20b%0Ac%7f?%C3%A9%00")),
            (Escapes::Percent, "/a%", "%2%zz%+f", Some("/a%?%2%zz%+f")),
            (Escapes::Plus, "/a/b", "c=%20+d", Some("/a/b?c=%20+d")),
            (Escapes::Plus, "/\u{e9}", "%", Some("/\u{e9}?%")),
            (Escapes::Plus, "/a+b", "c", None),
            (Escapes::Plus, "/a%2520b", "c", None),
            (Escapes::Plus, "/a?b", "c", None),
            (Escapes::Plus, "/a#b", "c", None),
            (Escapes::Plus, "/a[0]", "c", None),
            (Escapes::Plus, "/it's(~)", "c[0]", Some("/it's(~)?c[0]")),
            (Escapes::Plus, "/a", "X-ARR-LOG-ID=0-1", None),
            (Escapes::Plus, "/a", "b=c&X-ARR-CACHE-HIT=0&X-ARR-LOG-ID=0-1", None),
        ];
        for (escapes, target, query, expected) in cases {
            let found = escapes.target(target.as_bytes(), Some(query.as_bytes()), &arena);
            let joined = found.map(|(target, query)| [target, b"?", query.unwrap()].concat());
            assert_eq!(joined, expected.map(|text| text.as_bytes().to_vec()).ok_or(Fault::TwoReadings), "{target}");
        }
        // The code page of another log encoding.
        assert_eq!(Escapes::Plus.target(b"/\xe9", None, &arena), Err(Fault::TwoReadings));
    }

    #[test]
    fn user_agents_are_decoded() {
        for (escapes, text, expected) in [
            (Escapes::None, "a%20b+c", "a%20b+c"),
            (Escapes::Percent, "a/1%20(+https://b;%20%22c%22)", "a/1 (+https://b; \"c\")"),
            (Escapes::Percent, "a/1%2520(+https://b)", "a/1 (+https://b)"),
            (Escapes::Percent, "100%", "100%"),
            (Escapes::Plus, "a/1+(+https://b)", "a/1 ( https://b)"),
            (Escapes::Plus, "a/1%20", "a/1%20"),
        ] {
            assert_eq!(escapes.agent(text.as_bytes(), &Bump::new()), expected.as_bytes(), "{text}");
        }
    }
}
