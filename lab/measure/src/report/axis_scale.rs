//! Scales: from values to positions on an axis, and where its ticks are.

/// How values are spread along an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AxisScale {
    /// Equal differences are equally far apart.
    Linear {
        /// Value at the start of the axis.
        from: f64,
        /// Value at the end of the axis.
        to: f64,
    },
    /// Equal ratios are equally far apart; both ends are above 0.
    Log {
        /// Value at the start of the axis, above 0.
        from: f64,
        /// Value at the end of the axis, above 0.
        to: f64,
    },
}

/// Ratio of the largest value to the smallest from which an axis is logarithmic.
const LOG_FROM_RATIO: f64 = 50.0;

impl AxisScale {
    /// The scale for amounts: linear from 0 up to a round number, or logarithmic between round
    /// numbers where the values differ by a factor of 50 or more.
    pub fn for_amounts(values: &[f64]) -> AxisScale {
        let (low, high) = value_bounds(values);
        if high / low >= LOG_FROM_RATIO {
            let (from, to) = (
                round_to_125(low, RoundDirection::Down),
                round_to_125(high, RoundDirection::Up),
            );
            return AxisScale::Log { from, to };
        }
        let step = tick_step(high);
        // A little air, so that the highest marker does not stand on the frame.
        let to = (high * 1.02 / step).ceil() * step;
        AxisScale::Linear { from: 0.0, to }
    }

    /// The scale for sizes: logarithmic, as in the source reports.
    pub fn for_sizes(values: &[f64]) -> AxisScale {
        let (low, high) = value_bounds(values);
        match high > low {
            true => AxisScale::Log {
                from: low,
                to: high,
            },
            false => AxisScale::Log {
                from: low / 2.0,
                to: low * 2.0,
            },
        }
    }

    /// The scale for small whole numbers, each with its tick.
    pub fn for_numbers(values: &[f64]) -> AxisScale {
        let (low, high) = value_bounds(values);
        match high > low {
            true => AxisScale::Linear {
                from: low,
                to: high,
            },
            false => AxisScale::Linear {
                from: low - 1.0,
                to: low + 1.0,
            },
        }
    }

    /// The position of a value: 0 at the start of the axis, 1 at its end.
    pub fn position(self, value: f64) -> f64 {
        match self {
            AxisScale::Linear { from, to } => (value - from) / (to - from),
            AxisScale::Log { from, to } => (value / from).ln() / (to / from).ln(),
        }
    }

    /// Whether a value can be drawn: it is finite, and above 0 where the axis is logarithmic.
    pub fn can_show(self, value: f64) -> bool {
        value.is_finite() && (value > 0.0 || matches!(self, AxisScale::Linear { .. }))
    }

    /// Ticks for amounts: powers of ten, or round steps.
    pub fn amount_ticks(self) -> Vec<f64> {
        match self {
            AxisScale::Log { from, to } => powers_between(10.0, from, to),
            AxisScale::Linear { to, .. } => {
                let step = tick_step(to);
                let count = (to / step).round() as u32;
                (0..=count).map(|tick| f64::from(tick) * step).collect()
            }
        }
    }

    /// Marks between the ticks for amounts of a logarithmic axis: 2 to 9 times each power of ten.
    pub fn amount_marks(self) -> Vec<f64> {
        let AxisScale::Log { from, to } = self else {
            return Vec::new();
        };
        let decades = powers_between(10.0, from / 10.0, to).into_iter();
        let marks = decades.flat_map(|decade| (2..10).map(move |n| f64::from(n) * decade));
        marks.filter(|mark| (from..=to).contains(mark)).collect()
    }

    /// Ticks for sizes: powers of 4, or of 2 if few of those are on the axis; else `values`.
    pub fn size_ticks(self, values: &[f64]) -> Vec<f64> {
        let AxisScale::Log { from, to } = self else {
            return values.to_vec();
        };
        let fine = [4.0, 2.0].map(|base| powers_between(base, from, to));
        let enough = fine.into_iter().find(|ticks| ticks.len() >= 3);
        let (low, high) = value_bounds(values);
        match enough {
            Some(ticks) if low < high => ticks,
            _ => spaced_ticks(self, values),
        }
    }

    /// Ticks for whole numbers: each, or every second, third, ... if there are many.
    pub fn number_ticks(self) -> Vec<f64> {
        let (AxisScale::Linear { from, to } | AxisScale::Log { from, to }) = self;
        let step = ((to - from) / 12.0).ceil().max(1.0);
        let count = ((to - from) / step).floor() as u32;
        let ticks = (0..=count).map(|tick| from + f64::from(tick) * step);
        ticks.filter(|tick| tick.fract() == 0.0).collect()
    }
}

/// The values at least a twelfth of the axis apart, so that their labels do not touch.
fn spaced_ticks(scale: AxisScale, values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let mut ticks: Vec<f64> = Vec::new();
    for value in values {
        let far = |last: &f64| scale.position(value) - scale.position(*last) >= 1.0 / 12.0;
        if ticks.last().is_none_or(far) {
            ticks.push(value);
        }
    }
    ticks
}

/// The powers of a base on an axis, ends included.
fn powers_between(base: f64, from: f64, to: f64) -> Vec<f64> {
    const SLACK: f64 = 1e-9;
    let first = (from.ln() / base.ln() - SLACK).ceil() as i32;
    let last = (to.ln() / base.ln() + SLACK).floor() as i32;
    (first..=last).map(|power| base.powi(power)).collect()
}

enum RoundDirection {
    Down,
    Up,
}

/// The next number of the form 1, 2 or 5 times a power of ten.
fn round_to_125(value: f64, toward: RoundDirection) -> f64 {
    const SLACK: f64 = 1e-9;
    let power = 10f64.powf((value.log10() + SLACK).floor());
    let times = value / power;
    let steps = [1.0, 2.0, 5.0, 10.0];
    let fitting = match toward {
        RoundDirection::Down => steps.iter().rfind(|step| **step <= times * (1.0 + SLACK)),
        RoundDirection::Up => steps.iter().find(|step| **step >= times * (1.0 - SLACK)),
    };
    fitting.unwrap_or(&1.0) * power
}

/// A step of 1, 2 or 5 times a power of ten that goes into `high` four to ten times.
fn tick_step(high: f64) -> f64 {
    let rough = high / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let times = [1.0, 2.0, 5.0, 10.0];
    let fitting = times.iter().find(|times| **times * power >= rough * 0.999);
    fitting.unwrap_or(&10.0) * power
}

/// The smallest and the largest value above 0; 1 and 1 if there is none.
fn value_bounds(values: &[f64]) -> (f64, f64) {
    let usable = values.iter().copied().filter(|v| v.is_finite() && *v > 0.0);
    let low = usable.clone().fold(f64::INFINITY, f64::min);
    let high = usable.fold(0.0, f64::max);
    match low <= high {
        true => (low, high),
        false => (1.0, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::AxisScale;

    #[test]
    fn sizes_have_ticks_at_powers_of_four() {
        let values = [4.0, 64.0, 16384.0];
        let scale = AxisScale::for_sizes(&values);
        let ticks = [4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0, 16384.0];
        assert_eq!(scale.size_ticks(&values), ticks);
        for (at, tick) in ticks.iter().enumerate() {
            assert!((scale.position(*tick) - at as f64 / 6.0).abs() < 1e-12);
        }
    }

    #[test]
    fn few_sizes_have_ticks_of_their_own() {
        let values = [128.0, 256.0, 512.0];
        assert_eq!(AxisScale::for_sizes(&values).size_ticks(&values), values);
        let one = AxisScale::for_sizes(&[100.0]);
        assert_eq!(one.size_ticks(&[100.0]), [100.0]);
        assert_eq!(one.position(100.0), 0.5);
        let odd = [22.0, 23.0, 108.0];
        assert_eq!(AxisScale::for_sizes(&odd).size_ticks(&odd), [22.0, 108.0]);
    }

    #[test]
    fn amounts_far_apart_are_logarithmic() {
        let scale = AxisScale::for_amounts(&[0.03, 13.07]);
        assert_eq!(
            scale,
            AxisScale::Log {
                from: 0.02,
                to: 20.0
            }
        );
        assert_eq!(scale.amount_ticks(), [0.1, 1.0, 10.0]);
        assert!((scale.position(2.0) - 2.0 / 3.0).abs() < 1e-12);
        let marks = scale.amount_marks();
        assert_eq!(
            marks.len(),
            8 + 8 + 8 + 1,
            "0.02 to 0.09, ... 20: {marks:?}"
        );
        let wide = AxisScale::for_amounts(&[1.0, 1000.0]);
        assert_eq!(
            wide,
            AxisScale::Log {
                from: 1.0,
                to: 1000.0
            }
        );
        assert!(!scale.can_show(0.0));
    }

    #[test]
    fn amounts_close_together_begin_at_nought() {
        let scale = AxisScale::for_amounts(&[0.06, 0.94]);
        assert_eq!(scale, AxisScale::Linear { from: 0.0, to: 1.0 });
        let ticks = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];
        for (tick, expected) in scale.amount_ticks().iter().zip(ticks) {
            assert!((tick - expected).abs() < 1e-12);
        }
        assert!(scale.can_show(0.0));
        assert!(!scale.can_show(f64::NAN));
    }

    #[test]
    fn no_values_make_a_scale_all_the_same() {
        for scale in [
            AxisScale::for_amounts(&[]),
            AxisScale::for_sizes(&[f64::NAN]),
            AxisScale::for_numbers(&[]),
        ] {
            assert!(scale.position(1.0).is_finite(), "{scale:?}");
            assert!(!scale.amount_ticks().is_empty());
        }
    }

    #[test]
    fn whole_numbers_have_ticks_each() {
        let ticks = AxisScale::for_numbers(&[1.0, 6.0]).number_ticks();
        assert_eq!(ticks, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(
            AxisScale::for_numbers(&[3.0]).number_ticks(),
            [2.0, 3.0, 4.0]
        );
        assert!(AxisScale::for_numbers(&[1.0, 500.0]).number_ticks().len() <= 13);
    }
}
