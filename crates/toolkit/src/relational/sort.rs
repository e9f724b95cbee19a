//! Sort: puts the tuples of a window in order.

use graph::{Assignment, PolicyKind, PunctuationIn, Window, WindowForm, WindowKind, Windowing};
use graph::{Fault, InPortModel, OperatorModel, OutPortModel, ParamMode, ParamModel};
use runtime::abi::Projection;
use runtime::window::{Cause, Items, Observer, Partition, Windows};
use runtime::{Build, Operator, OperatorEntry, Outlet, Row};
use std::cmp::Ordering;
use tuple::{Punctuation, TupleBuf, TupleRef, Value};

use super::windowed::{self, Firing, Keeper};
use crate::lower;

/// The registry's line.
pub const ENTRY: OperatorEntry = OperatorEntry::built(&MODEL, build);

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.relational",
    name: "Sort",
    doc: "Puts the tuples of a window in order. A tumbling window is sent in order when it is \
          flushed, then a window marker, and so is a pane of a timeInterval window when it fires; \
          a sliding window of count(n) sends its smallest tuple \
          when it overflows, and the rest at the end, without markers.",
    inputs: &[InPortModel {
        punctuation: PunctuationIn::WindowBound,
        window: Windowing::Windowed,
        time_interval: true,
        partition_param: Some("partitionBy"),
        windows: &[
            WindowForm {
                kind: WindowKind::Tumbling,
                evict: &[],
                every_tuple: false,
            },
            WindowForm {
                kind: WindowKind::Sliding,
                evict: &[PolicyKind::Count],
                every_tuple: true,
            },
        ],
        ..InPortModel::DEFAULT
    }],
    outputs: &[OutPortModel {
        assign: Assignment::Expression,
        forwards: true,
        complete: true,
        ..OutPortModel::DEFAULT
    }],
    params: &[
        ParamModel {
            name: "sortBy",
            mode: ParamMode::Expression,
            mandatory: true,
            list: true,
            doc: "What is compared, the most significant first.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "order",
            ty: "SortOrder",
            mode: ParamMode::Literal,
            list: true,
            doc: "One direction for all, or one for each expression of sortBy. Default: ascending.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "partitionBy",
            mode: ParamMode::Expression,
            list: true,
            doc: "Tuples with equal values share a window; only with a partitioned window.",
            ..ParamModel::DEFAULT
        },
    ],
    enums: &[("SortOrder", &["ascending", "descending"])],
    metrics: &[
        "nCurrentPartitions",
        "nIncompleteWindows",
        "nIncompleteWindowTuples",
    ],
    verify: Some(super::sort_rules::verify),
    timed: Some(lower::has_period),
    no_markers: Some(|operator| {
        let mut windows = operator
            .inputs
            .iter()
            .filter_map(|input| input.window.as_ref());
        let is_sliding = windows.any(|window| window.kind == WindowKind::Sliding);
        is_sliding.then_some("with a sliding window it sends tuples only")
    }),
    ..OperatorModel::DEFAULT
};

/// A tuple of the window with the values that it is sorted by.
#[derive(Default)]
struct Kept {
    tuple: TupleBuf,
    keys: Vec<Value>,
}

/// What puts tuples in order and turns them into output.
struct Sorted {
    is_sliding: bool,
    sort_by: Projection,
    sort_keys: TupleBuf,
    /// For each expression of `sortBy`, whether its order is reversed.
    descending: Vec<bool>,
    output: Projection,
    out_tuple: TupleBuf,
    spare: Vec<Kept>,
}

fn build(build: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    let is_sliding = windowed::window(build).kind == WindowKind::Sliding;
    let sorted = Sorted::new(build, is_sliding)?;
    windowed::build(build, sorted)
}

impl Observer<Kept> for Firing<'_, Sorted> {
    fn fire(&mut self, partition: Option<&Partition<Kept>>, _: usize) -> Result<(), Fault> {
        if self.keeper.is_sliding {
            return Ok(());
        }
        let items = partition.into_iter().flat_map(Partition::iter);
        self.keeper.send_all(items, self.out)
    }

    fn leave(&mut self, item: Kept, cause: Cause) -> Result<(), Fault> {
        if cause == Cause::Evicted {
            self.keeper.send(&item, self.out)?;
        }
        self.keeper.take_back(item);
        Ok(())
    }

    /// A sliding window is kept in order, so that its first tuple is the smallest; equal ones in the
    /// order of their arrival.
    fn place(&self, partition: &Partition<Kept>, item: &Kept) -> usize {
        if !self.keeper.is_sliding {
            return partition.len();
        }
        partition.partition_point(|other| self.keeper.compare(other, item).is_le())
    }
}

impl Keeper for Sorted {
    type Kept = Kept;

    #[inline]
    fn keep(
        &mut self,
        tuple: TupleRef<'_>,
        row: &Row<'_>,
        out: &mut dyn Outlet,
    ) -> Result<Kept, Fault> {
        self.sort_by.write(row, out, &mut self.sort_keys)?;
        let mut kept = self.spare.pop().unwrap_or_default();
        kept.tuple.copy_from(tuple);
        let keys = 0..self.descending.len();
        let layout = &self.sort_by.layout;
        kept.keys.clear();
        kept.keys
            .extend(keys.map(|at| self.sort_keys.as_ref().get(layout, at)));
        Ok(kept)
    }

    fn take_back(&mut self, kept: Kept) {
        self.spare.push(kept);
    }

    fn send_pane(&mut self, items: Items<'_, Kept>, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.send_all(items.iter(), out)
    }

    fn help(&self, _: &Window) -> Option<&'static str> {
        (!self.is_sliding).then_some(
            "`sliding, count(n)` sends in order what it still holds in the end, and \
             `tumbling, punct()` what it holds at each window marker",
        )
    }

    /// What a sliding window still holds is sent in order; a tumbling one's is lost.
    fn finish(&mut self, windows: &Windows<Kept>, out: &mut dyn Outlet) -> Result<(), Fault> {
        if !self.is_sliding {
            return Ok(());
        }
        let mut kept = windows.partitions().flat_map(Partition::iter);
        kept.try_for_each(|kept| self.send(kept, out))
    }
}

impl Sorted {
    fn new(build: &mut Build<'_>, is_sliding: bool) -> Result<Sorted, Fault> {
        let sort_by = build
            .param_projection("sortBy")?
            .expect("the model asks for it");
        let orders = build.literals("order").unwrap_or_default();
        let keys = sort_by.layout.schema.attributes.len();
        let descending = |at: usize| {
            let order = if let [all] = orders {
                Some(all)
            } else {
                orders.get(at)
            };
            order.is_some_and(|order| &**order == "descending")
        };
        Ok(Sorted {
            is_sliding,
            descending: (0..keys).map(descending).collect(),
            sort_by,
            sort_keys: TupleBuf::default(),
            output: build.output(0)?,
            out_tuple: TupleBuf::default(),
            spare: Vec::new(),
        })
    }

    /// Sends tuples in order, then a window marker.
    fn send_all<'k>(
        &mut self,
        items: impl Iterator<Item = &'k Kept>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let mut items: Vec<_> = items.collect();
        items.sort_by(|a, b| self.compare(a, b));
        for kept in items {
            self.send(kept, out)?;
        }
        out.punctuate(0, Punctuation::Window)
    }

    fn compare(&self, a: &Kept, b: &Kept) -> Ordering {
        let pairs = a.keys.iter().zip(&b.keys).zip(&self.descending);
        let mut orders = pairs.map(|((a, b), &descending)| {
            let order = a.total_cmp(b);
            if descending { order.reverse() } else { order }
        });
        orders
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    fn send(&mut self, kept: &Kept, out: &mut dyn Outlet) -> Result<(), Fault> {
        let row = [Some(kept.tuple.as_ref())];
        self.output
            .write(&Row::new(&row), out, &mut self.out_tuple)?;
        out.submit_made(0, &mut self.out_tuple)
    }
}
