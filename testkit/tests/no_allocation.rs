//! Once they run, queues and crossings, ordered ones too, allocate nothing for tuples of fixed
//! length, nor queues for large ones that come with their buffers, whether there is always
//! something to do or a thread sleeps again and again.

extern crate thalweg_testkit as testkit;

#[path = "compiled/operators.rs"]
mod operators;

use std::alloc::System;
use std::sync::Arc;

use eval::Fault;
use graph::{CrossingCodec, CrossingId, Expr, OperatorModel, PeId, PortIndex, inserted_operators};
use operators::{counter, crossing_ends, queue, receive, send, source, start};
use runtime::crossing::CrossingEnds;
use runtime::{BuildContext, Operator, OperatorEntry, Outlet, Source};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use testkit::{OperatorBuilder, build_program};
use transport::Medium;
use tuple::{Layout, TupleBuf, TupleRef, Type};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn allocations() -> usize {
    let stats = ALLOCATOR.stats();
    stats.allocations + stats.reallocations
}

/// Looks at the count every [`SPAN`] tuples.
const WATCH: OperatorEntry = OperatorEntry::built(
    &OperatorModel {
        namespace: "t",
        name: "Watch",
        inputs: &[graph::InPortModel::DEFAULT],
        ..OperatorModel::DEFAULT
    },
    watch,
);

/// Tuples between two looks, and at most so many of the 99 spans may see an allocation: the count
/// is the whole process', and while the first tuples pass other threads still start up.
const SPAN: u64 = 100;
const DIRTY_SPANS_MAX: u64 = 5;

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
            self.dirty_spans += u64::from(self.seen > SPAN && now != self.before);
            self.before = now;
        }
        let is_clean = self.dirty_spans <= DIRTY_SPANS_MAX;
        assert!(is_clean, "tuple {} allocates", self.seen);
        Ok(())
    }
}

fn watch(_: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    Ok(Box::new(Watch::default()))
}

fn watcher(feeder: u32) -> OperatorBuilder {
    OperatorBuilder::new("t::Watch", "Watch")
        .input("In", [("n", Type::Int64)])
        .connect(0, feeder, 0)
}

const COUNT: u32 = 10_000;

/// Two streams of one source, which take its numbers across in frames with their places.
const PARTS: [u32; 2] = [3, 4];

fn uint32s<const N: usize>(numbers: [u32; N]) -> [Expr; N] {
    numbers.map(testkit::exprs::uint32)
}

/// Sends the source's numbers by one of the two.
fn part(crossing: u32) -> OperatorBuilder {
    OperatorBuilder::new(inserted_operators::SEND, "Send")
        .input("In", [("n", Type::Int64)])
        .param("crossing", uint32s([crossing]))
        .param("origin", uint32s([0]))
        .connect(0, 0, 0)
}

/// Takes both in the order of the source.
fn merge() -> OperatorBuilder {
    let [a, b] = PARTS;
    OperatorBuilder::new(inserted_operators::RECEIVE, "Merge")
        .output("A", [("n", Type::Int64)])
        .output("B", [("n", Type::Int64)])
        .param("crossing", uint32s([a, b]))
        .param("rank", uint32s([0, 1]))
        .param("carried", uint32s([a, 0, b, 0]))
}

/// The ends of both for the sending and for the receiving PE.
fn parts(medium: &dyn Medium, ring_bytes: usize) -> (CrossingEnds, CrossingEnds) {
    let mut sends = CrossingEnds {
        operator_origins: vec![Some(graph::OriginId(0)), None, None],
        ..CrossingEnds::default()
    };
    let mut receives = CrossingEnds {
        pe: PeId(1),
        operator_origins: vec![None; 2],
        ..CrossingEnds::default()
    };
    for crossing in PARTS {
        let (out, inbound) = crossing_ends(medium, CrossingCodec::Facade, ring_bytes);
        let out = out
            .outbound
            .into_values()
            .map(|end| (CrossingId(crossing), end));
        sends.outbound.extend(out);
        let inbound = inbound
            .inbound
            .into_values()
            .map(|end| (CrossingId(crossing), end));
        receives.inbound.extend(inbound);
    }
    (sends, receives)
}

/// Sends `COUNT` large texts with their buffers.
const MAKER: OperatorEntry = OperatorEntry::built(
    &OperatorModel {
        namespace: "t",
        name: "Maker",
        outputs: &[graph::OutPortModel::DEFAULT],
        ..OperatorModel::DEFAULT
    },
    maker,
);

struct Maker(Arc<Layout>);

fn maker(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    Ok(Box::new(Maker(build.outputs[0].clone())))
}

impl Operator for Maker {
    fn process(&mut self, _: PortIndex, _: TupleRef<'_>, _: &mut dyn Outlet) -> Result<(), Fault> {
        Ok(())
    }

    fn take_source(&mut self) -> Option<Box<dyn Source>> {
        Some(Box::new(Maker(self.0.clone())))
    }
}

impl Source for Maker {
    fn run(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        let (mut tuple, text) = (TupleBuf::default(), [b'x'; 9000]);
        (0..COUNT).try_for_each(|_| {
            tuple.begin(&self.0);
            tuple.put_bytes(0, &text);
            out.submit_owned(PortIndex(0), &mut tuple)
        })
    }
}

/// One after the other: they share the count.
#[test]
fn tuples_pass_without_an_allocation() {
    for items in [1, 3, 1000] {
        let program = build_program([source(COUNT), queue(items, "wait"), counter(1), watcher(2)]);
        let (running, _) = start(&program, CrossingEnds::default(), &[WATCH]);
        let tallies = running.join().unwrap_or_else(|report| panic!("{report}"));
        assert_eq!(tallies[3].processed, [u64::from(COUNT)], "{items}");
    }
    // Two pooled queues: with one item each, one region runs within the other.
    for (items, threads) in [(1, 1), (3, 1), (1000, 1), (1, 2)] {
        let first = pooled(0, items, threads);
        let second = pooled(2, items, threads);
        let program = build_program([source(COUNT), first, counter(1), second, watcher(3)]);
        let (running, _) = start(&program, CrossingEnds::default(), &[WATCH]);
        let tallies = running.join().unwrap_or_else(|report| panic!("{report}"));
        assert_eq!(
            tallies[4].processed,
            [u64::from(COUNT)],
            "{items}, {threads}"
        );
    }
    for (medium, ring_bytes) in [
        ("ring", 4096),
        ("ring", 1 << 20),
        ("shm", 4096),
        ("shm", 1 << 20),
    ] {
        let found = transport::media::find(medium).expect("a medium");
        let (sends, receives) = crossing_ends(found, CrossingCodec::Facade, ring_bytes);
        let (sender, _) = start(&build_program([source(COUNT), send()]), sends, &[]);
        let receiver = build_program([receive(), counter(0), watcher(1)]);
        let (receiver, _) = start(&receiver, receives, &[WATCH]);
        sender.join().unwrap_or_else(|report| panic!("{report}"));
        let tallies = receiver.join().unwrap_or_else(|report| panic!("{report}"));
        assert_eq!(
            tallies[2].processed,
            [u64::from(COUNT)],
            "{medium} {ring_bytes}"
        );
    }
    for (medium, ring_bytes) in [("ring", 4096), ("shm", 4096), ("shm", 1 << 16)] {
        let found = transport::media::find(medium).expect("a medium");
        let (sends, receives) = parts(found, ring_bytes);
        let [a, b] = PARTS.map(part);
        let (sender, _) = start(&build_program([source(COUNT), a, b]), sends, &[]);
        let receiver = build_program([merge(), watcher(0).connect(0, 0, 1)]);
        let (receiver, _) = start(&receiver, receives, &[WATCH]);
        sender.join().unwrap_or_else(|report| panic!("{report}"));
        let tallies = receiver.join().unwrap_or_else(|report| panic!("{report}"));
        let count = u64::from(2 * COUNT);
        assert_eq!(tallies[1].processed, [count], "{medium} {ring_bytes}");
    }
    // Few items, so that the few buffers that change hands are soon all there.
    for (items, congestion) in [(1, "wait"), (2, "wait"), (2, "dropLast"), (2, "dropFirst")] {
        let text = [("s", Type::RString)];
        let maker = OperatorBuilder::new("t::Maker", "Maker").output("Out", text.clone());
        let waiting = retyped(queue(items, congestion), &maker);
        let watch = OperatorBuilder::new("t::Watch", "Watch")
            .input("In", text)
            .connect(0, 1, 0);
        let program = build_program([maker, waiting, watch]);
        let (running, _) = start(&program, CrossingEnds::default(), &[MAKER, WATCH]);
        let tallies = running.join().unwrap_or_else(|report| panic!("{report}"));
        assert_eq!(
            tallies[1].processed,
            [u64::from(COUNT)],
            "{items} {congestion}"
        );
    }
}

/// A pooled queue of numbers, with the threads of its pool.
fn pooled(feeder: u32, items: u32, threads: u32) -> OperatorBuilder {
    OperatorBuilder::new(inserted_operators::QUEUE, "Queue")
        .input("In", [("n", Type::Int64)])
        .output("Out", [("n", Type::Int64)])
        .param("tuples", uint32s([items]))
        .param("pool", uint32s([threads]))
        .literal("congestion", &["wait"])
        .connect(0, feeder, 0)
}

/// A queue for another stream.
fn retyped(queue: OperatorBuilder, of: &OperatorBuilder) -> OperatorBuilder {
    let mut queue = queue.build();
    queue.inputs[0].schema = of.outputs[0].schema.clone();
    queue.outputs[0].schema = of.outputs[0].schema.clone();
    OperatorBuilder::from(queue)
}
