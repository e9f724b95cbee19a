//! Barrier, Pair, Throttle and Delay in the harness.

use graph::{Expr, OperatorNode, PortIndex};
use runtime::OperatorEntry;
use testkit::{OperatorBuilder, TextHarness, exprs};
use tuple::Type;

fn entry(operator: &OperatorNode) -> OperatorEntry {
    let entry = OperatorEntry::find(thalweg_toolkit::operators(), &operator.kind);
    entry.expect("an operator of the toolkit")
}

fn harness(operator: &OperatorNode) -> TextHarness {
    TextHarness::new(operator, entry(operator))
}

const KEYED: [(&str, Type); 2] = [("k", Type::Int32), ("v", Type::Int64)];

fn key(port: PortIndex) -> Expr {
    exprs::attribute(port, 0, Type::Int32)
}

fn value(port: PortIndex) -> Expr {
    exprs::attribute(port, 1, Type::Int64)
}

#[test]
fn barrier_joins_the_nth_tuples() {
    let barrier = OperatorBuilder::new("spl.utility::Barrier", "B")
        .input("L", KEYED)
        .input("R", KEYED)
        .output("Out", [("k", Type::Int32), ("sum", Type::Int64)])
        .assign([
            Some(key(PortIndex(0))),
            Some(exprs::add(value(PortIndex(0)), value(PortIndex(1)))),
        ]);
    let mut barrier = harness(&barrier);
    barrier.process_texts(PortIndex(0), &["{k=1,v=1}", "{k=2,v=2}"]);
    assert_eq!(barrier.take_submitted(), [""; 0]);
    barrier.process_texts(PortIndex(1), &["{k=9,v=10}", "{k=9,v=20}", "{k=9,v=30}"]);
    barrier.window_marker(PortIndex(0));
    barrier.final_marker(PortIndex(0));
    assert_eq!(
        barrier.take_submitted(),
        ["0 {k=1,sum=11}", "0 {k=2,sum=22}"]
    );
    barrier.final_marker(PortIndex(1));
    assert_eq!(barrier.take_submitted(), ["0 final"]);
}

#[test]
fn partitions_of_a_barrier_wait_on_their_own() {
    let barrier = OperatorBuilder::new("spl.utility::Barrier", "B")
        .input("L", KEYED)
        .input("M", KEYED)
        .input("R", KEYED)
        .param("partitionByLHS", [key(PortIndex(0))])
        .param("partitionBy1", [key(PortIndex(1))])
        .param("partitionByRHS", [key(PortIndex(2))])
        .param("bufferSize", [exprs::uint32(1)])
        .output("Out", [("k", Type::Int32), ("v", Type::Int64)])
        .assign([
            Some(key(PortIndex(2))),
            Some(exprs::add(value(PortIndex(0)), value(PortIndex(1)))),
        ]);
    let mut barrier = harness(&barrier);
    barrier.process_texts(PortIndex(0), &["{k=1,v=1}", "{k=2,v=2}", "{k=1,v=3}"]);
    barrier.process_texts(PortIndex(1), &["{k=2,v=20}", "{k=1,v=10}", "{k=1,v=30}"]);
    barrier.process_texts(
        PortIndex(2),
        &["{k=1,v=0}", "{k=1,v=0}", "{k=2,v=0}", "{k=2,v=0}"],
    );
    assert_eq!(
        barrier.take_submitted(),
        ["0 {k=1,v=11}", "0 {k=1,v=33}", "0 {k=2,v=22}"]
    );
}

#[test]
fn pair_sends_the_tuples_in_order_of_the_ports() {
    let pair = OperatorBuilder::new("spl.utility::Pair", "P")
        .input("L", KEYED)
        .input("R", KEYED)
        .param("partitionByLHS", [key(PortIndex(0))])
        .param("partitionByRHS", [key(PortIndex(1))])
        .output("Out", KEYED);
    let mut pair = harness(&pair);
    pair.process_texts(PortIndex(1), &["{k=1,v=1}", "{k=2,v=2}"]);
    pair.process_texts(PortIndex(0), &["{k=2,v=-2}", "{k=3,v=-3}", "{k=1,v=-1}"]);
    let second = ["0 {k=2,v=-2}", "0 {k=2,v=2}", "0 window"];
    let first = ["0 {k=1,v=-1}", "0 {k=1,v=1}", "0 window"];
    assert_eq!(pair.take_submitted(), [second, first].concat());
}

#[test]
fn throttle_passes_everything_and_refuses_what_is_no_rate() {
    let throttle = |rate: f64| {
        OperatorBuilder::new("spl.utility::Throttle", "T")
            .input("In", KEYED)
            .param("rate", [exprs::float64(rate)])
            .param("precise", [exprs::boolean(true)])
            .param("includePunctuations", [exprs::boolean(true)])
            .output("Out", KEYED)
    };
    let mut fast = harness(&throttle(2000.0));
    let begun = std::time::Instant::now();
    fast.process_texts(PortIndex(0), &["{k=1,v=1}"; 20]);
    fast.window_marker(PortIndex(0));
    assert!(
        begun.elapsed().as_secs_f64() > 0.005,
        "20 tuples at 2000 a second"
    );
    assert_eq!(fast.take_submitted().len(), 21);

    let stopped = throttle(0.0);
    let mut backend = runtime::abi::interpreter_backend::InterpreterBackend::new(&[], &[]);
    let refused = TextHarness::try_with_backend(&stopped, entry(&stopped), &mut backend);
    assert!(refused.err().unwrap().message().contains("is not a rate"));
}

#[test]
fn delay_sends_from_its_own_thread_and_ends_there() {
    let delay = OperatorBuilder::new("spl.utility::Delay", "D")
        .input("In", KEYED)
        .param("delay", [exprs::float64(0.001)])
        .output("Out", KEYED);
    let mut delay = harness(&delay);
    delay.process_texts(PortIndex(0), &["{k=1,v=1}", "{k=2,v=2}"]);
    delay.window_marker(PortIndex(0));
    delay.process_text(PortIndex(0), "{k=3,v=3}");
    delay.final_marker(PortIndex(0));
    assert_eq!(delay.take_submitted(), [""; 0]);
    delay.run();
    let tuples = [
        "0 {k=1,v=1}",
        "0 {k=2,v=2}",
        "0 window",
        "0 {k=3,v=3}",
        "0 final",
    ];
    assert_eq!(delay.take_submitted(), tuples);
}
