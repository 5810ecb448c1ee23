//! Advice for people: what is wrong with a file ([`lint`]), why a verdict is what it is ([`explanation`]), and which
//! parameters of a URL a site declares to be irrelevant ([`clean_param`]).

pub mod clean_param;
pub mod explanation;
pub mod lint;
