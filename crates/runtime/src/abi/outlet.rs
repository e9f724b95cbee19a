//! Where operators submit, and what code is given to run. [`Outlet::evaluate`] calls code with a
//! [`CodeContext`], through which the code submits to the outlet again, as a [`CodeOutlet`].

use std::ops::Range;

use eval::{Fault, InputTuples, Services, State};
use graph::PortIndex;
use tuple::{EventTime, Punctuation, TupleBuf, TupleRef};

use super::evaluation_inputs::EvaluationInputs;

/// Where an operator submits, and asks the PE for services.
///
/// ```
/// # extern crate thalweg_runtime as runtime;
/// use eval::Fault;
/// use graph::PortIndex;
/// use runtime::{Operator, Outlet};
/// use tuple::TupleRef;
///
/// /// Submits each tuple to both of its output ports.
/// struct Copy;
///
/// impl Operator for Copy {
///     fn process(
///         &mut self,
///         _port: PortIndex,
///         tuple: TupleRef<'_>,
///         out: &mut dyn Outlet,
///     ) -> Result<(), Fault> {
///         out.submit(PortIndex(0), tuple)?;
///         out.submit(PortIndex(1), tuple)
///     }
/// }
/// ```
pub trait Outlet {
    /// Sends a tuple of the port's schema. Returns when all fused operators downstream have
    /// processed it.
    ///
    /// # Errors
    /// The fault of an operator downstream, or of a source that goes on after a shutdown.
    fn submit(&mut self, port: PortIndex, tuple: TupleRef<'_>) -> Result<(), Fault>;
    /// Sends a tuple with its buffer. The receiver may keep the buffer and leave another one in its
    /// place, with any content. A large tuple that crosses threads is not copied then.
    ///
    /// # Errors
    /// The fault of an operator downstream, or of a source that goes on after a shutdown.
    fn submit_owned(&mut self, port: PortIndex, tuple: &mut TupleBuf) -> Result<(), Fault> {
        self.submit(port, tuple.as_ref())
    }
    /// Sends a window marker or the final marker. After the final marker nothing passes the port.
    ///
    /// # Errors
    /// The fault of an operator downstream, or of a source that goes on after a shutdown.
    fn submit_punctuation(&mut self, port: PortIndex, mark: Punctuation) -> Result<(), Fault>;
    /// Sends a watermark: tuples that follow on the port are expected to be no older than `at`.
    /// Only for ports that send watermarks ([`graph::EventClock::outputs`]).
    ///
    /// # Errors
    /// The fault of an operator downstream, or of a source that goes on after a shutdown.
    fn submit_watermark(&mut self, port: PortIndex, at: EventTime) -> Result<(), Fault> {
        let _ = (port, at);
        Ok(())
    }
    /// The services of the PE: printing, shutdown, sleeping, metrics, trace.
    fn services(&mut self) -> &mut dyn Services;

    /// Runs code over input tuples, with the operator's state and tuple histories. Operators call
    /// [`crate::abi::Projection::write`] and [`crate::abi::Predicate::holds`], which call this.
    ///
    /// # Errors
    /// The fault of the code, or a second evaluation inside the first.
    fn evaluate(
        &mut self,
        inputs: &EvaluationInputs<'_>,
        code: &mut dyn FnMut(&mut CodeContext<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault>;

    /// Ends the stream of a port without a final marker, which will never come. Consumers that wait
    /// for that marker learn it, and nothing passes the port any more.
    fn abandon(&mut self, port: PortIndex) {
        let _ = port;
    }
}

/// An outlet as code has it: with what compiled code needs where it inlines operators and writes
/// frames by itself.
pub trait CodeOutlet: Outlet {
    /// Acts for another operator of the thread from now on, and returns the operator that it acted
    /// for. For code that inlines operators: see [`crate::abi::ThreadChains`].
    fn act_as(&mut self, operator: u32) -> u32;

    /// Sends a tuple to some consumers of a port, by their places in
    /// [`crate::abi::ChainOutput::edges`]. Code has counted that it is submitted.
    ///
    /// # Errors
    /// Faults are those of [`Outlet::submit`].
    fn submit_to(
        &mut self,
        port: PortIndex,
        consumers: Range<u32>,
        tuple: TupleRef<'_>,
    ) -> Result<(), Fault>;

    /// Wakes a consumer of a port, which sleeps although code has written a frame for it: see
    /// [`crate::abi::FrameEdge`].
    fn wake_consumer(&mut self, port: PortIndex, consumer: u32);

    /// Shows a tuple that code takes to the consumers of a port by itself to who taps the stream:
    /// see [`crate::abi::TapBudget`].
    fn tap(&mut self, port: PortIndex, tuple: TupleRef<'_>) {
        let _ = (port, tuple);
    }
}

/// The inputs, state and outlet of one evaluation.
pub struct CodeContext<'a> {
    /// Input tuples by slot; the last slot holds the results of output function calls.
    pub inputs: InputTuples<'a>,
    /// State variables of the operator.
    pub state: &'a mut State,
    /// Where statements submit, and the services of the PE.
    pub outlet: &'a mut dyn CodeOutlet,
    /// The marker that an `onPunct` body processes; `None` in other bodies.
    pub punctuation: Option<Punctuation>,
}
