//! Words that people write instead of a path, a name or a comment mark.

/// Words written as a path or a crawler's name, in lower case, with their probable meanings.
pub(in super::super) const PLACEHOLDERS: &[(&str, Meaning)] = &[
    ("all", Meaning::Everything),
    ("any", Meaning::Everything),
    ("anything", Meaning::Everything),
    ("everything", Meaning::Everything),
    ("true", Meaning::Everything),
    ("yes", Meaning::Everything),
    ("[star]", Meaning::Everything),
    ("(star)", Meaning::Everything),
    ("none", Meaning::Nothing),
    ("nothing", Meaning::Nothing),
    ("false", Meaning::Nothing),
    ("no", Meaning::Nothing),
    ("empty", Meaning::Nothing),
    ("blank", Meaning::Nothing),
    ("n/a", Meaning::Nothing),
    ("na", Meaning::Nothing),
    ("-", Meaning::Nothing),
    ("--", Meaning::Nothing),
    ("\"\"", Meaning::Nothing),
    ("''", Meaning::Nothing),
    ("[]", Meaning::Nothing),
    ("null", Meaning::Unset),
    ("(null)", Meaning::Unset),
    ("nil", Meaning::Unset),
    ("undefined", Meaning::Unset),
    ("nan", Meaning::Unset),
    ("[object object]", Meaning::Unset),
    ("todo", Meaning::Unset),
    ("tbd", Meaning::Unset),
    ("tba", Meaning::Unset),
    ("fixme", Meaning::Unset),
    ("changeme", Meaning::Unset),
    ("xxx", Meaning::Unset),
    ("...", Meaning::Unset),
    ("path", Meaning::Unset),
    ("[path]", Meaning::Unset),
    ("url", Meaning::Unset),
    ("[url]", Meaning::Unset),
    ("your-path", Meaning::Unset),
    ("your path", Meaning::Unset),
];

/// The meaning of a placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Meaning {
    Everything,
    Nothing,
    /// A program or a person has not filled in the value.
    Unset,
}

/// Words and marks between the last two names or paths of a list, in lower case.
const CONNECTIVES: &[&str] = &["and", "or", "und", "oder", "et", "ou", "y", "e", "&", "+"];

/// Returns whether a word connects the parts of a list.
pub(in super::super) fn is_connective(word: &[u8]) -> bool {
    CONNECTIVES.iter().any(|connective| word.eq_ignore_ascii_case(connective.as_bytes()))
}

/// Parameters that the home page has on known platforms, in lower case: a rule for them is right without a wildcard.
pub(in super::super) const HOME_QUERIES: &[&str] = &[
    "action",
    "attachment_id",
    "author",
    "c",
    "cat",
    "controller",
    "controllername",
    "do",
    "feed",
    "hl",
    "id",
    "lang",
    "language",
    "m",
    "mod",
    "module",
    "name",
    "option",
    "p",
    "page",
    "page_id",
    "paged",
    "post_type",
    "preview",
    "q",
    "query",
    "r",
    "rest_route",
    "route",
    "s",
    "search",
    "t",
    "tab",
    "tag",
    "title",
    "url",
    "view",
    "w",
];

/// Beginnings of the names of folders and pages that a website closes to every crawler, in lower case.
pub(in super::super) const PRIVATE_FOLDERS: &[&str] = &[
    "account",
    "admin",
    "basket",
    "cart",
    "checkout",
    "customer",
    "internal",
    "login",
    "logout",
    "member",
    "my-account",
    "myaccount",
    "order",
    "password",
    "private",
    "register",
    "signin",
    "signup",
    "user",
    "wp-admin",
    "wp-login",
];

/// Marks that begin a comment in other languages, longest first.
pub(in super::super) const COMMENT_MARKS: &[&str] =
    &["<!--", "-->", "\"\"\"", "'''", "//", "/*", "*/", "--", ";", "%", "!", "'"];

/// Marks that comment out a line only directly before a key, in lower case: letters, and marks with other uses.
pub(in super::super) const KEY_MARKS: &[&str] =
    &["rem", "not", "no", "x", "xx", "xxx", "_", "__", "~", "@", "/", "\\", "$", "&", "^", "+", "="];

/// Labels at the start of a host name that is not open to search engines.
pub(in super::super) const STAGING_LABELS: &[&str] = &[
    "staging",
    "stage",
    "stg",
    "preprod",
    "pre-prod",
    "preproduction",
    "uat",
    "qa",
    "dev",
    "development",
    "test",
    "testing",
    "sandbox",
    "preview",
];

/// Endings of host names that only a private network resolves.
pub(in super::super) const PRIVATE_ENDINGS: &[&str] = &[
    ".localhost",
    ".local",
    ".localdomain",
    ".internal",
    ".intranet",
    ".lan",
    ".home",
    ".corp",
    ".private",
    ".test",
    ".invalid",
    ".home.arpa",
    ".ddev.site",
    ".lndo.site",
    ".docksal.site",
    ".lvh.me",
    ".nip.io",
    ".ngrok.io",
    ".ngrok.app",
    ".ngrok-free.app",
    ".vm",
];

/// Host names that only a private network resolves, or placeholders for the real one.
pub(in super::super) const PRIVATE_HOSTS: &[&str] = &[
    "localhost",
    "local",
    "localdomain",
    "yourdomain.com",
    "www.yourdomain.com",
    "your-domain.com",
    "www.your-domain.com",
    "yoursite.com",
    "www.yoursite.com",
    "your-site.com",
    "yourwebsite.com",
    "www.yourwebsite.com",
    "host.docker.internal",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_unique_and_in_lower_case() {
        let placeholders: Vec<&str> = PLACEHOLDERS.iter().map(|(word, _)| *word).collect();
        let lists = [
            &placeholders,
            CONNECTIVES,
            HOME_QUERIES,
            PRIVATE_FOLDERS,
            COMMENT_MARKS,
            KEY_MARKS,
            STAGING_LABELS,
            PRIVATE_ENDINGS,
            PRIVATE_HOSTS,
        ];
        for list in lists {
            let unique: std::collections::BTreeSet<&str> = list.iter().copied().collect();
            assert_eq!(unique.len(), list.len(), "{list:?}");
            assert!(list.iter().all(|word| *word == word.to_ascii_lowercase()), "{list:?}");
        }
    }
}
