//! Findings about lines that decide no URL: empty, malformed or duplicate `Sitemap`, `Host` and `Crawl-delay` lines.

use core::net::{Ipv4Addr, Ipv6Addr};
use std::collections::HashMap;

use reptile_engine::url::split;

use super::characters::{Plain, odd_characters, quote};
use super::codes::Code;
use super::data::words::{PRIVATE_ENDINGS, PRIVATE_HOSTS, STAGING_LABELS};
use super::findings::{Findings, Fix, Severity};
use super::keys::REMOVE_HOST;
use super::values::{placeholder, unrendered};
use crate::body::directives::{crawl_delay, host, is_sitemap};
use crate::limits::MAX_DIRECTIVES;

/// The directives read so far, to find duplicates.
#[derive(Default)]
pub(super) struct Directives<'b> {
    /// The first [`MAX_DIRECTIVES`] sitemaps, with their lines. Sets store no more per file either.
    sitemaps: HashMap<&'b [u8], u32>,
    host: Option<u32>,
    /// The line of the current group's delay.
    delay: Option<u32>,
}

impl<'b> Directives<'b> {
    /// Records a user-agent line.
    pub(super) fn begin_group(&mut self) {
        self.delay = None;
    }

    /// Adds the findings about a `Sitemap` line.
    pub(super) fn sitemap(&mut self, number: u32, value: &'b [u8], found: &mut Findings) {
        if value.is_empty() {
            empty(number, "Sitemap", found);
            return;
        }
        if let Some(plain) = Plain::of(value) {
            let effect = || "they belong to the URL, so search engines do not find the sitemap".into();
            let remedy = || format!("write \"Sitemap: {}\"", quote(plain.without_quotes()));
            odd_characters(number, &plain, plain.is_certain, effect, remedy, found);
            return;
        }
        if placeholder(value).is_some() || unrendered(value).is_some() {
            found.add(number, Code::Placeholder, Severity::Error, || {
                let message = format!("\"{}\" is a placeholder, not the URL of a sitemap", quote(value));
                (message.into(), Some("write the sitemap's URL, or remove the line".into()))
            });
            return;
        }
        sitemap_host(number, value, found);
        if !is_sitemap(value) {
            found.add(number, Code::SitemapUrl, Severity::Error, || {
                let value = quote(value);
                let message = format!("\"{value}\" is not a complete URL, which search engines require for a sitemap");
                let is_path = value.starts_with('/') && !value.starts_with("//");
                let fix =
                    if is_path { "put the scheme and host before it" } else { "write one URL, with scheme and host" };
                (message.into(), Some(fix.into()))
            });
        }
        if let Some(first) = self.sitemaps.get(value) {
            doubled(number, *first, found, Some(Fix::Remove));
        } else if self.sitemaps.len() < MAX_DIRECTIVES {
            self.sitemaps.insert(value, number);
        }
    }

    /// Adds the findings about a line whose key decides nothing.
    pub(super) fn other(&mut self, number: u32, key: &[u8], value: &[u8], found: &mut Findings) {
        if key.eq_ignore_ascii_case(b"host") {
            self.host(number, value, found);
        } else if key.eq_ignore_ascii_case(b"crawl-delay") {
            self.delay(number, value, found);
        }
    }

    fn host(&mut self, number: u32, value: &[u8], found: &mut Findings) {
        if value.is_empty() {
            empty(number, "Host", found);
            return;
        }
        if host(value).is_none() {
            found.add(number, Code::HostValue, Severity::Warning, || {
                let message = format!("\"{}\" is not a host name", quote(value));
                (message.into(), Some(REMOVE_HOST.into()))
            });
            // A malformed line supersedes no other.
            return;
        }
        match self.host {
            Some(first) => doubled(number, first, found, None),
            None => self.host = Some(number),
        }
    }

    fn delay(&mut self, number: u32, value: &[u8], found: &mut Findings) {
        if value.is_empty() {
            empty(number, "Crawl-delay", found);
            return;
        }
        match crawl_delay(value) {
            None => {
                found.add(number, Code::CrawlDelayValue, Severity::Warning, || {
                    (format!("\"{}\" is not a number of seconds", quote(value)).into(), None)
                });
                // A malformed line supersedes no other.
                return;
            }
            Some(_) if !value.iter().all(u8::is_ascii_digit) => {
                found.add(number, Code::CrawlDelayValue, Severity::Note, || {
                    (format!("Bing reads only whole seconds, not \"{}\"", quote(value)).into(), None)
                });
            }
            Some(_) => {}
        }
        match self.delay {
            Some(first) => doubled(number, first, found, None),
            None => self.delay = Some(number),
        }
    }
}

/// Finds a sitemap on a host that search engines cannot reach, or that is probably not the site's own.
fn sitemap_host(number: u32, value: &[u8], found: &mut Findings) {
    let Ok(url) = split(value) else { return };
    let host = String::from_utf8_lossy(url.origin.host).to_ascii_lowercase();
    let own = found.host.as_deref().map(|own| own.to_ascii_lowercase());
    // The robots.txt of the private or staging host itself.
    if own.as_deref() == Some(host.as_bytes()) {
        return;
    }
    let remedy = "write the sitemap's URL on the public site";
    if is_private(&host) {
        found.add(number, Code::SitemapHost, Severity::Error, || {
            let message = format!("search engines cannot fetch a sitemap from \"{}\"", quote(host.as_bytes()));
            (message.into(), Some(remedy.into()))
        });
        return;
    }
    let label = host.split('.').next().unwrap_or_default();
    let words = label.split(['-', '_']).map(|word| word.trim_end_matches(|end: char| end.is_ascii_digit()));
    let is_staging = host.matches('.').count() > 1 && words.into_iter().any(|word| STAGING_LABELS.contains(&word));
    if is_staging {
        found.add(number, Code::SitemapHost, Severity::Warning, || {
            let message = format!("\"{}\" looks like a copy of the site for tests", quote(host.as_bytes()));
            (message.into(), Some(remedy.into()))
        });
    }
}

/// Returns whether a host can be reached only from a private network or from the computer itself.
fn is_private(host: &str) -> bool {
    if let Some(address) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        return address.parse::<Ipv6Addr>().is_ok_and(|address| {
            let first = address.segments()[0];
            address.is_loopback() || address.is_unspecified() || first & 0xFE00 == 0xFC00 || first & 0xFFC0 == 0xFE80
        });
    }
    if let Ok(address) = host.parse::<Ipv4Addr>() {
        return address.is_private() || address.is_loopback() || address.is_link_local() || address.octets()[0] == 0;
    }
    PRIVATE_HOSTS.contains(&host) || !host.contains('.') || PRIVATE_ENDINGS.iter().any(|ending| host.ends_with(ending))
}

fn empty(number: u32, key: &'static str, found: &mut Findings) {
    found.add(number, Code::EmptyValue, Severity::Warning, || {
        (format!("\"{key}\" has no value: the line has no effect").into(), Some(Fix::Remove))
    });
}

/// Adds a finding about a duplicate directive. Without `fix` the values differ, and the author must choose.
fn doubled(number: u32, first: u32, found: &mut Findings, fix: Option<Fix>) {
    found.add(number, Code::DuplicateDirective, Severity::Note, || {
        let message = match fix {
            Some(_) => format!("the same as line {first}"),
            None => format!("line {first} takes precedence"),
        };
        (message.into(), fix)
    });
}
