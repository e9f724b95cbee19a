//! Pure operations on values: what every operator, cast and subscript of SPL computes.
//!
//! The interpreter, constant folding and the functions that compiled code falls back on all call
//! these, so that one place says what an operation means. Compiled code that does the work inline
//! has to give the same bits.
//!
//! # Decisions
//! * Integers wrap around in two's complement, `MIN / -1` is `MIN` and `MIN % -1` is 0; division
//!   and remainder by zero are a [`FaultKind::Division`](crate::FaultKind::Division) fault.
//! * Shifts do what C++ compilers make of them on x86: operands of 8 and 16 bits are shifted as 32
//!   bits wide (so `int8 x << 9` is 0), the amount counts modulo the width (32 or 64), a negative
//!   amount by its two's complement bits. `>>` of a signed number keeps the sign.
//! * A floating-point number out of an integer's range becomes the nearest one in range, NaN
//!   becomes 0; other conversions between integers keep the low bits.
//! * Comparisons with NaN are false but for `!=`; null is equal to null alone and has no order.
//! * Slices: a lower end beyond the size (or below zero) faults, an upper end beyond it counts as
//!   the size, an upper end at or below the lower one gives nothing.
//! * What is longer than the bound of a bounded type loses its end.
//! * Strings, blobs and lists have at most as many bytes, UTF-16 units or elements as an int32 can
//!   say ([`LEN_MAX`]); growing beyond is a [`FaultKind::Limit`](crate::FaultKind::Limit) fault.
//!   `+` and `+=` make the whole string before it is cut to a bound, so they can fault for bounded
//!   strings too; functions that cut their result leave out what does not fit.
//! * A mapped comparison gives booleans; mapping over a set is not defined in SPL.

mod access;
mod binary;
mod bound;
mod cast;
mod complex;
mod elements;
pub mod faults;
mod integer;
mod mapped;
mod range;
mod timestamp;
mod unary;
mod value_path;

pub use access::{contains, element, index, index_ref, position, slice};
pub use binary::{binary, compare};
#[cfg(debug_assertions)]
pub use bound::with_len_max;
pub use bound::{grown_len, is_bounded, is_full, len_max, truncate_to_bound};
pub use cast::{cast, check_xml};
pub use elements::{clear_elements, insert_element};
pub use faults::LEN_MAX;
pub use mapped::binary_mapped;
pub use range::IntegerRange;
pub use timestamp::{timestamp_from_seconds, timestamp_to_seconds};
pub use unary::{one_of_type, unary};
pub use value_path::{ValueStep, change_part, read_part, store_part, take_part};
