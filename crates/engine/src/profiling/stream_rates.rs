//! Rates of streams over short intervals, of which a sample of fixed size is kept.

/// The largest rates of streams, from counts that are read in intervals.
#[derive(Debug)]
pub struct StreamRates {
    /// Intervals kept of each stream at most.
    capacity: usize,
    /// Number of intervals so far.
    seen: u64,
    /// Counts of the streams at the last look.
    counts: Vec<u64>,
    /// By stream: tuples a second in the intervals that are kept.
    kept: Vec<Vec<u64>>,
    random: u64,
}

impl StreamRates {
    /// Rates that keep so many intervals of each stream.
    pub fn new(capacity: u32) -> StreamRates {
        StreamRates {
            capacity: capacity.max(1) as usize,
            seen: 0,
            counts: Vec::new(),
            kept: Vec::new(),
            random: 0x9e37_79b9_7f4a_7c15,
        }
    }

    /// Notes the counts of the streams at the end of an interval of so many nanoseconds.
    pub fn look(&mut self, counts: Vec<u64>, interval_ns: u64) {
        self.kept.resize(counts.len(), Vec::new());
        self.counts.resize(counts.len(), 0);
        if interval_ns > 0
            && let Some(place) = self.place()
        {
            let streams = counts.iter().zip(&self.counts).zip(&mut self.kept);
            for ((now, before), kept) in streams {
                let tuples = u128::from(now.saturating_sub(*before));
                let rate = (tuples * 1_000_000_000 / u128::from(interval_ns)) as u64;
                match kept.get_mut(place) {
                    Some(old) => *old = rate,
                    None => kept.push(rate),
                }
            }
        }
        self.counts = counts;
    }

    /// Place of the next interval among those that are kept; `None` if it is not. Each interval is
    /// kept with the same probability (algorithm R: Vitter, "Random sampling with a reservoir",
    /// ACM Transactions on Mathematical Software 11, 1985).
    fn place(&mut self) -> Option<usize> {
        self.seen += 1;
        if self.seen <= self.capacity as u64 {
            return Some(self.seen as usize - 1);
        }
        // Xorshift: the same job has the same choices.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let place = self.random % self.seen;
        (place < self.capacity as u64).then_some(place as usize)
    }

    /// Tuples a second of a stream in the busiest interval that was kept; 0 without any.
    pub fn peak(&self, stream: usize) -> u64 {
        let kept = self.kept.get(stream);
        kept.and_then(|kept| kept.iter().max())
            .copied()
            .unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TENTH: u64 = 100_000_000;

    #[test]
    fn the_busiest_interval_is_the_peak() {
        let mut rates = StreamRates::new(10);
        rates.look(vec![5, 0], TENTH);
        rates.look(vec![45, 1], TENTH);
        rates.look(vec![50, 1], TENTH / 10);
        assert_eq!((rates.peak(0), rates.peak(1)), (500, 10));
        assert_eq!(rates.peak(2), 0);
    }

    #[test]
    fn a_reservoir_keeps_each_interval_with_the_same_probability() {
        // The interval with the highest rate is the first of 100, in a reservoir of 25.
        let mut kept = 0;
        for seed in 0..400 {
            let mut rates = StreamRates::new(25);
            rates.random ^= seed * 0x1234_5679;
            (1..=100).for_each(|at| rates.look(vec![1000 + at], TENTH));
            kept += u32::from(rates.peak(0) > 10_000);
        }
        assert!(
            (60..140).contains(&kept),
            "{kept} of 400, and 100 are expected"
        );
    }

    #[test]
    fn nothing_is_kept_of_an_interval_without_time() {
        let mut rates = StreamRates::new(0);
        rates.look(vec![7], 0);
        assert_eq!(rates.peak(0), 0);
    }
}
