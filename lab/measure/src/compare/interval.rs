//! The change between two sets of runs, with its confidence interval.
//!
//! The change is the ratio of the geometric means of the runs, B to A. Its interval is Welch's, on
//! logarithms: with `a`, `b` the logarithms of the runs, `m` their means, `v` their variances (over
//! `n − 1`),
//!
//! ```text
//! exp( m_b − m_a ± t(0.995, f) · s )     s² = v_a/n_a + v_b/n_b
//!                                        f  = s⁴ / ( (v_a/n_a)²/(n_a−1) + (v_b/n_b)²/(n_b−1) )
//! ```
//! B. L. Welch, *The generalization of "Student's" problem when several different population
//! variances are involved*, Biometrika 34, 1947. Runs that do not differ are called different once
//! in a hundred times.
//!
//! # Why this way
//! Noise multiplies: a core that another program has half of the time halves a rate. Hence
//! logarithms. A suite has three to five runs a side. The Mann-Whitney test cannot get below 0.1
//! with three runs against three, and a bootstrap of three values has only ten different resamples.
//! A disturbed run widens the interval, so the verdict is "no change" rather than a wrong one.

/// A change with its 99 % interval: the true change lies outside in one of 100 comparisons.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangeInterval {
    /// Geometric mean of the runs of A.
    pub a: f64,
    /// Geometric mean of the runs of B.
    pub b: f64,
    /// Ratio of the geometric means, B to A.
    pub change: f64,
    /// Lower end of the interval of `change`.
    pub low: f64,
    /// Upper end of the interval of `change`.
    pub high: f64,
}

/// The change from runs of A to runs of B. `None` if a side has fewer than two runs or a run is not
/// above 0.
pub fn change_interval(a: &[f64], b: &[f64]) -> Option<ChangeInterval> {
    let (a, b) = (LogMoments::from_runs(a)?, LogMoments::from_runs(b)?);
    let middle = b.mean - a.mean;
    let square = a.mean_variance + b.mean_variance;
    let reach = match square > 0.0 {
        true => {
            let freedom = square * square / (a.variance_share() + b.variance_share());
            student_t(freedom) * square.sqrt()
        }
        false => 0.0,
    };
    Some(ChangeInterval {
        a: a.mean.exp(),
        b: b.mean.exp(),
        change: middle.exp(),
        low: (middle - reach).exp(),
        high: (middle + reach).exp(),
    })
}

/// Mean and variance of the logarithms of one side's runs.
struct LogMoments {
    mean: f64,
    /// Variance of the mean.
    mean_variance: f64,
    /// Degrees of freedom: the number of runs less one.
    degrees_of_freedom: f64,
}

impl LogMoments {
    fn from_runs(runs: &[f64]) -> Option<LogMoments> {
        let usable = |run: &f64| run.is_finite() && *run > 0.0;
        if runs.len() < 2 || !runs.iter().all(usable) {
            return None;
        }
        let count = runs.len() as f64;
        let logs = || runs.iter().map(|run| run.ln());
        let mean = logs().sum::<f64>() / count;
        let squares: f64 = logs().map(|log| (log - mean).powi(2)).sum();
        let freedom = count - 1.0;
        Some(LogMoments {
            mean,
            mean_variance: squares / freedom / count,
            degrees_of_freedom: freedom,
        })
    }

    fn variance_share(&self) -> f64 {
        self.mean_variance * self.mean_variance / self.degrees_of_freedom
    }
}

/// Student's t for 99 %, two-sided, from 1 degree of freedom on, from the usual table.
const STUDENT_T: [f64; 30] = [
    63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169, 3.106, 3.055, 3.012,
    2.977, 2.947, 2.921, 2.898, 2.878, 2.861, 2.845, 2.831, 2.819, 2.807, 2.797, 2.787, 2.779,
    2.771, 2.763, 2.756, 2.750,
];

/// The t for a number of degrees of freedom. Between two lines of the table it is linear in the
/// reciprocal, and beyond the last line it is that line: both are slightly too large.
fn student_t(freedom: f64) -> f64 {
    let last = STUDENT_T.len() as f64;
    let freedom = freedom.clamp(1.0, last);
    let line = (freedom.floor() as usize).min(STUDENT_T.len() - 1);
    let (above, below) = (STUDENT_T[line - 1], STUDENT_T[line]);
    let (from, to) = (1.0 / line as f64, 1.0 / (line as f64 + 1.0));
    above + (below - above) * (from - 1.0 / freedom) / (from - to)
}

#[cfg(test)]
mod tests {
    use super::{change_interval, student_t};

    #[test]
    fn the_table_is_met_and_never_undercut() {
        assert_eq!(student_t(1.0), 63.657);
        assert!((student_t(4.0) - 4.604).abs() < 1e-9);
        assert!((student_t(30.0) - 2.750).abs() < 1e-9);
        assert!((student_t(1000.0) - 2.750).abs() < 1e-9);
        // t(0.995, 2.5) = 7.164 by numerical inversion.
        let between = student_t(2.5);
        assert!((7.164..9.925).contains(&between), "{between}");
    }

    #[test]
    fn an_interval_computed_by_hand() {
        // Logarithms 0, 0.1, 0.2 and 0.5, 0.6, 0.7: s² = 2·0.01/3, f = 4, t = 4.604.
        let runs = |from: f64| [0.0f64, 0.1, 0.2].map(|step| (from + step).exp());
        let found = change_interval(&runs(0.0), &runs(0.5)).unwrap();
        let reach = 4.604 * (0.02f64 / 3.0).sqrt();
        assert!((found.change.ln() - 0.5).abs() < 1e-12);
        assert!((found.low.ln() - (0.5 - reach)).abs() < 1e-9);
        assert!((found.high.ln() - (0.5 + reach)).abs() < 1e-9);
    }

    #[test]
    fn too_few_or_impossible_runs_have_none() {
        assert_eq!(change_interval(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(change_interval(&[], &[]), None);
        assert_eq!(change_interval(&[0.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(change_interval(&[1.0, 2.0], &[f64::NAN, 2.0]), None);
    }

    #[test]
    fn runs_without_any_noise_differ_exactly() {
        let found = change_interval(&[2.0, 2.0], &[3.0, 3.0]).unwrap();
        assert!((found.low - 1.5).abs() < 1e-12 && found.low == found.high);
    }
}
