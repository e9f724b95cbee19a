//! Throttle: passes tuples at a given rate at most.

use std::time::{Duration, Instant};

use eval::{Fault, FaultKind};
use graph::{InPortModel, OperatorModel, OutPortModel, ParamMode, ParamModel, PortIndex};
use graph::{InvocationError, InvocationPart, PunctuationOutputMode};
use runtime::{BuildContext, Operator, OperatorConstructor, OperatorEntry, Outlet, StopSignal};
use tuple::{TupleRef, Value};

use crate::verify_params::report_misuse;

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Build(build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.utility",
    name: "Throttle",
    doc: "Passes tuples at no more than a rate, by holding up whoever sends them.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[OutPortModel {
        punctuation: PunctuationOutputMode::Preserving(PortIndex(0)),
        same_schema_as: Some(PortIndex(0)),
        ..OutPortModel::DEFAULT
    }],
    params: &[
        ParamModel {
            name: "rate",
            ty: "float64",
            mandatory: true,
            doc: "Tuples a second.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "period",
            ty: "float64",
            doc: "Seconds over which the rate is kept: after a pause tuples pass at once until it is \
                  made up for within that time. Default: 10 / rate.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "includePunctuations",
            ty: "boolean",
            mode: ParamMode::Constant,
            doc: "Whether markers count as tuples. Default: false.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "precise",
            ty: "boolean",
            mode: ParamMode::Constant,
            doc: "Whether to spin at the end of a wait, for an exact time. Default: false.",
            ..ParamModel::DEFAULT
        },
    ],
    verify: Some(verify),
    ..OperatorModel::DEFAULT
};

/// Verifies that a constant rate and a constant period are finite and above 0.
fn verify(operator: &graph::OperatorNode) -> Result<(), InvocationError> {
    for name in ["rate", "period"] {
        let Some(expr) = crate::lower::param(operator, name) else {
            continue;
        };
        if let graph::ExprKind::Const(Value::Float64(number)) = expr.kind
            && !(number > 0.0 && number.is_finite())
        {
            let message = format!("`{name}` is {number}, and should be above 0");
            return report_misuse(InvocationPart::Param(name), message, "");
        }
    }
    Ok(())
}

fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    let rate = build.number("rate")?.unwrap_or_default();
    let period = build.number("period")?.unwrap_or(10.0 / rate);
    if !(rate > 0.0 && rate.is_finite() && period > 0.0) {
        let message = format!("a rate of {rate} in {period} seconds is not a rate");
        return Err(Fault::new(FaultKind::Limit, message));
    }
    Ok(Box::new(Throttle {
        rate_limiter: RateLimiter::new(rate, period),
        stop: build.stop_signal(),
        counts_markers: build.flag("includePunctuations", false)?,
        is_precise: build.flag("precise", false)?,
    }))
}

struct Throttle {
    rate_limiter: RateLimiter,
    stop: StopSignal,
    counts_markers: bool,
    is_precise: bool,
}

/// Last part of a wait, which is spun with `precise`, because a sleep may take that much longer.
const SPIN: Duration = Duration::from_millis(1);

impl Throttle {
    fn wait(&mut self) {
        let due = self.rate_limiter.next_at(Instant::now());
        if self.is_precise {
            self.stop.sleep_until(due.checked_sub(SPIN).unwrap_or(due));
            while Instant::now() < due && !self.stop.is_requested() {
                std::hint::spin_loop();
            }
        } else {
            self.stop.sleep_until(due);
        }
        self.rate_limiter.count(Instant::now());
    }
}

impl Operator for Throttle {
    fn process(
        &mut self,
        _: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        self.wait();
        out.submit(PortIndex(0), tuple)
    }

    fn process_window_marker(&mut self, _: PortIndex, _: &mut dyn Outlet) -> Result<(), Fault> {
        if self.counts_markers {
            self.wait();
        }
        Ok(())
    }
}

/// Two adjacent buckets of half a period each. The tuples in both may come no faster than the rate,
/// counted from the beginning of the older bucket. So an idle input may catch up on at most one
/// period.
#[derive(Debug)]
struct RateLimiter {
    /// Time between two tuples at the given rate, in seconds.
    seconds_per_tuple: f64,
    half_period: Duration,
    /// Beginning of the older bucket; the younger one begins half a period later.
    started_at: Option<Instant>,
    counts: [f64; 2],
}

impl RateLimiter {
    fn new(rate: f64, period: f64) -> RateLimiter {
        let half = Duration::try_from_secs_f64(period / 2.0).unwrap_or(Duration::MAX / 4);
        RateLimiter {
            seconds_per_tuple: 1.0 / rate,
            half_period: half.max(Duration::from_nanos(1)),
            started_at: None,
            counts: [0.0; 2],
        }
    }

    /// Time at which the next tuple may be submitted.
    fn next_at(&mut self, now: Instant) -> Instant {
        let begun = self.advance(now);
        let ahead = (self.counts[0] + self.counts[1]) * self.seconds_per_tuple;
        begun + Duration::try_from_secs_f64(ahead).unwrap_or(Duration::MAX / 4)
    }

    /// Counts a submitted tuple.
    fn count(&mut self, now: Instant) {
        let begun = self.advance(now);
        let is_younger = now.saturating_duration_since(begun) >= self.half_period;
        self.counts[usize::from(is_younger)] += 1.0;
    }

    /// Moves the buckets so that one of them covers `now`, and returns the beginning of the older
    /// one.
    fn advance(&mut self, now: Instant) -> Instant {
        let begun = *self.started_at.get_or_insert(now);
        let since = now.saturating_duration_since(begun);
        if since < self.half_period * 2 {
            return begun;
        }
        let begun = if since < self.half_period * 3 {
            self.counts = [self.counts[1], 0.0];
            begun + self.half_period
        } else {
            self.counts = [0.0; 2];
            now
        };
        self.started_at = Some(begun);
        begun
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times in milliseconds at which tuples are submitted, if all of them come at once.
    fn times(pace: &mut RateLimiter, from: Instant, at: Duration, count: usize) -> Vec<u128> {
        let mut now = from + at;
        let turns = (0..count).map(|_| {
            now = pace.next_at(now).max(now);
            pace.count(now);
            now.duration_since(from).as_millis()
        });
        turns.collect()
    }

    #[test]
    fn tuples_go_at_the_rate() {
        let from = Instant::now();
        let mut pace = RateLimiter::new(10.0, 1.0);
        let first: Vec<_> = (0..25).map(|n| n * 100).collect();
        let went = times(&mut pace, from, Duration::ZERO, 25);
        for (due, went) in first.iter().zip(&went) {
            assert!(went.abs_diff(*due) <= 100, "{went:?} for {due}");
        }
        assert!(went[24].abs_diff(2400) <= 100, "{went:?}");
    }

    #[test]
    fn who_was_idle_catches_up_on_a_period_at_most() {
        let from = Instant::now();
        let mut pace = RateLimiter::new(10.0, 1.0);
        times(&mut pace, from, Duration::ZERO, 1);
        let went = times(&mut pace, from, Duration::from_millis(60_000), 20);
        let at_once = went.iter().filter(|&&at| at == 60_000).count();
        assert!(at_once <= 10, "{went:?}");
    }
}
