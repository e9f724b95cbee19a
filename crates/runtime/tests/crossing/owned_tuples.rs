//! Owned tuples: a queue hands their buffers over, whole, in order, and uncopied.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use eval::Fault;
use graph::{InPortModel, OperatorModel, OutPortModel, PortIndex};
use runtime::{BuildContext, Operator, OperatorEntry, Outlet, Source};
use testkit::OperatorBuilder;
use tuple::{Layout, TupleBuf, TupleRef, Type, Value};

use crate::operators::{OneSource, PeSide, pass_limit_of, queue};
use crate::pass_limit::PassLimit;

pub const MAKER: OperatorEntry = OperatorEntry::built(
    &OperatorModel {
        namespace: "t",
        name: "Maker",
        doc: "Sends `count` tuples of a number and a text that follow from the `seed`, some with \
              their buffers. If it is `plain`, all texts are large and all buffers are given.",
        outputs: &[OutPortModel::DEFAULT],
        allow_any_param: true,
        ..OperatorModel::DEFAULT
    },
    maker,
);

pub const WITNESS: OperatorEntry = OperatorEntry::built(
    &OperatorModel {
        namespace: "t",
        name: "Witness",
        doc: "Writes down what came and where it lay.",
        inputs: &[InPortModel::DEFAULT],
        allow_any_param: true,
        ..OperatorModel::DEFAULT
    },
    witness,
);

/// Where buffers begin to be handed over, and the largest text.
const LARGE: u64 = 4096;
const LARGEST: u64 = 40_000;

/// Records of both sides of the queue.
#[derive(Default)]
struct Log {
    sent: Vec<Seen>,
    came: Vec<Seen>,
}

/// A tuple: its number, and where it lay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    number: i64,
    address: usize,
}

/// Operators find theirs here, by a parameter.
static LOGS: LazyLock<Mutex<HashMap<i128, Arc<Mutex<Log>>>>> = LazyLock::new(Mutex::default);

fn log_of(build: &mut BuildContext<'_>) -> Result<Arc<Mutex<Log>>, Fault> {
    let key = build.integer("log")?.unwrap_or_default();
    let mut logs = LOGS.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(logs.entry(key).or_default().clone())
}

fn seen(tuple: TupleRef<'_>) -> Seen {
    Seen {
        number: tuple.i64_at(0),
        address: tuple.bytes().as_ptr().addr(),
    }
}

/// SplitMix64: a random number from a seed and a number.
fn mix(seed: u64, number: i64) -> u64 {
    let z = seed.wrapping_add((number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// The text of a number: small ones and large ones come in runs, and about the limit.
fn text(seed: u64, number: i64, is_plain: bool) -> Vec<u8> {
    let dice = mix(seed, number);
    let run = mix(!seed, number / 8) % 4;
    let len = match run {
        _ if is_plain => LARGEST / 2 + dice % 100,
        0 => LARGE - 40 + dice % 80,
        1 | 2 => dice % LARGEST,
        _ => dice % 300,
    };
    (0..len).map(|at| (dice >> 40 ^ at) as u8).collect()
}

struct Maker {
    layout: Arc<Layout>,
    seed: u64,
    count: i64,
    is_plain: bool,
    log: Arc<Mutex<Log>>,
}

fn maker(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    let seed = build.integer("seed")?.unwrap_or_default();
    let count = build.integer("count")?.unwrap_or_default();
    Ok(Box::new(OneSource(Some(Box::new(Maker {
        layout: build.outputs[0].clone(),
        seed: seed as u64,
        count: count as i64,
        is_plain: build.flag("plain", false)?,
        log: log_of(build)?,
    })))))
}

impl Source for Maker {
    fn run(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        let mut buf = TupleBuf::default();
        for number in 0..self.count {
            let text = text(self.seed, number, self.is_plain);
            let values = [Value::Int64(number), Value::RString(text.as_slice().into())];
            buf.set_all(&self.layout, &Value::Tuple(values.into()));
            self.log.lock().unwrap().sent.push(seen(buf.as_ref()));
            if self.is_plain || !mix(self.seed, -number).is_multiple_of(4) {
                out.submit_owned(PortIndex(0), &mut buf)?;
            } else {
                let before = buf.clone();
                out.submit(PortIndex(0), buf.as_ref())?;
                assert_eq!(before.as_ref().bytes(), buf.as_ref().bytes());
            }
        }
        Ok(())
    }
}

struct Witness {
    seed: u64,
    is_plain: bool,
    log: Arc<Mutex<Log>>,
}

fn witness(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    Ok(Box::new(Witness {
        seed: build.integer("seed")?.unwrap_or_default() as u64,
        is_plain: build.flag("plain", false)?,
        log: log_of(build)?,
    }))
}

impl Operator for Witness {
    fn process(
        &mut self,
        _: PortIndex,
        tuple: TupleRef<'_>,
        _: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let seen = seen(tuple);
        let expected = text(self.seed, seen.number, self.is_plain);
        assert!(tuple.bytes_at(8) == expected, "text {}", seen.number);
        self.log.lock().unwrap().came.push(seen);
        Ok(())
    }
}

/// Settings of a run.
#[derive(Clone, Copy)]
struct Run {
    seed: i64,
    count: i64,
    items: u32,
    congestion: &'static str,
    is_plain: bool,
}

impl Run {
    /// Runs `Maker`, a queue, perhaps a PassLimit, and `Witness`.
    fn log(self, key: i64, limit: Option<&PassLimit>) -> Log {
        let Run {
            items, congestion, ..
        } = self;
        let params = |invoke: OperatorBuilder| {
            [("seed", self.seed), ("count", self.count), ("log", key)]
                .into_iter()
                .fold(invoke, |invoke, (name, value)| {
                    let value = testkit::exprs::constant(Value::Int64(value), Type::Int64);
                    invoke.param(name, [value])
                })
                .param(
                    "plain",
                    [testkit::exprs::constant(
                        Value::Boolean(self.is_plain),
                        Type::Boolean,
                    )],
                )
        };
        let attributes = [("n", Type::Int64), ("s", Type::RString)];
        let maker = params(OperatorBuilder::new("t::Maker", "M").output("M", attributes.clone()));
        let waiting = queue(&maker, items, congestion, &[(0, 0)]);
        let witness = params(OperatorBuilder::new("t::Witness", "W").input("In", attributes));
        let program = match limit {
            None => vec![maker, waiting, witness.connect(0, 1, 0)],
            Some(limit) => {
                let gate = pass_limit_of(&maker, 1, &[limit.param()]);
                vec![maker, waiting, gate, witness.connect(0, 2, 0)]
            }
        };
        let running = PeSide::number(0).start(&testkit::build_program(program));
        if let Some(limit) = limit {
            limit.opens();
        }
        running.join().unwrap();
        let log = LOGS.lock().unwrap()[&key.into()].clone();
        std::mem::take(&mut *log.lock().unwrap())
    }
}

fn numbers(seen: &[Seen]) -> Vec<i64> {
    seen.iter().map(|seen| seen.number).collect()
}

#[test]
fn all_come_once_and_in_order() {
    for seed in 0..40 {
        let run = Run {
            seed,
            count: 150,
            items: [1, 2, 7, 64, 1000][seed as usize % 5],
            congestion: "wait",
            is_plain: false,
        };
        let log = run.log(1, None);
        assert_eq!(numbers(&log.sent), numbers(&log.came), "seed {seed}");
        assert_eq!(log.came.len(), 150);
    }
}

#[test]
fn what_is_not_dropped_is_whole_and_in_order() {
    for seed in 0..40 {
        let run = Run {
            seed,
            count: 100,
            items: [1, 3, 10][seed as usize % 3],
            congestion: ["dropFirst", "dropLast"][seed as usize % 2],
            is_plain: false,
        };
        let limit = PassLimit::closed();
        let log = run.log(2, Some(&limit));
        let came = numbers(&log.came);
        assert!(came.is_sorted_by(|a, b| a < b), "seed {seed}: {came:?}");
        let last = *came.last().unwrap();
        assert!(seed % 2 == 1 || last == 99, "seed {seed}: the newest stays");
    }
}

/// Buffers change hands; the first may be copied, as one alone would be.
#[test]
fn large_ones_are_not_copied() {
    for congestion in ["wait", "dropFirst", "dropLast"] {
        let run = Run {
            seed: 5,
            count: 60,
            items: 1000,
            congestion,
            is_plain: true,
        };
        let log = run.log(3, None);
        assert_eq!(log.came.len(), 60);
        assert_eq!(log.sent[1..], log.came[1..], "{congestion}");
    }
}
