//! Compiled windows, Joins, Sorts and DeDuplicates over tuples of fixed length allocate nothing
//! once they have grown to their size.

use std::alloc::System;

use eval::Fault;
use graph::{
    BinaryOp, EventClock, Expr, ExprKind, OperatorModel, Partition, Policy, PortIndex, Pos,
    TimeInterval, Window, WindowKind, inserted_operators,
};
use jit::{Jit, JitOptions};
use runtime::crossing::ENTRIES;
use runtime::{Operator, OperatorEntry, Outlet, Pe, PeOptions};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use thalweg_testkit::{OperatorBuilder, build_program, exprs, planned};
use tuple::{Resolution, TupleRef, Type, Value};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn allocations() -> usize {
    let stats = ALLOCATOR.stats();
    stats.allocations + stats.reallocations
}

/// Tuples between two looks at the count. While the first ones pass, windows grow and the main
/// thread still starts up; then at most so many spans may see an allocation of another thread.
const SPAN: u64 = 100;
const WARM_UP: u64 = 20 * SPAN;
const DIRTY_SPANS_MAX: u64 = 3;

/// Looks at the count every [`SPAN`] tuples.
#[derive(Default)]
struct Watch {
    seen: u64,
    before: usize,
    dirty_spans: u64,
}

impl Operator for Watch {
    fn process(&mut self, _: PortIndex, _: TupleRef<'_>, _: &mut dyn Outlet) -> Result<(), Fault> {
        self.seen += 1;
        if self.seen.is_multiple_of(SPAN) {
            let now = allocations();
            self.dirty_spans += u64::from(self.seen > WARM_UP && now != self.before);
            self.before = now;
        }
        assert!(
            self.dirty_spans <= DIRTY_SPANS_MAX,
            "tuple {} allocates",
            self.seen
        );
        Ok(())
    }
}

const WATCH: OperatorEntry = OperatorEntry::built(
    &OperatorModel {
        namespace: "t",
        name: "Watch",
        inputs: &[graph::InPortModel::DEFAULT],
        ..OperatorModel::DEFAULT
    },
    |_| Ok(Box::new(Watch::default())),
);

fn schema() -> [(&'static str, Type); 2] {
    [("n", Type::Int64), ("x", Type::Float64)]
}

fn n(port: u32) -> Expr {
    exprs::attribute(PortIndex(port), 0, Type::Int64)
}

fn cast(value: Expr, ty: Type) -> Expr {
    exprs::expr(ExprKind::Cast(Box::new(value)), ty)
}

/// Tuples with `n` from 0 to 99,999.
fn numbers() -> OperatorBuilder {
    let step = ExprKind::Increment {
        place: graph::Place {
            root: graph::PlaceRoot::State(graph::StateId(0)),
            steps: Vec::new(),
            ty: Type::Int64,
            pos: exprs::TEST_POS,
        },
        is_decrement: false,
        is_prefix: false,
    };
    OperatorBuilder::new("spl.utility::Beacon", "Numbers")
        .state("n", Type::Int64, None)
        .param("iterations", [exprs::int32(100_000)])
        .output("Numbers", schema())
        .assign([
            Some(exprs::expr(step, Type::Int64)),
            Some(exprs::float64(0.5)),
        ])
}

fn window(kind: WindowKind, size: u32, has_partitions: bool) -> Window {
    Window {
        kind,
        evict: Policy::Count(size),
        trigger: (kind == WindowKind::Sliding).then_some(Policy::Count(1)),
        partition: has_partitions.then_some(Partition { evict: None }),
        pos: Pos::default(),
    }
}

/// Sum, greatest and mean of an attribute that rises and falls.
fn aggregate(feeder: u32, window: Window) -> OperatorBuilder {
    let remainder = exprs::rem(n(0), exprs::int64(97));
    let price = cast(remainder.clone(), Type::Float64);
    let mut operator = OperatorBuilder::new("spl.relational::Aggregate", "Results")
        .input("In", schema())
        .connect(0, feeder, 0);
    if window.partition.is_some() {
        operator = operator.param("partitionBy", [exprs::rem(n(0), exprs::int64(31))]);
    }
    operator
        .window(window)
        .output("Results", schema())
        .call("Sum", vec![n(0)], Type::Int64)
        .call("Max", vec![price.clone()], Type::Float64)
        .call("Average", vec![price], Type::Float64)
        .assign([
            Some(exprs::expr(ExprKind::OutputCall(0), Type::Int64)),
            Some(exprs::add(
                exprs::expr(ExprKind::OutputCall(1), Type::Float64),
                exprs::expr(ExprKind::OutputCall(2), Type::Float64),
            )),
        ])
}

/// Each tuple with those of its number among the last thousand.
fn join() -> OperatorBuilder {
    let side = |operator: OperatorBuilder, port: u32| {
        operator
            .input(["Left", "Right"][port as usize], schema())
            .connect(port as usize, 0, 0)
            .window(window(WindowKind::Sliding, 1_000, false))
    };
    let operator = OperatorBuilder::new("spl.relational::Join", "Results");
    let operator = side(side(operator, 0), 1)
        .param("equalityLHS", [n(0)])
        .param("equalityRHS", [n(1)])
        .output("Results", schema());
    let is_any = exprs::binary(BinaryOp::Le, n(0), n(1));
    let is_any = Expr {
        ty: Type::Boolean,
        ..is_any
    };
    let price = exprs::attribute(PortIndex(1), 1, Type::Float64);
    operator
        .param("match", [is_any])
        .assign([Some(n(0)), Some(price)])
}

/// Tuples in another order than they come in.
fn sort(window: Window) -> OperatorBuilder {
    OperatorBuilder::new("spl.relational::Sort", "Results")
        .input("In", schema())
        .connect(0, 0, 0)
        .window(window)
        .param("sortBy", [exprs::rem(n(0), exprs::int64(97))])
        .output("Results", schema())
        .assign([Some(n(0)), Some(exprs::float64(0.5))])
}

/// Each tuple passes, for keys are forgotten after ten tuples.
fn deduplicate(key: Expr) -> OperatorBuilder {
    let count = exprs::constant(Value::Uint64(10), Type::Uint64);
    OperatorBuilder::new("spl.utility::DeDuplicate", "Results")
        .input("In", schema())
        .connect(0, 0, 0)
        .param("key", [key])
        .param("count", [count])
        .output("Results", schema())
        .assign([Some(n(0)), Some(exprs::float64(0.5))])
}

/// Watermarks of the numbers, which are nanoseconds.
fn watermarks() -> OperatorBuilder {
    OperatorBuilder::new(inserted_operators::WATERMARKS, "Watermarks")
        .input("In", schema())
        .connect(0, 0, 0)
        .output("Out", schema())
        .event_clock(EventClock {
            attribute: "n".into(),
            resolution: Resolution::Nanoseconds,
            lag_ns: 50,
            min_gap_ns: 10,
            outputs: vec![PortIndex(0)],
            generates_watermarks: true,
        })
}

/// Panes of 3,000 numbers, a new one every thousand.
fn panes() -> Window {
    let interval = TimeInterval {
        duration_ns: 3_000,
        period_ns: 1_000,
        offset_ns: 0,
        discard_ns: 100,
        attribute: 0,
        resolution: Resolution::Nanoseconds,
    };
    Window {
        evict: Policy::Interval(interval),
        ..window(WindowKind::TimeInterval, 0, true)
    }
}

/// Runs operators between numbers and a Watch. Returns how many results there were.
fn run<const N: usize>(operators: [OperatorBuilder; N]) -> u64 {
    let watch = OperatorBuilder::new("t::Watch", "Watch")
        .input("In", schema())
        .connect(0, N as u32, 0);
    let all = [numbers()].into_iter().chain(operators).chain([watch]);
    let program = build_program(all);
    let registry = [toolkit::operators(), ENTRIES, &[WATCH]].concat();
    let mut jit = Jit::new(&[], &[], JitOptions::default()).expect("a supported machine");
    let (program, threads) = &planned(&program, &registry, &[]);
    let pe = Pe::wire(program, threads, &registry, &mut jit, PeOptions::default());
    let running = pe.and_then(Pe::start);
    let running = running.unwrap_or_else(|report| panic!("{report}"));
    let counts = running.join().unwrap_or_else(|report| panic!("{report}"));
    counts[N + 1].processed[0]
}

/// The count is the whole process': a test that ran beside would be in it.
#[test]
fn operators_with_state_allocate_nothing() {
    let tumbling = |has_partitions| window(WindowKind::Tumbling, 10, has_partitions);
    assert_eq!(run([aggregate(0, tumbling(false))]), 10_000);
    // 31 partitions of 3,225 or 3,226 tuples.
    assert_eq!(run([aggregate(0, tumbling(true))]), 31 * 322);
    let sliding = |has_partitions| window(WindowKind::Sliding, 200, has_partitions);
    assert_eq!(run([aggregate(0, sliding(false))]), 100_000 - 199);
    assert_eq!(run([aggregate(0, sliding(true))]), 100_000 - 31 * 199);
    assert_eq!(run([join()]), 100_000);
    // The last watermark is 99,940.
    assert_eq!(run([watermarks(), aggregate(1, panes())]), 99 * 31);
    assert_eq!(run([sort(tumbling(false))]), 100_000);
    assert_eq!(run([sort(sliding(false))]), 100_000);
    assert_eq!(run([deduplicate(n(0))]), 100_000);
    let thousand = exprs::rem(n(0), exprs::int64(1_000));
    assert_eq!(run([deduplicate(thousand)]), 100_000);
}
