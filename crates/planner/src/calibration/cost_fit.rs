//! A straight line through the times of tuples by their size.

/// Time of a tuple as a line over its size: a part for each tuple and one for each of its bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostFit {
    /// Nanoseconds for each tuple, however small.
    pub tuple_ns: f64,
    /// Nanoseconds for each byte of a tuple's attributes.
    pub byte_ns: f64,
    /// Largest distance of a measured time from the line, as percent of that time.
    pub error_percent: f64,
}

impl CostFit {
    /// The line through times in nanoseconds by size in bytes; `None` without times, or if one is
    /// not above zero. Neither part is negative.
    ///
    /// The squares of the relative distances are least, because a line that is near by nanoseconds
    /// would follow the largest tuples alone: their times are a hundred times those of the
    /// smallest.
    ///
    /// # Example
    /// ```
    /// use thalweg_planner::CostFit;
    ///
    /// let fit = CostFit::through(&[(16, 12.0), (1024, 264.0), (16384, 4104.0)]).unwrap();
    /// assert!((fit.tuple_ns - 8.0).abs() < 1e-6 && (fit.byte_ns - 0.25).abs() < 1e-6);
    /// assert!(fit.error_percent < 1e-6);
    /// ```
    pub fn through(times: &[(u64, f64)]) -> Option<CostFit> {
        let is_time = |&(_, ns): &(u64, f64)| ns.is_finite() && ns > 0.0;
        if times.is_empty() || !times.iter().all(is_time) {
            return None;
        }
        // With t for the time of a size s, minimise the sum of ((a + b s - t) / t)^2.
        let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
            times.iter().map(|&(bytes, ns)| of(bytes as f64, ns)).sum()
        };
        let (ww, ws, ss) = (
            sum(&|_, t| 1.0 / (t * t)),
            sum(&|s, t| s / (t * t)),
            sum(&|s, t| s * s / (t * t)),
        );
        let (w, s) = (sum(&|_, t| 1.0 / t), sum(&|s, t| s / t));
        let determinant = ww * ss - ws * ws;
        let both = (
            (w * ss - s * ws) / determinant,
            (s * ww - w * ws) / determinant,
        );
        let (tuple_ns, byte_ns) = match both {
            (a, b) if a >= 0.0 && b >= 0.0 => (a, b),
            (a, _) if a < 0.0 => (0.0, s / ss),
            // One size, or times that fall with it: a constant.
            _ => (w / ww, 0.0),
        };
        let mut fit = CostFit {
            tuple_ns,
            byte_ns,
            error_percent: 0.0,
        };
        let errors = times
            .iter()
            .map(|&(bytes, ns)| (fit.at(bytes) / ns - 1.0).abs() * 100.0);
        fit.error_percent = errors.fold(0.0, f64::max);
        Some(fit)
    }

    /// Nanoseconds of a tuple of `bytes` bytes.
    pub fn at(&self, bytes: u64) -> f64 {
        self.tuple_ns + self.byte_ns * bytes as f64
    }
}

#[cfg(test)]
mod tests {
    use super::CostFit;

    fn fit(times: &[(u64, f64)]) -> CostFit {
        CostFit::through(times).expect("times")
    }

    #[test]
    fn no_part_is_negative() {
        let falling = fit(&[(16, 20.0), (1024, 10.0)]);
        assert_eq!(falling.byte_ns, 0.0);
        assert!((10.0..20.0).contains(&falling.tuple_ns), "{falling:?}");
        let steep = fit(&[(16, 1.0), (1024, 1000.0), (16384, 16000.0)]);
        assert_eq!(steep.tuple_ns, 0.0);
        assert!(steep.byte_ns > 0.0, "{steep:?}");
    }

    #[test]
    fn one_size_is_a_constant() {
        let one = fit(&[(64, 8.0)]);
        assert_eq!(
            (one.tuple_ns, one.byte_ns, one.error_percent),
            (8.0, 0.0, 0.0)
        );
    }

    #[test]
    fn the_error_is_the_largest_distance() {
        let bent = fit(&[(16, 10.0), (1024, 10.0), (16384, 100.0)]);
        let far = [(16, 10.0), (1024, 10.0), (16384, 100.0)]
            .map(|(bytes, ns): (u64, f64)| (bent.at(bytes) / ns - 1.0).abs() * 100.0);
        assert_eq!(bent.error_percent, far.into_iter().fold(0.0, f64::max));
        assert!(bent.error_percent > 5.0, "{bent:?}");
    }

    #[test]
    fn times_that_are_none_have_no_line() {
        for times in [
            &[][..],
            &[(16, 0.0)],
            &[(16, f64::NAN)],
            &[(16, f64::INFINITY)],
        ] {
            assert_eq!(CostFit::through(times), None);
        }
    }
}
