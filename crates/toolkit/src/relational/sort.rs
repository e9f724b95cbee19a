//! Sort: puts the tuples of a window in order.

use graph::{Assignment, Policy, PolicyKind, PunctuationIn, WindowForm, WindowKind, Windowing};
use graph::{Fault, InPortModel, OperatorModel, OutPortModel, ParamMode, ParamModel};
use runtime::abi::Projection;
use runtime::window::{Arrival, Cause, Observer, Partition, Windows};
use runtime::{Build, Make, Operator, OperatorEntry, Outlet, Row, TimerId};
use std::cmp::Ordering;
use std::sync::Arc;
use tuple::{Layout, Punctuation, TupleBuf, TupleRef, Value};

use super::clock::Clock;
use super::sort_panes;
use crate::key::Key;
use crate::lower;

/// The registry's line.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    make: Make::Build(build),
};

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
    metrics: &["nCurrentPartitions"],
    verify: Some(super::sort_rules::verify),
    timed: Some(lower::has_period),
    ..OperatorModel::DEFAULT
};

/// A tuple of the window with the values that it is sorted by.
#[derive(Default)]
pub(super) struct Kept {
    tuple: TupleBuf,
    keys: Vec<Value>,
}

struct Sort {
    windows: Windows<Kept>,
    partition: Key,
    input: Arc<Layout>,
    clock: Clock,
    sorted: Sorted,
}

/// What puts tuples in order and turns them into output.
pub(super) struct Sorted {
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
    let window = build.operator.inputs[0]
        .window
        .as_ref()
        .expect("the model asks for a window");
    if let Policy::Interval(interval) = window.evict {
        return sort_panes::build(build, interval);
    }
    let windows = Windows::new(window);
    if let Some(seconds) = window.period() {
        build.timer(seconds);
    }
    let sorted = Sorted::new(build, window.kind == WindowKind::Sliding)?;
    Ok(Box::new(Sort {
        clock: Clock::new(windows.is_timed()),
        windows,
        partition: Key::new(build.param_projection("partitionBy")?),
        input: build.inputs[0].clone(),
        sorted,
    }))
}

impl Operator for Sort {
    fn process(
        &mut self,
        _port: u32,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let row = [Some(tuple)];
        let row = Row::new(&row);
        self.partition.read(&row, out)?;
        let kept = self.sorted.keep(tuple, &row, out)?;
        let (evict_by, trigger_by) = self.windows.deltas(tuple, &self.input);
        let now_ns = self.clock.now_ns();
        let arrival = Arrival {
            key: self.partition.bytes(),
            now_ns,
            evict_by,
            trigger_by,
            item: kept,
        };
        self.windows.insert(
            arrival,
            &mut Sorting {
                sorted: &mut self.sorted,
                out,
            },
        )
    }

    fn window_marker(&mut self, _port: u32, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.windows.marker(&mut Sorting {
            sorted: &mut self.sorted,
            out,
        })
    }

    fn timer(&mut self, _timer: TimerId, out: &mut dyn Outlet) -> Result<(), Fault> {
        let now_ns = self.clock.now_ns();
        self.windows.tick(
            now_ns,
            &mut Sorting {
                sorted: &mut self.sorted,
                out,
            },
        )
    }

    /// What a sliding window still holds is sent in order; a tumbling one's is lost.
    fn finish(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        if !self.sorted.is_sliding {
            return Ok(());
        }
        let partitions = self.windows.partitions();
        partitions
            .flat_map(Partition::iter)
            .try_for_each(|kept| self.sorted.send(kept, out))
    }
}

/// The window's observer for one call on the operator.
struct Sorting<'a> {
    sorted: &'a mut Sorted,
    out: &'a mut dyn Outlet,
}

impl Observer<Kept> for Sorting<'_> {
    fn fire(&mut self, partition: Option<&Partition<Kept>>, _: usize) -> Result<(), Fault> {
        if self.sorted.is_sliding {
            return Ok(());
        }
        let items = partition.into_iter().flat_map(Partition::iter).collect();
        self.sorted.send_all(items, self.out)
    }

    fn leave(&mut self, item: Kept, cause: Cause) -> Result<(), Fault> {
        if cause == Cause::Evicted {
            self.sorted.send(&item, self.out)?;
        }
        self.sorted.spare.push(item);
        Ok(())
    }

    /// A sliding window is kept in order, so that its first tuple is the smallest; equal ones in the
    /// order of their arrival.
    fn place(&self, partition: &Partition<Kept>, item: &Kept) -> usize {
        if !self.sorted.is_sliding {
            return partition.len();
        }
        let (mut low, mut high) = (0, partition.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let other = partition.get(middle).expect("it lies within the partition");
            if self.sorted.compare(other, item).is_le() {
                low = middle + 1
            } else {
                high = middle
            }
        }
        low
    }
}

impl Sorted {
    pub(super) fn new(build: &mut Build<'_>, is_sliding: bool) -> Result<Sorted, Fault> {
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

    /// A tuple with the values that it is sorted by.
    #[inline]
    pub(super) fn keep(
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

    /// Sends tuples in order, then a window marker.
    pub(super) fn send_all(
        &mut self,
        mut items: Vec<&Kept>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
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
