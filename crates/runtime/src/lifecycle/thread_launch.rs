//! Starting the threads of a PE: all of them or none.
//!
//! The system may have no more threads, or none of the cores named for a thread may be usable. If
//! only some threads of a PE ran, they would wait for the others' final markers for ever. So all
//! threads are made first and then given their work.

use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, JoinHandle};

use eval::{Fault, FaultKind};

use super::thread_cores::{PeThreadPart, ThreadCores};
use crate::blocking::before_sleep::{self, BeforeSleep};
use crate::blocking::{pe_thread, thread_samples};
use crate::execution::thread_region::ThreadRegion;
use crate::execution::wiring::Wiring;
use crate::services::report::Failure;

/// A thread that waits for its work.
pub(crate) struct IdleThread {
    work: Sender<ThreadWork>,
    thread: RegionThread,
}

/// A running thread of the PE. It returns its region when it ends.
pub(crate) type RegionThread = JoinHandle<Option<ThreadRegion>>;

/// Work of a thread, which returns its region.
type ThreadWork = Box<dyn FnOnce() -> Option<ThreadRegion> + Send>;

/// Bytes of a thread's stack. Fused operators call each other, and user functions recurse, which
/// takes the interpreter some 10 KB a call: it is to get as deep as compiled code, to
/// [`eval::interp::MAX_CALL_DEPTH`]. The system gives memory only to the pages that are used.
const STACK_BYTES: usize = 256 << 20;

/// Bytes of the stack that evaluations leave to all other code.
const STACK_MARGIN_BYTES: usize = 2 << 20;

/// Name and cores of a thread.
#[derive(Clone, Debug)]
pub(crate) struct ThreadSpec {
    /// Name of the thread in the system's tools; Linux keeps 15 bytes of it.
    pub name: String,
    /// The thread, by which its cores are found.
    pub part: PeThreadPart,
    /// Cores of all threads of the PE.
    pub cores: Arc<ThreadCores>,
}

/// Makes threads. If one cannot be made, those that exist already end.
///
/// # Errors
/// The system has not enough threads, or a thread can use none of its cores.
pub(crate) fn launch_threads(specs: Vec<ThreadSpec>) -> Result<Vec<IdleThread>, Fault> {
    let count = specs.len();
    let (result_sender, results) = channel();
    let threads = specs.into_iter();
    let threads = threads.map(|spec| launch_thread(spec, result_sender.clone()));
    let threads: Vec<IdleThread> = threads.collect::<io::Result<_>>().map_err(|error| {
        let message = format!("cannot start {count} threads: {error}");
        Fault::new(FaultKind::System, message)
    })?;
    results.iter().take(count).collect::<Result<(), Fault>>()?;
    Ok(threads)
}

fn launch_thread(
    spec: ThreadSpec,
    result_sender: Sender<Result<(), Fault>>,
) -> io::Result<IdleThread> {
    let ThreadSpec { name, part, cores } = spec;
    let (work, work_receiver) = channel::<ThreadWork>();
    let builder = Builder::new().name(name);
    let thread = builder.stack_size(STACK_BYTES).spawn(move || {
        // `launch_threads` waits for the answer of each thread.
        let placed = cores.place_current(part);
        let failed = placed.as_ref().err().cloned();
        let _ = result_sender.send(failed.map_or(Ok(()), Err));
        let work = work_receiver.recv().ok()?;
        eval::interp::reserve_stack(STACK_BYTES - STACK_MARGIN_BYTES);
        work()
    })?;
    Ok(IdleThread { work, thread })
}

/// Runs the work of a thread with its region, and returns the region. Meanwhile the region is the
/// thread's before-sleep hook, if some of its operators hold tuples back.
fn run_in_region(region: ThreadRegion, work: impl FnOnce(&ThreadRegion)) -> Option<ThreadRegion> {
    let region = Rc::new(region);
    pe_thread::set_current(Some(region.thread));
    let needs_flush = region.needs_flush();
    if needs_flush {
        before_sleep::push_hook(region.clone() as Rc<dyn BeforeSleep>);
    }
    begin_samples(&region.wiring);
    let before = thread_samples::enter(&region.samples);
    work(&region);
    thread_samples::leave(before);
    thread_samples::end();
    if needs_flush {
        before_sleep::pop_hook();
    }
    Rc::into_inner(region)
}

/// Begins to sample the calling thread, if its PE is sampled. Without a timer the PE fails: a
/// profile that lacks a thread would be wrong.
fn begin_samples(wiring: &Wiring) {
    let Some(per_second) = wiring.samples_per_second else {
        return;
    };
    if let Err(error) = thread_samples::begin(per_second) {
        let message = format!("cannot sample a thread: {error}");
        let fault = Fault::new(FaultKind::System, message);
        wiring
            .context
            .fail(Failure::for_program("profile", fault, false));
    }
}

impl IdleThread {
    /// Gives the thread its region and its work.
    pub fn run(
        self,
        region: ThreadRegion,
        work: impl FnOnce(&ThreadRegion) + Send + 'static,
    ) -> RegionThread {
        self.run_work(Box::new(|| run_in_region(region, work)))
    }

    /// Gives the thread work without a region: one of the pool enters several by turns.
    pub fn run_regions(
        self,
        wiring: Arc<Wiring>,
        work: impl FnOnce() + Send + 'static,
    ) -> RegionThread {
        self.run_work(Box::new(move || {
            begin_samples(&wiring);
            work();
            thread_samples::end();
            None
        }))
    }

    fn run_work(self, work: ThreadWork) -> RegionThread {
        // The thread waits for nothing else, so it is there to receive.
        let _ = self.work.send(work);
        self.thread
    }
}
