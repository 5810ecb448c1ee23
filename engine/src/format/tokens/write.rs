//! Writes the section `tokens`. [`super`] defines its encoding.

use super::super::{TooLarge, put_long};
use super::MAX_TOKENS;

/// Writes the product tokens, which must be sorted, distinct and in lower case.
pub(in super::super) fn write_tokens(tokens: &[&[u8]]) -> Result<Vec<u8>, TooLarge> {
    let mut out = Vec::new();
    if tokens.is_empty() {
        return Ok(out);
    }
    if tokens.len() as u64 > MAX_TOKENS {
        return Err(TooLarge { what: "product tokens", limit: MAX_TOKENS, found: tokens.len() as u64 });
    }
    put_long(&mut out, tokens.len() as u64);
    let mut end = 0;
    for token in tokens {
        end += token.len() as u64;
        put_long(&mut out, end);
    }
    tokens.iter().for_each(|token| out.extend_from_slice(token));
    Ok(out)
}
