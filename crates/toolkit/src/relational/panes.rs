//! Operators with a window over event time: a pane that fires is known to the expressions of the output
//! clause while they are evaluated.

use graph::{Fault, Interval, Pane};
use runtime::window::{Items, PaneObserver, Panes};
use runtime::{Build, Incomplete, Operator, Outlet, Row};
use std::sync::Arc;
use tuple::{EventTime, Layout, TupleRef};

use super::windowed::{Firing, Keeper, Reported};
use crate::key::Key;

/// The operator.
pub struct PaneWindow<K: Keeper> {
    panes: Panes<K::Kept>,
    interval: Interval,
    partition: Key,
    input: Arc<Layout>,
    reported: Reported,
    keeper: K,
}

impl<K: Keeper> PaneWindow<K> {
    /// With panes like that.
    pub fn new(build: &mut Build<'_>, interval: Interval, keeper: K) -> Result<Self, Fault> {
        Ok(PaneWindow {
            panes: Panes::new(interval),
            interval,
            partition: Key::new(build.param_projection("partitionBy")?),
            input: build.inputs[0].clone(),
            reported: Reported::default(),
            keeper,
        })
    }

    /// The event time of a tuple; `None`: it is in no pane that is still there.
    fn time_of(&self, tuple: TupleRef<'_>) -> Option<EventTime> {
        let value = tuple.get(&self.input, self.interval.attribute as usize);
        let at = EventTime::of(&value, self.interval.resolution)?;
        (!self.panes.is_beyond(at)).then_some(at)
    }

    fn report(&mut self, out: &mut dyn Outlet) {
        if self.partition.is_given() {
            self.reported.set(self.panes.partitions(), out);
        }
    }
}

impl<K: Keeper> Operator for PaneWindow<K> {
    fn process(&mut self, _: u32, tuple: TupleRef<'_>, out: &mut dyn Outlet) -> Result<(), Fault> {
        let Some(at) = self.time_of(tuple) else {
            return Ok(());
        };
        let row = [Some(tuple)];
        let row = Row::new(&row);
        self.partition.read(&row, out)?;
        let kept = self.keeper.keep(tuple, &row, out)?;
        self.panes.insert(self.partition.bytes(), at, kept);
        self.report(out);
        Ok(())
    }

    fn watermark(&mut self, at: EventTime, out: &mut dyn Outlet) -> Result<(), Fault> {
        let keeper = &mut self.keeper;
        let advanced = self.panes.advance(at, &mut Firing { keeper, out });
        show(None, out);
        self.report(out);
        advanced
    }

    fn incomplete(&self) -> Option<Incomplete> {
        let (windows, tuples) = self.panes.incomplete();
        Some(Incomplete {
            windows,
            tuples,
            help: HELP,
        })
    }
}

/// How panes that are left over would have given something.
const HELP: &str = "a pane gives results when a watermark passes its end: a smaller `lag` in `@eventTime` \
                    lets it pass earlier, and so does a last tuple of a later time";

/// Tells the output clause which pane fires.
fn show(pane: Option<Pane>, out: &mut dyn Outlet) {
    if let Some(events) = out.services().events() {
        events.set_pane(pane);
    }
}

impl<K: Keeper> PaneObserver<K::Kept> for Firing<'_, K> {
    fn fire(&mut self, pane: Pane, items: Items<'_, K::Kept>) -> Result<(), Fault> {
        show(Some(pane), self.out);
        self.keeper.send_pane(items, self.out)
    }

    fn leave(&mut self, kept: K::Kept) {
        self.keeper.take_back(kept);
    }
}
