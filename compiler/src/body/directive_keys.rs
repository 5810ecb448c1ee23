//! The keys of directives other than rules.

use reptile_engine::format::directives::DirectiveKind;

/// Returns the kind of directive that a key names.
///
/// The whole key is compared, in any letter case. No key names a managed block, because its markers are comments.
#[must_use]
pub fn kind_of(key: &[u8]) -> DirectiveKind {
    let has_key = |kind: &DirectiveKind| {
        !matches!(kind, DirectiveKind::Other | DirectiveKind::ManagedBegin | DirectiveKind::ManagedEnd)
    };
    let named = |kind: &DirectiveKind| has_key(kind) && key.eq_ignore_ascii_case(kind.as_str().as_bytes());
    DirectiveKind::ALL.into_iter().find(named).unwrap_or(DirectiveKind::Other)
}
