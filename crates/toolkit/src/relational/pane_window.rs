//! Operators with a window over event time. While a pane fires, the expressions of the output
//! clause know it.

use std::sync::Arc;

use eval::{Fault, Pane};
use graph::{PortIndex, TimeInterval};
use runtime::window::{PaneItems, PaneObserver, Panes};
use runtime::{BuildContext, EvaluationInputs, IncompleteWindows, Operator, Outlet};
use tuple::{EventTime, Layout, TupleRef};

use super::partition_count::PartitionCountMetric;
use super::window_function::{WindowFiring, WindowFunction};
use crate::key_evaluator::KeyEvaluator;

/// The operator instance: panes, and the function over their tuples.
pub struct PaneWindowOperator<K: WindowFunction> {
    panes: Panes<K::Item>,
    interval: TimeInterval,
    partition_key: KeyEvaluator,
    input: Arc<Layout>,
    partition_metric: PartitionCountMetric,
    function: K,
}

impl<K: WindowFunction> PaneWindowOperator<K> {
    /// An operator with panes of this interval.
    pub fn new(
        build: &mut BuildContext<'_>,
        interval: TimeInterval,
        function: K,
    ) -> Result<Self, Fault> {
        Ok(PaneWindowOperator {
            panes: Panes::new(interval, function.merges_in_panes()),
            interval,
            partition_key: KeyEvaluator::new(build.param_projection("partitionBy")?),
            input: build.inputs[0].clone(),
            partition_metric: PartitionCountMetric::default(),
            function,
        })
    }

    /// The event time of a tuple; `None` if all of its panes have fired already.
    fn event_time(&self, tuple: TupleRef<'_>) -> Option<EventTime> {
        let value = tuple.get(&self.input, self.interval.attribute as usize);
        let at = EventTime::from_value(&value, self.interval.resolution)?;
        (!self.panes.is_outside_panes(at)).then_some(at)
    }

    fn report_partitions(&mut self, out: &mut dyn Outlet) {
        if self.partition_key.has_expressions() {
            self.partition_metric.set(self.panes.partition_count(), out);
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
        let Some(at) = self.event_time(tuple) else {
            return Ok(());
        };
        let inputs = [Some(tuple)];
        let inputs = EvaluationInputs::new(&inputs);
        self.partition_key.evaluate(&inputs, out)?;
        let kept = self.function.make_item(tuple, &inputs, out)?;
        let function = &mut self.function;
        let mut observer = WindowFiring { function, out };
        let key = self.partition_key.bytes();
        let inserted = self.panes.insert(key, at, kept, &mut observer);
        self.report_partitions(out);
        inserted
    }

    fn process_watermark(&mut self, at: EventTime, out: &mut dyn Outlet) -> Result<(), Fault> {
        let function = &mut self.function;
        let advanced = self.panes.advance(at, &mut WindowFiring { function, out });
        set_current_pane(None, out);
        self.report_partitions(out);
        advanced
    }

    fn incomplete_windows(&self) -> Option<IncompleteWindows> {
        let (windows, tuples) = self.panes.incomplete_counts();
        Some(IncompleteWindows {
            windows,
            tuples,
            help: INCOMPLETE_PANES_HELP,
        })
    }
}

/// Help for programs that end with panes that have not fired.
pub const INCOMPLETE_PANES_HELP: &str = "a pane gives results when a watermark passes its end: a smaller `lag` in `@eventTime` \
                    lets it pass earlier, and so does a last tuple of a later time";

/// Sets the pane that functions of the output clause refer to.
fn set_current_pane(pane: Option<Pane>, out: &mut dyn Outlet) {
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
