//! The threads of a pool: started with the PE, added while others wait, joined at the end.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use eval::{Fault, FaultKind};
use graph::ThreadPool;

use super::pool_level::PoolLevel;
use super::pooled_region::PooledRegion;
use super::region_runner::{self, PoolRegions};
use super::thread_cores::{PeThreadPart, ThreadCores};
use super::thread_launch::{self, IdleThread, RegionThread, ThreadSpec};
use crate::blocking::region_pool::RegionPool;
use crate::edge::idle_policy::IdlePolicy;
use crate::execution::source_thread::SourceThread;
use crate::execution::thread_region::ThreadRegion;
use crate::execution::wiring::Wiring;
use crate::services::report::Failure;

/// Options of the threads of a pool, before and while they run.
#[derive(Clone)]
pub(super) struct ThreadPoolOptions {
    pub threads: ThreadPool,
    pub cores: Arc<ThreadCores>,
    pub idle_policy: Arc<IdlePolicy>,
}

/// The threads of a pool that do not run yet.
pub(super) struct IdleThreadPool {
    options: ThreadPoolOptions,
    threads: Vec<IdleThread>,
}

/// The running threads of a pool.
pub(super) struct RunningThreadPool {
    shared: Arc<PoolRegions>,
    threads: Arc<Mutex<Vec<RegionThread>>>,
    level: Arc<PoolLevel>,
}

impl IdleThreadPool {
    /// Makes the threads that a pool begins with; no more than there are regions.
    ///
    /// # Errors
    /// The system has not enough threads, or a thread can use none of its cores.
    pub fn launch(options: ThreadPoolOptions, regions: usize) -> Result<IdleThreadPool, Fault> {
        let count = (options.threads.threads as usize).clamp(1, regions.max(1));
        let specs = (0..count).map(|number| options.spec(number));
        let threads = thread_launch::launch_threads(specs.collect())?;
        Ok(IdleThreadPool { options, threads })
    }

    /// Gives the threads their regions.
    ///
    /// # Errors
    /// The system has no thread for the elastic level.
    pub fn run(
        self,
        regions: Vec<(SourceThread, ThreadRegion)>,
        wiring: &Arc<Wiring>,
    ) -> Result<RunningThreadPool, Fault> {
        let IdleThreadPool { options, threads } = self;
        let pool = RegionPool::new(regions.len(), options.threads.threads);
        let shared = Arc::new(pool_regions(&pool, regions)?);
        let started = Arc::new(Mutex::new(Vec::new()));
        let later = Spares {
            shared: Arc::downgrade(&shared),
            wiring: Arc::downgrade(wiring),
            options: options.clone(),
            started: started.clone(),
        };
        pool.set_start_thread(Box::new(move |number| later.start(number)));
        let failing = Arc::downgrade(&pool);
        wiring.context.failed.on_request(move || {
            if let Some(pool) = failing.upgrade() {
                pool.notify_all();
            }
        });
        let level = PoolLevel::new(&pool, wiring, options.threads)?;
        for thread in threads {
            if let Some(number) = pool.add_thread() {
                let thread = options.start(thread, shared.clone(), wiring, number);
                lock(&started).push(thread);
            }
        }
        Ok(RunningThreadPool {
            shared,
            threads: started,
            level,
        })
    }
}

/// The pooled regions, with the sources that feed them.
fn pool_regions(
    pool: &Arc<RegionPool>,
    regions: Vec<(SourceThread, ThreadRegion)>,
) -> Result<PoolRegions, Fault> {
    let mut by_thread = Vec::new();
    let mut pooled = Vec::new();
    for (number, (source_thread, region)) in regions.into_iter().enumerate() {
        let thread = region.thread.index();
        by_thread.resize(by_thread.len().max(thread + 1), None);
        by_thread[thread] = Some(number);
        let one = PooledRegion::new(source_thread, region, pool, number);
        let one = one.ok_or_else(|| {
            Fault::new(
                FaultKind::Limit,
                "the source of a pooled region is no queue",
            )
        })?;
        pooled.push(Mutex::new(one));
    }
    Ok(PoolRegions {
        pool: pool.clone(),
        regions: pooled.into(),
        by_thread: by_thread.into(),
    })
}

impl ThreadPoolOptions {
    fn spec(&self, number: usize) -> ThreadSpec {
        ThreadSpec {
            name: format!("pool {number}"),
            part: PeThreadPart::Pool,
            cores: self.cores.clone(),
        }
    }

    /// Has a thread run regions.
    fn start(
        &self,
        thread: IdleThread,
        shared: Arc<PoolRegions>,
        wiring: &Arc<Wiring>,
        number: usize,
    ) -> RegionThread {
        let idle_policy = self.idle_policy.clone();
        let wiring = wiring.clone();
        thread.run_regions(wiring.clone(), move || {
            let idle = idle_policy.new_idle();
            if let Err(fault) = &idle {
                fail(&wiring, fault.clone());
            }
            region_runner::run_regions(shared, number, idle);
        })
    }
}

/// Starts further threads of a pool while others wait.
struct Spares {
    shared: Weak<PoolRegions>,
    wiring: Weak<Wiring>,
    options: ThreadPoolOptions,
    started: Arc<Mutex<Vec<RegionThread>>>,
}

impl Spares {
    fn start(&self, number: usize) {
        let (Some(shared), Some(wiring)) = (self.shared.upgrade(), self.wiring.upgrade()) else {
            return;
        };
        match thread_launch::launch_threads(vec![self.options.spec(number)]) {
            Ok(threads) => {
                for thread in threads {
                    let thread = self.options.start(thread, shared.clone(), &wiring, number);
                    lock(&self.started).push(thread);
                }
            }
            Err(fault) => {
                shared.pool.abandon_thread();
                fail(&wiring, fault);
            }
        }
    }
}

fn fail(wiring: &Wiring, fault: Fault) {
    wiring
        .context
        .fail(Failure::for_program("pool", fault, false));
}

impl RunningThreadPool {
    /// The number of threads that look for work, to be changed while they do.
    pub fn level(&self) -> &Arc<PoolLevel> {
        &self.level
    }

    /// Waits until all regions have ended, and returns them. Threads that feed the regions have
    /// ended before.
    pub fn join(self, join: impl Fn(RegionThread) -> Option<ThreadRegion>) -> Vec<ThreadRegion> {
        let next = || lock(&self.threads).pop();
        while let Some(thread) = next() {
            join(thread);
        }
        self.level.end();
        let regions = self.shared.regions.iter();
        regions
            .filter_map(|region| region_runner::lock(region).region.take())
            .collect()
    }
}

fn lock<T>(threads: &Mutex<Vec<T>>) -> std::sync::MutexGuard<'_, Vec<T>> {
    threads.lock().unwrap_or_else(PoisonError::into_inner)
}
