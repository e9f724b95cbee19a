//! Throttle: passes tuples at no more than a rate.

use std::time::{Duration, Instant};

use graph::{Fault, FaultKind, InPortModel, OperatorModel, OutPortModel, ParamMode, ParamModel};
use graph::{Misuse, Part, PunctuationOut};
use runtime::{Build, Make, Operator, OperatorEntry, Outlet, Stop};
use tuple::{TupleRef, Value};

use crate::rule::wrong;

/// The registry's line.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    make: Make::Build(build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.utility",
    name: "Throttle",
    doc: "Passes tuples at no more than a rate, by holding up whoever sends them.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[OutPortModel {
        punctuation: PunctuationOut::Preserving(0),
        same_schema_as: Some(0),
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
            doc: "Seconds over which the rate is kept. Default: 10 / rate.",
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

/// What is known is a rate, and a time.
fn verify(operator: &graph::Operator) -> Result<(), Misuse> {
    for name in ["rate", "period"] {
        let Some(expr) = crate::lower::param(operator, name) else {
            continue;
        };
        if let graph::ExprKind::Const(Value::Float64(number)) = expr.kind
            && !(number > 0.0 && number.is_finite())
        {
            let message = format!("`{name}` is {number}, and should be above 0");
            return wrong(Part::Param(name), message, "");
        }
    }
    Ok(())
}

fn build(build: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    let rate = build.number("rate")?.unwrap_or_default();
    let period = build.number("period")?.unwrap_or(10.0 / rate);
    if !(rate > 0.0 && rate.is_finite() && period > 0.0) {
        let message = format!("a rate of {rate} in {period} seconds is not a rate");
        return Err(Fault::new(FaultKind::Limit, message));
    }
    Ok(Box::new(Throttle {
        pace: Pace::new(rate, period),
        stop: build.stop(),
        counts_markers: build.flag("includePunctuations", false)?,
        is_precise: build.flag("precise", false)?,
    }))
}

struct Throttle {
    pace: Pace,
    stop: Stop,
    counts_markers: bool,
    is_precise: bool,
}

/// With `precise`, the last part of a wait is spun: sleeping may take that much longer.
const SPIN: Duration = Duration::from_millis(1);

impl Throttle {
    fn wait(&mut self) {
        let due = self.pace.next(Instant::now());
        if self.is_precise {
            self.stop.sleep_until(due.checked_sub(SPIN).unwrap_or(due));
            while Instant::now() < due && !self.stop.is_requested() {
                std::hint::spin_loop();
            }
        } else {
            self.stop.sleep_until(due);
        }
        self.pace.count(Instant::now());
    }
}

impl Operator for Throttle {
    fn process(&mut self, _: u32, tuple: TupleRef<'_>, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.wait();
        out.submit(0, tuple)
    }

    fn window_marker(&mut self, _: u32, _: &mut dyn Outlet) -> Result<(), Fault> {
        if self.counts_markers {
            self.wait();
        }
        Ok(())
    }
}

/// Two adjacent buckets of half a period each. The tuples in both are to come no faster than the
/// rate, counted from the beginning of the older one: who was idle may catch up on a period at
/// most.
#[derive(Debug)]
struct Pace {
    /// Seconds a tuple.
    each: f64,
    half: Duration,
    /// The older bucket's beginning; the younger one's is half a period later.
    begun: Option<Instant>,
    counts: [f64; 2],
}

impl Pace {
    fn new(rate: f64, period: f64) -> Pace {
        let half = Duration::try_from_secs_f64(period / 2.0).unwrap_or(Duration::MAX / 4);
        Pace {
            each: 1.0 / rate,
            half: half.max(Duration::from_nanos(1)),
            begun: None,
            counts: [0.0; 2],
        }
    }

    /// When the next tuple may go.
    fn next(&mut self, now: Instant) -> Instant {
        let begun = self.turn(now);
        let ahead = (self.counts[0] + self.counts[1]) * self.each;
        begun + Duration::try_from_secs_f64(ahead).unwrap_or(Duration::MAX / 4)
    }

    /// A tuple goes.
    fn count(&mut self, now: Instant) {
        let begun = self.turn(now);
        let is_younger = now.saturating_duration_since(begun) >= self.half;
        self.counts[usize::from(is_younger)] += 1.0;
    }

    /// Moves the buckets so that now is in one of them; the older one's beginning.
    fn turn(&mut self, now: Instant) -> Instant {
        let begun = *self.begun.get_or_insert(now);
        let since = now.saturating_duration_since(begun);
        if since < self.half * 2 {
            return begun;
        }
        let begun = if since < self.half * 3 {
            self.counts = [self.counts[1], 0.0];
            begun + self.half
        } else {
            self.counts = [0.0; 2];
            now
        };
        self.begun = Some(begun);
        begun
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When each of so many tuples goes, in milliseconds, if all are there at once.
    fn times(pace: &mut Pace, from: Instant, at: Duration, count: usize) -> Vec<u128> {
        let mut now = from + at;
        let turns = (0..count).map(|_| {
            now = pace.next(now).max(now);
            pace.count(now);
            now.duration_since(from).as_millis()
        });
        turns.collect()
    }

    #[test]
    fn tuples_go_at_the_rate() {
        let from = Instant::now();
        let mut pace = Pace::new(10.0, 1.0);
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
        let mut pace = Pace::new(10.0, 1.0);
        times(&mut pace, from, Duration::ZERO, 1);
        let went = times(&mut pace, from, Duration::from_millis(60_000), 20);
        let at_once = went.iter().filter(|&&at| at == 60_000).count();
        assert!(at_once <= 10, "{went:?}");
    }
}
