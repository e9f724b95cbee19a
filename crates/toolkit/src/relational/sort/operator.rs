//! Sort over windows that are not lowered: partitions, times, deltas and panes.

use std::cmp::Ordering;
use std::sync::Arc;

use eval::{Fault, StateMemory};
use graph::{PortIndex, Window, WindowKind};
use runtime::abi::Projection;
use runtime::window::{LeaveReason, PaneItems, WindowObserver, WindowPartition, Windows};
use runtime::{BuildContext, EvaluationInputs, Operator, Outlet};
use tuple::{Punctuation, TupleBuf, TupleRef, Value};

use super::{INCOMPLETE_HELP, is_descending};
use crate::relational::window_function::{WindowFiring, WindowFunction};
use crate::relational::windowed;

/// A tuple of the window with the values that it is sorted by.
#[derive(Default)]
struct SortItem {
    tuple: TupleBuf,
    keys: Vec<Value>,
    /// Bytes that are counted as state; 0 if it is in no window.
    counted_bytes: usize,
}

/// Sorts tuples and submits them: the window function of Sort.
struct SortWindowFunction {
    is_sliding: bool,
    sort_by: Projection,
    sort_keys: TupleBuf,
    /// Whether the order is reversed, for each expression of `sortBy`.
    descending: Vec<bool>,
    output: Projection,
    out_tuple: TupleBuf,
    spare: Vec<SortItem>,
    memory: Arc<StateMemory>,
}

/// Builds the operator instance of an invocation.
pub fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    let is_sliding = windowed::window(build).kind == WindowKind::Sliding;
    let sorted = SortWindowFunction::new(build, is_sliding)?;
    windowed::build(build, sorted)
}

impl WindowObserver<SortItem> for WindowFiring<'_, SortWindowFunction> {
    fn fire(
        &mut self,
        partition: Option<&WindowPartition<SortItem>>,
        _: usize,
    ) -> Result<(), Fault> {
        if self.function.is_sliding {
            return Ok(());
        }
        let items = partition.into_iter().flat_map(WindowPartition::iter);
        self.function.submit_all(items, self.out)
    }

    fn leave(&mut self, item: SortItem, cause: LeaveReason) -> Result<(), Fault> {
        let submitted = match cause {
            LeaveReason::Evicted => self.function.submit(&item, self.out),
            LeaveReason::Flushed | LeaveReason::PartitionEvicted => Ok(()),
        };
        self.function.recycle_item(item);
        submitted
    }

    fn merge(
        &mut self,
        _: Option<&mut SortItem>,
        mut item: SortItem,
    ) -> Result<Option<SortItem>, Fault> {
        self.function.count_item(&mut item)?;
        Ok(Some(item))
    }

    /// A sliding window is kept in order, so that its first tuple is the smallest; equal ones in
    /// the order of their arrival.
    fn insert_position(&self, partition: &WindowPartition<SortItem>, item: &SortItem) -> usize {
        if !self.function.is_sliding {
            return partition.len();
        }
        partition.partition_point(|other| self.function.compare(other, item).is_le())
    }
}

impl WindowFunction for SortWindowFunction {
    type Item = SortItem;

    #[inline]
    fn make_item(
        &mut self,
        tuple: TupleRef<'_>,
        inputs: &EvaluationInputs<'_>,
        out: &mut dyn Outlet,
    ) -> Result<SortItem, Fault> {
        self.sort_by.write(inputs, out, &mut self.sort_keys)?;
        let mut kept = self.spare.pop().unwrap_or_default();
        kept.tuple.copy_from(tuple);
        let keys = 0..self.descending.len();
        let layout = &self.sort_by.layout;
        kept.keys.clear();
        kept.keys
            .extend(keys.map(|at| self.sort_keys.as_ref().get(layout, at)));
        Ok(kept)
    }

    fn count_item(&mut self, item: &mut SortItem) -> Result<(), Fault> {
        let bytes = size_of::<SortItem>() + item.tuple.len() + size_of_val(&item.keys[..]);
        self.memory.add(bytes)?;
        item.counted_bytes = bytes;
        Ok(())
    }

    fn recycle_item(&mut self, mut kept: SortItem) {
        match std::mem::take(&mut kept.counted_bytes) {
            0 => {}
            bytes => self.memory.remove(bytes),
        }
        self.spare.push(kept);
    }

    fn submit_pane(
        &mut self,
        items: PaneItems<'_, SortItem>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        self.submit_all(items.iter(), out)
    }

    fn incomplete_help(&self, _: &Window) -> Option<&'static str> {
        (!self.is_sliding).then_some(INCOMPLETE_HELP)
    }

    /// Submits the tuples that are left in a sliding window in order. Those of a tumbling window
    /// are dropped.
    fn finish(&mut self, windows: &Windows<SortItem>, out: &mut dyn Outlet) -> Result<(), Fault> {
        if !self.is_sliding {
            return Ok(());
        }
        let mut kept = windows.partitions().flat_map(WindowPartition::iter);
        kept.try_for_each(|kept| self.submit(kept, out))
    }
}

impl SortWindowFunction {
    fn new(build: &mut BuildContext<'_>, is_sliding: bool) -> Result<SortWindowFunction, Fault> {
        let sort_by = build
            .param_projection("sortBy")?
            .expect("the model asks for it");
        let orders = build.literals("order").unwrap_or_default();
        let keys = sort_by.layout.schema.attributes.len();
        Ok(SortWindowFunction {
            is_sliding,
            descending: (0..keys).map(|at| is_descending(orders, at)).collect(),
            sort_by,
            sort_keys: TupleBuf::default(),
            output: build.output_projection(PortIndex(0))?,
            out_tuple: TupleBuf::default(),
            spare: Vec::new(),
            memory: build.state_memory(),
        })
    }

    /// Sends tuples in order, then a window marker.
    fn submit_all<'k>(
        &mut self,
        items: impl Iterator<Item = &'k SortItem>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let mut items: Vec<_> = items.collect();
        items.sort_by(|a, b| self.compare(a, b));
        for kept in items {
            self.submit(kept, out)?;
        }
        out.submit_punctuation(PortIndex(0), Punctuation::Window)
    }

    fn compare(&self, a: &SortItem, b: &SortItem) -> Ordering {
        let pairs = a.keys.iter().zip(&b.keys).zip(&self.descending);
        let mut orders = pairs.map(|((a, b), &descending)| {
            let order = a.total_cmp(b);
            if descending { order.reverse() } else { order }
        });
        orders
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    fn submit(&mut self, kept: &SortItem, out: &mut dyn Outlet) -> Result<(), Fault> {
        let inputs = [Some(kept.tuple.as_ref())];
        self.output
            .write(&EvaluationInputs::new(&inputs), out, &mut self.out_tuple)?;
        out.submit_owned(PortIndex(0), &mut self.out_tuple)
    }
}
