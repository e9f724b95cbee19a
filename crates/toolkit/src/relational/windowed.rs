//! Operators with one window: everything but the window function.
//!
//! ```text
//!   tuple -> make_item -> [ Windows: count, time, delta, punct ] -> WindowObserver
//!                     \-> [ EventTimeWindows: pane_window ]      -> submit_pane
//! ```
//! A [`WindowFunction`] makes the items of the window and the output; the rest is here, for all
//! operators.

use std::sync::Arc;

use eval::Fault;
use graph::{PortIndex, Window, WindowKind};
use runtime::window::{WindowArrival, WindowObserver, Windows};
use runtime::{BuildContext, EvaluationInputs, IncompleteWindows, Operator, Outlet, TimerId};
use tuple::{Layout, TupleRef};

use super::pane_window::PaneWindowOperator;
use super::partition_count::PartitionCountMetric;
use super::window_clock::WindowClock;
use super::window_function::{WindowFiring, WindowFunction};
use crate::key_evaluator::KeyEvaluator;

/// The window of the operator's only input port.
pub fn window<'b>(build: &BuildContext<'b>) -> &'b Window {
    let window = build.operator.inputs[0].window.as_ref();
    window.expect("the model asks for a window")
}

/// Builds the operator instance of an invocation.
pub fn build<K: WindowFunction + 'static>(
    build: &mut BuildContext<'_>,
    function: K,
) -> Result<Box<dyn Operator>, Fault>
where
    for<'a> WindowFiring<'a, K>: WindowObserver<K::Item>,
{
    let window = window(build);
    if matches!(window.kind, WindowKind::TimeInterval | WindowKind::Session) {
        return Ok(Box::new(PaneWindowOperator::new(build, window, function)?));
    }
    if let Some(seconds) = window.period_s() {
        build.add_timer(seconds);
    }
    let windows = Windows::new(window);
    Ok(Box::new(WindowedOperator {
        clock: WindowClock::new(windows.is_timed()),
        windows,
        partition_key: KeyEvaluator::new(build.param_projection("partitionBy")?),
        input: build.inputs[0].clone(),
        partition_metric: PartitionCountMetric::default(),
        incomplete_help: function.incomplete_help(window),
        function,
    }))
}

struct WindowedOperator<K: WindowFunction> {
    windows: Windows<K::Item>,
    partition_key: KeyEvaluator,
    input: Arc<Layout>,
    clock: WindowClock,
    partition_metric: PartitionCountMetric,
    incomplete_help: Option<&'static str>,
    function: K,
}

impl<K: WindowFunction> Operator for WindowedOperator<K>
where
    for<'a> WindowFiring<'a, K>: WindowObserver<K::Item>,
{
    fn process(
        &mut self,
        _: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let inputs = [Some(tuple)];
        let inputs = EvaluationInputs::new(&inputs);
        self.partition_key.evaluate(&inputs, out)?;
        let item = self.function.make_item(tuple, &inputs, out)?;
        let (evict_by, trigger_by) = self.windows.deltas(tuple, &self.input);
        let arrival = WindowArrival {
            key: self.partition_key.bytes(),
            now_ns: self.clock.now_ns(),
            evict_by,
            trigger_by,
            item,
        };
        let function = &mut self.function;
        self.windows
            .insert(arrival, &mut WindowFiring { function, out })?;
        self.report_partitions(out);
        Ok(())
    }

    fn process_window_marker(&mut self, _: PortIndex, out: &mut dyn Outlet) -> Result<(), Fault> {
        let function = &mut self.function;
        self.windows
            .process_window_marker(&mut WindowFiring { function, out })?;
        self.report_partitions(out);
        Ok(())
    }

    fn on_timer(&mut self, _: TimerId, out: &mut dyn Outlet) -> Result<(), Fault> {
        let function = &mut self.function;
        let now_ns = self.clock.now_ns();
        self.windows
            .on_timer(now_ns, &mut WindowFiring { function, out })?;
        self.report_partitions(out);
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.function.finish(&self.windows, out)
    }

    fn incomplete_windows(&self) -> Option<IncompleteWindows> {
        let help = self.incomplete_help?;
        let partitions = self.windows.partitions();
        let incomplete = partitions.filter(|partition| self.function.is_incomplete(partition));
        let none = IncompleteWindows {
            help,
            ..IncompleteWindows::default()
        };
        Some(incomplete.fold(none, |sum, partition| IncompleteWindows {
            windows: sum.windows + 1,
            tuples: sum.tuples + partition.len() as u64,
            ..sum
        }))
    }
}

impl<K: WindowFunction> WindowedOperator<K> {
    fn report_partitions(&mut self, out: &mut dyn Outlet) {
        if self.partition_key.has_expressions() {
            self.partition_metric
                .set(self.windows.partition_count(), out);
        }
    }
}
