//! A set's sections: their order and their names.

/// Maximum size of a section's name in bytes.
pub(super) const NAME_BYTES: usize = 8;

/// A set's sections, in file order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Section {
    /// The dialect, the fetch profile and the time for which the set was compiled.
    Reading,
    /// The known crawlers and their product tokens.
    Crawlers,
    /// The product tokens in the files.
    Tokens,
    /// The hash table for origins.
    Buckets,
    /// A record for each origin.
    Origins,
    /// Each origin's capture history.
    Captures,
    /// For each robots.txt, the groups for each product token.
    Policies,
    /// Where each ruleset ends.
    Index,
    /// The automata.
    Rulesets,
    /// The automata's shared fingerprints.
    Prints,
    /// The rules' line numbers.
    Lines,
    /// Other directives: lines that decide no URL.
    Other,
    /// The statements of usage rules.
    Usages,
}

crate::named!(Section, "a section", name {
    Reading => "reading",
    Crawlers => "crawlers",
    Tokens => "tokens",
    Buckets => "buckets",
    Origins => "origins",
    Captures => "captures",
    Policies => "policies",
    Index => "index",
    Rulesets => "rulesets",
    Prints => "prints",
    Lines => "lines",
    Other => "other",
    Usages => "usages",
});

impl Section {
    /// The section count.
    pub const COUNT: usize = Section::ALL.len();

    pub(super) fn stored_name(self) -> [u8; NAME_BYTES] {
        let mut stored = [0; NAME_BYTES];
        stored[..self.name().len()].copy_from_slice(self.name().as_bytes());
        stored
    }
}
