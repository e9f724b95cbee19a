//! A queue that drops its oldest tuple when it is full.

use std::sync::Arc;

use graph::Fault;
use transport::Idle;
use tuple::{EventTime, TupleBuf, TupleRef};

use super::exit::Exit;
use super::hall::{Hall, Slot};
use super::spill::{Given, Shed, Spilled};
use crate::crossing::wire;
use crate::{Operator, Outlet, Source};

/// Everything is spilled.
pub(super) struct Shedding {
    hall: Arc<Hall>,
    exit: Option<Exit>,
    is_over: bool,
    idle: Option<Idle>,
}

impl Shedding {
    pub fn new(hall: Arc<Hall>, exit: Exit) -> Shedding {
        Shedding {
            hall,
            exit: Some(exit),
            is_over: false,
            idle: None,
        }
    }

    /// Something that is never dropped as long as somebody takes it.
    fn undropped(&mut self, item: Spilled) -> Result<(), Fault> {
        if self.hall.is_full() && self.hall.wait(&mut self.idle)? == Slot::Gone {
            return Ok(());
        }
        self.hall.queued.sends();
        self.hall.spill.push_other(item);
        Ok(())
    }
}

impl Shedding {
    fn tuple(&mut self, tuple: Given<'_>) -> Result<(), Fault> {
        let queued = &self.hall.queued;
        let len_max = usize::try_from(queued.items_max).unwrap_or(usize::MAX);
        match self.hall.spill.push_shedding(tuple, len_max) {
            Shed::Nothing => queued.sends(),
            Shed::Oldest => {
                queued.replaces_oldest();
                queued.is_seen_full();
            }
            Shed::Newest => queued.drops_newest(),
        }
        Ok(())
    }
}

impl Operator for Shedding {
    fn process(&mut self, _: u32, tuple: TupleRef<'_>, _: &mut dyn Outlet) -> Result<(), Fault> {
        self.tuple(Given::Lent(tuple))
    }

    fn process_made(
        &mut self,
        _: u32,
        tuple: &mut TupleBuf,
        _: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        self.tuple(Given::Made(tuple))
    }

    fn window_marker(&mut self, _: u32, _: &mut dyn Outlet) -> Result<(), Fault> {
        self.undropped(Spilled::Other(wire::WINDOW))
    }

    fn watermark(&mut self, at: EventTime, _: &mut dyn Outlet) -> Result<(), Fault> {
        self.undropped(Spilled::Watermark(at))
    }

    fn final_marker(&mut self, _: u32, _: &mut dyn Outlet) -> Result<(), Fault> {
        self.is_over = true;
        self.undropped(Spilled::Other(wire::FINAL))
    }

    /// Without a final marker: the streams that feed it are abandoned.
    fn finish(&mut self, _: &mut dyn Outlet) -> Result<(), Fault> {
        if self.is_over {
            return Ok(());
        }
        self.undropped(Spilled::Other(wire::ABANDONED))
    }

    fn source(&mut self) -> Option<Box<dyn Source>> {
        let exit: Box<dyn Source> = Box::new(self.exit.take()?);
        Some(exit)
    }
}
