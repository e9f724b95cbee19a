//! Compiled code on both sides of a queue and of a medium: what it writes in place arrives, exactly
//! as many tuples as may.

use std::sync::Arc;

use graph::{
    Codec, Expr, Fault, FaultKind, Operator, OperatorModel, OutPortModel, Program, Stmt, inserted,
};
use jit::Jit;
use runtime::crossing::{ENTRIES, Links, Receiving, Sending};
use runtime::{Logic, Make, OperatorEntry, Options, Pe, Running, Tally};
use testkit::{Invoke, Shared, program, sinks, x};
use transport::{Batching, Medium, Spec};
use tuple::{Type, Value};

extern crate thalweg_testkit as testkit;

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
    })
}

fn source(count: u32) -> Invoke {
    Invoke::new("t::Source", &format!("N{count}")).output("N", [("n", Type::Int64)])
}

fn counter(feeder: u32) -> Invoke {
    Invoke::new("t::Count", "Count")
        .input("In", [("n", Type::Int64)])
        .output("Out", [("n", Type::Int64)])
        .fed(0, feeder, 0)
}

fn printer(feeder: u32) -> Invoke {
    Invoke::new("testkit::Print", "Print")
        .input("In", [("n", Type::Int64)])
        .fed(0, feeder, 0)
}

fn start(program: &Program, links: Links) -> (Running, Shared) {
    let mut registry = vec![SOURCE, COUNT];
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

/// What a run prints when nothing is missing.
fn doubled(count: u32) -> String {
    let mut text = String::new();
    for n in 0..count {
        text += &format!("0 {{n={}}}\n", 2 * n);
        if n % 100 == 99 {
            text += "0 window\n";
        }
    }
    text + "0 final\n"
}

fn queued(count: u32, items: u32, congestion: &str) -> (String, Vec<Tally>) {
    let queue = Invoke::new(inserted::QUEUE, "Queue")
        .input("In", [("n", Type::Int64)])
        .output("Out", [("n", Type::Int64)])
        .param("tuples", [x::uint32(items)])
        .literal("congestion", &[congestion])
        .fed(0, 0, 0);
    let program = program([source(count), queue, counter(1), printer(2)]);
    let (running, printed) = start(&program, Links::default());
    let tallies = running.join().unwrap_or_else(|report| panic!("{report}"));
    (printed.text(), tallies)
}

#[test]
fn everything_passes_a_queue_that_waits() {
    for items in [1, 2, 31, 33, 64, 65, 1000, 100_000] {
        let (text, tallies) = queued(5000, items, "wait");
        assert_eq!(text, doubled(5000), "{items}");
        assert_eq!(tallies[0].submitted, [5000]);
        assert_eq!(tallies[1].processed, [5000]);
        assert_eq!(tallies[1].submitted, [5000]);
        assert_eq!(tallies[2].processed, [5000]);
    }
}

#[test]
fn what_a_queue_drops_is_counted() {
    for congestion in ["dropFirst", "dropLast"] {
        for items in [1, 7, 40, 1000] {
            let (text, tallies) = queued(5000, items, congestion);
            let metrics = &tallies[1].metrics;
            let dropped = metrics.iter().find(|(name, _)| name == "nTuplesDropped");
            let passed = tallies[2].processed[0];
            assert_eq!(
                dropped.unwrap().1 as u64 + passed,
                5000,
                "{congestion} {items}"
            );
            assert_eq!(tallies[1].processed, [5000]);
            assert_eq!(text.matches("window").count(), 50);
            assert!(text.ends_with("0 final\n"));
        }
    }
}

#[test]
fn everything_crosses_every_medium() {
    for medium in transport::media::all() {
        for (codec, ring_bytes) in [
            (Codec::Facade, 4096),
            (Codec::Facade, 1 << 20),
            (Codec::Normal, 4096),
        ] {
            let (text, tallies) = crossed(*medium, codec, ring_bytes);
            let name = medium.name();
            assert_eq!(text, doubled(5000), "{name}");
            assert_eq!(tallies[1].processed, [5000], "{name}");
        }
    }
}

/// What the receiving PE printed, and what the sending one has done.
fn crossed(medium: &dyn Medium, codec: Codec, ring_bytes: usize) -> (String, Vec<Tally>) {
    let spec = Spec {
        name: Arc::from("N.0"),
        link: 3,
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
        3,
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
        3,
        Receiving {
            stream: "N.0".into(),
            from: 0,
            codec,
            is_foreign: medium.caps().is_foreign,
            end: inbound,
        },
    );
    let link = || [x::constant(Value::Uint32(3), Type::Uint32)];
    let send = Invoke::new(inserted::SEND, "Send")
        .input("In", [("n", Type::Int64)])
        .param("link", link())
        .fed(0, 0, 0);
    let receive = Invoke::new(inserted::RECEIVE, "Receive")
        .output("N", [("n", Type::Int64)])
        .param("link", link());
    let (sender, _) = start(&program([source(5000), send]), sends);
    let (receiver, printed) = start(&program([receive, counter(0), printer(1)]), receives);
    let tallies = sender.join().unwrap_or_else(|report| panic!("{report}"));
    receiver.join().unwrap_or_else(|report| panic!("{report}"));
    (printed.text(), tallies)
}
