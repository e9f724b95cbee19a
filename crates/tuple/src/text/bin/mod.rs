//! The bin format: values in network byte order, one after the other.
//!
//! | type | bytes |
//! | --- | --- |
//! | boolean | 1: 0 or 1 |
//! | intN, uintN, floatN | N/8, most significant first |
//! | decimalN | N/8, the DPD bits least significant first |
//! | complexN | real, imaginary |
//! | timestamp | int64 seconds, uint32 nanoseconds, int32 machine |
//! | enum | uint32 ordinal |
//! | rstring, blob, xml | *length*, bytes |
//! | ustring | *length* in bytes, UTF-8 (a lone surrogate as its three bytes) |
//! | list, set, map | *length*, elements; a map's are key, value |
//! | optional | 0, or 1 and the value |
//! | tuple | attributes in order |
//!
//! A *length* below 128 is one byte, else the byte 0x80 and a uint32. With punctuation each item
//! has a byte before it: 0 tuple, 1 window marker, 2 final marker. A delay, a float64, comes before
//! the tuple and behind that byte.

mod decode;
mod encode;
mod steps;

pub(super) use decode::value_bytes_min;
pub use decode::{BinReader, decode_tuple, read_value};
pub use encode::{BinWriter, encode_tuple, write_value};
pub use steps::BinSteps;
