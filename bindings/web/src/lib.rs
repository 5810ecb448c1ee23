//! Reptile in JavaScript: the functions that `index.js` calls.
#[unsafe(no_mangle)]
extern "C" fn probe(n: usize) -> usize {
    let b = vec![b'a'; n];
    let r = reptile::Robots::parse(&b, reptile::Dialect::google());
    r.map_or(0, |r| r.diagnostics().len())
}
