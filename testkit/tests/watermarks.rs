//! Watermarks of random event times, beside watermarks by their definition: interpreted and
//! compiled, by themselves and within a chain.
//!
//! `THALWEG_WATERMARKS` is the number of random streams, 200 by default.

use std::sync::Arc;

use eval::{Fault, OperatorEventTime};
use graph::{
    Body, EventClock, Expr, ExprKind, InPortModel, OperatorModel, OperatorNode, OutPortModel,
    ParamValue, PortIndex, inserted_operators,
};
use jit::{Jit, JitOptions};
use proptest::prelude::*;
use proptest::test_runner::Config;
use runtime::abi::Backend;
use runtime::abi::interpreter_backend::InterpreterBackend;
use runtime::{
    BuildContext, LoweredLogic, Operator, OperatorConstructor, OperatorEntry, Outlet, Pe,
    PeOptions, RunningPe, Source,
};
use thalweg_testkit::{OperatorBuilder, SharedOutput, build_program, exprs, planned};
use tuple::{
    EventTime, Layout, Punctuation, Resolution, Timestamp, TupleBuf, TupleRef, Type, Value,
};

/// Submits the event times of its parameter, by turns at its ports, and prints the watermark that
/// it has then.
const TIMES: OperatorEntry = OperatorEntry::built(
    &OperatorModel {
        namespace: "t",
        name: "Times",
        outputs: &[OutPortModel::ANY],
        ..OperatorModel::DEFAULT
    },
    |build| {
        let Some(ParamValue::Exprs(times)) = build.operator.param("times").map(|p| &p.value) else {
            return Err(Fault::value("no times"));
        };
        let constant = |time: &Expr| match &time.kind {
            ExprKind::Const(value) => value.clone(),
            _ => Value::Boolean(false),
        };
        Ok(Box::new(Times {
            values: times.iter().map(constant).collect(),
            layouts: build.outputs.clone(),
        }))
    },
);

struct Times {
    values: Vec<Value>,
    layouts: Vec<Arc<Layout>>,
}

impl Operator for Times {
    fn process(&mut self, _: PortIndex, _: TupleRef<'_>, _: &mut dyn Outlet) -> Result<(), Fault> {
        Ok(())
    }

    fn take_source(&mut self) -> Option<Box<dyn Source>> {
        Some(Box::new(Times {
            values: std::mem::take(&mut self.values),
            layouts: self.layouts.clone(),
        }))
    }
}

impl Source for Times {
    fn run(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        for (n, value) in self.values.iter().enumerate() {
            let at = n % self.layouts.len();
            let values = Value::Tuple([value.clone(), Value::Int64(n as i64)].into());
            let mut tuple = TupleBuf::default();
            tuple.set_all(&self.layouts[at], &values);
            out.submit(PortIndex(at as u32), tuple.as_ref())?;
            if n % 7 == 6 {
                out.submit_punctuation(PortIndex(at as u32), Punctuation::Window)?;
            }
            let events = out.services().event_time();
            let seen = events.and_then(OperatorEventTime::watermark);
            print(out, &seen_text(seen))?;
        }
        Ok(())
    }
}

fn seen_text(watermark: Option<EventTime>) -> String {
    format!("{:?}", watermark.map(|at| at.0))
}

fn print(out: &mut dyn Outlet, text: &str) -> Result<(), Fault> {
    out.services().print(format!("{text}\n").as_bytes(), false)
}

/// Passes each input port on at the output port of its number.
const PASS: OperatorEntry = OperatorEntry {
    model: &OperatorModel {
        namespace: "t",
        name: "Pass",
        inputs: &[InPortModel::ANY],
        outputs: &[OutPortModel::ANY],
        ..OperatorModel::DEFAULT
    },
    constructor: OperatorConstructor::Lower(pass),
};

fn pass(operator: &OperatorNode) -> Result<LoweredLogic, Fault> {
    let ports = (0..).map(PortIndex).zip(&operator.inputs);
    let on_tuple = ports.map(|(port, input)| {
        let kind = ExprKind::Input { port, history: 0 };
        let tuple = exprs::expr(kind, Type::Tuple(input.schema.clone()));
        Body {
            stmts: vec![exprs::submit(port, tuple)],
            ..Body::default()
        }
    });
    Ok(LoweredLogic {
        on_tuple: on_tuple.collect(),
        on_punct: vec![None; operator.inputs.len()],
        continues_ports: true,
        ..LoweredLogic::default()
    })
}

/// Prints tuples, markers and watermarks.
const WATCH: OperatorEntry = OperatorEntry::built(
    &OperatorModel {
        namespace: "t",
        name: "Watch",
        inputs: &[InPortModel::ANY],
        ..OperatorModel::DEFAULT
    },
    |build: &mut BuildContext<'_>| Ok(Box::new(Watch(build.inputs.clone()))),
);

struct Watch(Vec<Arc<Layout>>);

impl Operator for Watch {
    fn process(
        &mut self,
        port: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let n = tuple.get(&self.0[port.index()], 1);
        print(out, &format!("tuple {n:?} at {port}"))
    }

    fn process_window_marker(
        &mut self,
        port: PortIndex,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        print(out, &format!("window at {port}"))
    }

    fn process_final_marker(&mut self, port: PortIndex, out: &mut dyn Outlet) -> Result<(), Fault> {
        print(out, &format!("final at {port}"))
    }

    fn process_watermark(&mut self, at: EventTime, out: &mut dyn Outlet) -> Result<(), Fault> {
        print(out, &format!("watermark {}", at.0))
    }
}

#[derive(Clone, Debug)]
struct Case {
    times: Vec<Value>,
    ty: Type,
    resolution: Resolution,
    lag_ns: i128,
    gap_ns: i128,
    ports: usize,
    /// Whether an operator stands between the source and the watermarks, so that both are in one
    /// function.
    is_in_chain: bool,
}

impl Case {
    fn schema(&self) -> [(&'static str, Type); 2] {
        [("at", self.ty.clone()), ("n", Type::Int64)]
    }

    fn clock(&self, generates_watermarks: bool) -> EventClock {
        EventClock {
            attribute: "at".into(),
            resolution: self.resolution,
            lag_ns: self.lag_ns,
            min_gap_ns: self.gap_ns,
            outputs: (0..self.ports as u32).map(PortIndex).collect(),
            generates_watermarks,
        }
    }

    /// An operator that all ports of another one feed.
    fn fed(&self, kind: &str, name: &str, feeder: u32, has_outputs: bool) -> OperatorBuilder {
        let mut operator = OperatorBuilder::new(kind, name);
        for port in 0..self.ports as u32 {
            operator = operator.input("In", self.schema());
            operator = operator.connect(port as usize, feeder, port);
            if has_outputs {
                operator = operator.output("Out", self.schema());
            }
        }
        operator
    }

    fn operators(&self) -> Vec<OperatorBuilder> {
        let times = self.times.iter().cloned();
        let times = times.map(|value| exprs::constant(value, self.ty.clone()));
        let mut source = OperatorBuilder::new("t::Times", "Times").param("times", times);
        for _ in 0..self.ports {
            source = source.output("Out", self.schema());
        }
        let mut operators = vec![source];
        if self.is_in_chain {
            operators.push(self.fed("t::Pass", "Before", 0, true));
        }
        let at = operators.len() as u32;
        operators.extend([
            self.fed(inserted_operators::WATERMARKS, "Marks", at - 1, true)
                .event_clock(self.clock(true)),
            self.fed("t::Pass", "Behind", at, true)
                .event_clock(self.clock(false)),
            self.fed("t::Watch", "Watch", at + 1, false),
        ]);
        operators
    }

    fn run(&self, mut backend: impl Backend) -> String {
        let mut registry = vec![TIMES, PASS, WATCH];
        registry.extend(runtime::crossing::ENTRIES);
        let printed = SharedOutput::default();
        let options = PeOptions {
            stdout: Box::new(printed.clone()),
            ..PeOptions::default()
        };
        let (program, threads) = &planned(&build_program(self.operators()), &registry, &[]);
        let pe = Pe::wire(program, threads, &registry, &mut backend, options);
        let ended = pe.and_then(Pe::start).and_then(RunningPe::join);
        ended.unwrap_or_else(|report| panic!("{report}"));
        printed.text()
    }

    /// Output by the definition of a watermark.
    fn expected(&self) -> String {
        let (mut current, mut next): (Option<i128>, Option<i128>) = (None, None);
        let mut text = String::new();
        for (n, time) in self.times.iter().enumerate() {
            let port = n % self.ports;
            text += &format!("tuple Int64({n}) at {port}\n");
            let time = EventTime::from_value(time, self.resolution).expect("an event time");
            let at = time.0 - self.lag_ns;
            if current < Some(at) {
                current = Some(at);
                if next.is_none_or(|next| at >= next) {
                    next = Some(at + self.gap_ns);
                    text += &format!("watermark {at}\n");
                }
            }
            if n % 7 == 6 {
                text += &format!("window at {port}\n");
            }
            // The operator behind the source has the watermark, not the source.
            let seen = current.filter(|_| !self.is_in_chain).map(EventTime);
            text += &format!("{}\n", seen_text(seen));
        }
        for port in 0..self.ports {
            text += &format!("final at {port}\n");
        }
        text
    }
}

fn any_time(ty: &Type) -> BoxedStrategy<Value> {
    let near = 0..5_000i64;
    match ty {
        Type::Timestamp => {
            let seconds = prop_oneof![
                8 => near,
                1 => any::<i64>(),
                // About the first and the last second that a word of nanoseconds holds.
                1 => (9_223_372_026i64..9_223_372_046, any::<bool>())
                    .prop_map(|(s, is_before)| if is_before { -s } else { s }),
            ];
            let time = (seconds, 0..1_000_000_000u32, 0..3i32);
            let time = time.prop_map(|(seconds, nanos, machine)| {
                Value::Timestamp(Timestamp {
                    seconds,
                    nanos,
                    machine,
                })
            });
            time.boxed()
        }
        Type::Uint64 => prop_oneof![
            8 => near.prop_map(|ticks| ticks as u64),
            1 => any::<u64>(),
            1 => 9_223_372_036_000..9_223_372_037_000u64,
            1 => Just(u64::MAX),
        ]
        .prop_map(Value::Uint64)
        .boxed(),
        _ => prop_oneof![
            8 => near,
            1 => any::<i64>(),
            1 => 9_223_372_036_000..9_223_372_037_000i64,
            1 => -9_223_372_037_000..-9_223_372_036_000i64,
            1 => Just(i64::MIN),
            1 => Just(i64::MAX),
        ]
        .prop_map(Value::Int64)
        .boxed(),
    }
}

fn any_duration() -> impl Strategy<Value = i128> {
    prop_oneof![
        3 => Just(0),
        4 => 0..3_000i128,
        4 => (0..3_000i128).prop_map(|millis| millis * 1_000_000),
        1 => any::<i64>().prop_map(i128::from).prop_map(i128::abs),
        1 => Just(1i128 << 90),
    ]
}

prop_compose! {
    fn any_case()(
        ty in prop_oneof![Just(Type::Timestamp), Just(Type::Int64), Just(Type::Uint64)],
    )(
        times in proptest::collection::vec(any_time(&ty), 0..60),
        ty in Just(ty),
        resolution in prop_oneof![
            Just(Resolution::Milliseconds),
            Just(Resolution::Microseconds),
            Just(Resolution::Nanoseconds),
        ],
        lag_ns in any_duration(),
        gap_ns in any_duration(),
        ports in 1..3usize,
        is_in_chain in any::<bool>(),
    ) -> Case {
        Case { times, ty, resolution, lag_ns, gap_ns, ports, is_in_chain }
    }
}

fn config() -> Config {
    let cases = std::env::var("THALWEG_WATERMARKS").ok();
    let cases = cases.and_then(|text| text.parse().ok());
    Config::with_cases(cases.unwrap_or(200))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn watermarks_are_those_of_the_definition(case in any_case()) {
        let expected = case.expected();
        prop_assert_eq!(&case.run(InterpreterBackend::new(&[], &[])), &expected);
        let jit = Jit::new(&[], &[], JitOptions::default()).expect("a known machine");
        prop_assert_eq!(&case.run(jit), &expected);
    }
}
