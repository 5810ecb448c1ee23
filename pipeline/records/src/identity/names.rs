//! Names of addresses that were resolved elsewhere.

use std::collections::HashMap;
use std::net::IpAddr;

use reptile::crawlers::DNS_SUFFIXES;

use super::lines::lines;
use crate::shown::shown;

/// Maximum size of a table of names in bytes: about 60 bytes for each of [`MAX_NAMES`] names.
pub const MAX_NAMES_BYTES: usize = 256 << 20;

/// Maximum number of names, which bounds the memory for them: about 40 bytes each.
pub const MAX_NAMES: usize = 4 << 20;

/// The rows of [`DNS_SUFFIXES`] with a domain of one of an address's names, as bits, by address.
#[derive(Debug)]
pub struct Names(HashMap<IpAddr, u32>);

impl Names {
    /// Parses lines with an address, a tab and a name; at most `limit`. An address with several names has several
    /// lines.
    pub fn parse(bytes: &[u8], limit: usize) -> Result<Names, String> {
        let mut rows = HashMap::new();
        for (count, (number, line)) in lines(bytes).enumerate() {
            if count == limit {
                return Err(format!("expected at most {MAX_NAMES} names, found more"));
            }
            let (address, name) = row_of(line).ok_or_else(|| {
                format!("line {number}: expected an address, a tab and a name that was resolved, found {}", shown(line))
            })?;
            *rows.entry(address).or_default() |= rows_with(name);
        }
        Ok(Names(rows))
    }

    /// Returns the number of addresses.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether one of an address's names is in a row of [`DNS_SUFFIXES`], or `None` for an unknown address.
    pub fn is_in(&self, address: IpAddr, row: usize) -> Option<bool> {
        self.0.get(&address).map(|rows| rows & (1 << row) != 0)
    }
}

/// Returns a line's address and name.
fn row_of(line: &[u8]) -> Option<(IpAddr, &str)> {
    let (address, name) = str::from_utf8(line).ok()?.split_once('\t')?;
    let name = name.strip_suffix('.').unwrap_or(name);
    let is_name = !name.is_empty() && !name.starts_with('.') && !name.contains(|c: char| c.is_whitespace());
    let address: IpAddr = address.parse().ok().filter(|_| is_name)?;
    Some((address.to_canonical(), name))
}

/// Returns the rows of [`DNS_SUFFIXES`] with a domain that is the name or contains it, as bits.
fn rows_with(name: &str) -> u32 {
    const { assert!(DNS_SUFFIXES.len() <= u32::BITS as usize, "a row is a bit") };
    let is_in = |suffix: &str| {
        let start = name.len().checked_sub(suffix.len());
        let is_label = |start: usize| start == 0 || name.as_bytes()[start - 1] == b'.';
        start.is_some_and(|start| name.as_bytes()[start..].eq_ignore_ascii_case(suffix.as_bytes()) && is_label(start))
    };
    let rows = DNS_SUFFIXES.iter().enumerate().filter(|(_, row)| row.suffixes.iter().any(|suffix| is_in(suffix)));
    rows.fold(0, |bits, (at, _)| bits | 1 << at)
}
