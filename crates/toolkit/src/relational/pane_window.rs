//! Operators with a window over event time. While a pane or a session fires, the expressions of
//! the output clause know it.

use std::sync::Arc;

use eval::{Fault, Pane};
use graph::{PortIndex, Window};
use runtime::window::{EventTimeWindows, PaneItems, PaneObserver};
use runtime::{
    BuildContext, EvaluationInputs, IncompleteWindows, Operator, Outlet, count_late_tuple,
};
use tuple::{EventTime, Layout, Resolution, TupleRef};

use super::partition_count::PartitionCountMetric;
use super::window_function::{WindowFiring, WindowFunction};
use crate::key_evaluator::KeyEvaluator;

/// The operator instance: panes or sessions, and the function over their tuples.
pub struct PaneWindowOperator<K: WindowFunction> {
    windows: EventTimeWindows<K::Item>,
    /// Index of the attribute with the event time, and the length of its tick.
    time_attribute: usize,
    resolution: Resolution,
    incomplete_help: &'static str,
    partition_key: KeyEvaluator,
    input: Arc<Layout>,
    partition_metric: PartitionCountMetric,
    function: K,
}

impl<K: WindowFunction> PaneWindowOperator<K> {
    /// An operator with this window.
    pub fn new(build: &mut BuildContext<'_>, window: &Window, function: K) -> Result<Self, Fault> {
        let made = EventTimeWindows::new(&window.evict, function.merges_in_panes());
        let (windows, time_attribute, resolution) = made.expect("a window over event time");
        Ok(PaneWindowOperator {
            incomplete_help: match windows {
                EventTimeWindows::Panes(_) => INCOMPLETE_PANES_HELP,
                EventTimeWindows::Sessions(_) => INCOMPLETE_SESSIONS_HELP,
            },
            windows,
            time_attribute,
            resolution,
            partition_key: KeyEvaluator::new(build.param_projection("partitionBy")?),
            input: build.inputs[0].clone(),
            partition_metric: PartitionCountMetric::default(),
            function,
        })
    }

    /// The event time of a tuple; `None` if it is in no window. Counts it if it is too late.
    fn event_time(&self, tuple: TupleRef<'_>, out: &mut dyn Outlet) -> Option<EventTime> {
        let value = tuple.get(&self.input, self.time_attribute);
        let at = EventTime::from_value(&value, self.resolution)?;
        if self.windows.is_too_late(at) {
            count_late_tuple(out);
        }
        (!self.windows.is_outside(at)).then_some(at)
    }

    fn report_partitions(&mut self, out: &mut dyn Outlet) {
        if self.partition_key.has_expressions() {
            self.partition_metric
                .set(self.windows.partition_count(), out);
        }
    }
}

impl<K: WindowFunction> Operator for PaneWindowOperator<K> {
    fn process(
        &mut self,
        _: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let Some(at) = self.event_time(tuple, out) else {
            return Ok(());
        };
        let inputs = [Some(tuple)];
        let inputs = EvaluationInputs::new(&inputs);
        self.partition_key.evaluate(&inputs, out)?;
        let mut kept = self.function.make_item(tuple, &inputs, out)?;
        if !self.function.merges_in_panes() {
            self.function.count_item(&mut kept)?;
        }
        let function = &mut self.function;
        let mut observer = WindowFiring { function, out };
        let key = self.partition_key.bytes();
        let inserted = self.windows.insert(key, at, kept, &mut observer);
        self.report_partitions(out);
        inserted
    }

    fn process_watermark(&mut self, at: EventTime, out: &mut dyn Outlet) -> Result<(), Fault> {
        let function = &mut self.function;
        let advanced = self
            .windows
            .advance(at, &mut WindowFiring { function, out });
        set_current_pane(None, out);
        self.report_partitions(out);
        advanced
    }

    fn incomplete_windows(&self) -> Option<IncompleteWindows> {
        let (windows, tuples) = self.windows.incomplete_counts();
        Some(IncompleteWindows {
            windows,
            tuples,
            help: self.incomplete_help,
        })
    }
}

/// Help for programs that end with panes that have not fired.
pub const INCOMPLETE_PANES_HELP: &str = "a pane gives results when a watermark passes its end: a smaller `lag` in `@eventTime` \
                    lets it pass earlier, and so does a last tuple of a later time";

/// Help for programs that end with sessions that have not fired.
const INCOMPLETE_SESSIONS_HELP: &str = "a session gives results when a watermark passes its last tuple by the gap: a smaller `lag` in \
                    `@eventTime` lets it pass earlier, and so does a last tuple of a later time";

/// Sets the pane that functions of the output clause refer to.
pub fn set_current_pane(pane: Option<Pane>, out: &mut dyn Outlet) {
    if let Some(events) = out.services().event_time() {
        events.set_firing_pane(pane);
    }
}

impl<K: WindowFunction> PaneObserver<K::Item> for WindowFiring<'_, K> {
    fn fire(&mut self, pane: Pane, items: PaneItems<'_, K::Item>) -> Result<(), Fault> {
        set_current_pane(Some(pane), self.out);
        self.function.submit_pane(items, self.out)
    }

    fn merge(
        &mut self,
        kept: Option<&mut K::Item>,
        item: &K::Item,
    ) -> Result<Option<K::Item>, Fault> {
        self.function.merge_in_pane(kept, item)
    }

    fn leave(&mut self, kept: K::Item) {
        self.function.recycle_item(kept);
    }
}
