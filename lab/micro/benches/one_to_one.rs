//! A threaded port between a source and a sink, against rtrb and a bare ring.
//!
//! ```text
//!   Beacon --> [ queue of 1000 ] --> Custom (adds up every word)        a thread each
//! ```
//! The control does the same with rtrb, one item at a time: a loop pushes items of equal size, and
//! a loop pops them and adds up every word. Its queue has as many items as the threaded port's, or
//! as many bytes as its ring, which suits rtrb better; the faster of the two counts. A bare ring is
//! Thalweg's ring without operators. The limit of copying is a block that is filled on one core,
//! added up on the other, and returned. Each contender has both cores for itself. The best of
//! several turns counts, since on a busy machine the others tell of other programs. `cargo bench -p
//! thalweg-micro --bench one_to_one [-- bytes ...]`

use std::hint::black_box;
use std::sync::Arc;
use std::thread;

use control::{Backoff, copy_blocks_ns, pop_spinning};
use eval::{Fault, FaultKind};
use graph::{OperatorModel, PortIndex, Stmt};
use runtime::{LoweredLogic, OperatorConstructor, OperatorEntry};
use thalweg_micro::builders::*;
use thalweg_micro::threaded_port::{self, ITEMS};
use thalweg_micro::turns::{best_times_ns, time_ns};
use tuple::{TupleType, Type};

/// Bytes of all tuples of a turn.
const BYTES: usize = 1 << 28;

/// Tuples of a turn at most, which bounds the time of small ones.
const COUNT_MAX: usize = 4_000_000;

/// Bytes of a ring at least, as much as a threaded port has.
const RING_BYTES: usize = 2 << 20;

fn main() {
    println!(
        "{:>8} {:>10} {:>10} {:>10} {:>10} {:>10} {:>8} {:>8} {:>8}",
        "bytes", "thalweg", "ring", "rtrb", "rtrb, 2 MB", "copy", "/rtrb", "/ring", "/copy"
    );
    println!(
        "{:>8} {:>10} {:>10} {:>10} {:>10} {:>10}",
        "", "M/s", "M/s", "M/s", "M/s", "M/s"
    );
    row::<8>();
    row::<32>();
    row::<128>();
    row::<2048>();
}

/// Prints the row of one size, in words.
fn row<const WORDS: usize>() {
    let bytes = WORDS * 8;
    let wanted: Vec<usize> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    if !wanted.is_empty() && !wanted.contains(&bytes) {
        return;
    }
    let count = (BYTES / bytes).min(COUNT_MAX) as u64;
    let times = best_times_ns(&mut [
        &mut || threaded(WORDS, count),
        &mut || bare_ring::<WORDS>(count),
        &mut || rtrb_items::<WORDS>(count, ITEMS as usize),
        &mut || rtrb_items::<WORDS>(count, (RING_BYTES / bytes).max(ITEMS as usize)),
        &mut || copy_blocks_ns(bytes as u64 * count),
    ]);
    let rates = times.iter().map(|ns| count as f64 * 1000.0 / ns);
    let rates: Vec<f64> = rates.collect();
    print!("{bytes:>8}");
    rates.iter().for_each(|rate| print!(" {rate:>10.1}"));
    for control in [rates[2].max(rates[3]), rates[1], rates[4]] {
        print!(" {:>8.2}", rates[0] / control);
    }
    println!();
}

/// Nanoseconds of a run with a threaded port.
fn threaded(words: usize, count: u64) -> f64 {
    let names = (0..words).map(|at| (format!("p{at}"), Type::Int64));
    let schema = Arc::new(TupleType::new(names));
    let program = threaded_port::threaded_port_program(&schema, &format!("Source {count}"));
    threaded_port::run_ns(
        &program,
        &[entry(&SOURCE, source), entry(&SINK, sink)],
        count,
    )
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
    lower: fn(&graph::OperatorNode) -> Result<LoweredLogic, Fault>,
) -> OperatorEntry {
    let make = OperatorConstructor::Lower(lower);
    OperatorEntry {
        model,
        constructor: make,
    }
}

/// Lowers the source: as many tuples as its name says, each attribute the number of the tuple.
fn source(operator: &graph::OperatorNode) -> Result<LoweredLogic, Fault> {
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
        submit(PortIndex(0), tuple(&ty, attributes.collect())),
        assign_op(Add, local_place(0, Type::Int64), int(1)),
    ];
    let counting = Stmt::While(binary(Lt, i(), int(count)), turn);
    Ok(LoweredLogic {
        on_process: Some(body([Type::Int64], vec![let_(0, int(0)), counting])),
        ..LoweredLogic::default()
    })
}

/// Lowers the sink, which adds up every attribute.
fn sink(operator: &graph::OperatorNode) -> Result<LoweredLogic, Fault> {
    let attributes = 0..operator.inputs[0].schema.attributes.len() as u32;
    let sum = attributes.map(|at| attr(at, Type::Int64));
    let sum = sum
        .reduce(|a, b| binary(Add, a, b))
        .unwrap_or_else(|| int(0));
    let add = assign_op(Add, state_place(0, Type::Int64), sum);
    Ok(LoweredLogic {
        state: vec![var("sum", Type::Int64)],
        on_tuple: vec![body([], vec![add])],
        on_punct: vec![None],
        on_finish: None,
        on_process: None,
        keeps_markers: false,
        ..LoweredLogic::default()
    })
}

/// Nanoseconds of a run by rtrb, an item at a time.
fn rtrb_items<const WORDS: usize>(count: u64, items: usize) -> f64 {
    let (mut producer, mut consumer) = rtrb::RingBuffer::<[u64; WORDS]>::new(items);
    time_ns(|| {
        thread::scope(|scope| {
            scope.spawn(move || {
                for i in 0..count {
                    let (mut item, mut backoff) = ([i; WORDS], Backoff::default());
                    while let Err(rtrb::PushError::Full(full)) = producer.push(item) {
                        item = full;
                        backoff.wait();
                    }
                }
            });
            let mut sum = 0u64;
            for _ in 0..count {
                let item = pop_spinning(&mut consumer);
                sum = item.iter().fold(sum, |sum, word| sum.wrapping_add(*word));
            }
            black_box(sum);
        });
    })
}

/// Nanoseconds of a run by a bare ring of Thalweg, in frames.
fn bare_ring<const WORDS: usize>(count: u64) -> f64 {
    let bytes = (ITEMS as usize * (WORDS * 8 + 8)).max(RING_BYTES);
    let shape = ring::RingShape { bytes, readers: 1 };
    let (mut writer, mut readers) = ring::private_ring(shape).expect("memory");
    let mut reader = readers.remove(0);
    time_ns(|| {
        thread::scope(|scope| {
            scope.spawn(move || {
                for i in 0..count {
                    let mut backoff = Backoff::default();
                    loop {
                        if let Some(room) = writer.claim(WORDS * 8) {
                            let words = room.as_chunks_mut::<8>().0;
                            words.iter_mut().for_each(|word| *word = i.to_ne_bytes());
                            writer.commit(1, 0, WORDS * 8);
                            break;
                        }
                        backoff.wait();
                    }
                }
            });
            let (mut sum, mut left, mut backoff) = (0u64, count, Backoff::default());
            while left > 0 {
                let batch = reader.poll();
                if batch.is_empty() {
                    backoff.wait();
                    continue;
                }
                backoff = Backoff::default();
                for frame in batch {
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
