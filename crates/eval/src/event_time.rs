//! Event time as expressions of an operator may ask about it: the operator's clock, how far it has
//! come, and the pane whose results are being made.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use graph::EventClock;
use tuple::{EventTime, Resolution};

/// The event time of one running operator. Threads that run it share it.
#[derive(Debug, Default)]
pub struct OperatorEventTime {
    /// The attribute that holds the event time, and what it counts.
    clock: Option<(Arc<str>, Resolution)>,
    /// Watermark, shared with the part of the run time that advances the operator's watermarks.
    watermark: Arc<Mutex<Option<EventTime>>>,
    pane: Mutex<Option<Pane>>,
}

/// A pane of a window over event time while it fires.
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

impl OperatorEventTime {
    /// The event time of an operator with this clock, before its first tuple.
    pub fn new(clock: Option<&EventClock>) -> OperatorEventTime {
        let clock = clock.map(|clock| (clock.attribute.clone(), clock.resolution));
        OperatorEventTime {
            clock,
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
        clock.map(|(attribute, resolution)| (&**attribute, *resolution))
    }

    /// The operator's watermark, if there was one.
    pub fn watermark(&self) -> Option<EventTime> {
        *lock(&self.watermark)
    }

    /// The operator's watermark has advanced.
    pub fn advance_watermark(&self, at: EventTime) {
        *lock(&self.watermark) = Some(at);
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
