//! SPL text to tokens: every byte belongs to exactly one token, and nothing ever fails.
//!
//! What no token can begin with becomes an `Unknown` token and a diagnostic; the parser passes over
//! it like over white space, so that one stray character gives one message. `>` is always a token
//! of its own: the parser joins `>=`, `>>` and `>>=`, so `list<list<int32>>` needs no blank.

mod closing_quote;
mod cursor;
mod number;
mod string;
mod tokens;

pub(crate) use number::{decode_suffix, split_number};
pub(crate) use string::decode_string;
pub use tokens::{Token, tokens};
