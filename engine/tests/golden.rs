//! Opens the sets of every format version.
//!
//! Released versions must give their recorded answers. `golden/vN` has the sets of version N, the captures that they
//! were compiled from, and the answers as tables, which `golden/write` describes. The reader in Java reads the same files.
//! Versions that were never released must be rejected with their numbers: `golden/v1.set` to `golden/v3.set`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use reptile_engine::automaton::Ruleset;
use reptile_engine::format::FORMAT_VERSION;
use reptile_engine::format::directives::DirectiveKind;
use reptile_engine::format::tokens::NameMatching;
use reptile_engine::platform::MappedFile;
use reptile_engine::set::{Set, UsageCategory, UsageQuery};
use reptile_engine::url::{self, Origin, Scheme};
use reptile_engine::verdict::{PolicySource, Preference, Verdict};

/// The first released version.
const FIRST_VERSION: u32 = 4;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// Returns the names of a version's sets.
fn names(version: u32) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder().join(format!("v{version}"))).unwrap();
    let mut names: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    names.retain(|path| path.extension().is_some_and(|extension| extension == "set"));
    names.sort();
    names
}

/// Reads a table next to a set, with a number of columns.
fn rows<const COLUMNS: usize>(set: &Path, extension: &str) -> Vec<[String; COLUMNS]> {
    let text = std::fs::read_to_string(set.with_extension(extension)).unwrap();
    let rows = text.lines().map(|row| {
        let cells: Vec<String> = row.split('\t').map(str::to_owned).collect();
        cells.try_into().unwrap_or_else(|cells| panic!("{}: {cells:?}", set.display()))
    });
    rows.collect()
}

fn origin_of(text: &str) -> Origin<'_> {
    url::split(text.as_bytes()).unwrap().origin
}

#[test]
fn older_versions_are_rejected_with_both_version_numbers() {
    for version in 1..FIRST_VERSION {
        let error = Set::from_bytes(std::fs::read(folder().join(format!("v{version}.set"))).unwrap()).err().unwrap();
        assert_eq!(
            error.to_string(),
            format!(
                "header: expected format version 4, the only one that this program reads, found version {version}: an \
                 older reptile wrote the set; compile it again"
            )
        );
    }
}

#[test]
fn released_versions_verify_and_give_the_recorded_answers() {
    let usage = |label: &[u8]| UsageCategory { usage: vec![label.into()], ..UsageCategory::default() };
    let signal = |label: &[u8]| UsageCategory { signals: vec![label.into()], ..UsageCategory::default() };
    let query = UsageQuery::new(vec![usage(b"train-ai"), usage(b"search"), signal(b"ai-train"), signal(b"search")]);
    for (version, path) in (FIRST_VERSION..=FORMAT_VERSION).flat_map(|version| {
        let names = names(version);
        assert!(!names.is_empty(), "format version {version} has no golden set");
        names.into_iter().map(move |path| (version, path))
    }) {
        // SAFETY: nothing changes the test files.
        let file = unsafe { MappedFile::open(&path) }.unwrap();
        let (mapped, read) = (Set::from_bytes(file).unwrap(), Set::from_bytes(std::fs::read(&path).unwrap()).unwrap());
        mapped.verify().unwrap();
        read.verify().unwrap();
        let answers = rows::<11>(&path, "tsv");
        assert!(answers.len() > 100, "{version}: {} rows", answers.len());
        for row in answers {
            let [agent, time, url, expected @ ..] = &row;
            let agents = [mapped.agent(agent.as_bytes()).unwrap()];
            let (mut verdicts, mut preferences) = ([Verdict::Invalid], [Preference::Unknown; 4]);
            let explained = if mapped.reading().by_time {
                let (time, urls) = (time.parse().unwrap(), [(url.as_bytes(), time.parse().unwrap())]);
                mapped.usage_all_at(&agents, urls, &query, &mut verdicts, &mut preferences).unwrap();
                mapped.explain_at(&agents[0], url.as_bytes(), time).unwrap()
            } else {
                assert_eq!(time, "");
                mapped.usage_all(&agents, [url.as_bytes()], &query, &mut verdicts, &mut preferences).unwrap();
                let again = read.decide(&read.agent(agent.as_bytes()).unwrap(), url.as_bytes()).unwrap();
                assert_eq!(again, verdicts[0], "{row:?}");
                mapped.explain(&agents[0], url.as_bytes()).unwrap()
            };
            let found =
                explained.rule().map_or(("0".into(), String::new()), |rule| (rule.line.to_string(), rule.to_string()));
            let reason = explained.reason().to_string();
            let mut found = vec![explained.verdict.name(), &found.0, &found.1, &reason];
            found.extend(preferences.map(Preference::name));
            assert_eq!(found, expected, "{}: {row:?}", path.display());
            assert_eq!(verdicts[0], explained.verdict, "{row:?}");
        }
    }
}

#[test]
fn released_versions_give_the_recorded_lines_and_times() {
    for path in (FIRST_VERSION..=FORMAT_VERSION).flat_map(names) {
        let set = Set::from_bytes(std::fs::read(&path).unwrap()).unwrap();
        let fields = rows::<6>(&path, "fields");
        let origins = rows::<5>(&path, "origins");
        assert_eq!(set.origin_count(), origins.len() as u64);
        let mut line_count = 0;
        for row in &origins {
            let [name, source, fetched, fresh_until, holds_until] = row;
            let site = set.site(&origin_of(name)).unwrap().unwrap();
            let found = match site.policy().source().unwrap() {
                PolicySource::Rules => "rules".to_owned(),
                PolicySource::LastGoodCopy(cause) => format!("last good copy: {cause}"),
                PolicySource::AllowAll(cause) => format!("allow all: {cause}"),
                PolicySource::DisallowAll(cause) => format!("disallow all: {cause}"),
                other => panic!("{other:?}"),
            };
            let deciding = site.captures().unwrap().and_then(|captures| captures.deciding().time);
            let times = [deciding, site.stale_at().unwrap(), site.expires_at().unwrap()]
                .map(|time| time.map_or(String::new(), |time| time.to_string()));
            assert_eq!((&found, times.each_ref()), (source, [fetched, fresh_until, holds_until]), "{row:?}");
            let mut lines = Vec::new();
            let mut reader = site.other().reader().unwrap();
            while let Some(line) = reader.next().unwrap() {
                let key = if line.kind == DirectiveKind::Other { line.key } else { line.kind.as_str().as_bytes() };
                let key = key.to_ascii_lowercase().escape_ascii().to_string();
                lines.push([line.line.to_string(), key, line.state.to_string(), line.value.escape_ascii().to_string()]);
            }
            let expected: Vec<[String; 4]> = fields
                .iter()
                .filter(|[origin, ..]| origin == name)
                .map(|[_, line, key, state, _, value]| [line, key, state, value].map(Clone::clone))
                .collect();
            assert_eq!(lines, expected, "{name}");
            line_count += lines.len();
        }
        assert_eq!(line_count, fields.len());
    }
}

/// The golden sets of the current version have every section, and every kind of record that the format names.
#[test]
fn golden_sets_cover_the_format() {
    let (mut forms, mut matchings, mut sources, mut schemes) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let (mut causes, mut kinds, mut ruleset_kinds) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let (mut by_time, mut sections) = (BTreeSet::new(), BTreeSet::new());
    for path in names(FORMAT_VERSION) {
        let set = Set::from_bytes(std::fs::read(&path).unwrap()).unwrap();
        sections.extend(set.section_sizes().filter(|(_, size)| *size > 0).map(|(name, _)| name.to_owned()));
        forms.insert(set.normal_form().number());
        matchings.insert(set.name_matching() == NameMatching::Equal);
        by_time.insert(set.reading().by_time);
        let rulesets = set.rulesets();
        for number in 0..rulesets.len() {
            let stored = rulesets.get(number).unwrap();
            let figures = Ruleset::stored(stored).unwrap().shape();
            ruleset_kinds.insert((stored.is_patched(), figures.wildcards > 0, figures.fallbacks));
        }
        for record in set.origins() {
            let site = set.site_of(&record.unwrap()).unwrap();
            schemes.insert(site.origin().scheme as u8);
            let source = site.policy().source().unwrap();
            sources.insert(format!("{source:?}").split('(').next().unwrap().to_owned());
            causes.extend(source.cause().map(|cause| format!("{cause:?}").split('(').next().unwrap().to_owned()));
            let mut reader = site.other().reader().unwrap();
            while let Some(line) = reader.next().unwrap() {
                kinds.insert(line.kind.as_str());
            }
        }
    }
    assert_eq!(sections.len(), 13, "{sections:?}");
    assert_eq!(forms, BTreeSet::from_iter(1..=6), "normal forms");
    assert_eq!((matchings.len(), by_time.len()), (2, 2));
    assert_eq!(schemes.len(), Scheme::ALL.len());
    assert_eq!(kinds.len(), DirectiveKind::ALL.len(), "{kinds:?}");
    assert_eq!(sources.len(), 4, "{sources:?}");
    assert_eq!(causes.len(), 6, "{causes:?}");
    for kind in [(false, false, false), (false, true, false), (false, true, true), (true, true, false)] {
        assert!(ruleset_kinds.contains(&kind), "(patched, wildcards, fallback patterns) = {kind:?}: {ruleset_kinds:?}");
    }
}
