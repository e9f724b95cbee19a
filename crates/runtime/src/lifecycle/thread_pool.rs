//! The threads of a pool: started with the PE, added while others wait, joined at the end.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use eval::{Fault, FaultKind};
use graph::ThreadPool;
use rustix::time::{ClockId, clock_gettime};

use super::elastic_level::{ElasticLevel, ThroughputSample};
use super::pooled_region::PooledRegion;
use super::region_runner::{self, PoolRegions};
use super::thread_launch::{self, IdleThread, RegionThread, ThreadSpec};
use crate::blocking::region_pool::RegionPool;
use crate::blocking::stop_signal::StopSignal;
use crate::edge::idle_policy::IdlePolicy;
use crate::execution::source_thread::SourceThread;
use crate::execution::thread_region::ThreadRegion;
use crate::execution::wiring::Wiring;
use crate::services::report::Failure;

/// Time between two samples of throughput: 200 milliseconds.
const SAMPLE_TIME: Duration = Duration::from_millis(200);

/// Options of the threads of a pool, before and while they run.
#[derive(Clone)]
pub(super) struct ThreadPoolOptions {
    pub threads: ThreadPool,
    /// Cores that the threads run on; empty for any.
    pub cores: Vec<u32>,
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
    /// The thread that changes the level, and its stop signal.
    controller: Option<(StopSignal, std::thread::JoinHandle<()>)>,
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
        let controller = start_controller(&options, &pool, wiring)?;
        for thread in threads {
            if let Some(number) = pool.add_thread() {
                let thread = options.start(thread, shared.clone(), wiring, number);
                lock(&started).push(thread);
            }
        }
        Ok(RunningThreadPool {
            shared,
            threads: started,
            controller,
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

/// Starts the thread that changes the level of an elastic pool.
fn start_controller(
    options: &ThreadPoolOptions,
    pool: &Arc<RegionPool>,
    wiring: &Arc<Wiring>,
) -> Result<Option<(StopSignal, std::thread::JoinHandle<()>)>, Fault> {
    let Some(max) = options.threads.elastic_max.filter(|&max| max > 1) else {
        return Ok(None);
    };
    let mut level = ElasticLevel::new(options.threads.threads, max);
    let (stop, pool, wiring) = (StopSignal::default(), pool.clone(), wiring.clone());
    let end = stop.clone();
    let control = move || {
        let mut meter = ThroughputMeter::new(&wiring, max);
        let mut before = level.level();
        while !end.sleep(SAMPLE_TIME.as_secs_f64()) {
            let now = level.next(meter.sample(&wiring));
            if std::mem::replace(&mut before, now) != now {
                pool.set_level(now);
            }
        }
    };
    let thread = std::thread::Builder::new().name("pool level".to_owned());
    let thread = thread.spawn(control).map_err(|error| {
        let message = format!("cannot start the thread for the level of a pool: {error}");
        Fault::new(FaultKind::System, message)
    })?;
    Ok(Some((stop, thread)))
}

/// Measures what the operators of a PE do.
struct ThroughputMeter {
    cores: f64,
    at: Instant,
    cpu_s: f64,
    processed: u64,
}

impl ThroughputMeter {
    fn new(wiring: &Wiring, cores: u32) -> ThroughputMeter {
        ThroughputMeter {
            cores: f64::from(cores),
            at: Instant::now(),
            cpu_s: process_cpu_s(),
            processed: wiring.processed_count(),
        }
    }

    fn sample(&mut self, wiring: &Wiring) -> ThroughputSample {
        let (at, cpu_s) = (Instant::now(), process_cpu_s());
        let processed = wiring.processed_count();
        let seconds = (at - self.at).as_secs_f64().max(f64::MIN_POSITIVE);
        let sample = ThroughputSample {
            rate: processed.saturating_sub(self.processed) as f64 / seconds,
            usage: (cpu_s - self.cpu_s) / seconds / self.cores,
        };
        (self.at, self.cpu_s, self.processed) = (at, cpu_s, processed);
        sample
    }
}

/// Processor time that the process has used, in seconds.
fn process_cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

impl RunningThreadPool {
    /// Waits until all regions have ended, and returns them. Threads that feed the regions have
    /// ended before.
    pub fn join(self, join: impl Fn(RegionThread) -> Option<ThreadRegion>) -> Vec<ThreadRegion> {
        let next = || lock(&self.threads).pop();
        while let Some(thread) = next() {
            join(thread);
        }
        if let Some((stop, thread)) = self.controller {
            stop.request();
            // It runs no operators and does not panic.
            let _ = thread.join();
        }
        let regions = self.shared.regions.iter();
        regions
            .filter_map(|region| region_runner::lock(region).region.take())
            .collect()
    }
}

fn lock<T>(threads: &Mutex<Vec<T>>) -> std::sync::MutexGuard<'_, Vec<T>> {
    threads.lock().unwrap_or_else(PoisonError::into_inner)
}
