//! The operator instance of an Aggregate that is not lowered.

use std::sync::Arc;

use eval::{Fault, StateMemory};
use graph::{Expr, Policy, PortIndex, Window, WindowKind};
use runtime::abi::Projection;
use runtime::window::{LeaveReason, PaneItems, WindowObserver, WindowPartition};
use runtime::{BuildContext, EvaluationInputs, Operator, Outlet};
use tuple::{Punctuation, TupleBuf, TupleRef};

use super::aggregate_call::AggregateCall;
use super::aggregate_item::AggregateItem;
use super::group_results::GroupResults;
use super::grouping::Grouping;
use super::incomplete_help::incomplete_help;
use super::partition_groups::PartitionGroups;
use super::running_groups;
use super::window_groups::{WindowGroups, WindowTuples};
use crate::relational::window_function::{WindowFiring, WindowFunction};
use crate::relational::windowed;

/// Evaluates the output of windows: the window function of an Aggregate.
struct AggregateWindowFunction {
    is_sliding: bool,
    incomplete: bool,
    evicted_partitions: bool,
    values: Projection,
    grouping: Grouping,
    results: GroupResults,
    /// Whether running results stand for the tuples, which are not kept.
    uses_running_groups: bool,
    /// Groups of sliding windows, by partition.
    partition_groups: PartitionGroups,
    /// Groups of windows that fire once, filled again for each window.
    fired_groups: WindowGroups,
    /// Number of tuples received.
    last_seq: u64,
    spare: Vec<AggregateItem>,
    /// Counts of the kept tuples, or of the groups of running results.
    memory: Arc<StateMemory>,
    /// A copy of a tuple that is merged into several panes.
    copied_tuple: TupleBuf,
}

/// Most panes of a tuple for which each has running results of its own; beyond that, tuples are
/// kept once for all panes.
const RUNNING_PANES_MAX: i128 = 8;

/// Builds the operator instance of an invocation.
pub fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    let window = windowed::window(build);
    let summary = AggregateWindowFunction::new(build, window)?;
    windowed::build(build, summary)
}

impl AggregateWindowFunction {
    /// The window function of an invocation with this window.
    fn new(
        build: &mut BuildContext<'_>,
        window: &Window,
    ) -> Result<AggregateWindowFunction, Fault> {
        let mut kept: Vec<Expr> = build.param_exprs("groupBy").unwrap_or_default().to_vec();
        let group_by = kept.len();
        let (mut calls, mut functions) = (Vec::new(), Vec::new());
        let port = &build.operator.outputs[0];
        for call in &port.calls {
            calls.push(AggregateCall::new(build, call, &mut kept, &mut functions)?);
        }
        let sees_tuples = calls
            .iter()
            .any(|call| matches!(call, AggregateCall::Custom(_)));
        let values = build.projection(&kept)?;
        Ok(AggregateWindowFunction {
            is_sliding: window.kind == WindowKind::Sliding,
            incomplete: build.flag("aggregateIncompleteWindows", false)?,
            evicted_partitions: build.flag("aggregateEvictedPartitions", false)?,
            uses_running_groups: has_few_results(window)
                && !sees_tuples
                && running_groups::can_run(&functions),
            grouping: Grouping::new(functions, values.layout.clone(), group_by),
            values,
            results: GroupResults::new(build, calls)?,
            partition_groups: PartitionGroups::default(),
            fired_groups: WindowGroups::of_single_firings(),
            last_seq: 0,
            spare: Vec::new(),
            memory: build.state_memory(),
            copied_tuple: TupleBuf::default(),
        })
    }
}

/// Whether running results are added to for each tuple a few times at most. Sliding windows need
/// their tuples again.
fn has_few_results(window: &Window) -> bool {
    match window.evict {
        Policy::Interval(interval) => {
            interval.duration_ns <= RUNNING_PANES_MAX.saturating_mul(interval.period_ns)
        }
        _ => window.kind == WindowKind::Tumbling,
    }
}

impl WindowFunction for AggregateWindowFunction {
    type Item = AggregateItem;

    #[inline]
    fn make_item(
        &mut self,
        tuple: TupleRef<'_>,
        inputs: &EvaluationInputs<'_>,
        out: &mut dyn Outlet,
    ) -> Result<AggregateItem, Fault> {
        let mut kept = self.spare.pop().unwrap_or_default();
        kept.tuple.copy_from(tuple);
        self.last_seq += 1;
        kept.seq = self.last_seq;
        self.values.write(inputs, out, &mut kept.values)?;
        Ok(kept)
    }

    fn count_item(&mut self, item: &mut AggregateItem) -> Result<(), Fault> {
        let bytes = size_of::<AggregateItem>() + item.tuple.len() + item.values.len();
        self.memory.add(bytes)?;
        item.counted_bytes = bytes;
        Ok(())
    }

    fn recycle_item(&mut self, mut kept: AggregateItem) {
        match std::mem::take(&mut kept.counted_bytes) {
            0 => {}
            bytes => self.memory.remove(bytes),
        }
        if let Some(running) = &mut kept.running_groups {
            running.clear(&self.memory);
        }
        self.spare.push(kept);
    }

    fn incomplete_help(&self, window: &Window) -> Option<&'static str> {
        Some(incomplete_help(window))
    }

    fn is_incomplete(&self, partition: &WindowPartition<AggregateItem>) -> bool {
        let gives = self.is_sliding && (self.incomplete || partition.is_full());
        !partition.is_empty() && !gives
    }

    fn merges_in_panes(&self) -> bool {
        self.uses_running_groups
    }

    fn merge_in_pane(
        &mut self,
        kept: Option<&mut AggregateItem>,
        item: &AggregateItem,
    ) -> Result<Option<AggregateItem>, Fault> {
        let mut first = None;
        let kept = kept.unwrap_or_else(|| first.insert(self.spare.pop().unwrap_or_default()));
        let running = kept.running_groups.get_or_insert_default();
        self.copied_tuple.copy_from(item.tuple.as_ref());
        let (tuple, values) = (&mut self.copied_tuple, item.values.as_ref());
        let added = running.add(tuple, values, &mut self.grouping, &self.memory);
        if added.is_err()
            && let Some(begun) = first.take()
        {
            self.recycle_item(begun);
        }
        added.map(|()| first)
    }

    fn submit_pane(
        &mut self,
        items: PaneItems<'_, AggregateItem>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let kept = items.get(0).filter(|_| self.uses_running_groups);
        match kept.and_then(|kept| kept.running_groups.as_deref()) {
            Some(running) => running.submit(running.tuple_count(), &mut self.results, out)?,
            None => self.submit_once(&items, out)?,
        }
        out.submit_punctuation(PortIndex(0), Punctuation::Window)
    }
}

impl WindowObserver<AggregateItem> for WindowFiring<'_, AggregateWindowFunction> {
    fn fire(
        &mut self,
        partition: Option<&WindowPartition<AggregateItem>>,
        total: usize,
    ) -> Result<(), Fault> {
        let Some(partition) = partition.filter(|partition| !partition.is_empty()) else {
            return self
                .out
                .submit_punctuation(PortIndex(0), Punctuation::Window);
        };
        if self.function.is_sliding && !partition.is_full() && !self.function.incomplete {
            return Ok(());
        }
        let total = if self.function.is_sliding {
            total
        } else {
            partition.len()
        };
        self.function.submit_groups(partition, total, self.out)
    }

    fn merge(
        &mut self,
        newest: Option<&mut AggregateItem>,
        item: AggregateItem,
    ) -> Result<Option<AggregateItem>, Fault> {
        self.function.merge_running(newest, item)
    }

    fn leave(&mut self, item: AggregateItem, _cause: LeaveReason) -> Result<(), Fault> {
        self.function.recycle_item(item);
        Ok(())
    }

    fn evict_partition(&mut self, partition: &WindowPartition<AggregateItem>) -> Result<(), Fault> {
        let result = if self.function.evicted_partitions && !partition.is_empty() {
            self.function
                .submit_groups(partition, partition.len(), self.out)
        } else {
            Ok(())
        };
        self.function.partition_groups.remove(partition);
        result
    }
}

impl AggregateWindowFunction {
    /// Adds a tuple to the running results of its window, if tuples are not kept.
    fn merge_running(
        &mut self,
        newest: Option<&mut AggregateItem>,
        mut item: AggregateItem,
    ) -> Result<Option<AggregateItem>, Fault> {
        if !self.uses_running_groups {
            self.count_item(&mut item)?;
            return Ok(Some(item));
        }
        let (values, grouping) = (item.values.as_ref(), &mut self.grouping);
        if let Some(newest) = newest {
            let running = newest.running_groups.get_or_insert_default();
            running.add(&mut item.tuple, values, grouping, &self.memory)?;
            self.spare.push(item);
            return Ok(None);
        }
        let mut running = item.running_groups.take().unwrap_or_default();
        let added = running.add(&mut item.tuple, values, grouping, &self.memory);
        item.running_groups = Some(running);
        if let Err(fault) = added {
            self.recycle_item(item);
            return Err(fault);
        }
        Ok(Some(item))
    }

    /// Submits one tuple for each group, then a window marker; `total` is the result of `CountAll`.
    fn submit_groups(
        &mut self,
        partition: &WindowPartition<AggregateItem>,
        total: usize,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        if self.uses_running_groups {
            let first = partition.get(0);
            if let Some(running) = first.and_then(|kept| kept.running_groups.as_deref()) {
                running.submit(total, &mut self.results, out)?;
            }
        } else if self.is_sliding {
            let groups = self.partition_groups.update(partition, &mut self.grouping);
            groups.submit(partition, total, &mut self.results, out)?;
        } else {
            self.submit_once(partition, out)?;
        }
        out.submit_punctuation(PortIndex(0), Punctuation::Window)
    }

    /// Submits one tuple for each group of tuples that fire once: their groups are not kept.
    fn submit_once(
        &mut self,
        tuples: &impl WindowTuples,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        self.fired_groups.clear();
        self.fired_groups.update(tuples, &mut self.grouping);
        let total = tuples.len();
        self.fired_groups
            .submit(tuples, total, &mut self.results, out)
    }
}
