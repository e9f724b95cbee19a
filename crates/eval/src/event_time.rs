//! Event time as expressions of an operator may ask about it: the operator's clock, how far it has
//! come, and the pane whose results are being made.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use graph::{EventClock, NumberedPanes, PortIndex};
use tuple::{EventTime, Resolution, Value};

use crate::operator_watermark::OperatorWatermark;

/// The event time of one running operator. Threads that run it share it.
#[derive(Debug, Default)]
pub struct OperatorEventTime {
    clock: Option<EventClock>,
    /// The clock's output ports.
    outputs: Arc<[PortIndex]>,
    /// Watermark, shared with the part of the run time that advances the operator's watermarks.
    watermark: Arc<OperatorWatermark>,
    pane: Mutex<Option<Pane>>,
}

/// A pane or session of a window over event time while it fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pane {
    /// The first instant in it.
    pub start: EventTime,
    /// The first instant behind it.
    pub end: EventTime,
    /// Cause for which the pane fires.
    pub timing: PaneTiming,
    /// Number of times that the pane has fired before.
    pub index: u64,
}

/// Cause for which a pane fires, `Sys.PaneTiming` in SPL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum PaneTiming {
    /// The watermark has not passed its end.
    Early = 0,
    /// The watermark has just passed the pane's end.
    OnComplete = 1,
    /// The watermark had passed the pane's end before, and late tuples have come.
    Late = 2,
}

impl Pane {
    /// A pane with a number, which fires because the watermark has passed its end.
    pub fn firing(panes: &NumberedPanes, number: i64, fire_count: u64) -> Pane {
        let (start, end) = panes.bounds(number);
        Pane::between(start, end, fire_count)
    }

    /// A pane that fires because the watermark has passed its end, after it has fired so often.
    pub fn between(start: EventTime, end: EventTime, fire_count: u64) -> Pane {
        Pane {
            start,
            end,
            timing: match fire_count {
                0 => PaneTiming::OnComplete,
                _ => PaneTiming::Late,
            },
            index: fire_count,
        }
    }
}

impl OperatorEventTime {
    /// The event time of an operator with this clock, before its first tuple.
    pub fn new(clock: Option<&EventClock>) -> OperatorEventTime {
        let lag_ns = clock.map_or(0, |clock| clock.lag_ns);
        OperatorEventTime {
            clock: clock.cloned(),
            watermark: Arc::new(OperatorWatermark::new(lag_ns)),
            outputs: clock.map_or(Arc::default(), |clock| clock.outputs.clone().into()),
            ..OperatorEventTime::default()
        }
    }

    /// Makes the operator's watermark that of another operator from now on.
    pub fn share_watermark_of(&mut self, other: &OperatorEventTime) {
        self.watermark = other.watermark.clone();
    }

    /// The attribute that holds the event time, and what it counts; `None`: there is no event time.
    pub fn clock(&self) -> Option<(&str, Resolution)> {
        let clock = self.clock.as_ref();
        clock.map(|clock| (&*clock.attribute, clock.resolution))
    }

    /// The watermark, for code that advances it.
    pub fn generated_watermark(&self) -> &OperatorWatermark {
        &self.watermark
    }

    /// The operator's watermark, if there was one.
    pub fn watermark(&self) -> Option<EventTime> {
        self.watermark.current()
    }

    /// The operator's watermark has advanced.
    pub fn advance_watermark(&self, at: EventTime) {
        self.watermark.set(at);
    }

    /// Advances the operator's watermark by an event time that has passed: a timestamp, or an
    /// integer of ticks. Returns the watermark and the ports to send it at, if it has advanced by
    /// the clock's gap since one was sent last.
    pub fn generate_watermark(&self, time: &Value) -> Option<(EventTime, Arc<[PortIndex]>)> {
        let clock = self.clock.as_ref()?;
        let unit_ns = match time {
            Value::Timestamp(_) => 1,
            _ => clock.resolution.tick_ns() as i64,
        };
        let time = EventTime::from_value(time, clock.resolution)?;
        let sent = self.watermark.advance(time, unit_ns, clock.min_gap_ns);
        sent.map(|at| (at, self.outputs.clone()))
    }

    /// The pane that fires.
    pub fn firing_pane(&self) -> Option<Pane> {
        *lock(&self.pane)
    }

    /// Sets the pane that fires.
    pub fn set_firing_pane(&self, pane: Option<Pane>) {
        *lock(&self.pane) = pane;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
