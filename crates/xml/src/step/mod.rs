//! One step of a path, for both path languages: nodes along an axis, then what predicates leave of
//! them.

mod axis;
mod predicates;

pub(crate) use axis::{XPathAxis, nodes_along};
pub(crate) use predicates::filter;
