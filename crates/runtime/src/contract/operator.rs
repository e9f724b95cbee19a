//! The operator contract: what an operator implements, what it is given, how it is registered.
//!
//! There are two sorts. A *lowered* operator (Functor, Filter, Custom, Beacon, ...) is data: its
//! behaviour is a few bodies of typed statements ([`LoweredLogic`]), which the backend interprets
//! or compiles and may fuse with its neighbours'. A *built* operator (Aggregate, Join, FileSource,
//! ...) is Rust code behind [`OperatorNode`].
//!
//! # Who does what
//! The run time, for every operator and in this order:
//! 1. drops whatever comes to an input port after its final marker; counts final markers, one for
//!    each stream that feeds the port, and passes on only the last;
//! 2. on a tuple runs the logic clause's `onTuple`, then [`OperatorNode::process`];
//! 3. on a marker runs `onPunct`, then [`OperatorNode::process_window_marker`] or
//!    [`OperatorNode::process_final_marker`];
//! 4. forwards window markers to the output ports that the model calls preserving;
//! 5. of watermarks takes the least one of the streams that bring some; where that advances calls
//!    [`OperatorNode::watermark`], then passes it on;
//! 6. when all data input ports are final calls [`OperatorNode::finish`], then sends the final
//!    marker on every output port that has not sent one; after it nothing passes that port;
//! 7. when the PE ends, whatever the cause, calls [`OperatorNode::close`].
//!
//! An operator that asks for a thread of its own with [`crate::BuildContext::thread`] and has input
//! ports does 4 and 6 itself, from that thread. If no thread is left that could bring its final
//! marker (it stands behind a loop, which has none), [`OperatorNode::finish`] is called all the
//! same, and no final marker is to follow: [`Outlet::abandon`].
//!
//! # Threads
//! All calls on one operator happen one at a time: it is never entered twice, not even through a
//! feedback loop (what comes back is delivered when the call has returned). [`Source::run`] is not
//! such a call: it runs beside them.
//!
//! # Faults
//! A fault that a call returns, or that something downstream returned to it, ends the job (unless
//! `@catch` takes it): pass it on and submit no more.

use eval::Fault;
use tuple::{EventTime, TupleBuf, TupleRef};

use super::incomplete_windows::IncompleteWindows;
use crate::abi::{FrameGrant, Outlet};

/// A timer that an operator asked for with [`crate::BuildContext::on_timer`].
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

    /// A tuple has come in a buffer that nobody else needs: another one may be left in its place.
    /// Called instead of [`OperatorNode::process`] on operators that asked for it with
    /// [`crate::BuildContext::takes_made`], where that is so.
    fn process_owned(
        &mut self,
        port: u32,
        tuple: &mut TupleBuf,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        self.process(port, tuple.as_ref(), out)
    }

    /// Whether there is room for a tuple of this port now; asked only of operators that called
    /// [`crate::BuildContext::bounded`]. While there is none, the sender waits, outside the
    /// operator. `process` follows when there is room, or when nobody is left who could make room:
    /// then the operator has to take the tuple all the same.
    fn has_room(
        &mut self,
        port: u32,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<bool, Fault> {
        let _ = (port, tuple, out);
        Ok(true)
    }

    /// A window marker has come.
    fn process_window_marker(&mut self, port: u32, out: &mut dyn Outlet) -> Result<(), Fault> {
        let _ = (port, out);
        Ok(())
    }

    /// The operator's watermark has advanced: what comes in from now on is expected to be no older.
    /// The run time passes it on afterwards, so that what is submitted now stands before it.
    fn process_watermark(&mut self, at: EventTime, out: &mut dyn Outlet) -> Result<(), Fault> {
        let _ = (at, out);
        Ok(())
    }

    /// An input port is final: its last stream has ended.
    fn process_final_marker(&mut self, port: u32, out: &mut dyn Outlet) -> Result<(), Fault> {
        let _ = (port, out);
        Ok(())
    }

    /// All data input ports are final; the last chance to submit.
    fn finish(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        let _ = out;
        Ok(())
    }

    /// The thread is about to sleep: what the operator holds back to send it together with more
    /// gets out. Called only on operators that asked for it with [`crate::BuildContext::flushes`].
    fn flush(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        let _ = out;
        Ok(())
    }

    /// The thread goes on, and it is time to say downstream how far it has come, without letting
    /// out what is held back. Called only on operators that asked for [`OperatorNode::flush`].
    fn send_progress(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        let _ = out;
        Ok(())
    }

    /// A timer has fired.
    fn on_timer(&mut self, timer: TimerId, out: &mut dyn Outlet) -> Result<(), Fault> {
        let _ = (timer, out);
        Ok(())
    }

    /// What its windows hold that has not been full; asked when its input has ended, and at the end
    /// of the PE if it never did. `None`: it has no windows that make results.
    fn incomplete_windows(&self) -> Option<IncompleteWindows> {
        None
    }

    /// The PE ends, in whatever way. What was accepted is to be safe when this returns: files are
    /// flushed and closed. Nothing can be submitted any more.
    fn close(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        let _ = out;
        Ok(())
    }

    /// Room for frames that compiled code may fill instead of calling [`OperatorNode::process`]
    /// with a tuple of fixed length. Asked once, before there is code; only the one thread that
    /// submits to the operator uses it, until `close`.
    fn frame_grant(&mut self) -> Option<FrameGrant> {
        None
    }

    /// A frame was written into its room, and somebody sleeps who wants it.
    fn wake_reader(&mut self) {}

    /// What runs on the operator's own thread, for sources and for operators that asked for one
    /// with [`crate::BuildContext::thread`]: taken once, before the PE starts.
    fn take_source(&mut self) -> Option<Box<dyn Source>> {
        None
    }
}

/// What runs on a thread of its own and submits from there.
pub trait Source: Send {
    /// Runs until there is no more to send or `out.services().is_shutdown()`. When it returns the
    /// final marker follows on every output port. Its state variables are its own: the same
    /// initial values, but not the same variables as those of the operator's other calls.
    fn run(&mut self, out: &mut dyn Outlet) -> Result<(), Fault>;
}
