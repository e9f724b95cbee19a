//! The operator contract: what an operator implements, and when the run time calls it.
//!
//! There are two kinds. A *lowered* operator (Functor, Filter, Custom, Beacon, ...) is data: its
//! behaviour is a few bodies of typed statements ([`crate::LoweredLogic`]), which the backend
//! interprets, or compiles into one function with those of its chain. A *built* operator
//! (Aggregate, Join, FileSource, ...) is Rust code behind [`Operator`]. Operators that a plan
//! inserts to cross threads and processes have a contract of their own, [`crate::inserted`], with
//! the same rules.
//!
//! # Duties of the run time
//! The run time does the following for every operator, in this order:
//! 1. drops tuples and markers that come to an input port after its final marker; counts final
//!    markers, one for each stream that feeds the port, and passes on only the last;
//! 2. on a tuple, runs the logic clause's `onTuple`, then [`Operator::process`];
//! 3. on a marker, runs `onPunct`, then [`Operator::process_window_marker`] or
//!    [`Operator::process_final_marker`];
//! 4. forwards window markers to the output ports that the model calls preserving;
//! 5. takes the least watermark of the streams that bring some; when that advances, calls
//!    [`Operator::process_watermark`], then passes it on;
//! 6. when all data input ports are final, calls [`Operator::finish`], then sends the final marker
//!    on every output port that has not sent one; after it nothing passes that port;
//! 7. when the PE ends, whatever the cause, calls [`Operator::close`].
//!
//! An operator that asks for a thread of its own with [`crate::BuildContext::use_own_thread`] and
//! has input ports does 4 and 6 itself, from that thread. If no thread is left that could bring its
//! final marker (it stands behind a loop, which has none), [`Operator::finish`] is called all the
//! same, and the operator calls [`Outlet::abandon`] instead of sending a final marker.
//!
//! # Threads
//! All calls on one operator happen one at a time. An operator is never entered twice, not even
//! through a feedback loop: a tuple that comes back is delivered when the call has returned.
//! [`Source::run`] is not such a call and runs beside them.
//!
//! # Faults
//! A fault that a call returns, or that an operator downstream returned to it, ends the job, unless
//! `@catch` takes it. An operator passes it on and submits no more.

use eval::Fault;
use graph::PortIndex;
use tuple::{EventTime, TupleBuf, TupleRef};

use super::incomplete_windows::IncompleteWindows;
use crate::abi::Outlet;

/// A timer that an operator asked for with [`crate::BuildContext::add_timer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimerId(pub u32);

/// A running operator that is Rust code.
///
/// ```
/// # extern crate thalweg_runtime as runtime;
/// use eval::Fault;
/// use graph::PortIndex;
/// use runtime::{Operator, Outlet};
/// use tuple::TupleRef;
///
/// /// Submits every second tuple.
/// struct EverySecond {
///     count: u64,
/// }
///
/// impl Operator for EverySecond {
///     fn process(
///         &mut self,
///         _port: PortIndex,
///         tuple: TupleRef<'_>,
///         out: &mut dyn Outlet,
///     ) -> Result<(), Fault> {
///         self.count += 1;
///         match self.count % 2 {
///             0 => out.submit(PortIndex(0), tuple),
///             _ => Ok(()),
///         }
///     }
/// }
/// ```
pub trait Operator: Send {
    /// Processes a tuple. The tuple is borrowed: an operator that needs it later keeps a copy.
    ///
    /// # Errors
    /// A fault of the operator or of one downstream; it ends the job.
    fn process(
        &mut self,
        port: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault>;

    /// Processes a tuple whose buffer no other operator needs: the operator may leave another
    /// buffer in its place. Called instead of [`Operator::process`] on operators that called
    /// [`crate::BuildContext::set_accepts_owned`], where the tuple has such a buffer.
    fn process_owned(
        &mut self,
        port: PortIndex,
        tuple: &mut TupleBuf,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        self.process(port, tuple.as_ref(), out)
    }

    /// Whether the operator has room for a tuple of this port now; asked only of operators that
    /// called [`crate::BuildContext::set_bounded`]. While there is none, the sending thread waits,
    /// outside the operator. [`Operator::process`] follows when there is room, or when no thread is
    /// left that could make any: then the operator has to take the tuple all the same.
    fn has_room(
        &mut self,
        port: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<bool, Fault> {
        let _ = (port, tuple, out);
        Ok(true)
    }

    /// Processes a window marker of an input port.
    fn process_window_marker(
        &mut self,
        port: PortIndex,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let _ = (port, out);
        Ok(())
    }

    /// Processes an advance of the operator's watermark: tuples that follow are expected to be no
    /// older than `at`. The run time passes the watermark on afterwards, so tuples submitted now
    /// come before it.
    fn process_watermark(&mut self, at: EventTime, out: &mut dyn Outlet) -> Result<(), Fault> {
        let _ = (at, out);
        Ok(())
    }

    /// Processes the final marker of an input port, whose last stream has ended.
    fn process_final_marker(&mut self, port: PortIndex, out: &mut dyn Outlet) -> Result<(), Fault> {
        let _ = (port, out);
        Ok(())
    }

    /// Runs when all data input ports are final: the last chance to submit.
    fn finish(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        let _ = out;
        Ok(())
    }

    /// Sends what the operator holds back to send several tuples together; called before the thread
    /// sleeps. Only for operators that called [`crate::BuildContext::set_needs_flush`].
    fn flush(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        let _ = out;
        Ok(())
    }

    /// Runs when a timer of the operator fires.
    fn on_timer(&mut self, timer: TimerId, out: &mut dyn Outlet) -> Result<(), Fault> {
        let _ = (timer, out);
        Ok(())
    }

    /// Contents of windows that never got full; asked when the operator's input has ended, and at
    /// the end of the PE if it never did. `None` if the operator has no windows that make results.
    fn incomplete_windows(&self) -> Option<IncompleteWindows> {
        None
    }

    /// Ends the operator with its PE, whatever the cause. When this returns, tuples that were
    /// accepted are safe: files are flushed and closed. Nothing can be submitted any more.
    fn close(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        let _ = out;
        Ok(())
    }

    /// The work of the operator's own thread, for sources and for operators that called
    /// [`crate::BuildContext::use_own_thread`]. Taken once, before the PE starts.
    fn take_source(&mut self) -> Option<Box<dyn Source>> {
        None
    }
}

/// The work of a thread that an operator has for itself, and submits from.
///
/// ```
/// # extern crate thalweg_runtime as runtime;
/// use eval::Fault;
/// use graph::PortIndex;
/// use runtime::{Outlet, Source};
/// use tuple::TupleBuf;
///
/// /// Submits one tuple a second.
/// struct Clock {
///     tick: TupleBuf,
/// }
///
/// impl Source for Clock {
///     fn run(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
///         while !out.services().is_shutdown() {
///             out.submit(PortIndex(0), self.tick.as_ref())?;
///             out.services().block(1.0);
///         }
///         Ok(())
///     }
/// }
/// ```
pub trait Source: Send {
    /// Runs until there is no more to send, or until `out.services().is_shutdown()`. When it
    /// returns, the final marker follows on every output port. The source has state variables of
    /// its own: they have the initial values of the operator's, but are not shared with its other
    /// calls.
    ///
    /// # Errors
    /// A fault of the source or of an operator downstream; it ends the job.
    fn run(&mut self, out: &mut dyn Outlet) -> Result<(), Fault>;
}
