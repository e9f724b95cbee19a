//! Containment of failures: a call of an operator that fails or panics ends the job, and no other
//! operator waits for its final markers.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use eval::{Fault, FaultKind};

use super::thread_region::ThreadRegion;
use crate::services::report::Failure;

impl ThreadRegion {
    /// Runs `act` on behalf of an operator. A fault or panic ends the job, and consumers learn that
    /// no final marker comes from the operator.
    pub fn contain_failure(&self, operator: u32, act: impl FnOnce() -> Result<(), Fault>) {
        let (fault, is_bug) = match catch_unwind(AssertUnwindSafe(act)) {
            Ok(Ok(())) => return,
            Ok(Err(fault)) => (fault, false),
            Err(panic) => (Fault::new(FaultKind::Limit, panic_message(&*panic)), true),
        };
        let blamed = self.take_faulting_operator().unwrap_or(operator);
        // First: by the report other threads learn of the end, and send final markers.
        self.leave_outputs_abandoned(operator);
        self.leave_outputs_abandoned(blamed);
        self.report_failure(blamed, fault, is_bug);
        self.abandon_outputs(operator);
        // The operator that failed may stand in the middle of the stream: its consumers wait too.
        self.abandon_outputs(blamed);
    }

    fn report_failure(&self, operator: u32, fault: Fault, is_bug: bool) {
        let wiring = &self.wiring;
        wiring.context.fail(Failure {
            operator: wiring.services[operator as usize].name().clone(),
            kind: wiring.labels[operator as usize].kind.clone(),
            fault,
            is_bug,
        });
    }
}

/// Message of a panic.
fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "something panicked".to_owned())
}
