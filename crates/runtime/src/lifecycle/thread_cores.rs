//! The cores that a PE's threads run on: set when a thread begins, and again while it runs.
//!
//! ```text
//!   core of the thread's own, else the cores of the PE, else those that the process began with
//! ```

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use eval::{Fault, FaultKind};
use graph::PeThreadId;
use rustix::thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_setaffinity};

/// A thread of a PE that runs operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PeThreadPart {
    /// A thread of the plan.
    Planned(PeThreadId),
    /// One of the pool.
    Pool,
}

/// The cores of a PE's threads, and the threads that run.
#[derive(Debug)]
pub(crate) struct ThreadCores {
    state: Mutex<CoresState>,
    /// Cores of the process when it began.
    all: Option<CpuSet>,
}

#[derive(Debug, Default)]
struct CoresState {
    wanted: WantedCores,
    running: Vec<(PeThreadPart, Pid)>,
}

/// The cores that a plan gives the threads of a PE.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WantedCores {
    /// Cores of all threads without one of their own; empty for any.
    pub pe: Vec<u32>,
    /// By thread of the plan: its own core.
    pub own: Vec<Option<u32>>,
}

/// A thread that runs on the cores that are wanted. Dropped at its end, because the system may give
/// its number to a thread of somebody else then.
#[derive(Debug)]
pub(crate) struct PlacedThread {
    cores: Arc<ThreadCores>,
    thread: Pid,
}

impl ThreadCores {
    pub fn new(wanted: WantedCores) -> Arc<ThreadCores> {
        let running = Vec::new();
        Arc::new(ThreadCores {
            state: Mutex::new(CoresState { wanted, running }),
            all: sched_getaffinity(None).ok(),
        })
    }

    /// Puts the calling thread on its cores, now and whenever others are wanted.
    ///
    /// # Errors
    /// The thread can use none of them.
    pub fn place_current(self: &Arc<Self>, part: PeThreadPart) -> Result<PlacedThread, Fault> {
        let mut state = self.lock();
        let cores = state.wanted.of(part);
        if !cores.is_empty() {
            self.place(None, &cores)?;
        }
        let thread = gettid();
        state.running.push((part, thread));
        let cores = self.clone();
        Ok(PlacedThread { cores, thread })
    }

    /// Puts all threads on other cores.
    ///
    /// # Errors
    /// Some threads could use none of theirs: then all stay where they are.
    pub fn set(&self, wanted: WantedCores) -> Result<(), Fault> {
        let mut state = self.lock();
        self.check_usable(&wanted)?;
        for &(part, thread) in &state.running {
            let cores = wanted.of(part);
            if cores != state.wanted.of(part) {
                self.place(Some(thread), &cores)?;
            }
        }
        state.wanted = wanted;
        Ok(())
    }

    /// Tries all cores with the calling thread, which keeps its own.
    ///
    /// # Errors
    /// A thread could use none of its cores.
    pub fn check_usable(&self, wanted: &WantedCores) -> Result<(), Fault> {
        let own = wanted.own.iter().flatten().map(|&core| vec![core]);
        let sets = own.chain([wanted.pe.clone()]);
        let before = sched_getaffinity(None);
        let tried = sets
            .filter(|cores| !cores.is_empty())
            .try_for_each(|cores| self.place(None, &cores));
        if let Ok(before) = before {
            // These cores were usable a moment ago.
            let _ = sched_setaffinity(None, &before);
        }
        tried
    }

    /// Restricts a thread, or the calling one, to these cores; to all if there are none.
    fn place(&self, thread: Option<Pid>, cores: &[u32]) -> Result<(), Fault> {
        let set = match (cores, &self.all) {
            ([], None) => return Ok(()),
            ([], Some(all)) => *all,
            _ => cpu_set(cores),
        };
        sched_setaffinity(thread, &set).map_err(|error| {
            let cores: Vec<_> = cores.iter().map(u32::to_string).collect();
            let message = format!("cannot run on the cores {}: {error}", cores.join(","));
            Fault::new(FaultKind::System, message)
        })
    }

    fn lock(&self) -> MutexGuard<'_, CoresState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WantedCores {
    fn of(&self, part: PeThreadPart) -> Vec<u32> {
        let own = match part {
            PeThreadPart::Planned(thread) => self.own.get(thread.index()).copied().flatten(),
            PeThreadPart::Pool => None,
        };
        own.map_or(self.pe.clone(), |core| vec![core])
    }
}

impl Drop for PlacedThread {
    fn drop(&mut self) {
        let mut state = self.cores.lock();
        state.running.retain(|(_, thread)| *thread != self.thread);
    }
}

fn cpu_set(cores: &[u32]) -> CpuSet {
    let mut set = CpuSet::new();
    let named_cores = cores.iter().map(|&core| core as usize);
    named_cores
        .filter(|&core| core < CpuSet::MAX_CPU)
        .for_each(|core| set.set(core));
    set
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    fn wanted(pe: &[u32], own: &[Option<u32>]) -> WantedCores {
        let (pe, own) = (pe.to_vec(), own.to_vec());
        WantedCores { pe, own }
    }

    fn cores_of(thread: Pid) -> Vec<usize> {
        let set = sched_getaffinity(Some(thread)).unwrap();
        let all = 0..CpuSet::MAX_CPU;
        all.filter(|&core| set.is_set(core)).collect()
    }

    #[test]
    fn threads_move_while_they_run_and_not_after_their_end() {
        let all = cores_of(gettid());
        let first = all[0] as u32;
        let last = all[all.len() - 1] as u32;
        let cores = ThreadCores::new(wanted(&[first], &[]));
        let (started, thread_started) = channel();
        let (end, end_asked) = channel::<()>();
        let shared = cores.clone();
        let running = std::thread::spawn(move || {
            let _placed = shared.place_current(PeThreadPart::Planned(PeThreadId(0)));
            started.send(gettid()).unwrap();
            let _ = end_asked.recv();
        });
        let thread = thread_started.recv().unwrap();
        assert_eq!(cores_of(thread), [first as usize]);
        cores.set(wanted(&[first], &[Some(last)])).unwrap();
        assert_eq!(cores_of(thread), [last as usize]);
        let fault = cores.set(wanted(&[5000], &[Some(first)])).unwrap_err();
        let message = fault.message();
        assert!(
            message.starts_with("cannot run on the cores 5000: "),
            "{message}"
        );
        assert_eq!(cores_of(thread), [last as usize], "all stay where they are");
        cores.set(wanted(&[], &[])).unwrap();
        assert_eq!(cores_of(thread), all);
        drop(end);
        running.join().unwrap();
        assert!(cores.lock().running.is_empty());
    }

    #[test]
    fn a_core_that_does_not_exist_is_named() {
        let cores = ThreadCores::new(wanted(&[1023, 5000], &[]));
        let fault = cores.place_current(PeThreadPart::Pool).unwrap_err();
        let message = fault.message();
        assert!(
            message.starts_with("cannot run on the cores 1023,5000: "),
            "{message}"
        );
    }
}
