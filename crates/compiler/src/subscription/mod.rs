//! Subscriptions: conditions over properties, by which an import chooses the streams that it wants.
//!
//! ```text
//!   subscription : kind == "trade" && (level >= 3 || "IBM" in symbols) && n % 4 == 1;
//! ```
//! Names mean properties of the exported stream, not attributes; a property that is missing meets
//! no condition. Numbers are compared by value, whatever their types; a text and a number never
//! meet.

mod literal;
mod parse;
mod property_condition;

pub(crate) use parse::parse_subscription;
pub(crate) use property_condition::Subscription;
