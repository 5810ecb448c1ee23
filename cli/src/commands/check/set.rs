//! The set that decides the rows: compiled from the robots.txt files, and asked for a host's policy.

use reptile::contents::{FormatError, Policy, Set};
use reptile::urls::{OriginRef, origin_of, split};
use reptile::{CompiledSet, Dialect, Scheme};

use super::args::Args;
use crate::error::{Result, damaged};
use crate::options::{CompileOptions, Omitted, SetOptions};
use crate::sets::assemble::assemble;
use reptile_records::Inputs;

/// The host that a single file is compiled for.
const ANY_HOST: &str = "localhost";

/// Returns the set that decides the rows, without other directives.
///
/// # Errors
/// Returns an error if the robots.txt files cannot be read.
pub fn compiled(dialect: &'static Dialect, one_for_all: bool, robots: Inputs<'_>) -> Result<CompiledSet> {
    let options = CompileOptions {
        set: SetOptions {
            dialect: Some(dialect),
            host: one_for_all.then(|| ANY_HOST.to_owned()),
            ..SetOptions::default()
        },
        omit: vec![Omitted::Other],
        ..CompileOptions::default()
    };
    Ok(assemble(robots, &options)?.0)
}

/// Returns the set of these bytes, which were just compiled and so need no check.
///
/// # Errors
/// Returns an error if the header is invalid.
pub fn opened<'s>(args: &Args, bytes: &'s [u8]) -> Result<Set<&'s [u8]>> {
    Set::from_bytes(bytes).map_err(|error| damaged(args.robots(), &error))
}

/// Returns the policy for a host, under the first scheme that has one, or for a URL's origin. `None` if the host is not
/// in the set.
pub fn policy_of<'s>(
    set: &'s Set<&[u8]>,
    one_for_all: bool,
    host: &[u8],
) -> std::result::Result<Option<Policy<'s>>, FormatError> {
    if one_for_all {
        return set.policy(&OriginRef { scheme: Scheme::Http, host: ANY_HOST.as_bytes(), port: 80 });
    }
    if let Ok(url) = split(host) {
        return set.policy(&url.origin);
    }
    for scheme in Scheme::ALL {
        let Ok(origin) = origin_of(scheme, host) else { return Ok(None) };
        if let Some(policy) = set.policy(&origin)? {
            return Ok(Some(policy));
        }
    }
    Ok(None)
}
