//! Where operators submit, and what code is given to run: both call each other.

use eval::{Fault, InputTuples, Services, State};
use ring::frame::FrameBatch;
use tuple::{EventTime, Punctuation, TupleBuf, TupleRef};

use super::evaluation_inputs::EvaluationInputs;

/// Where an operator submits.
pub trait Outlet {
    /// Sends a tuple of the port's schema. Returns when everything downstream that is fused has
    /// processed it.
    fn submit(&mut self, port: u32, tuple: TupleRef<'_>) -> Result<(), Fault>;
    /// Sends a tuple that was made to be sent, like [`Outlet::submit`]: whoever receives it may
    /// keep the buffer and leave another one in its place, whatever that holds. A large tuple that
    /// crosses threads is not copied then.
    fn submit_owned(&mut self, port: u32, tuple: &mut TupleBuf) -> Result<(), Fault> {
        self.submit(port, tuple.as_ref())
    }
    /// Sends the tuples of the frames that a batch begins with, in one call of compiled code, and
    /// takes those off the batch; how many. The rest, which may be all of it, is for
    /// [`Outlet::submit`]. The tuples are taken to be of the port's schema.
    fn submit_batch(
        &mut self,
        port: u32,
        batch: &mut FrameBatch<'_>,
        kind: u8,
    ) -> Result<u64, Fault> {
        let _ = (port, batch, kind);
        Ok(0)
    }
    /// The port's consumer takes frames, one was written, and somebody sleeps who wants it: see
    /// [`crate::abi::FrameLink`].
    fn wake_consumer(&mut self, port: u32) {
        let _ = port;
    }
    /// Sends a marker.
    fn submit_punctuation(&mut self, port: u32, mark: Punctuation) -> Result<(), Fault>;
    /// Says how far the stream of a port has come: what it brings from now on is expected to be no
    /// older. Only on ports that send watermarks: [`graph::EventClock::outputs`].
    fn submit_watermark(&mut self, port: u32, at: EventTime) -> Result<(), Fault> {
        let _ = (port, at);
        Ok(())
    }
    /// What the PE offers: printing, shutdown, sleeping, metrics, trace.
    fn services(&mut self) -> &mut dyn Services;

    /// Runs code over input tuples, with the operator's state and tuple histories. Rather use
    /// [`crate::abi::Projection::write`] and [`crate::abi::Predicate::holds`], which call this.
    fn evaluate(
        &mut self,
        row: &EvaluationInputs<'_>,
        code: &mut dyn FnMut(&mut CodeContext<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault>;

    /// From now on acts for another operator of the same thread, and returns for whom it acted. For
    /// compiled code that inlines operators: see [`crate::abi::FusedView`].
    fn act_as(&mut self, operator: u32) -> u32;

    /// The stream of a port will never end as it should: whoever waits for its final marker is told
    /// so, and nothing passes the port any more.
    fn abandon(&mut self, port: u32) {
        let _ = port;
    }
}

/// What one evaluation reads and changes.
pub struct CodeContext<'a> {
    /// Input tuples by slot, and the results of output function calls in the last slot.
    pub inputs: InputTuples<'a>,
    /// The operator's state variables.
    pub state: &'a mut State,
    /// Where statements submit, and the PE's services.
    pub outlet: &'a mut dyn Outlet,
    /// The marker of an `onPunct` body.
    pub punctuation: Option<Punctuation>,
}
