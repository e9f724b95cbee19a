//! The level of a pool that runs: how many of its threads look for work. It stays as the plan says,
//! or a thread of its own changes it by measured throughput.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use eval::{Fault, FaultKind};
use graph::ThreadPool;
use rustix::time::{ClockId, clock_gettime};

use super::elastic_level::{ElasticLevel, ThroughputSample};
use crate::blocking::region_pool::RegionPool;
use crate::blocking::stop_signal::StopSignal;
use crate::execution::wiring::Wiring;

/// Time between two samples of throughput: 200 milliseconds.
const SAMPLE_TIME: Duration = Duration::from_millis(200);

/// The number of threads of a running pool that look for work.
pub(super) struct PoolLevel {
    pool: Arc<RegionPool>,
    wiring: Weak<Wiring>,
    state: Mutex<LevelState>,
}

struct LevelState {
    threads: ThreadPool,
    /// The thread that changes the level, and its stop signal.
    controller: Option<(StopSignal, JoinHandle<()>)>,
    has_ended: bool,
}

impl PoolLevel {
    /// The level of a pool whose first threads the plan has started.
    ///
    /// # Errors
    /// The system has no thread for an elastic level.
    pub fn new(
        pool: &Arc<RegionPool>,
        wiring: &Arc<Wiring>,
        threads: ThreadPool,
    ) -> Result<Arc<PoolLevel>, Fault> {
        let controller = start_controller(threads, pool, wiring)?;
        Ok(Arc::new(PoolLevel {
            pool: pool.clone(),
            wiring: Arc::downgrade(wiring),
            state: Mutex::new(LevelState {
                threads,
                controller,
                has_ended: false,
            }),
        }))
    }

    /// Has as many threads look for work as a plan says, from now on.
    ///
    /// # Errors
    /// The system has no thread for an elastic level.
    pub fn set(&self, threads: ThreadPool) -> Result<(), Fault> {
        let mut state = self.lock();
        let Some(wiring) = self.wiring.upgrade().filter(|_| !state.has_ended) else {
            return Ok(());
        };
        if state.threads == threads {
            return Ok(());
        }
        state.stop_controller();
        state.threads = threads;
        self.pool.set_level(threads.threads);
        state.controller = start_controller(threads, &self.pool, &wiring)?;
        Ok(())
    }

    /// Ends the thread that changes the level: all regions have ended.
    pub fn end(&self) {
        let mut state = self.lock();
        state.has_ended = true;
        state.stop_controller();
    }

    fn lock(&self) -> MutexGuard<'_, LevelState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LevelState {
    fn stop_controller(&mut self) {
        if let Some((stop, thread)) = self.controller.take() {
            stop.request();
            // It runs no operators and does not panic.
            let _ = thread.join();
        }
    }
}

/// Starts the thread that changes the level of an elastic pool.
fn start_controller(
    threads: ThreadPool,
    pool: &Arc<RegionPool>,
    wiring: &Arc<Wiring>,
) -> Result<Option<(StopSignal, JoinHandle<()>)>, Fault> {
    let Some(max) = threads.elastic_max.filter(|&max| max > 1) else {
        return Ok(None);
    };
    let mut level = ElasticLevel::new(threads.threads, max);
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
    let thread = Builder::new().name("pool level".to_owned());
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
