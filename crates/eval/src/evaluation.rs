//! Context of one evaluation: input tuples, operator state, and the place where it submits.

use graph::PortIndex;
use tuple::{EventTime, Layout, Punctuation, TupleRef};

use crate::{Fault, Services, State};

/// The input tuples of one evaluation.
///
/// Slots are numbered port by port, each port's current tuple first and then one slot for each
/// depth of its history that expressions read: `slot(port, h) = sum of slots_p over p < port +
/// slot_port(h)`, with [`graph::HistoryDepths::slots`] and [`graph::HistoryDepths::slot`] of
/// [`graph::InPort::history`]. After the last port one more slot holds the results of output
/// function calls, if the evaluation has any. A slot that the evaluation does not read may be
/// empty; so is that of a tuple that has not come yet, which reads as the default tuple.
#[derive(Clone, Copy, Debug)]
pub struct InputTuples<'a> {
    /// The tuples, by slot.
    pub tuples: &'a [Option<TupleRef<'a>>],
    /// Layouts of the tuples, by slot.
    pub layouts: &'a [std::sync::Arc<Layout>],
}

impl InputTuples<'_> {
    /// No inputs at all: for initializers, sources and constants.
    pub const NONE: InputTuples<'static> = InputTuples {
        tuples: &[],
        layouts: &[],
    };
}

/// Output of statements, and access to the services of the PE.
pub trait Submit {
    /// Sends a tuple of the port's schema.
    fn submit_tuple(&mut self, port: PortIndex, tuple: TupleRef<'_>) -> Result<(), Fault>;
    /// Sends a marker from an output port.
    fn submit_punctuation(&mut self, port: PortIndex, mark: Punctuation) -> Result<(), Fault>;
    /// Sends a watermark from an output port.
    fn submit_watermark(&mut self, port: PortIndex, at: EventTime) -> Result<(), Fault> {
        let _ = (port, at);
        Ok(())
    }
    /// Services of the PE for library functions.
    fn services(&mut self) -> &mut dyn Services;
}

/// Inputs, state and output of one evaluation of the [interpreter](crate::interp).
pub struct Evaluation<'a> {
    /// Input tuples by slot, and the results of output function calls in the last slot.
    pub inputs: InputTuples<'a>,
    /// The operator's state variables.
    pub state: &'a mut State,
    /// Output of statements, and the PE's services.
    pub submit: &'a mut dyn Submit,
    /// The marker of an `onPunct` body.
    pub current_punctuation: Option<Punctuation>,
}
