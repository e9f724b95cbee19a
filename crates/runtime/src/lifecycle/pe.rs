//! A PE: from a program to running threads, and from there to an orderly end.
//!
//! ```text
//!    wire -> start -> sources return -> final markers -> all operators finish -> join
//!      |                    ^                                                     |
//!    FailureReport   StopSignal::request                    OperatorCounts or FailureReport
//! ```

use std::sync::Arc;
use std::time::Duration;

use eval::{Fault, FaultKind};
use graph::{PeThreadId, PeThreads, Program};
use sampling::CpuSamples;

use crate::OperatorEntry;
use crate::abi::{Backend, OperatorCodeRange};
use crate::assembly::pe_assembly::{PeAssembly, assemble};
use crate::blocking::stop_signal::StopSignal;
use crate::counters::crossing_counters::CrossingCounters;
use crate::counters::queue_counters::QueueCounters;
use crate::execution::operator_instance::OperatorInstance;
use crate::execution::source_thread::SourceThread;
use crate::execution::stream_taps::StreamTaps;
use crate::execution::thread_region::ThreadRegion;
use crate::execution::wiring::Wiring;
use crate::lifecycle::plan_control::PlanControl;
use crate::lifecycle::thread_cores::{PeThreadPart, ThreadCores, WantedCores};
use crate::lifecycle::thread_launch::{self, RegionThread, ThreadSpec};
use crate::lifecycle::thread_pool::{IdleThreadPool, RunningThreadPool, ThreadPoolOptions};
use crate::lifecycle::thread_runner;
use crate::lifecycle::timer_queue::TimerQueue;
use crate::services::flusher::Flusher;
use crate::services::pe_context::{PeContext, PeOptions};
use crate::services::report::{Failure, FailureReport, OperatorCounts};
use crate::services::window_leftover::WindowLeftover;

/// A wired PE, whose threads do not run yet.
///
/// ```
/// # extern crate thalweg_runtime as runtime;
/// use runtime::abi::interpreter_backend::InterpreterBackend;
/// use runtime::{Pe, PeOptions};
///
/// let (program, threads) = (graph::Program::default(), graph::PeThreads::default());
/// let mut backend = InterpreterBackend::new(&[], &[]);
/// let pe = Pe::wire(&program, &threads, &[], &mut backend, PeOptions::default()).unwrap();
/// let running = pe.start().unwrap();
/// running.stop_signal().request();
/// assert!(running.join().is_ok());
/// ```
pub struct Pe {
    assembly: PeAssembly,
}

/// A PE whose threads run.
pub struct RunningPe {
    wiring: Arc<Wiring>,
    threads: Vec<RegionThread>,
    pool: Option<RunningThreadPool>,
    cores: Arc<ThreadCores>,
    timers: Option<(StopSignal, RegionThread)>,
    flusher: Option<Flusher>,
    /// Operators that no thread enters, which are only closed.
    unentered: ThreadRegion,
    operator_code: Vec<OperatorCodeRange>,
}

impl Pe {
    /// Makes the operators of a program and their code, to be run by the threads that the planner
    /// has given the program.
    ///
    /// # Errors
    /// An operator cannot be made: a parameter's value is out of range, a file is missing, ...
    ///
    /// # Panics
    /// The threads are those of another program.
    pub fn wire(
        program: &Program,
        threads: &PeThreads,
        registry: &[OperatorEntry],
        backend: &mut dyn Backend,
        options: PeOptions,
    ) -> Result<Pe, FailureReport> {
        let (pe_context, wiring_options) = PeContext::new(options);
        let assembly = assemble(
            (program, threads),
            registry,
            backend,
            pe_context.clone(),
            wiring_options,
        );
        let assembly = assembly.map_err(|failure| {
            // Text that initial values printed is to be seen.
            let _ = pe_context.flush();
            FailureReport {
                failures: vec![failure],
                is_stdout_closed: pe_context.is_stdout_closed(),
            }
        })?;
        Ok(Pe { assembly })
    }

    /// The stop signal of the PE.
    pub fn stop_signal(&self) -> StopSignal {
        self.assembly.wiring.context.stop_signal.clone()
    }

    /// Calls `callback` when a shutdown is requested by any thread; not when the PE ends by itself.
    pub fn on_shutdown(&self, callback: impl FnOnce() + Send + 'static) {
        let pe_context = Arc::downgrade(&self.assembly.wiring.context);
        self.stop_signal().on_request(move || {
            if pe_context
                .upgrade()
                .is_some_and(|context| !context.has_ended())
            {
                callback();
            }
        });
    }

    /// Starts the threads of the PE, all or none.
    ///
    /// # Errors
    /// The system has not enough threads, or a thread can use none of the cores named for it.
    pub fn start(self) -> Result<RunningPe, FailureReport> {
        let PeAssembly {
            wiring,
            exclusive,
            source_threads,
            timers,
            flush_buffers,
            thread_count,
            pool,
            cores,
            operator_code,
            idle_policy,
        } = self.assembly;
        let own = source_threads.iter().map(|source| source.core).collect();
        let cores = ThreadCores::new(WantedCores { pe: cores, own });
        let specs = thread_specs(thread_count, &source_threads, &wiring, &cores);
        let pooled = source_threads.iter().filter(|source| source.is_pooled);
        let pooled_count = pooled.count();
        let pool_options = pool.map(|threads| ThreadPoolOptions {
            threads,
            cores: cores.clone(),
            idle_policy,
        });
        let idle_pool = pool_options.map(|options| IdleThreadPool::launch(options, pooled_count));
        let idle_pool = idle_pool.transpose().map_err(start_failure)?;
        let flusher = Flusher::start(flush_buffers).map_err(start_failure)?;
        let mut threads = thread_launch::launch_threads(specs).map_err(start_failure)?;
        let wiring = Arc::new(wiring);
        for (operator, services) in (0..).zip(&wiring.services) {
            let running = Arc::downgrade(&wiring);
            let read_metric = move |name: &str| running.upgrade()?.port_metric(operator, name);
            services.set_port_metrics(Box::new(read_metric));
        }
        interrupt_after_shutdown(&wiring, &source_threads);
        let (mut instances_by_thread, unentered) = divide_by_thread(exclusive, thread_count);
        let region =
            |thread: PeThreadId, instances| ThreadRegion::new(wiring.clone(), thread, instances);
        let timers = threads.pop_if(|_| !timers.is_empty()).map(|thread| {
            let instances = instances_by_thread.pop().unwrap_or_default();
            (thread, timers, instances)
        });
        let regions = source_threads.into_iter().zip(instances_by_thread);
        let regions = (0..).map(PeThreadId).zip(regions);
        let regions =
            regions.map(|(id, (source_thread, instances))| (source_thread, region(id, instances)));
        let (pooled, own): (Vec<_>, Vec<_>) =
            regions.partition(|(source_thread, _)| source_thread.is_pooled);
        let pool = idle_pool.map(|idle| idle.run(pooled, &wiring));
        let pool = pool.transpose().map_err(start_failure)?;
        let timers = timers.map(|(thread, timers, instances)| {
            TimerQueue::new(timers).start(thread, region(PeThreadId(thread_count - 1), instances))
        });
        let threads = threads.into_iter().zip(own);
        let threads = threads.map(|(thread, (source_thread, region))| {
            let run =
                |region: &ThreadRegion| thread_runner::run_source_thread(region, source_thread);
            thread.run(region, run)
        });
        Ok(RunningPe {
            threads: threads.collect(),
            pool,
            cores,
            timers,
            flusher,
            unentered: region(PeThreadId(thread_count), unentered),
            wiring,
            operator_code,
        })
    }
}

/// Time after a shutdown for which sources may go on submitting: one second. A source that looks
/// for the shutdown ends at once.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(1);

/// Ends sources that never look for a shutdown, and threads in loops, after [`SHUTDOWN_GRACE`].
fn interrupt_after_shutdown(wiring: &Arc<Wiring>, source_threads: &[SourceThread]) {
    let undrained = source_threads
        .iter()
        .filter(|source_thread| !source_thread.drains);
    let interrupts =
        undrained.map(|source_thread| (source_thread.operator, source_thread.interrupt.clone()));
    let interrupts: Vec<_> = interrupts.collect();
    let running = Arc::downgrade(wiring);
    let interrupt_all = move || {
        std::thread::sleep(SHUTDOWN_GRACE);
        if let Some(wiring) = running.upgrade() {
            for (operator, interrupt) in interrupts {
                wiring.interrupt(operator);
                interrupt.request();
            }
        }
    };
    let pe_context = Arc::downgrade(&wiring.context);
    wiring.context.stop_signal.on_request(move || {
        if pe_context
            .upgrade()
            .is_some_and(|context| !context.has_ended())
        {
            // Without a thread for this, such a source goes on until the process is killed.
            let _ = std::thread::Builder::new().spawn(interrupt_all);
        }
    });
}

/// Names and cores of the threads of a PE, by number, without those whose part the pool takes. A
/// thread is named by the operator that it begins with, and runs on a core of its own or on the
/// PE's. The one without such an operator runs timers.
fn thread_specs(
    count: u32,
    source_threads: &[SourceThread],
    wiring: &Wiring,
    cores: &Arc<ThreadCores>,
) -> Vec<ThreadSpec> {
    let source_thread = |thread: PeThreadId| source_threads.get(thread.index());
    let spec = |thread| ThreadSpec {
        name: source_thread(thread).map_or("timers".to_owned(), |source_thread| {
            wiring.services[source_thread.operator as usize]
                .name()
                .to_string()
        }),
        part: PeThreadPart::Planned(thread),
        cores: cores.clone(),
    };
    let is_own =
        |&thread: &PeThreadId| !source_thread(thread).is_some_and(|source| source.is_pooled);
    (0..count)
        .map(PeThreadId)
        .filter(is_own)
        .map(spec)
        .collect()
}

fn start_failure(fault: Fault) -> FailureReport {
    FailureReport {
        failures: vec![Failure::for_program("threads", fault, false)],
        is_stdout_closed: false,
    }
}

impl RunningPe {
    /// The stop signal of the PE.
    pub fn stop_signal(&self) -> StopSignal {
        self.wiring.context.stop_signal.clone()
    }

    /// Counts of every operator so far; cheap, and does not disturb the operators.
    pub fn operator_counts(&self) -> Vec<OperatorCounts> {
        self.wiring.operator_counts()
    }

    /// A function that returns [`RunningPe::operator_counts`], for a thread that watches while
    /// another one joins.
    pub fn operator_counts_handle(&self) -> Box<dyn Fn() -> Vec<OperatorCounts> + Send> {
        let wiring = self.wiring.clone();
        Box::new(move || wiring.operator_counts())
    }

    /// Counters of the PE's crossings, which go on counting.
    pub fn crossing_counters(&self) -> Vec<Arc<CrossingCounters>> {
        self.wiring.crossing_counters.clone()
    }

    /// Counters of the PE's queues, which go on counting.
    pub fn queue_counters(&self) -> Vec<Arc<QueueCounters>> {
        self.wiring.queue_counters.clone()
    }

    /// A handle that changes settings of the PE while it runs.
    pub fn plan_control(&self) -> PlanControl {
        let pool = self.pool.as_ref();
        PlanControl {
            cores: self.cores.clone(),
            queues: self.queue_counters(),
            pool: pool.map(|pool| pool.level().clone()),
        }
    }

    /// Taps on the streams of the PE.
    pub fn taps(&self) -> StreamTaps {
        StreamTaps::new(self.wiring.clone())
    }

    /// The samples of the PE's threads by number, which go on being taken until the threads end;
    /// without any if [`PeOptions::samples_per_second`] does not ask for them.
    pub fn thread_samples(&self) -> Vec<Arc<CpuSamples>> {
        let (_closing, threads) = self.wiring.thread_samples.split_last().unzip();
        threads.map_or(Vec::new(), <[_]>::to_vec)
    }

    /// The addresses of the operators' code, if the backend was asked to keep them.
    pub fn operator_code(&self) -> &[OperatorCodeRange] {
        &self.operator_code
    }

    /// A function that returns what windows held when their input ended, and how many tuples came
    /// too late for them; to be called when the PE has been joined.
    pub fn leftovers(&self) -> Box<dyn FnOnce() -> Vec<WindowLeftover> + Send> {
        let wiring = self.wiring.clone();
        Box::new(move || wiring.take_leftovers())
    }

    /// Waits until all sources have returned, then closes all operators. Returns the operators'
    /// counts.
    ///
    /// # Errors
    /// All failures, the first one first.
    pub fn join(self) -> Result<Vec<OperatorCounts>, FailureReport> {
        let pe_context = self.wiring.context.clone();
        let join = |thread: RegionThread| match thread.join() {
            Ok(region) => region,
            Err(_) => {
                let fault = Fault::new(FaultKind::Limit, "a thread panicked outside of operators");
                pe_context.fail(Failure::for_program("thread", fault, true));
                None
            }
        };
        let mut regions: Vec<ThreadRegion> = self.threads.into_iter().filter_map(join).collect();
        if let Some(pool) = self.pool {
            regions.extend(pool.join(join));
        }
        if let Some((stop, thread)) = self.timers {
            stop.request();
            regions.extend(join(thread));
        }
        regions.iter().for_each(thread_runner::close_exclusive);
        thread_runner::close_exclusive(&self.unentered);
        thread_runner::close_shared(&self.unentered);
        drop(self.flusher);
        wait_for_receivers(&pe_context);
        if let Err(fault) = pe_context.flush() {
            pe_context.fail(Failure::for_program("standard output", fault, false));
        }
        pe_context.set_ended();
        let failures = pe_context.take_failures();
        if failures.is_empty() {
            return Ok(self.wiring.operator_counts());
        }
        let is_quiet = pe_context.is_stdout_closed();
        Err(FailureReport {
            failures,
            is_stdout_closed: is_quiet,
        })
    }
}

/// Longest wait for slow receivers after a failure: half a second, so that the failure is reported
/// soon.
const LINGER_AFTER_FAILURE: Duration = Duration::from_millis(500);

/// Waits until receivers in other PEs have taken all frames.
fn wait_for_receivers(pe_context: &PeContext) {
    let has_failed = pe_context.failed.is_requested();
    for lost in pe_context
        .linger
        .wait_until_drained(has_failed.then_some(LINGER_AFTER_FAILURE))
    {
        let (operator, kind) = lost.operator;
        pe_context.fail(Failure {
            operator,
            kind,
            fault: lost.fault,
            is_bug: false,
        });
    }
}

type InstancesByOperator = Vec<Option<OperatorInstance>>;

/// Divides the operators by thread; those that no thread enters are returned second.
fn divide_by_thread(
    exclusive: Vec<Option<(OperatorInstance, Option<PeThreadId>)>>,
    thread_count: u32,
) -> (Vec<InstancesByOperator>, InstancesByOperator) {
    let empty = || {
        exclusive
            .iter()
            .map(|_| None)
            .collect::<InstancesByOperator>()
    };
    let mut instances_by_thread: Vec<InstancesByOperator> =
        (0..thread_count).map(|_| empty()).collect();
    let mut unentered = empty();
    for (at, instance) in exclusive.into_iter().enumerate() {
        if let Some((instance, thread)) = instance {
            let instances = thread.map_or(&mut unentered, |thread| {
                &mut instances_by_thread[thread.index()]
            });
            instances[at] = Some(instance);
        }
    }
    (instances_by_thread, unentered)
}
