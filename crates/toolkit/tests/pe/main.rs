//! Whole PEs of hand-built programs: threads, markers, timers, loops, faults, shutdown.

mod timers;

use std::sync::mpsc;
use std::time::Duration;

use eval::Fault;
use graph::{BinaryOp, Expr, OperatorModel, PortIndex, Program, Stmt};
use runtime::abi::interpreter_backend::InterpreterBackend;
use runtime::{FailureReport, Operator, OperatorEntry, Outlet, Pe, PeOptions};
use testkit::{OperatorBuilder, SharedOutput, build_program, exprs, test_operators};
use tuple::{Punctuation, TupleRef, Type};

const N: [(&str, Type); 1] = [("n", Type::Int64)];

fn n() -> Expr {
    exprs::attribute(PortIndex(0), 0, Type::Int64)
}

/// Counts from 0 in a state variable and submits each number; so many, or without end.
fn numbers(name: &str, count: Option<i64>) -> OperatorBuilder {
    let beacon = OperatorBuilder::new("spl.utility::Beacon", name)
        .state("next", Type::Int64, Some(exprs::int64(0)))
        .output("Numbers", N);
    let beacon = match count {
        Some(count) => beacon.param("iterations", [exprs::int32(count as i32)]),
        None => beacon,
    };
    let step = graph::ExprKind::Increment {
        place: graph::Place {
            root: graph::PlaceRoot::State(graph::StateId(0)),
            steps: Vec::new(),
            ty: Type::Int64,
            pos: exprs::TEST_POS,
        },
        is_decrement: false,
        is_prefix: false,
    };
    beacon.assign([Some(exprs::expr(step, Type::Int64))])
}

/// Adds a constant to its only attribute.
fn adding(name: &str, what: i64, feeder: u32) -> OperatorBuilder {
    OperatorBuilder::new("spl.relational::Functor", name)
        .input("In", N)
        .connect(0, feeder, 0)
        .output(name, N)
        .assign([Some(exprs::add(n(), exprs::int64(what)))])
}

fn print(feeder: u32) -> OperatorBuilder {
    OperatorBuilder::new("testkit::Print", "Print")
        .input("In", N)
        .connect(0, feeder, 0)
}

fn registry() -> Vec<OperatorEntry> {
    [thalweg_toolkit::operators(), &test_operators()].concat()
}

fn run(
    program: &Program,
) -> (
    Vec<String>,
    Result<Vec<runtime::OperatorCounts>, FailureReport>,
) {
    let (printed, ended) = testkit::run_program(program, &registry());
    (printed.lines().map(str::to_owned).collect(), ended)
}

#[test]
fn a_diamond_is_walked_depth_first_and_ends_once() {
    let union = OperatorBuilder::new("spl.utility::Union", "U")
        .input("L", N)
        .input("R", N)
        .connect(0, 1, 0)
        .connect(1, 2, 0)
        .output("U", N);
    let program = build_program([
        numbers("B", Some(2)),
        adding("L", 10, 0),
        adding("R", 20, 0),
        union,
        print(3),
    ]);
    let (lines, ended) = run(&program);
    assert_eq!(
        lines,
        ["0 {n=10}", "0 {n=20}", "0 {n=11}", "0 {n=21}", "0 final"]
    );
    assert!(ended.is_ok());
}

#[test]
fn a_port_of_two_streams_sees_every_window_marker_and_one_final() {
    let program = build_program([
        numbers("A", Some(100)),
        numbers("B", Some(50)),
        print(0).connect(0, 1, 0),
    ]);
    let (lines, ended) = run(&program);
    let count = |what: &str| lines.iter().filter(|line| line.starts_with(what)).count();
    assert_eq!(
        (count("0 {"), count("0 window"), count("0 final")),
        (150, 2, 1)
    );
    assert_eq!(lines.last().map(String::as_str), Some("0 final"));
    assert_eq!(ended.unwrap()[2].processed, [150]);
}

/// Passes what comes from outside; what comes back it halves, until nothing is left; then it ends.
fn halving(feeder: u32, own: u32) -> OperatorBuilder {
    let tuple = |value| exprs::tuple(&["n"], vec![value]);
    let back = exprs::attribute(PortIndex(1), 0, Type::Int64);
    let half = exprs::div(back.clone(), exprs::int64(2));
    let again = Stmt::If(
        exprs::lt(exprs::int64(1), back),
        vec![exprs::submit(PortIndex(0), tuple(half))],
        vec![exprs::submit_mark(PortIndex(0), Punctuation::Final)],
    );
    OperatorBuilder::new("spl.utility::Custom", "Loop")
        .input("Out", N)
        .input("Back", N)
        .connect(0, feeder, 0)
        .connect(1, own, 0)
        .on_tuple(
            0,
            exprs::body(
                &[],
                vec![exprs::submit(
                    PortIndex(0),
                    tuple(exprs::add(n(), exprs::int64(20))),
                )],
            ),
        )
        .on_tuple(1, exprs::body(&[], vec![again]))
        .output("Loop", N)
}

#[test]
fn a_loop_delivers_what_comes_back_when_the_call_has_returned() {
    let program = build_program([
        numbers("B", Some(1)),
        halving(0, 2),
        adding("Same", 0, 1),
        print(2),
    ]);
    let (lines, ended) = run(&program);
    let numbers = [
        "0 {n=20}", "0 {n=10}", "0 {n=5}", "0 {n=2}", "0 {n=1}", "0 final",
    ];
    assert_eq!(lines, numbers);
    assert!(ended.is_ok());
}

#[test]
fn a_loop_that_two_threads_enter_loses_nothing() {
    let tuple = |value| exprs::tuple(&["n"], vec![value]);
    let twice = Stmt::If(
        exprs::lt(
            exprs::attribute(PortIndex(0), 0, Type::Int64),
            exprs::int64(1000),
        ),
        vec![exprs::submit(
            PortIndex(0),
            tuple(exprs::add(n(), exprs::int64(1000))),
        )],
        Vec::new(),
    );
    let program = build_program([
        numbers("A", Some(1000)),
        numbers("B", Some(1000)),
        OperatorBuilder::new("spl.utility::Custom", "Twice")
            .input("In", N)
            .connect(0, 0, 0)
            .connect(0, 3, 0)
            .on_tuple(0, exprs::body(&[], vec![twice]))
            .output("Twice", N),
        adding("Same", 0, 2).connect(0, 1, 0),
    ]);
    let (_, ended) = run(&program);
    // 1000 from A and what comes back of it, 1000 from B by way of `Same` and what comes back of
    // it.
    assert_eq!(ended.unwrap()[2].processed, [4000]);
}

#[test]
fn a_fault_names_its_operator_and_its_place() {
    let inverse = OperatorBuilder::new("spl.relational::Functor", "Inverse")
        .input("In", N)
        .connect(0, 0, 0)
        .output("Inverse", N)
        .assign([Some(exprs::div(
            exprs::int64(100),
            exprs::binary(BinaryOp::Sub, exprs::int64(2), n()),
        ))]);
    let program = build_program([numbers("B", None), inverse, print(1)]);
    let (lines, ended) = run(&program);
    assert_eq!(
        lines,
        ["0 {n=50}", "0 {n=100}"],
        "what was accepted is written, no logic follows"
    );
    let report = ended.unwrap_err();
    assert_eq!(report.failures.len(), 1);
    let failure = &report.failures[0];
    assert_eq!(
        (&*failure.operator, &*failure.kind),
        ("Inverse", "spl.relational::Functor")
    );
    assert_eq!(failure.fault.pos(), Some(exprs::TEST_POS));
    assert!(!failure.is_bug && !report.is_stdout_closed);
}

#[test]
fn a_caught_fault_costs_the_tuple_only() {
    let list = graph::ExprKind::List(vec![exprs::int64(7)]);
    let list = exprs::expr(list, Type::List(Type::Int64.into(), None));
    let element = graph::ExprKind::Index(list.into(), Box::new(n()));
    let pick = OperatorBuilder::new("spl.relational::Functor", "Pick")
        .input("In", N)
        .connect(0, 0, 0)
        .catch("streams")
        .output("Pick", N)
        .assign([Some(exprs::expr(element, Type::Int64))]);
    let program = build_program([numbers("B", Some(3)), pick, print(1)]);
    let (lines, ended) = run(&program);
    assert_eq!(lines, ["0 {n=7}", "0 window", "0 final"]);
    assert_eq!(
        ended.unwrap()[1].metrics,
        [("nExceptionsCaught".to_owned(), 2)]
    );
}

fn wire(program: &Program, registry: &[OperatorEntry], options: PeOptions) -> Pe {
    let mut backend = InterpreterBackend::new(&[], &[]);
    let (program, threads) = &testkit::planned(program, registry, &[]);
    let pe = Pe::wire(program, threads, registry, &mut backend, options);
    let pe = pe.unwrap_or_else(|report| panic!("{report}"));
    testkit::stop_at_deadline(&pe);
    pe
}

fn printing_to(printed: &SharedOutput) -> PeOptions {
    PeOptions {
        stdout: Box::new(printed.clone()),
        ..PeOptions::default()
    }
}

#[test]
fn a_shutdown_wakes_sleepers_and_ends_in_order() {
    let slow = numbers("Slow", None).param("period", [exprs::float64(1e9)]);
    let printed = SharedOutput::default();
    let program = build_program([slow, print(0)]);
    let pe = wire(&program, &registry(), printing_to(&printed))
        .start()
        .unwrap();
    while pe.operator_counts()[1].processed[0] == 0 {
        std::thread::yield_now();
    }
    pe.stop_signal().request();
    pe.join().unwrap();
    assert_eq!(printed.text(), "0 {n=0}\n0 final\n");
}

#[test]
fn a_job_is_stopped_after_a_while() {
    let program = build_program([numbers("Fast", None), print(0)]);
    let pe = wire(&program, &registry(), printing_to(&SharedOutput::default()));
    pe.stop_signal().request_after(0.01).unwrap();
    let tallies = pe.start().unwrap().join().unwrap();
    assert_eq!(tallies[0].submitted, tallies[1].processed);
}

#[test]
fn a_source_that_never_looks_for_a_shutdown_is_made_to_end() {
    let tuple = exprs::tuple(&["n"], vec![exprs::int64(1)]);
    let endless = Stmt::While(
        exprs::boolean(true),
        vec![exprs::submit(PortIndex(0), tuple)],
    );
    let endless = OperatorBuilder::new("spl.utility::Custom", "Endless")
        .on_process(exprs::body(&[], vec![endless]))
        .output("Endless", N);
    let pe = wire(
        &build_program([endless, print(0)]),
        &registry(),
        printing_to(&SharedOutput::default()),
    );
    pe.stop_signal().request();
    let tallies = pe.start().unwrap().join().unwrap();
    assert_eq!(tallies[0].submitted, tallies[1].processed);
}

static PANICS: OperatorModel = OperatorModel {
    namespace: "t",
    name: "Panics",
    inputs: &[graph::InPortModel::DEFAULT],
    ..OperatorModel::DEFAULT
};

struct Panics;

impl Operator for Panics {
    fn process(&mut self, _: PortIndex, _: TupleRef<'_>, _: &mut dyn Outlet) -> Result<(), Fault> {
        panic!("out of order")
    }
}

#[test]
fn a_panic_is_reported_as_a_bug_of_its_operator() {
    let panics = OperatorEntry::built(&PANICS, |_| Ok(Box::new(Panics)));
    let operator = OperatorBuilder::new("t::Panics", "Panics")
        .input("In", N)
        .connect(0, 0, 0);
    let registry = [registry(), vec![panics]].concat();
    let other = [numbers("Other", None), print(2)];
    let program = build_program([numbers("B", Some(3)), operator].into_iter().chain(other));
    let (printed, ended) = testkit::run_program(&program, &registry);
    let report = ended.unwrap_err();
    let failure = &report.failures[0];
    assert_eq!(report.failures.len(), 1, "{report}");
    assert!(failure.is_bug);
    assert_eq!(&*failure.operator, "Panics");
    assert_eq!(failure.fault.message(), "out of order");
    assert!(
        printed.ends_with("0 final\n"),
        "the other thread ends in order"
    );
}

/// A reader that goes away.
struct Gone;

impl std::io::Write for Gone {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_reader_that_goes_away_ends_the_job_quietly() {
    let options = PeOptions {
        stdout: Box::new(Gone),
        ..PeOptions::default()
    };
    let pe = wire(
        &build_program([numbers("B", None), print(0)]),
        &registry(),
        options,
    );
    assert!(pe.start().unwrap().join().unwrap_err().is_stdout_closed);
}

/// Pair of two ports fed by these operators, with room for one tuple of each port.
fn pair(left: u32, right: u32) -> OperatorBuilder {
    OperatorBuilder::new("spl.utility::Pair", "Pair")
        .input("L", N)
        .input("R", N)
        .connect(0, left, 0)
        .connect(1, right, 0)
        .param("bufferSize", [exprs::uint32(1)])
        .output("Pair", N)
}

#[test]
fn a_full_pair_holds_up_its_sender() {
    let slow = numbers("Slow", Some(20)).param("period", [exprs::float64(0.0002)]);
    let program = build_program([numbers("Fast", Some(20)), slow, pair(0, 1), print(2)]);
    let (lines, ended) = run(&program);
    let expected = (0..20).flat_map(|n| {
        let tuple = format!("0 {{n={n}}}");
        [tuple.clone(), tuple, "0 window".to_owned()]
    });
    assert_eq!(
        lines,
        expected.chain(["0 final".to_owned()]).collect::<Vec<_>>()
    );
    assert!(ended.is_ok());
}

#[test]
fn nobody_waits_for_room_that_only_he_could_make() {
    // One thread feeds both ports, the left one twice as much: it must not wait for itself.
    let twice = adding("Twice", 0, 0).connect(0, 0, 0);
    let program = build_program([
        numbers("B", Some(10)),
        twice,
        adding("Once", 0, 0),
        pair(1, 2),
    ]);
    let (_, ended) = run(&program);
    assert_eq!(ended.unwrap()[3].submitted, [20]);
}

#[test]
fn two_pairs_fed_crosswise_do_not_deadlock() {
    let program = build_program([
        numbers("A", Some(300)),
        numbers("B", Some(300)),
        pair(0, 1),
        pair(1, 0),
        pair(2, 3),
    ]);
    let (_, ended) = run(&program);
    let tallies = ended.unwrap();
    assert_eq!(tallies[2].submitted, [600]);
    assert_eq!(tallies[4].submitted, [1200]);
}

#[test]
fn delay_keeps_order_and_markers_and_is_emptied_by_a_shutdown() {
    for (delay, stops) in [(0.001, false), (1e9, true)] {
        let delaying = OperatorBuilder::new("spl.utility::Delay", "D")
            .input("In", N)
            .connect(0, 0, 0)
            .param("delay", [exprs::float64(delay)])
            .param("bufferSize", [exprs::uint32(2)])
            .output("D", N);
        let printed = SharedOutput::default();
        let program = build_program([numbers("B", Some(3)), delaying, print(1)]);
        let pe = wire(&program, &registry(), printing_to(&printed))
            .start()
            .unwrap();
        if stops {
            let stop = pe.stop_signal();
            let (ended, wait) = mpsc::channel::<()>();
            let timer = std::thread::spawn(move || {
                let _ = wait.recv_timeout(Duration::from_millis(20));
                stop.request();
            });
            pe.join().unwrap();
            drop(ended);
            timer.join().unwrap();
            let lines = printed.text();
            assert!(
                lines.starts_with("0 {n=0}\n") && lines.ends_with("0 final\n"),
                "{lines}"
            );
        } else {
            pe.join().unwrap();
            assert_eq!(
                printed.text(),
                "0 {n=0}\n0 {n=1}\n0 {n=2}\n0 window\n0 final\n"
            );
        }
    }
}
