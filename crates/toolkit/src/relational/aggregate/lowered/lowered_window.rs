//! Windows that are lowered, but for panes.

use graph::{OperatorNode, Policy, Window, WindowKind};
use tuple::{Type, Value};

use super::delta;
use crate::lower;

/// A window that is lowered.
pub(super) enum LoweredWindow {
    /// A tumbling window, and what flushes it.
    Tumbling(FlushPolicy),
    /// A sliding window of a number of tuples, at least 1.
    Sliding(u32, Slide),
}

/// Policy that flushes a tumbling window.
#[derive(Clone, Debug)]
pub(super) enum FlushPolicy {
    /// The tuple that makes them this many, at least 1.
    Count(u32),
    /// A tuple whose attribute is above that of the first by more than an amount: it is the first
    /// of the next window.
    Delta(u32, Value),
    /// Each window marker of the stream.
    Punct,
    /// A timer with this period in seconds.
    Time(f64),
}

/// When a sliding window gives results.
#[derive(Clone, Copy)]
pub(super) struct Slide {
    /// Number of tuples from one result to the next, at least 1.
    pub(super) every: u32,
    /// Whether a window that has not been full gives results.
    pub(super) fires_incomplete: bool,
}

impl LoweredWindow {
    /// The window of an operator, if it can be lowered.
    pub(super) fn of(operator: &OperatorNode) -> Option<LoweredWindow> {
        let window = operator.inputs[0].window.as_ref()?;
        let evicts_partitions = window.partition.as_ref().is_some_and(|p| p.evict.is_some());
        if evicts_partitions {
            return None;
        }
        match (window.kind, &window.evict) {
            // Sums of parts of values, as `wide_mean` has them, hold so many.
            (WindowKind::Tumbling, Policy::Count(size @ 1..0x8000_0000)) => {
                Some(LoweredWindow::Tumbling(FlushPolicy::Count(*size)))
            }
            (WindowKind::Tumbling, Policy::Delta(attribute, amount)) => {
                let ty = &operator.inputs[0].schema.attributes[*attribute as usize].ty;
                let policy = FlushPolicy::Delta(*attribute, amount.clone());
                delta::can_lower(ty, amount).then_some(LoweredWindow::Tumbling(policy))
            }
            (WindowKind::Tumbling, Policy::Punct) => {
                Some(LoweredWindow::Tumbling(FlushPolicy::Punct))
            }
            (WindowKind::Tumbling, Policy::Time(seconds)) => {
                Some(LoweredWindow::Tumbling(FlushPolicy::Time(*seconds)))
            }
            (WindowKind::Sliding, Policy::Count(size @ 1..0x8000_0000)) => {
                let slide = Slide::of(operator, window)?;
                Some(LoweredWindow::Sliding(*size, slide))
            }
            _ => None,
        }
    }
}

impl FlushPolicy {
    /// Type of a number of tuples in a window.
    pub(super) fn count_type(&self) -> Type {
        match self {
            FlushPolicy::Count(_) => Type::Uint32,
            _ => Type::Uint64,
        }
    }

    /// Whether the windows of all partitions are flushed together.
    pub(super) fn flushes_all(&self) -> bool {
        matches!(self, FlushPolicy::Punct | FlushPolicy::Time(_))
    }

    /// Number of tuples below which a window has not fired.
    pub(super) fn full_size(&self) -> u64 {
        match self {
            FlushPolicy::Count(size) => (*size).into(),
            _ => u64::MAX,
        }
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
