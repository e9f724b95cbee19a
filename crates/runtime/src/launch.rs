//! Starting the threads of a PE: all of them or none.
//!
//! The system may have no more threads. A PE of which only some run would wait for the others'
//! final markers for ever; so they are all made first and then given their work.

use std::io;
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, JoinHandle};

use crate::region::Region;

/// A thread that waits for its work.
pub(crate) struct Waiting {
    work: Sender<Work>,
    thread: Thread,
}

/// A thread of the PE. It hands its region back when it ends.
pub(crate) type Thread = JoinHandle<Option<Region>>;

type Work = (Region, Box<dyn FnOnce(&Region) + Send>);

/// Stack of a thread. Fused operators call each other and user functions recurse, so it is ample;
/// the system gives memory only to what is used.
const STACK_BYTES: usize = 64 << 20;

/// What evaluations leave of it to everything else.
const STACK_MARGIN_BYTES: usize = 2 << 20;

/// Makes threads. Those that exist already end if one cannot be made.
pub(crate) fn threads(count: u32) -> io::Result<Vec<Waiting>> {
    (0..count).map(thread).collect()
}

fn thread(number: u32) -> io::Result<Waiting> {
    let (work, given) = channel::<Work>();
    let builder = Builder::new().name(format!("region {number}"));
    let thread = builder.stack_size(STACK_BYTES).spawn(move || {
        let (region, work) = given.recv().ok()?;
        graph::interp::reserve_stack(STACK_BYTES - STACK_MARGIN_BYTES);
        work(&region);
        Some(region)
    })?;
    Ok(Waiting { work, thread })
}

impl Waiting {
    /// Gives the thread its work.
    pub fn run(self, region: Region, work: impl FnOnce(&Region) + Send + 'static) -> Thread {
        // It waits for nothing else, so it is there to receive.
        let _ = self.work.send((region, Box::new(work)));
        self.thread
    }
}
