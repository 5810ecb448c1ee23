//! Binds RE2::Set from the system's RE2 library, using the small C++ class in `re2.h`.
//!
//! The crate `cxx` generates both sides and checks that they agree. This module belongs to the library and
//! not of the engine, because Cargo links a build script's output to the package's library.

use cxx::UniquePtr;

#[allow(unsafe_code, reason = "calls into C++ need it; this is the only place in this package")]
#[allow(clippy::multiple_unsafe_ops_per_block, reason = "the macro generates the blocks")]
#[cxx::bridge(namespace = "reptile_judge")]
mod bridge {
    // SAFETY: `re2.h` keeps no reference passed by Rust. On failure it throws exceptions, which `cxx` turns into
    // errors.
    unsafe extern "C++" {
        include!("reptile-judge-engines/src/matcher/re2.h");
        type Re2Set;
        fn new_set(expressions: &[&str], max_mem: i64) -> Result<UniquePtr<Re2Set>>;
        fn first(self: Pin<&mut Re2Set>, text: &[u8]) -> Result<i32>;
    }
}

/// A set of expressions, with the automaton that RE2 builds while matching.
pub struct Re2Set(UniquePtr<bridge::Re2Set>);

impl Re2Set {
    /// Compiles expressions over bytes that match at the start of a text, using at most `max_mem` bytes of memory.
    ///
    /// # Errors
    /// Returns an error if RE2 rejects an expression or runs out of memory.
    pub fn new(expressions: &[&str], max_mem: i64) -> Result<Re2Set, cxx::Exception> {
        bridge::new_set(expressions, max_mem).map(Re2Set)
    }

    /// Returns the index of the first expression that matches a text, or `None` if none does.
    ///
    /// # Errors
    /// Returns an error if RE2 runs out of memory.
    #[inline]
    pub fn first(&mut self, text: &[u8]) -> Result<Option<usize>, cxx::Exception> {
        Ok(usize::try_from(self.0.pin_mut().first(text)?).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_the_first_matching_expression() {
        let mut set = Re2Set::new(&["/a.*c", "/ab", r"/\xff\z"], 1 << 20).unwrap();
        for (text, first) in [
            (&b"/ab"[..], Some(1)),
            (b"/ab\ncd", Some(0)),
            (b"x/ab", None),
            (b"/\xff", Some(2)),
            (b"/\xffx", None),
            (b"", None),
        ] {
            assert_eq!(set.first(text).unwrap(), first, "{text:?}");
        }
        assert!(Re2Set::new(&["("], 1 << 20).is_err());
    }
}
