//! The traits of inserted operators. Calls that [`crate::Operator`] has too mean what they mean
//! there.

use eval::Fault;
use graph::{PeThreadId, PortIndex};
use tuple::{EventTime, TupleBuf, TupleRef};

use super::inserted_outlet::InsertedOutlet;
use crate::abi::{FrameForm, FrameGrant};
use crate::blocking::region_pool::RegionWaker;

/// A running operator that the plan has inserted. It has no logic clause, evaluates no expressions
/// and keeps no tuple history.
pub(crate) trait InsertedOperator: Send {
    /// Processes a tuple of an input port.
    ///
    /// # Errors
    /// A fault of the operator or of one downstream; it ends the job.
    fn process(
        &mut self,
        port: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault>;

    /// Processes a tuple whose buffer no other operator needs.
    fn process_owned(
        &mut self,
        port: PortIndex,
        tuple: &mut TupleBuf,
        out: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        self.process(port, tuple.as_ref(), out)
    }

    /// Processes a window marker of an input port.
    fn process_window_marker(
        &mut self,
        port: PortIndex,
        out: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        let _ = (port, out);
        Ok(())
    }

    /// Processes an advance of the operator's watermark.
    fn process_watermark(
        &mut self,
        at: EventTime,
        out: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        let _ = (at, out);
        Ok(())
    }

    /// Processes the final marker of an input port.
    fn process_final_marker(
        &mut self,
        port: PortIndex,
        out: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        let _ = (port, out);
        Ok(())
    }

    /// Runs when all input ports are final.
    fn finish(&mut self, out: &mut dyn InsertedOutlet) -> Result<(), Fault> {
        let _ = out;
        Ok(())
    }

    /// Sends what the operator holds back, and how far the thread has come; called before the
    /// thread sleeps, on operators that called [`crate::BuildContext::set_needs_flush`].
    fn flush(&mut self, out: &mut dyn InsertedOutlet) -> Result<(), Fault> {
        let _ = out;
        Ok(())
    }

    /// Tells receivers downstream how far the thread has come, without sending tuples that are held
    /// back; called now and then while the thread goes on, on the operators that are flushed.
    fn send_progress(&mut self, out: &mut dyn InsertedOutlet) -> Result<(), Fault> {
        let _ = out;
        Ok(())
    }

    /// Ends the operator with its PE, whatever the cause.
    fn close(&mut self, out: &mut dyn InsertedOutlet) -> Result<(), Fault> {
        let _ = out;
        Ok(())
    }

    /// Room for frames that compiled code may fill instead of calling [`InsertedOperator::process`]
    /// with a tuple of fixed length. Asked once, before there is code. Only the one thread that
    /// submits to the operator uses the room, until [`InsertedOperator::close`].
    fn frame_grant(&mut self) -> Option<FrameGrant> {
        None
    }

    /// By output port, or empty: form of the tuples that its source submits in batches
    /// ([`InsertedOutlet::submit_batch`]). Asked once, before there is code.
    fn batch_forms(&self) -> Vec<Option<FrameForm>> {
        Vec::new()
    }

    /// Wakes the reader of the operator's frames, which sleeps although compiled code has written
    /// one.
    fn wake_reader(&mut self) {}

    /// The work of the operator's own thread. Taken once, before the PE starts.
    fn take_source(&mut self) -> Option<Box<dyn InsertedSource>> {
        None
    }
}

/// The work of a thread that an inserted operator has for itself.
pub(crate) trait InsertedSource: Send {
    /// Runs until the streams that the source brings have ended. The final marker follows on every
    /// output port that is open.
    ///
    /// # Errors
    /// A fault of the source or of an operator downstream; it ends the job.
    fn run(&mut self, out: &mut dyn InsertedOutlet) -> Result<(), Fault>;

    /// The source as one that threads of a pool run by turns, if it can be that.
    fn as_pooled(&mut self) -> Option<&mut dyn PooledSource> {
        None
    }
}

/// The work of a region that has no thread of its own: threads of a pool run it, one at a time.
pub(crate) trait PooledSource: Send {
    /// Opens the source, before any thread runs. `thread` is the thread of the plan that the
    /// threads of the pool take the part of; the waker announces work.
    fn open(&mut self, thread: PeThreadId, waker: RegionWaker);

    /// Runs for a bounded number of items.
    ///
    /// # Errors
    /// Like [`InsertedSource::run`].
    fn run_batch(&mut self, out: &mut dyn InsertedOutlet) -> Result<BatchEnd, Fault>;
}

/// How a batch of a pooled source has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BatchEnd {
    /// The source has more work.
    More,
    /// The source has no work; the waker announces the next.
    Idle,
    /// The streams that the source brings have ended.
    Ended,
}
