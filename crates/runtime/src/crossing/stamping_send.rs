//! A Send that stamps tuples now and then: see [`crate::counters::latency`]. Frames that compiled
//! code writes by itself pass no operator that could stamp them, so compiled code gets little room
//! before it calls again.

use eval::Fault;
use graph::PortIndex;
use tuple::{EventTime, TupleRef};

use super::send::SendOperator;
use crate::abi::FrameGrant;
use crate::counters::latency::{StampSchedule, TUPLES_PER_STAMP};
use crate::inserted::inserted_operator::InsertedOperator;
use crate::inserted::inserted_outlet::InsertedOutlet;

/// A Send that sends stamps before some tuples, and is else like the Send inside.
pub(super) struct StampingSend {
    send: SendOperator,
    schedule: StampSchedule,
}

impl StampingSend {
    pub fn new(send: SendOperator) -> StampingSend {
        StampingSend {
            send,
            schedule: StampSchedule::default(),
        }
    }
}

impl InsertedOperator for StampingSend {
    fn process(
        &mut self,
        port: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        let is_due = self.schedule.is_due();
        if is_due {
            self.send.send_stamp(out)?;
        }
        self.send.process(port, tuple, out)?;
        // After a stamp the next tuple is looked at again; else one in [`TUPLES_PER_STAMP`] is
        // enough.
        self.send
            .limit_grant(if is_due { 0 } else { TUPLES_PER_STAMP });
        Ok(())
    }

    fn process_window_marker(
        &mut self,
        port: PortIndex,
        out: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        self.send.process_window_marker(port, out)
    }

    fn process_watermark(
        &mut self,
        at: EventTime,
        out: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        self.send.process_watermark(at, out)
    }

    fn process_final_marker(
        &mut self,
        port: PortIndex,
        out: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        self.send.process_final_marker(port, out)
    }

    fn finish(&mut self, out: &mut dyn InsertedOutlet) -> Result<(), Fault> {
        self.send.finish(out)
    }

    fn flush(&mut self, out: &mut dyn InsertedOutlet) -> Result<(), Fault> {
        self.send.flush(out)
    }

    fn send_progress(&mut self, out: &mut dyn InsertedOutlet) -> Result<(), Fault> {
        self.send.send_progress(out)
    }

    fn frame_grant(&mut self) -> Option<FrameGrant> {
        self.send.frame_grant()
    }

    /// Looks at the next tuple too: the receiver had nothing to do, so tuples come seldom.
    fn wake_reader(&mut self) {
        self.send.wake_reader();
        self.send.limit_grant(0);
    }

    fn close(&mut self, out: &mut dyn InsertedOutlet) -> Result<(), Fault> {
        self.send.close(out)
    }
}
