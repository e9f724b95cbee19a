//! Random numbers from a seed: SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom
//! Number Generators", 2014).

/// A generator of random numbers.
#[derive(Clone, Debug)]
pub(super) struct FabricRng(u64);

impl FabricRng {
    /// A generator whose numbers follow from `seed`.
    pub(super) fn new(seed: u64) -> FabricRng {
        FabricRng(seed)
    }

    /// The next number of the sequence.
    pub(super) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `limit`, which is not 0.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        (self.number() % limit as u64) as usize
    }

    /// Whether something happens that happens `percent` times in 100.
    pub(super) fn happens(&mut self, percent: u8) -> bool {
        self.below(100) < usize::from(percent)
    }
}
