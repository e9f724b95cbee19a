//! How the keys of sets and maps are hashed: the hasher, and what each kind of key feeds it.

use std::hash::Hasher;

/// The hasher of sets and maps: fast, and the same in every run, so that iteration after removals
/// and hash-dependent timing repeat.
pub(crate) type KeyHasher = rustc_hash::FxBuildHasher;

/// Bits that are equal iff two floats are the same key: one zero, one NaN.
#[inline]
pub(crate) fn float_key(x: f64) -> u64 {
    if x == 0.0 {
        0
    } else if x.is_nan() {
        f64::NAN.to_bits()
    } else {
        x.to_bits()
    }
}

pub(crate) fn hash_word<H: Hasher>(word: u64, state: &mut H) {
    state.write_u64(word);
}

pub(crate) fn hash_float<H: Hasher>(x: f64, state: &mut H) {
    state.write_u64(float_key(x));
}

/// The hasher's `write` counts the length, so no terminator is needed.
pub(crate) fn hash_bytes<H: Hasher>(bytes: &[u8], state: &mut H) {
    state.write(bytes);
}

pub(crate) fn hash_units<H: Hasher>(units: &[u16], state: &mut H) {
    state.write(bytemuck::cast_slice(units));
}
