//! Pseudo-random numbers for tests, equal in each run.

/// State of a sequence of pseudo-random numbers.
pub struct TestRandom(u64);

impl TestRandom {
    /// A row of its own for each number.
    pub fn new(seed: u64) -> TestRandom {
        TestRandom(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below another one.
    pub fn below(&mut self, end: usize) -> usize {
        // Marsaglia's xorshift; its low bits are the weaker ones.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % end
    }
}
