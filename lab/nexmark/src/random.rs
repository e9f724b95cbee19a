//! Random numbers that a seed and the number of an event determine for good.
//!
//! Each event has a sequence of its own (SplitMix64), so an event does not depend on how many
//! numbers the events before it have drawn.

/// A sequence of random numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

/// Increment of the sequence: the odd integer nearest to 2^64 divided by the golden ratio.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// Letters that one drawn number gives: 26^13 is below 2^64.
const LETTERS_A_NUMBER: usize = 13;

impl Random {
    /// The sequence of one event, or of another numbered thing.
    pub fn of(seed: u64, number: u64) -> Random {
        Random(mixed(seed ^ mixed(number.wrapping_add(GAMMA))))
    }

    /// The next number of 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GAMMA);
        mixed(self.0)
    }

    /// A number from 0 to `limit` - 1; `limit` is at least 1.
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(limit)) >> 64) as u64
    }

    /// A fraction from 0 up to 1.
    pub fn fraction(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// One of the words.
    pub fn choice(&mut self, words: &[&'static str]) -> &'static str {
        words[self.below(words.len() as u64) as usize]
    }

    /// A text of lower-case letters.
    pub fn letters(&mut self, count: usize) -> String {
        let mut text = String::with_capacity(count);
        while text.len() < count {
            let mut bits = self.bits();
            for _ in 0..LETTERS_A_NUMBER.min(count - text.len()) {
                text.push(char::from(b'a' + (bits % 26) as u8));
                bits /= 26;
            }
        }
        text
    }
}

/// The finalizer of SplitMix64: each bit of the result depends on each bit of the number.
fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_that_were_published() {
        let mut random = Random(1_234_567);
        let drawn = [random.bits(), random.bits()];
        assert_eq!(
            drawn,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]
        );
    }

    #[test]
    fn limits_are_kept_and_reached() {
        let mut random = Random::of(1, 2);
        let drawn: Vec<u64> = (0..1000).map(|_| random.below(7)).collect();
        assert_eq!(drawn.iter().max(), Some(&6));
        assert_eq!(drawn.iter().min(), Some(&0));
        assert!((0..1000).all(|_| (0.0..1.0).contains(&random.fraction())));
        assert_eq!(random.letters(30).len(), 30);
    }
}
