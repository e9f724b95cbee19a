//! An outlet that keeps what code submits, for interpreted and for compiled code.

use std::ops::Range;

use eval::{Fault, NoServices, Services, Submit};
use graph::PortIndex;
use runtime::abi::{CodeContext, CodeOutlet};
use runtime::{EvaluationInputs, Outlet};
use tuple::{Punctuation, TupleBuf, TupleRef};

/// Keeps what is submitted. Its services refuse everything.
#[derive(Debug, Default)]
pub struct SubmissionRecorder {
    /// Port and tuple or punctuation of each submission, in their order.
    pub submitted: Vec<(PortIndex, Result<TupleBuf, Punctuation>)>,
    services: NoServices,
}

impl Outlet for SubmissionRecorder {
    fn submit(&mut self, port: PortIndex, tuple: TupleRef<'_>) -> Result<(), Fault> {
        self.submitted.push((port, Ok(tuple.to_buf())));
        Ok(())
    }

    fn submit_punctuation(&mut self, port: PortIndex, mark: Punctuation) -> Result<(), Fault> {
        self.submitted.push((port, Err(mark)));
        Ok(())
    }

    fn services(&mut self) -> &mut dyn Services {
        &mut self.services
    }

    fn evaluate(
        &mut self,
        _: &EvaluationInputs<'_>,
        _: &mut dyn FnMut(&mut CodeContext<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        Err(Fault::value("not here"))
    }
}

impl CodeOutlet for SubmissionRecorder {
    fn act_as(&mut self, _: u32) -> u32 {
        0
    }

    fn submit_to(
        &mut self,
        port: PortIndex,
        _: Range<u32>,
        tuple: TupleRef<'_>,
    ) -> Result<(), Fault> {
        self.submit(port, tuple)
    }

    fn wake_consumer(&mut self, _: PortIndex, _: u32) {}
}

impl Submit for SubmissionRecorder {
    fn submit_tuple(&mut self, port: PortIndex, tuple: TupleRef<'_>) -> Result<(), Fault> {
        self.submit(port, tuple)
    }

    fn submit_punctuation(&mut self, port: PortIndex, mark: Punctuation) -> Result<(), Fault> {
        Outlet::submit_punctuation(self, port, mark)
    }

    fn services(&mut self) -> &mut dyn Services {
        &mut self.services
    }
}
