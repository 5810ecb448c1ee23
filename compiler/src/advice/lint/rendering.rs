//! Finds rules that close style sheets and scripts to crawlers that render pages.

use bumpalo::Bump;
use memchr::{memchr, memchr2, memchr3_iter, memmem, memrchr};
use reptile_engine::format::FormatError;
use reptile_engine::norm::{NormalForm, Pattern};
use reptile_engine::set::{Agent, Policy, Set};
use reptile_engine::verdict::{RuleKind, Verdict};

use super::characters::quote;
use super::codes::Code;
use super::data::assets::{ASSETS, Assets, RENDERERS};
use super::differences::{MAX_COMPARED_BYTES, ORIGIN, compiled};
use super::findings::{Findings, Fix, Severity};
use crate::body::{RawRule, Robots};
use crate::dialect::Dialect;
use crate::dialect::crawlers::{self, Resolved};

/// Maximum number of rules checked per file. Later rules are not checked.
pub(super) const MAX_RENDERING_RULES: usize = 1000;

/// Endings of style sheets and scripts.
const ENDINGS: [&str; 2] = [".css", ".js"];

/// Returns the texts of [`ENDINGS`] and then of [`ASSETS`], without final slashes, which a rule may lack.
fn known_texts() -> impl Iterator<Item = &'static [u8]> {
    let folders = ASSETS.iter().map(|assets| assets.text.trim_end_matches('/'));
    let texts = ENDINGS.into_iter().chain(folders.map(|text| text.strip_prefix("/?").map_or(text, |_| &text[1..])));
    texts.map(str::as_bytes)
}

/// Returns the ends and the numbers of the [`known_texts`] in a rule, in order. Each begins with `/`, `.` or `?`.
fn texts_in(value: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for start in memchr3_iter(b'/', b'.', b'?', value) {
        let rest = &value[start..];
        // Most texts differ in the second byte.
        let is_like = |text: &[u8]| {
            let has_second = |byte: &u8| rest.get(1).is_some_and(|second| second.eq_ignore_ascii_case(byte));
            text.first() == rest.first() && text.get(1).is_none_or(has_second)
        };
        for (number, text) in known_texts().enumerate().filter(|(_, text)| is_like(text)) {
            if rest.get(..text.len()).is_some_and(|part| part.eq_ignore_ascii_case(text)) {
                found.push((start + text.len(), number));
            }
        }
    }
    found.sort_unstable();
    found
}

/// A rule that may close style sheets or scripts.
struct Candidate<'r> {
    rule: &'r RawRule<'r>,
    /// The folder, or `None` if the rule contains the ending of a style sheet or script.
    assets: Option<&'static Assets>,
    /// Paths that the rule closes.
    samples: Vec<Vec<u8>>,
}

/// Finds rules that close style sheets or scripts to a crawler that renders pages.
pub(super) fn rendering(body: &[u8], robots: &Robots<'_>, dialect: &Dialect, found: &mut Findings) {
    if body.len() > MAX_COMPARED_BYTES {
        return;
    }
    let rules = robots.groups.iter().flat_map(|group| group.rules);
    let closing = rules.filter(|rule| rule.kind == RuleKind::Disallow && !rule.value.is_empty());
    let candidates: Vec<_> = closing.filter_map(|rule| candidate(rule, body)).take(MAX_RENDERING_RULES).collect();
    if candidates.is_empty() {
        return;
    }
    let Some(set) = compiled(body, dialect, &Bump::new()) else { return };
    // A freshly compiled set is not damaged.
    let _ = check(&candidates, &set, dialect, found);
}

/// Returns the candidate for a rule that contains a file ending, a folder's name, or the beginning of a name that is
/// not common.
fn candidate<'r>(rule: &'r RawRule<'r>, body: &[u8]) -> Option<Candidate<'r>> {
    let value = rule.value;
    let has = |text: &str| memmem::find(body, text.as_bytes()).is_some();
    let is_seen =
        |assets: &Assets| has(assets.evidence) && (assets.counter_evidence.is_empty() || !has(assets.counter_evidence));
    let closed = |samples: Vec<Vec<u8>>| -> Option<Vec<Vec<u8>>> {
        let pattern = NormalForm::Escaped.pattern(value);
        let closed: Vec<_> = samples.into_iter().filter(|sample| Pattern::new(&pattern).matches(sample)).collect();
        (!closed.is_empty()).then_some(closed)
    };
    let of = |assets: &'static Assets, samples| {
        closed(samples).filter(|_| is_seen(assets)).map(|samples| Candidate { rule, assets: Some(assets), samples })
    };
    let mut best: Option<Candidate<'r>> = None;
    for (end, number) in texts_in(value) {
        let next = match ASSETS.get(number.wrapping_sub(ENDINGS.len())) {
            None => closed(file_samples(value, end)).map(|samples| Candidate { rule, assets: None, samples }),
            Some(assets) => of(assets, folder_samples(assets, value, end)),
        };
        // The longest folder names the platform best.
        let len = |candidate: &Candidate<'_>| candidate.assets.map_or(0, |assets| assets.text.len());
        if next.as_ref().map(len) > best.as_ref().map(len) || best.is_none() {
            best = next.or(best);
        }
    }
    best.or_else(|| {
        let start = memchr2(b'*', b'$', value).map_or(value, |end| &value[..end]);
        // A rule for a whole parent folder closes more than assets.
        let is_part = start.len() >= MIN_PREFIX_BYTES && !start.ends_with(b"/");
        let begins = |assets: &&Assets| !assets.is_common && assets.text.as_bytes().starts_with(start);
        let assets = ASSETS.iter().filter(|_| is_part).find(begins)?;
        of(assets, assets.samples.map(|sample| sample.as_bytes().to_vec()).to_vec())
    })
}

/// Minimum length in bytes of a rule that is the beginning of a folder's name. A shorter rule covers many folders.
const MIN_PREFIX_BYTES: usize = 4;

/// Returns the sample paths in a folder whose name ends at `end` in a rule.
fn folder_samples(assets: &Assets, value: &[u8], end: usize) -> Vec<Vec<u8>> {
    let own = assets.samples.map(|sample| sample.as_bytes().to_vec());
    let rest = value.get(end..).unwrap_or_default();
    let is_folder = assets.text.ends_with('/');
    if !is_folder || !matches!(rest.first(), None | Some(b'/' | b'*')) {
        return if is_folder { Vec::new() } else { own.to_vec() };
    }
    // The rule's own folder. The text before the name may be any folder.
    let name = end + 1 - assets.text.len();
    // A common name may be written in capitals.
    let (before, from) = if assets.is_common { (end, assets.text.len() - 1) } else { (name, 0) };
    let before = path_of(&value[..before]);
    let derived = assets.samples.map(|sample| [&before, &sample.as_bytes()[from..]].concat());
    let after = path_of(value);
    let inside = ENDINGS.map(|ending| [&after, ending.as_bytes()].concat());
    let names_file = after.rsplit(|&byte| byte == b'/').next().is_some_and(|last| last.contains(&b'.'));
    let is_own = matches!(assets.text, "/css/" | "/js/") && !matches!(rest, b"" | b"/" | b"*" | b"/*") && !names_file;
    derived.into_iter().chain(own).chain(inside.into_iter().filter(|_| is_own)).collect()
}

/// Returns the path of a rule in which the ending of a style sheet or script ends at `end`.
fn file_samples(value: &[u8], end: usize) -> Vec<Vec<u8>> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
    if value.get(end).is_some_and(is_word) { Vec::new() } else { vec![path_of(value)] }
}

/// Returns a path that a rule matches, with a letter for each wildcard.
fn path_of(value: &[u8]) -> Vec<u8> {
    let value = value.strip_suffix(b"$").unwrap_or(value);
    let mut path = Vec::with_capacity(value.len() + 2);
    for &byte in value {
        if path.is_empty() && byte != b'/' {
            path.push(b'/');
        }
        path.push(if byte == b'*' { b'x' } else { byte });
    }
    NormalForm::Escaped.path(&path).into_owned()
}

/// Adds a finding for each candidate that decides one of its paths for a crawler that renders pages.
fn check(
    candidates: &[Candidate<'_>],
    set: &Set<Vec<u8>>,
    dialect: &Dialect,
    found: &mut Findings,
) -> Result<(), FormatError> {
    let Some(policy) = set.policy(&ORIGIN)? else { return Ok(()) };
    let mut renderers: Vec<(&str, Agent)> = Vec::with_capacity(RENDERERS.len());
    let known = |name: &&str| crawlers::ALL.iter().find(|known| known.name == *name);
    for known in RENDERERS.iter().filter_map(known) {
        let tokens = known.tokens.iter().map(|token| token.as_bytes().to_vec()).collect();
        let name = known.name.to_owned();
        let agent = Resolved { name, tokens, honors_default_group: known.honors_default_group }.look_up(set)?;
        if policy.decide(&agent, b"/")? == Verdict::Allow {
            renderers.push((known.name, agent));
        }
    }
    for candidate in candidates {
        let mut denied: Vec<&str> = Vec::new();
        for (name, agent) in &renderers {
            found.step();
            if decides(candidate, &policy, agent)? {
                denied.push(name);
            }
        }
        if !denied.is_empty() {
            report(candidate, &denied, dialect, found);
        }
    }
    Ok(())
}

fn decides(candidate: &Candidate<'_>, policy: &Policy<'_>, agent: &Agent) -> Result<bool, FormatError> {
    for sample in &candidate.samples {
        let answer = policy.explain(agent, sample)?;
        let line = answer.disallow.map(|rule| rule.line);
        if answer.verdict == Verdict::Disallow && line == Some(candidate.rule.line) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn report(candidate: &Candidate<'_>, denied: &[&str], dialect: &Dialect, found: &mut Findings) {
    let value = candidate.rule.value;
    // A rule for one file was written on purpose.
    let is_file = candidate.assets.is_none() && memchr2(b'*', b'?', value).is_none();
    let severity = if is_file { Severity::Note } else { Severity::Warning };
    found.add(candidate.rule.line, Code::BlocksRendering, severity, || {
        let what = match candidate.assets {
            None => "blocks style sheets or scripts".into(),
            Some(Assets { platform: "", text, .. }) => format!("blocks style sheets or scripts, usually in {text}"),
            Some(Assets { platform, text, .. }) if text.starts_with("/?") => {
                format!("blocks style sheets and scripts with {} in their addresses ({platform})", &text[1..])
            }
            Some(Assets { platform, text, samples, .. }) if !text.ends_with('/') => {
                format!("blocks style sheets and scripts of {platform}, such as {} and {}", samples[0], samples[1])
            }
            Some(Assets { platform, text, .. }) => {
                format!("blocks style sheets and scripts of {platform}, which serves them from {text}")
            }
        };
        let message = format!("{what}: crawlers that render pages ({}) do not see them", denied.join(", "));
        (message.into(), Some(remedy(candidate, is_file, dialect)))
    });
}

/// Returns advice that opens style sheets and scripts again, and little else.
fn remedy(candidate: &Candidate<'_>, is_file: bool, dialect: &Dialect) -> Fix {
    if is_file {
        return "allow the file if pages need it".into();
    }
    let opening = opening_rules(candidate);
    if opening.is_empty() || !dialect.has_wildcards() {
        return "remove the rule, or allow the files that pages need".into();
    }
    let rules: Vec<String> = opening.iter().map(|value| format!("\"Allow: {}\"", quote(value))).collect();
    format!("add {}", rules.join(", ")).into()
}

/// Returns the folder of an asset that a rule with this text before its final wildcards closes, or the text itself if
/// it does not end with a folder's name.
fn folder_of(path: &[u8], start: &[u8], assets: &Assets) -> Vec<u8> {
    let with_slash = [start, b"/"].concat();
    let folder = path.strip_prefix(start).and_then(|rest| Some(&path[..=start.len() + memchr(b'/', rest)?]));
    let is_known =
        |folder: &&[u8]| *folder == with_slash || ASSETS.iter().any(|known| known.text.as_bytes() == *folder);
    match folder.filter(is_known) {
        _ if start.ends_with(b"/") => start.to_vec(),
        Some(folder) => folder.to_vec(),
        None if with_slash.ends_with(assets.text.as_bytes()) => with_slash,
        None => start.to_vec(),
    }
}

/// Returns the values of rules that open the style sheets and scripts in a candidate's folders: with each ending, alone
/// and with a query. A final wildcard would also open files with longer endings, such as `.json`. Empty if the rule is
/// not about folders.
fn opening_rules(candidate: &Candidate<'_>) -> Vec<Vec<u8>> {
    let Some(assets) = candidate.assets else { return Vec::new() };
    let value = candidate.rule.value;
    if memchr2(b'?', b'$', value).is_some() {
        return Vec::new();
    }
    let start = value.iter().rposition(|&byte| byte != b'*').map_or(value, |last| &value[..=last]);
    let (mut folders, mut endings): (Vec<Vec<u8>>, Vec<&[u8]>) = (Vec::new(), Vec::new());
    for sample in &candidate.samples {
        let path = &sample[..memchr(b'?', sample).unwrap_or(sample.len())];
        let ending = memrchr(b'.', path).map_or(&b""[..], |dot| &path[dot..]);
        if ![&b".css"[..], b".js", b".json"].contains(&ending) {
            return Vec::new();
        }
        let folder = folder_of(path, start, assets);
        if !folders.contains(&folder) {
            folders.push(folder);
        }
        if !endings.contains(&ending) {
            endings.push(ending);
        }
    }
    let in_folder = |folder: &Vec<u8>| -> Vec<Vec<u8>> {
        let each = endings.iter().flat_map(|ending| [b"$", b"?"].map(|end| [folder, &b"*"[..], ending, end].concat()));
        each.collect()
    };
    folders.iter().flat_map(in_folder).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::lint::lint;
    use crate::dialect::GOOGLE_LIB;

    /// Returns the lines with the finding.
    fn lines(body: &str) -> Vec<u32> {
        let found = lint(body.as_bytes(), &GOOGLE_LIB, u32::MAX).findings;
        found.iter().filter(|finding| finding.code == Code::BlocksRendering).map(|finding| finding.line).collect()
    }

    #[test]
    fn closed_assets_are_found_if_a_crawler_renders_without_them() {
        let everyone = |rules: &str| format!("User-agent: *\n{rules}");
        let cases: &[(String, &[u32])] = &[
            (everyone("Disallow: /wp-includes/"), &[2]),
            (everyone("Disallow: /wp-"), &[2]),
            (everyone("Disallow: /wp"), &[2]),
            (everyone("Disallow: /wp*"), &[2]),
            (everyone("Disallow: /JS/"), &[2]),
            (everyone("Disallow: /wp/"), &[]),
            (everyone("Disallow: /wp-login.php"), &[]),
            (everyone("Disallow: /themes\nDisallow: /concrete"), &[2, 3]),
            (everyone("Disallow: /js/\nAllow: /js/*.js$\nAllow: /js/*.js?"), &[]),
            (everyone("Disallow: /blog/wp-includes"), &[2]),
            (everyone("Disallow: */wp-content/themes/*"), &[2]),
            (everyone("Disallow: /_next/"), &[2]),
            (everyone("Disallow: /_next/static/chunks/"), &[2]),
            (everyone("Disallow: /_nuxt"), &[2]),
            (everyone("Disallow: /static/"), &[2]),
            (everyone("Disallow: /assets"), &[2]),
            (everyone("Disallow: /assets-old"), &[]),
            (everyone("Disallow: /*?v="), &[2]),
            (everyone("Disallow: *?ver=*"), &[2]),
            (everyone("Disallow: /*?*"), &[]),
            (everyone("Disallow: /wp-admin/\nDisallow: /*?"), &[3]),
            (everyone("Disallow: /wp-admin/"), &[]),
            (everyone("Disallow: /wp-content/uploads/"), &[]),
            (everyone("Disallow: /modules/"), &[]),
            (everyone("Disallow: /modules/\nDisallow: /profiles/"), &[2]),
            (everyone("Disallow: /scripts/"), &[2]),
            (everyone("Disallow: /scripts/\nDisallow: /profiles/"), &[]),
            (everyone("Disallow: /media/"), &[]),
            (everyone("Disallow: /media/\nDisallow: /administrator/"), &[2]),
            (everyone("Disallow: /*.css$"), &[2]),
            (everyone("Disallow: /a.json"), &[]),
            // The whole site is closed, or the files are open.
            (everyone("Disallow: /\nDisallow: /wp-includes/"), &[]),
            (everyone("Disallow: /wp-includes/\nAllow: /wp-includes/*.css\nAllow: /wp-includes/*.js"), &[]),
            (everyone("Disallow: /static/\nAllow: /static/*.css$\nAllow: /static/*.js$"), &[]),
            // No crawler that renders obeys the group.
            ("User-agent: GPTBot\nDisallow: /_next/".into(), &[]),
            ("User-agent: bingbot\nDisallow: /_next/".into(), &[2]),
            ("User-agent: Googlebot-Image\nDisallow: /_next/".into(), &[]),
        ];
        for (body, expected) in cases {
            assert_eq!(lines(body), *expected, "{body}");
        }
        for assets in ASSETS.iter() {
            let rule = assets.text.strip_prefix("/?").map_or(assets.text.into(), |query| format!("/*?{query}"));
            let body = format!("User-agent: *\nDisallow: {rule}\n# {}\n", assets.evidence);
            assert_eq!(lines(&body).first(), Some(&2), "{}", assets.text);
        }
    }

    /// The remedy opens each asset that its rule closes, and neither other files nor the folder itself.
    #[test]
    fn remedies_open_the_assets_and_little_else() {
        let mut count = 0;
        let spellings = ["{}", "{-}", "{}*", "{-}*", "*{}", "*{-}"];
        for (assets, spelling) in ASSETS.iter().flat_map(|assets| spellings.map(|spelling| (assets, spelling))) {
            let text = assets.text;
            let value = spelling.replace("{}", text).replace("{-}", text.trim_end_matches('/'));
            let body = format!("User-agent: *\nDisallow: {value}\n# {}\n", assets.evidence);
            let found = lint(body.as_bytes(), &GOOGLE_LIB, u32::MAX).findings;
            let Some(fix) = found.iter().find(|finding| finding.code == Code::BlocksRendering) else { continue };
            let fix = fix.fix.as_ref().unwrap().to_string();
            let Some(rules) = fix.strip_prefix("add ") else { continue };
            count += 1;
            let body = rules.split(", ").fold(body, |body, rule| format!("{body}{}\n", rule.trim_matches('"')));
            assert_eq!(lines(&body), [0_u32; 0], "{body}");
            let google = Resolved { name: "b".into(), tokens: vec![b"b".to_vec()], honors_default_group: true };
            let is_open =
                |path: &str| crate::oracle::decide_for(body.as_bytes(), &GOOGLE_LIB, &google, path.as_bytes()).allowed;
            for sample in assets.samples {
                let path = sample.split('?').next().unwrap_or(sample);
                let (stem, _) = path.rsplit_once('.').unwrap();
                assert!(is_open(path) && is_open(&format!("{path}?ver=1")), "{body}{path}");
                for other in [format!("{path}x"), format!("{path}/x"), format!("{stem}.xml"), format!("{text}x.php")] {
                    assert!(!is_open(&other), "{body}{other}");
                }
            }
        }
        assert!(count > 5 * 60, "{count}");
    }

    #[test]
    fn short_beginnings_of_a_folder_are_about_many() {
        let text = "/_nuxt/";
        for (len, is_found) in [(MIN_PREFIX_BYTES - 1, false), (MIN_PREFIX_BYTES, true), (MIN_PREFIX_BYTES + 1, true)] {
            assert_eq!(!lines(&format!("User-agent: *\nDisallow: {}", &text[..len])).is_empty(), is_found, "{len}");
        }
    }

    #[test]
    fn later_rules_are_not_checked() {
        for count in [MAX_RENDERING_RULES - 1, MAX_RENDERING_RULES, MAX_RENDERING_RULES + 1] {
            let rules: String = (0..count).map(|n| format!("Disallow: /{n}/js/\n")).collect();
            assert_eq!(lines(&format!("User-agent: *\n{rules}")).len(), count.min(MAX_RENDERING_RULES));
        }
    }
}
