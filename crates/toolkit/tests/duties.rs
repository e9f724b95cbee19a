//! The duties that the run time has to every operator, in their order.

use eval::{Fault, FaultKind};
use graph::{InPortModel, OperatorModel, OutPortModel, PortIndex, PunctuationOutputMode};
use runtime::{BuildContext, Operator, OperatorEntry, Outlet};
use testkit::{OperatorBuilder, TextHarness, build_program, exprs, run_program};
use tuple::{Punctuation, TupleRef, Type};

const N: [(&str, Type); 1] = [("n", Type::Int64)];

const KEEPS: OutPortModel = OutPortModel {
    punctuation: PunctuationOutputMode::Preserving(PortIndex(0)),
    ..OutPortModel::DEFAULT
};

static TELLS: OperatorModel = OperatorModel {
    namespace: "t",
    name: "Tells",
    inputs: &[InPortModel::DEFAULT; 2],
    outputs: &[KEEPS, OutPortModel::DEFAULT],
    ..OperatorModel::DEFAULT
};

const ENTRY: OperatorEntry = OperatorEntry::built(&TELLS, |build: &mut BuildContext<'_>| {
    let output = build.output_projection(PortIndex(0))?;
    Ok(Box::new(Tells(output)))
});

/// Prints each call; passes tuples on to port 0, and fails on 13.
struct Tells(runtime::abi::Projection);

fn tell(out: &mut dyn Outlet, what: &str) -> Result<(), Fault> {
    out.services().print(format!("{what}\n").as_bytes(), false)
}

impl Operator for Tells {
    fn process(
        &mut self,
        port: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let n = tuple.get(&self.0.layout, 0);
        tell(out, &format!("process {port} {n:?}"))?;
        if matches!(n, tuple::Value::Int64(13)) {
            return Err(Fault::new(FaultKind::Value, "thirteen"));
        }
        out.submit(PortIndex(0), tuple)
    }

    fn process_window_marker(
        &mut self,
        port: PortIndex,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        tell(out, &format!("window {port}"))
    }

    fn process_final_marker(&mut self, port: PortIndex, out: &mut dyn Outlet) -> Result<(), Fault> {
        tell(out, &format!("final {port}"))
    }

    fn finish(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        tell(out, "finish")
    }

    fn close(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        tell(out, "close")
    }
}

/// Two inputs, two outputs, and a logic clause that counts its calls in a state variable.
fn tells() -> OperatorBuilder {
    let counts = || {
        let more = exprs::add(exprs::state(0, Type::Int64), exprs::int64(1));
        exprs::body(&[], vec![exprs::set_state(0, more)])
    };
    OperatorBuilder::new("t::Tells", "Tells")
        .input("A", N)
        .input("B", N)
        .state("calls", Type::Int64, None)
        .on_tuple(0, counts())
        .on_punct(1, counts())
        .output("Kept", N)
        .assign([Some(exprs::state(0, Type::Int64))])
        .output("Own", N)
}

#[test]
fn calls_come_in_order_and_markers_go_where_the_model_says() {
    let mut harness = TextHarness::new(&tells(), ENTRY);
    harness.process_text(PortIndex(0), "{n=1}");
    harness.window_marker(PortIndex(0));
    harness.window_marker(PortIndex(1));
    assert_eq!(
        harness.take_submitted(),
        ["0 {n=1}", "0 window"],
        "port 0 keeps port 0's markers only"
    );
    harness.final_marker(PortIndex(0));
    harness.process_text(PortIndex(0), "{n=2}");
    harness.window_marker(PortIndex(0));
    assert_eq!(
        harness.take_submitted(),
        [""; 0],
        "a final port takes nothing"
    );
    harness.process_text(PortIndex(1), "{n=3}");
    harness.final_marker(PortIndex(1));
    harness.process_text(PortIndex(1), "{n=4}");
    assert_eq!(harness.take_submitted(), ["0 {n=3}", "0 final", "1 final"]);
    let calls = [
        "process 0 Int64(1)",
        "window 0",
        "window 1",
        "final 0",
        "process 1 Int64(3)",
        "final 1",
        "finish",
        "close",
    ];
    assert_eq!(harness.printed().lines().collect::<Vec<_>>(), calls);
}

#[test]
fn a_control_port_is_not_waited_for() {
    let mut control = tells().build();
    control.inputs[1].is_control = true;
    let mut harness = TextHarness::new(&control, ENTRY);
    harness.final_marker(PortIndex(0));
    assert_eq!(harness.take_submitted(), ["0 final", "1 final"]);
    harness.process_text(PortIndex(1), "{n=1}");
    assert_eq!(harness.take_submitted(), [""; 0]);
}

#[test]
fn nothing_passes_a_port_after_a_final_marker_that_was_submitted() {
    let ends = vec![
        exprs::submit(PortIndex(0), exprs::tuple(&["n"], vec![exprs::int64(1)])),
        exprs::submit_mark(PortIndex(0), Punctuation::Final),
        exprs::submit(PortIndex(0), exprs::tuple(&["n"], vec![exprs::int64(2)])),
        exprs::submit_mark(PortIndex(0), Punctuation::Window),
    ];
    let custom = OperatorBuilder::new("spl.utility::Custom", "C")
        .input("In", N)
        .on_tuple(0, exprs::body(&[], ends))
        .output("Out", N);
    let entry = OperatorEntry::find(thalweg_toolkit::operators(), "spl.utility::Custom");
    let mut harness = TextHarness::new(&custom, entry.unwrap());
    harness.process_text(PortIndex(0), "{n=0}");
    harness.final_marker(PortIndex(0));
    assert_eq!(harness.take_submitted(), ["0 {n=1}", "0 final"]);
}

#[test]
fn every_operator_is_closed_whatever_happens() {
    let thirteen = OperatorBuilder::new("spl.utility::Beacon", "B")
        .output("B", N)
        .assign([Some(exprs::int64(13))]);
    let mut operator = tells().connect(0, 0, 0).build();
    operator.inputs.truncate(1);
    let mut program = build_program([thirteen]);
    program.operators.push(operator);
    let registry = [thalweg_toolkit::operators(), &[ENTRY]].concat();
    let (printed, ended) = run_program(&program, &registry);
    assert_eq!(printed, "process 0 Int64(13)\nclose\n");
    assert_eq!(ended.unwrap_err().to_string(), "Tells (t::Tells): thirteen");
}
