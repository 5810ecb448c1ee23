//! Lists of address ranges: the JSON that operators publish (draft-illyes-webbotauth-jafar-00), and plain lists.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use reptile::capture::Time;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::lines::lines;
use crate::shown::shown;
use crate::time::{Zone, read_time};

/// Maximum size of a list of address ranges in bytes. The largest published list is smaller than a mebibyte.
pub const MAX_LIST_BYTES: usize = 64 << 20;

/// Maximum number of prefixes in all lists together, which bounds the memory for them. All published lists together have
/// some ten thousand.
pub const MAX_PREFIXES: usize = 1 << 20;

/// The form of a published list, for messages.
const FORM: &str = r#"expected {"creationTime": "2026-11-28T00:00:00", "prefixes": [{"ipv4Prefix": "192.0.2.0/24"}]}, or a plain list"#;

/// A list of address ranges.
#[derive(Debug)]
pub struct List {
    pub prefixes: Prefixes,
    pub created: Option<Time>,
    pub services: Vec<String>,
}

impl List {
    /// Parses a list with at most `limit` prefixes. The first byte shows whether it is JSON.
    pub fn parse(bytes: &[u8], limit: usize) -> Result<List, String> {
        let list = match bytes.trim_ascii_start() {
            [b'{' | b'[', ..] => List::of_json(bytes)?,
            _ => List::of_lines(bytes, limit)?,
        };
        match list.prefixes.len() {
            0 => Err("has no address; expected a list of address ranges".into()),
            count if count > limit => Err(too_many()),
            _ => Ok(list),
        }
    }

    fn of_json(bytes: &[u8]) -> Result<List, String> {
        let published: Published = serde_json::from_slice(bytes).map_err(|error| format!("{FORM}: {error}"))?;
        let mut prefixes = Prefixes::default();
        let mut services = Vec::new();
        for Prefix { net, service } in published.prefixes {
            prefixes.push(net);
            services.extend(service);
        }
        services.sort_unstable();
        services.dedup();
        Ok(List { prefixes, created: published.created, services })
    }

    fn of_lines(bytes: &[u8], limit: usize) -> Result<List, String> {
        let mut prefixes = Prefixes::default();
        for (number, line) in lines(bytes) {
            let net = str::from_utf8(line).map_err(|_| not_a_prefix(line)).and_then(net_of);
            prefixes.push(net.map_err(|text| format!("line {number}: {text}"))?);
            if prefixes.len() > limit {
                return Err(too_many());
            }
        }
        Ok(List { prefixes, created: None, services: Vec::new() })
    }
}

fn too_many() -> String {
    format!("expected at most {MAX_PREFIXES} prefixes in all lists together, found more")
}

/// A published list. Other members are ignored.
#[derive(Deserialize)]
struct Published {
    #[serde(rename = "creationTime", default, deserialize_with = "time")]
    created: Option<Time>,
    prefixes: Vec<Prefix>,
}

#[derive(Deserialize)]
#[serde(try_from = "PrefixMembers")]
struct Prefix {
    net: IpNet,
    service: Option<String>,
}

#[derive(Deserialize)]
struct PrefixMembers {
    #[serde(rename = "ipv4Prefix")]
    ipv4: Option<String>,
    #[serde(rename = "ipv6Prefix")]
    ipv6: Option<String>,
    service: Option<String>,
}

impl TryFrom<PrefixMembers> for Prefix {
    type Error = String;

    fn try_from(members: PrefixMembers) -> Result<Prefix, String> {
        let PrefixMembers { ipv4, ipv6, service } = members;
        let (text, is_ipv4) = match (ipv4, ipv6) {
            (Some(text), None) => (text, true),
            (None, Some(text)) => (text, false),
            _ => return Err("expected \"ipv4Prefix\" or \"ipv6Prefix\"".into()),
        };
        let net = net_of(&text)?;
        // IPv4-mapped prefixes are written as IPv6.
        if matches!(net, IpNet::V4(_)) != is_ipv4 && !text.contains(':') || is_ipv4 && text.contains(':') {
            let version = if is_ipv4 { "IPv4" } else { "IPv6" };
            return Err(format!("expected an {version} prefix, found {}", shown(text.as_bytes())));
        }
        Ok(Prefix { net, service })
    }
}

fn time<'de, D: Deserializer<'de>>(text: D) -> Result<Option<Time>, D::Error> {
    let text = Option::<String>::deserialize(text)?;
    text.map(|text| {
        read_time(&text, &Zone::default()).map_err(|error| D::Error::custom(format!("creationTime: {error}")))
    })
    .transpose()
}

/// Parses an address or a CIDR prefix. IPv4-mapped IPv6 is IPv4.
fn net_of(text: &str) -> Result<IpNet, String> {
    let parsed = match text.contains('/') {
        true => text.parse::<IpNet>().ok(),
        false => text.parse::<IpAddr>().ok().map(IpNet::from),
    };
    let net = parsed.ok_or_else(|| not_a_prefix(text.as_bytes()))?;
    if net.trunc() != net {
        return Err(format!("expected no address bits after the prefix, such as {}, found {net}", net.trunc()));
    }
    let mapped = match net {
        IpNet::V6(net) if net.prefix_len() >= 96 => net.addr().to_ipv4_mapped().map(|ip| (ip, net.prefix_len() - 96)),
        _ => None,
    };
    Ok(mapped.and_then(|(ip, len)| Ipv4Net::new(ip, len).ok()).map_or(net, IpNet::V4))
}

fn not_a_prefix(text: &[u8]) -> String {
    format!("expected an address or a prefix such as 192.0.2.0/24, found {}", shown(text))
}

/// Address prefixes.
#[derive(Debug, Default)]
pub struct Prefixes {
    ipv4: Vec<Ipv4Net>,
    ipv6: Vec<Ipv6Net>,
}

impl Prefixes {
    pub fn len(&self) -> usize {
        self.ipv4.len() + self.ipv6.len()
    }

    fn push(&mut self, net: IpNet) {
        match net {
            IpNet::V4(net) => self.ipv4.push(net),
            IpNet::V6(net) => self.ipv6.push(net),
        }
    }

    /// Returns the prefixes of several lists, sorted and without overlaps.
    pub fn union<'p>(lists: impl Iterator<Item = &'p Prefixes>) -> Prefixes {
        let mut all = Prefixes::default();
        for list in lists {
            all.ipv4.extend(&list.ipv4);
            all.ipv6.extend(&list.ipv6);
        }
        Prefixes { ipv4: Ipv4Net::aggregate(&all.ipv4), ipv6: Ipv6Net::aggregate(&all.ipv6) }
    }

    /// Returns whether a prefix of a [`Prefixes::union`] contains an address. Time: logarithmic.
    pub fn contains(&self, address: IpAddr) -> bool {
        match address {
            IpAddr::V4(address) => contains_ipv4(&self.ipv4, address),
            IpAddr::V6(address) => contains_ipv6(&self.ipv6, address),
        }
    }
}

fn contains_ipv4(nets: &[Ipv4Net], address: Ipv4Addr) -> bool {
    let after = nets.partition_point(|net| net.addr() <= address);
    after.checked_sub(1).is_some_and(|at| nets[at].contains(&address))
}

fn contains_ipv6(nets: &[Ipv6Net], address: Ipv6Addr) -> bool {
    let after = nets.partition_point(|net| net.addr() <= address);
    after.checked_sub(1).is_some_and(|at| nets[at].contains(&address))
}
