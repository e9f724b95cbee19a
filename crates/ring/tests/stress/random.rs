//! Pseudo-random numbers that follow from a seed.

/// A sequence of pseudo-random numbers (SplitMix64, Steele and others 2014).
pub struct Random(u64);

impl Random {
    /// The sequence of numbers for a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Next number of the sequence.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Next number, reduced below a limit.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// True once in `times` calls on average.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}
