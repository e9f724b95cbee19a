//! Operators and PEs for the tests.

use std::sync::{Arc, Condvar, Mutex};

use eval::{Fault, FaultKind};
use graph::{
    CrossingCodec, CrossingId, InPortModel, OperatorModel, OutPortModel, Param, ParamValue, PeId,
    PortIndex, Program, PunctuationOutputMode,
};
use runtime::abi::interpreter_backend::InterpreterBackend;
use runtime::crossing::{CrossingEnds, ENTRIES, InboundCrossing, OutboundCrossing};
use runtime::{
    BuildContext, Operator, OperatorEntry, Outlet, Pe, PeOptions, RunningPe, Source, StopSignal,
};
use testkit::{OperatorBuilder, SharedOutput, exprs};
use tuple::{Layout, Punctuation, TupleBuf, TupleRef, Type, Value};

use crate::owned_tuples::{MAKER, WITNESS};
use crate::pass_limit::PassLimit;
use crate::strict_medium::{In, Out, Pipe};

pub const NUMBERS: OperatorEntry = OperatorEntry::built(&NUMBERS_MODEL, numbers);
pub const GATE: OperatorEntry = OperatorEntry::built(&GATE_MODEL, pass_limit);
pub const CORES: OperatorEntry = OperatorEntry::built(&CORES_MODEL, cores);
pub const HOP: OperatorEntry = OperatorEntry::built(&HOP_MODEL, hop);

static NUMBERS_MODEL: OperatorModel = OperatorModel {
    namespace: "t",
    name: "Numbers",
    doc: "Sends 0, 1, 2, ... in `n`, and a text of `text` times as many letters in `s`; a window \
          marker after every tenth tuple. Ends after `count` tuples, or fails there if `fails`, or \
          sleeps there until the shutdown if `sleeps`. Without a count it goes on until the \
          shutdown, unless it is `deaf`. Each tuple passes the `door`.",
    outputs: &[OutPortModel::DEFAULT],
    allow_any_param: true,
    ..OperatorModel::DEFAULT
};

struct Numbers {
    layout: Arc<Layout>,
    count: i64,
    text: usize,
    fails: bool,
    sleeps: bool,
    deaf: bool,
    limit: Option<PassLimit>,
    stop: StopSignal,
}

fn numbers(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    let count = build.integer("count")?;
    let text = build.integer("text")?.unwrap_or_default();
    Ok(Box::new(OneSource(Some(Box::new(Numbers {
        layout: build.outputs[0].clone(),
        count: count.map_or(i64::MAX, |count| count as i64),
        text: text as usize,
        fails: build.flag("fails", false)?,
        sleeps: build.flag("sleeps", false)?,
        deaf: build.flag("deaf", false)?,
        limit: build.integer("door")?.map(PassLimit::of),
        stop: build.stop_signal(),
    })))))
}

/// A source that is not taken yet.
pub struct OneSource(pub Option<Box<dyn Source>>);

impl Operator for OneSource {
    fn process(&mut self, _: PortIndex, _: TupleRef<'_>, _: &mut dyn Outlet) -> Result<(), Fault> {
        Ok(())
    }

    fn take_source(&mut self) -> Option<Box<dyn Source>> {
        self.0.take()
    }
}

impl Source for Numbers {
    fn run(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        let mut buf = TupleBuf::default();
        for n in 0..self.count {
            if !self.deaf && self.stop.is_requested() {
                return Ok(());
            }
            self.limit.iter().for_each(PassLimit::pass);
            let text: String = (b'a'..=b'z')
                .cycle()
                .map(char::from)
                .take(n as usize * self.text)
                .collect();
            let tuple = [Value::Int64(n), Value::RString(text.as_str().into())];
            let tuple = Value::Tuple(tuple[..self.layout.offsets.len()].into());
            buf.set_all(&self.layout, &tuple);
            out.submit(PortIndex(0), buf.as_ref())?;
            if n % 10 == 9 {
                out.submit_punctuation(PortIndex(0), Punctuation::Window)?;
            }
        }
        if self.sleeps {
            self.stop.sleep(f64::INFINITY);
        }
        if self.fails {
            return Err(Fault::new(FaultKind::Abort, "it was told to fail"));
        }
        Ok(())
    }
}

static GATE_MODEL: OperatorModel = OperatorModel {
    namespace: "t",
    name: "Gate",
    doc: "Passes on what comes, each tuple through the `door`; fails at the tuple `fails`.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[OutPortModel {
        punctuation: PunctuationOutputMode::Preserving(PortIndex(0)),
        ..OutPortModel::DEFAULT
    }],
    allow_any_param: true,
    ..OperatorModel::DEFAULT
};

struct PassLimitOperator {
    fails: Option<i64>,
    passed: i64,
    limit: Option<PassLimit>,
}

fn pass_limit(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    let fails = build.integer("fails")?.map(|at| at as i64);
    let limit = build.integer("door")?.map(PassLimit::of);
    let passed = 0;
    Ok(Box::new(PassLimitOperator {
        fails,
        passed,
        limit,
    }))
}

impl Operator for PassLimitOperator {
    fn process(
        &mut self,
        _: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        self.limit.iter().for_each(PassLimit::pass);
        if self.fails == Some(self.passed) {
            return Err(Fault::value("the gate fails"));
        }
        self.passed += 1;
        out.submit(PortIndex(0), tuple)
    }
}

static CORES_MODEL: OperatorModel = OperatorModel {
    namespace: "t",
    name: "Cores",
    doc: "Prints for each tuple how many cores its thread may run on.",
    inputs: &[InPortModel::DEFAULT],
    ..OperatorModel::DEFAULT
};

struct Cores;

fn cores(_: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    Ok(Box::new(Cores))
}

impl Operator for Cores {
    fn process(
        &mut self,
        _: PortIndex,
        _: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        out.services().print(format!("{cores}\n").as_bytes(), false)
    }
}

static HOP_MODEL: OperatorModel = OperatorModel {
    namespace: "t",
    name: "Hop",
    doc: "Sends what comes to port 0 on the first port; what is even comes back to port 1, once as \
          it is and once one larger.",
    inputs: &[
        InPortModel::DEFAULT,
        InPortModel {
            is_control: true,
            ..InPortModel::DEFAULT
        },
    ],
    outputs: &[OutPortModel::DEFAULT, OutPortModel::DEFAULT],
    ..OperatorModel::DEFAULT
};

struct Hop(TupleBuf);

fn hop(_: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    Ok(Box::new(Hop(TupleBuf::default())))
}

impl Operator for Hop {
    fn process(
        &mut self,
        port: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let n = tuple.i64_at(0);
        if port == PortIndex(0) {
            out.submit(PortIndex(0), tuple)?;
        }
        if n % 2 == 1 {
            return Ok(());
        }
        if port == PortIndex(0) {
            out.submit(PortIndex(1), tuple)?;
        }
        self.0.copy_from(tuple);
        self.0.put_scalar(0, n + 1);
        out.submit(PortIndex(1), self.0.as_ref())
    }
}

/// A condition that a test waits for, with a generous bound.
pub fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let pause = (Mutex::new(()), Condvar::new());
    for _ in 0..60_000 {
        if holds() {
            return;
        }
        let guard = pause.0.lock().unwrap();
        drop(
            pause
                .1
                .wait_timeout(guard, std::time::Duration::from_millis(1)),
        );
    }
    panic!("it never happened that {what}");
}

/// `Numbers` with its parameters.
pub fn source(name: &str, with_text: bool, params: &[(&str, Value)]) -> OperatorBuilder {
    let source = OperatorBuilder::new("t::Numbers", name);
    let source = if with_text {
        source.output(name, [("n", Type::Int64), ("s", Type::RString)])
    } else {
        source.output(name, [("n", Type::Int64)])
    };
    params.iter().fold(source, |source, (name, value)| {
        let ty = match value {
            Value::Boolean(_) => Type::Boolean,
            _ => Type::Int64,
        };
        source.param(name, [exprs::constant(value.clone(), ty)])
    })
}

/// A send of a stream, fed by an operator of its PE.
pub fn send(crossing: u32, of: &OperatorBuilder, feeder: u32) -> OperatorBuilder {
    let mut send =
        OperatorBuilder::new(graph::inserted_operators::SEND, &format!("Send{crossing}"))
            .input("In", [("n", Type::Int64)])
            .param("crossing", [exprs::uint32(crossing)])
            .connect(0, feeder, 0)
            .build();
    send.inputs[0].schema = of.outputs[0].schema.clone();
    OperatorBuilder::from(send)
}

/// A Receive with an output port for each crossing.
pub fn receive(crossings: &[(u32, &OperatorBuilder)]) -> OperatorBuilder {
    let mut receive = OperatorBuilder::new(graph::inserted_operators::RECEIVE, "Receive");
    for (crossing, _) in crossings {
        receive = receive.output(&format!("S{crossing}"), [("n", Type::Int64)]);
    }
    let mut receive = receive.build();
    for (port, (_, of)) in receive.outputs.iter_mut().zip(crossings) {
        port.schema = of.outputs[0].schema.clone();
    }
    receive.params.push(Param {
        name: "crossing".into(),
        value: ParamValue::Exprs(
            crossings
                .iter()
                .map(|(crossing, _)| exprs::uint32(*crossing))
                .collect(),
        ),
        pos: exprs::TEST_POS,
    });
    OperatorBuilder::from(receive)
}

/// A queue before a stream's consumer, fed by operators of its PE.
pub fn queue(
    of: &OperatorBuilder,
    items: u32,
    congestion: &str,
    feeders: &[(u32, u32)],
) -> OperatorBuilder {
    let mut queue = OperatorBuilder::new(graph::inserted_operators::QUEUE, "Queue")
        .input("In", [("n", Type::Int64)])
        .output("Out", [("n", Type::Int64)])
        .param("tuples", [exprs::uint32(items)])
        .literal("congestion", &[congestion])
        .build();
    queue.inputs[0].schema = of.outputs[0].schema.clone();
    queue.outputs[0].schema = of.outputs[0].schema.clone();
    let fed =
        |queue: OperatorBuilder, &(operator, port): &(u32, u32)| queue.connect(0, operator, port);
    feeders.iter().fold(OperatorBuilder::from(queue), fed)
}

/// A PassLimit operator with its parameters, fed by an operator of its PE.
pub fn pass_limit_of(
    of: &OperatorBuilder,
    feeder: u32,
    params: &[(&str, Value)],
) -> OperatorBuilder {
    let mut gate = OperatorBuilder::new("t::Gate", "Gate")
        .input("In", [("n", Type::Int64)])
        .output("Out", [("n", Type::Int64)])
        .connect(0, feeder, 0)
        .build();
    gate.inputs[0].schema = of.outputs[0].schema.clone();
    gate.outputs[0].schema = of.outputs[0].schema.clone();
    let param = |gate: OperatorBuilder, (name, value): &(&str, Value)| {
        gate.param(name, [exprs::constant(value.clone(), Type::Int64)])
    };
    params.iter().fold(OperatorBuilder::from(gate), param)
}

/// A printer, with a port for each feeder.
pub fn print(of: &[(&OperatorBuilder, u32, u32)]) -> OperatorBuilder {
    let mut print = OperatorBuilder::new("testkit::Print", "Print");
    for _ in of {
        print = print.input("In", [("n", Type::Int64)]);
    }
    for (port, (_, operator, output)) in of.iter().enumerate() {
        print = print.connect(port, *operator, *output);
    }
    let mut print = print.build();
    for (port, (of, _, _)) in print.inputs.iter_mut().zip(of) {
        port.schema = of.outputs[0].schema.clone();
    }
    OperatorBuilder::from(print)
}

/// A PE in the making.
#[derive(Default)]
pub struct PeSide {
    pub crossings: CrossingEnds,
    pub codec: CrossingCodec,
    pub cores: Vec<u32>,
    pub pins: Vec<(u32, u32)>,
    pub printed: SharedOutput,
}

impl PeSide {
    pub fn number(pe: u32) -> PeSide {
        let mut half = PeSide::default();
        half.crossings.pe = PeId(pe);
        half
    }

    pub fn sends(mut self, crossing: u32, to: u32, end: Out) -> PeSide {
        let sending = OutboundCrossing {
            stream: format!("S{crossing}").into(),
            to_pes: vec![PeId(to)],
            codec: self.codec,
            end: Box::new(end),
        };
        self.crossings
            .outbound
            .insert(CrossingId(crossing), sending);
        self
    }

    pub fn receives(mut self, crossing: u32, from: u32, end: In) -> PeSide {
        let receiving = InboundCrossing {
            stream: format!("S{crossing}").into(),
            from_pe: PeId(from),
            codec: self.codec,
            is_foreign: false,
            end: Box::new(end),
        };
        self.crossings
            .inbound
            .insert(CrossingId(crossing), receiving);
        self
    }

    /// Uses the normal codec for the crossings that follow.
    pub fn normal(mut self) -> PeSide {
        self.codec = CrossingCodec::Normal;
        self
    }

    pub fn foreign(mut self) -> PeSide {
        self.crossings
            .inbound
            .values_mut()
            .for_each(|one| one.is_foreign = true);
        self
    }

    pub fn start(self, program: &Program) -> RunningPe {
        let [print] = testkit::test_operators();
        let mut registry = vec![NUMBERS, GATE, HOP, CORES, MAKER, WITNESS, print];
        registry.extend(ENTRIES);
        let options = PeOptions {
            stdout: Box::new(self.printed),
            crossing_ends: self.crossings,
            cores: self.cores,
            ..PeOptions::default()
        };
        let mut backend = InterpreterBackend::new(&[], &[]);
        let (program, threads) = &testkit::planned(program, &registry, &self.pins);
        let pe = Pe::wire(program, threads, &registry, &mut backend, options);
        pe.and_then(Pe::start)
            .unwrap_or_else(|report| panic!("{report}"))
    }
}

/// `take_source` in PE 0, a printer in PE 1, a pipe between.
pub fn start_two(source: &OperatorBuilder, pipe: Pipe) -> (RunningPe, RunningPe, SharedOutput) {
    let (out, inbound) = pipe.open();
    let sender = testkit::build_program([source.clone(), send(0, source, 0)]);
    let receiver = testkit::build_program([receive(&[(0, source)]), print(&[(source, 0, 0)])]);
    let sending = PeSide::number(0).sends(0, 1, out).start(&sender);
    let receiving = PeSide::number(1).receives(0, 0, inbound);
    let printed = receiving.printed.clone();
    (sending, receiving.start(&receiver), printed)
}

/// Output of the program when all of it runs in one PE.
pub fn run_fused(source: &OperatorBuilder) -> String {
    let program = testkit::build_program([source.clone(), print(&[(source, 0, 0)])]);
    let half = PeSide::number(0);
    let printed = half.printed.clone();
    half.start(&program).join().unwrap();
    printed.text()
}
