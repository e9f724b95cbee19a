//! Seeded random numbers for faults: a seed always gives one sequence.

/// A sequence of pseudo-random words (splitmix64).
pub(super) struct FaultRng {
    state: u64,
}

impl FaultRng {
    /// The sequence for a seed.
    pub(super) fn new(seed: u64) -> FaultRng {
        FaultRng { state: seed }
    }

    /// `true` once in `times` calls on average; never if `times` is 0.
    pub(super) fn one_in(&mut self, times: u32) -> bool {
        times != 0 && self.below(u64::from(times)) == 0
    }

    /// Next number, below `bound`.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.state;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_has_its_luck_and_every_face_comes_up() {
        let (mut one, mut same) = (FaultRng::new(7), FaultRng::new(7));
        let mut faces = [0; 6];
        for _ in 0..600 {
            let face = one.below(6);
            assert_eq!(face, same.below(6));
            faces[face as usize] += 1;
        }
        assert!(faces.iter().all(|count| *count > 50), "{faces:?}");
        assert!((0..100).all(|_| !one.one_in(0)));
        assert!(one.one_in(1));
    }
}
