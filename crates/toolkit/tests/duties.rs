//! The duties that the run time has to every operator, in their order.

use graph::{Fault, FaultKind, InPortModel, OperatorModel, OutPortModel, PunctuationOut};
use runtime::{Build, Make, Operator, OperatorEntry, Outlet};
use testkit::{Harness, Invoke, program, run, x};
use tuple::{Punctuation, TupleRef, Type};

const N: [(&str, Type); 1] = [("n", Type::Int64)];

const KEEPS: OutPortModel = OutPortModel {
    punctuation: PunctuationOut::Preserving(0),
    ..OutPortModel::DEFAULT
};

static TELLS: OperatorModel = OperatorModel {
    namespace: "t",
    name: "Tells",
    inputs: &[InPortModel::DEFAULT; 2],
    outputs: &[KEEPS, OutPortModel::DEFAULT],
    ..OperatorModel::DEFAULT
};

const ENTRY: OperatorEntry = OperatorEntry {
    model: &TELLS,
    make: Make::Build(|build: &mut Build<'_>| {
        let output = build.output(0)?;
        Ok(Box::new(Tells(output)))
    }),
};

/// Prints each call; passes tuples on to port 0, and fails on 13.
struct Tells(runtime::abi::Projection);

fn tell(out: &mut dyn Outlet, what: &str) -> Result<(), Fault> {
    out.services().print(format!("{what}\n").as_bytes(), false)
}

impl Operator for Tells {
    fn process(
        &mut self,
        port: u32,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let n = tuple.get(&self.0.layout, 0);
        tell(out, &format!("process {port} {n:?}"))?;
        if matches!(n, tuple::Value::Int64(13)) {
            return Err(Fault::new(FaultKind::Value, "thirteen"));
        }
        out.submit(0, tuple)
    }

    fn window_marker(&mut self, port: u32, out: &mut dyn Outlet) -> Result<(), Fault> {
        tell(out, &format!("window {port}"))
    }

    fn final_marker(&mut self, port: u32, out: &mut dyn Outlet) -> Result<(), Fault> {
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
fn tells() -> Invoke {
    let counts = || {
        let more = x::add(x::state(0, Type::Int64), x::int64(1));
        x::body(&[], vec![x::set_state(0, more)])
    };
    Invoke::new("t::Tells", "Tells")
        .input("A", N)
        .input("B", N)
        .state("calls", Type::Int64, None)
        .on_tuple(0, counts())
        .on_punct(1, counts())
        .output("Kept", N)
        .assign([Some(x::state(0, Type::Int64))])
        .output("Own", N)
}

#[test]
fn calls_come_in_order_and_markers_go_where_the_model_says() {
    let mut harness = Harness::new(&tells(), ENTRY);
    harness.text(0, "{n=1}");
    harness.window(0);
    harness.window(1);
    assert_eq!(
        harness.sent(),
        ["0 {n=1}", "0 window"],
        "port 0 keeps port 0's markers only"
    );
    harness.ends(0);
    harness.text(0, "{n=2}");
    harness.window(0);
    assert_eq!(harness.sent(), [""; 0], "a final port takes nothing");
    harness.text(1, "{n=3}");
    harness.ends(1);
    harness.text(1, "{n=4}");
    assert_eq!(harness.sent(), ["0 {n=3}", "0 final", "1 final"]);
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
    let mut control = tells().done();
    control.inputs[1].is_control = true;
    let mut harness = Harness::new(&control, ENTRY);
    harness.ends(0);
    assert_eq!(harness.sent(), ["0 final", "1 final"]);
    harness.text(1, "{n=1}");
    assert_eq!(harness.sent(), [""; 0]);
}

#[test]
fn nothing_passes_a_port_after_a_final_marker_that_was_submitted() {
    let ends = vec![
        x::submit(0, x::tuple(&["n"], vec![x::int64(1)])),
        x::submit_mark(0, Punctuation::Final),
        x::submit(0, x::tuple(&["n"], vec![x::int64(2)])),
        x::submit_mark(0, Punctuation::Window),
    ];
    let custom = Invoke::new("spl.utility::Custom", "C")
        .input("In", N)
        .on_tuple(0, x::body(&[], ends))
        .output("Out", N);
    let entry = thalweg_toolkit::operators().iter();
    let entry = entry.clone().find(|e| e.model.name == "Custom").unwrap();
    let mut harness = Harness::new(&custom, *entry);
    harness.text(0, "{n=0}");
    harness.ends(0);
    assert_eq!(harness.sent(), ["0 {n=1}", "0 final"]);
}

#[test]
fn every_operator_is_closed_whatever_happens() {
    let thirteen = Invoke::new("spl.utility::Beacon", "B")
        .output("B", N)
        .assign([Some(x::int64(13))]);
    let mut operator = tells().fed(0, 0, 0).done();
    operator.inputs.truncate(1);
    let mut program = program([thirteen]);
    program.operators.push(operator);
    let registry = [thalweg_toolkit::operators(), &[ENTRY]].concat();
    let (printed, ended) = run(&program, &registry);
    assert_eq!(printed, "process 0 Int64(13)\nclose\n");
    assert_eq!(ended.unwrap_err().to_string(), "Tells (t::Tells): thirteen");
}
