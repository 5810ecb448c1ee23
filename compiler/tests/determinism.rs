//! The same input compiles to the same bytes, regardless of its order.

#![allow(clippy::unwrap_used, reason = "a test may")]

use bumpalo::Bump;
use reptile_compiler::automaton::{Strategy, Workspace};
use reptile_compiler::capture::{self, Capture, Outcome};
use reptile_compiler::dialect::{self, GOOGLE_LIB};
use reptile_compiler::set::{
    OwnedOrigin, SetBuilder, compile_single, prepare, prepare_alone, prepare_capture, read_alone,
};
use reptile_engine::set::Set;
use reptile_engine::url::Scheme;

const FILES: [(&str, &str); 6] = [
    ("a.example", "user-agent: *\ndisallow: /b\ndisallow: /a\n"),
    ("b.example", "# the same rules in another order\n\nUser-Agent: *\nDisallow: /a\nDisallow: /b\n"),
    (
        "c.example",
        "user-agent: x\nuser-agent: Y\ndisallow: /*?\nallow: /z\n\nuser-agent: *\ndisallow: /a\ndisallow: /b\n",
    ),
    ("d.example", "user-agent: y\nuser-agent: X\ndisallow: /*?\nallow: /z\n"),
    ("e.example", ""),
    ("f.example", "user-agent: x\ndisallow: /*b\ndisallow: /ab\n"),
];

fn compiled(order: &[usize]) -> Vec<u8> {
    let mut builder = SetBuilder::new(&GOOGLE_LIB);
    for &index in order {
        let (host, body) = FILES[index];
        let origins = [Scheme::Http, Scheme::Https].map(|scheme| OwnedOrigin {
            host: host.as_bytes().into(),
            scheme,
            port: scheme.default_port(),
        });
        builder.add(origins, prepare(body.as_bytes(), &GOOGLE_LIB, &Bump::new()).unwrap());
    }
    builder.finish(Strategy::default()).unwrap().to_bytes()
}

#[test]
fn input_order_does_not_change_the_bytes() {
    let first = compiled(&[0, 1, 2, 3, 4, 5]);
    for order in [[5, 4, 3, 2, 1, 0], [2, 0, 4, 1, 5, 3], [3, 5, 1, 0, 2, 4]] {
        assert!(compiled(&order) == first, "{order:?}");
    }
}

#[test]
fn equal_rules_are_stored_once() {
    let set = Set::from_bytes(compiled(&[0, 1, 2, 3, 4, 5])).unwrap();
    // `/a` and `/b` in any order and on any lines; `/*?` and `/z`; `/*b` and `/ab`. The empty file adds no ruleset.
    assert_eq!(set.rulesets().len(), 3);
    assert_eq!(set.policy_count().unwrap(), 6);
}

/// Files with several groups of equal rules, with all kinds of other lines, and without rules.
const SINGLE_FILES: [&str; 5] = [
    "user-agent: a\nuser-agent: B\ndisallow: /*x\n\nuser-agent: c\ndisallow: /*x\n\nuser-agent: b\ndisallow: /y$\n",
    "user-agent: *\ncontent-usage: train-ai=n\ncontent-usage: /a search=y\ndisallow: /b\n\nuser-agent: d\ncrawl-delay: 2\n",
    "sitemap: https://example.com/s.xml\nhost: example.com\nclean-param: s /f\nother: text\n",
    "user-agent: *\ndisallow:\nallow: /index.html\ndisallow: /%7e*a*b*c$\n",
    "<html><body>no rules</body></html>\n",
];

#[test]
fn single_captures_compile_to_the_same_bytes_as_in_a_builder() {
    let fetched = |status: Option<u16>, time| Capture { status, time, max_age: Some(60), ..Capture::default() };
    let captures = [
        Capture::default(),
        fetched(Some(200), Some(1_000)),
        fetched(Some(204), None),
        fetched(Some(404), Some(1_000)),
        fetched(Some(429), None),
        fetched(Some(503), Some(1_000)),
        Capture { redirects: 99, ..Capture::default() },
        Capture { has_failed: true, time: Some(1_000), ..Capture::default() },
    ];
    let origin = OwnedOrigin { host: b"any"[..].into(), scheme: Scheme::Http, port: 80 };
    let mut workspace = Workspace::default();
    let (mut with_rules, mut without) = (0, 0);
    let bodies = FILES.map(|(_, body)| body).into_iter().chain(SINGLE_FILES);
    for (body, capture) in bodies.flat_map(|body| captures.iter().map(move |capture| (body, capture))) {
        for (dialect, profile) in
            dialect::ALL.into_iter().flat_map(|dialect| capture::ALL.map(|profile| (dialect, profile)))
        {
            let arena = Bump::new();
            let (outcome, prepared) =
                prepare_capture(capture, Some(body.as_bytes()), profile, |body| prepare(body, dialect, &arena))
                    .unwrap();
            let mut builder = SetBuilder::with_profile(dialect, profile, capture.time);
            builder.add_capture([origin.clone()], capture, outcome, prepared.clone());
            let built = builder.finish(Strategy::default()).unwrap().to_bytes();
            let result = (outcome, prepared);
            let single = compile_single(&origin, capture, result, dialect, profile, &mut workspace).unwrap().to_bytes();
            assert!(single == built, "{} {} {capture:?} {body}", dialect.name, profile.name);
            *if outcome == Outcome::Use { &mut with_rules } else { &mut without } += 1;
        }
    }
    assert!(with_rules > 1_000 && without > 1_000, "{with_rules} {without}");
}

#[test]
fn files_are_prepared_alike_in_one_step_and_in_two() {
    let starts = |count: usize, start: fn(usize) -> String| {
        let rules = (0..count).map(start).map(|start| format!("disallow: /{start}*x\n"));
        format!("user-agent: *\n{}", rules.collect::<String>())
    };
    let many = [starts(400, |at| format!("{at:03}")), starts(400, |_| String::new())];
    let mut compared = 0;
    for dialect in dialect::ALL {
        let bodies = FILES.map(|(_, body)| body).into_iter().chain(SINGLE_FILES);
        for body in bodies.chain(many.iter().map(String::as_str)) {
            let (arena, other) = (Bump::new(), Bump::new());
            let file = read_alone(body.as_bytes(), dialect, &arena).unwrap();
            let two = file.prepare(dialect, &other).unwrap();
            let one = prepare_alone(body.as_bytes(), dialect, &other).unwrap();
            assert_eq!(format!("{two:?}"), format!("{one:?}"), "{} {body}", dialect.name);
            compared += 1;
        }
    }
    assert_eq!(compared, dialect::ALL.len() * (FILES.len() + SINGLE_FILES.len() + many.len()));
}
