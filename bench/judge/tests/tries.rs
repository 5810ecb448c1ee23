//! `try` and `engines`: the message for each fault of an engine.

use crate::support::{Folder, result_of};

#[test]
fn honest_engines_have_no_faults() {
    let (code, text) = result_of(&Folder::new(&["honest"]).judge(&["try", "honest"]));
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("bench open is skipped: nothing like it"), "{text}");
    assert!(text.contains(" 0 faults"), "{text}");
}

#[test]
fn faults_are_described() {
    let cases = [
        ("silent", "hello: no reply within 0.5 s"),
        ("deaf", "the dialect is \"own\", and \"rfc9309\" in engines.toml"),
        ("garbage", "decide: field 1 of a message: expected a key"),
        ("few", "decide: expected 5 verdicts, found 4"),
        // Detected at once or, if the second reply comes late, as an answer to another question.
        ("twice", "fault  "),
        ("no-lines", " 0 faults"),
        ("crash", "ended with exit code 3: Segmentation fault of my own"),
        ("memory", "at most 200 are allowed"),
        ("endless", "fields in a message: at most 100000 are allowed"),
        ("lying-count", "bench decide: 0 disallowed in"),
        ("lying-clock", "less than the budget of 20ms"),
    ];
    let folder = Folder::new(&cases.map(|(mode, _)| mode));
    // In parallel, because most of them wait for replies that never come.
    let found: Vec<_> = std::thread::scope(|scope| {
        let folder = &folder;
        let run = |mode: &'static str| scope.spawn(move || result_of(&folder.judge(&["try", mode])));
        let threads = cases.map(|(mode, _)| run(mode));
        threads.map(|thread| thread.join().unwrap()).into()
    });
    for ((mode, fault), (code, text)) in cases.into_iter().zip(found) {
        assert!(text.contains(fault), "{mode}: {text}");
        assert_eq!(code == Some(0), fault == " 0 faults", "{mode}: {text}");
    }
}

#[test]
fn absent_engines_are_listed_with_the_missing_requirement() {
    let folder = Folder::new(&["honest", "silent"]);
    let file = folder.path().join("engines.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let absent = "[[engine]]\nname = \"ghost\"\ndialect = \"own\"\nneeds = [\"no-such-program\"]\nrun = [\"x\"]\n";
    std::fs::write(&file, text + absent).unwrap();
    let (code, text) = result_of(&folder.judge(&["engines"]));
    assert!(text.contains("honest\tpresent\trfc9309\thonest 1, Python\n"), "{text}");
    assert!(text.contains("silent\tbroken\trfc9309\tno reply within 0.5 s\n"), "{text}");
    assert!(text.contains("ghost\tabsent\town\tno program no-such-program\n"), "{text}");
    assert_eq!(code, Some(1), "{text}");
    let (code, text) = result_of(&folder.judge(&["try", "ghost"]));
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("ghost is absent: no program no-such-program"), "{text}");
}
