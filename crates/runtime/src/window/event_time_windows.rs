//! Windows over event time of either kind, as an operator with one input port has them.

use eval::Fault;
use graph::Policy;
use tuple::{EventTime, Resolution};

use super::panes::{PaneObserver, Panes};
use super::sessions::SessionWindows;

/// The panes or sessions of one input port.
#[derive(Debug)]
pub enum EventTimeWindows<T> {
    /// Windows that begin at equal distances.
    Panes(Panes<T>),
    /// Windows that end after a gap without items.
    Sessions(SessionWindows<T>),
}

impl<T> EventTimeWindows<T> {
    /// Windows without items yet, and where tuples have their event time: the attribute's index,
    /// and the length of its tick. `None` if the policy is not one of event time. `is_merging`
    /// says whether a partition of a pane keeps one item, into which others are merged.
    pub fn new(
        policy: &Policy,
        is_merging: bool,
    ) -> Option<(EventTimeWindows<T>, usize, Resolution)> {
        Some(match *policy {
            Policy::Interval(interval) => (
                EventTimeWindows::Panes(Panes::new(interval, is_merging)),
                interval.attribute as usize,
                interval.resolution,
            ),
            Policy::Session(gap) => (
                EventTimeWindows::Sessions(SessionWindows::new(gap)),
                gap.attribute as usize,
                gap.resolution,
            ),
            _ => return None,
        })
    }

    /// Number of partitions in all panes, or of sessions.
    pub fn partition_count(&self) -> usize {
        match self {
            EventTimeWindows::Panes(panes) => panes.partition_count(),
            EventTimeWindows::Sessions(sessions) => sessions.session_count(),
        }
    }

    /// Number of windows with items that have not fired, and of the items in these windows.
    pub fn incomplete_counts(&self) -> (u64, u64) {
        match self {
            EventTimeWindows::Panes(panes) => panes.incomplete_counts(),
            EventTimeWindows::Sessions(sessions) => sessions.incomplete_counts(),
        }
    }

    /// Whether an item with this event time is in no window: it comes too late, or lies between
    /// panes.
    pub fn is_outside(&self, at: EventTime) -> bool {
        match self {
            EventTimeWindows::Panes(panes) => panes.is_outside_panes(at),
            EventTimeWindows::Sessions(sessions) => sessions.is_too_late(at),
        }
    }

    /// Whether an item with this event time comes too late.
    pub fn is_too_late(&self, at: EventTime) -> bool {
        match self {
            EventTimeWindows::Panes(panes) => panes.is_too_late(at),
            EventTimeWindows::Sessions(sessions) => sessions.is_too_late(at),
        }
    }

    /// Adds an item to its windows, if it is in any.
    ///
    /// # Errors
    /// The fault of the observer. The item is then in some of its panes or in none.
    pub fn insert(
        &mut self,
        key: &[u8],
        at: EventTime,
        item: T,
        observer: &mut impl PaneObserver<T>,
    ) -> Result<(), Fault> {
        match self {
            EventTimeWindows::Panes(panes) => panes.insert(key, at, item, observer),
            EventTimeWindows::Sessions(sessions) => {
                sessions.insert(key, at, item, observer);
                Ok(())
            }
        }
    }

    /// Advances the watermark: windows whose end it has passed fire, and those that are old enough
    /// are discarded.
    ///
    /// # Errors
    /// The fault of the observer.
    pub fn advance(
        &mut self,
        to: EventTime,
        observer: &mut impl PaneObserver<T>,
    ) -> Result<(), Fault> {
        match self {
            EventTimeWindows::Panes(panes) => panes.advance(to, observer),
            EventTimeWindows::Sessions(sessions) => sessions.advance(to, observer),
        }
    }
}
