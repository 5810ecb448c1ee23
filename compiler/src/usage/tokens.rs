//! Product tokens that name uses of pages instead of crawlers.
//!
//! Source: draft-kelley-aipref-training-preference-signal-00 (30 October 2026), whose abstract says that there is a token
//! for each purpose. The token for training is known from one program's release notes.

/// The known tokens, each with its label in `Content-Usage` lines.
pub const TOKENS: [(&str, &str); 1] = [("__usage_ai-training", "train-ai")];

/// The prefix of such tokens. Our choice: no crawler's name begins with it.
const PREFIX: &str = "__usage_";

/// Returns whether a name refers to a use, known or not, instead of a crawler. Ignores letter case.
#[must_use]
pub fn names_use(name: &[u8]) -> bool {
    name.get(..PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(PREFIX.as_bytes()))
}

/// Returns the known token that a name misspells: with other separators, or with a label's words.
pub(crate) fn misspelled(name: &[u8]) -> Option<&'static str> {
    let letters = |text: &[u8]| -> Vec<u8> {
        text.iter().filter(|byte| byte.is_ascii_alphabetic()).map(u8::to_ascii_lowercase).collect()
    };
    let is_known = |token: &str| token.as_bytes().eq_ignore_ascii_case(name);
    if TOKENS.iter().any(|(token, _)| is_known(token)) {
        return None;
    }
    let name = letters(name);
    let is_near = |(token, label): &&(&str, &str)| {
        let spellings = [token.as_bytes(), &["usage", label].concat().into_bytes(), b"usage-ai-train"].map(letters);
        spellings.contains(&name)
    };
    TOKENS.iter().find(is_near).map(|(token, _)| *token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelled_tokens_are_recognized() {
        for (name, expected) in [
            ("__usage_ai-training", None),
            ("__USAGE_AI-Training", None),
            ("__usage_ai_training", Some(TOKENS[0].0)),
            ("__usage-ai-training", Some(TOKENS[0].0)),
            ("_usage_ai-training", Some(TOKENS[0].0)),
            ("Usage-AI-Training", Some(TOKENS[0].0)),
            ("__usage_train-ai", Some(TOKENS[0].0)),
            ("__usage_ai-train", Some(TOKENS[0].0)),
            ("__usage_search", None),
            ("usage", None),
            ("ai-training", None),
            ("GPTBot", None),
            ("", None),
        ] {
            assert_eq!(misspelled(name.as_bytes()), expected, "{name}");
        }
        for (name, expected) in [
            ("__usage_ai-training", true),
            ("__USAGE_x", true),
            ("__usage_", true),
            ("__usag", false),
            ("GPTBot", false),
        ] {
            assert_eq!(names_use(name.as_bytes()), expected, "{name}");
        }
    }
}
