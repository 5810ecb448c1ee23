//! Advice for people: what is wrong with a file ([`lint`]), why a verdict is what it is ([`reading`]), and which URL
//! parameters a site declares to be irrelevant ([`clean_param`]).

pub mod clean_param;
pub mod lint;
pub mod reading;
