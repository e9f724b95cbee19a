//! The operator contract: what an operator implements, what it is given, how it is registered.
//!
//! There are two sorts. A *lowered* operator (Functor, Filter, Custom, Beacon, ...) is data: its
//! behaviour is a few bodies of typed statements ([`Logic`]), which the backend interprets or
//! compiles and may fuse with its neighbours'. A *built* operator (Aggregate, Join, FileSource, ...)
//! is Rust code behind [`Operator`].
//!
//! # Who does what
//! The run time, for every operator and in this order:
//! 1. drops whatever comes to an input port after its final marker; counts final markers, one for each
//!    stream that feeds the port, and passes on only the last;
//! 2. on a tuple runs the logic clause's `onTuple`, then [`Operator::process`];
//! 3. on a marker runs `onPunct`, then [`Operator::window_marker`] or [`Operator::final_marker`];
//! 4. forwards window markers to the output ports that the model calls preserving;
//! 5. when all data input ports are final calls [`Operator::finish`], then sends the final marker on every
//!    output port that has not sent one; after it nothing passes that port.
//!
//! # Threads
//! All calls on one operator happen one at a time: it is never entered twice, not even through a
//! feedback loop (what comes back is delivered when the call has returned).

use std::sync::Arc;

use graph::{Body, Fault, OperatorModel, Services, StateVar};
use tuple::{Layout, Punctuation, TupleRef};

use crate::abi::{Backend, Predicate, Projection};

/// Where an operator submits.
pub trait Outlet {
    /// Sends a tuple of the port's schema. Returns when everything downstream that is fused has
    /// processed it.
    fn submit(&mut self, port: u32, tuple: TupleRef<'_>) -> Result<(), Fault>;
    /// Sends a marker.
    fn punctuate(&mut self, port: u32, mark: Punctuation) -> Result<(), Fault>;
    /// What the PE offers: printing, shutdown, sleeping, metrics, trace.
    fn services(&mut self) -> &mut dyn Services;
}

/// A timer that an operator asked for with [`Build::timer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimerId(pub u32);

/// A built operator.
pub trait Operator: Send {
    /// A tuple has come. It is borrowed: keep a copy if you need it later.
    fn process(
        &mut self,
        port: u32,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault>;

    /// A window marker has come.
    fn window_marker(&mut self, port: u32, out: &mut dyn Outlet) -> Result<(), Fault> {
        let _ = (port, out);
        Ok(())
    }

    /// An input port is final: its last stream has ended.
    fn final_marker(&mut self, port: u32, out: &mut dyn Outlet) -> Result<(), Fault> {
        let _ = (port, out);
        Ok(())
    }

    /// All data input ports are final; the last chance to submit.
    fn finish(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        let _ = out;
        Ok(())
    }

    /// A timer has fired.
    fn timer(&mut self, timer: TimerId, out: &mut dyn Outlet) -> Result<(), Fault> {
        let _ = (timer, out);
        Ok(())
    }

    /// The operator's own thread, for sources and for operators that asked for one with
    /// [`Build::thread`]: taken once, before the PE starts.
    fn source(&mut self) -> Option<Box<dyn Source>> {
        None
    }
}

/// What runs on a thread of its own and submits from there.
pub trait Source: Send {
    /// Runs until there is no more to send or `out.services().is_shutdown()`. For an operator without
    /// input ports the final marker follows on every output port when it returns.
    fn run(&mut self, out: &mut dyn Outlet) -> Result<(), Fault>;
}

/// The behaviour of a lowered operator. Every body's input slots are those of [`graph::Inputs`].
#[derive(Clone, Debug, Default)]
pub struct Logic {
    /// State: that of the logic clause first, then what the lowering added.
    pub state: Vec<StateVar>,
    /// What happens on a tuple, by input port; the logic clause is already inside.
    pub on_tuple: Vec<Body>,
    /// What happens on a marker, by input port, before it is forwarded.
    pub on_punct: Vec<Option<Body>>,
    /// A source's thread.
    pub on_process: Option<Body>,
}

/// How an operator comes to be.
#[derive(Clone, Copy)]
pub enum Make {
    /// As data.
    Lower(fn(&graph::Operator) -> Result<Logic, Fault>),
    /// As Rust code.
    Build(fn(&mut Build<'_>) -> Result<Box<dyn Operator>, Fault>),
}

/// One line of the toolkit's registry.
#[derive(Clone, Copy)]
pub struct OperatorEntry {
    /// The interface.
    pub model: &'static OperatorModel,
    /// The behaviour.
    pub make: Make,
}

/// What a built operator is made from. Expressions are handed to the backend here, once; their code
/// is ready before the first tuple.
pub struct Build<'a> {
    /// The instance: parameters, ports, windows.
    pub operator: &'a graph::Operator,
    /// Layouts of the input ports.
    pub inputs: Vec<Arc<Layout>>,
    /// Layouts of the output ports.
    pub outputs: Vec<Arc<Layout>>,
    /// Makes code.
    pub backend: &'a mut dyn Backend,
    /// For evaluating attribute-free parameters now, and for the data directory.
    pub services: &'a mut dyn Services,
    pub(crate) timers: Vec<(TimerId, f64)>,
}

/// Evaluating an operator's expressions: see [`crate::abi::Scope`] for what they read.
impl Build<'_> {
    /// Code for a tuple of expressions, written as a flat tuple of a synthetic schema (`_0`, `_1`, ...).
    pub fn projection(&mut self, exprs: &[graph::Expr]) -> Result<Projection, Fault> {
        todo!("{}", exprs.len())
    }
    /// Code for a condition.
    pub fn predicate(&mut self, expr: &graph::Expr) -> Result<Predicate, Fault> {
        todo!("{expr:?}")
    }
    /// Code for the assignments of an output port; attributes without one get their default.
    pub fn output(&mut self, port: usize) -> Result<Projection, Fault> {
        todo!("{port}")
    }
    /// A parameter that is evaluated once, now.
    pub fn value(&mut self, param: &str) -> Result<Option<tuple::Value>, Fault> {
        todo!("{param}")
    }
    /// A custom literal parameter.
    pub fn literal(&self, param: &str) -> Option<&str> {
        todo!("{param}")
    }
    /// Asks for a timer that fires every so many seconds, from the start of the PE on.
    pub fn timer(&mut self, seconds: f64) -> TimerId {
        let id = TimerId(self.timers.len() as u32);
        self.timers.push((id, seconds));
        id
    }
}
