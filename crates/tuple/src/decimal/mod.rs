//! IEEE 754-2008 decimals in the binary encoding, rounding half up.
//!
//! SPL's decimals are those of IBM's decNumber library: the scale kept (`1.10 * 2.5` is `2.750`),
//! rounding half up. What is computed here gives that library's bits; the rest it does itself. In
//! memory a decimal's coefficient is a binary number ([`codec`]), which takes a shift to get at;
//! binary files have densely packed digits ([`dpd`]), as that library has
//! (`docs/decisions/0004-binary-decimals.md`).
//!
//! | type | digits | exponent of the last digit | arithmetic by |
//! | --- | --- | --- | --- |
//! | [`Decimal32`] | 7 | -101 to 90 | arbitrary precision limited to 7 digits |
//! | [`Decimal64`] | 16 | -398 to 369 | decDouble |
//! | [`Decimal128`] | 34 | -6176 to 6111 | decQuad |
//!
//! # Zero
//! The word 0 is `0E-398` (for 64 bits), not plain 0. Here a zero word counts as plain 0
//! wherever it is read, so that zeroed memory holds SPL's default value.
//!
//! # Equality
//! `==`, order and hash are by number: `1.0 == 1.00`, and a NaN equals itself and comes last (they
//! are those of map keys and of sorting). [`Decimal64::compare`] is SPL's comparison.

mod arithmetic;
pub mod codec;
mod context;
mod convert;
mod decimal64;
mod dpd;
mod functions;
mod quotient;
#[cfg(test)]
mod tests;
mod text;

use bytemuck::{Pod, Zeroable};

pub use text::ParseDecimalError;

/// `decimal32`: 7 digits; the bits of the binary encoding.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(transparent)]
pub struct Decimal32(pub u32);

/// `decimal64`: 16 digits; the bits of the binary encoding.
///
/// # Example
/// ```
/// use thalweg_tuple::Decimal64;
///
/// let number = |text: &str| Decimal64::from_text(text.as_bytes()).expect("a number");
/// let product = number("1.10") * number("2.5");
/// assert_eq!(product.to_string(), "2.750");
/// assert_eq!(number("1.0"), number("1.00"));
/// ```
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(transparent)]
pub struct Decimal64(pub u64);

/// `decimal128`: 34 digits; the bits of the binary encoding, low half first in memory.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(transparent)]
pub struct Decimal128(pub [u64; 2]);
