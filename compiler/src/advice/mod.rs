//! Advice for people: mistakes in a file ([`lint`]), the reasons for a verdict ([`explanation`]), and URL parameters
//! that a site declares irrelevant ([`clean_param`]).

pub mod clean_param;
pub mod explanation;
pub mod lint;
