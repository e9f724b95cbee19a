//! Once a PE runs, the fused path allocates nothing for tuples of fixed length, and a tumbling
//! window whose tuples need not be kept takes no more memory the more come. Windows that have
//! reached their size take no more either, and a tuple history takes what it keeps, however deep it
//! is.

use std::alloc::System;

use eval::Fault;
use graph::{
    BinaryOp, EventClock, Expr, OperatorModel, Policy, PortIndex, Pos, SessionGap, TimeInterval,
    Window,
};
use graph::{WindowKind, inserted_operators};
use runtime::{Operator, OperatorEntry, Outlet};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use testkit::{OperatorBuilder, build_program, exprs};
use tuple::{Resolution, TupleRef, Type, Value};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn allocations() -> usize {
    let stats = ALLOCATOR.stats();
    stats.allocations + stats.reallocations
}

static WATCH: OperatorModel = OperatorModel {
    namespace: "t",
    name: "Watch",
    inputs: &[graph::InPortModel::DEFAULT],
    ..OperatorModel::DEFAULT
};

/// Tuples between two looks at the count, and at most so many of the 99 spans may see an
/// allocation: the count is the whole process', and while the first tuples pass the main thread
/// still starts up.
const SPAN: u64 = 100;
const DIRTY_SPANS_MAX: u64 = 3;

/// Looks at the count every [`SPAN`] tuples.
struct Watch {
    /// Number of first tuples that may allocate.
    warm_up: u64,
    seen: u64,
    before: usize,
    dirty_spans: u64,
}

impl Operator for Watch {
    fn process(&mut self, _: PortIndex, _: TupleRef<'_>, _: &mut dyn Outlet) -> Result<(), Fault> {
        self.seen += 1;
        if self.seen.is_multiple_of(SPAN) {
            let now = allocations();
            self.dirty_spans += u64::from(self.seen > self.warm_up && now != self.before);
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

fn watch(warm_up: u64) -> Box<dyn Operator> {
    Box::new(Watch {
        warm_up,
        seen: 0,
        before: 0,
        dirty_spans: 0,
    })
}

const WATCH_ENTRY: OperatorEntry = OperatorEntry::built(&WATCH, |_| Ok(watch(SPAN)));

/// Like [`WATCH_ENTRY`], for windows that grow first.
const WATCH_WINDOWS: OperatorEntry = OperatorEntry::built(&WATCH, |_| Ok(watch(20 * SPAN)));

static TAKE: OperatorModel = OperatorModel {
    namespace: "t",
    name: "Take",
    inputs: &[graph::InPortModel::DEFAULT],
    ..OperatorModel::DEFAULT
};

/// An operator that drops all tuples.
struct Take;

impl Operator for Take {
    fn process(&mut self, _: PortIndex, _: TupleRef<'_>, _: &mut dyn Outlet) -> Result<(), Fault> {
        Ok(())
    }
}

const TAKE_ENTRY: OperatorEntry = OperatorEntry::built(&TAKE, |_| Ok(Box::new(Take)));

fn schema() -> [(&'static str, Type); 2] {
    [("n", Type::Int64), ("x", Type::Float64)]
}

fn n() -> Expr {
    exprs::attribute(PortIndex(0), 0, Type::Int64)
}

/// An operator that is fed by an earlier one.
fn fed(kind: &str, name: &str, feeder: u32) -> OperatorBuilder {
    let invoke = OperatorBuilder::new(kind, name).input("In", schema());
    invoke.connect(0, feeder, 0)
}

/// Tuples with `n` from 1 to 20,000.
fn numbers() -> OperatorBuilder {
    let step = graph::ExprKind::Increment {
        place: graph::Place {
            root: graph::PlaceRoot::State(graph::StateId(0)),
            steps: Vec::new(),
            ty: Type::Int64,
            pos: exprs::TEST_POS,
        },
        is_decrement: false,
        is_prefix: true,
    };
    OperatorBuilder::new("spl.utility::Beacon", "B")
        .state("n", Type::Int64, None)
        .param("iterations", [exprs::int32(20_000)])
        .output("B", schema())
        .assign([
            Some(exprs::expr(step, Type::Int64)),
            Some(exprs::float64(0.5)),
        ])
}

/// An Aggregate of an earlier operator's tuples; its output is the result of the first of these
/// calls, which have an int64 for an argument and for a result.
fn aggregate(feeder: u32, window: Window, calls: &[&str]) -> OperatorBuilder {
    let invoke = fed("spl.relational::Aggregate", "Sums", feeder).window(window);
    let invoke = invoke.output("Sums", schema());
    let call = |invoke: OperatorBuilder, function: &&str| {
        let arguments = if function.starts_with("Arg") { 2 } else { 1 };
        invoke.call(function, vec![n(); arguments], Type::Int64)
    };
    calls.iter().fold(invoke, call).assign([
        Some(exprs::expr(graph::ExprKind::OutputCall(0), Type::Int64)),
        Some(exprs::attribute(PortIndex(0), 1, Type::Float64)),
    ])
}

fn window(kind: WindowKind, evict: Policy, trigger: Option<Policy>) -> Window {
    Window {
        kind,
        evict,
        trigger,
        partition: None,
        pos: Pos::default(),
    }
}

/// Runs operators; how many tuples each got.
fn run(operators: Vec<OperatorBuilder>, watch: OperatorEntry) -> Vec<u64> {
    let ours = [watch, TAKE_ENTRY];
    let inserted = runtime::crossing::ENTRIES;
    let registry = [thalweg_toolkit::operators(), inserted, &ours].concat();
    let (_, ended) = testkit::run_program(&build_program(operators), &registry);
    let processed =
        |tally: runtime::OperatorCounts| tally.processed.first().copied().unwrap_or_default();
    ended.unwrap().into_iter().map(processed).collect()
}

/// The count is the whole process': a test that waits for its turn, or ends, would be in it.
#[test]
fn what_runs_allocates_nothing() {
    tuples_of_fixed_length_pass_without_an_allocation();
    panes_take_no_more_than_those_before();
    sessions_take_no_more_than_those_before();
    windows_that_slide_take_no_more_than_when_they_were_full_first();
    a_history_takes_memory_for_the_tuples_that_came();
    keys_that_are_forgotten_make_room_for_others();
}

fn tuples_of_fixed_length_pass_without_an_allocation() {
    let odd = exprs::eq(
        exprs::binary(BinaryOp::BitAnd, n(), exprs::int64(1)),
        exprs::int64(0),
    );
    let of_a_window = window(WindowKind::Tumbling, Policy::Count(4_000), None);
    let operators = vec![
        numbers(),
        fed("spl.relational::Filter", "Even", 0)
            .param("filter", [odd])
            .output("Even", schema()),
        fed("spl.relational::Functor", "Sum", 1)
            .history(1)
            .output("Sum", schema())
            .assign([
                Some(exprs::add(
                    n(),
                    exprs::history_attribute(PortIndex(0), 1, 0, Type::Int64),
                )),
                Some(exprs::attribute(PortIndex(0), 1, Type::Float64)),
            ]),
        fed("t::Watch", "Watch", 2),
        aggregate(2, of_a_window, &["Sum"]).param("groupBy", [exprs::rem(n(), exprs::int64(3))]),
        fed("t::Take", "Take", 4),
    ];
    let processed = run(operators, WATCH_ENTRY);
    assert_eq!(processed[3], 10_000);
    assert_eq!(processed[5], 2 * 3, "two windows of three groups");
}

/// Watermarks of the numbers, as nanoseconds.
fn marks() -> OperatorBuilder {
    let marks = fed(inserted_operators::WATERMARKS, "Marks", 0).output("Marks", schema());
    marks.event_clock(EventClock {
        attribute: "n".into(),
        resolution: Resolution::Nanoseconds,
        lag_ns: 0,
        min_gap_ns: 10,
        outputs: vec![PortIndex(0)],
        generates_watermarks: true,
    })
}

fn panes_take_no_more_than_those_before() {
    let panes = Policy::Interval(TimeInterval {
        duration_ns: 200,
        period_ns: 50,
        offset_ns: 0,
        discard_ns: 100,
        attribute: 0,
        resolution: Resolution::Nanoseconds,
    });
    let panes = window(WindowKind::TimeInterval, panes, None);
    let operators = vec![
        numbers(),
        marks(),
        fed("t::Watch", "Watch", 1),
        aggregate(1, panes, &["Sum", "Max"]),
        fed("t::Take", "Take", 3),
    ];
    let processed = run(operators, WATCH_WINDOWS);
    assert_eq!(processed[2], 20_000);
    assert_eq!(processed[4], 399, "one ends at 50, 100, ... 19,950");
}

fn sessions_take_no_more_than_those_before() {
    let gap = Policy::Session(SessionGap {
        gap_ns: 1,
        discard_ns: 100,
        attribute: 0,
        resolution: Resolution::Nanoseconds,
    });
    let sessions = window(WindowKind::Session, gap, None);
    let operators = vec![
        numbers(),
        marks(),
        fed("t::Watch", "Watch", 1),
        aggregate(1, sessions, &["Sum", "Max"]),
        fed("t::Take", "Take", 3),
    ];
    let processed = run(operators, WATCH_WINDOWS);
    assert_eq!(processed[2], 20_000);
    // The last watermark is 19,990, and each number is a session that ends 1 behind it.
    assert_eq!(processed[4], 19_990);
}

fn windows_that_slide_take_no_more_than_when_they_were_full_first() {
    let count = |kind, evict, every| window(kind, Policy::Count(evict), Some(Policy::Count(every)));
    let sliding = |evict, every| count(WindowKind::Sliding, evict, every);
    let of_delta = Policy::Delta(0, Value::Int64(50));
    let of_delta = window(WindowKind::Sliding, of_delta, Some(Policy::Count(3)));
    let calls = [
        "Sum",
        "Average",
        "Max",
        "Min",
        "First",
        "Last",
        "ArgMax",
        "SampleStdDev",
    ];
    let operators = vec![
        numbers(),
        fed("t::Watch", "Watch", 0),
        aggregate(0, sliding(100, 1), &calls),
        fed("t::Take", "Take", 2),
        aggregate(0, sliding(70, 7), &calls).param("groupBy", [exprs::rem(n(), exprs::int64(3))]),
        fed("t::Take", "Take", 4),
        aggregate(0, of_delta, &calls),
        fed("t::Take", "Take", 6),
    ];
    let processed = run(operators, WATCH_WINDOWS);
    assert_eq!(processed[1], 20_000);
    assert_eq!(processed[3], 20_000 - 99);
    assert_eq!(processed[5], 3 * (20_000 / 7 - 9), "three groups each time");
    assert_eq!(
        processed[7],
        20_000 / 3 - 17,
        "full when the first tuple has left"
    );
}

/// A Functor that reads one tuple of 20,000, the one that came `depth` tuples ago.
fn looks_back(depth: u32) -> OperatorBuilder {
    let earlier = exprs::history_attribute(PortIndex(0), depth, 0, Type::Int64);
    fed("spl.relational::Functor", "Back", 0)
        .history_at(depth)
        .output("Back", schema())
        .assign([
            Some(exprs::add(n(), earlier)),
            Some(exprs::attribute(PortIndex(0), 1, Type::Float64)),
        ])
}

fn a_history_takes_memory_for_the_tuples_that_came() {
    let bytes_of_run = |depth| {
        let before = ALLOCATOR.stats().bytes_allocated;
        let operators = vec![numbers(), looks_back(depth), fed("t::Take", "Take", 1)];
        assert_eq!(run(operators, WATCH_ENTRY)[2], 20_000);
        ALLOCATOR.stats().bytes_allocated - before
    };
    let (kept_all, much_deeper) = (bytes_of_run(20_000), bytes_of_run(1_000_000));
    let more = much_deeper.saturating_sub(kept_all);
    assert!(
        more < 64 * 1024,
        "980,000 tuples that never came take {more} bytes"
    );

    let operators = vec![numbers(), looks_back(1_500), fed("t::Watch", "Watch", 1)];
    let processed = run(operators, WATCH_WINDOWS);
    assert_eq!(processed[2], 20_000, "a full history takes no more memory");
}

fn keys_that_are_forgotten_make_room_for_others() {
    let operators = vec![
        numbers(),
        fed("spl.utility::DeDuplicate", "Unique", 0)
            .param(
                "key",
                [n(), exprs::attribute(PortIndex(0), 1, Type::Float64)],
            )
            .param("count", [exprs::constant(Value::Uint64(50), Type::Uint64)])
            .output("Unique", schema())
            .assign([
                Some(n()),
                Some(exprs::attribute(PortIndex(0), 1, Type::Float64)),
            ]),
        fed("t::Watch", "Watch", 1),
    ];
    let processed = run(operators, WATCH_WINDOWS);
    assert_eq!(processed[2], 20_000, "no key comes twice");

    // Groups and partitions that never come again.
    let of_forty = || window(WindowKind::Tumbling, Policy::Count(40), None);
    let mut partitioned = window(WindowKind::Tumbling, Policy::Count(1), None);
    partitioned.partition = Some(graph::Partition { evict: None });
    let operators = vec![
        numbers(),
        fed("t::Watch", "Watch", 0),
        aggregate(0, of_forty(), &["Sum"]).param("groupBy", [n()]),
        fed("t::Take", "Take", 2),
        aggregate(0, partitioned, &["Sum"])
            .param("partitionBy", [n()])
            .param("groupBy", [exprs::rem(n(), exprs::int64(3))]),
        fed("t::Take", "Take", 4),
    ];
    let processed = run(operators, WATCH_WINDOWS);
    assert_eq!((processed[3], processed[5]), (20_000, 20_000));
}
