//! The same input compiles to the same bytes, regardless of its order.

#![allow(clippy::unwrap_used, reason = "a test may")]

use bumpalo::Bump;
use reptile_compiler::automaton::Strategy;
use reptile_compiler::dialect::GOOGLE_LIB;
use reptile_compiler::set::{OwnedOrigin, SetBuilder, prepare};
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
