//! What operators with windows over event time have in common: where a tuple has its time, and how a
//! pane that fires is known to the expressions of the output clause.

use graph::{Fault, Interval, Pane};
use runtime::window::{PaneObserver, Panes};
use runtime::{Build, Outlet};
use std::sync::Arc;
use tuple::{EventTime, Layout, TupleRef};

/// Sends what becomes of a partition of a pane.
pub trait Sums<T> {
    /// With all that it holds.
    fn send_pane(&mut self, items: &[Arc<T>], out: &mut dyn Outlet) -> Result<(), Fault>;
}

/// The window of the operator's only input port.
pub struct PaneWindow<T> {
    panes: Panes<T>,
    interval: Interval,
    input: Arc<Layout>,
    is_partitioned: bool,
    /// Partitions as the metric has them.
    reported: usize,
}

impl<T> PaneWindow<T> {
    /// An empty one.
    pub fn new(build: &Build<'_>, interval: Interval) -> PaneWindow<T> {
        let window = build.operator.inputs[0].window.as_ref();
        PaneWindow {
            is_partitioned: window.is_some_and(|window| window.partition.is_some()),
            panes: Panes::new(interval),
            interval,
            input: build.inputs[0].clone(),
            reported: 0,
        }
    }

    /// The event time of a tuple; `None`: it is in no pane that is still there.
    pub fn time_of(&self, tuple: TupleRef<'_>) -> Option<EventTime> {
        let value = tuple.get(&self.input, self.interval.attribute as usize);
        let at = EventTime::of(&value, self.interval.resolution)?;
        (!self.panes.is_beyond(at)).then_some(at)
    }

    /// Takes an item.
    pub fn insert(&mut self, key: &[u8], at: EventTime, item: T) {
        self.panes.insert(key, at, item);
    }

    /// The watermark has advanced: panes fire, each partition by itself.
    pub fn advance(
        &mut self,
        at: EventTime,
        sums: &mut impl Sums<T>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        self.report(out);
        let mut firing = Firing { sums, out };
        let advanced = self.panes.advance(at, &mut firing);
        show(None, out);
        self.report(out);
        advanced
    }

    /// Keeps the metric true.
    fn report(&mut self, out: &mut dyn Outlet) {
        let partitions = self.panes.partitions();
        if self.is_partitioned && partitions != self.reported {
            let more = partitions as i64 - self.reported as i64;
            out.services().count("nCurrentPartitions", more);
            self.reported = partitions;
        }
    }
}

/// Tells the output clause which pane fires.
fn show(pane: Option<Pane>, out: &mut dyn Outlet) {
    if let Some(events) = out.services().events() {
        events.set_pane(pane);
    }
}

/// The panes' observer for one watermark.
struct Firing<'a, S> {
    sums: &'a mut S,
    out: &'a mut dyn Outlet,
}

impl<T, S: Sums<T>> PaneObserver<T> for Firing<'_, S> {
    fn fire(&mut self, pane: Pane, items: &[Arc<T>]) -> Result<(), Fault> {
        show(Some(pane), self.out);
        self.sums.send_pane(items, self.out)
    }
}
