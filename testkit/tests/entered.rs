//! The threads that enter each operator of a running PE are exactly those of its plan.

extern crate thalweg_testkit as testkit;

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::thread;

use eval::Fault;
use graph::{
    CongestionPolicy, OperatorId, OperatorModel, OperatorTimers, PeId, PePlan, PeThreads, Plan,
    PortIndex, Program, ThreadStartPoint, ThreadedPort,
};
use planner::{PeProgram, ProgramCuts, pe_threads};
use runtime::abi::interpreter_backend::InterpreterBackend;
use runtime::crossing::ENTRIES;
use runtime::{
    BuildContext, Operator, OperatorConstructor, OperatorEntry, Outlet, Pe, PeOptions, StopSignal,
    TimerId,
};
use testkit::{OperatorBuilder, build_program, exprs, planned};
use tuple::{Punctuation, TupleRef, Type};

const N: [(&str, Type); 1] = [("n", Type::Int64)];

/// Operators, each with a thread that has entered it.
type Entered = BTreeSet<(String, String)>;

static ENTERED: Mutex<Entered> = Mutex::new(Entered::new());

/// The pairs that the plan has, of the operators that note who enters them. Soon after all of them
/// are noted the job ends.
static PLANNED: Mutex<Entered> = Mutex::new(Entered::new());

fn locked(entered: &'static Mutex<Entered>) -> std::sync::MutexGuard<'static, Entered> {
    entered.lock().unwrap_or_else(PoisonError::into_inner)
}

const MODEL: OperatorModel = OperatorModel {
    namespace: "t",
    inputs: &[graph::InPortModel::DEFAULT],
    outputs: &[graph::OutPortModel::ANY],
    ..OperatorModel::DEFAULT
};

/// Operators that note who enters them: one without timers, one whose timer sends a window marker,
/// and one whose timer sends nothing.
const PROBES: [OperatorEntry; 3] = [
    OperatorEntry {
        model: &OperatorModel {
            name: "Probe",
            ..MODEL
        },
        constructor: OperatorConstructor::Build(|build| Ok(Box::new(Probe::new(build)))),
    },
    OperatorEntry {
        model: &OperatorModel {
            name: "Ticking",
            timers: Some(|_| OperatorTimers::Submitting),
            ..MODEL
        },
        constructor: OperatorConstructor::Build(|build| {
            build.add_timer(0.002);
            Ok(Box::new(Probe::new(build)))
        }),
    },
    OperatorEntry {
        model: &OperatorModel {
            name: "Silent",
            timers: Some(|_| OperatorTimers::Silent),
            ..MODEL
        },
        constructor: OperatorConstructor::Build(|build| {
            build.add_timer(0.002);
            Ok(Box::new(Probe::new(build)))
        }),
    },
];

/// Time for which the job goes on when all pairs are noted, so that one too many is noted as well.
const FURTHER_SECONDS: f64 = 0.05;

/// Time after which the job ends in any case.
const LONGEST_SECONDS: f64 = 60.0;

/// Passes tuples and markers on, and notes the threads that it runs on.
struct Probe {
    name: String,
    has_output: bool,
    is_ticking: bool,
    stop_signal: StopSignal,
}

impl Probe {
    fn new(build: &BuildContext<'_>) -> Probe {
        let operator = build.operator;
        Probe {
            name: operator.name.to_string(),
            has_output: !operator.outputs.is_empty(),
            is_ticking: &*operator.kind == "t::Ticking",
            stop_signal: build.stop_signal(),
        }
    }

    fn note_thread(&self) {
        let thread = thread::current().name().unwrap_or_default().to_owned();
        let is_new = locked(&ENTERED).insert((self.name.clone(), thread));
        if is_new && locked(&ENTERED).is_superset(&locked(&PLANNED)) {
            let stopping = self.stop_signal.request_after(FURTHER_SECONDS);
            stopping.expect("a thread that waits");
        }
    }
}

impl Operator for Probe {
    fn process(
        &mut self,
        _: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        self.note_thread();
        match self.has_output {
            true => out.submit(PortIndex(0), tuple),
            false => Ok(()),
        }
    }

    fn process_window_marker(&mut self, _: PortIndex, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.note_thread();
        match self.has_output {
            true => out.submit_punctuation(PortIndex(0), Punctuation::Window),
            false => Ok(()),
        }
    }

    fn on_timer(&mut self, _: TimerId, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.note_thread();
        match self.is_ticking {
            true => out.submit_punctuation(PortIndex(0), Punctuation::Window),
            false => Ok(()),
        }
    }
}

fn beacon(name: &str) -> OperatorBuilder {
    OperatorBuilder::new("spl.utility::Beacon", name)
        .param("period", [exprs::float64(0.001)])
        .output(name, N)
        .assign([Some(exprs::int64(1))])
}

/// An operator that takes the streams of others.
fn node(kind: &str, name: &str, feeders: &[u32]) -> OperatorBuilder {
    let node = OperatorBuilder::new(kind, name).input("In", N);
    feeders
        .iter()
        .fold(node, |node, &feeder| node.connect(0, feeder, 0))
}

/// Two sources that meet, an operator with a thread of its own, a queue, and timers of both kinds.
fn program() -> Program {
    build_program([
        beacon("First"),
        beacon("Second"),
        node("t::Probe", "Both", &[0, 1]).output("Both", N),
        node("spl.utility::Delay", "Late", &[2])
            .param("delay", [exprs::float64(0.001)])
            .output("Late", N),
        node("t::Probe", "Queued", &[2]).output("Queued", N),
        node("t::Ticking", "Ticking", &[4]).output("Ticking", N),
        node("t::Silent", "Silent", &[4]).output("Silent", N),
        node("t::Probe", "Sink", &[3, 5]),
        node("t::Probe", "Tail", &[6]),
    ])
}

fn cut_part(program: &Program) -> PeProgram {
    let ids = 0..program.operators.len() as u32;
    let mut plan = Plan {
        pes: vec![PePlan {
            operators: ids.map(OperatorId).collect(),
            threaded_ports: vec![ThreadedPort {
                operator: OperatorId(4),
                port: PortIndex(0),
                congestion: CongestionPolicy::Wait,
                tuples_max: 100,
                core: None,
                is_pooled: false,
            }],
            ..PePlan::default()
        }],
        crossings: Vec::new(),
    };
    planner::derive(&mut plan, program);
    assert_eq!(planner::check(&plan, program), Ok(()));
    assert_eq!(plan.pes[0].merges, [], "nothing is ordered");
    ProgramCuts::new(program, &plan).cut(PeId(0))
}

/// The threads that enter each probe, by the plan.
fn planned_entries(program: &Program, threads: &PeThreads) -> Entered {
    let name = |id: &OperatorId| program.operators[id.0 as usize].name.to_string();
    let is_probe = |id: &&OperatorId| program.operators[id.0 as usize].kind.starts_with("t::");
    let mut entered = Entered::new();
    for thread in &threads.threads {
        let thread_name = match &thread.start {
            ThreadStartPoint::Timers(_) => "timers".to_owned(),
            start => name(&start.operators()[0]),
        };
        let probes = thread.operators.iter().filter(is_probe);
        entered.extend(probes.map(|id| (name(id), thread_name.clone())));
    }
    entered
}

#[test]
fn operators_are_entered_by_the_threads_of_their_plan() {
    let registry = [toolkit::operators(), ENTRIES, &PROBES].concat();
    let (program, _) = planned(&program(), &registry, &[]);
    let part = cut_part(&program);
    let threads = pe_threads(&part.program, &part.pins);
    let expected = planned_entries(&part.program, &threads);
    assert_eq!(expected.len(), 11, "{expected:?}");
    *locked(&PLANNED) = expected.clone();
    let mut backend = InterpreterBackend::new(&[], &[]);
    let options = PeOptions::default();
    let pe = Pe::wire(&part.program, &threads, &registry, &mut backend, options);
    let pe = pe.unwrap_or_else(|report| panic!("{report}"));
    let longest = pe.stop_signal().request_after(LONGEST_SECONDS);
    longest.expect("a thread that waits");
    let ended = pe.start().and_then(runtime::RunningPe::join);
    ended.unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(*locked(&ENTERED), expected);
}
