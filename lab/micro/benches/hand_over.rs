//! Large tuples through a threaded port: copied, and handed over with their buffers.
//!
//! ```text
//!   Source (writes a text) --copied into the queue--------> Sink (adds up every word)
//!                          --its buffer for a spare one--->
//! ```
//! The two sources differ in one call: `submit` or `submit_owned`. Handing over saves the source's
//! time, so that is measured too, in nanoseconds of its thread per tuple. The best of several turns
//! counts. The control is the best rate of copying between two cores. `cargo bench -p thalweg-micro
//! --bench hand_over [-- bytes ...]`

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use control::copy_blocks_ns;
use eval::Fault;
use graph::{OperatorModel, PortIndex};
use runtime::{BuildContext, Operator, OperatorEntry, Outlet, Source};
use thalweg_micro::threaded_port;
use thalweg_micro::turns::TURNS;
use tuple::{Layout, TupleBuf, TupleRef, TupleType, Type};

/// Bytes of all tuples of a turn.
const BYTES: usize = 1 << 28;

fn main() {
    let sizes: Vec<usize> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let sizes = match &sizes[..] {
        [] => &[1024, 4096, 16 * 1024, 64 * 1024],
        some => some,
    };
    println!(
        "{:>8} {:>10} {:>10} {:>6} {:>10} {:>10} {:>6} {:>8}",
        "bytes", "copied", "handed", "", "copied", "handed", "", "handed"
    );
    println!(
        "{:>8} {:>10} {:>10} {:>6} {:>10} {:>10} {:>6} {:>8}",
        "", "M/s", "M/s", "ratio", "source ns", "source ns", "ratio", "of copy"
    );
    sizes.iter().copied().for_each(row);
}

fn row(bytes: usize) {
    let (mut best, mut bare) = ([[f64::MAX; 2]; 2], f64::MAX);
    for _ in 0..2 * TURNS {
        bare = bare.min(copy_blocks_ns(BYTES as u64) * bytes as f64 / BYTES as f64);
        for (hands, best) in [false, true].into_iter().zip(&mut best) {
            let (ns, source_ns) = turn(bytes, hands);
            best[0] = best[0].min(ns);
            best[1] = best[1].min(source_ns);
        }
    }
    let [[copied, copying], [handed, handing]] = best;
    print!("{bytes:>8} {:>10.2} {:>10.2}", 1e3 / copied, 1e3 / handed);
    print!(" {:>6.2} {copying:>10.0}", copied / handed);
    print!(" {handing:>10.0} {:>6.2}", copying / handing);
    println!(" {:>8.2}", bare / handed);
}

/// Nanoseconds per tuple: wall time, and processor time of the source's thread.
fn turn(bytes: usize, hands: bool) -> (f64, f64) {
    let count = (BYTES / bytes) as u64;
    let schema = TupleType::new([("s".to_owned(), Type::RString)]);
    let name = format!("{bytes} {count} {}", u8::from(hands));
    let program = threaded_port::threaded_port_program(&Arc::new(schema), &name);
    let ns = threaded_port::run_ns(&program, &[SOURCE, SINK], count);
    let source_ns = SOURCE_NS.load(Ordering::Relaxed);
    (ns / count as f64, source_ns as f64 / count as f64)
}

/// Processor time of the last source's thread, in nanoseconds.
static SOURCE_NS: AtomicU64 = AtomicU64::new(0);

/// Nanoseconds that this thread has been on a processor.
fn ran_ns() -> u64 {
    let said = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = said.split(' ').next().and_then(|ns| ns.parse().ok());
    first.unwrap_or_default()
}

const SOURCE: OperatorEntry = OperatorEntry::built(
    &OperatorModel {
        namespace: "bench",
        name: "Source",
        ..OperatorModel::DEFAULT
    },
    source,
);

const SINK: OperatorEntry = OperatorEntry::built(
    &OperatorModel {
        namespace: "bench",
        name: "Sink",
        ..OperatorModel::DEFAULT
    },
    |_| Ok(Box::new(Sink(0))),
);

struct Texts {
    layout: Arc<Layout>,
    text: Vec<u8>,
    count: u64,
    hands: bool,
}

struct Given(Option<Box<dyn Source>>);

/// Builds the source that its name describes: bytes, number of tuples, whether it hands them over.
fn source(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    let words = build.operator.name.split(' ');
    let words: Vec<usize> = words.filter_map(|word| word.parse().ok()).collect();
    let [bytes, count, hands] = words[..] else {
        return Err(Fault::value("the source has no name"));
    };
    Ok(Box::new(Given(Some(Box::new(Texts {
        layout: build.outputs[0].clone(),
        text: vec![7; bytes - 8],
        count: count as u64,
        hands: hands > 0,
    })))))
}

impl Operator for Given {
    fn process(&mut self, _: PortIndex, _: TupleRef<'_>, _: &mut dyn Outlet) -> Result<(), Fault> {
        Ok(())
    }

    fn take_source(&mut self) -> Option<Box<dyn Source>> {
        self.0.take()
    }
}

impl Source for Texts {
    fn run(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        let (before, mut tuple) = (ran_ns(), TupleBuf::default());
        for _ in 0..self.count {
            tuple.begin(&self.layout);
            tuple.put_bytes(0, black_box(&self.text));
            if self.hands {
                out.submit_owned(PortIndex(0), &mut tuple)?;
            } else {
                out.submit(PortIndex(0), tuple.as_ref())?;
            }
        }
        SOURCE_NS.store(ran_ns() - before, Ordering::Relaxed);
        Ok(())
    }
}

struct Sink(u64);

impl Operator for Sink {
    fn process(
        &mut self,
        _: PortIndex,
        tuple: TupleRef<'_>,
        _: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let words = tuple.bytes().as_chunks::<8>().0.iter();
        let sum: u64 = words.map(|word| u64::from_ne_bytes(*word)).sum();
        self.0 = black_box(self.0 ^ sum);
        Ok(())
    }
}
