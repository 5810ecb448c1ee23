//! The registered domain of a host, by the Public Suffix List.
//!
//! The list is code that is compiled with its caller. In this separate crate it is compiled once, not with every change
//! of the command.

#![forbid(unsafe_code)]

use psl::Type;

/// Returns the domain that one owner controls: one label below a suffix such as `co.uk` or, for customers of a hosting
/// company, `github.io`.
///
/// Returns `None` for a host that is itself a suffix. The host must be in lower case, with A-labels, and not an
/// address.
///
/// ```
/// assert_eq!(reptile_domains::own_domain(b"www.someone.github.io"), Some(&b"someone.github.io"[..]));
/// assert_eq!(reptile_domains::own_domain(b"github.io"), None);
/// ```
#[must_use]
#[inline(never)]
pub fn own_domain(host: &[u8]) -> Option<&[u8]> {
    psl::domain(host).map(|domain| domain.as_bytes())
}

/// Returns the domain registered with a registry, one label below a suffix such as `co.uk`.
///
/// A host without a registered domain, such as an address, is returned unchanged. The host must be in lower case, with
/// A-labels. Suffixes that belong to companies, such as `github.io`, do not count, so the domain equals the column
/// `url_host_registered_domain` of Common Crawl's index.
///
/// ```
/// assert_eq!(reptile_domains::registered_domain(b"www.example.co.uk"), b"example.co.uk");
/// assert_eq!(reptile_domains::registered_domain(b"someone.github.io"), b"github.io");
/// assert_eq!(reptile_domains::registered_domain(b"192.0.2.1"), b"192.0.2.1");
/// ```
#[must_use]
#[inline(never)]
pub fn registered_domain(host: &[u8]) -> &[u8] {
    let is_address = host.starts_with(b"[") || host.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    if is_address {
        return host;
    }
    let mut rest = host;
    while let Some(suffix) = psl::suffix(rest) {
        let len = suffix.as_bytes().len();
        if suffix.typ() != Some(Type::Private) {
            let Some(labels) = host[..host.len() - len].strip_suffix(b".") else { return host };
            let label = memchr::memrchr(b'.', labels).map_or(0, |dot| dot + 1);
            return &host[label..];
        }
        // The company's own domain is below a registry's suffix.
        let Some(dot) = memchr::memchr(b'.', suffix.as_bytes()) else { return host };
        rest = &host[host.len() - len + dot + 1..];
    }
    host
}
