//! Barrier, Pair, Throttle and Delay in the harness.

use graph::{Expr, Operator};
use testkit::{Harness, Invoke, x};
use tuple::Type;

fn harness(operator: &Operator) -> Harness {
    let mut operators = thalweg_toolkit::operators().iter();
    let entry = operators.find(|e| operator.kind.ends_with(&format!("::{}", e.model.name)));
    Harness::new(operator, *entry.expect("an operator of the toolkit"))
}

const KEYED: [(&str, Type); 2] = [("k", Type::Int32), ("v", Type::Int64)];

fn key(port: u32) -> Expr {
    x::attribute(port, 0, Type::Int32)
}

fn value(port: u32) -> Expr {
    x::attribute(port, 1, Type::Int64)
}

#[test]
fn barrier_joins_the_nth_tuples() {
    let barrier = Invoke::new("spl.utility::Barrier", "B")
        .input("L", KEYED)
        .input("R", KEYED)
        .output("Out", [("k", Type::Int32), ("sum", Type::Int64)])
        .assign([Some(key(0)), Some(x::add(value(0), value(1)))]);
    let mut barrier = harness(&barrier);
    barrier.texts(0, &["{k=1,v=1}", "{k=2,v=2}"]);
    assert_eq!(barrier.sent(), [""; 0]);
    barrier.texts(1, &["{k=9,v=10}", "{k=9,v=20}", "{k=9,v=30}"]);
    barrier.window(0);
    barrier.ends(0);
    assert_eq!(barrier.sent(), ["0 {k=1,sum=11}", "0 {k=2,sum=22}"]);
    barrier.ends(1);
    assert_eq!(barrier.sent(), ["0 final"]);
}

#[test]
fn partitions_of_a_barrier_wait_on_their_own() {
    let barrier = Invoke::new("spl.utility::Barrier", "B")
        .input("L", KEYED)
        .input("M", KEYED)
        .input("R", KEYED)
        .param("partitionByLHS", [key(0)])
        .param("partitionBy1", [key(1)])
        .param("partitionByRHS", [key(2)])
        .param("bufferSize", [x::uint32(1)])
        .output("Out", [("k", Type::Int32), ("v", Type::Int64)])
        .assign([Some(key(2)), Some(x::add(value(0), value(1)))]);
    let mut barrier = harness(&barrier);
    barrier.texts(0, &["{k=1,v=1}", "{k=2,v=2}", "{k=1,v=3}"]);
    barrier.texts(1, &["{k=2,v=20}", "{k=1,v=10}", "{k=1,v=30}"]);
    barrier.texts(2, &["{k=1,v=0}", "{k=1,v=0}", "{k=2,v=0}", "{k=2,v=0}"]);
    assert_eq!(
        barrier.sent(),
        ["0 {k=1,v=11}", "0 {k=1,v=33}", "0 {k=2,v=22}"]
    );
}

#[test]
fn pair_sends_the_tuples_in_order_of_the_ports() {
    let pair = Invoke::new("spl.utility::Pair", "P")
        .input("L", KEYED)
        .input("R", KEYED)
        .param("partitionByLHS", [key(0)])
        .param("partitionByRHS", [key(1)])
        .output("Out", KEYED);
    let mut pair = harness(&pair);
    pair.texts(1, &["{k=1,v=1}", "{k=2,v=2}"]);
    pair.texts(0, &["{k=2,v=-2}", "{k=3,v=-3}", "{k=1,v=-1}"]);
    let second = ["0 {k=2,v=-2}", "0 {k=2,v=2}", "0 window"];
    let first = ["0 {k=1,v=-1}", "0 {k=1,v=1}", "0 window"];
    assert_eq!(pair.sent(), [second, first].concat());
}

#[test]
fn throttle_passes_everything_and_refuses_what_is_no_rate() {
    let throttle = |rate: f64| {
        Invoke::new("spl.utility::Throttle", "T")
            .input("In", KEYED)
            .param("rate", [x::float64(rate)])
            .param("precise", [x::boolean(true)])
            .param("includePunctuations", [x::boolean(true)])
            .output("Out", KEYED)
    };
    let mut fast = harness(&throttle(2000.0));
    let begun = std::time::Instant::now();
    fast.texts(0, &["{k=1,v=1}"; 20]);
    fast.window(0);
    assert!(
        begun.elapsed().as_secs_f64() > 0.005,
        "20 tuples at 2000 a second"
    );
    assert_eq!(fast.sent().len(), 21);

    let entry = thalweg_toolkit::operators().iter();
    let entry = *entry.clone().find(|e| e.model.name == "Throttle").unwrap();
    let mut backend = runtime::abi::interpreted::Interpreted::new(&[], &[]);
    let refused = Harness::try_with(&throttle(0.0), entry, &mut backend);
    assert!(refused.err().unwrap().message().contains("is not a rate"));
}

#[test]
fn delay_sends_from_its_own_thread_and_ends_there() {
    let delay = Invoke::new("spl.utility::Delay", "D")
        .input("In", KEYED)
        .param("delay", [x::float64(0.001)])
        .output("Out", KEYED);
    let mut delay = harness(&delay);
    delay.texts(0, &["{k=1,v=1}", "{k=2,v=2}"]);
    delay.window(0);
    delay.text(0, "{k=3,v=3}");
    delay.ends(0);
    assert_eq!(delay.sent(), [""; 0]);
    delay.run();
    let tuples = [
        "0 {k=1,v=1}",
        "0 {k=2,v=2}",
        "0 window",
        "0 {k=3,v=3}",
        "0 final",
    ];
    assert_eq!(delay.sent(), tuples);
}
