//! The running Aggregate.

use graph::{Expr, Fault, Window, WindowKind};
use runtime::abi::Projection;
use runtime::window::{Cause, Items, Observer, Partition};
use runtime::{Build, Operator, Outlet, Row};
use tuple::{Punctuation, TupleBuf, TupleRef};

use super::call::Call;
use super::followed::Followed;
use super::grouping::Grouping;
use super::groups::{Groups, Tuples};
use super::results::Results;
use super::tally::{self, Tally};
use crate::relational::windowed::{self, Firing, Keeper};

/// A tuple of the window with what is taken from it.
#[derive(Default)]
pub struct Kept {
    pub tuple: TupleBuf,
    /// Values of `groupBy`, then of all arguments.
    pub values: TupleBuf,
    /// Later tuples have larger ones.
    pub number: u64,
    /// What the window has come to, if this tuple was its first one and the others are not kept.
    pub tally: Option<Box<Tally>>,
}

/// What sums up windows.
struct Summary {
    is_sliding: bool,
    incomplete: bool,
    evicted_partitions: bool,
    values: Projection,
    grouping: Grouping,
    results: Results,
    /// Tuples are not kept.
    is_folded: bool,
    /// The groups of windows that slide.
    followed: Followed,
    /// Those of windows that are summed up once; filled anew for each.
    groups: Groups,
    /// Tuples that have come.
    number: u64,
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
        let (mut calls, mut functions) = (Vec::new(), Vec::new());
        let port = &build.operator.outputs[0];
        for call in &port.calls {
            calls.push(Call::new(build, call, &mut kept, &mut functions)?);
        }
        let sees_tuples = calls.iter().any(|call| matches!(call, Call::Custom(_)));
        let values = build.projection(&kept)?;
        Ok(Summary {
            is_sliding: kind == WindowKind::Sliding,
            incomplete: build.flag("aggregateIncompleteWindows", false)?,
            evicted_partitions: build.flag("aggregateEvictedPartitions", false)?,
            // A window that slides, and a pane that is late, need their tuples again.
            is_folded: kind == WindowKind::Tumbling
                && !sees_tuples
                && tally::is_possible(&functions),
            grouping: Grouping::new(functions, values.layout.clone(), group_by),
            values,
            results: Results::new(build, calls)?,
            followed: Followed::default(),
            groups: Groups::default(),
            number: 0,
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

    fn help(&self, window: &Window) -> Option<&'static str> {
        Some(super::help(window))
    }

    fn is_incomplete(&self, partition: &Partition<Kept>) -> bool {
        let gives = self.is_sliding && (self.incomplete || partition.is_full());
        !partition.is_empty() && !gives
    }

    fn send_pane(&mut self, items: Items<'_, Kept>, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.once(&items, out)?;
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
        let total = if self.keeper.is_sliding {
            total
        } else {
            partition.len()
        };
        self.keeper.sum_up(partition, total, self.out)
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
            self.keeper.sum_up(partition, partition.len(), self.out)
        } else {
            Ok(())
        };
        self.keeper.followed.forget(partition);
        result
    }
}

impl Summary {
    /// Takes a tuple into what its window has come to, if tuples are not kept.
    fn merge(&mut self, newest: Option<&mut Kept>, mut item: Kept) -> Result<Option<Kept>, Fault> {
        if !self.is_folded {
            return Ok(Some(item));
        }
        if let Some(Kept { tally, .. }) = newest {
            let tally = tally.get_or_insert_default();
            tally.add(&mut item, &mut self.grouping)?;
            self.spare.push(item);
            return Ok(None);
        }
        let mut tally = item.tally.take().unwrap_or_default();
        tally.clear();
        tally.add(&mut item, &mut self.grouping)?;
        item.tally = Some(tally);
        Ok(Some(item))
    }

    /// One tuple a group, then a window marker; `total` is what `CountAll` says.
    fn sum_up(
        &mut self,
        partition: &Partition<Kept>,
        total: usize,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        if self.is_folded {
            let first = partition.get(0);
            if let Some(tally) = first.and_then(|kept| kept.tally.as_deref()) {
                tally.send(total, &mut self.results, out)?;
            }
        } else if self.is_sliding {
            let groups = self.followed.of(partition, &mut self.grouping);
            groups.send(partition, total, &mut self.results, out)?;
        } else {
            self.once(partition, out)?;
        }
        out.punctuate(0, Punctuation::Window)
    }

    /// One tuple a group of tuples that will not be seen again, or not without others.
    fn once(&mut self, tuples: &impl Tuples, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.groups.clear();
        self.groups.follow(tuples, &mut self.grouping);
        let total = tuples.len();
        self.groups.send(tuples, total, &mut self.results, out)
    }
}
