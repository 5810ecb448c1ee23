//! Minimizes a difference: removes lines from robots.txt, then characters, and characters from the URL, as long as both
//! sides keep their verdicts (delta debugging after Zeller and Hildebrandt, 2002).

/// Maximum number of questions per difference.
pub const MAX_QUESTIONS: usize = 1_500;

/// Maximum size in bytes of a robots.txt that is reduced by single characters.
const MAX_CHARACTERS: usize = 2_000;

/// A question to both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferingCase {
    /// The robots.txt.
    pub body: Vec<u8>,
    /// The crawler.
    pub agent: Vec<u8>,
    /// The URL.
    pub url: Vec<u8>,
}

/// A search and its remaining number of questions.
struct Minimizer<'s> {
    differs: &'s mut dyn FnMut(&DifferingCase) -> bool,
    left: usize,
}

impl Minimizer<'_> {
    fn ask(&mut self, case: &DifferingCase) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        (self.differs)(case)
    }

    /// Removes as many parts as possible, in ever smaller runs. `put` builds a case from the remaining parts.
    fn shrink(&mut self, mut parts: Vec<Vec<u8>>, put: &dyn Fn(&[Vec<u8>]) -> DifferingCase) -> Vec<Vec<u8>> {
        let mut run = parts.len().div_ceil(2).max(1);
        loop {
            let mut start = 0;
            let mut is_smaller = false;
            while start < parts.len() {
                let end = (start + run).min(parts.len());
                let rest = [&parts[..start], &parts[end..]].concat();
                if self.ask(&put(&rest)) {
                    parts = rest;
                    is_smaller = true;
                } else {
                    start = end;
                }
            }
            if self.left == 0 || run == 1 && !is_smaller {
                return parts;
            }
            if run > 1 {
                run = run.div_ceil(2);
            }
        }
    }
}

/// Returns the smallest case found that still differs, using at most [`MAX_QUESTIONS`] calls of `differs`. The original
/// case must differ. The crawler does not change.
pub fn minimize(mut case: DifferingCase, differs: &mut dyn FnMut(&DifferingCase) -> bool) -> DifferingCase {
    let search = &mut Minimizer { differs, left: MAX_QUESTIONS };
    for _ in 0..2 {
        let before = case.clone();
        case.body = {
            let put = |parts: &[Vec<u8>]| DifferingCase { body: parts.concat(), ..case.clone() };
            search.shrink(lines(&case.body), &put).concat()
        };
        case.url = smaller_url(search, &case);
        if case.body.len() <= MAX_CHARACTERS {
            let put = |parts: &[Vec<u8>]| DifferingCase { body: parts.concat(), ..case.clone() };
            let body = search.shrink(atoms(&case.body), &put).concat();
            case.body = body;
        }
        if case == before {
            break;
        }
    }
    case
}

/// Returns the URL without unnecessary path characters, and with a plain origin if possible.
fn smaller_url(search: &mut Minimizer<'_>, case: &DifferingCase) -> Vec<u8> {
    const PLAIN: &[u8] = b"https://a.example";
    let authority = case.url.windows(3).position(|window| window == b"://").map_or(0, |at| at + 3);
    let path =
        case.url[authority..].iter().position(|byte| b"/?#".contains(byte)).unwrap_or(case.url.len() - authority);
    let (mut start, path) = case.url.split_at(if authority == 0 { 0 } else { authority + path });
    if authority > 0 && search.ask(&DifferingCase { url: [PLAIN, path].concat(), ..case.clone() }) {
        start = PLAIN;
    }
    let put = |parts: &[Vec<u8>]| DifferingCase { url: [start, &parts.concat()].concat(), ..case.clone() };
    let path = search.shrink(characters(path), &put).concat();
    [start, &path].concat()
}

/// Splits a body into lines, including their line ends (LF, CR, or both).
fn lines(body: &[u8]) -> Vec<Vec<u8>> {
    let mut lines = vec![Vec::new()];
    for (index, &byte) in body.iter().enumerate() {
        if let Some(line) = lines.last_mut() {
            line.push(byte);
        }
        if byte == b'\n' || byte == b'\r' && body.get(index + 1) != Some(&b'\n') {
            lines.push(Vec::new());
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// Splits a text into characters, and into bytes where it is not UTF-8.
fn characters(text: &[u8]) -> Vec<Vec<u8>> {
    let mut characters = Vec::new();
    for chunk in text.utf8_chunks() {
        characters.extend(chunk.valid().chars().map(|character| character.to_string().into_bytes()));
        characters.extend(chunk.invalid().iter().map(|&byte| vec![byte]));
    }
    characters
}

/// Splits a body into characters, but keeps lines that name crawlers whole, as well as keys with their colons:
/// shortening them would cause another difference.
fn atoms(body: &[u8]) -> Vec<Vec<u8>> {
    let mut atoms = Vec::new();
    for line in lines(body) {
        let key = line.iter().position(|&byte| byte == b':').map_or(0, |colon| colon + 1);
        let names = line.trim_ascii_start().get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"user"));
        if names {
            let end = line.len() - line.iter().rev().take_while(|byte| b"\r\n".contains(byte)).count();
            atoms.push(line[..end].to_vec());
            atoms.extend(characters(&line[end..]));
            continue;
        }
        if key > 0 {
            atoms.push(line[..key].to_vec());
        }
        atoms.extend(characters(&line[key..]));
    }
    atoms
}

#[cfg(test)]
mod tests {
    use super::*;
    use reptile_compiler::dialect::{Dialect, GOOGLE_LIB, KOSTER_1996, RFC9309, YANDEX};
    use reptile_compiler::oracle::decide;

    /// Minimizes a difference between two dialects.
    fn planted(body: &str, url: &str, one: &Dialect, other: &Dialect) -> (String, String, usize) {
        let case = DifferingCase { body: body.into(), agent: b"FooBot".into(), url: url.into() };
        let verdicts = |case: &DifferingCase| {
            let by = |dialect| decide(&case.body, dialect, &case.agent, &case.url).allowed;
            (by(one), by(other))
        };
        let wanted = verdicts(&case);
        assert_ne!(wanted.0, wanted.1, "no difference to begin with");
        let mut asked = 0;
        let small = minimize(case, &mut |case| {
            asked += 1;
            verdicts(case) == wanted
        });
        assert_eq!(verdicts(&small), wanted);
        (String::from_utf8(small.body).unwrap(), String::from_utf8(small.url).unwrap(), asked)
    }

    /// Returns rules that are irrelevant to the difference.
    fn noise(lines: usize) -> String {
        (0..lines).map(|n| format!("Disallow: /noise/{n}/\nSitemap: https://a.example/{n}.xml\n")).collect()
    }

    #[test]
    fn minimizes_a_blank_line_in_a_group() {
        let body = format!("User-agent: FooBot\n{}\nDisallow: /private/area\n{}", noise(50), noise(50));
        let (body, url, asked) = planted(&body, "https://www.b.example:8080/private/area/1?x", &RFC9309, &YANDEX);
        assert_eq!((&*body, &*url), ("User-agent: FooBot\n\nDisallow:/", "https://a.example"));
        assert!(asked <= MAX_QUESTIONS, "{asked}");
    }

    #[test]
    fn minimizes_rule_order() {
        let body = format!("User-agent: *\nDisallow: /shop\n{}Allow: /shop/open\nDisallow: /z\n", noise(20));
        let (body, url, _) = planted(&body, "https://a.example/shop/open?page=17", &RFC9309, &KOSTER_1996);
        assert_eq!((&*body, &*url), ("User-agent: *\nDisallow:/\nAllow:/", "https://a.example"));
    }

    #[test]
    fn typos_in_keys_are_kept() {
        let body = format!("User-agent: *\r\nDissallow: /long/path$\r\n{}", noise(5));
        let (body, url, _) = planted(&body, "https://a.example/long/path", &GOOGLE_LIB, &RFC9309);
        assert_eq!((&*body, &*url), ("User-agent: *\nDissallow:/", "https://a.example"));
    }

    #[test]
    fn questions_are_limited() {
        // Removing more than half of the lines always ends the difference, so that the search is at its slowest.
        let body: String = (0..5000).map(|n| format!("a{n}\n")).collect();
        let case = DifferingCase { body: body.into_bytes(), agent: Vec::new(), url: b"/".into() };
        let mut asked = 0;
        let small = minimize(case.clone(), &mut |smaller| {
            asked += 1;
            smaller.body.len() * 2 > case.body.len()
        });
        assert_eq!(asked, MAX_QUESTIONS);
        assert!(small.body.len() * 2 > case.body.len());
    }

    #[test]
    fn parts_concatenate_to_the_whole() {
        for text in [&b"a\r\nb\rc\n\nd"[..], b"", b"User-agent: x\r\nDisallow: \xFF\xC3\xA9\n:", b"\r\r\n"] {
            assert_eq!(lines(text).concat(), text);
            assert_eq!(atoms(text).concat(), text);
            assert_eq!(characters(text).concat(), text);
        }
        assert_eq!(lines(b"a\r\nb\rc").len(), 3);
        assert_eq!(atoms(b"Disallow: /a\n").len(), 1 + 4);
    }
}
