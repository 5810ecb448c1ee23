//! Assertions about a robots.txt for every URL at once, each proved or with a counterexample: for tests in CI.
//!
//! Each line holds one assertion. Words are separated by spaces or tabs, and `#` begins a comment:
//!
//! ```text
//! disallow GPTBot /private/*    # GPTBot may fetch no URL that matches
//! allow    *      /$ /docs/*    # every crawler without its own group may fetch the URLs that match either pattern
//! same     Googlebot Bingbot    # both get the same verdict for every URL
//! GPTBot   <= *                 # GPTBot may fetch nothing that `*` may not
//! GPTBot   <= * /shop/*         # the same, only for URLs that match
//! ```
//!
//! A crawler is written as for [`Set::crawlers_named`](crate::Set::crawlers_named): a product token or a known crawler,
//! `*`, a chain, or a group such as `@ai-training`, which asserts the same for each member. A pattern is written as in
//! a rule, and begins with `/` or `*`. `allow` and `disallow` require a pattern. The other two may have patterns. The
//! words `allow`, `disallow` and `same` may be in any letter case.
//!
//! An assertion must not pass by saying nothing. An empty list, a crawler compared with itself, and a pattern that
//! matches no URL are mistakes. A crawler that no group names fails its assertion, unless
//! [`Options::allow_default`] is set, or its chain ends in `>*`.
//!
//! ```
//! use reptile::prove::{Assertions, Options, Proof};
//! use reptile::{Dialect, Robots};
//!
//! let body = "user-agent: *\ndisallow: /cart\n\nuser-agent: GPTBot\ndisallow: /images";
//! let robots = Robots::parse(body, Dialect::google())?;
//! let assertions = Assertions::parse("disallow GPTBot /images/*\nGPTBot <= *")?;
//! let outcomes = assertions.prove(&robots, &Options::default())?;
//! assert_eq!(outcomes[0].proof, Proof::Holds);
//! // The group for GPTBot replaces the group for `*`, and so it opens the cart.
//! let Proof::Counterexample(found) = &outcomes[1].proof else { unreachable!() };
//! assert_eq!(found.path, b"/cart");
//! assert_eq!(found.explanations[1].rule().map(|rule| rule.line), Some(2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod assertions;
mod evaluate;

pub use assertions::{
    Assertion, Assertions, Claim, MAX_ASSERTION_BYTES, MAX_ASSERTIONS, MAX_MISTAKES_LISTED, Mistake, Mistakes,
};
pub use evaluate::{Counterexample, MAX_PROOFS, Options, Outcome, Proof, ProveError};
