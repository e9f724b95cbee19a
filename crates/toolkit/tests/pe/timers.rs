//! Timers of a PE: until when they fire, what they may submit, and what comes back of it.

use std::sync::Arc;

use eval::Fault;
use graph::{OperatorModel, PortIndex};
use runtime::{Operator, OperatorEntry, Outlet, StopSignal, TimerId};
use testkit::{OperatorBuilder, SharedOutput, build_program, exprs};
use tuple::{Layout, Punctuation, TupleBuf, TupleRef, Value};

use super::{N, adding, numbers, print, printing_to, registry, wire};

static TICKS: OperatorModel = OperatorModel {
    namespace: "t",
    name: "Ticks",
    inputs: &[graph::InPortModel::DEFAULT],
    timers: Some(|_| graph::OperatorTimers::Submitting),
    ..OperatorModel::DEFAULT
};

/// Asks for a shutdown at the third tick of its first timer.
struct Ticks(u32, StopSignal);

impl Operator for Ticks {
    fn process(&mut self, _: PortIndex, _: TupleRef<'_>, _: &mut dyn Outlet) -> Result<(), Fault> {
        Ok(())
    }

    fn on_timer(&mut self, timer: TimerId, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.0 += u32::from(timer == TimerId(0));
        if self.0 == 3 {
            out.services().print(b"three\n", false)?;
            self.1.request();
        }
        Ok(())
    }
}

#[test]
fn timers_fire_until_the_end() {
    let ticks = OperatorEntry::built(&TICKS, |build| {
        build.add_timer(0.002);
        build.add_timer(1e9);
        Ok(Box::new(Ticks(0, build.stop_signal())))
    });
    let ticking = OperatorBuilder::new("t::Ticks", "Ticks")
        .input("In", N)
        .connect(0, 0, 0);
    let source = numbers("Slow", None).param("period", [exprs::float64(1e9)]);
    let printed = SharedOutput::default();
    let registry = [registry(), vec![ticks]].concat();
    let pe = wire(
        &build_program([source, ticking]),
        &registry,
        printing_to(&printed),
    );
    pe.start().unwrap().join().unwrap();
    assert_eq!(printed.text(), "three\n");
}

static LIES: OperatorModel = OperatorModel {
    namespace: "t",
    name: "Lies",
    inputs: &[graph::InPortModel::DEFAULT],
    outputs: &[graph::OutPortModel::DEFAULT],
    timers: Some(|_| graph::OperatorTimers::Silent),
    ..OperatorModel::DEFAULT
};

/// Submits a window marker at each tick of its timer.
struct Lies;

impl Operator for Lies {
    fn process(&mut self, _: PortIndex, _: TupleRef<'_>, _: &mut dyn Outlet) -> Result<(), Fault> {
        Ok(())
    }

    fn on_timer(&mut self, _: TimerId, out: &mut dyn Outlet) -> Result<(), Fault> {
        out.submit_punctuation(PortIndex(0), Punctuation::Window)
    }
}

#[test]
fn a_silent_timer_that_submits_is_a_bug_of_its_operator() {
    let lies = OperatorEntry::built(&LIES, |build| {
        build.add_timer(0.002);
        Ok(Box::new(Lies))
    });
    let operator = OperatorBuilder::new("t::Lies", "Lies")
        .input("In", N)
        .connect(0, 0, 0)
        .output("Lies", N);
    let source = numbers("Slow", None).param("period", [exprs::float64(1e9)]);
    let registry = [registry(), vec![lies]].concat();
    let program = build_program([source, operator, print(1)]);
    let (printed, ended) = testkit::run_program(&program, &registry);
    let report = ended.unwrap_err();
    let failure = &report.failures[0];
    assert!(failure.is_bug, "{report}");
    assert_eq!(&*failure.operator, "Lies");
    assert!(failure.fault.message().starts_with("a timer submits"));
    assert_eq!(
        printed, "",
        "the sink sees no marker, the final one neither"
    );
}

static COUNTDOWN: OperatorModel = OperatorModel {
    namespace: "t",
    name: "Countdown",
    inputs: &[graph::InPortModel::DEFAULT],
    outputs: &[graph::OutPortModel::DEFAULT],
    timers: Some(|_| graph::OperatorTimers::Submitting),
    ..OperatorModel::DEFAULT
};

/// Submits a number at its first tick, and what it is given less one. Stops the job at 1; the
/// source's 0 counts for nothing.
struct Countdown {
    begins_at: Option<i64>,
    layout: Arc<Layout>,
    stop: StopSignal,
}

impl Countdown {
    fn submit(&mut self, number: i64, out: &mut dyn Outlet) -> Result<(), Fault> {
        let mut tuple = TupleBuf::default();
        tuple.set_all(&self.layout, &Value::Tuple([Value::Int64(number)].into()));
        out.submit(PortIndex(0), tuple.as_ref())
    }
}

impl Operator for Countdown {
    fn process(
        &mut self,
        _: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        match tuple.get(&self.layout, 0) {
            Value::Int64(0) => {}
            Value::Int64(1) => self.stop.request(),
            Value::Int64(number) => self.submit(number - 1, out)?,
            other => panic!("{other:?}"),
        }
        Ok(())
    }

    fn on_timer(&mut self, _: TimerId, out: &mut dyn Outlet) -> Result<(), Fault> {
        match self.begins_at.take() {
            Some(number) => self.submit(number, out),
            None if self.stop.is_requested() => Ok(()),
            None => Err(Fault::value("a second tick before all came back")),
        }
    }
}

#[test]
fn what_a_timer_sends_round_a_loop_comes_back_at_once() {
    let countdown = OperatorEntry::built(&COUNTDOWN, |build| {
        build.add_timer(0.002);
        Ok(Box::new(Countdown {
            begins_at: Some(3),
            layout: build.outputs[0].clone(),
            stop: build.stop_signal(),
        }))
    });
    let operator = OperatorBuilder::new("t::Countdown", "Countdown")
        .input("In", N)
        .connect(0, 0, 0)
        .connect(0, 2, 0)
        .output("Countdown", N);
    let source = numbers("Slow", None).param("period", [exprs::float64(1e9)]);
    let registry = [registry(), vec![countdown]].concat();
    let program = build_program([source, operator, adding("Same", 0, 1), print(2)]);
    let (printed, ended) = testkit::run_program(&program, &registry);
    assert!(
        printed.starts_with("0 {n=3}\n0 {n=2}\n0 {n=1}\n"),
        "{printed}"
    );
    assert!(ended.is_ok());
}
