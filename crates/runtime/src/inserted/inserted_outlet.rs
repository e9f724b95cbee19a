//! The outlet that inserted operators are given.

use eval::Fault;
use graph::PortIndex;
use ring::frame::FrameBatch;

use crate::Outlet;
use crate::abi::FrameForm;
use crate::order::thread_order::ThreadOrder;

/// Where an inserted operator submits: an outlet that also knows the thread's order and takes
/// frames.
pub(crate) trait InsertedOutlet: Outlet {
    /// The order of the thread that makes the call.
    fn order(&self) -> &ThreadOrder;

    /// Sends tuples from the frames at the front of a batch in one call of compiled code, takes
    /// these frames off the batch, and returns their number. The rest, which may be the whole
    /// batch, is for [`Outlet::submit`]. The frames are of the kind `kind`, and hold tuples of the
    /// port's schema in the given form.
    ///
    /// # Errors
    /// The fault of an operator downstream, or of a source that goes on after a shutdown.
    fn submit_batch(
        &mut self,
        port: PortIndex,
        batch: &mut FrameBatch<'_>,
        kind: u8,
        form: FrameForm,
    ) -> Result<u64, Fault>;
}
