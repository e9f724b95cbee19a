//! Once a PE runs, the fused path allocates nothing for tuples of fixed length, and a tumbling window
//! whose tuples need not be kept takes no more memory the more come.

use std::alloc::System;

use graph::{BinaryOp, Fault, OperatorModel, Policy, Pos, Window, WindowKind};
use runtime::{Build, Make, Operator, OperatorEntry, Outlet};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use testkit::{Invoke, program, x};
use tuple::{TupleRef, Type};

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

/// Tuples between two looks at the count, and at most so many of the 99 spans may see an allocation:
/// the count is the whole process', and while the first tuples pass the main thread still starts up.
const SPAN: u64 = 100;
const DIRTY_SPANS_MAX: u64 = 3;

/// Looks at the count every [`SPAN`] tuples.
struct Watch {
    seen: u64,
    before: usize,
    dirty_spans: u64,
}

impl Operator for Watch {
    fn process(&mut self, _: u32, _: TupleRef<'_>, _: &mut dyn Outlet) -> Result<(), Fault> {
        self.seen += 1;
        if self.seen.is_multiple_of(SPAN) {
            let now = allocations();
            self.dirty_spans += u64::from(self.seen > SPAN && now != self.before);
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

fn watch(_: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    Ok(Box::new(Watch {
        seen: 0,
        before: 0,
        dirty_spans: 0,
    }))
}

static TAKE: OperatorModel = OperatorModel {
    namespace: "t",
    name: "Take",
    inputs: &[graph::InPortModel::DEFAULT],
    ..OperatorModel::DEFAULT
};

/// Takes what comes.
struct Take;

impl Operator for Take {
    fn process(&mut self, _: u32, _: TupleRef<'_>, _: &mut dyn Outlet) -> Result<(), Fault> {
        Ok(())
    }
}

#[test]
fn tuples_of_fixed_length_pass_without_an_allocation() {
    let schema = [("n", Type::Int64), ("x", Type::Float64)];
    let n = || x::attribute(0, 0, Type::Int64);
    let odd = x::eq(x::binary(BinaryOp::BitAnd, n(), x::int64(1)), x::int64(0));
    let step = graph::ExprKind::Step {
        place: graph::Place {
            root: graph::Root::State(graph::StateId(0)),
            steps: Vec::new(),
            ty: Type::Int64,
            pos: x::HERE,
        },
        down: false,
        prefix: true,
    };
    let in_port = |invoke: Invoke, feeder| invoke.input("In", schema.clone()).fed(0, feeder, 0);
    let program = program([
        Invoke::new("spl.utility::Beacon", "B")
            .state("n", Type::Int64, None)
            .param("iterations", [x::int32(20_000)])
            .output("B", schema.clone())
            .assign([Some(x::expr(step, Type::Int64)), Some(x::float64(0.5))]),
        in_port(Invoke::new("spl.relational::Filter", "Even"), 0)
            .param("filter", [odd])
            .output("Even", schema.clone()),
        in_port(Invoke::new("spl.relational::Functor", "Sum"), 1)
            .history(1)
            .output("Sum", schema.clone())
            .assign([
                Some(x::add(n(), x::earlier(0, 1, 0, Type::Int64))),
                Some(x::attribute(0, 1, Type::Float64)),
            ]),
        in_port(Invoke::new("t::Watch", "Watch"), 2),
        in_port(Invoke::new("spl.relational::Aggregate", "Sums"), 2)
            .window(Window {
                kind: WindowKind::Tumbling,
                evict: Policy::Count(4_000),
                trigger: None,
                partition: None,
                pos: Pos::default(),
            })
            .param("groupBy", [x::rem(n(), x::int64(3))])
            .output("Sums", schema.clone())
            .call("Sum", vec![n()], Type::Int64)
            .assign([
                Some(x::expr(graph::ExprKind::OutputCall(0), Type::Int64)),
                Some(x::attribute(0, 1, Type::Float64)),
            ]),
        in_port(Invoke::new("t::Take", "Take"), 4),
    ]);
    let watch = OperatorEntry {
        model: &WATCH,
        make: Make::Build(watch),
    };
    let take = OperatorEntry {
        model: &TAKE,
        make: Make::Build(|_| Ok(Box::new(Take))),
    };
    let registry = [thalweg_toolkit::operators(), &[watch, take]].concat();
    let (_, ended) = testkit::run(&program, &registry);
    let ended = ended.unwrap();
    assert_eq!(ended[3].processed, [10_000]);
    assert_eq!(ended[5].processed, [2 * 3], "two windows of three groups");
}
