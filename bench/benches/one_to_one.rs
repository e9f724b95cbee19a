//! A threaded port between a source and a sink, against rtrb and a bare ring.
//!
//! ```text
//!   Beacon --> [ queue of 1000 ] --> Custom (adds up every word)        a thread each
//! ```
//! The control is the same hand-over by rtrb, an item at a time: a loop that pushes items of the same
//! size, a loop that pops them and adds up every word. A bare ring is Thalweg's own without
//! operators. Each contender has both cores for itself.
//! `cargo bench -p thalweg-bench --bench one_to_one`

use std::hint::black_box;
use std::sync::Arc;
use std::thread;

use graph::{Expr, Fault, FaultKind, OperatorModel, Program, Stmt, inserted};
use jit::Jit;
use runtime::crossing::ENTRIES;
use runtime::{Logic, Make, OperatorEntry, Options, Pe, Running};
use thalweg_bench::host::operator;
use thalweg_bench::make::*;
use thalweg_bench::measure::{medians, time_ns};
use tuple::{TupleType, Type, Value};

/// What crosses each time.
const BYTES: usize = 1 << 30;

/// But no more items than this.
const COUNT_MAX: usize = 20_000_000;

/// Items of a queue: SPL's default.
const ITEMS: u32 = 1000;

fn main() {
    println!(
        "{:>8} {:>10} {:>10} {:>10} {:>8} {:>8}",
        "bytes", "thalweg", "ring", "rtrb", "/rtrb", "/ring"
    );
    println!("{:>8} {:>10} {:>10} {:>10}", "", "M/s", "M/s", "M/s");
    row::<8>();
    row::<32>();
    row::<128>();
    row::<2048>();
}

/// One size, in words.
fn row<const WORDS: usize>() {
    let bytes = WORDS * 8;
    let count = (BYTES / bytes).min(COUNT_MAX) as u64;
    let mut ours = || threaded(WORDS, count) / count as f64;
    let mut ring = || bare_ring::<WORDS>(count) / count as f64;
    let mut control = || rtrb_items::<WORDS>(count) / count as f64;
    let times = medians(&mut [&mut ours, &mut ring, &mut control]);
    let rates: Vec<f64> = times.iter().map(|ns| 1000.0 / ns).collect();
    println!(
        "{bytes:>8} {:>10.1} {:>10.1} {:>10.1} {:>8.2} {:>8.2}",
        rates[0],
        rates[1],
        rates[2],
        rates[0] / rates[2],
        rates[0] / rates[1]
    );
}

/// Nanoseconds of a run of the program.
fn threaded(words: usize, count: u64) -> f64 {
    let program = program(words, count);
    let registry = [&[entry(&SOURCE, source), entry(&SINK, sink)], ENTRIES].concat();
    let mut jit = Jit::new(&[], &[], jit::Options::default()).expect("a known machine");
    let pe = Pe::wire(&program, &registry, &mut jit, Options::default());
    let pe = pe.unwrap_or_else(|report| panic!("{report}"));
    time_ns(|| {
        let ended = pe.start().and_then(Running::join);
        let tallies = ended.unwrap_or_else(|report| panic!("{report}"));
        assert_eq!(tallies[2].processed, [count]);
    })
}

fn program(words: usize, count: u64) -> Program {
    let names = (0..words).map(|at| (format!("p{at}"), Type::Int64));
    let schemas = [Arc::new(TupleType::new(names))];
    let mut source = operator(&[], &schemas);
    source.kind = "bench::Source".into();
    source.name = format!("Source {count}").into();
    let mut queue = operator(&schemas, &schemas);
    queue.kind = inserted::QUEUE.into();
    queue.inputs[0].sources = vec![edge(0)];
    let tuples = Expr::constant(Value::Uint32(ITEMS), Type::Uint32);
    let param = |name: &str, value| graph::Param {
        name: name.into(),
        value,
        pos: graph::Pos::default(),
    };
    queue.params = vec![
        param("tuples", graph::ParamValue::Exprs(vec![tuples])),
        param(
            "congestion",
            graph::ParamValue::Literals(vec!["wait".into()]),
        ),
    ];
    let mut sink = operator(&schemas, &[]);
    sink.kind = "bench::Sink".into();
    sink.inputs[0].sources = vec![edge(1)];
    Program {
        name: "OneToOne".into(),
        operators: vec![source, queue, sink],
        ..Program::default()
    }
}

fn edge(operator: u32) -> graph::Edge {
    let operator = graph::OperatorId(operator);
    graph::Edge { operator, port: 0 }
}

static SOURCE: OperatorModel = OperatorModel {
    namespace: "bench",
    name: "Source",
    ..OperatorModel::DEFAULT
};

static SINK: OperatorModel = OperatorModel {
    namespace: "bench",
    name: "Sink",
    ..OperatorModel::DEFAULT
};

const fn entry(
    model: &'static OperatorModel,
    lower: fn(&graph::Operator) -> Result<Logic, Fault>,
) -> OperatorEntry {
    let make = Make::Lower(lower);
    OperatorEntry { model, make }
}

/// As many tuples as the name says, every attribute the tuple's number.
fn source(operator: &graph::Operator) -> Result<Logic, Fault> {
    let count = operator
        .name
        .rsplit(' ')
        .next()
        .and_then(|n| n.parse().ok());
    let count = count.ok_or_else(|| Fault::new(FaultKind::Limit, "no count"))?;
    let ty = Type::Tuple(operator.outputs[0].schema.clone());
    let i = || local(0, Type::Int64);
    let attributes = operator.outputs[0].schema.attributes.iter().map(|_| i());
    let turn = vec![
        submit(0, tuple(&ty, attributes.collect())),
        change(Add, to_local(0, Type::Int64), int(1)),
    ];
    let counting = Stmt::While(bin(Lt, i(), int(count)), turn);
    Ok(Logic {
        on_process: Some(body([Type::Int64], vec![let_(0, int(0)), counting])),
        ..Logic::default()
    })
}

/// Adds up every attribute.
fn sink(operator: &graph::Operator) -> Result<Logic, Fault> {
    let attributes = 0..operator.inputs[0].schema.attributes.len() as u32;
    let sum = attributes.map(|at| attr(at, Type::Int64));
    let sum = sum.reduce(|a, b| bin(Add, a, b)).unwrap_or_else(|| int(0));
    let add = change(Add, to_state(0, Type::Int64), sum);
    Ok(Logic {
        state: vec![var("sum", Type::Int64)],
        on_tuple: vec![body([], vec![add])],
        on_punct: vec![None],
        on_process: None,
    })
}

/// Nanoseconds of the same by rtrb.
fn rtrb_items<const WORDS: usize>(count: u64) -> f64 {
    let (mut producer, mut consumer) = rtrb::RingBuffer::<[u64; WORDS]>::new(ITEMS as usize);
    time_ns(|| {
        thread::scope(|scope| {
            scope.spawn(move || {
                for i in 0..count {
                    let mut item = [i; WORDS];
                    while let Err(rtrb::PushError::Full(full)) = producer.push(item) {
                        item = full;
                        std::hint::spin_loop();
                    }
                }
            });
            let mut sum = 0u64;
            for _ in 0..count {
                let item = loop {
                    match consumer.pop() {
                        Ok(item) => break item,
                        Err(_) => std::hint::spin_loop(),
                    }
                };
                sum = item.iter().fold(sum, |sum, word| sum.wrapping_add(*word));
            }
            black_box(sum);
        });
    })
}

/// Nanoseconds of the same by a ring of Thalweg, in frames.
fn bare_ring<const WORDS: usize>(count: u64) -> f64 {
    let bytes = ITEMS as usize * (WORDS * 8 + 8);
    let shape = ring::Shape { bytes, readers: 1 };
    let (mut writer, mut readers) = ring::private(shape).expect("memory");
    let mut reader = readers.remove(0);
    time_ns(|| {
        thread::scope(|scope| {
            scope.spawn(move || {
                for i in 0..count {
                    loop {
                        if let Some(room) = writer.claim(WORDS * 8) {
                            let words = room.as_chunks_mut::<8>().0;
                            words.iter_mut().for_each(|word| *word = i.to_ne_bytes());
                            writer.commit(1, 0, WORDS * 8);
                            break;
                        }
                        std::hint::spin_loop();
                    }
                }
            });
            let (mut sum, mut left) = (0u64, count);
            while left > 0 {
                for frame in reader.poll() {
                    let words = frame.bytes.as_chunks::<8>().0.iter();
                    sum = words.fold(sum, |sum, word| sum.wrapping_add(u64::from_ne_bytes(*word)));
                    left -= 1;
                }
                reader.release();
            }
            black_box(sum);
        });
    })
}
