//! The running Aggregate.

use graph::{Expr, Fault, WindowKind};
use indexmap::IndexMap;
use runtime::abi::Projection;
use runtime::window::{Cause, Items, Observer, Partition};
use runtime::{Build, Operator, Outlet, Row};
use tuple::{Layout, List, Punctuation, TupleBuf, TupleRef, Type};

use super::call::{Call, Group};
use super::columns::Columns;
use super::tally::{self, Folding, Tally};
use crate::relational::windowed::{self, Firing, Keeper};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A tuple of the window with what is taken from it.
#[derive(Default)]
pub struct Kept {
    pub tuple: TupleBuf,
    /// Values of `groupBy`, then of all arguments.
    pub values: TupleBuf,
    /// Later tuples have larger ones.
    pub number: u64,
    /// What the window has come to, if this tuple was its first one and the others are not kept.
    tally: Option<Box<Tally>>,
}

/// Everything that turns a fired window into output.
struct Summary {
    is_sliding: bool,
    incomplete: bool,
    evicted_partitions: bool,
    /// How many of the kept values are those of `groupBy`.
    group_by: usize,
    values: Projection,
    calls: Vec<(Call, Type)>,
    /// If tuples are not kept.
    folding: Option<Folding>,
    results_layout: Arc<Layout>,
    results: TupleBuf,
    output: Projection,
    out_tuple: TupleBuf,
    columns: Vec<List>,
    /// Those of sliding windows without groups, by partition.
    followed: FxHashMap<u64, Columns>,
    /// Tuples that have come.
    number: u64,
    /// Tuples in all windows.
    total: usize,
    spare: Vec<Kept>,
}

/// Makes the operator.
pub fn build(build: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    let kind = windowed::window(build).kind;
    let summary = Summary::new(build, kind)?;
    windowed::build(build, summary)
}

impl Summary {
    /// For windows of a kind.
    fn new(build: &mut Build<'_>, kind: WindowKind) -> Result<Summary, Fault> {
        let mut kept: Vec<Expr> = build.exprs("groupBy").unwrap_or_default().to_vec();
        let group_by = kept.len();
        let operator = build.operator;
        let mut calls = Vec::new();
        for call in &operator.outputs[0].calls {
            calls.push((Call::new(build, call, &mut kept)?, call.ty.clone()));
        }
        // A window that slides, and a pane that is late, need their tuples again.
        let folding = match kind {
            WindowKind::Tumbling => Folding::of(&calls, &operator.outputs[0].calls, group_by),
            WindowKind::Sliding | WindowKind::TimeInterval => None,
        };
        Ok(Summary {
            is_sliding: kind == WindowKind::Sliding,
            folding,
            incomplete: build.flag("aggregateIncompleteWindows", false)?,
            evicted_partitions: build.flag("aggregateEvictedPartitions", false)?,
            group_by,
            values: build.projection(&kept)?,
            columns: kept.iter().map(|expr| List::new_for(&expr.ty)).collect(),
            calls,
            results_layout: build.results(0),
            results: TupleBuf::default(),
            output: build.output(0)?,
            out_tuple: TupleBuf::default(),
            followed: FxHashMap::default(),
            number: 0,
            total: 0,
            spare: Vec::new(),
        })
    }
}

impl Keeper for Summary {
    type Kept = Kept;

    #[inline]
    fn keep(
        &mut self,
        tuple: TupleRef<'_>,
        row: &Row<'_>,
        out: &mut dyn Outlet,
    ) -> Result<Kept, Fault> {
        let mut kept = self.spare.pop().unwrap_or_default();
        kept.tuple.copy_from(tuple);
        self.number += 1;
        kept.number = self.number;
        self.values.write(row, out, &mut kept.values)?;
        Ok(kept)
    }

    fn take_back(&mut self, kept: Kept) {
        self.spare.push(kept);
    }

    fn send_pane(&mut self, items: Items<'_, Kept>, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.total = items.len();
        self.sum_up_all(items.iter(), out)?;
        out.punctuate(0, Punctuation::Window)
    }
}

impl Observer<Kept> for Firing<'_, Summary> {
    fn fire(&mut self, partition: Option<&Partition<Kept>>, total: usize) -> Result<(), Fault> {
        let Some(partition) = partition.filter(|partition| !partition.is_empty()) else {
            return self.out.punctuate(0, Punctuation::Window);
        };
        if self.keeper.is_sliding && !partition.is_full() && !self.keeper.incomplete {
            return Ok(());
        }
        self.keeper.total = if self.keeper.is_sliding {
            total
        } else {
            partition.len()
        };
        self.keeper.sum_up(partition, self.out)
    }

    fn merge(&mut self, newest: Option<&mut Kept>, item: Kept) -> Result<Option<Kept>, Fault> {
        self.keeper.merge(newest, item)
    }

    fn leave(&mut self, item: Kept, _cause: Cause) -> Result<(), Fault> {
        self.keeper.take_back(item);
        Ok(())
    }

    fn evict_partition(&mut self, partition: &Partition<Kept>) -> Result<(), Fault> {
        let result = if self.keeper.evicted_partitions && !partition.is_empty() {
            self.keeper.total = partition.len();
            self.keeper.sum_up(partition, self.out)
        } else {
            Ok(())
        };
        self.keeper.followed.remove(&partition.serial());
        result
    }
}

impl Summary {
    /// Takes a tuple into what its window has come to, if tuples are not kept.
    fn merge(&mut self, newest: Option<&mut Kept>, mut item: Kept) -> Result<Option<Kept>, Fault> {
        let Some(folding) = &mut self.folding else {
            return Ok(Some(item));
        };
        let layout = &self.values.layout;
        if let Some(Kept { tally, .. }) = newest {
            let tally = tally.get_or_insert_default();
            folding.add(tally, &mut item, layout)?;
            self.spare.push(item);
            return Ok(None);
        }
        let mut tally = item.tally.take().unwrap_or_default();
        tally.clear();
        folding.add(&mut tally, &mut item, layout)?;
        item.tally = Some(tally);
        Ok(Some(item))
    }

    /// One tuple a group, then a window marker.
    fn sum_up(&mut self, partition: &Partition<Kept>, out: &mut dyn Outlet) -> Result<(), Fault> {
        if self.folding.is_some() {
            let first = partition.get(0);
            if let Some(tally) = first.and_then(|kept| kept.tally.as_deref()) {
                self.tallied(tally, out)?;
            }
        } else if self.group_by == 0 && self.is_sliding {
            self.follow(partition, out)?;
        } else {
            self.sum_up_all(partition.iter(), out)?;
        }
        out.punctuate(0, Punctuation::Window)
    }

    /// One tuple a group.
    fn sum_up_all<'k>(
        &mut self,
        items: impl DoubleEndedIterator<Item = &'k Kept> + ExactSizeIterator + Clone,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        if self.group_by == 0 {
            self.fill_columns(items.clone());
            return self.group(&[items.len()], 0, items, out);
        }
        let mut groups: IndexMap<Vec<u8>, Vec<&Kept>> = IndexMap::new();
        for kept in items {
            groups.entry(self.group_key(kept)).or_default().push(kept);
        }
        let sizes: Vec<_> = groups.values().map(Vec::len).collect();
        for (index, group) in groups.values().enumerate() {
            self.fill_columns(group.iter().copied());
            self.group(&sizes, index, group.iter().copied(), out)?;
        }
        Ok(())
    }

    /// Sums up a sliding window without groups from its columns as they were, and what has changed.
    fn follow(&mut self, partition: &Partition<Kept>, out: &mut dyn Outlet) -> Result<(), Fault> {
        let serial = partition.serial();
        let columns = self.followed.entry(serial);
        let columns = columns.or_insert_with(|| Columns::new(&self.columns));
        columns.follow(partition, &self.values.layout);
        std::mem::swap(&mut self.columns, &mut columns.lists);
        let result = self.group(&[partition.len()], 0, partition.iter(), out);
        if let Some(columns) = self.followed.get_mut(&serial) {
            std::mem::swap(&mut self.columns, &mut columns.lists);
        }
        result
    }

    fn group_key(&self, kept: &Kept) -> Vec<u8> {
        let mut key = Vec::new();
        let values = kept.values.as_ref();
        runtime::window::encode_first(values, &self.values.layout, self.group_by, &mut key);
        key
    }

    fn group<'k>(
        &mut self,
        sizes: &[usize],
        index: usize,
        group: impl DoubleEndedIterator<Item = &'k Kept> + Clone,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let last = group
            .clone()
            .next_back()
            .expect("a group has at least one tuple");
        let total = self.total;
        self.results.begin(&self.results_layout);
        for (at, (call, ty)) in self.calls.iter_mut().enumerate() {
            let columns = &self.columns;
            let context = Group {
                columns,
                sizes,
                index,
                total,
            };
            let tuples = group.clone().map(|kept| &kept.tuple);
            let value = call.result(&context, ty, tuples, out)?;
            self.results.set(&self.results_layout, at, &value);
        }
        self.send(&last.tuple, out)
    }

    /// The same for every group of a window whose tuples were not kept.
    fn tallied(&mut self, tally: &Tally, out: &mut dyn Outlet) -> Result<(), Fault> {
        for (index, tally::Group { last, running, .. }) in tally.groups().iter().enumerate() {
            let context = Group {
                columns: &[],
                sizes: tally.sizes(),
                index,
                total: self.total,
            };
            let mut running = running.iter();
            self.results.begin(&self.results_layout);
            for (at, (call, _)) in self.calls.iter().enumerate() {
                let of_column = || running.next().map(|running| running.result());
                let value = call
                    .count(&context)
                    .map(Ok)
                    .or_else(of_column)
                    .transpose()?;
                if let Some(value) = value {
                    self.results.set(&self.results_layout, at, &value);
                }
            }
            self.send(last, out)?;
        }
        Ok(())
    }

    /// The output tuple of a group; the results are worked out.
    fn send(&mut self, last: &TupleBuf, out: &mut dyn Outlet) -> Result<(), Fault> {
        let row = [Some(last.as_ref())];
        let row = Row::new(&row).with(self.results.as_ref());
        self.output.write(&row, out, &mut self.out_tuple)?;
        out.submit_made(0, &mut self.out_tuple)
    }

    fn fill_columns<'k>(&mut self, group: impl Iterator<Item = &'k Kept>) {
        self.columns[self.group_by..]
            .iter_mut()
            .for_each(List::clear);
        for kept in group {
            let values = kept.values.as_ref();
            for (at, column) in self.columns.iter_mut().enumerate().skip(self.group_by) {
                column.push(values.get(&self.values.layout, at));
            }
        }
    }
}
