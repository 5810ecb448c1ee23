//! A restriction of a question to some paths: those that match a pattern, or for which usage rules state a preference.

use std::fmt;

use reptile_engine::norm::NormalForm;

use super::patterns::{Condition, ConditionRule, matches_slowly, slow_steps};

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
    /// Whether paths that no pattern matches are included.
    otherwise: bool,
}

#[derive(Clone, Debug)]
pub(super) struct AssumedPattern {
    /// In normal form, without trailing wildcards and the end anchor.
    pub(super) text: Vec<u8>,
    pub(super) anchored: bool,
    /// The precedence; the smaller value decides.
    pub(super) place: u64,
    /// Whether paths are included if this pattern decides.
    pub(super) includes: bool,
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
        let patterns = patterns.into_iter().map(pattern).collect::<Result<_, _>>()?;
        Ok(Assumption { form, patterns, otherwise: false })
    }

    /// Creates an assumption from patterns. The first matching pattern decides.
    pub(super) fn of_deciding(patterns: Vec<AssumedPattern>, otherwise: bool, form: NormalForm) -> Assumption {
        Assumption { form, patterns, otherwise }
    }

    /// Returns whether the assumption includes a path, as written in a URL.
    #[must_use]
    pub fn includes(&self, path: &[u8]) -> bool {
        self.includes_within(path, usize::MAX, &mut 0) == Some(true)
    }

    /// Returns whether the assumption includes a path, as written in a URL. `None` if that may take more than
    /// `max_steps`. Adds the steps to `spent`.
    pub(super) fn includes_within(&self, path: &[u8], max_steps: usize, spent: &mut usize) -> Option<bool> {
        let path = self.form.path(path);
        let (mut best, mut steps): (Option<&AssumedPattern>, usize) = (None, 0);
        for pattern in &self.patterns {
            if best.is_some_and(|best| best.place <= pattern.place) {
                continue;
            }
            steps = steps.saturating_add(slow_steps(&pattern.text, &path));
            if steps > max_steps {
                break;
            }
            if matches_slowly(&pattern.text, pattern.anchored, &path) {
                best = Some(pattern);
            }
        }
        *spent = spent.saturating_add(steps);
        (steps <= max_steps).then(|| best.map_or(self.otherwise, |best| best.includes))
    }

    /// Returns the condition that a path is included.
    pub(super) fn condition(&self) -> Condition<'_> {
        let rules = self.patterns.iter().map(|AssumedPattern { text, anchored, place, includes }| ConditionRule {
            text,
            anchored: *anchored,
            place: *place,
            holds: *includes,
        });
        Condition::new(rules.collect(), self.otherwise)
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
        AssumedPattern { text, anchored: anchored && !ends_with_wildcard, place: 0, includes: true }
    }
}
