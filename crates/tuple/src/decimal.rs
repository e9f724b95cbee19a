//! IEEE 754-2008 decimals in the DPD encoding, rounding half up (being built).

/// `decimal32`: 7 digits; the DPD bits.
#[derive(Clone, Copy, Debug)]
pub struct Decimal32(pub u32);
/// `decimal64`: 16 digits; the DPD bits.
#[derive(Clone, Copy, Debug)]
pub struct Decimal64(pub u64);
/// `decimal128`: 34 digits; the DPD bits, low half first in memory.
#[derive(Clone, Copy, Debug)]
pub struct Decimal128(pub [u64; 2]);
