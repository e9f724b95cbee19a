//! Noise of samples: how far apart the runs of one benchmark lie.

/// Half the distance from the smallest sample to the largest, as a share of their median. `None` of
/// fewer than two samples. Tables show it as `±`.
pub fn spread(samples: &[f64]) -> Option<f64> {
    let middle = median(samples)?;
    let low = samples.iter().copied().fold(f64::INFINITY, f64::min);
    let high = samples.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let spread = (high - low) / 2.0 / middle;
    (samples.len() > 1 && spread.is_finite()).then_some(spread)
}

/// The middle sample, or the mean of the two in the middle; `None` of no samples.
pub fn median(samples: &[f64]) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        length if length % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::{median, spread};

    #[test]
    fn the_spread_is_half_the_range_over_the_median() {
        assert_eq!(spread(&[90.0, 100.0, 130.0]), Some(0.2));
        assert_eq!(spread(&[100.0]), None);
        assert_eq!(spread(&[0.0, 0.0]), None);
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }
}
