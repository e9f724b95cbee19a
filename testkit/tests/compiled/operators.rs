//! Operators that are compiled, and PEs of them.

use std::sync::Arc;

use eval::{Fault, FaultKind};
use graph::{
    CrossingCodec, CrossingId, Expr, OperatorModel, OperatorNode, OutPortModel, PeId, PortIndex,
    Program, Stmt, inserted_operators,
};
use jit::Jit;
use runtime::crossing::{CrossingEnds, ENTRIES, InboundCrossing, OutboundCrossing};
use runtime::{LoweredLogic, OperatorConstructor, OperatorEntry, Pe, PeOptions, RunningPe};
use transport::{Batching, EdgeSpec, Medium};
use tuple::{Type, Value};

use crate::testkit::{OperatorBuilder, SharedOutput, exprs, test_operators};

/// Sends as many numbers as its name says, and a window marker after every hundredth.
const SOURCE: OperatorEntry = OperatorEntry {
    model: &OperatorModel {
        namespace: "t",
        name: "Source",
        outputs: &[OutPortModel::DEFAULT],
        ..OperatorModel::DEFAULT
    },
    constructor: OperatorConstructor::Lower(source_logic),
};

/// Adds its own count to each number, which doubles it if nothing is missing.
const COUNT: OperatorEntry = OperatorEntry {
    model: &OperatorModel {
        namespace: "t",
        name: "Count",
        inputs: &[graph::InPortModel::DEFAULT],
        outputs: &[OutPortModel {
            punctuation: graph::PunctuationOutputMode::Preserving(PortIndex(0)),
            ..OutPortModel::DEFAULT
        }],
        ..OperatorModel::DEFAULT
    },
    constructor: OperatorConstructor::Lower(count_logic),
};

fn n() -> Expr {
    exprs::local(0, Type::Int64)
}

fn source_logic(operator: &OperatorNode) -> Result<LoweredLogic, Fault> {
    let count = operator.name.trim_start_matches('N').parse();
    let count = count.map_err(|_| Fault::new(FaultKind::Limit, "its name is no count"))?;
    let place = graph::Place::local(graph::LocalId(0), Type::Int64);
    let next = Stmt::Expr(Expr::assign(place, exprs::add(n(), exprs::int64(1))));
    let is_hundredth = exprs::eq(exprs::rem(n(), exprs::int64(100)), exprs::int64(0));
    let mark = exprs::submit_mark(PortIndex(0), tuple::Punctuation::Window);
    let turn = vec![
        exprs::submit(PortIndex(0), exprs::tuple(&["n"], vec![n()])),
        next,
        Stmt::If(is_hundredth, vec![mark], vec![]),
    ];
    Ok(LoweredLogic {
        on_process: Some(exprs::body(
            &[Type::Int64],
            vec![
                Stmt::Let(graph::LocalId(0), Some(exprs::int64(0))),
                Stmt::While(exprs::lt(n(), exprs::int64(count)), turn),
            ],
        )),
        ..LoweredLogic::default()
    })
}

fn count_logic(_: &OperatorNode) -> Result<LoweredLogic, Fault> {
    let seen = exprs::state(0, Type::Int64);
    let sum = exprs::add(exprs::attribute(PortIndex(0), 0, Type::Int64), seen.clone());
    Ok(LoweredLogic {
        state: vec![graph::StateVar {
            name: "seen".into(),
            ty: Type::Int64,
            init: None,
        }],
        on_tuple: vec![exprs::body(
            &[],
            vec![
                exprs::submit(PortIndex(0), exprs::tuple(&["n"], vec![sum])),
                exprs::set_state(0, exprs::add(seen, exprs::int64(1))),
            ],
        )],
        on_punct: vec![None],
        ..LoweredLogic::default()
    })
}

pub fn source(count: u32) -> OperatorBuilder {
    OperatorBuilder::new("t::Source", &format!("N{count}")).output("N", [("n", Type::Int64)])
}

pub fn counter(feeder: u32) -> OperatorBuilder {
    OperatorBuilder::new("t::Count", "Count")
        .input("In", [("n", Type::Int64)])
        .output("Out", [("n", Type::Int64)])
        .connect(0, feeder, 0)
}

/// Starts a PE of these operators and others.
pub fn start(
    program: &Program,
    crossing_ends: CrossingEnds,
    others: &[OperatorEntry],
) -> (RunningPe, SharedOutput) {
    let mut registry = vec![SOURCE, COUNT];
    registry.extend(others);
    registry.extend(test_operators());
    registry.extend(ENTRIES);
    let printed = SharedOutput::default();
    let options = PeOptions {
        stdout: Box::new(printed.clone()),
        crossing_ends,
        ..PeOptions::default()
    };
    let mut jit = Jit::new(&[], &[], jit::JitOptions::default()).expect("a known machine");
    let (program, threads) = &thalweg_testkit::planned(program, &registry, &[]);
    let pe = Pe::wire(program, threads, &registry, &mut jit, options).and_then(Pe::start);
    (pe.unwrap_or_else(|report| panic!("{report}")), printed)
}

/// A queue of the source's numbers.
pub fn queue(items: u32, congestion: &str) -> OperatorBuilder {
    OperatorBuilder::new(inserted_operators::QUEUE, "Queue")
        .input("In", [("n", Type::Int64)])
        .output("Out", [("n", Type::Int64)])
        .param("tuples", [exprs::uint32(items)])
        .literal("congestion", &[congestion])
        .connect(0, 0, 0)
}

/// The number of the one crossing.
const CROSSING: u32 = 3;

fn crossing_number() -> [Expr; 1] {
    [exprs::constant(Value::Uint32(CROSSING), Type::Uint32)]
}

/// Sends the source's numbers to another PE.
pub fn send() -> OperatorBuilder {
    OperatorBuilder::new(inserted_operators::SEND, "Send")
        .input("In", [("n", Type::Int64)])
        .param("crossing", crossing_number())
        .connect(0, 0, 0)
}

/// An operator that receives the tuples.
pub fn receive() -> OperatorBuilder {
    OperatorBuilder::new(inserted_operators::RECEIVE, "Receive")
        .output("N", [("n", Type::Int64)])
        .param("crossing", crossing_number())
}

/// Both ends of the crossing, for the sending and for the receiving PE.
pub fn crossing_ends(
    medium: &dyn Medium,
    codec: CrossingCodec,
    ring_bytes: usize,
) -> (CrossingEnds, CrossingEnds) {
    let spec = EdgeSpec {
        name: Arc::from("N.0"),
        edge: CROSSING,
        receiver_count: 1,
        ring_bytes,
        batching: Batching::default(),
        token: [7; 16],
        listen: std::net::Ipv4Addr::LOCALHOST.into(),
    };
    let (out, mut tickets) = medium.open(&spec).expect("a sending end");
    let inbound = medium
        .accept(&spec, tickets.remove(0))
        .expect("a receiving end");
    let mut sends = CrossingEnds::default();
    sends.outbound.insert(
        CrossingId(CROSSING),
        OutboundCrossing {
            stream: "N.0".into(),
            to_pes: vec![PeId(1)],
            codec,
            end: out,
        },
    );
    let mut receives = CrossingEnds {
        pe: PeId(1),
        ..CrossingEnds::default()
    };
    receives.inbound.insert(
        CrossingId(CROSSING),
        InboundCrossing {
            stream: "N.0".into(),
            from_pe: PeId(0),
            codec,
            is_foreign: medium.caps().is_untrusted,
            end: inbound,
        },
    );
    (sends, receives)
}
