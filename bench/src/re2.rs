//! RE2::Set, the library that the system has. What is called of it is in `re2.h`.
//!
//! The crate `cxx` writes both sides of the calls and checks that they agree. It is here and not beside the other
//! peers because what a build script compiles is linked to the library of a package.

use cxx::UniquePtr;

#[allow(clippy::multiple_unsafe_ops_per_block, reason = "the macro writes the blocks")]
#[cxx::bridge(namespace = "reptile_bench")]
mod bridge {
    // SAFETY: `re2.h` keeps no reference that it is given, and turns failures into exceptions, which become errors.
    unsafe extern "C++" {
        include!("reptile-bench/src/re2.h");
        type Re2Set;
        fn new_set(expressions: &[&str], max_mem: i64) -> Result<UniquePtr<Re2Set>>;
        fn first(self: Pin<&mut Re2Set>, text: &[u8]) -> Result<i32>;
    }
}

/// Expressions, and the automaton that is made of them as texts are matched.
pub struct Re2Set(UniquePtr<bridge::Re2Set>);

impl Re2Set {
    /// Compiles expressions over bytes, to be matched at the beginning of a text, that may use so many bytes of memory.
    ///
    /// # Errors
    /// When RE2 refuses one or the memory does not suffice.
    pub fn new(expressions: &[&str], max_mem: i64) -> Result<Re2Set, cxx::Exception> {
        bridge::new_set(expressions, max_mem).map(Re2Set)
    }

    /// The first of the expressions that match a text.
    ///
    /// # Errors
    /// When the memory does not suffice.
    #[inline]
    pub fn first(&mut self, text: &[u8]) -> Result<Option<usize>, cxx::Exception> {
        Ok(usize::try_from(self.0.pin_mut().first(text)?).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_in_the_order_of_the_expressions() {
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
