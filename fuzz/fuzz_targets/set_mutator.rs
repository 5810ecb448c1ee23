//! Valid sets with changed sections and correct checksums: `verify_deep` refuses one, or it answers by its listed
//! rules.
//!
//! With `REPTILE_FUZZ_SETS`, each changed set is written to that folder, for readers in other languages.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use reptile_engine::format::container::{Header, Section, Sections};
use reptile_engine::set::Set;
use reptile_engine::url::path_of;
use reptile_fuzz::answers::{answers_as_listed, check_batches};
use reptile_fuzz::memory::within;
use reptile_fuzz::sets::{AGENTS, Choose, STRATEGIES, URLS, answers, check, mutate, sample, sections_of, written};
use xxhash_rust::xxh3::xxh3_64;

/// The sets that are changed.
static BASES: LazyLock<Vec<(Header, Sections)>> = LazyLock::new(|| {
    let golden = include_bytes!("../../engine/tests/golden/v4/google.set");
    let samples = STRATEGIES.map(|strategy| sections_of(&sample(strategy)));
    samples.into_iter().chain([sections_of(golden)]).collect()
});

/// The folder for the changed sets.
static FOLDER: LazyLock<Option<PathBuf>> = LazyLock::new(|| std::env::var_os("REPTILE_FUZZ_SETS").map(PathBuf::from));

/// Maximum number of changes to a set.
const MAX_CHANGES: usize = 4;

/// The input's bytes as choices. At the input's end, every choice is 0.
struct Choices<'d>(Unstructured<'d>);

impl Choose for Choices<'_> {
    fn below(&mut self, end: usize) -> usize {
        self.0.int_in_range(0..=end.max(1) - 1).unwrap_or(0)
    }
}

/// Memory of one execution in bytes. The sets have some thousand bytes.
const MAX_BYTES: usize = 8 << 20;

fuzz_target!(|data: &[u8]| within(MAX_BYTES, || changed(data)));

/// Changes a set, and checks the result.
fn changed(data: &[u8]) {
    let mut choices = Choices(Unstructured::new(data));
    let (header, sections) = &BASES[choices.below(BASES.len())];
    let mut changed = sections.clone();
    for _ in 0..=choices.below(MAX_CHANGES) {
        let section = &mut changed[choices.below(Section::COUNT)];
        if !section.is_empty() {
            mutate(section, &mut choices);
        }
    }
    let bytes = written(header, &changed);
    if let Some(folder) = &*FOLDER {
        let path = folder.join(format!("{:016x}", xxh3_64(&bytes)));
        std::fs::write(&path, &bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    if !check(bytes.clone()) {
        return;
    }
    let set = Set::from_bytes(&bytes[..]).expect("a verified set");
    check_batches(&set, &AGENTS, &URLS);
    // Fingerprints only leave out places where no segment begins, so without them every answer is the same.
    changed[Section::Prints as usize].fill(u8::MAX);
    let unfiltered = written(header, &changed);
    assert_eq!(answers(&set), answers(&Set::from_bytes(unfiltered).expect("a set")), "fingerprints change an answer");
    if reptile::Set::from_bytes(bytes.clone()).expect("a verified set").verify_deep().is_ok() {
        let form = set.normal_form();
        let paths: Vec<Vec<u8>> = URLS.iter().map(|url| form.path(&path_of(url).to_vec()).into_owned()).collect();
        assert!(answers_as_listed(&set, &paths), "accepted, but answers otherwise than its rules");
    }
}
