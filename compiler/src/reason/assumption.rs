//! A restriction of a question to some paths.

use std::fmt;

use reptile_engine::norm::NormalForm;

use super::patterns::{Condition, ConditionRule, matches_slowly};

/// The paths that a question is about: paths that match at least one of several patterns.
///
/// ```
/// use reptile_compiler::dialect::GOOGLE_LIB;
/// use reptile_compiler::reason::Assumption;
/// let shop = Assumption::new(["/shop/*", "/cart$"], GOOGLE_LIB.normal_form)?;
/// assert!(shop.includes(b"/shop/1") && shop.includes(b"/cart") && !shop.includes(b"/carts"));
/// assert!(Assumption::new(["shop/"], GOOGLE_LIB.normal_form).is_err());
/// # Ok::<(), reptile_compiler::reason::BadPattern>(())
/// ```
#[derive(Clone, Debug)]
pub struct Assumption {
    form: NormalForm,
    patterns: Vec<AssumedPattern>,
}

#[derive(Clone, Debug)]
struct AssumedPattern {
    /// In normal form, without trailing wildcards and the end anchor.
    text: Vec<u8>,
    anchored: bool,
}

/// A pattern that no path can match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPattern(String);

impl fmt::Display for BadPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" matches no path: expected a pattern that begins with / or *", self.0)
    }
}

impl std::error::Error for BadPattern {}

impl Assumption {
    /// Creates an assumption from patterns, written as in robots.txt rules: `*` matches any text, a final `$` the end
    /// of the path, and every pattern begins with `/` or `*`. `*` is a wildcard even in dialects without wildcards.
    ///
    /// # Errors
    /// Returns an error if a pattern begins with another byte.
    pub fn new<P: AsRef<[u8]>>(
        patterns: impl IntoIterator<Item = P>,
        form: NormalForm,
    ) -> Result<Assumption, BadPattern> {
        let pattern = |pattern: P| {
            let pattern = pattern.as_ref();
            if !matches!(pattern.first(), Some(b'/' | b'*')) {
                return Err(BadPattern(String::from_utf8_lossy(pattern).escape_debug().to_string()));
            }
            Ok(AssumedPattern::new(pattern, form))
        };
        Ok(Assumption { form, patterns: patterns.into_iter().map(pattern).collect::<Result<_, _>>()? })
    }

    /// Returns whether the assumption includes a path, as written in a URL.
    #[must_use]
    pub fn includes(&self, path: &[u8]) -> bool {
        let path = self.form.path(path);
        self.patterns.iter().any(|pattern| matches_slowly(&pattern.text, pattern.anchored, &path))
    }

    /// Returns the condition that a path is included.
    pub(super) fn condition(&self) -> Condition<'_> {
        let rules = self.patterns.iter().map(|AssumedPattern { text, anchored }| ConditionRule {
            text,
            anchored: *anchored,
            place: 0,
            holds: true,
        });
        Condition::new(rules.collect(), false)
    }
}

impl AssumedPattern {
    fn new(pattern: &[u8], form: NormalForm) -> AssumedPattern {
        let (body, anchored) = pattern.strip_suffix(b"$").map_or((pattern, false), |body| (body, true));
        // With a wildcard at the end, a `$` before it is a literal byte, as in a path.
        let open = [body, b"*"].concat();
        let mut text = if form.has_operators() {
            form.pattern(&open).into_owned()
        } else {
            let segments: Vec<_> = open.split(|&byte| byte == b'*').map(|segment| form.path(segment)).collect();
            segments.join(&b'*')
        };
        text.dedup_by(|byte, before| (*byte, *before) == (b'*', b'*'));
        let ends_with_wildcard = body.ends_with(b"*");
        text.pop();
        AssumedPattern { text, anchored: anchored && !ends_with_wildcard }
    }
}
