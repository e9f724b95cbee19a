//! Windows of a number of tuples, as far as they are lowered.

use graph::{OperatorNode, Policy, Window, WindowKind};
use tuple::Value;

use crate::lower;

/// A window of a number of tuples.
#[derive(Clone, Copy)]
pub(super) struct CountWindow {
    /// Number of tuples of a full window, at least 1.
    pub(super) size: u32,
    /// Set for a sliding window.
    pub(super) slide: Option<Slide>,
}

/// When a sliding window gives results.
#[derive(Clone, Copy)]
pub(super) struct Slide {
    /// Number of tuples from one result to the next, at least 1.
    pub(super) every: u32,
    /// Whether a window that has not been full gives results.
    pub(super) fires_incomplete: bool,
}

impl CountWindow {
    /// The window of an operator, if it is of a number of tuples and nothing else flushes it.
    pub(super) fn of(operator: &OperatorNode) -> Option<CountWindow> {
        let window = operator.inputs[0].window.as_ref()?;
        let evicts_partitions = window.partition.as_ref().is_some_and(|p| p.evict.is_some());
        let size = match window.evict {
            // Sums of parts of values, as `wide_mean` has them, hold so many.
            Policy::Count(size @ 1..0x8000_0000) if !evicts_partitions => size,
            _ => return None,
        };
        let slide = match window.kind {
            WindowKind::Tumbling => None,
            WindowKind::Sliding => Some(Slide::of(operator, window)?),
            WindowKind::TimeInterval => return None,
        };
        Some(CountWindow { size, slide })
    }
}

impl Slide {
    fn of(operator: &OperatorNode, window: &Window) -> Option<Slide> {
        let every = match window.trigger {
            Some(Policy::Count(every)) => every.max(1),
            _ => return None,
        };
        let incomplete = "aggregateIncompleteWindows";
        let fires_incomplete = match lower::constant_param(operator, incomplete) {
            Some(Value::Boolean(fires)) => *fires,
            None if operator.param(incomplete).is_none() => false,
            _ => return None,
        };
        Some(Slide {
            every,
            fires_incomplete,
        })
    }
}
