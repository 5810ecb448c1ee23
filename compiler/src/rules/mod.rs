//! From groups to ordered rules: the product tokens assigned to each group ([`groups`]), and a group's rules in normal
//! form and order of precedence ([`order`]).

pub mod groups;
pub mod order;
