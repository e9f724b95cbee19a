//! Operators that are compiled, and PEs of them.

use std::sync::Arc;

use graph::{
    Codec, Expr, Fault, FaultKind, Operator, OperatorModel, OutPortModel, Program, Stmt, inserted,
};
use jit::Jit;
use runtime::crossing::{ENTRIES, Links, Receiving, Sending};
use runtime::{Logic, Make, OperatorEntry, Options, Pe, Running};
use transport::{Batching, Medium, Spec};
use tuple::{Type, Value};

use crate::testkit::{Invoke, Shared, sinks, x};

/// Sends as many numbers as its name says, and a window marker after every hundredth.
const SOURCE: OperatorEntry = OperatorEntry {
    model: &OperatorModel {
        namespace: "t",
        name: "Source",
        outputs: &[OutPortModel::DEFAULT],
        ..OperatorModel::DEFAULT
    },
    make: Make::Lower(source_logic),
};

/// Adds its own count to each number, which doubles it if nothing is missing.
const COUNT: OperatorEntry = OperatorEntry {
    model: &OperatorModel {
        namespace: "t",
        name: "Count",
        inputs: &[graph::InPortModel::DEFAULT],
        outputs: &[OutPortModel {
            punctuation: graph::PunctuationOut::Preserving(0),
            ..OutPortModel::DEFAULT
        }],
        ..OperatorModel::DEFAULT
    },
    make: Make::Lower(count_logic),
};

fn n() -> Expr {
    x::local(0, Type::Int64)
}

fn source_logic(operator: &Operator) -> Result<Logic, Fault> {
    let count = operator.name.trim_start_matches('N').parse();
    let count = count.map_err(|_| Fault::new(FaultKind::Limit, "its name is no count"))?;
    let place = graph::Place::local(graph::LocalId(0), Type::Int64);
    let next = Stmt::Expr(Expr::assign(place, x::add(n(), x::int64(1))));
    let is_hundredth = x::eq(x::rem(n(), x::int64(100)), x::int64(0));
    let mark = x::submit_mark(0, tuple::Punctuation::Window);
    let turn = vec![
        x::submit(0, x::tuple(&["n"], vec![n()])),
        next,
        Stmt::If(is_hundredth, vec![mark], vec![]),
    ];
    Ok(Logic {
        on_process: Some(x::body(
            &[Type::Int64],
            vec![
                Stmt::Let(graph::LocalId(0), Some(x::int64(0))),
                Stmt::While(x::lt(n(), x::int64(count)), turn),
            ],
        )),
        ..Logic::default()
    })
}

fn count_logic(_: &Operator) -> Result<Logic, Fault> {
    let seen = x::state(0, Type::Int64);
    let sum = x::add(x::attribute(0, 0, Type::Int64), seen.clone());
    Ok(Logic {
        state: vec![graph::StateVar {
            name: "seen".into(),
            ty: Type::Int64,
            init: None,
        }],
        on_tuple: vec![x::body(
            &[],
            vec![
                x::submit(0, x::tuple(&["n"], vec![sum])),
                x::set_state(0, x::add(seen, x::int64(1))),
            ],
        )],
        on_punct: vec![None],
        on_process: None,
        keeps_markers: false,
        window: None,
    })
}

pub fn source(count: u32) -> Invoke {
    Invoke::new("t::Source", &format!("N{count}")).output("N", [("n", Type::Int64)])
}

pub fn counter(feeder: u32) -> Invoke {
    Invoke::new("t::Count", "Count")
        .input("In", [("n", Type::Int64)])
        .output("Out", [("n", Type::Int64)])
        .fed(0, feeder, 0)
}

/// Starts a PE of these operators and others.
pub fn start(program: &Program, links: Links, others: &[OperatorEntry]) -> (Running, Shared) {
    let mut registry = vec![SOURCE, COUNT];
    registry.extend(others);
    registry.extend(sinks());
    registry.extend(ENTRIES);
    let printed = Shared::default();
    let options = Options {
        stdout: Box::new(printed.clone()),
        links,
        ..Options::default()
    };
    let mut jit = Jit::new(&[], &[], jit::Options::default()).expect("a known machine");
    let pe = Pe::wire(program, &registry, &mut jit, options).and_then(Pe::start);
    (pe.unwrap_or_else(|report| panic!("{report}")), printed)
}

/// A queue of the source's numbers.
pub fn queue(items: u32, congestion: &str) -> Invoke {
    Invoke::new(inserted::QUEUE, "Queue")
        .input("In", [("n", Type::Int64)])
        .output("Out", [("n", Type::Int64)])
        .param("tuples", [x::uint32(items)])
        .literal("congestion", &[congestion])
        .fed(0, 0, 0)
}

/// The number of the one crossing.
const LINK: u32 = 3;

fn link() -> [Expr; 1] {
    [x::constant(Value::Uint32(LINK), Type::Uint32)]
}

/// Sends the source's numbers to another PE.
pub fn send() -> Invoke {
    Invoke::new(inserted::SEND, "Send")
        .input("In", [("n", Type::Int64)])
        .param("link", link())
        .fed(0, 0, 0)
}

/// Receives them.
pub fn receive() -> Invoke {
    Invoke::new(inserted::RECEIVE, "Receive")
        .output("N", [("n", Type::Int64)])
        .param("link", link())
}

/// Both ends of the crossing, for the sending and for the receiving PE.
pub fn links(medium: &dyn Medium, codec: Codec, ring_bytes: usize) -> (Links, Links) {
    let spec = Spec {
        name: Arc::from("N.0"),
        link: LINK,
        receivers: 1,
        ring_bytes,
        batch: Batching::default(),
        token: [7; 16],
        listen: std::net::Ipv4Addr::LOCALHOST.into(),
    };
    let (out, mut tickets) = medium.open(&spec).expect("a sending end");
    let inbound = medium
        .accept(&spec, tickets.remove(0))
        .expect("a receiving end");
    let mut sends = Links::default();
    sends.outbound.insert(
        LINK,
        Sending {
            stream: "N.0".into(),
            to: vec![1],
            codec,
            end: out,
        },
    );
    let mut receives = Links {
        pe: 1,
        ..Links::default()
    };
    receives.inbound.insert(
        LINK,
        Receiving {
            stream: "N.0".into(),
            from: 0,
            codec,
            is_foreign: medium.caps().is_foreign,
            end: inbound,
        },
    );
    (sends, receives)
}
