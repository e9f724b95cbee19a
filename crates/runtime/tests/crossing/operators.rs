//! Operators and PEs for the tests.

use std::sync::{Arc, Condvar, Mutex};

use graph::{
    Codec, Fault, FaultKind, InPortModel, OperatorModel, OutPortModel, Param, ParamValue, Program,
    PunctuationOut,
};
use runtime::abi::interpreted::Interpreted;
use runtime::crossing::{ENTRIES, Links, Receiving, Sending};
use runtime::{Build, Make, Operator, OperatorEntry, Options, Outlet, Pe, Running, Source, Stop};
use testkit::{Invoke, Shared, x};
use tuple::{Layout, Punctuation, TupleBuf, TupleRef, Type, Value};

use crate::door::Door;
use crate::ends::{In, Out, Pipe};
use crate::made::{MAKER, WITNESS};

pub const NUMBERS: OperatorEntry = entry(&NUMBERS_MODEL, numbers);
pub const GATE: OperatorEntry = entry(&GATE_MODEL, gate);
pub const CORES: OperatorEntry = entry(&CORES_MODEL, cores);
pub const HOP: OperatorEntry = entry(&HOP_MODEL, hop);

const fn entry(
    model: &'static OperatorModel,
    build: fn(&mut Build<'_>) -> Result<Box<dyn Operator>, Fault>,
) -> OperatorEntry {
    let make = Make::Build(build);
    OperatorEntry { model, make }
}

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
    door: Option<Door>,
    stop: Stop,
}

fn numbers(build: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    let count = build.integer("count")?;
    let text = build.integer("text")?.unwrap_or_default();
    Ok(Box::new(Given(Some(Box::new(Numbers {
        layout: build.outputs[0].clone(),
        count: count.map_or(i64::MAX, |count| count as i64),
        text: text as usize,
        fails: build.flag("fails", false)?,
        sleeps: build.flag("sleeps", false)?,
        deaf: build.flag("deaf", false)?,
        door: build.integer("door")?.map(Door::of),
        stop: build.stop(),
    })))))
}

/// A source that is not taken yet.
pub struct Given(pub Option<Box<dyn Source>>);

impl Operator for Given {
    fn process(&mut self, _: u32, _: TupleRef<'_>, _: &mut dyn Outlet) -> Result<(), Fault> {
        Ok(())
    }

    fn source(&mut self) -> Option<Box<dyn Source>> {
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
            self.door.iter().for_each(Door::pass);
            let text: String = (b'a'..=b'z')
                .cycle()
                .map(char::from)
                .take(n as usize * self.text)
                .collect();
            let tuple = [Value::Int64(n), Value::RString(text.as_str().into())];
            let tuple = Value::Tuple(tuple[..self.layout.offsets.len()].into());
            buf.set_all(&self.layout, &tuple);
            out.submit(0, buf.as_ref())?;
            if n % 10 == 9 {
                out.punctuate(0, Punctuation::Window)?;
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
        punctuation: PunctuationOut::Preserving(0),
        ..OutPortModel::DEFAULT
    }],
    allow_any_param: true,
    ..OperatorModel::DEFAULT
};

struct Gate {
    fails: Option<i64>,
    passed: i64,
    door: Option<Door>,
}

fn gate(build: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    let fails = build.integer("fails")?.map(|at| at as i64);
    let door = build.integer("door")?.map(Door::of);
    let passed = 0;
    Ok(Box::new(Gate {
        fails,
        passed,
        door,
    }))
}

impl Operator for Gate {
    fn process(&mut self, _: u32, tuple: TupleRef<'_>, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.door.iter().for_each(Door::pass);
        if self.fails == Some(self.passed) {
            return Err(Fault::value("the gate fails"));
        }
        self.passed += 1;
        out.submit(0, tuple)
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

fn cores(_: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    Ok(Box::new(Cores))
}

impl Operator for Cores {
    fn process(&mut self, _: u32, _: TupleRef<'_>, out: &mut dyn Outlet) -> Result<(), Fault> {
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
            control: true,
            ..InPortModel::DEFAULT
        },
    ],
    outputs: &[OutPortModel::DEFAULT, OutPortModel::DEFAULT],
    ..OperatorModel::DEFAULT
};

struct Hop(TupleBuf);

fn hop(_: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    Ok(Box::new(Hop(TupleBuf::default())))
}

impl Operator for Hop {
    fn process(
        &mut self,
        port: u32,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let n = tuple.i64_at(0);
        if port == 0 {
            out.submit(0, tuple)?;
        }
        if n % 2 == 1 {
            return Ok(());
        }
        if port == 0 {
            out.submit(1, tuple)?;
        }
        self.0.copy_from(tuple);
        self.0.put_scalar(0, n + 1);
        out.submit(1, self.0.as_ref())
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
pub fn source(name: &str, with_text: bool, params: &[(&str, Value)]) -> Invoke {
    let source = Invoke::new("t::Numbers", name);
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
        source.param(name, [x::constant(value.clone(), ty)])
    })
}

/// A send of a stream, fed by an operator of its PE.
pub fn send(link: u32, of: &Invoke, feeder: u32) -> Invoke {
    let mut send = Invoke::new(graph::inserted::SEND, &format!("Send{link}"))
        .input("In", [("n", Type::Int64)])
        .param("link", [x::uint32(link)])
        .fed(0, feeder, 0)
        .done();
    send.inputs[0].schema = of.outputs[0].schema.clone();
    Invoke::from(send)
}

/// A receive with a port for each link.
pub fn receive(links: &[(u32, &Invoke)]) -> Invoke {
    let mut receive = Invoke::new(graph::inserted::RECEIVE, "Receive");
    for (link, _) in links {
        receive = receive.output(&format!("S{link}"), [("n", Type::Int64)]);
    }
    let mut receive = receive.done();
    for (port, (_, of)) in receive.outputs.iter_mut().zip(links) {
        port.schema = of.outputs[0].schema.clone();
    }
    receive.params.push(Param {
        name: "link".into(),
        value: ParamValue::Exprs(links.iter().map(|(link, _)| x::uint32(*link)).collect()),
        pos: x::HERE,
    });
    Invoke::from(receive)
}

/// A queue before a stream's consumer, fed by operators of its PE.
pub fn queue(of: &Invoke, items: u32, congestion: &str, feeders: &[(u32, u32)]) -> Invoke {
    let mut queue = Invoke::new(graph::inserted::QUEUE, "Queue")
        .input("In", [("n", Type::Int64)])
        .output("Out", [("n", Type::Int64)])
        .param("tuples", [x::uint32(items)])
        .literal("congestion", &[congestion])
        .done();
    queue.inputs[0].schema = of.outputs[0].schema.clone();
    queue.outputs[0].schema = of.outputs[0].schema.clone();
    let fed = |queue: Invoke, &(operator, port): &(u32, u32)| queue.fed(0, operator, port);
    feeders.iter().fold(Invoke::from(queue), fed)
}

/// A gate with its parameters, fed by an operator of its PE.
pub fn gate_of(of: &Invoke, feeder: u32, params: &[(&str, Value)]) -> Invoke {
    let mut gate = Invoke::new("t::Gate", "Gate")
        .input("In", [("n", Type::Int64)])
        .output("Out", [("n", Type::Int64)])
        .fed(0, feeder, 0)
        .done();
    gate.inputs[0].schema = of.outputs[0].schema.clone();
    gate.outputs[0].schema = of.outputs[0].schema.clone();
    let param = |gate: Invoke, (name, value): &(&str, Value)| {
        gate.param(name, [x::constant(value.clone(), Type::Int64)])
    };
    params.iter().fold(Invoke::from(gate), param)
}

/// A printer, with a port for each feeder.
pub fn print(of: &[(&Invoke, u32, u32)]) -> Invoke {
    let mut print = Invoke::new("testkit::Print", "Print");
    for _ in of {
        print = print.input("In", [("n", Type::Int64)]);
    }
    for (port, (_, operator, output)) in of.iter().enumerate() {
        print = print.fed(port, *operator, *output);
    }
    let mut print = print.done();
    for (port, (of, _, _)) in print.inputs.iter_mut().zip(of) {
        port.schema = of.outputs[0].schema.clone();
    }
    Invoke::from(print)
}

/// A PE in the making.
#[derive(Default)]
pub struct Half {
    pub links: Links,
    pub codec: Codec,
    pub cores: Vec<u32>,
    pub pins: Vec<(u32, u32)>,
    pub printed: Shared,
}

impl Half {
    pub fn number(pe: u32) -> Half {
        let mut half = Half::default();
        half.links.pe = pe;
        half
    }

    pub fn sends(mut self, link: u32, to: u32, end: Out) -> Half {
        let sending = Sending {
            stream: format!("S{link}").into(),
            to: vec![to],
            codec: self.codec,
            end: Box::new(end),
        };
        self.links.outbound.insert(link, sending);
        self
    }

    pub fn receives(mut self, link: u32, from: u32, end: In) -> Half {
        let receiving = Receiving {
            stream: format!("S{link}").into(),
            from,
            codec: self.codec,
            is_foreign: false,
            end: Box::new(end),
        };
        self.links.inbound.insert(link, receiving);
        self
    }

    /// Of the links that follow.
    pub fn normal(mut self) -> Half {
        self.codec = Codec::Normal;
        self
    }

    pub fn foreign(mut self) -> Half {
        self.links
            .inbound
            .values_mut()
            .for_each(|one| one.is_foreign = true);
        self
    }

    pub fn start(self, program: &Program) -> Running {
        let [print] = testkit::sinks();
        let mut registry = vec![NUMBERS, GATE, HOP, CORES, MAKER, WITNESS, print];
        registry.extend(ENTRIES);
        let options = Options {
            stdout: Box::new(self.printed),
            links: self.links,
            cores: self.cores,
            pins: self.pins,
            ..Options::default()
        };
        let mut backend = Interpreted::new(&[], &[]);
        let pe = Pe::wire(program, &registry, &mut backend, options);
        pe.and_then(Pe::start)
            .unwrap_or_else(|report| panic!("{report}"))
    }
}

/// `source` in PE 0, a printer in PE 1, a pipe between.
pub fn two(source: &Invoke, pipe: Pipe) -> (Running, Running, Shared) {
    let (out, inbound) = pipe.open();
    let sender = testkit::program([source.clone(), send(0, source, 0)]);
    let receiver = testkit::program([receive(&[(0, source)]), print(&[(source, 0, 0)])]);
    let sending = Half::number(0).sends(0, 1, out).start(&sender);
    let receiving = Half::number(1).receives(0, 0, inbound);
    let printed = receiving.printed.clone();
    (sending, receiving.start(&receiver), printed)
}

/// What the same program prints in one PE.
pub fn fused(source: &Invoke) -> String {
    let program = testkit::program([source.clone(), print(&[(source, 0, 0)])]);
    let half = Half::number(0);
    let printed = half.printed.clone();
    half.start(&program).join().unwrap();
    printed.text()
}
