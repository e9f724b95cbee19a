//! A Send that says now and then when a tuple was at hand: see [`super::latency`]. What compiled
//! code writes by itself passes nobody who could look; so it is left little room before it calls
//! again.

use eval::Fault;
use tuple::{EventTime, TupleRef};

use super::send::SendOperator;
use crate::abi::FrameGrant;
use crate::counters::latency::{StampSchedule, TUPLES_PER_STAMP};
use crate::{Operator, Outlet};

/// Stamps what passes it; all else is Send's.
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

impl Operator for StampingSend {
    fn process(
        &mut self,
        port: u32,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let is_due = self.schedule.is_due();
        if is_due {
            self.send.send_stamp()?;
        }
        self.send.process(port, tuple, out)?;
        // Where tuples come seldom the next one is due again; in a hurry one in so many is enough.
        self.send
            .limit_grant(if is_due { 0 } else { TUPLES_PER_STAMP });
        Ok(())
    }

    fn process_window_marker(&mut self, port: u32, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.send.process_window_marker(port, out)
    }

    fn process_watermark(&mut self, at: EventTime, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.send.process_watermark(at, out)
    }

    fn process_final_marker(&mut self, port: u32, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.send.process_final_marker(port, out)
    }

    fn finish(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.send.finish(out)
    }

    fn flush(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.send.flush(out)
    }

    fn send_progress(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.send.send_progress(out)
    }

    fn frame_grant(&mut self) -> Option<FrameGrant> {
        self.send.frame_grant()
    }

    /// The receiver had nothing to do, so tuples come seldom: the next one is looked at.
    fn wake_reader(&mut self) {
        self.send.wake_reader();
        self.send.limit_grant(0);
    }

    fn close(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.send.close(out)
    }
}
