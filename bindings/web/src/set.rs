//! Compiled sets.

use reptile::Set;
use serde::Serialize;

use crate::answers::{Decision, RuleJson, text};
use crate::ask::first;
use crate::failure::{Code, Failure};
use crate::state::{Call, Kind, Opened, json};

/// Maximum size of a set in bytes. Two copies must fit in the module's 4 GiB of memory.
pub const MAX_SET_BYTES: usize = 1 << 28;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SetJson<'s> {
    handle: u32,
    dialect: &'s str,
    profile: &'s str,
    length: u64,
    time: Option<i64>,
    has_lines: bool,
    crawlers: Vec<String>,
}

/// Opens a set.
pub fn open(call: Call<'_>) -> Result<Vec<u8>, Failure> {
    let Call { items, mut args, .. } = call;
    let bytes = args.bytes()?;
    if bytes.len() > MAX_SET_BYTES {
        return Err(Failure::new(Code::Limit, format!("a set of {} bytes; at most {MAX_SET_BYTES}", bytes.len())));
    }
    let mut copy = Vec::new();
    if copy.try_reserve_exact(bytes.len()).is_err() {
        return Err(Failure::new(Code::Limit, format!("no memory for a set of {} bytes", bytes.len())));
    }
    copy.extend_from_slice(bytes);
    let set = Set::from_bytes(copy)?;
    let crawlers = set.crawlers()?.iter().map(|known| known.crawler.to_string()).collect();
    let mut answer = SetJson {
        handle: 0,
        dialect: set.dialect(),
        profile: set.profile(),
        length: set.len(),
        time: set.time(),
        has_lines: set.has_line_numbers(),
        crawlers,
    };
    answer.handle = items.add(Kind::Set(Box::new(Opened { set: set.clone() })));
    json(&answer)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExplanationJson {
    #[serde(flatten)]
    decision: Decision,
    group: &'static str,
    best_allow: Option<RuleJson>,
    best_disallow: Option<RuleJson>,
    fetched_at: Option<i64>,
}

/// Explains a verdict.
pub fn explain(call: Call<'_>) -> Result<Vec<u8>, Failure> {
    let Call { items, handle, number, mut args, .. } = call;
    let url = args.bytes()?;
    let agent = first(items.agents(handle, number)?)?;
    let explained = agent.explain(url)?;
    json(&ExplanationJson {
        decision: Decision::of(&explained),
        group: explained.group.as_str(),
        best_allow: explained.allow.as_ref().map(RuleJson::of),
        best_disallow: explained.disallow.as_ref().map(RuleJson::of),
        fetched_at: agent.provenance(url)?.fetched_at,
    })
}

/// Returns an origin's sitemaps.
pub fn sitemaps(call: Call<'_>) -> Result<Vec<u8>, Failure> {
    let Call { items, handle, mut args, .. } = call;
    let site = items.set(handle)?.set.site(args.bytes()?)?;
    json(&site.map(|site| site.sitemaps().map(text).collect::<Vec<_>>()))
}

/// Checks a set's checksums. [`reptile::Set::verify`] checks more, but its code would take a tenth of the module.
pub fn verify(call: Call<'_>) -> Result<Vec<u8>, Failure> {
    call.items.set(call.handle)?.set.verify_checksums()?;
    Ok(Vec::new())
}
