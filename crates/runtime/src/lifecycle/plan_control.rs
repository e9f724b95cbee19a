//! Changes of the plan of a PE that runs: cores of threads, sizes of queues, threads of the pool.
//!
//! No tuple is lost or overtaken: operators, queues and their order stay. Only the cores and the
//! number of the threads that run them, and how much a queue holds, change.

use std::fmt;
use std::sync::Arc;

use eval::Fault;
use graph::ThreadPool;

use super::pool_level::PoolLevel;
use super::thread_cores::{ThreadCores, WantedCores};
use crate::counters::queue_counters::QueueCounters;

/// The settings of a PE that may be changed while it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeSettings {
    /// Cores of the threads.
    pub cores: WantedCores,
    /// The queues of threaded ports.
    pub queues: Vec<QueueSettings>,
    /// The threads of the pool, if the PE has one.
    pub pool: Option<ThreadPool>,
}

/// The settings of a queue that may be changed while it is in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueSettings {
    /// Name of the queue's operator.
    pub operator: Arc<str>,
    /// Tuples and punctuation that the queue holds at most; at least 1.
    pub items_max: u64,
}

/// Changes settings of a running PE.
#[derive(Clone)]
pub struct PlanControl {
    pub(super) cores: Arc<ThreadCores>,
    pub(super) queues: Vec<Arc<QueueCounters>>,
    pub(super) pool: Option<Arc<PoolLevel>>,
}

impl fmt::Debug for PlanControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlanControl").finish_non_exhaustive()
    }
}

impl PlanControl {
    /// Whether the PE can have these settings.
    ///
    /// # Errors
    /// A thread could use none of its cores.
    pub fn check(&self, settings: &PeSettings) -> Result<(), Fault> {
        self.cores.check_usable(&settings.cores)
    }

    /// Gives the PE these settings. Queues that it does not have are passed over.
    ///
    /// # Errors
    /// A thread could use none of its cores: then nothing is changed. The system has no thread for
    /// an elastic pool: then the pool keeps the number of its threads.
    pub fn set(&self, settings: &PeSettings) -> Result<(), Fault> {
        self.cores.set(settings.cores.clone())?;
        for wanted in &settings.queues {
            let named = |queue: &&Arc<QueueCounters>| queue.operator == wanted.operator;
            if let Some(queue) = self.queues.iter().find(named) {
                queue.set_items_max(wanted.items_max);
            }
        }
        match (&self.pool, settings.pool) {
            (Some(level), Some(threads)) => level.set(threads),
            _ => Ok(()),
        }
    }
}
