//! Operators with one window: what they have in common, whatever they make of its tuples.
//!
//! ```text
//!   tuple -> keep -> [ windows: count, time, delta, punct ] -> Observer of Firing
//!                 \-> [ panes: event time ]                 -> send_pane      (super::panes)
//! ```
//! A [`WindowFunction`] says what is kept of a tuple and what becomes of it; the rest is the same
//! for all.

use eval::Fault;
use graph::{Policy, Window};
use runtime::window::{PaneItems, WindowArrival, WindowObserver, WindowPartition, Windows};
use runtime::{BuildContext, EvaluationInputs, IncompleteWindows, Operator, Outlet, TimerId};
use std::sync::Arc;
use tuple::{Layout, TupleRef};

use super::pane_window::PaneWindowOperator;
use super::window_clock::WindowClock;
use crate::key_evaluator::KeyEvaluator;

/// What an operator keeps of the tuples of its window, and what it makes of them.
pub trait WindowFunction: Send {
    /// A tuple in the window.
    type Item: Send;
    /// Of a tuple that has come.
    fn make_item(
        &mut self,
        tuple: TupleRef<'_>,
        row: &EvaluationInputs<'_>,
        out: &mut dyn Outlet,
    ) -> Result<Self::Item, Fault>;
    /// A tuple is in no window any more.
    fn recycle_item(&mut self, kept: Self::Item);
    /// A partition of a pane over event time fires with all that it holds.
    fn submit_pane(
        &mut self,
        items: PaneItems<'_, Self::Item>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault>;
    /// What a program would have to say to get results of windows that do not get full; `None`: it
    /// makes something of what they hold in the end.
    fn incomplete_help(&self, window: &Window) -> Option<&'static str>;
    /// Whether the tuples of a partition have given nothing, and will not.
    fn is_incomplete(&self, partition: &WindowPartition<Self::Item>) -> bool {
        !partition.is_empty()
    }
    /// There will be no more tuples; these are still in the windows.
    fn finish(&mut self, windows: &Windows<Self::Item>, out: &mut dyn Outlet) -> Result<(), Fault> {
        let _ = (windows, out);
        Ok(())
    }
}

/// The windows' observer for one call on the operator: each keeper makes it one.
pub struct WindowFiring<'a, K> {
    pub function: &'a mut K,
    pub out: &'a mut dyn Outlet,
}

/// The window of the operator's only input port.
pub fn window<'b>(build: &BuildContext<'b>) -> &'b Window {
    let window = build.operator.inputs[0].window.as_ref();
    window.expect("the model asks for a window")
}

/// Makes the operator.
pub fn build<K: WindowFunction + 'static>(
    build: &mut BuildContext<'_>,
    keeper: K,
) -> Result<Box<dyn Operator>, Fault>
where
    for<'a> WindowFiring<'a, K>: WindowObserver<K::Item>,
{
    let window = window(build);
    if let Policy::Interval(interval) = window.evict {
        return Ok(Box::new(PaneWindowOperator::new(build, interval, keeper)?));
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
        incomplete_help: keeper.incomplete_help(window),
        function: keeper,
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
    fn process(&mut self, _: u32, tuple: TupleRef<'_>, out: &mut dyn Outlet) -> Result<(), Fault> {
        let row = [Some(tuple)];
        let row = EvaluationInputs::new(&row);
        self.partition_key.evaluate(&row, out)?;
        let item = self.function.make_item(tuple, &row, out)?;
        let (evict_by, trigger_by) = self.windows.deltas(tuple, &self.input);
        let arrival = WindowArrival {
            key: self.partition_key.bytes(),
            now_ns: self.clock.now_ns(),
            evict_by,
            trigger_by,
            item,
        };
        let keeper = &mut self.function;
        self.windows.insert(
            arrival,
            &mut WindowFiring {
                function: keeper,
                out,
            },
        )?;
        self.report_partitions(out);
        Ok(())
    }

    fn process_window_marker(&mut self, _: u32, out: &mut dyn Outlet) -> Result<(), Fault> {
        let keeper = &mut self.function;
        self.windows.process_window_marker(&mut WindowFiring {
            function: keeper,
            out,
        })?;
        self.report_partitions(out);
        Ok(())
    }

    fn on_timer(&mut self, _: TimerId, out: &mut dyn Outlet) -> Result<(), Fault> {
        let keeper = &mut self.function;
        let now_ns = self.clock.now_ns();
        self.windows.on_timer(
            now_ns,
            &mut WindowFiring {
                function: keeper,
                out,
            },
        )?;
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

/// How many partitions the metric has.
#[derive(Default)]
pub struct PartitionCountMetric(usize);

impl PartitionCountMetric {
    /// Keeps the metric true; most tuples change nothing.
    #[inline]
    pub fn set(&mut self, partitions: usize, out: &mut dyn Outlet) {
        if partitions != self.0 {
            let more = partitions as i64 - self.0 as i64;
            out.services().add_to_metric("nCurrentPartitions", more);
            self.0 = partitions;
        }
    }
}
