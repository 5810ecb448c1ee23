//! Two sets of different captures, merged, are the set of all captures, byte for byte.
#![no_main]

use arbitrary::Arbitrary;
use bumpalo::Bump;
use libfuzzer_sys::fuzz_target;
use reptile_compiler::capture::RFC9309;
use reptile_compiler::dialect::GOOGLE;
use reptile_compiler::set::{MergeError, prepare};
use reptile_engine::set::Set;
use reptile_fuzz::merged::{Fetch, Settings, may_be_undecided};

/// Maximum number of captures, and the number of origins.
const MAX_CAPTURES: usize = 16;
const ORIGINS: usize = 3;

/// Ends of the ranges of times and of patience, in seconds. They are small, so that captures have equal times and
/// patience runs out between two of them.
const TIMES: u8 = 16;
const PATIENCE: u8 = 8;

/// A capture and the place where it is added.
#[derive(Arbitrary, Debug)]
struct Part {
    origin: u8,
    time: Option<u8>,
    outcome: u8,
    body: u8,
    max_age: Option<u8>,
    status: Option<bool>,
    /// The first set, the second set, or the merge.
    place: u8,
}

#[derive(Arbitrary, Debug)]
struct Input<'d> {
    patience: u8,
    keeps_last_answer: bool,
    at: Option<u8>,
    by_time: bool,
    parts: Vec<Part>,
    bodies: [&'d str; 3],
}

fuzz_target!(|input: Input<'_>| {
    let mut profile = RFC9309.clone();
    (profile.patience, profile.keeps_last_answer) = ((input.patience % PATIENCE).into(), input.keeps_last_answer);
    if input.bodies.iter().any(|body| prepare(body.as_bytes(), &GOOGLE, &Bump::new()).is_err()) {
        return;
    }
    let parts = input.parts.iter().take(MAX_CAPTURES).map(|part| {
        let body = usize::from(part.body) % input.bodies.len();
        let (origin, status) = (usize::from(part.origin) % ORIGINS, part.status.map(|is_ok| 200 + u16::from(!is_ok)));
        let time = part.time.map(|time| i64::from(time % TIMES));
        ((origin, time, part.outcome % 7, body, part.max_age.map(u64::from), status), part.place % 3)
    });
    let parts: Vec<(Fetch, u8)> = parts.collect();
    let settings = Settings {
        bodies: &input.bodies,
        profile: &profile,
        at: input.at.map(|at| i64::from(at % (TIMES + 2 * PATIENCE))),
        by_time: input.by_time,
    };
    let of_place = |wanted| parts.iter().filter(move |(_, place)| *place == wanted).map(|(fetch, _)| fetch);
    let whole = settings.compiled(parts.iter().map(|(fetch, _)| fetch));
    Set::from_bytes(&whole[..]).expect("a compiled set opens").verify().expect("a compiled set is valid");
    let both = [settings.compiled(of_place(0)), settings.compiled(of_place(1))];
    match settings.merged(&both, &of_place(2).collect::<Vec<_>>()) {
        Ok(bytes) => assert!(bytes == whole, "merged sets differ from the whole"),
        Err(MergeError::Undecided(_)) => assert!(may_be_undecided(parts.iter().map(|(fetch, _)| fetch)), "undecided"),
        Err(error) => panic!("{error}"),
    }
});
