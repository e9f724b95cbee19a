//! A Send that says now and then when a tuple was at hand: see [`super::latency`]. What compiled code
//! writes by itself passes nobody who could look; so it is left little room before it calls again.

use graph::Fault;
use tuple::{EventTime, TupleRef};

use super::latency::{Pace, STAMP_EVERY};
use super::send::Send;
use crate::abi::FrameRoom;
use crate::{Operator, Outlet};

/// Stamps what passes it; all else is Send's.
pub(super) struct Stamping {
    send: Send,
    pace: Pace,
}

impl Stamping {
    pub fn new(send: Send) -> Stamping {
        Stamping {
            send,
            pace: Pace::default(),
        }
    }
}

impl Operator for Stamping {
    fn process(
        &mut self,
        port: u32,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let is_due = self.pace.is_due();
        if is_due {
            self.send.stamp()?;
        }
        self.send.process(port, tuple, out)?;
        // Where tuples come seldom the next one is due again; in a hurry one in so many is enough.
        self.send.limit_grant(if is_due { 0 } else { STAMP_EVERY });
        Ok(())
    }

    fn window_marker(&mut self, port: u32, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.send.window_marker(port, out)
    }

    fn watermark(&mut self, at: EventTime, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.send.watermark(at, out)
    }

    fn final_marker(&mut self, port: u32, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.send.final_marker(port, out)
    }

    fn finish(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.send.finish(out)
    }

    fn flush(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.send.flush(out)
    }

    fn mark(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.send.mark(out)
    }

    fn room(&mut self) -> Option<FrameRoom> {
        self.send.room()
    }

    /// The receiver had nothing to do, so tuples come seldom: the next one is looked at.
    fn wake(&mut self) {
        self.send.wake();
        self.send.limit_grant(0);
    }

    fn close(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.send.close(out)
    }
}
