//! Means and squares of the differences from them, of which deviations are computed.

use crate::function::number::WideNumber;

/// The mean of some numbers, and the sum of the squares of their differences from it. Integers cut
/// the mean off.
#[derive(Clone, Copy, Debug)]
pub struct Moments<W> {
    count: i64,
    mean: W,
    squares: W,
}

impl<W: WideNumber> Moments<W> {
    /// Moments of one number.
    pub fn of(number: W) -> Moments<W> {
        Moments {
            count: 1,
            mean: number,
            squares: number.sub(number),
        }
    }

    /// Moments with one number more (Knuth's update, by Welford).
    pub fn add(self, number: W) -> Moments<W> {
        let count = self.count + 1;
        let delta = number.sub(self.mean);
        let mean = self.mean.add(divided(delta, count));
        Moments {
            count,
            mean,
            squares: self.squares.add(delta.mul(number.sub(mean))),
        }
    }

    /// Moments of two parts together, this one and a later one (Chan, Golub and LeVeque).
    pub fn merge(self, later: Moments<W>) -> Moments<W> {
        let count = self.count + later.count;
        let delta = later.mean.sub(self.mean);
        let step = divided(delta.mul(W::from_i64(later.count)), count);
        let between = delta.mul(step).mul(W::from_i64(self.count));
        Moments {
            count,
            mean: self.mean.add(step),
            squares: self.squares.add(later.squares).add(between),
        }
    }

    /// The standard deviation; the divisor of the variance is the count minus `divisor_reduction`.
    /// `None`: that is below 1.
    pub fn deviation(self, divisor_reduction: i64) -> Option<W> {
        let divisor = self.count - divisor_reduction;
        (divisor >= 1).then(|| divided(self.squares, divisor).sqrt())
    }
}

/// A number divided by a count of 1 or more.
fn divided<W: WideNumber>(number: W, count: i64) -> W {
    number
        .div(W::from_i64(count))
        .expect("a count of 1 or more")
}
