//! Challenge pages: browser tests that a firewall serves instead of the requested file.
//!
//! Such a page says nothing about the site's rules. It may have any status, including 200 and 202, and crawlers that
//! parse it as a robots.txt find no rules (TecharoHQ/anubis issue 1865). [`challenger_of_header`] recognizes the
//! response header that marks a challenge page, and [`challenger_of`] the page itself. Each fingerprint names its
//! source.

use std::sync::LazyLock;

use memchr::memmem;
use reptile_engine::verdict::Challenger;

use super::format::{BodyFormat, begins_with_tag, document_of};
use super::lines::{Line, Lines, line_of};
use crate::dialect::LENIENT;
use crate::limits::MAX_CHALLENGE_BYTES;

/// A response header that marks a product's challenge pages.
struct Header {
    name: &'static str,
    /// The values, in lower case.
    values: &'static [&'static str],
    challenger: Challenger,
}

const HEADERS: [Header; 4] = [
    // developers.cloudflare.com, "Detect a Challenge Page response": all challenge pages have it, and no other
    // responses.
    Header { name: "cf-mitigated", values: &["challenge"], challenger: Challenger::CLOUDFLARE },
    // AWS WAF API reference, ChallengeAction (status 202) and CaptchaAction (status 405).
    Header { name: "x-amzn-waf-action", values: &["challenge", "captcha"], challenger: Challenger::AWS_WAF },
    // Publicly recorded responses: 202 with this header and a refresh to /.well-known/sgcaptcha/.
    Header { name: "sg-captcha", values: &["challenge"], challenger: Challenger::SITEGROUND },
    // microlinkhq/is-antibot, provider vercel. Vercel sends it with 403 or 429.
    Header { name: "x-vercel-mitigated", values: &["challenge"], challenger: Challenger::VERCEL },
];

/// Texts that occur together in a product's challenge page, but not in other pages on sites that use the product.
struct Fingerprint {
    /// A part of a text, which consecutive fingerprints may share. Searched for first, because most pages do not have
    /// it. A part of up to 32 bytes takes a faster search than a longer text.
    rare: &'static str,
    texts: &'static [&'static str],
    challenger: Challenger,
}

const fn fingerprint(challenger: Challenger, rare: &'static str, texts: &'static [&'static str]) -> Fingerprint {
    Fingerprint { rare, texts, challenger }
}

const FINGERPRINTS: [Fingerprint; 12] = [
    // TecharoHQ/anubis, the page template: the challenge data, which is in the page in every language.
    fingerprint(Challenger::ANUBIS, "anubis", &["id=\"anubis_challenge\""]),
    // The same template before version 1.16, which has only the script.
    fingerprint(Challenger::ANUBIS, "anubis", &["/.within.website/x/cmd/anubis/static/js/main.mjs"]),
    // cloudflare-docs and cloudscraper issues: the title, and the path of the challenge scripts. Ordinary pages may
    // contain the path too.
    fingerprint(
        Challenger::CLOUDFLARE,
        "/cdn-cgi/challenge-platform/",
        &["/cdn-cgi/challenge-platform/", "<title>Just a moment...</title>"],
    ),
    // The challenge script's options, in a page in any language.
    fingerprint(
        Challenger::CLOUDFLARE,
        "/cdn-cgi/challenge-platform/",
        &["/cdn-cgi/challenge-platform/", "_cf_chl_opt"],
    ),
    // docs.aws.amazon.com, the Challenge action's script, and the variable that its interstitial page sets.
    fingerprint(Challenger::AWS_WAF, "gokuProps", &["gokuProps", "AwsWafIntegration"]),
    fingerprint(Challenger::AWS_WAF, "gokuProps", &["gokuProps", "awswaf.com/"]),
    // docs.capsolver.com, "DataDome": the page loads its slider or device check from this host, using this variable.
    fingerprint(Challenger::DATADOME, "captcha-delivery.com/", &["captcha-delivery.com/", "var dd="]),
    // Publicly recorded responses: the frame that loads the challenge. Ordinary pages, and the refusals of 2019,
    // contain only the resource.
    fingerprint(
        Challenger::IMPERVA,
        "_Incapsula_Resource",
        &["<iframe id=\"main-iframe\" src=\"/_Incapsula_Resource?"],
    ),
    // Anorov/cloudflare-scrape issues 76 and 277: the page that sets a cookie.
    fingerprint(
        Challenger::SUCURI,
        "sucuri_cloudproxy_js",
        &["sucuri_cloudproxy_js", "<title>You are being redirected...</title>"],
    ),
    // git.gammaspectra.live/git/go-away: the assets of its challenge pages, in every template.
    fingerprint(
        Challenger::GO_AWAY,
        ".git.gammaspectra.live",
        &["/.well-known/.git.gammaspectra.live/git/go-away/cmd/go-away/"],
    ),
    // Publicly recorded responses, including the one in TecharoHQ/anubis issue 1865: a refresh to the captcha.
    fingerprint(Challenger::SITEGROUND, "sgcaptcha", &["http-equiv=\"refresh\"", "/.well-known/sgcaptcha/"]),
    // The page of Vercel's firewall.
    fingerprint(Challenger::VERCEL, "Vercel Security Checkpoint", &["<title>Vercel Security Checkpoint</title>"]),
];

/// Finds each fingerprint's rare part. Built once.
static RARE_PARTS: LazyLock<[memmem::Finder<'static>; FINGERPRINTS.len()]> =
    LazyLock::new(|| FINGERPRINTS.each_ref().map(|fingerprint| memmem::Finder::new(fingerprint.rare)));

/// Returns a response header's name in lower case if a product marks its challenge pages with this header.
#[must_use]
pub fn challenge_header(name: &str) -> Option<&'static str> {
    HEADERS.iter().map(|header| header.name).find(|known| known.eq_ignore_ascii_case(name))
}

/// Returns the product that marks its challenge pages with this response header, if any.
///
/// The value may be a list, as from repeated headers.
///
/// Letter case is ignored in both name and value.
///
/// ```
/// use reptile_compiler::capture::challenger_of_header;
/// let found = challenger_of_header("CF-Mitigated", "challenge");
/// assert_eq!(found.and_then(|challenger| challenger.name()), Some("Cloudflare"));
/// assert_eq!(challenger_of_header("x-vercel-mitigated", "deny"), None);
/// ```
#[must_use]
pub fn challenger_of_header(name: &str, value: &str) -> Option<Challenger> {
    let header = HEADERS.iter().find(|header| header.name.eq_ignore_ascii_case(name))?;
    let is_challenge = |value: &str| header.values.iter().any(|known| known.eq_ignore_ascii_case(value.trim()));
    value.split(',').any(is_challenge).then_some(header.challenger)
}

/// Returns the product whose challenge page this is, if any.
///
/// The body must be a web page, and contain all texts of a fingerprint in its first [`MAX_CHALLENGE_BYTES`]
/// bytes. Takes linear time, but reads only the beginning of other bodies.
pub(crate) fn challenger_of(body: &[u8]) -> Option<Challenger> {
    if !begins_with_tag(body) {
        return None;
    }
    let start = &body[..body.len().min(MAX_CHALLENGE_BYTES)];
    // One search per text. The automaton for all texts takes ten times as long on a page without any.
    let is_there = |text: &&str| memmem::find(start, text.as_bytes()).is_some();
    let mut missing = "";
    let found = FINGERPRINTS.iter().zip(&*RARE_PARTS).find(|(fingerprint, finder)| {
        if missing == fingerprint.rare || finder.find(start).is_none() {
            missing = fingerprint.rare;
            return false;
        }
        fingerprint.texts.iter().all(is_there)
    });
    // Checked last, because a page that begins with a comment is searched for directives.
    let (fingerprint, _) = found.filter(|_| document_of(body).is_some_and(BodyFormat::has_tags))?;
    Some(fingerprint.challenger)
}

/// Returns whether any dialect may read a rule in a body: whether an `Allow` or `Disallow` line follows a user-agent
/// line, as recognized by the most lenient dialect.
///
/// Time: linear.
pub(crate) fn has_rule(body: &[u8]) -> bool {
    let mut has_agent = false;
    Lines::new(body, LENIENT.byte_order_mark).any(|line| match line_of(line, LENIENT, &mut |_| ()) {
        Some(Line::Agent(_)) => {
            has_agent = true;
            false
        }
        Some(Line::Rule(..)) => has_agent,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a page with these texts.
    fn page(texts: &[&str]) -> String {
        format!("<!DOCTYPE html><html><head>{}</head></html>", texts.join("\n"))
    }

    #[test]
    fn fingerprints_are_recognized_only_as_a_whole() {
        let mut compared = 0;
        for fingerprint in &FINGERPRINTS {
            let name = fingerprint.challenger.name().unwrap();
            assert_eq!(challenger_of(page(fingerprint.texts).as_bytes()), Some(fingerprint.challenger), "{name}");
            // The page structure and every text are required.
            assert_eq!(challenger_of(format!("# {}", fingerprint.texts.join("\n# ")).as_bytes()), None, "{name}");
            for left_out in fingerprint.texts {
                let rest: Vec<&str> = fingerprint.texts.iter().copied().filter(|text| text != left_out).collect();
                assert_eq!(challenger_of(page(&rest).as_bytes()), None, "{name} without {left_out}");
                compared += 1;
            }
        }
        assert_eq!(compared, 19);
    }

    #[test]
    fn rare_parts_occur_in_their_fingerprints() {
        for Fingerprint { rare, texts, .. } in &FINGERPRINTS {
            assert!(rare.len() <= 32 && texts.iter().any(|text| text.contains(rare)), "{rare}");
        }
    }

    #[test]
    fn real_pages_are_recognized() {
        for (body, name) in [
            (
                "<!doctype html><html lang=\"en\"><head><title>Making sure you&#39;re not a bot!</title><script \
                 id=\"anubis_version\" type=\"application/json\">\"1.26\"</script><script id=\"anubis_challenge\" \
                 type=\"application/json\">{\"rules\":{}}</script>",
                Some("Anubis"),
            ),
            (
                "\u{feff}\n<html><head><meta http-equiv=\"refresh\" content=\"0;/.well-known/sgcaptcha/?r=%2Frobots.txt\">",
                Some("SiteGround"),
            ),
            ("<meta http-equiv=\"refresh\" content=\"0;/.well-known/sgcaptcha/?r=%2F&y=ipc:1\">", Some("SiteGround")),
            (
                "<html><title>You are being redirected...</title>\n<script>var s={},sucuri_cloudproxy_js='',S='';",
                Some("Sucuri"),
            ),
            // An article about challenge pages, a page protected by one of the products, and a robots.txt that mentions
            // one.
            ("<html><title>Just a moment...</title><p>This is what Cloudflare says.", None),
            ("<html><script src=\"/cdn-cgi/challenge-platform/scripts/jsd/main.js\"></script>", None),
            (
                "<html style=\"height:100%\"><body><iframe id=\"main-iframe\" src=\"/_Incapsula_Resource?SWUDNSAI=31&xinfo=1\">",
                Some("Imperva"),
            ),
            ("<html><script src=\"/_Incapsula_Resource?SWJIYLWA=1\"></script>", None),
            (
                "<html><iframe src=\"/_Incapsula_Resource?SWUDNSAI=9\">Request unsuccessful. Incapsula incident ID: 1",
                None,
            ),
            ("user-agent: *\ndisallow: /.well-known/sgcaptcha/\ndisallow: /cdn-cgi/challenge-platform/\n", None),
            ("", None),
        ] {
            assert_eq!(challenger_of(body.as_bytes()).and_then(Challenger::name), name, "{body}");
        }
    }

    #[test]
    fn the_search_stops_at_the_limit() {
        let text = FINGERPRINTS[0].texts[0];
        for (end, is_found) in
            [(MAX_CHALLENGE_BYTES - 1, true), (MAX_CHALLENGE_BYTES, true), (MAX_CHALLENGE_BYTES + 1, false)]
        {
            let body = format!("<html>{}{text}", " ".repeat(end - text.len() - 6));
            assert_eq!(body.len(), end);
            assert_eq!(challenger_of(body.as_bytes()).is_some(), is_found, "{end}");
        }
    }

    #[test]
    fn headers_count_with_their_value() {
        for (name, value, expected) in [
            ("CF-Mitigated", " Challenge ", Some("Cloudflare")),
            ("cf-mitigated", "block", None),
            ("cf-mitigated", "challenge, challenge", Some("Cloudflare")),
            ("cf-mitigated", "challenged", None),
            ("cf-mitigated", "", None),
            ("cf-ray", "challenge", None),
            ("x-amzn-waf-action", "challenge", Some("AWS WAF")),
            ("x-amzn-waf-action", "captcha", Some("AWS WAF")),
            ("SG-Captcha", "challenge", Some("SiteGround")),
            ("X-Vercel-Mitigated", "challenge", Some("Vercel")),
            ("X-Vercel-Mitigated", "deny", None),
        ] {
            assert_eq!(challenger_of_header(name, value).and_then(Challenger::name), expected, "{name}: {value}");
        }
    }

    #[test]
    fn rules_are_recognized_as_leniently_as_in_any_dialect() {
        for (body, expected) in [
            ("<html>\nuser-agent: *\ndisallow: /\n", true),
            ("<html>\nUseragent *\nDissalow /\n", true),
            ("<html>\nuser-agent: *\nallow: /\n", true),
            ("<html>\ndisallow: /\nuser-agent: *\n", false),
            ("<html>\ndisallow: /\n", false),
            ("<html>\nuser-agent: *\nsitemap: /x\n", false),
            ("<html>user-agent: *\ndisallow: /\n", false),
            ("", false),
        ] {
            assert_eq!(has_rule(body.as_bytes()), expected, "{body}");
        }
    }
}
