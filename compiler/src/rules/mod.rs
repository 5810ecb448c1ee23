//! From the groups of a robots.txt to ordered rules: the product tokens that each group is for ([`groups`]), and the
//! rules of a group in normal form and order of precedence ([`order`]).

pub mod groups;
pub mod order;
