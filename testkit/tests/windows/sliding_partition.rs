//! A naive sliding window, with sums in the order of additions that the record of compiled state
//! gives.

use super::Trade;

/// The sum of numbers from the first to the last.
pub fn sum(numbers: impl IntoIterator<Item = f64>) -> Option<f64> {
    numbers.into_iter().reduce(|sum, number| sum + number)
}

/// All trades of a partition so far; the first `left` have left its sliding window.
#[derive(Default)]
pub struct SlidingPartition<'t> {
    pub trades: Vec<&'t Trade>,
    pub left: usize,
    flip: usize,
    pub since_trigger: usize,
}

impl SlidingPartition<'_> {
    pub fn remove_oldest(&mut self) {
        self.left += 1;
        if self.left == self.trades.len() {
            // The parts begin anew.
            (self.trades, self.left, self.flip) = (Vec::new(), 0, 0);
        } else if self.left >= self.flip {
            let (block, filling) = (self.left / 64 * 64, self.trades.len() / 64 * 64);
            self.flip = match block == filling {
                true => self.trades.len(),
                false => filling,
            };
        }
    }

    /// The sum of prices in the order that the record of compiled state gives: F, R, B, C.
    pub fn prices(&self) -> f64 {
        let prices: Vec<f64> = self.trades.iter().map(|trade| trade.price).collect();
        let (left, flip, end) = (self.left, self.flip, prices.len());
        let front_end = flip.min((left / 64 + 1) * 64).max(left);
        let front = prices[left..front_end].iter().copied();
        let front = front.rev().reduce(|later, price| price + later);
        let block_sums = |from: usize, to: usize| {
            let firsts = (from / 64 * 64..to).step_by(64);
            let parts = firsts.map(move |first| (first.max(from), to.min(first + 64)));
            parts.filter_map(|(first, last)| sum(prices[first..last].iter().copied()))
        };
        let rest: Vec<f64> = block_sums(front_end, flip.max(front_end)).collect();
        let rest = rest.into_iter().rev().reduce(|later, block| block + later);
        let filling = (end / 64 * 64).max(flip);
        let behind = flip.max(front_end);
        let filled = sum(block_sums(behind, filling));
        let filling = sum(prices[filling..].iter().copied());
        sum([front, rest, filled, filling].into_iter().flatten()).unwrap()
    }
}
